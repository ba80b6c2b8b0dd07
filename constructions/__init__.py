"""The proofs' objects as data. ``from constructions import to_torch`` gives a network as an ordinary torch module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from constructions.torch_module import to_torch

__all__ = ["to_torch"]


def __getattr__(name: str) -> Any:
    # Imported when it is asked for: who only reads or verifies data needs no torch.
    if name == "to_torch":
        from constructions.torch_module import to_torch

        return to_torch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
