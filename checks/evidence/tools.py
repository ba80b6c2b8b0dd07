"""Short ways to write steps of evidence: a proposition, the engine that decides it, and its mutants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from checks import smt, symbolic
from theory.ledger import Evidence, Form, Means, Mutant, NotApplicable, Proved, Purpose, Reference, Step, Verdict
from theory.ledger import Undecided as UndecidedVerdict
from theory.propositions import Proposition, proposition

T = TypeVar("T")
MAX_CASES = 50_000_000


def proves(claim: str, form: Form, *steps: Step) -> Evidence:
    """All steps together prove the statement."""
    return Evidence(Reference(claim, form), Purpose.PROVES, steps)


def refutes(claim: str, form: Form, step: Step) -> Evidence:
    """The step's witness refutes the statement."""
    return Evidence(Reference(claim, form), Purpose.REFUTES, (step,))


def smt_step(name: str, hypotheses: Sequence[str], conclusion: str, wrong: Mapping[str, str] | None = None) -> Step:
    """A polynomial inequality proved by z3; ``wrong`` maps mutant names to conclusions that must not be proved."""
    return _step(name, Means.SMT, smt.prove, proposition(hypotheses, conclusion), wrong)


def identity_step(name: str, conclusion: str, wrong: Mapping[str, str] | None = None) -> Step:
    """An identity of rational functions proved by expansion; ``wrong`` as in `smt_step`."""
    return _step(name, Means.SYMBOLIC, symbolic.prove_identity, proposition([], conclusion), wrong)


def argument_step(name: str, text: str) -> Step:
    """A prose proof, the weakest means: shown as such, with the text."""
    return Step(name, Means.ARGUMENT, lambda: Proved(text))


def hidden_hypothesis_step(name: str, means: Means, needs: str) -> Step:
    """The printed argument holds only under a hypothesis that is not stated; ``needs`` names it."""
    return Step(name, means, lambda: NotApplicable((needs,)))


def exhaustive_step(
    name: str,
    cases: Callable[[], Iterable[T]],
    holds: Callable[[T], bool],
    mutants: Mapping[str, Callable[[T], bool]] | None = None,
) -> Step:
    """A predicate checked on every case of a finite, non-empty domain; mutants are predicates that must fail."""

    def decide(predicate: Callable[[T], bool]) -> Verdict:
        count = 0
        for case in cases():
            count += 1
            if not predicate(case):
                return UndecidedVerdict(f"Fails at case {case!r}.", "look at that case")
            if count > MAX_CASES:
                return UndecidedVerdict(f"More than {MAX_CASES} cases.", "a smaller domain")
        if not count:
            return UndecidedVerdict("There are no cases, so nothing was shown.", "a non-empty domain")
        return Proved(f"all {count} cases checked")

    wrong = tuple(Mutant(label, lambda p=predicate: decide(p)) for label, predicate in (mutants or {}).items())
    return Step(name, Means.EXHAUSTIVE, lambda: decide(holds), wrong)


def _step(
    name: str,
    means: Means,
    engine: Callable[[Proposition], Verdict],
    stated: Proposition,
    wrong: Mapping[str, str] | None,
) -> Step:
    mutants = tuple(
        Mutant(label, lambda text=text: engine(stated.concluding(text))) for label, text in (wrong or {}).items()
    )
    return Step(name, means, lambda: engine(stated), mutants)
