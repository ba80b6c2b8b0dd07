"""Trained parameters as exact networks: the same function, bit for bit the same weights."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

from constructions.arithmetic import FLOAT64
from constructions.evaluate import evaluate
from experiments.export import to_network
from experiments.models import BlockConfig, forward, init_parameters, stack_models
from theory.errors import InvalidInput

FLOAT64_AGREEMENT = 1e-12  # two orders of summation of some 100 terms of size 1
FLOAT32_AGREEMENT = 1e-6


def _randomised(config: BlockConfig, seed: int, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """A start with non-zero biases everywhere: a bias that is lost must show."""
    parameters = init_parameters(config, seed, dtype)
    stream = torch.Generator().manual_seed(seed)
    return {
        name: value + 0.3 * torch.rand(value.shape, generator=stream, dtype=dtype) for name, value in parameters.items()
    }


@pytest.mark.parametrize("activation", ["relu", "gelu", "tanh"])
@pytest.mark.parametrize(("heads", "dtype", "tolerance"), [
    (1, torch.float64, FLOAT64_AGREEMENT), (3, torch.float64, FLOAT64_AGREEMENT), (2, torch.float32, FLOAT32_AGREEMENT),
])  # fmt: skip
def test_torch_and_network_agree(activation: str, heads: int, dtype: torch.dtype, tolerance: float) -> None:
    """Would catch: heads sliced along the wrong axis, a lost bias, a missing 1/sqrt(n), a wrong activation."""
    config = BlockConfig(2, 5, heads, 4, 7, outputs=2, token_activation=activation)
    models = [_randomised(config, seed, dtype) for seed in (0, 1)]
    tokens = torch.rand((6, 5, 2), generator=torch.Generator().manual_seed(9), dtype=dtype)
    expected = forward(stack_models(models), tokens[None], config).double().numpy()
    for index in (0, 1):
        network = to_network(stack_models(models), config, index)
        found = evaluate(network, tokens.double().numpy(), FLOAT64)
        np.testing.assert_allclose(found, expected[index], rtol=0, atol=tolerance)


def test_weights_are_the_very_floats() -> None:
    """Would catch: rounding, or float32 values passing through decimal text."""
    config = BlockConfig(1, 4, 2, 3, 5)
    parameters = _randomised(config, 3, torch.float32)
    network = to_network(parameters, config)
    assert network.beta == Fraction(1 / 3**0.5)
    for name, array in (("class_token", network.class_token), ("output.weight", network.output_weight)):
        assert np.array_equal(array.astype(np.float32), parameters[name].numpy())
    rows = np.concatenate([head.value for head in network.heads])
    assert [Fraction(entry) for entry in rows.ravel()] == [
        Fraction(x) for x in parameters["value.weight"].flatten().tolist()
    ]


@pytest.mark.parametrize("spoil", [
    lambda p: p.pop("query.bias"), lambda p: p.update({"class_token": p["class_token"][:-1]}),
    lambda p: p["token_in.bias"].fill_(float("nan")),
])  # fmt: skip
def test_damaged_parameters_are_refused(spoil) -> None:  # type: ignore[no-untyped-def]
    """Would catch: a KeyError or a silent broadcast instead of a message that names the parameter."""
    config = BlockConfig(1, 4, 1, 2, 3)
    parameters = init_parameters(config, 0)
    spoil(parameters)
    with pytest.raises(InvalidInput):
        to_network(parameters, config)
