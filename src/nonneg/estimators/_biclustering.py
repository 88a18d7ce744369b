"""Samples and features clustered together, in scikit-learn's words for it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BiclusterMixin
from sklearn.utils.validation import check_is_fitted

from ..constraints import Orthogonal
from ..data import Data, as_dense
from ..divergences import get_divergence
from ..planning.plans import multiply
from ..solve.solution import Solution
from ._hardening import refitted
from ._libraries import with_library


class Coclusters(BiclusterMixin):
    """Clusters of samples by the first factor of a factorization, and of features by its last.

    Samples and features of zeros are like no others; they go to the largest cluster.

    Attributes
    ----------
    row_labels_ : array of shape (n_samples,)
        The cluster of each sample: the term of X̂ = Σₖ wₖ cₖᵀ that has most of it, wₖ being columns of the first
        factor.
    column_labels_ : array of shape (n_features,)
        The cluster of each feature, likewise.
    """

    _is_paired: ClassVar[bool] = False
    """Whether cluster k of samples goes with cluster k of features only."""

    def _keep(self, X: Data, solution: Solution) -> None:
        super()._keep(X, solution)
        form = solution.model.form
        first, last = form[0], form[-1]
        before = np.asarray(as_dense(multiply(form[:-1], solution.factors, {solution.model.data: X})))
        of_rows = solution.factors[first.name].T if first.transposed else solution.factors[first.name]
        of_columns = solution.factors[last.name] if last.transposed else solution.factors[last.name].T
        self._row_weights = _lengths(self.components_, 1)
        self.row_labels_ = _largest(of_rows * self._row_weights)
        self.column_labels_ = _largest(of_columns * _lengths(before, 0))
        self._shape = of_rows.shape[1], of_columns.shape[1]

    @property
    def rows_(self) -> np.ndarray:
        """Which samples belong to each co-cluster, (n_coclusters, n_samples)."""
        check_is_fitted(self)
        rows = self.row_labels_ == np.arange(self._shape[0])[:, None]
        return rows if self._is_paired else np.repeat(rows, self._shape[1], axis=0)

    @property
    def columns_(self) -> np.ndarray:
        """Which features belong to each co-cluster, (n_coclusters, n_features)."""
        check_is_fitted(self)
        columns = self.column_labels_ == np.arange(self._shape[1])[:, None]
        return columns if self._is_paired else np.tile(columns, (self._shape[0], 1))

    @with_library
    def predict(self, X: Any) -> np.ndarray:
        """The clusters that new samples belong to.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Non-negative.
        """
        return _largest(self._codes(X) * self._row_weights, int(np.bincount(self.row_labels_).argmax()))


class OrthogonalCoclusters(Coclusters):
    """Orthogonal factors of samples and of features, with a factor between them that takes their scale up."""

    _auto_solver: ClassVar[str] = "adaptive"
    """Its steps lower the objective, or bring a factor closer to orthogonal; the printed ones may do neither."""

    @property
    def _is_printed(self) -> bool:
        return isinstance(self.solver, str) and self.solver == "paper"

    def _orthogonal_to(self, axis: Literal["columns", "rows"]) -> Orthogonal:
        """The constraint; but for the printed rules, lengths are kept at one with the Euclidean distance, as they would cycle."""
        is_euclidean = get_divergence(self.divergence).is_quadratic
        return Orthogonal(axis, unit=is_euclidean and not self._is_printed)

    def _finished(self, X: Data, solution: Solution) -> Solution:
        """Fit the factor between the orthogonal ones to them: its steps are one behind theirs."""
        if self._is_printed:
            return solution
        found = refitted(X, solution, list(self._orthogonal()), self.max_iter, self.tol)
        return found if found.objective < solution.objective else solution


def _lengths(matrix: np.ndarray, axis: int) -> np.ndarray:
    """Norms, up to a common factor that keeps squares from overflowing."""
    return np.linalg.norm(matrix / (matrix.max() or 1.0), axis=axis)


def _largest(shares: np.ndarray, otherwise: int | None = None) -> np.ndarray:
    """Index of the largest entry of each row; of rows of zeros `otherwise`, or the most frequent index."""
    labels, nothing = shares.argmax(axis=1), ~shares.any(axis=1)
    if otherwise is None and not nothing.all():
        otherwise = int(np.bincount(labels[~nothing]).argmax())
    labels[nothing] = otherwise or 0
    return labels
