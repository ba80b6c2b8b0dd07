"""N13 built: two layers with one head each do what D heads do; run in floats, torch and balls."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from checks import balls
from constructions import specialists, token_heads
from constructions.arithmetic import FLOAT64, TorchArithmetic, fractions
from constructions.built import Built
from constructions.evaluate import attention, evaluate, target
from constructions.network import Dense, Network, Perceptron
from constructions.specialists import Knowledge
from constructions.task import Feature, RetrievalTask, everywhere, quadratic, toy
from theory.depth import token_heads_width
from theory.errors import InvalidInput
from theory.expressions import Variable
from theory.ledger import Form

BITS = 200
CASES = 500
FLOAT_TOLERANCE = 1e-9
ONE = Fraction(1)


def tokens_as_heads(task: RetrievalTask, eps: Fraction, outer_gradient_l1: Fraction = ONE) -> Built:
    return token_heads.build(task, eps, Form.PUBLISHED, Knowledge(outer_gradient_l1))


def half_and_half() -> RetrievalTask:
    """Two features, each on half of the positions."""
    x, z0, z1 = Variable("x0"), Variable("z0"), Variable("z1")
    features = (Feature((x - Fraction(1, 4)) ** 2, (1, 3)), Feature((x - Fraction(3, 4)) ** 2, (2, 4)))
    return RetrievalTask("halves", 1, 4, features, z0 - z1)


def sequences(task: RetrievalTask, number: int, seed: int) -> Any:
    """Random tokens, ties and corners: dyadic, shape (number, T, d)."""
    rng = np.random.default_rng(seed)
    free = rng.integers(0, 65, (number, task.seq_len, task.token_dim)) / 64
    free[::3] = free[::3, rng.integers(0, task.seq_len, task.seq_len)]
    free[1::5] = rng.integers(0, 2, free[1::5].shape)
    return free


@pytest.mark.parametrize("task", [toy(4), quadratic(3, 2, 4), half_and_half()], ids=lambda task: task.name)
def test_float64_torch_and_balls_agree(task: RetrievalTask) -> None:
    """Catches a layer that one arithmetic runs differently: 500 sequences, one by one in balls, in bulk elsewhere."""
    network = tokens_as_heads(task, Fraction(1, 10), Fraction(2)).network
    batch = sequences(task, CASES, 1)
    in_floats = evaluate(network, batch, FLOAT64)[..., 0]
    in_torch = evaluate(network, torch.tensor(batch), TorchArithmetic())[..., 0].numpy()
    with balls.precision(BITS):
        enclosed = [evaluate(network, balls.BALLS.asarray(tokens), balls.BALLS)[0] for tokens in batch]
    middles = np.array([float(balls.middle(ball)) for ball in enclosed])
    assert max(float(balls.radius(ball)) for ball in enclosed) < FLOAT_TOLERANCE
    assert np.abs(in_floats - middles).max() < FLOAT_TOLERANCE
    assert np.abs(in_torch - middles).max() < FLOAT_TOLERANCE


@pytest.mark.parametrize("task", [toy(5), half_and_half()], ids=lambda task: task.name)
def test_slots_are_what_the_heads_retrieve(task: RetrievalTask) -> None:
    """Catches slots in a wrong order, or a code that leaks: D times the class token's average is the heads' output."""
    heads = tokens_as_heads(task, Fraction(1, 10), Fraction(2)).part("heads", Network)
    network = token_heads.tokens_as_heads(heads, Fraction(60))  # so that the class token's leak is below e^-60
    batch, count = sequences(task, 200, 2), task.num_targets
    averaged = attention(network, batch, FLOAT64) * count
    assert np.abs(averaged - attention(heads, batch, FLOAT64)).max() < FLOAT_TOLERANCE
    assert np.abs(evaluate(network, batch, FLOAT64) - evaluate(heads, batch, FLOAT64)).max() < FLOAT_TOLERANCE


def test_the_class_token_leaks_as_stated() -> None:
    """Catches a wrong leak: at class_beta = 1 the average is z/(D + r), r = (T - D)/e, exactly."""
    heads = specialists.build(toy(6), Fraction(1, 10), Form.SHARPENED, Knowledge(Fraction(2))).network
    network = token_heads.tokens_as_heads(heads, ONE)
    batch = sequences(toy(6), 50, 3)
    shrunk = attention(heads, batch, FLOAT64) / (2 + 4 / np.e)
    assert np.abs(attention(network, batch, FLOAT64) - shrunk).max() < FLOAT_TOLERANCE
    bound = token_heads.class_leak_upper(2, 6, Fraction(np.exp(-1.0)))
    assert abs(1 - 2 / (2 + 4 / np.e) - float(bound)) < FLOAT_TOLERANCE


@pytest.mark.parametrize("task", [toy(2), quadratic(3, 2, 3), quadratic(8, 2, 16)], ids=lambda task: task.name)
def test_sizes(task: RetrievalTask) -> None:
    """Catches more than two heads or another width than 3D + 2, and attention weights other than 0 and +-1."""
    network = tokens_as_heads(task, Fraction(1, 10), Fraction(2)).network
    (layer,) = network.token_layers
    assert len(layer.heads) + network.num_heads == 2
    assert network.encoder.output_dim == layer.update.output_dim == token_heads_width(task.num_targets)
    for head in (*layer.heads, *network.heads):
        entries = {entry for array in (head.query, head.key, head.value) for entry in np.unique(array)}
        assert entries <= {-1, 0, 1}


def test_sampled_error_at_512_tokens() -> None:
    """Catches a construction that is worse than its certificate where it counts: D = 8, T = 512, random sequences and
    N1's worst ones (one token at a minimiser, all others a little away). The bound of 0.02 is proved elsewhere."""
    task = quadratic(8, 2, 512)
    network = tokens_as_heads(task, Fraction(1, 50)).network
    rng = np.random.default_rng(5)
    batch = rng.random((12, 512, 2))
    batch[:4] = batch[:4, :1] + 0.05 * rng.random((4, 512, 2)) - 0.025
    for row, spread in enumerate((0.02, 0.05, 0.1, 0.2), start=4):
        batch[row] = batch[row, :1] + spread * (rng.random((512, 2)) - 0.5)
    batch = batch.clip(0, 1)
    errors = [float(abs(evaluate(network, x, FLOAT64)[0] - target(task, x, FLOAT64))) for x in batch]
    assert max(errors) < 0.01


def test_what_it_does_not_do() -> None:
    """Catches N13 built for D > T, in another form, or from heads with two values."""
    with pytest.raises(InvalidInput, match="num_targets"):
        tokens_as_heads(quadratic(3, 2, 2), Fraction(1, 10))
    with pytest.raises(InvalidInput, match="form"):
        token_heads.build(toy(4), Fraction(1, 10), Form.SHARPENED, Knowledge(Fraction(2)))
    gated = specialists.build(toy(4), Fraction(1, 10), Form.REPAIRED, Knowledge(Fraction(2))).network
    with pytest.raises(InvalidInput, match="values, heads, tokens"):
        token_heads.tokens_as_heads(gated, ONE)
    with pytest.raises(InvalidInput, match="eps"):
        tokens_as_heads(toy(4), Fraction(0))


def test_readout_lipschitz_bound_holds() -> None:
    """Catches a bound below the steepest slope: the read-out of |z0| - 2 z1 moves by 3 for (1, -1)."""
    readout = Perceptron(
        (
            Dense(fractions([[1, 0], [-1, 0], [0, 1]]), fractions([0, 0, 5]), "relu"),
            Dense(fractions([[1, 1, -2]]), fractions([0])),
        )
    )
    assert token_heads.readout_lipschitz_upper(readout) >= 3
    double = replace(readout.layers[0], copies=(2, 2, 2))
    twice = Perceptron((double, readout.layers[1]))
    assert token_heads.readout_lipschitz_upper(twice) >= 6


def test_positions_are_those_of_the_task() -> None:
    """Catches a gate for other positions: a token off S_0 at its minimiser must not count."""
    x = Variable("x0")
    task = RetrievalTask("first", 1, 4, (Feature(x**2, (1,)), Feature((1 - x) ** 2, everywhere(4))), Variable("z0"))
    network = tokens_as_heads(task, Fraction(1, 20)).network
    tokens = np.array([[1.0], [0.0], [0.0], [0.0]])
    assert abs(evaluate(network, tokens, FLOAT64)[0] - 1.0) < 0.05
