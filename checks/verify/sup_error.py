"""Kind "sup_error": a bound on sup |network - target| over the cube, from above or from below."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
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
    Row,
    Undecided,
    Work,
    ball,
    combine,
    doubling,
    rational,
    show,
    text,
)
from checks.verify.bisection import Box, Condition, Violated, bisect, unit_rows, within
from checks.verify.blocks import Block, features, head_layer, target
from checks.verify.budget import Budget

FIRST_BITS = 64
MOST_BISECTED = 12


def check_sup_error(claim: records.SupError, work: Work) -> dict[str, str]:
    if claim.network.token_layers:
        raise Undecided("bounds of the error are checked for one layer only; for token layers try near_collision")
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

    # If neither network nor target knows positions, both are symmetric in the tokens, and by continuity it is enough to
    # look at sequences with strictly increasing first coordinates. No such sequence lies in a box skipped here.
    symmetric = _position_free(claim.network) and all(len(f.positions) == length for f in task.features)
    positions = 1 if symmetric else length

    # A token's box occurs in many boxes of sequences; per position (one for all if the encoder knows none) and box.
    @lru_cache(maxsize=50_000)
    def encode(position: int, box: tuple[tuple[float, float], ...], derivatives: bool) -> tuple[Any, list[Row]]:
        rows = unit_rows(list(box), derivatives)
        return block.token(rows, position), features(task, rows, numbers)

    def conditions(box: Box, derivatives: bool) -> list[Condition]:
        sides = [tuple(box[t * width : (t + 1) * width]) for t in range(length)]
        tokens = [encode(t % positions, side, derivatives) for t, side in enumerate(sides)]
        attended = block.attend([encoded for encoded, _ in tokens])
        error = combine("-", block.output(attended), target(task, [found for _, found in tokens], numbers))
        return [within(error, bound, strict=True)]

    def skipped(box: Box) -> bool:
        first = box[::width]
        return symmetric and any(a - r >= b + s for (a, r), (b, s) in pairwise(first))

    try:
        count = bisect(dimension, conditions, work, skipped)
    except Violated as point:
        raise Refuted(f"|network - target| reaches the bound at X = ({point})") from None
    return {"boxes": str(count), "bound": text(claim.bound), "symmetric": str(symmetric)}


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
            error = abs(
                block.output([[entry] for entry in uniform])[0]
                - target(claim.task, [features(claim.task, token, exact) for token in rows], exact)[0]
            )
            return _judge_witness(claim, error, error >= rational(claim.bound), str(error))

    def attempt() -> dict[str, str]:
        numbers = Balls(work)
        block = Block(claim.network, heads, numbers)
        rows = [[[ball(entry)] for entry in token] for token in tokens]
        if uniform is not None:
            attended = [[arb(entry)] for entry in uniform]
        else:
            attended = block.attend([block.token(token, t) for t, token in enumerate(rows)])
        error = abs(
            block.output(attended)[0]
            - target(claim.task, [features(claim.task, token, numbers) for token in rows], numbers)[0]
        )
        return _judge_witness(claim, error, bool(error >= ball(claim.bound)), show(error))

    return doubling(FIRST_BITS, attempt)


def _judge_witness(claim: records.SupError, error: Any, reached: bool, shown: str) -> dict[str, str]:
    if not reached:
        raise Undecided(
            f"the error at the witness, {shown[:60]}, is not proved to reach {text(claim.bound)}; try another"
        )
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
