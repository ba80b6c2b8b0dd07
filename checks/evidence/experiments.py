"""Evidence on the paper's synthetic experiments (E1 to E4), from the printed figures alone.

The figures are finite data: a statement about all of them is decided by looking at all of them, in rationals. E5 to E7:
`experiments_data`. In prose: docs/proofs/experiments.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from checks.evidence import figures
from checks.evidence.tools import counterexample_step, exhaustive_step, proves, refutes, statement_step, step
from theory.ledger import Claim, Evidence, Form, Means, Step, Undecided
from theory.tables import published
from theory.too_few_heads import regime

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED
SYNTHETIC_WIDTH = 32
ENOUGH = {"table2": 4, "table3": 4, "table4": 3, "table5": 2}
"""Head count with L h = D."""


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for E1, E1b, E1c, E2, E3 and E4."""
    return (*_synthetic(claims), *_readings(claims), *_variations(claims))


def _synthetic(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    claim, table = claims["E1"], published("table2")
    assert table.std is not None
    least_spread = min(figures.spread(table.errors_at(h)) for h in (1, 2, 3))
    pairs = [pair for rows in zip(table.value, table.std, strict=True) for pair in zip(*rows, strict=True)]
    ratios = [(std / value) ** 2 for value, std in pairs]
    return (
        refutes(
            claim.id,
            PUBLISHED,
            counterexample_step(
                claim,
                PUBLISHED,
                {"a": "0.000694", "b": "0.00064"},
                {"up to a tenth": "a <= 11/10*b", "it falls": "a > b"},
            ),
        ),
        refutes(
            claim.id,
            ARGUMENT,
            counterexample_step(claim, ARGUMENT, {"a": "1", "b": "2", "s": "1"}, {"at most": "min(a, b) <= (a + b)/2"}),
        ),
        proves(
            claim.id,
            REPAIRED,
            figures.transition(table, 4),
            figures.rows(
                "for h < 4 the error grows 2 to 2.5 times from T = 8 to T = 128",
                table,
                (1, 2, 3),
                lambda errors: 2 * errors[0] <= errors[-1] <= Fraction(5, 2) * errors[0],
                {"3 times": lambda errors: 3 * errors[0] <= errors[-1]},
            ),
            figures.rows(
                "for h >= 4 the spread is below a sixteenth of any spread for h < 4",
                table,
                (4, 5),
                lambda errors: 16 * figures.spread(errors) < least_spread,
                {"a seventeenth": lambda errors: 17 * figures.spread(errors) < least_spread},
            ),
        ),
        proves(
            claim.id,
            SHARPENED,
            step(
                "non-negative numbers: the sum of squares is at most the square of the sum, one more",
                Means.SMT,
                ["S >= 0", "Q <= S^2", "x >= 0"],
                "Q + x^2 <= (S + x)^2",
                {"half": "Q + x^2 <= (S + x)^2/2", "strict": "Q + x^2 < (S + x)^2"},
            ),
            statement_step(claim, SHARPENED, Means.SMT, {"one less": "k - 1 >= v*(k/S)^2", "half": "k >= 2*v*(k/S)^2"}),
            exhaustive_step(
                "the largest (std/value)^2 in Table 2 lies between 40 and 41",
                lambda: [max(ratios)],
                lambda most: 40 < most < 41,
                {"41 seeds are not enough": lambda most: most > 41, "20 are": lambda most: most < 20},
            ),
            figures.rows(
                "for h >= 4 the error falls at least eightfold",
                table,
                (4, 5),
                lambda errors: 8 * errors[-1] <= errors[0],
                {"tenfold": lambda errors: 10 * errors[-1] <= errors[0]},
            ),
        ),
    )


def _readings(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """E1b and E1c."""
    final = claims["E1c"]
    slopes = Step(
        "looked for figures at other N than 32",
        Means.SAMPLED,
        lambda: Undecided(
            "The printed tables have N = 32 only; Figure 1b's points are not printed, so no slope can be computed.",
            "repeat the experiment over N (headcount's own sweep)",
        ),
    )
    enough = [(name, h) for name, least in ENOUGH.items() for h in published(name).heads if h >= least]
    rises = {("table3", 4), ("table4", 3), ("table4", 4), *(("table5", h) for h in (2, 3, 4, 5))}
    return (
        proves("E1b", PUBLISHED, slopes),
        proves("E1b", SHARPENED, _regime("table2", 4, lambda h: 8, {(1, 64), (1, 128), (2, 128)})),
        refutes(
            final.id,
            PUBLISHED,
            counterexample_step(
                final,
                PUBLISHED,
                {"a": "0.00000875", "b": "0.00000523"},
                {"it falls": "b < a", "up to a half": "b > a/2"},
            ),
        ),
        proves(
            final.id,
            REPAIRED,
            exhaustive_step(
                "rows with L h >= D in Tables 2 to 5: lower at T = 16 than at T = 8",
                lambda: enough,
                lambda row: _errors(row)[1] < _errors(row)[0],
                {
                    "and at 32 than at 16": lambda row: _errors(row)[2] < _errors(row)[1],
                    "by half": lambda row: 2 * _errors(row)[1] < _errors(row)[0],
                },
            ),
        ),
        proves(
            final.id,
            SHARPENED,
            exhaustive_step(
                "rows with L h >= D in Tables 2 to 5: which are higher at T = 128 than at their lowest",
                lambda: enough,
                lambda row: (_errors(row)[-1] > min(_errors(row))) == (row in rises),
                {
                    "all": lambda row: _errors(row)[-1] > min(_errors(row)),
                    "none": lambda row: _errors(row)[-1] == min(_errors(row)),
                },
            ),
        ),
    )


def _variations(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    fixed, three, deep = published("table3"), published("table4"), published("table5")
    rule = claims["E4"]
    return (
        proves(
            "E2",
            PUBLISHED,
            exhaustive_step(
                "total widths h ceil(32/h)",
                lambda: zip(fixed.heads, (32, 32, 33, 32, 35), strict=True),
                lambda case: case[0] * _head_dim(case[0]) == case[1],
                {"rounded down": lambda case: case[0] * (SYNTHETIC_WIDTH // case[0]) == case[1]},
            ),
            figures.transition(fixed, 4),
        ),
        proves(
            "E2",
            SHARPENED,
            figures.rows(
                "for h < 4 the error grows in every step",
                fixed,
                (1, 2, 3),
                figures.increasing,
                {"to twice": lambda errors: 2 * errors[0] <= errors[-1]},
            ),
            _regime("table3", 4, _head_dim, set()),
        ),
        proves("E3", PUBLISHED, figures.transition(three, 3)),
        proves(
            "E3",
            SHARPENED,
            figures.rows(
                "h = 1: grows in every step",
                three,
                (1,),
                figures.increasing,
                {"falls": lambda e: not figures.increasing(e)},
            ),
            figures.rows(
                "h = 2: falls once, then grows",
                three,
                (2,),
                lambda errors: errors[0] > errors[1] and figures.increasing(errors[1:]),
                {"grows": figures.increasing},
            ),
        ),
        proves(rule.id, PUBLISHED, figures.transition(deep, 2)),
        refutes(
            rule.id,
            ARGUMENT,
            counterexample_step(
                rule, ARGUMENT, {"h": "2"}, {"three layers": "abs(3*h - h^3) > 0", "against h": "abs(2*h - h) > 0"}
            ),
        ),
    )


def _regime(name: str, num_targets: int, head_dim: Callable[[int], int], positive: set[tuple[int, int]]) -> Step:
    table = published(name)
    cells = [(h, length) for h in table.heads if h < num_targets for length in table.seq_lens]

    def said(cell: tuple[int, int]) -> bool:
        found = regime(cell[1], head_dim(cell[0]), cell[0], num_targets)
        return found.published_is_positive and found.sharpened_is_positive

    return exhaustive_step(
        f"{name}: {len(positive)} of {len(cells)} cells with h < D have k > 0 (T2.2 and N4 alike)",
        lambda: cells,
        lambda cell: said(cell) == (cell in positive),
        {"all": said, "all of T = 128": lambda cell: said(cell) == (cell[1] == 128)},
    )


def _errors(row: tuple[str, int]) -> tuple[Fraction, ...]:
    return published(row[0]).errors_at(row[1])


def _head_dim(heads: int) -> int:
    return -(-SYNTHETIC_WIDTH // heads)
