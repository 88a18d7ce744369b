"""The error of the fit itself: how much each further component lowers it, beside its fall on permuted data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ...data import as_dense
from ...kernels.tuned import tuned
from ..rules import Choice
from ..subjects import Matrix, Rank, Subject
from .base import Criterion, Found, Row, column


@dataclass(frozen=True)
class Error(Criterion):
    """The reconstruction error, its gradient, and the same of data whose columns are permuted independently.

    The error falls with every component. Permuted columns have the same entries and nothing in common but their means; a
    component of the data that lowers the error by no more than one of these does is noise (Frigyesi and Höglund 2008). More is: by
    more than two standard deviations between permutations, and by more than a tenth.

    Parameters
    ----------
    n_repeats : int, default=3
        How many permutations; the data themselves are fitted once.

    See Also
    --------
    nonneg.selection.rank_scan : Judges ranks by it.
    Gabriel : The error on data that were held out.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMF
    >>> from nonneg.selection import rank_scan
    >>> from nonneg.selection.criteria import Error
    >>> draw = np.random.default_rng(0)
    >>> X = draw.random((24, 2)) @ draw.random((2, 16))
    >>> rank_scan(NMF(), X, [1, 2, 3], criteria=Error(n_repeats=1), random_state=0).best_
    2
    """

    n_repeats: int = 3

    name: ClassVar[str] = "error"
    shown: ClassVar[str] = "error"
    label: ClassVar[str] = "reconstruction error"

    def obstacle(self, subject: Subject) -> str | None:
        return None if isinstance(subject, Matrix) else f"it permutes the columns of a matrix, and this is about {subject.kind}"

    def parts(self, subject: Subject, generator: np.random.Generator, y: np.ndarray | None) -> list[Any]:
        return [None, *(int(generator.integers(2**31)) for _ in range(self.n_repeats))]

    def measure(self, subject: Subject, part: Any, rank: Rank, seed: int) -> Found:
        data = subject.data if part is None else permuted(subject.data, np.random.default_rng(part))
        return {"error": float(subject.fit(data, rank, seed).reconstruction_err_)}

    def row(self, found: Sequence[Found]) -> dict[str, float]:
        errors = column(found, "error")
        return {"error": float(errors[0]), "error permuted": float(errors[1:].mean())}

    def choose(self, ranks: Sequence[int], found: Sequence[Sequence[Found]], rows: Sequence[Row], axis: int = 0) -> Choice:
        if len(ranks) == 1:
            return Choice(ranks[0], f"Rank {ranks[0]} is the only one that was scanned.")
        errors = np.array([column(parts, "error") for parts in found])
        falls = -np.diff(errors, axis=0) / np.diff(ranks)[:, None]  # for each further component
        own, chance = falls[:, 0], falls[:, 1:].mean(axis=1)
        real = own > _beyond_chance(falls[:, 1:])
        steps = len(real) if real.all() else int(np.argmin(real))  # those before the first that is noise
        rank = ranks[steps]
        if steps == len(real):
            return Choice(rank, f"Components lower the {self.label} by more than chance up to {rank}, the largest rank: scan more.")
        if steps == 0 and rank == 1:
            return Choice(rank, f"Rank 1: no further component lowers the {self.label} by more than in permuted data.")
        if steps == 0:
            return Choice(
                rank,
                f"No component after {rank}, the smallest rank scanned, lowers the {self.label} by more than in permuted data: "
                "scan smaller ranks.",
            )
        return Choice(
            rank,
            f"Up to rank {rank} each component lowers the {self.label} by more than in permuted data; the next one by "
            f"{own[steps]:.3g}, beside {chance[steps]:.3g} there.",
        )


_MARGIN, _DEVIATIONS = tuned((0.1, 2.0), by="ranks", on="2026-11-17")
"""Margin of a component above chance, as a share of it and in standard deviations between permutations."""


def _beyond_chance(falls: np.ndarray) -> np.ndarray:
    """Threshold of a fall, for each step; falls of permuted data are steps × permutations.

    Falls differ by about as much at every step, so that few permutations are enough to tell by how much.
    """
    n_repeats = falls.shape[1]
    chance = np.maximum(falls.mean(axis=1), 0.0)
    deviation = float(np.sqrt(falls.var(axis=1, ddof=1).mean() * (1 + 1 / n_repeats))) if n_repeats > 1 else 0.0
    return chance + np.maximum(_MARGIN * chance, _DEVIATIONS * deviation)


def permuted(X: Any, generator: np.random.Generator) -> Any:
    """X with the entries of each column in an order of their own."""
    if not sparse.issparse(X):
        return generator.permuted(np.asarray(as_dense(X)), axis=0)
    by_columns = sparse.csc_array(X)
    indices = np.concatenate(
        [generator.permutation(X.shape[0])[:count] for count in np.diff(by_columns.indptr)] or [np.empty(0, dtype=np.int64)]
    )
    return sparse.csr_array(sparse.csc_array((by_columns.data, indices, by_columns.indptr), shape=X.shape))
