"""The trainer: bits that do not depend on company, resuming, Adam against torch's, data, errors."""

from __future__ import annotations

import pytest
import torch

from experiments.ensemble import Problem, Recipe, State, TorchEngine, iterate, nmse, stack_states, start, train
from experiments.models import BlockConfig, forward, init_parameters, parameter_shapes, reference_forward
from experiments.streams import random_stream
from experiments.synthetic import (
    Sample,
    corner_tokens,
    gaussian_directions,
    orthonormal_directions,
    sum_of_maxima,
    toy,
    uniform_tokens,
    unit_directions,
)
from theory.errors import InvalidInput

OPTIMISER_ROUNDING = 1e-9  # 24 float64 steps of two differently ordered Adams
OUTPUT_ROUNDING = 1e-6  # float32 outputs of size 1, batched otherwise
PARTS = ("parameters", "first_moment", "second_moment", "history")


def small_problem(seq_len: int = 6, count: int = 68) -> Problem:
    return Problem.of(toy(seq_len, count, 0, "train"), toy(seq_len, 40, 0, "validation"))


def same_bits(one: State, other: State) -> bool:
    return one.epoch == other.epoch and all(torch.equal(getattr(one, p), getattr(other, p)) for p in PARTS)


CONFIGS = [
    BlockConfig(1, 6, 1, 3, 4),
    BlockConfig(1, 6, 3, 5, 12, token_activation="tanh"),
    BlockConfig(1, 6, 2, 8, 32),
    BlockConfig(1, 6, 5, 7, 32, token_activation="gelu"),
]


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("batch_size", [12, 32])
def test_bits_do_not_depend_on_the_group(config: BlockConfig, batch_size: int) -> None:
    """Catches a kernel whose order of summation, or a shuffle whose draw, depends on the other seeds."""
    recipe = Recipe(epochs=3, batch_size=batch_size, learning_rate=1e-2)
    seeds = [3, 1, 4, 15, 9]
    together = train(config, seeds, small_problem(), recipe)
    for row, seed in enumerate(seeds):
        assert same_bits(train(config, [seed], small_problem(), recipe), together.select(row)), seed
    pairs = stack_states([train(config, part, small_problem(), recipe) for part in (seeds[:2], seeds[2:])])
    assert same_bits(pairs, together)
    assert not torch.equal(together.parameters[0], together.parameters[1])


@pytest.mark.parametrize("config", CONFIGS)
def test_resumed_run_is_the_undisturbed_run(config: BlockConfig) -> None:
    """Catches state that is not in the state: moments, step count, schedule, generator position, history."""
    recipe = Recipe(epochs=4, batch_size=16, learning_rate=1e-2)
    states = list(iterate(config, [0, 1], small_problem(), recipe))
    assert [state.epoch for state in states] == [1, 2, 3, 4]
    for state in states[:3]:
        reloaded = State.from_tensors(state.to_tensors(config), config)
        assert same_bits(reloaded, state)
        assert same_bits(train(config, [0, 1], small_problem(), recipe, state=reloaded), states[-1])
    assert same_bits(train(config, [0, 1], small_problem(), recipe, state=states[-1]), states[-1])


def test_trains_like_torchs_adam_on_the_reference() -> None:
    """Catches a wrong step: bias correction, schedule, batch order, gradient scale, target standardisation."""
    config, recipe = BlockConfig(1, 6, 2, 3, 5), Recipe(epochs=3, batch_size=8, learning_rate=1e-2, warmup=0.2)
    problem, seed = small_problem(), 5
    problem = Problem(problem.train.to(torch.float64), problem.validation.to(torch.float64), problem.mean, problem.std)
    fast = train(config, [seed], problem, recipe, start(config, [seed], torch.float64)).named(config)
    plain = {k: v.requires_grad_() for k, v in init_parameters(config, seed, torch.float64).items()}
    optimiser = torch.optim.Adam(list(plain.values()), lr=1.0, betas=(0.9, 0.999), eps=1e-8)
    step, per_epoch = 0, 8
    for epoch in range(recipe.epochs):
        order = torch.randperm(68, generator=random_stream(seed, "shuffle", epoch))
        for index in range(per_epoch):
            chosen, step = order[index * 8 : index * 8 + 8], step + 1
            optimiser.param_groups[0]["lr"] = recipe.rate(step, recipe.epochs * per_epoch)
            optimiser.zero_grad()
            target = (problem.train.y[chosen] - problem.mean) / problem.std
            (reference_forward(plain, problem.train.x[chosen], config) - target).square().mean().backward()
            optimiser.step()
    for name, value in plain.items():
        # Adam divides rounding noise by itself where the true gradient is 0 (softmax ignores key.bias).
        if name != "key.bias":
            assert (value - fast[name][0]).abs().max() <= OPTIMISER_ROUNDING, name


def test_schedule_ramps_and_ends_at_zero() -> None:
    """Catches a schedule that is off by one at either end."""
    recipe = Recipe(epochs=1, learning_rate=0.5, warmup=0.1)
    assert [recipe.rate(step, 100) for step in (1, 10, 100)] == [0.05, 0.5, 0]
    rates = [recipe.rate(step, 100) for step in range(10, 101)]
    assert rates == sorted(rates, reverse=True)


def test_validation_nmse_is_one_minus_r_squared() -> None:
    """Catches NMSE in standardised units or against the training variance."""
    config, problem = CONFIGS[0], small_problem()
    state = start(config, [0, 1])
    output = forward(state.named(config), problem.validation.x[None], config)
    said = TorchEngine().outputs(config, state.parameters, problem.validation.x)
    assert (said - output).abs().max() <= OUTPUT_ROUNDING
    target, output = problem.validation.y, output * problem.std + problem.mean
    expected = [(row - target).square().sum() / (target - target.mean()).square().sum() for row in output]
    assert nmse(said, problem).tolist() == pytest.approx([e.item() for e in expected], rel=1e-5)


def test_data_depend_on_seed_and_purpose_only() -> None:
    """Catches one generator shared by two purposes, and targets that are not those of the rounded tokens."""
    for sampler in (uniform_tokens, corner_tokens):
        one, again = toy(8, 99, 0, "train", sampler), toy(8, 99, 0, "train", sampler)
        assert torch.equal(one.x, again.x)
        assert torch.equal(one.y, again.y)
        assert not torch.equal(one.x, toy(8, 99, 0, "validation", sampler).x)
        assert not torch.equal(one.x, toy(8, 99, 1, "train", sampler).x)
        assert 0 <= float(one.x.min()) <= float(one.x.max()) <= 1
        assert torch.equal(one.y, (one.x.double().amax(1) + one.x.double().amin(1)).float())


def test_sum_of_maxima_and_its_directions() -> None:
    """Catches a target that sums over the wrong axis, and directions that are not what their name says."""
    a = unit_directions(5, 3, seed=2)
    assert torch.allclose(a.norm(dim=1), torch.ones(5, dtype=torch.float64))
    q = orthonormal_directions(3, 4, seed=2)
    assert torch.allclose(q @ q.T, torch.eye(3, dtype=torch.float64))
    sample = sum_of_maxima(a, seq_len=7, count=20, seed=0, purpose="train")
    by_hand = [sum(max(float(v @ x.double()) for x in seq) for v in a) for seq in sample.x]
    assert sample.y[:, 0].tolist() == pytest.approx(by_hand, rel=1e-6)
    with pytest.raises(InvalidInput, match="num_targets=5"):
        orthonormal_directions(5, 4, seed=0)
    with pytest.raises(InvalidInput, match="finite"):
        sum_of_maxima(gaussian_directions(2, 2, 0) * torch.nan, 4, 4, 0, "train")
    with pytest.raises(InvalidInput, match="count"):
        toy(1 << 20, 1 << 20, 0, "train")


@pytest.mark.parametrize(
    ("field", "value"),
    [("epochs", 0), ("batch_size", 1.5), ("learning_rate", float("nan")), ("beta1", 1.0), ("warmup", -0.1)],
)
def test_bad_recipes_are_named(field: str, value: object) -> None:
    """Catches a recipe that would train nonsense or nothing."""
    with pytest.raises(InvalidInput, match=field):
        Recipe(**{field: value})


def test_bad_calls_are_named() -> None:
    """Catches a run that starts on data it cannot use."""
    config, recipe = CONFIGS[0], Recipe(epochs=1, batch_size=16)
    with pytest.raises(InvalidInput, match="smaller batch"):
        train(config, [0], small_problem(count=10), recipe)
    with pytest.raises(InvalidInput, match="T=6"):
        train(config, [0], small_problem(seq_len=5), recipe)
    with pytest.raises(InvalidInput, match="one per row"):
        train(config, [0, 1], small_problem(), recipe, start(config, [0]))
    with pytest.raises(InvalidInput, match="at least one seed"):
        train(config, [], small_problem(), recipe)
    flat = Sample(torch.rand(20, 6, 1), torch.ones(20, 1))
    with pytest.raises(InvalidInput, match="targets that vary"):
        Problem.of(flat, flat)


def test_damaged_checkpoints_are_refused() -> None:
    """Catches a foreign, truncated or poisoned checkpoint that would be trained on."""
    config = CONFIGS[0]
    good = start(config, [0, 1]).to_tensors(config)
    name = "parameters/query.weight"
    damaged = [
        {k: v for k, v in good.items() if k != name},
        good | {"extra": torch.zeros(1)},
        good | {name: good[name][:1]},
        good | {name: good[name] * torch.inf},
        good | {name: good[name].double()},
        good | {"epoch": torch.tensor(-1)},
        good | {"history": torch.zeros(2)},
    ]
    for tensors in damaged:
        with pytest.raises(InvalidInput, match="checkpoint"):
            State.from_tensors(tensors, config)
    assert len(parameter_shapes(config)) * 3 + 2 == len(good)
