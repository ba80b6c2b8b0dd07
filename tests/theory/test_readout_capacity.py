"""Read-out capacity: would catch a path bound that some network exceeds, a wrong exponent, a lost factor."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import sympy

from theory import readout_capacity as rc
from theory.errors import InvalidInput

Matrix = tuple[tuple[int, ...], ...]


def paths(masks: list[Matrix]) -> int:
    """Input-output paths of a network whose layers have these 0/1 masks (rows: outputs)."""
    counts = [1] * len(masks[0][0])
    for mask in masks:
        counts = [sum(m * c for m, c in zip(row, counts, strict=True)) for row in mask]
    return sum(counts)


def random_mask(rng: random.Random, rows: int, columns: int, density: float) -> Matrix:
    return tuple(tuple(int(rng.random() < density) for _ in range(columns)) for _ in range(rows))


@pytest.mark.parametrize("layers", [1, 2, 3, 4, 5, 6])
def test_paths_upper_bounds_every_mask(layers: int) -> None:
    """Catches a wrong number of factors or a missing factor E for odd depth."""
    rng = random.Random(layers)
    for _ in range(300):
        widths = [rng.randint(1, 4) for _ in range(layers)] + [1]
        density = rng.choice((0.3, 0.7, 1.0))
        masks = [random_mask(rng, widths[i + 1], widths[i], density) for i in range(layers)]
        total = sum(sum(map(sum, mask)) for mask in masks)
        assert paths(masks) <= rc.paths_upper(widths[0], total, layers)


def test_mutated_path_bounds_are_exceeded() -> None:
    """Must fail: one factor less at even depth (the paper's k/4 is such a loss), odd depth without the factor E."""
    width, total = 30, 3 * 30**2 + 30
    full = tuple((1,) * width for _ in range(width))
    to_output: Matrix = ((1,) * width,)
    found = paths([full, full, full, to_output])
    assert found == width**4 <= rc.paths_upper(width, total, 4)
    assert found > rc.paths_upper(width, total, 2)
    # depth 3, p hidden units per level: p^2 E paths with about p^2 weights in the middle, far above M alone
    three = [full, full, to_output]
    assert 2 * width**2 + width < paths(three) <= rc.paths_upper(width, 2 * width**2 + width, 3)


def test_two_layer_lipschitz_constant_is_attained() -> None:
    """Catches a constant above or below nnz(U): with all weights w and the identity activation it is w^2 nnz."""
    inputs, width, weight = 5, 7, Fraction(1, 2)
    moved = sum(weight * sum(weight * 1 for _ in range(inputs)) for _ in range(width))
    assert moved == rc.lipschitz_upper(inputs * width, weight)
    assert rc.lipschitz_upper(35) == rc.paths_upper(5, 35, 2) == 35


def test_parameters_lower_inverts_the_lipschitz_bound() -> None:
    """Catches a wrong power of the weight bound; L4 with sqrt(n) is weaker at equal distance vectors."""
    gap, distance = Fraction(3, 7), Fraction(1, 10**6)
    for weight in (Fraction(1), Fraction(2), Fraction(1, 3)):
        needed = rc.parameters_lower(gap, distance, weight)
        assert needed * weight**2 * distance == gap
    # v_1 - v_2 = (A, 0, .., 0): both norms equal A, so N5's bound is sqrt(n) times L4's.
    assert rc.parameters_lower_published(gap, distance, 9) * 3 == sympy.Rational(3 * 10**6, 7)


@pytest.mark.parametrize("layers", [2, 3, 4, 5, 7])
@pytest.mark.parametrize("weight", [Fraction(1), Fraction(3, 2)])
def test_deep_parameters_lower_is_the_least_number(layers: int, weight: Fraction) -> None:
    """Catches an integer root off by one: M reaches the ratio, M - 1 does not."""
    for ratio in (1, 2, 97, 10**4, 10**12 + 7):
        found = rc.deep_parameters_lower(Fraction(ratio), Fraction(1), 6, layers, weight)
        assert weight**layers * rc.paths_upper(6, found, layers) >= ratio
        assert weight**layers * rc.paths_upper(6, found - 1, layers) < ratio
    assert rc.deep_parameters_lower(Fraction(0), Fraction(1), 6, layers) == 0


def test_error_lower_trades_capacity_for_error() -> None:
    """Catches a missing half, a sign, and an error bound below 0."""
    gap, distance = Fraction(1), Fraction(1, 1000)
    assert rc.error_lower(gap, Fraction(0), 10**9) == Fraction(1, 2)
    assert rc.error_lower(gap, distance, 500) == Fraction(1, 4)
    assert rc.error_lower(gap, distance, 1000) == rc.error_lower(gap, distance, 5000) == 0


def test_bad_input_is_refused() -> None:
    """Catches distance 0 (an exact collision has no finite bound), floats, negative counts, depth 0 and 1."""
    with pytest.raises(InvalidInput, match="distance"):
        rc.parameters_lower(Fraction(1), Fraction(0))
    with pytest.raises(InvalidInput, match="target_gap"):
        rc.parameters_lower(0.5, Fraction(1))
    with pytest.raises(InvalidInput, match="num_parameters"):
        rc.error_lower(Fraction(1), Fraction(1), -1)
    with pytest.raises(InvalidInput, match="layers"):
        rc.paths_upper(3, 10, 0)
    with pytest.raises(InvalidInput, match="layers"):
        rc.deep_parameters_lower(Fraction(1), Fraction(1), 3, 1)
