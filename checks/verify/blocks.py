"""Networks and tasks on rows: encode a token, average by softmax, read out, evaluate the target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

from flint import arb

from checks.certificates import records
from checks.certificates.records import Dense, Formula, Network, Task
from checks.verify.arithmetic import Field, Rationals, Row, Undecided, Work, chain, evaluate, rational


def head_layer(network: Network, work: Work) -> Dense:
    """All heads as one exact affine map of the encoded token: for each head its score without beta, then its values."""
    exact = Rationals(work)
    weight: list[Sequence[Fraction]] = []
    bias: list[Fraction] = []
    token = [rational(entry) for entry in network.class_token]
    for head in network.heads:
        work.spend(10 * len(head.key) * (len(token) + len(head.key[0])))
        query = [
            exact.dot([rational(entry) for entry in row], token) + rational(offset)
            for row, offset in zip(head.query, head.query_bias, strict=True)
        ]
        columns = zip(*head.key, strict=True)
        scores = [exact.dot([rational(entry) for entry in column], query) for column in columns]
        weight += [[Fraction(int(entry.p), int(entry.q)) for entry in scores], *head.value]
        bias += [Fraction(0), *head.value_bias]
    return Dense(tuple(map(tuple, weight)), (tuple(bias),), "identity")


@dataclass(frozen=True)
class Layer:
    """A `Dense` with its numbers converted."""

    matrix: Any
    bias: list[Row]
    activation: str


class Stages:
    """Feed-forward maps with their numbers converted, and how to run them."""

    def __init__(self, numbers: Field) -> None:
        self.numbers = numbers

    def convert(self, function: records.Map) -> list[Layer | Formula]:
        if isinstance(function, Formula):
            return [function]
        number = self.numbers.number
        stages: list[Layer | Formula] = []
        for dense in function:
            self.numbers.spend(10 * len(dense.weight) * len(dense.weight[0]))
            matrix = self.numbers.matrix([number(entry) for entry in row] for row in dense.weight)
            stages.append(Layer(matrix, [[number(entry) for entry in row] for row in dense.bias], dense.activation))
        return stages

    def affine(self, weight: records.Matrix, bias: records.Vector) -> list[Layer | Formula]:
        return self.convert((Dense(weight, (bias,), "identity"),))

    def run(self, stages: Sequence[Layer | Formula], rows: list[Row], position: int) -> list[Row]:
        for stage in stages:
            if isinstance(stage, Formula):
                values = {f"x{index}": row for index, row in enumerate(rows)}
                zeros = [self.numbers.number(Fraction(0))] * (len(rows[0]) - 1)
                rows = [self._component(component, values, zeros, position) for component in stage.components]
                continue
            bias = stage.bias[position % len(stage.bias)]
            rows = self.numbers.product(stage.matrix, rows)
            self.numbers.spend(10 * len(rows) * len(rows[0]))
            rows = [[row[0] + offset, *row[1:]] for row, offset in zip(rows, bias, strict=True)]
            if stage.activation != "identity":
                rows = [chain(self.numbers, stage.activation, row) for row in rows]
        return rows

    def _component(self, part: records.Component, values: Mapping[str, Row], zeros: Row, position: int) -> Row:
        inside = part.positions is None or position + 1 in part.positions
        return evaluate(part.expression if inside else part.outside, values, zeros, self.numbers)


class Block(Stages):
    """A network ready to run: token -> scores and values of all heads; attention outputs -> read-out."""

    def __init__(self, network: Network, heads: Dense, numbers: Field) -> None:
        super().__init__(numbers)
        self.beta = numbers.number(network.beta)
        self.encoder = [*self.convert(network.encoder), *self.convert((heads,))]
        mixing = self.affine(network.output_weight, network.output_bias)
        self.readout = [*mixing, *self.convert(network.readout)]
        self.starts, start = [], 0
        for head in network.heads:
            self.starts.append(start)
            start += 1 + len(head.value)
        self.sizes = [len(head.value) for head in network.heads]

    def token(self, rows: list[Row], position: int) -> list[tuple[Row, list[Row]]]:
        """For each head the score (times beta) and the values of the token at a position (from 0)."""
        found = self.run(self.encoder, rows, position)
        return [
            ([self.beta * entry for entry in found[start]], found[start + 1 : start + 1 + size])
            for start, size in zip(self.starts, self.sizes, strict=True)
        ]

    def attend(self, encoded: Sequence[list[tuple[Row, list[Row]]]]) -> list[Row]:
        """The concatenated head outputs, from `token` at every position; balls only."""
        return [row for head in zip(*encoded, strict=True) for row in softmax_mean(head, own_directions)]

    def output(self, attended: list[Row]) -> Row:
        """The read-out of the concatenated head outputs."""
        (row,) = self.run(self.readout, attended, 0)
        return row


def features(task: Task, rows: list[Row], numbers: Field) -> list[Row]:
    """The features f_i of one token."""
    values = {f"x{axis}": row for axis, row in enumerate(rows)}
    zeros = [numbers.number(Fraction(0))] * (len(rows[0]) - 1)
    return [evaluate(feature.expression, values, zeros, numbers) for feature in task.features]


def target(task: Task, tokens: Sequence[list[Row]], numbers: Field) -> Row:
    """``outer(min over S_i of f_i)`` from the features of all tokens; derivatives as in `softmax_mean`."""
    size = len(tokens[0][0]) - 1
    zeros = [numbers.number(Fraction(0))] * (size * len(tokens))
    minima = {}
    for index, feature in enumerate(task.features):
        rows = []
        for position in feature.positions:
            value, *own = tokens[position - 1][index]
            start = (position - 1) * size
            rows.append([value, *zeros[:start], *own, *zeros[start + size :]])
        minima[f"z{index}"] = numbers.smallest(rows)
    return evaluate(task.outer, minima, zeros, numbers)


def softmax_mean(tokens: Sequence[tuple[Row, list[Row]]], gather: Callable[[list[Row]], Row]) -> list[Row]:
    """``sum_t w_t v_t``, w the softmax of the scores, for (score, value channels) of each token, over boxes of both.

    The range is exact for the boxes: the mean increases in every v_t, and in the weight of t iff v_t is above the mean,
    so at the largest mean the weights are largest above some threshold and smallest below it. ``gather`` says how the
    tokens' derivatives make up the mean's.
    """
    scores, values = [score for score, _ in tokens], [channels for _, channels in tokens]
    if not all(row[0].is_finite() for row in [*scores, *(row for channels in values for row in channels)]):
        raise Undecided("a score or value is not finite; try a higher precision")
    shift = max(row[0].upper() for row in scores)
    low = [(row[0].lower() - shift).exp() for row in scores]
    high = [(row[0].upper() - shift).exp() for row in scores]
    weights = softmax(low, high) if len(scores[0]) > 1 else []
    means = []
    for channel in zip(*values, strict=True):
        top = highest_mean(low, high, [row[0].upper() for row in channel])
        bottom = -highest_mean(low, high, [-row[0].lower() for row in channel])
        mean = bottom.union(top)
        slopes = []
        for weight, score, value in zip(weights, scores, channel, strict=False):  # no weights: no derivatives
            from_mean = value[0] - mean
            slopes.append([weight * (b + from_mean * a) for a, b in zip(score[1:], value[1:], strict=True)])
        means.append([mean, *gather(slopes)])
    return means


def own_directions(slopes: list[Row]) -> Row:
    """Derivatives where each token has directions of its own: token by token."""
    return [entry for row in slopes for entry in row]


def shared_directions(slopes: list[Row]) -> Row:
    """Derivatives where all tokens move along the same directions: their sum."""
    return [sum(column, arb(0)) for column in zip(*slopes, strict=True)]


def softmax(low: list[arb], high: list[arb]) -> list[arb]:
    """Ranges of ``w_t / sum w`` over ``low <= w <= high``."""
    others = zip(sums_of_others(low), sums_of_others(high), strict=True)
    return [(a / (a + most)).union(b / (b + least)) for a, b, (least, most) in zip(low, high, others, strict=True)]


def sums_of_others(terms: list[arb]) -> list[arb]:
    """For each term the sum of all others, without subtraction."""
    before = list(accumulate(terms, initial=arb(0)))
    after = list(accumulate(reversed(terms), initial=arb(0)))
    return [before[k] + after[len(terms) - 1 - k] for k in range(len(terms))]


def highest_mean(low: list[arb], high: list[arb], values: list[arb]) -> arb:
    """Upper end of ``sum w v / sum w`` over ``low <= w <= high``; values are exact points, so sorting is exact."""
    order = sorted(range(len(values)), key=lambda t: values[t], reverse=True)
    top, bottom = sum((a * v for a, v in zip(low, values, strict=True)), arb(0)), sum(low, arb(0))
    best = top / bottom
    for t in order:
        more = high[t] - low[t]
        top, bottom = top + more * values[t], bottom + more
        best = best.max(top / bottom)
    return best
