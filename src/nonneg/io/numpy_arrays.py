"""Single arrays of NumPy, .npy: mapped into memory, so that unused parts stay on disk; or read in blocks. Nothing is unpickled."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from ..exceptions import DataError, FileError
from .base import Kind, Source, Wanted
from .direct import Ranges
from .large import is_large
from .stored import StoredMatrix, check_matrix, check_numbers, forget, refuse_key
from .table import Table

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class NumPyArray(Kind):
    """One array."""

    name: ClassVar[str] = "a NumPy array"
    suffixes: ClassVar[tuple[str, ...]] = (".npy",)
    opens: ClassVar[tuple[str, ...]] = (".npy",)
    libraries: ClassVar[tuple[str, ...]] = ("numpy",)

    def recognises(self, source: Source) -> bool:
        return source.head.startswith(b"\x93NUMPY") and not source.is_compressed

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        with open(source.path, "rb") as stream:
            shape, _, dtype, start = header = read_header(stream, source.label)
        check_size(shape, dtype, source.path.stat().st_size - start, source.label)
        if not np.prod(shape):
            raise FileError(f"{source.label} holds no numbers: its shape is {shape}.")
        mapped = numbers(np.load(source.path, mmap_mode="r", allow_pickle=False), source.label)
        stored = of_handle(mapped, None) if wanted.blocks is not None and is_large(header.n_bytes) else None
        return Table(mapped if stored is None or wanted.blocks is None else wanted.blocks(stored))

    def write(self, table: Table, path: Path) -> None:
        np.save(path, table.values.toarray() if sparse.issparse(table.values) else table.values, allow_pickle=False)

    def open_path(self, path: Path, key: str | None) -> StoredMatrix:
        refuse_key(key, str(path))
        try:
            with open(path, "rb") as file:
                found = read_header(file, str(path))
        except OSError as error:
            raise FileError(f"{path} is not a .npy file that can be read: {error}") from error
        return Npy(str(path), found.shape, found.dtype, found.start, is_turned=found.is_fortran and len(found.shape) == 2)

    def open_handle(self, handle: Any, key: str | None) -> StoredMatrix | None:
        return of_handle(handle, key)


class Header(NamedTuple):
    """The header of an array."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype
    start: int
    """Offset of the first number."""

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(stream: BinaryIO | Any, label: str) -> Header:
    """The header of an array in NumPy's form; arrays of Python objects are refused."""
    try:
        version = np.lib.format.read_magic(stream)
        if version not in _HEADERS:
            raise ValueError(f"version {version} of the format is not known")
        shape, is_fortran, dtype = _HEADERS[version](stream)
    except Exception as error:  # whatever reading Python's text of it leads to
        raise FileError(
            f"{label} is not a .npy file that can be read, or not all of one: {error}. It was cut off or altered."
        ) from error
    if any(isinstance(size, bool) or size < 0 for size in shape):
        raise FileError(f"{label} has shape {shape}, which are no sizes. It was altered.")
    if dtype.hasobject:
        check_numbers(np.dtype(object), label)
    return Header(shape, bool(is_fortran), dtype, stream.tell())


class Npy(StoredMatrix):
    """An array in a .npy file. In Fortran's order its columns are contiguous, and are read as rows."""

    def __init__(self, name: str, shape: tuple[int, ...], dtype: Any, offset: int, *, is_turned: bool) -> None:
        self.name, self.dtype, self.is_turned, self._offset = name, check_numbers(dtype, name), is_turned, offset
        self.shape = check_matrix(shape, name)
        if is_turned:
            self.shape = self.shape[::-1]
        self._row_bytes, there = self.shape[1] * self.dtype.itemsize, os.path.getsize(name) - offset
        if there < self.n_bytes:
            row = there // self._row_bytes
            unit = "column" if is_turned else "row"
            raise FileError(
                f"{name} is truncated: it should have {self.shape[0]} {unit}s, {self.n_bytes} bytes, and ends in {unit} {row}, "
                f"after {there}. It was cut off or altered."
            )

    def read(self, start: int, stop: int, ranges: Ranges | None = None) -> np.ndarray:
        place, count = self._offset + start * self._row_bytes, (stop - start) * self._row_bytes
        found = (ranges or Ranges(self.path)).read(place, count)
        if len(found) < count:
            raise DataError(f"{self.name} has become shorter since it was opened: it ends before {self.place(stop - 1)}.")
        return found.view(self.dtype).reshape(stop - start, self.shape[1])

    def reader(self, *, passes_by: bool) -> Callable[[int, int], np.ndarray]:
        ranges = Ranges(self.path, is_direct=passes_by)

        def read(start: int, stop: int) -> np.ndarray:
            found = self.read(start, stop, ranges)
            if passes_by and not ranges.is_direct:
                forget(self.path, self._offset + start * self._row_bytes, (stop - start) * self._row_bytes)
            return found

        return read


def of_handle(handle: Any, key: str | None) -> StoredMatrix | None:
    """The matrix in the file of a memory map; None for a part of one, and for other arrays."""
    refuse_key(key, "an array that is mapped into memory")
    if not isinstance(handle, np.memmap) or handle.filename is None or isinstance(handle.base, np.memmap) or handle.ndim != 2:
        return None
    if handle.mode == "c":
        raise DataError(
            f"An array that is mapped from {handle.filename} with mode='c' may differ from the file, which would be read. "
            "Map it with mode='r', or give the path."
        )
    in_rows, in_columns = handle.flags.c_contiguous, handle.flags.f_contiguous
    if not in_rows and not in_columns:
        return None
    return Npy(str(handle.filename), handle.shape, handle.dtype, handle.offset, is_turned=not in_rows)


def left_on_disk(matrix: np.ndarray, blocks: Callable[[StoredMatrix], Any] | None) -> Any:
    """A new matrix as a table takes it: if it lies on disk and there is a way to read it in blocks, as that gives it."""
    if blocks is None or not isinstance(matrix, np.memmap):
        return matrix
    stored = of_handle(matrix, None)
    assert stored is not None
    stored.mapped = matrix
    return blocks(stored)


def numbers(array: Any, label: str) -> Any:
    """An array of two dimensions, or of one, of real numbers; or an error that names its kind."""
    if array.dtype.kind not in "fiub":
        raise FileError(f"{label} holds entries of type {array.dtype}, which are not real numbers.")
    if array.ndim not in (1, 2):
        raise FileError(f"{label} has shape {array.shape}; a table has two dimensions, samples × features.")
    return array


def check_size(shape: tuple[int, ...], dtype: np.dtype, n_bytes: int, label: str) -> None:
    """Refuse an array that says it has more, or less, than there is."""
    expected = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or expected != n_bytes:
        raise FileError(
            f"{label} says that it is an array of {' × '.join(map(str, shape))}, {expected} bytes of {dtype}, and has {n_bytes}: "
            "it was cut off or altered."
        )
