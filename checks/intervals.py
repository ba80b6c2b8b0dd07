"""Intervals with exact rational end points: slower than balls, but nothing is rounded where nothing need be.

A ball cannot hold [0, 1] exactly; an interval can, and rational operations, powers, relu, abs, min and max are exact on
its end points. So ``0 <= f <= 1`` is decided even where f touches 0 or 1, and at a point a rational expression has its
exact value. Transcendental functions go through `checks.balls` at the end points, rounded outwards.

    >>> unit = Interval(Fraction(0), Fraction(1))
    >>> INTERVALS.power(unit - INTERVALS.constant(Fraction(1, 2)), 2)
    Interval(low=Fraction(0, 1), high=Fraction(1, 4))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from checks import balls
from checks.balls import Ball
from theory.errors import NotFinite


@dataclass(frozen=True, slots=True)
class Interval:
    """The closed interval [low, high]; a point when they are equal."""

    low: Fraction
    high: Fraction

    @property
    def is_point(self) -> bool:
        return self.low == self.high

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.high - other.low)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __mul__(self, other: Interval) -> Interval:
        if self.is_point and other.is_point:
            product = self.low * other.low
            return Interval(product, product)
        ends = [x * y for x in (self.low, self.high) for y in (other.low, other.high)]
        return Interval(min(ends), max(ends))


class IntervalArithmetic:
    """The expression language on intervals: the natural interval extension, exact on rational operations."""

    def constant(self, value: Fraction) -> Interval:
        return Interval(value, value)

    def power(self, x: Interval, exponent: int) -> Interval:
        if exponent < 0:
            return self.divide(Interval(Fraction(1), Fraction(1)), self.power(x, -exponent))
        low, high = x.low**exponent, x.high**exponent
        if exponent % 2 == 0 and exponent and x.low < 0 < x.high:
            return Interval(Fraction(0), max(low, high))
        return Interval(min(low, high), max(low, high))

    def divide(self, x: Interval, y: Interval) -> Interval:
        if y.low <= 0 <= y.high:
            raise NotFinite("quotient: the divisor may be zero. Try: smaller boxes or another expression")
        return x * Interval(1 / y.high, 1 / y.low)

    def exp(self, x: Interval) -> Interval:
        return _increasing(balls.exp, x)

    def log(self, x: Interval) -> Interval:
        return _increasing(balls.log, x)

    def tanh(self, x: Interval) -> Interval:
        return _increasing(balls.tanh, x)

    def gelu(self, x: Interval) -> Interval:
        return from_ball(balls.gelu(to_ball(x)))

    def relu(self, x: Interval) -> Interval:
        return Interval(max(x.low, Fraction(0)), max(x.high, Fraction(0)))

    def absolute(self, x: Interval) -> Interval:
        if x.low >= 0:
            return x
        return Interval(max(Fraction(0), -x.high), max(-x.low, x.high))

    def minimum(self, values: Sequence[Interval]) -> Interval:
        return Interval(min(value.low for value in values), min(value.high for value in values))

    def maximum(self, values: Sequence[Interval]) -> Interval:
        return Interval(max(value.low for value in values), max(value.high for value in values))


INTERVALS = IntervalArithmetic()


def to_ball(x: Interval) -> Ball:
    """The tightest ball around the interval."""
    return balls.exact(x.low) if x.is_point else balls.between(x.low, x.high)


def from_ball(x: Ball) -> Interval:
    """The interval of the ball's exact end points."""
    return Interval(balls.lower(x), balls.upper(x))


def _increasing(function: Callable[[Ball], Ball], x: Interval) -> Interval:
    return Interval(balls.lower(function(balls.exact(x.low))), balls.upper(function(balls.exact(x.high))))
