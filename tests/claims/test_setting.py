"""Section 0 (definitions and assumptions): the computed statuses against a table established by hand, and mutants."""

from __future__ import annotations

from fractions import Fraction

import pytest

from checks.audit import Audit, audit, surviving_mutants
from checks.balls import BALLS, precision, surely_below
from checks.certificates.writer import to_bytes
from checks.evidence import readout, results, setting, target_constraints
from checks.verify import verify
from theory.ledger import Evidence, Form, NotApplicable, Reference, Refuted
from theory.registry import all_claims

CLAIMS = all_claims()
BY_ID = {claim.id: claim for claim in CLAIMS}
SECTION = (*setting.evidence(BY_ID), *target_constraints.evidence(BY_ID))
BELOW = (*results.evidence(BY_ID), *readout.evidence(BY_ID))

# published, argument, repaired, sharpened: P proved, R refuted, N hidden hypothesis, - not registered. "argument" is
# "the paper's own examples, experiments and networks meet it"; the reasons stand in docs/proofs/setting.md.
EXPECTED = {
    "DEF-X": "P R P -",
    "DEF-P": "P - - -",
    "DEF-H": "P - - P",
    "DEF-EPS": "P - - -",
    "DEF-TOY": "P R P -",
    "DEF-D": "P - - -",
    "A1": "P R P -",
    "A1.1": "P - - -",
    "A1.2": "P R P -",
    "A1.3": "P - - -",
    "A2": "P R P -",
    "A2.1": "P - - -",
    "A2.2": "P N P -",
    "A2.3": "P R P -",
    "A2.4": "P - - -",
    "A3": "P P - P",
    "A3.1": "P - - -",
    "A3.2": "P - - -",
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


def test_gelu_is_steeper_than_one_and_not_steeper_than_printed_here() -> None:
    """Catches a wrong Lipschitz constant in A1.2 (repaired): difference quotients around the steepest point, sqrt 2."""
    with precision(128):
        low, high = BALLS.constant(Fraction(14141, 10**4)), BALLS.constant(Fraction(14143, 10**4))
        rise = BALLS.gelu(high) - BALLS.gelu(low)
        run = high - low
        assert surely_below(run * BALLS.constant(Fraction(112, 100)), rise)
        assert surely_below(rise, run * BALLS.constant(Fraction(113, 100)))
