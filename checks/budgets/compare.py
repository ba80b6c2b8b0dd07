"""Is a network, weight by weight, what its parts compose to?"""

from __future__ import annotations

from typing import Any

from constructions.network import Network
from constructions.network_json import network_to_json
from theory.errors import HeadcountError


class Different(HeadcountError):
    """The network is not the composition of its parts: names the first entry that differs."""


def require_equal(network: Network, composed: Network) -> None:
    """Compare two networks exactly: every weight, size, activation and expression.

    Raises:
        Different: naming the first entry that differs, its value, and the value that the parts give.
    """
    _compare(network_to_json(network), network_to_json(composed), "network")


def _compare(found: Any, wanted: Any, at: str) -> None:
    if isinstance(found, dict) and isinstance(wanted, dict) and found.keys() == wanted.keys():
        for key in found:
            _compare(found[key], wanted[key], f"{at}.{key}")
    elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for index, (mine, theirs) in enumerate(zip(found, wanted, strict=True)):
            if mine != theirs:
                _compare(mine, theirs, f"{at}[{index}]")
    elif found != wanted:
        raise Different(
            f"{at}={str(found)[:60]}: required: {str(wanted)[:60]}, as its parts compose to. Try: build it again."
        )
