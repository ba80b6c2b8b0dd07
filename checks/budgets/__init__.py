"""Certified error budgets, one module for each kind of construction.

A module offers ``terms(built) -> tuple[Term, ...]``: a tree of inequalities whose sum bounds the sup error of the
finished network over all sequences in the cube. It trusts neither the design nor the construction: what the proof needs
is read from the weights, or the network is composed again from its parts and every weight is compared.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from fractions import Fraction

from checks import budget
from checks.budget import Report
from checks.budgets import log_sum_exp, memoriser, selector, token_heads
from checks.budgets.compare import Different
from checks.covering import NotReadable
from checks.witness import Witness, find_witness
from constructions.built import Built
from theory.enough_heads import Term
from theory.errors import InvalidInput, NotFinite
from theory.exact import decimal
from theory.ledger import Proved, Refuted, Undecided
from theory.rational_bounds import positive

Terms = Callable[[Built], tuple[Term, ...]]


def certify(built: Built) -> Report:
    """Decide ``sup over [0,1]^(dT) of |network - H| < eps`` for a finished construction of any kind.

    Proved if the terms add up to less than eps; Refuted with a sequence where the error is at least eps; else
    Undecided, with the entry in which the network differs from its parts, if that is why. Exact rationals and balls.

    Raises:
        InvalidInput: an unknown kind, or eps <= 0.
    """
    eps, terms_of = positive("eps", built.eps), _terms_of(built.kind)
    found: tuple[Term, ...] = ()
    reason, remedy = "The terms of the budget add up to eps or more.", "a larger eps"
    try:
        found = terms_of(built)
    except (Different, NotReadable, NotFinite, InvalidInput) as error:
        reason, remedy = str(error), "build the network again, or checks.sup_error for small T d"
    total = sum((term.value_upper for term in found), Fraction(0))
    if found and total < eps:
        return Report(Proved(f"sup |network - H| <= {decimal(total)} < eps = {decimal(eps)}"), found)
    witness = _witness(built)
    if witness is not None:
        every = " for every beta" if witness.every_beta else ""
        detail = f"the error is at least {decimal(witness.error_lower)} >= eps{every} at one sequence"
        return Report(Refuted(detail, witness.to_json()), found)
    return Report(Undecided(reason, remedy), found)


def _witness(built: Built) -> Witness | None:
    with contextlib.suppress(NotFinite):  # the search runs in float64
        return find_witness(built.network, built.task, built.eps)
    return None


def _terms_of(kind: str) -> Terms:
    modules: Mapping[str, Terms] = {
        "specialists": lambda built: budget.budget_terms(built.network, built.task),
        "memoriser": memoriser.terms,
        "selector": selector.terms,
        "log_sum_exp": log_sum_exp.terms,
        "token_heads": token_heads.terms,
    }
    if kind not in modules:
        raise InvalidInput.about("kind", kind, f"one of {', '.join(modules)}", "headcount build --help")
    return modules[kind]
