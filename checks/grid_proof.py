"""N4 run on a block: its grid, its pair of sequences, and its seven steps, each decided in balls.

The pair may come from any search; what is shown about it is proved here. Where ``g^{(n+1)s} < C(G, tau)`` the
pigeonhole guarantees that a pair exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from math import comb
from operator import add

from checks import balls
from checks.balls import BALLS, Ball, exact
from checks.constants import constants
from checks.grid_measures import HOLDS, PRECISIONS, Pair, Row, at_most, decided, head_tables, make_pair, states_at
from checks.grid_points import n4_points
from constructions.adversary.grid import (
    Cells,
    Found,
    SumTable,
    choose_roles,
    exhaustive,
    find_collision,
    increasing,
    largest_parts,
    n4_cells,
    random_increasing,
    repaired_index_sets,
    sum_table,
)
from constructions.arithmetic import fractions
from constructions.network import Network
from constructions.task import RetrievalTask
from theory.expressions import evaluate

EXHAUSTIVE = 2_000_000
"""Up to so many subsequences all are looked at; of more, at most so many random ones."""
IDENTITY = Fraction(1, 2**100)
"""Both sides of an identity agree in balls to this (it is proved symbolically in the ledger)."""


@dataclass(frozen=True, eq=False)
class GridProof:
    """A pair and its table. ``subsequences`` and ``cells`` are exact; ``guaranteed``: there are more of the former."""

    eps: Fraction
    subsequences: int
    cells: int
    looked_at: int
    parts: int
    pair: Pair
    rows: tuple[Row, ...]
    gap_lower: Fraction
    distance_upper: Fraction

    @property
    def guaranteed(self) -> bool:
        return self.subsequences > self.cells

    @property
    def complete(self) -> bool:
        """Whether every row that is needed holds: then N4's proof was carried out on this block."""
        return all(row.verdict == HOLDS for row in self.rows)


@dataclass(frozen=True)
class NoPair:
    """The search ended without two subsequences in one cell."""

    subsequences: int
    cells: int
    looked_at: int


def n4_proof(
    network: Network, task: RetrievalTask, eps: Fraction, tau: int, seed: int = 0, parts: int | None = None
) -> GridProof | NoPair:
    """N4's pair for one block at one eps, with tau free positions, cut into ``parts`` (default: the most possible).

    Claim N4. Search exhaustive up to 2,000,000 subsequences, else a birthday search; proof in balls (192 bits or more).
    Hypotheses are rows of the table. Raises InvalidInput: s >= D, too few positions, no segments, tau > G.
    """
    points = n4_points(task, constants(task), eps)
    grid = len(points.grids[0])
    roles = choose_roles(network, task, points, repaired_index_sets(network, task), tau)
    sums = network.num_heads + network.value_dim
    parts = largest_parts(grid, tau, sums) if parts is None else parts
    table = sum_table(network, points, roles)
    bound = network.encoder.output_dim**0.5
    found, looked = _search(n4_cells(table, tau, parts, bound), table, grid, tau, seed)
    total, cells = comb(grid, tau), parts**sums
    if found is None:
        return NoPair(total, cells, looked)
    own = points.grids[roles.basin]
    pair = make_pair(
        network, task, points, roles, tuple(own[g] for g in found.first), tuple(own[g] for g in found.second)
    )
    rows = decided(
        lambda: (
            *_grid_rows(pair, eps),
            *_choice_rows(pair),
            *_cell_rows(pair, tau, parts, total, cells),
            *_conclusion_rows(pair, eps, tau, parts),
        )
    )
    with balls.precision(PRECISIONS[0]):
        return GridProof(eps, total, cells, looked, parts, pair, rows, *pair.measured())


def _search(cells: Cells, table: SumTable, grid: int, tau: int, seed: int) -> tuple[Found | None, int]:
    if comb(grid, tau) <= EXHAUSTIVE:
        return find_collision(table, cells, exhaustive(increasing(grid, tau)))
    return find_collision(table, cells, random_increasing(grid, tau, EXHAUSTIVE, seed))


def _grid_rows(pair: Pair, eps: Fraction) -> list[Row]:
    """(1): f increases and the F_0-images step by at least 3 eps, on the segment of the empty basin."""
    basin, task = pair.roles.basin, pair.task
    minima = [_features(task, i, point) for i, point in enumerate(pair.points.minimisers)]
    own = [_features(task, basin, point) for point in pair.points.grids[basin]]
    images = [
        evaluate(task.outer, {f"z{i}": value if i == basin else z for i, z in enumerate(minima)}, BALLS)
        for value in own
    ]
    rises = [b - a for a, b in pairwise(own)]
    steps = [balls.absolute(b - a) for a, b in pairwise(images)]
    signs = [(b - a) * (images[-1] - images[0]) for a, b in pairwise(images)]
    others = [_features(task, basin, point) for i, point in pair.points.labelled if i != basin]
    return [
        at_most("N4 (1)", "f_1 increases along the grid: 0 <= least rise", exact(0), balls.minimum(rises)),
        at_most("N4 (1)", "F_0 moves one way: 0 <= least signed step", exact(0), balls.minimum(signs)),
        at_most("N4 (1)", "3 eps <= least step of the F_0-images", 3 * exact(eps), balls.minimum(steps)),
        at_most("N4 (B)", "largest f_1 on the grid <= least f_1 in other basins", own[-1], balls.minimum(others)),
    ]


def _features(task: RetrievalTask, index: int, point: Sequence[Fraction]) -> Ball:
    token = {f"x{axis}": exact(entry) for axis, entry in enumerate(point)}
    value: Ball = evaluate(task.features[index].expression, token, BALLS)
    return value


def _choice_rows(pair: Pair) -> list[Row]:
    """(2) and (3): maximal weights among all positions, bounds on values, distinct positions."""
    network, roles, points = pair.network, pair.roles, pair.points
    labelled = [point for _, point in points.labelled]
    states = [states_at(network, fractions([list(point)] * network.seq_len)) for point in labelled]
    size = network.encoder.output_dim
    norms = [reduce(add, [entry * entry for entry in row], exact(0)) for table in states for row in table]
    rows = [at_most("A1.1", "largest |P(x,t)|_2^2 on P_0 <= 1", balls.maximum(norms), exact(1))]
    entries = [
        abs(Fraction(entry))
        for head in network.heads
        for matrix in (head.query, head.key, head.value)
        for entry in matrix.ravel()
    ]
    entries += [abs(Fraction(entry)) for entry in network.output_weight.ravel()]
    rows.append(at_most("A1.3", "largest entry of W_Q, W_K, W_V, W_O <= 1", exact(max(entries)), exact(1)))
    taken: set[int] = set()
    for j, (t, y) in enumerate(roles.maximal):
        column = BALLS.asarray(network.score_directions[j][:, None])
        scores = [BALLS.matmul(table, column)[:, 0] for table in states]
        highest = scores[labelled.index(y)][t - 1]
        rivals = _rivals(network, labelled, scores, (y, t), taken)
        taken.add(t)
        rows.append(
            at_most("N4 (2)", "largest score on P_0 x ([T] - {t_1..}) <= score of (y_j, t_j)", rivals, highest, j)
        )
    values = [
        balls.absolute(entry)
        for head in network.heads
        for table in states
        for entry in (BALLS.matmul(table, BALLS.asarray(head.value.T)) + BALLS.asarray(head.value_bias)).ravel()
    ]
    rows.append(at_most("N4 (4)", "largest |v_c| on P_0 <= sqrt(E)", balls.maximum(values), exact(size).sqrt()))
    special = [t for t, _ in roles.maximal] + [t for _, t in roles.representatives]
    outside = sum(t not in pair.task.features[i].positions for i, t in roles.representatives)
    outside += sum(t not in pair.task.features[roles.basin].positions or t in special for t in roles.free)
    rows.append(at_most("N4 (3)", "positions used twice <= 0", exact(len(special) - len(set(special))), exact(0)))
    rows.append(at_most("N4 (3)", "positions outside their S_i, or not free <= 0", exact(outside), exact(0)))
    return rows


def _rivals(
    network: Network,
    labelled: Sequence[Sequence[Fraction]],
    scores: Sequence[Sequence[Ball]],
    chosen: tuple[Sequence[Fraction], int],
    taken: set[int],
) -> Ball:
    """The largest score among all other candidates; where positions play no part, among all other tokens."""
    token, position = chosen
    positional = any(layer.bias.ndim == 2 for layer in getattr(network.encoder, "layers", ())) or any(
        part.positions is not None for part in getattr(network.encoder, "components", ())
    )
    found = [
        score
        for point, row in zip(labelled, scores, strict=True)
        for t, score in enumerate(row, start=1)
        if t not in taken and not (point == token and (t == position or not positional))
    ]
    return balls.maximum(found)


def _cell_rows(pair: Pair, tau: int, parts: int, total: int, cells: int) -> list[Row]:
    """(4): more subsequences than cells; the pair's (n+1)s numbers share theirs."""
    root = exact(pair.network.encoder.output_dim).sqrt()
    a, b = (
        head_tables(pair.network, pair.roles, pair.whole[0], pair.with_subsequence(z))
        for z in (pair.first, pair.second)
    )
    shown = f"g^q + 1 <= C(G, tau), g = {parts}"
    rows = [at_most("N4 (4)", shown, exact(cells + 1), exact(total))]
    for j, (one, two) in enumerate(zip(a, b, strict=True)):
        free = pair.roles.free
        largest = balls.maximum([one.weights[t - 1] for t in free] + [two.weights[t - 1] for t in free])
        rows.append(at_most("N4 (4)", "largest weight/Lambda at free positions <= 1", largest, exact(1), j))
        mass = balls.absolute(one.mass(free) - two.mass(free))
        rows.append(at_most("N4 (4)", "|Delta sum lambda|/Lambda <= tau/g", mass, exact(Fraction(tau, parts)), j))
        moved = [balls.absolute(x - y) for x, y in zip(one.moment(free), two.moment(free), strict=True)]
        width = 2 * root * exact(Fraction(tau, parts))
        rows.append(at_most("N4 (4)", "|Delta sum lambda v|/Lambda <= 2 sqrt(E) tau/g", balls.maximum(moved), width, j))
    return rows


def _conclusion_rows(pair: Pair, eps: Fraction, tau: int, parts: int) -> list[Row]:
    """(5), (6), (7): close read-out inputs, distant targets, and what a read-out would have to be."""
    network = pair.network
    size = exact(network.encoder.output_dim)
    a, b = (head_tables(network, pair.roles, pair.whole[0], tokens) for tokens in pair.whole)
    everywhere = range(1, network.seq_len + 1)
    rows = []
    for j, (one, two) in enumerate(zip(a, b, strict=True)):
        mass, other = one.mass(everywhere), two.mass(everywhere)
        moment, second = one.moment(everywhere), two.moment(everywhere)
        rows.append(at_most("N4 (5)", "Lambda <= Q", exact(1), balls.minimum([mass, other]), j))
        differences = [x / mass - y / other for x, y in zip(moment, second, strict=True)]
        by_parts = [(x - y - y / other * (mass - other)) / mass for x, y in zip(moment, second, strict=True)]
        apart = balls.maximum([balls.absolute(x - y) for x, y in zip(differences, by_parts, strict=True)])
        rows.append(
            at_most("N4 (5)", "y_1 - y_2 = (Lambda Da - y_2 Lambda Dq)/Q, within 2^-100", apart, exact(IDENTITY), j)
        )
        largest = balls.maximum([balls.absolute(x) for x in differences])
        width = 3 * size.sqrt() * exact(Fraction(tau, parts))
        rows.append(at_most("N4 (5)", "largest |y_1 - y_2| <= 3 sqrt(E) tau/g", largest, width, j))
    distance = balls.maximum([balls.absolute(x) for x in pair.input_difference()])
    width = 3 * size * size.sqrt() * exact(Fraction(tau, parts))
    rows.append(at_most("N4 (5)", "read-out inputs differ by <= 3 E^(3/2) tau/g", distance, width))
    return [*rows, *gap_rows(pair, eps), *_readout_rows(eps, distance, width)]


def gap_rows(pair: Pair, eps: Fraction) -> list[Row]:
    """(6), T2.2-gap repaired: the minimum is at the first differing position, the targets differ by >= 3 eps."""
    own = pair.task.features[pair.roles.basin].positions
    first = pair.differing[0]
    rows = []
    for number in (0, 1):
        others = [pair.feature(number, t) for t in own if t != first]
        here = pair.feature(number, first)
        shown = f"f_1(w_{number + 1}) at the first differing position <= elsewhere in S_1"
        rows.append(at_most("N4 (6)", shown, here, balls.minimum(others)))
    a, b = pair.targets()
    return [*rows, at_most("N4 (6)", "3 eps <= |H(W_1) - H(W_2)|", 3 * exact(eps), balls.absolute(a - b))]


def _readout_rows(eps: Fraction, distance: Ball, width: Ball) -> list[Row]:
    """(7): a read-out with sup error < eps moves by more than eps, so it has at least eps/distance parameters (N5)."""
    shown = "N4's bound eps g/(3 E^(3/2) tau) on M <= eps/distance of this pair"
    return [at_most("N4 (7)", shown, exact(eps) / width, exact(eps) / distance)]
