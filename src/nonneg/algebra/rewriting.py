"""Sums of words, and the three rewrites from which the published rules follow.

A part of a gradient is a sum of words: ``2 X Xᵀ W``. As long as it stays a sum of words, the steps of the ONL principle
(ONL Fig. 4) are plain rewriting: multiply by ``W Wᵀ``, use ``Wᵀ W = I``, cancel common terms.

>>> from nonneg.algebra.expression import parse
>>> numerator, denominator = cancel(Sum({parse("X H.T"): 1, parse("W H H.T"): 1}), Sum({parse("W H H.T"): 2}))
>>> print(numerator, "/", denominator)
X Hᵀ / W H Hᵀ
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from math import gcd, lcm

from .expression import Letter, Word


class Sum:
    """A sum of words with rational coefficients; words with coefficient zero are dropped."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Word, Fraction | int] | Iterable[tuple[Word, Fraction | int]] = ()) -> None:
        collected: dict[Word, Fraction] = {}
        for word, coefficient in terms.items() if isinstance(terms, Mapping) else terms:
            collected[word] = collected.get(word, Fraction(0)) + coefficient
        self.terms = {word: coefficient for word, coefficient in collected.items() if coefficient}

    @classmethod
    def of(cls, *words: Word) -> Sum:
        return cls((word, 1) for word in words)

    def __iter__(self) -> Iterator[tuple[Word, Fraction]]:
        return iter(self.terms.items())

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sum) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __add__(self, other: Sum) -> Sum:
        return Sum([*self, *other])

    def __neg__(self) -> Sum:
        return self.scaled(-1)

    def __sub__(self, other: Sum) -> Sum:
        return self + -other

    def scaled(self, by: Fraction | int) -> Sum:
        return Sum((word, coefficient * by) for word, coefficient in self)

    def rewritten(self, rewrite: Callable[[Word], Word]) -> Sum:
        """The sum with every word replaced; equal words are added up."""
        return Sum((rewrite(word), coefficient) for word, coefficient in self)

    @property
    def T(self) -> Sum:
        return self.rewritten(lambda word: word.T)

    def __str__(self) -> str:
        pieces = [("− " if c < 0 else "+ ") + (f"{_printed(abs(c))} " if abs(c) != 1 else "") + str(word) for word, c in self]
        return " ".join(pieces).removeprefix("+ ") or "0"

    def __repr__(self) -> str:
        return f"Sum({self})"


def _printed(number: Fraction) -> str:
    """1/2 as a paper prints it, and 0.3 as a user gives it."""
    return str(number) if number.denominator <= 4 else f"{float(number):g}"


def derivative(product: Word, factor: str, middle: Sum) -> Sum:
    """Derivative by `factor`, by the chain rule, given the derivative `middle` by the product.

    Σ over the occurrences of `factor` of  leftᵀ · middle · rightᵀ, transposed for a transposed occurrence (QNMF Eq. 9).
    """
    return _derivative(product, factor, tuple(middle))


@lru_cache(maxsize=1024)
def _derivative(product: Word, factor: str, middle: tuple[tuple[Word, Fraction], ...]) -> Sum:
    pieces = []
    for left, occurrence, right in product.around(factor):
        piece = Sum(middle).rewritten(lambda word, left=left, right=right: left.T + word + right.T)  # type: ignore[misc]
        pieces.append(piece.T if occurrence.transposed else piece)
    return reduce(Sum.__add__, pieces, Sum())


def reduce_identity(word: Word, first: Letter) -> Word:
    """Delete every pair ``first first.T``: Wᵀ W → I for ``first`` = Wᵀ, H Hᵀ → I for H."""
    letters: list[Letter] = []
    for letter in word:
        if letters and letters[-1] == first and letter == first.T:
            letters.pop()
        else:
            letters.append(letter)
    return Word(letters)


def cancel(numerator: Sum, denominator: Sum) -> tuple[Sum, Sum]:
    """Cancel common terms and the common divisor of the remaining coefficients.

    Taking c out of (a + c)/(b + c) keeps the fixed points and lengthens each step (remark after QNMF Corollary 4).
    """
    common = Sum((word, min(coefficient, denominator.terms[word])) for word, coefficient in numerator if word in denominator.terms)
    return without_common_number(numerator - common, denominator - common)


def common_number(*sums: Sum) -> Fraction:
    """The greatest common divisor of the coefficients; the largest coefficient if the quotients would be large numbers."""
    numbers = [coefficient for part in sums for _, coefficient in part]
    if not numbers:
        return Fraction(1)
    divisor = Fraction(gcd(*(n.numerator for n in numbers)), lcm(*(n.denominator for n in numbers)))
    most = max(map(abs, numbers))
    return divisor if most / divisor <= _READABLE else most


_READABLE = 64
"""Largest coefficient of a printed rule in lowest terms."""


def rational(number: float) -> Fraction:
    """A number as a fraction, rounded to a simple one within float precision."""
    nearest = Fraction(number).limit_denominator(1000)
    return nearest if abs(nearest - Fraction(number)) <= abs(number) * 1e-12 else Fraction(number)


def without_common_number(numerator: Sum, denominator: Sum) -> tuple[Sum, Sum]:
    """Divide both sides by the greatest common divisor of the coefficients."""
    divisor = common_number(numerator, denominator)
    return numerator.scaled(1 / divisor), denominator.scaled(1 / divisor)


Difference = list[tuple[Word, int]]
"""Words with their signs."""


def split_signs(part: Sum, factors: Container[str], split: Callable[[Word], Difference]) -> Sum:
    """Write the pieces between the occurrences of some factors as differences, and multiply them out.

    These pieces are constant in the update of a factor, so each is split as a whole: Xᵀ F is (Xᵀ F)⁺ − (Xᵀ F)⁻ (Ding, Li and
    Jordan 2010). `split` gives the difference of a piece.
    """

    def expand(word: Word) -> Difference:
        place = next((place for place, letter in enumerate(word) if letter.name in factors), len(word))
        heads = split(word[:place]) if place else [(Word(), 1)]
        tails = expand(word[place + 1 :]) if place < len(word) else [(Word(), 1)]
        return [(head + word[place : place + 1] + tail, sign * other) for head, sign in heads for tail, other in tails]

    return Sum((word, coefficient * sign) for whole, coefficient in part for word, sign in expand(whole))


def letter_by_letter(word: Word, name: str) -> Difference:
    """A product with every occurrence of one matrix written as name⁺ − name⁻."""
    differences: Difference = [(Word(), 1)]
    for letter in word:
        parts = [(letter, 1)] if letter.name != name else [(Letter(name + mark, letter.transposed), sign) for mark, sign in SIGNS]
        differences = [(head + Word([piece]), sign * other) for head, sign in differences for piece, other in parts]
    return differences


SIGNS = (("⁺", 1), ("⁻", -1))


def by_sign(difference: Sum) -> tuple[Sum, Sum]:
    """The added and the subtracted words."""
    return Sum((w, c) for w, c in difference if c > 0), Sum((w, -c) for w, c in difference if c < 0)


def symmetric(word: Word, names: Container[str]) -> Word:
    """Drop the transposes of symmetric matrices: S W and Sᵀ W become one word."""
    return Word(Letter(letter.name, letter.transposed and letter.name not in names) for letter in word)
