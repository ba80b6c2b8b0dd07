"""Reading single values of a certificate: types, sizes, exact numbers, expressions. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any, NoReturn, TypeVar

from checks.certificates.canonical import Malformed
from checks.certificates.records import Expression, Matrix, Vector

MAX_DIGITS = 1_200
MAX_EXPONENT = 20_000
MAX_TOTAL_BITS = 2**31  # of all numbers together, after expansion of the exponents
MAX_SIZE = 1_000_000
MAX_NODES = 20_000
MAX_NESTING = 100
MAX_POWER = 64
ARITY = {"+": (1, MAX_NODES), "*": (1, MAX_NODES), "min": (1, MAX_NODES), "max": (1, MAX_NODES)}
ARITY |= {"-": (1, 2), "/": (2, 2), "^": (2, 2)}
ARITY |= dict.fromkeys(("exp", "log", "tanh", "relu", "gelu", "abs"), (1, 1))
_NUMBER = re.compile(r"(-?[0-9]+)(?:/([0-9]+)|p(-?[0-9]{1,6}))?\Z", re.ASCII)
VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9]{0,30}\Z", re.ASCII)

T = TypeVar("T")


class Fields:
    """Checks types, shapes and sizes; every method takes the value and the place it stands at."""

    def __init__(self) -> None:
        self.bits = 0

    def fail(self, at: str, needed: str) -> NoReturn:
        raise Malformed(f"{at}: {needed}")

    def fields(self, data: object, at: str, *names: str) -> list[Any]:
        if not isinstance(data, dict) or set(data) != set(names):
            found = sorted(data) if isinstance(data, dict) else type(data).__name__
            self.fail(at, f"an object with exactly the keys {', '.join(sorted(names))}; found {str(found)[:200]!a}")
        return [data[name] for name in names]

    def items(self, data: object, at: str, length: int | None = None) -> list[Any]:
        if not isinstance(data, list) or not 1 <= len(data) <= MAX_SIZE or length not in (None, len(data)):
            self.fail(at, f"a list of {length or 'one or more'} entries")
        return data

    def each(self, data: object, at: str, read: Callable[[Any, str], T], length: int | None = None) -> tuple[T, ...]:
        return tuple(read(entry, f"{at}[{index}]") for index, entry in enumerate(self.items(data, at, length)))

    def integer(self, data: object, at: str, least: int, most: int) -> int:
        if not isinstance(data, int) or isinstance(data, bool) or not least <= data <= most:
            self.fail(at, f"an integer from {least} to {most}")
        return data

    def boolean(self, data: object, at: str) -> bool:
        if not isinstance(data, bool):
            self.fail(at, "true or false")
        return data

    def word(self, data: object, at: str, *choices: str) -> str:
        if not isinstance(data, str) or (choices and data not in choices) or len(data) > 200 or not data.isprintable():
            self.fail(at, f"one of {', '.join(choices)}" if choices else "a printable string of at most 200 characters")
        return data

    def number(self, data: object, at: str) -> Fraction:
        match = _NUMBER.match(data) if isinstance(data, str) and len(data) <= 2 * MAX_DIGITS else None
        if match is None or max(len(match[1]), len(match[2] or "")) > MAX_DIGITS:
            self.fail(at, f'an exact number such as "-12", "3/4" or "5p-3" of at most {MAX_DIGITS} digits')
        top, bottom, exponent = int(match[1]), int(match[2] or 1), int(match[3] or 0)
        if bottom == 0 or abs(exponent) > MAX_EXPONENT:
            self.fail(at, f"a denominator other than 0 and an exponent of at most {MAX_EXPONENT}")
        self.bits += top.bit_length() + bottom.bit_length() + abs(exponent)
        if self.bits > MAX_TOTAL_BITS:
            self.fail(at, f"numbers of at most {MAX_TOTAL_BITS} bits in all")
        return Fraction(top << max(exponent, 0), bottom << max(-exponent, 0))

    def positive(self, data: object, at: str) -> Fraction:
        number = self.number(data, at)
        if number <= 0:
            self.fail(at, "a positive number")
        return number

    def vector(self, data: object, at: str, length: int | None = None) -> Vector:
        return self.each(data, at, self.number, length)

    def matrix(self, data: object, at: str, rows: int | None = None, columns: int | None = None) -> Matrix:
        found = self.each(data, at, self.vector, rows)
        if any(len(row) != (columns or len(found[0])) for row in found):
            self.fail(at, f"rows of equal length{f', {columns} entries each' if columns else ''}")
        return found

    def positions(self, data: object, at: str, seq_len: int) -> tuple[int, ...]:
        found = self.each(data, at, lambda entry, place: self.integer(entry, place, 1, seq_len))
        if any(a >= b for a, b in pairwise(found)):
            self.fail(at, "positions in increasing order")
        return found

    def expression(self, data: object, at: str, variables: set[str] | None) -> Expression:
        nodes = 0

        def read(node: object, depth: int) -> Expression:
            nonlocal nodes
            nodes += 1
            if depth > MAX_NESTING or nodes > MAX_NODES:
                self.fail(at, f"an expression of at most {MAX_NODES} nodes and depth {MAX_NESTING}")
            if isinstance(node, str):
                if not VARIABLE.match(node):
                    return self.number(node, at)
                if variables is not None and node not in variables:
                    self.fail(at, f"known variables only; found {node!a}")
                return node
            operator = node[0] if isinstance(node, list) and node else None
            least, most = ARITY.get(operator, (1, 0)) if isinstance(operator, str) else (1, 0)
            if not isinstance(node, list) or not least <= len(node) - 1 <= most:
                self.fail(at, f"a known operator with the right number of arguments; found {str(operator)[:40]!a}")
            arguments = [read(argument, depth + 1) for argument in node[1:]]
            if operator == "^":
                power = arguments[1]
                if not isinstance(power, Fraction) or power.denominator != 1 or abs(power) > MAX_POWER:
                    self.fail(at, f"an integer exponent of size at most {MAX_POWER}")
                arguments[1] = int(power)
            return (operator, *arguments)

        return read(data, 0)
