"""Starts from a linear relaxation: sequences as distributions of tokens, where equal attention is a linear condition.

Let a sequence hold token y_j with count n_j, its rival with count m_j, w_j and v_j the softmax weight and value of y_j
in one head. The outputs agree iff ``sum n_j w_j (v_j, 1) = kappa sum m_j w_j (v_j, 1)`` for some kappa > 0: linear in n
and in kappa m once counts may be fractions. (With several heads we ask for one common kappa: sufficient, not
necessary.) A large gap is asked for by supports: tokens whose feature is too small are forbidden in one sequence and
one of them must occur in the other. Bisection on how much is asked, then the counts are rounded to T tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from constructions.adversary.pairs import Array, PairProblem, encoded_heads, outer_map
from constructions.task import RetrievalTask

POOL = 320
GROUPED_POOL = 40  # tokens for each position where positions differ
BISECTIONS = 7
RANK = 1e-9
LEAST_KAPPA = 1e-9  # below this the counts of the second sequence are rounding
LP_SECONDS = 2.0


@dataclass(frozen=True)
class Demand:
    """What one sequence must do: ``allowed`` (G, N) tokens it may use, ``required`` (group, token) that must occur."""

    allowed: Array
    required: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Solution:
    """A start (2, T, d) that nearly meets the equations, the levels (D,) that it keeps to, the gap they promise."""

    gap: float
    larger: Array
    smaller: Array
    pair: Array


class Relaxation:
    """The relaxed problem on a pool of N tokens, for G groups of interchangeable positions."""

    def __init__(self, problem: PairProblem, signs: Array, generator: np.random.Generator) -> None:
        self.task, self.signs, self.generator = problem.task, signs, generator
        self.groups = _groups(problem.task, positional=problem.positional)
        size = POOL if len(self.groups) == 1 else GROUPED_POOL
        dimension = problem.task.token_dim
        if dimension == 1:
            self.pool = np.linspace(0, 1, size)[:, None]
        else:
            self.pool = generator.random((size, dimension))
            edge = generator.random(self.pool.shape) < 0.3
            self.pool[: size // 2] = np.where(edge, np.round(self.pool), self.pool)[: size // 2]
            self.pool = self.pool[np.lexsort(np.floor(4 * self.pool).T)]
        self.features = problem.pool_features(self.pool)  # (D, N)
        sums = self._sums(problem)  # (rows, G N)
        singular, right = np.linalg.svd(sums, full_matrices=False)[1:]
        self.equations = right[singular > RANK * singular[0]]

    def _sums(self, problem: PairProblem) -> Array:
        tokens = np.broadcast_to(self.pool[:, None], (len(self.pool), self.task.seq_len, self.task.token_dim))
        rows = []
        places = [group[0] for group in self.groups]
        for scores, values in encoded_heads(problem.network, tokens):
            weights = np.exp(scores - scores.max())[:, places].T.reshape(-1)  # (G N,)
            table = np.moveaxis(values[:, places], 0, 1).reshape(len(weights), -1)
            rows += [weights[None], (weights[:, None] * (table - table.mean(axis=0))).T]
        stacked = np.concatenate(rows)
        scale = np.abs(stacked).max(axis=1, keepdims=True)
        return np.asarray(stacked[scale[:, 0] > 0] / scale[scale[:, 0] > 0])

    def draw(self) -> Solution | None:
        """A start with a large gap: random levels, pushed apart in a random direction; None if nothing was feasible."""
        low, high = self.features.min(axis=1), self.features.max(axis=1)
        levels = self.generator.uniform(low, high)
        levels = np.where(self.generator.random(levels.shape) < 0.4, low, levels)
        return self._push(levels, levels)

    def refine(self, solution: Solution) -> Solution | None:
        """Another start, from levels near those of a solution."""
        spread = 0.05 * np.ptp(self.features, axis=1)
        common, own = self.generator.normal(0, spread), self.generator.normal(0, spread / 4)
        return self._push(solution.larger + common - abs(own), solution.smaller + common + abs(own))

    def _push(self, larger: Array, smaller: Array) -> Solution | None:
        """Raise ``larger`` and lower ``smaller`` along a random direction as far as the relaxation is feasible."""
        low, high = self.features.min(axis=1), self.features.max(axis=1)
        rates = self.generator.uniform(0, 1, (2, len(low))) * (high - low)
        rates[self.generator.random(rates.shape) < 0.3] = 0
        feasible, infeasible, best = 0.0, 1.0, None
        for _ in range(BISECTIONS):
            amount = (feasible + infeasible) / 2
            up, down = larger + amount * rates[0], np.maximum(smaller - amount * rates[1], low)
            counts = self._solve(*self._demands(up, down)) if (up <= high).all() else None
            if counts is None:
                infeasible = amount
            else:
                feasible = amount
                pair = np.stack([self._sample(counts[0]), self._sample(counts[1])])
                best = Solution(self._promise(up, down), up, down, pair)
        return best

    def _promise(self, larger: Array, smaller: Array) -> float:
        minima = np.stack([np.where(self.signs > 0, larger, smaller), np.where(self.signs > 0, smaller, larger)])
        targets = outer_map(self.task, minima)[0]
        return float(targets[0] - targets[1])

    def _demands(self, larger: Array, smaller: Array) -> tuple[Demand, Demand]:
        """Where F_0 grows in a minimum, the first sequence keeps it above ``larger``, the second below ``smaller``."""
        demands = []
        for sign in (1, -1):
            allowed = np.ones((len(self.groups), len(self.pool)), dtype=bool)
            for i in np.flatnonzero(self.signs == sign):
                for g in self._holders(int(i)):
                    allowed[g] &= self.features[i] >= larger[i]
            required = []
            for i in np.flatnonzero(self.signs == -sign):
                holders = self._holders(int(i))
                g = holders[int(self.generator.integers(len(holders)))]
                distance = np.where(
                    allowed[g] & (self.features[i] <= smaller[i] + 1e-9), smaller[i] - self.features[i], np.inf
                )
                required.append((g, int(np.argmin(distance)) if np.isfinite(distance).any() else -1))
            demands.append(Demand(allowed, tuple(required)))
        return demands[0], demands[1]

    def _holders(self, feature: int) -> list[int]:
        positions = set(self.task.features[feature].positions)
        return [g for g, group in enumerate(self.groups) if group[0] + 1 in positions]

    def _solve(self, first: Demand, second: Demand) -> tuple[Array, Array] | None:
        # Variables: n and kappa m beyond a common floor | kappa | the floor t, maximised to stay in the interior.
        groups, size = first.allowed.shape
        total = groups * size
        if any(token < 0 for _, token in (*first.required, *second.required)):
            return None
        if not (first.allowed.any(axis=1).all() and second.allowed.any(axis=1).all()):
            return None
        counts = np.array([len(group) for group in self.groups], dtype=float)
        floors = [demand.allowed / demand.allowed.sum(axis=1, keepdims=True) for demand in (first, second)]
        floor = [(f * counts[:, None]).reshape(-1) for f in floors]
        member = np.repeat(np.eye(groups), size, axis=1)
        zero = np.zeros((groups, total))
        column = (self.equations @ (floor[0] - floor[1]))[:, None]
        equal = np.vstack(
            [
                np.hstack([self.equations, -self.equations, np.zeros_like(column), column]),
                np.hstack([member, zero, np.zeros((groups, 1)), counts[:, None]]),
                np.hstack([zero, member, -counts[:, None], counts[:, None]]),
            ]
        )
        right = np.concatenate([np.zeros(len(column)), counts, np.zeros(groups)])
        rows, columns, entries = [], [], []
        limits: list[float] = []
        for number, demand in enumerate((first, second)):
            for row, (g, token) in enumerate(demand.required, start=len(limits)):
                rows += [row, row, row]
                columns += [number * total + g * size + token, 2 * total, 2 * total + 1]
                entries += [-1.0, float(number), -floor[number][g * size + token]]
            limits += [-1.0 * (1 - number)] * len(demand.required)
        inequality = coo_array((entries, (rows, columns)), shape=(len(limits), 2 * total + 2)).tocsr()
        allowed = np.concatenate([first.allowed.reshape(-1), second.allowed.reshape(-1), [True, True]])
        cost = np.zeros(2 * total + 2)
        cost[-1] = -1
        result = linprog(
            cost[allowed],
            A_ub=inequality[:, allowed] if limits else None,
            b_ub=limits or None,
            A_eq=equal[:, allowed],
            b_eq=right,
            method="highs",
            options={"time_limit": LP_SECONDS},
        )
        if result.x is None:
            return None
        solution = np.zeros(2 * total + 2)
        solution[allowed] = result.x
        kappa, t = solution[-2:]
        if kappa < LEAST_KAPPA:
            return None
        n, m = solution[:total] + t * floor[0], (solution[total : 2 * total] + t * floor[1]) / kappa
        n, m = np.maximum(n, 0).reshape(groups, size), np.maximum(m, 0).reshape(groups, size)
        return (n, m) if np.all(n.sum(axis=1) > 0) and np.all(m.sum(axis=1) > 0) else None

    def _sample(self, counts: Array) -> Array:
        """Systematic sampling: T tokens, each pool token as often as its count says, up to one."""
        tokens = np.empty((self.task.seq_len, self.task.token_dim))
        offset = 0.5
        for group, row in zip(self.groups, counts, strict=True):
            ends = np.cumsum(row)
            places = np.searchsorted(ends / ends[-1] * len(group), np.arange(len(group)) + offset)
            tokens[list(group)] = self.pool[np.minimum(places, len(self.pool) - 1)]
            offset = (offset + 0.618034) % 1 if len(group) == 1 else 0.5
        return tokens


def _groups(task: RetrievalTask, positional: bool) -> list[list[int]]:
    """Positions (0-based) that the block and the task treat alike."""
    if positional:
        return [[position] for position in range(task.seq_len)]
    groups: dict[tuple[bool, ...], list[int]] = {}
    sets = [set(feature.positions) for feature in task.features]
    for position in range(task.seq_len):
        groups.setdefault(tuple(position + 1 in positions for positions in sets), []).append(position)
    return list(groups.values())
