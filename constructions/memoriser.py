"""T2.3 built: one head that memorises, a deep ReLU read-out that takes the minima (L8, L9, N12).

All networks here are exact; on rational tokens `constructions.evaluate` with EXACT gives their exact values, because
the one head attends uniformly. Sizes and errors as formulas: `theory.memorisation`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from constructions.arithmetic import EXACT, ExactArray, fractions
from constructions.network import Dense, Head, Network, Perceptron
from constructions.task import RetrievalTask
from theory.errors import InvalidInput
from theory.rational_bounds import count


def compose(first: Perceptron, second: Perceptron) -> Perceptron:
    """``second`` after ``first``, the affine output of ``first`` merged into the first layer of ``second``.

    Claim L8. Hypothesis: the last layer of ``first`` is affine with one bias for all positions. Conclusion: the same
    function with one layer less than the two together and no hidden layer wider. Exact. Raises InvalidInput.

    >>> maximum = staircase_maximum(2, 4)
    >>> len(compose(maximum, staircase_maximum(1, 3)).layers)
    5
    """
    # W (V h + b) + c = (W V) h + (W b + c).
    last, following = first.layers[-1], second.layers[0]
    if last.activation != "identity" or last.bias.ndim != 1:
        raise InvalidInput.about("last layer", last.activation, "affine, one bias (L8)", "an identity activation")
    weight, inner = _exact(following.weight), _exact(last.weight)
    merged = Dense(weight @ inner, weight @ _exact(last.bias) + _exact(following.bias), following.activation)
    return Perceptron((*first.layers[:-1], merged, *second.layers[1:]))


def side_by_side(parts: Sequence[Perceptron]) -> Perceptron:
    """Networks of equal depth on separate inputs: inputs and outputs are concatenated. Exact. Raises InvalidInput."""
    depths = {len(part.layers) for part in parts}
    if len(depths) != 1:
        raise InvalidInput.about("depths", sorted(depths), "equal", "pad the shallower networks")
    stacked = []
    for layers in zip(*(part.layers for part in parts), strict=True):
        kinds = {layer.activation for layer in layers}
        if len(kinds) != 1:
            raise InvalidInput.about("activations", sorted(kinds), "the same in each layer", "use one activation")
        bias = np.concatenate([_exact(layer.bias) for layer in layers])
        stacked.append(Dense(_blocks([_exact(layer.weight) for layer in layers]), bias, layers[0].activation))
    return Perceptron(tuple(stacked))


def staircase_maximum(num_inputs: int, steps: int, shift: Fraction = Fraction(0)) -> Perceptron:
    """L9's three-layer network plus ``shift``: 0 <= output - shift - max x <= (1 - 1/T)/n on [0,1]^T, n = ``steps``.

    Claims L9 (shift 0) and N12 (shift -1/(2n)). Outside [0,1] it acts as on the clipped inputs (T2.3-2). Hidden widths
    T n and 2 n. Exact. Raises InvalidInput.
    """
    count("num_inputs", num_inputs), count("steps", steps)
    high = Fraction(1, steps)
    first = fractions(np.tile(np.eye(num_inputs, dtype=int), (steps, 1)))
    below = fractions([-j * high for j in range(steps) for _ in range(num_inputs)])
    sums = fractions(np.repeat(np.kron(np.eye(steps, dtype=int), np.ones((1, num_inputs), dtype=int)), 2, axis=0))
    caps = fractions([0, -high] * steps)
    output = fractions([[1, -1] * steps])
    return Perceptron((Dense(first, below, "relu"), Dense(sums, caps, "relu"), Dense(output, fractions([shift]))))


def tournament_maximum(num_inputs: int) -> Perceptron:
    """Exactly max x for all real x: depth ceil(log2 T) + 1, weights in {-1, 0, 1}, no bias (claim N12). Exact.

    >>> from constructions.evaluate import apply_map
    >>> apply_map(tournament_maximum(3), fractions([["1/2", -4, "2/3"]]), EXACT)[0, 0]
    Fraction(2, 3)
    """
    # max(a, b) = relu(a - b) + relu(b) - relu(-b); an odd one out passes as relu(a) - relu(-a).
    forms, layers = fractions(np.eye(count("num_inputs", num_inputs), dtype=int)), []
    while len(forms) > 1:
        rows, outputs = [], []
        for k in range(0, len(forms) - 1, 2):
            rows += [forms[k] - forms[k + 1], forms[k + 1], -forms[k + 1]]
            outputs.append([1, 1, -1])
        if len(forms) % 2:
            rows += [forms[-1], -forms[-1]]
            outputs.append([1, -1])
        layers.append(Dense(np.stack(rows), _zeros(len(rows)), "relu"))
        forms = _blocks([fractions([row]) for row in outputs])
    return Perceptron((*layers, Dense(forms, _zeros(1))))


def minimum_from(maximum: Perceptron) -> Perceptron:
    """``1 - maximum(1 - x)``, the minimum with the same depth, widths and error (claim L9). Exact."""
    first, last = maximum.layers[0], maximum.layers[-1]
    turned = Dense(-_exact(first.weight), _exact(first.bias) + _exact(first.weight).sum(axis=1), first.activation)
    if len(maximum.layers) == 1:
        return Perceptron((Dense(_exact(first.weight), 1 - _exact(turned.bias), first.activation),))
    end = Dense(-_exact(last.weight), 1 - _exact(last.bias))
    return Perceptron((turned, *maximum.layers[1:-1], end))


def memoriser(
    task: RetrievalTask, features: Sequence[Perceptron], minimum: Callable[[int], Perceptron], outer: Perceptron
) -> Network:
    """One head with uniform attention and the read-out F_3 o F_2 o F_1, merged (T2.3; existence).

    features[i]: two-layer, R^d -> R, near f_i; minimum(k): minimum of k numbers, equal depth for every |S_i|;
    outer: two-layer, R^D -> R, near F_0. Conclusion: with three errors of at most eps, |network - H| <= (2L+1) eps
    (T2.3-end). n = E = T d. Exact weights; dense merged matrices, so for small T. Raises InvalidInput.
    """
    length, width = task.seq_len, task.token_dim
    size = length * width
    # P(x, t) = relu(x - 1 + [block t]): x in block t and 0 elsewhere, as x lies in [0,1].
    places = fractions(np.kron(np.eye(length, dtype=int), np.ones(width, dtype=int)) - 1)
    encoder = Perceptron((Dense(fractions(np.tile(np.eye(width, dtype=int), (length, 1))), places, "relu"),))
    values = fractions(np.eye(size, dtype=int))
    head = Head(_zeros(1, size), _zeros(1, size), values, _zeros(1), _zeros(size))
    minima = side_by_side([minimum(len(feature.positions)) for feature in task.features])
    readout = compose(compose(_all_features(task, features), minima), outer)
    return Network(length, width, encoder, _zeros(size), (head,), Fraction(1), values, _zeros(size), readout)


def nonzero_parameters(network: Perceptron) -> int:
    """Non-zero weights and biases (the convention under which L9 has O(1/eps) parameters)."""
    return sum(int(np.count_nonzero(layer.weight) + np.count_nonzero(layer.bias)) for layer in network.layers)


def dense_parameters(network: Perceptron) -> int:
    """All entries of the weight matrices and biases, zero or not."""
    return sum(layer.weight.size + layer.bias.size for layer in network.layers)


def _all_features(task: RetrievalTask, features: Sequence[Perceptron]) -> Perceptron:
    """F_1: (x(1), ..., x(T))/T -> the features of the positions in S_i, feature after feature (T2.3-1)."""
    copies = []
    for feature, network in zip(task.features, features, strict=True):
        first, *rest = network.layers
        undone = Dense(task.seq_len * _exact(first.weight), _exact(first.bias), first.activation)
        copies += [Perceptron((undone, *rest))] * len(feature.positions)
    stacked = side_by_side(copies)
    first, *rest = stacked.layers
    width = task.token_dim
    columns = [t - 1 for feature in task.features for t in feature.positions]
    weight = _zeros(first.weight.shape[0], task.seq_len * width)
    for copy, token in enumerate(columns):
        weight[:, token * width : (token + 1) * width] += first.weight[:, copy * width : (copy + 1) * width]
    return Perceptron((Dense(weight, first.bias, first.activation), *rest))


def _exact(array: ExactArray) -> ExactArray:
    return np.asarray(EXACT.asarray(array))


def _zeros(*shape: int) -> ExactArray:
    return np.full(shape, Fraction(0), dtype=object)


def _blocks(matrices: Sequence[ExactArray]) -> ExactArray:
    """Block diagonal."""
    whole = _zeros(sum(m.shape[0] for m in matrices), sum(m.shape[1] for m in matrices))
    row = column = 0
    for matrix in matrices:
        whole[row : row + matrix.shape[0], column : column + matrix.shape[1]] = matrix
        row, column = row + matrix.shape[0], column + matrix.shape[1]
    return whole
