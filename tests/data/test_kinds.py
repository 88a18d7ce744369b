import math
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from nonneg import factorize
from nonneg.data import Request, Unreached
from nonneg.data import visiting as storage
from nonneg.data.dense import DenseData
from nonneg.data.gram import GramData
from nonneg.data.reading import read_data, read_weighted
from nonneg.data.sparse import SparseData
from nonneg.divergences import Alpha, Beta, DualI, Gamma
from nonneg.divergences.base import LogRatio, Operand
from nonneg.exceptions import IncompatibleError
from nonneg.kernels.namespace import namespace_of
from nonneg.kernels.threads import limited

OPERANDS = [Operand(1, -1), Operand(1, -2), Operand(0, -1), Operand(0, 0.5), Operand(0.5, -0.5), Operand(2, -2)]
POSITIVE_ONLY = [Operand(-1, 1), LogRatio()]


def both(X):
    return {"dense": DenseData(X, namespace_of(X)), "sparse": SparseData(sparse.csr_array(X), namespace_of(X))}


@pytest.fixture(params=["dense", "sparse"])
def kind(request):
    return request.param


@pytest.fixture
def holes(X):
    """Data with zeros, among them an empty row and an empty column."""
    X[X < 0.4] = 0
    X[2], X[:, 3] = 0, 0
    return X


def test_sums(kind, holes):
    data = both(holes)[kind]
    assert data.power_sum(0) == holes.size
    assert data.power_sum(2) == pytest.approx(np.sum(holes**2))
    assert data.power_sum(0.5) == pytest.approx(np.sum(holes**0.5))
    assert data.power_sum(1, logarithm=True) == pytest.approx(np.sum(holes[holes > 0] * np.log(holes[holes > 0])))
    assert data.facts.peak == holes.max()
    assert data.size == (holes.size if kind == "dense" else np.count_nonzero(holes))
    assert data.in_units(0.25).power_sum(1) == pytest.approx(4 * holes.sum())


def test_logarithm_of_positive_data(kind, X):
    assert both(X)[kind].power_sum(0, logarithm=True) == pytest.approx(np.log(X).sum())
    assert both(X)[kind].power_sum(-1) == pytest.approx((1 / X).sum())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("block", [1, 200, 2**18])
@pytest.mark.parametrize("operand", [*OPERANDS, *POSITIVE_ONLY], ids=str)
def test_elementwise_products(kind, operand, block, threads, rng, monkeypatch):
    """E·v, u·E, and both sums of logarithms, for any number of rows at a time and side by side."""
    monkeypatch.setattr(storage, "_BLOCK_ENTRIES", dict.fromkeys(storage._BLOCK_ENTRIES, block))
    monkeypatch.setattr(storage, "_LEAST_ENTRIES", 100)
    x = rng.random((70, 5)) + 0.1
    if operand not in POSITIVE_ONLY:
        x[x < 0.4], x[2], x[:, 3] = 0, 0, 0
    U, V = rng.random((70, 2)) + 0.1, rng.random((2, 5)) + 0.1
    u, v = rng.random((3, 70)), rng.random((5, 3))
    E, logarithms = operand.evaluate(np, x, U @ V), np.log(U @ V)
    for log_power, total in ((None, None), (0.0, logarithms.sum()), (1.0, np.sum(x * logarithms))):
        requests = [Request(operand, "right", v), Request(operand, "left", u)]
        with limited(threads):
            (right, left), logarithm = both(x)[kind].visit(U, V, requests, log_power)
        np.testing.assert_allclose(right, E @ v)
        np.testing.assert_allclose(left, u @ E)
        assert logarithm == pytest.approx(total)


@pytest.mark.parametrize("operand", OPERANDS, ids=str)
def test_a_single_factor_is_its_own_product(kind, operand, holes, rng):
    U = rng.random(holes.shape) + 0.1
    (E,), _ = both(holes)[kind].visit(U, None, [Request(operand, "right", None)])
    np.testing.assert_allclose(E, operand.evaluate(np, holes, U))


def test_unreached_entries(kind, holes, rng):
    """Ones where X is positive and X̂ is not, found by the same walk."""
    U, V = rng.random((6, 2)), rng.random((2, 5))
    U[1] = 0
    (counts,), _ = both(holes)[kind].visit(U, V, [Request(Unreached(), "right", np.ones((5, 1)))])
    np.testing.assert_array_equal(counts[:, 0], np.where(np.arange(6) == 1, np.count_nonzero(holes, axis=1), 0))
    assert counts[1, 0] > 0


@pytest.mark.parametrize("threads", [1, 2])
def test_a_single_factor_in_pieces(threads, rng, monkeypatch):
    monkeypatch.setattr(storage, "_LEAST_ENTRIES", 100)
    x, U = rng.random((70, 5)) + 0.1, rng.random((70, 5)) + 0.1
    with limited(threads):
        (E,), _ = both(x)["dense"].visit(U, None, [Request(Operand(1, -2), "right", None)])
    np.testing.assert_allclose(E, x / U**2)


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("weighted", [False, True])
def test_wide_data_are_visited_by_columns(layout, weighted, rng, monkeypatch):
    monkeypatch.setattr("nonneg.data.dense._WIDE", 50)
    monkeypatch.setattr(storage, "_BLOCK_ENTRIES", dict.fromkeys(storage._BLOCK_ENTRIES, 100))
    x, U, V = rng.random((5, 200)) + 0.1, rng.random((5, 2)) + 0.1, rng.random((2, 200)) + 0.1
    weights = rng.random(x.shape) if weighted else np.ones(x.shape)
    data = read_weighted(layout(x), weights=layout(weights)) if weighted else DenseData(layout(x), namespace_of(x))
    u, v = rng.random((3, 5)), rng.random((200, 3))
    requests = [Request(Operand(1, -1), "right", v), Request(Operand(1, -1), "left", u)]
    (right, left), logarithm = data.visit(U, V, requests, 1.0)
    np.testing.assert_allclose(right, weights * x / (U @ V) @ v)
    np.testing.assert_allclose(left, u @ (weights * x / (U @ V)))
    assert logarithm == pytest.approx(np.sum(weights * x * np.log(U @ V)))
    (E,), _ = data.visit(x, None, [Request(Operand(1, -2), "right", None)])
    np.testing.assert_allclose(E, weights / x)


def test_blocks_cover_all_rows():
    for m, n in ((1, 1), (16, 5), (1000, 300), (70, 10**6), (300_000, 3), (5, 0)):
        blocks = list(storage.row_blocks(m, n, "cpu"))
        assert [row for block in blocks for row in range(m)[block]] == list(range(m))
        assert all((block.stop - block.start) % 16 == 0 for block in blocks[:-1])


def test_a_product_of_zero_divides_nothing(kind, X):
    """X/X̂ stays finite where X̂ is exactly zero."""
    (product,), total = both(X)[kind].visit(
        np.zeros((6, 2)), np.ones((2, 5)), [Request(Operand(1, -1), "right", np.ones((5, 1)))], 1.0
    )
    assert np.all(np.isfinite(product))
    assert math.isfinite(total)


def test_float32_stays_but_for_small_products(kind, holes, rng):
    X = np.tile(holes.astype(np.float32), (6000, 1))  # too large to be cast, also the tall product
    U, V = rng.random((36_000, 2), np.float32), rng.random((2, 5), np.float32)
    data = both(X)[kind]
    for operand in OPERANDS:
        (tall, small), _ = data.visit(U, V, [Request(operand, "right", V.T), Request(operand, "left", U.T)])
        assert (tall.dtype, small.dtype) == (np.float32, np.float64)
    assert data.in_units(2.0).itself().dtype == np.float32


def test_of_a_gram_matrix_only_squares_are_known(X):
    K = X @ X.T
    data = GramData(K, namespace_of(K))
    assert data.power_sum(2) == pytest.approx(np.sum(X**2))
    assert data.in_units(0.5).power_sum(2) == pytest.approx(4 * np.sum(X**2))
    np.testing.assert_allclose(data.apply_gram(X), K @ X)
    np.testing.assert_allclose(data.lengths(0), np.linalg.norm(X, axis=1))
    for ask in (
        lambda: data.power_sum(1),
        lambda: data.power_sum(1, logarithm=True),
        lambda: data.visit(X, None, []),
        lambda: data.apply(X),
        lambda: data.apply_gram(X, transposed=True),
        lambda: data.take(np.arange(2), 0),
    ):
        with pytest.raises(IncompatibleError, match=r"Only X Xᵀ is known .* such as 'W W\.T X' with 'euclidean'"):
            ask()


@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Beta(0), Beta(0.5), Alpha(0.5), Alpha(2), DualI(), Gamma(0.5)], ids=str)
@pytest.mark.parametrize("form", ["W H", "W W.T X"])
def test_no_second_matrix_of_the_size_of_the_data_is_alive(form, divergence, rng):
    X = rng.random((3000, 1500)) + 0.1
    factorize(X, form, 4, divergence=divergence, max_iter=1, random_state=0)  # what is imported and compiled stays
    tracemalloc.start()
    try:
        factorize(X, form, 4, divergence=divergence, max_iter=1, random_state=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.5 * X.nbytes


def test_a_part_of_sparse_data_is_sparse():
    X = sparse.random_array((30, 20), density=0.1, rng=0, format="csr")
    data = read_data(X)
    for axis in (0, 1):
        part = data.subset(np.array([3, 1, 7]), axis)
        assert part.size < 30 * 20 / 5
        expected = X.toarray()[[3, 1, 7]] if axis == 0 else X.toarray()[:, [3, 1, 7]]
        np.testing.assert_array_equal(part.apply(np.eye(expected.shape[1])), expected)
