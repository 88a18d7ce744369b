"""A divergence of one's own: any finite generalized polynomial in the approximation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..algebra.expression import Word
from ..algebra.majorization import Monomial, fraction
from ..exceptions import IncompatibleError, is_number
from ..kernels.namespace import Array
from .base import Divergence, check_numbers, is_bounded

_LEAST = 2.0**-900
"""Lower bound on the other coefficients, relative to the largest."""


@dataclass(frozen=True, eq=False)
class Polynomial(Divergence):
    r"""A finite generalized polynomial (QNMF Eq. 5), less its value at the data.

    .. math:: D(X\|\hat X) = \sum_d c_d \sum X^{p_d} \hat X^{\phi_d} - \sum_d c_d \sum X^{p_d} X^{\phi_d}

    Parameters
    ----------
    terms : sequence of (coefficient, data_power, power)
        The c, p and φ of each monomial, any real numbers; a power of zero stands for the logarithm, c Σ Xᵖ ln X̂.

    See Also
    --------
    Divergence : Its base class.
    WeightedSum : A sum of divergences.
    nonneg.Objective : An objective that is no function of X̂.

    Notes
    -----
    Some monomials must rise with X̂ and some must fall, and their sum must have a lower bound. If X̂ = X is not its minimum, the
    value may be negative. The parts of the gradient and the proven exponents follow from the monomials, as for the families
    (QNMF Theorem 1).

    Examples
    --------
    Bregman's divergence of x⁴/12 + x²/2, and the Euclidean distance:

    >>> from nonneg import Model
    >>> from nonneg.divergences import Beta, Polynomial
    >>> print(Model("W H", Polynomial([(1 / 4, 0, 4), (-1 / 3, 1, 3), (1 / 2, 0, 2), (-1, 1, 1)])).rules["W"])
    W ← W ∘ [([(X/X̂)∘X̂^(3)] Hᵀ + X Hᵀ) / ([X̂^(3)] Hᵀ + W H Hᵀ)]^(1/3)
    >>> Polynomial([(1 / 2, 0, 2), (-1, 1, 1)]) == Beta(2)
    True
    """

    terms: Sequence[tuple[float, float, float]]

    def __post_init__(self) -> None:
        try:
            terms = tuple(tuple(term) for term in self.terms)
        except TypeError:
            terms = ()
        if not terms or any(len(term) != 3 or not all(map(is_number, term)) for term in terms):
            raise IncompatibleError(
                "Polynomial(terms) takes a list of (coefficient, data_power, power), three finite numbers for each monomial; got "
                f"{self.terms!r}."
            )
        for _, data_power, power in terms:
            check_numbers("Polynomial", {"data_power": data_power, "power": power})
        object.__setattr__(self, "terms", tuple((float(c), float(p), float(power)) for c, p, power in terms))
        if not any(m.slope > 0 for m in self.monomials) or not any(m.slope < 0 for m in self.monomials):
            raise IncompatibleError(
                f"{self!r} only {'falls' if any(m.slope < 0 for m in self.monomials) else 'rises'} with the approximation, so it "
                "has no minimum. Some monomial must rise (c φ > 0) and some must fall (c φ < 0; for a logarithm, c)."
            )
        if not is_bounded(self.monomials):
            raise IncompatibleError(
                f"{self!r} has no lower bound: the monomials that decide, those of the largest power for a large approximation and "
                "of the smallest, if that is not above zero, for a small one, must all grow there."
            )

    @classmethod
    def examples(cls) -> tuple[Polynomial, ...]:
        return (cls([(1 / 4, 0, 4), (-1 / 3, 1, 3), (2, 0, 1), (-2, 1, 0)]),)

    def textbook(self, X: Array, approximation: Array, xp: Any) -> Array:
        Y = approximation
        logarithm = xp.log(xp.where(X > 0, Y, xp.ones_like(Y)) / xp.where(X > 0, X, xp.ones_like(X)))  # 0 ln 0 = 0
        return sum(c * xp.sum(X**p * ((Y**q - X**q) if q else logarithm)) for c, p, q in self.terms)

    def textbook_parts(self, X: np.ndarray, approximation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slopes = np.array([c * (q or 1.0) * X**p * approximation ** (q - 1) for c, p, q in self.terms])
        return np.maximum(slopes, 0.0).sum(axis=0), np.maximum(-slopes, 0.0).sum(axis=0)

    @cached_property
    def monomials(self) -> tuple[Monomial, ...]:
        return merged(Monomial(*term) for term in self.terms)

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Whether the slopes cancel at X̂ = X only: by Descartes' rule, if their signs change once."""
        slopes: dict[float, float] = {}
        by_degree: dict[float, list[float]] = {}
        for monomial in self.monomials:
            slopes[monomial.power] = slopes.get(monomial.power, 0.0) + monomial.slope
            by_degree.setdefault(round(monomial.degree, 12), []).append(monomial.slope)
        cancel = all(abs(sum(group)) <= 1e-12 * max(map(abs, group)) for group in by_degree.values())
        signs = [slopes[power] > 0 for power in sorted(slopes) if slopes[power]]
        return cancel and sum(a != b for a, b in pairwise(signs)) == 1

    def in_units(self, doublings: float) -> tuple[Divergence, float]:
        most = max(doublings * monomial.degree for monomial in self.monomials)
        scaled = [(m, 2.0 ** max(doublings * m.degree - most, -1000.0)) for m in self.monomials]
        return Polynomial([(m.coefficient * max(by, _LEAST), m.data_power, m.power) for m, by in scaled]), most

    @property
    def symbol(self) -> str:
        return "D"

    def text(self, data: str, product: Word) -> str:
        approximation = str(product) if len(product) == 1 else f"({product})"
        pieces = [_printed(monomial, data, approximation) for monomial in self.monomials]
        return f"Σ [{' '.join(pieces).removeprefix('+ ')}]"


def _printed(monomial: Monomial, data: str, approximation: str) -> str:
    def raised(base: str, power: float) -> str:
        return base if power == 1 else f"{base}^({fraction(power)})"

    size = abs(monomial.coefficient)
    pieces = [
        fraction(size) if size != 1 else "",
        raised(data, monomial.data_power) if monomial.data_power else "",
        raised(approximation, monomial.power) if monomial.power else f"ln {approximation}",
    ]
    return ("− " if monomial.coefficient < 0 else "+ ") + " ".join(filter(None, pieces))


def merged(monomials: Any) -> tuple[Monomial, ...]:
    """Monomials with equal powers added up, in their order, without zeros."""
    coefficients: dict[tuple[float, float], float] = {}
    for monomial in monomials:
        powers = monomial.data_power, monomial.power
        coefficients[powers] = coefficients.get(powers, 0.0) + monomial.coefficient
    return tuple(Monomial(coefficient, *powers) for powers, coefficient in coefficients.items() if coefficient)
