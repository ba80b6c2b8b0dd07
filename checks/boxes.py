"""Arrays of intervals with float64 ends, rounded outwards: balls in bulk, for branch and bound over many boxes at once.

IEEE sums, products and quotients are rounded to nearest, so the exact result lies between the two neighbours of the
computed one; sums of many terms are widened by their a priori error bound; exp is our own (its proof stands with it).
Weights that are no floats become the interval of their neighbours. log, tanh and gelu go through balls, entry by entry.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from checks import balls
from checks.balls import Ball
from constructions.arithmetic import ExactArray
from theory.errors import InvalidInput, NotFinite
from theory.exact import decimal

Array = np.ndarray[Any, np.dtype[np.float64]]

UNIT_ROUNDOFF = 2.0**-53
SPACING = 2.0**-52
SMALLEST = 2.0**-1074
TINY = 2.0**-1000
HUGE = 2.0**1000
"""Non-zero weights must lie between these in size, so that rounding errors are relative ones."""
BALL_BITS = 64

EXP_RANGE = 700.0
EXP_HALVINGS = 9
EXP_TERMS = 20
EXP_SLACK = 2.0**-32


class Boxes:
    """An array of intervals [lo, hi]; ``+ - *`` with Boxes, floats and integers; indexing as in numpy."""

    __slots__ = ("hi", "lo")
    __array_ufunc__ = None

    def __init__(self, lo: Array, hi: Array) -> None:
        self.lo = lo
        self.hi = hi

    @classmethod
    def points(cls, values: Any) -> Boxes:
        """Degenerate intervals at floats."""
        array = np.asarray(values, dtype=np.float64)
        return cls(array, array)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.lo.shape)

    @property
    def magnitude(self) -> Array:
        """The greatest absolute value in each interval."""
        return np.maximum(np.abs(self.lo), np.abs(self.hi))

    def __getitem__(self, index: Any) -> Boxes:
        return Boxes(self.lo[index], self.hi[index])

    def __neg__(self) -> Boxes:
        return Boxes(-self.hi, -self.lo)

    def __add__(self, other: Any) -> Boxes:
        if not isinstance(other, OPERANDS):
            return NotImplemented
        other = lifted(other)
        return outward(self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other: Any) -> Boxes:
        if not isinstance(other, OPERANDS):
            return NotImplemented
        other = lifted(other)
        return outward(self.lo - other.hi, self.hi - other.lo)

    def __rsub__(self, other: Any) -> Boxes:
        return lifted(other) - self

    def __mul__(self, other: Any) -> Boxes:
        if not isinstance(other, OPERANDS):
            return NotImplemented
        other = lifted(other)
        if other.lo is other.hi:
            return outward(*_ordered(self.lo * other.lo, self.hi * other.lo))
        first = _ordered(self.lo * other.lo, self.hi * other.lo)
        second = _ordered(self.lo * other.hi, self.hi * other.hi)
        return outward(np.minimum(first[0], second[0]), np.maximum(first[1], second[1]))

    __radd__ = __add__
    __rmul__ = __mul__


OPERANDS = (Boxes, int, float, np.ndarray)


def lifted(value: Any) -> Boxes:
    """Boxes as they are; floats and integers as points."""
    return value if isinstance(value, Boxes) else Boxes.points(value)


def outward(lo: Array, hi: Array) -> Boxes:
    """Step outwards by a float or two: the exact value lies between the neighbours of the one rounded to nearest."""
    # |x| 2^-52 is at least the distance to the next float, and rounding is monotone: so x - |x| 2^-52 rounds to the
    # neighbour of x or beyond. Among subnormal numbers the last term is that distance.
    return Boxes(lo - (np.abs(lo) * SPACING + SMALLEST), hi + (np.abs(hi) * SPACING + SMALLEST))


def meet(a: Boxes, b: Boxes) -> Boxes:
    """The intersection of two enclosures of the same values."""
    return Boxes(np.maximum(a.lo, b.lo), np.minimum(a.hi, b.hi))


def hull(a: Boxes, b: Boxes) -> Boxes:
    """The smallest intervals that contain both."""
    return Boxes(np.minimum(a.lo, b.lo), np.maximum(a.hi, b.hi))


def from_exact(exact: ExactArray) -> Boxes:
    """Exact weights, each in the interval of its neighbours (a point where it is a float).

    Raises:
        InvalidInput: a non-zero weight beyond 2^1000 or below 2^-1000 in size.
    """
    try:
        nearest = np.array(exact, dtype=np.float64)
    except OverflowError:
        raise _out_of_range(exact) from None
    size = np.abs(nearest)
    if np.any(size > HUGE) or np.any((size < TINY) & np.array(exact != 0, dtype=bool)):
        raise _out_of_range(exact)
    if exact.dtype != object:
        return Boxes(nearest, nearest)
    same = np.asarray(np.frompyfunc(lambda a, b: Fraction(float(a)) == b, 2, 1)(nearest, exact), dtype=bool)
    if np.all(same):
        return Boxes(nearest, nearest)
    wide = outward(nearest, nearest)
    return Boxes(np.where(same, nearest, wide.lo), np.where(same, nearest, wide.hi))


def add_up(x: Boxes, axis: int) -> Boxes:
    """Sum along an axis."""
    slack = _sum_slack(x.magnitude.sum(axis=axis), x.shape[axis])
    return outward(x.lo.sum(axis=axis) - slack, x.hi.sum(axis=axis) + slack)


def _out_of_range(exact: ExactArray) -> InvalidInput:
    """Names the first weight that is too large or too small: its place in its array, and its value."""
    bad = [(place, entry) for place, entry in np.ndenumerate(exact) if entry and not TINY <= abs(entry) <= HUGE]
    where = f"weight {list(bad[0][0])} of an array of shape {list(exact.shape)}"
    condition = "0 or between 2^-1000 and 2^1000 in size"
    return InvalidInput.about(where, decimal(Fraction(bad[0][1])), condition, "a larger eps, or rescale it")


def product(x: Boxes, weight: Boxes) -> Boxes:
    """``x @ weight`` with weight (n, k) nearly or exactly known (as from `from_exact`)."""
    # |computed - exact| <= gamma_(n+1) |x| |w| for sums in any order, with or without fused operations; a weight's own
    # uncertainty adds |x| (w.hi - w.lo). gamma_n = n u/(1 - n u) <= 1.01 n u for n u < 1/100.
    positive, negative = np.maximum(weight.lo, 0.0), np.minimum(weight.lo, 0.0)
    terms = 2 * x.shape[-1] + 2
    doubt = 1.01 * terms * UNIT_ROUNDOFF * np.abs(weight.lo) + 1.01 * (weight.hi - weight.lo)
    low, high = x.lo.reshape(-1, x.shape[-1]), x.hi.reshape(-1, x.shape[-1])
    slack = 1.01 * (np.maximum(np.abs(low), np.abs(high)) @ doubt) + TINY
    shape = (*x.shape[:-1], weight.shape[-1])
    found = outward(low @ positive + high @ negative - slack, high @ positive + low @ negative + slack)
    return Boxes(found.lo.reshape(shape), found.hi.reshape(shape))


def quotient(x: Boxes, y: Boxes) -> Boxes:
    """``x / y``; NotFinite if a divisor may be zero."""
    if np.any((y.lo <= 0) & (y.hi >= 0)):
        raise NotFinite("quotient: the divisor may be zero. Try: smaller boxes or another expression")
    first = _ordered(x.lo / y.lo, x.hi / y.lo)
    second = _ordered(x.lo / y.hi, x.hi / y.hi)
    return outward(np.minimum(first[0], second[0]), np.maximum(first[1], second[1]))


def power(x: Boxes, exponent: int) -> Boxes:
    """``x ** exponent``, tight for even exponents too."""
    if exponent < 0:
        return quotient(Boxes.points(1.0), power(x, -exponent))
    if exponent % 2 == 0 and exponent:
        x = absolute(x)
    result = Boxes.points(np.ones(x.shape))
    for _ in range(exponent):
        result = result * x
    return result


def absolute(x: Boxes) -> Boxes:
    """``|x|``."""
    return Boxes(np.maximum(np.maximum(x.lo, -x.hi), 0.0), x.magnitude)


def exponential(x: Boxes) -> Boxes:
    """``e^x``; NotFinite beyond e^700; below e^-700 the lower end is 0."""
    if np.any(x.hi > EXP_RANGE):
        raise NotFinite(f"exp of more than {EXP_RANGE:g}: rescale the problem")
    low = np.where(x.lo < -EXP_RANGE, 0.0, exp_near(np.maximum(x.lo, -EXP_RANGE)) * (1 - EXP_SLACK))
    return Boxes(low, exp_near(np.maximum(x.hi, -EXP_RANGE)) * (1 + EXP_SLACK))


def exp_near(x: Array) -> Array:
    """e^x for |x| <= 700 within a relative error below 2^-32."""
    # r = x/512, |r| < 1.37 (exact, or off by 2^-1074). Horner's 1 + r(1 + r/2(1 + ... r/20)) has 60 operations, so its
    # rounding error is at most gamma_60 sum |r|^k/k! <= 61 u e^1.37 < 2.7e-14 and its truncation error below 6e-17;
    # as e^r > 0.25 the relative error is below 1.1e-13. Nine squarings multiply it by 512 and add 511 roundings, each
    # below 1.2e-16: together below 5.7e-11 < 2^-33; the caller's last product rounds once more.
    reduced = x * 2.0**-EXP_HALVINGS
    result = np.ones_like(x)
    for order in range(EXP_TERMS, 0, -1):
        result = 1.0 + reduced / order * result
    for _ in range(EXP_HALVINGS):
        result = result * result
    return result


def entrywise(function: Callable[[Ball], Ball], x: Boxes) -> Boxes:
    """A ball function of each interval: rigorous and slow."""
    with balls.precision(BALL_BITS):
        found = [
            function(balls.between(Fraction(float(low)), Fraction(float(high))))
            for low, high in zip(x.lo.ravel(), x.hi.ravel(), strict=True)
        ]
        lows = np.array([float(balls.lower(ball)) for ball in found]).reshape(x.shape)
        highs = np.array([float(balls.upper(ball)) for ball in found]).reshape(x.shape)
    return outward(lows, highs)


def _ordered(a: Array, b: Array) -> tuple[Array, Array]:
    return np.minimum(a, b), np.maximum(a, b)


def _sum_slack(size: Array, terms: int) -> Array:
    return 1.01 * (terms + 1) * UNIT_ROUNDOFF * size + TINY
