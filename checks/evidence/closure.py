"""Evidence for L1 with its steps. The proofs in prose: docs/proofs/density.md."""

from __future__ import annotations

from collections.abc import Mapping

from checks.evidence.approximation import centre_steps, cutoff_steps, polynomial_steps
from checks.evidence.tools import (
    conditional_statement_step,
    counterexample_step,
    proves,
    refutes,
    statement_step,
    step,
)
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED
BLEND = "(1 - f)*p + f*(m - A + B*s)"


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for L1 and L1.1 to L1.7."""
    return (
        *_closure(claims["L1"]),
        *_squeeze(claims),
        *_bump(claims),
        *_apart(claims),
        *_total(claims),
    )


def _closure(closure: Claim) -> tuple[Evidence, ...]:
    no_squash = {"below": "a <= 0", "not above b": "a <= b"}
    return (
        proves(
            closure.id,
            PUBLISHED,
            *polynomial_steps(),
            *centre_steps(),
            *cutoff_steps(),
            _curvature(),
            _blended(),
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
            *polynomial_steps(),
            *centre_steps(),
            *cutoff_steps(),
        ),
    )


def _blended() -> Step:
    """L1 (sharpened) with A = eta: what the blend costs, beside approximation and shrinking."""
    return step(
        "the blend with A = eta costs at most 2 eta and stays in [0,1]; shrinking p to A + (1 - A) p costs at most eta",
        Means.SMT,
        ["f >= 0", "f <= 1", "A > 0", "A <= m", "p >= m", "p <= 1", "s >= 0", "B > 0", "B*s <= A", "p <= m + A"],
        f"max(abs({BLEND} - p) - 2*A, -({BLEND}), {BLEND} - 1, abs(A + (1 - A)*p - p) - A) <= 0",
        {"A": f"abs({BLEND} - p) <= A", "above m": f"{BLEND} >= m"},
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
        refutes(
            squeeze.id,
            ARGUMENT,
            counterexample_step(
                squeeze, ARGUMENT, {"c": "1", "b": "0", "a": "-1"}, {"below": "a <= 0", "not above b": "a <= b"}
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
        refutes(
            unique.id,
            ARGUMENT,
            counterexample_step(
                unique,
                ARGUMENT,
                {**near, "p": "0", "g": "-1/2"},
                {"above g(xi) = p(xi) - d1": "g > -d", "where phi = 0": "g >= p - f*d"},
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
            hessian.id,
            ARGUMENT,
            statement_step(
                hessian,
                ARGUMENT,
                Means.SMT,
                {"d2 once": "y = h - d*k + q", "other sign": "y = h + d*k + 2*q"},
            ),
            step(
                "the product rule: (u v)'' = u'' v + 2 u' v' + u v'', to second order",
                Means.SYMBOLIC,
                [],
                "(f + g*z + k/2*z^2)*(s + t*z + r/2*z^2) = f*s + (g*s + f*t)*z + (k*s + 2*g*t + f*r)/2*z^2"
                " + (k*t + g*r)/2*z^3 + k*r/4*z^4",
                {
                    "without 2": "(f + g*z + k/2*z^2)*(s + t*z + r/2*z^2) = f*s + (g*s + f*t)*z"
                    " + (k*s + g*t + f*r)/2*z^2 + (k*t + g*r)/2*z^3 + k*r/4*z^4",
                },
            ),
        ),
        proves(
            cost.id,
            ARGUMENT,
            statement_step(
                cost,
                ARGUMENT,
                Means.SMT,
                {"difference": "abs(f*(q*s - d)) <= f*(q*s - d)", "only d1": "f*(d + q*s) <= d"},
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
    boundary = {"a": "1", "g": "1", "b": "-1", "k": "1", "y": "0"}
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
            *centre_steps(),
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
            conditional_statement_step(
                squash,
                ("grad h = 0 at the minimiser (an interior one)", "g = 0"),
                boundary,
                {"both terms": "y = b*g^2 + a*k"},
                {"without the slope of sq": "y = k", "with its curvature": "y = b + a*k"},
            ),
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
            conditional_statement_step(
                total,
                ("the C^1 outer map has non-zero partial derivatives at the minima (a tilt does it)", "max(g, -g) > 0"),
                {"e": "1", "w": "1/4", "F": "0", "K": "0", "G": "0", "g": "0", "s": "0"},
                {"the error only": "abs(F - G) < e", "not negative": "max(abs(F - G) - e, -s) <= 0"},
                {"half the error": "max(abs(F - G) - e/2, -s) < 0", "slope 1": "max(abs(F - G) - e, 1 - s) < 0"},
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
