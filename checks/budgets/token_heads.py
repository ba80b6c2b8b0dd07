"""Certified error of N13's two layers: what the D heads lose that the tokens imitate, and the class token's softmax."""

from __future__ import annotations

from fractions import Fraction

from checks import balls
from checks.budget import budget_terms, retrievals
from checks.budgets.compare import require_equal
from checks.covering import NotReadable
from constructions.built import Built
from constructions.network import Network, Perceptron
from constructions.token_heads import class_leak_upper, readout_lipschitz_upper, tokens_as_heads
from theory.enough_heads import Term

BITS = 128
SMALLEST_EXPONENT = Fraction(-4096)
"""e^x is bounded by e^-4096 for every smaller x."""


def terms(built: Built) -> tuple[Term, ...]:
    """Terms whose sum bounds ``sup |network - H|`` (N13).

    Hypotheses, all tested here: the network is, entry by entry, `tokens_as_heads` of its part ``heads``, whose values
    lie in [0, 1]. Raises Different, NotReadable, NotFinite, InvalidInput.
    """
    # Proof. Token i <= D has scores and values of head i (its code is the i-th unit vector), so slot i of its update is
    # relu(z_i) = z_i, and slot j != i is relu(y_j - 1) = 0, as y_j is a mean of values in [0, 1]; later tokens keep
    # relu(y_j - 1) = 0. The class token gives each of tokens 1..D the weight 1/(D + r), r = (T - D) e^-beta. So the
    # read-out is Phi(z D/(D + r)), within Lip(Phi) r/(D + r) of Phi(z), the output of the D heads.
    heads, class_beta = built.part("heads", Network), built.part("class_beta", Fraction)
    require_equal(built.network, tokens_as_heads(heads, class_beta))
    outside = [item.range for item in retrievals(heads, built.task) if item.range[0] < 0 or item.range[1] > 1]
    if outside:
        raise NotReadable.because(f"a head's values lie in [{outside[0][0]}, {outside[0][1]}], not in [0, 1]")
    assert isinstance(heads.readout, Perceptron)
    with balls.precision(BITS):
        share = balls.upper(balls.exp(balls.exact(max(-class_beta, SMALLEST_EXPONENT))))
    leak = class_leak_upper(heads.num_heads, heads.seq_len, share)
    return (
        Term.sum("tokens as heads", "T2.1", budget_terms(heads, built.task)),
        Term("class token's softmax", "N13", readout_lipschitz_upper(heads.readout) * leak),
    )
