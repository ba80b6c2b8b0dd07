"""Deep ReLU networks put together exactly: composition (L8), maxima (L9, N12), minima.

Sizes and errors as formulas: `theory.memorisation`. All weights are exact, and stored sparsely where most are 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from constructions.arithmetic import EXACT, ExactArray
from constructions.network import Dense, Perceptron
from constructions.sparse import Row, entries_of, layer
from theory.errors import InvalidInput
from theory.rational_bounds import count

ONE, ZERO = Fraction(1), Fraction(0)


def compose(first: Perceptron, second: Perceptron) -> Perceptron:
    """``second`` after ``first``, the affine output of ``first`` merged into the first layer of ``second``.

    Claim L8. Hypothesis: the last layer of ``first`` is affine with one bias for all positions. Conclusion: the same
    function with one layer less than the two together and no hidden layer wider. Exact. Raises InvalidInput.

    >>> maximum = staircase_maximum(2, 4)
    >>> len(compose(maximum, staircase_maximum(1, 3)).layers)
    5
    """
    # W (V h + b) + c = (W V) h + (W b + c).
    last, following = _affine_end(first), second.layers[0]
    if last.shape[0] != following.shape[1]:
        raise InvalidInput.about("layer shapes", (last.shape, following.shape), "(b, a) then (c, b)", "match them")
    inner, offsets = list(entries_of(last).rows()), biases(last)
    rows, shifts = [], []
    for outer, shift in zip(entries_of(following).rows(), biases(following), strict=True):
        row: dict[int, Fraction] = {}
        for middle, weight in outer.items():
            for column, value in inner[middle].items():
                row[column] = row.get(column, ZERO) + weight * value
            shift += weight * offsets[middle]
        rows.append(row)
        shifts.append(shift)
    merged = layer(rows, last.shape[1], shifts, following.activation)
    return Perceptron((*first.layers[:-1], merged, *second.layers[1:]))


def chain(first: Perceptron, second: Perceptron) -> Perceptron:
    """``second(relu(first(x)))``, layer after layer: sizes add up, nothing is multiplied (T2.3-R).

    The same function as `compose` wherever ``first`` has no negative value, or ``second`` treats those as 0. Exact.
    Raises InvalidInput.
    """
    last = _affine_end(first)
    passed = layer(list(entries_of(last).rows()), last.shape[1], biases(last), "relu")
    return Perceptron((*first.layers[:-1], passed, *second.layers))


def side_by_side(parts: Sequence[Perceptron]) -> Perceptron:
    """Networks of equal depth on separate inputs: inputs and outputs are concatenated. Exact. Raises InvalidInput."""
    return on_shared_inputs(parts, *_separate([part.input_dim for part in parts]))


def on_shared_inputs(parts: Sequence[Perceptron], inputs: Sequence[Sequence[int]], num_inputs: int) -> Perceptron:
    """Networks of equal depth; number k reads the coordinates ``inputs[k]`` of a vector of ``num_inputs`` numbers.

    Outputs are concatenated. Exact. Raises InvalidInput.
    """
    depths = {len(part.layers) for part in parts}
    if len(depths) != 1:
        raise InvalidInput.about("depths", sorted(depths), "equal", "pad the shallower networks")
    stacked, width = [], num_inputs
    places: Sequence[Sequence[int]] = inputs
    for layers in zip(*(part.layers for part in parts), strict=True):
        kinds = {one.activation for one in layers}
        if len(kinds) != 1:
            raise InvalidInput.about("activations", sorted(kinds), "the same in each layer", "use one activation")
        rows = [_moved(row, where) for one, where in zip(layers, places, strict=True) for row in entries_of(one).rows()]
        offsets = [offset for one in layers for offset in biases(one)]
        stacked.append(layer(rows, width, offsets, layers[0].activation))
        places, width = _separate([one.shape[0] for one in layers])
    return Perceptron(tuple(stacked))


def staircase_maximum(
    num_inputs: int, steps: int, shift: Fraction = ZERO, first_threshold: Fraction = ZERO
) -> Perceptron:
    """L9's three-layer network, thresholds ``first_threshold + j/n``, plus ``shift``; n = ``steps``.

    Claims L9 (shift 0, first_threshold 0), N12. Conclusion on [0,1]^T for first_threshold = a <= (1 - 1/T)/n:
    -a <= output - shift - max x <= (1 - 1/T)/n - a, and 0 <= output - shift <= 1. Outside [0,1] the same with clipped
    inputs (T2.3-2). Hidden widths T n and 2 n. Exact. Raises InvalidInput.
    """
    # With m = max x clipped to [0,1]: steps whose threshold plus 1/n is at most m give 1/n each, later ones 0, and the
    # one between gives from min(m - threshold, 1/n) to min(T (m - threshold), 1/n). Thresholds from a to a + 1 - 1/n
    # move the argument of the case a = 0 by a; n steps of 1/n make at most 1; m < a gives 0.
    size, high = count("num_inputs", num_inputs), Fraction(1, count("steps", steps))
    first = [{t: ONE} for _ in range(steps) for t in range(size)]
    below = [-first_threshold - j * high for j in range(steps) for _ in range(size)]
    sums = [dict.fromkeys(range(j * size, (j + 1) * size), ONE) for j in range(steps) for _ in range(2)]
    output = {k: ONE if k % 2 == 0 else -ONE for k in range(2 * steps)}
    return Perceptron(
        (
            layer(first, size, below, "relu"),
            layer(sums, size * steps, [ZERO, -high] * steps, "relu"),
            layer([output], 2 * steps, [shift]),
        )
    )


def centred_staircase(num_inputs: int, steps: int) -> Perceptron:
    """Within (1 - 1/T)/(2 n) of max x on [0,1]^T, with values in [0,1] (N12, halved by thresholds, not by a shift)."""
    return staircase_maximum(num_inputs, steps, ZERO, (1 - Fraction(1, num_inputs)) / (2 * steps))


def tournament_maximum(num_inputs: int, rounds: int = 0) -> Perceptron:
    """Exactly max x for all real x: depth ceil(log2 T) + 1, weights in {-1, 0, 1}, no bias (claim N12). Exact.

    ``rounds``: at least so many hidden layers; the winner passes through those that are not needed.

    >>> from constructions.arithmetic import fractions
    >>> from constructions.evaluate import apply_map
    >>> apply_map(tournament_maximum(3), fractions([["1/2", -4, "2/3"]]), EXACT)[0, 0]
    Fraction(2, 3)
    """
    # max(a, b) = relu(a - b) + relu(b) - relu(-b); an odd one out passes as relu(a) - relu(-a).
    forms: list[dict[int, Fraction]] = [{k: ONE} for k in range(count("num_inputs", num_inputs))]
    layers: list[Dense] = []
    width = num_inputs
    while len(forms) > 1 or len(layers) < rounds:
        rows: list[dict[int, Fraction]] = []
        outputs: list[dict[int, Fraction]] = []
        for a, b in zip(forms[0::2], forms[1::2], strict=False):
            outputs.append({len(rows): ONE, len(rows) + 1: ONE, len(rows) + 2: -ONE})
            rows += [{**a, **_minus(b)}, b, _minus(b)]  # different forms have no unit in common
        if len(forms) % 2:
            outputs.append({len(rows): ONE, len(rows) + 1: -ONE})
            rows += [forms[-1], _minus(forms[-1])]
        layers.append(layer(rows, width, [0] * len(rows), "relu"))
        forms, width = outputs, len(rows)
    return Perceptron((*layers, layer(forms, width, [0])))


def minimum_from(maximum: Perceptron) -> Perceptron:
    """``1 - maximum(1 - x)``, the minimum with the same depth, widths and error (claim L9). Exact."""
    return _one_minus_output(_of_one_minus_input(maximum))


def clip(size: int) -> Perceptron:
    """Each of ``size`` numbers clipped to [0,1]: 1 - relu(1 - relu(x)). Exact.

    >>> from constructions.arithmetic import fractions
    >>> from constructions.evaluate import apply_map
    >>> [int(entry) for entry in apply_map(clip(1), fractions([[-2], [0], [1], [3]]), EXACT)[:, 0]]
    [0, 0, 1, 1]
    """
    same, turned = [{k: ONE} for k in range(size)], [{k: -ONE} for k in range(size)]
    ones = [ONE] * size
    return Perceptron(
        (layer(same, size, [0] * size, "relu"), layer(turned, size, ones, "relu"), layer(turned, size, ones))
    )


def nonzero_parameters(network: Perceptron) -> int:
    """Non-zero weights and biases (the convention under which L9 has O(1/eps) parameters)."""
    return sum(entries_of(one).count + int(np.count_nonzero(one.bias)) for one in network.layers)


def dense_parameters(network: Perceptron) -> int:
    """All entries of the weight matrices and biases, zero or not."""
    return sum(one.shape[0] * one.shape[1] + one.bias.size for one in network.layers)


def biases(dense: Dense) -> list[Fraction]:
    """The biases of a layer in which they do not depend on the position, as Fractions."""
    return list(_exact(dense.bias))


def _affine_end(network: Perceptron) -> Dense:
    last = network.layers[-1]
    if last.activation != "identity" or last.bias.ndim != 1:
        raise InvalidInput.about("last layer", last.activation, "affine, one bias (L8)", "an identity activation")
    return last


def _of_one_minus_input(network: Perceptron) -> Perceptron:
    first = network.layers[0]
    rows = list(entries_of(first).rows())
    offsets = [bias + sum(row.values(), ZERO) for row, bias in zip(rows, biases(first), strict=True)]
    turned = layer([_minus(row) for row in rows], first.shape[1], offsets, first.activation)
    return Perceptron((turned, *network.layers[1:]))


def _one_minus_output(network: Perceptron) -> Perceptron:
    last = _affine_end(network)
    rows = [_minus(row) for row in entries_of(last).rows()]
    end = layer(rows, last.shape[1], [1 - bias for bias in biases(last)])
    return Perceptron((*network.layers[:-1], end))


def _separate(sizes: Sequence[int]) -> tuple[list[range], int]:
    ends = np.cumsum(sizes).tolist()
    return [range(end - size, end) for size, end in zip(sizes, ends, strict=True)], ends[-1]


def _moved(row: Row, where: Sequence[int]) -> dict[int, Fraction]:
    """Column k becomes where[k]; weights that meet are added."""
    moved: dict[int, Fraction] = {}
    for column, value in row.items():
        moved[where[column]] = moved.get(where[column], ZERO) + value
    return moved


def _minus(row: Row) -> dict[int, Fraction]:
    return {column: -value for column, value in row.items()}


def _exact(array: ExactArray) -> ExactArray:
    return np.asarray(EXACT.asarray(array))
