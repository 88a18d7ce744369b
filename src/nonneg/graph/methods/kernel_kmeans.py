"""Kernel K-means: the nearest centroid, in the space of the similarity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._partitions import indicators, trace_of
from ..similarities import Similarity
from .base import Effort, Method, Partitioned


@dataclass(frozen=True)
class KernelKMeans(Method):
    """K-means with S as the kernel: ONL Eq. 43, with weights of vertices where the similarity has them.

    Where S is not positive semi-definite, as for most graphs, a step may lower the trace; the best partition on the way is kept.
    """

    def partition(self, S: Similarity, count: int, generator: np.random.Generator, effort: Effort) -> Partitioned:
        best, most, n_iter = np.zeros(S.n, dtype=np.int64), -np.inf, 0
        for _ in range(effort.n_init):
            labels, trace, steps = nearest_centroids(S, seeds(S.n, count, generator), count, effort.max_iter)
            n_iter += steps
            if trace > most:
                best, most = labels, trace
        return Partitioned(best, indicators(best, count, S.weights), n_iter)


def seeds(n: int, count: int, generator: np.random.Generator) -> np.ndarray:
    """A partition at random without empty parts."""
    labels = generator.integers(count, size=n)
    labels[generator.permutation(n)[:count]] = np.arange(count)
    return labels


def nearest_centroids(S: Similarity, labels: np.ndarray, count: int, max_iter: int) -> tuple[np.ndarray, float, int]:
    """Vertices to their nearest centroids in turn; the best partition on the way, its trace, and the number of steps."""
    n = S.n
    V2 = np.ones(n) if S.weights is None else S.weights
    root = np.sqrt(V2)
    best, most, seen = labels, trace_of(S, labels, count), 0
    for seen in range(1, max_iter + 1):  # noqa: B007
        volumes = np.bincount(labels, V2, minlength=count)
        C = np.zeros((n, count))
        C[np.arange(n), labels] = root / np.where(volumes > 0, volumes, 1.0)[labels]
        product = S @ C
        closeness = 2 * product / np.where(root > 0, root, 1.0)[:, None] - np.einsum(
            "ik,ik->k", C, product
        )  # ONL Eq. 43, less S_ii
        new = np.where(volumes > 0, closeness, -np.inf).argmax(axis=1)
        if (new == labels).all():
            break
        labels = new
        trace = trace_of(S, labels, count)
        if trace > most:
            best, most = labels, trace
        elif trace < most - 0.1 * abs(most):
            break  # an indefinite kernel may lead anywhere
    return best, most, seen
