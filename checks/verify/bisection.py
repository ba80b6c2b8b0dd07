"""Conditions on functions over the unit cube, proved by splitting boxes."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from checks.verify.arithmetic import Row, Undecided, Work

LEAST_RADIUS = 2.0**-48


class Violated(Exception):
    """A condition fails at a point, surely."""


Condition = tuple[Row, Callable[[arb], bool], Callable[[arb], bool]]
"""A function's row, when its values are good, when they are surely bad."""


def bisect(
    dimension: int,
    conditions: Callable[[list[arb], bool], list[Condition]],
    work: Work,
    skipped: Callable[[list[tuple[float, float]]], bool] = lambda box: False,
) -> int:
    """Prove conditions on functions over the unit cube, splitting boxes; returns their number.

    ``conditions(point, derivatives)`` evaluates over a box of balls. A box is given by exact floats (middle, radius).
    Rows with a full set of derivatives are also enclosed by the mean value form, value(middle) + slopes (x - middle).
    """
    boxes, count = [[(0.5, 0.5)] * dimension], 0
    while boxes:
        box = boxes.pop()
        if skipped(box):
            continue
        count += 1
        work.spend(2000)
        sides = [arb(0, radius) for _, radius in box]
        wide = conditions([arb(middle) + side for (middle, _), side in zip(box, sides, strict=True)], True)
        pending = [k for k, (row, good, _) in enumerate(wide) if not good(row[0])]
        if not pending:
            continue
        centre = conditions([arb(middle) for middle, _ in box], False)
        growth = [0.0] * dimension
        done = True
        for k in pending:
            row, good, bad = wide[k]
            value = centre[k][0][0]
            if bad(value):
                raise Violated(", ".join(str(middle) for middle, _ in box))
            if len(row) == 1 + dimension:
                moves = [slope * side for slope, side in zip(row[1:], sides, strict=True)]
                if good(sum(moves, value)):
                    continue
                growth = [a + float(abs(move).upper()) for a, move in zip(growth, moves, strict=True)]
            done = False
        if not done:
            boxes += split(box, growth)
    return count


def split(box: list[tuple[float, float]], growth: list[float]) -> list[list[tuple[float, float]]]:
    """Halve the side along which the functions move most (nan and infinity: the longest side)."""
    longest = max(range(len(box)), key=lambda k: box[k][1])
    steepest = max(range(len(box)), key=lambda k: growth[k])
    side = steepest if 0 < growth[steepest] < float("inf") else longest
    middle, radius = box[side]
    if radius < LEAST_RADIUS:
        raise Undecided(f"bisection found no decision at {[m for m, _ in box]}; claim a little less")
    halves = [(middle - radius / 2, radius / 2), (middle + radius / 2, radius / 2)]
    return [[*box[:side], half, *box[side + 1 :]] for half in halves]


def between(row: Row, low: arb, high: arb) -> Condition:
    """low <= row <= high."""
    return row, lambda value: bool(low <= value <= high), lambda value: bool(value < low or value > high)


def within(row: Row, bound: arb) -> Condition:
    """|row| <= bound."""
    return between(row, -bound, bound)


def unit_rows(point: list[arb], derivatives: bool) -> list[Row]:
    """Coordinates as rows, each with derivative 1 along itself."""
    size = len(point) if derivatives else 0
    return [[value, *(arb(int(k == index)) for k in range(size))] for index, value in enumerate(point)]
