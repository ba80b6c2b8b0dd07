"""Evidence for order statistics and selectors: L2, L3 and N10. The proofs in prose: docs/proofs/density.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product

from checks.evidence.tools import (
    argument_step,
    exhaustive_step,
    exponential_steps,
    hidden_hypothesis_step,
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
    thresholds = argument_step(
        "from 0/1 values to all values",
        "Maxima and minima commute with the increasing map x -> [x >= c], so it is enough to know the identities for "
        "0/1 values. There an m-subset of ones exists iff there are at least m ones, that is v_m = 1; one through t "
        "iff also x(t) = 1. The statement on Z is that on Y for 1 - x, whose m-th largest value is 1 - w_m.",
    )
    return (
        proves("L2", PUBLISHED, thresholds, *_lemma_two_checked()),
        proves("L2", SHARPENED, thresholds, *_lemma_two_checked()),
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
        exhaustive_step(f"all orders with ties, T <= {RANKED_LENGTH}", _ranked_cases, _lemma_two, wrong),
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


def _ranked_cases() -> Iterator[Case]:
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
            hidden_hypothesis_step(
                "from pointwise to uniform", "the error decreases in q for every X (Dini's theorem)"
            ),
        ),
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
    return (case for case in _ranked_cases() if 2 * case[2] <= len(case[0]) + 1)
