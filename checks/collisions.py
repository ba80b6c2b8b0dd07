"""Exact collisions proved: next to a float guess lie two sequences with equal attention outputs (N8).

Free are k coordinates, one for each equation; all others are exact numbers. Newton's method on the midpoints of balls
sharpens the guess; then Krawczyk's theorem: if ``-Y g(c) + (I - Y G)(X - c)`` lies in the interior of ``X - c``, G an
enclosure of the difference quotients of ``g = A(first) - A(second)`` over the box X around c and Y any matrix, then g
has a zero in X (Brouwer). The targets are enclosed over all of X, so the gap holds at the zero, wherever it is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import ceil, floor
from typing import Any

import numpy as np
from scipy.linalg import qr

from checks import balls
from checks.approach import approach, middles
from checks.balls import BALLS
from checks.precise import PreciseProblem, pair_jacobian
from constructions.adversary.continuous import Progress, climb, further_inside, restore, retreat, search
from constructions.adversary.pairs import Array, encoded_heads, folded, outputs_and_jacobian
from constructions.adversary.pieces import output_spans, spanning_rows
from constructions.adversary.starts import Starts
from constructions.arithmetic import ExactArray
from constructions.evaluate import attention, target
from constructions.network import Network, Perceptron
from constructions.task import RetrievalTask
from theory.errors import InvalidInput, NotFinite
from theory.ledger import Undecided

FIRST_BITS, MOST_BITS, LEAST_GUARD = 192, 768, 64
MORE_BITS = "more bits"
FIXED_BITS = 40  # the exact coordinates are rounded to multiples of 2^-40: short certificates
GAP_BITS = 40
LEAST_ROOM = 1e-4  # a free coordinate keeps at least this distance from the boundary of the cube and from kinks
ON_KINK = 1e-7  # a token this near to a kink was put there by the search
MAX_NEWTON = 12
ENOUGH = 0.5  # share of the search's best gap with which a proof is content
CLIMB = 1e-2
FIRST_SHARE, LAST_SHARE, LEAST_SHARE = (
    1.4,
    2.0,
    0.4,
)  # of the budget: search and proofs; all; each kind of guess at least
FIBRE_KINDS, FIBRE_SHARES, INNER = 4 * ("spread copy", "uniform", "basin", "copy"), (0.5, 0.15, 0.03, 0.01), 0.9
REMEDY = "a larger budget, more starts or another seed"


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

    Raises:
        InvalidInput: sequences of the wrong shape or outside the cube.
    """
    for name, sequence in (("first", first), ("second", second)):
        wanted = (network.seq_len, network.token_dim)
        if sequence.shape != wanted or not (sequence.min() >= 0 and sequence.max() <= 1):
            raise InvalidInput.about(name, sequence.shape, f"shape {wanted}, entries in [0, 1]", "clip the tokens")
    guess = np.round(off_kinks(network, np.stack([first, second])) * 2.0**FIXED_BITS) / 2.0**FIXED_BITS
    rows = _independent_rows(network, guess, _weighted_jacobian(network, guess))
    if np.count_nonzero(_room(network, guess)) < len(rows):
        return Undecided(f"{len(rows)} equations, but fewer coordinates with room to move.", "another pair")
    outcome = _attempt(network, task, guess, rows, FIRST_BITS, LEAST_GUARD)
    if isinstance(outcome, Undecided) and outcome.remedy == MORE_BITS:
        outcome = _attempt(network, task, guess, rows, FIRST_BITS, _guard_bits(network, guess))
    if isinstance(outcome, Undecided) and outcome.remedy == MORE_BITS:
        outcome = _attempt(network, task, guess, rows, MOST_BITS, LEAST_GUARD)
    return outcome


def _attempt(
    network: Network, task: RetrievalTask, guess: Array, rows: tuple[tuple[int, int], ...], bits: int, guard: int
) -> Collision | Undecided:
    try:
        with balls.precision(bits + guard):
            return _Attempt(network, task, guess, rows, bits, guard).run()
    except NotFinite as error:
        return Undecided(str(error), MORE_BITS)


def _guard_bits(network: Network, pair: Array) -> int:
    """Further bits for the faintest weight of a token to count: 1.45 for each unit that scores spread."""
    if network.token_layers:
        return LEAST_GUARD
    spread = max(float(np.ptp(scores)) for scores, _ in encoded_heads(folded(network), pair))
    return LEAST_GUARD + 64 * ceil(spread * 1.4427 / 64)


def strongest(
    network: Network,
    task: RetrievalTask,
    seed: int,
    budget_seconds: float = 30.0,
    starts: int = 12,
    progress: Progress | None = None,
) -> Collision | Undecided:
    """Search for pairs with equal attention outputs and prove the one with the largest gap that can be proved (N8).

    Arguments as in `constructions.adversary.continuous.search`. Undecided if nothing was found or proved: that says
    nothing about the block.
    """
    begin = time.monotonic()
    found = search(network, task, seed, budget_seconds, starts, progress)
    deadline = begin + LAST_SHARE * budget_seconds
    inside = further_inside(network, task, seed, found, deadline)
    guesses = (np.stack([pair.first, pair.second]) for pair in chain(found, inside))
    best: Collision | Undecided = Undecided("The search met the equations nowhere.", REMEDY)
    for pairs, share in ((guesses, FIRST_SHARE), (_along_fibres(network, task, seed), LAST_SHARE)):
        limit = max(begin + share * budget_seconds, time.monotonic() + LEAST_SHARE * budget_seconds)
        for pair in pairs:
            outcome = prove(network, task, *pair)
            best = outcome if isinstance(outcome, Collision) else Undecided(outcome.reason, REMEDY)
            if isinstance(outcome, Collision) or time.monotonic() > limit:
                break
        if isinstance(best, Collision):
            break
    promised = max((pair.gap for pair in found), default=1.0)
    if isinstance(best, Collision) and best.gap < ENOUGH * promised:
        return _climbed(best, seed, deadline)
    return best


def _along_fibres(network: Network, task: RetrievalTask, seed: int) -> Iterator[Array]:
    """Neighbours with the same outputs to first order: small gaps, but an exact collision is never far."""
    generator = np.random.default_rng([seed, 0x66696272])
    plain = Starts(task, generator).kinds
    for kind in FIBRE_KINDS:
        base = 0.5 + INNER * (plain[kind]()[0] - 0.5)
        problem = PreciseProblem(network, task, 2 * FIRST_BITS + _guard_bits(network, np.stack([base, base])))
        for share in FIBRE_SHARES:
            yield problem.along_fibre(base, share)


def _climbed(start: Collision, seed: int, deadline: float) -> Collision:
    """The search once more from a proved collision, with its equations at the precision of the proof."""
    generator = np.random.default_rng([seed, 0x70726563])
    problem = PreciseProblem(start.network, start.task, start.precision)
    pair = np.stack([start.first, start.second]).astype(np.float64)
    pair = climb(problem, pair, generator, deadline, CLIMB)
    for candidate in (retreat(problem, pair, generator, deadline), pair):
        outcome = prove(start.network, start.task, *restore(problem, candidate))
        if isinstance(outcome, Collision) and outcome.gap > start.gap:
            return outcome
    return start


def off_kinks(network: Network, pair: Array) -> Array:
    """Tokens that lie on a kink of a relu encoder (up to rounding), moved to a side where other tokens are.

    Fewer pieces in use mean fewer independent outputs, hence fewer equations to satisfy.
    """
    layer = _relu_layer(network)
    if layer is None:
        return pair
    weight, bias = layer
    arguments = pair @ weight.T + bias
    near = np.abs(arguments) <= ON_KINK * np.abs(weight).sum(axis=1)
    clear = ~near.any(axis=-1)
    used = {tuple(pattern) for pattern in arguments[clear] > 0}
    moved = pair.copy()
    for s, t in np.argwhere(~clear):
        away = np.sign(weight[near[s, t]]).sum(axis=0).clip(-1, 1)
        for push in (away, -away):
            candidate = (pair[s, t] + 4 * ON_KINK * push).clip(0, 1)
            if tuple(weight @ candidate + (bias[t] if bias.ndim == 2 else bias) > 0) in used:
                moved[s, t] = candidate
                break
    return moved


def _relu_layer(network: Network) -> tuple[Array, Array] | None:
    """Weight and bias of the encoder's first layer if it is a relu layer."""
    if not isinstance(network.encoder, Perceptron) or network.encoder.layers[0].activation != "relu":
        return None
    first = network.encoder.layers[0]
    return np.asarray(first.weight, dtype=np.float64), np.asarray(first.bias, dtype=np.float64)


def _channels(network: Network, rows: Sequence[tuple[int, int]]) -> list[int]:
    starts = np.cumsum([0, *(len(head.value) for head in network.heads)])
    return [int(starts[head]) + channel for head, channel in rows]


def _weighted_jacobian(network: Network, pair: Array) -> Array:
    """Jacobian (outputs, 2 T d) of the equations, columns weighted by the room to the boundary and to relu kinks."""
    network = folded(network)
    jacobian = outputs_and_jacobian(network, pair)[1]
    return np.asarray(np.concatenate([jacobian[0], -jacobian[1]], axis=1) * _room(network, pair).reshape(-1))


def _room(network: Network, pair: Array) -> Array:
    """For each coordinate (2, T, d) the room to the boundary and to relu kinks, 0 if it is too little."""
    room = np.minimum(pair, 1 - pair)
    if (layer := _relu_layer(network)) is not None:
        steepness = np.abs(layer[0]).sum(axis=1)
        moving = steepness > 0
        distance = np.abs(pair @ layer[0].T + layer[1])[..., moving] / steepness[moving]
        room = np.minimum(room, distance.min(axis=-1, initial=1.0)[..., None])
    return np.where(room < LEAST_ROOM, 0, room)


def _independent_rows(network: Network, pair: Array, weighted: Array) -> tuple[tuple[int, int], ...]:
    """The (head, value channel) of the equations: per head the channels that span all, best conditioned first."""
    reach = np.full(pair.shape, Fraction(0), dtype=object)
    tokens = np.vectorize(Fraction, otypes=[object])(pair)
    chosen: list[tuple[int, int]] = []
    for number, span in enumerate(output_spans(network, tokens, reach)):
        channels = _channels(network, [(number, channel) for channel in range(len(span))])
        order = [int(entry) for entry in qr(weighted[channels].T, mode="r", pivoting=True)[1]]
        chosen += [(number, channel) for channel in sorted(spanning_rows(span, order))]
    return tuple(chosen)


def _determine_all(rows: Sequence[tuple[int, int]], spans: Sequence[Sequence[list[Fraction]]]) -> bool:
    """Whether the listed channels of each head have the rank of all (exact)."""
    for number, span in enumerate(spans):
        listed = [channel for head, channel in rows if head == number]
        if len(spanning_rows(span, listed)) != len(spanning_rows(span, list(range(len(span))))):
            return False
    return True


def _choose_free(directions: Array, shape: tuple[int, ...]) -> tuple[tuple[int, int, int], ...]:
    """k coordinates (sequence, token, axis; from 0) on which k orthonormal rows depend best: column-pivoted QR."""
    order = qr(directions, mode="r", pivoting=True)[1][: len(directions)]
    return tuple((int(s), int(t), int(c)) for s, t, c in zip(*np.unravel_index(order, shape), strict=True))


class _Attempt:
    """One try at one precision; g = A(first) - A(second) on the rows of the equations."""

    def __init__(
        self,
        network: Network,
        task: RetrievalTask,
        guess: Array,
        rows: tuple[tuple[int, int], ...],
        bits: int,
        guard: int,
    ) -> None:
        self.network, self.task, self.rows, self.bits, self.guard = network, task, rows, bits, guard
        self.channels = _channels(network, rows)
        self.tokens = BALLS.asarray(guess)
        self.places: tuple[tuple[int, int, int], ...] = ()

    def run(self) -> Collision | Undecided:
        reached = approach(self.tokens, self._room, self._difference, self._all_columns)
        if reached is None:
            return Undecided("Newton's method stalls.", "a pair that nearly collides")
        if len(reached[1].rows) < len(self.rows):
            return Undecided("Equations are dependent at this precision.", MORE_BITS)
        near, whitened = np.asarray(reached[0], dtype=np.float64), reached[1]
        self.tokens = BALLS.asarray(np.round(near * 2.0**FIXED_BITS) / 2.0**FIXED_BITS)
        self.places = _choose_free(whitened.rows, near.shape)
        self.index = tuple(np.array(column) for column in zip(*self.places, strict=True))
        inverse = middles(balls.inverse(middles(self._jacobian(self.tokens))))
        previous = None
        for _ in range(MAX_NEWTON):
            step = inverse @ self._difference(self.tokens)
            size = max(abs(balls.middle(entry)) for entry in step)
            if size < Fraction(2) ** (-self.bits * 3 // 4):
                break
            if previous is not None and size > previous / 2:
                return Undecided("Newton's method stalls.", "a pair that nearly collides")
            previous = size
            self.tokens[self.index] = middles(self.tokens[self.index] - step)
        exact = self._rounded()
        radius = Fraction(2) ** (-(self.bits // 2) + 8)
        reach = np.full(exact.shape, Fraction(0), dtype=object)
        reach[self.index] = radius
        if not _determine_all(self.rows, output_spans(self.network, exact, reach)):
            return Undecided("The equations do not determine all outputs.", "a pair whose tokens are off the kinks")
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
            return Undecided("Krawczyk's image does not fit into the box.", MORE_BITS)
        targets = [target(self.task, sequence, BALLS) for sequence in box]
        gap = Fraction(floor(balls.lower(targets[0] - targets[1]) * 2**GAP_BITS), 2**GAP_BITS)
        if gap <= 0:
            return Undecided("The gap of the targets is not positive.", "another pair")
        free = tuple((s, t + 1, c) for s, t, c in self.places)
        everything = len(self.rows) == self.network.value_dim
        rows = None if everything else self.rows
        return Collision(self.network, self.task, exact[0], exact[1], free, radius, gap, self.bits + self.guard, rows)

    def _difference(self, tokens: Any) -> Any:
        outputs = attention(self.network, tokens, BALLS)
        return (outputs[0] - outputs[1])[self.channels]

    def _room(self, tokens: Any) -> Array:
        return _room(self.network, np.asarray(tokens, dtype=np.float64)).reshape(-1)

    def _all_columns(self, tokens: Any) -> Any:
        return pair_jacobian(self.network, tokens)[self.channels]

    def _jacobian(self, tokens: Any) -> Any:
        """d g / d(free coordinates): (k, k)."""
        return self._all_columns(tokens)[:, np.ravel_multi_index(self.index, tokens.shape)]

    def _rounded(self) -> ExactArray:
        exact = np.vectorize(balls.middle, otypes=[object])(self.tokens)
        unit = 2 ** (self.bits // 2)
        for place in self.places:
            exact[place] = Fraction(round(exact[place] * unit), unit)
        return np.asarray(exact)
