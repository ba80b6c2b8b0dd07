"""Branch and bound of ``sup over [0,1]^(dT) of |network - target|``, certified at both ends, for any network.

Practical for few coordinates (d T up to about 6). Boxes are examined in bulk (`checks.centred`), worst first; where
positions are interchangeable only sorted sequences are searched. A network of covering heads is read as such as well
(`checks.head_gaps`): then softmax and minimum are bounded together, and feature and read-out errors by the budget's
exact bounds, so that the upper end never depends on the design but may rest on the same inequalities as the budget.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from checks import boxes
from checks.ascent import largest_error
from checks.boxes import Array, Boxes
from checks.centred import CENTRED, Centred
from checks.head_gaps import HeadGaps
from constructions.arithmetic import EXACT, ExactArray, fractions
from constructions.evaluate import evaluate, target
from constructions.network import Formula, Network
from constructions.task import RetrievalTask
from theory.errors import InvalidInput, NotFinite
from theory.ledger import Proved, Refuted, Undecided, Verdict

Mask = np.ndarray[Any, np.dtype[np.bool_]]

MOST_BOXES = 2_000_000
MOST_COORDINATES = 64
BATCH_NUMBERS = 4_000_000
"""About as many floats are in flight for the largest array of a batch."""
LARGEST_BATCH = 4096
START_BATCH = 16
START_SEED = 0


@dataclass(frozen=True, eq=False)
class SupError:
    """``lower <= sup |network - target| <= upper``, the sequence that attains ``lower``, and the boxes examined."""

    lower: Fraction
    upper: Fraction
    sequence: ExactArray
    boxes: int


def sup_error(
    network: Network,
    task: RetrievalTask,
    tolerance: Fraction = Fraction(1, 10),
    threshold: Fraction | None = None,
    most_boxes: int = MOST_BOXES,
    negligible: Fraction = Fraction(0),
) -> SupError:
    """Certified bounds of the sup error over all sequences in the cube, for any network with one output.

    Kind: tight (both ends certified). Stops when upper <= (1 + tolerance) lower or upper <= negligible, with a
    threshold as soon as upper < threshold or lower >= threshold, and after most_boxes boxes at the latest: the bounds
    hold whenever it stops.
    Arithmetic: float64 intervals rounded outwards; boxes and centres are dyadic, hence exact.

    >>> from constructions.specialists import Knowledge, build
    >>> from constructions.task import quadratic
    >>> from theory.ledger import Form
    >>> built = build(quadratic(1, 1, 2), Fraction(1, 20), Form.SHARPENED, Knowledge(Fraction(1)))
    >>> found = sup_error(built.network, quadratic(1, 1, 2))
    >>> 0.048 < found.lower <= found.upper < 0.054
    True

    Raises:
        InvalidInput: network and task of different sizes, or more than 64 coordinates.
        NotFinite: a value is not finite on some box.
    """
    search = _Search(network, task)
    while search.upper > max(search.lower * float(1 + tolerance), float(negligible)) and search.count < most_boxes:
        if threshold is not None and not search.lower < threshold <= search.upper:
            break
        search.step()
    sequence = fractions([[Fraction(float(entry)) for entry in token] for token in search.best])
    return SupError(Fraction(search.lower), Fraction(search.upper), sequence, search.count)


def decide_below(network: Network, task: RetrievalTask, eps: Fraction, most_boxes: int = MOST_BOXES) -> Verdict:
    """Whether ``sup |network - target| < eps`` (DEF-EPS), by branch and bound."""
    found = sup_error(network, task, Fraction(1, 10**6), eps, most_boxes)
    shown = f"[{float(found.lower):.6g}, {float(found.upper):.6g}] after {found.boxes} boxes"
    if found.upper < eps:
        return Proved(f"the sup error lies in {shown}")
    if found.lower >= eps:
        return Refuted(f"the sup error lies in {shown}", {"sequence": [list(map(str, row)) for row in found.sequence]})
    return Undecided(f"The sup error lies in {shown}.", "more boxes, a shorter sequence, or checks.budget")


@dataclass(frozen=True, eq=False)
class _Cover:
    """Boxes [low, high] (B, T, d), bounds of |error| on them, the axis to halve, and whether they were collapsed."""

    low: Array
    high: Array
    bound: Array
    axis: np.ndarray[Any, np.dtype[np.int64]]
    collapsed: Mask

    def __getitem__(self, chosen: Any) -> _Cover:
        return _Cover(*(getattr(self, item.name)[chosen] for item in fields(self)))

    def joined(self, other: _Cover) -> _Cover:
        return _Cover(*(np.concatenate([getattr(self, i.name), getattr(other, i.name)]) for i in fields(self)))


class _Search:
    def __init__(self, network: Network, task: RetrievalTask) -> None:
        seq_len, token_dim = network.seq_len, network.token_dim
        found = (seq_len, token_dim, network.readout.output_dim)
        wanted = (task.seq_len, task.token_dim, 1)
        if found != wanted:
            raise InvalidInput.about("(seq_len, token_dim, outputs)", found, str(wanted), "the network of this task")
        if network.token_layers:
            raise InvalidInput.about("token layers", len(network.token_layers), "none", "checks.budgets.certify")
        if seq_len * token_dim > MOST_COORDINATES:
            raise InvalidInput.about("d T", seq_len * token_dim, f"at most {MOST_COORDINATES}", "checks.budget")
        self.network, self.task = network, task
        self.pairs = interchangeable_pairs(network, task)
        self.gaps = HeadGaps.of(network, task)
        width = seq_len * token_dim * seq_len * max(layer_widths(network))
        self.batch = int(np.clip(BATCH_NUMBERS // width, START_BATCH, LARGEST_BATCH))
        self.count, self.lower, self.closed = 0, 0.0, 0.0
        self.best = np.full((seq_len, token_dim), 0.5)
        low, high = np.zeros((1, seq_len, token_dim)), np.ones((1, seq_len, token_dim))
        whole = _Cover(low, high, np.full(1, np.inf), np.zeros(1, dtype=int), np.zeros(1, dtype=bool))
        self.open = self.examine(whole)
        self.note(largest_error(network, task, np.random.default_rng(START_SEED)))

    def note(self, sequence: Array) -> None:
        """Raise the lower bound to the error at a sequence, if it is larger."""
        at = boxes.absolute(error_on(self.network, self.task, sequences(sequence[None], sequence[None])).range)
        if at.lo[0] > self.lower:
            self.lower, self.best = float(at.lo[0]), sequence

    @property
    def upper(self) -> float:
        """No sequence has a larger error: boxes were only dropped for bounds up to ``lower`` or ``closed``."""
        return max(self.lower, self.closed, float(self.open.bound.max(initial=0.0)))

    def step(self) -> None:
        """Halve the boxes with the largest bounds along their most influential axes."""
        size = len(self.open.bound)
        count = min(self.batch, max(START_BATCH, size // 2), size)
        worst = np.zeros(size, dtype=bool)
        worst[np.argpartition(-self.open.bound, count - 1)[:count]] = True
        parents, rest = self.open[np.repeat(np.flatnonzero(worst), 2)], self.open[~worst]
        token, coordinate = np.divmod(parents.axis[::2], self.network.token_dim)
        rows = np.arange(count) * 2
        middle = (parents.low[rows, token, coordinate] + parents.high[rows, token, coordinate]) / 2
        parents.high[rows, token, coordinate] = middle
        parents.low[rows + 1, token, coordinate] = middle
        self.open = self.without_settled(rest.joined(self.examine(parents[self.sortable(parents)])))

    def sortable(self, cover: _Cover) -> Mask:
        """Boxes that contain a sequence whose interchangeable tokens are sorted by their first coordinate.

        Each sequence has the same error as its sorted one. A collapsed box stands for more than it contains: kept.
        """
        found = np.ones(len(cover.low), dtype=bool)
        for before, after in self.pairs:
            found &= cover.low[:, before, 0] <= cover.high[:, after, 0]
        return np.asarray(found | cover.collapsed)

    def without_settled(self, cover: _Cover) -> _Cover:
        """Drop boxes that cannot exceed ``lower``, and single points, whose bound is final."""
        points = np.all(cover.low == cover.high, axis=(1, 2))
        self.closed = max(self.closed, float(cover.bound[points].max(initial=0.0)))
        return cover[(cover.bound > self.lower) & ~points]

    def examine(self, cover: _Cover) -> _Cover:
        """Sharpen the bounds; collapse axes along which the error can only grow; note the best centre."""
        low, high = cover.low, cover.high
        tokens = sequences(low, high)
        found = error_on(self.network, self.task, tokens)
        if self.gaps is not None:
            found = replace(found, range=boxes.meet(found.range, self.gaps.error(tokens)))
        self.count += len(low)
        at_centre = boxes.absolute(found.centre).lo
        if not (np.all(np.isfinite(at_centre)) and np.all(np.isfinite(found.range.magnitude))):
            raise NotFinite("the error is not finite on some box: rescale the network")
        if len(low) and at_centre.max() > self.lower:
            place = int(at_centre.argmax())
            self.lower, self.best = float(at_centre[place]), (low[place] + high[place]) / 2
        bound = np.minimum(cover.bound, found.range.magnitude)
        axis = (found.slope.magnitude * found.radius).argmax(axis=0)
        up, down = self.monotone(found)
        changed = np.any((up | down) & (low < high), axis=(1, 2))
        known = _Cover(low, high, bound, axis, cover.collapsed)
        if not np.any(changed):
            return known
        # The largest error on such a box is attained where these coordinates are at their better ends.
        faces = np.where(up, high, low)[changed], np.where(down, low, high)[changed]
        smaller = _Cover(*faces, bound[changed], axis[changed], np.ones(len(faces[0]), dtype=bool))
        return known[~changed].joined(self.examine(smaller))

    def monotone(self, found: Centred) -> tuple[Mask, Mask]:
        """Where |error|, as far as it exceeds ``lower``, rises with a coordinate, and where it falls: (B, T, d)."""
        positive, negative = found.range.lo >= -self.lower, found.range.hi <= self.lower
        rising, falling = found.slope.lo >= 0, found.slope.hi <= 0
        up = (positive & rising) | (negative & falling)
        down = ((positive & falling) | (negative & rising)) & ~up
        shape = (-1, self.network.seq_len, self.network.token_dim)
        return up.T.reshape(shape), down.T.reshape(shape)


def sequences(low: Array, high: Array) -> Centred:
    """Boxes [low, high] of sequences, both (B, T, d), with their centres and the token coordinates as variables."""
    count, seq_len, token_dim = low.shape
    centre = (low + high) / 2
    half = np.maximum(high - centre, centre - low)  # the middle of neighbouring floats is one of them
    slope = np.zeros((seq_len * token_dim, count, seq_len, token_dim))
    for index in range(seq_len * token_dim):
        slope[index, :, index // token_dim, index % token_dim] = 1.0
    radius = half.reshape(count, -1).T
    return Centred(Boxes.points(centre), Boxes(low, high), Boxes.points(slope), radius)


def error_on(network: Network, task: RetrievalTask, tokens: Centred) -> Centred:
    """``network - target`` on boxes of sequences: a `Centred` of shape (B,)."""
    found: Centred = evaluate(network, tokens, CENTRED)[..., 0] - target(task, tokens, CENTRED)
    return found


def interchangeable_pairs(network: Network, task: RetrievalTask) -> list[tuple[int, int]]:
    """Consecutive positions (from 0) that encoder and index sets treat alike: swapping their tokens changes nothing."""
    last: dict[Hashable, int] = {}
    pairs = []
    for position in range(network.seq_len):
        key = _signature(network, task, position)
        if key in last:
            pairs.append((last[key], position))
        last[key] = position
    return pairs


def _signature(network: Network, task: RetrievalTask, position: int) -> Hashable:
    member = tuple(position + 1 in feature.positions for feature in task.features)
    if isinstance(network.encoder, Formula):
        chosen = [c.positions is None or position + 1 in c.positions for c in network.encoder.components]
        return member, tuple(chosen)
    tables = [layer.bias for layer in network.encoder.layers if layer.bias.ndim == 2]
    return member, tuple(tuple(EXACT.asarray(table[position])) for table in tables)


def layer_widths(network: Network) -> list[int]:
    """Widths of the encoder's layers (its output for a formula)."""
    if isinstance(network.encoder, Formula):
        return [network.encoder.output_dim]
    return [layer.weight.shape[0] for layer in network.encoder.layers]
