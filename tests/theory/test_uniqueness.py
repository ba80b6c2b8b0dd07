"""Uniqueness of D: would catch a wrong exponent, a size condition that does not close, a missing d."""

from __future__ import annotations

from fractions import Fraction

import pytest

from theory import uniqueness
from theory.errors import InvalidInput

PAIRS = [(first, second) for first in range(1, 8) for second in range(first + 1, 12)]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_published_and_sharp_size_conditions_close_the_argument(first: int, second: int) -> None:
    """Catches a constant above 5/56: at the least T that meets a condition, k > max(D_1, D_2)."""
    squares = first**2 + second**2
    assert uniqueness.exponent(first, second, 50 * squares) > second
    assert uniqueness.size_condition(first, second, 50 * squares)
    above_sharp = 56 * squares // 5 + 1
    assert uniqueness.exponent(first, second, above_sharp) > second


def test_sharp_constant_cannot_be_larger() -> None:
    """Catches a claim of sharpness without a tight case: D = 1, 2 at T = 56 has k = 2."""
    assert uniqueness.size_condition(1, 2, 56, uniqueness.SIZE_CONSTANT_SHARP)
    assert uniqueness.exponent(1, 2, 56) == 2


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("gamma", [Fraction(2), Fraction(7, 2), Fraction(15)])
def test_least_length_is_the_threshold(first: int, second: int, gamma: Fraction) -> None:
    """Catches an off-by-one: k > gamma at the length returned and not one before."""
    length = uniqueness.least_seq_len(first, second, gamma)
    assert uniqueness.exponent(first, second, length - 1) <= gamma < uniqueness.exponent(first, second, length)


def test_published_condition_does_not_close_for_large_token_dimension() -> None:
    """Catches a repair that forgets d: D = 1, 2 and T = 250 meet C1's condition, but gamma = d = 15 exceeds k."""
    assert uniqueness.size_condition(1, 2, 250)
    assert 14 < uniqueness.exponent(1, 2, 250) < 15
    assert uniqueness.least_seq_len(1, 2, Fraction(15)) > 250


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_direct_condition_is_weaker_than_the_published_one(first: int, second: int) -> None:
    """Catches a condition of N11 that would not cover C1."""
    length = 50 * (first**2 + second**2)
    assert uniqueness.is_determined(first, second, length)
    assert uniqueness.is_determined(first, second, 4 * second - 3)
    assert not uniqueness.is_determined(first, second, 4 * second - 4)


def test_bad_sizes_are_refused() -> None:
    """Catches silent nonsense for D_1 >= D_2 or D = 0."""
    with pytest.raises(InvalidInput, match="D_1 < D_2"):
        uniqueness.exponent(2, 2, 100)
    with pytest.raises(InvalidInput):
        uniqueness.is_determined(0, 1, 10)
