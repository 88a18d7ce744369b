"""The trace objective: no divergence, but used in place of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..algebra.expression import Word
from ..algebra.majorization import Bounds
from ..algebra.rewriting import Sum
from ..kernels.namespace import Array
from .base import DataSums, Middles, Objective, Sums


@dataclass(frozen=True)
class Trace(Objective):
    r"""Maximise tr(WᵀSW) for a symmetric S of either sign (ONL §4, NNP §4); the form is ``"W.T S W"``.

    The derivative of −tr(X̂) by X̂ is −I: Q is the empty word. Writing S = S⁺ − S⁻ then gives the two parts S⁺W and S⁻W. The
    bound of −tr(WᵀS⁺W) has ψ = 0 and that of tr(WᵀS⁻W) has ψ = 2, so the proven rule is the square root, ONL 40 and 42; ONL 39
    and 41 and NNP 28 are the same with exponent 1.

    Without a constraint the objective has no maximum, and W is kept at unit norm. The rules ONL 39 and 40 are then offered as
    printed: their fixed points solve SW = 0 at positive entries of W, and are not maxima over the unit sphere; the orthogonal rule
    finds higher values even for a single column.

    See Also
    --------
    nonneg.Objective : Sums of traces and norms, as text.
    nonneg.graph.GraphClustering : Partitions graphs by it.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> S = np.kron(np.eye(2), np.ones((3, 3)))
    >>> model = nonneg.Model("W.T S W", "trace", {"W": "orthogonal"}, data="S")
    >>> solution = nonneg.factorize(S, model, rank=2, random_state=0)
    >>> round(solution.objective, 2)
    6.0
    """

    approximates: ClassVar[bool] = False
    maximised: ClassVar[bool] = True
    signed: ClassVar[bool] = True
    bounded: ClassVar[bool] = False

    def textbook(self, X: Array, approximation: Array, xp: Any) -> Array:
        return xp.linalg.trace(approximation)

    def textbook_parts(self, X: np.ndarray, approximation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros_like(approximation), np.eye(len(approximation))

    @property
    def degree(self) -> float:
        return 1.0

    def middles(self, product: Word, data: str) -> Middles:
        return Middles(Sum(), Sum.of(Word()), {}, (Word(),))

    def bounds(self, degree: int) -> Bounds:
        return Bounds(float(degree), 0.0)

    def constant(self, data: DataSums) -> float:
        return 0.0

    def value(self, constant: float, sums: Sums) -> tuple[float, float]:
        return -sums.terms[0], sums.sizes[0]

    def scale(self, sums: Sums) -> float:
        return 1.0

    def gradient(self, positive: Any, negative: Any, sums: Sums) -> tuple[Any, Any]:
        return positive, negative

    def text(self, data: str, product: Word) -> str:
        return f"tr({product})"
