"""The default: √ONL from starts of several kinds, undecided vertices settled one by one, and the best kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...data.signed import stored
from ...exceptions import IncompatibleError
from ...interrupting import is_interrupted
from .._partitions import Moved, Mover, indicators, trace_of
from ..similarities import Similarity
from .base import Effort, Method, Partitioned
from .kernel_kmeans import nearest_centroids, seeds
from .nonnegative import LIFT, learned
from .pod import discretised, eigenrows

_ITERATIONS = 100
_FALL = 0.1
"""By what share the trace may fall below its best before kernel K-means is left: it is one guess of several here."""
_BUDGET = 2e9
"""Multiplications with S that all starts together may take, about; one start is always made."""
_AGREE = 4
"""Partitions that must be equally good, and the best, for no further round of starts; the eigenvectors' own may be one of them."""
_ROUNDING = 1e-9
"""The share by which traces of one partition may differ."""
_SHAKES = 100
"""For each round of starts, at most."""
_IN_VAIN = 100
"""Shakes without a gain, and five more for each part, after which there are no more, of graphs that are not small."""
_SMALL = 500
"""Vertices below which all shakes are made: they cost little, and a gain may come late (ONL's Korea: .785, then .795)."""
_UNDECIDED = 0.1
"""The share of its largest membership that another must have for a vertex to be undecided between them."""


@dataclass(frozen=True)
class Refined(Method):
    """Soft parts W by √ONL, from eigenvectors, from kernel K-means and from random numbers; then moves of single vertices.

    A move is made if it raises the trace, whatever the signs of the eigenvalues of S. Vertices that would gain by a part of their
    own (S_ii > 0, as with cosines) are moved only between parts that W leaves them undecided between: the trace alone would single
    them out until one part is left for all others. The others may go anywhere; for them the best partition is also shaken and
    improved again.

    Attributes
    ----------
    may_be_empty : bool, optional
        Whether there may be fewer parts than asked for, where that raises the trace, as it can where S_ii < 0. None: unless one
        part for all vertices would be best, as it is for a negative Laplacian.
    """

    similarity: ClassVar[str] = "regularized"
    may_be_empty: bool | None = None

    def __post_init__(self) -> None:
        if self.may_be_empty is not None and not isinstance(self.may_be_empty, bool):
            raise IncompatibleError(f"may_be_empty must be None, True or False; got {self.may_be_empty!r}.")

    def partition(self, S: Similarity, count: int, generator: np.random.Generator, effort: Effort) -> Partitioned:
        cost = 2.0 * _ITERATIONS * count * (stored(S.positive) + (0 if S.negative is None else stored(S.negative)))
        most_rounds = int(np.clip(_BUDGET / cost / 3, 0, effort.n_init))
        limited = effort._replace(max_iter=min(effort.max_iter, _ITERATIONS))
        rows = eigenrows(S, count, generator)
        mover = None if S.entries is None else Mover(S)
        may_be_empty = bool(self.may_be_empty)
        found: list[tuple[np.ndarray, Moved]] = []
        rounds = 0
        while not found or (rounds < most_rounds and not _agree(found) and not is_interrupted()):
            kinds = _KINDS if most_rounds else _KINDS[:1]
            guesses = [guess(S, rows, count, generator) for guess in kinds]
            soft = []
            for guess in guesses:
                soft.append(_soft(S, guess, limited))
                if is_interrupted():
                    break
            if not found:
                soft.append((soft[0][0], guesses[0].argmax(axis=1)))  # the eigenvectors' own partition
                if self.may_be_empty is None:
                    may_be_empty = _gain_by_parts(S, [labels for _, labels in soft], count)
            found += [(W, _settled(S, mover, W, labels, generator, may_be_empty)) for W, labels in soft]
            rounds += 1
        tried = len(found) - 1
        W, best = max(found, key=lambda pair: pair[1].trace)
        if mover is None:
            return Partitioned(nearest_centroids(S, best.labels, count, 30, _FALL)[0], W, tried)
        allowed = _allowed(W, mover.free)
        best = mover(best.labels, allowed, generator, may_be_empty=may_be_empty)
        most_shakes = min(_SHAKES * min(rounds, most_rounds), _BUDGET / 4 / (stored(S.entries) + S.n * count))
        in_vain = 0
        for _ in range(int(most_shakes) if mover.free.any() else 0):
            shaken = _shaken(best.labels, count, mover.free, generator)
            again = mover(shaken, allowed, generator, may_be_empty=may_be_empty)
            in_vain = 0 if again.trace > best.trace + _ROUNDING * abs(best.trace) else in_vain + 1
            best = max(best, again, key=lambda moved: moved.trace)
            if is_interrupted() or (in_vain > _IN_VAIN + 5 * count and S.n >= _SMALL):
                break
        labels = best.labels
        return Partitioned(labels, _named(W, indicators(labels, count, S.weights)), tried)


def _by_eigenvectors(S: Similarity, rows: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    return indicators(discretised(rows, count, generator), count, S.weights) + LIFT


def _by_centroids(S: Similarity, rows: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    near = nearest_centroids(S, seeds(S.n, count, generator), count, 30, _FALL)[0]
    return indicators(near, count, S.weights) + LIFT


def _at_random(S: Similarity, rows: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    return generator.random((S.n, count)) + 0.5


_KINDS = (_by_eigenvectors, _by_centroids, _at_random)
"""The starts of a round."""


def _agree(found: list[tuple[np.ndarray, Moved]]) -> bool:
    """Whether so many starts have come to the best partition that there is little hope for a better one."""
    traces = np.array([moved.trace for _, moved in found])
    return int((traces >= traces.max() - _ROUNDING * abs(traces.max())).sum()) >= _AGREE


def _gain_by_parts(S: Similarity, partitions: list[np.ndarray], count: int) -> bool:
    """Whether some partition is better than one part for all vertices."""
    if S.entries is None:
        return False
    rounding = _ROUNDING * float(abs(S.entries).max())
    return max(trace_of(S, labels, count) for labels in partitions) > trace_of(S, np.zeros(S.n, dtype=np.int64), 1) + rounding


def _settled(
    S: Similarity, mover: Mover | None, W: np.ndarray, labels: np.ndarray, generator: np.random.Generator, may_be_empty: bool
) -> Moved:
    """The partition after moves of vertices, if all are free."""
    if mover is None or not mover.free.all():
        return Moved(labels, trace_of(S, labels, W.shape[1]))
    return mover(labels, _allowed(W, mover.free), generator, may_be_empty=may_be_empty)


def _named(W: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """The columns of W in the order of the parts that they are most like: moves may have exchanged the parts."""
    from scipy.optimize import linear_sum_assignment

    return W[:, linear_sum_assignment(parts.T @ W, maximize=True)[1]]


def _soft(S: Similarity, start: np.ndarray, effort: Effort) -> tuple[np.ndarray, np.ndarray]:
    W = learned(S, start, "auto", effort).factors["W"]
    return W, W.argmax(axis=1)


def _allowed(W: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Where vertices may go: anywhere if they are free, else to parts that W leaves them undecided between."""
    return (_UNDECIDED * W.max(axis=1, keepdims=True) <= W) | free[:, None]


def _shaken(labels: np.ndarray, count: int, free: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Two parts thrown together and cut at random, and every tenth vertex put anywhere, as far as vertices are free."""
    shaken = labels.copy()
    if count > 1:
        a, b = generator.choice(count, 2, replace=False)
        both = free & ((labels == a) | (labels == b))
        shaken[both] = np.where(generator.random(int(both.sum())) < 0.5, a, b)
    anywhere = free & (generator.random(len(labels)) < 0.1)
    shaken[anywhere] = generator.integers(count, size=int(anywhere.sum()))
    return shaken
