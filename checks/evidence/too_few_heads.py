"""Evidence for T2.2 itself, its lemmas L4-L7 with the set-up, and the remarks R2 and R2.t.

The steps of the proof: `too_few_heads_positions`, `too_few_heads_counting`, `too_few_heads_algebra`. Bounds up to a
constant are decided in exponent space: l = log(1/eps), u = log M. The proofs in prose: docs/proofs/too_few_heads.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

from checks.evidence.too_few_heads_algebra import row_step
from checks.evidence.tools import (
    argument_step,
    counterexample_step,
    exhaustive_step,
    exponential_steps,
    hidden_hypothesis_step,
    proves,
    refutes,
    statement_step,
    step,
)
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for L4-L7, T2.2-not, T2.2, R2 and R2.t."""
    return (
        *_readout(claims["L4"]),
        *_basins(claims),
        *_constants(claims["T2.2-not"]),
        *_theorem(claims["T2.2"]),
        *_remarks(claims),
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
    smooth = argument_step(
        "from derivatives to the segment",
        "t -> f(x + t v) has the second derivative v^T Hess f v, which is continuous and at least lambda_min at 0, so "
        "at least (1 - eta) lambda_min for t < R, R small; f is defined on the cube only, so its derivative at 0 "
        "along v is at least 0. The derivative at t is at least that plus t times the least second derivative, and "
        "differences of values are derivatives at intermediate points times distances. f > z off x^(i) by A2.1. "
        "v towards the centre of the cube keeps the segment inside for small R.",
    )
    parabola = step(
        "lambda x^2/2: a segment of length r/4 inside (-r, r) has a point with |x|, so slope/lambda, below (3/4) r",
        Means.SMT,
        ["m > 0", "r > 0", "a > -r", "b < r", "b - a = r/4"],
        "min(abs(a), abs(b)) < 3/4*r",
        {"half": "min(abs(a), abs(b)) < r/2", "two thirds": "min(abs(a), abs(b)) <= 2/3*r"},
    )
    disjoint = statement_step(margin, PUBLISHED, Means.SMT, {"the whole distance": "q >= D", "twice": "q >= 2*R"})
    compact = argument_step(
        "the margin",
        "The cube without the open ball is compact, so f_i has a minimum there; it exceeds z_i by A2.1. Let eps_0 be "
        "half of the least of the D differences (checks.constants computes such margins with proof).",
    )
    mean_value = argument_step(
        "an intermediate point",
        "F_0(z + x e_i) - F_0(z + y e_i) = (x - y) times a partial derivative at an intermediate point, which by "
        "continuity is within |g| - l of g for x, y < r_0.",
    )
    return (
        proves(
            segment.id,
            PUBLISHED,
            statement_step(segment, PUBLISHED, Means.SMT, {"a quarter": "g >= m*r/4", "strict": "g > m*r/8"}),
            smooth,
        ),
        proves(
            segment.id,
            SHARPENED,
            statement_step(segment, SHARPENED, Means.SMT, {"u = 1": "g >= 3/4*m*r", "all of r": "g >= u^2*m*r"}),
            parabola,
            smooth,
        ),
        proves(
            outer.id,
            PUBLISHED,
            statement_step(
                outer,
                PUBLISHED,
                Means.SMT,
                {"the whole derivative": "abs(y) >= abs(g)*abs(x)", "from above": "abs(y) <= abs(g)/2*abs(x)"},
            ),
        ),
        proves(
            outer.id,
            ARGUMENT,
            hidden_hypothesis_step(
                "the domain of F_0", "z + delta e_i in [0,1]^D (for z_i = 0 only delta >= 0 makes sense)"
            ),
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
            mean_value,
        ),
        proves(margin.id, PUBLISHED, disjoint, compact),
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
        proves(theorem.id, PUBLISHED, *_from_n4(), *_trivial_exponents()),
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


def _from_n4() -> tuple[Step, ...]:
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


def _remarks(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    constant, tight = claims["R2"], claims["R2.t"]
    return (
        proves(
            constant.id,
            PUBLISHED,
            *_from_n4(),
            statement_step(constant, PUBLISHED, Means.SMT, {"half": "F/q*x <= T/16*x", "linear": "F/q*x <= x"}),
            step(
                "E = n s <= q = (n+1) s <= T_0 <= T/4, from k >= 0 and s + D >= 3",
                Means.SMT,
                ["n >= 1", "s >= 1", "D >= s + 1", "q = (n + 1)*s", "m < T/4 + 1", "F = m - s - D + 1", "F >= q + 1"],
                "max(n*s - q, q - F, F - T/4) <= 0",
                {"far below": "F <= T/8", "E twice": "2*n*s <= q"},
            ),
            *exponential_steps(),
            step(
                "log T <= a T + c, c = -log a, with 20 a = L = log 2: T^{5/2} <= a^{-5/2} 2^{T/8}",
                Means.SMT,
                ["y <= a*T + c", "20*a = L"],
                "5/2*y <= L/8*T + 5/2*c",
                {"without c": "5/2*y <= L/8*T", "half": "5/2*y <= L/16*T + 5/2*c"},
            ),
            step(
                "r = max{3/(2 rho), 2}: log 2 + max{0, log(3 T/(4 rho))} <= log(r T), x = log(3 T/(4 rho)), L = log 2",
                Means.SMT,
                ["L > 0", "R >= x + L", "R >= L"],
                "L + max(0, x) <= R",
                {"without log 2": "2*L + max(0, x) <= R", "half": "2*max(0, x) <= R"},
            ),
        ),
        proves(tight.id, PUBLISHED, *_deeper(tight), *_additive()),
        proves(
            tight.id,
            SHARPENED,
            statement_step(tight, SHARPENED, Means.SMT, {"k": "u >= k*l - c/f", "without c": "u >= k/f*l"}),
        ),
    )


def _deeper(tight: Claim) -> tuple[Step, ...]:
    """Part (iii)."""
    return (
        statement_step(
            tight, PUBLISHED, Means.SMT, {"three quarters": "u >= 3*k/4*l - c/2", "without c": "u >= k/4*l"}
        ),
        step(
            "two and three layers: f = 1",
            Means.SMT,
            ["k >= 0", "l >= 0", "u >= k*l - c"],
            "u >= k/4*l - c",
            {"twice": "u >= 2*k*l - c", "without c": "u >= k/4*l"},
        ),
    )


def _additive() -> tuple[Step, ...]:
    """Parts (i) and (ii) for F_0 = sum of z_i: uniform attention over e^{-beta f_i}, then -log/beta."""
    return (
        step(
            "log-sum-exp: the sum over S_i of e^{-beta (f - z)} is in [1, N], so -log/beta is in [z - log N/beta, z]",
            Means.SMT,
            ["b > 0", "y >= 0", "y <= w", "b >= 3*D*w/e", "e > 0", "D >= 1", "x = z - y/b"],
            "max(x - z, z - x - e/(3*D)) <= 0",
            {"exact": "abs(x - z) <= 0", "a sixth": "abs(x - z) <= e/(6*D)"},
        ),
        step(
            "(i) rounding to steps of e/(3 D): one Heaviside unit each, at most 3 D (1 + e)/e + 1 for each feature",
            Means.SMT,
            ["e > 0", "e <= 1", "D >= 1", "h = e/(3*D)", "N <= (1 + e)/h + 1"],
            "N <= 7*D/e",
            {"D/eps": "N <= D/e", "half": "N <= 3*D/e"},
        ),
        argument_step(
            "the two networks, h = 1, n = D",
            "Encoder: by A3.2 O(eps^-gamma) units give f_i within eps/(6 D); a piecewise linear map of O(beta) units "
            "gives e^{-beta f} up to a factor within 1/3, which costs at most 1/(2 beta) after -log/beta; beta = "
            "O(D log T/eps). Attention is uniform, n = D. (i) -log(.)/beta is monotone, so its rounding is a sum of "
            "Heaviside units of one input. (ii) On a geometric grid of O(beta + log T) points its chords err by at "
            "most 0.1234/beta (N7): a two-layer ReLU network with weights up to e^{2 beta} = T^{O(D/eps)}. In all "
            "O(eps^-gamma + 1/eps) parameters, which is O(eps^-(gamma+1)).",
        ),
    )
