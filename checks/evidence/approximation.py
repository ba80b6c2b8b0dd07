"""Steps shared by T1 and L1: Bernstein polynomials with their error, interior centres, a cutoff of class C^2.

A continuous G on the cube is given by its modulus: |G(x) - G(y)| <= w for |x - y| <= d (maximum norm). The proofs in
prose: docs/proofs/density.md.
"""

from __future__ import annotations

from checks.evidence.tools import step
from theory.ledger import Means, Step

SMOOTH = "u^3*(10 - 15*u + 6*u^2)"


def polynomial_steps() -> tuple[Step, ...]:
    """The Bernstein polynomial is the mean of G at K/n, K_j the number of successes in n trials of probability x_j.

    So it has values between the extremes of G and is within w (1 + D/(4 n d^2)) of it.
    """
    return (
        step(
            "the expected square of u = K - n x grows by x (1 - x) with one trial more",
            Means.SYMBOLIC,
            [],
            "x*(u + 1 - x)^2 + (1 - x)*(u - x)^2 = u^2 + x*(1 - x)",
            {
                "not centred": "x*(u + 1)^2 + (1 - x)*u^2 = u^2 + x*(1 - x)",
                "by x": "x*(u + 1 - x)^2 + (1 - x)*(u - x)^2 = u^2 + x",
            },
        ),
        step(
            "so that of K/n - x, n x (1 - x)/n^2, is at most 1/(4n)",
            Means.SMT,
            ["x >= 0", "x <= 1", "n >= 1"],
            "n*x*(1 - x)/n^2 <= 1/(4*n)",
            {"an eighth": "n*x*(1 - x)/n^2 <= 1/(8*n)", "n^2": "n*x*(1 - x)/n^2 <= 1/(4*n^2)"},
        ),
        step(
            "points at distance l d, l > 1, are joined by k <= l + 1 steps of length d: |G(x) - G(y)| <= w (1 + l^2)",
            Means.SMT,
            ["l > 1", "w >= 0", "k <= l + 1", "g <= k*w"],
            "g <= w*(1 + l^2)",
            {"without 1": "g <= w*l^2", "linear, half": "g <= w*(1 + l)/2"},
        ),
        step(
            "the maximum norm squared is at most the sum of squares, one coordinate more",
            Means.SMT,
            ["r >= 0", "t >= 0", "s >= r^2"],
            "max(r, t)^2 <= s + t^2",
            {"the first coordinates": "max(r, t)^2 <= s", "half": "max(r, t)^2 <= (s + t^2)/2"},
        ),
        step(
            "a mean is off by at most the mean of the distances, one value more: the error is <= w (1 + D/(4 n d^2))",
            Means.SMT,
            ["l >= 0", "m >= 0", "l + m = 1", "abs(v) <= a", "abs(y) <= b"],
            "abs(l*v + m*y) <= l*a + m*b",
            {"the smaller": "abs(l*v + m*y) <= min(a, b)", "half": "abs(l*v + m*y) <= (l*a + m*b)/2"},
        ),
        step(
            "w < e/4 and n >= D/(4 d^2) make it less than e/2",
            Means.SMT,
            ["e > 0", "w >= 0", "w < e/4", "d > 0", "n > 0", "D <= 4*n*d^2"],
            "w*(1 + D/(4*n*d^2)) < e/2",
            {"a quarter": "w*(1 + D/(4*n*d^2)) < e/4", "without w": "1 + D/(4*n*d^2) < 2"},
        ),
        step(
            "a mean of values in [A, 1] is in [A, 1], one value more",
            Means.SMT,
            ["l >= 0", "m >= 0", "l + m = 1", "v >= A", "v <= 1", "y >= A", "y <= 1"],
            "max(A - (l*v + m*y), l*v + m*y - 1) <= 0",
            {"1/2": "l*v + m*y <= 1/2", "above A": "l*v + m*y > A"},
        ),
    )


def centre_steps() -> tuple[Step, ...]:
    """Interior, pairwise distinct points near the minimisers, around which p is at most its minimum plus eta."""
    return (
        step(
            "x + t (y - x) is interior for an interior y, 0 < t <= 1 (one coordinate)",
            Means.SMT,
            ["x >= 0", "x <= 1", "y > 0", "y < 1", "t > 0", "t <= 1"],
            "min((1 - t)*x + t*y, 1 - (1 - t)*x - t*y) > 0",
            {"t = 0 as well": "x > 0", "above y": "(1 - t)*x + t*y > y"},
        ),
        step(
            "two shifts of one point in the same direction differ, so an earlier centre excludes at most one",
            Means.SMT,
            ["abs(t - w) > 0", "abs(u) > 0"],
            "abs((x + t*u) - (x + w*u)) > 0",
            {"more": "abs((x + t*u) - (x + w*u)) > abs(u)", "any two": "abs((x + t*u) - (y + w*u)) > 0"},
        ),
        step(
            "p with Lipschitz constant L is at most m + e within e/(2L) of a point within e/(2L) of its minimiser",
            Means.SMT,
            ["L > 0", "e > 0", "a <= e/(2*L)", "r <= e/(2*L)", "p <= m + L*(a + r)"],
            "p <= m + e",
            {"half": "p <= m + e/2", "the minimum": "p <= m"},
        ),
    )


def cutoff_steps() -> tuple[Step, ...]:
    """phi = 1 - S(u), u = (4 |x - c|^2/r^2 - 1)/3 cut to [0,1]: 1 within r/2 of c, 0 beyond r, of class C^2."""
    return (
        step(
            "S(u + h) expanded: S' = 30 u^2 (1-u)^2, S''/2 = 30 u (1-u) (1-2u)",
            Means.SYMBOLIC,
            [],
            "(u + h)^3*(10 - 15*(u + h) + 6*(u + h)^2) = " + SMOOTH + " + 30*u^2*(1 - u)^2*h"
            " + 30*u*(1 - u)*(1 - 2*u)*h^2 + (10 - 60*u + 60*u^2)*h^3 + (30*u - 15)*h^4 + 6*h^5",
            {
                "slope 60": "(u + h)^3*(10 - 15*(u + h) + 6*(u + h)^2) = " + SMOOTH + " + 60*u^2*(1 - u)^2*h"
                " + 30*u*(1 - u)*(1 - 2*u)*h^2 + (10 - 60*u + 60*u^2)*h^3 + (30*u - 15)*h^4 + 6*h^5",
                "without h^5": "(u + h)^3*(10 - 15*(u + h) + 6*(u + h)^2) = " + SMOOTH + " + 30*u^2*(1 - u)^2*h"
                " + 30*u*(1 - u)*(1 - 2*u)*h^2 + (10 - 60*u + 60*u^2)*h^3 + (30*u - 15)*h^4",
            },
        ),
        step(
            "both vanish at u = 0 and u = 1, where S meets the constants 0 and 1",
            Means.SMT,
            ["u*(1 - u) = 0"],
            f"max(abs({SMOOTH} - u), abs(30*u^2*(1 - u)^2), abs(30*u*(1 - u)*(1 - 2*u))) <= 0",
            {"constant 0": f"abs({SMOOTH}) <= 0", "third derivative too": "abs(10 - 60*u + 60*u^2) <= 0"},
        ),
        step(
            "0 <= S <= 1",
            Means.SMT,
            ["u >= 0", "u <= 1"],
            f"max(-{SMOOTH}, {SMOOTH} - 1) <= 0",
            {"1/2": f"{SMOOTH} <= 1/2", "above u": f"{SMOOTH} >= u"},
        ),
        step(
            "the cutoff at radius q = |x - c|: u <= 0 for q <= r/2, u >= 1 for q >= r",
            Means.SMT,
            ["r > 0", "q >= 0", "u = (4*q^2/r^2 - 1)/3", "(q - r/2)*(q - r) >= 0"],
            "max(min(r/2 - q, -u), min(q - r, u - 1)) >= 0",
            {"u = 0 only": "abs(u) <= 0", "never 0": "u > 0"},
        ),
    )
