"""What the Coq kernel has checked: each bound theorem that is a whole statement of the ledger, or its negation.

A theorem that covers a step of a proof only is shown in docs/formal.md and proves nothing here. Without Coq, or while
the proofs are not compiled, every step says so and the other evidence stands as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from checks.formal import bindings, kernel
from checks.formal.bindings import Binding, Covers
from theory.ledger import (
    Claim,
    Evidence,
    Means,
    Mutant,
    Proved,
    Purpose,
    Reference,
    Refuted,
    Statement,
    Step,
    Undecided,
    Verdict,
)


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """One proof, or one refutation, for every group of bindings that covers a statement of these claims."""
    try:
        project = kernel.folder()
    except kernel.NotChecked:
        return ()
    every = bindings.read(project / "bindings.json")
    state = kernel.state(project)
    found = []
    for group in bindings.groups(every):
        claim = claims.get(group[0].claim)
        statement = claim.statement(group[0].form) if claim is not None else None
        if statement is not None:
            found.append(_piece(project, every, group, statement, state))
    return tuple(found)


def _piece(
    project: Path, every: Sequence[Binding], group: Sequence[Binding], statement: Statement, state: str
) -> Evidence:
    expected = bindings.expectations(every)

    def ask() -> Verdict:
        try:
            answers = kernel.answers(project, expected, [entry.name for entry in group])
        except kernel.NotChecked as missing:
            return Undecided(missing.reason, missing.remedy)
        return judge(group, statement, answers)

    first = group[0].name
    unfinished: dict[str, kernel.Answer] = {entry.name: frozenset[str]() for entry in group}
    wrong = {
        "a proof left unfinished": {**unfinished, first: frozenset({first})},
        "a theorem that is gone": {**unfinished, first: None},
    }
    mutants = tuple(Mutant(label, partial(judge, group, statement, answers)) for label, answers in wrong.items())
    name = "Coq: " + ", ".join(entry.name.removeprefix(kernel.PREFIX) for entry in group)
    inputs = f"{state} {group!r}"
    purpose = Purpose.REFUTES if group[0].covers is Covers.REFUTATION else Purpose.PROVES
    step = Step(name, Means.FORMAL, ask, mutants, inputs)
    return Evidence(Reference(group[0].claim, group[0].form), purpose, (step,))


def judge(group: Sequence[Binding], statement: Statement, answers: Mapping[str, kernel.Answer]) -> Verdict:
    """What the kernel's answers about all theorems of a group say about the statement that they were compared with."""
    if [entry for entry in group if entry.ledger != bindings.statement_digest(statement)]:
        return Undecided(
            f"The ledger's statement of {group[0].claim} ({group[0].form}) is not the one that was compared.",
            f"compare again, then python -m checks.formal compare {group[0].claim}",
        )
    resting: set[str] = set()
    for entry in group:
        answer = answers[entry.name]
        if answer is None:
            return Undecided(f"The kernel does not know {entry.name}.", "prove it, or correct formal/bindings.json")
        if foreign := sorted(answer - kernel.ALLOWED):
            return Undecided(f"{entry.name} rests on {', '.join(foreign)}.", "prove it")
        resting |= answer
    axioms = ", ".join(sorted(resting)) or "no axioms"
    detail = f"accepted by the kernel; rests on {axioms}"
    if group[0].covers is Covers.REFUTATION:
        names = [entry.name for entry in group]
        return Refuted(f"{group[0].statement}; {detail}", {"theorems": names, "axioms": sorted(resting)})
    return Proved(detail)
