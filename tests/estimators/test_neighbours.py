"""Kernels of walks among samples beside their definitions, and clusters by them."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

import nonneg
from nonneg.estimators.neighbours import local_walks, neighbour_graph, neighbour_walks
from nonneg.exceptions import IncompatibleError


@pytest.mark.parametrize("kernel", ["local", "nearest_neighbors"])
@pytest.mark.parametrize("name", ["KernelPNMF", "SymmetricNMF"])
def test_rings(name, kernel):
    """Kernel "rbf" has an index of 0; new samples go with their ring."""
    X, rings = make_circles(240, factor=0.4, noise=0.05, random_state=0)
    model = getattr(nonneg, name)(2, kernel=kernel, random_state=0).fit(X[:200])
    assert adjusted_rand_score(rings[:200], model.labels_) == 1
    assert adjusted_rand_score(rings[200:], model.transform(X[200:]).argmax(axis=1)) == 1


def test_it_is_walks_of_four_steps():
    X = np.random.default_rng(0).random((30, 2))
    A = neighbour_graph(X).toarray()
    S = A / np.sqrt(np.outer(A.sum(axis=0), A.sum(axis=1)))
    K = neighbour_walks(X)
    np.testing.assert_allclose(K, S @ S @ S @ S, atol=1e-14)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    nearest = np.argsort(cdist(X[:1], X))[0, :10]
    step = np.isin(np.arange(30), nearest) / np.sqrt(20 * A.sum(axis=0))
    np.testing.assert_allclose(neighbour_walks(X[:1], X), [step @ S @ S @ S], atol=1e-14)
    np.testing.assert_array_equal(neighbour_walks(X[:1]), [[1.0]])


def local_similarities(X, Y, width, scales):
    """As `local_walks` describes them, apart from the neighbour graph."""
    return np.exp(-(cdist(X, Y) ** 2) / (width * np.sqrt(np.outer(*scales))))


@pytest.mark.parametrize("scale", [1.0, 1e-160, 1e160])
def test_local_walks_are_of_four_steps(scale):
    points = np.random.default_rng(1).standard_normal((80, 3)) + 7
    distances = np.sort(cdist(points, points), axis=1)[:, 10]
    graph = neighbour_graph(points).toarray()

    def degree(width):
        return np.median(local_similarities(points, points, width, (distances, distances)).sum(axis=1)) - 1

    width = brentq(lambda width: degree(width) - 8, 1e-3, 1e3)
    A = local_similarities(points, points, width, (distances, distances)) * (1 - np.eye(80)) + graph / 20
    S = A / np.sqrt(np.outer(A.sum(axis=0), A.sum(axis=1)))
    K = local_walks(points * scale)
    np.testing.assert_allclose(K, np.linalg.matrix_power(S, 4), rtol=0.01, atol=1e-5)
    new = np.random.default_rng(2).standard_normal((3, 3)) + 7
    far = np.sort(cdist(new, points), axis=1)
    near = cdist(new, points) <= far[:, 9:10]
    first = local_similarities(new, points, width, (far[:, 9], distances)) + near / 40
    step = first / np.sqrt(np.outer(first.sum(axis=1), A.sum(axis=1)))
    np.testing.assert_allclose(local_walks(new * scale, points * scale), step @ S @ S @ S, rtol=0.01, atol=1e-5)
    np.testing.assert_array_equal(local_walks(points[:1]), [[1.0]])


def test_samples_far_from_all_are_no_cluster():
    """Without edges to neighbours two of them, near each other, would be one."""
    generator = np.random.default_rng(0)
    halves = np.repeat([0, 1], 100)
    X = generator.standard_normal((200, 2)) + 3.5 * halves[:, None]
    X = np.vstack([X, [[40.0, -40.0], [41.0, -40.0]]])
    assert adjusted_rand_score(halves, nonneg.KernelPNMF(2, random_state=0).fit(X).labels_[:200]) > 0.8


@pytest.mark.parametrize("X", [np.ones((12, 2)), np.repeat(np.eye(3), 20, axis=0), np.eye(2), np.eye(3)])
def test_equal_and_few_samples(X):
    K = local_walks(X)
    assert np.isfinite(K).all()
    assert (K >= 0).all()
    assert np.isfinite(local_walks(X, X)).all()


def test_discriminants_have_other_kernels():
    with pytest.raises(IncompatibleError, match="Unknown kernel 'nearest_neighbors'"):
        nonneg.NonnegativeKernelFDA(kernel="nearest_neighbors").fit(np.eye(4), [0, 1, 0, 1])
