"""The command ``tables``: a store's results as CSV and Markdown, with configuration and versions beside them."""

from __future__ import annotations

import json
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from experiments import plan as plans
from experiments.store import Store
from experiments.tables import Row, markdown, rows_of, to_csv
from headcount import console
from headcount.sweeping import fastest_engine
from theory.errors import InvalidInput

VERSIONED = ("headcount", "torch", "numpy")


def run(names: list[str], store: Path | None, out: Path, engine: str | None, as_json: bool) -> None:
    """Write every plan's tables; exit code 2 if a plan has unfinished cells."""
    chosen = engine or fastest_engine()
    written = [_write(plans.load(name, chosen), store, out) for name in names]
    complete = all(entry["finished"] == entry["cells"] for entry in written)

    def show() -> None:
        for entry in written:
            console.out.print(f"{entry['plan']}: {entry['finished']} of {entry['cells']} models", markup=False)
            for file in entry["files"]:
                console.out.print(f"  {file}", markup=False)

    console.emit(as_json, {"tables": written}, show)
    console.finish(console.PROVED if complete else console.UNDECIDED)


def _write(plan: plans.Plan, store: Path | None, out: Path) -> dict[str, Any]:
    path = store if store is not None else plans.default_store(plan)
    if not path.is_file():
        raise InvalidInput.about("store", str(path), "an existing file", f"headcount sweep {plan.name} first")
    with Store(path) as opened:
        rows = rows_of(plan, opened)
    folder = out / plan.name
    folder.mkdir(parents=True, exist_ok=True)
    finished = sum(row.finished for row in rows)
    text = markdown(plan, rows)
    if finished < plan.num_cells:
        text += f"\n\nPARTIAL: {finished} of {plan.num_cells} models are finished."
    contents = {"table.csv": to_csv(rows), "table.md": text + "\n", "run.json": _run_record(plan, rows)}
    for name, content in contents.items():
        (folder / name).write_text(content, encoding="utf-8")
    files = [str(folder / name) for name in contents]
    return {"plan": plan.name, "cells": plan.num_cells, "finished": finished, "files": files}


def _run_record(plan: plans.Plan, rows: list[Row]) -> str:
    """Every group's resolved configuration without its seed, its seeds, and what produced the figures."""
    groups = []
    for group, row in zip(plan.groups, rows, strict=True):
        shared = {name: value for name, value in group.cell(0).items() if name != "seed"}
        groups.append(shared | {"seeds": list(group.seeds), "finished": row.finished})
    versions = {name: metadata.version(name) for name in VERSIONED} | {"python": platform.python_version()}
    versions |= {"system": platform.system(), "machine": platform.machine()}
    record = {"plan": plan.name, "about": plan.about, "versions": versions, "groups": groups}
    return json.dumps(record, indent=1) + "\n"
