"""A dense matrix of similarities that are inner products of a few features."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels.host import multiplied
from ..kernels.namespace import Array
from ..kernels.tuned import tuned
from .base import Data
from .dense import DenseData
from .steps import Sweep

_LESS = tuned(4, by="estimators", on="2026-11-17")
"""How many times fewer entries than the matrix its root has to have."""


@dataclass(eq=False)
class RootedData(DenseData):
    """A dense K = R Rᵀ with known sparse root R: products with K go through R, in a share of the time."""

    root: sparse.csr_array = field(kw_only=True)

    @cached_property
    def _root(self) -> sparse.csr_array:
        """R in the units of the data, and in their precision."""
        return (self.root / np.sqrt(self.unit)).astype(self.namespace.dtype)

    def apply(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        if sign:
            return super().apply(M, transposed=transposed, sign=sign)
        return multiplied(self._root, multiplied(self._root.T, M))

    def apply_after(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        return self.namespace.in_rows(self.apply(M.T, transposed=not transposed, sign=sign).T)

    def _sweep_symmetric(self, sweep: Sweep) -> None:
        from .sparse import sweep_sparse

        F = sweep.F
        products = np.ascontiguousarray(multiplied(self._root.T, F))
        sweep_sparse(self._root, sweep._replace(Y=products), is_gram=False, is_identity=True)


def with_root(K: Data, X: Any) -> Data:
    """K = X Xᵀ with products through X, if K is dense and X has few entries beside it; else K as it is."""
    if type(K) is not DenseData:
        return K
    root = sparse.csr_array(X)
    return RootedData(K.values, K.namespace, root=root) if _LESS * root.nnz <= K.size else K
