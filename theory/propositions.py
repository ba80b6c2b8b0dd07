"""Propositions in the closed expression language: ``hypotheses imply conclusion`` for all real values of the variables.

One proposition is data that every engine understands: SMT and balls can prove it, an exact point can refute it, its
hypotheses can be tested on an instance, and mutants are made by replacing a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from theory.errors import InvalidInput
from theory.expression_parser import parse_expression
from theory.expressions import RATIONAL, Expression, Json, evaluate, expression_to_json, free_variables

RELATIONS = ("<=", ">=", "<", ">", "=")
_SPLIT = re.compile(r"(<=|>=|<|>|=)")


@dataclass(frozen=True)
class Relation:
    """``left relation right`` with relation one of ``< <= = >= >``."""

    left: Expression
    relation: str
    right: Expression

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"

    def holds_exactly(self, values: Mapping[str, Fraction]) -> bool:
        """Decide the relation at an exact point in rational arithmetic.

        Raises:
            InexactOperation: the point needs a transcendental value; decide it in balls instead.
        """
        left, right = evaluate(self.left, values, RATIONAL), evaluate(self.right, values, RATIONAL)
        outcomes: dict[str, bool] = {
            "<": left < right,
            "<=": left <= right,
            "=": left == right,
            ">=": left >= right,
            ">": left > right,
        }
        return outcomes[self.relation]

    def to_json(self) -> list[Json]:
        return [expression_to_json(self.left), self.relation, expression_to_json(self.right)]


@dataclass(frozen=True)
class Proposition:
    """For all real values of the free variables: if all hypotheses hold, then so does the conclusion."""

    hypotheses: tuple[Relation, ...]
    conclusion: Relation

    @property
    def variables(self) -> tuple[str, ...]:
        relations = (*self.hypotheses, self.conclusion)
        names = (free_variables(relation.left) | free_variables(relation.right) for relation in relations)
        return tuple(sorted(frozenset().union(*names)))

    def without_hypothesis(self, index: int) -> Proposition:
        """The mutant that drops one hypothesis."""
        return replace(self, hypotheses=self.hypotheses[:index] + self.hypotheses[index + 1 :])

    def concluding(self, text: str) -> Proposition:
        """The mutant (or sharpening) with another conclusion."""
        return replace(self, conclusion=relation(text))

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.hypotheses)) or 'always'} ==> {self.conclusion}"


def relation(text: str) -> Relation:
    """Parse ``"a + b <= c"``.

    Raises:
        InvalidInput: not exactly one relation sign, or a side that does not parse.
    """
    parts = _SPLIT.split(text)
    if len(parts) != 3:
        raise InvalidInput.about("relation", text, f"two sides and one of {' '.join(RELATIONS)}", "a + b <= c")
    return Relation(parse_expression(parts[0]), parts[1], parse_expression(parts[2]))


def proposition(hypotheses: Sequence[str], conclusion: str) -> Proposition:
    """Parse a proposition from texts.

    >>> p = proposition(["a >= 0", "b >= 0"], "a + b >= a")
    >>> p.variables, p.conclusion.holds_exactly({"a": Fraction(1), "b": Fraction(2)})
    (('a', 'b'), True)
    """
    return Proposition(tuple(relation(text) for text in hypotheses), relation(conclusion))
