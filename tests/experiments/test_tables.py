"""Tables: the right statistics beside the right printed figure; the constructed model's line against simulation."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from experiments import plan as plans
from experiments.store import Store
from experiments.synthetic import NormalMaximum, constructed_nmse_estimate, orthonormal_directions, sum_of_maxima
from experiments.tables import markdown, rows_of, to_csv
from headcount import console, tables_view
from theory.errors import InvalidInput

ASYMPTOTIC = 0.2  # relative; seen at beta = 100: 0.04 at T = 8, 0.08 at T = 32, and 0.02 of sampling
QUADRATURE = 1e-8

TWO = b"""
about = "two head counts"
paper = "table2"
[[grid]]
task = "sum_of_maxima"
num_targets = 4
token_dim = 4
draw = "orthonormal"
seq_len = [8, 12]
num_heads = [3, 4]
head_dim = 8
hidden = 32
seed = [0, 1, 2]
"""


def filled(path: Path) -> plans.Plan:
    """A store in which (T, h) = (8, 3) is complete, (8, 4) has one failure and one result, the rest is empty."""
    plan = plans.parse("two", TWO)
    cells = {(g.block.seq_len, g.block.num_heads): g for g in plan.groups}
    with Store(path) as store:
        for seed, (valid, test) in enumerate([(0.5, 0.1), (0.2, 0.3), (0.8, 0.6)]):
            store.put(cells[8, 3].cell(seed), result={"validation_nmse": [9.0, valid], "test_nmse": test})
        store.put(cells[8, 4].cell(0), result={"failure": "diverged"})
        store.put(cells[8, 4].cell(2), result={"validation_nmse": [1e-6], "test_nmse": 2e-6})
        store.put(cells[12, 3].cell(0), checkpoint={"x": torch.zeros(1)})
    return plan


def test_statistics_over_seeds(tmp_path: Path) -> None:
    """Catches best-epoch or first-epoch figures, a test error that was selected on itself, failures as results."""
    plan = filled(tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        rows = {(row.seq_len, row.num_heads): row for row in rows_of(plan, store)}
    full = rows[8, 3]
    assert (full.validation_min, full.validation_median, full.validation_mean) == (0.2, 0.5, 0.5)
    assert (full.test_of_min, full.test_median) == (0.3, 0.3)
    assert (full.finished, full.failed, full.seeds) == (3, 0, 3)
    assert (full.paper, full.paper_std, full.constructed_estimate) == (0.000694, 0.00029, None)
    part = rows[8, 4]
    assert (part.finished, part.failed, part.validation_min, part.test_of_min) == (1, 1, 1e-6, 2e-6)
    assert part.constructed_estimate == constructed_nmse_estimate(8, 200.0)
    assert (rows[12, 3].finished, rows[12, 3].validation_min, rows[12, 3].paper) == (0, None, None)


def test_texts_of_a_table(tmp_path: Path) -> None:
    """Catches a partial cell that looks complete, figures in the wrong row or column, a CSV that rounds."""
    plan = filled(tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        rows = rows_of(plan, store)
    lines = markdown(plan, rows).splitlines()
    assert "| h | T = 8 | T = 12 |" in lines
    assert "| 3 | 2.0e-01 (3.0e-01) / 6.9e-04 | - |" in lines
    assert "| 4 | 1.0e-06! (2.0e-06) / 6.1e-05 | - |" in lines
    assert "seeds finished: 0 to 3." in "\n".join(lines)
    parsed = list(csv.DictReader(io.StringIO(to_csv(rows))))
    assert [float(line["validation_min"]) for line in parsed if line["validation_min"]] == [0.2, 1e-6]
    assert parsed[0]["paper"] == "0.000694"


def test_command_writes_what_is_there_and_says_what_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a partial table without the word, an exit code 0 for it, a table from a store that is not there."""
    (tmp_path / "two.toml").write_bytes(TWO)
    filled(tmp_path / "s.sqlite")
    with pytest.raises(console.Finished) as ended:
        tables_view.run([str(tmp_path / "two.toml")], tmp_path / "s.sqlite", tmp_path / "out", "torch", True)
    assert ended.value.code == console.UNDECIDED
    (entry,) = json.loads(capsys.readouterr().out)["tables"]
    assert (entry["cells"], entry["finished"]) == (12, 4)
    folder = tmp_path / "out" / "two"
    assert "PARTIAL: 4 of 12" in (folder / "table.md").read_text()
    record = json.loads((folder / "run.json").read_text())
    assert record["versions"]["torch"] == torch.__version__
    assert [(group["seeds"], group["finished"]) for group in record["groups"]][:2] == [([0, 1, 2], 3), ([0, 1, 2], 1)]
    assert record["groups"][0]["block"]["num_heads"] == 3
    with pytest.raises(InvalidInput, match="headcount sweep"):
        tables_view.run(["smoke"], tmp_path / "none.sqlite", tmp_path, "torch", True)


@pytest.mark.parametrize("seq_len", [8, 32])
def test_constructed_line_against_simulated_heads(seq_len: int) -> None:
    """Catches a wrong constant, power of beta or normalisation in the closed form of the constructed model's NMSE."""
    beta, directions = 100.0, orthonormal_directions(4, 4, seed=3)
    sample = sum_of_maxima(directions, seq_len, 50_000, seed=1, purpose="simulation")
    scores = sample.x.to(torch.float64) @ directions.T
    said = (torch.softmax(beta * scores, dim=1) * scores).sum((1, 2))
    target = scores.max(1).values.sum(1)
    simulated = float((said - target).var() / target.var())
    assert simulated == pytest.approx(constructed_nmse_estimate(seq_len, beta), rel=ASYMPTOTIC)


def test_normal_maximum_in_closed_form() -> None:
    """Catches a quadrature that misses its integral: for T = 2 the variance is 1 - 1/pi, the density 1/sqrt(pi)."""
    two = NormalMaximum.of(2)
    assert two.variance == pytest.approx(1 - 1 / torch.pi, abs=QUADRATURE)
    assert two.gap_density == pytest.approx(1 / torch.pi**0.5, abs=QUADRATURE)
    with pytest.raises(InvalidInput, match="seq_len"):
        NormalMaximum.of(1)
    with pytest.raises(InvalidInput, match="beta"):
        constructed_nmse_estimate(8, float("inf"))


def test_presets_name_the_right_table() -> None:
    """Catches a preset whose D, width or heads are not those of the table that stands beside it."""
    for name, num_targets, heads in (("table2", 4, 5), ("table3", 4, 5), ("table4", 3, 4)):
        plan = plans.load(name)
        assert plan.paper == name
        assert {group.data.num_targets for group in plan.groups} == {num_targets}
        assert {group.block.num_heads for group in plan.groups} == set(range(1, heads + 1))
        wide = {replace(group.block, seq_len=8) for group in plan.groups}
        widths = sorted(block.embed_dim for block in wide)
        assert widths == ([8, 16, 24, 32, 40] if name == "table2" else [32, 32, 32, 33, 35][: len(widths)])
