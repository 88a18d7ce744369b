"""Partitions of vertices, and the trace tr(WᵀSW) of their re-weighted indicators W = V C(CᵀV²C)^(-½) (ONL §4.1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..interrupting import is_interrupted
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
    W = indicators(labels, count, S.weights) if S.total is None else np.eye(count)[labels] / np.sqrt(S.total)
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


class Moved(NamedTuple):
    """A partition, and its trace."""

    labels: np.ndarray
    trace: float


class Mover:
    """Moves single vertices between parts as long as the trace of a partition grows.

    Parameters
    ----------
    S : Similarity
        With entries.
    """

    def __init__(self, S: Similarity) -> None:
        n = S.n
        weights = np.ones(n) if S.weights is None else np.asarray(S.weights, dtype=np.float64)
        root, M = np.sqrt(weights), S.entries
        if S.weights is not None:
            from .similarities import scaled

            M = scaled(M, root)
        self.movable = weights > 0
        self.empty = 0.0 if S.total is None else S.total
        self.weights = weights if S.total is None else np.zeros(n)
        self.u = np.zeros(n) if S.outer is None else root * S.outer.u
        self.factor = 0.0 if S.outer is None else S.outer.factor
        self.is_sparse = sparse.issparse(M)
        if self.is_sparse:
            self.matrix: Any = sparse.csr_array(M)
            self.diagonal = self.matrix.diagonal()
            self.rows = np.repeat(np.arange(n), np.diff(self.matrix.indptr))
        else:
            self.matrix = np.ascontiguousarray(M if S.outer is None else M - self.factor * np.outer(self.u, self.u))
            self.diagonal = np.diagonal(self.matrix).copy()

    @property
    def free(self) -> np.ndarray:
        """Vertices that gain nothing by a part of their own: any move of theirs that gains does so by what they are close to."""
        return self.diagonal - self.factor * self.u**2 * self.is_sparse <= 0

    def __call__(
        self,
        labels: np.ndarray,
        allowed: np.ndarray,
        generator: np.random.Generator,
        visits: int = 100,
        *,
        may_be_empty: bool = False,
    ) -> Moved:
        """The partition once no move that is allowed (vertices × parts) gains any more, or after so many visits to all vertices."""
        from ..kernels.moves import move_vertices, move_vertices_dense

        count = allowed.shape[1]
        if not may_be_empty:
            labels = without_empty(labels, count, self.movable, generator)
        labels = labels.astype(np.int64)
        shares = np.bincount(labels, self.u, minlength=count)
        inside = self._inside(labels, shares)
        volumes = np.bincount(labels, self.weights, minlength=count) + self.empty
        sizes = np.bincount(labels[self.movable], minlength=count)  # a part of vertices without weight is empty
        least = 1e-10 * (np.abs(_ratios(inside, volumes)).sum() + 1e-300)
        parts = (self.weights, self.movable, allowed, labels, inside, volumes)
        rest = (sizes, self.empty, least, may_be_empty)
        for _ in range(visits):
            order = generator.permutation(len(labels))
            if self.is_sparse:
                M = self.matrix
                moved = move_vertices(order, M.indptr, M.indices, M.data, self.diagonal, self.factor, self.u, *parts, shares, *rest)
            else:
                moved = move_vertices_dense(order, self.matrix, *parts, *rest)
            if not moved or is_interrupted():
                break
        return Moved(labels, float(_ratios(inside, volumes).sum()))

    def _inside(self, labels: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Σ M_ij within each part."""
        count = len(shares)
        if not self.is_sparse:
            C = np.eye(count)[labels]
            return np.einsum("ik,ik->k", self.matrix @ C, C)
        own = labels[self.rows]
        within = own == labels[self.matrix.indices]
        return np.bincount(own[within], self.matrix.data[within], minlength=count) - self.factor * shares**2


def _ratios(inside: np.ndarray, volumes: np.ndarray) -> np.ndarray:
    return inside / np.where(volumes > 0, volumes, 1.0)
