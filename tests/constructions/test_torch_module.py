"""A network as a torch module: the same numbers as the interpreter, gradients, dtypes, copies, sparse layers."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.strategies import networks
from constructions import to_torch
from constructions.arithmetic import FLOAT64
from constructions.evaluate import evaluate
from constructions.network import Dense, Head, Network, Perceptron
from constructions.sparse import SparseLayer, SparseMatrix
from constructions.specialists import Knowledge, build
from constructions.task import quadratic, toy
from theory.errors import InvalidInput
from theory.ledger import Form

FLOAT64_ROUNDING = 1e-9
"""Relative to the largest number on the way; weights of `networks` are at most 1, beta at most 10^6."""
FLOAT32_ROUNDING = 1e-4
DIFFERENCE_STEP = 1e-6
GRADIENT_ROUNDING = 1e-5


def specialists(eps: Fraction = Fraction(1, 50)) -> Network:
    return build(quadratic(3, 2, 8), eps, Form.SHARPENED, Knowledge(Fraction(1))).network


def random_tokens(network: Network, count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((count, network.seq_len, network.token_dim))


@settings(deadline=None, max_examples=60)
@given(networks(), st.integers(0, 2**32 - 1))
def test_the_module_computes_what_the_interpreter_computes(network: Network, seed: int) -> None:
    """Catches a transposed matrix, a forgotten bias or beta, a head's output in the wrong place, batches mixed up."""
    tokens = random_tokens(network, 3, seed)
    expected = evaluate(network, tokens, FLOAT64)
    found = to_torch(network)(torch.from_numpy(tokens)).detach().numpy()
    assert found.shape == expected.shape
    scale = float(network.beta) * 10.0 + 10.0
    assert np.all(np.abs(found - expected) <= FLOAT64_ROUNDING * scale)


def test_batches_of_any_shape_and_single_sequences() -> None:
    """Catches a module that takes exactly one batch axis."""
    network = specialists()
    module, tokens = to_torch(network), torch.from_numpy(random_tokens(network, 6))
    flat = module(tokens)
    assert torch.equal(module(tokens.reshape(2, 3, 8, 2)), flat.reshape(2, 3, 1))
    assert torch.allclose(module(tokens[0]), flat[0], rtol=0, atol=FLOAT64_ROUNDING)


def test_gradients_are_those_of_the_function() -> None:
    """Catches a detached tensor on the way, for tokens and for every parameter."""
    network = specialists()
    module = to_torch(network)
    tokens = torch.from_numpy(random_tokens(network, 1)).requires_grad_()
    module(tokens).sum().backward()
    assert tokens.grad is not None
    moved = tokens.detach().clone()
    moved[0, 3, 1] += DIFFERENCE_STEP
    slope = (module(moved) - module(tokens)).item() / DIFFERENCE_STEP
    assert abs(slope - tokens.grad[0, 3, 1].item()) < GRADIENT_ROUNDING
    assert all(parameter.grad is not None for parameter in module.parameters())


def test_half_the_digits_are_enough_for_use() -> None:
    """Catches buffers or constants that stay in float64 when the module is moved to another dtype."""
    network = specialists()
    tokens = random_tokens(network, 20)
    module = to_torch(network, dtype=torch.float32)
    found = module(torch.from_numpy(tokens).float())
    assert found.dtype == torch.float32
    assert np.abs(found.detach().numpy() - evaluate(network, tokens, FLOAT64)).max() < FLOAT32_ROUNDING
    assert module.double()(torch.from_numpy(tokens)).dtype == torch.float64


def test_the_device_is_the_one_asked_for() -> None:
    """Catches tensors left on the CPU; the meta device stands for any other one."""
    network = specialists()
    module = to_torch(network, device="meta")
    assert {parameter.device.type for parameter in module.parameters()} == {"meta"}
    assert {buffer.device.type for buffer in module.buffers()} == {"meta"}
    assert module(torch.empty(2, 8, 2, dtype=torch.float64, device="meta")).shape == (2, 1)


def small(readout: Perceptron) -> Network:
    one = np.ones((1, 1))
    head = Head(one, one, one, np.zeros(1), np.zeros(1))
    identity = Perceptron((Dense(one, np.zeros(1)),))
    return Network(2, 1, identity, np.zeros(1), (head,), Fraction(1), one, np.zeros(1), readout)


def test_copies_of_neurons_count() -> None:
    """Catches a row that stands for three neurons and counts once."""
    first = Dense(np.ones((1, 1)), np.zeros(1), "relu", copies=(3,))
    module = to_torch(small(Perceptron((first, Dense(np.ones((1, 1)), np.zeros(1))))))
    assert module(torch.ones(1, 2, 1, dtype=torch.float64)).item() == 3.0


def test_sparse_layers_are_the_dense_ones() -> None:
    """Catches entries of a sparse layer in the wrong row or column, and an empty row that vanishes."""
    matrix = np.array([[2.0], [0.0], [-1.0]])
    last = Dense(np.array([[1.0, 10.0, 100.0]]), np.zeros(1))
    sparse = SparseLayer(SparseMatrix.from_array(matrix), np.array([0.0, 1.0, 2.0]), "relu")
    tokens = torch.full((4, 2, 1), 0.5, dtype=torch.float64)
    module = to_torch(small(Perceptron((sparse, last))))
    assert module(tokens).tolist() == [[1.0 + 10.0 + 150.0]] * 4
    module(tokens).sum().backward()
    assert all(parameter.grad is not None for parameter in module.readout.parameters())


def test_bad_input_is_named() -> None:
    """Catches an integer module, or a wrong shape that broadcasts."""
    network = build(toy(4), Fraction(1, 10), Form.SHARPENED, Knowledge(Fraction(2))).network
    with pytest.raises(InvalidInput, match="floating"):
        to_torch(network, dtype=torch.int64)
    with pytest.raises(InvalidInput, match=r"tokens\.shape"):
        to_torch(network)(torch.zeros(1, 5, 1, dtype=torch.float64))


def test_the_package_itself_needs_no_torch() -> None:
    """Catches ``import constructions`` pulling torch in for those who only read or verify data."""
    code = "import sys, constructions; assert 'torch' not in sys.modules; assert callable(constructions.to_torch)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120, check=False).returncode == 0
