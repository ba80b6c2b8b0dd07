"""Lipschitz constants for the sup norm, ``sup over the cube of |grad f|_1``, enclosed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import islice, product

from checks import jets
from checks.enclose import WorkLimit, gradient_l1_supremum, point_box, unit_box
from checks.intervals import Interval
from checks.separable import separate
from theory.expressions import Expression

RELATIVE_TOLERANCE = Fraction(1, 100)
LEAST_TOLERANCE = Fraction(1, 10**9)
MOST_BOXES = 1_000
MOST_CORNERS = 16
ZERO = Fraction(0)


def gradient_l1(expression: Expression, names: Sequence[str]) -> Interval:
    """Enclosure of ``sup over [0,1]^d of |grad f|_1``, the least Lipschitz constant of f for the sup norm.

    Within 1 % unless the expression is too complicated; exact for affine ones and where interval arithmetic is. At
    kinks the gradient is every Clarke subgradient. Summands without common variables are treated one by one: their
    suprema add up.

    >>> from theory.expression_parser import parse_expression
    >>> gradient_l1(parse_expression("(x0 - 1/4)^2 + 3*x1"), ("x0", "x1"))
    Interval(low=Fraction(9, 2), high=Fraction(9, 2))

    Raises:
        NotFinite: a pole within the cube.
    """
    total = Interval(ZERO, ZERO)
    for part in separate(expression, names):
        total = total + _of_part(part.expression, part.names)
    return total


def _of_part(expression: Expression, names: Sequence[str]) -> Interval:
    box = unit_box(len(names))
    whole = jets.differentiate(expression, names, box, jets.EXACT_SCALARS, order=1).gradient
    natural = sum((max(abs(slope.low), abs(slope.high)) for slope in whole), ZERO)
    attained = natural if all(slope.is_point for slope in whole) else _at_corners(expression, names)
    tolerance = max(natural * RELATIVE_TOLERANCE, LEAST_TOLERANCE)
    if natural - attained <= tolerance:
        return Interval(attained, natural)
    try:
        found = gradient_l1_supremum(expression, names, box, tolerance / 4, MOST_BOXES)
    except WorkLimit as limit:
        found = limit.reached
    return Interval(max(attained, found.low), min(natural, found.high))


def _at_corners(expression: Expression, names: Sequence[str]) -> Fraction:
    """The largest |grad f|_1 at some corners, from below; where it is the natural bound there is nothing to search."""
    best = ZERO
    for corner in islice(product((ZERO, Fraction(1)), repeat=len(names)), MOST_CORNERS):
        jet = jets.differentiate(expression, names, point_box(corner), jets.EXACT_SCALARS, order=1)
        best = max(best, sum((max(slope.low, -slope.high, ZERO) for slope in jet.gradient), ZERO))
    return best
