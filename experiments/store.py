"""Results that survive: one SQLite file, one row per cell, every write one transaction.

A cell is keyed by the SHA-256 of its resolved configuration in canonical JSON, so the same configuration never has
two cells. It holds a result (JSON), a checkpoint (the bytes of a safetensors file), or both. The checkpoint lies in
the database, in the transaction of its row: a process killed at any moment leaves either the old cell or the new
one, never half of it and no stray file. One writer at a time (a second one waits, then is told); readers never wait.
Nothing read is trusted: sizes are limited before anything is loaded, and only JSON and safetensors are parsed.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor

from theory.errors import InvalidInput

APPLICATION_ID = 0x48434E54  # "HCNT" in the file's header: tells our files from others' databases
SCHEMA_VERSION = 1
JSON_LIMIT = 16 << 20  # bytes of one configuration or result
CHECKPOINT_LIMIT = 512 << 20  # bytes of one checkpoint
WAIT_SECONDS = 5.0  # how long a writer waits for another one
CREATE_CELLS = """CREATE TABLE cells (
    key TEXT PRIMARY KEY NOT NULL,
    config TEXT NOT NULL,
    result TEXT,
    checkpoint BLOB
)"""


@dataclass(frozen=True)
class Cell:
    """One cell as stored; ``result`` is None while the cell is unfinished, ``has_checkpoint`` says what can resume."""

    key: str
    config: dict[str, Any]
    result: dict[str, Any] | None
    has_checkpoint: bool


def canonical(value: Mapping[str, Any], what: str) -> str:
    """The one JSON text of a value: sorted keys, no spaces, finite numbers, text keys; 1 and 1.0 differ.

    >>> canonical({"b": 1, "a": [0.5, None]}, "config")
    '{"a":[0.5,null],"b":1}'
    """
    try:
        if not _text_keys(value):
            raise ValueError("a key is no text")
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{what}: must be JSON ({error}). Try: finite numbers, texts, lists, text keys.") from error
    if len(text) > JSON_LIMIT:
        raise InvalidInput.about(f"bytes of {what}", len(text), f"<= {JSON_LIMIT}", "storing tensors as a checkpoint")
    return text


def cell_key(config: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of the configuration's canonical JSON."""
    return hashlib.sha256(canonical(config, "config").encode()).hexdigest()


class Store:
    """A store's file, created if missing; use as a context manager.

    Raises InvalidInput for a file that is locked, damaged, foreign, or written by a newer version.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "results.sqlite") as store:
    ...     store.put({"heads": 2}, result={"nmse": 0.5})
    ...     store.result({"heads": 2}), store.result({"heads": 3})
    ({'nmse': 0.5}, None)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with self._translated():
            self._connection = sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None)
        try:
            with self._translated():
                self._open()
        except BaseException:
            self._connection.close()
            raise

    def _open(self) -> None:
        run = self._connection.execute
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, CHECKPOINT_LIMIT + JSON_LIMIT)
        run("PRAGMA trusted_schema=OFF")
        run("PRAGMA cell_size_check=ON")
        if self._is_empty():
            run("PRAGMA journal_mode=WAL")
            with self._transaction():
                if self._is_empty():  # still: another process may have come first
                    run(f"PRAGMA application_id={APPLICATION_ID}")
                    run(f"PRAGMA user_version={SCHEMA_VERSION}")
                    run(CREATE_CELLS)
        found, version = run("PRAGMA application_id").fetchone()[0], run("PRAGMA user_version").fetchone()[0]
        if found != APPLICATION_ID:
            raise self._error("is a database of another program", "another path")
        if version != SCHEMA_VERSION:
            raise self._error(f"has schema version {version}, this program reads {SCHEMA_VERSION}", "a newer headcount")
        schema = run("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchmany(9)
        if schema != [("table", "cells", CREATE_CELLS)]:
            raise self._error("has tables that headcount did not make", "another path")
        if run("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise self._error("is damaged", "a copy, or deleting it")
        run("PRAGMA synchronous=FULL")

    def _is_empty(self) -> bool:
        run = self._connection.execute
        headers = run("PRAGMA application_id").fetchone()[0], run("PRAGMA user_version").fetchone()[0]
        return headers == (0, 0) and run("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0

    def put(
        self,
        config: Mapping[str, Any],
        result: Mapping[str, Any] | None = None,
        checkpoint: Mapping[str, Tensor] | None = None,
    ) -> None:
        """Write a cell in one transaction; what is None stays as it was. Durable when this returns."""
        text = canonical(config, "config")
        result_text = None if result is None else canonical(result, "result")
        blob = None
        if checkpoint is not None:
            blob = safetensors.torch.save(
                {name: value.detach().cpu().contiguous() for name, value in checkpoint.items()}
            )
            if len(blob) > CHECKPOINT_LIMIT:
                raise InvalidInput.about("checkpoint bytes", len(blob), f"<= {CHECKPOINT_LIMIT}", "fewer models a cell")
        update = "result=coalesce(excluded.result, result), checkpoint=coalesce(excluded.checkpoint, checkpoint)"
        with self._translated(), self._transaction():
            self._connection.execute(
                f"INSERT INTO cells VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET {update}",
                (cell_key(config), text, result_text, blob),
            )

    def result(self, config: Mapping[str, Any]) -> dict[str, Any] | None:
        """The cell's result, or None."""
        row = self._column("result", JSON_LIMIT, config)
        return None if row is None else self._parsed(row[0], "result")

    def checkpoint(self, config: Mapping[str, Any]) -> dict[str, Tensor] | None:
        """The cell's checkpoint, or None. Names, shapes and values are whatever was stored: the caller checks."""
        row = self._column("checkpoint", CHECKPOINT_LIMIT, config)
        if row is None:
            return None
        try:
            if not isinstance(row[0], bytes):
                raise ValueError(f"it is no blob of at most {CHECKPOINT_LIMIT} bytes")
            return safetensors.torch.load(row[0])
        except (safetensors.SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise self._error(f"holds a checkpoint that is no safetensors file ({error})", "deleting it") from error

    def cells(self) -> Iterator[Cell]:
        """All cells in the order of their keys; checkpoints are not loaded."""
        columns = f"key, {_limited('config', JSON_LIMIT)}, {_limited('result', JSON_LIMIT)}, checkpoint IS NOT NULL"
        with self._translated():
            for key, config, _, result, unfinished, resumable in self._connection.execute(
                f"SELECT {columns} FROM cells ORDER BY key"
            ):
                parsed = self._parsed(config, "config")
                if cell_key(parsed) != key:
                    raise self._error(f"holds a cell {key!r:.80} whose key is not its configuration's", "deleting it")
                yield Cell(key, parsed, None if unfinished else self._parsed(result, "result"), bool(resumable))

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _column(self, column: str, limit: int, config: Mapping[str, Any]) -> tuple[Any] | None:
        """The entry if there is one; (None,) if it is too long to be loaded."""
        with self._translated():
            query = f"SELECT {_limited(column, limit)} FROM cells WHERE key = ?"
            value, missing = self._connection.execute(query, (cell_key(config),)).fetchone() or (None, True)
        return None if missing else (value,)

    def _parsed(self, text: Any, what: str) -> dict[str, Any]:
        try:
            if not isinstance(text, str):
                raise ValueError(f"it is no text of at most {JSON_LIMIT} bytes")
            value = json.loads(text, parse_constant=_refuse_constant)
            if not isinstance(value, dict):
                raise ValueError("it is no JSON object")
        except (ValueError, RecursionError) as error:
            raise self._error(f"holds a {what} that is no valid JSON ({error})", "deleting it") from error
        return value

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """SQLite's errors as ours."""
        try:
            yield
        except sqlite3.Error as error:
            if "locked" in str(error) or "busy" in str(error):
                remedy = f"waiting for the other run to end (waited {WAIT_SECONDS:g} s)"
                raise self._error("is locked by another process", remedy) from error
            raise self._error(f"cannot be used ({error})", "another path, or a copy of the file") from error

    def _error(self, problem: str, remedy: str) -> InvalidInput:
        return InvalidInput(f"store {str(self.path)!r} {problem}. Try: {remedy}.")


def _limited(column: str, limit: int) -> str:
    """SQL for (entry or NULL if it is longer than limit bytes, is the entry NULL)."""
    return f"CASE WHEN length(CAST({column} AS BLOB)) <= {limit} THEN {column} END, {column} IS NULL"


def _text_keys(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _text_keys(entry) for key, entry in value.items())
    return not isinstance(value, list | tuple) or all(map(_text_keys, value))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
