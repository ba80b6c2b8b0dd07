"""The demo's experiment: the gap between one and two heads, and a run that is broken off and repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from experiments.ensemble import Recipe
from experiments.models import BlockConfig, forward
from experiments.store import Store
from experiments.synthetic import corner_tokens, toy
from experiments.toy import TOY_RECIPE, ToyRun, toy_cell, train_toy
from theory.errors import InvalidInput

ONE_HEAD_NMSE_LOWER = 0.1  # seen: 0.23 after 8 epochs, 0.14-0.17 after 24 and more
MANY_HEADS_NMSE_UPPER = 1e-3  # seen: 5e-5 after 8 epochs, 3e-7 to 1e-6 after 24
SHORT = Recipe(epochs=5, batch_size=256, learning_rate=1e-2, evaluate_every=2)


def test_one_head_fails_where_two_succeed() -> None:
    """Catches a trainer that is too weak for two heads, or a task that one head can do; on fresh sequences."""
    fresh = toy(32, 1000, 77, "test", corner_tokens).to(torch.float64)
    for run in train_toy([1, 2], [0], recipe=replace(TOY_RECIPE, epochs=8)):
        output = forward({name: value[None] for name, value in run.parameters.items()}, fresh.x[None], run.config)[0]
        error = (output - fresh.y).square().mean() / fresh.y.var()
        if run.config.num_heads == 1:
            assert min(run.nmse, error) >= ONE_HEAD_NMSE_LOWER
        else:
            assert max(run.nmse, error) <= MANY_HEADS_NMSE_UPPER


class BrokenOff(Exception):
    """Stands for whatever ends a run in the middle."""


def break_off(num_heads: int, epoch: int, epochs: int, nmse: Sequence[float]) -> None:
    if num_heads == 2 and epoch == 4:
        raise BrokenOff


def same(one: Sequence[ToyRun], other: Sequence[ToyRun]) -> bool:
    return all(
        (a.config, a.seed, a.history) == (b.config, b.seed, b.history)
        and all(torch.equal(a.parameters[name], b.parameters[name]) for name in a.parameters)
        for a, b in zip(one, other, strict=True)
    )


def test_broken_run_is_finished_to_the_same_bits(tmp_path: Path) -> None:
    """Catches a repetition that starts afresh, trains finished cells again, or drifts by a bit."""
    sizes = {"seq_len": 8, "head_dim": 4, "hidden": 8, "recipe": SHORT}
    calm = train_toy([1, 2], [3, 0, 7], **sizes)
    assert [(run.config.num_heads, run.seed) for run in calm] == [(h, s) for h in (1, 2) for s in (3, 0, 7)]
    assert all(len(run.history) == 3 for run in calm)
    with Store(tmp_path / "s.sqlite") as store:
        seen: list[tuple[int, int]] = []
        train_toy([2], [0], **sizes, store=store)
        with pytest.raises(BrokenOff):
            train_toy([1, 2], [3, 0, 7], **sizes, store=store, progress=break_off)
        again = train_toy([1, 2], [3, 0, 7], **sizes, store=store, progress=lambda h, e, *_: seen.append((h, e)))
        assert seen == [(2, 5)]
        assert same(again, calm)
        assert [run.seconds > 0 for run in again] == [False, False, False, True, False, True]
        assert len(list(store.cells())) == 6


def test_stored_state_of_another_length_is_refused(tmp_path: Path) -> None:
    """Catches a checkpoint that claims to be finished without the history to show for it."""
    config = BlockConfig(1, 8, 1, 4, 8)
    with Store(tmp_path / "s.sqlite") as store:
        cell = toy_cell(config, 0, SHORT)
        train_toy([1], [0], seq_len=8, head_dim=4, hidden=8, recipe=SHORT, store=store)
        tensors = store.checkpoint(cell)
        assert tensors is not None
        store.put(cell, checkpoint=tensors | {"epoch": torch.tensor(3)})
        with pytest.raises(InvalidInput, match="deleting the store"):
            train_toy([1], [0], seq_len=8, head_dim=4, hidden=8, recipe=SHORT, store=store)
