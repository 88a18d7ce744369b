import numpy as np
import pytest
from scipy import sparse

from nonneg import Gram
from nonneg.data.dense import DenseData
from nonneg.data.gram import GramData
from nonneg.data.reading import read_data, read_matrix
from nonneg.data.sparse import SparseData
from nonneg.exceptions import DataError

SPARSE = [getattr(sparse, f"{kind}_{what}") for kind in ("csr", "csc", "coo", "lil", "dok", "bsr") for what in ("array", "matrix")]


def torch_tensor(array):
    return pytest.importorskip("torch", reason="PyTorch is not installed").tensor(array)


KINDS = {"dense": np.asarray, "sparse": sparse.csr_array, "torch": torch_tensor}


class Table:
    """A table of another library: all it has is __array__."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def spoilt(value, count=1):
    X = np.ones((3, 4))
    X[1, 2] = value
    if count > 1:
        X[2, 0] = value
    return X


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("X", "match"),
    [
        (spoilt(-2), r"X has 1 negative entry, the first \(-2\) at \(1, 2\).*shift or clip them"),
        (spoilt(-2, 2), r"X has 2 negative entries, the first \(-2\) at \(1, 2\)"),
        (spoilt(np.nan), r"X has 1 entry that is not finite, the first \(nan\) at \(1, 2\).*drop those rows or columns"),
        (spoilt(np.inf, 2), r"X has 2 entries that are not finite, the first \(inf\) at \(1, 2\)"),
        (spoilt(-np.inf), r"not finite, the first \(-inf\)"),
        (np.ones(3), "must be a matrix with rows and columns; got 1 dimension, shape"),
        (np.ones((0, 3)), r"X is empty.*At least one row and one column"),
        (np.ones((3, 0)), "X is empty"),
        (np.ones((2, 2)) * 1j, "complex"),
    ],
)
def test_refused_in_every_kind(kind, X, match):
    given = sparse.coo_array(X) if kind == "sparse" and X.ndim == 1 else KINDS[kind](X)
    with pytest.raises(DataError, match=match):
        read_data(given)


@pytest.mark.parametrize(
    ("X", "match"),
    [
        (5, "got 0 dimensions"),
        (None, "got 0 dimensions"),
        ("text", "got 0 dimensions"),
        (np.ones((2, 2, 2)), r"got 3 dimensions, shape \(2, 2, 2\)"),
        ([1, 2, 3], "got 1 dimension.*Reshape it with"),
        ([], "X is empty: there are no samples in it"),
        ([["a", "b"]], "entries of type <U1, which are not numbers"),
        ([[object()]], "entries that are not numbers"),
        ([[1, None]], "not finite"),
        ([[1, 2], [3]], "cannot be read as a matrix"),
        (np.ma.masked_greater([[1.0, 2.0]], 1), "masked array with missing entries.*fill them in"),
        (np.array([[1, np.nan]], dtype=object), "not finite"),
        (Table([[1, -1]]), "negative entry"),
    ],
)
def test_refused(X, match):
    with pytest.raises(DataError, match=match):
        read_data(X)


@pytest.mark.parametrize("kind", KINDS)
def test_forbidden_zeros(kind):
    with pytest.raises(DataError, match=r"X has 1 zero entry, where this divergence is infinite.*kullback-leibler"):
        read_data(KINDS[kind](spoilt(0)), positive=True)
    assert read_data(KINDS[kind](spoilt(1)), positive=True).shape == (3, 4)
    assert read_data(KINDS[kind](spoilt(0))).shape == (3, 4)


@pytest.mark.parametrize("kind", KINDS)
def test_signed_data_are_symmetric(kind, rng):
    S = rng.standard_normal((4, 4))
    assert read_data(KINDS[kind](S + S.T), signed=True, symmetric=True).shape == (4, 4)
    with pytest.raises(DataError, match=r"must be symmetric here.*mirror image by up to .*mean of the matrix and its transpose"):
        read_data(KINDS[kind](S), signed=True, symmetric=True)
    with pytest.raises(DataError, match=r"must be square and symmetric here; its shape is \(3, 4\)"):
        read_data(KINDS[kind](S[:3]), signed=True, symmetric=True)


@pytest.mark.parametrize(
    ("K", "match"),
    [
        (np.ones((2, 3)), "Gram matrix of X must be square"),
        ([[1, 2], [0, 1]], "Gram matrix of X must be symmetric"),
        (-np.ones((2, 2)), "Gram matrix of X has 4 negative entries"),
        ([[0, 1], [1, 0]], "not X Xᵀ of any X.*adding a large enough number to its diagonal"),
        (np.full((2, 2), np.nan), "Gram matrix of X has 4 entries that are not finite"),
        (np.ones((0, 0)), "Gram matrix of X is empty"),
        (np.ones(2), "Gram matrix of X must be a matrix"),
    ],
)
def test_gram_matrices_are_checked_as_well(K, match):
    with pytest.raises(DataError, match=match):
        read_data(Gram(K))


def test_gram_matrices_may_be_sparse(X):
    K = X @ X.T
    data = read_data(Gram(sparse.csr_array(K)))
    assert isinstance(data, GramData)
    assert sparse.issparse(data.gram), "it stays so"
    np.testing.assert_array_equal(data.gram.toarray(), K)


@pytest.mark.parametrize(
    "given",
    [
        [[1, 0, 2], [0, 3, 0]],
        ((1, 0, 2), (0, 3, 0)),
        Table([[1, 0, 2], [0, 3, 0]]),
        np.array([[1, 0, 2], [0, 3, 0]], dtype=np.uint8),
        np.array([[1, 0, 2], [0, 3, 0]], dtype=np.float16),
        np.array([[1, 0, 2], [0, 3, 0]], dtype=">f8"),
        np.array([[1, 0, 2], [0, 3, 0]], dtype=object),
        np.array([[1, 0, 2], [0, 3, 0]]).view(np.matrix),
        np.ma.masked_array([[1, 0, 2], [0, 3, 0]]),
        np.asfortranarray([[1, 0, 2], [0, 3, 0]]),
        np.repeat(np.repeat([[1.0, 0, 2], [0, 3, 0]], 2, axis=0), 2, axis=1)[::2, ::-2][:, ::-1],
    ],
    ids=["list", "tuple", "table", "uint8", "float16", "big-endian", "object", "matrix", "masked", "fortran", "view"],
)
def test_every_container_reads_as_a_matrix(given):
    data = read_data(given)
    assert isinstance(data, DenseData)
    assert type(data.values) is np.ndarray
    assert data.values.dtype == np.dtype(float)
    np.testing.assert_array_equal(data.values, [[1, 0, 2], [0, 3, 0]])


@pytest.mark.parametrize("make", SPARSE, ids=lambda make: make.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, bool])
def test_every_sparse_format(make, dtype):
    X = np.array([[1, 0, 2], [0, 3, 0]]).astype(dtype)
    data = read_data(make(X))
    assert isinstance(data, SparseData)
    assert data.values.format == "csr"
    assert data.values.dtype == (dtype if dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(data.values.toarray(), X)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_duplicates_and_explicit_zeros_are_not_entries(index):
    """In a copy: the user's arrays stay as they are."""
    values, columns, rows = np.array([1.0, 2, 0, 4, -4]), np.array([2, 2, 0, 1, 1], index), np.array([0, 3, 5], index)
    X = sparse.csr_array((values, columns, rows), shape=(2, 3))
    for given in (X, X.tocoo()):
        data = read_data(given)
        np.testing.assert_array_equal(data.values.toarray(), [[0, 0, 3], [0, 0, 0]])
        assert data.size == 1
    np.testing.assert_array_equal(X.data, [1, 2, 0, 4, -4])
    np.testing.assert_array_equal(X.indices, [2, 2, 0, 1, 1])


def test_clean_data_are_not_copied(X):
    assert read_data(X).values is X
    S = sparse.csr_array(X)
    assert np.shares_memory(read_data(S).values.data, S.data)


@pytest.mark.parametrize(
    ("dtype", "kept"), [(np.float32, np.float32), (np.float64, np.float64), (np.int64, np.float64), (bool, float)]
)
def test_float32_stays_and_the_rest_becomes_float64(dtype, kept):
    values, namespace = read_matrix(np.ones((2, 2), dtype), "X")
    assert values.dtype == namespace.dtype == kept


@pytest.mark.parametrize("X", [np.array([["2020-01-01"]], "M8[D]"), [["1", "2"]]], ids=["dates", "text"])
def test_neither_dates_nor_text_are_numbers(X):
    with pytest.raises(DataError, match="not numbers"):
        read_data(X)
