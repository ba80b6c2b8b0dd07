"""Expressions on rows (value, derivatives...), in two arithmetics: balls and exact rationals.

An `arb` is a ball that contains the true real number; a comparison of balls is True only if it holds for all their
points, so what follows from comparisons being True is proved and nothing is concluded from a False one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import lcm
from typing import Any, NoReturn

from flint import arb, arb_mat, ctx, fmpq

from checks.certificates.records import Expression

MOST_BITS = 2048
MOST_WORK = 200_000_000
"""Unit: about 100 ns, a multiplication in a matrix product at 64 bits with all that goes with it."""
MOST_RATIONAL_BITS = 16_384
NARROW = 2.0**-20

Row = list[Any]
"""``[value, derivative, ...]`` along some fixed directions: balls or rationals."""


class Undecided(Exception):
    """The claim was neither proved nor refuted; the message says why and what to try."""


class Refuted(Exception):
    """The claim is proved to be false; the message says where."""


class Irrational(Undecided):
    """Exact rational evaluation is not possible here."""


class Work:
    """Counts work and stops at the limit, so that every answer comes in bounded time."""

    def __init__(self) -> None:
        self.left = MOST_WORK

    def spend(self, units: int) -> None:
        self.left -= units * (1 + ctx.prec // 128)
        if self.left < 0:
            raise Undecided("the work limit was reached; try a smaller instance or a sharper certificate")


def rational(number: Fraction) -> fmpq:
    return fmpq(number.numerator, number.denominator)


def ball(number: Fraction) -> arb:
    return arb(rational(number))


def limit_denominator(numbers: Iterable[Fraction]) -> None:
    """Exact linear algebra needs a common denominator of moderate size.

    Raises:
        Undecided: there is none.
    """
    common = 1
    for number in numbers:
        common = lcm(common, number.denominator)
        if common.bit_length() > MOST_RATIONAL_BITS:
            raise Undecided("the denominators are too different for exact linear algebra; round the weights")


class Balls:
    """Enclosures at flint's current precision."""

    number = staticmethod(ball)

    def __init__(self, work: Work) -> None:
        self.spend = work.spend

    def bounded(self, row: Row) -> Row:
        return row

    def matrix(self, rows: Iterable[Iterable[Any]]) -> arb_mat:
        return arb_mat([list(row) for row in rows])

    def product(self, matrix: arb_mat, rows: list[Row]) -> list[Row]:
        self.spend(matrix.nrows() * matrix.ncols() * len(rows[0]))
        return (matrix * arb_mat(rows)).tolist()

    def value(self, name: str, x: arb) -> arb:
        if name == "relu":
            return x.max(arb(0))
        if name == "abs":
            return abs(x)
        function = FUNCTIONS[name]
        # exp, log, tanh, sigmoid increase everywhere, gelu from -0.7517... on, silu from -1.278...: the ends decide.
        if x.rad() > NARROW and (name not in INCREASING_FROM or x > INCREASING_FROM[name]):
            return function(x.lower()).union(function(x.upper()))
        return function(x)

    def slope(self, name: str, x: arb) -> arb:
        """Encloses every difference quotient of the function between two points of the ball x."""
        if name in ("relu", "abs"):
            left = arb(0) if name == "relu" else arb(-1)
            return arb(1) if x >= 0 else left if x <= 0 else left.union(arb(1))
        if name == "exp":
            return self.value("exp", x)
        if name == "log":
            return 1 / x
        if name == "tanh":
            return 1 - self.power(self.value("tanh", x), 2)
        if name in ("sigmoid", "silu"):
            share = self.value("sigmoid", x)
            slope = share * (1 - share)
            return slope if name == "sigmoid" else share + x * slope
        density = self.value("exp", -self.power(x, 2) / 2) / (2 * arb.pi()).sqrt()
        return self.normal(x) + x * density

    def normal(self, x: arb) -> arb:
        if x.rad() > NARROW:
            return normal_distribution(x.lower()).union(normal_distribution(x.upper()))
        return normal_distribution(x)

    def power(self, x: arb, exponent: int) -> arb:
        if exponent < 0:
            return 1 / self.power(x, -exponent)
        if x.rad() > NARROW and exponent > 1:
            ends: arb = power(x.lower(), exponent, arb(1)).union(power(x.upper(), exponent, arb(1)))
            return ends if exponent % 2 or x > 0 or x < 0 else ends.union(arb(0))
        result: arb = power(x, exponent, 1 + 0 * x)  # undefined where x is, also for exponent 0
        return result

    def smallest(self, rows: Sequence[Row]) -> Row:
        value = reduce(arb.min, [row[0] for row in rows])
        if len(rows[0]) == 1:
            return [value]
        # Only rows that are somewhere smallest count. A difference of minima is a weighted mean of the rows'
        # differences (mean value theorem, Clarke), so the hull of the derivatives encloses the quotients.
        highest = value.upper()
        active = [row for row in rows if not row[0] > highest]
        return [value, *(reduce(arb.union, column) for column in zip(*(row[1:] for row in active), strict=True))]


class Rationals:
    """Exact values; `Irrational` where there is none. Numbers are kept below MOST_RATIONAL_BITS."""

    number = staticmethod(rational)

    def __init__(self, work: Work) -> None:
        self.spend = work.spend

    def bounded(self, row: Row) -> Row:
        for entry in row:
            if entry.p.bit_length() + entry.q.bit_length() > MOST_RATIONAL_BITS:
                raise Irrational("an exact value is too long; try simpler numbers")
        return row

    def matrix(self, rows: Iterable[Iterable[Any]]) -> list[list[Any]]:
        return [list(row) for row in rows]

    def product(self, matrix: list[list[Any]], rows: list[Row]) -> list[Row]:
        self.spend(10 * len(matrix) * len(rows))
        return [[self.dot(row, [entry[0] for entry in rows])] for row in matrix]

    def dot(self, left: Sequence[Any], right: Sequence[Any]) -> Any:
        total = fmpq(0)
        for a, b in zip(left, right, strict=True):
            if a and b:
                (total,) = self.bounded([total + a * b])
        return total

    def value(self, name: str, x: Any) -> Any:
        if name in ("relu", "abs"):
            return x if x >= 0 else fmpq(0) if name == "relu" else -x
        if x != (1 if name == "log" else 0):
            raise Irrational(f"{name} of {str(x)[:40]} is not rational")
        return {"exp": fmpq(1), "sigmoid": fmpq(1, 2)}.get(name, fmpq(0))

    def slope(self, name: str, x: Any) -> NoReturn:
        raise Irrational(f"no slope of {name} in exact arithmetic")

    def power(self, x: Any, exponent: int) -> Any:
        self.spend(20)
        if (x.p.bit_length() + x.q.bit_length()) * abs(exponent) > 2 * MOST_RATIONAL_BITS:
            raise Irrational("an exact power is too long")
        return power(1 / x if exponent < 0 else x, abs(exponent), fmpq(1))

    def smallest(self, rows: Sequence[Row]) -> Row:
        return [min(row[0] for row in rows)]


Field = Balls | Rationals


def normal_distribution(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


FUNCTIONS: Mapping[str, Callable[[arb], arb]] = {
    "exp": arb.exp,
    "log": arb.log,
    "tanh": arb.tanh,
    "gelu": lambda x: x * normal_distribution(x),
    "sigmoid": lambda x: 1 / (1 + (-x).exp()),
    "silu": lambda x: x / (1 + (-x).exp()),
}
INCREASING_FROM = {"gelu": -0.75, "silu": -1.25}


def power(x: Any, exponent: int, one: Any) -> Any:
    """By squaring: flint's own power is nan on a ball around 0."""
    result = one
    for bit in bin(exponent)[2:]:
        result = result * result * (x if bit == "1" else one)
    return result


def chain(numbers: Field, name: str, row: Row) -> Row:
    numbers.spend(30)
    value = numbers.value(name, row[0])
    if len(row) == 1:
        return [value]
    slope = numbers.slope(name, row[0])
    return [value, *(slope * entry for entry in row[1:])]


def evaluate(node: Expression, values: Mapping[str, Row], zeros: Row, numbers: Field) -> Row:
    """Value and derivatives of an expression; ``zeros`` are the derivatives of a constant.

    Every derivative is taken over the whole box in which the variables lie, so it encloses difference quotients
    (mean value theorem, on convex boxes), and products along the chain rule do so too. Kinks are no exception.
    """
    numbers.spend(10 + 5 * len(zeros))
    if isinstance(node, Fraction):
        return [numbers.number(node), *zeros]
    if isinstance(node, str):
        return values[node]
    operator = node[0]
    if operator == "^":
        base, exponent = evaluate(node[1], values, zeros, numbers), node[2]
        value = numbers.power(base[0], exponent)
        if len(base) == 1 or exponent == 0:
            return numbers.bounded([value, *zeros])
        slope = exponent * numbers.power(base[0], exponent - 1)
        return [value, *(slope * entry for entry in base[1:])]
    parts = [evaluate(argument, values, zeros, numbers) for argument in node[1:]]
    if operator in ("+", "*"):
        return reduce(lambda a, b: numbers.bounded(combine(operator, a, b)), parts)
    if operator in ("-", "/"):
        return numbers.bounded(combine(operator, *parts) if len(parts) == 2 else [-entry for entry in parts[0]])
    if operator == "min":
        return numbers.smallest(parts)
    if operator == "max":
        return [-entry for entry in numbers.smallest([[-entry for entry in part] for part in parts])]
    return chain(numbers, operator, parts[0])


def combine(operator: str, a: Row, b: Row) -> Row:
    pairs = zip(a[1:], b[1:], strict=True)
    if operator == "+":
        return [x + y for x, y in zip(a, b, strict=True)]
    if operator == "-":
        return [x - y for x, y in zip(a, b, strict=True)]
    if operator == "*":
        return [a[0] * b[0], *(a[0] * y + b[0] * x for x, y in pairs)]
    if b[0] == 0:
        raise Undecided("a division by zero")
    quotient = a[0] / b[0]
    return [quotient, *((x - quotient * y) / b[0] for x, y in pairs)]


def doubling(bits: int, attempt: Callable[[], dict[str, str]]) -> dict[str, str]:
    """Attempt with more and more bits until decided."""
    while True:
        try:
            with ctx.workprec(bits):
                return {**attempt(), "bits": str(bits)}
        except Undecided:
            if 2 * bits > MOST_BITS:
                raise
        bits *= 2


def show(number: arb) -> str:
    """A ball for people."""
    return str(number.str(12)) if abs(number) < arb(10) ** 300 else "beyond 1e300"


def text(number: Fraction) -> str:
    """A rational for people: exact if short."""
    short = number.numerator.bit_length() + number.denominator.bit_length() <= 48
    return str(number) if short else f"about {show(ball(number))}"
