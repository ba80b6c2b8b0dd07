"""Staircases, unit weights, the fitted exponent: proved errors hold, functions stay the same, exponents are right."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.curves import enclosed_curve
from checks.strategies import unit_fractions
from constructions.approximators import Approximation, approximate
from constructions.arithmetic import EXACT, FLOAT64, fractions
from constructions.evaluate import apply_map
from constructions.network import Dense, Perceptron
from constructions.staircase import staircase
from constructions.unit_weights import unit_weights
from constructions.width_growth import DELTAS, PROVED_GAMMA, measured_gamma
from theory.errors import InvalidInput
from theory.expression_parser import parse_expression
from theory.expressions import RATIONAL, evaluate

UNIT = (Fraction(0), Fraction(1))
NAMES = ("x0", "x1")
GAMMA_TOLERANCE = 0.05
FLOAT_TOLERANCE = 1e-9
EXACT_TEXTS = ("x0", "(x0 - 1/3)^2 - x1", "abs(x0 - x1) + x0^3", "2*x0*x1 - relu(x0 - 1/2)", "1/3")
SMOOTH = ("4*(x0 - 1/2)^2", "exp(-20*(x0 - 1/3)^2)", "tanh(10*x0 - 4)")
FEW = settings(max_examples=40, deadline=None, derandomize=True, database=None)
MAKERS: dict[str, Any] = {"relu": approximate, "heaviside": staircase}


def value(network: Perceptron, point: Any) -> Fraction:
    return Fraction(apply_map(network, fractions([point]), EXACT)[0, 0])


@FEW
@given(st.sampled_from(EXACT_TEXTS), unit_fractions(), unit_fractions(), st.integers(2, 40))
def test_staircases_within_their_error(text: str, x: Fraction, y: Fraction, inverse: int) -> None:
    """Catches an unsound range of a cell, a kink inside one, or a step on its wrong side: exact errors, knots too."""
    expression = parse_expression(text)
    found = staircase(expression, NAMES, [UNIT, UNIT], Fraction(1, inverse))
    assert found.error <= Fraction(1, inverse)
    knots = [-b for b in found.network.layers[0].bias if 0 <= -b <= 1]
    for point in ((x, y), *((knot, y) for knot in knots[:3])):
        got = value(found.network, point)
        assert abs(got - evaluate(expression, dict(zip(NAMES, point, strict=True)), RATIONAL)) <= found.error
        assert found.lower <= got <= found.upper


@pytest.mark.parametrize("text", [*SMOOTH, "log(1 + x0)/2"])
def test_staircase_errors_are_not_vacuous(text: str) -> None:
    """Catches bounds that mean nothing: between knots the error comes to 3/4 of its bound, never beyond it."""
    expression = parse_expression(text)
    found = staircase(expression, ("x0",), [UNIT], Fraction(1, 50), curve_of=enclosed_curve)
    grid = np.linspace(0, 1, 40_001)[:, None] + 1e-7
    truth = evaluate(expression, {"x0": grid[:, 0]}, FLOAT64)
    worst = float(np.abs(apply_map(found.network, grid, FLOAT64)[:, 0] - truth).max())
    assert 0.75 * float(found.error) <= worst <= float(found.error) + FLOAT_TOLERANCE
    variation = float(np.abs(np.diff(truth)).sum())
    assert found.width <= 1.15 * variation * 25 + 3


@pytest.mark.parametrize("activation", MAKERS)
@pytest.mark.parametrize("text", SMOOTH)
def test_measured_gamma_is_the_proved_one(activation: str, text: str) -> None:
    """Catches a wrong exponent: 1/2 for ReLU and 1 for Heaviside, within 0.05."""
    expression = parse_expression(text)
    deltas = DELTAS if activation == "relu" else [Fraction(1, 40 * 4**k) for k in range(3)]

    def build(delta: Fraction) -> Approximation:
        made: Approximation = MAKERS[activation](expression, ("x0",), [UNIT], delta, curve_of=enclosed_curve)
        return made

    plain = measured_gamma(lambda delta: build(delta).width, deltas)
    assert abs(plain.gamma_estimate - PROVED_GAMMA[activation]) < GAMMA_TOLERANCE
    assert list(plain.widths) == sorted(plain.widths)


def test_a_wrong_exponent_would_be_seen() -> None:
    """Mutant of the test above: equal cells of order delta for ReLU would give 1."""
    assert abs(measured_gamma(lambda delta: int(7 / delta)).gamma_estimate - 0.5) > GAMMA_TOLERANCE
    for deltas in ([Fraction(1)], [Fraction(1), Fraction(1)], [Fraction(0), Fraction(1)]):
        with pytest.raises(InvalidInput, match="deltas"):
            measured_gamma(lambda delta: 1, deltas)


@FEW
@given(
    st.sampled_from(["5*relu(3*x0 - 1)", "(4*x0 - x1)^2 - 7", "abs(9*x0 - 4*x1) + 1/3", "0*x0 + 5/2"]),
    st.sampled_from(sorted(MAKERS)),
    unit_fractions(),
    unit_fractions(),
)
def test_unit_weights_are_the_same_function(text: str, activation: str, x: Fraction, y: Fraction) -> None:
    """Catches a lost factor, a copy too few, or a weight beyond 1."""
    network = MAKERS[activation](parse_expression(text), NAMES, [UNIT, UNIT], Fraction(1, 2)).network
    found = unit_weights(network)
    assert value(found.network, (x, y)) == value(network, (x, y))
    for layer in found.network.layers:
        assert max(map(abs, [*layer.weight.ravel(), *layer.bias])) <= 1
    assert found.with_copies >= found.different
    copies = found.network.layers[0].copies
    assert found.with_copies == (found.different if copies is None else sum(copies))


def test_smooth_features_need_few_copies() -> None:
    """Catches copies that spoil gamma: slopes change little from cell to cell, so copies stay bounded as delta -> 0."""
    expression = parse_expression("4*(x0 - 1/2)^2")
    extra = []
    for delta in (Fraction(1, 100), Fraction(1, 10_000)):
        found = unit_weights(approximate(expression, ("x0",), [UNIT], delta).network)
        extra.append(found.with_copies - found.different)
    assert extra[0] > 0
    assert extra[1] <= extra[0] + 1


def test_unit_weights_refuse_other_networks() -> None:
    """Catches copies of a tanh neuron, for which nothing scales, and a second application that would count wrongly."""
    one = fractions([[Fraction(3)]])
    output = Dense(one, fractions([Fraction(0)]))
    with pytest.raises(InvalidInput, match="activation"):
        unit_weights(Perceptron((Dense(one, fractions([Fraction(0)]), "tanh"), output)))
    with pytest.raises(InvalidInput, match="layers"):
        unit_weights(Perceptron((output,)))
    again = unit_weights(Perceptron((Dense(one, fractions([Fraction(0)]), "relu"), output)))
    with pytest.raises(InvalidInput, match="copies"):
        unit_weights(again.network)


def test_staircases_have_limits() -> None:
    """Catches endless work, and a term that is no ridge function."""
    for text, delta, named in (
        ("x0", "0", "delta"),
        ("x0", "1/1000000", "steps: predicted"),
        ("tanh(x0)*x1", "1/2", "expression"),
    ):
        with pytest.raises(InvalidInput, match=named):
            staircase(parse_expression(text), NAMES, [UNIT, UNIT], Fraction(delta), curve_of=enclosed_curve)
