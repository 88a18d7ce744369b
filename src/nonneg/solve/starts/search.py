"""Search for a start of X ≈ X W Wᵀ, and forms like it: coordinate descent from a random start, and swaps of components.

Local minima differ by which groups of features have a component each. A better minimum is often found by a swap: two components
that are nearly one are merged, and another begins at badly approximated features. A short descent from there is kept if it ends
lower. That costs a fraction of a restart, and succeeds more often.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...constraints import unit_length
from ...data import as_dense
from ...kernels.threads import suited_to
from ...kernels.tuned import tuned
from ..initialization import initial_factors
from ..point import Point
from ..problem import Problem
from ..run import Callback, Solver, begin, solve
from ..signature import Signature
from ..solution import Progress
from ..solvers import Coordinate
from ..solvers.subproblems import Quadratic, subproblems
from ..stopping import Stopping
from ..surrogate import root_problem
from .base import Beginning, Setting, Start

_ROUGH = Stopping(tol=2e-3, check_every=5, max_iter=400, steady=math.inf)
"""How far a descent of the search goes."""
_HOPE, _LEAST = tuned((6.0, 4), by="projective", on="2026-11-17")
"""A descent ends if the best so far is below it by more than `_HOPE` times its extrapolated remaining decrease; not before `_LEAST`
checks."""
_PASSES = tuned(2, by="projective", on="2026-11-16")
"""Visits of a row, at most."""
_SWAPS, _MISSES = tuned((10, 4), by="projective", on="2026-11-16")
"""Swaps that are tried at most, and how many in a row may fail."""
_CANDIDATES = tuned(3, by="projective", on="2026-11-16")
"""Features that are tried for a new component."""
_FEW, _FEW_PER_COMPONENT = tuned((1200, 32), by="projective", on="2026-11-16")
"""Features that the search uses; all of them if there are less than twice as many."""
_LONGER = tuned(3, by="projective", on="2026-11-16")
"""Multiplies the number of swaps for data out of core: they take no pass, and a restart would."""


class Search(Start):
    """The search among components, on the surrogate of the data or a root of their Gram matrix."""

    is_warm = True
    searches: ClassVar[bool] = True
    why: ClassVar[str] = "local minima differ by the groups of features, which swaps of components exchange"

    @classmethod
    def applies(cls, signature: Signature, solver: Solver) -> bool:
        """Whether coordinate descent serves, and the only factor stands as F Fᵀ beside the data, each entry free to change."""
        if not isinstance(solver, Coordinate) or not Coordinate().suits(signature):
            return False
        if len(signature.model.learned) != 1 or not signature.data.has_items:
            return False
        (subproblem,) = signature.derived(subproblems).values()
        return isinstance(subproblem, Quadratic) and subproblem.is_gram_of_data and not subproblem.terms.given

    def make(self, setting: Setting) -> Beginning:
        """The best factor found; none, for a random start, if X is zero or it is not finite."""
        problem, surrogate, context = setting.problem, setting.surrogate, setting.context
        if not problem.data.facts.non_zeros:
            return {}
        rough = surrogate.rough if surrogate is not None else root_problem(problem) or problem
        generator, patience = np.random.default_rng(setting.seed), _LONGER if problem.signature.data.out_of_core else 1
        (subproblem,) = rough.signature.derived(subproblems).values()
        rank, rows = min(rough.shapes[rough.learned[0]]), rough.data.shape[1 if subproblem.is_turned else 0]
        few = max(_FEW, _FEW_PER_COMPONENT * rank)
        with np.errstate(over="ignore", invalid="ignore"), suited_to(rough.data.size * rank):
            if rows >= 2 * few:
                factors = _among_few(rough, subproblem, few, generator, context.trial, patience)
            else:
                factors = _best(rough, subproblem, generator, context.trial, patience).factors
        context.say("searched for a start")
        if not all(np.isfinite(factor).all() and factor.any() for factor in factors.values()):
            return {}
        return problem.units.to_user({name: problem.namespace.asarray(factor) for name, factor in factors.items()})

    def __str__(self) -> str:
        return "swap search"


def _best(problem: Problem, subproblem: Quadratic, generator: np.random.Generator, stop: Callback, patience: int) -> Point:
    """The point at about the best minimum found; `stop` ends a descent, and `patience` multiplies the number of swaps."""
    solver = Coordinate(passes=_PASSES)
    start = initial_factors(problem, "random", {}, generator)
    best = solve(begin(problem, start, solver, _ROUGH), solver, _ROUGH, stop).best
    (name,) = problem.learned
    lowest, misses, rank = best.objective()[0], 0, min(problem.shapes[name])
    for _ in range(_SWAPS * patience):
        if misses == _MISSES * patience or rank == 1:
            break
        which = misses if misses < _MISSES else misses % (rank * (rank - 1) // 2)
        begun = subproblem.replaced(best, swapped(best, subproblem, which, generator))
        factors = {name: begun.factors[name] * problem.point(begun.factors).best_scale() ** 0.5}  # PNMF Eq. 21
        watched = partial(_is_hopeless, [], problem.objective_to_user(lowest), stop)
        run = solve(begin(problem, factors, solver.warm(), _ROUGH), solver.warm(), _ROUGH, watched)
        misses += 1
        if run.best.objective()[0] < lowest:
            best, lowest, misses = run.best, run.best.objective()[0], 0
    return best


def _is_hopeless(values: list[float], lowest: float, stop: Callback, progress: Progress) -> bool:
    """Whether to end a descent that will not come below the lowest objective so far, by the values of its checks."""
    values.append(progress.objective)
    if stop(progress):
        return True
    if len(values) < _LEAST:
        return False
    before, gained = values[-3] - values[-2], values[-2] - values[-1]
    left = max(gained, gained * gained / (before - gained)) if before > gained else math.inf
    return values[-1] - _HOPE * left > lowest


def swapped(point: Point, subproblem: Quadratic, which: int, generator: np.random.Generator) -> np.ndarray:
    """F with two components merged, and a new one at badly approximated features; `which` counts pairs from the best to merge.

    The codes of a pair have the Gram matrix [[B_ii, B_ij], [B_ij, B_jj]]. Merged along its leading eigenvector, they lose the
    smaller eigenvalue.
    """
    F = subproblem.value(point)
    B = np.asarray(point.product(subproblem.FCF), dtype=np.float64)
    size = np.diag(B)
    mean, half = (size[:, None] + size) / 2, (size[:, None] - size) / 2
    lost = mean - np.sqrt(half**2 + B**2)
    lost[np.tril_indices(len(B))] = np.inf
    first, second = np.unravel_index(np.argsort(lost, axis=None)[min(which, lost.size - 1)], lost.shape)
    shares = abs(np.linalg.eigh(B[np.ix_([first, second], [first, second])])[1][:, 1])
    new = _new_component(point, subproblem, F, B, generator)
    F[:, first] = shares[0] * F[:, first] + shares[1] * F[:, second]
    F[:, second] = new
    return F


def _new_component(point: Point, subproblem: Quadratic, F: np.ndarray, B: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """The best of a few columns of the residual S = (I − FFᵀ)K(I − FFᵀ), their negative entries made zero.

    Features are drawn in proportion to the diagonal of S, their unexplained part.
    """
    data, axis = point.problem.data, int(subproblem.is_turned)
    CF = np.asarray(point.product(subproblem.CF), dtype=np.float64)
    diagonal = data.lengths(axis) ** 2 - 2 * np.einsum("ik,ik->i", CF, F) + np.einsum("ik,ik->i", F @ B, F)
    left = np.maximum(diagonal, 0.0)
    count = min(_CANDIDATES, int(np.count_nonzero(left)))
    if not count:
        return F.mean(axis=1)
    chosen = generator.choice(len(left), count, replace=False, p=left / left.sum())
    items = np.ascontiguousarray(as_dense(data.take(chosen, axis=axis)).T, dtype=F.dtype)
    columns = np.asarray(data.apply(items, transposed=subproblem.is_turned), dtype=np.float64)
    S = columns - CF @ F[chosen].T - F @ CF[chosen].T + F @ (B @ F[chosen].T)
    V = unit_length(np, np.maximum(S, 0.0), "columns")
    return V[:, int(np.argmax(np.einsum("ij,ij->j", V, S)))]


def _among_few(
    problem: Problem, subproblem: Quadratic, few: int, generator: np.random.Generator, stop: Callback, patience: int
) -> dict[str, Any]:
    """The search among some of the features; entries of the others are fitted to its codes."""
    from ...kernels.coordinates import linear_rows

    data = problem.data
    axis, (name,) = int(subproblem.is_turned), problem.learned
    squares = data.lengths(axis) ** 2
    filled = np.flatnonzero(squares)
    if not len(filled):
        return initial_factors(problem, "random", {}, generator)
    shares = squares[filled] / squares.sum()
    some = filled if len(filled) <= few else np.sort(generator.choice(filled, few, replace=False, p=shares))
    part, samples = data.subset(some, axis), np.arange(data.shape[1 - axis])
    others = np.flatnonzero(part.lengths(1 - axis))
    if 2 * len(others) < part.shape[1 - axis]:  # of sparse data, most samples may have none of these features
        part, samples = part.subset(others, 1 - axis), others
    rows, columns = problem.shapes[name]
    shape = (rows, len(some)) if subproblem.letter.transposed else (len(some), columns)
    small = problem.on(part, shapes={name: shape})
    (small_subproblem,) = small.signature.derived(subproblems).values()
    found = _best(small, small_subproblem, generator, stop, patience)
    codes = np.zeros((data.shape[1 - axis], small_subproblem.value(found).shape[1]), dtype=part.namespace.dtype)
    codes[samples] = part.apply(small_subproblem.value(found), transposed=not subproblem.is_turned)
    codes = unit_length(np, codes, "columns")
    C = np.ascontiguousarray(data.apply(codes, transposed=subproblem.is_turned))
    F = np.maximum(C, 0.0)
    linear_rows(0, len(F), F, (codes.T @ codes).astype(np.float64), C, 0.0, 0.0, 0, 10, 1e-3)
    F = unit_length(np, F, "columns")
    factor = F.T if subproblem.letter.transposed else F
    return {name: factor * problem.point({name: factor}).best_scale() ** 0.5}  # PNMF Eq. 21
