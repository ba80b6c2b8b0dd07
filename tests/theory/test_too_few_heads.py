"""T2.2 and N4: would catch a wrong exponent, a pigeonhole off by one, a threshold that is none, a slow bound."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import pytest
import sympy

from theory import too_few_heads as tf
from theory.errors import InvalidInput
from theory.integer_search import first_true
from theory.paper_count import paper_count, paper_threshold_eps

HALF = Fraction(1, 2)
TWO_DECIMALS = 0.005
FACTOR_THREE = math.log10(3)
SECONDS_AT_A_MILLION = 1.0
SEARCH_LOSS = Fraction(1, 10**6)


def log10(x: Fraction) -> float:
    return math.log10(x.numerator) - math.log10(x.denominator)


def test_exponents_at_the_reference_sizes() -> None:
    """Catches an off-by-one: 9/5 published and 19/9 sharpened at T = 128, D = 4, s = 1, n = 8; full supports."""
    assert tf.exponent_published(128, 8, 1, 4) == Fraction(9, 5)
    assert tf.exponent_sharpened(128, 8, 1, 4) == Fraction(19, 9)
    assert tf.exponent_sharpened(128, 8, 1, 4, support=128) == Fraction(124, 9) - 1
    assert tf.exponent_published(130, 8, 1, 4) == (Fraction(57, 2) / 10) - 1
    assert tf.exponent_sharpened(130, 8, 1, 4) == Fraction(29, 9) - 1


def test_mutated_exponents_differ() -> None:
    """Must differ: n for n+1, s - 1 for s, without -1, D for D - 1."""
    k = tf.exponent_published(128, 8, 1, 4)
    for mutant in (Fraction(28, 9) - 1, Fraction(28, 8) - 1, Fraction(28, 10), Fraction(27, 10) - 1):
        assert mutant != k


@pytest.mark.parametrize("head_dim", [1, 3, 8])
@pytest.mark.parametrize(("num_heads", "num_targets"), [(1, 2), (2, 5), (3, 4)])
def test_regime_lengths_are_exactly_where_exponents_turn_positive(
    head_dim: int, num_heads: int, num_targets: int
) -> None:
    """Catches a wrong threshold length: exhaustive over T around it."""
    lengths = tf.regime(64, head_dim, num_heads, num_targets)
    for seq_len in range(4, 300):
        here = tf.regime(seq_len, head_dim, num_heads, num_targets)
        assert here.published_is_positive == (seq_len > lengths.seq_len_above_published)
        assert here.sharpened_is_positive == (seq_len > lengths.seq_len_above_sharpened)


def test_regime_of_a_large_model() -> None:
    """Catches a drift from N6: n = 64, s = 16, D = 17 needs T > 4292."""
    assert tf.regime(512, 64, 16, 17).seq_len_above_published == 4292


def test_depth_exponents() -> None:
    """Catches k/4 where k/2 holds: floor(l/2) against the paper's remark."""
    k = Fraction(9, 5)
    assert [tf.depth_exponent(k, layers) for layers in (2, 3, 4, 5, 6)] == [k, k, k / 2, k / 2, k / 3]
    assert all(tf.published_depth_exponent(k, layers) < tf.depth_exponent(k, layers) for layers in range(2, 6))
    for call in (lambda: tf.published_depth_exponent(k, 6), lambda: tf.depth_exponent(k, 1)):
        with pytest.raises(InvalidInput, match="layers"):
            call()


def test_grid_points_step_by_three_eps() -> None:
    """Catches a grid with one point too many or too few: G - 1 steps of 3 eps fit into rho, G do not."""
    for eps in (Fraction(1, 6), Fraction(1, 7), Fraction(1, 1000), Fraction(1)):
        steps = tf.grid_points(HALF, eps) - 1
        assert steps * 3 * eps <= HALF < (steps + 1) * 3 * eps


def brute_force(eps: Fraction, head_dim: int, num_heads: int, free: int) -> Fraction:
    """N4's bound squared, maximised over all tau, by definition."""
    grid = tf.grid_points(HALF, eps)
    sums = (head_dim + 1) * num_heads
    best = Fraction(0)
    for tau in range(1, min(free, grid) + 1):
        parts = 0
        if math.comb(grid, tau) > 1:
            parts = int(sympy.integer_nthroot(math.comb(grid, tau) - 1, sums)[0])
        best = max(best, (eps * parts) ** 2 / (9 * (head_dim * num_heads) ** 3 * tau**2))
    return best


@pytest.mark.parametrize("denominator", [7, 100, 10**4, 10**7])
@pytest.mark.parametrize(("head_dim", "num_heads", "num_targets"), [(1, 1, 2), (2, 1, 3), (8, 1, 4), (2, 2, 4)])
@pytest.mark.parametrize("seq_len", [32, 128, 512])
def test_bound_against_brute_force(
    denominator: int, head_dim: int, num_heads: int, num_targets: int, seq_len: int
) -> None:
    """Catches a wrong pigeonhole or constant, and a tau that loses more than 1e-6 where the bound says something."""
    eps = Fraction(1, denominator)
    bound = tf.parameters_lower(eps, HALF, head_dim, num_heads, num_targets, seq_len)
    free = seq_len // 4 - num_heads - num_targets + 1
    best = brute_force(eps, head_dim, num_heads, free)
    assert bound.value_squared <= best
    sums = (head_dim + 1) * num_heads
    assert bound.parts**sums < math.comb(bound.grid, bound.tau)
    if math.comb(bound.grid, bound.tau) < 2**1024:
        assert (bound.parts + 1) ** sums >= math.comb(bound.grid, bound.tau)
    if best >= 1:
        assert bound.value_squared >= best * (1 - SEARCH_LOSS)


def test_three_views_of_one_value_agree() -> None:
    """Catches a rational lower bound above the value or loose, and an at_least that is off by one at an integer."""
    bound = tf.parameters_lower(Fraction(1, 10**8), HALF, 8, 1, 4, 128)
    assert sympy.simplify(bound.value**2 - sympy.Rational(str(bound.value_squared))) == 0
    assert 0 <= bound.value_squared - bound.value_lower**2 < bound.value_squared / 10**12
    whole = math.isqrt(math.floor(bound.value_squared))
    assert bound.at_least(whole)
    assert not bound.at_least(whole + 1)
    assert abs(10**bound.log10_estimate / whole - 1) < 1e-6
    square = tf.N4Bound(Fraction(3), 1, 1, 100, 2, 10)  # exactly 3 * 10/(3 * 2) = 5
    assert square.value == 5 == square.value_lower
    assert square.at_least(5)
    assert not square.at_least(6)


def test_vacuous_bound_is_zero_not_an_error() -> None:
    """Catches a logarithm of 0 where eps exceeds the target's range (one grid point)."""
    bound = tf.parameters_lower(Fraction(1), HALF, 8, 1, 4, 128)
    assert (bound.grid, bound.tau, bound.parts, bound.value_lower) == (1, 1, 0, 0)
    assert bound.log10_estimate == -math.inf
    assert bound.at_least(0)
    assert not bound.at_least(1)


@pytest.mark.parametrize(("parameters", "decimal"), [(1, -4.25), (10**3, -5.67), (10**6, -7.09)])
def test_thresholds_of_the_issue(parameters: int, decimal: float) -> None:
    """Catches any change of N4: T = 128, D = 4, s = 1, n = 8; exact at the threshold and not one grid step above."""
    eps = tf.threshold_eps(parameters, HALF, 8, 1, 4, 128)
    assert eps is not None
    assert abs(log10(eps) - decimal) <= TWO_DECIMALS
    steps = HALF / (3 * eps)
    assert steps.denominator == 1
    assert tf.parameters_lower(eps, HALF, 8, 1, 4, 128).at_least(parameters)
    for larger in (HALF / (3 * (steps - 1)), eps * Fraction(10**9 + 1, 10**9), 2 * eps, Fraction(1, 1000)):
        assert not tf.parameters_lower(larger, HALF, 8, 1, 4, 128).at_least(parameters)


@pytest.mark.parametrize(
    ("sizes", "n4", "paper"),
    [
        ((2, 1, 2, 128), -2.5, -10.5),
        ((8, 1, 4, 128), -4.3, -32),
        ((8, 2, 4, 128), -12.9, -81),
        ((32, 1, 12, 2048), -3.8, -128),
    ],
)
def test_both_thresholds_of_n6(sizes: tuple[int, int, int, int], n4: float, paper: float) -> None:
    """Catches other constants: N4's first parameter to one decimal, the paper's eps_0 within a factor 3."""
    first = tf.threshold_eps(1, HALF, *sizes)
    assert first is not None
    assert abs(log10(first) - n4) <= 0.05
    eps = paper_threshold_eps(HALF, *sizes)
    assert abs(log10(eps) - paper) < FACTOR_THREE
    assert paper_count(eps, HALF, *sizes).forces_collision
    assert not paper_count(eps * Fraction(101, 100), HALF, *sizes).forces_collision
    assert all(paper_count(eps / 10**step, HALF, *sizes).forces_collision for step in (1, 2, 20, 200))


def test_threshold_is_exhaustively_the_largest() -> None:
    """Catches a bisection that skips a larger eps: every grid size below the returned one fails."""
    sizes = (2, 1, 2, 128)
    eps = tf.threshold_eps(10, HALF, *sizes)
    assert eps is not None
    least = int(HALF / (3 * eps)) + 1
    for grid in range(2, least):
        assert not tf.parameters_lower(HALF / (3 * (grid - 1)), HALF, *sizes).at_least(10)


def test_threshold_is_none_where_the_exponent_is_not_positive() -> None:
    """Catches an endless search: T_0 <= (n+1)s."""
    assert tf.exponent_sharpened(48, 8, 1, 4) <= 0
    assert tf.threshold_eps(1, HALF, 8, 1, 4, 48) is None


def test_threshold_falls_with_parameters_and_grows_with_support() -> None:
    """Catches reversed monotonicity."""
    values = [tf.threshold_eps(p, HALF, 8, 1, 4, 128) for p in (1, 10, 100)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 3
    full = tf.threshold_eps(100, HALF, 8, 1, 4, 128, support=128)
    assert full is not None
    assert values[2] is not None
    assert full > values[2]


def test_paper_count_matches_integer_counts() -> None:
    """Catches a wrong constant or rounding: exact integers at eps = 10^-20, where c = eps^3 is rational."""
    eps, n, s, num_targets, seq_len = Fraction(1, 10**20), 3, 1, 2, 4 * 17
    free, cells_exponent = 15, (n + 1) * s + 1
    assert free == 3 * cells_exponent
    c = eps**3
    counted = paper_count(eps, HALF, n, s, num_targets, seq_len)
    sequences = math.floor(HALF / (3 * free * eps)) ** free
    per_average = math.isqrt(math.floor(36 * free**2 * n / c**2)) + 1
    x = sympy.Rational(str(c)) / (12 * free**2)
    per_sum = sympy.N(2 + sympy.log(4 * free / sympy.Rational(str(c))) / sympy.log(1 + x), 60)
    cells = sympy.N(sympy.log(sympy.Integer(per_average), 2) * n * s + sympy.log(per_sum, 2) * s, 40)
    assert 0 <= sympy.N(sympy.log(sequences, 2), 40) - sympy.Rational(str(counted.sequences_log2_lower)) < 1e-9
    assert 0 <= sympy.Rational(str(counted.cells_log2_upper)) - cells < 0.02
    claimed = sympy.log(sympy.Rational(str(eps / c)) / (s * sympy.sqrt(n * s)), 2)
    assert 0 <= sympy.N(claimed, 40) - sympy.Rational(str(counted.parameters_log2_lower)) < 1e-9


@pytest.mark.parametrize("sizes", [(8, 1, 4), (64, 16, 17), (1, 1, 2)])
@pytest.mark.parametrize("eps", [Fraction(1, 10**6), Fraction(1, 10**30)])
def test_a_million_tokens_in_under_a_second(sizes: tuple[int, int, int], eps: Fraction) -> None:
    """Catches exact binomials of millions of bits on the way to the bound."""
    started = time.process_time()
    bound = tf.parameters_lower(eps, HALF, *sizes, 10**6)
    assert bound.at_least(10**6)
    assert bound.value_lower > 10**6
    assert bound.log10_estimate > 6
    assert time.process_time() - started < SECONDS_AT_A_MILLION
    assert bound.tau > 10**4


def test_bad_input_is_refused_with_the_condition() -> None:
    """Catches bounds claimed outside their hypotheses: s >= D, T_0 < 1, floats, supports beyond T, no grid."""
    with pytest.raises(InvalidInput, match="s < D"):
        tf.parameters_lower(Fraction(1, 100), HALF, 8, 4, 4, 128)
    with pytest.raises(InvalidInput, match="T_0"):
        tf.parameters_lower(Fraction(1, 100), HALF, 8, 1, 4, 16)
    with pytest.raises(InvalidInput, match="eps"):
        tf.parameters_lower(1e-2, HALF, 8, 1, 4, 128)
    with pytest.raises(InvalidInput, match="rho"):
        tf.threshold_eps(1, Fraction(0), 8, 1, 4, 128)
    with pytest.raises(InvalidInput, match="support"):
        tf.exponent_sharpened(16, 8, 1, 4, support=17)
    with pytest.raises(InvalidInput, match="4 divides T"):
        paper_count(Fraction(1, 10**9), HALF, 8, 1, 4, 130)
    with pytest.raises(InvalidInput, match="rho/"):
        paper_count(Fraction(1, 10), HALF, 8, 1, 4, 128)
    with pytest.raises(InvalidInput, match="parameters"):
        tf.threshold_eps(0, HALF, 8, 1, 4, 128)


def test_thresholds_of_large_models_in_seconds() -> None:
    """Catches a search to all of 10,000 digits: eps_0 far below 10^-300 comes with 64 significant bits, certified."""
    started = time.process_time()
    sizes = (64, 16, 17, 4400)
    first, paper = tf.threshold_eps(1, HALF, *sizes), paper_threshold_eps(HALF, *sizes)
    assert time.process_time() - started < 10 * SECONDS_AT_A_MILLION
    assert first is not None
    assert log10(first) < -400
    assert log10(paper) < -8000
    assert tf.parameters_lower(first, HALF, *sizes).at_least(1)
    assert not tf.parameters_lower(first * Fraction(2**60 + 1, 2**60), HALF, *sizes).at_least(1)
    assert paper_count(paper, HALF, *sizes).forces_collision


def test_search_is_exact_below_64_bits_and_tight_above() -> None:
    """Catches a skipped integer where the search changes from all integers to rounded ones."""
    for wanted in (1, 5, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64, 2**64 + 1, 3**60, 10**90):
        found = first_true(lambda x, wanted=wanted: x >= wanted)
        assert wanted <= found <= wanted + (wanted >> 63 if wanted >= 2**64 else 0)
        for guess in (1, wanted // 3, wanted - 1, wanted + 1, 10 * wanted):
            steered = first_true(lambda x, wanted=wanted: x >= wanted, lambda x, guess=guess: x >= guess)
            assert steered == found
