"""T2.2 as numbers: exponents, the finite-eps bound N4 and its thresholds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import sympy

from theory.errors import InvalidInput
from theory.integer_search import first_true
from theory.rational_bounds import (
    binomial_lower,
    count,
    positive,
    root_below,
    sqrt_lower,
    to_sympy,
)

SEARCH_POINTS = 32


@dataclass(frozen=True)
class Regime:
    """Where T2.2 says something: exponents, and the length that T must exceed for each to be positive (N6)."""

    exponent_published: Fraction
    exponent_sharpened: Fraction
    seq_len_above_published: int
    seq_len_above_sharpened: int

    @property
    def published_is_positive(self) -> bool:
        """Whether the published k is positive, so that T2.2 gives a bound that grows as eps -> 0."""
        return self.exponent_published > 0

    @property
    def sharpened_is_positive(self) -> bool:
        """Whether N4's exponent is positive."""
        return self.exponent_sharpened > 0


def exponent_published(seq_len: int, head_dim: int, num_heads: int, num_targets: int) -> Fraction:
    """T2.2's exponent k = (T/4 - s - D + 1)/((n+1)s + 1) - 1, which may be negative (then it says nothing).

    Claim T2.2, lower: M = Omega(eps^-k). Hypothesis s < D. Exact. Raises InvalidInput.

    >>> exponent_published(128, 8, 1, 4)
    Fraction(9, 5)
    """
    _check_sizes(head_dim, num_heads, num_targets, seq_len)
    free = Fraction(seq_len, 4) - num_heads - num_targets + 1
    return free / ((head_dim + 1) * num_heads + 1) - 1


def exponent_sharpened(
    seq_len: int, head_dim: int, num_heads: int, num_targets: int, support: int | None = None
) -> Fraction:
    """N4's exponent T_0/((n+1)s) - 1 with T_0 = m - s - D + 1, m = ``support``, by default ceil(T/4).

    Claim N4, lower: M = Omega(eps^-k). Hypotheses: s < D, every |S_i| >= m. Exact. Raises InvalidInput.

    >>> exponent_sharpened(128, 8, 1, 4)
    Fraction(19, 9)
    """
    free = free_positions(head_dim, num_heads, num_targets, seq_len, support)
    return Fraction(free, (head_dim + 1) * num_heads) - 1


def regime(seq_len: int, head_dim: int, num_heads: int, num_targets: int) -> Regime:
    """Which exponents are positive: published iff T > 4((n+2)s + D), sharpened iff T > 4((n+2)s + D - 1).

    Claims T2.2, N4, N6, tight (equivalences). Hypothesis s < D; |S_i| = ceil(T/4). Exact. Raises InvalidInput.

    >>> regime(4096, 64, 16, 17).seq_len_above_published
    4292
    """
    # Proof: k > 0 iff T/4 - s - D + 1 > (n+1)s + 1. N4: ceil(T/4) > (n+2)s + D - 1 iff T > 4((n+2)s + D - 1).
    return Regime(
        exponent_published(seq_len, head_dim, num_heads, num_targets),
        exponent_sharpened(seq_len, head_dim, num_heads, num_targets),
        4 * ((head_dim + 2) * num_heads + num_targets),
        4 * ((head_dim + 2) * num_heads + num_targets - 1),
    )


def depth_exponent(exponent: Fraction, layers: int) -> Fraction:
    """Exponent of T2.2's bound when the read-out has ``layers`` weight matrices: k/floor(layers/2).

    Claim N5, lower: (M/f)^f paths, f = floor(layers/2), must reach eps^-k. Exact. Raises unless layers >= 2.

    >>> depth_exponent(Fraction(9, 5), 3), depth_exponent(Fraction(9, 5), 5)
    (Fraction(9, 5), Fraction(9, 10))
    """
    return exponent / (count("layers", layers, 2) // 2)


def published_depth_exponent(exponent: Fraction, layers: int) -> Fraction:
    """The paper's remark R2.t: k/4 when the read-out has up to five layers (true, weaker than ``depth_exponent``).

    >>> published_depth_exponent(Fraction(9, 5), 5)
    Fraction(9, 20)
    """
    if count("layers", layers, 2) > 5:
        raise InvalidInput.about("layers", layers, "2 <= layers <= 5 (R2.t)", "depth_exponent, for any depth")
    return exponent / 4


def grid_points(rho: Fraction, eps: Fraction) -> int:
    """N4's number of grid points, G = floor(rho/(3 eps)) + 1: their targets step by at least 3 eps.

    >>> grid_points(Fraction(1, 2), Fraction(1, 100))
    17
    """
    return math.floor(positive("rho", rho) / (3 * positive("eps", eps))) + 1


@dataclass(frozen=True)
class N4Bound:
    """N4's lower bound eps parts/(3 E^(3/2) tau), E = n s, on the non-zero first-layer weights of the read-out.

    ``parts`` is an integer g with g^((n+1)s) < C(grid, tau): the pigeonhole leaves two sequences in one cell.
    """

    eps: Fraction
    head_dim: int
    num_heads: int
    grid: int
    tau: int
    parts: int

    @property
    def unit_squared(self) -> Fraction:
        """The square of eps/(3 E^(3/2) tau), a rational."""
        return self.eps**2 / (9 * (self.head_dim * self.num_heads) ** 3 * self.tau**2)

    @property
    def value_squared(self) -> Fraction:
        """The exact square of the bound."""
        return self.parts**2 * self.unit_squared

    @property
    def value(self) -> sympy.Expr:
        """The bound itself, exactly."""
        return self.parts * sympy.sqrt(to_sympy(self.unit_squared))

    @property
    def value_lower(self) -> Fraction:
        """A rational below the bound, within 2^-63 of it (relative)."""
        return self.parts * sqrt_lower(self.unit_squared)

    @property
    def log10_estimate(self) -> float:
        """The decimal logarithm of the bound for display, -inf where the bound is 0; a float, not a bound."""
        if self.parts == 0:
            return -math.inf
        size = 3 * (self.head_dim * self.num_heads) ** 1.5 * self.tau
        return (
            math.log10(self.parts)
            + math.log10(self.eps.numerator)
            - math.log10(self.eps.denominator)
            - math.log10(size)
        )

    def at_least(self, parameters: int) -> bool:
        """Whether the bound reaches ``parameters`` = m; then M > m for every eps-accurate model. Exact."""
        # parts^2 unit^2 >= m^2 iff parts^2 >= R = ceil(m^2/unit^2) iff parts >= isqrt(R - 1) + 1.
        needed = math.ceil(count("parameters", parameters, 0) ** 2 / self.unit_squared)
        return needed == 0 or self.parts >= math.isqrt(needed - 1) + 1


def parameters_lower(
    eps: Fraction,
    rho: Fraction,
    head_dim: int,
    num_heads: int,
    num_targets: int,
    seq_len: int,
    support: int | None = None,
) -> N4Bound:
    """N4 at one eps: the read-out has more than eps parts/(3 E^(3/2) tau) non-zero first-layer weights.

    Claim N4, lower. Hypotheses: f_i, F_0 of class C^1, A2.1, A2.2, A2.4, |S_i| >= ``support`` (default ceil(T/4)),
    A1.1, A1.3, two-layer read-out with 1-Lipschitz activation, s < D, T_0 >= 1, sup error < eps; rho as in N4.
    Any 1 <= tau <= min(T_0, G) is valid; the one taken is the best by a floating estimate, the bound at it exact
    (for C(G, tau) >= 2^1024 a lower bound on it, relative error below 1e-18). T = 10^6 takes up to 0.2 s.
    Raises InvalidInput.

    >>> bound = parameters_lower(Fraction(1, 10**6), Fraction(1, 2), 8, 1, 4, 128)
    >>> bound.tau, bound.at_least(4000), bound.at_least(5000)
    (28, True, False)
    """
    free = require_free(free_positions(head_dim, num_heads, num_targets, seq_len, support))
    return _bound_at(positive("eps", eps), grid_points(rho, eps), head_dim, num_heads, free)


def threshold_eps(
    parameters: int,
    rho: Fraction,
    head_dim: int,
    num_heads: int,
    num_targets: int,
    seq_len: int,
    support: int | None = None,
) -> Fraction | None:
    """Largest eps at which N4 reaches ``parameters``; None where N4's exponent is not positive.

    Claim N4. As a function of eps N4 is a sawtooth: while G is constant it grows with eps. A model that is better
    than eps is also better than any larger eps, so only eps = rho/(3(G-1)), the largest with G grid points, matter;
    returned is this eps for the least such G - 1 (from 2^64 on: the least with 64 significant bits). The bound at it
    is certified; that no larger eps does it holds for rho <= 1 and the tau that ``parameters_lower`` takes (for
    rho > 1 the next larger eps of that form fails). Raises InvalidInput.

    >>> threshold_eps(1, Fraction(1, 2), 2, 1, 2, 128), threshold_eps(1, Fraction(1, 2), 2, 1, 2, 16)
    (Fraction(1, 300), None)
    """
    # Why bisection is right for rho <= 1 and P >= 1. Write q = (n+1)s, V_tau(G) for the bound at eps = rho/(3(G-1)).
    # (1) tau <= q: parts < C(G,tau)^(1/q) <= G, so V < rho G/(9 (G-1)) <= 2/9. (2) tau > q and V_tau(G) >= 1:
    # C(G,tau)^(1/q) > 9 (G-1) tau; G <= 3q is impossible, as C <= 2^(3q) = 8^q. (3) then V_tau(G+1) >= V_tau(G):
    # (C(G+1,tau)/C(G,tau))^(1/q) >= 1 + (1 + 1/q)/(G+1), and this exceeds G/(G-1) by (G-2q-1)/(q(G^2-1)), more than
    # the 1/C^(1/q) < 1/(9 (G-1) tau) that rounding parts may cost, as 9 tau (G-2q-1) >= q (G+1) for G >= 3q+1, tau > q.
    count("parameters", parameters)
    free = require_free(free_positions(head_dim, num_heads, num_targets, seq_len, support))
    step = positive("rho", rho) / 3
    if free <= (head_dim + 1) * num_heads:
        return None

    def reaches(steps: int) -> bool:
        return _bound_at(step / steps, steps + 1, head_dim, num_heads, free).at_least(parameters)

    wanted = math.log(parameters) + math.log(3) + 1.5 * math.log(head_dim * num_heads)
    log_step = math.log(step.numerator) - math.log(step.denominator)

    def probably(steps: int) -> bool:
        grid, sums = steps + 1, (head_dim + 1) * num_heads
        score = _log_score(grid, _best_tau_estimate(grid, min(free, grid), sums), sums)
        return log_step - math.log(steps) + score >= wanted

    return step / first_true(reaches, probably)


def _bound_at(eps: Fraction, grid: int, head_dim: int, num_heads: int, free: int) -> N4Bound:
    sums = (head_dim + 1) * num_heads
    tau = _best_tau_estimate(grid, min(free, grid), sums)
    return N4Bound(eps, head_dim, num_heads, grid, tau, root_below(*binomial_lower(grid, tau), sums))


def _best_tau_estimate(grid: int, limit: int, sums: int) -> int:
    """A tau in 1..limit that nearly maximises C(grid, tau)^(1/sums)/tau: floats, steering only."""
    # The logarithm of that quotient has derivative about ln(grid/tau - 1)/sums - 1/tau: its only interior maximum
    # lies beyond tau = 0.2 grid, so a linear search that zooms in, with tau = 1 kept, finds it.
    low, high = 1, limit
    while high - low > SEARCH_POINTS:
        ladder = [low + (high - low) * i // SEARCH_POINTS for i in range(SEARCH_POINTS + 1)]
        best = max(range(len(ladder)), key=lambda i: _log_score(grid, ladder[i], sums))
        low, high = ladder[max(0, best - 1)], ladder[min(SEARCH_POINTS, best + 1)]
    best_tau: int = max([1, *range(low, high + 1)], key=lambda tau: _log_score(grid, tau, sums))
    return best_tau


def _log_score(grid: int, tau: int, sums: int) -> float:
    """ln(C(grid, tau)^(1/sums)/tau) by Stirling's formula, written so that nothing cancels when tau << grid."""
    share = tau / grid
    log_count = 0.0
    if tau < grid:
        curve = -math.log1p(-share) * (1 - share) / share if share > 1e-12 else 1.0
        spread = math.log(2 * math.pi * tau * (1 - share)) / 2 + 1 / (12 * tau)
        log_count = tau * (math.log(grid) - math.log(tau) + curve) - spread
    return log_count / sums - math.log(tau)


def _check_sizes(head_dim: int, num_heads: int, num_targets: int, seq_len: int) -> None:
    count("head_dim", head_dim)
    count("seq_len", seq_len)
    if count("num_heads", num_heads) >= count("num_targets", num_targets):
        condition = f"s < D, fewer heads than num_targets={num_targets} (T2.2)"
        raise InvalidInput.about("num_heads", num_heads, condition, "fewer heads, or enough_heads for s >= D")


def free_positions(head_dim: int, num_heads: int, num_targets: int, seq_len: int, support: int | None) -> int:
    """N4's T_0 = m - s - D + 1, possibly not positive. Raises InvalidInput unless s < D and m <= T."""
    _check_sizes(head_dim, num_heads, num_targets, seq_len)
    size = -(-seq_len // 4) if support is None else count("support", support)
    if size > seq_len:
        raise InvalidInput.about("support", support, f"|S_i| <= seq_len={seq_len}", "the size of a subset of [T]")
    return size - num_heads - num_targets + 1


def require_free(free: int) -> int:
    """T_0 itself; InvalidInput unless it is positive."""
    if free < 1:
        raise InvalidInput.about("T_0", free, "T_0 = |S_i| - s - D + 1 >= 1 (N4)", "a longer sequence or fewer heads")
    return free
