"""X ≈ X W Wᵀ: samples projected onto few components, which hardly overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..constraints import Constraint, Free, Orthogonal, PartlyFixed
from ..engine.model import Model
from ..exceptions import ShapeError
from ..solvers import Multiplicative
from ._base import Factorizer
from ._documentation import documented
from ._fixed import read_fixed_components
from ._online import OnlineMixin
from ._parameters import Protocol


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class PNMF(OnlineMixin, Factorizer):
    r"""Projective non-negative matrix factorization, X ≈ X W Wᵀ.

    .. math:: \min_{W \ge 0} D(X \| X W W^T)

    One factor in place of two: codes are X W, for new samples as for old, and `fit_transform` equals `fit` and then `transform`.
    Components (columns of W) come out sparse and nearly orthogonal: each feature belongs to one of them, nearly.

    Notes
    -----
    In the papers X is transposed, X ≈ W WᵀX. Euclidean: W ∘ 2KW/(WWᵀKW + KWWᵀW), K the products of features; PNMF Eq. 20, NNP Eq.
    36. With ``solver="paper"`` the exponent is 1, and W is rescaled after each step (PNMF Eq. 21); ``"multiplicative"`` has the
    exponent 1/3 under which the objective never rises (QNMF §5.1). I-divergence: PNMF Eq. 29 and 30, ONL Eq. 34. Other
    divergences: QNMF Eq. 9, Table 1.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import PNMF
    >>> X = np.random.default_rng(0).random((50, 3)) @ np.kron(np.eye(3), np.ones(4))  # three parts of four features each
    >>> model = PNMF(3, random_state=0).fit(X)
    >>> bool(np.allclose(model.inverse_transform(model.transform(X)), X, atol=1e-2))
    True
    """

    divergence: Any = "euclidean"
    fixed_components: Any = None

    _paper: ClassVar[Protocol] = Protocol(Multiplicative(exponent=1, rescale=True))
    _auto_init: ClassVar[str | tuple[str, ...]] = ("search", "angular", "angular", "angular", "kmeans")
    _words: ClassVar[dict[str, str]] = {
        "DEFAULT_INIT": "a search with the Euclidean distance: from a random start, components are merged and begun anew as long "
        'as that leads lower; with other divergences the best, after a short run of each, of three "angular" starts and one from '
        '"kmeans", clusters of features',
        "INIT_ARRAY": "the components to start from, (n_components, n_features)",
        "PAPER": "exponent 1 and the best scale after each step, from a random start",
    }

    def _constraint(self) -> Constraint:
        return Free()

    def _model(self) -> Model:
        return Model("X W W.T", self.divergence, {"W": self._with_fixed(self._constraint())})

    def _with_fixed(self, constraint: Constraint) -> Constraint:
        if self.fixed_components is None:
            return constraint
        return PartlyFixed(read_fixed_components(self.fixed_components).T, "columns", constraint)

    def _check_shapes(self, X: Any, model: Model, rank: int, init: Any) -> None:
        super()._check_shapes(X, model, rank, init)
        self._check_fits(np.shape(init["W"])[1] if rank is None else rank, X.shape[1])
        if self.fixed_components is not None and len(read_fixed_components(self.fixed_components)) == rank:
            raise ShapeError(
                f"fixed_components gives all of n_components={rank}, which leaves none to learn. Give fewer, or ask for more."
            )

    def _rank(self, shape: tuple[int, int]) -> int | None:
        rank: int | None = super()._rank(shape)
        if rank is not None:
            self._check_fits(rank, shape[1])
        return rank

    def _check_fits(self, rank: int, n_features: int) -> None:
        """Refuse more components than features."""
        if rank > n_features:
            raise ShapeError(
                f"n_components={rank} is more than the {n_features} features of X: with as many components as features, W Wᵀ is "
                f"the identity, each feature its own component. Use at most {n_features}."
            )

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        return {"W": array.T}


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class OPNMF(PNMF):
    r"""Orthogonal projective non-negative matrix factorization, X ≈ X W Wᵀ with WᵀW = I. Also known as NLHN.

    .. math:: \min_{W \ge 0} D(X \| X W W^T) \quad \text{with } W^T W = I

    Codes are X W. OPNMF and NLHN (Non-negative Linear Hebbian Network) are the same rule under two names: ONL Eq. 31 is NNP Eq.
    40. What the `opnmf` package (and its MATLAB and R kin) takes is the transpose of what this takes: here samples are rows, as
    everywhere in scikit-learn, and the components are maps over features (voxels).

    Notes
    -----
    The rule is W ∘ KW/(WWᵀKW), with exponent 1 in print. It is not derived from one objective: where it ends, neither the error nor
    the orthogonality is at its best. ``solver="auto"`` minimises the objective by the rule of `PNMF`, without multipliers;
    it ends lower, and *more* orthogonal (see the table in docs/estimators.md). ``solver="paper"`` is the rule as printed and as the
    codes run it: exponent 1, W divided by its largest singular value, entries kept above 1e-16, from a random start; it stops when
    ‖ΔW‖ < tol ‖W‖, and 1e-5 is the codes' own. I-divergence: ONL Eq. 35. Other divergences: QNMF Theorem 3.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import OPNMF
    >>> X = np.random.default_rng(0).random((50, 3)) @ np.kron(np.eye(3), np.ones(4))
    >>> OPNMF(3, orthogonality="rows", random_state=0).fit(X).orthogonality_["W"].rho
    1.0
    """

    orthogonality: Any = "soft"

    _paper: ClassVar[Protocol] = Protocol(Multiplicative(exponent=1, floor=1e-16), stops_on_step=True)
    _attributes: ClassVar[tuple[str, ...]] = ("components_", "orthogonality_")
    _words: ClassVar[dict[str, str]] = {
        **PNMF._words,
        "DEFAULT_SOLVER": "that of `PNMF`, whose objective leads to orthogonal components by itself",
        "PAPER": "exponent 1 and spectral norm one after each step, from a random start",
        "ORTHOGONALITY": '{"soft", "exact", "rows", "polar"} or a number from 0 to 1',
        "EXACT": '"exact" finds components that do not overlap at all, each feature being in one: K-lines, from the soft solution '
        '(Euclidean only). A number is a price on overlap, from 0, "soft", to 1, "exact", through which all degrees between them '
        "are reached. ",
        "STEP_TOL": 'With ``solver="paper"``: when one iteration changes W by no more than `tol` times its norm. ',
    }

    def _constraint(self) -> Constraint:
        return Orthogonal("columns")

    def _minimised(self, model: Model) -> Model:
        if isinstance(self.solver, str) and self.solver == "auto":
            return Model(model.form, model.divergence, {"W": self._with_fixed(Free())})
        return model

    def _check_fits(self, rank: int, n_features: int) -> None:
        check_components_fit(rank, n_features)


def check_components_fit(rank: int | None, n_features: int) -> int | None:
    """The number of components as it is, or an error where they cannot be orthogonal."""
    if rank is not None and rank > n_features:
        raise ShapeError(
            f"n_components={rank} orthogonal components do not fit into {n_features} features: each feature can belong to one of "
            f"them. Use at most {n_features}."
        )
    return rank
