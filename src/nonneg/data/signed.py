"""Symmetric matrices given by their products with others: operators, and differences of two parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..kernels.namespace import Array, Namespace
from .base import Data, Facts, Total
from .profile import Costs, Need
from .steps import Request


@dataclass(eq=False)
class Operator:
    """A symmetric N × N matrix without negative entries that can be multiplied, and is never formed.

    Parameters
    ----------
    size : int
        N.
    apply : callable
        N × k ↦ N × k, the product with a matrix.
    peak : float
        The largest entry, or about that.
    """

    size: int
    apply: Callable[[np.ndarray], np.ndarray]
    peak: float = 1.0
    ndim = 2
    dtype = np.dtype(np.float64)
    __array_ufunc__ = None  # so that NumPy leaves products to this class

    @property
    def shape(self) -> tuple[int, int]:
        return self.size, self.size

    @property
    def T(self) -> Operator:
        return self

    def __matmul__(self, other: np.ndarray) -> np.ndarray:
        return self.apply(other)

    def __rmatmul__(self, other: np.ndarray) -> np.ndarray:
        return self.apply(other.T).T

    def __truediv__(self, by: float) -> Operator:
        return Operator(self.size, lambda other: self.apply(other) / by, self.peak / by)


@dataclass(eq=False)
class SignedData(Data):
    """S = positive − negative, of two parts without negative entries: arrays, sparse arrays or operators."""

    positive: Any
    negative: Any
    namespace: Namespace
    costs: ClassVar[Costs] = Costs(  # type: ignore[misc]
        storage="split into signs,",
        has_items=False,
        gives=frozenset({Need.SIGNED_PRODUCTS}),
        refusal="Data given as a difference of two parts serves the objective tr(WᵀSW) only.",
    )

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.positive.shape

    @property
    def size(self) -> int:
        return max(stored(self.positive), stored(self.negative))

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        if totals:
            raise self.costs.refuse({Need.ENTRIES})
        return Facts(-peak_of(self.negative), peak_of(self.positive), self.size), []

    def in_units(self, unit: float) -> SignedData:
        return SignedData(self.positive / unit, self.negative / unit, self.namespace)

    def apply(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        if not sign:
            raise self.costs.refuse({Need.PRODUCTS})
        return (self.positive if sign == "⁺" else self.negative) @ M  # both are symmetric

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        raise self.costs.refuse({Need.ENTRIES})

    def take(self, items: np.ndarray, axis: int) -> Any:
        raise self.costs.refuse({Need.ENTRIES})

    @property
    def items(self) -> Data:
        raise self.costs.refuse({Need.ENTRIES})


def stored(matrix: Any) -> int:
    """Entries read by a product with a matrix; of an operator, a typical number for a sparse one."""
    if isinstance(matrix, Operator):
        return 10 * matrix.size
    return int(matrix.nnz) if sparse.issparse(matrix) else matrix.shape[0] * matrix.shape[1]


def peak_of(matrix: Any) -> float:
    """The largest entry of a non-negative matrix."""
    return float(matrix.peak if isinstance(matrix, Operator) else matrix.max() if 0 not in matrix.shape else 0.0)
