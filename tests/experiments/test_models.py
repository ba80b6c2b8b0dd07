"""The trainable block: its fast forward pass against torch's own attention, its initialisation, its errors."""

from __future__ import annotations

import math

import pytest
import torch

from experiments.models import (
    ACTIVATIONS,
    BlockConfig,
    forward,
    init_parameters,
    parameter_shapes,
    reference_forward,
    select_model,
    stack_models,
    unstandardise,
)
from experiments.streams import random_stream
from theory.errors import InvalidInput

ROUNDING = 1e-12  # float64 sums of a few hundred terms of size 1
FLOAT32_ROUNDING = 1e-4
SEEDS = (0, 1, 2)


def shaken(config: BlockConfig, seed: int) -> dict[str, torch.Tensor]:
    """A float64 model none of whose tensors is zero, so that every bias counts."""
    parameters = init_parameters(config, seed, torch.float64)
    stream = random_stream(seed, "test")
    return {k: v + 0.3 * torch.randn(v.shape, generator=stream, dtype=v.dtype) for k, v in parameters.items()}


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
@pytest.mark.parametrize("sizes", [(1, 5, 1, 3, 4, 1), (3, 7, 4, 5, 6, 2)])
def test_losses_and_gradients_equal_multihead_attention(activation: str, sizes: tuple[int, ...]) -> None:
    """Catches a wrong fold: scale, bias, head order, a class token among the keys, models that mix."""
    config = BlockConfig(*sizes, token_activation=activation)
    models = [shaken(config, seed) for seed in SEEDS]
    ensemble = {name: value.requires_grad_() for name, value in stack_models(models).items()}
    stream = random_stream(9, "test data")
    shape = (len(SEEDS), 11, config.seq_len, config.token_dim)
    ensemble["x"] = x = torch.rand(shape, generator=stream, dtype=torch.float64).requires_grad_()
    target = torch.rand((11, config.outputs), generator=stream, dtype=torch.float64)
    losses = (forward(ensemble, x, config) - target).square().mean((1, 2))
    gradients = torch.autograd.grad(losses.sum(), list(ensemble.values()), allow_unused=True)
    for row, model in enumerate(models):
        plain = {name: value.requires_grad_() for name, value in model.items()}
        plain["x"] = x[row].detach().requires_grad_()
        loss = (reference_forward(plain, plain["x"], config) - target).square().mean()
        assert abs(loss - losses[row]) <= ROUNDING
        expected = torch.autograd.grad(loss, list(plain.values()))
        for name, ours, theirs in zip(plain, gradients, expected, strict=True):
            ours_row = torch.zeros_like(theirs) if ours is None else ours[row]
            assert (ours_row - theirs).abs().max() <= ROUNDING, name
            assert name == "key.bias" or theirs.abs().max() > ROUNDING, f"{name} has no gradient: vacuous"


def test_class_token_is_not_among_the_keys() -> None:
    """Catches a sum over T + 1 positions: equal tokens must give their value, whatever the class token says."""
    config = BlockConfig(1, 4, 2, 3, 5)
    model = shaken(config, 0)
    moved = model | {"class_token": 10 * model["class_token"] + 1}
    x = torch.full((1, 1, 4, 1), 0.25, dtype=torch.float64)
    assert torch.allclose(
        forward(stack_models([model]), x, config), forward(stack_models([moved]), x, config), atol=ROUNDING
    )


def test_initialisation_is_torchs_default() -> None:
    """Catches a wrong bound: each tensor's range fills torch's own within sampling error, biases of attention are 0."""
    config = BlockConfig(4, 8, 4, 8, 64)
    parameters = init_parameters(config, 0, torch.float64)
    attention = torch.nn.MultiheadAttention(config.embed_dim, config.num_heads)
    linears = {
        "token_in": torch.nn.Linear(4, 64),
        "token_out": torch.nn.Linear(64, 32),
        "readout_in": torch.nn.Linear(32, 64),
        "output": attention.out_proj,
    }
    own = {f"{name}.weight": layer.weight for name, layer in linears.items()}
    own |= {f"{name}.weight": attention.in_proj_weight for name in ("query", "key", "value")}
    own |= {f"{name}.bias": linears[name].bias for name in ("token_in", "token_out", "readout_in")}
    for name, theirs in own.items():
        assert parameters[name].abs().max().item() == pytest.approx(theirs.abs().max().item(), rel=0.15), name
    for name in ("query", "key", "value", "output"):
        assert not parameters[f"{name}.bias"].any()
    assert {name: tuple(value.shape) for name, value in parameters.items()} == parameter_shapes(config)


def test_unstandardise_is_the_affine_map() -> None:
    """Catches mean and std swapped or folded into the wrong axis."""
    config = BlockConfig(1, 4, 1, 3, 5, outputs=2)
    ensemble = stack_models([init_parameters(config, seed) for seed in SEEDS])
    mean, std = torch.tensor([1.0, -2.0]), torch.tensor([0.5, 3.0])
    x = torch.rand((1, 6, 4, 1), generator=random_stream(0, "test"))
    folded = unstandardise(ensemble, mean, std)
    assert all(value.dtype == torch.float64 for value in folded.values())
    expected = forward(ensemble, x, config) * std + mean
    assert (forward(folded, x.double(), config) - expected).abs().max() <= FLOAT32_ROUNDING
    one = unstandardise(select_model(ensemble, 1), mean, std)
    assert all(torch.equal(value, folded[name][1]) for name, value in one.items())


@pytest.mark.parametrize(
    ("field", "value"),
    [("num_heads", 0), ("hidden", -3), ("seq_len", 2.0), ("token_dim", True), ("head_dim", 1 << 40), ("outputs", None)],
)
def test_bad_sizes_are_named(field: str, value: object) -> None:
    """Catches a size that slips through to torch and fails there without a name."""
    good = {"token_dim": 1, "seq_len": 4, "num_heads": 1, "head_dim": 2, "hidden": 3}
    with pytest.raises(InvalidInput, match=field):
        BlockConfig(**(good | {field: value}))


def test_all_violations_at_once() -> None:
    """Catches a check that stops at the first error."""
    with pytest.raises(InvalidInput, match=r"seq_len=0.*token_activation='sine'"):
        BlockConfig(1, 0, 1, 2, 3, token_activation="sine")


def test_wrong_data_shape_is_named() -> None:
    """Catches silent broadcasting of tokens of another dimension."""
    config = BlockConfig(2, 4, 1, 2, 3)
    with pytest.raises(InvalidInput, match=r"T=4, d=2"):
        forward(stack_models([init_parameters(config, 0)]), torch.zeros(1, 5, 4, 1), config)
    assert math.isfinite(forward(stack_models([init_parameters(config, 0)]), torch.zeros(1, 5, 4, 2), config).sum())
