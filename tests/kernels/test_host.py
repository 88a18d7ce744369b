import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from nonneg.data import read_data
from nonneg.data import sparse as of_sparse
from nonneg.kernels import host
from nonneg.kernels import threads as in_ranges
from nonneg.kernels.host import blas_threads, by_pieces, cube_root, inner, is_kept_in_double, multiplied, multiplied_in_double
from nonneg.kernels.threads import limited

pytestmark = pytest.mark.wide(one_in=4)


LAYOUTS = {"rows": np.ascontiguousarray, "columns": np.asfortranarray, "strided": lambda array: np.repeat(array, 2, axis=1)[:, ::2]}


@pytest.mark.parametrize("has_avx512", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("right", LAYOUTS)
@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize(
    "shape",
    [
        (3, 4, 5),
        (1000, 300, 7),
        (701, 300, 20),
        (20, 5000, 20),
        (20, 3000, 400),
        (400, 40, 400),
        (2000, 2000, 70),
        (60000, 30, 3),
        (60000, 100, 7),
        (0, 3, 2),
    ],
)
def test_products(shape, left, right, dtype, threads, has_avx512, rng, monkeypatch):
    rows, middle, columns = shape
    A, B = rng.random((rows, middle)).astype(dtype), rng.random((middle, columns)).astype(dtype)
    monkeypatch.setattr("nonneg.kernels.host.blas_threads", lambda: threads)
    monkeypatch.setattr("nonneg.kernels.host._has_avx512", lambda: has_avx512)
    product = multiplied(LAYOUTS[left](A), LAYOUTS[right](B))
    assert product.dtype == (np.float64 if is_kept_in_double(*shape) else dtype)
    np.testing.assert_allclose(product, A.astype(float) @ B.astype(float), rtol=middle * np.finfo(dtype).eps)


@pytest.mark.parametrize("shape", [(100, 60000, 9), (2000, 9000, 20)], ids=str)
def test_sums_in_double_are_the_same_for_any_number_of_threads(shape, rng, monkeypatch):
    rows, middle, columns = shape
    A, B = rng.random((rows, middle), np.float32), rng.random((middle, columns), np.float32)
    monkeypatch.setattr("nonneg.kernels.host.blas_threads", lambda: 1)
    alone = multiplied_in_double(A, B)
    monkeypatch.setattr("nonneg.kernels.host.blas_threads", lambda: 2)
    np.testing.assert_array_equal(multiplied_in_double(A, B), alone)
    np.testing.assert_allclose(alone, A.astype(float) @ B.astype(float), rtol=1e-12)


def test_tall_products_come_in_rows(rng):
    X, W = rng.random((2000, 300)), rng.random((2000, 9))
    for product in (multiplied(X, X[:9].T), multiplied(X.T, W), multiplied(W, X[:9, :9])):
        assert product.flags.c_contiguous


def test_products_with_sparse_arrays_and_of_two_precisions(rng):
    X, W = rng.random((2000, 300)), rng.random((300, 9))
    np.testing.assert_allclose(multiplied(sparse.csr_array(X), W), X @ W)
    rounded = multiplied(X.astype(np.float32), W)
    assert rounded.dtype == np.float32
    np.testing.assert_allclose(rounded, X.astype(np.float32) @ W, rtol=1.5 * np.finfo(np.float32).eps)  # rounded once


@pytest.mark.parametrize("shapes", [[(9, 4)] * 3, [(1000, 90)] * 3, [(1000, 90), (1000, 1), (1, 90)]], ids=str)
@pytest.mark.parametrize("layouts", [["rows"] * 3, ["columns"] * 3, ["rows", "columns", "rows"], ["strided"] * 3], ids=str)
def test_by_pieces(shapes, layouts, rng):
    a, b, c = arrays = [LAYOUTS[layout](rng.random(shape)) for shape, layout in zip(shapes, layouts, strict=True)]
    np.testing.assert_array_equal(by_pieces(lambda a, b, c: a * b + c, *arrays), a * b + c)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layouts", [("rows", "rows"), ("columns", "columns"), ("rows", "columns")], ids=str)
@pytest.mark.parametrize("shape", [(3, 2), (1000, 90)])
def test_inner_products_are_summed_in_double_precision(shape, layouts, dtype, rng):
    a, b = (LAYOUTS[layout](rng.random(shape).astype(dtype)) for layout in layouts)
    assert inner(np, a, b) == pytest.approx(np.sum(a.astype(float) * b.astype(float)), rel=1e-14)


def test_the_threads_of_blas():
    with threadpool_limits(1, user_api="blas"):
        assert blas_threads() == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cube_roots(dtype):
    between = np.geomspace(1.01e-37, 0.99e38, 10_001).astype(dtype)
    assert cube_root(np, between).dtype == dtype
    np.testing.assert_allclose(cube_root(np, between), np.cbrt(between.astype(float)), rtol=50 * np.finfo(dtype).eps)
    tiny, huge = np.finfo(dtype).smallest_normal, np.finfo(dtype).max
    x = np.array([0, tiny, 1e-3, 1, 8, 27, huge, np.inf], dtype)
    root = cube_root(np, x)
    assert root.dtype == dtype
    np.testing.assert_allclose(root, np.cbrt(x.astype(float)), rtol=100 * np.finfo(dtype).eps)  # ln(huge)/3 roundings, about


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 5, 2), (900, 700, 40), (2000, 300, 60)])
def test_products_with_the_gram_matrix(shape, dtype, rng):
    """The same to the bit, however many threads share it out."""
    rows, columns, width = shape
    X, M = rng.random((rows, columns)).astype(dtype), rng.random((columns, width)).astype(dtype)
    found = []
    for count in (1, 2, 5):
        with limited(count), threadpool_limits(1, user_api="blas"):
            found.append(host.gram_multiplied(X, M))
    np.testing.assert_allclose(found[0], X.T @ (X @ M), rtol=100 * np.finfo(dtype).eps)
    assert len({each.tobytes() for each in found}) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_sparse_data_by_ranges(dtype, rng, monkeypatch):
    """To the bit, however many threads share it out; X M in double is what SciPy makes of it, row by row."""
    X = sparse.random_array((900, 30), density=0.3, rng=rng, format="csr", dtype=dtype)
    M, N = rng.random((4, 30)).astype(dtype).T, rng.random((900, 4)).astype(dtype)
    data = read_data(X)
    expected, expected_turned = X @ M, X.T @ N
    monkeypatch.setattr(of_sparse, "_WORTH_A_RANGE", 1000)
    ranges = []
    monkeypatch.setattr(in_ranges, "in_threads", lambda work, pieces: ranges.append(len(pieces)) or list(map(work, pieces)))
    np.testing.assert_allclose(data.apply(M), expected, rtol=0 if dtype == np.float64 else 100 * np.finfo(dtype).eps)
    np.testing.assert_allclose(data.apply(N, transposed=True), expected_turned, rtol=100 * np.finfo(dtype).eps)
    assert dtype == np.float32 or min(ranges) > 1  # which is summed in double, block by block
    monkeypatch.undo()
    monkeypatch.setattr(of_sparse, "_WORTH_A_RANGE", 1000)
    found = []
    for count in (1, 3):
        with limited(count):
            found.append((data.apply(M).tobytes(), data.apply(N, transposed=True).tobytes()))
    assert found[0] == found[1]
