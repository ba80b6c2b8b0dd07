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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from constructions.arithmetic import ExactArray, fractions
from constructions.network import Component, Dense, Formula, Head, Map, Network, Perceptron, TokenLayer
from constructions.task import Feature, RetrievalTask, everywhere
from theory.errors import InvalidInput
from theory.expressions import Call, Expression, Number, apply, variables

GRID_BITS = 10
VIOLATIONS = ("A2.1", "A2.2", "A2.3", "A2.4", "DEF-D.range", "DEF-D.support")
"""Hypotheses that `violating_tasks` can break."""
LARGEST_BETA = 10**6


def unit_fractions() -> st.SearchStrategy[Fraction]:
    """Rationals in [0, 1]: the ends, dyadics, simple fractions, and values next to an end."""
    dyadic = st.integers(0, 2**GRID_BITS).map(lambda numerator: Fraction(numerator, 2**GRID_BITS))
    simple = st.integers(1, 60).flatmap(lambda q: st.integers(0, q).map(lambda p: Fraction(p, q)))
    tiny = st.integers(20, 200).map(lambda bits: Fraction(1, 2**bits))
    return st.one_of(st.sampled_from([Fraction(0), Fraction(1)]), dyadic, simple, tiny, tiny.map(lambda x: 1 - x))


def tokens(token_dim: int, special: Sequence[Sequence[Fraction]] = ()) -> st.SearchStrategy[tuple[Fraction, ...]]:
    """One token of the cube; ``special`` points (minimisers, say) are drawn often."""
    plain = st.tuples(*[unit_fractions() for _ in range(token_dim)])
    return st.one_of(st.sampled_from([tuple(point) for point in special]), plain) if special else plain


def token_sequences(task: RetrievalTask, special: Sequence[Sequence[Fraction]] = ()) -> st.SearchStrategy[ExactArray]:
    """Sequences as exact arrays, shape (T, d): free ones, few distinct tokens (ties), all tokens equal, and sequences
    with a special token only at positions outside one S_i, where it must not count.
    """
    one = tokens(task.token_dim, special)
    free = st.lists(one, min_size=task.seq_len, max_size=task.seq_len)
    tied = st.lists(one, min_size=1, max_size=3).flatmap(
        lambda few: st.lists(st.sampled_from(few), min_size=task.seq_len, max_size=task.seq_len)
    )
    equal = one.map(lambda token: [token] * task.seq_len)
    hidden = st.tuples(st.sampled_from(task.features), one, one).map(lambda drawn: _outside(task, *drawn))
    return st.one_of(free, tied, equal, hidden).map(fractions)


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
    """Tasks that satisfy every hypothesis of DEF-D and A2: quadratic features with distinct rational minimisers."""
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
    lift = draw(st.sampled_from([Fraction(0), Fraction(1, 4)]))
    scaled = Call("+", tuple(squares)) * Fraction(1, 2 * len(centre)) + lift
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
