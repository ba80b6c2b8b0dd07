"""Train every seed of one configuration at once: Adam, warm-up and cosine, whole data in memory, resumable.

The models share the data and nothing else. Model s sees the sequences of epoch e in the order ``randperm`` of the
stream (seed_s, "shuffle", e); full batches only, the remainder of an epoch rests. Hence state = (parameters, first
and second moments, epoch) determines all that follows. A run that is stopped and resumed ends in the same bits; a run
cut into other groups of seeds does too, if batch size, number of validation sequences and N are multiples of 4 (else
up to rounding: a matrix product's last bits depend on its 16-byte alignment). Both hold on one machine with one
thread and are verified in tests/experiments/test_ensemble.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from experiments.models import (
    BlockConfig,
    forward,
    init_parameters,
    parameter_shapes,
    stack_models,
)
from experiments.streams import random_stream
from experiments.synthetic import Sample
from theory.errors import InvalidInput

TRAINING_VERSION = 1  # raised whenever the same configuration would give other bits: part of every cell's key
LANES = 64  # each model's row of the flat state is padded to this, so that its bits do not depend on its neighbours
EVALUATION_CHUNK = 256  # sequences per forward pass outside training: bounds memory
STATE_PARTS = ("parameters", "first_moment", "second_moment")


@dataclass(frozen=True)
class Recipe:
    """How to train: Adam with linear warm-up over a share of all steps, then cosine to 0."""

    epochs: int = 200
    batch_size: int = 32
    learning_rate: float = 3e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    warmup: float = 0.02
    evaluate_every: int = 1

    def __post_init__(self) -> None:
        sizes = ("epochs", "batch_size", "evaluate_every")
        wrong = [f"{name}={getattr(self, name)!r} is no integer >= 1" for name in sizes if not _is_size(self, name)]
        shares = ("beta1", "beta2", "warmup")
        wrong += [f"{name}={getattr(self, name)!r} is not in [0, 1)" for name in shares if not _is_share(self, name)]
        for name in ("learning_rate", "epsilon"):
            if not (isinstance(getattr(self, name), float) and 0 < getattr(self, name) <= 1):
                wrong.append(f"{name}={getattr(self, name)!r} is not in (0, 1]")
        if wrong:
            raise InvalidInput(f"training recipe: {'; '.join(wrong)}. Try: the defaults of Recipe().")

    def rate(self, step: int, steps: int) -> float:
        """Learning rate of step 1..steps."""
        ramp = max(1, round(self.warmup * steps))
        if step <= ramp:
            return self.learning_rate * step / ramp
        return self.learning_rate * 0.5 * (1 + math.cos(math.pi * (step - ramp) / max(1, steps - ramp)))

    def adam_steps(self, epoch: int, per_epoch: int) -> Iterator[tuple[float, float]]:
        """(step size, epsilon) of each step of an epoch, Adam's bias corrections folded in (`adam`)."""
        for step in range(epoch * per_epoch + 1, (epoch + 1) * per_epoch + 1):
            correction = math.sqrt(1 - self.beta2**step)
            rate = self.rate(step, self.epochs * per_epoch)
            yield rate * correction / (1 - self.beta1**step), self.epsilon * correction

    def to_json(self) -> dict[str, int | float]:
        """The resolved recipe, as it enters the key of a store's cell."""
        return asdict(self)


def _is_size(recipe: Recipe, name: str) -> bool:
    return type(getattr(recipe, name)) is int and getattr(recipe, name) >= 1


def _is_share(recipe: Recipe, name: str) -> bool:
    return type(getattr(recipe, name)) in (int, float) and 0 <= getattr(recipe, name) < 1


@dataclass(frozen=True)
class State:
    """All there is to know about S models after ``epoch`` epochs; rows are models, columns the padded flat layout.

    parameters, first_moment, second_moment: (S, P); history: (S, evaluations) float64, the validation NMSE.
    """

    epoch: int
    parameters: Tensor
    first_moment: Tensor
    second_moment: Tensor
    history: Tensor

    def select(self, index: int) -> State:
        """Model ``index`` alone, as an ensemble of one."""
        parts = {name: getattr(self, name)[index : index + 1].clone() for name in (*STATE_PARTS, "history")}
        return State(self.epoch, **parts)

    def copy(self, device: torch.device) -> State:
        """A state that shares no memory with this one, its rows on ``device``."""
        return replace(self, **{name: getattr(self, name).to(device, copy=True) for name in STATE_PARTS})

    def named(self, config: BlockConfig) -> dict[str, Tensor]:
        """The ensemble's parameters by name, shapes (S, ...), copied."""
        return {name: value.clone() for name, value in _named(self.parameters, config).items()}

    def to_tensors(self, config: BlockConfig) -> dict[str, Tensor]:
        """Everything by name, ready for safetensors: ``parameters/token_in.weight``, ..., ``history``, ``epoch``."""
        tensors = {"epoch": torch.tensor(self.epoch), "history": self.history.cpu().clone()}
        for part in STATE_PARTS:
            for name, value in _named(getattr(self, part), config).items():
                tensors[f"{part}/{name}"] = value.detach().cpu().contiguous().clone()
        return tensors

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], config: BlockConfig) -> State:
        """Inverse of :meth:`to_tensors`; names, shapes, dtypes and finiteness are checked, the input is untrusted."""
        shapes = parameter_shapes(config)
        wanted = {f"{part}/{name}": shape for part in STATE_PARTS for name, shape in shapes.items()}
        problem = None
        if set(tensors) != {*wanted, "epoch", "history"}:
            problem = f"tensors {sorted(set(tensors) ^ {*wanted, 'epoch', 'history'})[:4]} are missing or foreign"
        elif tensors["epoch"].shape != () or tensors["epoch"].dtype != torch.int64 or tensors["epoch"] < 0:
            problem = "epoch is no integer >= 0"
        elif tensors["history"].dim() != 2 or tensors["history"].dtype != torch.float64:
            problem = "history is no (models, evaluations) float64 matrix"
        else:
            models, dtype = tensors["history"].shape[0], tensors["parameters/class_token"].dtype
            for name, shape in wanted.items():
                value = tensors[name]
                if tuple(value.shape) != (models, *shape) or value.dtype != dtype or not dtype.is_floating_point:
                    problem = f"{name} has shape {tuple(value.shape)}, {value.dtype}, not {(models, *shape)}, {dtype}"
                elif not bool(torch.isfinite(value).all()):
                    problem = f"{name} is not finite"
        if problem:
            raise InvalidInput(f"checkpoint: {problem}. Try: delete this checkpoint; training then starts afresh.")
        parts = {p: _flat({name: tensors[f"{p}/{name}"] for name in shapes}) for p in STATE_PARTS}
        return cls(epoch=int(tensors["epoch"]), history=tensors["history"].clone(), **parts)


def stack_states(states: Sequence[State]) -> State:
    """Several ensembles at the same epoch -> one."""
    if len({state.epoch for state in states}) != 1:
        raise InvalidInput.about("epochs", [state.epoch for state in states], "equal epochs", "grouping by epoch")
    parts = {name: torch.cat([getattr(state, name) for state in states]) for name in (*STATE_PARTS, "history")}
    return State(states[0].epoch, **parts)


def start(config: BlockConfig, seeds: Sequence[int], dtype: torch.dtype = torch.float32) -> State:
    """The untrained ensemble, one model per seed."""
    if not seeds:
        raise InvalidInput.about("seeds", list(seeds), "at least one seed", "seeds=[0]")
    flat = _flat(stack_models([init_parameters(config, seed, dtype) for seed in seeds]))
    history = torch.empty((len(seeds), 0), dtype=torch.float64)
    return State(0, flat, torch.zeros_like(flat), torch.zeros_like(flat), history)


@dataclass(frozen=True)
class Problem:
    """Training and validation sample with the training targets' mean and std (l,), which the trainer divides out.

    mean and std are rounded to float32, so that folding std into float32 weights is exact in float64.
    """

    train: Sample
    validation: Sample
    mean: Tensor
    std: Tensor

    @classmethod
    def of(cls, train: Sample, validation: Sample) -> Problem:
        """Measure mean and std in float64 on the training targets."""
        targets = train.y.to(torch.float64)
        mean, std = targets.mean(0).to(torch.float32), targets.std(0, correction=0).to(torch.float32)
        if not bool((std > 0).all() and torch.isfinite(mean).all()):
            raise InvalidInput.about("std of the targets", std.tolist(), "finite and > 0", "targets that vary")
        return cls(train, validation, mean, std)


class Engine(Protocol):
    """How an epoch is computed. Engines agree up to rounding; ``name`` belongs in the key of whatever is stored.

    flat: (S, P), the rows of a `State`; x (count, T, d) and y (count, l), the standardised targets, in its dtype.
    """

    name: str

    def epoch(
        self, config: BlockConfig, state: State, x: Tensor, y: Tensor, order: Tensor, recipe: Recipe, epoch: int
    ) -> None:
        """Train ``state`` in place, model s on the batches ``order[s]`` (batches, batch)."""

    def outputs(self, config: BlockConfig, flat: Tensor, x: Tensor) -> Tensor:
        """What every model says: (S, count, l)."""


class TorchEngine:
    """All models in one batched product; CPU and CUDA."""

    name = "torch"

    def epoch(
        self, config: BlockConfig, state: State, x: Tensor, y: Tensor, order: Tensor, recipe: Recipe, epoch: int
    ) -> None:
        """See `Engine`."""
        twins = _twins(len(order), x.device)
        parts = [getattr(state, part) for part in STATE_PARTS]
        flat, first, second = (part[twins] for part in parts)
        order = order.to(x.device)[twins]
        for index, (size, epsilon) in enumerate(recipe.adam_steps(epoch, order.shape[1])):
            chosen = order[:, index]
            gradient = _gradient(flat, x[chosen], y[chosen], config)
            adam(flat, gradient, first, second, recipe, size, epsilon)
        for part, moved in zip(parts, (flat, first, second), strict=True):
            part.copy_(moved[: len(part)])

    def outputs(self, config: BlockConfig, flat: Tensor, x: Tensor) -> Tensor:
        """See `Engine`."""
        parameters = _named(flat[_twins(len(flat), flat.device)], config)
        with torch.no_grad():
            pieces = [forward(parameters, piece[None], config) for piece in torch.split(x, EVALUATION_CHUNK)]
        return torch.cat(pieces, dim=1)[: len(flat)]


def _twins(models: int, device: torch.device) -> Tensor:
    """Row numbers, twice the first if there is one: a batch of one runs in other kernels, with other last bits."""
    return torch.tensor([row % models for row in range(max(2, models))], device=device)


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread inside: a second one never pays at these sizes, and costs dearly on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def iterate(
    config: BlockConfig,
    seeds: Sequence[int],
    problem: Problem,
    recipe: Recipe,
    state: State | None = None,
    engine: Engine | None = None,
) -> Iterator[State]:
    """Train; yield the state after every ``recipe.evaluate_every`` epochs and after the last one.

    Start afresh, or from ``state`` (rows in the order of ``seeds``). The states yielded are the caller's: save
    them, or stop early, at will. Dtype and device are those of the state and of ``problem``'s samples. The engine is
    torch's if none is given; `experiments.native.engine_for` gives the fastest one at hand.
    """
    engine = TorchEngine() if engine is None else engine
    state = start(config, seeds) if state is None else state
    if state.parameters.shape[0] != len(seeds):
        raise InvalidInput.about("seeds", list(seeds), f"{state.parameters.shape[0]} seeds, one per row", "the same")
    count, batch = problem.train.x.shape[0], recipe.batch_size
    if count < batch or tuple(problem.train.x.shape[1:]) != (config.seq_len, config.token_dim):
        condition = f"(count >= {batch}, T={config.seq_len}, d={config.token_dim})"
        raise InvalidInput.about("train.x.shape", tuple(problem.train.x.shape), condition, "a smaller batch")
    x, device = problem.train.x.to(state.parameters.dtype), problem.train.x.device
    y = ((problem.train.y - problem.mean.to(device)) / problem.std.to(device)).to(x.dtype)
    state = state.copy(device)
    for epoch in range(state.epoch, recipe.epochs):
        order = torch.stack([_order(seed, epoch, count, batch) for seed in seeds])
        engine.epoch(config, state, x, y, order, recipe, epoch)
        state = replace(state, epoch=epoch + 1)
        if state.epoch % recipe.evaluate_every == 0 or state.epoch == recipe.epochs:
            said = engine.outputs(config, state.parameters, problem.validation.x.to(x.dtype))
            error = nmse(said, problem)[:, None].cpu()
            state = replace(state, history=torch.cat([state.history, error], dim=1))
            yield state.copy(device)


def _order(seed: int, epoch: int, count: int, batch: int) -> Tensor:
    """The full batches of one epoch, as indices (batches, batch): a function of (seed, epoch) alone."""
    order = torch.randperm(count, generator=random_stream(seed, "shuffle", epoch))
    return order[: count // batch * batch].view(-1, batch)


def train(
    config: BlockConfig,
    seeds: Sequence[int],
    problem: Problem,
    recipe: Recipe,
    state: State | None = None,
    progress: Callable[[int, int, Tensor], None] | None = None,
    engine: Engine | None = None,
) -> State:
    """Run :func:`iterate` to its end; ``progress(epoch, epochs, nmse (S,))`` after every evaluation."""
    state = start(config, seeds) if state is None else state
    for after in iterate(config, seeds, problem, recipe, state, engine):
        state = after
        if progress is not None:
            progress(state.epoch, recipe.epochs, state.history[:, -1])
    return state


def nmse(outputs: Tensor, problem: Problem) -> Tensor:
    """MSE / variance of the target, mean over outputs, on the validation sample: (S,) float64.

    ``outputs`` (S, count, l) are those of the standardised problem, as trained.
    """
    target = problem.validation.y.to(torch.float64)
    mean, std = (value.to(target.device, torch.float64) for value in (problem.mean, problem.std))
    error = outputs.to(torch.float64) * std + mean - target
    return torch.stack([(model.square().mean(0) / target.var(0, correction=0)).mean() for model in error])


def _gradient(flat: Tensor, x: Tensor, y: Tensor, config: BlockConfig) -> Tensor:
    """Gradient of every model's mean squared error over its own batch: (S, P)."""
    leaf = flat.detach().requires_grad_()
    output = forward(_named(leaf, config), x, config)
    residual = (output.detach() - y) * (2 / (y.shape[1] * y.shape[2]))
    return torch.autograd.grad(output, leaf, residual)[0]


def adam(
    flat: Tensor, gradient: Tensor, first: Tensor, second: Tensor, recipe: Recipe, size: float, epsilon: float
) -> None:
    """One step of Adam in place (Kingma and Ba 2015, Algorithm 1, its efficient order of operations)."""
    first.mul_(recipe.beta1).add_(gradient, alpha=1 - recipe.beta1)
    second.mul_(recipe.beta2).addcmul_(gradient, gradient, value=1 - recipe.beta2)
    flat.addcdiv_(first, second.sqrt().add_(epsilon), value=-size)


def _named(flat: Tensor, config: BlockConfig) -> dict[str, Tensor]:
    """Views of the flat rows by name."""
    shapes = parameter_shapes(config)
    sizes = [math.prod(shape) for shape in shapes.values()]
    pieces = torch.split(flat, [*sizes, flat.shape[1] - sum(sizes)], dim=1)
    return {name: piece.view(-1, *shape) for (name, shape), piece in zip(shapes.items(), pieces, strict=False)}


def _flat(named: Mapping[str, Tensor]) -> Tensor:
    """Named tensors (S, ...) -> rows (S, P), zero-padded to a multiple of LANES."""
    rows = torch.cat([value.flatten(1) for value in named.values()], dim=1)
    return torch.nn.functional.pad(rows, (0, -rows.shape[1] % LANES)).contiguous()
