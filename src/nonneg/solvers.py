"""Solvers, their states and the stopping rules: the public names of `nonneg.solve.solvers`."""

from .solve.solvers import (
    NAMES,
    Adaptive,
    Additive,
    AlternatingLeastSquares,
    BlockCoordinate,
    Coordinate,
    Multiplicative,
    Newton,
    QuasiNewton,
    Solver,
    State,
    Stopping,
    get_solver,
)

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
