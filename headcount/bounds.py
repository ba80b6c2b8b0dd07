"""``headcount bound``: the lower bounds for too few heads at given sizes, published and sharpened."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from rich.table import Table

from constructions.task import RetrievalTask, load_task
from headcount import console
from theory import too_few_heads as bounds
from theory.errors import InvalidInput
from theory.exact import parse_exact
from theory.ledger import Proved, Undecided, Verdict

MILESTONES = (1, 1_000, 1_000_000)


NEEDED = ("A2.1", "A2.2", "A2.4")
"""The hypotheses on the target under which N4 speaks (no Hessian)."""


def run(
    seq_len: int,
    heads: int,
    head_dim: int,
    eps: str,
    targets: int | None,
    rho: str,
    support: int | None,
    task: str | None,
    as_json: bool,
) -> None:
    """Compute, print, exit 0; 2 if the task violates a hypothesis; sizes without a theorem are a usage error."""
    constant = parse_exact(rho)
    if task is not None:
        targets, constant, support = _of_task(load_task(task, seq_len), as_json)
    if targets is None:
        raise InvalidInput.about("targets", None, "given, or taken from a task", "--targets 2 or --task toy")
    data = table(seq_len, targets, heads, head_dim, parse_exact(eps), constant, support)
    console.emit(as_json, data, lambda: _render(data))


def _of_task(task: RetrievalTask, as_json: bool) -> tuple[int, Fraction, int]:
    """D, rho and the smallest |S_i| of a task; ends the command where N4 does not apply to it."""
    from checks.constants import constants
    from checks.hypotheses import applicable, check_task

    verdict: Verdict = applicable(check_task(task), NEEDED)
    found = constants(task).rho if isinstance(verdict, Proved) else None
    if isinstance(verdict, Proved) and found is None:
        verdict = Undecided("No segments for N4's rho were found for this task.", "--targets and --rho by hand")
    if found is None:
        data = {"task": task.name, "verdict": verdict.label, "detail": verdict.detail}
        line = f"{verdict.label} N4 says nothing about {task.name}: {verdict.detail}"
        console.emit(as_json, data, lambda: console.out.print(line, markup=False))
        console.finish(verdict.exit_code)
    return task.num_targets, found, task.smallest_support


def table(
    seq_len: int, targets: int, heads: int, head_dim: int, eps: Fraction, rho: Fraction, support: int | None = None
) -> dict[str, Any]:
    """All figures as plain data; exact numbers as strings, decimal readings beside them."""
    sizes = (head_dim, heads, targets, seq_len)
    published = bounds.exponent_published(seq_len, head_dim, heads, targets)
    sharpened = bounds.exponent_sharpened(seq_len, head_dim, heads, targets, support)
    count = bounds.parameters_lower(eps, rho, *sizes, support)
    regime = bounds.regime(seq_len, head_dim, heads, targets)
    return {
        "seq_len": seq_len,
        "targets": targets,
        "heads": heads,
        "head_dim": head_dim,
        "eps": eps,
        "rho": rho,
        "k_published": {"exact": published, "decimal": float(published)},
        "k_sharpened": {"exact": sharpened, "decimal": round(float(sharpened), 4)},
        "published_bound_says_something_from_seq_len": regime.seq_len_above_published + 1,
        "sharpened_bound_says_something_from_seq_len": regime.seq_len_above_sharpened + 1,
        "n4": {
            "parameters_lower": console.scientific(count.value_lower, 6),
            "log10_estimate": None if math.isinf(count.log10_estimate) else round(count.log10_estimate, 4),
            "tau": count.tau,
            "grid_points": console.scientific(Fraction(count.grid), 6),
            "parts": console.scientific(Fraction(count.parts), 6),
        },
        "n4_reaches": {str(target): _milestone(target, rho, sizes, support) for target in MILESTONES},
        "paper_count_forces_a_collision_below": _paper_threshold(rho, sizes),
    }


def _milestone(parameters: int, rho: Fraction, sizes: tuple[int, int, int, int], support: int | None) -> Any:
    eps = bounds.threshold_eps(parameters, rho, *sizes, support)
    return None if eps is None else {"eps": console.scientific(eps, 6), "log10_eps": round(log10(eps), 4)}


def _paper_threshold(rho: Fraction, sizes: tuple[int, int, int, int]) -> Any:
    try:
        eps = bounds.paper_threshold_eps(rho, *sizes)
    except InvalidInput as error:
        return {"not_applicable": str(error)}
    return {"eps": console.scientific(eps, 3), "log10_eps": round(log10(eps), 2)}


def log10(value: Fraction) -> float:
    """Decimal logarithm for display, of a positive rational of any size."""
    return math.log10(value.numerator) - math.log10(value.denominator)


def _render(data: dict[str, Any]) -> None:
    sizes = ", ".join(f"{name} = {data[name]}" for name in ("targets", "heads", "head_dim", "seq_len", "rho"))
    view = Table(title=f"Too few heads: {sizes}", title_justify="left")
    view.add_column("what")
    view.add_column("value", justify="right")
    view.add_column("claim")
    view.add_row("exponent k, published", f"{data['k_published']['decimal']:g}", "T2.2")
    view.add_row("exponent k, sharpened", f"{data['k_sharpened']['decimal']:g}", "N4")
    view.add_row("k > 0 from T =, published", str(data["published_bound_says_something_from_seq_len"]), "N6")
    view.add_row("k > 0 from T =, sharpened", str(data["sharpened_bound_says_something_from_seq_len"]), "N4")
    count = data["n4"]
    view.add_row(
        f"read-out parameters at eps = {console.scientific(data['eps'])}, more than", count["parameters_lower"], "N4"
    )
    view.add_row("   with tau, grid points", f"{count['tau']}, {count['grid_points']}", "N4")
    for parameters, reached in data["n4_reaches"].items():
        shown = "never" if reached is None else f"10^{reached['log10_eps']:.2f}"
        view.add_row(f"N4 first exceeds {int(parameters):,} parameters at eps =", shown, "N4")
    paper = data["paper_count_forces_a_collision_below"]
    shown = paper.get("not_applicable", f"10^{paper.get('log10_eps')}")
    view.add_row("the paper's own count forces a collision below eps =", shown, "T2.2-count4, N6")
    console.out.print(view)
