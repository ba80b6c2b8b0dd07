"""What ``headcount build`` can build: a table of kinds, each with its claims, its forms and its builder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from checks import design
from constructions import log_sum_exp, memoriser, selector, token_heads
from constructions.built import Built
from constructions.task import RetrievalTask
from theory.errors import InvalidInput
from theory.ledger import Form


@dataclass(frozen=True)
class Kind:
    """``forms``: names and what they are; the first one is taken if none is asked for."""

    claims: str
    what: str
    forms: Mapping[str, str]
    build: Callable[[RetrievalTask, Fraction, str], Built]


def kinds() -> Mapping[str, Kind]:
    """Every kind by name."""
    return {
        "specialists": Kind(
            "T2.1, N1-N3",
            "one head for each target",
            {
                "sharpened": "n = 1, no gate, beta of order log(T)/eps",
                "repaired": "n = 2, gate -2",
                "published": "n = 2, gate -1, as printed",
            },
            _specialists,
        ),
        "memoriser": Kind(
            "T2.3, L8, L9, N12",
            "one head with n = T d and a deep read-out",
            {
                "five": "5 layers, the pieces merged, as printed",
                "seven": "7 layers, the pieces kept apart: fewer parameters",
                "deep": "exact minima, logarithmic depth",
            },
            lambda task, eps, form: memoriser.build(task, eps, form, design.knowledge_of(task)),
        ),
        "selector": Kind(
            "T1, L2, L3, N10",
            "order statistics from subset minima, for T <= 8",
            {"exact": "exact selector", "smooth": "L3's selector with its rate"},
            lambda task, eps, form: selector.build(task, eps, form, design.knowledge_of(task)),
        ),
        "log_sum_exp": Kind(
            "N7",
            "one head and a wide two-layer read-out with weights <= 1, F_0 affine",
            {"relu": "ReLU units, copies counted", "heaviside": "Heaviside units"},
            lambda task, eps, form: log_sum_exp.build(task, eps, form, design.knowledge_of(task)),
        ),
        "token_heads": Kind(
            "N13",
            "two layers with one head each: tokens act as heads",
            {"published": "width 3D + 2"},
            lambda task, eps, form: token_heads.build(task, eps, Form(form), design.knowledge_of(task)),
        ),
    }


def make(name: str, task: RetrievalTask, eps: Fraction, form: str | None) -> Built:
    """Build a kind in a form (None: its first).

    Raises:
        InvalidInput: unknown kind, a form that the kind does not have, or a task that it cannot serve.
        TooLarge: the predicted size is beyond what is made here.
    """
    kind, chosen = named(name, form)
    return kind.build(task, eps, chosen)


def named(name: str, form: str | None) -> tuple[Kind, str]:
    """The kind and its form. Raises InvalidInput, naming what there is."""
    known = kinds()
    if name not in known:
        raise InvalidInput.about("kind", name, f"one of {', '.join(known)}", "headcount build --help")
    forms = known[name].forms
    chosen = next(iter(forms)) if form is None else form
    if chosen not in forms:
        raise InvalidInput.about(f"form of {name}", form, f"one of {', '.join(forms)}", f"--form {next(iter(forms))}")
    return known[name], chosen


def _specialists(task: RetrievalTask, eps: Fraction, form: str) -> Built:
    made = design.specialists(task, eps, Form(form))
    widths = {"feature_neurons": made.feature_width, "outer_neurons": made.outer_width}
    return Built("specialists", form, task, eps, made.network, (), widths)
