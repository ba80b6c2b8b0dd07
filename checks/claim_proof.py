"""The printed proof of T2.2 run on a block: Claim 2.1's conditions and eq 24-48 for one pair, each decided in balls.

Letters as in the paper: e = eps^{k+1}, I_1 the differing positions, I_2 the other free ones, I_3 everything but I_1;
Q1, Q2 the weights on I_1 of W_1, W_2, Q3 on I_2 (as in the subsequences), Q4 on I_3 (as in W_1 and W_2); V1..V4 the
averages. Weights are relative to Lambda = lambda_j(y_j, t_j), which all statements allow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from checks import balls
from checks.balls import Ball, exact
from checks.constants import TaskConstants, constants
from checks.grid_measures import (
    FAILS,
    HOLDS,
    PRECISIONS,
    HeadTable,
    Pair,
    Row,
    at_most,
    decided,
    head_tables,
    make_pair,
    minus,
    norm,
)
from checks.grid_points import even_points
from checks.grid_proof import EXHAUSTIVE, IDENTITY, NoPair, gap_rows
from constructions.adversary.grid import (
    choose_roles,
    claim_cells,
    exhaustive,
    find_collision,
    in_blocks,
    random_in_blocks,
    sum_table,
)
from constructions.network import Network
from constructions.task import RetrievalTask
from theory.errors import InvalidInput
from theory.too_few_heads import free_positions, require_free


@dataclass(frozen=True, eq=False)
class ClaimProof:
    """A pair on the grid U_t and the printed chain; ``accuracy``: e. The counts are exact integers."""

    eps: Fraction
    accuracy: Ball
    subsequences: int
    cells: int
    looked_at: int
    steps: int
    pair: Pair
    rows: tuple[Row, ...]
    gap_lower: Fraction
    distance_upper: Fraction

    @property
    def guaranteed(self) -> bool:
        return self.subsequences > self.cells

    @property
    def failed(self) -> tuple[str, ...]:
        """The ids of the rows that fail, each once, in the order of the proof."""
        return tuple(dict.fromkeys(row.id for row in self.rows if row.verdict == FAILS))

    def verdicts(self, row_id: str) -> list[str]:
        return [row.verdict for row in self.rows if row.id == row_id]


def block_size(found: TaskConstants, eps: Fraction, free: int) -> int:
    """T2.2-grid: |U_t| = floor(r L^2/(3 T_0 eps)), r L^2 being min_i r_i L_{f,i} L_{F,i}. Raises InvalidInput if 0."""
    product = found.rho_printed_lower
    if product is None:
        raise InvalidInput.about("task", "no r, L of L5 and L6", "A2", "another task")
    size = math.floor(product / (3 * free * eps))
    if size < 2:
        raise InvalidInput.about("eps", eps, f"at most r L^2/(6 T_0) = {product / (6 * free)}", "a smaller eps")
    return size


def accuracy(eps: Fraction, free: int, network: Network) -> Ball:
    """e = eps^{k+1}, k + 1 = T_0/((n+1)s + 1); (n+1)s is the number of sums, s + the number of value channels."""
    return balls.exp(balls.log(exact(eps)) * exact(Fraction(free, network.num_heads + network.value_dim + 1)))


def claim_cell_count(e: Ball, free: int, network: Network) -> int:
    """Cells of Claim 2.1, exactly: ceil(6 T_0 sqrt(n)/e) for each channel, for each head the sub-intervals of count3.

    With Lambda as unit the sums lie in (0, T_0]: one cell up to e/4, geometric ones of ratio 1 + e/(12 T_0^2) above.
    """
    total = 1
    for head in network.heads:
        size = head.value.shape[0]
        averages = balls.upper(6 * free * exact(size).sqrt() / e)
        small = e / (12 * free * free)
        ratio = 2 * small / (2 + small)  # log(1 + x) >= 2 x/(2 + x) for x >= 0: equal at 0, and the derivatives compare
        total *= math.ceil(averages) ** size * (1 + math.ceil(balls.upper(balls.log(4 * free / e) / ratio)))
    return total


def claim_proof(
    network: Network,
    task: RetrievalTask,
    eps: Fraction,
    index_sets: Sequence[Sequence[int]],
    seed: int = 0,
) -> ClaimProof | NoPair:
    """The printed proof's pair on U_1 x ... x U_{T_0} with T_0 = T/4 - s - D + 1, and its chain.

    Claims T2.2-max (with the given ``index_sets``), -rep, -T0, -grid, -claim, -W, -gap, -V, -24 .. -46. Search
    exhaustive up to 2,000,000 subsequences, else birthday. Balls (192 bits). Raises InvalidInput.
    """
    found = constants(task)
    size_per_head = network.value_dim // network.num_heads
    free = require_free(free_positions(size_per_head, network.num_heads, task.num_targets, task.seq_len, None))
    size = block_size(found, eps, free)
    points = even_points(found, free * size)
    roles = choose_roles(network, task, points, index_sets, free)
    table = sum_table(network, points, roles)
    with balls.precision(PRECISIONS[0]):
        e = accuracy(eps, free, network)
        cells = claim_cell_count(e, free, network)
        buckets = claim_cells(table, free, float(balls.lower(e)), size_per_head)
        total = size**free
        chunks = (
            exhaustive(in_blocks(size, free)) if total <= EXHAUSTIVE else random_in_blocks(size, free, EXHAUSTIVE, seed)
        )
        hit, looked = find_collision(table, buckets, chunks)
        if hit is None:
            return NoPair(total, cells, looked)
        own = points.grids[roles.basin]
        first, second = (tuple(own[g] for g in chosen) for chosen in (hit.first, hit.second))
        pair = make_pair(network, task, points, roles, first, second)
        rows = decided(lambda: chain(pair, accuracy(eps, free, network), eps))
        return ClaimProof(eps, e, total, cells, looked, free * size, pair, rows, *pair.measured())


def chain(pair: Pair, e: Ball, eps: Fraction) -> tuple[Row, ...]:
    """All rows of the printed chain for any pair and any e > 0."""
    tables = [
        head_tables(pair.network, pair.roles, pair.whole[0], tokens)
        for tokens in (
            pair.with_subsequence(pair.first),
            pair.with_subsequence(pair.second),
            *pair.whole,
        )
    ]
    rows: list[Row] = []
    for j, of_head in enumerate(zip(*tables, strict=True)):
        rows += HeadChain(pair, e, j, *of_head).rows()
    distance = balls.maximum([balls.absolute(entry) for entry in pair.input_difference()])
    rows.append(at_most("T2.2-46", "inputs of F differ by <= s e", distance, pair.network.num_heads * e))
    return (*rows, *_printed_gap(pair), *gap_rows(pair, eps))


class HeadChain:
    """Claim 2.1 and eq 24-44 for one head; the subsequences are exchanged where Q1 < Q2, as the paper may."""

    def __init__(
        self, pair: Pair, e: Ball, head: int, z1: HeadTable, z2: HeadTable, w1: HeadTable, w2: HeadTable
    ) -> None:
        if balls.surely_below(w1.mass(pair.differing), w2.mass(pair.differing)):
            z1, z2, w1, w2 = z2, z1, w2, w1
        self.e, self.head, self.free = e, head, len(pair.roles.free)
        differing, common, rest = pair.differing, pair.common, pair.rest
        self.q1, self.q2, self.q3, self.q4 = (
            w1.mass(differing),
            w2.mass(differing),
            z1.mass(common),
            w1.mass(rest),
        )
        self.v1, self.v2 = w1.average(differing), w2.average(differing)
        self.v3, self.v4 = z1.average(common), w1.average(rest)
        self.averages = minus(z1.average(pair.roles.free), z2.average(pair.roles.free))
        self.outputs = minus(w1.average(range(1, len(w1.weights) + 1)), w2.average(range(1, len(w1.weights) + 1)))
        self.largest = balls.maximum([norm(v) for table in (z1, z2, w1, w2) for v in table.values])
        self.maximal = sum((w1.weights[t - 1] for t, _ in pair.roles.maximal), exact(0))

    def rows(self) -> list[Row]:
        e, t0 = self.e, self.free
        close = self._row("T2.2-claim (1)", "averages differ by <= e/(3 T_0)", norm(self.averages), e / (3 * t0))
        sums = (self.q1 + self.q3, self.q2 + self.q3)
        case_a = self._row("T2.2-claim (2a)", "ratio of the sums <= 1 + e/(12 T_0^2)", *self._ratio(sums))
        bound = e / 4 * self.maximal
        case_b = self._row("T2.2-claim (2b)", "both sums <= (e/4) sum_w lambda(y_w,t_w)", sums[0], bound)
        a, b = case_a.verdict == HOLDS, case_b.verdict == HOLDS
        if a:
            case_b = self._row(case_b.id, case_b.statement, case_b.left, case_b.right, False)
        elif b:
            case_a = self._row(case_a.id, case_a.statement, case_a.left, case_a.right, False)
        return [close, case_a, case_b, *self._premises(a), *self._case_a(a), *self._case_b(b and not a)]

    def _row(self, id: str, statement: str, left: Ball, right: Ball, needed: bool = True) -> Row:
        return at_most(id, statement, left, right, self.head, needed)

    def _ratio(self, sums: tuple[Ball, Ball]) -> tuple[Ball, Ball]:
        return sums[0] / sums[1], 1 + self.e / (12 * self.free * self.free)

    def _premises(self, case_a: bool) -> list[Row]:
        most = self.q1 + self.q3
        return [
            self._row("T2.2-V", "largest |v|, hence |V|, <= 1", self.largest, exact(1)),
            self._row("T2.2-24", "both sides agree within 2^-100", self._identity(), exact(IDENTITY)),
            self._row("T2.2-Q4", "(Q1 + Q2)/T_0 <= Q4", (self.q1 + self.q2) / self.free, self.q4, case_a),
            self._row("T2.2-Q4, used", "(Q1 + Q3)/T_0 <= Q4", most / self.free, self.q4, case_a),
        ]

    def _identity(self) -> Ball:
        q1, q2, q3 = self.q1, self.q2, self.q3
        worst = exact(0)
        for v1, v2, v3 in zip(self.v1, self.v2, self.v3, strict=True):
            left = (q1 * v1 + q3 * v3) / (q1 + q3) - (q2 * v2 + q3 * v3) / (q2 + q3)
            right = q3 * (q2 - q1) * (v3 - v2) / ((q1 + q3) * (q2 + q3)) + q1 * (v1 - v2) / (q1 + q3)
            worst = balls.maximum([worst, balls.absolute(left - right)])
        return worst

    def _case_a(self, needed: bool) -> list[Row]:
        q1, q2, q3, q4, e, t0 = self.q1, self.q2, self.q3, self.q4, self.e, self.free
        moved = balls.absolute(q2 - q1)
        to4, to3, apart = (norm(minus(a, b)) for a, b in ((self.v4, self.v2), (self.v3, self.v2), (self.v1, self.v2)))
        full = q4 * moved * to4 / ((q1 + q4) * (q2 + q4))
        middle, last = moved * to4 / (q1 + q4), t0 * moved * to4 / (q1 + q3)
        third, second = q3 * moved * to3 / ((q1 + q3) * (q2 + q3)), q1 * apart / (q1 + q3)
        fourth = q1 * apart / (q1 + q4)
        return [
            self._row("T2.2-26", "|Q4(Q2-Q1)(V4-V2)/((Q1+Q4)(Q2+Q4))| <= eq 28", full, middle, needed),
            self._row("T2.2-26", "|(Q2-Q1)(V4-V2)|/(Q1+Q4) <= eq 29", middle, last, needed),
            self._row("T2.2-26", "T_0 |(Q2-Q1)(V4-V2)|/(Q1+Q3) <= e/(6 T_0)", last, e / (6 * t0), needed),
            self._row("T2.2-31", "the same with Q3, V3 <= e/(6 T_0)", third, e / (6 * t0), needed),
            self._row("T2.2-32", "|Q1(V1-V2)|/(Q1+Q3) <= e/(2 T_0)", second, e / (2 * t0), needed),
            self._row("T2.2-33", "|Q1(V1-V2)|/(Q1+Q4) <= T_0 |Q1(V1-V2)|/(Q1+Q3)", fourth, t0 * second, needed),
            self._row("T2.2-33", "T_0 |Q1(V1-V2)|/(Q1+Q3) <= e/2", t0 * second, e / 2, needed),
            self._row("T2.2-36", "the head's outputs on W_1, W_2 differ by <= e", norm(self.outputs), e, needed),
        ]

    def _case_b(self, needed: bool) -> list[Row]:
        e, small = self.e, self.e / 4 * self.q4
        to4, apart = norm(minus(self.v4, self.v2)), norm(minus(self.v1, self.v2))
        middle = e / 4 * (to4 + apart)
        return [
            self._row("T2.2-40", "Q1 + Q3 <= (e/4) Q4", self.q1 + self.q3, small, needed),
            self._row("T2.2-40", "Q2 + Q3 <= (e/4) Q4", self.q2 + self.q3, small, needed),
            self._row("T2.2-40", "outputs differ by <= (e/4)(|V4-V2| + |V1-V2|)", norm(self.outputs), middle, needed),
            self._row("T2.2-40", "(e/4)(|V4-V2| + |V1-V2|) <= e", middle, e, needed),
        ]


def _printed_gap(pair: Pair) -> list[Row]:
    """T2.2-gap as printed: the maximum of f_1 over S_1 is at the last differing position (it never is)."""
    own, last = pair.task.features[pair.roles.basin].positions, pair.differing[-1]
    return [
        at_most(
            "T2.2-gap, printed",
            f"max over S_1 of f_1(w_{number + 1}(t)) <= its value at the last differing position",
            balls.maximum([pair.feature(number, t) for t in own]),
            pair.feature(number, last),
        )
        for number in (0, 1)
    ]
