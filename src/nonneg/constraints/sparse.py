"""A penalty on the sum of a factor, on its squares, or on both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..algebra.majorization import Bounds, Law
from ..algebra.rewriting import Sum
from ..exceptions import IncompatibleError, is_number
from .base import Array, Constraint, Entrywise, Sides, in_other_units


@dataclass(frozen=True)
class Sparse(Constraint):
    """The objective gains weight · ΣH + ½ ridge · ‖H‖²: non-negative sparse coding (P. Hoyer, 2002; PNMF §6.2), the elastic net.

    Parameters
    ----------
    weight : float
        The λ of D(X‖X̂) + λ ΣH. It depends on the units of X. Another factor must be bounded (`Unit`, `Stochastic`, a penalty), or
        H shrinks at its expense.
    ridge : float, default=0
        The μ of ½ μ ‖H‖². ``Sparse(0, ridge)`` is a penalty on squares alone.

    See Also
    --------
    Unit : Bounds the other factor.
    nonneg.NonnegativeSparseCoding : An estimator with this penalty on codes.

    Notes
    -----
    Its gradient, λ + μH, joins ∇⁺: H ← H ∘ [∇⁻ / (∇⁺ + λ + μH)]^σ.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.constraints import Sparse
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> models = [nonneg.Model("W H", constraints={"H": Sparse(weight), "W": "unit"}) for weight in (0.01, 1.0)]
    >>> little, much = (nonneg.factorize(X, model, rank=3, random_state=0).factors["H"].sum() for model in models)
    >>> bool(much < little)
    True
    """

    weight: float
    ridge: float = 0.0
    restores_fully: ClassVar[bool] = True
    any_scale: ClassVar[bool] = True
    has_penalty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, value in (("weight", self.weight), ("ridge", self.ridge)):
            if not is_number(value) or value < 0:
                raise IncompatibleError(f"The {name} of Sparse must be a number that is not negative; got {value!r}.")

    @property
    def theorem(self) -> str:  # type: ignore[override]
        return f"QNMF Theorem 1, with {'a penalty on squares' if self.ridge else 'the penalty of Hoyer 2002'}"

    def lagrangian(self, factor: str, positive: Sum, negative: Sum, bounds: Bounds, law: Law) -> Sides:
        return Sides(negative, positive, self.widened(bounds))  # no number is taken out: it would be taken out of the penalty too

    def widened(self, bounds: Bounds) -> Bounds:
        bounds = bounds.widened(2, 2) if self.ridge else bounds
        return bounds.widened(1, 1) if self.weight or not self.ridge else bounds

    def multipliers(self, xp: Any, factor: Array, positive: Array, negative: Array) -> tuple[Array, Array]:
        return 0.0, self.weight + self.ridge * factor if self.ridge else self.weight

    def penalty(self, xp: Any, factor: Array) -> Array:
        value = self.weight * xp.sum(factor)
        return value + self.ridge / 2 * xp.sum(factor * factor) if self.ridge else value

    @property
    def on_new_rows(self) -> Sparse:
        return self

    @property
    def entrywise(self) -> Entrywise:
        return Entrywise(penalty=self.weight, ridge=self.ridge)

    def in_units(self, objective: float, factor: float) -> Sparse:
        return Sparse(in_other_units(self.weight, factor - objective), in_other_units(self.ridge, 2 * factor - objective))

    def text(self, factor: str) -> str:
        squares = f"{self.ridge / 2:g} ‖{factor}‖²" if self.ridge else ""
        total = f"{self.weight:g} Σ{factor}" if self.weight or not self.ridge else ""
        return f"{factor} ≥ 0, at a penalty of {' + '.join(filter(None, (total, squares)))}"

    def multipliers_text(self, factor: str, positive: Sum, negative: Sum) -> tuple[str, str]:
        total = f"{self.weight:g}" if self.weight or not self.ridge else ""
        return "", " + ".join(filter(None, (total, f"{self.ridge:g} {factor}" if self.ridge else "")))
