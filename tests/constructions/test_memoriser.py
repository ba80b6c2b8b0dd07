"""The memorising head in three forms: one function in every arithmetic, sizes as promised, refusals at once."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import torch

from checks import balls
from constructions import memoriser, to_torch
from constructions.arithmetic import EXACT, FLOAT64, fractions
from constructions.built import Built
from constructions.counting import count_parameters
from constructions.deep_relu import dense_parameters, nonzero_parameters
from constructions.evaluate import evaluate, target
from constructions.network import Perceptron
from constructions.specialists import Knowledge
from constructions.task import Feature, RetrievalTask, quadratic, toy
from theory import memorisation as sizes
from theory.errors import InvalidInput, TooLarge
from theory.expressions import Variable, variables

TENTH, QUARTER = Fraction(1, 10), Fraction(1, 4)
CASES = 500
FLOAT_TOLERANCE = 1e-12
EXPONENT_TOLERANCE = 0.05
FORMS = ("five", "seven", "deep")


def product_task() -> RetrievalTask:
    """Index sets of two sizes and an outer map that is curved: L_0 = 2."""
    x, y = variables("x", 2)
    z0, z1 = variables("z", 2)
    features = (Feature((x - Fraction(1, 4)) ** 2, (1, 3, 5)), Feature((x + y) * Fraction(1, 2), (2, 3, 4, 5)))
    return RetrievalTask("product", 2, 5, features, z0 * z1 + z1 * Fraction(1, 4))


def made(form: str, task: RetrievalTask, eps: Fraction = TENTH) -> Built:
    return memoriser.build(task, eps, form, Knowledge(Fraction(9, 4)))


@pytest.mark.parametrize("form", FORMS)
def test_three_arithmetics_agree_on_500_sequences(form: str) -> None:
    """Catches an evaluator that treats sparse layers, positions or merged biases differently, on ties and corners too;
    and a network that is not near its target: the exact value is within eps."""
    task = product_task()
    network = made(form, task, QUARTER).network
    rng = np.random.default_rng(5)
    grid = rng.integers(0, 17, (CASES, 5, 2))
    grid[:100] = 16 * rng.integers(0, 2, (100, 5, 2))
    grid[100:150] = grid[100:150, :1]
    exact = evaluate(network, fractions(grid) / 16, EXACT)[:, 0]
    floats = evaluate(network, grid / 16, FLOAT64)[:, 0]
    assert np.abs(floats - exact.astype(float)).max() < FLOAT_TOLERANCE
    tensor = to_torch(network)(torch.from_numpy(grid / 16)).detach().numpy()[:, 0]
    assert np.abs(tensor - floats).max() < FLOAT_TOLERANCE
    assert max(np.abs(exact - target(task, fractions(grid) / 16, EXACT))) < QUARTER
    with balls.precision(128):
        ball = evaluate(network, balls.BALLS.asarray(fractions(grid[0]) / 16), balls.BALLS)[0]
        assert balls.contains(ball, exact[0])


@pytest.mark.parametrize(("form", "layers"), [("five", 5), ("seven", 7), ("deep", sizes.tournament_depth(6) + 2)])
def test_layers_are_those_of_the_form(form: str, layers: int) -> None:
    """Catches a merge that is forgotten or one too many; deep: ceil(log2 T) + 3 layers."""
    network = made(form, quadratic(2, 2, 6)).network
    assert isinstance(network.readout, Perceptron)
    assert len(network.readout.layers) == layers
    assert all(layer.activation == "relu" for layer in network.readout.layers[:-1])


def test_sizes_grow_as_proved() -> None:
    """Catches weights that are multiplied where they should add up: with gamma = 1/2 the exponents of 1/eps are
    1 + gamma (five), 2 (five, dense), max(1, gamma) (seven), gamma (deep)."""
    small, wide = quadratic(1, 1, 2), quadratic(1, 2, 3)

    def exponent(form: str, task: RetrievalTask, few: int, many: int, count: Callable[[Perceptron], int]) -> float:
        readouts = [made(form, task, Fraction(1, number)).network.readout for number in (few, many)]
        found = [count(readout) for readout in readouts if isinstance(readout, Perceptron)]
        return float(np.log(found[1] / found[0]) / np.log(many / few))

    assert abs(exponent("five", wide, 200, 1600, nonzero_parameters) - 1.5) < EXPONENT_TOLERANCE
    assert abs(exponent("five", small, 300, 5000, dense_parameters) - 2) < EXPONENT_TOLERANCE
    assert abs(exponent("seven", small, 50, 1000, nonzero_parameters) - 1) < EXPONENT_TOLERANCE
    assert abs(exponent("deep", wide, 10_000, 1_000_000, nonzero_parameters) - 0.5) < EXPONENT_TOLERANCE


def test_the_counts_are_those_of_the_parts() -> None:
    """Catches counting that overlooks sparse layers: encoder and read-out, non-zero."""
    network = made("five", quadratic(2, 1, 8)).network
    assert isinstance(network.encoder, Perceptron)
    assert isinstance(network.readout, Perceptron)
    first_position = network.encoder.layers[0].bias[0]
    encoder = 8 + np.count_nonzero(first_position)
    assert count_parameters(network).feed_forward == nonzero_parameters(network.readout) + encoder


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("task", "eps"), [(quadratic(3, 2, 16), Fraction(1, 50)), (toy(64), Fraction(1, 50))])
def test_the_predicted_size_is_near_the_size(
    form: str, task: RetrievalTask, eps: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a refusal by a prediction that is far from the truth: within a quarter for every form."""
    weights = made(form, task, eps).design["non-zero weights of the read-out"]
    monkeypatch.setattr(memoriser, "MOST_WEIGHTS", 1)
    with pytest.raises(TooLarge) as refusal:
        made(form, task, eps)
    predicted = re.search(r"predicted ([0-9.e+]+)", str(refusal.value))
    assert predicted is not None
    assert isinstance(weights, int)
    assert abs(float(predicted.group(1)) - weights) < weights / 4


def test_what_is_too_large_is_refused_at_once() -> None:
    """Catches a command that runs for hours: the predicted size is named within seconds, and the deep form is made."""
    task, eps = quadratic(3, 2, 64), Fraction(1, 2000)
    start = time.process_time()
    with pytest.raises(TooLarge, match="predicted"):
        made("five", task, eps)
    assert time.process_time() - start < 10
    assert made("deep", task, eps).network.num_heads == 1


def test_minima_are_as_wide_as_their_index_sets() -> None:
    """Catches one minimum for all sizes: parts are named by |S_i|, and recompose to the network."""
    built = made("five", product_task())
    assert memoriser.support_sizes(built.task) == [3, 4]
    assert built.part("minimum of 3", Perceptron).input_dim == 3
    assert memoriser.assemble(built).readout.output_dim == 1  # type: ignore[union-attr]


def test_bad_requests_are_named() -> None:
    """Catches an unknown form or accuracy that ends in a traceback; a constant target needs no step at all."""
    with pytest.raises(InvalidInput, match="form"):
        made("six", toy(4))
    with pytest.raises(InvalidInput, match="eps"):
        made("five", toy(4), Fraction(0))
    constant = RetrievalTask("constant", 1, 3, (Feature(Variable("x0"), (1, 2)),), 0 * Variable("z0") + 1)
    built = memoriser.build(constant, TENTH, "five", Knowledge(Fraction(0)))
    assert built.design["steps of the largest staircase"] == 1
