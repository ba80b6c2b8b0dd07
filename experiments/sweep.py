"""Run a plan: train what is missing, keep everything in the store, go on wherever an earlier run was cut off.

Whoever trains only yields events; one consumer writes them to the store, one transaction each. A cell's checkpoint
lies in the row's own transaction, so a row never speaks of a checkpoint that is not there. As a state determines all
that follows (`experiments.ensemble`), a run killed at any moments ends in the undisturbed run's results, bit by bit,
whoever trained: this process or several.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import torch
from torch import Tensor

from experiments.ensemble import (
    Engine,
    Problem,
    Recipe,
    State,
    iterate,
    nmse,
    one_thread,
    stack_states,
    start,
)
from experiments.models import BlockConfig
from experiments.plan import ENGINES, Group, Plan
from experiments.store import Store
from theory.errors import InvalidInput

Tensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class Job:
    """The unfinished seeds of one group with their stored checkpoints (None: start afresh)."""

    group: Group
    checkpoints: dict[int, Tensors | None]


@dataclass(frozen=True)
class Event:
    """One model moved on to ``epoch``: a checkpoint, with a result if it is the last; or it failed, with the reason."""

    group: Group
    seed: int
    epoch: int
    checkpoint: Tensors | None
    result: dict[str, Any] | None = None
    failure: str | None = None


@dataclass(frozen=True)
class Summary:
    """Cells of a plan by what became of them; ``trained`` counts those finished in this call."""

    finished: int
    trained: int
    failures: dict[str, str]
    unfinished: int
    seconds: float


Runner = Callable[[Iterable[Job]], Iterator[Event]]
"""Trains jobs in any order and place; closing the iterator stops it."""

Progress = Callable[[Event | None, float, float], None]
"""``progress(event, work done, work in all)`` after every event, and once at the start with None."""


def run_sweep(
    plan: Plan, store: Store, runner: Runner, budget_seconds: float | None = None, progress: Progress | None = None
) -> Summary:
    """Train every cell of the plan that has no result; cells that failed before are tried again.

    A run out of budget stops at the next event; what is done so far stays and the next call goes on there.
    """
    begun, trained = time.monotonic(), 0
    failures: dict[str, str] = {}
    epochs = {(group, seed): _stored_epoch(store, group, seed) for group in plan.groups for seed in group.seeds}
    total = sum(group.work_estimate * group.recipe.epochs for group, _ in epochs)

    def report(event: Event | None) -> None:
        if progress is not None:
            progress(event, sum(group.work_estimate * epoch for (group, _), epoch in epochs.items()), total)

    report(None)
    with closing(runner(_jobs(plan, store))) as events:  # type: ignore[type-var]
        for event in events:
            _record(store, event)
            epochs[event.group, event.seed] = event.epoch
            trained += event.result is not None
            if event.failure is not None:
                failures[_label(event)] = event.failure
            report(event)
            if budget_seconds is not None and time.monotonic() - begun >= budget_seconds:
                break
    finished = sum(is_finished(store.result(group.cell(seed))) for group, seed in epochs)
    left = plan.num_cells - finished - len(failures)
    return Summary(finished, trained, failures, left, time.monotonic() - begun)


def is_finished(result: Mapping[str, Any] | None) -> bool:
    """Whether a cell needs no further training: it has a result, and that is no failure."""
    return result is not None and "failure" not in result


def in_this_process(jobs: Iterable[Job]) -> Iterator[Event]:
    """The plain runner: one job after another, here, on one thread."""
    for job in jobs:
        yield from train_job(job)


def train_job(job: Job) -> Iterator[Event]:
    """Train one job; whatever goes wrong becomes a failure of the cells concerned and the sweep goes on."""
    group, ended = job.group, set()
    try:
        problem = group.data.problem(group.block.seq_len)
        fresh = replace(problem, validation=group.data.test_sample(group.block.seq_len))
        states = {}
        for seed, tensors in job.checkpoints.items():
            try:
                states[seed] = resumed_state(tensors, group.block, group.recipe, seed)
            except InvalidInput as error:
                ended.add(seed)
                yield Event(group, seed, 0, None, failure=str(error))
        engine = ENGINES[group.engine]()
        with one_thread():
            for moved in advance(group.block, problem, group.recipe, states, engine):
                for seed in sorted(set(moved) - ended):
                    event = _event(group, seed, moved[seed], fresh, engine)
                    if event.result is not None or event.failure is not None:
                        ended.add(seed)
                    yield event
    except Exception as error:  # the sweep's boundary: one cell's failure, of whatever kind, must not end the others
        for seed in set(job.checkpoints) - ended:
            yield Event(group, seed, 0, None, failure=f"{type(error).__name__}: {error}")


def advance(
    block: BlockConfig, problem: Problem, recipe: Recipe, states: Mapping[int, State], engine: Engine
) -> Iterator[dict[int, State]]:
    """Train the models {seed: state} to the end; yield those that move together after each of their evaluations.

    States that are at the end already are yielded once, as they are.
    """
    seeds = sorted(states, key=lambda seed: states[seed].epoch)
    for epoch, same in groupby(seeds, lambda seed: states[seed].epoch):
        together = list(same)
        if epoch == recipe.epochs:
            yield {seed: states[seed] for seed in together}
            continue
        stacked = stack_states([states[seed] for seed in together])
        for joint in iterate(block, together, problem, recipe, stacked, engine):
            yield {seed: joint.select(row) for row, seed in enumerate(together)}


def resumed_state(tensors: Tensors | None, block: BlockConfig, recipe: Recipe, seed: int) -> State:
    """Where a model's training stands: its stored state, checked against the recipe, or the start."""
    if tensors is None:
        return start(block, [seed])
    state, every, epochs = State.from_tensors(tensors, block), recipe.evaluate_every, recipe.epochs
    done = -(-epochs // every) if state.epoch == epochs else state.epoch // every
    if not 0 < state.epoch <= epochs or tuple(state.history.shape) != (1, done):
        found = (state.epoch, tuple(state.history.shape))
        raise InvalidInput.about("(epoch, history) of a checkpoint", found, "this recipe's", "deleting the store")
    return state


def _event(group: Group, seed: int, state: State, fresh: Problem, engine: Engine) -> Event:
    """The state as an event: non-finite weights are a failure, the last epoch brings the result."""
    if not bool(torch.isfinite(state.parameters).all() and torch.isfinite(state.history).all()):
        why = f"diverged before epoch {state.epoch}. Try: a smaller learning_rate."
        return Event(group, seed, state.epoch, None, failure=why)
    result = None
    if state.epoch == group.recipe.epochs:
        said = engine.outputs(group.block, state.parameters, fresh.validation.x.to(state.parameters.dtype))
        result = {"validation_nmse": state.history[0].tolist(), "test_nmse": float(nmse(said, fresh)[0])}
    return Event(group, seed, state.epoch, state.to_tensors(group.block), result)


def _jobs(plan: Plan, store: Store) -> Iterator[Job]:
    """What is to be done, read from the store when it is its turn."""
    for group in plan.groups:
        open_seeds = [seed for seed in group.seeds if not is_finished(store.result(group.cell(seed)))]
        if open_seeds:
            yield Job(group, {seed: store.checkpoint(group.cell(seed)) for seed in open_seeds})


def _record(store: Store, event: Event) -> None:
    result = event.result if event.failure is None else {"failure": event.failure}
    store.put(event.group.cell(event.seed), result=result, checkpoint=event.checkpoint)


def _stored_epoch(store: Store, group: Group, seed: int) -> int:
    """How far a cell is, for the time left: checkpoints are not read for it."""
    return group.recipe.epochs if is_finished(store.result(group.cell(seed))) else 0


def _label(event: Event) -> str:
    block, data = event.group.block, event.group.data
    return f"{data.draw} T={block.seq_len} h={block.num_heads} N={block.hidden} seed={event.seed}"
