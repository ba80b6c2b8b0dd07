"""Expressions as sums of parts without common variables: what holds of the parts is then put together exactly.

The minimum of such a sum over a cube is the sum of the parts' minima, attained at their minimisers side by side; ranges
and suprema of |grad|_1 add up; the Hessian is block diagonal. Sixty-four squares are so sixty-four easy problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.errors import HeadcountError
from theory.expressions import RATIONAL, Call, Expression, Number, evaluate, free_variables


@dataclass(frozen=True)
class Part:
    """One summand and its variables, which no other part has."""

    expression: Expression
    names: tuple[str, ...]


def separate(expression: Expression, names: Sequence[str]) -> tuple[Part, ...]:
    """The finest visible split of an expression into parts; their sum equals it exactly.

    Parts come in the order of ``names``, their variables too; variables that do not occur are in no part. Terms
    without variables join the first part; an expression without variables has no parts.

    >>> from theory.expression_parser import parse_expression
    >>> [str(part.expression) for part in separate(parse_expression("(x0^2 - 3*(x1 + x0*x2))/2"), ("x0", "x1", "x2"))]
    ['(1/2) * x0^2 + (-3/2) * (x0 * x2)', '(-3/2) * x1']
    """
    order = {name: index for index, name in enumerate(names)}
    groups: list[tuple[set[str], list[tuple[int, Expression]]]] = []
    constants: list[tuple[int, Expression]] = []
    for place, term in enumerate(_terms(expression, Fraction(1))):
        used = set(free_variables(term))
        members = [(place, term)]
        if not used:
            constants += members
            continue
        for group in [group for group in groups if group[0] & used]:
            groups.remove(group)
            used |= group[0]
            members += group[1]
        groups.append((used, members))
    groups.sort(key=lambda group: min(order[name] for name in group[0]))
    if groups:
        groups[0][1].extend(constants)
    return tuple(_part(used, members, order) for used, members in groups)


def _part(used: set[str], members: list[tuple[int, Expression]], order: dict[str, int]) -> Part:
    terms = tuple(term for _, term in sorted(members, key=lambda member: member[0]))
    return Part(terms[0] if len(terms) == 1 else Call("+", terms), tuple(sorted(used, key=order.__getitem__)))


def _terms(term: Expression, factor: Fraction) -> Iterator[Expression]:
    """The terms of ``factor * term``: sums, differences and rational multiples are opened."""
    if isinstance(term, Call):
        parts = term.arguments
        if term.operator in ("+", "-"):
            for index, part in enumerate(parts):
                negative = term.operator == "-" and index == len(parts) - 1
                yield from _terms(part, -factor if negative else factor)
            return
        if term.operator == "/" and (bottom := _number(parts[1])):
            yield from _terms(parts[0], factor / bottom)
            return
        if term.operator == "*":
            numbers = [_number(part) for part in parts]
            rest = [part for part, number in zip(parts, numbers, strict=True) if number is None]
            for number in numbers:
                factor *= 1 if number is None else number
            if len(rest) < len(parts):
                yield from _terms(_product(rest), factor)
                return
    yield term if factor == 1 else factor * term


def _product(factors: Sequence[Expression]) -> Expression:
    return factors[0] if len(factors) == 1 else Call("*", tuple(factors)) if factors else Number(Fraction(1))


def _number(term: Expression) -> Fraction | None:
    """The value of a term without variables, if it is rational."""
    if isinstance(term, Number):
        return term.value
    if free_variables(term):
        return None
    try:
        value: Fraction = evaluate(term, {}, RATIONAL)
    except (HeadcountError, ZeroDivisionError):
        return None
    return value
