"""Evidence for T2.1, its construction and its assembly (the bounds between them: `retrieval_bounds`).

The proofs in prose: docs/proofs/enough_heads.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from checks.certificates import writer
from checks.evidence.calculus import gradient_steps
from checks.evidence.softmin import sum_step
from checks.evidence.tools import (
    conditional_step,
    confirm,
    counterexample_step,
    exponential_steps,
    proves,
    refutes,
    statement_step,
    step,
)
from constructions import specialists
from constructions.arithmetic import fractions
from constructions.task import Feature, RetrievalTask
from theory.expressions import Variable
from theory.ledger import Claim, Evidence, Form, Means, Mutant, Step, Verdict

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for T2.1-10, -gate, -11, -12, -end, -M and T2.1."""
    return (
        *_construction(claims),
        *_assembly(claims),
        *_theorem(claims),
    )


def _construction(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    squeeze, gate, norm, score = (claims[f"T2.1-{name}"] for name in ("10", "gate", "11", "12"))
    squeeze_wrong = {
        "no squeeze": "max(-p, p - 1, abs(p - f) - d) <= 0",
        "half the error": "abs((p + d/2)/(1 + d) - f) <= d/2",
    }
    return (
        refutes(
            squeeze.id,
            PUBLISHED,
            counterexample_step(
                squeeze,
                PUBLISHED,
                {"d": "1/10", "f": "0", "p": "-1/10"},
                {"up to delta": "max(-p, p - 1) <= d", "squeezed": "max(-(p + d), (p + d)/(1 + 2*d) - 1) <= 0"},
            ),
        ),
        proves(squeeze.id, ARGUMENT, _range_step(squeeze)),
        proves(squeeze.id, REPAIRED, statement_step(squeeze, REPAIRED, Means.SMT, squeeze_wrong)),
        refutes(gate.id, PUBLISHED, _printed_network_step()),
        proves(
            norm.id,
            PUBLISHED,
            statement_step(norm, PUBLISHED, Means.SMT, {"half": "p^2 + r^2 <= 1", "strict": "p^2 + r^2 < 2"}),
            sum_step("D blocks: their squared norms add up"),
        ),
        proves(norm.id, ARGUMENT, _rescaling_step(norm)),
        proves(
            norm.id,
            REPAIRED,
            statement_step(norm, REPAIRED, Means.SMT, {"as published": "p^2 + r^2 <= 2", "four": "p^2 + r^2 <= 4"}),
            sum_step("D blocks: their squared norms add up"),
        ),
        proves(
            score.id,
            PUBLISHED,
            statement_step(
                score, PUBLISHED, Means.SYMBOLIC, {"sign": "(-1)*p + 1*r = p + r", "gate": "(-1)*p + 1*r = -p"}
            ),
        ),
    )


def _assembly(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    end, size = claims["T2.1-end"], claims["T2.1-M"]
    steep = {"d": "1/4", "z": "0", "P": "-1/4", "y": "1/10", "Q": "7/20"}
    return (
        proves(
            end.id,
            PUBLISHED,
            *gradient_steps(),
            statement_step(
                end,
                PUBLISHED,
                Means.SMT,
                {"strict, as DEF-EPS needs": "abs(P - G) < e", "without delta_0": "abs(P - G) <= e/2"},
            ),
        ),
        refutes(
            end.id,
            ARGUMENT,
            counterexample_step(
                end,
                ARGUMENT,
                steep,
                {"2 delta more": "abs(Q - P) <= abs(y - z) + 2*d"},
            ),
        ),
        proves(
            end.id,
            REPAIRED,
            *gradient_steps(),
            statement_step(
                end,
                REPAIRED,
                Means.SMT,
                {"half": "abs(P - G) < e/2", "only the outer map": "abs(P - G) <= abs(P - F)"},
            ),
        ),
        proves(
            size.id,
            PUBLISHED,
            step(
                "eps^-gamma_f, eps^-gamma_0 and 1 are at most eps^-gamma: in exponent space, l = log(1/eps) >= 0",
                Means.SMT,
                ["l >= 0", "f >= 0", "g >= 0"],
                "max(f*l, g*l, 0) <= max(f, g)*l",
                {"the smaller power": "max(f*l, g*l, 0) <= min(f, g)*l", "the sum halved": "f*l <= (f + g)*l/2"},
            ),
            statement_step(
                size,
                PUBLISHED,
                Means.SMT,
                {"without K": "A*X + B*Y + K <= (A + B)*Z", "smaller power": "A*X + B*Y + K <= (A + B + K)*X"},
            ),
        ),
        proves(size.id, ARGUMENT, _absorbing_step(size)),
    )


def _range_step(squeeze: Claim) -> Step:
    return conditional_step(
        "the range of the network",
        "the feature keeps the distance delta from 0 and 1 (A3.2 only says: within delta)",
        counterexample_step(
            squeeze, ARGUMENT, {"d": "1/10", "f": "0", "p": "-1/10"}, {"up to delta": "max(-p, p - 1) <= d"}
        ),
        step(
            "values at distance delta from 0 and 1",
            Means.SMT,
            ["d > 0", "f >= d", "f <= 1 - d", "p - f <= d", "f - p <= d"],
            "max(-p, p - 1) <= 0",
            {"inside by delta": "max(-p, p - 1) <= -d"},
        ),
    )


def _rescaling_step(norm: Claim) -> Step:
    return conditional_step(
        "what beta can absorb",
        "the first layer of the read-out grows by the inverse factor, for the values are rescaled too",
        counterexample_step(norm, ARGUMENT, {"c": "1/2", "p": "1"}, {"not more": "c*p <= p", "twice": "2*(c*p) = p"}),
        step(
            "beta/c undoes c in the scores, u/c in the first layer of the read-out",
            Means.SMT,
            ["c > 0"],
            "max(abs((b/c)*(c*(-p + r)) - b*(-p + r)), abs((u/c)*(c*p) - u*p)) <= 0",
            {"beta alone": "max(abs((b/c)*(c*(-p + r)) - b*(-p + r)), abs(u*(c*p) - u*p)) <= 0"},
        ),
    )


def _absorbing_step(size: Claim) -> Step:
    return conditional_step(
        "absorbing a constant",
        "eps <= 1: a constant number of parameters is not at most C/eps^gamma as eps grows",
        counterexample_step(size, ARGUMENT, {"K": "1", "Z": "1/2"}, {"with K more": "K <= K*Z + K"}),
        step("Z >= 1", Means.SMT, ["K > 0", "Z >= 1"], "K <= K*Z", {"strictly": "K < K*Z"}),
    )


def _theorem(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    theorem = claims["T2.1"]
    total = step(
        "1/2 + 1/4 + 1/(2e) < 0.94",
        Means.BALL,
        [],
        "1/2 + 1/4 + exp(-1)/2 < 47/50",
        {"0.93": "1/2 + 1/4 + exp(-1)/2 < 93/100", "0.9": "1/2 + 1/4 + exp(-1)/2 < 9/10"},
    )
    shares = step(
        "L_0 |ztilde - zbar|_inf <= (1/4 + k/2) eps/D <= (1/4 + k/2) eps, and eps/2 for the outer map",
        Means.SMT,
        ["e > 0", "L > 0", "D >= 1", "k > 0", "m >= 0", "L*D*m <= (1/4 + k/2)*e", "x <= e/2 + L*m"],
        "x <= (1/2 + 1/4 + k/2)*e",
        {"without the outer map": "x <= (1/4 + k/2)*e", "halved": "x <= (1/2 + 1/4 + k/2)*e/2"},
    )
    merged = step(
        "the squeeze merges into the output layer of the network of A3.2",
        Means.SYMBOLIC,
        [],
        "((s + w*h + b) + d/2)/(1 + d) = s/(1 + d) + (w/(1 + d))*h + (b + d/2)/(1 + d)",
        {
            "weights kept": "((s + w*h + b) + d/2)/(1 + d) = s/(1 + d) + w*h + (b + d/2)/(1 + d)",
            "bias kept": "((s + w*h + b) + d/2)/(1 + d) = s/(1 + d) + (w/(1 + d))*h + b",
        },
    )
    return (
        proves(theorem.id, PUBLISHED, shares, total, merged, _class_token_step(), *padding_steps()),
        refutes(theorem.id, ARGUMENT, _printed_network_step()),
        proves(theorem.id, REPAIRED, shares, total),
        proves(
            theorem.id, SHARPENED, *exponential_steps(), _lambert_below_log(), _class_token_step(), *padding_steps()
        ),
    )


def _class_token_step() -> Step:
    return step(
        "the first bias of the read-out takes the class token off, which DEF-H adds to the attention output",
        Means.SYMBOLIC,
        [],
        "s + u*(c + z) + (b - u*c) = s + u*z + b",
        {"left there": "s + u*(c + z) + b = s + u*z + b", "twice": "s + u*(c + z) + (b - 2*u*c) = s + u*z + b"},
    )


def padding_steps() -> tuple[Step, ...]:
    """A network with N <= C eps^-gamma parameters is in the class of every M > C eps^-gamma."""
    return (
        step(
            "a hidden unit with output weight 0 changes nothing, so more parameters than needed are allowed",
            Means.SMT,
            [],
            "s + 0*relu(u) = s",
            {"weight 1": "s + 1*relu(u) = s", "without activation": "s + 1*u = s"},
        ),
        step(
            "every M above the bound is more than needed",
            Means.SMT,
            ["N <= C*X", "M > C*X"],
            "N < M",
            {"twice": "2*N < M", "N + 1": "N + 1 <= M"},
        ),
    )


def _printed_network_step() -> Step:
    """Gate -1 as printed leaves an error of 1/2 for every beta, so nothing tends to 0; gate 2 does not."""
    mutant = Mutant("gate 2", partial(_error_at_least_half, REPAIRED))
    return Step("the printed network", Means.EXACT, partial(_error_at_least_half, PUBLISHED), (mutant,))


def _error_at_least_half(form: Form) -> Verdict:
    """D = 1, d = 1, T = 2, S = {1}, f(x) = x, eps = 1/4: at X = (1, 0) the printed network is off by 1/2, any beta."""
    task = RetrievalTask("one token", 1, 2, (Feature(Variable("x0"), (1,)),), Variable("z0"))
    built = specialists.build(task, Fraction(1, 4), form, specialists.Knowledge(Fraction(1)))
    return confirm(writer.error_at_least(built.network, task, Fraction(1, 2), fractions([[1], [0]]), form is PUBLISHED))


def _lambert_below_log() -> Step:
    return step(
        "W((T-1)/e) <= log T: from T - 1 = u E k with E = e^u, k = e >= 2 and 1/E = e^{-u} >= 1 - u",
        Means.SMT,
        ["u >= 0", "E >= 1", "k >= 2", "1/E >= 1 - u", "T - 1 = u*E*k"],
        "E <= T",
        {"below T - 1": "E <= T - 1", "half": "2*E <= T"},
    )
