"""Data of which a few combinations of the rows are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..exceptions import IncompatibleError
from .base import Data, Facts, Need, Request, Total
from .dense import DenseData
from .namespace import Array


@dataclass(eq=False)
class SketchData(DenseData):
    """X known only through a few combinations R of its rows, of either sign, with RᵀR ≈ XᵀX: what is kept of many samples."""

    gives: ClassVar[frozenset[Need]] = frozenset({Need.COLUMN_GRAM})

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        raise self.refuse({Need.ENTRIES})

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        if any(total != ("power", 2) for total in totals):
            raise self.refuse({Need.ENTRIES})
        return super().survey(totals)

    @property
    def items(self) -> Data:
        return DenseData(self.values, self.namespace, self.unit)

    def refuse(self, missing: set[Need]) -> IncompatibleError:
        return IncompatibleError(
            "Only a sketch R with RᵀR ≈ XᵀX is known of this data, not its entries: use a form and a divergence that need no more, "
            "such as 'X W W.T' with 'euclidean'."
        )
