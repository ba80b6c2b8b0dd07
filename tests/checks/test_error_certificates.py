"""Certificates of specialists: cheap enough to check at T = 64, and refused when a number or a sign is not right."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from checks import verify
from checks.budget import Report, certify
from checks.certificates import writer
from checks.design import specialists
from checks.error_certificates import error_certificate
from constructions.network import Network
from constructions.task import Feature, RetrievalTask, built_in, everywhere
from theory.expression_parser import parse_expression
from theory.ledger import Form, Proved


def answer(network: Network, task: RetrievalTask, eps: Fraction, path: Path, report: Report | None = None) -> str:
    """What the independent checker says about the certificate of a network."""
    content = error_certificate(network, task, eps, report or certify(network, task, eps))
    assert content is not None
    writer.write(path, content)
    return verify.verify(path.read_bytes()).label


@pytest.mark.parametrize("name", ["toy", "synthetic(4)", "quadratic(3,2)"])
@pytest.mark.parametrize("form", [Form.PUBLISHED, Form.REPAIRED, Form.SHARPENED])
def test_certificates_at_64_tokens_are_checked(name: str, form: Form, tmp_path: Path) -> None:
    """Catches certificates that only their author can follow: work limits, sums without signs."""
    task, eps = built_in(name, 64), Fraction(3, 100)
    assert answer(specialists(task, eps, form).network, task, eps, tmp_path / "error.json") == "PROVED"


def test_tightest_certificate_of_curved_features_is_checked(tmp_path: Path) -> None:
    """Catches a checker that splits all features together: two-dimensional curved features at eps = 0.01."""
    task, eps = built_in("quadratic(3,2)", 64), Fraction(1, 100)
    network = specialists(task, eps, Form.SHARPENED).network
    assert answer(network, task, eps, tmp_path / "error.json") == "PROVED"


@pytest.mark.parametrize("outer", ["z0 + 1 - z1", "z0 + z1", "z0 + (z1 - 1/2)^2"])
def test_halved_beta_is_refused_whatever_the_signs(outer: str, tmp_path: Path) -> None:
    """Catches a checker that takes the wrong end of an error: rising, falling and turning outer maps."""
    features = tuple(Feature(parse_expression(text), everywhere(8)) for text in ("x0", "1 - x0"))
    task, eps = RetrievalTask("signs", 1, 8, features, parse_expression(outer)), Fraction(1, 20)
    network = specialists(task, eps, Form.SHARPENED).network
    report = certify(network, task, eps)
    assert isinstance(report.verdict, Proved)
    halved = replace(network, beta=network.beta / 2)
    assert answer(halved, task, eps, tmp_path / "halved.json", report) == "UNDECIDED"
