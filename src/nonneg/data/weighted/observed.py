"""Sparse data of which the stored entries, zeros among them, are all that is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ...kernels.host import as_dense, inner, multiplied
from ...kernels.host import logarithm as log_of
from ...kernels.namespace import Array, Namespace
from ..base import Data, Facts, Total
from ..profile import Costs
from ..sparse import SparseData, cut_by_non_zeros
from ..steps import Descent, ElementwiseOperand, Request, Unreached
from ..visiting import Pass, row_blocks
from .base import DataTerm, Levelled, LowRank, Partial, mean_filling, settle, sweep_entries
from .weights import levelled, scaled, with_entries


@dataclass(eq=False)
class ObservedData(Partial, SparseData):
    """A SciPy sparse array of which the stored entries, zeros among them, are all that is known; and their weights, unless one."""

    weights: sparse.csr_array | None = None
    inside: Data | None = None
    is_pattern: ClassVar[bool] = True
    costs: ClassVar[Costs] = replace(SparseData.costs, weighted=True, swept_weights=True)  # type: ignore[misc]

    def in_units(self, unit: float) -> ObservedData:
        inside = self.inside and self.inside.in_units(unit)
        return ObservedData(with_entries(self.values, self.values.data / unit), self.namespace, self.weights, inside)

    def subset(self, items: np.ndarray, axis: int) -> ObservedData:
        weights = None if self.weights is None else _some(self.weights, items, axis)
        return ObservedData(_some(self.values, items, axis), self.namespace, weights)

    # ---- entry by entry

    def _weighed(self, operand: ElementwiseOperand | None, entries: np.ndarray) -> np.ndarray:
        return entries if self.weights is None or isinstance(operand, Unreached) else entries * self.weights.data

    def _weights(self, transposed: bool) -> np.ndarray:
        weights = self._transposed_weights if transposed else self.weights
        return np.empty(0, self.values.dtype) if weights is None else weights.data

    @cached_property
    def _transposed_weights(self) -> sparse.csr_array | None:
        return None if self.weights is None else self.weights.T.tocsr()

    # ---- row by row

    def known(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, sparse.csr_array]]:
        return ((rows[some], block) for some, block in cut_by_non_zeros(self.values[rows]))

    def descend(self, descent: Descent, *, transposed: bool = False) -> None:
        self.descend_stored(descent._replace(curve=descent.curve.without_linear), transposed=transposed)

    def sweep_rows(self, F: Array, B: Array, options: tuple[float, float, int, int, float], *, transposed: bool = False) -> None:
        X = self._transposed if transposed else self.values
        sweep_entries(F, B, X, self._weights(transposed), options)

    # ---- X itself

    def settled(self, left: Array, right: Array, prior: Array, *, transposed: bool = False) -> LowRank | None:
        if self.weights is not None:
            return None
        codes = settle(self._transposed if transposed else self.values, left, right, None, prior)
        return LowRank(self.namespace.asarray(codes), right)

    def filled(self, values: LowRank) -> Data:
        """The data with missing entries filled, without weights: X̂ + V∘(X − X̂), of which only the second term is stored."""
        return self._beside(values, self._away_from(values))

    def _away_from(self, values: LowRank) -> np.ndarray:
        """X − X̂, of the stored entries."""
        walk = Pass(self, np.asarray(values.U), np.asarray(values.V), [])
        walk.floor = 0.0
        return np.asarray(self.values.data - self._approximation(walk))

    def _beside(self, values: LowRank, rest: np.ndarray) -> FilledData:
        """Data filled with values of low rank: these, and the rest of each stored entry."""
        return FilledData(with_entries(self.values, rest), values, self.namespace, self.facts.highest)

    def levelled(self, rows: bool, columns: bool) -> Levelled:
        if self.weights is None:
            return Levelled(self)
        weights, of_rows, of_columns, level = levelled(np, self.weights, rows, columns)
        values = scaled(self.values, of_rows, of_columns)
        return Levelled(ObservedData(values, self.namespace, weights), of_rows, of_columns, level)

    def blended(self, values: LowRank, share: float = 1.0) -> tuple[Data, float]:
        rest = self._away_from(values)
        if self.weights is None:
            return self._beside(values, rest), 0.0
        weights = share * self.weights.data
        spread = float(np.sum(weights * (1 - weights) * rest**2, dtype=np.float64))
        return self._beside(values, weights * rest), spread

    @cached_property
    def items(self) -> Data:
        return self.filled(mean_filling(self)) if self.facts.missing else SparseData(self.values, self.namespace)


def _some(part: sparse.csr_array, items: np.ndarray, axis: int) -> sparse.csr_array:
    return part[items] if axis == 0 else part[:, items].tocsr()


@dataclass(eq=False)
class FilledData(Data):
    """A sparse array plus a low-rank product: known entries, and fills elsewhere."""

    rest: sparse.csr_array
    filling: LowRank
    namespace: Namespace
    costs: ClassVar[Costs] = Costs(storage="sparse", swept_sides=frozenset())  # type: ignore[misc]
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
        return FilledData(with_entries(self.rest, self.rest.data / unit), filling, self.namespace, self.highest / unit)

    def apply(self, M: Any, *, transposed: bool = False, sign: str = "") -> Array:
        U, V = self.filling
        left, right, M = (V.T, U.T, as_dense(M)) if transposed else (U, V, as_dense(M))
        return SparseData(self.rest, self.namespace).apply(M, transposed=transposed) + multiplied(left, multiplied(right, M))

    def take(self, items: np.ndarray, axis: int) -> np.ndarray:
        U, V = self.filling if axis == 0 else (self.filling.V.T, self.filling.U.T)
        return as_dense((self.rest if axis == 0 else self._transposed)[items]) + U[items] @ V

    @cached_property
    def _transposed(self) -> sparse.csr_array:
        return self.rest.T.tocsr()

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        # Products visit stored entries and the low-rank part. Fills are not negative.
        return Facts(0.0, self.highest, self.size), [self._sum(total) for total in totals]

    def _sum(self, total: Total) -> float:
        if total == ("power", 2):  # ‖rest + U V‖² from stored entries
            U, V = (part.astype(np.float64) for part in self.filling)
            rows = np.repeat(np.arange(self.shape[0]), np.diff(self.rest.indptr))
            products = sum(
                float(np.einsum("ij,ij->i", U[rows[some]], V.T[self.rest.indices[some]]) @ self.rest.data[some])
                for some in row_blocks(self.size, U.shape[1], "cpu")
            )
            return float(inner(np, self.rest.data, self.rest.data) + 2 * products + np.sum((U.T @ U) * (V @ V.T)))
        return sum(float(np.sum(DataTerm(*total).evaluate(np, block, block), dtype=np.float64)) for _, block in self.blocks())

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Any]:
        walk, logarithm = Pass(self, U, V, requests), None
        for rows, block in self.blocks():
            approximation = walk.approximation(rows)
            walk.add(rows, lambda operand, x=block, a=approximation: operand.evaluate(np, x, a))  # type: ignore[misc]
            if log_power is not None:
                logarithm = np.sum(log_of(np, approximation) * block**log_power) + (logarithm or 0.0)
        return walk.results, logarithm
