"""Rounding exact weights to float64, and what that can change in the network's values over the whole cube."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from constructions.arithmetic import ExactArray, as_float
from constructions.network import Formula, Head, Map, Network, TokenLayer
from constructions.sparse import SparseLayer
from theory.errors import NotFinite

UNIT = 2.0**-53
"""Relative error of rounding to the nearest float64."""
TINY = 1e-290
"""Added to every bound: above whatever underflow can lose."""
LIPSCHITZ: Mapping[str, float] = {"identity": 1.0, "relu": 1.0, "tanh": 1.0, "sigmoid": 1.0, "gelu": 1.13, "silu": 1.1}
"""Upper bounds of |activation'|; all of these also have |activation(x)| <= max(|x|, 1)."""


def rounded(array: ExactArray) -> ExactArray:
    """Every entry as the nearest float64. Raises NotFinite where one would overflow."""
    try:
        return np.array(array, dtype=np.float64)
    except OverflowError:
        raise NotFinite("A weight overflows float64. Try: the exact JSON form, or rescale.") from None


@dataclass(frozen=True, eq=False)
class _Known:
    """For each coordinate upper bounds of |x| in the exact network, and of |x - x'| once its weights are rounded."""

    size: ExactArray
    error: ExactArray


def weight_rounding_upper(network: Network) -> float | None:
    """Upper bound of sup over [0,1]^(dT) of |network - network'|, network' having every weight and beta in float64.

    Both are evaluated exactly: rounding during an evaluation is not part of it. None: the network contains formulas or
    Heaviside units, or the bound overflows. Arithmetic: float64, every operation rounded upwards by a margin.
    Raises NotFinite where a weight overflows.
    """
    # |Wx + b - W'x' - b'| <= |W||x - x'| + |W - W'||x'| + |b - b'|, and |W - W'| <= 2^-53 |W|. If no score of a head
    # moves by more than s, every attention weight is multiplied by a factor within e^(2s) of 1, so that
    # sum |w - w'| <= e^(2s) - 1 and |sum w v - sum w' v'| <= max |v - v'| + (e^(2s) - 1) max |v'|.
    states = _through(network.encoder, _Known(np.ones(network.token_dim), np.zeros(network.token_dim)))
    asking: _Known | None = _exactly(network.class_token)
    for layer in network.token_layers:
        if states is None or asking is None:
            return None
        updated = _through(layer.update, _joined([states, _heard(layer, states, states)]))
        if layer.class_update is not None:
            asking = _through(layer.class_update, _joined([asking, _heard(layer, asking, states)]))
        states = updated
    if states is None or asking is None:
        return None
    answer = _through(network.readout, _heard(network, asking, states))
    worst = math.inf if answer is None else float(answer.error.max(initial=0.0))
    return worst if math.isfinite(worst) else None


def _heard(layer: Network | TokenLayer, asking: _Known, states: _Known) -> _Known:
    outputs = [_attended(head, asking, states, as_float(layer.beta)) for head in layer.heads]
    return _affine(layer.output_weight, layer.output_bias, _joined(outputs))


def _joined(parts: Sequence[_Known]) -> _Known:
    return _Known(np.concatenate([p.size for p in parts]), np.concatenate([p.error for p in parts]))


def _through(function: Map, x: _Known) -> _Known | None:
    if isinstance(function, Formula):
        return None
    for layer in function.layers:
        if layer.activation not in LIPSCHITZ:
            return None
        before = _sparse(layer, x) if isinstance(layer, SparseLayer) else _affine(layer.weight, layer.bias, x)
        size = before.size if layer.activation != "sigmoid" else np.ones_like(before.size)
        copies = 1.0 if layer.copies is None else np.array([as_float(Fraction(n)) * (1 + UNIT) for n in layer.copies])
        x = _Known(_up(size * copies, 1), _up(before.error * LIPSCHITZ[layer.activation] * copies, 2))
    return x


def _attended(head: Head, token: _Known, encoded: _Known, beta: float) -> _Known:
    query = _affine(head.query, head.query_bias, token)
    direction = _affine(head.key.T, np.zeros(head.key.shape[1]), query)
    size = _up(direction.size @ encoded.size, len(direction.size))
    moved = direction.size @ encoded.error + direction.error @ (encoded.size + encoded.error)
    score = beta * (_up(moved, len(direction.size)) + 4 * UNIT * size) * (1 + 8 * UNIT) + TINY
    share = math.expm1(2 * score) * (1 + 8 * UNIT) if score < 100 else math.inf
    value = _affine(head.value, head.value_bias, encoded)
    return _Known(value.size, _up(value.error + share * (value.size + value.error), 4))


def _exactly(array: ExactArray) -> _Known:
    size = _magnitude(array)
    return _Known(size, UNIT * size + TINY)


def _affine(weight: ExactArray, bias: ExactArray, x: _Known) -> _Known:
    matrix = _magnitude(weight)
    return _summed(lambda vector: matrix @ vector, matrix.shape[1], bias, x)


def _sparse(layer: SparseLayer, x: _Known) -> _Known:
    entries = layer.entries
    sizes = _magnitude(entries.values)
    rows = np.repeat(np.arange(entries.shape[0]), np.diff(entries.starts))

    def product(vector: ExactArray) -> ExactArray:
        return np.bincount(rows, weights=sizes * vector[entries.columns], minlength=entries.shape[0])

    return _summed(product, entries.shape[1], layer.bias, x)


def _summed(product: Callable[[ExactArray], ExactArray], inputs: int, bias: ExactArray, x: _Known) -> _Known:
    added, terms = _magnitude(bias), inputs + 2
    if added.ndim == 2:
        added = added.max(axis=0)
    size = _up(product(x.size) + added, terms)
    return _Known(size, _up(product(x.error + UNIT * (x.size + x.error)) + UNIT * added + TINY * terms, terms))


def _magnitude(array: ExactArray) -> ExactArray:
    return np.asarray(np.abs(rounded(array)) * (1 + 4 * UNIT) + TINY * (np.asarray(array) != 0))


def _up(values: ExactArray, terms: int) -> ExactArray:
    """Above the true value of a sum of ``terms`` non-negative products, in whatever order it was computed."""
    return np.asarray(values * (1 + (terms + 4) * 4 * UNIT))
