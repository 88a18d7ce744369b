"""Data in files: blocks of rows, one read ahead while the last is worked on, each checked as it is first read."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from ..exceptions import DataError
from ..io.stored import StoredMatrix, real
from ..kernels.csr import to_csr
from ..kernels.memory import available_bytes
from ..kernels.namespace import Namespace
from ..kernels.tuned import tuned
from .base import Data
from .blocks import ReadingLog, Seen, StoredBlocks
from .checking import bad_entry, survey_block, where_in
from .dense import DenseData
from .sparse import SparseData

BLOCK_BYTES = tuned(2**27, by="disk", on="2026-11-16")
"""Of a block, in memory. Two of them are there at a time, and what is computed of one."""
T = TypeVar("T")


class FileBlocks(StoredBlocks):
    """Blocks of rows in a file, or in several.

    Parameters
    ----------
    source : StoredMatrix
    block_bytes : int
        What a block takes in memory, about.
    is_settled : bool
        Whether to read in blocks even if one block holds all of X.

    Attributes
    ----------
    is_small : bool
        Whether one block has all of X, which may as well be in memory.
    """

    def __init__(self, source: StoredMatrix, block_bytes: int = BLOCK_BYTES, *, is_settled: bool = True) -> None:
        self.source, self.log = source, ReadingLog()
        self.is_small = not is_settled and source.bytes_in_memory <= block_bytes
        self.shape = source.shape
        self.namespace = Namespace(np, real(source.dtype), "cpu")
        self.seen = self.nothing_seen()
        self.cuts = source.cuts(block_bytes)
        self.stops = np.array(self.cuts[1:])

    def nothing_seen(self) -> Seen:
        return Seen(stamp=self.source.stamp())

    @property
    def size(self) -> int:
        return self.source.entries

    def moved(self, namespace: Namespace) -> Data:
        from .device import not_to_be_moved
        from .streamed import Streamed

        if self.costs.weighted and not namespace.is_host:
            raise not_to_be_moved(self, namespace)
        return self if namespace.is_host else Streamed(self, namespace)

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        return self.source.is_sparse

    # ---- readings

    def pieces(self) -> Iterator[tuple[slice, Data]]:
        began = time.perf_counter()
        self._check_unchanged()
        available = available_bytes()
        read = self.source.reader(passes_by=available is not None and self.source.n_bytes > available / 2)
        blocks = ahead(lambda number=number: self._block(number, read) for number in range(len(self.cuts) - 1))  # type: ignore[misc]
        for start, stop in pairwise(self.cuts):
            self.log.check(f"row {start} of {self.shape[0]}")
            yield slice(start, stop), next(blocks)
        self._check_unchanged()
        if self.seen.facts is None:
            self.conclude(self.seen.surveys[number] for number in sorted(self.seen.surveys))
        self.log.seconds.append(time.perf_counter() - began)

    def whole_file(self) -> Any:
        """All rows as an array or a sparse array, unchecked: one pass."""
        began = time.perf_counter()
        self._check_unchanged()
        self.log.check()
        values = read_or_say(self.source, lambda: self.source.read(0, self.shape[0]), 0)
        if values.shape != self.shape:
            raise self._change(f"it should be {self.shape}, and is {values.shape}")
        self._check_unchanged()
        self.log.seconds.append(time.perf_counter() - began)
        return values if sparse.issparse(values) else np.array(values, self.namespace.dtype, order="C")

    def _block(self, number: int, read: Callable[[int, int], Any]) -> Data:
        """A block, checked."""
        start, stop = self.cuts[number], self.cuts[number + 1]
        values = read_or_say(self.source, lambda: read(start, stop), start)
        if values.shape != (stop - start, self.shape[1]):
            raise self._change(f"rows {start} to {stop - 1} should be {(stop - start, self.shape[1])}, and are {values.shape}")
        digest = _digest(values)
        block = self._weighted(values, slice(start, stop))
        if self.seen.digests.setdefault(number, digest) != digest:
            raise self._change(f"other numbers are in the block that begins with {self.source.place(start)}")
        if self.seen.facts is None:
            survey, bad = survey_block(block, self.seen.wanted, signed=self.seen.signed, weighing=self.weighing)
            if bad is not None:
                raise bad_entry(bad[2], where_in(start + bad[0], bad[1], self.source))
            self.seen.surveys[number] = survey
        return block if self.unit == 1 else block.in_units(self.unit)

    def _weighted(self, values: Any, rows: Any) -> Data:
        """Rows that were read, with their weights."""
        block = as_block(values, self.namespace)
        return block if self.weighing is None else self.weighing.weigh(block, self.weighing.of(rows))

    def _check_unchanged(self) -> None:
        if self.seen.stamp is None:
            self.seen.stamp = self.source.stamp()
            return
        change = self.source.changed(self.seen.stamp)
        if change is not None:
            raise DataError(change)

    def _change(self, what: str) -> DataError:
        return DataError(f"{self.source.name} has changed since it was first read: {what}.")

    def some(self, items: np.ndarray) -> Data:
        values = read_or_say(self.source, lambda: self.source.read_some(items), int(min(items, default=0)))
        block = self._weighted(values, items)
        return block if self.unit == 1 else block.in_units(self.unit)


class RowsOfFile:
    """Weights in a file, by a slice or an array of rows. Rows of a slice are checked when first read."""

    def __init__(self, source: StoredMatrix) -> None:
        self.source, self.shape, self._stamp = source, source.shape, source.stamp()
        self._checked: set[tuple[int, int]] = set()

    def __getitem__(self, rows: Any) -> Any:
        change = self.source.changed(self._stamp)
        if change is not None:
            raise DataError(f"The weights of X have changed. {change}")
        if not isinstance(rows, slice):
            return read_or_say(self.source, lambda: self.source.read_some(rows), int(min(rows, default=0)))
        found = read_or_say(self.source, lambda: self.source.read(rows.start, rows.stop), rows.start)
        if (rows.start, rows.stop) not in self._checked:
            self._check(found, rows.start)
            self._checked.add((rows.start, rows.stop))
        return found

    def _check(self, weights: Any, start: int) -> None:
        """Refuse weights that are negative, or not finite, with the place of the first."""
        entries = weights.data if sparse.issparse(weights) else weights
        wrong = ~np.isfinite(entries) | (entries < 0)
        if not wrong.any():
            return
        if sparse.issparse(weights):
            first = int(np.argmax(wrong))
            row, column = int(np.searchsorted(weights.indptr, first, "right")) - 1, int(weights.indices[first])
            value = float(entries[first])
        else:
            row, column = (int(each) for each in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
            value = float(entries[row, column])
        must = "not be negative" if value < 0 else "be finite numbers"
        place = where_in(start + row, column, self.source)
        raise DataError(f"The weights of X must {must}: {value:g} in {place}. Weight 0 stands for a missing entry.")

    def __repr__(self) -> str:
        return f"{self.source.name} {self._stamp}"


def read_or_say(source: StoredMatrix, read: Callable[[], Any], row: int) -> Any:
    """Read rows; an error of the library that reads them names their place."""
    try:
        return read()
    except (DataError, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"{source.name} cannot be read from {source.place(row)} on: {error}") from error


def as_block(values: Any, namespace: Namespace) -> Data:
    """Rows that were read, as data."""
    if sparse.issparse(values):
        rows = to_csr(values, "a block of X")
        if not rows.has_canonical_format:
            rows.sum_duplicates()
        if not rows.data.all():
            rows.eliminate_zeros()
        return SparseData(rows, namespace, is_passing=True)
    return DenseData(np.require(values, namespace.dtype, ("C", "A")), namespace)


_LOOKED_AT = 4096
"""Entries of a block whose hash tells it from others."""


def _digest(values: Any) -> bytes:
    """A digest of a fixed sample of entries."""
    entries = values.data if sparse.issparse(values) else values.reshape(-1)
    some = np.ascontiguousarray(entries[:: max(1, entries.size // _LOOKED_AT)])
    return hashlib.blake2b(some.tobytes(), digest_size=8).digest()


def ahead(reads: Iterable[Callable[[], T]]) -> Iterator[T]:
    """The results of these functions, each next one computed in a thread ahead of its use."""
    waiting: list[Future[T]] = []
    with ThreadPoolExecutor(1, thread_name_prefix="nonneg-read") as pool:
        for read in reads:
            waiting.append(pool.submit(read))
            if len(waiting) > 1:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
