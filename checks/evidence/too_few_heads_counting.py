"""Evidence for Claim 2.1 in the proof of T2.2: more subsequences than cells, so two of them share one.

Exponents: l = log(1/eps), so that eps^-a is e^{a l}. The proofs in prose: docs/proofs/too_few_heads.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, combinations_with_replacement, product
from math import comb

from checks.evidence.softmin import sum_step
from checks.evidence.tools import (
    conditional_step,
    counterexample_step,
    exhaustive_step,
    exponential_steps,
    proves,
    refutes,
    statement_step,
    step,
)
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED
Table = tuple[tuple[int, ...], ...]
"""Weights of one head: table[position][value]."""
RATIO = 2


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for T2.2-claim and T2.2-count1 to -count4."""
    return (*_claim(claims), *_subsequences(claims), *_cells(claims))


def _claim(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    pair = claims["T2.2-claim"]
    steps = (
        exhaustive_step(
            "a quarter of the values is kept, of one of two kinds: all tables of 2 x 5 weights in {1, 3, 9}",
            _tables,
            lambda table: _is_right(table, *_restrict(table)),
            {
                "half of the values": lambda table: all(2 * len(kept) >= 5 for kept in _restrict(table)[1]),
                "the first two values": lambda table: _is_right(table, _restrict(table)[0], ((0, 1), (0, 1))),
            },
        ),
        step(
            "of half the values, those up to R q or those above are at least a quarter",
            Means.SMT,
            ["v >= 0", "a >= 0", "b >= 0", "a + b >= v/2"],
            "max(a, b) >= v/4",
            {"a third": "max(a, b) >= v/3", "both": "min(a, b) >= v/4"},
        ),
        step(
            "first kind: sums in [q, T_0 R q], one position more (the weights at most q, at t* in [q, R q])",
            Means.SMT,
            ["q > 0", "R >= 1", "n >= 1", "S >= q", "S <= n*R*q", "w > 0", "w <= q"],
            "max(q - (S + w), S + w - (n + 1)*R*q) <= 0",
            {"no growth": "S + w <= n*R*q", "no R": "S + w <= (n + 1)*q"},
        ),
        step(
            "second kind: a weight l > R q at t*, the others p <= T_0 q in all, |v| <= V: the average is near v(t*)",
            Means.SMT,
            ["q > 0", "R > 0", "T >= 1", "V > 0", "l > R*q", "p >= 0", "p <= T*q", "abs(v) <= V", "abs(s) <= V*p"],
            "abs((l*v + s)/(l + p) - v) <= 2*V*T/R",
            {
                "half": "abs((l*v + s)/(l + p) - v) <= V*T/(2*R)",
                "R squared": "abs((l*v + s)/(l + p) - v) <= 2*V*T/R^2",
            },
        ),
        step(
            "second kind, R = 12 V T_0^3/e: averages within e/(3 T_0), sums within a factor 1 + e/(12 T_0^2)",
            Means.SMT,
            ["e > 0", "V >= 1", "T >= 1", "R = 12*V*T^3/e"],
            "max(2*(2*V*T/R) - e/(3*T), T/R - e/(12*T^2)) <= 0",
            {"a twelfth": "2*(2*V*T/R) <= e/(12*T)", "V = 0": "2*(2*V*T/R) <= 0"},
        ),
        statement_step(
            pair,
            PUBLISHED,
            Means.SMT,
            {
                "twice the cells": "T - b > 2*(k + 1)*(n + 1)*(s - b)",
                "a position more": "T - b > (k + 1)*(n + 1)*s + b",
            },
        ),
        *_logarithms(),
        *_assembly(),
    )
    return (
        proves(pair.id, PUBLISHED, *steps),
        proves(pair.id, SHARPENED, *steps),
        refutes(
            pair.id,
            ARGUMENT,
            counterexample_step(
                pair, ARGUMENT, {"a": "1", "b": "1", "c": "2"}, {"half": "a >= c/2", "in S_1": "a >= b"}
            ),
        ),
    )


def _assembly() -> tuple[Step, ...]:
    """Head after head, then the pigeonhole: K = (k+1)(n+1), y = log l, c and d what does not depend on eps.

    After j heads every position keeps N/4^j of its N values or more; log N >= l - c' by T2.2-count1 (repaired). The b
    positions t* of heads of the second kind are fixed. A head of the first kind has O(e^-n) cells for its average
    (T2.2-count2) and O((log 1/e)/e) for its sum, which lies in a range of ratio T_0 R.
    """
    return (
        step(
            "one head more leaves a quarter of at least N/P values, P = 4^j",
            Means.SMT,
            ["P >= 1", "v >= N/P", "a >= v/4"],
            "a >= N/(4*P)",
            {"half": "a >= N/(2*P)", "all": "a >= N/P"},
        ),
        exhaustive_step(
            "what was reached for a head persists when values are taken away: 2 x 5 sorted weights in {1, 3, 9, 81}",
            _smaller_choices,
            lambda case: _has_kind(*case),
            {
                "first kind only": lambda case: _has_kind(case[0], None, case[2]),
                "one position outweighs": lambda case: _has_kind(case[0], 0, case[2]),
            },
        ),
        step(
            "the free positions have at least w values each: their product, one position more",
            Means.SMT,
            ["p >= P", "P >= 0", "v >= w", "w >= 0"],
            "p*v >= P*w",
            {"no growth": "p*v >= P", "twice": "p*v >= 2*P*w"},
        ),
        *_intervals(),
        step(
            "two sums in one interval [u, (1 + kappa) u] satisfy (2a)",
            Means.SMT,
            ["u > 0", "k >= 0", "p >= u", "p <= (1 + k)*u", "q >= u", "q <= (1 + k)*u"],
            "max(p - (1 + k)*q, q - (1 + k)*p) <= 0",
            {"half": "p <= (1 + k/2)*q", "equal": "p = q"},
        ),
        step(
            "the exponents differ by at least k + 1, whatever b is",
            Means.SMT,
            ["n >= 1", "s >= 1", "k >= 0", "b >= 0", "b <= s", "T = (k + 1)*((n + 1)*s + 1)"],
            "T - b - (k + 1)*(n + 1)*(s - b) >= k + 1",
            {"two": "T - b - (k + 1)*(n + 1)*(s - b) >= k + 2", "b more": "T - b > (k + 1)*(n + 1)*(s - b) + b + 1"},
        ),
        step(
            "so there are more subsequences than cells: (T_0 - b)(l - c) against (s - b)(K l + y + d) in logarithms",
            Means.SMT,
            [
                *("b >= 0", "b <= s", "T >= s", "c >= 0", "d >= 0", "y >= 0", "l >= 0"),
                *("x <= T - b - K*(s - b)", "x*l > s*y + (T*c + s*d)"),
            ],
            "(T - b)*(l - c) > (s - b)*(K*l + y + d)",
            {"twice the cells": "(T - b)*(l - c) > 2*(s - b)*(K*l + y + d)", "one more": "(T - b)*(l - c) > T*l"},
        ),
        sum_step("pigeonhole: cells with at most one subsequence each hold no more than there are cells"),
    )


def _logarithms() -> tuple[Step, ...]:
    """log l <= a l - 1 - log a, from v <= e^{v-1} at v = a l: logarithms cost no power of eps."""
    return (
        *exponential_steps(),
        step(
            "(log 1/eps)^s costs half of the surplus k + 1 = x, y = log l <= a l + c with a = x/(2s), for large l",
            Means.SMT,
            ["s >= 1", "x > 0", "y <= x/(2*s)*l + c", "x/2*l > s*c + C"],
            "x*l > s*y + C",
            {"without s": "x*l > 2*s*y + C", "a quarter": "x*l/4 > s*y + C"},
        ),
    )


def _subsequences(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    number = claims["T2.2-count1"]
    return (
        proves(
            number.id,
            PUBLISHED,
            statement_step(number, PUBLISHED, Means.SMT, {"half": "p*N <= P*(a/e)/2", "no growth": "p*N <= P"}),
        ),
        refutes(
            number.id,
            ARGUMENT,
            counterexample_step(
                number, ARGUMENT, {"N": "1", "A": "2", "B": "1"}, {"upper": "N <= A", "at least the cells": "N >= B"}
            ),
        ),
        proves(
            number.id,
            REPAIRED,
            statement_step(number, REPAIRED, Means.SMT, {"all": "p*N >= P*(a/e)", "more": "p*N >= P*(3*a/(4*e))"}),
        ),
        proves(
            number.id,
            SHARPENED,
            statement_step(
                number,
                SHARPENED,
                Means.SMT,
                {"one more": "(M - j)/(T - j) >= (M + 1)/T", "upside down": "(M - j)/(T - j) <= M/T"},
            ),
            exhaustive_step(
                "C(M, T_0) T_0^T_0 >= M^T_0",
                lambda: ((grid, tau) for grid in range(1, 60) for tau in range(1, grid + 1)),
                lambda case: comb(*case) * case[1] ** case[1] >= case[0] ** case[1],
                {"twice": lambda case: comb(*case) * case[1] ** case[1] >= 2 * case[0] ** case[1]},
            ),
        ),
    )


def _cells(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    averages, sums, surplus = claims["T2.2-count2"], claims["T2.2-count3"], claims["T2.2-count4"]
    product = "(k + 1)*n*s + (k + 1)*s"
    return (
        proves(
            averages.id,
            PUBLISHED,
            statement_step(averages, PUBLISHED, Means.SMT, {"half": "g <= 3*R*T*q/e", "e^2": "g <= (6*R*T*q + 1)*e"}),
            step(
                "n coordinates within e/(3 T_0 sqrt n) of each other: distance at most e/(3 T_0), q^2 = n",
                Means.SMT,
                ["n >= 1", "q > 0", "q^2 = n", "T >= 1", "e > 0", "X <= n*(e/(3*T*q))^2"],
                "X <= (e/(3*T))^2",
                {"half": "X <= (e/(6*T))^2", "sup norm": "X <= (e/(3*T*q))^2/2"},
            ),
        ),
        refutes(
            averages.id,
            ARGUMENT,
            counterexample_step(
                averages,
                ARGUMENT,
                {"a": "1", "b": "1", "p": "3/5", "q": "4/5"},
                {"sqrt 2": "(a*p + b*q)^2 <= 2", "a single weight": "abs(a*p) <= 1"},
            ),
        ),
        refutes(
            sums.id,
            PUBLISHED,
            counterexample_step(
                sums,
                PUBLISHED,
                {"a": "1", "b": "1", "c": "2", "g": "2"},
                {"half": "a >= max(c, g)/2", "in S_1": "a >= b"},
            ),
        ),
        refutes(
            sums.id,
            ARGUMENT,
            counterexample_step(
                sums, ARGUMENT, {"a": "1", "b": "1", "c": "2"}, {"half": "a >= c/2", "in S_1": "a >= b"}
            ),
        ),
        proves(sums.id, REPAIRED, *_sub_intervals(sums)),
        proves(
            surplus.id,
            PUBLISHED,
            statement_step(
                surplus, PUBLISHED, Means.SMT, {"two": f"T >= {product} + 2", "n more": f"T >= {product} + n + 1"}
            ),
            *_logarithms(),
        ),
        proves(
            surplus.id,
            ARGUMENT,
            conditional_step(
                "the sign of k",
                "k >= 0",
                counterexample_step(
                    surplus,
                    ARGUMENT,
                    {"n": "1", "s": "1", "k": "-2/3", "T": "1"},
                    {"k + 1 for 1": f"T >= {product} + k + 1", "without 1": f"T >= {product}"},
                ),
                statement_step(surplus, PUBLISHED, Means.SMT, {"two": f"T >= {product} + 2"}),
            ),
            *_logarithms(),
        ),
        proves(
            surplus.id,
            SHARPENED,
            statement_step(
                surplus,
                SHARPENED,
                Means.SMT,
                {"k": "T - (k + 1)*(n + 1)*s = k", "one": "T - (k + 1)*(n + 1)*s = 1"},
            ),
            *_logarithms(),
        ),
    )


def _sub_intervals(sums: Claim) -> tuple[Step, ...]:
    """x = log(1/e), b = log(4 T_0): (b + x)/log(1 + kappa) + 1 intervals."""
    return (
        statement_step(sums, REPAIRED, Means.SMT, {"the sum": "W >= S", "twice": "W >= 2*S/T"}),
        step(
            "S <= T_0 K, one position more",
            Means.SMT,
            ["n >= 0", "S <= n*K", "x <= K"],
            "S + x <= (n + 1)*K",
            {"no growth": "S + x <= n*K", "strict": "S + x < (n + 1)*K"},
        ),
        *exponential_steps(),
        *_intervals(),
    )


def _intervals() -> tuple[Step, ...]:
    """Intervals of ratio 1 + kappa, kappa = e/(12 T^2), that cover a range of ratio e^{b + x}, x = log(1/e)."""
    return (
        step(
            "log(1 + kappa) >= kappa/2 for kappa <= 1: with E = e^{kappa/2}, 1/E >= 1 - kappa/2",
            Means.SMT,
            ["k >= 0", "k <= 1", "E >= 1", "1/E >= 1 - k/2"],
            "E <= 1 + k",
            {"half": "E <= 1 + k/4", "none": "E <= 1"},
        ),
        step(
            "O(x/e) intervals",
            Means.SMT,
            ["T >= 1", "e > 0", "e <= 1", "x >= 1", "b >= 0", "y >= e/(24*T^2)", "g*y <= b + x + y", "g >= 0"],
            "g <= (24*T^2*(b + 1) + 1)*x/e",
            {"without T": "g <= 25*(b + 1)*x/e", "without x": "g <= (24*T^2*(b + 1) + 1)/e"},
        ),
    )


def _tables() -> Iterator[Table]:
    rows = list(product((1, 3, 9), repeat=5))
    return ((first, second) for first in rows for second in rows)


def _smaller_choices() -> Iterator[tuple[Table, int | None, tuple[tuple[int, ...], ...]]]:
    """Every small table, the focus that `_restrict` finds, and every non-empty part of the values that it keeps."""
    rows = list(combinations_with_replacement((1, 3, 9, 81), 5))
    for table in product(rows, repeat=2):
        focus, kept = _restrict(table)
        parts = [[part for size in range(1, len(k) + 1) for part in combinations(k, size)] for k in kept]
        yield from ((table, focus, choice) for choice in product(*parts))


def _restrict(table: Table) -> tuple[int | None, tuple[tuple[int, ...], ...]]:
    """The values kept at every position, and the position that outweighs the others RATIO times, if there is one."""
    medians = [sorted(row)[(len(row) + 1) // 2 - 1] for row in table]
    top = max(range(len(table)), key=medians.__getitem__)
    kept = [tuple(v for v, w in enumerate(row) if w <= q) for row, q in zip(table, medians, strict=True)]
    near = tuple(v for v, w in enumerate(table[top]) if medians[top] <= w <= RATIO * medians[top])
    far = tuple(v for v, w in enumerate(table[top]) if w > RATIO * medians[top])
    kept[top] = max(near, far, key=len)
    return (top if kept[top] == far else None), tuple(kept)


def _is_right(table: Table, focus: int | None, kept: tuple[tuple[int, ...], ...]) -> bool:
    """A quarter of the values is kept, and the table is of one of the two kinds on them."""
    quarter = all(4 * len(values) >= len(row) for values, row in zip(kept, table, strict=True))
    return quarter and _has_kind(table, focus, kept)


def _has_kind(table: Table, focus: int | None, kept: tuple[tuple[int, ...], ...]) -> bool:
    """First kind: all sums lie within a factor T_0 RATIO. Second kind: the focus outweighs the others RATIO times."""
    weights = [[row[v] for v in values] for row, values in zip(table, kept, strict=True)]
    if focus is None:
        return sum(map(max, weights)) <= len(table) * RATIO * sum(map(min, weights))
    others = [max(row) for position, row in enumerate(weights) if position != focus]
    return min(weights[focus]) > RATIO * max(others)
