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
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
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

    token_out, key, value = _aligned(p["token_out.weight"], 1), _aligned(p["key.weight"]), _aligned(p["value.weight"])
    q = p["query.bias"] + _apply(p["query.weight"], p["class_token"])
    asked = (key * q[:, :, None]).view(models, heads, config.head_dim, -1).sum(2)
    score_map = torch.bmm(asked, token_out) / math.sqrt(config.head_dim)  # (S, h, N)
    pooled: Tensor = _SoftmaxPool.apply(  # type: ignore[no-untyped-call]
        z.view(models, batch, config.seq_len, width), score_map
    )  # (S, B, h, N)

    after = torch.bmm(p["readout_in.weight"], _aligned(p["output.weight"]))[:, :, : config.embed_dim]  # (S, N, E)
    after_heads = after.view(models, width, heads, config.head_dim).transpose(1, 2)
    before = torch.bmm(value, token_out).view(models, heads, config.head_dim, width)
    mix = torch.matmul(after_heads, before).transpose(1, 2).reshape(models, width, heads * width)
    constant = p["output.bias"] + _apply(
        p["output.weight"], p["value.bias"] + _apply(p["value.weight"], p["token_out.bias"])
    )
    bias = (p["readout_in.bias"] + _apply(p["readout_in.weight"], constant))[:, None]
    units = functional.gelu(torch.baddbmm(bias, pooled.view(models, batch, heads * width), mix.transpose(1, 2)))
    return torch.baddbmm(p["readout_out.bias"][:, None], units, p["readout_out.weight"].transpose(1, 2))


class _SoftmaxPool(torch.autograd.Function):
    """p[s,b,i] = sum_t softmax_t(u[s,i] . z[s,b,t]) z[s,b,t]; z (S, B, T, N), u (S, h, N) -> (S, B, h, N).

    Its own derivative, because z enters twice: with w the weights, g the gradient at p and
    r = w (g.z - sum_t w g.z) the one at the scores, dz = w g + r u is one product over 2h instead of two and a sum.
    """

    @staticmethod
    def forward(ctx: Any, z: Tensor, u: Tensor) -> Tensor:
        models, batch, length, width = z.shape
        scores = torch.bmm(u, z.view(models, batch * length, width).transpose(1, 2))
        weights = torch.softmax(scores.view(models, -1, batch, length), dim=-1).transpose(1, 2).contiguous()
        ctx.save_for_backward(z, u, weights)
        return torch.bmm(weights.flatten(0, 1), z.flatten(0, 1)).view(models, batch, -1, width)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        z, u, weights = ctx.saved_tensors
        models, batch, length, width = z.shape
        at_weights = torch.bmm(gradient.flatten(0, 1), z.flatten(0, 1).transpose(1, 2)).view_as(weights)
        at_scores = weights * (at_weights - (weights * at_weights).sum(-1, keepdim=True))
        left = torch.cat([weights, at_scores], dim=2).flatten(0, 1).transpose(1, 2)
        right = torch.cat([gradient, u[:, None].expand_as(gradient)], dim=2).flatten(0, 1)
        by_head = at_scores.transpose(1, 2).reshape(models, -1, batch * length)
        return torch.bmm(left, right).view_as(z), torch.bmm(by_head, z.view(models, batch * length, width))


def _aligned(matrices: Tensor, from_last: int = 0) -> Tensor:
    """Zeros up to a multiple of 4 columns (``from_last=1``: rows) where E is none.

    A batched product gives a matrix other last bits when it starts off a 16-byte boundary, that is, depending on its
    place in the ensemble; so no result of one may have an odd size. N and the batch are the caller's to choose.
    """
    missing = -matrices.shape[-1 - from_last] % 4
    return functional.pad(matrices, (0, 0) * from_last + (0, missing)) if missing else matrices


def _apply(matrices: Tensor, vectors: Tensor) -> Tensor:
    """(S, a, b), (S, b) -> (S, a). Not ``bmm``, whose bits for a vector differ between S = 1 and S > 1."""
    return (matrices * vectors[:, None]).sum(-1)


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
