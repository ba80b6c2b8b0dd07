"""What is generated from the ledger and kept in the repository must be what the ledger says today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checks.audit import Audit
from checks.certificates import writer
from checks.verify import verify_file
from headcount import ledger_pages, summary
from headcount.auditing import certificates, perform
from theory.ledger import Refuted, Undecided

ROOT = Path(__file__).parent.parent.parent
WITNESSES = ROOT / "audit" / "witnesses"
SHARED = ROOT.parent / "shared" / "paper"


@pytest.fixture(scope="module")
def outcome() -> Audit:
    return perform([], use_cache=True, quiet=True)


def test_the_readme_table_is_current(outcome: Audit) -> None:
    """Catches a status typed by hand or gone stale; remedy: headcount audit --readme README.md."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    between = text.partition(summary.BEGIN)[2].partition(summary.END)[0].strip()
    assert between == summary.table(outcome)


def test_the_witnesses_are_current(outcome: Audit) -> None:
    """Catches a refutation without its file or a file without its refutation; remedy: audit --witnesses."""
    expected = {name: writer.to_bytes(content) for name, content in certificates(outcome).items()}
    found = {path.name: path.read_bytes() for path in WITNESSES.iterdir()}
    assert found == expected
    assert len(found) >= sum(isinstance(status.verdict, Refuted) for status in outcome.statuses.values())


@pytest.mark.parametrize("path", sorted(WITNESSES.iterdir()), ids=lambda path: path.name)
def test_every_witness_is_accepted(path: Path) -> None:
    """Catches a refutation that the independent checker does not confirm."""
    assert verify_file(str(path)).label == "PROVED"


def test_undecided_statements_say_why(outcome: Audit) -> None:
    """Catches an open statement without a written reason and remedy."""
    for status in outcome.statuses.values():
        if isinstance(status.verdict, Undecided):
            assert len(status.verdict.reason) > 40
            assert status.verdict.remedy


def test_the_pages_are_linked(outcome: Audit, tmp_path: Path) -> None:
    """Catches a claim without a page, a dead link, a script, or anything from outside in the ledger's pages."""
    ledger_pages.write(tmp_path, outcome)
    pages = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert len(pages) == len(outcome.claims) + 4
    for name, text in pages.items():
        assert "<script" not in text
        assert not re.search(r'(?:src|href)="(?:https?:)?//', text)
        for link in re.findall(r'href="([^"#]+)"', text):
            assert link in pages, f"{name} links to {link}"


@pytest.mark.skipif(not SHARED.exists(), reason="the paper's list of claims is not beside this checkout")
def test_every_claim_of_the_paper_is_registered(outcome: Audit) -> None:
    """Catches an id of the claims or results files that the ledger forgot."""
    claims = re.findall(r"^\s*- \*\*([A-Z][\w.\-]*)\*\*", (SHARED / "claims.md").read_text(encoding="utf-8"), re.M)
    results = re.findall(r"^\*\*(N\d+)", (SHARED / "results.md").read_text(encoding="utf-8"), re.M)
    assert len(claims) > 80
    assert len(results) == 13
    assert set(claims) | set(results) <= {claim.id for claim in outcome.claims}
