"""Certified error of covering heads (T2.1, N1-N3): every term of the analytic budget, from the finished network.

With a_t the value and b_t the penalty (-score/beta) of a head at position t, r = b - a, G its softmax mean over S:

    |ztilde - min_S f| <= |a - f|_S + [W((|S|-1)/e)/beta + (max r - min r)_S] + w diam(a),
    w <= |S^c| exp(-beta (min over S^c of b - max over S of b))                            (N1, N2)

or, without w, W((T-1)/e)/beta + (max r - min r) over all positions if a is nowhere below S off S (N3). Then
|network - H| <= |Phi - F_0| + sup sum_i |d_i F_0| |ztilde_i - zbar_i|.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from checks import balls, enclose
from checks.covering import Covering, CoveringHead, NotReadable, Reading, read_covering
from checks.curves import enclosed_curve
from checks.intervals import Interval
from checks.jets import EXACT_SCALARS, differentiate
from checks.piecewise import Interval as Ends
from checks.piecewise import Neurons, difference, range_of
from checks.witness import find_witness
from constructions.network import Network
from constructions.ridge import RidgeSum, ridge_sum
from constructions.task import RetrievalTask, everywhere
from theory.enough_heads import LARGEST_EXPONENT, Term
from theory.errors import InvalidInput, NotFinite
from theory.exact import decimal
from theory.expressions import Expression
from theory.ledger import Proved, Refuted, Undecided, Verdict
from theory.rational_bounds import positive

ONE, ZERO = Fraction(1), Fraction(0)
UNIT: Ends = (ZERO, ONE)
BITS = 128
RANGE_TOLERANCE = Fraction(1, 10**6)
OUTER_BOXES = 256
"""How many boxes the gradient of F_0 is bounded on, at most."""


@dataclass(frozen=True)
class Report:
    """The verdict on "sup error < eps", the terms (empty if the network is not readable) and their sum."""

    verdict: Verdict
    terms: tuple[Term, ...]

    @property
    def bound_upper(self) -> Fraction | None:
        """The certified upper bound of sup |network - target| over all sequences in the cube."""
        return sum((term.value_upper for term in self.terms), ZERO) if self.terms else None


@dataclass(frozen=True)
class Retrieval:
    """How far one head may be from its minimum: contributions to |ztilde_i - zbar_i|, and where ztilde_i lies."""

    feature: Fraction
    softmin: Fraction
    softmin_claim: str
    mismatch: Fraction
    leak: Fraction
    range: Ends

    @property
    def total(self) -> Fraction:
        return self.feature + self.softmin + self.mismatch + self.leak


def certify(network: Network, task: RetrievalTask, eps: Fraction) -> Report:
    """Decide ``sup over [0,1]^(dT) of |network - H| < eps`` by the analytic budget of the network itself.

    Claims T2.1 (N2, N3), upper. Hypotheses: none on the design; the network must be readable (`checks.covering`) and
    the task's expressions sums of ridge functions. Conclusion: Proved if the terms' sum is below eps; Refuted with an
    exact sequence where the error is at least eps (for every beta, where all scores are equal there); else Undecided.
    Arithmetic: exact rationals, balls for exp and W.

    >>> from constructions.specialists import Knowledge, build
    >>> from constructions.task import toy
    >>> from theory.ledger import Form
    >>> built = build(toy(16), Fraction(1, 20), Form.SHARPENED, Knowledge(Fraction(2)))
    >>> certify(built.network, toy(16), Fraction(1, 20)).verdict.label
    'PROVED'

    Raises:
        InvalidInput: eps <= 0, or network and task of different sizes.
    """
    positive("eps", eps)
    if (network.seq_len, network.token_dim) != (task.seq_len, task.token_dim):
        sizes = (network.seq_len, network.token_dim)
        raise InvalidInput.about("(seq_len, token_dim)", sizes, f"{(task.seq_len, task.token_dim)}", "the same task")
    terms: tuple[Term, ...] = ()
    reason = "The terms of the budget add up to eps or more."
    try:
        terms = budget_terms(network, task)
    except (NotReadable, NotFinite, InvalidInput) as error:
        reason = str(error)
    total = sum((term.value_upper for term in terms), ZERO)
    if terms and total < eps:
        return Report(Proved(f"sup |network - H| <= {decimal(total)} < eps = {decimal(eps)}"), terms)
    witness = find_witness(network, task, eps)
    if witness is not None:
        every = " for every beta" if witness.every_beta else ""
        detail = f"the error is at least {decimal(witness.error_lower)} >= eps{every} at one sequence"
        return Report(Refuted(detail, witness.to_json()), terms)
    return Report(Undecided(reason, "a larger eps, or branch and bound (checks.sup_error)"), terms)


def budget_terms(network: Network, task: RetrievalTask) -> tuple[Term, ...]:
    """The terms whose sum bounds ``sup |network - H|``; raises NotReadable or InvalidInput where none is known."""
    covering = _read(network, task)
    found = [retrieval(head, network, task, index) for index, head in enumerate(covering.heads)]
    ranges = [item.range for item in found]
    outer = _readout_error(covering, task, ranges)
    features = [feature_range(feature.expression, task.token_dim) for feature in task.features]
    boxes = [Interval(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(ranges, features, strict=True)]
    weights = outer_weights(task.outer, boxes, [item.total for item in found])
    terms = []
    for index, (weight, item) in enumerate(zip(weights, found, strict=True)):
        terms.append(Term(f"feature {index}", "T2.1-10", weight * item.feature))
        terms.append(Term(f"softmin {index}", item.softmin_claim, weight * item.softmin))
        terms.append(Term(f"score mismatch {index}", "T2.1-12", weight * item.mismatch))
        terms.append(Term(f"gate leak {index}", "N2", weight * item.leak))
    return (*(term for term in terms if term.value_upper), Term("outer map", "A3", outer))


def retrievals(network: Network, task: RetrievalTask) -> list[Retrieval]:
    """How far each head may be from the minimum of its feature; raises NotReadable or InvalidInput."""
    return [retrieval(head, network, task, index) for index, head in enumerate(_read(network, task).heads)]


def readout_error(network: Network, task: RetrievalTask) -> Fraction:
    """Upper bound of ``|Phi - F_0|`` wherever the heads may lead; raises as `retrievals`."""
    return _readout_error(_read(network, task), task, [item.range for item in retrievals(network, task)])


def _read(network: Network, task: RetrievalTask) -> Covering:
    covering = read_covering(network)
    if len(covering.heads) != task.num_targets:
        raise NotReadable.because(f"{len(covering.heads)} heads for {task.num_targets} features")
    return covering


def _readout_error(covering: Covering, task: RetrievalTask, ranges: Sequence[Ends]) -> Fraction:
    parts = ridge_sum(task.outer, [f"z{index}" for index in range(task.num_targets)])
    low, high = difference(covering.readout, parts, ranges, enclosed_curve)
    return max(-low, high)


def retrieval(head: CoveringHead, network: Network, task: RetrievalTask, index: int) -> Retrieval:
    """Bounds for one head over all sequences: by N2 or by N3, whichever is smaller."""
    inside, all_positions = task.features[index].positions, everywhere(task.seq_len)
    outside = sorted(set(all_positions) - set(inside))
    feature = _Feature.of(task, index)
    inner = feature.against(head.value.inner)
    same = head.penalty.inner == head.value.inner
    values, penalties = inner.range, (inner if same else feature.against(head.penalty.inner)).range
    mismatches = range_of(head.mismatch.inner, feature.box)
    value, penalty = head.value.range_at(inside, values), head.penalty.range_at(inside, penalties)
    error = feature.error(head.value, inner)
    spread = _width(head.mismatch.range_at(inside, mismatches))
    gap = softmin_gap_upper(len(inside), network.beta)
    if not outside:
        return Retrieval(error, gap, "N3", spread, ZERO, value)
    value_off, penalty_off = head.value.range_at(outside, values), head.penalty.range_at(outside, penalties)
    whole = (min(value[0], value_off[0]), max(value[1], value_off[1]))
    share = share_outside_upper(len(outside), network.beta * (penalty_off[0] - penalty[1]))
    gated = Retrieval(error, gap, "N1", spread, share * _width(whole), whole)
    below = max(ZERO, value[1] - value_off[0])
    spread_all = _width(head.mismatch.range_at(all_positions, mismatches))
    covered = Retrieval(error, softmin_gap_upper(task.seq_len, network.beta), "N3", spread_all, below, whole)
    return min(gated, covered, key=lambda item: item.total)


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

    def error(self, value: Reading, inner: _Inner) -> Fraction:
        """Upper bound of ``|value(x, t) - f(x)|`` over the cube and t in S."""
        # value = psi_t(p), p in [p0, p1], p - f in [e0, e1], f in [f0, f1]. For given p the error psi(p) - f lies
        # between psi(p) - min(f1, p - e0) and psi(p) - max(f0, p - e1): piecewise linear in p, so extreme at breaks.
        (p0, p1), (e0, e1), (f0, f1) = inner.range, inner.off, self.range
        worst = ZERO
        for outer in value.distinct(self.positions):
            psi = outer.on((p0, p1))
            for point in (*psi.points, *(p for p in (f0 + e1, f1 + e0) if p0 < p < p1)):
                worst = max(worst, psi(point) - max(f0, point - e1), min(f1, point - e0) - psi(point))
        return worst


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


def share_outside_upper(count: int, exponent: Fraction) -> Fraction:
    """Rational upper bound of ``min(1, count e^(-exponent))``, the weight of ``count`` tokens outside S (N2)."""
    if exponent <= 0:
        return ONE
    with balls.precision(BITS):
        return min(ONE, balls.upper(count * balls.exp(balls.exact(-min(exponent, LARGEST_EXPONENT)))))


def outer_weights(outer: Expression, box: Sequence[Interval], errors: Sequence[Fraction]) -> list[Fraction]:
    """Weights w_i with ``|F_0(z) - F_0(z')| <= sum w_i errors_i`` whenever |z_i - z'_i| <= errors_i, both in the box.

    By the mean value theorem: w are bounds of |d_i F_0| on that sub-box where their combination is largest.
    """
    names = [f"z{index}" for index in range(len(box))]

    def weigh(part: Sequence[Interval]) -> tuple[Fraction, list[Fraction]]:
        jet = differentiate(outer, names, part, EXACT_SCALARS, order=1)
        slopes = [max(abs(entry.low), abs(entry.high)) for entry in jet.gradient]
        return sum((w * e for w, e in zip(slopes, errors, strict=True)), ZERO), slopes

    boxes = [(*weigh(box), list(box))]
    while len(boxes) < OUTER_BOXES:
        worst = max(boxes, key=lambda item: item[0])
        boxes.remove(worst)
        halves = [(*weigh(half), half) for half in _halve(worst[2])]
        boxes += halves
        if max(half[0] for half in halves) == worst[0]:
            break
    return max(boxes, key=lambda item: item[0])[1]


def _halve(box: list[Interval]) -> list[list[Interval]]:
    axis = max(range(len(box)), key=lambda i: box[i].high - box[i].low)
    middle = (box[axis].low + box[axis].high) / 2
    left, right = list(box), list(box)
    left[axis], right[axis] = Interval(box[axis].low, middle), Interval(middle, box[axis].high)
    return [left, right]


def _width(ends: Ends) -> Fraction:
    return ends[1] - ends[0]
