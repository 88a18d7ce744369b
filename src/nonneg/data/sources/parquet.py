"""Parquet: one row for each sample, one column of numbers for each feature."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ...exceptions import DataError
from .base import Source, needed, real


class Parquet(Source):
    """A file of Parquet. What pandas has written as an index is left out; missing values are refused, as they are anywhere."""

    def __init__(self, file: Any, name: str) -> None:
        import pyarrow.types as kinds

        self._file, self.name, self._one_at_a_time = file, name, Lock()
        schema = file.schema_arrow
        described = (schema.metadata or {}).get(b"pandas")
        index = {label for label in json.loads(described)["index_columns"] if isinstance(label, str)} if described else set()
        fields = [field for field in schema if field.name not in index]
        for field in fields:
            kind = field.type
            if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)):
                raise DataError(f"{name} has a column {field.name!r} of {kind}, which are not real numbers; leave it out.")
        self.feature_names = [field.name for field in fields]
        is_single = bool(fields) and all(kinds.is_float32(field.type) for field in fields)
        self.dtype = np.dtype(np.float32 if is_single else np.float64)
        groups = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
        self._starts = np.cumsum([0, *groups])
        self.shape = (int(self._starts[-1]), len(fields))

    def read(self, start: int, stop: int) -> np.ndarray:
        rows = np.empty((stop - start, self.shape[1]), real(self.dtype))
        first, last = np.searchsorted(self._starts, start, "right") - 1, np.searchsorted(self._starts, stop, "left")
        with self._one_at_a_time:  # of starts side by side: a file has one place at which it is read
            table = self._file.read_row_groups(list(range(int(first), int(last))), columns=self.feature_names)
        table = table.slice(start - int(self._starts[first]), stop - start)
        for number, column in enumerate(table.columns):
            rows[:, number] = column.to_numpy()
        return rows

    def cuts(self, block_bytes: int) -> list[int]:
        """Between groups of rows: these are read as a whole."""
        most = max(1, block_bytes // max(1, self.shape[1] * real(self.dtype).itemsize))
        cuts = [0]
        for start, stop in pairwise(self._starts.tolist()):
            if stop - cuts[-1] > most and start > cuts[-1]:
                cuts.append(start)
        return [*cuts, self.shape[0]]


def open_file(path: Path, key: str | None) -> Source:
    """The table in a Parquet file."""
    pyarrow, parquet = needed("pyarrow", str(path)), needed("pyarrow.parquet", str(path))
    try:
        return Parquet(parquet.ParquetFile(path), str(path))
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise DataError(f"{path} cannot be read as Parquet: {error}") from error


def of_handle(handle: Any, key: str | None) -> Source | None:
    """A Parquet file that is open."""
    return Parquet(handle, "a Parquet file") if hasattr(handle, "read_row_groups") else None
