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
from .encoding import encode
from .projective import OPNMF


def printed_or_adaptive(divergence: Any) -> str:
    """The solver that serves best where a short rule is not the descent of one objective: the printed step, or a growing one.

    For the Euclidean distance the proven exponent is the printed 1; run on, the rule ends lower in error and more orthogonal than
    where `Adaptive` sees no step that helps.
    """
    return "multiplicative" if get_divergence(divergence).is_quadratic else "adaptive"


_LESS, _ANYWAY = 1.5, 0.05
"""How much less orthogonal components may become for a lower objective: so many times the error they had, and so much besides."""
_CUT_OFF = (Status.STOPPED_BY_USER, Status.STOPPED_BY_CALLBACK)


@dataclass(eq=False, repr=False, kw_only=True)
class ONMF(Factorizer):
    r"""Orthogonal non-negative matrix factorization, X ≈ W H with H Hᵀ = I.

    Parts that do not overlap, with codes that are free. Choose it over `OPNMF` where the error matters more than codes
    by one product.

    .. math:: \min_{W, H \ge 0} D(X \| W H) \quad \text{with } H H^T = I

    Unlike in `OPNMF`, codes W are free, so the error is lower. `fit_transform` equals `fit` and then `transform`. The rule leads to
    nearly orthogonal H; `orthogonality` enforces H Hᵀ = I.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        How many components. "auto" takes as many as there are samples or features, whichever is less; more than
        100 are warned of, since that may take long.
    init : {"auto", "random", "nndsvd", "nndsvda", "nndsvdar", "kmeans", "angular", "coclusters"} or array or dict, default="auto"
        How to start. "auto" is where `OPNMF` ends, with its projections as codes; with weights or missing values
        "kmeans", clusters of features, or "random" where there are fewer features than components. An array is the
        components to start from, (n_components, n_features); a dict gives factors by name, the others are drawn at
        random. Zeros in them become a thousandth of the mean, from which they can come back.
    solver : {"auto", "paper", "coordinate", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "multiplicative". With other divergences than the Euclidean distance, that is for components of the
        Euclidean one; codes are then fitted to them, and both moved on by "adaptive" as long as components stay
        orthogonal. "paper" is the papers' own protocol: exponent 1, from a random start. "multiplicative" is the rule
        with the exponent that the theory proves; "adaptive" increases it while the objective falls; "coordinate" takes
        exact steps in one entry after the other; "quasi-newton" learns from its last steps (L-BFGS); or an object of
        `nonneg.solvers`.
    n_init : int, default=1
        How many restarts; the one with the lowest objective is kept. `objectives_` tells how much they differ.
    max_iter : int, default=5000
        The most iterations of a start.
    tol : float, default=1e-5
        A run has converged when ten iterations change the objective by no more than `tol` times its value, or when
        what is left to gain, as its curve tells, is at most 600 · `tol` of it (and at most 0.6 %); more iterations
        confirm it, and the point is nearly stationary. 0 runs to `max_iter`.
    random_state : int, Generator, RandomState or None, default=None
        For the starts. The same seed gives the same result.
    n_jobs : int, default=None
        How many starts run at the same time, as in joblib.
    warm_start : bool, default=False
        Whether another `fit` goes on from where the last one ended, where sizes allow.
    verbose : int, default=0
        1 prints progress, a line a second at the most.
    callback : callable, default=None
        Called at every check with a `Progress`; returning True ends the run. With several starts, it sees them all.
    checkpoint : str, path or Checkpoint, default=None
        A file in which the fit is written down every minute. Fitting again with it goes on from there, to the same bits; for other
        data or parameters it is refused. Clones, as those of a grid search, need a folder; see `nonneg.Checkpoint`.
    missing : {"raise", "ignore"}, default="raise"
        What to do about NaN, masked entries and NA in X. With "ignore" they have no part in the objective, codes are
        those of what is known, and `inverse_transform` says what is not. See `Observed` for sparse X.
    divergence : str, float or Objective, default="euclidean"
        How X and its approximation are compared: a name such as "euclidean", "kullback-leibler" or
        "itakura-saito"; a number b for ``Beta(b)``, numbered as scikit-learn's ``beta_loss``; or an object of
        `nonneg.divergences`.
    orthogonality : {"soft", "exact", "rows", "polar"} or a number from 0 to 1, default="soft"
        How H Hᵀ = I is enforced in the end. "soft" returns what the rule leads to: nearly orthogonal, never
        exactly, and neither is what other OPNMF codes return. "exact" finds components that do not overlap
        at all, each feature being in one: K-lines, from the soft solution (Euclidean only). A number is a penalty
        on overlap, from 0, "soft", to 1, "exact", through which all degrees between them are reached. "rows"
        keeps, of each feature, the largest entry only, and makes components unit length (ONL §2.4). "polar" takes
        W(WᵀW)^(−1/2), which is orthogonal, and makes its negative entries zero, after which it is nearly so. All
        raise the error; scale and other factors are fitted again. With ``solver="auto"``, "exact" and numbers
        give the components of `OPNMF`, with codes fitted to them.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The parts that samples are made of, one in each row.
    orthogonality_ : dict of Orthogonality
        For each orthogonal factor, how orthogonal it came out: ``rho`` (NNP Eq. 65, 1 is best) and ``error``
        (PNMF Eq. 38, 0 is best).
    factors_ : dict of arrays
        Every factor of the form, by name, as the fit left it.
    model_ : Model
        What was minimised; ``print(model_)`` shows the objective, and the multiplicative rules that follow from it. H is
        fixed in it where the fit of the codes came last: to components of the Euclidean distance, or of `OPNMF`.
    solver_ : str
        What minimised it, where `solver` is "auto" too: "coordinate", "newton", "multiplicative", …
    n_components_ : int
        How many components there are.
    reconstruction_err_ : float
        √(2 D) with D the divergence between X and its approximation, as in scikit-learn: ‖X − X̂‖ for the
        Euclidean distance.
    objective_ : float
        What was minimised, at the end: D and the penalties of constraints, if they have any.
    objectives_ : array of shape (n_init,)
        The objective that each start ended at.
    n_iter_ : int
        Iterations of the start that was kept.
    status_ : Status
        Why it ended; ``status_.sentence`` explains.
    history_ : History
        Objective, violation and exponents at every check of the start that was kept.
    strategy_ : Explanation
        Stages that ran, each with its reason and cost; ``print`` shows them.
    n_features_in_ : int
        How many features X had.
    feature_names_in_ : array of shape (n_features_in_,)
        Only where X has feature names that are all strings.

    Notes
    -----
    ONL Eq. 28, transposed: H ∘ WᵀX/(WᵀXHᵀH), W ∘ XHᵀ/(WHHᵀ). H is kept at spectral norm one. Other divergences: QNMF Theorem 3.
    That rule, Eq. 11, is at rest wherever ∇⁺ = ∇⁻, at the solutions of `NMF`, orthogonal or not, and away from them it may find no
    step that helps. For the Euclidean distance H Hᵀ = I makes it shorter, and the short rule does lead to orthogonal components. So
    other divergences begin with these (``solver="auto"``); any other `solver` is that rule alone.

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

    divergence: Any = "euclidean"
    orthogonality: Any = "soft"

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
            if self._begins_euclidean and not X.profile.out_of_core:
                read_for(self._model(), X)  # what the divergence cannot take is refused before any work
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
