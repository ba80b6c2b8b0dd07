"""Networks as files: JSON keeps every number, safetensors rounds each weight once, hostile files are refused."""

from __future__ import annotations

import json
import struct
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from checks.strategies import networks
from constructions.arithmetic import EXACT, fractions
from constructions.evaluate import evaluate
from constructions.network import Network
from constructions.network_file import encode, file_notes, load_network
from constructions.network_json import network_to_json
from constructions.rounding import weight_rounding_upper
from constructions.specialists import Knowledge, build
from constructions.task import quadratic
from theory.errors import InvalidInput
from theory.ledger import Form

NOT_VACUOUS = 1e-6
"""The rounding bound of a network with weights of order 1 must be small enough to be of use."""


def gated() -> Network:
    """Its gates are 0 or -2 and its other weights thirds: JSON and safetensors differ."""
    return build(quadratic(2, 1, 4), Fraction(1, 7), Form.REPAIRED, Knowledge(Fraction(1))).network


def written(network: Network, path: Path) -> Path:
    path.write_bytes(encode(network, path.suffix))
    return path


@settings(deadline=None, max_examples=40)
@given(networks())
def test_what_is_written_is_read(network: Network) -> None:
    """Catches a lost field, exchanged arrays, a rounded beta: drawn networks have dyadic weights and also formulas."""
    for suffix in (".json", ".safetensors"):
        with tempfile.TemporaryDirectory() as folder:  # a fixture would be shared by all examples
            found = load_network(written(network, Path(folder) / f"net{suffix}"))
        assert network_to_json(found) == network_to_json(network)


def test_safetensors_rounds_to_the_nearest_float_and_bounds_what_that_does(tmp_path: Path) -> None:
    """Catches float32 weights, a rounding bound that does not dominate the change it is about, or a vacuous one."""
    network = gated()
    path = written(network, tmp_path / "net.safetensors")
    found, bound = load_network(path), float(file_notes(path)["rounding_upper"])
    changed = [
        (Fraction(a), Fraction(b))
        for mine, theirs in zip(network.encoder.layers, found.encoder.layers, strict=True)
        for a, b in zip(mine.weight.flat, theirs.weight.flat, strict=True)
    ]
    assert any(a != b for a, b in changed)
    assert all(abs(a - b) <= abs(a) / 2**53 for a, b in changed)
    for token in (Fraction(0), Fraction(1, 3), Fraction(1)):  # equal tokens: uniform attention, exact values
        tokens = fractions([[token]] * 4)
        first, second = (evaluate(n, tokens, EXACT)[0] for n in (_all_positions_alike(n) for n in (network, found)))
        assert abs(first - second) <= bound
    assert 0 < bound < NOT_VACUOUS
    assert weight_rounding_upper(network) <= bound


def _all_positions_alike(network: Network) -> Network:
    """Scores that ignore the tokens, so that attention is uniform and everything is rational."""
    heads = tuple(replace(head, key=fractions(np.zeros(head.key.shape, dtype=int))) for head in network.heads)
    return replace(network, heads=heads)


def test_the_tensors_are_ordinary_ones(tmp_path: Path) -> None:
    """Catches a file that other people's tools cannot read: names are paths, dtype is F64, metadata says the format."""
    path = written(gated(), tmp_path / "net.safetensors")
    tensors = load_file(path)
    assert tensors["encoder.layers.0.weight"].dtype == np.float64
    with safe_open(path, framework="numpy") as file:
        assert file.metadata()["format"].startswith("headcount-network")


def tampered(path: Path, change: str) -> None:
    """Write a hostile file."""
    tensors = load_file(path)
    with safe_open(path, framework="numpy") as file:
        metadata = dict(file.metadata())
    structure = json.loads(metadata["structure"])
    match change:
        case "missing tensor":
            tensors.pop("class_token")
        case "extra tensor":
            tensors["more"] = np.zeros(3)
        case "nan":
            tensors["class_token"][0] = np.nan
        case "float32":
            tensors["class_token"] = tensors["class_token"].astype(np.float32)
        case "wrong shape":
            tensors["output_weight"] = np.zeros((1, 1))
        case "unknown class":
            structure["encoder"]["part"] = "Path"
        case "missing field":
            structure.pop("beta")
        case "float size":
            structure["seq_len"] = 4.0
        case "negative beta":
            structure["beta"] = {"exact": "-1"}
        case "code as number":
            structure["beta"] = {"exact": "__import__('os')"}
        case "deep nesting":
            metadata["structure"] = "[" * 100_000
        case "no metadata":
            metadata = {}
    if metadata and change != "deep nesting":
        metadata["structure"] = json.dumps(structure)
    save_file(tensors, path, metadata=metadata)


CHANGES = (
    "missing tensor",
    "extra tensor",
    "nan",
    "float32",
    "wrong shape",
    "unknown class",
    "missing field",
    "float size",
    "negative beta",
    "code as number",
    "deep nesting",
    "no metadata",
)


@pytest.mark.parametrize("change", CHANGES)
def test_a_hostile_safetensors_file_is_refused(change: str, tmp_path: Path) -> None:
    """Catches a traceback, or a file that is believed although something in it is wrong."""
    path = written(gated(), tmp_path / "net.safetensors")
    tampered(path, change)
    with pytest.raises(InvalidInput):
        load_network(path)


BYTES = {
    "empty.json": b"",
    "list.json": b"[]",
    "floats.json": b'{"seq_len": 1.5, "token_dim": 1}',
    "long number.json": b'{"seq_len": ' + b"9" * 5000 + b"}",
    "deep.json": b"[" * 100_000,
    "latin.json": b'{"\xff": 1}',
    "empty.safetensors": b"",
    "long header.safetensors": struct.pack("<Q", 2**40) + b"{}",
    "not json.safetensors": struct.pack("<Q", 4) + b"abcd",
    "beyond the end.safetensors": struct.pack("<Q", 58) + b'{"a":{"dtype":"F64","shape":[9],"data_offsets":[0,72]}}   ',
    "net.pt": b"",
}


@pytest.mark.parametrize("name", BYTES)
def test_nonsense_is_refused(name: str, tmp_path: Path) -> None:
    """Catches a traceback on files that are no networks at all."""
    path = tmp_path / name
    path.write_bytes(BYTES[name])
    with pytest.raises(InvalidInput):
        load_network(path)


def test_devices_and_huge_files_are_refused_unread(tmp_path: Path) -> None:
    """Catches reading without end."""
    for suffix in (".json", ".safetensors"):
        path = tmp_path / f"huge{suffix}"
        with path.open("wb") as stream:
            stream.truncate(2**31)
        with pytest.raises(InvalidInput, match="size"):
            load_network(path)
        (tmp_path / f"zero{suffix}").symlink_to("/dev/zero")
        with pytest.raises(InvalidInput, match="existing file"):
            load_network(tmp_path / f"zero{suffix}")
