"""T2.3 as numbers: errors and sizes of the networks that take maxima (L9, N12), and of the whole (T2.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from theory.rational_bounds import count, nonnegative, positive


def staircase_steps(eps: Fraction, centred: bool = False) -> int:
    """Number n of steps that brings L9's network within eps: ceil(1/eps) as printed; half of it if centred (N12).

    >>> staircase_steps(Fraction(1, 10)), staircase_steps(Fraction(1, 10), centred=True)
    (10, 5)
    """
    return math.ceil(1 / (positive("eps", eps) * (2 if centred else 1)))


def staircase_overshoot(num_inputs: int, steps: int) -> Fraction:
    """Exact sup over [0,1]^T of (L9's output - max): (1 - 1/T)/n; it never undershoots.

    Claim N12 (sharpened), tight: attained where all inputs are 1/(n T). Centred, the sup error is half of it. Exact.
    Raises InvalidInput.

    >>> staircase_overshoot(4, 10)
    Fraction(3, 40)
    """
    # Proof: with m = max and k/n < m <= (k+1)/n, steps below k are full, those above are 0, and step k gives at most
    # min(T y, 1/n) where the maximum needs y = m - k/n: an excess of at most (1 - 1/T)/n, reached at y = 1/(n T).
    return (1 - Fraction(1, count("num_inputs", num_inputs))) / count("steps", steps)


def staircase_parameters(num_inputs: int, steps: int) -> int:
    """Non-zero weights and biases of L9's network: 4 T n + 3 n - T, so O(T/eps). Claim L9, tight. Raises InvalidInput.

    >>> staircase_parameters(3, 5)
    72
    """
    # First layer T n weights and T (n-1) biases, second 2 n T weights and n biases, output 2 n weights.
    return 4 * count("num_inputs", num_inputs) * count("steps", steps) + 3 * steps - num_inputs


def staircase_parameters_dense(num_inputs: int, steps: int) -> int:
    """All entries of L9's matrices and biases: 2 T n^2 and more, so O(T/eps^2). Claim L9. Raises InvalidInput."""
    hidden = count("num_inputs", num_inputs) * count("steps", steps)
    return hidden * (num_inputs + 1) + 2 * steps * (hidden + 1) + 2 * steps + 1


def tournament_depth(num_inputs: int) -> int:
    """Layers of the exact maximum: ceil(log2 T) + 1. Claim N12. Raises InvalidInput.

    >>> [tournament_depth(number) for number in (1, 2, 3, 4, 5, 1024)]
    [1, 2, 3, 3, 4, 11]
    """
    return (count("num_inputs", num_inputs) - 1).bit_length() + 1


def tournament_weights(num_inputs: int) -> int:
    """Non-zero weights of the exact maximum (no biases), all +-1; at most 18 T - 15 (claim N12). Raises InvalidInput.

    >>> tournament_weights(2), tournament_weights(1024) <= 18 * 1024 - 15
    (7, True)
    """
    # Sizes of the linear forms handed from round to round: 1 at first, then 3 for a winner, 2 for an odd one out.
    forms, total = [1] * count("num_inputs", num_inputs), 0
    while len(forms) > 1:
        pairs = list(zip(forms[0::2], forms[1::2], strict=False))
        total += sum(first + 3 * second for first, second in pairs) + (2 * forms[-1] if len(forms) % 2 else 0)
        forms = [3] * len(pairs) + [2] * (len(forms) % 2)
    return total + forms[0]


def error_upper(eps: Fraction, outer_lipschitz: Fraction) -> Fraction:
    """(2 L + 1) eps: the error of F_3 o F_2 o F_1 when each is within eps; L the sup-norm Lipschitz constant of F_0.

    Claim T2.3-end (repaired), upper. Exact. Raises InvalidInput.

    >>> error_upper(Fraction(1, 10), Fraction(1))
    Fraction(3, 10)
    """
    return (2 * nonnegative("outer_lipschitz", outer_lipschitz) + 1) * positive("eps", eps)


@dataclass(frozen=True)
class Exponents:
    """Exponents p in 'O(eps^-p) parameters' of T2.3's read-out, T and D fixed, by depth and by what is counted."""

    merged_nonzero: Fraction
    merged_dense: Fraction
    unmerged_nonzero: Fraction
    exact_minima_nonzero: Fraction


def exponents(gamma: Fraction) -> Exponents:
    """T2.3's exponents for A3's gamma: 5 layers, 5 layers counted densely, 7 layers, and ceil(log2 T) + 3 layers.

    Claims T2.3, T2.3-R, upper. Hypotheses: A3 with gamma for the f_i and F_0, eps <= 1. Exact. Raises InvalidInput.

    >>> exponents(Fraction(1, 2))
    Exponents(merged_nonzero=Fraction(3, 2), merged_dense=Fraction(2, 1), unmerged_nonzero=Fraction(1, 1), \
exact_minima_nonzero=Fraction(1, 2))
    """
    # L9's first layer has T n rows, each merged with eps^-gamma hidden units of F_1: n eps^-gamma non-zero weights. Its
    # second layer has 2n rows and T n columns. Kept apart (7 layers), each piece counts for itself.
    power = nonnegative("gamma", gamma)
    return Exponents(1 + power, max(Fraction(2), 1 + power), max(Fraction(1), power), power)
