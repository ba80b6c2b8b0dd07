"""The contents of certificates as exact, immutable data. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]
Expression = Any  # Fraction | variable name | (operator, Expression, ...); the exponent of "^" is an int


@dataclass(frozen=True)
class Dense:
    """``activation(weight x + bias)``; ``bias`` has one row, or one for each position."""

    weight: Matrix
    bias: Matrix
    activation: str


@dataclass(frozen=True)
class Component:
    """One coordinate of a `Formula`: the expression at ``positions`` (None: at all), else ``outside``."""

    expression: Expression
    positions: frozenset[int] | None
    outside: Fraction


@dataclass(frozen=True)
class Formula:
    """A map given by expressions in x0, x1, ..."""

    components: tuple[Component, ...]


Map = tuple[Dense, ...] | Formula


@dataclass(frozen=True)
class Head:
    """Score ``(query c0 + query_bias) . key e``, value ``value e + value_bias`` of an encoded token e."""

    query: Matrix
    key: Matrix
    value: Matrix
    query_bias: Vector
    value_bias: Vector


@dataclass(frozen=True)
class TokenLayer:
    """Every token queries all; ``update`` (``class_update``, if any) maps (state, heard) to the new state."""

    heads: tuple[Head, ...]
    beta: Fraction
    output_weight: Matrix
    output_bias: Vector
    update: Map
    class_update: Map | None


@dataclass(frozen=True)
class Network:
    """A block with its read-out (DEF-H), after any number of token layers; shapes agree."""

    seq_len: int
    token_dim: int
    beta: Fraction
    encoder: Map
    class_token: Vector
    heads: tuple[Head, ...]
    output_weight: Matrix
    output_bias: Vector
    readout: Map
    token_layers: tuple[TokenLayer, ...]


@dataclass(frozen=True)
class Feature:
    """``min over positions of expression(x(t))``; positions are 1-based, sorted, distinct."""

    expression: Expression
    positions: tuple[int, ...]


@dataclass(frozen=True)
class Task:
    """``outer(minimum of each feature)`` (DEF-D)."""

    seq_len: int
    token_dim: int
    features: tuple[Feature, ...]
    outer: Expression


@dataclass(frozen=True)
class Collision:
    """Two sequences with equal attention outputs and targets at least ``gap`` apart; see docs/certificates.md."""

    network: Network
    task: Task
    sequences: tuple[Matrix, Matrix]
    free: tuple[tuple[int, int, int], ...]
    rows: tuple[tuple[int, int], ...]
    radius: Fraction
    precision: int
    gap: Fraction


@dataclass(frozen=True)
class Pair:
    """Two sequences, targets at least ``gap`` apart, read-out inputs at most ``distance`` apart (sup norm)."""

    sequences: tuple[Matrix, Matrix]
    gap: Fraction
    distance: Fraction


@dataclass(frozen=True)
class NearCollisions:
    """One pair ("near_collision") or several ("capacity") for one block and one task."""

    network: Network
    task: Task
    pairs: tuple[Pair, ...]
    precision: int


@dataclass(frozen=True)
class Covering:
    """The numbers of the analytic budget (N2, N3): feature i sits in value ``channels[i] = (head, channel)``."""

    channels: tuple[tuple[int, int], ...]
    margin: Fraction
    delta: Vector
    outer_delta: Fraction
    slopes: Vector
    gradient: Fraction


@dataclass(frozen=True)
class SupError:
    """A bound on sup |network - target|; ``evidence`` is a Covering, a witness sequence, or None: bisect."""

    network: Network
    task: Task
    relation: str
    bound: Fraction
    every_beta: bool
    evidence: Covering | Matrix | None


@dataclass(frozen=True)
class Counterexample:
    """Inequalities (left, relation, right): the hypotheses hold at ``values`` and the conclusion does not."""

    claim: tuple[str, str]
    values: dict[str, Fraction]
    hypotheses: tuple[tuple[Expression, str, Expression], ...]
    conclusion: tuple[Expression, str, Expression]


Certificate = Collision | NearCollisions | SupError | Counterexample
