"""Constraints on factors, besides non-negativity or in place of it."""

from __future__ import annotations

from ..exceptions import find
from .base import Constraint, Direction, Entrywise, Fixed, Free, Sides
from .diagonal import Diagonal
from .disjoint import Disjoint
from .near_orthogonal import FixedMultiplier, NearOrthogonal
from .orthogonal import Orthogonal
from .partly_fixed import PartlyFixed
from .permutation import Permutation
from .signed import EitherSign
from .sparse import Sparse
from .stochastic import DoublyStochastic, Stochastic
from .support import Support
from .unit import Unit, unit_length

__all__ = [
    "NAMES",
    "Constraint",
    "Diagonal",
    "Direction",
    "Disjoint",
    "DoublyStochastic",
    "EitherSign",
    "Entrywise",
    "Fixed",
    "FixedMultiplier",
    "Free",
    "NearOrthogonal",
    "Orthogonal",
    "PartlyFixed",
    "Permutation",
    "Sides",
    "Sparse",
    "Stochastic",
    "Support",
    "Unit",
    "get_constraint",
    "unit_length",
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
    "unit": Unit("columns"),
    "unit-columns": Unit("columns"),
    "unit-rows": Unit("rows"),
    "diagonal": Diagonal(),
    "permutation": Permutation(),
    "signed": EitherSign(),
    "fixed": Fixed(),
}


def get_constraint(constraint: str | Constraint | None) -> Constraint:
    """A constraint by name, or as it is; None is 'free'.

    Parameters
    ----------
    constraint : str, Constraint or None
        A name such as "orthogonal", or an object.

    Returns
    -------
    Constraint
        The object of that name, or the one given.

    See Also
    --------
    Constraint : Base class of constraints.
    nonneg.divergences.get_divergence : The same of divergences.
    nonneg.solvers.get_solver : The same of solvers.

    Examples
    --------
    >>> from nonneg.constraints import get_constraint
    >>> get_constraint("orthogonal-rows")
    Orthogonal(axis='rows', steps=3, unit=False)
    """
    if isinstance(constraint, Constraint):
        return constraint
    return find("constraint", "free" if constraint is None else constraint, NAMES, "an object of nonneg.constraints")
