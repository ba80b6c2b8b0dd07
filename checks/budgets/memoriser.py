"""Certified error of one head that memorises (T2.3): feature, minimum, outer map, each read from its own weights.

The network must be, weight by weight, what its parts compose to (L8). Attention is uniform and lists the tokens
(T2.3-P), so the network is Phi(min_{S_1} Psi_1, ..., min_{S_D} Psi_D), with each minimum as its part takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from checks.budgets.compare import Different, require_equal
from checks.budgets.coordinates import (
    Coordinate,
    Share,
    feature_share,
    outer_error,
    outer_terms,
    outside_unit,
    two_layers,
)
from checks.piecewise import Interval as Ends
from checks.piecewise import sum_of_relus
from constructions import memoriser
from constructions.built import Built
from constructions.deep_relu import biases
from constructions.network import Perceptron
from constructions.network_json import map_to_json
from constructions.sparse import entries_of
from theory.enough_heads import Term

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Minimum:
    """How far a network may be below and above the minimum of its inputs; its range, where the inputs do not matter.

    With a range, it is the minimum of the inputs clipped to [0,1].
    """

    claim: str
    below: Fraction
    above: Fraction
    range: Ends | None


def terms(built: Built) -> tuple[Term, ...]:
    """A tree of terms whose sum bounds ``sup |network - H|`` over [0,1]^(dT).

    Claims T2.3-P, L8, T2.3-1, N12, T2.3-3, T2.3-end (repaired), upper. Exact but for enclosed curves. Raises Different.
    """
    require_equal(built.network, memoriser.assemble(built))
    task, sizes = built.task, memoriser.support_sizes(built.task)
    minima = {size: read_minimum(built.part(f"minimum of {size}", Perceptron), size, max(sizes)) for size in sizes}
    coordinates = []
    for index, feature in enumerate(task.features):
        share, feature_range = feature_share(
            two_layers(built.part(f"feature {index}", Perceptron), f"feature {index}"), task, index
        )
        minimum = minima[len(feature.positions)]
        # A minimum moves by at most as much as its arguments. Where the network clips them to [0,1], or takes relu of
        # them, this brings them no farther from f, but for what f itself leaves [0,1] by.
        shares = [share, Share(f"minimum {index}", minimum.claim, minimum.below, minimum.above)]
        if excess := outside_unit(task, index):
            shares.append(Share(f"feature {index} outside [0,1]", "T2.3-2", excess, excess))
        low, high = minimum.range or feature_range
        if built.form == "seven":
            low, high = max(low, ZERO), max(high, ZERO)
        coordinates.append(Coordinate(tuple(shares), (low, high)))
    outer = outer_error(task, two_layers(built.part("outer", Perceptron), "outer"), coordinates)
    return outer_terms(task, coordinates, outer, "T2.3-end")


def read_minimum(part: Perceptron, size: int, largest: int) -> Minimum:
    """What a part does that takes the minimum of ``size`` numbers: the tournament exactly, a staircase nearly (N12).

    Raises:
        Different: it is neither.
    """
    if map_to_json(part) == map_to_json(memoriser.minimum_of(size, 0, largest)):
        return Minimum("N12", ZERO, ZERO, None)
    offset, levels = read_staircase(part, size)
    low, high, top = staircase_error(levels, size)
    # The network is offset - fhat(1 - x), near 1 - max(1 - x).
    return Minimum("N12", max(ZERO, high + 1 - offset), max(ZERO, offset - 1 - low), (offset - top, offset))


Level = tuple[Fraction, Fraction]
"""Threshold a and height h: min(sum_t relu(y_t - a), h)."""


def staircase_error(levels: Sequence[Level], size: int) -> tuple[Fraction, Fraction, Fraction]:
    """Bounds of ``fhat(y) - clip(max y)`` over all real y, and sup fhat, for fhat = sum of levels.

    Claims L9, N12, upper. Hypothesis: all h >= 0. Exact.

    >>> steps = [(Fraction(j, 4), Fraction(1, 4)) for j in range(4)]
    >>> staircase_error(steps, 2)
    (Fraction(0, 1), Fraction(1, 8), Fraction(1, 1))
    """
    # With m = max y: relu(m - a) <= sum_t relu(y_t - a) <= size relu(m - a), so fhat lies between two functions of m,
    # both piecewise linear and rising. For m >= 1 it lies between the lower one at 1 and the sum of all heights, for
    # m <= 0 between the lower one, which is >= 0, and the upper one at 0.
    top = sum((height for _, height in levels), ZERO)
    lower, upper = (
        sum_of_relus(
            [t for a, h in levels for t in ((ONE, k, -k * a), (-ONE, k, -k * a - h))],
            (ZERO, ONE),
        )
        for k in (ONE, Fraction(size))
    )
    low = min(value - point for point, value in zip(lower.points, lower.values, strict=True))
    high = max(value - point for point, value in zip(upper.points, upper.values, strict=True))
    return min(low, ZERO), max(high, top - 1, ZERO), top


def read_staircase(part: Perceptron, size: int) -> tuple[Fraction, list[Level]]:
    """Offset and levels of ``offset - sum of levels at y = 1 - x``, read from the weights.

    Raises:
        Different: the network is of another shape.
    """
    if [one.activation for one in part.layers] != ["relu", "relu", "identity"]:
        raise _no_staircase("three layers, relu, relu, identity")
    first, second, last = part.layers
    inputs = list(zip(entries_of(first).rows(), biases(first), strict=True))
    outputs = next(entries_of(last).rows())
    steps: dict[Fraction, list[tuple[Fraction, Fraction]]] = {}
    for unit, (row, bias) in enumerate(zip(entries_of(second).rows(), biases(second), strict=True)):
        tokens = sorted(token for k in row for token in inputs[k][0])
        thresholds = {1 - inputs[k][1] for k in row}
        if tokens != list(range(size)) or len(row) != size or len(thresholds) != 1 or set(row.values()) != {ONE}:
            raise _no_staircase(f"second-layer neuron {unit} adding relu(1 - x_t - a) over all t")
        if any(set(inputs[k][0].values()) != {-ONE} for k in row):
            raise _no_staircase("weights -1 in the first layer")
        steps.setdefault(thresholds.pop(), []).append((bias, outputs.get(unit, ZERO)))
    levels = []
    for threshold, pair in steps.items():
        height = -min(pair)[0]
        if sorted(pair) != [(-height, ONE), (ZERO, -ONE)]:
            raise _no_staircase(f"-relu(s) + relu(s - h) at threshold {threshold}")
        levels.append((threshold, height))
    return biases(last)[0], levels


def _no_staircase(wanted: str) -> Different:
    return Different(f"a minimum is neither a tournament nor a staircase: required: {wanted}. Try: build it again.")
