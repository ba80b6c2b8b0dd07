"""L5 and L6 for a task, on the segments of `checks.basins`: how steep each f_i is there, and F_0 along each axis.

With these, ``r L_f L_F <= V_i``: the constant printed with N4 (and in T2.2) is at most the swing that `checks.basins`
encloses directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from checks import balls, jets
from checks.basins import Basin, Point, along, on_segment
from checks.intervals import Interval, to_ball
from checks.minimisers import Minimiser
from checks.separable import separate
from constructions.task import RetrievalTask
from theory.errors import NotFinite
from theory.expressions import Expression, evaluate
from theory.rational_bounds import sqrt_lower, sqrt_upper

PIECES = 16


@dataclass(frozen=True)
class SteepSegment:
    """L5: on the segment from ``start`` to ``end``, of length r, ``|f_i(x) - f_i(y)| >= slope_lower |x - y|_2``.

    It is the part of N4's segment G_i, at its far end, for which the product r L_f came out largest; f_i > z_i on it.
    """

    start: Point
    end: Point
    length: Interval
    slope_lower: Fraction


@dataclass(frozen=True)
class OuterSlope:
    """L6 for coordinate i, for all deltas in ``[0, reach]``, reach being at least sup over G_i of f_i - z_i.

    one-point:  |F_0(z + delta e_i) - F_0(z)|            >= one_point_lower |delta|
    two-point:  |F_0(z + delta e_i) - F_0(z + delta' e_i)| >= two_point_lower |delta - delta'|
    """

    reach: Fraction
    one_point_lower: Fraction
    two_point_lower: Fraction


def steep_segments(task: RetrievalTask, basins: Sequence[Basin]) -> tuple[SteepSegment, ...] | None:
    """L5's segment, r and L_f for every feature; None where some feature was not shown to rise along its segment."""
    found = [_steepest(f.expression, basin) for f, basin in zip(task.features, basins, strict=True)]
    return None if any(entry is None for entry in found) else tuple(entry for entry in found if entry is not None)


def _steepest(expression: Expression, basin: Basin) -> SteepSegment | None:
    # On [s, s'] of the segment the mean-value theorem gives f(x) - f(y) >= inf g' (s' - s), g the path over [0, 1].
    path = on_segment(expression, basin.start, basin.end)
    rises = [_slope(path, "x0", {"x0": piece}).low for piece in _pieces(Interval(Fraction(0), Fraction(1)))]
    least = list(accumulate(reversed(rises), min))[::-1]  # over all pieces from k on
    first = max(range(PIECES), key=lambda k: (PIECES - k) * least[k])
    if least[first] <= 0:
        return None
    start = along(basin.start, basin.end, Fraction(first, PIECES))
    whole = sum(((a - b) ** 2 for a, b in zip(basin.start, basin.end, strict=True)), Fraction(0))
    square = whole * Fraction(PIECES - first, PIECES) ** 2
    return SteepSegment(
        start, basin.end, Interval(sqrt_lower(square), sqrt_upper(square)), least[first] / sqrt_upper(whole)
    )


def outer_slopes(
    task: RetrievalTask, found: Sequence[Minimiser], basins: Sequence[Basin]
) -> tuple[OuterSlope, ...] | None:
    """L6's constants for every coordinate; None where F_0 was not shown to change along some coordinate."""
    slopes = [_outer_slope(task, found, i, basin.feature_upper) for i, basin in enumerate(basins)]
    return None if any(entry is None for entry in slopes) else tuple(entry for entry in slopes if entry is not None)


def _outer_slope(task: RetrievalTask, found: Sequence[Minimiser], index: int, highest: Fraction) -> OuterSlope | None:
    names = [f"z{j}" for j in range(task.num_targets)]
    part = next((part for part in separate(task.outer, names) if names[index] in part.names), None)
    if part is None:
        return None
    least = found[index].value
    reach = highest - least.low
    box = {name: found[names.index(name)].value for name in part.names}
    try:
        sides = [
            Interval(least.low + piece.low, least.high + piece.high) for piece in _pieces(Interval(Fraction(0), reach))
        ]
        slopes = [_slope(part.expression, names[index], {**box, names[index]: side}) for side in sides]
    except NotFinite:
        return None
    for rises in ([slope.low for slope in slopes], [-slope.high for slope in slopes]):
        # F_0(z + delta e_i) - F_0(z) >= h (m_1 + .. + m_k) at delta = k h, and between linear in delta: the quotient
        # by delta is least at one of these ends. A change of sign cannot help the other bound either.
        means = [total / count for count, total in enumerate(accumulate(rises), 1)]
        if min(means) > 0:
            return OuterSlope(reach, min(means), max(min(rises), Fraction(0)))
    return None


def _pieces(whole: Interval) -> list[Interval]:
    step = (whole.high - whole.low) / PIECES
    return [Interval(whole.low + k * step, whole.low + (k + 1) * step) for k in range(PIECES)]


def _slope(expression: Expression, name: str, box: dict[str, Interval]) -> Interval:
    """The derivative along one variable over a box; at kinks every Clarke subgradient."""
    arithmetic = jets.JetArithmetic(1, 1, jets.BALL_SCALARS)
    values = {
        key: arithmetic.variable(0, to_ball(side))
        if key == name
        else jets.Jet(to_ball(side), arithmetic.no_gradient, arithmetic.no_hessian)
        for key, side in box.items()
    }
    (slope,) = evaluate(expression, values, arithmetic).gradient
    return Interval(balls.lower(slope), balls.upper(slope))
