"""Start from a few Euclidean sweeps, before Newton's method."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...kernels.tuned import tuned
from ..problem import Problem
from ..run import Solver
from ..signature import Signature
from ..solvers import Coordinate, Newton
from ..solving import solve_from
from ..stopping import Stopping
from ..surrogate import euclidean
from .base import Beginning, Setting, Start, lift

_FEW_SWEEPS = Stopping(tol=1e-4, max_iter=20)
_LARGE = tuned(2 * 10**6, by="divergence", on="2026-11-17")
"""Entries times components from which the start saves time."""


@dataclass(frozen=True)
class Euclidean(Start):
    """A few sweeps of coordinate descent for the Euclidean distance.

    A sweep of Newton's method takes a division for each entry and component, ten times the cost of one of coordinate descent. For
    small or sparse data that does not matter, and components that form by the divergence itself end lower now and then.
    """

    name: str
    is_warm = True
    searches: ClassVar[bool] = True
    why: ClassVar[str] = "a Euclidean sweep costs a tenth of one of Newton's method"

    @classmethod
    def applies(cls, signature: Signature, solver: Solver) -> bool:
        """Whether X is large and dense, in memory, and solved by Newton's method."""
        data, entries = signature.data, math.prod(signature.data.shape)
        is_large = 4 * data.non_zeros >= entries and entries * min(map(min, signature.shapes.values())) >= _LARGE
        if not is_large or not isinstance(solver, Newton) or data.out_of_core:
            return False
        model = euclidean(signature.model)
        return model is not None and Coordinate().suits(replace(signature, model=model))

    def make(self, setting: Setting) -> Beginning:
        problem, model = setting.problem, euclidean(setting.problem.model)
        assert model is not None
        return solve_euclidean(setting, problem.on(problem.data, model=model), self.name, _FEW_SWEEPS)

    def __str__(self) -> str:
        return f"{_FEW_SWEEPS.max_iter} Euclidean sweeps from {self.name}"


def solve_euclidean(setting: Setting, euclidean: Problem, name: str, stopping: Stopping) -> dict[str, np.ndarray]:
    """Solve a Euclidean problem from a named initialization, and lift the zeros of its factors."""
    problem = setting.problem
    found = solve_from(euclidean, name, Coordinate(), stopping, setting.seed, setting.context.trial)
    setting.context.say("found a start for the Euclidean distance")
    own = problem.units.from_user(found.factors)
    return problem.units.to_user({name: lift(own[name]) for name in problem.learned})
