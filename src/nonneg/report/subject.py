"""Subject of a page: a fitted estimator, and data to show with it."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .. import coclusters
from ..data import Data, Observed, as_dense
from ..data.annotated import matrix_of
from ..data.checking import known_entries
from ..data.reading import with_nan
from ..exceptions import IncompatibleError
from ..io import Layout
from ..plot.views import names_of, parts_of, quietly, row_labels

_BACKGROUND = 50
"""Samples of whose mean the background of brains is made."""


@dataclass
class Subject:
    """Subject of a page."""

    model: Any
    X: Any = None
    about: Mapping[str, Any] = field(default_factory=dict)
    layout: Layout | None = None
    names: Any = None

    @cached_property
    def parts(self) -> np.ndarray | None:
        try:
            return parts_of(self.model)
        except IncompatibleError:
            return None

    @cached_property
    def features(self) -> np.ndarray:
        assert self.parts is not None
        return names_of(self.model, self.parts.shape[1], self.names)

    @cached_property
    def values(self) -> Any:
        """X as a matrix of numbers, which tables are not; missing entries are not stored."""
        X = with_nan(matrix_of(self.X))
        if isinstance(X, Observed):
            return known_entries(X)[0]
        return np.asarray(X) if hasattr(X, "__dataframe__") else X

    @cached_property
    def background(self) -> np.ndarray:
        """The mean of some samples, from 0 to 1, to draw parts upon; ones without data."""
        X = self.values
        if X is None:
            return np.ones(0 if self.parts is None else self.parts.shape[1])
        some = np.linspace(0, X.shape[0] - 1, min(X.shape[0], _BACKGROUND)).astype(np.int64)
        mean = np.asarray(np.nan_to_num(X.take(some, 0) if isinstance(X, Data) else as_dense(X[some]))).mean(axis=0)
        return np.asarray(np.clip(mean / (np.quantile(mean, 0.98) or 1.0), 0, 1))

    @cached_property
    def rows(self) -> np.ndarray | None:
        """The part of each sample."""
        try:
            return row_labels(self.model, self.X)
        except (ValueError, TypeError):
            return None

    @property
    def blocks(self) -> tuple[int, int] | None:
        """Numbers of clusters of samples and of features of a co-clustering; None for models of other kinds."""
        model = self.model
        if not hasattr(model, "row_labels_") or not hasattr(model, "column_labels_") or getattr(model, "_is_paired", False):
            return None
        n, m = coclusters.sizes(model).shape
        return n, m

    @property
    def title(self) -> str:
        """Estimator, data and number of parts."""
        data = [Path(path).name for path in self.about.get("data", ())]
        of = f" of {data[0]}{' and others' if len(data) > 1 else ''}" if data else ""
        if self.blocks is not None:
            return f"{type(self.model).__name__}{of}, {self.blocks[0]} × {self.blocks[1]} blocks"
        number = len(self.parts) if self.parts is not None else len(np.unique(self.model.labels_))
        return f"{type(self.model).__name__}{of}, {number} {self.what}{'s' if number != 1 else ''}"

    @property
    def what(self) -> str:
        """Name of the parts."""
        return "state" if hasattr(self.model, "transmat_") else "direction" if hasattr(self.model, "classes_") else "part"

    def name_of(self, number: int) -> str:
        """A part by its number, from 0; a direction by its class."""
        classes = getattr(self.model, "classes_", ())
        if self.parts is not None and len(classes) == len(self.parts):
            return str(classes[number])
        return f"{self.what.capitalize()} {number + 1}"

    def relative_error(self) -> float | None:
        """‖X − X̂‖ / ‖X‖ of the given X, X̂ by its codes; None for other divergences, and for models without codes."""
        model, X = self.model, self.X
        is_euclidean = hasattr(model, "model_") and model.model_.divergence.is_quadratic
        approximates_kernel = getattr(model, "X_fit_", None) is not None
        if X is None or not is_euclidean or approximates_kernel or not hasattr(model, "score"):
            return None
        try:
            squared = -2 * X.shape[0] * quietly(model.score, X)
        except ValueError:
            return None
        length = _length(self.values)
        is_known = math.isfinite(squared) and length > math.sqrt(
            sys.float_info.min
        )  # the square of a smaller number loses its digits
        return math.sqrt(max(squared, 0.0)) / length if is_known else None


def _length(X: Any) -> float:
    """‖X‖, without the entries that are missing."""
    if isinstance(X, Data):
        return float(np.sqrt(X.power_sum(2)))
    entries = X.data[:, None] if sparse.issparse(X) else np.asarray(X)
    step = max(1, 1_000_000 // max(1, entries.shape[1]))
    length = 0.0
    for start in range(0, len(entries), step):
        block = np.nan_to_num(entries[start : start + step])
        peak = float(np.abs(block).max()) or 1.0  # squares of large numbers would be infinite, and of small ones nothing
        length = math.hypot(length, float(np.linalg.norm(block / peak)) * peak)
    return length
