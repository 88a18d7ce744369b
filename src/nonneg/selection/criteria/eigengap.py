"""The eigengap of a graph: the largest fall of the eigenvalues of its similarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...kernels.eigenvectors import leading
from ..rules import Choice
from ..subjects import Rank, Subject, Vertices
from .base import Criterion, Found, Row, column

_ROUNDING = 1e-12
"""Gaps below that are none: the largest eigenvalues of similarities are about one."""


@dataclass(frozen=True)
class Eigengap(Criterion):
    """The gap λ_k − λ_{k+1} of the similarity matrix. k parts with few edges between them have k eigenvalues near the largest.

    It costs next to nothing, and looks at no partition. Parts of very different size or density blur it. The gap after the first
    eigenvalue says that the graph is in one piece, and not that it has one part: rank 1 is chosen only if no other is scanned.

    Parameters
    ----------
    n_repeats : int, default=1
        There is nothing to repeat.

    See Also
    --------
    nonneg.selection.rank_scan : Judges ranks by it.
    Subsamples : Compares partitions.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.graph import GraphClustering
    >>> from nonneg.selection import rank_scan
    >>> from nonneg.selection.criteria import Eigengap
    >>> draw = np.random.default_rng(0)
    >>> X = np.kron(np.eye(2), np.ones((8, 8)))
    >>> rank_scan(GraphClustering(2), X, [2, 3], criteria=Eigengap(), random_state=0).best_
    2
    """

    name: ClassVar[str] = "eigengap"
    shown: ClassVar[str] = "eigengap"
    label: ClassVar[str] = "gap between eigenvalues"

    def obstacle(self, subject: Subject) -> str | None:
        return None if isinstance(subject, Vertices) else f"it is about graphs, and this is about {subject.kind}"

    def most(self, subject: Subject) -> tuple[int, int]:
        n = subject.sizes[0] - 1
        return n, n

    def parts(self, subject: Subject, generator: np.random.Generator, y: np.ndarray | None) -> list[Any]:
        assert isinstance(subject, Vertices)
        return [subject.similarity()]

    def measure(self, subject: Subject, part: Any, rank: Rank, seed: int) -> Found:
        assert isinstance(rank, int)
        values, _ = leading(part, rank + 1, np.random.default_rng(seed))
        return {"gap": float(values[rank - 1] - values[rank])}

    def row(self, found: Sequence[Found]) -> dict[str, float]:
        return {self.name: float(column(found, "gap")[0])}

    def choose(self, ranks: Sequence[int], found: Sequence[Sequence[Found]], rows: Sequence[Row], axis: int = 0) -> Choice:
        gaps = np.array([column(parts, "gap")[0] for parts in found])
        gaps = np.where(gaps > _ROUNDING, gaps, 0.0)
        if len(ranks) > 1 and ranks[0] == 1:
            ranks, gaps = ranks[1:], gaps[1:]
        place = int(np.argmax(gaps))
        others = np.delete(gaps, place)
        beside = f", {gaps[place] / others.max():.2g} times the next largest" if len(others) and others.max() > 0 else ""
        if not gaps[place] > 0:
            return Choice(
                ranks[place], f"No {self.label} is more than rounding; {ranks[place]} is only the smallest rank scanned.", False
            )
        return Choice(ranks[place], f"The {self.label} is largest after the first {ranks[place]}: {gaps[place]:.3g}{beside}.")
