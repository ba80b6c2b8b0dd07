"""Forged and damaged certificates: none is ever proved, and none makes the checker fall over."""

from __future__ import annotations

import copy
import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from checks.certificates import writer
from checks.certificates.canonical import Malformed, canonical, digest
from checks.certificates.schema import _Reader
from checks.verify import Answer, verify
from constructions.arithmetic import fractions
from constructions.network import Component, Formula
from constructions.task import Feature, RetrievalTask, hard_gate, toy
from theory.expression_parser import parse_expression
from theory.ledger import Form

Certificate = dict[str, Any]
Path = tuple[str | int, ...]
MOST_SECONDS = 5.0
KINDS = (
    "collision",
    "near collision",
    "capacity",
    "counterexample",
    "witness",
    "bisection",
    "budget",
    "budget with gates",
)


def sealed(certificate: Certificate) -> bytes:
    """The bytes with a digest that fits, whatever the contents."""
    certificate["digest"] = digest(certificate)
    return canonical(certificate) + b"\n"


def forged(certificate: Certificate, change: Callable[[Certificate], object]) -> Answer:
    """The checker's answer after a change and with a fitting digest."""
    forgery = copy.deepcopy(certificate)
    change(forgery)
    assert sealed(forgery) != writer.to_bytes(certificate)
    start = time.perf_counter()
    answer = verify(sealed(forgery))
    assert time.perf_counter() - start < MOST_SECONDS
    assert answer.exit_code in (1, 2)
    assert answer.detail
    return answer


def put(path: Path, value: Any) -> Callable[[Certificate], None]:
    def change(certificate: Certificate) -> None:
        node: Any = certificate
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = value(node[path[-1]]) if callable(value) else value

    return change


def plus(amount: Fraction) -> Callable[[str], str]:
    return lambda text: str(_Reader().number(text, "here") + amount)


def times(factor: Fraction) -> Callable[[str], str]:
    return lambda text: str(_Reader().number(text, "here") * factor)


SMALL = Fraction(1, 10**6)
TINY = Fraction(1, 2**90)
HIDDEN: Path = ("network", "encoder", "layers")
HEAD: Path = ("network", "heads", 0)

COLLISION_FORGERIES = {
    "first layer weight": put((*HIDDEN, 0, "weight", 3, 0), plus(SMALL)),
    "second layer weight": put((*HIDDEN, 1, "weight", 2, 5), plus(SMALL)),
    "bias of the encoder": put((*HIDDEN, 0, "bias", 1), plus(SMALL)),
    "activation": put((*HIDDEN, 0, "activation"), "gelu"),
    "query": put((*HEAD, "query", 0, 1), plus(SMALL)),
    "query bias": put((*HEAD, "query_bias", 1), plus(SMALL)),
    "key": put((*HEAD, "key", 1, 4), plus(SMALL)),
    "value": put((*HEAD, "value", 1, 4), plus(SMALL)),
    "class token": put(("network", "class_token", 0), plus(SMALL)),
    "beta": put(("network", "beta"), times(Fraction(2))),
    "token of the first sequence": put(("first", 2, 0), plus(SMALL)),
    "token of the second sequence": put(("second", 5, 0), plus(-SMALL)),
    "larger gap": put(("claim", "gap"), times(Fraction(21, 20))),
    "gap zero": put(("claim", "gap"), "0"),
    "negative gap": put(("claim", "gap"), "-1"),
    "another target": put(("task", "outer"), ["*", "z0", "1/10"]),
    "a constant target": put(("task", "outer"), "1"),
    "features swapped for constants": put(("task", "features", 0, "expression"), "1/2"),
    "radius zero": put(("radius",), "0"),
    "negative radius": put(("radius",), "-1p-80"),
    "radius one": put(("radius",), "1"),
    "radius too small": put(("radius",), "1p-19000"),
    "first == second": lambda c: c.update(first=c["second"]),
    "outside the cube": put(("first", 0, 0), "3/2"),
    "just outside the cube": put(("second", 0, 0), "-1p-2000"),
    "free twice": put(("free",), lambda free: [free[0], free[0]]),
    "one free too few": put(("free",), lambda free: free[:1]),
    "one free too many": put(("free",), lambda free: [*free, [0, 8, 0], [0, 7, 0]][:3]),
    "no free": put(("free",), []),
    "free beyond T": put(("free", 0, 1), 9),
    "third sequence": put(("free", 0, 0), 2),
    "one equation only": lambda c: c.update(rows=[[0, 0]], free=c["free"][:1]),
    "an equation twice": lambda c: c.update(rows=[[0, 0], [0, 0]]),
    "seq_len of the task": put(("task", "seq_len"), 9),
    "a shorter sequence": put(("first",), lambda tokens: tokens[:-1]),
    "an extra key": put(("trusted",), True),
    "another kind": put(("kind",), "sup_error"),
    "schema 2": put(("schema",), 2),
    "schema true": put(("schema",), True),
    "precision": put(("precision",), 10**6),
}


@pytest.mark.parametrize("name", COLLISION_FORGERIES)
def test_forged_collisions(true_certificates: dict[str, Certificate], name: str) -> None:
    """Catches a checker that does not use the forged part."""
    forged(true_certificates["collision"], COLLISION_FORGERIES[name])


LAYER: Path = ("network", "token_layers", 0)
DEEP_FORGERIES = {
    "query of the first layer": put((*LAYER, "heads", 0, "query", 1, 2), plus(SMALL)),
    "query bias": put((*LAYER, "heads", 0, "query_bias", 0), plus(SMALL)),
    "key": put((*LAYER, "heads", 0, "key", 0, 1), plus(SMALL)),
    "value": put((*LAYER, "heads", 0, "value", 1, 1), plus(SMALL)),
    "value bias": put((*LAYER, "heads", 0, "value_bias", 1), plus(SMALL)),
    "W_O": put((*LAYER, "output_weight", 3, 0), plus(SMALL)),
    "W_O's bias": put((*LAYER, "output_bias", 2), plus(SMALL)),
    "beta": put((*LAYER, "beta"), times(Fraction(2))),
    "update": put((*LAYER, "update", "layers", 0, "weight", 1, 6), plus(SMALL)),
    "update's bias": put((*LAYER, "update", "layers", 0, "bias", 1), plus(SMALL)),
    "class token stands still": put((*LAYER, "class_update"), None),
    "update of the class token": put((*LAYER, "class_update", "layers", 0, "weight", 0, 0), plus(SMALL)),
    "class token": put(("network", "class_token", 0), plus(SMALL)),
    "query of the last layer": put((*HEAD, "query", 0, 1), plus(SMALL)),
    "no layers": put(("network", "token_layers"), []),
    "layers twice": put(("network", "token_layers"), lambda layers: layers * 2),
    "one layer only": lambda c: c["network"].pop("token_layers"),
    "larger gap": put(("claim", "gap"), times(Fraction(21, 20))),
}


@pytest.mark.parametrize("name", DEEP_FORGERIES)
def test_forged_collisions_of_two_layers(true_certificates: dict[str, Certificate], name: str) -> None:
    """Catches a part of a token layer that the checker does not look at."""
    forged(true_certificates["two layers"], DEEP_FORGERIES[name])


NEAR_FORGERIES = {
    "first layer weight": put((*HIDDEN, 0, "weight", 3, 0), plus(SMALL)),
    "query": put((*HEAD, "query", 0, 1), plus(SMALL)),
    "value": put((*HEAD, "value", 1, 4), plus(SMALL)),
    "W_O": put(("network", "output_weight", 0, 0), times(Fraction(2))),
    "W_O mixes": put(("network", "output_weight", 1, 0), "1000"),
    "beta": put(("network", "beta"), times(Fraction(2))),
    "token of the first sequence": put(("first", 2, 0), plus(SMALL)),
    "token of the second sequence": put(("second", 5, 0), plus(-SMALL)),
    "sequences alike": lambda c: c.update(first=c["second"]),
    "larger gap": put(("claim", "gap"), times(Fraction(1001, 1000))),
    "smaller distance": put(("claim", "distance"), times(Fraction(99, 100))),
    "no distance": put(("claim", "distance"), "0"),
    "negative gap": put(("claim", "gap"), "-1"),
    "gap zero": put(("claim", "gap"), "0"),
    "another target": put(("task", "outer"), ["*", "z0", "1/10"]),
    "outside the cube": put(("first", 0, 0), "3/2"),
    "a sequence too short": put(("first",), lambda rows: rows[:-1]),
    "precision too large": put(("precision",), 4096),
    "kind": put(("kind",), "collision"),
}


@pytest.mark.parametrize("name", NEAR_FORGERIES)
def test_forged_near_collisions(true_certificates: dict[str, Certificate], name: str) -> None:
    """Catches a checker that takes a distance or a gap on trust, or measures the distance before W_O."""
    forged(true_certificates["near collision"], NEAR_FORGERIES[name])


CAPACITY_FORGERIES = {
    "one larger gap": put(("claim", "points", 2, "gap"), times(Fraction(1001, 1000))),
    "one smaller distance": put(("claim", "points", 3, "distance"), times(Fraction(99, 100))),
    "points swapped": put(("claim", "points"), lambda points: points[::-1]),
    "a pair dropped": put(("pairs",), lambda pairs: pairs[:-1]),
    "a point dropped": put(("claim", "points"), lambda points: points[1:]),
    "nothing": lambda c: c.update(pairs=[], claim={"points": []}),
    "token": put(("pairs", 3, "first", 0, 0), plus(SMALL)),
    "beta": put(("network", "beta"), times(Fraction(3, 2))),
}


@pytest.mark.parametrize("name", CAPACITY_FORGERIES)
def test_forged_capacity_curves(true_certificates: dict[str, Certificate], name: str) -> None:
    """Catches a curve of which only some points are checked."""
    forged(true_certificates["capacity"], CAPACITY_FORGERIES[name])


def test_forged_collisions_are_refuted(true_certificates: dict[str, Certificate]) -> None:
    """Catches a checker that only ever shrugs: an empty box and a gap that is too large are refuted."""
    for name in ("first layer weight", "token of the first sequence", "larger gap", "a constant target"):
        assert forged(true_certificates["collision"], COLLISION_FORGERIES[name]).label == "REFUTED"


def test_dropped_head(examples: SimpleNamespace) -> None:
    """Catches a checker that does not count: with a head dropped the free coordinates outnumber the equations."""
    certificate = examples.collision(examples.random_block(8, [2, 1], 8, "tanh", 5, beta=2))

    def drop(c: Certificate) -> None:
        c["network"]["heads"].pop()
        c["network"]["output_weight"] = [row[:-1] for row in c["network"]["output_weight"]]

    forged(certificate, drop)


def test_gap_inside_the_ball(examples: SimpleNamespace) -> None:
    """Catches a gap that is read off the middle: over a wide box the claimed gap may or may not be reached."""
    wide = examples.collision(examples.random_block(8, [2], 8, "tanh", 3, beta=2), radius=Fraction(1, 2**14))
    assert verify(sealed(wide)).label == "PROVED"
    exact = Fraction(100, 99)  # the example claims 99 per cent of the gap at the centre
    assert forged(wide, put(("claim", "gap"), times(exact))).label == "UNDECIDED"


def test_collision_outside_the_cube(true_certificates: dict[str, Certificate]) -> None:
    """Catches tokens outside [0,1]: the true collision moved by 1, with an encoder and features that move it back."""

    def shift(certificate: Certificate) -> None:
        for name in ("first", "second"):
            certificate[name] = [[plus(Fraction(-1))(x) for x in token] for token in certificate[name]]
        layer = certificate["network"]["encoder"]["layers"][0]
        weights = [_Reader().number(row[0], "weight") for row in layer["weight"]]
        layer["bias"] = [plus(w)(b) for w, b in zip(weights, layer["bias"], strict=True)]
        certificate["task"]["features"][0]["expression"] = ["+", "x0", "1"]
        certificate["task"]["features"][1]["expression"] = ["-", "x0"]

    assert "leaves [0,1]" in forged(true_certificates["collision"], shift).detail


def double_root(value: str, radius: str) -> bytes:
    """A block whose single output is ((x - 1/2)^2) at T = 1, against the same at 1/2: a root without sign change."""
    square = ["^", ["-", "x0", "1/2"], "2"]
    zero = {"layers": [{"weight": [["1"]], "bias": ["0"], "activation": "identity"}]}
    head = {"query": [["0"]], "key": [["0"]], "value": [["1"]], "query_bias": ["0"], "value_bias": ["0"]}
    certificate = {
        "schema": 1,
        "kind": "collision",
        "claim": {"gap": "1/4"},
        "task": {
            "name": "x",
            "token_dim": 1,
            "seq_len": 1,
            "features": [{"expression": "x0", "positions": [1]}],
            "outer": "z0",
        },
        "network": {
            "seq_len": 1,
            "token_dim": 1,
            "beta": "1",
            "encoder": {
                "input_dim": 1,
                "components": [{"expression": ["-", square, value], "positions": None, "outside": "0"}],
            },
            "class_token": ["1"],
            "heads": [head],
            "output_weight": [["1"]],
            "output_bias": ["0"],
            "readout": zero,
        },
        "first": [["1/2"]],
        "second": [["1"]],
        "free": [[1, 1, 0]],
        "radius": radius,
        "precision": 64,
    }
    return sealed(certificate)


@pytest.mark.parametrize("radius", ["1p-10", "1p-40", "1/4", "1/2"])
def test_no_collision_where_there_is_none(radius: str) -> None:
    """Catches an unsound existence test: (x - 1/2)^2 = 0 for x near 1 has no solution."""
    assert verify(double_root("0", radius)).label != "PROVED"


def relu_pair(first: list[str], second: list[str], radius: str, gap: str) -> Answer:
    """Uniform attention over (x, relu(x - 1/2)); the equation is that of the first value only, x(1) of the second free.

    The second value is determined by the first if all tokens lie on one side of the kink, for all values of x(1).
    """
    certificate = json.loads(double_root("0", radius))
    network, task = certificate["network"], certificate["task"]
    network["encoder"] = {
        "layers": [{"weight": [["1"], ["1"]], "bias": ["0", "-1/2"], "activation": "relu"}],
    }
    network["heads"][0] |= {"key": [["0", "0"]], "value": [["1", "0"], ["0", "1"]], "value_bias": ["0", "0"]}
    network["output_weight"] = [["1", "0"]]
    network["seq_len"] = task["seq_len"] = len(first)
    task["features"][0]["positions"] = list(range(1, len(first) + 1))
    certificate |= {"first": [[x] for x in first], "second": [[x] for x in second], "rows": [[0, 0]]}
    certificate["claim"]["gap"] = gap
    return verify(sealed(certificate))


def test_rows_on_relu_pieces() -> None:
    """Catches rows that are left out although tokens on two pieces, or on an undecided one, make them independent."""
    assert relu_pair(["7/16", "7/16"], ["5/8", "1/4"], "1/64", "1/8").label == "UNDECIDED"
    assert relu_pair(["7/16", "7/16"], ["5/8", "1/4"], "1/4", "1/8").label == "UNDECIDED"
    assert relu_pair(["3/8", "3/8"], ["7/16", "5/16"], "1/64", "1/20").label == "PROVED"
    assert relu_pair(["3/4", "3/4"], ["7/8", "5/8"], "1/64", "1/20").label == "PROVED"


def test_values_below_zero(examples: SimpleNamespace) -> None:
    """Catches a read-out that is compared with F_0 on [0,1] although values (x - 1/2) are negative: max(z, 0)."""
    task = RetrievalTask("low", 1, 1, (Feature(parse_expression("x0 - 1/2"), (1,)),), parse_expression("z0"))
    network = examples.minimum_of_two(Fraction(10))[0]
    low = replace(
        network,
        seq_len=1,
        output_bias=fractions([0]),
        encoder=Formula(1, (Component(parse_expression("x0 - 1/2")),)),
        readout=Formula(1, (Component(parse_expression("max(x0, 0)")),)),
    )
    budget = writer.error_below_by_budget(low, task, Fraction(1, 20), [(0, 0)], [0], 0, [1], 1)
    assert verify(writer.to_bytes(budget)).label == "UNDECIDED"
    assert verify(writer.to_bytes(writer.error_below(low, task, Fraction(1, 20)))).label == "REFUTED"


def minimum(examples: SimpleNamespace, bound: Fraction) -> Certificate:
    network, task = examples.minimum_of_two(Fraction(10))
    return writer.error_below(network, task, bound)


def test_bounds_that_are_too_small(examples: SimpleNamespace) -> None:
    """Catches lost error terms: the bounds lie just below errors known in closed form."""
    assert verify(writer.to_bytes(minimum(examples, Fraction(2780, 100_000)))).label == "REFUTED"
    # For T = 16 and beta = 225/4 each head errs by W(15/e)/beta = 0.024596: one raises, the other lowers the network.
    answer = verify(writer.to_bytes(examples.toy_budget(16, Form.SHARPENED, Fraction(2459, 100_000))))
    assert answer.label == "UNDECIDED"


BUDGET_FORGERIES = {
    "key": put((*HEAD, "key", 0, 0), times(Fraction(99, 100))),
    "value": put((*HEAD, "value", 0, 0), times(Fraction(101, 100))),
    "beta": put(("network", "beta"), times(Fraction(2, 5))),  # half would do: errors of the two heads do not add up
    "channels swapped": put(("evidence", "channels"), [[1, 0], [0, 0]]),
    "channel twice": put(("evidence", "channels"), [[0, 0], [0, 0]]),
    "a head that is not there": put(("evidence", "channels"), [[0, 0], [2, 0]]),
    "slopes": put(("evidence", "slopes", 0), "1/2"),
    "negative slopes": put(("evidence", "slopes"), ["-5", "-5"]),
    "gradient": put(("evidence", "gradient"), "1"),
    "wide margin": put(("evidence", "margin"), "1/10"),
    "negative margin": put(("evidence", "margin"), "-1/10"),
    "negative delta": put(("evidence", "delta", 0), "-1/10"),
    "negative outer delta": put(("evidence", "outer_delta"), "-1"),
    "another outer map": put(("task", "outer"), ["+", "z0", "z1"]),
    "another feature": put(("task", "features", 0, "expression"), ["*", "x0", "x0"]),
    "read-out": put(("network", "readout", "layers", 1, "bias", 0), plus(Fraction(1, 1000))),
    "output bias": put(("network", "output_bias", 0), plus(Fraction(1, 1000))),
    "bound zero": put(("claim", "bound"), "0"),
}


@pytest.mark.parametrize("name", BUDGET_FORGERIES)
def test_forged_budgets(true_certificates: dict[str, Certificate], name: str) -> None:
    """Catches a budget that believes a number of the file instead of proving it."""
    forged(true_certificates["budget"], BUDGET_FORGERIES[name])


def test_delta_is_proved(true_certificates: dict[str, Certificate]) -> None:
    """Catches a feature error that is taken from the file: half of the true one must not do."""
    certificate = true_certificates["budget with curved features"]
    forged(certificate, put(("evidence", "delta", 0), times(Fraction(1, 2))))
    forged(certificate, put(("task", "features", 1, "positions"), [1, 2, 3]))


def test_values_outside_must_be_high(examples: SimpleNamespace) -> None:
    """Catches a head that looks at all positions, claimed to find the minimum over S = {1}."""
    network, task = examples.minimum_of_two(Fraction(100))
    true = writer.error_below_by_budget(network, task, Fraction(1, 20), [(0, 0)], [0], 0, [1], 1)
    assert verify(writer.to_bytes(true)).label == "PROVED"
    assert forged(true, put(("task", "features", 0, "positions"), [1])).label == "UNDECIDED"


def test_slopes_are_proved_everywhere(examples: SimpleNamespace) -> None:
    """Catches an outer derivative that is bounded in the middle of the cube only: (z^2)' is 2 at the end."""
    task = examples.squared_minimum(4)
    built = examples.build(task, Fraction(1, 20), Form.SHARPENED, 3)
    outer = built.budget.delta_outer * Fraction(102, 100) + Fraction(1, 10**5)
    true = writer.error_below_by_budget(
        built.network, task, Fraction(1, 20), [(0, 0)], [0], outer, [Fraction(21, 10)], Fraction(21, 10)
    )
    assert verify(writer.to_bytes(true)).label == "PROVED"
    smaller = put(("evidence", "slopes"), ["19/10"])
    assert forged(true, smaller).label == "UNDECIDED"
    assert forged(true, put(("evidence", "gradient"), "19/10")).label == "UNDECIDED"


def test_denominators_are_limited(examples: SimpleNamespace) -> None:
    """Catches exact linear algebra that explodes: the values of a head get many different large denominators."""
    certificate = examples.collision(examples.random_block(8, [2], 8, "tanh", 3, beta=2))

    def explode(c: Certificate) -> None:
        c["rows"], c["free"] = [[0, 0]], c["free"][:1]
        for row in c["network"]["heads"][0]["value"]:
            row[:] = [f"1/{10**1150 + 2 * k + 1}" for k in range(len(row))]

    assert "denominators" in forged(certificate, explode).detail


def test_the_published_gate_is_not_enough(examples: SimpleNamespace) -> None:
    """Catches N2 with a gate of 1: no budget may close, since the error is 3/4 for every beta."""
    network = examples.specialist(hard_gate(), Form.PUBLISHED, 1)
    for beta in (10, 10**6):
        hot = replace(network, beta=Fraction(beta))
        budget = writer.error_below_by_budget(
            hot, hard_gate(), Fraction(7, 10), [(0, 0)], [Fraction(1, 10)], Fraction(1, 10), [1], 1
        )
        assert verify(writer.to_bytes(budget)).label == "UNDECIDED"


def test_gate_levels(true_certificates: dict[str, Certificate], examples: SimpleNamespace) -> None:
    """Catches a gate that is not checked position by position: one position outside S_i has its gate opened."""
    network = examples.specialist(hard_gate(), Form.REPAIRED, 1)
    delta = [Fraction(1, 50)]
    true = writer.error_below_by_budget(
        network, hard_gate(), Fraction(1, 20), [(0, 0)], delta, Fraction(1, 1000), [1], 1, Fraction(1, 10**5)
    )
    assert verify(writer.to_bytes(true)).label == "PROVED"
    for position, level in [(1, "-1"), (1, "0"), (2, "1"), (0, "-1"), (3, "-99/100")]:
        forged(true, put((*HIDDEN, 1, "bias", position, 1), level))


WITNESS_FORGERIES = {
    "bound slightly larger": put(("claim", "bound"), plus(TINY)),
    "another point": put(("evidence", "sequence", 1, 0), "2/3"),
    "outside the cube": put(("evidence", "sequence", 0, 0), "-1/2"),
    "relation": put(("claim",), {"relation": "<", "bound": "3/4"}),
    "another relation": put(("claim", "relation"), ">"),
    "wider gate": put((*HIDDEN, 1, "bias", 2, 1), "-2"),
}


@pytest.mark.parametrize("name", WITNESS_FORGERIES)
def test_forged_witnesses(true_certificates: dict[str, Certificate], name: str) -> None:
    """Catches a lower bound that is not evaluated, or not exactly."""
    forged(true_certificates["witness"], WITNESS_FORGERIES[name])


def test_every_beta_needs_equal_scores(examples: SimpleNamespace) -> None:
    """Catches "for every beta" from a single one: true for the file's beta, scores unequal by 2^-90."""
    true = examples.hard_gate_witness(Fraction(1, 2))
    move = put((*HIDDEN, 1, "bias", 0, 1), plus(TINY))
    assert forged(true, move).label == "UNDECIDED"
    single = copy.deepcopy(true)
    single["claim"]["every_beta"] = False
    move(single)
    assert verify(sealed(single)).label == "PROVED"


COUNTEREXAMPLE_FORGERIES = {
    "a point where the conclusion holds": put(("conclusion", 1), ">"),
    "a point against a hypothesis": put(("values", "x"), "2"),
    "an equation that fails by little": put(("values", "x"), plus(TINY)),
    "an unknown variable": put(("conclusion", 0), "y"),
    "an unknown function": put(("conclusion", 0), ["sin", "x"]),
    "an unknown relation": put(("conclusion", 1), "!="),
    "no conclusion": put(("conclusion",), []),
    "a division by zero": put(("conclusion", 0), ["/", "1", ["-", "x", "x"]]),
    "a logarithm of zero": put(("conclusion", 0), ["log", ["-", "x", "x"]]),
    "a negative power of zero": put(("conclusion", 0), ["^", ["-", "x", "x"], "-1"]),
    "a fractional power": put(("conclusion", 0), ["^", "x", "1/2"]),
    "a tower": put(("conclusion", 0), ["exp", ["exp", ["exp", ["exp", ["exp", "9"]]]]]),
}


@pytest.mark.parametrize("name", COUNTEREXAMPLE_FORGERIES)
def test_forged_counterexamples(true_certificates: dict[str, Certificate], name: str) -> None:
    """Catches hypotheses or a conclusion that are not evaluated."""
    forged(true_certificates["counterexample"], COUNTEREXAMPLE_FORGERIES[name])


# Damage


@pytest.mark.parametrize("kind", KINDS)
def test_single_digits(true_certificates: dict[str, Certificate], kind: str) -> None:
    """Catches a checker that accepts a changed file: 200 random digits, each changed alone."""
    data = bytearray(writer.to_bytes(true_certificates[kind]))
    rng = random.Random(kind)
    digits = [place for place, byte in enumerate(data) if chr(byte).isdigit()]
    for place in (rng.choice(digits) for _ in range(200)):
        old = data[place]
        data[place] = rng.choice([digit for digit in b"0123456789" if digit != old])
        answer = verify(bytes(data))
        data[place] = old
        assert answer.exit_code in (1, 2)
    assert verify(bytes(data)).exit_code == 0


def test_single_characters(true_certificates: dict[str, Certificate]) -> None:
    """Catches a file format with slack: any character replaced, removed or inserted, spaces and newlines included."""
    data = writer.to_bytes(true_certificates["witness"])
    rng = random.Random(7)
    for _ in range(2000):
        place = rng.randrange(len(data) + 1)
        new = bytes([rng.choice(b' \n\t\r0123456789"{}[],:-/abcp\\x00\xff')])
        changed = data[:place] + new * rng.randrange(2) + data[place + rng.randrange(2) :]
        if changed != data:
            assert verify(changed).exit_code == 2


def leaves(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every node below the top, with its path."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in entries:
        yield (*path, key), child
        yield from leaves(child, (*path, key))


IRRELEVANT = {"readout", "output_weight", "output_bias", "value_bias", "precision", "radius", "claim", "task", "digest"}
SHIFTS: Path = (*HIDDEN, 1, "bias")
"""A shift of all encoded tokens cancels in scores and in differences of values."""
INSIDE = Fraction(1, 2**70)
"""Tokens moved by less may stay in the box of radius 2^-80, as seen through the other coordinates."""


def test_digits_that_matter(true_certificates: dict[str, Certificate]) -> None:
    """Catches a number that the checker does not use: a digit of a weight or token is changed, with a new digest."""
    certificate = true_certificates["collision"]
    numbers = [
        (path, text)
        for path, text in leaves(certificate)
        if isinstance(text, str) and set(path[-1:]) <= set(range(1000)) | {"beta"}
        if not set(path) & IRRELEVANT and path[: len(SHIFTS)] != SHIFTS
    ]
    assert len(numbers) > 100
    rng, changes = random.Random(3), 0
    for _ in range(300):
        path, text = rng.choice(numbers)
        place = rng.choice([k for k, c in enumerate(text) if c.isdigit()])
        new = text[:place] + rng.choice([d for d in "0123456789" if d != text[place]]) + text[place + 1 :]
        with suppress(Malformed):
            if abs(_Reader().number(new, "") - _Reader().number(text, "")) < INSIDE:
                continue
        forged(certificate, put(path, new))
        changes += 1
    assert changes > 150


JUNK: tuple[Any, ...] = (
    None,
    1.5,
    float("nan"),
    float("inf"),
    -1,
    10**9,
    10**40,
    "",
    "nan",
    "1e5",
    "0x10",
    "1/0",
    "1p999999",
    "9" * 5000,
    "x9",
    "\ud800",
    [],
    {},
    [[[[[[["1"]]]]]]],
    {"layers": []},
    ["exp"],
)


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_types_everywhere(true_certificates: dict[str, Certificate], kind: str) -> None:
    """Catches a traceback or an acceptance when any node is replaced by junk or removed."""
    certificate = true_certificates[kind]
    rng = random.Random(kind)
    nodes = [path for path, _ in leaves(certificate) if path != ("digest",)]
    for path in (rng.choice(nodes) for _ in range(150)):
        junk = rng.choice(JUNK)
        if not harmless(path, junk):
            assert forged(certificate, put(path, junk)).label == "UNDECIDED"
    for path in (rng.choice(nodes) for _ in range(60)):
        assert forged(certificate, removed(path)).label == "UNDECIDED"


def harmless(path: Path, junk: Any) -> bool:
    """A task may have any printable name, a counterexample no hypotheses."""
    named = path == ("task", "name") and isinstance(junk, str) and junk.isprintable() and len(junk) <= 200
    return named or (path, junk) == (("hypotheses",), [])


def removed(path: Path) -> Callable[[Certificate], None]:
    """Take a key out of its object, or put a null beside an entry of a list."""

    def change(certificate: Certificate) -> None:
        node: Any = certificate
        for step in path[:-1]:
            node = node[step]
        if isinstance(node, dict):
            del node[path[-1]]
        else:
            node.insert(path[-1], None)

    return change


BOMBS = {
    "empty": b"",
    "one bracket": b"[",
    "brackets": b"[" * 2_000_000,
    "objects": b'{"a":' * 200_000,
    "deep and closed": b"[" * 5000 + b"]" * 5000,
    "commas": b"[" + b"[],"[:3] * 9_000_000 + b"[]]",
    "zeros": b"[" + b"0," * 15_000_000 + b"0]",
    "a long number": b"9" * 10_000_000,
    "a long string": b'"' + b"a" * 30_000_000 + b'"',
    "an open string": b'"' + b"\\" * 20_000_001,
    "too large": b" " * 32_000_001,
    "not text": bytes(range(256)),
    "byte order mark": b"\xef\xbb\xbf{}",
    "nan": b'{"digest":NaN}',
    "infinity": b'{"digest":-Infinity}',
    "float": b'{"digest":1e999}',
    "twice": b'{"digest":"a","digest":"a"}',
    "list": b"[]",
    "null": b"null",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(name: str) -> None:
    """Catches unbounded recursion, time or memory while reading."""
    start = time.perf_counter()
    assert verify(BOMBS[name]).exit_code == 2
    assert time.perf_counter() - start < MOST_SECONDS


def test_duplicated_keys(true_certificates: dict[str, Certificate]) -> None:
    """Catches a reader for which the last of two equal keys wins."""
    data = writer.to_bytes(true_certificates["witness"])
    assert data.startswith(b'{"claim":')
    doubled = b'{"claim":' + json.dumps({"bound": "1", "every_beta": True, "relation": ">="}).encode() + b"," + data[1:]
    answer = verify(doubled)
    assert answer.exit_code == 2
    assert "twice" in answer.detail


def heavy(certificate: Certificate, exponent: str) -> Iterator[Certificate]:
    """Numbers of extreme size in every role."""
    for path, text in leaves(certificate):
        if isinstance(text, str) and text[:1] in "-0123456789" and path[0] != "digest" and path[-1] != "name":
            forgery = copy.deepcopy(certificate)
            put(path, exponent)(forgery)
            yield forgery


@pytest.mark.parametrize("extreme", ["1p20000", "-1p20000", "1p-20000"])
def test_extreme_numbers(true_certificates: dict[str, Certificate], extreme: str) -> None:
    """Catches overflow, endless loops and tracebacks; true claims may still be proved (a read-out, a radius, ...)."""
    rng = random.Random(extreme)
    for kind in ("collision", "witness", "counterexample", "budget"):
        forgeries = list(heavy(true_certificates[kind], extreme))
        for forgery in rng.sample(forgeries, min(12, len(forgeries))):
            start = time.perf_counter()
            assert verify(sealed(forgery)).exit_code in (0, 1, 2)
            assert time.perf_counter() - start < MOST_SECONDS


def test_work_is_bounded(examples: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches bisection without an end: eight dimensions are too many for natural patience."""
    monkeypatch.setattr("checks.verify.arithmetic.MOST_WORK", 10_000_000)
    network = examples.specialist(toy(8), Form.SHARPENED, 2)
    answer = verify(writer.to_bytes(writer.error_below(network, toy(8), Fraction(1, 20))))
    assert answer.label == "UNDECIDED"
    assert "work limit" in answer.detail
