"""Start from the solution of the same problem with the Euclidean distance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..compressing import euclidean_twin
from ..problem import Problem
from ..solvers import Coordinate, Newton, Solver
from ..solving import solve_from
from ..stopping import Stopping
from .base import Beginning, Setting, Start, lift

_FEW_SWEEPS = Stopping(tol=1e-4, max_iter=20)
_LARGE = 2 * 10**6
"""Entries times components from which the start saves time."""


@dataclass(frozen=True)
class Euclidean(Start):
    """A few sweeps of coordinate descent for the Euclidean distance, before Newton's method.

    A sweep of Newton's method takes a division for each entry and component, ten times the cost of one of coordinate descent. For
    small or sparse data that does not matter, and components that form by the divergence itself end lower now and then.
    """

    name: str

    @staticmethod
    def applies(problem: Problem, solver: Solver) -> bool:
        """Whether X is large and dense, in memory, and solved by Newton's method."""
        entries = math.prod(problem.data.shape)
        is_large = 4 * problem.data.facts.non_zeros >= entries and entries * min(map(min, problem.shapes.values())) >= _LARGE
        if not is_large or not isinstance(solver, Newton) or problem.data.is_far:
            return False
        twin = _twin(problem)
        return twin is not None and Coordinate().suits(twin.signature)

    def make(self, setting: Setting) -> Beginning | None:
        twin = _twin(setting.problem)
        return None if twin is None else Beginning(solve_euclidean(setting, twin, self.name, _FEW_SWEEPS), is_warm=True)


def _twin(problem: Problem) -> Problem | None:
    """The same problem with the Euclidean distance."""
    model = euclidean_twin(problem.model)
    return None if model is None else problem.on(problem.data, model=model)


def solve_euclidean(setting: Setting, twin: Problem, name: str, stopping: Stopping) -> dict[str, np.ndarray]:
    """Solve a Euclidean problem from a named initialization, and lift the zeros of its factors."""
    problem = setting.problem
    found = solve_from(twin, name, Coordinate(), stopping, setting.seed, setting.context.trial)
    setting.context.say("found a start for the Euclidean distance")
    own = problem.units.from_user(found.factors)
    return problem.units.to_user({name: lift(own[name]) for name in problem.learned})
