"""T1 built (N10): heads that retrieve minima over m-subsets only, and a read-out that recovers every token from them.

Any continuous target of the sequence is then a function of these minima; here it is a task's H. m = ceil(T/4), and the
D = 2 d C(T, m) coordinates are min_S x_j and min_S (1 - x_j) for all j and all S of m positions.

exact    selector by tournaments, x = (1 - Z) - relu(w - Y) (N10), then the minima and maps of T2.3's deep form: ReLU
smooth   L3's selector, a mean of 1 - Z and Y, at a sharpness q that its rate asks for, then H itself: a formula
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import combinations, pairwise

from constructions import memoriser, specialists
from constructions.approximators import CurveOf
from constructions.built import Built, Part
from constructions.deep_relu import clip, compose, on_shared_inputs, tournament_maximum
from constructions.network import Component, Formula, Map, Network, Perceptron
from constructions.ridge import Affine, ridge_sum
from constructions.sparse import layer
from constructions.specialists import Design, Knowledge
from constructions.task import Feature, RetrievalTask
from theory.density import SELECTOR_CONSTANT, support_size, targets_sufficient
from theory.enough_heads import SLACK
from theory.errors import InvalidInput, TooLarge
from theory.expressions import Call, Expression, Variable, apply, substitute, variables
from theory.ledger import Form
from theory.rational_bounds import positive

KIND = "selector"
MOST_HEADS = 256
"""More heads are not made: T <= 8 for d <= 4."""
OUTER_SHARE, FEATURE_SHARE = Fraction(1, 8), Fraction(1, 2)
"""Shares of the error for a curved F_0, and for curved features of the rest."""
SOFTMIN_SHARE = Fraction(1, 8)
"""Share of the smooth selector's error that the heads get."""
PIECES = 16
"""A ridge's slope is bounded on this many pieces."""


def build(task: RetrievalTask, eps: Fraction, form: str, knowledge: Knowledge) -> Built:
    """2 d C(T, m) heads and a selector that approximate the task (T1, N10; existence).

    Hypotheses: f_i with values in [0,1] and F_0 are sums of ridge functions, C^2 along each; ``knowledge`` is right.
    Conclusion: sup |network - H| < eps. With e = W((T-1)/e)/beta the error of a head, every recovered coordinate is off
    by at most 2 e (exact), e + e^(q e^2) 0.277859/sqrt(q) (smooth). Exact weights.

    >>> from constructions.task import toy
    >>> built = build(toy(5), Fraction(1, 10), "exact", Knowledge(Fraction(2)))
    >>> built.network.num_heads
    20

    Raises:
        InvalidInput: an unknown form, eps <= 0, or an expression without the required form.
        TooLarge: more than MOST_HEADS heads would be needed.
    """
    makers: Mapping[str, Callable[[Design], Built]] = {"exact": _exact, "smooth": _smooth}
    if form not in makers:
        raise InvalidInput.about("form", form, f"one of {', '.join(makers)}", "--form exact")
    heads = targets_sufficient(task.token_dim, task.seq_len)
    if heads > MOST_HEADS:
        raise TooLarge.predicted(
            "heads of a selector, 2 d C(T, ceil(T/4))", heads, MOST_HEADS, "T <= 8, or a memoriser"
        )
    return makers[form](Design(task, positive("eps", eps), knowledge))


def assemble(built: Built) -> Network:
    """The network that the parts of a selector compose to; exact. Raises InvalidInput if a part is missing."""
    task, heads = built.task, built.part("heads", Network)
    if built.form == "smooth":
        return replace(heads, readout=smooth_readout(task, heads, built.part("sharpness", Fraction)))
    pieces = [built.part(f"feature {index}", Perceptron) for index in range(task.num_targets)]
    return replace(heads, readout=exact_readout(task, heads, pieces, built.part("outer", Perceptron)))


def minima_task(task: RetrievalTask) -> RetrievalTask:
    """The D-retrieval task of the minima: for each j first all min_S x_j, then all min_S (1 - x_j), S in order."""
    subsets = list(combinations(range(1, task.seq_len + 1), support_size(task.seq_len)))
    features = [
        Feature(expression, subset)
        for x in variables("x", task.token_dim)
        for expression in (x, 1 - x)
        for subset in subsets
    ]
    mean = Call("+", tuple(Fraction(1, len(features)) * z for z in variables("z", len(features))))
    return RetrievalTask(f"minima of {task.name}", task.token_dim, task.seq_len, tuple(features), mean)


@dataclass(frozen=True)
class Places:
    """Where the minima stand in the vector of all D: of coordinate j, over subsets with position t or over all."""

    token_dim: int
    seq_len: int

    @property
    def subsets(self) -> list[tuple[int, ...]]:
        return list(combinations(range(self.seq_len), support_size(self.seq_len)))

    def low(self, axis: int, position: int | None = None) -> list[int]:
        """Places of min_S x_j, 0-based; those with ``position`` in S if it is given."""
        subsets = self.subsets
        start = 2 * axis * len(subsets)
        return [start + k for k, subset in enumerate(subsets) if position is None or position in subset]

    def high(self, axis: int, position: int | None = None) -> list[int]:
        """Places of min_S (1 - x_j)."""
        return [place + len(self.subsets) for place in self.low(axis, position)]


def exact_selector(token_dim: int, seq_len: int) -> Perceptron:
    """From the minima of `minima_task` to the tokens, T d numbers, token after token: N10's selector as a ReLU network.

    Claims L2, N10, tight: exactly the tokens for every sequence in [0,1]^(dT). Weights of order 1, depth
    ceil(log2 C(T, m)) + 2. Exact.
    """
    # Y = max over S with t of min_S x, Z the same for 1 - x, W = 1 - w_m = max over all S of min_S (1 - x). Then
    # x = (1 - Z) - relu(w - Y) by N10; 1 - Z >= 0 passes through a relu unchanged.
    places, tokens = Places(token_dim, seq_len), [(t, j) for t in range(seq_len) for j in range(token_dim)]
    inputs = [places.low(j, t) for t, j in tokens] + [places.high(j, t) for t, j in tokens]
    inputs += [places.high(j) for j in range(token_dim)]
    rounds = (len(places.subsets) - 1).bit_length()
    size, one = len(tokens), Fraction(1)
    maxima = on_shared_inputs(
        [tournament_maximum(len(i), rounds) for i in inputs], inputs, 2 * token_dim * len(places.subsets)
    )
    passed = [{size + k: -one} for k in range(size)]
    below = [{2 * size + j: -one, k: -one} for k, (_, j) in enumerate(tokens)]
    hidden = layer([*passed, *below], 2 * size + token_dim, [one] * (2 * size), "relu")
    return compose(
        maxima, Perceptron((hidden, layer([{k: one, size + k: -one} for k in range(size)], 2 * size, [0] * size)))
    )


def smooth_selector(token_dim: int, seq_len: int, sharpness: Fraction) -> list[Expression]:
    """From the minima z0, z1, ... to the tokens, token after token: L3's mean of 1 - Z and Y at q = ``sharpness``.

    Claims L3, N10, upper: off by at most 0.277859/sqrt(q) where the minima are exact. Weights e^{q (1-Z-w)^2} on 1 - Z
    and e^{q (Y-v)^2} on Y, written by tanh so that nothing overflows.
    """
    places = Places(token_dim, seq_len)

    def largest(chosen: list[int]) -> Expression:
        return apply("max", *(Variable(f"z{place}") for place in chosen))

    tokens = []
    for position in range(seq_len):
        for axis in range(token_dim):
            y, upper = largest(places.low(axis, position)), 1 - largest(places.high(axis, position))
            v, w = largest(places.low(axis)), 1 - largest(places.high(axis))
            tilt = apply("tanh", sharpness / 2 * ((upper - w) ** 2 - (y - v) ** 2))
            tokens.append(Fraction(1, 2) * (upper + y) + Fraction(1, 2) * (upper - y) * tilt)
    return tokens


def exact_readout(task: RetrievalTask, heads: Network, features: list[Perceptron], outer: Perceptron) -> Perceptron:
    """Selector, clip to the cube, features, exact minima, outer map: one ReLU network, merged (L8)."""
    tokens = exact_selector(task.token_dim, task.seq_len)
    largest = max(len(feature.positions) for feature in task.features)
    after = memoriser.readout(task, features, lambda size: memoriser.minimum_of(size, 0, largest), outer, compose)
    pieces = [_without_class_token(heads), tokens, clip(task.seq_len * task.token_dim), after]
    return reduce(compose, pieces)


def smooth_readout(task: RetrievalTask, heads: Network, sharpness: Fraction) -> Formula:
    """H at the tokens that the smooth selector finds, as one formula in the heads' outputs."""
    recovered = smooth_selector(task.token_dim, task.seq_len, sharpness)
    tokens = [recovered[t * task.token_dim : (t + 1) * task.token_dim] for t in range(task.seq_len)]
    minima = {
        f"z{index}": apply("min", *(_at(feature.expression, tokens[t - 1]) for t in feature.positions))
        for index, feature in enumerate(task.features)
    }
    # The read-out's input is z + c0 (DEF-H).
    inputs = {
        f"z{k}": Variable(f"x{k}") - shift if shift else Variable(f"x{k}") for k, shift in enumerate(heads.output_bias)
    }
    return Formula(len(heads.output_bias), (Component(substitute(substitute(task.outer, minima), inputs)),))


def sharpness_for(error: Fraction, softmin: Fraction) -> Fraction:
    """A q with e^(q softmin^2) 0.277859/sqrt(q) <= ``error``, if softmin <= error/4; exact."""
    # q = (9/8 c/error)^2, so q softmin^2 <= (9 c/32)^2 < 1/160 and e^(1/160) < 9/8.
    return (Fraction(9, 8) * SELECTOR_CONSTANT / error) ** 2


def gradient_l1_upper(expression: Expression, dimension: int, curve_of: CurveOf) -> Fraction:
    """Upper bound of sup over [0,1]^d of |grad|_1 for a sum of ridge functions. Exact. Raises InvalidInput."""
    # The gradient is a sum of multiples of fixed vectors: the affine part once, a kink's between 0 and 1 times, a
    # ridge's direction g' times. Somewhere on a piece of length h the slope g' equals the chord's; elsewhere on it, it
    # differs by at most h sup|g''|.
    parts, zero = ridge_sum(expression, [f"x{axis}" for axis in range(dimension)]), Fraction(0)
    multiples = [(parts.affine.weights, Fraction(1), Fraction(1))]
    multiples += [(kink.form.weights, min(kink.coefficient, zero), max(kink.coefficient, zero)) for kink in parts.kinks]
    for ridge in parts.ridges:
        curve = curve_of(ridge)
        start, end = Affine(ridge.direction, zero).range_on([(zero, Fraction(1))] * dimension)
        step = (end - start) / PIECES
        points = [start + k * step for k in range(PIECES + 1)]
        values = [curve.value(point, step / 1024) for point in points]
        bends = [step * curve.curvature(left, right) for left, right in pairwise(points)]
        chords = [((right[0] - left[1]) / step, (right[1] - left[0]) / step) for left, right in pairwise(values)]
        lows = [low - bend for (low, _), bend in zip(chords, bends, strict=True)]
        highs = [high + bend for (_, high), bend in zip(chords, bends, strict=True)]
        multiples.append((ridge.direction, min(lows), max(highs)))
    total = zero
    for axis in range(dimension):
        ends = [sorted((vector[axis] * low, vector[axis] * high)) for vector, low, high in multiples]
        total += max(-sum((low for low, _ in ends), zero), sum((high for _, high in ends), zero))
    return total


def _exact(design: Design) -> Built:
    task, weight = design.task, design.knowledge.outer_gradient_l1
    usable = design.eps * (1 - SLACK)
    outer = design.outer(usable * OUTER_SHARE)
    rest = usable - outer.error
    features = design.features_in_range(min(Fraction(1), rest * FEATURE_SHARE / weight) if weight else Fraction(1))
    left = rest - weight * max(feature.error for feature in features)
    heads = _heads(task, left / (2 * max(Fraction(1), weight * _steepest(design))))
    pieces = [feature.network for feature in features]
    network = replace(heads, readout=exact_readout(task, heads, pieces, outer.network))
    parts: tuple[tuple[str, Part], ...] = (
        ("heads", heads),
        *((f"feature {index}", piece) for index, piece in enumerate(pieces)),
        ("outer", outer.network),
    )
    return _built(design, "exact", network, parts)


def _smooth(design: Design) -> Built:
    task, weight = design.task, design.knowledge.outer_gradient_l1
    error = design.eps * (1 - SLACK) / max(Fraction(1), weight * _steepest(design))
    softmin = error * SOFTMIN_SHARE
    sharpness, heads = sharpness_for(error - softmin, softmin), _heads(task, softmin)
    network = replace(heads, readout=smooth_readout(task, heads, sharpness))
    return _built(design, "smooth", network, (("heads", heads), ("sharpness", sharpness)))


def _built(design: Design, form: str, network: Network, parts: tuple[tuple[str, Part], ...]) -> Built:
    notes = {"subset size m": support_size(design.task.seq_len), "layers of the read-out": _depth(network.readout)}
    return Built(KIND, form, design.task, design.eps, network, parts, notes)


def _depth(readout: Map) -> int | str:
    return len(readout.layers) if isinstance(readout, Perceptron) else "a formula"


def _steepest(design: Design) -> Fraction:
    task = design.task
    return max(
        gradient_l1_upper(feature.expression, task.token_dim, design.knowledge.curve_of) for feature in task.features
    )


def _heads(task: RetrievalTask, softmin: Fraction) -> Network:
    """Heads that retrieve all minima of `minima_task` within ``softmin`` (N3), with the mean as read-out."""
    return specialists.build(minima_task(task), softmin, Form.SHARPENED, Knowledge(Fraction(1))).network


def _without_class_token(heads: Network) -> Perceptron:
    """z from the read-out's input z + c0 (DEF-H)."""
    size = len(heads.output_bias)
    return Perceptron((layer([{k: Fraction(1)} for k in range(size)], size, [-entry for entry in heads.output_bias]),))


def _at(expression: Expression, token: list[Expression]) -> Expression:
    return substitute(expression, {f"x{axis}": entry for axis, entry in enumerate(token)})
