"""Imputation of missing values by a factorization of the known ones."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..constraints import Sparse
from ..data import read_weighted
from ..data.reading import with_nan
from ..divergences import get_divergence
from ..exceptions import EmptySamplesWarning, IncompatibleError, is_number
from ..kernels.tuned import tuned
from ._base import Factorizer, divergence_of
from ._naming import with_sample_names
from .annotations import Divergence, RandomState, Rank
from .atomic import atomic_fit
from .docstrings import documented
from .generic import Factorization
from .nmf import NMF
from .shareable import KnownParameters, renamed
from .validation import read_samples

_PENALTIES = tuned((0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0), by="missing", on="2026-11-16")
"""Penalties tried by `alpha="auto"`."""
_MIDDLE = tuned(0.1, by="missing", on="2026-11-17")
"""The penalty with which ranks are compared."""
_FEW = tuned(20, by="missing", on="2026-11-16")
"""Entries held out below which they tell nothing."""
_BRIEF = tuned(200, by="missing", on="2026-11-16")
"""Iterations of a trial fit, at most."""
_IN_VAIN = tuned(2, by="missing", on="2026-11-17")
"""So many ranks after another that are no better than the best one end the search."""


class _Choice(NamedTuple):
    """How to fill in: whether features are divided by their largest values, how many components, and the penalty.

    No component stands for the mean of the known values of each feature.
    """

    scaled: bool
    rank: Any
    penalty: float


@renamed(penalty="alpha")
@documented
@dataclass(eq=False, repr=False)
class NMFImputer(OneToOneFeatureMixin, TransformerMixin, KnownParameters, BaseEstimator):
    r"""Fill in missing values by non-negative matrix factorization.

    A factorization is fitted to the known entries, and the missing ones become its approximation. Known entries stay. For data
    without negative entries that parts add up to: counts, spectra, ratings, images, and tables of amounts. Features may have units
    of their own: each is divided by its largest known value before, and multiplied with it after, unless held-out entries (see
    `n_components`) are approximated better without.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        How many components of `NMF`. "auto" tries 1, 2, 4, 8 and so on, up to the number of samples or features, and takes the
        best for a tenth of the known entries, held out for that; with less than 200 known entries, it takes 1.
    divergence : str, float or Objective, default="euclidean"
        How X and its approximation are compared; see `NMF`.
    alpha : float or "auto", default="auto"
        On the sums of codes and of components, in units of the data. With few entries known, a factorization without one follows
        their noise. "auto" takes the one of seven, 0 among them, that is best for the held-out entries.
    estimator : estimator, default=None
        Another factorization in place of `NMF`, such as ``OPNMF(10)``; then `n_components`, `divergence`, `alpha`, `max_iter`,
        `tol` and `random_state` are its own, or it has none, and it is fitted to X as it is, nothing being divided or held out.
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
        None if the means of features are filled in.
    n_components_ : int
        Its number of components; 0 if the means of features are filled in, since no factorization was better for the held-out
        entries. If neither `n_components` nor `alpha` is "auto", nothing is held out.
    alpha_ : float
        The penalty, in the units of `alpha`.
    scale_ : array of shape (n_features,)
        Divisors of features: the largest known value of each, or 1 for all.
    means_ : array of shape (n_features,)
        The mean of the known values of each feature, filled in for samples without known entries.
    n_iter_ : int
        Iterations of the fit.
    n_features_in_ : int
        How many features X had.
    feature_names_in_ : array of shape (n_features_in_,)
        Only if X has feature names that are all strings.

    See Also
    --------
    NMF : Takes missing values by ``missing="ignore"``.
    Observed : Sparse data whose absent entries are unknown.

    Notes
    -----
    A sample of which nothing is known becomes the means of the features; with an `estimator` of one's own it is that which decides.
    A feature of which nothing is known becomes zero, with a warning.

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

    _in_memory_because: ClassVar[str] = "it looks for missing entries in it"

    n_components: Rank = "auto"
    _: KW_ONLY
    divergence: Divergence = "euclidean"
    alpha: float | str = "auto"
    estimator: BaseEstimator | None = None
    max_iter: int = 5000
    tol: float = 1e-5
    random_state: RandomState = None

    def _made(self, rank: Any, penalty: float, mean: float) -> Any:
        """The factorization, with a penalty in units of the data, whose mean this is."""
        names = ("divergence", "max_iter", "tol", "random_state")
        settings = {name: getattr(self, name) for name in names}
        if not penalty:
            return NMF(rank, **settings, missing="ignore")
        # The loss of an entry grows with the scale of the data by the degree of the divergence; factors by its root.
        degree = get_divergence(self.divergence).degree
        weight = penalty * mean ** ((1.0 if degree is None else degree) - 0.5)
        constraints = {"W": Sparse(weight), "H": Sparse(weight)}
        return Factorization("W H", rank, constraints=constraints, **settings, missing="ignore")

    def _chosen(self, X: np.ndarray, scale: np.ndarray, ranks: list[Any], penalties: tuple[float, ...]) -> _Choice:
        """The choice with which a factorization approximates a held-out tenth of the known entries best.

        All are compared in features that are divided by `scale`, so that each has a say, also those that are fitted as they are.
        Ranks are compared with one penalty, and penalties with the best rank.
        """
        divergence = get_divergence(self.divergence)
        if divergence.scale_invariant and len(penalties) > 1:
            penalties = (0.0,)  # A penalty would shrink the factors to nothing, at no loss.
        known = np.argwhere(~np.isnan(X))
        count = len(known) // 10
        if count < _FEW:
            return _Choice(True, ranks[0], penalties[0])
        held = known[np.random.default_rng(0).permutation(len(known))[:count]]
        rest, heldout = X.copy(), np.full_like(X, np.nan)
        rest[tuple(held.T)], heldout[tuple(held.T)] = np.nan, X[tuple(held.T)]
        data = read_weighted(heldout / scale, missing="ignore")
        losses = {_Choice(True, 0, 0.0): divergence_of(data, np.ones((len(X), 1)), _means(rest / scale)[None], divergence)}

        def attempt(choice: _Choice) -> None:
            unit = scale if choice.scaled else np.ones_like(scale)
            made = self._made(choice.rank, choice.penalty, float(np.nanmean(X / unit)))
            found = made.set_params(max_iter=min(self.max_iter, _BRIEF)).fit(rest / unit)
            losses[choice] = divergence_of(data, found.factors_["W"], found.components_ * (unit / scale), divergence)

        middle = _MIDDLE if _MIDDLE in penalties else penalties[0]
        for scaled in (False,) if divergence.degree == 0 else (True, False):  # Degree 0: the loss is the same in all units.
            tried: list[_Choice] = []
            for rank in ranks:
                tried.append(_Choice(scaled, rank, middle))
                attempt(tried[-1])
                if len(tried) - 1 - tried.index(min(tried, key=losses.__getitem__)) >= _IN_VAIN:
                    break
        best = min((choice for choice in losses if choice.rank), key=losses.__getitem__)
        for penalty in penalties:
            if penalty != middle:
                attempt(best._replace(penalty=penalty))
        return min(losses, key=losses.__getitem__)

    @atomic_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from the known entries.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Non-negative, with NaN, a mask, or NA for missing entries.
        y : None
            Not used.
        sample_weight : array of shape (n_samples,), default=None
            By which the loss of each sample is multiplied. The rank and the penalty are chosen without them.
        """
        values = self._read(X, reset=True)
        made = self._read_estimator(values) if self.estimator is not None else self._choose_estimator(values)
        self.estimator_, rank, scale = made
        self.scale_, self.means_ = scale, _means(values / scale) * scale
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptySamplesWarning)  # they become means
            self.estimator_.fit(values / scale, sample_weight=sample_weight)
        self.n_iter_ = self.estimator_.n_iter_
        self.n_components_ = 0 if rank == 0 else self.estimator_.n_components_
        if rank == 0:
            self.estimator_ = None
        if np.isnan(values).all(axis=0).any():
            columns = np.flatnonzero(np.isnan(values).all(axis=0)).tolist()
            warnings.warn(f"Nothing is known of features {columns}: they are filled with zeros.", stacklevel=2)
        return self

    def _read_estimator(self, values: np.ndarray) -> tuple[Any, None, np.ndarray]:
        """Take the estimator that is given; nothing is scaled."""
        if not isinstance(self.estimator, Factorizer):
            raise IncompatibleError(f"estimator must be one of nonneg's factorizations, such as NMF(5); got {self.estimator!r}.")
        self.alpha_ = 0.0
        return clone(self.estimator).set_params(missing="ignore"), None, np.ones(values.shape[1], values.dtype)

    def _choose_estimator(self, values: np.ndarray) -> tuple[Any, Any, np.ndarray]:
        """Choose rank and penalty, unless they are given, and the scale of the features."""
        is_auto = isinstance(self.alpha, str) and self.alpha == "auto"
        if not is_auto and not (is_number(self.alpha) and self.alpha >= 0):
            raise IncompatibleError(f"alpha must be 'auto' or a number that is not negative; got {self.alpha!r}.")
        if np.isnan(values).all() or not np.nanmax(values) > 0 or np.nanmin(values) < 0:
            self._made(self.n_components, 0.0, 1.0).fit(values)  # raises the error
        largest = np.max(values, axis=0, where=~np.isnan(values), initial=0.0)
        scale = np.where(largest > 0, largest, 1.0).astype(values.dtype)
        penalties = _PENALTIES if is_auto else (float(self.alpha),)
        choice = _Choice(True, self.n_components, penalties[0])
        if (searches := isinstance(choice.rank, str) and choice.rank == "auto") or is_auto:
            ranks = [2**k for k in range(min(values.shape).bit_length())] if searches else [choice.rank]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", EmptySamplesWarning)
                choice = self._chosen(values, scale, ranks, penalties)
        self.alpha_ = choice.penalty
        scale = scale if choice.scaled else np.ones_like(scale)
        return self._made(choice.rank or 1, self.alpha_, float(np.nanmean(values / scale))), choice.rank, scale

    def _read(self, X: Any, *, reset: bool) -> np.ndarray:
        """X with NaN for missing entries."""
        values = read_samples(self, with_nan(X), reset=reset, allows_nan=True)
        if sparse.issparse(values):
            raise IncompatibleError(
                "X is sparse, and filled entries are dense: give X as a dense array, with NaN where something is missing."
            )
        return np.asarray(values)

    @with_sample_names
    def transform(self, X: Any) -> np.ndarray:
        """X with missing entries filled in.

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
        made = np.broadcast_to(self.means_, found[some].shape)
        if self.estimator_ is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EmptySamplesWarning)  # they become means
                codes = self.estimator_._codes(values[some] / self.scale_)
            rebuilt = self.estimator_.inverse_transform(codes) * self.scale_
            has_means = missing[some].all(axis=1) if self.estimator is None else np.zeros(len(codes), bool)
            made = np.where(has_means[:, None], made, rebuilt)
        found[some] = np.where(missing[some], made, values[some])
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _means(X: np.ndarray) -> np.ndarray:
    """The mean of the known values of each feature, or zero."""
    known = ~np.isnan(X)
    return np.asarray(np.sum(X, axis=0, where=known) / np.maximum(known.sum(axis=0), 1), dtype=X.dtype)
