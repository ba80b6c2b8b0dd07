"""Kind "collision": two sequences with equal attention outputs exist, and their targets differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate

from flint import arb, arb_mat

from checks.certificates import records
from checks.certificates.records import Dense
from checks.verify.arithmetic import Balls, Refuted, Row, Undecided, Work, ball, doubling, show, text
from checks.verify.blocks import Block, features, head_layer, target
from checks.verify.channels import check_rows
from checks.verify.layers import DeepBlock


def check_collision(claim: records.Collision, work: Work) -> dict[str, str]:
    spots = set(claim.free)
    if len(spots) != len(claim.free) or len(set(claim.rows)) != len(claim.rows):
        raise Undecided("a free coordinate or a row is listed twice; try the certificate's writer")
    if len(claim.free) != len(claim.rows):
        raise Undecided(f"{len(claim.rows)} equations but {len(claim.free)} free coordinates; as many are needed")
    for number, sequence in enumerate(claim.sequences):
        for position, token in enumerate(sequence):
            for axis, entry in enumerate(token):
                room = claim.radius if (number, position + 1, axis) in spots else Fraction(0)
                if not room <= entry <= 1 - room:
                    raise Undecided(f"sequence {number}, position {position + 1}: the box leaves [0,1]")
    check_rows(claim, work)
    if claim.network.token_layers:
        return doubling(claim.precision, lambda: _collide(claim, _deep_equations, Balls(work)))
    flat = partial(_flat_equations, heads=head_layer(claim.network, work))
    return doubling(claim.precision, lambda: _collide(claim, flat, Balls(work)))


Equations = Callable[[records.Collision, Balls], tuple[list[arb], list[list[arb]]]]


def _collide(claim: records.Collision, equations: Equations, numbers: Balls) -> dict[str, str]:
    """Krawczyk's theorem for g(x) = 0, x the free coordinates, X the box c +- r.

    Let G enclose the difference quotients, g(x) - g(c) in G (x - c) on X, and Y be any real matrix. Then
    x - Y g(x) lies in K = c - Y g(c) + (I - Y G)(X - c). If K lies in the interior of X, Brouwer gives a fixed point
    of x - Y g(x) in K; and |I - Y G| < 1 in the norm weighted by r, so Y is regular and the fixed point is a zero.
    Conversely a zero in X lies in K. Nothing but continuity and the quotients is used, so ReLU is welcome.
    """
    radius = ball(claim.radius)
    box = arb(0, radius)
    at_centre, slopes = equations(claim, numbers)
    derivative = arb_mat(slopes)
    try:
        inverse = derivative.mid().inv().mid()
    except ZeroDivisionError:
        raise Undecided("the equations are singular at this precision; other free coordinates may help") from None
    size = len(slopes)
    numbers.spend(3 * size**3)
    identity = arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
    moved = (identity - inverse * derivative) * arb_mat([[box]] * size) - inverse * arb_mat([[g] for g in at_centre])
    moves = [abs(row[0]) for row in moved.tolist()]
    if any(move > radius for move in moves):
        raise Refuted("no collision exists in the box (a component of Krawczyk's image lies outside)")
    if not all(move < radius for move in moves):
        raise Undecided(
            "Krawczyk's image does not fit into the box; try a larger or smaller radius, or a better centre"
        )
    values = []
    for sequence in (0, 1):
        tokens = [[[row[0]] for row in _token(claim, sequence, t, True)] for t in range(claim.task.seq_len)]
        values.append(target(claim.task, [features(claim.task, rows, numbers) for rows in tokens], numbers)[0])
    gap = abs(values[0] - values[1])
    facts = {"targets": f"{show(values[0])} and {show(values[1])}", "gap": show(gap), "equations": str(size)}
    if gap < ball(claim.gap):
        raise Refuted(f"the targets differ by {show(gap)} only, less than the claimed {text(claim.gap)}")
    if not gap >= ball(claim.gap):
        raise Undecided(f"the gap {show(gap)} is not proved to reach the claim; claim a slightly smaller one")
    return facts


def _token(claim: records.Collision, sequence: int, position: int, wide: bool) -> list[Row]:
    """A token (position from 0), over the box if ``wide``, then with directions along its free coordinates."""
    axes = [axis for s, t, axis in claim.free if wide and (s, t) == (sequence, position + 1)]
    box = arb(0, ball(claim.radius))
    return [
        [ball(entry) + (box if axis in axes else 0), *(arb(int(other == axis)) for other in axes)]
        for axis, entry in enumerate(claim.sequences[sequence][position])
    ]


def _flat_equations(claim: records.Collision, numbers: Balls, heads: Dense) -> tuple[list[arb], list[list[arb]]]:
    """Residuals at the centre and difference quotients over the box, head by head in difference form."""
    block = Block(claim.network, heads, numbers)
    differing = sorted(
        {position - 1 for _, position, _ in claim.free}
        | {t for t, (a, b) in enumerate(zip(*claim.sequences, strict=True)) if a != b}
    )
    moving = {(s, t - 1) for s, t, _ in claim.free}
    needed = [(0, t) for t in range(claim.network.seq_len)] + [(1, t) for t in differing]
    centre = {(s, t): block.token(_token(claim, s, t, False), t) for s, t in needed}
    wide = {(s, t): block.token(_token(claim, s, t, True), t) if (s, t) in moving else centre[s, t] for s, t in needed}
    at_centre: list[arb] = []
    slopes: list[list[arb]] = []
    for head, channels in _by_head(claim.rows):
        # Equal tokens cancel; only the others set the scale, so that nothing underflows beside them.
        shift = max(centre[s, t][head][0][0].mid() for s in (0, 1) for t in differing)
        residual, _ = _difference(centre, head, differing, shift, channels, {})
        columns = {place: 1 + [f for f in claim.free if f[:2] == place[:2]].index(place) for place in claim.free}
        _, jacobian = _difference(wide, head, differing, shift, channels, columns)
        at_centre += residual
        slopes += jacobian
    return at_centre, slopes


def _deep_equations(claim: records.Collision, numbers: Balls) -> tuple[list[arb], list[list[arb]]]:
    """The same for a network with token layers: outputs of the second minus outputs of the first."""
    block = DeepBlock(claim.network, numbers)
    starts = [0, *accumulate(len(head.value) for head in claim.network.heads)]
    listed = [starts[head] + channel for head, channel in claim.rows]
    box = arb(0, ball(claim.radius))
    outputs: dict[tuple[int, bool], list[Row]] = {}
    for s, sequence in enumerate(claim.sequences):
        for wide in (False, True):
            tokens = [
                [
                    [
                        ball(entry) + (box if wide and (s, t + 1, axis) in claim.free else 0),
                        *(arb(int(place == (s, t + 1, axis))) for place in claim.free if wide),
                    ]
                    for axis, entry in enumerate(token)
                ]
                for t, token in enumerate(sequence)
            ]
            outputs[s, wide] = block.outputs(tokens)
    at_centre = [outputs[1, False][k][0] - outputs[0, False][k][0] for k in listed]
    return at_centre, [
        [b - a for a, b in zip(outputs[0, True][k][1:], outputs[1, True][k][1:], strict=True)] for k in listed
    ]


def _by_head(rows: Sequence[tuple[int, int]]) -> list[tuple[int, list[int]]]:
    return [(head, [c for h, c in rows if h == head]) for head in sorted({head for head, _ in rows})]


Encoded = dict[tuple[int, int], list[tuple[Row, list[Row]]]]


def _difference(
    encoded: Encoded,
    head: int,
    differing: Sequence[int],
    shift: arb,
    channels: Sequence[int],
    columns: Mapping[tuple[int, int, int], int],
) -> tuple[list[arb], list[list[arb]]]:
    """The equations of one head in difference form, and their derivatives along the free coordinates.

    With weights p_t, q_t = e^{score - shift} of the two sequences, P, Q their sums and a the mean of the first,
    g = sum_t q_t (v_t - a) - sum_t p_t (u_t - a) over the differing positions equals Q (b - a), b the mean of the
    second: the others cancel. dg along a token of the second: q_t (dv_t + (v_t - a) dscore); of the first, since
    da = (p_t/P)(du_t + (u_t - a) dscore) enters with -(Q - P): -p_t (Q/P) (du_t + (u_t - a) dscore).
    """
    weights = {place: (token[head][0][0] - shift).exp() for place, token in encoded.items()}
    total = sum((weight for (s, _), weight in weights.items() if s == 0), arb(0))
    ratio = 1 + sum((weights[1, t] - weights[0, t] for t in differing), arb(0)) / total
    residual, jacobian = [], []
    for channel in channels:
        values = {place: token[head][1][channel] for place, token in encoded.items()}
        mean = sum((weights[place] * value[0] for place, value in values.items() if place[0] == 0), arb(0)) / total
        residual.append(
            sum((weights[s, t] * (values[s, t][0] - mean) * (2 * s - 1) for t in differing for s in (0, 1)), arb(0))
        )
        row = []
        for (s, position, _), k in columns.items():
            place = (s, position - 1)
            score, value = encoded[place][head][0], values[place]
            slope = weights[place] * (value[k] + (value[0] - mean) * score[k])
            row.append(slope if s == 1 else -ratio * slope)
        jacobian.append(row)
    return residual, jacobian
