"""Where a factorization starts. Random numbers are drawn on the host, so that every backend starts from the same factors."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from .arrays.namespace import Array
from .exceptions import IncompatibleError
from .problem import Problem

RandomState = int | np.random.Generator | np.random.RandomState | None

STARTS = ("random",)


def initial_factors(problem: Problem, start: str, given: Mapping[str, Array], random_state: RandomState = None) -> dict[str, Array]:
    """Starting values of the learned factors: those given as they are, the others by name of a start.

    No entry is exactly zero, since a multiplicative rule could never bring it back: zeros that are given become the dtype's epsilon
    times the factor's largest entry.
    """
    if not isinstance(start, str) or start not in STARTS:
        raise IncompatibleError(f"Unknown init {start!r}. Known names: {', '.join(map(repr, STARTS))}; or a dict of factors.")
    generator = _generator(random_state)
    xp, constraints = problem.namespace.xp, problem.model.constraints
    factors, free = {}, []
    for name in problem.order:
        if name in given:
            start = xp.maximum(given[name], xp.max(given[name]) * xp.finfo(given[name].dtype).eps)
            factors[name] = constraints[name].restore(xp, start) if constraints[name].restores_fully else start
            continue
        drawn = 1.0 - generator.uniform(size=problem.shapes[name])  # in (0, 1]
        factors[name] = constraints[name].restore(xp, problem.namespace.asarray(drawn))
        if constraints[name].is_free:
            free.append(name)
    return _well_scaled(problem, factors, free)


def _generator(random_state: RandomState) -> Any:
    """One generator, made at the edge; an int seeds a new one."""
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return random_state
    if random_state is None or isinstance(random_state, Integral):
        return np.random.default_rng(random_state)  # type: ignore[arg-type]
    raise IncompatibleError(f"random_state must be an int, a Generator, a RandomState or None; got {random_state!r}.")


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
