"""Data given by their transpose: blocks of columns are blocks of rows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels.namespace import Array, Namespace
from .base import Data, Facts, Total, chunks
from .profile import Costs
from .steps import Request, Sweep
from .weighted.base import LowRank, Partial
from .weighted.blocks import transpose_block
from .weighted.weights import Pair


@dataclass(eq=False)
class TransposedData(Partial):
    """Yᵀ, given Y."""

    inner: Any

    def __post_init__(self) -> None:
        self.log = self.inner.log

    @property
    def costs(self) -> Costs:  # type: ignore[override]
        return self.inner.costs.T

    @property
    def namespace(self) -> Namespace:  # type: ignore[override]
        return self.inner.namespace

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.inner.shape[::-1]

    @property
    def size(self) -> int:
        return self.inner.size

    @property
    def T(self) -> Data:
        return self.inner

    @property
    def in_blocks(self) -> tuple[Any, bool] | None:  # type: ignore[override]
        found = self.inner.in_blocks
        return None if found is None else (found[0], not found[1])

    @property
    def seen(self) -> Any:
        return self.inner.seen

    @property
    def cache(self) -> dict[Any, Any] | None:  # type: ignore[override]
        return None if self.inner.cache is None else self.inner.cache.setdefault("transposed", {})

    def moved(self, namespace: Namespace) -> Data:
        return TransposedData(self.inner.moved(namespace))

    def in_units(self, unit: float) -> Data:
        return TransposedData(self.inner.in_units(unit))

    def apply(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        return self.inner.apply(M, transposed=not transposed, sign=sign)

    def apply_gram(self, M: Array, *, transposed: bool = False) -> Array:
        return self.inner.apply_gram(M, transposed=not transposed)

    def with_itself(self, first: bool, second: bool) -> Array:
        return self.inner.with_itself(not first, not second)

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Any]:
        turned = [
            Request(operand, "right", None)
            if matrix is None
            else Request(operand, "left" if side == "right" else "right", matrix.T)
            for operand, side, matrix in requests
        ]
        left, right = (U.T, None) if V is None else (V.T, U.T)
        products, total = self.inner.visit(left, right, turned, log_power)
        return [self.namespace.in_rows(product.T) for product in products], total

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        return self.inner._read(totals)

    def take(self, items: np.ndarray, axis: int) -> Any:
        return self.inner.take(items, 1 - axis)

    def blocks(self, *, transposed: bool = False, as_stored: bool = False) -> Iterator[tuple[slice, Any]]:
        return self.inner.blocks(transposed=not transposed, as_stored=as_stored)

    def itself(self) -> Any:
        return self.inner.itself().T

    def lengths(self, axis: int) -> np.ndarray:
        return self.inner.lengths(1 - axis)

    def sweep(self, sweep: Sweep, *, transposed: bool = False) -> None:
        self.inner.sweep(sweep, transposed=not transposed)

    apply_after = Data.apply_after

    # ---- weights

    @property
    def inside(self) -> Any:  # type: ignore[override]
        return self.inner.inside and TransposedData(self.inner.inside)

    @property
    def weights(self) -> Any:
        own = getattr(self.inner, "weights", None)
        return Pair(*own[::-1]) if isinstance(own, Pair) else own

    def with_inside(self, inside: Any) -> TransposedData:
        return TransposedData(self.inner.with_inside(inside.T))

    @property
    def has_gaps(self) -> bool:
        return bool(self.inner.has_gaps)

    def sweep_rows(self, F: Array, B: Array, options: tuple[float, float, int, int, float], *, transposed: bool = False) -> None:
        self.inner.sweep_rows(F, B, options, transposed=not transposed)

    def subset(self, items: np.ndarray, axis: int) -> Data:
        return transpose_block(self.inner.subset(items, 1 - axis)) if self.costs.weighted else super().subset(items, axis)

    def parts(self) -> Iterator[Data]:
        return (self.subset(some, 0) for some in chunks(*self.shape))

    @property
    def items(self) -> Data:
        return TransposedData(self.inner.items) if self.costs.weighted else self

    def filled(self, values: LowRank) -> Data:
        return TransposedData(self.inner.filled(LowRank(values.V.T, values.U.T)))

    def blended(self, values: LowRank, share: float = 1.0) -> tuple[Data, float]:
        data, spread = self.inner.blended(LowRank(values.V.T, values.U.T), share)
        return TransposedData(data), spread

    def settled(self, left: Array, right: Array, prior: Array, *, transposed: bool = False) -> LowRank | None:
        found: LowRank | None = self.inner.settled(left, right, prior, transposed=not transposed)
        return found

    def absorbed(self, rows: bool, columns: bool) -> Data:
        found: Data = self.inner.absorbed(columns, rows).T
        return found
