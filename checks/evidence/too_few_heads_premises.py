"""What the printed steps T2.2-26 to -46 rest on: premises that the paper does not establish, and links that fail.

Two premises are printed in another form than they are used: Q4 >= (Q1 + Q3)/T_0, which T2.2-Q4 has with Q2 for Q3, and
|V| <= 1, where A1 gives R = n sqrt(s) only (T2.2-V). The smallest T_0 at which they matter is 2: at T_0 = 1 there is
no position on which the subsequences agree, so Q3 = 0. The proofs in prose: docs/proofs/too_few_heads.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from checks.evidence.too_few_heads_algebra import average_step
from checks.evidence.tools import (
    conditional_step,
    counterexample_step,
    failing_step,
    proves,
    refutes,
    statement_step,
    step,
)
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, ARGUMENT = Form.PUBLISHED, Form.ARGUMENT
SHARE = "Q4 >= (Q1 + Q3)/T_0 (T2.2-Q4 is printed with Q2 for Q3)"
SMALL_VALUES = "|V| <= 1, which A1 gives for E = 1 only (T2.2-V)"
VALUES_BELOW_T0 = "|V| <= T_0: A1 gives n sqrt(s) (T2.2-V), which is below T_0 for k >= 0"
TERM4, TERM3 = "Q4*(Q1 - Q2)*d/((Q1 + Q4)*(Q2 + Q4))", "Q3*(Q1 - Q2)*d/((Q1 + Q3)*(Q2 + Q3))"
RATIO = "Q1 + Q3 <= (1 + e/(12*T^2))*(Q2 + Q3)"
WEIGHTS = ("Q1 >= Q2", "Q2 > 0", "Q3 >= 0", "T >= 1", "e >= 0", "e <= 1", "d >= 0")
FROM_A1 = ("R >= 0", "n >= 1", "s >= 1", "R^2 = n^2*s", "d <= 2*R")
THREE_CHANNELS = {"n": "3", "s": "1", "R": "3", "T": "2", "e": "1"}
"""R = n sqrt(s) > T_0 = 2 needs n = 3 if s = 1."""


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for the printed arguments of T2.2-V, -Q4, -26 to -46 and -end."""
    return (
        *_refuted(claims),
        _outside(claims["T2.2-26"]),
        *_inside(claims["T2.2-31"], claims["T2.2-32"]),
        _second_term(claims["T2.2-33"]),
        _near(claims["T2.2-36"]),
        _small(claims["T2.2-40"]),
        _count(claims["T2.2-end"]),
    )


def _refuted(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    values, share, inputs = claims["T2.2-V"], claims["T2.2-Q4"], claims["T2.2-46"]
    token = {"a": "1", "b": "1", "p": "3/5", "q": "4/5", "l": "1", "V": "7/5"}
    return (
        refutes(
            values.id,
            ARGUMENT,
            counterexample_step(values, ARGUMENT, token, {"sqrt 2": "V^2 <= 2", "averaging": "V = a*p + b*q"}),
        ),
        refutes(
            share.id,
            ARGUMENT,
            counterexample_step(
                share,
                ARGUMENT,
                {"K": "1", "Q1": "1", "Q2": "1", "Q4": "3/2"},
                {"half": "Q4 >= (Q1 + Q2)/2", "the larger": "Q4 >= max(Q1, Q2)"},
            ),
        ),
        refutes(
            inputs.id,
            ARGUMENT,
            counterexample_step(
                inputs,
                ARGUMENT,
                {"a": "1", "b": "1", "x": "1", "y": "1", "X": "2"},
                {"sqrt n": "(a*x + b*y)^2 <= 2*X", "one channel": "(a*x)^2 <= X"},
            ),
        ),
    )


def _outside(term: Claim) -> Evidence:
    """Q1 + Q3 = 49 and Q2 + Q3 = 48 meet (2a) at T_0 = 2, eps^{k+1} = 1, where kappa = 1/48."""
    proof = statement_step(term, PUBLISHED, Means.SMT, {"half": f"{TERM4} <= e/(12*T)"})
    right = {"the first link": f"{TERM4} <= (Q1 - Q2)*d/(Q1 + Q4)", "of size one": f"{TERM4} <= e"}
    return proves(
        term.id,
        ARGUMENT,
        step(
            "the first link: Q4/(Q2 + Q4) <= 1",
            Means.SMT,
            ["Q1 >= Q2", "Q2 > 0", "Q4 > 0", "d >= 0"],
            f"{TERM4} <= (Q1 - Q2)*d/(Q1 + Q4)",
            {"half": f"{TERM4} <= (Q1 - Q2)*d/(2*(Q1 + Q4))"},
        ),
        conditional_step(
            "the second link",
            f"{SHARE}; {SMALL_VALUES}",
            counterexample_step(
                term,
                ARGUMENT,
                {"Q1": "2", "Q2": "1", "Q3": "47", "Q4": "3/2", "T": "2", "e": "1", "d": "2"},
                right,
            ),
            proof,
        ),
        conditional_step(
            "the third link",
            SMALL_VALUES,
            failing_step(
                "the bound on values that A1 gives, n = 2 and s = 1",
                term,
                ARGUMENT,
                [*WEIGHTS, "Q4 > 0", *FROM_A1, "Q1 + Q3 <= T*Q4", RATIO],
                f"{TERM4} <= e/(6*T)",
                {"Q1": "11/10", "Q2": "1/10", "Q3": "479/10", "Q4": "49/2", "T": "2", "e": "1", "d": "4"}
                | {"R": "2", "n": "2", "s": "1"},
                {"R times": f"{TERM4} <= R*e/(6*T)", "of size one": f"{TERM4} <= e"},
            ),
            proof,
        ),
    )


def _inside(first: Claim, second: Claim) -> tuple[Evidence, ...]:
    """Eq 31 with |V| <= T_0, and eq 32 from it, condition (1) and the identity."""
    first_term = step(
        "with |V| <= T_0",
        Means.SMT,
        [*WEIGHTS, "d <= 2*T", RATIO],
        f"{TERM3} <= e/(6*T)",
        {"half": f"{TERM3} <= e/(12*T)", "squared": f"{TERM3} <= e/(6*T^2)"},
    )
    fails = counterexample_step(
        first,
        ARGUMENT,
        {"Q1": "2", "Q2": "1", "Q3": "47", "d": "6", **THREE_CHANNELS},
        {"R/T_0 times": f"{TERM3} <= R*e/(6*T^2)", "half as much for d = 2": f"{TERM3} <= d/2*e/(6*T)"},
    )
    size = "abs(Q1*(V1 - V2)/(Q1 + Q3))"
    fails_too = counterexample_step(
        second,
        ARGUMENT,
        {"Q1": "11", "Q2": "10", "Q3": "38", "V1": "-37/20", "V2": "-3", "V3": "3", **THREE_CHANNELS},
        {"for R": f"{size} <= (R + 2)*e/(6*T)", "twice": f"{size} <= e/T"},
    )
    sums = statement_step(second, PUBLISHED, Means.SMT, {"only (1)": "x <= e/(3*T)", "strict": "x < e/(2*T)"})
    return (
        proves(first.id, ARGUMENT, _below_t0(), conditional_step("the values", VALUES_BELOW_T0, fails, first_term)),
        proves(
            second.id,
            ARGUMENT,
            _below_t0(),
            first_term,
            conditional_step("the sum of (1) and eq 31", VALUES_BELOW_T0, fails_too, sums),
        ),
    )


def _below_t0() -> Step:
    return step(
        "k >= 0: n sqrt(s) < T_0 = (k + 1)((n + 1) s + 1), with q = sqrt(s)",
        Means.SMT,
        ["n >= 1", "s >= 1", "k >= 0", "q >= 0", "q^2 = s", "T = (k + 1)*((n + 1)*s + 1)"],
        "n*q < T",
        {"twice": "2*n*q < T", "with n^2": "n^2*q < T"},
    )


def _second_term(term: Claim) -> Evidence:
    size = "Q1*w/(Q1 + Q4)"
    return proves(
        term.id,
        ARGUMENT,
        conditional_step(
            "the first link: Q1 + Q3 <= T_0 (Q1 + Q4)",
            SHARE,
            counterexample_step(
                term,
                ARGUMENT,
                {"Q1": "1", "Q2": "1", "Q3": "7", "Q4": "1", "T": "2", "w": "2", "e": "1"},
                {"twice": f"{size} <= e", "the ratio": f"{size} <= e/(2*T)*(Q1 + Q3)/(Q1 + Q4)"},
            ),
            statement_step(term, PUBLISHED, Means.SMT, {"half": f"{size} <= e/4", "with T_0": f"{size} <= e/(2*T)"}),
        ),
    )


def _near(outputs: Claim) -> Evidence:
    """With Q4's share and |V| <= R: R e/(6 T_0) and T_0 (R e/(6 T_0^2) + e/(3 T_0)), at most e for R <= 2 T_0."""
    found = "abs((Q1*V1 + Q4*V4)/(Q1 + Q4) - (Q2*V2 + Q4*V4)/(Q2 + Q4))"
    terms = ["T >= 1", "e >= 0", "R >= 0", "R <= 2*T", "a <= R*e/(6*T)", "b <= T*(R*e/(6*T^2) + e/(3*T))"]
    return proves(
        outputs.id,
        ARGUMENT,
        _below_t0(),
        step(
            "the first term with Q4, |V| <= R",
            Means.SMT,
            [*WEIGHTS, "Q4 > 0", "R >= 0", "d <= 2*R", "Q1 + Q3 <= T*Q4", RATIO],
            f"{TERM4} <= R*e/(6*T)",
            {"half": f"{TERM4} <= R*e/(12*T)", "R = 1": f"{TERM4} <= e/(6*T)"},
        ),
        step(
            "the second term: T_0 times the one with Q3, by (1) and the identity a - b with |b| <= R e/(6 T_0^2)",
            Means.SMT,
            ["Q1 > 0", "Q3 >= 0", "Q4 > 0", "T >= 1", "w >= 0", "Q1 + Q3 <= T*Q4", "Q1*w/(Q1 + Q3) <= x"],
            "Q1*w/(Q1 + Q4) <= T*x",
            {"half": "Q1*w/(Q1 + Q4) <= T*x/2", "without T_0": "Q1*w/(Q1 + Q4) <= x"},
        ),
        conditional_step(
            "the sum of both terms",
            f"{SHARE}; |V| <= 2 T_0, which A1 gives for k >= 0",
            counterexample_step(
                outputs,
                ARGUMENT,
                {"Q1": "1", "Q2": "1", "Q3": "59", "Q4": "1", "T": "2", "e": "1/10"}
                | {"V1": "1", "V2": "0", "V3": "0", "V4": "0"},
                {"five times": f"{found} <= 5*e", "if Q4 had its share": f"min({found} - e, Q4 - (Q1 + Q3)/T) <= 0"},
            ),
            step(
                "R e/(6 T_0) + R e/(6 T_0) + e/3 <= e",
                Means.SMT,
                [*terms, "x <= a + b"],
                "x <= e",
                {"half": "x <= e/2", "R = 1": "x <= 2*e/3"},
            ),
        ),
    )


def _small(outputs: Claim) -> Evidence:
    both = "Q4*abs(Q2 - Q1)*d/((Q1 + Q4)*(Q2 + Q4)) + Q1*w/(Q1 + Q4)"
    return proves(
        outputs.id,
        ARGUMENT,
        conditional_step(
            "the values",
            SMALL_VALUES,
            counterexample_step(
                outputs,
                ARGUMENT,
                {"Q1": "1", "Q2": "1/10", "Q3": "0", "Q4": "4", "e": "1", "d": "4", "w": "4"}
                | {"R": "2", "n": "2", "s": "1"},
                {"R times": f"{both} <= R*e", "a quarter for each": f"{both} <= e/4*d + e/4*w"},
            ),
            statement_step(outputs, PUBLISHED, Means.SMT, {"a quarter": f"{both} <= e/4", "squared": f"{both} <= e^2"}),
        ),
        average_step(),
    )


def _count(end: Claim) -> Evidence:
    return proves(
        end.id,
        ARGUMENT,
        statement_step(end, ARGUMENT, Means.SMT, {"one more": "u >= (k + 1)*l - c", "without c": "u >= k*l"}),
    )
