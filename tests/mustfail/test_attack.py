"""What an attacker tried: forged certificates on degenerate networks, undefined values, numbers without end."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from checks import budget, hypotheses
from checks.certificates import writer
from checks.certificates.canonical import canonical, digest
from checks.sup_error import error_on, sequences
from checks.verify import Answer, verify
from constructions.network import Component, Dense, Formula, Head, Network, Perceptron
from constructions.specialists import Knowledge, build
from constructions.task import Feature, RetrievalTask, built_in, toy
from headcount import cli
from headcount.auditing import perform
from theory.errors import InvalidInput
from theory.exact import decimal, format_exact, parse_exact
from theory.expression_parser import parse_expression
from theory.ledger import Form, NotApplicable, Refuted

Json = Any
HEAD: dict[str, Json] = {"query": [["0"]], "key": [["0"]], "value": [["1"]], "query_bias": ["0"], "value_bias": ["0"]}
BISECT = {"method": "branch_and_bound"}
POLE = ["/", "1", ["-", "z0", "1/3"]]


def network(seq_len: int = 1, encoder: Json = "x0", head: Json = None, beta: str = "1") -> Json:
    """One head, one value, the identity as read-out; the uniform mean of the tokens unless changed."""
    component = {"expression": encoder, "positions": None, "outside": "0"}
    return {
        "seq_len": seq_len,
        "token_dim": 1,
        "beta": beta,
        "encoder": {"input_dim": 1, "components": [component]},
        "class_token": ["1"],
        "heads": [head or HEAD],
        "output_weight": [["1"]],
        "output_bias": ["0"],
        "readout": {"layers": [{"weight": [["1"]], "bias": ["0"], "activation": "identity"}]},
    }


def task(outer: Json = "z0", seq_len: int = 1, feature: Json = "x0") -> Json:
    features = [{"expression": feature, "positions": list(range(1, seq_len + 1))}]
    return {"name": "toy", "token_dim": 1, "seq_len": seq_len, "features": features, "outer": outer}


def answer(kind: str, **content: Json) -> Answer:
    certificate = {"schema": 1, "kind": kind, **content}
    certificate["digest"] = digest(certificate)
    return verify(canonical(certificate) + b"\n")


def below(net: Json, target: Json, bound: str) -> Answer:
    claim = {"relation": "<", "bound": bound}
    return answer("sup_error", claim=claim, network=net, task=target, evidence=BISECT)


def at_least(net: Json, target: Json, bound: str, sequence: Json, every_beta: bool = False) -> Answer:
    claim = {"relation": ">=", "bound": bound, "every_beta": every_beta}
    evidence = {"method": "witness", "sequence": sequence}
    return answer("sup_error", claim=claim, network=net, task=target, evidence=evidence)


def collision(net: Json, target: Json, first: Json, second: Json, radius: str, gap: str) -> Answer:
    content = {"network": net, "task": target, "first": first, "second": second}
    return answer("collision", claim={"gap": gap}, free=[[1, 1, 0]], radius=radius, precision=64, **content)


def fails(left: Json, relation: str, right: Json, values: Json | None = None) -> Answer:
    claim = {"id": "T1", "form": "published"}
    return answer("counterexample", claim=claim, values=values or {}, hypotheses=[], conclusion=[left, relation, right])


def renamed(node: Json) -> Json:
    """The same expression of the token instead of the minimum."""
    return [renamed(entry) for entry in node] if isinstance(node, list) else "x0" if node == "z0" else node


UNDEFINED: dict[str, Json] = {
    "log of a negative number, to the power 0": ["^", ["log", ["-", "z0", "2"]], "0"],
    "a pole to the power 0": ["^", POLE, "0"],
    "a pole within tanh": ["tanh", POLE],
    "a pole within min": ["min", "1", POLE],
    "a pole times 0": ["*", "0", POLE],
    "a jump": ["/", ["relu", ["-", "z0", "1/3"]], ["-", "z0", "1/3"]],
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_nothing_is_proved_of_undefined_values(name: str) -> None:
    """Catches 1 as the value of undefined^0, 0 as that of 0*undefined, bounds of tanh or min where there is no value.

    The first two were proved before: the base was evaluated, found undefined, and dropped.
    """
    bad = UNDEFINED[name]
    assert below(network(), task(["*", "z0", bad]), "9").label != "PROVED"
    encoder = ["*", "x0", renamed(bad)]
    assert below(network(encoder=encoder), task(), "9").label != "PROVED"


@pytest.mark.parametrize("value", [["^", ["log", "-1"], "0"], ["^", ["/", "1", ["-", "x", "x"]], "0"], ["/", "x", "x"]])
def test_no_counterexample_from_undefined_values(value: Json) -> None:
    """Catches an undefined value that counts as 1."""
    assert fails(value, "<", "1", {"x": "0"}).label == "UNDECIDED"


def test_no_gap_between_undefined_targets() -> None:
    """Catches infinite or undefined targets that count as far apart; of the minimum a gap of 1/5 is proved."""
    pair: tuple[Json, Json] = ([["1/4"], ["3/4"]], [["1/2"], ["1/2"]])
    assert collision(network(2), task("z0", 2), *pair, "1p-40", "1/5").label == "PROVED"
    for outer in (["log", ["-", "z0", "2"]], ["/", "1", ["-", "z0", "1/4"]], ["*", "z0", ["^", ["log", "-1"], "0"]]):
        assert collision(network(2), task(outer, 2), *pair, "1p-40", "1/5").label == "UNDECIDED"
    assert collision(network(2), task("z0", 2), *pair, "1p-40", "1/4").label == "UNDECIDED"  # not over the whole box


def test_degenerate_networks() -> None:
    """Catches wrong answers at T = 1, for values that are all 0, for the largest beta, at attained bounds."""
    assert below(network(), task(), "1p-20000").label == "PROVED"  # network and target are the same function
    assert below(network(2), task("z0", 2), "1/2").label != "PROVED"  # mean - min reaches 1/2
    zero = {**HEAD, "value": [["0"]]}
    assert collision(network(1, head=zero), task(), [["1/4"]], [["3/4"]], "1p-40", "1/4").label == "UNDECIDED"
    assert collision(network(), task(), [["1/2"]], [["1/2"]], "1/4", "1/8").label == "UNDECIDED"
    steep = {**HEAD, "query": [["1"]], "key": [["1"]]}  # looks at the largest token
    assert below(network(2, head=steep, beta="1p20000"), task("z0", 2), "9/10").label != "PROVED"


def test_every_beta_is_not_read_off_one_beta() -> None:
    """Catches scores that are equal in floats only, or unequal ones hidden by a small key."""
    mean = {**HEAD, "query": [["1"]], "key": [["1"]], "query_bias": ["-1"]}
    witness = [["0"], ["1"]]
    assert at_least(network(2, head=mean), task("z0", 2), "1/2", witness, True).label == "PROVED"
    for hidden in ("1p-60", "1p-1100", "1p-20000"):
        head = {**HEAD, "query": [["1"]], "key": [[hidden]]}
        assert at_least(network(2, head=head), task("z0", 2), "1/4", witness, True).label == "UNDECIDED"


def test_the_answer_names_the_inequality() -> None:
    """Catches an answer that says that the paper's theorem fails when all that was shown is that 1 < 0 is false."""
    found = fails("1", "<", "0")
    assert found.label == "PROVED"
    assert found.detail.startswith("1 < 0 fails")
    wide = fails(["+", *["x"] * 5000], "<", "0", {"x": "1"})
    assert wide.label == "PROVED"
    assert len(wide.detail) < 500


def test_boxes_of_neighbouring_floats() -> None:
    """Catches half widths that do not reach both ends of a box whose middle is no float: bounds were half as large.

    The error is a tent of height 2^-10 just above 1 - 2^-53, steep on its left: no float inside, only the slope tells.
    """
    end = 1 - Fraction(1, 2**53)
    peak, slope = end + Fraction(1, 2**80), Fraction(2**43)
    height = (1 - peak) * slope
    left = f"{slope}*(1 - x0)"
    steep = RetrievalTask("tent", 1, 1, (Feature(parse_expression(left), (1,)),), parse_expression("z0"))
    flat = Perceptron((Dense(np.zeros((1, 1)), np.zeros(1)),))
    head = Head(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1), np.zeros(1))
    formula = Formula(1, (Component(parse_expression("x0")),))
    net = Network(1, 1, formula, np.ones(1), (head,), Fraction(1), np.ones((1, 1)), np.zeros(1), flat)
    found = error_on(net, steep, sequences(np.array([[[float(end)]]]), np.array([[[1.0]]])))
    assert float(found.radius.max()) == 2.0**-53
    assert float(found.range.magnitude[0]) >= float(height)


def test_nothing_but_files_is_replaced(tmp_path: Path) -> None:
    """Catches an atomic write that puts a file in place of a device, a pipe, a folder or a link."""
    pipe, link, real = tmp_path / "pipe", tmp_path / "link.json", tmp_path / "real.json"
    os.mkfifo(pipe)
    for special in (pipe, tmp_path, Path("/dev/full")):
        with pytest.raises(InvalidInput):
            writer.write_bytes(special, b"x")
    assert pipe.is_fifo()
    link.symlink_to(real)
    writer.write_bytes(link, b"content")
    assert link.is_symlink()
    assert real.read_bytes() == b"content"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link.json", "pipe", "real.json"]


@pytest.mark.parametrize("text", ["1" * 5000, "1" * 5000 + "/3", "1" * 4500 + "p3", "0." + "1" * 5000])
def test_numbers_without_end(text: str) -> None:
    """Catches Python's own limit on digits, which ended in a traceback."""
    with pytest.raises(InvalidInput):
        parse_exact(text)


def test_sizes_beyond_floats() -> None:
    """Catches float conversions of huge and tiny rationals: a bound shown as 0 or inf, or an OverflowError."""
    with pytest.raises(InvalidInput):
        format_exact(Fraction(10) ** 20_000)
    assert decimal(Fraction(1, 10**400)) == "1e-400"
    for eps in (Fraction(1, 10**400), Fraction(10) ** 400):
        built = build(toy(4), eps, Form.SHARPENED, Knowledge(Fraction(2)))
        assert budget.certify(built.network, toy(4), eps).verdict.detail.endswith(f"eps = {decimal(eps)}")
    for text in ("exp(1000*x0)", "1e400*(x0-1/2)^2"):
        huge = RetrievalTask("huge", 1, 2, (Feature(parse_expression(text), (1, 2)),), parse_expression("z0"))
        found = {check.id: check.verdict for check in hypotheses.check_task(huge)}
        assert isinstance(found["DEF-D.range"], Refuted)
        assert isinstance(hypotheses.applicable(hypotheses.check_task(huge), ("DEF-D.range",)), NotApplicable)


def test_sizes_of_tasks() -> None:
    """Catches memory that is taken before the size is looked at."""
    with pytest.raises(InvalidInput):
        built_in("toy", 10**14)


def test_a_closed_output_is_not_a_refutation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches exit code 1 (refuted) where nobody reads what is printed: `headcount audit | head -1`."""

    def closed(*_: object, **__: object) -> None:
        raise SystemExit(1)  # what rich does on a broken pipe

    monkeypatch.setattr(cli, "app", closed)
    with pytest.raises(SystemExit) as ended:
        cli.main([])
    assert ended.value.code == 3


def test_a_damaged_cache_is_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a traceback from a cached answer that is empty, foreign, or nested without end."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = perform(["N1"], True, quiet=True)
    damaged = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert damaged
    for content in (b"", b"\xff", b"null", b'{"verdict": [], "seconds": 0}', b"[" * 100_000):
        for path in damaged:
            path.write_bytes(content)
        assert perform(["N1"], True, quiet=True).statuses == first.statuses
