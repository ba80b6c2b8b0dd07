"""Networks as files: exact JSON, or float64 weights as safetensors for use elsewhere.

    net.json         the network itself: every number exact (`constructions.network_json`)
    net.safetensors  every weight rounded once to the nearest float64; beta and formulas stay exact, in the metadata

Reading a safetensors file gives the *rounded* network, whose weights are exact dyadic numbers again; how far it is from
the network that was written, `constructions.rounding.weight_rounding_upper` bounds and the metadata states.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from constructions import strict_json
from constructions.arithmetic import EXACT, ExactArray, exact_array
from constructions.network import Component, Dense, Formula, Head, Network, Perceptron, TokenLayer
from constructions.network_json import network_from_json, network_to_json
from constructions.rounding import rounded, weight_rounding_upper
from constructions.sparse import SparseLayer, SparseMatrix
from theory.errors import InvalidInput
from theory.exact import format_exact, parse_exact
from theory.expressions import expression_from_json, expression_to_json

FORMAT = "headcount-network-1"
MAX_JSON_BYTES = 200_000_000
MAX_SAFETENSORS_BYTES = 2**30
MAX_METADATA_CHARACTERS = 4_000_000
KEYS = {"format", "structure", "weights", "rounding_upper"}
ROUND_UP = 1 + 1e-5
"""The bound is written with seven digits."""
SUFFIXES = (".json", ".safetensors")


def encode(network: Network, suffix: str) -> bytes:
    """The contents of a file with this suffix. Raises InvalidInput (suffix), NotFinite (a weight beyond float64)."""
    if suffix == ".json":
        return json.dumps(network_to_json(network)).encode("ascii")
    require_suffix(Path(f"network{suffix}"))
    return _encode_safetensors(network)


def require_suffix(path: Path) -> None:
    """Refuse a name that says no form of file. Raises InvalidInput."""
    if path.suffix not in SUFFIXES:
        raise InvalidInput.about("network file", str(path), f"a name ending in {' or '.join(SUFFIXES)}", "net.json")


def load_network(path: Path) -> Network:
    """The network in a .json or .safetensors file; sizes and shapes are checked before anything is believed.

    Raises:
        InvalidInput: unreadable, oversized or malformed files.
    """
    readers: Mapping[str, tuple[int, Callable[[Path], Network]]] = {
        ".json": (MAX_JSON_BYTES, _load_json),
        ".safetensors": (MAX_SAFETENSORS_BYTES, _load_safetensors),
    }
    require_suffix(path)
    most, read = readers[path.suffix]
    try:
        if not path.is_file():
            raise InvalidInput.about(
                "network file", str(path), "an existing file", "headcount build ... --out net.json"
            )
        if path.stat().st_size > most:
            raise InvalidInput.about("network file size", path.stat().st_size, f"<= {most} bytes", "a smaller network")
        return read(path)
    except (OSError, UnicodeDecodeError, RecursionError, SafetensorError, MemoryError) as error:
        raise _unreadable(path, error) from error


def file_notes(path: Path) -> dict[str, str]:
    """What a safetensors file says about itself ("weights", "rounding_upper"); nothing for JSON, which is exact."""
    if path.suffix != ".safetensors":
        return {}
    with safe_open(str(path), framework="numpy") as file:
        notes = file.metadata() or {}
    return {key: str(notes[key])[:200] for key in ("weights", "rounding_upper") if key in notes}


def _unreadable(path: Path, error: Exception) -> InvalidInput:
    return InvalidInput.about("network file", str(path), "a readable network", f"write it again ({error})")


def _load_json(path: Path) -> Network:
    try:
        data = strict_json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        if isinstance(error, UnicodeDecodeError):
            raise
        raise _unreadable(path, error) from error
    return network_from_json(_object(data, path))


def _object(data: object, path: Path) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise InvalidInput.about("network file", str(path), "a JSON object", "write it with headcount build --out")
    _sizes_are_integers(data.get("seq_len"), data.get("token_dim"))
    return data


# The safetensors form is the tree of dataclasses that a network is; arrays are replaced by the names of tensors, which
# are their paths in the tree ("encoder.layers.0.weight"), and numbers that are not integers by their exact text.

PARTS: Mapping[str, tuple[type, tuple[str, ...]]] = {
    part.__name__: (part, names or tuple(field.name for field in fields(part)))
    for part, names in (
        (Network, ()),
        (TokenLayer, ()),
        (Head, ()),
        (Perceptron, ()),
        (Dense, ()),
        (SparseLayer, ("entries", "bias", "activation")),
        (SparseMatrix, ()),
        (Formula, ()),
        (Component, ()),
    )
}
"""The classes that a file may name, each with its fields."""


def _encode_safetensors(network: Network) -> bytes:
    tensors: dict[str, ExactArray] = {}
    structure = _detach(network, "", tensors)
    bound = weight_rounding_upper(network)
    metadata = {
        "format": FORMAT,
        "structure": json.dumps(structure),
        "weights": "rounded to the nearest float64 (relative error at most 2^-53 each); beta and formulas exact",
        "rounding_upper": "not known" if bound is None else f"{bound * ROUND_UP:.6e}",
    }
    return save(tensors, metadata)


def _detach(part: Any, path: str, tensors: dict[str, ExactArray]) -> Any:
    name = type(part).__name__
    if isinstance(part, np.ndarray):
        tensors[path] = np.ascontiguousarray(part if part.dtype == np.int64 else rounded(part))
        return {"tensor": path}
    if isinstance(part, Fraction):
        return {"exact": format_exact(part)}
    if name in PARTS:
        where = f"{path}." if path else ""
        return {"part": name} | {key: _detach(getattr(part, key), where + key, tensors) for key in PARTS[name][1]}
    if isinstance(part, tuple):
        return [_detach(entry, f"{path}.{index}", tensors) for index, entry in enumerate(part)]
    if part is None or isinstance(part, int | str):
        return part
    return {"expression": expression_to_json(part)}


def _load_safetensors(path: Path) -> Network:
    with safe_open(str(path), framework="numpy") as file:
        metadata = file.metadata() or {}
        if metadata.get("format") != FORMAT or set(metadata) != KEYS:
            raise InvalidInput.about("metadata", sorted(metadata)[:8], f"format {FORMAT}", "headcount build --out")
        text = metadata["structure"]
        if len(text) > MAX_METADATA_CHARACTERS:
            raise InvalidInput.about(
                "metadata", len(text), f"<= {MAX_METADATA_CHARACTERS} characters", "fewer formulas"
            )
        names = set(file.keys())

        def tensor(name: str) -> ExactArray:
            names.remove(name)
            array = file.get_tensor(name)
            if array.dtype not in (np.float64, np.int64):
                raise InvalidInput.about(
                    f"dtype of {name}", str(array.dtype), "F64, or I64 for places", "write it again"
                )
            return np.asarray(array)

        try:
            network = _attach(strict_json.loads(text, parse_float=str, parse_constant=str), tensor)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise _unreadable(path, error) from error
        if not isinstance(network, Network) or names:
            raise InvalidInput.about("network file", str(path), "one network, every tensor used", "write it again")
        _sizes_are_integers(network.seq_len, network.token_dim)
        return network


def _attach(data: Any, tensor: Callable[[str], ExactArray]) -> Any:
    if isinstance(data, list):
        return tuple(_attach(entry, tensor) for entry in data)
    if not isinstance(data, dict):
        return data
    if "part" in data:
        values = {key: _attach(value, tensor) for key, value in data.items() if key != "part"}
        part, names = PARTS[data["part"]]
        if set(values) != set(names):
            raise InvalidInput.about(f"fields of {part.__name__}", sorted(values), f"{sorted(names)}", "write it again")
        return _sparse_matrix(**values) if part is SparseMatrix else part(**values)
    ((kind, value),) = data.items()
    readers: Mapping[str, Callable[[Any], Any]] = {
        "tensor": tensor,
        "exact": parse_exact,
        "expression": expression_from_json,
    }
    return readers[kind](value)


def _sizes_are_integers(seq_len: object, token_dim: object) -> None:
    for name, value in (("seq_len", seq_len), ("token_dim", token_dim)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise InvalidInput.about(name, value, "an integer", "write the file again")


def _sparse_matrix(shape: Any, starts: ExactArray, columns: ExactArray, values: ExactArray) -> SparseMatrix:
    """A sparse matrix from outside, every condition of `SparseMatrix` checked. Raises InvalidInput."""
    num_rows, num_columns = (int(size) for size in shape)
    fits = starts.dtype == columns.dtype == np.int64 and starts.shape == (num_rows + 1,)
    fits = fits and columns.shape == values.shape and starts[0] == 0 and starts[-1] == len(columns)
    if not fits or np.any(np.diff(starts) < 0) or np.any((columns < 0) | (columns >= num_columns)):
        raise InvalidInput.about("sparse matrix", tuple(shape), "rows, columns and values that fit", "write it again")
    rows = np.repeat(np.arange(num_rows), np.diff(starts))
    if np.any((np.diff(rows) == 0) & (np.diff(columns) <= 0)):
        raise InvalidInput.about("sparse matrix", tuple(shape), "columns that rise in every row", "write it again")
    exact = np.asarray(EXACT.asarray(exact_array(values, "values", (None,))))
    return SparseMatrix((num_rows, num_columns), starts, columns, exact)
