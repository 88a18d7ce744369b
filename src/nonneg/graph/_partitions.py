"""Partitions of vertices, and the trace tr(WᵀSW) of their re-weighted indicators W = V C(CᵀV²C)^(-½) (ONL §4.1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..solve.progress import is_interrupted
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


_VISITS = 100
"""To all vertices, at the most, from one partition."""
_AT_ONCE = 1e7
"""Entries of S that are gone over before anyone asks whether to stop."""


class Moved(NamedTuple):
    """A partition, its trace, and how many shakes have come back to that."""

    labels: np.ndarray
    trace: float
    returns: int = 0


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
        self.matrix = sparse.csr_array(M)
        self.diagonal = self.matrix.diagonal()

    @property
    def free(self) -> np.ndarray:
        """Vertices that gain nothing by a part of their own: their moves gain by the vertices they are close to."""
        return self.diagonal - self.factor * self.u**2 <= 0

    def __call__(
        self,
        labels: np.ndarray,
        allowed: np.ndarray,
        generator: np.random.Generator,
        *,
        may_be_empty: bool = False,
        shakes: int = 0,
        in_vain: int = 2**62,
        returns: int = 2**62,
    ) -> Moved:
        """The partition once no move that is allowed (vertices × parts) gains any more.

        Then it is shaken so many times, and moved again: two parts are thrown together and cut at random, and every tenth vertex is
        put anywhere, as far as vertices are free. There are no more shakes once `in_vain` of them have gained nothing, or `returns`
        have come back to the best trace.
        """
        from ..kernels.moves import settle_vertices

        M, labels = self.matrix, labels.astype(np.int64)
        state, tallies = np.array([generator.integers(1, 2**31 - 1)]), np.zeros(3, dtype=np.int64)
        given = (M.indptr, M.indices, M.data, self.diagonal, self.factor, self.u, self.weights, self.movable, self.free, allowed)
        rest = (labels, self.empty, may_be_empty)
        at_once = _AT_ONCE / (M.nnz + allowed.size)
        visits, trace = int(np.clip(at_once, 1, _VISITS)), 0.0
        for _ in range(_VISITS):
            trace = settle_vertices(0, visits, in_vain, returns, state, tallies, *given, *rest)
            if not tallies[2] or is_interrupted():
                break
        batch = max(1, int(at_once / 4))  # a shake takes about so many visits
        while shakes > 0 and tallies[0] < in_vain and tallies[1] < returns and not is_interrupted():
            trace = settle_vertices(min(shakes, batch), _VISITS, in_vain, returns, state, tallies, *given, *rest)
            shakes -= batch
        return Moved(labels, float(trace), int(tallies[1]))
