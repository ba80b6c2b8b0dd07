"""L7 for a task: R_0, half the least distance of two minimisers, and eps_0, by how much f_i rises outside its ball."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from checks import jets
from checks.enclose import (
    Box,
    Examine,
    Examined,
    WorkLimit,
    as_balls,
    centre,
    infimum,
    of_expression,
    point_box,
    unit_box,
    value_on,
)
from checks.intervals import Interval
from checks.minimisers import Minimiser, least_eigenvalue_lower
from checks.separable import separate
from constructions.arithmetic import FLOAT64
from constructions.task import RetrievalTask
from theory.expressions import Expression, evaluate, variables
from theory.rational_bounds import sqrt_lower, sqrt_upper

MARGIN_TOLERANCE = Fraction(1, 1000)
MARGIN_BOXES = 500
ZERO = Fraction(0)
LENGTHEN = Fraction(1, 10**9)
"""Sample points lie this much farther out than the ball, relative to 1, so as to be outside for certain."""


def separation(found: Sequence[Minimiser]) -> Interval | None:
    """R_0 of L7, enclosed; None for a single feature or where two minimisers were not told apart."""
    nearest, farthest = [], []
    for first, second in combinations(found, 2):
        pairs = list(zip(first.box, second.box, strict=True))
        nearest.append(sum((max(x.low - y.high, y.low - x.high, ZERO) ** 2 for x, y in pairs), ZERO))
        farthest.append(sum((max(x.high - y.low, y.high - x.low) ** 2 for x, y in pairs), ZERO))
    if not nearest or not min(nearest):
        return None
    return Interval(sqrt_lower(min(nearest)) / 2, sqrt_upper(min(farthest)) / 2)


def margin(task: RetrievalTask, found: Sequence[Minimiser], radius: Interval) -> Interval | None:
    """eps_0 of L7: the least of ``inf of f_i - z_i outside the ball of radius R_0 around x^(i)``, enclosed.

    None where it was not shown to be positive.
    """
    names = [variable.name for variable in variables("x", task.token_dim)]
    rises = [
        _rise(feature.expression, names, entry, radius) for feature, entry in zip(task.features, found, strict=True)
    ]
    least = Interval(min(rise.low for rise in rises), min(rise.high for rise in rises))
    return least if least.low > 0 else None


def _rise(expression: Expression, names: Sequence[str], entry: Minimiser, radius: Interval) -> Interval:
    upper = _sampled(expression, names, entry, radius.high)
    convexity = convexity_lower(expression, names)
    if convexity is not None:  # strongly convex on the cube: f(x) >= f(x*) + lam |x - x*|^2 / 2
        return Interval(convexity * radius.low**2 / 2, upper)
    sentinel = value_on(expression, names, unit_box(len(names))).high + 1
    examine = _outside(of_expression(expression, names), entry.box, radius.low, sentinel)
    try:
        lowest = infimum(examine, unit_box(len(names)), MARGIN_TOLERANCE, MARGIN_BOXES)
    except WorkLimit as limit:
        lowest = limit.reached
    return Interval(lowest.low - entry.value.high, max(upper, lowest.low - entry.value.high))


def convexity_lower(expression: Expression, names: Sequence[str]) -> Fraction | None:
    """A positive lower bound of the least eigenvalue of Hess f over [0,1]^d; None if not shown.

    Summands without common variables make it block diagonal; a variable that does not occur makes it singular.
    """
    parts = separate(expression, names)
    if sum(len(part.names) for part in parts) < len(names):
        return None
    least = []
    for part in parts:
        box = as_balls(unit_box(len(part.names)))
        curved = jets.differentiate(part.expression, part.names, box, jets.BALL_SCALARS).hessian
        least.append(None if isinstance(curved, str) else least_eigenvalue_lower(curved))
    return min((bound for bound in least if bound is not None), default=None) if None not in least else None


def _sampled(expression: Expression, names: Sequence[str], entry: Minimiser, radius: Fraction) -> Fraction:
    """f - z at some point outside the ball, from above: the best of those on the axes through the minimiser."""
    middle = centre(entry.box)
    steps = [radius + LENGTHEN + (side.high - side.low) for side in entry.box]
    candidates = [
        (*middle[:axis], middle[axis] + sign * step, *middle[axis + 1 :])
        for axis, step in enumerate(steps)
        for sign in (1, -1)
        if 0 <= middle[axis] + sign * step <= 1
    ]
    whole = value_on(expression, names, unit_box(len(names))).high - entry.value.low
    if not candidates:
        return whole
    tokens = {name: np.array([float(point[axis]) for point in candidates]) for axis, name in enumerate(names)}
    values = np.broadcast_to(evaluate(expression, tokens, FLOAT64), (len(candidates),))
    best = candidates[int(values.argmin())]
    return min(whole, value_on(expression, names, point_box(best)).high - entry.value.low)


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
