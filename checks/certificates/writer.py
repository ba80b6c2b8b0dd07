"""Writing certificates (docs/certificates.md) from the project's objects. The checker does not use this module.

Each maker returns a sealed certificate, read back once by the schema: what cannot be read is not written. Nothing here
says that the claim is true; that is for ``checks.verify``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from checks.certificates import schema
from checks.certificates.canonical import MAX_BYTES, Malformed, canonical, digest, load
from constructions.arithmetic import ExactArray
from constructions.network import Network
from constructions.network_json import network_to_json, tokens_to_json
from constructions.task import RetrievalTask, task_to_json
from theory.errors import InvalidInput
from theory.exact import format_exact
from theory.expressions import Expression, expression_to_json

Number = Fraction | int | float
Inequality = tuple[Expression, str, Expression]
MARGIN = Fraction(1, 2**20)
"""Default slack of the conditions on values in a covering budget: far above rounding, far below any error."""


def collision(
    network: Network,
    task: RetrievalTask,
    first: ExactArray,
    second: ExactArray,
    free: Sequence[tuple[int, int, int]],
    radius: Number,
    gap: Number,
    precision: int = 256,
    rows: Sequence[tuple[int, int]] | None = None,
) -> dict[str, Any]:
    """N8, existence: within ``radius`` of the given tokens lie sequences with equal attention outputs.

    first, second: (T, d), exact; ``free``: (sequence 0 or 1, position from 1, coordinate from 0), one per equation;
    ``rows``: the (head, value channel) of the equations if not all, the others being determined by them. Choose ``gap``
    a little below the gap at the centre.

    Raises:
        InvalidInput: something outside the limits of the schema.
    """
    content = {
        **_about(network, task),
        "claim": {"gap": format_exact(gap)},
        "first": tokens_to_json(first),
        "second": tokens_to_json(second),
        "free": [list(place) for place in free],
        "radius": format_exact(radius),
        "precision": precision,
    }
    if rows is not None:
        content["rows"] = [list(row) for row in rows]
    return seal("collision", content)


def near_collision(
    network: Network,
    task: RetrievalTask,
    first: ExactArray,
    second: ExactArray,
    gap: Number,
    distance: Number,
    precision: int = 256,
) -> dict[str, Any]:
    """N8, lower: targets of two exact sequences (T, d) at least ``gap`` apart, read-out inputs at most ``distance``.

    The distance is the largest difference of a coordinate of the read-out's input. Raises InvalidInput.
    """
    claim, tokens = _point(first, second, gap, distance)
    return seal("near_collision", {**_about(network, task), "claim": claim, **tokens, "precision": precision})


def capacity(
    network: Network,
    task: RetrievalTask,
    points: Sequence[tuple[ExactArray, ExactArray, Number, Number]],
    precision: int = 256,
) -> dict[str, Any]:
    """N8, lower: the error-capacity curve of a block, as (first, second, gap, distance) like `near_collision`.

    Every read-out with Lipschitz constant L errs by at least the largest ``(gap - L distance)/2``. Raises InvalidInput.
    """
    entries = [_point(*point) for point in points]
    claims, pairs = [claim for claim, _ in entries], [tokens for _, tokens in entries]
    content = {**_about(network, task), "claim": {"points": claims}, "pairs": pairs, "precision": precision}
    return seal("capacity", content)


def error_below(network: Network, task: RetrievalTask, bound: Number) -> dict[str, Any]:
    """Upper: sup |network - target| < bound, to be checked by bisection of the cube (small T d)."""
    return _sup_error(network, task, {"relation": "<", "bound": format_exact(bound)}, {"method": "branch_and_bound"})


def error_below_by_budget(
    network: Network,
    task: RetrievalTask,
    bound: Number,
    channels: Sequence[tuple[int, int]],
    delta: Sequence[Number],
    outer_delta: Number,
    slopes: Sequence[Number],
    gradient: Number,
    margin: Number = MARGIN,
) -> dict[str, Any]:
    """Upper: sup |network - target| < bound by the budget of covering heads (N2, N3).

    ``channels[i]``: the (head, value channel) that carries feature i; ``delta[i]`` >= sup |u_i - f_i| on S_i;
    ``outer_delta`` >= sup |readout - F_0|; ``slopes[i]`` >= sup |d_i F_0|; ``gradient`` >= sup |grad F_0|_1. The
    checker proves each by bisection, which is fast only if there is some slack (a per cent or two where they are not 0
    or attained on whole intervals). F_0 is differentiated on the unit cube widened by margin + delta.
    """
    evidence = {
        "method": "covering_heads",
        "channels": [list(channel) for channel in channels],
        "delta": [format_exact(entry) for entry in delta],
        "outer_delta": format_exact(outer_delta),
        "slopes": [format_exact(entry) for entry in slopes],
        "gradient": format_exact(gradient),
        "margin": format_exact(margin),
    }
    return _sup_error(network, task, {"relation": "<", "bound": format_exact(bound)}, evidence)


def error_at_least(
    network: Network, task: RetrievalTask, bound: Number, witness: ExactArray, every_beta: bool
) -> dict[str, Any]:
    """Lower: |network - target| >= bound at the witness (T, d); for every beta if so stated, scores being equal."""
    claim = {"relation": ">=", "bound": format_exact(bound), "every_beta": every_beta}
    return _sup_error(network, task, claim, {"method": "witness", "sequence": tokens_to_json(witness)})


def counterexample(
    claim_id: str,
    form: str,
    values: Mapping[str, Number],
    hypotheses: Sequence[Inequality],
    conclusion: Inequality,
) -> dict[str, Any]:
    """The conclusion fails at an exact point at which all hypotheses hold."""
    content = {
        "claim": {"id": claim_id, "form": form},
        "values": {name: format_exact(value) for name, value in values.items()},
        "hypotheses": [_inequality(entry) for entry in hypotheses],
        "conclusion": _inequality(conclusion),
    }
    return seal("counterexample", content)


def seal(kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Add schema, kind and digest, and make sure that the checker can read the result.

    Raises:
        InvalidInput: something outside the limits of the schema.
    """
    certificate: dict[str, Any] = {"schema": schema.SCHEMA, "kind": kind, **content}
    certificate["digest"] = digest(certificate)
    try:
        schema.parse(to_bytes(certificate))
    except Malformed as error:
        raise InvalidInput.about("certificate", kind, str(error), "stay within docs/certificates.md") from error
    return certificate


def to_bytes(certificate: Mapping[str, Any]) -> bytes:
    """The contents of the certificate's file."""
    return canonical(certificate) + b"\n"


def write(path: str | Path, certificate: Mapping[str, Any]) -> None:
    """Write the certificate's file, see `write_bytes`."""
    write_bytes(path, to_bytes(certificate))


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write atomically: the file is there whole, or as it was before. A symbolic link stays one.

    Raises:
        InvalidInput: a folder, or a device or pipe, which must not be replaced by a file.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise InvalidInput.about("path", str(path), "a file, or a new name", "another path")
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def read(path: str | Path) -> dict[str, Any]:
    """The JSON of a certificate, for display; digest and spelling are checked, the claim is not.

    Raises:
        InvalidInput: unreadable, oversized or damaged.
    """
    try:
        with Path(path).open("rb") as stream:
            return load(stream.read(MAX_BYTES + 1))
    except (OSError, Malformed) as error:
        raise InvalidInput.about("certificate", str(path), "a readable certificate", f"fix this: {error}") from error


def _sup_error(
    network: Network, task: RetrievalTask, claim: dict[str, Any], evidence: dict[str, Any]
) -> dict[str, Any]:
    return seal("sup_error", {**_about(network, task), "claim": claim, "evidence": evidence})


def _about(network: Network, task: RetrievalTask) -> dict[str, Any]:
    return {"task": task_to_json(task), "network": network_to_json(network)}


def _point(
    first: ExactArray, second: ExactArray, gap: Number, distance: Number
) -> tuple[dict[str, Any], dict[str, Any]]:
    claim = {"gap": format_exact(gap), "distance": format_exact(distance)}
    return claim, {"first": tokens_to_json(first), "second": tokens_to_json(second)}


def _inequality(entry: Inequality) -> list[Any]:
    left, relation, right = entry
    return [expression_to_json(left), relation, expression_to_json(right)]
