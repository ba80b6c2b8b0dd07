"""z3: what it proves is true, what it refutes has an exact witness, and empty or ill-defined ones prove nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.smt import prove
from theory.errors import InexactOperation
from theory.exact import parse_exact
from theory.propositions import proposition

SMALL = st.integers(min_value=-3, max_value=3)


@pytest.mark.parametrize(
    ("given_", "then"),
    [
        (["a >= 0", "b >= 0"], "(a + b)^2 >= 4*a*b"),
        ([], "max(a, b) + min(a, b) = a + b"),
        ([], "abs(abs(a) - abs(b)) <= abs(a - b)"),
        ([], "relu(a) - relu(-a) = a"),
        (["x > 0"], "x + 1/x >= 2"),
        (["x > 0"], "x^-2 > 0"),
    ],
)
def test_true_statements_are_proved(given_: list[str], then: str) -> None:
    """Catches a wrong translation of an operator."""
    assert prove(proposition(given_, then)).label == "PROVED"


@pytest.mark.parametrize(
    ("given_", "then"),
    [
        (["a >= 0"], "a^2 >= a"),
        ([], "max(a, b) = a"),
        ([], "abs(a - b) <= abs(a) - abs(b)"),
        (["x > 0"], "x + 1/x > 2"),
        (["a >= 0", "b >= 0"], "(a + b)^2 >= 5*a*b"),
    ],
)
def test_false_statements_are_refuted_by_an_exact_point(given_: list[str], then: str) -> None:
    """Catches a witness that is a float, or that does not violate the statement."""
    stated = proposition(given_, then)
    verdict = prove(stated)
    assert verdict.label == "REFUTED"
    values = {name: parse_exact(value) for name, value in verdict.witness["values"].items()}
    assert all(relation.holds_exactly(values) for relation in stated.hypotheses)
    assert not stated.conclusion.holds_exactly(values)


def test_nothing_is_proved_about_the_empty_set() -> None:
    """Catches vacuous truth: contradictory hypotheses imply everything."""
    assert prove(proposition(["x > 1", "x < 0"], "x = 17")).label == "UNDECIDED"


def test_a_vanishing_divisor_does_not_refute() -> None:
    """Catches z3's free value of x/0 in a refutation, and in a proof."""
    assert prove(proposition([], "x/x = 1")).label == "PROVED"
    assert prove(proposition(["x = 0"], "1/x = 5")).label == "UNDECIDED"


def test_a_dropped_hypothesis_is_noticed() -> None:
    """Catches an engine that ignores hypotheses: the range of a is needed in T2.1-11."""
    stated = proposition(["p >= 0", "p <= 1", "r >= -1", "r <= 0"], "p^2 + r^2 <= 2")
    assert prove(stated).label == "PROVED"
    assert [prove(stated.without_hypothesis(index)).label for index in range(4)] == ["REFUTED"] * 4


@pytest.mark.parametrize("then", ["exp(x) > 0", "log(x) < x", "tanh(x) <= 1", "gelu(x) <= x + 1"])
def test_transcendental_functions_are_refused(then: str) -> None:
    """Catches an uninterpreted exp that z3 could give any value."""
    with pytest.raises(InexactOperation):
        prove(proposition([], then))


@settings(max_examples=60, deadline=None)
@given(SMALL, SMALL, SMALL, SMALL, SMALL)
def test_quadratics_agree_with_the_discriminant(a: int, b: int, c: int, low: int, width: int) -> None:
    """Catches a wrong verdict on a x^2 + b x + c >= 0 over an interval, against calculus by hand."""
    high = low + abs(width)
    points = [Fraction(low), Fraction(high)]
    if a and low <= Fraction(-b, 2 * a) <= high:
        points.append(Fraction(-b, 2 * a))
    least = min(a * x * x + b * x + c for x in points)
    stated = proposition([f"x >= {low}", f"x <= {high}"], f"{a}*x^2 + {b}*x + {c} >= 0")
    assert prove(stated).label == ("PROVED" if least >= 0 else "REFUTED")
