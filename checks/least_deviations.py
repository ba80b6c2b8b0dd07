"""Fits by least absolute deviations, certified: the optimum enclosed in balls, optimality proved by duality.

To minimise sum_i |b_i - E_i a - g_i c| over a (k unknowns, exact columns E) and c (one real column g). By duality the
least value is max { b.y : E^T y = 0, g.y = 0, |y|_inf <= 1 }. A linear program in floats (untrusted) suggests which
residuals vanish and which y_i are -1, in between, or 1; the rest is checked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from scipy.optimize import linprog

from checks import balls
from checks.balls import BALLS, Ball
from theory.errors import InvalidInput
from theory.rational_bounds import to_sympy

INSIDE = 1e-6
"""A float y_i this close to -1 or 1 is taken to be that; a wrong guess makes the proof fail, never succeed."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The only optimal coefficient of the real column, and the least sum of absolute deviations; both enclosed."""

    coefficient: Ball
    deviation: Ball


def fit(exact: Sequence[Sequence[Fraction]], real: Sequence[Ball], values: Sequence[Ball]) -> Fit | None:
    """The certified fit of ``values`` (m) by ``exact`` (m, k) and ``real`` (m); None if the proof does not go through.

    Arithmetic: exact and balls at the current precision. Raises InvalidInput for m <= k + 1.

    >>> points = [balls.exact(x) for x in range(5)]
    >>> found = fit([[Fraction(1)]] * 5, points, [balls.exact(y) for y in (0, 3, 4, 7, 9)])
    >>> balls.contains(found.coefficient, Fraction(9, 4)), balls.contains(found.deviation, Fraction(3, 2))
    (True, True)
    """
    count = len(values)
    if count <= len(exact[0]) + 1:
        raise InvalidInput.about("points", count, f"more than {len(exact[0]) + 1} unknowns", "more points")
    columns = _array([[*map(balls.exact, row), entry] for row, entry in zip(exact, real, strict=True)])
    target = _array([[value] for value in values])
    basis, guessed = _suggestion(columns, target)
    solution = BALLS.matmul(balls.inverse(columns[basis]), target[basis])
    residuals = (target - BALLS.matmul(columns, solution))[:, 0]
    signs: dict[int, int] = dict(guessed)
    for index in range(count):
        if index not in basis:
            if not balls.surely_nonzero(residuals[index]):
                return None
            signs[index] = 1 if balls.surely_below(balls.exact(0), residuals[index]) else -1
    inner = [index for index in basis if index not in signs]
    line = _dual_line(exact, inner, signs)
    if line is None:
        return None
    # y_inner = start + t way satisfies E^T y = 0 exactly; g.y = 0 fixes t. Where |y_i| < 1 every optimum interpolates.
    start, way = line
    steep = sum((real[i] * balls.exact(v) for i, v in zip(inner, way, strict=True)), balls.exact(0))
    if not balls.surely_nonzero(steep):
        return None
    rest = sum((real[i] * balls.exact(sign) for i, sign in signs.items()), balls.exact(0))
    rest += sum((real[i] * balls.exact(u) for i, u in zip(inner, start, strict=True)), balls.exact(0))
    place = -rest / steep
    dual = [balls.exact(u) + place * balls.exact(v) for u, v in zip(start, way, strict=True)]
    if not all(balls.surely_below(balls.absolute(entry), balls.exact(1)) for entry in dual):
        return None
    # Zero residuals at the inner points, weighted by ``way``, leave only the real column: its coefficient is unique.
    coefficient = sum((values[i] * balls.exact(v) for i, v in zip(inner, way, strict=True)), balls.exact(0)) / steep
    outer = [balls.absolute(residuals[index]) for index in range(count) if index not in basis]
    return Fit(coefficient, sum(outer, balls.exact(0)))


def _suggestion(columns: Any, target: Any) -> tuple[list[int], dict[int, int]]:
    """Points that a float linear program interpolates, as many as unknowns, and those among them with y = -1 or 1."""
    a = np.array([[float(balls.middle(entry)) for entry in row] for row in columns])
    b = np.array([float(balls.middle(entry)) for (entry,) in target])
    count, unknowns = a.shape
    cost = np.concatenate([np.zeros(unknowns), np.ones(count)])
    constraints = np.block([[a, -np.eye(count)], [-a, -np.eye(count)]])
    bounds = [(None, None)] * unknowns + [(0, None)] * count
    answer = linprog(cost, A_ub=constraints, b_ub=np.concatenate([b, -b]), bounds=bounds)
    residuals = b - a @ answer.x[:unknowns]
    order = np.argsort(np.abs(residuals), kind="stable")
    basis = sorted(int(index) for index in order[:unknowns])
    others = [index for index in range(count) if index not in basis]
    dual = -np.linalg.solve(a[basis].T, np.sign(residuals[others]) @ a[others])
    guessed = {i: int(np.sign(y)) for i, y in zip(basis, dual, strict=True) if abs(y) > 1 - INSIDE}
    return basis, guessed


def _dual_line(
    exact: Sequence[Sequence[Fraction]], inner: Sequence[int], signs: dict[int, int]
) -> tuple[list[Fraction], list[Fraction]] | None:
    """All y_inner with E^T y = 0, if they form a line: a point and a direction, exactly."""
    if not inner:
        return None
    matrix = sympy.Matrix([[to_sympy(exact[i][k]) for i in inner] for k in range(len(exact[0]))])
    sums = [-sum((sign * exact[i][k] for i, sign in signs.items()), Fraction(0)) for k in range(len(exact[0]))]
    right = sympy.Matrix([to_sympy(entry) for entry in sums])
    directions = matrix.nullspace()
    if len(directions) != 1 or matrix.rank() != matrix.row_join(right).rank():
        return None
    point, free = matrix.gauss_jordan_solve(right)
    start = point.subs(dict.fromkeys(free, 0))
    return [_fraction(entry) for entry in start], [_fraction(entry) for entry in directions[0]]


def _fraction(entry: Any) -> Fraction:
    return Fraction(int(entry.p), int(entry.q))


def _array(rows: Sequence[Sequence[Ball]]) -> Any:
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for index, row in enumerate(rows):
        array[index] = row
    return array
