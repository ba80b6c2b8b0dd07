"""Networks as data: shapes are checked, weights are exact and frozen, JSON loses nothing, counts are right."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.strategies import networks
from constructions import token_heads
from constructions.arithmetic import EXACT, FLOAT64
from constructions.counting import count_parameters
from constructions.evaluate import evaluate
from constructions.network import Component, Dense, Formula, Head, Network, Perceptron
from constructions.network_json import network_from_json, network_to_json
from constructions.specialists import Knowledge, build
from constructions.task import Feature, RetrievalTask, everywhere, hard_gate, toy
from theory.errors import InvalidInput
from theory.expressions import Variable
from theory.ledger import Form


def small() -> Network:
    return build(toy(3), Fraction(1, 5), Form.SHARPENED, Knowledge(Fraction(2))).network


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2).flatmap(lambda layers: networks(token_layers=layers, max_copies=layers + 1)))
def test_json_round_trip_is_exact(network: Network) -> None:
    """Catches a number written as a rounded decimal, a lost field, a transposed matrix."""
    text = json.dumps(network_to_json(network))
    again = network_from_json(json.loads(text))
    assert json.dumps(network_to_json(again)) == text
    assert again.beta == network.beta
    for head, copy in zip(network.heads, again.heads, strict=True):
        assert np.all(EXACT.asarray(head.value) == EXACT.asarray(copy.value))
    assert ("token_layers" in text) == bool(network.token_layers)  # single layers stay as the checker reads them
    assert isinstance(network.readout, Perceptron)
    assert isinstance(again.readout, Perceptron)
    assert [layer.copies for layer in network.readout.layers] == [layer.copies for layer in again.readout.layers]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seq_len": 0}, "seq_len"),
        ({"beta": Fraction(0)}, "beta"),
        ({"heads": ()}, "heads"),
        ({"token_dim": 2}, "encoder input"),
        ({"class_token": np.zeros(3)}, "head shapes"),
        ({"output_weight": np.zeros((2, 3))}, "output_weight"),
        ({"output_bias": np.zeros(3)}, "output_bias"),
        ({"readout": Perceptron((Dense(np.zeros((1, 3)), np.zeros(1)),))}, "readout input"),
        ({"seq_len": 4}, "positional bias rows"),
    ],
)
def test_inconsistent_networks_are_refused(change: dict[str, object], named: str) -> None:
    """Catches a check that was dropped: the message must name the part that does not fit."""
    with pytest.raises(InvalidInput, match=named):
        replace(small(), **change)  # type: ignore[arg-type]


def two_layers() -> Network:
    return token_heads.build(toy(3), Fraction(1, 5), Form.PUBLISHED, Knowledge(Fraction(2))).network


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"beta": Fraction(-1)}, "beta"),
        ({"heads": ()}, "heads"),
        ({"output_bias": np.zeros(3)}, "output_bias"),
        ({"update": Perceptron((Dense(np.zeros((8, 9)), np.zeros(8)),))}, "update input"),
        ({"update": Perceptron((Dense(np.zeros((7, 10)), np.zeros(7)),))}, "head shapes"),
        ({"update": Perceptron((Dense(np.zeros((8, 10)), np.zeros((4, 8))),))}, "positional bias rows"),
        ({"class_update": Perceptron((Dense(np.zeros((8, 10)), np.zeros((3, 8))),))}, "class_update"),
        ({"class_update": Perceptron((Dense(np.zeros((7, 10)), np.zeros(7)),))}, "head shapes"),
    ],
)
def test_inconsistent_token_layers_are_refused(change: dict[str, object], named: str) -> None:
    """Catches a token layer whose sizes fit neither the states before it nor the heads after it."""
    network = two_layers()
    with pytest.raises(InvalidInput, match=named):
        replace(network, token_layers=(replace(network.token_layers[0], **change),))  # type: ignore[arg-type]


@pytest.mark.parametrize("copies", [(0, 1), (1,), (1, Fraction(3, 2)), (True, 1)])
def test_numbers_of_copies_are_positive_integers(copies: tuple[object, ...]) -> None:
    """Catches half a neuron, or a row without a number."""
    with pytest.raises(InvalidInput, match="copies"):
        Dense(np.zeros((2, 1)), np.zeros(2), "relu", copies)  # type: ignore[arg-type]


def test_layers_that_do_not_compose_are_refused() -> None:
    """Catches perceptrons whose widths do not match, unknown activations and non-finite weights."""
    with pytest.raises(InvalidInput, match="layer shapes"):
        Perceptron((Dense(np.zeros((2, 1)), np.zeros(2)), Dense(np.zeros((1, 3)), np.zeros(1))))
    with pytest.raises(InvalidInput, match="activation"):
        Dense(np.zeros((1, 1)), np.zeros(1), "sine")
    with pytest.raises(InvalidInput, match="nan"):
        Dense(np.full((1, 1), np.nan), np.zeros(1))
    with pytest.raises(InvalidInput, match="variable"):
        Formula(1, (Component(Variable("x1")),))
    with pytest.raises(InvalidInput, match="shape of value"):
        Head(np.zeros((1, 1)), np.zeros((1, 2)), np.zeros((1, 3)), np.zeros(1), np.zeros(1))


def test_weights_cannot_be_changed() -> None:
    """Catches shared mutable arrays: a certified network must stay what it was."""
    weights = np.ones((1, 1))
    layer = Dense(weights, np.zeros(1))
    weights[0, 0] = 7
    assert layer.weight[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        layer.weight[0, 0] = 2


def test_counting_against_a_count_in_the_json_file() -> None:
    """Catches miscounts: the non-zero numbers of encoder and read-out, counted again in the exported file."""
    network = build(hard_gate(), Fraction(1, 20), Form.PUBLISHED, Knowledge(Fraction(1))).network
    counts, data = count_parameters(network), network_to_json(network)
    nonzero = positional = 0
    for layer in [*data["encoder"]["layers"], *data["readout"]["layers"]]:
        rows = layer["bias"] if isinstance(layer["bias"][0], list) else [layer["bias"]]
        nonzero += sum(entry != "0" for row in [*layer["weight"], rows[0]] for entry in row)
        positional += sum(entry != first for row in rows for entry, first in zip(row, rows[0], strict=True))
    assert (counts.feed_forward, counts.positional) == (nonzero, positional)
    assert counts.positional == 3  # the gate at positions 2, 3, 4
    assert counts.feed_forward < counts.feed_forward_dense


def test_copies_are_counted_one_by_one() -> None:
    """Catches a copy counted once, or only on one side: n neurons with two inputs and one output, written out."""
    rng = np.random.default_rng(4)
    weight, bias, output = rng.integers(1, 9, (2, 2)), rng.integers(1, 9, 2), rng.integers(1, 9, (1, 2))
    last = np.zeros(1)
    stored = Perceptron((Dense(weight, bias, "relu", (2, 3)), Dense(output, last)))
    rows = [0, 0, 1, 1, 1]
    written = Perceptron((Dense(weight[rows], bias[rows], "relu"), Dense(output[:, rows], last)))
    network = replace(small(), output_weight=np.eye(2), output_bias=np.zeros(2), readout=stored)
    several, all_of_them = (count_parameters(n) for n in (network, replace(network, readout=written)))
    assert (several.feed_forward, several.feed_forward_dense) == (
        all_of_them.feed_forward,
        all_of_them.feed_forward_dense,
    )
    assert several.feed_forward_stored == all_of_them.feed_forward - 12
    tokens = rng.random((3, 1))
    assert np.allclose(evaluate(network, tokens, FLOAT64), evaluate(replace(network, readout=written), tokens, FLOAT64))


def test_token_layers_are_counted() -> None:
    """Catches a layer left out: N13's layer has 3D + 2 weights that copy the state, D that hear, D biases."""
    network = two_layers()
    counts, without = count_parameters(network), count_parameters(replace(network, token_layers=()))
    assert counts.feed_forward - without.feed_forward == (3 * 2 + 2) + 2 + 2
    assert counts.attention - without.attention == 3 * 2 + 2 + 1  # query, key, value, W_O, beta


def test_formulas_have_no_parameters_to_count() -> None:
    """Catches a silent zero for encoders that are no networks."""
    formula = Formula(1, (Component(Variable("x0")), Component(1 - Variable("x0"))))
    with pytest.raises(InvalidInput, match="encoder"):
        count_parameters(replace(small(), encoder=formula))


def test_positions_are_one_based_in_tasks() -> None:
    """Catches an off-by-one between S_i (from 1) and rows of positional biases (from 0)."""
    x, z = Variable("x0"), Variable("z0")
    task = RetrievalTask("last", 1, 3, (Feature(x, (3,)),), z)
    network = build(task, Fraction(1, 5), Form.REPAIRED, Knowledge(Fraction(1))).network
    gates = network.encoder.layers[-1].bias[:, 1]  # type: ignore[union-attr]
    assert list(gates) == [-2, -2, 0]
    assert everywhere(3) == (1, 2, 3)
