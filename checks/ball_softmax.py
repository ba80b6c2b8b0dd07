"""The softmax average of balls: the exact range over boxes of scores and values, coordinate by coordinate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key, reduce
from operator import add
from typing import Any

from theory.errors import NotFinite

Ball = Any
NARROW_SCORE = 0.5**16
"""Scores known at least this well go through the centred form, wider ones through the exact range."""


def softmax_average(
    scores: Sequence[Ball], values: Sequence[Sequence[Ball]], matrix: Callable[[list[list[Ball]]], Any]
) -> list[Ball]:
    """``sum_t e^{s_t} v_t / sum_t e^{s_t}`` for T scores and T rows of values; one ball for each column.

    ``matrix`` makes a matrix of balls (flint's, for its fast products).

    For wide scores the enclosure is the exact range over the box of scores and values, column by column, up to rounding
    (what links a score to its own value is not used); for narrow ones a centred form, optimal to first order.

    Raises:
        NotFinite: a score or a value has no finite enclosure.
    """
    top = max((score.mid() for score in scores), key=float)
    shifted = [score - top for score in scores]  # a common shift cancels; any exact one will do
    if all(score.rad() <= NARROW_SCORE for score in shifted):
        return [_finite(mean) for mean in _centred([score.exp() for score in shifted], values, matrix)]
    columns = [[row[column] for row in values] for column in range(len(values[0]))]
    low, high = [score.lower().exp() for score in shifted], [score.upper().exp() for score in shifted]
    return [_finite(_exact_range(low, high, column)) for column in columns]


def _centred(weights: list[Ball], values: Sequence[Sequence[Ball]], matrix: Callable[..., Any]) -> list[Ball]:
    # sum w v / sum w = c + sum w (v - c) / sum w for every c; near the average the radii of the weights nearly cancel.
    total, row = reduce(add, weights), matrix([weights])
    plain = row.mid() * matrix([list(channels) for channels in values]).mid()
    centres = [(moment / total).mid() for moment in plain.entries()]
    offsets = [[value - c for value, c in zip(channels, centres, strict=True)] for channels in values]
    return [c + moment / total for c, moment in zip(centres, (row * matrix(offsets)).entries(), strict=True)]


def _exact_range(low: Sequence[Ball], high: Sequence[Ball], values: Sequence[Ball]) -> Ball:
    supremum = _supremum(low, high, [value.upper() for value in values])
    infimum = -_supremum(low, high, [-value.lower() for value in values])
    return infimum.lower().union(supremum.upper())


def _supremum(low: Sequence[Ball], high: Sequence[Ball], values: Sequence[Ball]) -> Ball:
    # The average grows with every value. In one weight alone it moves with the sign of v_t - average: at its supremum
    # a weight is the upper one where v_t exceeds the supremum, the lower one where v_t is less, and indifferent where
    # equal: a threshold in the order of v. All T + 1 thresholds are admissible, so their maximum is the supremum. The
    # order must be the exact one: the v_t are exact balls, for which comparisons decide.
    def later(s: int, t: int) -> int:
        return bool(values[s] < values[t]) - bool(values[s] > values[t])

    order = sorted(range(len(values)), key=cmp_to_key(later))
    mass = reduce(add, low)
    moment = reduce(add, [low[t] * values[t] for t in order])
    best = moment / mass
    for t in order:
        extra = high[t] - low[t]
        mass, moment = mass + extra, moment + extra * values[t]
        best = best.max(moment / mass)
    return best


def _finite(ball: Ball) -> Ball:
    if ball.is_finite():
        return ball
    raise NotFinite("softmax average has no finite enclosure. Try: more bits or smaller boxes")
