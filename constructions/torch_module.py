"""A network as an ordinary ``torch.nn.Module``: batched, any device and floating dtype, every weight a parameter.

For use and for fine-tuning, not for proofs: the weights are rounded once, to the dtype, and so is every operation.
What rounding the weights to float64 can cost is bounded by `constructions.rounding`.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from constructions.arithmetic import ExactArray, TorchArithmetic, as_float, fractions
from constructions.evaluate import apply_map
from constructions.network import Dense, Formula, Head, Map, Network, TokenLayer
from constructions.rounding import rounded
from constructions.sparse import SparseLayer
from theory.errors import InvalidInput


def to_torch(network: Network, dtype: torch.dtype = torch.float64, device: str | torch.device = "cpu") -> TorchNetwork:
    """The network of DEF-H as a module: tokens (..., T, d) -> (..., l), on the device and in the dtype of its weights.

    Conclusion: in real arithmetic with the rounded weights, module(X) = network(X). All weights are parameters (beta
    is a buffer), so ``.to``, ``state_dict``, optimisers and gradients work as usual. Zeros are parameters too.
    Scores are beta times sums of rounded products: with large beta use float64. Raises InvalidInput.

    >>> from fractions import Fraction
    >>> from constructions.specialists import Knowledge, build
    >>> from constructions.task import toy
    >>> from theory.ledger import Form
    >>> module = to_torch(build(toy(4), Fraction(1, 20), Form.SHARPENED, Knowledge(Fraction(2))).network)
    >>> tokens = torch.tensor([[[0.25], [0.5], [0.75], [0.5]]], dtype=torch.float64)
    >>> abs(module(tokens).item() - 1.0) < 0.05
    True
    """
    if not dtype.is_floating_point:
        raise InvalidInput.about("dtype", str(dtype), "a floating point dtype", "torch.float64")
    return TorchNetwork(network).to(device=device, dtype=dtype)


class TorchNetwork(nn.Module):
    """See `to_torch`."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.seq_len, self.token_dim = network.seq_len, network.token_dim
        self.encoder = _map(network.encoder)
        self.class_token = _parameter(network.class_token)
        self.token_layers = nn.ModuleList([TokenUpdate(layer) for layer in network.token_layers])
        self.attention = Attention(network)
        self.readout = _map(network.readout)

    def forward(self, tokens: Tensor) -> Tensor:
        if tuple(tokens.shape[-2:]) != (self.seq_len, self.token_dim):
            wanted = f"(..., {self.seq_len}, {self.token_dim})"
            raise InvalidInput.about("tokens.shape", tuple(tokens.shape), wanted, "reshape it")
        states = self.encoder(tokens)
        asking = self.class_token.expand(*tokens.shape[:-2], 1, -1)
        for layer in self.token_layers:
            states, asking = layer(states, asking)
        answer: Tensor = self.readout(self.attention(asking, states)).squeeze(-2)
        return answer


class TokenUpdate(nn.Module):
    """A token layer: every token hears all tokens and is updated; so is the class token if it takes part."""

    def __init__(self, layer: TokenLayer) -> None:
        super().__init__()
        self.attention = Attention(layer)
        self.update = _map(layer.update)
        self.class_update = None if layer.class_update is None else _map(layer.class_update)

    def forward(self, states: Tensor, asking: Tensor) -> tuple[Tensor, Tensor]:
        heard = self.attention(states, states)
        updated = self.update(torch.cat([states, heard], dim=-1))
        if self.class_update is not None:
            asking = self.class_update(torch.cat([asking, self.attention(asking, states)], dim=-1))
        return updated, asking


class Attention(nn.Module):
    """All heads of a layer and what joins them: asking (..., q, C) hears states (..., T, E); output (..., q, R)."""

    def __init__(self, layer: Network | TokenLayer) -> None:
        super().__init__()
        self.heads = nn.ModuleList([AttentionHead(head) for head in layer.heads])
        self.register_buffer("beta", torch.tensor(as_float(layer.beta), dtype=torch.float64))
        self.output = Linear(layer.output_weight, layer.output_bias)

    def forward(self, asking: Tensor, states: Tensor) -> Tensor:
        outputs = [head(asking, states, self.beta) for head in self.heads]
        joined: Tensor = self.output(torch.cat(outputs, dim=-1))
        return joined


class AttentionHead(nn.Module):
    """One head: asking (..., q, C) and states (..., T, E) -> (..., q, v)."""

    def __init__(self, head: Head) -> None:
        super().__init__()
        self.query = Linear(head.query, head.query_bias)
        self.key = _parameter(head.key)
        self.value = Linear(head.value, head.value_bias)

    def forward(self, asking: Tensor, states: Tensor, beta: Tensor) -> Tensor:
        directions = beta * (self.query(asking) @ self.key)
        heard: Tensor = torch.softmax(directions @ states.mT, dim=-1) @ self.value(states)
        return heard


class Linear(nn.Module):
    """``weight @ x + bias``; the bias may have one row for each position."""

    def __init__(self, weight: ExactArray, bias: ExactArray) -> None:
        super().__init__()
        self.weight, self.bias = _parameter(weight), _parameter(bias)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight.T + self.bias


class SparseLinear(nn.Module):
    """``weight @ x + bias`` with the non-zero weights only: their values are the parameter, their places a buffer."""

    rows: Tensor
    columns: Tensor

    def __init__(self, layer: SparseLayer) -> None:
        super().__init__()
        entries = layer.entries
        self.num_rows = entries.shape[0]
        lengths = torch.from_numpy(np.diff(entries.starts))
        self.register_buffer("rows", torch.repeat_interleave(torch.arange(self.num_rows), lengths))
        self.register_buffer("columns", torch.from_numpy(np.array(entries.columns, dtype=np.int64)))
        self.weight, self.bias = _parameter(entries.values), _parameter(layer.bias)

    def forward(self, x: Tensor) -> Tensor:
        sums = x.new_zeros((*x.shape[:-1], self.num_rows))
        return sums.index_add(-1, self.rows, x[..., self.columns] * self.weight) + self.bias


class Activated(nn.Module):
    """A layer with its activation; a row that stands for several neurons counts as often."""

    copies: Tensor | None

    def __init__(self, layer: Dense) -> None:
        super().__init__()
        self.linear: nn.Module = (
            SparseLinear(layer) if isinstance(layer, SparseLayer) else Linear(layer.weight, layer.bias)
        )
        self.activation = layer.activation
        copies = None if layer.copies is None else rounded(fractions(layer.copies))
        self.register_buffer("copies", None if copies is None else torch.from_numpy(copies))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x)
        if self.activation != "identity":
            y = getattr(TorchArithmetic(y.dtype, str(y.device)), self.activation)(y)
        return y if self.copies is None else y * self.copies


class FormulaMap(nn.Module):
    """A map given by expressions; it has no parameters."""

    def __init__(self, formula: Formula) -> None:
        super().__init__()
        self.formula = formula

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = apply_map(self.formula, x, TorchArithmetic(x.dtype, str(x.device)))
        return result


def _map(function: Map) -> nn.Module:
    if isinstance(function, Formula):
        return FormulaMap(function)
    return nn.Sequential(*(Activated(layer) for layer in function.layers))


def _parameter(array: ExactArray) -> nn.Parameter:
    return nn.Parameter(torch.from_numpy(rounded(array)))
