"""The demo's experiment: one head against several on max + min, in well under a minute on one core."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from experiments.ensemble import TRAINING_VERSION, Problem, Recipe, State, TorchEngine, one_thread
from experiments.models import BlockConfig, select_model, unstandardise
from experiments.store import Store
from experiments.sweep import advance, resumed_state
from experiments.synthetic import TokenSampler, corner_tokens, toy, uniform_tokens
from theory.errors import InvalidInput

TOY_RECIPE = Recipe(epochs=60, batch_size=64, learning_rate=5e-3, beta2=0.99, evaluate_every=4)
SAMPLERS: Mapping[str, TokenSampler] = {"uniform": uniform_tokens, "corners": corner_tokens}
"""How training tokens are drawn: i.i.d. as in E1, or so that errors in the sup norm show."""
TRAINING_SEQUENCES, VALIDATION_SEQUENCES, DATA_SEED = 8000, 2000, 0

Progress = Callable[[int, int, int, Sequence[float]], None]


@dataclass(frozen=True)
class ToyRun:
    """One trained block: validation NMSE after each evaluation, parameters in the target's own units (float64)."""

    config: BlockConfig
    seed: int
    history: tuple[float, ...]
    parameters: dict[str, Tensor]
    seconds: float  # this model's share of the wall-clock time spent in this call; 0 if it came from the store

    @property
    def nmse(self) -> float:
        """Validation NMSE at the end of training."""
        return self.history[-1]


def toy_problem(seq_len: int, sampler: str = "corners") -> Problem:
    """DEF-TOY: 8000 sequences for training, 2000 for validation, the same for every model."""
    if sampler not in SAMPLERS:
        raise InvalidInput.about("sampler", sampler, f"one of {', '.join(SAMPLERS)}", "corners")
    draw = SAMPLERS[sampler]
    train = toy(seq_len, TRAINING_SEQUENCES, DATA_SEED, "train", draw)
    return Problem.of(train, toy(seq_len, VALIDATION_SEQUENCES, DATA_SEED, "validation", draw))


def train_toy(
    num_heads_list: Sequence[int],
    seeds: Sequence[int],
    seq_len: int = 32,
    head_dim: int = 8,
    hidden: int = 32,
    recipe: Recipe = TOY_RECIPE,
    store: Store | None = None,
    progress: Progress | None = None,
    sampler: str = "corners",
) -> list[ToyRun]:
    """Train (or fetch) one block per head count and seed; sorted as given, head count first.

    With a store every evaluation is saved, so that a killed call, repeated, goes on where it was and ends in the same
    bits; finished cells are not trained again. ``progress(num_heads, epoch, epochs, validation NMSE of each seed)``.
    """
    problem, runs = toy_problem(seq_len, sampler), []
    setting = _Setting(recipe, sampler, store)
    for num_heads in num_heads_list:
        config = BlockConfig(1, seq_len, num_heads, head_dim, hidden)
        with one_thread():
            trained = _train_group(config, list(dict.fromkeys(seeds)), problem, setting, progress)
        runs += [trained[seed] for seed in seeds]
    return runs


def toy_cell(config: BlockConfig, seed: int, recipe: Recipe, sampler: str = "corners") -> dict[str, Any]:
    """The resolved configuration of one model: the key of its cell in the store."""
    data: dict[str, Any] = {"sampler": sampler, "seed": DATA_SEED}
    data |= {"train": TRAINING_SEQUENCES, "validation": VALIDATION_SEQUENCES}
    versioned = {"experiment": "toy", "training_version": TRAINING_VERSION}
    return versioned | {"block": config.to_json(), "data": data, "recipe": recipe.to_json(), "seed": seed}


@dataclass(frozen=True)
class _Setting:
    """What the models of one call share, beside their data."""

    recipe: Recipe
    sampler: str
    store: Store | None

    def cell(self, config: BlockConfig, seed: int) -> dict[str, Any]:
        return toy_cell(config, seed, self.recipe, self.sampler)


def _train_group(
    config: BlockConfig, seeds: Sequence[int], problem: Problem, setting: _Setting, progress: Progress | None
) -> dict[int, ToyRun]:
    """All seeds of one shape; those at the same epoch train together."""
    recipe = setting.recipe
    states = {seed: _stored_state(config, seed, setting) for seed in seeds}
    seconds = dict.fromkeys(seeds, 0.0)
    open_states = {seed: state for seed, state in states.items() if state.epoch < recipe.epochs}
    begun = time.perf_counter()
    for moved in advance(config, problem, recipe, open_states, TorchEngine()):
        for seed, state in moved.items():
            states[seed] = state
            seconds[seed] += (time.perf_counter() - begun) / len(moved)
            _save(config, seed, state, setting)
        begun = time.perf_counter()
        if progress is not None:
            errors = [float(state.history[0, -1]) for state in moved.values()]
            progress(config.num_heads, next(iter(moved.values())).epoch, recipe.epochs, errors)
    return {seed: _run(config, seed, problem, states[seed], seconds[seed]) for seed in seeds}


def _save(config: BlockConfig, seed: int, state: State, setting: _Setting) -> None:
    """A cell has a result when, and only when, its training is complete."""
    if setting.store is None:
        return
    result = {"validation_nmse": state.history[0].tolist()} if state.epoch == setting.recipe.epochs else None
    setting.store.put(setting.cell(config, seed), result=result, checkpoint=state.to_tensors(config))


def _stored_state(config: BlockConfig, seed: int, setting: _Setting) -> State:
    """Where this model's training stands."""
    tensors = None if setting.store is None else setting.store.checkpoint(setting.cell(config, seed))
    return resumed_state(tensors, config, setting.recipe, seed)


def _run(config: BlockConfig, seed: int, problem: Problem, state: State, seconds: float) -> ToyRun:
    parameters = unstandardise(select_model(state.named(config), 0), problem.mean, problem.std)
    return ToyRun(config, seed, tuple(state.history[0].tolist()), parameters, seconds)
