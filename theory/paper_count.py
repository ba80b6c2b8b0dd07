"""The pigeonhole of Claim 2.1 as published, with explicit constants, and its eps_0 (N6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from theory.errors import InvalidInput
from theory.integer_search import first_true
from theory.rational_bounds import count, log2_lower, log2_upper, positive
from theory.too_few_heads import free_positions, require_free


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
    free = _published_free_positions(head_dim, num_heads, num_targets, seq_len)
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
    step = positive("rho", rho) / (3 * _published_free_positions(head_dim, num_heads, num_targets, seq_len))

    def forces(per_step: int) -> bool:
        eps = step / per_step
        return eps < 1 and paper_count(eps, rho, head_dim, num_heads, num_targets, seq_len).forces_collision

    return step / first_true(forces)


def _log2_of_ceiling(lower: Fraction, upper: Fraction) -> Fraction:
    """Upper bound on log2 ceil(x) from bounds on log2 x >= 0: ceil(x) <= x (1 + 1/x), log2(1+y) <= 3y/2 (e^2 < 8)."""
    return upper + Fraction(3, 2 ** (1 + min(64, math.floor(lower))))


def _published_free_positions(head_dim: int, num_heads: int, num_targets: int, seq_len: int) -> int:
    """T2.2-T0, which the paper assumes to be a positive integer."""
    if count("seq_len", seq_len) % 4:
        raise InvalidInput.about("seq_len", seq_len, "4 divides T (T2.2-T0)", "a multiple of 4")
    return require_free(free_positions(head_dim, num_heads, num_targets, seq_len, None))
