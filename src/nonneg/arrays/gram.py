"""Data of which only the products of its rows with each other are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy import sparse

from ..exceptions import IncompatibleError
from ..expression import Letter, Word
from .base import Data, Request
from .namespace import Array, Namespace, to_host
from .operator import Operator, peak_of, stored


@dataclass(eq=False)
class GramData(Data):
    """X known only through K = X Xᵀ: kernel methods, where X holds the (implicit) features of each row."""

    gram: Array
    namespace: Namespace
    bounded: bool = True

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.gram.shape  # X may be taken to be the square root of K

    @property
    def array(self) -> None:
        return None

    def matrices(self, name: str, *, signed: bool) -> dict[str, Any]:
        return {}

    def samples(self) -> Any:
        # Rows that are alike in X are alike in their products with all the others.
        return self.gram if sparse.issparse(self.gram) else to_host(self.gram)

    def products(self, name: str) -> dict[Word, Array]:
        return {Word([Letter(name), Letter(name, True)]): self.gram}

    @property
    def size(self) -> int:
        return stored(self.gram)

    @property
    def range(self) -> tuple[float, float]:
        if isinstance(self.gram, Operator) or sparse.issparse(self.gram):
            return 0.0, peak_of(self.gram) ** 0.5
        return 0.0, float(self.namespace.xp.max(self.gram)) ** 0.5

    def power_sum(self, exponent: float) -> float:
        if exponent != 2:
            raise self._unknown()
        is_sparse = sparse.issparse(self.gram)
        if isinstance(self.gram, Operator):
            return 0.0  # not known, and no more than a constant of the objective
        return float(self.gram.trace() if is_sparse else self.namespace.xp.linalg.trace(self.gram))  # ‖X‖² = tr(X Xᵀ)

    def log_sum(self, data_power: float) -> float:
        raise self._unknown()

    def divided(self, by: float) -> GramData:
        return GramData(self.gram / by / by, self.namespace, self.bounded)

    def elementwise(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        raise self._unknown()

    @staticmethod
    def _unknown() -> IncompatibleError:
        return IncompatibleError(
            "Only X Xᵀ is known of this data, not its entries: use a form and a divergence that need no more, such as "
            "'W W.T X' with 'euclidean'."
        )
