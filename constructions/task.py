"""D-retrieval targets (DEF-D) as data: features, index sets, outer map; built-in tasks; TOML and JSON.

A task only has to be well formed here (indices within [T], known functions, finite numbers). Whether the paper's
hypotheses A2 hold is decided, with proofs, by `checks.hypotheses`.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from theory.errors import InvalidInput
from theory.expression_parser import parse_expression
from theory.expressions import (
    Call,
    Expression,
    Variable,
    expression_from_json,
    expression_to_json,
    free_variables,
    lift,
    variables,
)

FORMAT = 1
MAX_FILE_BYTES = 4_000_000
MAX_SEQ_LEN = 100_000
MAX_TOKEN_DIM = 64
MAX_TARGETS = 256


@dataclass(frozen=True)
class Feature:
    """``zbar = min over positions of expression(x(t))``; positions 1-based and sorted, variables ``x0, x1, ...``."""

    expression: Expression
    positions: tuple[int, ...]


@dataclass(frozen=True)
class RetrievalTask:
    """``H(X) = outer(zbar_0, ..., zbar_{D-1})`` on sequences X of shape (seq_len, token_dim) in the unit cube (DEF-D).

    Raises:
        InvalidInput: an empty index set, an index beyond T, an unknown variable, or sizes outside the limits.
    """

    name: str
    token_dim: int
    seq_len: int
    features: tuple[Feature, ...]
    outer: Expression

    def __post_init__(self) -> None:
        _within("seq_len", self.seq_len, MAX_SEQ_LEN)
        _within("token_dim", self.token_dim, MAX_TOKEN_DIM)
        _within("number of features", len(self.features), MAX_TARGETS)
        tokens = {f"x{index}" for index in range(self.token_dim)}
        for number, feature in enumerate(self.features):
            where = f"feature {number}"
            if not feature.positions:
                raise InvalidInput.about(f"{where}: positions", (), "S_i not empty (DEF-D)", "list at least one index")
            if list(feature.positions) != sorted(set(feature.positions)):
                raise InvalidInput.about(f"{where}: positions", feature.positions, "sorted, distinct", "sort them")
            if feature.positions[0] < 1 or feature.positions[-1] > self.seq_len:
                worst = feature.positions[0] if feature.positions[0] < 1 else feature.positions[-1]
                raise InvalidInput.about(f"{where}: position", worst, f"1 <= t <= T={self.seq_len}", "a larger seq_len")
            _known(f"{where}: variables", feature.expression, tokens)
        _known("outer: variables", self.outer, {f"z{index}" for index in range(len(self.features))})

    @property
    def num_targets(self) -> int:
        """D, the number of retrieval coordinates."""
        return len(self.features)

    @property
    def smallest_support(self) -> int:
        """``min |S_i|``."""
        return min(len(feature.positions) for feature in self.features)


def _within(name: str, value: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise InvalidInput.about(name, value, f"an integer from 1 to {most}", "another value")


def _known(name: str, expression: Expression, allowed: set[str]) -> None:
    if unknown := sorted(free_variables(expression) - allowed):
        raise InvalidInput.about(name, unknown, f"among {sorted(allowed)}", "rename or raise the dimension")


def everywhere(seq_len: int) -> tuple[int, ...]:
    """All positions, ``S_i = [T]``."""
    return tuple(range(1, seq_len + 1))


def toy(seq_len: int) -> RetrievalTask:
    """DEF-TOY: ``max_t x(t) + min_t x(t)``, d = 1, D = 2. Its features are linear, so A2.3 fails (and is reported)."""
    x, (z0, z1) = Variable("x0"), variables("z", 2)
    features = (Feature(x, everywhere(seq_len)), Feature(1 - x, everywhere(seq_len)))
    return RetrievalTask("toy", 1, seq_len, features, z0 + (1 - z1))


def synthetic(seq_len: int, directions: Sequence[Sequence[Fraction | int]]) -> RetrievalTask:
    """E1 on the unit cube: ``sum_i max_t a_i . x(t)``; feature i is a_i . x turned and scaled affinely into [0, 1].

    With ``lo_i, hi_i`` the extremes of ``a_i . x`` over the cube, ``f_i = (hi_i - a_i . x) / (hi_i - lo_i)`` and
    ``max_t a_i . x(t) = hi_i - (hi_i - lo_i) min_t f_i(x(t))``.
    """
    dimension = len(directions[0]) if directions else 0
    x = variables("x", dimension)
    features, outer = [], lift(0)
    for index, direction in enumerate(directions):
        if len(direction) != dimension or not any(direction):
            raise InvalidInput.about(f"direction {index}", list(direction), f"{dimension} entries, not all 0", "fix it")
        a = [Fraction(entry) for entry in direction]
        high = sum((max(entry, Fraction(0)) for entry in a), Fraction(0))
        width = sum((abs(entry) for entry in a), Fraction(0))
        terms = [(-entry / width) * x[j] for j, entry in enumerate(a) if entry]
        features.append(Feature(_sum([lift(high / width), *terms]), everywhere(seq_len)))
        outer = _sum([outer, high - width * Variable(f"z{index}")]) if index else high - width * Variable("z0")
    return RetrievalTask(f"synthetic({len(directions)})", dimension, seq_len, tuple(features), outer)


def quadratic(num_targets: int, token_dim: int, seq_len: int) -> RetrievalTask:
    """``f_i = |x - m_i|^2 / d`` with distinct rational minimisers m_i inside the cube, S_i = [T], F_0 the mean.

    The m_i lie on a rational Kronecker sequence (multiples of a fixed vector modulo 1, kept away from the boundary),
    so that the task is the same on every machine. All of A2 holds.
    """
    x = variables("x", token_dim)
    features, terms = [], []
    for index in range(num_targets):
        centre = [_kronecker(index, axis) for axis in range(token_dim)]
        squares = [(x[axis] - centre[axis]) ** 2 for axis in range(token_dim)]
        features.append(Feature(_sum(squares) * Fraction(1, token_dim), everywhere(seq_len)))
        terms.append(Fraction(1, num_targets) * Variable(f"z{index}"))
    return RetrievalTask(f"quadratic({num_targets},{token_dim})", token_dim, seq_len, tuple(features), _sum(terms))


def _kronecker(index: int, axis: int) -> Fraction:
    step = math.isqrt((axis + 2) * 10**6)  # 1000 sqrt(axis + 2): close to badly approximable, hence well spread
    return Fraction(1, 10) + Fraction(8, 10) * Fraction((index + 1) * step % 1000, 1000)


def hard_gate() -> RetrievalTask:
    """N2's counterexample to the published gate: ``f = 4 (x - 1/2)^2``, S = {1}, T = 4, F_0 = identity."""
    x = Variable("x0")
    return RetrievalTask("hard_gate", 1, 4, (Feature(4 * (x - Fraction(1, 2)) ** 2, (1,)),), Variable("z0"))


def _sum(terms: Sequence[Expression]) -> Expression:
    return terms[0] if len(terms) == 1 else Call("+", tuple(terms))


_AXES = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))


def built_in(name: str, seq_len: int) -> RetrievalTask:
    """A built-in task by name: ``toy``, ``hard_gate``, ``synthetic(D)`` (D <= 4 axes), ``quadratic(D,d)``.

    >>> built_in("quadratic(3,2)", 8).num_targets
    3
    """
    _within("seq_len", seq_len, MAX_SEQ_LEN)
    head, _, rest = name.partition("(")
    try:
        numbers = [int(part) for part in rest.removesuffix(")").split(",")] if rest else []
    except ValueError:
        numbers = [-1]
    makers: Mapping[tuple[str, int], Callable[..., RetrievalTask]] = {
        ("toy", 0): lambda: toy(seq_len),
        ("hard_gate", 0): hard_gate,
        ("synthetic", 1): lambda count: synthetic(seq_len, _AXES[:count]),
        ("quadratic", 2): lambda count, dimension: quadratic(count, dimension, seq_len),
    }
    maker = makers.get((head, len(numbers)))
    if maker is None or any(number < 1 for number in numbers) or (head == "synthetic" and numbers[0] > len(_AXES)):
        known = "toy, hard_gate, synthetic(D) with D <= 4, quadratic(D,d), or the path of a .toml file"
        raise InvalidInput.about("task", name, f"one of {known}", "headcount build --help")
    task = maker(*numbers)
    if task.seq_len != seq_len:
        raise InvalidInput.about("seq_len", seq_len, f"{name} has T = {task.seq_len}", f"--seq-len {task.seq_len}")
    return task


def load_task(source: str, seq_len: int) -> RetrievalTask:
    """A built-in task by name, or a task from a TOML file (whose seq_len, if given, must agree).

    Raises:
        InvalidInput: unreadable or oversized file, unknown keys, or a malformed task.
    """
    if not source.endswith(".toml"):
        return built_in(source, seq_len)
    path = Path(source)
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InvalidInput.about(
                "task file size", path.stat().st_size, f"<= {MAX_FILE_BYTES} bytes", "a smaller file"
            )
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput.about("task file", source, "a readable TOML file", f"fix this: {error}") from error
    return task_from_table(data, seq_len)


def task_from_table(data: Mapping[str, Any], seq_len: int) -> RetrievalTask:
    """A task from a parsed TOML table with keys format, name, token_dim, seq_len (optional), outer, features.

    A feature has ``expression`` and, optionally, ``positions``: a list of indices, or "all" (the default).
    """
    _keys("task", data, {"format", "name", "token_dim", "seq_len", "outer", "features"})
    if data.get("format", FORMAT) != FORMAT:
        raise InvalidInput.about("format", data["format"], f"{FORMAT}", "a task file for this version")
    length = data.get("seq_len", seq_len)
    if length != seq_len:
        raise InvalidInput.about("seq_len", seq_len, f"the task file says seq_len = {length}", f"--seq-len {length}")
    features = []
    if not isinstance(data.get("features"), list):
        raise InvalidInput.about("features", data.get("features"), "a list of tables", "[[features]] sections")
    for number, entry in enumerate(data["features"]):
        if not isinstance(entry, Mapping):
            raise InvalidInput.about(f"feature {number}", entry, "a table", "[[features]] sections")
        _keys(f"feature {number}", entry, {"expression", "positions"})
        positions = entry.get("positions", "all")
        chosen = everywhere(seq_len) if positions == "all" else _integers(f"feature {number}: positions", positions)
        features.append(Feature(_parse(f"feature {number}: expression", entry.get("expression")), chosen))
    return RetrievalTask(
        str(data.get("name", "task"))[:80],
        data.get("token_dim", 1),
        seq_len,
        tuple(features),
        _parse("outer", data.get("outer")),
    )


def _keys(where: str, data: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(set(data) - known):
        raise InvalidInput.about(f"keys of {where}", unknown, f"among {sorted(known)}", "remove or rename them")


def _parse(where: str, text: object) -> Expression:
    if not isinstance(text, str):
        raise InvalidInput.about(where, text, "an expression in quotes", 'for example "(x0 - 1/2)^2"')
    return parse_expression(text)


def _integers(where: str, values: object) -> tuple[int, ...]:
    if not isinstance(values, list) or not all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        raise InvalidInput.about(where, values, 'a list of integers or "all"', "positions = [1, 2]")
    return tuple(sorted(values))


def task_to_json(task: RetrievalTask) -> dict[str, Any]:
    """The task as exact, self-contained JSON (used in certificates)."""
    return {
        "name": task.name,
        "token_dim": task.token_dim,
        "seq_len": task.seq_len,
        "features": [
            {"expression": expression_to_json(feature.expression), "positions": list(feature.positions)}
            for feature in task.features
        ],
        "outer": expression_to_json(task.outer),
    }


def task_from_json(data: Mapping[str, Any]) -> RetrievalTask:
    """Read `task_to_json`'s form.

    Raises:
        InvalidInput: a missing or unknown key, or a malformed task.
    """
    try:
        features = tuple(
            Feature(expression_from_json(entry["expression"]), _integers("positions", entry["positions"]))
            for entry in data["features"]
        )
        outer = expression_from_json(data["outer"])
        return RetrievalTask(str(data["name"])[:80], data["token_dim"], data["seq_len"], features, outer)
    except (KeyError, TypeError) as error:
        raise InvalidInput.about(
            "task", error, "keys name, token_dim, seq_len, features, outer", "re-export it"
        ) from error
