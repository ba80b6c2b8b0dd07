"""How close the outputs of a pair on the grid 1/M are, against the eps that belongs to M."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.figure import Figure

from headcount.figures import FIRST, SECOND, STYLE, THIRD, svg


def lattice_figure(rows: Sequence[dict[str, Any]], predicted: dict[str, float]) -> Markup:
    """Digits of agreement (-log10 of the proved distance) over digits of eps; ``predicted``: exponents by name.

    Rows have eps_digits, rounded_digits (nearest grid points) and reached_digits (after LLL and Babai).
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        axes = figure.subplots()
        digits = [row["eps_digits"] for row in rows]
        axes.plot(digits, [row["rounded_digits"] for row in rows], "^", color=THIRD, label="nearest grid points")
        axes.plot(digits, [row["reached_digits"] for row in rows], "o", color=SECOND, label="reached: LLL and Babai")
        top = 1.15 * max(row["reached_digits"] for row in rows)
        for (name, exponent), line in zip(predicted.items(), ("--", "-."), strict=False):
            end = min(max(digits), top / exponent) if exponent > 0 else max(digits)
            label = f"pigeonhole, constants left out: {name}, eps^{exponent:.3g}"
            axes.plot([0, end], [0, exponent * end], line, color=FIRST, label=label)
        axes.set(xlabel="digits of eps (the grid has M = rho/(3 eps))", ylabel="digits to which the outputs agree")
        axes.set(xlim=(0, 1.05 * max(digits)), ylim=(0, top))
        axes.legend(frameon=False, fontsize=9)
        return svg(figure, "Agreement of outputs on the grid, predicted and reached")
