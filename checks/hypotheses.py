"""Does a task satisfy DEF-D and A2? One verdict for each hypothesis, all of them reported, never only the first.

>>> from constructions.task import toy
>>> {check.id: check.verdict.label for check in check_task(toy(8))}["A2.3"]
'REFUTED'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from checks import balls, jets
from checks.enclose import Box, WorkLimit, as_balls, infimum, of_expression, point_box, supremum, unit_box, value_on
from checks.intervals import Interval
from checks.minimisers import POINT_BITS, Minimiser, find_minimiser, least_eigenvalue_lower
from checks.separable import Part, separate
from constructions.task import RetrievalTask
from theory.errors import HeadcountError, InvalidInput, NotFinite
from theory.exact import decimal, format_exact
from theory.expressions import Expression, variables
from theory.ledger import NotApplicable, Proved, Refuted, Undecided, Verdict

HYPOTHESES: Mapping[str, str] = {
    "DEF-D.range": "every f_i maps [0,1]^d into [0,1]",
    "DEF-D.smooth": "every f_i is of class C^2 and F_0 of class C^1",
    "DEF-D.support": "|S_i| >= T/4",
    "A2.1": "every f_i has a unique global minimiser x^(i)",
    "A2.2": "the x^(i) are pairwise distinct",
    "A2.3": "the Hessian of f_i at x^(i) is positive definite",
    "A2.4": "grad F_0(z_1, ..., z_D) has no zero coordinate",
}
RANGE_TOLERANCES = (Fraction(1, 100), Fraction(1, 10**5))
RANGE_BOXES = 2_000
MOST_CORNERS_DIM = 8


@dataclass(frozen=True)
class HypothesisCheck:
    """One hypothesis of the paper, by id, and what was decided about it for one task."""

    id: str
    verdict: Verdict

    @property
    def statement(self) -> str:
        return HYPOTHESES[self.id]

    @property
    def detail(self) -> str:
        return self.verdict.detail


def check_task(task: RetrievalTask) -> tuple[HypothesisCheck, ...]:
    """Decide every hypothesis of `HYPOTHESES` for a task, in balls and exact intervals."""
    found = minimisers(task)
    verdicts = (
        _for_each(task, lambda index: _range_verdict(task.features[index].expression, task.token_dim, found[index])),
        _smooth_verdict(task),
        _support_verdict(task),
        _for_each(task, lambda index: found[index].unique),
        _distinct_verdict(found),
        _for_each(task, lambda index: _curvature_verdict(task.features[index].expression, found[index])),
        outer_gradient_verdict(task, found),
    )
    return tuple(HypothesisCheck(name, verdict) for name, verdict in zip(HYPOTHESES, verdicts, strict=True))


def applicable(checks: Sequence[HypothesisCheck], needed: Sequence[str]) -> Verdict:
    """Whether a statement resting on the hypotheses ``needed`` says anything here.

    Proved if all hold; NotApplicable naming every one that fails, and how; Undecided if one is open.
    """
    if unknown := sorted(set(needed) - set(HYPOTHESES)):
        raise InvalidInput.about("hypotheses", unknown, f"among {', '.join(HYPOTHESES)}", "check the spelling")
    chosen = [check for check in checks if check.id in needed]
    failed = [check for check in chosen if isinstance(check.verdict, Refuted | NotApplicable)]
    if failed:
        return NotApplicable(tuple(f"{check.id} ({check.statement}): {check.detail}" for check in failed))
    for check in chosen:
        if isinstance(check.verdict, Undecided):
            return Undecided(f"{check.id} ({check.statement}) is open: {check.verdict.reason}", check.verdict.remedy)
    return Proved(", ".join(check.id for check in chosen))


def minimisers(task: RetrievalTask) -> tuple[Minimiser, ...]:
    """The minimiser of every feature (see `checks.minimisers`).

    Raises:
        NotFinite: a feature that has no finite enclosure on the cube, named.
    """
    found = []
    for index, feature in enumerate(task.features):
        try:
            found.append(find_minimiser(feature.expression, task.token_dim))
        except NotFinite as error:
            raise NotFinite(f"feature {index} = {str(feature.expression)[:80]} on the cube: {error}") from error
    return tuple(found)


def _for_each(task: RetrievalTask, decide: Callable[[int], Verdict]) -> Verdict:
    """One verdict for all features: refuted by one, else inapplicable or open through one, else proved."""
    verdicts = [_guarded(decide, index) for index in range(task.num_targets)]
    for kind in (Refuted, NotApplicable, Undecided):
        bad: list[tuple[int, Any]] = [(i, verdict) for i, verdict in enumerate(verdicts) if isinstance(verdict, kind)]
        if bad:
            index, verdict = bad[0]
            where = f"feature {', '.join(str(number) for number, _ in bad)}: {verdict.detail}"
            if isinstance(verdict, Refuted):
                return Refuted(where, {"feature": index, **verdict.witness})
            if isinstance(verdict, NotApplicable):
                return NotApplicable(tuple(f"feature {number}: {'; '.join(v.failed)}" for number, v in bad))
            return Undecided(f"feature {index}: {verdict.reason}", verdict.remedy)
    return Proved("; ".join(sorted({verdict.detail for verdict in verdicts})))


def _guarded(decide: Callable[[int], Verdict], index: int) -> Verdict:
    try:
        return decide(index)
    except (NotFinite, WorkLimit) as error:
        return Undecided(str(error), "a simpler expression, or one without poles in the cube")


def _range_verdict(expression: Expression, dimension: int, found: Minimiser) -> Verdict:
    names = [variable.name for variable in variables("x", dimension)]
    box = unit_box(dimension)
    for point in _probes(box, found):
        value = value_on(expression, names, point_box(point))
        if value.low > 1 or value.high < 0:
            witness = {"x": [format_exact(entry) for entry in point], "value": format_exact(value.low)}
            return Refuted(f"f = {decimal(value.low)} at x = ({', '.join(map(str, point))})", witness)
    natural = value_on(expression, names, box)
    if natural.low >= 0 and natural.high <= 1:
        return Proved("by the natural interval extension")
    reason = ""
    for tolerance in RANGE_TOLERANCES:
        low = max(natural.low, found.value.low)
        if low < 0:
            low = max(low, infimum(of_expression(expression, names), box, tolerance, RANGE_BOXES).low)
        high = supremum(of_expression(-expression, names), box, tolerance, RANGE_BOXES)
        if low >= 0 and min(high.high, natural.high) <= 1:
            return Proved("by branch and bound")
        if high.low > 1:
            return Refuted(f"sup f >= {decimal(high.low)}", {"supremum_lower": format_exact(high.low)})
        reason = f"range within [{decimal(low)}, {decimal(high.high)}]"
    return Undecided(reason, "rescale the feature to stay away from 0 and 1, or write it so that its range is evident")


def _probes(box: Box, found: Minimiser) -> list[tuple[Fraction, ...]]:
    corners = list(product((Fraction(0), Fraction(1)), repeat=len(box))) if len(box) <= MOST_CORNERS_DIM else []
    return [*corners, *([found.point] if found.point is not None else [])]


def _smooth_verdict(task: RetrievalTask) -> Verdict:
    parts = [(f"feature {i}", feature.expression, "x", task.token_dim) for i, feature in enumerate(task.features)]
    for where, expression, prefix, dimension in [*parts, ("outer", task.outer, "z", task.num_targets)]:
        names = [variable.name for variable in variables(prefix, dimension)]
        try:
            for part in separate(expression, names):
                box = as_balls(unit_box(len(part.names)))
                jets.hessian(jets.differentiate(part.expression, part.names, box, jets.BALL_SCALARS))
        except HeadcountError as error:
            return Undecided(f"{where}: {error}", "write it without relu, abs, min, max and poles")
    return Proved("no kink and no pole within the cube")


def _support_verdict(task: RetrievalTask) -> Verdict:
    for index, feature in enumerate(task.features):
        size = len(feature.positions)
        if 4 * size < task.seq_len:
            return Refuted(f"|S_{index}| = {size} < T/4 = {task.seq_len / 4:g}", {"feature": index, "size": size})
    return Proved(f"least |S_i| = {task.smallest_support}, T = {task.seq_len}")


def _distinct_verdict(found: Sequence[Minimiser]) -> Verdict:
    open_pairs = []
    for (i, first), (j, second) in combinations(enumerate(found), 2):
        loose = [index for index, entry in ((i, first), (j, second)) if not isinstance(entry.unique, Proved)]
        if any(x.high < y.low or y.high < x.low for x, y in zip(first.box, second.box, strict=True)):
            continue
        if loose:
            return NotApplicable((f"A2.1 is not proved for feature {loose[0]}, so x^({loose[0]}) is not defined",))
        if first.point is not None and first.point == second.point:
            point = [format_exact(entry) for entry in first.point]
            detail = f"features {i} and {j} have the same minimiser ({', '.join(point)})"
            return Refuted(detail, {"features": [i, j], "minimiser": point})
        open_pairs.append((i, j))
    if open_pairs:
        i, j = open_pairs[0]
        return Undecided(f"the minimisers of features {i} and {j} are too close to tell apart", "move one of them")
    return Proved("the enclosures are disjoint")


def _curvature_verdict(expression: Expression, found: Minimiser) -> Verdict:
    if not isinstance(found.unique, Proved):
        return NotApplicable(("A2.1 is not proved for it",))
    names = [variable.name for variable in variables("x", len(found.box))]
    sides = dict(zip(names, found.box, strict=True))
    # The Hessian has one block for each part, and is positive definite if and only if all blocks are.
    blocks = [_block_verdict(part, sides) for part in separate(expression, names)]
    for kind in (Refuted, Undecided):
        for block in blocks:
            if isinstance(block, kind):
                return block
    return blocks[0]


def _block_verdict(part: Part, sides: Mapping[str, Interval]) -> Verdict:
    box = tuple(sides[name] for name in part.names)
    try:
        with balls.precision(POINT_BITS):
            curved = jets.hessian(jets.differentiate(part.expression, part.names, as_balls(box), jets.BALL_SCALARS))
            if least_eigenvalue_lower(curved) is not None:
                return Proved("by elimination in balls at the enclosed minimiser")
            exact = jets.hessian(jets.differentiate(part.expression, part.names, box, jets.EXACT_SCALARS))
    except jets.NotSmooth as error:
        return Undecided(str(error), "a feature that is smooth at its minimiser")
    if bad := _not_definite(exact, part.names):
        return Refuted(*bad)
    return Undecided("the Hessian's enclosure contains singular matrices", "a feature with larger curvature")


def _not_definite(matrix: Any, names: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """Proof that an enclosed symmetric matrix is not positive definite: a non-positive pivot of exact elimination."""
    size = len(matrix)
    if not all(entry.is_point for entry in matrix.ravel()):
        for index in range(size):
            if matrix[index, index].high <= 0:
                return f"second derivative along {names[index]} is not positive", {"variable": names[index]}
        return None
    rows = [[entry.low for entry in row] for row in matrix]
    shown = [[format_exact(entry) for entry in row] for row in rows]
    for step in range(size):
        pivot = rows[step][step]
        if pivot <= 0:
            where = f"its Hessian in {', '.join(names)} there is {shown}, not positive definite"
            return where, {"hessian": shown}
        for i in range(step + 1, size):
            share = rows[i][step] / pivot
            rows[i] = [entry - share * above for entry, above in zip(rows[i], rows[step], strict=True)]
    return None


def outer_gradient_verdict(task: RetrievalTask, found: Sequence[Minimiser]) -> Verdict:
    """A2.4 at the enclosed minima."""
    names = [variable.name for variable in variables("z", task.num_targets)]
    minima: tuple[Interval, ...] = tuple(entry.value for entry in found)
    try:
        gradient = jets.differentiate(task.outer, names, minima, jets.EXACT_SCALARS, order=1).gradient
    except NotFinite as error:
        return Undecided(str(error), "an outer map without poles at the minima")
    for index, slope in enumerate(gradient):
        if slope.is_point and slope.low == 0:
            return Refuted(f"dF_0/dz{index} = 0 at the minima", {"coordinate": index})
    for index, slope in enumerate(gradient):
        if slope.low <= 0 <= slope.high:
            enclosure = f"[{decimal(slope.low)}, {decimal(slope.high)}]"
            return Undecided(f"dF_0/dz{index} at the minima lies in {enclosure}", "features with exact minima")
    return Proved("no coordinate of the gradient can vanish")
