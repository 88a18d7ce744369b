"""The α-divergences: Hellinger, χ², and the family between the I-divergence and its dual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.majorization import Monomial, fraction
from ..exceptions import is_number
from ..kernels.namespace import Array
from .base import Divergence
from .beta import Beta
from .dual_i import DualI


@dataclass(frozen=True, eq=False)
class Alpha(Divergence):
    r"""The α-divergence (QNMF Table 1).

    .. math:: D(X\|\hat X) = \frac{1}{a(1-a)} \sum a X + (1-a)\hat X - X^a \hat X^{1-a}

    Parameters
    ----------
    a : float
        1/2 is four times the Hellinger distance, 2 half of Pearson's χ², −1 half of Neyman's χ²; 1 is the I-divergence.
        ``Alpha(0)`` is the limit `DualI`, and ``Alpha(1)`` is ``Beta(1)``.

    See Also
    --------
    Beta : Another family, with the squared distance in it.
    Renyi : An α-divergence that does not depend on scale.
    get_divergence : Divergences by name or number.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.divergences import Alpha
    >>> from nonneg.testing import divergence_value
    >>> print(round(divergence_value(Alpha(0.5), np.array([[4.0]]), np.array([[1.0]])), 6))
    2.0
    """

    a: float

    def __new__(cls, a: float | None = None) -> Any:
        # Both limits have classes of their own; α → 0 has another law. (a is None while unpickling.)
        if not is_number(a) or a not in (0, 1):
            return super().__new__(cls)
        return DualI() if a == 0 else Beta(1)

    @classmethod
    def examples(cls) -> tuple[Alpha, ...]:
        return tuple(map(cls, (0.5, 2, -1, 1.5)))

    def textbook(self, X: Array, approximation: Array, xp: Any) -> Array:
        Y, a = approximation, self.a
        return xp.sum(a * X + (1 - a) * Y - X**a * Y ** (1 - a)) / (a * (1 - a))

    def textbook_parts(self, X: np.ndarray, approximation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ones, ratios = np.ones_like(approximation) / abs(self.a), (X / approximation) ** self.a / abs(self.a)
        return (ones, ratios) if self.a > 0 else (ratios, ones)

    @property
    def monomials(self) -> tuple[Monomial, Monomial]:
        a = self.a
        return Monomial(1 / a, 0, 1), Monomial(-1 / (a * (1 - a)), a, 1 - a)

    @property
    def symbol(self) -> str:
        return f"D_α={fraction(self.a)}"
