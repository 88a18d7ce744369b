"""The order of components: the one that explains most variance over subjects first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np


def explained_by_part(centred: np.ndarray, components: np.ndarray) -> np.ndarray:
    """Sum of squares over subjects that each projective component explains on its own, by codes with their mean taken away."""
    return np.asarray((centred**2).sum(axis=0) * (2 - (components**2).sum(axis=1)))


def reorder(estimator: Any, order: np.ndarray) -> None:
    """Put the components of a fitted `OPNMF` or `PNMF` in another order."""
    estimator.components_ = np.ascontiguousarray(estimator.components_[order])
    for name in ("factors_", "_soft_factors"):
        factors = getattr(estimator, name)
        setattr(estimator, name, factors | {"W": _columns(factors["W"], order)})
    stream = estimator._stream
    kept = {name: _columns(getattr(stream, name), order) for name in ("W", "numerator", "denominator")}
    estimator._stream = replace(stream, **kept)


def _columns(factor: Any, order: np.ndarray) -> Any:
    """A factor with its columns in another order; a number, where no batch has made it an array yet, as it is."""
    return np.ascontiguousarray(factor[:, order]) if np.ndim(factor) == 2 else factor
