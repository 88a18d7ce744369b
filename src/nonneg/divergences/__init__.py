"""How far an approximation is from the data: the α, β, γ and Rényi families, the dual I-divergence, and the trace.

Separable divergences can be added up, ``Beta(1) + 0.5 * Beta(2)``; `Polynomial` takes the monomials of any other.
"""

from __future__ import annotations

import inspect
from numbers import Real

from ..exceptions import find
from .alpha import Alpha
from .base import Divergence, Objective
from .beta import Beta
from .dual_i import DualI
from .gamma import Gamma
from .polynomial import Polynomial
from .renyi import Renyi
from .sums import WeightedSum
from .trace import Trace

__all__ = [
    "Alpha",
    "Beta",
    "Divergence",
    "DualI",
    "FAMILIES",
    "Gamma",
    "NAMES",
    "Objective",
    "Polynomial",
    "Renyi",
    "Trace",
    "WeightedSum",
    "get_divergence",
]

FAMILIES: tuple[type[Objective], ...] = (Beta, Alpha, Gamma, Renyi, DualI, Polynomial)
"""Every class of divergences; tests and the fuzzer draw the examples of each."""
NAMES: dict[str, Objective] = {
    "euclidean": Beta(2),
    "frobenius": Beta(2),
    "kullback-leibler": Beta(1),
    "kl": Beta(1),
    "i-divergence": Beta(1),
    "poisson": Beta(1),
    "itakura-saito": Beta(0),
    "hellinger": Alpha(0.5),
    "chi2": Alpha(2),
    "pearson": Alpha(2),
    "neyman": Alpha(-1),
    "dual-i": DualI(),
    "dual-kullback-leibler": DualI(),
    "normalized-kullback-leibler": Gamma(0),
    "trace": Trace(),
}


def get_divergence(divergence: str | float | Objective) -> Objective:
    """A divergence by name, by its number b in ``Beta(b)`` (scikit-learn's ``beta_loss``), or as it is.

    Parameters
    ----------
    divergence : str, float or Objective
        A name such as "kullback-leibler", a number b, or an object.

    Returns
    -------
    Objective
        The object of that name or number, or the one given.

    See Also
    --------
    Divergence : Base class of divergences.
    nonneg.constraints.get_constraint : The same of constraints.
    nonneg.solvers.get_solver : The same of solvers.

    Examples
    --------
    >>> from nonneg.divergences import get_divergence
    >>> get_divergence("kullback-leibler"), get_divergence(1.5)
    (Beta(b=1), Beta(b=1.5))
    """
    if isinstance(divergence, Objective):
        return divergence
    if isinstance(divergence, Real) and not isinstance(divergence, bool):
        return Beta(float(divergence))
    known = ", ".join(f"{family.__name__}({', '.join(inspect.signature(family).parameters)})" for family in FAMILIES)
    otherwise = f"a number b for Beta(b), one of {known} of nonneg.divergences, or a sum of them"
    return find("divergence", divergence, NAMES, otherwise)
