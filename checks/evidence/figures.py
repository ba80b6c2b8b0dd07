"""Steps about the paper's printed figures that several modules use. This module registers no evidence itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import pairwise

from checks.evidence.tools import exhaustive_step
from theory.ledger import Step
from theory.tables import Table, largest_drop, published, reversal_score

Errors = tuple[Fraction, ...]
"""The errors of one head count, in order of T."""


def transition(table: Table, heads: int) -> Step:
    """For every T the error falls by the largest factor into ``heads``, from the printed head count before."""
    columns = range(len(table.seq_lens))
    return exhaustive_step(
        f"{table.name}: for every T the largest fall is into h = {heads}",
        lambda: columns,
        lambda column: largest_drop(table, column) == heads,
        {
            "one head less": lambda column: largest_drop(table, column) == heads - 1,
            "one head more": lambda column: largest_drop(table, column) == heads + 1,
        },
    )


def rows(
    name: str,
    table: Table,
    heads: Iterable[int],
    holds: Callable[[Errors], bool],
    wrong: Mapping[str, Callable[[Errors], bool]],
) -> Step:
    """A predicate on the errors of each of the given head counts."""
    rows = [table.errors_at(h) for h in heads]
    return exhaustive_step(f"{table.name}: {name}", lambda: rows, holds, wrong)


def never_reversed(name: str) -> Step:
    """E7's score is 0 in every row of a table."""
    table = published(name)
    return rows(
        "R(h) = 0 for every h",
        table,
        table.heads,
        lambda errors: reversal_score(errors) == 0,
        {"of the accuracies": lambda errors: reversal_score([-e for e in errors]) == 0},
    )


def spread(errors: Errors) -> Fraction:
    """Largest less smallest error."""
    return max(errors) - min(errors)


def increasing(errors: Errors) -> bool:
    """Whether the errors grow in every step of T."""
    return all(a < b for a, b in pairwise(errors))
