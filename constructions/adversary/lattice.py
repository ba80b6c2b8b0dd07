"""Pairs on the proof's grid: a continuous solution on the segment, moved to grid points by Babai rounding.

The set-up of T2.2's proof: free positions hold points of one segment G, all others are fixed as in T2.2-W. Both
subsequences are unknown, u in [0,1]^{2 tau} (shares of the segment); n s equations ask for equal attention outputs. A
lattice of integer steps d/M on which the linearised outputs nearly vanish is reduced (LLL), and the residual at the
nearest grid point is cancelled by a close vector (Babai's nearest plane): the grid 1/M costs a few steps of 1/M of the
target gap, and the outputs agree to far below 1/M. Untrusted: float64 derivatives, exact integers, no proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from constructions.adversary.grid import CandidateSet, Point, Roles
from constructions.adversary.pairs import Array, outputs_and_jacobian
from constructions.arithmetic import FLOAT64
from constructions.evaluate import target
from constructions.network import Network
from constructions.task import RetrievalTask
from theory.errors import HeadcountError

LEVELS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
STARTS = 4
NEWTON_STEPS = 60
MET = 1e-3  # a relative Newton step below this ends the iteration: what is left is quadratically small, or invisible
STAY = Fraction(9, 10)  # share of the room to the ends of its range by which an unknown may move at once
NOISE, VISIBLE = 1e-16, 1e-3  # rounding of outputs in float64; directions that it moves by more than this are left out
LOW = 1e-3  # where the first differing position of the first subsequence sits
ROOM = 1e-6  # unknowns this near to an end of their range do not move
RANK = 1e-13
RANKS = (1e-5, 1e-8, 1e-10, 1e-12, RANK)  # what moves the outputs most is met first: faint directions take long steps
MOST_UNKNOWNS = 72
INTEGER_BITS = 60
MOST_PASSES = 40
SCALES = (0.3, 0.6, 0.75, 0.85, 0.95)

Reduce = Callable[[Sequence[Sequence[int]]], list[list[int]]]


class NoSolution(HeadcountError):
    """No continuous solution was found on the segment."""


@dataclass(frozen=True, eq=False)
class SegmentProblem:
    """Both sequences as functions of the shares u (2, tau) of the segment from ``start`` to ``end``."""

    network: Network
    task: RetrievalTask
    roles: Roles
    start: Point
    end: Point
    frame: Any  # (T, d) of Fractions: W_1 wherever it is fixed

    @property
    def columns(self) -> list[int]:
        return [t - 1 for t in self.roles.free]

    def tokens(self, shares: Array) -> Array:
        """(2, T, d) in float64."""
        start, step = self._segment()
        whole = np.repeat(np.asarray(self.frame, dtype=np.float64)[None], 2, axis=0)
        whole[:, self.columns] = start + shares[..., None] * step
        return whole

    def exact_tokens(self, numerators: Any, grid: int) -> tuple[Any, Any]:
        """The two sequences (T, d) of Fractions at shares numerators/grid (2, tau)."""
        made = []
        for row in numerators:
            whole = np.array(self.frame, dtype=object)
            for column, numerator in zip(self.columns, row, strict=True):
                share = Fraction(int(numerator), grid)
                whole[column] = [a + share * (b - a) for a, b in zip(self.start, self.end, strict=True)]
            made.append(whole)
        return made[0], made[1]

    def gap(self, shares: Array) -> float:
        targets = target(self.task, self.tokens(shares), FLOAT64)
        return float(abs(targets[0] - targets[1]))

    def linearised(self, shares: Array) -> tuple[Array, Array]:
        """A(first) - A(second) (k,), and its derivatives (k, 2 tau) by the shares."""
        outputs, jacobian = outputs_and_jacobian(self.network, self.tokens(shares))
        _, step = self._segment()
        by_token = jacobian.reshape(2, outputs.shape[1], self.task.seq_len, -1)[:, :, self.columns] @ step
        return outputs[0] - outputs[1], np.concatenate([by_token[0], -by_token[1]], axis=1)

    def _segment(self) -> tuple[Array, Array]:
        start, end = (np.array([float(x) for x in point]) for point in (self.start, self.end))
        return start, end - start


@dataclass(frozen=True, eq=False)
class Continuous:
    """A solution in float64: shares (2, tau), the gap of the targets."""

    shares: Array
    gap: float


def segment_problem(
    network: Network, task: RetrievalTask, points: CandidateSet, roles: Roles, segment: tuple[Point, Point]
) -> SegmentProblem:
    """The problem with the roles of T2.2-W; free positions will hold points of ``segment``."""
    filler = points.minimisers[[i for i in range(task.num_targets) if i != roles.basin][-1]]
    rows = [filler] * task.seq_len
    for t, token in roles.maximal:
        rows[t - 1] = token
    for i, t in roles.representatives:
        rows[t - 1] = points.minimisers[i]
    frame = np.array([list(row) for row in rows], dtype=object)
    return SegmentProblem(network, task, roles, *segment, frame)


def solutions(problem: SegmentProblem, seed: int) -> Iterator[Continuous]:
    """Equal outputs with one token of the first subsequence at the low end and the second above a level.

    Damped Gauss-Newton from random starts; the highest level with a solution first, at most one for each. Float64.
    """
    generator = np.random.default_rng([seed, 0x6C617474])
    tau = len(problem.roles.free)
    for level in LEVELS:
        low, high = np.zeros((2, tau)), np.ones((2, tau))
        low[1], low[0], high[0, 0] = level, LOW, LOW
        for _ in range(STARTS):
            shares = _newton(problem, low + (high - low) * generator.random((2, tau)), low, high)
            if shares is not None:
                yield Continuous(shares, problem.gap(shares))
                break


def rounding(problem: SegmentProblem, solution: Continuous, grid: int) -> float:
    """How far grid points next to an exact solution may move an input of the read-out, about (an estimate)."""
    weight = np.abs(np.asarray(problem.network.output_weight, dtype=np.float64))
    _, jacobian = problem.linearised(solution.shares)
    return float((weight @ np.linalg.norm(jacobian, axis=1)).max()) / grid


def _newton(problem: SegmentProblem, shares: Array, low: Array, high: Array) -> Array | None:
    """Directions in which float64 cannot tell the outputs apart are left to `refine`, which has exact residuals."""
    for _ in range(NEWTON_STEPS):
        difference, jacobian = problem.linearised(shares)
        room = np.minimum(shares - low, high - shares).clip(0)
        left, singular, right = np.linalg.svd(jacobian * room.ravel(), full_matrices=False)
        visible = singular > max(RANK * singular[0], NOISE / VISIBLE)
        if not visible.any():  # the segment has hardly any weight: case (2b)
            return shares if float(np.abs(difference).max()) < NOISE / VISIBLE else None
        inverse = np.where(visible, 1 / np.maximum(singular, 1e-300), 0.0)
        relative = -(right.T @ (inverse * (left.T @ difference))).reshape(shares.shape)
        if float(np.abs(relative).max()) < MET:
            return shares
        shares = shares + room * relative * min(1.0, float(STAY) / max(float(np.abs(relative).max()), 1e-300))
    return None


def refine(problem: SegmentProblem, numerators: Any, grid: int, residual: Any, rank: float) -> Any:
    """One Newton step from grid point numerators/grid (2, tau) with the given residual (k rationals), to the grid.

    The derivatives are float64's, so the residual shrinks by many orders each time until the grid stops it. Directions
    of the outputs fainter than ``rank`` are left alone: see `RANKS`.
    """
    shares = np.array([[float(Fraction(int(entry), grid)) for entry in row] for row in numerators])
    _, jacobian = problem.linearised(shares)
    room = np.minimum(shares, 1 - shares).clip(0).ravel() * (shares.ravel() > 2 * LOW)
    inverse = np.linalg.pinv(jacobian * room, rcond=rank)
    # In integers: with residual R/2^p and inverse N/2^q the unknowns move by -N R/2^{p+q}.
    largest = max(abs(entry) for entry in residual)
    places = INTEGER_BITS + max(0, largest.denominator.bit_length() - largest.numerator.bit_length())
    scale = INTEGER_BITS - int(np.frexp(max(float(np.abs(inverse).max()), 1e-300))[1])
    integers = np.array([[int(entry) for entry in row] for row in np.round(np.ldexp(inverse, scale))], dtype=object)
    moves = -(integers @ np.array([round(entry * 2**places) for entry in residual], dtype=object))
    unit = Fraction(1, 2**places) / Fraction(2) ** scale
    share = min(Fraction(1), STAY / max(max(map(abs, moves)) * unit, Fraction(1, 2**400)))
    steps = [
        round(move * Fraction(float(width)) * (unit * share * grid)) for move, width in zip(moves, room, strict=True)
    ]
    return numerators + np.array(steps, dtype=object).reshape(numerators.shape)


def close_steps(numerators: Any, grid: int, residual: Any, jacobian: Any, reduce: Reduce) -> list[Any]:
    """Grid points near numerators/grid at which the outputs nearly agree: one for each scale of the lattice.

    residual (k,) and jacobian (k, 2 tau) of Fractions: difference of the outputs, and its derivatives by the shares.
    The lattice is spanned by the rows ``[e_i | round(2^b J_i / max|J|)]``; Babai's nearest plane finds d with J d/M
    close to -residual. Its vectors have B ~ 2^{b k/K} for K unknowns, so that J d/M is met to B/(2^b M), and the
    second order is B^2/M^2: the best b is near log2(M)/(1 + k/K), and a few shares of log2(M) are tried.
    """
    shares = np.array([[float(Fraction(int(entry), grid)) for entry in row] for row in numerators])
    sizes = np.array([[float(abs(entry)) for entry in row] for row in jacobian]).sum(axis=0)
    movable = np.flatnonzero((np.minimum(shares - LOW, 1 - shares).ravel() > ROOM) & (sizes > 0))
    movable = movable[np.argsort(-sizes[movable], kind="stable")[:MOST_UNKNOWNS]]
    found = []
    for share in SCALES if len(movable) else ():
        scale = Fraction(2 ** round(share * (grid.bit_length() - 1))) / max(map(max, np.abs(jacobian[:, movable])))
        columns = [[round(entry * scale) for entry in jacobian[:, i]] for i in movable]
        rows = [[int(i == j) for j in range(len(movable))] + entries for i, entries in enumerate(columns)]
        goal = [0] * len(movable) + [round(-Fraction(entry) * grid * scale) for entry in residual]
        closest = nearest_plane(reduce(rows), goal)
        moved = np.array(numerators, dtype=object).ravel().copy()
        moved[movable] = moved[movable] + np.array(closest[: len(movable)], dtype=object)
        if all(0 <= entry <= grid for entry in moved):
            found.append(moved.reshape(np.shape(numerators)))
    return found


def nearest_plane(basis: Sequence[Sequence[int]], goal: Sequence[int]) -> list[int]:
    """Babai: a lattice vector close to ``goal``; coefficients in float64, vectors in exact integers.

    >>> nearest_plane([[2, 0], [0, 3]], [5, 7])
    [4, 6]
    """
    rows = np.array(basis, dtype=object)
    triangular = np.linalg.qr(rows.astype(np.float64).T)
    rest = np.array(list(goal), dtype=object)
    vector = np.zeros(len(goal), dtype=object)
    for _ in range(MOST_PASSES):  # each pass fixes the 50 leading bits of the coefficients
        start = vector
        for i in range(len(rows) - 1, -1, -1):
            along = triangular.Q[:, i]
            coefficient = round(float(along @ rest.astype(np.float64)) / float(triangular.R[i, i]))
            rest, vector = rest - coefficient * rows[i], vector + coefficient * rows[i]
        if np.array_equal(start, vector):
            break
    return [int(entry) for entry in vector]
