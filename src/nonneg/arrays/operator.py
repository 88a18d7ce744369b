"""Symmetric matrices that are known by what they do to others: of low rank, or solutions of equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import IncompatibleError
from .base import Data, Request
from .namespace import Array, Namespace


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

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.positive.shape

    @property
    def array(self) -> Any:
        return self.positive

    def matrices(self, name: str, *, signed: bool) -> dict[str, Any]:
        return {name + "⁺": self.positive, name + "⁻": self.negative}

    @property
    def size(self) -> int:
        return max(stored(self.positive), stored(self.negative))

    @property
    def range(self) -> tuple[float, float]:
        return -peak_of(self.negative), peak_of(self.positive)

    def divided(self, by: float) -> SignedData:
        return SignedData(self.positive / by, self.negative / by, self.namespace)

    def power_sum(self, exponent: float) -> float:
        raise self._unknown()

    def log_sum(self, data_power: float) -> float:
        raise self._unknown()

    def elementwise(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        raise self._unknown()

    @staticmethod
    def _unknown() -> IncompatibleError:
        return IncompatibleError("Data given as a difference of two parts serves the objective tr(WᵀSW) only.")


def stored(matrix: Any) -> int:
    """Entries that a product with a matrix has to visit; of an operator, what a sparse one may have."""
    if isinstance(matrix, Operator):
        return 10 * matrix.size
    return int(matrix.nnz) if sparse.issparse(matrix) else matrix.shape[0] * matrix.shape[1]


def peak_of(matrix: Any) -> float:
    """The largest entry of a matrix without negative ones."""
    return float(matrix.peak if isinstance(matrix, Operator) else matrix.max() if 0 not in matrix.shape else 0.0)
