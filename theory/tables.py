"""The paper's printed figures as exact rationals, and what can be computed from them (E1 ... E7)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import Any

from theory.errors import InvalidInput
from theory.exact import parse_exact

PERCENT = frozenset({"table8", "table9"})
ACCURACY = frozenset({"table6", "table7", "table8", "table9"})


@dataclass(frozen=True)
class Table:
    """One printed table: ``value[row][column]`` for ``heads[row]`` and ``seq_lens[column]``; ``std`` where printed."""

    name: str
    seq_lens: tuple[int, ...]
    heads: tuple[int, ...]
    value: tuple[tuple[Fraction, ...], ...]
    std: tuple[tuple[Fraction, ...], ...] | None

    @property
    def errors(self) -> tuple[tuple[Fraction, ...], ...]:
        """NMSE as printed, or 1 - accuracy."""
        if self.name not in ACCURACY:
            return self.value
        unit = 100 if self.name in PERCENT else 1
        return tuple(tuple(1 - entry / unit for entry in row) for row in self.value)

    def errors_at(self, heads: int) -> tuple[Fraction, ...]:
        """The row of errors for one head count, in order of T."""
        if heads not in self.heads:
            raise InvalidInput.about("heads", heads, f"a row of {self.name}: {self.heads}", "another row")
        return self.errors[self.heads.index(heads)]


@cache
def published(name: str) -> Table:
    """A table of the paper, exactly as printed (``theory/claims/tables.json``).

    >>> published("table2").errors_at(3)[0]
    Fraction(347, 500000)
    """
    data = _file()
    if name not in data or name == "source":
        raise InvalidInput.about("table", name, f"one of {sorted(set(data) - {'source'})}", "another table")
    entry = data[name]
    std = _matrix(entry["std"]) if "std" in entry else None
    return Table(name, tuple(entry["T"]), tuple(entry["heads"]), _matrix(entry["value"]), std)


def reversal_score(errors: Sequence[Fraction]) -> Fraction:
    """E7's R(h) from the errors of one head count in order of T; 0 for constant errors.

    R = sum over T_1 < T_2 of max(err(T_1) - err(T_2), 0), divided by max err - min err. It is positive if and only if
    the errors do not increase (weakly) with T, whatever increasing scale or positive weights of the pairs are used.

    >>> reversal_score([Fraction(1), Fraction(3), Fraction(2)])
    Fraction(1, 2)
    """
    spread = max(errors) - min(errors)
    drops = (max(a - b, Fraction(0)) for i, a in enumerate(errors) for b in errors[i + 1 :])
    return sum(drops, Fraction(0)) / spread if spread else Fraction(0)


def largest_drop(table: Table, column: int) -> int:
    """The head count at which the error falls by the largest factor from the row before, for one T."""
    ratios = {
        after: above[column] / below[column]
        for after, above, below in zip(table.heads[1:], table.errors, table.errors[1:], strict=False)
    }
    return max(ratios, key=lambda heads: ratios[heads])


@cache
def _file() -> dict[str, Any]:
    text = (resources.files("theory") / "claims" / "tables.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text, parse_float=parse_exact)
    return data


def _matrix(rows: Sequence[Sequence[Any]]) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(Fraction(entry) for entry in row) for row in rows)
