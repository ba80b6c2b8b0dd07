"""Proofs of exact collisions: what is proved is accepted by the independent checker, what is false is not proved."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import lambertw

from checks import balls, budget, verify
from checks.approach import approach
from checks.certificates import writer
from checks.collisions import Collision, prove, strongest
from checks.design import specialists
from checks.precise import PreciseProblem
from constructions.adversary.continuous import search
from constructions.arithmetic import FLOAT64
from constructions.evaluate import attention, evaluate, target
from constructions.network import Component, Dense, Formula, Head, Network, Perceptron, TokenLayer
from constructions.task import Feature, RetrievalTask, everywhere, quadratic, toy
from experiments.export import to_network
from experiments.models import BlockConfig, init_parameters
from theory.errors import InvalidInput
from theory.expression_parser import parse_expression
from theory.expressions import Variable
from theory.ledger import Form, Undecided

SMALL_RADIUS = Fraction(1, 10**25)
OUTPUT_AGREEMENT = 1e-14  # float64 outputs at the centre of a box far smaller than a float's spacing


def certificate(collision: Collision) -> bytes:
    return writer.to_bytes(
        writer.collision(
            collision.network,
            collision.task,
            collision.first,
            collision.second,
            collision.free,
            collision.radius,
            collision.gap,
            collision.precision,
            collision.rows,
        )
    )


def exported(activation: str, head_dim: int, seq_len: int) -> Network:
    """An untrained block of the experiments, as exact data."""
    config = BlockConfig(1, seq_len, 1, head_dim, 32, token_activation=activation)
    parameters = init_parameters(config, 1)
    parameters["query.weight"] *= 8  # scores that differ: attention far from uniform
    return to_network(parameters, config)


def line(seq_len: int, score: float) -> tuple[Network, RetrievalTask]:
    """Token x with score ``score x`` and value x; the target is min x."""
    x, one, zero = Variable("x0"), np.ones((1, 1)), np.zeros(1)
    head, readout = Head(one, one * score, one, zero, zero), Perceptron((Dense(one, zero),))
    encoder = Formula(1, (Component(x),))
    network = Network(seq_len, 1, encoder, np.ones(1), (head,), Fraction(1), one, zero, readout)
    return network, RetrievalTask("min", 1, seq_len, (Feature(x, everywhere(seq_len)),), Variable("z0"))


@pytest.fixture(scope="module")
def smooth() -> Collision:
    found = strongest(exported("gelu", 3, 16), toy(16), seed=0, starts=2)
    assert isinstance(found, Collision)
    return found


@pytest.fixture(scope="module")
def kinked() -> Collision:
    found = strongest(exported("relu", 8, 16), toy(16), seed=0, starts=3)
    assert isinstance(found, Collision)
    return found


@pytest.mark.parametrize("name", ["smooth", "kinked"])
def test_search_proof_certificate_check(name: str, request: pytest.FixtureRequest) -> None:
    """From the search to the independent checker. Would catch a wrong sign of the second sequence, positions counted
    from the wrong end, a radius of the wrong unit, a gap that the checker cannot reach."""
    collision: Collision = request.getfixturevalue(name)
    answer = verify.verify(certificate(collision))
    assert answer.label == "PROVED", answer.detail
    assert collision.radius < SMALL_RADIUS
    both = np.stack([collision.first, collision.second]).astype(np.float64)
    outputs = attention(collision.network, both, FLOAT64)
    np.testing.assert_allclose(outputs[0], outputs[1], rtol=0, atol=OUTPUT_AGREEMENT)
    targets, read = target(collision.task, both, FLOAT64), evaluate(collision.network, both, FLOAT64)[:, 0]
    assert targets[0] - targets[1] == pytest.approx(float(collision.gap), abs=1e-9)
    assert max(abs(targets - read)) > float(collision.gap) / 2 - 1e-9  # N8 for the block's own read-out


def test_dependent_channels_are_left_out(kinked: Collision) -> None:
    """Eight channels of a relu encoder in one variable collide with fewer equations; the checker refuses one fewer
    still. Would catch rows that are dropped without being determined by the others."""
    assert kinked.rows is not None
    assert len(kinked.rows) == len(kinked.free) < kinked.network.value_dim
    fewer = replace(kinked, rows=kinked.rows[1:], free=kinked.free[1:])
    assert verify.verify(certificate(fewer)).label == "UNDECIDED"


def test_claims_that_are_too_large_are_refused(smooth: Collision) -> None:
    """Would catch a checker that trusts the gap, the radius or the centre of the file."""
    assert verify.verify(certificate(replace(smooth, gap=smooth.gap + Fraction(1, 1000)))).label == "REFUTED"
    assert verify.verify(certificate(replace(smooth, radius=Fraction(1, 10**70)))).label != "PROVED"
    sequence, position, axis = smooth.free[0]
    moved = [smooth.first.copy(), smooth.second.copy()]
    moved[sequence][position - 1, axis] += Fraction(1, 10**20)
    assert verify.verify(certificate(replace(smooth, first=moved[0], second=moved[1]))).label != "PROVED"


def test_free_coordinates_lie_in_the_box_where_outputs_agree(smooth: Collision) -> None:
    """Krawczyk's conclusion at the centre, seen from outside: the difference of the outputs there is at most what the
    box allows. Would catch an inclusion test on the wrong matrix."""
    with balls.precision(smooth.precision):
        outputs = [
            attention(smooth.network, balls.BALLS.asarray(x), balls.BALLS) for x in (smooth.first, smooth.second)
        ]
        largest = max(balls.upper(balls.absolute(a - b)) for a, b in zip(*outputs, strict=True))
    assert largest < 10 * smooth.radius


def test_a_pair_that_does_not_collide_is_not_proved() -> None:
    """One token with value x: no two sequences collide, wherever Newton goes. Would catch a proof that accepts
    whatever the search hands over."""
    network, task = line(1, 0.0)
    assert isinstance(prove(network, task, np.array([[0.7]]), np.array([[0.2]])), Undecided)


def test_equal_sequences_have_no_gap() -> None:
    """With one token and value x, outputs agree only where tokens do: Newton ends at equal sequences, gap 0."""
    network, task = line(1, 0.0)
    outcome = prove(network, task, np.array([[0.5 + 1e-9]]), np.array([[0.5]]))
    assert isinstance(outcome, Undecided)
    assert "gap" in outcome.reason


def test_a_gap_beyond_the_truth_is_never_proved() -> None:
    """N1: no certified gap of a covering head exceeds W((T-1)/e)/beta. Would catch enclosures that are not."""
    network, task = line(16, -10.0)
    exact = lambertw(15 / np.e).real / 10
    found = [prove(network, task, pair.first, pair.second) for pair in search(network, task, seed=1, starts=3)]
    gaps = [float(outcome.gap) for outcome in found if isinstance(outcome, Collision)]
    assert gaps
    assert 0.999 * exact < max(gaps) <= exact


def test_two_heads_that_compute_the_target_leave_no_gap() -> None:
    """The certified half-gap of constructed specialists stays below their certified error, and is not vacuous. Would
    catch a search that finds nothing there, or a budget and a collision that contradict each other."""
    eps = Fraction(1, 5)
    task = toy(8)
    network = specialists(task, eps, Form.SHARPENED).network
    bound = budget.certify(network, task, eps).bound_upper
    assert bound is not None
    found = strongest(network, task, seed=0, starts=3)
    assert isinstance(found, Collision)
    assert bound / 3 < found.gap / 2 <= bound


def test_tokens_in_the_plane() -> None:
    """d = 2, D = 3, two heads. Would catch indices that mix positions and coordinates."""
    generator = np.random.default_rng(7)

    def draw(*shape: int) -> np.ndarray:
        return generator.normal(size=shape)

    encoder = Perceptron((Dense(2 * draw(16, 2), draw(12, 16), "tanh"), Dense(draw(4, 16) / 2, draw(4))))
    heads = tuple(Head(draw(2, 4), draw(2, 4), draw(2, 4), draw(2), draw(2)) for _ in range(2))
    readout = Perceptron((Dense(draw(1, 4), draw(1)),))
    network = Network(12, 2, encoder, draw(4), heads, Fraction(1, 2), np.eye(4), np.zeros(4), readout)
    found = strongest(network, quadratic(3, 2, 12), seed=0, starts=2)
    assert isinstance(found, Collision)
    assert len(found.free) == 4
    assert verify.verify(certificate(found)).label == "PROVED"


def test_sequences_outside_the_cube_are_refused() -> None:
    """Would catch a proof about sequences that the claim does not speak of."""
    network, task = line(2, 0.0)
    with pytest.raises(InvalidInput, match="first"):
        prove(network, task, np.array([[0.5], [1.5]]), np.array([[0.5], [0.5]]))


@pytest.mark.parametrize(("activation", "listens"), [("tanh", True), ("relu", False)])
def test_two_layers(activation: str, listens: bool) -> None:
    """What the class token hears in its last layer, after all tokens (and perhaps it too) heard each other. Would catch
    derivatives that a token layer loses, or states that only one's own token moves."""
    generator = np.random.default_rng(11)
    seq_len, width, heard, equations = 6, 4, 3, 2

    def draw(*shape: int) -> np.ndarray:
        return generator.normal(size=shape) / shape[-1] ** 0.5

    def perceptron(size: int) -> Perceptron:
        return Perceptron((Dense(2 * draw(8, size), draw(8), activation), Dense(draw(width, 8), draw(width))))

    def head(values: int) -> Head:
        return Head(draw(2, width), draw(2, width), draw(values, width), draw(2), draw(values))

    told = perceptron(width + heard) if listens else None
    layer = TokenLayer((head(2), head(1)), Fraction(2), draw(heard, 3), draw(heard), perceptron(width + heard), told)
    readout = Perceptron((Dense(draw(1, equations), draw(1)),))
    encoder, last = perceptron(1), (head(equations),)
    eye, zero = np.eye(equations), np.zeros(equations)
    network = Network(seq_len, 1, encoder, draw(width), last, Fraction(3), eye, zero, readout, (layer,))
    found = strongest(network, toy(seq_len), seed=0, budget_seconds=20, starts=2)
    assert isinstance(found, Collision)
    assert found.gap > Fraction(1, 10)
    assert verify.verify(certificate(found)).label == "PROVED"


def hiding(seq_len: int, beta: int) -> tuple[Network, RetrievalTask]:
    """Value hiding (N7, N8): one head, uniform attention, values e^{-beta f_i}; min x + min(1 - x), h = 1, n = D."""
    features = [parse_expression(text) for text in ("x0", "1 - x0")]
    encoder = Formula(1, tuple(Component(parse_expression(f"exp(-{beta}*({text}))")) for text in ("x0", "1 - x0")))
    eye, none = np.eye(2), np.zeros(2)
    head = Head(np.zeros((1, 1)), np.zeros((1, 2)), eye, np.zeros(1), none)
    readout = Perceptron((Dense(np.ones((1, 2)), np.zeros(1)),))
    network = Network(seq_len, 1, encoder, np.ones(1), (head,), Fraction(1), eye, none, readout)
    task = RetrievalTask(
        "two minima", 1, seq_len, tuple(Feature(f, everywhere(seq_len)) for f in features), parse_expression("z0 + z1")
    )
    return network, task


def test_value_hiding_has_small_exact_gap_and_large_gap_nearby() -> None:
    """One head for two minima, yet the exact gap is at most D log(T)/beta: each output lies between e^{-beta z_i}/T and
    e^{-beta z_i}. So a small exact gap does not show that heads suffice. Two sequences within 1e-6 of each other, at
    which the targets differ by 0.4, do show what a Lipschitz read-out misses. Would catch a search that passes the
    bound, or that finds nothing where little is to be found."""
    seq_len, beta = 16, 50
    network, task = hiding(seq_len, beta)
    found = strongest(network, task, seed=0, budget_seconds=20, starts=3)
    assert isinstance(found, Collision)
    limit = 2 * np.log(seq_len) / beta
    assert limit / 3 < found.gap <= limit
    middle = np.full((seq_len, 1), 0.5)
    apart = middle.copy()
    apart[:2, 0] = 0.3, 0.7
    both = np.stack([middle, apart])
    targets, outputs = target(task, both, FLOAT64), attention(network, both, FLOAT64)
    assert (targets[0] - targets[1] - 100 * abs(outputs[0] - outputs[1]).max()) / 2 > 0.19 > 3 * limit / 2


@pytest.mark.parametrize("beta", [50, 10000])
def test_sharp_specialists(beta: int) -> None:
    """Near-hardmax heads: the certified half-gap is at least a third of the certified error and never above it. Would
    catch equations that vanish by underflow, and a budget or a collision that is wrong by a factor."""
    task = toy(8)
    network = replace(specialists(task, Fraction(1, 5), Form.REPAIRED).network, beta=Fraction(beta))
    bound = budget.certify(network, task, Fraction(1, 5)).bound_upper
    assert bound is not None
    found = strongest(network, task, seed=0, starts=6)
    assert isinstance(found, Collision)
    assert bound / 3 < found.gap / 2 <= bound
    assert verify.verify(certificate(found)).label == "PROVED"


def test_approach_meets_faint_equations() -> None:
    """x + y = 1 and e^-300 (x^2 - y - 1/5) = 0 are met alike. Would catch a norm in which the faint one is not seen."""
    faint = balls.exp(balls.exact(-300))

    def difference(tokens: Any) -> Any:
        x, y = tokens.reshape(-1)
        return np.array([x + y - 1, faint * (x * x - y - balls.exact(Fraction(1, 5)))])

    def jacobian(tokens: Any) -> Any:
        x, _ = tokens.reshape(-1)
        one = balls.exact(1)
        return np.array([[one, one], [2 * x * faint, -faint]])

    with balls.precision(256):
        start = balls.BALLS.asarray(np.array([[[0.3]], [[0.4]]]))
        reached = approach(start, lambda tokens: np.full(2, 0.3), difference, jacobian)
        assert reached is not None
        x, y = np.asarray(reached[0], dtype=np.float64).reshape(-1)
    assert x + y == pytest.approx(1, abs=1e-9)
    assert x * x - y == pytest.approx(0.2, abs=1e-9)


def test_neighbours_along_the_fibre() -> None:
    """Twelve nearly dependent equations (smallest singular value 1e-27 of the largest) in one variable: the outputs of
    the neighbour differ to second order only, in units in which every equation counts, and a collision is proved there.
    Would catch a null space computed in float64."""
    network, task = exported("gelu", 12, 32), toy(32)
    base = 0.5 + 0.9 * (np.random.default_rng(3).random((32, 1)) - 0.5)
    problem = PreciseProblem(network, task, 512)
    lengths = []
    for share in (0.04, 0.02):
        pair = problem.along_fibre(base, share)
        lengths.append(np.linalg.norm(problem.equations(pair)[1](pair)))
    assert 2 < lengths[0] / lengths[1] < 8
    found = prove(network, task, *problem.along_fibre(base, 0.01))
    assert isinstance(found, Collision)
    assert verify.verify(certificate(found)).label == "PROVED"
