"""Two sequences that an attention block cannot tell apart, with the largest target gap that a search finds (N8).

Each start is a rounded solution of the linear relaxation (`relaxation`) or one of several plain kinds (`starts`). Then
sequential linear programming over all tokens of both sequences, in float64, on the whitened equations
``A(first) - A(second) = 0``: a climb in the gap under an l1 penalty with second-order corrections, then a walk away
from the boundary of the cube and from kinks that keeps most of the gap, then Newton. What comes out is a guess:
`checks.collisions` proves that an exact collision lies next to it, or says that it cannot.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from constructions.adversary.linear_step import LinearModel
from constructions.adversary.pairs import Array, Observation, PairProblem, beyond_noise
from constructions.adversary.relaxation import Relaxation, Solution
from constructions.adversary.starts import Starts
from constructions.network import Network
from constructions.task import RetrievalTask

MAX_STEPS = 200
FIRST_RADIUS, RESTART_RADIUS, LAST_RADIUS, WIDEST_RADIUS = 0.02, 0.02, 1e-7, 0.5
FIRST_PENALTY, MAX_PENALTY = 1e3, 1e5
LEAST_GAIN, LEAST_GAP = 1e-6, 1e-4  # gain of a step relative to the gap
MAX_STALLS = 3
PATIENCE, QUICK, THOROUGH = 15, 1e-2, 1e-5
POLISHED = 4  # so many of the best pairs are climbed thoroughly
MAX_NEWTON = 12
MARGIN = 2e-3  # a coordinate nearer to the boundary of the cube than this is not used to meet the equations
MET = 1e-5  # l1 norm of the whitened equations below which a pair counts as met
RCOND = 1e-8
KEPT = 0.995  # share of the gap that the walk into the interior keeps
FURTHER = (0.9, 0.5)  # the same, for pairs that could not be proved
FALLBACKS = 2
INTERIOR_STEPS = 8
DISTINCT = 0.03


@dataclass(frozen=True)
class FloatPair:
    """What the search found: tokens (T, d) in float64, target gap, whitened l1 residual; nothing is proved."""

    first: Array
    second: Array
    gap: float
    residual: float
    start: str
    seconds: float


Progress = Callable[[int, int, float], None]


def search(
    network: Network,
    task: RetrievalTask,
    seed: int,
    budget_seconds: float = 30.0,
    starts: int = 12,
    progress: Progress | None = None,
) -> tuple[FloatPair, ...]:
    """Pairs of sequences with (nearly) equal attention outputs, largest target gap first; untrusted (N8).

    Arithmetic: float64. At most ``starts`` starts, none begun after ``budget_seconds``; ``progress(done, starts, best
    gap)`` after each. The result depends on ``seed`` only, unless the budget or an LP's time limit cuts it short.
    Empty if no start met the equations. Source: N8; method as described above.
    """
    begin = time.monotonic()
    deadline = begin + budget_seconds
    generator = np.random.default_rng([seed, 0x636F6C6C])
    problem = PairProblem(network, task)
    found: list[FloatPair] = []

    def keep(name: str, pair: Array) -> None:
        gap, residual = problem.gap(pair), problem.residual(pair)
        known = any(np.array_equal(pair, (other.first, other.second)) for other in found)
        if residual < MET and gap > 0 and not known:
            found.append(FloatPair(pair[0], pair[1], gap, residual, name, time.monotonic() - begin))
            found.sort(key=lambda pair: -pair.gap)

    for done, (name, start) in enumerate(islice(_starts(problem, generator, starts, deadline), starts)):
        keep(name, restore(problem, climb(problem, restore(problem, start), generator, deadline, QUICK)))
        if progress is not None:
            progress(done + 1, starts, found[0].gap if found else 0.0)
        if time.monotonic() > deadline:
            break
    for pair in tuple(found[:POLISHED]):
        polished = climb(problem, np.stack([pair.first, pair.second]), generator, deadline, THOROUGH)
        keep(pair.start, restore(problem, polished))
        keep(pair.start, restore(problem, retreat(problem, polished, generator, deadline)))
    return tuple(found)


def _starts(
    problem: PairProblem, generator: np.random.Generator, count: int, deadline: float
) -> Iterator[tuple[str, Array]]:
    """Two promising solutions of the relaxation for each plain start; more of them are drawn if ``count`` is large."""
    plain = Starts(problem.task, generator)
    while problem.network.token_layers:  # what a token tells depends on all others: no linear relaxation
        for name, draw in plain.kinds.items():
            yield name, draw()
    relaxation = Relaxation(problem, plain.signs, generator)
    while True:
        drawn = _solutions(relaxation, 4 + count, 2 * count, deadline)
        for number, (name, draw) in enumerate(plain.kinds.items()):
            for solution in drawn[2 * number : 2 * number + 2]:
                yield "relaxation", solution.pair
            yield name, draw()


def _solutions(relaxation: Relaxation, draws: int, refinements: int, deadline: float) -> list[Solution]:
    """Independent draws, then refinements of the best ones; largest promised gap first, near copies left out."""
    drawn: list[Solution] = []
    for number in range(draws + refinements):
        if time.monotonic() > deadline:
            break
        drawn.sort(key=lambda solution: -solution.gap)
        base = drawn[number % 3 % len(drawn)] if number >= draws and drawn else None
        if (solution := relaxation.draw() if base is None else relaxation.refine(base)) is not None:
            drawn.append(solution)
    chosen: list[Solution] = []
    for solution in sorted(drawn, key=lambda solution: -solution.gap):
        distances = [np.abs(solution.larger - other.larger).max() for other in chosen]
        if min(distances, default=1.0) > DISTINCT:
            chosen.append(solution)
    return chosen


def climb(
    problem: PairProblem, pair: Array, generator: np.random.Generator, deadline: float, least_share: float
) -> Array:
    """Sequential linear programming from ``pair`` (2, T, d) until no step helps or time is up.

    It also ends where `PATIENCE` steps gain less than ``least_share`` of the gap.
    """
    penalty, radius, stalls = FIRST_PENALTY, FIRST_RADIUS, 0
    here = problem.observe(pair, generator)
    history: list[float] = []
    for _ in range(MAX_STEPS):
        if time.monotonic() > deadline:
            break
        step, predicted = LinearModel(here, pair, radius).ascent(penalty)
        residual = here.residual
        merit = here.gap - penalty * residual
        history.append(merit)
        if len(history) > PATIENCE and residual < MET and merit - history[-PATIENCE] < least_share * here.gap:
            break
        if step is None or predicted - merit < LEAST_GAIN * max(here.gap, LEAST_GAP) or radius < LAST_RADIUS:
            stalls += 1
            if stalls >= MAX_STALLS:
                if residual < MET or penalty >= MAX_PENALTY:
                    break
                penalty, stalls, history = 10 * penalty, 0, []
            radius = max(radius, RESTART_RADIUS)
            here = problem.observe(pair, generator)  # tokens on a kink see another side
            continue
        candidate, found = corrected(problem, here, (pair + step).clip(0, 1), penalty)
        gained = (found - merit) / (predicted - merit)
        if gained > 0.05:
            pair, here = candidate, problem.observe(candidate, generator)
            stalls = 0 if gained * (predicted - merit) > LEAST_GAIN * max(here.gap, LEAST_GAP) else stalls
        radius = min(2 * radius, WIDEST_RADIUS) if gained > 0.7 else radius if gained > 0.25 else radius / 3
    return pair


def further_inside(
    network: Network, task: RetrievalTask, seed: int, found: Sequence[FloatPair], deadline: float
) -> Iterator[FloatPair]:
    """The best pairs found, walked further away from the boundary of the cube and from kinks."""
    generator = np.random.default_rng([seed, 0x66616C6C])
    problem = PairProblem(network, task)
    for kept in FURTHER:
        for old in found[:FALLBACKS]:
            pair = retreat(problem, np.stack([old.first, old.second]), generator, deadline, kept)
            yield replace(old, first=pair[0], second=pair[1], gap=problem.gap(pair), residual=problem.residual(pair))


def retreat(
    problem: PairProblem, pair: Array, generator: np.random.Generator, deadline: float, kept: float = KEPT
) -> Array:
    """Move tokens away from the boundary of the cube and from kinks, keeping the equations and most of the gap.

    Vertices of linear programs crowd tokens there, where they cannot serve as the free coordinates of a proof.
    """
    radius, least_gap = RESTART_RADIUS, kept * problem.gap(pair)
    for _ in range(INTERIOR_STEPS):
        here = problem.observe(pair, generator)
        step, _ = LinearModel(here, pair, radius).interior(MAX_PENALTY, least_gap)
        if step is None or time.monotonic() > deadline:
            break
        candidate, _ = corrected(problem, here, (pair + step).clip(0, 1), MAX_PENALTY)
        if problem.residual(restore(problem, candidate)) > max(here.residual, MET):
            radius /= 4
            continue
        pair = candidate
    return pair


def restore(problem: PairProblem, pair: Array) -> Array:
    """Damped Newton steps onto the surface of equal outputs, least change relative to the room to the boundary."""
    for _ in range(MAX_NEWTON):
        jacobian, whitened = problem.equations(pair)
        difference = whitened(pair)
        residual = np.abs(difference).sum()
        correction = _correction(jacobian, pair, difference)
        for damping in (1.0, 0.3, 0.1, 0.03):
            candidate = (pair + damping * correction).clip(0, 1)
            found = np.abs(whitened(candidate)).sum()
            if found < (1 - 0.3 * damping) * residual:
                break
        else:
            break
        pair = candidate
    return pair


def corrected(problem: PairProblem, here: Observation, candidate: Array, penalty: float) -> tuple[Array, float]:
    """The candidate or its second-order correction, whichever has the larger merit, and the merit."""

    def merit(pair: Array) -> tuple[float, Array]:
        whitened = here.whitened(pair)
        return problem.gap(pair) - penalty * float(np.abs(beyond_noise(whitened)).sum()), whitened

    plain, whitened = merit(candidate)
    second_order = (candidate + _correction(here.jacobian, candidate, whitened)).clip(0, 1)
    better, _ = merit(second_order)
    return (second_order, better) if better > plain else (candidate, plain)


def _correction(jacobian: Array, pair: Array, difference: Array) -> Array:
    """The step that meets the linearised equations; those in which hardly anything moves are left alone."""
    room = np.minimum(pair, 1 - pair)
    weight = np.where(room < MARGIN, 0, room).reshape(-1)
    equations = np.concatenate([jacobian[0], -jacobian[1]], axis=1)
    movable = np.where(np.linalg.norm(equations, axis=1) > 0.5, 1.0, 0.0)  # rows of whitened equations have length 1
    solution = np.linalg.lstsq(movable[:, None] * equations * weight, -movable * difference, rcond=RCOND)[0]
    return np.asarray((solution * weight).reshape(pair.shape))
