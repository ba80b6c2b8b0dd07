"""Certified budgets of N7 and N13: what is proved, what dominates what, and every small change that must be caught."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from checks.budget import Report
from checks.budgets import certify
from checks.budgets.compare import Different, require_equal
from checks.budgets.log_sum_exp import cells_of
from constructions import log_sum_exp, token_heads
from constructions.arithmetic import EXACT, FLOAT64, fractions
from constructions.built import Built
from constructions.evaluate import apply_map, evaluate, target
from constructions.network import Dense, Network, Perceptron
from constructions.network_json import network_from_json, network_to_json
from constructions.specialists import Knowledge
from constructions.task import Feature, RetrievalTask, built_in, quadratic, toy
from theory.enough_heads import Term
from theory.errors import InvalidInput
from theory.exact import format_exact, parse_exact
from theory.expressions import Variable
from theory.ledger import Form, Proved, Refuted, Undecided

ONE = Fraction(1)
TENTH, QUARTER = Fraction(1, 10), Fraction(1, 4)
SIXTH_DIGIT = Fraction(1, 10**6)
KINDS = ("token_heads", "relu", "heaviside")


def build(kind: str, task: RetrievalTask, eps: Fraction, outer_gradient_l1: Fraction = ONE) -> Built:
    knowledge = Knowledge(outer_gradient_l1)
    if kind == "token_heads":
        return token_heads.build(task, eps, Form.PUBLISHED, knowledge)
    return log_sum_exp.build(task, eps, kind, knowledge)


def halves() -> RetrievalTask:
    """Two features on different halves of the positions, F_0 their difference."""
    x, z0, z1 = Variable("x0"), Variable("z0"), Variable("z1")
    features = (Feature((x - QUARTER) ** 2, (1, 3)), Feature(1 - x, (2, 3, 4)))
    return RetrievalTask("halves", 1, 4, features, z0 - z1)


def leaves(terms: Sequence[Term]) -> list[Term]:
    return [leaf for term in terms for leaf in (leaves(term.parts) if term.parts else [term])]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("eps", [TENTH, Fraction(3, 100), Fraction(1, 100)])
@pytest.mark.parametrize(
    ("task", "slope"), [(toy(16), 2), (built_in("synthetic(4)", 4), 4), (quadratic(3, 2, 64), 1), (halves(), 2)]
)
def test_proved_below_eps(kind: str, eps: Fraction, task: RetrievalTask, slope: int) -> None:
    """Catches a design whose terms do not add up to less than eps, or are several times smaller than they could be."""
    report = certify(build(kind, task, eps, Fraction(slope)))
    assert isinstance(report.verdict, Proved), report.verdict
    assert report.bound_upper is not None
    assert eps / 5 < report.bound_upper < eps
    assert sum(leaf.value_upper for leaf in leaves(report.terms)) == report.bound_upper


def test_the_sizes_of_the_acceptance() -> None:
    """Catches N13 at D = 8, T = 512 not certified below 0.02, and N7 at T = 512 not within 1/4."""
    for eps in (Fraction(1, 50), Fraction(1, 100)):
        many = certify(build("token_heads", quadratic(8, 2, 512), eps))
        assert isinstance(many.verdict, Proved), many.verdict
    for form in ("relu", "heaviside"):
        for task, slope in ((toy(512), 2), (quadratic(8, 2, 512), 1)):
            report = certify(build(form, task, QUARTER, Fraction(slope)))
            assert isinstance(report.verdict, Proved), report.verdict


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("task", "slope"), [(toy(4), 2), (halves(), 2), (quadratic(2, 2, 3), 1)])
def test_the_budget_dominates_sampling(kind: str, task: RetrievalTask, slope: int) -> None:
    """Catches an inequality in the wrong direction: no sequence errs by more than the budget, some by a fifth of it."""
    built = build(kind, task, TENTH, Fraction(slope))
    bound = certify(built).bound_upper
    assert bound is not None
    rng = np.random.default_rng(7)
    batch = rng.random((6000, task.seq_len, task.token_dim))
    batch[:1000] = batch[:1000, :1]
    batch[1000:2000] = rng.integers(0, 2, batch[1000:2000].shape)
    batch[2000:4000] = batch[2000:4000, :1] + 0.1 * rng.random((2000, task.seq_len, task.token_dim)) - 0.05
    batch = batch.clip(0, 1)
    errors = np.abs(evaluate(built.network, batch, FLOAT64)[..., 0] - target(task, batch, FLOAT64))
    assert float(bound) / 5 < errors.max() <= float(bound)


def numbers(data: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all numbers of a network in JSON, sizes, activations and indices apart."""
    if isinstance(data, dict):
        kept = {key: value for key, value in data.items() if key not in ("activation", "shape", "seq_len", "token_dim")}
        return [path for key, value in kept.items() for path in numbers(value, (*at, key))]
    if isinstance(data, list):
        return [path for index, value in enumerate(data) for path in numbers(value, (*at, index))]
    return [at] if isinstance(data, str) else []


def changed(network: Network, path: tuple[Any, ...], change: Callable[[Fraction], Fraction]) -> Network:
    data = network_to_json(network)
    place: Any = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = format_exact(change(parse_exact(place[path[-1]])))
    return network_from_json(data)


@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_changed_in_the_sixth_digit_is_caught(kind: str) -> None:
    """Catches a certificate that overlooks part of the network: every single number, changed by a millionth of itself
    (or from 0 to a millionth), must end the proof and be named, or be refuted.
    Copies are changed by one."""
    built = build(kind, halves(), QUARTER, Fraction(2))
    assert isinstance(certify(built).verdict, Proved)
    paths = numbers(network_to_json(built.network))
    assert len(paths) > 50
    for path in paths:
        whole = "copies" in path
        network = changed(
            built.network, path, lambda x, whole=whole: x + 1 if whole else x * (1 + SIXTH_DIGIT) if x else SIXTH_DIGIT
        )
        verdict = certify(replace(built, network=network)).verdict
        if isinstance(verdict, Undecided):
            assert f".{path[0]}" in verdict.reason, verdict.reason
        else:  # one copy more of few is enough for a witness
            assert isinstance(verdict, Refuted), path


@pytest.mark.parametrize("kind", KINDS)
def test_changed_parts_do_not_prove_more_than_is_true(kind: str) -> None:
    """Catches parts that are believed: composed from a wrong feature, the network is certified against the task, so
    that the budget grows to what it is, and the error is found."""
    built = build(kind, toy(4), TENTH, Fraction(2))
    other = RetrievalTask(
        "other", 1, 4, (toy(4).features[0], Feature(1 - Variable("x0") ** 2, (1, 2, 3, 4))), toy(4).outer
    )
    report: Report = certify(replace(built, task=other))
    assert isinstance(report.verdict, Refuted)
    assert report.bound_upper is not None
    assert report.bound_upper > QUARTER / 2


def test_another_beta_of_the_proof_proves_less() -> None:
    """Catches a bound that takes beta on trust: with beta 1 % off, the logarithm no longer fits."""
    built = build("relu", toy(16), QUARTER, Fraction(2))
    parts = tuple((name, part * Fraction(101, 100) if name == "beta" else part) for name, part in built.parts)  # type: ignore[operator]
    report, right = certify(replace(built, parts=parts)), certify(built)
    assert report.bound_upper is not None
    assert right.bound_upper is not None
    assert report.bound_upper > right.bound_upper
    assert not isinstance(report.verdict, Proved)


def test_eps_below_the_budget_is_not_proved() -> None:
    """Catches a verdict that compares with the design instead of eps."""
    for kind in KINDS:
        built = build(kind, toy(4), TENTH, Fraction(2))
        bound = certify(built).bound_upper
        assert bound is not None
        assert not isinstance(certify(replace(built, eps=bound)).verdict, Proved)
        assert isinstance(certify(replace(built, eps=bound + SIXTH_DIGIT)).verdict, Proved)


def test_unknown_kinds_and_parts_are_named() -> None:
    """Catches a kind without a budget that ends undecided, and a part of the wrong type."""
    built = build("relu", toy(4), TENTH, Fraction(2))
    with pytest.raises(InvalidInput, match="kind"):
        certify(replace(built, kind="guess"))
    with pytest.raises(InvalidInput, match="eps"):
        certify(replace(built, eps=Fraction(0)))
    with pytest.raises(InvalidInput, match="part"):
        built.part("beta", Perceptron)
    verdict = certify(replace(built, parts=built.parts[1:])).verdict
    assert isinstance(verdict, Undecided)
    assert "feature 0" in verdict.reason


def test_a_gate_that_does_not_close_is_refused() -> None:
    """Catches tokens off S_i that count: with e positive on [3, 4] the sum is not over S_i alone."""
    built = build("relu", halves(), QUARTER, Fraction(2))
    found = dict(built.parts)
    exponential = found["exponential"]
    assert isinstance(exponential, Perceptron)
    hidden, output = exponential.layers
    late = Perceptron((Dense(hidden.weight, [*hidden.bias[:-1], Fraction(7, 2)], "relu"), output))  # type: ignore[arg-type]
    found["exponential"] = late
    features = [found["feature 0"], found["feature 1"]]
    logarithms: Any = {size: found[f"logarithm {size}"] for size in log_sum_exp.support_sizes(built.task)}
    network = log_sum_exp.compose(built.task, features, late, logarithms)  # type: ignore[arg-type]
    verdict = certify(replace(built, network=network, parts=tuple(found.items()))).verdict
    assert not isinstance(verdict, Proved)
    assert "off S_i" in getattr(verdict, "reason", "off S_i")


@pytest.mark.parametrize("activation", ["relu", "heaviside"])
def test_cells_are_the_function(activation: str) -> None:
    """Catches a jump on the wrong side and a kink left out: cells against the network itself, at and between knots."""
    rng = np.random.default_rng(1)
    knots, outputs = rng.integers(0, 17, 6) / 16, rng.integers(-8, 9, 6) / 8
    hidden = Dense(-np.ones((6, 1)), knots, activation)
    part = Perceptron((hidden, Dense(outputs[None], np.array([0.25]))))
    cells = cells_of(part, (Fraction(1, 32), Fraction(15, 16)))
    for point in [Fraction(k, 64) for k in range(2, 61)]:
        value = apply_map(part, fractions([point]), EXACT)[0]
        around = [cell for cell in cells if cell.left <= point <= cell.right]
        possible = [
            cell.start
            if cell.left == cell.right
            else cell.start + (cell.end - cell.start) * (point - cell.left) / (cell.right - cell.left)
            for cell in around
        ]
        assert min(possible) <= value <= max(possible)


def test_networks_of_other_shapes_are_different() -> None:
    """Catches a comparison that stops at the shorter list, or takes an activation for granted."""
    network = build("relu", toy(4), TENTH, Fraction(2)).network
    require_equal(network, network)
    first, *rest = network.readout.layers  # type: ignore[union-attr]
    other = Perceptron((Dense(first.weight, first.bias, "gelu", first.copies), *rest))
    with pytest.raises(Different, match="activation"):
        require_equal(replace(network, readout=other), network)
    with pytest.raises(Different, match="seq_len"):
        require_equal(build("relu", toy(5), TENTH, Fraction(2)).network, network)


def test_terms_are_sums() -> None:
    """Catches a tree whose root is smaller than its parts."""
    parts = (Term("a", "N1", Fraction(1, 8)), Term("b", "N2", Fraction(1, 8)))
    assert Term.sum("both", "N3", parts).value_upper == QUARTER
    with pytest.raises(InvalidInput, match="both"):
        Term("both", "N3", Fraction(1, 8), parts)
