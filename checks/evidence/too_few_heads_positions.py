"""Evidence for the choices in the proof of T2.2: weights, positions, grid, the sequences W_1, W_2 and their targets.

Finite statements are checked exhaustively for small sizes and, for all sizes, one element more (an induction step) by
SMT. The proofs in prose: docs/proofs/too_few_heads.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations, product

from checks.evidence.tools import (
    counterexample_step,
    exhaustive_step,
    proves,
    refutes,
    statement_step,
    step,
)
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED
PAIRS = ((0, 0), (0, 1), (1, 0), (1, 1))
Positions = frozenset[int]
Choice = tuple[tuple[Positions, ...], Positions]
"""The sets S_2..S_D and the positions t_1..t_s."""


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for T2.2-lam, -max, -rep, -T0, -grid, -W and -gap."""
    return (*_weights(claims), *_positions(claims), *_grid(claims), *_sequences(claims), *_gap(claims))


def _weights(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    average, largest = claims["T2.2-lam"], claims["T2.2-max"]
    ones = dict.fromkeys(("p1", "p2", "p3", "q1", "q2", "q3"), "1") | dict.fromkeys(("r4", "r5", "r6"), "2")
    basin = step(
        "s points lie in at most s < D of the D disjoint basins",
        Means.SMT,
        ["hit <= s", "s <= D - 1"],
        "D - hit >= 1",
        {"two are free": "D - hit >= 2", "s = D": "D - hit >= D"},
    )
    return (
        proves(
            average.id,
            PUBLISHED,
            statement_step(
                average,
                PUBLISHED,
                Means.SYMBOLIC,
                {
                    "not normalised": "l*v + m*w = (l*v + m*w)/(l + m)",
                    "weights exchanged": "m/(l + m)*v + l/(l + m)*w = (l*v + m*w)/(l + m)",
                },
            ),
        ),
        refutes(
            largest.id,
            PUBLISHED,
            counterexample_step(
                largest,
                PUBLISHED,
                ones,
                {"in S_1": "p1 >= max(p2, p3, q1, q2, q3)", "half": "p1 >= max(r4, r5, r6)/2"},
            ),
        ),
        refutes(
            largest.id,
            ARGUMENT,
            counterexample_step(
                largest, ARGUMENT, {"a": "1", "b": "1", "c": "2"}, {"half": "a >= c/2", "in S_1": "a >= b"}
            ),
        ),
        proves(
            largest.id,
            REPAIRED,
            statement_step(
                largest,
                REPAIRED,
                Means.SMT,
                {"strictly": "min(c - b, c - w) > 0", "the sum": "min(c - b, c - w) >= c - a"},
            ),
            basin,
        ),
    )


def _positions(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    others, free = claims["T2.2-rep"], claims["T2.2-T0"]
    return (
        proves(
            others.id,
            PUBLISHED,
            statement_step(others, PUBLISHED, Means.SMT, {"two": "N - c > 2", "s more": "N - c > s + 1"}),
            _representatives(1),
        ),
        proves(
            others.id,
            ARGUMENT,
            statement_step(others, ARGUMENT, Means.SMT, {"two": "N - c > 2", "D more": "N - c > D"}),
            _representatives(0),
        ),
        proves(
            others.id,
            SHARPENED,
            statement_step(others, SHARPENED, Means.SMT, {"two": "N - c >= 2", "s": "N - c >= s + 1"}),
            _representatives(0),
            exhaustive_step(
                "all S_i equal to s + D - 2 positions with every t_j among them: no representatives",
                lambda: ((heads, targets) for heads in range(1, 4) for targets in range(heads + 1, 6)),
                lambda case: not _has_representatives(_equal_sets(case[0], case[1], case[0] + case[1] - 2)),
                {
                    "one more": lambda case: (
                        not _has_representatives(_equal_sets(case[0], case[1], case[0] + case[1] - 1))
                    )
                },
            ),
        ),
        proves(
            free.id,
            PUBLISHED,
            statement_step(
                free,
                PUBLISHED,
                Means.SMT,
                {"one more": "N - c >= T/4 - s - D + 2", "without D": "N - c >= T/4 - s + 1"},
            ),
        ),
        proves(
            free.id,
            ARGUMENT,
            statement_step(
                free, ARGUMENT, Means.SMT, {"nothing lost": "N - c <= r - u", "two lost": "N - (c + 1) <= r - 2*u"}
            ),
            exhaustive_step(
                "|S minus A| >= |S| - |A| for all sets of up to six positions",
                lambda: product(_subsets(6), repeat=2),
                lambda case: len(case[0] - case[1]) >= len(case[0]) - len(case[1]),
                {"one more": lambda case: len(case[0] - case[1]) >= len(case[0]) - len(case[1]) + 1},
            ),
        ),
        proves(
            free.id,
            SHARPENED,
            statement_step(
                free,
                SHARPENED,
                Means.SMT,
                {"one more": "N - c >= m - s - D + 2", "without s": "N - c >= m - D + 1"},
            ),
        ),
    )


def _representatives(surplus: int) -> Step:
    """Sets of s + D - 1 + surplus positions: all families on few positions and all choices of the t_j."""
    return exhaustive_step(
        f"every family of sets of at least s + D - 1 + {surplus} positions and every t_j, small sizes",
        lambda: _families(surplus),
        _has_representatives,
        {
            "sets of s + D - 2": lambda case: all(map(_has_representatives, _shrunk(case, surplus + 1))),
            "two elements more": lambda case: _has_representatives((case[0] + case[0][:1] * 2, case[1])),
        },
    )


def _grid(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    grid = claims["T2.2-grid"]
    return (
        proves(
            grid.id,
            PUBLISHED,
            statement_step(
                grid,
                PUBLISHED,
                Means.SMT,
                {"more than": "r*L^2/M > 3*e", "one point more": "r*L^2/(M + T) >= 3*e"},
            ),
            step(
                "block j of N = M/T_0 points ends at j/T_0, and the next begins later, so all lie in [0,1]",
                Means.SMT,
                ["T >= 1", "N >= 1", "M = T*N", "j >= 1", "j <= T"],
                "max(abs((j - 1)/T + N/M - j/T), j/T - 1, -1/M) <= 0",
                {"N + 1 points": "(j - 1)/T + (N + 1)/M <= j/T", "half": "j/T <= 1/2"},
            ),
            step(
                "N = O(1/eps)",
                Means.SMT,
                ["e > 0", "T >= 1", "a > 0", "N <= a/(3*T*e)"],
                "N <= a/(3*T)*(1/e)",
                {"half": "N <= a/(6*T)*(1/e)", "constant": "N <= a/(3*T)"},
            ),
        ),
        proves(
            grid.id,
            ARGUMENT,
            statement_step(
                grid,
                ARGUMENT,
                Means.SMT,
                {"half": "M/T <= r*L^2/(6*T)*(1/e)", "without 1/eps": "M/T <= r*L^2/(3*T)"},
            ),
        ),
    )


def _sequences(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    full = claims["T2.2-W"]
    return (
        proves(
            full.id,
            PUBLISHED,
            statement_step(
                full,
                PUBLISHED,
                Means.SMT,
                {"off both": "min(abs(x - p), abs(x - q)) > 0", "far": "max(abs(x - p), abs(x - q)) >= 1"},
            ),
            exhaustive_step(
                "s = 1, D = 2: every S_1, S_2, t_1, t*_2 on up to five positions and all subsequences of two values",
                _full_sequences,
                lambda case: (
                    case.well_defined()
                    and case.differing() == frozenset(t for t, (a, b) in case.free.items() if a != b)
                ),
                {
                    "on every free position": lambda case: case.differing() == frozenset(case.free),
                    "nowhere": lambda case: not case.differing(),
                },
            ),
        ),
    )


def _gap(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    gap = claims["T2.2-gap"]
    return (
        refutes(
            gap.id,
            PUBLISHED,
            counterexample_step(
                gap,
                PUBLISHED,
                {"x": "1/8", "y": "1"},
                {"the minimum": "min(x^2, y^2) = x^2", "another basin": "max(x^2, y^2) = y^2"},
            ),
        ),
        refutes(
            gap.id,
            ARGUMENT,
            counterexample_step(
                gap,
                ARGUMENT,
                {"L": "1", "x": "1", "y": "2", "a": "2", "b": "2"},
                {"from the minimum": "abs(b) >= L*(y - x)", "not negative": "abs(a - b) >= 0"},
            ),
        ),
        proves(
            gap.id,
            REPAIRED,
            step(
                "the minimum of f_1 over S_1 is at the first differing position (p, q; r, t later; o in other basins)",
                Means.SMT,
                ["p < q", "q < t", "p < r", "q < o"],
                "abs(min(p, r, o) - min(q, t, o)) = q - p",
                {
                    "at the last": "abs(min(p, r, o) - min(q, t, o)) = abs(t - r)",
                    "maxima": "abs(max(p, r, o) - max(q, t, o)) = q - p",
                },
            ),
            step(
                "the minimum of f_i over S_i is z_i: it is taken at t*_i",
                Means.SMT,
                ["f >= z"],
                "min(z, f) = z",
                {"the maximum": "max(z, f) = z", "another": "min(z, f) = f"},
            ),
            step(
                "errors below e at both: outputs h apart, targets b apart",
                Means.SMT,
                ["abs(x - u) < e", "abs(y - v) < e"],
                "abs(x - y) > abs(u - v) - 2*e",
                {"e": "abs(x - y) > abs(u - v) - e", "no error": "abs(x - y) >= abs(u - v)"},
            ),
            statement_step(
                gap,
                REPAIRED,
                Means.SMT,
                {"4 eps": "b > 4*e", "outputs 2 eps apart": "h > 2*e"},
            ),
        ),
    )


def _families(surplus: int) -> Iterator[Choice]:
    for heads, targets, positions in ((1, 2, 4), (1, 3, 5), (2, 3, 6)):
        everywhere = range(1, positions + 1)
        least = heads + targets - 1 + surplus
        sets = [frozenset(c) for size in range(least, positions + 1) for c in combinations(everywhere, size)]
        for family in product(sets, repeat=targets - 1):
            yield from ((family, frozenset(chosen)) for chosen in combinations(everywhere, heads))


def _subsets(size: int) -> list[Positions]:
    everywhere = range(1, size + 1)
    return [frozenset(chosen) for number in range(size + 1) for chosen in combinations(everywhere, number)]


def _has_representatives(case: Choice) -> bool:
    family, taken = case
    return any(
        not taken & set(chosen) and all(t in support for t, support in zip(chosen, family, strict=True))
        for chosen in permutations(sorted(frozenset().union(*family)), len(family))
    )


def _equal_sets(heads: int, targets: int, size: int) -> Choice:
    return (frozenset(range(1, size + 1)),) * (targets - 1), frozenset(range(1, heads + 1))


def _shrunk(case: Choice, number: int) -> Iterator[Choice]:
    """The family with ``number`` positions taken out of every set, in every way that is the same for all sets."""
    family, taken = case
    common = frozenset.intersection(*family)
    for out in combinations(sorted(common), number):
        yield tuple(support - set(out) for support in family), taken


@dataclass(frozen=True)
class _Sequences:
    """A choice for s = 1, D = 2: the roles of the positions; ``free`` holds the values of the two subsequences."""

    seq_len: int
    maximal: int
    other: int
    free: Mapping[int, tuple[int, int]]

    def roles(self, number: int, position: int) -> list[object]:
        """What the definition of w_l(t) says about t; unequal descriptions stand for unequal tokens."""
        found: list[object] = []
        if position in self.free:
            pair = self.free[position]
            found.append(pair[number] if pair[0] != pair[1] else "x2")
        if position == self.maximal:
            found.append("y1")
        if position == self.other:
            found.append("x2")
        return found or ["x2"]

    def well_defined(self) -> bool:
        return all(len(self.roles(number, t)) == 1 for number in (0, 1) for t in range(1, self.seq_len + 1))

    def differing(self) -> Positions:
        return frozenset(t for t in range(1, self.seq_len + 1) if self.roles(0, t) != self.roles(1, t))


def _full_sequences() -> Iterator[_Sequences]:
    """|S_i| = m >= s + D - 1 + T_0 with T_0 = m - 2 free positions."""
    for seq_len, size in ((3, 3), (4, 3), (5, 4)):
        everywhere = range(1, seq_len + 1)
        sets = list(combinations(everywhere, size))
        for first, second, maximal in product(sets, sets, everywhere):
            for other in second:
                if other != maximal:
                    free = [t for t in first if t not in (maximal, other)][: size - 2]
                    for values in product(PAIRS, repeat=len(free)):
                        yield _Sequences(seq_len, maximal, other, dict(zip(free, values, strict=True)))
