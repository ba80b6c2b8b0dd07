"""Evidence for N9: how many features density needs. The proofs in prose: docs/proofs/density.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import comb

from checks.evidence.tools import (
    argument_step,
    counterexample_step,
    exhaustive_step,
    proves,
    refutes,
    statement_step,
    step,
)
from theory import density
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, REPAIRED, SHARPENED = Form.PUBLISHED, Form.REPAIRED, Form.SHARPENED
Family = tuple[int, tuple[tuple[int, ...], ...]]
"""A number of points and sets of points 0..T-1."""
COLOURED_LENGTH = 10
RETRIEVAL_LENGTH = 5

TRIANGLE: Family = (3, ((0, 1), (1, 2), (0, 2)))
FANO: Family = (7, ((0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5)))
TRIANGLES: Family = (
    9,
    tuple(
        (*(3 * a + i for i in first), *(3 * b + i for i in second))
        for a, b in TRIANGLE[1]
        for first, second in product(TRIANGLE[1], repeat=2)
    ),
)
"""Two points of each of two triangles, in all 27 ways: 4-sets on 9 points."""


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for N9."""
    claim = claims["N9"]
    first_token = {"T": "3", "D": "1", "z": "0", "x": "0"}
    return (
        refutes(
            claim.id,
            PUBLISHED,
            counterexample_step(
                claim,
                PUBLISHED,
                first_token,
                {"2^{m-1}": "D >= 1", "C(3,1)/(C(2,1) + C(2,2))": "D >= T/(2 + 1)"},
            ),
        ),
        proves(claim.id, REPAIRED, *_same_features(), *_counting(claim), *_growth(), *_regimes()),
        proves(claim.id, SHARPENED, *_through_one(), *_any_length(), *_two_colouring_numbers(), *_four(claim)),
    )


def _same_features() -> tuple[Step, ...]:
    """X_B has the token b on B and a elsewhere; p, q are the values of a feature at a, b."""
    return (
        step(
            "both tokens occur on S: the minimum over S is min(p, q), so X_B and its complement share the feature",
            Means.SMT,
            ["min(p, q) <= y"],
            "min(p, q, y) = min(p, q)",
            {"one token": "min(p, q, y) = p", "the other tokens": "min(p, q, y) = y"},
        ),
        step(
            "equal features, errors below 1/2: the targets differ by less than 1, but x(1)_1 by 1",
            Means.SMT,
            ["abs(H - c) < 1/2", "abs(H - k) < 1/2"],
            "abs(c - k) < 1",
            {"a half": "abs(c - k) < 1/2", "equal": "abs(c - k) <= 0"},
        ),
    )


def _counting(claim: Claim) -> tuple[Step, ...]:
    return (
        step(
            "an m-set of one colour leaves F = T - m points free, 2^F colourings; with h reds in all C(F, h) if it is"
            " blue and C(F, T - h) if red: with one free point more, blue or red, C(F+1, h) = C(F, h) + C(F, h-1)",
            Means.SYMBOLIC,
            [],
            "c + c*h/(F + 1 - h) = c*(F + 1)/(F + 1 - h)",
            {"blue only": "c = c*(F + 1)/(F + 1 - h)", "red only": "c*h/(F + 1 - h) = c*(F + 1)/(F + 1 - h)"},
        ),
        exhaustive_step(
            f"counted, T <= {COLOURED_LENGTH}",
            lambda: (
                (length, size, reds)
                for length in range(1, COLOURED_LENGTH + 1)
                for size in range(1, length + 1)
                for reds in range(length + 1)
            ),
            lambda case: (
                _monochromatic(*case) == comb(case[0] - case[1], case[2]) + comb(case[0] - case[1], case[0] - case[2])
            ),
            {
                "twice the reds": lambda case: _monochromatic(*case) == 2 * comb(case[0] - case[1], case[2]),
                "one colour": lambda case: _monochromatic(*case) == comb(case[0] - case[1], case[2]),
            },
        ),
        statement_step(claim, REPAIRED, Means.SMT, {"twice": "D >= 2*N/M", "one more": "D >= N/M + 1"}),
        step(
            "2^{m-1}: N = 2^T = 2 Q P and M = 2 P with P = 2^{T-m}, Q = 2^{m-1}",
            Means.SMT,
            ["P > 0", "Q > 0", "2*Q*P <= D*(2*P)"],
            "D >= Q",
            {"2^m": "D >= 2*Q", "strict": "D > Q"},
        ),
        step(
            "|S_i| > ceil(T/2): neither class of a balanced colouring holds S_i (r reds, |2r - T| <= 1)",
            Means.SMT,
            ["abs(2*r - T) <= 1", "c >= T/2", "c <= (T + 1)/2", "c >= r", "c >= T - r", "S > c"],
            "max(r, T - r) < S",
            {"by one": "max(r, T - r) < S - 1", "half": "2*max(r, T - r) < S"},
        ),
    )


def _growth() -> tuple[Step, ...]:
    """r(n) = C(4n,2n)/C(3n,n) >= (4/5) p(n) (64/27)^n, p(n) = (n + 1/20)/n, so D >= r/2 >= (2/5) (64/27)^{T/4}."""
    ratio = "4*(4*n + 3)*(4*n + 1)/(3*(3*n + 2)*(3*n + 1))"
    return (
        step(
            "r(n + 1)/r(n): the factors that are new in the factorials",
            Means.SYMBOLIC,
            [],
            "(4*n+4)*(4*n+3)*(4*n+2)*(4*n+1)/((2*n+2)^2*(2*n+1)^2)"
            f"/((3*n+3)*(3*n+2)*(3*n+1)/((n+1)*(2*n+2)*(2*n+1))) = {ratio}",
            {
                "(4n+4) once more": "(4*n+4)^2*(4*n+3)*(4*n+2)*(4*n+1)/((2*n+2)^2*(2*n+1)^2)"
                f"/((3*n+3)*(3*n+2)*(3*n+1)/((n+1)*(2*n+2)*(2*n+1))) = {ratio}"
            },
        ),
        exhaustive_step(
            "r(n + 1)/r(n) = 4(4n+3)(4n+1)/(3(3n+2)(3n+1)), n <= 60 (an identity of factorials)",
            lambda: range(1, 61),
            lambda n: (
                _binomial_ratio(n + 1) / _binomial_ratio(n)
                == Fraction(4 * (4 * n + 3) * (4 * n + 1), 3 * (3 * n + 2) * (3 * n + 1))
            ),
            {"64/27": lambda n: _binomial_ratio(n + 1) / _binomial_ratio(n) == Fraction(64, 27)},
        ),
        step(
            "r(n) >= (4/5) p(n) (64/27)^n: the factor from n to n + 1",
            Means.SMT,
            ["n >= 1"],
            f"{ratio} >= 64/27*(((n + 21/20)/(n + 1))/((n + 1/20)/n))",
            {"64/27": f"{ratio} >= 64/27", "the other way": f"{ratio} >= 64/27*((n + 1)/n)"},
        ),
        step(
            "and r(1) = 2",
            Means.SMT,
            ["r = 2"],
            "r >= 4/5*(21/20)*(64/27)",
            {"9/10": "r >= 9/10*(21/20)*(64/27)", "strict in p": "r >= 64/27"},
        ),
    )


def _regimes() -> tuple[Step, ...]:
    return (
        step(
            "2^{m-1} >= m passes from m to m + 1",
            Means.SMT,
            ["m >= 1", "P >= m"],
            "2*P >= m + 1",
            {"three times": "2*P >= 3*m", "without doubling": "P >= m + 1"},
        ),
        step(
            "so D >= m >= T/4, while T2.2 needs D < T/4 - (n+2) s for a positive exponent",
            Means.SMT,
            ["D >= m", "m >= T/4", "n >= 1", "s >= 1"],
            "D > T/4 - (n + 2)*s",
            {"twice": "D > T/2 - (n + 2)*s", "no heads": "D > T/4"},
        ),
    )


def _through_one() -> tuple[Step, ...]:
    return (
        argument_step(
            "2^{m-1} sets contain position 1",
            "For X not containing 1, the sequences of X and of X + {1} differ in x(1), so in a feature, whose S has 1 "
            "in it: either S - {1} lies in X (f(a) < f(b)) or X misses S - {1} (f(a) > f(b)). For one S "
            "that holds for at most 2^{-(m-1)} of all X. If every S contained 1 and m >= 2, {1} and its complement "
            "would have the same features.",
        ),
        exhaustive_step(
            "the share of the X that contain S - {1}, T <= 8",
            lambda: ((length, size) for length in range(1, 9) for size in range(1, length + 1)),
            lambda case: _share(*case) == Fraction(1, 2 ** (case[1] - 1)),
            {"2^{-m}": lambda case: _share(*case) == Fraction(1, 2 ** case[1])},
        ),
    )


def _any_length() -> tuple[Step, ...]:
    return (
        argument_step(
            "identifying positions that share no set",
            "Two points in no common m-set can be merged: the sets keep their size, and a 2-colouring of the merged "
            "family gives one of the family. In the end each of the C(V,2) pairs of points lies in one of D sets, with "
            "C(m,2) pairs each; and V >= 2m - 1, as otherwise both classes can be made smaller than m.",
        ),
        exhaustive_step(
            "the bound for m = 2, 3, 4 is 3, 7, 15: for every V the pairs or the balanced colourings exclude one less",
            lambda: ((m, bound, points) for m, bound in ((2, 3), (3, 7), (4, 15)) for points in range(2 * m - 1, 60)),
            lambda case: _excluded(case[0], case[1] - 1, case[2]),
            {"the bound itself": lambda case: _excluded(*case)},
        ),
    )


def _two_colouring_numbers() -> tuple[Step, ...]:
    return (
        _not_two_colourable("the triangle", TRIANGLE),
        _not_two_colourable("the Fano plane", FANO),
        _not_two_colourable("two of three triangles", TRIANGLES),
    )


def _not_two_colourable(name: str, family: Family) -> Step:
    points, sets = family
    return exhaustive_step(
        f"{name}: {len(sets)} sets of {len(sets[0])} points, no 2-colouring",
        lambda: product((False, True), repeat=points),
        lambda colours: _some_monochromatic(colours, sets),
        {"one set less": lambda colours: _some_monochromatic(colours, sets[1:])},
    )


def _four(claim: Claim) -> tuple[Step, ...]:
    """m = 2: four features recover x(1); three never do."""
    return (
        statement_step(
            claim,
            SHARPENED,
            Means.SMT,
            {
                "without the last": "max(x, y) - relu(max(x, y) - max(x, z)) = x",
                "without the middle": "max(x, y) - relu(min(y, z) - min(x, y)) = x",
            },
        ),
        argument_step(
            "three features do not suffice for m = 2",
            "Two sets contain 1, one does not. By the step on position 1 they are a minimum over {1, u} and a maximum "
            "over {1, u} with one and the same u. The third, a minimum say, has a point besides u; with 0 there, "
            "x(1) = 1, x(u) = 0 and x(1) = 0, x(u) = 1 have the same features (a maximum: with 1 there).",
        ),
        exhaustive_step(
            f"three minima or maxima over sets of two or more, 0/1 values, T = 2..{RETRIEVAL_LENGTH}",
            lambda: ((length, family) for length in range(2, RETRIEVAL_LENGTH + 1) for family in _triples(length)),
            lambda case: not _determines(*case),
            {"some determine more than nothing": lambda case: _determines(*case)},
        ),
    )


def _monochromatic(length: int, size: int, reds: int) -> int:
    """Colourings of ``length`` points with ``reds`` reds in which the first ``size`` points have one colour."""
    chosen = (sum(point < size for point in red) for red in combinations(range(length), reds))
    return sum(inside in (0, size) for inside in chosen)


def _binomial_ratio(n: int) -> Fraction:
    return Fraction(comb(4 * n, 2 * n), comb(3 * n, n))


def _share(length: int, size: int) -> Fraction:
    sets = list(product((False, True), repeat=length - 1))
    return Fraction(sum(all(chosen[: size - 1]) for chosen in sets), len(sets))


def _excluded(size: int, number: int, points: int) -> bool:
    """``number`` m-sets cannot cover all pairs of V points, or leave a 2-colouring by the balanced bound."""
    balanced = density.targets_lower_balanced(points, size)
    return comb(points, 2) > number * comb(size, 2) or balanced is None or balanced > number


def _some_monochromatic(colours: tuple[bool, ...], sets: Sequence[Sequence[int]]) -> bool:
    return any(len({colours[point] for point in members}) == 1 for members in sets)


def _triples(length: int) -> Iterator[tuple[tuple[tuple[int, ...], Callable[..., int]], ...]]:
    sets = [chosen for size in range(2, length + 1) for chosen in combinations(range(length), size)]
    features: list[tuple[tuple[int, ...], Callable[..., int]]] = [
        (chosen, kind) for chosen in sets for kind in (min, max)
    ]
    return combinations_with_replacement(features, 3)


def _determines(length: int, family: tuple[tuple[tuple[int, ...], Callable[..., int]], ...]) -> bool:
    """Whether the features determine x(1) for 0/1 values."""
    with_zero, with_one = (
        {
            tuple(kind(values[point] for point in chosen) for chosen, kind in family)
            for rest in product((0, 1), repeat=length - 1)
            for values in ((first, *rest),)
        }
        for first in (0, 1)
    )
    return not with_zero & with_one
