"""Some entries of a factor zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exceptions import IncompatibleError
from .base import Array, Constraint


@dataclass(frozen=True, eq=False)
class Support(Constraint):
    """Entries outside a pattern are zero.

    Parameters
    ----------
    pattern : array of bool
        True for entries that may be positive, of the shape of the factor.

    See Also
    --------
    Diagonal : Zeros off the diagonal.
    PartlyFixed : Rows or columns that are given.

    Notes
    -----
    Without the entries that are zero the objective is one of fewer variables, and its rule is that of the whole factor.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.constraints import Support
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> allowed = np.kron(np.eye(2), np.ones(4)) > 0
    >>> solution = nonneg.factorize(X, "W H", rank=2, constraints={"H": Support(allowed)}, random_state=0)
    >>> bool((solution.factors["H"][~allowed] == 0).all())
    True
    """

    pattern: Any
    theorem: ClassVar[str] = "QNMF Theorem 1, Eq. 8"
    any_scale: ClassVar[bool] = True
    any_lengths: ClassVar[bool] = True
    restores_fully: ClassVar[bool] = True

    def __post_init__(self) -> None:
        pattern = np.asarray(self.pattern)
        if pattern.ndim != 2 or pattern.dtype != bool:
            raise IncompatibleError(
                f"Support(pattern) takes a matrix of True and False; got {pattern.dtype} of shape {pattern.shape}."
            )
        object.__setattr__(self, "pattern", pattern)

    @property
    def T(self) -> Support:
        return Support(self.pattern.T)

    def _mask(self, xp: Any, factor: Array) -> Array:
        return xp.asarray(self.pattern, device=factor.device)

    def moving(self, array: Array) -> Array:
        return array[self.pattern]

    def without_given(self, xp: Any, array: Array) -> Array:
        return self.restore(xp, array)

    def restore(self, xp: Any, factor: Array) -> Array:
        return xp.where(self._mask(xp, factor), factor, xp.zeros_like(factor))

    def problem_with(self, factor: str, shape: tuple[int, int]) -> str | None:
        if self.pattern.shape != shape:
            n, m = self.pattern.shape
            return f"The pattern of Support is {n} × {m}, and {factor} is {shape[0]} × {shape[1]}."
        if not self.pattern.any():
            return f"The pattern of Support has no True: {factor} would be zero."
        return None

    def text(self, factor: str) -> str:
        return f"{factor} ≥ 0, {np.sum(~self.pattern)} of its {self.pattern.size} entries zero"
