"""Every kind and form of network on a grid of tasks, lengths and accuracies: ``python -m benchmarks.build_grid``.

Each row builds a network and certifies its error; rows are appended to ``results/networks/grid.csv`` as they come, and
those already there are not done again. Seconds are processor time of one process.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
from fractions import Fraction
from pathlib import Path

from checks import budgets
from constructions.task import load_task
from headcount.console import scientific
from headcount.kinds import kinds, make
from theory.errors import TooLarge

TASKS, LENGTHS, ACCURACIES = ("toy", "synthetic(4)", "quadratic(3,2)"), (4, 16, 64), ("0.1", "0.03", "0.01")
SELECTOR_LENGTHS = (4, 8)
COLUMNS = ("kind", "form", "task", "seq_len", "eps", "verdict", "bound", "seconds")


def row(kind: str, form: str, task_name: str, seq_len: int, eps: str) -> dict[str, str]:
    """Build and certify one network."""
    start = time.process_time()
    try:
        report = budgets.certify(make(kind, load_task(task_name, seq_len), Fraction(eps), form))
        verdict, bound = report.verdict.label, report.bound_upper
    except TooLarge:
        verdict, bound = "TOO_LARGE", None
    shown = "" if bound is None else scientific(bound, 5)
    values = (kind, form, task_name, str(seq_len), eps, verdict, shown, f"{time.process_time() - start:.2f}")
    return dict(zip(COLUMNS, values, strict=True))


def main() -> None:
    """Fill the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/networks/grid.csv"))
    path = parser.parse_args().out
    path.parent.mkdir(parents=True, exist_ok=True)
    done = set()
    if path.exists():
        with path.open(newline="", encoding="utf-8") as stream:
            done = {tuple(entry[name] for name in COLUMNS[:5]) for entry in csv.DictReader(stream)}
    with path.open("a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for name, kind in kinds().items():
            lengths = SELECTOR_LENGTHS if name == "selector" else LENGTHS
            for form, task, seq_len, eps in itertools.product(kind.forms, TASKS, lengths, ACCURACIES):
                if (name, form, task, str(seq_len), eps) not in done:
                    found = row(name, form, task, seq_len, eps)
                    writer.writerow(found)
                    stream.flush()
                    print(", ".join(found.values()), flush=True)


if __name__ == "__main__":
    main()
