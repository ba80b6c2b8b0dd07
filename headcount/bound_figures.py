"""``headcount bound --plot``: required parameters against eps and against T, all axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from checks.certificates import writer
from headcount.bounds import Question, log10
from headcount.figures import FIRST, SECOND, STYLE, THIRD, svg
from theory import depth, enough_heads
from theory import too_few_heads as bounds
from theory.errors import InvalidInput
from theory.exact import parse_exact
from theory.finite_eps import n4_at
from theory.paper_count import paper_count, paper_threshold_eps

Points = list[tuple[float, float]]
"""Abscissa (log10 of 1/eps or of T) and log10 of the parameters."""

FOURTH = "#3f7d3a"
SAMPLES = 36
LEAST_DECADES, LEAST_HEIGHT = 12.0, 12.0
DEEPEST = 30_000.0
CROWDED = 0.03
"""Landmarks nearer to the axis than this share of the panel would hide each other."""

LANDMARKS = ((-math.log10(2.0**-24), "float32"), (-math.log10(2.0**-53), "float64"))
DOTS = (0, (1, 2))
SMALL: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8, "color": THIRD}
LARGE_MODEL = (math.log10(1.75e11), "GPT-3, all of it")


@dataclass(frozen=True)
class Curve:
    """One curve; ``silent`` says why it has no points."""

    label: str
    colour: str
    line: str
    points: Points
    silent: str = ""
    sets_height: bool = True


def write(path: Path, question: Question) -> None:
    """Draw both panels and write them as SVG, whole or not at all."""
    writer.write_bytes(path, picture(question).encode())


def picture(question: Question) -> str:
    """The figure as SVG: left against 1/eps at the T asked for, right against T at the eps asked for."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.4, 5.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        decades = _decades(question)
        _panel(left, against_eps(question, decades), decades)
        left.set(xlabel="accuracy ε", ylabel="parameters", title=f"T = {question.seq_len:,}")
        left.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        left.xaxis.set_major_formatter(lambda x, _: f"$10^{{{-x:.0f}}}$" if x else "1")
        for where, name in LANDMARKS:
            if CROWDED * decades < where < decades:
                left.axvline(where, color=THIRD, linewidth=0.8, linestyle=DOTS)
                left.annotate(
                    name, (where, 1), (3, -9), xycoords=("data", "axes fraction"), rotation=90, va="top", **SMALL
                )
        lengths = _lengths(question)
        _panel(right, against_length(question, lengths), math.log10(lengths[-1]), math.log10(lengths[0]))
        right.set(xlabel="sequence length T", title=f"ε = {_power(log10(question.eps))}")
        right.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        right.xaxis.set_major_formatter(lambda x, _: f"$10^{{{x:.0f}}}$")
        sizes = f"D = {question.targets}, s = {question.heads}, n = {question.head_dim}, ρ = {question.rho}"
        figure.suptitle(f"What too few heads cost: {sizes}", fontsize=12)
        return str(svg(figure, f"Required parameters against accuracy and against sequence length; {sizes}"))


def against_eps(question: Question, decades: float) -> list[Curve]:
    """The four curves over 1 >= eps >= 10^-decades at fixed T."""
    grid = [decades * i / SAMPLES for i in range(SAMPLES + 1)]
    early = [min(4.0, decades) * i / SAMPLES for i in range(SAMPLES + 1)]
    published, silent = _published_from(question)
    if published and published[0][0] >= decades:
        published, silent = [], f"from ε = {_power(-published[0][0])}"
    if published:
        inside = [x for x in grid if x > published[0][0]]
        published += [(x, value) for x in inside for value in _published(replace(question, eps=_eps(x)))]
    tips = sorted({*grid, *early[:: SAMPLES // 9]})
    n4 = _rising((x, _n4(replace(question, eps=_tip(x, question)))) for x in tips)
    n7 = [(x, _n7(replace(question, eps=_eps(x)))) for x in early]
    cheap = [(x, _specialists(replace(question, eps=_eps(x)))) for x in grid]
    return _curves(published, silent, n4, _why_no_n4(question), n7, cheap)


def against_length(question: Question, lengths: Sequence[int]) -> list[Curve]:
    """The four curves over the sequence lengths at fixed eps; |S_i|/T stays as asked for."""
    at = [(math.log10(length), _at_length(question, length)) for length in lengths]
    published = [(x, value) for x, here in at for value in _published(here)]
    n4 = _rising((x, _n4(here)) for x, here in at)
    n7 = [(x, _n7(here)) for x, here in at]
    cheap = [(x, _specialists(here)) for x, here in at]
    silent = "silent: s ≥ D" if not question.too_few_heads else "silent at this ε"
    return _curves(published, silent, n4, silent, n7, cheap)


def _curves(published: Points, silent: str, n4: Points, why: str, n7: Points, cheap: Points) -> list[Curve]:
    return [
        Curve("needed, T2.2's own count (below its ε₀)", SECOND, "--", published, silent),
        Curve("needed, N4", FIRST, "-", n4, why),
        Curve("enough, N7: one wide head, F₀ = Σ zᵢ", THIRD, "-.", n7, sets_height=False),
        Curve("enough, D specialists (quadratic fᵢ)", FOURTH, ":", cheap),
    ]


def _panel(axes: Axes, curves: Sequence[Curve], end: float, start: float = 0.0) -> None:
    height = max([LEAST_HEIGHT, *(y * 1.08 for curve in curves if curve.sets_height for _, y in curve.points)])
    for curve in curves:
        shown = [(x, y) for x, y in curve.points if y >= 0]
        above = bool(shown) and all(y > height for _, y in shown)
        note = f" – {curve.silent}" if not shown and curve.silent else " – above the frame" if above else ""
        xs, ys = ([x for x, _ in shown], [y for _, y in shown]) if not above else ([], [])
        style = "o" if len(xs) == 1 else None
        axes.plot(xs, ys, color=curve.colour, linestyle=curve.line, linewidth=2, marker=style, label=curve.label + note)
        if curve.line == "--" and xs:
            axes.plot(xs[:1], ys[:1], "o", color=curve.colour, markersize=6)
        if curve.line == "-" and xs:
            axes.fill_between(xs, 0, ys, color=curve.colour, alpha=0.08, linewidth=0)
    level, name = LARGE_MODEL
    if level > CROWDED * height:
        axes.axhline(level, color=THIRD, linewidth=0.8, linestyle=DOTS)
        axes.annotate(name, (1, level), (-2, 3), xycoords=("axes fraction", "data"), ha="right", **SMALL)
    axes.set(xlim=(start, end), ylim=(0, height))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.yaxis.set_major_formatter(lambda y, _: f"$10^{{{y:.0f}}}$" if y else "1")
    axes.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.14))


def _decades(question: Question) -> float:
    """How far down eps goes: past eps_0 and the eps asked for."""
    wanted = [LEAST_DECADES, 1.5 - log10(question.eps)]
    start, _ = _published_from(question)
    if start:
        wanted.append(1.2 * start[0][0])
    if question.too_few_heads and bounds.free_positions(*question.sizes, question.support) >= 1:
        first = bounds.threshold_eps(1, question.rho, *question.sizes, question.support)
        wanted += [] if first is None else [-1.5 * log10(first)]
    return float(min(DEEPEST, max(wanted)))


def _lengths(question: Question) -> list[int]:
    """Multiples of 4 from where T_0 >= 1 to past the lengths that matter."""
    least = 4 * max(1, (question.heads + question.targets) // 2)
    threshold = 4 * ((question.head_dim + 2) * question.heads + question.targets)
    most = min(10**6, max(16 * question.seq_len, 8 * threshold))
    ratio = max(2.0, most / least) ** (1 / SAMPLES)
    return sorted({4 * max(1, round(least * ratio**i / 4)) for i in range(SAMPLES + 1)})


def _at_length(question: Question, length: int) -> Question:
    support = None if question.support is None else max(1, -(-question.support * length // question.seq_len))
    return replace(question, seq_len=length, support=support)


def _eps(x: float) -> Fraction:
    """About 10^-x, exactly, however large x is."""
    whole = max(0, math.floor(x) - 6)
    return 1 / (10**whole * parse_exact(f"{10 ** (x - whole):.6f}"))


def _tip(x: float, question: Question) -> Fraction:
    """The largest eps with as many grid points as about 10^-x has: there N4's sawtooth has a tip."""
    steps = math.floor(question.rho / (3 * _eps(x)))
    return question.rho / (3 * steps) if steps >= 1 else _eps(x)


def _n4(question: Question) -> float:
    _, bound = n4_at(question.eps, question.rho, *question.sizes, question.support)
    return -math.inf if bound is None else bound.log10_estimate


def _n7(question: Question) -> float:
    log2 = depth.fixed_eps_neurons_log2_upper(question.eps, question.seq_len, question.targets, centred=True)
    return float(log2) * math.log10(2)


def _specialists(question: Question) -> float:
    return math.log10(enough_heads.reference_parameters_upper(question.eps, question.targets))


def _published(question: Question) -> list[float]:
    """log10 of T2.2-end where the published count forces a collision; nothing elsewhere."""
    try:
        counted = paper_count(question.eps, question.rho, *question.sizes)
    except InvalidInput:
        return []
    return [float(counted.parameters_log2_lower) * math.log10(2)] if counted.forces_collision else []


def _published_from(question: Question) -> tuple[Points, str]:
    """The first point of the published curve, or why there is none."""
    if not question.too_few_heads:
        return [], "silent: s ≥ D"
    n, s, targets, length = question.sizes
    if bounds.exponent_published(length, n, s, targets) <= 0:
        return [], "silent: k ≤ 0"
    try:
        eps = paper_threshold_eps(question.rho, *question.sizes)
    except InvalidInput:
        return [], "silent: 4 does not divide T"
    return [(-log10(eps), value) for value in _published(replace(question, eps=eps))], ""


def _why_no_n4(question: Question) -> str:
    return "silent: s ≥ D" if not question.too_few_heads else "silent: exponent ≤ 0"


def _rising(points: Iterator[tuple[float, float]]) -> Points:
    """The largest value so far: a model better than eps is better than every larger eps."""
    best, found = -math.inf, []
    for x, y in points:
        best = max(best, y)
        found.append((x, best))
    return [point for point in found if point[1] >= 0]


def _power(exponent: float) -> str:
    return f"$10^{{{exponent:.4g}}}$"
