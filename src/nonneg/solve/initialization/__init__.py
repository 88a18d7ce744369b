"""Starts of factorizations. Random numbers are drawn on the host, so that every backend starts from the same factors.

A named start makes, for each inner dimension of the form, a pair of factors: one for the rows (or columns) of X, one that faces it.
Factors that stand between two of them are the means of X over the blocks that these mark. `sides` says which factor is which.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from ...exceptions import IncompatibleError, is_one_of, unknown
from ...kernels.namespace import Array, to_host
from ..exact import solved
from ..problem import Problem
from .clusters import angular, kmeans, one_hot_clusters
from .coclusters import made_together
from .nndsvd import nndsvd, nndsvda, nndsvdar
from .sides import Initialization, made_by

__all__ = [
    "CLUSTERING",
    "NAMES",
    "RandomState",
    "initial_factors",
    "make_generator",
    "one_hot_clusters",
]

RandomState = int | np.random.Generator | np.random.RandomState | None

NAMES: dict[str, Initialization | None] = {
    "random": None,
    "nndsvd": nndsvd,
    "nndsvda": nndsvda,
    "nndsvdar": nndsvdar,
    "kmeans": kmeans,
    "angular": angular,
    "coclusters": kmeans,
}
_TOGETHER = {"coclusters": made_together}
"""Starts that make the factors of rows and of columns together, for forms that have both."""
CLUSTERING = frozenset({"kmeans", "angular", "coclusters"})
"""Those that make clusters, for which there must be as many items as components."""
_LEAST = float(np.finfo(np.float64).eps)
"""Share of the largest entry that replaces given zeros; results may depend on it, so it is the same in every precision."""


def initial_factors(problem: Problem, start: str, given: Mapping[str, Array], random_state: RandomState = None) -> dict[str, Array]:
    """Starting values of the learned factors: those given as they are, the others by name of a start.

    "random" draws them uniformly. "kmeans" gives factors that group the rows or the columns of X the indicators of K-means clusters
    plus 0.2 (ONL §4.3), and those that face them the means of the clusters; "angular" the same with clusters of directions, as
    orthogonal factors want them; "coclusters" clusters of rows and columns found together, where the form has a factor of each (as
    "kmeans" where it has not); "nndsvd" and its kin the non-negative parts of singular vectors. Quadratic forms such as
    ``L L.T X R R.T`` have a plateau around random starts, on which a run may seem to have converged.

    No entry is exactly zero, since a multiplicative rule could never bring it back: zeros that are given become the epsilon of
    double precision, in single precision too, times the factor's largest entry. Factors of either sign are fitted to the others.
    """
    if not is_one_of(start, NAMES):
        raise unknown("init", start, NAMES, "a dict of factors")
    generator = make_generator(random_state)
    xp, constraints, make = problem.namespace.xp, problem.model.constraints, NAMES[start]
    open_ = [name for name in problem.learned if name not in given]
    made = _TOGETHER.get(start, made_by)(make, problem, open_, generator) if make is not None and open_ else {}
    factors, scalable = {}, []
    for name in problem.learned:
        if name in given:
            value, constraint = given[name], constraints[name]
            if not constraint.is_signed:
                value = xp.where(value > 0, value, xp.max(value) * _LEAST)
            has_given_entries = constraint.moving(value).shape != value.shape
            factors[name] = constraint.restore(xp, value) if constraint.restores_fully or has_given_entries else value
            continue
        drawn = made[name] if name in made else 1.0 - generator.uniform(size=problem.shapes[name])  # in (0, 1]
        if problem.model.signed:  # factors that face clusters of signed data are signed
            drawn = to_host(drawn)
            drawn = np.maximum(drawn, np.abs(drawn).max() * _LEAST)
        factors[name] = constraints[name].restore(xp, problem.namespace.asarray(drawn))
        if constraints[name].any_scale:
            scalable.append(name)
    if scalable and problem.model.divergence.approximates:  # as large as X
        scale = problem.point(factors).best_scale() ** (1 / sum(problem.model.form.count(name) for name in scalable))
        factors |= {name: factors[name] * scale for name in scalable}
    for name in open_:
        if constraints[name].is_signed:
            factors[name] = solved(problem.point(factors), name)
    return factors


def make_generator(random_state: RandomState) -> Any:
    """One generator, made at the edge; an int seeds a new one."""
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return random_state
    if random_state is None or (isinstance(random_state, Integral) and random_state >= 0):
        return np.random.default_rng(random_state)
    raise IncompatibleError(f"random_state must be an int ≥ 0, a Generator, a RandomState or None; got {random_state!r}.")
