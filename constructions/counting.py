"""Parameter counts in the conventions that the paper mixes: M is DEF-H's, non-zero feed-forward weights and biases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from constructions.arithmetic import ExactArray
from constructions.network import Map, Network, Perceptron, TokenLayer
from constructions.sparse import entries_of
from theory.errors import InvalidInput


@dataclass(frozen=True)
class ParameterCount:
    """``feed_forward``: non-zero weights and biases of encoder, token layers' updates and read-out, every copy of a
    neuron counted, a positional bias once per unit; ``feed_forward_dense``: the same with zeros; ``positional``:
    further entries of positional biases that differ from position 1 (a gate, say); ``attention``: non-zero entries of
    all heads, W_O, its bias, c0, and every beta; ``feed_forward_stored``: as ``feed_forward``, copies counted once."""

    feed_forward: int
    feed_forward_dense: int
    positional: int
    attention: int
    feed_forward_stored: int

    @property
    def all_nonzero(self) -> int:
        """Everything but zeros."""
        return self.feed_forward + self.positional + self.attention


def count_parameters(network: Network) -> ParameterCount:
    """Count a network's parameters (M of DEF-H is ``feed_forward``, plus ``positional`` if gates are charged).

    Raises:
        InvalidInput: a map of the network is a formula, which has no parameters.
    """
    maps = [("encoder", network.encoder), ("readout", network.readout)]
    for layer in network.token_layers:
        maps.append(("update", layer.update))
        if layer.class_update is not None:
            maps.append(("class_update", layer.class_update))
    counts = [_count_map(function, name) for name, function in maps]
    nonzero, dense, positional, stored = (sum(column) for column in zip(*counts, strict=True))
    blocks: list[Network | TokenLayer] = [network, *network.token_layers]
    return ParameterCount(nonzero, dense, positional, _nonzero(network.class_token) + _attention(blocks), stored)


def _count_map(function: Map, name: str) -> tuple[int, int, int, int]:
    if not isinstance(function, Perceptron):
        raise InvalidInput.about(name, "formula", "a feed-forward network (DEF-H)", "build it with approximators")
    nonzero = dense = positional = stored = 0
    before = np.full(function.input_dim, 1, dtype=object)
    for layer in function.layers:
        entries = entries_of(layer)
        ones = np.full(entries.shape[0], 1, dtype=object)
        copies = ones if layer.copies is None else np.array(layer.copies, dtype=object)  # may exceed 64 bits
        first = layer.bias[0] if layer.bias.ndim == 2 else layer.bias
        rows = np.repeat(np.arange(len(copies)), np.diff(entries.starts))
        nonzero += int(copies[rows] @ before[entries.columns]) + int(copies[np.flatnonzero(first)].sum())
        dense += int(copies.sum()) * (int(before.sum()) + 1)
        stored += entries.count + _nonzero(first)
        if layer.bias.ndim == 2:
            positional += int(copies[np.nonzero(layer.bias - first)[1]].sum())
        before = copies
    return nonzero, dense, positional, stored


def _attention(blocks: Sequence[Network | TokenLayer]) -> int:
    total = 0
    for block in blocks:
        arrays = [block.output_weight, block.output_bias]
        for head in block.heads:
            arrays += [head.query, head.key, head.value, head.query_bias, head.value_bias]
        total += sum(map(_nonzero, arrays)) + 1
    return total


def _nonzero(array: ExactArray) -> int:
    return int(np.count_nonzero(array))
