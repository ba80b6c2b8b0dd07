"""Tables of a sweep: ours beside the paper's, over seeds, with the constructed model's line.

The paper's text says minimal validation NMSE over seeds, its captions mean and standard deviation (E1); here all of
minimum, median and mean stand side by side, and the error on fresh sequences of the seed that validation selects.
"""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from itertools import groupby
from typing import Any

from experiments.plan import Group, Plan
from experiments.store import Store
from experiments.sweep import is_finished
from experiments.synthetic import constructed_nmse_estimate
from theory import tables

CONSTRUCTED_BETA = 200.0  # trained heads with h = D were seen to reach 190 to 355


@dataclass(frozen=True)
class Row:
    """One configuration over its seeds; errors are NMSE at the end of training, None where nothing is known.

    ``paper`` and ``paper_std`` are the printed figures for this T and h. ``constructed_estimate``: h = D heads by
    construction at beta = CONSTRUCTED_BETA, for orthonormal a_i only.
    """

    draw: str
    draw_seed: int
    num_targets: int
    seq_len: int
    num_heads: int
    head_dim: int
    hidden: int
    epochs: int
    seeds: int
    finished: int
    failed: int
    validation_min: float | None
    validation_median: float | None
    validation_mean: float | None
    test_of_min: float | None
    test_median: float | None
    paper: float | None
    paper_std: float | None
    constructed_estimate: float | None

    def to_json(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)


def rows_of(plan: Plan, store: Store) -> list[Row]:
    """One row per group of the plan, from what the store has finished so far."""
    return [_row(plan, group, store) for group in plan.groups]


def _row(plan: Plan, group: Group, store: Store) -> Row:
    results = [store.result(group.cell(seed)) for seed in group.seeds]
    finished = [result for result in results if result is not None and is_finished(result)]
    pairs = sorted((result["validation_nmse"][-1], result["test_nmse"]) for result in finished)
    validation, test = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    block, data = group.block, group.data
    paper, paper_std = _printed(plan.paper, block.seq_len, block.num_heads)
    return Row(
        draw=data.draw,
        draw_seed=data.draw_seed,
        num_targets=data.num_targets,
        seq_len=block.seq_len,
        num_heads=block.num_heads,
        head_dim=block.head_dim,
        hidden=block.hidden,
        epochs=group.recipe.epochs,
        seeds=len(group.seeds),
        finished=len(finished),
        failed=sum(result is not None and not is_finished(result) for result in results),
        validation_min=validation[0] if pairs else None,
        validation_median=statistics.median(validation) if pairs else None,
        validation_mean=statistics.fmean(validation) if pairs else None,
        test_of_min=test[0] if pairs else None,
        test_median=statistics.median(test) if pairs else None,
        paper=paper,
        paper_std=paper_std,
        constructed_estimate=_constructed(group),
    )


def _constructed(group: Group) -> float | None:
    block = group.block
    possible = group.data.draw == "orthonormal" and block.num_heads >= group.data.num_targets and block.seq_len >= 2
    return constructed_nmse_estimate(block.seq_len, CONSTRUCTED_BETA) if possible else None


def _printed(name: str | None, seq_len: int, heads: int) -> tuple[float | None, float | None]:
    """The paper's figure and standard deviation for one cell, None where it prints none."""
    if name is None:
        return None, None
    table = tables.published(name)
    if heads not in table.heads or seq_len not in table.seq_lens:
        return None, None
    row, column = table.heads.index(heads), table.seq_lens.index(seq_len)
    return float(table.value[row][column]), None if table.std is None else float(table.std[row][column])


def to_csv(rows: Sequence[Row]) -> str:
    """All rows with all fields; empty where nothing is known, floats in full."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(row.to_json() for row in rows)
    return buffer.getvalue()


def markdown(plan: Plan, rows: Sequence[Row]) -> str:
    """One table per draw, D, N and training: a line per h, per T the minimum over seeds, its test error, the paper's.

    ``!`` marks an entry whose seeds are not all finished, ``-`` one without any.
    """
    parts = [f"# {plan.name}", "", plan.about]
    for (draw, draw_seed, targets, hidden, epochs), same in groupby(sorted(rows, key=_table), _table):
        table = list(same)
        seeds = sorted({row.finished for row in table})
        span = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
        parts += [
            "",
            f"a_i {draw} (draw {draw_seed}), D = {targets}, N = {hidden}, {epochs} epochs; seeds finished: {span}.",
            "Minimal validation NMSE over seeds, in brackets that model's on fresh sequences"
            + (f"; / {plan.paper} of the paper." if any(row.paper is not None for row in table) else "."),
            "",
            *_grid(table),
        ]
    return "\n".join(parts)


def _table(row: Row) -> tuple[str, int, int, int, int]:
    return row.draw, row.draw_seed, row.num_targets, row.hidden, row.epochs


def _grid(rows: Sequence[Row]) -> list[str]:
    """The lines of one Markdown table."""
    seq_lens, heads = sorted({row.seq_len for row in rows}), sorted({row.num_heads for row in rows})
    found = {(row.num_heads, row.seq_len): row for row in rows}
    body = [[str(h), *(_entry(found[h, t]) if (h, t) in found else "" for t in seq_lens)] for h in heads]
    built = {row.seq_len: row.constructed_estimate for row in rows if row.constructed_estimate is not None}
    if built:
        line = (f"{built[t]:.1e}" if t in built else "" for t in seq_lens)
        body.append([f"constructed, beta = {CONSTRUCTED_BETA:g}", *line])
    header = ["h", *(f"T = {t}" for t in seq_lens)]
    lines = [header, ["---"] * len(header), *body]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _entry(row: Row) -> str:
    paper = "" if row.paper is None else f" / {row.paper:.1e}"
    if row.validation_min is None or row.test_of_min is None:
        return "-" + paper
    mark = "" if row.finished == row.seeds else "!"
    return f"{row.validation_min:.1e}{mark} ({row.test_of_min:.1e}){paper}"
