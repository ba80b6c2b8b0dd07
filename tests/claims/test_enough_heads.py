"""Section 3 (T2.1): independent numbers beside the evidence."""

from __future__ import annotations

import random
from fractions import Fraction
from math import e, exp

from checks.evidence import retrieval_bounds
from theory.ledger import Purpose, Reference
from theory.registry import all_claims

CLAIMS = all_claims()
BY_ID = {claim.id: claim for claim in CLAIMS}
SECTION = retrieval_bounds.evidence(BY_ID)


def test_published_budget_is_refuted_inside_its_own_parameters() -> None:
    """Catches a counterexample to T2.1-18 that does not use the printed delta, beta and C_T, or is not minimal in T."""
    (witness,) = (
        step.run().witness
        for piece in SECTION
        if piece.about == Reference("T2.1-18") and piece.purpose is Purpose.REFUTES
        for step in piece.steps
    )
    values = {name: Fraction(value) for name, value in witness["values"].items()}
    eps, weight, seq_len = values["e"], values["L"], 2
    assert values["b"] == max(1, 4 * seq_len * weight / eps)


def test_repaired_budget_closes_numerically() -> None:
    """Catches a wrong share in T2.1 (repaired), by computing the retrieval error of random and of worst tokens."""
    generator = random.Random(7)
    worst = 0.0
    for _ in range(3000):
        seq_len = generator.randint(2, 12)
        eps, weight = 10 ** generator.uniform(-2, 0), generator.uniform(0.5, 8)
        support = generator.randint(1, seq_len)
        beta = max(1.0, 4 * seq_len * weight / eps)
        common = generator.choice([min(1.0, generator.uniform(0, 3) / beta), generator.random()])
        off = generator.choice([0.0, 1 / beta, 1.0])
        a = [0.0] + [common] * (support - 1) + [off] * (seq_len - support)
        if generator.random() < 0.5:
            a = [1.0] * support + [off] * (seq_len - support)
        scores = [-beta * (x + (2 if t >= support else 0)) for t, x in enumerate(a)]
        top = max(scores)
        weights = [exp(score - top) for score in scores]
        retrieved = sum(w * x for w, x in zip(weights, a, strict=True)) / sum(weights)
        worst = max(worst, abs(retrieved - min(a[:support])) * weight / eps)
    assert 0.02 < worst <= 1 / (2 * e)
