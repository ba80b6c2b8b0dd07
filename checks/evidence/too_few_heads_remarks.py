"""Evidence for the remarks after Theorem 2: R2 (the constant) and R2.t (tightness).

Bounds up to a constant are decided in exponent space: l = log(1/eps), u = log M. The proofs in prose:
docs/proofs/too_few_heads.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from checks.evidence.softmin import sum_step
from checks.evidence.too_few_heads import from_n4
from checks.evidence.tools import exponential_steps, proves, statement_step, step
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, SHARPENED = Form.PUBLISHED, Form.SHARPENED


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for R2 and R2.t."""
    constant, tight = claims["R2"], claims["R2.t"]
    return (
        proves(
            constant.id,
            PUBLISHED,
            *from_n4(),
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
    """Parts (i) and (ii) for F_0 = sum of the z_i: one head, n = D, uniform attention over e^{-beta f_i}, -log/beta.

    w = log T >= log 2, beta = 3 D w/eps. The encoder's f_i are within eps/(6 D) (A3.2), its exponential is piecewise
    linear with a unit for each interval of length 1/beta. The read-out applies -log(.)/beta to sqrt(D) T times the
    average: (i) rounded, which for a monotone map is a sum of Heaviside units, (ii) by chords on a geometric grid.
    """
    return (*_exponential(), *_logarithm(), *_sizes())


def _exponential() -> tuple[Step, ...]:
    return (
        step(
            "log-sum-exp: the sum over S_i of e^{-beta (f - z)} is in [1, N], so -log/beta is in [z - log N/beta, z]",
            Means.SMT,
            ["b > 0", "y >= 0", "y <= w", "b >= 3*D*w/e", "e > 0", "D >= 1", "x = z - y/b"],
            "max(x - z, z - x - e/(3*D)) <= 0",
            {"exact": "abs(x - z) <= 0", "a sixth": "abs(x - z) <= e/(6*D)"},
        ),
        step(
            "sqrt(D) T times the uniform average of u/sqrt(D), two positions: the sum (q = sqrt(D))",
            Means.SYMBOLIC,
            [],
            "q*T*((u/q + v/q)/T) = u + v",
            {"without sqrt(D)": "T*((u/q + v/q)/T) = u + v", "without T": "q*((u/q + v/q)/T) = u + v"},
        ),
        step(
            "the chord of e^{-y} over [0, 1] is within a third of it, and so over [j, j + 1], times e^{-j}",
            Means.BALL,
            ["u >= 0", "u <= 1"],
            "abs((1 - u + u*exp(-1)) - exp(-u)) < exp(-u)/3",
            {"a tenth": "abs((1 - u + u*exp(-1)) - exp(-u)) < exp(-u)/10"},
        ),
        step(
            "so are sums, one term more",
            Means.SMT,
            ["abs(s - r) <= r/3", "abs(a - g) <= g/3"],
            "abs((s + a) - (r + g)) <= (r + g)/3",
            {"a quarter": "abs((s + a) - (r + g)) <= (r + g)/4"},
        ),
        step(
            "which moves -log/beta by at most 1/(2 beta)",
            Means.BALL,
            [],
            "max(log(4/3), -log(2/3)) < 1/2",
            {"a third": "max(log(4/3), -log(2/3)) < 1/3"},
        ),
    )


def _logarithm() -> tuple[Step, ...]:
    return (
        step(
            "(i) rounding to the middle of steps of h is off by at most h/2",
            Means.SMT,
            ["h > 0", "x >= j*h", "x <= (j + 1)*h"],
            "abs(j*h + h/2 - x) <= h/2",
            {"a quarter": "abs(j*h + h/2 - x) <= h/4", "at the end": "abs(j*h - x) <= h/2"},
        ),
        step(
            "(ii) the chord of -log over [1/e, 1] is within 0.1234, and so over [e^{-j-1}, e^{-j}], shifted by j",
            Means.BALL,
            ["w >= 9/25", "w <= 1"],
            "abs((1 - w)/(1 - exp(-1)) + log(w)) < 617/5000",
            {"a tenth": "abs((1 - w)/(1 - exp(-1)) + log(w)) < 1/10"},
        ),
        step(
            "log 2 > 2/3",
            Means.BALL,
            [],
            "log(2) > 2/3",
            {"seven tenths": "log(2) > 7/10"},
        ),
        step(
            "one feature: features, log-sum-exp, chords of e^{-y}, and (i) h = eps/(3 D) or (ii) chords: below eps/D",
            Means.SMT,
            [
                *("e > 0", "D >= 1", "w > 2/3", "b = 3*D*w/e", "f <= e/(6*D)", "l <= e/(3*D)", "p <= 1/(2*b)"),
                "q <= max(e/(6*D), 617/(5000*b))",
            ],
            "f + l + p + q < e/D",
            {"half": "f + l + p + q < e/(2*D)", "nine tenths": "f + l + p + q < 9*e/(10*D)"},
        ),
        sum_step("F_0 is the sum of the z_i: D features within eps/D"),
    )


def _sizes() -> tuple[Step, ...]:
    return (
        step(
            "(i) steps of e/(3 D) over a range of 1 + e: at most 3 D (1 + e)/e + 1 Heaviside units for each feature",
            Means.SMT,
            ["e > 0", "e <= 1", "D >= 1", "h = e/(3*D)", "N <= (1 + e)/h + 1"],
            "N <= 7*D/e",
            {"D/eps": "N <= D/e", "half": "N <= 3*D/e"},
        ),
        step(
            "encoder and (ii): beta + log T + 2 intervals cover the logarithms of all sums",
            Means.SMT,
            ["e > 0", "e <= 1", "D >= 1", "w > 2/3", "b = 3*D*w/e", "N <= b + w + 2"],
            "N <= (3*D*w + w + 2)/e",
            {"without eps": "N <= 3*D*w + w + 2", "half": "N <= (3*D*w + w + 2)/(2*e)"},
        ),
        step(
            "(ii) slopes: logarithms up to beta + log T + c, so weights up to T^{O(1/eps)}",
            Means.SMT,
            ["e > 0", "e <= 1", "D >= 1", "c >= 0", "w > 2/3", "b = 3*D*w/e", "x <= b + w + c"],
            "x <= (3*D + 1 + 2*c)/e*w",
            {"without eps": "x <= (3*D + 1 + 2*c)*w", "one": "x <= w/e"},
        ),
        step(
            "in all O(eps^-gamma + 1/eps) parameters, which is O(eps^-(gamma+1)): p = eps^-gamma, r = 1/eps",
            Means.SMT,
            ["p >= 1", "r >= 1"],
            "p + r <= 2*(p*r)",
            {"once": "p + r <= p*r", "without gamma": "p + r <= 2*r"},
        ),
    )
