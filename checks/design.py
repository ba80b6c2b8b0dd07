"""Specialists designed with proved constants and, in the sharpened form, with the least beta that the budget allows."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from checks import constants
from checks.budget import budget_terms
from checks.curves import enclosed_curve
from checks.hypotheses import minimisers
from constructions.network import Network
from constructions.specialists import BETA_STEP, Knowledge, Specialist, build
from constructions.task import RetrievalTask
from theory.enough_heads import SLACK
from theory.ledger import Form

ROUNDS = 4
"""beta is computed again from the budget at the last beta this often, at most."""
SHARES = (Fraction(1), Fraction(1, 2), Fraction(1, 4))
"""Shares of eps that the feed-forward maps are built for: the first that leaves room for the softmin is taken."""


def knowledge_of(task: RetrievalTask) -> Knowledge:
    """What constructions take from proofs, computed for a task."""
    exact = tuple(() if entry.point is None else (entry.point,) for entry in minimisers(task))
    return Knowledge(constants.outer_gradient_l1_upper(task), exact, enclosed_curve)


def specialists(task: RetrievalTask, eps: Fraction, form: Form) -> Specialist:
    """The specialists of T2.1 for a task, with the constants that its proofs need computed here.

    Forms published and repaired have the paper's parameters. In the sharpened form beta is what the certified budget
    of the finished network needs (`closing`), where there is one; the design's beta (N3) stays where there is none.

    Raises:
        InvalidInput: as `constructions.specialists.build`.
    """
    knowledge = knowledge_of(task)
    designed = build(task, eps, form, knowledge)
    if form is not Form.SHARPENED:
        return designed
    for share in SHARES:
        built = designed if share == 1 else build(task, eps * share, form, knowledge)
        network = closing(built.network, task, eps)
        if network is not None:
            return replace(built, network=network, eps=eps)
    return designed


def closing(network: Network, task: RetrievalTask, eps: Fraction) -> Network | None:
    """The same network with (nearly) the least beta >= 1 whose budget is at most 63/64 eps; None where none is found.

    Certified by `checks.budget.budget_terms` of what is returned. Exact.

    Raises:
        NotReadable: the network is not one of covering heads.
    """
    # Softmin terms are a constant over beta, up to which sub-box has the largest slopes; leaks only fall with beta.
    wanted, best = eps * (1 - SLACK), None
    for _ in range(ROUNDS):
        terms = budget_terms(network, task)
        total = sum((term.value_upper for term in terms), Fraction(0))
        softmin = sum((term.value_upper for term in terms if term.name.startswith("softmin")), Fraction(0))
        if total <= wanted and (best is None or network.beta < best.beta):
            best = network
        if total - softmin >= wanted:
            break
        beta = max(Fraction(1), math.ceil(network.beta * softmin / (wanted - total + softmin) / BETA_STEP) * BETA_STEP)
        if beta == network.beta:
            break
        network = replace(network, beta=beta)
    return best
