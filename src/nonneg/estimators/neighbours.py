"""Samples and their neighbours: graphs, and walks in them as kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

NEIGHBOURS = "nearest_neighbors"
"""The kernel of walks in the graph of samples and their nearest neighbours."""
LOCAL = "local"
"""The kernel of walks among samples by distances in units of those to their neighbours."""
_NEIGHBOURS = 10
"""Nearest neighbours of each sample, as SpectralClustering has them."""
_DEGREE = 8.0
"""Sum of similarities that half of the samples reach, kernel "local": 5 to 10 differ by a hundredth (docs/evidence/graphs.md)."""
_EDGES = 0.05
"""Similarity of nearest neighbours beyond that by distance: samples far from all are no clusters (docs/evidence/graphs.md)."""
_LEAST_SCALE = 1e-3
"""Of the median scale: scales of samples that have equals are not below."""


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


def local_walks(X: Any, fitted: Any = None) -> np.ndarray:
    """Walks of four steps, S⁴ with S = D^(-½) A D^(-½), by similarities A_ij = exp(-d_ij² / (σ √(s_i s_j))) of different samples.

    s_i is the distance to the tenth neighbour, and σ such that half of the samples have similarities with a sum of eight; nearest
    neighbours have a little more. Half way between one scale for all and s_i s_j (Zelnik-Manor and Perona), A has the valleys
    between clusters, and clusters of unequal density.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
    fitted : array or sparse array of shape (n_fitted, n_features), optional
        Samples with the similarities, by which the first step from X goes; by default X itself.
    """
    from sklearn.metrics import euclidean_distances
    from sklearn.neighbors import NearestNeighbors

    base = X if fitted is None else fitted
    n = base.shape[0]
    if n < 2:
        return np.ones((X.shape[0], n))
    unit = float(abs(base).max()) or 1.0
    centre = None if sparse.issparse(base) else (base / unit).mean(axis=0, dtype=np.float64)
    base = _placed(base, unit, centre)
    squares = euclidean_distances(base, squared=True).astype(np.float64)
    np.fill_diagonal(squares, 0.0)
    roots, middle = _scales(squares, min(_NEIGHBOURS, n - 1))
    squares /= np.outer(roots, roots)
    width = _width(squares, min(_DEGREE, n / 4))
    A = np.exp(-squares / width) + _EDGES * neighbour_graph(base).toarray()
    np.fill_diagonal(A, 0.0)
    inverse = 1 / np.sqrt(A.sum(axis=1))
    S = A * inverse[:, None] * inverse
    twice = S.T @ S
    if fitted is None:
        return twice.T @ twice
    squares = euclidean_distances(_placed(X, unit, centre), base, squared=True).astype(np.float64)
    own = _scales(squares, min(_NEIGHBOURS, n) - 1, middle)[0]
    near = NearestNeighbors(n_neighbors=min(_NEIGHBOURS, n)).fit(base).kneighbors_graph(_placed(X, unit, centre)).toarray()
    first = np.exp(-squares / np.outer(own, roots) / width) + _EDGES / 2 * near
    first /= np.sqrt(first.sum(axis=1, keepdims=True))
    return ((first * inverse) @ S) @ twice


def _placed(X: Any, unit: float, centre: np.ndarray | None) -> Any:
    """X in units in which no square overflows, about the centre of dense data, where distances lose no digits."""
    return X / unit if centre is None else X / unit - centre


def _scales(squares: np.ndarray, place: int, middle: float | None = None) -> tuple[np.ndarray, float]:
    """Roots of the squared distances to a neighbour, in units of the middle one, and that."""
    scales = np.partition(squares, place, axis=1)[:, place]
    if middle is None:
        middle = float(np.median(scales)) or float(scales.mean()) or 1.0
    return np.maximum(scales / middle, _LEAST_SCALE**2) ** 0.25, middle


def _width(squares: np.ndarray, degree: float) -> float:
    """The width at which half of the samples have similarities with such a sum."""
    from scipy.optimize import brentq

    def excess(log_width: float) -> float:
        return float(np.median(np.exp(-squares / np.exp(log_width)).sum(axis=1))) - 1 - degree

    middle = np.log(np.median(squares.max(axis=1)) or 1.0)
    low, high = middle - 60, middle + 60
    return float(np.exp(low if excess(low) > 0 else brentq(excess, low, high, xtol=1e-3)))


WALKS: Mapping[str, Callable[..., np.ndarray]] = {LOCAL: local_walks, NEIGHBOURS: neighbour_walks}
"""Kernels of walks among samples, by name."""
