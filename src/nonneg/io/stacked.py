"""Several files, one below the other: the rows of each are a part of the rows of X."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import DataError
from .stored import StoredMatrix, real


class Stacked(StoredMatrix):
    """The rows of several files, one below the other. No block has rows of two files.

    Parameters
    ----------
    parts : sequence of StoredMatrix
    name : str, optional
        Their common name.
    """

    def __init__(self, parts: Sequence[StoredMatrix], name: str | None = None) -> None:
        if not parts:
            raise DataError("A list of files of row blocks is needed; got an empty one.")
        first = parts[0]
        for part in parts[1:]:
            for what, has, wanted in (
                ("width", part.shape[1], first.shape[1]),
                ("kind", "sparse" if part.is_sparse else "dense", "sparse" if first.is_sparse else "dense"),
                ("order", "by columns" if part.is_turned else "by rows", "by columns" if first.is_turned else "by rows"),
            ):
                if has != wanted:
                    raise DataError(f"{part.name} is of another {what} than {first.name}: {has}, not {wanted}.")
            for number, (name, other) in enumerate(zip(first.columns or (), part.columns or (), strict=False)):
                if name != other:
                    raise DataError(
                        f"Column {number} of {part.name} is {other!r}, and that of {first.name} is {name!r}: rows of both can be "
                        "put together only if columns are the same, in the same order."
                    )
        if first.is_turned:
            raise DataError(
                f"{first.name} is stored by columns, so that several such files are parts of the columns of X, not of its rows. "
                "Store them in C order, or by rows (CSR)."
            )
        self._parts, self._first, self.is_sparse = list(parts), first, first.is_sparse
        self._stops = list(accumulate(part.shape[0] for part in parts))
        self.shape, self.name = (self._stops[-1], first.shape[1]), name or f"{first.name} and {len(parts) - 1} more"
        self.dtype = max((real(part.dtype) for part in parts), key=lambda dtype: dtype.itemsize)

    @property
    def feature_names(self) -> list[str] | None:
        return self._first.feature_names

    @property
    def sample_names(self) -> list[Any] | None:
        names = [part.sample_names for part in self._parts]
        return None if any(some is None for some in names) else [name for some in names for name in some or ()]

    @property
    def entries(self) -> int:
        return sum(part.entries for part in self._parts)

    def _at(self, row: int) -> tuple[int, int]:
        """The number of the file that has a row, and its first row."""
        number = int(np.searchsorted(self._stops, row, "right"))
        return number, self._stops[number] - self._parts[number].shape[0]

    def read(self, start: int, stop: int) -> Any:
        return self._read(start, stop, [part.read for part in self._parts])

    def reader(self, *, passes_by: bool) -> Callable[[int, int], Any]:
        reads = [part.reader(passes_by=passes_by) for part in self._parts]
        return lambda start, stop: self._read(start, stop, reads)

    def _read(self, start: int, stop: int, reads: Sequence[Callable[[int, int], Any]]) -> Any:
        found = []
        while start < stop:
            number, first = self._at(start)
            last = min(stop, first + self._parts[number].shape[0])
            found.append(reads[number](start - first, last - first))
            start = last
        if len(found) == 1:
            return found[0]
        return sparse.vstack(found, format="csr") if self.is_sparse else np.concatenate(found)

    def cuts(self, block_bytes: int) -> list[int]:
        cuts = {0}
        for part, stop in zip(self._parts, self._stops, strict=True):
            cuts |= {stop - part.shape[0] + cut for cut in part.cuts(block_bytes)}
        return sorted(cuts)

    @property
    def n_bytes(self) -> int:
        return sum(part.n_bytes for part in self._parts)

    @property
    def bytes_in_memory(self) -> int:
        return sum(part.bytes_in_memory for part in self._parts)

    def stamp(self) -> Hashable:
        return tuple(part.stamp() for part in self._parts)

    def changed(self, before: Any) -> str | None:
        differences = (part.changed(old) for part, old in zip(self._parts, before, strict=True))
        return next((each for each in differences if each is not None), None)

    def place(self, row: int) -> str:
        number, first = self._at(row)
        return self._parts[number].place(row - first)
