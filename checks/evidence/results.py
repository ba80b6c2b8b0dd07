"""Evidence for N1-N4, the project's own results on softmin and heads. The proofs in prose: docs/proofs/results.md.

Variables that stand for exponentials carry only the facts used of them (see `checks.evidence.softmin`). In N1,
u = W((N-1)/e), so n e^{-u-1} = u with n = N-1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import comb

from checks.evidence.calculus import gradient_steps, mean_value_steps
from checks.evidence.softmin import leak_step, shift_step, sum_step
from checks.evidence.tools import exhaustive_step, exponential_steps, proves, step
from theory.ledger import Claim, Evidence, Form, Means, Step
from theory.rational_bounds import root_below

PUBLISHED = Form.PUBLISHED


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for N1, N2, N3 and N4."""
    return (
        proves("N1", PUBLISHED, *_gap_at_most(), *_gap_attained()),
        proves("N2", PUBLISHED, *_gated(), _gate_one_fails()),
        proves("N3", PUBLISHED, *_one_dimension()),
        proves("N4", PUBLISHED, *_positions(), *_cells(), *_gap_and_count()),
    )


def _gap_at_most() -> tuple[Step, ...]:
    """sum (y_t - u) e^{-y_t} <= 0: the minimum gives -u, each of the n others at most e^{-u-1}."""
    return (
        shift_step(),
        *exponential_steps(),
        step(
            "another token: (y - u) e^{-y} <= k = e^{-u-1}, from R = e^{y-u-1} >= y - u and R e^{-y} = k",
            Means.SMT,
            ["G > 0", "R >= y - u", "R*G = k"],
            "(y - u)*G <= k",
            {"half": "(y - u)*G <= k/2", "u left out": "y*G <= k"},
        ),
        sum_step("the N-1 other tokens"),
        step(
            "p - u q <= n k - u = 0 with q > 0, so the gap p/q/beta is at most u/beta",
            Means.SMT,
            ["q > 0", "b > 0", "n*k = u", "p - u*q <= n*k - u"],
            "p/q/b <= u/b",
            {"half": "p/q/b <= u/(2*b)", "without beta": "p/q/b <= u"},
        ),
        step(
            "the gap is not negative: every term y e^{-y} is at least 0",
            Means.SMT,
            ["p >= 0", "y >= 0", "G > 0", "q > 0", "b > 0"],
            "(p + y*G)/(q + G)/b >= 0",
            {"positive": "(p + y*G)/(q + G)/b > 0", "one term": "(p + y*G)/(q + G)/b >= p/q/b"},
        ),
    )


def _gap_attained() -> tuple[Step, ...]:
    return (
        step(
            "equality at 0, (1+u)/beta, ..., (1+u)/beta",
            Means.SMT,
            ["n*k = u", "u >= 0", "b > 0", "y = u + 1"],
            "(n*k)*(y/b)/(1 + n*k) = u/b",
            {"larger": "(n*k)*(y/b)/(1 + n*k) > u/b", "at y = u": "(n*k)*(u/b)/(1 + n*k) = u/b"},
        ),
        step(
            "these values lie in [0,1] when beta >= 1 + u",
            Means.SMT,
            ["u >= 0", "b >= 1 + u"],
            "max(-(1 + u)/b, (1 + u)/b - 1) <= 0",
            {"strictly": "(1 + u)/b < 1", "in [0,1/2]": "(1 + u)/b <= 1/2"},
        ),
    )


def _gated() -> tuple[Step, ...]:
    return (
        step(
            "one weight on S is at least e^{-beta}: its exponent is at least -beta",
            Means.SMT,
            ["b > 0", "a >= 0", "a <= 1"],
            "b*a <= b",
            {"no range": "b*a <= b/2"},
        ),
        leak_step(),
        step(
            "ztilde = (1-w) G + w H: mean G on S within [m, m + c] (N1), mean H off S in [0,1], weight w <= l off S",
            Means.SMT,
            ["w >= 0", "w <= 1", "w <= l", "m >= 0", "m <= 1", "G >= m", "G <= m + c", "H >= 0", "H <= 1"],
            "abs((1 - w)*G + w*H - m) <= c + l",
            {"no leak": "abs((1 - w)*G + w*H - m) <= c", "no gap": "abs((1 - w)*G + w*H - m) <= l"},
        ),
    )


def _gate_one_fails() -> Step:
    return step(
        "gate 1, T = 4, S = {1}, a = 1 on S and 0 off S: equal scores, so ztilde = 1/4 for every beta (E = e^-beta)",
        Means.SYMBOLIC,
        [],
        "(1*E + 3*(0*E))/(E + 3*E) = 1/4",
        {"the minimum": "(1*E + 3*(0*E))/(E + 3*E) = 1", "gate 2": "(1*E + 3*(0*E))/(E + 3*E*E) = 1/4"},
    )


def _one_dimension() -> tuple[Step, ...]:
    return (
        step(
            "clip is two units: clip(p, 0, 1) = relu(p) - relu(p - 1)",
            Means.SMT,
            [],
            "max(0, min(p, 1)) = relu(p) - relu(p - 1)",
            {"one unit": "max(0, min(p, 1)) = relu(p)", "shifted": "max(0, min(p, 1)) = relu(p) - relu(p - 2)"},
        ),
        step(
            "clipping does not move away from f in [0,1]",
            Means.SMT,
            ["f >= 0", "f <= 1", "abs(p - f) <= d"],
            "abs(max(0, min(p, 1)) - f) <= d",
            {"half": "abs(max(0, min(p, 1)) - f) <= d/2", "strict": "abs(max(0, min(p, 1)) - f) < d"},
        ),
        step(
            "value 1 off S leaves the minimum over S: min(m, 1) = m for m <= 1 (then N1 with N = T)",
            Means.SMT,
            ["m <= 1"],
            "min(m, 1) = m",
            {"value 1/2": "min(m, 1/2) = m", "value 0": "min(m, 0) = m"},
        ),
        step(
            "minima move by at most delta, one position more",
            Means.SMT,
            ["abs(m - n) <= d", "abs(p - f) <= d"],
            "abs(min(m, p) - min(n, f)) <= d",
            {"half": "abs(min(m, p) - min(n, f)) <= d/2"},
        ),
        step(
            "beta >= 4 L W/eps makes W/beta <= eps/(4 L)",
            Means.SMT,
            ["e > 0", "L > 0", "b > 0", "W >= 0", "b >= 4*L*W/e"],
            "W/b <= e/(4*L)",
            {"an eighth": "W/b <= e/(8*L)", "without L": "W/b <= e/4"},
        ),
        *gradient_steps(),
        step(
            "the budget: delta_0 + L_0 (delta + W/beta) < eps",
            Means.SMT,
            [
                "e > 0",
                "L > 0",
                "c < e/2",
                "d <= e/(4*L)",
                "g <= e/(4*L)",
                "m <= d + g",
                "abs(P - F) <= c",
                "abs(F - G) <= L*m",
            ],
            "abs(P - G) < e",
            {"half": "abs(P - G) < e/2", "without delta_0": "abs(P - G) <= L*m"},
        ),
    )


def _grid_points() -> tuple[Step, ...]:
    """rho: on each basin G points, f_i increasing along them and below f_i elsewhere, F_0-steps of rho/(G-1)."""
    return (
        step(
            "f_i takes every value between z_i and z_i + h on a segment from x^(i): halving keeps a value enclosed",
            Means.SMT,
            ["u <= v", "v <= w"],
            "max(min(v - u, m - v), min(v - m, w - v)) >= 0",
            {"in the first half": "min(v - u, m - v) >= 0", "in both": "min(v - u, m - v, v - m, w - v) >= 0"},
        ),
        step(
            "near another minimiser, f_i = y there, f_i stays above z_i + h if h and the variation are below (y - z)/2",
            Means.SMT,
            ["y > z", "h < (y - z)/2", "abs(x - y) < (y - z)/2"],
            "x > z + h",
            {"twice h": "x > z + 2*h", "above y": "x > y"},
        ),
        *mean_value_steps(),
        step(
            "so F_0 - g y varies by at most |g|/2 of its length near z (C^1), and F_0 is strictly monotone in y",
            Means.SMT,
            ["abs(g) > 0", "v > u", "abs(F - G - g*(v - u)) <= abs(g)/2*(v - u)"],
            "min(abs(F - G), (F - G)*g) > 0",
            {"slope g": "abs(F - G) >= abs(g)*(v - u)", "upwards": "F > G"},
        ),
        step(
            "rho = the least of the D changes of F_0 over [0, h_i] is positive, one basin more",
            Means.SMT,
            ["r > 0", "c > 0"],
            "min(r, c) > 0",
            {"the sum": "min(r, c) >= r + c", "the larger": "min(r, c) >= max(r, c)"},
        ),
        step(
            "G points at equal steps of F_0: a change of c >= rho gives steps c/(G-1) >= rho/(G-1)",
            Means.SMT,
            ["G > 1", "c >= r", "r > 0"],
            "c/(G - 1) >= r/(G - 1)",
            {"twice": "c/(G - 1) >= 2*r/(G - 1)", "without G": "c/(G - 1) >= r"},
        ),
    )


def _positions() -> tuple[Step, ...]:
    return (
        *_grid_points(),
        step(
            "steps of rho/(G-1) are at least 3 eps, as G - 1 <= rho/(3 eps)",
            Means.SMT,
            ["r > 0", "e > 0", "G > 1", "G - 1 <= r/(3*e)"],
            "r/(G - 1) >= 3*e",
            {"4 eps": "r/(G - 1) >= 4*e", "one point more": "r/G >= 3*e"},
        ),
        step(
            "t*_i can be chosen in S_i, off the s positions t_j and at most D - 2 earlier t*",
            Means.SMT,
            ["S >= m", "m - s - D + 1 >= 1", "k <= s + D - 2"],
            "S - k >= 1",
            {"two left": "S - k >= 3", "all D": "S - k >= D"},
        ),
        step(
            "T_0 = m - s - D + 1 positions of S_1 remain after s positions t_j and D - 1 positions t*_i",
            Means.SMT,
            ["S >= m", "k <= s + D - 1"],
            "S - k >= m - s - D + 1",
            {"one more": "S - k >= m - s - D + 2", "without D": "S - k >= m - s + 1"},
        ),
    )


def _cells() -> tuple[Step, ...]:
    return (
        step(
            "the n+1 sums of a head: |v_c| <= R = sqrt(E), weights lambda/Lambda in (0,1], one position more",
            Means.SMT,
            ["n >= 0", "R >= 0", "abs(s) <= n*R", "l >= 0", "l <= 1", "abs(v) <= R"],
            "abs(s + l*v) <= (n + 1)*R",
            {"no growth": "abs(s + l*v) <= n*R", "strict": "abs(s + l*v) < (n + 1)*R"},
        ),
        exhaustive_step(
            "ceil(C^(1/q)) - 1 is the largest g with g^q < C, as the code computes it",
            lambda: product(range(1, 400), range(1, 7)),
            lambda case: _largest(root_below(case[0], 0, case[1]), *case),
            {"one too many": lambda case: _largest(root_below(case[0], 0, case[1]) + 1, *case)},
        ),
        exhaustive_step(
            "C(G, tau) strictly increasing sequences; a map to fewer cells identifies two (all maps, small sizes)",
            _small_maps,
            lambda case: len(set(case[1])) < len(case[1]) or len(case[1]) <= case[0],
            {"as many cells": lambda case: len(set(case[1])) < len(case[1]) or len(case[1]) < case[0]},
        ),
        step(
            "pigeonhole, any size: c cells with at most one sequence each hold at most c, one cell more",
            Means.SMT,
            ["s <= c", "x <= 1"],
            "s + x <= c + 1",
            {"one less": "s + x <= c", "two each": "s + 2*x <= c + 1"},
        ),
        step(
            "one number more, cut into g parts, multiplies the cells by g: g^((n+1)s) in all, fewer than sequences",
            Means.SMT,
            ["g >= 1", "P >= 1", "c = P*g", "N <= c", "c < C"],
            "N < C",
            {"without g": "N <= P", "all": "N >= C"},
        ),
        step(
            "two averages: y_1 - y_2 = (Delta N - y_2 Delta Q)/Q_1; common positions cancel in both differences",
            Means.SYMBOLIC,
            [],
            "(a + c)/(p + r) - (b + c)/(q + r) = ((a - b) - (b + c)/(q + r)*(p - q))/(p + r)",
            {
                "other denominator": "(a + c)/(p + r) - (b + c)/(q + r) = ((a - b) - (b + c)/(q + r)*(p - q))/(q + r)",
                "other sign": "(a + c)/(p + r) - (b + c)/(q + r) = ((a - b) + (b + c)/(q + r)*(p - q))/(p + r)",
            },
        ),
        step(
            "same cell: |Delta N| <= 2 R w K, |Delta Q| <= w K, |y_2| <= R, with w = tau/g and K = Lambda",
            Means.SMT,
            ["R >= 0", "w >= 0", "K > 0", "abs(A) <= 2*R*w*K", "abs(B) <= w*K", "abs(y) <= R"],
            "abs(A - y*B) <= 3*R*w*K",
            {"twice": "abs(A - y*B) <= 2*R*w*K", "numerator only": "abs(A - y*B) <= R*w*K"},
        ),
        step(
            "the whole denominator is at least Lambda, whose position is in both sequences",
            Means.SMT,
            ["K > 0", "Q >= K", "c >= 0", "abs(x) <= c*K"],
            "abs(x/Q) <= c",
            {"half": "abs(x/Q) <= c/2", "denominator squared": "abs(x/Q) <= c/K"},
        ),
        step(
            "W_O: an output adds up E terms with weights in [-1,1], one term more",
            Means.SMT,
            ["n >= 0", "c >= 0", "abs(s) <= n*c", "abs(o) <= 1", "abs(x) <= c"],
            "abs(s + o*x) <= (n + 1)*c",
            {"no growth": "abs(s + o*x) <= n*c"},
        ),
    )


def _gap_and_count() -> tuple[Step, ...]:
    return (
        step(
            "the minimum over S_1 sits at the first differing position (p, q there; r, t later; o others)",
            Means.SMT,
            ["p < q", "q < t", "p < r", "q < o"],
            "abs(min(p, r, o) - min(q, t, o)) = q - p",
            {"at the last": "abs(min(p, r, o) - min(q, t, o)) = abs(t - r)", "equal": "min(p, r, o) = min(q, t, o)"},
        ),
        step(
            "targets 3 eps apart, errors below eps: outputs more than eps apart",
            Means.SMT,
            ["e > 0", "abs(h - k) >= 3*e", "abs(x - h) < e", "abs(y - k) < e"],
            "abs(x - y) > e",
            {"2 eps": "abs(x - y) > 2*e", "3 eps": "abs(x - y) >= 3*e"},
        ),
        step(
            "N5 at distance d <= 3 X tau/g, X = E^{3/2}, gives the count",
            Means.SMT,
            ["e > 0", "X > 0", "t > 0", "g > 0", "M >= 0", "d >= 0", "d <= 3*X*t/g", "M*d >= e"],
            "M >= e*g/(3*X*t)",
            {"double": "M >= 2*e*g/(3*X*t)", "without tau": "M >= e*g/(3*X)"},
        ),
    )


def _largest(g: int, bound: int, power: int) -> bool:
    return bool(g**power < bound <= (g + 1) ** power)


def _small_maps() -> Iterator[tuple[int, tuple[int, ...]]]:
    """(number of cells, the cell of each of the C(G, tau) increasing sequences) for all maps with few of both."""
    for grid, tau in ((2, 1), (3, 1), (3, 2), (4, 2)):
        for cells in range(1, comb(grid, tau) + 1):
            if cells ** comb(grid, tau) <= 50_000:
                yield from ((cells, images) for images in product(range(cells), repeat=comb(grid, tau)))
