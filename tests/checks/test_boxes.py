"""Float intervals contain what they claim: every operation against exact rationals or balls."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import balls, boxes
from checks.boxes import Boxes
from checks.centred import softmax_average, softmax_weights
from theory.errors import InvalidInput, NotFinite

finite = st.floats(-1e6, 1e6) | st.floats(-1e-300, 1e-300) | st.sampled_from([0.0, 1.0, 2.0**-1074, -(2.0**-1022)])
pairs = st.tuples(finite, finite).map(sorted)
EXP_WIDTH = 1e-9


def interval(ends: Any) -> Boxes:
    return Boxes(np.array([ends[0]]), np.array([ends[1]]))


def holds(box: Boxes, value: Fraction) -> bool:
    return Fraction(float(box.lo.ravel()[0])) <= value <= Fraction(float(box.hi.ravel()[0]))


@settings(max_examples=300, deadline=None)
@given(pairs, pairs, st.floats(0, 1), st.floats(0, 1))
def test_sums_and_products_contain_the_exact_result(a: Any, b: Any, s: float, t: float) -> None:
    """Catches rounding to nearest passed off as outward, also at subnormal numbers and signs."""
    x = Fraction(a[0]) + Fraction(s) * (Fraction(a[1]) - Fraction(a[0]))
    y = Fraction(b[0]) + Fraction(t) * (Fraction(b[1]) - Fraction(b[0]))
    left, right = interval(a), interval(b)
    assert holds(left + right, x + y)
    assert holds(left - right, x - y)
    assert holds(left * right, x * y)
    assert holds(left * float(b[0]), x * Fraction(b[0]))
    assert holds(boxes.absolute(left), abs(x))
    assert holds(boxes.power(left, 3), x**3)
    assert holds(boxes.power(left, 2), x**2)
    if b[0] > 1e-3:
        assert holds(boxes.quotient(left, right), x / y)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(pairs, st.fractions(-100, 100, max_denominator=97)), min_size=1, max_size=40), st.data())
def test_dot_products_contain_the_exact_result(rows: Any, data: st.DataObject) -> None:
    """Catches a missing a priori bound: sums of many terms with cancellation, weights that are no floats."""
    x = Boxes(np.array([[ends[0] for ends, _ in rows]]), np.array([[ends[1] for ends, _ in rows]]))
    weight = boxes.from_exact(np.array([[w] for _, w in rows], dtype=object))
    exact = Fraction(0)
    for ends, w in rows:
        exact += Fraction(data.draw(st.sampled_from(ends))) * w
    assert holds(boxes.product(x, weight), exact)
    assert holds(boxes.add_up(x, axis=-1), sum(Fraction(ends[0]) for ends, _ in rows))


@settings(max_examples=300, deadline=None)
@given(st.floats(-750, 700) | st.floats(-1e-9, 1e-9) | st.sampled_from([0.0, -700.0, -745.2, 1e-320]))
def test_exponential_contains_the_true_value_and_is_narrow(x: float) -> None:
    """Catches an underestimated error of the series or of the squarings."""
    found = boxes.exponential(interval((x, x)))
    with balls.precision(200):
        true = balls.exp(balls.exact(x))
        assert holds(found, balls.lower(true))
        assert holds(found, balls.upper(true))
    if x > -690:
        assert found.hi[0] - found.lo[0] <= EXP_WIDTH * found.hi[0]


def test_a_shorter_series_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutant of the test above: with 8 terms instead of 20 the claimed enclosure of e^650 is wrong."""
    monkeypatch.setattr(boxes, "EXP_TERMS", 8)
    found = boxes.exponential(interval((650.0, 650.0)))
    with balls.precision(200):
        assert not holds(found, balls.middle(balls.exp(balls.exact(650))))


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-3, 0.3, 5.0, 400.0]))
def test_softmax_ranges_contain_all_members(count: int, seed: int, width: float) -> None:
    """Catches a wrong threshold order, or weights whose ranges lose digits to cancellation (wide scores)."""
    draw = np.random.default_rng(seed)
    low, values = draw.normal(size=count) * 20, draw.normal(size=(count, 2))
    high, upper = low + width * draw.random(count), values + width * draw.random((count, 2))
    mean = softmax_average(Boxes(low, high), Boxes(values, upper))
    shares = softmax_weights(Boxes(low, high))
    for _ in range(10):
        corner = draw.integers(0, 2, size=count) == 1
        scores = np.where(corner, high, low)
        chosen = np.where(draw.integers(0, 2, size=(count, 2)) == 1, upper, values)
        with balls.precision(400):
            rows = balls.BALLS.asarray(chosen)
            exact = balls.BALLS.attend(balls.BALLS.asarray(scores), rows)
            ones = balls.BALLS.attend(balls.BALLS.asarray(scores), balls.BALLS.asarray(np.eye(count)))
            for k in range(2):
                assert Fraction(mean.lo[k]) <= balls.upper(exact[k])
                assert balls.lower(exact[k]) <= Fraction(mean.hi[k])
            for t in range(count):
                assert Fraction(shares.lo[t]) <= balls.upper(ones[t])
                assert balls.lower(ones[t]) <= Fraction(shares.hi[t])


def test_limits_are_named() -> None:
    """Catches infinities that pass unseen: overflow of exp, a divisor around 0, weights outside the float range."""
    with pytest.raises(NotFinite, match="exp"):
        boxes.exponential(interval((0.0, 701.0)))
    with pytest.raises(NotFinite, match="divisor"):
        boxes.quotient(interval((1.0, 2.0)), interval((-1.0, 1.0)))
    with pytest.raises(InvalidInput, match="weight"):
        boxes.from_exact(np.array([Fraction(1, 2**1050)], dtype=object))
