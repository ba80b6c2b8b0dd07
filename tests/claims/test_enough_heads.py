"""Section 3 (T2.1): the computed statuses against a table established by hand, mutants, and independent numbers."""

from __future__ import annotations

import random
from fractions import Fraction
from math import e, exp

import pytest

from checks.audit import Audit, audit, instance_holds, surviving_mutants
from checks.certificates.writer import to_bytes
from checks.evidence import enough_heads, readout, results, retrieval_bounds
from checks.verify import verify
from theory.ledger import Evidence, Form, Purpose, Reference
from theory.registry import all_claims

CLAIMS = all_claims()
BY_ID = {claim.id: claim for claim in CLAIMS}
SECTION = (*enough_heads.evidence(BY_ID), *retrieval_bounds.evidence(BY_ID))
BELOW = (*results.evidence(BY_ID), *readout.evidence(BY_ID))

# published, argument, repaired, sharpened: P proved, R refuted, N hidden hypothesis, - not registered.
EXPECTED = {
    "T2.1-10": "R N P -",
    "T2.1-gate": "R - P P",
    "T2.1-11": "P N P -",
    "T2.1-12": "P - - -",
    "T2.1-13": "P - - -",
    "T2.1-14": "P - - -",
    "T2.1-gibbs": "P P - P",
    "T2.1-leak": "R - P -",
    "T2.1-15": "R R P P",
    "T2.1-16": "R - P -",
    "T2.1-17": "R - P -",
    "T2.1-18": "R R P P",
    "T2.1-end": "P R P -",
    "T2.1-M": "P N - -",
    "T2.1": "P R P P",
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
    """Catches a claim of section 3 that is registered but not decided by hand."""
    assert {claim.id for claim in CLAIMS if claim.id.startswith("T2.1")} == set(EXPECTED)


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
        step.verdict.witness for result in outcome.results if result.purpose is Purpose.REFUTES for step in result.steps
    ]
    assert len(witnesses) == 11
    assert {verify(to_bytes(witness)).label for witness in witnesses} == {"PROVED"}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_instances_satisfy_their_hypotheses(claim: object) -> None:
    """Catches a proposition about the empty set."""
    for form in claim.forms:
        assert instance_holds(claim.statement(form)).label == "PROVED"


def test_published_budget_is_refuted_inside_its_own_parameters() -> None:
    """Catches a counterexample to T2.1-18 that does not use the printed delta, beta and C_T, or is not minimal in T."""
    (witness,) = (
        step.run().witness
        for piece in SECTION
        if piece.about == Reference("T2.1-18") and piece.purpose is Purpose.REFUTES
        for step in piece.steps
    )
    values = {name: Fraction(value) for name, value in witness["values"].items()}
    eps, weight, seq_len = values["e"], values["L"], 2
    assert values["b"] == max(1, 4 * seq_len * weight / eps)


def test_repaired_budget_closes_numerically() -> None:
    """Catches a wrong share in T2.1 (repaired), by computing the retrieval error of random and of worst tokens."""
    generator = random.Random(7)
    worst = 0.0
    for _ in range(3000):
        seq_len = generator.randint(2, 12)
        eps, weight = 10 ** generator.uniform(-2, 0), generator.uniform(0.5, 8)
        support = generator.randint(1, seq_len)
        beta = max(1.0, 4 * seq_len * weight / eps)
        common = generator.choice([min(1.0, generator.uniform(0, 3) / beta), generator.random()])
        off = generator.choice([0.0, 1 / beta, 1.0])
        a = [0.0] + [common] * (support - 1) + [off] * (seq_len - support)
        if generator.random() < 0.5:
            a = [1.0] * support + [off] * (seq_len - support)
        scores = [-beta * (x + (2 if t >= support else 0)) for t, x in enumerate(a)]
        top = max(scores)
        weights = [exp(score - top) for score in scores]
        retrieved = sum(w * x for w, x in zip(weights, a, strict=True)) / sum(weights)
        worst = max(worst, abs(retrieved - min(a[:support])) * weight / eps)
    assert 0.02 < worst <= 1 / (2 * e)
