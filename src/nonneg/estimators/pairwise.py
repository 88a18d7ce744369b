"""Items known by how alike they are: a kernel of samples, or similarities."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from ..constraints import unit_length
from ..data import Data, Gram, as_dense, read_data
from ..data.base import items_of
from ..data.device import check_device, name_of, on_host, placed
from ..data.reading import check_missing
from ..data.rooted import with_root
from ..exceptions import DataError, IncompatibleError, ShapeError
from ..factorization import factorize
from ..kernels.memory import check_memory
from ..kernels.tuned import tuned
from ..model import Model
from ..solve.context import Context
from ..solve.progress import inner_runs
from ..solve.solution import Solution
from ..solve.solvers import Multiplicative
from ..solve.starts import Named, Start
from ..solve.strategy import NNDSVDA
from ._base import Factorizer
from ._callbacks import told_to_callbacks, with_callbacks
from ._kernels import check_kernel, kernel_options
from ._libraries import fit_with_library, with_library
from ._naming import with_sample_names
from ._parameters import Procedure
from .annotations import Divergence, Kernel, KernelParams
from .clustering import labelled
from .docstrings import documented
from .encoding import encode
from .neighbours import WALKS
from .shareable import renamed
from .validation import check_non_negative, read_samples

_LEAST_SHARE = tuned(1e-3, by="tuned", on="2026-11-16")
"""Least initial entries, as a share of the mean: multiplicative steps would not leave zero."""
_WALKS = 6
"""Arrays of samples × samples that are held while a kernel of walks is made."""


class _Pairwise(Factorizer):
    """Base of both: X becomes a square matrix of similarities.

    Parameters
    ----------
    init
        How to start. "auto" is "kmeans", clusters of items. An array is the components to start from,
        (n_components, n_items); a dict gives factors by name, the others are drawn at random. Zeros in them
        become a thousandth of the mean, from which they can come back.
    n_components : int or "auto", default="auto"
        How many components. "auto" takes as many as there are items; more than 100 are warned of, since that may take long.

    Attributes
    ----------
    components_ : array of shape (n_components, n_items)
        Wᵀ.
    """

    _clustered: ClassVar[tuple[int, ...]] = (0,)
    _in_memory_because: ClassVar[str] = "it compares every sample with every other"
    kernel: Kernel
    gamma: float | None
    degree: float
    coef0: float
    kernel_params: KernelParams

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _check_missing(self) -> None:
        check_missing(self.missing)
        if self.missing == "ignore":
            raise IncompatibleError(
                f"{type(self).__name__} takes similarities between all pairs of samples, so missing='ignore' means nothing for it. "
                "Factorization('W W.T', missing='ignore') approximates a matrix of similarities some of which are missing."
            )

    def _read(self, X: Any, *, reset: bool, weights: Any = None) -> Any:
        self._check_missing()
        X = read_samples(self, on_host(X), reset=reset)
        if reset and self._is_precomputed and X.shape[0] != X.shape[1]:
            raise DataError(
                f"X must be square with kernel='precomputed': similarities between all pairs of items; its shape is "
                f"{X.shape}. For samples with features, name a kernel, such as kernel='rbf'."
            )
        return X

    def _similarities(self, X: Any, Y: Any = None) -> Any:
        metric = self.kernel
        if self._is_precomputed:
            return X
        if isinstance(metric, str) and metric in WALKS:
            K = WALKS[metric](X, Y).astype(X.dtype)
            return (K + K.T) / 2 if Y is None else K
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            K = np.asarray(as_dense(pairwise_kernels(X, Y, metric=metric, **kernel_options(metric, self))), dtype=X.dtype)
        vanishes = not K.any() and X.sum() != 0 and Y is None
        if vanishes or not np.isfinite(K).all():
            raise DataError(
                f"kernel={metric!r} gives similarities for this X that are too {'small' if vanishes else 'large'} for "
                f"{X.dtype}; the largest entry of X is {abs(X).max():g}. Rescale X."
            )
        if Y is None and isinstance(metric, str) and not np.array_equal(K, K.T):
            K = (K + K.T) / 2  # kernels by name are symmetric but for rounding, large for large X
        return K

    def _checked_similarities(self, X: Any, Y: Any = None) -> Any:
        K = self._similarities(X, Y)
        if not self._is_precomputed and K.size and K.min() < 0:
            raise DataError(
                f"kernel={self.kernel!r} gives negative similarities for this X, down to {K.min():g}. Use one that "
                "does not, such as 'rbf', or data without negative entries."
            )
        return check_non_negative(K)

    @fit_with_library
    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the factor.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features), or (n_samples, n_samples) if it is precomputed
        y : None
            Not used.
        """
        context = Context(self.callback, verbose=bool(self.verbose))
        K = self._read_to_fit(X)
        with told_to_callbacks(self, self.n_init) if vars(self).get("_skl_callbacks") else nullcontext(), context.watching(K):
            solution = self._fit(K, context)
        self._keep(K, solution)
        W = self.factors_["W"]
        V = self._clusters(W)
        sums = V.sum(axis=1, keepdims=True)
        self.memberships_, self.labels_ = V / np.where(sums > 0, sums, 1.0), labelled(V, items_of(K), W)
        self._end(solution, context)
        return self

    def _read_to_fit(self, X: Any, sample_weight: Any = None, weights: Any = None) -> Data:
        """The similarities of samples as data, and `X_fit_`."""
        if sample_weight is not None or weights is not None:
            raise IncompatibleError(f"{type(self).__name__} takes no weights.")
        check_kernel(self.kernel, self, *WALKS)
        check_device(self.device)
        where = self.device if self.device is not None else name_of(X)
        X = self._read(X, reset=True)
        n = X.shape[0]
        if not self._is_precomputed:
            is_walks = isinstance(self.kernel, str) and self.kernel in WALKS
            check_memory(
                (_WALKS if is_walks else 2) * X.dtype.itemsize * n**2,
                f"{type(self).__name__} of {n} samples: kernel={self.kernel!r} has {n} × {n} entries, which",
                "Use fewer samples, a sparse matrix of similarities with kernel='precomputed', or PNMF on features.",
            )
        self.X_fit_ = None if self._is_precomputed else X
        return placed(self._as_data(self._symmetric(self._checked_similarities(X)), X), where)

    def _symmetric(self, K: Any) -> Any:
        """The similarities, checked for symmetry if the form needs it."""
        return K

    def _as_data(self, K: Any, X: Any) -> Data:
        """The similarities of samples as data."""
        return read_data(K)

    def _clusters(self, W: np.ndarray) -> np.ndarray:
        """How much each item belongs to each cluster."""
        return W

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

    def _components(self, X: Data, solution: Solution) -> np.ndarray:
        return np.ascontiguousarray(solution.factors["W"].T)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.positive_only = self._is_precomputed
        return tags


def _check_symmetric(K: Any) -> None:
    difference, largest = abs(K - K.T).max(), abs(K).max()
    if difference > 1e3 * np.finfo(K.dtype).eps * largest:
        raise DataError(
            f"X must be symmetric, but entries differ from their mirror image by up to {difference:g}. For directed similarities, "
            "take the mean of X and its transpose."
        )


@renamed(affinity="kernel")
@documented
@dataclass(eq=False, repr=False, kw_only=True)
class SymmetricNMF(_Pairwise):
    r"""Symmetric non-negative matrix factorization, X ≈ W Wᵀ, of a matrix of similarities.

    Soft clusters of items of which similarities are known. Choose it for graphs and affinities; `KernelPNMF` for kernels.

    .. math:: \min_{W \ge 0} D(X \| W W^T)

    The rows of W are the items: W_ik is how much of item i is in component k. `transform` takes the similarities of new items to
    those that were fitted.

    Parameters
    ----------
    solver : {"auto", "paper", "coordinate", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "coordinate" for the Euclidean distance, "quasi-newton" for other divergences, "adaptive" with
        constraints. "paper" is the papers' own protocol: the multiplicative rule with its proven exponent, from a
        random start. "multiplicative" is the rule with the exponent that the theory proves; "adaptive" increases
        it while the objective falls; "coordinate" takes exact steps in one entry after the other; "quasi-newton"
        learns from its last steps (L-BFGS); or an object of `nonneg.solvers`.
    kernel : str or callable, default="precomputed"
        "precomputed", for X that is the matrix of similarities itself; "local", walks of four steps among samples, by distances
        in units of those to their tenth neighbours, for clusters of any shape and size; "nearest_neighbors", such walks in the
        graph of samples and their ten nearest neighbours, for clusters in many dimensions; the name of a kernel of
        `sklearn.metrics.pairwise`; or a function of two samples. No similarity may be negative.

    Attributes
    ----------
    memberships_ : array of shape (n_samples, n_components)
        How much of each item is in each cluster: the rows of V, see the notes, divided by their sums.
    labels_ : array of shape (n_samples,)
        The cluster that has most of each item: the largest entry of its row of V, see the notes.

    See Also
    --------
    KernelPNMF : Projection in the space of a kernel.
    nonneg.graph.GraphClustering : Vertices of a graph.

    Notes
    -----
    QNMF §3.1, the form W Wᵀ: W ∘ [XW/(WWᵀW)]^(1/4) for the Euclidean distance.

    W R approximates X as W does, for any rotation R that leaves it non-negative. If all items are much alike, as a wide kernel
    makes them, the rows of W are close to each other and many rotations do: one component may then have most of nearly every item.
    So clusters are not read off W but off the similarities that it stands for: they are the V ≥ 0 of W ≈ V VᵀW, projective NMF of
    the rows of W, which no rotation changes, from the columns of W as its start. If these do not overlap, V is W with columns
    of unit length.

    References
    ----------
    QNMF: Z. Yang, E. Oja. Quadratic nonnegative matrix factorization. Pattern Recognition, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import SymmetricNMF
    >>> blocks = np.kron(np.eye(3), np.ones((4, 4))) + 0.1
    >>> SymmetricNMF(3, random_state=0).fit(blocks).labels_.reshape(3, 4).std(axis=1)
    array([0., 0., 0.])
    """

    divergence: Divergence = "euclidean"
    kernel: Kernel = "precomputed"
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1
    kernel_params: KernelParams = None

    _paper: ClassVar[Procedure] = Procedure(Multiplicative())

    def _model(self) -> Model:
        return Model("W W.T", self.divergence)

    def _symmetric(self, K: Any) -> Any:
        _check_symmetric(K)
        return K

    def _as_data(self, K: Any, X: Any) -> Data:
        found = read_data(K)
        is_linear = isinstance(self.kernel, str) and self.kernel == "linear"
        return with_root(found, X) if is_linear else found

    def _clusters(self, W: np.ndarray) -> np.ndarray:
        """V of W ≈ V VᵀW, from W with columns of unit length: W itself is one of many rotations."""
        unit = unit_length(np, W, "columns")
        with inner_runs("clusters"):
            V = factorize(W, "V V.T X", init={"V": np.maximum(unit, _LEAST_SHARE * unit.mean())}).factors["V"]
        return np.where(W.any(axis=1, keepdims=True), V, 0.0).astype(W.dtype)

    @with_library
    @with_sample_names
    def transform(self, X: Any) -> np.ndarray:
        """The codes of items: how much of each component is in them, (n_samples, n_components).

        Parameters
        ----------
        X : array or sparse array
            Of features, as in `fit`; if it is precomputed, the similarities of the items to those that were fitted.
        """
        check_is_fitted(self)
        K = self._checked_similarities(self._read(X, reset=False), self.X_fit_)
        return encode(K, self.components_, self.model_.divergence)

    @with_library
    def score(self, X: Any, y: Any = None) -> float:
        """Minus the divergence between the similarities of items and their approximation, per item; 0 is best.

        Parameters
        ----------
        X : array or sparse array
        y : None
            Not used.
        """
        check_is_fitted(self)
        K = self._checked_similarities(self._read(X, reset=False), self.X_fit_)
        codes = encode(K, self.components_, self.model_.divergence)
        return self._score(K, codes)


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class KernelPNMF(_Pairwise):
    r"""Kernel projective non-negative matrix factorization: PNMF of items known by a kernel between them.

    Soft clusters of items in the space of a kernel. Choose it if clusters are no lines through the origin of the features.

    .. math:: \min_{W \ge 0} \tfrac12 \|\Phi^T - W W^T \Phi^T\|^2, \quad K = \Phi^T \Phi

    The rows of W are the items: W_ik is how much of item i is in component k. Components are points in the space of the kernel,
    Φ W, and `transform` gives the products of samples with them, K(X, X_fit) W.

    Parameters
    ----------
    solver : {"auto", "paper", "coordinate", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "coordinate" for the Euclidean distance, "quasi-newton" for other divergences, "adaptive" with
        constraints. "paper" is the papers' own protocol: the multiplicative rule with exponent 1/3, from a random
        start. "multiplicative" is the rule with the exponent that the theory proves; "adaptive" increases it
        while the objective falls; "coordinate" takes exact steps in one entry after the other; "quasi-newton"
        learns from its last steps (L-BFGS); or an object of `nonneg.solvers`.
    kernel : str or callable, default="local"
        "precomputed", for X that is the matrix of similarities itself; "local", walks of four steps among samples, by distances
        in units of those to their tenth neighbours, for clusters of any shape and size; "nearest_neighbors", such walks in the
        graph of samples and their ten nearest neighbours, for clusters in many dimensions; the name of a kernel of
        `sklearn.metrics.pairwise`; or a function of two samples. No similarity may be negative.

    Attributes
    ----------
    memberships_ : array of shape (n_samples, n_components)
        How much of each item is in each component: the rows of W, divided by their sums.
    labels_ : array of shape (n_samples,)
        The component that has most of each item: the largest entry of its row of W.
    reconstruction_err_ : float
        √(2 D) with D the objective: ‖Φᵀ − W WᵀΦᵀ‖. NaN if D is negative: the kernel is indefinite, and there is no Φ.

    See Also
    --------
    OPNMF : Projection in the space of X.
    SymmetricNMF : Similarities as F Fᵀ.
    ProjectiveClustering : Clusters of samples.

    Notes
    -----
    QNMF §5.1: W ∘ [2KW/(WWᵀKW + KWWᵀW)]^(1/3), under which the objective never rises. K must not have negative entries. It may be
    indefinite, as the adjacency of a graph is: ½ tr K − tr WᵀKW + ½ tr WᵀKW WᵀW is minimised, which may be negative.

    References
    ----------
    QNMF: Z. Yang, E. Oja. Quadratic nonnegative matrix factorization. Pattern Recognition, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import KernelPNMF
    >>> angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    >>> rings = np.vstack([r * np.column_stack([np.cos(angle), np.sin(angle)]) for r in (1, 5)])
    >>> KernelPNMF(2, random_state=0).fit_predict(rings).reshape(2, 40).std(axis=1)
    array([0., 0.])
    """

    kernel: Kernel = "local"
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1
    kernel_params: KernelParams = None

    _auto_init: ClassVar[str | tuple[Start, ...]] = (NNDSVDA, Named("kmeans"))
    _paper: ClassVar[Procedure] = Procedure(Multiplicative())
    _reconstructs: ClassVar[bool] = False

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

    def _read_to_fit(self, X: Any, sample_weight: Any = None, weights: Any = None) -> Data:
        return read_data(Gram(super()._read_to_fit(X, sample_weight, weights).itself(), checked=False))

    def _error(self, X: Data, solution: Solution) -> float:
        if solution.objective < -_ROUNDING * X.namespace.eps * X.power_sum(2):
            return math.nan
        return super()._error(X, solution)

    @with_library
    @with_sample_names
    def transform(self, X: Any) -> np.ndarray:
        """The products of samples with the components, K(X, X_fit) W, (n_samples, n_components).

        Parameters
        ----------
        X : array or sparse array
            Of features, as in `fit`; if it is precomputed, the kernel between the samples and those that were fitted.
        """
        check_is_fitted(self)
        K = self._similarities(self._read(X, reset=False), self.X_fit_)
        return np.asarray(K @ self.factors_["W"])


_ROUNDING = 1e4
"""Epsilons of tr K by which the objective of a positive semi-definite kernel may fall below zero."""
