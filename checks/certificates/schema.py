"""Certificates, schema 1 (docs/certificates.md): from JSON to checked, exact data. Standard library only.

Nothing is computed here. What comes out of `parse` has the right types, shapes and sizes, all numbers are exact
rationals, and the digest fits; whether the claim is true is for `checks.verify` to find out. The modules of this
package that read know nothing of the rest of the project: the checker must not share a parser with what it checks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checks.certificates.canonical import Malformed, load
from checks.certificates.fields import MAX_SIZE, VARIABLE, Fields
from checks.certificates.records import (
    Certificate,
    Collision,
    Component,
    Counterexample,
    Covering,
    Dense,
    Expression,
    Feature,
    Formula,
    Head,
    Map,
    Matrix,
    NearCollisions,
    Network,
    Pair,
    SupError,
    Task,
    TokenLayer,
    Vector,
)

SCHEMA = 1
MAX_SEQ_LEN = 100_000
PRECISION = (32, 2048)
ACTIVATIONS = ("identity", "relu", "gelu", "tanh", "sigmoid", "silu")
RELATIONS = ("<", "<=", "=", ">=", ">")
FORMS = ("published", "argument", "repaired", "sharpened")


def parse(data: bytes) -> Certificate:
    """The certificate in ``data``.

    Raises:
        Malformed: damaged, beyond the limits, or not of schema 1; the message says where.
    """
    loaded = load(data)
    if loaded.get("schema") != SCHEMA or isinstance(loaded.get("schema"), bool):
        raise Malformed(f"schema={loaded.get('schema')!a}: this checker reads schema {SCHEMA}")
    readers: dict[str, Callable[[_Reader, dict[str, Any]], Certificate]] = {
        "collision": _Reader.collision,
        "near_collision": _Reader.near_collision,
        "capacity": _Reader.capacity,
        "sup_error": _Reader.sup_error,
        "counterexample": _Reader.counterexample,
    }
    kind = loaded.get("kind")
    if not isinstance(kind, str) or kind not in readers:
        raise Malformed(f"kind={kind!a}: one of {', '.join(readers)} is needed")
    content = {key: value for key, value in loaded.items() if key not in ("schema", "kind", "digest")}
    return readers[kind](_Reader(), content)


class _Reader(Fields):
    """Networks, tasks, and the kinds of certificates."""

    def map(self, data: object, at: str, inputs: int, seq_len: int | None) -> tuple[Map, int]:
        """A map with ``inputs`` inputs, and its number of outputs; ``seq_len`` None: no positions allowed."""
        if isinstance(data, dict) and "layers" in data:
            (entries,) = self.fields(data, at, "layers")
            layers: list[Dense] = []
            for index, entry in enumerate(self.items(entries, f"{at}.layers")):
                place = f"{at}.layers[{index}]"
                weight, bias, activation = self.fields(entry, place, "weight", "bias", "activation")
                read = self.matrix(weight, f"{place}.weight", None, inputs)
                inputs = len(read)
                layers.append(
                    Dense(
                        read,
                        self.bias(bias, f"{place}.bias", inputs, seq_len),
                        self.word(activation, f"{place}.activation", *ACTIVATIONS),
                    )
                )
            return tuple(layers), inputs
        dimension, entries = self.fields(data, at, "input_dim", "components")
        self.integer(dimension, f"{at}.input_dim", inputs, inputs)
        names = {f"x{index}" for index in range(inputs)}
        components = self.each(entries, f"{at}.components", lambda c, place: self.component(c, place, names, seq_len))
        return Formula(components), len(components)

    def bias(self, data: object, at: str, outputs: int, seq_len: int | None) -> Matrix:
        if isinstance(data, list) and data and isinstance(data[0], list) and seq_len is not None:
            return self.matrix(data, at, seq_len, outputs)
        return (self.vector(data, at, outputs),)

    def component(self, data: object, at: str, names: set[str], seq_len: int | None) -> Component:
        expression, places, outside = self.fields(data, at, "expression", "positions", "outside")
        chosen = None
        if places is not None:
            if seq_len is None:
                self.fail(at, "no positions outside the encoder")
            chosen = frozenset(self.positions(places, f"{at}.positions", seq_len))
        return Component(
            self.expression(expression, f"{at}.expression", names), chosen, self.number(outside, f"{at}.outside")
        )

    def network(self, data: object) -> Network:
        names = ("seq_len", "token_dim", "beta", "encoder", "class_token", "heads")
        optional = ("token_layers",) if isinstance(data, dict) and "token_layers" in data else ()
        length, dimension, beta, encoder, token, heads, weight, bias, readout, *layers = self.fields(
            data, "network", *names, "output_weight", "output_bias", "readout", *optional
        )
        seq_len = self.integer(length, "network.seq_len", 1, MAX_SEQ_LEN)
        token_dim = self.integer(dimension, "network.token_dim", 1, MAX_SIZE)
        encode, width = self.map(encoder, "network.encoder", token_dim, seq_len)
        class_token = self.vector(token, "network.class_token")
        class_width, token_layers = len(class_token), []
        for index, layer in enumerate(self.items(layers[0], "network.token_layers") if layers else []):
            at = f"network.token_layers[{index}]"
            read, width, class_width = self.token_layer(layer, at, width, class_width, seq_len)
            token_layers.append(read)
        found, mixed, offset = self.attention(heads, weight, bias, "network", width, class_width)
        read_out, outputs = self.map(readout, "network.readout", len(mixed), None)
        if outputs != 1:
            self.fail("network.readout", "one output")
        positive = self.positive(beta, "network.beta")
        return Network(
            seq_len,
            token_dim,
            positive,
            encode,
            class_token,
            found,
            mixed,
            offset,
            read_out,
            tuple(token_layers),
        )

    def attention(
        self, heads: object, weight: object, bias: object, at: str, width: int, class_width: int
    ) -> tuple[tuple[Head, ...], Matrix, Vector]:
        """Heads on states of a width, queries of another; W_O and its bias."""
        found = self.each(heads, f"{at}.heads", lambda head, place: self.head(head, place, width, class_width))
        mixed = self.matrix(weight, f"{at}.output_weight", None, sum(len(head.value) for head in found))
        return found, mixed, self.vector(bias, f"{at}.output_bias", len(mixed))

    def token_layer(
        self, data: object, at: str, width: int, class_width: int, seq_len: int
    ) -> tuple[TokenLayer, int, int]:
        """A layer, and the widths of the states after it: tokens', class token's."""
        names = ("heads", "beta", "output_weight", "output_bias", "update", "class_update")
        heads, beta, weight, bias, update, class_update = self.fields(data, at, *names)
        found, mixed, offset = self.attention(heads, weight, bias, at, width, width)
        updated, new_width = self.map(update, f"{at}.update", width + len(mixed), seq_len)
        asked: Map | None = None
        if class_update is not None:
            if class_width != width:
                self.fail(at, "a class token as wide as the tokens, as it uses their queries")
            asked, class_width = self.map(class_update, f"{at}.class_update", width + len(mixed), None)
        layer = TokenLayer(found, self.positive(beta, f"{at}.beta"), mixed, offset, updated, asked)
        return layer, new_width, class_width

    def head(self, data: object, at: str, width: int, class_width: int) -> Head:
        query, key, value, query_bias, value_bias = self.fields(
            data, at, "query", "key", "value", "query_bias", "value_bias"
        )
        keys, values = self.matrix(key, f"{at}.key", None, width), self.matrix(value, f"{at}.value", None, width)
        return Head(
            self.matrix(query, f"{at}.query", len(keys), class_width),
            keys,
            values,
            self.vector(query_bias, f"{at}.query_bias", len(keys)),
            self.vector(value_bias, f"{at}.value_bias", len(values)),
        )

    def task(self, data: object, network: Network) -> Task:
        name, dimension, length, features, outer = self.fields(
            data, "task", "name", "token_dim", "seq_len", "features", "outer"
        )
        self.word(name, "task.name")
        token_dim = self.integer(dimension, "task.token_dim", network.token_dim, network.token_dim)
        seq_len = self.integer(length, "task.seq_len", network.seq_len, network.seq_len)
        names = {f"x{index}" for index in range(token_dim)}

        def feature(entry: object, at: str) -> Feature:
            expression, places = self.fields(entry, at, "expression", "positions")
            return Feature(self.expression(expression, at, names), self.positions(places, at, seq_len))

        found = self.each(features, "task.features", feature)
        minima = {f"z{index}" for index in range(len(found))}
        return Task(seq_len, token_dim, found, self.expression(outer, "task.outer", minima))

    def tokens(self, data: object, at: str, network: Network) -> Matrix:
        return self.matrix(data, at, network.seq_len, network.token_dim)

    def indices(self, data: object, at: str, *limits: tuple[int, int]) -> tuple[int, ...]:
        entries = self.items(data, at, len(limits))
        return tuple(self.integer(entry, at, *limit) for entry, limit in zip(entries, limits, strict=True))

    def channel(self, data: object, at: str, heads: Sequence[Head]) -> tuple[int, int]:
        """A [head, value channel] pair, both 0-based."""
        head, channel = self.indices(data, at, (0, len(heads) - 1), (0, max(len(head.value) for head in heads) - 1))
        self.integer(channel, at, 0, len(heads[head].value) - 1)
        return head, channel

    def collision(self, data: dict[str, Any]) -> Collision:
        names = ("claim", "network", "task", "first", "second", "free", "radius", "precision")
        optional = ("rows",) if "rows" in data else ()
        claim, block, task, first, second, free, radius, precision, *rows = self.fields(
            data, "certificate", *names, *optional
        )
        (gap,) = self.fields(claim, "claim", "gap")
        network = self.network(block)
        limits = ((0, 1), (1, network.seq_len), (0, network.token_dim - 1))
        places = self.each(free, "free", lambda entry, at: self.indices(entry, at, *limits))
        everything = [[i, c] for i, head in enumerate(network.heads) for c in range(len(head.value))]
        chosen = self.each(
            rows[0] if rows else everything, "rows", lambda entry, at: self.channel(entry, at, network.heads)
        )
        return Collision(
            network,
            self.task(task, network),
            (self.tokens(first, "first", network), self.tokens(second, "second", network)),
            tuple((s, t, j) for s, t, j in places),
            chosen,
            self.positive(radius, "radius"),
            self.integer(precision, "precision", *PRECISION),
            self.positive(gap, "claim.gap"),
        )

    def near_collision(self, data: dict[str, Any]) -> NearCollisions:
        names = ("claim", "network", "task", "first", "second", "precision")
        claim, block, task, first, second, precision = self.fields(data, "certificate", *names)
        network = self.network(block)
        pair = self.pair(claim, "claim", {"first": first, "second": second}, "certificate", network)
        return NearCollisions(
            network, self.task(task, network), (pair,), self.integer(precision, "precision", *PRECISION)
        )

    def capacity(self, data: dict[str, Any]) -> NearCollisions:
        claim, block, task, pairs, precision = self.fields(
            data, "certificate", "claim", "network", "task", "pairs", "precision"
        )
        network = self.network(block)
        (claims,) = self.fields(claim, "claim", "points")
        tokens = self.items(pairs, "pairs")
        points = self.items(claims, "claim.points", len(tokens))
        found = [
            self.pair(point, f"claim.points[{k}]", entry, f"pairs[{k}]", network)
            for k, (point, entry) in enumerate(zip(points, tokens, strict=True))
        ]
        bits = self.integer(precision, "precision", *PRECISION)
        return NearCollisions(network, self.task(task, network), tuple(found), bits)

    def pair(self, claim: object, at: str, tokens: object, place: str, network: Network) -> Pair:
        gap, distance = self.fields(claim, at, "gap", "distance")
        sequences = self.fields(tokens, place, "first", "second")
        first, second = (self.tokens(entry, f"{place}.first or second", network) for entry in sequences)
        return Pair((first, second), self.positive(gap, f"{at}.gap"), self.positive(distance, f"{at}.distance"))

    def sup_error(self, data: dict[str, Any]) -> SupError:
        claim, block, target, evidence = self.fields(data, "certificate", "claim", "network", "task", "evidence")
        relation = claim.get("relation") if isinstance(claim, dict) else None
        network = self.network(block)
        task = self.task(target, network)
        if relation == ">=":
            _, bound, every_beta = self.fields(claim, "claim", "relation", "bound", "every_beta")
            method, sequence = self.fields(evidence, "evidence", "method", "sequence")
            self.word(method, "evidence.method", "witness")
            witness = self.tokens(sequence, "evidence.sequence", network)
            proved_for_all = self.boolean(every_beta, "claim.every_beta")
            return SupError(network, task, ">=", self.positive(bound, "claim.bound"), proved_for_all, witness)
        relation, bound = self.fields(claim, "claim", "relation", "bound")
        self.word(relation, "claim.relation", "<", ">=")
        method = evidence.get("method") if isinstance(evidence, dict) else None
        budget: Covering | None = None
        if method == "covering_heads":
            budget = self.covering(evidence, network, len(task.features))
        else:
            self.word(*self.fields(evidence, "evidence", "method"), "evidence.method", "branch_and_bound")
        return SupError(network, task, "<", self.positive(bound, "claim.bound"), False, budget)

    def covering(self, data: object, network: Network, count: int) -> Covering:
        names = ("method", "channels", "margin", "delta", "outer_delta", "slopes", "gradient")
        _, channels, margin, delta, outer_delta, slopes, gradient = self.fields(data, "evidence", *names)
        return Covering(
            self.each(channels, "evidence.channels", lambda c, at: self.channel(c, at, network.heads), count),
            self.number(margin, "evidence.margin"),
            self.vector(delta, "evidence.delta", count),
            self.number(outer_delta, "evidence.outer_delta"),
            self.vector(slopes, "evidence.slopes", count),
            self.number(gradient, "evidence.gradient"),
        )

    def counterexample(self, data: dict[str, Any]) -> Counterexample:
        claim, values, hypotheses, conclusion = self.fields(
            data, "certificate", "claim", "values", "hypotheses", "conclusion"
        )
        identity, form = self.fields(claim, "claim", "id", "form")
        if not isinstance(values, dict) or not all(VARIABLE.match(name) for name in values):
            self.fail("values", "an object from variable names to numbers")
        point = {name: self.number(value, f"values.{name}") for name, value in values.items()}

        def inequality(entry: object, at: str) -> tuple[Expression, str, Expression]:
            left, relation, right = self.items(entry, at, 3)
            names = set(point)
            return (
                self.expression(left, at, names),
                self.word(relation, at, *RELATIONS),
                self.expression(right, at, names),
            )

        if not isinstance(hypotheses, list):
            self.fail("hypotheses", "a list of [left, relation, right]")
        return Counterexample(
            (self.word(identity, "claim.id"), self.word(form, "claim.form", *FORMS)),
            point,
            tuple(inequality(entry, f"hypotheses[{index}]") for index, entry in enumerate(hypotheses)),
            inequality(conclusion, "conclusion"),
        )
