"""Networks to and from exact JSON: self-contained, every number a string (see `theory.exact`)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from constructions.arithmetic import ExactArray, fractions
from constructions.network import Component, Dense, Formula, Head, Map, Network, Perceptron, TokenLayer
from constructions.sparse import SparseLayer, SparseMatrix
from theory.errors import InvalidInput
from theory.exact import format_exact, parse_exact
from theory.expressions import expression_from_json, expression_to_json

MAX_ENTRIES = 4_000_000


def network_to_json(network: Network) -> dict[str, Any]:
    """The network as exact JSON; `network_from_json` is its inverse. Single-layer networks have no "token_layers"."""
    data = {
        "seq_len": network.seq_len,
        "token_dim": network.token_dim,
        "beta": format_exact(network.beta),
        "encoder": map_to_json(network.encoder),
        "class_token": _array_to_json(network.class_token),
        "heads": _heads_to_json(network.heads),
        "output_weight": _array_to_json(network.output_weight),
        "output_bias": _array_to_json(network.output_bias),
        "readout": map_to_json(network.readout),
    }
    if network.token_layers:
        data["token_layers"] = [_token_layer_to_json(layer) for layer in network.token_layers]
    return data


def network_from_json(data: Mapping[str, Any]) -> Network:
    """Read a network; all shapes are checked again.

    Raises:
        InvalidInput: missing or unknown keys, bad numbers, inconsistent shapes, or more entries than the limit.
    """
    try:
        return Network(
            data["seq_len"],
            data["token_dim"],
            map_from_json(data["encoder"]),
            _array(data["class_token"]),
            _heads_from_json(data["heads"]),
            parse_exact(data["beta"]),
            _array(data["output_weight"]),
            _array(data["output_bias"]),
            map_from_json(data["readout"]),
            tuple(_token_layer_from_json(entry) for entry in data.get("token_layers", ())),
        )
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InvalidInput.about(
            "network", repr(error), "the format of docs/certificates.md", "re-export it"
        ) from error


def _heads_to_json(heads: tuple[Head, ...]) -> list[dict[str, Any]]:
    names = ("query", "key", "value", "query_bias", "value_bias")
    return [{name: _array_to_json(getattr(head, name)) for name in names} for head in heads]


def _heads_from_json(data: Any) -> tuple[Head, ...]:
    return tuple(Head(**{name: _array(entry[name]) for name in sorted(entry)}) for entry in data)


def _token_layer_to_json(layer: TokenLayer) -> dict[str, Any]:
    return {
        "heads": _heads_to_json(layer.heads),
        "beta": format_exact(layer.beta),
        "output_weight": _array_to_json(layer.output_weight),
        "output_bias": _array_to_json(layer.output_bias),
        "update": map_to_json(layer.update),
        "class_update": None if layer.class_update is None else map_to_json(layer.class_update),
    }


def _token_layer_from_json(data: Mapping[str, Any]) -> TokenLayer:
    return TokenLayer(
        _heads_from_json(data["heads"]),
        parse_exact(data["beta"]),
        _array(data["output_weight"]),
        _array(data["output_bias"]),
        map_from_json(data["update"]),
        None if data["class_update"] is None else map_from_json(data["class_update"]),
    )


def map_to_json(function: Map) -> dict[str, Any]:
    """A feed-forward map: ``{"layers": [...]}`` or ``{"input_dim": ..., "components": [...]}``."""
    if isinstance(function, Perceptron):
        layers = [_layer_to_json(layer) for layer in function.layers]
        return {"layers": layers}
    components = [
        {
            "expression": expression_to_json(component.expression),
            "positions": None if component.positions is None else list(component.positions),
            "outside": format_exact(component.outside),
        }
        for component in function.components
    ]
    return {"input_dim": function.input_dim, "components": components}


def map_from_json(data: Mapping[str, Any]) -> Map:
    """Inverse of `map_to_json`."""
    if "layers" in data:
        return Perceptron(tuple(_layer_from_json(entry) for entry in data["layers"]))
    components = tuple(
        Component(
            expression_from_json(entry["expression"]),
            None if entry["positions"] is None else tuple(int(position) for position in entry["positions"]),
            parse_exact(entry["outside"]),
        )
        for entry in data["components"]
    )
    return Formula(data["input_dim"], components)


def tokens_to_json(tokens: ExactArray) -> list[Any]:
    """A sequence of tokens (T, d), exact."""
    rows: list[Any] = _array_to_json(tokens)
    return rows


def tokens_from_json(data: Any) -> ExactArray:
    """Inverse of `tokens_to_json`."""
    return _array(data)


def _layer_to_json(layer: Dense) -> dict[str, Any]:
    """``weight`` is a list of rows or, if sparse, ``{"shape": [out, in], "rows": [[[column, value], ...], ...]}``,
    columns from 0; ``copies`` only where some neuron stands for several."""
    rest: dict[str, Any] = {"bias": _array_to_json(layer.bias), "activation": layer.activation}
    if layer.copies is not None:
        rest["copies"] = [format_exact(number) for number in layer.copies]
    if not isinstance(layer, SparseLayer):
        return {"weight": _array_to_json(layer.weight), **rest}
    rows = [[[column, format_exact(value)] for column, value in row.items()] for row in layer.entries.rows()]
    return {"weight": {"shape": list(layer.shape), "rows": rows}, **rest}


def _layer_from_json(entry: Mapping[str, Any]) -> Dense:
    bias, activation = _array(entry["bias"]), entry["activation"]
    if not isinstance(entry["weight"], Mapping):
        copies = None if entry.get("copies") is None else tuple(_whole(text) for text in entry["copies"])
        return Dense(_array(entry["weight"]), bias, activation, copies)
    num_rows, num_columns = entry["weight"]["shape"]
    rows = entry["weight"]["rows"]
    if len(rows) != num_rows or sum(map(len, rows)) > MAX_ENTRIES:
        raise InvalidInput.about("number of rows or weights", len(rows), f"{num_rows} rows", "re-export it")
    parsed = [{int(column): parse_exact(value) for column, value in row} for row in rows]
    return SparseLayer(SparseMatrix.from_rows(parsed, num_columns), bias, activation)


def _whole(text: str) -> int:
    number = parse_exact(text)
    if number.denominator != 1:
        raise InvalidInput.about("copies", text, "an integer", "re-export it")
    return number.numerator


def _array_to_json(array: ExactArray) -> Any:
    if array.ndim == 1:
        return [format_exact(entry if isinstance(entry, Fraction) else float(entry)) for entry in array]
    return [_array_to_json(row) for row in array]


def _array(data: Any) -> ExactArray:
    rows = data if data and isinstance(data[0], list) else [data]
    if sum(len(row) for row in rows) > MAX_ENTRIES:
        raise InvalidInput.about("number of weights", "too many", f"at most {MAX_ENTRIES}", "a smaller network")
    if len({len(row) for row in rows}) > 1:
        raise InvalidInput.about("matrix", "rows of unequal length", "equal lengths", "re-export it")
    parsed = fractions([[parse_exact(entry) for entry in row] for row in rows])
    return parsed if rows is data else np.asarray(parsed[0])
