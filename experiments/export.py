"""A trained block as exact data: the very floats of the torch model become the weights of a `Network`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from torch import Tensor

from constructions.network import Dense, Head, Network, Perceptron
from experiments.models import BlockConfig, parameter_shapes, select_model
from theory.errors import InvalidInput


def to_network(parameters: Mapping[str, Tensor], config: BlockConfig, index: int | None = None) -> Network:
    """The block that ``parameters`` describe (see `experiments.models`), weight by weight, nothing rounded.

    Hypotheses: names and shapes of `parameter_shapes` (checked), all entries finite (checked); of an ensemble, give
    the model's ``index``. Conclusion: in real arithmetic, network(X) = forward(X); ``beta`` is the binary value of
    1/sqrt(head_dim) in float64, which is what the float64 model multiplies by. Key biases drop out of the softmax.

    Raises:
        InvalidInput: missing or misshapen parameters, or nan and infinity among them.
    """
    model = select_model(parameters, index) if index is not None else parameters
    arrays: dict[str, Any] = {}
    for name, shape in parameter_shapes(config).items():
        if name not in model or tuple(model[name].shape) != shape:
            found = tuple(model[name].shape) if name in model else "missing"
            raise InvalidInput.about(f"parameter {name}", found, f"shape {shape}", "select one model of the ensemble")
        arrays[name] = model[name].detach().cpu().double().numpy()

    def dense(name: str, activation: str = "identity") -> Dense:
        return Dense(arrays[f"{name}.weight"], arrays[f"{name}.bias"], activation)

    heads = []
    for number in range(config.num_heads):
        rows = slice(number * config.head_dim, (number + 1) * config.head_dim)
        query, key, value = (arrays[f"{name}.weight"][rows] for name in ("query", "key", "value"))
        heads.append(Head(query, key, value, arrays["query.bias"][rows], arrays["value.bias"][rows]))
    return Network(
        seq_len=config.seq_len,
        token_dim=config.token_dim,
        encoder=Perceptron((dense("token_in", config.token_activation), dense("token_out"))),
        class_token=arrays["class_token"],
        heads=tuple(heads),
        beta=Fraction(1 / math.sqrt(config.head_dim)),
        output_weight=np.asarray(arrays["output.weight"]),
        output_bias=arrays["output.bias"],
        readout=Perceptron((dense("readout_in", "gelu"), dense("readout_out"))),
    )
