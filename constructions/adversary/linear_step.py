"""One step of the search: linear models of gap and equations in a trust region, solved by HiGHS.

Variables: the step (2 T d) | one epigraph for each minimum that should grow | positive and negative parts of the
equations (k each) | one margin for each token (2 T) | slack of the equations (k, or none). Minima are exact: one that
should grow lies below all its tokens' models, one that should fall follows the token that is smallest now. Tokens stay
within the linear piece of the encoder in which the derivatives were taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack

from constructions.adversary.pairs import Array, Observation, beyond_noise

LP_SECONDS = 2.0
MAX_KINKS = 4  # a token with more kinks in reach is left to the trust region
WIDEST_MARGIN = 0.005  # distance from the boundary of a piece beyond which a token counts as free


@dataclass(frozen=True)
class Slack:
    """The whitened equations may be missed by w with ``low <= rows @ w <= high``: rows (R, k), low and high (R,)."""

    rows: Array
    low: Array
    high: Array


NO_SLACK = Slack(np.zeros((0, 0)), np.zeros(0), np.zeros(0))


class LinearModel:
    """The model at one pair (2, T, d), from its `Observation`, within ``radius`` in every coordinate."""

    def __init__(self, here: Observation, pair: Array, radius: float, slack: Slack = NO_SLACK) -> None:
        self.here, self.pair, self.radius = here, pair, radius
        self.rank, coordinates = len(here.difference), pair.size
        self.signed = here.outer_gradient * np.array([[1.0], [-1.0]])  # gain in the gap per unit of each minimum
        self.raised = np.argwhere(self.signed > 0)
        self.parts = coordinates + len(self.raised)
        self.margins = self.parts + 2 * self.rank
        self.slacks = self.margins + pair.shape[0] * pair.shape[1]
        self.slack, self.size = slack, self.slacks + slack.rows.shape[1]

    def ascent(self, penalty: float) -> tuple[Array | None, float]:
        """Maximise ``gap - penalty |equations|_1``: the step and the merit it predicts; None if HiGHS finds nothing."""
        solution, merit = self.ascent_with_slack(penalty)
        return self._step(solution), merit

    def ascent_with_slack(self, penalty: float) -> tuple[Array | None, float]:
        """The same, with all variables: `step_of` and `slack_of` read the step and w."""
        cost = -self._gain()
        cost[self.parts : self.margins] = penalty
        solution, value = self._solve(cost, [self._pieces(), self._allowed(), *self._epigraphs()], 0.0)
        return solution, self.here.gap - self._raised_now() - value

    def step_of(self, solution: Array) -> Array:
        """The step (2, T, d) in a solution."""
        return solution[: self.pair.size].reshape(self.pair.shape)

    def slack_of(self, solution: Array) -> Array:
        """The slack w (k,) in a solution."""
        return solution[self.slacks :]

    def interior(self, penalty: float, least_gap: float) -> tuple[Array | None, float]:
        """Maximise ``sum of margins - penalty |equations|_1`` with the gap kept; the step and the predicted value."""
        cost = np.zeros(self.size)
        cost[self.parts : self.margins] = penalty
        cost[self.margins : self.slacks] = -1
        keep = coo_array(-self._gain()[None]).tocsr(), np.array([self.here.gap - self._raised_now() - least_gap])
        blocks = [keep, self._pieces(), self._box(), self._allowed(), *self._epigraphs()]
        solution, value = self._solve(cost, blocks, WIDEST_MARGIN)
        return self._step(solution), -value

    def _step(self, solution: Array | None) -> Array | None:
        return None if solution is None else self.step_of(solution)

    def _gain(self) -> Array:
        """Gain in the gap per unit of each variable (the epigraphs' present values are `_raised_now`)."""
        gain = np.zeros(self.size)
        gain[self.parts - len(self.raised) : self.parts] = self.signed[self.signed > 0]
        for s, i in np.argwhere(self.signed < 0):
            token = int(np.argmin(self.here.features[s, i]))
            gain[self._columns(s, np.array([token]))[0]] += self.signed[s, i] * self.here.slopes[s, i, token]
        return gain

    def _raised_now(self) -> float:
        return float((self.signed * self.here.minima)[self.signed > 0].sum())

    def _solve(self, cost: Array, blocks: list[tuple[Any, Array]], widest_margin: float) -> tuple[Array | None, float]:
        flat, identity = self.pair.reshape(-1), np.eye(self.rank)
        epigraphs, margins, slacks = len(self.raised), self.slacks - self.margins, self.size - self.slacks
        equations = np.hstack(
            [
                self.here.jacobian[0],
                -self.here.jacobian[1],
                np.zeros((self.rank, epigraphs)),
                -identity,
                identity,
                np.zeros((self.rank, margins)),
                -identity[:, :slacks],
            ]
        )
        low = [
            np.maximum(-self.radius, -flat),
            np.full(epigraphs, -np.inf),
            np.zeros(2 * self.rank + margins),
            np.full(slacks, -np.inf),
        ]
        high = [
            np.minimum(self.radius, 1 - flat),
            np.full(epigraphs + 2 * self.rank, np.inf),
            np.full(margins, widest_margin),
            np.full(slacks, np.inf),
        ]
        result = linprog(
            cost,
            A_ub=vstack([matrix for matrix, _ in blocks]),
            b_ub=np.concatenate([limit for _, limit in blocks]),
            A_eq=equations,
            b_eq=-beyond_noise(self.here.difference),
            bounds=np.stack([np.concatenate(low), np.concatenate(high)], axis=1),
            method="highs",
            options={"time_limit": LP_SECONDS},
        )
        if result.x is None:
            return None, np.inf
        return np.asarray(result.x), float(result.fun)

    def _allowed(self) -> tuple[Any, Array]:
        """``low <= rows @ slack <= high``."""
        columns = np.broadcast_to(np.arange(self.slacks, self.size), self.slack.rows.shape)
        up, down = self._sparse(columns, self.slack.rows), self._sparse(columns, -self.slack.rows)
        return vstack([up, down]), np.concatenate([self.slack.high, -self.slack.low])

    def _epigraphs(self) -> list[tuple[Any, Array]]:
        """``epigraph - slope . step_t <= f(x_t)`` for every token that may become the smallest in the trust region."""
        blocks = []
        for epigraph, (s, i) in enumerate(self.raised, start=self.parts - len(self.raised)):
            features, slopes = self.here.features[s, i], self.here.slopes[s, i]
            reach = self.radius * np.abs(slopes).sum(axis=1)
            tokens = np.flatnonzero(features - reach <= (features + reach).min())
            columns = np.concatenate([self._columns(s, tokens), np.full((len(tokens), 1), epigraph)], axis=1)
            entries = np.concatenate([-slopes[tokens], np.ones((len(tokens), 1))], axis=1)
            blocks.append((self._sparse(columns, entries), features[tokens]))
        return blocks

    def _pieces(self) -> tuple[Any, Array]:
        """``margin_t |normal| - normal . step_t <= distance``: tokens stay on their side of the kinks in reach."""
        steepness = np.abs(self.here.kink_normal).sum(axis=-1)
        near = self.here.kink_distance <= (self.radius + WIDEST_MARGIN) * steepness
        near &= (near.sum(axis=-1) <= MAX_KINKS)[..., None]
        s, token, unit = np.nonzero(near)
        place = s * self.pair.shape[1] + token
        columns = place[:, None] * self.pair.shape[2] + np.arange(self.pair.shape[2])
        columns = np.concatenate([columns, self.margins + place[:, None]], axis=1)
        normals = -self.here.kink_normal[s, token, unit]
        entries = np.concatenate([normals, steepness[s, token, unit][:, None]], axis=1)
        return self._sparse(columns, entries), np.maximum(self.here.kink_distance[s, token, unit], 0)

    def _box(self) -> tuple[Any, Array]:
        """``margin_t - step <= x`` and ``margin_t + step <= 1 - x`` in every coordinate."""
        index = np.arange(self.pair.size)
        columns = np.stack([index, self.margins + index // self.pair.shape[2]], axis=1)
        ones = np.ones(self.pair.size)
        down = self._sparse(columns, np.stack([-ones, ones], axis=1))
        up = self._sparse(columns, np.stack([ones, ones], axis=1))
        flat = self.pair.reshape(-1)
        return vstack([down, up]), np.concatenate([flat, 1 - flat])

    def _columns(self, s: int, tokens: Any) -> Any:
        return (s * self.pair.shape[1] + tokens[:, None]) * self.pair.shape[2] + np.arange(self.pair.shape[2])

    def _sparse(self, columns: Any, entries: Any) -> Any:
        rows = np.repeat(np.arange(len(columns)), columns.shape[1])
        return coo_array((entries.ravel(), (rows, columns.ravel())), shape=(len(columns), self.size)).tocsr()
