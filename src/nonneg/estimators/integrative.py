"""Integrative NMF: components that all groups of samples share, and components of single groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.utils.validation import check_is_fitted

from ..constraints import Support
from ..data import Data, read_data
from ..data.weighted import count_missing
from ..exceptions import DataError, IncompatibleError, ShapeError, is_count
from ..model import Model
from ..solve.context import Context
from ..solve.solution import Solution
from ._libraries import with_library
from ._naming import with_sample_names
from .docstrings import documented
from .encoding import encode
from .nmf import NMF
from .shareable import understands


class _Groups(NamedTuple):
    """The groups of samples during a fit."""

    labels: np.ndarray
    """Names of groups, in order."""
    codes: np.ndarray | None
    """The number of the group of each sample; None for a single group."""
    own: tuple[int, ...]
    """How many components each group has of its own."""


@documented
@understands(beta_loss="divergence")
@dataclass(eq=False, repr=False, kw_only=True)
class IntegrativeNMF(NMF):
    r"""Integrative NMF, X ≈ W H with components that all groups of samples share, and components of single groups.

    Choose it for samples of several batches, donors or studies, ``fit(X, groups=batch)``: the programs of a single batch go into
    components of its own, and the shared ones stay comparable.

    .. math:: \min_{W, H \ge 0} D(X \| W H) \quad \text{with } W_{ik} = 0 \text{ where } k \text{ is of another group than } i

    The first components are shared. LIGER's integrative NMF adds to each shared component a deviation of each group; here
    components of a group have codes of their own, so that a sample may have one without the other. Runs start from an NMF of all
    samples, of which the components that occur in one group most exclusively become its own.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        How many shared components. "auto" takes as many as samples and features allow beside those of groups.
    n_own : int or dict, default=2
        How many components each group has of its own; or how many of each, by its label.
    n_init : int, default=1
        How many restarts of the NMF of all samples.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        Shared components, then those of each group in the order of `groups_`, each of norm one, as `norm` says.
    n_components_ : int
        How many components there are in all.
    groups_ : array of shape (n_groups,)
        The labels of groups.
    component_groups_ : array of shape (n_components_,)
        The place in `groups_` of the group that each component belongs to; -1 of shared ones.

    See Also
    --------
    ConsensusNMF : One data set, many runs.
    nonneg.selection.meta_components : Components that several fits share.
    nonneg.cells.integrative_nmf : The same on AnnData.

    References
    ----------
    Z. Yang, G. Michailidis. A non-negative matrix factorization method for detecting modules in heterogeneous omics multi-modal
    data. Bioinformatics 32, 2016. doi:10.1093/bioinformatics/btv544

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import IntegrativeNMF
    >>> X = np.random.default_rng(0).random((20, 3)) @ np.eye(3).repeat(4, axis=1)
    >>> X[:10, :4] = X[10:, 8:] = 0
    >>> model = IntegrativeNMF(1, n_own=1, random_state=0).fit(X, groups=["a"] * 10 + ["b"] * 10)
    >>> model.component_groups_, [int(component.argmax()) // 4 for component in model.components_]
    (array([-1,  0,  1]), [1, 2, 0])
    """

    n_own: int | Mapping[Any, int] = 2

    _streams: ClassVar[bool] = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, weights: Any = None, *, groups: Any = None) -> Any:
        """Learn shared components, and those of groups.

        Parameters
        ----------
        X : array, sparse array, table, AnnData, Observed, path or open file of shape (n_samples, n_features)
            Non-negative.
        y : None
            Not used; there for pipelines.
        groups : array of shape (n_samples,), default=None
            The group of each sample: a number or a name. None takes all samples as one group.
        sample_weight : array of shape (n_samples,), default=None
            By which the loss of each sample is multiplied: a sample of weight 2 is one that is there twice.
        weights : array of the shape of X, or pair of arrays (samples, features), default=None
            The same for each entry. An entry of weight 0 is missing, whatever stands there.
        """
        self._fitted_groups = self._read_groups(groups)
        try:
            return super().fit(X, y, sample_weight=sample_weight, weights=weights)
        finally:
            for transient in ("_fitted_groups", "_joint"):
                self.__dict__.pop(transient, None)

    def fit_transform(self, X: Any, y: Any = None, *, groups: Any = None, **settings: Any) -> Any:
        """Fit, and give the codes of the same samples.

        Parameters
        ----------
        X : array, sparse array, table, AnnData, Observed, path or open file of shape (n_samples, n_features)
        y : None
            Not used.
        groups : array of shape (n_samples,), default=None
            The group of each sample.
        **settings
            Weights, as in `fit`.
        """
        return self.fit(X, y, groups=groups, **settings).transform(X, groups=groups)

    @with_library
    @with_sample_names
    def transform(self, X: Any, *, groups: Any = None) -> Any:
        """Codes of samples, (n_samples, n_components_): zero for components of other groups.

        Parameters
        ----------
        X : array, sparse array, table, AnnData, Observed, path or open file of shape (n_samples, n_features)
            Non-negative.
        groups : array of shape (n_samples,), default=None
            The group of each sample, among those of the fit. Without it, codes are of shared components only, if there were
            several groups.
        """
        check_is_fitted(self)
        if groups is None and len(self.groups_) == 1:
            return self._transformed(X)
        data = self._read(X, reset=False)
        codes = np.zeros((data.shape[0], len(self.components_)), dtype=self.components_.dtype)
        of_samples = np.full(data.shape[0], -1) if groups is None else self._places_of(groups, data.shape[0])
        for group in np.unique(of_samples):
            rows, own = np.flatnonzero(of_samples == group), np.isin(self.component_groups_, (-1, group))
            is_part = len(rows) < len(of_samples) and not data.costs.out_of_core and not count_missing(data)
            part = read_data(data.take(rows, axis=0)) if is_part else data
            found = encode(part, self.components_[own], self.model_.divergence)
            codes[np.ix_(rows, np.flatnonzero(own))] = found if is_part else found[rows]
        return codes

    def _places_of(self, groups: Any, count: int) -> np.ndarray:
        """The places of the groups of new samples among those of the fit."""
        given = _labels(groups)
        if len(given) != count:
            raise ShapeError(f"groups has {len(given)} labels for {count} samples; every sample needs one.")
        unknown = np.setdiff1d(given, self.groups_).tolist()
        if unknown:
            raise DataError(
                f"groups has {unknown[0]!r}, which the fit had not; it had {', '.join(map(repr, self.groups_.tolist()))}. Codes of "
                "shared components are had without groups."
            )
        return np.searchsorted(self.groups_, given)

    def _read_groups(self, groups: Any) -> _Groups:
        """Labels of groups, checked."""
        labels, codes = (np.array([0]), None) if groups is None else np.unique(_labels(groups), return_inverse=True)
        if isinstance(self.n_own, Mapping):
            strange = [name for name in self.n_own if name not in labels.tolist()]
            if strange:
                raise IncompatibleError(f"n_own has {strange[0]!r}, which is no group; there are {labels.tolist()}.")
        counts = [self.n_own.get(name, 0) if isinstance(self.n_own, Mapping) else self.n_own for name in labels.tolist()]
        if not all(is_count(count) for count in counts):
            raise IncompatibleError(f"n_own must be an int of at least 0, or a dict of these by group; got {self.n_own!r}.")
        return _Groups(labels, codes, tuple(int(count) for count in counts))

    @property
    def _component_groups(self) -> np.ndarray:
        """The group of each component beyond the shared ones."""
        own = (self.__dict__.get("_fitted_groups") or self._read_groups(None)).own  # `explain` has one group
        return np.repeat(np.arange(len(own)), own)

    def _rank(self, shape: tuple[int, int]) -> Any:
        rank = super()._rank(shape)
        is_auto = self.n_components is None or (isinstance(self.n_components, str) and self.n_components == "auto")
        return rank if rank is None or is_auto else rank + len(self._component_groups)

    def _model(self) -> Model:
        return super()._model_of((1, 1))

    def _model_of(self, shape: tuple[int, int]) -> Model:
        model = super()._model_of(shape)
        groups = self.__dict__.get("_fitted_groups")
        if groups is None or groups.codes is None:
            return model
        if len(groups.codes) != shape[0]:
            raise ShapeError(f"groups has {len(groups.codes)} labels for {shape[0]} samples; every sample needs one.")
        if not model.constraints["W"].is_free:
            raise IncompatibleError(f"alpha_W={self.alpha_W} is not for codes that are zero outside of groups. Use 0.")
        rank = self._rank(shape)
        own = self._component_groups
        if rank is None or rank < len(own):
            raise IncompatibleError(f"Groups have {len(own)} components of their own, and there are {rank} in all. Lower n_own.")
        of_components = np.concatenate([np.full(rank - len(own), -1), own])
        pattern = (of_components == -1) | (of_components == groups.codes[:, None])
        return Model(model.form, model.divergence, {**model.constraints, "W": Support(pattern)})

    def _fit(self, X: Data, context: Context) -> Solution:
        self._model_of(X.shape)  # refuses, before any work
        if self._fitted_groups.codes is not None and isinstance(self._init, str) and self._init == "auto":
            shared = ("divergence", "n_init", "max_iter", "tol", "random_state", "n_jobs", "missing", "fixed_components")
            joint = NMF(self._rank(X.shape), **{name: getattr(self, name) for name in shared}).fit(X)
            self._joint = self._assigned(joint.factors_["W"], joint.components_)
        return super()._fit(X, context)

    def _read_init(self, X: Any, *others: Any) -> Any:
        return self.__dict__.get("_joint") or super()._read_init(X, *others)

    def _assigned(self, W: np.ndarray, H: np.ndarray) -> dict[str, np.ndarray]:
        """Factors with components in the order of the model: those that occur in one group most exclusively are its own."""
        groups, own = self._fitted_groups, self._component_groups
        means = np.array([W[groups.codes == group].mean(axis=0) for group in range(len(groups.labels))])
        shares = means / np.maximum(means.sum(axis=0), np.finfo(W.dtype).tiny)
        count = 0 if self.fixed_components is None else np.shape(self.fixed_components)[0]
        scores = np.vstack([np.tile(len(shares) * shares.min(axis=0), (W.shape[1] - len(own), 1)), shares[own]])
        _, order = linear_sum_assignment(-scores[count:, count:])
        order = np.concatenate([np.arange(count), count + order])
        return {"W": np.maximum(W[:, order], 1e-3 * W.mean()), "H": H[order]}

    def _keep(self, X: Data, solution: Solution) -> None:
        super()._keep(X, solution)
        own, groups = self._component_groups, self._fitted_groups
        self.groups_ = groups.labels
        self.component_groups_ = np.concatenate([np.full(len(self.components_) - len(own), -1), own])


def _labels(groups: Any) -> np.ndarray:
    """One label for each sample, checked."""
    given = np.asarray(groups)
    if given.ndim != 1 or not len(given):
        raise ShapeError(f"groups must be one label for each sample; got shape {given.shape}.")
    is_known = given.dtype.kind != "f" or not np.isnan(given).any()
    if given.dtype == object:
        is_known = all(label is not None and label == label for label in given)
        given = np.array([str(label) if isinstance(given[0], str) else label for label in given])
    if not is_known:
        raise DataError("groups has a sample without a label. Name its group, or leave the sample out.")
    return given
