"""The interface of a method of partitioning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..similarities import Similarity


class Effort(NamedTuple):
    """How much a method may spend."""

    n_init: int = 10
    max_iter: int = 1000
    tol: float = 1e-5


class Partitioned(NamedTuple):
    """A partition: the label of each vertex, and its memberships."""

    labels: np.ndarray
    memberships: np.ndarray
    n_iter: int
    objective: float | None = None
    """What the method made large; None for the trace tr(WᵀSW)."""
    method: Any = None
    """The method that made the parts, where one has others do so."""


@dataclass(frozen=True)
class Method(ABC):
    """A way from a similarity to a partition."""

    similarity: ClassVar[str] = "normalized"
    """The one that it is for, where nothing else is asked for."""

    @abstractmethod
    def partition(self, S: Similarity, count: int, generator: np.random.Generator, effort: Effort) -> Partitioned:
        """The vertices in so many parts; where `is_interrupted`, the best that have been found so far."""
