"""On which linear pieces of a relu encoder the tokens of a pair live, and which outputs are then independent (exact).

If a token stays on a piece where ``encoder(x) = L x + o``, its value is affine there. With p_t the softmax weights and
pi the pieces that occur, a head's outputs are

    A = sum_t p_t (V (L_t x_t + o_t) + b) = sum_pi V L_pi (sum_{t in pi} p_t x_t) + sum_pi V (o_pi - o_0) P_pi + const,

P_pi the weight of piece pi, sum P_pi = 1. So channels whose rows of ``[V L_pi | V (o_pi - o_0)]_pi`` span the row
space determine all others, by the same affine map for both sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from constructions.arithmetic import EXACT, ExactArray
from constructions.network import Network, Perceptron

Rows = list[list[Fraction]]


def output_spans(network: Network, tokens: ExactArray, reach: ExactArray) -> list[Rows]:
    """For each head the matrix of the module's docstring, one row for each value channel.

    tokens, reach (2, T, d): exact; every coordinate may move by its reach. Where the piece of some token is not
    decided, or the encoder is not made of relu and identity layers, the head's value matrix, which serves for any.
    """
    pieces = _pieces(network, tokens, reach)
    spans = []
    for head in network.heads:
        value = EXACT.asarray(np.asarray(head.value))
        if pieces is None:
            spans.append([list(row) for row in value])
            continue
        blocks = [value @ slope for slope, _ in pieces]
        blocks += [(value @ (offset - pieces[0][1]))[:, None] for _, offset in pieces[1:]]
        spans.append([list(row) for row in np.concatenate(blocks, axis=1)])
    return spans


def spanning_rows(rows: Sequence[list[Fraction]], order: Sequence[int]) -> list[int]:
    """Row numbers, tried in the given order, whose rows form a basis of the row space; exact elimination."""
    basis: list[tuple[int, list[Fraction]]] = []  # (pivot column, row reduced by those before)
    chosen = []
    for number in order:
        rest = rows[number]
        for pivot, other in basis:
            if rest[pivot]:
                factor = rest[pivot] / other[pivot]
                rest = [a - factor * b for a, b in zip(rest, other, strict=True)]
        pivots = [column for column, entry in enumerate(rest) if entry]
        if pivots:
            basis.append((pivots[0], rest))
            chosen.append(number)
    return chosen


def _pieces(network: Network, tokens: ExactArray, reach: ExactArray) -> list[tuple[Any, Any]] | None:
    """The affine maps (slope (E, d), offset (E,)) of the encoder that occur; None if one is not decided."""
    encoder = network.encoder
    if network.token_layers or not isinstance(encoder, Perceptron):
        return None
    if any(layer.activation not in ("relu", "identity") or layer.copies is not None for layer in encoder.layers):
        return None
    layers = [
        (EXACT.asarray(np.asarray(layer.weight)), EXACT.asarray(np.asarray(layer.bias))) for layer in encoder.layers
    ]
    found: dict[tuple[Any, ...], tuple[Any, Any]] = {}
    for sequence, room in zip(tokens, reach, strict=True):
        for position, (token, radius) in enumerate(zip(sequence, room, strict=True)):
            slope = EXACT.asarray(np.eye(len(token)))
            offset = EXACT.asarray(np.zeros(len(token)))
            key: tuple[Any, ...] = ()
            for (weight, bias), layer in zip(layers, encoder.layers, strict=True):
                here = bias[position] if bias.ndim == 2 else bias
                if bias.ndim == 2:
                    key += (position,)
                slope, offset = weight @ slope, weight @ offset + here
                if layer.activation == "relu":
                    middle, spread = slope @ token + offset, np.abs(slope) @ radius
                    on = middle >= spread
                    if not np.all(on | (middle <= -spread)):
                        return None
                    slope, offset = np.where(on[:, None], slope, 0), np.where(on, offset, 0)
                    key += tuple(on)
            found.setdefault(key, (slope, offset))
    return list(found.values())
