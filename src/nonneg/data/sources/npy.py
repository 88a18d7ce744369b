"""NumPy's own files: .npy. Rows are read into memory as they are needed; nothing is ever unpickled."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ...exceptions import DataError, FileError
from .base import Source, check_matrix, check_numbers, forget, refuse_key
from .direct import Ranges

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


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


class Npy(Source):
    """An array in a .npy file. In Fortran's order its columns lie in one piece each, and are what is read."""

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


def open_file(path: Path, key: str | None) -> Source:
    """The array in a .npy file."""
    refuse_key(key, str(path))
    try:
        with open(path, "rb") as file:
            found = read_header(file, str(path))
    except OSError as error:
        raise FileError(f"{path} is not a .npy file that can be read: {error}") from error
    return Npy(str(path), found.shape, found.dtype, found.start, is_turned=found.is_fortran and len(found.shape) == 2)


def of_handle(handle: Any, key: str | None) -> Source | None:
    """The file that a whole array is mapped from; None for a part of one, or for what is no such array."""
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
