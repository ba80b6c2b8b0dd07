"""The checker: re-computes the claim of a certificate from the file alone (docs/certificates.md).

    python -m checks.verify FILE... [--json]

It trusts nobody: it imports the standard library, flint's ball arithmetic and the certificate schema, and evaluates
attention in its own way. Exit codes: 0 proved, 1 refuted, 2 undecided (also: damaged or malformed), 3 usage.
Reading order: `arithmetic`, `blocks`, `layers`, then a module for each kind: `collision` (with `channels`),
`near_collision`, `counterexample`; and apart from these `bisection`, `budget`, `sup_error`.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from checks.certificates import records, schema
from checks.certificates.canonical import MAX_BYTES, Malformed
from checks.verify.arithmetic import Refuted, Undecided, Work, text
from checks.verify.collision import check_collision
from checks.verify.counterexample import check_counterexample
from checks.verify.near_collision import check_near_collisions
from checks.verify.sup_error import check_sup_error

INFIX = "+-*/^"
MOST_SHOWN = 8
MOST_SPELLED = 200
EXIT_CODES = {"PROVED": 0, "REFUTED": 1, "UNDECIDED": 2, "USAGE": 3}


@dataclass(frozen=True)
class Answer:
    """What the checker found; ``facts`` are numbers worth showing."""

    label: str
    detail: str
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.label]


def verify(data: bytes) -> Answer:
    """Check one certificate given as the bytes of its file."""
    try:
        claim = schema.parse(data)
    except Malformed as error:
        return Answer("UNDECIDED", f"not a certificate that can be checked: {error}. Try: write or fetch it again.")
    work = Work()
    try:
        if isinstance(claim, records.Collision):
            facts = check_collision(claim, work)
        elif isinstance(claim, records.NearCollisions):
            facts = check_near_collisions(claim, work)
        elif isinstance(claim, records.SupError):
            facts = check_sup_error(claim, work)
        else:
            facts = check_counterexample(claim, work)
    except Refuted as reason:
        return Answer("REFUTED", str(reason))
    except Undecided as reason:
        return Answer("UNDECIDED", str(reason))
    except (ArithmeticError, MemoryError) as error:
        return Answer("UNDECIDED", f"the computation broke down ({error!r}); try simpler numbers")
    return Answer("PROVED", describe(claim), facts)


def describe(claim: records.Certificate) -> str:
    """What has been proved, in words."""
    if isinstance(claim, records.Collision):
        return f"two sequences with equal attention outputs and targets at least {text(claim.gap)} apart exist"
    if isinstance(claim, records.NearCollisions):
        bound = "every read-out with Lipschitz constant L (sup norm) errs somewhere by at least"
        if len(claim.pairs) > 1:
            return f"{bound} the largest (gap - L distance)/2 of {len(claim.pairs)} pairs of sequences"
        (pair,) = claim.pairs
        return f"{bound} ({text(pair.gap)} - L * {text(pair.distance)})/2"
    if isinstance(claim, records.SupError):
        every = " for every beta > 0" if claim.every_beta else ""
        return f"sup |network - target| {claim.relation} {text(claim.bound)}{every}"
    # The checker knows no claims: whose inequality this is stands in the file, what fails is what was computed.
    left, relation, right = claim.conclusion
    values = [f"{name} = {text(value)}" for name, value in claim.values.items()]
    point = f" at {', '.join([*values[:MOST_SHOWN], *['...'] * (len(values) > MOST_SHOWN)])}" if values else ""
    given = f", where its {len(claim.hypotheses)} hypotheses hold" if claim.hypotheses else ""
    filed = f"filed under {claim.claim[0]!a}, {claim.claim[1]}"
    return f"{_spelled(left)} {relation} {_spelled(right)} fails{point}{given} ({filed})"


def _spelled(node: records.Expression) -> str:
    """An expression in words of at most MOST_SPELLED characters."""
    if isinstance(node, Fraction):
        return text(node)
    if isinstance(node, str | int):
        return str(node)
    operator, *arguments = node
    parts = [_spelled(argument) for argument in arguments[:MOST_SHOWN]] + ["..."] * (len(arguments) > MOST_SHOWN)
    infix = operator in INFIX and len(parts) > 1
    spelled = f"({f' {operator} '.join(parts)})" if infix else f"{operator}({', '.join(parts)})"
    return spelled if len(spelled) <= MOST_SPELLED else f"{spelled[:MOST_SPELLED]}..."


def verify_file(path: str) -> Answer:
    """Check one file; a missing, special or oversized one is a matter of usage."""
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):
            return Answer("USAGE", f"{path!a} is not a regular file")
        if status.st_size > MAX_BYTES:
            return Answer("USAGE", f"{path!a} has {status.st_size} bytes; at most {MAX_BYTES} are read")
        return verify(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        return Answer("USAGE", f"{path!a} cannot be read: {error}")
