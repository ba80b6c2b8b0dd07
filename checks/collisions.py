"""Exact collisions proved: next to a float guess lie two sequences with equal attention outputs (N8).

Free are k coordinates, one for each equation; all others are exact numbers. Newton's method on the midpoints of balls
sharpens the guess; then Krawczyk's theorem: if ``-Y g(c) + (I - Y G)(X - c)`` lies in the interior of ``X - c``, G an
enclosure of the difference quotients of ``g = A(first) - A(second)`` over the box X around c and Y any matrix, then g
has a zero in X (Brouwer). The targets are enclosed over all of X, so the gap holds at the zero, wherever it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from scipy.linalg import qr

from checks import balls
from checks.balls import BALLS, Ball
from checks.jets import gelu_slope
from constructions.adversary.forward import Forward, seeded
from constructions.adversary.pairs import Array, PairProblem
from constructions.arithmetic import ExactArray
from constructions.evaluate import attention, target
from constructions.network import Network
from constructions.task import RetrievalTask
from theory.errors import InvalidInput, NotFinite
from theory.ledger import Undecided

FIRST_BITS, MOST_BITS = 192, 1536
FIXED_BITS = 40  # the exact coordinates are rounded to multiples of 2^-40: short certificates
GAP_BITS = 40
LEAST_ROOM = 1e-4  # a free coordinate keeps at least this distance from the boundary of the cube and from kinks
MAX_NEWTON = 12


@dataclass(frozen=True)
class Collision:
    """A proved collision: values of the free coordinates within ``radius`` of those given make the outputs equal.

    first, second (T, d): exact; free: (sequence 0 or 1, position from 1, coordinate from 0); rows: the (head, value
    channel) of the equations, the other channels being determined by them, or None if all are; gap: proved lower bound
    on target(first) - target(second).
    """

    network: Network
    task: RetrievalTask
    first: ExactArray
    second: ExactArray
    free: tuple[tuple[int, int, int], ...]
    radius: Fraction
    gap: Fraction
    precision: int
    rows: tuple[tuple[int, int], ...] | None


def prove(network: Network, task: RetrievalTask, first: Array, second: Array) -> Collision | Undecided:
    """Prove that an exact collision lies next to two sequences (T, d) in float64 that nearly collide (N8, existence).

    Conclusion: there are sequences within `Collision.radius` of those returned with equal attention outputs, whose
    targets differ by at least `Collision.gap` (so every read-out errs by half of it somewhere). Arithmetic: balls.
    Undecided if no well-conditioned choice of free coordinates exists, Newton does not converge, or the gap is not
    positive; a pair that is far from a collision ends there.
    """
    for name, sequence in (("first", first), ("second", second)):
        wanted = (network.seq_len, network.token_dim)
        if sequence.shape != wanted or not (sequence.min() >= 0 and sequence.max() <= 1):
            raise InvalidInput.about(name, sequence.shape, f"shape {wanted}, entries in [0, 1]", "clip the tokens")
    rows = independent_rows(network)
    guess = np.round(np.stack([first, second]) * 2.0**FIXED_BITS) / 2.0**FIXED_BITS
    places = choose_free(network, task, guess, rows)
    if isinstance(places, Undecided):
        return places
    bits, reason = FIRST_BITS, ""
    while bits <= MOST_BITS:
        try:
            with balls.precision(bits):
                outcome = _Attempt(network, task, guess, places, rows, bits).run()
        except NotFinite as error:
            outcome = Undecided(str(error), "another start")
        if isinstance(outcome, Collision):
            return outcome
        reason, bits = outcome.reason, 2 * bits
    return Undecided(f"{reason} (up to {MOST_BITS} bits)", "another start of the search")


def independent_rows(network: Network) -> tuple[tuple[int, int], ...]:
    """The (head, value channel) pairs whose outputs determine all others: per head a basis of the exact value rows.

    If row c of a head's value matrix is a combination of others, so is its output up to a constant (softmax weights
    sum to one). Arithmetic: exact.
    """
    chosen = []
    for number, head in enumerate(network.heads):
        basis: list[tuple[int, list[Fraction]]] = []  # (pivot column, reduced row)
        for channel, row in enumerate(head.value):
            rest = [Fraction(entry) for entry in row]
            for pivot, other in basis:
                factor = rest[pivot] / other[pivot]
                rest = [a - factor * b for a, b in zip(rest, other, strict=True)] if factor else rest
            pivots = [column for column, entry in enumerate(rest) if entry]
            if pivots:
                basis.append((pivots[0], rest))
                chosen.append((number, channel))
    return tuple(chosen)


def choose_free(
    network: Network, task: RetrievalTask, pair: Array, rows: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, int, int], ...] | Undecided:
    """k coordinates (sequence, token, axis; from 0) of a pair (2, T, d) on which the equations depend most strongly.

    Column-pivoted QR of the Jacobian, columns weighted by the room to the boundary of the cube and to relu kinks.
    """
    generator = np.random.default_rng(0)
    problem = PairProblem(network, task, generator)
    seen = problem.observe(pair, generator)
    room = np.minimum(pair, 1 - pair)
    if seen.kink_distance.shape[-1]:
        steepness = np.abs(seen.kink_normal).sum(axis=-1)
        distance = np.where(steepness > 0, seen.kink_distance / np.where(steepness > 0, steepness, 1), 1.0)
        room = np.minimum(room, np.maximum(distance.min(axis=-1), 0)[..., None])
    weight = np.where(room < LEAST_ROOM, 0, room).reshape(-1)
    equations = np.concatenate([seen.jacobian[0], -seen.jacobian[1]], axis=1) * weight
    if len(equations) < len(rows) or min(len(rows), np.count_nonzero(weight)) < len(rows):
        found = min(len(equations), np.count_nonzero(weight))
        return Undecided(
            f"{len(rows)} equations, but only {found} directions or free coordinates.",
            "a pair with more tokens off the boundary; channels that coincide on the cube need a smaller head",
        )
    order = qr(equations, mode="r", pivoting=True)[1][: len(rows)]
    return tuple((int(s), int(t), int(c)) for s, t, c in zip(*np.unravel_index(order, pair.shape), strict=True))


class _Attempt:
    """One try at one precision; g = A(first) - A(second) on the rows of the equations."""

    def __init__(
        self,
        network: Network,
        task: RetrievalTask,
        guess: Array,
        places: tuple[tuple[int, int, int], ...],
        rows: tuple[tuple[int, int], ...],
        bits: int,
    ) -> None:
        self.network, self.task, self.places, self.rows, self.bits = network, task, places, rows, bits
        self.index = tuple(np.array(column) for column in zip(*places, strict=True))
        starts = np.cumsum([0, *(len(head.value) for head in network.heads)])
        self.channels = [int(starts[head]) + channel for head, channel in rows]
        self.tokens = BALLS.asarray(guess)

    def run(self) -> Collision | Undecided:
        inverse = _middles(balls.inverse(_middles(self._jacobian(self.tokens))))
        previous = None
        for _ in range(MAX_NEWTON):
            step = inverse @ self._difference(self.tokens)
            size = max(abs(balls.middle(entry)) for entry in step)
            if size < Fraction(2) ** (-self.bits * 3 // 4):
                break
            if previous is not None and size > previous / 2:
                return Undecided(
                    f"Newton's method stalls at steps of {float(size):.1e}.", "a pair that nearly collides"
                )
            previous = size
            self.tokens[self.index] = _middles(self.tokens[self.index] - step)
        exact = self._rounded()
        radius = Fraction(2) ** (-(self.bits // 2) + 8)
        if not all(radius <= exact[place] <= 1 - radius for place in self.places):
            return Undecided("A free coordinate left the cube.", "a pair with more room to the boundary")
        return self._krawczyk(exact, radius, inverse)

    def _krawczyk(self, exact: ExactArray, radius: Fraction, inverse: Any) -> Collision | Undecided:
        centre = BALLS.asarray(exact)
        box = centre.copy()
        spread = balls.between(-radius, radius)
        box[self.index] = centre[self.index] + spread
        identity = BALLS.asarray(np.eye(len(self.rows)))
        moves = (identity - inverse @ self._jacobian(box)) @ np.full(len(self.rows), spread, dtype=object)
        moves = moves - inverse @ self._difference(centre)
        if not all(balls.inside(move, spread) for move in moves):
            return Undecided("Krawczyk's image does not fit into the box.", "more bits")
        targets = [target(self.task, sequence, BALLS) for sequence in box]
        gap = Fraction(floor(balls.lower(targets[0] - targets[1]) * 2**GAP_BITS), 2**GAP_BITS)
        if gap <= 0:
            return Undecided("The gap of the targets is not positive.", "another pair")
        free = tuple((s, t + 1, c) for s, t, c in self.places)
        everything = len(self.rows) == self.network.value_dim
        rows = None if everything else self.rows
        return Collision(self.network, self.task, exact[0], exact[1], free, radius, gap, self.bits, rows)

    def _difference(self, tokens: Any) -> Any:
        outputs = attention(self.network, tokens, BALLS)
        return (outputs[0] - outputs[1])[self.channels]

    def _jacobian(self, tokens: Any) -> Any:
        """d g / d(free coordinates): (k, k)."""
        outputs = attention(self.network, seeded(tokens, balls.exact(0), balls.exact(1)), BALL_FORWARD)
        s, t, c = self.index
        columns = outputs.tangent[t * self.network.token_dim + c, s][:, self.channels]  # (k places, k rows)
        return (columns * np.where(s == 0, 1, -1)[:, None]).T

    def _rounded(self) -> ExactArray:
        exact = np.vectorize(balls.middle, otypes=[object])(self.tokens)
        unit = 2 ** (self.bits // 2)
        for place in self.places:
            exact[place] = Fraction(round(exact[place] * unit), unit)
        return np.asarray(exact)


def _middles(array: Any) -> Any:
    return np.frompyfunc(lambda ball: balls.exact(balls.middle(ball)), 1, 1)(array)


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
