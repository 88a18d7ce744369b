"""First guesses of which vertex of A is which of B: N × N matrices without negative entries, rows for B and columns for A."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..kernels.tuned import tuned

Correspondence = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
_WIDTH = tuned(0.2, by="assignment", on="2026-11-15")
"""Width of the Cauchy kernel between eigenvalues (GRAMPA)."""
_WALKS = tuned(6, by="assignment", on="2026-11-15")
"""Length of the longest walks that describe a vertex."""
_SHARPNESS = tuned(0.1, by="assignment", on="2026-11-15")
"""Scale of distances between descriptions, as a share of their median."""


def umeyama(A: np.ndarray, B: np.ndarray, generator: np.random.Generator | None = None) -> np.ndarray:
    """|U_B| |U_A|ᵀ of the eigenvectors (Umeyama 1988); of a directed graph, those of (A + Aᵀ)/2 + i (A − Aᵀ)/2."""
    _, of_A = np.linalg.eigh(_hermitian(A))
    _, of_B = np.linalg.eigh(_hermitian(B))
    return np.abs(of_B) @ np.abs(of_A).T


def all_eigenvectors(A: np.ndarray, B: np.ndarray, generator: np.random.Generator | None = None) -> np.ndarray:
    """Σ u_i u_iᵀ 1 v_jᵀ v_j / ((λ_i − μ_j)² + η²) over all pairs of eigenvectors (GRAMPA: Fan, Mao, Wu and Xu 2020).

    Unlike `umeyama`, it does not hang on the order of the eigenvalues, which a few edges can change.
    """
    n = len(A)
    scale = np.sqrt((np.abs(A) ** 2).sum() / n) or 1.0
    values_A, of_A = np.linalg.eigh(_hermitian(A) / scale)
    values_B, of_B = np.linalg.eigh(_hermitian(B) / scale)
    sums = np.multiply.outer(of_B.conj().sum(axis=0), of_A.sum(axis=0))
    weights = sums / ((values_B[:, None] - values_A) ** 2 + _WIDTH**2)
    return np.maximum((of_B @ weights @ of_A.conj().T).real, 0.0)


def walks(A: np.ndarray, B: np.ndarray, generator: np.random.Generator | None = None) -> np.ndarray:
    """How like each other vertices are in the walks that begin, end and return there."""
    of_A, of_B = _walk_counts(A), _walk_counts(B)
    spread = np.vstack([of_A, of_B]).std(axis=0)
    of_A, of_B = (counts / np.where(spread > 0, spread, 1.0) for counts in (of_A, of_B))
    distance = (of_B**2).sum(axis=1)[:, None] - 2 * of_B @ of_A.T + (of_A**2).sum(axis=1)
    distance = np.maximum(distance, 0.0)
    return np.exp(-distance / (_SHARPNESS * float(np.median(distance)) + 1e-12))


def random(A: np.ndarray, B: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Nearly everything with everything."""
    return 1.0 + generator.random((len(B), len(A)))


def _hermitian(A: np.ndarray) -> np.ndarray:
    return (A + A.T) / 2 if (A == A.T).all() else (A + A.T) / 2 + 0.5j * (A - A.T)


def _walk_counts(A: np.ndarray) -> np.ndarray:
    """For each vertex: walks of each length from it and to it, beside the mean; closed walks of each length; its loop."""
    n, features = len(A), [np.diagonal(A)]
    for M in (A, A.T):
        counts = np.ones(n)
        for _ in range(_WALKS):
            counts = M @ counts
            counts = counts / (counts.mean() or 1.0)
            features.append(counts)
    symmetric = (A + A.T) / 2
    values, vectors = np.linalg.eigh(symmetric)
    values = values / (np.abs(values).max() or 1.0)
    features += [n * (vectors**2 @ values**length) for length in range(2, _WALKS + 1)]
    return np.column_stack(features)


CORRESPONDENCES: dict[str, Correspondence] = {
    "umeyama": umeyama,
    "eigenvectors": all_eigenvectors,
    "walks": walks,
    "random": random,
}
