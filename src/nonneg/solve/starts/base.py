"""What a start is: something that makes the factors a run begins with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..compressing import Compressed
from ..context import StartContext
from ..problem import Problem
from ..sketching import Sketched
from ..solvers import Solver
from ..stopping import Stopping

SHORT = Stopping(tol=1e-4, max_iter=300)
"""Ends runs that look for a start."""
_LIFTED = 1e-3
"""Share of the mean that replaces zeros."""


@dataclass(frozen=True)
class Setting:
    """The problem a start is made for, and how it will be solved.

    Attributes
    ----------
    problem : Problem
    surrogate : Sketched, Compressed or None
        Stands for the data.
    solver : Solver
    stopping : Stopping
    seed : int
    context : StartContext
    """

    problem: Problem
    surrogate: Sketched | Compressed | None
    solver: Solver
    stopping: Stopping
    seed: int
    context: StartContext


class Beginning(NamedTuple):
    """Where a run begins."""

    init: str | Mapping[str, Any]
    """Factors, or the name of an initialization; factors left out start at random."""
    is_warm: bool = False
    """Whether the solver skips its warm-up."""
    is_bound: bool = False
    """Whether it depends on `max_iter`."""


class Start(ABC):
    """A way to begin a run."""

    @abstractmethod
    def make(self, setting: Setting) -> Beginning | None:
        """Make the start; None if it cannot be made, and the next one is to be tried."""


def lift(factor: np.ndarray) -> np.ndarray:
    """Replace zeros, which multiplicative rules cannot leave, by a small share of the mean."""
    return np.maximum(factor, _LIFTED * factor.mean())
