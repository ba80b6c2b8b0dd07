"""T2.2 as numbers: exponents, the finite-eps bound N4, its thresholds, and the paper's own count (N6)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import sympy

from theory.errors import InvalidInput
from theory.rational_bounds import (
    binomial_lower,
    count,
    log2_lower,
    log2_upper,
    positive,
    root_below,
    sqrt_lower,
    to_sympy,
)

SEARCH_POINTS = 32
SIGNIFICANT_BITS = 64


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
    free = _free_positions(head_dim, num_heads, num_targets, seq_len, support)
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
        unit = self.unit_squared
        return math.log10(self.parts) + (math.log10(unit.numerator) - math.log10(unit.denominator)) / 2

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
    free = _require_free(_free_positions(head_dim, num_heads, num_targets, seq_len, support))
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
    free = _require_free(_free_positions(head_dim, num_heads, num_targets, seq_len, support))
    step = positive("rho", rho) / 3
    if free <= (head_dim + 1) * num_heads:
        return None

    def reaches(steps: int) -> bool:
        return _bound_at(step / steps, steps + 1, head_dim, num_heads, free).at_least(parameters)

    return step / _first_true(reaches)


@dataclass(frozen=True)
class PaperCount:
    """Claim 2.1's two counts at one eps, as rational bounds on their binary logarithms, and L4's conclusion.

    ``sequences_log2_lower``: T2.2-count1; ``cells_log2_upper``: T2.2-count2 and count3; ``parameters_log2_lower``:
    T2.2-end with L4's constant 1, that is eps/(s eps^(k+1) sqrt(n s)), what a collision would give as published.
    """

    sequences_log2_lower: Fraction
    cells_log2_upper: Fraction
    parameters_log2_lower: Fraction

    @property
    def forces_collision(self) -> bool:
        """Whether there are more subsequences than cells, so that two of them share a cell (T2.2-count4)."""
        return self.sequences_log2_lower > self.cells_log2_upper


def paper_count(
    eps: Fraction, rho: Fraction, head_dim: int, num_heads: int, num_targets: int, seq_len: int
) -> PaperCount:
    """The pigeonhole of Claim 2.1 exactly as published, with explicit constants; rho stands for r L^2 (N6: r L_f L_F).

    Claims T2.2-grid, T2.2-claim, T2.2-count1..4. Constants, with c = eps^(k+1), k+1 = T_0/((n+1)s+1):
    subsequences: floor(rho/(3 T_0 eps))^T_0. Condition (1), per coordinate of an average in [-1,1]:
    ceil(2 sqrt(n) 3 T_0/c) cells, so that a cube has diameter c/(3 T_0); n s coordinates. Condition (2), per head: with
    the sum of the heads' maxima as unit the sums lie in (0, T_0] (count3); one cell up to c/4 and geometric ones of
    ratio 1 + c/(12 T_0^2) above: 2 + ln(4 T_0/c)/ln(1 + c/(12 T_0^2)). All in rational bounds on log2.
    Hypotheses: s < D, 4 divides T, T_0 >= 1, eps < 1, rho >= 3 T_0 eps (else no grid). Raises InvalidInput.

    >>> paper_count(Fraction(1, 10**10), Fraction(1, 2), 2, 1, 2, 128).forces_collision
    False
    """
    free = _free_positions_published(head_dim, num_heads, num_targets, seq_len)
    per_step = math.floor(positive("rho", rho) / (3 * free * positive("eps", eps)))
    if per_step < 1 or eps >= 1:
        condition = f"eps < 1 and eps <= rho/(3 T_0) = {rho / (3 * free)}"
        raise InvalidInput.about("eps", eps, condition, "a smaller eps")
    power = Fraction(free, (head_dim + 1) * num_heads + 1)
    # -log2 c, rounded down and up; c < 1, as eps < 1, so L = ln(4 T_0/c) >= 1 below.
    fineness_lower, fineness_upper = -power * log2_upper(eps), -power * log2_lower(eps)
    averages = _log2_of_ceiling(
        log2_lower(Fraction(36 * free**2 * head_dim)) / 2 + fineness_lower,
        log2_upper(Fraction(36 * free**2 * head_dim)) / 2 + fineness_upper,
    )
    # ln(1 + x) >= x/(1 + x) and ln 2 <= 7/10 (e^7 > 2^10): the number is at most (L/x)(1 + x + 2x/L) <= (L/x)(1 + 3x).
    log_range = Fraction(7, 10) * (log2_upper(Fraction(4 * free)) + fineness_upper)
    small = Fraction(1, 2 ** min(64, math.floor(log2_lower(Fraction(12 * free**2)) + fineness_lower)))
    sums = log2_upper(log_range * 12 * free**2 * (1 + 3 * small)) + fineness_upper
    size = head_dim * num_heads
    return PaperCount(
        free * log2_lower(Fraction(per_step)),
        size * averages + num_heads * sums,
        fineness_lower + log2_lower(eps) - log2_upper(Fraction(num_heads**2 * size)) / 2,
    )


def paper_threshold_eps(rho: Fraction, head_dim: int, num_heads: int, num_targets: int, seq_len: int) -> Fraction:
    """The eps_0 from which on downwards ``paper_count`` forces a collision.

    Claim T2.2-count4 made finite. Between jumps of floor(rho/(3 T_0 eps)) = u only the largest eps = rho/(3 T_0 u)
    matters; returned is that eps for a u that forces a collision while u - 1 does not (the first such u, as the
    logarithm of the surplus grows like (k+1) log u), from 2^64 on u has 64 significant bits. Exact rational.
    Raises InvalidInput as ``paper_count``.

    >>> paper_threshold_eps(Fraction(1, 2), 2, 1, 2, 128) < Fraction(1, 10**10)
    True
    """
    step = positive("rho", rho) / (3 * _free_positions_published(head_dim, num_heads, num_targets, seq_len))

    def forces(per_step: int) -> bool:
        eps = step / per_step
        return eps < 1 and paper_count(eps, rho, head_dim, num_heads, num_targets, seq_len).forces_collision

    return step / _first_true(forces)


def _bound_at(eps: Fraction, grid: int, head_dim: int, num_heads: int, free: int) -> N4Bound:
    sums = (head_dim + 1) * num_heads
    tau = _best_tau_estimate(grid, min(free, grid), sums)
    return N4Bound(eps, head_dim, num_heads, grid, tau, root_below(*binomial_lower(grid, tau), sums))


def _best_tau_estimate(grid: int, limit: int, sums: int) -> int:
    """A tau in 1..limit that nearly maximises C(grid, tau)^(1/sums)/tau: floats, steering only."""
    # The logarithm of that quotient has derivative about ln(grid/tau - 1)/sums - 1/tau: its only interior maximum
    # lies beyond tau = 0.2 grid, so a linear search that zooms in, with tau = 1 kept, finds it.

    def score(tau: int) -> float:
        share = tau / grid
        log_count = 0.0
        if tau < grid:  # Stirling, written so that nothing cancels when tau is far below grid
            curve = -math.log1p(-share) * (1 - share) / share if share > 1e-12 else 1.0
            spread = math.log(2 * math.pi * tau * (1 - share)) / 2 + 1 / (12 * tau)
            log_count = tau * (math.log(grid) - math.log(tau) + curve) - spread
        return log_count / sums - math.log(tau)

    low, high = 1, limit
    while high - low > SEARCH_POINTS:
        ladder = [low + (high - low) * i // SEARCH_POINTS for i in range(SEARCH_POINTS + 1)]
        best = max(range(len(ladder)), key=lambda i: score(ladder[i]))
        low, high = ladder[max(0, best - 1)], ladder[min(SEARCH_POINTS, best + 1)]
    best_tau: int = max([1, *range(low, high + 1)], key=score)
    return best_tau


def _first_true(holds: Callable[[int], bool]) -> int:
    """The least positive integer with at most SIGNIFICANT_BITS significant bits at which a test turns true.

    By doubling and bisection over the position in the list of such integers, for a test that is false, then true.
    """

    half = 1 << (SIGNIFICANT_BITS - 1)

    def entry(position: int) -> int:
        zeros = max(0, position // half - 1)
        return position if zeros == 0 else (half + position % half) << zeros

    below, above = 0, 1
    while not holds(entry(above)):
        below, above = above, 2 * above
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(entry(middle)) else (middle, above)
    return entry(above)


def _log2_of_ceiling(lower: Fraction, upper: Fraction) -> Fraction:
    """Upper bound on log2 ceil(x) from bounds on log2 x >= 0: ceil(x) <= x (1 + 1/x), log2(1+y) <= 3y/2 (e^2 < 8)."""
    return upper + Fraction(3, 2 ** (1 + min(64, math.floor(lower))))


def _check_sizes(head_dim: int, num_heads: int, num_targets: int, seq_len: int) -> None:
    count("head_dim", head_dim)
    count("seq_len", seq_len)
    if count("num_heads", num_heads) >= count("num_targets", num_targets):
        condition = f"s < D, fewer heads than num_targets={num_targets} (T2.2)"
        raise InvalidInput.about("num_heads", num_heads, condition, "fewer heads, or enough_heads for s >= D")


def _free_positions(head_dim: int, num_heads: int, num_targets: int, seq_len: int, support: int | None) -> int:
    """N4's T_0 = m - s - D + 1, possibly not positive."""
    _check_sizes(head_dim, num_heads, num_targets, seq_len)
    size = -(-seq_len // 4) if support is None else count("support", support)
    if size > seq_len:
        raise InvalidInput.about("support", support, f"|S_i| <= seq_len={seq_len}", "the size of a subset of [T]")
    return size - num_heads - num_targets + 1


def _require_free(free: int) -> int:
    if free < 1:
        raise InvalidInput.about("T_0", free, "T_0 = |S_i| - s - D + 1 >= 1 (N4)", "a longer sequence or fewer heads")
    return free


def _free_positions_published(head_dim: int, num_heads: int, num_targets: int, seq_len: int) -> int:
    """T2.2-T0, which the paper assumes to be a positive integer."""
    if count("seq_len", seq_len) % 4:
        raise InvalidInput.about("seq_len", seq_len, "4 divides T (T2.2-T0)", "a multiple of 4")
    return _require_free(_free_positions(head_dim, num_heads, num_targets, seq_len, None))
