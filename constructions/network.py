"""The network of DEF-H as data: exact weights, no behaviour. `constructions.evaluate` runs it in any arithmetic.

    output = readout( output_bias + output_weight Concat_i [ sum_t softmax_t(beta rho_i)(t) value_i(t) ] )
    rho_i(t) = (query_i class_token + query_bias_i) . key_i encoder(x(t), t),
    value_i(t) = value_i encoder(x(t), t) + value_bias_i

DEF-H has ``output_bias = class_token`` and no other bias; trained blocks have both. A key bias shifts all scores of a
head alike and drops out of the softmax, so there is none here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.arithmetic import ExactArray, exact_array
from theory.errors import InvalidInput
from theory.expressions import Expression, free_variables

ACTIVATIONS = ("identity", "relu", "gelu", "tanh")
MAX_SEQ_LEN = 100_000


@dataclass(frozen=True, eq=False)
class Dense:
    """``activation(weight @ x + bias)``: weight (out, in), bias (out,) or, depending on the position, (T, out)."""

    weight: ExactArray
    bias: ExactArray
    activation: str = "identity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", exact_array(self.weight, "weight", (None, None)))
        rows = self.weight.shape[0]
        shape = (None, rows) if getattr(self.bias, "ndim", 1) == 2 else (rows,)
        object.__setattr__(self, "bias", exact_array(self.bias, "bias", shape))
        if self.activation not in ACTIVATIONS:
            raise InvalidInput.about("activation", self.activation, f"one of {', '.join(ACTIVATIONS)}", "relu")


@dataclass(frozen=True, eq=False)
class Perceptron:
    """A feed-forward network: dense layers applied in turn."""

    layers: tuple[Dense, ...]

    def __post_init__(self) -> None:
        for before, after in zip(self.layers, self.layers[1:], strict=False):
            if before.weight.shape[0] != after.weight.shape[1]:
                found = (before.weight.shape, after.weight.shape)
                raise InvalidInput.about("layer shapes", found, "(b, a) then (c, b)", "check the widths")
        if not self.layers:
            raise InvalidInput.about("layers", 0, "at least one layer", "add an identity layer")

    @property
    def input_dim(self) -> int:
        return int(self.layers[0].weight.shape[1])

    @property
    def output_dim(self) -> int:
        return int(self.layers[-1].weight.shape[0])


@dataclass(frozen=True)
class Component:
    """One coordinate of a `Formula`: ``expression`` at the positions listed (1-based; None: all), else ``outside``."""

    expression: Expression
    positions: tuple[int, ...] | None = None
    outside: Fraction = Fraction(0)


@dataclass(frozen=True)
class Formula:
    """A map given by expressions in ``x0, x1, ...`` (its inputs), one `Component` for each output coordinate."""

    input_dim: int
    components: tuple[Component, ...]

    def __post_init__(self) -> None:
        names = {f"x{index}" for index in range(self.input_dim)}
        for component in self.components:
            if unknown := free_variables(component.expression) - names:
                raise InvalidInput.about("variable", sorted(unknown), f"in x0..x{self.input_dim - 1}", "rename it")

    @property
    def output_dim(self) -> int:
        return len(self.components)


Map = Perceptron | Formula


@dataclass(frozen=True, eq=False)
class Head:
    """One head: query and key (q, E), value (v, E), query_bias (q,), value_bias (v,); q and v are independent."""

    query: ExactArray
    key: ExactArray
    value: ExactArray
    query_bias: ExactArray
    value_bias: ExactArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", exact_array(self.key, "key", (None, None)))
        size, width = self.key.shape
        object.__setattr__(self, "query", exact_array(self.query, "query", (size, None)))
        object.__setattr__(self, "value", exact_array(self.value, "value", (None, width)))
        object.__setattr__(self, "query_bias", exact_array(self.query_bias, "query_bias", (size,)))
        object.__setattr__(self, "value_bias", exact_array(self.value_bias, "value_bias", (self.value.shape[0],)))


@dataclass(frozen=True, eq=False)
class Network:
    """The single-layer transformer of DEF-H with its class-token query. All weights are exact.

    Shapes: class_token (C,); output_weight (R, sum of value sizes); output_bias (R,); heads as in `Head`;
    encoder R^d (and the position) -> R^E; readout R^R -> R^l.
    """

    seq_len: int
    token_dim: int
    encoder: Map
    class_token: ExactArray
    heads: tuple[Head, ...]
    beta: Fraction
    output_weight: ExactArray
    output_bias: ExactArray
    readout: Map

    def __post_init__(self) -> None:
        if not 1 <= self.seq_len <= MAX_SEQ_LEN:
            raise InvalidInput.about("seq_len", self.seq_len, f"between 1 and {MAX_SEQ_LEN}", "another length")
        if self.beta <= 0:
            raise InvalidInput.about("beta", self.beta, "beta > 0 (DEF-H)", "a positive inverse temperature")
        if not self.heads:
            raise InvalidInput.about("heads", 0, "at least one head", "add a head")
        object.__setattr__(self, "class_token", exact_array(self.class_token, "class_token", (None,)))
        for head in self.heads:
            if head.key.shape[1] != self.encoder.output_dim or head.query.shape[1] != len(self.class_token):
                found = (head.query.shape, head.key.shape)
                wanted = f"query (q, {len(self.class_token)}) and key (q, {self.encoder.output_dim})"
                raise InvalidInput.about("head shapes", found, wanted, "match the encoder and the class token")
        values = sum(head.value.shape[0] for head in self.heads)
        object.__setattr__(self, "output_weight", exact_array(self.output_weight, "output_weight", (None, values)))
        rows = self.output_weight.shape[0]
        object.__setattr__(self, "output_bias", exact_array(self.output_bias, "output_bias", (rows,)))
        if self.encoder.input_dim != self.token_dim:
            raise InvalidInput.about("encoder input", self.encoder.input_dim, f"token_dim={self.token_dim}", "match it")
        if self.readout.input_dim != rows:
            raise InvalidInput.about("readout input", self.readout.input_dim, f"{rows} inputs", "match output_weight")
        for table in _positional_lengths(self.encoder):
            if table != self.seq_len:
                raise InvalidInput.about("positional bias rows", table, f"seq_len={self.seq_len}", "one row each")

    @property
    def num_heads(self) -> int:
        return len(self.heads)

    @property
    def value_dim(self) -> int:
        """Total number of attention outputs, sum of the heads' value sizes (n s in DEF-H)."""
        return int(self.output_weight.shape[1])


def _positional_lengths(encoder: Map) -> Sequence[int]:
    if isinstance(encoder, Formula):
        return ()
    return tuple(layer.bias.shape[0] for layer in encoder.layers if layer.bias.ndim == 2)
