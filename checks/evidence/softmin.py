"""Steps about weighted means with weights e^{-y} that several sections use. This module registers no evidence itself.

In these propositions y = beta (a - min), G = e^{-y}, R = e^{y-1} and so on are variables that carry only the facts used
of the exponential: it is positive, e^{x+y} = e^x e^y, and 1 + v <= e^v (`tools.exponential_steps`).
"""

from __future__ import annotations

from checks.evidence.tools import step
from theory.ledger import Means, Step


def shift_step() -> Step:
    """Shifting all values by the minimum: p, q are the sums of (a - m) e^{-beta (a-m)} and e^{-beta (a-m)}."""
    return step(
        "shift by the minimum m: mean - m = p/q, where c = e^{-beta m} cancels",
        Means.SYMBOLIC,
        [],
        "(p*c + m*q*c)/(q*c) - m = p/q",
        {"c stays": "(p*c + m*q*c)/(q*c) - m = p/(q*c)", "no shift": "(p*c + m*q*c)/(q*c) = p/q"},
    )


def gibbs_term_step() -> Step:
    """One token's share of the numerator: y e^{-y} <= 1/e, from 1 + v <= e^v at v = y - 1."""
    return step(
        "y e^{-y} <= k = 1/e: from R = e^{y-1} >= y and R G = k with G = e^{-y}",
        Means.SMT,
        ["G > 0", "R >= y", "R*G = k"],
        "y*G <= k",
        {"half": "y*G <= k/2", "strict": "y*G < k"},
    )


def sum_step(name: str) -> Step:
    """The induction step of: n terms of at most k each add up to at most n k."""
    return step(
        f"{name}: n terms of at most k each add up to at most n k, one term more",
        Means.SMT,
        ["n >= 0", "s <= n*k", "x <= k"],
        "s + x <= (n + 1)*k",
        {"no growth": "s + x <= n*k", "strict": "s + x < (n + 1)*k"},
    )


def leak_step() -> Step:
    """The weight that leaks in from outside S: q = sum on S >= k = e^{-beta}, B off S <= n k r, r = e^{-beta(g-1)}."""
    return step(
        "the weight off S is at most |S^c| e^{-beta(g-1)}",
        Means.SMT,
        ["k > 0", "q >= k", "B >= 0", "n >= 0", "r > 0", "B <= n*(k*r)"],
        "B/(q + B) <= n*r",
        {"half": "B/(q + B) <= n*r/2", "one token": "B/(q + B) <= r"},
    )
