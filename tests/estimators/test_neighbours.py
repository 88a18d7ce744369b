"""The kernel of walks to nearest neighbours beside its definition, and clusters by it."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

import nonneg
from nonneg.estimators.neighbours import neighbour_graph, neighbour_walks
from nonneg.exceptions import IncompatibleError


@pytest.mark.parametrize("name", ["KernelPNMF", "SymmetricNMF"])
def test_rings(name):
    """Kernel "rbf" has an index of 0; new samples go with their ring."""
    X, rings = make_circles(240, factor=0.4, noise=0.05, random_state=0)
    model = getattr(nonneg, name)(2, kernel="nearest_neighbors", random_state=0).fit(X[:200])
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


def test_discriminants_have_other_kernels():
    with pytest.raises(IncompatibleError, match="Unknown kernel 'nearest_neighbors'"):
        nonneg.NonnegativeKernelFDA(kernel="nearest_neighbors").fit(np.eye(4), [0, 1, 0, 1])
