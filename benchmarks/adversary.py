"""Exact collisions of random blocks, certified: ``python -m benchmarks.adversary [--count N] [--budget SECONDS]``.

Block number i is drawn from (SEED, i) alone: activation, heads, value size, targets, token size, length, beta, with or
without positions. Each is searched, proved and checked by the independent checker; one row is appended to
``results/adversary/random_encoders.csv``, and numbers that the file has are not run again. What counts is the share of
the blocks with more free coordinates (2 T d) than equations (n s) for which a collision is certified.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from checks import verify
from checks.certificates import writer
from checks.collisions import Collision, strongest
from constructions.arithmetic import FLOAT64
from constructions.evaluate import target
from constructions.network import Dense, Head, Network, Perceptron
from constructions.task import RetrievalTask, quadratic

SEED = 20241
RESULTS = Path("results/adversary/random_encoders.csv")
ACTIVATIONS, BETAS, LENGTHS = ("tanh", "gelu", "relu"), (1, 10, 50), (8, 16, 32)
HIDDEN, CLASS_WIDTH, KEY_SIZE = 32, 8, 4
CONSTANT_SEQUENCES = 4096
COLUMNS = (
    "number",
    "activation",
    "heads",
    "value_size",
    "targets",
    "token_dim",
    "seq_len",
    "beta",
    "positional",
    "coordinates",
    "equations",
    "verdict",
    "gap",
    "range_estimate",
    "seconds",
    "verify_seconds",
    "detail",
)


@dataclass(frozen=True)
class Drawn:
    """The shape of one random block."""

    activation: str
    heads: int
    value_size: int
    targets: int
    token_dim: int
    seq_len: int
    beta: int
    positional: bool

    @property
    def coordinates(self) -> int:
        return 2 * self.seq_len * self.token_dim

    @property
    def equations(self) -> int:
        return self.heads * self.value_size


def draw(number: int) -> tuple[Drawn, Network, RetrievalTask]:
    """Block ``number`` and its task."""
    generator = np.random.default_rng([SEED, number])
    drawn = Drawn(
        ACTIVATIONS[number % 3],
        int(generator.integers(1, 4)),
        int(generator.integers(1, 9)),
        int(generator.integers(2, 6)),
        int(generator.integers(1, 4)),
        int(generator.choice(LENGTHS)),
        int(generator.choice(BETAS)),
        bool(generator.integers(2)),
    )
    return drawn, block(drawn, generator), quadratic(drawn.targets, drawn.token_dim, drawn.seq_len)


def block(drawn: Drawn, generator: np.random.Generator) -> Network:
    """Normal weights, each layer's scaled by the root of its inputs; attention scores spread by about beta."""

    def matrix(*shape: int) -> Any:
        return generator.normal(size=shape) / shape[-1] ** 0.5

    width = 2 * drawn.equations
    bias = generator.normal(size=(drawn.seq_len, HIDDEN) if drawn.positional else HIDDEN)
    first = Dense(2 * generator.normal(size=(HIDDEN, drawn.token_dim)), bias, drawn.activation)
    encoder = Perceptron((first, Dense(matrix(width, HIDDEN), generator.normal(size=width))))
    heads = tuple(
        Head(
            matrix(KEY_SIZE, CLASS_WIDTH),
            matrix(KEY_SIZE, width),
            matrix(drawn.value_size, width),
            generator.normal(size=KEY_SIZE),
            generator.normal(size=drawn.value_size),
        )
        for _ in range(drawn.heads)
    )
    outputs = np.eye(drawn.equations)
    readout = Perceptron((Dense(np.ones((1, drawn.equations)), np.zeros(1)),))
    return Network(
        drawn.seq_len,
        drawn.token_dim,
        encoder,
        generator.normal(size=CLASS_WIDTH),
        heads,
        Fraction(drawn.beta),
        outputs,
        np.zeros(drawn.equations),
        readout,
    )


def measure(number: int, budget: float) -> dict[str, Any]:
    """Search, prove, check: one row."""
    drawn, network, task = draw(number)
    begin = time.process_time()
    found = strongest(network, task, number, budget)
    row: dict[str, Any] = {
        "number": number,
        **vars(drawn),
        "positional": int(drawn.positional),
        "coordinates": drawn.coordinates,
        "equations": drawn.equations,
        "range_estimate": round(_range(task), 5),
        "seconds": round(time.process_time() - begin, 2),
    }
    if not isinstance(found, Collision):
        return {**row, "verdict": found.label, "detail": found.reason}
    begin = time.process_time()
    answer = verify.verify(writer.to_bytes(_certificate(found)))
    row |= {"verify_seconds": round(time.process_time() - begin, 2), "gap": round(float(found.gap), 5)}
    return {**row, "verdict": answer.label, "detail": f"{len(found.free)} equations, {found.precision} bits"}


def _range(task: RetrievalTask) -> float:
    """The largest target of a constant sequence; the least target is 0, each minimiser occurring somewhere."""
    pool = np.random.default_rng(SEED).random((CONSTANT_SEQUENCES, 1, task.token_dim))
    pool[::2] = np.round(pool[::2])
    return float(target(task, np.repeat(pool, task.seq_len, axis=1), FLOAT64).max())


def _certificate(found: Collision) -> dict[str, Any]:
    return writer.collision(
        found.network,
        found.task,
        found.first,
        found.second,
        found.free,
        found.radius,
        found.gap,
        found.precision,
        found.rows,
    )


def summary(rows: Iterable[dict[str, Any]]) -> str:
    """The success rate where coordinates exceed equations, and the time of a search."""
    counted = [row for row in rows if int(row["coordinates"]) > int(row["equations"])]
    if not counted:
        return "no rows"
    proved = [row for row in counted if row["verdict"] == "PROVED"]
    seconds = sorted(float(row["seconds"]) for row in counted)
    shares = sorted(float(row["gap"]) / float(row["range_estimate"]) for row in proved) or [0.0]
    return (
        f"{len(proved)} of {len(counted)} certified ({len(proved) / len(counted):.1%}); "
        f"gap / range: median {shares[len(shares) // 2]:.2f}, least {shares[0]:.3f}; "
        f"search and proof: median {seconds[len(seconds) // 2]:.1f} s, most {seconds[-1]:.1f} s"
    )


def main(arguments: list[str]) -> None:
    """Run what the file lacks, print the summary."""
    parser = argparse.ArgumentParser(description="exact collisions of random blocks")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--budget", type=float, default=10.0, help="seconds of search for each block")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    done = _read(options.out)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for number in range(options.count):
        if str(number) in done:
            continue
        row = measure(number, options.budget)
        with options.out.open("a", newline="") as file:
            out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if file.tell() == 0:
                out.writeheader()
            out.writerow(row)
        print({name: row.get(name) for name in COLUMNS}, flush=True)
    print(summary(_read(options.out).values()))


def _read(path: Path) -> dict[str, dict[str, Any]]:
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["number"]: row for row in csv.DictReader(file)}


if __name__ == "__main__":
    main(sys.argv[1:])
