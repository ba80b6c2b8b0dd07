"""The ledger: statuses are computed from evidence and dependencies, and nothing weak or circular counts as a proof."""

from __future__ import annotations

import pytest

from theory.errors import InvalidInput
from theory.ledger import (
    Claim,
    Form,
    LedgerConflict,
    Means,
    NotApplicable,
    Proved,
    Purpose,
    Reference,
    Refuted,
    Result,
    Statement,
    Status,
    StepResult,
    Undecided,
    Verdict,
    conclude,
    statuses,
)

WITNESS = Refuted("fails", {"values": {"x": "1"}})


def claim(name: str, *depends_on: str, same_as: str | None = None, **forms: Statement) -> Claim:
    below = tuple(Reference(other) for other in depends_on)
    twin = Reference(same_as) if same_as else None
    return Claim(name, name, "test", Statement(name, "", depends_on=below, same_as=twin), **forms)


def result(name: str, *steps: tuple[Means, Verdict], purpose: Purpose = Purpose.PROVES, form: Form = Form.PUBLISHED):
    made = tuple(StepResult(f"step {k}", means, verdict, 0.0) for k, (means, verdict) in enumerate(steps))
    return Result(Reference(name, form), purpose, made)


def status(claims: list[Claim], results: list[Result], name: str, form: Form = Form.PUBLISHED) -> Status:
    return statuses(claims, results)[Reference(name, form)]


@pytest.mark.parametrize("verdict", [Proved(), Refuted("no"), Undecided("why", "how"), NotApplicable(("A2.2",))])
def test_a_verdict_has_no_truth_value(verdict: Verdict) -> None:
    """Catches ``if verdict:``, which would take UNDECIDED for true."""
    with pytest.raises(TypeError, match="no truth value"):
        bool(verdict)


def test_a_proof_shows_its_weakest_step() -> None:
    """Catches a proof labelled by its strongest step."""
    found = status([claim("A")], [result("A", (Means.FORMAL, Proved()), (Means.BALL, Proved()))], "A")
    assert (found.verdict.label, found.means) == ("PROVED", Means.BALL)


def test_of_two_proofs_the_stronger_shows() -> None:
    """Catches a machine-checked proof that is hidden by a prose proof beside it."""
    pieces = [result("A", (Means.ARGUMENT, Proved())), result("A", (Means.FORMAL, Proved()))]
    assert status([claim("A")], pieces, "A").means is Means.FORMAL


@pytest.mark.parametrize("means", [Means.SAMPLED, Means.TRAINED])
def test_samples_never_prove(means: Means) -> None:
    """Catches a claim proved from samples or from a trained network."""
    found = status([claim("A")], [result("A", (Means.EXACT, Proved()), (means, Proved()))], "A")
    assert found.verdict.label == "UNDECIDED"
    assert means.name.lower() in found.verdict.detail


def test_samples_can_refute() -> None:
    """Catches a witness that is ignored because it was found by sampling."""
    piece = result("A", (Means.SAMPLED, WITNESS), purpose=Purpose.REFUTES)
    assert status([claim("A")], [piece], "A").verdict.label == "REFUTED"


@pytest.mark.parametrize("verdict", [Undecided("gap", "mend"), Refuted("no witness"), WITNESS])
def test_one_step_that_is_not_proved_spoils_the_proof(verdict: Verdict) -> None:
    """Catches a proof with a hole; a refuted step of a proof refutes the proof, not the statement."""
    piece = result("A", (Means.SMT, Proved()), (Means.SMT, verdict))
    assert status([claim("A")], [piece], "A").verdict.label == "UNDECIDED"


def test_a_refuted_step_refutes_the_printed_argument() -> None:
    """Catches a wrong printed argument that is shown as a mere gap."""
    claims = [claim("A", argument=Statement("argument", ""))]
    piece = result("A", (Means.SMT, Proved()), (Means.EXACT, WITNESS), form=Form.ARGUMENT)
    assert status(claims, [piece], "A", Form.ARGUMENT).verdict.label == "REFUTED"


def test_a_refutation_needs_a_witness() -> None:
    """Catches REFUTED without anything that a reader could check."""
    piece = result("A", (Means.EXACT, Refuted("trust me")), purpose=Purpose.REFUTES)
    assert status([claim("A")], [piece], "A").verdict.label == "UNDECIDED"


def test_a_failed_refutation_proves_nothing() -> None:
    """Catches "not refuted" being read as proved."""
    piece = result("A", (Means.SMT, Proved()), purpose=Purpose.REFUTES)
    assert status([claim("A")], [piece], "A").verdict.label == "UNDECIDED"


def test_proved_and_refuted_is_a_conflict() -> None:
    """Catches an unsound engine: nothing may be concluded from a contradiction."""
    pieces = [result("A", (Means.SMT, Proved())), result("A", (Means.EXACT, WITNESS), purpose=Purpose.REFUTES)]
    with pytest.raises(LedgerConflict, match="both proved and refuted"):
        statuses([claim("A")], pieces)


def test_a_certificate_is_shown_before_a_theorem() -> None:
    """Catches a refutation whose exact witness is hidden by a machine-checked theorem registered before it."""
    theorem = result("A", (Means.FORMAL, Refuted("Coq", {"theorems": ["t"]})), purpose=Purpose.REFUTES)
    pieces = [theorem, result("A", (Means.EXACT, WITNESS), purpose=Purpose.REFUTES)]
    assert status([claim("A")], pieces, "A").verdict == WITNESS
    assert status([claim("A")], pieces[:1], "A").verdict.label == "REFUTED"


def test_a_formal_proof_rests_on_nothing_else() -> None:
    """Catches a machine-checked theorem that is shown as weak as a prose proof of a lemma which it does not use."""
    claims = [claim("A", "B"), claim("B")]
    lemma, theorem = result("B", (Means.ARGUMENT, Proved())), result("A", (Means.FORMAL, Proved()))
    assert status(claims, [lemma, theorem], "A").means is Means.FORMAL
    assert status(claims, [theorem], "A").verdict.label == "PROVED"
    mixed = result("A", (Means.FORMAL, Proved()), (Means.SMT, Proved()))
    assert status(claims, [mixed], "A").verdict.label == "UNDECIDED"


@pytest.mark.parametrize("verdict", [Undecided("formal: not checked here", "make formal"), Refuted("no witness")])
def test_a_failed_extra_proof_spoils_nothing(verdict: Verdict) -> None:
    """Catches a good proof that is hidden where Coq is not installed."""
    pieces = [result("A", (Means.FORMAL, verdict)), result("A", (Means.SMT, Proved()))]
    found = status([claim("A")], pieces, "A")
    assert (found.verdict.label, found.means) == ("PROVED", Means.SMT)


@pytest.mark.parametrize("steps", [(), None])
def test_no_evidence_is_undecided(steps: tuple[()] | None) -> None:
    """Catches an empty proof, or a claim without any, that counts as proved."""
    pieces = [] if steps is None else [result("A", *steps)]
    assert status([claim("A")], pieces, "A").verdict.label == "UNDECIDED"


def test_dependencies_are_transitive() -> None:
    """Catches a proof that stands although two floors below something is undecided, and its means likewise."""
    claims = [claim("A", "B"), claim("B", "C"), claim("C")]
    above = [result(name, (Means.SMT, Proved())) for name in "AB"]
    assert "rests on B" in status(claims, above, "A").verdict.detail
    found = status(claims, [*above, result("C", (Means.ARGUMENT, Proved()))], "A")
    assert (found.verdict.label, found.means) == ("PROVED", Means.ARGUMENT)


def test_what_rests_on_a_refuted_statement_is_undecided() -> None:
    """Catches a corollary of something false that is shown as proved - or as refuted, which does not follow."""
    claims = [claim("A", "B"), claim("B")]
    pieces = [
        result("A", (Means.SMT, Proved())),
        result("B", (Means.EXACT, WITNESS), purpose=Purpose.REFUTES),
    ]
    assert status(claims, pieces, "A").verdict.label == "UNDECIDED"


@pytest.mark.parametrize("claims", [[claim("A", "A")], [claim("A", "B"), claim("B", "C"), claim("C", "A")]])
def test_a_cycle_is_refused(claims: list[Claim]) -> None:
    """Catches claims that prove each other."""
    with pytest.raises(InvalidInput, match="no cycle"):
        statuses(claims, [])


def test_a_cycle_through_the_same_statement_is_refused() -> None:
    """Catches two statements that each say "the same as the other"."""
    with pytest.raises(InvalidInput, match="no cycle"):
        statuses([claim("A", same_as="B"), claim("B", same_as="A")], [])


def test_the_same_statement_has_the_same_status() -> None:
    """Catches a repeated statement whose status is not that of the original."""
    found = status([claim("A", same_as="B"), claim("B")], [result("B", (Means.FORMAL, Proved()))], "A")
    assert (found.verdict.label, found.means, str(found.about)) == ("PROVED", Means.FORMAL, "A")


def test_a_hidden_hypothesis_shows_unless_there_is_a_proof() -> None:
    """Catches a conditional proof shown as unconditional, and one that hides an unconditional proof."""
    conditional = result("A", (Means.EXACT, NotApplicable(("eps <= 1",))))
    assert status([claim("A")], [conditional], "A").verdict.label == "NOT_APPLICABLE"
    assert status([claim("A")], [conditional, result("A", (Means.SMT, Proved()))], "A").verdict.label == "PROVED"


@pytest.mark.parametrize(
    ("claims", "pieces", "message"),
    [
        ([claim("A")], [result("B", (Means.SMT, Proved()))], "evidence='B'"),
        ([claim("A")], [result("A", (Means.SMT, Proved()), form=Form.REPAIRED)], "repaired"),
        ([claim("A", "B")], [], "dependency='B'"),
    ],
)
def test_unknown_statements_are_refused(claims: list[Claim], pieces: list[Result], message: str) -> None:
    """Catches evidence or a dependency that points nowhere, for example after a claim was renamed."""
    with pytest.raises(InvalidInput, match=message):
        statuses(claims, pieces)


def test_conclusion_of_an_empty_result() -> None:
    """Catches all() over no steps."""
    assert conclude(result("A"))[0].label == "UNDECIDED"
