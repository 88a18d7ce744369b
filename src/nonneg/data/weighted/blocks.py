"""Data in blocks whose entries have weights: each block has its own, and so has everything that is put together of them.

Missing entries of X inside a form are filled block by block, while the block is in memory, with U·V of low
rank, of which a block needs all of V and its own rows of U. So X is never there as a whole, filled or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...kernels.namespace import Array, Namespace
from ..base import Data, Facts, Total, chunks, items_of
from ..blocks import Blocks, How, MadeBlocks, Make, ReadingLog, Work, on_made
from ..profile import Costs
from ..sparse import SparseData
from ..steps import Request
from ..transposed import TransposedData
from .base import Blend, DataTerm, LowRank, Partial, Weighted, mean_filling, settled_by_sums
from .pairs import PairWeighted
from .weights import Pair, stacked, transposed

_ENTRIES = 2**24
"""Of products of the columns of a factor that are alive at a time in a block."""
_SYSTEMS = 2**27
"""Entries of small systems, one for each column of X, that one reading adds up."""


class FilledBlocks(MadeBlocks):
    """Blocks with missing entries filled by U·V, without weights."""

    def __init__(self, base: Blocks, values: LowRank, make: Make | None = None, *more: Any) -> None:
        self.values, self._more = values, more
        super().__init__(base, make or _filled, (values.V, *more), (values.U,))

    def in_units(self, unit: float) -> FilledBlocks:
        values = LowRank(self.values.U / unit, self.values.V)
        return FilledBlocks(self.base.in_units(unit), values, self.make, *self._more)  # type: ignore[arg-type]

    @property
    def costs(self) -> Costs:  # type: ignore[override]
        return replace(super().costs, swept_sides=frozenset())  # it would take a pass for every few columns, in each sweep


@dataclass(eq=False)
class WeightedBlocks(Partial, Blocks):
    """Blocks that have weights, each its own.

    Attributes
    ----------
    base : Blocks
        Whose blocks they are.
    weights : Any
        Weights of all rows; None if all known entries have weight one.
    keeps_pairs : bool
        Whether there is a weight for each row and each column, and nothing has to be filled: rows and columns without weight are
        zero.
    inside : FilledBlocks, optional
        X in a form, filled.
    """

    base: Blocks
    weights: Any = None
    keeps_pairs: bool = False
    inside: Any = None
    namespace: Namespace = field(init=False)
    shape: tuple[int, int] = field(init=False)
    log: ReadingLog = field(init=False)

    def __post_init__(self) -> None:
        self.namespace, self.shape, self.log = self.base.namespace, self.base.shape, self.base.log
        self.stops = self.base.stops

    @property
    def costs(self) -> Costs:  # type: ignore[override]
        return replace(super().costs, weighted=True, swept_weights=True)

    def with_inside(self, inside: Any) -> WeightedBlocks:
        return WeightedBlocks(self.base, self.weights, self.keeps_pairs, inside)

    def in_units(self, unit: float) -> WeightedBlocks:
        if unit == 1:
            return self
        inside = self.inside and self.inside.in_units(unit)
        return WeightedBlocks(self.base.in_units(unit), self.weights, self.keeps_pairs, inside)  # type: ignore[arg-type]

    @property
    def T(self) -> Data:
        return TurnedBlocks(self)

    # ---- readings

    def reading(self, work: Work, how: Sequence[How], shared: tuple[Any, ...] = (), own: tuple[Any, ...] = ()) -> list[Any]:
        if self.inside is None:
            return self.base.reading(work, how, shared, own)
        U, V = self.inside.values
        return self.base.reading(on_made, how, (_with_inside, (V,), 1, work, shared), (U, *own))

    @property
    def in_blocks(self) -> tuple[Blocks, bool] | None:  # type: ignore[override]
        # A block by itself does not know its fills.
        return None if self.inside is None and self.has_gaps else (self, False)

    def pieces(self) -> Iterator[tuple[slice, Data]]:
        return self.base.pieces()

    def some(self, items: np.ndarray) -> Data:
        return self.base.some(items)

    @property
    def cache(self) -> dict[Any, Any] | None:  # type: ignore[override]
        return self.base.cache

    def request(self, totals: Iterable[Total] = (), *, signed: bool = False) -> None:
        self.base.request(totals, signed=signed)

    # ---- sums

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        return self.base._read(totals)

    @property
    def size(self) -> int:
        return self.base.size

    @property
    def has_gaps(self) -> bool:
        return not self.keeps_pairs and self.facts.missing > 0

    # ---- row by row

    def sweep_rows(self, F: Array, B: Array, options: tuple[float, float, int, int, float], *, transposed: bool = False) -> None:
        if not transposed:
            (found,) = self.reading(_swept, ("stack",), (B, options), (F,))
            F[...] = found
            return
        from ...kernels.coordinates import rows_of_grams
        from ...kernels.threads import over_rows

        r = B.shape[1]
        for some in chunks(self.shape[1], max(1, 2**20 * r * (r + 1) // (2 * _SYSTEMS))):
            grams, C = self.reading(_normal_equations, ("add", "add"), (some,), (B,))
            own = np.ascontiguousarray(F[some])
            over_rows(rows_of_grams, len(some), own, np.ascontiguousarray(grams.T), np.ascontiguousarray(C.T), *options, least=1000)
            F[some] = own

    def subset(self, items: np.ndarray, axis: int) -> Data:
        if axis == 0:
            return self.some(items)
        (parts,) = self.reading(_some_columns, ("list",), (np.asarray(items),))
        return stack_blocks(parts)

    def parts(self) -> Iterator[Data]:
        return (block for _, block in self.pieces())

    # ---- X itself

    @cached_property
    def items(self) -> Data:
        return self.filled(mean_filling(self)) if self.has_gaps else MadeBlocks(self.base, _whole)

    def filled(self, values: LowRank) -> FilledBlocks:
        return FilledBlocks(self.base, values)

    def blended(self, values: LowRank, share: float = 1.0) -> Blend:
        (spread,) = self.base.reading(_spread, ("add",), (values.V, share), (values.U,))
        return Blend(FilledBlocks(self.base, values, _blended, share), float(spread))

    def settled(self, left: Array, right: Array, prior: Array, *, transposed: bool = False) -> LowRank | None:
        if self.weights is not None:
            return None
        if not transposed:
            (codes,) = self.base.reading(_settled, ("stack",), (left, right, prior))
            return LowRank(self.namespace.asarray(codes), right)
        codes, k = np.empty((self.shape[1], left.shape[1])), left.shape[1]
        for some in chunks(self.shape[1], max(1, 2**20 * k * k // _SYSTEMS)):
            grams, C = self.base.reading(_sums_of_known, ("add", "add"), (some,), (left, np.ascontiguousarray(right.T)))
            codes[some] = settled_by_sums(grams, C, left, right, prior)
        return LowRank(self.namespace.asarray(codes), right)

    def absorbed(self, rows: bool, columns: bool) -> Data:
        if not isinstance(self.weights, Pair) or self.has_gaps:
            return self
        kept = Pair(*(np.ones_like(part) if asked else part for part, asked in zip(self.weights, (rows, columns), strict=True)))
        made = MadeBlocks(self.base, _absorbed, (rows, columns))
        return made if all((part == 1).all() for part in kept) else WeightedBlocks(made, kept, self.keeps_pairs)


class TurnedBlocks(TransposedData, Partial):
    """Yᵀ, given blocks Y that have weights."""

    inner: WeightedBlocks

    @property
    def costs(self) -> Costs:  # type: ignore[override]
        return replace(super().costs, weighted=True, swept_weights=True)

    @property
    def inside(self) -> Any:  # type: ignore[override]
        return self.inner.inside and TransposedData(self.inner.inside)

    @property
    def weights(self) -> Any:
        own = self.inner.weights
        return Pair(*own[::-1]) if isinstance(own, Pair) else own

    def with_inside(self, inside: Any) -> TurnedBlocks:
        return TurnedBlocks(self.inner.with_inside(inside.T))

    def in_units(self, unit: float) -> TurnedBlocks:
        return TurnedBlocks(self.inner.in_units(unit))

    def power_sum(self, exponent: float, *, logarithm: bool = False) -> float:
        return self.inner.power_sum(exponent, logarithm=logarithm)

    @property
    def has_gaps(self) -> bool:
        return self.inner.has_gaps

    def sweep_rows(self, F: Array, B: Array, options: tuple[float, float, int, int, float], *, transposed: bool = False) -> None:
        self.inner.sweep_rows(F, B, options, transposed=not transposed)

    def subset(self, items: np.ndarray, axis: int) -> Data:
        return transpose_block(self.inner.subset(items, 1 - axis))

    def parts(self) -> Iterator[Data]:
        return (self.subset(some, 0) for some in chunks(*self.shape))

    @property
    def items(self) -> Data:
        return TransposedData(self.inner.items)

    def filled(self, values: LowRank) -> Data:
        return TransposedData(self.inner.filled(LowRank(values.V.T, values.U.T)))

    def blended(self, values: LowRank, share: float = 1.0) -> Blend:
        data, spread = self.inner.blended(LowRank(values.V.T, values.U.T), share)
        return Blend(TransposedData(data), spread)

    def settled(self, left: Array, right: Array, prior: Array, *, transposed: bool = False) -> LowRank | None:
        return self.inner.settled(left, right, prior, transposed=not transposed)

    def absorbed(self, rows: bool, columns: bool) -> Data:
        return self.inner.absorbed(columns, rows).T


# ---- work on a block


def _filled(block: Any, shared: Any, own: Any) -> Data:
    return block.filled(LowRank(own[0], shared[0])) if isinstance(block, Partial) else block


def _blended(block: Any, shared: Any, own: Any) -> Data:
    return block.blended(LowRank(own[0], shared[0]), *shared[1:]).data if isinstance(block, Partial) else block


def _spread(block: Any, shared: Any, own: Any) -> tuple[float]:
    return (block.blended(LowRank(own[0], shared[0]), *shared[1:]).spread if isinstance(block, Partial) else 0.0,)


def _with_inside(block: Any, shared: Any, own: Any) -> Data:
    return block.with_inside(_filled(block, shared, own)) if isinstance(block, Partial) else block


def _whole(block: Any, shared: Any, own: Any) -> Data:
    return items_of(block)


def _absorbed(block: Any, shared: Any, own: Any) -> Data:
    return block.absorbed(*shared)


def _swept(block: Any, shared: Any, own: Any) -> tuple[Array]:
    F = np.array(own[0], order="C")
    block.sweep_rows(F, *shared)
    return (F,)


def _settled(block: Any, shared: Any, own: Any) -> tuple[Array]:
    left, right, prior = shared
    found = block.settled(left, right, prior) if isinstance(block, Partial) else None
    return (block.apply(left) if found is None else found.U,)


def _some_columns(block: Data, shared: Any, own: Any) -> tuple[Data]:
    return (block.subset(shared[0], 1),)


def _sums(block: Data, terms: Sequence[tuple[float, np.ndarray]]) -> list[Array]:
    """Σ v xᵖ mᵢ over the rows of a block, for each column of it, for every power and matrix that is asked for."""
    m, n = block.shape
    requests = [Request(DataTerm("power", power), "left", np.ascontiguousarray(M.T)) for power, M in terms]
    return block.visit(block.namespace.ones(m, 1), block.namespace.ones(1, n), requests)[0]


def _products_of(A: np.ndarray, B: np.ndarray, block: Data, pairs: Sequence[tuple[int, int]]) -> Array:
    """Σ v aₖ bₗ over the rows of a block for each column of it, and each of these k and l: a row for each."""
    each, found = max(1, _ENTRIES // max(len(A), 1)), []
    for start in range(0, len(pairs), each):
        some = np.array(pairs[start : start + each])
        found += _sums(block, [(0.0, A[:, some[:, 0]] * B[:, some[:, 1]])])
    return np.concatenate(found)


def _normal_equations(block: Data, shared: Any, own: Any) -> tuple[Array, Array]:
    """The lower half of Σ v b bᵀ, and Σ v x b, for some columns."""
    (some,), (B,) = shared, own
    block = block if len(some) == block.shape[1] else block.subset(some, 1)
    wide = B.astype(np.float64)
    pairs = [(k, j) for k in range(B.shape[1]) for j in range(k + 1)]
    return _products_of(wide, wide, block, pairs).astype(np.float64), _sums(block, [(1.0, wide)])[0].astype(np.float64)


def _sums_of_known(block: Data, shared: Any, own: Any) -> tuple[Array, Array]:
    """Σ lₖ rⱼ and Σ x l over known entries, for some columns; see `settled_by_sums`."""
    (some,), (left, right) = shared, own
    block = block if len(some) == block.shape[1] else block.subset(some, 1)
    L, R = left.astype(np.float64), right.astype(np.float64)
    pairs = [(a, b) for a in range(L.shape[1]) for b in range(L.shape[1])]
    return _products_of(L, R, block, pairs).astype(np.float64), _sums(block, [(1.0, L)])[0].astype(np.float64)


# ---- rows of several blocks, in memory


def stack_blocks(parts: Sequence[Any]) -> Data:
    """Blocks, one below the other."""
    return parts[0] if len(parts) == 1 else _arranged(parts, stacked)


def transpose_block(data: Any) -> Data:
    """The transpose of data in memory."""
    return _arranged([data], lambda matrices: transposed(matrices[0]))


def _arranged(parts: Sequence[Any], arrange: Callable[[Sequence[Any]], Any]) -> Data:
    """Data with values and weights of several, stacked or transposed."""
    first, weights = parts[0], {"weights": arrange([part.weights for part in parts])} if isinstance(parts[0], Weighted) else {}
    if isinstance(first, PairWeighted):
        return PairWeighted(_arranged([part.base for part in parts], arrange), weights["weights"])
    kept = {"is_passing": False} if isinstance(first, SparseData) else {}
    return replace(first, values=arrange([part.values for part in parts]), **weights, **kept)
