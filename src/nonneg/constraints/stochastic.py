"""Columns, rows or whole matrices that sum to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..exceptions import IncompatibleError
from ..majorization import Bounds
from ..rewriting import Sum
from .base import Array, Constraint

_AXES: dict[str, int | None] = {"columns": 0, "rows": 1, "matrix": None}


@dataclass(frozen=True)
class Stochastic(Constraint):
    """Entries that sum to one down the columns, along the rows, or over the whole matrix: QNMF Theorem 2, Eq. 10.

    Notes
    -----
    The rule keeps the constraint only softly; `restore` then divides by the sums, so that it holds exactly after each step.
    The violation in the history is that of the step itself, before it was restored: Σ|1 − sum| (QNMF Table 2).
    """

    axis: Literal["columns", "rows", "matrix"] = "columns"
    restores_fully: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.axis not in _AXES:
            raise IncompatibleError(f"Stochastic(axis) takes 'columns', 'rows' or 'matrix'; got {self.axis!r}.")

    def widened(self, bounds: Bounds) -> Bounds:
        return bounds.widened(1, 1)

    def _sums(self, xp: Any, factor: Array) -> Array:
        return xp.sum(factor, axis=_AXES[self.axis], keepdims=True)

    def multipliers(self, xp: Any, factor: Array, positive: Array, negative: Array) -> tuple[Array, Array]:
        return self._sums(xp, factor * positive), self._sums(xp, factor * negative)  # λ⁺ and λ⁻ of Eq. 10

    def restore(self, xp: Any, factor: Array) -> Array:
        sums = self._sums(xp, factor)
        return factor / xp.where(sums > 0, sums, xp.ones_like(sums))

    def violation(self, xp: Any, factor: Array) -> Array:
        return xp.sum(xp.abs(1.0 - self._sums(xp, factor)))

    def text(self, factor: str) -> str:
        return f"{factor} ≥ 0, {self.axis if self.axis != 'matrix' else 'entries'} of {factor} sum to 1"

    def multipliers_text(self, factor: str, positive: Sum, negative: Sum) -> tuple[str, str]:
        left, right = {"columns": ("1 1ᵀ", ""), "rows": ("", "1 1ᵀ"), "matrix": ("1 1ᵀ", "1 1ᵀ")}[self.axis]
        return f"{left}({factor}∘({positive})){right}", f"{left}({factor}∘({negative})){right}"


@dataclass(frozen=True)
class DoublyStochastic(Constraint):
    """A square matrix whose rows and columns all sum to one.

    Notes
    -----
    The K.K.T. conditions ask for ∇_ik = λ_k + μ_i wherever W_ik > 0. Multiplied by W and summed over i and over k, they are the
    linear system  λ + Wᵀμ = Σᵢ W∘∇,  Wλ + μ = Σₖ W∘∇.  The multipliers may have either sign; each goes to the side where it is
    positive, which Theorem 2 allows. `restore` is Sinkhorn's scaling.
    """

    restores_fully: ClassVar[bool] = True

    def widened(self, bounds: Bounds) -> Bounds:
        return bounds.widened(1, 1)

    def multipliers(self, xp: Any, factor: Array, positive: Array, negative: Array) -> tuple[Array, Array]:
        weighted = factor * (positive - negative)
        columns, rows = xp.sum(weighted, axis=0), xp.sum(weighted, axis=1)
        # Without μ: (I − WᵀW)λ = columns − Wᵀ rows. It leaves a constant open, λ + t and μ − t, which the mean settles, and more
        # where W is a permutation, which the small diagonal does.
        n = factor.shape[0]
        eye = xp.eye(n, dtype=factor.dtype, device=factor.device)
        system = eye * (1 + _DIAGONAL * float(xp.finfo(factor.dtype).eps)) - factor.T @ factor + 1 / n
        of_column = xp.linalg.solve(system, (columns - factor.T @ rows)[:, None])[:, 0]
        of_row = rows - factor @ of_column
        net = of_column[None, :] + of_row[:, None]
        return xp.clip(net, 0.0, None), xp.clip(-net, 0.0, None)

    def restore(self, xp: Any, factor: Array) -> Array:
        for sweep in range(_SINKHORN_SWEEPS):
            factor = factor / xp.sum(factor, axis=0, keepdims=True)
            factor = factor / xp.sum(factor, axis=1, keepdims=True)
            if sweep % 10 == 9 and float(self.violation(xp, factor)) < _SINKHORN_ERROR * float(xp.finfo(factor.dtype).eps):
                break
        return factor

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


_DIAGONAL = 1e4
_SINKHORN_SWEEPS = 1000
_SINKHORN_ERROR = 1e3
