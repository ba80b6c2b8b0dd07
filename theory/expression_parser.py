"""Text to expressions: a small precedence parser of our own, with limits; nothing is evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NoReturn

from theory.errors import InvalidInput
from theory.exact import parse_exact
from theory.expressions import FUNCTIONS, MAX_DEPTH, Call, Expression, Number, Variable

MAX_CHARACTERS = 20_000
_TOKEN = re.compile(
    r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z][A-Za-z0-9]*)|(\*\*|[-+*/^(),]))", re.ASCII
)


def parse_expression(text: str) -> Expression:
    """Parse ``text`` into an expression; ``^`` and ``**`` are powers, decimals are exact.

    >>> str(parse_expression("min(x0, 1-x0) + 4*(x0 - 0.5)^2"))
    'min(x0, 1 - x0) + 4 * (x0 - (1/2))^2'

    Raises:
        InvalidInput: a syntax error (with its column), an unknown function, or text over the limits.
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput.about("expression", text, f"at most {MAX_CHARACTERS} characters", "split the task")
    parser = _Parser(text)
    expression = parser.sum(0)
    if parser.token:
        parser.fail("an operator or the end")
    if _nesting(expression) > MAX_DEPTH:
        parser.fail(f"an expression nested at most {MAX_DEPTH} deep")
    return expression


def _nesting(expression: Expression) -> int:
    return 1 + max(map(_nesting, expression.arguments)) if isinstance(expression, Call) else 0


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.stream = self._tokens()
        self.column = 0
        self.token = ""
        self.advance()

    def _tokens(self) -> Iterator[tuple[int, str]]:
        position, end = 0, len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            if match is None:
                self.column, self.token = position, self.text[position:].lstrip()[:1]
                self.fail("a number, a name, an operator or a parenthesis")
            group = match.lastindex or 0
            yield match.start(group), match[group]
            position = match.end()

    def advance(self) -> str:
        previous = self.token
        self.column, self.token = next(self.stream, (len(self.text), ""))
        return previous

    def fail(self, expected: str) -> NoReturn:
        found = self.token or "the end"
        raise InvalidInput(
            f"expression={self.text[:120]!r}: at column {self.column + 1} found {found!r} where {expected} must stand. "
            "Try: an expression such as min(x0, 1 - x0) or 4*(x0 - 1/2)^2."
        )

    def expect(self, token: str) -> None:
        if self.token != token:
            self.fail(f"{token!r}")
        self.advance()

    def sum(self, depth: int) -> Expression:
        terms = [self.product(depth)]
        signs = ["+"]
        while self.token in ("+", "-"):
            signs.append(self.advance())
            terms.append(self.product(depth))
        if signs == ["+", "-"]:
            return Call("-", tuple(terms))
        signed = [Call("-", (term,)) if sign == "-" else term for sign, term in zip(signs, terms, strict=True)]
        return signed[0] if len(signed) == 1 else Call("+", tuple(signed))

    def product(self, depth: int) -> Expression:
        numerators: list[Expression] = [self.signed(depth)]
        denominators: list[Expression] = []
        while self.token in ("*", "/"):
            side = numerators if self.advance() == "*" else denominators
            side.append(self.signed(depth))
        top, bottom = _multiply(numerators), _multiply(denominators)
        if bottom is None:
            return top or Number(Fraction(1))
        if isinstance(top, Number) and isinstance(bottom, Number) and bottom.value:
            return Number(top.value / bottom.value)
        return Call("/", (top or Number(Fraction(1)), bottom))

    def signed(self, depth: int) -> Expression:
        if depth > MAX_DEPTH:
            self.fail(f"an expression nested at most {MAX_DEPTH} deep")
        if self.token == "-":
            self.advance()
            inner = self.signed(depth + 1)
            return Number(-inner.value) if isinstance(inner, Number) else Call("-", (inner,))
        if self.token == "+":
            self.advance()
            return self.signed(depth + 1)
        return self.power(depth)

    def power(self, depth: int) -> Expression:
        base = self.atom(depth)
        if self.token in ("^", "**"):
            self.advance()
            return Call("^", (base, self.signed(depth + 1)))
        return base

    def atom(self, depth: int) -> Expression:
        token = self.token
        if token == "(":
            self.advance()
            inner = self.sum(depth + 1)
            self.expect(")")
            return inner
        if token[:1].isdigit() or token.startswith("."):
            self.advance()
            return Number(parse_exact(token))
        if token[:1].isalpha():
            self.advance()
            return self.call(token, depth) if self.token == "(" else Variable(token)
        self.fail("a number, a variable or '('")

    def call(self, name: str, depth: int) -> Expression:
        if name not in FUNCTIONS:
            raise InvalidInput.about("function", name, f"one of {', '.join(FUNCTIONS)}", "rewrite it with these")
        self.expect("(")
        arguments = [self.sum(depth + 1)]
        while self.token == ",":
            self.advance()
            arguments.append(self.sum(depth + 1))
        self.expect(")")
        return Call(name, tuple(arguments))


def _multiply(factors: Sequence[Expression]) -> Expression | None:
    if len(factors) > 1:
        return Call("*", tuple(factors))
    return factors[0] if factors else None
