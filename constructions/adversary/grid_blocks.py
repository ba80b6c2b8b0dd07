"""Blocks for the grid pairs: small random ones within A1, and one on which the printed index sets of T2.2-max fail."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from constructions.network import Dense, Head, Network, Perceptron
from constructions.task import Feature, RetrievalTask
from theory.expressions import Variable

HIDDEN = 8


def small_block(seq_len: int, token_dim: int, num_heads: int, head_dim: int, beta: Fraction, seed: int) -> Network:
    """A random block within A1 that sees positions: tanh encoder of norm at most 1, attention weights in [-1, 1].

    Exact dyadic weights. The read-out is the identity on the first input (two layers of A1 could be trained behind it).
    """
    generator = np.random.default_rng([seed, 0x736D616C])
    width = num_heads * head_dim

    def draw(*shape: int) -> Any:
        return generator.uniform(-1, 1, shape)

    hidden = Dense(3 * draw(HIDDEN, token_dim), draw(seq_len, HIDDEN), "tanh")
    outputs = Dense(draw(width, HIDDEN), draw(width), "tanh")
    shrink = Dense(np.eye(width) / 2 ** ((width - 1).bit_length() + 1 >> 1), np.zeros(width))  # at most 1/sqrt(E)
    zero = np.zeros(head_dim)
    heads = tuple(
        Head(draw(head_dim, width), draw(head_dim, width), draw(head_dim, width), zero, zero) for _ in range(num_heads)
    )
    readout = Perceptron((Dense(np.eye(1, width), np.zeros(1)),))
    encoder = Perceptron((hidden, outputs, shrink))
    return Network(
        seq_len, token_dim, encoder, 4 * draw(width), heads, beta, draw(width, width), np.zeros(width), readout
    )


def wrong_index_sets() -> tuple[Network, RetrievalTask]:
    """T2.2-max as printed fails here: (n, s, D, T) = (1, 1, 2, 16), T_0 = 2, and the block is within A1.

    ``f_1 = (x - 1/4)^2`` on S_1 = {1..4}, ``f_2 = (x - 3/4)^2`` on S_2 = {5..8}, F_0 their sum. The encoder has two
    relu neurons: P(x, t) = 4 (x - 3/4)_+ on S_2, (1 - x)/64 on S_1, 0 elsewhere. The head's weight is ``exp(24 P)``,
    its value P. On S_1 weights fall with x, so y_1 lies in the first basin: basin 2 is the empty one and the
    subsequences live on S_2, where weights reach e^24 against the e^{3/8} that was called maximal.
    """
    x = Variable("x0")
    centres = (Fraction(1, 4), Fraction(3, 4))
    sets = (tuple(range(1, 5)), tuple(range(5, 9)))
    features = tuple(Feature((x - c) ** 2, positions) for c, positions in zip(centres, sets, strict=True))
    task = RetrievalTask("two bowls", 1, 16, features, Variable("z0") + Variable("z1"))
    one, zero = np.ones((1, 1)), np.zeros(1)
    biases = dict.fromkeys(sets[1], (-3.0, -1.0)) | dict.fromkeys(sets[0], (-4.0, 1 / 64))
    bias = np.array([biases.get(t, (-4.0, -1.0)) for t in range(1, 17)])
    encoder = Perceptron((Dense(np.array([[4.0], [-1 / 64]]), bias, "relu"), Dense(np.ones((1, 2)), zero)))
    head = Head(one, one, one, zero, zero)
    return Network(16, 1, encoder, np.ones(1), (head,), Fraction(24), one, zero, Perceptron((Dense(one, zero),))), task
