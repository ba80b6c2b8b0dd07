"""One result type for all constructions: a finished network, the task it is for, and the pieces it was composed of.

A construction claims no error. `checks.budgets.certify` decides what the finished network does, from its weights or by
composing the parts again and comparing every weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn

from constructions.network import Formula, Map, Network, Perceptron
from constructions.task import RetrievalTask
from theory.errors import InvalidInput

Part = Map | Network | Fraction
"""A piece of a proof: a feed-forward map, a network, or an exact number such as beta."""


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

    def map(self, name: str) -> Map:
        """The part of this name, a map; InvalidInput if there is none."""
        part = self._part(name)
        return part if isinstance(part, Perceptron | Formula) else self._refuse(name, part, "a feed-forward map")

    def composed(self, name: str) -> Network:
        """The part of this name, a whole network; InvalidInput if there is none."""
        part = self._part(name)
        return part if isinstance(part, Network) else self._refuse(name, part, "a network")

    def number(self, name: str) -> Fraction:
        """The part of this name, an exact number; InvalidInput if there is none."""
        part = self._part(name)
        return part if isinstance(part, Fraction) else self._refuse(name, part, "a Fraction")

    def _part(self, name: str) -> Part:
        found = dict(self.parts)
        if name not in found:
            raise InvalidInput.about("part", name, f"one of {', '.join(found)}", "build the network again")
        return found[name]

    def _refuse(self, name: str, part: Part, wanted: str) -> NoReturn:
        raise InvalidInput.about(f"part {name}", type(part).__name__, wanted, "build the network again")
