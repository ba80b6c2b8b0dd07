"""The count table of ``build --count`` and ``show``: parameters by every convention, the largest weights, A1."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from checks.model_constraints import check_constraints, rescaling_cost
from constructions.counting import count_parameters
from constructions.network import Network
from headcount import console
from theory.errors import InvalidInput

CONVENTIONS = {
    "feed_forward_nonzero": "M of DEF-H: non-zero feed-forward weights and biases, a positional bias once per unit",
    "feed_forward_with_gates": "and the further entries of positional biases (gates)",
    "all_nonzero": "and attention, class token and beta",
    "feed_forward_dense": "feed-forward matrices and biases with their zeros",
    "positional": "positional entries alone",
    "attention": "attention, class token and beta alone",
}


def counts(network: Network) -> dict[str, int]:
    """Parameters by every convention; nothing for a network with formulas, which have no parameters."""
    try:
        found = count_parameters(network)
    except InvalidInput:
        return {}
    return {
        "feed_forward_nonzero": found.feed_forward,
        "feed_forward_with_gates": found.feed_forward + found.positional,
        "all_nonzero": found.all_nonzero,
        "feed_forward_dense": found.feed_forward_dense,
        "positional": found.positional,
        "attention": found.attention,
    }


def constraints(network: Network) -> dict[str, Any]:
    """A1 line by line, and what rescaling the network to it costs (null where that is not known)."""
    if network.token_layers:
        return {"lines": [], "rescaled": None}  # A1 is about one layer
    lines = [
        {"id": line.id, "what": line.what, "value": line.value, "verdict": line.verdict.label}
        for line in check_constraints(network)
    ]
    cost = rescaling_cost(network)
    if cost is None:
        return {"lines": lines, "rescaled": None}
    rescaled = {
        "encoder_divided_by": console.scientific(cost.factor, 5),
        "beta": console.scientific(cost.beta, 5),
        "readout_neurons": [cost.neurons_before, cost.neurons],
        "readout_parameters": [cost.parameters_before, cost.parameters],
    }
    return {"lines": lines, "rescaled": rescaled}


def render(parameters: dict[str, int], found: dict[str, Any]) -> None:
    """Both as tables."""
    if not parameters:
        console.out.print("parameters: none to count, a map of this network is a formula")
    view = Table(title="Parameters, by convention", title_justify="left")
    view.add_column("convention")
    view.add_column("number", justify="right")
    for name, number in parameters.items():
        view.add_row(CONVENTIONS[name], f"{number:,}")
    if parameters:
        console.out.print(view)
    if not found["lines"]:
        console.out.print("A1, the lower bound's constraints, is about networks of one layer: not applicable")
        return
    lines = Table(title="A1, the lower bound's constraints on models (not needed here)", title_justify="left")
    for column in ("line", "asks", "this network", "verdict"):
        lines.add_column(column)
    for line in found["lines"]:
        lines.add_row(line["id"], line["what"], line["value"], console.styled(line["verdict"]))
    console.out.print(lines)
    console.out.print(_cost(found["rescaled"]), markup=False)


def _cost(cost: dict[str, Any] | None) -> str:
    if cost is None:
        return (
            "rescaling to A1: not known for this network (needs a two-layer ReLU read-out and attention weights <= 1)"
        )
    neurons, parameters = (
        f"{before:,} -> {after:,}" for before, after in (cost["readout_neurons"], cost["readout_parameters"])
    )
    return (
        f"rescaled to A1: encoder divided by {cost['encoder_divided_by']}, beta {cost['beta']}, "
        f"read-out neurons {neurons}, its parameters {parameters}"
    )
