"""A pair of sequences as the search sees it: attention outputs, features and all first derivatives, in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from constructions.adversary.forward import FORWARD64, SHARED64, seeded, seeded_apart
from constructions.arithmetic import FLOAT64
from constructions.evaluate import apply_map, attention, target
from constructions.network import Dense, Head, Map, Network, Perceptron
from constructions.task import RetrievalTask
from theory.errors import InvalidInput
from theory.expressions import evaluate as evaluate_expression

Array = np.ndarray[Any, np.dtype[np.float64]]
NUDGE = 1e-7
FLOOR = 1e-9  # directions in which the outputs move less than this share of the most are magnified no further
NOISE = 1e-6  # rounding of the whitened equations


@dataclass(frozen=True)
class Observation:
    """Both sequences at first order; index 0 is the first sequence (large target), 1 the second (small target).

    difference (k,) and jacobian (2, k, T d) of the whitened equations; whitened: their values at another pair, by the
    same recombination; features (2, D, T) with infinity off S_i; slopes (2, D, T, d); minima (2, D); targets (2,);
    outer_gradient (2, D); for each token and relu unit of the first layer, the distance to its kink (2, T, N) and the
    normal that points away from it (2, T, N, d).
    """

    difference: Array
    jacobian: Array
    whitened: Callable[[Array], Array]
    features: Array
    slopes: Array
    minima: Array
    targets: Array
    outer_gradient: Array
    kink_distance: Array
    kink_normal: Array

    @property
    def gap(self) -> float:
        """Target of the first minus target of the second."""
        return float(self.targets[0] - self.targets[1])

    @property
    def residual(self) -> float:
        """The l1 norm of the whitened equations, rounding aside."""
        return float(np.abs(beyond_noise(self.difference)).sum())


class PairProblem:
    """``maximise H(first) - H(second) subject to A(first) = A(second)`` for one block A and one target H.

    The equations are whitened where they are looked at: with ``U S V^T`` the SVD of ``[A'(first) | -A'(second)]``,
    ``A(first) - A(second)`` is replaced by ``S^-1 U^T (A(first) - A(second))``: how far coordinates must move. What
    few or faint tokens must meet then counts as much as what all tokens share.
    """

    def __init__(self, network: Network, task: RetrievalTask) -> None:
        if (network.seq_len, network.token_dim) != (task.seq_len, task.token_dim):
            found = ((network.seq_len, network.token_dim), (task.seq_len, task.token_dim))
            raise InvalidInput.about("(T, d) of network and task", found, "equal sizes", "another seq_len")
        self.network = folded(network)
        self.task = task

    def merit_terms(self, pair: Array) -> tuple[float, Array]:
        """Gap and difference of the outputs of a pair (2, T, d), without derivatives."""
        outputs = attention(self.network, pair, FLOAT64)
        return self.gap(pair), outputs[0] - outputs[1]

    def gap(self, pair: Array) -> float:
        """Target of the first minus target of the second."""
        targets = target(self.task, pair, FLOAT64)
        return float(targets[0] - targets[1])

    def equations(self, pair: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Jacobian (2, k, T d) of the equations whitened at a pair (2, T, d), and their values (k,) at any pair."""
        jacobian, left, scale = self.singular(pair)
        whitening = (left / scale).T
        return whitening @ jacobian, lambda other: whitening @ self.merit_terms(other)[1]

    def singular(self, pair: Array) -> tuple[Array, Array, Array]:
        """Jacobian (2, k, T d), the directions (k, k; columns) of the whitened equations and their scales (k,)."""
        jacobian = outputs_and_jacobian(self.network, pair)[1]
        left, singular, _ = np.linalg.svd(np.concatenate([jacobian[0], -jacobian[1]], axis=1), full_matrices=False)
        return jacobian, left, np.maximum(singular, max(FLOOR * singular[0], 1e-300))

    def residual(self, pair: Array) -> float:
        """The l1 norm of the whitened equations at a pair, rounding aside."""
        return float(np.abs(beyond_noise(self.equations(pair)[1](pair))).sum())

    def observe(self, pair: Array, generator: np.random.Generator) -> Observation:
        """Everything at a pair (2, T, d); derivatives a hair's breadth away: a token on a kink sees one side."""
        return self.observe_beside(pair, pair + NUDGE * generator.uniform(-1, 1, pair.shape))

    def observe_beside(self, pair: Array, nudged: Array) -> Observation:
        """The same, with derivatives taken at ``nudged``."""
        jacobian, whitened = self.equations(nudged)
        features, slopes = feature_table(self.task, pair)
        minima = features.min(axis=-1)
        targets, gradient = outer_map(self.task, minima)
        distance, normal = kinks(self.network, pair, nudged)
        return Observation(
            whitened(pair), jacobian, whitened, features, slopes, minima, targets, gradient, distance, normal
        )

    @property
    def positional(self) -> bool:
        """Whether the encoder looks at the position."""
        encoder = self.network.encoder
        if isinstance(encoder, Perceptron):
            return any(layer.bias.ndim == 2 for layer in encoder.layers)
        return any(component.positions is not None for component in encoder.components)

    def pool_features(self, pool: Array) -> Array:
        """All features (D, N) of N tokens, index sets ignored."""
        names = {f"x{index}": pool[:, index] for index in range(self.task.token_dim)}
        rows = [evaluate_expression(f.expression, names, FLOAT64) + 0 * pool[:, 0] for f in self.task.features]
        return np.stack(rows)


def beyond_noise(whitened: Array) -> Array:
    """The whitened equations, what may be rounding taken off."""
    return np.asarray(np.sign(whitened) * np.maximum(np.abs(whitened) - NOISE, 0))


def encoded_heads(network: Network, tokens: Array) -> list[tuple[Array, Array]]:
    """Scores (B, T) and values (B, T, v) of every head of a `folded` network at sequences (B, T, d)."""
    encoded = apply_map(network.encoder, tokens, FLOAT64)
    return [(encoded @ head.key[0], encoded @ head.value.T + head.value_bias) for head in network.heads]


def outputs_and_jacobian(network: Network, tokens: Array) -> tuple[Array, Array]:
    """Attention outputs (B, k) and Jacobian (B, k, T d) of sequences (B, T, d), in float64."""
    if network.token_layers:
        result = attention(network, seeded_apart(tokens, 0.0, 1.0), SHARED64)
    else:
        result = attention(network, seeded(tokens, 0.0, 1.0), FORWARD64)
    return result.value, np.moveaxis(result.tangent, 0, 2)


def kinks(network: Network, tokens: Array, nudged: Array) -> tuple[Array, Array]:
    """Relu units of the first layer: distance to the kink (B, T, N) from the side of ``nudged``, normal (B, T, N, d).

    The distance is the unit's argument, positive on the nudged side; the normal its gradient. N = 0 without relu.
    """
    batch, seq_len, token_dim = tokens.shape
    if not isinstance(network.encoder, Perceptron) or network.encoder.layers[0].activation != "relu":
        return np.empty((batch, seq_len, 0)), np.empty((batch, seq_len, 0, token_dim))
    first = network.encoder.layers[0]
    side = np.sign(nudged @ first.weight.T + first.bias)
    return side * (tokens @ first.weight.T + first.bias), side[..., None] * first.weight


def feature_table(task: RetrievalTask, tokens: Array) -> tuple[Array, Array]:
    """Features (B, D, T), infinite off S_i, and their gradients (B, D, T, d) at sequences (B, T, d)."""
    dual = seeded(tokens, 0.0, 1.0)
    names = {f"x{index}": dual[..., index] for index in range(task.token_dim)}
    features = np.full((len(tokens), task.num_targets, task.seq_len), np.inf)
    slopes = np.zeros((*features.shape, task.token_dim))
    for index, feature in enumerate(task.features):
        value = evaluate_expression(feature.expression, names, FORWARD64) + 0 * dual[..., 0]
        inside = [position - 1 for position in feature.positions]
        features[:, index, inside] = value.value[:, inside]
        slopes[:, index] = np.moveaxis(value.tangent, 0, -1)
    return features, slopes


def outer_map(task: RetrievalTask, minima: Array) -> tuple[Array, Array]:
    """``F_0`` (B,) and its gradient (B, D) at minima (B, D)."""
    dual = seeded(minima, 0.0, 1.0)
    names = {f"z{index}": dual[..., index] for index in range(task.num_targets)}
    value = evaluate_expression(task.outer, names, FORWARD64) + 0 * dual[..., 0]
    return value.value, value.tangent.T


def folded(network: Network) -> Network:
    """The same attention outputs up to rounding, in float64: each head's query and key as one score direction.

    With token layers only the conversion to float64: there queries depend on the tokens.
    """
    heads = tuple(_head(head) for head in network.heads)
    layers = tuple(
        replace(
            layer,
            heads=tuple(_head(head) for head in layer.heads),
            output_weight=_floats(layer.output_weight),
            output_bias=_floats(layer.output_bias),
            update=_map(layer.update),
            class_update=None if layer.class_update is None else _map(layer.class_update),
        )
        for layer in network.token_layers
    )
    token, beta = _floats(network.class_token), network.beta
    if not layers:
        heads = tuple(
            replace(
                head,
                query=np.ones((1, 1)),
                key=(float(beta) * head.key.T @ (head.query @ token + head.query_bias))[None],
                query_bias=np.zeros(1),
            )
            for head in heads
        )
        token, beta = np.ones(1), Fraction(1)
    return replace(
        network,
        encoder=_map(network.encoder),
        class_token=token,
        heads=heads,
        beta=beta,
        output_weight=_floats(network.output_weight),
        output_bias=_floats(network.output_bias),
        token_layers=layers,
    )


def _head(head: Head) -> Head:
    parts = (head.query, head.key, head.value, head.query_bias, head.value_bias)
    return Head(*(_floats(part) for part in parts))


def _map(function: Map) -> Map:
    if not isinstance(function, Perceptron):
        return function
    return Perceptron(
        tuple(Dense(_floats(one.weight), _floats(one.bias), one.activation, one.copies) for one in function.layers)
    )


def _floats(array: Any) -> Array:
    return np.asarray(array, dtype=np.float64)
