"""The default: vertices moved one by one, partitions shaken, √ONL from starts of several kinds, and the best kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from ...data.signed import stored
from ...exceptions import IncompatibleError
from ...kernels.tuned import tuned
from ...solve.progress import is_interrupted
from .._partitions import Moved, Mover, indicators, trace_of
from ..similarities import Similarity
from .base import Effort, Method, Partitioned
from .kernel_kmeans import nearest_centroids, seeds
from .nonnegative import LIFT, learned
from .pod import discretised, eigenrows

_ITERATIONS = 100
"""Iterations of kernel K-means from each start, at most."""
_FALL = tuned(0.1, by="communities", on="2026-11-16")
"""By what share the trace may fall below its best before kernel K-means is left: it is one guess of several here."""
_BUDGET = tuned(2e9, by="communities", on="2026-11-15")
"""Multiplications with S that all starts together may take, about; one start is always made."""
_AGREE = tuned(4, by="communities", on="2026-11-16")
"""Partitions that must be equally good, and the best, for no further round of starts; the eigenvectors' own may be one of them."""
_ROUNDING = 1e-9
"""The share by which traces of one partition may differ."""
_SHAKES = tuned(200, by="communities", on="2026-11-17")
"""For each round of starts, at most."""
_IN_VAIN = tuned(200, by="communities", on="2026-11-17")
"""Shakes without a gain, and five more for each part, after which there are no more, of graphs that are not small."""
_RETURNS = tuned(12, by="communities", on="2026-11-17")
"""Shakes that have come back to the best partition, after which there are no more from one start."""
_SMALL = tuned(500, by="communities", on="2026-11-16")
"""Vertices below which all shakes are made: they cost little, and a gain may come late (ONL's Korea: .785, then .795)."""
_DENSE = tuned(400, by="communities", on="2026-11-17")
"""Vertices above which a few products with S take less time than an array of all of it, where S is sparse."""
_SPARSE = tuned(10, by="communities", on="2026-11-17")
"""How many times fewer non-zeros than entries S then has."""
_UNDECIDED = 0.1
"""The share of its largest membership that another must have for a vertex to be undecided between them."""


@dataclass(frozen=True)
class Refined(Method):
    """Moves of single vertices, and soft parts W by √ONL.

    A move is made if it raises the trace, whatever the signs of the eigenvalues of S. Vertices that gain nothing by a part of their
    own are free: they may go anywhere. Where all are, as in graphs without loops, partitions are moved and shaken first, from the
    eigenvectors and from random numbers; shakes that come back to the best partition tell that there is hardly a better one. W
    starts from that. Where no shake comes back, or W leads to something better, where not all vertices are free, and where one
    part for all of them would be best, as for a negative Laplacian, whose shakes come back to cuts of single vertices, W starts
    from eigenvectors, from kernel K-means and from random numbers too, and the best partition is moved and shaken.

    Vertices that would gain by a part of their own (S_ii > 0, as with cosines) are moved only between parts that W leaves them
    undecided between: the trace alone would single them out until one part is left for all others.

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
        search = _Search(S, count, generator, effort, self.may_be_empty)
        done = search.shake_free()
        if done is not None:
            return done
        search.settle_round()
        while search.goes_on():
            search.settle_round()
        return search.shake_best()


class _Search:
    """Starts of one partition, and the best of what they lead to.

    Attributes
    ----------
    most_rounds : int
        How many rounds of starts there may be; with none, one start is made.
    rows : array
        Rows of eigenvectors.
    mover : Mover or None
        None for an S without entries, whose vertices are not moved.
    may_be_empty : bool
        Whether there may be fewer parts than asked for, as far as that is known by now.
    found : list
        Soft parts, and the partition that each leads to.
    rounds : int
        Rounds of starts made.
    """

    def __init__(
        self, S: Similarity, count: int, generator: np.random.Generator, effort: Effort, may_be_empty: bool | None
    ) -> None:
        self.S, self.count, self.generator, self.n_init = S, count, generator, effort.n_init
        cost = 2.0 * _ITERATIONS * count * (stored(S.positive) + (0 if S.negative is None else stored(S.negative)))
        self.most_rounds = int(np.clip(_BUDGET / cost / 3, 0, effort.n_init))
        self.limited = effort._replace(max_iter=min(effort.max_iter, _ITERATIONS))
        is_sparse = sparse.issparse(S.entries) and _SPARSE * S.entries.nnz < S.n**2
        self.rows = eigenrows(S, count, generator, _DENSE if is_sparse else None)
        self.mover = None if S.entries is None else Mover(S)
        self.given, self.may_be_empty = may_be_empty, bool(may_be_empty)
        self.found: list[tuple[np.ndarray, Moved]] = []
        self.rounds = 0

    def shake_free(self) -> Partitioned | None:
        """Where all vertices are free, shake partitions before there is any W; the result, if shakes and W come back to it."""
        S, mover, count, generator = self.S, self.mover, self.count, self.generator
        if mover is None or not self.most_rounds or not mover.free.all():
            return None
        own = discretised(self.rows, count, generator)
        if self.given is None:
            starts, allowed = (own, seeds(S.n, count, generator)), np.ones((S.n, count), dtype=bool)
            self.may_be_empty = _gain_by_parts(S, [mover(start, allowed, generator).labels for start in starts], count)
            if not self.may_be_empty:
                return None
        best, tried = _searched(S, mover, own, count, generator, self.n_init, self.may_be_empty)
        W, labels = _soft(S, indicators(best.labels, count, S.weights) + LIFT, self.limited)
        again = _settled(S, mover, W, labels, generator, self.may_be_empty)
        if is_interrupted() or (best.returns and again.trace <= best.trace + _ROUNDING * abs(best.trace)):
            return Partitioned(best.labels, _named(W, indicators(best.labels, count, S.weights)), tried)
        self.found.append((W, max(best, again, key=lambda moved: moved.trace)))
        return None

    def goes_on(self) -> bool:
        """Whether another round of starts may be made, and may find something better."""
        return self.rounds < self.most_rounds and not _agree([moved for _, moved in self.found]) and not is_interrupted()

    def settle_round(self) -> None:
        """Make a start of each kind, W from it, and the partition that W leads to; at first the eigenvectors' own, too."""
        S, count, generator = self.S, self.count, self.generator
        guesses = [guess(S, self.rows, count, generator) for guess in (_KINDS if self.most_rounds else _KINDS[:1])]
        soft = _soften(S, guesses, self.limited)
        if not self.rounds:
            soft.append((soft[0][0], guesses[0].argmax(axis=1)))
            if self.given is None:
                self.may_be_empty = self.may_be_empty or _gain_by_parts(S, [labels for _, labels in soft], count)
        self.found += [(W, _settled(S, self.mover, W, labels, generator, self.may_be_empty)) for W, labels in soft]
        self.rounds += 1

    def shake_best(self) -> Partitioned:
        """Shake the best partition found, and move its vertices; without entries of S, put them to the nearest centroids."""
        S, mover, count, tried = self.S, self.mover, self.count, len(self.found) - 1
        W, best = max(self.found, key=lambda pair: pair[1].trace)
        if mover is None:
            return Partitioned(nearest_centroids(S, best.labels, count, 30, _FALL)[0], W, tried)
        most_shakes = min(_SHAKES * min(self.rounds, self.most_rounds), _BUDGET / 4 / (stored(S.entries) + S.n * count))
        labels = mover(
            best.labels,
            _allowed(W, mover.free),
            self.generator,
            may_be_empty=self.may_be_empty,
            shakes=int(most_shakes) if mover.free.any() else 0,
            in_vain=_IN_VAIN + 5 * count if S.n >= _SMALL else _SHAKES * self.rounds,
        ).labels
        return Partitioned(labels, _named(W, indicators(labels, count, S.weights)), tried)


def _searched(
    S: Similarity,
    mover: Mover,
    own: np.ndarray,
    count: int,
    generator: np.random.Generator,
    most: int,
    may_be_empty: bool,
) -> tuple[Moved, int]:
    """The best of partitions that are shaken until they come back often: the eigenvectors' `own`, and some at random.

    There are `most` of them at most, and no more once some agree. One is enough of graphs that are not small, where random ones are
    a long way from good, and where the first seldom comes back. Returns how many were tried, too.
    """
    allowed = np.ones((S.n, count), dtype=bool)
    shakes = int(min(_SHAKES * most, _BUDGET / 4 / (stored(S.entries) + S.n * count)))
    in_vain = _IN_VAIN + 5 * count
    found: list[Moved] = []
    while len(found) < most and not _agree(found) and not is_interrupted():
        start = own if not found else seeds(S.n, count, generator)
        found.append(mover(start, allowed, generator, may_be_empty=may_be_empty, shakes=shakes, in_vain=in_vain, returns=_RETURNS))
        if found[0].returns < _RETURNS or S.n >= _SMALL:
            break
    return max(found, key=lambda moved: moved.trace), len(found)


def _by_eigenvectors(S: Similarity, rows: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    return indicators(discretised(rows, count, generator), count, S.weights) + LIFT


def _by_centroids(S: Similarity, rows: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    near = nearest_centroids(S, seeds(S.n, count, generator), count, 30, _FALL)[0]
    return indicators(near, count, S.weights) + LIFT


def _at_random(S: Similarity, rows: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    return generator.random((S.n, count)) + 0.5


_KINDS = (_by_eigenvectors, _by_centroids, _at_random)
"""The starts of a round."""


def _agree(found: list[Moved]) -> bool:
    """Whether so many starts have come to the best partition that there is little hope for a better one."""
    traces = np.array([moved.trace for moved in found])
    return len(found) >= _AGREE and int((traces >= traces.max() - _ROUNDING * abs(traces.max())).sum()) >= _AGREE


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


def _soften(S: Similarity, guesses: list[np.ndarray], effort: Effort) -> list[tuple[np.ndarray, np.ndarray]]:
    """W and its partition from each guess; after an interruption from no more of them."""
    soft = []
    for guess in guesses:
        soft.append(_soft(S, guess, effort))
        if is_interrupted():
            break
    return soft


def _soft(S: Similarity, start: np.ndarray, effort: Effort) -> tuple[np.ndarray, np.ndarray]:
    W = learned(S, start, "auto", effort).factors["W"]
    return W, W.argmax(axis=1)


def _allowed(W: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Mask of the parts allowed to each vertex: all if it is free, else those with memberships near its largest."""
    return (_UNDECIDED * W.max(axis=1, keepdims=True) <= W) | free[:, None]
