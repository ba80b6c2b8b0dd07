"""The analytic budget: certified from the network alone, above every sample and branch and bound, and not vacuous."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.budget import budget_sides, budget_terms, certify
from checks.curves import enclosed_curve
from checks.design import closing, specialists
from checks.strategies import tasks, token_sequences
from checks.sup_error import sup_error
from checks.witness import confirm, find_witness
from constructions.arithmetic import EXACT, FLOAT64, ExactArray, fractions
from constructions.evaluate import evaluate, target
from constructions.network import Dense, Network, Perceptron
from constructions.specialists import Knowledge, build
from constructions.task import Feature, RetrievalTask, built_in, everywhere, hard_gate, quadratic, toy
from theory.errors import InvalidInput
from theory.expression_parser import parse_expression
from theory.ledger import Form, Proved, Refuted, Undecided

FLOAT_TOLERANCE = 1e-9
SIXTH_DIGIT = Fraction(1, 10**6)
GRADIENT = Fraction(9)
"""At least sup |grad F_0|_1 for every task of `checks.strategies.tasks`."""


def bound(network: Network, task: RetrievalTask) -> Fraction:
    return sum((term.value_upper for term in budget_terms(network, task)), Fraction(0))


def disjoint(seq_len: int) -> RetrievalTask:
    """Two quadratic features on disjoint halves: the case in which gates matter."""
    half = seq_len // 2
    first = Feature(parse_expression("4*(x0 - 1/2)^2"), tuple(range(1, half + 1)))
    second = Feature(parse_expression("(x0 - 1/4)^2"), tuple(range(half + 1, seq_len + 1)))
    return RetrievalTask("disjoint", 1, seq_len, (first, second), parse_expression("z0 - 2*z1"))


def test_acceptance_toy() -> None:
    """Catches a certificate that does not close: toy, T = 16, eps = 0.05, sharpened; every term is listed."""
    built = build(toy(16), Fraction(1, 20), Form.SHARPENED, Knowledge(Fraction(2)))
    report = certify(built.network, toy(16), Fraction(1, 20))
    assert isinstance(report.verdict, Proved)
    assert report.bound_upper is not None
    assert report.bound_upper == sum(term.value_upper for term in report.terms) < Fraction(1, 20)
    assert {term.claim for term in report.terms} == {"N3", "A3"}


def test_acceptance_hard_gate() -> None:
    """Catches a published gate that passes: refuted with exactly 3/4, at equal scores and so for every beta."""
    built = build(hard_gate(), Fraction(1, 20), Form.PUBLISHED, Knowledge(Fraction(1)))
    verdict = certify(built.network, hard_gate(), Fraction(1, 20)).verdict
    assert isinstance(verdict, Refuted)
    assert verdict.witness["bound"] == "3/4"
    assert verdict.witness["every_beta"] is True


@pytest.mark.parametrize("name", ["toy", "synthetic(4)", "quadratic(3,2)"])
@pytest.mark.parametrize("seq_len", [4, 16, 64])
@pytest.mark.parametrize("form", [Form.PUBLISHED, Form.REPAIRED, Form.SHARPENED])
def test_every_built_in_task_is_certified(name: str, seq_len: int, form: Form) -> None:
    """Catches forms that do not close for some size: a certified bound below eps, and for N3 within 5 % of it.

    All positions belong to every S_i here, so that the published gate has nobody to keep out and holds as well.
    """
    task = built_in(name, seq_len)
    for eps in (Fraction(1, 10), Fraction(3, 100), Fraction(1, 100)):
        report = certify(specialists(task, eps, form).network, task, eps)
        assert isinstance(report.verdict, Proved)
        assert report.bound_upper is not None
        if form is Form.SHARPENED:
            assert report.bound_upper > eps * Fraction(95, 100)


@pytest.mark.parametrize("form", [Form.REPAIRED, Form.SHARPENED])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_bound_is_above_every_sample(form: Form, data: st.DataObject) -> None:
    """Catches an unsound term: adversarial sequences of drawn tasks never err by more than the certified bound."""
    task = data.draw(tasks())
    network = build(task, Fraction(1, 5), form, Knowledge(GRADIENT)).network
    certified = float(bound(network, task))
    assert certified < 0.2
    for _ in range(4):
        tokens = np.asarray(data.draw(token_sequences(task)), dtype=np.float64)
        error = abs(float(evaluate(network, tokens, FLOAT64)[0] - target(task, tokens, FLOAT64)))
        assert error <= certified + FLOAT_TOLERANCE


@pytest.mark.parametrize(
    ("task", "gradient", "form"),
    [
        (toy(3), 2, Form.SHARPENED),
        (quadratic(1, 1, 3), 1, Form.SHARPENED),
        (quadratic(2, 1, 3), 1, Form.SHARPENED),
        (disjoint(4), 3, Form.SHARPENED),
        (disjoint(4), 3, Form.REPAIRED),
    ],
)
def test_budget_above_branch_and_bound_above_sampling(task: RetrievalTask, gradient: int, form: Form) -> None:
    """Catches an unsound budget or an unsound search - and a vacuous budget: the true error is at least a quarter."""
    network = build(task, Fraction(1, 10), form, Knowledge(Fraction(gradient))).network
    found = sup_error(network, task, Fraction(1, 10), most_boxes=30_000)
    analytic = bound(network, task)
    tokens = np.random.default_rng(7).random((20_000, task.seq_len, task.token_dim))
    sampled = np.abs(evaluate(network, tokens, FLOAT64)[:, 0] - target(task, tokens, FLOAT64)).max()
    assert sampled <= float(found.upper) + FLOAT_TOLERANCE
    assert found.lower <= analytic
    if form is Form.SHARPENED:
        assert analytic <= 4 * found.lower


def halved_beta(network: Network) -> Network:
    return replace(network, beta=network.beta / 2)


def gate_of_one(network: Network) -> Network:
    hidden, last = network.encoder.layers  # type: ignore[union-attr]
    gates = last.bias.copy()
    gates[:, 1::2] = gates[:, 1::2] / 2
    return replace(network, encoder=Perceptron((hidden, Dense(last.weight, gates))))


def shifted_positions(network: Network) -> Network:
    hidden, last = network.encoder.layers  # type: ignore[union-attr]
    return replace(network, encoder=Perceptron((hidden, Dense(last.weight, np.roll(last.bias, 1, axis=0)))))


def swapped_sign(network: Network) -> Network:
    first, second = network.readout.layers  # type: ignore[union-attr]
    return replace(network, readout=Perceptron((first, Dense(-second.weight, second.bias))))


@pytest.mark.parametrize("mutate", [halved_beta, gate_of_one, shifted_positions, swapped_sign])
def test_mutants_are_not_proved(mutate: Callable[[Network], Network]) -> None:
    """Catches a budget that trusts the design: gate 1 for 2, gates at other positions, half of beta, a wrong sign."""
    task = disjoint(8)
    network = build(task, Fraction(1, 10), Form.REPAIRED, Knowledge(Fraction(3))).network
    eps = bound(network, task) * (1 + SIXTH_DIGIT)
    assert isinstance(certify(network, task, eps).verdict, Proved)
    assert not isinstance(certify(mutate(network), task, eps).verdict, Proved)


def test_halved_beta_of_the_sharpened_form_is_not_proved() -> None:
    """Catches a beta term that is not tight: N3's budget spends all of eps, so half of beta breaks it."""
    built = specialists(toy(8), Fraction(1, 20), Form.SHARPENED)
    assert isinstance(certify(built.network, toy(8), Fraction(1, 20)).verdict, Proved)
    assert not isinstance(certify(halved_beta(built.network), toy(8), Fraction(1, 20)).verdict, Proved)


def nudged(array: ExactArray, index: tuple[int, ...]) -> ExactArray:
    """One weight changed in the sixth digit."""
    copy = np.array(EXACT.asarray(array), dtype=object)
    copy[index] = copy[index] * (1 + SIXTH_DIGIT) if copy[index] else SIXTH_DIGIT
    return fractions(copy)


def nudged_map(function: Any, layer: int, field: str, index: tuple[int, ...]) -> Perceptron:
    layers = list(function.layers)
    layers[layer] = replace(layers[layer], **{field: nudged(getattr(layers[layer], field), index)})
    return Perceptron(tuple(layers))


NUDGES: dict[str, Callable[[Network], Network]] = {
    "encoder weight": lambda n: replace(n, encoder=nudged_map(n.encoder, 0, "weight", (5, 0))),
    "encoder kink": lambda n: replace(n, encoder=nudged_map(n.encoder, 0, "bias", (3,))),
    "encoder output": lambda n: replace(n, encoder=nudged_map(n.encoder, 1, "weight", (0, 4))),
    "positional bias on S": lambda n: replace(n, encoder=nudged_map(n.encoder, 1, "bias", (0, 0))),
    "last layer": lambda n: replace(n, encoder=nudged_map(n.encoder, 2, "weight", (1, 1))),
    "read-out weight": lambda n: replace(n, readout=nudged_map(n.readout, 0, "weight", (0, 0))),
    "read-out bias": lambda n: replace(n, readout=nudged_map(n.readout, 1, "bias", (0,))),
    "output weight": lambda n: replace(n, output_weight=nudged(n.output_weight, (0, 0))),
    "class token": lambda n: replace(n, output_bias=nudged(n.output_bias, (1,))),
    "value": lambda n: replace(
        n, heads=(replace(n.heads[0], value=nudged(n.heads[0].value, (0, 0))), *n.heads[1:])
    ),
    "key": lambda n: replace(n, heads=(replace(n.heads[0], key=nudged(n.heads[0].key, (0, 0))), *n.heads[1:])),
    "value bias": lambda n: replace(
        n, heads=(replace(n.heads[0], value_bias=nudged(n.heads[0].value_bias, (0,))), *n.heads[1:])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(NUDGES))
def test_a_weight_changed_in_the_sixth_digit_changes_the_certificate(name: str) -> None:
    """Catches weights that the budget does not look at: with eps just above the bound the changed one is not proved.

    A nudge may also help (a smaller output, say) or move the better of the two sides: then a term has to change.
    """
    task = disjoint(6)
    network = build(task, Fraction(1, 10), Form.SHARPENED, Knowledge(Fraction(3))).network
    before, after = bound(network, task), bound(NUDGES[name](network), task)
    assert budget_sides(network, task) != budget_sides(NUDGES[name](network), task)
    if after > before:
        assert isinstance(certify(network, task, (before + after) / 2).verdict, Proved)
        assert not isinstance(certify(NUDGES[name](network), task, (before + after) / 2).verdict, Proved)


def test_unreadable_networks_are_undecided_with_a_remedy() -> None:
    """Catches a budget applied where it does not hold: mixed heads, other activations, one head too few."""
    task = toy(3)
    network = build(task, Fraction(1, 10), Form.SHARPENED, Knowledge(Fraction(2))).network
    mixed = replace(network, output_weight=fractions([[1, "1/100"], [0, 1]]))
    smooth = replace(
        network, readout=Perceptron((replace(network.readout.layers[0], activation="gelu"), network.readout.layers[1]))
    )  # type: ignore[union-attr]
    for strange in (mixed, smooth):
        verdict = certify(strange, task, Fraction(3)).verdict
        assert isinstance(verdict, Undecided)
        assert "sup_error" in verdict.detail
    assert isinstance(certify(network, quadratic(3, 1, 3), Fraction(3)).verdict, Undecided)
    with pytest.raises(InvalidInput, match="seq_len"):
        certify(network, toy(4), Fraction(1, 10))
    with pytest.raises(InvalidInput, match="eps"):
        certify(network, task, Fraction(0))


def test_transcendental_tasks_are_certified() -> None:
    """Catches enclosures that do not reach the budget: exp, tanh, a product, and a curved outer map."""
    features = (
        Feature(parse_expression("1 - exp(-3*(x0 - 1/3)^2)"), (1, 2, 3)),
        Feature(parse_expression("(tanh(4*(x0 - x1)) + 1)/2"), (3, 4, 5)),
    )
    task = RetrievalTask("mixed", 2, 6, features, parse_expression("z0*z1 + exp(z1)/3"))
    eps = Fraction(1, 20)
    for form in (Form.REPAIRED, Form.SHARPENED):
        network = build(task, eps, form, Knowledge(Fraction(3), curve_of=enclosed_curve)).network
        assert isinstance(certify(network, task, eps).verdict, Proved)


def test_witness_search_proves_nothing_by_failing() -> None:
    """Catches a witness below the threshold, and a confirmation that trusts floats where scores differ."""
    task = toy(3)
    network = build(task, Fraction(1, 10), Form.SHARPENED, Knowledge(Fraction(2))).network
    assert find_witness(network, task, Fraction(1, 10)) is None
    found = confirm(network, task, fractions([[0], ["1/4"], [1]]))
    assert not found.every_beta
    assert 0 <= found.error_lower < Fraction(1, 10)


def test_published_gate_is_refuted_at_its_own_beta_where_scores_differ() -> None:
    """Catches a refutation that only works for equal scores: two features on disjoint halves, ball evaluation."""
    task = disjoint(8)
    network = build(task, Fraction(1, 10), Form.PUBLISHED, Knowledge(Fraction(3))).network
    verdict = certify(network, task, Fraction(1, 10)).verdict
    assert isinstance(verdict, Refuted)
    again = confirm(network, task, fractions(verdict.witness["sequence"]))
    assert again.error_lower >= Fraction(1, 10)


def few_outside(seq_len: int) -> RetrievalTask:
    """One feature on all positions but the last."""
    feature = Feature(parse_expression("4*(x0 - 1/2)^2"), tuple(range(1, seq_len)))
    return RetrievalTask("few outside", 1, seq_len, (feature,), parse_expression("z0"))


@pytest.mark.parametrize(("seq_len", "verdict"), [(4, Refuted), (8, Refuted), (12, Proved), (64, Proved)])
def test_the_published_gate_is_decided_where_it_errs_by_one_share(seq_len: int, verdict: type) -> None:
    """Catches a leak bounded by 1 at equal scores: with T - 1 tokens inside the error is 1/T, and so is the bound."""
    task, eps = few_outside(seq_len), Fraction(1, 10)
    report = certify(specialists(task, eps, Form.PUBLISHED).network, task, eps)
    assert isinstance(report.verdict, verdict)
    assert report.bound_upper is not None
    assert report.bound_upper >= Fraction(1, seq_len)


@pytest.mark.parametrize("outer", ["z0 + z1^2", "z0*z1", "exp(z0 - z1)", "max(z0, z1) + z0^2", "3*tanh(5*z0) + z1^3"])
@pytest.mark.parametrize("eps", [Fraction(1, 20), Fraction(1, 100)])
def test_sharpened_closes_for_curved_outer_maps(outer: str, eps: Fraction) -> None:
    """Catches a design that overshoots its own budget, and a beta larger than N3's, or far from the least one."""
    features = tuple(
        Feature(parse_expression(text), everywhere(6)) for text in ("(x0 - 1/3)^2", "1 - exp(-(x0 - 2/3)^2)")
    )
    task = RetrievalTask("curved", 1, 6, features, parse_expression(outer))
    built = specialists(task, eps, Form.SHARPENED)
    report = certify(built.network, task, eps)
    assert isinstance(report.verdict, Proved)
    assert report.bound_upper is not None
    assert report.bound_upper > eps * Fraction(9, 10)
    assert built.network.beta <= built.budget.beta


def test_softmin_errors_of_opposite_signs_do_not_add_up() -> None:
    """Catches a two-sided softmin term: for max + min half of N3's beta is enough, and no less."""
    task, eps = toy(64), Fraction(1, 20)
    built = specialists(task, eps, Form.SHARPENED)
    assert 2 * built.network.beta <= built.budget.beta + Fraction(1, 4)
    assert isinstance(certify(built.network, task, eps).verdict, Proved)
    assert closing(replace(built.network, beta=built.budget.beta), task, eps).beta == built.network.beta


def test_remedy_of_an_undecided_budget_is_true() -> None:
    """Catches a remedy that does not help: the eps it names is proved for the same network."""
    task = toy(8)
    network = specialists(task, Fraction(1, 20), Form.SHARPENED).network
    network = replace(network, beta=network.beta * Fraction(9, 10))
    verdict = certify(network, task, Fraction(1, 20)).verdict
    assert isinstance(verdict, Undecided)
    named = re.search(r"eps = ([0-9.]+) is proved", verdict.remedy)
    assert named is not None
    assert isinstance(certify(network, task, Fraction(named[1])).verdict, Proved)
