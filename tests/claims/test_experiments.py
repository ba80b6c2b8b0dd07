"""Section 7: computed statuses against a table established by hand, mutants, and the figures that claims quote."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from math import exp, log

import pytest

from checks.audit import Audit, audit, instance_holds, surviving_mutants
from checks.certificates.writer import to_bytes
from checks.evidence import experiments, experiments_data
from checks.verify import verify
from theory.ledger import Evidence, Form, Purpose, Reference, Undecided
from theory.registry import all_claims
from theory.tables import published, reversal_score

CLAIMS = all_claims()
BY_ID = {claim.id: claim for claim in CLAIMS}
SECTION = (*experiments.evidence(BY_ID), *experiments_data.evidence(BY_ID))

# published, argument, repaired, sharpened: P proved, R refuted, U undecided (with a reason), - not registered.
EXPECTED = {
    "E1": "R R P P",
    "E1b": "U - - P",
    "E1c": "R - P P",
    "E2": "P - - P",
    "E3": "P - - P",
    "E4": "P R - -",
    "E5": "P U - P",
    "E6": "R - P P",
    "E7": "R - P P",
}
LETTERS = {"PROVED": "P", "REFUTED": "R", "NOT_APPLICABLE": "N", "UNDECIDED": "U"}
QUOTED = {
    "E1": {"a": ("table2", 3, 8), "b": ("table2", 3, 16)},
    "E1c": {"a": ("table2", 5, 64), "b": ("table2", 5, 128)},
    "E7": {"a": ("table2", 3, 8), "b": ("table2", 3, 16), "c": ("table2", 3, 128)},
}


@pytest.fixture(scope="module")
def outcome() -> Audit:
    return audit(CLAIMS, SECTION)


@pytest.mark.parametrize("name", EXPECTED)
def test_statuses_are_those_established_by_hand(name: str, outcome: Audit) -> None:
    """Catches a changed figure, reading or engine that alters what the audit says about the experiments."""
    found = [outcome.statuses.get(Reference(name, form)) for form in Form]
    assert " ".join("-" if status is None else LETTERS[status.verdict.label] for status in found) == EXPECTED[name]


def test_what_is_undecided_says_what_was_tried(outcome: Audit) -> None:
    """Catches an undecided claim without a reason and a remedy."""
    for name, form in (("E1b", Form.PUBLISHED), ("E5", Form.ARGUMENT)):
        verdict = outcome.statuses[Reference(name, form)].verdict
        assert isinstance(verdict, Undecided)
        assert "printed" in verdict.reason


@pytest.mark.parametrize("piece", SECTION, ids=lambda piece: f"{piece.about}-{piece.purpose}")
def test_no_mutant_survives(piece: Evidence, outcome: Audit) -> None:
    """Catches a reading of the figures that would also accept a wrong one, and decisions without mutants."""
    assert surviving_mutants(piece) == []
    count = sum(len(step.mutants) for step in piece.steps)
    assert count >= {"PROVED": 2, "REFUTED": 1}.get(outcome.statuses[piece.about].verdict.label, 0)


def test_every_refutation_has_a_certificate_that_the_checker_accepts(outcome: Audit) -> None:
    """Catches a refutation whose witness nobody else can check."""
    witnesses = [
        step.verdict.witness for result in outcome.results if result.purpose is Purpose.REFUTES for step in result.steps
    ]
    assert len(witnesses) == 6
    assert {verify(to_bytes(witness)).label for witness in witnesses} == {"PROVED"}


@pytest.mark.parametrize("name", EXPECTED)
def test_instances_satisfy_their_hypotheses(name: str) -> None:
    """Catches a proposition about the empty set."""
    for form in BY_ID[name].forms:
        assert instance_holds(BY_ID[name].statement(form)).label == "PROVED"


@pytest.mark.parametrize("name", QUOTED)
def test_quoted_figures_are_the_printed_ones(name: str) -> None:
    """Catches a figure mistyped in a claim: the refutations rest on single entries of the tables."""
    for variable, (table_name, heads, seq_len) in QUOTED[name].items():
        table = published(table_name)
        entry = table.value[table.heads.index(heads)][table.seq_lens.index(seq_len)]
        assert BY_ID[name].published.instance[variable] == entry


def test_the_score_of_the_proposition_is_the_whole_score() -> None:
    """Catches a pair of lengths that E7's proposition forgets: R(3) in Table 2 is 5.4/94 by the full double sum."""
    values = BY_ID["E7"].published.instance
    assert reversal_score(published("table2").errors_at(3)) == (values["a"] - values["b"]) / (values["c"] - values["b"])


def test_sign_of_the_score_does_not_depend_on_the_scale() -> None:
    """Catches a convention (logarithms, other weights, only neighbours) under which E7 would hold for Table 2."""
    for name in ("table2", "table3", "table4", "table5", "table8"):
        table = published(name)
        for heads in table.heads:
            errors = table.errors_at(heads)
            score = reversal_score(errors)
            logs = [Fraction(log(error)) for error in errors]
            neighbours = sum(max(a - b, 0) for a, b in pairwise(errors))
            assert (score > 0) == (reversal_score(logs) > 0) == (neighbours > 0)


def test_mean_and_deviation_of_few_seeds_obey_the_bound() -> None:
    """Catches a wrong bound in E1 (sharpened): random seeds, one of them dominant, come close to k but not above."""
    generator = random.Random(1)
    largest = 0.0
    for _ in range(2000):
        seeds = generator.randint(2, 12)
        values = [exp(-generator.uniform(0, 40)) for _ in range(seeds)]
        mean = sum(values) / seeds
        variance = sum((value - mean) ** 2 for value in values) / (seeds - 1)
        largest = max(largest, variance / mean**2 / seeds)
    assert 0.95 < largest <= 1 + 1e-12
