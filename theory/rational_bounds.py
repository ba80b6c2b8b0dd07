"""Rational bounds on exp, log2, square roots and binomials: what keeps floats out of the theorems' constants."""

from __future__ import annotations

import math
from fractions import Fraction

import sympy

from theory.errors import InvalidInput

EXP_BITS = 128
LOG2_DIGITS = 40
LOG2_BITS = 192
SQRT_BITS = 64
BINOMIAL_BITS = 1024
BATCH = 16
ROOT_BITS = 64
POWER_BITS = 2048


def positive(what: str, value: Fraction | int) -> Fraction:
    """Return ``value`` as a Fraction; InvalidInput unless it is an exact rational above 0.

    >>> positive("eps", Fraction(1, 10))
    Fraction(1, 10)
    """
    if (exact := _rational(what, value)) <= 0:
        raise InvalidInput.about(what, str(value), f"{what} > 0", "a positive number such as 1/100")
    return exact


def nonnegative(what: str, value: Fraction | int) -> Fraction:
    """Return ``value`` as a Fraction; InvalidInput unless it is an exact rational of at least 0."""
    if (exact := _rational(what, value)) < 0:
        raise InvalidInput.about(what, str(value), f"{what} >= 0", "a non-negative Fraction")
    return exact


def _rational(what: str, value: Fraction | int) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        raise InvalidInput.about(what, value, "an exact rational (int or Fraction)", "Fraction('0.05') instead of 0.05")
    return Fraction(value)


def count(what: str, value: int, least: int = 1) -> int:
    """Return ``value``; InvalidInput unless it is an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInput.about(what, value, f"an integer of at least {least}", f"{what}={least} or more")
    return value


def to_sympy(value: Fraction) -> sympy.Rational:
    """Return the sympy rational equal to a Fraction."""
    return sympy.Rational(value.numerator, value.denominator)


def exp_lower(x: Fraction) -> Fraction:
    """Rational lower bound on exp(x), x >= 0, relative error below 2^-110 for x <= 1000.

    >>> exp_lower(Fraction(0)), exp_lower(Fraction(1)) < Fraction(2718281828459045236, 10**18)
    (Fraction(1, 1), True)
    """
    # Proof: every term of the Taylor series is positive, so a partial sum is below exp(x); x and each term
    # are rounded down, which lowers the sum further.
    point = math.floor(nonnegative("x", x) * 2**EXP_BITS)
    total = term = 1 << EXP_BITS
    order = 0
    while term:
        order += 1
        term = (term * point >> EXP_BITS) // order
        total += term
    return Fraction(total, 2**EXP_BITS)


def exp_upper(x: Fraction) -> Fraction:
    """Rational upper bound on exp(x), x >= 0, relative error below 2^-110 for x <= 1000.

    >>> exp_upper(Fraction(1)) > Fraction(2718281828459045235, 10**18)
    True
    """
    # Proof: x and each term are rounded up. Once order + 1 >= 2x each further term is at most half of the one
    # before, so all terms after the last one together are at most that one, which is added once more.
    point = math.ceil(nonnegative("x", x) * 2**EXP_BITS)
    total = term = 1 << EXP_BITS
    order = 0
    while term > 1 or order + 1 < 2 * x:
        order += 1
        term = -(-term * point // (order << EXP_BITS))
        total += term
    return Fraction(total + term, 2**EXP_BITS)


def log2_lower(x: Fraction) -> Fraction:
    """Rational lower bound on log2(x), x > 0, absolute error below 2^-39.

    >>> log2_lower(Fraction(8)), log2_lower(Fraction(3)) < Fraction(158496250073, 10**11)
    (Fraction(3, 1), True)
    """
    # Proof: x = 2^e y with 1 <= y < 2; log2 y = log2(y^2)/2 gives one binary digit per squaring, and y is only
    # ever rounded down, so the digits found never exceed log2 y.
    top, bottom = positive("x", x).numerator, x.denominator
    exponent = top.bit_length() - bottom.bit_length()
    if top << max(0, -exponent) < bottom << max(0, exponent):
        exponent -= 1
    shift = LOG2_BITS - exponent
    mantissa = (top << max(0, shift)) // (bottom << max(0, -shift))
    digits = 0
    for _ in range(LOG2_DIGITS):
        mantissa = mantissa * mantissa >> LOG2_BITS
        carry = mantissa >> (LOG2_BITS + 1)
        mantissa >>= carry
        digits = 2 * digits + carry
    return exponent + Fraction(digits, 2**LOG2_DIGITS)


def log2_upper(x: Fraction) -> Fraction:
    """Rational upper bound on log2(x), x > 0, absolute error below 2^-39: log2 x = -log2(1/x)."""
    return -log2_lower(1 / positive("x", x))


def sqrt_lower(x: Fraction) -> Fraction:
    """Rational lower bound on sqrt(x), x >= 0, relative error below 2^-63; exact on squares of rationals.

    >>> sqrt_lower(Fraction(9, 4))
    Fraction(3, 2)
    """
    # Proof: sqrt(p/q) = sqrt(p q 4^k)/(q 2^k), and isqrt rounds down a number of at least 2^(SQRT_BITS - 1).
    product = nonnegative("x", x).numerator * x.denominator
    shift = max(0, SQRT_BITS - product.bit_length() // 2)
    return Fraction(math.isqrt(product << 2 * shift), x.denominator << shift)


def sqrt_upper(x: Fraction) -> Fraction:
    """Rational upper bound on sqrt(x), x >= 0: x / sqrt_lower(x); exact on squares of rationals.

    >>> sqrt_upper(Fraction(9, 4)), sqrt_upper(Fraction(0))
    (Fraction(3, 2), Fraction(0, 1))
    """
    return x / sqrt_lower(x) if x else Fraction(0)


def binomial_lower(top: int, choose: int) -> tuple[int, int]:
    """Return (m, e) with m 2^e <= C(top, choose): equal (and e = 0) below 2^1024, else within choose * 2^-1000.

    Cost: min(choose, top - choose) small products, so 0.05 s where choose = 250,000.

    >>> binomial_lower(10, 3), binomial_lower(3, 5)
    ((120, 0), (0, 0))
    """
    # Proof: C(n, j+b) = C(n, j) (n-j)..(n-j-b+1)/((j+b)..(j+1)); the mantissa is rounded down at each step, never up,
    # and so are factors of more than 1024 bits (then b = 1): n - j >= 2^c (floor(n/2^c) - 1 - floor(j/2^c)).
    mantissa, exponent = (1, 0) if choose <= top else (0, 0)
    cut = max(0, top.bit_length() - BINOMIAL_BITS)
    done, steps, leading = 0, min(choose, top - choose), (top >> cut) - 1
    most = max(1, min(BATCH, BINOMIAL_BITS // max(1, top.bit_length())))
    while done < steps:
        batch = min(most, steps - done)
        factors = leading - (done >> cut) if cut else math.perm(top - done, batch)
        done += batch
        mantissa = mantissa * factors // math.perm(done, batch)
        surplus = max(0, mantissa.bit_length() - BINOMIAL_BITS)
        mantissa >>= surplus
        exponent += surplus + cut
    return mantissa, exponent


def root_below(mantissa: int, exponent: int, order: int) -> int:
    """Return an integer g >= 0 with g^order < mantissa 2^exponent, in milliseconds for any size.

    The largest one if exponent = 0 and mantissa < 2^2048; else within 2^-62 of it (relative) or the largest itself.

    >>> root_below(27, 0, 3), root_below(28, 0, 3), root_below(1, 0, 5)
    (2, 3, 0)
    """
    # Proof: g = h 2^zeros is only taken after an upper bound on g^order was seen below mantissa 2^exponent, and
    # g < 2^bits holds for every candidate. While h^order < 2^POWER_BITS the bound is h^order itself.
    bits = (mantissa.bit_length() + exponent) // order + 1
    zeros = max(0, bits - ROOT_BITS) if exponent else 0
    below, above = 0, 1 << (bits - zeros)
    while mantissa and above - below > 1:
        middle = (below + above) // 2
        power, scale = _power_upper(middle, order)
        shift = scale + zeros * order - exponent
        fits = power << max(0, shift) < mantissa << max(0, -shift)
        below, above = (middle, above) if fits else (below, middle)
    return below << zeros


def _power_upper(base: int, order: int) -> tuple[int, int]:
    """Return (m, e) with base^order <= m 2^e, by repeated squaring, rounding mantissas up to POWER_BITS bits."""

    def rounded(value: int, scale: int) -> tuple[int, int]:
        surplus = max(0, value.bit_length() - POWER_BITS)
        return -(-value >> surplus), scale + surplus

    power, scale = 1, 0
    for digit in f"{order:b}":
        power, scale = rounded(power * power, 2 * scale)
        if digit == "1":
            power, scale = rounded(power * base, scale)
    return power, scale
