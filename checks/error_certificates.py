"""Certificates of a specialist's error, in the form that the independent checker re-derives (docs/certificates.md)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from checks.budget import Report, readout_errors, retrievals, steepest
from checks.certificates import writer
from checks.intervals import Interval
from checks.jets import EXACT_SCALARS, differentiate
from checks.retrieval import Retrieval
from constructions.network import Network
from constructions.network_json import tokens_from_json
from constructions.task import RetrievalTask
from theory.exact import parse_exact
from theory.ledger import Proved, Refuted
from theory.rational_bounds import sqrt_lower

LEAST_SLACK, MOST_SLACK, RESERVE = Fraction(1, 256), Fraction(8), Fraction(1, 1024)
"""Relative slack (an absolute one, the margin, comes on top): bisection never ends on a bound that is attained."""
MOST_BISECTED = 3
"""Up to this many coordinates T d the checker bisects the whole cube instead."""


def error_certificate(network: Network, task: RetrievalTask, eps: Fraction, report: Report) -> dict[str, Any] | None:
    """The certificate that belongs to a report of `checks.budget.certify`; None if nothing was decided."""
    match report.verdict:
        case Proved():
            if task.seq_len * task.token_dim <= MOST_BISECTED:
                return writer.error_below(network, task, eps)
            return _by_budget(network, task, eps)
        case Refuted(witness=witness):
            sequence = tokens_from_json(witness["sequence"])
            bound = parse_exact(witness["bound"])
            return writer.error_at_least(network, task, bound, sequence, witness["every_beta"])
        case _:
            return None


def _by_budget(network: Network, task: RetrievalTask, eps: Fraction) -> dict[str, Any]:
    found = retrievals(network, task)
    deltas = [item.feature + item.mismatch for item in found]
    box = [Interval(-4 * (writer.MARGIN + delta), 1 + 4 * (writer.MARGIN + delta)) for delta in deltas]
    nothing, whole = (Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))
    count = task.num_targets
    rows = [[whole if index == axis else nothing for index in range(count)] for axis in range(count)]
    slopes = [_size(steepest(task.outer, box, row)[axis]) for axis, row in enumerate(rows)]
    gradient = sum(map(_size, steepest(task.outer, box, [whole] * count)), Fraction(0))
    low, high = readout_errors(network, task, found)
    outer = max(-low, high)
    slack = _slack(eps, outer + _moved(task, box, found, slopes, gradient))

    def loosened(bound: Fraction) -> Fraction:
        return bound * (1 + slack) + writer.MARGIN

    outer = loosened(outer) + 4 * (1 + loosened(gradient)) * writer.MARGIN  # Phi is made for [0,1]^D only
    claimed = [list(map(loosened, bounds)) for bounds in (deltas, slopes)]
    return writer.error_below_by_budget(
        network, task, eps, _channels(network), claimed[0], outer, claimed[1], loosened(gradient)
    )


def _slack(eps: Fraction, total: Fraction) -> Fraction:
    """By which share all claimed numbers may grow, their products with the total still below eps: cheap to check."""
    return max(LEAST_SLACK, min(MOST_SLACK, sqrt_lower(eps / total) * (1 - RESERVE) - 1)) if total else MOST_SLACK


def _moved(
    task: RetrievalTask, box: list[Interval], found: Sequence[Retrieval], slopes: list[Fraction], gradient: Fraction
) -> Fraction:
    """The checker's bound of |F_0(z) - F_0(minima)| at these numbers: signs of slopes are used where they are known."""
    names = [f"z{index}" for index in range(len(box))]
    signs = differentiate(task.outer, names, box, EXACT_SCALARS, order=1).gradient
    below = [item.feature + item.mismatch + max(item.leak_below, item.leak_above) for item in found]
    above = [low + item.softmin for low, item in zip(below, found, strict=True)]
    rising = [low if sign.high <= 0 else high for sign, low, high in zip(signs, below, above, strict=True)]
    falling = [low if sign.low >= 0 else high for sign, low, high in zip(signs, below, above, strict=True)]
    sides = [sum((s * e for s, e in zip(slopes, ends, strict=True)), Fraction(0)) for ends in (rising, falling)]
    return min(max(sides), gradient * max(above))


def _size(slope: Interval) -> Fraction:
    return max(abs(slope.low), abs(slope.high))


def _channels(network: Network) -> Sequence[tuple[int, int]]:
    """For each head the value channel that reaches the read-out."""
    output = np.asarray(network.output_weight, dtype=object)
    channels, start = [], 0
    for number, head in enumerate(network.heads):
        size = head.value.shape[0]
        used = [channel for channel in range(size) if np.any(output[:, start + channel])]
        channels.append((number, used[0]))
        start += size
    return channels
