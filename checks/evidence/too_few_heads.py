"""Evidence for T2.2 itself and its lemmas L4-L7 with the set-up.

The steps of the proof: `too_few_heads_positions`, `_counting`, `_algebra`, `_premises`; R2: `_remarks`. Bounds up to a
constant are decided in exponent space: l = log(1/eps), u = log M. The proofs in prose: docs/proofs/too_few_heads.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

from checks.evidence.too_few_heads_algebra import row_step
from checks.evidence.tools import (
    conditional_step,
    counterexample_step,
    exhaustive_step,
    proves,
    refutes,
    statement_step,
    step,
)
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for L4-L7, T2.2-not and T2.2."""
    return (
        *_readout(claims["L4"]),
        *_basins(claims),
        *_constants(claims["T2.2-not"]),
        *_theorem(claims["T2.2"]),
    )


def _readout(capacity: Claim) -> tuple[Evidence, ...]:
    unit = step(
        "p units move the output by at most p m: weights and slopes of at most 1, one unit more",
        Means.SMT,
        ["p >= 0", "m >= 0", "abs(s) <= p*m", "abs(v) <= 1", "abs(a) <= m"],
        "abs(s + v*a) <= (p + 1)*m",
        {"no growth": "abs(s + v*a) <= p*m", "strict": "abs(s + v*a) < (p + 1)*m"},
    )
    count = statement_step(capacity, PUBLISHED, Means.SMT, {"without sqrt n": "p >= B/A", "twice": "p >= 2*B/(A*q)"})
    cauchy = statement_step(
        capacity,
        ARGUMENT,
        Means.SMT,
        {"no growth": "(s + w*d)^2 <= n*(D + d^2)", "without d": "(s + w*d)^2 <= (n + 1)*D"},
    )
    return (
        proves(capacity.id, PUBLISHED, row_step(), unit, count),
        proves(capacity.id, ARGUMENT, cauchy, unit),
    )


def _basins(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    segment, outer, margin = claims["L5"], claims["L6"], claims["L7"]
    parabola = step(
        "lambda x^2/2: a segment of length r/4 inside (-r, r) has a point with |x|, so slope/lambda, below (3/4) r",
        Means.SMT,
        ["m > 0", "r > 0", "a > -r", "b < r", "b - a = r/4"],
        "min(abs(a), abs(b)) < 3/4*r",
        {"half": "min(abs(a), abs(b)) < r/2", "two thirds": "min(abs(a), abs(b)) <= 2/3*r"},
    )
    linear = statement_step(
        outer,
        PUBLISHED,
        Means.SMT,
        {"the whole derivative": "abs(y) >= abs(g)*abs(x)", "from above": "abs(y) <= abs(g)/2*abs(x)"},
    )
    disjoint = statement_step(margin, PUBLISHED, Means.SMT, {"the whole distance": "q >= D", "twice": "q >= 2*R"})
    compact = statement_step(
        margin, ARGUMENT, Means.SMT, {"all of it": "f - z - 2*h > 0", "twice": "min(f - z - h, h) > h"}
    )
    common = step(
        "one margin for two basins, and so for all D",
        Means.SMT,
        ["p > 0", "q > 0", "h = min(p, q)", "f > z + p", "g > y + q"],
        "min(min(f - z, g - y) - h, h) > 0",
        {"the larger": "min(f - z, g - y) > max(p, q)", "the sum": "f - z > p + q"},
    )
    return (
        proves(
            segment.id,
            PUBLISHED,
            statement_step(segment, PUBLISHED, Means.SMT, {"a quarter": "g >= m*r/4", "strict": "g > m*r/8"}),
            *_segment(segment),
        ),
        proves(segment.id, ARGUMENT, *_segment(segment)),
        proves(
            segment.id,
            SHARPENED,
            statement_step(segment, SHARPENED, Means.SMT, {"u = 1": "g >= 3/4*m*r", "all of r": "g >= u^2*m*r"}),
            parabola,
            *_start(),
            step(
                "with second derivatives at least u m: f(x + a v) - f(x + b v) from the derivative at c in [b, a]",
                Means.SMT,
                [
                    *("m > 0", "r > 0", "u > 1/4", "u < 1", "p >= 0", "w >= u*m", "b >= (u - 1/4)*r", "c >= b"),
                    *("a >= c", "a <= u*r", "y = (p + w*c)*(a - b)"),
                ],
                "y >= u*(u - 1/4)*m*r*(a - b)",
                {"three quarters": "y >= 3/4*m*r*(a - b)", "all of r": "y >= u^2*m*r*(a - b)"},
            ),
        ),
        proves(
            outer.id,
            PUBLISHED,
            linear,
        ),
        proves(
            outer.id,
            ARGUMENT,
            conditional_step(
                "the domain of F_0",
                "0 < z_i < 1 (else only the delta with z + delta e_i in [0,1]^D make sense)",
                counterexample_step(
                    outer,
                    ARGUMENT,
                    {"z": "0", "r": "1", "d": "-1/2"},
                    {"the other sign": "min(z - d, 1 - z + d) >= 0", "not far outside": "z + d >= -r"},
                ),
                step(
                    "inside for r_0 = min{z, 1 - z}",
                    Means.SMT,
                    ["z > 0", "z < 1", "r = min(z, 1 - z)", "abs(d) < r"],
                    "min(z + d, 1 - z - d) > 0",
                    {"half": "min(z + d, 1 - z - d) > r/2", "z": "z + d >= z"},
                ),
            ),
            linear,
        ),
        proves(
            outer.id,
            SHARPENED,
            statement_step(
                outer,
                SHARPENED,
                Means.SMT,
                {"the whole derivative": "abs(a - b) >= abs(g)*abs(x - y)", "twice": "abs(a - b) >= 2*l*abs(x - y)"},
            ),
        ),
        proves(margin.id, PUBLISHED, disjoint, compact, common),
        proves(margin.id, ARGUMENT, disjoint, compact, common),
    )


def _segment(lemma: Claim) -> tuple[Step, ...]:
    """The printed segment. The mean value theorem and the continuity of the Hessian enter as hypotheses."""
    return (
        *_start(),
        statement_step(lemma, ARGUMENT, Means.SMT, {"a quarter": "y >= m*r/4*(a - b)", "strict": "y > m*r/8*(a - b)"}),
        step(
            "f > z on the segment: the same from the minimiser to the distance t, with the derivative at c in (0, t)",
            Means.SMT,
            ["m > 0", "p >= 0", "w >= m/2", "c > 0", "t > 0", "y = (p + w*c)*t"],
            "y > 0",
            {"by m": "y > m", "linear": "y >= m*t"},
        ),
    )


def _start() -> tuple[Step, ...]:
    """At a minimiser of f on the cube, along a unit vector towards the centre of the cube."""
    return (
        step(
            "the derivative p at a minimiser is at least 0 into the cube: f(x + h v) - f(x) = y within n h of p h",
            Means.SMT,
            ["h > 0", "n > 0", "y >= 0", "abs(y - p*h) <= n*h"],
            "p >= -n",
            {"positive": "p > 0", "half": "p >= -n/2"},
        ),
        step(
            "the segment towards the centre stays in the cube: one coordinate",
            Means.SMT,
            ["x >= 0", "x <= 1", "u >= 0", "u <= 1"],
            "min(x + u*(1/2 - x), 1 - x - u*(1/2 - x)) >= 0",
            {"away from it": "x - u*(1/2 - x) >= 0", "in half the cube": "x + u*(1/2 - x) <= 1/2"},
        ),
    )


def _constants(common: Claim) -> tuple[Evidence, ...]:
    return (
        refutes(
            common.id,
            PUBLISHED,
            counterexample_step(
                common, PUBLISHED, {"y": "0", "x": "1"}, {"reversed": "x^2 - y^2 > 0", "at most": "y^2 - x^2 <= 0"}
            ),
        ),
        refutes(
            common.id,
            ARGUMENT,
            counterexample_step(
                common,
                ARGUMENT,
                {"m": "1", "x": "1", "y": "0", "z": "0"},
                {"reversed": "x - y > m/2", "from below": "y - x > -2*m"},
            ),
        ),
        proves(
            common.id,
            REPAIRED,
            statement_step(common, REPAIRED, Means.SMT, {"as printed": "y - x > m/2", "twice": "x - y > m"}),
            step(
                "one length and one constant for all basins: a part of a segment keeps its slope, a smaller L is fine",
                Means.SMT,
                ["a >= l*d", "l >= L", "d > 0", "L > 0"],
                "a > L*d/2",
                {"twice": "a > 2*L*d", "strict": "a > L*d"},
            ),
        ),
    )


def _theorem(theorem: Claim) -> tuple[Evidence, ...]:
    chain = {"q": "1", "V1": "1", "V2": "0", "V3": "0", "V4": "0", "Q3": "59", "Q4": "1", "e": "1/10"}
    outputs = "abs((q*V1 + Q4*V4)/(q + Q4) - (q*V2 + Q4*V4)/(q + Q4))"
    return (
        proves(theorem.id, PUBLISHED, *from_n4(), *_trivial_exponents()),
        refutes(
            theorem.id,
            ARGUMENT,
            counterexample_step(
                theorem,
                ARGUMENT,
                chain,
                {
                    "times the ratio of the denominators": f"{outputs} <= e/6*(q + Q3)/(q + Q4)",
                    "if Q4 had its share": f"min({outputs} - e, Q4 - (q + Q3)/2) <= 0",
                },
            ),
        ),
        proves(
            theorem.id,
            REPAIRED,
            step(
                "heads: max{(R + 1)/3, R} <= R + 1 times e, R = sqrt(n E) >= 1",
                Means.SMT,
                ["R >= 1", "e >= 0", "x <= max((R + 1)*e/3, R*e)"],
                "x <= (R + 1)*e",
                {"as printed": "x <= e", "without case (2b)": "x <= (R + 1)*e/3"},
            ),
            step(
                "so the inputs of F are C eps^{k+1} apart with C = (R + 1) n s^{3/2}, and T2.2-end gives c/eps^k",
                Means.SMT,
                ["C > 0", "e > 0", "p > 0", "q >= 1", "d <= C*(e*p)", "d > 0", "M*d*q >= e", "M >= 0"],
                "M >= 1/(C*q)*(1/p)",
                {"without C": "M >= 1/q*(1/p)", "p squared": "M >= 1/(C*q)*(1/p^2)"},
            ),
        ),
    )


def _grid_steps() -> tuple[Step, ...]:
    """N4 with tau = T_0 and eps <= rho/(6 T_0): u >= -l + (T_0/q)(l + log(rho/(3 T_0))) - log(6 E^{3/2} T_0)."""
    return (
        step(
            "the factors (G - j)/(T_0 - j) of C(G, T_0) are at least G/T_0",
            Means.SMT,
            ["j >= 0", "T > j", "G >= T"],
            "(G - j)/(T - j) >= G/T",
            {"one more": "(G - j)/(T - j) >= (G + 1)/T", "upside down": "(G - j)/(T - j) <= G/T"},
        ),
        exhaustive_step(
            "C(G, T_0) >= (G/T_0)^T_0",
            lambda: ((grid, tau) for grid in range(1, 40) for tau in range(1, grid + 1)),
            lambda case: comb(*case) * case[1] ** case[1] >= case[0] ** case[1],
            {"twice": lambda case: comb(*case) * case[1] ** case[1] >= 2 * case[0] ** case[1]},
        ),
        step(
            "G > rho/(3 eps) >= 2 T_0, so tau = T_0 <= G is allowed and G/T_0 >= 2",
            Means.SMT,
            ["e > 0", "r > 0", "T >= 1", "e <= r/(6*T)", "G > r/(3*e)"],
            "G/T > 2",
            {"three": "G/T > 3", "four": "G/T >= 4"},
        ),
        step(
            "g = ceil(Y) - 1 with Y = C^{1/q} > 1 is at least 1 and at least Y - 1, so at least Y/2",
            Means.SMT,
            ["Y > 1", "g >= 1", "g >= Y - 1"],
            "g >= Y/2",
            {"Y": "g >= Y", "three quarters": "g >= 3*Y/4"},
        ),
    )


def from_n4() -> tuple[Step, ...]:
    """The exponent of N4 is at least the printed one; C collects what does not depend on eps."""
    return (
        *_grid_steps(),
        step(
            "N4's T_0 = ceil(T/4) - s - D + 1 is at least the printed F = T/4 - s - D + 1, and q >= 2: exponents",
            Means.SMT,
            ["l >= 0", "q >= 2", "F > 0", "T >= F", "k = F/(q + 1) - 1", "u >= T/q*l - l - C"],
            "u >= k*l - C",
            {"without C": "u >= k*l", "one more": "u >= (k + 1)*l - C"},
        ),
    )


def _trivial_exponents() -> tuple[Step, ...]:
    return (
        step(
            "F <= 0: k <= -1, so eps^-k <= 1 for eps <= 1",
            Means.SMT,
            ["l >= 0", "q >= 2", "F <= 0", "k = F/(q + 1) - 1"],
            "k*l <= 0",
            {"from below": "k*l >= 0", "strict": "k*l < 0"},
        ),
        step(
            "and M >= 1: a read-out without parameters is constant, and targets 3 eps apart are not eps-approximated",
            Means.SMT,
            ["e > 0", "abs(c - h) < e", "abs(c - g) < e"],
            "abs(h - g) < 3*e",
            {"eps": "abs(h - g) < e", "three halves": "abs(h - g) < 3/2*e"},
        ),
    )
