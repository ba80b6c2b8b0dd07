"""What an attacker tried on ``build`` and ``show``: one clear line, the right exit code, never a traceback."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from headcount import cli

TASKS = {
    "no position": 'token_dim = 1\nouter = "z0"\n[[features]]\nexpression = "x0"\npositions = []\n',
    "no list": 'token_dim = 1\nouter = "z0"\nfeatures = 3\n',
    "no text": 'token_dim = 1\nouter = 3\n[[features]]\nexpression = "x0"\n',
    "log at 0": 'token_dim = 1\nouter = "log(z0)"\n[[features]]\nexpression = "x0"\n',
    "deep": f'token_dim = 1\nouter = "{"(" * 5000}z0{")" * 5000}"\n[[features]]\nexpression = "x0"\n',
    "huge power": 'token_dim = 1\nouter = "z0^9999999"\n[[features]]\nexpression = "x0"\n',
    "blank": " " * 4_000_001,
    "65 axes": 'token_dim = 65\nouter = "z0"\n[[features]]\nexpression = "x0"\n',
}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code and everything printed."""
    with pytest.raises(SystemExit) as ended:
        cli.main(list(arguments))
    printed = capsys.readouterr()
    assert "Traceback" not in printed.out + printed.err
    return int(ended.value.code or 0), printed.out + printed.err


def build(task: str, seq_len: str = "4", eps: str = "0.1", kind: str = "specialists") -> tuple[str, ...]:
    return ("build", kind, "--task", task, "--seq-len", seq_len, f"--eps={eps}")


@pytest.mark.parametrize("eps", ["0", "-1", "nan", "inf", "1/0", "abc", ""])
def test_unusable_accuracies(capsys: pytest.CaptureFixture[str], eps: str) -> None:
    """Catches an accuracy that is no positive number, taken for one."""
    code, text = run(capsys, *build("toy", eps=eps))
    assert code == 3
    assert "Try: " in text


@pytest.mark.parametrize("seq_len", ["0", "-3", "100001", "x"])
def test_unusable_lengths(capsys: pytest.CaptureFixture[str], seq_len: str) -> None:
    """Catches a length without tokens or beyond the limit."""
    assert run(capsys, *build("toy", seq_len))[0] == 3


@pytest.mark.parametrize("name", TASKS)
def test_hostile_tasks(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    """Catches a task file that crashes, hangs, or is read as something else."""
    path = tmp_path / "task.toml"
    path.write_text(TASKS[name], encoding="utf-8")
    code, text = run(capsys, *build(str(path)))
    assert code == 3
    assert text.startswith("error: ")


def test_a_repeated_key(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Catches a task that says one thing to a reader and another to the program."""
    path = tmp_path / "task.json"
    path.write_text('{"token_dim": 1, "token_dim": 2, "outer": "z0", "features": [{"expression": "x0"}]}')
    code, text = run(capsys, *build(str(path)))
    assert code == 3
    assert "stands twice" in text


def test_features_out_of_range_and_too_few_tokens(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Catches a network built where its theorem says nothing."""
    path = tmp_path / "task.toml"
    path.write_text('token_dim = 1\nouter = "z0"\n[[features]]\nexpression = "3*x0"\n')
    code, text = run(capsys, *build(str(path), kind="memoriser"))
    assert (code, "NOT_APPLICABLE" in text) == (2, True)
    assert run(capsys, *build("quadratic(8,2)", kind="token_heads"))[0] == 3


def test_sizes_beyond_reach_are_predicted(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a build that hangs or dies where the proof's network is astronomically large."""
    code, text = run(capsys, *build("quadratic(3,2)", "64", "0.0001", "log_sum_exp"))
    assert (code, "predicted" in text) == (2, True)


@pytest.mark.parametrize("out", [".", "/dev/full", "net.txt", "missing/net.json"])
def test_unusable_places(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    """Catches a file that is written half, or over something that is no file."""
    monkeypatch.chdir(tmp_path)
    assert run(capsys, *build("toy"), "--out", out)[0] == 3
    assert list(tmp_path.iterdir()) == []


def test_damaged_networks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Catches a network file believed before it is checked: cut short, a huge header, not JSON, a key twice."""
    path = tmp_path / "net.safetensors"
    assert run(capsys, *build("toy"), "--out", str(path))[0] == 0
    files = {
        "cut.safetensors": path.read_bytes()[:100],
        "huge.safetensors": struct.pack("<Q", 10**12) + b"{}",
        "half.json": b'{"a":',
        "twice.json": b'{"seq_len": 1, "seq_len": 2}',
        "list.json": b"[1, 2]",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        assert run(capsys, "show", str(tmp_path / name))[0] == 3
    assert run(capsys, "show", str(tmp_path))[0] == 3
    assert run(capsys, "show", str(tmp_path / "none.json"))[0] == 3
