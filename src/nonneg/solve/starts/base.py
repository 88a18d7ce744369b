"""Starts: each makes the factors that a run begins with, in a file of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...kernels.tuned import tuned
from ..context import StartContext
from ..problem import Problem
from ..run import Solver
from ..signature import Signature
from ..stopping import Stopping
from ..surrogate import Surrogate

SHORT = Stopping(tol=1e-4, max_iter=300)
"""Ends runs that look for a start."""
_LIFTED = tuned(1e-3, by="curves", on="2026-11-16")
"""Share of the mean that replaces zeros."""

Beginning = str | Mapping[str, Any]
"""Factors by name, or the name of an initialization; factors left out start at random."""


@dataclass(frozen=True)
class Setting:
    """The problem a start is made for.

    Attributes
    ----------
    problem : Problem
    surrogate : Surrogate, optional
        Stands for the data.
    seed : int
    context : StartContext
    rank : int, optional
        Components that are not zero: fewer than the factors have where runs of several ranks are one batch.
    """

    problem: Problem
    surrogate: Surrogate | None
    seed: int
    context: StartContext
    rank: int | None = None


class Start(ABC):
    """A way to begin a run."""

    is_warm: bool = False
    """Whether the solver skips its warm-up: components have taken shape."""
    searches: ClassVar[bool] = False
    """Whether it solves a problem of its own, on the surrogate or on formed products of X."""
    varies: bool = True
    """Whether another seed makes another start."""
    why: ClassVar[str] = ""
    """The reason for this start, for people."""
    entries: ClassVar[Callable[..., float] | None] = None
    """A method of the signature: entries that the start holds in memory, beyond X and a few copies of the factors."""

    @classmethod
    def applies(cls, signature: Signature, solver: Solver) -> bool:
        """Whether the start can be made, and serves a problem that this solver solves."""
        return True

    @abstractmethod
    def make(self, setting: Setting) -> Beginning:
        """Make the start."""

    def make_all(self, settings: Sequence[Setting]) -> list[Beginning]:
        """Make several, for one problem; a start that tries points side by side has those of all in one batch."""
        return [self.make(setting) for setting in settings]

    @abstractmethod
    def __str__(self) -> str:
        """The start in a few words."""


def lift(factor: np.ndarray) -> np.ndarray:
    """Replace zeros, which multiplicative rules cannot leave, by a small share of the mean."""
    return np.maximum(factor, _LIFTED * factor.mean())
