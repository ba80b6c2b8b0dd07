"""Identities: a decision for rational functions, and no answer for anything else."""

from __future__ import annotations

import pytest

from checks.symbolic import prove_identity
from theory.propositions import proposition

SPLIT = "(Q1*V1 + Q3*V3)/(Q1 + Q3) - (Q2*V2 + Q3*V3)/(Q2 + Q3)"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("(a + b)^3", "a^3 + 3*a^2*b + 3*a*b^2 + b^3"),
        ("1/(x + 1) - 1/(x + 2)", "1/((x + 1)*(x + 2))"),
        ("x^-2", "1/(x*x)"),
        (SPLIT, "Q3*(Q2 - Q1)*(V3 - V2)/((Q1 + Q3)*(Q2 + Q3)) + Q1*(V1 - V2)/(Q1 + Q3)"),
    ],
)
def test_identities_are_proved(left: str, right: str) -> None:
    """Catches a normal form that is not one; the last is eq 24-25 of the paper."""
    assert prove_identity(proposition([], f"{left} = {right}")).label == "PROVED"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("(a + b)^2", "a^2 + b^2"),
        ("x", "x + 1/1000000000000"),
        (SPLIT, "Q3*(Q1 - Q2)*(V3 - V2)/((Q1 + Q3)*(Q2 + Q3)) + Q1*(V1 - V2)/(Q1 + Q3)"),
    ],
)
def test_what_is_no_identity_is_refuted_at_a_point(left: str, right: str) -> None:
    """Catches equality up to a tolerance, and a wrong sign."""
    verdict = prove_identity(proposition([], f"{left} = {right}"))
    assert verdict.label == "REFUTED"
    assert verdict.witness["values"]


@pytest.mark.parametrize(
    "then", ["x <= x", "exp(x) = exp(x)", "max(x, y) = x + y - min(x, y)", "abs(x)^2 = x^2", "1/(x - x) = 1"]
)
def test_other_statements_are_left_to_other_engines(then: str) -> None:
    """Catches an engine that guesses outside its domain; the last is defined nowhere."""
    assert prove_identity(proposition([], then)).label == "UNDECIDED"


def test_hypotheses_do_not_make_an_identity() -> None:
    """Catches an equation that holds only under its hypotheses being proved for all values."""
    assert prove_identity(proposition(["x = 1"], "x^2 = x")).label == "UNDECIDED"


def test_points_where_a_divisor_vanishes_are_skipped() -> None:
    """Catches a crash at a random point: this divisor vanishes at every third one or so."""
    product = "*".join(f"(x - {k})" for k in range(-30, 31))
    assert prove_identity(proposition([], f"({product})/({product}) = 1")).label == "PROVED"


@pytest.mark.parametrize("given", ["1/(x - x) > 0", "exp(x) > 0", "log(0*x) > 0"])
def test_a_hypothesis_without_a_value_refutes_nothing(given: str) -> None:
    """Catches a pole or a transcendental value in a hypothesis that escapes as an exception, or counts as met."""
    assert prove_identity(proposition([given], "x = 2*x")).label == "UNDECIDED"
