"""Section 2 (uniqueness of D): the witnesses' sizes, by all smaller ones."""

from __future__ import annotations

from theory.uniqueness import exponent, size_condition


def test_no_smaller_sizes_break_the_printed_argument() -> None:
    """Catches a witness of C1 or C1.3 that is not smallest: D_1 = 1, D_2 = 2, T = 250, d = 15 (C1) or 3 (C1.3)."""
    pairs = [(first, second) for second in range(2, 40) for first in range(1, second)]
    least = {pair: 50 * (pair[0] ** 2 + pair[1] ** 2) for pair in pairs}  # the least T, and k grows with T
    assert all(
        size_condition(*pair, length) and not size_condition(*pair, length - 1) for pair, length in least.items()
    )
    assert min(least.values()) == least[1, 2] == 250
    assert all(exponent(*pair, length) > max(14, *pair) for pair, length in least.items())
    assert 14 < exponent(1, 2, 250) < 15
