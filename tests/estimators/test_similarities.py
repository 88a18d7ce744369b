"""Clusters from similarities: SymmetricNMF of items that are all much alike, and of others."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from at_hand import at_hand
from nonneg import KernelPNMF, SymmetricNMF
from nonneg.estimators import pairwise
from nonneg_papers import load_olivetti


def agreement(X, y, n_clusters, gamma=None):
    """The adjusted Rand index of both, and how many clusters SymmetricNMF leaves empty."""
    options = {"gamma": gamma, "random_state": 0}
    symmetric = SymmetricNMF(n_clusters, kernel="rbf", **options).fit_predict(X)
    projective = KernelPNMF(n_clusters, kernel="rbf", **options).fit_predict(X)
    scores = [adjusted_rand_score(y, labels) for labels in (symmetric, projective)]
    return *scores, n_clusters - len(np.unique(symmetric))


@pytest.mark.parametrize(("scaler", "gamma"), [(MinMaxScaler(), None), (StandardScaler(), 0.001), (StandardScaler(), None)])
def test_cancer(scaler, gamma):
    """With a mean similarity of .96, .94 and .30. The first two were .04 and .01: one component had most of nearly every item."""
    data = load_breast_cancer()
    symmetric, projective, _ = agreement(scaler.fit_transform(data.data), data.target, 2, gamma)
    assert symmetric > 0.65
    assert symmetric > projective - 0.03  # a few of 569 samples lie between


@pytest.mark.wide
def test_olivetti():
    """40 people, mean similarity .96. Was .20, with 5 clusters empty."""
    at_hand("faces/olivetti/olivettifaces.mat")
    data = load_olivetti()
    symmetric, projective, empty = agreement(data.data / data.data.max(), data.target, 40)
    assert empty == 0
    assert symmetric > projective - 0.05  # neither is better on all starts


def test_digits():
    data = load_digits()
    symmetric, _, empty = agreement(data.data[:600] / 16, data.target[:600], 10)
    assert symmetric > 0.6  # was .55
    assert empty == 0


@pytest.mark.parametrize("gamma", [0.001, 0.05, 0.5])
def test_blobs(gamma):
    X, y = make_blobs(150, centers=[[0, 0], [5, 0], [0, 6]], cluster_std=0.5, random_state=0)
    assert SymmetricNMF(3, kernel="rbf", gamma=gamma, random_state=0).fit_predict(X).tolist() in (
        [order[label] for label in y] for order in np.array(np.meshgrid(*[range(3)] * 3)).reshape(3, -1).T.tolist()
    )


def test_no_rotation_changes_the_clusters():
    """W R has the clusters of W, whichever is found: the same V, since it is made of W Wᵀ."""
    X, y = make_blobs(60, centers=[[0, 0], [3, 3]], cluster_std=0.3, random_state=0)
    K = 20 + rbf_kernel(X, gamma=0.1)
    found = [SymmetricNMF(2, init=init, random_state=seed).fit(K) for seed, init in enumerate(("kmeans", "random", "nndsvda"))]
    for model in found:
        np.testing.assert_allclose(model.factors_["W"] @ model.factors_["W"].T, K, rtol=0.02)  # what is promised
        assert adjusted_rand_score(y, model.labels_) == 1.0


def test_components_that_do_not_overlap_are_the_clusters():
    K = np.kron(np.diag([1.0, 4.0, 0.25]), np.ones((5, 5)))
    K[-1] = K[:, -1] = 0.0
    model = SymmetricNMF(3, random_state=0).fit(K)
    np.testing.assert_array_equal(model.labels_[:-1], model.factors_["W"].argmax(axis=1)[:-1])
    np.testing.assert_allclose(model.memberships_[:-1].max(axis=1), 1.0, atol=1e-6)
    np.testing.assert_array_equal(model.memberships_[-1], 0.0)  # like nothing


def test_single_precision_stays():
    K = rbf_kernel(np.random.default_rng(0).random((20, 3))).astype(np.float32)
    assert SymmetricNMF(2, random_state=0).fit((K + K.T) / 2).memberships_.dtype == np.float32


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e-3])
def test_rounding_of_a_named_kernel_is_no_asymmetry(scale, monkeypatch):
    """Distances of samples far from the origin are differences of large numbers, and their mirror images differ by rounding."""
    rng = np.random.default_rng(0)
    X = scale * (rng.random((60, 5)) + 1e3)
    own = pairwise.pairwise_kernels
    noise = 1e-6 * rng.random((60, 60))
    monkeypatch.setattr(pairwise, "pairwise_kernels", lambda X, Y, **words: own(X, Y, **words) + noise * (Y is None))
    model = KernelPNMF(2, random_state=0).fit(X)
    assert model.status_ == "converged"


def test_kernel_pnmf_takes_a_graph():
    """An indefinite kernel: the objective is below zero, and no distance, which the error says."""
    adjacency = np.kron(np.eye(3), 1.0 - np.eye(4))
    model = KernelPNMF(3, kernel="precomputed", random_state=0).fit(adjacency)
    assert model.objective_ == pytest.approx(-4.5, rel=1e-5)  # minus half the sum of the three largest eigenvalues; `tol`
    assert np.isnan(model.reconstruction_err_)
    assert len(set(zip(model.labels_, np.arange(12) // 4, strict=True))) == 3
