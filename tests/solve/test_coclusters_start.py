"""The start from clusters of rows and of columns: the share that a partition explains, and the cost of finding a good one."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from nonneg import BiQNMF
from nonneg.data.reading import read_data
from nonneg.divergences import Beta
from nonneg.solve.initialization import coclusters
from nonneg.solve.initialization.coclusters import Table, best_partition, fits_for
from nonneg.solve.initialization.items import Items

COUNTS = (3, 3)


def text_like(seed=0, documents=600, words=700, scale=1.0):
    """Sparse counts with three topics, documents of different length and words of different frequency; and the topics."""
    rng = np.random.default_rng(seed)
    topics, kinds = rng.integers(3, size=documents), rng.integers(3, size=words)
    means = np.array([[6, 1, 1], [1, 6, 1], [1, 1, 6]])[np.ix_(topics, kinds)] * 0.01
    expected = means * rng.gamma(2, 1, documents)[:, None] * rng.gamma(1, 1, words)
    return sparse.csr_array(scale * rng.poisson(expected)), topics


def table(X):
    data = read_data(X)
    return Table([Items(data, axis) for axis in (0, 1)])


def poor(X, seed=0):
    """Labels of both sides, most of them drawn at random."""
    rng = np.random.default_rng(seed)
    return [rng.integers(count, size=size) for size, count in zip(X.shape, COUNTS, strict=True)]


@pytest.mark.parametrize("fit", [*fits_for(Beta(1)), *fits_for(Beta(2))], ids=lambda fit: type(fit).__name__)
def test_the_explained_share_does_not_depend_on_scale(fit):
    shares = []
    for scale in (1.0, 1e-6, 1e6):
        X = table(text_like(scale=scale)[0])
        found = coclusters._improved(X, poor(X), COUNTS, fit, coclusters._WORTH)
        assert 0 < found.explained < fit.total(X)
        shares.append(found.explained / fit.total(X))
    np.testing.assert_allclose(shares, shares[0], rtol=1e-9)


def test_rounds_go_on_while_they_gain():
    """One round from a poor partition is far from enough; it was the only one while gains were compared with −Σ x ln x."""
    X = table(text_like()[0])
    assert not X.is_small
    _, weighted = fits_for(Beta(1))
    one = coclusters._improved(X, poor(X), COUNTS, weighted, np.inf)
    many = coclusters._improved(X, poor(X), COUNTS, weighted, coclusters._WORTH)
    assert many.explained > 1.5 * one.explained


def test_the_best_partition_takes_few_products_with_the_data(monkeypatch):
    """One set of singular vectors and one of coordinates serve both sides and all partitions that are tried."""
    X, topics = text_like()
    widths = []
    apply = Items.__matmul__
    monkeypatch.setattr(Items, "__matmul__", lambda self, M: widths.append(M.shape[1]) or apply(self, M))
    equal, weighted = fits_for(Beta(1))
    found = best_partition(table(X), COUNTS, equal, weighted, 0)
    assert adjusted_rand_score(topics[table(X).kept[0]], found.labels[0]) > 0.9
    assert sum(width > max(COUNTS) for width in widths) <= 16 + 4  # 7 powers, twice each, and both ends; 32 coordinates


@pytest.mark.parametrize("has_weights", [True, False])
def test_clusters_of_equal_items_are_looked_for_unless_weights_are_plainly_real(has_weights, monkeypatch):
    rng, looked = np.random.default_rng(0), []
    labels = [rng.integers(3, size=size) for size in (40, 30)]
    means = np.array([[8.0, 1, 2], [1, 6, 3], [2, 3, 9]])[np.ix_(*labels)]
    weights = np.outer(*(rng.uniform(0.3, 2, size) for size in (40, 30))) if has_weights else 1.0
    X = table(means * weights * rng.gamma(100, 0.01, size=(40, 30)))
    assert X.is_small
    equal, weighted = fits_for(Beta(2))
    clustered = equal.clustered
    monkeypatch.setattr(type(equal), "clustered", lambda self, side, seed: looked.append(side) or clustered(side, seed))
    found = best_partition(X, COUNTS, equal, weighted, 0)
    assert bool(looked) is not has_weights
    assert bool(np.ptp(found.weights[0]) > 0) is has_weights
    assert all(adjusted_rand_score(*pair) == 1 for pair in zip(found.labels, labels, strict=True))


def test_clusters_that_end_up_overlapping_do_so_soon():
    """From 1e-8 to where entries belong takes steps that multiply twice as many iterations."""
    X, _ = text_like()
    with pytest.warns(ConvergenceWarning):
        early = BiQNMF(3, random_state=0, max_iter=20).fit(X)
    assert early.objective_ < 1.001 * BiQNMF(3, random_state=0).fit(X).objective_


@pytest.mark.parametrize("seed", range(3))
def test_a_few_long_rows_do_not_decide_the_clusters_of_columns(seed, monkeypatch):
    """Twenty of 600 documents have half of all counts, each about words of its own, as it is in texts."""
    rng, (X, topics) = np.random.default_rng(seed), text_like(seed)
    long = rng.choice(X.shape[0], 20, replace=False)
    some = np.zeros(X.shape)
    some[long] = rng.poisson(rng.gamma(0.05, 30.0, (20, X.shape[1])))
    X = table(sparse.csr_array(X + some))
    others = ~np.isin(X.kept[0], long)
    assert not X.is_small
    assert X.sums[0][~others].sum() > 0.45 * X.sums[0].sum()

    def index():
        found = best_partition(X, COUNTS, *fits_for(Beta(1)), seed=0)
        assert found.labels[0].shape == found.weights[0].shape == X.shape[:1]
        return adjusted_rand_score(topics[X.kept[0]][others], found.labels[0][others])

    assert index() > 0.9
    monkeypatch.setattr(coclusters.WeightedCounts, "is_of_counts", False)
    assert index() < 0.7


def test_evened_rows_are_divided_by_the_roots_of_their_sums():
    X = table(text_like()[0])
    dense = X.items[0].data.values.toarray()
    expected = dense / np.sqrt(np.where(dense.sum(axis=1) > 0, dense.sum(axis=1), 1.0))[:, None]
    even, rng = X.evened(), np.random.default_rng(0)
    for side, matrix in zip(even.items, (expected, expected.T), strict=True):
        M, N = rng.random((matrix.shape[1], 2)), rng.random((matrix.shape[0], 2))
        np.testing.assert_allclose(side @ M, matrix @ M, rtol=1e-12)
        np.testing.assert_allclose(side.T @ N, matrix.T @ N, rtol=1e-12)
        np.testing.assert_allclose(side.sums, matrix.sum(axis=1), rtol=1e-12)
    assert even.shape == X.shape


def test_the_best_partition_of_even_rows_is_that_of_rows_that_weigh_alike(monkeypatch):
    """Not the one that explains most: elsewhere that is what counts."""
    X = table(text_like()[0])
    equal, weighted = fits_for(Beta(1))
    good, bad = best_partition(X, COUNTS, equal, weighted, 0).labels, poor(X)

    def as_it_is(X, labels, counts, fit, worth):
        explained = 2.0 if labels is bad else 1.0
        return coclusters.Partition(labels, [np.ones(len(side)) for side in labels], explained, counts)

    monkeypatch.setattr(coclusters, "_improved", as_it_is)
    assert coclusters._best_of(X.evened(), [good, bad], COUNTS, weighted, 0.0).labels is good
    assert coclusters._best_of(X, [good, bad], COUNTS, weighted, 0.0).labels is bad


def test_a_run_from_clusters_may_end_before_the_fortieth_iteration():
    """Its curve has a point for each iteration, and shape from the beginning; and what it leaves is little."""
    X, _ = text_like()
    soon, late = (BiQNMF(3, random_state=0, **settings).fit(X) for settings in ({}, {"tol": 1e-8, "max_iter": 2000}))
    assert soon.status_ == "converged"
    assert 20 <= soon.n_iter_ < 40 < late.n_iter_
    assert soon.objective_ < 1.01 * late.objective_
