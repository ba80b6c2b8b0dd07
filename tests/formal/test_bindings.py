"""Bindings of Coq theorems to statements of the ledger: they name what exists, and stand only for what was compared."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from checks.audit import audit, surviving_mutants
from checks.evidence import formal
from checks.formal import bindings, comparison, kernel
from checks.formal.bindings import Binding, Covers, Relation, statement_digest
from theory.errors import InvalidInput
from theory.ledger import Claim, Form, Means, Purpose, Reference, Statement
from theory.registry import all_claims

PROJECT = Path(__file__).parent.parent.parent / "formal"
ENTRIES = bindings.read(PROJECT / "bindings.json")
CLAIMS = {claim.id: claim for claim in all_claims()}
NAMES = [f"{entry.claim} ({entry.form}) {entry.name}" for entry in ENTRIES]
AXIOM = frozenset({"sig_forall_dec"})


def statement(entry: Binding) -> Statement:
    found = CLAIMS[entry.claim].statement(entry.form)
    assert found is not None, f"{entry.claim} has no {entry.form} statement"
    return found


def ask(names: list[str]) -> dict[str, kernel.Answer]:
    """The kernel's answers, or a skip that says why there are none here."""
    try:
        return kernel.answers(PROJECT, bindings.expectations(ENTRIES), names)
    except kernel.NotChecked as missing:
        pytest.skip(str(missing))


def valid() -> dict[str, object]:
    return json.loads(bindings.to_json(ENTRIES[:1]))[0]


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_the_statement_is_the_one_that_was_compared(entry: Binding) -> None:
    """Catches a constant, a word or a hypothesis of the ledger that changed after somebody compared it."""
    assert statement_digest(statement(entry)) == entry.ledger, "compare, then python -m checks.formal compare CLAIM"


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_the_statement_is_registered_here(entry: Binding) -> None:
    """Catches a theorem bound to a statement that takes its status from elsewhere, where it would never be seen."""
    assert statement(entry).same_as is None


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_the_theorem_stands_in_its_file(entry: Binding) -> None:
    """Catches a bound name that disappeared, without Coq."""
    text = kernel.without_comments((PROJECT.parent / entry.file).read_text())
    name = re.escape(entry.name.rsplit(".", 1)[1])
    assert re.search(rf"\b(Theorem|Lemma|Corollary|Proposition|Fact|Remark)\s+{name}\b", text)
    assert PROJECT.parent / entry.file in kernel.sources(PROJECT)


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_cover_and_relation_agree(entry: Binding) -> None:
    """Catches a weaker theorem that is passed off as the statement, and a refutation that refutes nothing."""
    fitting = {Covers.STATEMENT: {Relation.EQUAL, Relation.STRONGER}, Covers.REFUTATION: {Relation.CONTRARY}}
    assert entry.relation in fitting.get(entry.covers, set(Relation))
    assert entry.axioms <= kernel.ALLOWED


def test_nothing_is_left_unfinished() -> None:
    """Catches Admitted, admit, an axiom, a switched-off check, or a nested module that would hide an axiom's name."""
    assert len(kernel.sources(PROJECT)) > 25
    assert kernel.forbidden(PROJECT) == []


def test_the_kernel_accepts_every_theorem() -> None:
    """Catches a theorem that rests on more than what its binding lists, or that the compiled files do not contain."""
    expected = bindings.expectations(ENTRIES)
    found = ask(list(expected))
    wrong = {name: answer for name, answer in found.items() if answer is None or not answer <= expected[name]}
    assert not wrong


def test_the_table_is_up_to_date() -> None:
    """Catches a comparison in the documentation that is not the one in the bindings."""
    page = (PROJECT.parent / "docs/formal.md").read_text()
    assert comparison.placed(page, ENTRIES) == page, "python -m checks.formal table"


def test_statements_are_kept_in_full() -> None:
    """Catches a theorem whose statement changed, or a bound one that is missing, in formal/statements.txt."""
    names = sorted({entry.name for entry in ENTRIES})
    ask(names)
    found = "".join(f"{name}\n    {text}\n\n" for name, text in kernel.statements(PROJECT, names).items())
    assert found == (PROJECT / "statements.txt").read_text(), "make -C formal statements > formal/statements.txt"


def test_a_changed_constant_withdraws_the_evidence() -> None:
    """Catches evidence that survives a change of the ledger's statement: N1 with another constant."""
    claim = CLAIMS["N1"]
    changed = replace(claim, published=replace(claim.published, words=claim.published.words.replace("1 + W", "2 + W")))
    assert changed != claim
    pieces = formal.evidence({"N1": changed})
    assert len(pieces) == 1
    ask([entry.name for entry in ENTRIES if entry.claim == "N1"])
    outcome = audit([changed], pieces)
    status = outcome.statuses[Reference("N1")]
    assert status.verdict.label == "UNDECIDED"
    assert "is not the one that was compared" in status.verdict.detail


def test_formal_evidence_reaches_the_ledger() -> None:
    """Catches an engine that accepts nothing: whole statements are proved by the kernel alone, with their axioms."""
    ask(list(bindings.expectations(ENTRIES)))
    claims = [CLAIMS[name] for name in ("N1", "N5", "N4", "T2.2")]
    alone = [replace(claim, argument=None, repaired=None, sharpened=None) for claim in claims]
    outcome = audit(alone, [p for p in formal.evidence(CLAIMS) if p.about in {Reference(c.id) for c in claims}])
    for claim in claims:
        status = outcome.statuses[Reference(claim.id)]
        assert (status.verdict.label, status.means) == ("PROVED", Means.FORMAL)
    details = [step.verdict.detail for result in outcome.results for step in result.steps]
    assert all("rests on" in detail for detail in details)


@pytest.mark.parametrize("piece", formal.evidence(CLAIMS), ids=lambda piece: str(piece.about))
def test_mutants_do_not_pass(piece) -> None:
    """Catches an engine that accepts an unfinished proof or a name that is gone."""
    assert [len(step.mutants) for step in piece.steps] == [2]
    assert surviving_mutants(piece) == []


GROUP = (
    Binding("X1", Form.PUBLISHED, "Headcount.A.b", "formal/A.v", Covers.STATEMENT, Relation.EQUAL, "", "", AXIOM, ""),
)
STATED = Statement("x is small", "x<1")


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        (frozenset(), "PROVED"),
        (AXIOM, "PROVED"),
        (AXIOM | {"Headcount.A.b"}, "UNDECIDED"),
        (frozenset({"Coq.Logic.Other.axiom"}), "UNDECIDED"),
        (None, "UNDECIDED"),
    ],
)
def test_only_allowed_axioms_are_accepted(answer: kernel.Answer, label: str) -> None:
    """Catches an allow-list that lets an admitted theorem or an unknown axiom pass."""
    group = tuple(replace(entry, ledger=statement_digest(STATED)) for entry in GROUP)
    assert formal.judge(group, STATED, {"Headcount.A.b": answer}).label == label


def test_a_refutation_names_its_theorem() -> None:
    """Catches a refutation without a witness, which the ledger would not count."""
    refuting = [replace(GROUP[0], covers=Covers.REFUTATION, ledger=statement_digest(STATED))]
    verdict = formal.judge(refuting, STATED, {"Headcount.A.b": AXIOM})
    assert verdict.label == "REFUTED"
    assert verdict.witness["theorems"] == ["Headcount.A.b"]


def test_without_coq_the_other_evidence_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches formal evidence that spoils a good proof where Coq is not installed, or that passes for checked."""

    def absent() -> str:
        raise kernel.NotChecked("coqc is not installed.", kernel.COQ)

    monkeypatch.setattr(kernel, "version", absent)
    claim = Claim("L4", "t", "s", CLAIMS["L4"].published)
    from checks.audit import all_evidence

    outcome = audit([claim], [p for p in all_evidence(CLAIMS.values()) if p.about == Reference("L4")])
    assert outcome.statuses[Reference("L4")].verdict.label == "PROVED"
    assert outcome.statuses[Reference("L4")].means is not Means.FORMAL
    reasons = [step.verdict.detail for r in outcome.results for step in r.steps if step.means is Means.FORMAL]
    assert reasons
    assert all(reason.startswith("formal: coqc is not installed.") for reason in reasons)


def test_an_installation_without_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Catches an audit that stops in an installed package."""
    monkeypatch.setattr(kernel.checks, "__path__", [str(tmp_path / "checks")])
    with pytest.raises(kernel.NotChecked, match="no formal/ folder"):
        kernel.folder()
    assert formal.evidence(CLAIMS) == ()


def test_purposes_follow_the_covers() -> None:
    """Catches a step that proves, and a refutation offered as a proof."""
    steps = {(entry.claim, entry.form) for entry in ENTRIES if entry.covers is not Covers.STEP}
    for piece in formal.evidence(CLAIMS):
        assert (piece.about.claim, piece.about.form) in steps
        covers = {
            e.covers for e in ENTRIES if Reference(e.claim, e.form) == piece.about and e.covers is not Covers.STEP
        }
        assert covers == {Covers.REFUTATION if piece.purpose is Purpose.REFUTES else Covers.STATEMENT}


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Headcount.A.b. Axiom x : False"},
        {"name": "Coq.Init.Logic.I"},
        {"name": "Headcount.A.B.c"},
        {"file": "../../etc/passwd"},
        {"form": "proved"},
        {"covers": "everything"},
        {"relation": "better"},
        {"claim": "N1; N2"},
        {"ledger": "not a digest"},
        {"together": "A B"},
        {"axioms": "classic"},
        {"axioms": [1]},
        {"statement": "x" * 2000},
        {"statement": None},
        {"extra": "key"},
    ],
)
def test_hostile_entries_are_refused(change: dict[str, object]) -> None:
    """Catches text from the file that would reach coqc, the file system or the ledger unchecked."""
    assert bindings.parse(json.dumps([valid()]))
    with pytest.raises(InvalidInput):
        bindings.parse(json.dumps([{**valid(), **change}]))


@pytest.mark.parametrize("text", ["{}", "[", "[1]", '[{"claim": "N1", "claim": "N2"}]', "[" * 100_000, "[{}]"])
def test_hostile_files_are_refused(text: str) -> None:
    """Catches a crash, or an acceptance, of a file that is not a list of bindings."""
    with pytest.raises(InvalidInput):
        bindings.parse(text)


def test_repeated_bindings_are_refused() -> None:
    """Catches one theorem counted twice."""
    with pytest.raises(InvalidInput, match="one entry"):
        bindings.parse(json.dumps([valid(), valid()]))


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    """Catches a file that would be read whatever its size."""
    path = tmp_path / "bindings.json"
    path.write_text(" " * (bindings.MAX_BYTES + 1))
    with pytest.raises(InvalidInput, match="bytes"):
        bindings.read(path)
