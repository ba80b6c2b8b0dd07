"""Certified least absolute deviations: agreement with exhaustive search, and refusal where optimality is not proved."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from checks import balls
from checks.least_deviations import fit
from theory.errors import InvalidInput


def _by_search(xs: np.ndarray, ys: np.ndarray) -> tuple[float, float]:
    """Slope and least sum over all lines through two of the points (an optimum is among them)."""
    best = (np.inf, 0.0)
    for i, j in combinations(range(len(xs)), 2):
        if xs[i] != xs[j]:
            slope = (ys[j] - ys[i]) / (xs[j] - xs[i])
            best = min(best, (float(np.abs(ys - ys[i] - slope * (xs - xs[i])).sum()), slope))
    return best[1], best[0]


def test_fits_agree_with_trying_all_lines() -> None:
    """Catches a wrong dual, sign or basis: random lines, slope and least sum inside the certified balls."""
    generator = np.random.default_rng(8)
    certified = 0
    for _ in range(40):
        xs, ys = generator.integers(0, 60, 9) / 7, generator.integers(0, 1000, 9) / 13
        with balls.precision(100):
            found = fit([[Fraction(1)]] * 9, [balls.exact(x) for x in xs], [balls.exact(y) for y in ys])
            if found is None:
                continue
            certified += 1
            slope, least = _by_search(xs, ys)
            assert float(balls.middle(found.coefficient)) == pytest.approx(slope)
            assert float(balls.middle(found.deviation)) == pytest.approx(least)
    assert certified >= 20


def test_no_fit_is_certified_where_the_slope_is_not_unique() -> None:
    """Catches uniqueness claimed on a square, where a whole segment of lines is optimal."""
    points = [balls.exact(x) for x in (0, 0, 1, 1)]
    assert fit([[Fraction(1)]] * 4, points, [balls.exact(y) for y in (0, 1, 0, 1)]) is None


def test_too_few_points_are_refused() -> None:
    """Catches a fit with nothing left to minimise."""
    with pytest.raises(InvalidInput, match="more than 2"):
        fit([[Fraction(1)]] * 2, [balls.exact(1)] * 2, [balls.exact(1)] * 2)
