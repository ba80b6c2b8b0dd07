"""Reduced bases of integer lattices: flint's exact LLL. What it returns is only ever used to search."""

from __future__ import annotations

from collections.abc import Sequence

import flint


def reduced(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """An LLL-reduced basis of the lattice spanned by the rows, which are linearly independent (exact integers).

    >>> reduced([[1, 0, 1000], [0, 1, 1001]])
    [[-1, 1, 1], [334, -333, 667]]
    """
    basis = flint.fmpz_mat([list(row) for row in rows]).lll()
    return [[int(entry) for entry in row] for row in basis.tolist()]
