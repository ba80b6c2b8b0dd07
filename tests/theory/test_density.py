"""Density: would catch a selector that errs, a rate that is too small, a bound on D that some family undercuts."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations

import pytest
import sympy

from theory import density
from theory.errors import InvalidInput

ROUNDING = 1e-12
LAST_DIGIT = 1e-6
"""``SELECTOR_CONSTANT`` is rounded up at the sixth digit."""


def random_values(rng: random.Random, length: int) -> list[Fraction]:
    return [Fraction(rng.randint(0, 6), 6) for _ in range(length)]


def test_selector_returns_every_position_exactly() -> None:
    """Catches a wrong sign or threshold in N10, ties included, for the m of the paper and for every allowed m."""
    rng = random.Random(1)
    for _ in range(150):
        values = random_values(rng, rng.randint(1, 9))
        size = rng.choice([density.support_size(len(values)), (len(values) + 1) // 2])
        assert [density.select(values, t, size) for t in range(len(values))] == values


def test_selector_needs_two_m_at_most_t_plus_one() -> None:
    """Catches a missing hypothesis: with T = m = 2 the minima are the same for (0, 1) and (1, 0)."""
    first, second = [Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]
    assert density.largest_minimum(first, 2, 0) == density.largest_minimum(second, 2, 0)
    with pytest.raises(InvalidInput, match="2m <= T"):
        density.select(first, 0, 2)


def test_order_statistics_are_max_min_over_subsets() -> None:
    """Catches thresholds that are off by one position (L2)."""
    rng = random.Random(2)
    for _ in range(200):
        values = random_values(rng, rng.randint(1, 7))
        size = rng.randint(1, len(values))
        v, w = density.thresholds(values, size)
        assert density.largest_minimum(values, size) == v
        assert 1 - density.largest_minimum([1 - x for x in values], size) == w


@pytest.mark.parametrize("sharpness", [Fraction(1), Fraction(10), Fraction(400)])
def test_smooth_selector_stays_within_its_rate_and_attains_it(sharpness: Fraction) -> None:
    """Catches a rate below the truth (random sequences) or well above it (the worst sequence 0, a, a)."""
    rng = random.Random(3)
    bound = float(density.selector_error_upper(sharpness))
    for _ in range(150):
        values = random_values(rng, rng.randint(3, 8))
        size = rng.randint(1, (len(values) + 1) // 2)
        error = float(density.smooth_select(values, 0, size, sharpness)) - float(values[0])
        assert abs(error) <= bound + ROUNDING
    worst = Fraction(859553, 10**6) / Fraction(math.isqrt(int(sharpness * 10**12)), 10**6)
    attained = float(density.smooth_select([Fraction(0), worst, worst], 0, 2, sharpness))
    assert bound - LAST_DIGIT <= attained <= bound


def test_selector_constant_is_the_maximum_rounded_up() -> None:
    """Catches a constant that is not the maximum of s/(1 + e^{s^2}) (mpmath, 30 digits)."""
    s = sympy.nsolve(sympy.Symbol("s") ** 2 * 2 - 1 - sympy.exp(-(sympy.Symbol("s") ** 2)), 0.86, prec=30)
    maximum = s / (1 + sympy.exp(s**2))
    assert 0 < density.SELECTOR_CONSTANT - Fraction(str(maximum)) < Fraction(1, 10**6)


def test_sufficient_number_counts_the_features_of_the_selector() -> None:
    """Catches a lost factor 2 (x and 1 - x) or d."""
    subsets = list(combinations(range(8), 2))
    assert density.targets_sufficient(3, 8) == 2 * 3 * len(subsets)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_one_position_needs_as_many_features_as_counted(size: int) -> None:
    """Catches a wrong count of the minima that the selector on 2m - 1 positions reads, by listing them."""
    subsets = list(combinations(range(2 * size - 1), size))
    through = [subset for subset in subsets if 0 in subset]
    assert density.targets_sufficient_for_one_position(size) == len(through) + len(subsets)


@pytest.mark.parametrize(("size", "number", "points"), [(1, 1, 1), (2, 3, 3), (3, 7, 7), (4, 27, 9)])
def test_lower_bounds_do_not_exceed_families_that_exist(size: int, number: int, points: int) -> None:
    """Catches a bound above the truth: point, triangle, Fano plane, two of three triangles have no 2-colouring."""
    for length in range(points, 20):
        assert density.targets_lower_balanced(length, size) <= number
    assert density.targets_lower_any_length(size) <= number
    assert density.targets_lower_any_length(size) == number or size == 4


def test_published_balanced_bound_fails_for_odd_lengths_only() -> None:
    """Catches a repaired bound that is no repair: for even T it is the printed one, for T = 3 and 5 smaller."""
    for size in range(1, 6):
        for length in range(2 * size, 24, 2):
            half = length // 2
            printed = -(-math.comb(length, half) // (2 * math.comb(length - size, half - size)))
            assert density.targets_lower_balanced(length, size) >= printed
    assert density.targets_lower_balanced(3, 1) == 1 < 3 / 2
    assert density.targets_lower_balanced(5, 2) <= 4 < 5


def test_large_sets_always_leave_a_colouring() -> None:
    """Catches the printed threshold T/2 in place of ceil(T/2): None means that no D suffices."""
    for length in range(1, 12):
        for size in range(1, length + 1):
            assert (density.targets_lower_balanced(length, size) is None) == (size > (length + 1) // 2)


def test_growth_of_the_balanced_bound() -> None:
    """Catches a wrong base: (2/5) (64/27)^{T/4} is below the bound, and within a factor of 1.3, for 4 | T."""
    for quarter in range(2, 40):
        bound = density.targets_lower_balanced(4 * quarter, quarter)
        assert 0.4 * (64 / 27) ** quarter <= bound
    assert density.targets_lower_balanced(160, 40) < 1.3 * 0.4 * (64 / 27) ** 40


def test_erdos_bound_is_below_every_upper_bound() -> None:
    """Catches an exponent off by one: m = 2 has the exact value 4 for retrieval, 3 without position 1's extra set."""
    assert [density.targets_lower_erdos(m) for m in range(1, 6)] == [1, 3, 5, 9, 17]
    with pytest.raises(InvalidInput):
        density.targets_lower_erdos(0)
    with pytest.raises(InvalidInput):
        density.targets_lower_balanced(3, 4)
