"""The dual I-divergence, the one member of the table with an exponential rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..algebra.expression import Letter, Word
from ..algebra.majorization import Bounds, ExponentialLaw, Law
from ..algebra.rewriting import Sum
from ..data.steps import Curve
from ..kernels.namespace import Array
from .base import DataSums, LogRatio, Middles, Objective, Sums, relative_entropy


@dataclass(frozen=True)
class DualI(Objective):
    r"""Dual I-divergence, the I-divergence with its arguments exchanged: the limit α → 0 (QNMF §3.2).

    .. math:: D(X\|\hat X) = \sum \hat X \ln\frac{\hat X}{X} - \hat X + X

    Its derivative is −ln(X/X̂), of either sign; P, all ones, is the denominator of the limit.

    See Also
    --------
    Beta : ``Beta(1)`` is the I-divergence.
    Alpha : The family whose limit this is.

    Notes
    -----
    For a factor with one occurrence, the limit of the proven rules is proven. With two it is the paper's rule, exp(½ ·), without a
    theorem: from starts that are wrong by orders of magnitude its first steps can raise the objective. `nonneg.solvers.Adaptive`
    does not take such a step.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.divergences import DualI
    >>> from nonneg.testing import divergence_value
    >>> print(round(divergence_value(DualI(), np.array([[1.0]]), np.array([[2.0]])), 6))
    0.386294
    """

    law: ClassVar[Law] = ExponentialLaw()
    requires_positive_data: ClassVar[bool] = True  # type: ignore[misc]
    theorem: ClassVar[str] = "QNMF §3.2, dual I-divergence"

    @classmethod
    def examples(cls) -> tuple[DualI, ...]:
        return (cls(),)

    def textbook(self, X: Array, approximation: Array, xp: Any) -> Array:
        return relative_entropy(approximation, X, xp) - xp.sum(approximation) + xp.sum(X)

    def textbook_parts(self, X: np.ndarray, approximation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.ones_like(approximation), 1 + np.log(X / approximation)

    @property
    def degree(self) -> float:
        """D(cX ‖ cX̂) = c · D(X ‖ X̂)."""
        return 1.0

    @property
    def curve(self) -> Curve:
        nothing = np.empty(0)
        return Curve(nothing, nothing, nothing, 0.0, bounds=(1.0, 1.0))

    def middles(self, product: Word, data: str) -> Middles:
        operand = LogRatio()
        name = operand.text(data)
        ones, logarithm = Word([Letter("1")]), Word([Letter(name)])
        return Middles(Sum.of(ones), Sum.of(logarithm), {name: operand}, (ones, logarithm))

    def bounds(self, degree: int) -> Bounds:
        return Bounds(float(degree), 0.0)  # exp(½ ·) for two occurrences: the limit of 1/(2 − (2 − 2α)) · α

    def constant(self, data: DataSums) -> float:
        return data.power_sum(1)

    def value(self, constant: float, sums: Sums) -> tuple[float, float]:
        terms = (constant, *(-term for term in sums.terms))
        return sum(terms), sum(map(abs, terms))

    def scale(self, sums: Sums) -> float:
        positive, negative = sums.terms
        return math.exp(negative / positive) if positive > 0 else 1.0

    def gradient(self, positive: Any, negative: Any, sums: Sums) -> tuple[Any, Any]:
        return 0.0 * positive, negative

    def text(self, data: str, product: Word) -> str:
        return f"D_I({product} ‖ {data})"
