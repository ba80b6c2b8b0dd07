"""Certified budgets of T2.3 and T1: proved, dominating, and ended by any small change; parts are read, not believed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from checks.budgets import certify, memoriser, selector
from checks.budgets.compare import Different
from checks.budgets.memoriser import read_minimum, staircase_error
from checks.design import knowledge_of
from checks.sup_error import sup_error
from constructions import memoriser as build_memoriser
from constructions import selector as build_selector
from constructions import sparse
from constructions.arithmetic import FLOAT64, fractions
from constructions.built import Built
from constructions.deep_relu import centred_staircase, minimum_from, staircase_maximum, tournament_maximum
from constructions.evaluate import evaluate, target
from constructions.network import Dense, Network, Perceptron
from constructions.network_json import network_from_json, network_to_json
from constructions.sparse import SparseLayer, SparseMatrix
from constructions.task import Feature, RetrievalTask, built_in, everywhere, quadratic, toy
from theory.enough_heads import Term
from theory.exact import format_exact, parse_exact
from theory.expressions import variables
from theory.ledger import Proved, Refuted, Undecided

TENTH, HUNDREDTH = Fraction(1, 10), Fraction(1, 100)
ACCURACIES = (TENTH, Fraction(3, 100), HUNDREDTH)
SIXTH_DIGIT = Fraction(1, 10**6)
SECONDS = 60
SEED = 7
FORMS = ("five", "seven", "deep", "exact", "smooth")
Change = Callable[[Fraction], Fraction]


def made(form: str, task: RetrievalTask, eps: Fraction) -> Built:
    builder = build_selector.build if form in ("exact", "smooth") else build_memoriser.build
    return builder(task, eps, form, knowledge_of(task))


def uneven(seq_len: int = 4) -> RetrievalTask:
    """Index sets of two sizes, features of two kinds, F_0 curved and rising in one coordinate, falling in the other."""
    (x,), (z0, z1) = variables("x", 1), variables("z", 2)
    features = (Feature((x - Fraction(1, 4)) ** 2, everywhere(seq_len - 1)), Feature(1 - x, (2, seq_len)))
    return RetrievalTask("uneven", 1, seq_len, features, z0 - z1 * z1 * Fraction(1, 2))


def leaves(terms: Sequence[Term]) -> list[Term]:
    return [leaf for term in terms for leaf in (leaves(term.parts) if term.parts else [term])]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("eps", ACCURACIES)
@pytest.mark.parametrize("name", ["toy", "synthetic(4)", "quadratic(3,2)", "uneven"])
def test_proved_below_eps(name: str, eps: Fraction, form: str) -> None:
    """Catches a design whose terms do not add up to less than eps, or a tree whose leaves are not its sum."""
    task = uneven() if name == "uneven" else built_in(name, 4)
    report = certify(made(form, task, eps))
    assert isinstance(report.verdict, Proved), report.verdict
    assert report.bound_upper is not None
    assert report.bound_upper < eps
    assert sum(leaf.value_upper for leaf in leaves(report.terms)) == report.bound_upper
    if form in ("five", "seven"):
        assert report.bound_upper > eps / 2


@pytest.mark.parametrize(
    ("form", "name", "seq_len"),
    [("five", "quadratic(3,2)", 64), ("seven", "synthetic(4)", 64), ("deep", "toy", 64), ("exact", "synthetic(4)", 8)],
)
def test_the_largest_of_the_acceptance_is_certified_in_time(form: str, name: str, seq_len: int) -> None:
    """Catches dense matrices of Fractions: at eps = 1/100, built and certified in under 60 s on one core."""
    start = time.process_time()
    report = certify(made(form, built_in(name, seq_len), HUNDREDTH))
    assert isinstance(report.verdict, Proved), report.verdict
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("task", [toy(4), uneven(), quadratic(2, 2, 3)], ids=lambda task: str(task.name))
def test_the_budget_dominates_sampling(form: str, task: RetrievalTask) -> None:
    """Catches an inequality in the wrong direction: ties, corners, near ties; where steps are, some sequence uses a
    quarter of the budget."""
    built = made(form, task, TENTH)
    bound = certify(built).bound_upper
    assert bound is not None
    rng = np.random.default_rng(SEED)
    batch = rng.random((6000, task.seq_len, task.token_dim))
    batch[:1000] = batch[:1000, :1]
    batch[1000:2000] = rng.integers(0, 2, batch[1000:2000].shape)
    batch[2000:4000] = batch[2000:4000, :1] + 0.1 * rng.random((2000, task.seq_len, task.token_dim)) - 0.05
    batch = batch.clip(0, 1)
    errors = np.abs(evaluate(built.network, batch, FLOAT64)[..., 0] - target(task, batch, FLOAT64))
    assert errors.max() <= float(bound) + 1e-12
    if form in ("five", "seven"):
        assert errors.max() > float(bound) / 4


@pytest.mark.parametrize("form", ["five", "seven", "deep"])
def test_the_budget_dominates_branch_and_bound(form: str) -> None:
    """Catches a budget below the true error: T = 2, where bisection encloses it."""
    built = made(form, quadratic(1, 1, 2), TENTH)
    bound = certify(built).bound_upper
    assert bound is not None
    found = sup_error(built.network, built.task, negligible=TENTH / 100)
    assert found.lower <= bound
    assert found.lower > bound / 4


def test_branch_and_bound_reads_sparse_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches an interval arithmetic that cannot run a sparse layer: all layers sparse, the same budget dominates."""
    monkeypatch.setattr(sparse, "DENSE_ENTRIES", 0)
    built = made("five", quadratic(1, 1, 2), TENTH)
    assert isinstance(built.network.readout, Perceptron)
    assert isinstance(built.network.readout.layers[2], SparseLayer)
    bound = certify(built).bound_upper
    assert bound is not None
    found = sup_error(built.network, built.task, negligible=TENTH / 100)
    assert bound / 4 < found.lower <= bound


def numbers(data: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all numbers of a network in JSON; activations and sizes apart."""
    if isinstance(data, dict):
        kept = {key: value for key, value in data.items() if key not in ("activation", "shape", "seq_len", "token_dim")}
        return [path for key, value in kept.items() for path in numbers(value, (*at, key))]
    if isinstance(data, list):
        return [path for index, value in enumerate(data) for path in numbers(value, (*at, index))]
    if not isinstance(data, str) or not data[-1].isdigit() or data[0].isalpha():
        return []
    return [] if "expression" in at and data in ("1", "2") else [at]  # exponents are integers


def changed(network: Network, path: tuple[Any, ...], change: Change) -> Network:
    data = network_to_json(network)
    place: Any = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = format_exact(change(parse_exact(place[path[-1]])))
    return network_from_json(data)


def terms_of(built: Built) -> tuple[Term, ...]:
    return memoriser.terms(built) if built.kind == "memoriser" else selector.terms(built)


@pytest.mark.parametrize("form", FORMS)
def test_a_weight_changed_in_the_sixth_digit_is_caught(form: str) -> None:
    """Catches a certificate that overlooks part of the network: 300 of all numbers, each changed by a millionth of
    itself (from 0: to a millionth), end the proof and are named."""
    built = made(form, uneven(3), Fraction(1, 4))
    assert isinstance(certify(built).verdict, Proved)
    data = network_to_json(built.network)
    paths = numbers(data)
    assert {path[0] for path in paths} >= {"encoder", "readout"}
    chosen = np.random.default_rng(SEED).permutation(len(paths))[:300]
    for path in (paths[k] for k in chosen):
        network = changed(built.network, path, lambda x: x * (1 + SIXTH_DIGIT) if x else SIXTH_DIGIT)
        with pytest.raises(Different, match=f"network.{path[0]}"):
            terms_of(replace(built, network=network))


def test_a_sparse_weight_changed_in_the_sixth_digit_is_caught() -> None:
    """Catches a comparison that does not look into sparse layers: one of 50,000, by certify as people call it."""
    built = made("five", toy(64), HUNDREDTH)
    readout = built.network.readout
    assert isinstance(readout, Perceptron)
    layer = readout.layers[1]
    assert isinstance(layer, SparseLayer)
    values = layer.entries.values.copy()
    values[12345] *= 1 + SIXTH_DIGIT
    entries = SparseMatrix(layer.entries.shape, layer.entries.starts, layer.entries.columns, values)
    other = SparseLayer(entries, layer.bias, layer.activation)
    network = replace(built.network, readout=Perceptron((readout.layers[0], other, *readout.layers[2:])))
    verdict = certify(replace(built, network=network)).verdict
    assert isinstance(verdict, Undecided)
    assert "readout.layers[1].weight" in verdict.reason


@pytest.mark.parametrize("form", FORMS)
def test_parts_are_read_and_not_believed(form: str) -> None:
    """Catches parts taken at their word: composed for one target and certified for another, the error is found."""
    built, (x,) = made(form, toy(4), TENTH), variables("x", 1)
    other = RetrievalTask("other", 1, 4, (toy(4).features[0], Feature(1 - x * x, everywhere(4))), toy(4).outer)
    if form == "smooth":  # its read-out is the target's own formula: another task is another network
        assert not isinstance(certify(replace(built, task=other)).verdict, Proved)
        return
    report = certify(replace(built, task=other))
    assert isinstance(report.verdict, Refuted)
    assert report.bound_upper is not None
    assert report.bound_upper > TENTH


@pytest.mark.parametrize("form", FORMS)
def test_eps_below_the_budget_is_not_proved(form: str) -> None:
    """Catches a verdict that compares with the design instead of eps."""
    built = made(form, quadratic(2, 1, 3), TENTH)
    bound = certify(built).bound_upper
    assert bound is not None
    assert not isinstance(certify(replace(built, eps=bound)).verdict, Proved)
    assert isinstance(certify(replace(built, eps=bound + SIXTH_DIGIT)).verdict, Proved)


def test_other_parts_give_other_bounds() -> None:
    """Catches a staircase or a sharpness whose error is taken from the design: recomposed with a coarser one, the
    budget grows by exactly what that costs, and is still right."""
    built = made("five", toy(4), TENTH)
    coarse = minimum_from(centred_staircase(4, 4))
    parts = tuple((name, coarse if name.startswith("minimum") else part) for name, part in built.parts)
    other = replace(built, parts=parts)
    other = replace(other, network=build_memoriser.assemble(other))
    report = certify(other)
    assert report.bound_upper == 2 * Fraction(3, 4) / 8
    assert not isinstance(report.verdict, Proved)
    smooth = made("smooth", toy(4), TENTH)
    parts = tuple((name, part / 4 if name == "sharpness" else part) for name, part in smooth.parts)  # type: ignore[operator]
    other = replace(smooth, parts=parts)
    other = replace(other, network=build_selector.assemble(other))
    looser, right = certify(other).bound_upper, certify(smooth).bound_upper
    assert looser is not None
    assert right is not None
    assert looser > TENTH > right


@pytest.mark.parametrize(("size", "steps"), [(1, 3), (2, 4), (3, 5), (5, 2)])
def test_staircases_are_read_with_their_exact_error(size: int, steps: int) -> None:
    """Catches a bound that is not the supremum: (1 - 1/T)/n in all, however it is split between the sides."""
    high = (1 - Fraction(1, size)) / steps
    centred = read_minimum(minimum_from(centred_staircase(size, steps)), size, size)
    assert (centred.below, centred.above, centred.range) == (high / 2, high / 2, (0, 1)) or size == 1
    printed = read_minimum(minimum_from(staircase_maximum(size, steps)), size, size)
    assert (printed.below, printed.above) == (high, 0) or size == 1
    shifted = read_minimum(minimum_from(staircase_maximum(size, steps, -high / 2)), size, size)
    assert (shifted.below, shifted.above) == (high / 2, high / 2) or size == 1
    exact = read_minimum(minimum_from(tournament_maximum(size)), size, size)
    assert (exact.below, exact.above, exact.range) == (0, 0, None)


def test_uneven_staircases_are_bounded_from_their_thresholds() -> None:
    """Catches a bound that assumes equal steps: levels of unequal height, against sampling on a fine grid."""
    levels = [(Fraction(1, 10), Fraction(1, 5)), (Fraction(2, 5), Fraction(1, 2))]
    low, high, top = staircase_error(levels, 2)
    grid = fractions([[Fraction(a, 40), Fraction(b, 40)] for a in range(-10, 61) for b in range(-10, 61)])
    zero = Fraction(0)
    values = sum(np.minimum(np.maximum(grid - a, zero).sum(axis=1), h) for a, h in levels)
    errors = values - np.minimum(np.maximum(grid.max(axis=1), zero), Fraction(1))
    assert low <= min(errors) <= low + Fraction(1, 40)
    assert high >= max(errors) >= high - Fraction(1, 40)
    assert top == max(values)


def _damaged(part: Perceptron, number: int, change: Callable[[Dense], Dense]) -> Perceptron:
    return Perceptron(tuple(change(one) if k == number else one for k, one in enumerate(part.layers)))


@pytest.mark.parametrize("number", [0, 1, 2])
def test_what_is_no_minimum_is_refused(number: int) -> None:
    """Catches a reader that takes a damaged staircase for one: each weight matrix scaled by 1 + 10^-6."""
    part = minimum_from(centred_staircase(3, 2))
    damaged = _damaged(part, number, lambda d: Dense(d.weight * (1 + SIXTH_DIGIT), d.bias, d.activation))
    with pytest.raises(Different, match="neither a tournament nor a staircase"):
        read_minimum(damaged, 3, 3)


def test_heads_that_err_downwards_are_refused() -> None:
    """Catches N10 with errors applied outside its hypothesis: heads for 1 - x/2 in place of 1 - x lie above, for x/2
    below what they are certified for."""
    built = made("exact", toy(4), TENTH)
    heads = built.part("heads", Network)
    encoder = heads.encoder
    assert isinstance(encoder, Perceptron)
    first, *rest = encoder.layers
    low = Dense(first.weight * Fraction(1, 2), first.bias, first.activation)
    parts = (("heads", replace(heads, encoder=Perceptron((low, *rest)))), *built.parts[1:])
    other = replace(built, parts=parts)
    with pytest.raises(Different, match="upwards"):
        selector.terms(replace(other, network=build_selector.assemble(other)))
