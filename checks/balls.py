"""Rigorous enclosures: real balls (flint's arb), and the ball instance of the house's arithmetic.

A `Ball` is an interval ``middle +- radius`` that is guaranteed to contain the exact value. The radius carries 30 bits,
so the ends of a wide ball are rounded outwards by some 2^-29 of its width. flint's own comparisons return False when
undecided: use `surely_below` and its kin, and conclude nothing from a False. Precision is flint's global setting; set
it only through `precision`.

    >>> with precision(64):
    ...     third = exact(Fraction(1, 3))
    ...     lower(third) < Fraction(1, 3) < upper(third), surely_below(third, exact("0.34"))
    (True, True)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from checks.ball_ends import finite as finite
from checks.ball_ends import lower as lower
from checks.ball_ends import middle as middle
from checks.ball_ends import radius as radius
from checks.ball_ends import upper as upper
from checks.ball_softmax import softmax_average
from constructions.arithmetic import ExactArray
from theory.errors import InvalidInput, NotFinite
from theory.exact import parse_exact
from theory.ledger import Undecided, Verdict

Ball = flint.arb
"""A real number known up to an error bound (flint.arb)."""

MIN_BITS = 24
MAX_BITS = 1_000_000
WIDE_BITS = 16
"""Below this many bits of accuracy a ball is wide and functions are evaluated at its two ends."""
_NARROW_RADIUS = flint.arb(0.5**WIDE_BITS)
_ZERO, _HALF = flint.arb(0), flint.arb(0.5)
_GELU_TURN = (Fraction(-7517915247, 10**10), Fraction(-7517915246, 10**10))
"""Around the only zero of gelu' = Phi(x) + x phi(x): as gelu'' = phi(x) (2 - x^2), gelu' falls from 0 until -sqrt 2,
rises to a positive value at sqrt 2, then falls to 1: exactly one sign change. A test checks the bracket."""
_SILU_TURN = (Fraction(-12784645428, 10**10), Fraction(-12784645427, 10**10))
"""Around the only zero of silu', which has the sign of e^x + x + 1, an increasing function. A test checks it."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with ``bits`` bits (24 to 10^6) of precision inside the block; the former precision is always restored."""
    if not MIN_BITS <= bits <= MAX_BITS:
        raise InvalidInput.about("bits", bits, f"{MIN_BITS} <= bits <= {MAX_BITS}", "for example 128")
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def decide(function: Callable[[], Verdict], start_bits: int = 64, most_bits: int = 4096) -> Verdict:
    """Run ``function`` at doubling precision until it decides; a `NotFinite` inside counts as undecided."""
    bits, last = start_bits, "nothing was tried"
    while bits <= most_bits:
        try:
            with precision(bits):
                verdict = function()
            if not isinstance(verdict, Undecided):
                return verdict
            last = verdict.reason
        except NotFinite as error:
            last = str(error)
        bits *= 2
    return Undecided(f"{last} (precision doubled from {start_bits} to the limit of {most_bits} bits)", "most_bits")


def exact(value: Fraction | int | float | str) -> Ball:
    """The tightest ball at the current precision around an exact number; a float means its binary value."""
    if isinstance(value, str):
        value = parse_exact(value)
    if isinstance(value, Fraction):
        return flint.arb(flint.fmpq(value.numerator, value.denominator))
    return finite(flint.arb(value), "constant")


def between(low: Fraction | int, high: Fraction | int) -> Ball:
    """The tightest ball around the interval [low, high] (end points rounded outwards, see the module)."""
    if low > high:
        raise InvalidInput.about("interval", (low, high), "low <= high", "swap the end points")
    return hull(exact(low), exact(high))


def hull(a: Ball, b: Ball) -> Ball:
    """The smallest ball that contains both."""
    return a.union(b)


def surely_below(a: Ball, b: Ball) -> bool:
    """True only if a < b is proved; False proves nothing."""
    return bool(a < b)


def surely_at_most(a: Ball, b: Ball) -> bool:
    """True only if a <= b is proved; False proves nothing."""
    return bool(a <= b)


def surely_nonzero(a: Ball) -> bool:
    """True only if a != 0 is proved (False for a ball that is not finite)."""
    return bool(a.is_finite()) and not a.contains(0)


def contains(ball: Ball, value: Fraction | int) -> bool:
    """Whether the exact number lies in the ball (both exact, so this is decided)."""
    return lower(ball) <= value <= upper(ball)


def inside(inner: Ball, outer: Ball) -> bool:
    """True only if ``inner`` lies in the interior of ``outer`` (for interval Newton and Krawczyk)."""
    return bool(outer.contains_interior(inner))


# A monotone function of a wide ball is enclosed by its values at the two end points, which is optimal; for narrow balls
# flint's propagation of the radius is used.


def exp(x: Ball) -> Ball:
    """Enclosure of e^x."""
    return finite(_increasing(lambda y: y.exp(), x), "exp")


def log(x: Ball) -> Ball:
    """Enclosure of the natural logarithm; NotFinite unless the ball is positive."""
    if not x > 0:
        raise NotFinite("log of a ball that is not known to be positive: smaller boxes or another domain")
    return finite(hull(x.lower().log(), x.upper().log()), "log")


def tanh(x: Ball) -> Ball:
    """Enclosure of tanh."""
    return finite(_increasing(lambda y: y.tanh(), x), "tanh")


def erf(x: Ball) -> Ball:
    """Enclosure of the error function."""
    return finite(_increasing(lambda y: y.erf(), x), "erf")


def lambert_w(x: Ball) -> Ball:
    """Enclosure of the principal branch of Lambert's W for x >= 0 (increasing there)."""
    if not x >= 0:
        raise NotFinite("lambert_w of a ball that is not known to be non-negative: it is used for x >= 0 only")
    return finite(_increasing(lambda y: y.lambertw(), x), "lambert_w")


def relu(x: Ball) -> Ball:
    """Enclosure of max(x, 0)."""
    return finite(x, "relu").max(_ZERO)


def absolute(x: Ball) -> Ball:
    """Enclosure of |x|."""
    finite(x, "abs")
    return hull(_ZERO, x.abs_upper()) if x.contains(0) else abs(x)


def gelu(x: Ball) -> Ball:
    """Enclosure of x/2 (1 + erf(x / sqrt 2)): by monotone pieces on wide balls (one minimum, near -0.7518)."""
    return finite(_one_turn(_gelu, x, _GELU_TURN), "gelu")


def _one_turn(function: Callable[[Ball], Ball], x: Ball, turn: tuple[Fraction, Fraction]) -> Ball:
    """A function that falls before some point of ``turn`` and rises after it, on any ball."""
    if is_narrow(x):
        return function(x)
    low, high = x.lower(), x.upper()
    left, right = (exact(end) for end in turn)
    ends = hull(function(low), function(high))
    return ends if low >= right or high <= left else hull(ends, function(hull(left, right)))


def _gelu(x: Ball) -> Ball:
    return x * (-x * flint.arb(0.5).sqrt()).erfc() / 2  # erfc keeps the relative accuracy for negative x


def sigmoid(x: Ball) -> Ball:
    """Enclosure of 1/(1 + e^-x)."""
    return finite(_increasing(lambda y: 1 / (1 + (-y).exp()), x), "sigmoid")


def silu(x: Ball) -> Ball:
    """Enclosure of x sigmoid(x): by monotone pieces on wide balls (one minimum, near -1.2785)."""
    return finite(_one_turn(lambda y: y / (1 + (-y).exp()), x, _SILU_TURN), "silu")


def heaviside(x: Ball) -> Ball:
    """1 for x >= 0, 0 for x < 0; NotFinite where the sign is not decided: there is no value to enclose tightly."""
    if x >= 0:
        return flint.arb(1)
    if x < 0:
        return flint.arb(0)
    raise NotFinite("heaviside at a value that may be on either side of 0: more bits, or another point")


def power(x: Ball, exponent: int) -> Ball:
    """Enclosure of x^exponent for an integer exponent; NotFinite for a negative one on a ball that contains 0."""
    if exponent < 0:
        return divide(flint.arb(1), power(x, -exponent))
    if exponent % 2 == 0:
        if not x.contains(0):
            return finite(_increasing(lambda y: _power(y, exponent), abs(x)), "power")
        return hull(_ZERO, _power(x.abs_upper(), exponent)) if exponent else flint.arb(1)
    return finite(_increasing(lambda y: _power(y, exponent), x), "power")


def _power(x: Ball, exponent: int) -> Ball:
    result = flint.arb(1)
    for bit in bin(exponent)[2:]:
        result = result * result
        if bit == "1":
            result = result * x
    return result


def divide(a: Ball, b: Ball) -> Ball:
    """Enclosure of a / b (tight for wide balls too); NotFinite if b may be zero."""
    if b.contains(0) or b.rel_accuracy_bits() >= WIDE_BITS:
        return finite(a / b, "quotient (its divisor may be zero)")
    corners = [x / y for x in (a.lower(), a.upper()) for y in (b.lower(), b.upper())]
    return hull(minimum(corners), maximum(corners))


def minimum(values: Sequence[Ball]) -> Ball:
    """Enclosure of the least of the values: from the least lower end to the least upper end."""
    return hull(_first([x.lower() for x in values], operator.lt), _first([x.upper() for x in values], operator.lt))


def maximum(values: Sequence[Ball]) -> Ball:
    """Enclosure of the greatest of the values."""
    return hull(_first([x.lower() for x in values], operator.gt), _first([x.upper() for x in values], operator.gt))


def _first(ends: Sequence[Ball], better: Callable[[Ball, Ball], Any]) -> Ball:
    best = finite(ends[0], "minimum or maximum")
    for end in ends[1:]:  # exact balls, so that comparisons decide
        best = end if better(finite(end, "minimum or maximum"), best) else best
    return best


def _increasing(function: Callable[[Ball], Ball], x: Ball) -> Ball:
    return function(x) if is_narrow(x) else hull(function(x.lower()), function(x.upper()))


def is_narrow(x: Ball) -> bool:
    """Whether flint's own propagation of the radius is good enough."""
    return bool(x.rad() <= _NARROW_RADIUS)


class BallArithmetic:
    """Balls in numpy object arrays, for `theory.expressions.evaluate` and `constructions.evaluate`.

    >>> from constructions.task import toy
    >>> from constructions.evaluate import target
    >>> tokens = BALLS.asarray(np.array([[0.25], [0.5]]))
    >>> contains(target(toy(2), tokens, BALLS), Fraction(3, 4))
    True
    """

    def constant(self, value: Fraction) -> Any:
        return exact(value)

    def power(self, x: Any, exponent: int) -> Any:
        return _each(lambda y: power(y, exponent), x)

    def divide(self, x: Any, y: Any) -> Any:
        return _each(divide, x, y)

    def exp(self, x: Any) -> Any:
        return _each_narrow(Ball.exp, exp, x)

    def log(self, x: Any) -> Any:
        return _each(log, x)

    def tanh(self, x: Any) -> Any:
        return _each_narrow(Ball.tanh, tanh, x)

    def relu(self, x: Any) -> Any:
        return _each(relu, x)

    def gelu(self, x: Any) -> Any:
        root = flint.arb(0.5).sqrt()
        return _each_narrow(lambda y: y * (-y * root).erfc() * _HALF, gelu, x)

    def sigmoid(self, x: Any) -> Any:
        return _each(sigmoid, x)

    def silu(self, x: Any) -> Any:
        return _each(silu, x)

    def heaviside(self, x: Any) -> Any:
        return _each(heaviside, x)

    def absolute(self, x: Any) -> Any:
        return _each(absolute, x)

    def minimum(self, values: Sequence[Any]) -> Any:
        return _each(lambda *parts: minimum(parts), *values)

    def maximum(self, values: Sequence[Any]) -> Any:
        return _each(lambda *parts: maximum(parts), *values)

    def asarray(self, exact_values: ExactArray) -> Any:
        array = np.asarray(exact_values)
        if array.dtype == np.float64 and array.shape and np.isfinite(array).all():
            return _each(flint.arb, array)
        return _each(_ball, array)

    def matmul(self, a: Any, b: Any) -> Any:
        if b.ndim == 2:
            return _product(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[1])
        shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = np.broadcast_to(a, shape + a.shape[-2:]), np.broadcast_to(b, shape + b.shape[-2:])
        result = np.empty((*shape, a.shape[-2], b.shape[-1]), dtype=object)
        for index in np.ndindex(shape):
            result[index] = _product(a[index], b[index])
        return result

    def stack(self, arrays: Sequence[Any]) -> Any:
        return np.stack(np.broadcast_arrays(*arrays), axis=-1)

    def concatenate(self, arrays: Sequence[Any]) -> Any:
        return np.concatenate(arrays, axis=-1)

    def smallest(self, x: Any) -> Any:
        result = np.empty(x.shape[:-1], dtype=object)
        for index in np.ndindex(result.shape):
            result[index] = minimum(x[index])
        return result if result.shape else result[()]

    def attend(self, scores: Any, values: Any) -> Any:
        leading = np.broadcast_shapes(scores.shape[:-1], values.shape[:-2])
        scores = np.broadcast_to(scores, leading + scores.shape[-1:])
        values = np.broadcast_to(values, leading + values.shape[-2:])
        result = np.empty(leading + values.shape[-1:], dtype=object)
        for index in np.ndindex(leading):
            result[index] = softmax_average(scores[index], values[index], flint.arb_mat)
        return result


BALLS = BallArithmetic()


def inverse(matrix: Any) -> Any:
    """The inverse of a square object array of balls, enclosed; NotFinite if it cannot be shown to be regular."""
    size = len(matrix)
    try:
        entries = flint.arb_mat(size, size, matrix.ravel().tolist()).inv().entries()
    except ZeroDivisionError:
        raise NotFinite("inverse of a matrix that may be singular: more bits or a better conditioned choice") from None
    result = np.empty(size * size, dtype=object)
    result[:] = [finite(entry, "inverse") for entry in entries]
    return result.reshape(size, size)


def box(lows: Any, highs: Any) -> Any:
    """Balls around the intervals [low, high], entry by entry, for two arrays of exact numbers of the same shape."""
    return _each(between, np.asarray(lows, dtype=object), np.asarray(highs, dtype=object))


def _ball(value: Any) -> Ball:
    return value if isinstance(value, Ball) else exact(value if isinstance(value, Fraction | int) else float(value))


def _each(function: Callable[..., Ball], *arguments: Any) -> Any:
    if any(isinstance(argument, np.ndarray) for argument in arguments):
        return np.frompyfunc(function, len(arguments), 1)(*arguments)
    return function(*arguments)


def _each_narrow(narrow: Callable[[Ball], Ball], general: Callable[[Ball], Ball], x: Any) -> Any:
    """``general`` on every entry; where an array's entry is narrow, hence finite, flint's own function does."""
    return _each(lambda y: narrow(y) if y.rad() <= _NARROW_RADIUS else general(y), x)


def _product(a: Any, b: Any) -> Any:
    rows, inner, columns = a.shape[0], a.shape[1], b.shape[1]
    if not rows * inner * columns:
        return np.full((rows, columns), flint.arb(0), dtype=object)
    product = flint.arb_mat(rows, inner, a.ravel().tolist()) * flint.arb_mat(inner, columns, b.ravel().tolist())
    result = np.empty(rows * columns, dtype=object)
    result[:] = product.entries()
    return result.reshape(rows, columns)
