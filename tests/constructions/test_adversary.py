"""The search for pairs that attention cannot tell apart: derivatives, relaxation, known gaps, attack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import lambertw

from constructions.adversary.attack import attack
from constructions.adversary.continuous import climb, search
from constructions.adversary.forward import FORWARD64, seeded
from constructions.adversary.pairs import PairProblem, encoded_heads, feature_table, folded, outputs_and_jacobian
from constructions.adversary.pieces import output_spans, spanning_rows
from constructions.adversary.relaxation import Relaxation
from constructions.adversary.starts import Starts
from constructions.arithmetic import FLOAT64, fractions
from constructions.evaluate import attention, evaluate, target
from constructions.network import Component, Dense, Formula, Head, Network, Perceptron, TokenLayer
from constructions.task import Feature, RetrievalTask, everywhere, toy
from theory.errors import InvalidInput
from theory.expression_parser import parse_expression
from theory.expressions import Variable

DIFFERENCE_STEP = 1e-6
DIFFERENCE_AGREEMENT = 2e-8  # central differences: step^2 times third derivatives, and rounding / step
FLOAT_AGREEMENT = 1e-12
KNOWN_GAP_AGREEMENT = 1e-5


def covering_head(seq_len: int, beta: int) -> tuple[Network, RetrievalTask]:
    """N1 as a block: score -beta x, value x; target min x."""
    x, one, zero = Variable("x0"), np.ones((1, 1)), np.zeros(1)
    head, readout = Head(one, -one, one, zero, zero), Perceptron((Dense(one, zero),))
    encoder = Formula(1, (Component(x),))
    network = Network(seq_len, 1, encoder, np.ones(1), (head,), Fraction(beta), one, zero, readout)
    return network, RetrievalTask("min", 1, seq_len, (Feature(x, everywhere(seq_len)),), Variable("z0"))


def random_block(seq_len: int, token_dim: int, heads: int, values: int, activation: str, positional: bool) -> Network:
    generator = np.random.default_rng([seq_len, token_dim, heads, values])

    def draw(*shape: int) -> Any:
        return generator.normal(size=shape)

    hidden, width = 12, 5
    bias = draw(seq_len, hidden) if positional else draw(hidden)
    encoder = Perceptron(
        (Dense(draw(hidden, token_dim) * 2, bias, activation), Dense(draw(width, hidden), draw(width)))
    )
    made = tuple(Head(draw(3, 4), draw(3, width), draw(values, width), draw(3), draw(values)) for _ in range(heads))
    readout = Perceptron((Dense(draw(6, 4), draw(6), "gelu"), Dense(draw(1, 6), draw(1))))
    return Network(
        seq_len, token_dim, encoder, draw(4), made, Fraction(1, 3), draw(4, heads * values), draw(4), readout
    )


def numerical(function: Callable[[Any], Any], tokens: Any) -> Any:
    """Central differences of function(tokens) (B, k): (B, k, T d)."""
    columns = []
    for index in np.ndindex(tokens.shape[1:]):
        step = np.zeros(tokens.shape[1:])
        step[index] = DIFFERENCE_STEP
        columns.append((function(tokens + step) - function(tokens - step)) / (2 * DIFFERENCE_STEP))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("activation", ["tanh", "gelu", "relu"])
@pytest.mark.parametrize("positional", [False, True])
def test_jacobian_of_attention(activation: str, positional: bool) -> None:
    """Would catch: a lost softmax term, a transposed direction, a wrong slope of an activation."""
    network = random_block(4, 2, 2, 3, activation, positional)
    tokens = np.random.default_rng(1).random((3, 4, 2))
    outputs, jacobian = outputs_and_jacobian(network, tokens)
    np.testing.assert_allclose(outputs, attention(network, tokens, FLOAT64), rtol=0, atol=FLOAT_AGREEMENT)
    expected = numerical(lambda x: attention(network, x, FLOAT64), tokens)
    np.testing.assert_allclose(jacobian, expected, rtol=0, atol=DIFFERENCE_AGREEMENT * np.abs(expected).max() * 10)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_jacobian_with_a_token_layer(activation: str) -> None:
    """Would catch: a softmax that forgets that scores and values of all tokens depend on every token, or queries whose
    derivative is lost."""
    plain = random_block(4, 2, 2, 3, activation, True)
    draw = np.random.default_rng(8).normal
    update = Perceptron((Dense(draw(size=(5, 7)), draw(size=5), activation),))
    told = Perceptron((Dense(draw(size=(5, 7)), draw(size=5), activation),))
    hearing = Head(draw(size=(4, 5)), draw(size=(4, 5)), draw(size=(3, 5)), draw(size=4), draw(size=3))
    layer = TokenLayer((hearing,), Fraction(1, 2), draw(size=(2, 3)), draw(size=2), update, told)
    heads = tuple(replace(head, query=draw(size=(3, 5))) for head in plain.heads)
    network = replace(plain, class_token=draw(size=5), heads=heads, token_layers=(layer,))
    tokens = np.random.default_rng(9).random((3, 4, 2))
    outputs, jacobian = outputs_and_jacobian(folded(network), tokens)
    np.testing.assert_allclose(outputs, attention(network, tokens, FLOAT64), rtol=0, atol=FLOAT_AGREEMENT)
    expected = numerical(lambda x: attention(network, x, FLOAT64), tokens)
    np.testing.assert_allclose(jacobian, expected, rtol=0, atol=DIFFERENCE_AGREEMENT * np.abs(expected).max() * 10)


def test_gradient_of_read_out_and_target() -> None:
    """Would catch: derivatives that stop at the attention layer, or minima that follow the wrong token."""
    network = random_block(5, 1, 2, 2, "tanh", False)
    tokens = np.random.default_rng(2).random((3, 5, 1))
    for function in (lambda x, a: evaluate(network, x, a)[..., 0], lambda x, a: target(toy(5), x, a)):
        dual = function(seeded(tokens, 0.0, 1.0), FORWARD64)
        expected = numerical(lambda x, f=function: f(x, FLOAT64)[..., None], tokens)[:, 0]
        np.testing.assert_allclose(dual.tangent.T, expected, rtol=0, atol=1e-6)


def test_slopes_of_the_expression_language() -> None:
    """Would catch: a wrong derivative of any operator of the language, or a minimum that mixes its branches."""
    text = "exp(x0)/(2 + x1^2) - log(1 + x0)*tanh(x1) + min(x0, x1, 1/3) + max(x0^3, x1) + abs(x0 - x1) + gelu(x0)^-1"
    task = RetrievalTask("zoo", 2, 3, (Feature(parse_expression(text), (1, 3)),), Variable("z0"))
    tokens = np.random.default_rng(3).uniform(0.2, 0.9, (2, 3, 2))
    features, slopes = feature_table(task, tokens)
    assert np.all(np.isinf(features[:, 0, 1]))
    inside = [0, 2]
    expected = numerical(lambda x: feature_table(task, x)[0][:, 0][:, inside], tokens).reshape(2, 2, 3, 2)
    for row, position in enumerate(inside):
        np.testing.assert_allclose(slopes[:, 0, position], expected[:, row, position], rtol=0, atol=1e-6)


def test_folding_keeps_the_outputs() -> None:
    """Would catch: beta applied twice or a query bias forgotten."""
    network = random_block(4, 2, 3, 2, "gelu", True)
    tokens = np.random.default_rng(4).random((2, 4, 2))
    expected = attention(network, tokens, FLOAT64)
    np.testing.assert_allclose(attention(folded(network), tokens, FLOAT64), expected, rtol=0, atol=FLOAT_AGREEMENT)
    scores, values = encoded_heads(folded(network), tokens)[1]
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    mean = (weights[..., None] * values).sum(axis=1) / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(mean, expected[:, 2:4], rtol=0, atol=FLOAT_AGREEMENT)


@pytest.mark.parametrize(("seq_len", "beta"), [(4, 2), (16, 2), (32, 2), (16, 10), (32, 10), (8, 50), (32, 50)])
def test_covering_head_reaches_the_sharp_gap(seq_len: int, beta: int) -> None:
    """N1: the largest exact gap is W((T-1)/e)/beta if beta >= 1 + W((T-1)/e). Below (beta = 2, T >= 16) the maximum of
    (T-1) y / (e^y + T-1) / beta over y = beta a is at the boundary y = beta: (T-1)/(e^beta + T-1), less than N1's.
    Would catch a search that stalls early, and any error in gap or equations that lets it pass the true maximum."""
    network, task = covering_head(seq_len, beta)
    peak = float(lambertw((seq_len - 1) / np.e).real)
    exact = peak / beta if beta >= 1 + peak else (seq_len - 1) / (np.exp(beta) + seq_len - 1)
    assert (beta >= 1 + peak) == ((seq_len, beta) not in [(16, 2), (32, 2)])
    best = search(network, task, seed=0, budget_seconds=60, starts=3)[0]
    assert best.gap == pytest.approx(exact, rel=KNOWN_GAP_AGREEMENT)
    outputs = attention(network, np.stack([best.first, best.second]), FLOAT64)
    assert abs(outputs[0, 0] - outputs[1, 0]) < 1e-9


def test_relaxation_keeps_its_promise() -> None:
    """Starts meet the equations about as well as rounding the counts allows (now and then a far token with a count
    below one is lost), and have the gap they promise. Would catch a wrong linear condition."""
    network, task = covering_head(64, 10)
    generator = np.random.default_rng(5)
    problem = PairProblem(network, task)
    relaxation = Relaxation(problem, Starts(task, generator).signs, generator)
    drawn = [solution for solution in (relaxation.draw() for _ in range(8)) if solution is not None]
    assert drawn
    outputs = np.stack([attention(network, solution.pair, FLOAT64)[:, 0] for solution in drawn])
    assert np.median(np.abs(outputs[:, 0] - outputs[:, 1])) < 0.01
    assert all(problem.merit_terms(solution.pair)[0] > solution.gap - 1e-6 for solution in drawn)


def test_climb_keeps_the_equations() -> None:
    """From two equal sequences (gap 0) the climb gains while the equations stay met. Would catch a merit that lies."""
    network, task = random_block(12, 1, 1, 2, "tanh", False), toy(12)
    generator = np.random.default_rng(6)
    problem = PairProblem(network, task)
    pair = np.repeat(generator.random((1, 12, 1)), 2, axis=0)
    gap, difference = problem.merit_terms(climb(problem, pair, generator, np.inf, 1e-3))
    assert gap > 0.1
    assert np.abs(difference).max() < 1e-6


def test_search_is_reproducible() -> None:
    """Would catch a generator that is shared or taken from the clock."""
    network, task = random_block(8, 1, 1, 2, "tanh", False), toy(8)
    runs = [search(network, task, seed=3, budget_seconds=60, starts=1) for _ in range(2)]
    assert [pair.gap for pair in runs[0]] == [pair.gap for pair in runs[1]]
    assert runs[0]


def test_search_refuses_other_sizes() -> None:
    """Would catch a shape error from deep inside."""
    with pytest.raises(InvalidInput, match="equal sizes"):
        search(covering_head(4, 2)[0], toy(5), seed=0)


def test_output_spans_on_pieces() -> None:
    """Two channels that differ by relu(x - 1/2) are one equation while no token exceeds 1/2, and two otherwise."""
    units = Dense(fractions([[1], [1]]), fractions([0, Fraction(-1, 2)]), "relu")
    encoder = Perceptron((units, Dense(fractions([[1, 0], [1, 1]]), fractions([0, 0]))))
    eye, zero = np.eye(2), np.zeros(2)
    head = Head(np.zeros((1, 1)), np.zeros((1, 2)), eye, np.zeros(1), zero)
    network = Network(
        2, 1, encoder, np.ones(1), (head,), Fraction(1), eye, zero, Perceptron((Dense(np.ones((1, 2)), np.zeros(1)),))
    )
    still = fractions(np.zeros((2, 2, 1), dtype=int).tolist())

    def rank(tokens: Any, reach: Any) -> int:
        return len(spanning_rows(output_spans(network, tokens, reach)[0], [0, 1]))

    below = fractions([[[Fraction(1, 8)], [Fraction(1, 4)]], [[Fraction(1, 3)], [Fraction(3, 8)]]])
    above = fractions([[[Fraction(1, 8)], [Fraction(3, 4)]], [[Fraction(1, 3)], [Fraction(3, 8)]]])
    assert rank(below, still) == 1
    assert rank(above, still) == 2
    assert rank(below, still + Fraction(1, 5)) == 2  # 3/8 + 1/5 passes the kink: not decided, so the value matrix


@pytest.mark.parametrize("seed", [0, 1])
def test_attack_finds_the_error_of_a_covering_head(seed: int) -> None:
    """The sup error of a covering head is W((T-1)/e)/beta at interior points. Would catch an ascent that descends."""
    network, task = covering_head(16, 10)
    found = attack(network, task, seed, budget_seconds=0.5)
    assert found.error == pytest.approx(float(lambertw(15 / np.e).real) / 10, rel=1e-3)
    error = evaluate(network, found.sequence, FLOAT64)[0] - target(task, found.sequence, FLOAT64)
    assert abs(error) == pytest.approx(found.error, abs=FLOAT_AGREEMENT)
