"""Items known by how alike they are: a kernel, or an affinity."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from ..arrays.data import dense
from ..arrays.reading import Gram
from ..encoding import encode
from ..exceptions import DataError, IncompatibleError, ShapeError
from ..model import Model
from ..naming import is_number
from ..solvers import Multiplicative
from ._base import Factorizer, check_non_negative, read_samples
from ._documentation import documented
from ._parameters import Protocol
from ._starts import Run
from ._wholeness import whole_or_not_at_all
from .clustering import labelled

_MEMBERSHIPS = """array of shape (n_samples, n_components)
    How much of each item is in each component: the rows of W, divided by their sums."""
_LABELS = """array of shape (n_samples,)
    The component that has most of each item: the largest entry of its row of W."""


class _Pairwise(Factorizer):
    """What both have in common: X becomes a square matrix of similarities."""

    _clustered: ClassVar[tuple[int, ...]] = (0,)
    _metric_name: ClassVar[str]
    gamma: Any
    degree: float
    coef0: float
    kernel_params: Any

    @property
    @abstractmethod
    def _metric(self) -> Any:
        """The parameter that says how similarities are had."""

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self._metric, str) and self._metric == "precomputed"

    def _read(self, X: Any, *, reset: bool) -> Any:
        X = read_samples(self, X, reset=reset)
        if reset and self._is_precomputed and X.shape[0] != X.shape[1]:
            raise DataError(
                f"X must be square with {self._metric_name}='precomputed': similarities between all pairs of items; its shape is "
                f"{X.shape}. For samples with features, name a kernel, such as {self._metric_name}='rbf'."
            )
        return X

    def _similarities(self, X: Any, Y: Any = None) -> Any:
        metric, name = self._metric, self._metric_name
        if self._is_precomputed:
            return X
        if isinstance(metric, str) and metric not in PAIRWISE_KERNEL_FUNCTIONS:
            known = ", ".join(map(repr, ("precomputed", *sorted(PAIRWISE_KERNEL_FUNCTIONS))))
            raise IncompatibleError(f"Unknown {name} {metric!r}. Known names: {known}; or a function of two samples.")
        if not isinstance(metric, str) and not callable(metric):
            raise IncompatibleError(f"{name} must be a name or a function of two samples; got {metric!r}.")
        named = {name: getattr(self, name) for name in ("gamma", "degree", "coef0") if getattr(self, name) is not None}
        for parameter, value in named.items():
            if not is_number(value):
                raise IncompatibleError(f"{parameter} must be a number; got {value!r}.")
        options = dict(self.kernel_params or {}) if callable(metric) else named
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            K = np.asarray(dense(pairwise_kernels(X, Y, metric=metric, filter_params=True, **options)), dtype=X.dtype)
        vanishes = not K.any() and X.sum() != 0 and Y is None
        if vanishes or not np.isfinite(K).all():
            raise DataError(
                f"{name}={metric!r} gives similarities for this X that are too {'small' if vanishes else 'large'} for {X.dtype}; "
                f"the largest entry of X is {abs(X).max():g}. Rescale X."
            )
        return K

    def _checked_similarities(self, X: Any, Y: Any = None) -> Any:
        K = self._similarities(X, Y)
        if not self._is_precomputed and K.size and K.min() < 0:
            raise DataError(
                f"{self._metric_name}={self._metric!r} gives negative similarities for this X, down to {K.min():g}. Use one that "
                "does not, such as 'rbf', or data without negative entries."
            )
        return check_non_negative(K)

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the factor.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features), or (n_samples, n_samples) where it is precomputed
        y : None
            Not used.
        """
        began = time.perf_counter()
        X = self._read(X, reset=True)
        self.X_fit_ = None if self._is_precomputed else X
        K = self._checked_similarities(X)
        run = self._fit(K, began)
        self._keep(K, run)
        W = self.factors_["W"]
        sums = W.sum(axis=1, keepdims=True)
        self.memberships_, self.labels_ = W / np.where(sums > 0, sums, 1.0), labelled(W, K, W)
        self._tell(run, began)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn the factor, and say which component has most of each item.

        Parameters
        ----------
        X : array or sparse array
        y : None
            Not used.
        """
        return self.fit(X).labels_

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        return {"W": array.T}

    def _components(self, X: Any, run: Run) -> np.ndarray:
        return np.ascontiguousarray(run.factors["W"].T)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.positive_only = self._is_precomputed
        return tags


def _describe(metric: str, default: str) -> dict[str, str]:
    return {
        "n_components": """int or "auto", default="auto"
    How many components. "auto" takes as many as there are items.""",
        metric: f"""str or callable, default={default}
    "precomputed", where X is the matrix of similarities itself; the name of a kernel of `sklearn.metrics.pairwise`; or a
    function of two samples. No similarity may be negative.""",
        "gamma": """float, default=None
    Of kernels that have it, as in scikit-learn.""",
        "degree": """float, default=3
    Of the polynomial kernel.""",
        "coef0": """float, default=1
    Of polynomial and sigmoid kernels.""",
        "kernel_params": """dict, default=None
    For a function.""",
        "memberships_": _MEMBERSHIPS,
        "labels_": _LABELS,
        "components_": """array of shape (n_components, n_items)
    Wᵀ.""",
    }


def _fill(paper: str) -> dict[str, str]:
    return {
        "DEFAULT_INIT": '"kmeans", clusters of items',
        "INIT_ARRAY": "the components to start from, (n_components, n_items)",
        "PAPER": paper,
    }


def _check_symmetric(K: Any) -> None:
    difference, largest = abs(K - K.T).max(), abs(K).max()
    if difference > 1e3 * np.finfo(K.dtype).eps * largest:
        raise DataError(
            f"X must be symmetric, but entries differ from their mirror image by up to {difference:g}. For directed similarities, "
            "take the mean of X and its transpose."
        )


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class SymmetricNMF(_Pairwise):
    r"""Symmetric non-negative matrix factorization, X ≈ W Wᵀ, of a matrix of similarities.

    .. math:: \min_{W \ge 0} D(X \| W W^T)

    The rows of W are the items: W_ik is how much of item i is in component k. `transform` takes the similarities of new items to
    those that were fitted.

    Notes
    -----
    QNMF §3.1, the form W Wᵀ: W ∘ [XW/(WWᵀW)]^(1/4) for the Euclidean distance.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import SymmetricNMF
    >>> blocks = np.kron(np.eye(3), np.ones((4, 4))) + 0.1
    >>> SymmetricNMF(3, random_state=0).fit(blocks).labels_.reshape(3, 4).std(axis=1)
    array([0., 0., 0.])
    """

    divergence: Any = "euclidean"
    affinity: Any = "precomputed"
    gamma: Any = None
    degree: float = 3
    coef0: float = 1
    kernel_params: Any = None

    _paper: ClassVar[Protocol] = Protocol(Multiplicative())
    _metric_name: ClassVar[str] = "affinity"
    _attributes: ClassVar[tuple[str, ...]] = ("memberships_", "labels_")
    _described: ClassVar[dict[str, str]] = _describe("affinity", '"precomputed"')
    _words: ClassVar[dict[str, str]] = _fill("the multiplicative rule with its proven exponent, from a random start")

    @property
    def _metric(self) -> Any:
        return self.affinity

    def _model(self) -> Model:
        return Model("W W.T", self.divergence)

    def _fit(self, X: Any, began: float) -> Run:
        _check_symmetric(X)
        return super()._fit(X, began)

    def transform(self, X: Any) -> np.ndarray:
        """The codes of items: how much of each component is in them, (n_samples, n_components).

        Parameters
        ----------
        X : array or sparse array
            Of features, as in `fit`; where it is precomputed, the similarities of the items to those that were fitted.
        """
        check_is_fitted(self)
        K = self._checked_similarities(self._read(X, reset=False), self.X_fit_)
        return encode(K, self.components_, self._model().divergence)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the divergence between the similarities of items and what their codes give back, per item; 0 is best.

        Parameters
        ----------
        X : array or sparse array
        y : None
            Not used.
        """
        check_is_fitted(self)
        K = self._checked_similarities(self._read(X, reset=False), self.X_fit_)
        codes = encode(K, self.components_, self._model().divergence)
        return self._score(K, codes)


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class KernelPNMF(_Pairwise):
    r"""Kernel projective non-negative matrix factorization: PNMF of items known by a kernel between them.

    .. math:: \min_{W \ge 0} \tfrac12 \|\Phi^T - W W^T \Phi^T\|^2, \quad K = \Phi^T \Phi

    The rows of W are the items: W_ik is how much of item i is in component k. Components are points in the space of the kernel,
    Φ W, and `transform` gives the products of samples with them, K(X, X_fit) W.

    Notes
    -----
    QNMF §5.1: W ∘ [2KW/(WWᵀKW + KWWᵀW)]^(1/3), under which the objective never rises. K must not have negative entries.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import KernelPNMF
    >>> angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    >>> rings = np.vstack([r * np.column_stack([np.cos(angle), np.sin(angle)]) for r in (1, 5)])
    >>> labels = KernelPNMF(2, kernel="rbf", gamma=0.5, n_init=5, random_state=0).fit_predict(rings)
    >>> labels.shape
    (80,)
    """

    kernel: Any = "rbf"
    gamma: Any = None
    degree: float = 3
    coef0: float = 1
    kernel_params: Any = None

    _paper: ClassVar[Protocol] = Protocol(Multiplicative())
    _metric_name: ClassVar[str] = "kernel"
    _attributes: ClassVar[tuple[str, ...]] = ("memberships_", "labels_")
    _described: ClassVar[dict[str, str]] = _describe("kernel", '"rbf"')
    _words: ClassVar[dict[str, str]] = _fill("the multiplicative rule with exponent 1/3, from a random start")
    _reconstructs: ClassVar[bool] = False

    @property
    def _metric(self) -> Any:
        return self.kernel

    def _model(self) -> Model:
        return Model("W W.T X", "euclidean")

    def _rank(self, shape: tuple[int, int]) -> Any:
        rank = super()._rank(shape)
        if rank is not None and rank > shape[0]:
            raise ShapeError(
                f"n_components={rank} is more than the {shape[0]} items: with as many components as items, W Wᵀ is the identity, "
                f"each item its own component. Use at most {shape[0]}."
            )
        return rank

    def _data(self, X: Any) -> Gram:
        return Gram(X)

    def transform(self, X: Any) -> np.ndarray:
        """The products of samples with the components, K(X, X_fit) W, (n_samples, n_components).

        Parameters
        ----------
        X : array or sparse array
            Of features, as in `fit`; where it is precomputed, the kernel between the samples and those that were fitted.
        """
        check_is_fitted(self)
        K = self._similarities(self._read(X, reset=False), self.X_fit_)
        return np.asarray(K @ self.factors_["W"])
