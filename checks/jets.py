"""First and second derivatives of expressions by forward mode, enclosed over boxes, in balls or in exact intervals.

On a box the gradient encloses every gradient (at kinks of relu, abs, min, max: every Clarke subgradient, so that
mean-value forms and monotonicity arguments stay valid); a Hessian across a kink raises `NotSmooth`.

    >>> from theory.expression_parser import parse_expression
    >>> unit = Interval(Fraction(0), Fraction(1))
    >>> jet = differentiate(parse_expression("(x0 - 1/2)^2"), ("x0",), [unit], EXACT_SCALARS)
    >>> jet.gradient[0], jet.hessian[0, 0].low
    (Interval(low=Fraction(-1, 1), high=Fraction(1, 1)), Fraction(2, 1))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from checks import balls, intervals
from checks.balls import BALLS, Ball
from checks.intervals import INTERVALS, Interval
from theory.errors import HeadcountError
from theory.expressions import Arithmetic, Expression, evaluate


class NotSmooth(HeadcountError, ArithmeticError):
    """A second derivative was asked for where the expression may have a kink (relu, abs, min or max)."""


class Scalars(Protocol):
    """The numbers that jets are made of: an arithmetic, and ways to read signs and to come from balls."""

    arithmetic: Arithmetic[Any]

    def ends(self, x: Any) -> tuple[Any, Any]:
        """Lower and upper end, comparable with each other and with 0."""

    def hull(self, x: Any, y: Any) -> Any: ...
    def to_ball(self, x: Any) -> Ball: ...
    def from_ball(self, x: Ball) -> Any: ...


class BallScalars:
    """Jets of balls: fast; ends are rounded outwards."""

    arithmetic: Arithmetic[Any] = BALLS

    def ends(self, x: Ball) -> tuple[Any, Any]:
        return x.lower(), x.upper()

    def hull(self, x: Ball, y: Ball) -> Ball:
        return balls.hull(x, y)

    def to_ball(self, x: Ball) -> Ball:
        return x

    def from_ball(self, x: Ball) -> Ball:
        return x


class ExactScalars:
    """Jets of intervals with rational ends: exact for rational expressions, at points and on boxes."""

    arithmetic: Arithmetic[Any] = INTERVALS

    def ends(self, x: Interval) -> tuple[Fraction, Fraction]:
        return x.low, x.high

    def hull(self, x: Interval, y: Interval) -> Interval:
        return Interval(min(x.low, y.low), max(x.high, y.high))

    def to_ball(self, x: Interval) -> Ball:
        return intervals.to_ball(x)

    def from_ball(self, x: Ball) -> Interval:
        return intervals.from_ball(x)


BALL_SCALARS = BallScalars()
EXACT_SCALARS = ExactScalars()


@dataclass(frozen=True, slots=True)
class Jet:
    """Enclosures over one box: value; gradient, shape (d,); hessian, shape (d, d), or the reason why there is none."""

    value: Any
    gradient: Any
    hessian: Any

    def __add__(self, other: Jet) -> Jet:
        hessian = _both(self.hessian, other.hessian, lambda a, b: a + b)
        return Jet(self.value + other.value, self.gradient + other.gradient, hessian)

    def __sub__(self, other: Jet) -> Jet:
        hessian = _both(self.hessian, other.hessian, lambda a, b: a - b)
        return Jet(self.value - other.value, self.gradient - other.gradient, hessian)

    def __neg__(self) -> Jet:
        return Jet(-self.value, -self.gradient, self.hessian if isinstance(self.hessian, str) else -self.hessian)

    def __mul__(self, other: Jet) -> Jet:
        def second(a: Any, b: Any) -> Any:
            cross = np.multiply.outer(self.gradient, other.gradient)
            return a * other.value + b * self.value + (cross + cross.T)

        gradient = self.gradient * other.value + other.gradient * self.value
        return Jet(self.value * other.value, gradient, _both(self.hessian, other.hessian, second))


def _both(a: Any, b: Any, combine: Callable[[Any, Any], Any]) -> Any:
    if isinstance(a, str):
        return a
    return b if isinstance(b, str) else combine(a, b)


class JetArithmetic:
    """The expression language on jets of order 1 (no Hessians) or 2, over balls or exact intervals."""

    def __init__(self, dimension: int, order: int, scalars: Scalars) -> None:
        self.scalars = scalars
        self.base = scalars.arithmetic
        zero = self.base.constant(Fraction(0))
        self.no_gradient = np.full(dimension, zero, dtype=object)
        self.no_hessian: Any = np.full((dimension, dimension), zero, dtype=object) if order == 2 else "order 1"

    def variable(self, index: int, value: Any) -> Jet:
        gradient = self.no_gradient.copy()
        gradient[index] = self.base.constant(Fraction(1))
        return Jet(value, gradient, self.no_hessian)

    def constant(self, value: Fraction) -> Jet:
        return Jet(self.base.constant(value), self.no_gradient, self.no_hessian)

    def power(self, x: Jet, exponent: int) -> Jet:
        if exponent == 0:
            return self.constant(Fraction(1))
        first = self.base.constant(Fraction(exponent)) * self.base.power(x.value, exponent - 1)
        factor = self.base.constant(Fraction(exponent * (exponent - 1)))
        second = factor if exponent in (1, 2) else factor * self.base.power(x.value, exponent - 2)
        return self._chain(x, self.base.power(x.value, exponent), first, second)

    def divide(self, x: Jet, y: Jet) -> Jet:
        quotient = x * self.power(y, -1)
        return Jet(self.base.divide(x.value, y.value), quotient.gradient, quotient.hessian)

    def exp(self, x: Jet) -> Jet:
        value = self.base.exp(x.value)
        return self._chain(x, value, value, value)

    def log(self, x: Jet) -> Jet:
        second = -self.base.power(x.value, -2)
        return self._chain(x, self.base.log(x.value), self.base.power(x.value, -1), second)

    def tanh(self, x: Jet) -> Jet:
        first, second = self._of_ball(tanh_slope, x.value), self._of_ball(tanh_curvature, x.value)
        return self._chain(x, self.base.tanh(x.value), first, second)

    def gelu(self, x: Jet) -> Jet:
        first, second = self._of_ball(gelu_slope, x.value), self._of_ball(gelu_curvature, x.value)
        return self._chain(x, self.base.gelu(x.value), first, second)

    def relu(self, x: Jet) -> Jet:
        return self._kink(x, self.base.relu(x.value), Fraction(0), "relu")

    def absolute(self, x: Jet) -> Jet:
        return self._kink(x, self.base.absolute(x.value), Fraction(-1), "abs")

    def minimum(self, values: Sequence[Jet]) -> Jet:
        least = min(self.scalars.ends(jet.value)[1] for jet in values)
        active = [jet for jet in values if self.scalars.ends(jet.value)[0] <= least]
        return self._select(self.base.minimum([jet.value for jet in values]), active, "min")

    def maximum(self, values: Sequence[Jet]) -> Jet:
        greatest = max(self.scalars.ends(jet.value)[0] for jet in values)
        active = [jet for jet in values if self.scalars.ends(jet.value)[1] >= greatest]
        return self._select(self.base.maximum([jet.value for jet in values]), active, "max")

    def _chain(self, x: Jet, value: Any, first: Any, second: Any) -> Jet:
        if isinstance(x.hessian, str):
            return Jet(value, x.gradient * first, x.hessian)
        outer = np.multiply.outer(x.gradient, x.gradient)
        return Jet(value, x.gradient * first, x.hessian * first + outer * second)

    def _of_ball(self, function: Callable[[Ball], Ball], x: Any) -> Any:
        return self.scalars.from_ball(function(self.scalars.to_ball(x)))

    def _kink(self, x: Jet, value: Any, left_slope: Fraction, name: str) -> Jet:
        low, high = self.scalars.ends(x.value)
        left, right = self.base.constant(left_slope), self.base.constant(Fraction(1))
        if low > 0 or high < 0:
            slope = right if low > 0 else left
            return Jet(value, x.gradient * slope, x.hessian if isinstance(x.hessian, str) else x.hessian * slope)
        return Jet(value, x.gradient * self.scalars.hull(left, right), f"{name} may have its kink in the box")

    def _select(self, value: Any, active: Sequence[Jet], name: str) -> Jet:
        if len(active) == 1:
            return Jet(value, active[0].gradient, active[0].hessian)
        gradient = active[0].gradient
        for jet in active[1:]:
            gradient = np.frompyfunc(self.scalars.hull, 2, 1)(gradient, jet.gradient)
        return Jet(value, gradient, f"{name} may change its branch in the box")


def differentiate(
    expression: Expression, names: Sequence[str], box: Sequence[Any], scalars: Scalars, order: int = 2
) -> Jet:
    """Value, gradient and (order 2) Hessian enclosed over a box, in the variables ``names``.

    ``box`` has one ball (`BALL_SCALARS`) or `Interval` (`EXACT_SCALARS`) for each name; a point is a degenerate box.

    Raises:
        NotFinite: a pole, or log of what may not be positive, within the box.
    """
    arithmetic = JetArithmetic(len(names), order, scalars)
    values = {name: arithmetic.variable(index, box[index]) for index, name in enumerate(names)}
    jet: Jet = evaluate(expression, values, arithmetic)
    return jet


def hessian(jet: Jet) -> Any:
    """The Hessian, or `NotSmooth` with the reason why the box has none."""
    if isinstance(jet.hessian, str):
        raise NotSmooth(
            f"no second derivative here: {jet.hessian}. Try: a box away from the kink, or a smooth expression"
        )
    return jet.hessian


# Derivatives of the smooth activations, optimal on wide balls: extremes lie at the ends or at zeros of the next one.


def tanh_slope(x: Ball) -> Ball:
    """tanh' = 1 - tanh^2, greatest at 0."""
    return _ranged(lambda y: 1 - balls.power(balls.tanh(y), 2), x, [balls.exact(0)])


def tanh_curvature(x: Ball) -> Ball:
    """tanh'' = -2 tanh (1 - tanh^2), extreme where tanh^2 = 1/3, that is at +-log(2 + sqrt 3)/2."""
    turn = balls.log(2 + balls.exact(3).sqrt()) / 2
    return _ranged(lambda y: -2 * balls.tanh(y) * tanh_slope(y), x, [turn, -turn])


def gelu_slope(x: Ball) -> Ball:
    """gelu' = Phi(x) + x phi(x), extreme at +-sqrt 2 (zeros of the curvature)."""
    turn = balls.exact(2).sqrt()
    return _ranged(lambda y: (1 + balls.erf(y / balls.exact(2).sqrt())) / 2 + y * _density(y), x, [turn, -turn])


def gelu_curvature(x: Ball) -> Ball:
    """gelu'' = phi(x) (2 - x^2), extreme at 0 and +-2, as gelu''' = phi(x) x (x^2 - 4)."""
    return _ranged(lambda y: _density(y) * (2 - balls.power(y, 2)), x, [balls.exact(turn) for turn in (0, 2, -2)])


def _density(x: Ball) -> Ball:
    return balls.exp(-balls.power(x, 2) / 2) / (2 * x.pi()).sqrt()


def _ranged(function: Callable[[Ball], Ball], x: Ball, turns: Sequence[Ball]) -> Ball:
    if balls.is_narrow(x):
        return function(x)
    result = balls.hull(function(x.lower()), function(x.upper()))
    for turn in turns:
        if x.overlaps(turn):
            result = balls.hull(result, function(turn))
    return result
