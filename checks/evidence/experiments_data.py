"""Evidence on the paper's experiments with data (E5, E6) and on the reversal score (E7), from its figures alone.

The figures are finite data: a statement about all of them is decided by looking at all of them, in rationals; the fit
of E5 is a linear program, certified by duality in balls. In prose: docs/proofs/experiments.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial

from checks import balls, least_deviations
from checks.evidence import figures
from checks.evidence.experiments import ENOUGH
from checks.evidence.tools import counterexample_step, exhaustive_step, proves, refutes, step
from checks.least_deviations import Fit
from theory.ledger import Claim, Evidence, Form, Means, Mutant, Proved, Step, Undecided, Verdict
from theory.tables import Table, published, reversal_score

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED
FIT_BITS = 128
KEPT_ROWS = (2, 4, 6, 8)
QUARTER, THREE_TENTHS = Fraction(1, 4), Fraction(3, 10)
SIDES = (32, 48, 64, 96, 128)
TEXT_LENGTHS = (17, 37, 65, 145, 257)
TABLE_LENGTHS = (65, 145, 257, 577, 1025)
FIRST_REVERSAL = {
    "table2": 3,
    "table3": 4,
    "table4": 2,
    "table5": 1,
    "table6": None,
    "table7": None,
    "table8": 10,
    "table9": None,
}
Fits = Callable[[tuple[int, ...], Fraction], Fit | None]


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for E5, E6 and E7."""
    return (*_retrieval(claims), *_images(claims), *_reversals(claims))


def _retrieval(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    training, validation = published("table6"), published("table7")
    return (
        proves(
            "E5",
            PUBLISHED,
            exhaustive_step(
                "accuracy >= 0.99 for every T exactly from h = 12 on",
                lambda: training.heads,
                lambda h: (max(training.errors_at(h)) <= Fraction(1, 100)) == (h >= 12),
                {
                    "0.999": lambda h: (max(training.errors_at(h)) <= Fraction(1, 1000)) == (h >= 12),
                    "0.9": lambda h: (max(training.errors_at(h)) <= Fraction(1, 10)) == (h >= 12),
                },
            ),
            _fit_step(
                "alpha within 0.02 of -1.40",
                lambda fits: _near(fits(KEPT_ROWS, QUARTER), "-1.40", "0.02"),
                {
                    "-1.50": lambda fits: _near(fits(KEPT_ROWS, QUARTER), "-1.50", "0.02"),
                    "delta = 0.3": lambda fits: _near(fits(KEPT_ROWS, THREE_TENTHS), "-1.40", "0.02"),
                },
            ),
        ),
        refutes(
            "E5",
            ARGUMENT,
            counterexample_step(
                claims["E5"],
                ARGUMENT,
                {"a": "0.0083", "b": "0.008"},
                {"within 0.02": "abs(log(a/b))/(4*exp(-(log(8)/4))) <= 2/100"},
            ),
        ),
        proves(
            "E5",
            SHARPENED,
            _fit_step(
                "alpha = -1.41030 on h = 2, 4, 6, 8; -1.275 with h = 1; -1.565 for delta = 0.3, a better fit",
                _fits_as_stated,
                {
                    "-1.4104": lambda fits: _near(fits(KEPT_ROWS, QUARTER), "-1.4104", "0.00001"),
                    "delta = 1/4 is better": lambda fits: _better(fits, QUARTER, THREE_TENTHS),
                },
            ),
            exhaustive_step(
                "validation: the lowest error at h = 2, the highest at h = 16, for every T",
                lambda: range(len(validation.seq_lens)),
                lambda column: _best(validation, column) == 2 and _worst(validation, column) == 16,
                {
                    "best at 12": lambda column: _best(validation, column) == 12,
                    "training too": lambda column: _best(training, column) == 2,
                },
            ),
            figures.never_reversed("table6"),
            figures.never_reversed("table7"),
        ),
    )


def _images(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    claim, training, validation = claims["E6"], published("table8"), published("table9")
    return (
        refutes(
            claim.id,
            PUBLISHED,
            counterexample_step(
                claim,
                PUBLISHED,
                {"s": "32", "p": "8"},
                {"the text's length": "(s/p)^2 + 1 = 17", "patch size 4": "(s/(p/2))^2 + 1 = 65"},
            ),
        ),
        proves(
            claim.id,
            REPAIRED,
            exhaustive_step(
                "lengths: the text's are (side/8)^2 + 1, the tables' (side/4)^2 + 1",
                lambda: zip(SIDES, TEXT_LENGTHS, TABLE_LENGTHS, strict=True),
                lambda case: (_length(case[0], 8), _length(case[0], 4)) == case[1:],
                {
                    "tables with 8": lambda case: _length(case[0], 8) == case[2],
                    "text with 4": lambda case: _length(case[0], 4) == case[1],
                },
            ),
            exhaustive_step(
                "the tables are for these lengths",
                lambda: (training, validation),
                lambda table: table.seq_lens == TABLE_LENGTHS,
                {"the text's": lambda table: table.seq_lens == TEXT_LENGTHS},
            ),
            exhaustive_step(
                "training error rises in every step of T exactly for h < 10",
                lambda: training.heads,
                lambda h: figures.increasing(training.errors_at(h)) == (h < 10),
                {
                    "h < 8": lambda h: figures.increasing(training.errors_at(h)) == (h < 8),
                    "h < 11": lambda h: figures.increasing(training.errors_at(h)) == (h < 11),
                },
            ),
        ),
        proves(
            claim.id,
            SHARPENED,
            figures.never_reversed("table9"),
            exhaustive_step(
                "validation error is lower at h = 4 than at h = 24, and lowest at h = 8 for T >= 577",
                lambda: range(len(TABLE_LENGTHS)),
                lambda k: (
                    validation.errors_at(4)[k] < validation.errors_at(24)[k]
                    and (TABLE_LENGTHS[k] < 577 or _best(validation, k) == 8)
                ),
                {
                    "lowest at h = 8 for every T": lambda k: _best(validation, k) == 8,
                    "lower at h = 2 than at h = 24": lambda k: validation.errors_at(2)[k] < validation.errors_at(24)[k],
                },
            ),
        ),
    )


def _reversals(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    claim, images = claims["E7"], published("table8")
    return (
        refutes(
            claim.id,
            PUBLISHED,
            counterexample_step(
                claim,
                PUBLISHED,
                {"a": "0.000694", "b": "0.00064", "c": "0.00158"},
                {"small": "max(a - b, 0)/(c - b) < 1/10", "the other sign": "max(b - a, 0)/(c - b) = 0"},
            ),
        ),
        proves(
            claim.id,
            REPAIRED,
            figures.rows(
                "Table 3: R(h) = 0 for h < 4",
                published("table3"),
                (1, 2, 3),
                lambda errors: reversal_score(errors) == 0,
                {"of the negated errors": lambda errors: reversal_score([-e for e in errors]) == 0},
            ),
            figures.rows(
                "Table 3: R(h) > 0 for h >= 4",
                published("table3"),
                (4, 5),
                lambda errors: reversal_score(errors) > 0,
                {"above 4": lambda errors: reversal_score(errors) > 4},
            ),
            exhaustive_step(
                "Table 8: R(h) = 0 for h < 10 and at 12, 14, positive elsewhere",
                lambda: images.heads,
                lambda h: (reversal_score(images.errors_at(h)) == 0) == (h < 10 or h in (12, 14)),
                {"from 10 on": lambda h: (reversal_score(images.errors_at(h)) == 0) == (h < 10)},
            ),
        ),
        proves(
            claim.id,
            SHARPENED,
            step(
                "one pair, weight w > 0, errors a, b on a scale that is increasing: A > B while a > b",
                Means.SMT,
                ["w > 0", "d > 0", "A - B = d*(a - b)"],
                "w*max(A - B, 0) = w*d*max(a - b, 0)",
                {
                    "unweighted": "w*max(A - B, 0) = max(a - b, 0)*d",
                    "decreasing scale": "w*max(A - B, 0) = max(b - a, 0)*w*d",
                },
            ),
            step(
                "if no step falls, no pair falls, one step more",
                Means.SMT,
                ["a <= b", "b <= c"],
                "a <= c",
                {"strictly": "a < c", "back": "c <= a"},
            ),
            exhaustive_step(
                "the first h with R(h) > 0 in each table",
                lambda: FIRST_REVERSAL.items(),
                lambda case: _first_reversal(case[0]) == case[1],
                {
                    "at the transitions": lambda case: _first_reversal(case[0]) == ENOUGH.get(case[0], case[1]),
                    "on reversed T": lambda case: _first_reversal(case[0], -1) == case[1],
                },
            ),
        ),
    )


def _fit_step(name: str, holds: Callable[[Fits], bool], wrong: Mapping[str, Callable[[Fits], bool]]) -> Step:
    def decide(predicate: Callable[[Fits], bool]) -> Verdict:
        with balls.precision(FIT_BITS):
            if predicate(_fit):
                return Proved("least absolute deviations, optimal by duality, in balls")
        return Undecided(f"Not shown: {name}.", "look at the fit")

    mutants = tuple(Mutant(label, partial(decide, predicate)) for label, predicate in wrong.items())
    return Step(name, Means.BALL, partial(decide, holds), mutants)


def _fit(heads: tuple[int, ...], delta: Fraction) -> Fit | None:
    """log(1 - acc) by 1, log2 T (exact: T is a power of 2) and h T^-delta, over the given rows of Table 6."""
    table = published("table6")
    cells = [(h, length, e) for h in heads for length, e in zip(table.seq_lens, table.errors_at(h), strict=True)]
    exact = [[Fraction(1), Fraction(length.bit_length() - 1)] for _, length, _ in cells]
    powers = [balls.exp(-balls.exact(delta) * balls.log(balls.exact(length))) for _, length, _ in cells]
    real = [balls.exact(h) * power for (h, _, _), power in zip(cells, powers, strict=True)]
    return least_deviations.fit(exact, real, [balls.log(balls.exact(e)) for _, _, e in cells])


def _near(fit: Fit | None, value: str, within: str) -> bool:
    if fit is None:
        return False
    return balls.surely_below(
        balls.absolute(fit.coefficient - balls.exact(Fraction(value))), balls.exact(Fraction(within))
    )


def _better(fits: Fits, delta: Fraction, other: Fraction) -> bool:
    first, second = fits(KEPT_ROWS, delta), fits(KEPT_ROWS, other)
    return first is not None and second is not None and balls.surely_below(first.deviation, second.deviation)


def _fits_as_stated(fits: Fits) -> bool:
    return (
        _near(fits(KEPT_ROWS, QUARTER), "-1.41030", "0.00001")
        and _near(fits((1, *KEPT_ROWS), QUARTER), "-1.275", "0.0005")
        and _near(fits(KEPT_ROWS, THREE_TENTHS), "-1.565", "0.0005")
        and _better(fits, THREE_TENTHS, QUARTER)
    )


def _length(side: int, patch: int) -> int:
    return (side // patch) ** 2 + 1


def _best(table: Table, column: int) -> int:
    return min(table.heads, key=lambda h: table.errors_at(h)[column])


def _worst(table: Table, column: int) -> int:
    return max(table.heads, key=lambda h: table.errors_at(h)[column])


def _first_reversal(name: str, direction: int = 1) -> int | None:
    table = published(name)
    return next((h for h in table.heads if reversal_score(table.errors_at(h)[::direction]) > 0), None)
