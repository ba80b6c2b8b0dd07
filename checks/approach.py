"""From a float guess to the basin of Newton's method, at high precision: nothing here is proved.

Scores that spread by 50 make some equations e^50 times fainter than others: float64 cannot see whether they are met,
nor which coordinates serve them. Everything below is invariant under any regular recombination of the equations, so
faint ones count as much as loud ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from checks import balls
from checks.balls import BALLS
from constructions.adversary.pairs import Array
from theory.errors import NotFinite

MAX_STEPS = 30
NEAR = 1e-10
"""Newton's step, relative to the room of each coordinate, at which the basin is taken to be reached."""
LONGEST = 0.5
"""No coordinate moves by more than this share of its room at once."""
LEAST_DAMPING = 1e-3
FARTHEST = 1e100
"""Longer steps than this many rooms are all alike."""


@dataclass(frozen=True)
class Whitened:
    """Equations with Jacobian A (k, N), columns weighted by the room of each coordinate, recombined.

    inverse (k, k) in balls: L^-1 for the Cholesky factor L of ``A A^T``; rows (k, N) float64: L^-1 A, orthonormal.
    """

    inverse: Any
    rows: Array

    @staticmethod
    def of(jacobian: Any, room: Array) -> Whitened:
        """From midpoints (k, N) and the room (N,). NotFinite where the rows are dependent at this precision."""
        rows = jacobian * BALLS.asarray(room)
        size = len(rows)
        gram = middles(BALLS.matmul(rows, rows.T))
        inverse = BALLS.asarray(np.eye(size))
        for i in range(size):  # Gram-Schmidt in the inner product of A A^T
            if i:
                factors = BALLS.matmul(inverse[:i], gram[:, i : i + 1])[:, 0]
                inverse[i] = middles(inverse[i] - BALLS.matmul(factors[None], inverse[:i])[0])
            (square,) = BALLS.matmul(inverse[i : i + 1], BALLS.matmul(gram, inverse[i][:, None]))[0]
            if not balls.surely_below(balls.exact(0), square):
                raise NotFinite("equations that are dependent at this precision: more bits or another pair")
            inverse[i] = middles(inverse[i] / square.mid().sqrt())
        return Whitened(inverse, np.asarray(middles(BALLS.matmul(inverse, rows)), dtype=np.float64))

    def coordinates(self, difference: Any) -> Array:
        """The equations' values (k,) in the orthonormal rows: how many rooms Newton's step goes, float64."""
        values = np.array([float(value) for value in BALLS.matmul(self.inverse, middles(difference)[:, None])[:, 0]])
        return np.asarray(np.clip(np.nan_to_num(values, nan=FARTHEST), -FARTHEST, FARTHEST))


def approach(
    tokens: Any,
    room_of: Callable[[Array], Array],
    equations: Callable[[Any], tuple[Any, Any]],
) -> tuple[Any, Whitened] | None:
    """Damped Newton steps of least length, measured in rooms, from tokens (2, T, d).

    ``equations(tokens)`` gives difference (k,) and Jacobian (k, 2 T d) in balls, ``room_of`` the room of each
    coordinate. The length of the next step must shrink (Deuflhard's natural test). None where it does not.
    """
    difference, jacobian = equations(tokens)
    for _ in range(MAX_STEPS):
        room = room_of(tokens)
        whitened = Whitened.of(middles(jacobian), room)
        need = whitened.coordinates(difference)
        length = float(np.linalg.norm(need))
        if length < NEAR:
            return tokens, whitened
        direction = -(whitened.rows.T @ need)
        damping = min(1.0, LONGEST / float(np.abs(direction).max()))
        while damping > LEAST_DAMPING:
            moved = tokens + BALLS.asarray((damping * direction * room).reshape(tokens.shape))
            moved_difference, moved_jacobian = equations(moved)
            if np.linalg.norm(whitened.coordinates(moved_difference)) <= (1 - damping / 2) * length:
                break
            damping /= 3
        else:
            return None
        tokens, difference, jacobian = moved, moved_difference, moved_jacobian
    return None


def middles(array: Any) -> Any:
    """Midpoints as balls of radius 0."""
    return np.frompyfunc(lambda ball: ball.mid(), 1, 1)(array)
