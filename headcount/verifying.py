"""``headcount verify``: the independent checker on files; imports neither torch nor numpy."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from checks import verify
from headcount import console


def run(files: list[Path], as_json: bool) -> None:
    """Check every file, print each answer, exit with the worst code."""
    answers = {str(path): verify.verify_file(str(path)) for path in files}
    data = {"answers": {name: {**asdict(answer), "exit_code": answer.exit_code} for name, answer in answers.items()}}

    def render() -> None:
        for name, answer in answers.items():
            console.out.print(f"{console.styled(answer.label)} {name}: ", end="")
            console.out.print(answer.detail, markup=False)

    console.emit(as_json, data, render)
    console.finish(max(answer.exit_code for answer in answers.values()))
