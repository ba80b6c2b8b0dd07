"""JSON from others: a key that stands twice in one object is refused, whichever of the two was meant."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def loads(text: str, parse_float: Callable[[str], Any] = float, parse_constant: Callable[[str], Any] = float) -> Any:
    """`json.loads`, but ValueError for a repeated key.

    >>> loads('{"a": 1, "b": [2]}')
    {'a': 1, 'b': [2]}
    """
    return json.loads(text, object_pairs_hook=_distinct, parse_float=parse_float, parse_constant=parse_constant)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice")
    return found
