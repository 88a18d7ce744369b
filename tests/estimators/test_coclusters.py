"""Samples and features clustered at once: planted blocks, labels, and scikit-learn's names for both."""

import functools
import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import block_diag
from sklearn.base import BiclusterMixin, clone
from sklearn.cluster import SpectralBiclustering, SpectralCoclustering
from sklearn.datasets import load_digits, make_biclusters
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from nonneg.estimators import FONT, NMF, NMTF, ONMTF, BiORNM3F, BiQNMF

from .cases import unconverged

pytestmark = pytest.mark.wide(one_in=12)


TALL = np.array([[7, 4, 1], [4, 7, 1], [1, 4, 7], [4, 1, 7]])
"""The means of 4 × 3 blocks; no row, and no column, is a combination of others that are not negative."""
SQUARE = np.array([[9, 1, 2], [1, 8, 1], [2, 1, 9]])
ROWS, COLUMNS = (14, 10, 22, 18), (16, 9, 25, 12)
KL = {"divergence": "kullback-leibler"}

TWO_WAY = {
    "BiQNMF": BiQNMF(random_state=0),
    "BiQNMF Euclidean": BiQNMF(divergence="euclidean", random_state=0),
    "BiORNM3F": BiORNM3F(random_state=0),
    "BiORNM3F I-divergence": BiORNM3F(**KL, random_state=0),
}
MODELS = {
    "NMF": NMF(3, random_state=0),
    "NMTF": NMTF(3, random_state=0),
    "ONMTF": ONMTF(3, random_state=0),
    "FONT": FONT(3, random_state=0),
    "FONT-ALS": FONT(3, solver="als", random_state=0),
    **TWO_WAY,
}


def make(name, count=3, **params):
    """The estimator with so many clusters."""
    model = clone(MODELS[name])
    return model.set_params(**{"n_clusters" if name in TWO_WAY else "n_components": count}, **params)


def planted(means=SQUARE, seed=0, weight=3, noise=True):
    """Counts in blocks, rows and columns shuffled, and the clusters of both."""
    rng = np.random.default_rng(seed)
    rows, columns = (np.repeat(np.arange(k), sizes[:k]) for k, sizes in zip(means.shape, (ROWS, COLUMNS), strict=True))
    rows, columns = rng.permutation(rows), rng.permutation(columns)
    expected = weight * means[np.ix_(rows, columns)].astype(float)
    return rng.poisson(expected).astype(float) if noise else expected, rows, columns


@functools.cache
def fitted(name, weight=3):
    """Data, their clusters of rows and of columns, and the estimator as it is by default; with less weight, clusters overlap."""
    X, rows, columns = planted(weight=weight)
    X = X + 0.01 if weight < 1 else X
    return X, rows, columns, make(name).fit(X)


def terms(model, X):
    """Σₖ wₖ cₖᵀ twice, (k, n_samples, n_features) each: by the columns of the first factor, and by the rows of the last."""
    f = model.factors_
    if set(f) == {"W", "H"}:
        first, after, before, last = f["W"], f["H"], f["W"], f["H"]
    elif set(f) == {"W", "S", "H"}:
        first, after, before, last = f["W"], f["S"] @ f["H"], f["W"] @ f["S"], f["H"]
    elif set(f) == {"L", "R"}:
        first, after = f["L"], f["L"].T @ X @ f["R"] @ f["R"].T
        before, last = f["L"] @ f["L"].T @ X @ f["R"], f["R"].T
    else:
        first, after, before, last = f["L"], f["S"] @ f["R"].T, f["L"] @ f["S"], f["R"].T
    return first.T[:, :, None] * after[:, None, :], before.T[:, :, None] * last[:, None, :]


# ---- what is found


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("means", [TALL, TALL.T], ids=["4 x 3", "3 x 4"])
@pytest.mark.parametrize("name", [*TWO_WAY, "ONMTF", "FONT"])
def test_planted_blocks(name, means, seed):
    X, rows, columns = planted(means, seed)
    model = make(name, means.shape, random_state=seed).fit(X)
    assert adjusted_rand_score(rows, model.row_labels_) >= 0.95
    assert adjusted_rand_score(columns, model.column_labels_) >= 0.95
    assert model.predict(X).tolist() == model.row_labels_.tolist()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["NMF", "NMTF", "FONT-ALS"])
def test_planted_blocks_of_as_many_columns_as_rows(name, seed):
    X, rows, columns = planted(SQUARE, seed)
    model = make(name, random_state=seed).fit(X)
    assert adjusted_rand_score(rows, model.row_labels_) >= 0.95
    assert adjusted_rand_score(columns, model.column_labels_) >= 0.95


@pytest.mark.parametrize("seed", [1, 12, 23, 1003])
def test_planted_blocks_of_the_paper(seed):
    """QNMF Fig. 2: instances in which assigning one after the other stops short (1, 1003), or weights that are noise mislead."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(4), (20, 30, 60, 90))
    X = rng.poisson(rng.choice((1, 2, 4, 7), (4, 4))[np.ix_(clusters, clusters)]).astype(float)
    rows, columns = rng.permutation(200), rng.permutation(200)
    for store in (np.asarray, sparse.csr_array):
        model = BiQNMF(4, random_state=seed).fit(store(X[np.ix_(rows, columns)]))
        assert adjusted_rand_score(clusters[rows], model.row_labels_) == 1
        assert adjusted_rand_score(clusters[columns], model.column_labels_) == 1


def test_labels_go_by_the_factors_with_real_weights():
    rng = np.random.default_rng(0)
    X, rows, _ = planted(TALL)
    X = rng.poisson(X * rng.gamma(2, 1, len(X))[:, None] + 0.1).astype(float)
    model = BiQNMF((4, 3), random_state=0).fit(X)
    by_rows, by_columns = terms(model, X)
    np.testing.assert_array_equal(model.row_labels_, np.linalg.norm(by_rows, axis=2).argmax(axis=0))
    np.testing.assert_array_equal(model.column_labels_, np.linalg.norm(by_columns, axis=1).argmax(axis=0))
    assert adjusted_rand_score(rows, model.row_labels_) >= 0.9


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_font_converges_with_overlapping_clusters(scale):
    """The rule by itself takes three times as many iterations there, and ends 4 % above."""
    X = scale * load_digits().data[:60]
    model, rule = (FONT(5, solver=solver, random_state=0).fit(X) for solver in ("auto", "multiplicative"))
    assert model.status_ == "converged"
    assert model.n_iter_ < rule.n_iter_ / 2
    assert model.objective_ < 0.98 * rule.objective_
    assert model.objective_ / scale**2 == pytest.approx(16271.56, rel=1e-3)  # all else being the same, at any scale


def i_divergence(X, Y):
    return np.sum(np.where(X > 0, X * np.log(np.where(X > 0, X, 1) / Y), 0) - X + Y)


@pytest.mark.parametrize("seed", range(5))
def test_the_default_is_not_on_the_plateau(seed):
    """All clusters are alike there, and the approximation has rank one; what is left to gain is what the blocks themselves have."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(4), (10, 15, 30, 45))
    means = rng.permuted([1, 2, 4, 7] * 4).reshape(4, 4)
    expected = means[np.ix_(clusters, clusters)][rng.permutation(100)]
    X = rng.poisson(expected).astype(float)
    plateau = i_divergence(X, np.outer(X.sum(axis=1), X.sum(axis=0)) / X.sum())
    blocks = i_divergence(X, expected)
    model = BiQNMF(4, random_state=seed).fit(X)
    Y = model.factors_["L"] @ model.factors_["L"].T @ X @ model.factors_["R"] @ model.factors_["R"].T
    assert model.objective_ == pytest.approx(i_divergence(X, Y), rel=1e-6)
    assert plateau > 1.15 * blocks
    assert model.objective_ < blocks + 0.25 * (plateau - blocks)


@pytest.mark.parametrize("name", MODELS)
def test_same_seed_same_result(name):
    X = planted()[0]
    first, again = (make(name, max_iter=50, tol=0).fit(X) for _ in range(2))
    np.testing.assert_array_equal(again.row_labels_, first.row_labels_)
    np.testing.assert_array_equal(again.column_labels_, first.column_labels_)
    for factor, value in first.factors_.items():
        np.testing.assert_array_equal(again.factors_[factor], value)


# ---- what labels say


def uneven_start(name, shape, k, m):
    """Factors with columns of different lengths: which is largest does not say which has most."""
    rng = np.random.default_rng(0)
    W, S, H = (rng.uniform(0.1, 1, size) for size in ((shape[0], k), (k, m), (m, shape[1])))
    W, H = W * 1.5 ** np.arange(k), H * 1.5 ** -np.arange(m)[:, None]
    if name == "NMF":
        return {"W": W, "H": H}
    if name.startswith("BiQNMF"):
        return {"L": W / 10, "R": H.T / 10}
    S = S * 2.0 ** np.subtract.outer(-np.arange(k), -2 * np.arange(m))
    return {"L": W, "S": S, "R": H.T} if name.startswith("BiOR") else {"W": W, "S": S, "H": H}


@unconverged
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("max_iter", [0, 2, 100])
@pytest.mark.parametrize("name", MODELS)
def test_labels_are_the_terms_that_have_most(name, max_iter, store):
    X = np.random.default_rng(3).gamma(0.5, 1.0, (30, 20)) + 0.01
    k, m = (3, 3) if name == "NMF" else (3, 2)
    start = uneven_start(name, X.shape, k, m)
    model = make(name, 3 if name == "NMF" else (k, m), init=start, max_iter=max_iter, tol=0).fit(store(X))
    by_rows, by_columns = terms(model, X)
    assert by_rows.shape == (k, 30, 20)
    assert by_columns.shape == (m, 30, 20)
    np.testing.assert_allclose(by_rows.sum(axis=0), by_columns.sum(axis=0))
    np.testing.assert_array_equal(model.row_labels_, np.linalg.norm(by_rows, axis=2).argmax(axis=0))
    np.testing.assert_array_equal(model.column_labels_, np.linalg.norm(by_columns, axis=1).argmax(axis=0))
    if max_iter == 0:  # or it would be no test of the lengths
        first, *_, last = model.factors_.values()
        assert (first.argmax(axis=1) != model.row_labels_).any()
        assert ((last if name in TWO_WAY else last.T).argmax(axis=1) != model.column_labels_).any()


@pytest.mark.parametrize("name", MODELS)
def test_labels_of_new_samples_are_the_terms_that_have_most_of_them(name):
    *_, model = fitted(name, 0.3)
    new = planted(weight=0.3, seed=1)[0] + 0.01
    shares = np.linalg.norm(model.transform(new).T[:, :, None] * model.components_[:, None, :], axis=2)
    np.testing.assert_array_equal(model.predict(new), shares.argmax(axis=0))


def test_predict_weighs_codes_by_their_components():
    """A component of length 100 with a code of 0.1 has more than one of length 1 with a code of 1."""
    H = np.array([[100.0, 0, 0], [0, 1, 0.1], [0, 0, 0.1]])
    model = NMF(3, init={"W": np.eye(3) + 0.1, "H": H + 1e-9}, max_iter=0, tol=0).fit(np.eye(3) + H)
    X = np.array([[10.0, 1, 0.1], [0.5, 1, 0.1]])
    assert model.transform(X).argmax(axis=1).tolist() == [1, 1]
    assert model.predict(X).tolist() == [0, 1]


@pytest.mark.parametrize("name", ["ONMTF", "FONT"])
def test_labels_are_of_the_factors_after_hardening(name):
    model = make(name, orthogonality="rows").fit(planted(weight=0.3)[0] + 0.01)
    np.testing.assert_array_equal(model.row_labels_, model.factors_["W"].argmax(axis=1))
    np.testing.assert_array_equal(model.column_labels_, model.factors_["H"].argmax(axis=0))


# ---- scikit-learn's words


def paired(rows, columns, k):
    """The biclusters of SpectralCoclustering."""
    return np.array([rows == a for a in range(k)]), np.array([columns == a for a in range(k)])


def checkered(rows, columns, k, m):
    """The biclusters of SpectralBiclustering: the columns change first."""
    pairs = [(a, b) for a in range(k) for b in range(m)]
    return np.array([rows == a for a, _ in pairs]), np.array([columns == b for _, b in pairs])


def test_conventions_are_those_of_scikit_learn():
    X = planted(TALL)[0]
    model = SpectralBiclustering((4, 3), random_state=0).fit(X)
    for ours, theirs in zip(checkered(model.row_labels_, model.column_labels_, 4, 3), model.biclusters_, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    model = SpectralCoclustering(3, random_state=0).fit(X)
    for ours, theirs in zip(paired(model.row_labels_, model.column_labels_, 3), model.biclusters_, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", MODELS)
def test_biclusters(name):
    means = SQUARE if name == "NMF" else TALL
    X = planted(means)[0]
    model = make(name, 3 if name == "NMF" else (4, 3)).fit(X)
    assert isinstance(model, BiclusterMixin)
    rows, columns = (paired if name == "NMF" else checkered)(
        model.row_labels_, model.column_labels_, *((3,) if name == "NMF" else (4, 3))
    )
    assert len(rows) == (3 if name == "NMF" else 12)
    for found, expected in ((model.rows_, rows), (model.columns_, columns)):
        assert found.dtype == bool
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(model.biclusters_[0], rows)
    np.testing.assert_array_equal(model.biclusters_[1], columns)
    for i in range(len(rows)):
        indices = model.get_indices(i)
        np.testing.assert_array_equal(indices[0], np.flatnonzero(rows[i]))
        np.testing.assert_array_equal(indices[1], np.flatnonzero(columns[i]))
        assert model.get_shape(i) == (rows[i].sum(), columns[i].sum())
        block = X[rows[i]][:, columns[i]]
        np.testing.assert_array_equal(model.get_submatrix(i, X), block)
        np.testing.assert_array_equal(model.get_submatrix(i, sparse.csr_array(X)).toarray(), block)
    assert (rows.astype(int).T @ columns == 1).all() or name == "NMF"  # each entry is in one of them


@pytest.mark.parametrize("name", ["NMTF", "BiQNMF", "BiORNM3F"])
def test_clusters_that_are_empty_are_counted(name):
    """As scikit-learn's: i is the number of a bicluster, whether others have anything in them or not."""
    rng = np.random.default_rng(0)
    first, last = rng.uniform(0.5, 1, (8, 3)) * [1, 1, 1e-3], rng.uniform(0.5, 1, (6, 2)) * [1, 1e-3]
    start = {"L": first, "R": last} if name == "BiQNMF" else {"L": first, "S": np.ones((3, 2)), "R": last}
    if name == "NMTF":
        start = {"W": first, "S": np.ones((3, 2)), "H": last.T}
    model = make(name, (3, 2), init=start, max_iter=0, tol=0).fit(np.ones((8, 6)))
    assert 2 not in model.row_labels_
    assert model.rows_.shape == (6, 8)
    assert model.columns_.shape == (6, 6)
    assert model.get_shape(5) == (0, 0)


@pytest.mark.parametrize("name", MODELS)
def test_not_fitted(name):
    model = make(name)
    for attribute in ("rows_", "columns_", "biclusters_", "row_labels_"):
        assert not hasattr(model, attribute)
    for attribute in ("rows_", "columns_"):
        with pytest.raises(NotFittedError):
            getattr(model, attribute)
    with pytest.raises(NotFittedError):
        model.predict(np.ones((2, 3)))


# ---- new samples


@unconverged  # least squares with negative entries made zero, FONT-ALS, need not settle
@pytest.mark.parametrize("name", MODELS)
def test_predict_on_clean_blocks(name):
    X, rows, columns = planted(noise=False)
    model = make(name).fit(X)
    assert adjusted_rand_score(rows, model.row_labels_) == 1
    assert adjusted_rand_score(columns, model.column_labels_) == 1
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)
    some = [5, 1, 20]
    np.testing.assert_array_equal(model.predict(X[some]), model.row_labels_[some])
    np.testing.assert_array_equal(model.predict(100 * X), model.row_labels_)


@pytest.mark.parametrize("name", MODELS)
def test_predict_new_samples(name):
    _, rows, columns, model = fitted(name)
    label_of = dict(zip(rows, model.row_labels_, strict=True))
    truth = np.random.default_rng(5).integers(3, size=40)
    new = np.random.default_rng(6).poisson(3 * SQUARE[np.ix_(truth, columns)]).astype(float)
    labels = model.predict(new)
    assert labels.shape == (40,)
    assert np.issubdtype(labels.dtype, np.integer)
    np.testing.assert_array_equal(labels, [label_of[row] for row in truth])
    for store in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, lambda A: A.astype(np.float32), np.ndarray.tolist):
        np.testing.assert_array_equal(model.predict(store(new)), labels)


@pytest.mark.parametrize("name", MODELS)
def test_predict_mostly_agrees_with_overlapping_clusters(name):
    X, *_, model = fitted(name, 0.3)
    assert (model.predict(X) == model.row_labels_).mean() >= 0.85


@pytest.mark.parametrize("name", MODELS)
def test_new_samples_of_zeros_go_to_the_largest_cluster(name):
    """Of the samples that were fitted, not of those they come with."""
    X, rows, _, model = fitted(name)
    largest = np.bincount(model.row_labels_).argmax()
    assert largest == model.row_labels_[rows == 2][0]
    assert model.predict(np.zeros((2, X.shape[1]))).tolist() == [largest, largest]
    few = np.vstack([X[rows == 0][:3], np.zeros(X.shape[1])])
    assert model.predict(few)[-1] == largest


# ---- odd data


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", MODELS)
def test_rows_and_columns_of_zeros(name, store):
    X, rows, columns = planted()
    padded = np.zeros((X.shape[0] + 3, X.shape[1] + 2))
    padded[1:-2, :-2] = X
    model = make(name).fit(store(padded))
    assert adjusted_rand_score(rows, model.row_labels_[1:-2]) >= 0.95
    assert adjusted_rand_score(columns, model.column_labels_[:-2]) >= 0.95
    assert all(np.isfinite(factor).all() for factor in model.factors_.values())
    largest = [np.bincount(labels).argmax() for labels in (model.row_labels_[1:-2], model.column_labels_[:-2])]
    assert model.row_labels_[[0, -1, -2]].tolist() == [largest[0]] * 3
    assert model.column_labels_[-2:].tolist() == [largest[1]] * 2
    assert model.rows_.sum(axis=0).max() == (1 if name == "NMF" else 3)


@pytest.mark.parametrize("name", MODELS)
def test_sparse_is_dense(name):
    X = planted(weight=0.5)[0]
    assert (X == 0).any()
    dense, other = (make(name).fit(store(X)) for store in (np.asarray, sparse.csc_array))
    assert adjusted_rand_score(dense.row_labels_, other.row_labels_) >= 0.95
    assert adjusted_rand_score(dense.column_labels_, other.column_labels_) >= 0.95
    assert other.objective_ == pytest.approx(dense.objective_, rel=1e-2)


@pytest.mark.parametrize("name", MODELS)
def test_float32(name):
    X, rows, columns = planted()
    model = make(name).fit(X.astype(np.float32))
    assert {factor.dtype for factor in model.factors_.values()} == {np.dtype(np.float32)}
    assert adjusted_rand_score(rows, model.row_labels_) >= 0.95
    assert adjusted_rand_score(columns, model.column_labels_) >= 0.95
    np.testing.assert_array_equal(model.predict(X.astype(np.float32)), model.row_labels_)


# ---- numbers of clusters, and other parameters


@unconverged
@pytest.mark.parametrize("cls", [BiQNMF, BiORNM3F])
class TestParameters:
    def test_one_number_is_for_both(self, cls):
        X = planted()[0]
        one, pair = (cls(count, random_state=0, max_iter=50).fit(X) for count in (3, (3, 3)))
        for factor, value in one.factors_.items():
            np.testing.assert_array_equal(pair.factors_[factor], value)
        assert cls().n_clusters == 3

    @pytest.mark.parametrize("given", [(2, 4), [2, 4], np.array([2, 4]), (np.int64(2), np.int32(4))], ids=repr)
    def test_two_numbers(self, cls, given):
        X = planted()[0]
        model = cls(given, random_state=0, max_iter=10).fit(X)
        assert model.factors_["L"].shape == (len(X), 2)
        assert model.factors_["R"].shape == (X.shape[1], 4)
        assert model.components_.shape == (2, X.shape[1])
        assert model.transform(X).shape == (len(X), 2)
        assert model.rows_.shape == (8, len(X))

    def test_as_few_and_as_many_as_can_be(self, cls):
        X = planted()[0][:6, :5]
        for pair in ((1, 1), (6, 5), (1, 5), (6, 1)):
            model = cls(pair, random_state=0, max_iter=50).fit(X)
            assert model.row_labels_.max() < pair[0]
            assert model.column_labels_.max() < pair[1]
            assert all(np.isfinite(factor).all() for factor in model.factors_.values())

    def test_clone_pickle_and_get_params(self, cls):
        X = planted()[0]
        model = cls((3, 3), n_init=2, max_iter=30, random_state=0)
        parameters = model.get_params()
        assert parameters["n_clusters"] == (3, 3)
        assert "n_components" not in parameters
        assert parameters["divergence"] == ("kullback-leibler" if cls is BiQNMF else "euclidean")
        model.fit(X)
        assert model.get_params() == parameters
        loaded = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        np.testing.assert_array_equal(loaded.rows_, model.rows_)
        again = clone(model)
        assert not hasattr(again, "row_labels_")
        assert again.get_params() == parameters
        assert "n_clusters=(3, 3)" in repr(again)
        np.testing.assert_array_equal(again.fit(X).row_labels_, model.row_labels_)

    def test_components_resemble_the_means_of_clusters(self, cls):
        X = planted()[0]
        model = cls(3, random_state=0).fit(X)
        f = model.factors_
        expected = f["L"].T @ X @ f["R"] @ f["R"].T if cls is BiQNMF else f["S"] @ f["R"].T
        np.testing.assert_allclose(model.components_, expected)
        if cls is BiORNM3F:
            assert set(model.orthogonality_) == {"L", "R"}
            assert min(measure.rho for measure in model.orthogonality_.values()) > 0.9


# ---- how the papers ran them


class TestStoppingOfThePaper:
    """FONT §5: 1 − F_new/F_old ≤ 0.01, looked at every 100 iterations."""

    X = planted(TALL)[0]

    @staticmethod
    def gains(model):
        objective = np.asarray(model.history_.objective)
        return 1 - objective[1:] / objective[:-1]

    @pytest.mark.parametrize("cls", [ONMTF, FONT])
    @pytest.mark.parametrize("tol", [1e-2, 1e-3])
    def test_it_looks_every_hundred_iterations(self, cls, tol):
        model = cls((4, 3), solver="paper", tol=tol, random_state=0).fit(self.X)
        iterations = [record.iteration for record in model.history_]
        assert iterations == list(range(0, model.n_iter_ + 1, 100))
        assert model.status_ == "converged"
        assert model.n_iter_ >= 200
        assert self.gains(model)[-1] <= tol

    @pytest.mark.parametrize("tol", [1e-2, 1e-3])
    @pytest.mark.parametrize(
        "cls",
        [
            FONT,
            ONMTF,
        ],
    )
    def test_it_stops_as_soon_as_little_is_gained(self, cls, tol):
        for seed in range(3):
            model = cls((4, 3), solver="paper", tol=tol, random_state=seed).fit(self.X)
            gains = self.gains(model)
            assert (gains[:-1] > tol).all()
            assert gains[-1] <= tol

    @pytest.mark.parametrize("solver", ["auto", "multiplicative"])
    @pytest.mark.parametrize("cls", [ONMTF, FONT])
    def test_other_solvers_look_every_ten(self, cls, solver):
        model = cls((4, 3), solver=solver, random_state=0).fit(self.X)
        assert [record.iteration for record in model.history_][:3] == [0, 10, 20]

    def test_nor_do_the_other_papers(self):
        for model in (NMF(3), NMTF(3), BiQNMF(3), BiORNM3F(3)):
            model = model.set_params(solver="paper", tol=0, max_iter=30, random_state=0).fit(self.X)
            assert [record.iteration for record in model.history_] == [0, 10, 20, 30]

    @unconverged
    def test_it_looks_once_more_at_the_end(self):
        model = FONT((4, 3), solver="paper", max_iter=150, tol=1e-12, random_state=0).fit(self.X)
        assert [record.iteration for record in model.history_] == [0, 100, 150]


# ---- exact blocks, and what is returned


BLOCKS = block_diag(np.full((7, 8), 11.0), np.full((9, 11), 55.6), np.full((14, 11), 55.0))
"""Exactly of rank three, the smallest block a fifth of the others."""


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_init", [1, 3])
def test_exact_blocks_are_found(name, n_init):
    model = make(name, n_init=n_init).fit(BLOCKS)
    assert sorted(np.bincount(model.row_labels_)) == [7, 9, 14]
    assert sorted(np.bincount(model.column_labels_)) == [8, 11, 11]
    assert model.objective_ < 1e-6 * np.sum(BLOCKS**2)


@pytest.mark.parametrize("init", ["nndsvd", "coclusters"])
def test_lengths_of_orthogonal_factors_do_not_cycle(init):
    """Left to the printed rule, the lengths of W's columns change places in every iteration, and S follows the wrong phase."""
    model = ONMTF(3, init=init, random_state=0).fit(BLOCKS)
    np.testing.assert_allclose(np.linalg.norm(model.factors_["W"], axis=0), 1)
    np.testing.assert_allclose(np.linalg.norm(model.factors_["H"], axis=1), 1)
    assert model.objective_ < 1e-6 * np.sum(BLOCKS**2)


@pytest.mark.parametrize("name", ["ONMTF", "FONT", "BiORNM3F", "BiORNM3F I-divergence"])
@pytest.mark.parametrize("init", ["kmeans", "coclusters"])
def test_nothing_is_left_to_gain_between_the_orthogonal_factors(name, init):
    X = planted(weight=0.3)[0] + 0.01
    model = make(name, init=init).fit(X)
    first, S, last = model.factors_.values()
    last = last.T if name in TWO_WAY else last
    Y = first @ S @ last
    is_euclidean = "divergence" not in name
    assert model.objective_ == pytest.approx(0.5 * np.sum((X - Y) ** 2) if is_euclidean else i_divergence(X, Y), rel=1e-6)
    slope = first.T @ ((Y - X) if is_euclidean else 1 - X / Y) @ last.T
    scale = np.abs(first.T @ (X if is_euclidean else X / Y) @ last.T).max()
    assert np.abs(S * slope).max() <= 1e-3 * scale * S.max()  # a relative tol of 1e-5 in the objective is the square of this in S
    assert slope.min() >= -2e-2 * scale


@pytest.mark.parametrize("name", [*TWO_WAY, "ONMTF", "FONT"])
def test_scikit_learns_coclusters_are_found(name):
    for seed in range(30):
        X, rows, columns = make_biclusters((30, 30), 3, noise=0.1, random_state=seed)
        X = np.where(X - X.min() < 1, 0, X - X.min())
        model = make(name, random_state=0).fit(X)
        assert adjusted_rand_score(rows.argmax(axis=0), model.row_labels_) == 1
        assert adjusted_rand_score(columns.argmax(axis=0), model.column_labels_) == 1


def test_multiples_of_rows_are_other_clusters_if_rows_of_a_cluster_are_equal():
    """With weights they would be one cluster; that rows within clusters differ by noise only says that there are none."""
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(np.repeat([0, 1, 2], 20)), rng.permutation(np.repeat([0, 1], 15))
    X = rng.poisson(np.array([[10, 30], [20, 60], [50, 20]])[np.ix_(rows, columns)]).astype(float)
    for name in (*TWO_WAY, "ONMTF", "FONT"):
        assert adjusted_rand_score(rows, make(name, (3, 2)).fit(X).row_labels_) >= 0.95


def test_multiples_of_rows_are_one_cluster_if_weights_differ():
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(np.repeat([0, 1], 30)), rng.permutation(np.repeat([0, 1], 20))
    X = rng.poisson(np.array([[3, 9], [8, 2]])[np.ix_(rows, columns)] * rng.uniform(0.5, 10, 60)[:, None]).astype(float)
    for name in (*TWO_WAY, "ONMTF", "FONT"):
        assert adjusted_rand_score(rows, make(name, 2).fit(X).row_labels_) >= 0.95
