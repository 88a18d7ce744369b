"""X ≈ W H: the factorization of Lee and Seung, with any divergence, and with a penalty on the codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..constraints import Constraint, Free, PartlyFixed, Sparse, Unit
from ..divergences import get_divergence
from ..exceptions import IncompatibleError, is_number, is_one_of, unknown
from ..model import Model
from ..solve.solvers import Multiplicative
from ..solve.starts import Start
from ..solve.strategy import NNDSVDA
from ._base import Factorizer
from ._biclustering import Coclusters
from ._fixed import read_fixed_components
from ._minibatches import MiniBatches
from ._parameters import Procedure
from .annotations import Divergence
from .docstrings import documented
from .shareable import understands

_RULES, _DIVERGENCE = Procedure(Multiplicative()), Procedure(Multiplicative(basis="H"))
"""The papers' protocols: alternating rules; PNMF Eq. 6 and 7, whose basis sums to one."""


@documented
@understands(beta_loss="divergence")
@dataclass(eq=False, repr=False, kw_only=True)
class NMF(Coclusters, MiniBatches, Factorizer):
    r"""Non-negative matrix factorization, X ≈ W H.

    Samples as sums of parts. Choose it if parts may overlap and the error matters most; it takes any divergence.

    .. math:: \min_{W, H \ge 0} D(X \| W H)

    Each sample (row of X) is a sum of components (rows of H), as much of each as its code (row of W) says. `fit_transform` equals
    `fit` and then `transform`: codes are always those that fit the final components best. As a co-clusterer, it has samples and
    features in pairs of clusters, one for each component: `row_labels_`, `column_labels_`, and `predict` for new samples.

    Parameters
    ----------
    solver : {"auto", "paper", "coordinate", "newton", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "coordinate" for the Euclidean distance, "newton" for I-, α- and β-divergences up to
        β = 1, "quasi-newton" for the others, "adaptive" with constraints that tie entries together. "paper" is
        the papers' own protocol: the multiplicative rule from a random start. "multiplicative" is the rule with
        the exponent that the theory proves; "adaptive" increases it while the objective falls; "coordinate" takes
        exact steps in one entry after the other, "newton" the next best; "quasi-newton" learns from its last steps
        (L-BFGS); or an object of `nonneg.solvers`.
    fixed_components : array of shape (n_fixed, n_features), default=None
        Components that are known and stay as they are; those that are learned come after them. n_components counts
        both; with "auto" there are the fixed ones only, and codes are learned.
    alpha_W : float, default=0.0
        The penalty on codes, as in scikit-learn: the objective gains `alpha_W` · n_features · (`l1_ratio` ΣW +
        ½ (1 − `l1_ratio`) ‖W‖²). `transform` has it too.
    alpha_H : float or "same", default="same"
        The penalty on components, likewise, times n_samples. "same" is that of `alpha_W`.
    l1_ratio : float, default=0.0
        The share of the sums in the penalties, from 0 (squares only) to 1 (sums only).
    norm : {"l2", "l1"}, default="l2"
        Which norm of each component is one. With "l1" components sum to one: with the I-divergence they are distributions
        of features, and codes are counts, which add up to those of the sample.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The parts that samples are made of, one in each row, each of norm one, as `norm` says: W and H are known up to the
        scale of each component, and codes take it up. Components of zeros stay so; with penalties, with `fixed_components`, and
        with factors that are given and ``max_iter=0``, all are as they are.

    See Also
    --------
    OPNMF : Parts that hardly overlap.
    ConsensusNMF : Components that many runs agree on.
    NonnegativeSparseCoding : A penalty on codes.
    nonneg.selection.rank_scan : Chooses the number of components.

    Notes
    -----
    With the Euclidean distance and ``solver="multiplicative"`` or ``"paper"`` the rule is that of Lee and Seung, W ∘ XHᵀ/(WHHᵀ) and
    H ∘ WᵀX/(WᵀWH): ONL Eq. 25, NNP Eq. 32–33, FONT Eq. 2–3, and scikit-learn's ``solver="mu"``. With the I-divergence
    ``solver="paper"`` is PNMF Eq. 6–7: H first, its rows divided by their sums, then W; "multiplicative" has the same rules
    with their denominators, W first, as scikit-learn. In the papers X is transposed, their W is Hᵀ here. Other
    divergences: QNMF Theorem 1.

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
    >>> from nonneg import NMF
    >>> X = np.random.default_rng(0).random((20, 3)) @ np.random.default_rng(1).random((3, 8))
    >>> model = NMF(3, random_state=0).fit(X)
    >>> bool(model.reconstruction_err_ < 0.02 * np.linalg.norm(X))
    True
    """

    divergence: Divergence = "euclidean"
    fixed_components: ArrayLike | None = None
    alpha_W: float = 0.0  # noqa: N815 (scikit-learn's name)
    alpha_H: float | str = "same"  # noqa: N815
    l1_ratio: float = 0.0
    norm: str = "l2"

    _auto_init: ClassVar[str | tuple[Start, ...]] = (NNDSVDA,)
    _is_paired: ClassVar[bool] = True
    _streams = property(lambda self: not any(self._alphas()))

    @property
    def _norm(self) -> str:  # type: ignore[override]
        return self.norm

    def _check_numbers(self) -> None:
        super()._check_numbers()
        if not is_one_of(self.norm, ("l1", "l2")):
            raise unknown("norm", self.norm, ("l2", "l1"))

    @property
    def _paper(self) -> Procedure:  # type: ignore[override]
        """The printed rules; with the I-divergence, and nothing else to keep, the printed iteration."""
        is_printed = get_divergence(self.divergence).is_poisson and self.fixed_components is None and not any(self._alphas())
        return _DIVERGENCE if is_printed else _RULES

    def _model(self) -> Model:
        return self._model_of((1, 1))

    def _model_of(self, shape: tuple[int, int]) -> Model:
        W, H = (self._penalty(alpha * size) for alpha, size in zip(self._alphas(), shape[::-1], strict=True))
        if self.fixed_components is not None:
            H = PartlyFixed(read_fixed_components(self.fixed_components), "rows", H)
        return Model("W H", self.divergence, {"W": W, "H": H})

    def _alphas(self) -> tuple[float, float]:
        """The weights of both penalties, checked."""
        alphas = self.alpha_W, self.alpha_W if isinstance(self.alpha_H, str) and self.alpha_H == "same" else self.alpha_H
        for name, value in zip(("alpha_W", "alpha_H"), alphas, strict=True):
            if isinstance(value, str) or not is_number(value) or value < 0:
                same = ", or 'same'" if name == "alpha_H" else ""
                raise IncompatibleError(f"{name} must be a number that is not negative{same}; got {value!r}.")
        if not is_number(self.l1_ratio) or not 0 <= self.l1_ratio <= 1:
            raise IncompatibleError(f"l1_ratio must be a number from 0 to 1; got {self.l1_ratio!r}.")
        return float(alphas[0]), float(alphas[1])

    def _penalty(self, alpha: float) -> Constraint:
        return Sparse(alpha * self.l1_ratio, alpha * (1 - self.l1_ratio)) if alpha else Free()

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        return {"H": array}


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class NonnegativeSparseCoding(Factorizer):
    r"""Non-negative sparse coding (NNSC), X ≈ W H with few entries of W that matter.

    NMF with L1 regularization of the codes. Choose it if each sample should be made of few components.

    .. math:: \min_{W, H \ge 0} \tfrac12 \|X - W H\|^2 + \alpha \sum_{ik} W_{ik} \quad \text{with rows of } H \text{ of length } 1

    Parameters
    ----------
    solver : {"auto", "paper", "coordinate", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "coordinate" for the Euclidean distance, "quasi-newton" for other divergences, "adaptive" with
        constraints. "paper" is the papers' own protocol: the multiplicative rules from a random start.
        "multiplicative" is the rule with the exponent that the theory proves; "adaptive" increases it while the
        objective falls; "coordinate" takes exact steps in one entry after the other; "quasi-newton" learns from
        its last steps (L-BFGS); or an object of `nonneg.solvers`.
    tol : float, default=2e-6
        A run has converged when ten iterations change the objective by no more than `tol` times its value, or when
        its extrapolated remaining decrease is at most 600 · `tol` of it (and at most 0.6 %); more iterations
        confirm it, and the point is nearly stationary. 0 runs to `max_iter`. It is smaller than elsewhere, for this
        objective falls in steps with plateaus between them.
    alpha : float, default=0.1
        The penalty on a unit of code. It has the scale of X: one that makes codes sparse for pixels from 0 to 255
        empties them for pixels from 0 to 1.

    See Also
    --------
    NMF : Without a penalty.
    nonneg.constraints.Sparse : The penalty.

    Notes
    -----
    P. Hoyer, Non-negative sparse coding, 2002; the rival of PNMF in PNMF §6.2. The rules are W ∘ XHᵀ/(WHHᵀ + α), Hoyer's, and for
    H the multiplicative one that respects the lengths (`nonneg.constraints.Unit`) in place of Hoyer's projected gradient.

    References
    ----------
    PNMF: Z. Yuan, Z. Yang, E. Oja. Projective nonnegative matrix factorization: sparseness, orthogonality, and clustering.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NonnegativeSparseCoding
    >>> X = np.random.default_rng(0).random((30, 12))
    >>> cheap, dear = (NonnegativeSparseCoding(4, alpha=a, random_state=0).fit_transform(X) for a in (0.01, 1.0))
    >>> bool(dear.sum() < cheap.sum())
    True
    """

    alpha: float = 0.1
    tol: float = 2e-6

    _paper: ClassVar[Procedure] = Procedure(Multiplicative())
    _auto_init: ClassVar[str | tuple[Start, ...]] = (NNDSVDA,)

    def _model(self) -> Model:
        if not is_number(self.alpha) or self.alpha < 0:
            raise IncompatibleError(f"alpha must be a number that is not negative; got {self.alpha!r}.")
        return Model("W H", "euclidean", {"W": Sparse(self.alpha), "H": Unit("rows")})

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        return {"H": array}
