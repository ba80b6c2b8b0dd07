"""The closed expression language in which tasks, encoders and claims are written.

Numbers are exact rationals; operators are ``+ - * / ^`` (integer exponents), functions those of ``FUNCTIONS``. An
expression is data: it has a text form (see `theory.expression_parser`), a JSON form, and one evaluator that takes the
arithmetic as a parameter (exact rationals, float64, torch tensors, balls, sympy). Nothing is ever executed as code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import sympy

from theory.errors import InexactOperation, InvalidInput, NotFinite
from theory.exact import as_fraction, format_exact, parse_exact

MAX_NODES = 20_000
MAX_DEPTH = 100
MAX_POWER = 64
FUNCTIONS: Mapping[str, tuple[int, int]] = {  # name -> least and greatest number of arguments
    "exp": (1, 1),
    "log": (1, 1),
    "tanh": (1, 1),
    "relu": (1, 1),
    "gelu": (1, 1),
    "abs": (1, 1),
    "min": (1, MAX_NODES),
    "max": (1, MAX_NODES),
}
OPERATORS: Mapping[str, tuple[int, int]] = {
    "+": (1, MAX_NODES),
    "*": (1, MAX_NODES),
    "-": (1, 2),
    "/": (2, 2),
    "^": (2, 2),
    **FUNCTIONS,
}


class Expression:
    """A node of the language; build with Python operators, numbers being exact (floats mean their binary value)."""

    __slots__ = ()

    def __add__(self, other: Operand) -> Expression:
        return Call("+", (self, lift(other)))

    def __radd__(self, other: Operand) -> Expression:
        return Call("+", (lift(other), self))

    def __sub__(self, other: Operand) -> Expression:
        return Call("-", (self, lift(other)))

    def __rsub__(self, other: Operand) -> Expression:
        return Call("-", (lift(other), self))

    def __mul__(self, other: Operand) -> Expression:
        return Call("*", (self, lift(other)))

    def __rmul__(self, other: Operand) -> Expression:
        return Call("*", (lift(other), self))

    def __truediv__(self, other: Operand) -> Expression:
        return Call("/", (self, lift(other)))

    def __neg__(self) -> Expression:
        return Call("-", (self,))

    def __pow__(self, exponent: int) -> Expression:
        return Call("^", (self, Number(Fraction(exponent))))

    def __str__(self) -> str:
        return _text(self, 0)


@dataclass(frozen=True, slots=True)
class Number(Expression):
    """An exact rational constant."""

    value: Fraction

    __str__ = Expression.__str__


@dataclass(frozen=True, slots=True)
class Variable(Expression):
    """A variable such as ``x0`` (token coordinate) or ``z1`` (retrieved minimum)."""

    name: str

    __str__ = Expression.__str__


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """An operator or function applied to its arguments; arity and integer exponents are checked here."""

    operator: str
    arguments: tuple[Expression, ...]

    __str__ = Expression.__str__

    def __post_init__(self) -> None:
        if self.operator not in OPERATORS:
            known = ", ".join(OPERATORS)
            raise InvalidInput.about("function", self.operator, f"one of {known}", "rewrite it with these")
        least, most = OPERATORS[self.operator]
        if not least <= len(self.arguments) <= most:
            expected = str(least) if least == most else f"{least} or more"
            raise InvalidInput.about(
                f"arguments of {self.operator}", len(self.arguments), f"{expected} argument(s)", "check the parentheses"
            )
        if self.operator == "^":
            power = self.arguments[1]
            if not isinstance(power, Number) or power.value.denominator != 1 or abs(power.value) > MAX_POWER:
                raise InvalidInput.about(
                    "exponent", str(power), f"an integer of size at most {MAX_POWER}", "use exp(a*log(x)) otherwise"
                )


Operand = Expression | Fraction | int | float | str
Json = str | list[Any]
V = TypeVar("V")


class Arithmetic(Protocol[V]):
    """What evaluating an expression needs besides Python's own ``+ - *`` on values."""

    def constant(self, value: Fraction) -> V: ...
    def power(self, x: V, exponent: int) -> V: ...
    def divide(self, x: V, y: V) -> V: ...
    def exp(self, x: V) -> V: ...
    def log(self, x: V) -> V: ...
    def tanh(self, x: V) -> V: ...
    def relu(self, x: V) -> V: ...
    def gelu(self, x: V) -> V: ...
    def absolute(self, x: V) -> V: ...
    def minimum(self, values: Sequence[V]) -> V: ...
    def maximum(self, values: Sequence[V]) -> V: ...


def lift(value: Operand) -> Expression:
    """A Python number (exact) as a `Number`; expressions pass through."""
    return value if isinstance(value, Expression) else Number(as_fraction(value))


def variables(prefix: str, count: int) -> tuple[Variable, ...]:
    """``variables("x", 2)`` is ``(x0, x1)``."""
    return tuple(Variable(f"{prefix}{index}") for index in range(count))


def apply(function: str, *arguments: Operand) -> Expression:
    """``apply("min", a, b)`` is the expression ``min(a, b)``."""
    return Call(function, tuple(lift(argument) for argument in arguments))


def evaluate(expression: Expression, values: Mapping[str, Any], arithmetic: Arithmetic[Any]) -> Any:
    """The value of an expression in the given arithmetic, variables by name.

    >>> x = Variable("x0")
    >>> evaluate((x - Fraction(1, 2)) ** 2, {"x0": Fraction(1)}, RATIONAL)
    Fraction(1, 4)
    """
    if isinstance(expression, Number):
        return arithmetic.constant(expression.value)
    if isinstance(expression, Variable):
        if expression.name not in values:
            raise InvalidInput.about("variable", expression.name, f"one of {', '.join(values)}", "check the dimension")
        return values[expression.name]
    assert isinstance(expression, Call)
    if expression.operator == "^":
        power = expression.arguments[1]
        assert isinstance(power, Number)
        return arithmetic.power(evaluate(expression.arguments[0], values, arithmetic), int(power.value))
    parts = [evaluate(argument, values, arithmetic) for argument in expression.arguments]
    match expression.operator:
        case "+":
            return _fold(lambda a, b: a + b, parts)
        case "*":
            return _fold(lambda a, b: a * b, parts)
        case "-":
            return -parts[0] if len(parts) == 1 else parts[0] - parts[1]
        case "/":
            return arithmetic.divide(parts[0], parts[1])
        case "min":
            return arithmetic.minimum(parts)
        case "max":
            return arithmetic.maximum(parts)
        case "abs":
            return arithmetic.absolute(parts[0])
        case name:
            return getattr(arithmetic, name)(parts[0])


def substitute(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """Replace variables by expressions."""
    if isinstance(expression, Variable):
        return values.get(expression.name, expression)
    if isinstance(expression, Call):
        return Call(expression.operator, tuple(substitute(argument, values) for argument in expression.arguments))
    return expression


def free_variables(expression: Expression) -> frozenset[str]:
    """The names of the variables that occur."""
    if isinstance(expression, Variable):
        return frozenset({expression.name})
    if isinstance(expression, Call):
        return frozenset().union(*(free_variables(argument) for argument in expression.arguments))
    return frozenset()


def expression_to_json(expression: Expression) -> Json:
    """JSON form: a variable or an exact number is a string, a call is ``[operator, argument, ...]``.

    >>> expression_to_json(apply("min", Variable("x0"), 1 - Variable("x0")))
    ['min', 'x0', ['-', '1', 'x0']]
    """
    if isinstance(expression, Number):
        return format_exact(expression.value)
    if isinstance(expression, Variable):
        return expression.name
    assert isinstance(expression, Call)
    return [expression.operator, *(expression_to_json(argument) for argument in expression.arguments)]


def expression_from_json(data: object) -> Expression:
    """Read the JSON form, with limits on size and depth.

    Raises:
        InvalidInput: unknown operator, wrong arity, bad number, or larger than the limits.
    """
    return _from_json(data, 0, [0])


def _from_json(data: object, depth: int, count: list[int]) -> Expression:
    count[0] += 1
    if depth > MAX_DEPTH or count[0] > MAX_NODES:
        raise InvalidInput.about("expression", "...", f"depth <= {MAX_DEPTH}, {MAX_NODES} nodes", "simplify it")
    if isinstance(data, str):
        return Variable(data) if data[:1].isalpha() and data.isalnum() else Number(parse_exact(data))
    if isinstance(data, list) and data and isinstance(data[0], str):
        return Call(data[0], tuple(_from_json(argument, depth + 1, count) for argument in data[1:]))
    raise InvalidInput.about("expression", data, "a string or [operator, arguments...]", "see the expression format")


def _fold(operation: Callable[[Any, Any], Any], parts: Iterable[Any]) -> Any:
    iterator = iter(parts)
    total = next(iterator)
    for part in iterator:
        total = operation(total, part)
    return total


_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}


def _text(expression: Expression, outer: int) -> str:
    if isinstance(expression, Variable):
        return expression.name
    if isinstance(expression, Number):
        value = str(expression.value)
        return f"({value})" if outer and ("/" in value or value.startswith("-")) else value
    assert isinstance(expression, Call)
    operator, arguments = expression.operator, expression.arguments
    if operator in FUNCTIONS:
        return f"{operator}({', '.join(_text(argument, 0) for argument in arguments)})"
    level = _PRECEDENCE[operator]
    if len(arguments) == 1:
        inner = f"-{_text(arguments[0], 3)}" if operator == "-" else _text(arguments[0], outer)
        return f"({inner})" if outer > 1 and operator == "-" else inner
    separator = {"^": "^"}.get(operator, f" {operator} ")
    left = _text(arguments[0], level + (operator == "^"))
    body = separator.join([left, *(_text(argument, level + 1) for argument in arguments[1:])])
    return f"({body})" if outer > level else body


class RationalArithmetic:
    """Exact rationals; transcendental functions raise `InexactOperation`."""

    def constant(self, value: Fraction) -> Fraction:
        return value

    def power(self, x: Fraction, exponent: int) -> Fraction:
        return x**exponent if exponent >= 0 else self.divide(Fraction(1), x**-exponent)

    def divide(self, x: Fraction, y: Fraction) -> Fraction:
        if y == 0:
            raise NotFinite(
                f"{x}/0 is not a number: required: a divisor without zeros. Try: another point or expression"
            )
        return x / y

    def exp(self, x: Fraction) -> Fraction:
        return _only_at(x, Fraction(0), Fraction(1), "exp")

    def log(self, x: Fraction) -> Fraction:
        return _only_at(x, Fraction(1), Fraction(0), "log")

    def tanh(self, x: Fraction) -> Fraction:
        return _only_at(x, Fraction(0), Fraction(0), "tanh")

    def gelu(self, x: Fraction) -> Fraction:
        return _only_at(x, Fraction(0), Fraction(0), "gelu")

    def relu(self, x: Fraction) -> Fraction:
        return max(x, Fraction(0))

    def absolute(self, x: Fraction) -> Fraction:
        return abs(x)

    def minimum(self, values: Sequence[Fraction]) -> Fraction:
        return min(values)

    def maximum(self, values: Sequence[Fraction]) -> Fraction:
        return max(values)


def _only_at(x: Fraction, point: Fraction, value: Fraction, name: str) -> Fraction:
    if x == point:
        return value
    raise InexactOperation(f"{name}({x}) is not rational: evaluate in balls or floats instead")


RATIONAL = RationalArithmetic()


class SympyArithmetic:
    """Expressions of the language as sympy expressions (output only; sympy never parses our input)."""

    def constant(self, value: Fraction) -> Any:
        return sympy.Rational(value.numerator, value.denominator)

    def power(self, x: Any, exponent: int) -> Any:
        return x**exponent

    def divide(self, x: Any, y: Any) -> Any:
        return x / y

    def exp(self, x: Any) -> Any:
        return sympy.exp(x)

    def log(self, x: Any) -> Any:
        return sympy.log(x)

    def tanh(self, x: Any) -> Any:
        return sympy.tanh(x)

    def relu(self, x: Any) -> Any:
        return sympy.Max(x, 0)

    def gelu(self, x: Any) -> Any:
        return x * (1 + sympy.erf(x / sympy.sqrt(2))) / 2

    def absolute(self, x: Any) -> Any:
        return sympy.Abs(x)

    def minimum(self, values: Sequence[Any]) -> Any:
        return sympy.Min(*values)

    def maximum(self, values: Sequence[Any]) -> Any:
        return sympy.Max(*values)


def to_sympy(expression: Expression) -> Any:
    """The expression in sympy, variables as real symbols of the same names."""
    names = sorted(free_variables(expression))
    return evaluate(expression, {name: sympy.Symbol(name, real=True) for name in names}, SympyArithmetic())
