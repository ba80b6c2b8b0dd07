"""How many parameters a read-out needs to tell two inputs apart (L4, N5), and what that certifies (N8)."""

from __future__ import annotations

import math
from fractions import Fraction

import sympy

from theory.rational_bounds import count, nonnegative, positive, root_below, to_sympy


def lipschitz_upper(nonzero_first_layer: int, weight_bound: Fraction = Fraction(1)) -> Fraction:
    """Lipschitz constant, sup norm in and out, of a two-layer read-out: w^2 times its non-zero first-layer weights.

    Claim N5, upper. Hypotheses (A1.2, A1.3): a |-> V act(U a + b) + c, act 1-Lipschitz, |U_ij|, |V_ij| <= w.
    Conclusion: |F(a) - F(a')|_inf <= w^2 nnz(U) |a - a'|_inf. Exact. Raises InvalidInput.

    >>> lipschitz_upper(10)
    Fraction(10, 1)
    """
    # Proof: the biases cancel, and |Delta F_k| <= sum_j |V_kj| sum_i |U_ji| |Delta a_i|.
    return count("nonzero_first_layer", nonzero_first_layer, 0) * positive("weight_bound", weight_bound) ** 2


def parameters_lower(target_gap: Fraction, distance: Fraction, weight_bound: Fraction = Fraction(1)) -> Fraction:
    """Non-zero first-layer weights that a two-layer read-out needs: B/(w^2 |v_1 - v_2|_inf).

    Claim N5, lower: |F(v_1) - F(v_2)| >= B = ``target_gap``, ``distance`` = |v_1 - v_2|_inf > 0; free of the dimension.
    Other hypotheses as in ``lipschitz_upper``. Exact. Raises InvalidInput, also for distance 0 (no read-out does it).

    >>> parameters_lower(Fraction(1, 2), Fraction(1, 1000))
    Fraction(500, 1)
    """
    scale = positive("distance", distance) * positive("weight_bound", weight_bound) ** 2
    return nonnegative("target_gap", target_gap) / scale


def parameters_lower_published(target_gap: Fraction, distance: Fraction, num_inputs: int) -> sympy.Expr:
    """L4's bound B/(A sqrt(n)) with its constant worked out to be 1; ``distance`` = A = |v_1 - v_2|_2 > 0.

    Claim L4, lower. Weaker than N5, since |v|_inf <= |v|_2. Exact (sympy). Raises InvalidInput.

    >>> parameters_lower_published(Fraction(1), Fraction(1, 10), 4)
    5
    """
    # Proof: a unit moves by at most |u|_1 |v_1 - v_2|_inf <= sqrt(n) A with |u|_2 <= sqrt(n), so a width of p gives
    # B <= p sqrt(n) A, and every unit that counts has a non-zero weight.
    scale = to_sympy(positive("distance", distance)) * sympy.sqrt(count("num_inputs", num_inputs))
    return to_sympy(nonnegative("target_gap", target_gap)) / scale


def paths_upper(num_inputs: int, num_parameters: int, layers: int) -> Fraction:
    """Input-output paths of non-zero weights to one output: at most (M/f)^f, times E if layers is odd, f = layers//2.

    Claim N5, upper; N5 has the factor E for even depth too, where it is not needed. ``layers`` counts weight
    matrices; weights in [-1,1] and 1-Lipschitz activations make the path count a Lipschitz constant (sup norm).
    Exact. Raises InvalidInput.

    >>> paths_upper(8, 10, 2), paths_upper(8, 10, 3), paths_upper(8, 10, 4)
    (Fraction(10, 1), Fraction(80, 1), Fraction(25, 1))
    """
    # Proof: a path visits one unit per level 0..l, the last level being the one output. Even l: its weights in
    # layers 1, 3, .., l-1 fix all units. Odd l: its weights in layers 2, 4, .., l-1 fix all but the input, for which
    # there are E choices. The f counts multiplied have a sum of at most M, so their product is at most (M/f)^f.
    half = count("layers", layers) // 2
    base = count("num_inputs", num_inputs) if layers % 2 else 1
    product = Fraction(count("num_parameters", num_parameters, 0), half) ** half if half else 1
    return base * Fraction(product)


def deep_parameters_lower(
    target_gap: Fraction, distance: Fraction, num_inputs: int, layers: int, weight_bound: Fraction = Fraction(1)
) -> int:
    """Least M whose paths reach the target: w^layers paths_upper(E, M, layers) >= B/|v_1 - v_2|_inf.

    Claim N5, lower: a read-out with ``layers`` >= 2 weight matrices has at least that many non-zero weights.
    Exact (integer root). Raises InvalidInput.

    >>> [deep_parameters_lower(Fraction(1), Fraction(1, 100), 8, layers) for layers in (2, 3, 4)]
    [100, 13, 20]
    """
    half = count("layers", layers, 2) // 2
    needed = parameters_lower(target_gap, distance) / positive("weight_bound", weight_bound) ** layers
    per_input = needed / (count("num_inputs", num_inputs) if layers % 2 else 1)
    # (M/f)^f >= y iff M^f >= ceil(y f^f); root_below finds the largest integer whose f-th power is smaller.
    power = math.ceil(per_input * half**half)
    return root_below(power, 0, half) + 1 if power else 0


def error_lower(target_gap: Fraction, distance: Fraction, num_parameters: int) -> Fraction:
    """Sup error that every read-out with M parameters has on one of two inputs: max(0, gap - M dist)/2.

    Claim N8 with N5, lower. Hypotheses: A1.2, A1.3; ``distance`` = |A(X) - A(X')|_inf of the attention outputs,
    ``target_gap`` = |H(X) - H(X')|. Exact. Raises InvalidInput.

    >>> error_lower(Fraction(1), Fraction(1, 1000), 100)
    Fraction(9, 20)
    """
    # Proof: the outputs differ by at most M dist, the targets by gap; the two errors add up to the difference at least.
    moved = count("num_parameters", num_parameters, 0) * nonnegative("distance", distance)
    return max(Fraction(0), nonnegative("target_gap", target_gap) - moved) / 2
