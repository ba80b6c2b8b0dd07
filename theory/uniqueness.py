"""Section 2 as mathematics: when D is determined by the target (C1 as published, its sharp constant, N11)."""

from __future__ import annotations

import math
from fractions import Fraction

from theory.density import support_size
from theory.errors import InvalidInput
from theory.rational_bounds import count, nonnegative
from theory.too_few_heads import exponent_published

SIZE_CONSTANT_PUBLISHED = Fraction(1, 50)
SIZE_CONSTANT_SHARP = Fraction(5, 56)
"""D_1^2 + D_2^2 < c T gives k > max(D_1, D_2) for c = 5/56 and no larger c (C1.3 sharpened)."""


def exponent(first: int, second: int, seq_len: int) -> Fraction:
    """k = (T/4 - D_1 - D_2 + 1)/(3 D_1 + 1) - 1 of eq 50, D_1 = ``first`` < D_2 = ``second``. Exact.

    Claim C1.2. Raises InvalidInput.

    >>> exponent(1, 2, 56)
    Fraction(2, 1)
    """
    _ordered(first, second)
    return exponent_published(seq_len, 2, first, second)


def size_condition(first: int, second: int, seq_len: int, constant: Fraction = SIZE_CONSTANT_PUBLISHED) -> bool:
    """Whether D_1^2 + D_2^2 <= c T, by default C1's condition with c = 1/50. Exact. Raises InvalidInput.

    >>> size_condition(1, 2, 250), size_condition(1, 2, 249)
    (True, False)
    """
    squares = count("first", first) ** 2 + count("second", second) ** 2
    return squares <= nonnegative("constant", constant) * count("seq_len", seq_len)


def least_seq_len(first: int, second: int, gamma: Fraction) -> int:
    """The least T at which k > gamma, so that C1's printed argument closes: T > 4((gamma+1)(3 D_1+1) + D_1 + D_2 - 1).

    Claim C1.3 (repaired), tight. A3's remark gives gamma = max(d, D_2): the token dimension d enters. Exact.
    Raises InvalidInput unless 1 <= D_1 < D_2 and gamma >= 0.

    >>> least_seq_len(1, 2, Fraction(2)), least_seq_len(1, 2, Fraction(15))
    (57, 265)
    """
    _ordered(first, second)
    bound = 4 * ((nonnegative("gamma", gamma) + 1) * (3 * first + 1) + first + second - 1)
    return math.floor(bound) + 1


def is_determined(first: int, second: int, seq_len: int) -> bool:
    """Whether N11 shows that two representations with D_1 and D_2 coordinates have D_1 = D_2: max <= ceil(T/4).

    Claim N11 (and C1, sharpened), tight at T = 1. Hypotheses: f_i, F_0 of class C^1, A2.1, A2.2, A2.4 for both.
    Exact. Raises InvalidInput.

    >>> is_determined(3, 2, 9), is_determined(2, 1, 1)
    (True, False)
    """
    return max(count("first", first), count("second", second)) <= support_size(seq_len)


def _ordered(first: int, second: int) -> None:
    if not count("first", first) < count("second", second):
        raise InvalidInput.about("first", first, f"D_1 < D_2 = {second}", "the smaller number first")
