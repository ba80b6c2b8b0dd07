"""Networks with token layers: every token's state depends on all tokens, so all rows share their directions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from checks.certificates import records
from checks.verify.arithmetic import Balls, Row, combine
from checks.verify.blocks import Layer, Stages, shared_directions, softmax_mean

Converted = list[Layer | records.Formula]


@dataclass(frozen=True)
class _Head:
    query: Converted
    key: Converted
    value: Converted


class DeepBlock(Stages):
    """A network with token layers in balls: sequence of tokens -> attention outputs of the class token."""

    def __init__(self, network: records.Network, numbers: Balls) -> None:
        super().__init__(numbers)
        self.network = network
        self.encoder = self.convert(network.encoder)
        self.layers = [self._heads(layer.heads) for layer in network.token_layers]
        self.last = self._heads(network.heads)

    def outputs(self, tokens: list[list[Row]]) -> list[Row]:
        """The concatenated head outputs at the class token; the rows of all tokens share their directions."""
        states = [self.run(self.encoder, rows, t) for t, rows in enumerate(tokens)]
        zeros = [self.numbers.number(Fraction(0))] * (len(tokens[0][0]) - 1)
        asking = [[self.numbers.number(entry), *zeros] for entry in self.network.class_token]
        for layer, heads in zip(self.network.token_layers, self.layers, strict=True):
            mixing, update = self.affine(layer.output_weight, layer.output_bias), self.convert(layer.update)
            told = self._told(heads, states)
            if layer.class_update is not None:
                own = self.run(mixing, self._hear(heads, layer.beta, asking, told), 0)
                asking = self.run(self.convert(layer.class_update), [*asking, *own], 0)
            heard = [self.run(mixing, self._hear(heads, layer.beta, state, told), 0) for state in states]
            pairs = zip(states, heard, strict=True)
            states = [self.run(update, [*state, *found], t) for t, (state, found) in enumerate(pairs)]
        return self._hear(self.last, self.network.beta, asking, self._told(self.last, states))

    def _heads(self, heads: tuple[records.Head, ...]) -> list[_Head]:
        found = []
        for head in heads:
            key = self.affine(head.key, (Fraction(0),) * len(head.key))
            found.append(_Head(self.affine(head.query, head.query_bias), key, self.affine(head.value, head.value_bias)))
        return found

    def _told(self, heads: list[_Head], states: list[list[Row]]) -> list[list[tuple[list[Row], list[Row]]]]:
        """For each head the key and the value of every token."""
        return [[(self.run(head.key, state, 0), self.run(head.value, state, 0)) for state in states] for head in heads]

    def _hear(
        self, heads: list[_Head], beta: Fraction, asking: list[Row], told: list[list[tuple[list[Row], list[Row]]]]
    ) -> list[Row]:
        """What one asker hears: the concatenated softmax means."""
        scale, outputs = self.numbers.number(beta), []
        for head, tokens in zip(heads, told, strict=True):
            query, scored = self.run(head.query, asking, 0), []
            for key, value in tokens:
                self.numbers.spend(20 * len(key) * len(key[0]))
                products = [combine("*", a, b) for a, b in zip(query, key, strict=True)]
                score = reduce(lambda a, b: combine("+", a, b), products)
                scored.append(([scale * entry for entry in score], value))
            self.numbers.spend(30 * len(scored) * len(scored[0][1]) * len(query[0]))
            outputs += softmax_mean(scored, shared_directions)
        return outputs
