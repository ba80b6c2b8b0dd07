"""The constants of a task that the theorems use, each with a proved bound.

>>> from constructions.task import toy
>>> found = constants(toy(16))
>>> found.outer_gradient_l1_upper, found.rho
(Fraction(2, 1), Fraction(1, 2))
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from checks.basins import Basin, find_basins, rho
from checks.hypotheses import minimisers
from checks.intervals import Interval
from checks.lipschitz import gradient_l1
from checks.local_constants import OuterSlope, SteepSegment, outer_slopes, steep_segments
from checks.minimisers import Minimiser
from checks.separation import margin, separation
from constructions.task import RetrievalTask
from theory.expressions import Expression, variables


@dataclass(frozen=True)
class TaskConstants:
    """Proved constants of one task; an `Interval` contains the constant it is named after.

    ``outer_gradient_l1``: L_0 = sup over [0,1]^D of |grad F_0|_1, the least Lipschitz constant of F_0 for the sup
    norm; ``feature_lipschitz`` the same for each f_i. ``basins``: N4's segments. ``steep_segments``: L5 (segment, r,
    L_f); ``outer_slopes``: L6, one-point and two-point (L_F); both on N4's segments. ``separation``: R_0 of L7, half
    the least distance between minimisers; ``margin``: eps_0 of L7. None: not shown (to exist, or to be positive).
    """

    minimisers: tuple[Minimiser, ...]
    outer_gradient_l1: Interval
    feature_lipschitz: tuple[Interval, ...]
    basins: tuple[Basin, ...] | None
    steep_segments: tuple[SteepSegment, ...] | None
    outer_slopes: tuple[OuterSlope, ...] | None
    separation: Interval | None
    margin: Interval | None

    @property
    def minima(self) -> tuple[Interval, ...]:
        """Enclosures of z_1, ..., z_D."""
        return tuple(entry.value for entry in self.minimisers)

    @property
    def rho(self) -> Fraction | None:
        """N4's constant (see `checks.basins`); None where no segments were found."""
        return None if self.basins is None else rho(self.basins)

    @property
    def rho_printed_lower(self) -> Fraction | None:
        """``min_i r_i L_f,i L_F,i``, the constant printed with N4, from L5 and the two-point L6; at most `rho`."""
        if self.steep_segments is None or self.outer_slopes is None:
            return None
        pairs = zip(self.steep_segments, self.outer_slopes, strict=True)
        return min(steep.length.low * steep.slope_lower * outer.two_point_lower for steep, outer in pairs)

    @property
    def outer_gradient_l1_upper(self) -> Fraction:
        return self.outer_gradient_l1.high

    @property
    def feature_lipschitz_upper(self) -> tuple[Fraction, ...]:
        return tuple(entry.high for entry in self.feature_lipschitz)

    @property
    def separation_lower(self) -> Fraction | None:
        return None if self.separation is None else self.separation.low

    @property
    def margin_lower(self) -> Fraction | None:
        return None if self.margin is None else self.margin.low


def constants(task: RetrievalTask) -> TaskConstants:
    """Compute and prove the constants of a task.

    Raises:
        NotFinite: a feature or the outer map without a finite enclosure on its cube.
    """
    found = minimisers(task)
    basins = find_basins(task, found)
    radius = separation(found)
    return TaskConstants(
        minimisers=found,
        outer_gradient_l1=outer_gradient_l1(task),
        feature_lipschitz=tuple(_gradient(feature.expression, "x", task.token_dim) for feature in task.features),
        basins=basins,
        steep_segments=None if basins is None else steep_segments(task, basins),
        outer_slopes=None if basins is None else outer_slopes(task, found, basins),
        separation=radius,
        margin=None if radius is None else margin(task, found, radius),
    )


def outer_gradient_l1(task: RetrievalTask) -> Interval:
    """L_0 = sup |grad F_0|_1 over [0,1]^D, enclosed within 1 % unless F_0 is too complicated."""
    return _gradient(task.outer, "z", task.num_targets)


def outer_gradient_l1_upper(task: RetrievalTask) -> Fraction:
    """The upper end of `outer_gradient_l1`."""
    return outer_gradient_l1(task).high


def _gradient(expression: Expression, prefix: str, dimension: int) -> Interval:
    return gradient_l1(expression, [variable.name for variable in variables(prefix, dimension)])
