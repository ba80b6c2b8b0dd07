"""Evidence for section 3 of the paper (T2.1 and its steps)."""

from __future__ import annotations

from collections.abc import Mapping

from checks.evidence.tools import (
    counterexample_step,
    hidden_hypothesis_step,
    proves,
    refutes,
    statement_step,
    step,
)
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED
ON_S_ONE_OFF_S_ZERO = {"b": "10", "a": "1", "c": "0"}
"""T = 2, S = {1}, value 1 on S and 0 off S: gate -1 makes the two scores equal, so the average is 1/2 for every b."""


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for T2.1-10 ... T2.1-M and T2.1."""
    return (*_construction(claims), *_inequalities(claims), *_assembly(claims))


def _construction(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    squeeze, gate, norm, score = (claims[f"T2.1-{name}"] for name in ("10", "gate", "11", "12"))
    needs_range = "the network of A3.2 has values in [0,1] (A3.2 only says within delta)"
    needs_readout = "values may be rescaled too, at the cost of larger read-out weights (beta rescales the scores only)"
    return (
        proves(squeeze.id, PUBLISHED, hidden_hypothesis_step("range of the network", Means.EXACT, needs_range)),
        proves(squeeze.id, ARGUMENT, hidden_hypothesis_step("range of the network", Means.EXACT, needs_range)),
        proves(
            squeeze.id,
            REPAIRED,
            statement_step(
                squeeze,
                REPAIRED,
                Means.SMT,
                {
                    "no squeeze": "max(-p, p - 1, abs(p - f) - d) <= 0",
                    "half the error": "abs((p + d/2)/(1 + d) - f) <= d/2",
                },
            ),
        ),
        refutes(
            gate.id,
            PUBLISHED,
            counterexample_step(
                gate,
                PUBLISHED,
                ON_S_ONE_OFF_S_ZERO,
                {
                    "gate 2": "abs((a*exp(-b*a) + exp(-2*b)*c*exp(-b*c))/(exp(-b*a) + exp(-2*b)*exp(-b*c)) - a) <= 1/4",
                    "within 1/2": "abs((a*exp(-b*a) + exp(-b)*c*exp(-b*c))/(exp(-b*a) + exp(-b)*exp(-b*c)) - a) <= 1/2",
                },
            ),
        ),
        proves(
            norm.id,
            PUBLISHED,
            statement_step(norm, PUBLISHED, Means.SMT, {"half": "p^2 + r^2 <= 1", "strict": "p^2 + r^2 < 2"}),
        ),
        proves(norm.id, ARGUMENT, hidden_hypothesis_step("what beta can absorb", Means.EXACT, needs_readout)),
        proves(
            norm.id,
            REPAIRED,
            statement_step(norm, REPAIRED, Means.SMT, {"as published": "p^2 + r^2 <= 2", "four": "p^2 + r^2 <= 4"}),
        ),
        proves(
            score.id,
            PUBLISHED,
            statement_step(
                score, PUBLISHED, Means.SYMBOLIC, {"sign": "(-1)*p + 1*r = p + r", "gate": "(-1)*p + 1*r = -p"}
            ),
        ),
    )


def _inequalities(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    split, leak = claims["T2.1-14"], claims["T2.1-leak"]
    two_sided, one_constant, distance, budget = (claims[f"T2.1-{number}"] for number in ("15", "16", "17", "18"))
    gated = "(a*exp(-b*a) + exp(-2*b)*c*exp(-b*c))/(exp(-b*a) + exp(-2*b)*exp(-b*c))"
    return (
        proves(
            split.id,
            PUBLISHED,
            statement_step(
                split,
                PUBLISHED,
                Means.SMT,
                {"second part halved": "(P + A)/(Q + B) <= P/Q + A/(2*Q)", "reversed": "(P + A)/(Q + B) >= P/Q"},
            ),
        ),
        refutes(
            leak.id,
            PUBLISHED,
            counterexample_step(leak, PUBLISHED, {"b": "1", "a": "1"}, {"repaired": "exp(-b*a) >= exp(-b)"}),
        ),
        proves(
            leak.id,
            REPAIRED,
            step(
                "one weight on S is at least e^{-beta}",
                Means.SMT,
                ["b >= 0", "a >= 0", "a <= 1"],
                "b*a <= b",
                {"no range": "b*a <= b/2", "strict": "b*a < b"},
            ),
        ),
        refutes(
            two_sided.id,
            PUBLISHED,
            counterexample_step(two_sided, PUBLISHED, ON_S_ONE_OFF_S_ZERO, {"upper half": f"a >= {_gate_one()}"}),
        ),
        refutes(
            two_sided.id,
            ARGUMENT,
            counterexample_step(two_sided, PUBLISHED, ON_S_ONE_OFF_S_ZERO, {"upper half": f"a >= {_gate_one()}"}),
        ),
        refutes(
            one_constant.id,
            PUBLISHED,
            counterexample_step(
                one_constant,
                PUBLISHED,
                ON_S_ONE_OFF_S_ZERO,
                {"with gate 2, up to the leak": f"-exp(-b) <= {gated} - a"},
            ),
        ),
        refutes(
            distance.id,
            PUBLISHED,
            counterexample_step(
                distance, PUBLISHED, ON_S_ONE_OFF_S_ZERO, {"with gate 2": f"abs({gated} - a) <= 2*(1/b + exp(-b))"}
            ),
        ),
        proves(distance.id, REPAIRED, _triangle_with_minimum()),
        refutes(
            budget.id,
            PUBLISHED,
            counterexample_step(
                budget,
                PUBLISHED,
                {"e": "4", "L": "1", "C": "1", "b": "1"},
                {"three quarters": "e/(4*L) + C/b + C*exp(-b) <= 3*e/(4*L)"},
            ),
        ),
        refutes(
            budget.id,
            ARGUMENT,
            counterexample_step(budget, ARGUMENT, {"x": "1"}, {"three quarters": "x/4 + x/4 + x/4 <= 3*x/4"}),
        ),
        proves(
            budget.id,
            REPAIRED,
            statement_step(budget, REPAIRED, Means.SMT, {"strict": "p + q + r < x/2", "third": "p + q + r <= x/3"}),
        ),
    )


def _assembly(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    end = claims["T2.1-end"]
    steep = {"d": "1/4", "z": "0", "P": "-1/4", "y": "1/10", "Q": "7/20"}
    return (
        refutes(
            end.id,
            PUBLISHED,
            counterexample_step(end, PUBLISHED, steep, {"twice delta more": "abs(Q - P) <= abs(y - z) + 2*d"}),
        ),
        refutes(
            end.id,
            ARGUMENT,
            counterexample_step(end, PUBLISHED, steep, {"twice delta more": "abs(Q - P) <= abs(y - z) + 2*d"}),
        ),
        proves(
            end.id,
            REPAIRED,
            statement_step(
                end, REPAIRED, Means.SMT, {"without delta": "abs(P - G) <= L*m", "strict": "abs(P - G) < d + L*m"}
            ),
        ),
    )


def _gate_one() -> str:
    return "(a*exp(-b*a) + exp(-b)*c*exp(-b*c))/(exp(-b*a) + exp(-b)*exp(-b*c))"


def _triangle_with_minimum() -> Step:
    return step(
        "the minimum moves by at most delta",
        Means.SMT,
        ["abs(z - m) <= g", "abs(p - f) <= d", "abs(q - h) <= d", "m = min(p, q)"],
        "abs(z - min(f, h)) <= d + g",
        {"without delta": "abs(z - min(f, h)) <= g", "strict": "abs(z - min(f, h)) < d + g"},
    )
