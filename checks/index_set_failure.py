"""T2.2-max as printed, refuted by a block: certificates that need nothing but the block's formulas.

On `constructions.adversary.grid_blocks.wrong_index_sets` the printed choice of (y_1, t_1) leads to two subsequences
that satisfy Claim 2.1, (1) and (2a), while Q4 < (Q1 + Q2)/T_0 and the outputs on W_1 and W_2 differ by more than
eps^{k+1}. Each certificate states all of this in closed form: tokens are its values, the block's weights and averages
its expressions, maximality and Claim 2.1 its hypotheses, the failing step its conclusion.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from checks.certificates import writer
from checks.claim_proof import ClaimProof
from checks.grid_measures import Pair
from constructions.arithmetic import EXACT
from constructions.network import Network, Perceptron
from theory.errors import InvalidInput
from theory.expressions import Expression, Number, Variable, apply, lift

CLAIM = "T2.2-max"
Token = tuple[Expression, int]
"""A token as an expression, and its position."""


def certificates(proof: ClaimProof) -> dict[str, dict[str, Any]]:
    """Two ``counterexample`` certificates by the step that fails: "T2.2-Q4" and "T2.2-36".

    They are written whether or not the steps fail; `checks.verify` decides. Raises InvalidInput unless s = n = d = 1
    and the encoder is a perceptron.
    """
    steps = _Steps(proof.pair, proof.eps)
    return {
        name: writer.counterexample(CLAIM, "published", steps.values, steps.hypotheses(), conclusion)
        for name, conclusion in (("T2.2-Q4", steps.rest_is_heavy()), ("T2.2-36", steps.outputs_are_close()))
    }


class _Steps:
    """The proof's quantities for one pair as expressions in the tokens a1.., b1.. (free), y (maximal), m0.., eps."""

    def __init__(self, pair: Pair, eps: Fraction) -> None:
        network = pair.network
        if network.token_dim != 1 or network.value_dim != 1:
            raise InvalidInput.about("(d, n s)", (network.token_dim, network.value_dim), "(1, 1)", "a smaller block")
        self.pair, self.network = pair, network
        self.values: dict[str, Fraction] = {"eps": eps, "y": pair.roles.maximal[0][1][0]}
        self.values |= {f"m{i}": point[0] for i, point in enumerate(pair.points.minimisers)}
        first, second = self._named("a", pair.first), self._named("b", pair.second)
        self.subsequences = [list(zip(names, pair.roles.free, strict=True)) for names in (first, second)]
        self.differing, self.common = pair.differing, pair.common
        self.rest = [(self._token(t), t) for t in pair.rest]

    def _named(self, prefix: str, tokens: Sequence[tuple[Fraction, ...]]) -> list[Expression]:
        names = [f"{prefix}{t}" for t in self.pair.roles.free]
        self.values |= {name: token[0] for name, token in zip(names, tokens, strict=True)}
        return [Variable(name) for name in names]

    def _token(self, position: int) -> Expression:
        """What W_1 and W_2 have at a position of I_3."""
        (maximal, _), roles = self.pair.roles.maximal[0], self.pair.roles
        if position == maximal:
            return Variable("y")
        for i, t in roles.representatives:
            if t == position:
                return Variable(f"m{i}")
        return Variable(f"m{[i for i in range(len(self.pair.points.minimisers)) if i != roles.basin][-1]}")

    @property
    def accuracy(self) -> Expression:
        """e = eps^{k+1}, k + 1 = T_0/3 for n = s = 1."""
        return apply("exp", apply("log", Variable("eps")) * Fraction(len(self.pair.roles.free), 3))

    def hypotheses(self) -> list[writer.Inequality]:
        """(y_1, t_1) is maximal over S_1 among all tokens that occur, 0 < eps < 1, and Claim 2.1 (1), (2a)."""
        maximal = self.pair.roles.maximal[0][0]
        top = score(self.network, Variable("y"), maximal)
        tokens = sorted(name for name in self.values if name != "eps")
        rivals = {
            str(rival): rival
            for t in self.pair.task.features[0].positions
            for rival in (score(self.network, Variable(name), t) for name in tokens)
        }
        free, e = len(self.pair.roles.free), self.accuracy
        one, two = (_mass(self.network, z) for z in self.subsequences)
        averages = [_moment(self.network, z) / _mass(self.network, z) for z in self.subsequences]
        ratio = 1 + e / (12 * free * free)
        return [
            (lift(0), "<", Variable("eps")),
            (Variable("eps"), "<", lift(1)),
            *((rival, "<=", top) for rival in rivals.values()),
            (apply("abs", averages[0] - averages[1]), "<=", e / (3 * free)),
            (one, "<=", ratio * two),
            (two, "<=", ratio * one),
        ]

    def rest_is_heavy(self) -> writer.Inequality:
        """T2.2-Q4."""
        q1, q2 = (_mass(self.network, self._on(z, self.differing)) for z in self.subsequences)
        return ((q1 + q2) / len(self.pair.roles.free), "<=", _mass(self.network, self.rest))

    def outputs_are_close(self) -> writer.Inequality:
        """T2.2-36."""
        whole = [self._on(z, self.differing) + self.rest for z in self.subsequences]
        one, two = (_moment(self.network, w) / _mass(self.network, w) for w in whole)
        return (apply("abs", one - two), "<=", self.accuracy)

    def _on(self, tokens: Sequence[Token], positions: Sequence[int]) -> list[Token]:
        return [(token, t) for token, t in tokens if t in positions]


def score(network: Network, token: Expression, position: int) -> Expression:
    """log lambda at a token, as an expression."""
    (direction,) = network.score_directions
    return _combination([Fraction(entry) for entry in direction], Fraction(0), _encoded(network, token, position))


def _value(network: Network, token: Expression, position: int) -> Expression:
    head = network.heads[0]
    row, bias = EXACT.asarray(head.value)[0], EXACT.asarray(head.value_bias)[0]
    return _combination(list(row), bias, _encoded(network, token, position))


def _encoded(network: Network, token: Expression, position: int) -> list[Expression]:
    if not isinstance(network.encoder, Perceptron):
        raise InvalidInput.about("encoder", type(network.encoder).__name__, "a perceptron", "another block")
    states = [token]
    for layer in network.encoder.layers:
        biases = EXACT.asarray(layer.bias[position - 1] if layer.bias.ndim == 2 else layer.bias)
        rows = zip(EXACT.asarray(layer.weight), biases, strict=True)
        sums = [_combination(list(weights), bias, states) for weights, bias in rows]
        states = sums if layer.activation == "identity" else [apply(layer.activation, entry) for entry in sums]
    return states


def _combination(weights: Sequence[Fraction], bias: Fraction, states: Sequence[Expression]) -> Expression:
    terms = [state if weight == 1 else weight * state for weight, state in zip(weights, states, strict=True) if weight]
    return _sum([*terms, *([Number(Fraction(bias))] if bias or not terms else [])])


def _mass(network: Network, tokens: Sequence[Token]) -> Expression:
    terms = [apply("exp", score(network, token, t)) for token, t in tokens]
    return _sum(terms)


def _moment(network: Network, tokens: Sequence[Token]) -> Expression:
    return _sum([apply("exp", score(network, token, t)) * _value(network, token, t) for token, t in tokens])


def _sum(terms: Sequence[Expression]) -> Expression:
    total: Expression = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
