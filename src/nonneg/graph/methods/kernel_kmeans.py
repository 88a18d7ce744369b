"""Kernel K-means: the nearest centroid, in the space of the similarity."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from ...solve.progress import is_interrupted
from .._partitions import indicators, trace_of
from ..similarities import Similarity
from .base import Effort, Method, Partitioned


@dataclass(frozen=True)
class KernelKMeans(Method):
    """K-means with S as the kernel: ONL Eq. 43, with weights of vertices where the similarity has them.

    Where S is not positive semi-definite, as for most graphs, a step may lower the trace, and a run may come back to a partition
    that it has left, and go round from there. A run begins with parts of equal sizes, and ends at rest, at such a return, or after
    `max_iter` steps; the best partition on the way is kept.
    """

    def partition(self, S: Similarity, count: int, generator: np.random.Generator, effort: Effort) -> Partitioned:
        best, most, n_iter = np.zeros(S.n, dtype=np.int64), -np.inf, 0
        for _ in range(effort.n_init):
            start = balanced(S.n, count, generator, S.weights)
            labels, trace, steps = nearest_centroids(S, start, count, effort.max_iter)
            n_iter += steps
            if trace > most:
                best, most = labels, trace
            if is_interrupted():
                break
        return Partitioned(best, indicators(best, count, S.weights), n_iter)


def balanced(n: int, count: int, generator: np.random.Generator, weights: np.ndarray | None = None) -> np.ndarray:
    """A partition at random, whose parts differ in size by one at most; vertices without weight, if any, do not count."""
    if weights is None or (weights > 0).all():
        return generator.permutation(np.arange(n) % count)
    labels = generator.integers(count, size=n)
    labels[weights > 0] = generator.permutation(np.arange(np.count_nonzero(weights > 0)) % count)
    return labels


def seeds(n: int, count: int, generator: np.random.Generator) -> np.ndarray:
    """A partition at random without empty parts, of sizes at random too."""
    labels = generator.integers(count, size=n)
    labels[generator.permutation(n)[:count]] = np.arange(count)
    return labels


def nearest_centroids(
    S: Similarity, labels: np.ndarray, count: int, max_iter: int, fall: float = np.inf
) -> tuple[np.ndarray, float, int]:
    """Vertices to their nearest centroids in turn; the best partition on the way, its trace, and the number of steps.

    A step follows from the partition alone, so that a run which comes back to an earlier one finds nothing new, and ends. It also
    ends where the trace is below its best by more than a share `fall` of it.
    """
    n = S.n
    V2 = np.ones(n) if S.weights is None else S.weights
    root = np.sqrt(V2)
    best, most, step, seen = labels, trace_of(S, labels, count), 0, {_digest(labels)}
    for step in range(1, max_iter + 1):  # noqa: B007
        volumes = np.bincount(labels, V2, minlength=count)
        C = np.zeros((n, count))
        C[np.arange(n), labels] = root / np.where(volumes > 0, volumes, 1.0)[labels]
        product = S @ C
        closeness = 2 * product / np.where(root > 0, root, 1.0)[:, None] - np.einsum(
            "ik,ik->k", C, product
        )  # ONL Eq. 43, less S_ii
        labels = np.where(volumes > 0, closeness, -np.inf).argmax(axis=1)
        digest = _digest(labels)
        if digest in seen or is_interrupted():
            break  # at rest, or in a cycle
        seen.add(digest)
        trace = trace_of(S, labels, count)
        if trace > most:
            best, most = labels, trace
        elif trace < most - fall * abs(most):
            break
    return best, most, step


def _digest(labels: np.ndarray) -> bytes:
    """Stands for a partition, where keeping all of them would take too much memory."""
    return blake2b(labels.astype(np.int64, copy=False).tobytes(), digest_size=16).digest()
