"""Two-layer Heaviside networks with a proved uniform error (A3): staircases along finitely many directions.

A step costs one neuron, so the width is of order 1/delta: gamma = 1, whatever the smoothness, where ReLU has 1/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from constructions.approximators import (
    MAX_WIDTH,
    ROUNDING_SHARE,
    Approximation,
    Box,
    Curve,
    CurveOf,
    PolynomialCurve,
    polynomial_curve,
    short_dyadic,
    shorter,
)
from constructions.arithmetic import fractions
from constructions.network import Dense, Perceptron
from constructions.ridge import Affine, Vector, normalise, ridge_sum
from theory.errors import InvalidInput, TooLarge
from theory.expressions import Expression

ZERO = Fraction(0)
SAFETY = Fraction(63, 64)
"""A cell that was too long is shortened by a little more than proportion demands."""

SAMPLES = 16
REFINEMENTS = 4
"""Bisections between a cell that is short enough and one that is not."""


@dataclass(frozen=True)
class _Kinked:
    """``coefficient * relu(scale s + offset)``; its kink has to be an anchor."""

    coefficient: Fraction
    scale: Fraction
    offset: Fraction

    @property
    def kink(self) -> Fraction:
        return -self.offset / self.scale

    def value(self, point: Fraction, error: Fraction) -> tuple[Fraction, Fraction]:
        exact = self.coefficient * max(self.scale * point + self.offset, ZERO)
        return exact, exact

    def curvature(self, left: Fraction, right: Fraction) -> Fraction:
        return ZERO


@dataclass(frozen=True)
class _Sum:
    """The sum of curves along one direction."""

    curves: tuple[Curve, ...]

    def value(self, point: Fraction, error: Fraction) -> tuple[Fraction, Fraction]:
        ends = [curve.value(point, error / len(self.curves)) for curve in self.curves]
        return sum((low for low, _ in ends), ZERO), sum((high for _, high in ends), ZERO)

    def curvature(self, left: Fraction, right: Fraction) -> Fraction:
        return sum((curve.curvature(left, right) for curve in self.curves), ZERO)


def staircase(
    expression: Expression, names: Sequence[str], box: Box, delta: Fraction, curve_of: CurveOf = polynomial_curve
) -> Approximation:
    """A two-layer Heaviside network within delta of the expression on the box (A3, existence; upper, gamma = 1).

    Hypotheses: the expression is a sum of ridge functions (`constructions.ridge`), C^2 but for finitely many kinks.
    Conclusion: sup over the box of |network - expression| <= error <= delta; width about the total variation along each
    direction over 2 delta_r, with sum delta_r = delta. ``lower`` and ``upper`` bound the network. Exact arithmetic;
    heaviside(0) = 1.

    >>> from theory.expression_parser import parse_expression
    >>> unit = (Fraction(0), Fraction(1))
    >>> found = staircase(parse_expression("x0"), ("x0",), [unit], Fraction(1, 10))
    >>> found.width, found.error
    (5, Fraction(51, 512))

    Raises:
        InvalidInput: an expression of another form, or delta <= 0.
        TooLarge: more than MAX_WIDTH neurons.
    """
    # Proof. On a cell g lies between the least and greatest of its two end values, widened by h^2/8 sup |g''|; the
    # step takes (a rounding of) the middle of that range. Errors of directions add.
    if delta <= 0:
        raise InvalidInput.about("delta", delta, "delta > 0 for a staircase", "a positive error")
    constant, along = _by_direction(expression, names, curve_of)
    rows: list[tuple[Vector, Fraction, Fraction]] = []
    low = high = constant
    error = ZERO
    for direction, curve, kinks in along:
        start, end = Affine(direction, ZERO).range_on(box)
        anchors = [start, *sorted(kink for kink in {*kinks} if start < kink < end), end]
        knots, heights, moved = steps(curve, anchors, delta / len(along))
        constant += heights[0]
        rows += [(direction, -knot, b - a) for knot, (a, b) in zip(knots, pairwise(heights), strict=True) if a != b]
        low, high, error = low + min(heights), high + max(heights), error + moved
    rows = rows or [((ZERO,) * len(names), ZERO, ZERO)]
    hidden = Dense(fractions([row[0] for row in rows]), fractions([row[1] for row in rows]), "heaviside")
    output = Dense(fractions([[row[2] for row in rows]]), fractions([constant]))
    return Approximation(Perceptron((hidden, output)), error, low, high)


def _by_direction(
    expression: Expression, names: Sequence[str], curve_of: CurveOf
) -> tuple[Fraction, list[tuple[Vector, Curve, list[Fraction]]]]:
    """A constant, and for every direction the curve along it and its kinks."""
    parts = ridge_sum(expression, names)
    curves: dict[Vector, list[Curve]] = {}
    kinks: dict[Vector, list[Fraction]] = {}
    constant = parts.affine.offset
    for ridge in parts.ridges:
        curves.setdefault(ridge.direction, []).append(curve_of(ridge))
    if any(parts.affine.weights):
        direction, scale = normalise(parts.affine.weights)
        curves.setdefault(direction, []).append(PolynomialCurve((ZERO, scale)))
    for kink in parts.kinks:
        if not any(kink.form.weights):
            constant += kink.coefficient * max(kink.form.offset, ZERO)
            continue
        direction, scale = normalise(kink.form.weights)
        kinked = _Kinked(kink.coefficient, scale, kink.form.offset)
        curves.setdefault(direction, []).append(kinked)
        kinks.setdefault(direction, []).append(kinked.kink)
    return constant, [(key, _Sum(tuple(entries)), kinks.get(key, [])) for key, entries in curves.items()]


def steps(
    curve: Curve, anchors: Sequence[Fraction], delta: Fraction
) -> tuple[list[Fraction], list[Fraction], Fraction]:
    """Inner knots, one height for each cell between them, and the proved error <= delta.

    The curve is C^2 between neighbouring anchors. A cell is as long as its range allows, up to a little.
    """
    share = delta * ROUNDING_SHARE / 4
    most = 2 * (delta - share)
    knots: list[Fraction] = []
    heights: list[Fraction] = []
    error = ZERO
    _require_room(curve, anchors, delta)
    for left, right in pairwise(anchors):
        while left < right or not heights:
            end, (low, high) = _longest(curve, left, right, most, share)
            height = short_dyadic((low + high) / 2, share)
            error = max(error, high - height, height - low)
            knots.append(left)
            heights.append(height)
            if len(knots) > MAX_WIDTH:
                raise TooLarge(f"steps: over {MAX_WIDTH}, the most that are made here. Try: a larger eps.")
            left = end
    return knots[1:], heights, error


def _require_room(curve: Curve, anchors: Sequence[Fraction], delta: Fraction) -> None:
    """Refuse at once what needs over MAX_WIDTH steps: each covers a change of at most 2 delta."""
    start, end = anchors[0], anchors[-1]
    values = [curve.value(start + (end - start) * k / SAMPLES, delta)[0] for k in range(SAMPLES + 1)]
    least = sum(max(abs(b - a) - 2 * delta, ZERO) for a, b in pairwise(values)) / (2 * delta)
    if least > MAX_WIDTH:
        raise TooLarge.predicted("steps", int(least), MAX_WIDTH, "a larger eps")


def _longest(
    curve: Curve, left: Fraction, right: Fraction, most: Fraction, share: Fraction
) -> tuple[Fraction, tuple[Fraction, Fraction]]:
    """The end of a long cell from ``left`` on whose range is at most ``most`` wide, and that range."""
    end = beyond = right
    while (size := (found := _range(curve, left, end, share))[1] - found[0]) > most:
        beyond = end
        end = left + shorter((end - left) * max(Fraction(1, 8), most / size * SAFETY))
    for _ in range(REFINEMENTS if beyond > end else 0):
        middle = left + shorter((end + beyond) / 2 - left)
        wider = _range(curve, left, middle, share)
        if wider[1] - wider[0] > most:
            beyond = middle
        elif middle > end:
            end, found = middle, wider
    return end, found


def _range(curve: Curve, left: Fraction, right: Fraction, error: Fraction) -> tuple[Fraction, Fraction]:
    first, last = curve.value(left, error), curve.value(right, error)
    bend = curve.curvature(left, right) * (right - left) ** 2 / 8
    return min(first[0], last[0]) - bend, max(first[1], last[1]) + bend
