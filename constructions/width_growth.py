"""The exponent gamma of A3 as measured: how the width of an approximator grows as its error is made smaller."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from theory.errors import InvalidInput

PROVED_GAMMA = {"relu": Fraction(1, 2), "heaviside": Fraction(1)}
"""What is proved for `constructions.approximators.approximate` (C^2 ridges) and `constructions.staircase.staircase`."""
DELTAS = tuple(Fraction(1, 100 * 4**k) for k in range(5))


@dataclass(frozen=True)
class WidthGrowth:
    """Widths at the given errors, and the least-squares slope of log width over log 1/delta (an estimate)."""

    deltas: tuple[Fraction, ...]
    widths: tuple[int, ...]
    gamma_estimate: float


def measured_gamma(width: Callable[[Fraction], int], deltas: Sequence[Fraction] = DELTAS) -> WidthGrowth:
    """Fit gamma to the widths that an approximator needs; to be printed beside `PROVED_GAMMA`. Floats; an estimate.

    >>> found = measured_gamma(lambda delta: math.isqrt(int(10**6 / delta)))
    >>> round(found.gamma_estimate, 3)
    0.5

    Raises:
        InvalidInput: fewer than two different errors, or one that is not positive.
    """
    if len(set(deltas)) < 2 or min(deltas) <= 0:
        raise InvalidInput.about("deltas", [str(delta) for delta in deltas], "two or more, all > 0", "the default")
    widths = tuple(width(delta) for delta in deltas)
    x = [-math.log(float(delta)) for delta in deltas]
    slope = float(np.polyfit(x, np.log(widths), 1)[0])
    return WidthGrowth(tuple(deltas), widths, slope)
