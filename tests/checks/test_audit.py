"""The audit: cached evidence is used only while nothing it depends on has changed; guards against empty proofs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from checks import audit as module
from checks.audit import audit, instance_holds, surviving_mutants, verdict_from_json, verdict_to_json, with_dependencies
from checks.evidence.tools import (
    argument_step,
    conditional_statement_step,
    conditional_step,
    counterexample_step,
    exhaustive_step,
    exponential_steps,
    proves,
    refutes,
    statement_step,
    step,
)
from theory.errors import InvalidInput
from theory.ledger import (
    Claim,
    Evidence,
    Form,
    Means,
    Mutant,
    NotApplicable,
    Proved,
    Purpose,
    Reference,
    Refuted,
    Statement,
    Step,
    Undecided,
    Verdict,
)
from theory.propositions import proposition
from theory.registry import all_claims, parse_claims

TOML = """
[[claim]]
id = "X1"
title = "t"
source = "s"
[claim.published]
words = "w"
given = ["x >= 0", "x <= 1"]
then = "x^2 <= x"
instance = { x = "1/2" }
"""


class Counted:
    """A procedure that counts how often it ran."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.runs = 0

    def __call__(self) -> Verdict:
        self.runs += 1
        return self.verdict


@pytest.fixture
def counted() -> Counted:
    return Counted(Proved("computed"))


def one_claim(words: str = "w") -> tuple[Claim, ...]:
    return (Claim("X1", "t", "s", Statement(words, "")),)


def piece_of(run: Callable[[], Verdict], name: str = "step", means: Means = Means.SMT) -> tuple[Evidence, ...]:
    return (proves("X1", Form.PUBLISHED, Step(name, means, run)),)


def test_the_second_run_takes_evidence_from_the_cache(tmp_path: Path, counted: Counted) -> None:
    """Catches a cache that is never hit, or that changes the verdict."""
    first, second = (audit(one_claim(), piece_of(counted), tmp_path) for _ in range(2))
    assert counted.runs == 1
    assert first.statuses == second.statuses
    assert second.statuses[Reference("X1")].verdict.label == "PROVED"


def test_without_a_folder_everything_is_computed(counted: Counted) -> None:
    """Catches hidden state between runs."""
    for _ in range(2):
        audit(one_claim(), piece_of(counted))
    assert counted.runs == 2


def test_whatever_changes_is_computed_again(tmp_path: Path, counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a stale verdict after the statement, the step, its means, what it reads, or the code has changed."""
    audit(one_claim(), piece_of(counted), tmp_path)
    audit(one_claim("other words"), piece_of(counted), tmp_path)
    audit(one_claim(), piece_of(counted, name="another step"), tmp_path)
    audit(one_claim(), piece_of(counted, means=Means.BALL), tmp_path)
    reading = Step("step", Means.SMT, counted, inputs="other proofs")
    audit(one_claim(), (proves("X1", Form.PUBLISHED, reading),), tmp_path)
    monkeypatch.setattr(module, "code_digest", lambda: "other code")
    audit(one_claim(), piece_of(counted), tmp_path)
    assert counted.runs == 6


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"verdict": {"label": "PROVED"}}', '{"verdict": 3, "seconds": 1}', "\x00"]
)
def test_a_damaged_cache_file_is_computed_again(tmp_path: Path, counted: Counted, content: str) -> None:
    """Catches a truncated file (a killed run) that crashes the audit or counts as a proof."""
    audit(one_claim(), piece_of(counted), tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_text(content)
    assert audit(one_claim(), piece_of(counted), tmp_path).statuses[Reference("X1")].verdict.label == "PROVED"
    assert counted.runs == 2
    assert json.loads(path.read_text())["verdict"]["label"] == "PROVED"


def test_what_is_undecided_is_not_kept(tmp_path: Path) -> None:
    """Catches a missing tool or a time-out of today that the cache repeats for ever."""
    absent = Counted(Undecided("coqc is not installed", "install it"))
    for means in (Means.FORMAL, Means.SMT):
        for _ in range(2):
            audit(one_claim(), piece_of(absent, means=means), tmp_path)
    assert absent.runs == 4
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_used_does_not_end_the_audit(tmp_path: Path, counted: Counted) -> None:
    """Catches an audit that stops because its cache is a file, a device or a folder without room."""
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", Path("/dev/null/cache")):
        assert not module.usable(folder)
        assert audit(one_claim(), piece_of(counted), folder).statuses[Reference("X1")].verdict.label == "PROVED"
    assert counted.runs == 3
    assert module.usable(tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []


def test_an_invented_verdict_is_not_believed(tmp_path: Path, counted: Counted) -> None:
    """Catches a label that is not one of the four."""
    audit(one_claim(), piece_of(counted), tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_text('{"verdict": {"label": "SURE", "failed": []}, "seconds": 0}')
    outcome = audit(one_claim(), piece_of(counted), tmp_path)
    assert outcome.statuses[Reference("X1")].verdict.label != "SURE"


@pytest.mark.parametrize(
    "verdict", [Proved("a"), Refuted("b", {"x": "1/2"}), Undecided("c", "d"), NotApplicable(("e", "f"))]
)
def test_verdicts_survive_json(verdict: Verdict) -> None:
    """Catches a field lost in the cache, such as the witness."""
    assert verdict_from_json(json.loads(json.dumps(verdict_to_json(verdict)))) == verdict


def test_progress_is_reported(counted: Counted) -> None:
    """Catches a progress bar that never moves."""
    seen: list[tuple[str, int, int]] = []
    audit(one_claim(), piece_of(counted), progress=lambda name, done, total: seen.append((name, done, total)))
    assert seen == [("X1", 0, 1)]


def test_an_unknown_id_is_refused_with_suggestions() -> None:
    """Catches a misspelled id that audits nothing and exits 0."""
    with pytest.raises(InvalidInput, match=r"T2\.1-10"):
        with_dependencies(all_claims(), ["t2.1-1O"])


def test_dependencies_and_repeated_statements_come_along() -> None:
    """Catches an audit of one id in which the statement that it repeats, or what that rests on, is missing."""
    names = {claim.id for claim in with_dependencies(all_claims(), ["T2.1-gate"])}
    assert {"T2.1-gate", "N2", "N3", "N1"} <= names
    assert "N8" not in names


def test_a_failing_instance_is_not_proved() -> None:
    """Catches a proposition proved although its own instance does not satisfy the hypotheses."""
    (claim,) = parse_claims(TOML)
    evidence = (proves("X1", Form.PUBLISHED, Step("a proof", Means.FORMAL, Proved)),)
    assert audit((claim,), evidence).statuses[Reference("X1")].verdict.label == "PROVED"
    stated = replace(claim.published, proposition=proposition(["exp(x) >= 2"], "x > 0"))
    verdict = audit((replace(claim, published=stated),), evidence).statuses[Reference("X1")].verdict
    assert verdict.label == "UNDECIDED"
    assert "exp(x) >= 2" in verdict.detail


def test_a_transcendental_instance_is_decided_in_balls() -> None:
    """Catches an instance check that gives up on exp and log: e^(1/2) < 2 < e."""
    (claim,) = parse_claims(TOML)
    for text, label in (("exp(x) < 2", "PROVED"), ("exp(2*x) < 2", "UNDECIDED"), ("log(4*x) > 1/2", "PROVED")):
        assert instance_holds(replace(claim.published, proposition=proposition([text], "x > 0"))).label == label


def test_surviving_mutants_are_found() -> None:
    """Catches a mutant test that cannot fail: here a true variant of a proof and a false one of a refutation."""
    (claim,) = parse_claims(TOML)
    weak = statement_step(claim, Form.PUBLISHED, Means.SMT, {"also true": "x^2 <= 2*x", "wrong": "x^2 >= x"})
    assert [mutant.name for _, mutant, _ in surviving_mutants(proves("X1", Form.PUBLISHED, weak))] == ["also true"]
    wrong = Step("r", Means.EXACT, Proved, (Mutant("refuted too", lambda: Refuted("no", {"x": "1"})),))
    assert len(surviving_mutants(refutes("X1", Form.PUBLISHED, wrong))) == 1


def test_a_counterexample_goes_through_the_checker() -> None:
    """Catches a refutation at a point where the hypotheses fail, the statement holds, or nothing can be decided."""
    (claim,) = parse_claims(TOML.replace("x^2 <= x", "x^2 <= x/2"))
    assert counterexample_step(claim, Form.PUBLISHED, {"x": "1"}, {}).run().label == "REFUTED"
    for point in ("2", "1/4", "-1"):
        assert counterexample_step(claim, Form.PUBLISHED, {"x": point}, {}).run().label == "UNDECIDED"


def test_an_exhaustive_step_needs_cases() -> None:
    """Catches all() over an empty domain, and a failing case passed over."""
    assert exhaustive_step("none", list, lambda case: True).run().label == "UNDECIDED"
    assert exhaustive_step("some", lambda: [1, 2, 3], lambda case: case < 3).run().label == "UNDECIDED"
    assert exhaustive_step("all", lambda: [1, 2, 3], lambda case: case < 4).run().label == "PROVED"


def test_a_prose_proof_is_labelled_as_such() -> None:
    """Catches an argument shown as something stronger."""
    outcome = audit(one_claim(), (proves("X1", Form.PUBLISHED, argument_step("why", "because")),))
    assert outcome.statuses[Reference("X1")].means is Means.ARGUMENT


def test_a_statement_without_a_proposition_has_no_statement_step() -> None:
    """Catches an engine that decides something other than the registered statement."""
    with pytest.raises(InvalidInput, match="proposition"):
        statement_step(one_claim()[0], Form.PUBLISHED, Means.SMT, {})


def test_exponential_steps_prove_themselves_and_no_mutant() -> None:
    """Catches a gap in 1 + v <= e^v, on which N1 and much of section 3 rest."""
    piece = Evidence(Reference("X1"), Purpose.PROVES, exponential_steps())
    assert [found.run().label for found in piece.steps] == ["PROVED"] * 3
    assert surviving_mutants(piece) == []


def test_an_auxiliary_step_uses_the_engine_of_its_means() -> None:
    """Catches means that are only a label."""
    assert step("s", Means.SYMBOLIC, [], "x <= x", {}).run().label == "UNDECIDED"
    assert step("s", Means.SMT, [], "x <= x", {}).run().label == "PROVED"


def test_prose_shows_the_weakest_means() -> None:
    """Catches prose, where nothing is computed, that is shown as more than an argument."""
    assert argument_step("prose", "because").means is Means.ARGUMENT


def test_the_printed_step_of_an_argument_with_and_without_a_relation() -> None:
    """Catches a hypothesis that is not needed, or not enough, for the proposition that the argument registers."""
    text = TOML + '[claim.argument]\nwords = "w"\ngiven = ["x >= 0"]\nthen = "x^2 <= x"\ninstance = { x = "1/2" }\n'
    claim = parse_claims(text)[0]

    def verdict(relation: str, value: str) -> str:
        found = conditional_statement_step(claim, ("x is small", relation), {"x": value}, {}, {})
        assert found.means is Means.SMT
        return found.run().label

    assert verdict("x <= 1", "2") == "NOT_APPLICABLE"
    assert verdict("x <= 1", "1/2") == "UNDECIDED"
    assert verdict("x <= 2", "2") == "UNDECIDED"


def test_a_hidden_hypothesis_needs_a_failure_without_it_and_a_proof_with_it() -> None:
    """Catches a hidden hypothesis that is only asserted, and mutants that change nothing."""
    text = TOML + '[claim.argument]\nwords = "w"\ngiven = ["x >= 0"]\nthen = "x^2 <= x"\ninstance = { x = "1/2" }\n'
    claim = parse_claims(text)[0]
    without = counterexample_step(claim, Form.ARGUMENT, {"x": "2"}, {"the other way": "x^2 >= x"})
    given = step("with it", Means.SMT, ["x >= 0", "x <= 1"], "x^2 <= x", {"half": "x^2 <= x/2"})
    found = conditional_step("square", "x <= 1", without, given)
    verdict = found.run()
    assert isinstance(verdict, NotApplicable)
    assert verdict.failed == ("x <= 1",)
    assert verdict.witness["kind"] == "counterexample"
    assert verdict_from_json(verdict_to_json(verdict)) == verdict
    assert found.means is Means.SMT
    assert len(found.mutants) == 2
    assert surviving_mutants(proves("X1", Form.ARGUMENT, found)) == []
    needless = counterexample_step(claim, Form.ARGUMENT, {"x": "1/2"}, {})
    assert conditional_step("square", "x <= 1", needless, given).run().label == "UNDECIDED"
    unproved = step("with it", Means.SMT, ["x >= 0"], "x^2 <= x", {})
    assert conditional_step("square", "x <= 1", without, unproved).run().label == "UNDECIDED"
    idle = Step("again", given.means, given.run, (Mutant("nothing changed", given.run),))
    assert len(surviving_mutants(proves("X1", Form.ARGUMENT, conditional_step("square", "x", without, idle)))) == 1
