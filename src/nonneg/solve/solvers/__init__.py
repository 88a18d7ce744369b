"""Ways of minimising, and which of them "auto" is."""

from __future__ import annotations

from ...naming import find
from ..problem import Problem
from ..solver import Solver, State
from ..stopping import Stopping
from .coordinate import Coordinate
from .least_squares import AlternatingLeastSquares
from .multiplicative import Adaptive, Multiplicative
from .newton import Newton
from .quasi_newton import QuasiNewton

__all__ = [
    "NAMES",
    "Adaptive",
    "AlternatingLeastSquares",
    "Coordinate",
    "Multiplicative",
    "Newton",
    "QuasiNewton",
    "Solver",
    "State",
    "Stopping",
    "best_solver",
    "get_solver",
    "is_auto",
    "name_of",
    "solver_for",
]

NAMES: dict[str, Solver] = {
    "coordinate": Coordinate(),
    "newton": Newton(),
    "quasi-newton": QuasiNewton(),
    "adaptive": Adaptive(),
    "multiplicative": Multiplicative(),
    "least-squares": AlternatingLeastSquares(),
}


def best_solver(problem: Problem) -> Solver:
    """The solver that serves a problem best: coordinate descent, Newton's or quasi-Newton steps, where they suit it."""
    is_far = problem.data.is_far  # one visit an iteration, which entry by entry would be two
    solvers = (Coordinate(), *([] if is_far else [Newton()]), QuasiNewton(together=is_far), Adaptive())
    return next(solver for solver in solvers if solver.suits(problem))


def solver_for(problem: Problem, solver: str | Solver) -> Solver:
    """The solver that is asked for; for "auto" the one that serves the problem best."""
    return best_solver(problem) if is_auto(solver) else get_solver(solver)


def is_auto(solver: str | Solver) -> bool:
    """Whether it is left to us which solver to take."""
    return isinstance(solver, str) and solver == "auto"


def name_of(solver: Solver) -> str:
    """The name of a solver, whatever its settings; that of its class where it has none."""
    return next((name for name, known in NAMES.items() if type(known) is type(solver)), type(solver).__name__)


def get_solver(solver: str | Solver) -> Solver:
    """A solver by name, or as it is."""
    if isinstance(solver, Solver):
        return solver
    return find("solver", solver, NAMES, "an object of nonneg.solvers")
