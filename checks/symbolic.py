"""Identities: rational ones by exact expansion in sympy, and every one again at random exact points."""

from __future__ import annotations

import random
from fractions import Fraction

import sympy

from theory.errors import InexactOperation, NotFinite
from theory.exact import format_exact
from theory.expressions import Call, Expression, to_sympy
from theory.ledger import Proved, Refuted, Undecided, Verdict
from theory.propositions import Proposition

POINTS = 25
TRANSCENDENTAL = frozenset({"exp", "log", "tanh", "gelu", "relu", "abs", "min", "max"})


def prove_identity(proposition: Proposition, seed: int = 0) -> Verdict:
    """Decide ``left = right`` between rational functions for all values at which both sides are defined.

    sympy brings ``left - right`` over a common denominator and expands the numerator: a decision procedure for
    rational functions (no simplification heuristics). The identity is then evaluated at random exact points by our
    own evaluator, a second opinion that also refutes.

    >>> from theory.propositions import proposition
    >>> prove_identity(proposition([], "(a+b)^2 = a^2 + 2*a*b + b^2")).label
    'PROVED'
    """
    conclusion = proposition.conclusion
    if conclusion.relation != "=" or any(_has_transcendental(side) for side in (conclusion.left, conclusion.right)):
        return Undecided(f"{conclusion} is not an identity of rational functions.", "checks.smt or checks.inequalities")
    generator = random.Random(seed)
    evaluated = 0
    for _ in range(4 * POINTS):
        point = {name: Fraction(generator.randint(-99, 99), generator.randint(1, 9)) for name in proposition.variables}
        try:
            holds = conclusion.holds_exactly(point)
        except NotFinite:  # a divisor vanishes there
            continue
        evaluated += 1
        if not holds and _met(proposition, point):
            values = {name: format_exact(value) for name, value in point.items()}
            return Refuted(f"fails at {values}", {"values": values})
        if evaluated == POINTS:
            break
    if evaluated < POINTS:
        return Undecided(f"Only {evaluated} random points were in the domain.", "check the denominators")
    difference = sympy.together(to_sympy(conclusion.left) - to_sympy(conclusion.right))
    numerator, _ = sympy.fraction(difference)
    if sympy.expand(numerator) == 0:
        return Proved(f"sympy: the numerator of left - right expands to 0; also exact at {evaluated} random points")
    return Undecided("The numerator does not expand to 0.", "use the hypotheses: checks.smt")


def _met(proposition: Proposition, point: dict[str, Fraction]) -> bool:
    """Whether the hypotheses hold; not where one of them has a pole or needs a value that is not rational."""
    try:
        return all(relation.holds_exactly(point) for relation in proposition.hypotheses)
    except (NotFinite, InexactOperation):
        return False


def _has_transcendental(expression: Expression) -> bool:
    if not isinstance(expression, Call):
        return False
    return expression.operator in TRANSCENDENTAL or any(map(_has_transcendental, expression.arguments))
