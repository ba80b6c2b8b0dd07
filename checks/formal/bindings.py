"""Reads ``formal/bindings.json``: which Coq theorem speaks about which statement of the ledger, and how much of it.

The file is hostile until checked: its size, every key and every value; only then is a name handed to the kernel.
An entry covers the ``statement`` (the theorem is at least as strong) or a ``step`` of its proof, or is its
``refutation``. Entries of one statement with the same ``together`` cover it jointly. ``ledger`` is the digest of the
statement that the reader compared: when the ledger's words, formula or proposition change, the binding stands for
nothing until somebody compares again (``python -m checks.formal compare CLAIM``).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from theory.errors import InvalidInput
from theory.ledger import Form, Statement

MAX_BYTES = 1_000_000
MAX_ENTRIES = 1_000
MAX_TEXT = 1_000
CLAIM = re.compile(r"[A-Z]{1,3}[0-9]*(\.[A-Za-z0-9]+)?(-[A-Za-z0-9]+)?")
NAME = re.compile(r"Headcount\.([A-Za-z][A-Za-z0-9_]*)\.([A-Za-z_][A-Za-z0-9_']*)")
DIGEST = re.compile(r"[0-9a-f]{16}")
TOGETHER = re.compile(r"[a-z]{1,20}")
REQUIRED = ("claim", "form", "name", "file", "covers", "relation", "statement", "remark", "axioms", "ledger")


class Covers(StrEnum):
    """How much of the ledger's statement the theorem is."""

    STATEMENT = "statement"
    STEP = "step"
    REFUTATION = "refutation"


class Relation(StrEnum):
    """The theorem's statement beside the ledger's, as a reader found it."""

    STRONGER = "stronger"
    EQUAL = "equal"
    WEAKER = "weaker"
    CONTRARY = "contrary"


@dataclass(frozen=True)
class Binding:
    """One theorem about one statement of the ledger.

    ``statement`` says in words what the theorem says, ``remark`` how that compares, ``axioms`` what it may rest on.
    """

    claim: str
    form: Form
    name: str
    file: str
    covers: Covers
    relation: Relation
    statement: str
    remark: str
    axioms: frozenset[str]
    ledger: str
    together: str = ""


def read(path: Path) -> tuple[Binding, ...]:
    """The bindings of a file.

    Raises:
        InvalidInput: too large, not JSON, or an entry that is not well formed.
    """
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise InvalidInput.about("bindings", size, f"at most {MAX_BYTES} bytes", "remove what is not a binding")
    return parse(path.read_text(encoding="utf-8"))


def parse(text: str) -> tuple[Binding, ...]:
    """The bindings in JSON text; see `read`."""
    try:
        data = json.loads(text, object_pairs_hook=_without_repeats)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput.about("bindings", str(error), "a JSON list", "mend it") from error
    if not isinstance(data, list) or len(data) > MAX_ENTRIES:
        raise InvalidInput.about("bindings", type(data).__name__, f"a list of at most {MAX_ENTRIES}", "mend it")
    found = tuple(_binding(entry) for entry in data)
    keys = [(entry.claim, entry.form, entry.name) for entry in found]
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        raise InvalidInput.about("bindings", twice, "one entry for a claim, form and name", "remove one")
    return found


def groups(bindings: Sequence[Binding]) -> list[tuple[Binding, ...]]:
    """The bindings that prove or refute a statement: alone, or all that name the same ``together``."""
    found: dict[tuple[str, Form, Covers, str], list[Binding]] = {}
    for entry in bindings:
        if entry.covers is not Covers.STEP:
            label = f"+{entry.together}" if entry.together else entry.name
            found.setdefault((entry.claim, entry.form, entry.covers, label), []).append(entry)
    return [tuple(group) for group in found.values()]


def expectations(bindings: Sequence[Binding]) -> dict[str, frozenset[str]]:
    """For every bound theorem the axioms that it may rest on."""
    found: dict[str, frozenset[str]] = {}
    for entry in bindings:
        found[entry.name] = found.get(entry.name, frozenset()) | entry.axioms
    return found


def statement_digest(statement: Statement) -> str:
    """A digest of what the reader compared: words, formula, hypotheses and proposition of the ledger's statement.

    >>> one = statement_digest(Statement("at most 2", "x<=2"))
    >>> one == statement_digest(Statement("at most 3", "x<=2"))
    False
    """
    stated = statement.proposition
    parts = [statement.words, statement.formula, *statement.hypotheses]
    parts += [str(relation) for relation in (*stated.hypotheses, stated.conclusion)] if stated is not None else []
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def to_json(bindings: Sequence[Binding]) -> str:
    """The text of a bindings file: one entry a line, in order of claim, form and name."""
    lines = []
    for entry in sorted(bindings, key=lambda entry: (entry.claim, entry.form.value, entry.name)):
        data: dict[str, Any] = {key: getattr(entry, key) for key in REQUIRED}
        data["axioms"] = sorted(entry.axioms)
        if entry.together:
            data["together"] = entry.together
        lines.append(json.dumps(data, ensure_ascii=True))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidInput.about("keys", [key for key, _ in pairs], "each once", "remove the repeated one")
    return found


def _binding(entry: object) -> Binding:
    if not isinstance(entry, dict) or not set(REQUIRED) <= set(entry) <= {*REQUIRED, "together"}:
        raise InvalidInput.about("binding", entry, f"an object with {', '.join(REQUIRED)}", "add or remove keys")
    text = {key: value for key, value in entry.items() if key != "axioms"}
    axioms = entry["axioms"]
    listed = isinstance(axioms, list) and all(isinstance(item, str) for item in axioms)
    if not listed or any(not isinstance(item, str) or len(item) > MAX_TEXT for item in [*text.values(), *axioms]):
        raise InvalidInput.about("binding", entry, f"texts of at most {MAX_TEXT} characters", "shorten them")
    name = NAME.fullmatch(text["name"])
    shapes: Mapping[str, bool] = {
        "claim": CLAIM.fullmatch(text["claim"]) is not None,
        "name": name is not None,
        "file": name is not None and text["file"] == f"formal/{name.group(1)}.v",
        "form": text["form"] in set(Form),
        "covers": text["covers"] in set(Covers),
        "relation": text["relation"] in set(Relation),
        "ledger": text["ledger"] == "" or DIGEST.fullmatch(text["ledger"]) is not None,
        "together": "together" not in text or TOGETHER.fullmatch(text["together"]) is not None,
    }
    if wrong := [key for key, right in shapes.items() if not right]:
        raise InvalidInput.about("binding", {key: text.get(key) for key in wrong}, "well formed", "see docs/formal.md")
    return Binding(
        claim=text["claim"],
        form=Form(text["form"]),
        name=text["name"],
        file=text["file"],
        covers=Covers(text["covers"]),
        relation=Relation(text["relation"]),
        statement=text["statement"],
        remark=text["remark"],
        axioms=frozenset(axioms),
        ledger=text["ledger"],
        together=text.get("together", ""),
    )
