"""Branch and bound: brackets errors that are known exactly, agrees with sampling, and can say no."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import balls
from checks.boxes import Boxes
from checks.budget import budget_terms, certify
from checks.design import specialists
from checks.retrieval import softmin_gap_upper
from checks.strategies import networks, tasks, token_sequences
from checks.sup_error import decide_below, error_on, interchangeable_pairs, sequences, sup_error
from constructions.arithmetic import EXACT, FLOAT64, fractions
from constructions.evaluate import evaluate, target
from constructions.network import Dense, Network, Perceptron
from constructions.specialists import Knowledge, build
from constructions.task import Feature, RetrievalTask, built_in, everywhere, hard_gate, quadratic, toy
from theory.errors import InvalidInput
from theory.expression_parser import parse_expression
from theory.ledger import Form, Proved, Refuted, Undecided

FLOAT_TOLERANCE = 1e-9
EPS = Fraction(1, 20)
TIGHT = Fraction(1, 50)
GRADIENT = Fraction(9)
"""At least sup |grad F_0|_1 for every task of `checks.strategies.tasks`."""
MOST_DRAWN = 8


def minimum(seq_len: int, beta: Fraction) -> tuple[Network, RetrievalTask]:
    """One covering head for the minimum of T numbers: its sup error is W((T-1)/e)/beta exactly (N1)."""
    feature = Feature(parse_expression("x0"), everywhere(seq_len))
    task = RetrievalTask("minimum", 1, seq_len, (feature,), parse_expression("z0"))
    network = build(task, Fraction(1, 2), Form.SHARPENED, Knowledge(Fraction(1))).network
    return replace(network, beta=beta), task


@pytest.mark.parametrize("seq_len", [2, 3, 4])
@pytest.mark.parametrize("beta", [Fraction(4), Fraction(25)])
def test_one_covering_head_has_the_error_of_n1(seq_len: int, beta: Fraction) -> None:
    """Catches an unsound bound on either side: the true supremum is known in closed form and is attained."""
    network, task = minimum(seq_len, beta)
    found = sup_error(network, task, TIGHT)
    assert found.lower <= softmin_gap_upper(seq_len, beta) <= found.upper * (1 + FLOAT_TOLERANCE)
    assert found.upper <= (1 + 2 * TIGHT) * found.lower


@pytest.mark.parametrize("seq_len", [2, 3])
def test_acceptance_toy(seq_len: int) -> None:
    """Catches a search that is not practical: toy at T = 2 and 3, eps = 0.05, sharpened, is confirmed."""
    network = build(toy(seq_len), EPS, Form.SHARPENED, Knowledge(Fraction(2))).network
    assert isinstance(decide_below(network, toy(seq_len), EPS), Proved)


def test_published_gate_is_refuted_and_bracketed() -> None:
    """Catches a search that cannot say no: hard_gate, published: the sup error is 3/4, at corners and ties."""
    network = build(hard_gate(), EPS, Form.PUBLISHED, Knowledge(Fraction(1))).network
    verdict = decide_below(network, hard_gate(), EPS)
    assert isinstance(verdict, Refuted)
    found = sup_error(network, hard_gate(), Fraction(1, 10))
    assert found.lower <= Fraction(3, 4) <= found.upper
    at = evaluate(network, np.asarray(found.sequence, dtype=float), FLOAT64) - target(
        hard_gate(), np.asarray(found.sequence, dtype=float), FLOAT64
    )
    assert abs(abs(float(at[0])) - float(found.lower)) < 1e-6


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_boxes_contain_all_errors_and_centres(data: st.DataObject) -> None:
    """Catches an unsound range, slope or centre in any operation: random networks and tasks on random boxes.

    The mean-value theorem is checked too: differences between sequences of a box stay within the slopes.
    """
    network = data.draw(networks(max_len=4))
    positions = data.draw(st.sets(st.integers(1, network.seq_len), min_size=1).map(lambda some: tuple(sorted(some))))
    features = (
        Feature(parse_expression("(x0 - 1/3)^2"), positions),
        Feature(parse_expression("1 - exp(-abs(x0 - 1/2))"), everywhere(network.seq_len)),
    )
    outer = parse_expression(data.draw(st.sampled_from(["z0 - 2*z1", "z0*z1 + tanh(z1)", "max(z0, z1) - z0^2"])))
    task = RetrievalTask("drawn", network.token_dim, network.seq_len, features, outer)
    draw = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    ends = draw.integers(0, 65, size=(2, 3, task.seq_len, task.token_dim)) / 64
    low, high = ends.min(axis=0), ends.max(axis=0)
    found = error_on(network, task, sequences(low, high))
    scale = FLOAT_TOLERANCE * (1 + float(network.beta))
    centre = values(network, task, (low + high) / 2)
    assert np.all((found.centre.lo <= centre + scale) & (centre - scale <= found.centre.hi))
    for _ in range(5):
        tokens = low + (high - low) * draw.integers(0, 5, size=low.shape) / 4
        error = values(network, task, tokens)
        assert np.all((found.range.lo <= error + scale) & (error - scale <= found.range.hi))
        reach = (found.slope.magnitude * np.abs(tokens - (low + high) / 2).reshape(3, -1).T).sum(axis=0)
        assert np.all(np.abs(error - centre) <= reach + scale)


def values(network: Network, task: RetrievalTask, tokens: Any) -> Any:
    return evaluate(network, tokens, FLOAT64)[..., 0] - target(task, tokens, FLOAT64)


def test_random_network_against_dense_sampling() -> None:
    """Catches boxes lost in the bookkeeping (collapsing, sorting, dropping), for a network with nothing special."""
    draw = np.random.default_rng(11)
    task = quadratic(2, 1, 2)
    template = build(task, EPS, Form.SHARPENED, Knowledge(Fraction(1))).network
    layers = (
        Dense(draw.normal(size=(4, 1)) * 3, draw.normal(size=(2, 4)), "tanh"),
        Dense(draw.normal(size=(2, 4)), np.zeros(2)),
    )
    readout = Perceptron(
        (Dense(draw.normal(size=(3, 2)), draw.normal(size=3), "gelu"), Dense(draw.normal(size=(1, 3)), np.zeros(1)))
    )
    network = replace(template, encoder=Perceptron(layers), readout=readout)
    found = sup_error(network, task, Fraction(1, 20), most_boxes=4000)
    axis = np.linspace(0, 1, 301)
    tokens = np.stack(np.meshgrid(axis, axis), axis=-1)[..., None]
    sampled = np.abs(values(network, task, tokens)).max()
    assert float(found.lower) * 0.95 <= sampled <= float(found.upper) + FLOAT_TOLERANCE


def test_interchangeable_positions_are_found_exactly() -> None:
    """Catches a symmetry that is not one: a positional bias or an index set tells positions apart."""
    network = build(toy(3), EPS, Form.SHARPENED, Knowledge(Fraction(2))).network
    assert interchangeable_pairs(network, toy(3)) == [(0, 1), (1, 2)]
    uneven = RetrievalTask("uneven", 1, 3, (replace(toy(3).features[0], positions=(1, 3)),), parse_expression("z0"))
    gated = build(uneven, EPS, Form.REPAIRED, Knowledge(Fraction(1))).network
    assert interchangeable_pairs(gated, uneven) == [(0, 2)]
    layers = list(network.encoder.layers)  # type: ignore[union-attr]
    moved = np.array(EXACT.asarray(layers[1].bias))
    moved[2, 0] += Fraction(1, 1000)
    layers[1] = replace(layers[1], bias=moved)
    assert interchangeable_pairs(replace(network, encoder=Perceptron(tuple(layers))), toy(3)) == [(0, 1)]


def test_a_defect_in_unsorted_sequences_only_is_found() -> None:
    """Catches sorting where it is not allowed: the error sits where the first token is the larger one."""
    network, task = minimum(2, Fraction(30))
    layers = list(network.encoder.layers)  # type: ignore[union-attr]
    shifted = np.array(EXACT.asarray(layers[1].bias))
    shifted[1, 0] -= Fraction(1, 2)  # position 2 sees min(1, x + 1/2)
    layers[1] = replace(layers[1], bias=shifted)
    broken = replace(network, encoder=Perceptron(tuple(layers)))
    found = sup_error(broken, task, Fraction(1, 20))
    assert found.lower > Fraction(2, 5)
    assert found.sequence[0, 0] > found.sequence[1, 0]


def test_limits_give_undecided_never_proved() -> None:
    """Catches a bound reported after the search was cut short: few boxes leave a wide, honest bracket."""
    network = build(toy(3), EPS, Form.SHARPENED, Knowledge(Fraction(2))).network
    few = sup_error(network, toy(3), most_boxes=1)
    many = sup_error(network, toy(3), most_boxes=20_000)
    assert few.lower <= many.upper
    assert many.upper < few.upper
    between = (many.upper + few.upper) / 2
    assert isinstance(decide_below(network, toy(3), between, most_boxes=1), Undecided)
    assert isinstance(decide_below(network, toy(3), between), Proved)


def test_wrong_sizes_are_named() -> None:
    """Catches silent broadcasting, and searches that cannot end."""
    network = build(toy(3), EPS, Form.SHARPENED, Knowledge(Fraction(2))).network
    with pytest.raises(InvalidInput, match="seq_len"):
        sup_error(network, toy(2))
    long = build(toy(65), EPS, Form.SHARPENED, Knowledge(Fraction(2))).network
    with pytest.raises(InvalidInput, match="d T"):
        sup_error(long, toy(65))


def test_agrees_with_the_budget_on_exact_points() -> None:
    """Catches disagreement between the two certificates: lower <= true error in balls <= both uppers."""
    task = quadratic(2, 1, 3)
    network = build(task, EPS, Form.SHARPENED, Knowledge(Fraction(1))).network
    found, report = sup_error(network, task, most_boxes=20_000), certify(network, task, EPS)
    with balls.precision(128):
        tokens = balls.BALLS.asarray(fractions(found.sequence))
        error = balls.absolute(evaluate(network, tokens, balls.BALLS)[0] - target(task, tokens, balls.BALLS))
        assert found.lower <= balls.upper(error)
        assert report.bound_upper is not None
        assert balls.lower(error) <= min(report.bound_upper, found.upper)
    assert isinstance(error_on(network, task, sequences(np.zeros((1, 3, 1)), np.ones((1, 3, 1)))).range, Boxes)


@pytest.mark.parametrize("form", [Form.REPAIRED, Form.SHARPENED])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_sampling_below_branch_and_bound_below_budget(form: Form, data: st.DataObject) -> None:
    """Catches an end that is wrong on ties, corners, minimisers, equal tokens, tokens off S: drawn tasks, few boxes."""
    task = data.draw(tasks().filter(lambda drawn: drawn.seq_len * drawn.token_dim <= MOST_DRAWN))
    network = build(task, Fraction(1, 5), form, Knowledge(GRADIENT)).network
    found = sup_error(network, task, most_boxes=100)
    budget = sum((term.value_upper for term in budget_terms(network, task)), Fraction(0))
    assert found.lower <= min(budget, found.upper)
    for _ in range(4):
        tokens = np.asarray(data.draw(token_sequences(task)), dtype=np.float64)
        assert abs(float(values(network, task, tokens))) <= float(min(budget, found.upper)) + FLOAT_TOLERANCE


@pytest.mark.parametrize(
    ("name", "seq_len"),
    [("toy", 3), ("toy", 4), ("synthetic(1)", 4), ("synthetic(2)", 2), ("quadratic(2,1)", 3), ("quadratic(3,2)", 2)],
)
def test_budgets_of_few_coordinates_are_not_vacuous(name: str, seq_len: int) -> None:
    """Catches a budget more than four times the true error, and a search that does not reach below the budget."""
    task = built_in(name, seq_len)
    network = specialists(task, EPS, Form.SHARPENED).network
    found = sup_error(network, task, most_boxes=20_000)
    budget = sum((term.value_upper for term in budget_terms(network, task)), Fraction(0))
    assert found.upper <= budget * (1 + Fraction(1, 10**6))
    assert budget <= 2 * found.lower


def test_max_plus_min_of_two_tokens_is_exact() -> None:
    """Catches a claim that budgets are tight everywhere: softmax and softmin of two tokens add up to x(1) + x(2).

    The weights of the two heads are swapped, so the error is 0 at every beta and no quarter of the budget is reached.
    """
    network = specialists(toy(2), EPS, Form.SHARPENED).network
    tokens = np.random.default_rng(5).random((1000, 2, 1))
    assert np.abs(values(network, toy(2), tokens)).max() < FLOAT_TOLERANCE
