"""Section 1 (density) with N9 and N10: the computed statuses against a table established by hand, and mutants."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations, pairwise

import pytest

from checks.audit import Audit, audit, surviving_mutants
from checks.certificates.writer import to_bytes
from checks.evidence import closure, colourings, density, selectors
from checks.verify import verify
from theory.ledger import Evidence, Form, NotApplicable, Reference, Refuted
from theory.registry import all_claims

CLAIMS = all_claims()
BY_ID = {claim.id: claim for claim in CLAIMS}
SECTION = (*density.evidence(BY_ID), *closure.evidence(BY_ID), *selectors.evidence(BY_ID), *colourings.evidence(BY_ID))

# published, argument, repaired, sharpened: P proved, R refuted, N hidden hypothesis, - not registered. The reasons
# stand in docs/proofs/density.md.
EXPECTED = {
    "T1": "P R - P",
    "L1": "P R - P",
    "L1.1": "R R P P",
    "L1.2": "R R P P",
    "L1.3": "P P - -",
    "L1.4": "P P - P",
    "L1.5": "R R P -",
    "L1.6": "R N P -",
    "L1.7": "P N - P",
    "L2": "P - - P",
    "L3": "P N - P",
    "T1.P": "P R P P",
    "N9": "R - P P",
    "N10": "P - - P",
}
LETTERS = {"PROVED": "P", "REFUTED": "R", "NOT_APPLICABLE": "N", "UNDECIDED": "U"}
ROUNDING = 1e-12
LARGEST_BEND = 2
"""The cutoff's third derivative is below 60 (8/3)^3 < 1140, so its second changes by less than 2 over 1/1000."""


@pytest.fixture(scope="module")
def outcome() -> Audit:
    return audit(CLAIMS, SECTION)


@pytest.mark.parametrize("name", EXPECTED)
def test_statuses_are_those_established_by_hand(name: str, outcome: Audit) -> None:
    """Catches an engine, a dependency or a statement whose change alters what the audit says about the paper."""
    found = [outcome.statuses.get(Reference(name, form)) for form in Form]
    assert " ".join("-" if status is None else LETTERS[status.verdict.label] for status in found) == EXPECTED[name]


@pytest.mark.parametrize("piece", SECTION, ids=lambda piece: f"{piece.about}-{piece.purpose}")
def test_no_mutant_survives(piece: Evidence) -> None:
    """Catches evidence that would also prove a wrong statement, or refute a true neighbour."""
    assert surviving_mutants(piece) == []


@pytest.mark.parametrize("piece", SECTION, ids=lambda piece: f"{piece.about}-{piece.purpose}")
def test_every_decision_was_tried_on_mutants(piece: Evidence, outcome: Audit) -> None:
    """Catches a claim decided without two wrong variants (a proof) or one right neighbour (a refutation)."""
    label = outcome.statuses[piece.about].verdict.label
    assert sum(len(step.mutants) for step in piece.steps) >= {"PROVED": 2, "REFUTED": 1}.get(label, 0)


def test_every_refutation_and_hidden_hypothesis_has_a_certificate_that_the_checker_accepts(outcome: Audit) -> None:
    """Catches a refutation, or a hypothesis said to be needed, whose witness nobody else can check."""
    witnesses = [
        status.verdict.witness
        for status in outcome.statuses.values()
        if status.about.claim in EXPECTED and isinstance(status.verdict, Refuted | NotApplicable)
    ]
    assert len(witnesses) == sum(row.count("R") + row.count("N") for row in EXPECTED.values())
    assert {verify(to_bytes(witness)).label for witness in witnesses} == {"PROVED"}


def smooth_cutoff(distance: float, radius: float) -> float:
    """The cutoff of docs/proofs/density.md: 1 within half the radius, 0 beyond it."""
    u = min(1.0, max(0.0, (4 * (distance / radius) ** 2 - 1) / 3))
    return 1 - u**3 * (10 - 15 * u + 6 * u**2)


def test_blend_has_the_minimiser_that_was_chosen() -> None:
    """Catches a wrong blend in L1 (sharpened), with a function whose own minimum is at the boundary, on a fine grid."""
    shift, curvature, radius = 0.1, 1.5, 0.25
    grid = [k / 2000 for k in range(2001)]
    p = [shift + (1 - shift) * x * (1 + math.sin(9 * x) ** 2) / 2 for x in grid]
    low = min(p)
    blend = []
    for x, value in zip(grid, p, strict=True):
        share = smooth_cutoff(abs(x - 0.2), radius)
        blend.append((1 - share) * value + share * (low - shift + curvature * (x - 0.2) ** 2))
    assert curvature * radius**2 <= shift
    assert grid[blend.index(min(blend))] == 0.2
    assert sum(value <= min(blend) + ROUNDING for value in blend) == 1
    assert min(blend) >= -ROUNDING
    assert max(blend) <= 1 + ROUNDING


def test_cutoff_has_two_continuous_derivatives() -> None:
    """Catches a cutoff with a kink where it leaves 1 or reaches 0: second difference quotients must not jump there."""
    radius, step = 1.0, 1e-4
    places = [k / 1000 for k in range(1, 1200)]
    bends = [
        (smooth_cutoff(x + step, radius) - 2 * smooth_cutoff(x, radius) + smooth_cutoff(x - step, radius)) / step**2
        for x in places
    ]
    assert max(abs(a - b) for a, b in pairwise(bends)) < LARGEST_BEND
    assert smooth_cutoff(0.5, radius) == 1
    assert smooth_cutoff(1.0, radius) == 0


@pytest.mark.parametrize("degree", [1, 4, 25, 100])
def test_bernstein_polynomials_keep_to_the_error_of_the_steps(degree: int) -> None:
    """Catches a wrong rate in the steps of T1 and L1: |x - 1/2| (modulus w(d) = d) with d = (4n)^{-1/2}, exactly."""
    worst = Fraction(0)
    for k in range(21):
        x = Fraction(k, 20)
        weights = [math.comb(degree, j) * x**j * (1 - x) ** (degree - j) for j in range(degree + 1)]
        mean = sum(weight * abs(Fraction(j, degree) - Fraction(1, 2)) for j, weight in enumerate(weights))
        assert sum(weights) == 1
        assert sum(w * (Fraction(j, degree) - x) ** 2 for j, w in enumerate(weights)) == x * (1 - x) / degree
        worst = max(worst, abs(mean - abs(x - Fraction(1, 2))))
    assert worst**2 <= Fraction(1, degree)  # (2 d)^2 = 1/n
    assert worst**2 > Fraction(1, 100 * degree)  # and no better rate


def test_four_features_recover_the_first_token_of_five() -> None:
    """Catches a wrong formula in N9 (sharpened): T = 5, m = 2, D = 4 beats the balanced bound for odd T (5)."""
    generator = random.Random(5)
    for _ in range(500):
        x, y, z = (Fraction(generator.randint(0, 20), 20) for _ in range(3))
        features = min(x, y), min(1 - x, 1 - y), min(y, z), min(1 - x, 1 - z)
        larger = 1 - features[1]
        middle, last = larger - (1 - features[3]), features[2] - features[0]
        assert larger - max(middle, Fraction(0)) - max(last, Fraction(0)) == x
    assert math.comb(5, 2) / (2 * math.comb(3, 0)) > 4


def test_families_below_the_two_colouring_numbers_can_be_coloured() -> None:
    """Catches a bound of N9 above the truth: no two pairs, and no six triples on 6 points, without a 2-colouring."""

    def colourable(points: int, masks: tuple[int, ...]) -> bool:
        full = 2**points - 1
        return any(all(mask & red and mask & (full ^ red) for mask in masks) for red in range(2 ** (points - 1)))

    pairs = [1 << a | 1 << b for a, b in combinations(range(4), 2)]
    assert all(colourable(4, chosen) for chosen in combinations(pairs, 2))
    assert not all(colourable(4, chosen) for chosen in combinations(pairs, 3))
    generator = random.Random(6)
    triples = [sum(1 << point for point in chosen) for chosen in combinations(range(8), 3)]
    assert all(colourable(8, tuple(generator.sample(triples, 6))) for _ in range(2000))
    fano = tuple(sum(1 << point for point in line) for line in colourings.FANO[1])
    assert not colourable(7, fano)
