"""Honest pairs on the proof's grid: `constructions.adversary.lattice` with exact residuals and proved distances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from checks import balls
from checks.balls import BALLS
from checks.constants import constants
from checks.grid_points import even_points
from checks.lattices import reduced
from checks.pair_certificates import near_collision
from constructions.adversary.grid import choose_roles, repaired_index_sets
from constructions.adversary.lattice import (
    RANKS,
    Continuous,
    NoSolution,
    SegmentProblem,
    close_steps,
    refine,
    rounding,
    segment_problem,
    solutions,
)
from constructions.arithmetic import ExactArray
from constructions.evaluate import apply_map, attention, target
from constructions.network import Network
from constructions.retrieval_task import within
from constructions.task import RetrievalTask
from theory.errors import InvalidInput
from theory.too_few_heads import exponent_published, exponent_sharpened, require_free

COARSE = 64
"""Points of a segment among which the maximal tokens y_j are looked for."""
MOST_BITS, LEAST_BITS, GUARD = 2048, 192, 64
MOST_GRID_BITS = (MOST_BITS - GUARD) // 3
STEP_BITS = 20
MOST_REFINEMENTS, DETOURS, TRIED = 24, 4, 3
CANCELLED = 1e-3
"""LLL and Babai have worked where the outputs agree better, by this factor, than grid points next to a solution."""


@dataclass(frozen=True, eq=False)
class LatticePair:
    """Two sequences on the grid 1/M of a segment; gap and distance are proved, ``continuous`` is float64's solution.

    ``free``: tau, the number of free positions; ``rounded``: the distance at the nearest grid points, before LLL.
    """

    network: Network
    task: RetrievalTask
    grid: int
    free: int
    first: ExactArray
    second: ExactArray
    gap_lower: Fraction
    distance_upper: Fraction
    rounded_upper: Fraction
    continuous: Continuous
    rho: Fraction
    precision: int

    @property
    def eps(self) -> Fraction:
        """The eps that belongs to the grid: T2.2-grid has M <= rho/(3 eps)."""
        return self.rho / (3 * self.grid)

    @property
    def reached_exponent(self) -> float:
        """log distance/log eps, to be compared with k + 1."""
        return _log2(self.distance_upper) / _log2(self.eps)

    @property
    def predicted_exponents(self) -> tuple[Fraction, Fraction]:
        """k + 1 of T2.2 and of N4 (which count (n+1)s sums; only n s ratios are matched here)."""
        size = (self.network.value_dim // self.network.num_heads, self.network.num_heads, self.task.num_targets)
        length, support = self.task.seq_len, self.task.smallest_support
        return 1 + exponent_published(length, *size), 1 + exponent_sharpened(length, *size, support)

    def certificate(self) -> dict[str, Any]:
        """The near_collision certificate."""
        sequences, precision = (self.first, self.second), min(self.precision, MOST_BITS)
        return near_collision(self.network, self.task, sequences, self.gap_lower, self.distance_upper, precision)


def lattice_pair(
    network: Network, task: RetrievalTask, grid_bits: int = 40, seed: int = 0, free: int | None = None
) -> LatticePair:
    """A pair on the grid M = 2^grid_bits: continuous solution, Newton to the grid, LLL and Babai, proved in balls.

    Claims T2.2-grid, T2.2-W (roles as in N4: maximal weights among all positions). ``free``: number of free positions,
    default T_0 = min |S_i| - s - D + 1. Raises InvalidInput; NoSolution where nothing was found on the segment.
    """
    within("grid_bits", grid_bits, MOST_GRID_BITS)
    found = constants(task)
    if found.basins is None or found.rho is None:
        raise InvalidInput.about("task", "no segments with rho > 0", "N4's hypotheses", "another task")
    if free is None:
        free = require_free(task.smallest_support - network.num_heads - task.num_targets + 1)
    points = even_points(found, COARSE)
    roles = choose_roles(network, task, points, repaired_index_sets(network, task), free)
    basin = found.basins[roles.basin]
    problem = segment_problem(network, task, points, roles, (basin.start, basin.end))
    precision = max(LEAST_BITS, 3 * grid_bits + GUARD)
    best: LatticePair | None = None
    with balls.precision(precision):
        for solution in islice(solutions(problem, seed), TRIED):
            goal = rounding(problem, solution, 2**grid_bits)
            numerators, rounded, distance = _onto_grid(problem, solution, 2**grid_bits)
            first, second = problem.exact_tokens(numerators, 2**grid_bits)
            a, b = (target(task, BALLS.asarray(tokens), BALLS) for tokens in (first, second))
            gap = balls.lower(balls.absolute(a - b))
            found_one = 2 * gap >= Fraction(solution.gap) and distance <= max(goal, 1 / 2**grid_bits)
            if found_one and (best is None or distance < best.distance_upper):
                best = LatticePair(
                    *(network, task, 2**grid_bits, free, first, second),
                    *(gap, distance, rounded, solution, found.rho, precision),
                )
                if distance <= CANCELLED * goal:
                    break
    if best is None:
        raise NoSolution(
            f"no two subsequences on the segment with equal outputs and a gap: {network.value_dim} equations, "
            f"{2 * free - 1} unknowns. Try: a longer T, another seed, smaller beta"
        )
    return best


@dataclass(frozen=True, eq=False)
class _GridPoint:
    """Numerators (2, tau) of shares, the difference of the outputs there, the distance of the read-out's inputs."""

    numerators: Any
    residual: list[Fraction]
    distance: Fraction


def _onto_grid(problem: SegmentProblem, solution: Continuous, grid: int) -> tuple[Any, Fraction, Fraction]:
    """Numerators (2, tau) with the least distance found, the distance before LLL, and that distance."""
    start = np.array([[round(Fraction(float(x)) * grid) for x in row] for row in solution.shares], dtype=object)
    here = _descend(problem, _at(problem, start, grid), grid)
    for _ in range(DETOURS):
        # A long step for the faintest outputs disturbs the others, which are then met again by short ones.
        beyond = refine(problem, here.numerators, grid, here.residual, RANKS[-1])
        there = _descend(problem, _at(problem, beyond, grid), grid)
        progress = 2 * there.distance < here.distance
        here = min(here, there, key=lambda entry: entry.distance)
        if not progress:
            break
    jacobian = _jacobian(problem, here.numerators, grid)
    candidates = close_steps(here.numerators, grid, here.residual, jacobian, reduced)
    best = min((here, *(_at(problem, candidate, grid) for candidate in candidates)), key=lambda point: point.distance)
    return best.numerators, here.distance, best.distance


def _descend(problem: SegmentProblem, point: _GridPoint, grid: int) -> _GridPoint:
    """Newton steps while they halve the distance, for the outputs that move most first."""
    for rank in RANKS:
        for _ in range(MOST_REFINEMENTS):
            moved = _at(problem, refine(problem, point.numerators, grid, point.residual, rank), grid)
            progress = 2 * moved.distance < point.distance
            point = min(point, moved, key=lambda entry: entry.distance)
            if not progress:
                break
    return point


def _at(problem: SegmentProblem, numerators: Any, grid: int) -> _GridPoint:
    return _GridPoint(numerators, *_residual(problem, numerators, grid))


def _jacobian(problem: SegmentProblem, numerators: Any, grid: int) -> Any:
    """Derivatives (k, 2 tau) of A(first) - A(second) by the shares, as Fractions, to about log2(grid) bits.

    With p the softmax weights, dA = p_t ((v_t - A) s_t' + v_t'); score and value of a token are differentiated by a
    quotient over 2^-20/grid.
    """
    network, finer = problem.network, grid << STEP_BITS
    here = problem.exact_tokens(numerators, grid)
    beyond = problem.exact_tokens((numerators << STEP_BITS) + 1, finer)
    blocks = []
    for tokens, moved, sign in zip(here, beyond, (1, -1), strict=True):
        states, after = (apply_map(network.encoder, BALLS.asarray(entry), BALLS) for entry in (tokens, moved))
        slopes = (after - states)[problem.columns] * finer
        rows = []
        for head, direction in zip(network.heads, network.score_directions, strict=True):
            column, matrix = BALLS.asarray(direction[:, None]), BALLS.asarray(head.value.T)
            scores, values = BALLS.matmul(states, column)[:, 0], BALLS.matmul(states, matrix)
            weights = BALLS.exp(scores - balls.maximum(list(scores)))
            shares = weights / weights.sum()
            centred = values - BALLS.matmul(shares[None], values)
            moves = centred[problem.columns] * BALLS.matmul(slopes, column) + BALLS.matmul(slopes, matrix)
            rows.append((shares[problem.columns][:, None] * moves).T * sign)
        blocks.append(np.concatenate(rows))
    exact: Any = np.vectorize(balls.middle, otypes=[object])(np.concatenate(blocks, axis=1))
    return exact


def _residual(problem: SegmentProblem, numerators: Any, grid: int) -> tuple[list[Fraction], Fraction]:
    """The difference of the attention outputs (middles of balls), and an upper bound on that of the inputs of F."""
    a, b = (attention(problem.network, BALLS.asarray(x), BALLS) for x in problem.exact_tokens(numerators, grid))
    inputs = BALLS.matmul(BALLS.asarray(problem.network.output_weight), (a - b)[:, None])[:, 0]
    return [balls.middle(entry) for entry in a - b], max(balls.upper(balls.absolute(entry)) for entry in inputs)


def _log2(value: Fraction) -> float:
    if value <= 0:
        return -math.inf
    return math.log2(value.numerator) - math.log2(value.denominator)
