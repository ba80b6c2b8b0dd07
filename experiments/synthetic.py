"""Synthetic retrieval data: DEF-TOY (max + min on the line) and E1's sums of maxima of linear forms.

Samples depend on (seed, purpose) and the task, never on a model; drawn on the CPU in float64, then rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from scipy.integrate import quad
from scipy.special import zeta
from scipy.stats import norm
from torch import Generator, Tensor

from experiments.streams import random_stream
from theory.errors import InvalidInput

TOKEN_LIMIT = 1 << 28  # largest number of token coordinates in one sample: 1 GiB in float32


@dataclass(frozen=True)
class Sample:
    """Sequences x (count, T, d) and targets y (count, l), one dtype, one device."""

    x: Tensor
    y: Tensor

    def to(self, target: torch.dtype | torch.device | str) -> Sample:
        """The same sample in another dtype or on another device."""
        return Sample(self.x.to(target), self.y.to(target))


TokenSampler = Callable[[int, int, Generator], Tensor]


def uniform_tokens(count: int, seq_len: int, stream: Generator) -> Tensor:
    """x(t) ~ U[0,1] independently: (count, T)."""
    return torch.rand((count, seq_len), generator=stream, dtype=torch.float64)


def corner_tokens(count: int, seq_len: int, stream: Generator) -> Tensor:
    """Sequences in [0,1]^T on which an error in the sup norm shows: (count, T), three kinds in equal shares.

    Uniform tokens crowd max + min at 1 +- 1/T and never visit the corners of the cube. Here sequence s is one of
    (0) ``lo + (hi - lo) u``, (lo, hi) two ordered uniforms; (1) a crowd at one level with few outliers: every token
    is a fresh uniform with probability m/T, m in {1, 2, 3}, else one common uniform level; (2) tokens at one of two
    uniform levels, the share of the first U[0,1].
    """

    def uniform(*shape: int) -> Tensor:
        return torch.rand(shape, generator=stream, dtype=torch.float64)

    tokens, levels = uniform(count, seq_len), uniform(count, 2)
    low, high = levels.min(1, keepdim=True).values, levels.max(1, keepdim=True).values
    stretched = low + (high - low) * tokens
    outliers = torch.randint(1, 4, (count, 1), generator=stream)
    crowd = torch.where(uniform(count, seq_len) * seq_len < outliers, tokens, levels[:, :1])
    two_levels = torch.where(uniform(count, seq_len) < uniform(count, 1), levels[:, :1], levels[:, 1:])
    kind = torch.arange(count)[:, None] % 3
    return torch.where(kind == 0, stretched, torch.where(kind == 1, crowd, two_levels))


def toy(seq_len: int, count: int, seed: int, purpose: str, sampler: TokenSampler = uniform_tokens) -> Sample:
    """DEF-TOY: d = 1, y = max_t x(t) + min_t x(t); float32 tokens, targets of those very tokens.

    >>> toy(seq_len=4, count=2, seed=0, purpose="train").x.shape
    torch.Size([2, 4, 1])
    """
    _check_size(seq_len, count, 1)
    tokens = sampler(count, seq_len, random_stream(seed, "toy", purpose)).to(torch.float32)
    exact = tokens.to(torch.float64)
    target = exact.max(1, keepdim=True).values + exact.min(1, keepdim=True).values
    return Sample(tokens[:, :, None], target.to(torch.float32))


def sum_of_maxima(directions: Tensor, seq_len: int, count: int, seed: int, purpose: str) -> Sample:
    """E1: x(t) ~ N(0, I_d) i.i.d., y = sum_i max_t a_i . x(t), ``directions`` = the a_i as rows (D, d).

    >>> sum_of_maxima(unit_directions(4, 4, seed=0), seq_len=8, count=2, seed=0, purpose="train").y.shape
    torch.Size([2, 1])
    """
    if directions.dim() != 2 or not bool(torch.isfinite(directions).all()):
        raise InvalidInput.about("directions", directions, "a finite (D, d) matrix", "unit_directions(D, d, seed)")
    dim = directions.shape[1]
    _check_size(seq_len, count, dim)
    stream = random_stream(seed, "sum_of_maxima", purpose)
    tokens = torch.randn((count, seq_len, dim), generator=stream, dtype=torch.float64).to(torch.float32)
    forms = tokens.to(torch.float64) @ directions.to(torch.float64).T
    return Sample(tokens, forms.max(1).values.sum(1, keepdim=True).to(torch.float32))


def gaussian_directions(num_targets: int, token_dim: int, seed: int) -> Tensor:
    """a_i ~ N(0, I_d): (D, d) float64. The paper does not say how its fixed a_i were drawn; this is one reading."""
    shape = (num_targets, token_dim)
    return torch.randn(shape, generator=random_stream(seed, "directions"), dtype=torch.float64)


def unit_directions(num_targets: int, token_dim: int, seed: int) -> Tensor:
    """a_i uniform on the unit sphere: (D, d) float64."""
    return torch.nn.functional.normalize(gaussian_directions(num_targets, token_dim, seed), dim=1)


def orthonormal_directions(num_targets: int, token_dim: int, seed: int) -> Tensor:
    """a_i orthonormal (needs D <= d): (D, d) float64."""
    if num_targets > token_dim:
        raise InvalidInput.about("num_targets", num_targets, f"D <= d={token_dim}", "unit_directions")
    columns: Tensor = torch.linalg.qr(gaussian_directions(num_targets, token_dim, seed).T).Q
    return columns.T.contiguous()


def _check_size(seq_len: int, count: int, dim: int) -> None:
    if seq_len < 1 or count < 1 or seq_len * count * dim > TOKEN_LIMIT:
        condition = f"T >= 1, count >= 1, T * count * d <= {TOKEN_LIMIT}"
        raise InvalidInput.about("(seq_len, count, dim)", (seq_len, count, dim), condition, "fewer sequences")


@dataclass(frozen=True)
class NormalMaximum:
    """Maximum of T independent N(0, 1): its variance, and the density at 0 of the gap between the two largest."""

    variance: float
    gap_density: float

    @classmethod
    def of(cls, seq_len: int) -> NormalMaximum:
        """By quadrature: density T phi Phi^(T-1); gap density rho = T(T-1) int phi^2 Phi^(T-2).

        >>> round(NormalMaximum.of(8).gap_density, 2)
        1.42
        """
        if type(seq_len) is not int or not 2 <= seq_len <= TOKEN_LIMIT:
            raise InvalidInput.about("seq_len", seq_len, f"an integer in 2..{TOKEN_LIMIT}", "T = 8")
        t, reach = seq_len, 12.0  # the normal density beyond 12 is below 1e-31

        def expected(moment: int) -> float:
            return _integral(lambda x: x**moment * t * norm.pdf(x) * norm.cdf(x) ** (t - 1), reach)

        rho = t * (t - 1) * _integral(lambda x: norm.pdf(x) ** 2 * norm.cdf(x) ** (t - 2), reach)
        return cls(expected(2) - expected(1) ** 2, rho)


def constructed_nmse_estimate(seq_len: int, beta: float) -> float:
    """NMSE of the constructed model on E1 with orthonormal a_i, h = D heads (score beta a_i.x, value a_i.x), centred.

    Asymptotic in beta, no bound. Conclusion: NMSE ~ [c_2 rho/beta^3 - (c_1 rho/beta^2)^2] / Var(max_T), with
    c_1 = pi^2/12 and c_2 = (3/2) zeta(3) - pi^2/6; independent of D. Float64 quadrature.
    """
    # A head errs by g/(1 + e^(beta g)), g the gap of the two largest a_i.x(t), up to terms of order rho^2/beta^4. The
    # density of g at 0 is rho, so the error's first two moments are rho/beta^2 int u/(1+e^u) du = c_1 rho/beta^2 and
    # rho/beta^3 int u^2/(1+e^u)^2 du, where u^2/(1+e^u)^2 = u^2/(1+e^u) - u^2 e^u/(1+e^u)^2 integrates to
    # (3/2) zeta(3) - pi^2/6. Orthonormal a_i make the D heads independent: both variances are multiplied by D.
    if not (math.isfinite(beta) and beta > 0):
        raise InvalidInput.about("beta", beta, "a finite number > 0", "beta = 200")
    maximum = NormalMaximum.of(seq_len)
    first = math.pi**2 / 12 * maximum.gap_density / beta**2
    second = (1.5 * float(zeta(3)) - math.pi**2 / 6) * maximum.gap_density / beta**3
    return (second - first**2) / maximum.variance


def _integral(function: Callable[[float], float], reach: float) -> float:
    return float(quad(function, -reach, reach, limit=200, epsabs=1e-12)[0])
