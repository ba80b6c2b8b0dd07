"""Section 7: the figures that claims quote, and independent computations beside the evidence."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from math import exp, log

import numpy as np
import pytest
from scipy.optimize import linprog

from theory.registry import all_claims
from theory.tables import published, reversal_score

BY_ID = {claim.id: claim for claim in all_claims()}
QUOTED = {
    "E1": {"a": ("table2", 3, 8), "b": ("table2", 3, 16)},
    "E1c": {"a": ("table2", 4, 64), "b": ("table2", 4, 128)},
    "E7": {"a": ("table2", 3, 8), "b": ("table2", 3, 16), "c": ("table2", 3, 128)},
}


@pytest.mark.parametrize("name", QUOTED)
def test_quoted_figures_are_the_printed_ones(name: str) -> None:
    """Catches a figure mistyped in a claim: the refutations rest on single entries of the tables."""
    for variable, (table_name, heads, seq_len) in QUOTED[name].items():
        table = published(table_name)
        entry = table.value[table.heads.index(heads)][table.seq_lens.index(seq_len)]
        assert BY_ID[name].published.instance[variable] == entry


def test_the_fit_passes_through_the_entries_that_its_refutation_moves() -> None:
    """Catches a refutation of E5's argument at entries that do not matter: alpha moves by 0.015 with one of them."""
    table = published("table6")
    a, b = Fraction("0.0083"), Fraction("0.008")
    assert table.errors_at(6)[table.seq_lens.index(8)] == b
    alphas = []
    for moved in (a, b):
        rows = []
        for heads in (2, 4, 6, 8):
            for seq_len, error in zip(table.seq_lens, table.errors_at(heads), strict=True):
                here = moved if (heads, seq_len) == (6, 8) else error
                rows.append((1.0, log(seq_len), heads / seq_len**0.25, log(here)))
        design, target = np.array([row[:3] for row in rows]), np.array([row[3] for row in rows])
        count = len(rows)
        # least absolute deviations: minimise sum of t, |target - design c| <= t
        cost = np.concatenate([np.zeros(3), np.ones(count)])
        bounds = np.block([[design, -np.eye(count)], [-design, -np.eye(count)]])
        found = linprog(
            cost, bounds, np.concatenate([target, -target]), bounds=[(None, None)] * 3 + [(0, None)] * count
        )
        alphas.append(found.x[2])
    moved_by = abs(log(a / b)) / (4 * 8**-0.25)
    assert moved_by > 0.01
    assert abs(alphas[0] - alphas[1]) == pytest.approx(moved_by, abs=1e-6)


def test_the_score_of_the_proposition_is_the_whole_score() -> None:
    """Catches a pair of lengths that E7's proposition forgets: R(3) in Table 2 is 5.4/94 by the full double sum."""
    values = BY_ID["E7"].published.instance
    assert reversal_score(published("table2").errors_at(3)) == (values["a"] - values["b"]) / (values["c"] - values["b"])


def test_sign_of_the_score_does_not_depend_on_the_scale() -> None:
    """Catches a convention (logarithms, other weights, only neighbours) under which E7 would hold for Table 2."""
    for name in ("table2", "table3", "table4", "table5", "table8"):
        table = published(name)
        for heads in table.heads:
            errors = table.errors_at(heads)
            score = reversal_score(errors)
            logs = [Fraction(log(error)) for error in errors]
            neighbours = sum(max(a - b, 0) for a, b in pairwise(errors))
            assert (score > 0) == (reversal_score(logs) > 0) == (neighbours > 0)


def test_mean_and_deviation_of_few_seeds_obey_the_bound() -> None:
    """Catches a wrong bound in E1 (sharpened): random seeds, one of them dominant, come close to k but not above."""
    generator = random.Random(1)
    largest = 0.0
    for _ in range(2000):
        seeds = generator.randint(2, 12)
        values = [exp(-generator.uniform(0, 40)) for _ in range(seeds)]
        mean = sum(values) / seeds
        variance = sum((value - mean) ** 2 for value in values) / (seeds - 1)
        largest = max(largest, variance / mean**2 / seeds)
    assert 0.95 < largest <= 1 + 1e-12
