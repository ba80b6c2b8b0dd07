"""A1, the paper's constraints on models, checked line by line for a finished network; and what meeting them would cost.

The constructions of T2.1 and T2.3 need not meet A1, which is a hypothesis of the lower bound T2.2. The encoder's own
weights are free (A1.1 bounds its output only).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from checks.covering import NotReadable, read_encoder
from checks.piecewise import Interval, range_of
from constructions.arithmetic import EXACT, ExactArray
from constructions.network import Formula, Map, Network, Perceptron
from constructions.sparse import SparseLayer, entries_of
from theory.exact import decimal
from theory.ledger import Proved, Refuted, Undecided, Verdict
from theory.rational_bounds import sqrt_lower

ZERO, ONE = Fraction(0), Fraction(1)
LIPSCHITZ_ONE = ("identity", "relu", "tanh", "sigmoid")
"""Activations with |activation'| <= 1 (gelu and silu exceed it a little)."""
MOST_CORNERS_DIM = 4


@dataclass(frozen=True)
class Constraint:
    """One line of A1 for one network: what it bounds, how large that is, and whether the line holds."""

    id: str
    what: str
    value: str
    verdict: Verdict


@dataclass(frozen=True)
class RescalingCost:
    """What A1 costs a network with a two-layer ReLU read-out: P is divided by ``factor``, beta multiplied by it, and
    the read-out's neurons are copied until every weight is at most 1. ``parameters``: its non-zero weights and biases.
    """

    factor: Fraction
    beta: Fraction
    neurons_before: int
    neurons: int
    parameters_before: int
    parameters: int


def check_constraints(network: Network) -> tuple[Constraint, ...]:
    """A1.1, A1.2 and A1.3 for a network without token layers; norms are rational upper bounds over the whole cube."""
    upper, lower = encoder_norm_upper(network), _norm_squared_lower(network)
    size = "not bounded" if upper is None else f"<= {decimal(upper)}"
    if upper is not None and upper <= 1:
        norm: Verdict = Proved(f"sup |P(x,t)|_2 <= {decimal(upper)}")
    elif lower > 1:
        norm = Refuted(f"|P(x,t)|_2^2 = {decimal(lower)} at a corner of the cube", {"norm_squared": str(lower)})
    else:
        norm = Undecided("The bound of the norm exceeds 1, the norm at the corners does not.", "scale the encoder")
    layers = network.readout.layers if isinstance(network.readout, Perceptron) else ()
    rough = sorted({layer.activation for layer in layers} - set(LIPSCHITZ_ONE))
    two = len(layers) == 2 and not rough
    shape = f"{len(layers)} layers" + (f", {', '.join(rough)}" if rough else "")
    depth = Proved(shape) if two else Refuted(shape, {"layers": len(layers), "activations": rough})
    return (
        Constraint("A1.1", "sup |P(x,t)|_2 <= 1", size, norm),
        Constraint("A1.2", "F has two layers, 1-Lipschitz", shape, depth),
        *(_weights(name, largest) for name, largest in largest_weights(network).items()),
    )


def largest_weights(network: Network) -> dict[str, Fraction]:
    """The largest weight in size of each thing that A1.3 speaks about, biases of F included."""
    heads = network.heads
    layers = network.readout.layers if isinstance(network.readout, Perceptron) else ()
    stored = [layer.entries.values if isinstance(layer, SparseLayer) else layer.weight for layer in layers]
    return {
        "W_Q": _largest([head.query for head in heads]),
        "W_K": _largest([head.key for head in heads]),
        "W_V": _largest([head.value for head in heads]),
        "W_O": _largest([network.output_weight]),
        "F": _largest([*stored, *(layer.bias for layer in layers)]),
    }


def rescaling_cost(network: Network) -> RescalingCost | None:
    """The cost of A1 (see `RescalingCost`); None if the norm is not bounded, F is no two-layer ReLU network with one
    output, or a matrix of the attention has an entry above 1."""
    # With c >= sup |P|: P/c and beta c leave all scores as they are, the heads return 1/c of their values, and the
    # read-out sees c0 + W_O v/c: rows u become c u, biases b + (1 - c) u.c0. A neuron a relu(u.y + b) is a m copies of
    # (a r/m) relu((u.y + b)/r) with r = max(|u|, |b|) and m = ceil(|a| r); an output bias above 1 is shared by
    # neurons relu(1).
    bound, largest = encoder_norm_upper(network), largest_weights(network)
    readout = network.readout
    if bound is None or isinstance(readout, Formula) or max(largest[name] for name in largest if name != "F") > 1:
        return None
    if [layer.activation for layer in readout.layers] != ["relu", "identity"] or readout.output_dim != 1:
        return None
    factor, (first, second) = max(ONE, bound), readout.layers
    base = np.asarray(EXACT.asarray(network.output_bias))
    counts = first.copies or (1,) * first.shape[0]
    outgoing = dict(next(entries_of(second).rows()))
    offset = Fraction(second.bias[0])
    extra = max(0, math.ceil(abs(offset)) - 1)
    neurons, before, after = extra, int(offset != 0), int(offset != 0) + 2 * extra
    for unit, row in enumerate(entries_of(first).rows()):
        bias = Fraction(first.bias[unit])
        before += counts[unit] * (len(row) + (bias != 0) + (unit in outgoing))
        bias += (1 - factor) * sum((weight * base[column] for column, weight in row.items()), ZERO)
        reach = max([abs(bias), *(factor * abs(weight) for weight in row.values())])
        copies = counts[unit] * math.ceil(abs(outgoing.get(unit, ZERO)) * reach)
        neurons += copies
        after += copies * (len(row) + (bias != 0) + 1)
    return RescalingCost(factor, network.beta * factor, sum(counts), neurons, before, after)


def encoder_norm_upper(network: Network) -> Fraction | None:
    """Rational upper bound of sup |P(x, t)|_2 over the cube and all positions; None for formulas."""
    if isinstance(network.encoder, Formula):
        return None
    worst = ZERO
    for position in _distinct_positions(network.encoder, network.seq_len):
        ranges = _ranges(network, position)
        worst = max(worst, sum((max(low * low, high * high) for low, high in ranges), ZERO))
    return worst / sqrt_lower(worst) if worst else ZERO


def _weights(name: str, largest: Fraction) -> Constraint:
    detail = f"largest entry {decimal(largest)}"
    verdict: Verdict = Proved(detail) if largest <= 1 else Refuted(detail, {"largest": decimal(largest)})
    return Constraint("A1.3", f"entries of {name} <= 1", decimal(largest), verdict)


def _largest(arrays: Sequence[ExactArray]) -> Fraction:
    return max((Fraction(abs(entry)) for array in arrays for entry in array.flat), default=ZERO)


def _distinct_positions(encoder: Map, seq_len: int) -> list[int]:
    """One position for every different choice of biases."""
    tables = [layer.bias for layer in getattr(encoder, "layers", ()) if layer.bias.ndim == 2]
    kinds = {tuple(entry for table in tables for entry in table[t]): t for t in range(seq_len)}
    return [t + 1 for t in kinds.values()]


def _ranges(network: Network, position: int) -> list[Interval]:
    """Bounds of every coordinate of P(., position): exact along one direction where the encoder can be read."""
    cube, encoder = [(ZERO, ONE)] * network.token_dim, network.encoder
    units = np.asarray(EXACT.asarray(np.eye(encoder.output_dim)))
    try:
        found = []
        for unit in units:
            reading = read_encoder(encoder, network.seq_len, unit, ZERO)
            found.append(reading.range_at([position], range_of(reading.inner, cube)))
        return found
    except NotReadable:
        return _by_intervals(encoder, cube, position)


def _by_intervals(encoder: Map, ranges: Sequence[Interval], position: int) -> list[Interval]:
    assert isinstance(encoder, Perceptron)
    found = list(ranges)
    for layer in encoder.layers:
        bias = layer.bias[position - 1] if layer.bias.ndim == 2 else layer.bias
        following = []
        for row, offset in zip(entries_of(layer).rows(), bias, strict=True):
            ends = [sorted((w * found[c][0], w * found[c][1])) for c, w in row.items()]
            low, high = (Fraction(offset) + sum((end[side] for end in ends), ZERO) for side in (0, 1))
            following.append(_activated(layer.activation, low, high))
        found = following
    return found


def _activated(activation: str, low: Fraction, high: Fraction) -> Interval:
    if activation == "relu":
        return max(low, ZERO), max(high, ZERO)
    return (
        (low, high) if activation == "identity" else (min(low, -ONE), max(high, ONE))
    )  # |activation(x)| <= max(|x|, 1)


def _norm_squared_lower(network: Network) -> Fraction:
    """A lower bound of sup |P(x,t)|_2^2: its value at corners of the cube (exact for ReLU encoders); 0 for formulas."""
    if isinstance(network.encoder, Formula):
        return ZERO
    if network.token_dim > MOST_CORNERS_DIM:
        corners = [(ZERO,) * network.token_dim, (ONE,) * network.token_dim]
    else:
        corners = list(product((ZERO, ONE), repeat=network.token_dim))
    largest = ZERO
    for position in _distinct_positions(network.encoder, network.seq_len):
        for corner in corners:
            found = _by_intervals(network.encoder, [(entry, entry) for entry in corner], position)
            largest = max(largest, sum((max(low, -high, ZERO) ** 2 for low, high in found), ZERO))
    return largest
