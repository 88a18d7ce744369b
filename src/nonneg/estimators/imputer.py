"""What is missing in X, filled in by a factorization of what is known."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..atomic import atomic_fit
from ..data.reading import with_nan
from ..exceptions import IncompatibleError
from ..validation import read_samples
from ._base import Factorizer
from .nmf import NMF


@dataclass(eq=False, repr=False)
class NMFImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Fill in missing values by non-negative matrix factorization.

    A factorization is fitted to the entries that are known; those that are not become what it makes of them. What is known stays as
    it is. For data without negative entries that parts add up to: counts, spectra, ratings, images.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        How many components of `NMF`. "auto" takes as many as there are samples or features, whichever is less; with much missing,
        far fewer serve better.
    divergence : str, float or Objective, default="euclidean"
        How X and its approximation are compared; see `NMF`.
    estimator : estimator, default=None
        Another factorization in place of `NMF`, such as ``OPNMF(10)``; then `n_components`, `divergence`, `max_iter`, `tol` and
        `random_state` are its own.
    max_iter : int, default=5000
        The most iterations.
    tol : float, default=1e-5
        As in `NMF`.
    random_state : int, Generator, RandomState or None, default=None
        For the start.

    Attributes
    ----------
    estimator_ : estimator
        The factorization, as it was fitted.
    n_features_in_ : int
        How many features X had.
    feature_names_in_ : array of shape (n_features_in_,)
        Only where X has feature names that are all strings.

    Notes
    -----
    A sample of which nothing is known becomes zero with `NMF`, and of the mean code with models that project, such as `OPNMF`.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMFImputer
    >>> X = np.random.default_rng(0).random((30, 2)) @ np.random.default_rng(1).random((2, 6))
    >>> X_missing = X.copy()
    >>> X_missing[::3, 1] = np.nan
    >>> bool(np.allclose(NMFImputer(2, random_state=0).fit_transform(X_missing), X, atol=1e-2))
    True
    """

    n_components: Any = "auto"
    _: KW_ONLY
    divergence: Any = "euclidean"
    estimator: Any = None
    max_iter: int = 5000
    tol: float = 1e-5
    random_state: Any = None

    def _made(self) -> Any:
        if self.estimator is None:
            names = ("n_components", "divergence", "max_iter", "tol", "random_state")
            return NMF(**{name: getattr(self, name) for name in names}, missing="ignore")
        if not isinstance(self.estimator, Factorizer):
            raise IncompatibleError(f"estimator must be one of nonneg's factorizations, such as NMF(5); got {self.estimator!r}.")
        return clone(self.estimator).set_params(missing="ignore")

    @atomic_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from what is known.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Non-negative, with NaN, a mask, or NA where something is missing.
        y : None
            Not used.
        sample_weight : array of shape (n_samples,), default=None
            By which the loss of each sample is multiplied.
        """
        read_samples(self, with_nan(X), reset=True, allows_nan=True)
        self.estimator_ = self._made().fit(with_nan(X), sample_weight=sample_weight)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """X with what is missing filled in.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        values = read_samples(self, with_nan(X), reset=False, allows_nan=True)
        if hasattr(values, "nnz"):
            raise IncompatibleError("What is filled in is dense; give X as a dense array, with NaN where something is missing.")
        missing = np.isnan(values)
        if not missing.any():
            return np.array(values)
        some = missing.any(axis=1)
        found = np.array(values)
        estimator = self.estimator_
        made = estimator.inverse_transform(estimator._codes(values[some]))
        found[some] = np.where(missing[some], made, values[some])
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
