"""The property-testing kit: every property says no to a model that lacks it and yes to one that has it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import properties, strategies
from checks.model_constraints import check_constraints, rescaling_cost
from checks.properties import PropertyFailed
from constructions import to_torch
from constructions.arithmetic import FLOAT64, fractions
from constructions.evaluate import evaluate, target
from constructions.network import Dense, Network, Perceptron
from constructions.specialists import Knowledge, build
from constructions.task import RetrievalTask, hard_gate, quadratic, toy
from theory.errors import InvalidInput
from theory.expression_parser import parse_expression
from theory.expressions import evaluate as evaluate_expression
from theory.ledger import Form, Refuted

EPS = Fraction(1, 10)
ROUNDING_PER_BETA = Fraction(1, 10**11)
"""What float64 may lose for each unit of beta: scores are beta times numbers of order 1, each off by a few 2^-53."""
SEARCH = settings(max_examples=1000, deadline=None, database=None, report_multiple_bugs=False, derandomize=True)
FEW = settings(max_examples=40, deadline=None)


def gated_head(task: RetrievalTask, gate: float) -> Any:
    """T2.1's head in plain numpy."""
    feature, off = task.features[0], np.ones(task.seq_len)
    off[[t - 1 for t in feature.positions]] = 0.0

    def head(tokens: Any) -> Any:
        values = evaluate_expression(feature.expression, {"x0": tokens[:, 0]}, FLOAT64)
        scores = 1e6 * (-values - gate * off)
        weights = np.exp(scores - scores.max())
        return (weights * values).sum() / weights.sum()

    return head


def search(gate: float) -> None:
    @SEARCH
    @given(st.data())
    def look(data: st.DataObject) -> None:
        drawn = data.draw(strategies.tasks(max_targets=1, max_dim=1))
        task = replace(drawn, outer=parse_expression("z0"))
        tokens = data.draw(strategies.token_sequences(task))
        properties.approximates(gated_head(task, gate), task, tokens, EPS)

    look()


def test_the_published_gate_is_found_and_shrunk() -> None:
    """Catches strategies that miss N2's counterexample, or leave it large."""
    with pytest.raises(PropertyFailed) as caught:
        search(1.0)
    assert caught.value.case["task"].seq_len <= 4
    assert len(caught.value.case["tokens"]) <= 4


def test_gate_two_passes_the_same_search() -> None:
    """Catches a property that fails for a right construction (N2: gate 2 is enough)."""
    search(2.0)


def specialists(seq_len: int = 4) -> tuple[Network, RetrievalTask]:
    task = quadratic(2, 1, seq_len)
    return build(task, EPS, Form.SHARPENED, Knowledge(Fraction(1))).network, task


@FEW
@given(st.data())
def test_a_certified_network_has_the_properties(data: st.DataObject) -> None:
    """Catches a property that a proved network does not pass, as a Network or as a torch module."""
    network, task = specialists()
    tokens = data.draw(strategies.token_sequences(task))
    for model in (network, to_torch(network), lambda x: evaluate(network, x, FLOAT64)):
        properties.approximates(model, task, tokens, EPS)
    properties.permutation_invariant(network, tokens, data.draw(strategies.symmetries(task)))
    properties.arithmetics_agree(network, tokens, ROUNDING_PER_BETA * network.beta)


def test_a_network_that_errs_is_refuted_exactly() -> None:
    """Catches an error of exactly eps that counts as below eps, and a proof that rounds."""
    network = build(hard_gate(), Fraction(1, 20), Form.PUBLISHED, Knowledge(Fraction(1))).network
    tokens = fractions([[0], ["1/2"], ["1/2"], ["1/2"]])
    assert properties.distance_lower(network, hard_gate(), tokens) == Fraction(3, 4)
    with pytest.raises(PropertyFailed):
        properties.approximates(network, hard_gate(), tokens, Fraction(3, 4))
    properties.approximates(network, hard_gate(), tokens, Fraction(3, 4) + Fraction(1, 10**9))


def test_an_order_that_matters_is_noticed() -> None:
    """Catches a comparison of a model with itself on the same order."""
    tokens = fractions([[0], [1], ["1/2"], ["1/2"]])
    with pytest.raises(PropertyFailed, match="permuting"):
        properties.permutation_invariant(lambda x: x[0, 0], tokens, [1, 0, 2, 3])
    properties.permutation_invariant(lambda x: x.sum(), tokens, [1, 0, 2, 3])


@FEW
@given(strategies.tasks(max_dim=1), st.data())
def test_symmetries_are_those_of_the_target(task: RetrievalTask, data: st.DataObject) -> None:
    """Catches an order that takes a token out of its S_i."""
    order = data.draw(strategies.symmetries(task))
    assert sorted(order) == list(range(task.seq_len))
    tokens = data.draw(strategies.token_sequences(task)).astype(float)
    assert float(target(task, tokens, FLOAT64)) == float(target(task, tokens[order], FLOAT64))


def test_positions_outside_that_matter_are_noticed() -> None:
    """Catches replacing the listed positions instead of the others."""
    tokens, replaced = fractions([[0], [0]]), fractions([[1], [1]])
    properties.ignores_positions_outside(lambda x: x[0, 0], tokens, replaced, [1], Fraction(0))
    with pytest.raises(PropertyFailed, match="outside"):
        properties.ignores_positions_outside(lambda x: x[1, 0], tokens, replaced, [1], Fraction(1, 2))


def softmin(values: Any, beta: float) -> Any:
    weights = np.exp(-beta * (values - values.min()))
    return (weights * values).sum() / weights.sum()


@settings(max_examples=200, deadline=None)
@given(st.lists(strategies.unit_fractions(), min_size=1, max_size=8), strategies.inverse_temperatures())
def test_the_gibbs_mean_keeps_n1(values: list[Fraction], beta: Fraction) -> None:
    """Catches a bound that the true soft minimum violates."""
    properties.softmin_gap_within(softmin, values, beta)


def test_other_soft_minima_do_not() -> None:
    """Catches a bound that nothing violates: log-sum-exp lies below, half the temperature too far above."""
    values = [Fraction(0), *[Fraction(1, 2)] * 7]
    below = lambda a, beta: -np.log(np.exp(-beta * a).sum()) / beta  # noqa: E731
    with pytest.raises(PropertyFailed):
        properties.softmin_gap_within(below, values, Fraction(4))
    with pytest.raises(PropertyFailed):
        properties.softmin_gap_within(lambda a, beta: softmin(a, beta / 2), values, Fraction(4))
    with pytest.raises(InvalidInput):
        properties.softmin_gap_within(softmin, [Fraction(2)], Fraction(1))


def test_a_falling_model_is_not_monotone() -> None:
    """Catches the wrong direction."""
    low, high = fractions([[0]]), fractions([["1/2"]])
    properties.monotone(lambda x: x.sum(), low, high)
    with pytest.raises(PropertyFailed, match="falls"):
        properties.monotone(lambda x: -x.sum(), low, high)
    with pytest.raises(InvalidInput):
        properties.monotone(lambda x: x.sum(), high, low)


def test_arithmetics_that_disagree_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a check that compares an arithmetic with itself."""
    network, _ = specialists()
    tokens = fractions([["1/3"]] * 4)
    monkeypatch.setattr(properties, "_torch_values", lambda network, tokens: [0.0])
    with pytest.raises(PropertyFailed, match="torch"):
        properties.arithmetics_agree(network, tokens, ROUNDING_PER_BETA)


def test_models_with_many_outputs_are_refused() -> None:
    """Catches a silent choice of the first output."""
    with pytest.raises(InvalidInput, match="3 numbers"):
        properties.approximates(lambda x: np.zeros(3), toy(2), fractions([[0], [1]]), EPS)


@FEW
@given(st.data())
def test_blocks_satisfy_a1(data: st.DataObject) -> None:
    """Catches a weight above 1 or an encoder that leaves the unit ball, in float64 and in the line-by-line check."""
    network = data.draw(strategies.blocks(3, 1, data.draw(st.integers(1, 2)), data.draw(st.integers(1, 3))))
    lines = {(line.id, line.what): line.verdict for line in check_constraints(network)}
    assert not [line for line, verdict in lines.items() if isinstance(verdict, Refuted)]
    tokens = data.draw(st.integers(0, 2**16).map(lambda seed: np.random.default_rng(seed).random((3, 1))))
    hidden = np.tanh(tokens @ network.encoder.layers[0].weight.T + network.encoder.layers[0].bias)  # type: ignore[union-attr]
    encoded = hidden @ network.encoder.layers[1].weight.T  # type: ignore[union-attr]
    assert np.all(np.linalg.norm(encoded, axis=1) <= 1)


def test_rescaling_to_a1_is_counted_right() -> None:
    """Catches copies counted without the encoder's factor: the rescaled network is built here and meets A1."""
    network = build(toy(4), EPS, Form.SHARPENED, Knowledge(Fraction(2))).network
    first, second = network.readout.layers  # type: ignore[union-attr]
    grown = replace(network, readout=Perceptron((Dense(first.weight * 3, first.bias * 3, "relu"), second)))
    cost = rescaling_cost(grown)
    assert cost is not None
    assert cost.neurons_before == 1
    reach = max(abs(3 * entry) for entry in first.weight.flat) * cost.factor
    bias = abs(3 * first.bias[0] + (1 - cost.factor) * sum(3 * first.weight[0] * network.output_bias))
    assert cost.neurons == -(-max(reach, bias) * abs(second.weight[0, 0]) // 1)
    assert cost.beta == cost.factor * network.beta


@FEW
@given(strategies.gates(), strategies.encoders(2, 3, seq_len=4))
def test_gates_and_encoders_are_within_their_domains(gate: Fraction, encoder: Any) -> None:
    """Catches a negative gate and an encoder of the wrong size."""
    assert 0 <= gate <= 4
    assert (encoder.input_dim, encoder.output_dim) == (2, 3)


def test_torch_modules_in_single_precision_are_taken() -> None:
    """Catches tokens of another dtype than the module's."""
    network, task = specialists()
    properties.approximates(to_torch(network, torch.float32), task, fractions([["1/4"]] * 4), EPS)
