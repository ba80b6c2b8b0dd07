"""``headcount bound``: what too few heads cost, published and sharpened; data and the command itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from constructions.task import RetrievalTask, load_task
from headcount import console
from theory import depth, enough_heads
from theory import too_few_heads as bounds
from theory.errors import InvalidInput
from theory.exact import parse_exact
from theory.finite_eps import Situation, n4_at, n4_at_depth
from theory.ledger import Form, Proved, Undecided, Verdict
from theory.paper_count import paper_count, paper_threshold_eps
from theory.rational_bounds import count, positive

MILESTONES = (1, 1_000, 1_000_000)
LAYERS = (2, 3, 4, 5, 6)
LARGEST_SIZE = 10**7
LONGEST_BOUND = 10**8
"""Digits of N4's bound beyond which it is not computed."""

EXACT_BITS = 2_000
"""Longer numerators and denominators are not printed digit by digit."""

LOG10_2 = Fraction(30103, 100_000)
"""log10 2, for display."""

NEEDED = ("A2.1", "A2.2", "A2.4")
"""The hypotheses on the target under which N4 speaks (no Hessian)."""


@dataclass(frozen=True)
class Question:
    """Sizes, accuracy and target constant that a bound is asked for; ``task`` is set where they come from one.

    Raises:
        InvalidInput: a size that no model has (T2.2's own conditions s < D, T_0 >= 1 may fail: then it is silent).
    """

    seq_len: int
    targets: int
    heads: int
    head_dim: int
    eps: Fraction
    rho: Fraction
    support: int | None = None
    task: RetrievalTask | None = None

    def __post_init__(self) -> None:
        for name in ("seq_len", "targets", "heads", "head_dim"):
            if count(name, getattr(self, name)) > LARGEST_SIZE:
                raise InvalidInput.about(name, getattr(self, name), f"at most {LARGEST_SIZE}", "a smaller size")
        positive("eps", self.eps)
        positive("rho", self.rho)
        digits = self.seq_len * max(0.0, -log10(self.eps)) / ((self.head_dim + 1) * self.heads)
        if digits > LONGEST_BOUND:
            condition = f"T log10(1/eps)/((n+1)s) <= {LONGEST_BOUND}: the bound itself has as many digits"
            raise InvalidInput.about("eps", console.scientific(self.eps), condition, "a larger eps")
        if self.support is not None and count("support", self.support) > self.seq_len:
            raise InvalidInput.about("support", self.support, f"|S_i| <= T = {self.seq_len}", "the size of a subset")

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """(n, s, D, T) in theory's order."""
        return self.head_dim, self.heads, self.targets, self.seq_len

    @property
    def too_few_heads(self) -> bool:
        """T2.2's hypothesis s < D."""
        return self.heads < self.targets


def run(
    seq_len: int | None,
    heads: int | None,
    head_dim: int | None,
    eps: str | None,
    targets: int | None,
    rho: str,
    support: int | None,
    task: str | None,
    models: bool,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Compute, print, exit 0, also where the theorems are silent; 2 if a task violates a hypothesis of N4."""
    from headcount import bound_figures, bound_view, regimes

    if models:
        if plot is not None or task is not None:
            raise InvalidInput.about("options", "--models", "without --plot and --task", "one model's sizes instead")
        found = regimes.table(targets, parse_exact(rho))
        console.emit(as_json, found, lambda: bound_view.render_models(found))
        return
    given = {"--seq-len": seq_len, "--heads": heads, "--head-dim": head_dim, "--eps": eps}
    if task is None:
        given["--targets"] = targets
    missing = [name for name, value in given.items() if value is None]
    if seq_len is None or heads is None or head_dim is None or eps is None or missing:
        raise InvalidInput.about("options", ", ".join(missing), "given (or --models)", "headcount bound --help")
    constant, loaded = parse_exact(rho), None
    if task is not None:
        loaded = load_task(task, seq_len)
        constant, targets, support = _rho_of_task(loaded, as_json), loaded.num_targets, loaded.smallest_support
    assert targets is not None
    question = Question(seq_len, targets, heads, head_dim, parse_exact(eps), constant, support, loaded)
    data = table(question)
    if plot is not None:
        bound_figures.write(plot, question)
        data["plot"] = str(plot)
    console.emit(as_json, data, lambda: bound_view.render(data))


def _rho_of_task(task: RetrievalTask, as_json: bool) -> Fraction:
    """N4's rho for a task; ends the command where N4 does not apply to it."""
    from checks.constants import constants
    from checks.hypotheses import applicable, check_task

    verdict: Verdict = applicable(check_task(task), NEEDED)
    found = constants(task).rho if isinstance(verdict, Proved) else None
    if isinstance(verdict, Proved) and found is None:
        verdict = Undecided("No segments for N4's rho were found for this task.", "--targets and --rho by hand")
    if found is None:
        data = {"task": task.name, "verdict": verdict.label, "detail": verdict.detail}
        line = f"{verdict.label} N4 says nothing about {task.name}: {verdict.detail}"
        console.emit(as_json, data, lambda: console.out.print(line, markup=False))
        console.finish(verdict.exit_code)
    return found


def table(question: Question) -> dict[str, Any]:
    """All figures as plain data; exact numbers as strings, decimal readings beside them."""
    situation, n4 = n4_at(question.eps, question.rho, *question.sizes, question.support)
    few = question.too_few_heads
    published = bounds.exponent_published(*_theory_order(question)) if few else None
    sharpened = bounds.exponent_sharpened(*_theory_order(question), question.support) if few else None
    lengths = bounds.regime(*_theory_order(question)) if few else None
    reaches = {str(target): _milestone(target, question, situation) for target in MILESTONES}
    paper = paper_figures(question)
    return {
        "task": None if question.task is None else question.task.name,
        "seq_len": question.seq_len,
        "targets": question.targets,
        "heads": question.heads,
        "head_dim": question.head_dim,
        "support": question.support or -(-question.seq_len // 4),
        "eps": _exact(question.eps) or console.scientific(question.eps),
        "eps_decimal": console.scientific(question.eps),
        "rho": _exact(question.rho) or console.scientific(question.rho),
        "regime": _regime(question, situation, paper, reaches["1"]),
        "k_published": _exponent(published),
        "k_sharpened": _exponent(sharpened),
        "published_bound_says_something_from_seq_len": lengths and lengths.seq_len_above_published + 1,
        "sharpened_bound_says_something_from_seq_len": lengths and lengths.seq_len_above_sharpened + 1,
        "n4": _n4(n4),
        "n4_reaches": reaches,
        "paper_count_forces_a_collision_below": paper,
        "depth": [_depth(layers, published, sharpened, n4) for layers in LAYERS] if few else [],
        "n7": n7_figures(question),
        "specialists": specialist_figures(question),
    }


def paper_figures(question: Question) -> dict[str, Any]:
    """The eps_0 of the published count and the parameters it gives there and at the eps asked for; or why none."""
    if not question.too_few_heads:
        return {"not_applicable": "T2.2 asks for s < D"}
    try:
        exponent = bounds.exponent_published(*_theory_order(question))
        if -1 < exponent <= 0:
            return {"not_applicable": f"k = {exponent} <= 0: eps^-k <= 1, the bound says nothing at any eps"}
        eps = paper_threshold_eps(question.rho, *question.sizes)
    except InvalidInput as error:
        return {"not_applicable": str(error)}
    gives = paper_count(eps, question.rho, *question.sizes).parameters_log2_lower
    here = paper_count(question.eps, question.rho, *question.sizes) if question.eps <= eps else None
    return {
        "eps": console.scientific(eps, 3),
        "log10_eps": round(log10(eps), 2),
        "exact": _exact(eps),
        "parameters_log10_there": round(float(gives * LOG10_2), 2),
        "parameters_log10_at_eps": here and round(float(here.parameters_log2_lower * LOG10_2), 2),
    }


def n7_figures(question: Question) -> dict[str, Any]:
    """N7's read-out at the eps asked for: how much is enough with one wide head when F_0 is the sum of the z_i."""
    eps, length, targets = question.eps, question.seq_len, question.targets
    beta = depth.fixed_eps_beta(eps, length, targets, centred=True)
    neurons = depth.fixed_eps_neurons_log2_upper(eps, length, targets, centred=True) * LOG10_2
    return {
        "applies_to": "F_0 = sum of the z_i, features in [0,1], n s >= D (one head with n = D is enough)",
        "fits_these_heads": question.head_dim * question.heads >= targets,
        "beta": console.scientific(beta, 4),
        "neurons_log10_upper": _float(neurons),
        "neurons_upper": power_of_ten(neurons),
        "heaviside_units": console.scientific(Fraction(depth.heaviside_units(eps, targets)), 6),
    }


def specialist_figures(question: Question) -> dict[str, Any]:
    """What D heads of dimension 1 cost: on the reference task, and on the question's own task if it has one."""
    eps, targets = question.eps, question.targets
    own: dict[str, Any] | None = None
    if question.task is not None:
        own = _own_specialists(question.task, eps)
    return {
        "heads": targets,
        "head_dim": 1,
        "applies_to": "f_i = (x - m_i)^2, d = 1, F_0 = sum of the z_i; of order D^(3/2) eps^(-1/2)",
        "parameters_upper": console.scientific(Fraction(enough_heads.reference_parameters_upper(eps, targets)), 6),
        "task": own,
    }


def _own_specialists(task: RetrievalTask, eps: Fraction) -> dict[str, Any]:
    from checks.design import specialists
    from constructions.counting import count_parameters

    try:
        built = specialists(task, eps, Form.SHARPENED)
    except InvalidInput as error:
        return {"not_known": str(error)}
    return {"feed_forward_parameters": count_parameters(built.network).feed_forward, "beta": built.network.beta}


def _regime(question: Question, situation: Situation, paper: dict[str, Any], first: Any) -> dict[str, Any]:
    """Vacuous, n4, or n4_and_published; why; and in words."""
    speaks = situation is Situation.N4_SPEAKS
    published = paper.get("parameters_log10_at_eps") is not None
    words = {
        Situation.ENOUGH_HEADS: "as many heads as targets or more: T2.2 and N4 say nothing, D specialists are enough",
        Situation.TOO_SHORT: "T_0 = |S_i| - s - D + 1 < 1: no position is left free, T2.2 and N4 say nothing",
        Situation.EXPONENT_NOT_POSITIVE: "the exponent is not positive: T2.2 and N4 ask for no parameter at any eps",
        Situation.EPS_TOO_LARGE: "not at this eps: N4 asks for its first parameter only below "
        + (f"10^{first['log10_eps']:.2f}" if first else "a smaller eps"),
        Situation.N4_SPEAKS: "N4 asks for parameters at this eps; "
        + ("so does the published count" if published else "the published count does not"),
    }
    name = "vacuous" if not speaks and not published else "n4_and_published" if published else "n4"
    return {"name": name, "cause": situation.value, "words": words[situation]}


def _n4(bound: bounds.N4Bound | None) -> dict[str, Any]:
    if bound is None:
        return {"parameters_lower": "0", "log10_estimate": None, "tau": None, "grid_points": None, "parts": None}
    return {
        "parameters_lower": console.scientific(bound.value_lower, 6)
        if bound.parts.bit_length() <= console.EXACT_DIGITS_BITS
        else power_of_ten(Fraction(bound.log10_estimate)),
        "log10_estimate": None if math.isinf(bound.log10_estimate) else round(bound.log10_estimate, 4),
        "tau": bound.tau,
        "grid_points": console.scientific(Fraction(bound.grid), 6),
        "parts": console.scientific(Fraction(bound.parts), 6),
    }


def _depth(
    layers: int, published: Fraction | None, sharpened: Fraction | None, n4: bounds.N4Bound | None
) -> dict[str, Any]:
    assert published is not None
    assert sharpened is not None
    return {
        "layers": layers,
        "k_published": _exponent(bounds.depth_exponent(published, layers)),
        "k_paper_remark": _exponent(bounds.published_depth_exponent(published, layers)) if 3 <= layers <= 5 else None,
        "k_sharpened": _exponent(bounds.depth_exponent(sharpened, layers)),
        "parameters_lower": "0" if n4 is None else console.scientific(Fraction(n4_at_depth(n4, layers)), 6),
    }


def _milestone(parameters: int, question: Question, situation: Situation) -> dict[str, Any] | None:
    if situation in (Situation.ENOUGH_HEADS, Situation.TOO_SHORT):
        return None
    eps = bounds.threshold_eps(parameters, question.rho, *question.sizes, question.support)
    return None if eps is None else {"eps": console.scientific(eps, 6), "log10_eps": round(log10(eps), 4)}


def _exponent(value: Fraction | None) -> dict[str, Any] | None:
    return None if value is None else {"exact": value, "decimal": round(float(value), 4)}


def _theory_order(question: Question) -> tuple[int, int, int, int]:
    return question.seq_len, question.head_dim, question.heads, question.targets


def log10(value: Fraction) -> float:
    """Decimal logarithm for display, of a positive rational of any size."""
    return math.log10(value.numerator) - math.log10(value.denominator)


def power_of_ten(exponent: Fraction) -> str:
    """10^exponent for reading, whatever the size of the exponent."""
    return f"{10 ** float(exponent):.4g}" if exponent < 6 else f"10^{console.scientific(exponent, 4)}"


def _exact(value: Fraction) -> str | None:
    short = max(value.numerator.bit_length(), value.denominator.bit_length()) <= EXACT_BITS
    return str(value) if short else None


def _float(value: Fraction) -> float | None:
    return round(float(value), 4) if value < 10**300 else None
