"""Sequences on which a network misses its target: float64 search, exact or ball confirmation."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from checks import balls
from constructions.arithmetic import EXACT, FLOAT64, ExactArray, fractions
from constructions.evaluate import evaluate, target
from constructions.network import Network
from constructions.network_json import tokens_to_json
from constructions.task import RetrievalTask
from theory.errors import InexactOperation
from theory.exact import format_exact
from theory.expressions import Variable

BITS = 256
GRID = 1024
"""Candidate tokens have coordinates that are multiples of 1/GRID."""
RANDOM_TOKENS = 64
KEPT = 4
MOST_CORNERS = 6


@dataclass(frozen=True, eq=False)
class Witness:
    """A sequence, a certified lower bound of the error there, and whether it holds for every beta > 0."""

    sequence: ExactArray
    error_lower: Fraction
    every_beta: bool

    def to_json(self) -> dict[str, Any]:
        """The fields of a `sup_error` certificate with relation ">=" (docs/certificates.md)."""
        return {
            "sequence": tokens_to_json(self.sequence),
            "bound": format_exact(self.error_lower),
            "every_beta": self.every_beta,
        }


def find_witness(network: Network, task: RetrievalTask, least: Fraction, seed: int = 0) -> Witness | None:
    """A sequence with certified error at least ``least``, or None if this search found none (which proves nothing).

    Tried: one token on S_i and another elsewhere for each feature (N2), and sequences of random tokens.
    """
    best: tuple[float, ExactArray] | None = None
    for sequence in _candidates(task, np.random.default_rng(seed)):
        tokens = np.asarray(sequence, dtype=np.float64)
        error = abs(float(evaluate(network, tokens, FLOAT64)[0] - target(task, tokens, FLOAT64)))
        if best is None or error > best[0]:
            best = error, sequence
    assert best is not None
    witness = confirm(network, task, best[1])
    return witness if witness.error_lower >= least else None


def confirm(network: Network, task: RetrievalTask, sequence: ExactArray) -> Witness:
    """A certified lower bound of the error at one exact sequence.

    Where all scores of every head are equal the softmax is uniform whatever beta: everything is then evaluated in
    rationals, if the rest is rational too, and the bound is the error itself, for every beta. Else: balls.

    >>> from constructions.specialists import Knowledge, build
    >>> from constructions.task import hard_gate
    >>> from theory.ledger import Form
    >>> built = build(hard_gate(), Fraction(1, 20), Form.PUBLISHED, Knowledge(Fraction(1)))
    >>> found = confirm(built.network, hard_gate(), fractions([[0], ["1/2"], ["1/2"], ["1/2"]]))
    >>> found.error_lower, found.every_beta
    (Fraction(3, 4), True)
    """
    try:
        difference = evaluate(network, sequence, EXACT)[0] - target(task, sequence, EXACT)
        return Witness(sequence, abs(Fraction(difference)), True)
    except InexactOperation:
        pass
    with balls.precision(BITS):
        tokens = balls.BALLS.asarray(sequence)
        error = balls.absolute(evaluate(network, tokens, balls.BALLS)[0] - target(task, tokens, balls.BALLS))
        return Witness(sequence, balls.lower(error), False)


def _candidates(task: RetrievalTask, generator: np.random.Generator) -> list[ExactArray]:
    shape = (RANDOM_TOKENS, task.token_dim)
    pool = np.concatenate([_corners(task.token_dim), generator.integers(0, GRID + 1, shape) / GRID])
    sequences = [pool[generator.integers(0, len(pool), task.seq_len)] for _ in range(RANDOM_TOKENS)]
    for feature in task.features:
        alike = np.broadcast_to(pool[:, None, :], (len(pool), task.seq_len, task.token_dim))
        alone = RetrievalTask(task.name, task.token_dim, task.seq_len, (feature,), Variable("z0"))
        order = np.argsort(target(alone, alike, FLOAT64), kind="stable")
        inside = [t - 1 for t in feature.positions]
        for high, low in itertools.product(order[-KEPT:], order[:KEPT]):
            sequence = np.repeat(pool[low][None, :], task.seq_len, axis=0)
            sequence[inside] = pool[high]
            sequences.append(sequence)
    return [fractions([[Fraction(float(entry)) for entry in token] for token in sequence]) for sequence in sequences]


def _corners(dimension: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Corners of the cube (of its first axes, if there are many) and its centre."""
    free = min(dimension, MOST_CORNERS)
    corners = np.zeros((2**free, dimension))
    corners[:, :free] = list(itertools.product((0.0, 1.0), repeat=free))
    return np.concatenate([corners, np.full((1, dimension), 0.5)])
