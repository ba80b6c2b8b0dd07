"""Section 2 (uniqueness of D) with N11: the computed statuses against a table established by hand, and mutants."""

from __future__ import annotations

import pytest

from checks.audit import Audit, audit, surviving_mutants
from checks.certificates.writer import to_bytes
from checks.evidence import (
    enough_heads,
    readout,
    results,
    retrieval_bounds,
    target_constraints,
    uniqueness,
)
from checks.verify import verify
from theory.ledger import Evidence, Form, NotApplicable, Reference, Refuted
from theory.registry import all_claims
from theory.uniqueness import exponent, size_condition

CLAIMS = all_claims()
BY_ID = {claim.id: claim for claim in CLAIMS}
SECTION = uniqueness.evidence(BY_ID)
BELOW = tuple(
    piece
    for module in (enough_heads, retrieval_bounds, results, readout, target_constraints)
    for piece in module.evidence(BY_ID)
)

# published, argument, repaired, sharpened: P proved, R refuted, N hidden hypothesis, - not registered. The reasons
# stand in docs/proofs/uniqueness.md.
EXPECTED = {"C1": "P R - P", "C1.1": "P N - -", "C1.2": "P N - -", "C1.3": "P R P P", "N11": "P - - P"}
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
    """Catches a claim of section 2 that is registered but not decided by hand."""
    assert {claim.id for claim in CLAIMS if claim.id.split(".")[0] == "C1"} == set(EXPECTED) - {"N11"}


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


def test_no_smaller_sizes_break_the_printed_argument() -> None:
    """Catches a witness of C1 or C1.3 that is not smallest: D_1 = 1, D_2 = 2, T = 250, d = 15 (C1) or 3 (C1.3)."""
    pairs = [(first, second) for second in range(2, 40) for first in range(1, second)]
    least = {pair: 50 * (pair[0] ** 2 + pair[1] ** 2) for pair in pairs}  # the least T, and k grows with T
    assert all(
        size_condition(*pair, length) and not size_condition(*pair, length - 1) for pair, length in least.items()
    )
    assert min(least.values()) == least[1, 2] == 250
    assert all(exponent(*pair, length) > max(14, *pair) for pair, length in least.items())
    assert 14 < exponent(1, 2, 250) < 15
