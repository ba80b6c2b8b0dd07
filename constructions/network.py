"""The network of DEF-H as data: exact weights, no behaviour. `constructions.evaluate` runs it in any arithmetic.

    output = readout( output_bias + output_weight Concat_i [ sum_t softmax_t(beta rho_i)(t) value_i(t) ] )
    rho_i(t) = (query_i class_token + query_bias_i) . key_i encoder(x(t), t),
    value_i(t) = value_i encoder(x(t), t) + value_bias_i

DEF-H has ``output_bias = class_token`` and no other bias; trained blocks have both. A key bias shifts all scores of a
head alike and drops out of the softmax, so there is none here.

Between encoder and class token there may be token layers (`TokenLayer`), in which every token attends to all tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from constructions.arithmetic import EXACT, ExactArray, exact_array
from theory.errors import InvalidInput
from theory.expressions import Expression, free_variables

ACTIVATIONS = ("identity", "relu", "gelu", "tanh", "silu", "sigmoid", "heaviside")
"""heaviside(x) is 1 for x >= 0 and 0 for x < 0."""
MAX_SEQ_LEN = 100_000


@dataclass(frozen=True, eq=False)
class Dense:
    """``activation(weight @ x + bias)``: weight (out, in), bias (out,) or, depending on the position, (T, out).

    ``copies``: None, or how many identical neurons each row stands for; the next layer receives their sum. So networks
    with more unit-weight neurons than any memory holds (N7) are data, and are counted neuron by neuron.
    """

    weight: ExactArray
    bias: ExactArray
    activation: str = "identity"
    copies: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", exact_array(self.weight, "weight", (None, None)))
        self.check()

    @property
    def shape(self) -> tuple[int, int]:
        """(out, in)."""
        rows, columns = self.weight.shape
        return int(rows), int(columns)

    def check(self) -> None:
        """Freeze the bias; InvalidInput unless bias, activation and copies fit the weight."""
        rows = self.shape[0]
        shape = (None, rows) if getattr(self.bias, "ndim", 1) == 2 else (rows,)
        object.__setattr__(self, "bias", exact_array(self.bias, "bias", shape))
        if self.activation not in ACTIVATIONS:
            raise InvalidInput.about("activation", self.activation, f"one of {', '.join(ACTIVATIONS)}", "relu")
        if self.copies is not None and (len(self.copies) != rows or not all(_is_count(n) for n in self.copies)):
            raise InvalidInput.about("copies", self.copies, f"{rows} integers >= 1, one for each row", "None")


@dataclass(frozen=True, eq=False)
class Perceptron:
    """A feed-forward network: dense layers applied in turn."""

    layers: tuple[Dense, ...]

    def __post_init__(self) -> None:
        for before, after in zip(self.layers, self.layers[1:], strict=False):
            if before.shape[0] != after.shape[1]:
                found = (before.shape, after.shape)
                raise InvalidInput.about("layer shapes", found, "(b, a) then (c, b)", "check the widths")
        if not self.layers:
            raise InvalidInput.about("layers", 0, "at least one layer", "add an identity layer")
        if self.layers[-1].copies is not None:
            raise InvalidInput.about("copies", "last layer", "a layer after it that adds the copies", "add a layer")

    @property
    def input_dim(self) -> int:
        return self.layers[0].shape[1]

    @property
    def output_dim(self) -> int:
        return self.layers[-1].shape[0]


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
class TokenLayer:
    """A layer in which every token t attends, with its own query, to all T tokens:

    heard(t) = output_bias + output_weight Concat_i [ sum_u softmax_u(beta (query_i state(t) + query_bias_i) .
    key_i state(u)) (value_i state(u) + value_bias_i) ],   new state(t) = update(state(t), heard(t)), t may matter.
    ``class_update``: None, or the same for the class token, which then queries the same heads.
    Shapes: heads on states R^E; output_weight (R, sum of value sizes); output_bias (R,); update R^(E+R) -> R^E'.
    """

    heads: tuple[Head, ...]
    beta: Fraction
    output_weight: ExactArray
    output_bias: ExactArray
    update: Map
    class_update: Map | None = None

    def __post_init__(self) -> None:
        _check_attention(self, self.beta)
        width = self.heads[0].key.shape[1]
        for name, function in (("update", self.update), ("class_update", self.class_update)):
            if function is not None and function.input_dim != width + len(self.output_bias):
                wanted = f"{width} + {len(self.output_bias)} (state and heard)"
                raise InvalidInput.about(f"{name} input", function.input_dim, wanted, "match the state")
        if self.class_update is not None and any(_positional_lengths(self.class_update)):
            raise InvalidInput.about("class_update", "positional bias", "no position", "one bias row")


@dataclass(frozen=True, eq=False)
class Network:
    """The transformer of DEF-H with its class-token query, after any number of token layers. All weights are exact.

    Shapes: class_token (C,); output_weight (R, sum of value sizes); output_bias (R,); heads as in `Head`;
    encoder R^d (and the position) -> R^E; readout R^R -> R^l. DEF-H has no token layer.
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
    token_layers: tuple[TokenLayer, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.seq_len <= MAX_SEQ_LEN:
            raise InvalidInput.about("seq_len", self.seq_len, f"between 1 and {MAX_SEQ_LEN}", "another length")
        object.__setattr__(self, "class_token", exact_array(self.class_token, "class_token", (None,)))
        _check_attention(self, self.beta)
        width, class_width = self.encoder.output_dim, len(self.class_token)
        for layer in self.token_layers:
            _check_heads(layer.heads, width, width)
            if layer.class_update is not None:
                _check_heads(layer.heads, width, class_width)
                class_width = layer.class_update.output_dim
            width = layer.update.output_dim
        _check_heads(self.heads, width, class_width)
        if self.encoder.input_dim != self.token_dim:
            raise InvalidInput.about("encoder input", self.encoder.input_dim, f"token_dim={self.token_dim}", "match it")
        rows = len(self.output_bias)
        if self.readout.input_dim != rows:
            raise InvalidInput.about("readout input", self.readout.input_dim, f"{rows} inputs", "match output_weight")
        for function in (self.encoder, *(layer.update for layer in self.token_layers)):
            for table in _positional_lengths(function):
                if table != self.seq_len:
                    raise InvalidInput.about("positional bias rows", table, f"seq_len={self.seq_len}", "one row each")

    @property
    def num_heads(self) -> int:
        return len(self.heads)

    @cached_property
    def score_directions(self) -> tuple[ExactArray, ...]:
        """For each head the vector (E,) whose product with an encoded token is its score with beta; exact."""
        token = EXACT.asarray(self.class_token)
        return tuple(
            EXACT.asarray(head.key).T @ (EXACT.asarray(head.query) @ token + EXACT.asarray(head.query_bias)) * self.beta
            for head in self.heads
        )

    @property
    def value_dim(self) -> int:
        """Total number of attention outputs, sum of the heads' value sizes (n s in DEF-H)."""
        return int(self.output_weight.shape[1])


def require_single_layer(network: Network) -> None:
    """InvalidInput unless the network is one of DEF-H: no token layer."""
    if network.token_layers:
        raise InvalidInput.about("token layers", len(network.token_layers), "none (DEF-H)", "a single-layer network")


def _check_attention(layer: TokenLayer | Network, beta: Fraction) -> None:
    """Check beta and the heads' outputs, and freeze output_weight and output_bias."""
    if beta <= 0:
        raise InvalidInput.about("beta", beta, "beta > 0 (DEF-H)", "a positive inverse temperature")
    if not layer.heads:
        raise InvalidInput.about("heads", 0, "at least one head", "add a head")
    values = sum(head.value.shape[0] for head in layer.heads)
    weight = exact_array(layer.output_weight, "output_weight", (None, values))
    object.__setattr__(layer, "output_weight", weight)
    object.__setattr__(layer, "output_bias", exact_array(layer.output_bias, "output_bias", (weight.shape[0],)))


def _check_heads(heads: Sequence[Head], width: int, query_width: int) -> None:
    for head in heads:
        if head.key.shape[1] != width or head.query.shape[1] != query_width:
            found = (head.query.shape, head.key.shape)
            wanted = f"query (q, {query_width}) and key (q, {width})"
            raise InvalidInput.about("head shapes", found, wanted, "match the encoder and the class token")


def _positional_lengths(function: Map) -> Sequence[int]:
    if isinstance(function, Formula):
        return ()
    return tuple(layer.bias.shape[0] for layer in function.layers if layer.bias.ndim == 2)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
