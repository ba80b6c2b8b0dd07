"""T2.1 as numbers: which feature error, temperature, gate and read-out error make D heads eps-accurate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy

from theory.errors import InvalidInput
from theory.rational_bounds import count, exp_lower, nonnegative, positive, to_sympy
from theory.softmin import lambert_w_upper

SLACK = Fraction(1, 64)
"""Share of eps that ``sharpened`` leaves unspent, so that the error is strictly below eps (DEF-EPS)."""

LARGEST_EXPONENT = Fraction(256)
"""e^(-beta) is bounded by e^(-256) < 10^-111 for every larger beta."""


@dataclass(frozen=True)
class Term:
    """One share of the error budget: ``value_upper`` bounds the contribution ``name`` by the claim ``claim``.

    A budget may be a tree: a term with ``parts`` is their sum, so every part is stated as it arrives at the output,
    Lipschitz constants included. Raises InvalidInput where the parts do not add up.
    """

    name: str
    claim: str
    value_upper: Fraction
    parts: tuple[Term, ...] = ()

    def __post_init__(self) -> None:
        added = sum((part.value_upper for part in self.parts), Fraction(0))
        if self.parts and added != self.value_upper:
            raise InvalidInput.about(f"term {self.name}", self.value_upper, f"the sum {added} of its parts", "Term.sum")

    @classmethod
    def sum(cls, name: str, claim: str, parts: Sequence[Term]) -> Term:
        """The term that is the sum of its parts.

        >>> leaves = [Term("left", "N1", Fraction(1, 8)), Term("right", "N2", Fraction(1, 4))]
        >>> Term.sum("both", "T2.1-end", leaves).value_upper
        Fraction(3, 8)
        """
        return cls(name, claim, sum((part.value_upper for part in parts), Fraction(0)), tuple(parts))


@dataclass(frozen=True)
class Budget:
    """Parameters of the specialists' construction and the terms that its sup error is at most the sum of.

    ``delta``: sup error allowed to each feature network; ``delta_outer``: to the outer network on [0,1]^D;
    ``beta``: softmax scale; ``gate``: what is subtracted from the score off S_i (None: no gate, the feature
    itself is replaced by 1 off S_i, as in N3). All exact. Larger beta than stated is always allowed.
    """

    eps: Fraction
    delta: Fraction
    delta_outer: Fraction
    beta: Fraction
    gate: Fraction | None
    terms: tuple[Term, ...]

    @property
    def total_upper(self) -> Fraction:
        """The sum of the terms: an upper bound on the construction's sup error, if its terms are proved."""
        return sum((term.value_upper for term in self.terms), Fraction(0))

    @property
    def closes(self) -> bool:
        """Whether the terms add up to strictly less than eps, as DEF-EPS asks."""
        return self.total_upper < self.eps


def published(eps: Fraction, seq_len: int, num_targets: int, outer_gradient_l1: Fraction) -> Budget:
    """The paper's parameters: delta = eps/(4 L_0 D), beta = max{1, 4 C_T L_0 D/eps, log(...)}, gate 1.

    Claims T2.1-16, T2.1-18, T2.1-end, upper **as claimed**: the terms are what the paper states, not what is true.
    N2 refutes gate 1; the terms add up to eps, which is not below eps; and T2.1-18 does not follow from
    T2.1-17 (``retrieval_error_published``). C_T = max{T/e, T} = T and log x <= x, so beta = max{1, 4 T L_0 D/eps}.
    ``outer_gradient_l1`` is L_0 = sup |grad F_0|_1. Exact. Raises InvalidInput, also for L_0 = 0 (division by L_0).

    >>> budget = published(Fraction(1, 10), 16, 2, Fraction(2))
    >>> budget.delta, budget.beta, budget.gate, budget.closes
    (Fraction(1, 160), Fraction(2560, 1), Fraction(1, 1), False)
    """
    if nonnegative("outer_gradient_l1", outer_gradient_l1) == 0:
        condition = "L_0 > 0, as T2.1-18 divides by it"
        raise InvalidInput.about("outer_gradient_l1", outer_gradient_l1, condition, "sharpened(...), F_0 is constant")
    eps, weight = positive("eps", eps), outer_gradient_l1 * count("num_targets", num_targets)
    terms = (Term("retrieval", "T2.1-18", eps / 2), Term("outer map", "T2.1-end", eps / 2))
    beta = _beta_published(eps, seq_len, weight)
    return Budget(eps, eps / (4 * weight), eps / 2, beta, Fraction(1), terms)


def retrieval_error_published(seq_len: int, delta: Fraction, beta: Fraction) -> sympy.Expr:
    """The right-hand side of T2.1-17, delta + C_T (1/beta + e^(-beta)) with C_T = T, exactly (sympy).

    At ``published``'s parameters with beta = 4 C_T L_0 D/eps it equals eps/(2 L_0 D) + T e^(-beta), which is more
    than T2.1-18 claims: eq 16 rounds the factor 1/e of eq 15 away, with which the budget would close.

    >>> retrieval_error_published(4, Fraction(1, 8), Fraction(32))
    4*exp(-32) + 1/4
    """
    rate = to_sympy(positive("beta", beta))
    return to_sympy(nonnegative("delta", delta)) + count("seq_len", seq_len) * (1 / rate + sympy.exp(-rate))


def repaired(
    eps: Fraction, seq_len: int, smallest_support: int, num_targets: int, outer_gradient_l1: Fraction
) -> Budget:
    """The paper's parameters with gate 2 instead of 1: the least change after which T2.1 holds, strictly below eps.

    Claims T2.1 repaired by N2, upper. Hypotheses: features in [0,1], |S_i| >= ``smallest_support``, feature networks
    within delta and clipped to [0,1], outer network within delta_outer of F_0 on [0,1]^D, L_0 = sup |grad F_0|_1.
    Conclusion: sup error <= total_upper <= 0.94 eps. Exact. Raises InvalidInput.

    >>> budget = repaired(Fraction(1, 10), 16, 4, 2, Fraction(2))
    >>> budget.beta, budget.gate, budget.closes
    (Fraction(2560, 1), Fraction(2, 1), True)
    """
    # Proof: |Phi(zt) - F_0(zbar)| <= |Phi(zt) - F_0(zt)| + |F_0(zt) - F_0(zbar)| <= delta_outer + L_0 D |zt - zbar|_inf
    # (T2.1-end gives Phi the Lipschitz constant of F_0, which it need not have). By N2 with gate 2 a coordinate is
    # off by at most delta + W((T-1)/e)/beta + |S^c| e^(-beta). With x = 4 T L_0 D/eps and beta = max{1, x} the shares
    # are 1/4, at most 1/(4e) because W(y) <= y, at most max_b b e^(-b)/4 = 1/(4e), and 1/2: together below 0.94 eps.
    eps, weight = positive("eps", eps), nonnegative("outer_gradient_l1", outer_gradient_l1)
    weight *= count("num_targets", num_targets)
    delta = _feature_share(eps, weight)
    beta = _beta_published(eps, seq_len, weight)
    if count("smallest_support", smallest_support) > seq_len:
        raise InvalidInput.about("smallest_support", smallest_support, f"|S_i| <= seq_len={seq_len}", "a subset of [T]")
    leak = (seq_len - smallest_support) / exp_lower(min(beta, LARGEST_EXPONENT))
    terms = (
        Term("features", "T2.1-10", weight * delta),
        Term("softmin", "N1", weight * lambert_w_upper(seq_len) / beta),
        Term("gate leak", "N2", weight * leak),
        Term("outer map", "A3", eps / 2),
    )
    return Budget(eps, delta, eps / 2, beta, Fraction(2), terms)


def sharpened(
    eps: Fraction,
    seq_len: int,
    outer_gradient_l1: Fraction,
    feature_error: Fraction | None = None,
    outer_error: Fraction | None = None,
) -> Budget:
    """One dimension per head, beta = L_0 W((T-1)/e)/(what the two networks leave of 63/64 eps): of order log(T)/eps.

    Claim N3, upper. Hypotheses: features in [0,1]; feature networks within delta, clipped to [0,1] and set to 1
    off S_i; outer network within delta_outer of F_0 on [0,1]^D; L_0 = sup |grad F_0|_1 (no factor D).
    Conclusion: sup error <= total_upper <= 63/64 eps < eps. Exact. By default delta = eps/(4 L_0) and
    delta_outer = 31/64 eps, hence beta = 4 L_0 W/eps; a known ``feature_error`` or ``outer_error`` (0 where a network
    is exact) is taken instead and beta shrinks accordingly; beta is never taken below 1. Raises InvalidInput, also
    when the two known errors leave nothing.

    >>> sharpened(Fraction(1, 10), 16, Fraction(2)).closes
    True
    >>> sharpened(Fraction(1, 10), 1, Fraction(2)).beta
    Fraction(1, 1)
    """
    # Proof: |Phi(zt) - F_0(zbar)| <= delta_outer + L_0 |zt - zbar|_inf, zt in [0,1]^D; the clipped feature is still
    # within delta of f_i on S_i and is at most 1 = its value off S_i, so the minimum over all T positions is the
    # minimum over S_i and N1 applies with N = T: |zt - zbar|_inf <= delta + W((T-1)/e)/beta.
    eps, weight = positive("eps", eps), nonnegative("outer_gradient_l1", outer_gradient_l1)
    delta = _feature_share(eps, weight) if feature_error is None else nonnegative("feature_error", feature_error)
    outer = eps * (Fraction(1, 2) - SLACK) if outer_error is None else nonnegative("outer_error", outer_error)
    width = lambert_w_upper(seq_len)
    rest = eps * (1 - SLACK) - weight * delta - outer
    if rest <= 0:
        condition = f"L_0 * feature_error + outer_error < {1 - SLACK} eps, here {weight * delta + outer}"
        raise InvalidInput.about("eps", eps, condition, "more accurate feature or outer networks, or a larger eps")
    beta = max(Fraction(1), weight * width / rest)
    terms = (
        Term("features", "T2.1-10", weight * delta),
        Term("softmin", "N3", weight * width / beta),
        Term("outer map", "A3", outer),
    )
    return Budget(eps, delta, outer, beta, None, terms)


def reference_parameters_upper(eps: Fraction, num_targets: int) -> int:
    """Feed-forward weights and biases that D specialists spend on a reference task: of order D^(3/2) eps^(-1/2).

    Claims N3, A3, upper. The task: d = 1, f_i(x) = (x - m_i)^2, any S_i, F_0 = sum of the z_i (N7's), any T. With
    L_0 = D, an exact outer map and delta = eps/(4 D), k = ceil(1/(2 sqrt(delta))) neurons give each feature; one more
    per feature replaces it off S_i, one neuron reads the sum: D (3k + 4) + 2 numbers (positional biases once per unit).
    Heads: D, of dimension 1. Exact. Raises InvalidInput.

    >>> reference_parameters_upper(Fraction(1, 100), 4), reference_parameters_upper(Fraction(1, 10**6), 4)
    (258, 24018)
    """
    # Proof: the interpolant of (x - m)^2 at k + 1 equidistant points lies above it, by at most 2/(8 k^2), and inside
    # [0,1]; it has k weights, biases and output weights. 1 - relu(1 - Psi - r): k + 1 weights become those of relu's
    # layer, with its bias and the weight and bias after it: 3k + 3. The sum: D weights, one bias, one output weight.
    delta = _feature_share(positive("eps", eps), Fraction(count("num_targets", num_targets)))
    cells = math.isqrt(math.ceil(1 / (4 * delta)) - 1) + 1
    return num_targets * (3 * cells + 4) + 2


def _feature_share(eps: Fraction, weight: Fraction) -> Fraction:
    """The delta with weight * delta = eps/4, at most 1: an error of 1 is what a constant has on features in [0,1]."""
    return min(Fraction(1), eps / (4 * weight)) if weight else Fraction(1)


def _beta_published(eps: Fraction, seq_len: int, weight: Fraction) -> Fraction:
    return max(Fraction(1), 4 * count("seq_len", seq_len) * weight / eps)
