"""Entries held out at random ("speckled"), as RcppML has it: error of a rank on single entries that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ...data import as_dense
from ...data.visiting import row_blocks
from ...divergences import Objective
from ...exceptions import IncompatibleError, is_number
from ..subjects import Matrix, Rank, Subject
from .base import Found, HeldOut
from .gabriel import beyond_rounding, divergence_between

MISSING = {"missing": "ignore"}
"""How an estimator is told that NaN is an entry that is not known."""
_FEW = 4
"""Entries of X, at least."""


@dataclass(frozen=True)
class Speckled(HeldOut):
    """The error on entries that are missing for the fit. It needs an estimator with the parameter ``missing="ignore"``.

    Held-out entries are never missing ones.

    Parameters
    ----------
    n_repeats : int, default=5
        How many times entries are drawn.
    share : float, default=0.1
        Of the entries that are held out.
    tolerance : float, default=0.02
        Smallest difference between ranks that counts: this share of the lowest error, or of the explained error if that is less.
        The explained error is the fall from the product of margins to the lowest rank.

    See Also
    --------
    nonneg.selection.rank_scan : Judges ranks by it.
    Gabriel : Holds out whole blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMF
    >>> from nonneg.selection import rank_scan
    >>> from nonneg.selection.criteria import Speckled
    >>> draw = np.random.default_rng(0)
    >>> X = draw.random((24, 2)) @ draw.random((2, 16))
    >>> rank_scan(NMF(missing="ignore"), X, [1, 2, 3], criteria=Speckled(n_repeats=1), random_state=0).best_
    2
    """

    n_repeats: int = 5
    share: float = 0.1
    tolerance: float = 0.02

    name: ClassVar[str] = "speckled"
    shown: ClassVar[str] = "speckled"
    label: ClassVar[str] = "error on held-out entries"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.share) or not 0 < self.share < 1:
            raise IncompatibleError(f"share must be a number between 0 and 1; got {self.share!r}.")

    def identity(self) -> dict[str, Any]:
        return {"n_repeats": self.n_repeats, "share": self.share}

    def obstacle(self, subject: Subject) -> str | None:
        if not isinstance(subject, Matrix):
            return f"it holds out entries of a matrix, and this is about {subject.kind}"
        if "missing" not in subject.parameters:
            return (
                f"entries that are held out are missing for the fit, and {subject.name} has no parameter `missing`; use 'gabriel'"
            )
        if subject.data.shape[0] * subject.data.shape[1] < _FEW:
            return f"{subject.extent}, and fewer than {_FEW} entries are too few to hold some out"
        return None if subject.estimator._reconstructs else "its codes do not give samples back"

    def parts(self, subject: Subject, generator: np.random.Generator, y: np.ndarray | None) -> list[Any]:
        return [int(generator.integers(2**31)) for _ in range(self.n_repeats)]

    def measure(self, subject: Subject, part: Any, rank: Rank, seed: int) -> Found:
        assert isinstance(subject, Matrix)
        rest, rows, columns, truth = divided(subject, self.share, np.random.default_rng(part))
        model = subject.fit(rest, rank, seed, **MISSING)
        codes, loadings = model.transform(subject.as_given(rest)), model.components_.T
        some = row_blocks(len(truth), codes.shape[1], "cpu")
        approximation = np.concatenate([np.einsum("ij,ij->i", codes[rows[few]], loadings[columns[few]]) for few in some])
        divergence = model.model_.divergence.separable
        return {
            "error": _error(truth, approximation, divergence),
            "margins": _error(truth, _margins(rest, rows, columns, subject.is_observed), divergence),
        }


def _error(truth: np.ndarray, approximation: np.ndarray, divergence: Objective) -> float:
    error = divergence_between(truth[None, :], np.ones((1, 1)), approximation[None, :], divergence)
    return beyond_rounding(error, truth[None, :], divergence)


def _margins(rest: Any, rows: np.ndarray, columns: np.ndarray, is_observed: bool) -> np.ndarray:
    """Predict held-out entries by the means of their rows and columns over the entries that are known: rank 1, without a fit."""
    known: tuple[Any, ...]
    if is_observed:
        known, values = (np.repeat(np.arange(rest.shape[0]), np.diff(rest.indptr)), rest.indices), rest.data
    else:
        known = np.nonzero(~np.isnan(rest))
        values = rest[known]
    mean = values.mean() if len(values) else 0.0
    of_rows, of_columns = (
        np.bincount(place, values, size) / np.maximum(np.bincount(place, minlength=size), 1)
        for place, size in zip(known, rest.shape, strict=True)
    )
    return np.asarray(of_rows[rows] * of_columns[columns] / (mean if mean > 0 else 1.0))


def divided(subject: Matrix, share: float, generator: np.random.Generator) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """The data without a share of the entries that are known; the rows, the columns and the values of these, one at least."""
    if subject.is_observed:
        X = subject.data
        rows, columns = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices
        held = _drawn(np.ones(X.nnz, dtype=bool), share, generator)
        rest = sparse.csr_array((X.data[~held], (rows[~held], columns[~held])), shape=X.shape)
        return rest, rows[held], columns[held], X.data[held]
    values = np.array(as_dense(subject.data), dtype=np.float64)
    rows, columns = np.nonzero(_drawn(~np.isnan(values), share, generator))
    truth = values[rows, columns]
    values[rows, columns] = np.nan
    return values, rows, columns, truth


def _drawn(known: np.ndarray, share: float, generator: np.random.Generator) -> np.ndarray:
    """Mask of the held-out entries, a share of the known ones."""
    held = known & (generator.random(known.shape) < share)
    if not held.any():
        held.flat[generator.choice(np.flatnonzero(known))] = True
    return held
