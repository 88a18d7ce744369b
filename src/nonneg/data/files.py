"""Data in files: blocks of rows, one read ahead while the last is worked on, each checked as it is first read."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from ..exceptions import DataError
from ..kernels.host import as_dense
from ..kernels.namespace import Namespace
from .base import Data, Facts, Total
from .blocks import Blocks, Gathering, How, ReadingLog, Work, together
from .checking import bad_entry, where_in
from .compressed import to_csr
from .dense import DenseData
from .memory import available_bytes
from .sources.base import Source, real
from .sparse import SparseData
from .weighted.weighing import Weighing, first_unknown

BLOCK_BYTES = 2**27
"""Of a block, in memory. Two of them are there at a time, and what is computed of one."""
USUAL: tuple[Total, ...] = (("power", 1), ("power", 2))
"""Sums that are found in the first reading whatever is asked for: they cost little, and are asked for later."""

T = TypeVar("T")


@dataclass
class _Seen:
    """What the first reading has told, for all that is made of the same file."""

    wanted: dict[Total, None] = field(default_factory=lambda: dict.fromkeys(USUAL))
    signed: bool = False
    stamp: Any = None
    digests: dict[int, bytes] = field(default_factory=dict)
    surveys: dict[int, tuple[Facts, list[float]]] = field(default_factory=dict)
    totals: dict[Total, float] = field(default_factory=dict)
    facts: Facts | None = None
    missing: dict[int, int] = field(default_factory=dict)
    kept: dict[Any, Any] = field(default_factory=dict)


class FileBlocks(Blocks):
    """Blocks of rows in a file, or in several.

    Parameters
    ----------
    source : Source
    block_bytes : int
        What a block takes in memory, about.
    weighing : Weighing, optional
        What blocks are weighted with, as soon as they are read.
    is_settled : bool
        Whether there are to be blocks also where one would have all of X; if not, `whole_file` may serve better.

    Attributes
    ----------
    is_small : bool
        Whether it would, and X may as well be in memory.
    """

    def __init__(
        self,
        source: Source,
        block_bytes: int = BLOCK_BYTES,
        *,
        unit: float = 1.0,
        seen: _Seen | None = None,
        log: Any = None,
        weighing: Weighing | None = None,
        is_settled: bool = True,
    ) -> None:
        self.source, self.block_bytes, self.unit, self.weighing = source, block_bytes, unit, weighing
        self.is_small = not is_settled and source.bytes_in_memory <= block_bytes
        self.shape = source.shape
        self.namespace = Namespace(np, real(source.dtype), "cpu")
        self.log, self._seen = log or ReadingLog(), seen or _Seen(stamp=source.stamp())
        self.cuts = source.cuts(block_bytes)
        self.stops = np.array(self.cuts[1:])

    @property
    def size(self) -> int:
        return self.source.entries

    def recall(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._seen.kept:
            self._seen.kept[key] = make()
        return self._seen.kept[key]

    def in_units(self, unit: float) -> FileBlocks:
        if unit == 1:
            return self
        settings = {"unit": self.unit * unit, "seen": self._seen, "log": self.log, "weighing": self.weighing}
        return FileBlocks(self.source, self.block_bytes, **settings).knowing(self, unit)

    def weighted_by(self, weighing: Weighing) -> FileBlocks:
        return FileBlocks(self.source, self.block_bytes, log=self.log, weighing=weighing)

    def unweighted(self) -> FileBlocks:
        return FileBlocks(self.source, self.block_bytes, seen=self._seen, log=self.log)

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        return self.source.is_sparse

    @property
    def missing(self) -> int:
        if self.weighing is None:
            return 0
        self.read()
        return sum(self._seen.missing.values())

    # ---- readings

    def reading(self, work: Work, how: Sequence[How], shared: tuple[Any, ...] = (), own: tuple[Any, ...] = ()) -> list[Any]:
        found = Gathering(how, self.shape[0])
        for rows, block in self.pieces():
            results = work(block, shared, tuple(array[rows] for array in own))
            del block  # or it would be there still while the one after the next is read
            found.add(results, rows.stop - rows.start)
        return found.found

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
        self._conclude()
        self.log.seconds.append(time.perf_counter() - began)

    def whole_file(self) -> Any:
        """All rows, as an array or a sparse array of their own: one reading. What is in them is for others to check."""
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
        if self._seen.digests.setdefault(number, digest) != digest:
            raise self._change(f"other numbers are in the block that begins with {self.source.place(start)}")
        if self._seen.facts is None:
            self._seen.surveys[number] = survey = block.survey(list(self._seen.wanted))
            self._check(survey[0], block, start)
            self._seen.missing[number] = block.missing
        return block if self.unit == 1 else block.in_units(self.unit)

    def _weighted(self, values: Any, rows: Any) -> Data:
        """Rows that were read, with their weights."""
        block = as_block(values, self.namespace)
        return block if self.weighing is None else self.weighing.weigh(block, self.weighing.of(rows))

    def _check(self, facts: Facts, block: Data, start: int) -> None:
        """Refuse what is not finite, and what is negative where nothing may be."""
        unknown = first_unknown(block) if self.weighing is not None and not self.weighing.ignores else None
        if unknown is not None:
            raise bad_entry(math.nan, where_in(start + unknown[0], unknown[1], self.source))
        if not math.isfinite(facts.lowest) or not math.isfinite(facts.highest):
            raise bad_entry(*_first(block, lambda x: ~np.isfinite(x), start, self.source))
        if facts.lowest < 0 and not self._seen.signed:
            raise bad_entry(*_first(block, lambda x: x < 0, start, self.source))

    def _check_unchanged(self) -> None:
        if self._seen.stamp is None:
            self._seen.stamp = self.source.stamp()
            return
        change = self.source.changed(self._seen.stamp)
        if change is not None:
            raise DataError(change)

    def _change(self, what: str) -> DataError:
        return DataError(f"{self.source.name} has changed since it was first read: {what}.")

    def _conclude(self) -> None:
        """What a first reading that has come to its end tells."""
        if self._seen.facts is None:
            wanted, surveys = list(self._seen.wanted), [self._seen.surveys[number] for number in sorted(self._seen.surveys)]
            self._seen.facts, sums = together(surveys)
            self._seen.totals = dict(zip(wanted, sums, strict=True))

    # ---- sums

    def request(self, totals: Iterable[Total] = (), *, signed: bool = False) -> None:
        if self._seen.facts is None:
            self._seen.wanted |= dict.fromkeys(totals)
            self._seen.signed = self._seen.signed or signed

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        if self.unit != 1:
            return super().survey(totals)
        if self._seen.facts is None:
            self.request(totals)
            for _ in self.pieces():
                pass
        missing = [total for total in totals if total not in self._seen.totals]
        if missing:
            _, sums = super().survey(missing)
            self._seen.totals.update(zip(missing, sums, strict=True))
        assert self._seen.facts is not None
        return self._seen.facts, [self._seen.totals[total] for total in totals]

    def some(self, items: np.ndarray) -> Data:
        values = read_or_say(self.source, lambda: self.source.read_some(items), int(min(items, default=0)))
        block = self._weighted(values, items)
        return block if self.unit == 1 else block.in_units(self.unit)


class RowsOfFile:
    """Weights in a file, of which rows can be had by a slice or an array. Those of a slice are checked when they are first read."""

    def __init__(self, source: Source) -> None:
        self.source, self.shape, self._stamp = source, source.shape, source.stamp()
        self._checked: set[tuple[int, int]] = set()

    def __getitem__(self, rows: Any) -> Any:
        change = self.source.changed(self._stamp)
        if change is not None:
            raise DataError(f"The weights of X are not what they were. {change}")
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


def read_or_say(source: Source, read: Callable[[], Any], row: int) -> Any:
    """Rows, or an error that says where they were to come from, whatever the library says that reads them."""
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


def _digest(values: Any) -> bytes:
    """A digest of some of the entries, the same ones each time."""
    entries = values.data if sparse.issparse(values) else values.reshape(-1)
    some = np.ascontiguousarray(entries[:: max(1, entries.size // _LOOKED_AT)])
    return hashlib.blake2b(some.tobytes(), digest_size=8).digest()


def _first(block: Data, condition: Callable[[Any], Any], start: int, source: Source) -> tuple[float, str]:
    """The first entry that meets a condition, and where it is, in words."""
    for rows, part in block.blocks():
        entries = as_dense(part)
        mask = condition(entries)
        if mask.any():
            i, j = np.unravel_index(int(np.argmax(mask)), mask.shape)
            return float(entries[i, j]), where_in(start + rows.start + int(i), int(j), source)
    raise AssertionError


def ahead(reads: Iterable[Callable[[], T]]) -> Iterator[T]:
    """What each of these gives, the next one being read in a thread while the last is worked on."""
    waiting: list[Future[T]] = []
    with ThreadPoolExecutor(1, thread_name_prefix="nonneg-read") as pool:
        for read in reads:
            waiting.append(pool.submit(read))
            if len(waiting) > 1:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
