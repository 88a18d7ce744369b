"""The β-divergences: squared Euclidean distance, I-divergence, Itakura–Saito, and those between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.expression import Word
from ..algebra.majorization import Monomial, fraction
from ..kernels.namespace import Array
from .base import Divergence, relative_entropy


@dataclass(frozen=True, eq=False)
class Beta(Divergence):
    r"""The β-divergence, numbered as in scikit-learn.

    .. math:: D(X\|\hat X) = \sum \frac{X^b + (b-1)\hat X^b - b\,X\hat X^{b-1}}{b(b-1)}

    Parameters
    ----------
    b : float
        2 is half the squared Euclidean distance, 1 the I-divergence (scikit-learn's ``"kullback-leibler"``), 0 the
        Itakura–Saito divergence. The β of QNMF Table 1 is this number minus one.

    See Also
    --------
    Alpha : Another family, with Hellinger's distance in it.
    Gamma : A β-divergence that does not depend on scale.
    get_divergence : Divergences by name or number.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.divergences import Beta, get_divergence
    >>> get_divergence("euclidean") == Beta(2)
    True
    >>> from nonneg.testing import divergence_value
    >>> print(divergence_value(Beta(2), np.array([[4.0]]), np.array([[1.0]])))
    4.5
    """

    b: float

    @classmethod
    def examples(cls) -> tuple[Beta, ...]:
        return tuple(map(cls, (2, 1, 0, 3, 1.5, 0.5, -1)))

    def textbook(self, X: Array, approximation: Array, xp: Any) -> Array:
        Y, b = approximation, self.b
        if b == 0:
            return xp.sum(X / Y - xp.log(X / Y) - 1)
        if b == 1:
            return relative_entropy(X, Y, xp) - xp.sum(X) + xp.sum(Y)
        return xp.sum(X**b + (b - 1) * Y**b - b * X * Y ** (b - 1)) / (b * (b - 1))

    def textbook_parts(self, X: np.ndarray, approximation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return approximation ** (self.b - 1), X * approximation ** (self.b - 2)

    @property
    def monomials(self) -> tuple[Monomial, Monomial]:
        b = self.b
        if b == 0:
            return Monomial(1, 0, 0), Monomial(1, 1, -1)  # ln X̂ + X/X̂
        if b == 1:
            return Monomial(1, 0, 1), Monomial(-1, 1, 0)  # X̂ − X ln X̂
        return Monomial(1 / b, 0, b), Monomial(-1 / (b - 1), 1, b - 1)

    @property
    def symbol(self) -> str:
        return {0.0: "D_IS", 1.0: "D_I"}.get(self.b, f"D_β={fraction(self.b)}")

    def text(self, data: str, product: Word) -> str:
        return f"½‖{data} − {product}‖²" if self.b == 2 else super().text(data, product)
