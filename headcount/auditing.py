"""``headcount audit``: run the evidence of the ledger and show every statement with its computed status."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from checks.audit import Audit, all_evidence, audit, usable, verdict_to_json, with_dependencies
from checks.certificates import writer
from headcount import console
from theory.ledger import Claim, Form, Means, NotApplicable, Reference, Refuted, Status, Undecided
from theory.registry import all_claims

WIDE = 130
"""From this many columns on the table of claims shows their titles."""
ARGUMENT_WORDS = {"PROVED": "sound", "REFUTED": "wrong", "UNDECIDED": "gap", "NOT_APPLICABLE": "hidden hypothesis"}
NONE_PRINTED = "none printed"
"""What stands in place of an argument's standing where the paper prints none (`Claim.no_argument`)."""


def run(
    ids: Sequence[str], use_cache: bool, html: Path | None, witnesses: Path | None, readme: Path | None, as_json: bool
) -> None:
    """Audit the claims named (with what they rest on), print, exit 0 if all are decided, else 2."""
    outcome = perform(ids, use_cache, quiet=as_json)
    if html is not None:
        from headcount import ledger_pages

        page = ledger_pages.write(html, outcome)
        console.err.print(f"pages: {page}", markup=False)
    if witnesses is not None:
        count = write_witnesses(witnesses, outcome)
        console.err.print(f"witnesses: {count} certificates in {witnesses}", markup=False)
    if readme is not None:
        from headcount import summary as readme_table

        readme_table.update(readme, outcome)
    shown = [claim for claim in outcome.claims if not ids or claim.id in ids]
    data = {"claims": [claim_to_json(claim, outcome) for claim in shown], "summary": summary(shown, outcome)}
    console.emit(as_json, data, lambda: _render(shown, outcome, detailed=bool(ids)))
    undecided = any(isinstance(status.verdict, Undecided) for claim in shown for status in standing(claim, outcome))
    console.finish(console.UNDECIDED if undecided else console.PROVED)


def write_witnesses(folder: Path, outcome: Audit) -> int:
    """Write the certificate of every refuted statement as ``ID.form.json``; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    found = certificates(outcome)
    for name, certificate in found.items():
        writer.write(folder / name, certificate)
    return len(found)


def certificates(outcome: Audit) -> dict[str, dict[str, Any]]:
    """File name and certificate of every refuted statement, and of every argument shown to need a hypothesis."""
    return {
        f"{status.about.claim}.{status.about.form}.json": dict(status.verdict.witness)
        for status in outcome.statuses.values()
        if isinstance(status.verdict, Refuted | NotApplicable) and "kind" in status.verdict.witness
    }


def perform(ids: Sequence[str], use_cache: bool, quiet: bool) -> Audit:
    """Run the evidence of the claims named (none: all) and of everything that they depend on."""
    every = all_claims()
    claims = with_dependencies(every, ids) if ids else every
    names = {claim.id for claim in claims}
    evidence = [piece for piece in all_evidence(every) if piece.about.claim in names]
    folder = _cache() if use_cache else None
    with console.progress_bar("audit", len(evidence), quiet) as advance:
        return audit(claims, evidence, folder, lambda name, done, total: advance(name, done))


def _cache() -> Path | None:
    folder = cache_folder()
    if usable(folder):
        return folder
    console.err.print(f"Nothing can be kept in {folder}: going on without a cache.", markup=False)
    return None


def cache_folder() -> Path:
    """Where evidence is kept: ``$XDG_CACHE_HOME/headcount/audit`` or ``~/.cache/headcount/audit``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headcount" / "audit"


def standing(claim: Claim, outcome: Audit) -> list[Status]:
    """The statuses of a claim's statements, except that of its printed argument."""
    return [outcome.statuses[Reference(claim.id, form)] for form in claim.forms if form is not Form.ARGUMENT]


def claim_to_json(claim: Claim, outcome: Audit) -> dict[str, Any]:
    """One claim with statements, statuses and evidence as plain data."""
    statements = {}
    for form in claim.forms:
        reference = Reference(claim.id, form)
        statement, status = claim.statement(form), outcome.statuses[reference]
        assert statement is not None
        statements[form.value] = {
            "words": statement.words,
            "formula": statement.formula,
            "hypotheses": list(statement.hypotheses),
            "depends_on": [str(dependency) for dependency in statement.depends_on],
            "status": status.verdict.label,
            "means": status.means.name.lower() if status.means is not None else None,
            "detail": status.verdict.detail,
            "witness": dict(getattr(status.verdict, "witness", {})) or None,
            "evidence": [
                {
                    "purpose": result.purpose.value,
                    "step": step.name,
                    "means": step.means.name.lower(),
                    "seconds": round(step.seconds, 3),
                    "verdict": verdict_to_json(step.verdict),
                }
                for result in outcome.results
                if result.about == reference
                for step in result.steps
            ],
        }
    severity = claim.severity.value if claim.severity is not None else None
    return {
        "id": claim.id,
        "title": claim.title,
        "source": claim.source,
        "severity": severity,
        "no_argument": claim.no_argument or None,
        "statements": statements,
    }


def summary(claims: Sequence[Claim], outcome: Audit) -> dict[str, Any]:
    """How many statements of each form have which status, and the seconds that the evidence took."""
    counts: dict[str, dict[str, int]] = {}
    for claim in claims:
        for form in claim.forms:
            label = outcome.statuses[Reference(claim.id, form)].verdict.label
            row = counts.setdefault(form.value, {})
            row[label] = row.get(label, 0) + 1
    seconds = sum(step.seconds for result in outcome.results for step in result.steps)
    formal = kernel_summary(claims, outcome)
    return {"claims": len(claims), "counts": counts, "formal": formal, "evidence_seconds": round(seconds, 2)}


def kernel_summary(claims: Sequence[Claim], outcome: Audit) -> str:
    """In words: how many statements the Coq kernel has decided, or why none."""
    names = {claim.id for claim in claims}
    steps = [
        (result.about, step.verdict)
        for result in outcome.results
        if result.about.claim in names
        for step in result.steps
        if step.means is Means.FORMAL
    ]
    decided = {about for about, verdict in steps if not isinstance(verdict, Undecided)}
    reasons = list(dict.fromkeys(verdict.detail for _, verdict in steps if isinstance(verdict, Undecided)))
    return " ".join([f"formal: {len(decided)} statements decided by the Coq kernel.", *reasons[:1]])


def _render(claims: Sequence[Claim], outcome: Audit, detailed: bool) -> None:
    view = Table(title="The ledger", title_justify="left")
    wide = console.out.width >= WIDE
    for column in ("claim", "published", "argument", "repaired", "sharpened", "means", *(["title"] if wide else [])):
        view.add_column(column, overflow="fold")
    for claim in claims:
        cells = []
        for form in Form:
            status = outcome.statuses.get(Reference(claim.id, form))
            label = "" if status is None else status.verdict.label
            cells.append(argument_word(claim, label) if form is Form.ARGUMENT else console.styled(label or ""))
        means = {status.means.name.lower() for status in standing(claim, outcome) if status.means is not None}
        view.add_row(claim.id, *cells, ", ".join(sorted(means)), *([claim.title] if wide else []))
    console.out.print(view)
    if detailed:
        for claim in claims:
            _render_claim(claim, outcome)
    totals = summary(claims, outcome)
    parts = [
        f"{form}: " + ", ".join(f"{count} {_word(form, label)}" for label, count in sorted(row.items()))
        for form, row in totals["counts"].items()
    ]
    console.out.print(
        f"{totals['claims']} claims. " + "; ".join(parts) + f". Evidence: {totals['evidence_seconds']} s."
    )
    console.out.print(totals["formal"], markup=False)


def argument_word(claim: Claim, label: str) -> str:
    """How a printed argument stands, in words; ``label`` is empty where none is registered."""
    return ARGUMENT_WORDS.get(label, NONE_PRINTED if claim.no_argument else "")


def _word(form: str, label: str) -> str:
    return ARGUMENT_WORDS[label] if form == Form.ARGUMENT else label.replace("_", " ").lower()


def evidence_line(item: Mapping[str, Any]) -> str:
    """One step of evidence in one line; of a proof that the kernel could not be asked about, only why."""
    verdict = item["verdict"]
    if item["means"] == Means.FORMAL.name.lower() and verdict["label"] == Undecided.label:
        return f"{verdict['reason'].rstrip('.')} ({verdict['remedy']})"
    return f"{item['purpose']} by {item['means']}: {item['step']} - {verdict['label']} ({item['seconds']} s)"


def explanation(statement: Mapping[str, Any]) -> str:
    """Why a statement stands as it does; of a missing hypothesis also where the step fails without it."""
    detail, values = str(statement["detail"]), (statement["witness"] or {}).get("values")
    if statement["status"] != NotApplicable.label or not values:
        return detail
    point = ", ".join(f"{name} = {value}" for name, value in values.items())
    return f"needs: {detail.removeprefix('fails: ')}; without it the step fails at {point}"


def _render_claim(claim: Claim, outcome: Audit) -> None:
    data = claim_to_json(claim, outcome)
    console.out.print(f"\n[bold]{claim.id}[/] ", end="")
    console.out.print(f"{claim.title} ({claim.source})", markup=False)
    for form, statement in data["statements"].items():
        status = statement["status"]
        shown = ARGUMENT_WORDS[status] if form == Form.ARGUMENT else console.styled(status)
        console.out.print(f"  {form}: {shown} ", end="")
        console.out.print(statement["words"], markup=False)
        for item in statement["evidence"]:
            console.out.print(f"    {evidence_line(item)}", markup=False)
        console.out.print(f"    {explanation(statement)}", markup=False)
    if claim.no_argument:
        console.out.print(f"  argument: {NONE_PRINTED} ({claim.no_argument})", markup=False)
    console.out.print(f"  again: headcount audit {claim.id} --no-cache", markup=False)
