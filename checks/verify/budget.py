"""The analytic budget of a network whose heads cover their minima, re-derived from the weights (N1-N3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from flint import arb, fmpq

from checks.certificates import records
from checks.certificates.records import Dense, Formula
from checks.verify.arithmetic import (
    Balls,
    Irrational,
    Rationals,
    Row,
    Undecided,
    Work,
    ball,
    combine,
    evaluate,
    rational,
    show,
)
from checks.verify.bisection import Box, Condition, Violated, bisect, unit_rows, within
from checks.verify.blocks import Block, Layer, head_layer


class Budget:
    """The analytic budget of a network whose heads cover their minima (N2, N3), from the weights alone.

    Head i has a value channel u_i(x, t); its score is -beta (u_i(x, t) - r_i(t)) up to a constant, where r_i depends
    on the position alone, is largest and constant on S_i, r_i = 0 say. "Covered" positions C_i have r_i = 0, the others
    r_i <= -g. Checked for all x in the cube, with a margin m:

        |u_i - f_i| <= delta_i on S_i,    -m <= u_i <= 1 + m everywhere,    u_i >= 1 - m on C_i outside S_i.

    The softmax mean over C_i exceeds the least covered value by at most W((|C_i| - 1)/e)/beta (N1, for values of any
    size), and that is at least min over S_i of u_i less 2 m. The other positions have a share of at most
    (T - |C_i|) e^{-beta (g - 1 - 2 m)} and values within 1 + 2 m of the mean (N2). Hence

        -l_i <= z_i - min over S_i of f_i <= e_i,    l_i = delta_i + 2 m + (1+2m)(T-|C_i|) e^{-beta(g-1-2m)},
                                                     e_i = l_i + W((|C_i|-1)/e)/beta.

    With |readout - F_0| <= outer_delta on the box of possible z and the derivatives of F_0 bounded between z and the
    minima, network - target <= outer_delta + sum_i slopes_i e_i, with l_i for e_i wherever F_0 surely falls with z_i,
    target - network likewise where it rises, and |network - target| <= outer_delta + gradient max_i e_i.
    (sum_i |d_i F_0| <= gradient; all claimed numbers enlarged as said in `__init__`.)
    """

    def __init__(self, claim: records.SupError, work: Work) -> None:
        assert isinstance(claim.evidence, records.Covering)
        self.claim, self.network, self.task, self.work = claim, claim.network, claim.task, work
        self.given = claim.evidence
        if min(self.given.margin, self.given.outer_delta, *self.given.delta) < 0:
            raise Undecided("margin, delta and outer_delta must not be negative")
        if len(set(self.given.channels)) < len(self.given.channels):
            raise Undecided("two features share a channel")
        self.numbers = Balls(work)
        self.heads = head_layer(self.network, work)
        self.block = Block(self.network, self.heads, self.numbers)
        self.one, self.margin = arb(1), ball(self.given.margin)
        # Every claimed number gets the margin added before it is checked and used, which makes room for rounding; the
        # read-out's also what F_0 can move from z in the cube to z in the cube widened by the margin.
        self.delta = [ball(entry) + self.margin for entry in self.given.delta]
        self.slopes = [ball(entry) + self.margin for entry in self.given.slopes]
        self.gradient = ball(self.given.gradient) + self.margin
        self.outer_delta = ball(self.given.outer_delta) + (1 + self.gradient) * self.margin
        self.classes = self._classes()

    def check(self) -> dict[str, str]:
        errors = [self._head(index) for index in range(len(self.task.features))]
        boxes = 0
        try:
            # One feature at a time: where each needs other coordinates than the rest, boxes are split along those only.
            for positions in self.classes:
                for index in range(len(errors)):
                    boxes += bisect(self.task.token_dim, self._token_conditions(positions, errors, index), self.work)
            boxes += bisect(len(errors), self._readout_conditions(), self.work)
            boxes += bisect(len(errors), self._outer_conditions, self.work)
        except Violated as point:
            raise Undecided(f"a number of the budget is too small: its condition fails at ({point})") from None
        widths = [error.above for error in errors]
        by_slopes = arb.max(self._one_side(errors, 1), self._one_side(errors, -1))
        total = self.outer_delta + by_slopes.min(self.gradient * reduce(arb.max, widths))
        if not total < ball(self.claim.bound):
            raise Undecided(f"the budget adds up to {show(total)}, not below the bound; try a larger beta")
        return {"total": show(total), "heads": ", ".join(show(width) for width in widths), "boxes": str(boxes)}

    def _one_side(self, errors: list[_HeadError], side: int) -> arb:
        """Upper bound of ``side (F_0(z) - F_0(minima))``; where a sign is known only one end of the error counts."""
        slopes = self._outer_rows([(0.5, 0.5)] * len(errors))[1:]
        total = arb(0)
        for slope, most, error in zip(slopes, self.slopes, errors, strict=True):
            total += most * (error.below if side * slope <= 0 else error.above)
        return total

    def _classes(self) -> list[list[int]]:
        """Positions (from 0) in groups on which the encoder is the same function of the token."""
        groups: dict[object, list[int]] = {}
        encoder = self.network.encoder
        for t in range(self.network.seq_len):
            if isinstance(encoder, Formula):
                key: object = tuple(c.positions is None or t + 1 in c.positions for c in encoder.components)
            else:
                key = tuple(dense.bias[t % len(dense.bias)] for dense in encoder)
            self.work.spend(100)
            groups.setdefault(key, []).append(t)
        return list(groups.values())

    def _head(self, index: int) -> _HeadError:
        """Scores, covered positions and gate of the head that serves a feature; exact."""
        head, channel = self.given.channels[index]
        start = self.block.starts[head]
        score, value = self.heads.weight[start], self.heads.weight[start + 1 + channel]
        residual = [rational(a + b) for a, b in zip(score, value, strict=True)]
        wanted = {t - 1 for t in self.task.features[index].positions}
        level: dict[int, Any] = {}
        for positions in self.classes:
            constants = _constants(self.network.encoder, positions[0], Rationals(self.work))
            used = [(a, b) for a, b in zip(residual, constants, strict=True) if a != 0]
            if any(b is None for _, b in used):
                raise Undecided(f"head {head}: score + value is not known to depend on the position alone")
            level |= dict.fromkeys(positions, sum((a * b for a, b in used if b is not None), fmpq(0)))
        inside = {level[t] for t in wanted}
        top = max(inside)
        if len(inside) > 1 or any(entry > top for entry in level.values()):
            raise Undecided(f"head {head}: its gate is not constant on S_{index}, or open wider elsewhere")
        covered = frozenset(t for t, entry in level.items() if entry == top)
        outside = [top - entry for t, entry in level.items() if t not in covered]
        beta, slack = self.block.beta, 1 + 2 * self.margin
        gap = ((len(covered) - 1) / arb(1).exp()).lambertw() / beta
        leak = slack * len(outside) * (-beta * (arb(min(outside)) - slack)).exp() if outside else arb(0)
        below = self.delta[index] + 2 * self.margin + leak
        return _HeadError(self._stages(start + 1 + channel), frozenset(wanted), covered, below, below + gap)

    def _stages(self, row: int) -> list[Layer | Formula]:
        """The encoder up to one row of the heads' layer, without neurons that this row does not depend on."""
        last = Dense((self.heads.weight[row],), ((self.heads.bias[0][row],),), "identity")
        if isinstance(self.network.encoder, Formula):
            return [*self.block.convert(self.network.encoder), *self.block.convert((last,))]
        return self.block.convert(_needed((*self.network.encoder, last)))

    def _token_conditions(
        self, positions: list[int], errors: list[_HeadError], index: int
    ) -> Callable[[Box, bool], list[Condition]]:
        error = errors[index]
        inside = not error.wanted.isdisjoint(positions)
        free = error.wanted.issuperset(positions) or error.covered.isdisjoint(positions)
        floor = -self.margin if free else self.one - self.margin

        def conditions(box: Box, derivatives: bool) -> list[Condition]:
            rows = unit_rows(box, derivatives)
            (u,) = self.block.run(error.stages, rows, positions[0])
            found = [Condition(u, floor, self.one + self.margin)]
            if inside:
                values = {f"x{axis}": row for axis, row in enumerate(rows)}
                zeros = [arb(0)] * (len(rows[0]) - 1)
                feature = evaluate(self.task.features[index].expression, values, zeros, self.numbers)
                found.append(within(combine("-", u, feature), self.delta[index]))
            return found

        return conditions

    def _readout_conditions(self) -> Callable[[Box, bool], list[Condition]]:
        """|readout - F_0| <= outer_delta for z in [-m, 1+m]^D, the other attention outputs anywhere in their range."""
        cube = [[arb(0.5, 0.5)] for _ in range(self.task.token_dim)]
        encoded = [self.block.run(self.block.encoder, cube, positions[0]) for positions in self.classes]
        ranges = [reduce(arb.union, [rows[k][0] for rows in encoded]) for k in range(len(encoded[0]))]
        scale = self.one + 2 * self.margin

        def conditions(box: Box, derivatives: bool) -> list[Condition]:
            rows = [[scale * entry for entry in row] for row in unit_rows(box, derivatives)]
            rows = [[row[0] - self.margin, *row[1:]] for row in rows]
            zeros = [arb(0)] * (len(rows[0]) - 1)
            named = dict(zip(self.given.channels, rows, strict=True))
            attended = [
                named.get((head, channel), [ranges[start + 1 + channel], *zeros])
                for head, (start, size) in enumerate(zip(self.block.starts, self.block.sizes, strict=True))
                for channel in range(size)
            ]
            minima = {f"z{index}": row for index, row in enumerate(rows)}
            outer = evaluate(self.task.outer, minima, zeros, self.numbers)
            return [within(combine("-", self.block.output(attended), outer), self.outer_delta)]

        return conditions

    def _outer_conditions(self, box: Box, derivatives: bool) -> list[Condition]:
        """|d_i F_0| <= slopes_i and sum_i |d_i F_0| <= gradient on a box that holds z and the minima."""
        partial = [abs(entry) for entry in self._outer_rows(box)[1:]]
        found = [within([entry], slope) for entry, slope in zip(partial, self.slopes, strict=True)]
        return [*found, within([sum(partial, arb(0))], self.gradient)]

    def _outer_rows(self, box: Box) -> Row:
        """F_0 and its derivatives on a part of the box that holds z and the minima."""
        minima = {}
        for index, (row, delta) in enumerate(zip(unit_rows(box, True), self.delta, strict=True)):
            room = self.margin + delta
            minima[f"z{index}"] = [(1 + 2 * room) * row[0] - room, *row[1:]]
        return evaluate(self.task.outer, minima, [arb(0)] * len(box), self.numbers)


@dataclass(frozen=True)
class _HeadError:
    stages: list[Layer | Formula]
    wanted: frozenset[int]
    covered: frozenset[int]
    below: arb
    above: arb


def _needed(layers: tuple[Dense, ...]) -> tuple[Dense, ...]:
    """The same map without the neurons that nothing after them looks at."""
    rows: Sequence[int] = range(len(layers[-1].weight))
    kept = []
    for number, dense in reversed(list(enumerate(layers))):
        every = range(len(dense.weight[0]))
        columns = [k for k in every if any(dense.weight[row][k] for row in rows)] if number else every
        columns = columns or every[:1]
        weight = tuple(tuple(dense.weight[row][k] for k in columns) for row in rows)
        kept.append(Dense(weight, tuple(tuple(bias[row] for row in rows) for bias in dense.bias), dense.activation))
        rows = columns
    return tuple(reversed(kept))


def _constants(encoder: records.Map, position: int, exact: Rationals) -> list[Any]:
    """The encoder's coordinates at a position, None where they (may) depend on the token; exact."""
    if isinstance(encoder, Formula):
        found: list[Any] = []
        for part in encoder.components:
            inside = part.positions is None or position + 1 in part.positions
            try:
                found.append(evaluate(part.expression if inside else part.outside, {}, [], exact)[0])
            except (KeyError, Irrational):
                found.append(None)
        return found
    known: list[Any] = [None] * len(encoder[0].weight[0])
    for dense in encoder:
        bias = dense.bias[position % len(dense.bias)]
        known = [
            _constant(row, offset, dense.activation, known, exact)
            for row, offset in zip(dense.weight, bias, strict=True)
        ]
    return known


def _constant(row: records.Vector, offset: Fraction, activation: str, known: list[Any], exact: Rationals) -> Any:
    exact.spend(len(row))
    used = [(rational(weight), entry) for weight, entry in zip(row, known, strict=True) if weight]
    if any(entry is None for _, entry in used):
        return None
    total = exact.dot([weight for weight, _ in used], [entry for _, entry in used]) + rational(offset)
    try:
        return total if activation == "identity" else exact.value(activation, total)
    except Irrational:
        return None
