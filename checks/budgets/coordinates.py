"""From errors of the retrieved coordinates to the error of the output, for read-outs that hand them to a last map.

With -below_i <= z_i - zbar_i <= above_i, each the sum of named shares, and Phi the last map:

    +-(Phi(z) - F_0(zbar)) <= sup +-(Phi - F_0) + sum_i max(above_i sup (+-d_i F_0)^+, below_i sup (+-d_i F_0)^-)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from checks.budget import steepest
from checks.budgets.compare import Different
from checks.curves import enclosed_curve
from checks.intervals import Interval
from checks.piecewise import Interval as Ends
from checks.piecewise import Neuron, Neurons, difference, range_of
from checks.retrieval import feature_range
from constructions.deep_relu import biases
from constructions.network import Perceptron
from constructions.ridge import Affine, ridge_sum
from constructions.sparse import entries_of
from constructions.task import RetrievalTask
from theory.enough_heads import Term

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Share:
    """One reason for z_i to differ from zbar_i: by at most ``below`` downwards and ``above`` upwards."""

    name: str
    claim: str
    below: Fraction
    above: Fraction


@dataclass(frozen=True)
class Coordinate:
    """All reasons together, and where z_i lies."""

    shares: tuple[Share, ...]
    range: Ends

    @property
    def shift(self) -> Ends:
        return sum((s.below for s in self.shares), ZERO), sum((s.above for s in self.shares), ZERO)


def two_layers(part: Perceptron, name: str) -> Neurons:
    """A two-layer ReLU network with one output, read from its weights; raises Different for others."""
    if [layer.activation for layer in part.layers] != ["relu", "identity"]:
        raise Different(f"part {name}: required: a two-layer ReLU network. Try: build it again.")
    first, last = part.layers
    if last.shape[0] != 1 or first.bias.ndim != 1 or last.bias.ndim != 1 or first.copies is not None:
        raise Different(f"part {name}: required: one output, no position and no copies. Try: build it again.")
    hidden = list(zip(entries_of(first).rows(), biases(first), strict=True))
    neurons = [
        Neuron(Affine(tuple(hidden[k][0].get(axis, ZERO) for axis in range(first.shape[1])), hidden[k][1]), output)
        for k, output in next(entries_of(last).rows()).items()
    ]
    return Neurons(tuple(neurons), biases(last)[0])


def feature_share(psi: Neurons, task: RetrievalTask, index: int) -> tuple[Share, Ends]:
    """How far Psi_i is from f_i over the cube, and its range there (A3.2, T2.3-1); exact but for enclosed curves."""
    names, box = [f"x{axis}" for axis in range(task.token_dim)], ((ZERO, ONE),) * task.token_dim
    low, high = difference(psi, ridge_sum(task.features[index].expression, names), box, enclosed_curve)
    return Share(f"feature {index}", "T2.3-1", max(ZERO, -low), max(ZERO, high)), range_of(psi, box)


def outside_unit(task: RetrievalTask, index: int) -> Fraction:
    """Upper bound of how far f_i leaves [0,1], where DEF-D has it: 0 if the range is known to lie inside."""
    low, high = feature_range(task.features[index].expression, task.token_dim)
    return max(ZERO, -low, high - 1)


def outer_error(task: RetrievalTask, phi: Neurons, coordinates: Sequence[Coordinate]) -> Ends:
    """Bounds of ``Phi - F_0`` wherever the coordinates may lead (A3.1, T2.3-3)."""
    parts = ridge_sum(task.outer, [f"z{index}" for index in range(task.num_targets)])
    return difference(phi, parts, [item.range for item in coordinates], enclosed_curve)


def outer_terms(task: RetrievalTask, coordinates: Sequence[Coordinate], outer: Ends, claim: str) -> tuple[Term, ...]:
    """The terms of the error's upper bound, by the worse of its two signs; ``claim``: that shares add up."""
    sides = [_side(task, coordinates, sign, bound, claim) for sign, bound in ((1, outer[1]), (-1, -outer[0]))]
    return max(sides, key=lambda terms: sum((term.value_upper for term in terms), ZERO))


def _side(
    task: RetrievalTask, coordinates: Sequence[Coordinate], sign: int, outer: Fraction, claim: str
) -> tuple[Term, ...]:
    """Terms of an upper bound of ``sign (network - H)``."""
    features = [feature_range(feature.expression, task.token_dim) for feature in task.features]
    box = [Interval(min(a.range[0], b[0]), max(a.range[1], b[1])) for a, b in zip(coordinates, features, strict=True)]
    slopes = steepest(task.outer, box, [item.shift for item in coordinates], sign)
    terms = []
    for index, (slope, item) in enumerate(zip(slopes, coordinates, strict=True)):
        rise, fall = max(slope.high, ZERO), max(-slope.low, ZERO)
        below, above = item.shift
        up = rise * above >= fall * below
        shares = [Term(s.name, s.claim, rise * s.above if up else fall * s.below) for s in item.shares]
        terms.append(Term.sum(f"coordinate {index}", claim, [share for share in shares if share.value_upper]))
    return (*(term for term in terms if term.value_upper), Term("outer map", "T2.3-3", max(outer, ZERO)))
