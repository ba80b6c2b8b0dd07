"""The audit: run the evidence, compute every status, keep what was computed keyed by content.

A cached result is used only if nothing that it depends on has changed: the statement, the step, and the source code of
theory, constructions and checks (with the versions of the engines). What is undecided is never kept: it may be a tool
that is missing today, or a time-out. There is no other state.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import json
import os
import pkgutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import checks
import checks.evidence
import constructions
import theory
from checks import balls, inequalities
from theory.errors import InexactOperation, InvalidInput
from theory.ledger import (
    Claim,
    Evidence,
    Means,
    Mutant,
    NotApplicable,
    Proved,
    Purpose,
    Reference,
    Refuted,
    Result,
    Statement,
    Status,
    Step,
    StepResult,
    Undecided,
    Verdict,
    statuses,
)
from theory.propositions import Relation

INSTANCE_BITS = 128
ENGINES = ("python-flint", "z3-solver", "sympy", "mpmath", "numpy")
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Audit:
    """Claims, the results of their evidence, and the computed status of every statement."""

    claims: tuple[Claim, ...]
    results: tuple[Result, ...]
    statuses: Mapping[Reference, Status]


def all_evidence(claims: Sequence[Claim]) -> tuple[Evidence, ...]:
    """Every registered piece of evidence: each module of ``checks.evidence`` offers it for the claims it is given."""
    by_id = {claim.id: claim for claim in claims}
    modules = (module for module in _modules(checks.evidence) if hasattr(module, "evidence"))
    return tuple(piece for module in modules for piece in module.evidence(by_id))


def audit(
    claims: Sequence[Claim],
    evidence: Sequence[Evidence],
    cache_folder: Path | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Run all evidence (or take it from the cache) and compute the statuses.

    A statement whose instance does not satisfy its hypotheses is not proved by anything (`instance_holds`).
    """
    statements = {Reference(claim.id, form): claim.statement(form) for claim in claims for form in claim.forms}
    results = []
    for number, piece in enumerate(evidence):
        if progress is not None:
            progress(str(piece.about), number, len(evidence))
        statement = statements.get(piece.about)
        steps = tuple(_run(step, piece, statement, cache_folder) for step in piece.steps)
        if statement is not None and isinstance(failed := instance_holds(statement), Undecided):
            steps = (*steps, StepResult("the instance satisfies the hypotheses", Means.BALL, failed, 0.0))
        results.append(Result(piece.about, piece.purpose, steps))
    return Audit(tuple(claims), tuple(results), statuses(claims, results))


def usable(cache_folder: Path) -> bool:
    """Whether evidence can be kept in a folder: it can be made, and a file in it written and removed."""
    probe = cache_folder / f"{os.getpid()}.probe"
    try:
        cache_folder.mkdir(parents=True, exist_ok=True)
        probe.write_text("", encoding="utf-8")
        probe.unlink()
    except OSError:
        return False
    return True


def with_dependencies(claims: Sequence[Claim], ids: Sequence[str]) -> tuple[Claim, ...]:
    """The claims named and, transitively, those that they depend on.

    Raises:
        InvalidInput: an id is not registered; similar ids are suggested.
    """
    known = {claim.id: claim for claim in claims}
    wanted: dict[str, Claim] = {}
    queue = list(ids)
    while queue:
        name = queue.pop()
        if name not in known:
            near = [other for other in known if other.lower().startswith(name.lower()[:3])][:12]
            raise InvalidInput.about("claim", name, "a registered id", f"one of {', '.join(near or list(known)[:12])}")
        if name not in wanted:
            wanted[name] = known[name]
            for form in known[name].forms:
                statement = known[name].statement(form)
                queue += [below.claim for below in foundations(statement)] if statement else []
    return tuple(claim for claim in claims if claim.id in wanted)


def foundations(statement: Statement) -> tuple[Reference, ...]:
    """What a statement rests on: its dependencies, and the statement that it repeats."""
    return (*statement.depends_on, *((statement.same_as,) if statement.same_as is not None else ()))


def instance_holds(statement: Statement) -> Verdict:
    """Whether the hypotheses of the statement's proposition hold at its instance: else nothing may be proved from it.

    Arithmetic: exact where the values are rational, balls otherwise.
    """
    if statement.proposition is None:
        return Proved("no proposition")
    for hypothesis in statement.proposition.hypotheses:
        outcome = _at_instance(hypothesis, statement.instance)
        if outcome is not True:
            how = "is not decided" if outcome is None else "fails"
            return Undecided(f"The hypothesis {hypothesis} {how} at the statement's instance.", "another instance")
    return Proved("the hypotheses hold at the instance")


def _at_instance(hypothesis: Relation, instance: Mapping[str, Fraction]) -> bool | None:
    try:
        return hypothesis.holds_exactly(instance)
    except InexactOperation:
        with balls.precision(INSTANCE_BITS):
            return inequalities.holds(hypothesis, {name: balls.exact(value) for name, value in instance.items()})


def surviving_mutants(piece: Evidence) -> list[tuple[Step, Mutant, Verdict]]:
    """The mutants that the machinery wrongly accepts: proved wrong variants, or refuted right ones."""
    forbidden = Proved if piece.purpose is Purpose.PROVES else Refuted
    tried = [(step, mutant, mutant.run()) for step in piece.steps for mutant in step.mutants]
    return [(step, mutant, verdict) for step, mutant, verdict in tried if isinstance(verdict, forbidden)]


def _run(step: Step, piece: Evidence, statement: object, folder: Path | None) -> StepResult:
    path = folder / f"{_key(step, piece, statement)}.json" if folder is not None else None
    if path is not None and (stored := _read(path)) is not None:
        return StepResult(step.name, step.means, *stored)
    start = time.perf_counter()
    verdict = step.run()
    seconds = time.perf_counter() - start
    if path is not None and not isinstance(verdict, Undecided):
        _keep(path, verdict, seconds)
    return StepResult(step.name, step.means, verdict, seconds)


def _keep(path: Path, verdict: Verdict, seconds: float) -> None:
    temporary = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps({"verdict": verdict_to_json(verdict), "seconds": seconds}), encoding="utf-8")
        temporary.replace(path)
    except OSError:
        return  # a folder that cannot be written to (`usable` says so): computed again next time


def _key(step: Step, piece: Evidence, statement: object) -> str:
    content = (
        code_digest(),
        repr(statement),
        str(piece.about),
        piece.purpose.value,
        step.name,
        step.means.name,
        step.inputs,
    )
    return hashlib.sha256("\0".join(content).encode()).hexdigest()


@cache
def code_digest() -> str:
    """A digest of the sources of theory, constructions and checks and of the engines' versions."""
    digest = hashlib.sha256()
    for package in (theory, constructions, checks):
        root = Path(next(iter(package.__path__)))
        for path in sorted(path for kind in ("py", "toml", "json") for path in root.rglob(f"*.{kind}")):
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    for engine in ENGINES:
        digest.update(f"{engine}={importlib.metadata.version(engine)}".encode())
    return digest.hexdigest()


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """``{"label": ..., fields...}``."""
    return {"label": verdict.label, **asdict(verdict)}


def verdict_from_json(data: Mapping[str, Any]) -> Verdict:
    """Inverse of `verdict_to_json`."""
    fields = {key: value for key, value in data.items() if key != "label"}
    match data["label"]:
        case "PROVED":
            return Proved(**fields)
        case "REFUTED":
            return Refuted(**fields)
        case "UNDECIDED":
            return Undecided(**fields)
        case "NOT_APPLICABLE":
            return NotApplicable(tuple(fields["failed"]), fields["witness"])
        case label:
            raise InvalidInput.about("verdict", label, "one of the four labels", "compute it again")


def _read(path: Path) -> tuple[Verdict, float] | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return verdict_from_json(data["verdict"]), float(data["seconds"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None  # absent or damaged: compute it again


def _modules(package: Any) -> list[Any]:
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__) if info.name != "tools")
    return [importlib.import_module(f"{package.__name__}.{name}") for name in names]
