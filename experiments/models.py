"""The trainable block of E1, many models at once: names, shapes, initialisation and the folded forward pass.

One block is (all letters as in the paper, N = ``hidden``, E = ``num_heads * head_dim``, d, T, l)::

    z(t)    = act(token_in x(t))            token encoder: d -> N -> E, no positional code
    xhat(t) = token_out z(t)
    a_i     = sum_t softmax_t(q_i . k_i(t) / sqrt(n)) v_i(t),   q = query c0, k = key xhat, v = value xhat
    y       = readout_out gelu(readout_in (output concat_i a_i))       gelu with the exact erf

As in DEF-H the sums run over the T tokens only: the class token c0 asks, it is not among the keys or values.
There is no residual, no layer norm; DEF-H's "c0 +" inside the read-out is a constant, hence part of
``output.bias``, and its beta sits in the weights. Parameters are a plain ``dict[str, Tensor]`` with the names and
shapes of :func:`parameter_shapes` (those an ``nn.MultiheadAttention`` between two MLPs would have, with
``in_proj`` split into query, key, value); an ensemble has the same names with one leading axis, the models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import torch
from torch import Tensor
from torch.nn import functional

from experiments.streams import random_stream
from theory.errors import InvalidInput

ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "gelu": functional.gelu,
    "tanh": torch.tanh,
}
SIZE_LIMIT = 1 << 20  # no single size beyond this: a mistyped configuration must not eat the machine's memory


@dataclass(frozen=True)
class BlockConfig:
    """Sizes of one block; every field is checked, all violations are reported at once.

    >>> BlockConfig(token_dim=1, seq_len=32, num_heads=2, head_dim=8, hidden=32).embed_dim
    16
    """

    token_dim: int
    seq_len: int
    num_heads: int
    head_dim: int
    hidden: int
    outputs: int = 1
    token_activation: str = "relu"

    def __post_init__(self) -> None:
        wrong: list[str] = []
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "token_activation":
                if value not in ACTIVATIONS:
                    wrong.append(f"{field.name}={value!r} is none of {', '.join(ACTIVATIONS)}")
            elif type(value) is not int or not 1 <= value <= SIZE_LIMIT:
                wrong.append(f"{field.name}={value!r} is no integer in 1..{SIZE_LIMIT}")
        if wrong:
            raise InvalidInput(f"block configuration: {'; '.join(wrong)}. Try: the sizes of E1, d=4, n=8, N=32.")

    @property
    def embed_dim(self) -> int:
        """E = n h."""
        return self.num_heads * self.head_dim

    def to_json(self) -> dict[str, int | str]:
        """The resolved configuration, as it enters the key of a store's cell."""
        return asdict(self)


def parameter_shapes(config: BlockConfig) -> dict[str, tuple[int, ...]]:
    """Names and shapes of one model's parameters, in the order in which the trainer lays them out."""
    d, n, e, out = config.token_dim, config.hidden, config.embed_dim, config.outputs
    shapes: dict[str, tuple[int, ...]] = {"token_in.weight": (n, d), "token_in.bias": (n,)}
    shapes |= {"token_out.weight": (e, n), "token_out.bias": (e,), "class_token": (e,)}
    for name in ("query", "key", "value", "output"):
        shapes |= {f"{name}.weight": (e, e), f"{name}.bias": (e,)}
    shapes |= {"readout_in.weight": (n, e), "readout_in.bias": (n,)}
    return shapes | {"readout_out.weight": (out, n), "readout_out.bias": (out,)}


def init_parameters(config: BlockConfig, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
    """One model's start in torch's default initialisation, each tensor from its own stream (seed, name).

    Linear layers: U(-b, b), b = 1/sqrt(fan in), weight and bias. Attention as in ``nn.MultiheadAttention``: query,
    key, value Xavier-uniform over the stacked 3E x E matrix (b = sqrt(6/(4E))), output b = 1/sqrt(E), all four
    biases zero. Class token N(0, 1). Drawn in float64, then rounded to ``dtype``.
    """
    parameters: dict[str, Tensor] = {}
    shapes = parameter_shapes(config)
    for name, shape in shapes.items():
        layer = name.split(".")[0]
        stream = random_stream(seed, "init", name)
        if name == "class_token":
            value = torch.randn(shape, generator=stream, dtype=torch.float64)
        elif name.endswith("bias") and layer in ("query", "key", "value", "output"):
            value = torch.zeros(shape, dtype=torch.float64)
        else:
            fan_in = shapes[f"{layer}.weight"][1]
            bound = math.sqrt(6 / (4 * fan_in)) if layer in ("query", "key", "value") else 1 / math.sqrt(fan_in)
            value = (2 * torch.rand(shape, generator=stream, dtype=torch.float64) - 1) * bound
        parameters[name] = value.to(dtype)
    return parameters


def stack_models(models: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Single models -> one ensemble, new leading axis."""
    return {name: torch.stack([model[name] for model in models]) for name in models[0]}


def select_model(parameters: Mapping[str, Tensor], index: int) -> dict[str, Tensor]:
    """Model ``index`` of an ensemble, without the leading axis (copied)."""
    return {name: value[index].detach().clone() for name, value in parameters.items()}


def unstandardise(parameters: Mapping[str, Tensor], mean: Tensor, std: Tensor) -> dict[str, Tensor]:
    """Fold ``y -> std * y + mean`` (shapes (l,)) into ``readout_out``; one model or an ensemble, result float64.

    The float64 tensors returned *are* the network from here on. Weights and biases are float32 in the usual run and
    the trainer's std has 24 bits, so the products are exact; adding the mean rounds once.
    """
    folded = {name: value.detach().to(torch.float64) for name, value in parameters.items()}
    scale, shift = std.to(torch.float64), mean.to(torch.float64)
    folded["readout_out.weight"] = folded["readout_out.weight"] * scale[:, None]
    folded["readout_out.bias"] = folded["readout_out.bias"] * scale + shift
    return folded


def forward(parameters: Mapping[str, Tensor], x: Tensor, config: BlockConfig) -> Tensor:
    """All models' outputs by exact algebra on the raw parameters: (S or 1, B, T, d) -> (S, B, l).

    Hypotheses: ``parameters`` of an ensemble of S models (see :func:`stack_models`), x in their dtype. Equal to
    :func:`reference_forward` in exact arithmetic; the gradient reaches the raw parameters (key.bias gets 0).
    """
    # Scores: q_i.(W_K,i (W_2 z + b_2) + b_K,i) = (W_2^T W_K,i^T q_i).z + const, and softmax ignores the constant.
    # Values: sum_t sigma(t) (V z(t) + b) = V (sum_t sigma(t) z(t)) + b as the sigma sum to 1: pool z, then map.
    p = parameters
    models, batch, heads, width = p["class_token"].shape[0], x.shape[1], config.num_heads, config.hidden
    if x.dim() != 4 or x.shape[0] not in (1, models) or tuple(x.shape[2:]) != (config.seq_len, config.token_dim):
        wanted = f"shape (1 or {models}, batch, T={config.seq_len}, d={config.token_dim})"
        raise InvalidInput.about("x.shape", tuple(x.shape), wanted, "x[None] for data shared by all models")
    tokens = x.expand(models, *x.shape[1:]).reshape(models, batch * config.seq_len, config.token_dim)
    z = torch.baddbmm(p["token_in.bias"][:, None], tokens, p["token_in.weight"].transpose(1, 2))
    z = ACTIVATIONS[config.token_activation](z)

    q = torch.baddbmm(p["query.bias"][:, :, None], p["query.weight"], p["class_token"][:, :, None])
    asked = (p["key.weight"] * q).view(models, heads, config.head_dim, config.embed_dim).sum(2)
    score_map = torch.bmm(asked, p["token_out.weight"]) / math.sqrt(config.head_dim)  # (S, h, N)
    scores = torch.bmm(score_map, z.transpose(1, 2)).view(models, heads, batch, config.seq_len)
    weights = torch.softmax(scores, dim=-1).transpose(1, 2).reshape(models * batch, heads, config.seq_len)
    pooled = torch.bmm(weights, z.view(models * batch, config.seq_len, width))  # (S B, h, N)

    after = torch.bmm(p["readout_in.weight"], p["output.weight"])  # (S, N, E)
    after_heads = after.view(models, width, heads, config.head_dim).transpose(1, 2)
    before = torch.bmm(p["value.weight"], p["token_out.weight"]).view(models, heads, config.head_dim, width)
    mix = torch.matmul(after_heads, before).transpose(1, 2).reshape(models, width, heads * width)
    offset = torch.baddbmm(p["value.bias"][:, :, None], p["value.weight"], p["token_out.bias"][:, :, None])
    offset = torch.bmm(after, offset) + torch.bmm(p["readout_in.weight"], p["output.bias"][:, :, None])
    bias = offset.transpose(1, 2) + p["readout_in.bias"][:, None]
    units = functional.gelu(torch.baddbmm(bias, pooled.view(models, batch, heads * width), mix.transpose(1, 2)))
    return torch.baddbmm(p["readout_out.bias"][:, None], units, p["readout_out.weight"].transpose(1, 2))


def reference_forward(parameters: Mapping[str, Tensor], x: Tensor, config: BlockConfig) -> Tensor:
    """One model the plain way, through ``nn.MultiheadAttention``: (B, T, d) -> (B, l). The measure of `forward`."""
    p = parameters

    def linear(name: str, value: Tensor) -> Tensor:
        return functional.linear(value, p[f"{name}.weight"], p[f"{name}.bias"])

    tokens = linear("token_out", ACTIVATIONS[config.token_activation](linear("token_in", x)))
    class_token = p["class_token"].expand(x.shape[0], 1, config.embed_dim)
    attention = torch.nn.MultiheadAttention(config.embed_dim, config.num_heads, batch_first=True, dtype=x.dtype)
    projections = ("query", "key", "value")
    weights = {
        "in_proj_weight": torch.cat([p[f"{name}.weight"] for name in projections]),
        "in_proj_bias": torch.cat([p[f"{name}.bias"] for name in projections]),
        "out_proj.weight": p["output.weight"],
        "out_proj.bias": p["output.bias"],
    }
    pooled, _ = torch.func.functional_call(attention, weights, (class_token, tokens, tokens))
    return linear("readout_out", functional.gelu(linear("readout_in", pooled[:, 0])))
