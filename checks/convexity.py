"""Inequalities that touch, such as ``1 + v <= e^v`` at v = 0: by convexity, which bisection alone cannot settle."""

from __future__ import annotations

from fractions import Fraction

from checks import balls, inequalities
from checks.jets import BALL_SCALARS, NotSmooth, differentiate, hessian
from theory.errors import NotFinite
from theory.exact import format_exact
from theory.expressions import Expression
from theory.ledger import Proved, Undecided, Verdict
from theory.propositions import Proposition

MAX_PARTS = 10_000


def prove_touching(proposition: Proposition, touch: Fraction) -> Verdict:
    """Decide ``left <= right`` (or >=) in one variable on an interval where both sides meet at ``touch``.

    A function whose second derivative is non-negative on the interval lies above its tangents; at ``touch`` value and
    slope of the difference are exactly 0 in balls (as for e^0 = 1), so the tangent is 0. Hypotheses bound the variable.

    Arithmetic: balls. Returns Proved or Undecided.

    >>> from theory.propositions import proposition
    >>> prove_touching(proposition(["v >= -1", "v <= 1"], "1 + v <= exp(v)"), Fraction(0)).label
    'PROVED'
    """
    box, unbounded = inequalities.box_of(proposition)
    relation = proposition.conclusion
    if len(box) != 1 or unbounded or relation.relation not in ("<=", ">="):
        return Undecided(f"{proposition} is not an inequality in one bounded variable.", "checks.inequalities")
    if len(proposition.hypotheses) != 2:
        return Undecided("Only the two bounds of the interval may be hypotheses.", "state the interval as two bounds")
    difference = relation.right - relation.left if relation.relation == "<=" else relation.left - relation.right
    ((name, (low, high)),) = box.items()
    if not low <= touch <= high:
        return Undecided(f"{name} = {format_exact(touch)} lies outside the interval.", "a point of the interval")
    with balls.precision(inequalities.BITS):
        try:
            return _above_tangent(difference, name, low, high, touch)
        except (NotSmooth, NotFinite) as error:
            return Undecided(str(error), "checks.inequalities")


def _above_tangent(difference: Expression, name: str, low: Fraction, high: Fraction, touch: Fraction) -> Verdict:
    at_touch = differentiate(difference, (name,), [balls.exact(touch)], BALL_SCALARS)
    for what, ball in (("value", at_touch.value), ("slope", at_touch.gradient[0])):
        if not balls.lower(ball) == balls.upper(ball) == 0:
            reason = f"The {what} of the difference at {name} = {format_exact(touch)} is {ball}, not exactly 0."
            return Undecided(reason, "the point where both sides meet")
    return _convex(difference, name, low, high, touch)


def _convex(difference: Expression, name: str, low: Fraction, high: Fraction, touch: Fraction) -> Verdict:
    queue, count = [(low, high)], 0
    while queue:
        left, right = queue.pop()
        count += 1
        if count > MAX_PARTS:
            return Undecided(f"Not convex as far as seen, near {name} = {float(left):.6g}.", "a smaller interval")
        second = hessian(differentiate(difference, (name,), [balls.between(left, right)], BALL_SCALARS))[0, 0]
        if balls.lower(second) >= 0:
            continue
        if balls.upper(second) < 0:
            return Undecided(f"The difference is concave near {name} = {float(left):.6g}.", "a smaller interval")
        middle = (left + right) / 2
        queue += [(left, middle), (middle, right)]
    shown = f"[{format_exact(low)}, {format_exact(high)}]"
    return Proved(f"balls: convex on {count} parts of {shown}, value and slope 0 at {name} = {format_exact(touch)}")
