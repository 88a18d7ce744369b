"""Base of criteria: parts of the data that do not depend on the rank, a measurement of each part at each rank, and a rule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...exceptions import IncompatibleError, is_count, is_number
from ..rules import Choice, smallest_close
from ..subjects import Rank, Subject

Found = Mapping[str, Any]
"""Numbers and arrays by name: the measurement of one part of the data at one rank."""
Row = Mapping[str, float]
"""Numbers by the names of columns: the summary of all parts at one rank."""


@dataclass(frozen=True)
class Criterion(ABC):
    """A way to judge ranks.

    A scan asks for the parts once, measures every part at every rank, in any order and at the same time, and hands the measurements
    to the rule. Nothing is kept in the criterion itself.

    Parameters
    ----------
    n_repeats : int
        Number of repetitions; its meaning is the criterion's own.

    See Also
    --------
    nonneg.selection.rank_scan : Judges ranks by them.
    Gabriel : Error on held-out blocks, the default.

    Examples
    --------
    >>> from nonneg.selection.criteria import Criterion, Halves
    >>> issubclass(Halves, Criterion)
    True
    """

    n_repeats: int = 1

    name: ClassVar[str]
    """In `rank_scan`, in the table, and in the names of files."""
    shown: ClassVar[str]
    """The column of the table that is drawn."""
    beside: ClassVar[str | None] = None
    """Column of its table that is drawn beside the deciding one."""
    label: ClassVar[str]
    """That column in words."""

    def __post_init__(self) -> None:
        if not is_count(self.n_repeats, 1):
            raise IncompatibleError(f"n_repeats must be an int of at least 1; got {self.n_repeats!r}.")

    @abstractmethod
    def obstacle(self, subject: Subject) -> str | None:
        """Reason that it does not apply to such a subject, or None."""

    def most(self, subject: Subject) -> tuple[int, int]:
        """The largest ranks that it can judge, of samples and of features."""
        return subject.sizes

    @abstractmethod
    def parts(self, subject: Subject, generator: np.random.Generator, y: np.ndarray | None) -> list[Any]:
        """Parts that are measured at every rank."""

    def prepare(self, subject: Subject, wanted: Sequence[tuple[Rank, int]]) -> None:  # noqa: B027
        """Make ready for measurements, by rank and seed, all of which will be asked for."""

    @abstractmethod
    def measure(self, subject: Subject, part: Any, rank: Rank, seed: int) -> Found:
        """Measure a part at a rank."""

    @abstractmethod
    def row(self, found: Sequence[Found]) -> dict[str, float]:
        """Summary of all parts at a rank, for the table."""

    @abstractmethod
    def choose(self, ranks: Sequence[int], found: Sequence[Sequence[Found]], rows: Sequence[Row], axis: int = 0) -> Choice:
        """The rank that it all speaks for, with the row of each; `axis` is 1 where ranks are of features and not of samples."""

    def identity(self) -> dict[str, Any]:
        """Properties that a continued scan must share with the one before."""
        return {"n_repeats": self.n_repeats}


class HeldOut(Criterion):
    """Error on held-out parts of the data: the smallest rank whose error is not distinguishable from the lowest.

    Each measurement has the `error` of a part, and the error of its `margins`: the product of row and column sums of the other
    parts, a model of rank 1 without a fit.
    """

    tolerance: float
    """Smallest difference that counts, as a share of the lowest error or of the explained error, whichever is less."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.tolerance) or self.tolerance < 0:
            raise IncompatibleError(f"tolerance must be a number of at least 0; got {self.tolerance!r}.")

    def row(self, found: Sequence[Found]) -> dict[str, float]:
        return mean_and_error(column(found, "error"), self.name)

    def choose(self, ranks: Sequence[int], found: Sequence[Sequence[Found]], rows: Sequence[Row], axis: int = 0) -> Choice:
        errors = np.array([column(parts, "error") for parts in found])
        return smallest_close(ranks, errors, self.label, self.tolerance, column(found[0], "margins"))


class Folded(HeldOut):
    """Held-out parts are folds."""

    n_folds: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_count(self.n_folds, 2):
            raise IncompatibleError(f"n_folds must be an int of at least 2; got {self.n_folds!r}.")

    def identity(self) -> dict[str, Any]:
        return {"n_repeats": self.n_repeats, "n_folds": self.n_folds}


def column(found: Sequence[Found], name: str) -> np.ndarray:
    """One number of each part."""
    return np.array([float(one[name]) for one in found])


def mean_and_error(values: np.ndarray, name: str) -> dict[str, float]:
    """The mean and its standard error, for the table."""
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
    return {name: float(values.mean()), f"{name} s.e.": error}


def folds(n: int, count: int, generator: np.random.Generator) -> list[np.ndarray]:
    """Items 0 to n − 1, dealt out at random into so many folds of nearly equal size."""
    return [np.sort(fold) for fold in np.array_split(generator.permutation(n), count)]


def others(n: int, fold: np.ndarray) -> np.ndarray:
    """The items that are not in a fold."""
    kept = np.ones(n, dtype=bool)
    kept[fold] = False
    return np.flatnonzero(kept)
