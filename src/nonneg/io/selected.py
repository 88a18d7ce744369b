"""Some rows and columns of a file, in an order of their own."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from .stored import StoredMatrix


class Selected(StoredMatrix):
    """A part of another source, read without the rows and columns that are left out.

    Parameters
    ----------
    source : StoredMatrix
    samples, features : array of int, optional
        Rows and columns of X; all of them by default.
    """

    def __init__(self, source: StoredMatrix, samples: np.ndarray | None = None, features: np.ndarray | None = None) -> None:
        self._source, self.name, self.dtype = source, source.name, source.dtype
        self.is_sparse, self.is_turned, self.grain = source.is_sparse, source.is_turned, 1
        self._samples, self._features = samples, features
        self._rows, self._columns = (features, samples) if source.is_turned else (samples, features)
        self.shape = (
            source.shape[0] if self._rows is None else len(self._rows),
            source.shape[1] if self._columns is None else len(self._columns),
        )

    def read(self, start: int, stop: int) -> Any:
        found = self._source.read(start, stop) if self._rows is None else self._source.read_some(self._rows[start:stop])
        return found if self._columns is None else found[:, self._columns]

    @property
    def feature_names(self) -> list[str] | None:
        return _chosen(self._source.feature_names, self._features)

    @property
    def sample_names(self) -> list[Any] | None:
        return _chosen(self._source.sample_names, self._samples)

    @property
    def path(self) -> str:
        return self._source.path

    def stamp(self) -> Hashable:
        return self._source.stamp()

    def changed(self, before: Hashable) -> str | None:
        return self._source.changed(before)

    def place(self, row: int) -> str:
        return self._source.place(row if self._rows is None else int(self._rows[row]))


def _chosen(names: list[Any] | None, places: np.ndarray | None) -> list[Any] | None:
    return names if names is None or places is None else [names[place] for place in places]
