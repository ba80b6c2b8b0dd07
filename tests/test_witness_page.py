"""The table of docs/witnesses.md and the folder audit/witnesses name the same files."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROW = re.compile(r"^\| \[(\S+?) \((\w+)\)\]\(\.\./audit/witnesses/(\S+?)\.json\) \|", re.MULTILINE)


def test_one_row_for_every_witness() -> None:
    """Catches a witness without a row, a row without its witness, a row twice, a row that links to another claim."""
    page = (ROOT / "docs" / "witnesses.md").read_text(encoding="utf-8")
    rows = ROW.findall(page)
    files = sorted(path.stem for path in (ROOT / "audit" / "witnesses").glob("*.json"))
    assert files
    assert sorted(target for _, _, target in rows) == files
    assert all(f"{claim}.{form}" == target for claim, form, target in rows)
    assert page.count("\n| [") == len(rows)
