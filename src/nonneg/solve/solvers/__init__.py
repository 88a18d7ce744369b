"""Solvers, and the choice of "auto"."""

from __future__ import annotations

from ...exceptions import find
from ..run import Solver, State
from ..signature import Signature
from ..stopping import Stopping
from .additive import Additive
from .block_coordinate import BlockCoordinate
from .coordinate import Coordinate
from .least_squares import AlternatingLeastSquares
from .multiplicative import Adaptive, Multiplicative
from .newton import Newton
from .quasi_newton import QuasiNewton

__all__ = [
    "NAMES",
    "Adaptive",
    "Additive",
    "AlternatingLeastSquares",
    "BlockCoordinate",
    "Coordinate",
    "Multiplicative",
    "Newton",
    "QuasiNewton",
    "Solver",
    "State",
    "Stopping",
    "get_solver",
]

NAMES: dict[str, Solver] = {
    solver.name: solver
    for solver in (
        Coordinate(),
        BlockCoordinate(),
        Newton(),
        QuasiNewton(),
        Adaptive(),
        Multiplicative(),
        AlternatingLeastSquares(),
    )
}


_IN_MEMORY = Coordinate(), BlockCoordinate(), Newton(), QuasiNewton(), Adaptive()
_OUT_OF_CORE = Coordinate(), QuasiNewton(together=True), Adaptive()
"""Candidates for "auto". Out of core an iteration is one pass: Newton's steps, entry by entry, would take two."""


def best_solver(signature: Signature) -> Solver:
    """The first candidate that suits a problem."""
    candidates = _OUT_OF_CORE if signature.data.out_of_core else _IN_MEMORY
    return next(solver for solver in candidates if solver.suits(signature))


def solver_for(signature: Signature, solver: str | Solver) -> Solver:
    """The given solver, by name or as it is; for "auto" the best one."""
    if isinstance(solver, Solver):
        return solver
    return best_solver(signature) if solver == "auto" else get_solver(solver)


def get_solver(solver: str | Solver) -> Solver:
    """A solver by name, or as it is.

    Parameters
    ----------
    solver : str or Solver
        A name such as "adaptive", or an object.

    Returns
    -------
    Solver
        The object of that name, or the one given.

    See Also
    --------
    Solver : Base class of solvers.
    nonneg.explain : Says which solver "auto" is, and why.

    Examples
    --------
    >>> from nonneg.solvers import get_solver
    >>> get_solver("adaptive")
    Adaptive(growth=1.3, largest=8.0)
    """
    return solver if isinstance(solver, Solver) else find("solver", solver, NAMES, "an object of nonneg.solvers")
