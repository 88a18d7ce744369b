"""Assignment of factors to the sides of X, for any form.

A factor with the rows (or columns) of X on one side and an inner dimension on the other is *outer*: W and H in ``W S H``, W in
``X W W.T``. One with inner dimensions on both sides is *middle*: S.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernels.namespace import to_host
from ...model import Model
from ..problem import Problem
from ..signature import dimension_classes
from .items import Items

Initialization = Callable[[Items, int, int, str], tuple[np.ndarray, np.ndarray]]
"""(items, count, seed, whose) → a factor for the items, items × count, and one that faces it, others × count."""


def outer_sides(model: Model) -> list[tuple[str, int, Any, Any]]:
    """The outer factors: name, axis of the items, and the classes of both dimensions, that of the items first."""
    classes, data = dimension_classes(model), model.data
    outer = classes[data, 0], classes[data, 1]
    sides = ((name, axis, classes[name, axis], classes[name, 1 - axis]) for name in model.learned for axis in (0, 1))
    return [side for side in sides if side[2] in outer and side[3] not in outer]


def made_by(start: Initialization, problem: Problem, wanted: list[str], generator: Any) -> dict[str, np.ndarray]:
    """Factors of a start: the wanted outer ones, and middle ones between them."""
    model, classes = problem.model, dimension_classes(problem.model)
    outer = {classes[model.data, axis]: Items(problem.data, axis) for axis in (1, 0)}
    sides = outer_sides(model)
    # Of two factors that share an inner dimension the items are those of the orthogonal one: it is to be clusters.
    constraints = model.constraints
    sides.sort(key=lambda side: constraints[side[0]].orthogonal_axis is None or constraints[side[0]].is_soft)
    found: dict[Any, tuple[Any, np.ndarray, np.ndarray]] = {}
    factors: dict[str, np.ndarray] = {}
    for name, axis, long, short in sides:
        if name not in wanted:
            continue
        if short not in found:
            count = problem.shapes[name][1 - axis]
            found[short] = long, *start(outer[long], count, int(generator.uniform() * 2**31), name)
        items, own, facing = found[short]
        factor = own if items == long else facing
        factors[name] = factor if axis == 0 else factor.T
    return factors | _means(problem, factors, [name for name in wanted if name not in factors])


def _means(problem: Problem, outer: dict[str, np.ndarray], middle: list[str]) -> dict[str, np.ndarray]:
    """For S in A S B, with A and B outer factors: the means of X weighted by each column of A and row of B."""
    means, form = {}, problem.model.form
    for name in middle:
        places = [i for i, letter in enumerate(form) if letter.name == name]
        neighbours = form[:1], form[-1:]
        if len(form) != 3 or places != [1] or any(word[0].name not in outer for word in neighbours):
            continue
        given = {word[0].name: to_host(outer[word[0].name]) for word in neighbours}
        left, right = (given[word[0].name].T if word[0].transposed else given[word[0].name] for word in neighbours)
        left, right = left / left.sum(axis=0, keepdims=True), right / right.sum(axis=1, keepdims=True)
        S = (Items(problem.data, 1) @ left).T @ right.T
        means[name] = (S.T if form[1].transposed else S) + SMOOTHING * (S.mean() or 1.0)
    return means


SMOOTHING = 0.2
"""Added to indicators, and, relative to their mean, to the factors that face them: ONL §4.3 after Ding et al. (2006)."""
