"""Honest pairs on the grid 1/M: how close, how far apart, and on the grid indeed."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

from checks import verify
from checks.certificates import writer
from checks.constants import constants
from checks.lattice_pairs import lattice_pair
from checks.lattices import reduced
from constructions.adversary.grid_blocks import small_block
from constructions.adversary.lattice import NoSolution, nearest_plane
from constructions.task import quadratic, toy

GRID_BITS = 40
ALWAYS, USUAL, FINE = Fraction(1, 10**14), Fraction(1, 10**19), Fraction(1, 10**60)
SECONDS = 2.0
HIGH_EXPONENT = 1.5


@pytest.mark.parametrize(
    ("targets", "dim", "heads", "size", "beta"), [(2, 1, 1, 1, 2), (2, 1, 1, 3, 10), (4, 1, 1, 6, 2), (4, 2, 2, 3, 2)]
)
def test_grid_pairs_at_128_tokens(targets: int, dim: int, heads: int, size: int, beta: int) -> None:
    """Would catch: a lattice whose vectors do not cancel the residual, a lost gap, a slow search."""
    task = quadratic(targets, dim, 128)
    block = small_block(128, dim, heads, size, Fraction(beta), 1)
    begin = time.process_time()
    pair = lattice_pair(block, task, GRID_BITS)
    assert time.process_time() - begin < SECONDS
    assert pair.distance_upper <= USUAL
    assert pair.distance_upper < pair.rounded_upper
    assert pair.gap_lower >= Fraction(pair.continuous.gap) / 2 > 0
    assert verify.verify(writer.to_bytes(pair.certificate())).label == "PROVED"


def test_faint_outputs() -> None:
    """Would catch: outputs that float64 cannot see left unmet. 16 of them, the faintest 10^-12 of the strongest."""
    task = quadratic(3, 2, 128)
    pair = lattice_pair(small_block(128, 2, 2, 8, Fraction(1), 1), task, GRID_BITS)
    assert pair.distance_upper <= ALWAYS
    assert pair.gap_lower >= Fraction(pair.continuous.gap) / 2 > 0


def test_tokens_lie_on_the_grid_and_differ_on_free_positions_only() -> None:
    """Would catch: rounding that leaves the grid or the segment."""
    task = toy(64)
    pair = lattice_pair(small_block(64, 1, 1, 2, Fraction(2), 0), task, GRID_BITS)
    basins = constants(task).basins
    assert basins is not None
    on_grid = 0
    for a, b in zip(pair.first[:, 0], pair.second[:, 0], strict=True):
        if a != b:
            shares = [
                [(x - basin.start[0]) / (basin.end[0] - basin.start[0]) * pair.grid for x in (a, b)] for basin in basins
            ]
            assert any(all(s.denominator == 1 and 0 <= s <= pair.grid for s in both) for both in shares)
            on_grid += 1
    assert 1 < on_grid <= pair.free


def test_finer_grids_reach_sixty_digits_and_more() -> None:
    """Would catch: derivatives or Babai coefficients that stop at float64's digits, distances claimed, not enclosed."""
    pair = lattice_pair(small_block(128, 1, 1, 3, Fraction(2), 0), quadratic(4, 1, 128), 120)
    assert pair.distance_upper <= FINE
    assert pair.reached_exponent > HIGH_EXPONENT
    assert verify.verify(writer.to_bytes(pair.certificate())).label == "PROVED"


def test_segment_with_hardly_any_weight() -> None:
    """Would catch: outputs invisible in float64 (case 2b, beta = 400) taken for unsolvable, or for exactly equal."""
    pair = lattice_pair(small_block(128, 1, 1, 3, Fraction(400), 2), quadratic(4, 1, 128), GRID_BITS)
    assert 0 < pair.distance_upper <= ALWAYS
    assert pair.gap_lower >= Fraction(pair.continuous.gap) / 2 > 0
    assert verify.verify(writer.to_bytes(pair.certificate())).label == "PROVED"


def test_no_solution_is_said() -> None:
    """Would catch: an endless search or a traceback where equations outnumber the unknowns by far."""
    with pytest.raises(NoSolution, match="longer T"):
        lattice_pair(small_block(12, 1, 2, 16, Fraction(2), 0), quadratic(3, 1, 12), GRID_BITS)


def test_nearest_plane_finds_the_closest_point_of_a_skew_lattice() -> None:
    """Would catch: Babai without the second pass, rows and columns exchanged."""
    basis = reduced([[1, 0, 123456789], [0, 1, 987654321]])
    goal = [3, -5, 3 * 123456789 - 5 * 987654321 + 1]
    assert nearest_plane(basis, goal) == [3, -5, goal[2] - 1]
