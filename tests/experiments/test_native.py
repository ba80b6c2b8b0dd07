"""The native step against torch: outputs, gradients, training, bits, and what happens where it cannot be built."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from experiments import native
from experiments.ensemble import Problem, Recipe, State, TorchEngine, iterate, stack_states, start, train
from experiments.models import ACTIVATIONS, BlockConfig, init_parameters, reference_forward
from experiments.native import NativeEngine, NativeUnavailable, engine_for, load_library
from experiments.streams import random_stream
from experiments.synthetic import toy

FLOAT64_ROUNDING = 1e-12  # absolute, gradients of size 1
FLOAT32_ROUNDING = 1e-5  # relative to the largest entry
OPTIMISER_ROUNDING = 1e-9  # 24 float64 steps of two differently ordered Adams
SIZES = [(4, 8, 4, 8, 32, 1), (1, 1, 1, 1, 1, 1), (1, 5, 1, 3, 7, 2), (3, 17, 5, 7, 33, 1), (17, 33, 3, 4, 20, 3)]
"""d, T, h, n, N, l: the paper's, all ones, less than a vector, odd everywhere, more than a chunk of tokens."""
PARTS = ("parameters", "first_moment", "second_moment", "history")


@pytest.fixture(scope="module")
def engine() -> NativeEngine:
    if not any(shutil.which(name) for name in native.COMPILERS):
        pytest.skip("no C++ compiler: torch trains instead")
    return NativeEngine()


def shaken_row(config: BlockConfig, seed: int) -> torch.Tensor:
    """A float64 row of the flat layout none of whose tensors is zero, so that every bias counts."""
    stream = random_stream(seed, "test")
    row = start(config, [seed], torch.float64).parameters[0]
    used = sum(value.numel() for value in init_parameters(config, seed).values())
    row[:used] += 0.2 * torch.randn(used, generator=stream, dtype=torch.float64)
    return row


def draw(config: BlockConfig, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    stream = random_stream(1, "test data")
    x = torch.randn((count, config.seq_len, config.token_dim), generator=stream, dtype=torch.float64)
    return x, torch.randn((count, config.outputs), generator=stream, dtype=torch.float64)


def plain(row: torch.Tensor, config: BlockConfig) -> dict[str, torch.Tensor]:
    """The same parameters by name, ready for `reference_forward`."""
    zero = torch.zeros_like(row)[None]
    named = State(0, row[None], zero, zero, torch.empty(1, 0)).named(config)
    return {name: value[0].requires_grad_() for name, value in named.items()}


def reference(row: torch.Tensor, x: torch.Tensor, y: torch.Tensor, config: BlockConfig) -> dict[str, torch.Tensor]:
    model = plain(row, config)
    loss = (reference_forward(model, x, config) - y).square().mean()
    return dict(zip(model, torch.autograd.grad(loss, list(model.values())), strict=True))


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("batch", [1, 37])
def test_float64_equals_multihead_attention(
    engine: NativeEngine, activation: str, sizes: tuple[int, ...], batch: int
) -> None:
    """Catches any wrong term of any derivative, lanes or tokens past the end that count, a wrong layout."""
    config = BlockConfig(*sizes, token_activation=activation)
    row, (x, y) = shaken_row(config, 0), draw(config, batch)
    said = engine.outputs(config, row[None], x)[0]
    assert (said - reference_forward(plain(row, config), x, config)).abs().max() <= FLOAT64_ROUNDING
    ours, theirs = plain(engine.gradient(config, row, x, y), config), reference(row, x, y, config)
    for name, value in theirs.items():
        scale = max(1.0, value.abs().max().item())
        assert (ours[name] - value).abs().max() <= FLOAT64_ROUNDING * scale, name


@pytest.mark.parametrize("sizes", SIZES)
def test_float32_equals_multihead_attention(engine: NativeEngine, sizes: tuple[int, ...]) -> None:
    """Catches an approximate exponential or error function that is too coarse for float32."""
    config = BlockConfig(*sizes)
    row, (x, y) = shaken_row(config, 0).float(), draw(config, 50)
    x, y = x.float(), y.float()
    ours = plain(engine.gradient(config, row, x, y), config)
    theirs = reference(row.double(), x.double(), y.double(), config)
    largest = max(value.abs().max() for value in theirs.values())
    for name, value in theirs.items():
        assert (ours[name] - value).abs().max() <= FLOAT32_ROUNDING * largest, name


def test_large_scores_neither_overflow_nor_lose_the_maximum(engine: NativeEngine) -> None:
    """Catches a softmax without a shift, or a running maximum that is not carried from chunk to chunk."""
    config = BlockConfig(1, 40, 1, 2, 4)
    row, (x, y) = shaken_row(config, 0), draw(config, 20)
    for scale in (30.0, 1e4):
        sharp = row.clone()
        sharp[: 2 * config.hidden] *= scale
        said = engine.outputs(config, sharp[None], x)[0]
        expected = reference_forward(plain(sharp, config), x, config)
        assert ((said - expected).abs() <= FLOAT64_ROUNDING * scale).all()
        gradient = engine.gradient(config, sharp.float(), x.float(), y.float())
        assert bool(torch.isfinite(gradient).all())


def problem() -> Problem:
    return Problem.of(toy(6, 68, 0, "train"), toy(6, 40, 0, "validation"))


def test_trains_like_torch(engine: NativeEngine) -> None:
    """Catches a wrong step: batch order, schedule, bias correction, moments of the wrong model."""
    config, recipe = BlockConfig(1, 6, 2, 3, 5), Recipe(epochs=3, batch_size=8, learning_rate=1e-2)
    data = problem()
    exact = Problem(data.train.to(torch.float64), data.validation.to(torch.float64), data.mean, data.std)
    begun = start(config, [0, 1], torch.float64)
    ours, theirs = (train(config, [0, 1], exact, recipe, begun, engine=e) for e in (engine, TorchEngine()))
    expected = theirs.to_tensors(config)
    for name, value in ours.to_tensors(config).items():
        # Adam divides rounding noise by itself where the true gradient is 0 (softmax ignores key.bias).
        if name != "parameters/key.bias":
            assert (value - expected[name]).abs().max() <= OPTIMISER_ROUNDING, name
    assert not torch.equal(begun.parameters, ours.parameters)


def test_bits_depend_on_nothing_else(engine: NativeEngine) -> None:
    """Catches company, interruption or a second run that changes the result."""
    config, recipe = BlockConfig(1, 6, 3, 5, 12), Recipe(epochs=4, batch_size=13, learning_rate=1e-2)
    seeds = [3, 1, 4]
    states = list(iterate(config, seeds, problem(), recipe, engine=engine))
    for row, seed in enumerate(seeds):
        alone = train(config, [seed], problem(), recipe, engine=NativeEngine())
        assert all(torch.equal(getattr(alone, part), getattr(states[-1].select(row), part)) for part in PARTS)
    for state in states[:-1]:
        reloaded = State.from_tensors(state.to_tensors(config), config)
        assert reloaded.epoch == state.epoch
        resumed = train(config, seeds, problem(), recipe, reloaded, engine=engine)
        assert all(torch.equal(getattr(resumed, part), getattr(states[-1], part)) for part in PARTS)
    regrouped = stack_states([states[-1].select(row) for row in range(3)])
    assert torch.equal(regrouped.parameters, states[-1].parameters)


def test_without_a_compiler_torch_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a traceback, or silence, on a bare machine."""
    monkeypatch.setattr(native, "COMPILERS", ("no-such-compiler",))
    monkeypatch.delenv("CXX", raising=False)
    said: list[str] = []
    assert engine_for("cpu", said.append).name == "torch"
    assert len(said) == 1
    assert "no-such-compiler" in said[0]
    assert "\n" not in said[0]
    assert engine_for("cuda", said.append).name == "torch"
    assert len(said) == 1


def test_failing_compiler_and_unwritable_cache_are_named(
    engine: NativeEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Catches a broken build that is kept, and one that ends in a traceback."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(native, "FLAGS", ("--no-such-flag",))
    with pytest.raises(NativeUnavailable, match="cannot build"):
        load_library(torch.float32)
    assert not list(tmp_path.rglob("*.so"))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(NativeUnavailable, match="cannot be kept"):
        load_library(torch.float32)
    with pytest.raises(NativeUnavailable, match="float16"):
        load_library(torch.float16)


def test_foreign_memory_is_refused(engine: NativeEngine) -> None:
    """Catches an address passed to the library that is not what it takes it for."""
    config = BlockConfig(1, 6, 1, 2, 4)
    row = start(config, [0]).parameters
    with pytest.raises(NativeUnavailable, match="contiguous"):
        engine.outputs(config, row, torch.zeros(6, 8, 1).transpose(0, 1))
    with pytest.raises(NativeUnavailable, match="contiguous"):
        engine.outputs(config, row.double(), torch.zeros(8, 6, 1))
