"""The page on tasks: its files are read, and both notations give one task."""

from __future__ import annotations

import re
from pathlib import Path

from constructions.task import load_task

PAGE = Path(__file__).parents[2] / "docs" / "tasks.md"


def test_the_two_files_of_the_page_are_the_same_task(tmp_path: Path) -> None:
    """Catches an example that is not read any more, or that differs between the notations."""
    found = []
    for notation in ("toml", "json"):
        (text,) = re.findall(rf"```{notation}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        path = tmp_path / f"task.{notation}"
        path.write_text(text, encoding="utf-8")
        found.append(load_task(str(path), 8))
    assert found[0] == found[1]
    assert found[0].features[1].positions == (1, 2, 4)
