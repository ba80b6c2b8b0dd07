"""Propositions decided by z3 over the reals: polynomial inequalities, min, max, abs and relu, no exp or log."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import z3

from theory.errors import InexactOperation
from theory.exact import format_exact
from theory.expressions import Call, Expression, Number, evaluate
from theory.ledger import Proved, Refuted, Undecided, Verdict
from theory.propositions import Proposition, Relation

TIMEOUT_MS = 20_000


class _Z3Arithmetic:
    """Expressions as z3 terms of one context."""

    def __init__(self, context: Any) -> None:
        self.context = context

    def constant(self, value: Fraction) -> Any:
        return z3.RealVal(f"{value.numerator}/{value.denominator}", self.context)

    def power(self, x: Any, exponent: int) -> Any:
        result = z3.RealVal(1, self.context)
        for _ in range(abs(exponent)):
            result = result * x
        return result if exponent >= 0 else 1 / result

    def divide(self, x: Any, y: Any) -> Any:
        return x / y

    def relu(self, x: Any) -> Any:
        return z3.If(x >= 0, x, z3.RealVal(0, self.context))

    def absolute(self, x: Any) -> Any:
        return z3.If(x >= 0, x, -x)

    def minimum(self, values: Sequence[Any]) -> Any:
        smallest = values[0]
        for value in values[1:]:
            smallest = z3.If(value < smallest, value, smallest)
        return smallest

    def maximum(self, values: Sequence[Any]) -> Any:
        largest = values[0]
        for value in values[1:]:
            largest = z3.If(value > largest, value, largest)
        return largest

    def exp(self, x: Any) -> Any:
        raise InexactOperation("z3 has no exp, log, tanh or gelu. Try: checks.inequalities (balls)")

    log = tanh = gelu = exp


def prove(proposition: Proposition, timeout_ms: int = TIMEOUT_MS) -> Verdict:
    """Proved if the negation is unsatisfiable, Refuted with an exact rational point if z3 has one.

    Denominators are required to be non-zero as extra hypotheses (z3 would otherwise give division a free value), and
    the hypotheses must be satisfiable, so that nothing is proved about the empty set.

    Arithmetic: exact. Errors: InexactOperation for exp, log, tanh, gelu.

    >>> from theory.propositions import proposition
    >>> prove(proposition(["a >= 0", "b >= a"], "b*b >= a*a")).label
    'PROVED'
    """
    # A context of its own: z3's search depends on what was asked before in the same context, up to a time-out.
    context = z3.Context()
    names = {name: z3.Real(name, context) for name in proposition.variables}
    arithmetic = _Z3Arithmetic(context)
    hypotheses = [_relation(relation, names, arithmetic) for relation in proposition.hypotheses]
    relations = (*proposition.hypotheses, proposition.conclusion)
    for relation in relations:
        for side in (relation.left, relation.right):
            hypotheses += [_term(denominator, names, arithmetic) != 0 for denominator in _denominators(side)]
    solver = z3.Solver(ctx=context)
    solver.set("timeout", timeout_ms)
    solver.add(*hypotheses)
    satisfiable = solver.check()
    if satisfiable == z3.unsat:
        return Undecided("The hypotheses exclude each other, so the proposition is empty.", "a satisfiable hypothesis")
    if satisfiable != z3.sat:
        return Undecided(
            "z3 could not show that the hypotheses can be met.", "simpler hypotheses, or checks.inequalities"
        )
    solver.add(z3.Not(_relation(proposition.conclusion, names, arithmetic)))
    outcome = solver.check()
    if outcome == z3.unsat:
        return Proved(f"z3: no real values of {', '.join(names)} violate {proposition.conclusion}")
    if outcome == z3.sat and (point := _rational_point(solver.model(), names)) is not None:
        return _confirm(proposition, point)
    return Undecided(f"z3 answered {outcome}.", "split the statement, or prove it in balls on a box")


def _confirm(proposition: Proposition, point: dict[str, Fraction]) -> Verdict:
    hypotheses_hold = all(relation.holds_exactly(point) for relation in proposition.hypotheses)
    if hypotheses_hold and not proposition.conclusion.holds_exactly(point):
        values = {name: format_exact(value) for name, value in point.items()}
        return Refuted(f"fails at {values}", {"values": values})
    return Undecided("z3's model did not survive exact evaluation.", "report the proposition")


def _rational_point(model: Any, names: dict[str, Any]) -> dict[str, Fraction] | None:
    point = {}
    for name, symbol in names.items():
        value = model.evaluate(symbol, model_completion=True)
        if not z3.is_rational_value(value):
            return None
        point[name] = Fraction(value.numerator_as_long(), value.denominator_as_long())
    return point


def _term(expression: Expression, names: dict[str, Any], arithmetic: _Z3Arithmetic) -> Any:
    return evaluate(expression, names, arithmetic)


def _relation(relation: Relation, names: dict[str, Any], arithmetic: _Z3Arithmetic) -> Any:
    left, right = _term(relation.left, names, arithmetic), _term(relation.right, names, arithmetic)
    match relation.relation:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case "=":
            return left == right
        case ">=":
            return left >= right
        case _:
            return left > right


def _denominators(expression: Expression) -> list[Expression]:
    if not isinstance(expression, Call):
        return []
    found = [inner for argument in expression.arguments for inner in _denominators(argument)]
    if expression.operator == "/":
        found.append(expression.arguments[1])
    power = expression.arguments[-1]
    if expression.operator == "^" and isinstance(power, Number) and power.value < 0:
        found.append(expression.arguments[0])
    return found
