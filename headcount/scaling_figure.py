"""The figure of ``headcount scaling``: two panels, axes logarithmic; dots are built networks, lines continue them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from headcount.figures import FIRST, SECOND, STYLE, THIRD, svg

if TYPE_CHECKING:
    from headcount.scaling import Series

COLOURS = {
    "D heads": FIRST,
    "memoriser, merged": SECOND,
    "memoriser, merged, dense": "#b0851a",
    "memoriser, pieces apart": THIRD,
    "memoriser, exact minima": "#3f7d3a",
    "one wide head": "#a8325a",
}
OTHERS = "#7a3f8f"
"""Bounds."""
LOWER = ("N4",)
"""Claims that are lower bounds: their region is shaded."""
HIGHEST = 14.0
"""Curves above 10^14 parameters leave the frame."""


def picture(task: str, seq_len: int, eps: str, left: Sequence[Series], right: Sequence[Series]) -> str:
    """Parameters against 1/eps (left) and against T (right), as SVG."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.4, 6.0), layout="constrained")
        panels = figure.subplots(1, 2)
        for axes, series in zip(panels, (left, right), strict=True):
            _panel(axes, series)
        panels[0].set(xlabel="accuracy: 1/ε", ylabel="parameters M", title=f"T = {seq_len:,}")
        panels[1].set(xlabel="sequence length T", title=f"ε = {eps}")
        figure.suptitle(f"Parameters of built networks: {task}", fontsize=12)
        return str(svg(figure, f"Parameters against accuracy and against sequence length for {task}"))


def _panel(axes: Axes, series: Sequence[Series]) -> None:
    for curve in series:
        colour = COLOURS.get(curve.name, OTHERS)
        shown = [point for point in curve.points if point["log10_parameters"] <= HIGHEST]
        built = [point for point in shown if point["source"] == "built"]
        beyond = [point for point in shown if point["source"] == "formula"]
        label = curve.name + (f", slope {curve.slope_proved}" if curve.slope_proved is not None else "")
        note = curve.note or ("above the frame" if curve.points and not shown else "")
        label += f" - {note}" if note else ""
        axes.plot(*_xy(built), "o-", color=colour, markersize=4, label=label if built else None)
        axes.plot(*_xy([*built[-1:], *beyond]), "--", color=colour, linewidth=1.2, label=None if built else label)
        if curve.claim in LOWER and beyond:
            axes.fill_between(*_xy(beyond), 0, color=colour, alpha=0.08, linewidth=0)
    axes.set_ylim(bottom=0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True))
        axis.set_major_formatter(lambda value, _: f"$10^{{{value:.0f}}}$" if value else "1")
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14))


def _xy(points: Sequence[dict[str, Any]]) -> tuple[list[float], list[float]]:
    return [point["log10_x"] for point in points], [point["log10_parameters"] for point in points]
