"""What a factor must satisfy besides being non-negative."""

from __future__ import annotations

from ..naming import find
from .base import Constraint, Direction, Fixed, Free, Sides
from .orthogonal import Orthogonal
from .stochastic import DoublyStochastic, Stochastic

__all__ = [
    "NAMES",
    "Constraint",
    "Direction",
    "DoublyStochastic",
    "Fixed",
    "Free",
    "Orthogonal",
    "Sides",
    "Stochastic",
    "get_constraint",
]

NAMES: dict[str, Constraint] = {
    "free": Free(),
    "orthogonal": Orthogonal("columns"),
    "orthogonal-columns": Orthogonal("columns"),
    "orthogonal-rows": Orthogonal("rows"),
    "stochastic": Stochastic("columns"),
    "stochastic-columns": Stochastic("columns"),
    "stochastic-rows": Stochastic("rows"),
    "stochastic-matrix": Stochastic("matrix"),
    "doubly-stochastic": DoublyStochastic(),
    "fixed": Fixed(),
}


def get_constraint(constraint: str | Constraint | None) -> Constraint:
    """A constraint by name, or as it is; None is 'free'."""
    if isinstance(constraint, Constraint):
        return constraint
    return find("constraint", "free" if constraint is None else constraint, NAMES, "an object of nonneg.constraints")
