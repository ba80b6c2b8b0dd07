"""The checker accepts true certificates of every kind, agrees with a second implementation, and needs only flint."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.certificates import schema, writer
from checks.certificates.records import Collision
from checks.certificates.schema import _Reader
from checks.verify import verify, verify_file
from checks.verify.arithmetic import Balls, Undecided, Work, ball, evaluate
from checks.verify.blocks import Block, head_layer, highest_mean, softmax
from checks.verify.collision import _difference
from checks.verify.layers import DeepBlock
from constructions.arithmetic import fractions
from constructions.network import Component, Formula, Head, Network
from constructions.network_json import network_to_json
from constructions.task import Feature, RetrievalTask, hard_gate, toy
from theory.expression_parser import parse_expression
from theory.expressions import expression_to_json
from theory.ledger import Form

ROOT = Path(__file__).parents[2]
AGREEMENT = mpmath.mpf(10) ** -45
"""The second implementation works at 70 digits, the checker's balls here at 200 bits (60 digits)."""
ROUNDING = 1e-8
"""Radii of balls have 30 bits."""
LARGEST_CURVATURE = 1e4
"""Slopes over a box of radius r are wider than at a point by at most this times r."""
MOST_SECONDS = 2.0
"""Acceptance of issue 2 for T = 32, eight values, 32 hidden neurons, with Python's start; measured 0.3 alone."""
BLOCKER = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"numpy", "torch", "scipy", "sympy", "mpmath", "z3", "theory", "constructions"}:
            raise ImportError(name + " is blocked")
sys.meta_path.insert(0, Blocker())
import runpy
sys.argv = ["verify", *sys.argv[1:]]
runpy.run_module("checks.verify", run_name="__main__")
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The checker in a process where only flint and the standard library can be imported."""
    command = [sys.executable, "-c", BLOCKER, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def answer(certificate: dict[str, Any]) -> str:
    return verify(writer.to_bytes(certificate)).label


KINDS = (
    "collision",
    "two layers",
    "near collision",
    "capacity",
    "counterexample",
    "witness",
    "bisection",
    "budget",
    "budget with gates",
    "budget with curved features",
)


@pytest.mark.parametrize("kind", KINDS)
def test_true_certificates_are_proved(true_certificates: dict[str, Any], kind: str) -> None:
    """Catches a checker that refuses what is true: each kind and each method."""
    found = verify(writer.to_bytes(true_certificates[kind]))
    assert (found.label, found.exit_code) == ("PROVED", 0), found.detail


@pytest.mark.parametrize("activation", ["tanh", "gelu", "relu"])
@pytest.mark.parametrize("positional", [False, True])
def test_collisions_of_random_blocks(examples: SimpleNamespace, activation: str, positional: bool) -> None:
    """Catches a wrong derivative of an activation, of positions, or of several heads: Krawczyk would fail."""
    block = examples.random_block(8, [2, 1], 8, activation, 5, beta=2, positional=positional)
    assert answer(examples.collision(block)) == "PROVED"


@pytest.mark.parametrize("radius", [Fraction(1, 2**160), Fraction(1, 2**40), Fraction(1, 2**14)])
def test_collision_radius(examples: SimpleNamespace, radius: Fraction) -> None:
    """Catches a test of the inclusion in the wrong units: a box may be tiny or fairly wide, if it holds a zero."""
    block = examples.random_block(8, [2], 8, "tanh", 3, beta=2)
    assert answer(examples.collision(block, radius=radius)) == "PROVED"


def test_collision_with_formulas_and_huge_beta() -> None:
    """Catches overflow or underflow: score -x, value x, beta a million.

    The common token 0 cancels, so what decides are weights of size e^-500000.
    """
    beta = 10**6
    formula = Formula(1, (Component(parse_expression("x0")),))
    one = fractions([[1]])
    head = Head(one, -one, one, fractions([0]), fractions([0]))
    network = Network(3, 1, formula, fractions([1]), (head,), Fraction(beta), one, fractions([0]), formula)
    task = RetrievalTask("last", 1, 3, (Feature(parse_expression("1 - x0"), (3,)),), parse_expression("z0"))
    # Second: (0, x, 1). Equal iff x e^{-beta x} + e^{-beta} = 3/4 e^{-3/4 beta} + 1/2 e^{-beta/2} up to a factor
    # 1 + O(e^{-beta/2}), that is x = 1/2 + O(e^{-beta/4}).
    first = fractions([[0], [Fraction(3, 4)], [Fraction(1, 2)]])
    second = fractions([[0], [Fraction(1, 2)], [1]])
    for bits in (64, 256):
        certificate = writer.collision(
            network, task, first, second, [(1, 2, 0)], Fraction(1, 2**40), Fraction(49, 100), bits
        )
        assert answer(certificate) == "PROVED"


def test_dependent_rows(examples: SimpleNamespace) -> None:
    """Catches a checker that cannot leave out an output which the others determine, or that leaves out any."""
    block = examples.random_block(8, [2], 8, "tanh", 3, beta=2)
    certificate = examples.collision(block)
    head = block.heads[0]
    tripled = replace(
        head,
        value=np.vstack([head.value, head.value[0] + 2 * head.value[1]]),
        value_bias=np.append(head.value_bias, 1.0),
    )
    wide = replace(
        block,
        heads=(tripled,),
        output_weight=np.eye(2, 3),
    )
    # Exact linear dependence needs exact arithmetic.
    rows = fractions(head.value)
    exact = fractions(np.vstack([rows, rows[:1] + 2 * rows[1:]]))
    wide = replace(wide, heads=(replace(tripled, value=exact, value_bias=fractions(tripled.value_bias)),))
    content = {key: value for key, value in certificate.items() if key not in ("schema", "kind", "digest")}
    content["network"] = network_to_json(wide)
    assert answer(writer.seal("collision", content | {"rows": [[0, 0], [0, 1]]})) == "PROVED"
    assert answer(writer.seal("collision", content | {"rows": [[0, 0], [0, 2]]})) == "PROVED"
    assert answer(writer.seal("collision", content)) == "UNDECIDED"
    one = content | {"rows": [[0, 0]], "free": content["free"][:1]}
    assert answer(writer.seal("collision", one)) == "UNDECIDED"


@pytest.mark.parametrize("activation", ["tanh", "gelu", "relu", "identity", "sigmoid", "silu"])
@pytest.mark.parametrize("positional", [False, True])
def test_attention_agrees_with_mpmath(examples: SimpleNamespace, activation: str, positional: bool) -> None:
    """Catches a wrong score, weight, bias or activation in the checker's own evaluation."""
    block = examples.random_block(5, [2, 3], 6, activation, 11, beta=3, positional=positional)
    points = np.random.default_rng(2).uniform(size=(5, 1))
    places = [(0, t, 0) for t in range(1, 6)]
    tokens = fractions([[Fraction(float(x)) for x in row] for row in points])
    sealed = writer.collision(block, toy(5), tokens, tokens, places, Fraction(1, 2**40), Fraction(1))
    claim = schema.parse(writer.to_bytes(sealed))
    assert isinstance(claim, Collision)
    expected = examples.SecondOpinion(sealed["network"]).attention([(mpmath.mpf(float(x)),) for x in points[:, 0]])
    with ctx.workprec(200), mpmath.workdps(70):
        numbers = Balls(Work())
        network = Block(claim.network, head_layer(claim.network, Work()), numbers)
        encoded = [network.token([[ball(x)] for x in token], t) for t, token in enumerate(claim.sequences[0])]
        found = [row[0] for row in network.attend(encoded)]
        assert len(found) == len(expected) == 5
        for got, want in zip(found, expected, strict=True):
            middle, exponent = got.mid().man_exp()
            assert abs(mpmath.mpf(int(middle)) * mpmath.mpf(2) ** int(exponent) - want) < AGREEMENT
            assert got.rad() < arb(10) ** -50


@pytest.mark.parametrize("class_moves", [False, True])
def test_two_layers_agree_with_mpmath(examples: SimpleNamespace, class_moves: bool) -> None:
    """Catches a token that asks with another's query, an update without its state, a class token that stands still."""
    block = examples.random_deep_block(5, 4, 7, class_moves)
    points = np.random.default_rng(2).uniform(size=(5, 1))
    tokens = fractions([[Fraction(float(x)) for x in row] for row in points])
    sealed = writer.collision(block, toy(5), tokens, tokens, [(0, 1, 0)], Fraction(1, 2**40), Fraction(1))
    claim = schema.parse(writer.to_bytes(sealed))
    assert isinstance(claim, Collision)
    expected = examples.SecondOpinion(sealed["network"]).attention([(mpmath.mpf(float(x)),) for x in points[:, 0]])
    with ctx.workprec(200), mpmath.workdps(70):
        rows = [[[ball(x)] for x in token] for token in claim.sequences[0]]
        found = [row[0] for row in DeepBlock(claim.network, Balls(Work())).outputs(rows)]
        assert len(found) == len(expected) == 2
        for got, want in zip(found, expected, strict=True):
            middle, exponent = got.mid().man_exp()
            assert abs(mpmath.mpf(int(middle)) * mpmath.mpf(2) ** int(exponent) - want) < AGREEMENT


@pytest.mark.parametrize("class_moves", [False, True])
def test_collisions_of_two_layers(examples: SimpleNamespace, class_moves: bool) -> None:
    """Catches wrong derivatives through a token layer: Krawczyk would fail."""
    assert answer(examples.collision(examples.random_deep_block(7, 4, 3, class_moves))) == "PROVED"


def test_derivatives_agree_with_differences(examples: SimpleNamespace) -> None:
    """Catches a wrong slope in the mean value form: slopes over a small box enclose difference quotients."""
    block = examples.random_block(3, [2], 6, "gelu", 4, beta=5)
    tokens = fractions([[0], [0], [0]])
    sealed = writer.collision(block, toy(3), tokens, tokens, [(0, 1, 0), (0, 2, 0)], Fraction(1), Fraction(1))
    claim = schema.parse(writer.to_bytes(sealed))
    assert isinstance(claim, Collision)
    network = Block(claim.network, head_layer(claim.network, Work()), Balls(Work()))
    rng = np.random.default_rng(0)

    def value(point: Any, moving: bool, radius: float = 0.0) -> list[list[Any]]:
        rows = [[arb(float(x), radius), *([arb(1)] if moving else [])] for x in point]
        return network.attend([network.token([row], t) for t, row in enumerate(rows)])

    for radius in (2.0**-30, 2.0**-6, 2.0**-3):
        for _ in range(10):
            centre = np.round(rng.uniform(0.2, 0.8, size=3) * 2**20) / 2**20
            wide = value(centre, True, radius)
            a, b = (centre + radius * np.round(rng.uniform(-1, 1, size=3) * 2**10) / 2**10 for _ in range(2))
            for row, left, right in zip(wide, value(a, False), value(b, False), strict=True):
                assert row[0].contains(left[0].mid())
                change = sum((row[1 + t] * arb(float(b[t] - a[t])) for t in range(3)), arb(0))
                assert change.overlaps(right[0] - left[0])


UNIT = st.integers(-64, 64)
"""Where in a box a point lies, in 64ths of its radius."""
EXPRESSIONS = st.recursive(
    st.one_of(st.sampled_from(["1/2", "-3", "x0", "x1", "x0", "x1"])),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "*", "min", "max"]), inner, inner, inner).map(list),
        st.tuples(st.sampled_from(["-", "/", "*", "min", "max"]), inner, inner).map(list),
        st.tuples(st.sampled_from(["-", "exp", "log", "tanh", "relu", "gelu", "abs"]), inner).map(list),
        st.tuples(st.just("^"), inner, st.integers(-3, 5).map(str)).map(list),
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS, st.tuples(UNIT, UNIT), st.integers(0, 40), st.tuples(UNIT, UNIT), st.tuples(UNIT, UNIT))
def test_rows_enclose_values_and_quotients(
    data: Any, middle: tuple[int, int], level: int, left: tuple[int, int], right: tuple[int, int]
) -> None:
    """Catches a range or a slope that is too narrow, at kinks and on wide boxes above all; the second opinion: mpmath.

    f(b) - f(a) = sum_j s_j (b_j - a_j) with some s_j in the slopes over the box, for any two points of the box.
    """
    node = _Reader().expression(data, "here", {"x0", "x1"})
    centre, radius = [arb(m) / 32 for m in middle], arb(2) ** -level
    sides = arb(0, radius)
    numbers = Balls(Work())
    box = {f"x{k}": [centre[k] + sides, arb(int(k == 0)), arb(int(k == 1))] for k in (0, 1)}
    try:
        wide = evaluate(node, box, [arb(0)] * 2, numbers)
    except Undecided:  # division by an exact zero
        return
    values = []
    for point in (left, right):
        exact = {f"x{k}": Fraction(middle[k], 32) + Fraction(point[k], 64 * 2**level) for k in (0, 1)}
        with suppress(ArithmeticError, ValueError, TypeError), mpmath.workdps(80):
            values.append(
                second_value(data, {name: mpmath.mpf(x.numerator) / x.denominator for name, x in exact.items()})
            )
    if len(values) < 2 or not all(mpmath.isfinite(v) and abs(v) < 10**30 for v in values):
        return
    with ctx.workprec(300):
        a, b = (arb(mpmath.nstr(v, 75)) + arb(0, (1 + abs(arb(mpmath.nstr(v, 75)))) * arb(10) ** -60) for v in values)
        if wide[0].is_finite():
            assert wide[0].overlaps(a)
            assert wide[0].overlaps(b)
        if all(slope.is_finite() for slope in wide[1:]):
            steps = [(q - p) * radius / 64 for p, q in zip(left, right, strict=True)]
            assert sum((s * step for s, step in zip(wide[1:], steps, strict=True)), arb(0)).overlaps(b - a)


@pytest.mark.parametrize("name", ["relu", "abs", "gelu", "tanh", "exp", "sigmoid", "silu"])
def test_functions_on_boxes(name: str) -> None:
    """Catches a range or slope that misses a kink or an interior minimum: relu, abs, gelu (-0.75), silu (-1.28)."""
    numbers = Balls(Work())
    for middle in (-5, -2, -1, -0.75, -0.5, 0, 0.25, 1, 4):
        for radius in (0.0, 2.0**-25, 2.0**-10, 0.25, 0.5, 1.0, 3.0):
            x = arb(middle, radius)
            wide, slope = numbers.value(name, x), numbers.slope(name, x)
            points = [arb(middle + radius * k / 16) for k in range(-16, 17)]
            values = [numbers.value(name, point) for point in points]
            assert all(wide.overlaps(value) for value in values)
            for p, v in zip(points, values, strict=True):
                for q, w in zip(points, values, strict=True):
                    assert (slope * (q - p)).overlaps(w - v)


def second_value(node: Any, values: dict[str, Any]) -> Any:
    """An expression in mpmath, from its JSON; complex or undefined values raise."""
    if isinstance(node, str):
        return values[node] if node in values else mpmath.mpf(Fraction(node).numerator) / Fraction(node).denominator
    operator, *arguments = node
    if operator == "^":
        return second_value(arguments[0], values) ** int(arguments[1])
    parts = [second_value(argument, values) for argument in arguments]
    if operator == "log" and parts[0] <= 0:
        raise ValueError("log")
    functions: dict[str, Callable[..., Any]] = {
        "+": lambda *p: mpmath.fsum(p),
        "*": lambda *p: mpmath.fprod(p),
        "-": lambda *p: p[0] - p[1] if len(p) == 2 else -p[0],
        "/": lambda a, b: a / b,
        "min": min,
        "max": max,
        "exp": mpmath.exp,
        "log": mpmath.log,
        "tanh": mpmath.tanh,
        "relu": lambda x: max(x, mpmath.mpf(0)),
        "gelu": lambda x: x * mpmath.ncdf(x),
        "abs": abs,
    }
    return functions[operator](*parts) if len(parts) > 1 or operator not in ("min", "max") else parts[0]


def test_softmax_ranges_are_those_of_the_corners() -> None:
    """Catches weights or means that are too narrow or too wide over boxes: both are extreme at corners."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        low = [arb(float(x)) for x in rng.uniform(0.1, 1, size=3)]
        high = [a + arb(float(x)) for a, x in zip(low, rng.uniform(0, 2, size=3), strict=True)]
        values = [arb(float(x)) for x in rng.uniform(-1, 1, size=3)]
        corners = list(product(*zip(low, high, strict=True)))
        means = [sum((w * v for w, v in zip(c, values, strict=True)), arb(0)) / sum(c, arb(0)) for c in corners]
        highest = max(means, key=lambda mean: float(mean.mid()))
        assert abs(highest_mean(low, high, values) - highest) < ROUNDING
        for t, weight in enumerate(softmax(low, high)):
            shares = [float((c[t] / sum(c, arb(0))).mid()) for c in corners]
            assert abs(weight.lower() - min(shares)) < ROUNDING
            assert abs(weight.upper() - max(shares)) < ROUNDING


def test_equations_have_the_right_derivatives(examples: SimpleNamespace) -> None:
    """Catches a wrong term in Krawczyk's matrix: slopes of the difference form enclose its difference quotients."""
    block = examples.random_block(4, [2], 5, "tanh", 9, beta=4)
    tokens = fractions([[0]] * 4)
    sealed = writer.collision(block, toy(4), tokens, tokens, [(0, 1, 0), (1, 2, 0)], Fraction(1), Fraction(1))
    claim = schema.parse(writer.to_bytes(sealed))
    assert isinstance(claim, Collision)
    network = Block(claim.network, head_layer(claim.network, Work()), Balls(Work()))
    rng = np.random.default_rng(1)
    columns = {(s, t, 0): 1 for s in (0, 1) for t in (1, 2)}
    fixed = rng.uniform(size=4)

    def equations(point: Any, radius: float) -> tuple[list[arb], list[list[arb]]]:
        # Positions 1 and 2 (of both sequences) move, 3 and 4 are common.
        encoded = {}
        for s in (0, 1):
            for t in range(4):
                x = arb(float(point[s][t]), radius) if t < 2 else arb(float(fixed[t]))
                encoded[s, t] = network.token([[x, arb(1)]], t)
        return _difference(encoded, 0, [0, 1], arb(0), [0, 1], columns)

    for radius in (2.0**-30, 2.0**-20, 2.0**-10):
        centre = np.round(rng.uniform(0.2, 0.8, size=(2, 2)) * 2**16) / 2**16
        _, slopes = equations(centre, radius)
        for moved in product((0, 1), (0, 1)):
            other = centre.copy()
            other[moved] += radius
            (before, _), (after, _) = equations(centre, 0.0), equations(other, 0.0)
            for row, a, b in zip(slopes, before, after, strict=True):
                slope = row[2 * moved[0] + moved[1]]
                assert (slope * radius).overlaps(b - a)
                assert slope.rad() < LARGEST_CURVATURE * radius + ROUNDING


@pytest.mark.parametrize(("seq_len", "beta"), [(2, 100), (2, 300), (3, 200)])
def test_toy_specialists_by_bisection(examples: SimpleNamespace, seq_len: int, beta: int) -> None:
    """Catches enclosures too wide to finish: the sharpened two-head network errs by less than 0.05 everywhere."""
    network = replace(examples.specialist(toy(seq_len), Form.SHARPENED, 2), beta=Fraction(beta))
    assert answer(writer.error_below(network, toy(seq_len), Fraction(1, 20))) == "PROVED"


def test_bisection_is_sharp(examples: SimpleNamespace) -> None:
    """Catches a wrong constant anywhere: the minimum of two tokens is missed by exactly W(1/e)/beta = 0.278465/beta."""
    network, task = examples.minimum_of_two(Fraction(10))
    assert answer(writer.error_below(network, task, Fraction(2790, 100_000))) == "PROVED"
    assert answer(writer.error_below(network, task, Fraction(2780, 100_000))) == "REFUTED"


def test_bisection_without_symmetry(examples: SimpleNamespace) -> None:
    """Catches the use of the symmetry where positions matter: position 1 alone is looked at, and order is not free."""
    task = first_position()
    network = examples.specialist(task, Form.SHARPENED, 1)
    assert answer(writer.error_below(network, task, Fraction(1, 20))) == "PROVED"
    # The unsorted half of the square alone shows the error of the network that looks at both positions.
    both = examples.specialist(toy(2), Form.SHARPENED, 2)
    minimum = RetrievalTask("both", 1, 2, (Feature(parse_expression("x0"), (1,)),), parse_expression("z0 + z0"))
    assert answer(writer.error_below(both, minimum, Fraction(1, 20))) == "REFUTED"


def first_position() -> RetrievalTask:
    """The first token's coordinate."""
    return RetrievalTask("first", 1, 2, (Feature(parse_expression("x0"), (1,)),), parse_expression("z0"))


@pytest.mark.parametrize("swapped", [False, True])
def test_symmetry_needs_both(examples: SimpleNamespace, swapped: bool) -> None:
    """Catches the use of symmetry when only the network, or only the target, has it: the error sits at x(1) > x(2)."""
    symmetric, minimum = examples.minimum_of_two(Fraction(1000))
    asymmetric, task = examples.specialist(first_position(), Form.SHARPENED, 1), first_position()
    pair = (asymmetric, minimum) if swapped else (symmetric, task)
    assert answer(writer.error_below(*pair, Fraction(1, 20))) == "REFUTED"


def gibbs(count: int, beta: Fraction) -> mpmath.mpf:
    """N1: W((count - 1)/e)/beta."""
    return mpmath.lambertw((count - 1) / mpmath.e).real * beta.denominator / beta.numerator


def test_budgets_have_all_their_terms(examples: SimpleNamespace) -> None:
    """Catches a lost term: the checker's total is that of N2 and N3, up to the margin; max and min err apart."""
    toy_sharpened, toy_repaired, curved = (
        examples.toy_budget(16, Form.SHARPENED),
        examples.toy_budget(16, Form.REPAIRED),
        examples.quadratic_budget(),
    )
    delta = Fraction(curved["evidence"]["delta"][0])
    expected = [
        gibbs(16, Fraction(toy_sharpened["network"]["beta"])),
        gibbs(16, Fraction(toy_repaired["network"]["beta"])),
        gibbs(6, Fraction(curved["network"]["beta"])) + delta.numerator / mpmath.mpf(delta.denominator),
    ]
    for certificate, want in zip((toy_sharpened, toy_repaired, curved), expected, strict=True):
        total = verify(writer.to_bytes(certificate)).facts["total"]
        assert want < mpmath.mpf(total.strip("[").split()[0]) < want + 1e-4


def test_leak_through_the_gate(examples: SimpleNamespace) -> None:
    """Catches a lost leak: with beta = 5 the three positions outside S have a share of about 3 e^-5."""
    network = replace(examples.specialist(hard_gate(), Form.REPAIRED, 1), beta=Fraction(5))
    made = writer.error_below_by_budget(
        network, hard_gate(), Fraction(1, 2), [(0, 0)], [Fraction(1, 50)], Fraction(1, 1000), [1], 1, Fraction(1, 10**5)
    )
    total = mpmath.mpf(verify(writer.to_bytes(made)).facts["total"].strip("[").split()[0])
    want = 3 * mpmath.exp(-5) + mpmath.mpf(1) / 50 + mpmath.mpf(1) / 1000
    assert want < total < want + 1e-3


def test_bisection_refutes(examples: SimpleNamespace) -> None:
    """Catches a checker that cannot see a bound that is violated by far."""
    network = examples.specialist(toy(3), Form.SHARPENED, 2)
    assert answer(writer.error_below(network, toy(3), Fraction(1, 100))) == "REFUTED"


def test_witness_in_balls(examples: SimpleNamespace) -> None:
    """Catches a witness check that works for rational networks only, or that forgets the class of beta."""
    network = examples.random_block(4, [2], 5, "gelu", 8)
    sequence = fractions([[Fraction(1, 3)]] * 4)
    assert answer(writer.error_at_least(network, toy(4), Fraction(1, 10**6), sequence, False)) == "PROVED"
    assert answer(writer.error_at_least(network, toy(4), Fraction(1, 10**6), sequence, True)) == "UNDECIDED"
    assert answer(writer.error_at_least(network, toy(4), Fraction(10**6), sequence, False)) == "UNDECIDED"


@pytest.mark.parametrize(
    ("conclusion", "expected"),
    [
        (("x*x", "<", "2"), "REFUTED"),
        (("exp(log(2))", "=", "2"), "UNDECIDED"),
        (("exp(log(2))", "<", "2"), "UNDECIDED"),
        (("exp(1)", "<=", "2718281828459045/1000000000000000"), "PROVED"),
        (("exp(1)", "<=", "2718281828459046/1000000000000000"), "REFUTED"),
        (("min(x, 1) + abs(x - 2)", "=", "3/2"), "PROVED"),
        (("(x - 1)^2 / (x - 1)", "<", "-1"), "PROVED"),
        (("gelu(x)", ">", "tanh(x)"), "PROVED"),
        (("relu(x - 1)", ">=", "1p-2000"), "PROVED"),
    ],
)
def test_inequalities(conclusion: tuple[str, str, str], expected: str) -> None:
    """Catches a mistaken comparison: at x = 1/2 the conclusion fails (PROVED), holds (REFUTED), or is too close."""
    left, relation, right = conclusion
    content = {
        "claim": {"id": "TEST", "form": "published"},
        "values": {"x": "1/2"},
        "hypotheses": [["0", "<", "x"]],
        "conclusion": [to_json(left), relation, right if "p" in right else to_json(right)],
    }
    assert answer(writer.seal("counterexample", content)) == expected


def to_json(text: str) -> Any:
    return expression_to_json(parse_expression(text))


def test_false_hypotheses_are_noticed() -> None:
    """Catches a checker that looks at the conclusion only."""
    parse = parse_expression
    for hypothesis, expected in [("1", "REFUTED"), ("0", "PROVED"), ("exp(log(1/2))", "UNDECIDED")]:
        found = writer.counterexample(
            "TEST",
            "repaired",
            {"x": Fraction(1, 2)},
            [(parse(hypothesis), "<", parse("x"))],
            (parse("x"), ">", parse("1")),
        )
        assert answer(found) == expected


# The command


@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_fast_and_alone(
    examples: SimpleNamespace, tmp_path: Path, activation: str, record_property: Callable[[str, object], None]
) -> None:
    """Catches an import of numpy, torch or the rooms, and a checker that is too slow for the acceptance."""
    path = tmp_path / "pair.json"
    writer.write(path, examples.collision(examples.random_block(32, [8], 32, activation, 3)))
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        found = run(str(path))
        seconds.append(time.perf_counter() - start)
        assert found.returncode == 0, found.stdout + found.stderr
        assert found.stdout.startswith("PROVED")
    record_property("seconds", min(seconds))
    assert min(seconds) < MOST_SECONDS


def test_exit_codes(true_certificates: dict[str, Any], examples: SimpleNamespace, tmp_path: Path) -> None:
    """Catches a wrong exit code, and a worst one that gets lost among several files."""
    good, false, damaged = tmp_path / "good.json", tmp_path / "false.json", tmp_path / "damaged.json"
    writer.write(good, true_certificates["counterexample"])
    network = examples.specialist(toy(3), Form.SHARPENED, 2)
    writer.write(false, writer.error_below(network, toy(3), Fraction(1, 100)))
    damaged.write_text(good.read_text().replace("exp", "log"))
    assert run(str(good)).returncode == 0
    assert run(str(good), str(false), str(damaged)).returncode == 1
    assert run(str(good), str(damaged)).returncode == 2
    assert run(str(good), str(tmp_path / "missing.json")).returncode == 3
    assert run().returncode == 3
    assert run("--help").returncode == 3
    found = run(str(good), str(damaged), "--json")
    assert [entry["label"] for entry in json.loads(found.stdout)] == ["PROVED", "UNDECIDED"]


def test_unusable_files(tmp_path: Path) -> None:
    """Catches reading what cannot be a certificate: a huge (sparse) file, a folder, a device."""
    huge = tmp_path / "huge.json"
    with huge.open("wb") as stream:
        stream.truncate(200_000_000)
    start = time.perf_counter()
    found = verify_file(str(huge))
    assert found.exit_code == 3
    assert "200000000" in found.detail
    assert time.perf_counter() - start < 0.1
    assert verify_file(str(tmp_path)).exit_code == 3
    assert verify_file("/dev/zero").exit_code == 3
    assert verify_file("a\0b").exit_code == 3


def test_writing_is_atomic(true_certificates: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a half-written file after an interrupted write."""
    path = tmp_path / "certificate.json"
    writer.write(path, true_certificates["witness"])
    before = path.read_bytes()
    assert writer.read(path) == true_certificates["witness"]

    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writer.write(path, true_certificates["counterexample"])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
