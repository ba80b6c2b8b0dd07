"""Sweeps: killed at random moments and resumed to the same bits, on one process or two; budgets and failures."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from experiments import plan as plans
from experiments.plan import Plan
from experiments.pool import in_processes
from experiments.store import Store
from experiments.sweep import Event, Job, Summary, in_this_process, run_sweep

TRANSITION = 10  # what NMSE(h=3)/NMSE(h=4) must reach; seen: 55
KILLS = int(os.environ.get("HEADCOUNT_KILLS", "3"))  # the acceptance run sets 10
HUGE = 1e30  # its square is infinite in float32
SHORT = b"""
[[grid]]
task = "sum_of_maxima"
num_targets = 2
token_dim = 4
draw = ["orthonormal", "gaussian"]
train = 256
validation = 64
test = 64
seq_len = [4, 6]
num_heads = [1, 2]
head_dim = 4
hidden = 8
seed = [0, 1, 2]
recipe = { epochs = 12, batch_size = 16, learning_rate = 1e-2, evaluate_every = 2 }
"""
MAIN = "import sys; from headcount.cli import main\nif __name__ == '__main__': main(sys.argv[1:])"


def short_plan() -> Plan:
    return plans.parse("short", SHORT)


def content(path: Path) -> list[tuple[str, Any, Any]]:
    """Every cell: key, result, and all bits of the checkpoint."""
    with Store(path) as store:
        cells = []
        for cell in store.cells():
            kept = store.checkpoint(cell.config) or {}
            cells.append((cell.key, cell.result, {name: value.numpy().tobytes() for name, value in kept.items()}))
    return cells


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of an undisturbed run of the short plan."""
    path = tmp_path_factory.mktemp("calm") / "s.sqlite"
    with Store(path) as store:
        summary = run_sweep(short_plan(), store, in_this_process)
    assert (summary.finished, summary.trained, summary.unfinished, summary.failures) == (24, 24, 0, {})
    return path


def command(plan: Path, store: Path, *more: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1"}
    arguments = [
        sys.executable,
        "-c",
        MAIN,
        "sweep",
        str(plan),
        "--store",
        str(store),
        "--engine",
        "torch",
        "--json",
        *more,
    ]
    return subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE)


def test_killed_sweep_resumes_to_the_same_bits(calm: Path, tmp_path: Path) -> None:
    """Catches a lost or doubled cell, and a resumed model that differs from the undisturbed one in any bit."""
    plan, store, chance = tmp_path / "short.toml", tmp_path / "s.sqlite", random.Random(5)
    plan.write_bytes(SHORT)
    interrupted = 0
    for _ in range(KILLS):
        with command(plan, store) as process:
            while process.poll() is None and not store.exists():
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.6))
            process.send_signal(signal.SIGKILL)
        interrupted += process.returncode == -signal.SIGKILL
    assert interrupted >= 1, "the sweep ended before it could be killed: nothing was tested"
    with command(plan, store) as process:
        assert process.stdout is not None
        report = json.load(process.stdout)
    assert process.returncode == 0
    assert (report["finished"], report["unfinished"]) == (24, 0)
    assert content(store) == content(calm)


def test_two_processes_give_the_same_store(calm: Path, tmp_path: Path) -> None:
    """Catches a result that depends on who trained, and workers that outlive the sweep."""
    with Store(tmp_path / "s.sqlite") as store:
        assert run_sweep(short_plan(), store, in_processes(2)).trained == 24
    assert content(tmp_path / "s.sqlite") == content(calm)


def test_a_dead_worker_costs_only_its_job(calm: Path, tmp_path: Path) -> None:
    """Catches a sweep that hangs or ends when a worker is killed; the failure is recorded, the next call repairs it."""
    import multiprocessing

    killed: list[int] = []

    def kill_one(event: Event | None, done: float, total: float) -> None:
        if event is not None and not killed:
            victim = multiprocessing.active_children()[0]
            assert victim.pid is not None
            killed.append(victim.pid)
            os.kill(victim.pid, signal.SIGKILL)

    with Store(tmp_path / "s.sqlite") as store:
        first = run_sweep(short_plan(), store, in_processes(2), progress=kill_one)
        assert killed
        assert 1 <= len(first.failures) <= 3
        assert all("worker process died" in reason for reason in first.failures.values())
        assert first.finished + len(first.failures) == 24
        assert run_sweep(short_plan(), store, in_this_process).failures == {}
    assert content(tmp_path / "s.sqlite") == content(calm)
    assert not multiprocessing.active_children()


def test_budget_ends_a_run_and_the_next_goes_on(calm: Path, tmp_path: Path) -> None:
    """Catches a budget that is ignored, or one that costs what was done before."""
    events: list[Event] = []

    def noted(jobs: Iterable[Job]) -> Iterator[Event]:
        for event in in_this_process(jobs):
            events.append(event)
            yield event

    with Store(tmp_path / "s.sqlite") as store:
        summary = run_sweep(short_plan(), store, noted, budget_seconds=1e-9)
        assert (len(events), summary.finished, summary.unfinished) == (1, 0, 24)
        shares: list[float] = []
        again = run_sweep(short_plan(), store, noted, progress=lambda event, done, total: shares.append(done / total))
        assert again.unfinished == 0
        assert shares == sorted(shares)
        assert shares[-1] == 1
    by_seed = [event.epoch for event in events if (event.group, event.seed) == (events[0].group, events[0].seed)]
    assert by_seed == [2, 4, 6, 8, 10, 12]
    assert content(tmp_path / "s.sqlite") == content(calm)


def run_once(plan: Plan, path: Path) -> Summary:
    with Store(path) as store:
        return run_sweep(plan, store, in_this_process)


def test_failures_are_recorded_and_the_rest_goes_on(tmp_path: Path) -> None:
    """Catches a damaged checkpoint or an impossible group that stops the sweep, and a failure not tried again."""
    plan, path = short_plan(), tmp_path / "s.sqlite"
    broken = plan.groups[0]
    with Store(path) as store:
        store.put(broken.cell(1), checkpoint={"nonsense": torch.zeros(3)})
    impossible = replace(plan.groups[1], recipe=replace(broken.recipe, batch_size=1024))
    summary = run_once(replace(plan, groups=(impossible, *plan.groups)), path)
    assert summary.finished == 23
    assert len(summary.failures) == 4
    assert sum("checkpoint" in reason for reason in summary.failures.values()) == 1
    assert sum("smaller batch" in reason for reason in summary.failures.values()) == 3
    with Store(path) as store:
        failed = store.result(broken.cell(1))
        assert failed is not None
        assert set(failed) == {"failure"}
    assert len(run_once(plan, path).failures) == 1


def test_divergence_is_a_failure(tmp_path: Path) -> None:
    """Catches nan weights that are stored as a checkpoint or a result, and one model's nan that spoils its group."""
    plan = replace(short_plan(), groups=short_plan().groups[:1])
    (group,) = plan.groups
    with Store(tmp_path / "s.sqlite") as store:
        run_sweep(plan, store, in_this_process, budget_seconds=1e-9)
        (started,) = (seed for seed in group.seeds if store.checkpoint(group.cell(seed)) is not None)
        kept = store.checkpoint(group.cell(started))
        assert kept is not None
        blown_up = {k: v * HUGE if k.startswith("parameters/") else v for k, v in kept.items()}
        store.put(group.cell(started), checkpoint=blown_up)
        summary = run_sweep(plan, store, in_this_process)
        assert summary.finished == 2
        assert "diverged" in next(iter(summary.failures.values()))
        left = store.checkpoint(group.cell(started))
        assert left is not None
        assert int(left["epoch"]) == 2


def test_smoke_shows_the_transition(tmp_path: Path) -> None:
    """Catches a trainer, a plan or a data set in which the fourth head no longer matters (D = 4, T = 8)."""
    plan = plans.load("smoke")
    few = replace(plan, groups=tuple(group for group in plan.groups if group.block.num_heads in (3, 4)))
    with Store(tmp_path / "s.sqlite") as store:
        run_sweep(few, store, in_this_process)
        found = {group.block.num_heads: store.result(group.cell(0)) for group in few.groups}
    for name in ("validation", "test"):
        three, four = (
            (found[h] or {})["test_nmse"] if name == "test" else (found[h] or {})["validation_nmse"][-1] for h in (3, 4)
        )
        assert three >= TRANSITION * four
