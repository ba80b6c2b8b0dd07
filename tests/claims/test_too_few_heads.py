"""Section 4 (T2.2): numbers from elsewhere.

What must be true of all evidence is in test_all_evidence.py.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import product

from checks.evidence import (
    readout,
    too_few_heads,
    too_few_heads_algebra,
    too_few_heads_counting,
    too_few_heads_positions,
    too_few_heads_premises,
    too_few_heads_remarks,
)
from theory.ledger import Means
from theory.registry import all_claims
from theory.too_few_heads import exponent_published, exponent_sharpened

BY_ID = {claim.id: claim for claim in all_claims()}
MODULES = (
    readout,
    too_few_heads,
    too_few_heads_positions,
    too_few_heads_counting,
    too_few_heads_algebra,
    too_few_heads_premises,
    too_few_heads_remarks,
)


def test_nothing_in_this_section_is_decided_by_prose() -> None:
    """Catches a step that is only argued, or a hidden hypothesis that is only named."""
    prose = {
        str(piece.about)
        for module in MODULES
        for piece in module.evidence(BY_ID)
        for step in piece.steps
        if step.means <= Means.ARGUMENT
    }
    assert prose == set()


def test_exponent_of_the_sharpened_bound_is_at_least_the_published_one() -> None:
    """Catches a wrong step from N4 to T2.2: compared over a range of sizes with the exponents as the code has them."""
    compared = 0
    for n, s, more, seq_len in product(range(1, 5), range(1, 4), range(1, 4), range(1, 200, 7)):
        if seq_len / 4 - s - (s + more) + 1 > 0:
            compared += 1
            assert exponent_sharpened(seq_len, n, s, s + more) >= exponent_published(seq_len, n, s, s + more)
    assert compared > 500


def test_constant_of_r2_lies_below_the_bound_of_n4() -> None:
    """Catches a wrong constant C, r or alpha in R2, by comparing logarithms with N4's at the largest eps allowed."""
    log_c = -math.log(6 * (20 / math.log(2)) ** 2.5 * 4**-2.5)
    compared = 0
    for n, s, seq_len, rho in product((1, 2, 8), (1, 2), (64, 256, 1024), (0.01, 0.5, 40.0)):
        targets, q = s + 1, (n + 1) * s
        free = seq_len // 4 - s - targets + 1
        k = free / (q + 1) - 1
        if k < 0:
            continue
        eps = min(1.0, rho / (6 * free))
        grid = math.floor(rho / (3 * eps)) + 1
        log_binomial = math.lgamma(grid + 1) - math.lgamma(free + 1) - math.lgamma(grid - free + 1)
        root = math.exp(min(log_binomial / q, 700))
        log_n4 = math.log(eps / (3 * (n * s) ** 1.5 * free)) + math.log(math.ceil(root) - 1)
        r = max(3 / (2 * rho), 2)
        compared += 1
        assert log_c - seq_len / 8 * math.log(r * seq_len) - k * math.log(eps) <= log_n4
    assert compared > 20


def _outputs(weights: list[float], values: list[float]) -> float:
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


def _pairs(generator: random.Random) -> Iterator[tuple[float, float, float]]:
    """(e, difference of the outputs, |V| bound) for random heads in case (2a), conditions (1) and (2a) made to hold."""
    for _ in range(4000):
        free = generator.randint(1, 4)
        radius = generator.choice([1.0, 3.0])
        top = 10 ** generator.uniform(-1, 1)
        e = 10 ** generator.uniform(-3, 0)
        common, size = generator.uniform(0, free - 1), generator.uniform(0.1, 1)
        q1, q3, q4 = size * top, common * top, top * generator.uniform(1, 5)
        kappa = e / (12 * free**2)
        q2 = (q1 + q3) * generator.uniform(1 / (1 + kappa), 1 + kappa) - q3
        v1, v3, v4 = (generator.uniform(-radius, radius) for _ in range(3))
        v2 = (_outputs([q1, q3], [v1, v3]) + generator.uniform(-1, 1) * e / (3 * free)) * (q2 + q3) - q3 * v3
        v2 /= q2
        if q2 > 0 and abs(v2) <= radius and q4 >= (max(q1, q2) + q3) / free:
            yield e, abs(_outputs([q1, q4], [v1, v4]) - _outputs([q2, q4], [v2, v4])), radius


def test_case_2a_holds_on_random_heads() -> None:
    """Catches a wrong constant in T2.2-36: the bound (R + 1) e/3 against heads drawn at random."""
    ratios = [difference / ((radius + 1) * e / 3) for e, difference, radius in _pairs(random.Random(3))]
    assert len(ratios) > 500
    assert 0.2 < max(ratios) <= 1


def test_equation_31_holds_for_values_up_to_t0_and_not_beyond() -> None:
    """Catches a wrong bound on |V| in the hidden hypothesis of T2.2-31 and -32: T_0 is where eq 31 starts to fail."""
    generator = random.Random(5)
    largest = {1.0: 0.0, 1.2: 0.0}
    for factor, _ in product(largest, range(4000)):
        free = generator.randint(2, 6)
        kappa = 10 ** generator.uniform(-5, -1) / (12 * free**2)
        q2, q3 = 10 ** generator.uniform(-4, 0), 1.0
        q1 = (1 + kappa) * (q2 + q3) - q3
        term = q3 * (q1 - q2) * 2 * factor * free / ((q1 + q3) * (q2 + q3))
        largest[factor] = max(largest[factor], term / (kappa * 2 * free))
    assert 0.9 < largest[1.0] <= 1 < largest[1.2]


def test_case_2b_costs_half_of_what_is_printed() -> None:
    """Catches a wrong constant in T2.2-40 (sharpened): R e/2 against heads drawn at random, nearly attained."""
    generator = random.Random(7)
    ratios = []
    for _ in range(20_000):
        radius, e = generator.choice([1.0, 4.0]), 10 ** generator.uniform(-3, 0)
        q1, q2 = (e / 4 * generator.choice([1.0, generator.random()]) for _ in range(2))
        v1, v2, v4 = (radius * generator.choice([-1, 1, generator.uniform(-1, 1)]) for _ in range(3))
        ratios.append(abs(_outputs([q1, 1], [v1, v4]) - _outputs([q2, 1], [v2, v4])) / (radius * e / 2))
    assert 0.9 < max(ratios) <= 1


def test_without_the_right_share_the_outputs_of_a_head_differ() -> None:
    """Catches a witness of T2.2-36 that is no head: weights and values at four positions, recomputed from scratch."""
    common, fixed, e, free = (59.0, 0.0), (1.0, 0.0), 0.1, 2
    heads = [((1.0, value), common) for value in (1.0, 0.0)]
    averages = [_outputs([w for w, _ in head], [v for _, v in head]) for head in heads]
    assert abs(averages[0] - averages[1]) <= e / (3 * free) + 1e-15
    outputs = [_outputs([own[0], fixed[0]], [own[1], fixed[1]]) for own, _ in heads]
    assert fixed[0] >= (1 + 1) / free
    assert abs(outputs[0] - outputs[1]) > 4 * e
