"""Entries held out at random ("speckled"), as RcppML has it: what a rank says about single entries that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...data import as_dense
from ...exceptions import IncompatibleError
from ...naming import is_number
from ..rules import Choice, smallest_close
from ..subjects import Matrix, Rank, Subject
from .base import Criterion, Found, column, mean_and_error
from .gabriel import divergence_between

MISSING = {"missing": "ignore"}
"""How an estimator is told that NaN is an entry that is not known."""


@dataclass(frozen=True)
class Speckled(Criterion):
    """The error on entries that are missing for the fit. It needs an estimator with the parameter ``missing="ignore"``.

    Parameters
    ----------
    n_repeats : int, default=5
        How many times entries are drawn.
    share : float, default=0.1
        Of the entries that are held out.
    tolerance : float, default=0.02
        A rank that is better by less than this share of its error is no better.
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
        if not is_number(self.tolerance) or self.tolerance < 0:
            raise IncompatibleError(f"tolerance must be a number of at least 0; got {self.tolerance!r}.")

    def identity(self) -> dict[str, Any]:
        return {"n_repeats": self.n_repeats, "share": self.share}

    def obstacle(self, subject: Subject) -> str | None:
        if not isinstance(subject, Matrix):
            return f"it holds out entries of a matrix, and this is about {subject.kind}"
        if "missing" not in subject.parameters:
            return (
                f"entries that are held out are missing for the fit, and {subject.name} has no parameter `missing`; use 'gabriel'"
            )
        return None if subject.estimator._reconstructs else "its codes do not give samples back"

    def parts(self, subject: Subject, generator: np.random.Generator, y: np.ndarray | None) -> list[Any]:
        return [int(generator.integers(2**31)) for _ in range(self.n_repeats)]

    def measure(self, subject: Subject, part: Any, rank: Rank, seed: int) -> Found:
        X = np.array(as_dense(subject.data), dtype=np.float64)
        held = np.random.default_rng(part).random(X.shape) < self.share
        truth = X[held][None, :]
        X[held] = np.nan
        model = subject.with_rank(rank, seed, **MISSING).fit(X)
        approximation = model.inverse_transform(model.transform(X))[held][None, :]
        return {"error": divergence_between(truth, np.ones((1, 1)), approximation, model.model_.divergence.separable)}

    def row(self, found: Sequence[Found]) -> dict[str, float]:
        return mean_and_error(column(found, "error"), self.name)

    def choose(self, ranks: Sequence[int], found: Sequence[Sequence[Found]], axis: int = 0) -> Choice:
        return smallest_close(ranks, np.array([column(parts, "error") for parts in found]), self.label, self.tolerance)
