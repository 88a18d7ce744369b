"""Sums of words, and the three rewrites from which the published rules follow.

A part of a gradient is a sum of words: ``2 X Xᵀ W``. As long as it stays a sum of words, the steps of the ONL principle
(ONL Fig. 4) are plain rewriting: multiply by ``W Wᵀ``, use ``Wᵀ W = I``, cancel what stands on both sides.

>>> from nonneg.algebra.expression import parse
>>> numerator, denominator = cancel(Sum({parse("X H.T"): 1, parse("W H H.T"): 1}), Sum({parse("W H H.T"): 2}))
>>> print(numerator, "/", denominator)
X Hᵀ / W H Hᵀ
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import reduce
from math import gcd, lcm

from .expression import Letter, Word


class Sum:
    """A sum of words with rational coefficients; words that add up to nothing are dropped."""

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
        """The sum with every word replaced; words that become equal are added up."""
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


def parts(product: Word, factor: str, middle: Sum) -> Sum:
    """Σ over the occurrences of `factor` of  leftᵀ · middle · rightᵀ, transposed where the occurrence is (QNMF Eq. 9)."""
    pieces = []
    for left, occurrence, right in product.around(factor):
        piece = middle.rewritten(lambda word, left=left, right=right: left.T + word + right.T)  # type: ignore[misc]
        pieces.append(piece.T if occurrence.transposed else piece)
    return reduce(Sum.__add__, pieces, Sum())


def reduce_identity(word: Word, first: Letter) -> Word:
    """Delete every pair ``first first.T``: Wᵀ W → I where ``first`` is Wᵀ, H Hᵀ → I where it is H."""
    letters: list[Letter] = []
    for letter in word:
        if letters and letters[-1] == first and letter == first.T:
            letters.pop()
        else:
            letters.append(letter)
    return Word(letters)


def cancel(numerator: Sum, denominator: Sum) -> tuple[Sum, Sum]:
    """Remove what stands on both sides, and any number that divides all of what is left.

    Taking c out of (a + c)/(b + c) leaves the fixed points where they are and moves further in each step (remark after
    QNMF Corollary 4).
    """
    common = Sum((word, min(coefficient, denominator.terms[word])) for word, coefficient in numerator if word in denominator.terms)
    return without_common_number(numerator - common, denominator - common)


def common_number(*sums: Sum) -> Fraction:
    """The largest number that divides every coefficient; the largest of them where what is left would be large numbers."""
    numbers = [coefficient for part in sums for _, coefficient in part]
    if not numbers:
        return Fraction(1)
    divisor = Fraction(gcd(*(n.numerator for n in numbers)), lcm(*(n.denominator for n in numbers)))
    most = max(map(abs, numbers))
    return divisor if most / divisor <= _READABLE else most


_READABLE = 64


def rational(number: float) -> Fraction:
    """A number as a fraction, the simple one that is meant where there is one."""
    nearest = Fraction(number).limit_denominator(1000)
    return nearest if abs(nearest - Fraction(number)) <= abs(number) * 1e-12 else Fraction(number)


def without_common_number(numerator: Sum, denominator: Sum) -> tuple[Sum, Sum]:
    """Divide both sides by the largest number that divides every coefficient."""
    divisor = common_number(numerator, denominator)
    return numerator.scaled(1 / divisor), denominator.scaled(1 / divisor)


def split_signs(positive: Sum, negative: Sum, name: str) -> tuple[Sum, Sum]:
    """Write a matrix of either sign as name⁺ − name⁻, and move each word to the side where it is non-negative."""

    def expand(word: Word) -> Iterator[tuple[Word, int]]:
        for place, letter in enumerate(word):
            if letter.name == name:
                for sign, mark in ((1, "⁺"), (-1, "⁻")):
                    head = Word([*word[:place], Letter(name + mark, letter.transposed)])
                    for tail, tail_sign in expand(word[place + 1 :]):
                        yield head + tail, sign * tail_sign
                return
        yield word, 1

    sides: dict[int, list[tuple[Word, Fraction]]] = {1: [], -1: []}
    for side, part in ((1, positive), (-1, negative)):
        for word, coefficient in part:
            for signed, sign in expand(word):
                sides[side * sign].append((signed, coefficient))
    return Sum(sides[1]), Sum(sides[-1])


def symmetric(word: Word, names: Container[str]) -> Word:
    """Drop the transposes of matrices known to be symmetric, so that S W and Sᵀ W are one word."""
    return Word(Letter(letter.name, letter.transposed and letter.name not in names) for letter in word)
