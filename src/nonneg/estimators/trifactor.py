"""X ≈ W S H: samples and features grouped together, S saying how the groups go together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from ..constraints import FixedMultiplier, NearOrthogonal
from ..engine.model import Model
from ..exceptions import ShapeError
from ..solvers import AlternatingLeastSquares, Multiplicative, Solver
from ._base import Factorizer
from ._coclusters import DESCRIBED, STEADY_AND_REFITTED, Coclusters, OrthogonalCoclusters
from ._documentation import documented
from ._parameters import Protocol
from .orthogonal import printed_or_adaptive

_N_COMPONENTS = """int, pair of int, or "auto", default="auto"
    How many groups of samples and how many of features; one int is for both. "auto" takes as many as there are samples or features,
    whichever is less."""
_FACTORS = """dict of arrays
    "W" (n_samples, k), groups of samples; "S" (k, l); "H" (l, n_features), groups of features."""
_CLUSTERS = '"coclusters", clusters of samples and of features found together; or "random" where samples or features are too few'
_COMPONENTS = """array of shape (k, n_features)
    S H: what the groups of samples look like."""


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class NMTF(Coclusters, Factorizer):
    r"""Non-negative matrix tri-factorization, X ≈ W S H.

    .. math:: \min_{W, S, H \ge 0} D(X \| W S H)

    Codes are rows of W; `components_` are S H. It is a co-clusterer, too: `row_labels_`, `column_labels_`, and `predict` for new
    samples.

    Notes
    -----
    FONT §2; the rules are those of the engine for the form W S H, for the Euclidean distance W ∘ XHᵀSᵀ/(WSHHᵀSᵀ) and so on.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMTF
    >>> X = np.kron([[5, 1, 1], [1, 1, 4]], np.ones((10, 4)))  # 2 groups of samples, 3 of features, of which 2 are alike
    >>> {name: factor.shape for name, factor in NMTF((2, 3), random_state=0).fit(X).factors_.items()}
    {'W': (20, 2), 'S': (2, 3), 'H': (3, 12)}
    """

    divergence: Any = "euclidean"

    _paper: ClassVar[Protocol] = Protocol(Multiplicative())
    _auto_init: ClassVar[str | tuple[str, ...]] = ("coclusters", "nndsvda")
    _clustered: ClassVar[tuple[int, ...]] = (0, 1)
    _attributes: ClassVar[tuple[str, ...]] = ("row_labels_", "column_labels_")
    _described: ClassVar[dict[str, str]] = {
        **DESCRIBED,
        "n_components": _N_COMPONENTS,
        "factors_": _FACTORS,
        "components_": _COMPONENTS,
    }
    _words: ClassVar[dict[str, str]] = {
        "DEFAULT_INIT": 'the best, after a short run of each, of "coclusters", clusters of samples and of features found together, '
        'and "nndsvda"; or "random" where samples or features are too few',
        "INIT_ARRAY": "not possible here",
        "PAPER": "the multiplicative rules from a random start",
    }

    def _model(self) -> Model:
        return Model("W S H", self.divergence)

    def _count(self, rank: Any) -> Any:
        return self.factors_["S"].shape if rank is None else rank

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

    .. math:: \min_{W, S, H \ge 0} D(X \| W S H) \quad \text{with } W^T W = I, H H^T = I

    Notes
    -----
    FONT Eq. 11, 12 and 7 (its misprints corrected; after Ding et al. 2006): W ∘ XHᵀSᵀ/(WWᵀXHᵀSᵀ), H ∘ SᵀWᵀX/(SᵀWᵀXHᵀH), S ∘
    WᵀXHᵀ/(WᵀWSHHᵀ). In the order WWᵀ(XHᵀSᵀ) the cost is O(nnz · k), not the O(m²n) that FONT holds against it. Other divergences:
    QNMF Theorem 3.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import ONMTF
    >>> X = np.kron([[5, 1, 1], [1, 1, 4]], np.ones((10, 4)))
    >>> ONMTF(2, random_state=0).fit(X).factors_["W"].argmax(axis=1).tolist().count(0)
    10
    """

    orthogonality: str = "soft"

    _auto_init: ClassVar[str | tuple[str, ...]] = "coclusters"
    _paper: ClassVar[Protocol] = Protocol(Multiplicative(exponent=1), check_every=100, steady=math.inf)
    _attributes: ClassVar[tuple[str, ...]] = ("row_labels_", "column_labels_", "orthogonality_")
    _words: ClassVar[dict[str, str]] = {
        **NMTF._words,
        "DEFAULT_INIT": _CLUSTERS,
        "PAPER": "exponent 1, from a random start, with a look at the objective every 100 iterations (the paper has `tol=0.01`)",
        "DEFAULT_SOLVER": STEADY_AND_REFITTED
        + "; from another start than clusters, the printed step where the distance is Euclidean",
    }

    def _model(self) -> Model:
        return Model("W S H", self.divergence, {"W": self._orthogonal_to("columns"), "H": self._orthogonal_to("rows")})

    def _auto_solver(self) -> str:
        starts_from_clusters = isinstance(self.init, str) and self.init in ("auto", "coclusters")
        return super()._auto_solver() if starts_from_clusters else printed_or_adaptive(self.divergence)

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

    .. math:: \min_{W, S, H \ge 0} \tfrac12 \|X - W S H\|^2 \quad \text{with } W^T W \approx I, H H^T \approx I

    Notes
    -----
    FONT Eq. 16, 17 and 7: the multipliers of orthogonality are not eliminated but set to −I, W ∘ (XHᵀSᵀ + W)/(WSHHᵀSᵀ) and
    likewise H, with columns of W and rows of H brought to unit length after every step, without which there is no minimum. With
    ``solver="als"`` H, the factor of the features (the paper's W, of words), is solved for by least squares, FONT Eq. 21,
    negative entries made zero. Neither lowers the objective in every step. The weight of orthogonality has the scale of X: for
    small X it rules.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import FONT
    >>> X = np.kron([[5, 1, 1], [1, 1, 4]], np.ones((10, 4)))
    >>> FONT((2, 2), solver="als", random_state=0).fit(X).factors_["W"].argmax(axis=1).tolist().count(0)
    10
    """

    divergence: ClassVar[str] = "euclidean"  # type: ignore[misc]

    _paper: ClassVar[Protocol] = Protocol(Multiplicative(exponent=1), check_every=100, steady=math.inf)
    _words: ClassVar[dict[str, str]] = {
        **ONMTF._words,
        "DEFAULT_SOLVER": '"multiplicative"',
        "PAPER": "the multiplicative rules from a random start, with a look at the objective every 100 iterations (the paper has "
        "`tol=0.01`)",
        "SOLVERS": '{"auto", "paper", "als", "multiplicative", "adaptive"}',
    }

    def _model(self) -> Model:
        H = NearOrthogonal("rows") if self._is_als else FixedMultiplier("rows")
        return Model("W S H", "euclidean", {"W": FixedMultiplier("columns"), "H": H})

    def _auto_solver(self) -> str:
        return "multiplicative"

    @property
    def _is_printed(self) -> bool:
        return super()._is_printed or self._is_als

    @property
    def _is_als(self) -> bool:
        return isinstance(self.solver, str) and self.solver == "als"

    def _get_solver(self) -> tuple[str | Solver, Protocol]:
        if self._is_als:
            solver = AlternatingLeastSquares(("H",))
            return solver, Protocol(solver, self._auto_init)
        return super()._get_solver()
