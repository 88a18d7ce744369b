"""The γ-divergences: insensitive to the scale of either argument."""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra.majorization import Monomial, fraction
from ..exceptions import IncompatibleError
from .base import Divergence
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
