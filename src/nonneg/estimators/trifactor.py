"""X ≈ W S H: samples and features grouped together, S saying how the groups go together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from ..constraints import FixedMultiplier, NearOrthogonal
from ..exceptions import ShapeError
from ..model import Model
from ..solve.solvers import AlternatingLeastSquares, Multiplicative, Solver
from ..solve.starts import Named, Start
from ..solve.strategy import FREE_SIDES
from ._base import Factorizer
from ._biclustering import Coclusters, OrthogonalCoclusters
from ._parameters import Procedure
from .annotations import Divergence
from .docstrings import documented
from .orthogonal import printed_or_adaptive


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class NMTF(Coclusters, Factorizer):
    r"""Non-negative matrix tri-factorization, X ≈ W S H.

    Groups of samples and of features, as many of each as one likes. Choose it if groups may overlap; `ONMTF` if they
    should not.

    .. math:: \min_{W, S, H \ge 0} D(X \| W S H)

    Codes are rows of W; `components_` are S H. It is a co-clusterer, too: `row_labels_`, `column_labels_`, and `predict` for new
    samples.

    Parameters
    ----------
    n_components : int, pair of int, or "auto", default="auto"
        How many groups of samples and how many of features; one int is for both. "auto" takes as many as there
        are samples or features, whichever is less.
    init
        How to start. "auto" is the best, after a short run of each, of "angular" and "kmeans", clusters of samples and of
        features, by direction and by distance, and "nndsvda"; or "random" if samples or features are too few. An array is not
        possible here; a dict gives factors by name, the others are drawn at random. Zeros in them become a
        thousandth of the mean, from which they can come back.
    solver : {"auto", "paper", "coordinate", "newton", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "coordinate" for the Euclidean distance, "newton" for I-, α- and β-divergences up to
        β = 1, "quasi-newton" for the others, "adaptive" with constraints that tie entries together. "paper" is
        the papers' own protocol: the multiplicative rules from a random start. "multiplicative" is the rule with
        the exponent that the theory proves; "adaptive" increases it while the objective falls; "coordinate" takes
        exact steps in one entry after the other, "newton" the next best; "quasi-newton" learns from its last steps
        (L-BFGS); or an object of `nonneg.solvers`.

    Attributes
    ----------
    components_ : array of shape (k, n_features)
        S H: the centroids of the groups of samples.
    factors_ : dict of arrays
        "W" (n_samples, k), groups of samples; "S" (k, l); "H" (l, n_features), groups of features.

    See Also
    --------
    ONMTF : The outer factors orthogonal.
    BiQNMF : Samples and features clustered together.

    Notes
    -----
    FONT §2; the rules are those of the engine for the form W S H, for the Euclidean distance W ∘ XHᵀSᵀ/(WSHHᵀSᵀ) and so on.

    References
    ----------
    FONT: Z. Li, X. Wu, Z. Lu. Fast orthogonal nonnegative matrix tri-factorization for simultaneous clustering. 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMTF
    >>> X = np.kron([[5, 1, 1], [1, 1, 4]], np.ones((10, 4)))  # 2 groups of samples, 3 of features, of which 2 are alike
    >>> {name: factor.shape for name, factor in NMTF((2, 3), random_state=0).fit(X).factors_.items()}
    {'W': (20, 2), 'S': (2, 3), 'H': (3, 12)}
    """

    divergence: Divergence = "euclidean"

    _paper: ClassVar[Procedure] = Procedure(Multiplicative())
    _auto_init: ClassVar[str | tuple[Start, ...]] = FREE_SIDES
    _clustered: ClassVar[tuple[int, ...]] = (0, 1)

    def _model(self) -> Model:
        return Model("W S H", self.divergence)

    def _count(self) -> Any:
        return self.factors_["S"].shape

    def _rank(self, shape: tuple[int, int]) -> tuple[int, int] | None:
        given = self.n_components
        if given is None or isinstance(given, str | Integral):
            rank = super()._rank(shape)
            return None if rank is None else (rank, rank)
        if not isinstance(given, Sequence | np.ndarray) or len(given) != 2 or not all(_is_count(k) for k in given):
            raise ShapeError(
                f"n_components must be an int, or a pair of ints of at least 1 (groups of samples, of features); got {given!r}."
            )
        return int(given[0]), int(given[1])


def _is_count(k: Any) -> bool:
    return isinstance(k, Integral) and not isinstance(k, bool) and int(k) >= 1


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class ONMTF(OrthogonalCoclusters, NMTF):
    r"""Orthogonal non-negative matrix tri-factorization, X ≈ W S H with WᵀW = I and H Hᵀ = I.

    Clusters of samples and of features at once, by orthogonal factors. Choose it for documents and words.

    .. math:: \min_{W, S, H \ge 0} D(X \| W S H) \quad \text{with } W^T W = I, H H^T = I

    Parameters
    ----------
    init
        How to start. "auto" is "coclusters", clusters of samples and of features found together; or "random"
        if samples or features are too few. An array is not possible here; a dict gives factors by name, the
        others are drawn at random. Zeros in them become a thousandth of the mean, from which they can come back.
    solver : {"auto", "paper", "coordinate", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "adaptive", with S fitted once more at the end; with the Euclidean distance, columns of W and rows of H
        have length one, and from a start other than clusters it is the printed step. "paper" is the
        papers' own protocol: exponent 1, from a random start, with a look at the objective every 100 iterations
        (the paper has `tol=0.01`). "multiplicative" is the rule with the exponent that the theory proves;
        "adaptive" increases it while the objective falls; "coordinate" takes exact steps in one entry after the
        other; "quasi-newton" learns from its last steps (L-BFGS); or an object of `nonneg.solvers`.
    orthogonality : {"soft", "rows", "polar"}, default="soft"
        Orthogonality at the end. "soft" returns the minimum of the objective: nearly orthogonal,
        never exactly, as in other OPNMF codes. "rows" keeps, of each feature, the largest
        entry only, and makes components unit length (ONL §2.4). "polar" takes W(WᵀW)^(−1/2), which is orthogonal,
        and makes its negative entries zero, after which it is nearly so. All raise the error; scale and other
        factors are fitted again.

    Attributes
    ----------
    orthogonality_ : dict of Orthogonality
        For each orthogonal factor, how orthogonal it came out: ``rho`` (NNP Eq. 65, 1 is best) and ``error``
        (PNMF Eq. 38, 0 is best).

    See Also
    --------
    NMTF : Without orthogonality.
    BiORNM3F : The same form with the exponents of QNMF.

    Notes
    -----
    FONT Eq. 11, 12 and 7 (its misprints corrected; after Ding et al. 2006): W ∘ XHᵀSᵀ/(WWᵀXHᵀSᵀ), H ∘ SᵀWᵀX/(SᵀWᵀXHᵀH), S ∘
    WᵀXHᵀ/(WᵀWSHHᵀ). In the order WWᵀ(XHᵀSᵀ) the cost is O(nnz · k), not O(m²n) as FONT says. Other divergences:
    QNMF Theorem 3.

    References
    ----------
    PNMF: Z. Yuan, Z. Yang, E. Oja. Projective nonnegative matrix factorization: sparseness, orthogonality, and clustering.
    NNP: Z. Yang, J. Laaksonen. Multiplicative updates for non-negative projections. Neurocomputing 71, 2007.
    ONL: E. Oja, Z. Yang. Orthogonal nonnegative learning for sparse feature extraction and approximate combinatorial
        optimization. 2010.
    FONT: Z. Li, X. Wu, Z. Lu. Fast orthogonal nonnegative matrix tri-factorization for simultaneous clustering. 2010.
    QNMF: Z. Yang, E. Oja. Quadratic nonnegative matrix factorization. Pattern Recognition, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import ONMTF
    >>> X = np.kron([[5, 1, 1], [1, 1, 4]], np.ones((10, 4)))
    >>> ONMTF(2, random_state=0).fit(X).factors_["W"].argmax(axis=1).tolist().count(0)
    10
    """

    orthogonality: str = "soft"

    _auto_init: ClassVar[str | tuple[Start, ...]] = (Named("coclusters"),)
    _paper: ClassVar[Procedure] = Procedure(Multiplicative(exponent=1), check_every=100, steady=math.inf)

    def _model(self) -> Model:
        return Model("W S H", self.divergence, {"W": self._orthogonal_to("columns"), "H": self._orthogonal_to("rows")})

    @property
    def _auto_solver(self) -> str:  # type: ignore[override]
        starts_from_clusters = isinstance(self._init, str) and self._init in ("auto", "coclusters")
        return super()._auto_solver if starts_from_clusters else printed_or_adaptive(self.divergence)

    def _rank(self, shape: tuple[int, int]) -> tuple[int, int] | None:
        rank = super()._rank(shape)
        for count, size, what in zip(rank or (), shape, ("samples", "features"), strict=False):
            if count > size:
                raise ShapeError(f"n_components={self.n_components}: {count} orthogonal groups of {what} cannot be made of {size}.")
        return rank


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class FONT(ONMTF):
    r"""Fast orthogonal non-negative matrix tri-factorization, X ≈ W S H.

    Clusters of samples and of features at once, with a fixed weight on orthogonality. Choose it for a closer fit than
    `ONMTF`'s, with clusters that overlap more.

    .. math:: \min_{W, S, H \ge 0} \tfrac12 \|X - W S H\|^2 \quad \text{with } W^T W \approx I, H H^T \approx I

    Parameters
    ----------
    solver : {"auto", "paper", "als", "multiplicative", "adaptive", "quasi-newton"} or Solver, default="auto"
        "auto" is "quasi-newton", with S fitted once more at the end. "paper" is the papers' own protocol: the
        multiplicative rules from a random start, with a look at the objective every 100 iterations (the paper has
        `tol=0.01`). "als" solves for H by least squares. "multiplicative" is
        the rule with the exponent that the theory proves; "adaptive" increases it while the objective falls;
        "coordinate" takes exact steps in one entry after the other; "quasi-newton" learns from its last steps
        (L-BFGS); or an object of `nonneg.solvers`.

    See Also
    --------
    ONMTF : Three factors, the outer two orthogonal.
    NMTF : Three factors without a constraint.

    Notes
    -----
    FONT Eq. 16, 17 and 7: the multipliers of orthogonality are not eliminated but set to −I, W ∘ (XHᵀSᵀ + W)/(WSHHᵀSᵀ) and
    likewise H, with columns of W and rows of H brought to unit length after every step, without which there is no minimum. With
    ``solver="als"`` H, the factor of the features (the paper's W, of words), is solved for by least squares, FONT Eq. 21,
    negative entries made zero. As printed, neither lowers the objective in every step. The weight of orthogonality has the scale
    of X: for small X it rules.

    References
    ----------
    PNMF: Z. Yuan, Z. Yang, E. Oja. Projective nonnegative matrix factorization: sparseness, orthogonality, and clustering.
    NNP: Z. Yang, J. Laaksonen. Multiplicative updates for non-negative projections. Neurocomputing 71, 2007.
    ONL: E. Oja, Z. Yang. Orthogonal nonnegative learning for sparse feature extraction and approximate combinatorial
        optimization. 2010.
    FONT: Z. Li, X. Wu, Z. Lu. Fast orthogonal nonnegative matrix tri-factorization for simultaneous clustering. 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import FONT
    >>> X = np.kron([[5, 1, 1], [1, 1, 4]], np.ones((10, 4)))
    >>> FONT((2, 2), solver="als", random_state=0).fit(X).factors_["W"].argmax(axis=1).tolist().count(0)
    10
    """

    divergence: ClassVar[str] = "euclidean"  # type: ignore[misc]

    _paper: ClassVar[Procedure] = Procedure(Multiplicative(exponent=1), check_every=100, steady=math.inf)
    _auto_solver: ClassVar[str] = "quasi-newton"
    """Lengths are set anew after each step, and the rule itself may take thousands if clusters overlap."""

    def _model(self) -> Model:
        H = NearOrthogonal("rows") if self._is_als else FixedMultiplier("rows")
        return Model("W S H", "euclidean", {"W": FixedMultiplier("columns"), "H": H})

    @property
    def _is_printed(self) -> bool:
        return super()._is_printed or self._is_als

    @property
    def _is_als(self) -> bool:
        return isinstance(self.solver, str) and self.solver == "als"

    def _get_solver(self) -> tuple[str | Solver, Procedure]:
        if self._is_als:
            solver = AlternatingLeastSquares(("H",))
            return solver, Procedure(solver, self._auto_init)
        return super()._get_solver()
