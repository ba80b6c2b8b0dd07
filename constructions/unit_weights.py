"""A1.3 for two-layer networks: every weight and bias in [-1, 1], by rescaled neurons and by copies of neurons."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from constructions.arithmetic import fractions
from constructions.network import Dense, Perceptron
from theory.errors import InvalidInput

HOMOGENEITY = {"relu": 1, "heaviside": 0}
"""Degree k with activation(s x) = s^k activation(x) for s > 0."""


@dataclass(frozen=True, eq=False)
class UnitWeights:
    """The network, and its hidden neurons counted once each (``different``) or with their copies (``with_copies``)."""

    network: Perceptron
    different: int
    with_copies: int


def unit_weights(network: Perceptron) -> UnitWeights:
    """The same function with all weights and biases in [-1, 1] (A1.3, existence; exact equality).

    A hidden row (a, b) is divided by m = max |entries of a and b| (of any size, so small rows are scaled up) and its
    output weights c multiplied by m for ReLU, by 1 for Heaviside; what is then larger than 1 is shared among
    ceil(max |c|) copies. An output bias beyond 1 becomes copies of a neuron that is constantly 1.

    >>> from constructions.approximators import approximate
    >>> from theory.expression_parser import parse_expression
    >>> steep = approximate(parse_expression("5*relu(3*x0 - 1)"), ("x0",), [(Fraction(0), Fraction(1))], Fraction(0))
    >>> found = unit_weights(steep.network)
    >>> found.different, found.with_copies
    (1, 15)

    Raises:
        InvalidInput: not two layers, an activation other than relu and heaviside, or copies already.
    """
    # Proof: activation(a.x + b) = m^k activation((a.x + b)/m), and N copies with c/N each add up to c.
    layers = network.layers
    if len(layers) != 2 or layers[1].activation != "identity":
        raise InvalidInput.about("layers", len(layers), "a hidden layer and an affine one", "one network at a time")
    hidden, output = layers
    if hidden.activation not in HOMOGENEITY or hidden.bias.ndim != 1 or hidden.copies is not None:
        wanted = f"{' or '.join(HOMOGENEITY)}, no positional bias, no copies"
        raise InvalidInput.about("activation", hidden.activation, wanted, "apply unit_weights once")
    rows: list[list[Fraction]] = []
    columns: list[list[Fraction]] = []
    copies: list[int] = []
    for row, offset, column in zip(hidden.weight, hidden.bias, output.weight.T, strict=True):
        size = max(map(abs, (*row, offset))) or Fraction(1)
        outputs = [entry * size ** HOMOGENEITY[hidden.activation] for entry in column]
        _add(rows, columns, copies, [*(row / size), offset / size], outputs)
    bias = output.bias
    if max(map(abs, bias)) > 1:
        _add(rows, columns, copies, [*[Fraction(0)] * network.input_dim, Fraction(1)], list(bias))
        bias = fractions([Fraction(0)] * len(bias))
    several = tuple(copies) if max(copies) > 1 else None
    table = fractions(rows)
    first = Dense(table[:, :-1], table[:, -1], hidden.activation, several)
    return UnitWeights(Perceptron((first, Dense(fractions(columns).T, bias))), len(copies), sum(copies))


def _add(
    rows: list[list[Fraction]],
    columns: list[list[Fraction]],
    copies: list[int],
    row: list[Fraction],
    outputs: list[Fraction],
) -> None:
    number = max(1, math.ceil(max(map(abs, outputs))))
    rows.append(row)
    columns.append([entry / number for entry in outputs])
    copies.append(number)
