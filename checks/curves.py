"""Rigorous curves for interpolation (A3): values and curvature of any smooth profile, by balls."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from checks import balls, jets
from checks.intervals import Interval, to_ball
from constructions.approximators import Curve, polynomial_curve
from constructions.ridge import ARGUMENT, Ridge
from theory.errors import NotFinite
from theory.expressions import Expression, evaluate

START_BITS = 64
MOST_BITS = 4096
PIECES = 8
"""An interval is cut into this many pieces before its curvature is bounded."""


@dataclass(frozen=True)
class EnclosedCurve:
    """A profile in the variable `ARGUMENT`, for `constructions.approximators`.

    >>> from theory.expression_parser import parse_expression
    >>> curve = EnclosedCurve(parse_expression("exp(x0)"))
    >>> 2.7182818 < curve.curvature(Fraction(0), Fraction(1)) < 2.7182819  # e, attained at the right end
    True
    """

    profile: Expression

    def value(self, point: Fraction, error: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds of the profile's value, at most ``error`` apart; NotFinite where it has none."""
        bits = START_BITS
        while bits <= MOST_BITS:
            with balls.precision(bits):
                found = evaluate(self.profile, {ARGUMENT.name: balls.exact(point)}, balls.BALLS)
                low, high = balls.lower(found), balls.upper(found)
            if high - low <= error:
                return low, high
            bits *= 2
        raise NotFinite(f"{self.profile} at {point} is not known within {error} at {MOST_BITS} bits: a larger error")

    def curvature(self, left: Fraction, right: Fraction) -> Fraction:
        """An upper bound of |g''| on [left, right]; raises `checks.jets.NotSmooth` if there may be a kink."""
        step = (right - left) / PIECES
        bound = Fraction(0)
        with balls.precision(START_BITS):
            for piece in range(PIECES):
                side = Interval(left + piece * step, left + (piece + 1) * step)
                jet = jets.differentiate(self.profile, (ARGUMENT.name,), [to_ball(side)], jets.BALL_SCALARS)
                bound = max(bound, balls.upper(balls.absolute(jets.hessian(jet)[0, 0])))
        return bound


def enclosed_curve(ridge: Ridge) -> Curve:
    """The curve of any ridge: exact for polynomials, enclosed otherwise (`constructions.approximators.CurveOf`)."""
    return EnclosedCurve(ridge.profile) if ridge.others else polynomial_curve(ridge)
