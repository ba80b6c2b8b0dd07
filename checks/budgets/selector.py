"""Certified error of a selector (T1, N10): heads, selector, features, outer map.

The network must be, weight by weight, what its parts compose to. Its heads are covering heads for minima over m-subsets
and are read from their weights (N3); what the selector makes of their errors is proved below.
"""

from __future__ import annotations

from fractions import Fraction

from checks import balls
from checks.budget import retrievals
from checks.budgets.compare import Different, require_equal
from checks.budgets.coordinates import (
    ZERO,
    Coordinate,
    Share,
    feature_share,
    outer_error,
    outer_terms,
    two_layers,
)
from checks.lipschitz import gradient_l1
from checks.retrieval import BITS, feature_range
from constructions import selector
from constructions.built import Built
from constructions.network import Network, Perceptron
from constructions.task import RetrievalTask
from theory.density import SELECTOR_CONSTANT
from theory.enough_heads import Term


def terms(built: Built) -> tuple[Term, ...]:
    """A tree of terms whose sum bounds ``sup |network - H|`` over [0,1]^(dT).

    Claims N3, L2, N10, T2.3-1, T2.3-3, upper. Exact but for exp, W and enclosed curves, in balls. Raises Different.
    """
    require_equal(built.network, selector.assemble(built))
    softmin = softmin_upper(built)
    if built.form == "exact":
        coordinates = [_through_network(built, index, 2 * softmin) for index in range(built.task.num_targets)]
        outer = outer_error(built.task, two_layers(built.part("outer", Perceptron), "outer"), coordinates)
        return outer_terms(built.task, coordinates, outer, "T1.P")
    rate = smooth_rate_upper(built.part("sharpness", Fraction), softmin)
    coordinates = [_through_formula(built, index, softmin, rate) for index in range(built.task.num_targets)]
    return outer_terms(built.task, coordinates, (ZERO, ZERO), "T1.P")


# With e the largest error of a head, all of them upwards: Y' in [Y, Y + e], v' in [v, v + e], H' in [H - e, H] for
# H = 1 - Z, w' in [w - e, w], w' <= H' and Y' <= v', as maxima over fewer sets are smaller. By L2 Y = min(x, v),
# H = max(x, w), and w <= v since 2m <= T + 1.
#
# Exact selector, x' = H' - relu(w' - Y'). If x >= w: Y' >= Y >= w >= w', so x' = H' in [x - e, x]. If x < w: H = w and
# Y = x. Either w' > Y' and x' = (H' - w') + Y' in [x, x + 2 e], or w' <= Y' <= x + e, so w <= x + 2 e and x' = H' lies
# in [w - e, w], within [x - e, x + 2 e]. Clipping to [0,1], where x is, brings x' no farther from x.
#
# Smooth selector, x' = s H' + (1 - s) Y' with s = 1/(1 + exp(q ((Y' - v')^2 - (H' - w')^2))). If w <= x <= v, then
# H = Y = x, so x' is within e of x. If x < w: x' >= x - e, as H' >= w - e; with a = w - x <= v - x,
# |Y' - v'| >= (a - e)^+ and |H' - w'| <= e, so s <= e^(q e^2)/(1 + exp(q ((a - e)^+)^2)), and
# x' - x <= s a + (1 - s) e <= e + s (a - e)^+ <= e + e^(q e^2) max_b b/(1 + e^(q b^2)), where the maximum is at most
# 0.277859/sqrt(q). x > v is the same from above.


def softmin_upper(built: Built) -> Fraction:
    """Upper bound of how far heads are above their minima (N3); Different if one may be below, or leave [0,1]."""
    heads = built.part("heads", Network)
    found = retrievals(heads, selector.minima_task(built.task))
    for index, item in enumerate(found):
        if item.below > 0 or item.range[0] < 0 or item.range[1] > 1:
            shown = f"head {index}: below its minimum, or outside [0,1]"
            raise Different(f"{shown}: required: errors upwards only, as in N10's proof with errors. Try: rebuild.")
    return max(item.above for item in found)


def smooth_rate_upper(sharpness: Fraction, softmin: Fraction) -> Fraction:
    """Rational upper bound of ``e^(q e^2) 0.277859/sqrt(q)`` (N10), by balls; q = ``sharpness``, e = ``softmin``."""
    if sharpness <= 0:
        raise Different(f"sharpness={sharpness}: required: q > 0. Try: build it again.")
    with balls.precision(BITS):
        q = balls.exact(sharpness)
        growth = balls.exp(q * balls.exact(softmin) * balls.exact(softmin))
        root = balls.exp(balls.log(q) * balls.exact(Fraction(1, 2)))
        return balls.upper(balls.divide(balls.exact(SELECTOR_CONSTANT) * growth, root))


def _steepness_upper(task: RetrievalTask, index: int) -> Fraction:
    """Upper bound of sup |grad f_i|_1 over the cube."""
    return gradient_l1(task.features[index].expression, [f"x{axis}" for axis in range(task.token_dim)]).high


def _through_network(built: Built, index: int, selected: Fraction) -> Coordinate:
    """Features of the recovered tokens by Psi_i, then the exact minimum."""
    psi = two_layers(built.part(f"feature {index}", Perceptron), f"feature {index}")
    share, found = feature_share(psi, built.task, index)
    moved = _steepness_upper(built.task, index) * selected
    return Coordinate((share, Share(f"heads {index}", "N3", moved, moved)), found)


def _through_formula(built: Built, index: int, softmin: Fraction, rate: Fraction) -> Coordinate:
    """Features of the recovered tokens, and their minimum, as they are."""
    steepness = _steepness_upper(built.task, index)
    shares = (
        Share(f"heads {index}", "N3", steepness * softmin, steepness * softmin),
        Share(f"smooth selector {index}", "N10", steepness * rate, steepness * rate),
    )
    return Coordinate(shares, feature_range(built.task.features[index].expression, built.task.token_dim))
