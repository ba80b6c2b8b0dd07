"""P_0 for the grid pairs: the minimisers and points on the segments G_i, as T2.2-grid and as N4 place them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from checks.basins import Basin, Point, along
from checks.constants import TaskConstants
from constructions.adversary.grid import CandidateSet
from constructions.arithmetic import FLOAT64
from constructions.task import RetrievalTask
from theory.errors import InvalidInput
from theory.expressions import evaluate
from theory.rational_bounds import positive

HALVINGS = 52
SLACK = Fraction(1, 2**30)
"""How far, relatively, an eps is kept from the largest one that allows a number of grid points: room for rounding."""


@dataclass(frozen=True)
class Segment:
    """The straight segment from ``start`` to ``end`` on which a grid lies."""

    start: Point
    end: Point

    def points(self, shares: Sequence[Fraction]) -> tuple[Point, ...]:
        return tuple(along(self.start, self.end, share) for share in shares)


def eps_for(rho: Fraction, grid: int) -> Fraction:
    """The eps (rounded down a little) at which N4 has ``grid`` >= 2 points: rho/(3 (G - 1)).

    >>> eps_for(Fraction(1, 2), 11) < Fraction(1, 60)
    True
    """
    if grid < 2:
        raise InvalidInput.about("grid", grid, "at least 2 points", "a larger grid")
    return positive("rho", rho) / (3 * (grid - 1)) * (1 - SLACK)


def n4_points(task: RetrievalTask, found: TaskConstants, eps: Fraction) -> CandidateSet:
    """N4 (1): on every segment points whose F_0-images step by 3 eps and a little, as far as float64 places them.

    ``checks.grid_proof`` proves the steps. As many points as the least swing allows. Raises InvalidInput.
    """
    basins, starts = _basins(found), _starts(found)
    rho = min(basin.swing_lower for basin in basins)
    count = math.floor(rho / (3 * positive("eps", eps))) + 1
    step = rho / (count - 1) if count > 1 else Fraction(0)
    grids = tuple(_image_grid(task, found, i, basin, count, step) for i, basin in enumerate(basins))
    return CandidateSet(starts, grids)


def even_points(found: TaskConstants, steps: int) -> CandidateSet:
    """T2.2-grid: eta(j/M), j = 1..M, on L5's segments, M = ``steps``. Exact. Raises InvalidInput."""
    shares = [Fraction(j, steps) for j in range(1, steps + 1)]
    return CandidateSet(_starts(found), tuple(segment.points(shares) for segment in steep(found)))


def steep(found: TaskConstants) -> tuple[Segment, ...]:
    """L5's segments, on which f_i is known to rise. Raises InvalidInput where none were found."""
    if found.steep_segments is None:
        raise InvalidInput.about("task", "no steep segments", "A2 (L5)", "another task")
    return tuple(Segment(entry.start, entry.end) for entry in found.steep_segments)


def _basins(found: TaskConstants) -> tuple[Basin, ...]:
    if found.basins is None:
        raise InvalidInput.about("task", "no segments with rho > 0", "N4's hypotheses", "another task")
    return found.basins


def _starts(found: TaskConstants) -> tuple[Point, ...]:
    points = [entry.point for entry in found.minimisers if entry.point is not None]
    if len(points) != len(found.minimisers):
        raise InvalidInput.about("minimisers", "not rational", "every x^(i) known exactly", "another task")
    return tuple(points)


def _image_grid(
    task: RetrievalTask, found: TaskConstants, index: int, basin: Basin, count: int, step: Fraction
) -> tuple[Point, ...]:
    def image(share: Any) -> Any:
        point = {
            f"x{axis}": float(a) + share * float(b - a)
            for axis, (a, b) in enumerate(zip(basin.start, basin.end, strict=True))
        }
        values: dict[str, Any] = {f"z{j}": float(entry.value.low) for j, entry in enumerate(found.minimisers)}
        own = evaluate(task.features[index].expression, point, FLOAT64) + 0.0 * share
        return evaluate(task.outer, {**values, f"z{index}": own}, FLOAT64) + 0.0 * share

    # Bisection for shares at which the image has moved by 0, step, 2 step, ... from its value at the start.
    ends = image(np.array([0.0, 1.0]))
    wanted = ends[0] + np.sign(ends[1] - ends[0]) * float(step) * np.arange(count)
    low, high = np.zeros(count), np.ones(count)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        beyond = np.abs(image(middle) - ends[0]) > np.abs(wanted - ends[0])
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    shares = [Fraction(float(share)) for share in high]
    return Segment(basin.start, basin.end).points([Fraction(0), *shares[1:]])
