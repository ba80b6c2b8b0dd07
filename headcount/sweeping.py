"""The command ``sweep``: run a plan into a store, show progress and the table so far, say what failed."""

from __future__ import annotations

from pathlib import Path

from experiments import plan as plans
from experiments.native import engine_for
from experiments.pool import in_processes
from experiments.store import Store
from experiments.sweep import Event, Summary, in_this_process, run_sweep
from experiments.tables import Row, markdown, rows_of
from headcount import console
from theory.errors import InvalidInput

MOST_JOBS = 64


def run(name: str, store: Path | None, jobs: int, budget: float | None, engine: str | None, as_json: bool) -> None:
    """Run a plan; exit code 0: all cells finished, 1: some failed, 2: the budget ended first."""
    if not 1 <= jobs <= MOST_JOBS:
        raise InvalidInput.about("jobs", jobs, f"1 <= jobs <= {MOST_JOBS}", "one per core")
    if budget is not None and not budget > 0:
        raise InvalidInput.about("budget", budget, "minutes > 0", "--budget 10")
    plan = plans.load(name, engine or fastest_engine())
    runner = in_this_process if jobs == 1 else in_processes(jobs)
    path = store if store is not None else plans.default_store(plan)
    with Store(path) as opened:
        with console.progress_bar(plan.name, 1.0, as_json) as advance:

            def report(event: Event | None, done: float, total: float) -> None:
                text = "" if event is None else f"T = {event.group.block.seq_len}, h = {event.group.block.num_heads}"
                advance(text, done / total)

            seconds = None if budget is None else 60 * budget
            summary = run_sweep(plan, opened, runner, seconds, report)
        rows = rows_of(plan, opened)
    data = {
        "plan": plan.name,
        "engine": plan.groups[0].engine,
        "store": str(path),
        "cells": plan.num_cells,
        "finished": summary.finished,
        "trained": summary.trained,
        "unfinished": summary.unfinished,
        "failures": summary.failures,
        "seconds": summary.seconds,
        "rows": [row.to_json() for row in rows],
    }
    console.emit(as_json, data, lambda: _show(plan, path, summary, rows))
    console.finish(console.REFUTED if summary.failures else console.UNDECIDED if summary.unfinished else console.PROVED)


def fastest_engine() -> str:
    """The name of the fastest engine at hand; one line on standard error where that is not the native one."""
    return engine_for("cpu", lambda line: console.err.print(line, markup=False)).name


def _show(plan: plans.Plan, store: Path, summary: Summary, rows: list[Row]) -> None:
    console.out.print(markdown(plan, rows), markup=False)
    console.out.print(
        f"{summary.finished} of {plan.num_cells} models, {summary.trained} trained now in {summary.seconds:.1f} s "
        f"({plan.groups[0].engine} engine); store {store}",
        markup=False,
    )
    for label, reason in summary.failures.items():
        console.out.print(f"failed: {label}: {reason}", markup=False)
    if summary.unfinished:
        console.out.print("The budget ended first: the same command goes on where it stopped.", markup=False)
