"""``headcount show``: what is in a network's file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table

from constructions.network import Formula, Map, Network, TokenLayer
from constructions.network_file import file_notes, load_network
from constructions.rounding import weight_rounding_upper
from headcount import console, counting_view


def run(path: Path, as_json: bool) -> None:
    """Read, summarise, exit 0."""
    network = load_network(path)
    data = {"file": str(path), **file_notes(path), **summary(network)}
    console.emit(as_json, data, lambda: _render(data))


def summary(network: Network) -> dict[str, Any]:
    """Sizes, layers, counts and constraints of a network, as plain data."""
    bound = weight_rounding_upper(network)
    return {
        "seq_len": network.seq_len,
        "token_dim": network.token_dim,
        "layers": [
            *({"part": "encoder", **row} for row in _map(network.encoder)),
            *(row for number, layer in enumerate(network.token_layers) for row in _token_layer(number, layer)),
            _attention("attention", network),
            *({"part": "read-out", **row} for row in _map(network.readout)),
        ],
        "parameters": counting_view.counts(network),
        "constraints": counting_view.constraints(network),
        "float64_changes_the_output_by_at_most": None if bound is None else f"{bound:.3g}",
    }


def _map(function: Map) -> list[dict[str, Any]]:
    if isinstance(function, Formula):
        return [{"shape": f"{function.input_dim} -> {function.output_dim}", "how": "formula"}]
    rows = []
    for layer in function.layers:
        copies = "" if layer.copies is None else f", {sum(layer.copies):,} neurons with copies"
        place = ", bias by position" if layer.bias.ndim == 2 else ""
        rows.append({"shape": f"{layer.shape[1]} -> {layer.shape[0]}", "how": f"{layer.activation}{copies}{place}"})
    return rows


def _attention(part: str, layer: Network | TokenLayer) -> dict[str, Any]:
    heads = ", ".join(sorted({f"{head.key.shape[1]} -> {head.value.shape[0]}" for head in layer.heads}))
    return {"part": part, "shape": heads, "how": f"{len(layer.heads)} heads, beta {console.scientific(layer.beta, 5)}"}


def _token_layer(number: int, layer: TokenLayer) -> list[dict[str, Any]]:
    name = f"token layer {number + 1}"
    return [_attention(name, layer), *({"part": f"{name}, update", **row} for row in _map(layer.update))]


def _render(data: dict[str, Any]) -> None:
    view = Table(title=f"{data['file']}: T = {data['seq_len']}, d = {data['token_dim']}", title_justify="left")
    for column in ("part", "shape", "how"):
        view.add_column(column)
    for row in data["layers"]:
        view.add_row(row["part"], row["shape"], row["how"])
    console.out.print(view)
    counting_view.render(data["parameters"], data["constraints"])
    for key in ("weights", "rounding_upper", "float64_changes_the_output_by_at_most"):
        if data.get(key) is not None:
            console.out.print(f"{key.replace('_', ' ')}: {data[key]}", markup=False)
