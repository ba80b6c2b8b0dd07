"""Evidence for the definitions (DEF-*) and the constraints on the model (A1). In prose: docs/proofs/setting.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial

from checks.enclose import gradient_l1_supremum, unit_box
from checks.evidence.tools import (
    counterexample_step,
    exponential_steps,
    proves,
    refutes,
    statement_step,
    step,
)
from checks.hypotheses import applicable, check_task
from constructions.task import Feature, RetrievalTask, everywhere, quadratic, synthetic, toy
from theory.expressions import Expression, Variable, apply, variables
from theory.ledger import Claim, Evidence, Form, Means, Mutant, Proved, Step, Undecided, Verdict

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED
DEFINITION = ("DEF-D.range", "DEF-D.smooth", "DEF-D.support")
WITHOUT_HESSIAN = ("A2.1", "A2.2", "A2.4")
SEQ_LEN = 4
GELU_RANGE = 4
GELU_TOLERANCE = Fraction(1, 1000)


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for DEF-X, DEF-P, DEF-H, DEF-EPS, DEF-TOY, DEF-D and A1 with its parts."""
    return (
        *_definitions(claims),
        *_example(claims),
        *_model(claims),
    )


def task_step(name: str, task: RetrievalTask, needed: Sequence[str], wrong: Mapping[str, RetrievalTask]) -> Step:
    """The task satisfies the hypotheses ``needed`` (`checks.hypotheses`); each of ``wrong`` must not."""

    def decide(candidate: RetrievalTask) -> Verdict:
        return applicable(check_task(candidate), needed)

    mutants = tuple(Mutant(label, partial(decide, other)) for label, other in wrong.items())
    return Step(name, Means.BALL, partial(decide, task), mutants)


def _definitions(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    domain, encoder, model, close = (claims[f"DEF-{name}"] for name in ("X", "P", "H", "EPS"))
    return (
        proves(
            domain.id,
            PUBLISHED,
            statement_step(
                domain,
                PUBLISHED,
                Means.SMT,
                {"half": "l*x + (1 - l)*y <= 1/2", "strict": "max(-l*x - (1 - l)*y, l*x + (1 - l)*y - 1) < 0"},
            ),
        ),
        refutes(
            domain.id,
            ARGUMENT,
            counterexample_step(domain, ARGUMENT, {"x": "-1"}, {"cut off at 1": "max(-x - 1, x - 1) <= 0"}),
        ),
        proves(
            domain.id,
            REPAIRED,
            statement_step(
                domain,
                REPAIRED,
                Means.SMT,
                {"no shift": "max(-x/(2*c), x/(2*c) - 1) <= 0", "no scale": "max(-(x + c), x + c - 1) <= 0"},
            ),
        ),
        proves(
            encoder.id,
            PUBLISHED,
            statement_step(encoder, PUBLISHED, Means.SYMBOLIC, {"sum": "1*p + 1*r = p", "rest": "0*p + 1*r = p"}),
        ),
        proves(
            model.id,
            PUBLISHED,
            statement_step(
                model,
                PUBLISHED,
                Means.SYMBOLIC,
                {
                    "scaled once": "c*l/(l + m) + m/(l + m) = 1",
                    "one weight": "c*l/(c*l + c*m) = 1",
                },
            ),
        ),
        proves(
            model.id,
            SHARPENED,
            statement_step(
                model,
                SHARPENED,
                Means.SMT,
                {"half": "abs((l*v + m*w)/(l + m)) <= R/2", "the sum": "abs(l*v + m*w) <= R"},
            ),
        ),
        proves(
            close.id,
            PUBLISHED,
            statement_step(close, PUBLISHED, Means.SMT, {"eps": "abs(N - K) < e", "delta": "abs(N - K) < d"}),
        ),
    )


def _example(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    example, definition = claims["DEF-TOY"], claims["DEF-D"]
    x = Variable("x0")
    few, large = task([(x, (1,)), (1 - x, everywhere(8))], 8), task([(2 * x, (1, 2)), (1 - x, (1, 2))], 4)
    kink = task([(apply("abs", x - Fraction(1, 2)), (1, 2)), (x, (1, 2))], 4)
    return (
        proves(
            example.id,
            PUBLISHED,
            statement_step(
                example,
                PUBLISHED,
                Means.SMT,
                {
                    "only max": "max(a, b) = min(a, b) + (1 - min(1 - a, 1 - b))",
                    "no constant": "max(a, b) + min(a, b) = min(a, b) - min(1 - a, 1 - b)",
                },
            ),
            step(
                "one token more: max(M, c) = 1 - min(1 - M, 1 - c)",
                Means.SMT,
                [],
                "max(M, c) = 1 - min(1 - M, 1 - c)",
                {"sign": "max(M, c) = 1 - min(M, c)", "shift": "max(M, c) = -min(1 - M, 1 - c)"},
            ),
            task_step("it satisfies DEF-D (T = 4)", toy(SEQ_LEN), DEFINITION, {"one position": few}),
        ),
        refutes(
            example.id,
            ARGUMENT,
            counterexample_step(
                example,
                ARGUMENT,
                {"K": "1", "h": "1/2"},
                {"f(x) = x^2": "0 - 2*h^2 + (2*h)^2 >= K*h^2", "semi-definite": "0 - 2*h + 2*h >= 0"},
            ),
        ),
        proves(
            example.id,
            REPAIRED,
            task_step(
                "T = 4",
                toy(SEQ_LEN),
                (*DEFINITION, *WITHOUT_HESSIAN),
                {"the same feature twice": task([(x, everywhere(4)), (x, everywhere(4))], 4), "kink": kink},
            ),
        ),
        proves(
            definition.id,
            PUBLISHED,
            task_step("squared distances", quadratic(2, 1, SEQ_LEN), DEFINITION, {"|S| < T/4": few, "2 x": large}),
            task_step("max + min", toy(SEQ_LEN), DEFINITION, {"a kink": kink}),
            task_step(
                "E1 on the cube", synthetic(SEQ_LEN, ((1, 1), (1, -1))), DEFINITION, {"not scaled": large, "few": few}
            ),
        ),
    )


def _model(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    model, norm, readout, weights = (claims[name] for name in ("A1", "A1.1", "A1.2", "A1.3"))
    two_norms = {"gate 3": "c^2*s <= 5/6", "not squared": "c*s <= 1"}
    return (
        proves(
            model.id, PUBLISHED, statement_step(model, PUBLISHED, Means.SMT, two_norms), _statement(readout, PUBLISHED)
        ),
        refutes(
            model.id,
            ARGUMENT,
            counterexample_step(
                model,
                ARGUMENT,
                {"D": "1", "c": "1/3", "w": "1"},
                {"with the factor": "abs(w/c) <= 1/c", "before rescaling": "abs(w) <= 1"},
            ),
        ),
        proves(
            model.id,
            REPAIRED,
            statement_step(
                model,
                REPAIRED,
                Means.SMT,
                {
                    "one copy": "abs(v/(c*k)*relu(w*(c*a)) - v*relu(w*a)) + max(0, abs(v/(c*k)) - 1) = 0",
                    "weights below 1/2": "max(0, abs(v/(c*k)) - 1/2) = 0",
                },
            ),
        ),
        proves(
            norm.id,
            PUBLISHED,
            statement_step(norm, PUBLISHED, Means.SMT, {"not squared": "s/B <= 1", "half": "s/B^2 <= 1/2"}),
        ),
        proves(readout.id, PUBLISHED, _statement(readout, PUBLISHED)),
        refutes(
            readout.id,
            ARGUMENT,
            counterexample_step(
                readout,
                ARGUMENT,
                {"a": "2", "b": "1"},
                {"with 1.13": "gelu(a) - gelu(b) <= 113/100*(a - b)", "relu": "relu(a) - relu(b) <= a - b"},
            ),
        ),
        proves(readout.id, REPAIRED, _gelu_step(), *_gelu_beyond(readout)),
        proves(
            weights.id,
            PUBLISHED,
            statement_step(
                weights,
                PUBLISHED,
                Means.SMT,
                {"one unit": "abs(n*(w*x)) <= abs(x)", "strict": "abs(n*(w*x)) < n*abs(x)"},
            ),
        ),
    )


def _statement(readout: Claim, form: Form) -> Step:
    wrong = {"half": "abs(relu(a) - relu(b)) <= abs(a - b)/2", "strict": "abs(relu(a) - relu(b)) < abs(a - b)"}
    return statement_step(readout, form, Means.SMT, wrong)


def _gelu_step() -> Step:
    def decide(bound: Fraction) -> Verdict:
        width = 2 * GELU_RANGE
        scaled = apply("gelu", width * Variable("x0") - GELU_RANGE)
        found = gradient_l1_supremum(scaled, ("x0",), unit_box(1), GELU_TOLERANCE)
        if found.high <= width * bound:
            return Proved(f"sup |gelu'| on [-{GELU_RANGE}, {GELU_RANGE}] is at most {float(found.high / width):.5f}")
        return Undecided(f"sup |gelu'| may be {float(found.high / width):.5f}", "a larger bound")

    mutants = tuple(Mutant(f"at most {bound}", partial(decide, Fraction(bound))) for bound in ("1", "1.12", "1.1289"))
    return Step("|gelu'| <= 1.13 on [-4, 4]", Means.BALL, partial(decide, Fraction("1.13")), mutants)


def _gelu_beyond(readout: Claim) -> tuple[Step, ...]:
    """|gelu'| <= 1.13 off [-4, 4]: the statement for x >= 4 (F = e^{x^2/8} >= 1 + x^2/8), and -x from x."""
    return (
        statement_step(readout, REPAIRED, Means.SMT, {"at most 1": "P + c*x/E <= 1", "half": "P + c*x/E <= 113/200"}),
        *exponential_steps(),
        step(
            "gelu'(-x) = 1 - gelu'(x), as Phi(-x) = 1 - Phi(x): with 0 <= gelu'(x) <= 1.13 at most 1.13 in magnitude",
            Means.SMT,
            ["g >= 0", "g <= 113/100"],
            "abs(1 - g) <= 113/100",
            {"without the lower bound 0": "abs(1 - g) <= 99/100", "an eighth": "abs(1 - g) <= 13/100"},
        ),
    )


def task(features: Sequence[tuple[Expression, tuple[int, ...]]], seq_len: int) -> RetrievalTask:
    outer = sum(variables("z", len(features))[1:], start=Variable("z0") + 0)
    return RetrievalTask(
        "example", 1, seq_len, tuple(Feature(expression, positions) for expression, positions in features), outer
    )
