"""Stability of partitions: whether a graph without some of its vertices falls into the same parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import adjusted_rand_score

from ...exceptions import IncompatibleError, is_number
from ..rules import Choice, last_above, medians
from ..subjects import Rank, Subject, Vertices
from .base import Criterion, Found, Row, column, mean_and_error


@dataclass(frozen=True)
class Subsamples(Criterion):
    """The adjusted Rand index between partitions of two subgraphs, on the vertices that both have.

    A partition may have fewer parts than it was asked for: two cliques fall into two parts whatever the rank. Such a rank is not
    found again, and counts as zero. So does one of which a subgraph has no edges left; vertices without any belong nowhere.

    Parameters
    ----------
    n_repeats : int, default=5
        How many pairs of subgraphs.
    share : float, default=0.8
        Of the vertices that a subgraph has.
    threshold : float, default=0.9
        The index above which parts count as found again.

    See Also
    --------
    nonneg.selection.rank_scan : Judges ranks by it.
    Eigengap : Looks at no partition.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.graph import GraphClustering
    >>> from nonneg.selection import rank_scan
    >>> from nonneg.selection.criteria import Subsamples
    >>> draw = np.random.default_rng(0)
    >>> X = np.kron(np.eye(2), np.ones((6, 6)))
    >>> rank_scan(GraphClustering(2), X, [2, 3], criteria=Subsamples(n_repeats=1), random_state=0).best_
    2
    """

    n_repeats: int = 5
    share: float = 0.8
    threshold: float = 0.9

    name: ClassVar[str] = "subsamples"
    shown: ClassVar[str] = "subsamples Rand index"
    label: ClassVar[str] = "Rand index between partitions of subgraphs"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("share", "threshold"):
            if not is_number(getattr(self, name)) or not 0 < getattr(self, name) <= 1:
                raise IncompatibleError(f"{name} must be a number above 0, and 1 at most; got {getattr(self, name)!r}.")

    def identity(self) -> dict[str, Any]:
        return {"n_repeats": self.n_repeats, "share": self.share}

    def obstacle(self, subject: Subject) -> str | None:
        return None if isinstance(subject, Vertices) else f"it is about graphs, and this is about {subject.kind}"

    def most(self, subject: Subject) -> tuple[int, int]:
        n = int(self.share * subject.sizes[0])
        return n, n

    def parts(self, subject: Subject, generator: np.random.Generator, y: np.ndarray | None) -> list[Any]:
        n = subject.sizes[0]
        count = int(self.share * n)
        return [tuple(np.sort(generator.permutation(n)[:count]) for _ in range(2)) for _ in range(self.n_repeats)]

    def measure(self, subject: Subject, part: Any, rank: Rank, seed: int) -> Found:
        n = subject.sizes[0]
        labels = np.full((2, n), -1)
        for row, vertices in enumerate(part):
            # In an order of their own: vertices that nothing tells apart would be parted alike in both by the order alone.
            vertices = np.random.default_rng([seed, row]).permutation(vertices)
            subgraph = subject.data[vertices][:, vertices]
            joined = np.asarray(abs(subgraph).sum(axis=0) + abs(subgraph).sum(axis=1).T).ravel() > 0
            if joined.sum() < np.max(rank):
                return {"rand": 0.0, "parts": 0}
            subgraph, vertices = subgraph[joined][:, joined], vertices[joined]
            labels[row, vertices] = subject.fit(subgraph, rank, seed + row).labels_
        a, b = labels[:, (labels >= 0).all(axis=0)]
        parts = min(len(np.unique(own[own >= 0])) for own in labels)
        return {"rand": float(adjusted_rand_score(a, b)) if parts == rank else 0.0, "parts": parts}

    def row(self, found: Sequence[Found]) -> dict[str, float]:
        return mean_and_error(column(found, "rand"), f"{self.name} Rand index") | {f"{self.name} parts": self._parts(found)}

    def _parts(self, found: Sequence[Found]) -> float:
        """How many parts the partitions have, in the median."""
        return float(np.median(column(found, "parts")))

    def choose(self, ranks: Sequence[int], found: Sequence[Sequence[Found]], rows: Sequence[Row], axis: int = 0) -> Choice:
        values = np.array([np.median(column(parts, "rand")) for parts in found])
        choice = last_above(ranks, values, self.threshold, self.label, medians(len(found[0])))
        fewer = [rank for rank, parts in zip(ranks, found, strict=True) if self._parts(parts) < rank]
        note = f" Partitions have fewer parts than they were asked for at {', '.join(map(str, fewer))}." if fewer else ""
        return choice._replace(why=choice.why + note)
