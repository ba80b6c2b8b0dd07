"""Random damage at scale: 10,000 changed characters and 1,000 changed structures; no changed file is accepted."""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from checks.certificates import writer
from checks.certificates.canonical import canonical, digest
from checks.verify import verify

Certificate = dict[str, Any]
Path = tuple[str | int, ...]
CHARACTERS, STRUCTURES = 10_000, 1_000
MOST_SECONDS = 5.0
ALPHABET = b' \n\t0123456789"{}[],:-/abcdefp\\\x00\xff'


def test_changed_characters(true_certificates: dict[str, Certificate]) -> None:
    """Catches any slack in the file: a character replaced, removed or inserted, the digest left as it was."""
    rng = random.Random(11)
    files = [writer.to_bytes(certificate) for certificate in true_certificates.values()]
    tried = 0
    while tried < CHARACTERS:
        data = rng.choice(files)
        place, new = rng.randrange(len(data) + 1), bytes([rng.choice(ALPHABET)])
        changed = data[:place] + new * rng.randrange(2) + data[place + rng.randrange(2) :]
        if changed != data:
            assert verify(changed).exit_code == 2
            tried += 1


def nodes(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every node below the top, with its path."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in entries:
        yield (*path, key), child
        yield from nodes(child, (*path, key))


def parent(certificate: Certificate, path: Path) -> Any:
    node: Any = certificate
    for step in path[:-1]:
        node = node[step]
    return node


def swap(certificate: Certificate, path: Path, rng: random.Random) -> None:
    siblings = parent(certificate, path)
    other = rng.choice(list(siblings if isinstance(siblings, dict) else range(len(siblings))))
    siblings[path[-1]], siblings[other] = siblings[other], siblings[path[-1]]


def drop(certificate: Certificate, path: Path, rng: random.Random) -> None:
    del parent(certificate, path)[path[-1]]


def double(certificate: Certificate, path: Path, rng: random.Random) -> None:
    siblings = parent(certificate, path)
    if isinstance(siblings, list):
        siblings.insert(rng.randrange(len(siblings) + 1), copy.deepcopy(siblings[path[-1]]))
    else:
        siblings[f"{path[-1]}2"] = copy.deepcopy(siblings[path[-1]])


def graft(certificate: Certificate, path: Path, rng: random.Random) -> None:
    parent(certificate, path)[path[-1]] = copy.deepcopy(rng.choice(list(nodes(certificate)))[1])


def nest(certificate: Certificate, path: Path, rng: random.Random) -> None:
    parent(certificate, path)[path[-1]] = [parent(certificate, path)[path[-1]]]


def distort(certificate: Certificate, path: Path, rng: random.Random) -> None:
    parent(certificate, path)[path[-1]] = rng.choice(
        ["nan", "1p19999", "-1p-19999", "0", "1/3", "9" * 1200, 10**9, None]
    )


OPERATIONS: tuple[Callable[[Certificate, Path, random.Random], None], ...] = (swap, drop, double, graft, nest, distort)
HARMLESS = {
    "name": "of a task, any printable word",
    "readout": "a collision speaks about every read-out",
    "output_weight": "equal head outputs stay equal behind any W_O",
    "output_bias": "the same",
    "value_bias": "cancels in differences",
    "value": "values may be permuted or dropped: the claim is about all of them, and stays true",
    "precision": "only where the checker starts",
    "radius": "a zero in a small box lies in a larger one",
    "claim": "a smaller gap is claimed with right",
    "digest": "written anew",
}
"""Keys below which a change may leave a true claim (about another block), and why."""
ACTIVATIONS_BIAS: Path = ("network", "encoder", "layers", 1, "bias")
"""A shift of all encoded tokens cancels."""


def test_changed_structures(examples: SimpleNamespace) -> None:
    """Catches a traceback, a slow answer or an acceptance when parts are swapped, dropped, doubled, moved or distorted.

    The digest fits. Block and sequences know their positions, so that no permutation leaves the claim true.
    """
    certificate = examples.collision(examples.random_block(8, [2], 8, "tanh", 3, beta=2, positional=True))
    certificate["task"]["features"][0]["positions"] = [t for t in range(1, 9) if t != 3]
    rng, tried = random.Random(5), 0
    paths = [path for path, _ in nodes(certificate) if not set(path) & HARMLESS.keys()]
    paths = [path for path in paths if path[: len(ACTIVATIONS_BIAS)] != ACTIVATIONS_BIAS]
    assert len(paths) > 200
    while tried < STRUCTURES:
        changed = copy.deepcopy(certificate)
        rng.choice(OPERATIONS)(changed, rng.choice(paths), rng)
        changed["digest"] = digest(changed)
        if changed == certificate or close(changed, certificate):
            continue
        start = time.perf_counter()
        answer = verify(canonical(changed) + b"\n")
        assert time.perf_counter() - start < MOST_SECONDS
        assert answer.exit_code in (1, 2), answer
        assert answer.detail
        tried += 1


def close(changed: Certificate, certificate: Certificate) -> bool:
    """Whether only the task's index sets or the order of the free coordinates changed: the claim may stay true."""
    return {**changed, "task": 0, "free": 0, "digest": 0} == {**certificate, "task": 0, "free": 0, "digest": 0}


@pytest.mark.parametrize("bits", [1, 3, 40])
def test_claims_a_little_too_large(true_certificates: dict[str, Certificate], bits: int) -> None:
    """Catches a gap that is rounded in favour of the claim, kind by kind."""
    for kind in ("collision", "two layers", "near collision"):
        changed = copy.deepcopy(true_certificates[kind])
        facts = verify(writer.to_bytes(changed)).facts
        middle = Fraction(facts["gap"].strip("[]").split(" ")[0])
        changed["claim"]["gap"] = str(middle * (1 + Fraction(1, 2**bits)) + Fraction(1, 10**11))
        changed["digest"] = digest(changed)
        assert verify(canonical(changed) + b"\n").exit_code in (1, 2)
