"""Start from given factors, or from an initialization by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..initialization import CLUSTERING
from ..signature import Signature
from .base import Beginning, Setting, Start


@dataclass(frozen=True)
class Given(Start):
    """Given factors.

    Parameters
    ----------
    factors : dict of arrays
    is_warm : bool
        Whether they are the end of an earlier fit.
    """

    factors: Mapping[str, Any]
    is_warm: bool = False

    def make(self, setting: Setting) -> Beginning:
        return self.factors

    def __str__(self) -> str:
        return f"the given {', '.join(self.factors)}"


@dataclass(frozen=True)
class Named(Start):
    """An initialization by its name."""

    name: str
    why: ClassVar[str] = ""

    @property
    def is_warm(self) -> bool:  # type: ignore[override]
        """Co-clusters are a settled partition."""
        return self.name == "coclusters"

    @property
    def varies(self) -> bool:  # type: ignore[override]
        return self.name not in ("nndsvd", "nndsvda")

    def entries(self, signature: Signature) -> float:
        return float(signature.data.non_zeros) if self.name in CLUSTERING else 0.0

    def make(self, setting: Setting) -> Beginning:
        """The name alone: `initial_factors` makes the factors where the run begins."""
        return self.name

    def __str__(self) -> str:
        return self.name
