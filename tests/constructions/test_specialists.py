"""Specialists: the three forms have the shapes of T2.1 and N3, and do what their budgets say."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.curves import enclosed_curve
from checks.strategies import tasks, token_sequences
from constructions.arithmetic import EXACT, FLOAT64, fractions
from constructions.counting import count_parameters
from constructions.evaluate import apply_map, evaluate, target
from constructions.network import Network, Perceptron
from constructions.specialists import Knowledge, Specialist, build
from constructions.task import Feature, RetrievalTask, built_in, everywhere, hard_gate, toy
from theory.enough_heads import published
from theory.expression_parser import parse_expression
from theory.ledger import Form

FORMS = (Form.PUBLISHED, Form.REPAIRED, Form.SHARPENED)
SOUND = (Form.REPAIRED, Form.SHARPENED)
FLOAT_TOLERANCE = 1e-9
EPS = Fraction(1, 10)
GRADIENT = Fraction(9)
"""sup |grad F_0|_1 of every task of `checks.strategies.tasks` is at most this: three slopes of at most 2 (1 + 2/4)."""


def error(built: Specialist, task: RetrievalTask, tokens: Any) -> float:
    plain = np.asarray(tokens, dtype=np.float64)
    return float(np.max(np.abs(evaluate(built.network, plain, FLOAT64)[..., 0] - target(task, plain, FLOAT64))))


@pytest.mark.parametrize("form", SOUND)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_error_below_eps_on_adversarial_sequences(form: Form, data: st.DataObject) -> None:
    """Catches gates, betas or shares that are too small: ties, corners, tokens hidden outside S_i; index sets drawn."""
    task = data.draw(tasks())
    built = build(task, EPS, form, Knowledge(GRADIENT))
    assert built.budget.closes
    for _ in range(4):
        assert error(built, task, data.draw(token_sequences(task))) <= float(built.budget.total_upper) + FLOAT_TOLERANCE


def test_published_gate_errs_by_three_quarters_for_every_beta() -> None:
    """Catches a repaired construction sold as the published one: N2's sequence, exactly, whatever beta."""
    built = build(hard_gate(), EPS, Form.PUBLISHED, Knowledge(Fraction(1)))
    half = Fraction(1, 2)
    witness = fractions([[0], [half], [half], [half]])
    for beta in (Fraction(1, 1000), Fraction(1), built.network.beta, Fraction(10**9)):
        network = _with_beta(built.network, beta)
        assert abs(evaluate(network, witness, EXACT)[0] - target(hard_gate(), witness, EXACT)) == Fraction(3, 4)


def _with_beta(network: Network, beta: Fraction) -> Network:
    parts = {name: getattr(network, name) for name in network.__dataclass_fields__}
    return Network(**{**parts, "beta": beta})


def test_blocks_of_the_encoder_are_those_of_equations_11_and_12() -> None:
    """Catches swapped coordinates or signs: encoder block (Psi_i, r_i), key [-1 1], W_Q c0 = 1, value I_2, W_O = I."""
    task = RetrievalTask(
        "two", 1, 4, (Feature(parse_expression("x0"), (1, 2)), Feature(parse_expression("1 - x0"), (2, 3, 4))),
        parse_expression("z0 + z1"),
    )  # fmt: skip
    network = build(task, EPS, Form.PUBLISHED, Knowledge(Fraction(2))).network
    tokens = fractions([["1/3"], ["1/2"], ["3/4"], [1]])
    encoded = apply_map(network.encoder, tokens, EXACT)
    third = Fraction(1, 3)
    assert [list(row) for row in encoded[[0, 2]]] == [
        [third, 0, 1 - third, -1],
        [Fraction(3, 4), -1, Fraction(1, 4), 0],
    ]
    for index, head in enumerate(network.heads):
        block = [-1, 1]
        assert list(head.key[0]) == [0, 0] * index + block + [0, 0] * (1 - index)
        assert list(head.query @ network.class_token) == [1]
        assert head.value.shape == (2, 4)
    assert np.array_equal(network.output_weight, np.eye(4))
    assert np.array_equal(network.output_bias, network.class_token)


@pytest.mark.parametrize("form", FORMS)
def test_sizes_are_those_claimed(form: Form) -> None:
    """Catches extra heads or dimensions: h = D; value size 2 (published, repaired) or 1 (sharpened); layers."""
    task = built_in("quadratic(3,2)", 8)
    network = build(task, EPS, form, Knowledge(Fraction(1))).network
    assert network.num_heads == 3
    assert {head.value.shape[0] for head in network.heads} == {1 if form is Form.SHARPENED else 2}
    assert network.output_weight.shape == (network.value_dim, network.value_dim)
    assert isinstance(network.readout, Perceptron)
    assert isinstance(network.encoder, Perceptron)
    assert len(network.readout.layers) == 2
    assert len(network.encoder.layers) == (3 if form is Form.SHARPENED else 2)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_sharpened_heads_see_one_outside_their_positions(data: st.DataObject) -> None:
    """Catches a clip that leaks: u_i is exactly 1 off S_i and within [0, 1] everywhere, in rationals."""
    task = data.draw(tasks())
    network = build(task, EPS, Form.SHARPENED, Knowledge(GRADIENT)).network
    encoded = apply_map(network.encoder, data.draw(token_sequences(task)), EXACT)
    for index, feature in enumerate(task.features):
        outside = [position - 1 for position in everywhere(task.seq_len) if position not in feature.positions]
        assert all(entry == 1 for entry in encoded[outside, index])
    assert all(0 <= entry <= 1 for entry in encoded.ravel())


def test_beta_of_order_log_t_instead_of_t() -> None:
    """Catches a beta of the old order: at T = 1024 the sharpened one is at most 1/40 of the published formula's."""
    eps = Fraction(1, 20)
    sharp = build(toy(1024), eps, Form.SHARPENED, Knowledge(Fraction(2))).network.beta
    assert 40 * sharp <= published(eps, 1024, 2, Fraction(2)).beta


def test_feature_width_grows_like_the_inverse_root_of_eps() -> None:
    """Catches a wrong exponent in T2.1-M: gamma = 1/2 for quadratic features, within 0.05."""
    task = built_in("quadratic(1,1)", 4)
    sizes = [Fraction(1, 4**k * 10) for k in range(1, 6)]
    counts = [
        count_parameters(build(task, eps, Form.SHARPENED, Knowledge(Fraction(1))).network).feed_forward for eps in sizes
    ]
    slope = np.polyfit(np.log([float(1 / eps) for eps in sizes[1:]]), np.log(counts[1:]), 1)[0]
    assert abs(slope - 0.5) < 0.05


def test_features_beyond_the_unit_interval_are_squeezed_back() -> None:
    """Catches Psi outside [0,1] (T2.1-10 needs it): a product of two variables, whose interpolant overshoots."""
    task = RetrievalTask("product", 2, 2, (Feature(parse_expression("x0*(1 - x1)"), (1, 2)),), parse_expression("z0"))
    built = build(task, EPS, Form.REPAIRED, Knowledge(Fraction(1)))
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 101), np.linspace(0, 1, 101)), axis=-1).reshape(-1, 1, 2)
    tokens = np.concatenate([grid, grid], axis=1)
    psi = apply_map(built.network.encoder, tokens, FLOAT64)[..., 0]
    assert psi.min() >= -FLOAT_TOLERANCE
    assert psi.max() <= 1 + FLOAT_TOLERANCE
    truth = grid[..., 0] * (1 - grid[..., 1])
    assert np.abs(psi - truth).max() <= float(built.budget.delta) + FLOAT_TOLERANCE


def test_transcendental_task() -> None:
    """Catches enclosures that do not reach the construction: exp, tanh and a product, with partial index sets."""
    features = (
        Feature(parse_expression("1 - exp(-3*(x0 - 1/3)^2)"), (1, 2, 3)),
        Feature(parse_expression("(tanh(4*(x0 - x1)) + 1)/2"), (3, 4, 5)),
    )
    task = RetrievalTask("mixed", 2, 6, features, parse_expression("z0*z1 + exp(z1)/3"))
    built = build(task, EPS, Form.SHARPENED, Knowledge(Fraction(3), curve_of=enclosed_curve))
    tokens = np.random.default_rng(3).random((20_000, 6, 2)).round(1)
    assert 0.001 < error(built, task, tokens) < float(EPS)
