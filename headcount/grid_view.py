"""``headcount pair --method grid|lattice``: the proofs' own pairs, with every inequality and its verdict."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.table import Table

from checks import verify
from checks.certificates import writer
from checks.claim_proof import ClaimProof, claim_proof
from checks.constants import constants
from checks.grid_measures import FAILS, HOLDS, NOT_NEEDED, UNDECIDED, Pair, Row
from checks.grid_points import eps_for
from checks.grid_proof import GridProof, NoPair, n4_proof
from checks.index_set_failure import certificates
from checks.lattice_pairs import LatticePair, lattice_pair
from checks.pair_certificates import near_collision
from constructions.adversary.grid import published_index_sets, repaired_index_sets
from constructions.adversary.grid_blocks import wrong_index_sets
from constructions.network import Network
from constructions.task import RetrievalTask
from headcount import console
from headcount.lattice_figure import lattice_figure
from theory.errors import InvalidInput
from theory.exact import decimal

COLOURS = {HOLDS: "green", FAILS: "red", UNDECIDED: "yellow", NOT_NEEDED: "white"}
PROOFS = ("n4", "printed", "repaired")
"""N4; the printed proof with the printed index sets of T2.2-max; the same with all positions."""
GRID, TAU = 16, 6
"""Default number of grid points and of free positions: C(16, 6) = 8008 > 89^2 for n = s = 1."""


def run_grid(
    network: Network,
    task: RetrievalTask,
    proof: str,
    eps: Fraction | None,
    tau: int,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Find the pair, show the proof's table, write the certificate; exit 0 if it was proved, 2 if no pair was found."""
    data, certificate = grid(network, task, proof, eps, tau, seed)
    if certificate is not None and out is not None:
        writer.write(out, certificate)
        data["certificate"] = str(out)
    console.emit(as_json, data, lambda: render_grid(data))
    console.finish(console.UNDECIDED if certificate is None else console.PROVED)


def grid(
    network: Network, task: RetrievalTask, proof: str = "n4", eps: Fraction | None = None, tau: int = TAU, seed: int = 0
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The proof run on the block, as plain data, and the pair's near_collision certificate (None: no pair found).

    ``proof``: one of PROOFS; ``tau`` is N4's, the printed proof has its own T_0; ``eps`` defaults to the one at which
    N4 has 16 grid points. Raises InvalidInput.
    """
    if proof not in PROOFS:
        raise InvalidInput.about("proof", proof, f"one of {', '.join(PROOFS)}", "n4")
    begin = time.perf_counter()
    if eps is None:
        rho = constants(task).rho
        if rho is None:
            raise InvalidInput.about("task", task.name, "segments with rho > 0 (N4)", "another task")
        eps = eps_for(rho, GRID)
    found: GridProof | ClaimProof | NoPair
    if proof == "n4":
        found = n4_proof(network, task, eps, tau, seed)
    else:
        choose = published_index_sets if proof == "printed" else repaired_index_sets
        found = claim_proof(network, task, eps, choose(network, task), seed)
    data: dict[str, Any] = {
        "proof": proof,
        "task": task.name,
        "eps": decimal(eps),
        "subsequences": found.subsequences,
        "cells": found.cells,
        "guaranteed": found.subsequences > found.cells,
        "looked_at": found.looked_at,
        "found": not isinstance(found, NoPair),
    }
    if isinstance(found, NoPair):
        return data, None
    pair = found.pair
    data |= _roles(pair)
    data |= {
        "gap": decimal(found.gap_lower),
        "distance": console.scientific(found.distance_upper),
        "rows": [_row(row) for row in found.rows],
        "seconds": round(time.perf_counter() - begin, 2),
    }
    return data, near_collision(network, task, pair.whole, found.gap_lower, found.distance_upper)


def _roles(pair: Pair) -> dict[str, Any]:
    roles = pair.roles
    return {
        "maximal_tokens": [{"position": t, "token": [decimal(x) for x in y]} for t, y in roles.maximal],
        "empty_basin": roles.basin + 1,
        "representatives": {str(i + 1): t for i, t in roles.representatives},
        "free_positions": list(roles.free),
        "differing_positions": pair.differing,
        "first": [[decimal(x) for x in token] for token in pair.first],
        "second": [[decimal(x) for x in token] for token in pair.second],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "id": row.id,
        "head": None if row.head is None else row.head + 1,
        "statement": row.statement,
        "left": row.left.str(6, radius=False),
        "right": row.right.str(6, radius=False),
        "verdict": row.verdict,
    }


def render_grid(data: dict[str, Any]) -> None:
    """The table for people."""
    guarantee = "so two share a cell: guaranteed" if data["guaranteed"] else "so nothing is guaranteed by the count"
    console.out.print(
        f"{data['task']}, eps = {data['eps']}: {data['subsequences']:,} subsequences, {data['cells']:,} cells, "
        f"{guarantee}; {data['looked_at']:,} looked at, {'found' if data['found'] else 'none found'}",
        markup=False,
    )
    if not data["found"]:
        return
    places = ", ".join(f"t = {entry['position']}" for entry in data["maximal_tokens"])
    console.out.print(
        f"maximal tokens at {places}; basin without one: {data['empty_basin']}; representatives "
        f"{data['representatives']}; free positions {data['free_positions']}, differing {data['differing_positions']}",
        markup=False,
    )
    view = Table(title="The proof's inequalities, left <= right, in balls", title_justify="left")
    for column in ("step", "head", "statement"):
        view.add_column(column)
    view.add_column("left", justify="right")
    view.add_column("right", justify="right")
    view.add_column("verdict")
    for row in data["rows"]:
        verdict = f"[{COLOURS[row['verdict']]}]{row['verdict']}[/]"
        head = "" if row["head"] is None else str(row["head"])
        view.add_row(row["id"], head, row["statement"].replace("[", r"\["), row["left"], row["right"], verdict)
    console.out.print(view)
    console.out.print(f"targets at least {data['gap']} apart, read-out inputs at most {data['distance']}", markup=False)


def index_set_certificates(eps: Fraction = Fraction(1, 1000)) -> dict[str, dict[str, Any]]:
    """T2.2-max as printed, refuted: certificates of the steps T2.2-Q4 and T2.2-36 that fail on `wrong_index_sets`."""
    network, task = wrong_index_sets()
    found = claim_proof(network, task, eps, published_index_sets(network, task))
    if isinstance(found, NoPair):
        raise InvalidInput.about("eps", eps, "a grid on which two subsequences share a cell", "1/1000")
    return certificates(found)


def run_lattice(
    network: Network,
    task: RetrievalTask,
    grid_bits: Sequence[int],
    seed: int,
    out: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Pairs on the grids 1/M, M = 2^bits; the last one's certificate to ``out``, all of them drawn to ``plot``."""
    pairs = [lattice_pair(network, task, bits, seed) for bits in grid_bits]
    data = lattice_data(pairs)
    certificate = pairs[-1].certificate()
    answer = verify.verify(writer.to_bytes(certificate))
    data |= {"verdict": answer.label, "detail": answer.detail}
    if out is not None:
        writer.write(out, certificate)
        data["certificate"] = str(out)
    if plot is not None:
        writer.write_bytes(plot, str(lattice_plot(data)).encode())
    console.emit(as_json, data, lambda: render_lattice(data))
    console.finish(answer.exit_code)


def lattice_data(pairs: Sequence[LatticePair]) -> dict[str, Any]:
    """Several grids for one block, as plain data."""
    published, sharpened = pairs[0].predicted_exponents
    return {
        "task": pairs[0].task.name,
        "free_positions": pairs[0].free,
        "sums": pairs[0].network.value_dim,
        "continuous_gap": pairs[-1].continuous.gap,
        "predicted": {"T2.2": float(published), "N4": float(sharpened)},
        "rows": [
            {
                "grid_bits": pair.grid.bit_length() - 1,
                "eps_digits": -_log10(pair.eps),
                "gap": float(pair.gap_lower),
                "rounded": console.scientific(pair.rounded_upper),
                "rounded_digits": -_log10(pair.rounded_upper),
                "distance": console.scientific(pair.distance_upper),
                "reached_digits": -_log10(pair.distance_upper),
                "exponent": pair.reached_exponent,
            }
            for pair in pairs
        ],
    }


def lattice_plot(data: dict[str, Any]) -> Any:
    """The SVG of `lattice_data`."""
    return lattice_figure(data["rows"], data["predicted"])


def render_lattice(data: dict[str, Any]) -> None:
    """The table for people."""
    predicted = ", ".join(f"{name} {exponent:.3g}" for name, exponent in data["predicted"].items())
    console.out.print(
        f"{data['task']}: {data['free_positions']} free positions on a segment, {data['sums']} outputs to match; the "
        f"continuous solution has gap {data['continuous_gap']:.6f}; exponents k+1 that the proofs promise: {predicted}",
        markup=False,
    )
    view = Table(title="Pairs on the grid 1/M, proved in balls", title_justify="left")
    for column in ("M", "gap at least", "nearest grid points", "after LLL and Babai", "exponent"):
        view.add_column(column, justify="right")
    for row in data["rows"]:
        gap, exponent = f"{row['gap']:.6f}", f"{row['exponent']:.3f}"
        view.add_row(f"2^{row['grid_bits']}", gap, row["rounded"], row["distance"], exponent)
    console.out.print(view)
    if "verdict" in data:
        console.out.print(f"{console.styled(data['verdict'])} ", end="")
        console.out.print(data["detail"], markup=False)


def _log10(value: Fraction) -> float:
    """A logarithm for display."""
    if value <= 0:
        return float("-inf")
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    return shift * math.log10(2) + math.log10(value / Fraction(2) ** shift)
