"""``headcount pair --method``: the proofs' own pairs from the command line, checked by the independent checker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headcount import cli


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["pair", *arguments])
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out + printed.err


@pytest.mark.parametrize("method", ["grid", "lattice"])
def test_pairs_of_the_proofs_are_found_and_verified(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, method: str
) -> None:
    """Catches a method that is not wired, and a certificate that the checker does not accept."""
    out = tmp_path / "pair.json"
    task = ("--task", "quadratic(2,1)", "--seq-len", "40", "--head-dim", "1")
    code, text = run(capsys, "--method", method, *task, "--out", str(out), "--json")
    assert code == 0
    data = json.loads(text)
    assert data["certificate"] == str(out)
    if method == "grid":
        assert data["guaranteed"]
        assert data["found"]
    with pytest.raises(SystemExit) as ended:
        cli.main(["verify", str(out)])
    assert not ended.value.code


def test_an_unknown_method_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a typing error taken for the default."""
    code, text = run(capsys, "--method", "gird")
    assert code == 3
    assert "optimal, grid, lattice" in text
