"""``python -m checks.formal``: the commands behind ``make formal``; each says what it found on standard output.

record      ask the kernel about every bound theorem and keep the answers beside the compiled proofs
assumptions the axioms that each bound theorem rests on; exit code 1 if one is not accepted
statements  the full statement of each bound theorem (``formal/statements.txt`` keeps it, so that a change shows)
compare ID  after comparing a claim's statements with the theorems once more: store the digests of what was compared
table       write the comparison into ``docs/formal.md``
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from checks.formal import bindings, comparison, kernel
from theory.errors import HeadcountError
from theory.registry import all_claims

ACCEPTED, NOT_ACCEPTED, USAGE = 0, 1, 3


def main(arguments: Sequence[str]) -> int:
    """Run one command; the exit code is 0, 1 (something is not accepted) or 3 (usage)."""
    match list(arguments):
        case ["record" | "assumptions" as command]:
            return _assumptions(kernel.folder(), quiet=command == "record")
        case ["statements"]:
            return _statements(kernel.folder())
        case ["compare", *ids] if ids:
            return _compare(kernel.folder(), ids)
        case ["table"]:
            comparison.write(kernel.folder())
            return ACCEPTED
        case _:
            print(__doc__, file=sys.stderr)
            return USAGE


def _assumptions(project: Path, quiet: bool) -> int:
    expected = bindings.expectations(bindings.read(project / "bindings.json"))
    wrong = 0
    for name, answer in sorted(kernel.answers(project, expected, expected).items()):
        foreign = ["missing"] if answer is None else sorted(answer - expected[name])
        wrong += bool(foreign)
        if foreign or not quiet:
            print(f"{name}: {', '.join(foreign or sorted(answer or ())) or 'none'}{' - not expected' * bool(foreign)}")
    print(f"formal: {len(expected) - wrong} of {len(expected)} theorems accepted by the kernel ({kernel.version()})")
    return NOT_ACCEPTED if wrong else ACCEPTED


def _statements(project: Path) -> int:
    names = sorted({entry.name for entry in bindings.read(project / "bindings.json")})
    for name, text in kernel.statements(project, names).items():
        print(f"{name}\n    {text}\n")
    return ACCEPTED


def _compare(project: Path, ids: Sequence[str]) -> int:
    claims = {claim.id: claim for claim in all_claims()}
    path = project / "bindings.json"
    found = []
    for entry in bindings.read(path):
        if entry.claim in ids or ids == ["all"]:
            statement = claims[entry.claim].statement(entry.form) if entry.claim in claims else None
            if statement is None:
                print(f"{entry.claim} ({entry.form}) is not in the ledger", file=sys.stderr)
                return NOT_ACCEPTED
            entry = replace(entry, ledger=bindings.statement_digest(statement))
        found.append(entry)
    path.write_text(bindings.to_json(found), encoding="utf-8")
    return ACCEPTED


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except HeadcountError as error:
        print(error, file=sys.stderr)
        sys.exit(NOT_ACCEPTED)
