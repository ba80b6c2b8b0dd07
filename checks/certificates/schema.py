"""Certificates, schema 1 (docs/certificates.md): from JSON to checked, exact data. Standard library only.

Nothing is computed here. What comes out of `parse` has the right types, shapes and sizes, all numbers are exact
rationals, and the digest fits; whether the claim is true is for `checks.verify` to find out. The modules of this
package that read know nothing of the rest of the project: the checker must not share a parser with what it checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NoReturn, TypeVar

from checks.certificates.canonical import Malformed, load
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
    Network,
    SupError,
    Task,
    Vector,
)

SCHEMA = 1
MAX_DIGITS = 1_200
MAX_EXPONENT = 20_000
MAX_TOTAL_BITS = 2**31  # of all numbers together, after expansion of the exponents
MAX_SEQ_LEN = 100_000
MAX_SIZE = 1_000_000
MAX_NODES = 20_000
MAX_NESTING = 100
MAX_POWER = 64
ACTIVATIONS = ("identity", "relu", "gelu", "tanh")
RELATIONS = ("<", "<=", "=", ">=", ">")
FORMS = ("published", "argument", "repaired", "sharpened")
ARITY = {"+": (1, MAX_NODES), "*": (1, MAX_NODES), "min": (1, MAX_NODES), "max": (1, MAX_NODES)}
ARITY |= {"-": (1, 2), "/": (2, 2), "^": (2, 2)}
ARITY |= dict.fromkeys(("exp", "log", "tanh", "relu", "gelu", "abs"), (1, 1))
_NUMBER = re.compile(r"(-?[0-9]+)(?:/([0-9]+)|p(-?[0-9]{1,6}))?\Z", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9]{0,30}\Z", re.ASCII)

T = TypeVar("T")


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
        "sup_error": _Reader.sup_error,
        "counterexample": _Reader.counterexample,
    }
    kind = loaded.get("kind")
    if not isinstance(kind, str) or kind not in readers:
        raise Malformed(f"kind={kind!a}: one of {', '.join(readers)} is needed")
    content = {key: value for key, value in loaded.items() if key not in ("schema", "kind", "digest")}
    return readers[kind](_Reader(), content)


class _Reader:
    """Checks types, shapes and sizes; every method takes the value and the place it stands at."""

    def __init__(self) -> None:
        self.bits = 0

    def fail(self, at: str, needed: str) -> NoReturn:
        raise Malformed(f"{at}: {needed}")

    def fields(self, data: object, at: str, *names: str) -> list[Any]:
        if not isinstance(data, dict) or set(data) != set(names):
            found = sorted(data) if isinstance(data, dict) else type(data).__name__
            self.fail(at, f"an object with exactly the keys {', '.join(sorted(names))}; found {str(found)[:200]!a}")
        return [data[name] for name in names]

    def items(self, data: object, at: str, length: int | None = None) -> list[Any]:
        if not isinstance(data, list) or not 1 <= len(data) <= MAX_SIZE or length not in (None, len(data)):
            self.fail(at, f"a list of {length or 'one or more'} entries")
        return data

    def each(self, data: object, at: str, read: Callable[[Any, str], T], length: int | None = None) -> tuple[T, ...]:
        return tuple(read(entry, f"{at}[{index}]") for index, entry in enumerate(self.items(data, at, length)))

    def integer(self, data: object, at: str, least: int, most: int) -> int:
        if not isinstance(data, int) or isinstance(data, bool) or not least <= data <= most:
            self.fail(at, f"an integer from {least} to {most}")
        return data

    def boolean(self, data: object, at: str) -> bool:
        if not isinstance(data, bool):
            self.fail(at, "true or false")
        return data

    def word(self, data: object, at: str, *choices: str) -> str:
        if not isinstance(data, str) or (choices and data not in choices) or len(data) > 200 or not data.isprintable():
            self.fail(at, f"one of {', '.join(choices)}" if choices else "a printable string of at most 200 characters")
        return data

    def number(self, data: object, at: str) -> Fraction:
        match = _NUMBER.match(data) if isinstance(data, str) and len(data) <= 2 * MAX_DIGITS else None
        if match is None or max(len(match[1]), len(match[2] or "")) > MAX_DIGITS:
            self.fail(at, f'an exact number such as "-12", "3/4" or "5p-3" of at most {MAX_DIGITS} digits')
        top, bottom, exponent = int(match[1]), int(match[2] or 1), int(match[3] or 0)
        if bottom == 0 or abs(exponent) > MAX_EXPONENT:
            self.fail(at, f"a denominator other than 0 and an exponent of at most {MAX_EXPONENT}")
        self.bits += top.bit_length() + bottom.bit_length() + abs(exponent)
        if self.bits > MAX_TOTAL_BITS:
            self.fail(at, f"numbers of at most {MAX_TOTAL_BITS} bits in all")
        return Fraction(top << max(exponent, 0), bottom << max(-exponent, 0))

    def positive(self, data: object, at: str) -> Fraction:
        number = self.number(data, at)
        if number <= 0:
            self.fail(at, "a positive number")
        return number

    def vector(self, data: object, at: str, length: int | None = None) -> Vector:
        return self.each(data, at, self.number, length)

    def matrix(self, data: object, at: str, rows: int | None = None, columns: int | None = None) -> Matrix:
        found = self.each(data, at, self.vector, rows)
        if any(len(row) != (columns or len(found[0])) for row in found):
            self.fail(at, f"rows of equal length{f', {columns} entries each' if columns else ''}")
        return found

    def positions(self, data: object, at: str, seq_len: int) -> tuple[int, ...]:
        found = self.each(data, at, lambda entry, place: self.integer(entry, place, 1, seq_len))
        if any(a >= b for a, b in pairwise(found)):
            self.fail(at, "positions in increasing order")
        return found

    def expression(self, data: object, at: str, variables: set[str] | None) -> Expression:
        nodes = 0

        def read(node: object, depth: int) -> Expression:
            nonlocal nodes
            nodes += 1
            if depth > MAX_NESTING or nodes > MAX_NODES:
                self.fail(at, f"an expression of at most {MAX_NODES} nodes and depth {MAX_NESTING}")
            if isinstance(node, str):
                if not _VARIABLE.match(node):
                    return self.number(node, at)
                if variables is not None and node not in variables:
                    self.fail(at, f"known variables only; found {node!a}")
                return node
            operator = node[0] if isinstance(node, list) and node else None
            least, most = ARITY.get(operator, (1, 0)) if isinstance(operator, str) else (1, 0)
            if not isinstance(node, list) or not least <= len(node) - 1 <= most:
                self.fail(at, f"a known operator with the right number of arguments; found {str(operator)[:40]!a}")
            arguments = [read(argument, depth + 1) for argument in node[1:]]
            if operator == "^":
                power = arguments[1]
                if not isinstance(power, Fraction) or power.denominator != 1 or abs(power) > MAX_POWER:
                    self.fail(at, f"an integer exponent of size at most {MAX_POWER}")
                arguments[1] = int(power)
            return (operator, *arguments)

        return read(data, 0)

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
        length, dimension, beta, encoder, token, heads, weight, bias, readout = self.fields(
            data, "network", *names, "output_weight", "output_bias", "readout"
        )
        seq_len = self.integer(length, "network.seq_len", 1, MAX_SEQ_LEN)
        token_dim = self.integer(dimension, "network.token_dim", 1, MAX_SIZE)
        encode, width = self.map(encoder, "network.encoder", token_dim, seq_len)
        class_token = self.vector(token, "network.class_token")
        found = self.each(heads, "network.heads", lambda head, at: self.head(head, at, width, len(class_token)))
        mixed = self.matrix(weight, "network.output_weight", None, sum(len(head.value) for head in found))
        read, outputs = self.map(readout, "network.readout", len(mixed), None)
        if outputs != 1:
            self.fail("network.readout", "one output")
        return Network(
            seq_len,
            token_dim,
            self.positive(beta, "network.beta"),
            encode,
            class_token,
            found,
            mixed,
            self.vector(bias, "network.output_bias", len(mixed)),
            read,
        )

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
            self.integer(precision, "precision", 32, 2048),
            self.positive(gap, "claim.gap"),
        )

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
        if not isinstance(values, dict) or not all(_VARIABLE.match(name) for name in values):
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
