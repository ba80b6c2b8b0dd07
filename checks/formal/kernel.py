"""Asks the Coq kernel what the bound theorems rest on, and keeps the answers beside the compiled proofs.

Nothing is compiled here: `make formal` does that. The compiled files count only if they are those of the sources: each
``.glob`` carries the digest of the source that it was made from, and coqc itself refuses compiled files that do not
belong together. The answers are kept under the digest of all sources and of coqc's version, and asked for again when
either changes. A theorem is accepted if it rests on nothing but the axioms of the standard real numbers and the
primitive integers and floats of interval arithmetic; an unfinished proof shows as an axiom of its own.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import checks
from checks.formal.bindings import NAME
from theory.errors import HeadcountError

SECONDS = 300
RECORD = ".kernel.json"
PREFIX = "Headcount."
COQ = "Debian and Ubuntu: apt-get install coq libcoq-coquelicot libcoq-interval libcoq-mathcomp-ssreflect"
PRIMITIVE = "primitive integers and floats"
AXIOMS = {
    r"ClassicalDedekindReals\.sig_forall_dec": "sig_forall_dec",
    r"ClassicalDedekindReals\.sig_not_dec": "sig_not_dec",
    r"FunctionalExtensionality\.functional_extensionality_dep": "functional_extensionality_dep",
    r"Classical_Prop\.classic": "classic",
    r"(PrimInt63|Uint63|PrimFloat|FloatAxioms)\.\w+": PRIMITIVE,
}
ALLOWED = frozenset(AXIOMS.values())
FORBIDDEN = re.compile(
    r"(?<!Section )(?<!End )\b(Axioms?|Parameters?|Conjectures?|Admitted|admit|give_up|Module|Primitive|Load"
    r"|Declare\s+ML|(Unset|Set)\s+(Guard|Positivity|Universe)\s+Checking|bypass_check)\b"
)
"""What the sources may not use: it would add assumptions, or let one pass under another's name."""
Answer = frozenset[str] | None
"""What a theorem rests on, at most; None if the kernel does not know the name."""


class NotChecked(HeadcountError):
    """The kernel could not be asked here; nothing is known about the theorems, good or bad."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"formal: {reason} Try: {remedy}.")
        self.reason = f"formal: {reason}"
        self.remedy = remedy


def folder() -> Path:
    """The folder of the proofs, beside the package.

    Raises:
        NotChecked: an installed package does not have it.
    """
    found = Path(next(iter(checks.__path__))).parent / "formal"
    if not (found / "bindings.json").is_file():
        raise NotChecked("this installation has no formal/ folder.", "a checkout of the repository")
    return found


def state(project: Path) -> str:
    """What the answers depend on, in one word: for a cache of what was concluded from them."""
    try:
        return f"{digest(project)} {'stale' if stale(project) else 'compiled'}"
    except NotChecked as missing:
        return missing.reason


def sources(project: Path) -> tuple[Path, ...]:
    """The files listed in ``_CoqProject``, in order."""
    lines = (project / "_CoqProject").read_text(encoding="utf-8").split()
    return tuple(project / line for line in lines if re.fullmatch(r"\w+\.v", line))


def digest(project: Path) -> str:
    """Digest of every source, of ``_CoqProject`` and of coqc's version."""
    total = hashlib.sha256(version().encode())
    for path in (project / "_CoqProject", *sources(project)):
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


@cache
def version() -> str:
    """What ``coqc --version`` says.

    Raises:
        NotChecked: there is no coqc.
    """
    found = shutil.which("coqc")
    if found is None:
        raise NotChecked("coqc is not installed.", COQ)
    return _run([found, "--version"]).stdout.strip()


def stale(project: Path) -> list[str]:
    """The sources whose compiled file is missing, older, or made from another text."""
    found = []
    for source in sources(project):
        compiled, notes = source.with_suffix(".vo"), source.with_suffix(".glob")
        try:
            first = notes.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
            same = first == f"DIGEST {hashlib.md5(source.read_bytes()).hexdigest()}"
            fresh = compiled.stat().st_mtime >= source.stat().st_mtime
        except OSError:
            same = fresh = False
        if not (same and fresh):
            found.append(source.name)
    return found


def forbidden(project: Path) -> list[str]:
    """``File.v: word`` for every forbidden word in the sources, comments aside."""
    found = []
    for source in sources(project):
        text = without_comments(source.read_text(encoding="utf-8"))
        found += [f"{source.name}: {match.group()}" for match in FORBIDDEN.finditer(text)]
    return found


def without_comments(text: str) -> str:
    """Coq text without its comments, which nest.

    >>> without_comments("a (* b (* c *) d *) e")
    'a  e'
    """
    depth, kept = 0, []
    for part in re.split(r"(\(\*|\*\))", text):
        depth += {"(*": 1, "*)": -1}.get(part, 0)
        if depth == 0 and part != "*)":
            kept.append(part)
    return "".join(kept)


def answers(project: Path, expected: Mapping[str, frozenset[str]], wanted: Iterable[str]) -> dict[str, Answer]:
    """What each wanted theorem rests on, at most; from the record where it holds, else from the kernel.

    ``expected`` says for every bound name what it may rest on. Names with the same expectation are asked for in one
    go, because the kernel walks through the libraries of the real numbers once a question: the answer is the union,
    and only when it exceeds the expectation are they asked for one by one.

    Raises:
        NotChecked: no coqc, or the proofs are not compiled.
    """
    key = digest(project)
    if late := stale(project):
        raise NotChecked(f"not compiled: {', '.join(late[:5])}{' ...' if late[5:] else ''}.", "make formal")
    if words := forbidden(project):
        raise NotChecked(f"forbidden in the sources: {', '.join(words[:5])}.", "prove it")
    known = _read(project / RECORD, key)
    asked = set(wanted)
    for most in {expected[name] for name in asked - set(known)}:
        names = sorted(name for name in expected if expected[name] == most and name not in known)
        known.update(_ask(project, names, most))
        _write(project / RECORD, key, known)
    return {name: known[name] for name in asked}


def statements(project: Path, names: Sequence[str]) -> dict[str, str]:
    """The full statement of each name, as the kernel prints it."""
    header = [
        "From Coq Require Import Reals List.",
        "From mathcomp Require Import all_ssreflect.",
        "From Headcount Require Import FiniteReals.",
        "Open Scope R_scope.",
        "Set Printing Width 110.",
    ]
    mark = "@@ "
    lines = [f'Goal True. idtac "{mark}{name}". Abort. Check @{name}.' for name in names]
    output = "\n".join(line.rstrip() for line in coqc(project, [*_requires(names), *header, *lines]).splitlines())
    found = {}
    for block in output.split(mark)[1:]:
        name, _, text = block.partition("\n")
        found[name.strip()] = text.partition("\n")[2].strip().removeprefix(":").strip()
    return found


def _ask(project: Path, names: Sequence[str], most: frozenset[str]) -> dict[str, Answer]:
    modules = {source.stem for source in sources(project)}
    found: dict[str, Answer] = dict.fromkeys(names)
    present = [name for name in names if _module(name) in modules]
    while present:
        try:
            union = _assumptions(project, present)
        except _Unknown as unknown:
            present.remove(unknown.name)
            continue
        if union <= most or len(present) == 1:
            found.update(dict.fromkeys(present, union))
        else:
            found.update({name: _assumptions(project, [name]) for name in present})
        break
    return found


class _Unknown(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _assumptions(project: Path, names: Sequence[str]) -> frozenset[str]:
    bundle = f"Definition everything := ({', '.join('@' + name for name in names)})."
    try:
        output = coqc(project, [*_requires(names), bundle, "Print Assumptions everything."])
    except NotChecked as error:
        unknown = re.search(r"The reference (\S+) was not found", error.reason)
        if unknown is None or unknown.group(1) not in names:
            raise
        raise _Unknown(unknown.group(1)) from error
    heads = (line.split()[0] for line in output.splitlines() if line.strip() and not line[0].isspace())
    return frozenset(_label(head) for head in heads if head not in ("Axioms:", "Closed"))


def _label(axiom: str) -> str:
    return next((label for pattern, label in AXIOMS.items() if re.fullmatch(pattern, axiom)), axiom)


def coqc(project: Path, lines: Sequence[str]) -> str:
    """What coqc prints for a file of these lines.

    Raises:
        NotChecked: it stops with an error.
    """
    with tempfile.TemporaryDirectory() as room:
        question = Path(room) / "question.v"
        question.write_text("\n".join(lines) + "\n", encoding="utf-8")
        version()
        run = _run(["coqc", "-q", "-w", "none", "-Q", str(project), "Headcount", str(question)])
    if run.returncode:
        raise NotChecked(f"coqc says: {' '.join((run.stdout + run.stderr).split())[-600:]}", "make formal")
    return run.stdout


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        raise NotChecked(f"coqc took more than {SECONDS} s.", "again on a quieter machine") from error


def _requires(names: Sequence[str]) -> list[str]:
    if bad := [name for name in names if not NAME.fullmatch(name)]:
        raise NotChecked(f"not names of this project: {bad[:3]}.", "mend formal/bindings.json")
    return [f"Require {PREFIX}{module}." for module in sorted({_module(name) for name in names})]


def _module(name: str) -> str:
    return name.removeprefix(PREFIX).partition(".")[0]


def _read(path: Path, key: str) -> dict[str, Answer]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        kept = data["answers"] if data["key"] == key else {}
        return {str(name): None if answer is None else frozenset(map(str, answer)) for name, answer in kept.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}  # absent or damaged: ask again


def _write(path: Path, key: str, known: Mapping[str, Answer]) -> None:
    data = {"key": key, "answers": {name: None if a is None else sorted(a) for name, a in sorted(known.items())}}
    part = path.with_suffix(".part")
    try:
        part.write_text(json.dumps(data, indent=0), encoding="utf-8")
        part.replace(path)
    except OSError:
        return  # a folder that cannot be written to: the kernel is asked again next time
