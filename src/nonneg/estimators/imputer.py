"""What is missing in X, filled in by a factorization of what is known."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..atomic import atomic_fit
from ..constraints import Sparse
from ..data import read_weighted
from ..data.reading import with_nan
from ..divergences import get_divergence
from ..exceptions import IncompatibleError
from ..naming import is_number
from ..validation import read_samples
from ._base import Factorizer, divergence_of
from .generic import Factorization
from .nmf import NMF

_PENALTIES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
_FEW = 20
"""Entries held out below which they tell nothing."""
_BRIEF = 200
"""Iterations of a fit that is to show what a penalty does, at most."""


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
    penalty : float or "auto", default="auto"
        On the sums of codes and of components, in units of the data. With few entries known, a factorization without one follows
        their noise. "auto" takes the one of seven, 0 among them, that is best for a tenth of what is known, which is held out for
        that.
    estimator : estimator, default=None
        Another factorization in place of `NMF`, such as ``OPNMF(10)``; then `n_components`, `divergence`, `penalty`, `max_iter`,
        `tol` and `random_state` are its own, or it has none.
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
    penalty_ : float
        The penalty, in the units of `penalty`.
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

    _in_memory_because: ClassVar[str] = "it looks for what is missing in it"

    n_components: Any = "auto"
    _: KW_ONLY
    divergence: Any = "euclidean"
    penalty: Any = "auto"
    estimator: Any = None
    max_iter: int = 5000
    tol: float = 1e-5
    random_state: Any = None

    def _made(self, penalty: float, mean: float) -> Any:
        """The factorization, with a penalty in units of the data, whose mean this is."""
        names = ("divergence", "max_iter", "tol", "random_state")
        settings = {name: getattr(self, name) for name in names}
        if not penalty:
            return NMF(self.n_components, **settings, missing="ignore")
        # The loss of an entry grows with the scale of the data by the degree of the divergence; factors by its root.
        degree = get_divergence(self.divergence).degree
        weight = penalty * mean ** ((1.0 if degree is None else degree) - 0.5)
        constraints = {"W": Sparse(weight), "H": Sparse(weight)}
        return Factorization("W H", self.n_components, constraints=constraints, **settings, missing="ignore")

    def _best_penalty(self, X: np.ndarray, mean: float) -> float:
        """The penalty with which a tenth of what is known is approximated best by a factorization of the rest."""
        divergence = get_divergence(self.divergence)
        known = np.argwhere(~np.isnan(X))
        count = len(known) // 10
        if divergence.scale_invariant or count < _FEW:
            return 0.0
        held = known[np.random.default_rng(0).permutation(len(known))[:count]]
        rest, heldout = X.copy(), np.full_like(X, np.nan)
        rest[tuple(held.T)], heldout[tuple(held.T)] = np.nan, X[tuple(held.T)]
        data, losses = read_weighted(heldout, missing="ignore"), []
        for penalty in _PENALTIES:
            found = self._made(penalty, mean).set_params(max_iter=min(self.max_iter, _BRIEF)).fit(rest)
            codes, components = found.factors_["W"], found.components_
            losses.append(divergence_of(data, codes, components, divergence))
        return _PENALTIES[int(np.argmin(losses))]

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
        values = self._read(X, reset=True)
        if self.estimator is not None:
            if not isinstance(self.estimator, Factorizer):
                raise IncompatibleError(
                    f"estimator must be one of nonneg's factorizations, such as NMF(5); got {self.estimator!r}."
                )
            self.penalty_, self.estimator_ = 0.0, clone(self.estimator).set_params(missing="ignore")
        else:
            is_auto = isinstance(self.penalty, str) and self.penalty == "auto"
            if not is_auto and not (is_number(self.penalty) and self.penalty >= 0):
                raise IncompatibleError(f"penalty must be 'auto' or a number that is not negative; got {self.penalty!r}.")
            if np.isnan(values).all() or not np.nanmax(values) > 0:
                self._made(0.0, 1.0).fit(values)  # which says what is wrong
            mean = float(np.nanmean(values))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                self.penalty_ = self._best_penalty(values, mean) if is_auto else float(self.penalty)
            self.estimator_ = self._made(self.penalty_, mean)
        self.estimator_.fit(values, sample_weight=sample_weight)
        return self

    def _read(self, X: Any, *, reset: bool) -> np.ndarray:
        """X with NaN where something is missing."""
        values = read_samples(self, with_nan(X), reset=reset, allows_nan=True)
        if sparse.issparse(values):
            raise IncompatibleError(
                "X is sparse, and what is filled in is dense: give X as a dense array, with NaN where something is missing."
            )
        return np.asarray(values)

    def transform(self, X: Any) -> np.ndarray:
        """X with what is missing filled in.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        values = self._read(X, reset=False)
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
