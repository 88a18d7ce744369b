"""The scale of components, where the model leaves it open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model import Model
from ..solve.solution import Solution


def in_scale(solution: Solution) -> Solution:
    """A solution for W H with every row of H of length one, where neither factor has a constraint, and W taking the scale up.

    W and H are known up to the scale of each component, and without this it is as the initialization had it. Components of zeros
    stay so. Factors that were given, and never moved, are as they were; so are those whose codes would be more than a float can be.
    """
    if not _is_open(solution.model) or not solution.n_iter:
        return solution
    first, last = solution.model.form
    W, H = solution.factors[first.name], solution.factors[last.name]
    if not isinstance(W, np.ndarray) or not isinstance(H, np.ndarray):
        return solution
    codes, components = W.T if first.transposed else W, H.T if last.transposed else H
    peak = components.max(axis=1, keepdims=True).astype(np.float64)  # squares of what is very large or small are no floats
    peak = np.where(peak > 0, peak, 1.0)
    shape = components / peak
    length = np.linalg.norm(shape, axis=1, keepdims=True)
    length = np.where(length > 0, length, 1.0)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        codes = (codes * peak.T * length.T).astype(W.dtype)
    components = (shape / length).astype(H.dtype)
    if not np.isfinite(codes).all():
        return solution
    factors = {first.name: codes.T if first.transposed else codes, last.name: components.T if last.transposed else components}
    return replace(
        solution, factors={**solution.factors, **{name: np.ascontiguousarray(factor) for name, factor in factors.items()}}
    )


def _is_open(model: Model) -> bool:
    """Whether it is a product of two factors that are learned, with nothing to say what scale they have."""
    names = model.form.names
    two = len(model.form) == 2 and len(set(names)) == 2 and model.data not in names
    return two and all(name in model.learned and model.constraints[name].is_free for name in names)
