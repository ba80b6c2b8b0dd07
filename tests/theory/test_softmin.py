"""Softmin gaps: would catch a wrong constant, a bound that is not one, an unattained or unproved rational bound."""

from __future__ import annotations

import itertools
import time
from fractions import Fraction

import mpmath
import pytest
import sympy

from theory import softmin
from theory.errors import InvalidInput

DIGITS = 50
SUPREMUM_TOLERANCE = mpmath.mpf(10) ** -30
ENCLOSURE_RELATIVE = Fraction(1, 10**12)
LAMBERT_SECONDS = 0.05  # measured 4 ms; the margin is for a busy machine


def gibbs_excess(tokens: tuple[mpmath.mpf, ...], beta: Fraction) -> mpmath.mpf:
    rate = mpmath.mpf(beta.numerator) / beta.denominator
    weights = [mpmath.exp(-rate * a) for a in tokens]
    return mpmath.fdot(tokens, weights) / mpmath.fsum(weights) - min(tokens)


def numeric(expression: sympy.Expr) -> mpmath.mpf:
    return mpmath.mpf(str(sympy.N(expression, DIGITS)))


@pytest.mark.parametrize(("num_tokens", "beta"), [(2, Fraction(2)), (3, Fraction(7, 2)), (128, Fraction(40))])
def test_sharp_gap_is_the_numerical_supremum(num_tokens: int, beta: Fraction) -> None:
    """Catches any wrong constant in N1: a search over the common value finds the bound to 1e-30."""
    with mpmath.workdps(DIGITS):

        def excess(y: mpmath.mpf) -> mpmath.mpf:
            return (num_tokens - 1) * y / (mpmath.exp(beta.numerator * y / beta.denominator) + num_tokens - 1)

        low, high = mpmath.mpf(0), mpmath.mpf(1)
        for _ in range(400):  # ternary search: the function has one maximum
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (left, high) if excess(left) < excess(right) else (low, right)
        found = excess((low + high) / 2)
        assert abs(found - numeric(softmin.gibbs_gap_sharp(num_tokens, beta))) < SUPREMUM_TOLERANCE


@pytest.mark.parametrize(
    "beta", [Fraction(1, 10), Fraction(1), Fraction(13, 10), Fraction(3, 2), Fraction(5), Fraction(50)]
)
@pytest.mark.parametrize("num_tokens", [1, 2, 4])
def test_every_form_bounds_every_configuration(num_tokens: int, beta: Fraction) -> None:
    """Catches a bound that some configuration of a grid exceeds, and a worst configuration that is not the worst."""
    with mpmath.workdps(DIGITS):
        supremum = numeric(softmin.gibbs_gap_supremum(num_tokens, beta))
        for form in (softmin.gibbs_gap_published, softmin.gibbs_gap_log, softmin.gibbs_gap_sharp):
            assert supremum <= numeric(form(num_tokens, beta)) + SUPREMUM_TOLERANCE
        levels = [mpmath.mpf(i) / 12 for i in range(13)]
        for rest in itertools.combinations_with_replacement(levels, num_tokens - 1):
            assert gibbs_excess((mpmath.mpf(0), *rest), beta) <= supremum + SUPREMUM_TOLERANCE
        worst = tuple(numeric(a) for a in softmin.worst_tokens(num_tokens, beta))
        assert all(0 <= a <= 1 for a in worst)
        assert abs(gibbs_excess(worst, beta) - supremum) < SUPREMUM_TOLERANCE


def test_bound_is_attained_exactly_from_the_stated_beta() -> None:
    """Catches a shifted attainment threshold: just above it N1's bound is reached, just below it is not."""
    threshold = softmin.sharp_gap_attained_from(5)
    above = Fraction(str(sympy.N(threshold, 30))) + Fraction(1, 10**6)
    below = above - Fraction(2, 10**6)
    assert softmin.gibbs_gap_supremum(5, above) == softmin.gibbs_gap_sharp(5, above)
    assert softmin.gibbs_gap_supremum(5, below) == 4 / (sympy.exp(sympy.Rational(str(below))) + 4)
    assert numeric(softmin.gibbs_gap_supremum(5, below)) < numeric(softmin.gibbs_gap_sharp(5, below))


def test_mutated_bounds_are_violated_by_the_worst_tokens() -> None:
    """Must fail: N-2 for N-1, a factor 99/100, W without 1/e; T2.1-gibbs and log N are not attained."""
    beta = Fraction(10)
    with mpmath.workdps(DIGITS):
        reached = gibbs_excess(tuple(numeric(a) for a in softmin.worst_tokens(6, beta)), beta)
        assert reached > numeric(softmin.gibbs_gap_sharp(5, beta))
        assert reached > numeric(softmin.gibbs_gap_sharp(6, beta)) * 99 / 100
        assert abs(reached - numeric(sympy.LambertW(5) / 10)) > SUPREMUM_TOLERANCE
        assert reached < numeric(softmin.gibbs_gap_published(6, beta))
        assert reached < numeric(softmin.gibbs_gap_log(6, beta))


@pytest.mark.parametrize("num_tokens", [2, 3, 7, 128, 4096, 10**7, 10**30])
def test_lambert_bounds_enclose_tightly_and_fast(num_tokens: int) -> None:
    """Catches a rational W on the wrong side of the exact one, a loose one, a slow one."""
    started = time.process_time()
    lower, upper = softmin.lambert_w_lower(num_tokens), softmin.lambert_w_upper(num_tokens)
    assert time.process_time() - started < LAMBERT_SECONDS
    assert 0 < upper - lower < ENCLOSURE_RELATIVE * lower
    with mpmath.workdps(DIGITS):
        for side, value in ((1, upper), (-1, lower)):
            w = mpmath.mpf(value.numerator) / value.denominator
            assert side * (w * mpmath.exp(w + 1) - (num_tokens - 1)) > 0


def test_lambert_of_one_token_is_zero_and_grows() -> None:
    """Catches a special case at N = 1 and a bound that does not increase with N."""
    values = [softmin.lambert_w_upper(n) for n in (1, 2, 3, 10, 100)]
    assert values[0] == softmin.lambert_w_lower(1) == 0
    assert values == sorted(set(values))


def gated_readout(on: tuple[int, ...], off: tuple[int, ...], beta: int, gate: int) -> sympy.Expr:
    weights = [sympy.exp(-beta * a) for a in on] + [sympy.exp(-beta * (a + gate)) for a in off]
    return sympy.simplify(sum(w * a for w, a in zip(weights, on + off, strict=True)) / sum(weights))


def test_gate_one_is_refuted_and_gate_two_bounds() -> None:
    """Catches an N2 that forgets its counterexample (1/4 for every beta) or a leak term that is too small."""
    for beta in (1, 10, 1000):
        assert gated_readout((1,), (0, 0, 0), beta, 1) == sympy.Rational(1, 4)
    for on, off in (((1,), (0, 0, 0)), ((0, 1), (1, 0)), ((1, 1), (0, 1))):
        error = abs(gated_readout(on, off, 3, 2) - min(on))
        assert sympy.N(softmin.gated_gap(len(on), len(off), Fraction(3), Fraction(2)) - error) >= 0
    assert softmin.gated_gap(1, 3, Fraction(7), Fraction(3)) == 3 * sympy.exp(-14)


def test_gate_not_beating_the_range_is_refused_with_the_reason() -> None:
    """Catches a gate of 1 or less accepted silently."""
    for gate in (Fraction(1), Fraction(1, 2)):
        with pytest.raises(InvalidInput, match="1/4 instead of 1"):
            softmin.gated_gap(1, 3, Fraction(5), gate)


@pytest.mark.parametrize("beta", [0, Fraction(-1), 0.5])
def test_bad_beta_is_refused(beta: Fraction) -> None:
    """Catches a non-positive or floating beta entering a bound."""
    for form in (softmin.gibbs_gap_published, softmin.gibbs_gap_log, softmin.gibbs_gap_sharp, softmin.worst_tokens):
        with pytest.raises(InvalidInput, match="beta"):
            form(3, beta)


def test_beta_at_the_threshold_to_all_digits_is_refused() -> None:
    """Catches a case distinction decided by rounding."""
    beta = Fraction(str(sympy.N(softmin.sharp_gap_attained_from(5), 60)))
    with pytest.raises(InvalidInput, match="fewer digits"):
        softmin.worst_tokens(5, beta)


@pytest.mark.parametrize("num_tokens", [0, -1, True, 2.0])
def test_bad_token_counts_are_refused(num_tokens: int) -> None:
    """Catches an empty softmax, booleans and floats taken for a count."""
    with pytest.raises(InvalidInput, match="num_tokens"):
        softmin.lambert_w_upper(num_tokens)
