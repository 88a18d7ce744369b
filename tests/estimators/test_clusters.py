"""Clusters and kernels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import pairwise_kernels

import nonneg
from nonneg.estimators import KernelPNMF, ProjectiveClustering

from .cases import MAKERS, PAIRWISE, given_start, parts


def test_clusters_follow_from_the_factor(X):
    estimator = ProjectiveClustering(3, random_state=0).fit(X)
    W = estimator.factors_["W"]
    np.testing.assert_array_equal(estimator.labels_, W.argmax(axis=1))
    np.testing.assert_allclose(estimator.memberships_, W / W.sum(axis=1, keepdims=True))
    centres = [np.average(X, axis=0, weights=W[:, k]) for k in range(3)]
    np.testing.assert_allclose(estimator.cluster_centers_, centres)
    np.testing.assert_allclose(estimator.components_, W.T @ X)
    np.testing.assert_array_equal(estimator.predict(X), estimator.transform(X).argmax(axis=1))
    np.testing.assert_allclose(estimator.transform(X).sum(axis=1), 1)
    np.testing.assert_array_equal(clone(estimator).fit_predict(X), estimator.labels_)


@pytest.mark.parametrize(("data", "least"), [("separate", 1.0), ("parts", 0.95), ("digits", 0.9)])
def test_how_often_predict_agrees_with_the_labels(data, least):
    """Measured: 1, 0.99 and 0.96."""
    rng = np.random.default_rng(0)
    X, k = {
        "separate": lambda: (np.kron(np.eye(3), np.ones((10, 4))) + 0.1 * rng.random((30, 12)), 3),
        "parts": lambda: (parts(200, 24, 4, noise=0.3), 4),
        "digits": lambda: (load_digits().data[:500], 10),
    }[data]()
    estimator = ProjectiveClustering(k, random_state=0).fit(X)
    assert np.mean(estimator.predict(X) == estimator.labels_) >= least


def kernel_objective(K, W):
    rest = np.eye(len(K)) - W @ W.T
    return 0.5 * np.trace(rest @ K @ rest)


def exponential(x, y, rate=1.0):
    return np.exp(-rate * np.abs(x - y).sum())


@pytest.mark.parametrize(
    ("kernel", "params"),
    [
        ("linear", {}),
        ("poly", {"degree": 2}),
        ("polynomial", {"degree": 2, "gamma": 0.5, "coef0": 2}),
        ("rbf", {}),
        ("rbf", {"gamma": 0.3}),
        ("laplacian", {"gamma": 0.2}),
        ("cosine", {}),
        ("chi2", {"gamma": 0.5}),
        ("sigmoid", {"gamma": 0.01}),
    ],
)
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_kernels(kernel, params, store, X):
    store = np.asarray if kernel == "chi2" else store  # scikit-learn's is for dense samples
    model = KernelPNMF(3, kernel=kernel, random_state=0, solver="adaptive", **params).fit(store(X))  # without zeros
    used = {
        name: value
        for name, value in {"coef0": 1, **params}.items()
        if name != "coef0" or kernel in ("poly", "polynomial", "sigmoid")
    }
    K, new = pairwise_kernels(X, metric=kernel, **used), pairwise_kernels(X[:5] + 0.1, X, metric=kernel, **used)
    assert model.objective_ == pytest.approx(kernel_objective(K, model.factors_["W"]), rel=1e-6, abs=1e-9 * np.trace(K))
    assert model.objective_ < 0.6 * np.trace(K)
    np.testing.assert_allclose(model.transform(store(X[:5] + 0.1)), new @ model.factors_["W"], rtol=1e-7)
    precomputed = KernelPNMF(3, kernel="precomputed", random_state=0, init=model.components_, max_iter=0, tol=0).fit(K)
    np.testing.assert_allclose(precomputed.transform(new), new @ model.factors_["W"], rtol=1e-7)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "chi2", "poly", "cosine", "linear"])
def test_kernels_by_name_alone(kernel, X):
    """Every parameter has scikit-learn's default."""
    model = KernelPNMF(3, kernel=kernel, random_state=0, max_iter=5, tol=0).fit(X)
    np.testing.assert_allclose(model.transform(X), pairwise_kernels(X, metric=kernel) @ model.factors_["W"], rtol=1e-7)


def test_a_kernel_may_be_a_function(X):
    model = KernelPNMF(3, kernel=exponential, kernel_params={"rate": 0.2}, random_state=0).fit(X)
    K = pairwise_kernels(X, metric="laplacian", gamma=0.2)
    assert model.objective_ == pytest.approx(kernel_objective(K, model.factors_["W"]), rel=1e-6)
    np.testing.assert_allclose(model.transform(X[:4]), K[:4] @ model.factors_["W"], rtol=1e-7)


@pytest.mark.parametrize("solver", ["auto", "multiplicative"])
def test_a_linear_kernel_is_clustering(solver, X):
    """W WᵀX with K = X Xᵀ: the same W from the same start, to what rounding does in a hundred iterations."""
    start = {"W": given_start("ProjectiveClustering", 20, 12, 3)["W"]}
    params = {"init": start, "solver": solver, "max_iter": 100, "tol": 0}
    clusters, by_kernel = ProjectiveClustering(3, **params).fit(X), KernelPNMF(3, kernel="precomputed", **params).fit(X @ X.T)
    np.testing.assert_allclose(by_kernel.factors_["W"], clusters.factors_["W"], rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(by_kernel.labels_, clusters.labels_)
    np.testing.assert_allclose(by_kernel.memberships_, clusters.memberships_, rtol=1e-6, atol=1e-9)
    assert by_kernel.objective_ == pytest.approx(clusters.objective_, rel=1e-9)


@pytest.mark.parametrize("name", PAIRWISE)
def test_items_of_a_graph_are_grouped(name):
    K = np.kron(np.eye(3), np.ones((5, 5))) + 0.1 + np.eye(15)
    estimator = MAKERS[name](kernel="precomputed").fit(K)
    assert adjusted_rand_score(estimator.labels_, np.repeat(range(3), 5)) == 1
    np.testing.assert_array_equal(estimator.fit_predict(K), estimator.labels_)
    np.testing.assert_allclose(estimator.memberships_.sum(axis=1), 1)
    np.testing.assert_array_equal(estimator.components_, estimator.factors_["W"].T)
    assert estimator.transform(K[:4]).shape == (4, 3)


@pytest.mark.parametrize("name", ["NMF", "ProjectiveClustering"])
def test_features_never_seen_have_a_finite_score(name):
    """Words that no sample of the fit has: eps times the largest entry stands for them."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, (40, 20)).astype(float)
    X[:, 0], X[:, 1:3] = 1, 0
    estimator = MAKERS[name](divergence="kullback-leibler").fit(X)
    new = X[:5].copy()
    new[:, 1] = 2
    assert -1e4 < estimator.score(new) < estimator.score(X[:5])
    assert np.all(np.isfinite(estimator.transform(new)))


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_large_numbers_have_labels_too():
    X = np.array([[1e300, 2e300], [0.0, 0.0]])
    assert nonneg.ProjectiveClustering(1, random_state=0).fit(X).labels_.tolist() == [0, 0]
