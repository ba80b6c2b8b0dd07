"""Search for counterexamples: corners, ties, minimisers and random starts, then ascent in float64, then balls decide.

The search is untrusted. What it finds is evaluated at an exact point in balls; so the answer is Refuted with a witness,
or Undecided, and never Proved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch

from checks import balls
from checks.balls import BALLS
from checks.enclose import Box, centre, unit_box
from checks.hypotheses import minimisers
from constructions.arithmetic import ExactArray, TorchArithmetic, fractions
from constructions.evaluate import evaluate, target
from constructions.network import Network
from constructions.task import RetrievalTask
from theory.errors import InvalidInput, NotFinite
from theory.exact import format_exact
from theory.expressions import Expression
from theory.expressions import evaluate as evaluate_expression
from theory.ledger import Refuted, Undecided, Verdict

TRIES = 256
STEPS = 60
FIRST_STEP = 0.1
CONFIRMED = 8
SIMPLE_DENOMINATORS = (1, 2, 4, 16, 1024)
MOST_CORNERS = 64
MOST_BITS = 1024

TORCH = TorchArithmetic()


def falsify_sup_error(
    network: Network, task: RetrievalTask, eps: Fraction, rng: np.random.Generator, tries: int = TRIES
) -> Verdict:
    """Look for a sequence X with ``|network(X) - target(X)| >= eps`` (DEF-EPS demands < eps everywhere).

    Refuted carries the witness: exact tokens, and a proved lower bound on the error there.

    Raises:
        InvalidInput: network and task of different shapes, or a network with several outputs.
    """
    if (network.seq_len, network.token_dim) != (task.seq_len, task.token_dim) or network.readout.output_dim != 1:
        sizes = (network.seq_len, network.token_dim, network.readout.output_dim)
        raise InvalidInput.about("network sizes", sizes, f"({task.seq_len}, {task.token_dim}, 1)", "match the task")

    def error(tokens: Any, arithmetic: Any) -> Any:
        return evaluate(network, tokens, arithmetic)[..., 0] - target(task, tokens, arithmetic)

    def magnitude(tokens: ExactArray) -> Any:
        return balls.absolute(error(BALLS.asarray(tokens), BALLS))

    starts = sequence_starts(task, rng, tries)
    found, best = _ascend(lambda x: torch.abs(error(x, TORCH)), starts, np.zeros(()), np.ones(()))
    for tokens in _exact_candidates(found, unit_box(starts[0].size)):
        shaped = fractions([list(row) for row in tokens.reshape(task.seq_len, task.token_dim)])
        lower = _proved_lower(partial(magnitude, shaped), eps)
        if lower is not None:
            shown = [[format_exact(entry) for entry in row] for row in shaped]
            witness = {"tokens": shown, "error_lower": format_exact(lower)}
            return Refuted(f"error >= {float(lower):.6g} >= eps = {float(eps):.6g} at an exact sequence", witness)
    return _nothing_found(tries, f"largest error seen {best:.6g} (estimate), eps = {float(eps):.6g}")


def falsify_inequality(
    left: Expression, right: Expression, names: Sequence[str], box: Box, rng: np.random.Generator, tries: int = TRIES
) -> Verdict:
    """Look for a point of the box with ``left > right``, refuting ``left <= right`` on the box."""
    low = np.array([float(side.low) for side in box])
    high = np.array([float(side.high) for side in box])
    corners = list(product(*[(side.low, side.high) for side in box])) if 2 ** len(box) <= MOST_CORNERS else []
    chosen = [*corners, centre(box)]
    starts = np.array([[float(value) for value in point] for point in chosen])
    starts = np.concatenate([starts, rng.uniform(low, high, size=(max(tries - len(chosen), 1), len(box)))])

    def gap(point: Any, arithmetic: Any) -> Any:
        values = {name: point[..., index] for index, name in enumerate(names)}
        return evaluate_expression(left, values, arithmetic) - evaluate_expression(right, values, arithmetic)

    def ball_gap(point: ExactArray) -> Any:
        return gap(BALLS.asarray(point), BALLS)

    found, best = _ascend(lambda x: gap(x, TORCH) + 0.0 * x[..., 0], starts, low, high)
    for point in _exact_candidates(found, box):
        lower = _proved_lower(partial(ball_gap, point), None)
        if lower is not None:
            witness = {name: format_exact(value) for name, value in zip(names, point, strict=True)}
            return Refuted(
                f"left - right >= {float(lower):.6g} > 0", {"point": witness, "gap_lower": format_exact(lower)}
            )
    return _nothing_found(tries, f"largest left - right seen {best:.6g} (estimate)")


def sequence_starts(task: RetrievalTask, rng: np.random.Generator, tries: int) -> Any:
    """Float start sequences (tries, T, d): uniform ones, few distinct tokens, all equal, minimisers and corners mixed,
    and for a feature special tokens on S_i with other special tokens off it.
    """
    special = [[float(x) for x in (entry.point or centre(entry.box))] for entry in minimisers(task)]
    corners = rng.integers(0, 2, size=(MOST_CORNERS, task.token_dim)).astype(float)
    pool = np.concatenate([np.array(special), corners, rng.uniform(size=(8, task.token_dim))])
    starts = np.empty((tries, task.seq_len, task.token_dim))
    for number in range(tries):
        kind = number % 5
        if kind == 0:
            starts[number] = rng.uniform(size=starts.shape[1:])
        elif kind == 1:
            starts[number] = pool[rng.choice(rng.choice(len(pool), size=3), size=task.seq_len)]
        elif kind == 2:
            starts[number] = pool[rng.integers(len(pool))]
        elif kind == 3:
            starts[number] = pool[rng.integers(len(special), size=task.seq_len)]
            starts[number, rng.integers(task.seq_len)] = pool[rng.integers(len(pool))]
        else:
            feature = task.features[rng.integers(task.num_targets)]
            starts[number] = pool[rng.integers(len(special))]
            starts[number, [position - 1 for position in feature.positions]] = pool[rng.integers(len(pool))]
    return starts


def _ascend(objective: Callable[[Any], Any], starts: Any, low: Any, high: Any) -> tuple[list[Any], float]:
    """Projected ascent by normalised gradients from every start; the best points seen, flattened, best first."""
    floor, ceiling = torch.as_tensor(low), torch.as_tensor(high)
    points = torch.as_tensor(starts, dtype=torch.float64)
    best_points, best_values = points.clone(), torch.full((len(starts),), -torch.inf, dtype=torch.float64)
    for step in range(STEPS):
        points = points.detach().requires_grad_()
        values = objective(points)
        (gradient,) = torch.autograd.grad(values.sum(), points, allow_unused=True)
        values = torch.nan_to_num(values.detach(), nan=-torch.inf)
        better = values > best_values
        best_values = torch.where(better, values, best_values)
        best_points[better] = points.detach()[better]
        if gradient is None:
            break
        flat = torch.nan_to_num(gradient).flatten(1)
        size = flat.abs().amax(dim=1).clamp_min(1e-300).reshape(-1, *[1] * (points.ndim - 1))
        reach = FIRST_STEP * 0.5 ** (8 * step / STEPS)
        points = torch.clamp(
            points.detach() + reach * (ceiling - floor) * torch.nan_to_num(gradient) / size, floor, ceiling
        )
    order = torch.argsort(best_values, descending=True)[:CONFIRMED]
    return [best_points[index].flatten().numpy() for index in order], float(best_values.max())


def _exact_candidates(found: Sequence[Any], box: Box) -> list[ExactArray]:
    """Exact points next to the float ones: simple fractions first (readable witnesses), then the floats themselves."""
    exact = [[Fraction(float(value)) for value in point] for point in found]
    simple = [[v.limit_denominator(q) for v in point] for q in SIMPLE_DENOMINATORS for point in exact]
    clipped = [
        [min(max(value, side.low), side.high) for value, side in zip(point, box, strict=True)]
        for point in [*simple, *exact]
    ]
    return [np.array(point, dtype=object) for point in dict.fromkeys(map(tuple, clipped))]


def _proved_lower(value: Callable[[], Any], least: Fraction | None) -> Fraction | None:
    """A lower bound that proves the value >= least (or > 0 for None); None where balls do not prove it."""
    bits = 64
    while bits <= MOST_BITS:
        try:
            with balls.precision(bits):
                ball = value()
                low, high = balls.lower(ball), balls.upper(ball)
        except NotFinite:
            return None
        if low > 0 if least is None else low >= least:
            return low
        if high <= 0 if least is None else high < least:
            return None
        bits *= 2
    return None


def _nothing_found(tries: int, seen: str) -> Undecided:
    return Undecided(f"nothing found in {tries} starts of {STEPS} steps: {seen}", "more tries, or a proof")
