"""The ledger: claims as data, verdicts that are not booleans, and statuses computed from evidence - never typed in.

A `Claim` holds up to three statements (published, repaired, sharpened). Evidence is produced elsewhere (``checks``):
each piece says for which statement it speaks, whether it proves or refutes, by which means, and with what verdict.
`status` combines the pieces: a refutation needs a witness; a proof needs every one of its steps, shows its weakest
means, and stands only if the statements it depends on stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from fractions import Fraction
from typing import Any, NoReturn

from theory.errors import HeadcountError, InvalidInput
from theory.propositions import Proposition


class Means(IntEnum):
    """By which means a step was decided, weakest first; the last two can illustrate or refute, never prove."""

    TRAINED = 0
    SAMPLED = 1
    ARGUMENT = 2
    EXHAUSTIVE = 3
    BALL = 4
    SMT = 5
    SYMBOLIC = 6
    EXACT = 7
    FORMAL = 8

    @property
    def can_prove(self) -> bool:
        return self >= Means.ARGUMENT


class Form(StrEnum):
    """Which statement: as the paper prints it, that its printed argument is sound, the minimal repair, the sharpest."""

    PUBLISHED = "published"
    ARGUMENT = "argument"
    REPAIRED = "repaired"
    SHARPENED = "sharpened"


class Severity(StrEnum):
    """How much falls when the published statement or its argument falls."""

    COSMETIC = "cosmetic"
    CONSTANT = "constant"
    EXPONENT = "exponent"
    STEP = "step"
    THEOREM = "theorem"


class _NoTruthValue:
    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict has no truth value: match on PROVED, REFUTED, UNDECIDED or NOT_APPLICABLE")


@dataclass(frozen=True)
class Proved(_NoTruthValue):
    """The statement holds; ``detail`` says what was computed."""

    detail: str = ""
    label = "PROVED"
    exit_code = 0


@dataclass(frozen=True)
class Refuted(_NoTruthValue):
    """The statement fails; ``witness`` is an exact witness that a reader can check (JSON-able)."""

    detail: str
    witness: Mapping[str, Any] = field(default_factory=dict)
    label = "REFUTED"
    exit_code = 1


@dataclass(frozen=True)
class Undecided(_NoTruthValue):
    """Neither was shown; says why and what to try."""

    reason: str
    remedy: str
    label = "UNDECIDED"
    exit_code = 2

    @property
    def detail(self) -> str:
        return f"{self.reason} Try: {self.remedy}"


@dataclass(frozen=True)
class NotApplicable(_NoTruthValue):
    """A hypothesis fails, so the statement says nothing here; ``witness``, if any, shows where it is needed."""

    failed: tuple[str, ...]
    witness: Mapping[str, Any] = field(default_factory=dict)
    label = "NOT_APPLICABLE"
    exit_code = 2

    @property
    def detail(self) -> str:
        return "fails: " + "; ".join(self.failed)


Verdict = Proved | Refuted | Undecided | NotApplicable


@dataclass(frozen=True)
class Reference:
    """One statement of one claim, for example ``Reference("N1", Form.PUBLISHED)``."""

    claim: str
    form: Form = Form.PUBLISHED

    def __str__(self) -> str:
        return self.claim if self.form is Form.PUBLISHED else f"{self.claim} ({self.form})"


@dataclass(frozen=True)
class Statement:
    """What is claimed: in words, as a LaTeX formula, under which hypotheses, resting on which other statements.

    Where the statement (or its core inequality) fits the expression language, ``proposition`` is that statement as
    data, and ``instance`` a point at which all of its hypotheses hold, so that nothing is proved about the empty set.
    ``same_as`` names a statement registered elsewhere that says the same; its status is then this one's.
    """

    words: str
    formula: str
    hypotheses: tuple[str, ...] = ()
    depends_on: tuple[Reference, ...] = ()
    proposition: Proposition | None = None
    instance: Mapping[str, Fraction] = field(default_factory=dict)
    same_as: Reference | None = None


@dataclass(frozen=True)
class Claim:
    """A claim of the paper (or a result of the project) and the statements made of it.

    ``argument`` is the meta-statement "the printed argument establishes the published statement": PROVED reads sound,
    NOT_APPLICABLE sound under a hidden hypothesis (named), UNDECIDED a gap, REFUTED wrong at a step (with witness).
    Where the paper prints no argument, ``no_argument`` says what stands there instead (a definition, a measurement).
    For results of the project ``published`` is the statement of the results file.
    """

    id: str
    title: str
    source: str
    published: Statement
    argument: Statement | None = None
    repaired: Statement | None = None
    sharpened: Statement | None = None
    severity: Severity | None = None
    no_argument: str = ""

    def statement(self, form: Form) -> Statement | None:
        statement: Statement | None = getattr(self, form.value)
        return statement

    @property
    def forms(self) -> tuple[Form, ...]:
        return tuple(form for form in Form if self.statement(form) is not None)


class Purpose(StrEnum):
    """What a piece of evidence is for."""

    PROVES = "proves"
    REFUTES = "refutes"


@dataclass(frozen=True)
class Mutant:
    """A wrong variant that the same machinery must not prove (or, for a refutation, a right one it must not refute)."""

    name: str
    run: Callable[[], Verdict]


@dataclass(frozen=True)
class Step:
    """One step of a proof or refutation: its means, a procedure that decides it, and its mutants.

    ``inputs`` is a digest of what the procedure reads besides the packages' own sources; it keys cached results.
    """

    name: str
    means: Means
    run: Callable[[], Verdict]
    mutants: tuple[Mutant, ...] = ()
    inputs: str = ""


@dataclass(frozen=True)
class Evidence:
    """Everything offered for one statement: all steps together prove it, or one witness refutes it."""

    about: Reference
    purpose: Purpose
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class StepResult:
    """A step after it ran."""

    name: str
    means: Means
    verdict: Verdict
    seconds: float


@dataclass(frozen=True)
class Result:
    """A piece of evidence after it ran."""

    about: Reference
    purpose: Purpose
    steps: tuple[StepResult, ...]


@dataclass(frozen=True)
class Status:
    """The computed standing of a statement: a verdict and the weakest means that it rests on."""

    about: Reference
    verdict: Verdict
    means: Means | None


class LedgerConflict(HeadcountError):
    """The same statement came out both proved and refuted: some engine is wrong, and nothing may be concluded."""


def conclude(result: Result) -> tuple[Verdict, Means | None]:
    """What one piece of evidence shows by itself (dependencies aside)."""
    if not result.steps:
        return Undecided("The evidence has no steps.", "add at least one"), None
    if result.purpose is Purpose.REFUTES:
        for step in result.steps:
            if isinstance(step.verdict, Refuted) and step.verdict.witness:
                return step.verdict, step.means
        return Undecided("No witness was confirmed.", "look at the step's detail"), None
    for step in result.steps:
        if isinstance(step.verdict, NotApplicable):
            return step.verdict, step.means
        if isinstance(step.verdict, Refuted) and step.verdict.witness and result.about.form is Form.ARGUMENT:
            return step.verdict, step.means
        if not isinstance(step.verdict, Proved):
            return Undecided(
                f"Step '{step.name}' is {step.verdict.label}: {step.verdict.detail}", "mend the step"
            ), None
        if not step.means.can_prove:
            return Undecided(f"Step '{step.name}' is only {step.means.name.lower()}.", "prove it"), None
    weakest = min(step.means for step in result.steps)
    return Proved("; ".join(step.name for step in result.steps)), weakest


def statuses(claims: Sequence[Claim], results: Sequence[Result]) -> dict[Reference, Status]:
    """The status of every statement of every claim, dependencies taken into account transitively.

    Raises:
        InvalidInput: evidence or a dependency names a statement that does not exist, or dependencies form a cycle.
        LedgerConflict: a statement is both proved and refuted.
    """
    known = {Reference(claim.id, form): claim.statement(form) for claim in claims for form in claim.forms}
    by_statement: dict[Reference, list[Result]] = {reference: [] for reference in known}
    for result in results:
        if result.about not in known:
            raise InvalidInput.about(
                "evidence", str(result.about), "about a registered statement", "register the claim"
            )
        by_statement[result.about].append(result)
    done: dict[Reference, Status] = {}

    def visit(reference: Reference, path: tuple[Reference, ...]) -> Status:
        if reference in path:
            raise InvalidInput.about("dependencies", " -> ".join(map(str, (*path, reference))), "no cycle", "cut it")
        if reference not in done:
            statement = known.get(reference)
            if statement is None:
                raise InvalidInput.about("dependency", str(reference), "a registered statement", "register the claim")
            if statement.same_as is not None:
                twin = visit(statement.same_as, (*path, reference))
                done[reference] = Status(reference, twin.verdict, twin.means)
                return done[reference]
            below = [visit(dependency, (*path, reference)) for dependency in statement.depends_on]
            done[reference] = _combine(reference, by_statement[reference], below)
        return done[reference]

    for reference in known:
        visit(reference, ())
    return done


def _combine(reference: Reference, results: Sequence[Result], below: Sequence[Status]) -> Status:
    concluded = [conclude(result) for result in results]
    proofs = [(verdict, means) for verdict, means in concluded if isinstance(verdict, Proved) and means is not None]
    refutations = [(verdict, means) for verdict, means in concluded if isinstance(verdict, Refuted)]
    if proofs and refutations:
        raise LedgerConflict(f"{reference} is both proved and refuted: an engine is wrong; run its evidence one by one")
    if refutations:  # a witness that the reader can compute with goes before the name of a theorem
        return Status(reference, *min(refutations, key=lambda pair: pair[1] is Means.FORMAL))
    conditional = [(verdict, means) for verdict, means in concluded if isinstance(verdict, NotApplicable)]
    if conditional and not proofs:
        return Status(reference, *conditional[0])
    if not proofs:
        reasons = "; ".join(verdict.detail for verdict, _ in concluded) or "No evidence is registered."
        return Status(reference, Undecided(reasons, "add evidence"), None)
    if formal := [pair for pair in proofs if pair[1] is Means.FORMAL]:
        return Status(reference, *formal[0])  # the kernel has checked everything that such a proof rests on
    for status in below:
        if not isinstance(status.verdict, Proved):
            reason = f"It rests on {status.about}, which is {status.verdict.label}."
            return Status(reference, Undecided(reason, f"see headcount audit {status.about.claim}"), None)
    verdict, means = max(proofs, key=lambda pair: pair[1])
    return Status(reference, verdict, min([means, *(status.means for status in below if status.means is not None)]))
