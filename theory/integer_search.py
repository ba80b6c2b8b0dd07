"""The least integer at which a test turns true, by bisection; floats may steer, they never decide."""

from __future__ import annotations

from collections.abc import Callable

Test = Callable[[int], bool]

SIGNIFICANT_BITS = 64
FLOAT_ERROR = 1 << 22
"""How far, in positions of 2^-63 relative size, an estimate in floats usually is from the truth."""


def first_true(holds: Test, probably: Test | None = None) -> int:
    """The least positive integer with at most SIGNIFICANT_BITS significant bits at which a test turns true.

    By doubling and bisection over the position in the list of such integers, for a test that is false, then true.
    ``probably`` is a cheap, unreliable version of the test: it only says where to look first.

    >>> first_true(lambda x: x * x >= 10**6), first_true(lambda x: x >= 10**9, lambda x: x >= 10**8)
    (1000, 1000000000)
    """
    if probably is None:
        return _entry(_search(holds, 0, 1))
    guess = _search(probably, 0, 1)
    reach = FLOAT_ERROR
    while guess > reach and holds(_entry(guess - reach)):
        guess, reach = guess - reach, 2 * reach
    return _entry(_search(holds, max(0, guess - reach), reach))


def _search(holds: Test, start: int, reach: int) -> int:
    """The least position at which the test holds; it does not hold at ``start`` (0 is no position)."""
    below, above = start, start + reach
    while not holds(_entry(above)):
        reach *= 2
        below, above = above, above + reach
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(_entry(middle)) else (middle, above)
    return above


def _entry(position: int) -> int:
    """The integer at a position (from 1 on) of the list: all up to 2^64, then 2^63 in each octave."""
    half = 1 << (SIGNIFICANT_BITS - 1)
    zeros = max(0, position // half - 1)
    return position if zeros == 0 else (half + position % half) << zeros
