"""What a file holds, once it is read: numbers, and what their rows and columns are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import DataError, FileError


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the features of a sample lie in a picture or a volume.

    Attributes
    ----------
    shape : tuple of int
        Height and width of a picture; the three axes of a volume.
    mask : array of bool of that shape, optional
        Which pixels or voxels are features, in the order of the array; all of them where there is none.
    affine : array of shape (4, 4), optional
        From voxels to millimetres.
    """

    shape: tuple[int, ...]
    mask: np.ndarray | None = None
    affine: np.ndarray | None = None

    @property
    def n_features(self) -> int:
        return int(np.prod(self.shape)) if self.mask is None else int(np.count_nonzero(self.mask))

    def picture(self, values: np.ndarray, outside: float = 0) -> np.ndarray:
        """A row of values, one for each feature, where they lie."""
        if len(values) != self.n_features:
            raise FileError(f"A picture of {self.n_features} features cannot be made of {len(values)} values.")
        if self.mask is None:
            return np.asarray(values).reshape(self.shape)
        picture = np.full(self.shape, outside, dtype=np.asarray(values).dtype)
        picture[self.mask] = values
        return picture


def place(row: int, column: int, samples: Any, features: Any) -> str:
    """A cell in words: the number of its row, and the names of both where they have any."""
    of_row = f"row {row + 1}" + ("" if samples is None else f" ('{samples[row]}')")
    return f"{of_row}, column {column + 1}" if features is None else f"{of_row}, column '{features[column]}'"


def names_of(names: Any, count: int, what: str) -> np.ndarray | None:
    """Names as an array of str, one for each of so many."""
    if names is None:
        return None
    found = np.array([str(name) for name in names], dtype=np.str_)
    if len(found) != count:
        raise FileError(f"There are {len(found)} names for {count} {what}.")
    return found


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers with names.

    Attributes
    ----------
    values : array or csr_array of shape (n_samples, n_features)
        Of a graph, its weights.
    samples, features : array of str, optional
        What rows and columns are called.
    layout : Layout, optional
        Where the features lie in a picture.
    aside : dict of arrays of str
        Columns of text that were left out of the values, by name.
    is_graph : bool
    """

    values: Any
    samples: Any = None
    features: Any = None
    layout: Layout | None = None
    aside: Mapping[str, np.ndarray] = field(default_factory=dict)
    is_graph: bool = False

    def __post_init__(self) -> None:
        values = self.values if sparse.issparse(self.values) else np.asanyarray(self.values)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2:
            raise FileError(f"A table has rows and columns; this has shape {values.shape}.")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "samples", names_of(self.samples, values.shape[0], "rows"))
        object.__setattr__(self, "features", names_of(self.features, values.shape[1], "columns"))

    @property
    def shape(self) -> tuple[int, int]:
        n, m = self.values.shape
        return int(n), int(m)

    def check_not_empty(self, label: str) -> None:
        """Refuse a table without rows or columns."""
        if not min(self.shape):
            raise FileError(f"{label} holds no numbers: {self.shape[0]} rows and {self.shape[1]} columns.")

    def place(self, row: int, column: int) -> str:
        """A cell in words."""
        return place(row, column, self.samples, self.features)

    def refuse(self, wrong: Any, label: str, what: str, remedy: str) -> None:
        """An error that names the first cell, if any is wrong.

        Parameters
        ----------
        wrong : function of an array
            True where an entry is wrong; zeros are right.
        label : str
            What the data are called.
        what : str
            What is wrong with the entry.
        remedy : str
            What to do, as a sentence.
        """
        entries = self.values.data if sparse.issparse(self.values) else self.values
        if entries.dtype.kind not in "fiu" or not (found := wrong(entries)).any():
            return
        if sparse.issparse(self.values):
            table = sparse.coo_array(self.values)
            first = int(np.flatnonzero(wrong(table.data))[0])
            row, column, value = int(table.coords[0][first]), int(table.coords[1][first]), table.data[first]
        else:
            row, column = (int(i) for i in np.unravel_index(int(np.argmax(found)), found.shape))
            value = self.values[row, column]
        count = int(np.count_nonzero(found))
        more = f", and {count - 1} more" if count > 1 else ""
        raise DataError(f"{label}: {self.place(row, column)} is {value:g}, {what}{more}. {remedy}")

    def refuse_negative(self, label: str) -> None:
        """An error that names the first cell below zero."""
        self.refuse(lambda entries: entries < 0, label, "which is below zero", "Non-negative factorizations need numbers ≥ 0.")

    def refuse_missing(self, label: str) -> None:
        """An error that names the first cell that is missing or infinite."""
        remedy = "Fill such cells, or leave out their rows or columns, before fitting."
        self.refuse(lambda entries: ~np.isfinite(entries), label, "which is no number to fit", remedy)
