"""Views of co-clusters, against loops over their entries; and the picture of them."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import SpectralBiclustering, SpectralCoclustering

from nonneg import NMF, BiORNM3F, coclusters
from nonneg.coclusters import block_means, order, plot_coclusters, reordered, sizes, top_terms
from nonneg.exceptions import DataError, ShapeError

STORES = {
    "dense": np.asarray,
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "matrix": sparse.csr_matrix,
}
store = pytest.mark.parametrize("store", STORES.values(), ids=STORES)


class Labelled:
    """All that the functions need."""

    def __init__(self, rows, columns):
        self.row_labels_, self.column_labels_ = np.asarray(rows), np.asarray(columns)


MODEL = Labelled([2, 0, 0, 2, 1, 0, 2], [1, 0, 1, 1, 0])
X = np.random.default_rng(0).integers(1, 9, (7, 5)) * (np.random.default_rng(1).random((7, 5)) < 0.7) * 1.0
GAPS = Labelled([2, 0, 0, 2, 3, 0, 2], [3, 1, 3, 3, 1])
"""Row cluster 1 is empty, and column clusters 0 and 2 are."""


def dense(A):
    return A.toarray() if sparse.issparse(A) else A


def blocks(model):
    """The entries of each block, by row cluster and column cluster."""
    rows, columns = model.row_labels_, model.column_labels_
    for a, b in itertools.product(range(max(rows) + 1), range(max(columns) + 1)):
        yield a, b, [(i, j) for i in range(len(rows)) for j in range(len(columns)) if rows[i] == a and columns[j] == b]


@pytest.fixture(scope="module")
def fitted():
    """Data, and estimators of both libraries."""
    data = np.random.default_rng(0).poisson(np.kron([[9, 1], [2, 6], [1, 8]], np.ones((6, 5)))).astype(float)
    return data, [
        BiORNM3F((3, 2), random_state=0).fit(data),
        NMF(2, random_state=0).fit(data),
        SpectralCoclustering(2, random_state=0).fit(data),
        SpectralBiclustering((3, 2), random_state=0).fit(data),
    ]


class TestOrder:
    def test_clusters_beside_each_other_and_otherwise_as_they_were(self):
        found = order(MODEL)
        assert found.rows.tolist() == [1, 2, 5, 4, 0, 3, 6]
        assert found.columns.tolist() == [1, 4, 0, 2, 3]
        assert found.row_ends.tolist() == [3, 4, 7]
        assert found.column_ends.tolist() == [2, 5]

    def test_empty_clusters_have_empty_ranges(self):
        found = order(GAPS)
        assert found.row_ends.tolist() == [3, 3, 6, 7]
        assert found.column_ends.tolist() == [0, 2, 2, 5]

    def test_it_is_a_permutation(self, fitted):
        for model in fitted[1]:
            found = order(model)
            for items, ends, labels in (
                (found.rows, found.row_ends, model.row_labels_),
                (found.columns, found.column_ends, model.column_labels_),
            ):
                assert sorted(items) == list(range(len(labels)))
                for k, part in enumerate(np.split(items, ends[:-1])):
                    np.testing.assert_array_equal(part, np.flatnonzero(labels == k))


class TestReordered:
    @store
    def test_entries(self, store):
        found = reordered(store(X), MODEL)
        rows, columns = [1, 2, 5, 4, 0, 3, 6], [1, 4, 0, 2, 3]
        expected = [[X[i, j] for j in columns] for i in rows]
        assert sparse.issparse(found) == (store is not np.asarray)
        np.testing.assert_array_equal(dense(found), expected)

    def test_lists(self):
        np.testing.assert_array_equal(reordered(X.tolist(), MODEL), reordered(X, MODEL))

    def test_input_is_not_modified(self):
        before, data = X.copy(), sparse.csr_array(X)
        reordered(X, MODEL)
        reordered(data, MODEL)
        np.testing.assert_array_equal(X, before)
        np.testing.assert_array_equal(data.toarray(), before)

    def test_blocks_stand_between_the_ends(self, fitted):
        data, models = fitted
        for model in models:
            found, (_, _, row_ends, column_ends) = reordered(data, model), order(model)
            block = data[model.row_labels_ == 1][:, model.column_labels_ == 0]
            np.testing.assert_array_equal(found[row_ends[0] : row_ends[1], : column_ends[0]], block)


class TestSizesAndMeans:
    @pytest.mark.parametrize("model", [MODEL, GAPS], ids=["full", "gaps"])
    def test_sizes(self, model):
        found = sizes(model)
        assert found.shape == (max(model.row_labels_) + 1, max(model.column_labels_) + 1)
        for a, b, entries in blocks(model):
            assert found[a, b] == len(entries)

    @store
    @pytest.mark.parametrize("model", [MODEL, GAPS], ids=["full", "gaps"])
    def test_means(self, model, store):
        found = block_means(store(X), model)
        assert isinstance(found, np.ndarray)
        for a, b, entries in blocks(model):
            expected = sum(X[i, j] for i, j in entries) / len(entries) if entries else np.nan
            assert found[a, b] == pytest.approx(expected, nan_ok=True)

    def test_clusters_that_are_empty_and_last(self):
        first, last = np.ones((8, 3)) * [2, 1, 1e-3], np.ones((6, 2)) * [1, 1e-3]
        start = {"L": first, "S": np.ones((3, 2)), "R": last}
        model = BiORNM3F((3, 2), init=start, max_iter=0, tol=0).fit(np.ones((8, 6)))
        assert set(model.row_labels_) == set(model.column_labels_) == {0}
        assert sizes(model).tolist() == [[48, 0], [0, 0], [0, 0]]
        assert block_means(np.ones((8, 6)), model).shape == (3, 2)

    def test_means_of_counts_are_fractions(self):
        found = block_means(X.astype(int), MODEL)
        np.testing.assert_allclose(found, block_means(X, MODEL))
        assert (found % 1).any()

    @store
    def test_estimators_of_both_libraries(self, store, fitted):
        data, models = fitted
        for model in models:
            means = block_means(store(data), model)
            for a, b in np.ndindex(means.shape):
                block = data[np.ix_(model.row_labels_ == a, model.column_labels_ == b)]
                assert sizes(model)[a, b] == block.size
                assert means[a, b] == pytest.approx(block.mean())


class TestTopTerms:
    NAMES = ["apple", "bear", "cat", "dog", "egg"]

    @staticmethod
    def naive(model, names, n_terms):
        found = {}
        for a, b, _ in blocks(model):
            inside = [j for j in range(5) if model.column_labels_[j] == b]
            sums = {j: sum(X[i, j] for i in range(7) if model.row_labels_[i] == a) for j in inside}
            found[a, b] = [names[j] for j in sorted(inside, key=lambda j: (-sums[j], j)) if sums[j] > 0][:n_terms]
        return [[found[a, b] for b in range(max(model.column_labels_) + 1)] for a in range(max(model.row_labels_) + 1)]

    @store
    @pytest.mark.parametrize("n_terms", [0, 1, 2, 10])
    @pytest.mark.parametrize("model", [MODEL, GAPS], ids=["full", "gaps"])
    def test_names(self, model, n_terms, store):
        found = top_terms(store(X), model, self.NAMES, n_terms)
        assert found == self.naive(model, self.NAMES, n_terms)
        assert all(type(name) is str for line in found for block in line for name in block)

    def test_largest_first(self):
        counts = np.array([[1.0, 5, 3, 0], [1, 5, 2, 0]])
        assert top_terms(counts, Labelled([0, 0], [0, 0, 0, 0]), list("abcd")) == [[["b", "c", "a"]]]

    @pytest.mark.parametrize("names", [tuple("abcde"), np.array(list("abcde")), np.array(list("abcde"), dtype=object)], ids=type)
    def test_kinds_of_names(self, names):
        assert top_terms(X, MODEL, names) == self.naive(MODEL, list("abcde"), 10)

    def test_numbers_without_names(self):
        found = top_terms(X, MODEL)
        assert found == self.naive(MODEL, range(5), 10)
        assert all(type(name) is int for line in found for block in line for name in block)

    def test_ten_by_default(self):
        ((found,),) = top_terms(np.ones((1, 12)), Labelled([0], [0] * 12))
        assert found == list(range(10))

    def test_features_that_are_zero_in_a_block_are_left_out(self):
        model = Labelled([0, 1], [0, 0])
        for container in (np.asarray, sparse.csr_array):
            assert top_terms(container(np.array([[0.0, 2], [1, 0]])), model) == [[[1]], [[0]]]

    def test_wrong_number_of_names(self):
        with pytest.raises(ShapeError, match="feature_names has 4 names for 5 features"):
            top_terms(X, MODEL, self.NAMES[:4])


FUNCTIONS = {"reordered": reordered, "block_means": block_means, "top_terms": top_terms, "plot_coclusters": plot_coclusters}


class TestWhatCannotBe:
    @pytest.mark.parametrize("model", [BiORNM3F(2), SpectralCoclustering(2), None], ids=["ours", "scikit-learn's", "None"])
    def test_not_fitted(self, model):
        for function in (order, sizes):
            with pytest.raises(DataError, match=f"{type(model).__name__} has no row_labels_ and column_labels_: it is not fitted"):
                function(model)

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_not_fitted_with_data(self, name, pyplot):
        with pytest.raises(DataError, match="BiORNM3F has no row_labels_ and column_labels_"):
            FUNCTIONS[name](X, BiORNM3F(2))

    @store
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_other_sizes(self, name, store, pyplot):
        for wrong in (X[:-1], X[:, :-1], X.T):
            with pytest.raises(ShapeError, match=rf"X is \({wrong.shape[0]}, {wrong.shape[1]}\), but the .* 7 rows and 5 columns"):
                FUNCTIONS[name](store(wrong), MODEL)


# ---- the picture


@pytest.fixture
def pyplot():
    """matplotlib without a screen, and without figures that stay."""
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def lines_of(ax):
    """Where lines go across, and where they go down."""
    across, down = [], []
    for line in ax.lines:
        x, y = line.get_xdata(), line.get_ydata()
        if len(x) == 2 and list(x) == [0, 1] and y[0] == y[1]:
            across.append(y[0])
        elif len(x) == 2 and list(y) == [0, 1] and x[0] == x[1]:
            down.append(x[0])
    return across, down


class TestPicture:
    def test_dense(self, pyplot):
        ax = plot_coclusters(X, MODEL)
        assert isinstance(ax, pyplot.Axes)
        (image,) = ax.images
        np.testing.assert_array_equal(image.get_array(), reordered(X, MODEL))
        assert lines_of(ax) == ([2.5, 3.5], [1.5])
        ax.figure.canvas.draw()

    def test_sparse(self, pyplot):
        ax = plot_coclusters(sparse.csr_array(X), MODEL)
        assert not ax.images
        dots = ax.lines[0]
        found = set(zip(dots.get_ydata().tolist(), dots.get_xdata().tolist(), strict=True))
        assert found == set(zip(*(index.tolist() for index in np.nonzero(reordered(X, MODEL))), strict=True))
        assert len(dots.get_xdata()) == np.count_nonzero(X)
        assert dots.get_linestyle() == "None"
        assert lines_of(ax) == ([2.5, 3.5], [1.5])
        ax.figure.canvas.draw()

    @pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_first_row_on_top_and_all_of_it_shown(self, store, pyplot):
        ax = plot_coclusters(store(X), MODEL)
        assert ax.get_xlim() == (-0.5, 4.5)
        assert ax.get_ylim() == (6.5, -0.5)
        assert ax.get_xlabel() == "features, by cluster"
        assert ax.get_ylabel() == "samples, by cluster"

    @pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_axes_and_options(self, store, pyplot):
        _, (left, right) = pyplot.subplots(1, 2)
        assert plot_coclusters(store(X), MODEL, right, alpha=0.25) is right
        assert not left.has_data()
        drawn = right.images[0] if store is np.asarray else right.lines[0]
        assert drawn.get_alpha() == 0.25
        assert len(pyplot.get_fignums()) == 1
        if store is np.asarray:
            assert plot_coclusters(X, MODEL, left, cmap="Greens").images[0].get_cmap().name == "Greens"
        else:
            assert plot_coclusters(store(X), MODEL, left, marker="o").lines[0].get_marker() == "o"

    def test_clusters_of_scikit_learn(self, pyplot, fitted):
        data, models = fitted
        for model in models:
            ax = plot_coclusters(data, model)
            ends = order(model)
            assert lines_of(ax) == ((ends.row_ends[:-1] - 0.5).tolist(), (ends.column_ends[:-1] - 0.5).tolist())

    def test_zeros_that_are_stored_have_no_dots(self, pyplot):
        data = sparse.csr_array(X)
        data.data[:3] = 0
        assert len(plot_coclusters(data, MODEL).lines[0].get_xdata()) == data.nnz - 3

    def test_lists(self, pyplot):
        np.testing.assert_array_equal(plot_coclusters(X.tolist(), MODEL).images[0].get_array(), reordered(X, MODEL))

    def test_failed_drawings_leave_no_figure(self, pyplot):
        with pytest.raises(ShapeError):
            plot_coclusters(X[:-1], MODEL)
        assert not pyplot.get_fignums()

    def test_large_sparse_data_are_never_made_dense(self, pyplot, monkeypatch):
        """20 000 × 20 000 would be 3 GB."""
        size, rng = 20_000, np.random.default_rng(0)
        index = rng.integers(size, size=(2, 300_000))
        data = sparse.coo_array((np.ones(300_000), tuple(index)), shape=(size, size)).tocsr()
        model = Labelled(rng.integers(4, size=size), rng.integers(5, size=size))
        for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
            monkeypatch.setattr(kind, "toarray", lambda self, *args, **kwargs: pytest.fail("made dense"))
        ax = plot_coclusters(data, model)
        dots = ax.lines[0]
        assert len(dots.get_xdata()) == coclusters._MARKS == 200_000 < data.nnz
        rows, columns = dots.get_ydata(), dots.get_xdata()
        assert len(set(zip(rows.tolist(), columns.tolist(), strict=True))) == 200_000
        found = order(model)
        assert np.asarray(data[found.rows[rows[:50]], found.columns[columns[:50]]]).all()  # dots are of entries that there are
        assert np.bincount(rows // 2000, minlength=10).min() > 15_000  # of all of them, not of the first
        across, down = lines_of(ax)
        assert (len(across), len(down)) == (3, 4)

    def test_large_sparse_data_have_means_and_terms(self):
        size = 20_000
        data = sparse.coo_array((np.ones(size), (np.arange(size), np.arange(size)[::-1])), shape=(size, size)).tocsr()
        model = Labelled(np.arange(size) // 10_000, np.arange(size) // 5_000)
        np.testing.assert_allclose(block_means(data, model), np.array([[0, 0, 1, 1], [1, 1, 0, 0]]) * 5_000 / (10_000 * 5_000))
        assert top_terms(data, model, n_terms=2)[0] == [[], [], [10_000, 10_001], [15_000, 15_001]]
