"""Sparse layers: the same function, file and counts as the dense layer with the same entries."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from checks import balls
from constructions.arithmetic import EXACT, FLOAT64, TorchArithmetic, fractions
from constructions.evaluate import apply_map
from constructions.network import Dense, Perceptron
from constructions.network_json import map_from_json, map_to_json
from constructions.sparse import DENSE_ENTRIES, SparseLayer, SparseMatrix, entries_of, layer
from theory.errors import InvalidInput


def _random(seed: int, rows: int = 7, columns: int = 5) -> tuple[np.ndarray, SparseMatrix]:
    rng = np.random.default_rng(seed)
    array = np.where(rng.random((rows, columns)) < 0.4, rng.integers(-9, 10, (rows, columns)), 0)
    array[rows // 2] = 0
    exact = fractions([[Fraction(int(entry), 7) for entry in row] for row in array])
    return exact, SparseMatrix.from_array(exact)


@pytest.mark.parametrize("seed", range(10))
def test_products_agree_with_the_dense_matrix_in_every_arithmetic(seed: int) -> None:
    """Catches rows in a wrong order, an empty row that is lost, an arithmetic that cannot gather."""
    exact, sparse = _random(seed)
    assert (sparse.dense() == exact).all()
    x = fractions([[Fraction(k + j, 3) for j in range(5)] for k in range(4)])
    wanted = x @ exact.T
    assert (sparse.product(x, EXACT) == wanted).all()
    assert np.allclose(sparse.product(x.astype(float), FLOAT64), wanted.astype(float), rtol=1e-12)
    torch = TorchArithmetic()
    assert np.allclose(sparse.product(torch.asarray(x), torch).numpy(), wanted.astype(float), rtol=1e-12)
    with balls.precision(64):
        product = sparse.product(balls.BALLS.asarray(x), balls.BALLS)
        assert all(balls.contains(ball, value) for ball, value in zip(product.ravel(), wanted.ravel(), strict=True))


def test_rows_and_entries_round_trip() -> None:
    """Catches entries that change their place on the way through rows, JSON and back."""
    exact, sparse = _random(3)
    again = SparseMatrix.from_rows(list(sparse.rows()), 5)
    assert (again.dense() == exact).all()
    assert again.count == np.count_nonzero(exact)
    network = Perceptron((SparseLayer(sparse, fractions([0] * 7), "relu"),))
    read = map_from_json(json.loads(json.dumps(map_to_json(network))))
    assert isinstance(read, Perceptron)
    assert isinstance(read.layers[0], SparseLayer)
    x = fractions([[1, 2, "1/3", -4, 5]])
    assert (apply_map(read, x, EXACT) == apply_map(network, x, EXACT)).all()


def test_size_decides_how_a_layer_is_stored() -> None:
    """Catches a large layer written out, and a small one that readers of plain weights cannot read."""
    small, large = layer([{0: Fraction(1)}], DENSE_ENTRIES, [0]), layer([{0: Fraction(1)}], DENSE_ENTRIES + 1, [0])
    assert type(small) is Dense
    assert isinstance(large, SparseLayer)
    assert entries_of(small).count == entries_of(large).count == 1
    assert large.shape == (1, DENSE_ENTRIES + 1)


def test_impossible_matrices_are_refused() -> None:
    """Catches a column outside the matrix, a bias of another length, a matrix too large to be written out."""
    with pytest.raises(InvalidInput, match="column"):
        SparseMatrix.from_rows([{3: Fraction(1)}], 3)
    with pytest.raises(InvalidInput, match="bias"):
        SparseLayer(SparseMatrix.from_rows([{}], 3), fractions([0, 0]))
    with pytest.raises(InvalidInput, match="matrix entries"):
        SparseMatrix.from_rows([{}] * 3000, 3000).dense()
    entry = {"weight": {"shape": [2, 2], "rows": [[]]}, "bias": ["0"], "activation": "relu"}
    with pytest.raises(InvalidInput, match="rows"):
        map_from_json({"layers": [entry]})
