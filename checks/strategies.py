"""Hypothesis strategies for the objects of the paper: sequences, tasks, networks, expressions. Public: test your own
constructions with them.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5, database=None, derandomize=True)
    ... @given(tasks())
    ... def every_position_exists(task):
    ...     assert all(position <= task.seq_len for feature in task.features for position in feature.positions)
    >>> every_position_exists()
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from constructions.arithmetic import FLOAT64, ExactArray, fractions
from constructions.network import Component, Dense, Formula, Head, Map, Network, Perceptron, TokenLayer
from constructions.task import Feature, RetrievalTask, everywhere
from theory.errors import InvalidInput
from theory.expressions import Call, Expression, Number, apply, evaluate, variables

GRID_BITS = 10
VIOLATIONS = ("A2.1", "A2.2", "A2.3", "A2.4", "DEF-D.range", "DEF-D.support")
"""Hypotheses that `violating_tasks` can break."""
LARGEST_BETA = 10**6
MOST_TOLD = 256
"""At most this many tokens are taken from the numbers that a task's features mention."""


def unit_fractions() -> st.SearchStrategy[Fraction]:
    """Rationals in [0, 1]: the ends, dyadics, simple fractions, and values next to an end."""
    dyadic = st.integers(0, 2**GRID_BITS).map(lambda numerator: Fraction(numerator, 2**GRID_BITS))
    simple = st.integers(1, 60).flatmap(lambda q: st.integers(0, q).map(lambda p: Fraction(p, q)))
    tiny = st.integers(20, 200).map(lambda bits: Fraction(1, 2**bits))
    return st.one_of(st.sampled_from([Fraction(0), Fraction(1)]), dyadic, simple, tiny, tiny.map(lambda x: 1 - x))


def token_sequences(task: RetrievalTask, special: Sequence[Sequence[Fraction]] = ()) -> st.SearchStrategy[ExactArray]:
    """Sequences as exact arrays, shape (T, d), made to be hard: free ones, few distinct tokens (ties), nearly equal
    tokens (near ties), all tokens equal, and sequences with one token on some S_i and another one off it, where it
    must not count. Coordinates that the features mention (minimisers, kinks), their ends and ``special`` are frequent.
    """
    told = [tuple(map(Fraction, point)) for point in [*_told_tokens(task), *special]]
    one = st.one_of(st.sampled_from(told), st.tuples(*[unit_fractions()] * task.token_dim))
    free = st.lists(one, min_size=task.seq_len, max_size=task.seq_len)
    tied = st.lists(one, min_size=1, max_size=3).flatmap(
        lambda few: st.lists(st.sampled_from(few), min_size=task.seq_len, max_size=task.seq_len)
    )
    near = st.tuples(
        tied, st.integers(8, 60), st.lists(st.integers(-1, 1), min_size=task.seq_len, max_size=task.seq_len)
    ).map(_shaken)
    equal = one.map(lambda token: [token] * task.seq_len)
    hidden = st.sampled_from(task.features).flatmap(lambda feature: _hidden(task, feature, told, one))
    return st.one_of(hidden, equal, tied, free, near).map(fractions)


def _told_tokens(task: RetrievalTask) -> list[tuple[Fraction, ...]]:
    """Tokens with coordinates that the features mention (sizes up to 1 of their numbers: minimisers, kinks), 0 or 1."""
    found, open_parts = {Fraction(0), Fraction(1)}, [feature.expression for feature in task.features]
    while open_parts:
        part = open_parts.pop()
        if isinstance(part, Number):
            found.add(abs(part.value))
        elif isinstance(part, Call):
            open_parts.extend(part.arguments)
    numbers = sorted(number for number in found if number <= 1)
    return list(itertools.islice(itertools.product(numbers, repeat=task.token_dim), MOST_TOLD))


def _hidden(
    task: RetrievalTask,
    feature: Feature,
    told: Sequence[tuple[Fraction, ...]],
    one: st.SearchStrategy[tuple[Fraction, ...]],
) -> st.SearchStrategy[list[tuple[Fraction, ...]]]:
    """One token on S_i and another one off it, often those of the largest and of the least value among ``told``."""
    columns = np.array(told, dtype=np.float64).T
    values = evaluate(feature.expression, {f"x{axis}": x for axis, x in enumerate(columns)}, FLOAT64) + 0 * columns[0]
    order = np.argsort(values, kind="stable")
    inside, outside = (st.one_of(st.just(told[place]), one) for place in (order[-1], order[0]))
    return st.tuples(inside, outside).map(lambda drawn: _outside(task, feature, *drawn))


def _shaken(drawn: tuple[list[tuple[Fraction, ...]], int, list[int]]) -> list[tuple[Fraction, ...]]:
    """Each token moved by 2^-bits, up or down or not at all, within the cube."""
    tokens, bits, signs = drawn
    step = Fraction(1, 2**bits)
    shifted = zip(tokens, signs, strict=True)
    return [
        tuple(min(max(entry + sign * step, Fraction(0)), Fraction(1)) for entry in token) for token, sign in shifted
    ]


def symmetries(task: RetrievalTask) -> st.SearchStrategy[list[int]]:
    """Orders of the tokens (old places, from 0) that map every S_i to itself: the target does not notice them."""
    kinds: dict[tuple[bool, ...], list[int]] = {}
    supports = [set(feature.positions) for feature in task.features]
    for place in range(task.seq_len):
        kinds.setdefault(tuple(place + 1 in support for support in supports), []).append(place)

    def join(parts: tuple[list[int], ...]) -> list[int]:
        order = list(range(task.seq_len))
        for group, shuffled in zip(kinds.values(), parts, strict=True):
            for place, old in zip(group, shuffled, strict=True):
                order[place] = old
        return order

    return st.tuples(*[st.permutations(group) for group in kinds.values()]).map(join)


def gates() -> st.SearchStrategy[Fraction]:
    """What a gate subtracts from scores off S_i: 1 as published, a little more or less, 2 and others up to 4 (N2)."""
    near = st.integers(1, 40).flatmap(
        lambda bits: st.sampled_from([-1, 1]).map(lambda sign: 1 + Fraction(sign, 2**bits))
    )
    return st.one_of(
        st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(2)]), near, unit_fractions().map(lambda x: 4 * x)
    )


def _outside(
    task: RetrievalTask, feature: Feature, inside: tuple[Fraction, ...], outside: tuple[Fraction, ...]
) -> list[tuple[Fraction, ...]]:
    listed = set(feature.positions)
    return [inside if position in listed else outside for position in range(1, task.seq_len + 1)]


def inverse_temperatures() -> st.SearchStrategy[Fraction]:
    """beta from 1/1000 to 10^6, spread over the orders of magnitude."""
    return st.tuples(st.integers(1, 999), st.integers(-5, 3)).map(
        lambda drawn: min(Fraction(drawn[0]) * Fraction(10) ** drawn[1], Fraction(LARGEST_BETA))
    )


def expressions(prefix: str, count: int, smooth: bool = False, max_leaves: int = 8) -> st.SearchStrategy[Expression]:
    """Expressions with a value everywhere on the cube; ``smooth`` leaves out relu, abs, min and max.

    Quotients have divisors ``1 + u^2``, logarithms arguments ``1 + u^2``, exponentials arguments ``tanh(u)``.
    """
    leaves: st.SearchStrategy[Expression] = st.one_of(
        st.sampled_from(variables(prefix, count)), st.integers(-6, 6).map(lambda n: Number(Fraction(n, 3)))
    )

    def extend(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        pairs = st.tuples(inner, inner)
        options = [
            pairs.map(lambda ab: ab[0] + ab[1]),
            pairs.map(lambda ab: ab[0] - ab[1]),
            pairs.map(lambda ab: ab[0] * ab[1]),
            pairs.map(lambda ab: ab[0] / (1 + ab[1] ** 2)),
            st.tuples(inner, st.integers(0, 4)).map(lambda drawn: drawn[0] ** drawn[1]),
            inner.map(lambda a: -a),
            inner.map(lambda a: apply("tanh", a)),
            inner.map(lambda a: apply("gelu", a)),
            inner.map(lambda a: apply("exp", apply("tanh", a))),
            inner.map(lambda a: apply("log", 1 + a**2)),
        ]
        if not smooth:
            options += [inner.map(lambda a: apply("relu", a)), inner.map(lambda a: apply("abs", a))]
            options += [st.lists(inner, min_size=1, max_size=3).map(lambda ab: Call("min", tuple(ab)))]
            options += [st.lists(inner, min_size=1, max_size=3).map(lambda ab: Call("max", tuple(ab)))]
        return st.one_of(options)

    return st.recursive(leaves, extend, max_leaves=max_leaves)


@st.composite
def tasks(draw: st.DrawFn, max_targets: int = 3, max_dim: int = 2, max_len: int = 12) -> RetrievalTask:
    """Tasks that satisfy every hypothesis of DEF-D and A2: quadratic features with distinct rational minimisers, many
    of them with all of [0, 1] as their range."""
    dimension, count = draw(st.integers(1, max_dim)), draw(st.integers(1, max_targets))
    length = draw(st.integers(1, max_len))
    grid = st.integers(1, 7).map(lambda numerator: Fraction(numerator, 8))
    centres = draw(st.lists(st.tuples(*[grid] * dimension), min_size=count, max_size=count, unique=True))
    features = tuple(_bowl(draw, centre, length) for centre in centres)
    outer: Expression = Number(draw(unit_fractions()))
    for variable in variables("z", count):
        slope = draw(st.sampled_from([Fraction(-2), Fraction(-1, 3), Fraction(1, 2), Fraction(1)]))
        outer = outer + slope * (variable + draw(st.sampled_from([Fraction(0), Fraction(1, 4)])) * variable**2)
    return RetrievalTask("drawn", dimension, length, features, outer)


def _bowl(draw: st.DrawFn, centre: Sequence[Fraction], length: int) -> Feature:
    weights = [draw(st.sampled_from([Fraction(1, 2), Fraction(1)])) for _ in centre]
    squares = [w * (x - c) ** 2 for w, x, c in zip(weights, variables("x", len(centre)), centre, strict=True)]
    far = sum((w * max(c, 1 - c) ** 2 for w, c in zip(weights, map(Fraction, centre), strict=True)), Fraction(0))
    lift, scale = draw(st.sampled_from([(Fraction(0), 1 / far), (Fraction(1, 4), Fraction(1, 2 * len(centre)))]))
    scaled = Call("+", tuple(squares)) * scale + lift
    least = -(-length // 4)
    size = draw(st.integers(least, length))
    return Feature(scaled, tuple(sorted(draw(st.permutations(everywhere(length)))[:size])))


@st.composite
def violating_tasks(draw: st.DrawFn, hypothesis: str) -> RetrievalTask:
    """Tasks in which one hypothesis, named by its id, is broken (see `VIOLATIONS`)."""
    if hypothesis not in VIOLATIONS:
        raise InvalidInput.about("hypothesis", hypothesis, f"one of {', '.join(VIOLATIONS)}", "another id")
    task = draw(tasks().filter(lambda drawn: drawn.seq_len > 4))
    index = draw(st.integers(0, task.num_targets - 1))
    features, outer = list(task.features), task.outer
    chosen = features[index]
    x = variables("x", task.token_dim)
    moved: Mapping[str, Expression] = {
        "A2.1": _flattened(x),
        "A2.2": chosen.expression * Fraction(1, 2),
        "A2.3": Call("+", tuple(x)) * Fraction(1, len(x)),
        "DEF-D.range": chosen.expression + 2,
    }
    if hypothesis == "A2.2":
        features.append(Feature(moved[hypothesis], chosen.positions))
        outer = outer + variables("z", len(features))[-1]
    elif hypothesis == "A2.4":
        features.append(Feature(_away(x), everywhere(task.seq_len)))  # its z occurs nowhere in the outer map
    elif hypothesis == "DEF-D.support":
        features[index] = Feature(chosen.expression, chosen.positions[:1])
    else:
        features[index] = Feature(moved[hypothesis], chosen.positions)
    return RetrievalTask(f"breaks {hypothesis}", task.token_dim, task.seq_len, tuple(features), outer)


def _flattened(x: Sequence[Expression]) -> Expression:
    """Two minimisers of equal value, 1/4 and 3/4 along the first axis."""
    return 16 * ((x[0] - Fraction(1, 4)) * (x[0] - Fraction(3, 4))) ** 2


def _away(x: Sequence[Expression]) -> Expression:
    """A bowl with its minimiser off the grid of `tasks`."""
    squares = [(entry - Fraction(1, 3)) ** 2 for entry in x]
    return Call("+", tuple(squares)) * Fraction(1, len(x))


@st.composite
def networks(
    draw: st.DrawFn,
    max_len: int = 6,
    max_dim: int = 2,
    max_heads: int = 3,
    activations: Sequence[str] = ("relu", "gelu", "tanh"),
    token_layers: int = 0,
    max_copies: int = 1,
) -> Network:
    """Small networks with dyadic weights: encoders as formulas or perceptrons, any beta, so many token layers.

    With token layers, the class token takes part in some of them, and updates may depend on the position; with
    ``max_copies`` above 1, hidden neurons may stand for several.
    """
    length, dimension = draw(st.integers(1, max_len)), draw(st.integers(1, max_dim))
    width, token = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    maps = _Maps(draw, activations, max_copies)
    encoder: Map = maps.perceptron(dimension, width) if draw(st.booleans()) else _formula(draw, dimension, width)
    listens = token_layers > 0 and draw(st.booleans())
    token = width if listens else token
    layers = tuple(_token_layer(draw, maps, width, length, max_heads, listens) for _ in range(token_layers))
    heads = tuple(_head(draw, token, width) for _ in range(draw(st.integers(1, max_heads))))
    mixed, values = draw(st.integers(1, 3)), sum(head.value.shape[0] for head in heads)
    return Network(
        length,
        dimension,
        encoder,
        _matrix(draw, 1, token)[0],
        heads,
        draw(inverse_temperatures()),
        _matrix(draw, mixed, values),
        _matrix(draw, 1, mixed)[0],
        maps.perceptron(mixed, 1),
        layers,
    )


@st.composite
def encoders(draw: st.DrawFn, token_dim: int, width: int, seq_len: int | None = None) -> Map:
    """Token encoders R^d -> R^width: formulas, or two layers; given ``seq_len`` the bias may depend on the position."""
    if draw(st.booleans()):
        return _formula(draw, token_dim, width)
    positions = seq_len if seq_len is not None and draw(st.booleans()) else None
    return _Maps(draw, ("relu", "gelu", "tanh"), 1).perceptron(token_dim, width, positions)


@st.composite
def blocks(draw: st.DrawFn, seq_len: int, token_dim: int, num_heads: int, head_dim: int) -> Network:
    """Models that satisfy A1: |P|_2 <= 1, all weights of heads and read-out in [-1, 1], a two-layer tanh or ReLU
    read-out. T2.2, N4 and N8 speak about them."""
    width = num_heads * head_dim
    first = Dense(_matrix(draw, width, token_dim), _matrix(draw, seq_len, width), "tanh")
    encoder = Perceptron((first, Dense(np.eye(width) / 2 ** width.bit_length(), np.zeros(width))))

    def draw_matrix() -> ExactArray:
        return _matrix(draw, head_dim, width)

    heads = tuple(
        Head(draw_matrix(), draw_matrix(), draw_matrix(), np.zeros(head_dim), np.zeros(head_dim))
        for _ in range(num_heads)
    )
    token = _matrix(draw, 1, width)[0]
    readout = _Maps(draw, ("relu", "tanh"), 1).perceptron(width, 1)
    beta = draw(inverse_temperatures())
    return Network(seq_len, token_dim, encoder, token, heads, beta, _matrix(draw, width, width), token, readout)


def _head(draw: st.DrawFn, asking: int, width: int) -> Head:
    query, value = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    return Head(
        _matrix(draw, query, asking),
        _matrix(draw, query, width),
        _matrix(draw, value, width),
        _matrix(draw, 1, query)[0],
        _matrix(draw, 1, value)[0],
    )


def _token_layer(draw: st.DrawFn, maps: _Maps, width: int, length: int, max_heads: int, listens: bool) -> TokenLayer:
    heads = tuple(_head(draw, width, width) for _ in range(draw(st.integers(1, max_heads))))
    mixed, values = draw(st.integers(1, 2)), sum(head.value.shape[0] for head in heads)
    return TokenLayer(
        heads,
        draw(inverse_temperatures()),
        _matrix(draw, mixed, values),
        _matrix(draw, 1, mixed)[0],
        maps.perceptron(width + mixed, width, length if draw(st.booleans()) else None),
        maps.perceptron(width + mixed, width) if listens and draw(st.booleans()) else None,
    )


@dataclass(frozen=True)
class _Maps:
    draw: st.DrawFn
    activations: Sequence[str]
    max_copies: int

    def perceptron(self, inputs: int, outputs: int, positions: int | None = None) -> Perceptron:
        """Two layers; with ``positions`` the first one's bias has a row for each."""
        draw, hidden = self.draw, self.draw(st.integers(1, 3))
        activation = draw(st.sampled_from(list(self.activations)))
        bias = _matrix(draw, positions or 1, hidden)
        copies = tuple(draw(st.integers(1, self.max_copies)) for _ in range(hidden)) if self.max_copies > 1 else None
        first = Dense(_matrix(draw, hidden, inputs), bias if positions else bias[0], activation, copies)
        return Perceptron((first, Dense(_matrix(draw, outputs, hidden), _matrix(draw, 1, outputs)[0])))


def _matrix(draw: st.DrawFn, rows: int, columns: int) -> ExactArray:
    entries = draw(st.lists(st.integers(-8, 8), min_size=rows * columns, max_size=rows * columns))
    array: Any = np.array(entries, dtype=np.float64).reshape(rows, columns) / 8
    return np.asarray(array)


def _formula(draw: st.DrawFn, inputs: int, outputs: int) -> Formula:
    return Formula(inputs, tuple(Component(draw(expressions("x", inputs, max_leaves=3))) for _ in range(outputs)))
