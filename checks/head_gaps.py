"""How far covering heads are from the minima they serve, on boxes of sequences: no overestimation at ties.

A head's value is a_t, its penalty b_t = -score/beta, and r = b - a. Over a box of sequences

    sum_t p_t a_t - min_S f  =  [sum_t p_t b_t - min b] + [min b - min_S f] - sum_t p_t r_t,    p = softmax(-beta b).

The first bracket is bounded exactly as if the b_t ranged over intervals one by one (`gibbs_gap`), which interval
arithmetic on softmax and minimum apart cannot do; the second through b - f, position by position.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from checks import boxes
from checks.boxes import Array, Boxes
from checks.budget import readout_errors, retrievals
from checks.centred import CENTRED, Centred, softmax_average
from checks.covering import CoveringHead, NotReadable, read_covering
from checks.piecewise import range_of
from constructions.evaluate import apply_map
from constructions.network import Network
from constructions.task import RetrievalTask
from theory.errors import InvalidInput, NotFinite
from theory.expressions import evaluate as evaluate_expression

ZERO, ONE = Fraction(0), Fraction(1)
SWEEPS = 4
GAP_SLACK = 2.0**-28
"""Relative error granted to one evaluation of the sums in `gibbs_gap` (up to 64 positions)."""
LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, eq=False)
class HeadGaps:
    """The heads of a network, with bounds of ``b - f`` on S over the whole cube and of ``Phi - F_0`` where they lead.

    The last two are those of the budget (exact, from the kinks): where a kink lies on a face of the cube, as clips do,
    slopes over small boxes say less.
    """

    network: Network
    task: RetrievalTask
    heads: tuple[CoveringHead, ...]
    features: tuple[Boxes, ...]
    outer: Boxes

    @classmethod
    def of(cls, network: Network, task: RetrievalTask) -> HeadGaps | None:
        """None for a network that is not one of covering heads, or has a read-out or task of another form."""
        try:
            heads, found = read_covering(network).heads, retrievals(network, task)
            low, high = readout_errors(network, task, found)
        except (NotReadable, NotFinite, InvalidInput):
            return None
        features = []
        for head, item, feature in zip(heads, found, task.features, strict=True):
            shift = range_of(head.mismatch.inner, ((ZERO, ONE),) * task.token_dim)
            least, most = head.mismatch.range_at(feature.positions, shift)
            features.append(_between(least - item.feature_below, most + item.feature_above))
        return cls(network, task, heads, tuple(features), _between(low, high))

    def error(self, tokens: Centred) -> Boxes:
        """Bounds of ``network - target`` on each box, from (Phi - F_0)(z) + F_0(z) - F_0(zbar), z - zbar the gaps."""
        encoded = apply_map(self.network.encoder, tokens, CENTRED)
        names = {f"x{axis}": tokens[..., axis] for axis in range(self.task.token_dim)}
        gaps, reaches = [], []
        for index, feature in enumerate(self.task.features):
            wanted = evaluate_expression(feature.expression, names, CENTRED) + 0 * tokens[..., 0]
            gap, least = self.gap(index, encoded, wanted)
            gaps.append(gap)
            reaches.append(boxes.hull(least, least + gap))
        slopes = _slopes(self.task, reaches)
        total = self.outer
        for gap, slope in zip(gaps, slopes, strict=True):
            total = total + gap * slope
        return total

    def gap(self, index: int, encoded: Centred, wanted: Centred) -> tuple[Boxes, Boxes]:
        """Bounds of z_i - zbar_i and of zbar_i."""
        head = self.heads[index]
        penalty = CENTRED.matmul(encoded, CENTRED.asarray(head.penalty_weight[:, None]))[..., 0]
        rest = CENTRED.matmul(encoded, CENTRED.asarray((head.penalty_weight - head.value_weight)[:, None]))[..., 0]
        inside = [position - 1 for position in self.task.features[index].positions]
        outside = sorted(set(range(self.task.seq_len)) - set(inside))
        off = (penalty[..., inside] - wanted[..., inside]).range
        least = Boxes(wanted.range.lo[..., inside].min(axis=-1), wanted.range.hi[..., inside].min(axis=-1))
        whole = self.features[index]
        low, high = np.maximum(off.lo.min(axis=-1), whole.lo), np.minimum(off.hi.max(axis=-1), whole.hi)
        if outside:
            low = np.minimum(low, (Boxes.points(penalty.range.lo[..., outside].min(axis=-1)) - least.hi).lo)
        scores = penalty.range * -boxes.from_exact(np.array(self.network.beta, dtype=object))
        mean = softmax_average(scores, rest.range[..., None])[..., 0]
        offset = boxes.from_exact(np.array(head.value_offset, dtype=object))
        return gibbs_gap(penalty.range, self.network.beta) + Boxes(low, high) - mean + offset, least


def gibbs_gap(penalties: Boxes, beta: Fraction) -> Boxes:
    """Range of ``sum_t p_t b_t - min b``, p = softmax(-beta b), for b (..., T) anywhere in the intervals.

    >>> tied = gibbs_gap(Boxes(np.zeros((1, 2)), np.ones((1, 2))), Fraction(10))
    >>> bool(0.0278 < tied.hi[0] < 0.0279), float(tied.lo[0])  # W(1/e)/10
    (True, 0.0)
    """
    # Let s be where b is least and d_t = b_t - b_s >= 0: the gap is sum d_t e^(-beta d_t) / (1 + sum e^(-beta d_t)),
    # sums over t != s, with d_t in [max(lo_t - top, 0), hi_t - lo_s], top = min hi. It is at most x if and only if
    # F(x) = sum (d_t - x) e^(-beta d_t) - x <= 0 for all such d: each summand is largest at x + 1/beta, or as close to
    # it as the interval allows, and least at one end. F falls at least as fast as x grows, so x + F(x)^+ is an upper
    # and x - F(x)^- a lower bound for any x. Dinkelbach's iteration x -> sum d e^(-beta d)/(1 + sum e^(-beta d)) at the
    # extreme d brings x close. Summands are at most d + |x| in size and 2-Lipschitz in d: GAP_SLACK covers rounding.
    rate, count = float(beta), penalties.shape[-1]
    top = penalties.hi.min(axis=-1, keepdims=True)
    nearest = np.maximum(penalties.lo - top, 0.0)[..., None, :]
    farthest = np.maximum(penalties.hi[..., None, :] - penalties.lo[..., :, None], nearest)
    others = 1.0 - np.eye(count)
    possible = penalties.lo <= top
    slack = GAP_SLACK * count * (1.0 + np.abs(farthest).max(axis=-1))

    def sums(x: Array, distance: Array) -> tuple[Array, Array]:
        weights = boxes.exp_near(-np.minimum(rate * distance, LARGEST_EXPONENT)) * others
        return (weights * distance).sum(axis=-1), weights.sum(axis=-1)

    def greatest(x: Array) -> tuple[Array, Array]:
        return sums(x, np.clip(x[..., None] + 1.0 / rate, nearest, farthest))

    def smallest(x: Array) -> tuple[Array, Array]:
        ends = [(distance - x[..., None]) * boxes.exp_near(-np.minimum(rate * distance, LARGEST_EXPONENT))
                for distance in (nearest, farthest)]  # fmt: skip
        return sums(x, np.where(ends[0] <= ends[1], nearest, farthest))

    found = []
    for extreme, sign in ((greatest, 1.0), (smallest, -1.0)):
        x = np.zeros(farthest.shape[:-1])
        for _ in range(SWEEPS):
            moment, mass = extreme(x)
            x = moment / (1.0 + mass)
        moment, mass = extreme(x)
        excess = moment - x * mass - x
        bound = x + sign * (np.maximum(sign * excess, 0.0) + slack)
        found.append(np.where(possible, bound, -sign * np.inf))
    return Boxes(np.maximum(found[1].min(axis=-1), 0.0), np.maximum(found[0].max(axis=-1), 0.0))


def _between(low: Fraction, high: Fraction) -> Boxes:
    ends = [boxes.from_exact(np.array(end, dtype=object)) for end in (low, high)]
    return Boxes(ends[0].lo, ends[1].hi)


def _slopes(task: RetrievalTask, reaches: list[Boxes]) -> list[Boxes]:
    """Bounds of d_i F_0 on the boxes of (z_1, ..., z_D)."""
    lows, highs = np.stack([reach.lo for reach in reaches]), np.stack([reach.hi for reach in reaches])
    middle = (lows + highs) / 2
    radius = np.maximum(highs - middle, middle - lows)
    units = np.broadcast_to(np.eye(len(reaches))[:, :, None], (len(reaches), *lows.shape))
    named = {
        f"z{index}": Centred(Boxes.points(middle[index]), reaches[index], Boxes.points(units[:, index]), radius)
        for index in range(len(reaches))
    }
    slope = (evaluate_expression(task.outer, named, CENTRED) + 0 * named["z0"]).slope
    return [slope[index] for index in range(len(reaches))]
