"""Evidence for Conjecture 1 and the results N6, N7, N13. The proofs in prose: docs/proofs/depth.md.

N7 in exponents: v = sqrt(D) T u_i = e^{-b w}; t = ln T; the chord of ln on [1, e] errs by less than 0.1234 = 617/5000.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from checks import smt
from checks.evidence.calculus import gradient_steps
from checks.evidence.tools import counterexample_step, exhaustive_step, proves, refutes, statement_step, step
from theory.ledger import Claim, Evidence, Form, Means, Mutant, Proved, Step, Verdict
from theory.ledger import Undecided as UndecidedVerdict
from theory.paper_count import paper_count, paper_threshold_eps
from theory.propositions import proposition
from theory.too_few_heads import parameters_lower, threshold_eps

PUBLISHED, REPAIRED, SHARPENED = Form.PUBLISHED, Form.REPAIRED, Form.SHARPENED
Sizes = tuple[int, int, int, int]
RHO = Fraction(1, 2)
HUNDREDTH = Fraction(1, 100)
EXPONENTS: Mapping[Sizes, tuple[str, str]] = {
    (2, 1, 2, 128): ("10.50", "2.48"),
    (8, 1, 4, 128): ("32.15", "4.25"),
    (8, 2, 4, 128): ("80.92", "12.88"),
    (32, 1, 12, 2048): ("128.11", "3.78"),
}
"""(n, s, D, T): -log10 of the paper's eps_0 and of N4's first eps, as N6 (sharpened) states them."""


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for CJ1, N6, N7 and N13."""
    return (
        refutes("CJ1", PUBLISHED, _constant_in_length(claims["CJ1"])),
        *_thresholds(claims["N6"]),
        *_fixed_eps(claims["N7"]),
        proves("N13", PUBLISHED, *_token_heads(claims["N13"])),
    )


def _constant_in_length(conjecture: Claim) -> Step:
    """N13's exponent g does not depend on T: for every a, b > 0 it is too small once X = T^b > 11 g/a."""
    values = {"a": "1", "l": "1", "g": "1", "X": "12"}
    right = {"without growth in T": "g*l >= a*l/11", "constant times log": "g*l >= a*l"}
    at_one = counterexample_step(conjecture, PUBLISHED, values, right)
    given = ["a > 0", "l > 0", "g > 0", "X > 11*g/a"]

    def decide(conclusion: str, witness: Step) -> Verdict:
        every = smt.prove(proposition(given, conclusion))
        if not isinstance(every, Proved):
            return UndecidedVerdict(f"Not for every a, b: {every.detail}", "a longer sequence")
        return witness.run()

    lower = Mutant("for shorter sequences too", partial(decide, "g*l < a*l*X/22", at_one))
    return Step(
        "an exponent g free of T, for every a and b; the member a = b = g = 1, T = 12",
        Means.EXACT,
        partial(decide, "g*l < a*l*X/11", at_one),
        (*at_one.mutants, lower),
    )


def _thresholds(claim: Claim) -> tuple[Evidence, ...]:
    def paper(case: tuple[Sizes, str], digits: int) -> bool:
        sizes, stated = case
        return _is_power(paper_threshold_eps(RHO, *sizes), stated, digits)

    def ours(case: tuple[Sizes, str], digits: int) -> bool:
        sizes, stated = case
        eps = threshold_eps(1, RHO, *sizes)
        return eps is not None and _is_power(eps, stated, digits)

    def silent(sizes: Sizes, eps: Fraction) -> bool:
        per_grid = Fraction(RHO, 3 * (sizes[3] // 4 - sizes[1] - sizes[2] + 1))
        no_count = eps > per_grid or not paper_count(eps, RHO, *sizes).forces_collision
        return no_count and not parameters_lower(eps, RHO, *sizes).at_least(1)

    def steps(papers: Mapping[Sizes, str], firsts: Mapping[Sizes, str], digits: int) -> tuple[Step, Step]:
        return (
            exhaustive_step(
                f"eps_0 of the published count, to {digits} decimals of its exponent",
                lambda: papers.items(),
                lambda case: paper(case, digits),
                {"a tenth smaller": lambda case: paper((case[0], str(Fraction(case[1]) + Fraction(11, 10))), digits)},
            ),
            exhaustive_step(
                f"N4's first parameter, to {digits} decimals of its exponent",
                lambda: firsts.items(),
                lambda case: ours(case, digits),
                {"ten times smaller": lambda case: ours((case[0], str(Fraction(case[1]) + 1)), digits)},
            ),
        )

    rough_paper = dict(zip(EXPONENTS, ("10.5", "32", "81", "128"), strict=True))
    rough_first = dict(zip(EXPONENTS, ("2.5", "4.3", "12.9", "3.8"), strict=True))
    return (
        proves(
            claim.id,
            PUBLISHED,
            statement_step(
                claim,
                PUBLISHED,
                Means.SMT,
                {
                    "n + 1": "4*q*k = T - 4*((n + 1)*s + D)",
                    "D - 1 (N4's)": "4*q*k = T - 4*((n + 2)*s + D - 1)",
                },
            ),
            steps({sizes: rough_paper[sizes] for sizes in list(EXPONENTS)[:1]}, rough_first, 1)[0],
            steps(dict(list(rough_paper.items())[1:]), rough_first, 0)[0],
            steps(rough_paper, rough_first, 1)[1],
            exhaustive_step(
                "at eps = 1/100 the published count forces no collision, N4 no parameter",
                lambda: EXPONENTS,
                lambda sizes: silent(sizes, HUNDREDTH),
                {"at 10^-13 either": lambda sizes: silent(sizes, Fraction(1, 10**13))},
            ),
        ),
        proves(
            claim.id,
            SHARPENED,
            *steps(
                {sizes: first for sizes, (first, _) in EXPONENTS.items()},
                {sizes: second for sizes, (_, second) in EXPONENTS.items()},
                2,
            ),
        ),
    )


def _is_power(eps: Fraction, stated: str, digits: int) -> bool:
    """eps = 10^-stated to the digits given: |log10 eps + stated| <= 10^-digits/2, decided in integers."""
    unit = 2 * 10**digits
    middle = Fraction(stated) * unit
    if middle.denominator != 1:
        return False
    power = eps**unit
    return bool(Fraction(1, 10 ** int(middle + 1)) <= power <= Fraction(1, 10 ** int(middle - 1)))


def _fixed_eps(claim: Claim) -> tuple[Evidence, ...]:
    shared = (*_log_sum_exp(), *_chord())
    return (
        proves(
            claim.id,
            PUBLISHED,
            *shared,
            statement_step(
                claim,
                PUBLISHED,
                Means.SMT,
                {"half": "abs(s + (w + r) - z) <= e/2", "one coordinate": "abs(s + (w + r) - z) <= e/D"},
            ),
            *_neurons(),
            *_heaviside(),
        ),
        proves(
            claim.id,
            SHARPENED,
            *shared,
            statement_step(
                claim,
                SHARPENED,
                Means.SMT,
                {"uncentred": "abs(s + (w + r) - z) <= e", "half": "abs(s + (w + r - 617/10000/b) - z) <= e/2"},
            ),
        ),
    )


def _log_sum_exp() -> tuple[Step, ...]:
    return (
        step(
            "norm: D coordinates of at most 1/sqrt(D), squares add up to at most 1, one more",
            Means.SMT,
            ["D >= 1", "k >= 0", "s <= k/D", "x^2 <= 1/D"],
            "s + x^2 <= (k + 1)/D",
            {"no growth": "s + x^2 <= k/D", "one coordinate": "s + x^2 <= 1/D"},
        ),
        step(
            "v = sum of e^{-b f} over S_i is at least its largest term M and at most |S_i| M, one token more",
            Means.SMT,
            ["n >= 1", "M > 0", "x > 0", "v >= M", "v <= n*M", "N = max(M, x)"],
            "min(v + x - N, (n + 1)*N - v - x) >= 0",
            {"n tokens": "v + x <= n*N", "the smaller": "v + x <= (n + 1)*min(M, x)"},
        ),
        step(
            "so -b w = ln v lies in [-b z, -b z + t] with t = ln T: centred, w + t/(2b) is within t/(2b) of z",
            Means.SMT,
            ["b > 0", "t >= 0", "-b*w >= -b*z", "-b*w <= -b*z + t"],
            "abs(w + t/(2*b) - z) <= t/(2*b)",
            {"not centred": "abs(w - z) <= t/(2*b)", "half": "abs(w + t/(2*b) - z) <= t/(4*b)"},
        ),
    )


def _chord() -> tuple[Step, ...]:
    chord = "log(x) - (x - 1)/(exp(1) - 1)"
    return (
        step(
            "the chord of ln on [1, e] lies at most 0.1234 below it (even on [1, 3])",
            Means.BALL,
            ["x >= 1", "x <= 3"],
            f"{chord} <= 617/5000",
            {"0.12": f"{chord} <= 12/100", "half": f"{chord} <= 617/10000"},
        ),
        step(
            "and not above it on [1.001, 2.718]; at 1 and e they meet and ln is concave",
            Means.BALL,
            ["x >= 1001/1000", "x <= 2718/1000"],
            f"{chord} >= 0",
            {"above": f"{chord} <= 0", "by a tenth": f"{chord} >= 1/10"},
        ),
        step(
            "every interval [v, e v] is [1, e] scaled: the chord of ln at v x is ln v + (x - 1)/(e - 1)",
            Means.SYMBOLIC,
            [],
            "a + ((a + 1) - a)*(v*x - v)/(v*k - v) = a + (x - 1)/(k - 1)",
            {
                "not scaled": "a + ((a + 1) - a)*(v*x - v)/(v*k - v) = a + (v*x - v)/(k - 1)",
                "without ln v": "a + ((a + 1) - a)*(v*x - v)/(v*k - v) = (x - 1)/(k - 1)",
            },
        ),
    )


def _neurons() -> tuple[Step, ...]:
    return (
        step(
            "K = b + t + 1 >= intervals of ratio e reach from e^{-b} to T = e^t",
            Means.SMT,
            ["b > 0", "t >= 0", "K >= b + t"],
            "-b + K >= t",
            {"only b": "-b + K >= t + 1", "half": "-b + K/2 >= t"},
        ),
        step(
            "slopes 1/(b (e-1) v_k) fall along the grid, so the differences a_k are positive (v_{k+1} = k v_k)",
            Means.SMT,
            ["b > 0", "v > 0", "k > 1"],
            "1/(b*(k - 1)*v) - 1/(b*(k - 1)*(k*v)) > 0",
            {"rise": "1/(b*(k - 1)*v) - 1/(b*(k - 1)*(k*v)) < 0", "by 1": "1/(b*(k - 1)*v) > 1/(b*(k - 1)*(k*v)) + 1"},
        ),
        step(
            "the interpolant is sum a_k relu(v_k - v) + const: each interval has the slope of its chord, one more",
            Means.SMT,
            ["v <= p", "p <= q", "g = c*(q - p)"],
            "c*(q - v) = c*relu(p - v) + g",
            {"without the value": "c*(q - v) = c*relu(p - v)", "turned": "c*(q - v) = c*relu(v - p) + g"},
        ),
        step(
            "ceil(a_k) neurons of weight at most 1: at most sum a_k + K, and the a_k telescope to the steepest slope",
            Means.SMT,
            ["n <= s + k", "m < a + 1", "a >= 0"],
            "n + m <= (s + a) + (k + 1)",
            {"no rounding": "n + m <= s + a", "without the slope": "n + m <= s + k + 1"},
        ),
        step(
            "exponents: T e^b with b = D (t/2 + 0.1234)/eps is T^{1 + D/(2 eps)} e^{0.1234 D/eps}",
            Means.SMT,
            ["e > 0", "b = D*(t/2 + 617/5000)/e"],
            "t + b = (1 + D/(2*e))*t + 617/5000*D/e",
            {"D/eps": "t + b = (1 + D/e)*t + 617/5000*D/e", "no constant": "t + b = (1 + D/(2*e))*t"},
        ),
    )


def _heaviside() -> tuple[Step, ...]:
    return (
        step(
            "Heaviside: steps of e/D halve to e/(2D), the log-sum-exp adds t/(2b) <= e/(2D); D coordinates add up to e",
            Means.SMT,
            ["e > 0", "D >= 1", "b > 0", "t >= 0", "b >= D*t/e", "abs(g - w) <= e/(2*D)", "abs(w - z) <= t/(2*b)"],
            "abs(g - z) <= e/D",
            {"half": "abs(g - z) <= e/(2*D)", "eps/D^2": "abs(g - z) <= e/D^2"},
        ),
        step(
            "units for each coordinate: a range of at most 1 + e/D in steps of e/D takes at most D/e + 1 thresholds",
            Means.SMT,
            ["e > 0", "D >= 1", "r <= 1 + e/D", "n <= r/(e/D)"],
            "n <= D/e + 1",
            {"1/eps": "n <= 1/e + 1", "half": "n <= D/(2*e) + 1"},
        ),
    )


def _token_heads(claim: Claim) -> tuple[Step, ...]:
    return (
        step(
            "layer 1: the query of token i <= D is its code e_i, the key -u: the score of token t is -u_i(t)",
            Means.SYMBOLIC,
            [],
            "1*(-u) + 0*(-w) = -u",
            {"the other feature": "1*(-u) + 0*(-w) = -w", "both": "1*(-u) + 1*(-w) = -u"},
        ),
        step(
            "the feed-forward network keeps slot i: relu(y + e_i - 1) is y where the code is 1 and 0 where it is 0",
            Means.SMT,
            ["y >= 0", "y <= 1"],
            "max(abs(relu(y + 1 - 1) - y), relu(y + 0 - 1)) <= 0",
            {"always kept": "relu(y + 0 - 1) = y", "never": "relu(y + 1 - 1) = 0"},
        ),
        step(
            "layer 2: D tokens of weight 1, T - D of weight E = e^-b with empty slots: slot i averages to z/(D + r)",
            Means.SYMBOLIC,
            [],
            "(1*z + (D - 1)*0 + (T - D)*E*0)/(D + (T - D)*E) = z/(D + (T - D)*E)",
            {
                "all T": "(1*z + (D - 1)*0 + (T - D)*E*0)/(D + (T - D)*E) = z/T",
                "no leak": "(1*z + (D - 1)*0 + (T - D)*E*0)/(D + (T - D)*E) = z/D",
            },
        ),
        *gradient_steps(),
        statement_step(
            claim,
            PUBLISHED,
            Means.SMT,
            {"no leak": "abs(P - G) <= c + L*(d + g)", "no softmin gap": "abs(P - G) <= c + L*(d + r/D)"},
        ),
        step(
            "width: features, codes, slots and two more; heads times layers stays 2 < D",
            Means.SMT,
            ["D >= 3", "w = D + D + D + 1 + 1"],
            "max(abs(w - (3*D + 2)), 2 - D) <= 0",
            {"2D": "w <= 2*D", "narrower": "w < 3*D + 2"},
        ),
        step(
            "W(511/e) < 3.91, as 3.91 e^{4.91} > 511",
            Means.BALL,
            [],
            "391/100*exp(491/100) > 511",
            {"3.8": "38/10*exp(48/10) > 511", "without + 1": "391/100*exp(391/100) > 511"},
        ),
        step(
            "D = 8, T = 512, beta = 256: 3.91/256 + 63 e^{-256} < 0.02",
            Means.BALL,
            [],
            "391/100/256 + 504/8*exp(-256) < 1/50",
            {"0.015": "391/100/256 + 504/8*exp(-256) < 3/200", "beta = 128": "391/100/128 + 504/8*exp(-128) < 1/50"},
        ),
    )
