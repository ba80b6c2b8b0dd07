"""Depth and fixed accuracy as numbers: N13's two layers with one head, N7's read-out at fixed eps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from theory.errors import InvalidInput
from theory.rational_bounds import count, exp_lower, exp_upper, log2_upper, nonnegative, positive, sqrt_lower
from theory.softmin import lambert_w_upper

CHORD_ERROR = Fraction(1234, 10_000)
"""Above sup over [1,e] of ln x - (x-1)/(e-1) = ln(e-1) - (e-2)/(e-1) (N7; checked in balls by its evidence)."""

LN2_LOWER, LN2_UPPER = Fraction(6931471805, 10**10), Fraction(6931471806, 10**10)

LARGEST_EXPONENT = Fraction(64)
"""e^-beta is bounded by e^-64 for every larger beta."""


def token_heads_width(num_targets: int) -> int:
    """N13's token width: features, position code, slots (D each), late flag, constant. Raises InvalidInput.

    >>> token_heads_width(8)
    26
    """
    return 3 * count("num_targets", num_targets) + 2


def token_heads_error_upper(
    seq_len: int, num_targets: int, beta: Fraction, lipschitz: Fraction, feature_error: Fraction = Fraction(0)
) -> Fraction:
    """L_0 (delta + W((T-1)/e)/beta + (T-D) e^-beta/D): what N13's two layers lose before the read-out's own error.

    Claim N13, upper. Hypotheses: D <= T, ``lipschitz`` = L_0 >= sup |grad F_0|_1, ``feature_error`` = delta. Rational
    upper bound. Raises InvalidInput.

    >>> token_heads_error_upper(512, 8, Fraction(256), Fraction(1)) < Fraction(1, 50)
    True
    """
    if count("num_targets", num_targets) > count("seq_len", seq_len):
        raise InvalidInput.about("num_targets", num_targets, f"D <= T={seq_len} (N13)", "fewer targets")
    retrieved = lambert_w_upper(seq_len) / positive("beta", beta)
    leak = (seq_len - num_targets) / (num_targets * exp_lower(beta))
    return nonnegative("lipschitz", lipschitz) * (nonnegative("feature_error", feature_error) + retrieved + leak)


@dataclass(frozen=True)
class FixedEpsReadout:
    """N7's read-out: scale, intervals of the geometric grid for each coordinate, neurons with weights at most 1."""

    beta: Fraction
    intervals: int
    neurons_upper: Fraction

    @property
    def log10_estimate(self) -> float:
        """Decimal logarithm of the number of neurons, for display."""
        return math.log10(self.neurons_upper.numerator) - math.log10(self.neurons_upper.denominator)


def fixed_eps_readout(eps: Fraction, seq_len: int, num_targets: int, centred: bool = False) -> FixedEpsReadout:
    """One head, n = D, F_0 = sum of the z_i: a two-layer ReLU read-out with weights <= 1 within eps.

    Claim N7, upper: beta >= D (ln T/2 + 0.1234)/eps (centred, N7 sharpened: 0.0617), on each coordinate a chord
    interpolant of -ln on K = ceil(beta + ln T) intervals of ratio e, by at most sqrt(D) T e^beta/(beta (e-1)) + K
    neurons. So O(T^(1 + D/(2 eps))) for fixed D and eps. Rational upper bounds. Raises InvalidInput.

    >>> wide = fixed_eps_readout(Fraction(1, 4), 512, 2)
    >>> float(round(wide.beta, 3)), wide.intervals, round(wide.log10_estimate, 1)
    (25.94, 33, 12.8)
    """
    # Proof: v = sqrt(D) T u_i lies in [e^-beta, T]. The interpolant of the convex -ln(v)/beta at the points e^(k-beta)
    # is g(v_K) + sum a_k relu(v_k - v), a_k > 0, and the a_k add up to the steepest slope e^beta/(beta (e-1)). In u all
    # slopes grow by sqrt(D) T. A slope a takes ceil(a) neurons with weights at most 1.
    beta, intervals, factor = _fixed_eps_design(eps, seq_len, num_targets, centred)
    return FixedEpsReadout(beta, intervals, num_targets * (factor * exp_upper(beta) + intervals))


def fixed_eps_beta(eps: Fraction, seq_len: int, num_targets: int, centred: bool = False) -> Fraction:
    """The scale of ``fixed_eps_readout``, cheap for every eps (claim N7). Raises InvalidInput."""
    return _fixed_eps_design(eps, seq_len, num_targets, centred)[0]


def fixed_eps_neurons_log2_upper(eps: Fraction, seq_len: int, num_targets: int, centred: bool = False) -> Fraction:
    """Rational upper bound on log2 of ``fixed_eps_readout``'s number of neurons, cheap for every eps (no e^beta).

    Claim N7, upper: log2 of D (a e^beta + K), a = sqrt(D) T/(beta (e-1)). Raises InvalidInput.

    >>> float(round(fixed_eps_neurons_log2_upper(Fraction(1, 4), 512, 2), 2))
    42.45
    """
    # a e^beta + K <= e^beta (a + K/e^b) for b = min(beta, 64), and log2 e = 1/ln 2.
    beta, intervals, factor = _fixed_eps_design(eps, seq_len, num_targets, centred)
    remainder = intervals / exp_lower(min(beta, LARGEST_EXPONENT))
    return beta / LN2_LOWER + log2_upper(num_targets * (factor + remainder))


def heaviside_units(eps: Fraction, num_targets: int) -> int:
    """Heaviside units for the same task as beta grows: a staircase of ceil(D/eps) + 1 steps for each of D coordinates.

    Claim N7, upper: D (ceil(D/eps) + 1), which is O(1/eps) for fixed D. Raises InvalidInput.

    >>> heaviside_units(Fraction(1, 4), 2)
    18
    """
    # Each coordinate must be within eps/D: half for the staircase (step eps/D on a range of 1 + eps/D), half for the
    # ln|S|/(2 beta) of the centred log-sum-exp, once beta >= D ln T/eps.
    return num_targets * (math.ceil(count("num_targets", num_targets) / positive("eps", eps)) + 1)


def _fixed_eps_design(eps: Fraction, seq_len: int, num_targets: int, centred: bool) -> tuple[Fraction, int, Fraction]:
    """N7's beta and number of intervals, and a rational a >= sqrt(D) T/(beta (e-1)): the steepest slope is a e^beta."""
    log_length = log2_upper(Fraction(count("seq_len", seq_len))) * LN2_UPPER
    chord = CHORD_ERROR / 2 if centred else CHORD_ERROR
    beta = count("num_targets", num_targets) * (log_length / 2 + chord) / positive("eps", eps)
    root = num_targets / sqrt_lower(Fraction(num_targets))
    factor = root * seq_len / (beta * (exp_lower(Fraction(1)) - 1))
    return beta, math.ceil(beta + log_length), factor
