"""The ends of a ball as exact rationals, rounded outwards where they are too small or too large to be written."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeVar

from theory.errors import NotFinite
from theory.exact import MAX_EXPONENT

Ball = Any
AnyBall = TypeVar("AnyBall", bound=Any)


def finite(ball: AnyBall, what: str) -> AnyBall:
    """The ball itself; `NotFinite` if it is infinite or undefined: nothing can be concluded from such a ball."""
    if ball.is_finite():
        return ball
    raise NotFinite(
        f"{what} has no finite enclosure: more bits, smaller boxes, or a domain that avoids the singularity"
    )


def lower(ball: Ball) -> Fraction:
    """The exact lower end (dyadic); a value below 2^-20000 in size is rounded down to a multiple of that."""
    return _ends(ball)[0]


def upper(ball: Ball) -> Fraction:
    """The exact upper end (dyadic); a value below 2^-20000 in size is rounded up to a multiple of that."""
    return _ends(ball)[1]


def middle(ball: Ball) -> Fraction:
    """The centre of the ball, a dyadic rational (of the outward rounded ball where it is below 2^-20000 in size)."""
    low, high = _ends(ball)
    return (low + high) / 2


def radius(ball: Ball) -> Fraction:
    """An upper bound on the distance from `middle`, exact where the end points are."""
    low, high = _ends(ball)
    return (high - low) / 2


def _ends(ball: Ball) -> tuple[Fraction, Fraction]:
    finite(ball, "value")
    (middle_mantissa, middle_exponent), (mantissa, exponent) = ball.mid().man_exp(), ball.rad().man_exp()
    if max(middle_exponent + middle_mantissa.bit_length(), exponent + mantissa.bit_length()) > MAX_EXPONENT:
        raise NotFinite(f"a value beyond 2^{MAX_EXPONENT} is treated as infinite: rescale the problem")
    common = max(-MAX_EXPONENT, min(int(middle_exponent), int(exponent)))
    # Shifts to the right round down: the middle is moved by less than one unit, which the second end gives back.
    centre, reach = _shift(middle_mantissa, middle_exponent - common), -_shift(-mantissa, exponent - common)
    slack = 1 if middle_exponent < common else 0
    unit = Fraction(2) ** common
    low, high = centre - reach, centre + slack + reach
    return (max(low, 0) if ball >= 0 else low) * unit, (min(high, 0) if ball <= 0 else high) * unit


def _shift(mantissa: Any, places: Any) -> int:
    whole, step = int(mantissa), int(places)
    return whole << step if step >= 0 else whole >> min(-step, whole.bit_length() + 1)
