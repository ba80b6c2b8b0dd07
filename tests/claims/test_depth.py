"""Section 6 (CJ1), N6, N7, N13: the constructions run in floats."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from theory import depth as numbers
from theory.errors import InvalidInput


def _two_layers(features: np.ndarray, beta: float) -> np.ndarray:
    """N13 run as a network: features (T, D) in [0,1]; one head in each of two layers; returns (z_1..z_D)/(D + r)."""
    length, count = features.shape
    code = np.zeros((length, count))
    code[np.arange(count), np.arange(count)] = 1.0
    late = (np.arange(length) >= count).astype(float)
    tokens = np.concatenate([features, code, np.zeros((length, count)), late[:, None], np.ones((length, 1))], 1)
    assert tokens.shape[1] == numbers.token_heads_width(count)
    query, key, value = tokens[:, count : 2 * count], -tokens[:, :count], tokens[:, :count]
    scores = beta * query @ key.T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    heard = weights @ value / weights.sum(axis=1, keepdims=True)
    slots = np.maximum(heard + tokens[:, count : 2 * count] - 1, 0)
    scores = -beta * tokens[:, -2]
    weights = np.exp(scores - scores.max())
    return np.asarray(weights @ slots / weights.sum())


@pytest.mark.parametrize(("count", "length", "beta"), [(3, 3, 40.0), (3, 64, 60.0), (8, 512, 256.0)])
def test_tokens_act_as_heads(count: int, length: int, beta: float) -> None:
    """Catches a wrong slot, gate or bound in N13: random and worst features; at D = 8, T = 512 the error is < 0.02."""
    generator = np.random.default_rng(9)
    bound = float(numbers.token_heads_error_upper(length, count, Fraction(beta), Fraction(1)))
    worst = 0.0
    for trial in range(40):
        features = generator.random((length, count)) ** generator.integers(1, 6)
        if trial % 2:  # N1's worst tokens: one 0, the others (1 + W)/beta
            features[:] = (1 + bound * beta) / beta
            features[generator.integers(length), :] = 0.0
        wanted = features.min(axis=0).mean()
        worst = max(worst, abs(_two_layers(features, beta).sum() - wanted))
    assert 0.3 * bound < worst <= bound * (1 + 1e-9)
    if count == 8:
        assert bound < 0.02


def test_bound_needs_a_token_for_every_target() -> None:
    """Catches N13 offered where D > T."""
    with pytest.raises(InvalidInput, match="D <= T"):
        numbers.token_heads_error_upper(3, 4, Fraction(10), Fraction(1))


@pytest.mark.parametrize("centred", [False, True])
def test_fixed_eps_readout_reaches_eps(centred: bool) -> None:
    """Catches a wrong beta, grid or count in N7: the interpolant built in floats at T = 40, D = 2, eps = 1/2."""
    eps, length, count = 0.5, 40, 2
    design = numbers.fixed_eps_readout(Fraction(1, 2), length, count, centred)
    beta = float(design.beta)
    knots = np.exp(np.arange(design.intervals + 1) - beta)
    assert knots[-1] >= length
    slopes = 1 / (beta * (math.e - 1) * knots[:-1])
    jumps = -np.diff(np.append(slopes, 0.0))
    scale = math.sqrt(count) * length
    assert jumps.min() > 0
    assert count * np.ceil(jumps * scale).sum() <= float(design.neurons_upper)
    shift = math.log(length) / (2 * beta) - (0.0617 / beta if centred else 0.0)
    generator = np.random.default_rng(2)
    worst = 0.0
    for _ in range(400):
        features = np.where(generator.random((length, count)) < 0.5, generator.random(count), 1.0)
        if generator.random() < 0.3:
            features[:] = generator.random(count)
        sums = np.exp(-beta * features).sum(axis=0)
        values = np.maximum(knots[1:, None] - sums, 0).T @ jumps - math.log(knots[-1]) / beta
        worst = max(worst, abs((values + shift - features.min(axis=0)).sum()))
    assert 0.5 * eps < worst <= eps * (1 + 1e-9)


def test_readout_grows_as_stated() -> None:
    """Catches an exponent other than 1 + D/(2 eps): doubling log T, read off at large T."""
    eps, count = Fraction(1, 3), 2
    near, far = (numbers.fixed_eps_readout(eps, length, count) for length in (10**4, 10**6))
    slope = (far.log10_estimate - near.log10_estimate) / 2
    assert slope == pytest.approx(1 + count / (2 * float(eps)), abs=0.15)
    assert numbers.fixed_eps_readout(eps, 100, count, centred=True).neurons_upper < near.neurons_upper
    assert numbers.heaviside_units(eps, count) == 14
