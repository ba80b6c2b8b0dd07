"""Evidence for T1, L1 with its steps, and T1.P. The proofs in prose: docs/proofs/density.md."""

from __future__ import annotations

from collections.abc import Mapping

from checks.evidence.tools import (
    argument_step,
    counterexample_step,
    exhaustive_step,
    hidden_hypothesis_step,
    proves,
    refutes,
    statement_step,
    step,
)
from theory import density
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED
COUNTED_LENGTH = 64
BLEND = "(1 - f)*p + f*(m - A + B*s)"


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for T1, L1, L1.1 to L1.7 and T1.P."""
    return (
        *_theorem(claims),
        *_squeeze(claims),
        *_bump(claims),
        *_apart(claims),
        *_total(claims),
    )


def _theorem(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    theorem, closure, assembly = claims["T1"], claims["L1"], claims["T1.P"]
    no_squash = {"below": "a <= 0", "not above b": "a <= b"}
    polynomial = argument_step(
        "an outer map on the cube of the minima",
        "By N10 the sequence is a continuous function R of the 2 d C(T, m) minima, so G = (G o R)(minima) with G o R "
        "continuous on [0,1]^D after clipping R to [0,1]; Stone-Weierstrass gives a polynomial, hence C^1, outer map "
        "within eps/2 of it.",
    )
    existence = argument_step(
        "polynomials, centres and cutoffs exist",
        "Stone-Weierstrass gives polynomials within eta of the features. By continuity p <= min p + eta on a "
        "neighbourhood of a minimiser, which contains interior points, all but finitely many of them free; around one "
        "of them there is a ball inside it, and a smooth cutoff that is 1 near its centre and 0 outside.",
    )
    return (
        proves(
            theorem.id,
            PUBLISHED,
            polynomial,
            statement_step(
                theorem, PUBLISHED, Means.SMT, {"half": "abs(G - H) < e/2", "one error": "abs(G - H) < 3*e/4"}
            ),
        ),
        refutes(
            theorem.id,
            ARGUMENT,
            counterexample_step(theorem, ARGUMENT, {"c": "1", "b": "0", "a": "-1"}, no_squash),
        ),
        proves(
            theorem.id,
            SHARPENED,
            exhaustive_step(
                f"the lower bound is below the upper one, T <= {COUNTED_LENGTH}",
                lambda: range(1, COUNTED_LENGTH + 1),
                lambda length: _needed(length) <= density.targets_sufficient(1, length),
                {
                    "a tenth suffices": lambda length: 10 * _needed(length) <= density.targets_sufficient(1, length),
                    "reversed": lambda length: _needed(length) >= density.targets_sufficient(1, length),
                },
            ),
            polynomial,
        ),
        proves(
            closure.id,
            PUBLISHED,
            existence,
            statement_step(
                closure, PUBLISHED, Means.SMT, {"4 eta": "abs(f - g) <= 4*e", "one step": "abs(f - g) <= e"}
            ),
        ),
        refutes(
            closure.id,
            ARGUMENT,
            counterexample_step(closure, ARGUMENT, {"c": "1", "b": "0", "a": "-1"}, no_squash),
        ),
        proves(
            closure.id,
            SHARPENED,
            statement_step(
                closure,
                SHARPENED,
                Means.SMT,
                {"error A": f"abs({BLEND} - p) <= A", "error eta": f"abs({BLEND} - p) <= e"},
            ),
            _curvature(),
            existence,
        ),
        *_assembly(assembly),
    )


def _needed(length: int) -> int:
    return density.targets_lower_erdos(density.support_size(length))


def _assembly(assembly: Claim) -> tuple[Evidence, ...]:
    return (
        proves(
            assembly.id,
            PUBLISHED,
            statement_step(
                assembly, PUBLISHED, Means.SMT, {"strict, as DEF-EPS": "abs(x) < e", "half": "abs(x) <= e/2"}
            ),
            step(
                "|S| = m and |S| = T - m are at least T/4, for T/4 <= m <= (T+1)/2 and T >= 2",
                Means.SMT,
                ["T >= 2", "m >= T/4", "m <= (T + 1)/2"],
                "min(m, T - m) >= T/4",
                {"a half": "min(m, T - m) >= T/2", "a third": "min(m, T - m) >= T/3"},
            ),
            step(
                "log-sum-exp: M <= log(sum e^{g a})/g <= M + log(N)/g, from e^{gM} <= S <= N e^{gM} with l = log",
                Means.SMT,
                ["g > 0", "L >= g*M", "L <= g*M + n", "n >= 0"],
                "abs(L/g - M) <= n/g",
                {"half": "abs(L/g - M) <= n/(2*g)", "no scale": "abs(L/g - M) <= n"},
            ),
        ),
        refutes(
            assembly.id,
            ARGUMENT,
            counterexample_step(
                assembly,
                ARGUMENT,
                {"e": "1", "a": "1/4", "b": "1/4", "c": "1/2"},
                {"at most": "a + b + c <= e", "with slack": "a + b + c < 2*e"},
            ),
        ),
        proves(
            assembly.id,
            REPAIRED,
            statement_step(assembly, REPAIRED, Means.SMT, {"half": "abs(x) < e/2", "7/8": "abs(x) < 7*e/8"}),
        ),
        proves(
            assembly.id,
            SHARPENED,
            statement_step(
                assembly, SHARPENED, Means.SMT, {"half": "abs(G - H) < e/2", "one error": "abs(G - H) < 3*e/4"}
            ),
        ),
    )


def _squeeze(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    squeeze = claims["L1.1"]
    return (
        refutes(
            squeeze.id,
            PUBLISHED,
            counterexample_step(
                squeeze, PUBLISHED, {"c": "1", "b": "0", "a": "-1"}, {"below": "a <= 0", "not above b": "a <= b"}
            ),
        ),
        proves(
            squeeze.id,
            REPAIRED,
            statement_step(
                squeeze,
                REPAIRED,
                Means.SMT,
                {"one eta in all": "abs((p + c)/(1 + 2*c) - f) <= c", "no squeeze": "max(-p, p - 1) <= 0"},
            ),
        ),
        proves(
            squeeze.id,
            SHARPENED,
            statement_step(
                squeeze,
                SHARPENED,
                Means.SMT,
                {
                    "less": "abs((p + c)/(1 + 2*c) - f) <= c/(1 + 2*c)",
                    "strict": "abs((p + c)/(1 + 2*c) - f) < 2*c/(1 + 2*c)",
                },
            ),
        ),
    )


def _bump(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    unique, hessian, cost = (claims[f"L1.{number}"] for number in (2, 3, 4))
    near = {"d": "1", "q": "1", "f": "1", "s": "1/2", "r": "1"}
    return (
        refutes(
            unique.id,
            PUBLISHED,
            counterexample_step(
                unique, PUBLISHED, near, {"above g(xi) - p(xi)": "f*(q*s - d) > -d", "below": "f*(q*s - d) < q*s"}
            ),
        ),
        proves(
            unique.id,
            REPAIRED,
            statement_step(
                unique,
                REPAIRED,
                Means.SMT,
                {"above p": "p - d*f + q*f*s > p", "lower": "p - d*f + q*f*s < m - d"},
            ),
        ),
        proves(
            unique.id,
            SHARPENED,
            statement_step(
                unique, SHARPENED, Means.SMT, {"above p": "p - d*f > m", "by d/2": "p - d*f >= m - d + d/2"}
            ),
        ),
        proves(
            hessian.id,
            PUBLISHED,
            step(
                "second-order expansion along a unit vector u, x = xi + t u",
                Means.SYMBOLIC,
                [],
                "(P + a*t + h/2*t^2) - d*(1 + k/2*t^2) + q*(1 + k/2*t^2)*t^2"
                " = (P - d) + a*t + (h - d*k + 2*q)/2*t^2 + q*k/2*t^4",
                {
                    "d2 once": "(P + a*t + h/2*t^2) - d*(1 + k/2*t^2) + q*(1 + k/2*t^2)*t^2"
                    " = (P - d) + a*t + (h - d*k + q)/2*t^2 + q*k/2*t^4",
                    "other sign": "(P + a*t + h/2*t^2) - d*(1 + k/2*t^2) + q*(1 + k/2*t^2)*t^2"
                    " = (P - d) + a*t + (h + d*k + 2*q)/2*t^2 + q*k/2*t^4",
                },
            ),
            statement_step(
                hessian,
                PUBLISHED,
                Means.SMT,
                {"without d2": "h - d*k >= 0", "half the cost": "d + q*R <= e/2"},
            ),
        ),
        proves(
            cost.id,
            PUBLISHED,
            statement_step(
                cost,
                PUBLISHED,
                Means.SMT,
                {"only d1": "abs(f*(q*s - d)) <= d", "only d2": "abs(f*(q*s - d)) <= q*R"},
            ),
        ),
        proves(
            cost.id,
            SHARPENED,
            statement_step(
                cost,
                SHARPENED,
                Means.SMT,
                {"smaller": "abs(f*(q*s - d)) <= min(d, q*R)", "half": "abs(f*(q*s - d)) <= max(d, q*R)/2"},
            ),
        ),
    )


def _apart(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    apart, squash = claims["L1.5"], claims["L1.6"]
    still = {"e": "1", "v": "1", "w": "2", "c": "0", "y": "0", "z": "0"}
    boundary = {"a": "1", "g": "1", "b": "-1", "k": "0", "y": "-1"}
    return (
        refutes(
            apart.id,
            PUBLISHED,
            counterexample_step(
                apart, PUBLISHED, still, {"directions differ": "abs(v - w) > 0", "both stay": "abs(y - z) >= 0"}
            ),
        ),
        refutes(
            apart.id,
            ARGUMENT,
            counterexample_step(apart, ARGUMENT, {"e": "1", "v": "1", "c": "0", "y": "0"}, {"it stays": "y = e*c*v"}),
        ),
        proves(
            apart.id,
            REPAIRED,
            step(
                "two shifts of one point in the same direction differ, so an earlier centre excludes at most one",
                Means.SMT,
                ["abs(t - w) > 0", "abs(u) > 0"],
                "abs((x + t*u) - (x + w*u)) > 0",
                {"more": "abs((x + t*u) - (x + w*u)) > abs(u)", "any two": "abs((x + t*u) - (y + w*u)) > 0"},
            ),
            _curvature(),
            statement_step(
                apart,
                REPAIRED,
                Means.SMT,
                {"above p": f"{BLEND} > p", "above m": f"{BLEND} > m"},
            ),
        ),
        refutes(
            squash.id,
            PUBLISHED,
            counterexample_step(squash, PUBLISHED, boundary, {"both terms": "y = b*g^2 + a*k"}),
        ),
        proves(
            squash.id,
            ARGUMENT,
            hidden_hypothesis_step("the chain rule", "grad h = 0 at the minimiser (an interior one)"),
        ),
        proves(
            squash.id,
            REPAIRED,
            statement_step(squash, REPAIRED, Means.SMT, {"without the slope": "y = k", "larger": "y >= a*k + g^2"}),
        ),
    )


def _curvature() -> Step:
    """Where phi = 1 the blend is the quadratic, along a line through c_i."""
    return step(
        "where phi = 1 the blend is m - A + B |x - c_i|^2, whose second derivative is 2B: second differences",
        Means.SYMBOLIC,
        [],
        "(m - A + B*(t + h)^2) - 2*(m - A + B*t^2) + (m - A + B*(t - h)^2) = 2*B*h^2",
        {
            "B": "(m - A + B*(t + h)^2) - 2*(m - A + B*t^2) + (m - A + B*(t - h)^2) = B*h^2",
            "with A": "(m - A + B*(t + h)^2) - 2*(m - A + B*t^2) + (m - A + B*(t - h)^2) = (2*B - A)*h^2",
        },
    )


def _total(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    total = claims["L1.7"]
    return (
        proves(
            total.id,
            PUBLISHED,
            step(
                "minima move by at most the features' error, one position more",
                Means.SMT,
                ["abs(m - n) <= e", "abs(p - q) <= e"],
                "abs(min(m, p) - min(n, q)) <= e",
                {"half": "abs(min(m, p) - min(n, q)) <= e/2", "strict": "abs(min(m, p) - min(n, q)) < e"},
            ),
            statement_step(
                total,
                PUBLISHED,
                Means.SMT,
                {"half": "abs(F - G) < e/2", "only the modulus": "abs(F - G) <= w"},
            ),
        ),
        proves(
            total.id,
            ARGUMENT,
            hidden_hypothesis_step(
                "A2.4", "the C^1 outer map has non-zero partial derivatives at the minima (a tilt does it)"
            ),
        ),
        proves(
            total.id,
            SHARPENED,
            statement_step(total, SHARPENED, Means.SMT, {"no tilt": "abs(g) > 0", "always s": "abs(g + s) > 0"}),
            step(
                "D tilts of slope at most s cost at most D s, one coordinate more",
                Means.SMT,
                ["D >= 0", "s > 0", "abs(c) <= D*s", "t >= 0", "t <= s", "z >= 0", "z <= 1"],
                "abs(c + t*z) <= (D + 1)*s",
                {"no growth": "abs(c + t*z) <= D*s", "one": "abs(c + t*z) <= s"},
            ),
        ),
    )
