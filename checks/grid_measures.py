"""A grid pair measured in balls: weights, averages and sums of every head, as the proofs of T2.2 and N4 name them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

from checks import balls
from checks.balls import BALLS, Ball, exact
from constructions.adversary.grid import CandidateSet, Roles, Tokens, full_sequences
from constructions.arithmetic import ExactArray, fractions
from constructions.evaluate import apply_map, attention, target
from constructions.network import Network
from constructions.task import RetrievalTask
from theory.errors import InvalidInput
from theory.expressions import evaluate

HOLDS, FAILS, UNDECIDED, NOT_NEEDED = "holds", "fails", "undecided", "not needed"
PRECISIONS = (192, 512, 1536)


@dataclass(frozen=True, eq=False)
class Row:
    """One step ``left <= right`` of a proof with both sides enclosed; ``head`` from 0, None for the whole block."""

    id: str
    statement: str
    left: Ball
    right: Ball
    verdict: str
    head: int | None = None


def at_most(id: str, statement: str, left: Ball, right: Ball, head: int | None = None, needed: bool = True) -> Row:
    """The row ``left <= right``; decided by balls where it is needed."""
    left, right = _ball(left), _ball(right)
    if not needed:
        verdict = NOT_NEEDED
    elif balls.surely_at_most(left, right):
        verdict = HOLDS
    else:
        verdict = FAILS if balls.surely_below(right, left) else UNDECIDED
    return Row(id, statement, left, right, verdict, head)


def decided(make: Callable[[], Sequence[Row]]) -> tuple[Row, ...]:
    """The rows at the first of several precisions at which none is undecided, else at the last."""
    rows: tuple[Row, ...] = ()
    for bits in PRECISIONS:
        with balls.precision(bits):
            rows = tuple(make())
        if all(row.verdict != UNDECIDED for row in rows):
            break
    return rows


def _ball(value: Any) -> Ball:
    return value if isinstance(value, Ball) else exact(value)


def norm(vector: Sequence[Ball]) -> Ball:
    """The Euclidean norm (a square below rounding gives a ball from 0 on)."""
    square = reduce(add, [balls.power(entry, 2) for entry in vector], exact(0))
    return square.sqrt() if square > 0 else balls.hull(exact(0), square.abs_upper().sqrt())


def minus(a: Sequence[Ball], b: Sequence[Ball]) -> list[Ball]:
    """The difference of two vectors."""
    return [x - y for x, y in zip(a, b, strict=True)]


@dataclass(frozen=True, eq=False)
class HeadTable:
    """One head at the tokens of one sequence: weights relative to Lambda (T), values (T rows of n)."""

    weights: list[Ball]
    values: list[list[Ball]]

    def mass(self, positions: Sequence[int]) -> Ball:
        """The sum of the weights over 1-based positions."""
        return reduce(add, [self.weights[t - 1] for t in positions], exact(0))

    def moment(self, positions: Sequence[int]) -> list[Ball]:
        """The sum of weight times value."""
        rows = [[self.weights[t - 1] * entry for entry in self.values[t - 1]] for t in positions]
        return [reduce(add, column, exact(0)) for column in zip(*rows, strict=True)] or [exact(0)] * len(self.values[0])

    def average(self, positions: Sequence[int]) -> list[Ball]:
        """The weighted average of the values; 0 over no positions (it is then multiplied by 0)."""
        return [entry / self.mass(positions) for entry in self.moment(positions)] if positions else self.moment(())


@dataclass(frozen=True, eq=False)
class Pair:
    """Two subsequences on the free positions, the full sequences, and where they differ (I_1, I_2, I_3; 1-based)."""

    network: Network
    task: RetrievalTask
    points: CandidateSet
    roles: Roles
    first: Tokens
    second: Tokens
    whole: tuple[ExactArray, ExactArray]

    @property
    def differing(self) -> list[int]:
        """I_1."""
        return [t for t, a, b in zip(self.roles.free, self.first, self.second, strict=True) if a != b]

    @property
    def common(self) -> list[int]:
        """I_2."""
        return [t for t in self.roles.free if t not in self.differing]

    @property
    def rest(self) -> list[int]:
        """I_3."""
        return [t for t in range(1, self.task.seq_len + 1) if t not in self.differing]

    def with_subsequence(self, tokens: Tokens) -> ExactArray:
        """W_1 with all of a subsequence put in, common positions too: the sequence that Claim 2.1 speaks of."""
        rows = [list(row) for row in self.whole[0]]
        for t, token in zip(self.roles.free, tokens, strict=True):
            rows[t - 1] = list(token)
        return fractions(rows)

    def input_difference(self) -> list[Ball]:
        """The difference of the read-out's inputs at the two full sequences."""
        a, b = (attention(self.network, BALLS.asarray(tokens), BALLS) for tokens in self.whole)
        weight = BALLS.asarray(self.network.output_weight)
        return list(BALLS.matmul(weight, (a - b)[:, None])[:, 0])

    def targets(self) -> tuple[Ball, Ball]:
        a, b = (target(self.task, BALLS.asarray(tokens), BALLS) for tokens in self.whole)
        return a, b

    def measured(self) -> tuple[Fraction, Fraction]:
        """A lower bound on the gap of the targets and an upper bound on the distance of the read-out's inputs."""
        a, b = self.targets()
        distance = max(balls.upper(balls.absolute(entry)) for entry in self.input_difference())
        return balls.lower(balls.absolute(a - b)), distance

    def feature(self, number: int, position: int) -> Ball:
        """f of the empty basin at W_number (0 or 1)."""
        token = {f"x{axis}": exact(entry) for axis, entry in enumerate(self.whole[number][position - 1])}
        value: Ball = evaluate(self.task.features[self.roles.basin].expression, token, BALLS)
        return value


def make_pair(
    network: Network, task: RetrievalTask, points: CandidateSet, roles: Roles, first: Tokens, second: Tokens
) -> Pair:
    """The pair with its full sequences (T2.2-W). Raises InvalidInput where the subsequences agree."""
    if first == second:
        raise InvalidInput.about("subsequences", "equal", "two distinct ones", "another search")
    whole = full_sequences(task, points, roles, first, second)
    return Pair(network, task, points, roles, first, second, whole)


def states_at(network: Network, tokens: ExactArray) -> Any:
    """Encoded tokens (T, E) in balls."""
    return apply_map(network.encoder, BALLS.asarray(tokens), BALLS)


def head_tables(network: Network, roles: Roles, reference: ExactArray, tokens: ExactArray) -> list[HeadTable]:
    """Weights relative to lambda_j(y_j, t_j) as it occurs in the sequence ``reference``, and values, at ``tokens``."""
    states, top = states_at(network, tokens), states_at(network, reference)
    tables = []
    for head, direction, (t, _) in zip(network.heads, network.score_directions, roles.maximal, strict=True):
        column = BALLS.asarray(direction[:, None])
        scores = BALLS.matmul(states, column)[:, 0]
        highest = BALLS.matmul(top[t - 1 : t], column)[0, 0]
        values = BALLS.matmul(states, BALLS.asarray(head.value.T)) + BALLS.asarray(head.value_bias)
        tables.append(HeadTable([balls.exp(score - highest) for score in scores], [list(row) for row in values]))
    return tables
