"""Errors the project raises on purpose: each names the value, the condition and the remedy."""

from __future__ import annotations

from decimal import Decimal


class HeadcountError(Exception):
    """Base of every error that the project raises on purpose; the command line turns it into exit code 3."""


class InvalidInput(HeadcountError, ValueError):
    """Input breaks a condition: the message says which value, which condition, and what to try."""

    @classmethod
    def about(cls, what: str, value: object, condition: str, remedy: str) -> InvalidInput:
        """Compose the message in the house's order: what failed, ``name=value``, the condition, the remedy."""
        try:
            shown = repr(value)
        except ValueError:  # an integer too long for Python to print
            shown = f"a {type(value).__name__} of thousands of digits"
        if len(shown) > 120:
            shown = shown[:117] + "..."
        return cls(f"{what}={shown}: required: {condition}. Try: {remedy}.")


class TooLarge(InvalidInput):
    """What was asked for exists and is too large to be made here: the message says how large (exit code 2)."""

    @classmethod
    def predicted(cls, what: str, size: int, most: int, remedy: str) -> TooLarge:
        """Compose the message: what, its predicted size, the largest that is made, the remedy."""
        return cls(f"{what}: predicted {Decimal(size):.6g}, more than the {most} that are made here. Try: {remedy}.")


class InexactOperation(HeadcountError, ArithmeticError):
    """An exact arithmetic was asked for a value that is not rational (exp, log, tanh, ...)."""


class NotFinite(HeadcountError, ArithmeticError):
    """An enclosure became infinite or undefined: nothing can be concluded from it."""
