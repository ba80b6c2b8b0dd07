"""Exact numbers as text: the only way numbers are written to or read from files.

A number is an integer ``-12``, a quotient ``3/4``, a dyadic ``5p-3`` (that is ``5 * 2**-3``, the exact value of a
binary float), or, on input only, a decimal such as ``0.05`` or ``1e-6``; every one denotes a rational number exactly.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

from theory.errors import InvalidInput

MAX_DIGITS = 4000
MAX_EXPONENT = 20_000
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,5})?\Z", re.ASCII)
_QUOTIENT = re.compile(r"[+-]?\d+/\d+\Z", re.ASCII)
_DYADIC = re.compile(r"([+-]?\d+)p([+-]?\d{1,6})\Z", re.ASCII)


def parse_exact(text: str) -> Fraction:
    """Read one number exactly; nothing is evaluated and no float is involved.

    >>> parse_exact("0.05"), parse_exact("5p-3"), parse_exact("-3/4")
    (Fraction(1, 20), Fraction(5, 8), Fraction(-3, 4))

    Raises:
        InvalidInput: not a number in one of the four forms, zero denominator, or longer than the limits.
    """
    if any(len(part) > MAX_DIGITS for part in text.split("/")):
        raise InvalidInput.about("number", text, f"at most {MAX_DIGITS} characters a part", "a shorter exact value")
    if match := _DYADIC.match(text):
        exponent = int(match[2])
        if abs(exponent) <= MAX_EXPONENT:
            return int(match[1]) * Fraction(2) ** exponent
    elif _QUOTIENT.match(text):
        numerator, denominator = (int(part) for part in text.split("/"))
        if denominator:
            return Fraction(numerator, denominator)
    elif (match := _DECIMAL.match(text)) and abs(int((match[3] or "e0")[1:])) <= MAX_EXPONENT:
        return Fraction(text)
    raise InvalidInput.about(
        "number", text, "an integer, p/q, mp±e or a decimal, and finite", "for example 1/20 or 0.05"
    )


def format_exact(value: Fraction | int | float) -> str:
    """Write a number exactly: integers and quotients as they are, long dyadics as ``mpe``.

    >>> format_exact(0.1), format_exact(Fraction(1, 3)), format_exact(2)
    ('3602879701896397p-55', '1/3', '2')

    Raises:
        InvalidInput: not finite, or too long to be written.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput.about("number", value, "finite", "remove nan and infinity")
    try:
        return _text(Fraction(value))
    except ValueError:
        raise InvalidInput.about("number", value, f"at most {MAX_DIGITS} digits", "a simpler number") from None


def _text(exact: Fraction) -> str:
    numerator, denominator = exact.numerator, exact.denominator
    if denominator == 1 and (numerator.bit_length() <= 64 or numerator & 1):
        return str(numerator)
    if denominator & (denominator - 1) == 0 and denominator.bit_length() > 16:
        return f"{numerator}p-{denominator.bit_length() - 1}"
    if denominator == 1:
        shift = (numerator & -numerator).bit_length() - 1
        return f"{numerator >> shift}p{shift}"
    return f"{numerator}/{denominator}"


def decimal(value: Fraction) -> str:
    """Six digits for people; no size of a rational becomes 0 or infinity, as it would in a float.

    >>> decimal(Fraction(1, 30)), decimal(Fraction(10) ** 400), decimal(Fraction(1, 10**400))
    ('0.0333333', '1.00000e+400', '1e-400')
    """
    return f"{Decimal(value.numerator) / value.denominator:.6g}"


def as_fraction(value: Fraction | int | float | str) -> Fraction:
    """The exact value of a number given as Fraction, int, str or (finite) float; a float means its binary value."""
    if isinstance(value, str):
        return parse_exact(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput.about("number", value, "finite", "remove nan and infinity")
    return Fraction(value)
