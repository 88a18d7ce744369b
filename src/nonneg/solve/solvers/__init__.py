"""Ways of minimising, and which of them "auto" is."""

from __future__ import annotations

from ...naming import find
from ..signature import Signature
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


def best_solver(signature: Signature) -> Solver:
    """The first solver that suits a problem: coordinate descent, Newton's steps, quasi-Newton steps, adaptive exponents."""
    far = signature.data.out_of_core  # one pass an iteration; steps entry by entry would take two
    solvers = (Coordinate(), *([] if far else [Newton()]), QuasiNewton(together=far), Adaptive())
    return next(solver for solver in solvers if solver.suits(signature))


def solver_for(signature: Signature, solver: str | Solver) -> Solver:
    """The given solver; for "auto" the one that serves the problem best."""
    return best_solver(signature) if is_auto(solver) else get_solver(solver)


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
