"""Samples and features clustered at once: Bi-QNMF and BiOR-NM3F."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from ..data import Data
from ..exceptions import ShapeError
from ..model import Model
from ..solve.initialization.coclusters import without_weights
from ..solve.solution import Solution
from ..solve.solvers import Multiplicative
from ..solve.starts import Named, Start
from ._base import Factorizer
from ._biclustering import Coclusters, OrthogonalCoclusters
from ._parameters import Procedure
from .annotations import Divergence, Rank
from .docstrings import documented


@dataclass(eq=False, repr=False)
class _TwoWay(Coclusters, Factorizer):
    """Base of both: two numbers of clusters, and starts from clusters of samples and of features.

    Parameters
    ----------
    n_clusters : int or pair of int, default=3
        How many clusters of samples and how many of features; one int is for both.
    init
        How to start. "auto" is "coclusters", clusters of samples and of features found together. An array is not
        possible here; a dict gives factors by name, the others are drawn at random. Zeros in them become a
        thousandth of the mean, from which they can come back.
    """

    n_clusters: Rank = 3
    _: KW_ONLY
    divergence: Divergence = "kullback-leibler"
    n_components: ClassVar[Any] = None  # type: ignore[misc]

    _auto_init: ClassVar[str | tuple[Start, ...]] = (Named("coclusters"),)
    _clustered: ClassVar[tuple[int, ...]] = (0, 1)

    def _rank(self, shape: tuple[int, int]) -> tuple[int, int]:
        given = self.n_clusters
        pair = (given, given) if isinstance(given, Integral) else given
        if (
            not isinstance(pair, Sequence | np.ndarray)
            or isinstance(pair, str)
            or len(pair) != 2
            or not all(isinstance(k, Integral) and not isinstance(k, bool) and int(k) >= 1 for k in pair)
        ):
            raise ShapeError(
                f"n_clusters must be an int, or a pair of ints of at least 1 (clusters of samples, of features); got {given!r}."
            )
        for count, size, what in zip(pair, shape, ("samples", "features"), strict=True):
            if count > size:
                raise ShapeError(f"n_clusters={given}: {count} clusters cannot be made of {size} {what}. Use at most as many.")
        return int(pair[0]), int(pair[1])


@documented
@dataclass(eq=False, repr=False)
class BiQNMF(_TwoWay):
    r"""Two-way clustering by quadratic non-negative matrix factorization, X ≈ L Lᵀ X R Rᵀ.

    Clusters of samples and of features at once. Choose it for blocks in counts and tables; it has the fewest factors to learn.

    .. math:: \min_{L, R \ge 0} D(X \| L L^T X R R^T)

    L groups samples and R features; the blocks, LᵀXR, follow from them.

    Parameters
    ----------
    solver : {"auto", "paper", "coordinate", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "coordinate" for the Euclidean distance, "quasi-newton" for other divergences, "adaptive" with
        constraints. "paper" is the papers' own protocol: the multiplicative rules with proven exponents, from a
        random start. "multiplicative" is the rule with the exponent that the theory proves; "adaptive" increases
        it while the objective falls; "coordinate" takes exact steps in one entry after the other; "quasi-newton"
        learns from its last steps (L-BFGS); or an object of `nonneg.solvers`.
    divergence : str, float or Objective, default="kullback-leibler"
        How X and its approximation are compared: a name such as "euclidean", "kullback-leibler" or
        "itakura-saito"; a number b for ``Beta(b)``, numbered as scikit-learn's ``beta_loss``; or an object of
        `nonneg.divergences`.

    Attributes
    ----------
    components_ : array of shape (k, n_features)
        LᵀXRRᵀ: the centroids of the clusters of samples.
    factors_ : dict of arrays
        "L" (n_samples, k) and "R" (n_features, l).

    See Also
    --------
    BiORNM3F : Co-clusters with three factors.
    ProjectiveClustering : Clusters of samples alone.
    nonneg.coclusters.block_means : Means of blocks.

    Notes
    -----
    QNMF §5.2. From random starts the objective is on a plateau for thousands of iterations; the default start, from clusters of
    samples and of features, is not. With the I-divergence and sparse X an iteration costs O(nnz · r).

    Columns of L and R have weights, so that a cluster is a line through the origin: blocks of rows, or columns, that are multiples
    of each other are one cluster to it. From the default start, if weights explain no more of X than noise would, `row_labels_`
    and `column_labels_` go by clusters of equal rows and columns: each goes to the cluster whose means it is closest to, in turn,
    beginning with the factors' labels. `predict` always follows the factors.

    References
    ----------
    QNMF: Z. Yang, E. Oja. Quadratic nonnegative matrix factorization. Pattern Recognition, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import BiQNMF
    >>> X = np.random.default_rng(0).poisson(np.kron([[9, 1, 4], [2, 6, 8]], np.ones((20, 10)))).astype(float)
    >>> model = BiQNMF((2, 3), random_state=0).fit(X)
    >>> model.row_labels_.reshape(2, 20).std(axis=1), model.column_labels_.reshape(3, 10).std(axis=1)
    (array([0., 0.]), array([0., 0., 0.]))
    """

    _paper: ClassVar[Procedure] = Procedure(Multiplicative())

    def _model(self) -> Model:
        return Model("L L.T X R R.T", self.divergence)

    def _keep(self, X: Data, solution: Solution) -> None:
        super()._keep(X, solution)
        if self._starts_from_coclusters:
            labels = [self.row_labels_, self.column_labels_]
            self.row_labels_, self.column_labels_ = without_weights(X, labels, self._shape, solution.model.divergence)

    @property
    def _starts_from_coclusters(self) -> bool:
        """Whether the start may have equal rows or columns; a given start fixes the clusters."""
        return isinstance(self._init, str) and (
            self._init == "coclusters" or (self._init == "auto" and not (isinstance(self.solver, str) and self.solver == "paper"))
        )


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class BiORNM3F(OrthogonalCoclusters, _TwoWay):
    r"""Bi-orthogonal three-factor non-negative matrix factorization, X ≈ L S Rᵀ with LᵀL = I and RᵀR = I.

    Clusters of samples and of features at once, with the matrix of blocks S. Choose it over `BiQNMF` to have S, or
    orthogonal factors.

    .. math:: \min_{L, S, R \ge 0} D(X \| L S R^T) \quad \text{with } L^T L = I, R^T R = I

    Parameters
    ----------
    solver : {"auto", "paper", "coordinate", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "adaptive", with S fitted once more at the end; with the Euclidean distance, lengths are kept at
        one. "paper" is the papers' own protocol: exponent ½, from a random start. "multiplicative" is the rule
        with the exponent that the theory proves; "adaptive" increases it while the objective falls; "coordinate"
        takes exact steps in one entry after the other; "quasi-newton" learns from its last steps (L-BFGS); or an
        object of `nonneg.solvers`.

    Attributes
    ----------
    orthogonality_ : dict of Orthogonality
        For each orthogonal factor, how orthogonal it came out: ``rho`` (NNP Eq. 65, 1 is best) and ``error``
        (PNMF Eq. 38, 0 is best).
    components_ : array of shape (k, n_features)
        S Rᵀ: the centroids of the clusters of samples.
    factors_ : dict of arrays
        "L" (n_samples, k), "S" (k, l) and "R" (n_features, l).

    See Also
    --------
    BiQNMF : Both sides by one projection each, without weights between.
    ONMTF : Three orthogonal factors.
    nonneg.coclusters.block_means : Means of blocks.

    Notes
    -----
    Ding et al. 2006, with exponent ½; for the I-divergence QNMF §5.2 (BiOR-NM3F-I), which says that it tends to a uniform S.
    `ONMTF` is the same model with FONT's rules.

    References
    ----------
    PNMF: Z. Yuan, Z. Yang, E. Oja. Projective nonnegative matrix factorization: sparseness, orthogonality, and clustering.
    NNP: Z. Yang, J. Laaksonen. Multiplicative updates for non-negative projections. Neurocomputing 71, 2007.
    QNMF: Z. Yang, E. Oja. Quadratic nonnegative matrix factorization. Pattern Recognition, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import BiORNM3F
    >>> X = np.random.default_rng(0).poisson(np.kron([[9, 1, 4], [2, 6, 8]], np.ones((20, 10)))).astype(float)
    >>> BiORNM3F((2, 3), random_state=0).fit(X).factors_["S"].shape
    (2, 3)
    """

    divergence: Divergence = "euclidean"

    _paper: ClassVar[Procedure] = Procedure(Multiplicative(exponent=0.5))

    def _model(self) -> Model:
        return Model("L S R.T", self.divergence, {"L": self._orthogonal_to("columns"), "R": self._orthogonal_to("columns")})
