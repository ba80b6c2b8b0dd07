"""Kinds "near_collision" and "capacity": pairs of sequences with close read-out inputs and distant targets (N8)."""

from __future__ import annotations

from functools import cache, partial

from flint import arb

from checks.certificates import records
from checks.certificates.records import Dense
from checks.verify.arithmetic import Balls, Refuted, Row, Undecided, Work, ball, doubling, show, text
from checks.verify.blocks import Block, features, head_layer, target


def check_near_collisions(claim: records.NearCollisions, work: Work) -> dict[str, str]:
    """Every pair's read-out inputs differ by at most its distance (sup norm), its targets by at least its gap."""
    for number, pair in enumerate(claim.pairs):
        if not all(0 <= entry <= 1 for sequence in pair.sequences for token in sequence for entry in token):
            raise Undecided(f"pair {number}: a token leaves [0,1]")
    heads = head_layer(claim.network, work)
    found = [doubling(claim.precision, partial(_compare, claim, pair, heads, work)) for pair in claim.pairs]
    return found[0] if len(found) == 1 else {"pairs": str(len(found)), "bits": max((f["bits"] for f in found), key=int)}


def _compare(claim: records.NearCollisions, pair: records.Pair, heads: Dense, work: Work) -> dict[str, str]:
    numbers = Balls(work)
    block = Block(claim.network, heads, numbers)

    @cache
    def encode(position: int, token: records.Vector) -> tuple[list[tuple[Row, list[Row]]], list[Row]]:
        rows = [[ball(entry)] for entry in token]
        return block.token(rows, position), features(claim.task, rows, numbers)

    inputs, targets = [], []
    for sequence in pair.sequences:
        tokens = [encode(position, token) for position, token in enumerate(sequence)]
        inputs.append(block.mix(block.attend([encoded for encoded, _ in tokens])))
        targets.append(target(claim.task, [found for _, found in tokens], numbers)[0])
    distance = arb(0)
    for (a, *_), (b, *_) in zip(*inputs, strict=True):
        distance = distance.max(abs(a - b))
    gap = abs(targets[0] - targets[1])
    facts = {"targets": f"{show(targets[0])} and {show(targets[1])}", "gap": show(gap), "distance": show(distance)}
    if gap < ball(pair.gap) or distance > ball(pair.distance):
        raise Refuted(
            f"gap {show(gap)} and distance {show(distance)} instead of {text(pair.gap)} and {text(pair.distance)}"
        )
    if not (gap >= ball(pair.gap) and distance <= ball(pair.distance)):
        raise Undecided("gap or distance is too close to call; claim a slightly smaller gap or a larger distance")
    return facts
