"""What a solver is: something that moves a point. The loop, stopping, and reporting are not its business."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..arrays.namespace import Array
from ..problem import Point, Problem


@dataclass
class State:
    """All that changes during a run besides the point."""

    exponents: dict[str, float] = field(default_factory=dict)
    """The exponent of each factor's last step."""
    trials: dict[str, float] = field(default_factory=dict)
    """The exponent to try next, where a solver searches for it."""
    unrestored: dict[str, Array] = field(default_factory=dict)
    """Each factor as its last step left it, before the constraint was restored."""
    memory: dict[str, Any] = field(default_factory=dict)
    """Whatever else a solver has to remember from one step to the next."""
    stalled: bool = False
    """Whether the last step could not move any factor."""


class Solver(ABC):
    """A way of taking steps; a record of its settings, which a run does not change."""

    @abstractmethod
    def init(self, problem: Problem) -> State: ...

    stays_finite: ClassVar[bool] = False
    """Whether no step can end in numbers that are not finite."""
    window: ClassVar[float] = 1.0
    """How long it takes to see whether the objective falls faster and faster, in intervals between checks; see `Watch`."""
    share_of_a_scout: ClassVar[float] = 1 / 50
    """What share of the iterations a short run needs that is to show which of several starts is best."""

    @property
    def resumed(self) -> Solver:
        """The solver that goes on from where this one has been."""
        return self

    @abstractmethod
    def step(self, point: Point, state: State) -> Point:
        """One sweep over the learned factors."""
