"""Content of a file: numbers, with names of rows and columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import DataError, FileError
from ..kernels.csr import checked


@dataclass(frozen=True, eq=False)
class Layout:
    """Positions of features in a picture or a volume.

    Attributes
    ----------
    shape : tuple of int
        Height and width of a picture; the three axes of a volume.
    mask : array of bool of that shape, optional
        Which pixels or voxels are features, in the order of the array; all of them by default.
    affine : array of shape (4, 4), optional
        From voxels to millimetres.
    header : array of uint8, optional
        Of brain images: the header to write maps with, in bytes.

    See Also
    --------
    Table : Has one, if its features lie in a picture.
    nonneg.plot.components : Draws components by it.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.files import Layout
    >>> Layout((2, 3), np.array([[True, True, False], [True, True, True]])).mask.sum()
    np.int64(5)
    """

    shape: tuple[int, ...]
    mask: np.ndarray | None = None
    affine: np.ndarray | None = None
    header: np.ndarray | None = None

    def __post_init__(self) -> None:
        shape = self.shape
        if not isinstance(shape, list | tuple) or not all(isinstance(size, int | np.integer) and size > 0 for size in shape):
            raise FileError(f"The layout of a picture or volume is its sizes, whole numbers; got {shape!r}.")
        object.__setattr__(self, "shape", tuple(int(size) for size in shape))
        if self.mask is not None and (self.mask.shape != self.shape or self.mask.dtype != bool):
            raise FileError(f"The mask of a layout of {self.shape} is True or False at each place; got {self.mask.shape}.")
        if self.affine is not None and (self.affine.shape != (4, 4) or self.affine.dtype.kind not in "fiu"):
            raise FileError(f"The affine of a layout is a matrix of 4 × 4 numbers; got {self.affine.shape}.")
        if self.header is not None and (self.header.dtype != np.uint8 or self.header.ndim != 1):
            raise FileError(f"The header of a layout is a row of bytes; got {self.header.dtype} of shape {self.header.shape}.")

    @property
    def is_volume(self) -> bool:
        return len(self.shape) == 3

    @property
    def is_brain(self) -> bool:
        """Whether features are voxels or vertices, rather than pixels."""
        return len(self.shape) != 2

    @property
    def n_features(self) -> int:
        return math.prod(self.shape) if self.mask is None else int(np.count_nonzero(self.mask))

    def where(self, feature: int) -> tuple[int, ...]:
        """The place of a feature in the picture, by its axes, counted from 0."""
        flat = feature if self.mask is None else int(np.flatnonzero(self.mask)[feature])
        return tuple(int(index) for index in np.unravel_index(flat, self.shape))

    def picture(self, values: np.ndarray, outside: float = 0) -> np.ndarray:
        """A row of values, one for each feature, at their positions."""
        if len(values) != self.n_features:
            raise FileError(f"A picture of {self.n_features} features cannot be made of {len(values)} values.")
        if self.mask is None:
            return np.asarray(values).reshape(self.shape)
        picture = np.full(self.shape, outside, dtype=np.asarray(values).dtype)
        picture[self.mask] = values
        return picture


_BLOCK = 1_000_000
"""Entries that are looked at together."""


@dataclass(frozen=True)
class _Counter:
    """The row (0) or the column (1) of each entry of a flat block of rows, without an array of them."""

    start: int
    width: int
    axis: int

    def __getitem__(self, entry: Any) -> int:
        return int(self.start + entry // self.width) if self.axis == 0 else int(entry % self.width)


def place(row: int, column: int, samples: Any, features: Any) -> str:
    """A cell in words: the number of its row, and the names of both if they have any."""
    of_row = f"row {row + 1}" + ("" if samples is None else f" ('{samples[row]}')")
    return f"{of_row}, column {column + 1}" if features is None else f"{of_row}, column '{features[column]}'"


def names_of(names: Any, count: int, what: str) -> np.ndarray | None:
    """Names as an array of str, one for each of so many; bytes that are no text are escaped, so that they can be written."""
    if names is None:
        return None
    found = np.array([str(name).encode("utf8", "backslashreplace").decode("utf8") for name in names], dtype=np.str_)
    if len(found) != count:
        raise FileError(f"There are {len(found)} names for {count} {what}.")
    return found


def is_far(values: Any) -> bool:
    """Whether values are left in their file, to be read in blocks: such have a shape, and a transpose, and are no array."""
    return hasattr(values, "in_blocks")


def empty_rows(values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows of an array or a sparse array without a known value, and rows with known zeros only."""
    rows, columns = values.shape
    is_zero, is_unknown = np.ones(rows, dtype=bool), np.zeros(rows, dtype=bool)
    if sparse.issparse(values):
        entries = sparse.coo_array(values)
        is_zero[entries.coords[0][entries.data != 0]] = False
        return np.flatnonzero(is_unknown), np.flatnonzero(is_zero)
    step = max(1, _BLOCK // max(1, columns))
    for start in range(0, rows, step):
        block = np.asarray(values[start : start + step])
        missing = np.isnan(block)
        is_unknown[start : start + step], is_zero[start : start + step] = missing.all(axis=1), (missing | (block == 0)).all(axis=1)
    return np.flatnonzero(is_unknown), np.flatnonzero(is_zero & ~is_unknown)


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers with names.

    Attributes
    ----------
    values : array, csr_array or Data of shape (n_samples, n_features)
        Of a graph, its weights. `Data` are large matrices that are left in their files, and read in blocks.
    samples, features : array of str, optional
        Names of rows and columns.
    layout : Layout, optional
        Positions of features in a picture.
    aside : dict of arrays of str
        Columns of text that were left out of the values, by name.
    is_graph : bool
    each : str
        What one sample is, "subject"; text has it above the names of samples.

    See Also
    --------
    read : Reads one from a file.
    write : Writes one to a file.
    Layout : Positions of features in a picture.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.files import Table
    >>> table = Table(np.eye(2), features=np.array(["oak", "ash"]))
    >>> table.features.tolist()
    ['oak', 'ash']
    """

    values: Any
    samples: Any = None
    features: Any = None
    layout: Layout | None = None
    aside: Mapping[str, np.ndarray] = field(default_factory=dict)
    is_graph: bool = False
    each: str = ""

    def __post_init__(self) -> None:
        values = checked(self.values, "The table")
        values = values if sparse.issparse(values) or is_far(values) else np.asanyarray(values)
        values = values[:, None] if len(values.shape) == 1 else values
        if len(values.shape) != 2:
            raise FileError(f"A table has rows and columns; this has shape {values.shape}.")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "samples", names_of(self.samples, values.shape[0], "rows"))
        object.__setattr__(self, "features", names_of(self.features, values.shape[1], "columns"))
        if self.layout is not None and self.layout.n_features != values.shape[1]:
            raise FileError(f"A layout of {self.layout.n_features} features does not suit a table of {values.shape[1]} columns.")

    @property
    def shape(self) -> tuple[int, int]:
        n, m = self.values.shape
        return int(n), int(m)

    @property
    def is_far(self) -> bool:
        """Whether the values are left in their file, to be read, and checked, in blocks."""
        return is_far(self.values)

    @property
    def T(self) -> Table:
        """Features in the place of samples."""
        return Table(self.values.T, self.features, self.samples)

    def check_not_empty(self, label: str) -> None:
        """Refuse a table without rows or columns."""
        if not min(self.shape):
            raise FileError(f"{label} holds no numbers: {self.shape[0]} rows and {self.shape[1]} columns.")

    def place(self, row: int, column: int) -> str:
        """A cell in words; of a picture or a volume, its position, counted from 0 as viewers do."""
        if self.layout is None or self.layout.n_features != self.shape[1]:
            return place(row, column, self.samples, self.features)
        whole, part = {1: ("map", "vertex"), 2: ("image", "pixel"), 3: ("volume", "voxel")}[len(self.layout.shape)]
        name = f"{row + 1}" if self.samples is None else f"{row + 1} ('{self.samples[row]}')"
        return f"{whole} {name}, {part} {', '.join(map(str, self.layout.where(column)))}"

    def refuse(self, wrong: Any, label: str, what: str, remedy: str) -> None:
        """An error that names the first cell, if any is wrong.

        Parameters
        ----------
        wrong : function of an array
            True for wrong entries; zeros are right.
        label : str
            Name of the data.
        what : str
            The fault of the entry.
        remedy : str
            The remedy, as a sentence.
        """
        if self.is_far or self.values.dtype.kind not in "fiu":
            return
        count, first = 0, None
        for rows, columns, entries in self._blocks():
            found = np.flatnonzero(wrong(entries))
            count += len(found)
            if first is None and len(found):
                first = int(rows[found[0]]), int(columns[found[0]]), entries[found[0]]
        if first is not None:
            more = f", and {count - 1} more" if count > 1 else ""
            raise DataError(f"{label}: {self.place(*first[:2])} is {first[2]:g}, {what}{more}. {remedy}")

    def _blocks(self) -> Iterator[tuple[Any, Any, np.ndarray]]:
        """The entries in flat blocks of rows, with their rows and columns; an array that is mapped from a file is read but once."""
        if sparse.issparse(self.values):
            entries = sparse.coo_array(self.values)
            yield *entries.coords, entries.data
            return
        n, m = self.shape
        step = max(1, _BLOCK // m)
        for start in range(0, n, step):
            block = np.asarray(self.values[start : start + step]).ravel()
            yield _Counter(start, m, 0), _Counter(start, m, 1), block

    def refuse_negative(self, label: str, remedy: str = "Non-negative factorizations need numbers ≥ 0.") -> None:
        """An error that names the first cell below zero."""
        self.refuse(lambda entries: entries < 0, label, "which is below zero", remedy)

    def clipped(self) -> tuple[Table, int, float]:
        """The table with 0 in place of cells below zero, how many there were, and the lowest of them."""
        count, lowest = 0, 0.0
        for _, _, entries in self._blocks():
            below = entries[entries < 0]
            count += len(below)
            lowest = min(lowest, float(below.min(initial=0)))
        if not count:
            return self, 0, 0.0
        if isinstance(self.values, np.memmap) and self.values.flags.writeable:  # scans that are too many for memory
            for _, _, entries in self._blocks():
                np.maximum(entries, 0, out=entries)
            return self, count, lowest
        return replace(self, values=self.values * (self.values > 0)), count, lowest

    def empty_samples(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows without a known value, and those that are zero in all that is known; none of data that are left in a file."""
        if self.is_far or self.values.dtype.kind not in "fiu":
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return empty_rows(self.values)

    def samples_in_words(self, rows: np.ndarray, most: int = 5) -> str:
        """Samples by their numbers, from 1, and names."""
        named = [f"{row + 1}" if self.samples is None else f"{row + 1} ('{self.samples[row]}')" for row in rows[:most]]
        return f"{'Sample' if len(rows) == 1 else 'Samples'} {', '.join(named)}" + (
            f" and {len(rows) - most} more" if len(rows) > most else ""
        )

    def refuse_missing(self, label: str, remedy: str = "") -> None:
        """An error that names the first cell that is missing or infinite."""
        remedy = remedy or "Fill such cells, or leave out their rows or columns, before fitting."
        self.refuse(lambda entries: ~np.isfinite(entries), label, "which is no number to fit", remedy)

    def refuse_infinite(self, label: str) -> None:
        """An error that names the first cell that is infinite; missing ones may be."""
        self.refuse(np.isinf, label, "which is no number to fit", "Infinite entries cannot be approximated.")
