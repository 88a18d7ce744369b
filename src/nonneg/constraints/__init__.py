"""What a factor must satisfy besides being non-negative."""

from __future__ import annotations

from ..exceptions import IncompatibleError
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
    known = NAMES["free"] if constraint is None else None
    if isinstance(constraint, str):
        known = NAMES.get(constraint.lower().replace("_", "-").replace(" ", "-"))
    if known is None:
        raise IncompatibleError(
            f"Unknown constraint {constraint!r}. Known names: {', '.join(map(repr, NAMES))}; or an object of nonneg.constraints."
        )
    return known
