"""Truly orthogonal factors out of nearly orthogonal ones: the two post-processings of ONL §2.4."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..factorization import factorize, objective_of
from ..model import Model
from ..problem import bind
from ._starts import Run, joined

HARDENINGS = ("soft", "rows", "polar")


def largest_of_rows(W: np.ndarray) -> np.ndarray:
    """Keep each row's largest entry, make the rest zero, and the columns unit length: ONL §2.4."""
    kept = np.where(np.arange(W.shape[1]) == W.argmax(axis=1)[:, None], W, 0.0)
    return _unit(kept)


def polar(W: np.ndarray) -> np.ndarray:
    """W(WᵀW)^(−1/2), the closest matrix with orthonormal columns, its negative entries made zero: ONL §2.4."""
    left, _, right = np.linalg.svd(W, full_matrices=False)
    return np.maximum(left @ right, 0.0)


def _unit(W: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(W, axis=0)
    return W / np.where(lengths > 0, lengths, 1.0)


def _scaled(X: Any, model: Model, factors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The only factor there is, multiplied by the number that is best: cut off, it is too long where it overlaps."""
    (name,) = model.learned
    scale = model.divergence.scale(bind(model, X, factors).sums(name)) ** (1 / model.form.count(name))
    return {**factors, name: factors[name] * scale} if np.isfinite(scale) else factors


def hardened(X: Any, run: Run, axes: Mapping[str, str], how: str, max_iter: int, tol: float) -> Run:
    """A run with its orthogonal factors made so, and whatever else was learned fitted again to them."""
    process = {"rows": largest_of_rows, "polar": polar}[how]
    factors = dict(run.factors)
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
                stacklevel=5,
            )
    model = run.model
    rest = [name for name in model.learned if name not in axes]
    if not rest:
        factors = _scaled(X, model, factors) if how == "polar" else factors
        return replace(run, factors=factors, objective=objective_of(X, model, factors))
    refit = Model(model.form, model.divergence, {**model.constraints, **dict.fromkeys(axes, "fixed")}, data=model.data)
    solution = factorize(X, refit, init=factors, max_iter=max_iter, tol=tol)
    return replace(run, factors=solution.factors, objective=solution.objective, history=joined([run.history, solution.history]))
