"""Outputs that a collision's equations do not list must be determined by those that they list."""

from __future__ import annotations

from flint import fmpq, fmpq_mat

from checks.certificates import records
from checks.verify.arithmetic import Undecided, Work, limit_denominator, rational

MOST_LAYERS = 8

Piece = tuple[fmpq_mat, fmpq_mat]
"""Slope (E, d) and offset (E, 1) of the encoder on one of its linear pieces."""


def check_rows(claim: records.Collision, work: Work) -> None:
    """Each head's output is ``M s + const`` with M exact and s what depends on the sequence: see `_channel_matrix`.

    If the listed rows of M have M's rank, the other outputs are one and the same affine map of the listed ones for both
    sequences, so they agree where these do.
    """
    found: list[Piece] | None = None
    for index, head in enumerate(claim.network.heads):
        listed = [channel for number, channel in claim.rows if number == index]
        if len(listed) == len(head.value):
            continue
        work.spend(10 * len(head.value) ** 2 * len(head.value[0]))
        limit_denominator(entry for row in head.value for entry in row)
        value = fmpq_mat([[rational(entry) for entry in row] for row in head.value])
        if _span(value, listed):
            continue
        found = _pieces(claim, work) if found is None else found
        work.spend(100 * len(found) * len(head.value) ** 2 * (1 + claim.network.token_dim))
        if not found or not _span(_channel_matrix(value, found), listed):
            raise Undecided(f"head {index}: the listed rows do not determine the others; list more rows")


def _span(matrix: fmpq_mat, listed: list[int]) -> bool:
    rows = matrix.tolist()
    return bool(listed) and fmpq_mat([rows[c] for c in listed]).rank() == matrix.rank()


def _channel_matrix(value: fmpq_mat, pieces: list[Piece]) -> fmpq_mat:
    """``[V L_p | V (o_p - o_0)]`` over the pieces p in use.

    With softmax weights w_t, an output is ``sum_t w_t (V (L_t x_t + o_t) + b)``, that is, the sum over the pieces of
    V L_p times ``sum_{t in p} w_t x_t`` plus V (o_p - o_0) times the weight of p, plus a constant: weights sum to 1.
    """
    columns: list[list[fmpq]] = []
    for slope, offset in pieces:
        columns += (value * slope).transpose().tolist() + (value * (offset - pieces[0][1])).transpose().tolist()
    return fmpq_mat(columns).transpose()


def _pieces(claim: records.Collision, work: Work) -> list[Piece]:
    """The linear pieces on which the tokens live, whatever the free coordinates are; empty if that is not decided.

    A unit is on or off for all values of a token's free coordinates if its argument at the centre outweighs its reach.
    """
    encoder = claim.network.encoder
    if claim.network.token_layers or isinstance(encoder, records.Formula):
        return []
    if any(layer.activation not in ("relu", "identity") for layer in encoder):
        return []
    if len(encoder) > MOST_LAYERS:
        return []
    for layer in encoder:
        limit_denominator(entry for row in (*layer.weight, *layer.bias) for entry in row)
    layers = [fmpq_mat([[rational(entry) for entry in row] for row in layer.weight]) for layer in encoder]
    spots, radius = set(claim.free), rational(claim.radius)
    width = claim.network.token_dim
    identity = fmpq_mat(width, width, [int(i == j) for i in range(width) for j in range(width)])
    pieces: dict[tuple[object, ...], Piece] = {}
    for s, sequence in enumerate(claim.sequences):
        for position, token in enumerate(sequence):
            centre = fmpq_mat([[rational(entry)] for entry in token])
            reach = [radius if (s, position + 1, axis) in spots else fmpq(0) for axis in range(width)]
            slope, offset = identity, fmpq_mat(width, 1)
            key: list[object] = []
            for weight, layer in zip(layers, encoder, strict=True):
                work.spend(20 * weight.nrows() * weight.ncols() * (width + 1))
                bias = layer.bias[position % len(layer.bias)]
                key.append(bias)
                slope, offset = weight * slope, weight * offset + fmpq_mat([[rational(entry)] for entry in bias])
                if layer.activation == "relu":
                    kept = _units(slope, slope * centre + offset, reach)
                    if kept is None:
                        return []
                    key.append(tuple(kept))
                    slope = fmpq_mat([[a * on for a in row] for row, on in zip(slope.tolist(), kept, strict=True)])
                    offset = fmpq_mat([[row[0] * on] for row, on in zip(offset.tolist(), kept, strict=True)])
            pieces.setdefault(tuple(key), (slope, offset))
    return list(pieces.values())


def _units(slope: fmpq_mat, argument: fmpq_mat, reach: list[fmpq]) -> list[int] | None:
    """1 for each unit that is surely on, 0 for each surely off; None if one is neither."""
    kept = []
    for row, (value,) in zip(slope.tolist(), argument.tolist(), strict=True):
        spread = sum((abs(a) * r for a, r in zip(row, reach, strict=True)), fmpq(0))
        if not (value >= spread or value <= -spread):
            return None
        kept.append(int(value >= spread))
    return kept
