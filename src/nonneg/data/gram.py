"""Data of which only the products of its rows with each other are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels.namespace import Array, Namespace, to_host
from .base import Data, Facts, Total
from .dense import DenseData
from .profile import Costs, Need
from .signed import Operator, peak_of, stored
from .sparse import SparseData, sweep_sparse
from .steps import Request, Sweep


@dataclass(eq=False)
class GramData(Data):
    """X given by K = X Xᵀ, for kernel methods: rows of X are implicit features."""

    gram: Any
    namespace: Namespace
    bounded: bool = True

    @cached_property
    def costs(self) -> Costs:  # type: ignore[override]
        is_operator = isinstance(self.gram, Operator)
        return Costs(
            storage="known by X Xᵀ,",
            gives=frozenset({Need.ROW_GRAM}),
            refusal=_REFUSAL,
            bounded=self.bounded,
            has_items=False,
            gram_size=stored(self.gram),
            formed_grams=frozenset() if is_operator or sparse.issparse(self.gram) else frozenset({False}),
            swept_sides=frozenset() if is_operator else frozenset({False}),
        )

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.gram.shape  # X may be taken to be the square root of K

    @property
    def size(self) -> int:
        return stored(self.gram)

    def in_units(self, unit: float) -> GramData:
        return GramData(self.gram / unit / unit, self.namespace, self.bounded)

    # ---- the Gram matrix

    def apply_gram(self, M: Array, *, transposed: bool = False) -> Array:
        if transposed:
            raise self.costs.refuse({Need.COLUMN_GRAM})
        return self.gram @ M

    def with_itself(self, first: bool, second: bool) -> Array:
        if (first, second) != (False, True):
            raise self.costs.refuse({Need.COLUMN_GRAM})
        return self.gram

    def sweep(self, sweep: Sweep, *, transposed: bool = False) -> None:
        sweep_sparse(self.gram, sweep._replace(Y=sweep.F), is_gram=True, is_identity=False)

    @property
    def items(self) -> Data:
        # Similar rows of X have similar products with all rows.
        return SparseData(self.gram, self.namespace) if sparse.issparse(self.gram) else DenseData(self.gram, self.namespace)

    # ---- facts of X

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        known = isinstance(self.gram, Operator) or sparse.issparse(self.gram)
        peak = peak_of(self.gram) if known else float(self.namespace.xp.max(self.gram))
        return Facts(0.0, peak**0.5, stored(self.gram)), [self._squares(total) for total in totals]

    def _squares(self, total: Total) -> float:
        """‖X‖² = tr(X Xᵀ); of an operator it is not known, and no more than a constant of the objective."""
        if total != ("power", 2):
            raise self.costs.refuse({Need.ENTRIES})
        if isinstance(self.gram, Operator):
            return 0.0
        return float(self.gram.trace() if sparse.issparse(self.gram) else self.namespace.xp.linalg.trace(self.gram))

    def apply(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        raise self.costs.refuse({Need.PRODUCTS})

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        raise self.costs.refuse({Need.ENTRIES})

    def take(self, items: np.ndarray, axis: int) -> Any:
        raise self.costs.refuse({Need.ENTRIES})

    def lengths(self, axis: int) -> np.ndarray:
        diagonal = self.gram.diagonal() if sparse.issparse(self.gram) else np.diag(to_host(self.gram))
        return np.sqrt(np.maximum(diagonal, 0.0))


_REFUSAL = (
    "Only X Xᵀ is known of this data, not its entries: use a form and a divergence that need no more, such as 'W W.T X' with "
    "'euclidean'."
)
