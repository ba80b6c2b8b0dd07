"""The proofs' own pair: guaranteed collisions, every inequality, and the printed index sets refuted."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from checks import verify
from checks.certificates import writer
from checks.claim_proof import ClaimProof, accuracy, claim_cell_count, claim_proof
from checks.constants import constants
from checks.grid_measures import FAILS, HOLDS, NOT_NEEDED
from checks.grid_points import eps_for
from checks.grid_proof import GridProof, NoPair, n4_proof
from checks.index_set_failure import certificates
from checks.pair_certificates import near_collision
from constructions.adversary.grid import published_index_sets, repaired_index_sets
from constructions.adversary.grid_blocks import small_block, wrong_index_sets
from constructions.task import RetrievalTask, quadratic, toy
from theory.errors import InvalidInput
from theory.paper_count import paper_count

BETA = Fraction(2)
GRID, TAU, PARTS = 16, 6, 89


def n4_on(task: RetrievalTask, seed: int, beta: Fraction = BETA) -> GridProof:
    rho = constants(task).rho
    assert rho is not None
    found = n4_proof(small_block(task.seq_len, task.token_dim, 1, 1, beta, seed), task, eps_for(rho, GRID), TAU)
    assert isinstance(found, GridProof)
    return found


@pytest.mark.parametrize("task", [toy(8), quadratic(2, 1, 8), quadratic(2, 2, 10)], ids=lambda task: task.name)
@pytest.mark.parametrize("seed", range(4))
def test_guaranteed_collision_is_found(task: RetrievalTask, seed: int) -> None:
    """Would catch: a wrong cell, a wrong count, roles that overlap, a grid whose images step by less than 3 eps."""
    found = n4_on(task, seed)
    assert found.guaranteed
    assert found.subsequences == comb(GRID, TAU)
    assert found.cells == PARTS**2
    assert found.complete, [row for row in found.rows if row.verdict != HOLDS]
    assert found.gap_lower >= 3 * found.eps
    assert 0 < found.distance_upper <= Fraction(3 * TAU, PARTS)


def test_every_step_of_n4_is_there() -> None:
    """Would catch: a step of the proof that is never evaluated."""
    shown = {row.id for row in n4_on(toy(8), 0).rows}
    assert shown == {"A1.1", "A1.3", "N4 (B)", *(f"N4 ({i})" for i in range(1, 8))}


def test_n4_pair_is_accepted_by_the_checker() -> None:
    """Would catch: sequences, gap or distance that are not those of the block."""
    found = n4_on(toy(8), 1)
    pair = found.pair
    certificate = near_collision(pair.network, pair.task, pair.whole, found.gap_lower, found.distance_upper)
    assert verify.verify(writer.to_bytes(certificate)).label == "PROVED"
    closer = near_collision(pair.network, pair.task, pair.whole, found.gap_lower, found.distance_upper / 2)
    assert verify.verify(writer.to_bytes(closer)).label == "REFUTED"


def test_birthday_search_where_not_all_can_be_looked_at() -> None:
    """Would catch: a birthday search that compares hashes only, or loses the order of the positions."""
    task = toy(16)
    found = n4_proof(small_block(16, 1, 1, 1, BETA, 0), task, eps_for(Fraction(1, 2), 40), 10)
    assert isinstance(found, GridProof)
    assert found.looked_at < found.subsequences == comb(40, 10)
    assert found.guaranteed
    assert found.complete


def test_two_heads_three_targets() -> None:
    """Would catch: heads mixed up, channels attributed to the wrong head. (n, s, D) = (2, 2, 3): six sums."""
    task = quadratic(3, 1, 20)
    rho = constants(task).rho
    assert rho is not None
    found = n4_proof(small_block(20, 1, 2, 2, BETA, 3), task, eps_for(rho, 20), 8)
    assert isinstance(found, GridProof)
    assert found.guaranteed
    assert found.complete
    assert found.cells == found.parts**6 < comb(20, 8) <= (found.parts + 1) ** 6


def test_a_finer_cut_than_the_pigeonhole_allows_is_not_called_guaranteed() -> None:
    """Would catch: a guarantee that is typed in. With 10^12 parts all 8008 subsequences lie apart."""
    task = toy(8)
    block = small_block(8, 1, 1, 1, BETA, 0)
    found = n4_proof(block, task, eps_for(Fraction(1, 2), GRID), TAU, parts=10**12)
    assert isinstance(found, NoPair)
    assert found.subsequences < found.cells


def test_a_block_outside_a1_fails_its_row() -> None:
    """Would catch: hypotheses that are assumed instead of checked (W_V twice as large as A1.3 allows)."""
    task, block = toy(8), small_block(8, 1, 1, 1, BETA, 0)
    head = block.heads[0]
    grown = type(head)(head.query, head.key, 4 * head.value / np.abs(head.value).max(), head.query_bias, np.zeros(1))
    changed = type(block)(
        8,
        1,
        block.encoder,
        block.class_token,
        (grown,),
        block.beta,
        block.output_weight,
        block.output_bias,
        block.readout,
    )
    found = n4_proof(changed, task, eps_for(Fraction(1, 2), GRID), TAU)
    assert isinstance(found, GridProof)
    assert not found.complete
    assert [row.id for row in found.rows if row.verdict == FAILS] == ["A1.3", "N4 (4)"]


def test_printed_chain_in_case_2a() -> None:
    """Would catch: a quantity Q or V over the wrong positions. All steps hold but the printed T2.2-gap (maxima)."""
    task = quadratic(2, 1, 20)
    block = small_block(20, 1, 1, 1, BETA, 0)
    found = claim_proof(block, task, Fraction(1, 20000), repaired_index_sets(block, task))
    assert isinstance(found, ClaimProof)
    assert found.failed == ("T2.2-gap, printed",)
    assert found.verdicts("T2.2-claim (2a)") == [HOLDS]
    assert set(found.verdicts("T2.2-40")) == {NOT_NEEDED}
    assert set(found.verdicts("T2.2-26")) == {HOLDS}
    assert found.subsequences == 31**3


def test_printed_chain_in_case_2b() -> None:
    """Would catch: case (2b) never taken, or its bound on Q4 wrong: at beta = 100 the segment has hardly any weight."""
    task = quadratic(2, 1, 20)
    block = small_block(20, 1, 1, 1, Fraction(100), 0)
    found = claim_proof(block, task, Fraction(1, 20000), repaired_index_sets(block, task))
    assert isinstance(found, ClaimProof)
    assert found.verdicts("T2.2-claim (2b)") == [HOLDS]
    assert set(found.verdicts("T2.2-40")) == {HOLDS}
    assert set(found.verdicts("T2.2-26")) == {NOT_NEEDED}
    assert found.failed == ("T2.2-gap, printed",)


def test_cells_of_claim_2_1_agree_with_the_closed_bound() -> None:
    """Would catch: a count that forgets a factor: it lies below theory.paper_count's upper bound, within a bit."""
    eps, free = Fraction(1, 10**6), 30
    block = small_block(128, 1, 1, 2, BETA, 0)
    count = claim_cell_count(accuracy(eps, free, block), free, block)
    upper = paper_count(eps, Fraction(1, 2), 2, 1, 2, 128).cells_log2_upper
    assert upper - 1 < count.bit_length() <= upper + 1


def test_printed_index_sets_fail_and_repaired_ones_do_not() -> None:
    """Would catch: T2.2-max repaired in name only, or a counterexample that is none."""
    block, task = wrong_index_sets()
    eps = Fraction(1, 1000)
    printed = claim_proof(block, task, eps, published_index_sets(block, task))
    repaired = claim_proof(block, task, eps, repaired_index_sets(block, task))
    assert isinstance(printed, ClaimProof)
    assert isinstance(repaired, ClaimProof)
    assert printed.verdicts("T2.2-claim (1)") == printed.verdicts("T2.2-claim (2a)") == [HOLDS]
    assert {"T2.2-Q4", "T2.2-36", "T2.2-46"} <= set(printed.failed)
    assert repaired.failed == ("T2.2-gap, printed",)
    answers = {name: verify.verify(writer.to_bytes(entry)).label for name, entry in certificates(printed).items()}
    assert answers == {"T2.2-Q4": "PROVED", "T2.2-36": "PROVED"}
    mutants = {name: verify.verify(writer.to_bytes(entry)).label for name, entry in certificates(repaired).items()}
    assert mutants == {"T2.2-Q4": "REFUTED", "T2.2-36": "REFUTED"}


def test_refusals() -> None:
    """Would catch: a traceback or a silent answer for s >= D, too many free positions, an eps without a grid."""
    task = toy(8)
    with pytest.raises(InvalidInput, match="s < D"):
        n4_proof(small_block(8, 1, 2, 1, BETA, 0), task, Fraction(1, 90), TAU)
    with pytest.raises(InvalidInput, match="free positions"):
        n4_proof(small_block(8, 1, 1, 1, BETA, 0), task, Fraction(1, 90), 7)
    block = small_block(12, 1, 1, 1, BETA, 0)
    with pytest.raises(InvalidInput, match="eps"):
        claim_proof(block, toy(12), Fraction(1, 2), repaired_index_sets(block, toy(12)))
