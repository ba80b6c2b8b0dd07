"""Conditions on functions over the unit cube, proved by splitting boxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from flint import arb

from checks.verify.arithmetic import Row, Undecided, Work

LEAST_RADIUS = 2.0**-48


class Violated(Exception):
    """A condition fails at a point, surely."""


@dataclass(frozen=True)
class Condition:
    """low <= row <= high (< if strict), for the values of a function given by its row."""

    row: Row
    low: arb
    high: arb
    strict: bool = False

    def holds(self, value: arb) -> bool:
        return bool(self.low < value < self.high) if self.strict else bool(self.low <= value <= self.high)

    def fails(self, value: arb) -> bool:
        outside = value <= self.low or value >= self.high if self.strict else value < self.low or value > self.high
        return bool(outside)


def within(row: Row, bound: arb, strict: bool = False) -> Condition:
    """|row| <= bound."""
    return Condition(row, -bound, bound, strict)


Box = list[tuple[float, float]]
"""Sides as (middle, radius), dyadic numbers that floats hold exactly."""


def bisect(
    dimension: int,
    conditions: Callable[[Box, bool], list[Condition]],
    work: Work,
    skipped: Callable[[Box], bool] = lambda box: False,
) -> int:
    """Prove conditions on functions over the unit cube, splitting boxes; returns their number.

    ``conditions(box, derivatives)`` evaluates over a box, or over its middle as a box of radius 0. Rows with a full set
    of derivatives are also enclosed by the mean value form, value(middle) + slopes (x - middle).

    Raises:
        Violated: a condition fails at the middle of a box.
        Undecided: boxes became too small, or the work limit was reached.
    """
    boxes: list[Box] = [[(0.5, 0.5)] * dimension]
    count = 0
    while boxes:
        box = boxes.pop()
        if skipped(box):
            continue
        count += 1
        work.spend(2000)
        pending = [(k, c) for k, c in enumerate(conditions(box, True)) if not c.holds(c.row[0])]
        if not pending:
            continue
        moves = [mean_value_moves(condition, box) for _, condition in pending]
        # The mean value form has no chance if it is wider than what is allowed.
        if all(m and 2 * sum(m, arb(0)).rad() <= c.high - c.low for m, (_, c) in zip(moves, pending, strict=True)):
            centre = conditions([(middle, 0.0) for middle, _ in box], False)
            values = [centre[k].row[0] for k, _ in pending]
            if any(c.fails(value) for value, (_, c) in zip(values, pending, strict=True)):
                raise Violated(", ".join(str(middle) for middle, _ in box))
            if all(c.holds(sum(m, value)) for value, m, (_, c) in zip(values, moves, pending, strict=True)):
                continue
        boxes += split(
            box, [sum(float(abs(entry).upper()) for entry in column) for column in zip(*moves, strict=False)]
        )
    return count


def mean_value_moves(condition: Condition, box: Box) -> list[arb]:
    """slope (x - middle) for each side, or nothing if the row has no derivatives."""
    slopes = condition.row[1:]
    return [slope * arb(0, radius) for slope, (_, radius) in zip(slopes, box, strict=True)] if slopes else []


def split(box: Box, growth: list[float]) -> tuple[Box, Box]:
    """Halve the side along which the functions move most (nan and infinity: the longest side)."""
    useful = len(growth) == len(box) and all(isfinite(entry) for entry in growth) and any(growth)
    side = max(range(len(box)), key=lambda k: growth[k] if useful else box[k][1])
    middle, radius = box[side]
    if radius < LEAST_RADIUS:
        raise Undecided(f"bisection found no decision at {[m for m, _ in box]}; claim a little less")
    halves = [(middle - radius / 2, radius / 2), (middle + radius / 2, radius / 2)]
    left, right = ([*box[:side], half, *box[side + 1 :]] for half in halves)
    return left, right


def unit_rows(box: Box, derivatives: bool) -> list[Row]:
    """The coordinates of a box as rows, each with derivative 1 along itself."""
    size = len(box) if derivatives else 0
    return [
        [arb(middle, radius), *(arb(int(k == index)) for k in range(size))]
        for index, (middle, radius) in enumerate(box)
    ]
