"""N4's constant rho: segments from the minimisers on which each target coordinate can be moved by itself.

For every i a segment G_i is chosen from a global minimiser x^(i) of f_i (or close to it), such that, with K_i the union
of G_i and x^(i),

    (B)  inf over K_j of f_i  >=  sup over G_i of f_i        for all j != i,

and ``rho = min_i V_i``, V_i the oscillation of ``F_0(z_1, .., f_i(x), .., z_D)`` for x on G_i. This is all N4 uses:

* V_i: the image of G_i is an interval of length V_i, so floor(V_i/(3 eps)) + 1 = G points on G_i have images that are
  pairwise at least 3 eps apart (intermediate value theorem); sorted by f_i they are N4's grid. With two-sided bounds
  L_f, L_F on a segment of length r, V_i >= r L_f L_F, so this rho is at least the one printed with N4; no smoothness,
  no Hessian, no uniqueness and no A2.4 is needed.
* (B): attribute each maximiser y_j to one basin that it lies in. As s < D some basin i has none. All tokens of N4's
  sequences off the differing positions (the y_j and the x^(j), j != i) lie in other basins, so by (B) they do not lower
  min f_i over S_i below any grid value: the minimum sits at the first differing position, as N4 says. The other minima
  are z_j, because x^(j) occurs in S_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from checks.enclose import WorkLimit, centre, infimum, of_expression, point_box, supremum, unit_box, value_on
from checks.intervals import Interval
from checks.minimisers import Minimiser
from constructions.arithmetic import FLOAT64
from constructions.task import RetrievalTask
from theory.errors import NotFinite
from theory.expressions import Expression, Number, Variable, evaluate, substitute

STEPS = 256
LEVELS = 64
MOST_TRIES = 12
MOST_CORNER_DIM = 4
SEGMENT_BOXES = 2_000
LEAST_TOLERANCE = Fraction(1, 10**9)
TIE = 1e-12

Point = tuple[Fraction, ...]


@dataclass(frozen=True)
class Basin:
    """The segment G_i from ``start`` (at or next to the minimiser) to ``end``; bounds on sup f_i there and on V_i."""

    start: Point
    end: Point
    feature_upper: Fraction
    swing_lower: Fraction


@dataclass(frozen=True)
class _Profile:
    """Float samples along one candidate segment, cut at each of its steps: what the search looks at."""

    start: Point
    end: Point
    lows: Any  # (D, STEPS + 1): running minimum of every feature
    high: Any  # (STEPS + 1,): running maximum of the own feature
    swing: Any  # (STEPS + 1,): oscillation of the outer map so far
    image: Any  # (STEPS + 1,): the outer map
    best: float  # the swing that is possible below the own feature's values at the other minimisers


def find_basins(task: RetrievalTask, found: Sequence[Minimiser]) -> tuple[Basin, ...] | None:
    """Segments with a large, proved rho; None where none were found (coinciding minimisers, flat outer maps, ...)."""
    starts = [_start(entry) for entry in found]
    minima = np.array([float(entry.value.high) for entry in found])
    profiles = [_profiles(task, starts, index, minima) for index in range(task.num_targets)]
    best = min(max((profile.best for profile in options), default=0.0) for options in profiles)
    if best <= 0:
        return None
    tries = 0
    for level in range(LEVELS, 0, -1):
        chosen = _choose(profiles, best * level / LEVELS, minima)
        if chosen is None:
            continue
        basins = _prove(task, found, chosen)
        tries += 1
        if basins is not None or tries == MOST_TRIES:
            return basins
    return None


def rho(basins: Sequence[Basin]) -> Fraction:
    """N4's constant: the least swing."""
    return min(basin.swing_lower for basin in basins)


def _start(entry: Minimiser) -> Point:
    return centre(entry.box) if entry.point is None else entry.point


def _profiles(task: RetrievalTask, starts: Sequence[Point], index: int, minima: Any) -> list[_Profile]:
    start = starts[index]
    elsewhere = {f"x{axis}": np.array([float(x[axis]) for x in starts]) for axis in range(task.token_dim)}
    at_minimisers = evaluate(task.features[index].expression, elsewhere, FLOAT64) + np.zeros(len(starts))
    ceiling = min(np.delete(at_minimisers, index), default=np.inf) + TIE
    profiles = []
    for direction in _directions(start, starts):
        reach = min(((1 if step > 0 else 0) - x) / step for x, step in zip(start, direction, strict=True) if step)
        if reach <= 0:
            continue
        end = tuple(x + reach * step for x, step in zip(start, direction, strict=True))
        share = np.linspace(0.0, 1.0, STEPS + 1)
        tokens = {
            f"x{axis}": float(a) + share * float(b - a) for axis, (a, b) in enumerate(zip(start, end, strict=True))
        }
        values = np.array([evaluate(f.expression, tokens, FLOAT64) + 0.0 * share for f in task.features])
        outer: dict[str, Any] = {f"z{axis}": minimum for axis, minimum in enumerate(minima)}
        image = evaluate(task.outer, {**outer, f"z{index}": values[index]}, FLOAT64) + 0.0 * share
        swing = np.maximum.accumulate(image) - np.minimum.accumulate(image)
        lows, high = np.minimum.accumulate(values, axis=1), np.maximum.accumulate(values[index])
        best = float(swing[high <= ceiling].max(initial=0.0))
        profiles.append(_Profile(start, end, lows, high, swing, image, best))
    return profiles


def _directions(start: Point, others: Sequence[Point]) -> list[Point]:
    size = len(start)
    axes = [tuple(Fraction(sign * (a == axis)) for a in range(size)) for axis in range(size) for sign in (1, -1)]
    away = [tuple(x - y for x, y in zip(start, other, strict=True)) for other in others]
    corners = (
        [tuple(Fraction((code >> a) & 1) - start[a] for a in range(size)) for code in range(2**size)]
        if size <= MOST_CORNER_DIM
        else [tuple(Fraction(1, 2) - x for x in start)]
    )
    return [direction for direction in (*axes, *away, *corners) if any(direction)]


def _choose(profiles: Sequence[Sequence[_Profile]], level: float, minima: Any) -> list[tuple[_Profile, int]] | None:
    """For each basin the shortest segment that swings by ``level``; of several, the one where others are largest."""
    chosen: list[tuple[_Profile, int]] = []
    for index, options in enumerate(profiles):
        others = [j for j in range(len(profiles)) if j != index]
        reaching = [(p, int(np.argmax(p.swing >= level - TIE))) for p in options if p.swing[-1] >= level - TIE]
        if not reaching:
            return None
        chosen.append(max(reaching, key=lambda c: min((c[0].lows[j, c[1]] - minima[j] for j in others), default=0.0)))
    for i, (own, step) in enumerate(chosen):
        for j, (other, other_step) in enumerate(chosen):
            if i != j and other.lows[i, other_step] < own.high[step] - TIE:
                return None
    return chosen


def _prove(
    task: RetrievalTask, found: Sequence[Minimiser], chosen: Sequence[tuple[_Profile, int]]
) -> tuple[Basin, ...] | None:
    ends = [_along(profile.start, profile.end, Fraction(step, STEPS)) for profile, step in chosen]
    basins = []
    try:
        for i, (profile, step) in enumerate(chosen):
            margin = min((p.lows[i, s] - profile.high[step] for j, (p, s) in enumerate(chosen) if j != i), default=1.0)
            tolerance = max(Fraction(float(margin)) / 4, LEAST_TOLERANCE)
            own = _on_segment(task.features[i].expression, profile.start, ends[i])
            highest = supremum(of_expression(-own, ("x0",)), unit_box(1), tolerance, SEGMENT_BOXES).high
            for j, (other, _) in enumerate(chosen):
                if j != i:
                    path = _on_segment(task.features[i].expression, other.start, ends[j])
                    if infimum(of_expression(path, ("x0",)), unit_box(1), tolerance, SEGMENT_BOXES).low < highest:
                        return None
                    if found[j].point is None and _at_minimiser(task, found[j], i) < highest:
                        return None
            basins.append(Basin(profile.start, ends[i], highest, _swing(task, found, i, profile, step)))
    except (WorkLimit, NotFinite):
        return None
    return tuple(basins)


def _at_minimiser(task: RetrievalTask, entry: Minimiser, index: int) -> Fraction:
    names = [f"x{axis}" for axis in range(task.token_dim)]
    return value_on(task.features[index].expression, names, entry.box).low


def _swing(task: RetrievalTask, found: Sequence[Minimiser], index: int, profile: _Profile, step: int) -> Fraction:
    """The difference of the outer map at its two extreme sample points, in exact intervals."""
    images = []
    for place in (int(np.argmax(profile.image[: step + 1])), int(np.argmin(profile.image[: step + 1]))):
        point = _along(profile.start, profile.end, Fraction(place, STEPS))
        names = [f"x{axis}" for axis in range(len(point))]
        own = value_on(task.features[index].expression, names, point_box(point))
        minima: list[Interval] = [own if j == index else entry.value for j, entry in enumerate(found)]
        images.append(value_on(task.outer, [f"z{j}" for j in range(len(minima))], tuple(minima)))
    return max(images[0].low - images[1].high, Fraction(0))


def _along(start: Point, end: Point, share: Fraction) -> Point:
    return tuple(a + share * (b - a) for a, b in zip(start, end, strict=True))


def _on_segment(expression: Expression, start: Point, end: Point) -> Expression:
    share = Variable("x0")
    moved = {
        f"x{axis}": Number(a) + (b - a) * share if a != b else Number(a)
        for axis, (a, b) in enumerate(zip(start, end, strict=True))
    }
    return substitute(expression, moved)
