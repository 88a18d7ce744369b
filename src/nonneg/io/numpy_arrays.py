"""Single arrays of NumPy, .npy. They are mapped into memory: unused parts stay on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..data.opening import open_data
from ..data.sources.npy import read_header
from ..exceptions import FileError
from .base import Kind, Source, Wanted
from .large import is_large
from .table import Table
from .zipped import check_size


class NumPyArray(Kind):
    """One array."""

    name: ClassVar[str] = "a NumPy array"
    suffixes: ClassVar[tuple[str, ...]] = (".npy",)

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
        return Table(open_data(mapped) if wanted.in_blocks and is_large(header.n_bytes) and mapped.ndim == 2 else mapped)

    def write(self, table: Table, path: Path) -> None:
        np.save(path, table.values.toarray() if sparse.issparse(table.values) else table.values, allow_pickle=False)


def numbers(array: Any, label: str) -> Any:
    """An array of two dimensions, or of one, of real numbers; or an error that names its kind."""
    if array.dtype.kind not in "fiub":
        raise FileError(f"{label} holds entries of type {array.dtype}, which are not real numbers.")
    if array.ndim not in (1, 2):
        raise FileError(f"{label} has shape {array.shape}; a table has two dimensions, samples × features.")
    return array
