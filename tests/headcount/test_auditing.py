"""What `headcount audit` says beside verdicts: missing tools, unusable folders, arguments that are not printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.formal import kernel
from headcount import ledger_pages
from headcount.auditing import argument_word, claim_to_json, evidence_line, perform, run
from headcount.console import Finished
from theory.ledger import Claim, Statement


def test_a_missing_kernel_is_not_called_undecided() -> None:
    """Catches 'refutes by formal: UNDECIDED' where Coq is merely not compiled."""
    missing = kernel.NotChecked("not compiled: A.v.", "make formal")
    verdict = {"label": "UNDECIDED", "reason": missing.reason, "remedy": missing.remedy}
    item = {"purpose": "refutes", "means": "formal", "step": "Coq: A", "verdict": verdict, "seconds": 0.1}
    assert evidence_line(item) == "formal: not compiled: A.v (make formal)"
    assert evidence_line({**item, "means": "smt"}) == "refutes by smt: Coq: A - UNDECIDED (0.1 s)"


@pytest.mark.parametrize("place", ["/dev/null", "file"])
def test_an_unusable_cache_is_a_warning(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches an audit that ends, or advises wrongly, because its cache folder cannot be made."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", place if place.startswith("/") else str(tmp_path / place))
    with pytest.raises(Finished) as ended:
        run(["T2.1-12", "T2.1-14"], True, None, None, None, True)
    assert ended.value.code == 0
    assert capsys.readouterr().err.count("going on without a cache") == 1


def test_a_printed_argument_stands_or_there_is_none() -> None:
    """Catches an empty cell where the paper prints no argument, and 'none printed' where one is."""
    claim = Claim("X1", "t", "s", Statement("w", ""), no_argument="a definition")
    assert argument_word(claim, "") == "none printed"
    assert argument_word(claim, "REFUTED") == "wrong"
    assert argument_word(Claim("N1", "t", "s", Statement("w", "")), "") == ""


def test_pages_say_what_is_not_printed_what_is_open_and_what_is_missing(tmp_path: Path) -> None:
    """Catches pages without the undecided count, the reason for a missing argument, or a hidden hypothesis' witness."""
    outcome = perform(["E1b", "T2.1-M"], use_cache=True, quiet=True)
    ledger_pages.write(tmp_path, outcome)
    pages = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert "1 undecided" in pages["index.html"]
    assert "none printed" in pages["index.html"]
    assert "none printed (a measurement)" in pages["E1b.html"]
    assert "&#34;Z&#34;: &#34;1/2&#34;" in pages["T2.1-M.html"]
    assert "without it the step fails at K = 1, Z = 1/2" in pages["errata.html"]
    assert "E1b" not in pages["errata.html"]
    (size,) = (claim for claim in outcome.claims if claim.id == "T2.1-M")
    assert claim_to_json(size, outcome)["statements"]["argument"]["witness"]["values"]["Z"] == "1/2"
