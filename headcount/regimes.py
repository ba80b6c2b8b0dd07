"""``headcount bound --models``: where T2.2 stands for the head counts of well-known models."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from headcount import console
from headcount.bounds import LOG10_2, log10
from theory import paper_count
from theory import too_few_heads as bounds
from theory.finite_eps import sharpened_needs_seq_len_above
from theory.rational_bounds import count, positive

NOTE = (
    "Heads, dimensions and context lengths are inputs: check them against your model. The theorem is about one layer\n"
    "with a two-layer read-out and weights in [-1,1]; |S_i| = ceil(T/4) as in A2.4 unless S_i = [T] is named."
)


@dataclass(frozen=True)
class Model:
    """Query heads of one layer, dimension per head, context length (tokens the model was published with)."""

    name: str
    heads: int
    head_dim: int
    context: int


MODELS = (
    Model("ViT-B/16", 12, 64, 197),
    Model("ViT-L/16", 16, 64, 197),
    Model("BERT-Base", 12, 64, 512),
    Model("BERT-Large", 16, 64, 512),
    Model("GPT-2 small", 12, 64, 1024),
    Model("GPT-2 medium", 16, 64, 1024),
    Model("GPT-2 large", 20, 64, 1024),
    Model("GPT-2 XL", 25, 64, 1024),
    Model("GPT-3 175B", 96, 128, 2048),
    Model("Llama-2 7B", 32, 128, 4096),
    Model("Llama-2 13B", 40, 128, 4096),
    Model("Llama-2 70B", 64, 128, 4096),
    Model("Llama-3 8B", 32, 128, 8192),
    Model("Llama-3.1 8B", 32, 128, 131_072),
    Model("Llama-3.1 405B", 128, 128, 131_072),
)


def table(targets: int | None, rho: Fraction) -> dict[str, Any]:
    """One row per model as plain data; D = s + 1, the least that T2.2 speaks about, unless ``targets`` is given."""
    positive("rho", rho)
    if targets is not None:
        count("targets", targets)
    return {"note": NOTE, "rho": rho, "models": [row(model, targets or model.heads + 1, rho) for model in MODELS]}


def row(model: Model, targets: int, rho: Fraction) -> dict[str, Any]:
    """Exponents at the model's context, the lengths from which they are positive, and the eps where bounds begin."""
    data: dict[str, Any] = {
        "model": model.name,
        "heads": model.heads,
        "head_dim": model.head_dim,
        "width": model.heads * model.head_dim,
        "context": model.context,
        "targets": targets,
    }
    if model.heads >= targets:
        return data | {"says": "s >= D"}
    order = (model.context, model.head_dim, model.heads, targets)
    sizes = (model.head_dim, model.heads, targets, model.context)
    lengths = bounds.regime(*order)
    everywhere = bounds.exponent_sharpened(*order, support=model.context)
    data |= {
        "k_published": round(float(lengths.exponent_published), 4),
        "k_sharpened": round(float(lengths.exponent_sharpened), 4),
        "k_sharpened_everywhere": round(float(everywhere), 4),
        "published_needs_seq_len_above": lengths.seq_len_above_published,
        "sharpened_needs_seq_len_above": lengths.seq_len_above_sharpened,
        "sharpened_everywhere_needs_seq_len_above": sharpened_needs_seq_len_above(*sizes[:3]),
        "n4_first_parameter": _first(rho, sizes, None),
        "n4_everywhere_first_parameter": _first(rho, sizes, model.context),
        "paper_count": None,
        "says": "N4*" if everywhere > 0 else "nothing",
    }
    if lengths.sharpened_is_positive:
        data["says"] = "N4"
    if lengths.published_is_positive and model.context % 4 == 0:
        eps = paper_count.paper_threshold_eps(rho, *sizes)
        gives = paper_count.paper_count(eps, rho, *sizes).parameters_log2_lower
        shown = {"parameters_log10_there": round(float(gives * LOG10_2), 2)}
        data["paper_count"] = {"eps": console.scientific(eps, 3), "log10_eps": round(log10(eps), 2)} | shown
        data["says"] = "N4, T2.2"
    return data


def _first(rho: Fraction, sizes: tuple[int, int, int, int], support: int | None) -> dict[str, Any] | None:
    eps = bounds.threshold_eps(1, rho, *sizes, support) if _any_free(sizes, support) else None
    return None if eps is None else {"eps": console.scientific(eps, 3), "log10_eps": round(log10(eps), 2)}


def _any_free(sizes: tuple[int, int, int, int], support: int | None) -> bool:
    return bounds.free_positions(*sizes, support) >= 1
