"""What every command shares: one way to print, one way to show progress, one way to end."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

PROVED, REFUTED, UNDECIDED, USAGE = 0, 1, 2, 3
EXACT_DIGITS_BITS = 200_000


class Finished(Exception):
    """A command has said everything and ends with this exit code."""

    def __init__(self, code: int) -> None:
        self.code = code


out = Console(soft_wrap=True, highlight=False)
err = Console(stderr=True, soft_wrap=True, highlight=False)

STYLES = {"PROVED": "green", "REFUTED": "red", "UNDECIDED": "yellow", "NOT_APPLICABLE": "magenta"}


def emit(as_json: bool, data: Mapping[str, Any], render: Callable[[], None]) -> None:
    """Print ``data`` as JSON, or call ``render`` for people."""
    if as_json:
        sys.stdout.write(json.dumps(data, indent=2, default=_plain) + "\n")
    else:
        render()


def finish(code: int) -> NoReturn:
    """End the command with an exit code: 0 proved or as expected, 1 refuted, 2 undecided, 3 usage."""
    raise Finished(code)


def styled(label: str) -> str:
    """A verdict in its colour."""
    return f"[{STYLES.get(label, 'white')}]{label}[/]"


def scientific(value: Fraction, digits: int = 3) -> str:
    """A rational of any size in decimal for reading: ``1.25e-106``; never a float, so never 0 or inf by accident."""
    if value == 0:
        return "0"
    sign, size = ("-" if value < 0 else ""), abs(value)
    exponent = math.floor((size.numerator.bit_length() - size.denominator.bit_length()) * math.log10(2))
    if size.numerator.bit_length() + size.denominator.bit_length() > EXACT_DIGITS_BITS:
        return f"{sign}10^{exponent:+d} (about)"
    while size >= Fraction(10) ** (exponent + 1):
        exponent += 1
    while size < Fraction(10) ** exponent:
        exponent -= 1
    if -4 <= exponent < 6:
        return f"{float(value):.{digits + 1}g}"
    mantissa = round(size / Fraction(10) ** exponent * 10 ** (digits - 1))
    if mantissa >= 10**digits:
        mantissa, exponent = mantissa // 10, exponent + 1
    shown = f"{mantissa // 10 ** (digits - 1)}.{mantissa % 10 ** (digits - 1):0{digits - 1}d}"
    return f"{sign}{shown}e{exponent:+d}"


@contextmanager
def progress_bar(title: str, total: float, quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """A progress bar on standard error with time left; nothing at all when that is not a terminal (or ``quiet``)."""
    if quiet or not err.is_terminal:
        yield lambda text, done: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda text, done: bar.update(task, description=f"{title}: {text}", completed=done)


def _plain(value: object) -> object:
    if isinstance(value, Fraction):
        return str(value) if value.numerator.bit_length() + value.denominator.bit_length() < 8192 else scientific(value)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
