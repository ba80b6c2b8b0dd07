"""T2.1 built: one head for each retrieval coordinate, in three forms.

published   encoder block (Psi_i(x), r_i(t)) with gate -1, n = 2, beta of T2.1-18 (eq 11-12). N2: no error bound exists.
repaired    the same with gate -2 and N2's bound.
sharpened   n = 1: encoder block u_i = Psi_i(x) on S_i and 1 elsewhere, score -u_i, value u_i (N3).

The error claimed here is the design; `checks.budget` certifies what the finished network does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from constructions.approximators import Approximation, CurveOf, approximate, polynomial_curve
from constructions.arithmetic import ExactArray, fractions
from constructions.network import Dense, Head, Network, Perceptron
from constructions.task import RetrievalTask
from theory import enough_heads
from theory.enough_heads import Budget
from theory.ledger import Form

BETA_STEP = Fraction(1, 16)
"""beta is rounded up to a multiple of this: larger is always allowed."""

Points = Sequence[Sequence[Fraction]]


@dataclass(frozen=True, eq=False)
class Specialist:
    """A network for T2.1, its form, and the design: parameters and terms of its error budget."""

    network: Network
    form: Form
    eps: Fraction
    budget: Budget
    feature_width: int
    outer_width: int


@dataclass(frozen=True)
class Knowledge:
    """What the design takes from proofs elsewhere (`checks.constants`, `checks.enclose`).

    ``outer_gradient_l1``: an upper bound of L_0 = sup over [0,1]^D of |grad F_0|_1; ``exact_at[i]``: points where
    Psi_i is to equal f_i, such as its minimiser; ``curve_of``: rigorous curves for profiles that are not polynomials.
    """

    outer_gradient_l1: Fraction
    exact_at: tuple[Points, ...] = ()
    curve_of: CurveOf = polynomial_curve


def build(task: RetrievalTask, eps: Fraction, form: Form, knowledge: Knowledge) -> Specialist:
    """D heads that approximate the task (T2.1, existence).

    Hypotheses: f_i with values in [0,1] and F_0 are sums of ridge functions (`constructions.ridge`), C^2 along each;
    ``knowledge`` is right. Conclusion: sup |network - H| < eps for forms repaired (N2) and sharpened (N3); for form
    published what the paper claims, not what is true. Exact weights. Feature width about (L_0/eps)^(1/2).

    >>> from constructions.task import toy
    >>> built = build(toy(16), Fraction(1, 20), Form.SHARPENED, Knowledge(Fraction(2)))
    >>> built.network.num_heads, built.network.beta, built.budget.closes
    (2, Fraction(225, 4), True)

    Raises:
        InvalidInput: eps <= 0, or an expression without the required form.
    """
    makers: dict[Form, Callable[[Design], Specialist]] = {
        Form.PUBLISHED: _published,
        Form.REPAIRED: _repaired,
        Form.SHARPENED: _sharpened,
    }
    return makers[form](Design(task, eps, knowledge))


@dataclass(frozen=True)
class Design:
    """The feed-forward pieces of a construction for a task, each with a proved error (A3)."""

    task: RetrievalTask
    eps: Fraction
    knowledge: Knowledge

    def features(self, delta: Fraction) -> list[Approximation]:
        """Psi_i within delta of f_i on the cube, two layers (A3.2)."""
        dimension = self.task.token_dim
        names = [f"x{axis}" for axis in range(dimension)]
        corners = [(Fraction(0),) * dimension, (Fraction(1, 2),) * dimension, (Fraction(1),) * dimension]
        exact_at = self.knowledge.exact_at or ((),) * self.task.num_targets
        return [
            approximate(
                feature.expression, names, _cube(dimension), delta, [*corners, *points], self.knowledge.curve_of
            )
            for feature, points in zip(self.task.features, exact_at, strict=True)
        ]

    def features_in_range(self, delta: Fraction) -> list[Approximation]:
        """Psi_i within delta and with values in [0,1] (T2.1-10), still two layers."""
        # If |Psi - f| <= e and 0 <= f <= 1 then Psi lies in [-e, 1+e]; the affine map that takes [low, high], a
        # superset of [0,1], to [0,1] moves values there by at most max(-low, high - 1) <= e. Hence e <= delta/2.
        wholes = self.features(delta)
        if all(whole.lower >= 0 and whole.upper <= 1 for whole in wholes):
            return wholes
        squeezed = []
        for half in self.features(delta / 2):
            low, high = (
                min(Fraction(0), max(half.lower, -half.error)),
                max(Fraction(1), min(half.upper, 1 + half.error)),
            )
            hidden, output = half.network.layers
            narrow = Dense(fractions(output.weight / (high - low)), fractions((output.bias - low) / (high - low)))
            moved = half.error + max(-low, high - 1)
            squeezed.append(Approximation(Perceptron((hidden, narrow)), moved, Fraction(0), Fraction(1)))
        return squeezed

    def outer(self, delta: Fraction) -> Approximation:
        """Phi within delta of F_0 on [0,1]^D, two layers (A3.1)."""
        count = self.task.num_targets
        names = [f"z{index}" for index in range(count)]
        return approximate(self.task.outer, names, _cube(count), delta, curve_of=self.knowledge.curve_of)


def _published(design: Design) -> Specialist:
    task = design.task
    budget = enough_heads.published(design.eps, task.seq_len, task.num_targets, design.knowledge.outer_gradient_l1)
    return _gated(design, budget, Form.PUBLISHED)


def _repaired(design: Design) -> Specialist:
    task, weight = design.task, design.knowledge.outer_gradient_l1
    budget = enough_heads.repaired(design.eps, task.seq_len, task.smallest_support, task.num_targets, weight)
    return _gated(design, budget, Form.REPAIRED)


def _gated(design: Design, budget: Budget, form: Form) -> Specialist:
    """Eq 11-13: block i is (Psi_i(x), r_i(t)), key [-1 1], value the block; the read-out ignores the gates."""
    assert budget.gate is not None
    task, features, outer = design.task, design.features_in_range(budget.delta), design.outer(budget.delta_outer)
    count = task.num_targets
    hidden, weight, bias = side_by_side([feature.network for feature in features])
    rows = _zeros(2 * count, weight.shape[1])
    rows[0::2] = weight
    gates = _zeros(task.seq_len, 2 * count)
    gates[:, 0::2] = bias
    gates[:, 1::2] = -budget.gate * outside_table(task)
    # c0 must give W_Q c0 = 1 and is added to the read-out's input: its one entry sits at the first gate, where the
    # read-out looks away.
    class_token = _unit(1, 2 * count)
    heads = [
        _head(
            class_token, -_unit(2 * i, 2 * count) + _unit(2 * i + 1, 2 * count), _identity(2 * count)[2 * i : 2 * i + 2]
        )
        for i in range(count)
    ]
    encoder = Perceptron((hidden, Dense(fractions(rows), fractions(gates))))
    return _assemble(design, budget, form, encoder, class_token, heads, features, outer, range(0, 2 * count, 2))


def _sharpened(design: Design) -> Specialist:
    """N3: block i is u_i = 1 - relu(1 - Psi_i(x) - r_i(t)), r_i = 0 on S_i and 1 elsewhere."""
    task, weight, count = design.task, design.knowledge.outer_gradient_l1, design.task.num_targets
    first = enough_heads.sharpened(design.eps, task.seq_len, weight)
    features, outer = design.features_in_range(first.delta), design.outer(first.delta_outer)
    worst = max(feature.error for feature in features)
    budget = enough_heads.sharpened(design.eps, task.seq_len, weight, worst, outer.error)
    hidden, rows, bias = side_by_side([feature.network for feature in features])
    below_one = Dense(-rows, fractions(1 - bias - outside_table(task)), "relu")
    encoder = Perceptron((hidden, below_one, Dense(-_identity(count), _zeros(count) + 1)))
    # There is no spare coordinate for c0: the bias of the read-out's first layer takes it away again.
    class_token = _unit(0, count)
    heads = [_head(class_token, -_unit(i, count), _unit(i, count)[None, :]) for i in range(count)]
    return _assemble(design, budget, Form.SHARPENED, encoder, class_token, heads, features, outer, range(count))


def _assemble(
    design: Design,
    budget: Budget,
    form: Form,
    encoder: Perceptron,
    class_token: ExactArray,
    heads: Sequence[Head],
    features: Sequence[Approximation],
    outer: Approximation,
    places: Sequence[int],
) -> Specialist:
    width = len(class_token)
    first, second = outer.network.layers
    spread = _zeros(first.weight.shape[0], width)
    spread[:, list(places)] = first.weight
    read = Perceptron((Dense(fractions(spread), fractions(first.bias - spread @ class_token), "relu"), second))
    beta = math.ceil(budget.beta / BETA_STEP) * BETA_STEP
    network = Network(
        design.task.seq_len,
        design.task.token_dim,
        encoder,
        class_token,
        tuple(heads),
        beta,
        _identity(width),
        class_token,
        read,
    )
    return Specialist(network, form, design.eps, budget, sum(f.width for f in features), outer.width)


def side_by_side(parts: Sequence[Perceptron]) -> tuple[Dense, ExactArray, ExactArray]:
    """One hidden layer for all two-layer networks; output weight (D, total width) and bias (D,)."""
    first = [part.layers[0] for part in parts]
    hidden = Dense(np.concatenate([d.weight for d in first]), np.concatenate([d.bias for d in first]), "relu")
    weight, start = _zeros(len(parts), hidden.weight.shape[0]), 0
    for row, part in enumerate(parts):
        width = part.layers[0].shape[0]
        weight[row, start : start + width] = part.layers[1].weight[0]
        start += width
    return hidden, weight, np.concatenate([part.layers[1].bias for part in parts])


def outside_table(task: RetrievalTask) -> ExactArray:
    """(T, D): 1 where the position is not in S_i."""
    table = _zeros(task.seq_len, task.num_targets) + 1
    for index, feature in enumerate(task.features):
        table[[position - 1 for position in feature.positions], index] = Fraction(0)
    return table


def _head(query: ExactArray, key: ExactArray, value: ExactArray) -> Head:
    return Head(query[None, :], key[None, :], value, _zeros(1), _zeros(value.shape[0]))


def _cube(dimension: int) -> list[tuple[Fraction, Fraction]]:
    return [(Fraction(0), Fraction(1))] * dimension


def _zeros(*shape: int) -> ExactArray:
    return np.full(shape, Fraction(0), dtype=object)


def _identity(size: int) -> ExactArray:
    whole = _zeros(size, size)
    np.fill_diagonal(whole, Fraction(1))
    return whole


def _unit(index: int, size: int) -> ExactArray:
    row = _zeros(size)
    row[index] = Fraction(1)
    return row
