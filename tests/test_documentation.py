"""Every Python block of the documentation runs, and every local link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def blocks() -> list[tuple[str, str]]:
    return [(f"{page.name}-{n}", code) for page in PAGES for n, code in enumerate(BLOCK.findall(page.read_text()))]


@pytest.mark.parametrize(("name", "code"), blocks(), ids=lambda value: value if len(value) < 40 else "")
def test_python_blocks_run(name: str, code: str) -> None:
    """Catches documentation that no longer matches the code; the blocks carry their own assertions."""
    namespace: dict[str, object] = {"__name__": name}
    exec(compile(code, name, "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Catches a link to a file that was moved or never made."""
    targets = [target for target in LINK.findall(page.read_text()) if "://" not in target]
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing
