"""Data in blocks of rows, in files or on a cluster: results for all rows are combined from those of blocks.

A kind of such data says how to make one *reading*: to do some work on each block, and to put the results together, side by side or
added up. Everything else follows. Work is a function of this module, and what it needs is of two kinds: `shared`, the same for all
blocks, and `own`, arrays with a row for each row of X, of which a block gets its own. So it can be done in a thread, or on
another machine.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from ..exceptions import DataError
from ..kernels.host import as_dense, as_type, summand
from ..kernels.namespace import Array
from .base import Data, Facts, Total, apply_both, chunk_rows, chunks, request
from .profile import Costs
from .steps import Request
from .weighted import blocks as on_weighted
from .weighted.base import LowRank, Partial, mean_filling, settled_by_sums
from .weighted.weighing import Weighing
from .weighted.weights import Pair

How = Literal["stack", "add", "list"]
"""How the results of blocks are put together: one below the other, as a sum, or as a list."""
Work = Callable[[Data, tuple[Any, ...], tuple[Any, ...]], tuple[Any, ...]]
"""(block, shared, own) → results."""


Make = Callable[[Any, tuple[Any, ...], tuple[Any, ...]], Data]
"""(block, shared, own) → another block."""


class Slot(NamedTuple):
    """Address of a matrix for a block: shared by all blocks, its own rows of an array, or an earlier result of the block."""

    kind: Literal["shared", "own", "made"]
    number: int


class Applied(NamedTuple):
    """X M, or Xᵀ M, for a block."""

    matrix: Slot
    transposed: bool
    sign: str


class Visited(NamedTuple):
    """An elementwise pass of a block; requests as (operand, side, matrix), on the left by the transpose of the matrix."""

    left: Slot
    right: Slot
    requests: tuple[tuple[Any, Literal["left", "right"], Slot], ...]
    log_power: float | None


class Interrupted(KeyboardInterrupt):
    """The user interrupted a pass over the data."""


@dataclass
class ReadingLog:
    """How often data have been read as a whole, and how long each time took."""

    seconds: list[float] = field(default_factory=list)
    most: int | None = None
    """Upper bound on their number, if known."""
    over: Callable[[], bool] | None = None
    """Whether a reading is to be broken off."""
    told: Callable[[str], Any] | None = None
    """Who is to hear how far a reading is."""
    before: int = 0
    """How many there had been when the fit that is going on began, or the last one."""

    def check(self, place: str = "") -> None:
        """Raise `Interrupted` if the user asked for it; called before each block, with its place."""
        if self.over is not None and self.over():
            raise Interrupted("A reading of the data was interrupted.")
        if self.told is not None:
            self.told(f"reading {self.count + 1}{f', {place}' if place else ''}")

    @contextmanager
    def unbroken(self) -> Iterator[None]:
        """Context in which passes are not interrupted."""
        over, self.over = self.over, None
        try:
            yield
        finally:
            self.over = over

    @property
    def count(self) -> int:
        return len(self.seconds)

    @property
    def of_fit(self) -> int:
        """How many there have been in the fit that is going on, or in the last one."""
        return self.count - self.before


class Blocks(Partial):
    """Rows in blocks, of which a few are at hand at a time.

    Blocks of data with weights have weights themselves. Missing entries of X inside a form are filled block by block, while the
    block is in memory, with U·V of low rank, of which a block needs all of V and its own rows of U. So X is never there as a
    whole, filled or not.
    """

    is_sparse: bool = False
    """Whether the blocks are sparse."""
    stops: np.ndarray
    """The row after the last one of each block."""
    weighing: Weighing | None = None
    """Weights of the blocks, if they have any."""
    inside: Any = None

    @property
    def costs(self) -> Costs:  # type: ignore[override]
        return Costs(
            storage="sparse" if self.is_sparse else "dense",
            weighted=self.weighing is not None,
            out_of_core=True,
            one_pass_grams=frozenset({True}),
            swept_weights=self.weighing is not None,
        )

    @property
    def weights(self) -> Any:
        """Weights of all rows; None if all known entries have weight one."""
        return self.weighing and self.weighing.weights

    @property
    def has_gaps(self) -> bool:
        return self.weighing is not None and not self.weighing.keeps_pairs and self.facts.missing > 0

    @abstractmethod
    def pieces(self) -> Iterator[tuple[slice, Data]]:
        """The blocks one after the other, in memory, with their rows: one pass."""

    def _changed(self, **changes: Any) -> Self:
        other = copy(self)
        for name in ("_facts", "_totals", "_lengths", "items"):
            other.__dict__.pop(name, None)
        other.__dict__.update(changes)
        return other

    def weighted_by(self, weighing: Weighing) -> Self:
        """The blocks with weights; by default their own ones, and missing entries."""
        if weighing.weights is not None:
            raise DataError(
                f"Blocks of the kind {type(self).__name__} take no weights beside those that they have. Have pieces() yield "
                "WeightedDense with all weights, and say `weighing = Weighing()` in the class; or leave out `weights`."
            )
        return self._changed(weighing=weighing)

    def unweighted(self) -> Self:
        """The blocks without weights, none of which differs from one."""
        return self._changed(weighing=None)

    def some(self, items: np.ndarray) -> Data:
        """Some rows, as a block in memory: of blocks without random access, by a pass."""
        places = np.asarray(items)
        mine = ((rows, block, np.flatnonzero((places >= rows.start) & (places < rows.stop))) for rows, block in self.pieces())
        found = [(block.subset(places[own] - rows.start, 0), own) for rows, block, own in mine if len(own)]
        order = np.argsort(np.concatenate([own for _, own in found]))
        return on_weighted.stack_blocks([block for block, _ in found]).subset(order, 0)

    def reading(self, work: Work, how: Sequence[How], shared: tuple[Any, ...] = (), own: tuple[Any, ...] = ()) -> list[Any]:
        """One pass: the work on each block, each of its results put together in its way."""
        found = Gathering(how, self.shape[0])
        for rows, block in self.pieces():
            results = work(block, shared, tuple(array[rows] for array in own))
            del block  # or it would still be there while the one after the next is read
            found.add(results, rows.stop - rows.start)
        return found.found

    @property
    def in_blocks(self) -> tuple[Blocks, bool] | None:  # type: ignore[override]
        # A block by itself does not know its fills.
        return None if self.inside is None and self.has_gaps else (self, False)

    def programmed(
        self, work: Sequence[Applied | Visited], how: Sequence[How], shared: Sequence[Array], own: Sequence[Array]
    ) -> list[Any]:
        """One pass in which each block runs several steps, each of which can use results of earlier ones."""
        return self.reading(_programmed, how, (tuple(work), tuple(shared)), tuple(own))

    def in_units(self, unit: float) -> Data:
        return self if unit == 1 else MadeBlocks(self, _divided, (unit,), weighing=self.weighing)

    # ---- products

    apply_after = Data.apply_after

    @property
    def _filled(self) -> Any:
        """The blocks that products are of."""
        return self if self.weighing is None else self.complete

    def apply(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        if transposed:
            (product,) = self._filled.reading(_apply, ("add",), (sign,), (M,))
        else:
            (product,) = self._filled.reading(_apply, ("stack",), (sign, M))
        return product

    def apply_both(self, M: Array, N: Array | None = None) -> tuple[Array, Array]:
        """As the function `apply_both`, in one pass."""
        product, other = self._filled.reading(_apply_both, ("stack", "add"), (M,), () if N is None else (N,))
        return product, other

    def apply_gram(self, M: Array, *, transposed: bool = False) -> Array:
        if not transposed:
            return Data.apply_gram(self, M)
        (product,) = self._filled.reading(_apply_gram, ("add",), (M,))
        return product

    def with_itself(self, first: bool, second: bool) -> Array:
        if (first, second) != (True, False):
            return Data.with_itself(self._filled, first, second)
        (product,) = self._filled.reading(_gram, ("add",))
        return product

    # ---- entry by entry

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Any]:
        plain = tuple(request if request.side == "right" else request._replace(matrix=None) for request in requests)
        own = [request.matrix.T for request in requests if request.side == "left" and request.matrix is not None]
        is_left = tuple(request.side == "left" and request.matrix is not None for request in requests)
        how: list[How] = ["add" if left else "stack" for left in is_left]
        shared = (V, plain, is_left, log_power)
        *products, total = self.reading(_visit, (*how, "add"), shared, (U, *own))
        return products, None if log_power is None else total

    # ---- sums

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        (found,) = self.reading(_survey, ("list",), (tuple(totals),))
        return together(found)

    def _measured_lengths(self, axis: int) -> np.ndarray:
        (squares,) = self.reading(_squares, ("stack" if axis == 0 else "add",), (axis,))
        return np.sqrt(squares)

    # ---- rows and columns

    def take(self, items: np.ndarray, axis: int) -> Any:
        if axis == 0:
            return self.some(np.asarray(items)).take(np.arange(len(items)), axis=0)
        (found,) = self.reading(_columns, ("stack",), (np.asarray(items),))
        return np.ascontiguousarray(found.T)

    def blocks(self, *, transposed: bool = False, as_stored: bool = False) -> Iterator[tuple[slice, Any]]:
        if transposed:
            each = max(1, _ENTRIES // max(self.shape[0], 1))
            for start in range(0, self.shape[1], each):
                stop = min(start + each, self.shape[1])
                yield slice(start, stop), self.take(np.arange(start, stop), axis=1)
            return
        step = chunk_rows(self.shape[1])
        for rows, block in self.pieces():
            if as_stored:
                for some, part in block.blocks(as_stored=True):
                    yield slice(rows.start + some.start, rows.start + some.stop), part
                continue
            for start in range(rows.start, rows.stop, step):
                stop = min(start + step, rows.stop)
                yield slice(start, stop), block.take(np.arange(start, stop) - rows.start, axis=0)

    def itself(self) -> Any:
        from ..kernels.memory import check_memory

        entries = self.shape[0] * self.shape[1]
        check_memory(
            entries * np.dtype(self.namespace.dtype).itemsize, "X as a whole", "Use a form that needs only products with X."
        )
        return np.concatenate([as_dense(block) for _, block in self._filled.blocks()])

    # ---- weights

    def sweep_rows(self, F: Array, B: Array, options: tuple[float, float, int, int, float], *, transposed: bool = False) -> None:
        if not transposed:
            (found,) = self.reading(on_weighted.swept, ("stack",), (B, options), (F,))
            F[...] = found
            return
        from ..kernels.coordinates import rows_of_grams
        from ..kernels.threads import over_rows

        r = B.shape[1]
        for some in chunks(self.shape[1], max(1, 2**20 * r * (r + 1) // (2 * _SYSTEMS))):
            lower = [(k, j) for k in range(r) for j in range(k + 1)]
            grams, C = self.reading(on_weighted.sums_of_columns, ("add", "add"), (some, lower), (B,))
            own = np.ascontiguousarray(F[some])
            over_rows(rows_of_grams, len(some), own, np.ascontiguousarray(grams.T), np.ascontiguousarray(C.T), *options, least=1000)
            F[some] = own

    def subset(self, items: np.ndarray, axis: int) -> Data:
        if self.weighing is None:
            return super().subset(items, axis)
        if axis == 0:
            return self.some(items)
        (parts,) = self.reading(on_weighted.some_columns, ("list",), (np.asarray(items),))
        return on_weighted.stack_blocks(parts)

    def parts(self) -> Iterator[Data]:
        return (block for _, block in self.pieces())

    @cached_property
    def items(self) -> Data:
        if self.weighing is None:
            return self
        return self.filled(mean_filling(self)) if self.has_gaps else MadeBlocks(self, on_weighted.whole)

    def with_inside(self, inside: Any) -> MadeBlocks:
        U, V = inside.fills
        return MadeBlocks(self._plain, on_weighted.with_inside, (V,), (U,), self.weighing, inside=inside)

    @property
    def _plain(self) -> Blocks:
        """The blocks without others inside the form."""
        return self

    def filled(self, values: LowRank) -> MadeBlocks:
        return MadeBlocks(self._plain, on_weighted.filled, (values.V,), (values.U,), fills=values)

    def blended(self, values: LowRank, share: float = 1.0) -> tuple[Data, float]:
        (spread,) = self.reading(on_weighted.spread_of, ("add",), (values.V, share), (values.U,))
        return MadeBlocks(self._plain, on_weighted.blended, (values.V, share), (values.U,), fills=values), float(spread)

    def settled(self, left: Array, right: Array, prior: Array, *, transposed: bool = False) -> LowRank | None:
        if self.weights is not None:
            return None
        if not transposed:
            (codes,) = self.reading(on_weighted.settled, ("stack",), (left, right, prior))
            return LowRank(self.namespace.asarray(codes), right)
        codes, k = np.empty((self.shape[1], left.shape[1])), left.shape[1]
        for some in chunks(self.shape[1], max(1, 2**20 * k * k // _SYSTEMS)):
            pairs, own = [(a, b) for a in range(k) for b in range(k)], (left, np.ascontiguousarray(right.T))
            grams, C = self.reading(on_weighted.sums_of_columns, ("add", "add"), (some, pairs), own)
            codes[some] = settled_by_sums(grams, C, left, right, prior)
        return LowRank(self.namespace.asarray(codes), right)

    def absorbed(self, rows: bool, columns: bool) -> Data:
        if not isinstance(self.weights, Pair) or self.has_gaps:
            return self
        kept = Pair(*(np.ones_like(part) if asked else part for part, asked in zip(self.weights, (rows, columns), strict=True)))
        weighing: Any = self.weighing
        left = None if all((part == 1).all() for part in kept) else replace(weighing, weights=kept)
        return MadeBlocks(self, on_weighted.absorbed, (rows, columns), weighing=left)


@dataclass(eq=False)
class MadeBlocks(Blocks):
    """Blocks made of others by a function, in the thread or on the worker that has them.

    Attributes
    ----------
    base : Blocks
    make : callable
    shared, own : tuple
        What it takes besides a block.
    weighing : Weighing, optional
        Weights of the blocks that are made.
    fills : LowRank, optional
        The values that missing entries are filled with.
    inside : MadeBlocks, optional
        X in a form, filled, for blocks with weights that differ in nothing else.
    """

    base: Blocks
    make: Make
    shared: tuple[Any, ...] = ()
    own: tuple[Any, ...] = ()
    weighing: Weighing | None = None
    fills: LowRank | None = None
    inside: Any = None
    cache: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.namespace, self.shape, self.log = self.base.namespace, self.base.shape, self.base.log
        self.stops = self.base.stops

    @property
    def size(self) -> int:
        return self.base.size

    @property
    def costs(self) -> Costs:  # type: ignore[override]
        # To sweep over filled data would take a pass for every few columns.
        return super().costs if self.fills is None else replace(super().costs, swept_sides=frozenset())

    @property
    def _plain(self) -> Blocks:
        return self if self.inside is None else self.base

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        return super().survey(totals) if self.inside is None else self.base._read(totals)

    def reading(self, work: Work, how: Sequence[How], shared: tuple[Any, ...] = (), own: tuple[Any, ...] = ()) -> list[Any]:
        return self.base.reading(on_made, how, (self.make, self.shared, len(self.own), work, shared), (*self.own, *own))

    def pieces(self) -> Iterator[tuple[slice, Data]]:
        for rows, block in self.base.pieces():
            yield (
                rows,
                block if self.inside is not None else self.make(block, self.shared, tuple(array[rows] for array in self.own)),
            )

    def some(self, items: np.ndarray) -> Data:
        some = self.base.some(items)
        return some if self.inside is not None else self.make(some, self.shared, tuple(array[items] for array in self.own))

    def in_units(self, unit: float) -> MadeBlocks:
        fills = self.fills and LowRank(self.fills.U / unit, self.fills.V)
        inside = self.inside and self.inside.in_units(unit)
        values = fills or (inside and inside.fills)
        own = self.own if values is None else (values.U,)
        return MadeBlocks(self.base.in_units(unit), self.make, self.shared, own, self.weighing, fills, inside)  # type: ignore[arg-type]


_ENTRIES = 2**25
"""Entries of columns that are taken together."""
_SYSTEMS = 2**27
"""Entries of small systems, one for each column of X, that one reading adds up."""
_USUAL: tuple[Total, ...] = (("power", 1), ("power", 2))
"""Sums that every first reading finds: they cost little."""


@dataclass
class Seen:
    """Results of the first reading, shared by all data made of the same blocks."""

    wanted: dict[Total, None] = field(default_factory=lambda: dict.fromkeys(_USUAL))
    """Sums to find."""
    signed: bool = False
    """Whether entries may be negative."""
    facts: Facts | None = None
    totals: dict[Total, float] = field(default_factory=dict)
    cached: dict[Any, Any] = field(default_factory=dict)
    stamp: Any = None
    """Of a file."""
    digests: dict[int, bytes] = field(default_factory=dict)
    """Of blocks of a file."""
    surveys: dict[int, tuple[Facts, list[float]]] = field(default_factory=dict)
    """Facts and sums of blocks of a file, until the first reading has ended."""
    scheduler: str | None = None
    """The address of a cluster's scheduler."""
    is_sparse: bool | None = None
    """Whether blocks on a cluster are sparse, once one was looked at."""


class StoredBlocks(Blocks):
    """Blocks in files or on a cluster. The first reading checks every entry and finds extremes and sums."""

    unit: float = 1.0
    seen: Seen
    """Results of the first reading."""

    @abstractmethod
    def nothing_seen(self) -> Seen:
        """A `Seen` before the first reading."""

    def in_units(self, unit: float) -> Self:
        if unit == 1:
            return self
        found = self._changed(unit=self.unit * unit)
        if "_facts" in self.__dict__ and self.facts.has_squares(self.namespace):  # or a pass would find other numbers
            known = self.__dict__.get("_totals", {})
            found._facts = self.facts.in_units(unit)
            found.__dict__["_totals"] = {total: known[total] / unit ** total[1] for total in _USUAL if total in known}
        return found

    def weighted_by(self, weighing: Any) -> Self:
        return self._changed(weighing=weighing, seen=self.nothing_seen())

    @property
    def cache(self) -> dict[Any, Any]:  # type: ignore[override]
        return self.seen.cached

    def conclude(self, surveys: Iterable[tuple[Facts, list[float]]]) -> None:
        """Keep the results of the first reading."""
        self.seen.facts, sums = together(surveys)
        self.seen.totals = dict(zip(self.seen.wanted, sums, strict=True))

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        if self.unit != 1:
            return super().survey(totals)
        if self.seen.facts is None:
            request(self, totals)
            self.reading(_nothing, ())
        known: dict[Total, float] = self.seen.totals
        missing = [total for total in totals if total not in known]
        if missing:
            known.update(zip(missing, super().survey(missing)[1], strict=True))
        assert self.seen.facts is not None
        return self.seen.facts, [known[total] for total in totals]


def together(surveys: Iterable[tuple[Facts, list[float]]]) -> tuple[Facts, list[float]]:
    """The survey of all rows, from surveys of parts."""
    facts, sums = zip(*surveys, strict=True)
    lowest, highest, non_zeros, missing = zip(*facts, strict=True)
    whole = Facts(float(np.min(lowest)), float(np.max(highest)), int(sum(non_zeros)), int(sum(missing)))
    with np.errstate(over="ignore"):  # infinite, as that of a whole array is
        return whole, [float(np.sum(each)) for each in zip(*sums, strict=True)]


class Gathering:
    """Results that come block by block, in the order of the blocks, and are put together on the way.

    Parts are written into one array at once, so that memory never holds all parts and the whole.
    """

    def __init__(self, how: Sequence[How], rows: int) -> None:
        self._how, self._rows, self._done = how, rows, 0
        self.found: list[Any] = [[] if way == "list" else None for way in how]

    def add(self, results: tuple[Any, ...], rows: int) -> None:
        """The results for the next so many rows."""
        for number, (way, result) in enumerate(zip(self._how, results, strict=True)):
            if way == "list":
                self.found[number].append(result)
            elif way == "stack":
                if self.found[number] is None:
                    self.found[number] = np.empty((self._rows, *result.shape[1:]), result.dtype)
                self.found[number][self._done : self._done + rows] = result
            elif self.found[number] is None:
                self.found[number] = summand(result) if isinstance(result, np.ndarray) else result
            else:
                self.found[number] += result
        self._done += rows


# ---- work on a block


def on_made(block: Data, shared: Any, own: Any) -> tuple[Any, ...]:
    """The results of work on a block that is made of another."""
    make, of_make, count, work, rest = shared
    return tuple(work(make(block, of_make, own[:count]), rest, own[count:]))


def _divided(block: Data, shared: Any, own: Any) -> Data:
    return block.in_units(shared[0])


def _nothing(block: Data, shared: Any, own: Any) -> tuple[()]:
    """A pass without results: the first one over stored blocks checks their entries on the way."""
    return ()


def _apply(block: Data, shared: Any, own: Any) -> tuple[Array]:
    sign, *matrices = shared
    return (block.apply(*own, *matrices, transposed=bool(own), sign=sign),)


def _apply_both(block: Data, shared: Any, own: Any) -> tuple[Array, Array]:
    return apply_both(block, *shared, *own)


def _apply_gram(block: Data, shared: Any, own: Any) -> tuple[Array]:
    return (block.apply_gram(shared[0], transposed=True),)


def _gram(block: Data, shared: Any, own: Any) -> tuple[Array]:
    return (block.with_itself(True, False),)


def _visit(block: Data, shared: Any, own: Any) -> tuple[Any, ...]:
    V, requests, is_left, log_power = shared
    U, *matrices = own
    left = iter(matrices)
    requests = [r._replace(matrix=next(left).T) if is_own else r for r, is_own in zip(requests, is_left, strict=True)]
    products, total = block.visit(U, V, requests, log_power)
    return (*products, 0.0 if total is None else total)


def _programmed(block: Data, shared: Any, own: Any) -> tuple[Any, ...]:
    work, matrices = shared
    made: list[Any] = []
    kinds = {"shared": matrices, "own": own, "made": made}

    def at(place: Slot) -> Array:
        return as_type(kinds[place.kind][place.number], block.namespace.dtype)

    for each in work:
        match each:
            case Applied(matrix, transposed, sign):
                made.append(block.apply(at(matrix), transposed=transposed, sign=sign))
            case Visited(left, right, asked, log_power):
                requests = [Request(operand, side, at(place).T if side == "left" else at(place)) for operand, side, place in asked]
                products, total = block.visit(at(left), at(right), requests, log_power)
                made += [*products, 0.0 if total is None else total]
    return tuple(made)


def _survey(block: Data, shared: Any, own: Any) -> tuple[Any]:
    return (block.survey(shared[0]),)


def _squares(block: Data, shared: Any, own: Any) -> tuple[np.ndarray]:
    (axis,) = shared
    if axis == 0 or block.costs.weighted:
        return (np.square(block.lengths(axis)),)
    values: Any = block.itself()
    squares = values.multiply(values) if hasattr(values, "multiply") else np.square(values, dtype=np.float64)
    return (np.asarray(squares.sum(axis=0, dtype=np.float64)).ravel(),)


def _columns(block: Data, shared: Any, own: Any) -> tuple[np.ndarray]:
    return (as_dense(block.take(shared[0], axis=1)).T,)


products = _apply, _apply_both, _apply_gram, _gram
"""Work on a block that multiplies it: on a card, if there is one."""
elementwise = _visit, _programmed
"""Work on a block that goes over its entries beside X̂."""
