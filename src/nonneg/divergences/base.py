"""The interface of a divergence, and its consequences for one given by monomials.

A `Divergence` is a list of monomials c · Xᵖ · X̂^φ. From them follow the two parts P and Q of its derivative, the exponents of
the proven rule, the best scale of an approximation, its domain, and its value, since Σ P∘X̂ and Σ Q∘X̂ consist of the same sums as
the value. A new divergence is a name and its monomials.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from ..algebra.expression import THETA, Letter, Word
from ..algebra.majorization import Bounds, Law, Monomial, PowerLaw, fraction, power
from ..algebra.rewriting import Sum, rational
from ..data.steps import Curve
from ..exceptions import IncompatibleError, is_number
from ..kernels.host import as_type, logarithm

Array = Any


class DataSums(Protocol):
    """Sums over the data for a divergence, computed once, before the loop."""

    def power_sum(self, exponent: float, *, logarithm: bool = False) -> float:
        """Σ X^exponent, the number of entries for exponent 0; with the logarithm Σ X^exponent ln X, and 0 ln 0 = 0."""


class _Recorder(list[tuple[Literal["power", "logarithm"], float]]):
    """Data in whose place a divergence shows which sums it asks for."""

    def power_sum(self, exponent: float, *, logarithm: bool = False) -> float:
        self += [("logarithm" if logarithm else "power", exponent)] if exponent or logarithm else []
        return 1.0


@dataclass(frozen=True)
class Operand:
    """An elementwise function of X and X̂, never stored whole: X^data_power ∘ X̂^power."""

    data_power: float
    power: float

    @property
    def on_pattern(self) -> bool:
        """Whether it is zero for X = 0, so that a sparse X needs only its non-zeros."""
        return self.data_power > 0

    @property
    def needs_data(self) -> bool:
        """Whether X enters at all, or X̂ alone."""
        return self.data_power != 0

    @property
    def exponents(self) -> tuple[float, float] | None:
        """(data_power, power), for kernels of monomials; None for other functions."""
        return self.data_power, self.power

    def evaluate(self, xp: Any, x: Array | None, approximation: Array) -> Array:
        if not self.data_power:
            return power(xp, approximation, self.power)
        if not self.power and self.data_power == 1:
            return x
        if self.data_power == 1 and self.power == -1:
            return x / approximation
        # (X/X̂)^p · X̂^(p+e) takes one power, Xᵖ · X̂ᵉ two: for α and Rényi divergences p + e = 0.
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
        return as_type(logarithm(xp, x / approximation), approximation.dtype)

    def text(self, data: str) -> str:
        return f"ln({data}/X̂)"


@dataclass(frozen=True)
class Logarithm(Operand):
    """X^data_power ∘ ln X̂; its sum is part of the value of a divergence."""

    power: float = 0.0

    @property
    def exponents(self) -> None:
        return None

    def evaluate(self, xp: Any, x: Array | None, approximation: Array) -> Array:
        found = logarithm(xp, approximation)
        return found if x is None or not self.data_power else power(xp, x, self.data_power) * found


@dataclass(frozen=True)
class Middles:
    """P and Q of ∂D/∂X̂ = slope · (P − Q) as sums of words, and the operands of their new letters."""

    positive: Sum
    negative: Sum
    operands: dict[str, Operand]
    terms: tuple[Word, ...]
    """The words of both, one for each number of `Sums.terms`, without θ."""

    def with_weights(self, product: Word, data: str) -> Middles:
        """V∘P and V∘Q: the product, the data and all ones become elementwise operands, with the weight in them."""
        plain = {Word([Letter("1")]): Operand(0, 0), product: Operand(0, 1), Word([Letter(data)]): Operand(1, 0)}
        operands: dict[str, Operand] = {}

        def weighted(word: Word) -> Word:
            operand = plain[word] if word in plain else self.operands[word[0].name]
            name = _WEIGHTED.get(operand.exponents or (), f"(V∘{operand.text(data)})").format(data)
            operands[name] = operand
            return Word([Letter(name)])

        def rewritten(word: Word) -> Word:
            return Word([letter for letter in word if letter.name == THETA]) + weighted(word.matrices)

        positive, negative = self.positive.rewritten(rewritten), self.negative.rewritten(rewritten)
        return Middles(positive, negative, operands, tuple(map(weighted, self.terms)))


_WEIGHTED: dict[tuple[float, ...], str] = {(0, 0): "V", (0, 1): "(V∘X̂)", (1, 0): "(V∘{})"}
"""Printed names of the weights times all ones, the product, and the data."""


@dataclass(frozen=True)
class Sums:
    """Sums over entries for the value of a divergence."""

    terms: tuple[float, ...]
    """Σ M∘X̂ for each term M of P and Q: for a monomial Σ Xᵖ X̂^φ."""
    logarithms: tuple[float, ...] = ()
    """Σ Xᵖ ln X̂ for each p of `log_powers`."""
    sizes: tuple[float, ...] = ()
    """Magnitudes of the two sides of each term, for terms that are differences."""


class Objective(ABC):
    """A function of the product X̂ to minimise (or maximise).

    See Also
    --------
    Divergence : Those given by monomials.
    Trace : The trace of a product.
    nonneg.Objective : An objective of your own.

    Examples
    --------
    >>> from nonneg.divergences import Objective, Trace
    >>> isinstance(Trace(), Objective)
    True
    """

    law: ClassVar[Law] = PowerLaw()
    approximates: ClassVar[bool] = True
    """Whether the product is to have the data's shape."""
    maximised: ClassVar[bool] = False
    signed: ClassVar[bool] = False
    """Whether the data may have entries of either sign."""
    takes_signs: bool = False
    """Whether X̂ and X may have entries of either sign, also without `signed`."""
    scale_invariant: ClassVar[bool] = False
    """Whether D(X ‖ cX̂) = D(X ‖ X̂)."""
    bounded: ClassVar[bool] = True
    """Whether no value is below zero, but by rounding."""
    requires_positive_data: bool = False
    infinite_at_zero: bool = False
    """Whether the value is infinite for X > 0 and X̂ = 0."""
    is_quadratic: bool = False
    """Whether it is ½‖X − X̂‖²: products with X give its value, and steps in single entries are exact."""
    is_poisson: bool = False
    """Whether it is the I-divergence, the likelihood of counts."""
    theorem: ClassVar[str | None] = None
    """Source of its rule, unless it is that of the form."""
    log_powers: tuple[float, ...] = ()
    """Exponents p of the sums Σ Xᵖ ln X̂ in the value."""

    @property
    def slope(self) -> float:
        """The c of ∂D/∂X̂ = c (P − Q)."""
        return 1.0

    @property
    def curve(self) -> Curve | None:
        """It as a function of two numbers, for the kernels of Newton's method; None if it is no sum over entries."""
        return None

    @property
    def separable(self) -> Objective:
        """A separable divergence with the same minimisers for a single sample."""
        return self

    @property
    @abstractmethod
    def degree(self) -> float | None:
        """D(cX ‖ cX̂) = c^degree · D(X ‖ X̂); None if D is not homogeneous."""

    def in_units(self, doublings: float) -> tuple[Objective, float]:
        """The objective for X and X̂ in units of 2^doublings, and the doublings of the unit of its values."""
        assert self.degree is not None
        return self, doublings * self.degree

    @abstractmethod
    def middles(self, product: Word, data: str) -> Middles: ...

    @abstractmethod
    def bounds(self, degree: int) -> Bounds: ...

    @abstractmethod
    def constant(self, data: DataSums) -> float:
        """The part of the value without X̂."""

    @property
    def totals(self) -> tuple[tuple[Literal["power", "logarithm"], float], ...]:
        """The sums over all entries of X that `constant` needs."""
        recorder = _Recorder()
        self.constant(recorder)
        return tuple(recorder)

    @abstractmethod
    def value(self, constant: float, sums: Sums) -> tuple[float, float]:
        """The objective, and the magnitude of its terms, a bound on its rounding error."""

    @abstractmethod
    def scale(self, sums: Sums) -> float:
        """The minimiser λ of D(X ‖ λX̂): PNMF Lemmas 1 and 2, for every divergence."""

    @abstractmethod
    def gradient(self, positive: Array, negative: Array, sums: Sums) -> tuple[Array, Array]:
        """The two parts of the gradient, from the parts of the rule (without their common number)."""

    @abstractmethod
    def text(self, data: str, product: Word) -> str:
        """The objective as a paper would print it."""

    @classmethod
    def examples(cls) -> tuple[Objective, ...]:
        """Members of a family that tests draw; none without a family."""
        return ()

    def textbook(self, X: Array, approximation: Array, xp: Any) -> Array:
        """The value as textbooks print it, by the operations of a library of arrays: the reference for `value`."""
        raise IncompatibleError(f"No textbook formula is written here for {self!r}.")

    def textbook_parts(self, X: np.ndarray, approximation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P and Q of ∂D/∂X̂ = P − Q as textbooks print them: the reference for `middles`."""
        raise IncompatibleError(f"No textbook formula is written here for {self!r}.")

    def __str__(self) -> str:
        return repr(self)

    def __add__(self, other: Any) -> Objective:
        from .sums import added

        return added(self, other) if isinstance(other, Objective) else NotImplemented

    def __mul__(self, weight: Any) -> Objective:
        from .sums import weighted

        return weighted(weight, self) if is_number(weight) else NotImplemented

    __rmul__ = __mul__


def relative_entropy(p: Array, q: Array, xp: Any) -> Array:
    """Σ p ln(p/q), with 0 ln 0 = 0."""
    return xp.sum(p * xp.log(xp.where(p > 0, p / q, xp.ones_like(p))))


_LARGEST = 100
"""Bound on the parameters of the families; usual ones lie between −1 and 3."""


def check_numbers(name: str, numbers: Mapping[str, Any]) -> None:
    """Refuse parameters of a divergence that are no numbers, or lead to powers beyond floats."""
    for parameter, value in numbers.items():
        if not is_number(value):
            raise IncompatibleError(f"{name}({parameter}) needs a finite number; got {value!r}.")
        if abs(value) > _LARGEST:
            raise IncompatibleError(
                f"{name}({parameter}) is about powers of the data, and {value!r} makes none that a float can hold; "
                f"use a number from −{_LARGEST} to {_LARGEST}."
            )


_SQUARES = frozenset({Monomial(1 / 2, 0, 2), Monomial(-1, 1, 1)})
_COUNTS = frozenset({Monomial(1, 0, 1), Monomial(-1, 1, 0)})


class Divergence(Objective):
    """An objective given by monomials, some with a positive derivative and some with a negative one (QNMF Eq. 5).

    Divergences with the same monomials are equal.

    See Also
    --------
    Objective : What else can be minimised.
    Polynomial : A divergence from monomials of your own.

    Examples
    --------
    >>> from nonneg.divergences import Divergence, get_divergence
    >>> isinstance(get_divergence("hellinger"), Divergence)
    True
    """

    def __post_init__(self) -> None:
        check_numbers(type(self).__name__, vars(self))

    @property
    @abstractmethod
    def monomials(self) -> tuple[Monomial, ...]:
        """All of them under a logarithm (two, and the divergence does not depend on scale), or none."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Divergence) and frozenset(self.monomials) == frozenset(other.monomials)

    def __hash__(self) -> int:
        return hash(frozenset(self.monomials))

    # ---- properties of the monomials

    @property
    def slope(self) -> float:
        return next(monomial.slope for monomial in self.monomials if monomial.slope > 0)

    @property
    def scale_invariant(self) -> bool:  # type: ignore[override]
        return all(monomial.logarithm for monomial in self.monomials)

    @property
    def requires_positive_data(self) -> bool:  # type: ignore[override]
        """At X = 0 the value at X̂ = X must be finite, and the remaining monomials must have a lower bound."""
        left = [monomial for monomial in self.monomials if monomial.data_power == 0]
        return not is_bounded(left) or any(
            monomial.data_power < 0 or monomial.degree < 0 or monomial.data_power == monomial.power == 0
            for monomial in self.monomials
        )

    @property
    def is_quadratic(self) -> bool:  # type: ignore[override]
        return frozenset(self.monomials) == _SQUARES

    @property
    def is_poisson(self) -> bool:  # type: ignore[override]
        return frozenset(self.monomials) == _COUNTS

    @property
    def curve(self) -> Curve | None:
        if self.scale_invariant:
            return None
        linear = [m.slope for m in self.monomials if m.is_linear]
        others = [(m.slope, m.data_power, m.power) for m in self.monomials if not m.is_linear]
        slopes, data_powers, powers = np.array(others, dtype=float).T.copy()
        convex = [2.0, *powers[slopes * (powers - 1) > 0].tolist()]
        bounds = min(convex), max(convex)
        return Curve(slopes, data_powers, powers if powers.any() or len(powers) > 1 else None, float(sum(linear)), bounds)

    @property
    def takes_signs(self) -> bool:  # type: ignore[override]
        """Whether it is a multiple of the Euclidean distance, c (X̂∘X̂ − 2 X∘X̂), defined for either sign."""
        terms = {(monomial.data_power, monomial.power): monomial.coefficient for monomial in self.monomials}
        return not self.scale_invariant and set(terms) == {(0, 2), (1, 1)} and math.isclose(terms[1, 1], -2 * terms[0, 2])

    @property
    def infinite_at_zero(self) -> bool:  # type: ignore[override]
        return min(monomial.power for monomial in self.monomials) <= 0

    @property
    def log_powers(self) -> tuple[float, ...]:  # type: ignore[override]
        return tuple(monomial.data_power for monomial in self.monomials if monomial.power == 0)

    @property
    def degree(self) -> float | None:
        degrees = {0.0 if self.scale_invariant else round(monomial.degree, 12) for monomial in self.monomials}
        return degrees.pop() if len(degrees) == 1 else None

    # ---- the rule

    def middles(self, product: Word, data: str) -> Middles:
        operands: dict[str, Operand] = {}

        def middle(monomial: Monomial) -> Word:
            # P and Q as all ones, as the product or as the data need no elementwise pass.
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

        words = tuple(map(middle, self.monomials))
        theta = Word([Letter(THETA)] if self.scale_invariant else [])
        weighted = [(word, rational(m.slope / self.slope)) for word, m in zip(words, self.monomials, strict=True)]
        positive = Sum((word, weight) for word, weight in weighted if weight > 0)
        negative = Sum((theta + word, -weight) for word, weight in weighted if weight < 0)
        return Middles(positive, negative, operands, words)

    def bounds(self, degree: int) -> Bounds:
        # (u^ψ − 1)/ψ grows with ψ, so a bound with a smaller ψmax, or a larger ψmin, is below one with the extreme (QNMF Eq. 6).
        psi = [(monomial.slope > 0, monomial.psi(degree)) for monomial in self.monomials]
        return Bounds(max(p for rises, p in psi if rises), min(p for rises, p in psi if not rises))

    def gradient(self, positive: Array, negative: Array, sums: Sums) -> tuple[Array, Array]:
        if not self.scale_invariant:
            return positive * self.slope, negative * self.slope
        rises = [monomial.slope > 0 for monomial in self.monomials]
        return positive * (self.slope / sums.terms[rises.index(True)]), negative * (self.slope / sums.terms[rises.index(False)])

    # ---- the value

    def constant(self, data: DataSums) -> float:
        """Minus the value at X̂ = X, the minimum."""
        logarithms = partial(data.power_sum, logarithm=True)
        totals = ((m.coefficient, _total(m, data.power_sum(m.degree), logarithms)) for m in self.monomials)
        return -sum(coefficient * total for coefficient, total in totals)

    def value(self, constant: float, sums: Sums) -> tuple[float, float]:
        logarithms = dict(zip(self.log_powers, sums.logarithms, strict=True))
        terms, relative = [constant], 0.0
        for monomial, total in zip(self.monomials, sums.terms, strict=True):
            terms.append(monomial.coefficient * _total(monomial, total, logarithms.__getitem__))
            if monomial.logarithm:  # the logarithm of a sum with relative error ε has absolute error ε
                relative += abs(monomial.coefficient)
        return sum(terms), sum(map(abs, terms)) + relative

    def scale(self, sums: Sums) -> float:
        if self.scale_invariant:
            return 1.0
        return lowest_point([(m.slope * total, m.power) for m, total in zip(self.monomials, sums.terms, strict=True)])

    def text(self, data: str, product: Word) -> str:
        return f"{self.symbol}({data} ‖ {product})"

    @property
    @abstractmethod
    def symbol(self) -> str: ...


def _total(monomial: Monomial, power_sum: float, log_sum: Callable[[float], float]) -> float:
    """The sum of a monomial without its coefficient: Σ Xᵖ X̂^φ, or Σ Xᵖ ln X̂ for φ = 0."""
    if monomial.power == 0:
        logarithm = log_sum(monomial.data_power)
        return _divided(logarithm, power_sum) if monomial.logarithm else logarithm
    return log(power_sum) if monomial.logarithm else power_sum


def is_bounded(monomials: Sequence[Monomial]) -> bool:
    """Whether Σ c Xᵖ X̂^φ has a lower bound over X̂ > 0 for every X > 0."""
    powers = [monomial.power for monomial in monomials]
    lowest, highest = min(powers, default=1.0), max(powers, default=-1.0)
    near_zero = [m.slope for m in monomials if m.power == lowest <= 0]
    far_away = [m.slope for m in monomials if m.power == highest >= 0]
    return all(slope < 0 for slope in near_zero) and all(slope > 0 for slope in far_away)


def lowest_point(terms: Sequence[tuple[float, float]]) -> float:
    """The minimiser λ of the function with λ times its derivative Σ a λ^φ, for pairs (a, φ).

    Two terms of different sign have one minimiser. With more terms there may be several: the result is reached from 1 downhill, or
    is 1, and so is never worse than 1.
    """
    from scipy.optimize import brentq  # imported here: it takes long, and few need it

    terms = [(slope, power) for slope, power in terms if slope]
    if not all(math.isfinite(slope) for slope, _ in terms) or not min(terms, default=(1, 0))[0] < 0 < max(terms)[0]:
        return 1.0
    if len(terms) == 2:
        (up, high), (down, low) = sorted(terms, reverse=True)
        return (-down / up) ** (1.0 / (high - low))

    def slope(doublings: float) -> float:
        """The sum at λ = 2^doublings, divided by its largest term."""
        logarithms = [math.log2(abs(a)) + power * doublings for a, power in terms]
        return sum(math.copysign(2.0 ** (size - max(logarithms)), a) for size, (a, _) in zip(logarithms, terms, strict=True))

    here, step = slope(0.0), 1.0
    if here == 0:
        return 1.0
    far = -math.copysign(step, here)
    while slope(far) * here > 0:
        step *= 2
        far = -math.copysign(step, here)
        if step > _FARTHEST:
            return 1.0
    near = far / 2 if step > 1 else 0.0
    return 2.0 ** float(brentq(slope, near, far, xtol=1e-15, rtol=1e-14))


_FARTHEST = 1000
"""Doublings of a scale beyond the range of floats."""


def _divided(number: float, by: float) -> float:
    return number / by if by else math.nan


def log(number: float) -> float:
    """The logarithm, −∞ at zero, as sums of very small numbers may be."""
    return math.log(number) if number > 0 else -math.inf
