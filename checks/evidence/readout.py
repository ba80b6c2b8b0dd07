"""Evidence for N5 and N8, what a read-out can do. The proofs in prose: docs/proofs/results.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise, product

from checks.evidence.tools import exhaustive_step, exponential_steps, proves, step
from theory.ledger import Claim, Evidence, Form, Means, Step
from theory.readout_capacity import paths_upper

Layers = tuple[tuple[tuple[int, ...], ...], ...]
"""0/1 patterns of non-zero weights: layers[k][unit above][unit below]."""


def evidence(claims: Mapping[str, Claim]) -> tuple[Evidence, ...]:
    """Evidence for N5 and N8."""
    return (
        proves("N5", Form.PUBLISHED, *_two_layers(), *_paths(), _depth_exponent()),
        proves("N5", Form.SHARPENED, *_paths()),
        proves("N8", Form.PUBLISHED, *_fibres(), *_lipschitz()),
    )


def _two_layers() -> tuple[Step, ...]:
    return (
        step(
            "k weights of a unit move its input by at most k |Delta|_inf, one weight more",
            Means.SMT,
            ["k >= 0", "m >= 0", "abs(s) <= k*m", "abs(w) <= 1", "abs(d) <= m"],
            "abs(s + w*d) <= (k + 1)*m",
            {"no growth": "abs(s + w*d) <= k*m", "strict": "abs(s + w*d) < (k + 1)*m"},
        ),
        step(
            "the output: a 1-Lipschitz activation, an output weight in [-1,1], one unit with k more weights",
            Means.SMT,
            ["n >= 0", "k >= 0", "m >= 0", "abs(s) <= n*m", "abs(v) <= 1", "abs(a) <= k*m"],
            "abs(s + v*a) <= (n + k)*m",
            {"without the unit": "abs(s + v*a) <= n*m", "half": "abs(s + v*a) <= (n + k)*m/2"},
        ),
        step(
            "so to move by B takes at least B/|v_1 - v_2|_inf weights",
            Means.SMT,
            ["m > 0", "B >= 0", "B <= M*m"],
            "M >= B/m",
            {"double": "M >= 2*B/m", "strict": "M > B/m"},
        ),
    )


def _paths() -> tuple[Step, ...]:
    """At most (M/f)^f paths, E times that for odd l: every second layer counts, and f counts add up to at most M."""
    return (
        step(
            "a unit reached by k paths moves by at most k m, as two layers show: one weight and p paths more",
            Means.SMT,
            ["k >= 0", "p >= 0", "m >= 0", "abs(s) <= k*m", "abs(w) <= 1", "abs(d) <= p*m"],
            "abs(s + w*d) <= (k + p)*m",
            {"without the paths": "abs(s + w*d) <= k*m", "half": "abs(s + w*d) <= (k + p)*m/2"},
        ),
        step(
            "two layers more: at most B paths into any unit become at most a B, a the weights of the lower of the two; "
            "one weight more in it, which reaches the unit above or not (u is 1 or 0)",
            Means.SMT,
            ["a >= 0", "B >= 0", "x <= a*B", "p >= 0", "p <= B", "u >= 0", "u <= 1"],
            "x + u*p <= (a + 1)*B",
            {"no growth": "x + u*p <= a*B", "half": "x + u*p <= (a + 1)*B/2"},
        ),
        step(
            "the start: one path into an input (even l); at most E into a unit of layer 1 (odd l), one input more",
            Means.SMT,
            ["x <= E", "u >= 0", "u <= 1"],
            "x + u*1 <= E + 1",
            {"no growth": "x + u*1 <= E", "half": "x + u*1 <= (E + 1)/2"},
        ),
        *exponential_steps(),
        step(
            "mean and product: x/a <= e^{x/a - 1} = R for each of f numbers, a = M/f; products keep the order",
            Means.SMT,
            ["p >= 0", "p <= P", "x >= 0", "x <= R"],
            "p*x <= P*R",
            {"half": "p*x <= P*R/2", "without P": "p*x <= R"},
        ),
        step(
            "the exponents add up to (sum x)/a - f <= 0, so the product of the x/a is at most e^0 = 1",
            Means.SMT,
            ["M > 0", "f >= 1", "a = M/f", "s <= M"],
            "s/a - f <= 0",
            {"strict": "s/a - f < 0", "one less": "s/a - f <= -1"},
        ),
        exhaustive_step(
            "every pattern of non-zero weights on levels of two units, up to four layers",
            _patterns,
            lambda layers: _count_paths(layers) <= paths_upper(len(layers[0][0]), _weights(layers), len(layers)),
            {
                "half the paths": lambda layers: (
                    2 * _count_paths(layers) <= paths_upper(len(layers[0][0]), _weights(layers), len(layers))
                ),
                "no factor E for odd depth": lambda layers: (
                    _count_paths(layers) <= paths_upper(1, _weights(layers), len(layers))
                ),
            },
        ),
    )


def _depth_exponent() -> Step:
    return step(
        "in exponent space: M^f >= eps^-k (up to constants) means M >= eps^{-k/f}",
        Means.SMT,
        ["f >= 1", "f*u >= k"],
        "u >= k/f",
        {"k": "u >= k", "k/4 for f = 2 only": "u >= k/4 + k"},
    )


def _fibres() -> tuple[Step, ...]:
    return (
        step(
            "no read-out is better: equal attention outputs, targets a gap apart",
            Means.SMT,
            ["abs(F - h) <= e", "abs(F - k) <= e"],
            "e >= abs(h - k)/2",
            {"the whole gap": "e >= abs(h - k)", "three quarters": "e >= 3*abs(h - k)/4"},
        ),
        step(
            "the mid-range of each fibre reaches it (l, u the infimum and supremum of H there)",
            Means.SMT,
            ["l <= h", "h <= u"],
            "abs(h - (l + u)/2) <= (u - l)/2",
            {"the infimum": "abs(h - l) <= (u - l)/2", "a quarter": "abs(h - (l + u)/2) <= (u - l)/4"},
        ),
    )


def _lipschitz() -> tuple[Step, ...]:
    return (
        step(
            "no Lambda-Lipschitz read-out is better",
            Means.SMT,
            ["abs(F - h) <= e", "abs(G - k) <= e", "abs(F - G) <= L*d"],
            "e >= (abs(h - k) - L*d)/2",
            {"the whole gap": "e >= abs(h - k) - L*d", "no slope": "e >= abs(h - k)/2"},
        ),
        step(
            "McShane's F(a) = inf (H(X_2) + e + Lambda |a - A(X_2)|) is at most H(X) + e at A(X): take X_2 = X",
            Means.SMT,
            ["F <= h + e + L*0"],
            "F - h <= e",
            {"half": "F - h <= e/2", "exact": "F <= h"},
        ),
        step(
            "and at least H(X) - e: every term of the infimum is, by the choice of e",
            Means.SMT,
            ["abs(h - k) - L*d <= 2*e"],
            "k + e + L*d >= h - e",
            {"above H": "k + e + L*d >= h", "without slope": "k + e >= h - e"},
        ),
        step(
            "it is Lambda-Lipschitz: each term moves by at most Lambda |a - b|, hence so does the infimum",
            Means.SMT,
            ["L >= 0", "p <= q + r", "q <= p + r", "r >= 0"],
            "abs((c + L*p) - (c + L*q)) <= L*r",
            {"half": "abs((c + L*p) - (c + L*q)) <= L*r/2", "no slope": "abs((c + L*p) - (c + L*q)) <= 0"},
        ),
    )


def _patterns() -> Iterator[Layers]:
    yield tuple(((1,) * before,) * after for before, after in pairwise((3, 3, 3, 1)))
    for widths in ((2, 2, 1), (2, 2, 2, 1), (2, 2, 2, 2, 1)):
        shapes = list(pairwise(widths))
        for bits in product((0, 1), repeat=sum(a * b for a, b in shapes)):
            rest = iter(bits)
            yield tuple(tuple(tuple(next(rest) for _ in range(a)) for _ in range(b)) for a, b in shapes)


def _weights(layers: Layers) -> int:
    return sum(sum(row) for layer in layers for row in layer)


def _count_paths(layers: Layers) -> int:
    reaching = [1] * len(layers[0][0])
    for layer in layers:
        reaching = [sum(weight * count for weight, count in zip(row, reaching, strict=True)) for row in layer]
    return reaching[0]
