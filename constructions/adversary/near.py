"""Pairs of sequences whose read-out inputs differ a little and whose targets differ much: the search behind N8's curve.

For a tolerance tau: maximise ``H(first) - H(second)`` subject to ``|W_O (A(first) - A(second))|_inf <= tau``. The
difference of the outputs is an unknown g of its own, kept in the polytope ``|W_O g|_inf <= tau``, and what remains are
equations ``A(first) - A(second) = g``: the search for exact collisions (`continuous`) with a slack in every step.
Neighbouring tolerances start from each other's pairs, upwards and downwards. Nothing is proved: `checks.capacity` does.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from constructions.adversary.continuous import (
    FIRST_PENALTY,
    FIRST_RADIUS,
    LAST_RADIUS,
    MAX_PENALTY,
    MAX_STALLS,
    MET,
    PATIENCE,
    RESTART_RADIUS,
    WIDEST_RADIUS,
    corrected,
    restore,
)
from constructions.adversary.linear_step import LinearModel, Slack
from constructions.adversary.pairs import NUDGE, Array, Observation, PairProblem
from constructions.adversary.starts import Starts
from constructions.arithmetic import FLOAT64
from constructions.evaluate import attention
from constructions.network import Network
from constructions.task import RetrievalTask

MAX_STEPS = 80
LEAST_SHARE = 1e-3  # a climb ends where `PATIENCE` steps gain less than this share of the gap
LEAST_GAIN = 1e-6
WITHIN = 0.999  # the search stays this share inside the tolerance, so that rounding does not leave it
COLD_FROM = 1e-3  # tolerances from which plain starts are tried as well
MAX_ROUNDS = 3

Progress = Callable[[float, float], None]


@dataclass(frozen=True)
class NearPair:
    """Tokens (2, T, d), target gap and sup-norm distance of the read-out's inputs in float64; nothing is proved."""

    tokens: Array
    gap: float
    distance: float


class NearProblem(PairProblem):
    """As `PairProblem`, with the equations ``A(first) - A(second) = offset``."""

    def __init__(self, network: Network, task: RetrievalTask) -> None:
        super().__init__(network, task)
        self.offset = np.zeros(network.value_dim)
        self.mixing = np.asarray(network.output_weight, dtype=np.float64)

    def at(self, offset: Array) -> NearProblem:
        """The same problem with another offset (k,)."""
        other = copy.copy(self)
        other.offset = offset
        return other

    def merit_terms(self, pair: Array) -> tuple[float, Array]:
        gap, difference = super().merit_terms(pair)
        return gap, difference - self.offset

    def near_pair(self, tokens: Array) -> NearPair:
        """What the pair is worth."""
        return NearPair(tokens, self.gap(tokens), self.size(self.difference(tokens)))

    def difference(self, tokens: Array) -> Array:
        """``A(first) - A(second)``, (k,)."""
        outputs = attention(self.network, tokens, FLOAT64)
        return np.asarray(outputs[0] - outputs[1])

    def size(self, difference: Array) -> float:
        """``|W_O difference|_inf``."""
        return float(np.abs(self.mixing @ difference).max())


def search_near(
    network: Network,
    task: RetrievalTask,
    tolerances: Sequence[float],
    known: Sequence[Array],
    seed: int,
    budget_seconds: float = 60.0,
    progress: Progress | None = None,
) -> tuple[NearPair, ...]:
    """For each tolerance the pair with the largest target gap that was found within it; untrusted (N8).

    Hypotheses: one layer, tolerances positive. ``known``: pairs (2, T, d) to start from, such as collisions.
    Conclusion: one pair for each tolerance that any pair meets, largest tolerance first. Arithmetic: float64. The
    result depends on ``seed`` only, unless the budget or an LP's time limit cuts it short.
    ``progress(share of the budget, tolerance)``. Raises InvalidInput: sizes of network and task that differ.
    """
    begin = time.monotonic()
    deadline = begin + budget_seconds
    generator = np.random.default_rng([seed, 0x6E656172])
    problem, plain = NearProblem(network, task), Starts(task, generator)
    best: dict[float, NearPair] = {}

    def offer(tokens: Array) -> None:
        pair = problem.near_pair(tokens)
        for tolerance in tolerances:
            if pair.distance <= tolerance and (tolerance not in best or pair.gap > best[tolerance].gap):
                best[tolerance] = pair

    def climb(tokens: Array, tolerance: float) -> None:
        if progress is not None:
            progress(min(1.0, (time.monotonic() - begin) / budget_seconds), tolerance)
        offer(climb_near(problem, tokens, tolerance, generator, deadline))

    for tokens in known:
        offer(tokens)
    ordered = sorted(tolerances)
    for _ in range(MAX_ROUNDS):
        before = {tolerance: pair.gap for tolerance, pair in best.items()}
        for tolerance in ordered:
            if tolerance in best:
                climb(best[tolerance].tokens, tolerance)
            for draw in plain.kinds.values() if tolerance >= COLD_FROM else ():
                if time.monotonic() < deadline:
                    climb(draw(), tolerance)
        for larger, tolerance in pairwise(ordered[::-1]):
            if larger in best and time.monotonic() < deadline:
                climb(best[larger].tokens, tolerance)
        gained = [pair.gap - before.get(tolerance, 0.0) for tolerance, pair in best.items()]
        if time.monotonic() > deadline or max(gained, default=0.0) < LEAST_SHARE:
            break
    return tuple(best[tolerance] for tolerance in ordered[::-1] if tolerance in best)


def climb_near(
    problem: NearProblem, pair: Array, tolerance: float, generator: np.random.Generator, deadline: float
) -> Array:
    """Sequential linear programming in the gap, read-out inputs at most ``tolerance`` apart, from ``pair`` (2, T, d).

    It ends where no step helps, steps gain little, or time is up; the last steps restore the equations.
    """
    bound = WITHIN * tolerance
    offset = problem.difference(pair)
    problem = problem.at(offset * min(1.0, bound / max(problem.size(offset), 1e-300)))
    penalty, radius, stalls = FIRST_PENALTY, FIRST_RADIUS, 0
    here, directions = _observe(problem, pair, generator)
    history: list[float] = []
    for _ in range(MAX_STEPS):
        if time.monotonic() > deadline:
            break
        model = LinearModel(here, pair, radius, _slack(problem, directions, bound))
        solution, predicted = model.ascent_with_slack(penalty)
        residual = here.residual
        merit = here.gap - penalty * residual
        history.append(merit)
        if len(history) > PATIENCE and residual < MET and merit - history[-PATIENCE] < LEAST_SHARE * here.gap:
            break
        if solution is None or predicted - merit < LEAST_GAIN or radius < LAST_RADIUS:
            stalls += 1
            if stalls >= MAX_STALLS:
                if residual < MET or penalty >= MAX_PENALTY:
                    break
                penalty, stalls, history = 10 * penalty, 0, []
            radius = max(radius, RESTART_RADIUS)
            here, directions = _observe(problem, pair, generator)
            continue
        moved = problem.at(problem.offset + directions @ model.slack_of(solution))
        view = _shifted(here, model.slack_of(solution))
        candidate, found = corrected(moved, view, (pair + model.step_of(solution)).clip(0, 1), penalty)
        gained = (found - merit) / (predicted - merit)
        if gained > 0.05:
            pair, problem, stalls = candidate, moved, 0
            here, directions = _observe(problem, pair, generator)
        radius = min(2 * radius, WIDEST_RADIUS) if gained > 0.7 else radius if gained > 0.25 else radius / 3
    return restore(problem, pair)


def _observe(problem: NearProblem, pair: Array, generator: np.random.Generator) -> tuple[Observation, Array]:
    """The observation, and the matrix (k, k) from whitened differences to differences of the outputs."""
    nudged = pair + NUDGE * generator.uniform(-1, 1, pair.shape)
    _, left, scale = problem.singular(nudged)
    return problem.observe_beside(pair, nudged), left * scale


def _slack(problem: NearProblem, directions: Array, bound: float) -> Slack:
    """The polytope ``|W_O (offset + directions w)|_inf <= bound`` in w, every row scaled to length 1."""
    rows, now = problem.mixing @ directions, problem.mixing @ problem.offset
    length = np.maximum(np.linalg.norm(rows, axis=1), 1e-300)
    return Slack(rows / length[:, None], (-bound - now) / length, (bound - now) / length)


def _shifted(here: Observation, slack: Array) -> Observation:
    return replace(here, whitened=lambda pair: here.whitened(pair) - slack)
