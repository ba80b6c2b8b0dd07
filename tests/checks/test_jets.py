"""Derivatives enclosed over boxes: against sympy, exact rationals, difference quotients and kinks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from checks import balls, jets, strategies
from checks.intervals import Interval, from_ball, to_ball
from checks.jets import BALL_SCALARS, EXACT_SCALARS, NotSmooth, differentiate
from theory.errors import NotFinite
from theory.expression_parser import parse_expression
from theory.expressions import to_sympy

FEW = settings(max_examples=40, deadline=None, derandomize=True, database=None)
NAMES = ("x0", "x1")
points = st.tuples(strategies.unit_fractions(), strategies.unit_fractions())


def _sympy_derivatives(expression: Any, point: tuple[Fraction, Fraction]) -> list[Any]:
    symbols = [sympy.Symbol(name, real=True) for name in NAMES]
    formula = to_sympy(expression)
    at = {symbol: sympy.Rational(v.numerator, v.denominator) for symbol, v in zip(symbols, point, strict=True)}
    first = [sympy.diff(formula, symbol) for symbol in symbols]
    second = [sympy.diff(slope, symbol) for slope in first for symbol in symbols]
    return [sympy.N(entry.subs(at), 40) for entry in (formula, *first, *second)]


@FEW
@example(parse_expression("x0*x1*exp(x0 - 2*x1)"), (Fraction(1, 3), Fraction(2, 5)))
@example(parse_expression("(x0 + 1)/(x1 + 2)^3"), (Fraction(1, 3), Fraction(2, 5)))
@example(parse_expression("log(1 + x0*x1)*gelu(x0)"), (Fraction(1, 3), Fraction(2, 5)))
@given(strategies.expressions("x", 2, smooth=True, max_leaves=5), points)
def test_smooth_jets_agree_with_sympy(expression: Any, point: tuple[Fraction, Fraction]) -> None:
    """Catches a wrong derivative rule, of first or second order."""
    with balls.precision(192):
        jet = differentiate(expression, NAMES, [balls.exact(v) for v in point], BALL_SCALARS)
        found = [jet.value, *jet.gradient, *jets.hessian(jet).ravel()]
        for ball, value in zip(found, _sympy_derivatives(expression, point), strict=True):
            slack = Fraction(1, 10**25) * (1 + abs(balls.middle(ball)))
            exact = Fraction(str(value)) if value.is_Float or value.is_Rational else Fraction(str(sympy.N(value, 40)))
            assert balls.lower(ball) - slack <= exact <= balls.upper(ball) + slack


@FEW
@given(strategies.expressions("x", 2), points, points)
def test_mean_value_form_over_boxes_with_kinks(expression: Any, a: Any, b: Any) -> None:
    """Catches a gradient enclosure that misses a slope: f(b) - f(a) must lie in gradient(box) . (b - a)."""
    box = [balls.between(min(x, y), max(x, y)) for x, y in zip(a, b, strict=True)]
    with balls.precision(128):
        gradient = differentiate(expression, NAMES, box, BALL_SCALARS, order=1).gradient
        ends = [differentiate(expression, NAMES, [balls.exact(v) for v in p], BALL_SCALARS, 1).value for p in (a, b)]
        rise = gradient[0] * balls.exact(b[0] - a[0]) + gradient[1] * balls.exact(b[1] - a[1])
        assert rise.overlaps(ends[1] - ends[0])


@FEW
@given(strategies.expressions("x", 2), points, points)
def test_exact_intervals_lie_in_balls_and_contain_points(expression: Any, a: Any, b: Any) -> None:
    """Catches interval arithmetic that rounds inwards: values at both corners must lie in the interval of the box."""
    box = [Interval(min(x, y), max(x, y)) for x, y in zip(a, b, strict=True)]
    whole = differentiate(expression, NAMES, box, EXACT_SCALARS, order=1)
    for point in (a, b):
        here = differentiate(expression, NAMES, [Interval(v, v) for v in point], EXACT_SCALARS, order=1)
        assert whole.value.low <= here.value.high
        assert here.value.low <= whole.value.high
        for slope, at in zip(whole.gradient, here.gradient, strict=True):
            assert slope.low <= at.high
            assert at.low <= slope.high


@pytest.mark.parametrize(
    ("function", "derivative", "order"),
    [
        (jets.tanh_slope, mpmath.tanh, 1),
        (jets.tanh_curvature, mpmath.tanh, 2),
        (jets.gelu_slope, lambda t: t / 2 * mpmath.erfc(-t / mpmath.sqrt(2)), 1),
        (jets.gelu_curvature, lambda t: t / 2 * mpmath.erfc(-t / mpmath.sqrt(2)), 2),
    ],
)
@pytest.mark.parametrize("side", [(-6, 6), (-1, 0), (0, 3), (-3, -1), (1, 2), (Fraction(1, 3), Fraction(1, 3))])
def test_activation_derivatives_are_tight(function: Any, derivative: Any, order: int, side: Any) -> None:
    """Catches a missed extremum of tanh', tanh'', gelu' or gelu'' on a wide ball, and a loose enclosure."""
    low, high = Fraction(side[0]), Fraction(side[1])
    result = from_ball(function(to_ball(Interval(low, high))))
    with mpmath.workdps(40):
        grid = [float(mpmath.diff(derivative, mpmath.mpf(float(x)), order)) for x in np.linspace(low, high, 121)]
    assert float(result.low) <= min(grid) + 1e-12
    assert float(result.high) >= max(grid) - 1e-12
    step = float(high - low) / 120
    assert float(result.low) >= min(grid) - 2 * step**2 - 1e-6
    assert float(result.high) <= max(grid) + 2 * step**2 + 1e-6


@pytest.mark.parametrize("text", ["relu(x0 - 1/2)", "abs(x0 - 1/2)", "min(x0, 1 - x0)", "max(x0, 1/2)"])
def test_kinks_have_clarke_hulls_and_no_hessian(text: str) -> None:
    """Catches a kink that is silently differentiated, at the kink itself and on a box around it."""
    expression = parse_expression(text)
    for side in (Interval(Fraction(1, 2), Fraction(1, 2)), Interval(Fraction(0), Fraction(1))):
        jet = differentiate(expression, ("x0",), [side], EXACT_SCALARS)
        assert jet.gradient[0].low < jet.gradient[0].high
        with pytest.raises(NotSmooth, match=r"kink|branch"):
            jets.hessian(jet)
    away = differentiate(expression, ("x0",), [Interval(Fraction(3, 4), Fraction(1))], EXACT_SCALARS)
    assert jets.hessian(away)[0, 0] == Interval(Fraction(0), Fraction(0))


def test_exact_critical_points_are_exact() -> None:
    """Catches rounding in the exact scalars: the gradient at a rational critical point must be 0, not nearly 0."""
    expression = parse_expression("3*(x0 - 2/7)^2 + (x1 - 1/3)^4/(1 + x0)")
    point = [Interval(Fraction(2, 7), Fraction(2, 7)), Interval(Fraction(1, 3), Fraction(1, 3))]
    jet = differentiate(expression, NAMES, point, EXACT_SCALARS)
    assert [slope.low for slope in jet.gradient] == [slope.high for slope in jet.gradient] == [0, 0]
    assert jets.hessian(jet)[0, 0] == Interval(Fraction(6), Fraction(6))


def test_a_pole_in_the_box_raises() -> None:
    """Catches a derivative that is reported across a pole."""
    for text in ("1/(x0 - 1/2)", "log(x0)", "(x0 - 1/2)^-3"):
        for scalars, side in ((BALL_SCALARS, balls.between(0, 1)), (EXACT_SCALARS, Interval(Fraction(0), Fraction(1)))):
            with pytest.raises(NotFinite):
                differentiate(parse_expression(text), ("x0",), [side], scalars)
