"""Columns or rows of length one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..algebra.majorization import Bounds
from ..algebra.rewriting import Sum
from ..exceptions import IncompatibleError, is_one_of
from .base import Array, Constraint

_AXES = {"columns": -2, "rows": -1}
"""Axis of the entries of a column, or of a row, counted from the last: factors may be stacked."""


def unit_length(xp: Any, factor: Array, axis: str) -> Array:
    """The factor with its columns or rows divided by their length, zero ones unchanged.

    Parameters
    ----------
    xp : module
        Array library of the factor.
    factor : array
        A matrix.
    axis : {"columns", "rows"}
        Which of the two are divided by their length.

    Returns
    -------
    array
        The factor, its columns or rows of length one or zero.

    See Also
    --------
    Unit : The constraint that a factor is restored to by this.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.constraints import unit_length
    >>> unit_length(np, np.array([[3.0, 0], [4, 0]]), "columns")
    array([[0.6, 0. ],
           [0.8, 0. ]])
    """
    lengths = xp.sqrt(xp.sum(factor * factor, axis=_AXES[axis], keepdims=True))
    return factor / xp.where(lengths > 0, lengths, xp.ones_like(lengths))


@dataclass(frozen=True)
class Unit(Constraint):
    """Columns w (or rows) with ‖w‖ = 1, as in the dictionary of non-negative sparse coding.

    Parameters
    ----------
    axis : {"columns", "rows"}, default="columns"
        Which of the two have length one.

    See Also
    --------
    Stochastic : Sums of one in place of lengths.
    Direction : The whole factor has length one.

    Notes
    -----
    The Lagrangian of ‖w_k‖² = 1 gives ∇_ik = μ_k W_ik for W_ik > 0, so μ_k = Σ_a W_ak ∇_ak. With the multipliers eliminated as in
    QNMF Theorem 2, W ← W ∘ [(∇⁻ + W diag(Wᵀ∇⁺)) / (∇⁺ + W diag(Wᵀ∇⁻))]^σ; for the Euclidean W H this is the rule of Eggert and
    Körner (Sparse coding and NMF, 2004). `restore` then divides by the lengths.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=3, constraints={"W": "unit"}, random_state=0)
    >>> np.linalg.norm(solution.factors["W"], axis=0).round(6)
    array([1., 1., 1.])
    """

    axis: Literal["columns", "rows"] = "columns"
    theorem: ClassVar[str] = "QNMF Theorem 2, for lengths in place of sums (Eggert and Körner 2004)"
    restores_fully: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not is_one_of(self.axis, _AXES):
            raise IncompatibleError(f"{type(self).__name__}(axis) takes 'columns' or 'rows'; got {self.axis!r}.")

    @property
    def T(self) -> Unit:
        return Unit("rows" if self.axis == "columns" else "columns")

    def widened(self, bounds: Bounds) -> Bounds:
        return bounds.widened(2, 1)  # + μ⁻ W² is its own bound, − μ⁺ W² lies below its tangent

    def multipliers(self, xp: Any, factor: Array, positive: Array, negative: Array) -> tuple[Array, Array]:
        def term(part: Array) -> Array:
            return factor * xp.sum(factor * part, axis=_AXES[self.axis], keepdims=True)

        return term(positive), term(negative)

    @property
    def on_new_rows(self) -> Constraint:
        return self if self.axis == "rows" else super().on_new_rows

    @property
    def lengths(self) -> Literal["columns", "rows"]:
        return self.axis

    def restore(self, xp: Any, factor: Array) -> Array:
        return unit_length(xp, factor, self.axis)

    def violation(self, xp: Any, factor: Array) -> Array:
        return xp.sum(xp.abs(1.0 - xp.sum(factor * factor, axis=_AXES[self.axis])))

    def text(self, factor: str) -> str:
        return f"{factor} ≥ 0, {self.axis} of {factor} have length 1"

    def multipliers_text(self, factor: str, positive: Sum, negative: Sum) -> tuple[str, str]:
        if self.axis == "columns":
            return f"{factor} diag({factor}ᵀ({positive}))", f"{factor} diag({factor}ᵀ({negative}))"
        return f"diag(({positive}){factor}ᵀ) {factor}", f"diag(({negative}){factor}ᵀ) {factor}"
