"""Diagonal matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .base import Array, Constraint


@dataclass(frozen=True)
class Diagonal(Constraint):
    """Zero off the diagonal: B in W B Wᵀ of components that have weights of their own and do not mix (QNMF §2).

    See Also
    --------
    Support : Zeros wherever a pattern has them.
    get_constraint : This one is "diagonal".

    Notes
    -----
    A multiplicative rule keeps zeros, so it is the rule without the constraint, and keeps its theorem. `restore` puts zeros back.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> solution = nonneg.factorize(X, "W S H", rank=2, constraints={"S": "diagonal"}, random_state=0)
    >>> int(np.count_nonzero(solution.factors["S"]))
    2
    """

    any_scale: ClassVar[bool] = True
    restores_fully: ClassVar[bool] = True
    theorem: ClassVar[str] = "QNMF Theorem 1, Eq. 8, on the diagonal"

    def restore(self, xp: Any, factor: Array) -> Array:
        return self.without_given(xp, factor)

    def without_given(self, xp: Any, array: Array) -> Array:
        return array * xp.eye(*array.shape, dtype=array.dtype, device=array.device)

    def problem_with(self, factor: str, shape: tuple[int, int]) -> str | None:
        return None if shape[0] == shape[1] else f"{factor} is {shape[0]} × {shape[1]}, and a diagonal matrix is square."

    def text(self, factor: str) -> str:
        return f"{factor} ≥ 0, diagonal"
