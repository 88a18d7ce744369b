"""POD: eigenvectors, then rotation and discretisation in turn (Yu and Shi 2003)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...constraints import unit_length
from ...kernels.eigenvectors import leading
from ...solve.progress import is_interrupted
from .._partitions import indicators, trace_of
from ..similarities import Similarity
from .base import Effort, Method, Partitioned


@dataclass(frozen=True)
class POD(Method):
    """The discrete partition nearest to the leading eigenvectors of S, up to a rotation.

    The eigenvectors are those of the algebraically largest eigenvalues. ONL's table has much lower figures for indefinite S;
    eigenvalues that are largest in magnitude come nearer to them, and do not reach them on every graph.
    """

    def partition(self, S: Similarity, count: int, generator: np.random.Generator, effort: Effort) -> Partitioned:
        rows = eigenrows(S, count, generator)
        best, most = np.zeros(S.n, dtype=np.int64), -np.inf
        for _ in range(effort.n_init):
            labels = discretised(rows, count, generator)
            trace = trace_of(S, labels, count)
            if trace > most:
                best, most = labels, trace
            if is_interrupted():
                break
        return Partitioned(best, indicators(best, count, S.weights), effort.n_init)


def eigenrows(S: Similarity, count: int, generator: np.random.Generator, small: int | None = None) -> np.ndarray:
    """The rows of the leading eigenvectors, each of length one; `small` as in `leading`."""
    vectors = leading(S, count, generator, small=small)[1]
    return unit_length(np, vectors, "rows")


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
