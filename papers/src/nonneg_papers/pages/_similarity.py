"""What is known of S = I − (I + A/10)⁻¹ of a graph beside its partitions, and two methods of ONL as they seem to have been run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from nonneg.graph import SIMILARITIES
from nonneg.graph._partitions import trace_of
from nonneg.graph.methods.kernel_kmeans import balanced
from nonneg.graph.methods.pod import discretised


def semidefinite(A: np.ndarray) -> str:
    S = np.linalg.solve(np.eye(len(A)) + A / 10, A / 10)
    low, high = 0, len(A) + 1  # S[:low, :low] is positive definite, S[:high, :high] is not
    while high - low > 1:
        middle = (low + high) // 2
        if middle <= len(A) and _is_definite(S[:middle, :middle]):
            low = middle
        else:
            high = middle
    return "–" if low >= len(A) else f"{(low + 1) / len(A):.2f}"


def one_part(A: np.ndarray) -> float:
    """1ᵀS1/N."""
    return float(np.linalg.solve(np.eye(len(A)) + A / 10, A / 10).sum() / len(A))


def spectral_bound(A: np.ndarray, count: int) -> float:
    """The largest trace that any W with WᵀW = I can have."""
    return float(np.linalg.eigvalsh(SIMILARITIES["discriminative-kmeans"](A).toarray())[-count:].sum())


class Last(NamedTuple):
    """Where kernel K-means as printed is left: the best trace of its runs at the last step, and on the way; how many runs there
    were, and how many of them rest or cycle."""

    trace: float
    on_the_way: float
    runs: int
    rested: int
    cycled: int

    @property
    def told(self) -> str:
        return f"{self.trace:.2f}" + (f" ({self.cycled} of {self.runs} cycle)" if self.cycled else "")


def last_step(A: np.ndarray, count: int, seed: int = 0, runs: int = 50, steps: int = 100) -> Last:
    """ONL Eq. 43 from random partitions, every vertex to its nearest centroid, to the last step.

    A step follows from the partition alone, so that a run which comes back to an earlier one goes round from there forever. The
    partitions are those that `GraphClustering(method="kernel-kmeans", n_init=runs, random_state=seed)` begins with.
    """
    S, generator = SIMILARITIES["discriminative-kmeans"](A), np.random.default_rng(check_random_state(seed).randint(2**31))
    last, highest, rested, cycled = -np.inf, -np.inf, 0, 0
    for _ in range(runs):
        labels = balanced(len(A), count, generator)
        seen, trace = set(), trace_of(S, labels, count)
        highest = max(highest, trace)
        for _ in range(steps):
            seen.add(labels.tobytes())
            means = np.eye(count)[labels] / np.maximum(np.bincount(labels, minlength=count), 1)
            products = S @ means
            distances = np.where(means.any(axis=0), np.einsum("ik,ik->k", means, products) - 2 * products, np.inf)
            labels, before = distances.argmin(axis=1), labels
            trace = trace_of(S, labels, count)
            highest = max(highest, trace)
            if (labels == before).all():
                rested += 1
                break
        else:
            cycled += labels.tobytes() in seen
        last = max(last, trace)
    return Last(last, highest, runs, rested, cycled)


def _is_definite(S: np.ndarray) -> bool:
    try:
        np.linalg.cholesky(S)
    except np.linalg.LinAlgError:
        return False
    return True


class Found(NamedTuple):
    """A partition, and its trace."""

    trace: float
    labels: np.ndarray


def pod_by_magnitude(A: np.ndarray, count: int, runs: int = 50) -> Found:
    """The best partition of POD with the eigenvectors of the eigenvalues that are largest in magnitude, of either sign."""
    S, generator = SIMILARITIES["discriminative-kmeans"](A), np.random.default_rng(0)
    values, vectors = np.linalg.eigh(S.toarray())
    rows = vectors[:, np.argsort(-np.abs(values))[:count]]
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / np.where(lengths > 0, lengths, 1.0)
    found = [discretised(rows, count, generator) for _ in range(runs)]
    return max((Found(trace_of(S, labels, count), labels) for labels in found), key=lambda one: one.trace)


def by_largest_entry(A: np.ndarray, count: int) -> float:
    """The trace if each vertex joins the one of the leading eigenvectors, their sums made positive, that has its largest entry."""
    S = SIMILARITIES["discriminative-kmeans"](A).toarray()
    vectors = _leading(S, count)
    labels = (vectors * np.where(vectors.sum(axis=0) < 0, -1, 1)).argmax(axis=1)
    return sum(_density(S, np.flatnonzero(labels == part)) for part in np.unique(labels))


def by_subdivision(A: np.ndarray, count: int) -> float:
    """The trace after cuts in two by the signs of an eigenvector, of the part and the eigenvector that raise it most."""
    S, parts = SIMILARITIES["discriminative-kmeans"](A).toarray(), [np.arange(len(A))]
    while len(parts) < count:
        cuts = [
            (_density(S, part[side]) + _density(S, part[~side]) - _density(S, part), number, side)
            for number, part in enumerate(parts)
            for side in (_leading(S[np.ix_(part, part)], 2) > 0).T
            if side.any() and not side.all()
        ]
        _, number, side = max(cuts, key=lambda cut: cut[0])
        part = parts.pop(number)
        parts += [part[side], part[~side]]
    return sum(_density(S, part) for part in parts)


def _leading(S: np.ndarray, count: int) -> np.ndarray:
    return np.linalg.eigh(S)[1][:, : -count - 1 : -1]


def _density(S: np.ndarray, part: np.ndarray) -> float:
    """What a part adds to the trace."""
    return float(S[np.ix_(part, part)].sum() / len(part))
