"""Print, for each theorem bound in bindings.json, the axioms it rests on: `name: axiom, axiom` (or `name: none`).

Exit code 1 when a bound name is missing or rests on anything but the axioms of the standard real numbers and the
primitive integers and floats of interval arithmetic (an unfinished proof shows as an axiom of this project).
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
ALLOWED = re.compile(
    r"ClassicalDedekindReals\.sig_(forall|not)_dec|FunctionalExtensionality\.functional_extensionality_dep"
    r"|Classical_Prop\.classic|(PrimInt63|Uint63|PrimFloat|FloatAxioms)\.\w+"
)


def source(names: list[str]) -> str:
    """A Coq file that prints a marker and then the assumptions of each name."""
    modules = sorted({name.rsplit(".", 1)[0] for name in names})
    lines = [f"Require {module}." for module in modules]
    for name in names:
        lines.append(f'Goal True. idtac "{MARK}{name}". Abort. Print Assumptions {name}.')
    return "\n".join(lines) + "\n"


def parse(output: str) -> dict[str, list[str]]:
    """The axioms of each marked name; an axiom starts at the left margin, its type is indented or follows a colon."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in output.splitlines():
        if line.startswith(MARK):
            current = found.setdefault(line.removeprefix(MARK).strip(), [])
        elif line and not line[0].isspace() and line not in ("Axioms:", "Closed under the global context"):
            current.append(line.split(" ", 1)[0])
    return found


def main() -> int:
    names = sorted({entry["name"] for entry in json.loads((HERE / "bindings.json").read_text())})
    if bad := [name for name in names if not NAME.fullmatch(name)]:
        print(f"bindings.json: not Coq names of this project: {bad}", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "assumptions.v"
        path.write_text(source(names))
        command = ["coqc", "-q", "-Q", str(HERE), "Headcount", str(path)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        print(f"a bound name is missing or does not compile:\n{run.stdout}{run.stderr}", file=sys.stderr)
        return 1
    axioms = parse(run.stdout)
    for name in names:
        print(f"{name}: {', '.join(axioms[name]) or 'none'}")
    foreign = {name: [axiom for axiom in axioms[name] if not ALLOWED.fullmatch(axiom)] for name in names}
    for name, extra in foreign.items():
        if extra:
            print(f"{name} rests on more than the allowed axioms: {', '.join(extra)}", file=sys.stderr)
    return 1 if any(foreign.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
