"""Section 1 as mathematics: order statistics, the selectors (L2, L3, N10), how many features are needed (N9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import sympy

from theory.errors import InvalidInput
from theory.rational_bounds import count, positive, to_sympy

SELECTOR_CONSTANT = Fraction(277859, 10**6)
"""At least max_s s/(1 + e^{s^2}) = 0.2778584..., the constant of N10 (printed there as 0.27787)."""


def support_size(seq_len: int) -> int:
    """m = ceil(T/4), the least size of an index set (DEF-D). Exact. Raises InvalidInput.

    >>> support_size(9)
    3
    """
    return -(-count("seq_len", seq_len) // 4)


def thresholds(values: Sequence[Fraction], size: int) -> tuple[Fraction, Fraction]:
    """(v_m, w_m): the m-th largest and the m-th smallest value (L2), m = ``size``. Exact. Raises InvalidInput.

    >>> thresholds([Fraction(3), Fraction(1), Fraction(2)], 1)
    (Fraction(3, 1), Fraction(1, 1))
    """
    _size(values, size)
    ordered = sorted(values)
    return ordered[-size], ordered[size - 1]


def largest_minimum(values: Sequence[Fraction], size: int, containing: int | None = None) -> Fraction:
    """Max over the subsets of ``size`` positions (that contain one, 0-based) of the minimum over the subset.

    Claim L2, by definition (exponential cost): U_j, and Y_{t,j} if ``containing`` = t. Exact. Raises InvalidInput.

    >>> largest_minimum([Fraction(0), Fraction(1), Fraction(2)], 2), largest_minimum([Fraction(0), Fraction(1)], 1, 0)
    (Fraction(1, 1), Fraction(0, 1))
    """
    _size(values, size)
    subsets = combinations(range(len(values)), size)
    return max(min(values[u] for u in subset) for subset in subsets if containing is None or containing in subset)


def select(values: Sequence[Fraction], position: int, size: int) -> Fraction:
    """The value at a position (0-based) from minima over m-subsets only: (1 - Z) - max{0, w_m - Y}.

    Claim N10, tight. Hypothesis: 2m <= T + 1, T = len(values), m = ``size``. Conclusion: equal to values[position].
    Exact, by definition (exponential cost). Raises InvalidInput.

    >>> select([Fraction(0), Fraction(1), Fraction(1, 2)], 2, 2)
    Fraction(1, 2)
    """
    if 2 * size > len(values) + 1:
        raise InvalidInput.about("size", size, f"2m <= T + 1 = {len(values) + 1} (N10)", "a smaller m")
    turned = [1 - value for value in values]
    from_below = largest_minimum(values, size, position)
    from_above = 1 - largest_minimum(turned, size, position)
    return from_above - max(Fraction(0), (1 - largest_minimum(turned, size)) - from_below)


def smooth_select(values: Sequence[Fraction], position: int, size: int, sharpness: Fraction) -> sympy.Expr:
    """L3's selector at q = ``sharpness``: the mean of 1 - Z and Y with weights e^{q(1-Z-w)^2} and e^{q(Y-v)^2}.

    Exact (sympy). Raises InvalidInput.

    >>> smooth_select([Fraction(0), Fraction(1), Fraction(1)], 0, 2, Fraction(1))
    1/(1 + E)
    """
    v, w = thresholds(values, size)
    low, high = min(values[position], v), max(values[position], w)
    scale = positive("sharpness", sharpness)
    first, second = (sympy.exp(to_sympy(scale * gap * gap)) for gap in (high - w, low - v))
    return (first * to_sympy(high) + second * to_sympy(low)) / (first + second)


def selector_error_upper(sharpness: Fraction) -> sympy.Expr:
    """0.277859/sqrt(q), at least the smooth selector's error at q = ``sharpness`` for every sequence in [0,1]^T.

    Claim N10, upper, tight up to the last digit for T >= 3, m >= 2, q >= 0.739. Hypothesis 2m <= T + 1.
    Exact (sympy). Raises InvalidInput.

    >>> selector_error_upper(Fraction(4))
    277859/2000000
    """
    # Proof: w <= v. If w <= x <= v, Y = 1 - Z = x. If x < w, Y = x and 1 - Z = w: the error is
    # a/(1 + e^{q(v-x)^2}) <= a/(1 + e^{q a^2}), a = w - x <= v - x. The case x > v is the same from above.
    return to_sympy(SELECTOR_CONSTANT) / sympy.sqrt(to_sympy(positive("sharpness", sharpness)))


def targets_sufficient(token_dim: int, seq_len: int) -> int:
    """2 d C(T, m), m = ceil(T/4): minima of x_j and 1 - x_j over all m-subsets recover the sequence (N10, T1.P).

    >>> targets_sufficient(1, 8)
    56
    """
    return 2 * count("token_dim", token_dim) * math.comb(seq_len, support_size(seq_len))


def targets_sufficient_for_one_position(size: int) -> int:
    """2 C(2m-2, m-1) + C(2m-2, m): that many features recover one coordinate of one token exactly, T >= 2m - 1.

    Claim N10, upper, m = ``size``; for m = 2 four are enough (N9 sharpened). Exact. Raises InvalidInput.

    >>> [targets_sufficient_for_one_position(m) for m in (1, 2, 3, 4)]
    [2, 5, 16, 55]
    """
    # Proof: the selector on 2m - 1 positions needs Y and Z (m-subsets with the position) and w_m = 1 - max over all
    # m-subsets of min (1 - x), of which those with the position are there already.
    least = count("size", size)
    return 2 * math.comb(2 * least - 2, least - 1) + math.comb(2 * least - 2, least)


def targets_lower_erdos(size: int) -> int:
    """2^{m-1}, m = ``size`` >= 1: so many features at least, if all |S_i| >= m and H is within < 1/2 of x(1)_1.

    Claim N9, lower; plus 1 for m >= 2 (N9 sharpened: 2^{m-1} sets contain position 1, and one does not).

    >>> targets_lower_erdos(1), targets_lower_erdos(4)
    (1, 9)
    """
    # Proof: X + {1} and X differ in x(1), so some S through 1 has S - {1} inside X (as a minimum) or inside the rest
    # (as a maximum): each does for at most a share 2^{1-m} of all X. If all S contained 1, {1} and its complement
    # would have the same features, as m >= 2.
    return int(2 ** (count("size", size) - 1) + (size >= 2))


def targets_lower_balanced(seq_len: int, size: int) -> int | None:
    """ceil of max_h C(T,h)/(C(T-m,h) + C(T-m,T-h)); None if some h admits no monochromatic set: then no D suffices.

    Claim N9 (repaired), lower. Hypotheses: all |S_i| >= m = ``size``, H within < 1/2 of x(1)_1. Exact. InvalidInput.

    >>> targets_lower_balanced(16, 4), targets_lower_balanced(7, 3), targets_lower_balanced(4, 3)
    (13, 7, None)
    """
    # Proof: every colouring with h reds makes some S_i monochromatic; one of C(T-m, h) all-blue, C(T-m, T-h) all-red.
    length, least = count("seq_len", seq_len), count("size", size)
    if least > length:
        raise InvalidInput.about("size", size, f"m <= T = {length}", "a smaller m")
    best = 1
    for reds in range(length + 1):
        excluded = math.comb(length - least, reds) + math.comb(length - least, length - reds)
        if excluded == 0:
            return None
        best = max(best, -(-math.comb(length, reds) // excluded))
    return best


def targets_lower_any_length(size: int) -> int:
    """A lower bound for every T at once: least over V of max(C(V,2)/C(m,2), the balanced bound for V).

    Claim N9 (sharpened), lower; hypotheses as ``targets_lower_balanced``. Exact. Raises InvalidInput.

    >>> [targets_lower_any_length(m) for m in (1, 2, 3, 4)]
    [1, 3, 7, 15]
    """
    # Proof: two positions in no common set may be given the same colour; identify them. In the end every pair of the
    # V positions lies in a set, so C(V,2) <= D C(m,2), and the balanced bound holds with V in place of T. For
    # V <= 2m - 2 there is a colouring with classes below m. Beyond V with C(V,2)/C(m,2) >= best, nothing is smaller.
    least = count("size", size)
    if least == 1:
        return 1
    pairs, best, points = math.comb(least, 2), math.inf, 2 * least - 1
    while (by_pairs := -(-math.comb(points, 2) // pairs)) < best:
        balanced = targets_lower_balanced(points, least)
        if balanced is not None:
            best = min(best, max(by_pairs, balanced))
        points += 1
    return int(best)


def _size(values: Sequence[Fraction], size: int) -> None:
    if not 1 <= size <= len(values):
        raise InvalidInput.about("size", size, f"1 <= m <= T = {len(values)}", "a subset size within the sequence")
