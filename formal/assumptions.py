"""Print, for each theorem bound in bindings.json, the axioms it rests on: `name: axiom, axiom` (or `name: none`)."""

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
    return 0


if __name__ == "__main__":
    sys.exit(main())
