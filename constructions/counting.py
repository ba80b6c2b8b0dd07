"""Parameter counts in the conventions that the paper mixes: M is DEF-H's, non-zero feed-forward weights and biases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from constructions.arithmetic import ExactArray
from constructions.network import Map, Network, Perceptron
from constructions.sparse import entries_of
from theory.errors import InvalidInput


@dataclass(frozen=True)
class ParameterCount:
    """``feed_forward``: non-zero weights and biases of encoder and read-out, a positional bias counted once per unit;
    ``feed_forward_dense``: the same with zeros; ``positional``: further entries of positional biases that differ from
    position 1 (a gate, say); ``attention``: non-zero entries of all heads, W_O, its bias, c0, and beta."""

    feed_forward: int
    feed_forward_dense: int
    positional: int
    attention: int

    @property
    def all_nonzero(self) -> int:
        """Everything but zeros."""
        return self.feed_forward + self.positional + self.attention


def count_parameters(network: Network) -> ParameterCount:
    """Count a network's parameters (M of DEF-H is ``feed_forward``, plus ``positional`` if gates are charged).

    Raises:
        InvalidInput: encoder or read-out are formulas, which have no parameters.
    """
    maps = [_layers(network.encoder, "encoder"), _layers(network.readout, "readout")]
    dense = nonzero = positional = 0
    for layer in (layer for perceptron in maps for layer in perceptron.layers):
        first = layer.bias[0] if layer.bias.ndim == 2 else layer.bias
        dense += layer.shape[0] * layer.shape[1] + first.size
        nonzero += entries_of(layer).count + _nonzero(first)
        positional += _nonzero(layer.bias - first) if layer.bias.ndim == 2 else 0
    arrays = [network.class_token, network.output_weight, network.output_bias]
    for head in network.heads:
        arrays += [head.query, head.key, head.value, head.query_bias, head.value_bias]
    return ParameterCount(nonzero, dense, positional, sum(map(_nonzero, arrays)) + 1)


def _layers(function: Map, name: str) -> Perceptron:
    if isinstance(function, Perceptron):
        return function
    raise InvalidInput.about(name, "formula", "a feed-forward network (DEF-H)", "build it with approximators")


def _nonzero(array: ExactArray) -> int:
    return int(np.count_nonzero(array))
