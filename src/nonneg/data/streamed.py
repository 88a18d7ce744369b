"""Data larger than a card, or in files, of which blocks of rows pass through the card, the next one copied while one is worked on.

Factors, solvers and surrogates are in main memory, as with any data in blocks: it is the passes over X that a card makes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..kernels.host import is_added_in_double
from ..kernels.namespace import Array, Namespace, has_cuda, to_host
from ..kernels.tuned import tuned
from .base import Data
from .blocks import Blocks, Gathering, How, ReadingLog, Seen, StoredBlocks, Work, elementwise, products
from .dense import DenseData
from .device import dense, moved
from .files import ahead

_BLOCK_BYTES = tuned(2**28, by="gpu", on="2026-11-19")
"""Of a block of an array in main memory: a copy of some milliseconds. Two of them are on the card at a time, and results of one."""


class MemoryBlocks(StoredBlocks):
    """Blocks of rows of an array in main memory, for a card that does not hold it as a whole.

    Parameters
    ----------
    data : DenseData
        Read and checked.
    block_bytes : int
    """

    def __init__(self, data: DenseData, block_bytes: int = _BLOCK_BYTES) -> None:
        self.values = np.require(data.values, requirements=("C", "A"))
        self.shape, self.namespace, self.unit = data.shape, data.namespace, data.unit
        self.log, self.origin, self.feature_names = ReadingLog(), data.origin, data.feature_names
        self.seen = Seen(facts=data.facts, totals=dict(vars(data).get("_totals", {})))
        each = max(1, block_bytes // max(1, self.shape[1] * self.values.itemsize))
        self.stops = np.minimum(np.arange(each, self.shape[0] + each, each), self.shape[0])
        self.lock: Any = None
        """Keeps the pages of the array where they are, so that a card can copy them."""

    def nothing_seen(self) -> Seen:
        return Seen()

    @property
    def size(self) -> int:
        return self.values.size

    def pieces(self) -> Iterator[tuple[slice, Data]]:
        began, start = time.perf_counter(), 0
        for stop in self.stops.tolist():
            self.log.check(f"row {start} of {self.shape[0]}")
            yield slice(start, stop), DenseData(self.values[start:stop], self.namespace, self.unit)
            start = stop
        self.log.seconds.append(time.perf_counter() - began)

    def some(self, items: np.ndarray) -> Data:
        return DenseData(self.values[items], self.namespace, self.unit)

    def moved(self, namespace: Namespace) -> Data:
        return Streamed(self, namespace)


class Streamed(Blocks):
    """Blocks of rows that pass through a card, on which elementwise passes and products are made.

    Parameters
    ----------
    base : Blocks
        In files, or in main memory.
    card : Namespace
        Library, dtype and device of the blocks that are worked on.
    """

    def __init__(self, base: Any, card: Namespace) -> None:
        self.base, self.card = base, card
        self.namespace, self.shape, self.log, self.stops = base.namespace, base.shape, base.log, base.stops
        self.feature_names, self.origin = base.feature_names, base.origin
        self._stage: Any = None

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        return bool(self.base.is_sparse)

    @property
    def size(self) -> int:
        return int(self.base.size)

    def in_units(self, unit: float) -> Data:
        return self if unit == 1 else Streamed(self.base.in_units(unit), self.card)

    @property
    def seen(self) -> Any:
        return self.base.seen

    @property
    def cache(self) -> Any:  # type: ignore[override]
        return self.base.cache

    def survey(self, totals: Any) -> Any:
        return self.base._read(tuple(totals))

    def some(self, items: np.ndarray) -> Data:
        found: Data = self.base.some(items)
        return found

    def pieces(self) -> Iterator[tuple[slice, Data]]:
        """Blocks in main memory, for work that is not done on the card."""
        yield from self.base.pieces()

    def reading(self, work: Work, how: Sequence[How], shared: tuple[Any, ...] = (), own: tuple[Any, ...] = ()) -> list[Any]:
        if work not in (*products, *elementwise):
            return list(self.base.reading(work, how, shared, own))
        stacked, sums = Gathering(["stack" if way == "stack" else "list" for way in how], self.shape[0]), [None] * len(how)
        with self._on_card():
            there = _each(shared, self.card.asarray)
            for rows, block in self._passing():
                results = list(work(block, there, tuple(self.card.asarray(array[rows]) for array in own)))
                for number, way in enumerate(how):
                    if way == "add":
                        sums[number] = self._added(sums[number], results[number])
                        results[number] = None
                stacked.add(tuple(map(_on_host, results)), rows.stop - rows.start)
                del block, results
        found = stacked.found
        return [_on_host(sums[number]) if way == "add" else found[number] for number, way in enumerate(how)]

    def _added(self, total: Any, more: Any) -> Any:
        """A sum over blocks, small ones in double precision as in main memory."""
        xp = self.card.xp
        if isinstance(more, float | int) or not more.ndim:
            return more if total is None else total + more
        more = xp.astype(more, xp.float64) if is_added_in_double(math.prod(more.shape)) else more
        return more if total is None else total + more

    def _passing(self) -> Iterator[tuple[slice, Data]]:
        """The blocks on the card, the next one on its way there while one is worked on."""
        pieces, move = self.base.pieces(), self._mover()

        def take() -> Any:
            found = next(pieces, None)
            return None if found is None else (found[0], move(found[1]))

        def blocks() -> Iterator[Any]:
            for found in ahead(take for _ in range(len(self.stops) + 1)):  # the last one ends the pass of the base
                if found is not None:
                    yield found

        if not has_cuda(self.card):
            yield from blocks()
            return
        from ..kernels.transfer import arrived

        rows: list[slice] = []

        def events() -> Iterator[Any]:
            for where, pair in blocks():
                rows.append(where)
                yield pair

        for block in arrived(events()):
            yield rows.pop(), block

    def _mover(self) -> Callable[[Data], Any]:
        """A function that begins the copy of a block to the card."""
        if not has_cuda(self.card):
            return lambda block: moved(block, self.card)
        from ..kernels.transfer import PageLock, Staging

        if self._stage is None:
            self._stage = Staging(self.card.device)
            if isinstance(self.base, MemoryBlocks) and self.base.lock is None:
                self.base.lock = PageLock(self.base.values)
        stage = self._stage

        def move(block: Data) -> Any:
            def made(copy: Callable[[np.ndarray], Array]) -> Data:
                if type(block) is DenseData and block.values.flags.c_contiguous:
                    return dense(copy(block.values), self.card, block.unit)
                return moved(block, self.card)

            return stage(made)

        return move

    def _on_card(self) -> Any:
        if not has_cuda(self.card):
            return nullcontext()
        import torch

        return torch.cuda.device(self.card.device)


def worked_on(card: Namespace, work: Work, block: Data, shared: tuple[Any, ...], own: tuple[Any, ...]) -> list[Any]:
    """The results of work on a block in main memory, made on a card if it is of passes over entries or products."""
    if work not in (*products, *elementwise):
        return list(work(block, shared, own))
    results = work(moved(block, card), _each(shared, card.asarray), tuple(map(card.asarray, own)))
    return [_on_host(result) for result in results]


def _on_host(array: Any) -> Any:
    if array is None or isinstance(array, float | int):
        return array
    return to_host(array) if array.ndim else float(array)


def _each(found: Any, change: Callable[[np.ndarray], Any]) -> Any:
    """Nested tuples with each array of numbers changed."""
    if isinstance(found, np.ndarray):
        return change(found) if found.dtype.kind == "f" else found
    if isinstance(found, tuple):
        parts = [_each(part, change) for part in found]
        return type(found)(*parts) if hasattr(found, "_fields") else tuple(parts)
    return [_each(part, change) for part in found] if isinstance(found, list) else found
