"""Trained blocks for the commands: train on the toy task (or take from a store) and turn into exact networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from constructions.network import Network
from constructions.task import RetrievalTask
from experiments.export import to_network
from experiments.store import Store
from experiments.toy import TOY_RECIPE, train_toy
from headcount import console
from theory.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class TrainedBlock:
    """A trained block with its exact weights and its validation NMSE."""

    num_heads: int
    seed: int
    nmse: float
    seconds: float
    network: Network


def trained_blocks(
    task: RetrievalTask,
    heads: Sequence[int],
    head_dim: int,
    seeds: Sequence[int],
    store: Path | None,
    sampler: str,
    quiet: bool,
) -> list[TrainedBlock]:
    """Train one block for every head count and seed on the toy task; a store makes it resumable.

    Raises:
        InvalidInput: a task other than ``toy`` (train it yourself and pass the network), or a foreign store.
    """
    if task.name != "toy":
        raise InvalidInput.about(
            "task", task.name, "toy, the task that is trained here", "--network with your own block"
        )
    opened = Store(store) if store is not None else None
    try:
        total = len(heads) * TOY_RECIPE.epochs
        with console.progress_bar("training", total, quiet) as advance:

            def report(num_heads: int, epoch: int, epochs: int, nmse: Sequence[float]) -> None:
                advance(f"h = {num_heads}, NMSE {min(nmse):.1e}", list(heads).index(num_heads) * epochs + epoch)

            runs = train_toy(heads, seeds, task.seq_len, head_dim, store=opened, progress=report, sampler=sampler)
    finally:
        if opened is not None:
            opened.close()
    return [
        TrainedBlock(run.config.num_heads, run.seed, run.nmse, run.seconds, to_network(run.parameters, run.config))
        for run in runs
    ]
