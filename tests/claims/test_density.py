"""Section 1 (density) with N9 and N10: the proofs' constructions, run in numbers."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations, pairwise

import pytest

from checks.evidence import colourings

ROUNDING = 1e-12
LARGEST_BEND = 2
"""The cutoff's third derivative is below 60 (8/3)^3 < 1140, so its second changes by less than 2 over 1/1000."""


def smooth_cutoff(distance: float, radius: float) -> float:
    """The cutoff of docs/proofs/density.md: 1 within half the radius, 0 beyond it."""
    u = min(1.0, max(0.0, (4 * (distance / radius) ** 2 - 1) / 3))
    return 1 - u**3 * (10 - 15 * u + 6 * u**2)


def test_blend_has_the_minimiser_that_was_chosen() -> None:
    """Catches a wrong blend in L1 (sharpened), with a function whose own minimum is at the boundary, on a fine grid."""
    shift, curvature, radius = 0.1, 1.5, 0.25
    grid = [k / 2000 for k in range(2001)]
    p = [shift + (1 - shift) * x * (1 + math.sin(9 * x) ** 2) / 2 for x in grid]
    low = min(p)
    blend = []
    for x, value in zip(grid, p, strict=True):
        share = smooth_cutoff(abs(x - 0.2), radius)
        blend.append((1 - share) * value + share * (low - shift + curvature * (x - 0.2) ** 2))
    assert curvature * radius**2 <= shift
    assert grid[blend.index(min(blend))] == 0.2
    assert sum(value <= min(blend) + ROUNDING for value in blend) == 1
    assert min(blend) >= -ROUNDING
    assert max(blend) <= 1 + ROUNDING


def test_cutoff_has_two_continuous_derivatives() -> None:
    """Catches a cutoff with a kink where it leaves 1 or reaches 0: second difference quotients must not jump there."""
    radius, step = 1.0, 1e-4
    places = [k / 1000 for k in range(1, 1200)]
    bends = [
        (smooth_cutoff(x + step, radius) - 2 * smooth_cutoff(x, radius) + smooth_cutoff(x - step, radius)) / step**2
        for x in places
    ]
    assert max(abs(a - b) for a, b in pairwise(bends)) < LARGEST_BEND
    assert smooth_cutoff(0.5, radius) == 1
    assert smooth_cutoff(1.0, radius) == 0


@pytest.mark.parametrize("degree", [1, 4, 25, 100])
def test_bernstein_polynomials_keep_to_the_error_of_the_steps(degree: int) -> None:
    """Catches a wrong rate in the steps of T1 and L1: |x - 1/2| (modulus w(d) = d) with d = (4n)^{-1/2}, exactly."""
    worst = Fraction(0)
    for k in range(21):
        x = Fraction(k, 20)
        weights = [math.comb(degree, j) * x**j * (1 - x) ** (degree - j) for j in range(degree + 1)]
        mean = sum(weight * abs(Fraction(j, degree) - Fraction(1, 2)) for j, weight in enumerate(weights))
        assert sum(weights) == 1
        assert sum(w * (Fraction(j, degree) - x) ** 2 for j, w in enumerate(weights)) == x * (1 - x) / degree
        worst = max(worst, abs(mean - abs(x - Fraction(1, 2))))
    assert worst**2 <= Fraction(1, degree)  # (2 d)^2 = 1/n
    assert worst**2 > Fraction(1, 100 * degree)  # and no better rate


def test_four_features_recover_the_first_token_of_five() -> None:
    """Catches a wrong formula in N9 (sharpened): T = 5, m = 2, D = 4 beats the balanced bound for odd T (5)."""
    generator = random.Random(5)
    for _ in range(500):
        x, y, z = (Fraction(generator.randint(0, 20), 20) for _ in range(3))
        features = min(x, y), min(1 - x, 1 - y), min(y, z), min(1 - x, 1 - z)
        larger = 1 - features[1]
        middle, last = larger - (1 - features[3]), features[2] - features[0]
        assert larger - max(middle, Fraction(0)) - max(last, Fraction(0)) == x
    assert math.comb(5, 2) / (2 * math.comb(3, 0)) > 4


def test_families_below_the_two_colouring_numbers_can_be_coloured() -> None:
    """Catches a bound of N9 above the truth: no two pairs, and no six triples on 6 points, without a 2-colouring."""

    def colourable(points: int, masks: tuple[int, ...]) -> bool:
        full = 2**points - 1
        return any(all(mask & red and mask & (full ^ red) for mask in masks) for red in range(2 ** (points - 1)))

    pairs = [1 << a | 1 << b for a, b in combinations(range(4), 2)]
    assert all(colourable(4, chosen) for chosen in combinations(pairs, 2))
    assert not all(colourable(4, chosen) for chosen in combinations(pairs, 3))
    generator = random.Random(6)
    triples = [sum(1 << point for point in chosen) for chosen in combinations(range(8), 3)]
    assert all(colourable(8, tuple(generator.sample(triples, 6))) for _ in range(2000))
    fano = tuple(sum(1 << point for point in line) for line in colourings.FANO[1])
    assert not colourable(7, fano)
