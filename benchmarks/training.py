"""Seconds per optimiser step and model: ``python -m benchmarks.training [--json]``, about two minutes.

One thread, batches of 64, the block of E1 (d = 4, n = 8, N = 32), all in one run, in short turns (machine noise then
hits everyone alike; the least processor time of all turns counts):

* A: `nn.MultiheadAttention` over all T + 1 positions, `DataLoader`, `torch.optim.Adam`, one model;
* B: the same, but only the class token asks;
* torch: `experiments.ensemble.TorchEngine`, ten seeds at once, time divided by ten;
* native: `experiments.native.NativeEngine`, one model.

The share of peak is of what this core reaches in a product of two 1024 x 1024 float32 matrices in the same run.
Prints a table and writes results/benchmarks/training.json.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.machine import description
from experiments.ensemble import Engine, Recipe, TorchEngine, one_thread, start
from experiments.models import BlockConfig
from experiments.native import NativeEngine

SIZES = ((8, 4), (32, 4), (128, 4))
"""(T, h)."""
BATCH, SEEDS, TURNS, TURN_SECONDS = 64, 10, 9, 0.4
BARS = {8: (6, 40), 32: (10, 55), 128: (25, 170)}
"""T: least speed-up over A of the torch engine and of the native step."""
OVER_QUERY_ONLY, SHARE_OF_PEAK = 18, 0.4
PEAK_SIZE = 1024
RESULT = Path(__file__).parents[1] / "results" / "benchmarks" / "training.json"


class Plain(nn.Module):
    """The block as one writes it: an MLP, attention from torch, an MLP."""

    def __init__(self, config: BlockConfig, query_only: bool) -> None:
        super().__init__()
        width = config.embed_dim
        self.encoder = nn.Sequential(
            nn.Linear(config.token_dim, config.hidden), nn.ReLU(), nn.Linear(config.hidden, width)
        )
        self.token = nn.Parameter(torch.randn(width))
        self.attention = nn.MultiheadAttention(width, config.num_heads, batch_first=True)
        self.readout = nn.Sequential(nn.Linear(width, config.hidden), nn.GELU(), nn.Linear(config.hidden, 1))
        self.query_only = query_only

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, d) -> (B, 1)."""
        tokens, asked = self.encoder(x), self.token.expand(len(x), 1, -1)
        everything = tokens if self.query_only else torch.cat([asked, tokens], dim=1)
        query = asked if self.query_only else everything
        answer: Tensor = self.readout(self.attention(query, everything, everything, need_weights=False)[0][:, 0])
        return answer


def plain_turn(config: BlockConfig, x: Tensor, y: Tensor, query_only: bool) -> Callable[[], int]:
    """A function that trains for an epoch and says how many steps that was."""
    model = Plain(config, query_only)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = DataLoader(TensorDataset(x, y), batch_size=BATCH, shuffle=True, drop_last=True)

    def turn() -> int:
        for inputs, targets in batches:
            optimiser.zero_grad()
            nn.functional.mse_loss(model(inputs), targets).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        return len(batches)

    return turn


def engine_turn(engine: Engine, config: BlockConfig, x: Tensor, y: Tensor, models: int) -> Callable[[], int]:
    """The same for an engine; steps are counted once for each model."""
    seeds = list(range(models))
    state, recipe = start(config, seeds), Recipe(epochs=1000, batch_size=BATCH, learning_rate=1e-3)
    order = torch.stack([torch.randperm(len(x), generator=torch.Generator().manual_seed(s)) for s in seeds])
    order = order[:, : len(x) // BATCH * BATCH].view(models, -1, BATCH)

    def turn() -> int:
        engine.epoch(config, state, x, y, order, recipe, epoch=500)
        return order.shape[1] * models

    return turn


def peak_turn() -> Callable[[], int]:
    """A large matrix product, counted in multiplications and additions."""
    left, right = torch.randn(PEAK_SIZE, PEAK_SIZE), torch.randn(PEAK_SIZE, PEAK_SIZE)

    def turn() -> int:
        torch.mm(left, right)
        return 2 * PEAK_SIZE**3

    return turn


def seconds_each(turns: dict[str, Callable[[], int]]) -> dict[str, float]:
    """Least processor time per step over interleaved turns."""
    least = dict.fromkeys(turns, float("inf"))
    for _ in range(TURNS):
        for name, turn in turns.items():
            begun, spent = time.process_time(), 0.0
            while spent < TURN_SECONDS:
                start_of_turn = time.process_time()
                steps = turn()
                least[name] = min(least[name], (time.process_time() - start_of_turn) / steps)
                spent = time.process_time() - begun
    return least


def operations(config: BlockConfig) -> int:
    """Multiplications and additions of one step in the folded algebra; nothing recomputed, no exp, no Adam.

    Per token and unit 2d for the unit and 2d for its layer's gradient, per head 2 each for score, pooling, weight
    gradient, direction gradient, 4 for the unit's gradient; per sequence the maps N -> n of every head and E -> N and
    N -> l, per step the two folds (N x E x E, E x E x N) and the directions (h x E x N), each once forward and twice
    backward.
    """
    d, h, n, e = config.token_dim, config.num_heads, config.hidden, config.embed_dim
    tokens = BATCH * config.seq_len * n * (4 * d + 12 * h)
    sequences = 3 * 2 * BATCH * (2 * n * e + n * config.outputs)
    return tokens + sequences + 3 * 2 * (2 * n * e * e + h * e * n)


def measure(seq_len: int, num_heads: int) -> dict[str, Any]:
    """All contenders at one size."""
    config = BlockConfig(4, seq_len, num_heads, head_dim=8, hidden=32)
    stream = torch.Generator().manual_seed(0)
    count = BATCH * max(4, 256 // seq_len)
    x, y = (torch.randn(shape, generator=stream) for shape in ((count, seq_len, 4), (count, 1)))
    found = seconds_each(
        {
            "A": plain_turn(config, x, y, query_only=False),
            "B": plain_turn(config, x, y, query_only=True),
            "torch": engine_turn(TorchEngine(), config, x, y, SEEDS),
            "native": engine_turn(NativeEngine(), config, x, y, 1),
            "peak": peak_turn(),
        }
    )
    row: dict[str, Any] = {"T": seq_len, "h": num_heads}
    row |= {f"{name}_us": round(1e6 * found[name], 1) for name in ("A", "B", "torch", "native")}
    row |= {f"{name}_over_A": round(found["A"] / found[name], 1) for name in ("torch", "native")}
    row["native_over_B"] = round(found["B"] / found["native"], 1)
    row["peak_gflops"] = round(1e-9 / found["peak"], 1)
    row["share_of_peak"] = round(operations(config) * found["peak"] / found["native"], 3)
    torch_bar, native_bar = BARS[seq_len]
    row["bars_met"] = {
        "torch": row["torch_over_A"] >= torch_bar,
        "native": row["native_over_A"] >= native_bar and row["native_over_B"] >= OVER_QUERY_ONLY,
        "peak": seq_len < 32 or row["share_of_peak"] >= SHARE_OF_PEAK,
    }
    return row


def main(arguments: list[str]) -> None:
    """Measure, print, write."""
    with one_thread():
        rows = [measure(*size) for size in SIZES]
    machine = description("torch", "numpy")
    text = json.dumps({"machine": machine, "batch": BATCH, "seeds": SEEDS, "rows": rows}, indent=2)
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(text + "\n")
    if "--json" in arguments:
        print(text)
        return
    print(machine)
    for row in rows:
        print(", ".join(f"{name} {value}" for name, value in row.items() if name != "bars_met"))
        missed = [name for name, met in row["bars_met"].items() if not met]
        print(f"  bars missed: {', '.join(missed)}" if missed else "  all bars met")


if __name__ == "__main__":
    main(sys.argv[1:])
