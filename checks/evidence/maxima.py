"""Evidence for L9 and N12, networks that take maxima. The proofs in prose: docs/proofs/memorisation.md.

In the steps p = 1/n, q = k/n, m is the maximum, f the sum of the first k terms of fhat and c the next one.
"""

from __future__ import annotations

from collections.abc import Mapping

from checks.evidence.tools import conditional_step, counterexample_step, proves, statement_step, step
from theory.ledger import Claim, Evidence, Form, Means, Step

PUBLISHED, ARGUMENT, REPAIRED, SHARPENED = Form.PUBLISHED, Form.ARGUMENT, Form.REPAIRED, Form.SHARPENED


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for L9 and N12."""
    return (*_maximum(claims), *_halved(claims))


def _maximum(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    lemma = claims["L9"]
    assert lemma.published.proposition is not None
    network = str(lemma.published.proposition.conclusion.left)
    return (
        proves(
            lemma.id,
            PUBLISHED,
            statement_step(
                lemma, PUBLISHED, Means.SMT, {"a fifth": f"{network} <= 1/5", "strictly below 1/4": f"{network} < 1/4"}
            ),
            *_staircase(),
            step(
                "T n and 2 n hidden units are at most 2 T n",
                Means.SMT,
                ["T >= 1", "n >= 1"],
                "max(T*n, 2*n) <= 2*T*n",
                {"T n": "max(T*n, 2*n) <= T*n", "strictly": "max(T*n, 2*n) < 2*T*n"},
            ),
            step(
                "the minimum is 1 - max(1 - x), one input more",
                Means.SMT,
                ["m = 1 - M"],
                "min(m, x) = 1 - max(M, 1 - x)",
                {"no turn": "min(m, x) = max(M, x)", "no constant": "min(m, x) = -max(M, 1 - x)"},
            ),
            step(
                "n = ceil(1/eps): 1/n <= eps",
                Means.SMT,
                ["e > 0", "n >= 1/e"],
                "1/n <= e",
                {"half": "1/n <= e/2", "strict": "1/n < e"},
            ),
            _size(lemma),
        ),
        proves(
            lemma.id,
            ARGUMENT,
            conditional_step(
                "what is counted",
                "parameters are non-zero weights and biases, T is fixed",
                counterexample_step(
                    lemma, ARGUMENT, {"n": "4", "M": "57"}, {"non-zero": "7*n - 1 <= 14*n", "O(n^2)": "M <= 14*n^2"}
                ),
                _size(lemma),
            ),
        ),
        proves(lemma.id, REPAIRED, _size(lemma)),
    )


def _size(lemma: Claim) -> Step:
    return statement_step(
        lemma,
        REPAIRED,
        Means.SMT,
        {"without T": "4*T*n + 3*n - T <= 14/e", "dense": "2*T*n^2 <= 14*T/e", "half": "4*T*n + 3*n - T <= 7*T/e"},
    )


def _staircase() -> tuple[Step, ...]:
    """0 <= fhat - max <= 1/n, by induction over the terms."""
    return (
        step(
            "a term: relu(s) - relu(s - p) = min(s, p) for s >= 0",
            Means.SMT,
            ["p > 0", "s >= 0"],
            "relu(s) - relu(s - p) = min(s, p)",
            {"no cap": "relu(s) - relu(s - p) = s", "full": "relu(s) - relu(s - p) = p"},
        ),
        step(
            "the sum s of k terms relu(x_t - q) lies between relu(m - q) and k relu(m - q), one input more",
            Means.SMT,
            ["k >= 1", "s >= relu(m - q)", "s <= k*relu(m - q)", "M = max(m, x)"],
            "min(s + relu(x - q) - relu(M - q), (k + 1)*relu(M - q) - s - relu(x - q)) >= 0",
            {
                "no more than the maximum": "relu(M - q) >= s + relu(x - q)",
                "k terms": "k*relu(M - q) >= s + relu(x - q)",
            },
        ),
        step(
            "from below: the sum of min(relu(m - j p), p) over j < k is min(m, k p), one step more",
            Means.SMT,
            ["p > 0", "q >= 0", "m >= 0"],
            "min(m, q) + min(relu(m - q), p) = min(m, q + p)",
            {"two steps": "min(m, q) + min(relu(m - q), p) = min(m, q + 2*p)", "always full": "min(m, q) + p = q + p"},
        ),
        step(
            "from above: terms of at most p, 0 where m <= j p, add up to at most min(m + p, k p), one step more",
            Means.SMT,
            ["p > 0", "q >= 0", "m >= 0", "f <= min(m + p, q)", "c >= 0", "c <= p", "min(c, q - m) <= 0"],
            "f + c <= min(m + p, q + p)",
            {"no overshoot": "f + c <= min(m, q + p)", "half": "f + c <= min(m + p/2, q + p)"},
        ),
        step(
            "after all n steps (n p = 1 >= m): m <= fhat <= m + p",
            Means.SMT,
            ["p > 0", "m >= 0", "m <= 1", "f >= min(m, 1)", "f <= min(m + p, 1)"],
            "abs(f - m) <= p",
            {"half": "abs(f - m) <= p/2", "exact": "f <= m"},
        ),
    )


def _halved(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    return (
        proves(
            "N12",
            PUBLISHED,
            *_staircase(),
            statement_step(
                claims["N12"], PUBLISHED, Means.SMT, {"uncentred": "abs(f - m) <= p/2", "a third": "f - p/2 - m <= p/3"}
            ),
            *_tournament(),
        ),
        proves("N12", SHARPENED, *_exact_overshoot()),
    )


def _tournament() -> tuple[Step, ...]:
    return (
        step(
            "one round: max(a, b) = relu(a - b) + relu(b) - relu(-b); one left over passes as relu(a) - relu(-a)",
            Means.SMT,
            [],
            "max(abs(relu(a - b) + relu(b) - relu(-b) - max(a, b)), abs(relu(a) - relu(-a) - a)) <= 0",
            {
                "two units": "relu(a - b) + relu(b) = max(a, b)",
                "one unit": "relu(a) = a",
            },
        ),
        step(
            "depth: T <= 2^r is halved (rounded up, h <= (T+1)/2 for odd T) r times; 2 h <= 2^r = P while T + 1 <= P",
            Means.SMT,
            ["T >= 1", "P >= 2", "T <= P", "2*h <= T + 1", "T + 1 <= P"],
            "h <= P/2",
            {"a quarter": "h <= P/4", "one less": "h <= P/2 - 1"},
        ),
        step(
            "weights, T = 2h: 12 h for the pairs and 18 h - 15 for the rest",
            Means.SMT,
            ["h >= 1", "w <= 18*h - 15"],
            "12*h + w <= 18*(2*h) - 15",
            {"14 T": "12*h + w <= 14*(2*h) - 15", "without the rest": "12*h + w <= 12*h"},
        ),
        step(
            "weights, T = 2h + 1: 6 more for the one left over, 18 (h+1) - 15 for the rest",
            Means.SMT,
            ["h >= 1", "w <= 18*(h + 1) - 15"],
            "12*h + 6 + w <= 18*(2*h + 1) - 15",
            {"15 T": "12*h + 6 + w <= 15*(2*h + 1) - 15", "17 T": "12*h + 6 + w <= 17*(2*h + 1) - 15"},
        ),
    )


def _exact_overshoot() -> tuple[Step, ...]:
    """f - min(m, q) is at most 0 while m >= q, then at most p (1 - 1/T)."""
    return (
        step(
            "below the maximum: terms of at most p while m >= q + p keep f <= q",
            Means.SMT,
            ["p > 0", "f <= q", "c <= p", "m >= q + p"],
            "f + c <= q + p",
            {"half": "f + c <= q + p/2", "no growth": "f + c <= q"},
        ),
        step(
            "at the maximum, q < m < q + p: a term of at most min(T (m - q), p) exceeds m by at most p (1 - 1/T)",
            Means.SMT,
            ["p > 0", "T >= 1", "f <= q", "m > q", "m < q + p", "c <= T*(m - q)", "c <= p"],
            "f + c - m <= p*(1 - 1/T)",
            {"half": "f + c - m <= p*(1 - 1/T)/2", "exact": "f + c <= m"},
        ),
        step(
            "above the maximum: terms are 0",
            Means.SMT,
            ["m <= q", "T >= 1", "c >= 0", "c <= T*relu(m - q)"],
            "c = 0",
            {"positive": "c > 0"},
        ),
        step(
            "attained: T inputs y = 1/(n T) give fhat = min(T y, p) = p, that is (1 - 1/T)/n above y",
            Means.SMT,
            ["n >= 1", "T >= 1", "p = 1/n", "y = 1/(n*T)"],
            "min(T*y, p) - y = (1 - 1/T)/n",
            {"1/n": "min(T*y, p) - y = 1/n", "half": "min(T*y, p) - y = (1 - 1/T)/(2*n)"},
        ),
    )
