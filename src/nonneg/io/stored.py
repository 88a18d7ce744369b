"""A matrix that lies in a file: its shape, and ranges of its rows."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import DataError, FileError


class StoredMatrix(ABC):
    """A matrix that lies in a file, of which ranges of rows can be read."""

    name: str
    """The file, as messages call it."""
    shape: tuple[int, int]
    dtype: np.dtype
    """Of the entries as they lie there."""
    is_sparse: bool = False
    is_turned: bool = False
    """Whether the file stores Xᵀ: rows here are then columns of X."""
    of_features: bool = False
    """Whether it was said that the file holds Xᵀ, its rows being features; messages then name features and samples."""
    grain: int = 1
    """Rows that are best read together, as those of a chunk of HDF5."""
    columns: list[str] | None = None
    """Names of the columns of X in the file, if any."""
    name_rows: Callable[[], list[Any] | None] | None = None
    """Reads the names of the rows of X, of which there may be many."""
    mapped: np.ndarray | None = None
    """The array that is mapped from a temporary file, which is there as long as the array is."""

    @property
    def width(self) -> int:
        """How many columns X has."""
        return self.shape[0 if self.is_turned else 1]

    @property
    def height(self) -> int:
        """How many rows X has."""
        return self.shape[1 if self.is_turned else 0]

    @property
    def feature_names(self) -> list[str] | None:
        """Names of features: those of columns, if they are text rather than numbers written as text."""
        return self.columns

    @property
    def sample_names(self) -> list[Any] | None:
        """The names of the rows of X; None if the file has none."""
        return None if self.name_rows is None else self.name_rows()

    @abstractmethod
    def read(self, start: int, stop: int) -> Any:
        """Rows from start to before stop: a NumPy array, or a SciPy array in rows."""

    def read_some(self, rows: np.ndarray) -> Any:
        """Some rows, in the order in which they are asked for."""
        ordered, back = np.unique(rows, return_inverse=True)
        cuts = [0, *(np.flatnonzero(np.diff(ordered) > self.grain) + 1).tolist(), len(ordered)]
        parts = []
        for first, last in pairwise(cuts):
            start = int(ordered[first])
            parts.append(self.read(start, int(ordered[last - 1]) + 1)[ordered[first:last] - start])
        found = sparse.vstack(parts, format="csr") if self.is_sparse else np.concatenate(parts)
        return found[back]

    def cuts(self, block_bytes: int) -> list[int]:
        """Cuts of the rows into blocks of about so many bytes in memory, from 0 to the number of rows."""
        each = max(1, block_bytes // max(1, self.shape[1] * real(self.dtype).itemsize))
        each = max(self.grain, each // self.grain * self.grain)
        return [*range(0, self.shape[0], each), self.shape[0]]

    @property
    def entries(self) -> int:
        """Entries that are stored."""
        return self.shape[0] * self.shape[1]

    @property
    def n_bytes(self) -> int:
        """Bytes that a pass fetches, about."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    @property
    def bytes_in_memory(self) -> int:
        """Bytes of the whole in memory."""
        return self.shape[0] * self.shape[1] * real(self.dtype).itemsize

    def whole(self) -> Any:
        """X in memory."""
        found = self.read(0, self.shape[0])
        return found.T if self.is_turned else found

    @property
    def path(self) -> str:
        """Path of the file."""
        return self.name

    def stamp(self) -> Hashable:
        """A value that changes with the file."""
        return stamp_of(self.path)

    def changed(self, before: Hashable) -> str | None:
        """The change of the file since it had this stamp, in words; None without a change."""
        now = self.stamp()
        if now == before:
            return None
        if now is None or (isinstance(now, tuple) and not any(now)):
            return f"{self.name} is gone: it was deleted or moved after it was opened."
        return f"{self.name} has changed since it was opened: its size, or the time of its last change, is another."

    def reader(self, *, passes_by: bool) -> Callable[[int, int], Any]:
        """The function that reads ranges of rows in a pass over all: `read`, or a quicker one.

        A file that passes by is so large that nothing of a range is left in the system's caches when it is read again. To make room
        for more of it there takes longer than to read it: the system is told to forget what it has, after each range.
        """
        if not passes_by:
            return self.read

        def read(start: int, stop: int) -> Any:
            found = self.read(start, stop)
            forget(self.path)
            return found

        return read

    def place(self, row: int) -> str:
        """The place of a row, in words."""
        return f"{'column' if self.is_turned else 'row'} {row} of {self.name}"


def real(dtype: Any) -> np.dtype:
    """The type that entries have in memory: single precision stays, other real numbers become double."""
    kind = np.dtype(dtype)
    return np.dtype(np.float32) if kind.kind == "f" and kind.itemsize == 4 else np.dtype(np.float64)


def stamp_of(path: str | Path) -> Hashable:
    """Size, time of the last change, and identity of a file; None without a file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_size, found.st_mtime_ns, found.st_ino)


def forget(path: str | Path, start: int = 0, count: int = 0) -> None:
    """Drop cached pages of a file, so many bytes, or all from the start (posix_fadvise DONTNEED)."""
    if not hasattr(os, "posix_fadvise"):
        return
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(descriptor, start, count, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def refuse_key(key: str | None, name: str) -> None:
    """Refuse a key for a file with a single matrix."""
    if key is not None:
        raise DataError(f"{name} holds one matrix, so that there is none to choose by name: leave out key={key!r}.")


def check_numbers(dtype: Any, name: str) -> np.dtype:
    """Refuse entries that are not real numbers."""
    kind = np.dtype(dtype)
    if kind.kind == "O":
        raise FileError(
            f"{name} holds Python objects, which are stored as a pickle; unpickling can run any code, so it is not done. Save "
            "an array of numbers, or of text of a fixed length."
        )
    if kind.kind not in "fiub":
        raise FileError(f"{name} holds entries of type {kind}, which are not real numbers.")
    return kind


def check_matrix(shape: Iterable[int], name: str) -> tuple[int, int]:
    """Refuse shapes other than of a matrix."""
    sizes = tuple(int(size) for size in shape)
    if len(sizes) != 2 or min(sizes) < 0:
        raise FileError(f"{name} has shape {sizes}; a matrix with rows and columns is needed.")
    return sizes[0], sizes[1]


def as_indices(stored: Any, name: str) -> np.ndarray:
    """Indices as int64, checked before the cast, in which 2⁶⁴ − 1 would become −1, and 0.5 become 0."""
    found = np.asarray(stored)
    if found.dtype.kind not in "iu" or (found.size and not 0 <= int(found.min()) <= int(found.max()) < 2**63):
        raise FileError(f"{name} is damaged: it has indices that are no places in a matrix. It was cut off or altered.")
    return found.astype(np.int64, copy=False)


class CompressedRows(StoredMatrix):
    """Rows of which the non-zeros are stored, as CSR: three arrays that can be read in ranges."""

    is_sparse = True

    def __init__(self, name: str, shape: Iterable[int], arrays: tuple[Any, Any, Any], *, is_turned: bool = False) -> None:
        self.name, self.shape, self.is_turned = name, check_matrix(shape, name), is_turned
        self._data, self._indices, self._indptr = arrays
        self.dtype = check_numbers(self._data.dtype, name)
        if is_turned:  # columns are stored: rows of Xᵀ
            self.shape = self.shape[::-1]
        if any(len(part.shape) != 1 for part in arrays):
            raise FileError(f"{name} is damaged: the parts of a sparse matrix are vectors, of one dimension.")
        if int(self._indptr.shape[0]) != self.shape[0] + 1:
            raise DataError(f"{name} says it has {self.shape[0]} rows, and its index is of {int(self._indptr.shape[0]) - 1}.")

    @cached_property
    def _starts(self) -> np.ndarray:
        starts = as_indices(self._indptr[:], self.name)
        stored = min(int(self._data.shape[0]), int(self._indices.shape[0]))
        if starts[0] != 0 or (np.diff(starts) < 0).any() or int(starts[-1]) > stored:
            raise DataError(f"{self.name} is damaged: its index promises {int(starts[-1])} non-zeros, and {stored} are there.")
        return starts

    def read(self, start: int, stop: int) -> Any:
        starts = self._starts[start : stop + 1]
        some = slice(int(starts[0]), int(starts[-1]))
        entries = np.asarray(self._data[some], dtype=real(self.dtype))
        columns = as_indices(self._indices[some], self.name)
        if columns.size and int(columns.max()) >= self.shape[1]:
            raise DataError(f"{self.name} is damaged: a column index is outside 0 … {self.shape[1] - 1}, near {self.place(start)}.")
        columns = columns.astype(np.int32 if self.shape[1] < 2**31 else np.int64, copy=False)
        places = (starts - starts[0]).astype(columns.dtype if some.stop - some.start < 2**31 else np.int64)
        return sparse.csr_array((entries, columns, places), shape=(stop - start, self.shape[1]))

    def cuts(self, block_bytes: int) -> list[int]:
        each = real(self.dtype).itemsize + 4
        weights = self._starts * each + np.arange(len(self._starts)) * 8
        count = max(1, -(-int(weights[-1]) // block_bytes))
        cuts = np.searchsorted(weights, np.linspace(0, weights[-1], count + 1)[1:-1])
        return sorted({0, *(int(cut) for cut in cuts), self.shape[0]})

    @property
    def entries(self) -> int:
        return int(self._data.shape[0])

    @property
    def n_bytes(self) -> int:
        return int(self._data.shape[0]) * (self.dtype.itemsize + 4) + 8 * self.shape[0]

    @property
    def bytes_in_memory(self) -> int:
        return int(self._data.shape[0]) * (real(self.dtype).itemsize + 4) + 8 * self.shape[0]
