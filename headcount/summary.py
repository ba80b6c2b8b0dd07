"""The paper in a few lines: the README's table, generated from the ledger between two markers."""

from __future__ import annotations

from pathlib import Path

from checks.audit import Audit
from headcount.auditing import argument_word
from theory.errors import InvalidInput
from theory.ledger import Form, Reference

BEGIN, END = "<!-- ledger: begin -->", "<!-- ledger: end -->"
ROWS = ("T1", "C1", "T2.1", "T2.1-15", "T2.2", "T2.2-claim", "R2.t", "T2.3", "L9", "CJ1", "N1", "N4", "N8", "N9")


def table(outcome: Audit) -> str:
    """Markdown: one line for each claim of `ROWS` that is registered, every status as computed."""
    lines = ["| claim | what it says | published | its argument | repaired | sharpened |", "|---|---|---|---|---|---|"]
    known = {claim.id: claim for claim in outcome.claims}
    for claim in (known[name] for name in ROWS if name in known):
        cells = []
        for form in Form:
            status = outcome.statuses.get(Reference(claim.id, form))
            label = "" if status is None else status.verdict.label
            cells.append(argument_word(claim, label) if form is Form.ARGUMENT else label.replace("_", " ").lower())
        lines.append(f"| {claim.id} | {claim.title} | {' | '.join(cells)} |")
    counts = [outcome.statuses[Reference(claim.id)].verdict.label for claim in outcome.claims]
    total = ", ".join(f"{counts.count(label)} {label.replace('_', ' ').lower()}" for label in dict.fromkeys(counts))
    lines += ["", f"{len(counts)} claims in all; as published: {total}."]
    return "\n".join(lines)


def update(path: Path, outcome: Audit) -> None:
    """Replace what stands between the markers in ``path``.

    Raises:
        InvalidInput: the file has no markers.
    """
    text = path.read_text(encoding="utf-8")
    before, marked, rest = text.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not marked or not ended:
        raise InvalidInput.about("file", str(path), f"lines {BEGIN} and {END}", "add them where the table goes")
    path.write_text(f"{before}{BEGIN}\n{table(outcome)}\n{END}{after}", encoding="utf-8")
