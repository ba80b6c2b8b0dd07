"""Approximators: the proved error is an upper bound, is nearly attained, and the width has the proved shape."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.curves import EnclosedCurve, enclosed_curve
from checks.strategies import unit_fractions
from constructions.approximators import Approximation, PolynomialCurve, approximate, interpolate
from constructions.arithmetic import EXACT, FLOAT64, fractions
from constructions.evaluate import apply_map
from constructions.ridge import ridge_sum
from theory.errors import InvalidInput, TooLarge
from theory.expression_parser import parse_expression
from theory.expressions import RATIONAL, Expression, Number, apply, evaluate, variables

UNIT = (Fraction(0), Fraction(1))
FLOAT_TOLERANCE = 1e-11
NAMES = ("x0", "x1")
SMOOTH = (
    "exp(-3*(x0 - 1/3)^2)",
    "tanh(4*x0 - 2*x1)",
    "x0*x1 + x0^3/3",
    "gelu(2*x0 - 1) - 2*abs(x0 - x1)",
    "log(1 + x0 + x1) + min(x0, 1/2)",
    "(x0 + x1)^4/16 - x0*x1^2",
    "1/(1 + exp(-5*x0))",
)


def value(approximation: Approximation, point: Any) -> Fraction:
    return Fraction(apply_map(approximation.network, fractions([point]), EXACT)[0, 0])


def affine_forms() -> st.SearchStrategy[Expression]:
    numbers = st.integers(-4, 4).map(lambda n: Number(Fraction(n, 2)))
    x = variables("x", 2)
    return st.tuples(numbers, numbers, numbers).map(lambda abc: abc[0] * x[0] + abc[1] * x[1] + abc[2])


def polynomials() -> st.SearchStrategy[Expression]:
    powers = st.tuples(st.integers(-3, 3), st.integers(0, 3), st.integers(0, 3))
    x = variables("x", 2)
    monomial = powers.map(lambda c: Fraction(c[0]) * x[0] ** c[1] * x[1] ** c[2])
    return st.tuples(monomial, monomial, affine_forms()).map(lambda abc: (abc[0] + abc[1]) / 3 - abc[2] ** 2)


def kinked() -> st.SearchStrategy[Expression]:
    pair = st.tuples(affine_forms(), affine_forms())
    return pair.map(
        lambda ab: apply("max", *ab) - 2 * apply("min", *ab) + apply("relu", ab[0]) / 3 + apply("abs", ab[1])
    )


@settings(max_examples=60, deadline=None)
@given(st.one_of(polynomials(), kinked()), st.tuples(unit_fractions(), unit_fractions()))
def test_ridge_sums_are_identities(expression: Expression, point: tuple[Fraction, Fraction]) -> None:
    """Catches a wrong coefficient in the polarisation or in the rewriting of kinks: equality at rational points."""
    parts = ridge_sum(expression, NAMES)
    total = parts.affine(point)
    total += sum(kink.coefficient * max(kink.form(point), Fraction(0)) for kink in parts.kinks)
    for ridge in parts.ridges:
        along = sum((a * x for a, x in zip(ridge.direction, point, strict=True)), Fraction(0))
        total += evaluate(ridge.profile, {"x0": along}, RATIONAL)
    assert total == evaluate(expression, dict(zip(NAMES, point, strict=True)), RATIONAL)


@settings(max_examples=60, deadline=None)
@given(kinked(), st.tuples(unit_fractions(), unit_fractions()))
def test_piecewise_affine_expressions_are_exact(expression: Expression, point: tuple[Fraction, Fraction]) -> None:
    """Catches an interpolated kink: error 0 and equality at any rational point, with delta = 0."""
    found = approximate(expression, NAMES, [UNIT, UNIT], Fraction(0))
    assert found.error == 0
    assert value(found, point) == evaluate(expression, dict(zip(NAMES, point, strict=True)), RATIONAL)


@settings(max_examples=40, deadline=None)
@given(polynomials(), unit_fractions(), unit_fractions(), st.integers(1, 200))
def test_polynomials_within_their_error(expression: Expression, x: Fraction, y: Fraction, inverse: int) -> None:
    """Catches an unsound curvature bound or a wrong split of delta: exact errors at rational points."""
    found = approximate(expression, NAMES, [UNIT, UNIT], Fraction(1, inverse))
    assert found.error <= Fraction(1, inverse)
    got = value(found, (x, y))
    assert abs(got - evaluate(expression, {"x0": x, "x1": y}, RATIONAL)) <= found.error
    assert found.lower <= got <= found.upper


@pytest.mark.parametrize("text", SMOOTH)
def test_smooth_expressions_within_their_error_and_not_vacuously(text: str) -> None:
    """Catches unsound enclosures of transcendental profiles, and bounds so loose that they mean nothing."""
    expression, delta = parse_expression(text), Fraction(1, 300)
    found = approximate(expression, NAMES, [UNIT, UNIT], delta, curve_of=enclosed_curve)
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 331), np.linspace(0, 1, 331)), axis=-1).reshape(-1, 2)
    truth = evaluate(expression, {"x0": grid[:, 0], "x1": grid[:, 1]}, FLOAT64)
    worst = float(np.abs(apply_map(found.network, grid, FLOAT64)[:, 0] - truth).max())
    assert worst <= float(found.error) + FLOAT_TOLERANCE
    assert found.error <= delta
    assert worst >= float(found.error) / 4


def test_an_error_bound_that_is_too_small_would_be_seen() -> None:
    """Mutant of the test above: with half its curvature the claimed bound is broken by samples."""

    class Flatter(PolynomialCurve):
        def curvature(self, left: Fraction, right: Fraction) -> Fraction:
            return super().curvature(left, right) / 2

    coefficients = (Fraction(0), Fraction(0), Fraction(1))
    points, values, error = interpolate(Flatter(coefficients), list(UNIT), Fraction(1, 100))
    middle = (points[0] + points[1]) / 2
    assert abs((values[0] + values[1]) / 2 - middle**2) > error


def test_exact_where_asked() -> None:
    """Catches knots that miss the minimiser: the network is exact there although it errs elsewhere."""
    place = Fraction(37, 101)
    expression = parse_expression("(x0 - 37/101)^2 + (x1 - 1/3)^4")
    found = approximate(expression, NAMES, [UNIT, UNIT], Fraction(1, 50), [(place, Fraction(1, 3))])
    assert value(found, (place, Fraction(1, 3))) == 0
    assert value(found, (place + Fraction(1, 100), Fraction(1, 3))) != Fraction(1, 10000)


def test_irrational_values_are_rounded_and_accounted_for() -> None:
    """Catches unbounded digits: knots' values of exp are short dyadics, and the error covers the rounding."""
    delta = Fraction(1, 1000)
    points, values, error = interpolate(EnclosedCurve(parse_expression("exp(x0)")), list(UNIT), delta)
    assert error <= delta
    assert all(entry.denominator.bit_length() < 25 for entry in values)
    assert all(abs(float(v) - math.exp(p)) <= float(error) for p, v in zip(points, values, strict=True))


@pytest.mark.parametrize("text", ["4*(x0 - 1/2)^2", "exp(-20*(x0 - 1/3)^2)", "tanh(10*x0 - 4)"])
def test_width_grows_like_the_inverse_root_of_delta(text: str) -> None:
    """Catches a wrong exponent: gamma fitted over delta is 1/2 within 0.05, the constant close to the optimal one."""
    expression = parse_expression(text)
    deltas = [Fraction(1, 4**k * 100) for k in range(5)]
    widths = [approximate(expression, ("x0",), [UNIT], delta, curve_of=enclosed_curve).width for delta in deltas]
    slope = np.polyfit(np.log([float(1 / d) for d in deltas]), np.log(widths), 1)[0]
    assert abs(slope - 0.5) < 0.05
    grid = np.linspace(0, 1, 200_001)
    second = np.gradient(np.gradient(evaluate(expression, {"x0": grid}, FLOAT64), grid), grid)
    optimal = np.mean(np.sqrt(np.abs(second))) / math.sqrt(8 * float(deltas[-1]))
    assert widths[-1] <= 1.3 * optimal + 2


@pytest.mark.parametrize("text", ["exp(x0*x1)", "tanh(x0)*tanh(x1)", "min(x0, x1, 1/2)", "x0^13*x1"])
def test_what_is_not_a_ridge_sum_is_refused(text: str) -> None:
    """Catches a wrong approximation of what is not supported: the message names the term."""
    with pytest.raises(InvalidInput, match="expression"):
        approximate(parse_expression(text), NAMES, [UNIT, UNIT], Fraction(1, 10), curve_of=enclosed_curve)


def test_limits() -> None:
    """Catches endless work and division by zero: delta = 0 for a curved function, a width over the limit."""
    square = parse_expression("x0^2")
    with pytest.raises(InvalidInput, match="delta"):
        approximate(square, ("x0",), [UNIT], Fraction(0))
    with pytest.raises(TooLarge, match="neurons"):
        approximate(square, ("x0",), [UNIT], Fraction(1, 10**14))
    with pytest.raises(InvalidInput, match="profile"):
        approximate(parse_expression("exp(x0)"), ("x0",), [UNIT], Fraction(1, 10))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=6), unit_fractions(), unit_fractions(), unit_fractions())
def test_bernstein_curvature(coefficients: list[int], a: Fraction, b: Fraction, place: Fraction) -> None:
    """Catches a wrong basis change: |p''| inside an interval never exceeds the bound, which is exact for quadratics."""
    left, right = sorted((a, b))
    curve = PolynomialCurve(tuple(map(Fraction, coefficients)))
    point = left + place * (right - left)
    second = sum(j * (j - 1) * c * point ** (j - 2) for j, c in enumerate(coefficients) if j >= 2)
    assert abs(second) <= curve.curvature(left, right)
    if len(coefficients) == 3:
        assert curve.curvature(left, right) == 2 * abs(coefficients[2])
