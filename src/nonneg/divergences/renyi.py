"""The Rényi divergences of the normalised matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.majorization import Monomial, fraction
from ..exceptions import IncompatibleError, is_number
from ..kernels.namespace import Array
from .alpha import Alpha
from .base import Divergence
from .gamma import Gamma


@dataclass(frozen=True, eq=False)
class Renyi(Divergence):
    r"""Rényi divergence of X/ΣX from X̂/ΣX̂ (QNMF Table 1).

    .. math:: D(X\|\hat X) = \frac{1}{r-1} \ln \sum \Big(\frac{X}{\sum X}\Big)^r \Big(\frac{\hat X}{\sum\hat X}\Big)^{1-r}

    Parameters
    ----------
    r : float
        Positive. ``Renyi(1)`` is the Kullback–Leibler divergence of the normalised matrices, ``Gamma(0)``.

    See Also
    --------
    Alpha : The same monomials, dependent on scale.
    Gamma : Another divergence that does not depend on scale.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.divergences import Renyi
    >>> from nonneg.testing import divergence_value
    >>> X = np.array([[1.0, 2], [3, 4]])
    >>> bool(abs(divergence_value(Renyi(2), X, 10 * X)) < 1e-12)
    True
    """

    r: float

    def __new__(cls, r: float | None = None) -> Any:
        return Gamma(0) if is_number(r) and r == 1 else super().__new__(cls)  # (r is None while unpickling)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.r > 0:
            raise IncompatibleError(f"Renyi(r) needs r > 0; got {self.r}.")

    @classmethod
    def examples(cls) -> tuple[Any, ...]:
        return tuple(map(cls, (0.5, 2, 1)))

    def textbook(self, X: Array, approximation: Array, xp: Any) -> Array:
        Y, r = approximation, self.r
        return xp.log(xp.sum((X / xp.sum(X)) ** r * (Y / xp.sum(Y)) ** (1 - r))) / (r - 1)

    def textbook_parts(self, X: np.ndarray, approximation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        Y, r = approximation, self.r
        return np.ones_like(Y) / np.sum(Y), (X / Y) ** r / np.sum(X**r * Y ** (1 - r))

    @property
    def monomials(self) -> tuple[Monomial, Monomial]:
        r = self.r
        return Monomial(1, 0, 1, logarithm=True), Monomial(1 / (r - 1), r, 1 - r, logarithm=True)

    @property
    def separable(self) -> Alpha:
        return Alpha(self.r)  # min over c of D_α(x ‖ c y) is an increasing function of D_r(x ‖ y)

    @property
    def symbol(self) -> str:
        return f"D_r={fraction(self.r)}"
