"""Rigorous infima and suprema over boxes: branch and bound with mean-value forms, driven by a tolerance.

`infimum` is the engine; what it examines is a parameter: an expression (`of_expression`), or any function that encloses
its range over a box (`of_enclosure`). Nothing is decided by samples: they only supply upper bounds of an infimum.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from checks import balls, jets
from checks.balls import Ball
from checks.intervals import INTERVALS, Interval, to_ball
from theory.errors import HeadcountError, InvalidInput
from theory.exact import decimal
from theory.expressions import Expression, evaluate

Box = tuple[Interval, ...]
MOST_BOXES = 20_000


class WorkLimit(HeadcountError):
    """Branch and bound reached its limit before its tolerance: the question is undecided, and ``reached`` is known."""

    def __init__(self, reached: Interval, most_boxes: int, tolerance: Fraction) -> None:
        self.reached = reached
        shown = f"[{decimal(reached.low)}, {decimal(reached.high)}]"
        super().__init__(
            f"enclosure={shown} after most_boxes={most_boxes}: required: width <= tolerance={decimal(tolerance)}. "
            "Try: a larger most_boxes or a larger tolerance."
        )


@dataclass(frozen=True)
class Examined:
    """What is known of a function's infimum over a box: ``lower <= inf <= upper``, attained within ``box`` already."""

    lower: Fraction
    upper: Fraction
    box: Box


Examine = Callable[[Box], Examined]


@dataclass(order=True)
class _Open:
    lower: Fraction
    order: int
    box: Box = field(compare=False)


def unit_box(dimension: int) -> Box:
    """The cube [0, 1]^d."""
    return (Interval(Fraction(0), Fraction(1)),) * dimension


def infimum(examine: Examine, box: Box, tolerance: Fraction, most_boxes: int = MOST_BOXES) -> Interval:
    """An interval of width at most ``tolerance`` that contains the infimum over the box.

    Raises:
        WorkLimit: more than ``most_boxes`` boxes would be needed; carries the enclosure reached.
    """
    if tolerance <= 0:
        raise InvalidInput.about("tolerance", tolerance, "tolerance > 0", "for example 1/100")
    first = examine(box)
    upper, count = first.upper, 1
    heap = [_Open(first.lower, 0, first.box)]
    # Every point lies in an open box or in one dropped because its lower bound was at least an upper bound of the
    # infimum; hence the infimum is at least min(least open lower bound, upper).
    while heap:
        node = heapq.heappop(heap)
        if upper - node.lower <= tolerance or node.lower >= upper:
            return Interval(min(node.lower, upper), upper)
        if count >= most_boxes:
            raise WorkLimit(Interval(node.lower, upper), most_boxes, tolerance)
        for half in bisect(node.box):
            seen = examine(half)
            count += 1
            upper = min(upper, seen.upper)
            lower = max(node.lower, seen.lower)
            if lower < upper:
                heapq.heappush(heap, _Open(lower, count, seen.box))
    return Interval(upper, upper)


def supremum(examine_negative: Examine, box: Box, tolerance: Fraction, most_boxes: int = MOST_BOXES) -> Interval:
    """The same for a supremum; ``examine_negative`` examines minus the function."""
    try:
        return -infimum(examine_negative, box, tolerance, most_boxes)
    except WorkLimit as limit:
        raise WorkLimit(-limit.reached, most_boxes, tolerance) from None


def bisect(box: Box) -> tuple[Box, ...]:
    """The two halves of a box across its widest side; a point is its own only part."""
    widest = max(range(len(box)), key=lambda index: box[index].high - box[index].low)
    side = box[widest]
    if side.is_point:
        return (box,)
    middle = (side.low + side.high) / 2
    halves = (Interval(side.low, middle), Interval(middle, side.high))
    return tuple((*box[:widest], half, *box[widest + 1 :]) for half in halves)


def centre(box: Box) -> tuple[Fraction, ...]:
    """The middle of a box."""
    return tuple((side.low + side.high) / 2 for side in box)


def as_balls(box: Box) -> list[Ball]:
    """One ball for each side."""
    return [to_ball(side) for side in box]


def point_box(point: Sequence[Fraction]) -> Box:
    """The degenerate box of a point."""
    return tuple(Interval(value, value) for value in point)


def of_expression(expression: Expression, names: Sequence[str]) -> Examine:
    """Examine an expression: natural and mean-value forms, and faces instead of boxes where it is monotone.

    At a vertex a rational expression has its exact value, so a supremum attained there comes out exactly.
    """

    def examine(box: Box) -> Examined:
        jet = None
        while any(not side.is_point for side in box):
            jet = jets.differentiate(expression, names, as_balls(box), jets.BALL_SCALARS, order=1)
            face = tuple(_smaller(side, slope) for side, slope in zip(box, jet.gradient, strict=True))
            if face == box:
                break
            box, jet = face, None
        if jet is None:
            value = value_on(expression, names, box)
            return Examined(value.low, value.high, box)
        middle = centre(box)
        at_middle = evaluate(expression, dict(zip(names, as_balls(point_box(middle)), strict=True)), balls.BALLS)
        form = at_middle
        for side, coordinate, slope in zip(box, middle, jet.gradient, strict=True):
            form = form + slope * (to_ball(side) - balls.exact(coordinate))
        lower = max(balls.lower(form), balls.lower(jet.value))
        return Examined(lower, balls.upper(at_middle), box)

    return examine


def _smaller(side: Interval, slope: Ball) -> Interval:
    if slope > 0:
        return Interval(side.low, side.low)
    return Interval(side.high, side.high) if slope < 0 else side


def of_enclosure(function: Callable[[Sequence[Ball]], Ball]) -> Examine:
    """Examine any function that maps the balls of a box to a ball around its range there."""

    def examine(box: Box) -> Examined:
        lower = balls.lower(function(as_balls(box)))
        return Examined(lower, balls.upper(function(as_balls(point_box(centre(box))))), box)

    return examine


def value_on(expression: Expression, names: Sequence[str], box: Box) -> Interval:
    """The natural interval extension in exact intervals; at a point the exact value of a rational expression."""
    value: Interval = evaluate(expression, dict(zip(names, box, strict=True)), INTERVALS)
    return value


def range_of(
    expression: Expression, names: Sequence[str], box: Box, tolerance: Fraction, most_boxes: int = MOST_BOXES
) -> Interval:
    """Outer enclosure of the range of an expression over a box, each end within ``tolerance`` of the true one.

    >>> from theory.expression_parser import parse_expression
    >>> range_of(parse_expression("x0*(1-x0)"), ("x0",), unit_box(1), Fraction(1, 1000)).low
    Fraction(0, 1)
    """
    low = infimum(of_expression(expression, names), box, tolerance, most_boxes).low
    high = supremum(of_expression(-expression, names), box, tolerance, most_boxes).high
    natural = value_on(expression, names, box)  # exact where the search's balls are rounded outwards
    return Interval(max(low, natural.low), min(high, natural.high))


def gradient_l1_supremum(
    expression: Expression, names: Sequence[str], box: Box, tolerance: Fraction, most_boxes: int = MOST_BOXES
) -> Interval:
    """Enclosure of ``sup |grad f|_1`` over the box: its least Lipschitz constant for the sup norm."""

    def minus_norm(sides: Sequence[Ball]) -> Ball:
        gradient = jets.differentiate(expression, names, sides, jets.BALL_SCALARS, order=1).gradient
        return -_total([balls.absolute(slope) for slope in gradient])

    return supremum(of_enclosure(minus_norm), box, tolerance, most_boxes)


def curvature_supremum(
    expression: Expression, name: str, side: Interval, tolerance: Fraction, most_boxes: int = MOST_BOXES
) -> Interval:
    """Enclosure of ``sup |f''|`` over an interval, f an expression in one variable.

    Raises:
        NotSmooth: f may have a kink in the interval.
    """

    def minus_curvature(sides: Sequence[Ball]) -> Ball:
        jet = jets.differentiate(expression, (name,), sides, jets.BALL_SCALARS)
        return -balls.absolute(jets.hessian(jet)[0, 0])

    return supremum(of_enclosure(minus_curvature), (side,), tolerance, most_boxes)


def _total(parts: Sequence[Ball]) -> Ball:
    total = balls.exact(0)
    for part in parts:
        total = total + part
    return total
