"""One result type for all constructions: a finished network, the task it is for, and the pieces it was composed of.

A construction claims no error. `checks.budgets.certify` decides what the finished network does, from its weights or by
composing the parts again and comparing every weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from constructions.network import Formula, Map, Network, Perceptron
from constructions.task import RetrievalTask
from theory.errors import InvalidInput

Part = Map | Network | Fraction
"""A piece of a proof: a feed-forward map, a network, or an exact number such as beta."""
Kind = TypeVar("Kind", Perceptron, Formula, Network, Fraction)


@dataclass(frozen=True, eq=False)
class Built:
    """What ``build(task, eps, form, knowledge)`` of a construction returns.

    ``parts``: the named pieces that the proof composes, all exact: whatever the certificate needs to compose the
    network once more. ``design``: numbers worth showing to people (widths, steps, counts), never evidence.
    """

    kind: str
    form: str
    task: RetrievalTask
    eps: Fraction
    network: Network
    parts: tuple[tuple[str, Part], ...] = ()
    design: Mapping[str, Fraction | int | str] = field(default_factory=dict)

    def part(self, name: str, kind: type[Kind]) -> Kind:
        """The part of this name and kind; InvalidInput if there is none."""
        found = dict(self.parts).get(name)
        if not isinstance(found, kind):
            known = ", ".join(f"{key}: {type(part).__name__}" for key, part in self.parts)
            wanted = f"a {kind.__name__} among the parts ({known or 'none'})"
            raise InvalidInput.about("part", name, wanted, "build the network again")
        return found
