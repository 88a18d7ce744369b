"""PNMF on the transposed problem: samples grouped, rather than features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ..constraints import unit_length
from ..data import Data, lazily
from ..exceptions import ShapeError
from ..model import Model
from ..solve.solution import Solution
from ..solve.solvers import Multiplicative
from ._base import Factorizer
from ._libraries import with_library
from ._naming import with_sample_names
from ._parameters import Procedure
from .annotations import Divergence
from .docstrings import documented


@documented
@dataclass(eq=False, repr=False)
class ProjectiveClustering(ClusterMixin, Factorizer):
    r"""Soft clusters of samples by projective non-negative matrix factorization, X ≈ W WᵀX.

    Clusters of samples, with shares. Choose it in place of K-means if samples may belong to several clusters.

    .. math:: \min_{W \ge 0} D(X \| W W^T X)

    With orthonormal indicators in place of W this is the objective of K-means (PNMF Eq. 32–34); with W ≥ 0, samples may belong to
    several clusters. `predict` gives new samples the cluster whose centroid makes up most of them; for the samples of `fit`
    itself, `labels_` are those of the fit; `predict` may differ for samples between clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, the rank of W.
    init
        How to start. "auto" is "kmeans", clusters of samples. An array is the memberships to start from,
        (n_samples, n_clusters); a dict gives factors by name, the others are drawn at random. Zeros in them
        become a thousandth of the mean, from which they can come back.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
    memberships_ : array of shape (n_samples, n_clusters)
        How much of each sample is in each cluster: the rows of W, divided by their sums.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Means of the samples, weighted by W: the soft centroids of PNMF §5.
    components_ : array of shape (n_clusters, n_features)
        WᵀX: the centroids in the scale in which W WᵀX approximates X.

    See Also
    --------
    KernelPNMF : With kernels.
    nonneg.graph.GraphClustering : Vertices of a graph.
    nonneg.metrics.purity : Compares clusters with classes.

    Notes
    -----
    PNMF §5. The rules are those of `PNMF` for the transpose of X. `labels_` are the largest entries of the rows of W.

    References
    ----------
    PNMF: Z. Yuan, Z. Yang, E. Oja. Projective nonnegative matrix factorization: sparseness, orthogonality, and clustering.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import ProjectiveClustering
    >>> X = np.kron(np.eye(3), np.ones((10, 4))) + 0.1 * np.random.default_rng(0).random((30, 12))
    >>> ProjectiveClustering(3, random_state=0).fit_predict(X).reshape(3, 10).std(axis=1)
    array([0., 0., 0.])
    """

    n_clusters: int = 8
    _: KW_ONLY
    divergence: Divergence = "euclidean"
    n_components: ClassVar[Any] = None  # type: ignore[misc]

    _paper: ClassVar[Procedure] = Procedure(Multiplicative(exponent=1, rescale=True))
    _clustered: ClassVar[tuple[int, ...]] = (0,)
    _reconstructs: ClassVar[bool] = False

    def _model(self) -> Model:
        return Model("W W.T X", self.divergence)

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        return {"W": array}

    def _rank(self, shape: tuple[int, int]) -> int:
        k = self.n_clusters
        if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
            raise ShapeError(f"n_clusters must be an int of at least 1; got {k!r}.")
        if k > shape[0]:
            raise ShapeError(f"n_clusters={k} clusters cannot be made of n_samples={shape[0]}. Use at most as many.")
        return int(k)

    def _keep(self, X: Data, solution: Solution) -> None:
        super()._keep(X, solution)
        W = solution.factors["W"]
        self.labels_, self.memberships_ = labelled(W, X, self.components_.T), _shares(W)
        sums = W.sum(axis=0)
        self.cluster_centers_ = np.asarray(X.apply(W / np.where(sums > 0, sums, 1), transposed=True), dtype=W.dtype).T

    @with_library
    @with_sample_names
    def transform(self, X: Any) -> np.ndarray:
        """How much of each sample is in each cluster, (n_samples, n_clusters): shares that sum to one. Those of a Dask collection
        are one, too, and lazy.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Non-negative.
        """
        codes = self._transformed(X)
        lazy = lazily(codes, _shares, codes.shape[1], codes.dtype)
        return _shares(codes) if lazy is None else lazy

    @with_library
    def predict(self, X: Any) -> np.ndarray:
        """The cluster whose centroid makes up most of each sample.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Non-negative.
        """
        return self._codes(X).argmax(axis=1)

    @with_library
    def score(self, X: Any, y: Any = None) -> float:
        """Minus the divergence between X and its approximation by centroids, per sample; 0 is best.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        y : None
            Not used.
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        return self._score(X, self._codes_of(X))


def labelled(W: np.ndarray, X: Data, centers: np.ndarray) -> np.ndarray:
    """The largest entry of each row of W; for items that no cluster has anything of, the closest of the centres, in columns."""
    labels, left_out = W.argmax(axis=1), np.flatnonzero(~W.any(axis=1))
    if len(left_out):
        units = unit_length(np, centers / (centers.max() or 1.0), "columns")  # squares of the largest numbers are infinite
        labels[left_out] = np.asarray(X.take(left_out, axis=0) @ units).argmax(axis=1)
    return labels


def _shares(W: np.ndarray, origin: Any = None) -> np.ndarray:
    """Rows divided by their sums; a row of zeros belongs to every cluster alike. They may be a block of a collection."""
    sums = W.sum(axis=1, keepdims=True)
    return np.where(sums > 0, W / np.where(sums > 0, sums, 1), 1 / W.shape[1]).astype(W.dtype)
