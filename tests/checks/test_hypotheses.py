"""A task that satisfies everything passes; a task with one broken hypothesis fails exactly there, with a witness."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import strategies
from checks.hypotheses import HYPOTHESES, applicable, check_task
from checks.minimisers import find_minimiser
from constructions.task import Feature, RetrievalTask, built_in, everywhere, hard_gate, quadratic, toy
from theory.errors import InvalidInput, NotFinite
from theory.expression_parser import parse_expression as parse
from theory.ledger import NotApplicable, Proved, Refuted, Undecided

FEW = settings(max_examples=25, deadline=None, derandomize=True, database=None)
SECONDS = 2.0


def make(features: list[str], outer: str, dimension: int = 1, length: int = 8) -> RetrievalTask:
    """A task whose features look at all positions."""
    chosen = tuple(Feature(parse(text), everywhere(length)) for text in features)
    return RetrievalTask("test", dimension, length, chosen, parse(outer))


def labels(task: RetrievalTask) -> dict[str, str]:
    return {check.id: check.verdict.label for check in check_task(task)}


@FEW
@given(strategies.tasks())
def test_good_tasks_pass_every_hypothesis(task: Any) -> None:
    """Catches a check that cannot say yes: nothing could then be proved about any task."""
    assert set(labels(task).values()) == {"PROVED"}
    assert isinstance(applicable(check_task(task), tuple(HYPOTHESES)), Proved)


@FEW
@given(st.sampled_from(strategies.VIOLATIONS).flatmap(lambda h: st.tuples(st.just(h), strategies.violating_tasks(h))))
def test_a_broken_hypothesis_is_refuted_with_a_witness(drawn: Any) -> None:
    """Catches a check that cannot say no."""
    hypothesis, task = drawn
    checks = check_task(task)
    verdict = next(check.verdict for check in checks if check.id == hypothesis)
    assert isinstance(verdict, Refuted)
    assert verdict.witness
    needed = applicable(checks, (hypothesis,))
    assert isinstance(needed, NotApplicable)
    assert hypothesis in needed.detail


def test_coinciding_minimisers_name_the_pair() -> None:
    """Catches issue 2's bad input passing: A2.2 is not applicable, features 0 and 2 and their minimiser are named."""
    task = make(["(x0 - 1/2)^2", "(x0 - 1/3)^2", "2*(x0 - 1/2)^2"], "z0 + z1 + z2")
    checks = check_task(task)
    answer = applicable(checks, ("A2.1", "A2.2"))
    assert isinstance(answer, NotApplicable)
    assert answer.exit_code == 2
    assert "features 0 and 2" in answer.detail
    assert "1/2" in answer.detail
    assert isinstance(applicable(checks, ("A2.1", "A2.3")), Proved)


def test_all_violations_are_reported_at_once() -> None:
    """Catches a check that stops at the first failure."""
    task = RetrievalTask(
        "bad", 1, 12, (Feature(parse("3*x0"), (1,)), Feature(parse("2*x0"), (2,))), parse("z0*z1 + z0^2")
    )
    found = labels(task)
    assert [name for name in HYPOTHESES if found[name] == "REFUTED"] == [
        "DEF-D.range",
        "DEF-D.support",
        "A2.2",
        "A2.3",
        "A2.4",
    ]


def test_toy_breaks_a2_3_only_and_is_not_refused() -> None:
    """Catches DEF-TOY being refused, or its vanishing Hessian going unreported."""
    found = labels(toy(16))
    assert [name for name in HYPOTHESES if found[name] != "PROVED"] == ["A2.3"]
    assert found["A2.3"] == "REFUTED"
    assert set(labels(hard_gate()).values()) == {"PROVED"}


def test_synthetic_axes_break_a2_1_and_leave_a2_2_without_sense() -> None:
    """Catches E1's features (each of one coordinate) being given unique minimisers in four dimensions."""
    found = labels(built_in("synthetic(4)", 16))
    assert found["A2.1"] == "REFUTED"
    assert found["A2.2"] == found["A2.3"] == "NOT_APPLICABLE"


@pytest.mark.parametrize("feature", ["abs(x0 - 1/3)", "max(x0, 1 - x0)", "relu(x0 - 1/2)"])
def test_kinks_are_not_proved_smooth(feature: str) -> None:
    """Catches a kinked feature passing as C^2."""
    checks = {check.id: check.verdict for check in check_task(make([feature], "z0"))}
    assert isinstance(checks["DEF-D.smooth"], Undecided)
    assert not isinstance(checks["A2.3"], Proved)


def test_range_is_exact_at_its_ends() -> None:
    """Catches a range check with slack: 1 + 10^-12 must fail, exactly 1 must pass."""
    assert labels(make(["x0^2*(1 - x1)"], "z0", dimension=2))["DEF-D.range"] == "PROVED"
    over = make(["x0^2*(1 - x1)*(1 + 1/1000000000000)"], "z0", dimension=2)
    assert labels(over)["DEF-D.range"] == "REFUTED"


def test_range_with_an_interior_maximum() -> None:
    """Catches a supremum looked for at the corners only, and a range called proved that touches 1 within rounding."""
    assert labels(make(["5*x0*(1 - x0)"], "z0"))["DEF-D.range"] == "REFUTED"
    assert labels(make(["39/10*x0*(1 - x0)"], "z0"))["DEF-D.range"] == "PROVED"
    assert labels(make(["4*x0*(1 - x0)"], "z0"))["DEF-D.range"] == "UNDECIDED"


def test_a_nearly_vanishing_outer_gradient_is_undecided() -> None:
    """Catches A2.4 proved from the midpoint of an enclosure: here dF_0/dz0 = 2 z_0 - c with c = 2 z_0 to 30 digits."""
    feature = "exp(x0) - 3*x0/2 - 4/5"
    value = find_minimiser(parse(feature), 1).value
    checks = {check.id: check.verdict for check in check_task(make([feature], f"z0^2 - ({value.low + value.high})*z0"))}
    assert isinstance(checks["A2.4"], Undecided)


@pytest.mark.parametrize("task", [quadratic(3, 2, 16), built_in("synthetic(4)", 64), toy(128), quadratic(8, 4, 64)])
def test_checking_is_fast(task: RetrievalTask) -> None:
    """Catches a check that is too slow to run before every command."""
    start = time.process_time()
    check_task(task)
    assert time.process_time() - start < SECONDS


def test_a_pole_names_the_feature_and_unknown_ids_are_refused() -> None:
    """Catches a traceback without a name, and a misspelt hypothesis that is silently satisfied."""
    with pytest.raises(NotFinite, match="feature 1"):
        check_task(make(["x0", "1/x0"], "z0 + z1"))
    with pytest.raises(InvalidInput, match=r"A2\.9"):
        applicable(check_task(toy(4)), ("A2.9",))
