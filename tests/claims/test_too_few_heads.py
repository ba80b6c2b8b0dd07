"""Section 4 (T2.2): the computed statuses against a table established by hand, mutants, and independent numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import product

import pytest

from checks.audit import Audit, audit, instance_holds, surviving_mutants
from checks.certificates.writer import to_bytes
from checks.evidence import (
    enough_heads,
    readout,
    results,
    retrieval_bounds,
    too_few_heads,
    too_few_heads_algebra,
    too_few_heads_counting,
    too_few_heads_positions,
)
from checks.verify import verify
from theory.ledger import Evidence, Form, Purpose, Reference
from theory.registry import all_claims
from theory.too_few_heads import exponent_published, exponent_sharpened

CLAIMS = all_claims()
BY_ID = {claim.id: claim for claim in CLAIMS}
MODULES = (too_few_heads, too_few_heads_positions, too_few_heads_counting, too_few_heads_algebra)
SECTION = tuple(piece for module in MODULES for piece in module.evidence(BY_ID))
BELOW = tuple(
    piece for module in (results, readout, enough_heads, retrieval_bounds) for piece in module.evidence(BY_ID)
)

# published, argument, repaired, sharpened: P proved, R refuted, N hidden hypothesis, - not registered.
EXPECTED = {
    "T2.2": "P R P P",
    "L4": "P P - P",
    "L5": "P - - P",
    "L6": "P N - P",
    "L7": "P - - -",
    "T2.2-not": "R - P -",
    "T2.2-lam": "P - - -",
    "T2.2-max": "R - P -",
    "T2.2-rep": "P - - P",
    "T2.2-T0": "P - - P",
    "T2.2-grid": "P - - -",
    "T2.2-claim": "P R - P",
    "T2.2-count1": "P R P P",
    "T2.2-count2": "P R - -",
    "T2.2-count3": "R - P -",
    "T2.2-count4": "P N - P",
    "T2.2-W": "P - - -",
    "T2.2-gap": "R R P -",
    "T2.2-V": "R - P P",
    "T2.2-24": "P - - -",
    "T2.2-Q4": "R - P P",
    "T2.2-26": "P N P -",
    "T2.2-31": "P N P -",
    "T2.2-32": "P N P -",
    "T2.2-33": "P N P -",
    "T2.2-36": "P N P P",
    "T2.2-40": "P N P -",
    "T2.2-46": "R - P -",
    "T2.2-end": "P - - -",
    "R2": "P - - -",
    "R2.t": "P - - P",
}
LETTERS = {"PROVED": "P", "REFUTED": "R", "NOT_APPLICABLE": "N", "UNDECIDED": "U"}


@pytest.fixture(scope="module")
def outcome() -> Audit:
    return audit(CLAIMS, (*SECTION, *BELOW))


@pytest.mark.parametrize("name", EXPECTED)
def test_statuses_are_those_established_by_hand(name: str, outcome: Audit) -> None:
    """Catches an engine, a dependency or a statement whose change alters what the audit says about the paper."""
    found = [outcome.statuses.get(Reference(name, form)) for form in Form]
    assert " ".join("-" if status is None else LETTERS[status.verdict.label] for status in found) == EXPECTED[name]


def test_the_whole_section_is_in_the_table() -> None:
    """Catches a claim of section 4 that is registered but not decided by hand."""
    mine = {claim.id for claim in CLAIMS if claim.id.startswith(("T2.2", "L4", "L5", "L6", "L7", "R2"))}
    assert mine == set(EXPECTED)


def test_something_that_falls_has_a_severity(outcome: Audit) -> None:
    """Catches a refuted statement or argument of which the report could not say how much it matters."""
    fallen = {
        about.claim
        for about, status in outcome.statuses.items()
        if about.claim in EXPECTED and status.verdict.label in ("REFUTED", "NOT_APPLICABLE")
    }
    assert {name for name in fallen if BY_ID[name].severity is None} == set()


@pytest.mark.parametrize("piece", SECTION, ids=lambda piece: f"{piece.about}-{piece.purpose}")
def test_no_mutant_survives(piece: Evidence) -> None:
    """Catches evidence that would also prove a wrong statement, or refute a true neighbour."""
    assert surviving_mutants(piece) == []


@pytest.mark.parametrize("piece", SECTION, ids=lambda piece: f"{piece.about}-{piece.purpose}")
def test_every_decision_was_tried_on_mutants(piece: Evidence, outcome: Audit) -> None:
    """Catches a claim decided without two wrong variants (a proof) or one right neighbour (a refutation)."""
    label = outcome.statuses[piece.about].verdict.label
    count = sum(len(step.mutants) for step in piece.steps)
    assert count >= {"PROVED": 2, "REFUTED": 1}.get(label, 0)


def test_every_refutation_has_a_certificate_that_the_checker_accepts(outcome: Audit) -> None:
    """Catches a refutation whose witness nobody else can check."""
    witnesses = [
        step.verdict.witness
        for result in outcome.results
        if result.purpose is Purpose.REFUTES and result.about.claim in EXPECTED
        for step in result.steps
    ]
    assert len(witnesses) == 12
    assert {verify(to_bytes(witness)).label for witness in witnesses} == {"PROVED"}


@pytest.mark.parametrize("name", EXPECTED)
def test_instances_satisfy_their_hypotheses(name: str) -> None:
    """Catches a proposition about the empty set."""
    for form in BY_ID[name].forms:
        assert instance_holds(BY_ID[name].statement(form)).label == "PROVED"


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
