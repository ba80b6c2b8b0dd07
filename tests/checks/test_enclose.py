"""Branch and bound against closed forms and samples; minimisers against exact ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import balls, strategies
from checks.enclose import (
    WorkLimit,
    curvature_supremum,
    gradient_l1_supremum,
    infimum,
    of_enclosure,
    of_expression,
    range_of,
    supremum,
    unit_box,
)
from checks.intervals import Interval
from checks.jets import NotSmooth
from checks.minimisers import find_minimiser, least_eigenvalue_lower
from constructions.arithmetic import FLOAT64
from theory.errors import InvalidInput
from theory.expression_parser import parse_expression as parse
from theory.expressions import evaluate, expression_to_json
from theory.ledger import Proved, Refuted, Undecided

FEW = settings(max_examples=30, deadline=None, derandomize=True, database=None)
TOLERANCE = Fraction(1, 1000)
LOOSE = Fraction(1, 4)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("x0*(1 - x0)", 0, Fraction(1, 4)),
        ("(x0 - x1)^2", 0, 1),
        ("x0 - x0", 0, 0),
        ("min(x0, 1 - x0) + abs(x1 - 1/3)", 0, Fraction(7, 6)),
        ("relu(x0 - x1) - relu(x1 - x0)", -1, 1),
        ("4*x0*(1 - x0)*x1^3", 0, 1),
        ("x0/(1 + x0)", 0, Fraction(1, 2)),
    ],
)
def test_ranges_with_known_ends(text: str, low: Fraction, high: Fraction) -> None:
    """Catches an end that is cut off, or that misses its tolerance."""
    found = range_of(parse(text), ("x0", "x1"), unit_box(2), TOLERANCE)
    assert low - TOLERANCE <= found.low <= low
    assert high <= found.high <= high + TOLERANCE


@FEW
@given(strategies.expressions("x", 2, max_leaves=6), st.integers(0, 2**32 - 1))
def test_ranges_contain_samples(expression: Any, seed: int) -> None:
    """Catches unsound pruning, mean-value forms or monotone faces on random expressions with kinks."""
    tolerance = LOOSE
    try:
        found = range_of(expression, ("x0", "x1"), unit_box(2), tolerance, most_boxes=300)
    except WorkLimit:
        return
    rng = np.random.default_rng(seed)
    sample = np.concatenate([rng.uniform(size=(400, 2)), rng.integers(0, 2, size=(20, 2))])
    values = evaluate(expression, {"x0": sample[:, 0], "x1": sample[:, 1]}, FLOAT64) + 0 * sample[:, 0]
    slack = 1e-9 * (1 + np.abs(values).max())
    assert float(found.low) <= values.min() + slack
    assert float(found.high) >= values.max() - slack


def test_vertices_are_exact() -> None:
    """Catches a supremum at a corner that comes out rounded: f <= 1 could then never be proved."""
    high = supremum(of_expression(-parse("x0/3 + 2*x1/3"), ("x0", "x1")), unit_box(2), TOLERANCE)
    assert high == Interval(Fraction(1), Fraction(1))


def test_work_limit_names_limit_and_carries_what_is_known() -> None:
    """Catches an endless search, or a limit that is passed over in silence."""
    hard = parse("(x0 - x0)*1000 + abs(x0 - x1)")
    with pytest.raises(WorkLimit, match="most_boxes=20") as caught:
        infimum(of_enclosure(lambda box: evaluate(hard, dict(zip(("x0", "x1"), box, strict=True)), balls.BALLS)),
                unit_box(2), Fraction(1, 10**6), most_boxes=20)  # fmt: skip
    assert caught.value.reached.low <= 0 <= caught.value.reached.high
    with pytest.raises(InvalidInput, match="tolerance"):
        infimum(of_expression(hard, ("x0", "x1")), unit_box(2), Fraction(0))


def test_gradient_norm_and_curvature() -> None:
    """Catches a wrong norm (max instead of sum) and second derivatives across a kink."""
    norm = gradient_l1_supremum(parse("z0^2 + z0*z1"), ("z0", "z1"), unit_box(2), TOLERANCE)
    assert norm.low <= 4 <= norm.high <= 4 + TOLERANCE  # (2 z0 + z1) + z0 at (1, 1)
    curvature = curvature_supremum(parse("exp(x0) - x0^3"), "x0", unit_box(1)[0], TOLERANCE)
    truth = abs(np.exp(1) - 6)  # |e^x - 6 x| is greatest at x = 1 (at 0 it is 1)
    assert float(curvature.low) <= truth <= float(curvature.high) <= truth + float(TOLERANCE)
    with pytest.raises(NotSmooth):
        curvature_supremum(parse("abs(x0 - 1/2)"), "x0", unit_box(1)[0], TOLERANCE)


@FEW
@given(strategies.tasks())
def test_quadratic_minimisers_are_found_exactly(task: Any) -> None:
    """Catches a minimiser that is missed, rounded, or not proved unique."""
    for feature in task.features:
        found = find_minimiser(feature.expression, task.token_dim)
        assert isinstance(found.unique, Proved)
        assert found.point is not None
        value = evaluate(feature.expression, {f"x{a}": np.float64(v) for a, v in enumerate(found.point)}, FLOAT64)
        assert found.value.is_point
        assert abs(value - float(found.value.low)) < 1e-12


@pytest.mark.parametrize("text", ["exp(x0) - 3*x0/2", "gelu(4*x0 - 2)", "(x0^2 - 1/2)^2 + x0/10"])
def test_irrational_minimisers_are_enclosed(text: str) -> None:
    """Catches an enclosure that misses the minimiser seen by a fine grid."""
    found = find_minimiser(parse(text), 1)
    assert isinstance(found.unique, Proved)
    grid = np.linspace(0, 1, 200_001)
    values = evaluate(parse(text), {"x0": grid}, FLOAT64)
    best = grid[values.argmin()]
    assert float(found.box[0].low) - 1e-5 <= best <= float(found.box[0].high) + 1e-5
    assert float(found.value.low) <= values.min() + 1e-12
    assert abs(float(found.value.high) - values.min()) < 1e-9
    assert found.box[0].high - found.box[0].low < Fraction(1, 10**9)


@pytest.mark.parametrize(
    "text", ["min(x0, 1 - x0)", "((x0 - 1/4)*(x0 - 3/4))^2", "x0*(1 - x0)", "1/2", "(x0 - 1/2)^2*0 + 1/3"]
)
def test_several_minimisers_are_never_called_unique(text: str) -> None:
    """Catches a false proof of A2.1; the first three are refuted with both points."""
    verdict = find_minimiser(parse(text), 1).unique
    assert isinstance(verdict, Refuted | Undecided)
    if "x0" in text and "*0" not in text:
        assert isinstance(verdict, Refuted)
        assert len(verdict.witness["minimisers"]) == 2


def test_a_saddle_is_not_convex() -> None:
    """Catches convexity proved from a part of the Hessian: this saddle is least at (1/2, 0) and (1/2, 1)."""
    verdict = find_minimiser(parse("(x0 - 1/2)^2 + (x1 - x1^2)"), 2).unique
    assert isinstance(verdict, Refuted)
    assert verdict.witness["minimisers"] == [["1/2", "0"], ["1/2", "1"]]


def test_an_irrational_minimiser_lies_in_its_box() -> None:
    """Catches an enclosure that is a float instead of a box: e^x - 3x/2 is least at log(3/2)."""
    side = find_minimiser(parse("exp(x0) - 3*x0/2"), 1).box[0]
    with balls.precision(256):
        truth = balls.log(balls.exact("1.5"))
        assert side.low < balls.lower(truth)
        assert balls.upper(truth) < side.high


@pytest.mark.parametrize("text", ["(x0 - 1/2)^4", "abs(x0 - 1/3)", "relu(x0 - 1/2)"])
def test_degenerate_minimisers_are_undecided_but_enclosed(text: str) -> None:
    """Catches a proof by the Hessian where there is none, and an enclosure that loses the minimiser."""
    found = find_minimiser(parse(text), 1, most_boxes=200)
    assert isinstance(found.unique, Undecided)
    assert "200" in found.unique.reason
    assert found.box[0].low <= Fraction(1, 2 if "3" not in text else 3) <= found.box[0].high


def test_a_variable_that_does_not_occur_refutes_uniqueness() -> None:
    """Catches features of fewer variables (E1's with axis directions) passing A2.1."""
    found = find_minimiser(parse("(x1 - 1/2)^2"), 3)
    assert isinstance(found.unique, Refuted)
    assert "x0, x2" in found.unique.detail
    assert found.box[0] == Interval(Fraction(0), Fraction(1))


@FEW
@given(st.lists(st.integers(-4, 4), min_size=9, max_size=9), st.integers(0, 4))
def test_least_eigenvalue_is_a_lower_bound(entries: list[int], shift: int) -> None:
    """Catches a positive bound for a matrix that is singular or indefinite."""
    half = np.array(entries, dtype=float).reshape(3, 3)
    matrix = half @ half.T + shift * np.eye(3) - np.eye(3)
    bound = least_eigenvalue_lower(balls.BALLS.asarray(matrix))
    truth = np.linalg.eigvalsh(matrix)[0]
    if bound is None:
        assert truth < 1e-9
    else:
        assert 0 < float(bound) <= truth + 1e-12


def test_least_eigenvalue_holds_for_every_matrix_in_the_balls() -> None:
    """Catches a bound taken at the midpoints: off-diagonals within 0 +- r allow the eigenvalue 1 - r."""
    for reach in (Fraction(1, 2), Fraction(2)):
        off = balls.between(-reach, reach)
        bound = least_eigenvalue_lower(np.array([[balls.exact(1), off], [off, balls.exact(1)]], dtype=object))
        assert (bound is None) if reach > 1 else (bound is not None and bound <= 1 - reach)


def test_monotone_faces_do_not_lose_minimisers_of_products() -> None:
    """Catches faces taken from a gradient that vanishes on an edge: x0 x1 is least on two whole edges."""
    found = find_minimiser(parse("x0*x1"), 2, most_boxes=300)
    assert not isinstance(found.unique, Proved)
    assert expression_to_json(parse("x0*x1")) == ["*", "x0", "x1"]
    assert found.value.low <= 0 <= found.value.high
