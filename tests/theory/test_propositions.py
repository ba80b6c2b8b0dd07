"""Propositions: parsing, exact decision at a point, and the mutants made from them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.errors import InexactOperation, InvalidInput, NotFinite
from theory.propositions import RELATIONS, proposition, relation

RATIONALS = st.fractions(min_value=-5, max_value=5, max_denominator=7)


@given(RATIONALS, RATIONALS, st.sampled_from(RELATIONS))
def test_relations_are_those_of_the_rationals(a: Fraction, b: Fraction, sign: str) -> None:
    """Catches a swapped or non-strict comparison."""
    expected = {"<": a < b, "<=": a <= b, "=": a == b, ">=": a >= b, ">": a > b}[sign]
    assert relation(f"x {sign} y").holds_exactly({"x": a, "y": b}) is expected


@pytest.mark.parametrize("text", ["x", "x = y = z", "x < y < z", "", "x <", "< x", "x == y", "x => y"])
def test_only_one_relation_between_two_sides(text: str) -> None:
    """Catches chained or malformed relations read as something else."""
    with pytest.raises(InvalidInput):
        relation(text)


def test_transcendental_values_are_not_decided_exactly() -> None:
    """Catches a float slipping into an exact decision; e^0 = 1 is exact."""
    assert relation("exp(x) = 1").holds_exactly({"x": Fraction(0)})
    with pytest.raises(InexactOperation):
        relation("exp(x) > 1").holds_exactly({"x": Fraction(1)})


def test_a_pole_is_an_error_not_a_value() -> None:
    """Catches 1/0 compared with something."""
    with pytest.raises(NotFinite):
        relation("1/x > 0").holds_exactly({"x": Fraction(0)})


def test_mutants_change_one_part() -> None:
    """Catches a mutant that is the statement itself."""
    stated = proposition(["a >= 0", "b >= a"], "b >= 0")
    assert stated.variables == ("a", "b")
    assert [str(part) for part in stated.without_hypothesis(0).hypotheses] == ["b >= a"]
    assert str(stated.concluding("b > 0").conclusion) == "b > 0"
    assert stated.concluding("b > 0").hypotheses == stated.hypotheses


def test_json_is_readable_by_the_certificates() -> None:
    """Catches a JSON form that is not [left, relation, right] with exact numbers as strings."""
    assert relation("0.5*x <= 1").to_json() == [["*", "1/2", "x"], "<=", "1"]
