"""Constraints on sums: columns, rows or the whole matrix sum to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..algebra.majorization import Bounds
from ..algebra.rewriting import Sum
from ..exceptions import IncompatibleError, is_one_of
from .base import Array, Constraint

_AXES: dict[str, int | None] = {"columns": 0, "rows": 1, "matrix": None}


@dataclass(frozen=True)
class Stochastic(Constraint):
    """Columns, rows or the whole matrix sum to one: QNMF Theorem 2, Eq. 10.

    Parameters
    ----------
    axis : {"columns", "rows", "matrix"}, default="columns"
        Which of these sum to one.

    See Also
    --------
    DoublyStochastic : Rows and columns at once.
    Unit : Lengths of one in place of sums.

    Notes
    -----
    The rule keeps the constraint only softly; `restore` divides by the sums, so that it holds exactly after each step.
    The violation in the history is Σ|1 − sum| before `restore` (QNMF Table 2).

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=3, constraints={"W": "stochastic-rows"}, random_state=0)
    >>> bool(np.allclose(solution.factors["W"].sum(axis=1), 1))
    True
    """

    axis: Literal["columns", "rows", "matrix"] = "columns"
    restores_fully: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not is_one_of(self.axis, _AXES):
            raise IncompatibleError(f"Stochastic(axis) takes 'columns', 'rows' or 'matrix'; got {self.axis!r}.")

    @property
    def T(self) -> Stochastic:
        return Stochastic("rows" if self.axis == "columns" else "columns" if self.axis == "rows" else "matrix")

    @property
    def on_new_rows(self) -> Constraint:
        return self if self.axis == "rows" else super().on_new_rows

    def widened(self, bounds: Bounds) -> Bounds:
        return bounds.widened(1, 1)

    def _sums(self, xp: Any, factor: Array) -> Array:
        return xp.sum(factor, axis=_AXES[self.axis], keepdims=True)

    def multipliers(self, xp: Any, factor: Array, positive: Array, negative: Array) -> tuple[Array, Array]:
        return self._sums(xp, factor * positive), self._sums(xp, factor * negative)  # λ⁺ and λ⁻ of Eq. 10

    def restore(self, xp: Any, factor: Array) -> Array:
        sums = self._sums(xp, factor)
        if bool(xp.all(sums > 0)):
            return factor / sums
        # A zero column, as of zero data, becomes uniform.
        count = factor.shape[0] * factor.shape[1] // (sums.shape[0] * sums.shape[1])
        uniform = xp.full_like(factor, 1.0 / count)
        return xp.where(sums > 0, factor / xp.where(sums > 0, sums, xp.ones_like(sums)), uniform)

    def violation(self, xp: Any, factor: Array) -> Array:
        return xp.sum(xp.abs(1.0 - self._sums(xp, factor)))

    def text(self, factor: str) -> str:
        return f"{factor} ≥ 0, {self.axis if self.axis != 'matrix' else 'entries'} of {factor} sum to 1"

    def multipliers_text(self, factor: str, positive: Sum, negative: Sum) -> tuple[str, str]:
        left, right = {"columns": ("1 1ᵀ", ""), "rows": ("", "1 1ᵀ"), "matrix": ("1 1ᵀ", "1 1ᵀ")}[self.axis]
        return f"{left}({factor}∘({positive})){right}", f"{left}({factor}∘({negative})){right}"


def balanced(xp: Any, factor: Array, sweeps: int) -> Array:
    """Sinkhorn's scaling: columns and rows divided by their sums in turn."""
    for _ in range(sweeps):
        factor = factor / xp.sum(factor, axis=0, keepdims=True)
        factor = factor / xp.sum(factor, axis=1, keepdims=True)
    return factor


@dataclass(frozen=True)
class DoublyStochastic(Constraint):
    """A square matrix with rows and columns that all sum to one.

    See Also
    --------
    Stochastic : Sums of columns, of rows, or of all entries.
    Permutation : Doubly stochastic and orthogonal.

    Notes
    -----
    The K.K.T. conditions are ∇_ik = λ_k + μ_i for W_ik > 0. Multiplied by W and summed over i and over k, they are the linear
    system  λ + Wᵀμ = Σᵢ W∘∇,  Wλ + μ = Σₖ W∘∇.  The multipliers may have either sign; each joins the side on which it is positive
    (Theorem 2). `restore` is Sinkhorn's scaling, with Newton steps if that is slow.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> S = np.random.default_rng(0).random((6, 6))
    >>> solution = nonneg.factorize(S + S.T, "W", constraints={"W": "doubly-stochastic"}, random_state=0)
    >>> solution.factors["W"].sum(axis=1).round(6)
    array([1., 1., 1., 1., 1., 1.])
    """

    restores_by_iteration: ClassVar[bool] = True
    restores_fully: ClassVar[bool] = True

    def widened(self, bounds: Bounds) -> Bounds:
        return bounds.widened(1, 1)

    def multipliers(self, xp: Any, factor: Array, positive: Array, negative: Array) -> tuple[Array, Array]:
        # Without μ: (I − WᵀW)λ = columns − Wᵀ rows. Its null space (constants, and more for W near a permutation) does
        # not change λ + μ at positive entries of W, so the least-norm solution serves.
        eye = xp.eye(factor.shape[0], dtype=factor.dtype, device=factor.device)
        inverse = xp.linalg.pinv(eye - factor.T @ factor, rtol=_NEGLIGIBLE)

        def multiplier(part: Array) -> Array:
            weighted = factor * part
            columns, rows = xp.sum(weighted, axis=0), xp.sum(weighted, axis=1)
            of_column = inverse @ (columns - factor.T @ rows)
            return of_column[None, :] + (rows - factor @ of_column)[:, None]

        up, down = multiplier(positive), multiplier(negative)
        return xp.clip(up, 0.0, None) + xp.clip(-down, 0.0, None), xp.clip(down, 0.0, None) + xp.clip(-up, 0.0, None)

    def restore(self, xp: Any, factor: Array) -> Array:
        close_enough = _ROUNDING * float(xp.finfo(factor.dtype).eps)
        for axis in (0, 1):  # a zero column or row, as of zero data, becomes uniform
            factor = xp.where(xp.sum(factor, axis=axis, keepdims=True) > 0, factor, xp.ones_like(factor) / factor.shape[0])
        for attempt in range(_SCALINGS):
            factor = balanced(xp, factor, _SINKHORN_SWEEPS)
            violation = float(self.violation(xp, factor))
            if attempt == _SCALINGS - 1 or violation < close_enough:
                break
            factor = self._newton(xp, factor)
        if close_enough < violation < _NEARLY:
            # Entries in no permutation within the support vanish only in the limit.
            factor = balanced(xp, xp.where(factor > 10 * violation, factor, xp.zeros_like(factor)), _SINKHORN_SWEEPS)
        return factor

    def _newton(self, xp: Any, factor: Array) -> Array:
        """One Newton step for the scaling exp(a_i) W_ik exp(b_k); Sinkhorn's is slow near block-diagonal matrices.

        For rows with sum one, a = −W b, and  (diag(columns) − WᵀW) b = 1 − columns.
        """
        columns = xp.sum(factor, axis=0)
        b = xp.linalg.pinv(columns * xp.eye(factor.shape[0], dtype=factor.dtype, device=factor.device) - factor.T @ factor)
        b = xp.clip(b @ (1.0 - columns), -1.0, 1.0)
        return xp.exp(-(factor @ b))[:, None] * factor * xp.exp(b)[None, :]

    def violation(self, xp: Any, factor: Array) -> Array:
        return sum(xp.sum(xp.abs(1.0 - xp.sum(factor, axis=axis))) for axis in (0, 1))

    def problem_with(self, factor: str, shape: tuple[int, int]) -> str | None:
        if shape[0] == shape[1]:
            return None
        return (
            f"{factor} is {shape[0]} × {shape[1]}, and only a square matrix can have all rows and all columns sum to one. "
            "Use 'stochastic-columns' or 'stochastic-rows'."
        )

    def text(self, factor: str) -> str:
        return f"{factor} ≥ 0, rows and columns of {factor} sum to 1"

    def multipliers_text(self, factor: str, positive: Sum, negative: Sum) -> tuple[str, str]:
        return "[λ_k + μ_i]⁺", "[λ_k + μ_i]⁻"


_NEGLIGIBLE = 1e-6
"""Singular values below this share of the largest count as zero."""
_NEARLY = 1e-3
"""Violation below which entries that vanish only in the limit are set to zero."""
_SINKHORN_SWEEPS = 10
"""Sweeps between two looks at the violation."""
_SCALINGS = 20
"""Rounds of sweeps, at most."""
_ROUNDING = 1e3
"""Violation of a balanced factor, in units of eps."""
