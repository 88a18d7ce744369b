"""What a divergence must tell the engine, and what follows from its monomials.

A `Divergence` is a list of monomials c · Xᵖ · X̂^φ. From them follow the two parts P and Q of its derivative, the exponents of
the proven rule, the best scale of an approximation, and the value itself, because Σ P∘X̂ and Σ Q∘X̂ are the very sums that the
value is made of. A new divergence is a name, its monomials and a constant.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from ..algebra.expression import THETA, Letter, Word
from ..algebra.majorization import Bounds, Law, Monomial, PowerLaw, fraction, power
from ..algebra.rewriting import Sum
from ..exceptions import IncompatibleError
from ..naming import is_number

Array = Any


class DataSums(Protocol):
    """What a divergence may ask of the data, once, before the loop."""

    def power_sum(self, exponent: float) -> float:
        """Σ X^exponent; the number of entries for exponent 0."""

    def log_sum(self, data_power: float) -> float:
        """Σ X^data_power · ln X, with 0 ln 0 = 0."""


@dataclass(frozen=True)
class Operand:
    """An m × n matrix that is an elementwise function of X and X̂, never stored whole: X^data_power ∘ X̂^power."""

    data_power: float
    power: float

    @property
    def on_pattern(self) -> bool:
        """Whether it vanishes where X does, so that a sparse X needs only its non-zeros."""
        return self.data_power > 0

    @property
    def needs_data(self) -> bool:
        """Whether X enters at all, or X̂ alone."""
        return self.data_power != 0

    @property
    def exponents(self) -> tuple[float, float] | None:
        """(data_power, power), for what computes the monomial in a way of its own; None where it is no monomial."""
        return self.data_power, self.power

    def evaluate(self, xp: Any, x: Array | None, approximation: Array) -> Array:
        if not self.data_power:
            return power(xp, approximation, self.power)
        if self.data_power == 1 and self.power == -1:
            return x / approximation
        # (X/X̂)^p · X̂^(p+e) takes one power where Xᵖ · X̂ᵉ takes two: for α and Rényi divergences p + e = 0.
        ratio = power(xp, x / approximation, self.data_power)
        rest = self.data_power + self.power
        return ratio * power(xp, approximation, rest) if rest else ratio

    def text(self, data: str) -> str:
        pieces = [
            base if exponent == 1 else f"{base}^({fraction(exponent)})"
            for base, exponent in ((f"({data}/X̂)", self.data_power), ("X̂", self.data_power + self.power))
            if exponent
        ]
        return pieces[0] if pieces in ([f"({data}/X̂)"], ["X̂"]) else f"[{'∘'.join(pieces)}]"


@dataclass(frozen=True)
class LogRatio(Operand):
    """ln(X/X̂), the negative derivative of the dual I-divergence."""

    data_power: float = 0.0
    power: float = 0.0

    @property
    def needs_data(self) -> bool:
        return True

    @property
    def exponents(self) -> None:
        return None

    def evaluate(self, xp: Any, x: Array | None, approximation: Array) -> Array:
        return xp.log(x / approximation)

    def text(self, data: str) -> str:
        return f"ln({data}/X̂)"


@dataclass(frozen=True)
class Middles:
    """P and Q of ∂D/∂X̂ = P − Q as sums of words, and the operands that their new letters stand for."""

    positive: Sum
    negative: Sum
    operands: dict[str, Operand]


@dataclass(frozen=True)
class Sums:
    """What a value is computed from: Σ P∘X̂, Σ Q∘X̂, and Σ Xᵖ ln X̂ where a logarithm occurs."""

    positive: float
    negative: float
    logarithm: float = 0.0


class Objective(ABC):
    """Anything a model can minimise (or maximise) that is a function of the product X̂."""

    law: ClassVar[Law] = PowerLaw()
    approximates: ClassVar[bool] = True
    """Whether the product is to have the data's shape."""
    maximised: ClassVar[bool] = False
    signed: ClassVar[bool] = False
    """Whether the data may have entries of either sign."""
    scale_invariant: ClassVar[bool] = False
    """Whether D(X ‖ cX̂) = D(X ‖ X̂)."""
    bounded: ClassVar[bool] = True
    """Whether no value is below zero, but by rounding."""
    requires_positive_data: bool = False
    infinite_at_zero: bool = False
    """Whether an approximation that is zero where the data are not is infinitely far away."""
    log_power: float | None = None
    """The p of the sum Σ Xᵖ ln X̂ that the value needs, if it needs one."""

    @property
    def slope(self) -> float:
        """What P and Q are to be multiplied with to be the parts of the derivative."""
        return 1.0

    @property
    def separable(self) -> Objective:
        """A divergence that is a sum over entries and whose minimisers, for a single sample, are also minimisers of this one."""
        return self

    @property
    @abstractmethod
    def degree(self) -> float:
        """D(cX ‖ cX̂) = c^degree · D(X ‖ X̂)."""

    @abstractmethod
    def middles(self, product: Word, data: str) -> Middles: ...

    @abstractmethod
    def bounds(self, degree: int) -> Bounds: ...

    @abstractmethod
    def constant(self, data: DataSums) -> float:
        """The part of the value that depends on the data alone."""

    @abstractmethod
    def value(self, constant: float, sums: Sums) -> tuple[float, float]:
        """The objective, and the size of the terms it is a difference of, which tells how well it can be known."""

    @abstractmethod
    def scale(self, sums: Sums) -> float:
        """The λ that minimises D(X ‖ λX̂): PNMF Lemmas 1 and 2, for every divergence."""

    @abstractmethod
    def gradient(self, positive: Array, negative: Array, sums: Sums) -> tuple[Array, Array]:
        """The two parts of the gradient, from the parts of the rule, which are free of common numbers."""

    @abstractmethod
    def text(self, data: str, product: Word) -> str:
        """The objective as a paper would print it."""

    def __str__(self) -> str:
        return repr(self)


_LARGEST = 100
"""Of the numbers of the families; those in use lie between −1 and 3."""


class Divergence(Objective):
    """An objective given by two monomials, one of them with a positive derivative."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not is_number(value):
                raise IncompatibleError(f"{type(self).__name__}({name}) needs a finite number; got {value!r}.")
            if abs(value) > _LARGEST:
                raise IncompatibleError(
                    f"{type(self).__name__}({name}) is about powers of the data, and {value!r} makes none that a float can hold; "
                    f"use a number from −{_LARGEST} to {_LARGEST}."
                )

    @property
    @abstractmethod
    def monomials(self) -> tuple[Monomial, Monomial]: ...

    @property
    def positive(self) -> Monomial:
        return next(monomial for monomial in self.monomials if monomial.slope > 0)

    @property
    def negative(self) -> Monomial:
        return next(monomial for monomial in self.monomials if monomial.slope < 0)

    @property
    def slope(self) -> float:
        return self.positive.slope

    @property
    def scale_invariant(self) -> bool:  # type: ignore[override]
        return self.positive.logarithm

    @property
    def infinite_at_zero(self) -> bool:  # type: ignore[override]
        return any(monomial.data_power > 0 and monomial.power <= 0 for monomial in self.monomials)

    @property
    def log_power(self) -> float | None:  # type: ignore[override]
        return next((monomial.data_power for monomial in self.monomials if monomial.power == 0), None)

    @property
    def degree(self) -> float:
        return 0.0 if self.scale_invariant else self.positive.data_power + self.positive.power

    def middles(self, product: Word, data: str) -> Middles:
        operands: dict[str, Operand] = {}

        def middle(monomial: Monomial) -> Word:
            # What P and Q are decides what a step costs: all ones, the product itself, the data itself, or neither.
            match monomial.data_power, monomial.power - 1:
                case 0, 0:
                    return Word([Letter("1")])
                case 0, 1:
                    return product
                case 1, 0:
                    return Word([Letter(data)])
                case data_power, power:
                    operand = Operand(data_power, power)
                    operands[operand.text(data)] = operand
                    return Word([Letter(operand.text(data))])

        theta = [Letter(THETA)] if self.scale_invariant else []
        return Middles(Sum.of(middle(self.positive)), Sum.of(Word(theta) + middle(self.negative)), operands)

    def bounds(self, degree: int) -> Bounds:
        return Bounds(self.positive.psi(degree), self.negative.psi(degree))

    def value(self, constant: float, sums: Sums) -> tuple[float, float]:
        terms, relative = [constant], 0.0
        for monomial, contraction in ((self.positive, sums.positive), (self.negative, sums.negative)):
            if monomial.power == 0:
                total = _divided(sums.logarithm, contraction) if monomial.logarithm else sums.logarithm
            else:
                total = log(contraction) if monomial.logarithm else contraction
            terms.append(monomial.coefficient * total)
            if monomial.logarithm:  # a sum known to ε of itself has a logarithm known to ε, however small that is
                relative += abs(monomial.coefficient)
        return sum(terms), sum(map(abs, terms)) + relative

    def scale(self, sums: Sums) -> float:
        if self.scale_invariant or not (sums.positive > 0 and sums.negative > 0):
            return 1.0
        return (sums.negative / sums.positive) ** (1.0 / (self.positive.power - self.negative.power))

    def gradient(self, positive: Array, negative: Array, sums: Sums) -> tuple[Array, Array]:
        slope = self.slope
        return (
            positive * (slope / (sums.positive if self.scale_invariant else 1.0)),
            negative * (slope / (sums.negative if self.scale_invariant else 1.0)),
        )

    def text(self, data: str, product: Word) -> str:
        return f"{self.symbol}({data} ‖ {product})"

    @property
    @abstractmethod
    def symbol(self) -> str: ...


def _divided(number: float, by: float) -> float:
    return number / by if by else math.nan


def log(number: float) -> float:
    """The logarithm, −∞ at zero, as sums of very small numbers may be."""
    return math.log(number) if number > 0 else -math.inf
