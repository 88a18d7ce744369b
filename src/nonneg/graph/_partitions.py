"""Partitions of vertices, and the trace tr(WᵀSW) of their re-weighted indicators W = V C(CᵀV²C)^(-½) (ONL §4.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .similarities import Similarity


def indicators(labels: np.ndarray, count: int, weights: np.ndarray | None = None) -> np.ndarray:
    """W = V C(CᵀV²C)^(-½): a column of unit length for each part."""
    n = len(labels)
    V2 = np.ones(n) if weights is None else weights
    volumes = np.bincount(labels, V2, minlength=count)
    W = np.zeros((n, count))
    W[np.arange(n), labels] = np.sqrt(V2 / np.where(volumes > 0, volumes, 1.0)[labels])
    return W


def trace_of(S: Similarity, labels: np.ndarray, count: int) -> float:
    """tr(WᵀSW) of a partition."""
    W = indicators(labels, count, S.weights)
    return float(np.vdot(W, S @ W))


def compact(labels: np.ndarray) -> np.ndarray:
    """The same partition, its parts numbered in the order of their first vertices."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def without_empty(labels: np.ndarray, count: int, weights: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """The partition with a vertex for each part that has none, taken from the largest parts."""
    sizes = np.bincount(labels, weights > 0, minlength=count)
    empty = np.flatnonzero(sizes == 0)
    if not len(empty):
        return labels
    labels = labels.copy()
    for part in empty:
        largest = int(sizes.argmax())
        if sizes[largest] < 2:
            break
        chosen = generator.choice(np.flatnonzero((labels == largest) & (weights > 0)))
        labels[chosen] = part
        sizes[largest] -= 1
        sizes[part] += 1
    return labels


class Mover:
    """Moves single vertices between parts as long as the trace of a partition grows.

    Parameters
    ----------
    S : Similarity
        With entries.
    """

    def __init__(self, S: Similarity) -> None:
        n = S.n
        self.S, self.weights = S, np.ones(n) if S.weights is None else np.asarray(S.weights, dtype=np.float64)
        root, M = np.sqrt(self.weights), S.entries
        if S.weights is not None:
            from .similarities import scaled

            M = scaled(M, root)
        self.outer = S.outer
        self.u = np.zeros(n) if S.outer is None else root * S.outer.u
        self.factor = 0.0 if S.outer is None else S.outer.factor
        is_sparse = sparse.issparse(M)
        if not is_sparse and S.outer is not None:
            M = M - self.factor * np.outer(self.u, self.u)
        self.matrix: Any = sparse.csr_array(M) if is_sparse else np.ascontiguousarray(M)
        self.diagonal = self.matrix.diagonal() if is_sparse else np.diagonal(self.matrix).copy()

    @property
    def free(self) -> np.ndarray:
        """Vertices that gain nothing by a part of their own: any move of theirs that gains does so by what they are close to."""
        return self.diagonal - self.factor * self.u**2 * sparse.issparse(self.matrix) <= 0

    def __call__(
        self,
        labels: np.ndarray,
        allowed: np.ndarray,
        generator: np.random.Generator,
        visits: int = 100,
        *,
        may_be_empty: bool = False,
    ) -> np.ndarray:
        """The partition once no move that is allowed (vertices × parts) gains any more, or after so many visits to all vertices."""
        count = allowed.shape[1]
        if not may_be_empty:
            labels = without_empty(labels, count, self.weights, generator)
        from ..kernels.moves import move_vertices, move_vertices_dense

        n, labels = len(labels), labels.astype(np.int64)
        C = sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, count))
        product = self.matrix @ C
        inside = np.asarray((C * product).sum(axis=0) if sparse.issparse(product) else np.einsum("ik,ik->k", product, C.toarray()))
        inside = np.asarray(inside, dtype=np.float64).reshape(-1)
        shares = np.bincount(labels, self.u, minlength=count)
        is_sparse = sparse.issparse(self.matrix)
        if is_sparse:
            inside = inside - self.factor * shares**2
        volumes = np.bincount(labels, self.weights, minlength=count)
        sizes = np.bincount(labels[self.weights > 0], minlength=count)  # a part of vertices without weight is empty
        least = 1e-10 * (np.abs(inside / np.where(volumes > 0, volumes, 1.0)).sum() + 1e-300)
        for _ in range(visits):
            order = generator.permutation(n)
            if is_sparse:
                M = self.matrix
                moved = move_vertices(
                    order, M.indptr, M.indices, M.data, self.diagonal, self.factor, self.u, self.weights, allowed, labels, inside,
                    volumes, shares, sizes, least, may_be_empty,
                )  # fmt: skip
            else:
                moved = move_vertices_dense(
                    order, self.matrix, self.weights, allowed, labels, inside, volumes, sizes, least, may_be_empty
                )
            if not moved:
                break
        return labels
