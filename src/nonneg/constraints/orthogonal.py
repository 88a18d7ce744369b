"""Orthonormal columns or rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

from ..algebra.expression import Letter, Word
from ..algebra.majorization import Bounds, Law
from ..algebra.rewriting import Sum, cancel, reduce_identity, without_common_number
from ..exceptions import IncompatibleError, is_one_of
from ..kernels.host import multiplied, of_unit_norm
from .base import Array, Constraint, Sides
from .unit import unit_length


@dataclass(frozen=True)
class Orthogonal(Constraint):
    """Wᵀ W = I (``axis="columns"``) or H Hᵀ = I (``axis="rows"``): QNMF Theorem 3, ONL Eq. 12.

    Parameters
    ----------
    axis : {"columns", "rows"}, default="columns"
    steps : {1, 2, 3}, default=3
        Steps of the ONL principle (ONL Fig. 4). 1: add the multiplier terms, the rule of the theorem (QNMF Eq. 11; for W H,
        ONL Eq. 26). 2: then use Wᵀ W = I (ONL Eq. 27). 3: then cancel common terms (ONL Eq. 28).
    unit : bool, default=False
        Whether to normalise every column (or row) after each step, rather than the spectral norm of W.

    See Also
    --------
    NearOrthogonal : A penalty of chosen weight.
    Disjoint : A penalty that becomes exact.
    nonneg.ONMF : An estimator that ends exactly orthogonal.

    Notes
    -----
    The multiplier term of a part ∇ is W Wᵀ ∇ (QNMF Eq. 11), a sum of words, so the steps of the ONL principle are rewriting, as in
    the example below. The theorem holds for the first rule there and the augmented objective; with it, the W of W H stays far
    from orthogonal.

    The result is nearly, not exactly, orthogonal: a multiplicative rule never makes a positive number zero. As printed, Eq. 11 is
    also unstable in scale: if Wᵀ W is too large, W grows without bound. `restore` divides W by its largest singular value after
    every step. The lengths of columns are left to the rule, and with exponent 1 they may oscillate. If another factor takes the
    scale up, as S in ``W S H``, ``unit=True`` normalises each column (or row) instead.

    Examples
    --------
    >>> from nonneg import Model
    >>> from nonneg.constraints import Orthogonal
    >>> for steps in (1, 2, 3):
    ...     print(Model("W H", constraints={"W": Orthogonal(steps=steps)}).rules["W"])
    W ← W ∘ [(X Hᵀ + W Wᵀ W H Hᵀ) / (W H Hᵀ + W Wᵀ X Hᵀ)]^(1/2)
    W ← W ∘ [(X Hᵀ + W H Hᵀ) / (W H Hᵀ + W Wᵀ X Hᵀ)]
    W ← W ∘ [(X Hᵀ) / (W Wᵀ X Hᵀ)]
    """

    axis: Literal["columns", "rows"] = "columns"
    steps: Literal[1, 2, 3] = 3
    unit: bool = False
    theorem: ClassVar[str] = "QNMF Theorem 3, Eq. 11"

    def __post_init__(self) -> None:
        if not is_one_of(self.axis, ("columns", "rows")):
            raise IncompatibleError(f"Orthogonal(axis) takes 'columns' or 'rows'; got {self.axis!r}.")
        if isinstance(self.steps, bool) or self.steps not in (1, 2, 3):
            raise IncompatibleError(
                f"Orthogonal(steps) takes 1, 2 or 3, so many steps of the ONL principle (ONL Fig. 4); got {self.steps!r}."
            )

    @property
    def T(self) -> Orthogonal:
        return replace(self, axis="rows" if self.axis == "columns" else "columns")

    def lagrangian(self, factor: str, positive: Sum, negative: Sum, bounds: Bounds, law: Law) -> Sides:
        W = Word([Letter(factor)])
        inner = Letter(factor, transposed=self.axis == "columns")  # the pair  inner innerᵀ  is the identity

        def multiplier(part: Sum) -> Sum:
            return part.rewritten(lambda word: W + W.T + word if self.axis == "columns" else word + W.T + W)

        def reduced(part: Sum) -> Sum:
            return part.rewritten(lambda word: reduce_identity(word, inner)) if self.steps > 1 else part

        full = law.lagrangian(negative, positive, multiplier(positive), multiplier(negative))  # Eq. 11
        finish = cancel if self.steps > 2 else without_common_number
        numerator, denominator = finish(*map(reduced, full))
        simplified = (numerator, denominator) != without_common_number(*full)

        # Corollary 4: for positive semi-definite Λ⁺ = ½Wᵀ∇⁺ its term has a tangent, ψ = 1 in place of 0.
        multipliers = reduced(positive.rewritten(lambda word: W.T + word if self.axis == "columns" else word + W.T))
        semidefinite = all(word.is_gram and coefficient > Fraction(0) for word, coefficient in multipliers)
        return Sides(numerator, denominator, bounds.widened(2, 1 if semidefinite else 0), simplified)

    @property
    def wants_whole(self) -> bool:  # type: ignore[override]
        return self.steps > 1  # Wᵀ W = I was used between two factors; weights would stand there

    @property
    def orthogonal_axis(self) -> Literal["columns", "rows"]:
        return self.axis

    @property
    def lengths(self) -> Literal["columns", "rows"] | None:
        return self.axis if self.unit else None

    def _gram(self, factor: Array) -> Array:
        return multiplied(factor.T, factor) if self.axis == "columns" else multiplied(factor, factor.T)

    def restore(self, xp: Any, factor: Array) -> Array:
        if self.unit:
            return unit_length(xp, factor, self.axis)
        return of_unit_norm(xp, factor, self._gram(factor))

    def violation(self, xp: Any, factor: Array) -> Array:
        """‖WᵀW − I‖, or ‖HHᵀ − I‖ for rows."""
        gram = self._gram(factor)
        excess = gram - xp.eye(gram.shape[0], dtype=gram.dtype, device=gram.device)
        return xp.sqrt(xp.sum(excess * excess))

    def problem_with(self, factor: str, shape: tuple[int, int]) -> str | None:
        many, room = (shape[1], shape[0]) if self.axis == "columns" else shape
        if many <= room:
            return None
        other = "rows" if self.axis == "columns" else "columns"
        return (
            f"{factor} is {shape[0]} × {shape[1]}, and {many} orthonormal {self.axis} do not fit into {room} {other}. "
            f"Lower the rank to {room} at most, or constrain {factor} to 'orthogonal-{other}'."
        )

    def text(self, factor: str) -> str:
        return f"{factor} ≥ 0, " + (f"{factor}ᵀ {factor} = I" if self.axis == "columns" else f"{factor} {factor}ᵀ = I")
