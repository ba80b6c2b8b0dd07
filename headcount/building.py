"""``headcount build``: the network a proof promises, its certified error, its counts, its files."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.table import Table

from checks import budgets
from checks.budget import Report
from checks.certificates import writer
from checks.covering import NotReadable
from checks.error_certificates import error_certificate
from checks.hypotheses import HypothesisCheck, applicable, check_task
from checks.sup_error import sup_error
from constructions.built import Built
from constructions.network_file import encode, require_suffix
from constructions.task import load_task
from headcount import console, counting_view, kinds
from theory.enough_heads import Term
from theory.errors import HeadcountError, TooLarge
from theory.exact import parse_exact
from theory.ledger import NotApplicable, Proved, Undecided, Verdict
from theory.rational_bounds import positive

BISECTED = 3
"""Up to this many coordinates T d the cube is bisected as well."""
EXACT_BITS = 256
"""Longer numbers are shown in decimal."""


def run(
    kind: str,
    task_name: str,
    seq_len: int,
    eps_text: str,
    form: str | None,
    out: Path | None,
    certificate: Path | None,
    count: bool,
    as_json: bool,
) -> None:
    """Build, certify, write what was asked for, print; the exit code is the verdict's."""
    chosen, form = kinds.named(kind, form)
    task, eps = load_task(task_name, seq_len), positive("eps", parse_exact(eps_text))
    if out is not None:
        require_suffix(out)
    hypotheses = check_task(task)
    verdict: Verdict = applicable(hypotheses, ("DEF-D.range",))
    if isinstance(verdict, NotApplicable):
        _give_up(verdict, f"{chosen.claims} says nothing about {task.name}. Try: rescale the feature.", as_json)
    with console.progress_bar(kind, 3, as_json) as advance:
        advance("composing the network", 0)
        try:
            built = chosen.build(task, eps, form)
        except TooLarge as error:
            reason, _, remedy = str(error).partition(" Try: ")
            _give_up(Undecided(reason, remedy.rstrip(".")), f"{kind} for {task.name}: too large to build.", as_json)
        advance("certifying its error", 1)
        report = budgets.certify(built)
        data = describe(built, report, hypotheses)
        if task.seq_len * task.token_dim <= BISECTED and not built.network.token_layers:
            advance("bisecting the cube", 2)
            data["branch_and_bound"] = bisected(built)
    if count:
        data["constraints"] = counting_view.constraints(built.network)
    if out is not None:
        write_network(out, built)
        data["network"] = str(out)
    if certificate is not None:
        data["certificate"] = _certificate(certificate, built, report)
    console.emit(as_json, data, lambda: _render(data))
    console.finish(report.verdict.exit_code)


def _give_up(verdict: Verdict, why: str, as_json: bool) -> None:
    """End the command: nothing was built, and this is why."""
    data = {"verdict": verdict.label, "detail": verdict.detail, "why": why}
    console.emit(as_json, data, lambda: console.out.print(f"{verdict.label} {why} {verdict.detail}", markup=False))
    console.finish(verdict.exit_code)


def describe(built: Built, report: Report, hypotheses: Sequence[HypothesisCheck]) -> dict[str, Any]:
    """Everything worth knowing about the network, as plain data."""
    bound, witness, network = report.bound_upper, getattr(report.verdict, "witness", {}), built.network
    return {
        "kind": built.kind,
        "task": built.task.name,
        "seq_len": built.task.seq_len,
        "num_targets": built.task.num_targets,
        "form": built.form,
        "eps": _shown(built.eps),
        "beta": console.scientific(network.beta, 5),
        "heads": network.num_heads,
        "value_dim_per_head": network.heads[0].value.shape[0],
        "layers": 1 + len(network.token_layers),
        "design": {name: _shown(value) for name, value in built.design.items()},
        "parameters": counting_view.counts(network),
        "verdict": report.verdict.label,
        "detail": report.verdict.detail,
        "certified_sup_error": None if bound is None else console.scientific(bound, 6),
        "certified_lower_error": witness.get("bound"),
        "every_beta": witness.get("every_beta"),
        "witness": witness.get("sequence"),
        "budget": [_term(term) for term in report.terms],
        "hypotheses": [
            {"id": check.id, "verdict": check.verdict.label, "detail": check.detail} for check in hypotheses
        ],
    }


def bisected(built: Built) -> dict[str, str]:
    """A second opinion on the budget for small T d: certified bounds of the sup error by branch and bound."""
    try:
        found = sup_error(built.network, built.task, negligible=built.eps / 100)
    except HeadcountError as error:  # weights beyond its floating point range, say; the budget stands without it
        return {"not_available": str(error)}
    return {"lower": console.scientific(found.lower, 4), "upper": console.scientific(found.upper, 4)}


def write_network(path: Path, built: Built) -> None:
    """Write the network in the form that the file's name asks for, in one step."""
    writer.write_bytes(path, encode(built.network, path.suffix))


def _certificate(path: Path, built: Built, report: Report) -> str:
    try:
        content = error_certificate(built.network, built.task, built.eps, report)
    except NotReadable:
        return f"none: the independent checker has no method for {built.kind} beyond T d = {BISECTED}"
    if content is None:
        return "none: the error was not decided"
    writer.write(path, content)
    return str(path)


def _shown(value: Fraction | int | str) -> str:
    if isinstance(value, str):
        return value
    exact = Fraction(value)
    short = exact.numerator.bit_length() + exact.denominator.bit_length() <= EXACT_BITS
    return str(exact) if short else console.scientific(exact)


def _term(term: Term) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": term.name,
        "claim": term.claim,
        "upper": console.scientific(term.value_upper, 5),
    }
    return found | ({"parts": [_term(part) for part in term.parts]} if term.parts else {})


def _render(data: dict[str, Any]) -> None:
    console.out.print(f"{console.styled(data['verdict'])} ", end="")
    console.out.print(data["detail"], markup=False)
    sizes = f"D = {data['num_targets']}, T = {data['seq_len']}, h = {data['heads']}, beta = {data['beta']}"
    counted = ", ".join(f"{name} {number:,}" for name, number in data["parameters"].items())
    console.out.print(f"{data['kind']} for {data['task']}, form {data['form']}, {sizes}", markup=False)
    console.out.print(f"parameters: {counted or 'a map of this network is a formula'}", markup=False)
    if data["design"]:
        design = ", ".join(f"{name} {value}" for name, value in data["design"].items())
        console.out.print(f"design: {design}", markup=False)
    if data["budget"]:
        view = Table(title="Error budget over all sequences", title_justify="left")
        for column in ("term", "claim", "certified upper bound"):
            view.add_column(column, justify="right" if column.startswith("certified") else "left")
        _add_terms(view, data["budget"], "")
        view.add_row("sum", "", f"{data['certified_sup_error']} (asked: {data['eps']})")
        console.out.print(view)
    if "branch_and_bound" in data:
        ends = data["branch_and_bound"]
        within = ends.get("not_available") or f"the sup error lies in [{ends['lower']}, {ends['upper']}]"
        console.out.print(f"branch and bound: {within}", markup=False)
    if data["witness"] is not None:
        tokens = "; ".join(", ".join(token) for token in data["witness"])
        console.out.print(f"witness X = ({tokens}), error at least {data['certified_lower_error']}", markup=False)
    for check in data["hypotheses"]:
        if check["verdict"] != Proved.label:
            console.out.print(f"note: {check['id']} {console.styled(check['verdict'])} ", end="")
            console.out.print(check["detail"], markup=False)
    if "constraints" in data:
        counting_view.render(data["parameters"], data["constraints"])
    for key in ("network", "certificate"):
        if key in data:
            console.out.print(f"{key}: {data[key]}", markup=False)


def _add_terms(view: Table, terms: Sequence[dict[str, Any]], indent: str) -> None:
    for term in terms:
        view.add_row(indent + term["name"], term["claim"], indent + term["upper"])
        _add_terms(view, term.get("parts", ()), indent + "  ")
