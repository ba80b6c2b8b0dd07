"""The comparison of the ledger's statements with the Coq theorems, as the table in ``docs/formal.md``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from checks.formal import bindings, kernel
from checks.formal.bindings import Binding, Covers
from theory.errors import InvalidInput

BEGIN, END = "<!-- comparison: begin -->", "<!-- comparison: end -->"
LETTERS = {"classic": "C", "functional_extensionality_dep": "F", "sig_forall_dec": "R", "sig_not_dec": "N"}
LETTERS[kernel.PRIMITIVE] = "P"
COVERS = {
    Covers.STATEMENT: "statement",
    Covers.STEP: "step",
    Covers.REFUTATION: "refutation",
}


def table(found: Sequence[Binding]) -> str:
    """The bindings as a table in Markdown: what each theorem says and how that compares with the ledger's words."""
    rows = ["| claim | form | theorem | says | covers | compared | axioms |", "|---|---|---|---|---|---|---|"]
    for entry in found:
        covers = COVERS[entry.covers] + (f" ({entry.together})" if entry.together else "")
        compared = f"{entry.relation}: {entry.remark}" if entry.remark else str(entry.relation)
        axioms = "".join(sorted(LETTERS.get(axiom, axiom) for axiom in entry.axioms)) or "none"
        name = entry.name.removeprefix(kernel.PREFIX)
        cells = (entry.claim, str(entry.form), f"`{name}`", entry.statement, covers, compared, axioms)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def placed(page: str, found: Sequence[Binding]) -> str:
    """The page with the table between its markers.

    Raises:
        InvalidInput: the markers are not there.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise InvalidInput.about("docs/formal.md", page[:40], f"{BEGIN} and {END}", "put them back")
    return f"{before}{BEGIN}\n{table(found)}\n{END}{after}"


def write(project: Path) -> None:
    """Bring the table in ``docs/formal.md`` up to date."""
    page = project.parent / "docs" / "formal.md"
    text = placed(page.read_text(encoding="utf-8"), bindings.read(project / "bindings.json"))
    page.write_text(text, encoding="utf-8")
