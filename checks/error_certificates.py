"""Certificates of a specialist's error, in the form that the independent checker re-derives (docs/certificates.md)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from checks.budget import Report, readout_errors, retrievals, steepest
from checks.certificates import writer
from checks.intervals import Interval
from constructions.network import Network
from constructions.network_json import tokens_from_json
from constructions.task import RetrievalTask
from theory.exact import parse_exact
from theory.ledger import Proved, Refuted

SLACK = Fraction(1, 256)
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
    deltas = [_loosened(item.feature + item.mismatch) for item in found]
    room = [2 * (writer.MARGIN + delta) for delta in deltas]
    box = [Interval(-extra, 1 + extra) for extra in room]
    nothing, whole = (Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))
    count = task.num_targets
    rows = [[whole if index == axis else nothing for index in range(count)] for axis in range(count)]
    slopes = [_loosened(_size(steepest(task.outer, box, row)[axis])) for axis, row in enumerate(rows)]
    gradient = _loosened(sum(map(_size, steepest(task.outer, box, [whole] * count)), Fraction(0)))
    low, high = readout_errors(network, task, found)
    outer = _loosened(max(-low, high)) + 4 * (1 + gradient) * writer.MARGIN  # Phi is made for [0,1]^D only
    return writer.error_below_by_budget(network, task, eps, _channels(network), deltas, outer, slopes, gradient)


def _size(slope: Interval) -> Fraction:
    return max(abs(slope.low), abs(slope.high))


def _loosened(bound: Fraction) -> Fraction:
    return bound * (1 + SLACK) + writer.MARGIN


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
