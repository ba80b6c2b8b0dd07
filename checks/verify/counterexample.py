"""Kind "counterexample": inequalities at an exact point."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from checks.certificates import records
from checks.certificates.records import Expression
from checks.verify.arithmetic import Balls, Field, Irrational, Rationals, Refuted, Undecided, Work, doubling, evaluate

FIRST_BITS = 64


def check_counterexample(claim: records.Counterexample, work: Work) -> dict[str, str]:
    """The hypotheses hold at the point and the conclusion fails."""

    def attempt() -> dict[str, str]:
        hypotheses = [_holds(inequality, claim.values, work) for inequality in claim.hypotheses]
        conclusion = _holds(claim.conclusion, claim.values, work)
        if False in hypotheses:
            raise Refuted(f"hypothesis {hypotheses.index(False)} fails at the point")
        if conclusion:
            raise Refuted("the conclusion holds at the point")
        if None in hypotheses or conclusion is None:
            raise Undecided("an inequality is too close to call; equality is only proved between rational values")
        return {"hypotheses": str(len(hypotheses))}

    return doubling(FIRST_BITS, attempt)


def _holds(inequality: tuple[Expression, str, Expression], values: Mapping[str, Fraction], work: Work) -> bool | None:
    left, relation, right = inequality
    kinds: tuple[Field, ...] = (Rationals(work), Balls(work))
    for numbers in kinds:
        point = {name: [numbers.number(value)] for name, value in values.items()}
        try:
            a, b = (evaluate(side, point, [], numbers)[0] for side in (left, right))
        except Irrational:
            continue
        if isinstance(numbers, Balls) and not (a.is_finite() and b.is_finite()):
            raise Undecided("a side is not finite")
        below, above, equal = bool(a < b), bool(a > b), bool(a == b)
        truth = {"<": below, "<=": below or equal or bool(a <= b), "=": equal, ">=": bool(a >= b), ">": above}[relation]
        false = {"<": bool(a >= b), "<=": above, "=": below or above, ">=": below, ">": bool(a <= b)}[relation]
        return True if truth else False if false else None
    return None
