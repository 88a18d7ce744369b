"""Data on a Dask cluster: blocks stay on their workers, and small matrices travel.

A pass is one graph of tasks: work on each block by the worker that has it, and a tree of sums whose order does not depend on the
number of workers, so that one matrix comes back rather than one for each block. Tasks of a lost worker are run by others; a pass
that lost its arguments is repeated.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import count
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from scipy import sparse

from ..exceptions import DataError
from ..io.stored import check_matrix, check_numbers, real
from ..kernels.namespace import Namespace
from ..kernels.tuned import tuned
from .base import Data
from .blocks import Gathering, How, ReadingLog, Seen, StoredBlocks, Work
from .checking import bad_entry, survey_block
from .cluster import homes_of, is_loss, is_reached, results_of, scheduler_at, sender, the_dask
from .device import not_to_be_moved
from .files import as_block
from .reading import with_nan
from .streamed import worked_on
from .weighted.weights import Scaled, rows_of, stacked

_FAN = tuned(8, by="cluster", on="2026-11-16")
"""Results that are added up by one task."""
_ATTEMPTS = 4
"""How often a reading is made that workers were lost in."""
_NUMBERS, _TOKEN = count(), uuid4().hex[:8]


class DaskBlocks(StoredBlocks):
    """Blocks of rows that are a Dask collection: an array, a table, or an array whose blocks are SciPy's sparse arrays."""

    def __init__(self, parts: Sequence[Any], rows: Sequence[int], columns: int, dtype: Any) -> None:
        self.tasks, self.rows = list(parts), [int(count) for count in rows]
        self.stops = np.cumsum(self.rows)
        self.shape = check_matrix((int(self.stops[-1]) if len(self.stops) else 0, columns), "X")
        self.namespace = Namespace(np, real(check_numbers(dtype, "X")), "cpu")
        self.log, self.seen = ReadingLog(), self.nothing_seen()
        if 0 in self.shape:
            raise DataError(f"X is empty: its shape is {self.shape}. At least one row and one column are needed.")

    _card: Namespace | None = None
    """The card that each worker has, by the name that it has there: one that sees a single card (Dask-CUDA) calls it the first."""

    @property
    def card(self) -> Namespace:
        """Where blocks are worked on."""
        return self._card or self.namespace

    def moved(self, namespace: Namespace) -> Data:
        if namespace.is_host:
            return self._changed(_card=None)
        if self.costs.weighted:
            raise not_to_be_moved(self, namespace)
        return self._changed(_card=namespace)

    def nothing_seen(self) -> Seen:
        return Seen(scheduler=scheduler_at())

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        """Whether the first block is sparse."""
        if self.seen.is_sparse is None:
            self.seen.is_sparse = bool(the_dask().delayed(sparse.issparse)(self.tasks[0]).compute())
        return bool(self.seen.is_sparse)

    # ---- readings

    def reading(self, work: Work, how: Sequence[How], shared: tuple[Any, ...] = (), own: tuple[Any, ...] = ()) -> list[Any]:
        began, is_first = time.perf_counter(), self.seen.facts is None
        self.log.check()
        wanted = tuple(self.seen.wanted) if is_first else None
        own_of = [(self._weights_of(rows), *(array[rows] for array in own)) for rows in self._ranges]
        results = self._computed(work, shared, own_of, wanted)
        added, rest, surveys = self._put_together(results, how)
        if is_first:
            self._check(surveys)
        self.log.seconds.append(time.perf_counter() - began)
        found, sums = Gathering([way for way in how if way != "add"], self.shape[0]), iter(added)
        for parts, rows in zip(rest, self.rows, strict=True):
            found.add(parts, rows)
        others = iter(found.found)
        return [next(sums) if way == "add" else next(others) for way in how]

    @property
    def _ranges(self) -> list[slice]:
        return [slice(stop - rows, stop) for rows, stop in zip(self.rows, self.stops.tolist(), strict=True)]

    def _weights_of(self, rows: slice) -> Any:
        """The weights of a block; of weights in Dask, the block of equal height."""
        return None if self.weighing is None else self.weighing.of(rows)

    def _computed(self, work: Work, shared: Any, own_of: list[Any], wanted: Any) -> Callable[[Sequence[How]], Any]:
        """A function that builds the graph of a reading, and computes it."""
        dask = the_dask()
        name = work.__name__.strip("_").replace("_", "-")
        weighing = None if self.weighing is None else self.weighing.without_weights()
        settings = (work, self.namespace, self.unit, wanted, self.seen.signed, weighing, self._card)

        def compute(how: Sequence[How]) -> Any:
            send = sender(self.seen.scheduler)
            number = f"{_TOKEN}-{next(_NUMBERS)}"  # another one for each attempt: keys are never used twice
            (everywhere,), homes = send([shared]), homes_of(self.seen.scheduler, self.tasks)
            apart, done = [_apart(own[0]) for own in own_of], []
            mine_of: Any = [(weights, *own[1:]) for (weights, _), own in zip(apart, own_of, strict=True)]
            mine_of = send(mine_of) if any(len(mine) > 1 or mine[0] is not None for mine in mine_of) else mine_of
            for place, (part, mine, (_, entries), home) in enumerate(zip(self.tasks, mine_of, apart, homes, strict=True)):
                with dask.annotate(workers=[home], allow_other_workers=False) if home else nullcontext():
                    key = f"nonneg-{name}-{number}-{place}"
                    done.append(
                        dask.delayed(_worked, pure=False)(part, settings, everywhere, mine, entries, tuple(how), dask_key_name=key)
                    )
            sums, rest, level = done, [], 1
            if any(way != "add" for way in how):  # other results than sums stay on their worker until they are fetched
                sums = [dask.delayed(_first_of)(each, dask_key_name=f"nonneg-sum-{number}-0-{i}") for i, each in enumerate(done)]
                rest = [dask.delayed(_rest_of)(each, dask_key_name=f"nonneg-rest-{number}-{i}") for i, each in enumerate(done)]
            while len(sums) > 1:
                groups = [sums[start : start + _FAN] for start in range(0, len(sums), _FAN)]
                sums = [
                    dask.delayed(_added)(group, dask_key_name=f"nonneg-sum-{number}-{level}-{i}") for i, group in enumerate(groups)
                ]
                level += 1
            (added, told), others = results_of(sums[0], rest, {home for home in homes if home})
            return added, others or told

        return compute

    def _put_together(self, compute: Callable[[Sequence[How]], Any], how: Sequence[How]) -> tuple[Any, list[Any], list[Any]]:
        for attempt in range(_ATTEMPTS):
            try:
                added, rest = compute(how)
                return aligned(tuple(added)), [parts for parts, _ in rest], [survey for _, survey in rest]
            except DataError:
                raise
            except Exception as error:
                scheduler = self.seen.scheduler
                if scheduler is None or not (is_loss(error) or isinstance(error, OSError)):
                    raise
                if attempt == _ATTEMPTS - 1 or not is_reached(scheduler):
                    what = "workers were lost again and again" if is_reached(scheduler) else "it cannot be reached any more"
                    raise DataError(f"A reading of X by the Dask scheduler at {scheduler} has failed: {what} ({error}).") from error
        raise AssertionError

    def _check(self, surveys: Sequence[Any]) -> None:
        """Keep the results of the first reading; raise an error with the place of an entry that cannot be."""
        for place, ((_, bad), rows, stop) in enumerate(zip(surveys, self.rows, self.stops, strict=True)):
            if bad is not None:
                (row, column, value), first = bad, int(stop) - rows
                raise bad_entry(value, f"row {first + row}, column {column} (row {row} of block {place})")
        self.conclude([survey for survey, _ in surveys])

    # ---- rows

    def some(self, items: np.ndarray) -> Data:
        dask = the_dask()
        where, starts = np.searchsorted(self.stops, items, "right"), self.stops - self.rows
        places = np.unique(where).tolist()
        chosen = [(place, items[where == place] - starts[place]) for place in places]
        weights = [self._weights_of(self._ranges[place]) for place in places]
        tasks = [
            dask.delayed(_taken, pure=False)(self.tasks[place], some, *_apart(own))
            for (place, some), own in zip(chosen, weights, strict=True)
        ]
        order = np.argsort(np.concatenate([np.flatnonzero(where == place) for place in places]))
        values, own = zip(*dask.compute(*tasks), strict=True)
        block = as_block(stacked(values)[order], self.namespace)
        if self.weighing is not None:
            block = self.weighing.weigh(block, rows_of(stacked(own), order))
        return block if self.unit == 1 else block.in_units(self.unit)

    def pieces(self) -> Iterator[tuple[slice, Data]]:
        """Blocks one by one in this process, for work that is not sent to workers."""
        for rows, stop in zip(self.rows, self.stops.tolist(), strict=True):
            yield slice(stop - rows, stop), self.some(np.arange(stop - rows, stop))


# ---- tasks on workers


def _worked(part: Any, settings: Any, shared: Any, own: Any, entries: Any, how: Sequence[How]) -> tuple[list[Any], list[Any]]:
    """Results of the work on a block: the summands, and a list of all others with the survey of a first pass."""
    work, namespace, unit, wanted, signed, weighing, card = settings
    weights, *own = aligned(own)
    block, survey = as_block(_entries_of(part), namespace), None
    if weighing is not None:
        block = weighing.weigh(block, _whole(weights, _entries_of(entries)))
    if wanted is not None:
        survey = survey_block(block, wanted, signed=signed, weighing=weighing)
    block, shared, own = block if unit == 1 else block.in_units(unit), aligned(shared), tuple(own)
    results = work(block, shared, own) if card is None else worked_on(card, work, block, shared, own)
    added = [result for way, result in zip(how, results, strict=True) if way == "add"]
    return added, [(tuple(result for way, result in zip(how, results, strict=True) if way != "add"), survey)]


def _apart(weights: Any) -> tuple[Any, Any]:
    """The weights of a block, and separately its entries if they are a Dask task."""
    entries = weights.entries if isinstance(weights, Scaled) else weights
    if not _is_task(entries):
        return weights, None
    return (weights._replace(entries=None) if isinstance(weights, Scaled) else None), entries


def _whole(weights: Any, entries: Any) -> Any:
    """The two together again."""
    if entries is None:
        return weights
    return weights._replace(entries=entries) if isinstance(weights, Scaled) else entries


def _is_task(weights: Any) -> bool:
    return type(weights).__module__.startswith("dask")


class RowsOfDask:
    """A Dask array cut as another is, of which a block can be had by the rows that it is."""

    def __init__(self, array: Any, rows: Sequence[int]) -> None:
        array = array if tuple(array.chunks[0]) == tuple(rows) else array.rechunk({0: tuple(rows)})
        self.shape, self._name = array.shape, array.name
        starts = (np.cumsum(rows) - np.asarray(rows)).tolist()
        self._parts = dict(zip(starts, array.to_delayed().ravel().tolist(), strict=True))

    def __getitem__(self, rows: slice) -> Any:
        return self._parts[rows.start]

    def __repr__(self) -> str:
        return str(self._name)


def aligned(value: Any) -> Any:
    """A copy with aligned arrays, unless they are.

    Arrays from the network may be unaligned; NumPy multiplies these without BLAS, slowly and with other roundings.
    """
    if isinstance(value, np.ndarray):
        return np.require(value, requirements="A")
    if isinstance(value, tuple):
        parts = [aligned(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if sparse.issparse(value) and value.format in ("csr", "csc"):
        arrays = tuple(aligned(part) for part in (value.data, value.indices, value.indptr))
        return type(value)(arrays, shape=value.shape, copy=False)
    return value


def _entries_of(part: Any) -> Any:
    """The entries of a block, masked ones as NaN, which are ignored or refused later."""
    return aligned(with_nan(part))


def _first_of(results: Any) -> tuple[list[Any], list[Any]]:
    return results[0], []


def _rest_of(results: Any) -> Any:
    (rest,) = results[1]
    return rest


def _added(parts: Sequence[tuple[list[Any], list[Any]]]) -> tuple[list[Any], list[Any]]:
    """The sums of several lists of results, and their other results in order."""
    total = [aligned(one) for one in parts[0][0]]
    for added, _ in parts[1:]:
        total = [one + aligned(other) for one, other in zip(total, added, strict=True)]
    return total, [each for _, told in parts for each in told]


def _taken(part: Any, rows: np.ndarray, weights: Any, entries: Any) -> tuple[Any, Any]:
    """Some rows of a block, and of its weights."""
    weights = _whole(weights, _entries_of(entries))
    return _entries_of(part)[rows], rows_of(weights, rows)


# ---- collections


def is_collection(X: Any) -> bool:
    """Whether something is an array or a table of Dask."""
    return type(X).__module__.startswith(("dask.array", "dask.dataframe", "dask_expr")) and hasattr(X, "dask")


def of_collection(X: Any) -> DaskBlocks:
    """The data of an array or a table of Dask. Blocks without rows, as a filter leaves them, are passed over."""
    array = as_array(X, "X")
    parts = [(part, rows) for part, rows in zip(array.to_delayed().ravel().tolist(), array.chunks[0], strict=True) if rows]
    return DaskBlocks([part for part, _ in parts], [rows for _, rows in parts], int(array.shape[1]), array.dtype)


def weights_of_collection(weights: Any, data: DaskBlocks) -> RowsOfDask:
    """Weights that are a Dask collection, in the blocks of the data."""
    array = as_array(weights, "weights")
    if tuple(array.shape) != tuple(data.shape):
        raise DataError(f"weights must have the shape of X, {data.shape}; got shape {tuple(array.shape)}.")
    return RowsOfDask(array, data.rows)


def without_mask(array: Any) -> Any:
    """A Dask array with masked entries as NaN."""
    if not isinstance(array._meta, np.ma.MaskedArray):
        return array
    dtype = real(array.dtype)
    return array.map_blocks(with_nan, dtype=dtype, meta=np.empty((0, 0), dtype))


def as_array(X: Any, name: str) -> Any:
    """A Dask array in blocks of whole rows, of known sizes."""
    array = _with_numbers(X, name).to_dask_array(lengths=True) if hasattr(X, "to_dask_array") else X
    if array.ndim != 2:
        raise DataError(f"{name} must be a matrix with rows and columns; got {array.ndim} dimensions.")
    if any(math.isnan(size) for sizes in array.chunks for size in sizes):
        array = array.compute_chunk_sizes()
    return array if len(array.chunks[1]) == 1 else array.rechunk({1: -1})


def _with_numbers(table: Any, name: str = "X") -> Any:
    """The table with NaN for NA, if columns are numbers of extension types of pandas or Arrow; else unchanged."""
    if table.ndim != 2:
        return table
    dtypes = dict(zip(table.columns, table.dtypes, strict=True))
    others = [column for column, dtype in dtypes.items() if dtype.kind not in "fiub"]
    if others:
        what = "a column that holds" if len(others) == 1 else f"{len(others)} columns that hold"
        some = ", ".join(f"{column!r} ({dtypes[column]})" for column in others[:_NAMED]) + (", …" if len(others) > _NAMED else "")
        raise DataError(f"{name} has {what} no numbers: {some}. Drop such columns first, as by X.drop(columns=[{others[0]!r}]).")
    if not any(hasattr(dtype, "na_value") for dtype in dtypes.values()):
        return table
    return table.map_partitions(with_nan, meta=with_nan(table._meta))


_NAMED = 8
"""Columns that are named in a message."""


class BlockOrigin(NamedTuple):
    """Which block of a collection rows are, for messages about them; like `Origin` for files."""

    number: int
    first: int | None
    """Its first row in the collection; None if blocks before it are of unknown sizes."""

    def place(self, row: int, column: int) -> str:
        """The place of an entry of X, in words."""
        block = f"row {row} of block {self.number}"
        return f"{block}, column {column}" if self.first is None else f"row {self.first + row}, column {column} ({block})"


def _unless_empty(
    function: Callable[[Any, BlockOrigin], np.ndarray], empty: np.ndarray, block: Any, block_info: Any = None
) -> np.ndarray:
    """Apply a function to a block, unless the block has no rows."""
    if not block.shape[0]:
        return empty
    (number, *_), ((first, _), *_) = block_info[0]["chunk-location"], block_info[0]["array-location"]
    return function(block, BlockOrigin(int(number), None if math.isnan(first) else int(first)))


def by_blocks(X: Any, function: Callable[[Any, BlockOrigin], np.ndarray], columns: int, dtype: Any) -> Any:
    """A lazy Dask array: a function applied to each block of rows."""
    array = _with_numbers(X).to_dask_array() if hasattr(X, "to_dask_array") else X
    if array.ndim != 2:
        raise DataError(f"X must be a matrix with rows and columns; got {array.ndim} dimensions.")
    array = array if len(array.chunks[1]) == 1 else array.rechunk({1: -1})
    empty = np.empty((0, columns), dtype)
    work = partial(_unless_empty, function, empty)
    return array.map_blocks(work, chunks=(array.chunks[0], (columns,)), dtype=dtype, meta=empty, name=None)
