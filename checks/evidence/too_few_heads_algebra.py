"""Evidence for the algebra at the end of T2.2: what equal cells mean for the outputs (T2.2-V to T2.2-end).

Differences of vectors enter through their norms (d, w, a, b, x below): every term is a number times such a difference,
so the triangle inequality is all that is used of a norm. The proofs in prose: docs/proofs/too_few_heads.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from checks.evidence.softmin import sum_step
from checks.evidence.tools import (
    counterexample_step,
    proves,
    refutes,
    statement_step,
    step,
)
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, REPAIRED, SHARPENED = Form.PUBLISHED, Form.REPAIRED, Form.SHARPENED


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for T2.2-V, -24, -Q4, -26 to -46 and -end."""
    return (
        *_values(claims),
        *_shares(claims),
        *_first_terms(claims),
        *_second_terms(claims),
        *_heads(claims),
        *_readout(claims),
    )


def row_step() -> Step:
    """Cauchy-Schwarz with entries of at most 1, by induction: one coordinate more."""
    return step(
        "(sum w d)^2 <= n sum d^2 for |w| <= 1, one coordinate more",
        Means.SMT,
        ["n >= 0", "D >= 0", "s^2 <= n*D", "abs(w) <= 1"],
        "(s + w*d)^2 <= (n + 1)*(D + d^2)",
        {"no growth": "(s + w*d)^2 <= n*(D + d^2)", "without d": "(s + w*d)^2 <= (n + 1)*D"},
    )


def average_step() -> Step:
    """A weighted average of numbers in [-R, R] is one, by induction: one position more."""
    return step(
        "a weighted average stays in the ball: sum of w v so far at most R q, one position more",
        Means.SMT,
        ["R >= 0", "q >= 0", "abs(s) <= R*q", "w > 0", "abs(v) <= R"],
        "abs((s + w*v)/(q + w)) <= R",
        {"half": "abs((s + w*v)/(q + w)) <= R/2", "strict": "abs((s + w*v)/(q + w)) < R"},
    )


def _values(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    values, identity = claims["T2.2-V"], claims["T2.2-24"]
    norm = step(
        "n coordinates of at most sqrt(E): |v|^2 <= n E = n^2 s as E = n s, one coordinate more",
        Means.SMT,
        ["n >= 0", "E >= 0", "s <= n*E", "c^2 <= E"],
        "s + c^2 <= (n + 1)*E",
        {"no growth": "s + c^2 <= n*E", "one": "s + c^2 <= n + 1"},
    )
    return (
        refutes(
            values.id,
            PUBLISHED,
            counterexample_step(
                values,
                PUBLISHED,
                {"a": "1", "b": "1", "p": "3/5", "q": "4/5"},
                {"sqrt 2": "(a*p + b*q)^2 <= 2", "a single weight": "abs(a*p) <= 1"},
            ),
        ),
        proves(
            values.id,
            REPAIRED,
            row_step(),
            statement_step(values, REPAIRED, Means.SMT, {"half": "abs(c) <= m/2", "one": "abs(c) <= 1"}),
            norm,
            average_step(),
        ),
        proves(
            values.id,
            SHARPENED,
            statement_step(values, SHARPENED, Means.SMT, {"smaller": "y < n*E", "one": "y = 1"}),
        ),
        proves(
            identity.id,
            PUBLISHED,
            statement_step(
                identity,
                PUBLISHED,
                Means.SYMBOLIC,
                {
                    "other sign": "(Q1*V1 + Q3*V3)/(Q1 + Q3) - (Q2*V2 + Q3*V3)/(Q2 + Q3)"
                    " = Q3*(Q1 - Q2)*(V3 - V2)/((Q1 + Q3)*(Q2 + Q3)) + Q1*(V1 - V2)/(Q1 + Q3)",
                    "V1 for V2": "(Q1*V1 + Q3*V3)/(Q1 + Q3) - (Q2*V2 + Q3*V3)/(Q2 + Q3)"
                    " = Q3*(Q2 - Q1)*(V3 - V1)/((Q1 + Q3)*(Q2 + Q3)) + Q1*(V1 - V2)/(Q1 + Q3)",
                },
            ),
        ),
    )


def _shares(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    share = claims["T2.2-Q4"]
    equal = {"K": "1", "T": "1", "Q1": "1", "Q2": "1", "Q4": "3/2"}
    return (
        refutes(
            share.id,
            PUBLISHED,
            counterexample_step(
                share, PUBLISHED, equal, {"half": "Q4 >= (Q1 + Q2)/(2*T)", "the larger": "Q4 >= max(Q1, Q2)/T"}
            ),
        ),
        proves(
            share.id,
            REPAIRED,
            sum_step("the weights of a subsequence, each at most K"),
            statement_step(share, REPAIRED, Means.SMT, {"as printed": "Q4 >= (Q1 + Q2)/T", "no T_0": "Q4 >= Q1"}),
        ),
        proves(
            share.id,
            SHARPENED,
            sum_step("the weights on I_1 and on I_2, each at most K"),
            statement_step(
                share,
                SHARPENED,
                Means.SMT,
                {"all three": "Q4 >= (Q1 + Q2 + Q3)/T", "twice": "Q4 >= 2*(max(Q1, Q2) + Q3)/T"},
            ),
        ),
    )


def _first_terms(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    outside, inside = claims["T2.2-26"], claims["T2.2-31"]
    term4, term3 = "Q4*(Q1 - Q2)*d/((Q1 + Q4)*(Q2 + Q4))", "Q3*(Q1 - Q2)*d/((Q1 + Q3)*(Q2 + Q3))"
    term4abs, term3abs = term4.replace("(Q1 - Q2)", "abs(Q2 - Q1)"), term3.replace("(Q1 - Q2)", "abs(Q2 - Q1)")
    weights = ["Q1 >= Q2", "Q2 > 0", "Q3 >= 0", "Q4 > 0", "T >= 1", "d >= 0"]
    return (
        proves(
            outside.id,
            PUBLISHED,
            step(
                "the first link: Q4/(Q2 + Q4) <= 1",
                Means.SMT,
                weights,
                f"{term4} <= (Q1 - Q2)*d/(Q1 + Q4)",
                {"half": f"{term4} <= (Q1 - Q2)*d/(2*(Q1 + Q4))"},
            ),
            step(
                "the second link: Q1 + Q3 <= T_0 Q4",
                Means.SMT,
                [*weights, "Q1 + Q3 <= T*Q4"],
                "(Q1 - Q2)*d/(Q1 + Q4) <= T*((Q1 - Q2)*d/(Q1 + Q3))",
                {"without T_0": "(Q1 - Q2)*d/(Q1 + Q4) <= (Q1 - Q2)*d/(Q1 + Q3)"},
            ),
            step(
                "the third link: Q1 - Q2 <= kappa (Q1 + Q3), |V4 - V2| <= 2",
                Means.SMT,
                [*weights, "e >= 0", "d <= 2", "Q1 + Q3 <= (1 + e/(12*T^2))*(Q2 + Q3)"],
                "T*((Q1 - Q2)*d/(Q1 + Q3)) <= e/(6*T)",
                {"half": "T*((Q1 - Q2)*d/(Q1 + Q3)) <= e/(12*T)", "squared": "T*((Q1 - Q2)*d/(Q1 + Q3)) <= e/(6*T^2)"},
            ),
            statement_step(outside, PUBLISHED, Means.SMT, {"half": f"{term4} <= e/(12*T)"}),
        ),
        proves(
            outside.id,
            REPAIRED,
            statement_step(
                outside, REPAIRED, Means.SMT, {"half": f"{term4abs} <= R*k*T", "R = 1": f"{term4abs} <= 2*k*T"}
            ),
        ),
        proves(
            inside.id,
            PUBLISHED,
            statement_step(
                inside, PUBLISHED, Means.SMT, {"half": f"{term3} <= e/(24*T)", "squared": f"{term3} <= e^2/(6*T)"}
            ),
        ),
        proves(
            inside.id,
            REPAIRED,
            statement_step(
                inside, REPAIRED, Means.SMT, {"a quarter": f"{term3abs} <= R*k/2", "R = 1": f"{term3abs} <= 2*k"}
            ),
        ),
    )


def _second_terms(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    inside, outside = claims["T2.2-32"], claims["T2.2-33"]
    return (
        proves(
            inside.id,
            PUBLISHED,
            statement_step(inside, PUBLISHED, Means.SMT, {"only (1)": "x <= e/(3*T)", "strict": "x < e/(2*T)"}),
        ),
        proves(
            inside.id,
            REPAIRED,
            statement_step(
                inside, REPAIRED, Means.SMT, {"as printed": "x <= e/(2*T)", "without (1)": "x <= R*e/(6*T)"}
            ),
        ),
        proves(
            outside.id,
            PUBLISHED,
            step(
                "the first link: Q1 + Q3 <= T_0 Q4",
                Means.SMT,
                ["Q1 > 0", "Q3 >= 0", "Q4 > 0", "T >= 1", "w >= 0", "Q1 + Q3 <= T*Q4"],
                "Q1*w/(Q1 + Q4) <= T*(Q1*w/(Q1 + Q3))",
                {"without T_0": "Q1*w/(Q1 + Q4) <= Q1*w/(Q1 + Q3)"},
            ),
            statement_step(
                outside,
                PUBLISHED,
                Means.SMT,
                {"half": "Q1*w/(Q1 + Q4) <= e/4", "with T_0": "Q1*w/(Q1 + Q4) <= e/(2*T)"},
            ),
        ),
        proves(
            outside.id,
            REPAIRED,
            statement_step(
                outside,
                REPAIRED,
                Means.SMT,
                {"as printed": "Q1*w/(Q1 + Q4) <= e/2", "half": "Q1*w/(Q1 + Q4) <= (R + 2)*e/12"},
            ),
        ),
    )


def _heads(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    near, small = claims["T2.2-36"], claims["T2.2-40"]
    both = "Q4*abs(Q2 - Q1)*d/((Q1 + Q4)*(Q2 + Q4)) + Q1*w/(Q1 + Q4)"
    return (
        proves(
            near.id,
            PUBLISHED,
            statement_step(near, PUBLISHED, Means.SMT, {"half": "x <= e/2", "three fifths": "x <= 3*e/5"}),
        ),
        proves(
            near.id,
            REPAIRED,
            statement_step(near, REPAIRED, Means.SMT, {"as printed": "x <= e", "half": "x <= (R + 1)*e/6"}),
        ),
        proves(
            near.id,
            SHARPENED,
            statement_step(near, SHARPENED, Means.SMT, {"half": "x <= e/2", "three fifths": "x <= 3*e/5"}),
        ),
        proves(
            small.id,
            PUBLISHED,
            statement_step(small, PUBLISHED, Means.SMT, {"a quarter": f"{both} <= e/4", "squared": f"{both} <= e^2"}),
        ),
        proves(
            small.id,
            REPAIRED,
            statement_step(
                small, REPAIRED, Means.SMT, {"an eighth": f"{both} <= R*e/8", "a quarter": f"{both} <= R*e/4"}
            ),
        ),
        proves(
            small.id,
            SHARPENED,
            step(
                "shares: Q1 <= Q1 + Q3 <= (e/4) Q4 gives Q1/(Q1 + Q4) <= e/4",
                Means.SMT,
                ["Q1 > 0", "Q3 >= 0", "Q4 > 0", "e >= 0", "Q1 + Q3 <= e/4*Q4"],
                "Q1/(Q1 + Q4) <= e/4",
                {"an eighth": "Q1/(Q1 + Q4) <= e/8", "squared": "Q1/(Q1 + Q4) <= e^2/4"},
            ),
            step(
                "the outputs differ by a V1 - b V2 + (b - a) V4, a = Q1/(Q1 + Q4) and b = Q2/(Q2 + Q4)",
                Means.SYMBOLIC,
                [],
                "(Q1*V1 + Q4*V4)/(Q1 + Q4) - (Q2*V2 + Q4*V4)/(Q2 + Q4)"
                " = Q1/(Q1 + Q4)*V1 - Q2/(Q2 + Q4)*V2 + (Q2/(Q2 + Q4) - Q1/(Q1 + Q4))*V4",
                {
                    "other sign": "(Q1*V1 + Q4*V4)/(Q1 + Q4) - (Q2*V2 + Q4*V4)/(Q2 + Q4)"
                    " = Q1/(Q1 + Q4)*V1 - Q2/(Q2 + Q4)*V2 + (Q1/(Q1 + Q4) - Q2/(Q2 + Q4))*V4"
                },
            ),
            statement_step(small, SHARPENED, Means.SMT, {"a quarter": "x <= R*e/4", "a third": "x <= R*e/3"}),
        ),
    )


def _readout(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    inputs, end = claims["T2.2-46"], claims["T2.2-end"]
    norm = step(
        "Euclidean: E = n s inputs of at most s q e each, q^2 = n: at most n^2 s^3 e^2 = (n s^{3/2} e)^2",
        Means.SMT,
        ["n >= 1", "s >= 1", "e >= 0", "q >= 0", "q^2 = n", "X <= (n*s)*(s*q*e)^2"],
        "X <= n^2*s^3*e^2",
        {"as printed": "X <= s^2*e^2", "without sqrt E": "X <= s^2*n*e^2"},
    )
    return (
        refutes(
            inputs.id,
            PUBLISHED,
            counterexample_step(
                inputs,
                PUBLISHED,
                {"e": "1", "x": "3/5", "y": "4/5", "a": "1", "b": "1"},
                {"sqrt 2": "(a*x + b*y)^2 <= 2*e^2", "one channel": "abs(a*x) <= e"},
            ),
        ),
        proves(
            inputs.id,
            REPAIRED,
            row_step(),
            statement_step(inputs, REPAIRED, Means.SMT, {"without sqrt n": "abs(c) <= e", "half": "abs(c) <= q*e/2"}),
            sum_step("s heads, each at most sqrt n eps^{k+1}"),
            norm,
        ),
        proves(
            end.id,
            PUBLISHED,
            statement_step(
                end,
                PUBLISHED,
                Means.SMT,
                {"without C": "M >= 1/q*(1/p)", "a power more": "M >= 1/(C*q)*(1/p^2)"},
            ),
        ),
    )
