"""Kind "sup_error": a bound on sup |network - target| over the cube, from above or from below."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import Any

from flint import arb, ctx, fmpq

from checks.certificates import records
from checks.certificates.records import Dense, Formula, Network
from checks.verify.arithmetic import (
    Balls,
    Irrational,
    Rationals,
    Refuted,
    Undecided,
    Work,
    ball,
    combine,
    doubling,
    rational,
    show,
)
from checks.verify.bisection import Condition, Violated, bisect, unit_rows
from checks.verify.blocks import Block, head_layer, softmax_mean, target
from checks.verify.budget import Budget

FIRST_BITS = 64
MOST_BISECTED = 12


def check_sup_error(claim: records.SupError, work: Work) -> dict[str, str]:
    if claim.relation == ">=":
        return _check_witness(claim, work)
    if claim.evidence is None:
        with ctx.workprec(FIRST_BITS):
            return _check_bisection(claim, work)
    with ctx.workprec(2 * FIRST_BITS):
        return Budget(claim, work).check()


def _check_bisection(claim: records.SupError, work: Work) -> dict[str, str]:
    """|network - target| < bound on every box of a subdivision of the cube."""
    task = claim.task
    length, width = task.seq_len, task.token_dim
    dimension = length * width
    if dimension > MOST_BISECTED:
        raise Undecided(f"T d = {dimension} is too much for bisection (at most {MOST_BISECTED}); try covering_heads")
    numbers = Balls(work)
    block = Block(claim.network, head_layer(claim.network, work), numbers)
    bound = ball(claim.bound)

    def conditions(point: list[arb], derivatives: bool) -> list[Condition]:
        rows = unit_rows(point, derivatives)
        tokens = [rows[t * width : (t + 1) * width] for t in range(length)]
        encoded = [block.token(token, t) for t, token in enumerate(tokens)]
        attended = []
        for heads in zip(*encoded, strict=True):
            attended += softmax_mean([score for score, _ in heads], [values for _, values in heads])
        error = combine("-", block.output(attended), target(task, tokens, numbers))
        return [(error, lambda value: bool(abs(value) < bound), lambda value: bool(abs(value) >= bound))]

    # If neither network nor target knows positions, both are symmetric in the tokens, and by continuity it is enough to
    # look at sequences with strictly increasing first coordinates. No such sequence lies in a box skipped here.
    symmetric = _position_free(claim.network) and all(len(f.positions) == length for f in task.features)

    def skipped(box: list[tuple[float, float]]) -> bool:
        first = box[::width]
        return symmetric and any(a - r >= b + s for (a, r), (b, s) in pairwise(first))

    try:
        count = bisect(dimension, conditions, work, skipped)
    except Violated as point:
        raise Refuted(f"|network - target| reaches the bound at X = ({point})") from None
    return {"boxes": str(count), "bound": str(claim.bound), "symmetric": str(symmetric)}


def _position_free(network: Network) -> bool:
    if isinstance(network.encoder, Formula):
        return all(component.positions is None for component in network.encoder.components)
    return all(len(set(dense.bias)) == 1 for dense in network.encoder)


def _check_witness(claim: records.SupError, work: Work) -> dict[str, str]:
    """|network - target| >= bound at one sequence; exactly if all values are rational, else in balls."""
    assert isinstance(claim.evidence, tuple)
    tokens = claim.evidence
    if not all(0 <= entry <= 1 for token in tokens for entry in token):
        raise Undecided("the witness leaves [0,1]")
    heads = head_layer(claim.network, work)
    exact = Rationals(work)
    uniform: list[Any] | None = None
    with suppress(Irrational):
        uniform = _uniform_attention(claim.network, heads, tokens, exact)
    if claim.every_beta and uniform is None:
        raise Undecided("the scores at the witness are not all exactly equal, so other beta may do better")
    if uniform is not None:
        with suppress(Irrational):
            block = Block(claim.network, heads, exact)
            rows = [[[rational(entry)] for entry in token] for token in tokens]
            error = abs(block.output([[entry] for entry in uniform])[0] - target(claim.task, rows, exact)[0])
            return _judge_witness(claim, error, error >= rational(claim.bound), str(error))

    def attempt() -> dict[str, str]:
        numbers = Balls(work)
        block = Block(claim.network, heads, numbers)
        rows = [[[ball(entry)] for entry in token] for token in tokens]
        if uniform is not None:
            attended = [[arb(entry)] for entry in uniform]
        else:
            encoded = [block.token(token, t) for t, token in enumerate(rows)]
            attended = []
            for head in zip(*encoded, strict=True):
                attended += softmax_mean([score for score, _ in head], [values for _, values in head])
        error = abs(block.output(attended)[0] - target(claim.task, rows, numbers)[0])
        return _judge_witness(claim, error, bool(error >= ball(claim.bound)), show(error))

    return doubling(FIRST_BITS, attempt)


def _judge_witness(claim: records.SupError, error: Any, reached: bool, shown: str) -> dict[str, str]:
    if not reached:
        raise Undecided(f"the error at the witness, {shown[:60]}, is not proved to reach {claim.bound}; try another")
    return {"error at the witness": shown[:60], "every beta": str(claim.every_beta)}


def _uniform_attention(network: Network, heads: Dense, tokens: records.Matrix, exact: Rationals) -> list[Any] | None:
    """The attention outputs if within each head all scores are exactly equal: the means of the values."""
    block = Block(network, heads, exact)
    encoded = [block.token([[rational(entry)] for entry in token], t) for t, token in enumerate(tokens)]
    attended = []
    for head in zip(*encoded, strict=True):
        if len({score[0] for score, _ in head}) > 1:
            return None
        for channel in zip(*(values for _, values in head), strict=True):
            attended.append(exact.dot([row[0] for row in channel], [fmpq(1, len(head))] * len(head)))
    return attended
