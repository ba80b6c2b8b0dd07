"""``headcount build``: the network a proof promises, its certified error, its files."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.table import Table

from checks import budget, constants
from checks.certificates import writer
from checks.curves import enclosed_curve
from checks.error_certificates import error_certificate
from checks.hypotheses import applicable, check_task
from checks.sup_error import sup_error
from constructions.counting import count_parameters
from constructions.network_json import network_to_json
from constructions.specialists import Knowledge, Specialist, build
from constructions.task import RetrievalTask, load_task
from headcount import console
from theory.errors import InvalidInput
from theory.exact import parse_exact
from theory.ledger import Form, NotApplicable, Proved

KINDS = ("specialists",)
BISECTED = 3
"""Up to this many coordinates T d the cube is bisected as well."""
FORMS = (Form.PUBLISHED, Form.REPAIRED, Form.SHARPENED)


def run(
    kind: str,
    task_name: str,
    seq_len: int,
    eps_text: str,
    form: str,
    out: Path | None,
    certificate: Path | None,
    as_json: bool,
) -> None:
    """Build, certify, write what was asked for, print; the exit code is the verdict's."""
    if kind not in KINDS:
        raise InvalidInput.about("kind", kind, f"one of {', '.join(KINDS)}", "headcount build specialists --help")
    if form not in FORMS:
        raise InvalidInput.about("form", form, f"one of {', '.join(FORMS)}", "--form sharpened")
    task, eps = load_task(task_name, seq_len), parse_exact(eps_text)
    _require_range(task, as_json)
    built = specialists(task, eps, Form(form))
    report = budget.certify(built.network, task, eps)
    data = describe(built, task, report)
    if task.seq_len * task.token_dim <= BISECTED:
        data["branch_and_bound"] = bisected(built, task)
    if out is not None:
        write_network(out, built)
        data["network"] = str(out)
    if certificate is not None:
        content = error_certificate(built.network, task, eps, report)
        if content is None:
            data["certificate"] = "none: the error was not decided"
        else:
            writer.write(certificate, content)
            data["certificate"] = str(certificate)
    console.emit(as_json, data, lambda: _render(data))
    console.finish(report.verdict.exit_code)


def _require_range(task: RetrievalTask, as_json: bool) -> None:
    """End the command where a feature leaves [0, 1]: T2.1 says nothing then, and its network would be huge."""
    verdict = applicable(check_task(task), ("DEF-D.range",))
    if isinstance(verdict, NotApplicable):
        data = {"task": task.name, "verdict": verdict.label, "detail": verdict.detail}
        line = f"{verdict.label} T2.1 says nothing about {task.name}: {verdict.detail}. Try: rescale the feature."
        console.emit(as_json, data, lambda: console.out.print(line, markup=False))
        console.finish(verdict.exit_code)


def specialists(task: RetrievalTask, eps: Fraction, form: Form) -> Specialist:
    """The specialists of T2.1 for a task, with the constants that its proofs need computed here."""
    minimisers = constants.minimisers(task)
    exact = tuple(() if entry.point is None else (entry.point,) for entry in minimisers)
    knowledge = Knowledge(constants.outer_gradient_l1_upper(task), exact, enclosed_curve)
    return build(task, eps, form, knowledge)


def describe(built: Specialist, task: RetrievalTask, report: budget.Report) -> dict[str, Any]:
    """Everything worth knowing about the network, as plain data."""
    counts = count_parameters(built.network)
    terms = [
        {"name": term.name, "claim": term.claim, "upper": console.scientific(term.value_upper, 5)}
        for term in report.terms
    ]
    bound = report.bound_upper
    return {
        "task": task.name,
        "seq_len": task.seq_len,
        "num_targets": task.num_targets,
        "form": built.form.value,
        "eps": built.eps,
        "beta": console.scientific(built.network.beta, 5),
        "heads": built.network.num_heads,
        "value_dim_per_head": built.network.heads[0].value.shape[0],
        "parameters": {
            "feed_forward_nonzero": counts.feed_forward,
            "feed_forward_dense": counts.feed_forward_dense,
            "positional": counts.positional,
            "attention": counts.attention,
        },
        "verdict": report.verdict.label,
        "detail": report.verdict.detail,
        "certified_sup_error": None if bound is None else console.scientific(bound, 6),
        "certified_lower_error": getattr(report.verdict, "witness", {}).get("bound"),
        "every_beta": getattr(report.verdict, "witness", {}).get("every_beta"),
        "witness": getattr(report.verdict, "witness", {}).get("sequence"),
        "budget": terms,
        "hypotheses": [
            {"id": check.id, "verdict": check.verdict.label, "detail": check.detail} for check in check_task(task)
        ],
    }


def bisected(built: Specialist, task: RetrievalTask) -> dict[str, str]:
    """A second opinion on the budget for small T d: certified bounds of the sup error by branch and bound."""
    found = sup_error(built.network, task, negligible=built.eps / 100)
    return {"lower": console.scientific(found.lower, 4), "upper": console.scientific(found.upper, 4)}


def write_network(path: Path, built: Specialist) -> None:
    """Write the network as exact JSON, in one step."""
    writer.write_bytes(path, json.dumps(network_to_json(built.network)).encode())


def _render(data: dict[str, Any]) -> None:
    console.out.print(f"{console.styled(data['verdict'])} ", end="")
    console.out.print(data["detail"], markup=False)
    sizes = f"D = {data['num_targets']}, T = {data['seq_len']}, h = {data['heads']}, beta = {data['beta']}"
    counts = ", ".join(f"{name} {number}" for name, number in data["parameters"].items())
    console.out.print(f"{data['task']}, form {data['form']}, {sizes}\nparameters: {counts}", markup=False)
    if data["budget"]:
        view = Table(title="Error budget over all sequences", title_justify="left")
        for column in ("term", "claim", "certified upper bound"):
            view.add_column(column, justify="right" if column.startswith("certified") else "left")
        for term in data["budget"]:
            view.add_row(term["name"], term["claim"], term["upper"])
        view.add_row("sum", "", f"{data['certified_sup_error']} (asked: {data['eps']})")
        console.out.print(view)
    if "branch_and_bound" in data:
        ends = data["branch_and_bound"]
        console.out.print(f"branch and bound: the sup error lies in [{ends['lower']}, {ends['upper']}]", markup=False)
    if data["witness"] is not None:
        tokens = "; ".join(", ".join(token) for token in data["witness"])
        console.out.print(f"witness X = ({tokens}), error at least {data['certified_lower_error']}", markup=False)
    for check in data["hypotheses"]:
        if check["verdict"] != Proved.label:
            console.out.print(f"note: {check['id']} {console.styled(check['verdict'])} ", end="")
            console.out.print(check["detail"], markup=False)
    for key in ("network", "certificate"):
        if key in data:
            console.out.print(f"{key}: {data[key]}", markup=False)
