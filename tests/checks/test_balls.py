"""Balls must contain the truth: against rationals, mpmath, float64, torch and sampled points of wide balls."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import balls, strategies
from checks.balls import BALLS
from checks.jets import gelu_slope
from constructions.arithmetic import EXACT, FLOAT64, TorchArithmetic, fractions
from constructions.evaluate import attention, evaluate, target
from constructions.task import quadratic, toy
from theory.errors import InexactOperation, InvalidInput, NotFinite
from theory.expressions import RATIONAL
from theory.expressions import evaluate as evaluate_expression
from theory.ledger import Proved, Refuted, Undecided

FEW = settings(max_examples=60, deadline=None, derandomize=True, database=None)
WIDE_SLACK = 1e-7  # radii carry 30 bits, and each end of a wide ball is rounded outwards a few times
FLOAT_SLACK = 1e-11
MPMATH_DIGITS = 60
numbers = st.fractions(min_value=-20, max_value=20, max_denominator=1000)


def _mpmath(name: str, x: Fraction) -> mpmath.mpf:
    table = {
        "exp": mpmath.exp,
        "tanh": mpmath.tanh,
        "erf": mpmath.erf,
        "gelu": lambda t: t / 2 * mpmath.erfc(-t / mpmath.sqrt(2)),
        "log": mpmath.log,
        "lambert_w": lambda t: mpmath.lambertw(t).real,
        "relu": lambda t: max(t, mpmath.mpf(0)),
        "sigmoid": lambda t: 1 / (1 + mpmath.exp(-t)),
        "silu": lambda t: t / (1 + mpmath.exp(-t)),
        "absolute": abs,
    }
    with mpmath.workdps(MPMATH_DIGITS):
        return table[name](mpmath.mpf(x.numerator) / x.denominator)


def _as_mp(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def _inside(ball: Any, value: mpmath.mpf) -> bool:
    with mpmath.workdps(MPMATH_DIGITS):
        slack = abs(value) * mpmath.mpf(10) ** (5 - MPMATH_DIGITS)
        return bool(_as_mp(balls.lower(ball)) - slack <= value <= _as_mp(balls.upper(ball)) + slack)


EVERYWHERE = ("exp", "tanh", "erf", "gelu", "relu", "absolute", "sigmoid", "silu")


@FEW
@given(st.sampled_from([*EVERYWHERE, "log", "lambert_w"]), numbers, st.sampled_from([53, 128]))
def test_functions_at_points_contain_mpmath(name: str, x: Fraction, bits: int) -> None:
    """Catches a wrong formula or a radius that is too small, at two precisions."""
    if name in ("log", "lambert_w"):
        x = abs(x) + Fraction(1, 1000)
    with balls.precision(bits):
        assert _inside(getattr(balls, name)(balls.exact(x)), _mpmath(name, x))


@FEW
@given(st.sampled_from(EVERYWHERE), numbers, numbers, st.lists(st.fractions(0, 1), min_size=5, max_size=5))
def test_functions_of_wide_balls_contain_samples_and_are_tight(name: str, a: Fraction, b: Fraction, at: Any) -> None:
    """Catches a missed interior minimum (gelu, silu, abs) and flint's own loose wide balls (tanh of [-10, 10])."""
    low, high = min(a, b), max(a, b)
    result = getattr(balls, name)(balls.between(low, high))
    samples = [_mpmath(name, low + share * (high - low)) for share in [Fraction(0), Fraction(1), *at]]
    assert all(_inside(result, value) for value in samples)
    grid = [float(_mpmath(name, low + Fraction(k, 400) * (high - low))) for k in range(401)]
    step = float(high - low) / 400
    slope = max(1.2, float(_mpmath("exp", high)) if name == "exp" else 1.2)
    allowed = slope * step + WIDE_SLACK * (1 + max(map(abs, grid)))
    assert float(balls.lower(result)) >= min(grid) - allowed
    assert float(balls.upper(result)) <= max(grid) + allowed


@FEW
@given(numbers, numbers, st.integers(-4, 9), st.fractions(0, 1))
def test_powers_of_wide_balls(a: Fraction, b: Fraction, exponent: int, share: Fraction) -> None:
    """Catches flint's nan for (0 +- 1)^2, even powers that dip below 0, and a pole that is not noticed."""
    low, high = min(a, b), max(a, b)
    ball = balls.between(low, high)
    if exponent < 0 and low <= 0 <= high:
        with pytest.raises(NotFinite):
            balls.power(ball, exponent)
        return
    point = low + share * (high - low)
    result = balls.power(ball, exponent)
    if point or exponent >= 0:
        assert balls.contains(result, point**exponent)
    if exponent >= 0 and exponent % 2 == 0:
        largest = max(abs(low), abs(high)) ** exponent
        assert balls.lower(result) >= -Fraction(WIDE_SLACK) * largest
        assert balls.upper(result) <= largest * (1 + Fraction(WIDE_SLACK))


@FEW
@given(numbers, numbers, numbers, numbers, st.fractions(0, 1), st.fractions(0, 1))
def test_quotients_of_wide_balls(a: Fraction, b: Fraction, c: Fraction, d: Fraction, s: Fraction, t: Fraction) -> None:
    """Catches a divisor through zero that goes unnoticed, and loose quotients."""
    top, bottom = sorted((a, b)), sorted((c, d))
    numerator, divisor = balls.between(*top), balls.between(*bottom)
    if bottom[0] <= 0 <= bottom[1]:
        with pytest.raises(NotFinite):
            balls.divide(numerator, divisor)
        return
    x, y = top[0] + s * (top[1] - top[0]), bottom[0] + t * (bottom[1] - bottom[0])
    result = balls.divide(numerator, divisor)
    assert balls.contains(result, x / y)
    corners = [u / v for u in top for v in bottom]
    size = Fraction(WIDE_SLACK) * (1 + max(map(abs, corners))) * 10 / min(map(abs, bottom))
    assert balls.lower(result) >= min(corners) - size
    assert balls.upper(result) <= max(corners) + size


@pytest.mark.parametrize("function", [balls.log, lambda x: balls.divide(balls.exact(1), x)])
@pytest.mark.parametrize("ball", [balls.exact(0), balls.between(-1, 1), balls.between(0, 1)])
def test_singular_values_raise(function: Any, ball: Any) -> None:
    """Catches a non-finite ball that leaves the module."""
    with pytest.raises(NotFinite):
        function(ball)


def test_non_finite_balls_raise_everywhere() -> None:
    """Catches nan or infinity passed on by relu, min, abs, or read as an end point."""
    for bad in (flint.arb("nan"), flint.arb("inf"), flint.arb(1) / 0):
        for function in (balls.relu, balls.absolute, balls.exp, balls.lower, balls.middle):
            with pytest.raises(NotFinite):
                function(bad)
        for reduce in (balls.minimum, balls.maximum):
            with pytest.raises(NotFinite):
                reduce([balls.exact(1), bad])


def test_gelu_turn_brackets_the_only_minimum() -> None:
    """Catches a bracket that misses the zero of gelu': the wide-ball minimum would then be wrong."""
    with balls.precision(128):
        left, right = (balls.exact(end) for end in balls._GELU_TURN)
        assert gelu_slope(left) < 0 < gelu_slope(right)


def test_silu_turn_brackets_the_only_minimum() -> None:
    """Catches a bracket that misses the zero of silu', which has the sign of e^x + x + 1."""
    with balls.precision(128):
        left, right = (balls.exact(end) for end in balls._SILU_TURN)
        assert balls.exp(left) + left + 1 < 0 < balls.exp(right) + right + 1


@FEW
@given(st.fractions(-5, 5), st.fractions(0, 1), st.sampled_from([53, 128]))
def test_ends_are_exact(value: Fraction, width: Fraction, bits: int) -> None:
    """Catches end points rounded inwards."""
    with balls.precision(bits):
        ball = balls.between(value, value + width)
        assert balls.lower(ball) <= value
        assert value + width <= balls.upper(ball)
        assert balls.middle(ball) + balls.radius(ball) == balls.upper(ball)


def test_tiny_and_huge_values() -> None:
    """Catches memory exhaustion on e^(-10^9) and on e^(e^30); a tiny positive value must not be bounded by 0 above."""
    tiny = balls.exp(balls.exact(-(10**9)))
    assert balls.lower(tiny) == 0 < balls.upper(tiny) < Fraction(1, 2**1000)
    with pytest.raises(NotFinite):
        balls.upper(balls.exp(balls.exact(10**9)))
    for value in (Fraction(3, 2**20_001), Fraction(-3, 2**20_001)):  # between two multiples of the smallest unit
        assert balls.lower(balls.exact(value)) < value < balls.upper(balls.exact(value))


def test_precision_is_restored_and_checked() -> None:
    """Catches a precision that leaks out of the block when it raises."""
    before = flint.ctx.prec

    def fails() -> None:
        with balls.precision(300):
            assert flint.ctx.prec == 300
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert flint.ctx.prec == before
    with pytest.raises(InvalidInput, match="bits"), balls.precision(3):
        pass


def test_decide_doubles_until_decided() -> None:
    """Catches a loop that gives up early, ignores NotFinite, or calls the undecidable decided."""
    seen: list[int] = []

    def needs_many_bits() -> Proved | Undecided:
        seen.append(flint.ctx.prec)
        difference = balls.exp(balls.exact(1)) - balls.exact("2.71828182845904523536028747135266249775724709369995957")
        return Proved() if balls.surely_nonzero(difference) else Undecided("too close", "more bits")

    assert isinstance(balls.decide(needs_many_bits), Proved)
    assert seen == [64, 128, 256][: len(seen)]
    assert len(seen) > 1
    never = balls.decide(lambda: Undecided("equal", "none"), 64, 256)
    assert isinstance(never, Undecided)
    assert "256 bits" in never.detail
    assert isinstance(balls.decide(lambda: Refuted("x")), Refuted)

    def singular() -> Proved:
        balls.log(balls.exact(0))
        return Proved()

    assert isinstance(balls.decide(singular, 64, 64), Undecided)


@FEW
@given(strategies.expressions("x", 2), st.tuples(strategies.unit_fractions(), strategies.unit_fractions()))
def test_expressions_contain_rational_values(expression: Any, point: tuple[Fraction, Fraction]) -> None:
    """Catches any operation whose ball misses the exact rational value, at a point and on boxes around it."""
    names = {"x0": point[0], "x1": point[1]}
    at_point = evaluate_expression(expression, {n: balls.exact(v) for n, v in names.items()}, BALLS)
    boxes = {n: balls.between(v - Fraction(1, 7), v + Fraction(1, 3)) for n, v in names.items()}
    on_box = evaluate_expression(expression, boxes, BALLS)
    try:
        value = evaluate_expression(expression, names, RATIONAL)
    except InexactOperation:
        floats = {n: np.float64(v) for n, v in names.items()}
        with np.errstate(all="ignore"):
            estimate = float(evaluate_expression(expression, floats, FLOAT64))
        size = 1 + abs(float(balls.middle(at_point))) if balls.upper(at_point) < 10**200 else 0
        if size and np.isfinite(estimate):
            assert abs(estimate - float(balls.middle(at_point))) <= 1e-6 * size + float(balls.radius(at_point))
        assert on_box.overlaps(at_point)
        return
    assert balls.contains(at_point, value)
    assert balls.contains(on_box, value)


def _average(scores: Any, values: Any) -> float:
    floats = np.asarray([float(score) for score in scores])
    weights = np.exp(floats - floats.max())
    return float(weights @ np.asarray([float(value) for value in values]) / weights.sum())


@FEW
@given(st.data(), st.integers(1, 5), st.sampled_from([1, 10, 1000]))
def test_wide_attention_is_the_exact_range(data: Any, length: int, scale: int) -> None:
    """Catches a wrong threshold: the enclosure must contain samples, and both its ends must be attained at vertices."""
    draw = st.lists(st.tuples(st.integers(-8, 8), st.integers(1, 8)), min_size=length, max_size=length)
    scores = [(Fraction(a * scale, 8), Fraction((a + w) * scale, 8)) for a, w in data.draw(draw)]
    values = [(Fraction(a, 8), Fraction(a + w, 8)) for a, w in data.draw(draw)]
    result = BALLS.attend(
        balls.box([s[0] for s in scores], [s[1] for s in scores]),
        balls.box([[v[0]] for v in values], [[v[1]] for v in values]),
    )[0]
    vertices = [_average(choice, [v[1] for v in values]) for choice in product(*scores)]
    low_vertices = [_average(choice, [v[0] for v in values]) for choice in product(*scores)]
    assert abs(float(balls.upper(result)) - max(vertices)) <= WIDE_SLACK * scale
    assert abs(float(balls.lower(result)) - min(low_vertices)) <= WIDE_SLACK * scale
    assert float(balls.upper(result)) >= max(vertices) - FLOAT_SLACK
    assert float(balls.lower(result)) <= min(low_vertices) + FLOAT_SLACK


def test_wide_attention_orders_nearly_equal_values_exactly() -> None:
    """Catches a float sort of the values: the supremum then misses the threshold between values 2^-150 apart."""
    with balls.precision(256):
        gap = Fraction(1, 2**150)
        scores = balls.box([Fraction(-1), Fraction(-1)], [Fraction(1), Fraction(1)])
        values = BALLS.asarray(fractions([[Fraction(1)], [1 + gap]]))
        heavy = balls.exp(scores[1].upper()) / (balls.exp(scores[1].upper()) + balls.exp(scores[0].lower()))
        assert balls.upper(BALLS.attend(scores, values)[0]) >= 1 + balls.lower(heavy) * gap


@FEW
@given(st.data(), st.sampled_from([Fraction(0), Fraction(1, 2**30), Fraction(1, 2**10), Fraction(1)]))
def test_attention_on_boxes_contains_points(data: Any, width: Fraction) -> None:
    """Catches an average that is too narrow, on narrow (centred form) and wide (exact range) boxes alike."""
    length = data.draw(st.integers(1, 5))
    unit = st.lists(strategies.unit_fractions(), min_size=length, max_size=length)
    beta = data.draw(strategies.inverse_temperatures())
    scores, values, shifts = (data.draw(unit) for _ in range(3))
    with balls.precision(128):
        inside = BALLS.attend(
            BALLS.asarray(fractions([beta * (s + width * h) for s, h in zip(scores, shifts, strict=True)])),
            BALLS.asarray(fractions([[v + width * h] for v, h in zip(values, shifts, strict=True)])),
        )[0]
        outside = BALLS.attend(
            balls.box([beta * s for s in scores], [beta * (s + width) for s in scores]),
            balls.box([[v] for v in values], [[v + width] for v in values]),
        )[0]
        assert balls.upper(inside.mid()) <= balls.upper(outside)
        assert balls.lower(outside) <= balls.lower(inside.mid())


@FEW
@given(st.data())
def test_networks_agree_in_all_arithmetics(data: Any) -> None:
    """Catches an arithmetic that differs from the others on any layer, head, activation or batch axis."""
    network = data.draw(strategies.networks())
    point = st.lists(strategies.unit_fractions(), min_size=network.token_dim, max_size=network.token_dim)
    tokens = fractions(data.draw(st.lists(point, min_size=network.seq_len, max_size=network.seq_len)))
    with balls.precision(192):
        exact = evaluate(network, BALLS.asarray(tokens), BALLS)
        batch = evaluate(network, np.stack([BALLS.asarray(tokens)] * 2), BALLS)
        seen = attention(network, BALLS.asarray(tokens), BALLS)
    truth = float(balls.middle(exact[0]))
    assert balls.contains(batch[1, 0], balls.middle(exact[0]))
    floats = tokens.astype(np.float64)
    scale = 1 + max(float(abs(balls.middle(entry))) for entry in seen) + abs(truth)
    allowed = FLOAT_SLACK * scale * (1 + float(network.beta)) * 100
    if allowed < 1:
        assert abs(evaluate(network, floats, FLOAT64)[0] - truth) <= allowed
        assert abs(float(evaluate(network, torch.tensor(floats), TorchArithmetic())[0]) - truth) <= allowed


@FEW
@given(st.data())
def test_targets_in_balls_contain_the_rational_target(data: Any) -> None:
    """Catches a wrong index set or minimum in the ball instance."""
    task = data.draw(st.sampled_from([toy(4), quadratic(2, 2, 5)]) | strategies.tasks())
    tokens = data.draw(strategies.token_sequences(task))
    assert balls.contains(target(task, BALLS.asarray(tokens), BALLS), target(task, tokens, EXACT))


def test_uniform_attention_is_exact() -> None:
    """Catches a softmax of equal scores that is not the mean."""
    scores, values = fractions([3, 3, 3]), fractions([[1], [2], [Fraction(1, 3)]])
    ball = BALLS.attend(BALLS.asarray(scores), BALLS.asarray(values))[0]
    assert balls.contains(ball, EXACT.attend(scores, values)[0])
    assert balls.radius(ball) < Fraction(1, 2**45)
