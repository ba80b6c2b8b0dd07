"""Certified error of N7's one head: features, exponential, log-sum-exp and logarithm, each from the weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from checks import balls
from checks.budgets.compare import Different, require_equal
from checks.budgets.coordinates import Share, feature_share, two_layers
from checks.piecewise import Interval as Ends
from checks.piecewise import sum_of_relus
from checks.retrieval import feature_range
from constructions.built import Built
from constructions.log_sum_exp import GATE, affine_outer, compose, support_sizes
from constructions.network import Perceptron
from theory.enough_heads import Term
from theory.rational_bounds import positive

BITS = 128
ZERO = Fraction(0)


@dataclass(frozen=True)
class Cell:
    """A function of one variable that is linear on [left, right]; values at the ends, as limits from within."""

    left: Fraction
    right: Fraction
    start: Fraction
    end: Fraction


def terms(built: Built) -> tuple[Term, ...]:
    """A tree of terms whose sum bounds ``sup |network - H|`` (N7).

    Hypotheses, all tested here: the network is, entry by entry, what its parts compose to, and the gate closes.
    Raises Different, NotFinite, InvalidInput. Arithmetic: exact rationals, balls for ln.
    """
    # Proof, for one coordinate, c = e(0): put w_t = -ln(e(Psi(x_t))/c)/beta = Psi(x_t) + F. As T u is the sum over S of
    # e(Psi(x_t)), -ln(T u/c)/beta = -(1/beta) ln sum_S e^(-beta w_t) lies in [min w - ln|S|/beta, min w]; and g(u) =
    # -ln(T u/c)/beta + E. So g(u) - zbar is the sum of Psi - f, F, a number of size ln|S|/(2 beta) at most, and of
    # E - ln|S|/(2 beta), each bounded over the range of Psi or u. This holds for every beta > 0.
    task, beta = built.task, positive("beta", built.part("beta", Fraction))
    features = [built.part(f"feature {index}", Perceptron) for index in range(task.num_targets)]
    logarithms = {size: built.part(f"logarithm {size}", Perceptron) for size in support_sizes(task)}
    exponential = built.part("exponential", Perceptron)
    require_equal(built.network, compose(task, features, exponential, logarithms))
    coordinates = []
    for index, feature in enumerate(task.features):
        share, psi = _feature(features[index], built, index)
        size = len(feature.positions)
        if size < task.seq_len:
            _require_closed(exponential, (psi[0] + GATE, psi[1] + GATE))
        scale = _only(exponential, ZERO)
        bends, values = _exponential(exponential, psi, beta, scale)
        part = Fraction(size, task.seq_len)
        follows = _logarithm(logarithms[size], (part * values[0], part * values[1]), beta, task.seq_len / scale, size)
        coordinates.append((share, bends, *follows))
    sides = [_side(built, coordinates, sign) for sign in (1, -1)]
    return max(sides, key=lambda side: sum((term.value_upper for term in side), ZERO))


def _side(built: Built, coordinates: Sequence[Sequence[Share]], sign: int) -> tuple[Term, ...]:
    """Terms of an upper bound of ``sign (network - H)``, F_0 affine."""
    found = []
    for index, (slope, shares) in enumerate(zip(affine_outer(built.task)[1], coordinates, strict=True)):
        sizes = [(share, abs(slope) * (share.above if sign * slope > 0 else share.below)) for share in shares]
        leaves = [Term(share.name, share.claim, size) for share, size in sizes if size]
        found.append(Term.sum(f"coordinate {index}", "N7", leaves))
    return tuple(term for term in found if term.value_upper)


def _feature(part: Perceptron, built: Built, index: int) -> tuple[Share, Ends]:
    """Psi against f, and the range of Psi: by its own kinks, and by f's range."""
    share, (low, high) = feature_share(two_layers(part, f"feature {index}"), built.task, index)
    f0, f1 = feature_range(built.task.features[index].expression, built.task.token_dim)
    return share, (max(low, f0 - share.below), min(high, f1 + share.above))


def _require_closed(exponential: Perceptron, beyond: Ends) -> None:
    if any(cell.start or cell.end for cell in cells_of(exponential, beyond)):
        raise Different(f"part exponential: required: 0 on [{beyond[0]}, {beyond[1]}], off S_i. Try: build it again.")


def _exponential(part: Perceptron, psi: Ends, beta: Fraction, scale: Fraction) -> tuple[Share, Ends]:
    """F over the range of Psi, and the range of e there."""
    cells = cells_of(part, psi)
    values = [value for cell in cells for value in (cell.start, cell.end)]
    if min(values) <= 0:
        raise Different("part exponential: required: positive on the features' range. Try: build it again.")
    with balls.precision(BITS):
        low, high = _hull([_below_logarithm(cell, beta, scale) for cell in cells])
    return Share("exponential", "N7", max(ZERO, -low), max(ZERO, high)), (min(values), max(values))


def _logarithm(part: Perceptron, u: Ends, beta: Fraction, scale: Fraction, size: int) -> tuple[Share, Share]:
    """Half of what log-sum-exp may lose, and E - ln|S|/(2 beta), for u T/c = u scale."""
    cells = cells_of(part, u)
    with balls.precision(BITS):
        half = balls.log(balls.exact(size)) / (2 * balls.exact(beta)) if size > 1 else balls.exact(0)
        most, least = balls.upper(half), balls.lower(half)
        low, high = _hull([_above_logarithm(cell, beta, scale) for cell in cells])
    kept = Share("log-sum-exp", "N7", most, most)
    return kept, Share("logarithm", "N7", max(ZERO, most - low), max(ZERO, high - least))


def cells_of(part: Perceptron, interval: Ends) -> list[Cell]:
    """A two-layer network with one input and one output, relu or Heaviside, on an interval; exact.

    Raises:
        Different: another network.
    """
    kinds = [layer.activation for layer in part.layers]
    if len(kinds) != 2 or kinds[1] != "identity" or (part.input_dim, part.output_dim) != (1, 1):
        raise Different("a curve: required: two layers, one input and one output. Try: build it again.")
    inner, outer = part.layers
    if inner.copies is not None or inner.bias.ndim != 1:
        raise Different("a curve: required: no copies and no position. Try: build it again.")
    neurons = list(zip(outer.weight[0], inner.weight[:, 0], inner.bias, strict=True))
    constant = Fraction(outer.bias[0])
    if kinds[0] == "relu":
        line = sum_of_relus(neurons, interval)
        ends = zip(pairwise(line.points), pairwise(line.values), strict=True)
        cells = [Cell(a, b, start + constant, end + constant) for (a, b), (start, end) in ends]
        return cells or [Cell(*interval, *[line.values[0] + constant] * 2)]
    if kinds[0] != "heaviside":
        raise Different(f"a curve: required: relu or heaviside, not {kinds[0]}. Try: build it again.")
    # The jumps lie at -bias/weight; between two of them each neuron has the value it has in the middle. At a jump the
    # function has one of the two values next to it, as all jumps there go the same way: weights of one sign.
    if len({weight > 0 for _, weight, _ in neurons}) > 1 or any(not weight for _, weight, _ in neurons):
        raise Different("a staircase: required: weights of one sign in its first layer. Try: build it again.")
    low, high = interval
    jumps = sorted({-bias / weight for _, weight, bias in neurons if low <= -bias / weight <= high} | {low, high})
    found = [_step(neurons, constant, left, right) for left, right in pairwise(jumps)]
    ends_at = [_step(neurons, constant, point, point) for point in (low, high)]
    return [*found, *ends_at]


def _step(
    neurons: Sequence[tuple[Fraction, Fraction, Fraction]], constant: Fraction, left: Fraction, right: Fraction
) -> Cell:
    middle = (left + right) / 2
    value = constant + sum((output for output, weight, bias in neurons if weight * middle + bias >= 0), ZERO)
    return Cell(left, right, value, value)


def _only(part: Perceptron, point: Fraction) -> Fraction:
    return cells_of(part, (point, point))[0].start


def _below_logarithm(cell: Cell, beta: Fraction, scale: Fraction) -> Ends:
    """Bounds of ``-ln(y(s)/scale)/beta - s`` on a cell of a positive y."""
    # Convex, as -ln of a linear function: greatest at an end, least where y' = -beta y if that is within the cell.
    slope = (cell.end - cell.start) / (cell.right - cell.left) if cell.right > cell.left else ZERO
    points = [(cell.left, cell.start), (cell.right, cell.end)]
    if slope < 0 and cell.end < -slope / beta < cell.start:
        points.append((cell.left + (-slope / beta - cell.start) / slope, -slope / beta))
    values = [-_ln(y / scale) / balls.exact(beta) - balls.exact(s) for s, y in points]
    return min(map(balls.lower, values)), max(map(balls.upper, values))


def _above_logarithm(cell: Cell, beta: Fraction, scale: Fraction) -> Ends:
    """Bounds of ``y(u) + ln(u scale)/beta`` on a cell in u > 0."""
    # Concave: least at an end, greatest where y' = -1/(beta u) if that is within the cell.
    slope = (cell.end - cell.start) / (cell.right - cell.left) if cell.right > cell.left else ZERO
    points = [(cell.left, cell.start), (cell.right, cell.end)]
    if slope < 0 and cell.left < -1 / (beta * slope) < cell.right:
        top = -1 / (beta * slope)
        points.append((top, cell.start + slope * (top - cell.left)))
    values = [balls.exact(y) + _ln(u * scale) / balls.exact(beta) for u, y in points]
    return min(map(balls.lower, values)), max(map(balls.upper, values))


def _ln(value: Fraction) -> balls.Ball:
    return balls.log(balls.exact(value))


def _hull(ranges: Sequence[Ends]) -> Ends:
    return min(low for low, _ in ranges), max(high for _, high in ranges)
