"""N13: two layers with one head each do what D heads do in one layer, because the tokens act as heads.

Token t carries (u(t), code(t), slots, [t > D], 1), width 3D + 2: u the D numbers that the heads of T2.1 look at, code
the t-th unit vector for t <= D and 0 later. In layer 1 token i <= D queries with its code and hears what head i hears;
its update keeps slot i alone. In layer 2 the class token averages the slots of tokens 1..D, that is (z_1..z_D)/D up to
the weight e^-beta of each later token, and the read-out multiplies by D.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from constructions import specialists
from constructions.arithmetic import EXACT, ExactArray, fractions
from constructions.built import Built
from constructions.network import Dense, Head, Network, Perceptron, TokenLayer
from constructions.specialists import Knowledge
from constructions.task import RetrievalTask
from theory.depth import LN2_UPPER
from theory.errors import InvalidInput
from theory.ledger import Form
from theory.rational_bounds import log2_upper, positive

SPARE = Fraction(1, 64)
"""Share of eps that the class token's softmax may cost; the specialists are built for the rest."""


def build(task: RetrievalTask, eps: Fraction, form: Form, knowledge: Knowledge) -> Built:
    """Two layers, one head each (L h = 2), width 3D + 2, whatever D <= T (N13, existence).

    Hypotheses: those of `specialists.build`, whose sharpened form is imitated, and D <= T. Conclusion (certified by
    `checks.budgets`): sup |network - H| < eps. Attention weights 0 and +-1. Exact.

    >>> from constructions.task import toy
    >>> built = build(toy(16), Fraction(1, 20), Form.PUBLISHED, Knowledge(Fraction(2)))
    >>> len(built.network.token_layers), built.network.num_heads, built.network.encoder.output_dim
    (1, 1, 8)

    Raises:
        InvalidInput: D > T, another form than published, eps <= 0, or an expression without the required form.
    """
    if form is not Form.PUBLISHED:
        raise InvalidInput.about("form", str(form), "published: N13 has one form", "--form published")
    if task.num_targets > task.seq_len:
        raise InvalidInput.about("num_targets", task.num_targets, f"D <= T={task.seq_len} (N13)", "a longer sequence")
    heads = specialists.build(task, positive("eps", eps) * (1 - SPARE), Form.SHARPENED, knowledge).network
    class_beta = _class_beta(heads, eps)
    network = tokens_as_heads(heads, class_beta)
    design: dict[str, Fraction | int | str] = {
        "width": network.encoder.output_dim,
        "token_beta": heads.beta,
        "class_beta": class_beta,
    }
    return Built("token_heads", form.value, task, eps, network, (("heads", heads), ("class_beta", class_beta)), design)


def tokens_as_heads(heads: Network, class_beta: Fraction) -> Network:
    """The two-layer network in which tokens 1..D act as the D heads of ``heads``.

    Hypotheses: every head has one value, between 0 and 1 on all tokens (`checks.budgets.token_heads` tests it), encoder
    and read-out are perceptrons, and D <= T. Conclusion: slot i of token i is what head i retrieves.

    Raises:
        InvalidInput: heads with several values, formulas, or D > T.
    """
    count, length = heads.num_heads, heads.seq_len
    if heads.value_dim != count or count > length or heads.token_layers:
        found = (heads.value_dim, count, length)
        raise InvalidInput.about("(values, heads, tokens)", found, "one value for each head, D <= T", "specialists")
    width = 3 * count + 2
    places = _identity(width)
    code, slots = places[count : 2 * count], places[2 * count : 3 * count]
    late, one = places[3 * count], places[3 * count + 1]
    encoder, looked_at = _encoder(heads)
    keys = [_direction(heads, head) @ looked_at for head in heads.heads]
    values = [head.value[0] @ looked_at for head in heads.heads]
    offsets = np.array([_exact(head.value_bias)[0] for head in heads.heads], dtype=object)
    listen = Head(code, fractions(keys), fractions(values), _zeros(count), offsets)
    # New state: u, code, relu(heard + code - 1) in the slots, late, 1; all of it is non-negative.
    update = np.concatenate([places, _zeros(width, count)], axis=1)
    update[2 * count : 3 * count] = np.concatenate([code, _identity(count)], axis=1)
    bias = _zeros(width)
    bias[2 * count : 3 * count] -= 1
    layer = TokenLayer(
        (listen,), heads.beta, _identity(count), _zeros(count), Perceptron((Dense(update, bias, "relu"),))
    )
    look = Head(one[None, :], -late[None, :], slots, _zeros(1), _zeros(count))
    return Network(
        length,
        heads.token_dim,
        encoder,
        one,
        (look,),
        class_beta,
        fractions(slots.T),
        one,
        _readout(heads, slots),
        (layer,),
    )


def readout_lipschitz_upper(readout: Perceptron) -> Fraction:
    """Sup-norm Lipschitz constant of a ReLU network with one output, at most: the product of absolute weights."""
    total = np.full(1, Fraction(1), dtype=object)
    for layer in reversed(readout.layers):
        copies = np.array(layer.copies or [1] * layer.shape[0], dtype=object)
        total = (total * copies) @ np.abs(_exact(layer.weight))
    return Fraction(total.sum())


def class_leak_upper(num_targets: int, seq_len: int, share: Fraction) -> Fraction:
    """|z_i D/(D + r) - z_i| <= r/(D + r) for z in [0,1], r = (T - D) share, share >= e^-beta (N13)."""
    rest = (seq_len - num_targets) * share
    return rest / (num_targets + rest)


def _class_beta(heads: Network, eps: Fraction) -> Fraction:
    """A beta with L (T - D) e^-beta/D <= SPARE eps/2, L the read-out's Lipschitz constant; at least that of layer 1."""
    assert isinstance(heads.readout, Perceptron)
    late = heads.seq_len - heads.num_heads
    needed = 2 * readout_lipschitz_upper(heads.readout) * late / (heads.num_heads * eps * SPARE)
    return max(heads.beta, Fraction(math.ceil(log2_upper(needed) * LN2_UPPER)) if needed > 1 else Fraction(1))


def _encoder(heads: Network) -> tuple[Perceptron, ExactArray]:
    """The encoder with code, slots, late flag and constant appended, and where the state keeps what heads look at."""
    if not isinstance(heads.encoder, Perceptron) or heads.encoder.output_dim != heads.num_heads:
        raise InvalidInput.about("encoder", type(heads.encoder).__name__, "a network with D outputs", "specialists")
    count, length = heads.num_heads, heads.seq_len
    *before, last = heads.encoder.layers
    width = 3 * count + 2
    weight = np.concatenate([_exact(last.weight), _zeros(width - count, last.shape[1])])
    table = _zeros(length, width)
    table[:, :count] = _exact(last.bias)
    table[:count, count : 2 * count] = _identity(count)
    table[count:, 3 * count] += 1
    table[:, 3 * count + 1] += 1
    return Perceptron((*before, Dense(weight, table, last.activation))), _identity(width)[:count]


def _readout(heads: Network, slots: ExactArray) -> Perceptron:
    """The read-out on D times the average of the slots."""
    if not isinstance(heads.readout, Perceptron):
        raise InvalidInput.about("readout", type(heads.readout).__name__, "a feed-forward network", "specialists")
    first, *rest = heads.readout.layers
    weight, mixed = _exact(first.weight), _exact(heads.output_weight)
    bias = _exact(first.bias) + weight @ _exact(heads.output_bias)
    spread = heads.num_heads * (weight @ mixed) @ slots
    return Perceptron((Dense(spread, bias, first.activation, first.copies), *rest))


def _direction(heads: Network, head: Head) -> ExactArray:
    """What the head's score is, per unit of beta, as a functional of the encoder's output."""
    asked = _exact(head.query) @ _exact(heads.class_token) + _exact(head.query_bias)
    return np.asarray(asked @ _exact(head.key))


def _exact(array: ExactArray) -> ExactArray:
    return np.asarray(EXACT.asarray(np.asarray(array)))


def _zeros(*shape: int) -> ExactArray:
    return np.full(shape, Fraction(0), dtype=object)


def _identity(size: int) -> ExactArray:
    return fractions(np.eye(size, dtype=int))
