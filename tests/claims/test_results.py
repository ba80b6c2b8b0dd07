"""N1-N5 and N8: computed statuses, mutants, and the statements checked once more by independent computations."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, product

import mpmath
import numpy as np
import pytest
from mpmath import mp

from checks import balls
from checks.audit import Audit, audit
from checks.evidence import readout, results
from theory.ledger import Form, Means, Reference
from theory.registry import all_claims
from theory.softmin import gibbs_gap_sharp
from theory.too_few_heads import grid_points, parameters_lower

CLAIMS = all_claims()
BY_ID = {claim.id: claim for claim in CLAIMS}
PIECES = (*results.evidence(BY_ID), *readout.evidence(BY_ID))
SUPREMUM_TOLERANCE = mpmath.mpf(10) ** -30
"""Issue 3: N1 equal to the numerical supremum to 1e-30."""

# The weakest means.
EXPECTED = {
    Reference("N1"): Means.BALL,
    Reference("N2"): Means.BALL,
    Reference("N3"): Means.BALL,
    Reference("N4"): Means.EXHAUSTIVE,
    Reference("N5"): Means.EXHAUSTIVE,
    Reference("N5", Form.SHARPENED): Means.EXHAUSTIVE,
    Reference("N8"): Means.SMT,
}


@pytest.fixture(scope="module")
def outcome() -> Audit:
    return audit(CLAIMS, PIECES)


@pytest.mark.parametrize("reference", EXPECTED, ids=str)
def test_results_are_proved_by_the_means_stated(reference: Reference, outcome: Audit) -> None:
    """Catches a result that is no longer proved, or whose label claims stronger means than its steps have."""
    status = outcome.statuses[reference]
    assert (status.verdict.label, status.means) == ("PROVED", EXPECTED[reference])


@pytest.mark.parametrize("number", [2, 3, 17, 1000, 10**6])
def test_sharp_gap_is_the_numerical_supremum(number: int) -> None:
    """Catches a wrong constant or argument of W: the maximum is located by root finding, without W."""
    with mp.workdps(60):
        beta = mp.mpf(40)

        def gap(y: mpmath.mpf) -> mpmath.mpf:
            return (number - 1) * y / (mp.exp(y) + number - 1) / beta

        # The slope of y/(e^y + n) has the sign of n - (y - 1) e^y: bisection keeps all digits of the flat maximum.
        low, high = mp.mpf(1), mp.log(number) + 2
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if number - 1 > (middle - 1) * mp.exp(middle) else (low, middle)
        formula = mp.lambertw((number - 1) / mp.e).real / beta
        assert gap(low) > max(gap(low - mp.mpf(10) ** -10), gap(low + mp.mpf(10) ** -10))
        assert abs(gap(low) - formula) < SUPREMUM_TOLERANCE
        assert abs(mp.mpf(gibbs_gap_sharp(number, Fraction(40)).evalf(60)) - formula) < SUPREMUM_TOLERANCE


def test_sharp_gap_is_attained_in_balls() -> None:
    """Catches a formula that is only approached: at the worst tokens the mean's ball, below 1e-30 wide, contains W."""
    with balls.precision(256):
        for number in (2, 5, 128):
            u = balls.lambert_w(balls.exact(number - 1) / balls.exp(balls.exact(1)))
            y = 1 + u
            weight = (number - 1) * balls.exp(-y)
            difference = y * weight / (1 + weight) - u
            assert balls.contains(difference, 0)
            assert balls.radius(difference) < Fraction(1, 10**30)


def test_random_tokens_never_exceed_the_sharp_gap() -> None:
    """Catches a supremum that is only one over the two-valued family: random tokens and random beta, N up to 8."""
    generator = np.random.default_rng(11)
    largest = 0.0
    for _ in range(20_000):
        number, beta = int(generator.integers(2, 9)), float(generator.uniform(0.1, 30))
        y = np.concatenate([[0.0], generator.exponential(2.0, number - 1)])
        weights = np.exp(-y)
        gap = float(weights @ y / weights.sum() / beta)
        largest = max(largest, gap * beta / float(mpmath.lambertw((number - 1) / mpmath.e).real))
    assert 0.9 < largest <= 1.0


def test_gate_one_gives_a_quarter_for_every_beta() -> None:
    """Catches a wrong reading of N2's example f = 4 (x - 1/2)^2, X = (0, 1/2, 1/2, 1/2), S = {1}."""
    tokens = [Fraction(0), *[Fraction(1, 2)] * 3]
    values = [4 * (x - Fraction(1, 2)) ** 2 for x in tokens]
    scores = [-value - (0 if t == 0 else 1) for t, value in enumerate(values)]
    assert len(set(scores)) == 1
    assert sum(values) / 4 == Fraction(1, 4)


def test_lower_bound_of_n4_holds_on_a_brute_force_pigeonhole() -> None:
    """Catches a count with one cell too many: random sums of real numbers, all increasing sequences, g parts."""
    generator = random.Random(3)
    for grid, tau, sums in ((6, 2, 1), (8, 3, 2), (9, 4, 3)):
        sequences = list(combinations(range(grid), tau))
        parts = max(g for g in range(1, len(sequences)) if g**sums < len(sequences))
        tables = [[[generator.random() for _ in range(grid)] for _ in range(tau)] for _ in range(sums)]

        def cell(sequence: tuple[int, ...], tables=tables, parts=parts, tau=tau) -> tuple[int, ...]:
            values = [sum(table[place][point] for place, point in enumerate(sequence)) for table in tables]
            return tuple(min(parts - 1, int(parts * value / tau)) for value in values)

        assert len({cell(sequence) for sequence in sequences}) < len(sequences)


def test_lower_bound_of_n4_is_the_formula() -> None:
    """Catches a bound in code that is not the registered formula, on a case small enough for plain floats."""
    eps, rho, dim, heads, targets, seq_len = Fraction(1, 10**6), Fraction(1, 2), 2, 1, 2, 16
    bound = parameters_lower(eps, rho, dim, heads, targets, seq_len)
    grid = grid_points(rho, eps)
    width, tau = dim * heads, bound.tau
    count = 1
    for factor in range(tau):
        count = count * (grid - factor) // (factor + 1)
    parts = next(g for g in range(round(count ** (1 / 3)) + 2, 0, -1) if g**3 < count)
    assert float(bound.value) == pytest.approx(float(eps) * parts / (3 * width**1.5 * tau), rel=1e-9)


def test_best_read_out_by_trying_all() -> None:
    """Catches a factor in N8: four sequences, two attention outputs, targets in {0,1,2}, read-outs on a half-grid."""
    values = [Fraction(k, 2) for k in range(5)]
    for outputs, targets in product(product((0, 1), repeat=4), product((0, 1, 2), repeat=4)):
        pairs = list(zip(outputs, targets, strict=True))
        best = min(max(abs(readout[a] - h) for a, h in pairs) for readout in product(values, repeat=2))
        gaps = [abs(h - k) for (a, h), (b, k) in product(pairs, repeat=2) if a == b]
        assert best == Fraction(max(gaps), 2)


@pytest.mark.parametrize("slope", [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(5, 2)])
def test_mcshane_read_out_is_optimal(slope: Fraction) -> None:
    """Catches a wrong Lipschitz form of N8: McShane's F reaches the value, and no read-out on a fine grid is better."""
    generator = random.Random(5)
    for _ in range(300):
        pairs = [(generator.randint(0, 2), generator.randint(0, 3)) for _ in range(4)]
        error = max(abs(h - k) - slope * abs(a - b) for (a, h), (b, k) in product(pairs, repeat=2)) / Fraction(2)
        readout = {a: min(k + error + slope * abs(a - b) for b, k in pairs) for a in range(3)}
        assert max(abs(readout[a] - h) for a, h in pairs) == error
        assert all(abs(readout[a] - readout[b]) <= slope * abs(a - b) for a, b in product(range(3), repeat=2))
        for _ in range(50):
            other = [Fraction(generator.randint(0, 12), 4) for _ in range(3)]
            if all(abs(other[a] - other[b]) <= slope * abs(a - b) for a, b in product(range(3), repeat=2)):
                assert max(abs(other[a] - h) for a, h in pairs) >= error


def test_covering_head_has_gap_exactly_the_softmin_gap() -> None:
    """Catches a miscalibrated N8: one covering head, D = 1; a constant sequence collides with the worst one."""
    with mp.workdps(40):
        number, beta = 32, mp.mpf(20)
        u = mp.lambertw((number - 1) / mp.e).real
        worst = [mp.mpf(0)] + [(1 + u) / beta] * (number - 1)
        weights = [mp.exp(-beta * a) for a in worst]
        mean = sum(w * a for w, a in zip(weights, worst, strict=True)) / sum(weights)
        assert (
            abs(mean - u / beta) < SUPREMUM_TOLERANCE
        )  # the constant sequence u/beta has this mean, and minimum u/beta
