"""Loads the claims: ``theory/claims/*.toml`` holds the texts as data, this module checks and parses them.

A file is a list of ``[[claim]]`` tables: id, title, source, severity (where something falls), no_argument (what the
paper prints in place of an argument; excludes one), sub-tables ``published`` (always), ``argument``, ``repaired``,
``sharpened``. A statement has words, formula (LaTeX), and optionally hypotheses (words), depends_on (``"N2"`` or
``"T2.1-15 (repaired)"``), same_as (a statement registered elsewhere that says the same), and a proposition: ``given``
(relations), ``then`` (a relation) and ``instance`` (exact values at which everything given holds - checked here, unless
it needs transcendental values).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from theory.errors import InexactOperation, InvalidInput
from theory.exact import parse_exact
from theory.ledger import Claim, Form, Reference, Severity, Statement
from theory.propositions import proposition

_CLAIM_KEYS = {"id", "title", "source", "severity", "no_argument", *(form.value for form in Form)}
_STATEMENT_KEYS = {"words", "formula", "hypotheses", "depends_on", "given", "then", "instance", "same_as"}


def all_claims() -> tuple[Claim, ...]:
    """Every registered claim, in the order of the files' names and then of the files.

    Raises:
        InvalidInput: a claim that is not well formed (unknown key, unknown form, failing instance), or a repeated id.
    """
    claims: list[Claim] = []
    folder = resources.files("theory") / "claims"
    for path in sorted(folder.iterdir(), key=lambda item: item.name):
        if path.name.endswith(".toml"):
            claims += parse_claims(path.read_text(encoding="utf-8"))
    ids = [claim.id for claim in claims]
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise InvalidInput.about("claim ids", twice, "unique", "rename one")
    return tuple(claims)


def parse_claims(text: str) -> list[Claim]:
    """Claims from TOML text (see the module's docstring for the format).

    >>> text = '[[claim]]\\nid="X1"\\ntitle="t"\\nsource="s"\\n[claim.published]\\nwords="w"'
    >>> [claim.id for claim in parse_claims(text)]
    ['X1']
    """
    data = tomllib.loads(text)
    return [_claim(entry) for entry in data.get("claim", [])]


def _claim(entry: Mapping[str, Any]) -> Claim:
    name = str(entry.get("id", "?"))
    _only(f"claim {name}", entry, _CLAIM_KEYS)
    forms = {form.value: _statement(f"{name} ({form})", entry[form.value]) for form in Form if form.value in entry}
    severity = Severity(entry["severity"]) if "severity" in entry else None
    absent = str(entry.get("no_argument", ""))
    if absent and Form.ARGUMENT.value in forms:
        raise InvalidInput.about(f"claim {name}", "no_argument", "no argument beside it", "keep one of the two")
    try:
        return Claim(name, entry["title"], entry["source"], severity=severity, no_argument=absent, **forms)
    except (KeyError, TypeError) as error:
        raise InvalidInput.about(f"claim {name}", str(error), "id, title, source and published", "add it") from error


def _statement(where: str, entry: Mapping[str, Any]) -> Statement:
    _only(where, entry, _STATEMENT_KEYS)
    stated = proposition(entry.get("given", []), entry["then"]) if "then" in entry else None
    instance = {key: parse_exact(str(value)) for key, value in entry.get("instance", {}).items()}
    if stated is not None:
        if missing := sorted(set(stated.variables) - set(instance)):
            raise InvalidInput.about(f"{where}: instance", missing, "a value for every variable", "add the values")
        for relation in stated.hypotheses:
            try:
                holds = relation.holds_exactly(instance)
            except InexactOperation:
                continue  # decided in balls by the audit's own instance check
            if not holds:
                raise InvalidInput.about(f"{where}: instance", str(relation), "to hold at the instance", "another one")
    return Statement(
        words=entry["words"],
        formula=entry.get("formula", ""),
        hypotheses=tuple(entry.get("hypotheses", ())),
        depends_on=tuple(reference(text) for text in entry.get("depends_on", ())),
        proposition=stated,
        instance=instance,
        same_as=reference(entry["same_as"]) if "same_as" in entry else None,
    )


def reference(text: str) -> Reference:
    """``"N2"`` or ``"T2.1-15 (repaired)"``.

    >>> reference("T2.1-15 (repaired)").form.value
    'repaired'
    """
    name, _, form = text.partition(" (")
    return Reference(name, Form(form.removesuffix(")")) if form else Form.PUBLISHED)


def _only(where: str, entry: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(set(entry) - known):
        raise InvalidInput.about(f"keys of {where}", unknown, f"among {sorted(known)}", "rename or remove them")
