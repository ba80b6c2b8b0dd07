"""``headcount pair``: search for two sequences that a block cannot tell apart, prove the collision, write it down."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from checks import balls, verify
from checks.certificates import writer
from checks.collisions import Collision, strongest
from constructions.adversary.grid_blocks import small_block
from constructions.evaluate import attention, target
from constructions.network import Network
from constructions.network_file import load_network
from constructions.task import RetrievalTask, load_task
from headcount import console, grid_view
from headcount.training import trained_blocks
from theory.errors import InvalidInput
from theory.ledger import Undecided

METHODS = ("optimal", "grid", "lattice")
LATTICE_BITS = 40
"""The lattice's grid is 2^-40."""


@dataclass(frozen=True, eq=False)
class ProvedPair:
    """A proved collision, its certificate, and what the independent checker says of it."""

    collision: Collision
    certificate: dict[str, Any]
    answer: verify.Answer
    seconds: float


def run(
    task_name: str,
    seq_len: int,
    heads: int,
    head_dim: int,
    network_file: Path | None,
    out: Path | None,
    store: Path | None,
    sampler: str,
    method: str,
    budget: float,
    seed: int,
    as_json: bool,
) -> None:
    """Train or load, search, prove, check, write; exit 0 if proved, 2 if not.

    The methods of the paper's own set-up (`headcount.grid_view`) run on the file's network or on a small random block.
    """
    task = load_task(task_name, seq_len)
    if method not in METHODS:
        raise InvalidInput.about("method", method, f"one of {', '.join(METHODS)}", "--method optimal")
    if method != "optimal":
        small = small_block(seq_len, task.token_dim, heads, head_dim, Fraction(1), seed)
        block = small if network_file is None else load_network(network_file)
        if method == "grid":
            grid_view.run_grid(block, task, "n4", None, grid_view.TAU, seed, out, as_json)
        grid_view.run_lattice(block, task, [LATTICE_BITS], seed, out, None, as_json)
    if network_file is not None:
        network = load_network(network_file)
    else:
        network = trained_blocks(task, [heads], head_dim, [seed], store, sampler, as_json)[0].network
    found = find(network, task, seed, budget, as_json)
    if isinstance(found, Undecided):
        data = {"verdict": found.label, "detail": found.detail}
        console.emit(as_json, data, lambda: console.out.print(f"{found.label} {found.detail}", markup=False))
        console.finish(found.exit_code)
    if out is not None:
        writer.write(out, found.certificate)
    data = describe(found, out)
    console.emit(as_json, data, lambda: _render(data))
    console.finish(found.answer.exit_code)


def find(network: Network, task: RetrievalTask, seed: int, budget: float, quiet: bool) -> ProvedPair | Undecided:
    """The pair with the largest target gap that could be proved; ``budget`` in seconds of search."""
    begin = time.perf_counter()
    with console.progress_bar("pair", 1, quiet) as advance:
        proved = strongest(
            network, task, seed, budget, progress=lambda done, total, gap: advance(f"gap {gap:.3f}", done / total)
        )
    if isinstance(proved, Undecided):
        return proved
    certificate = certify(proved)
    answer = verify.verify(writer.to_bytes(certificate))
    return ProvedPair(proved, certificate, answer, time.perf_counter() - begin)


def certify(collision: Collision) -> dict[str, Any]:
    """The certificate of a proved collision."""
    return writer.collision(
        collision.network,
        collision.task,
        collision.first,
        collision.second,
        collision.free,
        collision.radius,
        collision.gap,
        collision.precision,
        collision.rows,
    )


def describe(found: ProvedPair, out: Path | None) -> dict[str, Any]:
    """What was proved, as plain data; figures for reading beside the exact ones of the certificate."""
    collision = found.collision
    with balls.precision(collision.precision):
        both = [balls.BALLS.asarray(tokens) for tokens in (collision.first, collision.second)]
        outputs = [attention(collision.network, tokens, balls.BALLS) for tokens in both]
        targets = [float(balls.middle(target(collision.task, tokens, balls.BALLS))) for tokens in both]
    return {
        "verdict": found.answer.label,
        "detail": found.answer.detail,
        "gap": float(collision.gap),
        "irreducible_error": float(collision.gap) / 2,
        "radius": console.scientific(collision.radius),
        "equations": len(collision.free),
        "targets": targets,
        "first": _floats(collision.first),
        "second": _floats(collision.second),
        "attention_outputs": [[float(balls.middle(entry)) for entry in output] for output in outputs],
        "seconds": round(found.seconds, 2),
        "certificate": None if out is None else str(out),
    }


def _floats(tokens: Any) -> list[list[float]]:
    rows: list[list[float]] = np.asarray(tokens, dtype=np.float64).tolist()
    return rows


def _render(data: dict[str, Any]) -> None:
    console.out.print(f"{console.styled(data['verdict'])} ", end="")
    console.out.print(data["detail"], markup=False)
    console.out.print(
        f"two sequences, all {len(data['attention_outputs'][0])} attention outputs exactly equal "
        f"({data['equations']} independent equations, box radius {data['radius']}), "
        f"targets {data['targets'][0]:.6f} and {data['targets'][1]:.6f}:\n"
        f"no read-out of any size errs by less than {data['irreducible_error']:.6f} behind this block (N8).\n"
        f"search, proof and check: {data['seconds']} s",
        markup=False,
    )
    if data["certificate"] is not None:
        console.out.print(f"certificate: {data['certificate']} (check it: headcount verify {data['certificate']})")
