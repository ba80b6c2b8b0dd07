"""Rational enclosures: would catch a bound on the wrong side, a loose one, a root or binomial off by one."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

from theory import rational_bounds as rb
from theory.errors import InvalidInput

DIGITS = 80
POINTS = [Fraction(1, 10**9), Fraction(1, 3), Fraction(1), Fraction(22, 7), Fraction(100), Fraction(1001, 3)]
EXP_RELATIVE = Fraction(1, 2**100)
LOG2_ABSOLUTE = Fraction(1, 2**39)


def exact(value: mpmath.mpf) -> Fraction:
    sign, mantissa, exponent, _ = value._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@pytest.mark.parametrize("x", POINTS)
def test_exp_log2_sqrt_are_enclosed(x: Fraction) -> None:
    """Catches a rounding in the wrong direction or a series cut too early (second opinion: mpmath, 80 digits)."""
    with mpmath.workdps(DIGITS):
        point = mpmath.mpf(x.numerator) / x.denominator
        exp, log2, root = exact(mpmath.exp(point)), exact(mpmath.log(point, 2)), exact(mpmath.sqrt(point))
    noise = exp / 10**70
    assert rb.exp_lower(x) <= exp + noise
    assert exp - noise <= rb.exp_upper(x)
    assert rb.exp_upper(x) - rb.exp_lower(x) < EXP_RELATIVE * exp
    assert rb.log2_lower(x) <= log2 + Fraction(1, 10**60)
    assert log2 - Fraction(1, 10**60) <= rb.log2_upper(x)
    assert rb.log2_upper(x) - rb.log2_lower(x) <= 2 * LOG2_ABSOLUTE
    assert rb.sqrt_lower(x) ** 2 <= x
    assert root - rb.sqrt_lower(x) <= root / 2**60


def test_log2_of_powers_is_exact() -> None:
    """Catches a wrong binary exponent."""
    for exponent in (-70, -1, 0, 1, 513):
        assert rb.log2_lower(Fraction(2) ** exponent) == rb.log2_upper(Fraction(2) ** exponent) == exponent


def test_binomial_is_exact_when_small_and_a_lower_bound_when_large() -> None:
    """Catches an off-by-one in the product, a rounding up, and a loss of more than the stated digits."""
    for top in range(12):
        for choose in range(15):
            assert rb.binomial_lower(top, choose) == (math.comb(top, choose), 0)
    mantissa, exponent = rb.binomial_lower(9000, 4000)
    true = math.comb(9000, 4000)
    assert exponent > 0
    assert mantissa << exponent <= true
    assert (true - (mantissa << exponent)) * 2**1000 < 9000 * true


@pytest.mark.parametrize("bits", [60, 100, 1000, 1024, 1025, 1100, 5000])
@pytest.mark.parametrize("choose", [1, 15, 16, 17, 100])
def test_binomial_of_long_numbers(bits: int, choose: int) -> None:
    """Catches a batch that ends at the wrong factor, and leading bits of a factor that are rounded up or too few."""
    top = (1 << bits) - 1
    mantissa, exponent = rb.binomial_lower(top, choose)
    true = math.comb(top, choose)
    assert mantissa << exponent <= true
    assert (true - (mantissa << exponent)) * 2**1000 < choose * true


def test_root_below_is_the_largest_integer_strictly_below() -> None:
    """Catches floor for ceil-minus-one (perfect powers) and a scaled root above the true one."""
    for order in (1, 2, 3, 7):
        for value in range(1, 300):
            best = max(g for g in range(300) if g**order < value)
            assert rb.root_below(value, 0, order) == best
    assert rb.root_below(2**1000, 0, 1000) == 1
    assert rb.root_below(2**1000 + 1, 0, 1000) == 2
    for order in (2, 9, 40, 1040):
        value = 3 << 5000
        found = rb.root_below(3, 5000, order)
        assert found**order < value
        assert (found + (found >> 60) + 1) ** order >= value


@pytest.mark.parametrize("bad", [0.5, -1, True, "1/2"])
def test_inexact_or_negative_numbers_are_refused(bad: Fraction) -> None:
    """Catches floats, booleans and strings on their way into a bound."""
    with pytest.raises(InvalidInput, match="eps"):
        rb.positive("eps", bad)
