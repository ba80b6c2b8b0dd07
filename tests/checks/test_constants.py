"""Constants against closed forms, and N4's segments against what N4's proof needs of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import basins, strategies
from checks.constants import constants, outer_gradient_l1_upper
from constructions.arithmetic import FLOAT64
from constructions.task import Feature, RetrievalTask, built_in, everywhere, hard_gate, quadratic, toy
from theory.expression_parser import parse_expression as parse
from theory.expressions import evaluate

FEW = settings(max_examples=12, deadline=None, derandomize=True, database=None)
SLACK = 1e-9
RHO_SHARE = 0.9  # of the upper bound that (B) puts on any rho


def make(features: list[str], outer: str, dimension: int = 1) -> RetrievalTask:
    chosen = tuple(Feature(parse(text), everywhere(4)) for text in features)
    return RetrievalTask("test", dimension, 4, chosen, parse(outer))


def test_toy_has_the_constants_of_the_paper() -> None:
    """Catches a wrong L_0, a rho that is not 1/2, or a wrong R_0."""
    found = constants(toy(16))
    assert found.outer_gradient_l1_upper == 2
    assert found.feature_lipschitz_upper == (1, 1)
    assert found.rho == Fraction(1, 2)
    assert found.separation_lower == Fraction(1, 2)
    assert [entry.point for entry in found.minimisers] == [(0,), (1,)]
    assert found.margin_lower is not None
    assert 0.49 < found.margin_lower <= Fraction(1, 2)


def _values(expression: Any, prefix: str, points: Any) -> Any:
    names = {f"{prefix}{axis}": points[:, axis] for axis in range(points.shape[1])}
    return evaluate(expression, names, FLOAT64) + np.zeros(len(points))


@pytest.mark.parametrize(
    "task",
    [
        toy(8),
        quadratic(3, 2, 16),
        quadratic(4, 1, 8),
        built_in("synthetic(4)", 8),
        make(["exp(x0) - 3*x0/2 - 4/5", "(x0 - 9/10)^2"], "z0*z1 + z1^3 + tanh(z0) - z1"),
        make(["abs(x0 - 1/5)", "abs(x0 - 4/5)/2"], "max(z0, 2*z1) - z1"),
    ],
)
def test_segments_have_what_n4_needs(task: RetrievalTask) -> None:
    """Catches segments that violate (B) or swing less than claimed: N4's bound would be false."""
    found = constants(task)
    assert found.basins is not None
    assert found.rho is not None
    assert found.rho > 0
    share = np.linspace(0, 1, 301)[:, None]
    paths = [
        np.array([float(a) for a in basin.start]) * (1 - share) + np.array([float(b) for b in basin.end]) * share
        for basin in found.basins
    ]
    minima = np.array([float(value.high) for value in found.minima])
    for i, feature in enumerate(task.features):
        own = _values(feature.expression, "x", paths[i])
        assert own.max() <= float(found.basins[i].feature_upper) + SLACK
        retrieved = np.tile(minima, (len(own), 1))
        retrieved[:, i] = own
        image = _values(task.outer, "z", retrieved)
        assert image.max() - image.min() >= float(found.basins[i].swing_lower) - SLACK
        assert found.basins[i].swing_lower >= found.rho
        for j, entry in enumerate(found.minimisers):
            if j != i:
                other = np.array([[float((side.low + side.high) / 2) for side in (entry.box)]])
                if entry.point is not None:
                    other = np.array([[float(x) for x in entry.point]])
                lowest = min(_values(feature.expression, "x", paths[j]).min(),
                             _values(feature.expression, "x", other).min())  # fmt: skip
                assert lowest >= own.max() - SLACK


@pytest.mark.parametrize("task", [quadratic(3, 2, 8), quadratic(8, 3, 8)])
def test_rho_is_near_its_ceiling(task: RetrievalTask) -> None:
    """Catches a needlessly small rho: (B) at the minimisers bounds it by min over i, j of f_i(x^(j)) / D here."""
    found = constants(task)
    points = np.array([[float(x) for x in entry.point or ()] for entry in found.minimisers])
    ceilings = [np.delete(_values(f.expression, "x", points), i).min() for i, f in enumerate(task.features)]
    assert found.rho is not None
    assert RHO_SHARE * min(ceilings) / task.num_targets <= found.rho <= min(ceilings) / task.num_targets + SLACK


def test_segments_are_proved_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches segments taken over from the float search: here each runs into the other minimiser, against (B)."""

    def towards(start: Any, others: Any) -> list[Any]:
        return [tuple(y - x for x, y in zip(start, other, strict=True)) for other in others if other != start]

    def longest(everything: Any, level: float) -> list[Any]:
        return [basins._Choice(own, 0, basins.STEPS) for own in everything]

    monkeypatch.setattr(basins, "_directions", towards)
    monkeypatch.setattr(basins, "_choose", longest)
    assert constants(toy(8)).basins is None
    assert constants(quadratic(2, 2, 8)).basins is None


def test_no_segments_where_minimisers_coincide() -> None:
    """Catches a positive rho for a task to which N4 does not apply."""
    found = constants(make(["(x0 - 1/2)^2", "2*(x0 - 1/2)^2"], "z0 + z1"))
    assert found.rho is None
    assert found.separation_lower is None
    assert found.margin_lower is None


def test_no_segments_where_the_outer_map_ignores_a_coordinate() -> None:
    """Catches a positive rho without A2.4's content: moving z1 must move the target."""
    assert constants(make(["x0", "1 - x0"], "z0")).rho is None


@FEW
@given(strategies.expressions("z", 2, max_leaves=5), st.integers(0, 2**32 - 1))
def test_outer_gradient_bounds_all_differences(outer: Any, seed: int) -> None:
    """Catches an L_0 that is too small, at kinks too: |F(z) - F(z')| <= L_0 |z - z'|_inf."""
    task = RetrievalTask("test", 1, 4, tuple(Feature(parse(t), everywhere(4)) for t in ("x0", "1 - x0")), outer)
    bound = float(outer_gradient_l1_upper(task))
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(size=(2, 300, 2))
    gap = np.abs(_values(outer, "z", a) - _values(outer, "z", b))
    size = np.abs(_values(outer, "z", a)) + np.abs(_values(outer, "z", b))
    assert (gap <= bound * np.abs(a - b).max(axis=1) + SLACK * (1 + size)).all()


def test_margin_is_a_lower_bound_outside_the_balls() -> None:
    """Catches an eps_0 of L7 that is too large, with and without strong convexity."""
    for task in (quadratic(3, 2, 8), make(["1 - exp(-4*(x0 - 1/4)^2)", "1 - x0^2"], "z0 + z1")):
        found = constants(task)
        assert found.separation_lower is not None
        assert found.margin_lower is not None
        rng = np.random.default_rng(7)
        points = rng.uniform(size=(20_000, task.token_dim))
        for feature, entry in zip(task.features, found.minimisers, strict=True):
            centre = np.array([float((side.low + side.high) / 2) for side in entry.box])
            far = np.linalg.norm(points - centre, axis=1) >= float(found.separation_lower)
            rise = _values(feature.expression, "x", points)[far].min() - float(entry.value.low)
            assert rise >= float(found.margin_lower) - SLACK


def test_a_single_target_has_no_pairs() -> None:
    """Catches a crash for D = 1, where R_0 has no meaning."""
    found = constants(hard_gate())
    assert found.separation_lower is None
    assert found.rho == 1
