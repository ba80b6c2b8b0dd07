"""A block evaluated in balls against mpmath at the same precision: ``python -m benchmarks.balls [--json]``.

Both evaluate the attention outputs of one block at one sequence from exact weights, at 192 bits. The balls enclose the
true values; mpmath rounds to nearest and says nothing about its error. The peer is written with mpmath's own dot
product (`fdot`), weights converted beforehand.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from benchmarks.machine import description, seconds
from checks import balls
from constructions.evaluate import attention
from constructions.network import Dense, Head, Network, Perceptron

BITS = 192
SIZES = ((2, 3, 64, 32), (1, 8, 32, 32), (4, 8, 64, 128))
"""(heads, dimension per head, sequence length, hidden units of the encoder)."""
AGREEMENT = 1e-50


def block(num_heads: int, head_dim: int, seq_len: int, hidden: int, activation: str) -> Network:
    """A random block on tokens of dimension 1."""
    draw = np.random.default_rng(1).normal
    width = num_heads * head_dim
    encoder = Perceptron(
        (
            Dense(draw(size=(hidden, 1)), draw(size=hidden), activation),
            Dense(draw(size=(width, hidden)) / hidden**0.5, draw(size=width)),
        )
    )
    heads = tuple(
        Head(
            draw(size=(head_dim, width)),
            draw(size=(head_dim, width)) / width**0.5,
            draw(size=(head_dim, width)) / width**0.5,
            draw(size=head_dim),
            draw(size=head_dim),
        )
        for _ in range(num_heads)
    )
    readout = Perceptron((Dense(np.ones((1, width)), np.zeros(1)),))
    return Network(seq_len, 1, encoder, draw(size=width), heads, Fraction(1), np.eye(width), np.zeros(width), readout)


class Peer:
    """The same outputs by mpmath."""

    def __init__(self, network: Network) -> None:
        assert isinstance(network.encoder, Perceptron)
        self.function = {"tanh": mpmath.tanh, "gelu": lambda x: x * mpmath.ncdf(x)}[
            network.encoder.layers[0].activation
        ]
        self.layers = [(self.table(layer.weight), self.table(layer.bias)) for layer in network.encoder.layers]
        self.heads = [
            {name: self.table(getattr(head, name)) for name in ("query", "key", "value", "query_bias", "value_bias")}
            for head in network.heads
        ]
        self.token = self.table(network.class_token)

    def table(self, array: Any) -> Any:
        return [self.table(entry) for entry in array] if np.ndim(array) else mpmath.mpf(float(array))

    def attention(self, tokens: list[Any]) -> list[Any]:
        (first, first_bias), (second, second_bias) = self.layers
        encoded = []
        for token in tokens:
            hidden = [self.function(mpmath.fdot(row, token) + b) for row, b in zip(first, first_bias, strict=True)]
            encoded.append([mpmath.fdot(row, hidden) + b for row, b in zip(second, second_bias, strict=True)])
        outputs = []
        for head in self.heads:
            query = [mpmath.fdot(row, self.token) + b for row, b in zip(head["query"], head["query_bias"], strict=True)]
            direction = [mpmath.fdot(query, column) for column in zip(*head["key"], strict=True)]
            weights = [mpmath.exp(mpmath.fdot(direction, e)) for e in encoded]
            total = mpmath.fsum(weights)
            for row, b in zip(head["value"], head["value_bias"], strict=True):
                outputs.append(mpmath.fdot(weights, [mpmath.fdot(row, e) for e in encoded]) / total + b)
        return outputs


def measure(activation: str, size: tuple[int, int, int, int]) -> dict[str, Any]:
    """Seconds of both at one size, and how far they are apart."""
    network = block(*size, activation)
    tokens = np.random.default_rng(2).random((size[2], 1))
    with balls.precision(BITS), mpmath.workprec(BITS):
        exact = balls.BALLS.asarray(tokens)
        peer, points = Peer(network), [[mpmath.mpf(float(x)) for x in token] for token in tokens]
        ours, theirs = attention(network, exact, balls.BALLS), peer.attention(points)
        apart = max(
            abs(mpmath.mpf(m.numerator) / m.denominator - t)
            for m, t in zip(map(balls.middle, ours), theirs, strict=True)
        )
        assert apart < AGREEMENT
        fast = seconds(lambda: attention(network, exact, balls.BALLS))
        slow = seconds(lambda: peer.attention(points))
    names = ("heads", "head_dim", "seq_len", "hidden")
    return {
        "activation": activation,
        **dict(zip(names, size, strict=True)),
        "balls_ms": round(1000 * fast, 2),
        "mpmath_ms": round(1000 * slow, 2),
        "ratio": round(slow / fast, 1),
    }


def main(arguments: list[str]) -> None:
    """Measure and print."""
    rows = [measure(activation, size) for activation in ("tanh", "gelu") for size in SIZES]
    if "--json" in arguments:
        print(json.dumps({"machine": description("mpmath", "python-flint", "numpy"), "rows": rows}, indent=2))
        return
    print(description("mpmath", "python-flint", "numpy"))
    for row in rows:
        print(", ".join(f"{name} {value}" for name, value in row.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
