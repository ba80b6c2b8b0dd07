"""Plans: a TOML file that spans a grid of cells; a cell is one model with all that determines its result.

A plan holds ``about`` (a sentence), optionally ``paper`` (the table it repeats), and one or more ``[[grid]]``. Every
entry of a grid but its recipe is a factor: one value or a list of them; its cells are the product of all factors, the
plan's cells the union of its grids. Unknown keys are errors. See docs/experiments.md for the factors.
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any

from torch import Tensor

from experiments.ensemble import TRAINING_VERSION, Engine, Problem, Recipe, TorchEngine
from experiments.models import BlockConfig
from experiments.native import NativeEngine
from experiments.synthetic import (
    Sample,
    gaussian_directions,
    orthonormal_directions,
    sum_of_maxima,
    unit_directions,
)
from theory import tables
from theory.errors import InvalidInput

DATA_VERSION = 1  # raised whenever the same data configuration would give other numbers: part of every cell's key
CELL_LIMIT = 100_000
FILE_LIMIT = 1 << 20  # bytes of a plan
DRAWS: Mapping[str, Callable[[int, int, int], Tensor]] = {
    "orthonormal": orthonormal_directions,
    "unit": unit_directions,
    "gaussian": gaussian_directions,
}
"""How the a_i of E1 are drawn; the paper does not say, so it is a factor of every plan."""

ENGINES: Mapping[str, Callable[[], Engine]] = {"torch": TorchEngine, "native": NativeEngine}
"""What may train; their bits differ, so the name is part of every cell's key."""


@dataclass(frozen=True)
class DataConfig:
    """E1's data: y = sum_i max_t a_i . x(t), x(t) ~ N(0, I_d); D = num_targets directions a_i by ``draw``."""

    num_targets: int
    token_dim: int
    draw: str
    draw_seed: int = 0
    data_seed: int = 0
    train: int = 8000
    validation: int = 2000
    test: int = 2000

    def __post_init__(self) -> None:
        least = {"draw_seed": 0, "data_seed": 0, "validation": 2, "test": 2}
        numbers = {name: value for name, value in asdict(self).items() if name != "draw"}
        wrong = [
            f"{name}={value!r} is no integer >= {least.get(name, 1)}"
            for name, value in numbers.items()
            if type(value) is not int or value < least.get(name, 1)
        ]
        if self.draw not in list(DRAWS):  # a list: the entry may be anything that TOML can say
            wrong.append(f"draw={self.draw!r} is none of {', '.join(DRAWS)}")
        if wrong:
            raise InvalidInput(f"data configuration: {'; '.join(wrong)}. Try: the data of E1, D = d = 4.")

    def problem(self, seq_len: int) -> Problem:
        """Training and validation sample."""
        return Problem.of(self._sample(seq_len, self.train, "train"), self._sample(seq_len, self.validation, "valid"))

    def test_sample(self, seq_len: int) -> Sample:
        """Fresh sequences that nothing was selected on."""
        return self._sample(seq_len, self.test, "test")

    def _sample(self, seq_len: int, count: int, purpose: str) -> Sample:
        directions = DRAWS[self.draw](self.num_targets, self.token_dim, self.draw_seed)
        return sum_of_maxima(directions, seq_len, count, self.data_seed, purpose)


@dataclass(frozen=True)
class Group:
    """Cells that differ in their seeds only: they share data and train together."""

    block: BlockConfig
    data: DataConfig
    recipe: Recipe
    engine: str
    seeds: tuple[int, ...]

    def cell(self, seed: int) -> dict[str, Any]:
        """The resolved configuration of one model with the code's versions: the key of its cell in the store."""
        versions = {"training": TRAINING_VERSION, "data": DATA_VERSION}
        resolved = {"block": self.block.to_json(), "data": asdict(self.data), "recipe": self.recipe.to_json()}
        return {
            "experiment": "sum_of_maxima",
            "engine": self.engine,
            "versions": versions,
            **resolved,
            "seed": seed,
        }

    @property
    def work_estimate(self) -> float:
        """Cost of one epoch of one model, in multiplications: for the time left, nothing else."""
        block = self.block
        per_token = block.hidden * (block.token_dim + 2 * block.num_heads)
        per_sequence = block.hidden * (block.num_heads * block.hidden + 8)
        per_step = 6 * block.hidden * block.embed_dim**2 / self.recipe.batch_size
        return self.data.train * (block.seq_len * per_token + per_sequence + per_step)


@dataclass(frozen=True)
class Plan:
    """A named set of groups; ``paper`` names the printed table (`theory.tables`) that it repeats, if any."""

    name: str
    about: str
    paper: str | None
    groups: tuple[Group, ...]

    @property
    def num_cells(self) -> int:
        """Models in all."""
        return sum(len(group.seeds) for group in self.groups)


def presets() -> list[str]:
    """Names of the plans that come with the project: ``table2``, ``table2/smoke``, ...

    >>> "smoke" in presets()
    True
    """
    names = []
    for folder in resources.files("experiments").joinpath("plans").iterdir():
        for file in folder.iterdir() if folder.is_dir() else ():
            if file.name.endswith(".toml"):
                names.append(folder.name if file.name == "plan.toml" else f"{folder.name}/{file.name[:-5]}")
    return sorted(names)


def default_store(plan: Plan) -> Path:
    """Where a sweep keeps its results unless told otherwise: ``table2-smoke.sqlite`` in the working folder."""
    return Path(f"{plan.name.replace('/', '-')}.sqlite")


def load(plan: str, engine: str = "torch") -> Plan:
    """A preset by its name, or a file by its path (ends in .toml), to be trained by an engine of `ENGINES`.

    Raises:
        InvalidInput: unknown preset, no TOML, unknown keys, values out of range, no or too many cells.
    """
    if plan.endswith(".toml"):
        path = Path(plan)
        if path.stat().st_size > FILE_LIMIT:
            raise InvalidInput.about("bytes of a plan", path.stat().st_size, f"<= {FILE_LIMIT}", "a shorter plan")
        return parse(path.stem, path.read_bytes(), engine)
    if plan not in presets():
        raise InvalidInput.about("plan", plan, f"a path ending in .toml or one of {', '.join(presets())}", "smoke")
    folder, _, variant = plan.partition("/")
    file = resources.files("experiments").joinpath("plans", folder, f"{variant or 'plan'}.toml")
    return parse(plan, file.read_bytes(), engine)


def parse(name: str, content: bytes, engine: str = "torch") -> Plan:
    """A plan from the bytes of its TOML file."""
    if engine not in ENGINES:
        raise InvalidInput.about("engine", engine, f"one of {', '.join(ENGINES)}", "leaving it out: the fastest here")
    try:
        raw = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(f"plan {name!r} is no TOML file: {error}. Try: headcount sweep smoke.") from error
    _refuse_unknown(f"plan {name!r}", raw, {"about", "paper", "grid"})
    about, paper, grids = raw.get("about", ""), raw.get("paper"), raw.get("grid")
    if not isinstance(about, str):
        raise InvalidInput.about("about", about, "a text", "one sentence")
    if not isinstance(grids, list) or not grids or not all(isinstance(grid, dict) for grid in grids):
        raise InvalidInput(f"plan {name!r}: required: at least one [[grid]]. Try: the grid of a preset.")
    if paper is not None:
        tables.published(paper)  # raises if there is no such table
    cells: dict[tuple[BlockConfig, DataConfig, Recipe], list[int]] = {}
    for grid in grids:
        for block, data, recipe, seed in _cells(grid):
            seeds = cells.setdefault((block, data, recipe), [])
            if seed not in seeds:
                seeds.append(seed)
    return Plan(name, about, paper, tuple(Group(*shared, engine, tuple(seeds)) for shared, seeds in cells.items()))


BLOCK_FACTORS = ("seq_len", "num_heads", "head_dim", "total_width", "hidden")
DATA_FACTORS = tuple(field.name for field in fields(DataConfig))


def _cells(grid: Mapping[str, Any]) -> Iterator[tuple[BlockConfig, DataConfig, Recipe, int]]:
    """The product of a grid's factors; later factors vary faster."""
    _refuse_unknown("grid", grid, {"task", "recipe", "seed", *DATA_FACTORS, *BLOCK_FACTORS})
    if grid.get("task") != "sum_of_maxima":
        raise InvalidInput.about("task", grid.get("task"), "sum_of_maxima", 'task = "sum_of_maxima"')
    if ("head_dim" in grid) == ("total_width" in grid):
        raise InvalidInput("grid: required: either head_dim (n) or total_width (n = ceil(E/h)). Try: head_dim = 8.")
    missing = {"num_targets", "token_dim", "draw", "seq_len", "num_heads", "hidden", "seed"} - set(grid)
    if missing:
        raise InvalidInput(f"grid: {', '.join(sorted(missing))} missing. Try: the grid of a preset.")
    recipe_table = grid.get("recipe", {})
    if not isinstance(recipe_table, dict):
        raise InvalidInput.about("recipe", recipe_table, "a table", "recipe = { epochs = 200 }")
    _refuse_unknown("recipe", recipe_table, {field.name for field in fields(Recipe)})
    recipe = Recipe(**recipe_table)
    names = [name for name in (*DATA_FACTORS, *BLOCK_FACTORS, "seed") if name in grid]
    factors = [_values(name, grid[name]) for name in names]
    if math.prod(map(len, factors)) > CELL_LIMIT:
        raise InvalidInput.about("cells", math.prod(map(len, factors)), f"<= {CELL_LIMIT}", "several plans")
    for values in itertools.product(*factors):
        point = dict(zip(names, values, strict=True))
        seed = point.pop("seed")
        if type(seed) is not int or seed < 0:
            raise InvalidInput.about("seed", seed, "an integer >= 0", "seed = [0, 1]")
        data = DataConfig(**{name: point.pop(name) for name in DATA_FACTORS if name in point})
        if "total_width" in point:
            point["head_dim"] = _head_dim(point.pop("total_width"), point["num_heads"])
        yield BlockConfig(token_dim=data.token_dim, **point), data, recipe, seed


def _head_dim(total_width: Any, num_heads: Any) -> int:
    """E2: n = ceil(E/h), so that E = 32 becomes 32, 32, 33, 32, 35 for h = 1..5."""
    if type(total_width) is not int or type(num_heads) is not int or min(total_width, num_heads) < 1:
        raise InvalidInput.about("(total_width, num_heads)", (total_width, num_heads), "integers >= 1", "(32, 4)")
    return -(-total_width // num_heads)


def _values(name: str, entry: Any) -> list[Any]:
    values = entry if isinstance(entry, list) else [entry]
    if not values or len({(type(value), str(value)) for value in values}) < len(values):
        raise InvalidInput.about(name, entry, "one value or a list without repetition", "listing each value once")
    return values


def _refuse_unknown(where: str, table: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(set(table) - known):
        raise InvalidInput(f"{where}: unknown key {', '.join(unknown)}. Try: {', '.join(sorted(known))}.")
