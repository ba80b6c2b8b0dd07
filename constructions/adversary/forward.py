"""Derivatives as an arithmetic: forward mode over any other arithmetic, so no network is differentiated by hand.

A `Dual` carries a value (any shape) and its derivatives along m directions (shape (m, *shape)). `seeded` starts with
one direction for each token coordinate, *the same for all tokens*: a token's features depend on that token alone, so d
directions are enough. `Forward.attend` and `Forward.smallest`, the only operations that mix tokens, spread them
into T d directions, one for each coordinate of each token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import ndtr

from constructions.arithmetic import FLOAT64, ArrayArithmetic, ExactArray


@dataclass(frozen=True, eq=False)
class Dual:
    """``value + sum_j tangent[j] eps_j`` to first order: value of any shape, tangent (m, *value.shape)."""

    value: Any
    tangent: Any
    __array_ufunc__ = None  # numpy arrays leave mixed operations to this class

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.value.shape)

    def swapaxes(self, first: int, second: int) -> Dual:
        """Two axes of the value, both negative, exchanged."""
        return Dual(self.value.swapaxes(first, second), self.tangent.swapaxes(first, second))

    def __getitem__(self, index: Any) -> Dual:
        index = index if isinstance(index, tuple) else (index,)
        return Dual(self.value[index], self.tangent[(slice(None), *index)])

    def __add__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.tangent + other.tangent)
        value = self.value + other
        return Dual(value, np.broadcast_to(self.tangent, (len(self.tangent), *np.shape(value))))

    def __mul__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value * other.value, self.tangent * other.value + self.value * other.tangent)
        return Dual(self.value * other, self.tangent * other)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.tangent)

    def __sub__(self, other: Any) -> Dual:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Dual:
        return self.__neg__().__add__(other)

    __radd__ = __add__
    __rmul__ = __mul__


class Forward:
    """The derivative-carrying version of ``base``; constants stay plain arrays of ``base``.

    ``step`` is the slope of relu (in balls: an enclosure of all slopes near a kink, which makes every tangent an
    enclosure of the Clarke derivative); ``gelu_slope`` is the derivative of gelu.
    """

    def __init__(self, base: ArrayArithmetic, step: Callable[[Any], Any], gelu_slope: Callable[[Any], Any]) -> None:
        self.base = base
        self.step = step
        self.gelu_slope = gelu_slope

    def constant(self, value: Fraction) -> Any:
        return self.base.constant(value)

    def asarray(self, exact: ExactArray) -> Any:
        return self.base.asarray(exact)

    def power(self, x: Any, exponent: int) -> Any:
        if exponent == 0:
            return x * 0 + 1
        return _chain(
            x,
            lambda value: self.base.power(value, exponent),
            lambda value: exponent * self.base.power(value, exponent - 1),
        )

    def divide(self, x: Any, y: Any) -> Any:
        return x * self.power(y, -1) if isinstance(y, Dual) else self._quotient(x, y)

    def _quotient(self, x: Any, y: Any) -> Any:
        if isinstance(x, Dual):
            return Dual(self.base.divide(x.value, y), self.base.divide(x.tangent, y))
        return self.base.divide(x, y)

    def exp(self, x: Any) -> Any:
        return _chain(x, self.base.exp, self.base.exp)

    def log(self, x: Any) -> Any:
        return _chain(x, self.base.log, lambda value: self.base.power(value, -1))

    def tanh(self, x: Any) -> Any:
        return _chain(x, self.base.tanh, self._tanh_slope)

    def relu(self, x: Any) -> Any:
        return _chain(x, self.base.relu, self.step)

    def gelu(self, x: Any) -> Any:
        return _chain(x, self.base.gelu, self.gelu_slope)

    def absolute(self, x: Any) -> Any:
        return _chain(x, self.base.absolute, lambda value: 2 * self.step(value) - 1)

    def minimum(self, values: Sequence[Any]) -> Any:
        return self._extreme(values, self.base.minimum, lambda a, b: b - a)

    def maximum(self, values: Sequence[Any]) -> Any:
        return self._extreme(values, self.base.maximum, lambda a, b: a - b)

    def matmul(self, a: Any, b: Any) -> Any:
        """``a @ b`` for a Dual a (..., r, c) and a constant matrix b (c, k)."""
        assert isinstance(a, Dual)

        def product(x: Any) -> Any:
            return self.base.matmul(x.reshape(-1, x.shape[-1]), b).reshape(*x.shape[:-1], b.shape[-1])

        return Dual(product(a.value), product(a.tangent))

    def stack(self, arrays: Sequence[Any]) -> Any:
        return Dual(np.stack([x.value for x in arrays], axis=-1), np.stack([x.tangent for x in arrays], axis=-1))

    def concatenate(self, arrays: Sequence[Any]) -> Any:
        values, tangents = [x.value for x in arrays], [x.tangent for x in arrays]
        return Dual(np.concatenate(values, axis=-1), np.concatenate(tangents, axis=-1))

    def smallest(self, x: Any) -> Any:
        # A token's weight in the derivative is 1 where it alone is smallest, 0 where another is smaller.
        ahead = _ahead(self, x.value)
        return Dual(self.base.smallest(x.value), _spread(x.tangent * np.multiply.reduce(ahead, axis=-1), -1))

    def attend(self, scores: Any, values: Any) -> Any:
        # d(sum_u w_u v_u) / dx_t = w_t (dv_t + (v_t - sum_u w_u v_u) dscore_t) with w the softmax of the scores.
        weights = _softmax(self.base, scores.value)[..., None]
        mean = self.base.attend(scores.value, values.value)
        centred = values.value - mean[..., None, :]
        return Dual(mean, _spread(weights * (values.tangent + centred * scores.tangent[..., None]), -2))

    def _extreme(self, values: Sequence[Any], value_of: Any, lead: Any) -> Any:
        best = values[0]
        for other in values[1:]:
            if not (isinstance(best, Dual) or isinstance(other, Dual)):
                best = value_of([best, other])
                continue
            chosen = self.step(lead(_value(best), _value(other)))  # 1 where `best` stays
            difference = best - other
            tangent = _tangent(other, difference) + chosen * difference.tangent
            best = Dual(value_of([_value(best), _value(other)]) + 0 * difference.value, tangent)
        return best

    def _tanh_slope(self, x: Any) -> Any:
        value = self.base.tanh(x)
        return 1 - value * value


class SharedForward(Forward):
    """The same for networks with token layers, where every state depends on all tokens: all T d directions from the
    start (`seeded_apart`), and nothing is spread."""

    def matmul(self, a: Any, b: Any) -> Any:
        """``a @ b`` for a Dual a and a constant matrix or a Dual b."""
        if not isinstance(b, Dual):
            return super().matmul(a, b)
        tangent = self.base.matmul(a.tangent, b.value) + self.base.matmul(a.value, b.tangent)
        return Dual(self.base.matmul(a.value, b.value), tangent)

    def smallest(self, x: Any) -> Any:
        ahead = _ahead(self, x.value)
        return Dual(self.base.smallest(x.value), (x.tangent * np.multiply.reduce(ahead, axis=-1)).sum(axis=-1))

    def attend(self, scores: Any, values: Any) -> Any:
        weights = _softmax(self.base, scores.value)[..., None]
        mean = self.base.attend(scores.value, values.value)
        centred = values.value - mean[..., None, :]
        return Dual(mean, (weights * (values.tangent + centred * scores.tangent[..., None])).sum(axis=-2))


def _gelu_slope(x: Any) -> Any:
    return ndtr(x) + x * np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)


FORWARD64 = Forward(FLOAT64, lambda x: np.heaviside(x, 0.5), _gelu_slope)
"""Float64 values with float64 derivatives."""


SHARED64 = SharedForward(FLOAT64, FORWARD64.step, FORWARD64.gelu_slope)
"""The same for networks with token layers."""


def seeded(tokens: Any, zero: Any, one: Any) -> Dual:
    """Tokens (..., T, d) as a Dual with one direction for each of the d coordinates.

    >>> seeded(np.zeros((3, 2)), 0.0, 1.0).tangent.shape
    (2, 3, 2)
    """
    token_dim = tokens.shape[-1]
    tangent = np.full((token_dim, *tokens.shape), zero, dtype=tokens.dtype)
    for coordinate in range(token_dim):
        tangent[coordinate, ..., coordinate] = one
    return Dual(tokens, tangent)


def seeded_apart(tokens: Any, zero: Any, one: Any) -> Dual:
    """Tokens (..., T, d) as a Dual with one direction for each coordinate of each token.

    >>> seeded_apart(np.zeros((3, 2)), 0.0, 1.0).tangent.shape
    (6, 3, 2)
    """
    dual = seeded(tokens, zero, one)
    seq_len, token_dim = tokens.shape[-2:]
    tangent = np.full((seq_len, *dual.tangent.shape), zero, dtype=tokens.dtype)
    for position in range(seq_len):
        tangent[position, ..., position, :] = dual.tangent[..., position, :]
    return Dual(tokens, tangent.reshape(seq_len * token_dim, *tokens.shape))


def _ahead(forward: Forward, x: Any) -> Any:
    """(..., t, u): 1 where x_u > x_t, 1 on the diagonal."""
    ahead = forward.step(x[..., None, :] - x[..., :, None])
    diagonal = np.arange(ahead.shape[-1])
    ahead[..., diagonal, diagonal] = forward.base.constant(Fraction(1))
    return ahead


def _softmax(base: ArrayArithmetic, scores: Any) -> Any:
    shift = -base.smallest(-scores)
    weights = base.exp(scores - shift[..., None])
    return weights / weights.sum(axis=-1, keepdims=True)


def _chain(x: Any, function: Callable[[Any], Any], slope: Callable[[Any], Any]) -> Any:
    return Dual(function(x.value), slope(x.value) * x.tangent) if isinstance(x, Dual) else function(x)


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Dual) else x


def _tangent(x: Any, like: Dual) -> Any:
    return x.tangent if isinstance(x, Dual) else 0 * like.tangent


def _spread(tangent: Any, token_axis: int) -> Any:
    """(d, ..., T, ...) with T at ``token_axis`` -> (T d, ...), direction t d + c for coordinate c of token t."""
    moved = np.moveaxis(tangent, token_axis, 0)
    return moved.reshape(-1, *moved.shape[2:])
