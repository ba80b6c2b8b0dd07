"""Global minimisers on the cube: enclosed, counted and, where they are rational, found exactly.

A sum of parts without common variables is minimised part by part (`checks.separable`). For one part the cube is cut
until what may hold a global minimiser falls into clusters, and in each cluster a proof is tried that there is at most
one: f is strictly monotone in some coordinates (which sit at a face) and strongly convex in the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from checks import balls, jets
from checks.balls import Ball
from checks.enclose import Box, as_balls, bisect, centre, of_expression, point_box, unit_box, value_on
from checks.intervals import Interval
from checks.separable import Part, separate
from theory.errors import NotFinite
from theory.exact import format_exact
from theory.expressions import Expression, variables
from theory.ledger import Proved, Refuted, Undecided, Verdict

MOST_ROUNDS = 60
MOST_BOXES = 1_000
DENOMINATORS = (1, 2, 3, 4, 6, 10, 12, 100, 1000, 10_000, 10**6)
POINT_BITS = 192


@dataclass(frozen=True)
class Minimiser:
    """Where f is least on [0, 1]^d: every global minimiser lies in ``box``, the minimum in ``value``.

    ``point`` is a global minimiser with exact coordinates where one is known; ``unique`` decides A2.1.
    """

    box: Box
    value: Interval
    point: tuple[Fraction, ...] | None
    unique: Verdict


@dataclass(frozen=True)
class _Candidate:
    """If a global minimiser lies in the cluster, it is the only one there, lies in ``box``, and has its value here."""

    box: Box
    value: Interval
    point: tuple[Fraction, ...] | None


def find_minimiser(expression: Expression, dimension: int, most_boxes: int = MOST_BOXES) -> Minimiser:
    """Enclose the global minimisers of an expression on [0, 1]^d and decide whether there is only one (A2.1).

    A variable that does not occur makes it not unique. What cannot be decided within ``most_boxes`` boxes is Undecided.
    """
    names = [variable.name for variable in variables("x", dimension)]
    parts = separate(expression, names)
    if not parts:
        value = value_on(expression, (), ())
        return Minimiser(unit_box(dimension), value, (Fraction(0),) * dimension, _flat(names, names, dimension))
    found = [_search(part.expression, part.names, most_boxes) for part in parts]
    missing = [name for name in names if all(name not in part.names for part in parts)]
    sides = dict.fromkeys(missing, Interval(Fraction(0), Fraction(1)))
    coordinates = dict.fromkeys(missing, Fraction(0))
    for part, entry in zip(parts, found, strict=True):
        sides.update(zip(part.names, entry.box, strict=True))
        coordinates.update(zip(part.names, entry.point or (), strict=entry.point is not None))
    point = tuple(coordinates[name] for name in names) if len(coordinates) == dimension else None
    unique = _flat(missing, names, dimension) if missing else _all_unique(parts, found, coordinates, names)
    low, high = (sum((getattr(entry.value, end) for entry in found), Fraction(0)) for end in ("low", "high"))
    return Minimiser(tuple(sides[name] for name in names), Interval(low, high), point, unique)


def _all_unique(
    parts: Sequence[Part], found: Sequence[Minimiser], known: Mapping[str, Fraction], names: Sequence[str]
) -> Verdict:
    """The sum's minimisers are the parts' minimisers side by side: one only if each part has only one."""
    if len(parts) == 1:
        return found[0].unique
    for kind in (Refuted, Undecided):
        for part, verdict in ((part, entry.unique) for part, entry in zip(parts, found, strict=True)):
            where = f"in {', '.join(part.names)}: {verdict.detail}"
            if isinstance(verdict, kind) and isinstance(verdict, Refuted):
                points = [dict(zip(part.names, point, strict=True)) for point in verdict.witness["minimisers"]]
                if not all(name in known or name in part.names for name in names):
                    return Refuted(where, {"minimisers, by variable": points})  # the others are not rational
                shown = [[point.get(name) or format_exact(known[name]) for name in names] for point in points]
                return Refuted(where, {"minimisers": shown})
            if isinstance(verdict, kind) and isinstance(verdict, Undecided):
                return Undecided(where, verdict.remedy)
    return found[0].unique


def _flat(missing: Sequence[str], names: Sequence[str], dimension: int) -> Verdict:
    index = names.index(missing[0])
    shift = ["1" if axis == index else "0" for axis in range(dimension)]
    return Refuted(f"the feature does not depend on {', '.join(missing)}", {"same value along": shift})


def _search(expression: Expression, names: Sequence[str], most_boxes: int) -> Minimiser:
    examine = of_expression(expression, names)
    open_boxes, upper = [unit_box(len(names))], examine(unit_box(len(names))).upper
    reason = "nothing was examined"
    for _ in range(MOST_ROUNDS):
        survivors = []
        for box in open_boxes:
            seen = examine(box)
            upper = min(upper, seen.upper)
            survivors.append((seen.lower, box))
        clusters = _clusters([box for lower, box in survivors if lower <= upper])
        candidates = [_certify(expression, names, hull) for hull, _ in clusters]
        if all(isinstance(candidate, _Candidate) for candidate in candidates):
            return _compare([candidate for candidate in candidates if isinstance(candidate, _Candidate)])
        reason = next(candidate for candidate in candidates if isinstance(candidate, str))
        open_boxes = []
        for (_, members), candidate in zip(clusters, candidates, strict=True):
            for box in members:
                open_boxes.extend(bisect(box) if isinstance(candidate, str) else (box,))
        if len(open_boxes) > most_boxes:
            break
    hull = clusters[0][0]
    for other, _ in clusters[1:]:
        hull = _hull(hull, other)
    low = min(lower for lower, _ in survivors)
    limit = f"{reason} (after most_boxes={most_boxes} or {MOST_ROUNDS} rounds of bisection)"
    return Minimiser(hull, Interval(low, upper), None, Undecided(limit, "a smooth, non-degenerate feature"))


def _clusters(boxes: Sequence[Box]) -> list[tuple[Box, list[Box]]]:
    """Merge boxes whose hulls touch until none do: each minimiser lies in exactly one hull."""
    clusters: list[tuple[Box, list[Box]]] = []
    for box in boxes:
        hull, members = box, [box]
        while touching := [cluster for cluster in clusters if _touch(cluster[0], hull)]:
            clusters = [cluster for cluster in clusters if not _touch(cluster[0], hull)]
            for other, others in touching:
                hull, members = _hull(hull, other), [*others, *members]
        clusters.append((hull, members))
    return clusters


def _touch(a: Box, b: Box) -> bool:
    return all(x.low <= y.high and y.low <= x.high for x, y in zip(a, b, strict=True))


def _hull(a: Box, b: Box) -> Box:
    return tuple(Interval(min(x.low, y.low), max(x.high, y.high)) for x, y in zip(a, b, strict=True))


def _certify(expression: Expression, names: Sequence[str], hull: Box) -> _Candidate | str:
    """At most one global minimiser in the hull, enclosed; or why that could not be shown.

    Proof. Where a partial derivative is positive all over the hull, a minimiser in it has that coordinate at 0: else a
    step down, inside the cube, would lower f. On the remaining face F let Hess f >= lam > 0 in the free coordinates:
    f is strictly convex there, so two minimisers in F are impossible. Let x be one and c in F any point. By optimality
    grad f(x).(c - x) >= 0, so lam |x - c|^2 <= (grad f(c) - grad f(x)).(c - x) <= grad f(c).(c - x) <= |r| |x - c|,
    where r is the gradient at c without coordinates at a bound of the cube and pointing out of it (these contribute
    at most 0). So |x - c| <= |r|/lam, and f(c) >= f(x) >= f(c) - |r|^2/lam by convexity.
    """
    slopes = jets.differentiate(expression, names, as_balls(hull), jets.BALL_SCALARS, order=1).gradient
    face = tuple(_pinned(side, slope) for side, slope in zip(hull, slopes, strict=True))
    free = [index for index, side in enumerate(face) if not side.is_point]
    if not free:
        corner = tuple(side.low for side in face)
        return _Candidate(face, value_on(expression, names, face), corner)
    try:
        curved = jets.hessian(jets.differentiate(expression, names, as_balls(face), jets.BALL_SCALARS))
    except jets.NotSmooth as error:
        return str(error)
    convexity = least_eigenvalue_lower(curved[np.ix_(free, free)])
    if convexity is None:
        return "the Hessian is not positive definite on the smallest enclosure of a minimiser"
    estimate = _newton(expression, names, face)
    for point in _simple_points(estimate, face):
        gradient = jets.differentiate(expression, names, point_box(point), jets.EXACT_SCALARS, order=1).gradient
        if not any(_residual(point[i], gradient[i].low, gradient[i].high) for i in free):
            return _Candidate(point_box(point), value_on(expression, names, point_box(point)), point)
    return _enclosed(expression, names, face, free, convexity, estimate)


def _pinned(side: Interval, slope: Ball) -> Interval:
    if slope > 0:
        return Interval(side.low, side.low)
    return Interval(side.high, side.high) if slope < 0 else side


def _enclosed(
    expression: Expression,
    names: Sequence[str],
    face: Box,
    free: Sequence[int],
    convexity: Fraction,
    point: tuple[Fraction, ...],
) -> _Candidate:
    with balls.precision(POINT_BITS):
        jet = jets.differentiate(expression, names, as_balls(point_box(point)), jets.BALL_SCALARS, order=1)
        ends = [(balls.lower(slope), balls.upper(slope)) for slope in jet.gradient]
        residual = [_residual(point[i], *ends[i]) for i in free]
        reach = sum(residual, Fraction(0)) / convexity  # the 1-norm bounds the 2-norm
        value = Interval(balls.lower(jet.value) - reach * sum(residual, Fraction(0)), balls.upper(jet.value))
    box = tuple(
        Interval(max(side.low, value - reach), min(side.high, value + reach)) if index in free else side
        for index, (side, value) in enumerate(zip(face, point, strict=True))
    )
    return _Candidate(box, value, None)


def _residual(coordinate: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """An upper bound on |r_i|: the slope's size, less what points out of the cube at its boundary."""
    if coordinate == 0:
        return max(Fraction(0), -low)
    return max(Fraction(0), high) if coordinate == 1 else max(abs(low), abs(high))


def least_eigenvalue_lower(matrix: Any) -> Fraction | None:
    """A positive lower bound on the eigenvalues of every symmetric matrix in an array of balls; None if not shown.

    Proof: if elimination of ``A - lam I`` in balls has positive pivots, so has every symmetric matrix inside, which is
    then positive definite.
    """
    middle = np.array([[float(entry) for entry in row] for row in matrix])
    if not np.all(np.isfinite(middle)):
        return None
    estimate = float(np.linalg.eigvalsh((middle + middle.T) / 2)[0])
    for share in (1 - 2**-30, 0.99, 0.9, 0.5, 0.1, 0.01):
        bound = Fraction(estimate * share)
        if bound > 0 and _positive_pivots(matrix - np.diag([balls.exact(bound)] * len(matrix))):
            return bound
    return None


def _positive_pivots(matrix: Any) -> bool:
    for step in range(len(matrix)):
        pivot = matrix[step, step]
        if not pivot > 0:
            return False
        rest = matrix[step + 1 :, step] / pivot
        matrix[step + 1 :, step + 1 :] -= np.multiply.outer(rest, matrix[step, step + 1 :])
    return True


def _newton(expression: Expression, names: Sequence[str], face: Box) -> tuple[Fraction, ...]:
    """Where the minimum over the face seems to be: projected Newton steps in floats, checked by the caller."""
    low, high = (np.array([float(getattr(side, end)) for side in face]) for end in ("low", "high"))
    point = np.array([float(value) for value in centre(face)])
    for _ in range(60):
        try:
            sides = [balls.exact(float(value)) for value in point]
            jet = jets.differentiate(expression, names, sides, jets.BALL_SCALARS)
            curved = np.array([[float(entry) for entry in row] for row in jets.hessian(jet)])
        except (jets.NotSmooth, NotFinite):
            break
        slope = np.array([float(entry) for entry in jet.gradient])
        moving = ~(((point <= low) & (slope >= 0)) | ((point >= high) & (slope <= 0))) & (low < high)
        if not moving.any():
            break
        step = np.zeros_like(point)
        step[moving] = np.linalg.lstsq(curved[np.ix_(moving, moving)], -slope[moving], rcond=None)[0]
        moved = np.clip(point + step, low, high)
        if np.array_equal(moved, point):
            break
        point = moved
    return tuple(min(max(Fraction(float(value)), side.low), side.high) for value, side in zip(point, face, strict=True))


def _simple_points(estimate: Sequence[Fraction], face: Box) -> list[tuple[Fraction, ...]]:
    """Points of the face with small denominators next to the estimate."""
    points: list[tuple[Fraction, ...]] = []
    for largest in DENOMINATORS:
        point = tuple(value.limit_denominator(largest) for value in estimate)
        near = all(abs(x - y) < Fraction(1, 10**9) for x, y in zip(point, estimate, strict=True))
        if near and point not in points and all(s.low <= x <= s.high for s, x in zip(face, point, strict=True)):
            points.append(point)
    return points


def _compare(candidates: Sequence[_Candidate]) -> Minimiser:
    least = min(candidate.value.high for candidate in candidates)
    best = [candidate for candidate in candidates if candidate.value.low <= least]
    if len(best) == 1:
        return Minimiser(best[0].box, best[0].value, best[0].point, Proved("one minimiser, enclosed"))
    hull = best[0].box
    for candidate in best[1:]:
        hull = _hull(hull, candidate.box)
    value = Interval(min(candidate.value.low for candidate in best), least)
    exact = [candidate for candidate in best if candidate.point is not None and candidate.value.is_point]
    equal = [candidate for candidate in exact if candidate.value.low == value.low]
    if len(equal) > 1:
        shown = [[format_exact(entry) for entry in candidate.point or ()] for candidate in equal]
        verdict: Verdict = Refuted(f"{len(equal)} global minimisers of equal value", {"minimisers": shown})
        return Minimiser(hull, value, equal[0].point, verdict)
    reason = f"{len(best)} local minima whose values agree to {float(value.high - value.low):.1e}"
    return Minimiser(hull, value, None, Undecided(reason, "features with one clearly lowest minimum"))
