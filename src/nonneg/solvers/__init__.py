"""Ways of minimising, and the one loop that drives them."""

from __future__ import annotations

from ..naming import find
from .base import Solver, State
from .least_squares import AlternatingLeastSquares
from .loop import solve
from .multiplicative import Adaptive, Multiplicative
from .stopping import Stopping

__all__ = ["NAMES", "Adaptive", "AlternatingLeastSquares", "Multiplicative", "Solver", "State", "Stopping", "get_solver", "solve"]

NAMES: dict[str, Solver] = {
    "adaptive": Adaptive(),
    "multiplicative": Multiplicative(),
    "least-squares": AlternatingLeastSquares(),
}


def get_solver(solver: str | Solver) -> Solver:
    """A solver by name, or as it is."""
    if isinstance(solver, Solver):
        return solver
    return find("solver", solver, NAMES, "an object of nonneg.solvers")
