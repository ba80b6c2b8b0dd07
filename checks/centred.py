"""Networks and tasks over many boxes at once: an arithmetic for `constructions.evaluate` of mean-value forms.

A `Centred` knows, for every box of a batch, an enclosure of a function's value at the box's centre, of its range on the
box, and of its derivatives (Clarke's, at kinks) by each of the m coordinates. The mean-value form
``f(x) in f(c) + sum_j slope_j (x_j - c_j)`` sharpens the range: its excess falls with the square of the box size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from checks import boxes, jets
from checks.balls import Ball
from checks.balls import gelu as ball_gelu
from checks.balls import log as ball_log
from checks.balls import tanh as ball_tanh
from checks.boxes import Array, Boxes
from constructions.arithmetic import ExactArray

DIVISION_SLACK = 2.0**-30
"""Relative error granted to sums and quotients in a softmax average (up to a million tokens)."""


@dataclass(frozen=True, eq=False)
class Centred:
    """centre, range: shape (B, ...); slope: (m, B, ...); radius (m, B): half widths of the boxes."""

    centre: Boxes
    range: Boxes
    slope: Boxes
    radius: Array
    __array_ufunc__ = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.range.shape

    def sharpened(self) -> Centred:
        """The same with the range cut by the mean-value form."""
        radius = self.radius.reshape(self.radius.shape + (1,) * (self.slope.lo.ndim - 2))
        reach = boxes.add_up(Boxes.points(self.slope.magnitude) * Boxes.points(radius), axis=0).hi
        form = boxes.outward(self.centre.lo - reach, self.centre.hi + reach)
        return Centred(self.centre, boxes.meet(self.range, form), self.slope, self.radius)

    def __getitem__(self, index: Any) -> Centred:
        index = index if isinstance(index, tuple) else (index,)
        slope = self.slope[index] if index[0] is Ellipsis else self.slope[(slice(None), *index)]
        return Centred(self.centre[index], self.range[index], slope, self.radius)

    def __neg__(self) -> Centred:
        return Centred(-self.centre, -self.range, -self.slope, self.radius)

    def __add__(self, other: Any) -> Centred:
        if isinstance(other, Centred):
            return Centred(
                self.centre + other.centre, self.range + other.range, self.slope + other.slope, self.radius
            ).sharpened()
        return Centred(self.centre + other, self.range + other, self._spread(other), self.radius)

    def __sub__(self, other: Any) -> Centred:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Centred:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Centred:
        if isinstance(other, Centred):
            slope = self.slope * other.range + other.slope * self.range
            return Centred(self.centre * other.centre, self.range * other.range, slope, self.radius).sharpened()
        return Centred(self.centre * other, self.range * other, self.slope * other, self.radius)

    __radd__ = __add__
    __rmul__ = __mul__

    def _spread(self, other: Any) -> Boxes:
        """The slope in the shape that adding a constant array gives."""
        shape = np.broadcast_shapes(self.range.shape, boxes.lifted(other).shape)
        wanted = (len(self.radius), *shape)
        return Boxes(np.broadcast_to(self.slope.lo, wanted), np.broadcast_to(self.slope.hi, wanted))


class CentredArithmetic:
    """The interpreter's arithmetic on `Centred` values; constants stay `Boxes`."""

    def constant(self, value: Fraction) -> Boxes:
        return boxes.from_exact(np.array(value, dtype=object))

    def asarray(self, exact: ExactArray) -> Boxes:
        return boxes.from_exact(exact)

    def power(self, x: Any, exponent: int) -> Any:
        def slope(y: Boxes) -> Boxes:
            return boxes.power(y, exponent - 1) * float(exponent) if exponent else y * 0.0

        return _chain(x, lambda y: boxes.power(y, exponent), slope)

    def divide(self, x: Any, y: Any) -> Any:
        if not isinstance(y, Centred):
            return x * boxes.quotient(Boxes.points(1.0), boxes.lifted(y))
        return self.power(y, -1) * x

    def exp(self, x: Any) -> Any:
        return _chain(x, boxes.exponential, boxes.exponential)

    def log(self, x: Any) -> Any:
        return _chain(x, _balls(ball_log), lambda y: boxes.power(y, -1))

    def tanh(self, x: Any) -> Any:
        return _chain(x, _balls(ball_tanh), _balls(jets.tanh_slope))

    def gelu(self, x: Any) -> Any:
        return _chain(x, _balls(ball_gelu), _balls(jets.gelu_slope))

    def relu(self, x: Any) -> Any:
        return _chain(x, _relu, _step)

    def absolute(self, x: Any) -> Any:
        return _chain(x, boxes.absolute, lambda y: _step(y) * 2.0 - 1.0)

    def minimum(self, values: Sequence[Any]) -> Any:
        if not any(isinstance(value, Centred) for value in values):
            lows, highs = [value.lo for value in values], [value.hi for value in values]
            return Boxes(np.asarray(np.minimum.reduce(lows)), np.asarray(np.minimum.reduce(highs)))
        return self.smallest(self.stack(values))

    def maximum(self, values: Sequence[Any]) -> Any:
        return -self.minimum([-value for value in values])

    def matmul(self, a: Any, b: Any) -> Any:
        if not isinstance(a, Centred):
            return boxes.product(a, b)
        centre, whole, slope = (boxes.product(part, b) for part in (a.centre, a.range, a.slope))
        return Centred(centre, whole, slope, a.radius).sharpened()

    def stack(self, arrays: Sequence[Any]) -> Any:
        return _join(arrays, lambda parts: np.stack(parts, axis=-1))

    def concatenate(self, arrays: Sequence[Any]) -> Any:
        return _join(arrays, lambda parts: np.concatenate(parts, axis=-1))

    def smallest(self, x: Centred) -> Centred:
        # Every Clarke derivative is a mean of the derivatives of those that can be smallest somewhere in the box.
        active = x.range.lo <= x.range.hi.min(axis=-1, keepdims=True)
        low = np.where(active, x.slope.lo, np.inf).min(axis=-1)
        high = np.where(active, x.slope.hi, -np.inf).max(axis=-1)
        smallest = Boxes(x.range.lo.min(axis=-1), x.range.hi.min(axis=-1))
        centre = Boxes(x.centre.lo.min(axis=-1), x.centre.hi.min(axis=-1))
        return Centred(centre, smallest, Boxes(low, high), x.radius).sharpened()

    def attend(self, scores: Centred, values: Centred) -> Centred:
        # d(sum_t p_t v_t) = sum_t p_t (dv_t + (v_t - mean) ds_t), and v_t - mean = sum_u p_u (v_t - v_u).
        centre = softmax_average(scores.centre, values.centre)
        mean = softmax_average(scores.range, values.range)
        apart = values.range[..., :, None, :] - values.range[..., None, :, :]
        same = np.eye(apart.shape[-2], dtype=bool)[..., None]
        apart = Boxes(np.where(same, 0.0, apart.lo), np.where(same, 0.0, apart.hi))
        distance = softmax_average(scores.range[..., None, :], apart)
        moved = values.slope + scores.slope[..., None] * distance
        slope = boxes.add_up(moved * softmax_weights(scores.range)[..., None], axis=-2)
        return Centred(centre, mean, slope, values.radius).sharpened()


CENTRED = CentredArithmetic()


def softmax_average(scores: Boxes, values: Boxes) -> Boxes:
    """Range of ``sum_t p_t v_t``, p the softmax of the scores (..., T), values (..., T, v)."""
    # Sums and quotients have errors below (2T + 4) u max |v| < DIVISION_SLACK/4 max |v|.
    weights = _unnormalised(scores)
    slack = DIVISION_SLACK * values.magnitude.max(axis=-2)
    below = -_greatest_average(weights.lo, weights.hi, -values.lo)
    return boxes.outward(below - slack, _greatest_average(weights.lo, weights.hi, values.hi) + slack)


def softmax_weights(scores: Boxes) -> Boxes:
    """Ranges of the softmax weights p_t of scores (..., T)."""
    # p_t rises with its own score and falls with the others; relative errors are below (T + 4) u < DIVISION_SLACK/4.
    weights = _unnormalised(scores)
    low, high = weights.lo, weights.hi
    others = np.ones((low.shape[-1],) * 2) - np.eye(low.shape[-1])
    least, most = low + high @ others, high + low @ others
    lower = np.divide(low, least, out=np.zeros_like(low), where=least > 0) * (1 - DIVISION_SLACK)
    return Boxes(lower, np.minimum(high / most * (1 + DIVISION_SLACK), 1.0))


def _unnormalised(scores: Boxes) -> Boxes:
    return boxes.exponential(scores - scores.hi.max(axis=-1, keepdims=True))


def _greatest_average(low: Array, high: Array, values: Array) -> Array:
    """The greatest weighted mean of values (..., T, v) for weights between low and high (..., T)."""
    # In one weight the mean moves with the sign of v_t - mean, so at the maximum the weights are high above a
    # threshold and low below it: the maximum over all thresholds is the maximum.
    order = np.argsort(-values, axis=-2, kind="stable")
    ranked = np.take_along_axis(values, order, axis=-2)
    spread = (*values.shape[:-1], values.shape[-1])
    tops = np.take_along_axis(np.broadcast_to(high[..., None], spread), order, axis=-2)
    rests = np.take_along_axis(np.broadcast_to(low[..., None], spread), order, axis=-2)
    mass = np.cumsum(tops, axis=-2) + _after(rests)
    moment = np.cumsum(tops * ranked, axis=-2) + _after(rests * ranked)
    return np.asarray((moment / mass).max(axis=-2))


def _after(terms: Array) -> Array:
    """Sums over the later entries of axis -2, without subtraction."""
    backwards = np.cumsum(terms[..., ::-1, :], axis=-2)[..., ::-1, :]
    return np.concatenate([backwards[..., 1:, :], np.zeros_like(backwards[..., :1, :])], axis=-2)


def _chain(x: Any, function: Callable[[Boxes], Boxes], slope: Callable[[Boxes], Boxes]) -> Any:
    if not isinstance(x, Centred):
        return function(x)
    return Centred(function(x.centre), function(x.range), x.slope * slope(x.range), x.radius).sharpened()


def _join(arrays: Sequence[Any], join: Callable[[list[Array]], Array]) -> Centred:
    """Join Centred values; constants among them get slope zero."""
    model = next(array for array in arrays if isinstance(array, Centred))
    parts = [array if isinstance(array, Centred) else model * 0 + array for array in arrays]

    def joined(pick: Callable[[Centred], Boxes]) -> Boxes:
        chosen = [pick(part) for part in parts]
        return Boxes(join([part.lo for part in chosen]), join([part.hi for part in chosen]))

    centre, whole, slope = joined(lambda x: x.centre), joined(lambda x: x.range), joined(lambda x: x.slope)
    return Centred(centre, whole, slope, model.radius)


def _relu(x: Boxes) -> Boxes:
    return Boxes(np.maximum(x.lo, 0.0), np.maximum(x.hi, 0.0))


def _step(x: Boxes) -> Boxes:
    return Boxes((x.lo > 0).astype(np.float64), (x.hi >= 0).astype(np.float64))


def _balls(function: Callable[[Ball], Ball]) -> Callable[[Boxes], Boxes]:
    return lambda x: boxes.entrywise(function, x)
