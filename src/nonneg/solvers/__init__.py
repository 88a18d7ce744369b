"""Ways of minimising, and the one loop that drives them."""

from __future__ import annotations

from ..constraints import DoublyStochastic
from ..naming import find
from ..problem import Problem
from .base import Solver, State
from .coordinate import Coordinate
from .least_squares import AlternatingLeastSquares
from .loop import solve
from .multiplicative import Adaptive, Multiplicative
from .quasi_newton import QuasiNewton
from .stopping import Stopping

__all__ = [
    "NAMES",
    "Adaptive",
    "AlternatingLeastSquares",
    "Coordinate",
    "Multiplicative",
    "QuasiNewton",
    "Solver",
    "State",
    "Stopping",
    "best_solver",
    "get_solver",
    "solve",
]

NAMES: dict[str, Solver] = {
    "coordinate": Coordinate(),
    "quasi-newton": QuasiNewton(),
    "adaptive": Adaptive(),
    "multiplicative": Multiplicative(),
    "least-squares": AlternatingLeastSquares(),
}


def best_solver(problem: Problem) -> Solver:
    """The solver that serves a problem best: coordinate descent, or quasi-Newton steps, where they can be used."""
    if Coordinate.obstacle(problem) is None:
        return Coordinate()
    constraints = [problem.model.constraints[name] for name in problem.order]
    suits = all(c.is_free or (c.restores_fully and not isinstance(c, DoublyStochastic)) for c in constraints)
    return QuasiNewton() if suits else Adaptive()


def get_solver(solver: str | Solver) -> Solver:
    """A solver by name, or as it is."""
    if isinstance(solver, Solver):
        return solver
    return find("solver", solver, NAMES, "an object of nonneg.solvers")
