"""``headcount bound``: the quantified theorem, its silence where it is silent, its curves."""

from __future__ import annotations

import json
import math
import time
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from pathlib import Path

import pytest

from headcount import bound_figures, bound_view, bounds, regimes
from headcount.bounds import Question, table
from headcount.cli import main
from theory.errors import InvalidInput
from theory.finite_eps import n4_at_depth
from theory.paper_count import paper_count
from theory.too_few_heads import parameters_lower

HALF = Fraction(1, 2)
REFERENCE = Question(128, 4, 1, 8, Fraction(1, 10**6), HALF)
TWO_DECIMALS = 0.005
SECONDS_PER_FIGURE = 10.0


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["bound", *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code, capsys.readouterr().out


def test_reference_sizes() -> None:
    """Catches a figure of N6 that drifts, an eps_0 that is not one, a depth bound of the wrong depth."""
    found = table(REFERENCE)
    assert found["regime"]["name"] == "n4"
    paper = found["paper_count_forces_a_collision_below"]
    assert abs(paper["log10_eps"] + 32.15) <= TWO_DECIMALS
    eps = Fraction(paper["exact"])
    assert paper_count(eps, HALF, 8, 1, 4, 128).forces_collision
    assert not paper_count(eps * Fraction(101, 100), HALF, 8, 1, 4, 128).forces_collision
    # T2.2-end with constant 1: eps^-k/(s sqrt(n s)), k = 9/5
    assert abs(paper["parameters_log10_there"] - (1.8 * 32.1507 - math.log10(8) / 2)) < 0.02
    assert paper["parameters_log10_at_eps"] is None
    assert [entry["k_published"]["exact"] for entry in found["depth"]] == [Fraction(9, 5) / f for f in (1, 1, 2, 2, 3)]
    assert [entry["parameters_lower"] for entry in found["depth"]] == ["4906", "614", "141", "50", "51"]
    assert found["n7"]["fits_these_heads"]
    assert not table(Question(128, 4, 1, 3, HALF, HALF))["n7"]["fits_these_heads"]


def test_below_eps_0_the_published_count_speaks() -> None:
    """Catches a published count that is given where it forces nothing, or withheld where it does."""
    below = table(Question(128, 4, 1, 8, Fraction(1, 10**33), HALF))
    assert below["regime"]["name"] == "n4_and_published"
    assert below["paper_count_forces_a_collision_below"]["parameters_log10_at_eps"] > 58


@pytest.mark.parametrize("layers", [2, 3, 4, 5, 6, 9])
def test_depth_bound_is_the_least_number_whose_paths_suffice(layers: int) -> None:
    """Catches a root off by one and a missing factor E: M reaches N4's bound by its paths, M - 1 does not."""
    from theory.readout_capacity import paths_upper

    for eps in (Fraction(1, 10**6), Fraction(1, 10**12)):
        bound = parameters_lower(eps, HALF, 8, 1, 4, 128)
        least = n4_at_depth(bound, layers)
        assert paths_upper(8, least, layers) >= bound.value_lower > paths_upper(8, least - 1, layers)


@pytest.mark.parametrize(
    ("question", "cause"),
    [
        (Question(64, 2, 2, 1, Fraction(1, 10), HALF), "enough_heads"),
        (Question(16, 4, 1, 8, Fraction(1, 10), HALF), "too_short"),
        (Question(48, 4, 1, 8, Fraction(1, 10**9), HALF), "exponent_not_positive"),
        (Question(512, 17, 16, 64, Fraction(1, 10**99), HALF), "exponent_not_positive"),
        (Question(128, 4, 1, 8, Fraction(1, 100), HALF), "eps_too_large"),
    ],
)
def test_silence_is_an_answer(question: Question, cause: str) -> None:
    """Catches a bound claimed where there is none, and an error where the answer is that nothing is known."""
    found = table(question)
    assert (found["regime"]["name"], found["regime"]["cause"]) == ("vacuous", cause)
    assert float(found["n4"]["parameters_lower"]) < 1
    assert (found["k_published"] is None) == (cause == "enough_heads")
    bound_view.render(found)
    json.dumps(found, default=str)


def test_n4_never_exceeds_n7() -> None:
    """Catches a lower bound above an upper bound: N7's network (n = D, one head) is a model that N4 speaks about."""
    compared = 0
    for targets in (2, 3):
        for length in (64, 1024, 2**17):
            for power in range(1, 60, 4):
                question = Question(length, targets, 1, targets, Fraction(1, 2) ** power, HALF)
                lower = bound_figures._n4(question)
                assert lower <= bound_figures._n7(question)
                compared += lower > 0
    assert compared >= 20


def test_specialists_are_counted_as_built(tmp_path: Path) -> None:
    """Catches a formula that does not count the network: T2.1's construction for the reference task itself."""
    from checks.design import specialists
    from constructions.counting import count_parameters
    from constructions.task import load_task
    from theory.enough_heads import reference_parameters_upper
    from theory.ledger import Form

    features = "".join(f'[[features]]\nexpression = "(x0 - {2 * i + 1}/8)^2"\n' for i in range(4))
    path = tmp_path / "sum.toml"
    path.write_text(f'token_dim = 1\nouter = "z0 + z1 + z2 + z3"\n{features}')
    for eps in (Fraction(1, 10), Fraction(1, 1000)):
        built = count_parameters(specialists(load_task(str(path), 4), eps, Form.SHARPENED).network)
        knots = 3 * 4 * 3  # the builder also meets each minimiser and the middle exactly: up to 3 cells a feature more
        assert abs(built.feed_forward - reference_parameters_upper(eps, 4)) <= knots


def test_task_gives_its_own_specialists(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a count for another task: toy's features are piecewise affine, two neurons at every eps."""
    sizes = ("--seq-len", "64", "--heads", "1", "--head-dim", "1", "--json")
    for eps in ("1e-2", "1e-9"):
        code, text = command(capsys, "--task", "toy", "--eps", eps, *sizes)
        assert code == 0
        assert json.loads(text)["specialists"]["task"]["feed_forward_parameters"] == 14


@pytest.mark.parametrize(
    ("sizes", "eps"),
    [
        (("1000000", "4", "1", "8"), "1e-600"),
        (("10000000", "2", "1", "1"), "1/3"),
        (("131072", "129", "128", "128"), "1e-5000"),
    ],
)
def test_nothing_overflows(sizes: tuple[str, ...], eps: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches float overflow, integers too long to print, NaN in JSON, at sizes far beyond every model."""
    named = zip(("--seq-len", "--targets", "--heads", "--head-dim"), sizes, strict=True)
    arguments = [part for pair in named for part in pair]
    code, text = command(capsys, *arguments, "--eps", eps, "--json")
    assert code == 0
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert len(text) < 20_000
    assert command(capsys, *arguments, "--eps", eps)[0] == 0


@pytest.mark.parametrize("length", [64, 127, 4096])
def test_plot_is_an_svg_in_time(length: int, tmp_path: Path) -> None:
    """Catches a broken or empty file, a figure that needs a display, a slow one."""
    started = time.process_time()
    path = tmp_path / "bound.svg"
    bound_figures.write(path, Question(length, 4, 1, 8, Fraction(1, 1000), HALF))
    assert time.process_time() - started < SECONDS_PER_FIGURE
    root = ElementTree.fromstring(path.read_text())
    assert root.tag.endswith("svg")
    assert "N4" in path.read_text()
    assert list(tmp_path.iterdir()) == [path]


def test_curves_say_where_they_are_silent() -> None:
    """Catches a published curve above its eps_0, a falling lower bound, curves of other values than the table's."""
    published, n4, _, special = bound_figures.against_eps(REFERENCE, 40.0)
    assert published.points[0][0] == pytest.approx(32.15, abs=TWO_DECIMALS)
    assert all(y > 57 for _, y in published.points)
    assert [y for _, y in n4.points] == sorted(y for _, y in n4.points)
    assert all(
        parameters_lower(Fraction(10**6, math.floor(10 ** (x + 6))), HALF, 8, 1, 4, 128).log10_estimate
        == pytest.approx(y, abs=0.05)
        for x, y in n4.points
        if y > 3
    )
    assert special.points[0][1] < 2
    assert bound_figures.against_eps(Question(512, 17, 16, 64, HALF, HALF), 12.0)[0].silent == "silent: k ≤ 0"
    assert bound_figures.against_eps(Question(64, 2, 2, 64, HALF, HALF), 12.0)[1].silent == "silent: s ≥ D"


def test_models(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a wrong length in the regime table: BERT-Large needs T > 4292 (N6); a D below s + 1 is enough heads."""
    code, text = command(capsys, "--models", "--json")
    rows = {row["model"]: row for row in json.loads(text)["models"]}
    assert code == 0
    assert rows["BERT-Large"]["published_needs_seq_len_above"] == 4292
    assert rows["BERT-Large"]["says"] == "nothing"
    assert rows["Llama-3.1 8B"]["says"] == "N4, T2.2"
    assert all(
        (row["k_published"] > 0) == (row["context"] > row["published_needs_seq_len_above"]) for row in rows.values()
    )
    assert command(capsys, "--models")[0] == 0
    assert {row["says"] for row in regimes.table(2, HALF)["models"]} == {"s >= D"}


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--models", "--plot", "x.svg"],
        ["--models", "--targets", "0"],
        ["--seq-len", "64", "--heads", "1", "--head-dim", "1", "--eps", "0.1"],
        ["--seq-len", "64", "--targets", "2", "--heads", "1", "--head-dim", "0", "--eps", "0.1"],
        ["--seq-len", "64", "--targets", "2", "--heads", "1", "--head-dim", "1", "--eps", "0.1", "--rho", "0"],
        ["--seq-len", "64", "--targets", "2", "--heads", "3", "--head-dim", "1", "--eps", "0.1", "--support", "65"],
        ["--seq-len", "1000000", "--targets", "2", "--heads", "1", "--head-dim", "1", "--eps", "1e-5000"],
        ["--seq-len", str(10**30), "--targets", "2", "--heads", "1", "--head-dim", "1", "--eps", "0.1"],
        ["--seq-len", "64", "--targets", "2", "--heads", "1", "--head-dim", "1", "--eps", "0.1", "--plot", "/no/x.svg"],
    ],
)
def test_impossible_questions_are_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Catches an answer to a question that makes no sense, a traceback, a wrong exit code."""
    code, text = command(capsys, *arguments)
    assert (code, text) == (3, "")


def test_sizes_are_checked() -> None:
    """Catches a Question that lets an impossible size through to a theorem."""
    with pytest.raises(InvalidInput, match="support"):
        Question(64, 2, 1, 1, HALF, HALF, support=65)
    assert bounds.power_of_ten(Fraction(3)) == "1000"
