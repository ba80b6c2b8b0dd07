"""Selectors: every token from minima over m-subsets, exhaustively over orders with ties; the smooth one to its rate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import torch

from checks import balls
from constructions import selector, to_torch
from constructions.approximators import polynomial_curve
from constructions.arithmetic import EXACT, FLOAT64, fractions
from constructions.evaluate import apply_map, evaluate, retrieved, target
from constructions.network import Network
from constructions.specialists import Knowledge
from constructions.task import quadratic, toy
from theory import density
from theory.errors import InvalidInput, TooLarge
from theory.expression_parser import parse_expression
from theory.expressions import evaluate as value_of

TENTH = Fraction(1, 10)
CASES = 500
FLOAT_TOLERANCE = 1e-11
CHUNK = 4000
SEED = 11


def orders(seq_len: int) -> Iterator[np.ndarray]:
    """Every order of ``seq_len`` numbers, ties included, as integers 0..k-1 that all occur: (many, seq_len)."""
    for levels in range(1, seq_len):
        grid = np.indices((levels,) * seq_len, dtype=np.int8).reshape(seq_len, -1).T
        onto = np.all([(grid == level).any(axis=1) for level in range(levels)], axis=0)
        yield from np.array_split(grid[onto], max(1, int(onto.sum()) // CHUNK))
    strict = np.array(list(permutations(range(seq_len))), dtype=np.int8)
    yield from np.array_split(strict, max(1, len(strict) // CHUNK))


@pytest.mark.parametrize(("seq_len", "number"), [(1, 1), (2, 3), (3, 13), (4, 75), (5, 541), (6, 4683), (7, 47293)])
def test_the_exact_selector_recovers_every_token_in_every_order(seq_len: int, number: int) -> None:
    """Catches one wrong subset, sign or place: all weights are 0 or +-1 and tokens multiples of 1/8, so that float64
    has no rounding; the number of orders is checked as well."""
    network, task, seen = selector.exact_selector(1, seq_len), selector.minima_task(toy(seq_len)), 0
    for order in orders(seq_len):
        tokens = order[:, :, None] / 8
        minima = np.stack(retrieved(task, tokens, FLOAT64), axis=-1)
        assert (apply_map(network, minima, FLOAT64) == tokens[..., 0]).all()
        seen += len(order)
    assert seen == number


def test_the_exact_selector_at_eight_tokens() -> None:
    """Catches what only T = 8 shows (m = 2, 28 subsets): all orders of up to 3 levels and all strict orders with the
    two least tokens anywhere: 6561 + 40320 sequences."""
    network, task = selector.exact_selector(1, 8), selector.minima_task(toy(8))
    assert {abs(entry) for layer in network.layers for entry in layer.weight.ravel()} == {0, 1}
    levels = np.indices((3,) * 8).reshape(8, -1).T
    strict = np.array(list(permutations(range(8))))
    for part in (*np.array_split(levels, 2), *np.array_split(strict, 10)):
        tokens = part[:, :, None] / 8
        minima = np.stack(retrieved(task, tokens, FLOAT64), axis=-1)
        assert (apply_map(network, minima, FLOAT64) == tokens[..., 0]).all()


def test_coordinates_of_several_dimensions_are_not_mixed_up() -> None:
    """Catches a wrong place in the vector of minima for d > 1; exact rationals."""
    task = selector.minima_task(quadratic(2, 3, 5))
    assert task.num_targets == density.targets_sufficient(3, 5) == 60
    rng = np.random.default_rng(SEED)
    tokens = fractions(rng.integers(0, 30, (20, 5, 3))) / 29
    minima = np.stack(retrieved(task, tokens, EXACT), axis=-1)
    assert (apply_map(selector.exact_selector(3, 5), minima, EXACT).reshape(20, 5, 3) == tokens).all()


@pytest.mark.parametrize("seq_len", [3, 5, 6])
@pytest.mark.parametrize("sharpness", [Fraction(3), Fraction(400)])
def test_the_smooth_selector_is_l3_and_keeps_its_rate(seq_len: int, sharpness: Fraction) -> None:
    """Catches a weight on the wrong side or a lost factor 2: against L3 by definition, and against 0.277859/sqrt(q)."""
    rng = np.random.default_rng(SEED)
    formulas = selector.smooth_selector(1, seq_len, sharpness)
    task, size = selector.minima_task(toy(seq_len)), density.support_size(seq_len)
    for values in fractions(rng.integers(0, 9, (12, seq_len))) / 8:
        tokens = values[:, None]
        minima = {f"z{k}": float(z) for k, z in enumerate(retrieved(task, tokens, EXACT))}
        for position, formula in enumerate(formulas):
            found = float(value_of(formula, minima, FLOAT64))
            wanted = float(density.smooth_select(list(values), position, size, sharpness))
            assert abs(found - wanted) < FLOAT_TOLERANCE
            assert abs(found - float(values[position])) <= float(density.selector_error_upper(sharpness)) + 1e-15


@pytest.mark.parametrize("form", ["exact", "smooth"])
def test_three_arithmetics_agree_on_500_sequences(form: str) -> None:
    """Catches an evaluator that differs on deep sparse read-outs or formulas, and a network far from its target."""
    task = quadratic(2, 1, 5)
    network = selector.build(task, TENTH, form, Knowledge(Fraction(1))).network
    rng = np.random.default_rng(SEED)
    tokens = rng.integers(0, 65, (CASES, 5, 1)) / 64
    tokens[:100] = rng.integers(0, 2, (100, 5, 1))
    floats = evaluate(network, tokens, FLOAT64)[:, 0]
    tensor = to_torch(network)(torch.from_numpy(tokens)).detach().numpy()[:, 0]
    assert np.abs(tensor - floats).max() < FLOAT_TOLERANCE
    assert np.abs(floats - target(task, tokens, FLOAT64)).max() < TENTH
    with balls.precision(128):
        for sequence, value in zip(tokens[95:105], floats[95:105], strict=True):
            ball = evaluate(network, balls.BALLS.asarray(sequence), balls.BALLS)[0]
            assert abs(float(balls.middle(ball)) - value) < FLOAT_TOLERANCE


def test_the_rate_that_is_designed_is_kept() -> None:
    """Catches a sharpness that is too small for the error it is chosen for, at the largest softmin that is allowed."""
    for error in (Fraction(1, 3), Fraction(1, 100), Fraction(1, 10**6)):
        sharpness, softmin = selector.sharpness_for(error, error / 4), error / 4
        growth = np.exp(float(sharpness * softmin * softmin))
        assert 0.98 * float(error) > growth * 0.277859 / np.sqrt(float(sharpness)) > 0.85 * float(error)


@pytest.mark.parametrize(
    ("text", "slope"),
    [("(x0 - 1/4)^2", 1.5), ("x0/2 + x1/2", 1), ("x0*x1", 2), ("abs(x0 - 1/2)", 1), ("(x0^2 + x1^2)/2", 2)],
)
def test_slopes_are_bounded_from_above_and_not_by_much(text: str, slope: float) -> None:
    """Catches a bound of |grad f|_1 below its supremum, or more than a half above."""
    bound = float(selector.gradient_l1_upper(parse_expression(text), 2, polynomial_curve))
    assert slope <= bound <= 1.6 * slope


def test_what_cannot_be_made_is_refused_at_once() -> None:
    """Catches C(64, 16) heads being listed; an unknown form; eps = 0."""
    with pytest.raises(TooLarge, match=r"9\.77"):
        selector.build(toy(64), TENTH, "exact", Knowledge(Fraction(2)))
    with pytest.raises(TooLarge, match="280"):
        selector.build(quadratic(2, 5, 8), TENTH, "smooth", Knowledge(Fraction(1)))
    with pytest.raises(InvalidInput, match="form"):
        selector.build(toy(4), TENTH, "rough", Knowledge(Fraction(2)))
    with pytest.raises(InvalidInput, match="eps"):
        selector.build(toy(4), Fraction(0), "exact", Knowledge(Fraction(2)))


def test_parts_compose_to_the_network() -> None:
    """Catches parts that are not what was built: heads with their own read-out, and the same heads."""
    built = selector.build(toy(4), TENTH, "exact", Knowledge(Fraction(2)))
    assert built.part("heads", Network).num_heads == built.network.num_heads == 8
    sequence = fractions([["1/3"], ["1/7"], ["1/7"], [1]])
    with balls.precision(64):
        tokens = balls.BALLS.asarray(sequence)
        one, two = (evaluate(n, tokens, balls.BALLS)[0] for n in (built.network, selector.assemble(built)))
        assert balls.middle(one) == balls.middle(two)
