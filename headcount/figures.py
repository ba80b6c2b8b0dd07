"""Figures of the report as inline SVG (matplotlib without a display, text kept as text)."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.figure import Figure

STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "headcount",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
}
FIRST, SECOND, THIRD = "#1d5fa8", "#c4501b", "#4a4f57"


def pair_figure(
    first: Sequence[float], second: Sequence[float], outputs: Sequence[float], targets: Sequence[float]
) -> Markup:
    """Tokens of two sequences (T numbers each, d = 1), the attention outputs they share, and their two targets."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 3.6), layout="constrained")
        tokens, shared, target = figure.subplots(1, 3, width_ratios=[5, 2, 1])
        positions = range(1, len(first) + 1)
        tokens.vlines(positions, first, second, color="#b8c0ca", linewidth=1)
        tokens.plot(positions, first, "o", color=FIRST, markersize=5, label="first")
        tokens.plot(positions, second, "D", color=SECOND, markersize=4, label="second")
        tokens.set(xlabel="position t", ylabel="token x(t)", ylim=(-0.04, 1.04))
        tokens.legend(frameon=False, loc="upper center", ncols=2, bbox_to_anchor=(0.5, 1.13))
        channels = range(1, len(outputs) + 1)
        shared.plot(channels, outputs, "o", color=FIRST, markersize=9, fillstyle="none", label="first")
        shared.plot(channels, outputs, "D", color=SECOND, markersize=4, label="second")
        shared.set(xlabel="attention output", title="outputs: equal")
        target.bar(["first", "second"], targets, color=[FIRST, SECOND])
        target.set(title="targets")
        return svg(figure, "Two sequences, their identical attention outputs, and their different targets")


def sweep_figure(rows: Sequence[dict[str, Any]]) -> Markup:
    """Worst error found and certified irreducible error against the number of heads, one mark for each seed."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 3.8), layout="constrained")
        axes = figure.subplots()
        series = (
            ("attacked_value", "worst error found", "s", THIRD),
            ("certified_value", "certified: no read-out does better", "o", SECOND),
        )
        for key, label, marker, colour in series:
            points = [(row["heads"], row[key]) for row in rows if row[key]]
            axes.semilogy([h for h, _ in points], [v for _, v in points], marker, color=colour, label=label, alpha=0.8)
        nmse = [(row["heads"], row["nmse_value"] ** 0.5) for row in rows]
        axes.semilogy(
            [h for h, _ in nmse], [v for _, v in nmse], "^", color=FIRST, label="root of validation NMSE", alpha=0.8
        )
        axes.set(xlabel="number of heads h (the task has D = 2)", ylabel="error")
        axes.set_xticks(sorted({row["heads"] for row in rows}))
        axes.legend(frameon=False)
        return svg(figure, "Errors against the number of heads")


def svg(figure: Figure, title: str) -> Markup:
    """A figure as SVG with a title for those who cannot see it; the same bytes every time."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Title": title})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return Markup(text.replace("<svg", f'<svg role="img" aria-label="{title}"', 1))
