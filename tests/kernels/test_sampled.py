"""Products over the non-zeros of sparse data against the same written with whole matrices, and the sharing out among threads."""

import math

import numpy as np
import pytest
from scipy import sparse

from nonneg import factorize
from nonneg.data import Request
from nonneg.data import sparse as storage
from nonneg.data.dense import DenseData
from nonneg.data.sparse import SparseData
from nonneg.divergences import Alpha, Beta
from nonneg.divergences.base import Operand
from nonneg.kernels import sampled, threads
from nonneg.kernels.host import is_kept_in_double
from nonneg.kernels.namespace import namespace_of
from nonneg.kernels.threads import limited

ROUNDING = {np.float64: 1e-12, np.float32: 1e-5}
POWERS = [(1, -1), (1, -2), (1, -1.5), (1, -0.5), (1, -3), (0.5, -0.5), (2, -2), (0.7, -0.7), (0.3, 0.4), (3, 1), (1, 0), (2, -3)]


@pytest.fixture(params=[np.float64, np.float32], ids=["double", "single"])
def dtype(request):
    return request.param


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def thread_count(request):
    with limited(request.param):
        yield request.param


@pytest.fixture
def X(rng):
    """Enough non-zeros for two threads; rows with none, with 1 to 9, and with more than are worked on together."""
    X = rng.random((260, 700)) * 4 + 0.1
    X[rng.random(X.shape) < 0.7] = 0
    X[7], X[:, 3], X[:, 400:410] = rng.random(700) + 0.1, 0, 0
    for count in range(10):
        X[20 * count] = np.where(np.arange(700) // 10 == 20, X[20 * count] + 1, 0)
        X[20 * count, 200 + count :] = 0
    assert np.count_nonzero(X) > 2 * 20_000
    assert {*range(10)} <= {*np.count_nonzero(X, axis=1)}
    return X


@pytest.fixture
def factors(X, rng):
    return rng.random((len(X), 6)) + 0.01, rng.random((6, X.shape[1])) + 0.01


@pytest.fixture(params=[False, True], ids=["kept", "passing"])
def is_passing(request):
    """Whether the data are kept, with Xᵀ in rows beside X, or are here for one visit, as a block of a file is."""
    return request.param


@pytest.fixture(autouse=True)
def many_entries(monkeypatch):
    """Few entries of float32 are cast, and do not come to the kernel."""
    monkeypatch.setattr(storage, "is_small", lambda entries: False)


def sparse_data(X, is_passing=False):
    return SparseData(sparse.csr_array(X), namespace_of(X), is_passing=is_passing)


def naive(X, approximation, powers):
    E = np.zeros_like(X)
    E[X > 0] = X[X > 0] ** powers[0] * approximation[X > 0] ** powers[1]
    return E


@pytest.mark.parametrize("powers", POWERS, ids=str)
def test_products_with_any_powers(X, factors, rng, powers, dtype, thread_count, is_passing):
    (U, V), X, operand = (factor.astype(dtype) for factor in factors), X.astype(dtype), Operand(*powers)
    u, v = rng.random((5, len(X))).astype(dtype), rng.random((X.shape[1], 9)).astype(dtype)
    requests = [
        Request(operand, "right", v),
        Request(operand, "left", u),
        Request(operand, "right", V.T),
        Request(operand, "left", U.T),
    ]
    results, logarithm = sparse_data(X, is_passing).visit(U, V, requests)
    E = naive(X.astype(np.float64), U.astype(np.float64) @ V, powers)
    assert logarithm is None
    for result, expected, summands in zip(results, (E @ v, u @ E, E @ V.T, U.T @ E), E.shape[::-1] * 2, strict=True):
        np.testing.assert_allclose(result, expected, rtol=ROUNDING[dtype])
        rows, columns = expected.shape
        assert result.dtype == (np.float64 if is_kept_in_double(rows, summands, columns) else dtype)


@pytest.mark.parametrize("log_power", [1.0, 0.5, 2.0, 1.3])
@pytest.mark.parametrize("sides", [[], ["right"], ["left"], ["left", "right"]], ids=str)
def test_the_sum_of_logarithms_comes_along(X, factors, log_power, sides, dtype, thread_count, is_passing):
    (U, V), X = (factor.astype(dtype) for factor in factors), X.astype(dtype)
    matrix = {"right": V.T, "left": U.T}
    requests = [Request(Operand(1, -1), side, matrix[side]) for side in sides]
    _, logarithm = sparse_data(X, is_passing).visit(U, V, requests, log_power)
    expected = math.fsum((X.astype(np.float64) ** log_power * np.log(U.astype(np.float64) @ V)).ravel())
    assert logarithm == pytest.approx(expected, rel=ROUNDING[dtype])


def test_threads_change_nothing(X, factors, is_passing):
    U, V = factors
    requests = [Request(Operand(1, -1), "right", V.T), Request(Operand(1, -1), "left", U.T)]
    with limited(1):
        one, _ = sparse_data(X, is_passing).visit(U, V, requests)
    with limited(2):
        two, _ = sparse_data(X, is_passing).visit(U, V, requests)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("is_sparse", [True, False], ids=["sparse", "dense"])
def test_threads_are_used(X, factors, is_sparse, monkeypatch):
    """Lest the tests of two threads run in one."""
    (U, V), used, share = factors, [], threads.in_threads
    monkeypatch.setattr(threads, "in_threads", lambda work, pieces: used.append(len(pieces)) or share(work, pieces))
    if not is_sparse:
        X, U = np.tile(X, (2, 1)), np.tile(U, (2, 1))
    data = sparse_data(X) if is_sparse else DenseData(X, namespace_of(X))
    with limited(2):
        data.visit(U, V, [Request(Operand(1, -1), "right", V.T)])
    assert used == [2]


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_order_in_memory_does_not_matter(X, factors, order):
    U, V = (np.asarray(factor, order=order) for factor in factors)
    wide = np.repeat(V, 2, axis=1)[:, ::2]  # neither
    for right_factor in (V, wide):
        (right, left), _ = sparse_data(X).visit(
            U, right_factor, [Request(Operand(1, -1), "right", right_factor.T), Request(Operand(1, -1), "left", U.T)]
        )
        E = naive(X, U @ right_factor, (1, -1))
        np.testing.assert_allclose(right, E @ right_factor.T, rtol=1e-12)
        np.testing.assert_allclose(left, U.T @ E, rtol=1e-12)


def test_indices_may_be_long(X, factors):
    (U, V), data = factors, sparse_data(X)
    data.values.indices, data.values.indptr = data.values.indices.astype(np.int64), data.values.indptr.astype(np.int64)
    (product,), _ = data.visit(U, V, [Request(Operand(1, -1), "right", V.T)])
    np.testing.assert_allclose(product, naive(X, U @ V, (1, -1)) @ V.T, rtol=1e-12)


def test_nan_stays_in_its_place(X, factors):
    U, V = factors
    U[5] = np.nan
    (product,), _ = sparse_data(X).visit(U, V, [Request(Operand(1, -1), "right", V.T)])
    assert np.all(np.isnan(product[5]))
    assert np.all(np.isfinite(np.delete(product, 5, axis=0)))


def test_a_product_of_zero_is_taken_for_the_floor(X, factors):
    """Where X̂ is zero, all sides and sums see the least that it is taken for."""
    U, V = factors
    U[5] = 0
    floor = np.finfo(np.float64).smallest_normal ** 0.5
    E = naive(X, np.maximum(U @ V, floor), (1, -1))
    (right, left), logarithm = sparse_data(X).visit(
        U, V, [Request(Operand(1, -1), "right", V.T), Request(Operand(1, -1), "left", np.ones((1, len(X))))], 1.0
    )
    np.testing.assert_allclose(right, E @ V.T, rtol=1e-12)
    np.testing.assert_allclose(left, E.sum(axis=0, keepdims=True), rtol=1e-12)
    assert logarithm == pytest.approx(np.sum(X * np.log(np.maximum(U @ V, floor))), rel=1e-12)


def test_nothing_stored_is_nothing_to_do(factors):
    U, V = factors
    data = SparseData(sparse.csr_array((len(U), V.shape[1])), namespace_of(U))
    (right, left), logarithm = data.visit(U, V, [Request(Operand(1, -1), "right", V.T), Request(Operand(1, -1), "left", U.T)], 1.0)
    assert not np.any(right)
    assert not np.any(left)
    assert logarithm == 0


def test_sparse_factors_go_another_way_to_the_same(X, factors, rng):
    """X̂ = X·W·Wᵀ cut after X, as a rank above the number of columns would have it."""
    W = sparse.random_array((X.shape[1], X.shape[1]), density=0.01, rng=rng, format="csr") + sparse.eye_array(
        X.shape[1], format="csr"
    )
    U, v = sparse.csr_array(X), rng.random((X.shape[1], 3))
    (product,), logarithm = sparse_data(X).visit(U, W, [Request(Operand(1, -1), "right", v)], 1.0)
    approximation = X @ W.toarray()
    np.testing.assert_allclose(product, naive(X, approximation, (1, -1)) @ v, rtol=1e-12)
    assert logarithm == pytest.approx(np.sum(X[X > 0] * np.log(approximation[X > 0])))


def test_matrices_may_be_sparse(X, factors, rng):
    """A fixed factor may be, and so may what it is multiplied with."""
    (U, V), u, v = factors, rng.random((5, len(X))), rng.random((X.shape[1], 4))
    u[:, ::2], v[::3] = 0, 0
    requests = [Request(Operand(1, -1), "right", sparse.csr_array(v)), Request(Operand(1, -1), "left", sparse.csr_array(u))]
    (right, left), _ = sparse_data(X).visit(U, V, requests)
    E = naive(X, U @ V, (1, -1))
    np.testing.assert_allclose(right, E @ v, rtol=1e-12)
    np.testing.assert_allclose(left, u @ E, rtol=1e-12)


@pytest.mark.parametrize("divergence", [Beta(1), Beta(0.5), Alpha(0.5), Alpha(2)], ids=str)
@pytest.mark.parametrize("form", ["W H", "X W W.T", "W W.T X", "W S H", "L L.T X R R.T"])
@pytest.mark.parametrize("solver", ["multiplicative", "adaptive"])
def test_sparse_and_dense_data_give_the_same_factors(form, divergence, solver, rng):
    X = rng.random((40, 30)) + 0.1
    X[rng.random(X.shape) < 0.5] = 0
    settings = {"divergence": divergence, "solver": solver, "init": "random", "max_iter": 5, "random_state": 0}
    runs = [factorize(x, form, 3, **settings) for x in (X, sparse.csr_array(X))]
    for name, factor in runs[0].factors.items():
        np.testing.assert_allclose(runs[1].factors[name], factor, rtol=1e-9, atol=1e-12)
    assert runs[1].objective == pytest.approx(runs[0].objective, rel=1e-11)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_infinite_logarithms_reach_the_sum(X, factors, value, dtype):
    """Its bits would be those of a number: the logarithm is found from them."""
    U, V = (factor.astype(dtype) for factor in factors)
    U[7, 2] = value
    _, logarithm = sparse_data(X.astype(dtype)).visit(U, V, [Request(Operand(1, -1), "right", V.T)], 1.0)
    assert not math.isfinite(logarithm)


@pytest.mark.parametrize("is_wide", [False, True], ids=["many entries a column", "few"])
def test_long_columns_take_one_pass_for_both_sides(X, factors, rng, is_wide, monkeypatch):
    (U, V), visited, own = factors, [], sampled.sampled_products
    if is_wide:
        X, V = np.hstack([X, np.zeros((len(X), 20_000))]), np.hstack([V, rng.random((len(V), 20_000))])
    monkeypatch.setattr(
        sampled, "sampled_products", lambda start, stop, *rest: visited.append(stop - start) or own(start, stop, *rest)
    )
    requests = [Request(Operand(1, -1), "right", V.T), Request(Operand(1, -1), "left", U.T)]
    (right, left), _ = sparse_data(X).visit(U, V, requests)
    assert sum(visited) == (sum(X.shape) if is_wide else X.shape[0])
    E = naive(X, U @ V, (1, -1))
    np.testing.assert_allclose(right, E @ V.T, rtol=1e-12)
    np.testing.assert_allclose(left, U.T @ E, rtol=1e-12)
