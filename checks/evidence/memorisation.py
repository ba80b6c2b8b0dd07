"""Evidence for T2.3, its steps, L8 and T2.3-R (L9 and N12: `maxima`). In prose: docs/proofs/memorisation.md."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from checks.certificates import writer
from checks.evidence.enough_heads import padding_steps
from checks.evidence.tools import (
    conditional_step,
    confirm,
    counterexample_step,
    proves,
    refutes,
    statement_step,
    step,
)
from constructions import deep_relu, memoriser
from constructions.arithmetic import fractions
from constructions.network import Dense, Perceptron
from constructions.task import Feature, RetrievalTask
from theory.expressions import Variable
from theory.ledger import Claim, Evidence, Form, Means, Mutant, Step, Verdict

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for T2.3-P, L8, T2.3-1, -2, -3, -end, T2.3 and T2.3-R."""
    return (
        *_listing(claims),
        *_pieces(claims),
        *_assembly(claims),
        *_remark(claims),
    )


def _listing(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    tokens, merge = claims["T2.3-P"], claims["L8"]
    sides = "(relu(x - 1 + 1) + (T - 1)*relu(y - 1 + 0))/T"
    return (
        proves(
            tokens.id,
            PUBLISHED,
            step(
                "c0 = 0: every score is 0, so every weight is e^0/(T e^0) (E = e^0)",
                Means.SYMBOLIC,
                [],
                "(0*k)*E/(T*E) + E/(T*E) = 1/T",
                {"not normalised": "E/(T*E) = 1", "T - 1 tokens": "E/((T - 1)*E) = 1/T"},
            ),
            statement_step(
                tokens,
                PUBLISHED,
                Means.SMT,
                {"not divided": f"{sides} = x", "the other block": f"{sides} = y/T"},
            ),
        ),
        proves(
            tokens.id,
            SHARPENED,
            statement_step(tokens, SHARPENED, Means.SMT, {"no growth": "s + x^2 <= n", "strict": "s + x^2 < n + 1"}),
            step(
                "|x|^2 <= d scaled by 1/d",
                Means.SMT,
                ["d >= 1", "s >= 0", "s <= d"],
                "s/d <= 1",
                {"as printed": "s <= 1", "half": "s/d <= 1/2"},
            ),
        ),
        proves(
            merge.id,
            PUBLISHED,
            statement_step(
                merge,
                PUBLISHED,
                Means.SYMBOLIC,
                {
                    "bias not passed on": "s + a*(b*x + c) + e = (s + (a*b)*x) + (c + e)",
                    "weights added": "s + a*(b*x + c) + e = (s + (a + b)*x) + (a*c + e)",
                },
            ),
            step(
                "2 + 3 + 2 matrices less 2 merges are 5; the hidden widths u, v, w, x are those of the three networks",
                Means.SMT,
                ["u <= A", "v <= B", "w <= B", "x <= C", "l = 2 + 3 + 2 - 1 - 1"],
                "max(abs(l - 5), max(u, v, w, x) - max(A, B, C)) <= 0",
                {
                    "four layers": "max(abs(l - 4), max(u, v, w, x) - max(A, B, C)) <= 0",
                    "no wider than the first": "max(u, v, w, x) <= A",
                },
            ),
        ),
        proves(
            merge.id,
            SHARPENED,
            statement_step(merge, SHARPENED, Means.SMT, {"strictly": "p*q > p + q", "twice": "p*q >= 2*(p + q)"}),
            step(
                "a rank-one product has the entries w_i v_j, none 0 if no factor is",
                Means.SMT,
                ["w^2 > 0", "v^2 > 0"],
                "(w*v)^2 > 0",
                {"positive": "w*v > 0", "at least 1": "(w*v)^2 >= 1"},
            ),
        ),
    )


def _pieces(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    first, second, third = (claims[f"T2.3-{number}"] for number in "123")
    return (
        proves(
            first.id,
            PUBLISHED,
            step(
                "inputs divided by T, weights multiplied by T",
                Means.SYMBOLIC,
                [],
                "(T*w)*(x/T) + b = w*x + b",
                {"not undone": "w*(x/T) + b = w*x + b", "bias too": "(T*w)*(x/T) + T*b = w*x + b"},
            ),
            statement_step(
                first,
                PUBLISHED,
                Means.SMT,
                {
                    "one token": "T*D*(w*(d + 2) + 1) <= D*(C*(d + 2) + 1)*X",
                    "without output bias": "T*D*(w*(d + 2) + 1) <= T*D*C*(d + 2)*X",
                },
            ),
        ),
        proves(
            second.id,
            PUBLISHED,
            step(
                "the staircase acts on x as on min(max(x, 0), 1), or is saturated: steps at q in [0, 1 - p]",
                Means.SMT,
                ["p > 0", "q >= 0", "q <= 1 - p"],
                "min(relu(x - q), p) = min(relu(max(0, min(x, 1)) - q), p)",
                {
                    "not clipped below 1": "min(relu(x - q), p) = min(relu(min(x, 1 - p) - q), p)",
                    "a step more": "min(relu(x - q - p), p) = min(relu(max(0, min(x, 1)) - q - p), p)",
                },
            ),
            step(
                "capping a summand at p does not change a sum capped at p",
                Means.SMT,
                ["p > 0", "a >= 0", "b >= 0"],
                "min(a + b, p) = min(min(a, p) + b, p)",
                {"capped at p/2": "min(a + b, p) = min(min(a, p/2) + b, p)", "not capped": "a + b = min(a, p) + b"},
            ),
            step(
                "all 1 - u < 0: no step is active, the minimum's network gives 1",
                Means.SMT,
                ["u > 1", "q >= 0"],
                "1 - relu(1 - u - q) = 1",
                {"u itself": "1 - relu(1 - u - q) = u", "below 1": "1 - relu(1 - u - q) < 1"},
            ),
            statement_step(second, PUBLISHED, Means.SMT, {"half": "abs(v - m) <= p/2", "exact": "v = m"}),
        ),
        proves(second.id, ARGUMENT, _outside_the_cube(second)),
        proves(
            third.id,
            PUBLISHED,
            statement_step(
                third,
                PUBLISHED,
                Means.SMT,
                {"one input": "w*(D + 2) + 1 <= (C*2 + 1)*X", "no width": "w*(D + 2) + 1 <= X"},
            ),
        ),
        proves(
            third.id,
            ARGUMENT,
            statement_step(
                third,
                ARGUMENT,
                Means.SMT,
                {"no growth": "f + min(s, p) <= k*p", "positive": "f + min(s, p) > 0"},
            ),
            step(
                "n terms of at most p = 1/n: the output 1 - f lies in [0,1]",
                Means.SMT,
                ["n >= 1", "p = 1/n", "f >= 0", "f <= n*p"],
                "max(f - 1, -f) <= 0",
                {"in [0,1/2]": "1 - f <= 1/2", "inside": "1 - f > 0"},
            ),
        ),
    )


def _outside_the_cube(second: Claim) -> Step:
    assert second.argument is not None
    assert second.argument.proposition is not None
    stated = second.argument.proposition.conclusion
    return conditional_step(
        "L9 at the outputs of F_1",
        "the outputs of F_1 lie in [0,1] (clipped, for example)",
        counterexample_step(
            second, ARGUMENT, {"e": "2/3", "u": "-2/3", "s": "5/3"}, {"up to eps": f"{stated.left} <= e"}
        ),
        step(
            "u in [0,1]",
            Means.SMT,
            ["u >= 0", "u <= 1", "s = 1 - u"],
            str(stated),
            {"a negative error": f"{stated.left} < 0", "not turned": f"{stated.left} >= u"},
        ),
    )


def _assembly(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    end, theorem = claims["T2.3-end"], claims["T2.3"]
    return (
        refutes(end.id, PUBLISHED, _printed_error_step()),
        refutes(
            end.id,
            ARGUMENT,
            counterexample_step(
                end,
                ARGUMENT,
                {"e": "1", "L": "1", "u": "1", "z": "0", "v": "2", "F": "2", "G": "0", "P": "3"},
                {"(2 L + 1) eps": "abs(P - G) <= (2*L + 1)*e"},
            ),
        ),
        proves(
            end.id,
            REPAIRED,
            statement_step(
                end, REPAIRED, Means.SMT, {"as published": "abs(P - G) <= L*e", "one eps": "abs(P - G) <= (L + 1)*e"}
            ),
            step(
                "merged matrices: T D w n and 2 D n w entries, w <= C X, n <= 2 Y (X = eps^-gamma, Y = 1/eps >= 1)",
                Means.SMT,
                ["w >= 0", "C >= 0", "X >= 1", "Y >= 1", "n >= 0", "w <= C*X", "n <= 2*Y"],
                "w*n <= 2*C*(X*Y)",
                {"without X": "w*n <= 2*C*Y", "added": "w*n <= 2*C*(X + Y)"},
            ),
        ),
        proves(
            end.id,
            SHARPENED,
            statement_step(end, SHARPENED, Means.SMT, {"L eps": "abs(P - G) <= L*e", "eps": "abs(P - G) <= e"}),
        ),
        proves(theorem.id, PUBLISHED, _rescaled("2*L + 1"), _powers(), _spare_step(), *padding_steps()),
        proves(theorem.id, ARGUMENT, _counting_step(theorem)),
        proves(
            theorem.id,
            SHARPENED,
            _rescaled("L + 1"),
            step(
                "constant numbers of parameters and eps^-gamma: exponents, l = log(1/eps) >= 0",
                Means.SMT,
                ["l >= 0", "g >= 0"],
                "max(g*l, 0) <= g*l",
                {"half": "max(g*l, 0) <= g*l/2", "none": "max(g*l, 0) <= 0"},
            ),
            step(
                "the exact maximum of 4 numbers takes 2 rounds, 3 layers; the minimum is -max(-x)",
                Means.SMT,
                ["a = max(x, y)", "b = max(z, w)"],
                "relu(a - b) + relu(b) - relu(-b) = max(x, y, z, w)",
                {"one round": "relu(x - y) + relu(y) - relu(-y) = max(x, y, z, w)", "signs": "relu(a - b) = max(a, b)"},
            ),
            _spare_step(),
            *padding_steps(),
        ),
    )


def _spare_step() -> Step:
    return step(
        "spare dimensions of n > T d hold c0 = 0 and W_O = I: weight 0 on them changes nothing",
        Means.SYMBOLIC,
        [],
        "(s + 1*x + 0*y) + 0*(0 + y) = s + x",
        {"read": "(s + 1*x + 0*y) + 1*(0 + y) = s + x", "mixed in": "(s + 1*x + 1*y) + 0*(0 + y) = s + x"},
    )


def _counting_step(theorem: Claim) -> Step:
    return conditional_step(
        "what is counted",
        "parameters are non-zero weights and biases, or gamma >= 1",
        counterexample_step(theorem, ARGUMENT, {"l": "1", "g": "0"}, {"non-zero": "max(g*l, l, g*l + l) <= (1 + g)*l"}),
        _powers(),
    )


def _rescaled(factor: str) -> Step:
    return step(
        f"run with eps' = eps/({factor} + 1): the error ({factor}) eps' is below eps",
        Means.SMT,
        ["e > 0", "L >= 0", f"f*({factor} + 1) = e"],
        f"({factor})*f < e",
        {"twice": f"2*({factor})*f < e", "unscaled": f"({factor})*e < e"},
    )


def _powers() -> Step:
    return step(
        "eps^-gamma, 1/eps, eps^-gamma and their products are at most eps^{-(1+gamma)}: exponents, l = log(1/eps) >= 0",
        Means.SMT,
        ["l >= 0", "g >= 0"],
        "max(g*l, l, g*l + l) <= (1 + g)*l",
        {"the larger one": "max(g*l, l, g*l + l) <= max(1, g)*l", "gamma": "max(g*l, l, g*l + l) <= g*l"},
    )


def _printed_error_step() -> Step:
    """D = T = d = 1, f = F_0 = identity (L = 1), eps = 1/10: F_1 and F_3 each 1/10 too large give 2 eps > L eps."""
    mutant = Mutant("up to (2 L + 1) eps", partial(_error_at_least, Fraction(31, 100)))
    return Step("a network of three pieces", Means.EXACT, partial(_error_at_least, Fraction(1, 5)), (mutant,))


def _error_at_least(bound: Fraction) -> Verdict:
    task = RetrievalTask("one token", 1, 1, (Feature(Variable("x0"), (1,)),), Variable("z0"))
    eps = Fraction(1, 10)
    above = Perceptron((Dense(fractions([[1]]), fractions([0]), "relu"), Dense(fractions([[1]]), fractions([eps]))))

    def minimum(size: int) -> Perceptron:
        return deep_relu.minimum_from(deep_relu.staircase_maximum(size, 10))

    network = memoriser.memoriser(task, [above], minimum, above)
    return confirm(writer.error_at_least(network, task, bound, fractions([[Fraction(1, 2)]]), True))


def _remark(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    remark = claims["T2.3-R"]
    exact = {"c": "1", "x": "0", "y": "0", "e": "0"}
    return (
        refutes(
            remark.id,
            PUBLISHED,
            counterexample_step(
                remark, PUBLISHED, exact, {"without 1/eps": "5 >= 2*c", "an upper bound": "5*e <= 2*c"}
            ),
        ),
        refutes(
            remark.id,
            ARGUMENT,
            counterexample_step(
                remark,
                ARGUMENT,
                {"p": "2", "q": "3"},
                {"kept apart": "p + q <= p + q", "as L8 says": "p*q <= p*q"},
            ),
        ),
        proves(
            remark.id,
            REPAIRED,
            statement_step(
                remark,
                REPAIRED,
                Means.SMT,
                {"the smaller": "max(g*l, l) <= min(1, g)*l", "gamma": "max(g*l, l) <= g*l"},
            ),
        ),
    )
