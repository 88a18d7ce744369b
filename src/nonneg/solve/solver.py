"""Interface of solvers, which move a point. Loop, stopping and reporting are elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ..kernels.namespace import Array
from .point import Point
from .problem import Problem
from .signature import Signature


@dataclass
class State:
    """The state of a run besides the point: arrays and numbers, so that it can be stored. Solvers extend it by subclasses."""

    exponents: dict[str, float] = field(default_factory=dict)
    """The exponent of each factor's last step."""
    unrestored: dict[str, Array] = field(default_factory=dict)
    """Each factor as its last step left it, before the constraint was restored."""
    stalled: bool = False
    """Whether the last step could not move any factor."""
    made_of: ClassVar[tuple[type, ...]] = ()
    """Classes of its own that it holds."""


class Solver(ABC):
    """A way of taking steps; a record of its settings, which a run does not change."""

    title: ClassVar[str] = ""
    """The name of the algorithm, for people."""
    searches: ClassVar[bool] = False
    """Whether a line search may evaluate the objective several times a step."""
    window: ClassVar[float] = 1.0
    """Iterations that show whether the objective falls faster and faster, in intervals between checks; see `Watch`."""
    shape_by: ClassVar[int] = 40
    """Iterations before which the remaining decrease is not extrapolated; see `Watch`."""
    trial: ClassVar[int] = 100
    """Iterations that show which of several starts is best."""

    def obstacle(self, signature: Signature) -> str | None:
        """Why a problem cannot be solved this way, as a clause; None if it can."""
        return None

    def suits(self, signature: Signature) -> bool:
        """Whether "auto" may choose it."""
        return self.obstacle(signature) is None

    @abstractmethod
    def new_state(self, problem: Problem) -> Any:
        """The state at the beginning of a run; an error if there is an obstacle."""

    def warm(self) -> Solver:
        """The same solver without its warm-up, for points whose components have taken shape."""
        settings: Any = self
        return replace(settings, warmup=0) if hasattr(self, "warmup") else self

    @abstractmethod
    def step(self, point: Point, state: Any) -> Point:
        """One sweep over the learned factors."""
