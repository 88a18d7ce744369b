"""Where a factorization starts. Random numbers are drawn on the host, so that every backend starts from the same factors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from .arrays.namespace import Array
from .exceptions import IncompatibleError
from .problem import Problem
from .shapes import dimension_classes

RandomState = int | np.random.Generator | np.random.RandomState | None

STARTS = ("random", "kmeans")


def initial_factors(problem: Problem, start: str, given: Mapping[str, Array], random_state: RandomState = None) -> dict[str, Array]:
    """Starting values of the learned factors: those given as they are, the others by name of a start.

    "random" draws them uniformly. "kmeans" gives factors that group the rows or the columns of X the indicators of K-means clusters
    plus 0.2 (ONL §4.3), those that face them the means of the clusters, and draws the rest: quadratic forms such as
    ``L L.T X R R.T`` have a plateau around random starts, on which a run may seem to have converged.

    No entry is exactly zero, since a multiplicative rule could never bring it back: zeros that are given become the dtype's epsilon
    times the factor's largest entry.
    """
    if not isinstance(start, str) or start not in STARTS:
        raise IncompatibleError(f"Unknown init {start!r}. Known names: {', '.join(map(repr, STARTS))}; or a dict of factors.")
    generator = _generator(random_state)
    xp, constraints = problem.namespace.xp, problem.model.constraints
    clustered = _clustered(problem, generator) if start == "kmeans" else {}
    factors, free = {}, []
    for name in problem.order:
        if name in given:
            value = xp.maximum(given[name], xp.max(given[name]) * xp.finfo(given[name].dtype).eps)
            factors[name] = constraints[name].restore(xp, value) if constraints[name].restores_fully else value
            continue
        drawn = clustered.get(name, 1.0 - generator.uniform(size=problem.shapes[name]))  # in (0, 1]
        factors[name] = constraints[name].restore(xp, problem.namespace.asarray(drawn))
        if constraints[name].is_free:
            free.append(name)
    return _well_scaled(problem, factors, free)


def _generator(random_state: RandomState) -> Any:
    """One generator, made at the edge; an int seeds a new one."""
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return random_state
    if random_state is None or isinstance(random_state, Integral):
        return np.random.default_rng(random_state)
    raise IncompatibleError(f"random_state must be an int, a Generator, a RandomState or None; got {random_state!r}.")


def _clustered(problem: Problem, generator: Any) -> dict[str, np.ndarray]:
    """K-means indicators, and means of clusters, for the factors that have the rows or the columns of X on one side."""
    model, classes = problem.model, dimension_classes(problem.model)
    samples = problem.data.samples()
    outer = {classes[model.data, 1]: samples.T, classes[model.data, 0]: samples}
    sides = [(name, axis, classes[name, axis], classes[name, 1 - axis]) for name in problem.order for axis in (0, 1)]
    sides = [side for side in sides if side[2] in outer and side[3] not in outer]
    found: dict[Any, tuple[Any, np.ndarray]] = {}
    for name, axis, long, short in sides:
        if short not in found:
            count = problem.shapes[name][1 - axis]
            found[short] = long, one_hot_clusters(outer[long], count, seed=int(generator.uniform() * 2**31), where=name)
    factors = {}
    for name, axis, long, short in sides:
        clustered, indicators = found[short]
        if clustered == long:
            factor = indicators + _SMOOTHING
        else:
            means = np.asarray(outer[long] @ (indicators / indicators.sum(axis=0)))
            factor = means + _SMOOTHING * (means.mean() or 1.0)
        factors[name] = factor if axis == 0 else factor.T
    return factors


def one_hot_clusters(samples: Any, count: int, seed: int, where: str) -> np.ndarray:
    """One column for each K-means cluster of the rows of a matrix, one where a row belongs to it; none is empty."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    if count > samples.shape[0]:
        raise IncompatibleError(
            f"init='kmeans' cannot make the {count} clusters that {where} asks for out of {samples.shape[0]} items. Lower the "
            "rank, or start at random."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different items than clusters: some are then the same
        labels = KMeans(count, n_init=10, random_state=seed).fit(samples).labels_
    indicators = np.eye(count)[labels]
    empty = np.flatnonzero(indicators.sum(axis=0) == 0)
    indicators[np.argsort(-indicators.sum(axis=0)[labels], kind="stable")[: len(empty)], empty] = 1.0
    return indicators


_SMOOTHING = 0.2


def _well_scaled(problem: Problem, factors: dict[str, Array], free: list[str]) -> dict[str, Array]:
    """The factors with those drawn freely multiplied so that X̂ is as large as X."""
    scale = best_scale(problem, factors) if free else 1.0
    occurrences = sum(problem.model.form.count(name) for name in free)
    return {name: factor * scale ** (1 / occurrences) if name in free else factor for name, factor in factors.items()}


def best_scale(problem: Problem, factors: Mapping[str, Array]) -> float:
    """The number by which X̂ fits X best; where the divergence does not depend on it, that which makes their sums equal."""
    point, divergence = problem.start(factors), problem.model.divergence
    if not divergence.approximates:
        return 1.0
    if divergence.scale_invariant:
        total = point.total()
        return problem.data.power_sum(1) / total if total > 0 else 1.0
    return divergence.scale(point.sums(problem.order[0]))
