"""Certificates of explicit pairs with numbers that are short, and a hair weaker than what was enclosed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from checks.certificates import writer
from constructions.arithmetic import ExactArray
from constructions.network import Network
from constructions.task import RetrievalTask
from theory.errors import InvalidInput

SLACK = Fraction(1, 2**20)
LEAST_DISTANCE = Fraction(1, 2**400)
"""Claimed where read-out inputs agree better, or exactly: the claim needs a positive distance."""


def near_collision(
    network: Network,
    task: RetrievalTask,
    sequences: tuple[ExactArray, ExactArray],
    gap_lower: Fraction,
    distance_upper: Fraction,
    precision: int = 256,
) -> dict[str, Any]:
    """N8, lower: the near_collision certificate of two sequences whose gap and distance were enclosed.

    Raises:
        InvalidInput: the targets were not told apart, or something outside the limits of the schema.
    """
    if gap_lower <= 0:
        raise InvalidInput.about("gap", gap_lower, "positive", "another pair")
    gap, distance = gap_lower * (1 - SLACK), max(distance_upper * (1 + SLACK), LEAST_DISTANCE)
    return writer.near_collision(network, task, *sequences, -_up(-gap), _up(distance), precision)


def _up(value: Fraction) -> Fraction:
    """The value rounded up to a dyadic rational of some 64 bits.

    >>> _up(Fraction(1, 3)) >= Fraction(1, 3), _up(Fraction(-1, 3)) >= Fraction(-1, 3)
    (True, True)
    """
    places = 64 - value.numerator.bit_length() + value.denominator.bit_length()
    scaled = value * Fraction(2) ** places
    return Fraction(-((-scaled.numerator) // scaled.denominator)) / Fraction(2) ** places
