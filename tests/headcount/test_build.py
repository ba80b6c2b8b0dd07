"""``headcount build``, ``show`` and ``scaling``: every kind and form, every count, every refusal."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from checks import budgets, properties, strategies
from constructions import to_torch
from constructions.arithmetic import EXACT, FLOAT64
from constructions.evaluate import evaluate
from constructions.network import Dense, Perceptron
from constructions.network_file import load_network
from constructions.rounding import weight_rounding_upper
from constructions.task import built_in
from headcount import cli, counting_view, kinds, scaling
from theory.errors import InvalidInput
from theory.ledger import Proved

TORCH_ROUNDING = 1e-9
SLOPE_TOLERANCE = 0.05
ROUNDING_PER_SCORE, SMALLEST_SCALE = Fraction(1, 10**11), Fraction(100)
"""float64 loses a few 2^-53 of the largest numbers on the way: scores of size beta, or read-out weights below 100."""
CASES = [(name, form) for name, kind in kinds.kinds().items() for form in kind.forms if form != "published"]
CASES.append(("token_heads", "published"))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, JSON, standard error of a command run in this process."""
    with pytest.raises(SystemExit) as ended:
        cli.main([*arguments, "--json"])
    output = capsys.readouterr()
    return int(ended.value.code or 0), json.loads(output.out) if output.out else {}, output.err


@pytest.mark.parametrize(("name", "form"), CASES)
def test_every_kind_is_built_certified_written_and_read(
    name: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches a kind without a certificate, a file that is another network, a torch module that computes otherwise."""
    task, seq_len, eps = "toy", "4", "0.1"
    for suffix in (".json", ".safetensors"):
        path = tmp_path / f"net{suffix}"
        options = ["--task", task, "--seq-len", seq_len, "--eps", eps, "--form", form, "--count", "--out", str(path)]
        code, data, _ = run(capsys, "build", name, *options)
        assert (code, data["verdict"], data["kind"], data["form"]) == (0, "PROVED", name, form)
        assert float(data["certified_sup_error"]) < 0.1
        read = load_network(path)
        built = kinds.make(name, built_in(task, 4), Fraction(1, 10), form)
        tokens = np.random.default_rng(0).random((20, 4, 1))
        expected, bound = evaluate(built.network, tokens, FLOAT64), weight_rounding_upper(built.network)
        slack = TORCH_ROUNDING * (1 + float(built.network.beta)) + (bound or 0.0)
        assert np.abs(evaluate(read, tokens, FLOAT64) - expected).max() <= slack
        assert np.abs(to_torch(read)(torch.from_numpy(tokens)).detach().numpy() - expected).max() <= slack
        code, shown, _ = run(capsys, "show", str(path))
        assert code == 0
        if isinstance(read.readout, Perceptron):  # the smooth selector's is a formula, which has no parameters
            assert shown["parameters"]["feed_forward_dense"] >= shown["parameters"]["feed_forward_nonzero"] > 0


def nudged(layer: Dense) -> Dense:
    """The layer with its largest weight changed in the sixth digit."""
    weight = np.array(EXACT.asarray(layer.weight))
    place = np.unravel_index(np.argmax(np.abs(weight)), weight.shape)
    weight[place] *= 1 + Fraction(1, 10**6)
    return Dense(weight, layer.bias, layer.activation, layer.copies)


@pytest.mark.parametrize("name", [name for name in kinds.kinds() if name != "specialists"])
def test_a_weight_changed_in_the_sixth_digit_is_caught(name: str) -> None:
    """Catches a certificate that is about the parts or the design instead of the network."""
    built = kinds.make(name, built_in("toy", 4), Fraction(1, 10), None)
    assert isinstance(built.network.readout, Perceptron)
    first, *rest = built.network.readout.layers
    changed = replace(built.network, readout=Perceptron((nudged(first), *rest)))
    assert isinstance(budgets.certify(built).verdict, Proved)
    assert not isinstance(budgets.certify(replace(built, network=changed)).verdict, Proved)


def test_a_changed_specialist_has_another_budget() -> None:
    """Catches a budget of specialists that is not read from the weights."""
    built = kinds.make("specialists", built_in("quadratic(2,1)", 4), Fraction(1, 10), None)
    assert isinstance(built.network.readout, Perceptron)
    first, last = built.network.readout.layers
    changed = replace(built.network, readout=Perceptron((nudged(first), last)))
    before, after = (budgets.certify(replace(built, network=n)).bound_upper for n in (built.network, changed))
    assert before != after


def test_the_counts_add_up() -> None:
    """Catches conventions that overlap: all is feed-forward, gates and attention."""
    built = kinds.make("specialists", built_in("hard_gate", 4), Fraction(1, 10), "repaired")
    found = counting_view.counts(built.network)
    assert found["positional"] == 3  # the gate differs from position 1 at positions 2, 3 and 4
    assert found["feed_forward_with_gates"] == found["feed_forward_nonzero"] + 3
    assert found["all_nonzero"] == found["feed_forward_with_gates"] + found["attention"]
    by_hand = sum(np.count_nonzero(layer.weight) for layer in built.network.encoder.layers)  # type: ignore[union-attr]
    assert found["feed_forward_nonzero"] > by_hand


REFUSED = {
    "kind": (["palace"], "specialists, memoriser"),
    "form of the kind": (["memoriser", "--form", "sharpened"], "five, seven, deep"),
    "suffix": (["specialists", "--out", "net.pt"], ".safetensors"),
    "eps": (["specialists", "--eps", "-1"], "eps="),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_what_there_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches an unknown kind or form whose message leaves the reader guessing."""
    arguments, wanted = REFUSED[name]
    given = ["--eps", "0.1"] if "--eps" not in arguments else []
    code, _, message = run(capsys, "build", *arguments, "--task", "toy", "--seq-len", "4", *given)
    assert code == 3
    assert wanted in " ".join(message.split())


TOO_LARGE = {
    "width": ["specialists", "--task", "quadratic(2,1)", "--seq-len", "4", "--eps", "1e-5000"],
    "heads": ["selector", "--task", "toy", "--seq-len", "64", "--eps", "0.1"],
    "neurons": ["log_sum_exp", "--task", "quadratic(3,2)", "--seq-len", "16", "--eps", "1e-6"],
    "weights": ["memoriser", "--form", "five", "--task", "quadratic(3,2)", "--seq-len", "64", "--eps", "0.001"],
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_is_out_of_reach_is_refused_with_its_size(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a hang, a cap that is not mentioned, or a usage error where the answer is "too large"."""
    code, data, _ = run(capsys, "build", *TOO_LARGE[name])
    assert (code, data["verdict"]) == (2, "UNDECIDED")
    assert "predicted" in data["detail"]


@pytest.mark.parametrize("seq_len", ["2", "4"])
def test_an_eps_of_five_thousand_digits_is_an_answer(seq_len: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches integers too long to print, and branch and bound ending a build whose budget is proved."""
    code, data, _ = run(capsys, "build", "specialists", "--task", "toy", "--seq-len", seq_len, "--eps", "1e-5000")
    assert (code, data["verdict"], data["eps"]) == (0, "PROVED", "1.00e-5000")
    if seq_len == "2":
        assert data["branch_and_bound"].keys() == {"not_available"}


def test_scaling_has_the_proved_slopes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Catches counts by another convention, networks larger than proved, formulas that pass for built networks."""
    code, data, _ = run(capsys, "scaling", "--seq-len", "4", "--out", str(tmp_path / "scaling.svg"))
    assert code == 0
    series = {row["name"]: row for row in data["against_eps"]}
    for name in ("D heads", "memoriser, exact minima", "memoriser, pieces apart"):
        proved = float(Fraction(series[name]["slope_proved"]))
        assert abs(series[name]["slope_measured"] - proved) < SLOPE_TOLERANCE
    assert [float(Fraction(series[name]["slope_proved"])) for name in series if "merged" in name] == [1.5, 2.0]
    assert {point["source"] for point in series["needed by one head, n = 1"]["points"]} <= {"formula"}
    assert (tmp_path / "scaling.svg").read_text().startswith("<svg")


def test_scaling_of_a_task_without_a_lower_bound() -> None:
    """Catches N4 given for one target, where it says nothing."""
    assert scaling.lower_bound(built_in("hard_gate", 4)).points == ()


def test_the_form_defaults_to_the_first() -> None:
    """Catches a default that is not the recommended form."""
    assert kinds.named("specialists", None)[1] == "sharpened"
    with pytest.raises(InvalidInput, match="exact, smooth"):
        kinds.named("selector", "relu")


@pytest.mark.parametrize("name", kinds.kinds())
def test_all_arithmetics_agree_on_every_kind(name: str) -> None:
    """Catches an arithmetic in which some layer, activation or copy of a neuron is treated differently; and an error
    of eps or more at any of 500 hard sequences, which would contradict the certificate."""
    task, eps = built_in("toy", 4), Fraction(1, 4)
    network = kinds.make(name, task, eps, None).network
    scores = max([SMALLEST_SCALE, network.beta, *(layer.beta for layer in network.token_layers)])

    @settings(max_examples=500, deadline=None, database=None)
    @given(strategies.token_sequences(task))
    def agree(tokens: Any) -> None:
        properties.arithmetics_agree(network, tokens, ROUNDING_PER_SCORE * scores)
        properties.approximates(network, task, tokens, eps)

    agree()
