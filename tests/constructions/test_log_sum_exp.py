"""N7 built: one head whose read-out takes logarithms; run in rationals, floats, torch and balls."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from checks import balls
from constructions import log_sum_exp
from constructions.arithmetic import EXACT, FLOAT64, TorchArithmetic, fractions
from constructions.built import Built
from constructions.counting import count_parameters
from constructions.evaluate import evaluate, target
from constructions.network import Perceptron
from constructions.specialists import Knowledge
from constructions.task import Feature, RetrievalTask, built_in, quadratic, toy
from theory.depth import fixed_eps_neurons_log2_upper, heaviside_units
from theory.errors import InvalidInput, NotFinite, TooLarge
from theory.expressions import Variable

BITS = 400
CASES = 500
FLOAT_TOLERANCE = 1e-9
FORMS = ("relu", "heaviside")
QUARTER = Fraction(1, 4)


def one_head(task: RetrievalTask, eps: Fraction, form: str) -> Built:
    return log_sum_exp.build(task, eps, form, Knowledge(Fraction(1)))


def weighted() -> RetrievalTask:
    """F_0 affine with a constant and coefficients of both signs; S_i of different sizes."""
    x, z0, z1 = Variable("x0"), Variable("z0"), Variable("z1")
    features = (Feature((x - QUARTER) ** 2, (1, 3, 4)), Feature(1 - x, (2, 4)))
    return RetrievalTask("weighted", 1, 4, features, Fraction(3, 2) * z0 - Fraction(1, 2) * z1 + 2)


def sequences(task: RetrievalTask, number: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    free = rng.integers(0, 65, (number, task.seq_len, task.token_dim)) / 64
    free[::3] = free[::3, rng.integers(0, task.seq_len, task.seq_len)]
    free[1::5] = rng.integers(0, 2, free[1::5].shape)
    return free


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("task", [toy(4), weighted()], ids=lambda task: task.name)
def test_rationals_float64_torch_and_balls_agree(task: RetrievalTask, form: str) -> None:
    """Catches a read-out that depends on rounding: 500 sequences, of which the rational value is exact."""
    network = one_head(task, QUARTER, form).network
    batch = sequences(task, CASES, 1)
    exact = np.array([float(evaluate(network, fractions(tokens), EXACT)[0]) for tokens in batch])
    assert np.abs(evaluate(network, batch, FLOAT64)[..., 0] - exact).max() < FLOAT_TOLERANCE
    in_torch = evaluate(network, torch.tensor(batch), TorchArithmetic())[..., 0].numpy()
    assert np.abs(in_torch - exact).max() < FLOAT_TOLERANCE
    with balls.precision(BITS):
        for tokens, value in list(zip(batch, exact, strict=True))[:50]:
            ball = evaluate(network, balls.BALLS.asarray(tokens), balls.BALLS)[0]
            assert abs(float(balls.middle(ball)) - value) < FLOAT_TOLERANCE
            assert balls.contains(ball, Fraction(evaluate(network, fractions(tokens), EXACT)[0]))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("eps", [QUARTER, Fraction(1, 10)])
@pytest.mark.parametrize("task", [toy(16), weighted(), quadratic(3, 2, 16)], ids=lambda task: task.name)
def test_error_stays_below_eps_and_is_not_tiny(task: RetrievalTask, eps: Fraction, form: str) -> None:
    """Catches a wrong shift or scale, and a beta far larger than needed: errors at equal tokens and at single ones."""
    network = one_head(task, eps, form).network
    batch = np.concatenate([sequences(task, 400, 2), np.ones((400, task.seq_len, task.token_dim))])
    rng = np.random.default_rng(3)
    batch[400:600] = rng.random((200, 1, task.token_dim))  # all tokens alike: the sum is largest
    batch[600:, rng.integers(0, task.seq_len)] = rng.random((200, task.token_dim))
    errors = np.abs(evaluate(network, batch, FLOAT64)[..., 0] - target(task, batch, FLOAT64))
    assert eps / 4 < errors.max() < eps


@pytest.mark.parametrize("task", [toy(16), weighted(), quadratic(3, 2, 16)], ids=lambda task: task.name)
def test_weights_of_the_read_out_are_at_most_one(task: RetrievalTask) -> None:
    """Catches a weight above 1 (A1.3), and copies that were not counted: N7's bound on their number holds."""
    eps = QUARTER
    built = one_head(task, eps, "relu")
    readout = built.network.readout
    assert isinstance(readout, Perceptron)
    assert max(abs(entry) for layer in readout.layers for entry in layer.weight.ravel()) <= 1
    assert max(abs(entry) for entry in readout.layers[0].bias) <= 1
    copies = readout.layers[0].copies
    assert copies is not None
    assert sum(copies) == built.design["readout_neurons"]
    counts = count_parameters(built.network)
    assert counts.feed_forward - counts.feed_forward_stored == 3 * (sum(copies) - len(copies))
    if task.name != "weighted":  # N7 is stated for F_0 = sum of the z_i; quadratic has their mean
        asked = eps * task.num_targets if task.name.startswith("quadratic") else eps
        wanted = fixed_eps_neurons_log2_upper(asked, task.seq_len, task.num_targets)
        assert math.log2(sum(copies)) < wanted


def test_heaviside_units_are_few() -> None:
    """Catches copies or a staircase longer than N7's D (ceil(D/eps) + 1), here with a little for the slack of 1/64."""
    for length in (4, 64):
        built = one_head(toy(length), QUARTER, "heaviside")
        readout = built.network.readout
        assert isinstance(readout, Perceptron)
        assert readout.layers[0].copies is None
        assert int(built.design["readout_neurons"]) <= heaviside_units(QUARTER * Fraction(63, 64), 2)


def test_copies_beyond_float64_are_said_to_be() -> None:
    """Catches an infinity that makes nan in floats: the network is exact, and floats say that they cannot run it."""
    built = one_head(built_in("synthetic(4)", 64), Fraction(1, 100), "relu")
    assert int(built.design["readout_neurons"]) > 10**308
    tokens = np.full((64, 4), 0.5)
    for arithmetic, given in ((FLOAT64, tokens), (TorchArithmetic(), torch.tensor(tokens))):
        with pytest.raises(NotFinite, match="overflow"):
            evaluate(built.network, given, arithmetic)
    exact = evaluate(built.network, fractions(tokens.astype(object)), EXACT)[0]
    assert abs(exact - target(built.task, fractions(tokens.astype(object)), EXACT)) < Fraction(1, 100)


def test_what_it_does_not_do() -> None:
    """Catches N7 built where it says nothing, and sizes that would never end."""
    x, z0 = Variable("x0"), Variable("z0")
    with pytest.raises(InvalidInput, match="affine"):
        one_head(RetrievalTask("square", 1, 4, (Feature(x, (1, 2)),), z0**2), QUARTER, "relu")
    with pytest.raises(InvalidInput, match="not constant"):
        one_head(RetrievalTask("constant", 1, 4, (Feature(x, (1, 2)),), z0 - z0 + 1), QUARTER, "relu")
    with pytest.raises(InvalidInput, match="form"):
        one_head(toy(4), QUARTER, "gelu")
    with pytest.raises(InvalidInput, match="eps"):
        one_head(toy(4), Fraction(0), "relu")
    with pytest.raises(TooLarge, match=r"standing for about 10\^"):
        one_head(built_in("synthetic(4)", 64), Fraction(1, 10**4), "relu")
