"""Which starts suit a model, as its form and its constraints say."""

from __future__ import annotations

from ...constraints import FixedMultiplier, Orthogonal
from ..problem import Problem
from .sides import outer_sides

SEARCH = ("search", "angular", "angular", "angular", "kmeans")
"""For a factor that stands as F Fᵀ beside the data: a search where that is possible, else the best of clusters."""


PROJECTIVE = ("projective", "kmeans")
"""For W H with one orthogonal factor: the solution of its projective form X Hᵀ H where that is possible, else clusters."""


FREE_SIDES = ("angular", "kmeans", "nndsvda")
"""For free factors of rows and of columns with a matrix between them."""


def default_starts(problem: Problem) -> tuple[str, ...]:
    """The names of starts to try, the first of which is best where it can be used.

    A factor that stands beside its own transpose groups rows or columns: by a search where that is possible, else by clusters
    of them. Factors of rows and of columns with dimensions of their own are co-clusters, or, where they are free, the best of
    clusters and singular vectors. Two free factors that share one are best made of singular vectors; where one of them is
    orthogonal, of the projective form, or of clusters. Where there are more components than items, there are no clusters of them.
    """
    model = problem.user_model
    if not model.divergence.approximates:
        return ("random",)
    outer = outer_sides(problem)
    inner = {dimension for *_, dimension in outer}
    if not outer or any(problem.shapes[name][1 - axis] > problem.shapes[name][axis] for name, axis, *_ in outer):
        return ("random",)
    is_orthogonal = any(isinstance(constraint, Orthogonal | FixedMultiplier) for constraint in model.constraints.values())
    if len(model.learned) == 1 and model.form.count(model.learned[0]) == 2 and len(inner) == 1:
        return SEARCH
    if len(inner) == 2:
        return ("coclusters",) if is_orthogonal or len(model.form) > 3 else FREE_SIDES
    if len(model.learned) == 2 and len(model.form) == 2:
        return PROJECTIVE if is_orthogonal else ("nndsvda",)
    return ("random", "kmeans")
