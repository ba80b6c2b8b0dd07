"""Kinds "near_collision" and "capacity": pairs of sequences with close read-out inputs and distant targets (N8)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from flint import arb

from checks.certificates import records
from checks.verify.arithmetic import Balls, Refuted, Row, Undecided, Work, ball, doubling, show, text
from checks.verify.blocks import Block, Stages, features, head_layer, target
from checks.verify.layers import DeepBlock

Attention = Callable[[records.Matrix, Balls], list[Row]]


def check_near_collisions(claim: records.NearCollisions, work: Work) -> dict[str, str]:
    """Every pair's read-out inputs differ by at most its distance (sup norm), its targets by at least its gap."""
    for number, pair in enumerate(claim.pairs):
        if not all(0 <= entry <= 1 for sequence in pair.sequences for token in sequence for entry in token):
            raise Undecided(f"pair {number}: a token leaves [0,1]")
    attention = _deep(claim.network) if claim.network.token_layers else _flat(claim.network, work)
    found = [doubling(claim.precision, partial(_compare, claim, pair, attention, work)) for pair in claim.pairs]
    return found[0] if len(found) == 1 else {"pairs": str(len(found)), "bits": max((f["bits"] for f in found), key=int)}


def _deep(network: records.Network) -> Attention:
    return lambda sequence, numbers: DeepBlock(network, numbers).outputs(_rows(sequence))


def _flat(network: records.Network, work: Work) -> Attention:
    heads = head_layer(network, work)

    def attention(sequence: records.Matrix, numbers: Balls) -> list[Row]:
        block = Block(network, heads, numbers)
        return block.attend([block.token(token, position) for position, token in enumerate(_rows(sequence))])

    return attention


def _compare(claim: records.NearCollisions, pair: records.Pair, attention: Attention, work: Work) -> dict[str, str]:
    numbers = Balls(work)
    stages = Stages(numbers)
    mixing = stages.affine(claim.network.output_weight, claim.network.output_bias)
    inputs = [stages.run(mixing, attention(sequence, numbers), 0) for sequence in pair.sequences]
    targets = [
        target(claim.task, [features(claim.task, token, numbers) for token in _rows(sequence)], numbers)[0]
        for sequence in pair.sequences
    ]
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


def _rows(sequence: records.Matrix) -> list[list[Row]]:
    return [[[ball(entry)] for entry in token] for token in sequence]
