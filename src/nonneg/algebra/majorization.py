"""The theory, on one page: how far a multiplicative step may go without the objective rising.

Every divergence here is a sum of monomials c · Xᵖ · X̂^φ (QNMF Eq. 5), possibly under a logarithm. Each monomial, as a
function of the ratios u = W_new / W, has an upper bound of the form u^ψ that touches it at u = 1 (QNMF Theorem 1). With the
largest and the smallest ψ, setting the derivative of the bound to zero gives

    W ← W ∘ (∇⁻/∇⁺)^η,   η = 1/(ψmax − ψmin)                                            (QNMF Eq. 8)

`Monomial.psi` is that construction. QNMF Table 1, and its counterpart for factors with one occurrence, follow from it; only the
tests state them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..kernels.host import as_type, bounded_ratio, clip, cube_root, in_double, limits

Array = Any
Term = Any
"""A summand of a law: a sum of words, or an array."""


@dataclass(frozen=True)
class Monomial:
    """The term  coefficient · Σ X^data_power · X̂^power, or coefficient · ln Σ(…) when `logarithm` is set.

    A power of zero stands for ln X̂, the limit (X̂^ε − 1)/ε for ε → 0⁺ (QNMF Eq. 4).
    """

    coefficient: float
    data_power: float
    power: float
    logarithm: bool = False

    @property
    def slope(self) -> float:
        """The number in front of Xᵖ X̂^(φ−1) in the derivative by X̂."""
        return self.coefficient * (self.power or 1.0)

    @property
    def is_linear(self) -> bool:
        """Whether it is X̂ itself, times a number."""
        return self.data_power == 0 and self.power == 1

    @property
    def degree(self) -> float:
        """Degree of homogeneity in (X, X̂); for a logarithm that of Σ Xᵖ (ln X̂ − ln X)."""
        return self.data_power + self.power

    def psi(self, degree: int) -> float:
        """Exponent ψ of the bound u^ψ, for X̂ of the given degree in the factor."""
        increasing, phi = self.coefficient > 0, self.power
        if self.logarithm and not increasing:
            # −ln Σ is convex: Jensen leaves −φ ln X̂, a logarithm of the opposite slope.
            increasing, phi = phi < 0, 0.0
        if increasing:
            # ln and powers in (0, 1) are concave: the tangent is X̂ itself. Other powers are convex. In both, AM–GM
            # turns the product of `degree` entries into a sum.
            return float(degree) if 0 <= phi < 1 else degree * phi
        if phi < 0:
            return float(degree)  # −X̂^φ is concave with a positive tangent in X̂
        if degree > 1:
            return 0.0  # a product is above its logarithm: u₁u₂ ≥ 1 + ln u₁ + ln u₂
        return min(phi, 1.0)


@dataclass(frozen=True)
class Bounds:
    """The two exponents (ψmax, ψmin) of QNMF Eq. 6."""

    psi_max: float
    psi_min: float

    @property
    def exponent(self) -> float:
        """η = 1/(ψmax − ψmin), QNMF Eq. 8."""
        return 1.0 / (self.psi_max - self.psi_min)

    def widened(self, psi_max: float, psi_min: float) -> Bounds:
        """The bounds once terms with other exponents are added: the σ of QNMF Theorems 2 and 3."""
        return Bounds(max(self.psi_max, psi_max), min(self.psi_min, psi_min))

    def concave(self) -> Bounds:
        """The bounds when the negative part is linear in W and positive semi-definite: its tangent has ψ = 1 (QNMF §5.1)."""
        return Bounds(self.psi_max, 1.0)


def bounds_of_products(rising: Iterable[int], falling: Iterable[int]) -> Bounds:
    """Of sums of products of so many entries of the factor each, with coefficients of one sign (Ding, Li and Jordan 2010).

    A product of d entries is below the mean of their d-th powers, and above its logarithm; a single one is its own bound.
    """
    return Bounds(float(max(rising)), min(1.0 if degree == 1 else 0.0 for degree in falling))


class PowerLaw:
    """F ← F ∘ (numerator / denominator)^η, QNMF Eq. 8."""

    @staticmethod
    def text(factor: str, numerator: str, denominator: str, exponent: float) -> str:
        return f"{factor} ← {factor} ∘ [({numerator}) / ({denominator})]" + (f"^({fraction(exponent)})" if exponent != 1 else "")

    @staticmethod
    def lagrangian(negative: Term, positive: Term, to_numerator: Term, to_denominator: Term) -> tuple[Term, Term]:
        """QNMF Eq. 10 and 11: each side takes the multiplier term of the other."""
        return negative + to_numerator, positive + to_denominator

    @staticmethod
    def lagrangian_text(negative: str, positive: str, to_numerator: str, to_denominator: str) -> tuple[str, str]:
        return " + ".join(filter(None, (negative, to_numerator))), " + ".join(filter(None, (positive, to_denominator)))

    @staticmethod
    def balanced(numerator: Term, denominator: Term) -> tuple[Term, Term]:
        """Both sides of the fixed-point equation."""
        return numerator, denominator

    @staticmethod
    def multiplier(xp: Any, numerator: Array, denominator: Array, exponent: float) -> Array:
        # A denominator may vanish: with the whole row (0/0), or alone (ONL 39 with S⁻W = 0). One step may then multiply an
        # entry by 1/eps at most; the solver's floor bounds the decrease.
        # Products with a sketch may fall below zero, by rounding and truncation.
        smallest, eps = limits(xp, numerator.dtype)
        return power(xp, bounded_ratio(xp, numerator, denominator, smallest / eps, 1.0 / eps), exponent)


class ExponentialLaw:
    """F ← F ∘ exp(η · numerator / denominator): the limit of the power law for the dual I-divergence (QNMF §3.2).

    With α → 0 the two parts of the α-divergence are P + αQ and P, and the exponent grows as 1/α; with the same exponent in
    Eq. 10 and 11, the multiplier terms become differences. For a stochastic factor with one occurrence this is the limit of
    Theorem 2; in other cases the exponents of Theorems 2 and 3 stay finite, and the rule below is natural but not proven.
    """

    @staticmethod
    def text(factor: str, numerator: str, denominator: str, exponent: float) -> str:
        return (
            f"{factor} ← {factor} ∘ exp["
            + (f"{fraction(exponent)} " if exponent != 1 else "")
            + f"({numerator}) / ({denominator})]"
        )

    @staticmethod
    def lagrangian(negative: Term, positive: Term, to_numerator: Term, to_denominator: Term) -> tuple[Term, Term]:
        return negative - to_denominator, positive + to_numerator

    @staticmethod
    def lagrangian_text(negative: str, positive: str, to_numerator: str, to_denominator: str) -> tuple[str, str]:
        return " − ".join(filter(None, (negative, to_denominator))), " + ".join(filter(None, (positive, to_numerator)))

    @staticmethod
    def balanced(numerator: Term, denominator: Term) -> tuple[Term, Term]:
        return numerator + denominator, denominator  # a fixed point has numerator zero

    @staticmethod
    def multiplier(xp: Any, numerator: Array, denominator: Array, exponent: float) -> Array:
        # Bounded for the same reason: exp(±30) is about eps and 1/eps.
        smallest, _ = limits(xp, numerator.dtype)
        return xp.exp(clip(xp, exponent * numerator / clip(xp, denominator, smallest, math.inf), -30.0, 30.0))


class LeastSquaresLaw(PowerLaw):
    """F solves the normal equations, with entries of either sign: numerator = denominator."""

    @staticmethod
    def text(factor: str, numerator: str, denominator: str, exponent: float) -> str:
        return f"{factor} solves {denominator} = {numerator}"


Law = PowerLaw | ExponentialLaw


def power(xp: Any, array: Array, exponent: float) -> Array:
    """Array ** exponent, by products and roots if possible."""
    match exponent:
        case 1:
            return array
        case 2:
            return array * array
        case -1:
            return 1.0 / array
        case -2:
            return 1.0 / (array * array)
        case 0.5:
            return xp.sqrt(array)
        case -0.5:
            return 1.0 / xp.sqrt(array)
        case _ if exponent == 1 / 3:
            return cube_root(xp, array)
        case _:
            return as_type(in_double(array) ** exponent, array.dtype)  # in single precision NumPy rounds it with a bias


def fraction(number: float) -> str:
    """A number as a paper would print it: 1/3 rather than 0.3333333333333333."""
    nearest = Fraction(number).limit_denominator(64)
    return str(nearest) if abs(float(nearest) - number) < 1e-12 else f"{number:.4g}"
