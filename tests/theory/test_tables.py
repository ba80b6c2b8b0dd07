"""The printed figures: exact, complete, and refused where they do not exist."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from theory.errors import InvalidInput
from theory.tables import largest_drop, published, reversal_score

SHARED = Path(__file__).parents[3] / "shared" / "paper" / "tables.json"
NAMES = tuple(f"table{number}" for number in range(2, 10))


def test_figures_are_exact_decimals() -> None:
    """Catches a float on the way: 0.0701 is 701/10000, and 99.8 per cent leaves an error of 1/500."""
    assert published("table2").value[0][0] == Fraction(701, 10_000)
    assert published("table8").errors_at(20)[0] == Fraction(1, 500)
    assert published("table6").errors_at(12)[0] == 0


@pytest.mark.parametrize("name", NAMES)
def test_every_table_is_rectangular_and_plausible(name: str) -> None:
    """Catches a row or entry lost in copying: shapes, heads increasing, errors in [0, 1)."""
    table = published(name)
    assert len(table.value) == len(table.heads)
    assert list(table.heads) == sorted(set(table.heads))
    for row in (*table.errors, *(table.std or ())):
        assert len(row) == len(table.seq_lens)
        assert all(0 <= entry < 1 for entry in row)


@pytest.mark.skipif(not SHARED.exists(), reason="the original figures are not beside the repository")
def test_the_copy_is_the_original() -> None:
    """Catches a figure edited in the repository."""
    ours = Path(__file__).parents[2] / "theory" / "claims" / "tables.json"
    assert json.loads(ours.read_text(encoding="utf-8")) == json.loads(SHARED.read_text(encoding="utf-8"))


def test_unknown_tables_and_rows_are_refused() -> None:
    """Catches a silent default."""
    with pytest.raises(InvalidInput, match="table1"):
        published("table1")
    with pytest.raises(InvalidInput, match="row of table2"):
        published("table2").errors_at(6)


def test_score_and_drop_on_small_cases() -> None:
    """Catches a wrong sum, normalisation or row: hand-computed."""
    assert reversal_score([Fraction(4), Fraction(1), Fraction(3)]) == Fraction(4, 3)
    assert reversal_score([Fraction(1), Fraction(1)]) == 0
    assert largest_drop(published("table5"), 0) == 2
