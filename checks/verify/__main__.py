"""The command ``python -m checks.verify``."""

from __future__ import annotations

import json
import sys

from checks.verify import EXIT_CODES, verify_file


def main(arguments: list[str]) -> int:
    """The command; several files: the exit code of the worst (usage, refuted, undecided, proved)."""
    paths = [argument for argument in arguments if argument != "--json"]
    if not paths or any(path.startswith("-") for path in paths):
        print("usage: python -m checks.verify FILE... [--json]", file=sys.stderr)
        return EXIT_CODES["USAGE"]
    answers = {path: verify_file(path) for path in paths}
    if "--json" in arguments:
        shown = [{"file": path, "exit_code": a.exit_code, **vars(a)} for path, a in answers.items()]
        print(json.dumps(shown, indent=2))
    else:
        for path, answer in answers.items():
            facts = "".join(f"\n  {name}: {fact}" for name, fact in answer.facts.items())
            print(f"{answer.label} {path!a}: {answer.detail}{facts}")
    codes = {answer.exit_code for answer in answers.values()}
    return next(code for code in (3, 1, 2, 0) if code in codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
