"""Claims as TOML: what is not well formed is refused with a message that names the place."""

from __future__ import annotations

import pytest

from theory.errors import InvalidInput, NotFinite
from theory.ledger import Form
from theory.registry import all_claims, parse_claims, reference

HEAD = '[[claim]]\nid = "X1"\ntitle = "t"\nsource = "s"\n'
PUBLISHED = '[claim.published]\nwords = "w"\n'


def test_a_whole_claim_is_read() -> None:
    """Catches a field that is dropped on the way from the file to the ledger."""
    text = (
        HEAD
        + 'severity = "step"\n'
        + PUBLISHED
        + 'formula = "f"\nhypotheses = ["h"]\ndepends_on = ["N1", "T2.1-15 (repaired)"]\n'
        + 'given = ["x >= 0"]\nthen = "x + 1 > 0"\ninstance = { x = "1/3" }\n'
        + '[claim.repaired]\nwords = "r"\nsame_as = "N2"\n'
    )
    (claim,) = parse_claims(text)
    assert claim.forms == (Form.PUBLISHED, Form.REPAIRED)
    assert claim.severity == "step"
    assert [str(below) for below in claim.published.depends_on] == ["N1", "T2.1-15 (repaired)"]
    assert str(claim.published.proposition) == "x >= 0 ==> x + 1 > 0"
    assert claim.repaired is not None
    assert str(claim.repaired.same_as) == "N2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + 'colour = "red"\n' + PUBLISHED, "colour"),
        (HEAD + PUBLISHED + 'verdict = "PROVED"\n', "verdict"),
        (HEAD, "published"),
        ('[[claim]]\nid = "X1"\n' + PUBLISHED, "title"),
        (HEAD + PUBLISHED + 'given = ["x >= 0"]\nthen = "x > -1"\n', "instance"),
        (HEAD + PUBLISHED + 'given = ["x >= 0"]\nthen = "x > -1"\ninstance = { x = "-1" }\n', "hold at the instance"),
        (HEAD + PUBLISHED + 'then = "x > y > 0"\ninstance = { x = "1", y = "1" }\n', "two sides"),
        (HEAD + PUBLISHED + 'then = "x > system(1)"\ninstance = { x = "1" }\n', "system"),
        (HEAD + PUBLISHED + 'then = "x > 0"\ninstance = { x = "nan" }\n', "nan"),
    ],
)
def test_what_is_not_well_formed_is_refused(text: str, message: str) -> None:
    """Catches a misspelled key (a status typed in by hand among them), a missing part, a proposition about nothing."""
    with pytest.raises(InvalidInput, match=message):
        parse_claims(text)


def test_unknown_severity_or_form_is_refused() -> None:
    """Catches a word outside the closed vocabularies."""
    with pytest.raises(ValueError, match="fatal"):
        parse_claims(HEAD + 'severity = "fatal"\n' + PUBLISHED)
    with pytest.raises(ValueError, match="corrected"):
        reference("T2.1 (corrected)")


def test_an_instance_where_a_divisor_vanishes_is_refused() -> None:
    """Catches an instance at which a hypothesis is not even defined."""
    with pytest.raises(NotFinite):
        parse_claims(HEAD + PUBLISHED + 'given = ["1/x > 0"]\nthen = "x > 0"\ninstance = { x = "0" }\n')


def test_all_registered_claims_load_with_unique_ids() -> None:
    """Catches a file that is not read, and an id used twice."""
    ids = [claim.id for claim in all_claims()]
    assert len(ids) == len(set(ids))
    assert {"T2.1", "N1", "N8"} <= set(ids)
