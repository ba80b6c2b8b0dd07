"""Short ways to write steps of evidence: a proposition, the engine that decides it, and its mutants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from checks import convexity, inequalities, smt, symbolic, verify
from checks.certificates import writer
from theory.errors import InvalidInput
from theory.exact import parse_exact
from theory.expressions import Expression
from theory.ledger import (
    Claim,
    Evidence,
    Form,
    Means,
    Mutant,
    NotApplicable,
    Proved,
    Purpose,
    Reference,
    Refuted,
    Step,
    Verdict,
)
from theory.ledger import Undecided as UndecidedVerdict
from theory.propositions import Proposition, Relation, proposition, relation

T = TypeVar("T")
MAX_CASES = 50_000_000


def proves(claim: str, form: Form, *steps: Step) -> Evidence:
    """All steps together prove the statement."""
    return Evidence(Reference(claim, form), Purpose.PROVES, steps)


def refutes(claim: str, form: Form, step: Step) -> Evidence:
    """The step's witness refutes the statement."""
    return Evidence(Reference(claim, form), Purpose.REFUTES, (step,))


ENGINES: Mapping[Means, Callable[[Proposition], Verdict]] = {
    Means.SMT: smt.prove,
    Means.SYMBOLIC: symbolic.prove_identity,
    Means.BALL: inequalities.prove,
}


def statement_step(claim: Claim, form: Form, means: Means, wrong: Mapping[str, str]) -> Step:
    """The statement's own proposition, decided by the engine of ``means``; the very statement of the ledger.

    ``wrong`` maps names of mutants to conclusions that the engine must not prove under the same hypotheses.
    """
    return _step("the statement", means, _proposition(claim, form), wrong)


def step(name: str, means: Means, given: Sequence[str], then: str, wrong: Mapping[str, str]) -> Step:
    """An auxiliary proposition decided by the engine of ``means``; ``wrong`` as in `statement_step`."""
    return _step(name, means, proposition(given, then), wrong)


def counterexample_step(claim: Claim, form: Form, values: Mapping[str, str], right: Mapping[str, str]) -> Step:
    """The statement's own proposition fails at exact values: a certificate is written and the checker confirms it.

    ``right`` maps names of true neighbours to conclusions that the same point must not refute.
    """
    return _failure("an exact counterexample", claim, form, _proposition(claim, form), values, right)


def failing_step(
    name: str,
    claim: Claim,
    form: Form,
    given: Sequence[str],
    then: str,
    values: Mapping[str, str],
    right: Mapping[str, str],
) -> Step:
    """An auxiliary proposition fails at exact values; ``values`` and ``right`` as in `counterexample_step`."""
    return _failure(name, claim, form, proposition(given, then), values, right)


def confirm(certificate: Mapping[str, Any]) -> Verdict:
    """Refuted, with the certificate as its witness, if the checker proves the certificate's claim."""
    answer = verify.verify(writer.to_bytes(certificate))
    if answer.label == "PROVED":
        return Refuted(answer.detail, certificate)
    return UndecidedVerdict(f"The checker did not confirm the witness: {answer.detail}", "another point")


def touching_step(name: str, given: Sequence[str], then: str, touch: str, wrong: Mapping[str, str]) -> Step:
    """An inequality in one variable whose sides meet at ``touch``, by convexity in balls; ``wrong`` as above."""
    stated, point = proposition(given, then), parse_exact(touch)
    mutants = tuple(
        Mutant(label, partial(convexity.prove_touching, stated.concluding(text), point))
        for label, text in wrong.items()
    )
    return Step(name, Means.BALL, partial(convexity.prove_touching, stated, point), mutants)


def exponential_steps() -> tuple[Step, ...]:
    """``1 + v <= e^v`` for every real v: near 0 by convexity, to the right by e^{v+1} = e e^v, to the left by sign."""
    return (
        touching_step(
            "1 + v <= e^v for |v| <= 1 (so e >= 2)",
            ["v >= -1", "v <= 1"],
            "1 + v <= exp(v)",
            "0",
            {"twice the slope": "1 + 2*v <= exp(v)", "a square more": "1 + v + v^2 <= exp(v)"},
        ),
        step(
            "1 + v <= e^v passes from v >= 0 to v + 1, as e^{v+1} = e e^v with e >= 2",
            Means.SMT,
            ["v >= 0", "E >= 1 + v", "k >= 2"],
            "1 + (v + 1) <= k*E",
            {"without the factor e": "1 + (v + 1) <= E", "steeper": "1 + 3*(v + 1) <= k*E"},
        ),
        step(
            "1 + v <= e^v for v <= -1, as e^v > 0",
            Means.SMT,
            ["v <= -1", "E > 0"],
            "1 + v <= E",
            {"two in place of one": "2 + v <= E"},
        ),
    )


def argument_step(name: str, text: str) -> Step:
    """A prose proof, the weakest means: shown as such, with the text."""
    return Step(name, Means.ARGUMENT, lambda: Proved(text))


def conditional_step(name: str, needs: str, without: Step, given: Step) -> Step:
    """A printed step that holds under a hypothesis the paper does not state, which ``needs`` names.

    ``without`` refutes the step as printed (its witness is kept), ``given`` proves it under the hypothesis. Each
    mutant of either must spoil the conclusion.
    """

    def decide(without: Callable[[], Verdict], given: Callable[[], Verdict]) -> Verdict:
        failing, holding = without(), given()
        if not isinstance(failing, Refuted) or not failing.witness:
            return UndecidedVerdict(f"Without '{needs}' the step was not refuted: {failing.detail}", "another point")
        if not isinstance(holding, Proved):
            return UndecidedVerdict(f"With '{needs}' the step was not proved: {holding.detail}", "another proof")
        return NotApplicable((needs,), failing.witness)

    def spoiled(without: Callable[[], Verdict], given: Callable[[], Verdict]) -> Verdict:
        verdict = decide(without, given)
        return Proved("the mutant changes nothing") if isinstance(verdict, NotApplicable) else verdict

    mutants = [Mutant(m.name, partial(spoiled, m.run, given.run)) for m in without.mutants]
    mutants += [Mutant(m.name, partial(spoiled, without.run, m.run)) for m in given.mutants]
    return Step(name, min(without.means, given.means), partial(decide, without.run, given.run), tuple(mutants))


def conditional_statement_step(
    claim: Claim,
    needs: tuple[str, str],
    values: Mapping[str, str],
    right: Mapping[str, str],
    wrong: Mapping[str, str],
) -> Step:
    """`conditional_step` for the proposition of the claim's argument: false at ``values``, true with one relation more.

    ``needs`` is that hypothesis, in words and as a relation; ``right`` and ``wrong`` as in `counterexample_step` and
    `step`.
    """
    words, more = needs
    printed = _proposition(claim, Form.ARGUMENT)
    given = Proposition((*printed.hypotheses, relation(more)), printed.conclusion)
    return conditional_step(
        "the printed step, without and with the hypothesis",
        words,
        counterexample_step(claim, Form.ARGUMENT, values, right),
        _step(f"with {more}", Means.SMT, given, wrong),
    )


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

    wrong = tuple(Mutant(label, partial(decide, predicate)) for label, predicate in (mutants or {}).items())
    return Step(name, Means.EXHAUSTIVE, partial(decide, holds), wrong)


def _step(name: str, means: Means, stated: Proposition, wrong: Mapping[str, str]) -> Step:
    engine = ENGINES[means]
    mutants = tuple(Mutant(label, partial(engine, stated.concluding(text))) for label, text in wrong.items())
    return Step(name, means, partial(engine, stated), mutants)


def _failure(
    name: str, claim: Claim, form: Form, stated: Proposition, values: Mapping[str, str], right: Mapping[str, str]
) -> Step:
    point = {key: parse_exact(value) for key, value in values.items()}

    def decide(candidate: Proposition) -> Verdict:
        hypotheses = [_sides(relation) for relation in candidate.hypotheses]
        return confirm(writer.counterexample(claim.id, form.value, point, hypotheses, _sides(candidate.conclusion)))

    mutants = tuple(Mutant(label, partial(decide, stated.concluding(text))) for label, text in right.items())
    return Step(name, Means.EXACT, partial(decide, stated), mutants)


def _sides(relation: Relation) -> tuple[Expression, str, Expression]:
    return relation.left, relation.relation, relation.right


def _proposition(claim: Claim, form: Form) -> Proposition:
    statement = claim.statement(form)
    if statement is None or statement.proposition is None:
        raise InvalidInput.about("statement", f"{claim.id} ({form})", "to have a proposition", "add given and then")
    return statement.proposition
