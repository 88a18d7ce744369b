"""Data whose entries have weights, by which the loss of each is multiplied. An entry without a value has none.

Three kinds, by what is stored: dense data, with NaN where nothing is known, and weights of their shape; sparse data of which the
stored entries are all that is known, zeros among them; and any data with a weight for each row and each column. `visit` multiplies
every elementwise operand with the weights, sums have them, and all else follows. X itself, as it stands inside a form, has none:
there what is hidden has to be filled first, by `filled`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from .base import Data, Facts, Total, chunk_rows
from .dense import DenseData
from .host import as_dense
from .namespace import Array, Namespace
from .sparse import SparseData
from .steps import ElementwiseOperand, Request, Unreached
from .visiting import Pass, row_blocks, share_out


class Pair(NamedTuple):
    """The weights rowsᵢ · columnsⱼ."""

    rows: Array
    columns: Array

    def block(self, rows: slice) -> Array:
        return self.rows[rows, None] * self.columns[None, :]


class LowRank(NamedTuple):
    """U·V, by which hidden entries are filled."""

    U: Array
    V: Array


class Partial(Data):
    """Data of which some entries may be missing: what stands for X inside a form is `inside`, in which they are filled."""

    inside: Data | None

    def with_inside(self, inside: Data) -> Any:
        """The same data with others inside the form."""
        return replace(self, inside=inside)  # type: ignore[type-var]

    def filled(self, values: LowRank) -> Data:
        """The data with what is hidden filled, and without weights."""
        raise NotImplementedError

    def settled(self, left: Array, right: Array, prior: Array, *, transposed: bool = False) -> LowRank | None:
        """Y and `right` for which Y = X·left, where what is hidden in X is Y·right; or the same of Xᵀ. None where it is unknown.

        Codes of which nothing is known are those of `prior`.
        """
        return None


# ---- dense


@dataclass(eq=False)
class WeightedDense(DenseData, Partial):
    """A dense array with NaN where nothing is known, and weights of its shape, a `Pair` of them, or none where all are one."""

    weights: Any = None
    inside: Data | None = None
    weighted: ClassVar[bool] = True

    def rows(self, rows: slice) -> WeightedDense:
        weights = Pair(self.weights.rows[rows], self.weights.columns) if isinstance(self.weights, Pair) else self.weights
        own = weights if weights is None or isinstance(weights, Pair) else weights[rows, :]
        return WeightedDense(self.values[rows, :], self.namespace, self.unit, own)

    def subset(self, items: np.ndarray, axis: int) -> WeightedDense:
        data = self if axis == 0 else self._turned
        own = data.weights
        if own is not None:
            own = Pair(own.rows[items], own.columns) if isinstance(own, Pair) else own[items]
        some = WeightedDense(data.values[items], self.namespace, self.unit, own)
        return some if axis == 0 else some._turned

    def weighted_block(self, rows: slice) -> tuple[Array, Array]:
        """Some rows of X, with 1 in place of what is hidden, and their weights, which are 0 there."""
        xp, x = self.namespace.xp, self._block(rows)
        one = xp.ones_like(x)
        if self.weights is None:
            weights = one
        else:
            weights = self.weights.block(rows) if isinstance(self.weights, Pair) else self.weights[rows, :]
        hidden = xp.isnan(x) | (weights == 0)
        return xp.where(hidden, one, x), xp.where(hidden, 0.0 * one, weights)

    # ---- sums

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        xp = self.namespace.xp
        found, observed = [], 0
        with np.errstate(all="ignore"):  # what is not finite, or not positive, is refused later, with what it is
            for rows in row_blocks(*self.shape, self.namespace.device):
                x, weights = self.weighted_block(rows)
                seen = weights > 0
                count = int(xp.count_nonzero(seen))
                observed += count
                if count:
                    low, high = xp.where(seen, x, xp.max(x)), xp.where(seen, x, xp.min(x))
                    sums = [float(xp.sum(weights * DataTerm(*total).evaluate(xp, x, x), dtype=xp.float64)) for total in totals]
                    found.append((float(xp.min(low)), float(xp.max(high)), int(xp.count_nonzero(seen & (x != 0))), *sums))
        self._observed = observed
        if not found:
            return Facts(0.0, 0.0, 0), [0.0] * len(totals)
        lowest, highest, non_zeros, *parts = zip(*found, strict=True)
        return Facts(float(np.min(lowest)), float(np.max(highest)), sum(non_zeros)), [float(np.sum(part)) for part in parts]

    def power_sum(self, exponent: float) -> float:
        return self._total("power", exponent)

    @property
    def observed(self) -> int:
        """Entries that have a weight."""
        self.read()
        return self._observed

    @property
    def missing(self) -> int:
        return self.shape[0] * self.shape[1] - self.observed

    @property
    def zeros(self) -> int:
        return self.observed - self.facts.non_zeros

    # ---- entry by entry

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Any]:
        def walk(rows: slice, U: Array, requests: Sequence[Request]) -> tuple[list[Array], Any]:
            return self.rows(rows)._walk(U, V, requests, log_power)

        return share_out(self, walk, U, requests) if self.namespace.is_host else self._walk(U, V, requests, log_power)

    def _walk(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None
    ) -> tuple[list[Array], Array | None]:
        xp = self.namespace.xp
        walk, logarithm = Pass(self, U, V, requests), None
        for rows in row_blocks(*self.shape, self.namespace.device):
            (x, weights), approximation = self.weighted_block(rows), walk.approximation(rows)

            def evaluate(operand: ElementwiseOperand, x: Array = x, w: Array = weights, a: Array = approximation) -> Array:
                return operand.evaluate(xp, x, a) * (w if not isinstance(operand, Unreached) else w > 0)

            walk.add(rows, evaluate)
            if log_power is not None:
                terms = weights * xp.log(approximation) * (x**log_power if log_power else 1.0)
                logarithm = xp.sum(terms, dtype=xp.float64) + (0.0 if logarithm is None else logarithm)
        return walk.results, logarithm

    # ---- row by row

    @property
    def can_sweep_rows(self) -> bool:  # type: ignore[override]
        return self.namespace.is_host

    def sweep_rows(self, F: Array, B: Array, options: tuple[float, float, int, int, float], *, transposed: bool = False) -> None:
        data = self._turned if transposed else self
        if self.weights is None and 2 * self.missing < self.observed:
            data._sweep_without_missing(F, B, options)
            return
        for start in range(0, len(F), step := chunk_rows(data.shape[1])):
            rows = slice(start, start + step)
            x, weights = data.weighted_block(rows)
            seen = weights > 0
            indptr = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
            own = np.ascontiguousarray(F[rows])
            sweep_entries(own, B, indptr, np.nonzero(seen)[1], x[seen], weights[seen], options)
            F[rows] = own

    @cached_property
    def _turned(self) -> WeightedDense:
        weights = self.weights
        turned = None if weights is None else Pair(*weights[::-1]) if isinstance(weights, Pair) else weights.T
        data = WeightedDense(self.values.T, self.namespace, self.unit, turned)
        data._facts, data._observed = self.facts, self.observed
        return data

    @cached_property
    def _gaps(self) -> tuple[np.ndarray, np.ndarray]:
        """Where in each row something is missing, in compressed rows: these are few."""
        counts, columns = [np.zeros(1, np.int64)], []
        for rows in row_blocks(*self.shape, "cpu"):
            gaps = np.isnan(self.values[rows])
            counts.append(gaps.sum(axis=1))
            columns.append(np.nonzero(gaps)[1])
        return np.cumsum(np.concatenate(counts)), np.concatenate(columns)

    def _sweep_without_missing(self, F: Array, B: Array, options: tuple[float, float, int, int, float]) -> None:
        """All of B Bᵀ and X Bᵀ, less what belongs to the entries that are missing."""
        C = np.empty(F.shape)
        for rows in row_blocks(*self.shape, "cpu"):
            C[rows] = _without_nan(self._block(rows)) @ B
        wide = B.astype(np.float64)
        indptr, indices = self._gaps
        sweep_entries(F, B, indptr, indices, np.empty(0, F.dtype), np.empty(0, F.dtype), options, wide.T @ wide, C)

    # ---- X itself

    def in_units(self, unit: float) -> WeightedDense:
        inside = self.inside and self.inside.in_units(unit)
        return replace(self, unit=self.unit * unit, inside=inside)

    def take(self, items: np.ndarray, axis: int) -> np.ndarray:
        return _without_nan(super().take(items, axis))

    def blocks(self, *, transposed: bool = False) -> Iterator[tuple[slice, Any]]:
        for rows, block in super().blocks(transposed=transposed):
            yield rows, _without_nan(block)

    def apply(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        return (self.inside or self.items).apply(M, transposed=transposed, sign=sign)

    def apply_after(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        return (self.inside or self.items).apply_after(M, transposed=transposed, sign=sign)

    def with_itself(self, first: bool, second: bool) -> Array:
        return (self.inside or self.items).with_itself(first, second)

    def itself(self) -> Array:
        return (self.inside or self.items).itself()

    def settled(self, left: Array, right: Array, prior: Array, *, transposed: bool = False) -> LowRank | None:
        if not self.namespace.is_host or self.weights is not None:
            return None
        data, out = self._turned if transposed else self, np.empty((self.shape[int(transposed)], left.shape[1]))
        C = np.empty(out.shape)
        for rows in row_blocks(*data.shape, "cpu"):
            C[rows] = _without_nan(data._block(rows)) @ left
        settle(*data._gaps, np.empty(0), left, right, C, prior, out)
        return LowRank(data.namespace.asarray(out), right)

    def filled(self, values: LowRank) -> Data:
        """The data with what is hidden filled, and without weights: a copy."""
        xp = self.namespace.xp
        pieces = []
        for rows in row_blocks(*self.shape, self.namespace.device):
            x, weights = self.weighted_block(rows)
            pieces.append(xp.where(weights > 0, x, values.U[rows, :] @ values.V))
        return DenseData(xp.concat(pieces), self.namespace)

    @cached_property
    def items(self) -> Data:
        whole = DenseData(self.values, self.namespace, self.unit)
        return self.filled(mean_filling(self)) if self.missing else whole


def _without_nan(x: Any) -> Any:
    return np.where(np.isnan(x), 0.0, x)


# ---- sparse


@dataclass(eq=False)
class ObservedData(SparseData, Partial):
    """A SciPy sparse array of which the stored entries, zeros among them, are all that is known; and their weights, unless one."""

    weights: sparse.csr_array | None = None
    inside: Data | None = None
    weighted: ClassVar[bool] = True

    def in_units(self, unit: float) -> ObservedData:
        values = sparse.csr_array((self.values.data / unit, self.values.indices, self.values.indptr), shape=self.shape)
        return ObservedData(values, self.namespace, self.weights, self.inside and self.inside.in_units(unit))

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        x = self.values.data
        if not x.size:
            return Facts(0.0, 0.0, 0), [0.0] * len(totals)
        with np.errstate(all="ignore"):
            terms = (self._weighed(None, DataTerm(*total).evaluate(np, x, x)) for total in totals)
            sums = [float(np.sum(each, dtype=np.float64)) for each in terms]
        return Facts(float(x.min()), float(x.max()), int(np.count_nonzero(x))), sums

    def power_sum(self, exponent: float) -> float:
        return self._total("power", exponent)

    @property
    def missing(self) -> int:
        return self.shape[0] * self.shape[1] - self.size

    @property
    def zeros(self) -> int:
        return self.size - self.facts.non_zeros

    def subset(self, items: np.ndarray, axis: int) -> ObservedData:
        weights = None if self.weights is None else _some(self.weights, items, axis)
        return ObservedData(_some(self.values, items, axis), self.namespace, weights)

    # ---- entry by entry

    def visit(self, U: Any, V: Any | None, requests: Sequence[Request], log_power: float | None = None) -> tuple[list[Array], Any]:
        if V is not None and V.shape[0] < min(self.shape):
            U, V = as_dense(U), as_dense(V)
        is_plain = V is not None and not sparse.issparse(U) and not sparse.issparse(V)
        by_kernel = [
            is_plain and operand.exponents is not None and matrix is not None and not sparse.issparse(matrix)
            for operand, _, matrix in requests
        ]
        with_sum = bool(log_power) and is_plain
        results: dict[int, Array] = {}
        logarithm = None
        for way, is_kernel in ((self._sampled, True), (self._gathered, False)):
            where = [i for i, chosen in enumerate(by_kernel) if chosen == is_kernel]
            power = log_power if with_sum == is_kernel else None
            if where or power is not None:
                products, total = way(U, V, [requests[i] for i in where], power)
                results.update(zip(where, products, strict=True))
                logarithm = logarithm if power is None else total
        return [results[i] for i in range(len(requests))], logarithm

    def _weighed(self, operand: ElementwiseOperand | None, entries: np.ndarray) -> np.ndarray:
        return entries if self.weights is None or isinstance(operand, Unreached) else entries * self.weights.data

    def _weights(self, transposed: bool) -> np.ndarray:
        weights = self._transposed_weights if transposed else self.weights
        return np.empty(0, self.values.dtype) if weights is None else weights.data

    @cached_property
    def _transposed_weights(self) -> sparse.csr_array | None:
        return None if self.weights is None else self.weights.T.tocsr()

    # ---- row by row

    can_sweep_rows: ClassVar[bool] = True

    def sweep_rows(self, F: Array, B: Array, options: tuple[float, float, int, int, float], *, transposed: bool = False) -> None:
        X = self._transposed if transposed else self.values
        sweep_entries(F, B, X.indptr, X.indices, X.data, self._weights(transposed), options)

    # ---- X itself

    def apply(self, M: Any, *, transposed: bool = False, sign: str = "") -> Array:
        return (self.inside or self.items).apply(M, transposed=transposed, sign=sign)

    def apply_after(self, M: Any, *, transposed: bool = False, sign: str = "") -> Array:
        return (self.inside or self.items).apply_after(M, transposed=transposed, sign=sign)

    def with_itself(self, first: bool, second: bool) -> np.ndarray:
        return (self.inside or self.items).with_itself(first, second)

    def itself(self) -> Any:
        return (self.inside or self.items).itself()

    def settled(self, left: Array, right: Array, prior: Array, *, transposed: bool = False) -> LowRank | None:
        if self.weights is not None:
            return None
        X, out = self._transposed if transposed else self.values, np.empty((self.shape[int(transposed)], left.shape[1]))
        settle(X.indptr, X.indices, X.data, left, right, None, prior, out)
        return LowRank(self.namespace.asarray(out), right)

    def filled(self, values: LowRank) -> Data:
        """The data with what is hidden filled, and without weights: X̂ + V∘(X − X̂), of which only the second is stored."""
        walk = Pass(self, np.asarray(values.U), np.asarray(values.V), [])
        walk.floor = 0.0
        rest = self.values.data - self._approximation(walk)
        known = sparse.csr_array((rest, self.values.indices, self.values.indptr), shape=self.shape)
        return FilledData(known, values, self.namespace, self.facts.highest)

    @cached_property
    def items(self) -> Data:
        return self.filled(mean_filling(self)) if self.missing else SparseData(self.values, self.namespace)


def _some(part: sparse.csr_array, items: np.ndarray, axis: int) -> sparse.csr_array:
    return part[items] if axis == 0 else part[:, items].tocsr()


@dataclass(eq=False)
class FilledData(Data):
    """A sparse array plus a product of low rank: what is known, and elsewhere what stands for it."""

    rest: sparse.csr_array
    filling: LowRank
    namespace: Namespace
    highest: float
    """About the largest entry."""

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.rest.shape

    @property
    def size(self) -> int:
        return int(self.rest.nnz)

    def in_units(self, unit: float) -> FilledData:
        filling = LowRank(self.filling.U / unit, self.filling.V)
        return FilledData(self.rest / unit, filling, self.namespace, self.highest / unit)

    def can_sweep(self, *, transposed: bool = False) -> bool:
        return False  # rows would have to be formed, entries of which nothing is known among them

    def apply(self, M: Any, *, transposed: bool = False, sign: str = "") -> Array:
        U, V = self.filling
        M = as_dense(M)
        return self.rest.T @ M + V.T @ (U.T @ M) if transposed else self.rest @ M + U @ (V @ M)

    def take(self, items: np.ndarray, axis: int) -> np.ndarray:
        U, V = self.filling if axis == 0 else (self.filling.V.T, self.filling.U.T)
        return as_dense((self.rest if axis == 0 else self._transposed)[items]) + U[items] @ V

    @cached_property
    def _transposed(self) -> sparse.csr_array:
        return self.rest.T.tocsr()

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        # Products with it visit what is stored, and the low rank besides. What it is filled with is not negative.
        return Facts(0.0, self.highest, self.size), [self._sum(total) for total in totals]

    def _sum(self, total: Total) -> float:
        if total == ("power", 2):  # ‖rest + U V‖², without a look at what is not stored
            U, V = (part.astype(np.float64) for part in self.filling)
            rows = np.repeat(np.arange(self.shape[0]), np.diff(self.rest.indptr))
            products = sum(
                float(np.einsum("ij,ij->i", U[rows[some]], V.T[self.rest.indices[some]]) @ self.rest.data[some])
                for some in row_blocks(self.size, U.shape[1], "cpu")
            )
            return float(self.rest.data @ self.rest.data + 2 * products + np.sum((U.T @ U) * (V @ V.T)))
        return sum(float(np.sum(DataTerm(*total).evaluate(np, block, block), dtype=np.float64)) for _, block in self.blocks())

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Any]:
        walk, logarithm = Pass(self, U, V, requests), None
        for rows, block in self.blocks():
            approximation = walk.approximation(rows)
            walk.add(rows, lambda operand, x=block, a=approximation: operand.evaluate(np, x, a))  # type: ignore[misc]
            if log_power is not None:
                logarithm = np.sum(np.log(approximation) * block**log_power, dtype=np.float64) + (logarithm or 0.0)
        return walk.results, logarithm


# ---- a weight for each row and each column


@dataclass(eq=False)
class PairWeighted(Data):
    """Data of any kind, all entries of which are known, with the weights rowsᵢ · columnsⱼ.

    diag(rows) E diag(columns) times a matrix is what the data know of E, between two multiplications of small matrices. Where E is
    all ones, or X̂, or X, no entry is visited.
    """

    base: Data
    weights: Pair
    namespace: Namespace = field(init=False)
    weighted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.namespace, self.gives = self.base.namespace, self.base.gives  # type: ignore[misc]
        self.is_far, self.log = self.base.is_far, self.base.log

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.base.shape

    @property
    def size(self) -> int:
        return self.base.size

    def in_units(self, unit: float) -> PairWeighted:
        return PairWeighted(self.base.in_units(unit), self.weights)

    def apply(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        return self.base.apply(M, transposed=transposed, sign=sign)

    def apply_after(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        return self.base.apply_after(M, transposed=transposed, sign=sign)

    def take(self, items: np.ndarray, axis: int) -> Any:
        return self.base.take(items, axis)

    def itself(self) -> Any:
        return self.base.itself()

    def apply_both(self, M: Array, N: Array) -> tuple[Array, Array]:
        return self.base.apply_both(M, N)

    def apply_gram(self, M: Array, *, transposed: bool = False) -> Array:
        return self.base.apply_gram(M, transposed=transposed)

    def forms_gram(self, *, transposed: bool) -> bool:
        return self.base.forms_gram(transposed=transposed)

    def with_itself(self, first: bool, second: bool) -> Array:
        return self.base.with_itself(first, second)

    def blocks(self, *, transposed: bool = False) -> Iterator[tuple[slice, Any]]:
        return self.base.blocks(transposed=transposed)

    def lengths(self, axis: int) -> np.ndarray:
        return self.base.lengths(axis)

    def expect(self, totals: Iterable[Total] = (), *, signed: bool = False) -> None:
        self.base.expect(signed=signed)  # sums have weights, of which the data know nothing

    @property
    def items(self) -> Data:
        return self.base.items

    def subset(self, items: np.ndarray, axis: int) -> PairWeighted:
        rows, columns = self.weights
        return PairWeighted(self.base.subset(items, axis), Pair(rows[items], columns) if axis == 0 else Pair(rows, columns[items]))

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        (m, n), ones = self.shape, self.namespace.ones
        requests = [Request(DataTerm(*total), "right", ones(n, 1)) for total in totals if total[0] == "logarithm" or total[1]]
        with np.errstate(all="ignore"):
            found = iter(self.visit(ones(m, 1), ones(1, n), requests)[0] if requests else [])
        xp, (rows, columns) = self.namespace.xp, self.weights
        every = float(xp.sum(rows, dtype=xp.float64)) * float(xp.sum(columns, dtype=xp.float64))
        sums = [float(xp.sum(next(found), dtype=xp.float64)) if total[0] == "logarithm" or total[1] else every for total in totals]
        return self.base.facts, sums

    def power_sum(self, exponent: float) -> float:
        return self._total("power", exponent)

    @property
    def missing(self) -> int:
        rows, columns = (int(self.namespace.xp.count_nonzero(part)) for part in self.weights)
        return self.shape[0] * self.shape[1] - rows * columns

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Any]:
        asked = list(requests)
        if log_power is not None:
            asked.append(Request(_Logarithm(log_power), "right", self.namespace.ones(self.shape[1], 1)))
        shared = [i for i, request in enumerate(asked) if request.operand.exponents not in _PLAIN]
        found = dict(zip(shared, self.base.visit(U, V, [self._inside(asked[i]) for i in shared])[0], strict=True)) if shared else {}
        products = [
            self._outside(request, found[i] if i in found else self._product(U, V, self._inside(request)))
            for i, request in enumerate(asked)
        ]
        if log_power is None:
            return products, None
        return products[:-1], self.namespace.xp.sum(products[-1], dtype=self.namespace.xp.float64)

    # ---- row by row

    @property
    def can_sweep_rows(self) -> bool:  # type: ignore[override]
        return self.namespace.is_host

    def sweep_rows(self, F: Array, B: Array, options: tuple[float, float, int, int, float], *, transposed: bool = False) -> None:
        from ..kernels.coordinates import linear_rows
        from ..kernels.threads import over_rows

        own, others = self.weights[::-1] if transposed else self.weights
        penalty, overlap, first, passes, enough = options
        weighted = others[:, None] * B
        Q = (B.T @ weighted).astype(np.float64)
        C = np.ascontiguousarray(self.base.apply(weighted, transposed=transposed), dtype=np.float64)
        C -= penalty / np.maximum(own, np.finfo(own.dtype).tiny)[:, None] if penalty else 0.0
        none = np.empty((0, 0))
        if not overlap:
            over_rows(linear_rows, F.shape[0], F, none, Q, C, 0.0, 0.0, first, passes, enough)
            return
        for i, weight in enumerate(own.tolist()):  # each row has its own share of it
            if weight:
                linear_rows(i, i + 1, F, none, Q, C, 0.0, overlap / weight, first, passes, enough)

    def absorbed(self, rows: bool, columns: bool) -> Data:
        """The data multiplied with the square roots of weights, of which there are none then, as far as that is asked for."""
        (of_rows, of_columns), xp = self.weights, self.namespace.xp
        kept = Pair(xp.ones_like(of_rows) if rows else of_rows, xp.ones_like(of_columns) if columns else of_columns)
        base: Any = self.base
        left, right = (
            xp.sqrt(part) if asked else xp.ones_like(part) for part, asked in zip(self.weights, (rows, columns), strict=True)
        )
        if isinstance(base, SparseData):
            entries = base.values.data * np.repeat(left, np.diff(base.values.indptr)) * right[base.values.indices]
            values = sparse.csr_array((entries, base.values.indices, base.values.indptr), shape=base.shape, copy=True)
            values.eliminate_zeros()
            scaled: Data = SparseData(values, self.namespace)
        elif isinstance(base, DenseData):
            scaled = replace(base, values=base.values * left[:, None] * right[None, :])
        else:
            return self
        return scaled if all(bool(xp.all(part == 1)) for part in kept) else PairWeighted(scaled, kept)

    # ---- entry by entry

    def _of(self, operand: ElementwiseOperand) -> Pair:
        """The weights; of what is counted, whether there are any."""
        if not isinstance(operand, Unreached):
            return self.weights
        xp = self.namespace.xp
        return Pair(*(xp.astype(part > 0, part.dtype) for part in self.weights))

    def _inside(self, request: Request) -> Request:
        """The request for what the data know, without weights."""
        operand, side, matrix = request
        rows, columns = self._of(operand)
        if matrix is None:
            return request
        return request._replace(matrix=columns[:, None] * as_dense(matrix) if side == "right" else as_dense(matrix) * rows[None, :])

    def _outside(self, request: Request, product: Array) -> Array:
        """What the data know of it, with weights."""
        rows, columns = self._of(request.operand)
        if request.matrix is None:
            return product * rows[:, None] * columns[None, :]
        return product * rows[:, None] if request.side == "right" else product * columns[None, :]

    def _product(self, U: Array, V: Array | None, request: Request) -> Array:
        """All ones, X̂ or X times a matrix."""
        xp, (m, n), (operand, side, matrix) = self.namespace.xp, self.shape, request
        match operand.exponents:
            case 0, 0:
                if matrix is None:
                    return self.namespace.ones(m, n)
                axis = 0 if side == "right" else 1
                shape = (m, matrix.shape[1]) if side == "right" else (matrix.shape[0], n)
                return xp.broadcast_to(xp.sum(matrix, axis=axis, keepdims=True), shape)
            case 0, 1:
                if matrix is None:
                    return as_dense(U if V is None else U @ V)
                if side == "right":
                    return U @ matrix if V is None else U @ (V @ matrix)
                return matrix @ U if V is None else (matrix @ U) @ V
            case _:
                if matrix is None:
                    return as_dense(self.base.itself())
                return self.base.apply(matrix) if side == "right" else self.base.apply_after(matrix)


_PLAIN = ((0, 0), (0, 1), (1, 0))


# ---- what they share


def settle(
    indptr: np.ndarray,
    indices: np.ndarray,
    x: np.ndarray,
    left: Array,
    right: Array,
    C: np.ndarray | None,
    prior: Array,
    out: np.ndarray,
) -> None:
    """Codes for which what is missing is what they stand for, in `out`; see `settled_rows`."""
    from ..kernels.coordinates import settled_rows
    from ..kernels.threads import over_rows

    L, R = (np.ascontiguousarray(part, dtype=np.float64) for part in (left, right.T))
    one = np.eye(L.shape[1])
    K, given = (one - R.T @ L, np.empty((0, 0))) if C is None else (one, C)
    work = indptr + np.arange(len(indptr))
    over_rows(settled_rows, work, indptr, indices, x, L, R, K, given, C is not None, _RIDGE, np.asarray(prior, np.float64), out)


_RIDGE = 1e-9
"""How much the prior of a code counts: nothing, unless nothing is known."""


def sweep_entries(
    F: Array,
    B: Array,
    indptr: np.ndarray,
    indices: np.ndarray,
    x: np.ndarray,
    weights: np.ndarray,
    options: tuple[float, float, int, int, float],
    G: np.ndarray | None = None,
    C: np.ndarray | None = None,
) -> None:
    """Go over the rows of F with the entries of X that are given; rows are shared out among threads. See `weighted_rows`."""
    from ..kernels.coordinates import weighted_rows
    from ..kernels.threads import over_rows

    none = np.empty((0, 0))
    entries = indptr, indices, x, weights
    products = (none, none) if G is None else (G, C)
    over_rows(weighted_rows, indptr + np.arange(len(indptr)), F, np.ascontiguousarray(B), *entries, *products, *options)


@dataclass(frozen=True)
class DataTerm:
    """X^exponent, or X^exponent ∘ ln X, with 0 ln 0 = 0."""

    kind: str
    exponent: float
    needs_data: ClassVar[bool] = True
    exponents: ClassVar[None] = None

    @property
    def on_pattern(self) -> bool:
        return self.exponent > 0 or self.kind == "logarithm"

    def evaluate(self, xp: Any, x: Array, approximation: Array) -> Array:
        terms = x**self.exponent if self.exponent else xp.ones_like(x)
        return terms if self.kind == "power" else terms * xp.log(xp.where(x > 0, x, xp.ones_like(x)))


@dataclass(frozen=True)
class _Logarithm:
    """X^data_power ∘ ln X̂."""

    data_power: float
    needs_data: ClassVar[bool] = True
    exponents: ClassVar[None] = None

    @property
    def on_pattern(self) -> bool:
        return self.data_power > 0

    def evaluate(self, xp: Any, x: Array, approximation: Array) -> Array:
        logarithm = xp.log(approximation)
        return x**self.data_power * logarithm if self.data_power else logarithm


def mean_filling(data: Data) -> LowRank:
    """aᵢ bⱼ with the means of rows and columns over what is known of them, as a first guess of what is not; else zero."""
    xp, (m, n), ones = data.namespace.xp, data.shape, data.namespace.ones
    everywhere, terms = (ones(m, 1), ones(1, n)), (DataTerm("power", 1.0), DataTerm("power", 0.0))
    requests = [Request(term, "right", ones(n, 1)) for term in terms] + [Request(term, "left", ones(1, m)) for term in terms]
    of_rows, in_rows, of_columns, in_columns = data.visit(*everywhere, requests)[0]
    total, count = float(xp.sum(of_rows, dtype=xp.float64)), float(xp.sum(in_rows, dtype=xp.float64))
    mean = total / count if count else 0.0
    if not mean:
        return LowRank(0.0 * of_rows, 0.0 * of_columns)

    def means(sums: Array, counts: Array) -> Array:
        return xp.where(counts > 0, sums / xp.where(counts > 0, counts, 1.0 + 0.0 * counts), 0.0 * sums)

    return LowRank(means(of_rows, in_rows) / mean, means(of_columns, in_columns))
