"""Dense data of any array library, and what is left of dense data in a sketch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..exceptions import IncompatibleError
from ..expression import Letter, Word
from ..rewriting import reduce_identity
from .base import Data, Pass, Request, row_blocks, share_out
from .namespace import Array, Namespace


@dataclass(eq=False)
class DenseData(Data):
    """A dense array of any library."""

    values: Array
    namespace: Namespace

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.values.shape

    @property
    def array(self) -> Array:
        return self.values

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @cached_property
    def non_zeros(self) -> int:
        return int(self._total(lambda x: x != 0))

    @property
    def range(self) -> tuple[float, float]:
        xp = self.namespace.xp
        return float(xp.min(self.values)), float(xp.max(self.values))

    def _total(self, function: Callable[[Array], Array]) -> float:
        xp = self.namespace.xp
        blocks = (self.values[rows, :] for rows in row_blocks(*self.shape, self.namespace.device))
        return math.fsum(float(xp.sum(function(block), dtype=xp.float64)) for block in blocks)

    def power_sum(self, exponent: float) -> float:
        return self._total(lambda x: x**exponent) if exponent else float(self.size)

    def log_sum(self, data_power: float) -> float:
        xp = self.namespace.xp
        return self._total(lambda x: xp.log(xp.where(x > 0, x, xp.ones_like(x))) * (x**data_power if data_power else 1.0))

    def divided(self, by: float) -> DenseData:
        return DenseData(self.values / by, self.namespace)

    def elementwise(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        if self.namespace.xp is not np:
            return self._walk(U, V, requests, log_power)

        def walk(rows: slice, U: Array, requests: Sequence[Request]) -> tuple[list[Array], Array | None]:
            return DenseData(self.values[rows, :], self.namespace)._walk(U, V, requests, log_power)

        return share_out(self.shape, walk, U, requests)

    def _walk(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None
    ) -> tuple[list[Array], Array | None]:
        xp = self.namespace.xp
        walk, logarithm = Pass(self, U, V, requests), None
        for rows in row_blocks(*self.shape, self.namespace.device):
            x, approximation = self.values[rows, :], walk.approximation(rows)
            walk.add(rows, lambda operand, x=x, a=approximation: operand.evaluate(xp, x, a))  # type: ignore[misc]
            if log_power is not None:
                terms = xp.log(approximation) * (x**log_power if log_power else 1.0)
                logarithm = xp.sum(terms, dtype=xp.float64) + (0.0 if logarithm is None else logarithm)
        return walk.results, logarithm


@dataclass(eq=False)
class SketchData(DenseData):
    """X known only through a few combinations R of its rows with RᵀR ≈ XᵀX: what is kept of a stream of samples."""

    def elementwise(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        raise self._unknown()

    def power_sum(self, exponent: float) -> float:
        if exponent != 2:
            raise self._unknown()
        return super().power_sum(exponent)

    def log_sum(self, data_power: float) -> float:
        raise self._unknown()

    def divided(self, by: float) -> SketchData:
        return SketchData(self.values / by, self.namespace)

    def check(self, name: str, words: Iterable[Word]) -> None:
        X = Letter(name)
        if any(letter.name == name for word in words for letter in reduce_identity(word, X.T)):
            raise self._unknown()

    @staticmethod
    def _unknown() -> IncompatibleError:
        return IncompatibleError(
            "Only a sketch R with RᵀR ≈ XᵀX is known of this data, not its entries: use a form and a divergence that need no more, "
            "such as 'X W W.T' with 'euclidean'."
        )
