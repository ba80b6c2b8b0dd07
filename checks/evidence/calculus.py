"""Steps of elementary calculus that several sections use. This module registers no evidence itself.

Each is the step of a bisection: what is true of a segment is true of one of its halves, and the halves close in on one
point. Like an induction, the repetition itself is not a step. In prose: docs/proofs/enough_heads.md.
"""

from __future__ import annotations

from checks.evidence.tools import step
from theory.ledger import Means, Step


def gradient_steps() -> tuple[Step, ...]:
    """|F_0(y) - F_0(z)| <= L_0 |y - z|_inf on the cube, L_0 = sup |grad F_0|_1: else false on ever shorter parts."""
    return (*mean_value_steps(), inner_product_step())


def mean_value_steps() -> tuple[Step, ...]:
    """If |g(s)| <= L for all s then |F(q) - F(p)| <= L (q - p), g the derivative of F: a larger c fails nowhere."""
    return (
        step(
            "halving: if F changes by more than c times the length, it does so on one half (a, b its changes there)",
            Means.SMT,
            ["s > 0", "t > 0", "c >= 0", "abs(a + b) > c*(s + t)"],
            "max(abs(a) - c*s, abs(b) - c*t) > 0",
            {"on both": "min(abs(a) - c*s, abs(b) - c*t) > 0", "on the first": "abs(a) > c*s"},
        ),
        step(
            "but around the point w that the halves close in on, F is within (c - L) of linear with slope |g| <= L < c",
            Means.SMT,
            ["u >= 0", "v >= 0", "c > L", "abs(g) <= L", "abs(a - g*u) <= (c - L)*u", "abs(b - g*v) <= (c - L)*v"],
            "abs(a + b) <= c*(u + v)",
            {"L itself": "abs(a + b) <= L*(u + v)", "one side": "abs(a + b) <= c*u"},
        ),
    )


def inner_product_step() -> Step:
    """|g.v| <= |g|_1 |v|_inf, coordinate by coordinate."""
    return step(
        "the slope along v: |g.v| <= |g|_1 |v|_inf, one coordinate more (n = |g|_1, m = |v|_inf so far)",
        Means.SMT,
        ["n >= 0", "m >= 0", "abs(s) <= n*m", "abs(v) <= m"],
        "abs(s + g*v) <= (n + abs(g))*m",
        {"no growth": "abs(s + g*v) <= n*m", "with |g|_inf": "abs(s + g*v) <= max(n, abs(g))*m"},
    )
