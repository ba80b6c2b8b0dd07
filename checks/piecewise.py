"""ReLU networks read back as piecewise linear functions along directions, and compared exactly with expressions.

Nothing here knows how a network was designed: kinks are recovered from the weights, so a changed weight changes the
answer. Everything is exact; only curves that are not polynomials bring enclosures.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from constructions.approximators import Box, Curve, CurveOf, polynomial_curve
from constructions.ridge import Affine, RidgeSum, Vector, normalise

Interval = tuple[Fraction, Fraction]
ZERO = Fraction(0)
CURVE_TOLERANCE = Fraction(1, 2**60)
"""Width asked of enclosures of curve values."""
END_PIECES = 16
"""An interval may end within a cell, where the difference is neither 0 nor the chord's: such a cell is cut."""


@dataclass(frozen=True)
class Neuron:
    """``output * relu(form(x))``."""

    form: Affine
    output: Fraction


@dataclass(frozen=True)
class PiecewiseLinear:
    """A continuous function of one variable, linear between the given points."""

    points: tuple[Fraction, ...]
    values: tuple[Fraction, ...]

    def __call__(self, point: Fraction) -> Fraction:
        """The value; linear continuation outside the points, constant if there is only one."""
        if len(self.points) == 1:
            return self.values[0]
        cell = min(max(bisect.bisect_right(self.points, point) - 1, 0), len(self.points) - 2)
        left, right = self.points[cell : cell + 2]
        start, end = self.values[cell : cell + 2]
        return start + (end - start) * (point - left) / (right - left)

    @property
    def range(self) -> Interval:
        return min(self.values), max(self.values)


def sum_of_relus(terms: Sequence[tuple[Fraction, Fraction, Fraction]], interval: Interval) -> PiecewiseLinear:
    """sum of output * relu(slope s + offset) over (output, slope, offset), as a function of s on the interval.

    >>> sum_of_relus([(Fraction(1), Fraction(2), Fraction(-1))], (Fraction(0), Fraction(1))).points
    (Fraction(0, 1), Fraction(1, 2), Fraction(1, 1))
    """
    start, end = interval
    steepening: dict[Fraction, Fraction] = {}
    value = slope = ZERO
    for output, weight, offset in terms:
        at_start = weight * start + offset
        value += output * max(at_start, ZERO)
        if at_start > 0 or (at_start == 0 and weight > 0):
            slope += output * weight
        # relu(w s + b) changes slope by |w| at s = -b/w, whichever way it points.
        if weight and start < (kink := -offset / weight) < end:
            steepening[kink] = steepening.get(kink, ZERO) + output * abs(weight)
    points, values = [start], [value]
    for point in [*sorted(steepening), *([end] if end > start else [])]:
        value += slope * (point - points[-1])
        slope += steepening.get(point, ZERO)
        points.append(point)
        values.append(value)
    return PiecewiseLinear(tuple(points), tuple(values))


@dataclass(frozen=True)
class Neurons:
    """``offset + sum of neurons``: a two-layer network with one output."""

    neurons: tuple[Neuron, ...]
    offset: Fraction


def range_of(network: Neurons, box: Box) -> Interval:
    """Bounds of the values on the box, exact if all neurons share one direction or the directions are axes."""
    nothing = RidgeSum(Affine((ZERO,) * len(box), ZERO), (), ())
    return difference(network, nothing, box, polynomial_curve)


def difference(network: Neurons, expression: RidgeSum, box: Box, curve_of: CurveOf) -> Interval:
    """Bounds of ``network(x) - expression(x)`` over the box.

    Along each direction the difference is bounded cell by cell between kinks, once as it is and once as a chord plus
    a remainder; the chords add up to one affine map, whose range is exact. The better bound of both is taken.
    """
    neurons = [*network.neurons, *(Neuron(kink.form, -kink.coefficient) for kink in expression.kinks)]
    offset = network.offset - expression.affine.offset
    weights = [-weight for weight in expression.affine.weights]
    along: dict[Vector, list[tuple[Fraction, Fraction, Fraction]]] = {}
    for neuron in neurons:
        if any(neuron.form.weights):
            direction, scale = normalise(neuron.form.weights)
            along.setdefault(direction, []).append((neuron.output, scale, neuron.form.offset))
        else:
            offset += neuron.output * max(neuron.form.offset, ZERO)
    ridges = {ridge.direction: curve_of(ridge) for ridge in expression.ridges}
    as_it_is, bent = [], []
    chords: list[tuple[Fraction, Vector, Fraction]] = []
    for direction in {**along, **ridges}:
        start, end = Affine(direction, ZERO).range_on(box)
        function = sum_of_relus(along.get(direction, []), (start, end))
        if sum(map(abs, direction)) == 1:  # along an axis the affine part belongs to the difference as it is
            function, weights[direction.index(1)] = _tilted(function, weights[direction.index(1)]), ZERO
        slope, bounds, rest = _bounds_along(function, ridges.get(direction))
        chords.append((slope, direction, start))
        as_it_is.append(bounds)
        bent.append(rest)
    as_it_is.append(Affine(tuple(weights), offset).range_on(box))
    for slope, direction, start in chords:
        offset -= slope * start
        weights = [weight + slope * entry for weight, entry in zip(weights, direction, strict=True)]
    bent.append(Affine(tuple(weights), offset).range_on(box))
    lows = [sum((low for low, _ in parts), ZERO) for parts in (as_it_is, bent)]
    return max(lows), min(sum((high for _, high in parts), ZERO) for parts in (as_it_is, bent))


def _bounds_along(function: PiecewiseLinear, curve: Curve | None) -> tuple[Fraction, Interval, Interval]:
    """For d = function - curve: a slope, bounds of d(s), and bounds of d(s) - slope (s - start)."""
    # In a cell of length h, d is within h^2/8 sup|curve''| of the line through its values at the ends of the cell.
    function = function if curve is None else _ends_cut(function)
    at_points = [(value, value) for value in function.values]
    bends = [ZERO] * (len(at_points) - 1)
    if curve is not None:
        known = [curve.value(point, CURVE_TOLERANCE) for point in function.points]
        at_points = [(value - high, value - low) for value, (low, high) in zip(function.values, known, strict=True)]
        bends = [curve.curvature(left, right) * (right - left) ** 2 / 8 for left, right in pairwise(function.points)]
    start, length = function.points[0], function.points[-1] - function.points[0]
    slope = (at_points[-1][0] - at_points[0][0]) / length if length else ZERO
    line = [slope * (point - start) for point in function.points]
    rest = [(low - on, high - on) for (low, high), on in zip(at_points, line, strict=True)]
    return slope, _over_cells(at_points, bends), _over_cells(rest, bends)


def _tilted(function: PiecewiseLinear, slope: Fraction) -> PiecewiseLinear:
    values = [value + slope * point for point, value in zip(function.points, function.values, strict=True)]
    return PiecewiseLinear(function.points, tuple(values))


def _ends_cut(function: PiecewiseLinear) -> PiecewiseLinear:
    """The same function with its first and last cell cut into pieces."""
    cells = list(pairwise(function.points))
    extra = {
        left + (right - left) * k / END_PIECES
        for left, right in (*cells[:1], *cells[-1:])
        for k in range(1, END_PIECES)
    }
    points = tuple(sorted({*function.points, *extra}))
    return PiecewiseLinear(points, tuple(map(function, points)))


def _over_cells(at_points: Sequence[Interval], bends: Sequence[Fraction]) -> Interval:
    """Bounds of a function from those at the ends of cells and its distance from the chord within each cell."""
    lows, highs = [low for low, _ in at_points], [high for _, high in at_points]
    lows += [min(a[0], b[0]) - bend for (a, b), bend in zip(pairwise(at_points), bends, strict=True)]
    highs += [max(a[1], b[1]) + bend for (a, b), bend in zip(pairwise(at_points), bends, strict=True)]
    return min(lows), max(highs)
