"""What the kernel says about each theorem bound in bindings.json.

`bound.py assumptions` prints the axioms it rests on, `name: axiom, axiom` (or `name: none`); exit code 1 when one is
not an axiom of the standard real numbers or of the primitive integers and floats of interval arithmetic (an unfinished
proof shows as an axiom of this project). `bound.py statements` prints its full statement; statements.txt keeps that
output, so that a changed constant or hypothesis shows as a difference. Both exit with 1 when a bound name is missing.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME = re.compile(r"Headcount(\.[A-Za-z_][A-Za-z0-9_']*){2,}")
MARK = "@@ "
NOTATIONS = [
    "From Coq Require Import Reals List.",
    "From mathcomp Require Import all_ssreflect.",
    "From Headcount Require Import FiniteReals.",
    "Open Scope R_scope.",
    "Set Printing Width 110.",
]
ALLOWED = re.compile(
    r"ClassicalDedekindReals\.sig_(forall|not)_dec|FunctionalExtensionality\.functional_extensionality_dep"
    r"|Classical_Prop\.classic|(PrimInt63|Uint63|PrimFloat|FloatAxioms)\.\w+"
)


class FormalError(Exception):
    """The question could not be put to the kernel; the message says why."""


def bound_names() -> list[str]:
    """The names in bindings.json, sorted, each once."""
    names = sorted({entry["name"] for entry in json.loads((HERE / "bindings.json").read_text())})
    if bad := [name for name in names if not NAME.fullmatch(name)]:
        raise FormalError(f"bindings.json: not Coq names of this project: {bad}")
    return names


def ask(question: str, names: list[str]) -> dict[str, list[str]]:
    """The lines that coqc answers to `question name.` for each name."""
    lines = [f"Require {module}." for module in sorted({name.rsplit(".", 1)[0] for name in names})]
    lines += NOTATIONS
    lines += [f'Goal True. idtac "{MARK}{name}". Abort. {question}{name}.' for name in names]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "question.v"
        path.write_text("\n".join(lines) + "\n")
        command = ["coqc", "-q", "-w", "none", "-Q", str(HERE), "Headcount", str(path)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise FormalError(f"a bound name is missing or does not compile:\n{run.stdout}{run.stderr}")
    answers: dict[str, list[str]] = {}
    for line in run.stdout.splitlines():
        if line.startswith(MARK):
            current = answers.setdefault(line.removeprefix(MARK).strip(), [])
        elif line.strip():
            current.append(line.rstrip())
    return answers


def assumptions(names: list[str]) -> int:
    """Print the axioms of each name; an axiom starts at the left margin, its type follows after a colon or indented."""
    foreign = 0
    for name, lines in ask("Print Assumptions ", names).items():
        heads = (line.split(" ", 1)[0] for line in lines if not line[0].isspace())
        axioms = [head for head in heads if head not in ("Axioms:", "Closed")]
        print(f"{name}: {', '.join(axioms) or 'none'}")
        for axiom in axioms:
            if not ALLOWED.fullmatch(axiom):
                print(f"{name} rests on {axiom}, which is not an allowed axiom", file=sys.stderr)
                foreign += 1
    return 1 if foreign else 0


def statements(names: list[str]) -> int:
    """Print the statement of each name, all its hypotheses included."""
    for name, lines in ask("Check @", names).items():
        text = "\n".join(lines[1:]).strip().removeprefix(":").strip()
        print(f"{name}\n    {text}\n")
    return 0


def main(arguments: list[str]) -> int:
    commands = {"assumptions": assumptions, "statements": statements}
    if len(arguments) != 1 or arguments[0] not in commands:
        print(f"usage: bound.py {'|'.join(commands)}", file=sys.stderr)
        return 3
    try:
        return commands[arguments[0]](bound_names())
    except FormalError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
