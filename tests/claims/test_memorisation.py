"""Section 5 (T2.3) and N12: the networks built, in exact rationals."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from constructions import deep_relu as build
from constructions.arithmetic import EXACT, fractions
from constructions.evaluate import apply_map, attention, evaluate, target
from constructions.memoriser import memoriser
from constructions.network import Dense, Perceptron
from constructions.task import Feature, RetrievalTask, everywhere
from theory import memorisation as sizes
from theory.expressions import Variable, variables


def _columns(inputs: object) -> object:
    return fractions([list(entry) for entry in inputs])


@pytest.mark.parametrize(("number", "steps"), [(1, 3), (2, 1), (2, 4), (3, 2), (4, 3)])
def test_staircase_overshoots_by_exactly_what_is_claimed(number: int, steps: int) -> None:
    """Catches a wrong index range or constant in L9/N12: all grid points of step 1/(2 n T), exactly."""
    fine = 2 * steps * number
    points = [Fraction(k, fine) for k in range(fine + 1)]
    inputs = list(product(points, repeat=number)) if number < 4 else [(p, p, q, q) for p in points for q in points]
    values = apply_map(build.staircase_maximum(number, steps), _columns(inputs), EXACT)[:, 0]
    excess = [value - max(entry) for value, entry in zip(values, inputs, strict=True)]
    assert min(excess) >= 0
    assert max(excess) == sizes.staircase_overshoot(number, steps)
    worst = _columns([[Fraction(1, number * steps)] * number])
    shift = -sizes.staircase_overshoot(number, steps) / 2
    centred = apply_map(build.staircase_maximum(number, steps, shift), worst, EXACT)[0, 0] - worst[0, 0]
    assert centred == -shift


@pytest.mark.parametrize("number", range(1, 18))
def test_tournament_is_the_exact_maximum_of_the_stated_size(number: int) -> None:
    """Catches a wrong pairing, depth or count in N12: random rationals far outside [0,1], T = 1..17."""
    generator = random.Random(number)
    network = build.tournament_maximum(number)
    inputs = [[Fraction(generator.randint(-50, 50), 7) for _ in range(number)] for _ in range(20)]
    assert list(apply_map(network, _columns(inputs), EXACT)[:, 0]) == [max(entry) for entry in inputs]
    assert list(apply_map(build.minimum_from(network), _columns(inputs), EXACT)[:, 0]) == list(map(min, inputs))
    assert len(network.layers) == sizes.tournament_depth(number)
    assert build.nonzero_parameters(network) == sizes.tournament_weights(number) <= max(1, 18 * number - 15)
    assert all(abs(entry) <= 1 for layer in network.layers for entry in layer.weight.ravel())


@pytest.mark.parametrize(("number", "steps"), [(1, 1), (2, 3), (5, 4)])
def test_staircase_sizes_are_the_formulas(number: int, steps: int) -> None:
    """Catches a count in theory that is not the network's (what 'O(1/eps) parameters' counts)."""
    network = build.staircase_maximum(number, steps)
    assert build.nonzero_parameters(network) == sizes.staircase_parameters(number, steps)
    assert build.dense_parameters(network) == sizes.staircase_parameters_dense(number, steps)
    assert [layer.weight.shape[0] for layer in network.layers[:-1]] == [number * steps, 2 * steps]


def test_merging_keeps_the_function_and_multiplies_the_parameters() -> None:
    """Catches a wrong merge (L8): random exact networks 2 + 3 + 2; and the count: 6 + 6 weights become 36."""
    generator = np.random.default_rng(4)

    def dense(rows: int, columns: int, activation: str = "relu") -> Dense:
        entries = [[Fraction(int(k), 5) for k in row] for row in generator.integers(-9, 10, (rows, columns + 1))]
        return Dense(fractions([row[1:] for row in entries]), fractions([row[0] for row in entries]), activation)

    one = Perceptron((dense(6, 2), dense(3, 6, "identity")))
    two = Perceptron((dense(4, 3), dense(5, 4), dense(2, 5, "identity")))
    three = Perceptron((dense(6, 2), dense(1, 6, "identity")))
    whole = build.compose(build.compose(one, two), three)
    x = _columns([[Fraction(int(a), 3), Fraction(int(b), 3)] for a, b in generator.integers(-9, 10, (30, 2))])
    apart = apply_map(three, apply_map(two, apply_map(one, x, EXACT), EXACT), EXACT)
    assert (apply_map(whole, x, EXACT) == apart).all()
    assert len(whole.layers) == 5
    assert max(layer.weight.shape[0] for layer in whole.layers[:-1]) == 6
    channel = Perceptron((dense(6, 1), Dense(fractions([[1] * 6]), fractions([0]))))
    wide = Perceptron((Dense(fractions([[1]] * 6), fractions([0] * 6), "relu"), dense(1, 6, "identity")))
    assert np.count_nonzero(build.compose(channel, wide).layers[1].weight) == 36


def _three_pieces(offset: Fraction) -> tuple[RetrievalTask, list[Perceptron], Perceptron]:
    """f = x, 1 - x and F_0 = z0 - z1 (L = 2), every piece off by the offset in the worst direction."""
    z0, z1 = variables("z", 2)
    x = Variable("x0")
    task = RetrievalTask("two", 1, 3, (Feature(x, everywhere(3)), Feature(1 - x, (1, 3))), z0 - z1)
    features = [
        Perceptron((Dense(fractions([[1]]), fractions([0]), "relu"), Dense(fractions([[1]]), fractions([offset])))),
        Perceptron(
            (Dense(fractions([[1]]), fractions([0]), "relu"), Dense(fractions([[-1]]), fractions([1 - offset])))
        ),
    ]
    first = Dense(fractions([[1, 0], [0, 1]]), fractions([0, 0]), "relu")
    return task, features, Perceptron((first, Dense(fractions([[1, -1]]), fractions([offset]))))


@pytest.mark.parametrize("exact", [False, True])
def test_memoriser_error_lies_between_the_published_and_the_repaired_bound(exact: bool) -> None:
    """Catches a wrong assembly or error in T2.3-end: five layers (staircase) and exact minima, all tokens of a grid."""
    eps = Fraction(1, 10)
    task, features, outer = _three_pieces(eps)

    def minimum(size: int) -> Perceptron:
        if not exact:
            return build.minimum_from(build.staircase_maximum(size, sizes.staircase_steps(eps)))
        padded = build.tournament_maximum(4)
        first = padded.layers[0]
        narrow = Dense(
            np.concatenate([first.weight[:, : size - 1], first.weight[:, size - 1 :].sum(1, keepdims=True)], 1),
            first.bias,
            "relu",
        )
        return build.minimum_from(Perceptron((narrow, *padded.layers[1:])))

    network = memoriser(task, features, minimum, outer)
    assert len(network.readout.layers) == 5
    tokens = fractions([[[a], [b], [c]] for a, b, c in product([Fraction(k, 20) for k in range(0, 21, 4)], repeat=3)])
    errors = np.abs(evaluate(network, tokens, EXACT)[:, 0] - target(task, tokens, EXACT))
    lipschitz = Fraction(2)
    assert lipschitz * eps < max(errors) <= sizes.error_upper(eps, lipschitz)
    if exact:
        assert max(errors) <= (lipschitz + 1) * eps


def test_attention_lists_the_tokens() -> None:
    """Catches a wrong block in T2.3-P: the read-out input is exactly (x(1), ..., x(T))/T, for any beta."""
    task, features, outer = _three_pieces(Fraction(0))
    network = memoriser(task, features, lambda size: build.minimum_from(build.staircase_maximum(size, 2)), outer)
    tokens = fractions([["1/3"], ["5/7"], [1]])
    assert list(attention(network, tokens, EXACT)) == [entry / 3 for entry in tokens[:, 0]]


def test_exponents_by_depth() -> None:
    """Catches a wrong exponent of T2.3: dense counting needs 2 for gamma < 1, merging costs min(1, gamma)."""
    for gamma in (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)):
        found = sizes.exponents(gamma)
        assert found.merged_nonzero - found.unmerged_nonzero == min(gamma, 1)
        assert found.merged_dense >= found.merged_nonzero >= found.unmerged_nonzero >= found.exact_minima_nonzero
