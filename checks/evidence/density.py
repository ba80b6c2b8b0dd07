"""Evidence for T1 and T1.P. The proofs in prose: docs/proofs/density.md."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from checks.evidence.approximation import polynomial_steps
from checks.evidence.selectors import Case, ranked_cases
from checks.evidence.tools import counterexample_step, exhaustive_step, proves, refutes, statement_step, step
from theory import density
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED
COUNTED_LENGTH = 64


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for T1 and T1.P."""
    return (*_theorem(claims["T1"]), *_assembly(claims["T1.P"]))


def _theorem(theorem: Claim) -> tuple[Evidence, ...]:
    no_squash = {"below": "a <= 0", "not above b": "a <= b"}
    return (
        proves(
            theorem.id,
            PUBLISHED,
            _recovered(),
            *polynomial_steps(),
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
        ),
    )


def _recovered() -> Step:
    """The sequence depends on the minima in a Lipschitz way, so G does continuously."""
    return step(
        "x = N - max{0, w - Y} moves by at most 3 e if N, w and Y move by at most e; cutting it to [0,1] adds nothing",
        Means.SMT,
        ["abs(N - M) <= e", "abs(w - v) <= e", "abs(Y - Z) <= e"],
        "abs(min(1, max(0, N - max(0, w - Y))) - min(1, max(0, M - max(0, v - Z)))) <= 3*e",
        {
            "2 e": "abs((N - max(0, w - Y)) - (M - max(0, v - Z))) <= 2*e",
            "e": "abs(min(1, max(0, N - max(0, w - Y))) - min(1, max(0, M - max(0, v - Z)))) <= e",
        },
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
            *_other_thresholds(),
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


def _other_thresholds() -> tuple[Step, ...]:
    """Minima over sets of m and of T - m *other* positions give v' and w', the thresholds of the others, not L3's."""
    return (
        step(
            "x > v: y = Y is at least p = v', p at least w = w'; 1 - Z = x outweighs Y by e^{q (x - y)^2} at least",
            Means.SMT,
            ["x >= y", "y >= p", "p >= w"],
            "(x - w)^2 - (y - p)^2 >= (x - y)^2",
            {"strictly": "(x - w)^2 - (y - p)^2 > (x - y)^2", "twice": "(x - w)^2 - (y - p)^2 >= 2*(x - y)^2"},
        ),
        exhaustive_step(
            "the limit of the selector with v' and w' is x(t), all orders with ties, T <= 4, 2m <= T",
            lambda: (case for case in ranked_cases() if 2 * case[2] <= len(case[0])),
            lambda case: _selected(case, case[2]) == {case[0][case[1]]},
            {"thresholds of m + 1": lambda case: _selected(case, case[2] + 1) == {case[0][case[1]]}},
        ),
    )


def _selected(case: Case, size: int) -> set[Fraction]:
    """The values of 1 - Z and Y with the larger exponent; both, if the exponents are equal."""
    values, position, subset = case
    others = values[:position] + values[position + 1 :]
    v = density.largest_minimum(others, min(size, len(others)))
    w = density.largest_minimum(others, max(len(values) - size, 1))
    low = density.largest_minimum(values, subset, position)
    high = 1 - density.largest_minimum([1 - value for value in values], subset, position)
    first, second = (high - w) ** 2, (low - v) ** 2
    return ({high} if first >= second else set()) | ({low} if second >= first else set())
