"""The library of D-retrieval tasks, by name and as functions of their sizes.

Nothing is random: every machine builds the same task from the same name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

from constructions.retrieval_task import (
    MAX_SEQ_LEN,
    MAX_TARGETS,
    MAX_TOKEN_DIM,
    Feature,
    RetrievalTask,
    everywhere,
    within,
)
from theory.errors import InvalidInput
from theory.expressions import Call, Expression, Variable, apply, lift, variables

KNOWN = "toy, hard_gate, synthetic(D), quadratic(D,d), quadratic(D,d,LAYOUT) or order_statistics(m)"
SYNTHETIC_DIM = 4


def toy(seq_len: int) -> RetrievalTask:
    """DEF-TOY: ``max_t x(t) + min_t x(t)``, d = 1, D = 2. Its features are linear, so A2.3 fails (and is reported)."""
    x, (z0, z1) = Variable("x0"), variables("z", 2)
    features = (Feature(x, everywhere(seq_len)), Feature(1 - x, everywhere(seq_len)))
    return RetrievalTask("toy", 1, seq_len, features, z0 + (1 - z1))


def hard_gate() -> RetrievalTask:
    """N2's counterexample to the published gate: ``f = 4 (x - 1/2)^2``, S = {1}, T = 4, F_0 = identity."""
    x = Variable("x0")
    return RetrievalTask("hard_gate", 1, 4, (Feature(4 * (x - Fraction(1, 2)) ** 2, (1,)),), Variable("z0"))


def synthetic(seq_len: int, directions: Sequence[Sequence[Fraction | int]]) -> RetrievalTask:
    """E1 on the unit cube: ``sum_i max_t a_i . x(t)``; feature i is a_i . x turned and scaled affinely into [0, 1].

    With ``lo_i, hi_i`` the extremes of ``a_i . x`` over the cube, ``f_i = (hi_i - a_i . x) / (hi_i - lo_i)`` and
    ``max_t a_i . x(t) = hi_i - (hi_i - lo_i) min_t f_i(x(t))``.

    Raises:
        InvalidInput: no directions, one of another length, or one that is zero.
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


def sign_directions(dimension: int) -> list[tuple[int, ...]]:
    """The directions of ``synthetic(D)``: vectors of -1, 0, 1 with few non-zero entries first, first axes first.

    Vectors whose first non-zero entry is 1 come first (one for each line), then their negatives: for a vector and its
    negative a task retrieves both the greatest and the least value along one line. (3^d - 1) in all.

    >>> sign_directions(2)
    [(1, 0), (0, 1), (1, 1), (1, -1), (-1, 0), (0, -1), (-1, -1), (-1, 1)]
    """
    lines = [a for a in product((1, 0, -1), repeat=dimension) if any(a) and next(e for e in a if e) == 1]
    lines.sort(key=lambda a: sum(map(abs, a)))
    return [*lines, *(tuple(-entry for entry in a) for a in lines)]


def quadratic(num_targets: int, token_dim: int, seq_len: int, layout: str = "full") -> RetrievalTask:
    """``f_i = |x - m_i|^2 / d`` with distinct rational minimisers m_i inside the cube, F_0 the mean, S_i by `LAYOUTS`.

    The m_i lie on a rational Kronecker sequence (multiples of a fixed vector modulo 1, kept away from the boundary).
    All of A2 holds, and DEF-D's ``|S_i| >= T/4`` except for layout "disjoint" with D > 4, where it cannot.

    >>> [feature.positions for feature in quadratic(2, 1, 6, "disjoint").features]
    [(1, 2, 3), (4, 5, 6)]
    """
    sets = _layout(layout, num_targets, seq_len)
    x = variables("x", within("token_dim", token_dim, MAX_TOKEN_DIM))
    features, terms = [], []
    for index, positions in enumerate(sets):
        centre = [_kronecker(index, axis) for axis in range(token_dim)]
        squares = [(x[axis] - centre[axis]) ** 2 for axis in range(token_dim)]
        features.append(Feature(_sum(squares) * Fraction(1, token_dim), positions))
        terms.append(Fraction(1, num_targets) * Variable(f"z{index}"))
    shown = "" if layout == "full" else f",{layout}"
    return RetrievalTask(
        f"quadratic({num_targets},{token_dim}{shown})", token_dim, seq_len, tuple(features), _sum(terms)
    )


def _kronecker(index: int, axis: int) -> Fraction:
    step = math.isqrt(_prime(axis) * 10**6)  # 1000 sqrt(p): close to badly approximable, hence well spread
    return Fraction(1, 10) + Fraction(8, 10) * Fraction((index + 1) * step % 1000, 1000)


def _prime(index: int) -> int:
    found = [2]
    while len(found) <= index:
        found.append(next(n for n in range(found[-1] + 1, 2 * found[-1]) if all(n % p for p in found)))
    return found[index]


def _intervals(count: int, seq_len: int) -> list[tuple[int, ...]]:
    size = -(-seq_len // 2)
    starts = [index * (seq_len - size) // max(1, count - 1) for index in range(count)]
    return [tuple(range(start + 1, start + size + 1)) for start in starts]


def _disjoint(count: int, seq_len: int) -> list[tuple[int, ...]]:
    size = seq_len // count
    return [tuple(range(index * size + 1, (index + 1) * size + 1)) for index in range(count)]


LAYOUTS: Mapping[str, Callable[[int, int], list[tuple[int, ...]]]] = {
    "full": lambda count, seq_len: [everywhere(seq_len)] * count,
    "disjoint": _disjoint,
    "intervals": _intervals,
    "even": lambda count, seq_len: [tuple(range(2, seq_len + 1, 2))] * count,
}
"""Index sets S_1..S_D by name: all of [T]; D consecutive blocks of floor(T/D); D intervals of ceil(T/2) positions with
starts spread evenly (they overlap); the even positions."""


def _layout(layout: str, num_targets: int, seq_len: int) -> list[tuple[int, ...]]:
    if layout not in LAYOUTS:
        raise InvalidInput.about("layout", layout, f"one of {', '.join(LAYOUTS)}", "full")
    within("number of features", num_targets, MAX_TARGETS)
    sets = LAYOUTS[layout](num_targets, within("seq_len", seq_len, MAX_SEQ_LEN))
    if not all(sets):
        raise InvalidInput.about("seq_len", seq_len, f"long enough for layout {layout}", "a larger seq_len")
    return sets


def order_statistics(seq_len: int, rank: int) -> RetrievalTask:
    """L2's ``v_m``, the m-th greatest entry of a sequence of numbers, as a retrieval target: d = 1, D = C(T, m).

    ``v_m = max over m-subsets B of [T] of min_{t in B} x(t)``: feature i is x on the i-th m-subset (in lexicographic
    order), the outer map is the maximum. This lies in the *relaxed* class of L1 (continuous data), which is dense as
    well; it is not in F_D^{d,T}: all features have the same minimiser, zero Hessian, and max is not C^1
    (`checks.hypotheses` reports all three). ``|S_i| >= T/4`` asks for m >= T/4.

    Raises:
        InvalidInput: m outside 1..T, or more than MAX_TARGETS features (the message has their number).
    """
    within("m", rank, within("seq_len", seq_len, MAX_SEQ_LEN))
    if (count := math.comb(seq_len, rank)) > MAX_TARGETS:
        raise InvalidInput.about("C(T, m)", count, f"at most {MAX_TARGETS} features", "a smaller seq_len or m")
    subsets = combinations(everywhere(seq_len), rank)
    features = tuple(Feature(Variable("x0"), subset) for subset in subsets)
    outer = apply("max", *variables("z", count))
    return RetrievalTask(f"order_statistics({rank})", 1, seq_len, features, outer)


def _sum(terms: Sequence[Expression]) -> Expression:
    return terms[0] if len(terms) == 1 else Call("+", tuple(terms))


def _synthetic(seq_len: int, count: int) -> RetrievalTask:
    available = sign_directions(SYNTHETIC_DIM)
    if count > len(available):
        remedy = "synthetic(seq_len, directions) in Python, or a task file"
        raise InvalidInput.about("D of synthetic(D)", count, f"at most {len(available)}", remedy)
    return synthetic(seq_len, available[:count])


def built_in(name: str, seq_len: int) -> RetrievalTask:
    """A task of the library by name.

    ``toy``; ``hard_gate`` (T = 4); ``synthetic(D)``, d = 4, the first D of `sign_directions` (the axes for D <= 4);
    ``quadratic(D,d)`` and ``quadratic(D,d,LAYOUT)``; ``order_statistics(m)``.

    >>> built_in("quadratic(3,2,even)", 8).features[0].positions
    (2, 4, 6, 8)

    Raises:
        InvalidInput: an unknown name, the wrong number of sizes, or sizes outside the limits.
    """
    within("seq_len", seq_len, MAX_SEQ_LEN)
    head, _, rest = name.replace(" ", "").partition("(")
    sizes = rest.removesuffix(")").split(",") if rest else []
    layout = sizes.pop() if head == "quadratic" and len(sizes) == 3 else "full"
    try:
        numbers = [int(part) for part in sizes]
    except ValueError:
        numbers = [-1]
    makers: Mapping[tuple[str, int], Callable[..., RetrievalTask]] = {
        ("toy", 0): lambda: toy(seq_len),
        ("hard_gate", 0): hard_gate,
        ("synthetic", 1): lambda count: _synthetic(seq_len, count),
        ("quadratic", 2): lambda count, dimension: quadratic(count, dimension, seq_len, layout),
        ("order_statistics", 1): lambda rank: order_statistics(seq_len, rank),
    }
    maker = makers.get((head, len(numbers)))
    if maker is None or any(number < 1 for number in numbers):
        raise InvalidInput.about("task", name, f"one of {KNOWN}, or a .toml or .json file", "headcount build --help")
    task = maker(*numbers)
    if task.seq_len != seq_len:
        raise InvalidInput.about("seq_len", seq_len, f"{name} has T = {task.seq_len}", f"--seq-len {task.seq_len}")
    return task
