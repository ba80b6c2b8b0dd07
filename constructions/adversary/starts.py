"""Where the search for a pair begins: mixed starts, since each kind wins on some block."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from constructions.adversary.pairs import Array, feature_table, outer_map
from constructions.task import Feature, RetrievalTask, everywhere

POOL = 4096  # candidate tokens


class Starts:
    """Draws pairs (2, T, d); the first sequence is meant to have the large target."""

    def __init__(self, task: RetrievalTask, generator: np.random.Generator) -> None:
        self.task = task
        self.generator = generator
        pool = generator.random((POOL, task.token_dim))
        pool[: POOL // 8] = np.round(pool[: POOL // 8])
        edge = generator.random(pool.shape) < 0.3
        pool[POOL // 2 :] = np.where(edge[POOL // 2 :], np.round(pool[POOL // 2 :]), pool[POOL // 2 :])
        self.pool = pool
        on_pool = RetrievalTask(
            task.name,
            task.token_dim,
            POOL,
            tuple(Feature(feature.expression, everywhere(POOL)) for feature in task.features),
            task.outer,
        )
        self.features = feature_table(on_pool, pool[None])[0][0]  # (D, POOL)
        self.signs = np.sign(outer_map(task, np.median(self.features, axis=1)[None])[1][0])
        self.signs[self.signs == 0] = 1

    @property
    def kinds(self) -> dict[str, Callable[[], Array]]:
        """The kinds of start by name."""
        return {
            "corners": lambda: self._extreme(0.01),
            "copy": lambda: self._copy(0.05),
            "basin": self._basin,
            "decile": lambda: self._extreme(0.1),
            "spread copy": lambda: self._copy(0.2),
            "uniform": lambda: self.generator.random((2, self.task.seq_len, self.task.token_dim)),
        }

    def _base(self, sign: float, share: float) -> Array:
        """T tokens whose features of the given sign are all large: from the best ``share`` of the pool."""
        chosen = self.features[self.signs == sign]
        score = chosen.min(axis=0) if len(chosen) else self.generator.random(POOL)
        count = max(2, int(share * POOL))
        best = np.argpartition(-score, count - 1)[:count]
        return np.asarray(self.pool[self.generator.choice(best, self.task.seq_len)])

    def _put_minimisers(self, tokens: Array, wanted: Array) -> Array:
        """Put a near-minimiser of every wanted feature at a position of its own in S_i (as far as they suffice)."""
        taken: set[int] = set()
        for index in self.generator.permutation(np.flatnonzero(wanted)):
            places = [position - 1 for position in self.task.features[index].positions]
            place = int(self.generator.choice([place for place in places if place not in taken] or places))
            taken.add(place)
            smallest = np.argpartition(self.features[index], 8)[:8]
            tokens[place] = self.pool[self.generator.choice(smallest)]
        return tokens

    def _extreme(self, share: float) -> Array:
        pair = np.stack([self._base(1, share), self._base(-1, share)])
        self._put_minimisers(pair[0], self.signs < 0)
        self._put_minimisers(pair[1], self.signs > 0)
        return pair

    def _background(self) -> Array:
        """One sequence: uniform, from one side's best tokens, or a mixture."""
        uniform = self.pool[self.generator.choice(POOL, self.task.seq_len)]
        base = self._base(self.generator.choice([-1.0, 1.0]), self.generator.choice([0.05, 0.3]))
        mixed = self.generator.random((self.task.seq_len, 1)) < self.generator.choice([0.0, 0.5, 0.9, 1.0])
        return np.where(mixed, base, uniform)

    def _copy(self, noise: float) -> Array:
        common = self._background()
        pair = np.stack([common, common + noise * self.generator.normal(size=common.shape)])
        return np.asarray(pair.clip(0, 1))

    def _basin(self) -> Array:
        """Both sequences alike but for minimisers of one feature in the second (in the first, if F_0 falls)."""
        common = self._base(self.generator.choice([-1.0, 1.0]), 0.3)
        pair = np.stack([common, common])
        index = int(self.generator.integers(self.task.num_targets))
        wanted = np.arange(self.task.num_targets) == index
        self._put_minimisers(pair[1 if self.signs[index] > 0 else 0], wanted)
        return pair
