"""One interpreter, many arithmetics: they agree with each other and with a plain re-implementation of DEF-H."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from checks import balls
from checks.strategies import networks, tasks, token_sequences
from constructions.arithmetic import EXACT, FLOAT64, TorchArithmetic, fractions
from constructions.evaluate import attention, evaluate, read_out, target
from constructions.network import Formula, Network
from constructions.specialists import Knowledge, build
from constructions.task import RetrievalTask, hard_gate, toy
from theory.errors import InexactOperation, InvalidInput
from theory.expressions import evaluate as evaluate_expression
from theory.ledger import Form

FLOAT_TOLERANCE = 1e-9
"""Relative to 1 + |value|; weights of the drawn networks are at most 1 and scores at most BETA_LIMIT in size."""
BETA_LIMIT = 1000
BITS = 200


def random_tokens(draw: st.DataObject, network: Network) -> Any:
    entry = st.integers(0, 64).map(lambda numerator: Fraction(numerator, 64))
    rows = st.lists(st.lists(entry, min_size=network.token_dim, max_size=network.token_dim), min_size=network.seq_len)
    return fractions(draw.draw(rows)[: network.seq_len])


def in_balls(network: Network, tokens: Any) -> Any:
    with balls.precision(BITS):
        return evaluate(network, balls.BALLS.asarray(tokens), balls.BALLS)[0]


@settings(max_examples=120, deadline=None)
@given(networks(), st.data())
def test_float64_torch_and_balls_agree(network: Network, data: st.DataObject) -> None:
    """Catches an operation implemented differently in one arithmetic (gelu variant, softmax axis, bias broadcast)."""
    assume(network.beta <= BETA_LIMIT)
    tokens = random_tokens(data, network)
    plain = np.asarray(tokens, dtype=np.float64)
    ball = in_balls(network, tokens)
    exact = float(balls.middle(ball))
    assert float(balls.radius(ball)) < FLOAT_TOLERANCE
    in_floats = float(evaluate(network, plain, FLOAT64)[0])
    in_torch = float(evaluate(network, torch.tensor(plain), TorchArithmetic())[0])
    assert math.isclose(in_floats, exact, rel_tol=FLOAT_TOLERANCE, abs_tol=FLOAT_TOLERANCE * float(1 + network.beta))
    assert math.isclose(in_torch, exact, rel_tol=FLOAT_TOLERANCE, abs_tol=FLOAT_TOLERANCE * float(1 + network.beta))


def by_loops(network: Network, tokens: Any) -> float:
    """DEF-H written down token by token and head by head, in Python floats."""
    activations = {
        "identity": lambda u: u,
        "relu": lambda u: max(u, 0.0),
        "tanh": math.tanh,
        "gelu": lambda u: 0.5 * u * (1 + math.erf(u / math.sqrt(2))),
    }

    def perceptron(function: Any, values: list[float], t: int) -> list[float]:
        for layer in function.layers:
            bias = layer.bias[t] if layer.bias.ndim == 2 else layer.bias
            rows = zip(layer.weight, bias, strict=True)
            values = [
                activations[layer.activation](sum(float(w) * v for w, v in zip(row, values, strict=True)) + float(b))
                for row, b in rows
            ]
        return values

    def encode(t: int) -> list[float]:
        token = [float(entry) for entry in tokens[t]]
        if isinstance(network.encoder, Formula):
            names = {f"x{i}": np.float64(entry) for i, entry in enumerate(token)}
            return [float(evaluate_expression(c.expression, names, FLOAT64)) for c in network.encoder.components]
        return perceptron(network.encoder, token, t)

    encoded = [np.array(encode(t)) for t in range(network.seq_len)]
    class_token = np.array(network.class_token, dtype=float)
    outputs: list[float] = []
    for head in network.heads:
        key, value, query = (np.array(a, dtype=float) for a in (head.key, head.value, head.query))
        asked = query @ class_token + np.array(head.query_bias, dtype=float)
        scores = [float(network.beta) * float(asked @ (key @ e)) for e in encoded]
        weights = [math.exp(s - max(scores)) for s in scores]
        mean = sum(w * (value @ e) for w, e in zip(weights, encoded, strict=True)) / sum(weights)
        outputs += list(mean + np.array(head.value_bias, dtype=float))
    mixed = np.array(network.output_weight, dtype=float) @ np.array(outputs) + np.array(
        network.output_bias, dtype=float
    )
    return perceptron(network.readout, list(mixed), 0)[0]


@settings(max_examples=120, deadline=None)
@given(networks(), st.data())
def test_against_a_plain_implementation(network: Network, data: st.DataObject) -> None:
    """Catches a misreading of eq 4-6 shared by all arithmetics: heads concatenated in another order, beta misplaced."""
    assume(network.beta <= BETA_LIMIT)
    tokens = random_tokens(data, network)
    got = float(evaluate(network, np.asarray(tokens, dtype=np.float64), FLOAT64)[0])
    tolerance = FLOAT_TOLERANCE * float(1 + network.beta)
    assert math.isclose(got, by_loops(network, tokens), rel_tol=FLOAT_TOLERANCE, abs_tol=tolerance)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_target_against_sorting(data: st.DataObject) -> None:
    """Catches minima over wrong positions: each zbar recomputed in rationals, one token at a time."""
    task = data.draw(tasks())
    tokens = data.draw(token_sequences(task))
    minima = {}
    for index, feature in enumerate(task.features):
        values = []
        for position in feature.positions:
            names = {f"x{axis}": tokens[position - 1][axis] for axis in range(task.token_dim)}
            values.append(evaluate_expression(feature.expression, names, EXACT))
        minima[f"z{index}"] = sorted(values)[0]
    assert target(task, tokens, EXACT) == evaluate_expression(task.outer, minima, EXACT)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_batches_equal_single_sequences(data: st.DataObject) -> None:
    """Catches a sum or minimum over the batch axis."""
    network = data.draw(networks())
    batch = np.asarray([[random_tokens(data, network) for _ in range(2)] for _ in range(3)], dtype=np.float64)
    together = evaluate(network, batch, FLOAT64)
    assert together.shape == (3, 2, 1)
    for place in np.ndindex(3, 2):
        # BLAS may sum a batch in another order than one sequence.
        alone = evaluate(network, batch[place], FLOAT64)
        assert np.allclose(together[place], alone, rtol=FLOAT_TOLERANCE, atol=FLOAT_TOLERANCE * float(1 + network.beta))


def test_exact_softmax_only_where_it_is_rational() -> None:
    """Catches a float hidden in the exact arithmetic: N2's counterexample is exactly 1/4, other inputs are refused."""
    network = build(hard_gate(), Fraction(1, 20), Form.PUBLISHED, Knowledge(Fraction(1))).network
    half = Fraction(1, 2)
    witness = fractions([[0], [half], [half], [half]])
    assert list(evaluate(network, witness, EXACT)) == [Fraction(1, 4)]
    assert target(hard_gate(), witness, EXACT) == 1
    with pytest.raises(InexactOperation):
        evaluate(network, fractions([[0], [half], [0], [half]]), EXACT)


def test_read_out_after_attention_is_evaluate() -> None:
    """Catches a class token added twice or not at all between attention and read-out (DEF-H adds it once)."""
    network = build(toy(4), Fraction(1, 20), Form.REPAIRED, Knowledge(Fraction(2))).network
    tokens = np.random.default_rng(5).random((7, 4, 1))
    twice = read_out(network, attention(network, tokens, FLOAT64), FLOAT64)
    assert np.array_equal(twice, evaluate(network, tokens, FLOAT64))


def test_gradients_flow_through_torch() -> None:
    """Catches a detour through numpy: the derivative of the output by the tokens equals the difference quotient."""
    network = build(toy(3), Fraction(1, 5), Form.SHARPENED, Knowledge(Fraction(2))).network
    tokens = torch.tensor([[0.2], [0.5], [0.7]], dtype=torch.float64, requires_grad=True)
    evaluate(network, tokens, TorchArithmetic())[0].backward()
    step, start = 1e-6, tokens.detach().numpy()
    assert tokens.grad is not None
    for t in range(3):
        shift = np.zeros((3, 1))
        shift[t] = step
        ends = [float(evaluate(network, start + sign * shift, FLOAT64)[0]) for sign in (1, -1)]
        assert abs((ends[0] - ends[1]) / (2 * step) - float(tokens.grad[t, 0])) < 1e-6


def test_wrong_shapes_are_named() -> None:
    """Catches silent broadcasting of sequences of another length or dimension."""
    network = build(toy(3), Fraction(1, 5), Form.SHARPENED, Knowledge(Fraction(2))).network
    with pytest.raises(InvalidInput, match=r"tokens\.shape"):
        evaluate(network, np.zeros((4, 1)), FLOAT64)
    task: RetrievalTask = toy(3)
    with pytest.raises(InvalidInput, match=r"tokens\.shape"):
        target(task, np.zeros((3, 2)), FLOAT64)
