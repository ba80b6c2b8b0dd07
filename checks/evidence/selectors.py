"""Evidence for order statistics and selectors: L2, L3 and N10. The proofs in prose: docs/proofs/density.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product

from checks.evidence.tools import (
    conditional_step,
    counterexample_step,
    exhaustive_step,
    exponential_steps,
    proves,
    statement_step,
    step,
)
from theory import density
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, ARGUMENT, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.SHARPENED
Case = tuple[tuple[Fraction, ...], int, int]
"""Values x(1)..x(T), a position (0-based), and m."""
ZERO_ONE_LENGTH = 7
RANKED_LENGTH = 4
ERROR = "a/(1 + E)"


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for L2, L3 and N10."""
    return (*_order_statistics(), *_smooth_selector(claims["L3"]), *_exact_selector(claims["N10"]))


def _order_statistics() -> tuple[Evidence, ...]:
    return (
        proves("L2", PUBLISHED, *_lemma_two_proved(), *_lemma_two_checked()),
        proves("L2", SHARPENED, *_lemma_two_proved(), *_lemma_two_checked()),
    )


def _lemma_two_proved() -> tuple[Step, ...]:
    """By induction over T: U_m and v_m obey the same recursion, with values 1 for m = 0 and 0 for m > T.

    In the steps a = v_m and b = v_{m-1} of the values but one, x that one; v_m >= c iff at least m values are >= c.
    """
    return (
        step(
            "the max over m-subsets with position t of the min is min(x, U_{m-1} of the others), one subset more",
            Means.SMT,
            [],
            "max(min(x, a), min(x, b)) = min(x, max(a, b))",
            {
                "minimum": "max(min(x, a), min(x, b)) = min(x, a, b)",
                "without x": "max(min(x, a), min(x, b)) = max(a, b)",
            },
        ),
        step(
            "so U_m' = max(U_m, min(x, U_{m-1})), and so is v_m': if n of the others are >= c, and x is (i = 1) or not"
            " (i = 0), then m of all are if m of the others are, or m - 1 and x",
            Means.SMT,
            ["i*(1 - i) = 0", "max(n - m, min(n - m + 1, i - 1)) >= 0"],
            "n + i >= m",
            {"one more": "n + i >= m + 1", "without x": "n >= m"},
        ),
        step(
            "and only if",
            Means.SMT,
            ["i*(1 - i) = 0", "n + i >= m"],
            "max(n - m, min(n - m + 1, i - 1)) >= 0",
            {"without x": "n - m >= 0", "x in any case": "min(n - m + 1, i - 1) >= 0"},
        ),
        step(
            "so Y_t = min(x, v_{m-1}), which is min(x, v_m')",
            Means.SMT,
            ["a <= b"],
            "min(x, b) = min(x, max(a, min(x, b)))",
            {"v_m of the others": "min(x, b) = min(x, a)", "v_m' itself": "min(x, b) = max(a, min(x, b))"},
        ),
        step(
            "1 - x turns the m-th largest into the m-th smallest: 1 - min(1 - x, 1 - w) = max(x, w)",
            Means.SMT,
            [],
            "1 - min(1 - x, 1 - w) = max(x, w)",
            {"no turn": "1 - min(1 - x, 1 - w) = min(x, w)", "no constant": "-min(1 - x, 1 - w) = max(x, w)"},
        ),
    )


def _lemma_two_checked() -> tuple[Step, ...]:
    wrong = {
        "v_{m+1}": lambda case: _lemma_two(case, 1),
        "through t without t": lambda case: (
            density.largest_minimum(case[0], case[2]) == min(case[0][case[1]], density.thresholds(case[0], case[2])[0])
        ),
    }
    return (
        exhaustive_step(
            f"all 0/1 sequences, positions and m, T <= {ZERO_ONE_LENGTH}", _zero_one_cases, _lemma_two, wrong
        ),
        exhaustive_step(f"all orders with ties, T <= {RANKED_LENGTH}", ranked_cases, _lemma_two, wrong),
    )


def _lemma_two(case: Case, shift: int = 0) -> bool:
    """U = v_m, Y = min{x, v_m}, 1 - Z = max{x, w_m} and w_m = 1 - U(1 - x), by definition; ``shift`` for mutants."""
    values, position, size = case
    v, w = density.thresholds(values, min(size + shift, len(values)))
    turned = [1 - value for value in values]
    return (
        density.largest_minimum(values, size) == v
        and density.largest_minimum(values, size, position) == min(values[position], v)
        and 1 - density.largest_minimum(turned, size, position) == max(values[position], w)
        and 1 - density.largest_minimum(turned, size) == w
    )


def _zero_one_cases() -> Iterator[Case]:
    for length in range(1, ZERO_ONE_LENGTH + 1):
        for bits in product((Fraction(0), Fraction(1)), repeat=length):
            for position in (0, bits.index(1 - bits[0]) if 1 - bits[0] in bits else 0):
                yield from ((bits, position, size) for size in range(1, length + 1))


def ranked_cases() -> Iterator[Case]:
    """All orders with ties of up to RANKED_LENGTH values, every position, every m."""
    for length in range(1, RANKED_LENGTH + 1):
        for ranks in product(range(length), repeat=length):
            values = tuple(Fraction(rank + 1, length + 1) for rank in ranks)
            yield from ((values, t, size) for t in range(length) for size in range(1, length + 1))


def _smooth_selector(selector: Claim) -> tuple[Evidence, ...]:
    return (
        proves(
            selector.id,
            PUBLISHED,
            statement_step(selector, PUBLISHED, Means.SMT, {"a fifth": "x < e/5", "squared": "x < 27787/100000*e^2"}),
        ),
        proves(
            selector.id,
            ARGUMENT,
            _uniform(selector),
            step(
                "the selector's error a/(1 + E), E = e^{q b^2}, decreases in q: Dini's theorem applies too",
                Means.SMT,
                ["a >= 0", "E >= 1", "F >= E"],
                "a/(1 + F) <= a/(1 + E)",
                {"strictly": "a/(1 + F) < a/(1 + E)", "by half": "a/(1 + F) <= a/(2*(1 + E))"},
            ),
        ),
    )


def _uniform(selector: Claim) -> Step:
    """The witness at Q = 1; x = 1/q does the same for every q >= Q."""
    return conditional_step(
        "from pointwise to uniform",
        "one rate for all X (0.27787/sqrt q, N10), or errors that decrease in q (Dini)",
        counterexample_step(
            selector,
            ARGUMENT,
            {"Q": "1", "q": "1", "x": "1", "f": "1"},
            {"at most 1": "f <= 1", "the rate at a fixed x": "f <= 2/(q*x)"},
        ),
        statement_step(selector, PUBLISHED, Means.SMT, {"a fifth": "x < e/5", "squared": "x < 27787/100000*e^2"}),
    )


def _exact_selector(claim: Claim) -> tuple[Evidence, ...]:
    return (
        proves(
            claim.id,
            PUBLISHED,
            step(
                "w <= v: m <= T - m + 1 and the values are sorted, so the m-th smallest is the (T-m+1)-th largest",
                Means.SMT,
                ["2*m <= T + 1", "k = T - m + 1"],
                "m <= k",
                {"strict": "m < k", "twice": "2*m <= k"},
            ),
            statement_step(
                claim, PUBLISHED, Means.SMT, {"without the term": "x = N", "other sign": "x = N + max(0, w - Y)"}
            ),
            *_smooth_error(),
            *exponential_steps(),
            *_constant(Fraction(27787, 10**5)),
        ),
        proves(
            claim.id,
            SHARPENED,
            statement_step(
                claim,
                SHARPENED,
                Means.SMT,
                {
                    "exact": "max(x, w) - max(0, w - min(x, v)) = x",
                    "w - v": "max(x, w) - max(0, w - min(x, v)) = w - v",
                },
            ),
            exhaustive_step(
                f"the selector from its subsets, all orders with ties, T <= {RANKED_LENGTH}, 2m <= T + 1",
                _selections,
                lambda case: density.select(*case) == case[0][case[1]],
                {"the next position": lambda case: density.select(*case) == case[0][case[1] - 1]},
            ),
            *exponential_steps(),
            *_constant(density.SELECTOR_CONSTANT),
            step(
                "the maximum is above 0.277858: at s = 0.85956",
                Means.BALL,
                [],
                "85956/100000/(1 + exp((85956/100000)^2)) > 277858/1000000",
                {
                    "0.277859": "85956/100000/(1 + exp((85956/100000)^2)) > 277859/1000000",
                    "0.27787": "85956/100000/(1 + exp((85956/100000)^2)) > 27787/100000",
                },
            ),
            step(
                "attained: x = 0 and v = w = a (E = e^{q a^2})",
                Means.SMT,
                ["E >= 1", "a >= 0", "w = a", "Y = 0"],
                f"(1*w + E*Y)/(1 + E) = {ERROR}",
                {"half": f"(1*w + E*Y)/(1 + E) = {ERROR}/2", "zero": "(1*w + E*Y)/(1 + E) = 0"},
            ),
        ),
    )


def _smooth_error() -> tuple[Step, ...]:
    return (
        step(
            "x < w: the error is a/(1 + R), a = w - x, R = e^{q(v-x)^2}: weights 1 on 1 - Z = w and R on Y = x",
            Means.SYMBOLIC,
            [],
            "(1*w + R*x)/(1 + R) - x = (w - x)/(1 + R)",
            {"weight R": "(1*w + R*x)/(1 + R) - x = R*(w - x)/(1 + R)", "1": "(1*w + R*x)/(1 + R) - x = w - x"},
        ),
        step(
            "and at most a/(1 + E), E = e^{q a^2} <= R as a <= v - x",
            Means.SMT,
            ["a >= 0", "E > 0", "R >= E"],
            f"a/(1 + R) <= {ERROR}",
            {"half": f"a/(1 + R) <= {ERROR}/2", "strict": f"a/(1 + R) < {ERROR}"},
        ),
        step(
            "x > v: the mirror image, weights R on 1 - Z = x and 1 on Y = v",
            Means.SYMBOLIC,
            [],
            "x - (R*x + 1*v)/(R + 1) = (x - v)/(1 + R)",
            {"weight R": "x - (R*x + 1*v)/(R + 1) = R*(x - v)/(1 + R)", "none": "x - (R*x + 1*v)/(R + 1) = x - v"},
        ),
        step(
            "w <= x <= v: 1 - Z = Y = x, no error",
            Means.SYMBOLIC,
            [],
            "(L*x + R*x)/(L + R) = x",
            {"sum": "L*x + R*x = x", "half": "(L*x + R*x)/(2*L + R) = x"},
        ),
        step(
            "scaling: s = a r, r = sqrt q, turns s/(1 + E) <= c into a/(1 + E) <= c/r",
            Means.SMT,
            ["r > 0", "E > 0", "a*r/(1 + E) <= c"],
            f"{ERROR} <= c/r",
            {"c/r^2": f"{ERROR} <= c/r^2", "c": f"{ERROR} <= c"},
        ),
    )


def _constant(bound: Fraction) -> tuple[Step, ...]:
    shown = f"{bound.numerator}/{bound.denominator}"
    return (
        step(
            f"s/(1 + e^(s^2)) <= {float(bound)} for 0 <= s <= 4",
            Means.BALL,
            ["s >= 0", "s <= 4"],
            f"s/(1 + exp(s^2)) <= {shown}",
            {"0.2778": "s/(1 + exp(s^2)) <= 2778/10000", "without the square": f"s/(1 + exp(s)) <= {shown}"},
        ),
        step(
            "and for s >= 4, as e^{s^2} >= 1 + s^2",
            Means.SMT,
            ["s >= 4", "E >= 1 + s^2"],
            f"s/(1 + E) <= {shown}",
            {"a fifth": "s/(1 + E) <= 1/5", "linear": "s/(1 + E) <= 1/s^2"},
        ),
    )


def _selections() -> Iterator[Case]:
    return (case for case in ranked_cases() if 2 * case[2] <= len(case[0]) + 1)
