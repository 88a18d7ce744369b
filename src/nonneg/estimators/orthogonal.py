"""X ≈ W H with components that do not overlap, nearly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..constraints import Orthogonal
from ..data import Data
from ..divergences import Beta, get_divergence
from ..encoding import encode
from ..engine.model import Model
from ..engine.solution import Solution
from ..solvers import Multiplicative
from ..solving import objective_of
from ._base import Factorizer
from ._documentation import documented
from ._hardening import is_partition, refitted
from ._parameters import Protocol
from .projective import OPNMF, check_components_fit

PRINTED_OR_ADAPTIVE = '"multiplicative" for the Euclidean distance, "adaptive" for others'


def printed_or_adaptive(divergence: Any) -> str:
    """The solver that serves best where a short rule is not the descent of one objective: the printed step, or a growing one.

    For the Euclidean distance the proven exponent is the printed 1; run on, the rule ends lower in error and more orthogonal than
    where `Adaptive` sees no step that helps.
    """
    return "multiplicative" if get_divergence(divergence) == Beta(2) else "adaptive"


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class ONMF(Factorizer):
    r"""Orthogonal non-negative matrix factorization, X ≈ W H with H Hᵀ = I.

    .. math:: \min_{W, H \ge 0} D(X \| W H) \quad \text{with } H H^T = I

    Unlike in `OPNMF`, codes W are free, so the error is lower. `fit_transform` equals `fit` and then `transform`.

    Notes
    -----
    ONL Eq. 28, transposed: H ∘ WᵀX/(WᵀXHᵀH), W ∘ XHᵀ/(WHHᵀ). H is kept at spectral norm one. Other divergences: QNMF Theorem 3.

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

    _paper: ClassVar[Protocol] = Protocol(Multiplicative(exponent=1))
    _attributes: ClassVar[tuple[str, ...]] = ("components_", "orthogonality_")
    _words: ClassVar[dict[str, str]] = {
        "DEFAULT_INIT": '"kmeans", clusters of features, or "random" where there are fewer features than components',
        "INIT_ARRAY": "the components to start from, (n_components, n_features)",
        "DEFAULT_SOLVER": PRINTED_OR_ADAPTIVE,
        "PAPER": "exponent 1, from a random start",
        "ORTHOGONALITY": '{"soft", "exact", "rows", "polar"} or a number from 0 to 1',
        "EXACT": '"exact" finds components that do not overlap at all, each feature being in one: K-lines, from the soft solution '
        '(Euclidean only). A number is a price on overlap, from 0, "soft", to 1, "exact", through which all degrees between them '
        "are reached. ",
    }

    def _model(self) -> Model:
        return Model("W H", self.divergence, {"H": Orthogonal("rows")})

    def _auto_solver(self) -> str:
        return printed_or_adaptive(self.divergence)

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        return {"H": array}

    def _finished(self, X: Data, run: Solution) -> Solution:
        """W fitted to H as it is: with exponent 1 the lengths of H may change from step to step, and W follow one behind."""
        if isinstance(self.solver, str) and self.solver == "paper":
            return run
        found = refitted(X, run, ["H"], self.max_iter, self.tol)
        return found if found.objective < run.objective else run

    def _fit(self, X: Data, began: float) -> Solution:
        if not is_partition(self.orthogonality) or self.solver != "auto":
            return super()._fit(X, began)
        return self._projected(X, began)

    def _projected(self, X: Data, began: float) -> Solution:
        """Where components share nothing, codes are projections, and the problem is that of `OPNMF`, which is faster."""
        warm = self._warm_factors(X, self._model(), self._rank(X.shape))
        parameters = {name: value for name, value in self.get_params().items() if name not in ("init", "warm_start")}
        twin = OPNMF(**parameters, init=(warm or self.init)["H"] if isinstance(warm or self.init, Mapping) else self.init)
        twin._check_numbers()
        run = twin._fit(X, began)
        H = np.ascontiguousarray(run.factors["W"].T)
        model = self._model()
        factors = {"W": encode(X, H, model.divergence), "H": H}
        self.objectives_, self._soft_factors = twin.objectives_, {"H": twin._soft_factors["W"].T}
        self.orthogonality_ = {"H": twin.orthogonality_["W"]}
        return replace(run, model=model, factors=factors, objective=objective_of(X, Model(model.form, model.divergence), factors))

    def _rank(self, shape: tuple[int, int]) -> int | None:
        return check_components_fit(super()._rank(shape), shape[1])
