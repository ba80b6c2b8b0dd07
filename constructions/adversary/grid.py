"""The pair of T2.2's proof and of N4: tokens of maximal attention, representatives, the sequences W_1, W_2, the search.

Everything is chosen in float64 and written down exactly; `checks.grid_proof` proves what the proofs say about it.
Positions are 1-based, features and heads 0-based.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice, product
from math import comb
from typing import Any

import numpy as np

from constructions.arithmetic import FLOAT64, ExactArray, fractions
from constructions.evaluate import apply_map
from constructions.network import Network, require_single_layer
from constructions.task import RetrievalTask
from theory.errors import InvalidInput

Point = tuple[Fraction, ...]
Tokens = tuple[Point, ...]
"""Tokens of a subsequence, one for each free position."""
CHUNK = 65_536
TINY = 1e-300


@dataclass(frozen=True)
class CandidateSet:
    """P_0: for every feature its minimiser ``x^(i)`` and points of its segment G_i with increasing f_i."""

    minimisers: tuple[Point, ...]
    grids: tuple[Tokens, ...]

    @property
    def labelled(self) -> list[tuple[int, Point]]:
        """Every point of P_0 with the basin K_i that it belongs to."""
        return [(i, point) for i, grid in enumerate(self.grids) for point in (self.minimisers[i], *grid)]


@dataclass(frozen=True)
class Roles:
    """Who sits where in W_1 and W_2.

    ``maximal``: (t_j, y_j) for each head; ``basin``: the feature whose basin holds no y_j ("1" in the proofs);
    ``representatives``: (i, t*_i) for all other features; ``free``: the positions of the two subsequences.
    """

    maximal: tuple[tuple[int, Point], ...]
    basin: int
    representatives: tuple[tuple[int, int], ...]
    free: tuple[int, ...]


def published_index_sets(network: Network, task: RetrievalTask) -> list[tuple[int, ...]]:
    """T2.2-max as printed: head j looks for its maximal weight in S_j only."""
    if network.num_heads >= task.num_targets:
        raise InvalidInput.about("heads", network.num_heads, f"s < D = {task.num_targets} (T2.2)", "fewer heads")
    return [feature.positions for feature in task.features[: network.num_heads]]


def repaired_index_sets(network: Network, task: RetrievalTask) -> list[tuple[int, ...]]:
    """T2.2-max repaired, as in N4: every head looks at all positions."""
    published_index_sets(network, task)  # s < D
    return [tuple(range(1, task.seq_len + 1))] * network.num_heads


def weights_and_values(network: Network, points: Sequence[Point]) -> tuple[Any, Any]:
    """Scores (P, T, s) with beta, and values (P, T, total value size) of P tokens at every position, in float64."""
    require_single_layer(network)
    tokens = np.array([[float(entry) for entry in point] for point in points])
    tokens = np.broadcast_to(tokens[:, None], (len(points), network.seq_len, network.token_dim))
    states = apply_map(network.encoder, tokens, FLOAT64)
    directions = [np.asarray(direction, dtype=np.float64) for direction in network.score_directions]
    values = [states @ FLOAT64.asarray(head.value.T) + FLOAT64.asarray(head.value_bias) for head in network.heads]
    return np.stack([states @ direction for direction in directions], axis=-1), np.concatenate(values, axis=-1)


def choose_roles(
    network: Network, task: RetrievalTask, points: CandidateSet, index_sets: Sequence[Sequence[int]], free: int
) -> Roles:
    """T2.2-max with the given index sets, T2.2-rep and T2.2-T0 with ``free`` free positions.

    Raises:
        InvalidInput: s >= D, or too few positions left for the representatives or the subsequences.
    """
    labelled = points.labelled
    scores, _ = weights_and_values(network, [point for _, point in labelled])
    taken: list[int] = []
    maximal = []
    for head, allowed in enumerate(index_sets):
        open_positions = [t for t in allowed if t not in taken]
        if not open_positions:
            raise InvalidInput.about(f"index set of head {head}", allowed, "a position not taken", "larger S_i")
        table = scores[:, [t - 1 for t in open_positions], head]
        row, column = np.unravel_index(int(table.argmax()), table.shape)
        taken.append(open_positions[int(column)])
        maximal.append((taken[-1], int(row)))
    hit = {labelled[row][0] for _, row in maximal}
    basin = next(i for i in range(task.num_targets) if i not in hit)
    own = task.features[basin].positions
    representatives = []
    for i, feature in enumerate(task.features):
        if i != basin:
            candidates = [t for t in feature.positions if t not in taken]
            if not candidates:
                raise InvalidInput.about(f"|S_{i}|", len(feature.positions), "at least s + D - 1", "a longer T")
            taken.append(min(candidates, key=lambda t: (t in own, t)))
            representatives.append((i, taken[-1]))
    left = [t for t in own if t not in taken]
    if not 1 <= free <= len(left):
        raise InvalidInput.about("free positions", free, f"between 1 and {len(left)} (T_0)", "a longer T")
    tokens = tuple((t, labelled[row][1]) for t, row in maximal)
    return Roles(tokens, basin, tuple(representatives), tuple(left[:free]))


def full_sequences(
    task: RetrievalTask, points: CandidateSet, roles: Roles, first: Tokens, second: Tokens
) -> tuple[ExactArray, ExactArray]:
    """T2.2-W: the sequences W_1, W_2 (T, d), exact, of two subsequences on the free positions."""
    filler = points.minimisers[[i for i in range(task.num_targets) if i != roles.basin][-1]]
    whole = []
    for own, other in ((first, second), (second, first)):
        rows = [filler] * task.seq_len
        for t, token in roles.maximal:
            rows[t - 1] = token
        for i, t in roles.representatives:
            rows[t - 1] = points.minimisers[i]
        for t, token, opposite in zip(roles.free, own, other, strict=True):
            rows[t - 1] = filler if token == opposite else token
        whole.append(fractions([list(row) for row in rows]))
    return whole[0], whole[1]


def block_indices(size: int, free: int) -> list[range]:
    """T2.2-grid: U_t as 0-based indices into the grid {1/M, ..., 1}, M = ``free * size``, for t = 1..T_0.

    >>> block_indices(2, 2)
    [range(0, 2), range(2, 4)]
    """
    return [range(t * size, (t + 1) * size) for t in range(free)]


@dataclass(frozen=True, eq=False)
class SumTable:
    """What every subsequence is made of: weights (s, G, tau), moments (k, G, tau) for the k value channels.

    Weights are relative to the largest at the free positions; ``offset`` (s,): log of that over Lambda.
    ``owner[c]``: the head of channel c.
    """

    weights: Any
    moments: Any
    owner: tuple[int, ...]
    offset: Any

    def sums(self, choice: Any) -> tuple[Any, Any]:
        """Sums of weights (B, s) and of weighted values (B, k) of subsequences given as grid indices (B, tau)."""
        places = np.arange(choice.shape[1])
        return self.weights[:, choice, places].sum(axis=-1).T, self.moments[:, choice, places].sum(axis=-1).T


def sum_table(network: Network, points: CandidateSet, roles: Roles) -> SumTable:
    """The table of the basin's grid at the free positions."""
    grid = points.grids[roles.basin]
    scores, values = weights_and_values(network, grid)
    tops, _ = weights_and_values(network, [token for _, token in roles.maximal])
    columns = [t - 1 for t in roles.free]
    owner = tuple(head for head, entry in enumerate(network.heads) for _ in range(entry.value.shape[0]))
    highest = np.array([tops[j, t - 1, j] for j, (t, _) in enumerate(roles.maximal)])
    here = scores[:, columns]
    largest = here.max(axis=(0, 1))
    weights = np.moveaxis(np.exp(here - largest), -1, 0)
    moments = weights[list(owner)] * np.moveaxis(values[:, columns], -1, 0)
    return SumTable(weights, moments, owner, largest - highest)


Cells = Callable[[Any, Any], Any]
"""From sums of weights (B, s) and of weighted values (B, k) to integer cell numbers (B, any)."""


def n4_cells(table: SumTable, tau: int, parts: int, value_bound: float) -> Cells:
    """N4's cells: each number's range (0, tau] or [-bound tau, bound tau] cut into ``parts`` equal parts."""
    scale = np.exp(table.offset)

    def cells(weights: Any, moments: Any) -> Any:
        relative = moments * scale[list(table.owner)] / (value_bound * tau)
        shares = np.concatenate([weights * scale / tau, (relative + 1) / 2], axis=1)
        return np.clip(np.floor(shares * parts), 0, parts - 1).astype(np.int64)

    return cells


def claim_cells(table: SumTable, free: int, accuracy: float, channels: int) -> Cells:
    """Claim 2.1's cells: cubes of diameter e/(3 T_0) for the averages, ratios 1 + e/(12 T_0^2) for the sums.

    Averages lie in [-1, 1]^n, n = ``channels``; sums up to e/4 (relative to Lambda) are one cell.
    """
    step, ratio = accuracy / (3 * free * channels**0.5), np.log1p(accuracy / (12 * free**2))

    def cells(weights: Any, moments: Any) -> Any:
        safe = np.maximum(weights, TINY)
        averages = np.floor(moments / safe[:, list(table.owner)] / step)
        sums = np.floor(np.maximum(np.log(safe) + table.offset - np.log(accuracy / 4), 0) / ratio)
        return np.concatenate([averages, sums], axis=1).astype(np.int64)

    return cells


@dataclass(frozen=True)
class Found:
    """Two subsequences (grid indices) in one cell, after ``looked_at`` of them."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    looked_at: int


def exhaustive(choices: Iterator[tuple[int, ...]]) -> Iterator[Any]:
    """All subsequences in chunks (B, tau)."""
    while rows := list(islice(choices, CHUNK)):
        yield np.array(rows)


def increasing(grid: int, tau: int) -> Iterator[tuple[int, ...]]:
    """N4's subsequences: strictly increasing grid indices, C(G, tau) of them."""
    return combinations(range(grid), tau)


def in_blocks(size: int, free: int) -> Iterator[tuple[int, ...]]:
    """T2.2's subsequences: one index of each block U_t, size^T_0 of them."""
    return product(*block_indices(size, free))


def random_increasing(grid: int, tau: int, number: int, seed: int) -> Iterator[Any]:
    """At most ``number`` random strictly increasing subsequences, distinct within a chunk."""
    generator = np.random.default_rng([seed, 0x67726964])
    for begin in range(0, number, CHUNK):
        keys = generator.random((min(CHUNK, number - begin), grid))
        yield np.unique(np.sort(np.argpartition(keys, tau - 1, axis=1)[:, :tau], axis=1), axis=0)


def random_in_blocks(size: int, free: int, number: int, seed: int) -> Iterator[Any]:
    """At most ``number`` random choices of one index of each block, distinct within a chunk."""
    generator = np.random.default_rng([seed, 0x626C6F63])
    for begin in range(0, number, CHUNK):
        drawn = generator.integers(0, size, (min(CHUNK, number - begin), free))
        yield np.unique(drawn + size * np.arange(free), axis=0)


def find_collision(table: SumTable, cells: Cells, chunks: Iterator[Any]) -> tuple[Found | None, int]:
    """The first two distinct subsequences in one cell, and how many were looked at (birthday search by sorting).

    Exhaustive chunks find one whenever there are more subsequences than cells (up to float64 at the cells' edges).
    """
    generator = np.random.default_rng(0x63656C6C)
    known_keys, known = np.empty(0, np.uint64), np.empty((0, table.weights.shape[2]), np.int64)
    multipliers: Any = None
    for chunk in chunks:
        numbers = cells(*table.sums(chunk)).astype(np.uint64)
        if multipliers is None:
            multipliers = generator.integers(1, 2**63, numbers.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        keys = np.concatenate([known_keys, (numbers * multipliers).sum(axis=1, dtype=np.uint64)])
        known = np.concatenate([known, chunk])
        order = np.argsort(keys, kind="stable")
        known_keys, known = keys[order], known[order]
        for place in np.flatnonzero(known_keys[1:] == known_keys[:-1]):
            pair = known[place : place + 2]
            both = cells(*table.sums(pair))
            if np.array_equal(both[0], both[1]) and not np.array_equal(pair[0], pair[1]):
                first, second = (tuple(int(entry) for entry in row) for row in pair)
                return Found(first, second, len(known)), len(known)
    return None, len(known)


def largest_parts(grid: int, tau: int, sums: int) -> int:
    """The largest g with ``g^sums < C(grid, tau)``: N4's pigeonhole forces a collision for it. Exact.

    >>> largest_parts(16, 6, 2), 89**2 < comb(16, 6) <= 90**2
    (89, True)
    """
    total = comb(grid, tau)
    low, high = 0, 1
    while high**sums < total:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**sums < total else (low, middle)
    return low
