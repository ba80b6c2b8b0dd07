"""Tasks: well-formed ones evaluate like the definition, ill-formed ones give one clear message."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import strategies
from checks.hypotheses import applicable, check_task
from constructions.arithmetic import EXACT, FLOAT64, fractions
from constructions.evaluate import target
from constructions.task import (
    LAYOUTS,
    MAX_FILE_BYTES,
    Feature,
    RetrievalTask,
    built_in,
    everywhere,
    hard_gate,
    load_task,
    order_statistics,
    quadratic,
    sign_directions,
    synthetic,
    task_from_json,
    task_from_table,
    task_to_json,
    toy,
)
from theory.errors import HeadcountError, InvalidInput
from theory.expression_parser import parse_expression as parse
from theory.expressions import RATIONAL, evaluate
from theory.ledger import NotApplicable

FEW = settings(max_examples=40, deadline=None, derandomize=True, database=None)
GOOD = """
format = 1
name = "two bowls"
token_dim = 2
outer = "z0 + z1/2"
[[features]]
expression = "((x0 - 1/4)^2 + (x1 - 1/2)^2)/2"
[[features]]
expression = "((x0 - 3/4)^2 + (x1 - 1/2)^2)/2"
positions = [4, 1, 2]
"""


def write(folder: Path, text: str) -> str:
    path = folder / "task.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_toml_task_is_read(tmp_path: Path) -> None:
    """Catches positions that are not sorted, "all" not being the default, and decimals that are not exact."""
    task = load_task(write(tmp_path, GOOD), 8)
    assert (task.token_dim, task.seq_len, task.num_targets) == (2, 8, 2)
    assert task.features[0].positions == everywhere(8)
    assert task.features[1].positions == (1, 2, 4)
    assert task.smallest_support == 3
    exact = load_task(write(tmp_path, GOOD.replace("1/4", "0.1")), 8)
    assert evaluate(exact.features[0].expression, {"x0": Fraction(1, 10), "x1": Fraction(1, 2)}, RATIONAL) == 0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (("positions = [4, 1, 2]", "positions = []"), "S_i not empty"),
        (("positions = [4, 1, 2]", "positions = [4, 9]"), "9"),
        (("positions = [4, 1, 2]", "positions = [0, 1]"), "1 <= t <= T=8"),
        (("positions = [4, 1, 2]", "positions = [1, 1]"), "distinct"),
        (("positions = [4, 1, 2]", "positions = [1.5]"), "integers"),
        (("positions = [4, 1, 2]", "positions = [true]"), "integers"),
        (("positions = [4, 1, 2]", 'positions = "some"'), "integers"),
        (("z1/2", "nan"), "nan"),
        (("z1/2", "1e999999"), "number"),
        (("z1/2", "1/0*z1"), None),
        (("z1/2", "sin(z1)"), "sin"),
        (("z1/2", "z7"), "z7"),
        (("(x0 - 3/4)", "(x5 - 3/4)"), "x5"),
        (("format = 1", "format = 2"), "format"),
        (("format = 1", "format = 1\ncolour = 3"), "colour"),
        (("positions = [4, 1, 2]", "weights = [1]"), "weights"),
        (("token_dim = 2", "token_dim = 0"), "token_dim"),
        (("token_dim = 2", 'token_dim = "2"'), "token_dim"),
        (("token_dim = 2", "token_dim = true"), "token_dim"),
        (('outer = "z0 + z1/2"', "outer = 3"), "outer"),
        (('outer = "z0 + z1/2"', ""), "outer"),
        (("token_dim = 2", "token_dim = 2\nseq_len = 9"), "seq_len"),
        (("[[features]]", "[[feature]]"), "feature"),
        (("[[features]]", "[[features]"), "TOML"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_files_give_one_clear_message(tmp_path: Path, change: tuple[str, str], named: str | None) -> None:
    """Catches each bad input of the project's acceptance list passing, or ending in a traceback of another kind."""
    source = write(tmp_path, GOOD.replace(*change))
    if named is None:  # a division by zero is only seen when the hypotheses are checked, and then named
        with pytest.raises(HeadcountError, match="divisor"):
            evaluate(load_task(source, 8).outer, {"z0": Fraction(0), "z1": Fraction(0)}, RATIONAL)
        return
    with pytest.raises(InvalidInput) as caught:
        load_task(source, 8)
    assert named in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_unreadable_files(tmp_path: Path) -> None:
    """Catches tracebacks for a missing file, a folder, a huge file, bytes that are no text, and deep nesting."""
    with pytest.raises(InvalidInput, match="TOML"):
        load_task(str(tmp_path / "missing.toml"), 8)
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(InvalidInput, match="TOML"):
        load_task(str(tmp_path / "folder.toml"), 8)
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    with pytest.raises(InvalidInput, match="size"):
        load_task(str(large), 8)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="TOML"):
        load_task(str(binary), 8)
    with pytest.raises(InvalidInput):
        load_task(write(tmp_path, "a = " + "[" * 5000), 8)


def test_coinciding_minimisers_are_not_applicable_and_named(tmp_path: Path) -> None:
    """Catches a task whose minimisers coincide reaching a statement that needs A2.2."""
    task = load_task(write(tmp_path, GOOD.replace("3/4", "1/4")), 8)
    answer = applicable(check_task(task), ("A2.2",))
    assert isinstance(answer, NotApplicable)
    assert answer.exit_code == 2
    assert "features 0 and 1" in answer.detail
    assert "(1/4, 1/2)" in answer.detail


@pytest.mark.parametrize(
    "name",
    ["toy", "quadratic(3,2)", "quadratic(3, 2, even)", "synthetic(4)", "synthetic(1)", "synthetic(80)",
     "order_statistics(2)"],
)  # fmt: skip
def test_built_ins_by_name(name: str) -> None:
    """Catches a name that makes another task."""
    assert built_in(name, 12).name.startswith(name.split("(")[0])
    assert built_in(name, 12).seq_len == 12


@pytest.mark.parametrize(
    "name",
    ["", "toys", "toy(1)", "quadratic", "quadratic(2)", "quadratic(0,1)", "quadratic(a,b)", "quadratic(2,1,odd)",
     "synthetic(81)", "synthetic(4,full)", "order_statistics(0)", "order_statistics(6)"],
)  # fmt: skip
def test_unknown_built_ins(name: str) -> None:
    """Catches a misspelt name that is guessed at, a size outside the limits, and C(12, 6) = 924 features."""
    with pytest.raises(InvalidInput, match=r"task|layout|synthetic|C\(T, m\)"):
        built_in(name, 12)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("count", "length"), [(1, 4), (3, 7), (4, 16), (9, 32)])
def test_layouts(layout: str, count: int, length: int) -> None:
    """Catches index sets that leave [T], overlap where they must not, or break DEF-D's support where it can hold."""
    task = quadratic(count, 2, length, layout)
    sets = [set(feature.positions) for feature in task.features]
    assert set().union(*sets) <= set(range(1, length + 1))
    if layout == "disjoint":
        assert sum(map(len, sets)) == len(set().union(*sets)) == count * (length // count)
    else:
        assert 4 * task.smallest_support >= length
    if layout == "intervals":
        assert all(max(s) - min(s) + 1 == len(s) for s in sets)
        assert count == 1 or set().union(*sets) == set(range(1, length + 1))
        assert len(set(map(min, sets))) == min(count, length - (length + 1) // 2 + 1)
    if layout == "even":
        assert all(t % 2 == 0 for t in sets[0])
    with pytest.raises(InvalidInput, match="seq_len"):
        quadratic(5, 1, 1, "disjoint")


def test_directions_are_distinct_and_start_with_the_axes() -> None:
    """Catches a direction that is zero or occurs twice, and a change of what synthetic(4) means."""
    found = sign_directions(4)
    assert len(set(found)) == len(found) == 3**4 - 1
    assert found[:4] == [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]
    lines = {max(a, tuple(-e for e in a)) for a in found[:40]}
    assert len(lines) == 40


@FEW
@given(st.lists(st.integers(0, 20), min_size=5, max_size=5), st.integers(1, 5))
def test_order_statistics_are_entries_in_order(values: list[int], rank: int) -> None:
    """Catches L2's primitive with the wrong subsets: the m-th greatest entry, ties included."""
    tokens = fractions([[Fraction(value, 20)] for value in values])
    assert target(order_statistics(5, rank), tokens, EXACT) == sorted(tokens[:, 0], reverse=True)[rank - 1]


def test_order_statistics_lie_in_the_relaxed_class_only() -> None:
    """Catches the library claiming A2 for a task whose minimisers coincide."""
    labels = {check.id: check.verdict.label for check in check_task(order_statistics(4, 1))}
    assert labels["A2.2"] == labels["A2.3"] == "REFUTED"
    assert labels["DEF-D.smooth"] == "UNDECIDED"
    assert labels["DEF-D.range"] == labels["DEF-D.support"] == "PROVED"


def test_hard_gate_has_its_own_length() -> None:
    """Catches hard_gate being stretched: its index set is what makes it hard."""
    assert hard_gate().features[0].positions == (1,)
    with pytest.raises(InvalidInput, match="T = 4"):
        built_in("hard_gate", 8)


def test_sizes_are_limited() -> None:
    """Catches memory exhaustion by a task that asks for a hundred million positions."""
    for change in ({"seq_len": 10**8}, {"token_dim": 10**5}, {"seq_len": 0}, {"features": ()}):
        good: dict[str, Any] = {
            "name": "x", "token_dim": 1, "seq_len": 4,
            "features": (Feature(parse("x0"), (1,)),), "outer": parse("z0"),
        }  # fmt: skip
        with pytest.raises(InvalidInput):
            RetrievalTask(**{**good, **change})


@FEW
@given(strategies.tasks())
def test_json_round_trip(task: Any) -> None:
    """Catches a certificate that does not hold the same task."""
    assert task_from_json(json.loads(json.dumps(task_to_json(task)))) == task


@pytest.mark.parametrize("key", ["name", "token_dim", "seq_len", "features", "outer"])
def test_json_with_a_missing_key(key: str) -> None:
    """Catches a KeyError that escapes."""
    data = task_to_json(toy(4))
    del data[key]
    with pytest.raises(InvalidInput, match=key):
        task_from_json(data)


def test_json_file_is_the_same_format(tmp_path: Path) -> None:
    """Catches a second dialect: the table of the TOML file as JSON, and what `task_to_json` writes, are both read."""
    wanted = load_task(write(tmp_path, GOOD), 8)
    path = tmp_path / "task.json"
    path.write_text(json.dumps(tomllib.loads(GOOD)))
    assert load_task(str(path), 8) == wanted
    path.write_text(json.dumps(task_to_json(wanted)))
    assert load_task(str(path), 8) == wanted


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "JSON"),
        ("[]", "table"),
        ('{"format": 2}', "format"),
        ('{"format": true}', "format"),
        ('{"features": NaN}', "features"),
        ('{"features": [{"expression": ["sin", "x0"]}], "outer": "z0"}', "sin"),
        ('{"features": [{"expression": ["^", "x0", "1/2"]}], "outer": "z0"}', "exponent"),
        ('{"features": [{"expression": "x0"}], "outer": []}', "expression"),
        ('{"features": [{"expression": "x0", "positions": [true]}], "outer": "z0"}', "integers"),
        ("[" * 100_000, "JSON"),
    ],
)
def test_bad_json_files_give_one_clear_message(tmp_path: Path, text: str, named: str) -> None:
    """Catches a traceback, or a task guessed from a broken file."""
    path = tmp_path / "task.json"
    path.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        load_task(str(path), 8)
    assert named in str(caught.value)


def test_table_with_wrong_types() -> None:
    """Catches attribute errors on tables of the wrong shape."""
    for features in (None, "x0", [1], [["x0"]], {"expression": "x0"}):
        with pytest.raises(InvalidInput):
            task_from_table({"token_dim": 1, "outer": "z0", "features": features}, 4)


@FEW
@given(st.data())
def test_target_is_the_definition(data: Any) -> None:
    """Catches a wrong index set, or a minimum over the wrong axis: against DEF-D written out."""
    task = data.draw(strategies.tasks())
    tokens = data.draw(strategies.token_sequences(task))
    minima = {}
    for index, feature in enumerate(task.features):
        values = [
            evaluate(feature.expression, {f"x{a}": tokens[t - 1, a] for a in range(task.token_dim)}, RATIONAL)
            for t in feature.positions
        ]
        minima[f"z{index}"] = min(values)
    truth = evaluate(task.outer, minima, RATIONAL)
    assert target(task, tokens, EXACT) == truth
    batch = np.stack([tokens.astype(np.float64)] * 3)
    assert np.allclose(target(task, batch, FLOAT64), float(truth), atol=1e-12)


def test_toy_and_synthetic_mean_what_they_say() -> None:
    """Catches a sign or scale lost when maxima are turned into minima of features in [0, 1]."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(7, 5, 1))
    assert np.allclose(target(toy(5), x, FLOAT64), x.max(axis=(1, 2)) + x.min(axis=(1, 2)))
    directions = ((1, -2, 0), (Fraction(1, 2), 1, 3))
    y = rng.uniform(size=(7, 5, 3))
    sums = sum((y @ np.array([float(entry) for entry in a])).max(axis=1) for a in directions)
    assert np.allclose(target(synthetic(5, directions), y, FLOAT64), sums)


def test_quadratic_minimisers_are_distinct_and_inside() -> None:
    """Catches coinciding or boundary minimisers in the built-in family, for which A2 is promised."""
    for count, dimension in ((12, 1), (12, 3), (40, 2)):
        task = quadratic(count, dimension, 4)
        found = {check.id: check.verdict.label for check in check_task(task)}
        assert set(found.values()) == {"PROVED"}
