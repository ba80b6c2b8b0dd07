"""T2.3 built: one head that memorises, a deep ReLU read-out F_3 o F_2 o F_1 that takes the minima, in three forms.

five    five layers, each affine output merged into the next layer (L8), centred staircases (L9, N12)
seven   the same pieces kept apart: sizes add up instead of being multiplied (T2.3-R)
deep    exact minima by a tournament (N12): ceil(log2 T) + 3 layers, no staircase error

All networks here are exact; on rational tokens `constructions.evaluate` with EXACT gives their exact values, because
the one head attends uniformly. Sizes and errors as formulas: `theory.memorisation`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from constructions.approximators import Approximation
from constructions.arithmetic import ExactArray, fractions
from constructions.built import Built
from constructions.deep_relu import (
    biases,
    centred_staircase,
    chain,
    compose,
    minimum_from,
    nonzero_parameters,
    on_shared_inputs,
    side_by_side,
    tournament_maximum,
)
from constructions.network import Dense, Head, Network, Perceptron
from constructions.sparse import entries_of, layer
from constructions.specialists import Design, Knowledge
from constructions.task import RetrievalTask
from theory.enough_heads import SLACK
from theory.errors import InvalidInput, TooLarge
from theory.memorisation import tournament_weights
from theory.rational_bounds import positive

KIND = "memoriser"
MOST_WEIGHTS = 2_000_000
"""Read-outs with more non-zero weights are not made."""
OUTER_SHARE = Fraction(1, 8)
"""Share of the error that a curved F_0 gets; what it leaves, and all of it where F_0 is exact, goes to the rest."""
FEATURE_SHARE = Fraction(1, 3)
"""Share of that rest that curved features get beside a staircase."""

Join = Callable[[Perceptron, Perceptron], Perceptron]


@dataclass(frozen=True)
class _Shape:
    """What makes a form: how pieces are joined, and whether its minima are exact."""

    join: Join
    exact_minima: bool


FORMS: Mapping[str, _Shape] = {
    "five": _Shape(compose, False),
    "seven": _Shape(chain, False),
    "deep": _Shape(compose, True),
}


def build(task: RetrievalTask, eps: Fraction, form: str, knowledge: Knowledge) -> Built:
    """One head that memorises, for a task and an accuracy (T2.3; existence).

    Hypotheses: f_i with values in [0,1] and F_0 are sums of ridge functions (`constructions.ridge`), C^2 along each;
    ``knowledge`` is right. Conclusion: sup |network - H| <= L_0 (e_f + e_min) + e_0 < eps, L_0 = sup |grad F_0|_1; with
    all three errors equal this is T2.3-end's (2 L_0 + 1) eps. n = E = T d, exact weights.
    Non-zero weights of the read-out: about T D w/e_min (five), T D (w + 4/e_min) (seven), T D (w + 18) (deep), with
    w = O(eps^-gamma) the width of a feature network.

    >>> from constructions.task import toy
    >>> built = build(toy(4), Fraction(1, 10), "five", Knowledge(Fraction(2)))
    >>> len(built.network.readout.layers), built.design["steps of the largest staircase"]
    (5, 8)

    Raises:
        InvalidInput: an unknown form, eps <= 0, or an expression without the required form.
        TooLarge: more than MOST_WEIGHTS non-zero weights would be needed.
    """
    if form not in FORMS:
        raise InvalidInput.about("form", form, f"one of {', '.join(FORMS)}", "--form deep")
    shape, design = FORMS[form], Design(task, positive("eps", eps), knowledge)
    usable, weight = eps * (1 - SLACK), knowledge.outer_gradient_l1
    outer = design.outer(usable * OUTER_SHARE)
    rest = usable - outer.error
    make_features = design.features_in_range if shape.exact_minima else design.features
    share = rest if shape.exact_minima else rest * FEATURE_SHARE
    features = make_features(min(Fraction(1), share / weight) if weight else Fraction(1))
    left = rest - weight * max(feature.error for feature in features)
    steps = {size: 0 if shape.exact_minima else staircase_steps(size, left, weight) for size in support_sizes(task)}
    _require_possible(task, form, features, steps)
    minima = {size: minimum_of(size, steps[size], max(steps)) for size in steps}
    pieces = [feature.network for feature in features]
    network = memoriser(task, pieces, lambda size: minima[size], outer.network, shape.join)
    assert isinstance(network.readout, Perceptron)
    parts = (
        *((f"feature {index}", piece) for index, piece in enumerate(pieces)),
        *((f"minimum of {size}", minimum) for size, minimum in minima.items()),
        ("outer", outer.network),
    )
    notes = {
        "layers of the read-out": len(network.readout.layers),
        "width of the widest feature": max(feature.width for feature in features),
        "width of the outer map": outer.width,
        "steps of the largest staircase": max(steps.values()),
        "non-zero weights of the read-out": nonzero_parameters(network.readout),
    }
    return Built(KIND, form, task, eps, network, parts, notes)


def assemble(built: Built) -> Network:
    """The network that the parts of a memoriser compose to; exact. Raises InvalidInput if a part is missing."""
    task = built.task
    minima = {size: built.part(f"minimum of {size}", Perceptron) for size in support_sizes(task)}
    features = [built.part(f"feature {index}", Perceptron) for index in range(task.num_targets)]
    return memoriser(task, features, lambda size: minima[size], built.part("outer", Perceptron), FORMS[built.form].join)


def support_sizes(task: RetrievalTask) -> list[int]:
    """The different |S_i|, in rising order."""
    return sorted({len(feature.positions) for feature in task.features})


def staircase_steps(size: int, allowed: Fraction, weight: Fraction) -> int:
    """Least n with weight * (1 - 1/size)/(2 n) <= allowed (N12), 1 at least; exact."""
    return max(1, math.ceil(weight * (1 - Fraction(1, size)) / (2 * allowed)))


def minimum_of(size: int, steps: int, largest: int) -> Perceptron:
    """The minimum of ``size`` numbers: a centred staircase, or exactly if steps = 0, as deep as for ``largest``."""
    if steps:
        return minimum_from(centred_staircase(size, steps))
    return minimum_from(tournament_maximum(size, (largest - 1).bit_length()))


def memoriser(
    task: RetrievalTask,
    features: Sequence[Perceptron],
    minimum: Callable[[int], Perceptron],
    outer: Perceptron,
    join: Join = compose,
) -> Network:
    """One head with uniform attention and the read-out F_3 o F_2 o F_1 (T2.3; existence).

    features[i]: two-layer, R^d -> R, near f_i; minimum(k): minimum of k numbers, equal depth for every |S_i|;
    outer: two-layer, R^D -> R, near F_0. ``join``: `compose` (merged, L8) or `chain` (kept apart). Conclusion: with
    three errors of at most eps, |network - H| <= (2L+1) eps (T2.3-end). n = E = T d. Exact. Raises InvalidInput.
    """
    length, width = task.seq_len, task.token_dim
    size = length * width
    # P(x, t) = relu(x - 1 + [block t]): x in block t and 0 elsewhere, as x lies in [0,1].
    places = fractions(np.kron(np.eye(length, dtype=int), np.ones(width, dtype=int)) - 1)
    encoder = Perceptron((Dense(fractions(np.tile(np.eye(width, dtype=int), (length, 1))), places, "relu"),))
    values = fractions(np.eye(size, dtype=int))
    head = Head(_zeros(1, size), _zeros(1, size), values, _zeros(1), _zeros(size))
    read = readout(task, features, minimum, outer, join, length)
    return Network(length, width, encoder, _zeros(size), (head,), Fraction(1), values, _zeros(size), read)


def readout(
    task: RetrievalTask,
    features: Sequence[Perceptron],
    minimum: Callable[[int], Perceptron],
    outer: Perceptron,
    join: Join = compose,
    scale: int = 1,
) -> Perceptron:
    """F_3 o F_2 o F_1 as a function of (x(1), ..., x(T))/``scale``, T d numbers (T2.3). Exact. Raises InvalidInput."""
    minima = side_by_side(list(map(cache(minimum), (len(feature.positions) for feature in task.features))))
    return join(join(_all_features(task, features, scale), minima), outer)


def _all_features(task: RetrievalTask, features: Sequence[Perceptron], scale: int) -> Perceptron:
    """F_1: (x(1), ..., x(T))/scale -> the features of the positions in S_i, feature after feature (T2.3-1)."""
    copies, inputs = [], []
    for feature, network in zip(task.features, features, strict=True):
        first, *rest = network.layers
        scaled = [{column: scale * value for column, value in row.items()} for row in entries_of(first).rows()]
        undone = Perceptron((layer(scaled, first.shape[1], biases(first), first.activation), *rest))
        copies += [undone] * len(feature.positions)
        inputs += [range((t - 1) * task.token_dim, t * task.token_dim) for t in feature.positions]
    return on_shared_inputs(copies, inputs, task.seq_len * task.token_dim)


def _require_possible(
    task: RetrievalTask, form: str, features: Sequence[Approximation], steps: Mapping[int, int]
) -> None:
    """Refuse a read-out of more than MOST_WEIGHTS non-zero weights before any of them is made."""
    predicted = 0
    for feature, approximation in zip(task.features, features, strict=True):
        size, width = len(feature.positions), approximation.width
        first = nonzero_parameters(Perceptron(approximation.network.layers[:1]))
        high = steps[size]
        if form == "deep":  # first round: every number in two of the merged rows; later rounds as they are
            predicted += size * (first + 2 * (width + 1)) + tournament_weights(size) - 2 * size
        else:
            predicted += size * (first + 2 * high + ((width + 1) * high if form == "five" else width + 1 + 2 * high))
    if predicted > MOST_WEIGHTS:
        remedy = "a larger eps" if form == "deep" else "--form deep, or a larger eps"
        raise TooLarge.predicted("non-zero weights of the read-out", predicted, MOST_WEIGHTS, remedy)


def _zeros(*shape: int) -> ExactArray:
    return np.full(shape, Fraction(0), dtype=object)
