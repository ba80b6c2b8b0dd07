"""Evidence for the constraints on the target (A2) and its parts (A3). The proofs in prose: docs/proofs/setting.md."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from checks.evidence.setting import DEFINITION, SEQ_LEN, WITHOUT_HESSIAN, task, task_step
from checks.evidence.tools import (
    argument_step,
    conditional_statement_step,
    counterexample_step,
    proves,
    refutes,
    statement_step,
)
from constructions.task import RetrievalTask, everywhere, quadratic, synthetic, toy
from theory.expressions import Variable, variables
from theory.ledger import Claim, Evidence, Form, Means

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for A2 and A3 with their parts."""
    return (*_target(claims), *_target_parts(claims), *_parts(claims))


def _target(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    together, hessian = claims["A2"], claims["A2.3"]
    x = Variable("x0")
    everything = (*DEFINITION, "A2.1", "A2.2", "A2.3", "A2.4")
    sampled = synthetic(SEQ_LEN, ((1, 1), (1, -1)))
    two_wells = 4 * (x - Fraction(1, 4)) ** 2 * (x - Fraction(3, 4)) ** 2
    return (
        proves(
            together.id,
            PUBLISHED,
            task_step(
                "squared distances, D = 2, d = 1",
                quadratic(2, 1, SEQ_LEN),
                everything,
                {"linear features": toy(SEQ_LEN), "two minimisers": task([(two_wells, everywhere(4))], 4)},
            ),
        ),
        refutes(
            together.id,
            ARGUMENT,
            counterexample_step(
                together,
                ARGUMENT,
                {"K": "1", "h": "1", "a": "1"},
                {
                    "semi-definite": "a*0 - 2*(a*h) + a*(2*h) >= 0",
                    "f(x) = a x^2": "a*0 - 2*(a*h^2) + a*(2*h)^2 >= K*h^2",
                },
            ),
        ),
        proves(
            together.id,
            REPAIRED,
            task_step(
                "max + min", toy(SEQ_LEN), (*DEFINITION, *WITHOUT_HESSIAN), {"unused feature": _unused_feature()}
            ),
            task_step(
                "E1 on the cube, signs (+,+) and (+,-)",
                sampled,
                (*DEFINITION, *WITHOUT_HESSIAN),
                {
                    "the same signs": synthetic(SEQ_LEN, ((1, 1), (1, 2))),
                    "a zero entry": synthetic(SEQ_LEN, ((1, 0), (1, -1))),
                },
            ),
        ),
        proves(
            hessian.id,
            PUBLISHED,
            task_step(
                "squared distances",
                quadratic(2, 1, SEQ_LEN),
                ("A2.3",),
                {"linear": toy(SEQ_LEN), "fourth power": task([(x**4, everywhere(4))], 4)},
            ),
        ),
        refutes(
            hessian.id,
            ARGUMENT,
            counterexample_step(
                hessian,
                ARGUMENT,
                {"K": "1", "h": "1/2"},
                {"f(x) = x^2": "0 - 2*h^2 + (2*h)^2 >= K*h^2", "semi-definite": "0 - 2*h + 2*h >= 0"},
            ),
        ),
    )


def _target_parts(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    unique, distinct, slopes = (claims[f"A2.{number}"] for number in (1, 2, 4))
    x = Variable("x0")
    two_wells = 4 * (x - Fraction(1, 4)) ** 2 * (x - Fraction(3, 4)) ** 2
    same_signs = synthetic(SEQ_LEN, ((1, 1), (1, 2)))
    return (
        proves(
            unique.id,
            PUBLISHED,
            task_step(
                "max + min",
                toy(SEQ_LEN),
                ("A2.1",),
                {"two wells": task([(two_wells, everywhere(4))], 4), "flat": synthetic(SEQ_LEN, ((1, 0),))},
            ),
        ),
        proves(
            distinct.id,
            PUBLISHED,
            task_step(
                "max + min",
                toy(SEQ_LEN),
                ("A2.2",),
                {
                    "twice the same": task([(x, everywhere(4)), (x, everywhere(4))], 4),
                    "x and x^2/2": task([(x, everywhere(4)), (x**2 * Fraction(1, 2), everywhere(4))], 4),
                },
            ),
        ),
        proves(
            distinct.id,
            ARGUMENT,
            conditional_statement_step(
                distinct,
                ("the directions have no zero entry and different sign patterns", "a*b < 0"),
                {"a": "1", "b": "2", "u": "1", "v": "1"},
                {"they may agree": "abs(u - v) >= 0", "both are corners": "min(u, v) >= 1"},
                {"the same corner": "abs(u - v) <= 0", "further apart": "abs(u - v) >= 2"},
            ),
        ),
        proves(
            distinct.id,
            REPAIRED,
            task_step(
                "signs (+,+) and (+,-)",
                synthetic(SEQ_LEN, ((1, 1), (1, -1))),
                ("A2.1", "A2.2"),
                {"the same signs": same_signs, "a zero entry": synthetic(SEQ_LEN, ((1, 0), (1, -1)))},
            ),
        ),
        proves(
            slopes.id,
            PUBLISHED,
            task_step(
                "max + min",
                toy(SEQ_LEN),
                ("A2.4",),
                {"unused feature": _unused_feature(), "square at its minimum": _square_outer()},
            ),
        ),
    )


def _parts(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    together, outer, feature = (claims[name] for name in ("A3", "A3.1", "A3.2"))
    ridges = argument_step(
        "polynomials as sums of ridge polynomials",
        "Jackson: a C^k function on the cube is within C/n^k of a polynomial of degree n. It is a sum of at most "
        "C(n+d-1, d-1) <= (n+1)^{d-1} univariate polynomials of degree n along fixed directions. n + 1 units with a "
        "smooth activation that is no polynomial come arbitrarily close to each (divided differences).",
    )
    barron = argument_step(
        "finite Barron norm: gamma = 2 in the sup norm",
        "For f = E[a relu(w.x + b)] with |a| (|w|_1 + |b|) <= B, the mean of N independent draws is within "
        "4 B sqrt((d+1)/N) of f on the cube for some draw, by symmetrisation and the contraction principle.",
    )
    return (
        proves(
            together.id,
            PUBLISHED,
            statement_step(
                together,
                PUBLISHED,
                Means.SMT,
                {"half the error": "K/(4*N^2) <= r^2/2", "without rounding up": "N <= c/r"},
            ),
        ),
        proves(
            together.id,
            ARGUMENT,
            ridges,
            barron,
            statement_step(
                together,
                ARGUMENT,
                Means.SMT,
                {"C/e": "p*(n + 1) <= P*(C/e)", "n units, no constant": "p*(n + 1) <= P*n"},
            ),
        ),
        proves(
            together.id,
            SHARPENED,
            ridges,
            statement_step(
                together,
                SHARPENED,
                Means.SMT,
                {"C/r": "p*(n + 1) <= P*(C/r)", "no n": "p*(n + 1) <= P*(2*C)"},
            ),
        ),
        proves(
            outer.id,
            PUBLISHED,
            statement_step(outer, PUBLISHED, Means.SMT, {"one unit": "relu(z) = z", "plus": "relu(z) + relu(-z) = z"}),
        ),
        proves(
            feature.id,
            PUBLISHED,
            statement_step(
                feature,
                PUBLISHED,
                Means.SMT,
                {
                    "an eighth": "K*(x - a)*(b - x) <= K*(b - a)^2/8",
                    "linear": "K*(x - a)*(b - x) <= K*(b - a)/4",
                },
            ),
        ),
    )


def _unused_feature() -> RetrievalTask:
    """D = 2, but the outer map is z0."""
    return RetrievalTask("unused", 1, SEQ_LEN, toy(SEQ_LEN).features, Variable("z0"))


def _square_outer() -> RetrievalTask:
    """The outer map z0^2 + z1 has slope 0 in z0 at the minimum 0."""
    z0, z1 = variables("z", 2)
    return RetrievalTask("square", 1, SEQ_LEN, toy(SEQ_LEN).features, z0**2 + z1)
