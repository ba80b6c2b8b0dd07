"""``headcount pair --method grid|lattice``: data, tables, files, exit codes."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from checks import verify
from checks.certificates import writer
from constructions.adversary.grid_blocks import small_block, wrong_index_sets
from constructions.task import quadratic, toy
from headcount import console
from headcount.grid_view import grid, index_set_certificates, render_grid, run_grid, run_lattice
from theory.errors import InvalidInput

BETA = Fraction(2)


def test_grid_writes_a_checked_certificate_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Would catch: data that is not JSON, a certificate that the checker refuses, a wrong exit code."""
    path = tmp_path / "pair.json"
    with pytest.raises(console.Finished) as end:
        run_grid(small_block(8, 1, 1, 1, BETA, 0), toy(8), "n4", None, 6, 0, path, True)
    data = json.loads(capsys.readouterr().out)
    assert end.value.code == console.PROVED
    assert (data["subsequences"], data["cells"], data["guaranteed"]) == (8008, 7921, True)
    assert {row["verdict"] for row in data["rows"]} == {"holds"}
    assert verify.verify(path.read_bytes()).label == "PROVED"


def test_table_shows_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    """Would catch: rows lost on the way, statements eaten as markup."""
    network, task = wrong_index_sets()
    data, _ = grid(network, task, "printed", Fraction(1, 1000))
    with console.out.capture() as captured:
        render_grid(data)
    shown = captured.get()
    assert shown.count("fails") == sum(row["verdict"] == "fails" for row in data["rows"]) > 5
    assert "T2.2-36" in shown


def test_no_pair_ends_undecided() -> None:
    """Would catch: an exit code 0, or a traceback, where the search finds nothing."""
    task = quadratic(2, 1, 28)
    with pytest.raises(console.Finished) as end:
        run_grid(small_block(28, 1, 1, 1, BETA, 0), task, "repaired", Fraction(1, 20000), 6, 0, None, True)
    assert end.value.code == console.UNDECIDED


def test_unknown_proof_is_refused() -> None:
    """Would catch: a misspelt proof taken for another."""
    with pytest.raises(InvalidInput, match="n4, printed, repaired"):
        grid(small_block(8, 1, 1, 1, BETA, 0), toy(8), "N4")


def test_index_set_certificates_are_accepted() -> None:
    """Would catch: the refutation of T2.2-max going stale."""
    answers = {name: verify.verify(writer.to_bytes(entry)).label for name, entry in index_set_certificates().items()}
    assert answers == {"T2.2-Q4": "PROVED", "T2.2-36": "PROVED"}


def test_lattice_draws_and_certifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Would catch: a figure without its points, distances that do not fall with finer grids."""
    path, plot = tmp_path / "pair.json", tmp_path / "lattice.svg"
    with pytest.raises(console.Finished) as end:
        run_lattice(small_block(48, 1, 1, 2, BETA, 0), quadratic(2, 1, 48), [20, 40, 80], 0, path, plot, True)
    data = json.loads(capsys.readouterr().out)
    assert end.value.code == console.PROVED
    digits = [row["reached_digits"] for row in data["rows"]]
    assert digits == sorted(digits)
    assert all(row["reached_digits"] > row["rounded_digits"] + 3 for row in data["rows"])
    assert verify.verify(path.read_bytes()).label == "PROVED"
    assert plot.read_text().startswith("<svg")
