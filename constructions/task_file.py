"""Tasks from TOML and JSON files in the expression language, and back; the format is described in docs/tasks.md.

Both notations have one reader. Wherever an expression stands, it may be text (``"(x0 - 1/2)^2"``) or the nested lists
of `theory.expressions.expression_to_json`, which is what is written.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from constructions import strict_json
from constructions.retrieval_task import Feature, RetrievalTask, everywhere
from constructions.task_library import built_in
from theory.errors import InvalidInput
from theory.expression_parser import parse_expression
from theory.expressions import Expression, expression_from_json, expression_to_json

FORMAT = 1
MAX_FILE_BYTES = 4_000_000
KEYS = {"format", "name", "token_dim", "seq_len", "outer", "features"}
FEATURE_KEYS = {"expression", "positions"}
READERS = {".toml": tomllib.loads, ".json": strict_json.loads}


def load_task(source: str, seq_len: int) -> RetrievalTask:
    """A built-in task by name, or a task from a .toml or .json file (whose seq_len, if given, must agree).

    Raises:
        InvalidInput: unreadable or oversized file, unknown keys, or a malformed task.
    """
    path = Path(source)
    reader = READERS.get(path.suffix)
    if reader is None:
        return built_in(source, seq_len)
    notation = path.suffix[1:].upper()
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            size = path.stat().st_size
            raise InvalidInput.about("task file size", size, f"<= {MAX_FILE_BYTES} bytes", "a smaller file")
        data = reader(path.read_text(encoding="utf-8"))
    except InvalidInput:
        raise
    except (OSError, ValueError, RecursionError) as error:
        condition = f"a readable {notation} file"
        raise InvalidInput.about("task file", source, condition, f"fix this: {error}") from error
    return task_from_table(data, seq_len)


def task_from_table(data: object, seq_len: int) -> RetrievalTask:
    """A task from a parsed table with keys format, name, token_dim, seq_len (optional), outer, features.

    A feature has ``expression`` and, optionally, ``positions``: a list of indices, or "all" (the default).

    Raises:
        InvalidInput: another format, a missing or unknown key, or a malformed task.
    """
    if not isinstance(data, Mapping):
        raise InvalidInput.about("task", type(data).__name__, "a table of keys", "see docs/tasks.md")
    _keys("task", data, KEYS)
    if data.get("format", FORMAT) != FORMAT or isinstance(data.get("format"), bool):
        raise InvalidInput.about("format", data["format"], f"{FORMAT}", "a task file for this version")
    length = data.get("seq_len", seq_len)
    if length != seq_len:
        raise InvalidInput.about("seq_len", seq_len, f"the task file says seq_len = {length}", f"--seq-len {length}")
    if not isinstance(data.get("features"), list):
        raise InvalidInput.about("features", data.get("features"), "a list of tables", "[[features]] sections")
    features = tuple(_feature(number, entry, seq_len) for number, entry in enumerate(data["features"]))
    outer = _expression("outer", data.get("outer"))
    return RetrievalTask(str(data.get("name", "task"))[:80], data.get("token_dim", 1), seq_len, features, outer)


def _feature(number: int, entry: object, seq_len: int) -> Feature:
    where = f"feature {number}"
    if not isinstance(entry, Mapping):
        raise InvalidInput.about(where, entry, "a table", "[[features]] sections")
    _keys(where, entry, FEATURE_KEYS)
    positions = entry.get("positions", "all")
    chosen = everywhere(seq_len) if positions == "all" else _integers(f"{where}: positions", positions)
    return Feature(_expression(f"{where}: expression", entry.get("expression")), chosen)


def _keys(where: str, data: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(str(key) for key in set(data) - known):
        raise InvalidInput.about(f"keys of {where}", unknown, f"among {sorted(known)}", "remove or rename them")


def _expression(where: str, data: object) -> Expression:
    if isinstance(data, str):
        return parse_expression(data)
    if isinstance(data, list):
        return expression_from_json(data)
    raise InvalidInput.about(where, data, "an expression in quotes", 'for example "(x0 - 1/2)^2"')


def _integers(where: str, values: object) -> tuple[int, ...]:
    if not isinstance(values, list) or not all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        raise InvalidInput.about(where, values, 'a list of integers or "all"', "positions = [1, 2]")
    return tuple(sorted(values))


def task_to_json(task: RetrievalTask) -> dict[str, Any]:
    """The task as exact, self-contained JSON (used in certificates); `task_from_table` reads it too."""
    return {
        "name": task.name,
        "token_dim": task.token_dim,
        "seq_len": task.seq_len,
        "features": [
            {"expression": expression_to_json(feature.expression), "positions": list(feature.positions)}
            for feature in task.features
        ],
        "outer": expression_to_json(task.outer),
    }


def task_from_json(data: Mapping[str, Any]) -> RetrievalTask:
    """Read `task_to_json`'s form, in which nothing may be missing.

    Raises:
        InvalidInput: a missing or unknown key, or a malformed task.
    """
    try:
        features = tuple(
            Feature(expression_from_json(entry["expression"]), _integers("positions", entry["positions"]))
            for entry in data["features"]
        )
        outer = expression_from_json(data["outer"])
        return RetrievalTask(str(data["name"])[:80], data["token_dim"], data["seq_len"], features, outer)
    except (KeyError, TypeError) as error:
        raise InvalidInput.about(
            "task", error, "keys name, token_dim, seq_len, features, outer", "re-export it"
        ) from error
