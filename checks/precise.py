"""The search's view of a pair, with the equations at high precision.

Tokens are float64, and so are the equations once they are whitened: how far coordinates must move. What float64 cannot
do is whiten, where some equations are many orders of magnitude fainter than others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from checks import balls
from checks.approach import Whitened, middles
from checks.balls import BALLS, Ball
from checks.jets import gelu_slope
from constructions.adversary.forward import Forward, SharedForward, seeded, seeded_apart
from constructions.adversary.pairs import Array, PairProblem, feature_table, outer_map
from constructions.evaluate import attention
from constructions.network import Network
from constructions.task import RetrievalTask

TINY = 1e-300


class PreciseProblem(PairProblem):
    """A `PairProblem` whose equations are evaluated in balls of ``bits`` bits; nothing is proved."""

    def __init__(self, network: Network, task: RetrievalTask, bits: int) -> None:
        super().__init__(network, task)
        self.exact, self.bits = network, bits

    def equations(self, pair: Array) -> tuple[Array, Callable[[Array], Array]]:
        """As `PairProblem.equations`; dependent equations are left out."""
        with balls.precision(self.bits):
            jacobian = pair_jacobian(self.exact, BALLS.asarray(pair))
            whitened = Whitened.of(middles(jacobian), np.ones(pair.size))
        halves = whitened.rows.reshape(len(whitened.rows), 2, -1).swapaxes(0, 1)

        def values(other: Array) -> Array:
            with balls.precision(self.bits):
                outputs = attention(self.exact, BALLS.asarray(other), BALLS)
                return whitened.coordinates(outputs[0] - outputs[1])

        return halves * np.array([1.0, -1.0])[:, None, None], values

    def along_fibre(self, base: Array, share: float) -> Array:
        """A pair (2, T, d): ``base`` and a neighbour with the same outputs to first order, whose target falls fastest.

        The neighbour moves in the null space of A'(base), coordinates weighted by their room, by at most ``share`` of
        the room. If T d exceeds the number of equations there is such a neighbour, and an exact collision near it.
        """
        room = np.minimum(base, 1 - base).reshape(-1)
        with balls.precision(self.bits):
            jacobian = pair_jacobian(self.exact, BALLS.asarray(np.stack([base, base])))[:, : base.size]
            rows = Whitened.of(middles(jacobian), room).rows
        features, slopes = feature_table(self.task, base[None])
        weights = outer_map(self.task, features.min(axis=-1))[1][0]
        gradient = np.zeros(base.shape)
        for weight, row, slope in zip(weights, features[0], slopes[0], strict=True):
            gradient[np.argmin(row)] += weight * slope[np.argmin(row)]
        fall = -gradient.reshape(-1) * room
        fall -= rows.T @ (rows @ fall)
        fall -= rows.T @ (rows @ fall)
        step = share * room * fall / max(float(np.abs(fall).max()), TINY)
        return np.stack([base, base + step.reshape(base.shape)])


def pair_jacobian(network: Network, tokens: Any) -> Any:
    """Derivatives (k, 2 T d) of A(first) - A(second) along all coordinates of a pair (2, T, d), enclosed."""
    if network.token_layers:
        outputs = attention(network, seeded_apart(tokens, balls.exact(0), balls.exact(1)), BALL_SHARED)
    else:
        outputs = attention(network, seeded(tokens, balls.exact(0), balls.exact(1)), BALL_FORWARD)
    return np.concatenate([outputs.tangent[:, 0], -outputs.tangent[:, 1]]).T


def _step(x: Any) -> Any:
    return np.frompyfunc(_slope_of_relu, 1, 1)(x)


def _slope_of_relu(x: Ball) -> Ball:
    zero = balls.exact(0)
    if balls.surely_below(zero, x):
        return balls.exact(1)
    return zero if balls.surely_below(x, zero) else balls.between(0, 1)


def _gelu_slope(x: Any) -> Any:
    return np.frompyfunc(gelu_slope, 1, 1)(x)


BALL_FORWARD = Forward(BALLS, _step, _gelu_slope)
"""Balls with enclosures of their derivatives (Clarke's at kinks)."""

BALL_SHARED = SharedForward(BALLS, _step, _gelu_slope)
"""The same for networks with token layers."""
