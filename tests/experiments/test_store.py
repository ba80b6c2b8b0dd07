"""The store: nothing lost or doubled by kill -9, and one clear message for every file that is not ours to use."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import experiments.store as module
from experiments.store import Store, canonical, cell_key
from theory.errors import InvalidInput

CELLS = 40
# The writer puts cells 0..CELLS-1, first a checkpoint, then the result with another one, and says so after each.
WRITER = """
import os, signal, sys
import torch
from experiments.store import Store
path, cells, fatal = sys.argv[1], int(sys.argv[2]), sys.argv[3]
store = Store(path)
seen = 0
def count(statement):
    global seen
    seen += statement == "COMMIT"
    if fatal == "before-commit" and seen == 7:
        os.kill(os.getpid(), signal.SIGKILL)
store._connection.set_trace_callback(count)
for index in range(cells):
    config = {"cell": index}
    if store.result(config) is None:
        store.put(config, checkpoint={"half": torch.full((5000,), float(index))})
        store.put(config, result={"value": index / 7}, checkpoint={"done": torch.full((5000,), index / 7)})
    print(index, flush=True)
"""


def run_writer(path: Path, fatal: str, kill_at: int | None) -> tuple[list[int], int]:
    """The indices that the writer acknowledged, killed on its line ``kill_at`` if that is given, and its exit code."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", WRITER, str(path), str(CELLS), fatal]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(int(line))
            if lines[-1] == kill_at:
                process.send_signal(signal.SIGKILL)
    return lines, process.returncode


def content(path: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT * FROM cells ORDER BY key").fetchall()


def test_killed_writer_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Catches a row without its checkpoint, an acknowledged write that vanishes, a second row for one cell."""
    path = tmp_path / "killed.sqlite"
    for fatal, kill_at in (("before-commit", None), ("no", 8), ("no", 29)):
        acknowledged, code = run_writer(path, fatal, kill_at)
        assert code == -signal.SIGKILL
        with Store(path) as store:
            found = {cell.config["cell"]: cell for cell in store.cells()}
            finished = {index for index, cell in found.items() if cell.result is not None}
            assert set(acknowledged) <= finished
            assert len(found) - len(finished) <= 1
            for index in found:
                kept = store.checkpoint({"cell": index})
                assert kept is not None
                value = index / 7 if index in finished else float(index)
                expected = torch.full((5000,), value)
                assert torch.equal(kept["done" if index in finished else "half"], expected)
    for each in (path, tmp_path / "calm.sqlite"):
        assert run_writer(each, "no", None) == (list(range(CELLS)), 0)
    assert content(path) == content(tmp_path / "calm.sqlite")


def test_cells_keep_what_is_not_overwritten(tmp_path: Path) -> None:
    """Catches an update that clears the checkpoint, and a key that depends on the order of entries."""
    with Store(tmp_path / "s.sqlite") as store:
        store.put({"b": 1, "a": [1.5, None]}, checkpoint={"x": torch.arange(3)})
        store.put({"a": (1.5, None), "b": 1}, result={"nmse": 0.25})
        (cell,) = store.cells()
        assert cell.result == {"nmse": 0.25}
        assert cell.has_checkpoint
        assert cell.key == cell_key({"a": [1.5, None], "b": 1}) != cell_key({"a": [1.5, None], "b": 1.0})
        kept = store.checkpoint({"a": [1.5, None], "b": 1})
        assert kept is not None
        assert kept["x"].tolist() == [0, 1, 2]
        assert store.result({"a": 0}) is None
        assert store.checkpoint({"a": 0}) is None
    with Store(tmp_path / "s.sqlite") as store:
        assert store.result({"b": 1, "a": [1.5, None]}) == {"nmse": 0.25}


def test_second_writer_is_told_and_readers_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a traceback from SQLite, or a wait without end, when another run holds the store."""
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.1)
    with Store(tmp_path / "s.sqlite") as writer, Store(tmp_path / "s.sqlite") as other:
        writer.put({"cell": 0}, result={"value": 1})
        with writer._transaction():
            with pytest.raises(InvalidInput, match="locked by another process"):
                other.put({"cell": 1}, result={"value": 2})
            assert other.result({"cell": 0}) == {"value": 1}
        other.put({"cell": 1}, result={"value": 2})
        assert writer.result({"cell": 1}) == {"value": 2}


def edited(statement: str) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
        connection.close()

    return edit


def overwritten(offset: int, data: bytes) -> Callable[[Path], None]:
    def overwrite(path: Path) -> None:
        raw = bytearray(path.read_bytes())
        raw[offset : offset + len(data)] = data
        path.write_bytes(raw)

    return overwrite


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "text file": (lambda path: path.write_text("not a database, " * 100), "not a database"),
    "directory": (lambda path: (path.unlink(), path.mkdir()), "cannot be used"),
    "other program": (edited("PRAGMA application_id=7"), "another program"),
    "newer": (edited("PRAGMA user_version=2"), "schema version 2"),
    "extra table": (edited("CREATE TABLE more (x)"), "tables that headcount did not make"),
    "trigger": (
        edited("CREATE TRIGGER t AFTER INSERT ON cells BEGIN DELETE FROM cells; END"),
        "tables that headcount did not make",
    ),
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:5000]), "damaged|cannot be used"),
    "overwritten page": (overwritten(4096, b"\xff" * 4096), "damaged|cannot be used"),
}


@pytest.mark.parametrize("kind", list(DAMAGE))
def test_files_that_are_not_a_store(kind: str, tmp_path: Path) -> None:
    """Catches a damaged, foreign or newer file that is used, changed, or ends in a traceback."""
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        for index in range(20):
            store.put({"cell": index}, result={"value": "x" * 900})
    damage, message = DAMAGE[kind]
    damage(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(InvalidInput, match=message) as caught, Store(path) as store:
        list(store.cells())
    assert "s.sqlite" in str(caught.value)
    assert "Try:" in str(caught.value)
    assert before is None or path.read_bytes() == before
    shutil.rmtree(path) if path.is_dir() else path.unlink()


HOSTILE: dict[str, tuple[str, str]] = {
    "not JSON": ("UPDATE cells SET result='{'", "no valid JSON"),
    "no object": ("UPDATE cells SET result='[1]'", "no valid JSON"),
    "infinite": ("""UPDATE cells SET result='{"value":Infinity}'""", "no valid JSON"),
    "deep": ("UPDATE cells SET result=CAST(replace(zeroblob(99999), x'00', '[') AS TEXT)", "no valid JSON"),
    "huge": (f"UPDATE cells SET result=CAST(zeroblob({module.JSON_LIMIT + 1}) AS TEXT)", "no text of at most"),
    "blob": ("UPDATE cells SET result=x'80'", "no text"),
    "moved": ("""UPDATE cells SET config='{"cell":1}'""", "key"),
}


@pytest.mark.parametrize("kind", list(HOSTILE))
def test_hostile_cells(kind: str, tmp_path: Path) -> None:
    """Catches a crafted result that is loaded, or ends in a traceback."""
    statement, message = HOSTILE[kind]
    with Store(tmp_path / "s.sqlite") as store:
        store.put({"cell": 0}, result={"value": 1})
    edited(statement)(tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store, pytest.raises(InvalidInput, match=message):
        list(store.cells())


def test_hostile_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a checkpoint that is unpickled, loaded beyond the limit, or ends in a traceback."""
    header = json.dumps({"x": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}).encode()
    pickled = b"cos\nsystem\n(S'touch pickled'\ntR."
    with Store(tmp_path / "s.sqlite") as store:
        store.put({"cell": 0}, checkpoint={"x": torch.zeros(10)})
        for blob in (b"", pickled, len(header).to_bytes(8, "little") + header, "text", 7):
            store._connection.execute("UPDATE cells SET checkpoint = ?", (blob,))
            with pytest.raises(InvalidInput, match="no safetensors file"):
                store.checkpoint({"cell": 0})
        monkeypatch.setattr(module, "CHECKPOINT_LIMIT", 1000)
        with pytest.raises(InvalidInput, match="checkpoint bytes"):
            store.put({"cell": 0}, checkpoint={"x": torch.zeros(1000)})
        store._connection.execute("UPDATE cells SET checkpoint = zeroblob(1001)")
        with pytest.raises(InvalidInput, match="at most 1000 bytes"):
            store.checkpoint({"cell": 0})
    assert not Path("pickled").exists()


@pytest.mark.parametrize("value", [{"x": float("nan")}, {"x": {1: 2}}, {"x": [{None: 2}]}, {"x": b"1"}, {2: 1}])
def test_what_is_not_json_is_refused(value: dict[str, object]) -> None:
    """Catches two configurations that would share one text, and numbers no reader accepts."""
    with pytest.raises(InvalidInput, match="config"):
        canonical(value, "config")
