"""From a float guess to the basin of Newton's method, at high precision: nothing here is proved.

Scores that spread by 50 make some equations e^50 times fainter than others: float64 cannot see whether they are met,
nor which coordinates serve them. Everything below is invariant under any regular recombination of the equations, so
faint ones count as much as loud ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from checks import balls
from checks.balls import BALLS, Ball
from constructions.adversary.pairs import Array

MAX_STEPS = 20
NEAR = 1e-10
"""Newton's step, relative to the room of each coordinate, at which the basin is taken to be reached."""
LONGEST = 0.5
"""No coordinate moves by more than this share of its room at once."""
PATIENCE = 4
"""In so many steps the length must halve."""
LEAST_DAMPING = 0.01
DEPENDENT = Fraction(1, 2**300)
"""Squared share of a row's length beside earlier rows, up to which it counts as rounding."""
FARTHEST = 1e100
"""Longer steps than this many rooms are all alike."""


@dataclass(frozen=True)
class Whitened:
    """Equations with Jacobian A (k, N), columns weighted by the room of each coordinate, recombined.

    inverse (r, k) in balls; rows (r, N) float64: inverse A, orthonormal; r the rank of A.
    """

    inverse: Any
    rows: Array

    @staticmethod
    def of(jacobian: Any, room: Array) -> Whitened:
        """From midpoints (k, N) and the room (N,); rows that depend on earlier ones are left out."""
        count, columns = jacobian.shape
        weighted = jacobian * BALLS.asarray(room)
        table = np.concatenate([weighted, BALLS.asarray(np.eye(count))], axis=1)
        kept = table[:0]
        for row in table:  # Gram-Schmidt, twice is enough
            own, size = row[None], _square(row[:columns])
            for _ in range(2 if len(kept) else 0):
                own = middles(own - BALLS.matmul(BALLS.matmul(own[:, :columns], kept[:, :columns].T), kept))
            rest = _square(own[0, :columns])
            if balls.surely_below(size * BALLS.constant(DEPENDENT), rest):
                kept = np.concatenate([kept, middles(own / rest.sqrt())])
        return Whitened(kept[:, columns:], np.asarray(kept[:, :columns], dtype=np.float64))

    def coordinates(self, difference: Any) -> Array:
        """The equations' values (r,) in the orthonormal rows: how many rooms Newton's step goes, float64."""
        values = np.array([float(value) for value in BALLS.matmul(self.inverse, middles(difference)[:, None])[:, 0]])
        return np.asarray(np.clip(np.nan_to_num(values, nan=FARTHEST), -FARTHEST, FARTHEST))


def approach(
    tokens: Any,
    room_of: Callable[[Array], Array],
    difference_of: Callable[[Any], Any],
    jacobian_of: Callable[[Any], Any],
) -> tuple[Any, Whitened] | None:
    """Damped Newton steps of least length, measured in rooms, from tokens (2, T, d).

    In balls: the difference (k,) and its Jacobian (k, 2 T d); ``room_of`` gives the room (2 T d,) of each coordinate.
    The length of the next step must shrink (Deuflhard's natural test). None where it does not.
    """
    difference = difference_of(tokens)
    lengths: list[float] = []
    for _ in range(MAX_STEPS):
        room = room_of(tokens)
        whitened = Whitened.of(middles(jacobian_of(tokens)), room)
        need = whitened.coordinates(difference)
        length = float(np.linalg.norm(need))
        if length < NEAR:
            return tokens, whitened
        lengths.append(length)
        if len(lengths) > PATIENCE and length > lengths[-PATIENCE] / 2:
            return None
        direction = -(whitened.rows.T @ need)
        damping = min(1.0, LONGEST / float(np.abs(direction).max()))
        while damping > LEAST_DAMPING:
            moved = tokens + BALLS.asarray((damping * direction * room).reshape(tokens.shape))
            found = difference_of(moved)
            if np.linalg.norm(whitened.coordinates(found)) <= (1 - damping / 2) * length:
                break
            damping /= 3
        else:
            return None
        tokens, difference = moved, found
    return None


def _square(row: Any) -> Ball:
    """The square of a row's length."""
    square: Ball = BALLS.matmul(row[None], row[:, None])[0, 0].mid()
    return square


def middles(array: Any) -> Any:
    """Midpoints as balls of radius 0."""
    return np.frompyfunc(lambda ball: ball.mid(), 1, 1)(array)
