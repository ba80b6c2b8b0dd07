"""How far a softmax average lies above the minimum: T2.1-gibbs as published, log N, and the sharp N1; gates (N2)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy

from theory.errors import InvalidInput
from theory.rational_bounds import count, exp_lower, exp_upper, positive, to_sympy

LAMBERT_BITS = 60


def gibbs_gap_published(num_tokens: int, beta: Fraction) -> sympy.Expr:
    """Upper bound (N-1)/(e beta) on the Gibbs mean's excess over the minimum.

    Claim T2.1-gibbs, upper. Hypotheses: a_1..a_N in [0,1], beta > 0 (the paper asks beta >= 1, unused).
    Conclusion: sum a e^(-beta a) / sum e^(-beta a) <= min a + (N-1)/(e beta). Exact (sympy).
    Raises InvalidInput unless num_tokens >= 1 and beta > 0. Source: the paper, line above eq 15.

    >>> gibbs_gap_published(3, Fraction(2))
    exp(-1)
    """
    # Proof: shift the minimum to 0; the denominator is at least 1 and each other token adds at most
    # sup_b b e^(-beta b) = 1/(e beta).
    return (count("num_tokens", num_tokens) - 1) / (sympy.E * to_sympy(positive("beta", beta)))


def gibbs_gap_log(num_tokens: int, beta: Fraction) -> sympy.Expr:
    """Upper bound log(N)/beta on the Gibbs mean's excess over the minimum (the folklore form).

    Ledger: beside N1, upper. Hypotheses: a real, beta > 0. Exact (sympy). Raises InvalidInput as above.

    >>> gibbs_gap_log(8, Fraction(3))
    log(8)/3
    """
    # Proof: Gibbs' variational identity: mean - entropy/beta = -log(sum e^(-beta a))/beta <= min a, entropy <= log N.
    return sympy.log(count("num_tokens", num_tokens)) / to_sympy(positive("beta", beta))


def gibbs_gap_sharp(num_tokens: int, beta: Fraction) -> sympy.Expr:
    """Upper bound W((N-1)/e)/beta on the Gibbs mean's excess over the minimum; tight for beta >= 1 + W.

    Claim N1, upper for every beta > 0, tight from ``sharp_gap_attained_from`` on. Hypotheses: a_1..a_N >= 0.
    Exact (sympy). Raises InvalidInput unless num_tokens >= 1 and beta > 0.

    >>> gibbs_gap_sharp(2, Fraction(5))
    LambertW(exp(-1))/5
    """
    # Proof: put the minimum 0 at t = 1 and let the others range over [0, oo). d mean/d a_t has the sign of
    # 1 - beta (a_t - mean), so at a maximum all other tokens equal one value y/beta, where the gap is
    # (N-1) y/(e^y + N-1)/beta. Its derivative vanishes iff (y-1) e^(y-1) = (N-1)/e; there it equals (y-1)/beta.
    return _lambert(count("num_tokens", num_tokens)) / to_sympy(positive("beta", beta))


def sharp_gap_attained_from(num_tokens: int) -> sympy.Expr:
    """The beta = 1 + W((N-1)/e) from which N1's bound is attained inside [0,1]^N (claim N1, tight; exact).

    >>> sharp_gap_attained_from(1)
    1
    """
    return 1 + _lambert(count("num_tokens", num_tokens))


def gibbs_gap_supremum(num_tokens: int, beta: Fraction) -> sympy.Expr:
    """The exact supremum of the Gibbs mean's excess over the minimum on [0,1]^N, for every beta > 0.

    Claim N1, tight. Conclusion: W((N-1)/e)/beta for beta >= 1 + W, else (N-1)/(e^beta + N-1). Attained by
    ``worst_tokens``. Exact (sympy); which case holds is decided by rational bounds. Raises InvalidInput as above.

    >>> gibbs_gap_supremum(4, Fraction(1, 2))
    3/(exp(1/2) + 3)
    """
    # Proof of the second case: by N1's proof the maximum has all other tokens equal to y/beta <= 1, and
    # (N-1) y/(e^y + N-1) increases up to y = 1 + W > beta: so y = beta.
    if _reaches_attainment(num_tokens, beta):
        return gibbs_gap_sharp(num_tokens, beta)
    return (num_tokens - 1) / (sympy.exp(to_sympy(beta)) + num_tokens - 1)


def worst_tokens(num_tokens: int, beta: Fraction) -> tuple[sympy.Expr, ...]:
    """A configuration in [0,1]^N that attains ``gibbs_gap_supremum``: 0, then N-1 equal values.

    Claim N1, tight. The common value is (1 + W((N-1)/e))/beta where beta >= 1 + W, so that N1's bound is
    attained, and 1 below. Exact (sympy). Raises InvalidInput as above.

    >>> worst_tokens(3, Fraction(1))
    (0, 1, 1)
    """
    attained = _reaches_attainment(num_tokens, beta)
    other = sharp_gap_attained_from(num_tokens) / to_sympy(beta) if attained else sympy.Integer(1)
    return (sympy.Integer(0), *([other] * (num_tokens - 1)))


def gated_gap(support_size: int, outside_size: int, beta: Fraction, gate: Fraction) -> sympy.Expr:
    """Bound on the distance of a gated head's read-out from the minimum over its support.

    Claim N2, upper. Hypotheses: scores -a_t + r(t), values a_t in [0,1], r = 0 on S and -gate off S, gate > 1.
    Conclusion: |ztilde - min_S a| <= W((|S|-1)/e)/beta + |S^c| e^(-beta (gate-1)). Exact (sympy).
    Raises InvalidInput unless support_size >= 1, outside_size >= 0, beta > 0 and gate > 1.

    >>> gated_gap(1, 3, Fraction(5), Fraction(2))
    3*exp(-5)
    """
    # Proof: ztilde = (1-w) G + w G' with G, G' the Gibbs means on S and off S and w the weight off S. Since
    # sum_S e^(-beta a) >= e^(-beta min) >= e^(-beta), w <= |S^c| e^(-beta gate)/e^(-beta). With G >= min_S a, N1
    # and 0 <= G, G' <= 1: -w <= ztilde - min_S a <= W/beta + w.
    count("outside_size", outside_size, 0)
    if not positive("gate", gate) > 1:
        reason = (
            "gate > 1: at gate = 1 the values 1 on S and 0 off S give e^(-beta) to every token, so with "
            "|S| = 1, T = 4 the read-out is 1/4 instead of 1 for every beta (N2)"
        )
        raise InvalidInput.about("gate", gate, reason, "gate=Fraction(2), the repair of T2.1-gate")
    leak = outside_size * sympy.exp(-to_sympy(beta * (gate - 1)))
    return gibbs_gap_sharp(count("support_size", support_size), beta) + leak


def lambert_w_upper(num_tokens: int) -> Fraction:
    """Rational w >= W((N-1)/e), relative error below 1e-15; so w/beta is N1's bound in rationals.

    Claim N1, upper. Hypothesis: num_tokens = N >= 1. Conclusion: w e^w >= (N-1)/e. Cost: about 2 ms.
    Raises InvalidInput.

    >>> lambert_w_upper(1), float(round(lambert_w_upper(128), 6))
    (Fraction(0, 1), 2.810739)
    """
    # Proof: w exp_lower(w + 1) >= N-1 with exp_lower <= exp gives w e^(w+1) >= N-1, and w e^(w+1) increases in w.
    # The start w = bit_length(N) >= 1 does it, because e^(w+1) >= 2^w > N - 1.
    wanted = count("num_tokens", num_tokens) - 1
    return _least_above(lambda w: w * exp_lower(w + 1) >= wanted, wanted, LAMBERT_BITS)


def lambert_w_lower(num_tokens: int) -> Fraction:
    """Rational w <= W((N-1)/e), relative error below 1e-15 (claim N1, lower; see ``lambert_w_upper``).

    >>> 0 < lambert_w_upper(100) - lambert_w_lower(100) < Fraction(1, 10**15)
    True
    """
    # Proof: the w before the least one with w exp_upper(w + 1) > N-1 has w e^(w+1) <= w exp_upper(w + 1) <= N-1.
    wanted = count("num_tokens", num_tokens) - 1
    if wanted == 0:
        return Fraction(0)
    beyond = _least_above(lambda w: w * exp_upper(w + 1) > wanted, wanted, LAMBERT_BITS)
    return beyond - Fraction(1, 2**LAMBERT_BITS)


def _lambert(num_tokens: int) -> sympy.Expr:
    return sympy.LambertW((num_tokens - 1) / sympy.E)


def _least_above(holds: Callable[[Fraction], bool], wanted: int, bits: int) -> Fraction:
    """Bisect for the least multiple of 2^-bits in [0, bit_length(wanted + 1)] at which an increasing test holds."""
    if wanted == 0:
        return Fraction(0)
    below, above = 0, (wanted + 1).bit_length() << bits
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(Fraction(middle, 2**bits)) else (middle, above)
    return Fraction(above, 2**bits)


def _reaches_attainment(num_tokens: int, beta: Fraction) -> bool:
    """Decide beta >= 1 + W((N-1)/e), that is (beta - 1) e^beta >= N - 1, by rational bounds on exp."""
    wanted = count("num_tokens", num_tokens) - 1
    rest = positive("beta", beta) - 1
    if rest <= 0 or rest >= (wanted + 1).bit_length():
        return rest > 0 or (rest == 0 and wanted == 0)
    if rest * exp_lower(beta) >= wanted:
        return True
    if rest * exp_upper(beta) < wanted:
        return False
    # Never equal for N >= 2, by Lindemann; closer than 2^-100 only for a beta chosen to that many digits.
    raise InvalidInput.about("beta", beta, "beta not within 2^-100 of 1 + W((N-1)/e)", "a beta with fewer digits")
