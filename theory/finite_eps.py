"""What T2.2 and N4 say at given sizes and one eps: something, or nothing and why; N4 at every depth of the read-out."""

from __future__ import annotations

import math
from enum import StrEnum
from fractions import Fraction

from theory.rational_bounds import count, root_below, sqrt_lower
from theory.too_few_heads import N4Bound, exponent_sharpened, parameters_lower

LEADING_BITS = 1024


class Situation(StrEnum):
    """Where a model stands towards N4, hence towards T2.2, at one eps; only the last one is a lower bound."""

    ENOUGH_HEADS = "enough_heads"
    TOO_SHORT = "too_short"
    EXPONENT_NOT_POSITIVE = "exponent_not_positive"
    EPS_TOO_LARGE = "eps_too_large"
    N4_SPEAKS = "n4_speaks"


def n4_at(
    eps: Fraction,
    rho: Fraction,
    head_dim: int,
    num_heads: int,
    num_targets: int,
    seq_len: int,
    support: int | None = None,
) -> tuple[Situation, N4Bound | None]:
    """The situation at one eps, and N4's bound where its hypotheses s < D and T_0 >= 1 hold.

    Claims T2.2, N4. N4_SPEAKS: the read-out needs at least one parameter. EPS_TOO_LARGE: it does for some smaller eps.
    EXPONENT_NOT_POSITIVE: for none, if rho <= 1. Then T2.2 says nothing either, as its k is smaller. Exact.
    Raises InvalidInput for impossible sizes only.

    >>> eps, rho = Fraction(1, 10**6), Fraction(1, 2)
    >>> [n4_at(eps, rho, 8, s, 4, T)[0].value for s, T in ((4, 128), (1, 16), (1, 48), (1, 128))]
    ['enough_heads', 'too_short', 'exponent_not_positive', 'n4_speaks']
    """
    # Where T_0 <= q = (n+1)s every tau is at most q, and N4 stays below 2 rho/9 (theory.too_few_heads.threshold_eps).
    count("num_targets", num_targets)
    if count("num_heads", num_heads) >= num_targets:
        return Situation.ENOUGH_HEADS, None
    exponent = exponent_sharpened(seq_len, head_dim, num_heads, num_targets, support)
    if exponent <= -1:
        return Situation.TOO_SHORT, None
    bound = parameters_lower(eps, rho, head_dim, num_heads, num_targets, seq_len, support)
    if bound.at_least(1):
        return Situation.N4_SPEAKS, bound
    return Situation.EPS_TOO_LARGE if exponent > 0 else Situation.EXPONENT_NOT_POSITIVE, bound


def n4_at_depth(bound: N4Bound, layers: int) -> int:
    """Non-zero weights that a read-out with ``layers`` >= 2 weight matrices needs: N4 with N5's paths for its M.

    Claims N4, N5, lower. Conclusion: (M/f)^f >= B for an even number of layers, E (M/f)^f >= B for an odd one, with
    f = floor(layers/2), E = n s and B = N4's bound, hence at least the returned integer. Hypotheses as in N4, weights
    of all layers in [-1,1], 1-Lipschitz activations. Integers; from 2^1024 on rounded down. Raises InvalidInput.

    >>> bound = parameters_lower(Fraction(1, 10**6), Fraction(1, 2), 8, 1, 4, 128)
    >>> [n4_at_depth(bound, layers) for layers in (2, 3, 4, 5, 6)]
    [4906, 614, 141, 50, 51]
    """
    # Proof: N4's pair has outputs more than eps and read-out inputs at most eps/B apart, so the number of paths, a
    # Lipschitz constant for the sup norm, exceeds B. M^f >= needed > g^f gives M >= g + 1; needed may be rounded down.
    half = count("layers", layers, 2) // 2
    inputs = bound.head_dim * bound.num_heads if layers % 2 else 1
    per_part = sqrt_lower(bound.unit_squared) * half**half / inputs
    smallness = max(0, per_part.denominator.bit_length() - per_part.numerator.bit_length())
    surplus = max(0, bound.parts.bit_length() - LEADING_BITS - smallness)
    needed = math.ceil((bound.parts >> surplus) * per_part) - (1 if surplus else 0)
    return root_below(needed, surplus, half) + 1 if needed else 0


def sharpened_needs_seq_len_above(head_dim: int, num_heads: int, num_targets: int) -> int:
    """N4's exponent is positive iff T > (n+2)s + D - 1 when every head may look everywhere, |S_i| = T (not ceil(T/4)).

    Claims N4, N6, tight. Exact. Raises InvalidInput.

    >>> sharpened_needs_seq_len_above(64, 16, 17)
    1072
    """
    return (count("head_dim", head_dim) + 2) * count("num_heads", num_heads) + count("num_targets", num_targets) - 1
