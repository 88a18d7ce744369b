"""A penalty on the sum of a factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..algebra.majorization import Bounds, Law
from ..algebra.rewriting import Sum
from ..exceptions import IncompatibleError
from ..naming import is_number
from .base import Array, Constraint, Entrywise, Sides, in_other_units


@dataclass(frozen=True)
class Sparse(Constraint):
    """The objective gains weight · ΣH: non-negative sparse coding (P. Hoyer, 2002; PNMF §6.2).

    Parameters
    ----------
    weight : float
        The λ of D(X‖X̂) + λ ΣH. It depends on the units of X. Another factor must be bounded (`Unit`, `Stochastic`), or H shrinks at
        its expense.

    Notes
    -----
    Its gradient, the constant λ, joins ∇⁺: H ← H ∘ [∇⁻ / (∇⁺ + λ)]^σ.
    """

    weight: float
    theorem: ClassVar[str] = "QNMF Theorem 1, with the penalty of Hoyer 2002"
    restores_fully: ClassVar[bool] = True
    any_scale: ClassVar[bool] = True
    has_penalty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not is_number(self.weight) or self.weight < 0:
            raise IncompatibleError(f"The weight of Sparse must be a number that is not negative; got {self.weight!r}.")

    def lagrangian(self, factor: str, positive: Sum, negative: Sum, bounds: Bounds, law: Law) -> Sides:
        return Sides(negative, positive, self.widened(bounds))  # no number is taken out: it would be taken out of the penalty too

    def widened(self, bounds: Bounds) -> Bounds:
        return bounds.widened(1, 1)

    def multipliers(self, xp: Any, factor: Array, positive: Array, negative: Array) -> tuple[Array, Array]:
        return 0.0, self.weight

    def penalty(self, xp: Any, factor: Array) -> Array:
        return self.weight * xp.sum(factor)

    @property
    def on_new_rows(self) -> Sparse:
        return self

    @property
    def entrywise(self) -> Entrywise:
        return Entrywise(penalty=self.weight)

    def in_units(self, objective: float, factor: float) -> Sparse:
        return Sparse(in_other_units(self.weight, factor - objective))

    def text(self, factor: str) -> str:
        return f"{factor} ≥ 0, at a penalty of {self.weight:g} Σ{factor}"

    def multipliers_text(self, factor: str, positive: Sum, negative: Sum) -> tuple[str, str]:
        return "", f"{self.weight:g}"
