"""Samples and their nearest neighbours: the graph, and walks in it as a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

NEIGHBOURS = "nearest_neighbors"
"""The kernel of walks in the graph of samples and their nearest neighbours."""
_NEIGHBOURS = 10
"""Nearest neighbours of each sample, as SpectralClustering has them."""


def neighbour_graph(X: Any, n_neighbors: int = _NEIGHBOURS) -> sparse.csr_array:
    """The graph of samples and their nearest neighbours: 1 between two that are neighbours of each other, ½ where one is.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
    n_neighbors : int
        Of each sample; all others where there are fewer.
    """
    from sklearn.neighbors import kneighbors_graph

    if X.shape[0] < 2:
        return sparse.csr_array(X.shape[:1] * 2, dtype=np.float64)
    near = sparse.csr_array(kneighbors_graph(X, min(n_neighbors, X.shape[0] - 1)))
    return sparse.csr_array((near + near.T) / 2)


def neighbour_walks(X: Any, fitted: Any = None) -> np.ndarray:
    """Walks of four steps in the graph of nearest neighbours: S⁴ with S = D^(-½) A D^(-½), which is positive semi-definite.

    S itself is too sparse for W Wᵀ: most samples of a cluster have no edge to each other. Walks of two steps find fewer clusters of
    unequal sizes, and walks of sixteen no more (https://nonneg.github.io/nonneg/evidence/graphs.html).

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
    fitted : array or sparse array of shape (n_fitted, n_features), optional
        Samples with the graph, whose nearest to X are the first step; by default X itself.
    """
    from sklearn.neighbors import NearestNeighbors

    base = X if fitted is None else fitted
    if base.shape[0] < 2:
        return np.ones((X.shape[0], base.shape[0]))
    A = neighbour_graph(base)
    D = sparse.diags_array(1 / np.sqrt(A.sum(axis=1)))
    S = sparse.csr_array(D @ A @ D)
    twice = S @ S
    if fitted is None:
        return np.asarray((twice @ twice).toarray())
    count = min(_NEIGHBOURS, base.shape[0])
    first = sparse.csr_array(NearestNeighbors(n_neighbors=count).fit(base).kneighbors_graph(X)) @ D
    return np.asarray((first @ S @ twice).toarray()) / np.sqrt(2 * count)  # edges one way are ½, so the degree is count/2
