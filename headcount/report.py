"""The report page: one self-contained HTML file, formulas as MathML, figures as SVG, nothing from outside."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import latex2mathml.converter
from markupsafe import Markup

from checks.audit import Audit
from checks.certificates import writer
from headcount.auditing import argument_word, claim_to_json, explanation
from theory.ledger import Claim, Form


def write(folder: Path, context: Mapping[str, Any]) -> Path:
    """Render the report into ``folder/index.html`` and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.html"
    save(path, "report.html.j2", **context, m=formula)
    return path


def save(path: Path, template: str, **context: Any) -> None:
    """Render a template into a file, in one step: the file is there whole, or as it was before."""
    loader = jinja2.PackageLoader("headcount", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    page = environment.get_template(template).render(**context)
    writer.write_bytes(path, page.encode())


def formula(latex: str) -> Markup:
    """A LaTeX formula as MathML."""
    return Markup(latex2mathml.converter.convert(_plain_names(latex))) if latex else Markup("")


def ledger_context(outcome: Audit) -> dict[str, Any]:
    """The ledger as the template wants it."""
    claims = [_claim(claim, outcome) for claim in outcome.claims]
    fallen = sum(claim["cells"][0]["text"] == "REFUTED" for claim in claims)
    stand = sum(claim["cells"][0]["text"] == "PROVED" for claim in claims)
    open_still = len(claims) - stand - fallen
    sentence = (
        f"{len(claims)} claims: as published {stand} are proved, {fallen} refuted by an exact witness, "
        f"{open_still} undecided."
    )
    return {"claims": claims, "sentence": sentence}


def _claim(claim: Claim, outcome: Audit) -> dict[str, Any]:
    data = claim_to_json(claim, outcome)
    cells, means = [], []
    for form in Form:
        statement = data["statements"].get(form.value)
        text = "" if statement is None else statement["status"]
        if form is Form.ARGUMENT:
            text = argument_word(claim, text)
        cells.append({"text": text, "class": text.split(" ")[0]})
        if statement and statement["means"]:
            means.append(statement["means"])
    statements = [
        {"form": form, "words": s["words"], "detail": explanation(s), "formula": formula(s["formula"])}
        for form, s in data["statements"].items()
    ]
    return {
        "id": claim.id,
        "title": claim.title,
        "statements": statements,
        "cells": cells,
        "means": ", ".join(dict.fromkeys(means)),
    }


def _plain_names(latex: str) -> str:
    return re.sub(r"\\(?:operatorname|mathrm)\{(\w+)\}", r"\\text{\1}", latex)
