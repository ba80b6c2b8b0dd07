"""One interpreter, many arithmetics: they agree with each other and with a plain re-implementation of DEF-H."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from checks import balls
from checks.strategies import networks, tasks, token_sequences
from constructions.arithmetic import EXACT, FLOAT64, TorchArithmetic, fractions
from constructions.evaluate import attention, evaluate, read_out, target
from constructions.network import Formula, Head, Network
from constructions.specialists import Knowledge, build
from constructions.task import RetrievalTask, hard_gate, toy
from theory.errors import InexactOperation, InvalidInput, NotFinite
from theory.expressions import evaluate as evaluate_expression
from theory.ledger import Form

FLOAT_TOLERANCE = 1e-9
"""Relative to 1 + |value|; weights of the drawn networks are at most 1 and scores at most BETA_LIMIT in size."""
BETA_LIMIT = 1000
BETA_TWICE = Fraction(10)
BITS = 200
CASES = 500
NUDGE = Fraction(1, 10**9)


def random_tokens(draw: st.DataObject, network: Network) -> Any:
    entry = st.integers(0, 64).map(lambda numerator: Fraction(numerator, 64))
    rows = st.lists(st.lists(entry, min_size=network.token_dim, max_size=network.token_dim), min_size=network.seq_len)
    return fractions(draw.draw(rows)[: network.seq_len])


def in_balls(network: Network, tokens: Any) -> Any:
    with balls.precision(BITS):
        return evaluate(network, balls.BALLS.asarray(tokens), balls.BALLS)[0]


def three_ways(network: Network, tokens: Any) -> None:
    """Float64 and torch agree with the ball."""
    plain = np.asarray(tokens, dtype=np.float64)
    ball = in_balls(network, tokens)
    exact = float(balls.middle(ball))
    assert float(balls.radius(ball)) < FLOAT_TOLERANCE
    betas = [network.beta, *(layer.beta for layer in network.token_layers)]
    tolerance = FLOAT_TOLERANCE * math.prod(1 + float(beta) for beta in betas)
    for found in (
        float(evaluate(network, plain, FLOAT64)[0]),
        float(evaluate(network, torch.tensor(plain), TorchArithmetic())[0]),
    ):
        assert math.isclose(found, exact, rel_tol=FLOAT_TOLERANCE, abs_tol=tolerance)


@settings(max_examples=CASES, deadline=None)
@given(networks(), st.data())
def test_float64_torch_and_balls_agree(network: Network, data: st.DataObject) -> None:
    """Catches an operation implemented differently in one arithmetic (gelu variant, softmax axis, bias broadcast)."""
    assume(network.beta <= BETA_LIMIT)
    three_ways(network, random_tokens(data, network))


@settings(max_examples=CASES, deadline=None)
@given(networks(activations=("silu", "sigmoid"), max_copies=4), st.data())
def test_smooth_activations_and_copies_agree(network: Network, data: st.DataObject) -> None:
    """Catches silu and sigmoid swapped or evaluated at -x, and copies that are added in one arithmetic only."""
    assume(network.beta <= BETA_LIMIT)
    three_ways(network, random_tokens(data, network))


def cooled(network: Network) -> Network:
    """The same with every beta at most BETA_TWICE: errors of the first layer are multiplied by the second's beta."""
    layers = tuple(replace(layer, beta=min(layer.beta, BETA_TWICE)) for layer in network.token_layers)
    return replace(network, beta=min(network.beta, BETA_TWICE), token_layers=layers)


@settings(max_examples=CASES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks(token_layers=1, max_len=4).map(cooled), st.data())
def test_two_layers_agree(network: Network, data: st.DataObject) -> None:
    """Catches a layer whose queries and keys are exchanged in one arithmetic, or a class token that is not updated."""
    three_ways(network, random_tokens(data, network))


@settings(max_examples=CASES, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(networks(activations=("heaviside",), max_len=4), st.data())
def test_heaviside_agrees(network: Network, data: st.DataObject) -> None:
    """Catches another value than 1 at 0, or a step that depends on rounding: wherever no step is within NUDGE of being
    undecided, floats and torch agree with the ball over tokens widened by NUDGE."""
    assume(network.beta <= BETA_LIMIT)
    tokens = random_tokens(data, network)
    plain = np.asarray(tokens, dtype=np.float64)
    with balls.precision(BITS):
        try:
            ball = evaluate(network, balls.box(tokens - NUDGE, tokens + NUDGE), balls.BALLS)[0]
        except NotFinite:
            assume(False)
    for found in (
        float(evaluate(network, plain, FLOAT64)[0]),
        float(evaluate(network, torch.tensor(plain), TorchArithmetic())[0]),
    ):
        assert float(balls.lower(ball)) - FLOAT_TOLERANCE <= found <= float(balls.upper(ball)) + FLOAT_TOLERANCE


def test_heaviside_at_zero() -> None:
    """Catches 0 or 1/2 at 0, and a ball around 0 that is decided by guessing."""
    zero = np.zeros(1)
    exact = fractions([0, Fraction(-1, 10**30)])
    assert list(EXACT.heaviside(exact)) == [1, 0]
    assert FLOAT64.heaviside(zero)[0] == TorchArithmetic().heaviside(torch.zeros(1)).item() == 1.0
    assert balls.heaviside(balls.exact(0)) == 1
    with pytest.raises(NotFinite, match="heaviside"):
        balls.heaviside(balls.between(Fraction(-1, 10**30), Fraction(1, 10**30)))


@settings(max_examples=60, deadline=None)
@given(networks(activations=("heaviside", "relu"), token_layers=1), st.data())
def test_uniform_attention_is_rational(network: Network, data: st.DataObject) -> None:
    """Catches a batch axis lost in the exact arithmetic: equal scores give rational outputs, inside the ball's."""
    quiet = replace(network, heads=tuple(_without_scores(head) for head in network.heads))
    layer = quiet.token_layers[0]
    quiet = replace(quiet, token_layers=(replace(layer, heads=tuple(_without_scores(head) for head in layer.heads)),))
    tokens = random_tokens(data, quiet)
    try:
        exact = evaluate(quiet, tokens, EXACT)[0]
        ball = in_balls(quiet, tokens)
    except (InexactOperation, NotFinite):
        assume(False)
    assert balls.contains(ball, exact)


def _without_scores(head: Head) -> Head:
    return replace(head, query=0 * head.query, query_bias=0 * head.query_bias)


def by_loops(network: Network, tokens: Any) -> float:
    """DEF-H written down token by token and head by head, in Python floats."""
    activations = {
        "identity": lambda u: u,
        "relu": lambda u: max(u, 0.0),
        "tanh": math.tanh,
        "gelu": lambda u: 0.5 * u * (1 + math.erf(u / math.sqrt(2))),
        "silu": lambda u: u / (1 + math.exp(-u)),
        "sigmoid": lambda u: 1 / (1 + math.exp(-u)),
    }

    def perceptron(function: Any, values: list[float], t: int) -> list[float]:
        for layer in function.layers:
            bias = layer.bias[t] if layer.bias.ndim == 2 else layer.bias
            rows = zip(layer.weight, bias, strict=True)
            copies = layer.copies or (1,) * len(bias)
            values = [
                n
                * activations[layer.activation](sum(float(w) * v for w, v in zip(row, values, strict=True)) + float(b))
                for (row, b), n in zip(rows, copies, strict=True)
            ]
        return values

    def encode(t: int) -> list[float]:
        token = [float(entry) for entry in tokens[t]]
        if isinstance(network.encoder, Formula):
            names = {f"x{i}": np.float64(entry) for i, entry in enumerate(token)}
            return [float(evaluate_expression(c.expression, names, FLOAT64)) for c in network.encoder.components]
        return perceptron(network.encoder, token, t)

    def hear(layer: Any, asking: list[float]) -> list[float]:
        outputs: list[float] = []
        for head in layer.heads:
            key, value, query = (np.array(a, dtype=float) for a in (head.key, head.value, head.query))
            asked = query @ np.array(asking) + np.array(head.query_bias, dtype=float)
            scores = [float(layer.beta) * float(asked @ (key @ np.array(e))) for e in states]
            weights = [math.exp(s - max(scores)) for s in scores]
            mean = sum(w * (value @ np.array(e)) for w, e in zip(weights, states, strict=True)) / sum(weights)
            outputs += list(mean + np.array(head.value_bias, dtype=float))
        mixed = np.array(layer.output_weight, dtype=float) @ np.array(outputs)
        return list(mixed + np.array(layer.output_bias, dtype=float))

    states, class_state = [encode(t) for t in range(network.seq_len)], [float(c) for c in network.class_token]
    for layer in network.token_layers:
        new = [perceptron(layer.update, s + hear(layer, s), t) for t, s in enumerate(states)]
        if layer.class_update is not None:
            class_state = perceptron(layer.class_update, class_state + hear(layer, class_state), 0)
        states = new
    return perceptron(network.readout, hear(network, class_state), 0)[0]


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 2).flatmap(lambda layers: networks(token_layers=layers, max_copies=3)).map(cooled), st.data())
def test_against_a_plain_implementation(network: Network, data: st.DataObject) -> None:
    """Catches a misreading of eq 4-6 shared by all arithmetics: heads concatenated in another order, beta misplaced,
    a token that asks with another one's state, or sees states that are updated already."""
    tokens = random_tokens(data, network)
    got = float(evaluate(network, np.asarray(tokens, dtype=np.float64), FLOAT64)[0])
    tolerance = FLOAT_TOLERANCE * float(1 + network.beta) * math.prod(1 + float(x.beta) for x in network.token_layers)
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
