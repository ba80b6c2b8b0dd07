"""The error-capacity curve of an attention block, certified: what every read-out must miss, by Lipschitz constant.

A pair with target gap g whose read-out inputs differ by r in the sup norm costs every read-out with Lipschitz constant
L (sup norm) at least ``(g - L r)/2`` on one of the two sequences (N8, lower); a two-layer read-out as in A1 has L at
most its number M of non-zero first-layer weights (N5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from checks import balls
from checks.balls import BALLS
from checks.certificates import writer
from constructions.adversary.pairs import Array
from constructions.arithmetic import ExactArray, fractions
from constructions.evaluate import attention, target
from constructions.network import Network
from constructions.task import RetrievalTask

BITS = 256
TOKEN_BITS = 52
"""Tokens are rounded to multiples of 2^-52: float64 to all purposes."""
GAP_BITS = 40
DISTANCE_BITS = 20


@dataclass(frozen=True)
class CapacityPoint:
    """Exact tokens (T, d), a certified lower bound of the target gap and a certified upper bound of the distance."""

    first: ExactArray
    second: ExactArray
    gap_lower: Fraction
    distance_upper: Fraction

    def error_lower(self, lipschitz: Fraction) -> Fraction:
        """What this pair costs every read-out with this Lipschitz constant; may be negative."""
        return (self.gap_lower - lipschitz * self.distance_upper) / 2


@dataclass(frozen=True)
class Curve:
    """The certified points of one block and one target; ``error_lower`` is e*(L) from below."""

    network: Network
    task: RetrievalTask
    points: tuple[CapacityPoint, ...]

    def error_lower(self, lipschitz: Fraction) -> Fraction:
        """``max(0, max over the points of (gap - L distance)/2)``: N8, lower; any L >= 0."""
        return max([Fraction(0), *(point.error_lower(lipschitz) for point in self.points)])

    def certificate(self) -> dict[str, Any]:
        """The certificate, kind "capacity". Raises InvalidInput beyond the limits of the schema."""
        entries = [(point.first, point.second, point.gap_lower, point.distance_upper) for point in self.points]
        return writer.capacity(self.network, self.task, entries)


def certified_point(network: Network, task: RetrievalTask, first: ExactArray, second: ExactArray) -> CapacityPoint:
    """Gap and distance of two exact sequences (T, d), enclosed in balls; gap rounded down, distance up (N8, lower).

    >>> from constructions.specialists import Knowledge, build
    >>> from constructions.task import toy
    >>> from theory.ledger import Form
    >>> network = build(toy(2), Fraction(1, 10), Form.SHARPENED, Knowledge(Fraction(2))).network
    >>> point = certified_point(network, toy(2), fractions([[1], [1]]), fractions([[0], [0]]))
    >>> 1 < point.gap_lower <= 2 and point.distance_upper > 0
    True
    """
    with balls.precision(BITS):
        outputs = [attention(network, BALLS.asarray(tokens), BALLS) for tokens in (first, second)]
        rows = BALLS.matmul((outputs[0] - outputs[1])[None], BALLS.asarray(network.output_weight.T))[0]
        distance = max(balls.upper(balls.absolute(row)) for row in rows)
        targets = [target(task, BALLS.asarray(tokens), BALLS) for tokens in (first, second)]
        gap = balls.lower(targets[0] - targets[1])
    gap = Fraction(math.floor(gap * 2**GAP_BITS), 2**GAP_BITS)
    return CapacityPoint(first, second, gap, _rounded_up(distance))


def short_tokens(pair: Array) -> tuple[ExactArray, ExactArray]:
    """A float64 pair (2, T, d) as exact tokens, rounded to multiples of 2^-TOKEN_BITS."""
    rounded = np.round(np.clip(pair, 0, 1) * 2.0**TOKEN_BITS) / 2.0**TOKEN_BITS
    first, second = (fractions([[Fraction(float(entry)) for entry in token] for token in tokens]) for tokens in rounded)
    return first, second


def best_points(points: Sequence[CapacityPoint]) -> tuple[CapacityPoint, ...]:
    """Those with a positive gap that no other beats in gap and distance; largest distance first."""
    kept: list[CapacityPoint] = []
    for point in sorted(points, key=lambda point: (point.distance_upper, -point.gap_lower)):
        if point.gap_lower > 0 and (not kept or point.gap_lower > kept[-1].gap_lower):
            kept.append(point)
    return tuple(kept[::-1])


def _rounded_up(value: Fraction) -> Fraction:
    """The next larger number with DISTANCE_BITS significant bits; positive even for 0."""
    exponent = DISTANCE_BITS - (math.floor(math.log2(value)) if value > 0 and value > Fraction(1, 2**1000) else 1000)
    scale = Fraction(2) ** exponent
    return Fraction(math.floor(value * scale) + 1) / scale
