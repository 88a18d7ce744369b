"""X ≈ X W Wᵀ: samples projected onto few components, which hardly overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..constraints import Constraint, Free, Orthogonal, PartlyFixed
from ..exceptions import ShapeError
from ..kernels.namespace import to_host
from ..metrics.labels import hard_labels
from ..model import Model
from ..solve.solvers import Multiplicative
from ..solve.starts import Start
from ..solve.strategy import SEARCH
from ._base import Factorizer
from ._fixed import read_fixed_components
from ._online import OnlineMixin
from ._parameters import Procedure
from .annotations import Divergence
from .docstrings import documented


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class PNMF(OnlineMixin, Factorizer):
    r"""Projective non-negative matrix factorization, X ≈ X W Wᵀ.

    Sparse parts, and codes of new samples by one product. Choose it over `NMF` for parts that hardly overlap; `NMF` has
    the lower error.

    .. math:: \min_{W \ge 0} D(X \| X W W^T)

    One factor in place of two: codes are X W, for new samples as for old, and `fit_transform` equals `fit` and then `transform`.
    Components (columns of W) come out sparse and nearly orthogonal: each feature belongs to one of them, nearly.

    Parameters
    ----------
    init
        How to start. "auto" is a search with the Euclidean distance: from a random start, components are merged
        and begun anew as long as that leads lower; with other divergences the best, after a short run of each, of
        three "angular" starts and one from "kmeans", clusters of features. An array is the components to start
        from, (n_components, n_features); a dict gives factors by name, the others are drawn at random. Zeros in
        them become a thousandth of the mean, from which they can come back.
    fixed_components : array of shape (n_fixed, n_features), default=None
        Components that are known and stay as they are; those that are learned come after them. n_components counts
        both, and must be given. They act as X w wᵀ, so they should have unit length.
    forgetting : float, default=0.6
        Of `partial_fit` if both sides of the rule are averaged (``solver="paper"``, and divergences other than the Euclidean
        distance): a batch counts by this power of its share of all samples seen. 0 is the printed step, NNP Eq. 38, which
        forgets earlier batches; 1 is the plain mean.

    Attributes
    ----------
    labels_ : array of shape (n_features,)
        The component that has most of each feature; −1 for features that none has. If components do not overlap, all that there
        is to them: a partition of the features.
    sizes_ : array of shape (n_components,)
        How many features each component has, by `labels_`.

    See Also
    --------
    OPNMF : Components that are orthogonal.
    KernelPNMF : Samples given by similarities.
    NMF : The lower error, components that overlap.

    Notes
    -----
    In the papers X is transposed, X ≈ W WᵀX. Euclidean: W ∘ 2KW/(WWᵀKW + KWWᵀW), K the products of features; PNMF Eq. 20, NNP Eq.
    36. With ``solver="paper"`` the exponent is 1, and W is rescaled after each step (PNMF Eq. 21); ``"multiplicative"`` has the
    exponent 1/3 under which the objective never rises (QNMF §5.1). I-divergence: PNMF Eq. 29 and 30, ONL Eq. 34. Other
    divergences: QNMF Eq. 9, Table 1.

    References
    ----------
    PNMF: Z. Yuan, Z. Yang, E. Oja. Projective nonnegative matrix factorization: sparseness, orthogonality, and clustering.
    NNP: Z. Yang, J. Laaksonen. Multiplicative updates for non-negative projections. Neurocomputing 71, 2007.
    ONL: E. Oja, Z. Yang. Orthogonal nonnegative learning for sparse feature extraction and approximate combinatorial
        optimization. 2010.
    QNMF: Z. Yang, E. Oja. Quadratic nonnegative matrix factorization. Pattern Recognition, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import PNMF
    >>> X = np.random.default_rng(0).random((50, 3)) @ np.kron(np.eye(3), np.ones(4))  # three parts of four features each
    >>> model = PNMF(3, random_state=0).fit(X)
    >>> bool(np.allclose(model.inverse_transform(model.transform(X)), X, atol=1e-2))
    True
    """

    divergence: Divergence = "euclidean"
    fixed_components: ArrayLike | None = None
    forgetting: float = 0.6

    _paper: ClassVar[Procedure] = Procedure(Multiplicative(exponent=1, rescale=True))
    _auto_init: ClassVar[str | tuple[Start, ...]] = SEARCH
    _too_many: ClassVar[str] = (
        "n_components={rank} is more than the {n_features} features of X: with as many components as features, W Wᵀ is the "
        "identity, each feature its own component. Use at most {n_features}."
    )

    def _constraint(self) -> Constraint:
        return Free()

    def _model(self) -> Model:
        constraint = self._constraint()
        constraint = constraint if self.fixed_components is None else self._with_fixed(constraint)
        return Model("X W W.T", self.divergence, {"W": constraint})

    def _with_fixed(self, constraint: Constraint) -> Constraint:
        """The constraint of learned components, beside fixed ones."""
        return PartlyFixed(read_fixed_components(self.fixed_components).T, "columns", constraint)

    def _check_shapes(self, X: Any, model: Model, rank: int, init: Any) -> None:
        super()._check_shapes(X, model, rank, init)
        count = np.shape(init["W"])[1] if rank is None else rank
        if count > X.shape[1]:
            raise ShapeError(self._too_many.format(rank=count, n_features=X.shape[1]))
        if self.fixed_components is not None and len(read_fixed_components(self.fixed_components)) == rank:
            raise ShapeError(
                f"fixed_components gives all {rank} components, which leaves none to learn. Give n_components above {rank}: "
                "it counts fixed and learned ones."
            )

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        return {"W": array.T}

    @property
    def labels_(self) -> np.ndarray:
        """The component that has most of each feature; −1 for features that none has."""
        check_is_fitted(self)
        return hard_labels(to_host(self.components_))

    @property
    def sizes_(self) -> np.ndarray:
        """How many features each component has, by `labels_`."""
        labels = self.labels_
        return np.bincount(labels[labels >= 0], minlength=len(self.components_))


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class OPNMF(PNMF):
    r"""Orthogonal projective non-negative matrix factorization, X ≈ X W Wᵀ with W nearly orthogonal. Also known as NLHN.

    It minimises the objective of `PNMF`, without the constraint WᵀW = I, and measures how orthogonal W is (`orthogonality_`):

    .. math:: \min_{W \ge 0} D(X \| X W W^T)

    Its minima are nearly orthogonal. X W Wᵀ is the sum of the projections onto the components; the share common to two of them is
    counted twice; entries of W ≥ 0 cannot cancel that, so it costs least if components hardly overlap. WᵀW = I is enforced in
    two cases: by `orthogonality`, on that minimum, and, as far as they go, by the papers' rules, with any other `solver`.

    Parts that hardly overlap, such as regions of the brain, onto which X is projected with the least loss. Choose it if each
    feature should belong to one part and new samples should have codes by one product; choose `NMF` if parts may overlap.

    Codes are X W. OPNMF and NLHN (Non-negative Linear Hebbian Network) are the same rule under two names: ONL Eq. 31 is NNP Eq.
    40. The `opnmf` package (and its MATLAB and R kin) takes the transpose of this X: here samples are rows, as
    everywhere in scikit-learn, and the components are maps over features (voxels).

    Parameters
    ----------
    solver : {"auto", "paper", "coordinate", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" minimises without WᵀW = I, by the solver of `PNMF`: "coordinate" for the Euclidean distance,
        "quasi-newton" for other divergences. All others take steps with the multipliers of WᵀW = I, as
        `model_` says. "paper" is the papers' own protocol: exponent 1 and spectral norm one after each step, from a random
        start. "multiplicative" is the rule with the exponent that the theory proves; "adaptive" increases it while
        the objective falls; "quasi-newton" learns from its last steps (L-BFGS); or an object of `nonneg.solvers`.
        "coordinate" is refused: WᵀW = I ties entries together.
    tol : float, default=1e-5
        A run has converged when ten iterations change the objective by no more than `tol` times its value, or when
        its extrapolated remaining decrease is at most 600 · `tol` of it (and at most 0.6 %); more iterations
        confirm it, and the point is nearly stationary. With ``solver="paper"``: when one iteration
        changes W by no more than `tol` times its norm. 0 runs to `max_iter`.
    orthogonality : {"soft", "exact", "rows", "polar"} or a number from 0 to 1, default="soft"
        How WᵀW = I is enforced on the minimum of `model_`. "soft" does nothing: W is nearly orthogonal, never
        exactly, as in other OPNMF codes. "exact" finds components that do not overlap
        at all, each feature being in one: K-lines, from the soft solution (Euclidean only). A number is a penalty
        on overlap, from 0, "soft", to 1, "exact", through which all degrees between them are reached. "rows"
        keeps, of each feature, the largest entry only, and makes components unit length (ONL §2.4). "polar" takes
        W(WᵀW)^(−1/2), which is orthogonal, and makes its negative entries zero, after which it is nearly so. All
        raise the error; scale and other factors are fitted again.

    Attributes
    ----------
    orthogonality_ : dict of Orthogonality
        For each orthogonal factor, how orthogonal it came out: ``rho`` (NNP Eq. 65, 1 is best) and ``error``
        (PNMF Eq. 38, 0 is best).

    See Also
    --------
    PNMF : Without orthogonality as a condition.
    NMF : The lower error, components that overlap.
    nonneg.neuro.OPNMFParcellation : Of brain images.
    nonneg.selection.rank_scan : Chooses the number of components.

    Notes
    -----
    The papers' rule is W ∘ KW/(WWᵀKW), with exponent 1 in print. It is not derived from one objective: at its end, neither the
    error nor the orthogonality is at its best. So ``solver="auto"`` does not run it. It runs `PNMF`, with the same result to the
    bit, which ends lower and *more* orthogonal (see the table in evidence/estimators). ``solver="paper"`` is the rule as printed
    and as the codes run it: exponent 1, W divided by its largest singular value, entries kept above 1e-16, from a random start; it
    stops when ‖ΔW‖ < tol ‖W‖, and 1e-5 is the codes' own. I-divergence: ONL Eq. 35. Other divergences: QNMF Theorem 3.

    References
    ----------
    PNMF: Z. Yuan, Z. Yang, E. Oja. Projective nonnegative matrix factorization: sparseness, orthogonality, and clustering.
    NNP: Z. Yang, J. Laaksonen. Multiplicative updates for non-negative projections. Neurocomputing 71, 2007.
    ONL: E. Oja, Z. Yang. Orthogonal nonnegative learning for sparse feature extraction and approximate combinatorial
        optimization. 2010.
    QNMF: Z. Yang, E. Oja. Quadratic nonnegative matrix factorization. Pattern Recognition, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import OPNMF
    >>> X = np.random.default_rng(0).random((50, 3)) @ np.kron(np.eye(3), np.ones(4))
    >>> OPNMF(3, orthogonality="rows", random_state=0).fit(X).orthogonality_["W"].rho
    1.0
    """

    orthogonality: str | float = "soft"

    _paper: ClassVar[Procedure] = Procedure(Multiplicative(exponent=1, floor=1e-16), stops_on_step=True)
    _too_many: ClassVar[str] = (
        "n_components={rank} orthogonal components do not fit into {n_features} features: each feature can belong to one of them. "
        "Use at most {n_features}."
    )

    def _constraint(self) -> Constraint:
        """WᵀW = I for the rules that have its multipliers; none with ``solver="auto"``."""
        is_auto = isinstance(self.solver, str) and self.solver == "auto"
        return Free() if is_auto else Orthogonal("columns")

    @property
    def _note(self) -> str:
        return "its minima are nearly orthogonal; WᵀW = I is not imposed" if self._constraint().is_free else ""

    def _orthogonal(self) -> dict[str, str]:
        return {"W": "columns"}
