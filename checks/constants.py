"""The constants of a task that the theorems use, each with a proved bound.

>>> from constructions.task import toy
>>> found = constants(toy(16))
>>> found.outer_gradient_l1_upper, found.rho
(Fraction(2, 1), Fraction(1, 2))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from checks import jets
from checks.basins import Basin, find_basins, rho
from checks.enclose import (
    Box,
    Examine,
    Examined,
    WorkLimit,
    as_balls,
    centre,
    gradient_l1_supremum,
    infimum,
    of_expression,
    point_box,
    unit_box,
    value_on,
)
from checks.hypotheses import minimisers
from checks.intervals import Interval
from checks.minimisers import Minimiser, least_eigenvalue_lower
from constructions.task import RetrievalTask
from theory.expressions import Expression, variables
from theory.rational_bounds import sqrt_lower

RELATIVE_TOLERANCE = Fraction(1, 100)
LEAST_TOLERANCE = Fraction(1, 10**9)
MARGIN_TOLERANCE = Fraction(1, 1000)
MOST_BOXES = 1_000
MARGIN_BOXES = 500


@dataclass(frozen=True)
class TaskConstants:
    """Proved constants of one task.

    ``outer_gradient_l1_upper`` is at least L_0 = sup over [0,1]^D of |grad F_0|_1 (the least Lipschitz constant of F_0
    for the sup norm); ``feature_lipschitz_upper`` the same for each f_i. ``basins`` are N4's segments, if found.
    ``separation_lower`` is at most R_0, half the least distance between minimisers, and ``margin_lower`` at most every
    inf of f_i - z_i outside the ball of that radius around x^(i) (L7); None where these were not shown to be positive.
    """

    minimisers: tuple[Minimiser, ...]
    outer_gradient_l1_upper: Fraction
    feature_lipschitz_upper: tuple[Fraction, ...]
    basins: tuple[Basin, ...] | None
    separation_lower: Fraction | None
    margin_lower: Fraction | None

    @property
    def minima(self) -> tuple[Interval, ...]:
        """Enclosures of z_1, ..., z_D."""
        return tuple(entry.value for entry in self.minimisers)

    @property
    def rho(self) -> Fraction | None:
        """N4's constant (see `checks.basins`); None where no segments were found."""
        return None if self.basins is None else rho(self.basins)


def constants(task: RetrievalTask) -> TaskConstants:
    """Compute and prove the constants of a task."""
    found = minimisers(task)
    lipschitz = tuple(_gradient_upper(feature.expression, "x", task.token_dim) for feature in task.features)
    separation = _separation(found)
    margin = None if separation is None else _margin(task, found, separation)
    outer = outer_gradient_l1_upper(task)
    return TaskConstants(found, outer, lipschitz, find_basins(task, found), separation, margin)


def outer_gradient_l1_upper(task: RetrievalTask) -> Fraction:
    """An upper bound on L_0 = sup |grad F_0|_1 over [0,1]^D, within 1 % unless F_0 is too complicated."""
    return _gradient_upper(task.outer, "z", task.num_targets)


def _gradient_upper(expression: Expression, prefix: str, dimension: int) -> Fraction:
    names = [variable.name for variable in variables(prefix, dimension)]
    whole = jets.differentiate(expression, names, unit_box(dimension), jets.EXACT_SCALARS, order=1).gradient
    natural = sum((max(abs(slope.low), abs(slope.high)) for slope in whole), Fraction(0))
    if all(slope.is_point for slope in whole):
        return natural  # exact: the expression is affine
    try:
        tolerance = max(natural * RELATIVE_TOLERANCE / 4, LEAST_TOLERANCE)
        return min(natural, gradient_l1_supremum(expression, names, unit_box(dimension), tolerance, MOST_BOXES).high)
    except WorkLimit as limit:
        return min(natural, limit.reached.high)


def _separation(found: Sequence[Minimiser]) -> Fraction | None:
    squares = []
    for first, second in combinations(found, 2):
        gaps = [max(x.low - y.high, y.low - x.high, Fraction(0)) for x, y in zip(first.box, second.box, strict=True)]
        squares.append(sum((gap * gap for gap in gaps), Fraction(0)))
    least = min(squares, default=Fraction(0))
    return sqrt_lower(least) / 2 if least else None


def _margin(task: RetrievalTask, found: Sequence[Minimiser], reach: Fraction) -> Fraction | None:
    least = min(
        _rise(feature.expression, task.token_dim, entry, reach)
        for feature, entry in zip(task.features, found, strict=True)
    )
    return least if least > 0 else None


def _rise(expression: Expression, dimension: int, entry: Minimiser, reach: Fraction) -> Fraction:
    """A lower bound on f - min f at distance ``reach`` or more from the minimiser."""
    names = [variable.name for variable in variables("x", dimension)]
    whole = jets.differentiate(expression, names, as_balls(unit_box(dimension)), jets.BALL_SCALARS)
    convexity = None if isinstance(whole.hessian, str) else least_eigenvalue_lower(whole.hessian)
    if convexity is not None:  # strongly convex on the cube: f(x) >= f(x*) + lam |x - x*|^2 / 2
        return convexity * reach * reach / 2
    high = value_on(expression, names, unit_box(dimension)).high
    examine = _outside(of_expression(expression, names), entry.box, reach, high + 1)
    try:
        lowest = infimum(examine, unit_box(dimension), MARGIN_TOLERANCE, MARGIN_BOXES)
    except WorkLimit as limit:
        lowest = limit.reached
    return lowest.low - entry.value.high


def _outside(examine: Examine, excluded: Box, reach: Fraction, sentinel: Fraction) -> Examine:
    """Examine a function outside the ball of radius ``reach`` around x, of which only x in ``excluded`` is known."""

    def examine_outside(box: Box) -> Examined:
        farthest = sum(
            (max(x.high - y.low, y.high - x.low) ** 2 for x, y in zip(box, excluded, strict=True)), Fraction(0)
        )
        if farthest < reach * reach:
            return Examined(sentinel, sentinel, box)
        seen = examine(box)
        middle = point_box(centre(box))
        nearest = sum(
            (max(x.low - y.high, y.low - x.high, Fraction(0)) ** 2 for x, y in zip(middle, excluded, strict=True)),
            Fraction(0),
        )
        upper = examine(middle).upper if nearest >= reach * reach else sentinel
        return Examined(min(seen.lower, upper), upper, box)

    return examine_outside
