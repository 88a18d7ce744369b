"""Any data with a weight for each row and each column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...kernels.host import as_dense, logarithm
from ...kernels.namespace import Array, Namespace, to_host
from ..base import Data, Facts, Total, items_of
from ..dense import DenseData, known_from
from ..device import moved
from ..profile import Costs
from ..sparse import SparseData, without_zeros
from ..steps import ElementwiseOperand, Request, Unreached
from ..visiting import Pass
from .base import DataTerm, Levelled, LowRank, Weighted
from .dense import WeightedDense
from .observed import FilledData
from .weights import Pair, levelled, scaled


@dataclass(eq=False)
class PairWeighted(Weighted):
    """Data of any kind, all entries of which are known, with the weights rowsᵢ · columnsⱼ.

    diag(rows) E diag(columns) times a matrix is the product of E of the data without weights, between two multiplications of small
    matrices. If E is all ones, X̂ or X, no entry is visited.
    """

    base: Data
    weights: Pair
    namespace: Namespace = field(init=False)

    def __post_init__(self) -> None:
        self.namespace, self.log = self.base.namespace, self.base.log

    @property
    def costs(self) -> Costs:  # type: ignore[override]
        base = self.base.costs
        return Costs(
            storage=base.storage,
            gives=base.gives,
            weighted=True,
            out_of_core=base.out_of_core,
            one_pass_grams=base.one_pass_grams,
            swept_weights=self.namespace.is_host,
        )

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.base.shape

    @property
    def size(self) -> int:
        return self.base.size

    def in_units(self, unit: float) -> PairWeighted:
        return PairWeighted(self.base.in_units(unit), self.weights)

    def moved(self, namespace: Namespace) -> PairWeighted:
        return known_from(self, PairWeighted(moved(self.base, namespace), Pair(*map(namespace.asarray, self.weights))))

    @property
    def complete(self) -> Data:  # type: ignore[override]
        return self.base

    def take(self, items: np.ndarray, axis: int) -> Any:
        return self.base.take(items, axis)

    def blocks(self, *, transposed: bool = False, as_stored: bool = False) -> Iterator[tuple[slice, Any]]:
        return self.base.blocks(transposed=transposed, as_stored=as_stored)

    def lengths(self, axis: int) -> np.ndarray:
        return self.base.lengths(axis)

    @property
    def items(self) -> Data:
        return items_of(self.base)

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
        facts = self.base.facts
        hidden = 0 if isinstance(self.base, DenseData | SparseData) else self._hidden  # may be counted among the non-zeros
        return facts._replace(missing=self._hidden, non_zeros=max(facts.non_zeros - hidden, 0)), sums

    @cached_property
    def _hidden(self) -> int:
        """Entries in rows or columns without weight."""
        rows, columns = (int(self.namespace.xp.count_nonzero(part)) for part in self.weights)
        return self.shape[0] * self.shape[1] - rows * columns

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Any]:
        if self._hidden and any(_is_infinite_at_zero(request.operand) for request in requests):
            return self._visit_known(U, V, requests, log_power)
        U, V = self._seen(U, V)
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

    def _visit_known(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None
    ) -> tuple[list[Array], Any]:
        """Pass over rows and columns with a weight; on all others, zeros of X, operands may be infinite."""
        xp, device = self.namespace.xp, self.namespace.device
        seen = [to_host(part) > 0 for part in self.weights]
        if not all(part.any() for part in seen):
            return Pass(self, U, V, requests).results, None if log_power is None else 0.0
        rows, columns = (xp.asarray(np.flatnonzero(part), device=device) for part in seen)
        left = xp.take(as_dense(U), rows, axis=0)
        left, right = (xp.take(left, columns, axis=1), None) if V is None else (left, xp.take(as_dense(V), columns, axis=1))
        own = [_of_some(xp, request, rows, columns) for request in requests]
        found, total = self._known.visit(left, right, own, log_power)

        def spread(product: Array, axis: int) -> Array:
            """Insert zeros for rows or columns without weight."""
            place = xp.asarray(np.maximum(np.cumsum(seen[axis]) - 1, 0), device=device)
            kept = xp.expand_dims(xp.asarray(seen[axis], device=device), axis=1 - axis)
            return xp.where(kept, xp.take(product, place, axis=axis), xp.zeros_like(product[:1, :1]))

        for i, request in enumerate(requests):
            for axis in (0, 1) if request.matrix is None else (0,) if request.side == "right" else (1,):
                found[i] = spread(found[i], axis)
        return found, total

    @cached_property
    def _known(self) -> PairWeighted:
        """The rows and columns that have a weight."""
        rows, columns = (np.flatnonzero(to_host(part) > 0) for part in self.weights)
        some = self if len(rows) == self.shape[0] else self.subset(rows, 0)
        return some if len(columns) == self.shape[1] else some.subset(columns, 1)

    def _seen(self, U: Array, V: Array | None) -> tuple[Array, Array | None]:
        """Set X̂ to 1 for weight 0, so that operands are finite (0 · ∞ is NaN)."""
        xp, (rows, columns) = self.namespace.xp, self.weights
        if not bool(xp.all(rows > 0)):
            U = xp.where(rows[:, None] > 0, as_dense(U), xp.ones_like(rows[:, None]))
        if V is not None and not bool(xp.all(columns > 0)):
            V = xp.where(columns[None, :] > 0, as_dense(V), xp.ones_like(columns[None, :]))
        return U, V

    # ---- row by row

    def sweep_rows(self, F: Array, B: Array, options: tuple[float, float, int, int, float], *, transposed: bool = False) -> None:
        from ...kernels.coordinates import linear_rows
        from ...kernels.threads import over_rows

        own, others = self.weights[::-1] if transposed else self.weights
        penalty, overlap, first, passes, enough = options
        weighted = others[:, None] * B
        Q = (B.T @ weighted).astype(np.float64)
        C = np.ascontiguousarray(self.base.apply(weighted, transposed=transposed), dtype=np.float64)
        C -= penalty / np.maximum(own, np.finfo(own.dtype).tiny)[:, None] if penalty else 0.0
        if not overlap:
            over_rows(linear_rows, F.shape[0], F, Q, C, 0.0, 0.0, first, passes, enough)
            return
        for i, weight in enumerate(own.tolist()):  # each row has its own share of it
            if weight:
                linear_rows(i, i + 1, F, Q, C, 0.0, overlap / weight, first, passes, enough)

    def absorbed(self, rows: bool, columns: bool) -> Data:
        """The data with square roots of weights multiplied into rows, columns, or both; these weights are then one."""
        (of_rows, of_columns), xp = self.weights, self.namespace.xp
        kept = Pair(xp.ones_like(of_rows) if rows else of_rows, xp.ones_like(of_columns) if columns else of_columns)
        left, right = (xp.sqrt(part) if asked else None for part, asked in zip(self.weights, (rows, columns), strict=True))
        base: Any = self.base
        if not isinstance(base, DenseData | SparseData):
            return self
        found = replace(base, values=without_zeros(scaled(base.values, left, right)))
        return found if all(bool(xp.all(part == 1)) for part in kept) else PairWeighted(found, kept)

    def levelled(self, rows: bool, columns: bool) -> Levelled | None:
        base: Any = self.base
        if isinstance(base, DenseData):
            return WeightedDense(base.values, self.namespace, base.unit, self.weights).levelled(rows, columns)
        if not isinstance(base, SparseData):
            return None
        weights, of_rows, of_columns, level = levelled(np, self.weights, rows, columns)
        data = SparseData(without_zeros(scaled(base.values, of_rows, of_columns)), self.namespace)
        return Levelled(data if weights is None else PairWeighted(data, weights), of_rows, of_columns, level)

    def blended(self, values: LowRank, share: float = 1.0) -> tuple[Data, float]:
        """As `Partial.blended`, for sparse data: the weighted X, beside X̂ less the weighted X̂."""
        rows, columns = share * self.weights.rows, self.weights.columns
        X, U, V = self.base.itself(), values.U, values.V
        own = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        rest = scaled(X, rows, columns)
        filling = LowRank(np.concatenate([U, -rows[:, None] * U], axis=1), np.concatenate([V, V * columns]))
        data = FilledData(rest, filling, self.namespace, self.base.facts.highest)
        approximation = np.einsum("ij,ij->i", U[own], V.T[X.indices])

        def squares(a: np.ndarray, b: np.ndarray) -> float:
            """Σ aᵢ bⱼ (x − x̂)²."""
            there = np.sum(a[own] * b[X.indices] * (X.data**2 - 2 * X.data * approximation), dtype=np.float64)
            return float(there + np.sum((U.T @ (a[:, None] * U)) * (V @ (b[:, None] * V.T)), dtype=np.float64))

        return data, squares(rows, columns) - squares(rows**2, columns**2)

    # ---- entry by entry

    def _of(self, operand: ElementwiseOperand) -> Pair:
        """The weights of an operand; 0 or 1 for counts."""
        if not isinstance(operand, Unreached):
            return self.weights
        xp = self.namespace.xp
        return Pair(*(xp.astype(part > 0, part.dtype) for part in self.weights))

    def _inside(self, request: Request) -> Request:
        """The request for the data without weights."""
        operand, side, matrix = request
        rows, columns = self._of(operand)
        if matrix is None:
            return request
        return request._replace(matrix=columns[:, None] * as_dense(matrix) if side == "right" else as_dense(matrix) * rows[None, :])

    def _outside(self, request: Request, product: Array) -> Array:
        """The product with weights, from that without."""
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


def with_equal_columns(data: Data) -> Data:
    """The data with the weights of rows alone, if they have weights of rows and of columns."""
    if not isinstance(data, PairWeighted):
        return data
    return PairWeighted(data.base, data.weights._replace(columns=np.ones_like(data.weights.columns)))


_PLAIN = ((0, 0), (0, 1), (1, 0))
"""Exponents of X and X̂ that weights do not act inside of."""


def _is_infinite_at_zero(operand: ElementwiseOperand) -> bool:
    """Whether an operand is infinite for X = 0."""
    if operand.on_pattern or not operand.needs_data:
        return False
    with np.errstate(all="ignore"):
        return not np.isfinite(operand.evaluate(np, np.zeros(1), np.ones(1))).all()


def _of_some(xp: Any, request: Request, rows: Array, columns: Array) -> Request:
    """The request for some rows and columns."""
    if request.matrix is None:
        return request
    some, axis = (columns, 0) if request.side == "right" else (rows, 1)
    return request._replace(matrix=xp.take(as_dense(request.matrix), some, axis=axis))


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
        found = logarithm(xp, approximation)
        return x**self.data_power * found if self.data_power else found
