"""The search finds known counterexamples, never proves, and its witnesses stand exact re-evaluation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from checks import balls
from checks.balls import BALLS
from checks.enclose import unit_box
from checks.falsify import falsify_inequality, falsify_sup_error, sequence_starts
from constructions.arithmetic import fractions
from constructions.evaluate import evaluate, target
from constructions.network import Component, Formula, Head, Network
from constructions.task import RetrievalTask, hard_gate, toy
from theory.errors import InvalidInput
from theory.exact import parse_exact
from theory.expression_parser import parse_expression as parse
from theory.expressions import evaluate as evaluate_expression
from theory.ledger import Refuted, Undecided

EPS = Fraction(1, 20)


def one_head(task: RetrievalTask, beta: int, gate: int) -> Network:
    """T2.1's specialist of one feature with exact feature values and a gate off S (d = D = 1, F_0 = identity)."""
    inside = task.features[0].positions
    encoder = Formula(1, (Component(task.features[0].expression), Component(parse("0"), inside, Fraction(gate))))
    head = Head(fractions([[1]]), fractions([[-1, 1]]), fractions([[1, 0]]), fractions([0]), fractions([0]))
    return Network(
        task.seq_len, 1, encoder, fractions([1]), (head,), Fraction(beta), fractions([[1]]), fractions([0]),
        Formula(1, (Component(parse("x0")),)),
    )  # fmt: skip


@pytest.mark.parametrize("beta", [10, 1000, 10**6])
def test_the_published_gate_is_refuted_whatever_beta(beta: int) -> None:
    """Catches a search that misses N2's counterexample (error 3/4 at X = (0, 1/2, 1/2, 1/2)) at some beta."""
    task = hard_gate()
    verdict = falsify_sup_error(one_head(task, beta, -1), task, EPS, np.random.default_rng(0))
    assert isinstance(verdict, Refuted)
    tokens = fractions([[parse_exact(entry) for entry in row] for row in verdict.witness["tokens"]])
    with balls.precision(128):
        network = one_head(task, beta, -1)
        error = evaluate(network, BALLS.asarray(tokens), BALLS)[0] - target(task, BALLS.asarray(tokens), BALLS)
        assert balls.lower(balls.absolute(error)) >= parse_exact(verdict.witness["error_lower"]) >= EPS
    assert parse_exact(verdict.witness["error_lower"]) > Fraction(7, 10)


def test_a_true_bound_is_never_refuted_nor_proved() -> None:
    """Catches a Proved from samples, and a witness accepted without a proof: the repaired gate has error < eps."""
    task = hard_gate()
    verdict = falsify_sup_error(one_head(task, 1000, -2), task, EPS, np.random.default_rng(1))
    assert isinstance(verdict, Undecided)
    assert "nothing found" in verdict.reason


def test_ascent_finds_what_no_start_contains() -> None:
    """Catches an ascent that does not move: with soft attention the worst case of the minimum is off the corners."""
    task = RetrievalTask("min", 1, 4, toy(4).features[:1], parse("z0"))
    network = one_head(task, 3, -1)
    sharp = balls.lambert_w(balls.exact(3) / balls.exp(balls.exact(1))) / 3  # N1: sup = W((N-1)/e)/beta, N = 4
    below, above = balls.lower(sharp) * Fraction(999, 1000), balls.upper(sharp)
    assert isinstance(falsify_sup_error(network, task, below, np.random.default_rng(2)), Refuted)
    assert isinstance(falsify_sup_error(network, task, above, np.random.default_rng(2)), Undecided)


@pytest.mark.parametrize(
    ("left", "right", "refuted"),
    [
        ("x0*(1 - x0)", "1/4", False),
        ("x0*(1 - x0)", "1/4 - 1/1000000", True),
        ("2*x0*x1", "x0^2 + x1^2", False),
        ("x0^2 + x1^2", "2*x0*x1", True),
        ("exp(x0)", "1 + 17*x0/10", True),
        ("log(x0 + 1)", "x0", False),
        ("x0", "x0", False),
    ],
)
def test_inequalities(left: str, right: str, refuted: bool) -> None:
    """Catches a false refutation of a tight inequality, and a violation of 10^-6 that is missed."""
    verdict = falsify_inequality(parse(left), parse(right), ("x0", "x1"), unit_box(2), np.random.default_rng(3))
    assert isinstance(verdict, Refuted if refuted else Undecided)
    if isinstance(verdict, Refuted):
        point = {name: balls.exact(value) for name, value in verdict.witness["point"].items()}
        assert evaluate_expression(parse(left), point, BALLS) > evaluate_expression(parse(right), point, BALLS)


def test_starts_contain_ties_corners_minimisers_and_hidden_tokens() -> None:
    """Catches a start distribution without the adversarial sequences of the proofs."""
    starts = sequence_starts(hard_gate(), np.random.default_rng(4), 200)[..., 0]
    assert ((starts[:, 0] == 0) & (starts[:, 1:] == 0.5).all(axis=1)).any()
    assert (starts == starts[:, :1]).all(axis=1).any()
    assert ((starts > 0) & (starts < 1)).all(axis=1).any()


def test_wrong_sizes_are_refused() -> None:
    """Catches a comparison of a network with a task of another length."""
    with pytest.raises(InvalidInput, match="network sizes"):
        falsify_sup_error(one_head(hard_gate(), 10, -2), toy(4 + 1), EPS, np.random.default_rng(5))
