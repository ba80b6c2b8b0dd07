"""Budgets of T2.1: would catch a budget that does not close, a wrong share, a beta of the wrong order."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy

from theory import enough_heads as eh
from theory.errors import InvalidInput
from theory.softmin import gibbs_gap_sharp, lambert_w_upper

EPSILONS = [Fraction(10), Fraction(1, 2), Fraction(1, 20), Fraction(1, 10**9)]
LENGTHS = [1, 2, 16, 4096]
GRADIENTS = [Fraction(0), Fraction(1, 100), Fraction(2), Fraction(50)]


@pytest.mark.parametrize("eps", EPSILONS)
@pytest.mark.parametrize("seq_len", LENGTHS)
@pytest.mark.parametrize("gradient", GRADIENTS)
def test_proved_budgets_close_strictly(eps: Fraction, seq_len: int, gradient: Fraction) -> None:
    """Catches any share that makes the sum reach eps, and a softmin term below N1's exact value."""
    for weight, budget in (
        (3 * gradient, eh.repaired(eps, seq_len, 1, 3, gradient)),
        (gradient, eh.sharpened(eps, seq_len, gradient)),
    ):
        assert budget.closes
        assert budget.total_upper < eps
        assert budget.beta >= 1
        assert budget.delta > 0
        assert budget.delta_outer < eps
        softmin = next(term for term in budget.terms if term.name == "softmin")
        exact = weight * gibbs_gap_sharp(seq_len, budget.beta)
        assert sympy.N(exact - sympy.Rational(str(softmin.value_upper)), 30) <= 0


def test_repaired_keeps_the_published_parameters_but_the_gate() -> None:
    """Catches a repair that is larger than needed; its worst share must stay below 0.94 eps."""
    for eps in EPSILONS:
        for seq_len in LENGTHS:
            paper = eh.published(eps, seq_len, 2, Fraction(2))
            repair = eh.repaired(eps, seq_len, 1, 2, Fraction(2))
            assert (repair.beta, repair.delta_outer) == (paper.beta, paper.delta_outer)
            assert repair.delta == min(Fraction(1), paper.delta)
            assert (paper.gate, repair.gate) == (1, 2)
            assert repair.total_upper < Fraction(94, 100) * eps


def test_repaired_leak_term_bounds_the_gate_leak() -> None:
    """Catches a leak term below |S^c| e^(-beta), where beta is small enough for it to matter."""
    budget = eh.repaired(Fraction(4), 4, 1, 1, Fraction(1, 2))
    leak = next(term for term in budget.terms if term.name == "gate leak")
    exact = sympy.Rational(3, 2) * sympy.exp(-sympy.Rational(str(budget.beta)))
    assert budget.beta == 2
    assert 0 <= sympy.N(sympy.Rational(str(leak.value_upper)) - exact, 30) < 1e-25


def test_published_parameters_are_the_formulas_of_the_paper() -> None:
    """Catches a changed constant: delta = eps/(4 L_0 D), beta = 4 T L_0 D/eps; terms add up to eps, not less."""
    budget = eh.published(Fraction(1, 20), 32, 4, Fraction(3))
    assert budget.delta == Fraction(1, 20) / 48
    assert budget.beta == 4 * 32 * 12 * 20
    assert budget.total_upper == Fraction(1, 20)
    assert not budget.closes


def test_published_split_misses_its_own_target() -> None:
    """Catches the belief that T2.1-17 gives T2.1-18: it misses by T e^(-beta); with eq 15's 1/e it closes."""
    for eps in (Fraction(1, 20), Fraction(2), Fraction(15)):
        budget = eh.published(eps, 4, 2, Fraction(1))
        target = sympy.Rational(str(eps / 4))
        right_side = eh.retrieval_error_published(4, budget.delta, budget.beta)
        rate = sympy.Rational(str(budget.beta))
        assert sympy.simplify(right_side - target - 4 * sympy.exp(-rate)) == 0
        sharper = sympy.Rational(str(budget.delta)) + 4 / (sympy.E * rate) + 4 * sympy.exp(-rate)
        assert sympy.N(target - sharper) > 0


def test_sharpened_beta_is_logarithmic_in_the_length() -> None:
    """Catches a beta of order T: 4 L_0 W((T-1)/e)/eps exactly, under a hundredth of the published one."""
    eps, gradient = Fraction(1, 20), Fraction(2)
    budget = eh.sharpened(eps, 4096, gradient)
    assert budget.beta == 4 * gradient * lambert_w_upper(4096) / eps
    assert budget.delta == eps / (4 * gradient)
    assert budget.delta_outer < eps / 2
    assert budget.gate is None
    assert 100 * budget.beta < eh.published(eps, 4096, 1, gradient).beta


def test_known_errors_are_handed_back_to_beta() -> None:
    """Catches a saved budget that is lost: exact features and outer map cut beta by 4 (to 1/63 of the slack)."""
    eps, gradient = Fraction(1, 20), Fraction(2)
    exact = eh.sharpened(eps, 128, gradient, feature_error=Fraction(0), outer_error=Fraction(0))
    assert exact.beta == gradient * lambert_w_upper(128) / (eps * Fraction(63, 64))
    assert exact.total_upper == eps * Fraction(63, 64)
    half = eh.sharpened(eps, 128, gradient, feature_error=Fraction(0))
    assert exact.beta < half.beta < eh.sharpened(eps, 128, gradient).beta


def test_beta_falls_with_eps_and_grows_with_length() -> None:
    """Catches a reversed dependence."""
    betas = [eh.sharpened(eps, 64, Fraction(1)).beta for eps in (Fraction(1, 100), Fraction(1, 10))]
    assert betas[0] > betas[1]
    betas = [eh.sharpened(Fraction(1, 10), n, Fraction(1)).beta for n in (8, 64, 512)]
    assert betas == sorted(set(betas))


def test_one_token_and_constant_outer_map() -> None:
    """Catches a division by zero or beta = 0 in the degenerate cases, and a published form that hides it."""
    assert eh.sharpened(Fraction(1, 10), 1, Fraction(5)).beta == 1
    assert eh.sharpened(Fraction(1, 10), 8, Fraction(0)).total_upper == Fraction(31, 640)
    assert eh.repaired(Fraction(1, 10), 1, 1, 1, Fraction(0)).total_upper == Fraction(1, 20)
    with pytest.raises(InvalidInput, match="L_0 > 0"):
        eh.published(Fraction(1, 10), 8, 2, Fraction(0))


def test_hopeless_and_malformed_input_is_refused() -> None:
    """Catches errors that leave no room, eps <= 0, floats, supports longer than the sequence."""
    with pytest.raises(InvalidInput, match="L_0 \\* feature_error"):
        eh.sharpened(Fraction(1, 10), 8, Fraction(1), feature_error=Fraction(1, 10))
    for eps in (Fraction(0), Fraction(-1), 0.05):
        with pytest.raises(InvalidInput, match="eps"):
            eh.sharpened(eps, 8, Fraction(1))
        with pytest.raises(InvalidInput, match="eps"):
            eh.published(eps, 8, 1, Fraction(1))
        with pytest.raises(InvalidInput, match="eps"):
            eh.repaired(eps, 8, 2, 1, Fraction(1))
    with pytest.raises(InvalidInput, match="smallest_support"):
        eh.repaired(Fraction(1, 10), 8, 9, 1, Fraction(1))
    with pytest.raises(InvalidInput, match="outer_gradient_l1"):
        eh.sharpened(Fraction(1, 10), 8, Fraction(-1))
