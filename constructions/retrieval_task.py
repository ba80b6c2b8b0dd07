"""D-retrieval targets (DEF-D) as data: features, index sets and the outer map. Use them through `constructions.task`.

A task only has to be well formed here (indices within [T], known variables, sizes within limits). Whether the paper's
hypotheses A2 hold is decided, with proofs, by `checks.hypotheses`.
"""

from __future__ import annotations

from dataclasses import dataclass

from theory.errors import InvalidInput
from theory.expressions import Expression, free_variables

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
        within("seq_len", self.seq_len, MAX_SEQ_LEN)
        within("token_dim", self.token_dim, MAX_TOKEN_DIM)
        within("number of features", len(self.features), MAX_TARGETS)
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


def within(name: str, value: int, most: int) -> int:
    """The value, if it is an integer from 1 to ``most``; InvalidInput naming it otherwise."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise InvalidInput.about(name, value, f"an integer from 1 to {most}", "another value")
    return value


def _known(name: str, expression: Expression, allowed: set[str]) -> None:
    if unknown := sorted(free_variables(expression) - allowed):
        raise InvalidInput.about(name, unknown, f"among {sorted(allowed)}", "rename or raise the dimension")


def everywhere(seq_len: int) -> tuple[int, ...]:
    """All positions, ``S_i = [T]``."""
    return tuple(range(1, seq_len + 1))
