"""The worst error that can be found: ascent on |network - target| over sequences, batched in torch."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch

from constructions.adversary.starts import Starts
from constructions.arithmetic import ExactArray, TorchArithmetic, fractions
from constructions.evaluate import evaluate, target
from constructions.network import Network
from constructions.task import RetrievalTask

BATCH = 192
STEPS = 60
FIRST_STEP, LAST_STEP = 0.2, 0.002


@dataclass(frozen=True, eq=False)
class Attack:
    """A sequence (T, d) in the unit cube and the error of the network there, in float64: a find, not a bound."""

    sequence: ExactArray
    error: float


def attack(network: Network, task: RetrievalTask, seed: int, budget_seconds: float = 5.0) -> Attack:
    """Look for the sequence with the largest ``|network - target|``: sign ascent from many starts, until time is up.

    Arithmetic: float64, untrusted; a certified lower bound comes from `checks.witness.confirm` at the sequence.
    At least one batch of starts is tried; the result depends on the seed and on how many batches fit into the budget.
    """
    begin = time.monotonic()
    generator = np.random.default_rng([seed, 0x61747461])
    draws = list(Starts(task, generator).kinds.values())
    arithmetic, best, error = TorchArithmetic(), None, -1.0
    while best is None or time.monotonic() - begin < budget_seconds:
        starts = np.concatenate([draws[index % len(draws)]() for index in range(BATCH // 2)])
        tokens = torch.tensor(starts)
        for step in np.geomspace(FIRST_STEP, LAST_STEP, STEPS):
            tokens.requires_grad_(True)
            errors = (evaluate(network, tokens, arithmetic)[..., 0] - target(task, tokens, arithmetic)).abs()
            (slope,) = torch.autograd.grad(errors.sum(), tokens)
            tokens, errors = tokens.detach(), errors.detach()
            largest = int(errors.argmax())
            if float(errors[largest]) > error:
                best, error = tokens[largest].numpy().copy(), float(errors[largest])
            tokens = (tokens + float(step) * slope.sign()).clamp(0, 1)
    return Attack(fractions(best.tolist()), error)
