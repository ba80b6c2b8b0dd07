"""Exact matrices that are mostly zeros, and the layers they make: read-outs that take many minima (T2.3, T1) need them.

`layer` decides by size alone: a small matrix becomes an ordinary `Dense`, a large one a `SparseLayer`, which is a Dense
whose ``weight`` is written out only when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from constructions.arithmetic import EXACT, ArrayArithmetic, ExactArray
from constructions.network import Dense
from theory.errors import InvalidInput

Row = Mapping[int, Fraction]
"""Column -> weight; columns that are not named have weight 0."""

DENSE_ENTRIES = 4096
"""Matrices with at most this many entries are stored as they are."""
MOST_ENTRIES = 4_000_000
"""No matrix with more entries is written out."""


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """Row r has the weights values[starts[r]:starts[r + 1]] in the same places of columns, which rise; no zeros."""

    shape: tuple[int, int]
    starts: ExactArray
    columns: ExactArray
    values: ExactArray

    @classmethod
    def from_rows(cls, rows: Sequence[Row], num_columns: int) -> SparseMatrix:
        """A matrix given row by row; zeros are dropped.

        >>> SparseMatrix.from_rows([{1: Fraction(2)}, {}], 3).dense().tolist()[0]
        [Fraction(0, 1), Fraction(2, 1), Fraction(0, 1)]

        Raises:
            InvalidInput: a column outside 0 .. num_columns - 1.
        """
        starts, columns, values = [0], [], []
        for row in rows:
            kept = sorted(column for column, value in row.items() if value)
            if kept and not 0 <= kept[0] <= kept[-1] < num_columns:
                raise InvalidInput.about("column", kept[-1], f"from 0 to {num_columns - 1}", "a wider matrix")
            columns += kept
            values += [Fraction(row[column]) for column in kept]
            starts.append(len(columns))
        places = np.array(columns, dtype=np.int64)
        return cls((len(rows), num_columns), np.array(starts, dtype=np.int64), places, _objects(values))

    @classmethod
    def from_array(cls, array: ExactArray) -> SparseMatrix:
        """The non-zero entries of an exact matrix."""
        rows, columns = np.nonzero(array)
        values = np.asarray(EXACT.asarray(np.asarray(array[rows, columns])))
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=array.shape[0]))])
        return cls((int(array.shape[0]), int(array.shape[1])), starts.astype(np.int64), columns, values)

    @property
    def count(self) -> int:
        """Number of non-zero entries."""
        return len(self.values)

    def rows(self) -> Iterator[dict[int, Fraction]]:
        """The rows, from the first."""
        columns, values = self.columns.tolist(), list(self.values)
        for start, end in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            yield dict(zip(columns[start:end], values[start:end], strict=True))

    def dense(self) -> ExactArray:
        """All entries. Raises InvalidInput if they are more than MOST_ENTRIES."""
        size = self.shape[0] * self.shape[1]
        if size > MOST_ENTRIES:
            raise InvalidInput.about("matrix entries", size, f"at most {MOST_ENTRIES} written out", "a larger eps")
        whole = np.full(self.shape, Fraction(0), dtype=object)
        whole[np.repeat(np.arange(self.shape[0]), np.diff(self.starts)), self.columns] = self.values
        return whole

    def product(self, x: Any, arithmetic: ArrayArithmetic) -> Any:
        """``matrix @ x`` along the last axis of x (..., columns) -> (..., rows), in any arithmetic."""
        # Rows with equally many entries are done together, entry after entry: every arithmetic can index, * and +.
        sizes = np.diff(self.starts)
        parts, order = [], []
        for size in np.unique(sizes):
            rows = np.flatnonzero(sizes == size)
            total = x[..., np.zeros(len(rows), dtype=np.int64)] * 0  # right for rows without entries
            for k in range(size):
                places = self.starts[rows] + k
                term = x[..., self.columns[places]] * arithmetic.asarray(self.values[places])
                total = total + term if k else term
            parts.append(total)
            order.append(rows)
        return arithmetic.concatenate(parts)[..., np.argsort(np.concatenate(order))]


class SparseLayer(Dense):
    """A `Dense` given by the non-zero entries of its weight; the bias does not depend on the position."""

    entries: SparseMatrix

    def __init__(self, entries: SparseMatrix, bias: ExactArray, activation: str = "identity") -> None:
        object.__setattr__(self, "entries", entries)
        object.__setattr__(self, "bias", bias)
        object.__setattr__(self, "activation", activation)
        object.__setattr__(self, "copies", None)
        self.check()

    @property
    def weight(self) -> ExactArray:
        """Written out: for small networks only, see `SparseMatrix.dense`."""
        return self.entries.dense()

    @property
    def shape(self) -> tuple[int, int]:
        return self.entries.shape


def layer(rows: Sequence[Row], num_columns: int, bias: Sequence[Fraction | int], activation: str = "identity") -> Dense:
    """A layer from rows and biases, stored in the way that its size asks for."""
    entries, offsets = SparseMatrix.from_rows(rows, num_columns), _objects([Fraction(entry) for entry in bias])
    if entries.shape[0] * entries.shape[1] <= DENSE_ENTRIES:
        return Dense(entries.dense(), offsets, activation)
    return SparseLayer(entries, offsets, activation)


def entries_of(dense: Dense) -> SparseMatrix:
    """The non-zero weights of any layer."""
    return dense.entries if isinstance(dense, SparseLayer) else SparseMatrix.from_array(dense.weight)


def _objects(values: Sequence[Fraction]) -> ExactArray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
