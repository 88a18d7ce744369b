"""Matrices that are nearly permutations: orthonormal columns and rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ..algebra.expression import Letter, Word
from ..algebra.majorization import Bounds, Law
from ..algebra.rewriting import Sum, without_common_number
from ..kernels.tuned import tuned
from .base import Array, Constraint, Sides

_SWEEPS = tuned(3, by="graphs", on="2026-11-15")
"""Sinkhorn sweeps of a step."""
_LEAST = 1e-30
"""Least divisor: guards against zero sums."""


@dataclass(frozen=True)
class Permutation(Constraint):
    """Wᵀ W = I and W Wᵀ = I: a non-negative W is then a permutation matrix. For matching graphs, beyond QNMF §5.4.

    See Also
    --------
    DoublyStochastic : Sums of one, without orthogonality.
    nonneg.graph.match_graphs : Matches the vertices of two graphs.

    Notes
    -----
    The multiplier terms W Wᵀ∇ and ∇ WᵀW of QNMF Theorem 3, for columns and for rows, enter by half each. `restore` balances rows
    and columns, since those of a permutation sum to one: the rule alone is unstable in scale, like that of one side.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.constraints import Permutation
    >>> P = np.eye(4)[[2, 0, 3, 1]]
    >>> bool(Permutation().violation(np, P) < 1e-12)
    True
    """

    theorem: ClassVar[str] = "QNMF Theorem 3 on both sides"

    def lagrangian(self, factor: str, positive: Sum, negative: Sum, bounds: Bounds, law: Law) -> Sides:
        W = Word([Letter(factor)])

        def multiplier(part: Sum) -> Sum:
            both = part.rewritten(lambda word: W + W.T + word) + part.rewritten(lambda word: word + W.T + W)
            return both.scaled(Fraction(1, 2))

        full = law.lagrangian(negative, positive, multiplier(positive), multiplier(negative))
        return Sides(*without_common_number(*full), bounds.widened(2, 0))

    def restore(self, xp: Any, factor: Array) -> Array:
        for _ in range(_SWEEPS):
            for axis in (0, 1):
                sums = xp.sum(factor, axis=axis, keepdims=True)
                factor = factor / xp.clip(sums, _LEAST, None)
        return factor

    def violation(self, xp: Any, factor: Array) -> Array:
        """‖WᵀW − I‖."""
        gram = factor.T @ factor
        excess = gram - xp.eye(gram.shape[0], dtype=gram.dtype, device=gram.device)
        return xp.sqrt(xp.sum(excess * excess))

    def problem_with(self, factor: str, shape: tuple[int, int]) -> str | None:
        if shape[0] == shape[1]:
            return None
        return (
            f"{factor} is {shape[0]} × {shape[1]}, and only a square matrix can have orthonormal rows and orthonormal columns. Use "
            f"'orthogonal-{'columns' if shape[1] < shape[0] else 'rows'}'."
        )

    def text(self, factor: str) -> str:
        return f"{factor} ≥ 0, {factor}ᵀ {factor} = {factor} {factor}ᵀ = I"
