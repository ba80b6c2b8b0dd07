"""Balls on boxes and by convexity: proofs of transcendental inequalities, exact counterexamples, and honest silence."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import inequalities
from checks.balls import between, precision
from checks.convexity import prove_touching
from checks.inequalities import holds, prove
from theory.exact import parse_exact
from theory.propositions import proposition, relation

UNIT = ["v >= -1", "v <= 1"]
ZERO = Fraction(0)


def high_precision(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize(
    ("given_", "then"),
    [
        (["x >= 0", "x <= 2"], "exp(x) >= 1/2 + x"),
        (["x >= 1", "x <= 9"], "log(x) < x"),
        (["x >= -3", "x <= 3"], "gelu(x) >= -1/5"),
        (["x >= 0", "x <= 1", "y >= 0", "y <= 1", "x + y >= 1"], "exp(x)*exp(y) >= 27/10"),
        ([], "exp(1) < 272/100"),
    ],
)
def test_true_statements_are_proved(given_: list[str], then: str) -> None:
    """Catches a bisection that does not use the hypotheses, and enclosures that are too wide."""
    assert prove(proposition(given_, then)).label == "PROVED"


def test_false_statements_are_refuted_by_an_exact_point() -> None:
    """Catches a midpoint that fails only in floats: the point is confirmed by mpmath."""
    verdict = prove(proposition(["x >= 0", "x <= 2"], "exp(x) >= 1 + 3*x/2"))
    assert verdict.label == "REFUTED"
    x = high_precision(parse_exact(verdict.witness["values"]["x"]))
    assert mpmath.exp(x) < 1 + 3 * x / 2


@pytest.mark.parametrize(
    ("given_", "then"),
    [
        (["x >= 0"], "exp(x) >= 1/2"),  # unbounded
        (["x >= 1", "x <= 0"], "x > 5"),  # empty
        (["x >= 0", "x <= 1", "x >= 2*x + 1"], "x > 5"),  # empty, not seen from the bounds
        (["x >= 0", "x <= 1"], "exp(x) >= 1 + x"),  # equality at 0
        (["x >= 0", "x <= 1"], "1/x >= 1/2"),  # a pole at an end
    ],
)
def test_what_bisection_cannot_decide_is_undecided(given_: list[str], then: str) -> None:
    """Catches vacuous truth, and equality or a pole being passed over."""
    assert prove(proposition(given_, then), max_boxes=500).label == "UNDECIDED"


@settings(max_examples=40, deadline=None)
@given(st.fractions(-2, 2, max_denominator=8), st.fractions(-2, 2, max_denominator=8))
def test_an_affine_bound_of_exp_is_never_proved_wrongly(slope: Fraction, offset: Fraction) -> None:
    """Catches an unsound proof or refutation of exp(x) >= offset + slope x, against the tangent computed by mpmath."""
    verdict = prove(proposition(["x >= -1", "x <= 1"], f"exp(x) >= {offset} + ({slope})*x"), max_boxes=300)
    points = [mpmath.mpf(-1), mpmath.mpf(1)] + ([mpmath.log(high_precision(slope))] if slope > 0 else [])
    slack = min(mpmath.exp(x) - high_precision(offset) - high_precision(slope) * x for x in points if -1 <= x <= 1)
    assert not (verdict.label == "PROVED" and slack < -1e-9)
    assert not (verdict.label == "REFUTED" and slack > 1e-9)


def test_holds_is_three_valued() -> None:
    """Catches "not decided" being read as false."""
    with precision(inequalities.BITS):
        wide = {"x": between(0, 2)}
        assert [holds(relation(text), wide) for text in ("x <= 3", "x > 3", "x <= 1", "x = 1")] == [
            True,
            False,
            None,
            None,
        ]


@pytest.mark.parametrize("then", ["1 + v <= exp(v)", "exp(v) >= v + 1", "1 + v + v^2/8 <= exp(v)", "v^2 >= 0"])
def test_touching_inequalities_are_proved(then: str) -> None:
    """Catches a convexity argument with the sides swapped."""
    assert prove_touching(proposition(UNIT, then), ZERO).label == "PROVED"


@pytest.mark.parametrize(
    ("then", "touch"),
    [
        ("1 + 2*v <= exp(v)", "0"),  # another slope: false
        ("1 + v + v^2 <= exp(v)", "0"),  # concave at the touching point: false
        ("1 + v >= exp(v)", "0"),  # the other side: false
        ("1 + v <= exp(v) - 1/1000", "0"),  # no touch: false
        ("1 + v <= exp(v)", "1/2"),  # true, but not touching there
        ("1 + v <= exp(v)", "2"),  # outside
        ("abs(v) >= 0", "0"),  # a kink
        ("log(v + 1) <= v", "-1"),  # not defined there
        ("1 + v < exp(v)", "0"),  # strict: false
        ("1 + v = exp(v)", "0"),
    ],
)
def test_what_does_not_touch_from_above_is_not_proved(then: str, touch: str) -> None:
    """Catches a tangent inequality accepted without its value, slope, convexity or domain."""
    assert prove_touching(proposition(UNIT, then), Fraction(touch)).label == "UNDECIDED"


@pytest.mark.parametrize("given_", [["v >= -1"], ["v >= -1", "v <= 1", "v >= 0"], ["v >= -1", "w <= 1"]])
def test_convexity_needs_one_interval(given_: list[str]) -> None:
    """Catches a proof on a domain that is not the interval of the hypotheses."""
    assert prove_touching(proposition(given_, "1 + v <= exp(v)"), ZERO).label == "UNDECIDED"
