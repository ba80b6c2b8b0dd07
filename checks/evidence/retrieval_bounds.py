"""Evidence for T2.1-13 to T2.1-18, the bounds on the retrieved value. In prose: docs/proofs/enough_heads.md."""

from __future__ import annotations

from collections.abc import Mapping

from checks.evidence.softmin import gibbs_term_step, leak_step, shift_step, sum_step
from checks.evidence.tools import (
    conditional_step,
    counterexample_step,
    exponential_steps,
    proves,
    refutes,
    statement_step,
    step,
)
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, ARGUMENT, REPAIRED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED
ON_S_ONE_OFF_S_ZERO = {"b": "10", "a": "1", "c": "0"}
"""T = 2, S = {1}, value 1 on S and 0 off S: gate -1 makes the two scores equal, so the average is 1/2 for every b."""
GATE_ONE = "(a*exp(-b*a) + exp(-b)*c*exp(-b*c))/(exp(-b*a) + exp(-b)*exp(-b*c))"
GATE_TWO = "(a*exp(-b*a) + exp(-2*b)*c*exp(-b*c))/(exp(-b*a) + exp(-2*b)*exp(-b*c))"


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for T2.1-13, -14, -gibbs, -leak, -15, -16, -17 and -18."""
    return (*_average(claims), *_refuted_bounds(claims), *_repaired_bounds(claims), *_budget(claims))


def _average(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    average, split, gibbs = (claims[f"T2.1-{name}"] for name in ("13", "14", "gibbs"))
    attained = step(
        "the supremum is attained at b = 1/beta, where y = beta b is 1",
        Means.SMT,
        ["b >= 1", "x = 1/b", "k > 0"],
        "max(abs(x*k - k/b), x - 1) <= 0",
        {"twice as much": "max(abs(x*k - 2*k/b), x - 1) <= 0", "below 1/2": "x <= 1/2"},
    )
    gap = step(
        "a denominator of at least 1 and at most n terms of k each, divided by beta",
        Means.SMT,
        ["b > 0", "q >= 1", "n >= 0", "k > 0", "p <= n*k"],
        "p/q/b <= n*k/b",
        {"halved": "p/q/b <= n*k/(2*b)", "without beta": "p/q/b <= n*k"},
    )
    return (
        proves(
            average.id,
            PUBLISHED,
            step(
                "one token: its first value coordinate is Psi",
                Means.SYMBOLIC,
                [],
                "w*(1*p + 0*r)/w = p",
                {"the gate": "w*(1*p + 0*r)/w = r", "both": "w*(1*p + 0*r)/w = p + r"},
            ),
            step(
                "one token more: from the mean N/Q to the mean (N + w p)/(Q + w)",
                Means.SYMBOLIC,
                [],
                "(Q*(N/Q) + w*(1*p + 0*r))/(Q + w) = (N + w*p)/(Q + w)",
                {
                    "old denominator": "(Q*(N/Q) + w*(1*p + 0*r))/(Q + w) = (N + w*p)/Q",
                    "no weight": "(Q*(N/Q) + w*(1*p + 0*r))/(Q + w) = (N + p)/(Q + w)",
                },
            ),
        ),
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
        proves(split.id, ARGUMENT, *_splitting(split)),
        proves(
            gibbs.id, PUBLISHED, shift_step(), *exponential_steps(), gibbs_term_step(), sum_step("|S|-1 terms"), gap
        ),
        proves(gibbs.id, ARGUMENT, *exponential_steps(), gibbs_term_step(), attained, sum_step("|S|-1 terms"), gap),
    )


def _splitting(split: Claim) -> tuple[Step, ...]:
    return (
        step(
            "the gate in the exponent: e^{-beta (a + 1)} = e^{-beta} e^{-beta a}",
            Means.SYMBOLIC,
            [],
            "(-b)*(a + 1) = (-b) + (-b)*a",
            {"gate 2": "(-b)*(a + 2) = (-b) + (-b)*a", "no gate": "(-b)*(a + 1) = (-b)*a"},
        ),
        step(
            "two parts",
            Means.SYMBOLIC,
            [],
            "(P + A)/(Q + B) = P/(Q + B) + A/(Q + B)",
            {"apart": "(P + A)/(Q + B) = P/Q + A/B", "the first": "(P + A)/(Q + B) = P/(Q + B)"},
        ),
        statement_step(
            split,
            ARGUMENT,
            Means.SMT,
            {"B is dropped from neither": "max(P/(Q + B) - P/Q, A/(Q + B) - A/Q) < 0", "half": "P/(Q + B) <= P/(2*Q)"},
        ),
    )


def _leak_argument(leak: Claim) -> Step:
    return conditional_step(
        "what the weights on S add up to",
        "the minimum over S is 0",
        counterexample_step(
            leak,
            ARGUMENT,
            {"b": "2", "a": "1", "c": "1/2"},
            {"repaired": "c*exp(-b*c)/exp(-b*a) <= exp(b)", "up to a half more": "c*exp(-b*c)/exp(-b*a) <= 3/2"},
        ),
        step(
            "one weight on S is e^0 = 1, the others are q >= 0; A <= n = |S^c| off S",
            Means.SMT,
            ["q >= 0", "A >= 0", "n >= 0", "A <= n"],
            "A/(1 + q) <= n",
            {"half": "A/(1 + q) <= n/2", "strict": "A/(1 + q) < n"},
        ),
    )


def _one_constant_argument(one_constant: Claim) -> Step:
    return statement_step(
        one_constant,
        ARGUMENT,
        Means.SMT,
        {"C_T = T/e": "n*k/b + T*E <= T*k*(1/b + E)", "half": "n*k/b + T*E <= C*(1/b + E)/2"},
    )


def _refuted_bounds(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    leak, two_sided, one_constant, distance = (claims[f"T2.1-{name}"] for name in ("leak", "15", "16", "17"))
    upper_half = {"upper half": f"a >= {GATE_ONE}", "up to 1/2": f"a <= {GATE_ONE} + 1/2"}
    equation_15 = counterexample_step(two_sided, PUBLISHED, ON_S_ONE_OFF_S_ZERO, upper_half)
    equation_16 = counterexample_step(
        one_constant,
        PUBLISHED,
        ON_S_ONE_OFF_S_ZERO,
        {"with gate 2, up to the leak": f"-exp(-b) <= {GATE_TWO} - a"},
    )
    return (
        refutes(
            leak.id,
            PUBLISHED,
            counterexample_step(
                leak,
                PUBLISHED,
                {"b": "1", "a": "1"},
                {"repaired": "exp(-b*a) >= exp(-b)", "a third": "exp(-b*a) >= 1/3"},
            ),
        ),
        proves(leak.id, ARGUMENT, _leak_argument(leak)),
        refutes(two_sided.id, PUBLISHED, equation_15),
        refutes(two_sided.id, ARGUMENT, equation_15),
        refutes(one_constant.id, PUBLISHED, equation_16),
        proves(one_constant.id, ARGUMENT, _one_constant_argument(one_constant), equation_15),
        proves(distance.id, ARGUMENT, _triangle_with_minimum(), _one_more_position(), equation_16),
        refutes(
            distance.id,
            PUBLISHED,
            counterexample_step(
                distance, PUBLISHED, ON_S_ONE_OFF_S_ZERO, {"with gate 2": f"abs({GATE_TWO} - a) <= 2*(1/b + exp(-b))"}
            ),
        ),
    )


def _repaired_bounds(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    return (
        proves(
            "T2.1-leak",
            REPAIRED,
            step(
                "one weight on S is at least e^{-beta}: its exponent is at least -beta",
                Means.SMT,
                ["b >= 0", "a >= 0", "a <= 1"],
                "b*a <= b",
                {"no range": "b*a <= b/2", "strict": "b*a < b"},
            ),
            leak_step(),
        ),
        proves(
            "T2.1-16",
            REPAIRED,
            _lambert_below_argument(),
            step(
                "W((|S|-1)/e) <= T and |S^c| <= T turn N2's bound into T (1/beta + e^{-beta})",
                Means.SMT,
                ["b > 0", "r > 0", "u <= z", "z <= T", "n <= T", "g <= u/b + n*r"],
                "g <= T*(1/b + r)",
                {"half": "g <= T*(1/b + r)/2", "no leak": "g <= T/b"},
            ),
        ),
        proves("T2.1-17", REPAIRED, _triangle_with_minimum(), _one_more_position()),
    )


def _budget(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    budget = claims["T2.1-18"]
    at_one = {"e": "1/2", "L": "1", "b": "16", "a": "1", "c": "0"}
    return (
        refutes(
            budget.id,
            PUBLISHED,
            counterexample_step(
                budget,
                PUBLISHED,
                at_one,
                {"gate 2": f"abs({GATE_TWO} - a) <= e/(2*L)", "twice the error": f"abs({GATE_ONE} - a) <= e/L"},
            ),
        ),
        refutes(
            budget.id,
            ARGUMENT,
            counterexample_step(
                budget,
                ARGUMENT,
                {"e": "1", "L": "1", "C": "1", "b": "4"},
                {
                    "three quarters": "e/(4*L) + C/b + C*exp(-b) <= 3*e/(4*L)",
                    "with the 1/e of eq 15": "e/(4*L) + C*exp(-1)/b + C*exp(-b) <= e/(2*L)",
                },
            ),
        ),
        proves(budget.id, REPAIRED, *_shares()),
    )


def _shares() -> tuple[Step, ...]:
    """delta + W/beta + |S^c| e^{-beta} at the printed parameters; s = eps/(L_0 D), k = 1/e, x = T/beta."""
    return (
        *exponential_steps(),
        gibbs_term_step(),
        _lambert_below_argument(),
        step(
            "T/beta <= s/4",
            Means.SMT,
            ["e > 0", "L > 0", "T >= 1", "b > 0", "b >= 4*T*L/e"],
            "T/b <= e/(4*L)",
            {"an eighth": "T/b <= e/(8*L)", "without L": "T/b <= e/4"},
        ),
        step(
            "W/beta <= k T/beta and, as beta e^{-beta} <= k, |S^c| e^{-beta} <= k T/beta",
            Means.SMT,
            ["b > 0", "k > 0", "T >= 1", "E > 0", "u <= z", "z <= k*T", "n <= T", "b*E <= k"],
            "max(u/b, n*E) <= k*(T/b)",
            {"half": "max(u/b, n*E) <= k*(T/b)/2", "linear in E": "max(u/b, n*E) <= E*(T/b)"},
        ),
        step(
            "the three shares: 1/4 + k/4 + k/4",
            Means.SMT,
            ["s > 0", "k > 0", "x <= s/4", "d <= s/4", "p <= k*x", "q <= k*x"],
            "d + p + q <= (1/4 + k/2)*s",
            {"only one exponential share": "d + p + q <= (1/4 + k/4)*s", "no delta": "d + p + q <= (k/2)*s"},
        ),
        step(
            "1/4 + 1/(2e) < 1/2",
            Means.BALL,
            [],
            "1/4 + exp(-1)/2 < 1/2",
            {"two fifths": "1/4 + exp(-1)/2 < 2/5", "with e^{-1/2}": "1/4 + exp(-1/2)/2 < 1/2"},
        ),
    )


def _lambert_below_argument() -> Step:
    return step(
        "W(z) <= z: from u E = z with E = e^u >= 1",
        Means.SMT,
        ["u >= 0", "E >= 1", "u*E = z"],
        "u <= z",
        {"half": "u <= z/2", "above": "u >= z"},
    )


def _triangle_with_minimum() -> Step:
    return step(
        "the minimum moves by at most delta, and the triangle inequality",
        Means.SMT,
        ["abs(z - m) <= g", "abs(p - f) <= d", "abs(q - h) <= d", "m = min(p, q)"],
        "abs(z - min(f, h)) <= d + g",
        {"without delta": "abs(z - min(f, h)) <= g", "strict": "abs(z - min(f, h)) < d + g"},
    )


def _one_more_position() -> Step:
    return step(
        "one position more in the minimum",
        Means.SMT,
        ["abs(m - n) <= d", "abs(p - f) <= d"],
        "abs(min(m, p) - min(n, f)) <= d",
        {"half": "abs(min(m, p) - min(n, f)) <= d/2"},
    )
