"""The command line as a person meets it: exit codes, one clear message, JSON, no traceback whatever comes in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent


def headcount(*arguments: str, folder: Path = ROOT, **extra: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100", "PYTHONPATH": str(ROOT), **extra}
    command = [sys.executable, "-c", "from headcount.cli import main; main()", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, timeout=120, stdin=subprocess.DEVNULL
    )


def data(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_bound_gives_the_exponents_and_n4(tmp_path: Path) -> None:
    """Catches an exponent off by one, a float overflow in N4, a threshold that is not where the count starts."""
    sizes = ["--seq-len", "128", "--targets", "4", "--heads", "1", "--head-dim", "8", "--rho", "1/2"]
    result = headcount("bound", *sizes, "--eps", "1e-6", "--json", folder=tmp_path)
    assert result.returncode == 0
    found = data(result)
    assert found["k_published"]["exact"] == "9/5"
    assert found["k_sharpened"]["exact"] == "19/9"
    reached = [round(found["n4_reaches"][count]["log10_eps"], 2) for count in ("1", "1000", "1000000")]
    assert reached == [-4.25, -5.67, -7.09]
    assert float(found["n4"]["parameters_lower"]) > 4000


def test_a_million_tokens_are_no_traceback(tmp_path: Path) -> None:
    """Catches integers too long to print, at a bound of hundreds of thousands of digits."""
    sizes = ["--seq-len", "1000000", "--targets", "4", "--heads", "1", "--head-dim", "8"]
    result = headcount("bound", *sizes, "--eps", "1e-30", "--json", folder=tmp_path)
    assert result.returncode == 0
    assert data(result)["n4"]["log10_estimate"] > 600_000


def test_build_certifies_and_verify_agrees(tmp_path: Path) -> None:
    """Catches a budget that does not close, a term left out, a certificate that its own checker does not accept."""
    options = ["--task", "toy", "--seq-len", "16", "--eps", "0.05", "--form", "sharpened"]
    files = ["--out", "net.json", "--certificate", "cert.json"]
    result = headcount("build", "specialists", *options, *files, "--json", folder=tmp_path)
    found = data(result)
    assert (result.returncode, found["verdict"]) == (0, "PROVED")
    assert float(found["certified_sup_error"]) < 0.05
    assert abs(sum(float(term["upper"]) for term in found["budget"]) - float(found["certified_sup_error"])) < 1e-4
    assert json.loads((tmp_path / "net.json").read_text())["seq_len"] == 16
    assert headcount("verify", "cert.json", folder=tmp_path).returncode == 0


def test_the_published_gate_is_refuted_whatever_beta(tmp_path: Path) -> None:
    """Catches a published form that passes, or a witness that depends on beta."""
    options = ["--task", "hard_gate", "--seq-len", "4", "--eps", "0.05", "--form", "published"]
    result = headcount("build", "specialists", *options, "--certificate", "cert.json", "--json", folder=tmp_path)
    found = data(result)
    assert (result.returncode, found["verdict"]) == (1, "REFUTED")
    assert (found["certified_lower_error"], found["every_beta"]) == ("3/4", True)
    assert headcount("verify", "cert.json", folder=tmp_path).returncode == 0


COINCIDING = """
token_dim = 1
outer = "z0 + z1"
[[features]]
expression = "(x0 - 1/2)^2"
[[features]]
expression = "2*(x0 - 1/2)^2"
"""
BAD_TASKS = {
    "empty set": 'token_dim = 1\nouter = "z0"\n[[features]]\nexpression = "x0"\npositions = []\n',
    "index beyond T": 'token_dim = 1\nouter = "z0"\n[[features]]\nexpression = "x0"\npositions = [9]\n',
    "non-finite number": 'token_dim = 1\nouter = "z0"\n[[features]]\nexpression = "x0 + nan"\n',
    "overflowing number": 'token_dim = 1\nouter = "z0"\n[[features]]\nexpression = "x0 + 1e99999999"\n',
    "unknown function": 'token_dim = 1\nouter = "z0"\n[[features]]\nexpression = "sin(x0)"\n',
    "unknown key": 'token_dim = 1\nouter = "z0"\ncolour = 3\n[[features]]\nexpression = "x0"\n',
    "not TOML": "token_dim = = 1",
    "dangerous text": 'token_dim = 1\nouter = "z0"\n[[features]]\nexpression = "__import__(x0)"\n',
    "deep nesting": 'token_dim = 1\nouter = "z0"\n[[features]]\nexpression = "' + "(" * 5000 + '"\n',
    "float dimension": 'token_dim = 1.5\nouter = "z0"\n[[features]]\nexpression = "x0"\n',
}


@pytest.mark.parametrize("name", BAD_TASKS)
def test_a_bad_task_is_one_clear_message(name: str, tmp_path: Path) -> None:
    """Catches a traceback, or a task that is taken although it is malformed."""
    (tmp_path / "task.toml").write_text(BAD_TASKS[name])
    result = headcount("build", "specialists", "--task", "task.toml", "--seq-len", "8", "--eps", "0.1", folder=tmp_path)
    assert result.returncode == 3
    assert result.stderr.startswith("error: ")
    assert "Try: " in result.stderr
    assert "Traceback" not in result.stderr


def test_coinciding_minimisers_are_not_applicable(tmp_path: Path) -> None:
    """Catches a lower bound that is given although A2.2 fails; the message names the pair."""
    (tmp_path / "task.toml").write_text(COINCIDING)
    sizes = ["--seq-len", "64", "--heads", "1", "--head-dim", "1", "--eps", "1e-3"]
    result = headcount("bound", "--task", "task.toml", *sizes, "--json", folder=tmp_path)
    assert result.returncode == 2
    found = data(result)
    assert found["verdict"] == "NOT_APPLICABLE"
    assert "A2.2" in found["detail"]
    assert "0" in found["detail"]
    assert "1" in found["detail"]


def test_a_feature_outside_the_unit_interval_is_not_applicable(tmp_path: Path) -> None:
    """Catches a build that works for minutes on a feature that T2.1 does not allow, such as exp(1000*x0)."""
    (tmp_path / "task.toml").write_text('token_dim = 1\nouter = "z0"\n[[features]]\nexpression = "exp(1000*x0)"\n')
    result = headcount("build", "specialists", "--task", "task.toml", "--seq-len", "8", "--eps", "0.1", folder=tmp_path)
    assert result.returncode == 2
    assert "DEF-D.range" in result.stdout


USAGE = {
    "no command": [],
    "unknown command": ["guess"],
    "missing option": ["bound", "--seq-len", "8"],
    "not a number": ["bound", "--seq-len", "x", "--targets", "2", "--heads", "1", "--head-dim", "1", "--eps", "0.1"],
    "eps zero": ["bound", "--seq-len", "64", "--targets", "2", "--heads", "1", "--head-dim", "1", "--eps", "0"],
    "eps nan": ["bound", "--seq-len", "64", "--targets", "2", "--heads", "1", "--head-dim", "1", "--eps", "nan"],
    "no heads": ["bound", "--seq-len", "64", "--targets", "2", "--heads", "0", "--head-dim", "1", "--eps", "0.1"],
    "unknown task": ["build", "specialists", "--task", "soup", "--seq-len", "8", "--eps", "0.1"],
    "unknown form": ["build", "specialists", "--task", "toy", "--seq-len", "8", "--eps", "0.1", "--form", "best"],
    "unknown kind": ["build", "palace", "--task", "toy", "--seq-len", "8", "--eps", "0.1"],
    "unknown claim": ["audit", "T9.9"],
    "missing file": ["verify", "nothing.json"],
    "a folder": ["verify", "/"],
}


@pytest.mark.parametrize("name", USAGE)
def test_usage_errors_end_with_three(name: str, tmp_path: Path) -> None:
    """Catches a usage error that looks like a verdict (typer's own code for it is 2), or a traceback."""
    result = headcount(*USAGE[name], folder=tmp_path)
    assert result.returncode == 3
    assert "Traceback" not in result.stderr + result.stdout


def test_a_certificate_of_200_megabytes_is_refused_unread(tmp_path: Path) -> None:
    """Catches a checker that reads whatever it is given into memory."""
    path = tmp_path / "huge.json"
    with path.open("wb") as stream:
        stream.truncate(200 * 2**20)
    result = headcount("verify", str(path), folder=tmp_path)
    assert result.returncode == 3
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["demo", "audit", "bound", "build", "pair", "verify"])
def test_help_has_an_example(command: str) -> None:
    """Catches a command whose help does not show how it is called."""
    result = headcount(command, "--help")
    assert result.returncode == 0
    assert f"Example: headcount {command}" in " ".join(result.stdout.split())


def test_audit_of_one_claim_as_json(tmp_path: Path) -> None:
    """Catches an audit that types verdicts in: the refuted claim must carry the witness that its checker confirmed."""
    result = headcount("audit", "T2.1-15", "--no-cache", "--json", folder=tmp_path)
    published = data(result)["claims"][0]["statements"]["published"]
    assert published["status"] == "REFUTED"
    witnesses = [entry["verdict"].get("witness", {}) for entry in published["evidence"]]
    assert "counterexample" in {witness.get("kind") for witness in witnesses}
