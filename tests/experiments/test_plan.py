"""Plans: what they span, and one clear message for each way to get one wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments import plan as plans
from experiments.store import cell_key
from theory.errors import InvalidInput

GRID = {
    "task": '"sum_of_maxima"',
    "num_targets": "4",
    "token_dim": "4",
    "draw": '["orthonormal", "unit"]',
    "seq_len": "[8, 16]",
    "num_heads": "[1, 3, 5]",
    "total_width": "32",
    "hidden": "32",
    "seed": "[0, 1]",
    "recipe": "{ epochs = 3 }",
}


def toml(head: str = "", **changed: str | None) -> bytes:
    grid = GRID | changed
    lines = [f"{key} = {value}" for key, value in grid.items() if value is not None]
    return "\n".join([head, "[[grid]]", *lines]).encode()


def test_a_grid_is_the_product_of_its_factors() -> None:
    """Catches a factor that is lost, seeds that do not train together, E2's widths other than 32, 33, 35."""
    plan = plans.parse("p", toml())
    assert (plan.num_cells, len(plan.groups)) == (24, 12)
    assert all(group.seeds == (0, 1) and group.recipe.epochs == 3 for group in plan.groups)
    widths = {group.block.num_heads: group.block.embed_dim for group in plan.groups}
    assert widths == {1: 32, 3: 33, 5: 35}
    keys = {cell_key(group.cell(seed)) for group in plan.groups for seed in group.seeds}
    assert len(keys) == 24


def test_grids_that_overlap_share_cells() -> None:
    """Catches a model that is trained twice because two grids name it."""
    plan = plans.parse("p", toml() + b"\n" + toml(seed="[1, 2]"))
    assert plan.num_cells == 36
    assert all(group.seeds == (0, 1, 2) for group in plan.groups)


def test_every_setting_is_in_the_key() -> None:
    """Catches two configurations with one cell: whichever is trained first would answer for both."""
    changes = {
        "num_targets": "3",
        "token_dim": "5",
        "draw": '"gaussian"',
        "draw_seed": "1",
        "data_seed": "1",
        "train": "100",
        "validation": "100",
        "test": "100",
        "seq_len": "9",
        "num_heads": "2",
        "total_width": "64",
        "hidden": "36",
        "seed": "7",
        "recipe": "{ epochs = 3, beta2 = 0.99 }",
    }
    single = {"draw": '"unit"', "seq_len": "8", "num_heads": "1", "seed": "0"}

    def key(**changed: str) -> str:
        (group,) = plans.parse("p", toml(**(single | changed))).groups
        return cell_key(group.cell(group.seeds[0]))

    keys = {name: key(**{name: value}) for name, value in changes.items()}
    assert len({key(), *keys.values()}) == len(changes) + 1


WRONG: dict[str, tuple[bytes, str]] = {
    "no TOML": (b"= 1", "no TOML"),
    "no text": (b"\xff", "no TOML"),
    "no grid": (b"about = 'x'", "at least one"),
    "grid of numbers": (b"grid = [1]", "at least one"),
    "unknown key": (toml("abuot = 'x'"), "unknown key abuot"),
    "unknown factor": (toml(heads="[1]"), "unknown key heads"),
    "unknown in recipe": (toml(recipe="{ lr = 1e-3 }"), "unknown key lr"),
    "recipe no table": (toml(recipe="3"), "a table"),
    "bad recipe": (toml(recipe="{ epochs = 0 }"), "epochs=0"),
    "other task": (toml(task='"cifar"'), "sum_of_maxima"),
    "draw": (toml(draw='"uniform"'), "none of orthonormal"),
    "draw of another type": (toml(draw="[[]]"), "none of orthonormal"),
    "repeated": (toml(seed="[1, 1]"), "without repetition"),
    "empty": (toml(seed="[]"), "one value or a list"),
    "both widths": (toml(head_dim="8"), "either head_dim"),
    "no width": (toml(total_width=None), "either head_dim"),
    "missing": (toml(seed=None, hidden=None), "hidden, seed missing"),
    "text for a number": (toml(seq_len='"8"'), "seq_len='8'"),
    "boolean": (toml(num_heads="true"), "integers >= 1"),
    "negative seed": (toml(seed="-1"), "an integer >= 0"),
    "fraction of a token": (toml(num_targets="1.5"), "num_targets=1.5"),
    "huge": (toml(seed=str(list(range(9000)))), "<= 100000"),
    "no such table": (toml("paper = 'table99'"), "table99"),
    "about no text": (toml("about = 3"), "a text"),
}


@pytest.mark.parametrize("kind", list(WRONG))
def test_wrong_plans_are_named(kind: str) -> None:
    """Catches a plan that is silently read as another one, or a traceback."""
    content, message = WRONG[kind]
    with pytest.raises(InvalidInput, match=message) as caught:
        plans.parse("p", content)
    assert "Try:" in str(caught.value)


def test_files_and_presets(tmp_path: Path) -> None:
    """Catches a preset that cannot be loaded or has no smoke, and a file that is read beyond its limit."""
    for name in plans.presets():
        plan = plans.load(name)
        assert plan.about
        assert plan.num_cells >= 1
        assert "/" in name or name == "smoke" or f"{name}/smoke" in plans.presets()
    path = tmp_path / "own.toml"
    path.write_bytes(toml())
    assert plans.load(str(path)).num_cells == 24
    path.write_bytes(b"#" * (plans.FILE_LIMIT + 1))
    with pytest.raises(InvalidInput, match="shorter plan"):
        plans.load(str(path))
    with pytest.raises(InvalidInput, match="smoke"):
        plans.load("tabel2")
