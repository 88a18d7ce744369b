"""Orthogonality by a fixed multiplier or penalty: FONT."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

from ..algebra.expression import Letter, Word
from ..algebra.majorization import Bounds, Law, PowerLaw
from ..algebra.rewriting import Sum, common_number
from ..exceptions import IncompatibleError, is_number, is_one_of
from .base import Array, Constraint, Sides, in_other_units
from .unit import unit_length


@dataclass(frozen=True)
class FixedMultiplier(Constraint):
    """Wᵀ W = I with its Lagrange multiplier set to −I by hand, and columns of length one: FONT §3, Eq. 13–17.

    Parameters
    ----------
    axis : {"columns", "rows"}, default="columns"
        Which of the two have length one.
    weight : float, default=1.0
        Weight of the term ½ tr(I − WᵀW).

    See Also
    --------
    NearOrthogonal : A penalty in place of a multiplier.
    nonneg.FONT : An estimator whose method "1" has it.

    Notes
    -----
    ½ tr(I − WᵀW) joins the objective, so W joins the numerator: W ← W ∘ (∇⁻ + W)/∇⁺ (FONT Eq. 16). Without normalisation that term
    is unbounded below, so `restore` is part of the method. Its weight depends on the scale of the data.

    Examples
    --------
    >>> import nonneg
    >>> from nonneg.constraints import FixedMultiplier
    >>> print(nonneg.Model("W S H", constraints={"W": FixedMultiplier()}).rules["W"])
    W ← W ∘ [(X Hᵀ Sᵀ + W) / (W S H Hᵀ Sᵀ)]
    """

    axis: Literal["columns", "rows"] = "columns"
    theorem: ClassVar[str] = "FONT §3"
    weight: float = 1.0
    restores_fully: ClassVar[bool] = True
    has_penalty: ClassVar[bool] = True
    is_soft: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not is_one_of(self.axis, ("columns", "rows")):
            raise IncompatibleError(f"{type(self).__name__}(axis) takes 'columns' or 'rows'; got {self.axis!r}.")
        if not is_number(self.weight) or self.weight < 0:
            raise IncompatibleError(f"The weight of {type(self).__name__} must be a number ≥ 0; got {self.weight!r}.")

    @property
    def T(self) -> FixedMultiplier:
        return replace(self, axis="rows" if self.axis == "columns" else "columns")

    def lagrangian(self, factor: str, positive: Sum, negative: Sum, bounds: Bounds, law: Law) -> Sides:
        number = common_number(negative, positive)
        weight = Fraction(self.weight).limit_denominator(10**9)
        gain, loss = (term.scaled(weight) for term in self._terms(Word([Letter(factor)])))
        if isinstance(law, PowerLaw):
            negative, positive = negative + gain, positive + loss  # −∇ is numerator − denominator
        else:
            negative, positive = negative + gain - loss, positive + loss  # −∇ is the numerator
        return Sides(negative.scaled(1 / number), positive.scaled(1 / number), self.widened(bounds))

    def _terms(self, W: Word) -> tuple[Sum, Sum]:
        return Sum.of(W), Sum()  # FONT Eq. 14

    def widened(self, bounds: Bounds) -> Bounds:
        return bounds.widened(1, 1)  # −½‖W‖² lies below its tangent

    @property
    def orthogonal_axis(self) -> Literal["columns", "rows"]:
        return self.axis

    @property
    def lengths(self) -> Literal["columns", "rows"]:
        return self.axis

    def restore(self, xp: Any, factor: Array) -> Array:
        return unit_length(xp, factor, self.axis)

    def in_units(self, objective: float, factor: float) -> FixedMultiplier:
        return replace(self, weight=in_other_units(self.weight, -objective))

    def text(self, factor: str) -> str:
        pair = self._pair(factor)
        return f"{factor} ≥ 0, {self.axis} of {factor} have length 1, multiplier of {pair} = I fixed at −{self._times}I"

    @property
    def _times(self) -> str:
        """The weight as a number before a term, in print."""
        return "" if self.weight == 1 else f"{self.weight:g} "

    def _pair(self, factor: str) -> str:
        """The products of columns, or of rows, in print."""
        return f"{factor}ᵀ {factor}" if self.axis == "columns" else f"{factor} {factor}ᵀ"


@dataclass(frozen=True)
class NearOrthogonal(FixedMultiplier):
    """The objective gains ¼ weight · ‖WᵀW − I‖², and columns have length one: the penalty behind FONT Eq. 21.

    Parameters
    ----------
    axis : {"columns", "rows"}, default="columns"
        Which of the two are to be orthonormal.
    weight : float, default=1.0
        Weight of the penalty.

    See Also
    --------
    Orthogonal : The rule of QNMF Theorem 3.
    FixedMultiplier : A multiplier set by hand, FONT §3.
    nonneg.FONT : An estimator with near-orthogonal factors.

    Notes
    -----
    The penalty's gradient is W WᵀW − W. FONT Eq. 21 is ∇ = 0 solved for the first W of each term, with WᵀW and the right side from
    the last iterate, as in `AlternatingLeastSquares`.

    Examples
    --------
    >>> import nonneg
    >>> from nonneg.constraints import NearOrthogonal
    >>> print(nonneg.Model("W S H", constraints={"W": NearOrthogonal()}).rules["W"])
    W ← W ∘ [(X Hᵀ Sᵀ + W) / (W S H Hᵀ Sᵀ + W Wᵀ W)]^(1/3)
    """

    def _terms(self, W: Word) -> tuple[Sum, Sum]:
        return Sum.of(W), Sum.of(W + W.T + W)

    def widened(self, bounds: Bounds) -> Bounds:
        return bounds.widened(4, 1)

    def penalty(self, xp: Any, factor: Array) -> Array:
        gram = factor.T @ factor if self.axis == "columns" else factor @ factor.T
        excess = gram - xp.eye(gram.shape[0], dtype=gram.dtype, device=gram.device)
        return self.weight / 4 * xp.sum(excess * excess)

    def text(self, factor: str) -> str:
        return f"{factor} ≥ 0, {self.axis} of {factor} have length 1, at a penalty of {self._times}¼‖{self._pair(factor)} − I‖²"
