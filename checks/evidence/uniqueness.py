"""Evidence for section 2 (C1 with its steps) and N11. The proofs in prose: docs/proofs/uniqueness.md."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product

from checks.evidence.calculus import mean_value_steps
from checks.evidence.tools import (
    argument_step,
    conditional_statement_step,
    counterexample_step,
    exhaustive_step,
    proves,
    refutes,
    statement_step,
    step,
)
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED
EXPONENT = "(T/4 - D1 - D2 + 1)/(3*D1 + 1) - 1"
GRID = 12
"""Token values 0, 1/(GRID-1), ..., 1 at which the gradients of small tasks are counted."""
SMALL_TASKS = ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3), (2, 4))
"""(D, T), D <= T."""


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for C1, C1.1, C1.2, C1.3 and N11."""
    return (*_corollary(claims), *_contradiction(claims["C1.3"]), *_direct(claims["N11"]))


def _corollary(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    unique, few, many = claims["C1"], claims["C1.1"], claims["C1.2"]
    large_dimension = {"D1": "1", "D2": "2", "T": "250", "d": "15", "g": "15"}
    return (
        proves(
            unique.id,
            PUBLISHED,
            statement_step(
                unique, PUBLISHED, Means.SMT, {"T/120": "max(D1, D2) <= T/120", "the sum": "D1 + D2 <= T/49 - 3"}
            ),
        ),
        refutes(
            unique.id,
            ARGUMENT,
            counterexample_step(
                unique,
                ARGUMENT,
                large_dimension,
                {"d forgotten": f"max(D1, D2) < {EXPONENT}", "d = 14": f"g - 1 < {EXPONENT}"},
            ),
        ),
        proves(
            few.id,
            PUBLISHED,
            statement_step(few, PUBLISHED, Means.SMT, {"the same C": "M <= C*X", "half": "M <= (C + 1)*X/2"}),
        ),
        proves(
            few.id,
            ARGUMENT,
            conditional_statement_step(
                few,
                (
                    "A3 (for C^1 parts: gamma = max(d, D_1)), by networks with first-layer weights of at most c",
                    "abs(w) <= c",
                ),
                {"D": "1", "c": "1/3", "w": "1"},
                {"with the factor": "abs(w/c) <= 1/c", "before rescaling": "abs(w) <= 1"},
                {"half": "abs(w/c) <= 1/2", "strictly": "abs(w/c) < 1"},
            ),
        ),
        proves(
            many.id,
            PUBLISHED,
            statement_step(
                many,
                PUBLISHED,
                Means.SMT,
                {
                    "2 D1": "(T/4 - D1 - D2 + 1)/(2*D1) - 1 <= (m - D1 - D2 + 1)/(3*D1) - 1",
                    "one more": f"{EXPONENT} + 1 <= (m - D1 - D2 + 1)/(3*D1) - 1",
                },
            ),
        ),
        proves(
            many.id,
            ARGUMENT,
            conditional_statement_step(
                many,
                ("the model of C1.1 satisfies A1 (weights of F in [-1,1], |P| <= 1)", "w <= 1"),
                {"p": "1", "w": "2", "A": "1", "B": "2"},
                {"with the weight": "p*w >= B/A", "one unit": "p >= 1"},
                {"twice": "p >= 2*B/A", "strictly": "p > B/A"},
            ),
        ),
    )


def _contradiction(claim: Claim) -> tuple[Evidence, ...]:
    return (
        proves(
            claim.id,
            PUBLISHED,
            statement_step(
                claim,
                PUBLISHED,
                Means.SMT,
                {"eight times gamma": f"8*g < {EXPONENT}", "twice D1 + D2": f"g + 15 < {EXPONENT}"},
            ),
            step(
                "small eps: with l = log(1/eps), log C - log C' < (k - gamma) l as soon as l is large",
                Means.SMT,
                ["k > g", "l > c/(k - g)"],
                "c + g*l < k*l",
                {"without c": "c + k*l < g*l", "half the slope": "c + g*l < k*l/2"},
            ),
        ),
        refutes(
            claim.id,
            ARGUMENT,
            counterexample_step(
                claim,
                ARGUMENT,
                {"D1": "1", "D2": "2", "T": "250", "d": "3", "g": "3"},
                {"with d": "g <= max(d, D1, D2)", "the largest": "g <= d + D1 + D2"},
            ),
        ),
        proves(
            claim.id,
            REPAIRED,
            statement_step(claim, REPAIRED, Means.SMT, {"by one": f"g + 1 < {EXPONENT}", "twice": f"2*g < {EXPONENT}"}),
            step(
                "and only if: k > g gives T > 4((g + 1)(3 D1 + 1) + D1 + D2 - 1)",
                Means.SMT,
                ["D1 >= 1", f"g < {EXPONENT}"],
                "T > 4*((g + 1)*(3*D1 + 1) + D1 + D2 - 1)",
                {"more": "T > 4*((g + 1)*(3*D1 + 1) + D1 + D2)", "8": "T > 8*((g + 1)*(3*D1 + 1) + D1 + D2 - 1)"},
            ),
        ),
        proves(
            claim.id,
            SHARPENED,
            statement_step(
                claim, SHARPENED, Means.SMT, {"by 1/10": f"g + 1/10 < {EXPONENT}", "twice": f"2*g < {EXPONENT}"}
            ),
            step(
                "5/56 is the largest constant: D1 = 1, D2 = 2, T = 56 has k = 2",
                Means.SMT,
                ["D1 = 1", "D2 = 2", "T = 56"],
                f"max(abs({EXPONENT} - 2), abs(D1^2 + D2^2 - 5*T/56)) <= 0",
                {"T = 57 in its place": f"{EXPONENT} > 2", "k = 1": f"abs({EXPONENT} - 1) <= 0"},
            ),
        ),
    )


def _direct(claim: Claim) -> tuple[Evidence, ...]:
    linear = {"x": "x + (1 - (1 - x)) = x", "no shift": "x + (1 - x) = 2*x"}
    return (
        proves(
            claim.id,
            PUBLISHED,
            *_at_most(),
            statement_step(claim, PUBLISHED, Means.SMT, {"two left": "S - k >= 2", "D left": "S - k >= D"}),
            *_at_least(),
            exhaustive_step(
                "tokens that matter, counted: squared distances from D points, d = 1, T <= 4, on a grid",
                lambda: SMALL_TASKS,
                lambda sizes: _most_tokens(*sizes) == sizes[0],
                {
                    "T tokens": lambda sizes: _most_tokens(*sizes) == sizes[1],
                    "D - 1": lambda sizes: _most_tokens(*sizes) == sizes[0] - 1,
                },
            ),
        ),
        proves(
            claim.id,
            SHARPENED,
            *_at_most(),
            statement_step(claim, SHARPENED, Means.SYMBOLIC, linear),
            *_at_least(),
        ),
    )


def _at_most() -> tuple[Step, ...]:
    """Where H is differentiable at most D tokens matter: grad H(X) is that of one H_s.

    H_s(X) = F_0(f_1(x(s_1)), ..., f_D(x(s_D))); at every X one of these C^1 functions takes the value of H.
    """
    return (
        argument_step(
            "what holds the steps together",
            "At each X + v/n some H_s takes the value of H; there are finitely many s, so for every direction v one "
            "recurs for infinitely many n. The steps give l_s(v) = 0 for that s, and remove the factors of the product "
            "over s one by one.",
        ),
        step(
            "along v one H_s recurs as t -> 0, H_s = H there: H_s(X) = H(X), as they are within 2 e for every e",
            Means.SMT,
            ["e > 0", "abs(A - h) <= e", "abs(A - k) <= e"],
            "abs(h - k) <= 2*e",
            {"e": "abs(h - k) <= e", "both small": "abs(h) <= 2*e"},
        ),
        step(
            "and the slopes g of H and k of H_s along v agree: they are within 2 e for every e",
            Means.SMT,
            ["t > 0", "e > 0", "abs(A - h - t*g) <= e*t", "abs(A - h - t*k) <= e*t"],
            "abs(g - k) <= 2*e",
            {"e": "abs(g - k) <= e", "both small": "abs(g) <= 2*e"},
        ),
        step(
            "so the product of all l_s(v) = (grad H - grad H_s).v is 0 for all v; a factor with l(u) = a, not 0, is 0"
            " at one v + t u at most",
            Means.SMT,
            ["abs(a) > 0", "b + s*a = 0", "b + t*a = 0"],
            "s = t",
            {"never": "abs(b + t*a) > 0", "at 0 only": "t = 0"},
        ),
        step(
            "so the product q of the others is 0 near every v, hence at v; one factor after the other goes, or is 0",
            Means.SMT,
            ["e > 0", "r = 0", "abs(q - r) <= e"],
            "abs(q) <= e",
            {"half": "abs(q) <= e/2", "above": "q >= 0"},
        ),
        step(
            "grad H = grad H_s lives on s_1, ..., s_D: i + 1 indices are at most one position more than i indices",
            Means.SMT,
            ["k <= i", "n <= k + 1"],
            "n <= i + 1",
            {"none more": "n <= i", "all different": "n >= i + 1"},
        ),
    )


def _at_least() -> tuple[Step, ...]:
    """D tokens matter at some X: y_i near x^(i) at t_i, w away from all x^(i) elsewhere, grad f_i(y_i) not 0."""
    return (
        argument_step(
            "what holds the steps together",
            "By continuity y_i and w can be chosen so near to x^(i), and so small a neighbourhood of X, that the "
            "inequalities of the steps hold; by the mean value theorem some y_i has a gradient that is not 0.",
        ),
        *mean_value_steps(),
        step(
            "so a gradient that is 0 around x^(i) would make f_i constant there, against A2.1: |c| <= e u for all e",
            Means.SMT,
            ["u > 0", "abs(c) > 0", "e = abs(c)/(2*u)"],
            "abs(c) > e*u",
            {"equal": "abs(c) = e*u", "twice": "abs(c) > 2*e*u"},
        ),
        step(
            "f_i is least at y_i, by e: a = f_i(y_i), b its value at x^(j) or w, c near b its value at y_j or w",
            Means.SMT,
            ["e > 0", "a <= z + e", "b >= z + 3*e", "abs(c - b) <= e"],
            "c - a >= e",
            {"by 2 e": "c - a >= 2*e", "not moved": "c >= z + 3*e"},
        ),
        step(
            "also when all tokens move a little: near this X the minimum over S_i is f_i(x(t_i)), and no other token's",
            Means.SMT,
            ["c - a >= e", "abs(p - a) < e/2", "abs(q - c) < e/2"],
            "p < q",
            {"by e/2": "q - p >= e/2", "further": "c < q"},
        ),
        step(
            "d_i F_0 is not 0 near the minima (A2.4), where it moves by less than its size",
            Means.SMT,
            ["abs(g) > 0", "abs(d - g) < abs(g)"],
            "abs(d) > 0",
            {"half": "abs(d) > abs(g)/2", "as large": "abs(d) >= abs(g)"},
        ),
        step(
            "so the gradient of H in x(t_i), d_i F_0 grad f_i, is not 0",
            Means.SMT,
            ["abs(d) > 0", "abs(g) > 0"],
            "abs(d*g) > 0",
            {"positive": "d*g > 0", "as large as its factors": "abs(d*g) >= min(abs(d), abs(g))"},
        ),
    )


def _most_tokens(targets: int, length: int) -> int:
    """Most tokens with non-zero gradient on the grid: f_i = (x - c_i)^2, c_i = (2i+1)/(2D), S_i = [T], F_0 a sum.

    Only sequences are counted at which every minimum is attained at one token, so that H is differentiable.
    """
    grid = [Fraction(k, GRID - 1) for k in range(GRID)]
    centres = [Fraction(2 * i + 1, 2 * targets) for i in range(targets)]
    most = 0
    for tokens in product(grid, repeat=length):
        slopes = [Fraction(0)] * length
        for centre in centres:
            distances = [abs(x - centre) for x in tokens]
            nearest = [t for t, distance in enumerate(distances) if distance == min(distances)]
            if len(nearest) > 1:
                break
            slopes[nearest[0]] += 2 * (tokens[nearest[0]] - centre)
        else:
            most = max(most, sum(slope != 0 for slope in slopes))
    return most
