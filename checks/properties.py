"""Properties that a construction should have, as assertions for property-based tests (docs/property_testing.md).

A model is a `Network`, a torch module or any function from tokens (..., T, d) to numbers. Networks are evaluated in
rationals or balls, so that a failure is a proof; other models in float64, with a tolerance that the caller states.
Each function returns nothing or raises `PropertyFailed`, which carries what is needed to look at the case again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from checks import balls
from checks.retrieval import softmin_gap_upper
from constructions.arithmetic import EXACT, FLOAT64, ExactArray, TorchArithmetic, fractions
from constructions.evaluate import evaluate, target
from constructions.network import Network
from constructions.task import RetrievalTask
from theory.errors import InexactOperation, InvalidInput
from theory.exact import decimal

Model = Network | torch.nn.Module | Callable[[Any], Any]
FLOAT_ROUNDING = Fraction(1, 10**9)
"""Default tolerance for models that compute in float64."""
BITS = 256
DIGITS = 6


class PropertyFailed(AssertionError):
    """A property does not hold in one case; ``case`` holds the case by name (tokens, task, ...)."""

    def __init__(self, statement: str, case: Mapping[str, Any]) -> None:
        self.case = dict(case)
        shown = "".join(f"\n  {name} = {_shown(value)}" for name, value in case.items())
        super().__init__(f"{statement}{shown}")


def approximates(
    model: Model, task: RetrievalTask, tokens: ExactArray, eps: Fraction, tolerance: Fraction = FLOAT_ROUNDING
) -> None:
    """``|model(X) - H(X)| < eps`` at one sequence (DEF-EPS).

    tokens: (T, d), exact. For a Network a failure is proved; other models fail from eps + tolerance on.

    >>> from constructions.specialists import Knowledge, build
    >>> from constructions.task import hard_gate
    >>> from theory.ledger import Form
    >>> published = build(hard_gate(), Fraction(1, 20), Form.PUBLISHED, Knowledge(Fraction(1))).network
    >>> try:
    ...     approximates(published, hard_gate(), fractions([[0], ["1/2"], ["1/2"], ["1/2"]]), Fraction(1, 2))
    ... except PropertyFailed as failure:
    ...     print(failure)
    the model is 0.75 away from the target, not within 0.5
      task = hard_gate, T = 4, D = 1, S = {1}
      tokens = 0; 1/2; 1/2; 1/2
    """
    error = distance_lower(model, task, tokens)
    if error >= eps + (0 if isinstance(model, Network) else tolerance):
        statement = f"the model is {decimal(error)} away from the target, not within {decimal(eps)}"
        raise PropertyFailed(statement, {"task": task, "tokens": tokens})


def distance_lower(model: Model, task: RetrievalTask, tokens: ExactArray) -> Fraction:
    """``|model(X) - H(X)|``: for a Network a proved lower bound (exact where everything is rational), else float64."""
    if not isinstance(model, Network):
        return Fraction(abs(_number(model, tokens) - float(target(task, _floats(tokens), FLOAT64))))
    try:
        return abs(Fraction(evaluate(model, tokens, EXACT)[0] - target(task, tokens, EXACT)))
    except InexactOperation:
        with balls.precision(BITS):
            exact = balls.BALLS.asarray(tokens)
            gap = evaluate(model, exact, balls.BALLS)[0] - target(task, exact, balls.BALLS)
            return max(Fraction(0), balls.lower(balls.absolute(gap)))


def permutation_invariant(
    model: Model, tokens: ExactArray, order: Sequence[int], tolerance: Fraction = FLOAT_ROUNDING
) -> None:
    """``model(X permuted) = model(X)``: order[t] is the old place, from 0, of token t (`strategies.symmetries`).

    The target has this symmetry whenever ``order`` maps every S_i to itself; a model may have it or not.
    """
    _require_equal(
        model, tokens, tokens[list(order)], tolerance, "permuting tokens changes the output", {"order": order}
    )


def ignores_positions_outside(
    model: Model, tokens: ExactArray, replaced: ExactArray, positions: Sequence[int], tolerance: Fraction
) -> None:
    """Tokens at positions (from 1) that are not listed do not matter: replacing them moves the output <= tolerance.

    A model within eps of a target whose S_i lie in ``positions`` satisfies this with tolerance 2 eps; see DEF-D.
    """
    kept = [position - 1 for position in positions]
    mixed = replaced.copy()
    mixed[kept] = tokens[kept]
    statement = "tokens outside the listed positions change the output"
    _require_equal(model, tokens, mixed, tolerance, statement, {"positions": tuple(positions)})


def softmin_gap_within(
    softmin: Callable[[Any, float], Any],
    values: Sequence[Fraction],
    beta: Fraction,
    tolerance: Fraction = FLOAT_ROUNDING,
) -> None:
    """``0 <= softmin(a, beta) - min a <= W((N-1)/e)/beta`` (N1) for a soft minimum that a head is meant to compute.

    values: N numbers in [0, 1], exact; ``softmin(array, beta)`` computes in float64.
    """
    if any(not 0 <= value <= 1 for value in values):
        raise InvalidInput.about("values", [str(value) for value in values][:4], "in [0, 1] (N1)", "scale them")
    gap = Fraction(float(softmin(_floats(fractions(list(values))), float(beta)))) - min(values)
    most = softmin_gap_upper(len(values), beta)
    if not -tolerance <= gap <= most + tolerance:
        statement = f"the soft minimum is {decimal(gap)} above the minimum, not between 0 and {decimal(most)}"
        raise PropertyFailed(statement, {"values": tuple(values), "beta": beta})


def monotone(model: Model, lower: ExactArray, upper: ExactArray, tolerance: Fraction = FLOAT_ROUNDING) -> None:
    """``model(X) <= model(Y)`` whenever X <= Y entry by entry: for targets whose f_i and F_0 rise."""
    if np.any(lower > upper):
        raise InvalidInput.about("tokens", "not ordered", "lower <= upper entry by entry", "exchange them")
    first, second = (_value(model, tokens) for tokens in (lower, upper))
    if first > second + tolerance:
        raise PropertyFailed(
            f"the output falls by {decimal(first - second)} where the tokens rise", {"lower": lower, "upper": upper}
        )


def arithmetics_agree(network: Network, tokens: ExactArray, tolerance: Fraction) -> None:
    """One network in every arithmetic: rationals (where possible), float64 and torch lie in the ball or close to it.

    ``tolerance``: what rounding may do in float64, beta included; rationals must lie in the ball itself.
    """
    with balls.precision(BITS):
        ball = evaluate(network, balls.BALLS.asarray(tokens), balls.BALLS)
        ends = [(balls.lower(entry), balls.upper(entry)) for entry in ball]
    found: dict[str, tuple[Any, Fraction]] = {
        "float64": (evaluate(network, _floats(tokens), FLOAT64), tolerance),
        "torch": (_torch_values(network, tokens), tolerance),
    }
    with contextlib.suppress(InexactOperation):
        found["rationals"] = evaluate(network, tokens, EXACT), Fraction(0)
    for name, (values, slack) in found.items():
        for value, (low, high) in zip(values, ends, strict=True):
            if not low - slack <= Fraction(value) <= high + slack:
                statement = f"{name} gives {decimal(Fraction(value))}, the ball is [{decimal(low)}, {decimal(high)}]"
                raise PropertyFailed(statement, {"tokens": tokens})


def _torch_values(network: Network, tokens: ExactArray) -> list[float]:
    arithmetic = TorchArithmetic()
    values: list[float] = evaluate(network, arithmetic.asarray(_floats(tokens)), arithmetic).tolist()
    return values


def _require_equal(
    model: Model,
    tokens: ExactArray,
    others: ExactArray,
    tolerance: Fraction,
    statement: str,
    case: Mapping[str, Any],
) -> None:
    moved = abs(_value(model, tokens) - _value(model, others))
    if moved > tolerance:
        whole = {"tokens": tokens, "others": others, **case}
        raise PropertyFailed(f"{statement} by {decimal(moved)}, more than {decimal(tolerance)}", whole)


def _value(model: Model, tokens: ExactArray) -> Fraction:
    """One output in float64, as the exact number that it is."""
    return Fraction(_number(model, tokens))


def _number(model: Model, tokens: ExactArray) -> float:
    floats = _floats(tokens)
    if isinstance(model, Network):
        result = evaluate(model, floats, FLOAT64)
    elif isinstance(model, torch.nn.Module):
        parameter = next(model.parameters(), torch.zeros(0, dtype=torch.float64))
        result = model(torch.as_tensor(floats, dtype=parameter.dtype, device=parameter.device)).detach().cpu().numpy()
    else:
        result = model(floats)
    array = np.asarray(result, dtype=np.float64).ravel()
    if array.size != 1:
        raise InvalidInput.about("model output", f"{array.size} numbers", "one number for a sequence", "choose one")
    return float(array[0])


def _floats(exact: ExactArray) -> ExactArray:
    return np.asarray(exact, dtype=np.float64)


def _shown(value: Any) -> str:
    if isinstance(value, RetrievalTask):
        supports = ", ".join("{" + ",".join(map(str, feature.positions)) + "}" for feature in value.features)
        return f"{value.name}, T = {value.seq_len}, D = {value.num_targets}, S = {supports}"
    if isinstance(value, np.ndarray):
        rows = value if value.ndim == 2 else value[:, None]
        return "; ".join(", ".join(str(Fraction(entry)) for entry in row) for row in rows)
    return str(value)
