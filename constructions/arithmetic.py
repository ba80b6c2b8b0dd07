"""Arithmetics: one description of a network, evaluated in float64, torch, exact rationals (and, elsewhere, in balls).

Arrays are numpy arrays (dtype float64 or object) or torch tensors; all support ``+ - *`` and broadcasting. Everything
else an evaluator needs is a method of the arithmetic, so that no construction is ever written twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import torch
from scipy.special import erf, expit

from theory.errors import InexactOperation, InvalidInput, NotFinite
from theory.expressions import RationalArithmetic

ExactArray = np.ndarray[Any, np.dtype[Any]]
"""Exact weights: dtype float64 (every entry is the dyadic rational that it is) or object (Fractions)."""


class ArrayArithmetic(Protocol):
    """What `constructions.evaluate` needs, on arrays; it extends `theory.expressions.Arithmetic`.

    Optional: ``sigmoid``, ``silu`` and ``heaviside`` (1 for x >= 0, 0 for x < 0). Networks that use an activation which
    the arithmetic lacks are refused.
    """

    def constant(self, value: Fraction) -> Any: ...
    def power(self, x: Any, exponent: int) -> Any: ...
    def divide(self, x: Any, y: Any) -> Any: ...
    def exp(self, x: Any) -> Any: ...
    def log(self, x: Any) -> Any: ...
    def tanh(self, x: Any) -> Any: ...
    def relu(self, x: Any) -> Any: ...
    def gelu(self, x: Any) -> Any: ...
    def absolute(self, x: Any) -> Any: ...
    def minimum(self, values: Sequence[Any]) -> Any: ...
    def maximum(self, values: Sequence[Any]) -> Any: ...

    def asarray(self, exact: ExactArray) -> Any:
        """The exact array in this arithmetic (rounded to nearest where it must be)."""

    def matmul(self, a: Any, b: Any) -> Any:
        """``a @ b`` over the last two axes."""

    def stack(self, arrays: Sequence[Any]) -> Any:
        """Stack along a new last axis."""

    def concatenate(self, arrays: Sequence[Any]) -> Any:
        """Join along the last axis."""

    def smallest(self, x: Any) -> Any:
        """Minimum over the last axis."""

    def attend(self, scores: Any, values: Any) -> Any:
        """``sum_t e^{score_t} value_t / sum_t e^{score_t}``: scores (..., T), values (..., T, v) -> (..., v)."""


class FloatArithmetic:
    """Float64 in numpy, batched over leading axes."""

    def constant(self, value: Fraction) -> Any:
        return np.float64(as_float(value))

    def power(self, x: Any, exponent: int) -> Any:
        return x**exponent

    def divide(self, x: Any, y: Any) -> Any:
        return x / y

    def exp(self, x: Any) -> Any:
        return np.exp(x)

    def log(self, x: Any) -> Any:
        return np.log(x)

    def tanh(self, x: Any) -> Any:
        return np.tanh(x)

    def relu(self, x: Any) -> Any:
        return np.maximum(x, 0.0)

    def gelu(self, x: Any) -> Any:
        return 0.5 * x * (1.0 + erf(x * np.sqrt(0.5)))

    def sigmoid(self, x: Any) -> Any:
        return expit(x)

    def silu(self, x: Any) -> Any:
        return x * expit(x)

    def heaviside(self, x: Any) -> Any:
        return np.where(np.asarray(x) >= 0, 1.0, 0.0)

    def absolute(self, x: Any) -> Any:
        return np.abs(x)

    def minimum(self, values: Sequence[Any]) -> Any:
        return _reduce(np.minimum, values)

    def maximum(self, values: Sequence[Any]) -> Any:
        return _reduce(np.maximum, values)

    def asarray(self, exact: ExactArray) -> Any:
        return _nearest(exact)

    def matmul(self, a: Any, b: Any) -> Any:
        return a @ b

    def stack(self, arrays: Sequence[Any]) -> Any:
        return np.stack(np.broadcast_arrays(*arrays), axis=-1)

    def concatenate(self, arrays: Sequence[Any]) -> Any:
        return np.concatenate(arrays, axis=-1)

    def smallest(self, x: Any) -> Any:
        return x.min(axis=-1)

    def attend(self, scores: Any, values: Any) -> Any:
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return (weights[..., None, :] @ values)[..., 0, :]


class ExactArithmetic(RationalArithmetic):
    """Exact rationals in numpy object arrays; softmax only where all scores are equal (uniform attention)."""

    def power(self, x: Any, exponent: int) -> Any:
        return _elementwise(lambda entry: super(ExactArithmetic, self).power(entry, exponent), x)

    def divide(self, x: Any, y: Any) -> Any:
        quotient = np.frompyfunc(super().divide, 2, 1)
        return quotient(x, y) if isinstance(x, np.ndarray) or isinstance(y, np.ndarray) else super().divide(x, y)

    def exp(self, x: Any) -> Any:
        return _elementwise(super().exp, x)

    def log(self, x: Any) -> Any:
        return _elementwise(super().log, x)

    def tanh(self, x: Any) -> Any:
        return _elementwise(super().tanh, x)

    def gelu(self, x: Any) -> Any:
        return _elementwise(super().gelu, x)

    def sigmoid(self, x: Any) -> Any:
        return _elementwise(_sigmoid, x)

    def silu(self, x: Any) -> Any:
        return _elementwise(lambda entry: entry * _sigmoid(entry) if entry else entry, x)

    def heaviside(self, x: Any) -> Any:
        return _elementwise(lambda entry: Fraction(int(entry >= 0)), x)

    def relu(self, x: Any) -> Any:
        return _reduce(np.maximum, [x, np.asarray(Fraction(0), dtype=object)])

    def absolute(self, x: Any) -> Any:
        return np.abs(x)

    def minimum(self, values: Sequence[Any]) -> Any:
        return _reduce(np.minimum, values)

    def maximum(self, values: Sequence[Any]) -> Any:
        return _reduce(np.maximum, values)

    def asarray(self, exact: ExactArray) -> Any:
        if exact.dtype == object:
            return exact
        return np.vectorize(lambda entry: Fraction(float(entry)), otypes=[object])(exact) if exact.size else exact

    def matmul(self, a: Any, b: Any) -> Any:
        return a @ b

    def stack(self, arrays: Sequence[Any]) -> Any:
        return np.stack(np.broadcast_arrays(*arrays), axis=-1)

    def concatenate(self, arrays: Sequence[Any]) -> Any:
        return np.concatenate(arrays, axis=-1)

    def smallest(self, x: Any) -> Any:
        return np.minimum.reduce(x, axis=-1)

    def attend(self, scores: Any, values: Any) -> Any:
        if np.any(scores != scores[..., :1]):
            raise InexactOperation("softmax of unequal scores is not rational: evaluate in balls or floats instead")
        mean = values.sum(axis=-2) * Fraction(1, values.shape[-2])
        return np.broadcast_to(mean, (*np.broadcast_shapes(scores.shape[:-1], mean.shape[:-1]), mean.shape[-1]))


class TorchArithmetic:
    """Torch tensors of one dtype and device, batched over leading axes; gradients flow."""

    def __init__(self, dtype: torch.dtype = torch.float64, device: str = "cpu") -> None:
        self.dtype = dtype
        self.device = device

    def constant(self, value: Fraction) -> Any:
        return torch.tensor(as_float(value), dtype=self.dtype, device=self.device)

    def power(self, x: Any, exponent: int) -> Any:
        return x**exponent

    def divide(self, x: Any, y: Any) -> Any:
        return x / y

    def exp(self, x: Any) -> Any:
        return torch.exp(x)

    def log(self, x: Any) -> Any:
        return torch.log(x)

    def tanh(self, x: Any) -> Any:
        return torch.tanh(x)

    def relu(self, x: Any) -> Any:
        return torch.relu(x)

    def gelu(self, x: Any) -> Any:
        return torch.nn.functional.gelu(x)

    def sigmoid(self, x: Any) -> Any:
        return torch.sigmoid(x)

    def silu(self, x: Any) -> Any:
        return torch.nn.functional.silu(x)

    def heaviside(self, x: Any) -> Any:
        return (x >= 0).to(x.dtype)  # its gradient is 0

    def absolute(self, x: Any) -> Any:
        return torch.abs(x)

    def minimum(self, values: Sequence[Any]) -> Any:
        return torch.stack(_broadcast(values)).amin(dim=0)

    def maximum(self, values: Sequence[Any]) -> Any:
        return torch.stack(_broadcast(values)).amax(dim=0)

    def asarray(self, exact: ExactArray) -> Any:
        return torch.tensor(_nearest(exact), dtype=self.dtype, device=self.device)

    def matmul(self, a: Any, b: Any) -> Any:
        return a @ b

    def stack(self, arrays: Sequence[Any]) -> Any:
        return torch.stack(_broadcast(arrays), dim=-1)

    def concatenate(self, arrays: Sequence[Any]) -> Any:
        return torch.cat(tuple(arrays), dim=-1)

    def smallest(self, x: Any) -> Any:
        return x.amin(dim=-1)

    def attend(self, scores: Any, values: Any) -> Any:
        return torch.einsum("...t,...tv->...v", torch.softmax(scores, dim=-1), values)


FLOAT64 = FloatArithmetic()
EXACT = ExactArithmetic()


def as_float(value: Fraction) -> float:
    """The nearest float64; `NotFinite` if it would overflow."""
    try:
        return float(value)
    except OverflowError:
        raise NotFinite(
            f"a constant near 2^{value.numerator.bit_length()} overflows float64. Try: balls, or rescale"
        ) from None


def _nearest(exact: ExactArray) -> ExactArray:
    try:
        return np.asarray(exact, dtype=np.float64)
    except OverflowError:
        raise NotFinite("a weight or a number of copies overflows float64. Try: balls, or exact rationals") from None


def exact_array(entries: Any, name: str, shape: tuple[int | None, ...]) -> ExactArray:
    """Check and freeze an array of exact weights; None in ``shape`` leaves that length free.

    Raises:
        InvalidInput: wrong shape, or an entry that is not finite.
    """
    array = np.asarray(entries)
    if array.dtype != object:
        array = np.asarray(entries, dtype=np.float64)
        if not np.all(np.isfinite(array)):
            raise InvalidInput.about(name, "nan or infinity", "finite entries", "check the weights")
    elif array.size:
        array = np.vectorize(Fraction, otypes=[object])(array)
    if array.ndim != len(shape) or any(want not in (None, got) for want, got in zip(shape, array.shape, strict=True)):
        wanted = tuple("any" if want is None else want for want in shape)
        raise InvalidInput.about(f"shape of {name}", array.shape, f"shape {wanted}", "check the dimensions")
    array = array.copy()
    array.setflags(write=False)
    return array


def fractions(rows: Any) -> ExactArray:
    """A nested list of rationals as an exact object array.

    >>> fractions([[1, Fraction(1, 2)]]).shape
    (1, 2)
    """
    array = np.array(rows, dtype=object)
    return np.vectorize(Fraction, otypes=[object])(array) if array.size else array


def _reduce(function: Any, values: Sequence[Any]) -> Any:
    return function.reduce(np.broadcast_arrays(*values))


def _broadcast(tensors: Sequence[Any]) -> Any:
    return torch.functional.broadcast_tensors(*tensors)  # type: ignore[no-untyped-call]


def _sigmoid(entry: Fraction) -> Fraction:
    if entry:
        raise InexactOperation(f"sigmoid({entry}) is not rational: evaluate in balls or floats instead")
    return Fraction(1, 2)


def _elementwise(function: Any, x: Any) -> Any:
    return np.vectorize(function, otypes=[object])(x) if isinstance(x, np.ndarray) else function(x)
