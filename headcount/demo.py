"""``headcount demo``: the whole message once, from the audit to a page that shows everything."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from checks import budget
from checks.certificates import writer
from checks.error_certificates import error_certificate
from checks.hypotheses import check_task
from constructions.adversary.attack import attack
from constructions.built import Built
from constructions.task import RetrievalTask, built_in, toy
from headcount import building, console, figures, kinds, report
from headcount.auditing import perform
from headcount.pairing import ProvedPair, describe, find
from headcount.training import TrainedBlock, trained_blocks
from theory.ledger import Form, Proved, Undecided

SEQ_LEN, HEAD_DIM, HEADS, SEEDS = 32, 8, (1, 2, 3), (0, 1, 2)
BUILD_SEQ_LEN, EPS = 16, Fraction(1, 20)
CONFIRMED_AT = (2, 3)
PAIR_BUDGET, ATTACK_BUDGET = 15.0, 3.0
CERTIFICATES = {"pair": "one_head_collision.json", "error": "two_heads_error.json", "gate": "published_gate.json"}


@dataclass(frozen=True)
class Steps:
    """Tells the reader where the run is, one line for each step."""

    quiet: bool
    begin: float

    def start(self, text: str) -> None:
        if not self.quiet:
            console.out.print(f"[{time.perf_counter() - self.begin:5.1f} s] {text}", markup=False)


def run(out: Path, seed: int, as_json: bool) -> None:
    """Run everything, write the page and the certificates into ``out``; exit 0 if all came out as expected."""
    steps = Steps(as_json, time.perf_counter())
    out.mkdir(parents=True, exist_ok=True)
    steps.start("audit: decide the registered claims")
    ledger = perform([], use_cache=True, quiet=as_json)
    steps.start("build: two heads for max + min, and the published gate that fails")
    built = _build(out)
    steps.start(f"train: blocks with h = {', '.join(map(str, HEADS))} heads (kept in {out / 'runs.sqlite'})")
    task = toy(SEQ_LEN)
    blocks = trained_blocks(
        task, HEADS, HEAD_DIM, [seed + offset for offset in SEEDS], out / "runs.sqlite", "corners", as_json
    )
    steps.start("pair: sequences that the one-head block cannot tell apart, and the same search with more heads")
    rows, pair = _sweep(blocks, as_json)
    if isinstance(pair, Undecided):
        console.err.print(f"no collision was proved for the one-head block: {pair.detail}", markup=False)
        console.finish(pair.exit_code)
    writer.write(out / CERTIFICATES["pair"], pair.certificate)
    steps.start("verify: the independent checker, in a process of its own")
    answers = [_verified(out / name) for name in CERTIFICATES.values()]
    page = report.write(out, _context(built, pair, rows, ledger, answers))
    expected = all(answer["label"] == Proved.label for answer in answers)
    data = {
        "report": str(page),
        "seconds": round(time.perf_counter() - steps.begin, 1),
        "certified_two_head_error": built["bound"],
        "one_head_irreducible_error": float(pair.collision.gap) / 2,
        "answers": answers,
        "sweep": rows,
    }
    console.emit(as_json, data, lambda: _render(data))
    console.finish(console.PROVED if expected else console.UNDECIDED)


def _build(out: Path) -> dict[str, Any]:
    built, task, certified = _certified("toy", BUILD_SEQ_LEN, Form.SHARPENED)
    building.write_network(out / "two_heads.json", built)
    _write_error_certificate(out / CERTIFICATES["error"], built, task, certified)
    _write_error_certificate(out / CERTIFICATES["gate"], *_certified("hard_gate", 4, Form.PUBLISHED))
    data = building.describe(built, certified, check_task(task))
    return {
        "seq_len": BUILD_SEQ_LEN,
        "form": built.form,
        "beta": data["beta"],
        "bound": data["certified_sup_error"],
        "eps": str(EPS),
        "label": data["verdict"],
        "terms": [{"name": term["name"], "claim": term["claim"], "value": term["upper"]} for term in data["budget"]],
        "confirmed": [_confirmed(length) for length in CONFIRMED_AT],
    }


def _certified(name: str, seq_len: int, form: Form) -> tuple[Built, RetrievalTask, budget.Report]:
    """Specialists for a built-in task and the report on their error."""
    task = built_in(name, seq_len)
    built = kinds.make("specialists", task, EPS, form.value)
    return built, task, budget.certify(built.network, task, EPS)


def _write_error_certificate(path: Path, built: Built, task: RetrievalTask, certified: budget.Report) -> None:
    content = error_certificate(built.network, task, EPS, certified)
    if content is not None:
        writer.write(path, content)


def _confirmed(seq_len: int) -> dict[str, Any]:
    built, _, certified = _certified("toy", seq_len, Form.SHARPENED)
    bound = certified.bound_upper
    assert bound is not None
    return {"seq_len": seq_len, **building.bisected(built), "budget": console.scientific(bound, 4)}


def _sweep(blocks: list[TrainedBlock], quiet: bool) -> tuple[list[dict[str, Any]], ProvedPair | Undecided]:
    """Every block; the best trained one of each head count is attacked and searched. And the one-head block's pair."""
    best = {heads: min((b for b in blocks if b.num_heads == heads), key=lambda b: b.nmse) for heads in HEADS}
    task, rows, pairs = toy(SEQ_LEN), [], {}
    for block in blocks:
        row: dict[str, Any] = {"heads": block.num_heads, "seed": block.seed, "nmse_value": block.nmse}
        attacked = certified = 0.0
        if block is best[block.num_heads]:
            attacked = attack(block.network, task, block.seed, ATTACK_BUDGET).error
            found = pairs[block.num_heads] = find(block.network, task, block.seed, PAIR_BUDGET, quiet)
            certified = 0.0 if isinstance(found, Undecided) else float(found.collision.gap) / 2
        row |= {"attacked_value": attacked, "certified_value": certified, "nmse": f"{block.nmse:.2e}"}
        row |= {"attacked": f"{attacked:.3g}" if attacked else "", "certified": f"{certified:.3g}" if certified else ""}
        rows.append(row)
    return rows, pairs[1]


def _verified(path: Path) -> dict[str, Any]:
    """What a separate process of the checker says about a certificate."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "checks.verify", str(path)]
    process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    labels = {0: "PROVED", 1: "REFUTED", 2: "UNDECIDED"}
    return {
        "file": path.name,
        "label": labels.get(process.returncode, "USAGE"),
        "seconds": round(time.perf_counter() - begin, 2),
    }


def _context(
    built: dict[str, Any], pair: ProvedPair, rows: list[dict[str, Any]], ledger: Any, answers: list[dict[str, Any]]
) -> dict[str, Any]:
    shown = describe(pair, None)
    first, second = ([token[0] for token in shown[name]] for name in ("first", "second"))
    outputs = np.array(shown["attention_outputs"])
    half = float(pair.collision.gap) / 2
    figure = figures.pair_figure(first, second, outputs[0].tolist(), shown["targets"])
    return {
        "message": (
            f"Two heads compute max + min of {BUILD_SEQ_LEN} numbers within {built['bound']}, "
            "certified over all inputs.",
            f"A trained one-head block maps two different sequences to exactly the same place although their targets "
            f"differ by {2 * half:.3f}, so no read-out of any size behind it errs by less than {half:.3f}.",
            "Both facts are files that a small independent checker verifies in seconds.",
        ),
        "build": built,
        "pair": {
            "head_dim": HEAD_DIM,
            "seq_len": SEQ_LEN,
            "radius": shown["radius"],
            "targets": [f"{value:.6f}" for value in shown["targets"]],
            "half_gap": f"{half:.4f}",
            "figure": figure,
            "outputs": [
                {"first": f"{a:.12g}", "second": f"{b:.12g}", "radius": "0 (exactly equal)"}
                for a, b in zip(*outputs, strict=True)
            ],
        },
        "sweep": {
            "figure": figures.sweep_figure(rows),
            "caption": f"Blocks of {HEAD_DIM} dimensions per head, T = {SEQ_LEN}, {len(SEEDS)} seeds. The best trained "
            "block of each head count was searched. The circle is proved: no read-out behind that block does better "
            "in the worst case. The square is the worst error found by attacking the trained model.",
            "rows": rows,
        },
        "ledger": report.ledger_context(ledger),
        "verify": [f"headcount verify {name}" for name in CERTIFICATES.values()] + ["headcount audit --no-cache"],
        "answers": answers,
        "provenance": f"{version('headcount')}, python-flint {version('python-flint')}, torch {version('torch')}",
    }


def _render(data: dict[str, Any]) -> None:
    console.out.print(
        f"two heads: certified error {data['certified_two_head_error']} over all sequences\n"
        f"one head: no read-out errs by less than {data['one_head_irreducible_error']:.4f}",
        markup=False,
    )
    for answer in data["answers"]:
        console.out.print(f"{console.styled(answer['label'])} {answer['file']} ({answer['seconds']} s)")
    console.out.print(f"report: {data['report']} ({data['seconds']} s in all)", markup=False)
