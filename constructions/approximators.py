"""Two-layer ReLU networks with a proved uniform error (A3).

Exact where the function is piecewise affine; interpolation with knots spread by curvature, hence width of order
delta^(-1/2), where it is a sum of C^2 functions along finitely many directions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

import numpy as np

from constructions.arithmetic import fractions
from constructions.network import Dense, Perceptron
from constructions.ridge import Affine, Ridge, RidgeSum, Vector, ridge_sum
from theory.errors import InvalidInput, TooLarge
from theory.expressions import Expression
from theory.rational_bounds import nonnegative, sqrt_lower

Box = Sequence[tuple[Fraction, Fraction]]

ROUNDING_SHARE = Fraction(1, 128)
"""Share of the error kept for rounding irrational values at the knots."""

MAX_WIDTH = 100_000


class Curve(Protocol):
    """What interpolation has to know about a function g of one variable; both answers must be rigorous."""

    def value(self, point: Fraction, error: Fraction) -> tuple[Fraction, Fraction]:
        """Lower and upper bound of g(point), at most ``error`` apart."""

    def curvature(self, left: Fraction, right: Fraction) -> Fraction:
        """An upper bound of |g''| on [left, right]."""


@dataclass(frozen=True)
class PolynomialCurve:
    """g(s) = sum_j coefficients[j] s^j: exact values, curvature by Bernstein coefficients."""

    coefficients: Vector

    def value(self, point: Fraction, error: Fraction) -> tuple[Fraction, Fraction]:
        total = Fraction(0)
        for coefficient in reversed(self.coefficients):
            total = total * point + coefficient
        return total, total

    def curvature(self, left: Fraction, right: Fraction) -> Fraction:
        # A polynomial lies between its least and greatest Bernstein coefficient on the interval.
        second = [j * (j - 1) * c for j, c in enumerate(self.coefficients)][2:]
        degree = len(second) - 1
        zero, bound = Fraction(0), Fraction(0)
        shifted = [
            sum((c * math.comb(j, i) * left ** (j - i) for j, c in enumerate(second) if j >= i), zero)
            * (right - left) ** i
            / math.comb(degree, i)
            for i in range(degree + 1)
        ]
        for k in range(degree + 1):
            bound = max(bound, abs(sum((math.comb(k, i) * shifted[i] for i in range(k + 1)), zero)))
        return bound


CurveOf = Callable[[Ridge], Curve]


def polynomial_curve(ridge: Ridge) -> Curve:
    """The curve of a polynomial ridge.

    Raises:
        InvalidInput: the profile is not a polynomial; its bounds need enclosures (`checks.enclose`).
    """
    if ridge.others:
        shown = ", ".join(map(str, ridge.others))
        raise InvalidInput.about("profile", shown, "a polynomial, without enclosures", "pass curve_of from checks")
    return PolynomialCurve(ridge.polynomial)


@dataclass(frozen=True, eq=False)
class Approximation:
    """A two-layer network R^m -> R, its proved sup error and range on the box; ``width`` hidden neurons."""

    network: Perceptron
    error: Fraction
    lower: Fraction
    upper: Fraction

    @property
    def width(self) -> int:
        return int(self.network.layers[0].weight.shape[0])


def approximate(
    expression: Expression,
    names: Sequence[str],
    box: Box,
    delta: Fraction,
    exact_at: Sequence[Sequence[Fraction]] = (),
    curve_of: CurveOf = polynomial_curve,
) -> Approximation:
    """A two-layer ReLU network within delta of the expression on the box (A3, existence; upper, gamma = 1/2).

    Hypotheses: the expression is a sum of ridge functions (`constructions.ridge`), each of class C^2.
    Conclusion: sup over the box of |network - expression| <= error <= delta, error 0 if the expression is piecewise
    affine; width <= sum over ridges of about (int sqrt|g''|) / sqrt(8 delta_r) + 1, with sum delta_r = delta.
    ``exact_at``: points where the network equals the expression (where its values are rational). Exact arithmetic.

    >>> from theory.expression_parser import parse_expression
    >>> unit = (Fraction(0), Fraction(1))
    >>> found = approximate(parse_expression("4*(x0 - 1/2)^2"), ("x0",), [unit], Fraction(1, 100))
    >>> found.width, found.error
    (10, Fraction(1, 100))

    Raises:
        InvalidInput: an expression of another form, delta < 0, delta = 0 for a curved one, or more than MAX_WIDTH
        neurons.
    """
    # Proof. On a cell [s, s + h] the interpolant of g deviates by at most h^2/8 sup |g''|; values rounded by at most
    # rho at the knots move it by at most rho more (it is a mean of the two). Errors of ridges add; the rest is exact.
    parts = ridge_sum(expression, names)
    shares = _shares(parts, box, nonnegative("delta", delta), curve_of)
    rows = _Rows(len(names))
    low, high = rows.add_affine(parts.affine, box)
    for kink in parts.kinks:
        rows.add(kink.form, kink.coefficient)
        ends = sorted(kink.coefficient * max(end, Fraction(0)) for end in kink.form.range_on(box))
        low, high = low + ends[0], high + ends[1]
    error = Fraction(0)
    for ridge, share in zip(parts.ridges, shares, strict=True):
        along = Affine(ridge.direction, Fraction(0))
        start, end = along.range_on(box)
        wanted = {along(point) for point in exact_at}
        anchors = sorted({start, end, *(s for s in wanted if start < s < end)})
        points, values, ridge_error = interpolate(curve_of(ridge), anchors, share)
        rows.add_interpolant(ridge.direction, points, values)
        low, high, error = low + min(values), high + max(values), error + ridge_error
    return Approximation(rows.network(), error, low, high)


def interpolate(
    curve: Curve, anchors: Sequence[Fraction], delta: Fraction
) -> tuple[list[Fraction], list[Fraction], Fraction]:
    """Knots (among them the anchors), values there, and the proved error <= delta of linear interpolation between.

    Claim A3 in one variable, upper: about (integral of sqrt|g''|)/sqrt(8 delta) cells, which is optimal for
    interpolation. Raises InvalidInput if more than MAX_WIDTH cells would be needed.
    """
    if delta <= 0:
        raise InvalidInput.about("delta", delta, "delta > 0 for a function that is not affine", "a positive error")
    exact = [low == high for low, high in (curve.value(anchor, delta) for anchor in anchors)]
    share = delta if all(exact) and isinstance(curve, PolynomialCurve) else delta * (1 - ROUNDING_SHARE)
    points, cell_error = [anchors[0]], Fraction(0)
    for left, right in pairwise(anchors):
        cells = _equal_cells(curve, left, right, share)
        if len(cells) > 1 and not _is_quadratic(curve):
            cells = min(cells, _adapted_cells(curve, left, right, share), key=len)
        points += [end for end, _ in cells]
        cell_error = max([cell_error, *(error for _, error in cells)])
    values, rounding = [], Fraction(0)
    for point in points:
        low, high = curve.value(point, delta * ROUNDING_SHARE / 2)
        value = low if low == high else short_dyadic((low + high) / 2, delta * ROUNDING_SHARE / 2)
        values.append(value)
        rounding = max(rounding, high - value, value - low)
    return points, values, cell_error + rounding


Cells = list[tuple[Fraction, Fraction]]
"""Right end and error of each cell."""


def _equal_cells(curve: Curve, left: Fraction, right: Fraction, delta: Fraction) -> Cells:
    length, bound = right - left, curve.curvature(left, right)
    count = max(1, _ceil_sqrt(length * length * bound / (8 * delta)))
    if count > MAX_WIDTH:
        if _is_quadratic(curve):
            raise TooLarge.predicted("neurons of one feature", count, MAX_WIDTH, "a larger eps")
        return [(right, delta)] * (MAX_WIDTH + 1)  # only its length matters: the adapted cells are taken or refused
    return [(left + length * k / count, bound * (length / count) ** 2 / 8) for k in range(1, count + 1)]


def _is_quadratic(curve: Curve) -> bool:
    """Curvature is constant: equal cells are best."""
    return isinstance(curve, PolynomialCurve) and len(curve.coefficients) <= 3


def _adapted_cells(curve: Curve, left: Fraction, right: Fraction, delta: Fraction) -> Cells:
    cells: Cells = []
    while left < right:
        step = right - left
        while (error := (bound := curve.curvature(left, left + step)) * step * step / 8) > delta:
            # sqrt(8 delta/bound) is certainly short enough; half the step may already be, the curvature being local.
            step = max(shorter(sqrt_lower(8 * delta / bound)), step / 2)
        cells.append((left + step, error))
        left += step
        if len(cells) > MAX_WIDTH:
            raise TooLarge(f"neurons of one feature: over {MAX_WIDTH}, the most that are made here. Try: a larger eps.")
    return cells


def shorter(step: Fraction) -> Fraction:
    """A dyadic with 6 leading bits just below: short knots make short weights."""
    exponent = step.numerator.bit_length() - step.denominator.bit_length() - 6
    return math.floor(step / Fraction(2) ** exponent) * Fraction(2) ** exponent


def short_dyadic(value: Fraction, error: Fraction) -> Fraction:
    """A dyadic within ``error`` of the value, with few digits."""
    bits = max(0, error.denominator.bit_length() - error.numerator.bit_length() + 1)
    return Fraction(round(value * 2**bits), 2**bits)


def _ceil_sqrt(value: Fraction) -> int:
    root = math.isqrt(math.floor(value))
    return root if root * root >= value else root + 1


def _shares(parts: RidgeSum, box: Box, delta: Fraction, curve_of: CurveOf) -> list[Fraction]:
    """Split delta: width sum A_r delta_r^(-1/2) is least for delta_r ~ A_r^(2/3); any split is valid."""
    sizes = []
    for ridge in parts.ridges:
        start, end = Affine(ridge.direction, Fraction(0)).range_on(box)
        whole = (end - start) ** 2 * curve_of(ridge).curvature(start, end)
        sizes.append(Fraction(max(1, round(1024 * float(min(whole, Fraction(2) ** 1000)) ** (1 / 3)))))
    return [delta * size / sum(sizes) for size in sizes]


class _Rows:
    """The hidden neurons and output weights, collected one by one."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.forms: list[Affine] = []
        self.outputs: list[Fraction] = []
        self.constant = Fraction(0)

    def add(self, form: Affine, output: Fraction) -> None:
        if output:
            self.forms.append(form)
            self.outputs.append(output)

    def add_affine(self, form: Affine, box: Box) -> tuple[Fraction, Fraction]:
        """relu(form - low) + low equals the form on the box, low its least value there."""
        low, high = form.range_on(box)
        if low < high:
            self.add(Affine(form.weights, form.offset - low), Fraction(1))
        self.constant += low
        return low, high

    def add_interpolant(self, direction: Vector, points: Sequence[Fraction], values: Sequence[Fraction]) -> None:
        self.constant += values[0]
        slope = Fraction(0)
        for (left, right), (start, end) in zip(pairwise(points), pairwise(values), strict=True):
            steeper = (end - start) / (right - left)
            self.add(Affine(direction, -left), steeper - slope)
            slope = steeper

    def network(self) -> Perceptron:
        if not self.forms:
            self.forms, self.outputs = [Affine((Fraction(0),) * self.dimension, Fraction(0))], [Fraction(0)]
        weight = fractions([form.weights for form in self.forms])
        hidden = Dense(weight, fractions([form.offset for form in self.forms]), "relu")
        return Perceptron((hidden, Dense(fractions([self.outputs]), np.asarray(fractions([self.constant])))))
