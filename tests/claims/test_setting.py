"""Section 0 (definitions and assumptions): numbers from elsewhere beside the evidence."""

from __future__ import annotations

from fractions import Fraction

from checks.balls import BALLS, precision, surely_below


def test_gelu_is_steeper_than_one_and_not_steeper_than_printed_here() -> None:
    """Catches a wrong Lipschitz constant in A1.2 (repaired): difference quotients around the steepest point, sqrt 2."""
    with precision(128):
        low, high = BALLS.constant(Fraction(14141, 10**4)), BALLS.constant(Fraction(14143, 10**4))
        rise = BALLS.gelu(high) - BALLS.gelu(low)
        run = high - low
        assert surely_below(run * BALLS.constant(Fraction(112, 100)), rise)
        assert surely_below(rise, run * BALLS.constant(Fraction(113, 100)))
