"""POD: eigenvectors, then rotation and discretisation in turn (Yu and Shi 2003)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._partitions import indicators, trace_of
from ..similarities import LARGEST, Similarity
from .base import Effort, Found, Method

_SMALL = 1500
"""Vertices up to which all eigenvectors take less time than the leading ones alone."""


@dataclass(frozen=True)
class POD(Method):
    """The discrete partition nearest to the leading eigenvectors of S, up to a rotation.

    The eigenvectors are those of the algebraically largest eigenvalues. ONL's table has much lower figures for indefinite S, which
    those of the largest in magnitude explain.
    """

    def partition(self, S: Similarity, count: int, generator: np.random.Generator, effort: Effort) -> Found:
        rows = eigenrows(S, count, generator)
        best, most = np.zeros(S.n, dtype=np.int64), -np.inf
        for _ in range(effort.n_init):
            labels = discretised(rows, count, generator)
            trace = trace_of(S, labels, count)
            if trace > most:
                best, most = labels, trace
        return Found(best, indicators(best, count, S.weights), effort.n_init)


def eigenvectors(S: Similarity, count: int, generator: np.random.Generator) -> np.ndarray:
    """Those of the `count` largest eigenvalues, the largest first."""
    n = S.n
    if n <= _SMALL or (n <= 2 * count and n <= LARGEST):
        from scipy.linalg import eigh

        return eigh(S.toarray(), subset_by_index=[n - count, n - 1])[1][:, ::-1]
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    operator = LinearOperator((n, n), matvec=lambda v: S @ v.reshape(-1), matmat=lambda V: S @ V, dtype=np.float64)
    try:
        values, vectors = eigsh(operator, k=count, which="LA", v0=generator.standard_normal(n), tol=1e-4, maxiter=100)
    except ArpackNoConvergence as error:  # those that have not converged are good enough to start from
        found = error.eigenvectors
        values, vectors = error.eigenvalues, found
        if found.shape[1] < count:
            more = np.linalg.qr(np.hstack([found, generator.standard_normal((n, count - found.shape[1]))]))[0]
            for _ in range(20):
                more = np.linalg.qr(S @ more + more)[0]
            return more
    return vectors[:, np.argsort(-values)]


def eigenrows(S: Similarity, count: int, generator: np.random.Generator) -> np.ndarray:
    """The rows of the leading eigenvectors, each of length one."""
    vectors = eigenvectors(S, count, generator)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def discretised(rows: np.ndarray, count: int, generator: np.random.Generator, max_iter: int = 100) -> np.ndarray:
    """Labels from rows of unit length: the nearest axis after the best rotation, in turn."""
    n = len(rows)
    rotation = np.zeros((count, count))
    rotation[:, 0] = rows[generator.integers(n)]
    seen = np.zeros(n)
    for k in range(1, count):  # rows as orthogonal to each other as there are
        seen += np.abs(rows @ rotation[:, k - 1])
        rotation[:, k] = rows[np.argmin(seen)]
    last = -np.inf
    labels = np.zeros(n, dtype=np.int64)
    for _ in range(max_iter):
        coordinates = rows @ rotation
        labels = coordinates.argmax(axis=1)
        sums = np.zeros((count, rows.shape[1]))
        np.add.at(sums, labels, rows) if n < 1000 else _add(sums, labels, rows)
        U, singular, Vt = np.linalg.svd(sums)
        if singular.sum() <= last * (1 + 1e-9):
            break
        last, rotation = singular.sum(), (U @ Vt).T
    return labels


def _add(sums: np.ndarray, labels: np.ndarray, rows: np.ndarray) -> None:
    for k in range(rows.shape[1]):
        sums[:, k] = np.bincount(labels, rows[:, k], minlength=len(sums))
