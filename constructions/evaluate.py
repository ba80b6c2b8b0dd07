"""One interpreter for tasks and networks, in any arithmetic (DEF-H eq 4-6, DEF-D eq 8-9; token layers)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from constructions.arithmetic import EXACT, ArrayArithmetic, ExactArray, fractions
from constructions.network import Formula, Map, Network, TokenLayer
from constructions.sparse import SparseLayer
from constructions.task import RetrievalTask
from theory.errors import InvalidInput
from theory.expressions import evaluate as evaluate_expression


def apply_map(function: Map, x: Any, arithmetic: ArrayArithmetic) -> Any:
    """A feed-forward map: x (..., in) -> (..., out); position-dependent maps need x (..., T, in)."""
    if isinstance(function, Formula):
        return _apply_formula(function, x, arithmetic)
    for layer in function.layers:
        if isinstance(layer, SparseLayer):
            x = layer.entries.product(x, arithmetic) + arithmetic.asarray(layer.bias)
        else:
            x = arithmetic.matmul(x, arithmetic.asarray(layer.weight.T)) + arithmetic.asarray(layer.bias)
        if layer.activation != "identity":
            x = _activation(layer.activation, arithmetic)(x)
        if layer.copies is not None:
            x = x * arithmetic.asarray(fractions(layer.copies))
    return x


def _activation(name: str, arithmetic: ArrayArithmetic) -> Callable[[Any], Any]:
    function: Callable[[Any], Any] | None = getattr(arithmetic, name, None)
    if function is None:
        condition = f"one that {type(arithmetic).__name__} knows"
        raise InvalidInput.about("activation", name, condition, "balls, floats, or a network without it")
    return function


def attention(network: Network, tokens: Any, arithmetic: ArrayArithmetic) -> Any:
    """Concatenated outputs of the heads at the class token: tokens (..., T, d) -> (..., sum of value sizes).

    Whatever two sequences share here, every read-out shares (T2.2, N8).
    """
    _check_tokens(network.seq_len, network.token_dim, tokens)
    states = apply_map(network.encoder, tokens, arithmetic)
    asking = None  # the class token's state, once a token layer has changed it
    for layer in network.token_layers:
        if layer.class_update is not None:
            start = arithmetic.asarray(network.class_token) + 0 * states[..., :1, :1]
            asking = _updated(layer, layer.class_update, start if asking is None else asking, states, arithmetic)
        states = _updated(layer, layer.update, states, states, arithmetic)
    if asking is not None:
        return _heard(network, asking, states, arithmetic)[..., 0, :]
    outputs = []
    for head, direction in zip(network.heads, network.score_directions, strict=True):
        scores = arithmetic.matmul(states, arithmetic.asarray(direction[:, None]))[..., 0]
        values = arithmetic.matmul(states, arithmetic.asarray(head.value.T)) + arithmetic.asarray(head.value_bias)
        outputs.append(arithmetic.attend(scores, values))
    return arithmetic.concatenate(outputs)


def _updated(layer: TokenLayer, update: Map, asking: Any, states: Any, arithmetic: ArrayArithmetic) -> Any:
    """New states of those who ask: (..., Q, E) and (..., T, E) -> (..., Q, E')."""
    heard = _heard(layer, asking, states, arithmetic)
    mixed = arithmetic.matmul(heard, arithmetic.asarray(layer.output_weight.T)) + arithmetic.asarray(layer.output_bias)
    return apply_map(update, arithmetic.concatenate([asking, mixed]), arithmetic)


def _heard(layer: TokenLayer | Network, queries: Any, states: Any, arithmetic: ArrayArithmetic) -> Any:
    """Outputs of all heads for every query: (..., Q, C) and (..., T, E) -> (..., Q, sum of value sizes)."""
    outputs = []
    for head in layer.heads:
        asked = arithmetic.matmul(queries, arithmetic.asarray(head.query.T)) + arithmetic.asarray(head.query_bias)
        keys = arithmetic.matmul(states, arithmetic.asarray(head.key.T))
        scores = arithmetic.matmul(asked, keys.swapaxes(-1, -2)) * arithmetic.constant(layer.beta)
        values = arithmetic.matmul(states, arithmetic.asarray(head.value.T)) + arithmetic.asarray(head.value_bias)
        outputs.append(arithmetic.attend(scores, values[..., None, :, :]))
    return arithmetic.concatenate(outputs)


def read_out(network: Network, attended: Any, arithmetic: ArrayArithmetic) -> Any:
    """The read-out of given attention outputs: (..., sum of value sizes) -> (..., l)."""
    mixed = arithmetic.matmul(attended[..., None, :], arithmetic.asarray(network.output_weight.T))[..., 0, :]
    return apply_map(network.readout, mixed + arithmetic.asarray(network.output_bias), arithmetic)


def evaluate(network: Network, tokens: Any, arithmetic: ArrayArithmetic) -> Any:
    """The network's output (DEF-H): tokens (..., T, d) -> (..., l)."""
    return read_out(network, attention(network, tokens, arithmetic), arithmetic)


def retrieved(task: RetrievalTask, tokens: Any, arithmetic: ArrayArithmetic) -> list[Any]:
    """The minima ``zbar_i`` of DEF-D: tokens (..., T, d) -> D arrays of shape (...)."""
    _check_tokens(task.seq_len, task.token_dim, tokens)
    values = {f"x{index}": tokens[..., index] for index in range(task.token_dim)}
    minima = []
    for feature in task.features:
        feature_values = evaluate_expression(feature.expression, values, arithmetic) + 0 * tokens[..., 0]
        minima.append(arithmetic.smallest(feature_values[..., [position - 1 for position in feature.positions]]))
    return minima


def target(task: RetrievalTask, tokens: Any, arithmetic: ArrayArithmetic) -> Any:
    """The target ``H(X) = F_0(zbar_1, ..., zbar_D)`` of DEF-D: tokens (..., T, d) -> (...)."""
    minima = retrieved(task, tokens, arithmetic)
    values = {f"z{index}": minimum for index, minimum in enumerate(minima)}
    return evaluate_expression(task.outer, values, arithmetic) + 0 * minima[0]


def _apply_formula(function: Formula, x: Any, arithmetic: ArrayArithmetic) -> Any:
    values = {f"x{index}": x[..., index] for index in range(function.input_dim)}
    columns = []
    for component in function.components:
        column = evaluate_expression(component.expression, values, arithmetic) + 0 * x[..., 0]
        if component.positions is not None:
            inside = np.zeros(x.shape[-2], dtype=np.int64)
            inside[[position - 1 for position in component.positions]] = 1
            mask = arithmetic.asarray(_exact(inside))
            column = column * mask + (1 - mask) * arithmetic.constant(component.outside)
        columns.append(column)
    return arithmetic.stack(columns)


def _exact(array: ExactArray) -> ExactArray:
    return np.asarray(EXACT.asarray(np.asarray(array, dtype=array.dtype if array.dtype == object else np.float64)))


def _check_tokens(seq_len: int, token_dim: int, tokens: Any) -> None:
    if tuple(tokens.shape[-2:]) != (seq_len, token_dim):
        raise InvalidInput.about("tokens.shape", tuple(tokens.shape), f"(..., {seq_len}, {token_dim})", "reshape it")
