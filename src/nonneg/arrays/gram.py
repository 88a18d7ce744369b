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


@dataclass(eq=False)
class GramData(Data):
    """X known only through K = X Xᵀ: kernel methods, where X holds the (implicit) features of each row."""

    gram: Array
    namespace: Namespace

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
        return self.gram.nnz if sparse.issparse(self.gram) else self.shape[0] ** 2

    @property
    def range(self) -> tuple[float, float]:
        return 0.0, float(self.gram.max() if sparse.issparse(self.gram) else self.namespace.xp.max(self.gram)) ** 0.5

    def power_sum(self, exponent: float) -> float:
        if exponent != 2:
            raise self._unknown()
        is_sparse = sparse.issparse(self.gram)
        return float(self.gram.trace() if is_sparse else self.namespace.xp.linalg.trace(self.gram))  # ‖X‖² = tr(X Xᵀ)

    def log_sum(self, data_power: float) -> float:
        raise self._unknown()

    def divided(self, by: float) -> GramData:
        return GramData(self.gram / by / by, self.namespace)

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
