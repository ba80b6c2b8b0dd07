"""``headcount audit --html``: the ledger as linked pages, with errata, what more is true, and the dependency graph."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from checks.audit import Audit
from headcount import report
from headcount.auditing import ARGUMENT_WORDS, claim_to_json, explanation
from headcount.graph import Node, graph_svg
from theory.ledger import Claim, Form

STANDING = ("sharpened", "repaired", "published")


def write(folder: Path, outcome: Audit) -> Path:
    """Write index, one page for each claim, errata, more and graph into ``folder``; returns the index."""
    claims = claims_json(outcome)
    folder.mkdir(parents=True, exist_ok=True)
    ledger = report.ledger_context(outcome)
    rows = [{**row, "page": page_of(row["id"])} for row in ledger["claims"]]
    for row, data in zip(rows, claims, strict=True):
        row["severity"] = data["severity"] or ""
    report.save(folder / "index.html", "ledger.html.j2", title="The ledger", lead=ledger["sentence"], claims=rows)
    for data in claims:
        context = {**data, "statements": [_statement(form, s) for form, s in data["statements"].items()]}
        title = f"{data['id']}: {data['title']}"
        report.save(folder / page_of(data["id"]), "claim.html.j2", title=title, lead="", claim=context)
    report.save(
        folder / "errata.html",
        "list.html.j2",
        title="Errata",
        lead="Published statements that fail, with a witness, and arguments that do not establish what they claim.",
        items=[_erratum(data) for data in claims if _fallen(data)],
    )
    report.save(
        folder / "more.html",
        "list.html.j2",
        title="What more is true",
        lead="Statements sharper than the published ones, and results beyond the paper.",
        items=[_more(data) for data in claims if "sharpened" in data["statements"] or data["id"].startswith("N")],
    )
    graph = _graph(outcome.claims, {data["id"]: data for data in claims})
    report.save(folder / "graph.html", "graph.html.j2", title="What rests on what", lead="", graph=graph)
    return folder / "index.html"


def claims_json(outcome: Audit) -> list[dict[str, Any]]:
    """Every claim as plain data, in the order of the ledger."""
    return [claim_to_json(claim, outcome) for claim in outcome.claims]


def page_of(claim_id: str) -> str:
    """The file name of a claim's page."""
    return re.sub(r"[^A-Za-z0-9.-]", "_", claim_id) + ".html"


def _statement(form: str, data: Mapping[str, Any]) -> dict[str, Any]:
    status = ARGUMENT_WORDS[data["status"]] if form == Form.ARGUMENT else data["status"]
    return {
        **data,
        "form": form,
        "status": status,
        "detail": explanation(data),
        "class": status.split(" ")[0],
        "formula": report.formula(data["formula"]),
        "depends": [{"text": text, "page": page_of(text.split(" ")[0])} for text in data["depends_on"]],
        "evidence": [{**entry, "detail": _detail(entry["verdict"])} for entry in data["evidence"]],
        "witness": json.dumps(data["witness"], indent=1) if data["witness"] else "",
    }


def _detail(verdict: Mapping[str, Any]) -> str:
    return str(verdict.get("detail") or verdict.get("reason") or "; ".join(verdict.get("failed", ())))


def _fallen(data: Mapping[str, Any]) -> bool:
    statements = data["statements"]
    argument = statements.get("argument", {}).get("status", "PROVED")
    return statements["published"]["status"] not in ("PROVED", "UNDECIDED") or argument != "PROVED"


def _erratum(data: Mapping[str, Any]) -> dict[str, Any]:
    forms = [form for form in ("published", "argument", "repaired") if form in data["statements"]]
    return _item(data, forms)


def _more(data: Mapping[str, Any]) -> dict[str, Any]:
    forms = ["sharpened"] if "sharpened" in data["statements"] else []
    return _item(data, (["published"] if data["id"].startswith("N") else []) + forms)


def _item(data: Mapping[str, Any], forms: list[str]) -> dict[str, Any]:
    parts = []
    for form in forms:
        s = _statement(form, data["statements"][form])
        label = Markup("{}: {}").format(form, s["status"])
        parts.append({"label": label, "class": s["class"], **{key: s[key] for key in ("words", "formula", "detail")}})
    return {"id": data["id"], "title": data["title"], "page": page_of(data["id"]), "parts": parts}


def _graph(claims: tuple[Claim, ...], data: Mapping[str, Mapping[str, Any]]) -> Markup:
    below: dict[str, list[str]] = {}
    for claim in claims:
        found: list[str] = []
        for statement in (claim.statement(form) for form in claim.forms):
            if statement is not None:
                twin = [statement.same_as] if statement.same_as is not None else []
                found += [reference.claim for reference in (*statement.depends_on, *twin)]
        below[claim.id] = [name for name in dict.fromkeys(found) if name != claim.id]
    nodes = []
    for claim in claims:
        statements = data[claim.id]["statements"]
        labels = [statements[form]["status"] for form in STANDING if form in statements]
        best = "PROVED" if "PROVED" in labels else labels[-1]
        nodes.append(Node(claim.id, page_of(claim.id), statements["published"]["status"], best))
    return graph_svg(nodes, below)
