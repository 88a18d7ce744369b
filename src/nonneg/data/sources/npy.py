"""NumPy's own files: .npy. Rows are read into memory as they are needed; nothing is ever unpickled."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ...exceptions import DataError
from .base import Source, check_matrix, check_numbers

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class Npy(Source):
    """An array in a .npy file. In Fortran's order its columns lie in one piece each, and are what is read."""

    def __init__(self, name: str, shape: tuple[int, ...], dtype: Any, offset: int, *, is_turned: bool) -> None:
        self.name, self.dtype, self.is_turned, self._offset = name, check_numbers(dtype, name), is_turned, offset
        self.shape = check_matrix(shape, name)
        if is_turned:
            self.shape = self.shape[::-1]
        there = os.path.getsize(name) - offset
        if there < self.n_bytes:
            row = there // (self.shape[1] * self.dtype.itemsize)
            unit = "column" if is_turned else "row"
            raise DataError(
                f"{name} is truncated: it should have {self.shape[0]} {unit}s, {self.n_bytes} bytes, and ends in {unit} {row}, "
                f"after {there}."
            )

    def read(self, start: int, stop: int) -> np.ndarray:
        rows = np.empty((stop - start, self.shape[1]), self.dtype)
        with open(self.name, "rb", buffering=0) as file:
            file.seek(self._offset + start * self.shape[1] * self.dtype.itemsize)
            into, done = memoryview(rows.reshape(-1).view(np.uint8).data), 0
            while done < len(into):
                got = file.readinto(into[done : done + _MOST])
                if not got:
                    raise DataError(f"{self.name} has become shorter since it was opened: it ends before {self.place(stop - 1)}.")
                done += got
        return rows


_MOST = 2**30
"""Bytes that are asked for at a time: some systems give no more than 2 GB."""


def open_file(path: Path, key: str | None) -> Source:
    """The array in a .npy file."""
    try:
        with open(path, "rb") as file:
            version = np.lib.format.read_magic(file)
            shape, is_fortran, dtype = _HEADERS.get(version, np.lib.format.read_array_header_2_0)(file)
            offset = file.tell()
    except (ValueError, EOFError, OSError) as error:
        raise DataError(f"{path} is not a .npy file that can be read, or not all of one: {error}") from error
    return Npy(str(path), shape, dtype, offset, is_turned=bool(is_fortran and len(shape) == 2))


def of_handle(handle: Any, key: str | None) -> Source | None:
    """The file that a whole array is mapped from; None for a part of one, or for what is no such array."""
    if not isinstance(handle, np.memmap) or handle.filename is None or isinstance(handle.base, np.memmap) or handle.ndim != 2:
        return None
    if handle.mode == "c":
        raise DataError(
            f"An array that is mapped from {handle.filename} with mode='c' may differ from the file, which is what would be read. "
            "Map it with mode='r', or give the path."
        )
    in_rows, in_columns = handle.flags.c_contiguous, handle.flags.f_contiguous
    if not in_rows and not in_columns:
        return None
    return Npy(str(handle.filename), handle.shape, handle.dtype, handle.offset, is_turned=not in_rows)
