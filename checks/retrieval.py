"""How far one head of covering heads may be from the minimum it serves (T2.1, N1-N3), from the finished network.

With a_t the value and b_t the penalty (-score/beta) of a head at position t, r = b - a, z the softmax mean of a:

    z - min_S f >= -(|(f - a)^+|_S + w diam(a))
    z - min_S f <= |(a - f)^+|_S + W((|S|-1)/e)/beta + (max r - min r)_S + w diam(a)                          (N1, N2)
    w <= m/(m + |S| e^(beta g)),  m = |S^c|,  g = min over S^c of b - max over S of b

or, without w, W((T-1)/e)/beta + (max r - min r) over all positions, if a is nowhere below S off S (N3).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from fractions import Fraction

from checks import balls, enclose
from checks.covering import CoveringHead, Reading
from checks.curves import enclosed_curve
from checks.piecewise import Interval as Ends
from checks.piecewise import Neurons, difference, range_of
from constructions.ridge import RidgeSum, ridge_sum
from constructions.task import RetrievalTask, everywhere
from theory.enough_heads import LARGEST_EXPONENT
from theory.expressions import Expression

ONE, ZERO = Fraction(1), Fraction(0)
UNIT: Ends = (ZERO, ONE)
BITS = 128
RANGE_TOLERANCE = Fraction(1, 10**6)


@dataclass(frozen=True)
class Retrieval:
    """Contributions to z - min_S f, which lies in [-below, above], and the range of z.

    ``feature_below``, ``feature_above``: sup of f - a and of a - f on S, 0 at least. Softmin and mismatch only raise z.
    """

    feature_below: Fraction
    feature_above: Fraction
    leak_below: Fraction
    softmin: Fraction
    softmin_claim: str
    mismatch: Fraction
    leak_above: Fraction
    range: Ends

    @property
    def feature(self) -> Fraction:
        """Upper bound of |a - f| on S."""
        return max(self.feature_below, self.feature_above)

    @property
    def below(self) -> Fraction:
        return self.feature_below + self.leak_below

    @property
    def above(self) -> Fraction:
        return self.feature_above + self.softmin + self.mismatch + self.leak_above


def retrieval(head: CoveringHead, beta: Fraction, task: RetrievalTask, index: int) -> Retrieval:
    """Bounds for one head over all sequences, from above by N2 or by N3, whichever is smaller."""
    inside, all_positions = task.features[index].positions, everywhere(task.seq_len)
    outside = sorted(set(all_positions) - set(inside))
    feature = _Feature.of(task, index)
    inner = feature.against(head.value.inner)
    same = head.penalty.inner == head.value.inner
    values, penalties = inner.range, (inner if same else feature.against(head.penalty.inner)).range
    mismatches = range_of(head.mismatch.inner, feature.box)
    value, penalty = head.value.range_at(inside, values), head.penalty.range_at(inside, penalties)
    errors = feature.errors(head.value, inner)
    on_inside = head.mismatch.range_at(inside, mismatches)
    spread = _width(on_inside)
    alone = softmin_gap_upper(len(inside), beta)
    if not outside:
        return Retrieval(*errors, ZERO, alone, "N3", spread, ZERO, value)
    value_off, penalty_off = head.value.range_at(outside, values), head.penalty.range_at(outside, penalties)
    whole = (min(value[0], value_off[0]), max(value[1], value_off[1]))
    share = share_outside_upper(len(inside), len(outside), beta * (penalty_off[0] - penalty[1]))
    leak = share * _width(whole)
    below = min(leak, max(ZERO, value[1] - value_off[0]))
    together = softmin_gap_upper(task.seq_len, beta)
    spread_all = on_inside[1] - head.mismatch.range_at(all_positions, mismatches)[0]
    if alone + spread + leak < together + spread_all:
        return Retrieval(*errors, below, alone, "N2", spread, leak, whole)
    return Retrieval(*errors, below, together, "N3", spread_all, ZERO, whole)


@dataclass(frozen=True)
class _Inner:
    """Over the cube: bounds of a number p(x) inside the encoder, and of p - f."""

    range: Ends
    off: Ends


@dataclass(frozen=True)
class _Feature:
    """A feature over the cube: as a sum of ridge functions, with bounds of its range."""

    parts: RidgeSum
    range: Ends
    positions: tuple[int, ...]
    box: tuple[Ends, ...]

    @classmethod
    def of(cls, task: RetrievalTask, index: int) -> _Feature:
        names = [f"x{axis}" for axis in range(task.token_dim)]
        feature = task.features[index]
        parts = ridge_sum(feature.expression, names)
        return cls(parts, feature_range(feature.expression, task.token_dim), feature.positions, (UNIT,) * len(names))

    def against(self, inner: Neurons) -> _Inner:
        """Compare p with f: p is bounded by its own kinks, and as f + (p - f)."""
        own, off = range_of(inner, self.box), difference(inner, self.parts, self.box, enclosed_curve)
        return _Inner((max(own[0], self.range[0] + off[0]), min(own[1], self.range[1] + off[1])), off)

    def errors(self, value: Reading, inner: _Inner) -> Ends:
        """Upper bounds (0 at least) of ``f(x) - value(x, t)`` and of ``value - f`` over the cube and t in S."""
        # value = psi_t(p), p in [p0, p1], p - f in [e0, e1], f in [f0, f1]. For given p the error psi(p) - f lies
        # between psi(p) - min(f1, p - e0) and psi(p) - max(f0, p - e1): piecewise linear in p, so extreme at breaks.
        (p0, p1), (e0, e1), (f0, f1) = inner.range, inner.off, self.range
        below, above = ZERO, ZERO
        for outer in value.distinct(self.positions):
            psi = outer.on((p0, p1))
            for point in (*psi.points, *(p for p in (f0 + e1, f1 + e0) if p0 < p < p1)):
                below = max(below, min(f1, point - e0) - psi(point))
                above = max(above, psi(point) - max(f0, point - e1))
        return below, above


def feature_range(expression: Expression, token_dim: int) -> Ends:
    """Bounds of a feature over the cube: natural interval extension, refined where that leaves [0, 1]."""
    names = [f"x{axis}" for axis in range(token_dim)]
    found = enclose.value_on(expression, names, enclose.unit_box(token_dim))
    if found.low < 0 or found.high > 1:
        with contextlib.suppress(enclose.WorkLimit):
            found = enclose.range_of(expression, names, enclose.unit_box(token_dim), RANGE_TOLERANCE)
    return found.low, found.high


def softmin_gap_upper(num_tokens: int, beta: Fraction) -> Fraction:
    """Rational upper bound of ``W((N-1)/e)/beta`` (N1), by balls."""
    with balls.precision(BITS):
        width = balls.lambert_w(balls.exact(num_tokens - 1) / balls.exp(balls.exact(1)))
        return balls.upper(balls.divide(width, balls.exact(beta)))


def share_outside_upper(inside: int, outside: int, exponent: Fraction) -> Fraction:
    """Rational upper bound of ``outside/(outside + inside e^exponent)``: the weight of the tokens outside S (N2).

    >>> share_outside_upper(3, 1, Fraction(0)) < Fraction(1, 4) + Fraction(1, 10**20)
    True
    """
    # Each token outside weighs at most e^(-beta min b), each inside at least e^(-beta max b); the share rises with the
    # first weights and falls with the others. It falls with the exponent, so that a smaller exponent may be taken.
    if exponent < -LARGEST_EXPONENT:
        return ONE
    with balls.precision(BITS):
        others = inside * balls.exp(balls.exact(min(exponent, LARGEST_EXPONENT)))
        return balls.upper(balls.divide(balls.exact(outside), outside + others))


def _width(ends: Ends) -> Fraction:
    return ends[1] - ends[0]
