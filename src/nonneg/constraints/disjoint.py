"""A penalty on the overlap of components."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from ..algebra.majorization import Bounds, Law
from ..algebra.rewriting import Sum
from ..exceptions import IncompatibleError, is_number, is_one_of
from .base import Array, Constraint, Entrywise, Sides, in_other_units


@dataclass(frozen=True)
class Disjoint(Constraint):
    """The objective gains weight · Σ_{j<k} ⟨w_j, w_k⟩ over the columns (or rows) of W.

    Parameters
    ----------
    weight : float
        In units of the objective over W squared.
    axis : {"columns", "rows"}

    See Also
    --------
    Orthogonal : Orthonormal columns, approached by a rule.
    Sparse : A penalty on the sum of a factor.

    Notes
    -----
    All terms are non-negative, so it is an exact penalty: beyond some weight no two columns share a non-zero row, and Wᵀ W is
    diagonal. Its gradient weight · (W 1 1ᵀ − W) has no negative part and joins ∇⁺.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.constraints import Disjoint
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=2, constraints={"W": Disjoint(10.0), "H": "unit-rows"}, random_state=0)
    >>> W = solution.factors["W"]
    >>> bool(W[:, 0] @ W[:, 1] < 1e-6)
    True
    """

    weight: float
    axis: Literal["columns", "rows"] = "columns"
    theorem: ClassVar[str] = "QNMF Theorem 1, with a penalty on overlap"
    restores_fully: ClassVar[bool] = True
    any_scale: ClassVar[bool] = True
    has_penalty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not is_one_of(self.axis, ("columns", "rows")):
            raise IncompatibleError(f"Disjoint(axis) takes 'columns' or 'rows'; got {self.axis!r}.")
        if not is_number(self.weight) or self.weight < 0:
            raise IncompatibleError(f"The weight of Disjoint must be a number that is not negative; got {self.weight!r}.")

    @property
    def T(self) -> Disjoint:
        return replace(self, axis="rows" if self.axis == "columns" else "columns")

    def lagrangian(self, factor: str, positive: Sum, negative: Sum, bounds: Bounds, law: Law) -> Sides:
        return Sides(negative, positive, self.widened(bounds))  # no number is taken out: it would be taken out of the penalty too

    def widened(self, bounds: Bounds) -> Bounds:
        return bounds.widened(2, 2)

    def multipliers(self, xp: Any, factor: Array, positive: Array, negative: Array) -> tuple[Array, Array]:
        sums = xp.sum(factor, axis=1 if self.axis == "columns" else 0, keepdims=True)
        return 0.0, self.weight * (sums - factor)

    def penalty(self, xp: Any, factor: Array) -> Array:
        W = factor if self.axis == "columns" else factor.T
        later = xp.triu(xp.ones((W.shape[1], W.shape[1]), dtype=W.dtype, device=W.device), k=1)
        return self.weight * xp.sum(W * (W @ later))  # ½(‖W1‖² − ‖W‖²) is the same, with larger rounding errors

    @property
    def entrywise(self) -> Entrywise:
        return Entrywise(overlap=self.weight, axis=self.axis)

    def in_units(self, objective: float, factor: float) -> Disjoint:
        return replace(self, weight=in_other_units(self.weight, 2 * factor - objective))

    def text(self, factor: str) -> str:
        return f"{factor} ≥ 0, {self.axis} of {factor} overlap at a penalty of {self.weight:g} Σ⟨{factor}ⱼ, {factor}ₖ⟩"

    def multipliers_text(self, factor: str, positive: Sum, negative: Sum) -> tuple[str, str]:
        return (
            "",
            f"{self.weight:g} ({factor} 1 1ᵀ − {factor})"
            if self.axis == "columns"
            else f"{self.weight:g} (1 1ᵀ {factor} − {factor})",
        )
