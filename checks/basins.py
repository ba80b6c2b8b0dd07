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
from constructions.ridge import as_polynomial
from constructions.task import RetrievalTask
from theory.errors import NotFinite
from theory.expressions import Expression, Number, Variable, evaluate, substitute

STEPS = 64
CEILING_STEPS = 256
LEVELS = 64
MOST_TRIES = 12
MOST_CORNER_DIM = 4
MOST_PROFILES = 32
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
class _Profiles:
    """Float samples along K candidate segments, cut at each of their steps: what the search looks at."""

    start: Point
    ends: list[Point]
    own: int  # the index i of the feature whose minimiser they start from
    lows: Any  # (K, D, STEPS + 1): running minimum of every feature
    highs: Any  # (K, STEPS + 1): running maximum of the own feature
    swings: Any  # (K, STEPS + 1): oscillation of the outer map so far
    images: Any  # (K, STEPS + 1): the outer map
    excess: Any  # (K, STEPS + 1): by how much every other feature stays above its minimum, the least of them

    @property
    def best(self) -> float:
        return float(self.swings[:, -1].max(initial=0.0))


@dataclass(frozen=True)
class _Choice:
    """Segment ``option`` of a `_Profiles`, cut at ``step``."""

    profiles: _Profiles
    option: int
    step: int

    @property
    def start(self) -> Point:
        return self.profiles.start

    @property
    def end(self) -> Point:
        return along(self.start, self.profiles.ends[self.option], Fraction(self.step, STEPS))

    @property
    def lows(self) -> Any:
        """(D,): the least value of every feature on the segment, as far as sampled."""
        return self.profiles.lows[self.option, :, self.step]

    @property
    def high(self) -> float:
        return float(self.profiles.highs[self.option, self.step])


def find_basins(task: RetrievalTask, found: Sequence[Minimiser]) -> tuple[Basin, ...] | None:
    """Segments with a large, proved rho; None where none were found (coinciding minimisers, flat outer maps, ...)."""
    starts = [_start(entry) for entry in found]
    minima = np.array([float(entry.value.high) for entry in found])
    everything = [_profiles(task, starts, index, minima) for index in range(task.num_targets)]
    best = min(profiles.best for profiles in everything)
    if best <= 0:
        return None
    tries = 0
    for level in range(LEVELS, 0, -1):
        chosen = _choose(everything, best * level / LEVELS)
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


def _profiles(task: RetrievalTask, starts: Sequence[Point], index: int, minima: Any) -> _Profiles:
    start = starts[index]
    ends = _candidates(task, starts, index, minima)
    values = _features(task, _samples(start, ends, STEPS))
    own = values[:, index]
    outer: dict[str, Any] = {f"z{axis}": minimum for axis, minimum in enumerate(minima)}
    images = evaluate(task.outer, {**outer, f"z{index}": own}, FLOAT64) + 0.0 * own
    lows = np.minimum.accumulate(values, axis=2)
    swings = np.maximum.accumulate(images, axis=1) - np.minimum.accumulate(images, axis=1)
    highs = np.maximum.accumulate(own, axis=1)
    return _Profiles(start, ends, index, lows, highs, swings, images, _excess(lows, minima, index))


def _candidates(task: RetrievalTask, starts: Sequence[Point], index: int, minima: Any) -> list[Point]:
    """Ends of segments from minimiser ``index``, cut where f_i exceeds its least value at another minimiser.

    As x^(j) belongs to K_j, (B) forbids anything longer. Of many, those at whose ends the others are largest.
    """
    start, own = starts[index], task.features[index].expression
    rays = [(way, reach) for way in _directions(start, starts) if (reach := _reach(start, way)) > 0]
    far = [[float(a) + float(reach) * float(b) for a, b in zip(start, way, strict=True)] for way, reach in rays]
    ends = np.array(far).reshape(-1, len(start))
    elsewhere = {f"x{axis}": np.array([float(x[axis]) for x in starts]) for axis in range(task.token_dim)}
    at_minimisers = np.broadcast_to(evaluate(own, elsewhere, FLOAT64), (len(starts),))
    ceiling = np.delete(at_minimisers, index).min(initial=np.inf) + TIE
    tokens = _samples(start, ends, CEILING_STEPS)
    values = np.broadcast_to(evaluate(own, tokens, FLOAT64), (len(ends), CEILING_STEPS + 1))
    steps = (np.maximum.accumulate(values, axis=1) <= ceiling).sum(axis=1) - 1
    at_ends = {name: rows[np.arange(len(ends)), steps][:, None] for name, rows in tokens.items()}
    excess = _excess(_features(task, at_ends), minima, index)[:, 0]
    kept = [k for k in np.argsort(-excess, kind="stable") if steps[k] > 0][:MOST_PROFILES]
    chosen = [(rays[k][0], rays[k][1] * Fraction(int(steps[k]), CEILING_STEPS)) for k in kept]
    return [tuple(a + share * b for a, b in zip(start, way, strict=True)) for way, share in chosen]


def _reach(start: Point, direction: Point) -> Fraction:
    """How far the ray stays in the cube."""
    return min(((1 if step > 0 else 0) - x) / step for x, step in zip(start, direction, strict=True) if step)


def _samples(start: Point, ends: Any, steps: int) -> dict[str, Any]:
    """Token coordinates along K segments, each of shape (K, steps + 1)."""
    share = np.linspace(0.0, 1.0, steps + 1)
    return {
        f"x{axis}": float(a) + share * np.array([float(end[axis]) - float(a) for end in ends])[:, None]
        for axis, a in enumerate(start)
    }


def _features(task: RetrievalTask, tokens: dict[str, Any]) -> Any:
    """All features at tokens of shape (K, N): shape (K, D, N)."""
    shape = tokens["x0"].shape
    return np.stack([np.broadcast_to(evaluate(f.expression, tokens, FLOAT64), shape) for f in task.features], axis=1)


def _excess(values: Any, minima: Any, index: int) -> Any:
    """(K, N): the least of what the other features are above their minima."""
    return np.delete(values - minima[:, None], index, axis=1).min(axis=1, initial=np.inf)


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


def _choose(everything: Sequence[_Profiles], level: float) -> list[_Choice] | None:
    """For each basin the shortest segment that swings by ``level``; of several, the one where others are largest."""
    chosen: list[_Choice] = []
    for profiles in everything:
        reached = profiles.swings >= level - TIE
        if not reached.any():
            return None
        steps = reached.argmax(axis=1)
        margins = np.where(reached.any(axis=1), profiles.excess[np.arange(len(steps)), steps], -np.inf)
        option = int(margins.argmax())
        chosen.append(_Choice(profiles, option, int(steps[option])))
    lows = np.array([choice.lows for choice in chosen])  # row j, column i: f_i on K_j
    highs = np.array([choice.high for choice in chosen])
    np.fill_diagonal(lows, np.inf)
    return chosen if (lows >= highs - TIE).all() else None


def _prove(task: RetrievalTask, found: Sequence[Minimiser], chosen: Sequence[_Choice]) -> tuple[Basin, ...] | None:
    basins = []
    try:
        for i, choice in enumerate(chosen):
            margin = min((other.lows[i] - choice.high for j, other in enumerate(chosen) if j != i), default=1.0)
            tolerance = max(Fraction(float(margin)) / 4, LEAST_TOLERANCE)
            expression = task.features[i].expression
            own = on_segment(expression, choice.start, choice.end)
            highest = supremum(of_expression(-own, ("x0",)), unit_box(1), tolerance, SEGMENT_BOXES).high
            for j, other in enumerate(chosen):
                if j != i:
                    if not _stays_above(on_segment(expression, other.start, other.end), highest, tolerance):
                        return None
                    if found[j].point is None and _at_minimiser(task, found[j], i) < highest:
                        return None
            basins.append(Basin(choice.start, choice.end, highest, _swing(task, found, i, choice)))
    except (WorkLimit, NotFinite):
        return None
    return tuple(basins)


def _stays_above(path: Expression, level: Fraction, tolerance: Fraction) -> bool:
    return infimum(of_expression(path, ("x0",)), unit_box(1), tolerance, SEGMENT_BOXES).low >= level


def _at_minimiser(task: RetrievalTask, entry: Minimiser, index: int) -> Fraction:
    names = [f"x{axis}" for axis in range(task.token_dim)]
    return value_on(task.features[index].expression, names, entry.box).low


def _swing(task: RetrievalTask, found: Sequence[Minimiser], index: int, choice: _Choice) -> Fraction:
    """The difference of the outer map at its two extreme sample points, in exact intervals."""
    images, sampled = [], choice.profiles.images[choice.option, : choice.step + 1]
    whole = choice.profiles.ends[choice.option]
    for place in (int(np.argmax(sampled)), int(np.argmin(sampled))):
        point = along(choice.start, whole, Fraction(place, STEPS))
        names = [f"x{axis}" for axis in range(len(point))]
        own = value_on(task.features[index].expression, names, point_box(point))
        minima: list[Interval] = [own if j == index else entry.value for j, entry in enumerate(found)]
        images.append(value_on(task.outer, [f"z{j}" for j in range(len(minima))], tuple(minima)))
    return max(images[0].low - images[1].high, Fraction(0))


def along(start: Point, end: Point, share: Fraction) -> Point:
    """The point at a share between 0 and 1 of the way."""
    return tuple(a + share * (b - a) for a, b in zip(start, end, strict=True))


def on_segment(expression: Expression, start: Point, end: Point) -> Expression:
    """The expression along a segment, in the variable x0 from 0 to 1; polynomials are multiplied out."""
    share = Variable("x0")
    moved = {
        f"x{axis}": Number(a) + (b - a) * share if a != b else Number(a)
        for axis, (a, b) in enumerate(zip(start, end, strict=True))
    }
    path = substitute(expression, moved)
    polynomial = as_polynomial(path, ("x0",))
    if polynomial is None:
        return path
    result: Expression = Number(Fraction(0))
    for power in range(max(key[0] for key in polynomial), -1, -1):
        result = result * share + polynomial.get((power,), Fraction(0))
    return result
