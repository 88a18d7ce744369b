"""The γ-divergences: insensitive to the scale of either argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.majorization import Monomial, fraction
from ..exceptions import IncompatibleError
from ..kernels.namespace import Array
from .base import Divergence, relative_entropy
from .beta import Beta


@dataclass(frozen=True, eq=False)
class Gamma(Divergence):
    r"""The γ-divergence (QNMF Table 1).

    .. math:: D(X\|\hat X) = \frac{\ln\sum X^{1+g} + g\ln\sum\hat X^{1+g} - (1+g)\ln\sum X\hat X^g}{g(1+g)}

    Parameters
    ----------
    g : float
        Any number but −1. In the limit 0 it is the Kullback–Leibler divergence of X/ΣX from X̂/ΣX̂.

    See Also
    --------
    Beta : The same monomials, dependent on scale.
    Renyi : Another divergence that does not depend on scale.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.divergences import Gamma
    >>> from nonneg.testing import divergence_value
    >>> X = np.array([[1.0, 2], [3, 4]])
    >>> bool(abs(divergence_value(Gamma(1), X, 10 * X)) < 1e-12)
    True
    """

    g: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.g == -1:
            raise IncompatibleError("Gamma(-1) is not defined: its first term divides by 1 + g. Take a g near -1 instead.")

    @classmethod
    def examples(cls) -> tuple[Gamma, ...]:
        return tuple(map(cls, (0.5, -0.5, 1, 0, -2)))

    def textbook(self, X: Array, approximation: Array, xp: Any) -> Array:
        Y, g = approximation, self.g
        if g == 0:
            return relative_entropy(X / xp.sum(X), Y / xp.sum(Y), xp)
        sums = (xp.log(xp.sum(matrix)) for matrix in (X ** (1 + g), Y ** (1 + g), X * Y**g))
        return sum(weight * term for weight, term in zip((1, g, -1 - g), sums, strict=True)) / (g * (1 + g))

    def textbook_parts(self, X: np.ndarray, approximation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        Y, g = approximation, self.g
        return Y**g / np.sum(Y ** (1 + g)), X * Y ** (g - 1) / np.sum(X * Y**g)

    @property
    def monomials(self) -> tuple[Monomial, Monomial]:
        g = self.g
        if g == 0:
            return Monomial(1, 0, 1, logarithm=True), Monomial(-1, 1, 0, logarithm=True)
        return Monomial(1 / (1 + g), 0, 1 + g, logarithm=True), Monomial(-1 / g, 1, g, logarithm=True)

    @property
    def separable(self) -> Beta:
        return Beta(1 + self.g)  # min over c of D_β(x ‖ c y) is an increasing function of D_γ(x ‖ y)

    @property
    def symbol(self) -> str:
        return f"D_γ={fraction(self.g)}" if self.g else "D_KL"
