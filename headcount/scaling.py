"""``headcount scaling``: parameters against eps and against T, counted on networks that are built, formulas beyond."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from checks.certificates import writer
from checks.constants import constants
from checks.hypotheses import applicable, check_task
from constructions.counting import ParameterCount, count_parameters
from constructions.log_sum_exp import affine_outer
from constructions.task import RetrievalTask, load_task
from headcount import console, kinds, scaling_figure
from theory import depth
from theory.errors import HeadcountError, InvalidInput, TooLarge
from theory.exact import parse_exact
from theory.finite_eps import n4_at
from theory.ledger import Proved
from theory.memorisation import exponents
from theory.rational_bounds import positive

GAMMA = Fraction(1, 2)
"""A3's exponent for features that are C^2 along finitely many directions (constructions.approximators)."""
MOST_COUNTED = 50_000
"""A series of built networks ends with the first one that has more parameters."""
EPS_STEPS = tuple(Fraction(1, round(10 ** (k / 2))) for k in range(1, 17))
"""About 10^-1/2, 10^-1, ..., 10^-8."""
LENGTHS = tuple(2**k for k in range(2, 10))

Point = dict[str, Any]


@dataclass(frozen=True)
class Series:
    """One curve: points {x, log10_parameters, source}; source is "built" or "formula"; slopes in log-log terms."""

    name: str
    claim: str
    points: tuple[Point, ...]
    slope_proved: Fraction | None = None
    note: str = ""

    @property
    def slope_measured(self) -> float | None:
        """Least squares over the last four built points; None if there are fewer than three."""
        built = [(p["log10_x"], p["log10_parameters"]) for p in self.points if p["source"] == "built"][-4:]
        if len(built) < 3:
            return None
        x, y = np.array(built).T
        return float(np.polyfit(x, y, 1)[0])


def run(task_name: str, seq_len: int, eps_text: str, out: Path | None, as_json: bool) -> None:
    """Build, count, draw, print; exit 0."""
    task, eps = load_task(task_name, seq_len), positive("eps", parse_exact(eps_text))
    if out is not None and out.suffix != ".svg":
        raise InvalidInput.about("figure", str(out), "a name ending in .svg", "--out scaling.svg")
    with console.progress_bar("scaling", 2, as_json) as advance:
        advance("against eps", 0)
        left = against_eps(task)
        advance("against T", 1)
        right = against_length(task_name, eps)
    data = {
        "task": task.name,
        "seq_len": seq_len,
        "eps": str(eps),
        "against_eps": [_plain(series) for series in left],
        "against_length": [_plain(series) for series in right],
    }
    if out is not None:
        figure = scaling_figure.picture(task.name, seq_len, console.scientific(eps), left, right)
        writer.write_bytes(out, figure.encode())
        data["figure"] = str(out)
    console.emit(as_json, data, lambda: _render(data))


def against_eps(task: RetrievalTask) -> list[Series]:
    """Every series over eps at the task's T; x = 1/eps."""
    power = exponents(GAMMA)
    made = [
        ("specialists", "sharpened", _feed_forward, "D heads", "N3", GAMMA),
        ("memoriser", "five", _feed_forward, "memoriser, merged", "T2.3", power.merged_nonzero),
        ("memoriser", "five", _dense, "memoriser, merged, dense", "T2.3-R", power.merged_dense),
        ("memoriser", "seven", _feed_forward, "memoriser, pieces apart", "T2.3-R", power.unmerged_nonzero),
        ("memoriser", "deep", _feed_forward, "memoriser, exact minima", "N12", power.exact_minima_nonzero),
    ]
    counted = {(kind, form): list(_built_over_eps(task, kind, form)) for kind, form, *_ in made}
    found = []
    for kind, form, number, name, claim, slope in made:
        points = [_point(1 / eps, math.log10(number(count)), "built") for eps, count in counted[kind, form]]
        found.append(Series(name, claim, (*points, *_continued(points, slope)), slope))
    return [*found, lower_bound(task)]


def against_length(task_name: str, eps: Fraction) -> list[Series]:
    """Every series over T at one eps; x = T."""
    made = [
        ("specialists", "sharpened", "D heads", "N3"),
        ("memoriser", "deep", "memoriser, exact minima", "N12"),
        ("log_sum_exp", "relu", "one wide head", "N7"),
    ]
    series = []
    for kind, form, name, claim in made:
        points = list(_built_over_length(task_name, eps, kind, form))
        slope = _wide_head_slope(task_name, eps) if kind == "log_sum_exp" and points else None
        series.append(Series(name, claim, tuple(points), slope, "" if points else "not for this task and eps"))
    return [*series, _wide_head_formula(task_name, eps)]


def lower_bound(task: RetrievalTask) -> Series:
    """N4 for one head of dimension 1; no points where it says nothing about the task."""
    name = "needed by one head, n = 1"
    if not isinstance(applicable(check_task(task), ("A2.1", "A2.2", "A2.4")), Proved):
        return Series(name, "N4", (), note="its hypotheses fail for this task")
    rho, points, best = constants(task).rho, [], -math.inf
    if rho is None or task.num_targets < 2:
        return Series(name, "N4", (), note="one target, or no segments found")
    for eps in EPS_STEPS:
        _, bound = n4_at(eps, rho, 1, 1, task.num_targets, task.seq_len, task.smallest_support)
        best = max(best, -math.inf if bound is None else bound.log10_estimate)
        if best >= 0:
            points.append(_point(1 / eps, best, "formula"))
    return Series(name, "N4", tuple(points), note="" if points else "asks for nothing down to 10^-8")


def _feed_forward(count: ParameterCount) -> int:
    return count.feed_forward


def _dense(count: ParameterCount) -> int:
    return count.feed_forward_dense


def _built_over_eps(task: RetrievalTask, kind: str, form: str) -> Iterator[tuple[Fraction, ParameterCount]]:
    for eps in EPS_STEPS:
        try:
            count = count_parameters(kinds.make(kind, task, eps, form).network)
        except TooLarge:
            return
        yield eps, count
        if count.feed_forward > MOST_COUNTED:
            return


def _continued(built: Sequence[Point], slope: Fraction) -> Iterator[Point]:
    """The line of the proved slope through the last built point, down to the last eps."""
    for eps in EPS_STEPS:
        x = math.log10(1 / eps)
        if built and x > built[-1]["log10_x"]:
            rise = float(slope) * (x - built[-1]["log10_x"])
            yield _point(1 / eps, built[-1]["log10_parameters"] + rise, "formula")


def _built_over_length(task_name: str, eps: Fraction, kind: str, form: str) -> Iterator[Point]:
    for length in LENGTHS:
        try:
            count = count_parameters(kinds.make(kind, load_task(task_name, length), eps, form).network)
        except HeadcountError:  # out of reach, or a kind or a length that this task does not have
            return
        yield _point(length, math.log10(count.feed_forward), "built")
        if count.feed_forward_stored > MOST_COUNTED:
            return


def _wide_head_slope(task_name: str, eps: Fraction) -> Fraction:
    """N7's exponent of T, 1 + L/(2 eps), for F_0 = c_0 + sum c_i z_i with L = sum |c_i|."""
    return 1 + sum(map(abs, affine_outer(load_task(task_name, LENGTHS[0]))[1]), Fraction(0)) / (2 * eps)


def _wide_head_formula(task_name: str, eps: Fraction) -> Series:
    """N7's bound for F_0 = sum of the z_i, the reference that its O(T^(1 + D/(2 eps))) is stated for."""
    try:
        targets = load_task(task_name, LENGTHS[0]).num_targets
    except InvalidInput:
        return Series("one wide head, N7's bound", "N7", (), note="this task has one length only")
    logs = [(n, depth.fixed_eps_neurons_log2_upper(eps, n, targets, centred=True)) for n in LENGTHS]
    points = tuple(_point(n, float(log2) * math.log10(2), "formula") for n, log2 in logs)
    return Series("one wide head, N7's bound for F_0 = sum of the z_i", "N7", points)


def _point(x: Fraction | int, log10_parameters: float, source: str) -> Point:
    return {"log10_x": math.log10(x), "log10_parameters": log10_parameters, "source": source}


def _plain(series: Series) -> Mapping[str, Any]:
    measured = series.slope_measured
    return {
        "name": series.name,
        "claim": series.claim,
        "slope_proved": None if series.slope_proved is None else str(series.slope_proved),
        "slope_measured": None if measured is None else round(measured, 3),
        "note": series.note,
        "points": [
            {key: round(value, 4) if isinstance(value, float) else value for key, value in point.items()}
            for point in series.points
        ],
    }


def _render(data: dict[str, Any]) -> None:
    for key, title in (
        ("against_eps", f"{data['task']}, T = {data['seq_len']}: parameters against 1/eps"),
        ("against_length", f"{data['task']}, eps = {data['eps']}: parameters against T"),
    ):
        _table(title, data[key])
    console.out.print("built: counted on the network itself; formula: a bound, or the proved slope from the last one")
    if "figure" in data:
        console.out.print(f"figure: {data['figure']}", markup=False)


def _table(title: str, series: Sequence[dict[str, Any]]) -> None:
    view = Table(title=title, title_justify="left")
    for column in ("series", "claim", "built from ... to", "formula up to", "slope measured", "proved"):
        view.add_column(column, justify="right" if "slope" in column or column == "proved" else "left")
    for row in series:
        built = [point for point in row["points"] if point["source"] == "built"]
        beyond = [point for point in row["points"] if point["source"] == "formula"]
        ends = f"{_shown(built[0])} ... {_shown(built[-1])}" if built else row["note"]
        slopes = [str(row[key] if row[key] is not None else "") for key in ("slope_measured", "slope_proved")]
        view.add_row(row["name"], row["claim"], ends, _shown(beyond[-1]) if beyond else "", *slopes)
    console.out.print(view)


def _shown(point: Point) -> str:
    return f"10^{point['log10_parameters']:.1f} at 10^{point['log10_x']:.1f}"
