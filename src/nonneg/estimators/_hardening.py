"""Truly orthogonal factors out of nearly orthogonal ones: the two post-processings of ONL §2.4, K-lines, and degrees between."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra.expression import parse
from ..constraints import Disjoint, unit_length
from ..data import Data
from ..data.weighted import imputed, with_equal_columns
from ..exceptions import IncompatibleError, is_number, users_line
from ..factorization import factorize
from ..kernels.tuned import tuned
from ..model import Model
from ..solve.initialization.lines import k_lines
from ..solve.problem import bind, point_at
from ..solve.progress import inner_runs, is_interrupted
from ..solve.solution import History, Progress, Solution
from ..solve.solvers import Coordinate, Stopping
from ..solve.solving import objective_of, penalties, solve_from

HARDENINGS = ("soft", "rows", "polar", "exact")


def check_hardening(how: Any) -> None:
    """Refuse invalid values of `orthogonality`."""
    if isinstance(how, str) and how in HARDENINGS:
        return
    if not is_number(how) or not 0 <= how <= 1:
        raise IncompatibleError(
            f"orthogonality must be one of {', '.join(map(repr, HARDENINGS))}, or a number from 0 (soft) to 1 (exact); got {how!r}."
        )


def is_partition(how: Any) -> bool:
    """Whether it asks for components that share no feature, or pay for it: the problem of `nonneg.solve.initialization.lines`."""
    return how == "exact" if isinstance(how, str) else is_number(how) and how > 0


def largest_of_rows(W: np.ndarray) -> np.ndarray:
    """Keep each row's largest entry, make the rest zero, and the columns unit length: ONL §2.4."""
    kept = np.where(np.arange(W.shape[1]) == W.argmax(axis=1)[:, None], W, 0.0)
    return unit_length(np, kept, "columns")


def polar(W: np.ndarray) -> np.ndarray:
    """W(WᵀW)^(−1/2), the closest matrix with orthonormal columns, its negative entries made zero: ONL §2.4."""
    left, _, right = np.linalg.svd(W, full_matrices=False)
    return np.maximum(left @ right, 0.0)


def _scaled(X: Any, model: Model, factors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The factor of a projective form at its best scale: overlaps make it too long once cut off."""
    (name,) = model.learned
    scale = model.divergence.scale(point_at(model, X, factors).sums(name)) ** (1 / model.form.count(name))
    return {**factors, name: factors[name] * scale} if np.isfinite(scale) else factors


_PROJECTIVE = Model("X W W.T", "euclidean")
_PENALTIES = tuned((0.01, 0.03, 0.1, 0.3), by="exact", on="2026-11-16")
"""Penalties on overlap before the last one."""
_SWEEPS = tuned(200, by="exact", on="2026-11-15")
"""At each penalty but the last."""


def less_overlapping(X: Any, W: np.ndarray, degree: float, max_iter: int, tol: float) -> np.ndarray:
    """W, (n_features, n_components), moved on for X ≈ X W Wᵀ while the penalty on overlap rises to `degree`; at 1 none is left.

    The penalty is the cube of the degree, so that degrees in between differ visibly, in units of the mean share of X that a
    component explains. It rises in steps: all at once, components would die.
    """
    X = with_equal_columns(X)  # the line that a feature is close to does not depend on its weight
    X = bind(_PROJECTIVE, X, W.shape[1]).data  # in a unit in which its squares are numbers; W does not depend on it
    last = degree**3
    for penalty in (*(step for step in _PENALTIES if step < last), *([last] if degree < 1 else [])):
        explained = float(np.trace(point_at(_PROJECTIVE, X, {"W": W}).product(parse("W.T X.T X W")))) / W.shape[1]
        model = Model("X W W.T", "euclidean", {"W": Disjoint(penalty * explained)})
        brief = Stopping(tol=1e-4, max_iter=min(max_iter, _SWEEPS))
        stopping = Stopping(tol=tol, max_iter=max_iter) if penalty == last else brief
        W = solve_from(bind(model, X, W.shape[1]), {"W": W}, Coordinate(warmup=0, momentum=0), stopping, callback=is_over).factors[
            "W"
        ]
    return W if degree < 1 else partitioned(X, W)


def partitioned(X: Any, W: np.ndarray) -> np.ndarray:
    """The W with orthonormal columns, each feature in one of them, that K-lines lead to."""
    problem = bind(_PROJECTIVE, X, W.shape[1])
    dtype = problem.namespace.dtype

    def product(W: np.ndarray) -> np.ndarray:
        return np.asarray(problem.point({"W": W.astype(dtype)}).product(parse("X.T X W")), dtype=np.float64)

    return k_lines(product, problem.data.lengths(axis=1) ** 2, W.astype(np.float64)).astype(W.dtype)


def hardened(X: Any, solution: Solution, axes: Mapping[str, str], how: Any, max_iter: int, tol: float) -> Solution:
    """A solution with its orthogonal factors made so, and whatever else was learned fitted again to them."""
    process: Callable[[np.ndarray], np.ndarray]
    if is_partition(how):
        degree = 1.0 if how == "exact" else float(how)
        whole = imputed(X) if isinstance(X, Data) else X  # lines are fitted to whole features
        process = (
            (lambda W: partitioned(whole, W)) if how == "exact" else (lambda W: less_overlapping(whole, W, degree, max_iter, tol))
        )
    else:
        process = {"rows": largest_of_rows, "polar": polar}[how]
    factors = dict(solution.factors)
    for name, axis in axes.items():
        W = factors[name] if axis == "columns" else factors[name].T
        exact = process(W).astype(W.dtype)
        factors[name] = exact if axis == "columns" else exact.T
        empty = int(np.sum(~exact.any(axis=0)))
        if empty:
            warnings.warn(
                f"orthogonality={how!r} leaves {empty} of the {W.shape[1]} components of {name} empty: others are larger "
                "wherever they are not zero. Fewer components, or other starts (n_init), avoid that.",
                UserWarning,
                stacklevel=users_line(),
            )
    model = solution.model
    rest = [name for name in model.learned if name not in axes]
    if not rest:
        factors = _scaled(X, model, factors) if how == "polar" else factors
        return replace(
            solution, factors=factors, objective=objective_of(X, Model(model.form, model.divergence, data=model.data), factors)
        )
    return refitted(X, replace(solution, factors=factors), list(axes), max_iter, tol)


def refitted(X: Any, solution: Solution, names: Sequence[str], max_iter: int, tol: float) -> Solution:
    """A solution with the factors of these names as they are, and whatever else was learned fitted again to them.

    Iterations are those of the run; its history ends with the objective of the result. If the run was interrupted, or this
    is, a few iterations are enough.
    """
    model = solution.model
    refit = Model(model.form, model.divergence, {**model.constraints, **dict.fromkeys(names, "fixed")}, data=model.data)
    with inner_runs("fitted again"):
        again = factorize(X, refit, init=solution.factors, max_iter=max_iter, tol=tol, callback=is_over)
    # Kept factors may have a penalty, too: empty components are not orthonormal.
    objective = again.objective + penalties(model, again.factors, np, names)
    history = History([*solution.history[:-1], replace(solution.history[-1], objective=objective)])
    return replace(solution, factors=again.factors, objective=objective, scaled_objective=again.scaled_objective, history=history)


def is_over(progress: Progress) -> bool:
    """Ends the second fit after a few iterations if the user has asked to stop."""
    return progress.iteration >= _FEW and is_interrupted()


_FEW = 20
"""Iterations of the second fit after the user has asked to stop."""


def check_partition(model: Model, how: Any, orthogonal: Sequence[str]) -> None:
    """Refuse disjoint components for models without an algorithm for them."""
    if how not in ("soft", 0) and any(model.constraints[name].as_whole is not model.constraints[name] for name in orthogonal):
        raise IncompatibleError(
            f"orthogonality={how!r} would change components that are given by fixed_components. Use orthogonality='soft'."
        )
    if not is_partition(how) or not orthogonal:
        return
    if not model.divergence.is_quadratic or len(orthogonal) > 1 or len(model.learned) > 2:
        raise IncompatibleError(
            "orthogonality='exact', or a number, is for one orthogonal factor and the Euclidean distance, as in OPNMF and ONMF; "
            f"here it is {model.form.text!r} with {model.divergence!r}. Use 'rows' or 'polar'."
        )
