"""Certified error of covering heads (T2.1, N1-N3): every term of the analytic budget, from the finished network.

With z_i what head i retrieves, zbar_i the minimum it serves, and -below_i <= z_i - zbar_i <= above_i (`retrieval`):

    network - H  =  (Phi - F_0)(z) + (F_0(z) - F_0(zbar))
                <=  sup (Phi - F_0) + sup sum_i max(above_i (d_i F_0)^+, below_i (d_i F_0)^-),

and likewise from below. A softmax mean lies above the minimum, so softmin errors of coordinates along which F_0 rises
and of those along which it falls do not add up: the two sides are bounded apart and the worse one is the budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from checks.covering import Covering, NotReadable, read_covering
from checks.curves import enclosed_curve
from checks.intervals import Interval
from checks.jets import EXACT_SCALARS, differentiate
from checks.piecewise import Interval as Ends
from checks.piecewise import difference
from checks.retrieval import Retrieval, feature_range, retrieval
from checks.witness import find_witness
from constructions.network import Network
from constructions.ridge import ridge_sum
from constructions.task import RetrievalTask
from theory.enough_heads import Term
from theory.errors import InvalidInput, NotFinite
from theory.exact import decimal
from theory.expressions import Expression
from theory.ledger import Proved, Refuted, Undecided, Verdict
from theory.rational_bounds import positive

ZERO = Fraction(0)
BEYOND = Fraction(1001, 1000)
"""An eps this much above the budget is named as a remedy: it stays above when it is rounded for people."""
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
    reason, remedy = "The terms of the budget add up to eps or more.", "branch and bound (checks.sup_error)"
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
    if terms:
        remedy = f"eps = {decimal(total * BEYOND)} is proved for this network; else {remedy}"
    return Report(Undecided(reason, remedy), terms)


def budget_terms(network: Network, task: RetrievalTask) -> tuple[Term, ...]:
    """The terms whose sum bounds ``sup |network - H|``; raises NotReadable or InvalidInput where none is known."""
    return max(budget_sides(network, task), key=lambda terms: sum((term.value_upper for term in terms), ZERO))


def budget_sides(network: Network, task: RetrievalTask) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Terms of upper bounds of ``network - H`` and of ``H - network``; raises as `budget_terms`."""
    found = retrievals(network, task)
    low, high = readout_errors(network, task, found)
    return _side(task, found, 1, high), _side(task, found, -1, -low)


def _side(task: RetrievalTask, found: Sequence[Retrieval], sign: int, outer: Fraction) -> tuple[Term, ...]:
    """Terms of an upper bound of ``sign (network - H)``."""
    features = [feature_range(feature.expression, task.token_dim) for feature in task.features]
    box = [Interval(min(a.range[0], b[0]), max(a.range[1], b[1])) for a, b in zip(found, features, strict=True)]
    slopes = steepest(task.outer, box, [(item.below, item.above) for item in found], sign)
    terms = []
    for index, (slope, item) in enumerate(zip(slopes, found, strict=True)):
        rise, fall = max(slope.high, ZERO), max(-slope.low, ZERO)
        if rise * item.above >= fall * item.below:
            terms.append(Term(f"feature {index}", "T2.1-10", rise * item.feature_above))
            terms.append(Term(f"softmin {index}", item.softmin_claim, rise * item.softmin))
            terms.append(Term(f"score mismatch {index}", "T2.1-12", rise * item.mismatch))
            terms.append(Term(f"gate leak {index}", "N2", rise * item.leak_above))
        else:
            terms.append(Term(f"feature {index}", "T2.1-10", fall * item.feature_below))
            terms.append(Term(f"gate leak {index}", "N2", fall * item.leak_below))
    return (*(term for term in terms if term.value_upper), Term("outer map", "A3", max(outer, ZERO)))


def retrievals(network: Network, task: RetrievalTask) -> list[Retrieval]:
    """How far each head may be from the minimum of its feature; raises NotReadable or InvalidInput."""
    return [retrieval(head, network.beta, task, index) for index, head in enumerate(_read(network, task).heads)]


def _read(network: Network, task: RetrievalTask) -> Covering:
    covering = read_covering(network)
    if len(covering.heads) != task.num_targets:
        raise NotReadable.because(f"{len(covering.heads)} heads for {task.num_targets} features")
    return covering


def readout_errors(network: Network, task: RetrievalTask, found: Sequence[Retrieval]) -> Ends:
    """Bounds of ``Phi - F_0`` wherever the heads may lead."""
    parts = ridge_sum(task.outer, [f"z{index}" for index in range(task.num_targets)])
    return difference(_read(network, task).readout, parts, [item.range for item in found], enclosed_curve)


def steepest(outer: Expression, box: Sequence[Interval], shifts: Sequence[Ends], sign: int = 1) -> list[Interval]:
    """Slopes s_i of ``sign F_0`` with ``sign (F_0(z) - F_0(z')) <= sum_i sup s_i [-below_i, above_i]`` on the box.

    Whenever -below_i <= z_i - z'_i <= above_i; shifts = (below_i, above_i), both at least 0. By the mean value
    theorem: the gradient of F_0 on that sub-box where the sum is largest.
    """
    names = [f"z{index}" for index in range(len(box))]

    def weigh(part: Sequence[Interval]) -> tuple[Fraction, list[Interval]]:
        gradient = differentiate(outer, names, part, EXACT_SCALARS, order=1).gradient
        slopes = [entry if sign > 0 else -entry for entry in gradient]
        moves = [max(s.high * above, -s.low * below, ZERO) for s, (below, above) in zip(slopes, shifts, strict=True)]
        return sum(moves, ZERO), slopes

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
