"""N7: one head with uniform attention and n = D, whose read-out takes logarithms; for F_0 affine, at fixed eps.

Encoder: s_i(t) = Psi_i(x) on S_i and Psi_i(x) + 3 off S_i, then e(s), which interpolates c e^(-beta s) on [0,1] and
is 0 from 2 on. The head averages: u_i = (1/T) sum over S_i of e(Psi_i). Read-out: sum of c_i g(u_i) + c_0, where g
follows -(1/beta) ln u on [|S| c e^-beta/T, |S| c/T], that is min over S_i of Psi_i up to ln|S|/beta.

relu        g interpolates on a geometric grid; neurons come in copies, so that no weight of the read-out exceeds 1
heaviside   g is a staircase

u_i is at least |S| c e^-beta/T, not only c e^-beta/T: so there are O(T^(D/(2 eps))) copies for |S_i| >= T/4, a factor
of T less than N7 states.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from constructions.approximators import Approximation
from constructions.arithmetic import ExactArray, fractions
from constructions.built import Built, Part
from constructions.network import Dense, Head, Network, Perceptron
from constructions.ridge import ridge_sum
from constructions.sparse import layer
from constructions.specialists import Design, Knowledge, outside_table, side_by_side
from constructions.task import RetrievalTask
from theory.depth import CHORD_ERROR, LN2_UPPER
from theory.errors import InvalidInput, TooLarge
from theory.rational_bounds import exp_upper, log2_upper, positive, sqrt_lower

SLACK = Fraction(1, 64)
"""Share of eps that the design leaves unspent."""
FEATURE_SHARE = Fraction(1, 8)
EXP_STEP = Fraction(1, 2)
"""beta times the distance of e's knots, at most."""
EXP_CHORD = Fraction(312, 10_000)
"""About sup of x + ln(chord of e^-x on [0, 1/2]); a design figure, the certificate measures."""
GATE, VANISHES = Fraction(3), Fraction(2)
BETA_STEP = Fraction(1, 16)
BITS = 64
"""Leading bits kept of knots and values."""
MOST_NEURONS = 60_000
"""Different neurons (copies counted once) that are built at most."""
FORMS = ("relu", "heaviside")


def build(task: RetrievalTask, eps: Fraction, form: str, knowledge: Knowledge) -> Built:
    """One head of dimension D that retrieves all minima by log-sum-exp (N7, existence), F_0 affine.

    Hypotheses: F_0 = c_0 + sum c_i z_i, L = sum |c_i| > 0; f_i with values in [0,1] and sums of ridge functions.
    Conclusion (certified by `checks.budgets`): sup |network - H| < eps. Weights of the read-out in [-1,1]; its last
    bias is c_0 plus a constant. beta is about L ln T/(2 eps), with about D beta different neurons that stand for
    O(T^(L/(2 eps))); heaviside: beta about L ln T/eps, D L/eps neurons, no copies. Exact.

    >>> from constructions.task import toy
    >>> built = build(toy(16), Fraction(1, 4), "heaviside", Knowledge(Fraction(2)))
    >>> built.network.num_heads, built.network.heads[0].value.shape, built.design["readout_neurons"]
    (1, (2, 2), 16)

    Raises:
        InvalidInput: F_0 not affine or constant, an unknown form.
        TooLarge: more than MOST_NEURONS different neurons would be needed.
    """
    if form not in FORMS:
        raise InvalidInput.about("form", form, f"one of {', '.join(FORMS)}", "--form relu")
    wanted = positive("eps", eps) * (1 - SLACK)
    weight = sum(map(abs, affine_outer(task)[1]), Fraction(0))
    if not weight:
        raise InvalidInput.about("outer", str(task.outer)[:60], "not constant", "a target that depends on X")
    _refuse_large(task, _beta(task, weight, wanted, form), wanted / weight)
    features = Design(task, wanted, knowledge).features_in_range(wanted * FEATURE_SHARE / weight)
    rest = wanted - weight * max(feature.error for feature in features)
    beta = _beta(task, weight, rest, form)
    exponential, logarithms = _curves(task, beta, rest / weight, form)
    network = compose(task, [feature.network for feature in features], exponential, logarithms)
    parts = _parts(features, exponential, logarithms, beta)
    design: dict[str, Fraction | int | str] = {"beta": beta, "readout_neurons": _readout_neurons(network)}
    return Built("log_sum_exp", form, task, eps, network, parts, design)


def support_sizes(task: RetrievalTask) -> list[int]:
    """The different |S_i|."""
    return sorted({len(feature.positions) for feature in task.features})


def affine_outer(task: RetrievalTask) -> tuple[Fraction, tuple[Fraction, ...]]:
    """Constant and coefficients of F_0; InvalidInput if it is not affine (N7)."""
    parts = ridge_sum(task.outer, [f"z{index}" for index in range(task.num_targets)])
    if parts.kinks or parts.ridges:
        raise InvalidInput.about("outer", str(task.outer)[:60], "affine in z0, z1, ... (N7)", "kind specialists")
    return parts.affine.offset, parts.affine.weights


def compose(
    task: RetrievalTask,
    features: Sequence[Perceptron],
    exponential: Perceptron,
    logarithms: Mapping[int, Perceptron],
) -> Network:
    """The network of the module's docstring from its pieces; ``logarithms[n]`` is g for |S_i| = n.

    The pieces are two-layer networks with one output; the hidden weights of g are at most 1.
    """
    count = task.num_targets
    read = Perceptron(_readout_layers(task, logarithms))
    head = Head(_zeros(1, count), _zeros(1, count), _identity(count), _zeros(1), _zeros(count))
    return Network(
        task.seq_len,
        task.token_dim,
        _encoder(task, features, exponential),
        _zeros(count),
        (head,),
        Fraction(1),
        _identity(count),
        _zeros(count),
        read,
    )


def _encoder(task: RetrievalTask, features: Sequence[Perceptron], exponential: Perceptron) -> Perceptron:
    hidden, rows, bias = side_by_side(features)
    outside = outside_table(task)
    gated = bias + GATE * outside if outside.any() else bias
    inner, outer = exponential.layers
    units, count = inner.shape[0], task.num_targets
    bends = [{index: entry} for index in range(count) for entry in inner.weight[:, 0]]
    sums = [{index * units + k: entry for k, entry in enumerate(outer.weight[0])} for index in range(count)]
    return Perceptron(
        (
            hidden,
            Dense(rows, gated),
            layer(bends, count, list(inner.bias) * count, inner.activation),
            layer(sums, units * count, [outer.bias[0]] * count),
        )
    )


def _readout_layers(task: RetrievalTask, logarithms: Mapping[int, Perceptron]) -> tuple[Dense, Dense]:
    constant, coefficients = affine_outer(task)
    weights, biases, outputs = [], [], []
    for index, (feature, coefficient) in enumerate(zip(task.features, coefficients, strict=True)):
        inner, outer = logarithms[len(feature.positions)].layers
        for weight, bias, output in zip(inner.weight[:, 0], inner.bias, outer.weight[0], strict=True):
            row = _zeros(task.num_targets)
            row[index] = weight
            weights.append(row)
            biases.append(bias)
            outputs.append(coefficient * output)
        constant += coefficient * outer.bias[0]
        activation = inner.activation
    copies = [max(1, math.ceil(abs(output))) for output in outputs]
    shared = [output / number for output, number in zip(outputs, copies, strict=True)]
    several = tuple(copies) if max(copies) > 1 else None
    first = Dense(fractions(weights), fractions(biases), activation, several)
    return first, Dense(fractions([shared]), np.asarray(fractions([constant])))


def _curves(task: RetrievalTask, beta: Fraction, room: Fraction, form: str) -> tuple[Perceptron, dict[int, Perceptron]]:
    """e, and g for every |S_i|; ``room`` is what each coordinate may be off by (heaviside)."""
    scale = _short(sqrt_lower(Fraction(1, task.num_targets)))
    exponential, last = _exponential(beta, scale)
    logarithms = {}
    for size in support_sizes(task):
        share = Fraction(size, task.seq_len)
        # g(u) = -(ln u - ln(c/T) - (ln|S| + EXP_CHORD)/2)/beta, by the midpoint of what log-sum-exp and e may cost.
        at_one = (log2_upper(scale / task.seq_len) + log2_upper(Fraction(size)) / 2) * LN2_UPPER + EXP_CHORD / 2
        if form == "relu":
            logarithms[size] = _interpolant(share * last, share * scale, beta, at_one - CHORD_ERROR / 2)
        else:
            logarithms[size] = _staircase(share * last, share * scale, beta, at_one, room)
    return exponential, logarithms


def _exponential(beta: Fraction, scale: Fraction) -> tuple[Perceptron, Fraction]:
    """c e^(-beta s) on [0,1] at equidistant knots, then straight to 0 at 2; and its value at 1."""
    cells = math.ceil(beta / EXP_STEP)
    values = _geometric(scale, 1 / exp_upper(beta / cells), cells + 1)
    slopes = [*((right - left) * cells for left, right in pairwise(values)), -values[-1], Fraction(0)]
    steepening = [after - before for before, after in pairwise(slopes)]
    knots = [Fraction(k, cells) for k in range(1, cells + 1)] + [VANISHES]
    return _falling(knots, steepening, Fraction(0), "relu"), values[-1]


def _interpolant(least: Fraction, most: Fraction, beta: Fraction, at_one: Fraction) -> Perceptron:
    """(at_one - ln u)/beta on [least, most], at knots whose ratio is at most e."""
    cells = math.ceil(_log(most / least))
    knots = [*_geometric(least, exp_upper(_log(most / least) / cells), cells), most]
    values = [_short((at_one - _log(knot)) / beta) for knot in knots]
    slopes = [(b - a) / (v - u) for (a, b), (u, v) in zip(pairwise(values), pairwise(knots), strict=True)]
    steepening = [after - before for before, after in pairwise([*slopes, Fraction(0)])]
    return _falling(knots[1:], steepening, values[-1], "relu")


def _staircase(least: Fraction, most: Fraction, beta: Fraction, at_one: Fraction, room: Fraction) -> Perceptron:
    """(at_one - ln u)/beta on [least, most] by equal steps: within half a step, which is at most room/2."""
    drop = _log(most / least) / beta
    steps = max(2, math.ceil(drop / room))
    height = _short(drop / steps)
    knots = _geometric(most, 1 / exp_upper(drop * beta / steps), steps)[1:]
    return _falling(knots, [height] * len(knots), _short((at_one - _log(most)) / beta + height / 2), "heaviside")


def _falling(knots: Sequence[Fraction], outputs: Sequence[Fraction], constant: Fraction, activation: str) -> Perceptron:
    """u -> constant + sum of outputs_k activation(knots_k - u)."""
    weights = fractions([[Fraction(-1)]] * len(knots))
    hidden = Dense(weights, fractions(knots), activation)
    return Perceptron((hidden, Dense(fractions([outputs]), np.asarray(fractions([constant])))))


def _beta(task: RetrievalTask, weight: Fraction, rest: Fraction, form: str) -> Fraction:
    """The scale at which log-sum-exp and the chords cost ``rest`` together (heaviside: half of it)."""
    most = max(len(feature.positions) for feature in task.features)
    loss = log2_upper(Fraction(most)) * LN2_UPPER + EXP_CHORD
    beta = weight * ((loss + CHORD_ERROR) / 2 if form == "relu" else loss) / rest
    return max(Fraction(1), math.ceil(beta / BETA_STEP) * BETA_STEP)


def _refuse_large(task: RetrievalTask, beta: Fraction, room: Fraction) -> None:
    different = task.num_targets * math.ceil(beta / EXP_STEP + max(beta, 1 / room))
    if different > MOST_NEURONS:
        what = f"different neurons (standing for about 10^{round(float(beta) / math.log(10))}, N7)"
        raise TooLarge.predicted(what, different, MOST_NEURONS, "a larger eps, or kind specialists")


def _parts(
    features: Sequence[Approximation], exponential: Perceptron, logarithms: Mapping[int, Perceptron], beta: Fraction
) -> tuple[tuple[str, Part], ...]:
    named: list[tuple[str, Part]] = [(f"feature {index}", feature.network) for index, feature in enumerate(features)]
    named += [(f"logarithm {size}", logarithm) for size, logarithm in logarithms.items()]
    return (*named, ("exponential", exponential), ("beta", beta))


def _readout_neurons(network: Network) -> int:
    assert isinstance(network.readout, Perceptron)
    first = network.readout.layers[0]
    return first.shape[0] if first.copies is None else sum(first.copies)


def _geometric(first: Fraction, ratio: Fraction, count: int) -> list[Fraction]:
    values = [first]
    while len(values) < count:
        values.append(_short(values[-1] * ratio))
    return values


def _log(x: Fraction) -> Fraction:
    """ln x, within 1e-9 (1 + |ln x|): for design, never for proof."""
    return log2_upper(x) * LN2_UPPER


def _short(value: Fraction) -> Fraction:
    """The value with BITS leading bits, rounded towards 0."""
    if not value:
        return value
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - BITS
    return math.floor(value / Fraction(2) ** exponent) * Fraction(2) ** exponent


def _zeros(*shape: int) -> ExactArray:
    return np.full(shape, Fraction(0), dtype=object)


def _identity(size: int) -> ExactArray:
    return fractions(np.eye(size, dtype=int))
