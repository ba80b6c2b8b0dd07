"""True certificates of every kind, made without the checker, and a second implementation of attention (mpmath).

`SecondOpinion` shares nothing with `checks.verify` or `constructions`: it reads the certificate's JSON, goes token by
token and neuron by neuron, and takes derivatives by differences. It certifies nothing; it only has to agree.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.linalg

from checks.certificates import writer
from constructions.arithmetic import EXACT, FLOAT64, fractions
from constructions.evaluate import attention, target
from constructions.network import Dense, Head, Network, Perceptron, TokenLayer
from constructions.network_json import network_to_json
from constructions.specialists import Knowledge, Specialist, build
from constructions.task import Feature, RetrievalTask, hard_gate, quadratic, toy
from theory.expression_parser import parse_expression
from theory.ledger import Form

Certificate = dict[str, Any]
DIGITS = 70
NEWTON_STEPS = 12
SMALL_RESIDUAL = mpmath.mpf(10) ** -50
MARGIN = 0.02


def number(text: str) -> mpmath.mpf:
    """The schema's exact numbers, once more."""
    mantissa, _, exponent = text.partition("p")
    top, _, bottom = mantissa.partition("/")
    return mpmath.mpf(int(top)) / int(bottom or 1) * mpmath.mpf(2) ** int(exponent or 0)


class SecondOpinion:
    """Attention outputs of a network given as JSON, maps being MLPs, by mpmath at DIGITS digits."""

    ACTIVATIONS: Mapping[str, Callable[[Any], Any]] = {
        "identity": lambda x: x,
        "relu": lambda x: max(x, mpmath.mpf(0)),
        "tanh": mpmath.tanh,
        "gelu": lambda x: x * mpmath.ncdf(x),
        "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
        "silu": lambda x: x / (1 + mpmath.exp(-x)),
    }

    def __init__(self, network: Mapping[str, Any]) -> None:
        self.network = network
        self.encode = functools.cache(self._encode)

    def table(self, data: Any) -> Any:
        return [self.table(entry) for entry in data] if isinstance(data, list) else number(data)

    def apply(self, function: Mapping[str, Any], values: list[Any], position: int) -> list[Any]:
        for dense in function["layers"]:
            bias = self.table(dense["bias"])
            row = bias[position] if isinstance(bias[0], list) else bias
            activation = self.ACTIVATIONS[dense["activation"]]
            weight = self.table(dense["weight"])
            values = [activation(mpmath.fdot(w, values) + b) for w, b in zip(weight, row, strict=True)]
        return values

    def _encode(self, position: int, token: tuple[Any, ...]) -> list[Any]:
        return self.apply(self.network["encoder"], list(token), position)

    def hear(self, layer: Mapping[str, Any], asking: list[Any], states: list[list[Any]]) -> list[Any]:
        outputs, beta = [], number(layer["beta"])
        for head in ({name: self.table(entry) for name, entry in head.items()} for head in layer["heads"]):
            query = [mpmath.fdot(row, asking) + b for row, b in zip(head["query"], head["query_bias"], strict=True)]
            weights = [mpmath.exp(beta * mpmath.fdot(query, [mpmath.fdot(k, e) for k in head["key"]])) for e in states]
            for row, b in zip(head["value"], head["value_bias"], strict=True):
                outputs.append(mpmath.fdot(weights, [mpmath.fdot(row, e) for e in states]) / mpmath.fsum(weights) + b)
        return outputs

    def mix(self, layer: Mapping[str, Any], heard: list[Any]) -> list[Any]:
        weight, bias = self.table(layer["output_weight"]), self.table(layer["output_bias"])
        return [mpmath.fdot(row, heard) + b for row, b in zip(weight, bias, strict=True)]

    def attention(self, tokens: list[tuple[Any, ...]]) -> list[Any]:
        with mpmath.workdps(DIGITS):
            states = [self.encode(t, token) for t, token in enumerate(tokens)]
            asking = self.table(self.network["class_token"])
            for layer in self.network.get("token_layers", []):
                heard = [self.mix(layer, self.hear(layer, state, states)) for state in states]
                if layer["class_update"] is not None:
                    asking = self.apply(
                        layer["class_update"], asking + self.mix(layer, self.hear(layer, asking, states)), 0
                    )
                states = [
                    self.apply(layer["update"], state + new, t)
                    for t, (state, new) in enumerate(zip(states, heard, strict=True))
                ]
            return self.hear(self.network, asking, states)

    def collide(self, sequences: list[list[tuple[Any, ...]]], free: list[tuple[int, int, int]]) -> Any:
        """Newton on the free coordinates; the sequences refined to a residual below SMALL_RESIDUAL."""
        with mpmath.workdps(DIGITS):

            def difference(pair: list[list[tuple[Any, ...]]]) -> mpmath.matrix:
                a, b = (self.attention(sequence) for sequence in pair)
                return mpmath.matrix([x - y for x, y in zip(a, b, strict=True)])

            def moved(pair: Any, steps: Any) -> Any:
                copy = [[list(token) for token in sequence] for sequence in pair]
                for (s, t, j), step in zip(free, steps, strict=True):
                    copy[s][t - 1][j] += step
                return [[tuple(token) for token in sequence] for sequence in copy]

            h = mpmath.mpf(10) ** (-DIGITS // 2)
            for _ in range(NEWTON_STEPS):
                value = difference(sequences)
                if mpmath.norm(value) < SMALL_RESIDUAL:
                    return sequences
                slopes = mpmath.matrix(len(free), len(free))
                for k in range(len(free)):
                    slopes[:, k] = (difference(moved(sequences, [h * (i == k) for i in range(len(free))])) - value) / h
                sequences = moved(sequences, mpmath.lu_solve(slopes, -value))
        return None


def random_block(
    seq_len: int, head_dims: list[int], hidden: int, activation: str, seed: int, beta: int = 1, positional: bool = False
) -> Network:
    """A random attention block with d = 1, MLP encoder and MLP read-out."""
    draw = np.random.default_rng(seed).normal
    bias = draw(size=(seq_len, hidden)) if positional else draw(size=hidden)
    encoder = Perceptron(
        (
            Dense(2 * draw(size=(hidden, 1)), bias, activation),
            Dense(draw(size=(hidden, hidden)) / hidden**0.5, 0.1 * draw(size=hidden)),
        )
    )
    heads = tuple(
        Head(
            draw(size=(n, 3)),
            draw(size=(n, hidden)) / hidden**0.5,
            draw(size=(n, hidden)) / hidden**0.5,
            draw(size=n),
            draw(size=n),
        )
        for n in head_dims
    )
    width = sum(head_dims)
    readout = Perceptron((Dense(draw(size=(4, width)), draw(size=4), "gelu"), Dense(draw(size=(1, 4)), draw(size=1))))
    return Network(seq_len, 1, encoder, draw(size=3), heads, Fraction(beta), np.eye(width), np.zeros(width), readout)


def random_deep_block(seq_len: int, hidden: int, seed: int, class_moves: bool) -> Network:
    """Two layers with one head each: states tanh(A state + B heard), read by two values of the second layer."""
    draw = np.random.default_rng(seed).normal

    def update() -> Perceptron:
        return Perceptron((Dense(draw(size=(hidden, 2 * hidden)) / hidden**0.5, draw(size=hidden), "tanh"),))

    def head(queries: int, values: int) -> Head:
        return Head(
            draw(size=(2, queries)),
            draw(size=(2, hidden)) / hidden**0.5,
            draw(size=(values, hidden)),
            draw(size=2),
            draw(size=values),
        )

    layer = TokenLayer(
        (head(hidden, 2),),
        Fraction(2),
        draw(size=(hidden, 2)),
        draw(size=hidden),
        update(),
        update() if class_moves else None,
    )
    encoder = Perceptron((Dense(2 * draw(size=(hidden, 1)), draw(size=hidden), "tanh"),))
    readout = Perceptron((Dense(draw(size=(1, 2)), draw(size=1)),))
    last = (head(hidden, 2),)
    return Network(seq_len, 1, encoder, draw(size=hidden), last, Fraction(2), np.eye(2), np.zeros(2), readout, (layer,))


def float_collision(network: Network, task: RetrievalTask, seed: int) -> tuple[list[Any], list[tuple[int, int, int]]]:
    """Two float sequences that nearly collide with different targets, and well-conditioned free coordinates."""
    draw = np.random.default_rng(seed)
    places = [(s, t, 0) for s in (0, 1) for t in range(1, network.seq_len + 1)]

    def difference(pair: Any) -> Any:
        return attention(network, pair[..., 0, :, :], FLOAT64) - attention(network, pair[..., 1, :, :], FLOAT64)

    def jacobian(pair: Any) -> Any:
        steps = 1e-6 * np.eye(pair.size).reshape(-1, *pair.shape)
        return ((difference(pair + steps) - difference(pair - steps)) / 2e-6).T

    for _ in range(400):
        pair = draw.uniform(0.1, 0.9, size=(2, network.seq_len, 1))
        for _ in range(30):
            value, slopes = difference(pair), jacobian(pair)
            step = np.linalg.lstsq(slopes, -value, rcond=None)[0].reshape(pair.shape)
            pair = pair + np.clip(step, -0.2, 0.2)
        gap = abs(target(task, pair[0], FLOAT64) - target(task, pair[1], FLOAT64))
        if abs(value).max() < 1e-9 and pair.min() > MARGIN and pair.max() < 1 - MARGIN and gap > 0.05:
            pivots = scipy.linalg.qr(jacobian(pair), pivoting=True)[2][: network.value_dim]
            return list(pair), [places[k] for k in pivots]
    raise AssertionError("no collision found: another seed is needed")


def collision(network: Network, seed: int = 1, radius: Fraction = Fraction(1, 2**80)) -> Certificate:
    """A true `collision` certificate for a block and the toy task."""
    task = toy(network.seq_len)
    pair, free = float_collision(network, task, seed)
    start = [[tuple(mpmath.mpf(float(x)) for x in token) for token in sequence] for sequence in pair]
    refined = SecondOpinion(network_to_json(network)).collide(start, free)
    assert refined is not None
    exact = [fractions([[Fraction(*mpmath.libmp.to_rational(x._mpf_)) for x in token] for token in s]) for s in refined]
    gap = abs(target(task, exact[0].astype(float), FLOAT64) - target(task, exact[1].astype(float), FLOAT64))
    return writer.collision(network, task, exact[0], exact[1], free, radius, Fraction(float(gap)) * Fraction(99, 100))


def near_collisions(network: Network, bits: Sequence[int], seed: int = 1) -> list[tuple[Any, Any, Fraction, Fraction]]:
    """Points (first, second, gap, distance) for the toy task: a refined pair cut to so many bits each.

    The distance is the second opinion's own, with two per mille of room; the block's W_O must be the identity.
    """
    task = toy(network.seq_len)
    pair, free = float_collision(network, task, seed)
    opinion = SecondOpinion(network_to_json(network))
    refined = opinion.collide([[tuple(map(mpmath.mpf, map(float, token))) for token in s] for s in pair], free)
    points = []
    for cut in bits:
        with mpmath.workdps(DIGITS):
            cutting = [[tuple(mpmath.floor(x * 2**cut) / 2**cut for x in token) for token in s] for s in refined]
            a, b = (opinion.attention(sequence) for sequence in cutting)
            distance = max(abs(x - y) for x, y in zip(a, b, strict=True)) * mpmath.mpf("1.002")
        exact = [fractions([[Fraction(*mpmath.libmp.to_rational(x._mpf_)) for x in t] for t in s]) for s in cutting]
        gap = abs(target(task, exact[0], EXACT) - target(task, exact[1], EXACT))
        points.append((exact[0], exact[1], gap, Fraction(mpmath.nstr(distance, 15))))
    return points


def counterexample() -> Certificate:
    """exp(x) < 1 + x + x^2/2 fails at x = 1/3 although 0 < x <= 1 and x = 1/3."""
    parse = parse_expression
    hypotheses = [
        (parse("0"), "<", parse("x")),
        (parse("x"), "<=", parse("1")),
        (parse("x + x"), "=", parse("2/3")),
    ]
    conclusion = (parse("exp(x)"), "<", parse("1 + x + x^2/2"))
    return writer.counterexample("TEST", "published", {"x": Fraction(1, 3)}, hypotheses, conclusion)


def made(task: RetrievalTask, eps: Fraction, form: Form, gradient: int) -> Specialist:
    """A specialist, given a bound of |grad F_0|_1."""
    return build(task, eps, form, Knowledge(Fraction(gradient)))


def specialist(task: RetrievalTask, form: Form, gradient: int) -> Network:
    """A specialist for eps = 1/20."""
    return made(task, Fraction(1, 20), form, gradient).network


def squared_minimum(seq_len: int) -> RetrievalTask:
    """The square of the least token: an outer map that is not linear."""
    feature = Feature(parse_expression("x0"), tuple(range(1, seq_len + 1)))
    return RetrievalTask("squared minimum", 1, seq_len, (feature,), parse_expression("z0^2"))


def minimum_of_two(beta: Fraction) -> tuple[Network, RetrievalTask]:
    """One covering head for the minimum of two tokens; it errs by at most W(1/e)/beta, and does so somewhere (N1)."""
    task = RetrievalTask("minimum", 1, 2, (Feature(parse_expression("x0"), (1, 2)),), parse_expression("z0"))
    return replace(specialist(task, Form.SHARPENED, 1), beta=beta), task


def hard_gate_witness(bound: Fraction = Fraction(3, 4), every_beta: bool = True) -> Certificate:
    """N2: the published gate errs by 3/4, whatever beta."""
    network = specialist(hard_gate(), Form.PUBLISHED, 1)
    witness = fractions([[0], [Fraction(1, 2)], [Fraction(1, 2)], [Fraction(1, 2)]])
    return writer.error_at_least(network, hard_gate(), bound, witness, every_beta)


def toy_budget(seq_len: int, form: Form, bound: Fraction = Fraction(1, 20)) -> Certificate:
    """The toy specialist's error from its analytic budget; its features and outer map are exact."""
    network = specialist(toy(seq_len), form, 2)
    channels = [(0, 0), (1, 0)]
    return writer.error_below_by_budget(network, toy(seq_len), bound, channels, [0, 0], 0, [1, 1], 2)


def quadratic_budget() -> Certificate:
    """A specialist with approximated features."""
    task = quadratic(2, 1, 6)
    built = build(task, Fraction(1, 20), Form.SHARPENED, Knowledge(Fraction(1)))
    delta = built.budget.delta * Fraction(101, 100)
    half = Fraction(1, 2)
    return writer.error_below_by_budget(
        built.network, task, Fraction(1, 20), [(0, 0), (1, 0)], [delta] * 2, 0, [half] * 2, 1, Fraction(1, 10**5)
    )


@pytest.fixture(scope="session")
def true_certificates() -> dict[str, Certificate]:
    """One or more true certificates of every kind, by name."""
    block = random_block(8, [2], 8, "tanh", 3, beta=2)
    return {
        "collision": collision(block),
        "two layers": collision(random_deep_block(6, 4, 2, class_moves=True)),
        "near collision": writer.near_collision(block, toy(8), *near_collisions(block, [50])[0]),
        "capacity": writer.capacity(block, toy(8), near_collisions(block, [8, 16, 40, 100])),
        "counterexample": counterexample(),
        "witness": hard_gate_witness(),
        "bisection": writer.error_below(*minimum_of_two(Fraction(10)), Fraction(3, 100)),
        "budget": toy_budget(16, Form.SHARPENED),
        "budget with gates": toy_budget(16, Form.REPAIRED),
        "budget with curved features": quadratic_budget(),
    }


@pytest.fixture(scope="session")
def examples() -> SimpleNamespace:
    """The makers of this file, for tests that vary them."""
    return SimpleNamespace(
        SecondOpinion=SecondOpinion,
        build=made,
        collision=collision,
        hard_gate_witness=hard_gate_witness,
        minimum_of_two=minimum_of_two,
        near_collisions=near_collisions,
        quadratic_budget=quadratic_budget,
        random_block=random_block,
        random_deep_block=random_deep_block,
        specialist=specialist,
        squared_minimum=squared_minimum,
        toy_budget=toy_budget,
    )
