"""Every claim and every piece of evidence: what must be true of all of them, whatever they are about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checks import smt
from checks.audit import Audit, all_evidence, audit, instance_holds, surviving_mutants
from checks.certificates.writer import to_bytes
from checks.verify import verify
from theory.ledger import Claim, Evidence, Form, Means, NotApplicable, Proved, Purpose, Reference, Refuted, conclude
from theory.propositions import relation
from theory.registry import all_claims

CLAIMS = all_claims()
EVERY = all_evidence(CLAIMS)
BY_HAND = tuple(piece for piece in EVERY if not any(step.means is Means.FORMAL for step in piece.steps))
"""All evidence but the Coq kernel's, which is not installed everywhere."""
LEAST_SHARE_DECIDED = 0.85
"""The part of the published statements that must be decided by more than a prose argument, without Coq."""
FEWEST_MUTANTS = {Proved: 2, NotApplicable: 2, Refuted: 1}

LETTERS = {"PROVED": "P", "REFUTED": "R", "NOT_APPLICABLE": "N", "UNDECIDED": "U"}

# What the audit must say of every claim, established by hand; the reasons stand in docs/proofs/. Columns: published,
# argument, repaired, sharpened. P proved (an argument: sound), R refuted (wrong at a step), N a hypothesis is missing
# (of an argument: hidden), U undecided with a written reason, - not registered (an argument: none printed).
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
    "C1": "P R - P",
    "C1.1": "P N - -",
    "C1.2": "P N - -",
    "C1.3": "P R P P",
    "T2.1-10": "R N P -",
    "T2.1-gate": "R - P P",
    "T2.1-11": "P N P -",
    "T2.1-12": "P P - -",
    "T2.1-13": "P P - -",
    "T2.1-14": "P P - -",
    "T2.1-gibbs": "P P - P",
    "T2.1-leak": "R N P -",
    "T2.1-15": "R R P P",
    "T2.1-16": "R R P -",
    "T2.1-17": "R R P -",
    "T2.1-18": "R R P P",
    "T2.1-end": "P R P -",
    "T2.1-M": "P N - -",
    "T2.1": "P R P P",
    "T2.2": "P R P P",
    "L4": "P P - P",
    "L5": "P P - P",
    "L6": "P N - P",
    "L7": "P P - -",
    "T2.2-not": "R R P -",
    "T2.2-lam": "P - - -",
    "T2.2-max": "R R P -",
    "T2.2-rep": "P P - P",
    "T2.2-T0": "P P - P",
    "T2.2-grid": "P P - -",
    "T2.2-claim": "P R - P",
    "T2.2-count1": "P R P P",
    "T2.2-count2": "P R - -",
    "T2.2-count3": "R R P -",
    "T2.2-count4": "P N - P",
    "T2.2-W": "P - - -",
    "T2.2-gap": "R R P -",
    "T2.2-V": "R R P P",
    "T2.2-24": "P P - -",
    "T2.2-Q4": "R R P P",
    "T2.2-26": "P N P -",
    "T2.2-31": "P N P -",
    "T2.2-32": "P N P -",
    "T2.2-33": "P N P -",
    "T2.2-36": "P N P P",
    "T2.2-40": "P N P P",
    "T2.2-46": "R R P -",
    "T2.2-end": "P P - -",
    "R2": "P - - -",
    "R2.t": "P - - P",
    "T2.3-P": "P P - P",
    "L8": "P P - P",
    "L9": "P N P P",
    "T2.3-1": "P P - -",
    "T2.3-2": "P N - -",
    "T2.3-3": "P P - -",
    "T2.3-end": "R R P P",
    "T2.3": "P N - P",
    "T2.3-R": "R R P P",
    "CJ1": "R - P P",
    "E1": "R R P P",
    "E1b": "U - - P",
    "E1c": "R - P P",
    "E2": "P - - P",
    "E3": "P - - P",
    "E4": "P R - -",
    "E5": "P R - P",
    "E6": "R - P P",
    "E7": "R - P P",
    "N1": "P - - -",
    "N2": "P - - -",
    "N3": "P - - -",
    "N4": "P - - -",
    "N5": "P - - P",
    "N8": "P - - -",
    "N9": "R - P P",
    "N10": "P - - P",
    "N11": "P - - P",
    "N6": "P - - P",
    "N7": "P - - P",
    "N12": "P - - P",
    "N13": "P - - -",
}

# Claim, and what makes the sizes of its witness smaller (of T2.2-*: at T_0 = 1 the subsequences agree nowhere, Q3 = 0).
SMALLER = (
    ("T2.1-M", ["Z = 1"]),
    ("T2.2-26", ["T = 1", "Q3 = 0"]),
    ("T2.2-31", ["T = 1", "Q3 = 0"]),
    ("T2.2-31", ["T = 2", "n <= 2", "s = 1"]),
    ("T2.2-32", ["T = 1", "Q3 = 0"]),
    ("T2.2-33", ["T = 1", "Q3 = 0"]),
    ("T2.2-40", ["n = 1", "s = 1"]),
    ("T2.2-46", ["b = 0", "y = 0"]),
    ("T2.2-V", ["b = 0", "q = 0"]),
    ("L9", ["n <= 3"]),
    ("T2.3", ["g >= 1"]),
    ("T2.3-2", ["e = 1/2"]),
    ("T2.3-R", ["p + q <= 4"]),
)


@pytest.fixture(scope="module")
def outcome() -> Audit:
    return audit(CLAIMS, BY_HAND)


def of_the_paper(claim: Claim) -> bool:
    """N1, N2, ... are the project's own results."""
    return not (claim.id.startswith("N") and claim.id[1:].isdigit())


def test_the_table_lists_every_claim_once() -> None:
    """Catches a claim that is registered but not decided by hand, or the other way round."""
    assert list(EXPECTED) == [claim.id for claim in CLAIMS]


@pytest.mark.parametrize("name", EXPECTED)
def test_statuses_are_those_established_by_hand(name: str, outcome: Audit) -> None:
    """Catches an engine, a dependency or a statement whose change alters what the audit says about the paper."""
    found = [outcome.statuses.get(Reference(name, form)) for form in Form]
    row = " ".join("-" if status is None else LETTERS[status.verdict.label] for status in found)
    assert row == EXPECTED[name], [status.verdict.detail for status in found if status is not None]


@pytest.mark.parametrize("piece", EVERY, ids=lambda piece: f"{piece.about}-{piece.purpose}")
def test_no_mutant_survives(piece: Evidence) -> None:
    """Catches evidence that would also prove a wrong statement, or refute a true neighbour."""
    assert surviving_mutants(piece) == []


def test_every_decision_was_tried_on_mutants(outcome: Audit) -> None:
    """Catches a statement decided without two wrong variants (proofs) or one right neighbour (refutations)."""
    few = {}
    for piece, result in zip(BY_HAND, outcome.results, strict=True):
        verdict, means = conclude(result)
        count = sum(len(step.mutants) for step in piece.steps)
        if means is not Means.ARGUMENT and count < FEWEST_MUTANTS.get(type(verdict), 0):
            few[str(piece.about)] = (verdict.label, count)
    assert few == {}


def test_every_witness_is_a_certificate_that_the_checker_accepts(outcome: Audit) -> None:
    """Catches a refutation, or a hidden hypothesis, whose witness nobody else can check."""
    verdicts = {
        (str(result.about), step.name): step.verdict
        for result in outcome.results
        for step in result.steps
        if isinstance(step.verdict, Refuted | NotApplicable)
    }
    assert len(verdicts) > 40
    answers = {
        place: verify(to_bytes(verdict.witness)).label if verdict.witness else "nothing"
        for place, verdict in verdicts.items()
    }
    assert {place: label for place, label in answers.items() if label != "PROVED"} == {}


def test_every_refuting_step_refutes(outcome: Audit) -> None:
    """Catches a refutation that rests on another one while its own witness is no longer confirmed."""
    idle = [
        (str(result.about), step.name)
        for result in outcome.results
        if result.purpose is Purpose.REFUTES
        for step in result.steps
        if not isinstance(step.verdict, Refuted)
    ]
    assert idle == []


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_instances_satisfy_their_hypotheses(claim: Claim) -> None:
    """Catches a proposition about the empty set."""
    for form in claim.forms:
        statement = claim.statement(form)
        assert statement is not None
        assert instance_holds(statement).label == "PROVED"


def test_every_claim_of_the_paper_has_an_argument_or_says_why_not() -> None:
    """Catches a printed argument that was not looked at; of results there is none to look at."""
    without = [claim.id for claim in CLAIMS if of_the_paper(claim) and not (claim.argument or claim.no_argument)]
    assert without == []
    assert [claim.id for claim in CLAIMS if not of_the_paper(claim) and (claim.argument or claim.no_argument)] == []


def test_a_severity_stands_exactly_where_something_falls(outcome: Audit) -> None:
    """Catches a fallen statement or argument of which the report cannot say how much it matters, and idle alarms."""
    fallen = {
        reference.claim
        for reference, status in outcome.statuses.items()
        if reference.form in (Form.PUBLISHED, Form.ARGUMENT) and isinstance(status.verdict, Refuted | NotApplicable)
    }
    rated = {claim.id for claim in CLAIMS if claim.severity is not None}
    assert (sorted(fallen - rated), sorted(rated - fallen)) == ([], [])


def test_hidden_hypotheses_are_computed(outcome: Audit) -> None:
    """Catches a hidden hypothesis that is a reader's judgement only."""
    judged = [
        str(reference)
        for reference, status in outcome.statuses.items()
        if isinstance(status.verdict, NotApplicable) and status.means is Means.ARGUMENT
    ]
    assert judged == []


def test_most_statements_are_decided_by_more_than_prose_without_coq(outcome: Audit) -> None:
    """Catches evidence that quietly fell back to arguments, or to the kernel alone."""
    statuses = [outcome.statuses[Reference(claim.id)] for claim in CLAIMS]
    weak = [str(s.about) for s in statuses if s.means is None or s.means <= Means.ARGUMENT]
    assert len(weak) <= (1 - LEAST_SHARE_DECIDED) * len(statuses), weak


@pytest.mark.parametrize(("name", "sizes"), SMALLER)
def test_below_the_sizes_of_its_witness_the_printed_step_holds(name: str, sizes: list[str]) -> None:
    """Catches a witness that is not smallest (docs/witnesses.md): at any smaller size the very proposition is true."""
    argument = next(claim.argument for claim in CLAIMS if claim.id == name)
    assert argument is not None
    assert argument.proposition is not None
    stated = argument.proposition
    restricted = replace(stated, hypotheses=(*stated.hypotheses, *map(relation, sizes)))
    assert smt.prove(restricted).label == "PROVED"
