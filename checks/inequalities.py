"""Propositions with exp, log, tanh, ... proved in balls on a bounded box by bisection."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from checks import balls
from checks.balls import BALLS, Ball
from theory.errors import NotFinite
from theory.exact import format_exact
from theory.expressions import Call, Expression, Number, Variable, evaluate
from theory.ledger import Proved, Refuted, Undecided, Verdict
from theory.propositions import Proposition, Relation

Box = Mapping[str, tuple[Fraction, Fraction]]
MAX_BOXES = 200_000
BITS = 64


def prove(proposition: Proposition, max_boxes: int = MAX_BOXES) -> Verdict:
    """Decide a proposition whose hypotheses bound every variable (``x >= 0``, ``x <= 1``, ...).

    The box of those bounds is bisected. A part is done when some other hypothesis surely fails on it, or the
    conclusion surely holds. Midpoints are tried as counterexamples. A conclusion that holds with equality somewhere
    inside cannot be proved this way: split that point off, or use monotonicity.

    Arithmetic: balls. Returns Proved, Refuted with an exact point, or Undecided.

    >>> from theory.propositions import proposition
    >>> prove(proposition(["x >= 0", "x <= 2"], "exp(x) >= 1/2 + x")).label
    'PROVED'
    """
    box, unbounded = box_of(proposition)
    if unbounded:
        return Undecided(f"{', '.join(unbounded)} unbounded in {proposition}.", "add bounds as hypotheses")
    if any(low > high for low, high in box.values()):
        return Undecided(f"The bounds of {proposition} describe no box.", "check the hypotheses")
    queue, count = [box], 0
    with balls.precision(BITS):
        if not _satisfiable(proposition, box):
            return Undecided("No point of the box was found that satisfies the hypotheses.", "check the hypotheses")
        while queue:
            part = queue.pop()
            count += 1
            if count > max_boxes:
                return Undecided(f"Not decided after {max_boxes} boxes, near {_show(part)}.", "sharpen or split it")
            if _settled(proposition, part):
                continue
            centre = {name: (low + high) / 2 for name, (low, high) in part.items()}
            if _fails_at(proposition, centre):
                values = {name: format_exact(value) for name, value in centre.items()}
                return Refuted(f"fails at {values}", {"values": values})
            queue += _halves(part)
    return Proved(f"balls: {proposition.conclusion} holds on {count} boxes that cover {_show(box)}")


def holds(relation: Relation, values: Mapping[str, Ball]) -> bool | None:
    """Whether a relation holds for all values in the balls: True, False (fails for all), or None (not decided)."""
    try:
        left, right = (evaluate(side, values, BALLS) for side in (relation.left, relation.right))
    except NotFinite:
        return None
    if relation.relation in (">", ">="):
        left, right = right, left
    match relation.relation:
        case "<" | ">":
            return True if balls.surely_below(left, right) else False if balls.surely_at_most(right, left) else None
        case "<=" | ">=":
            return True if balls.surely_at_most(left, right) else False if balls.surely_below(right, left) else None
        case _:
            apart = balls.surely_below(left, right) or balls.surely_below(right, left)
            equal = balls.surely_at_most(left, right) and balls.surely_at_most(right, left)
            return True if equal else False if apart else None


def _settled(proposition: Proposition, part: Box) -> bool:
    values = {name: balls.between(low, high) for name, (low, high) in part.items()}
    if holds(proposition.conclusion, values) is True:
        return True
    return any(holds(relation, values) is False for relation in proposition.hypotheses)


def _fails_at(proposition: Proposition, point: Mapping[str, Fraction]) -> bool:
    values = {name: balls.exact(value) for name, value in point.items()}
    hypotheses = all(holds(relation, values) is True for relation in proposition.hypotheses)
    return hypotheses and holds(proposition.conclusion, values) is False


def _satisfiable(proposition: Proposition, box: Box) -> bool:
    """Look for one point that satisfies all hypotheses: halve towards parts where none surely fails."""
    queue = [box]
    for _ in range(2000):
        if not queue:
            return False
        part = queue.pop(0)
        values = {name: balls.between(low, high) for name, (low, high) in part.items()}
        if any(holds(relation, values) is False for relation in proposition.hypotheses):
            continue
        centre = {name: balls.exact((low + high) / 2) for name, (low, high) in part.items()}
        if all(holds(relation, centre) is True for relation in proposition.hypotheses):
            return True
        queue += _halves(part)
    return False


def _halves(part: Box) -> list[Box]:
    widest = max(part, key=lambda name: part[name][1] - part[name][0])
    low, high = part[widest]
    middle = (low + high) / 2
    return [{**part, widest: (low, middle)}, {**part, widest: (middle, high)}]


def box_of(proposition: Proposition) -> tuple[Box, list[str]]:
    """The box that hypotheses of the form ``x >= number``, ``x <= number`` describe, and the unbounded variables."""
    lows: dict[str, Fraction] = {}
    highs: dict[str, Fraction] = {}
    for relation in proposition.hypotheses:
        small, large = relation.left, relation.right
        if relation.relation in (">", ">="):
            small, large = large, small
        if isinstance(small, Variable) and (value := _number(large)) is not None:
            highs[small.name] = min(highs.get(small.name, value), value)
        if isinstance(large, Variable) and (value := _number(small)) is not None:
            lows[large.name] = max(lows.get(large.name, value), value)
    unbounded = [name for name in proposition.variables if name not in lows or name not in highs]
    return {name: (lows[name], highs[name]) for name in proposition.variables if name not in unbounded}, unbounded


def _number(expression: Expression) -> Fraction | None:
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Call) and expression.operator == "-" and len(expression.arguments) == 1:
        inner = _number(expression.arguments[0])
        return None if inner is None else -inner
    return None


def _show(box: Box) -> str:
    return ", ".join(f"{name} in [{float(low):.6g}, {float(high):.6g}]" for name, (low, high) in box.items())
