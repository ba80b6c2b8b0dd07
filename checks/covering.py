"""Reads a finished network as heads that cover features: what each head scores and returns, as exact functions.

Head i must serve feature i and nothing else; the token encoder must be one ReLU layer, or two of which the second acts
on one number for each head (a clip), then a linear layer. Other networks are refused with `NotReadable`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from checks.piecewise import ZERO, Interval, Neuron, Neurons, PiecewiseLinear, sum_of_relus
from constructions.arithmetic import EXACT, ExactArray
from constructions.network import Dense, Map, Network, Perceptron
from constructions.ridge import Affine, normalise
from theory.errors import HeadcountError


class NotReadable(HeadcountError):
    """The network is not of the shape that an analytic budget covers; branch and bound may still decide it."""

    @classmethod
    def because(cls, reason: str) -> NotReadable:
        return cls(f"The network does not have the shape of covering heads: {reason}. Try: checks.sup_error.")


@dataclass(frozen=True)
class Outer:
    """``psi(p) = slope p + offset + sum of output relu(weight p + bias)`` over ``relus`` (output, weight, bias)."""

    slope: Fraction
    offset: Fraction
    relus: tuple[tuple[Fraction, Fraction, Fraction], ...] = ()

    def on(self, interval: Interval) -> PiecewiseLinear:
        """psi as a piecewise linear function on the interval."""
        bent = sum_of_relus(self.relus, interval)
        straight = [self.slope * point + self.offset for point in bent.points]
        return PiecewiseLinear(bent.points, tuple(a + b for a, b in zip(bent.values, straight, strict=True)))


@dataclass(frozen=True)
class Reading:
    """A function of token and position: ``outers[t](inner(x))``, t from 1; equal outers are the same object."""

    inner: Neurons
    outers: tuple[Outer, ...]

    def distinct(self, positions: Sequence[int]) -> list[Outer]:
        """The different outer functions at these positions."""
        return list({id(outer): outer for outer in (self.outers[t - 1] for t in positions)}.values())

    def range_at(self, positions: Sequence[int], inner_range: Interval) -> Interval:
        """Bounds of the values at these positions (one at least) if ``inner`` ranges over the interval."""
        ranges = [outer.on(inner_range).range for outer in self.distinct(positions)]
        return min(low for low, _ in ranges), max(high for _, high in ranges)


@dataclass(frozen=True)
class CoveringHead:
    """``penalty`` = -score/beta, ``value`` = what reaches the read-out, ``mismatch`` = penalty - value.

    As functions of the encoder's output e: penalty_weight . e, and value_weight . e + value_offset.
    """

    penalty: Reading
    value: Reading
    mismatch: Reading
    penalty_weight: ExactArray
    value_weight: ExactArray
    value_offset: Fraction


@dataclass(frozen=True)
class Covering:
    """The heads in the order of the features, and the read-out as a function of (z_1, ..., z_D)."""

    heads: tuple[CoveringHead, ...]
    readout: Neurons


def read_covering(network: Network) -> Covering:
    """Read heads and read-out; exact.

    Raises:
        NotReadable: with the reason.
    """
    _require_plain(network)
    first, second = _two_layers(network.readout)
    used = [index for index in range(first.weight.shape[1]) if np.any(first.weight[:, index])]
    output = _exact(network.output_weight)
    heads, columns, start = [], [], 0
    for number, head in enumerate(network.heads):
        mine = list(range(start, start + head.value.shape[0]))
        start += head.value.shape[0]
        rows = [row for row in used if np.any(output[row, mine])]
        if len(rows) > 1 or any(np.any(np.delete(output[row], mine)) for row in rows):
            raise NotReadable.because(f"head {number} does not feed exactly one coordinate of the read-out")
        share = output[rows[0], mine] if rows else np.full(len(mine), ZERO, dtype=object)
        columns.append(rows[0] if rows else None)
        value, offset = share @ _exact(head.value), np.dot(share, _exact(head.value_bias))
        query = _exact(head.query) @ _exact(network.class_token) + _exact(head.query_bias)
        penalty = -(query @ _exact(head.key))
        heads.append(
            CoveringHead(
                read_encoder(network.encoder, network.seq_len, penalty, ZERO),
                read_encoder(network.encoder, network.seq_len, value, offset),
                read_encoder(network.encoder, network.seq_len, penalty - value, -offset),
                penalty,
                value,
                offset,
            )
        )
    if set(used) - set(columns):
        raise NotReadable.because("the read-out looks at a coordinate that no head feeds")
    weight = _exact(first.weight)
    bias = _exact(first.bias) + weight @ _exact(network.output_bias)
    neurons = tuple(
        Neuron(Affine(tuple(ZERO if c is None else weight[k, c] for c in columns), bias[k]), output_k)
        for k, output_k in enumerate(_exact(second.weight)[0])
        if output_k
    )
    return Covering(tuple(heads), Neurons(neurons, _exact(second.bias)[0]))


def read_encoder(encoder: Map, seq_len: int, functional: ExactArray, offset: Fraction) -> Reading:
    """``functional . encoder(x, t) + offset`` as a function of x and t."""
    if not isinstance(encoder, Perceptron) or len(encoder.layers) not in (2, 3):
        raise NotReadable.because("the encoder is not a feed-forward network of two or three layers")
    *inner, last = encoder.layers
    if last.activation != "identity" or any(layer.activation != "relu" for layer in inner):
        raise NotReadable.because("the encoder's layers are not relu, ..., relu, identity")
    if inner[0].bias.ndim == 2:
        raise NotReadable.because("the encoder's first layer depends on the position")
    used = np.flatnonzero(functional)
    row = functional[used] @ _exact(last.weight)[used]
    constants = _exact(last.bias)[..., used] @ functional[used] + offset
    if len(inner) == 1:
        return Reading(_neurons(inner[0], row), _shared(_rows(constants, seq_len), lambda c: Outer(Fraction(1), c)))
    active = [index for index, entry in enumerate(row) if entry]
    weights = _exact(inner[1].weight)[active]
    directions = [normalise(tuple(entries)) for entries in weights if np.any(entries)]
    if len({direction for direction, _ in directions}) > 1:
        raise NotReadable.because("the encoder's second layer mixes several numbers for one head")
    # p may be scaled at will: by the first neuron's weights, turned so that psi rises where this neuron is active.
    leader = directions[0][1] * (1 if row[active[0]] > 0 else -1) if directions else Fraction(1)
    scales = [normalise(tuple(entries))[1] / leader if np.any(entries) else ZERO for entries in weights]
    shared = np.array(directions[0][0], dtype=object) * leader if directions else weights.sum(axis=0)
    biases = _exact(inner[1].bias)[..., active]
    table = [(*b, c) for b, c in zip(_rows(biases, seq_len, 2), _rows(constants, seq_len), strict=True)]
    outputs = [row[index] for index in active]
    return Reading(
        _neurons(inner[0], shared),
        _shared(table, lambda key: Outer(ZERO, key[-1], tuple(zip(outputs, scales, key[:-1], strict=True)))),
    )


def _neurons(layer: Dense, outputs: ExactArray) -> Neurons:
    weight, bias = _exact(layer.weight), _exact(layer.bias)
    kept = [k for k, output in enumerate(outputs) if output]
    return Neurons(tuple(Neuron(Affine(tuple(weight[k]), bias[k]), outputs[k]) for k in kept), ZERO)


def _require_plain(network: Network) -> None:
    maps = [part for part in (network.encoder, network.readout) if isinstance(part, Perceptron)]
    if network.token_layers or any(layer.copies is not None for part in maps for layer in part.layers):
        raise NotReadable.because("it has token layers, or neurons that stand for several")


def _two_layers(readout: Map) -> tuple[Dense, Dense]:
    if isinstance(readout, Perceptron) and [layer.activation for layer in readout.layers] == ["relu", "identity"]:
        first, second = readout.layers
        if second.weight.shape[0] == 1 and first.bias.ndim == second.bias.ndim == 1:
            return first, second
    raise NotReadable.because("the read-out is not a two-layer ReLU network with one output")


def _rows(values: Any, seq_len: int, ndim: int = 1) -> list[Any]:
    """One entry for each position, whether or not the bias depends on it."""
    array = np.asarray(values, dtype=object)
    table = array if array.ndim == ndim else np.broadcast_to(array, (seq_len, *array.shape))
    return [tuple(entry) if ndim == 2 else entry for entry in table]


def _shared(keys: Sequence[Any], make: Callable[[Any], Outer]) -> tuple[Outer, ...]:
    known = {key: make(key) for key in dict.fromkeys(keys)}
    return tuple(known[key] for key in keys)


def _exact(array: ExactArray) -> ExactArray:
    return np.asarray(EXACT.asarray(array))
