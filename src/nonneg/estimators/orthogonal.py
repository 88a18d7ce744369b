"""X ≈ W H with components that do not overlap, nearly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..constraints import Orthogonal
from ..data import Data
from ..divergences import get_divergence
from ..exceptions import IncompatibleError, ShapeError
from ..factorization import factorize
from ..kernels.namespace import to_host
from ..kernels.tuned import tuned
from ..metrics import orthogonality_error
from ..model import Model
from ..solve.context import Context
from ..solve.problem import read_for
from ..solve.solution import Explanation, Solution, Status
from ..solve.solvers import Multiplicative
from ..solve.solving import objective_of
from ..solve.starts import Start
from ..solve.strategy import PROJECTIVE
from ._base import Factorizer
from ._hardening import is_over, is_partition, refitted
from ._parameters import Procedure
from .annotations import Divergence
from .docstrings import documented
from .encoding import encode
from .projective import OPNMF


def printed_or_adaptive(divergence: Any) -> str:
    """The best solver for short rules that descend no single objective: the printed step, or a growing one.

    For the Euclidean distance the proven exponent is the printed 1; run on, the rule ends lower in error and more orthogonal than
    once `Adaptive` finds no step that helps.
    """
    return "multiplicative" if get_divergence(divergence).is_quadratic else "adaptive"


_LESS, _ANYWAY = tuned((1.5, 0.05), by="degrees", on="2026-11-16")
"""How much less orthogonal components may become for a lower objective: so many times the error they had, and so much besides."""
_CUT_OFF = (Status.STOPPED_BY_USER, Status.STOPPED_BY_CALLBACK)


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class ONMF(Factorizer):
    r"""Orthogonal non-negative matrix factorization, X ≈ W H with H Hᵀ = I.

    Parts that do not overlap, with codes that are free. Choose it over `OPNMF` if the error matters more than codes
    by one product.

    .. math:: \min_{W, H \ge 0} D(X \| W H) \quad \text{with } H H^T = I

    Unlike in `OPNMF`, codes W are free, so the error is lower. `fit_transform` equals `fit` and then `transform`. The rule leads to
    nearly orthogonal H; `orthogonality` enforces H Hᵀ = I.

    Parameters
    ----------
    init
        Start. "auto" is the result of `OPNMF`, with its projections as codes; with weights or missing values
        "kmeans", clusters of features, or "random" if there are fewer features than components. An array is the
        components to start from, (n_components, n_features); a dict gives factors by name, the others are drawn at
        random. Zeros in them become a thousandth of the mean, from which they can come back.
    solver : {"auto", "paper", "coordinate", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "multiplicative". With other divergences, components of the Euclidean distance come first, by "multiplicative";
        then codes are fitted to them, and "adaptive" goes on with both as long as components stay orthogonal. "paper" is the
        papers' own protocol: exponent 1, from a random start. "multiplicative" is the rule with the exponent that the theory
        proves; "adaptive" increases it while the objective falls; "coordinate" takes
        exact steps in one entry after the other; "quasi-newton" learns from its last steps (L-BFGS); or an object of
        `nonneg.solvers`.
    orthogonality : {"soft", "exact", "rows", "polar"} or a number from 0 to 1, default="soft"
        How H Hᵀ = I is enforced in the end. "soft" returns the rule's result: nearly orthogonal, never
        exactly, as in other OPNMF codes. "exact" finds components that do not overlap
        at all, each feature being in one: K-lines, from the soft solution (Euclidean only). A number is a penalty
        on overlap, from 0, "soft", to 1, "exact", through which all degrees between them are reached. "rows"
        keeps, of each feature, the largest entry only, and makes components unit length (ONL §2.4). "polar" takes
        W(WᵀW)^(−1/2), which is orthogonal, and makes its negative entries zero, after which it is nearly so. All
        raise the error; scale and other factors are fitted again. With ``solver="auto"``, "exact" and numbers
        give the components of `OPNMF`, with codes fitted to them.

    Attributes
    ----------
    orthogonality_ : dict of Orthogonality
        For each orthogonal factor, how orthogonal it came out: ``rho`` (NNP Eq. 65, 1 is best) and ``error``
        (PNMF Eq. 38, 0 is best).
    model_ : Model
        The minimised objective: ``print(model_)`` shows it and its multiplicative rules. H is
        fixed in it if the fit of the codes came last: to components of the Euclidean distance, or of `OPNMF`.

    See Also
    --------
    OPNMF : Orthogonal components and a projection.
    NMF : Without orthogonality.

    Notes
    -----
    ONL Eq. 28, transposed: H ∘ WᵀX/(WᵀXHᵀH), W ∘ XHᵀ/(WHHᵀ). H is kept at spectral norm one. Other divergences: QNMF Theorem 3.
    That rule, Eq. 11, is at rest wherever ∇⁺ = ∇⁻, at the solutions of `NMF`, orthogonal or not, and away from them it may find no
    step that helps. For the Euclidean distance H Hᵀ = I makes it shorter, and the short rule does lead to orthogonal components. So
    other divergences begin with components of the Euclidean distance (``solver="auto"``); any other `solver` is that rule alone.

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
    >>> from nonneg import ONMF
    >>> X = np.random.default_rng(0).random((50, 3)) @ np.kron(np.eye(3), np.ones(4))
    >>> bool(ONMF(3, random_state=0).fit(X).orthogonality_["H"].rho > 0.99)
    True
    """

    divergence: Divergence = "euclidean"
    orthogonality: str | float = "soft"

    _auto_init: ClassVar[str | tuple[Start, ...]] = PROJECTIVE
    _paper: ClassVar[Procedure] = Procedure(Multiplicative(exponent=1))
    _auto_solver: ClassVar[str] = "multiplicative"

    def _model(self) -> Model:
        return Model("W H", self.divergence, {"H": Orthogonal("rows")})

    @property
    def _begins_euclidean(self) -> bool:  # type: ignore[override]
        """Whether components are those of the Euclidean distance first: the rule of others does not lead to orthogonal ones."""
        is_auto = isinstance(self.solver, str) and self.solver == "auto"
        return is_auto and not get_divergence(self.divergence).is_quadratic

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        return {"H": array}

    def _finished(self, X: Data, solution: Solution) -> Solution:
        """W fitted to H as it is: with exponent 1 the lengths of H may change from step to step, and W follow one behind."""
        if isinstance(self.solver, str) and self.solver == "paper":
            return solution
        if self._begins_euclidean:
            return self._with_divergence(X, solution)
        found = refitted(X, solution, ["H"], self.max_iter, self.tol)
        return found if found.objective < solution.objective else solution

    def _with_divergence(self, X: Data, solution: Solution) -> Solution:
        """Components of the Euclidean distance with codes fitted to them by the divergence.

        Both are moved on by its rule if that lowers the objective and leaves them about as orthogonal.
        """
        model, H = self._model(), solution.factors["H"]
        xp = X.namespace.xp
        eps = X.namespace.eps
        start = {name: xp.maximum(factor, eps * xp.max(factor)) for name, factor in solution.factors.items()}
        options: Any = {"max_iter": self.max_iter, "tol": self.tol}
        fixed = Model(model.form, model.divergence, {"H": "fixed"})
        codes = factorize(X, fixed, init=start, callback=is_over, **options)
        moved = factorize(X, model, init=codes.factors, solver="adaptive", callback=is_over, **options)
        moved = refitted(X, moved, ["H"], self.max_iter, self.tol)
        error, after = (orthogonality_error(to_host(factor).T) for factor in (H, moved.factors["H"]))
        is_better = moved.objective < codes.objective and after <= _LESS * error + _ANYWAY
        found = moved if is_better else codes
        n_iter = solution.n_iter + codes.n_iter + (moved.n_iter if is_better else 0)
        return replace(found, n_iter=n_iter, status=solution.status if solution.status in _CUT_OFF else found.status)

    def _fit(self, X: Data, context: Context) -> Solution:
        if not is_partition(self.orthogonality) or self.solver != "auto":
            if self._begins_euclidean and not X.costs.out_of_core:
                read_for(self._model(), X)  # refuse values outside the divergence's domain before any work
            return super()._fit(X, context)
        return self._projected(X, context)

    def _explain_data(self, X: Data) -> Explanation:
        if not is_partition(self.orthogonality) or self.solver != "auto":
            return super()._explain_data(X)
        return replace(self._twin(X)._explain_data(X), note=self._note)

    @property
    def _note(self) -> str:
        if is_partition(self.orthogonality) and self.solver == "auto":
            return "the components of OPNMF, then W for them"
        return f"then W for {get_divergence(self.divergence)}" if self._begins_euclidean else ""

    def _twin(self, X: Data) -> OPNMF:
        """`OPNMF` with the same parameters."""
        warm = self._warm_factors(X, self._model(), self._rank(X.shape))
        init = warm or self._init
        if isinstance(init, Mapping):
            if "H" not in init or set(init) - {"W", "H"}:
                raise IncompatibleError(
                    f"init has {', '.join(map(repr, init))}. With orthogonality={self.orthogonality!r} it is to have 'H', the "
                    "components, from which their codes follow."
                )
            init = init["H"]
        parameters = {name: value for name, value in self.get_params().items() if name not in ("init", "warm_start")}
        return OPNMF(**parameters, init=init)

    def _projected(self, X: Data, context: Context) -> Solution:
        """The components of `OPNMF`, with codes fitted to them: if components share nothing, both have the same."""
        twin = self._twin(X)
        twin._check_numbers()
        solution = twin._fit(X, context)
        H = np.ascontiguousarray(solution.factors["W"].T)
        model = Model("W H", self.divergence, {"H": "fixed"})
        factors = {"W": encode(X, H, model.divergence), "H": H}
        self.objectives_, self._soft_factors = twin.objectives_, {"H": twin._soft_factors["W"].T}
        self.orthogonality_ = {"H": twin.orthogonality_["W"]}
        return replace(
            solution, model=model, factors=factors, objective=objective_of(X, Model(model.form, model.divergence), factors)
        )

    def _rank(self, shape: tuple[int, int]) -> int | None:
        rank: int | None = super()._rank(shape)
        if rank is not None and rank > shape[1]:
            raise ShapeError(OPNMF._too_many.format(rank=rank, n_features=shape[1]))
        return rank
