"""Attack a network: the sequence on which it misses its target most, as far as float64 ascent finds it.

The error found is a lower bound on the sup error up to rounding; `checks.witness` encloses it in balls.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from constructions.adversary.forward import FORWARD64, seeded
from constructions.adversary.pairs import Array, folded
from constructions.adversary.starts import Starts
from constructions.arithmetic import FLOAT64
from constructions.evaluate import evaluate, target
from constructions.network import Network
from constructions.task import RetrievalTask

CROWD = 48  # sequences that climb at the same time
SCREENED = 20  # random sequences looked at for each place in the crowd
FIRST_STEP, LAST_STEP = 0.2, 1e-4


@dataclass(frozen=True)
class Attack:
    """The worst sequence found (T, d), and the error |network - target| there in float64."""

    sequence: Array
    error: float


def attack(network: Network, task: RetrievalTask, seed: int, budget_seconds: float = 5.0) -> Attack:
    """Maximise |network(X) - target(X)| over sequences in the cube: multi-start ascent, then mutations.

    Hypotheses: the network's first output is meant to be the target. Conclusion: lower bound on the sup error, up to
    rounding. Arithmetic: float64. The first ascent always runs; the budget cuts what follows.
    """
    deadline = time.monotonic() + budget_seconds
    generator = np.random.default_rng([seed, 0x61747461])
    small = folded(network)
    crowd = _screened(small, task, generator)
    crowd = _ascend(small, task, crowd)
    while time.monotonic() < deadline:
        crowd = _mutate(small, task, crowd, generator, deadline)
        worst = _best(crowd, _errors(small, task, crowd), 4)
        crowd = np.concatenate([worst, _screened(small, task, generator)[:-4]])
        crowd = _ascend(small, task, crowd)
    errors = _errors(small, task, crowd)
    sequence = crowd[int(np.argmax(errors))]
    return Attack(sequence, float(errors.max()))


def _errors(network: Network, task: RetrievalTask, tokens: Array) -> Array:
    return np.asarray(np.abs(evaluate(network, tokens, FLOAT64)[..., 0] - target(task, tokens, FLOAT64)))


def _best(tokens: Array, errors: Array, count: int) -> Array:
    return np.asarray(tokens[np.argsort(-errors)[:count]])


def _screened(network: Network, task: RetrievalTask, generator: np.random.Generator) -> Array:
    """The worst of many random sequences: uniform, few distinct tokens, and the extremes of the features."""
    count, shape = CROWD * SCREENED // 2, (task.seq_len, task.token_dim)
    uniform = generator.random((count, *shape))
    levels = generator.random((count, 3, task.token_dim))
    levels = np.where(generator.random(levels.shape) < 0.4, np.round(levels), levels)
    shares = generator.dirichlet([0.3, 0.3, 0.3], count)
    choice = (generator.random((count, task.seq_len, 1)) > np.cumsum(shares, axis=1)[:, None]).sum(axis=-1).clip(0, 2)
    crowded = np.take_along_axis(levels, choice[..., None], axis=1)
    starts = Starts(task, generator).kinds.values()
    tokens = np.concatenate([uniform, crowded, *(draw() for draw in starts)])
    return _best(tokens, _errors(network, task, tokens), CROWD)


def _ascend(network: Network, task: RetrievalTask, tokens: Array) -> Array:
    """Ascent in the error along its gradient, scaled to the largest coordinate; a step is halved where it fails."""
    errors, step = _errors(network, task, tokens), np.full((len(tokens), 1, 1), FIRST_STEP)
    gradient = _gradient(network, task, tokens)
    while np.any(active := step[:, 0, 0] > LAST_STEP):
        scale = np.abs(gradient).max(axis=(1, 2), keepdims=True)
        candidate = (tokens + step * gradient / np.maximum(scale, 1e-300)).clip(0, 1)
        found = _errors(network, task, candidate)
        better = active & (found > errors * (1 + 1e-6))
        tokens = np.where(better[:, None, None], candidate, tokens)
        errors = np.where(better, found, errors)
        step = np.where(better[:, None, None], np.minimum(1.3 * step, 0.5), step / 2)
        if better.any():
            gradient[better] = _gradient(network, task, tokens[better])
    return tokens


def _gradient(network: Network, task: RetrievalTask, tokens: Array) -> Array:
    """d |network - target| / d tokens: (B, T, d)."""
    dual = seeded(tokens, 0.0, 1.0)
    error = evaluate(network, dual, FORWARD64)[..., 0] - target(task, dual, FORWARD64)
    return np.asarray((error.tangent * np.sign(error.value)).T.reshape(tokens.shape))


def _mutate(
    network: Network, task: RetrievalTask, tokens: Array, generator: np.random.Generator, deadline: float
) -> Array:
    """Hill climbing by small changes: a few tokens replaced by corners, random ones or each other, or all shifted."""
    errors = _errors(network, task, tokens)
    for _ in range(200):
        if time.monotonic() > deadline:
            break
        chosen = generator.random((*tokens.shape[:2], 1)) < generator.choice([1, 2, 4]) / task.seq_len
        fresh = np.asarray(generator.random(tokens.shape))
        fresh = np.where(generator.random((len(tokens), 1, 1)) < 0.3, np.round(fresh), fresh)
        shuffled = generator.permuted(tokens, axis=1)
        fresh = np.where(generator.random((len(tokens), 1, 1)) < 0.4, shuffled, fresh)
        near = tokens + 0.02 * generator.normal(size=tokens.shape)
        fresh = np.where(generator.random((len(tokens), 1, 1)) < 0.3, near, fresh).clip(0, 1)
        candidate = np.where(chosen, fresh, tokens)
        found = _errors(network, task, candidate)
        better = found > errors
        tokens, errors = np.where(better[:, None, None], candidate, tokens), np.where(better, found, errors)
    return tokens
