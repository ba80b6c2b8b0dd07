"""Deep ReLU pieces: joins, padded tournaments, staircases with shifted thresholds, clips; all in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from constructions.arithmetic import EXACT, fractions
from constructions.deep_relu import (
    centred_staircase,
    chain,
    clip,
    compose,
    minimum_from,
    nonzero_parameters,
    on_shared_inputs,
    staircase_maximum,
    tournament_maximum,
)
from constructions.evaluate import apply_map
from constructions.network import Dense, Perceptron
from theory.errors import InvalidInput


@pytest.mark.parametrize(("number", "steps"), [(1, 2), (2, 1), (2, 4), (3, 2)])
def test_a_centred_staircase_errs_by_half_and_stays_in_the_unit_interval(number: int, steps: int) -> None:
    """Catches a threshold that is off: all points of a grid that contains every kink, from -1/4 to 5/4."""
    fine = 4 * steps * number
    axis = [Fraction(k, fine) for k in range(-fine // 4, fine + fine // 4 + 1)]
    inputs = fractions([list(entry) for entry in product(axis, repeat=number)])
    if number == 3:
        inputs = inputs[:: len(inputs) // 20000]
    values = apply_map(centred_staircase(number, steps), inputs, EXACT)[:, 0]
    clipped = np.minimum(np.maximum(inputs.max(axis=1), Fraction(0)), Fraction(1))
    half = (1 - Fraction(1, number)) / (2 * steps)
    assert min(values) >= 0
    assert max(values) == 1
    assert max(np.abs(values - clipped)) == half
    lowest = apply_map(minimum_from(centred_staircase(number, steps)), inputs, EXACT)[:, 0]
    assert max(np.abs(lowest - np.minimum(np.maximum(inputs.min(axis=1), Fraction(0)), Fraction(1)))) == half


def test_a_staircase_with_both_shifts() -> None:
    """Catches a shift of the output that is applied to the thresholds, or the reverse."""
    x = fractions([[0, 0], ["1/3", "1/4"], [1, "1/2"]])
    plain = apply_map(staircase_maximum(2, 8), x - Fraction(1, 32), EXACT)
    moved = apply_map(staircase_maximum(2, 8, Fraction(1, 5), Fraction(1, 32)), x, EXACT)
    assert (moved == plain + Fraction(1, 5)).all()


@pytest.mark.parametrize("number", range(1, 7))
def test_a_padded_tournament_is_still_the_maximum(number: int) -> None:
    """Catches a winner that is lost, or clipped at 0, in rounds that only wait."""
    rng = np.random.default_rng(number)
    padded = tournament_maximum(number, 4)
    assert len(padded.layers) == 5
    x = fractions([[Fraction(int(entry), 7) for entry in row] for row in rng.integers(-30, 31, (40, number))])
    assert (apply_map(padded, x, EXACT)[:, 0] == x.max(axis=1)).all()


def test_chain_keeps_layers_apart_and_passes_through_relu() -> None:
    """Catches a chain that merges, or one that lets negative values through."""
    first, second = clip(2), tournament_maximum(2)
    x = fractions([[-1, "1/2"], [2, "1/3"], ["1/4", "1/5"]])
    apart, merged = chain(first, second), compose(first, second)
    assert (len(apart.layers), len(merged.layers)) == (5, 4)
    assert (apply_map(apart, x, EXACT) == apply_map(merged, x, EXACT)).all()
    negative = Perceptron((Dense(fractions([[1]]), fractions([0])),))
    assert apply_map(chain(negative, negative), fractions([[-3]]), EXACT)[0, 0] == 0
    ten = Perceptron(
        (Dense(fractions([[1]] * 9), fractions([0] * 9), "relu"), Dense(fractions([[1] * 9]), fractions([1])))
    )
    assert [nonzero_parameters(join(ten, ten)) for join in (chain, compose)] == [38, 9 + 81 + 9 + 9 + 1]


def test_networks_on_shared_inputs_read_what_they_are_told() -> None:
    """Catches inputs that are taken in order instead of by name, and inputs read twice."""
    network = on_shared_inputs([tournament_maximum(2), tournament_maximum(2)], [(3, 1), (1, 1)], 4)
    x = fractions([[9, 2, 9, 1], [9, -2, 9, 1]])
    assert apply_map(network, x, EXACT).tolist() == [[2, 2], [1, -2]]


def test_joins_that_do_not_fit_are_refused() -> None:
    """Catches merging over an activation, or networks of different depth side by side."""
    bent = Perceptron((Dense(fractions([[1]]), fractions([0]), "relu"),))
    for join in (compose, chain):
        with pytest.raises(InvalidInput, match="last layer"):
            join(bent, bent)
    with pytest.raises(InvalidInput, match="depths"):
        on_shared_inputs([tournament_maximum(1), tournament_maximum(2)], [(0,), (0, 1)], 2)
    with pytest.raises(InvalidInput, match="shapes"):
        compose(clip(2), clip(3))
