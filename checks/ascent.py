"""Search for sequences with a large error, in float64: untrusted, what it finds has to be evaluated rigorously."""

from __future__ import annotations

from typing import Any

import numpy as np

from constructions.arithmetic import FLOAT64
from constructions.evaluate import evaluate, target
from constructions.network import Network
from constructions.task import RetrievalTask

Array = np.ndarray[Any, np.dtype[np.float64]]

STARTS = 2048
KEPT = 8
GRID = 64
"""Starts have coordinates that are multiples of 1/GRID: ties and faces are met often."""
STEPS = 14
SWEEPS = 3


def largest_error(network: Network, task: RetrievalTask, generator: np.random.Generator) -> Array:
    """A sequence (T, d) of dyadic tokens where |network - target| is large: the best of many, then pattern search."""
    shape = (STARTS, task.seq_len, task.token_dim)
    found = generator.integers(0, GRID + 1, shape) / GRID
    found[::2, 1:] = found[::2, -1:]  # in every other start all tokens but one are equal: where softmin is worst
    errors = _errors(network, task, found)
    best = np.argsort(-errors)[:KEPT]
    found, errors = found[best], errors[best]
    for power in range(1, STEPS):
        for _ in range(SWEEPS):
            for token, axis in np.ndindex(task.seq_len, task.token_dim):
                for step in (2.0**-power, -(2.0**-power)):
                    moved = found.copy()
                    moved[:, token, axis] = np.clip(moved[:, token, axis] + step, 0.0, 1.0)
                    after = _errors(network, task, moved)
                    better = after > errors
                    found[better], errors[better] = moved[better], after[better]
    return np.asarray(found[errors.argmax()])


def _errors(network: Network, task: RetrievalTask, tokens: Array) -> Array:
    return np.asarray(np.abs(evaluate(network, tokens, FLOAT64)[..., 0] - target(task, tokens, FLOAT64)))
