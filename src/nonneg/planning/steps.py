"""The steps of a plan. Each computes the values of words from those of words that are known by then.

A word and its transpose are one product; `canonical` says which of the two is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ..algebra.expression import Letter, Word


@lru_cache(maxsize=4096)
def canonical(word: Word) -> tuple[Word, bool]:
    """The one of word and wordᵀ that is kept, and whether it is the transpose."""
    return (word.T, True) if word > word.T else (word, False)


class Multiply(NamedTuple):
    """result = left · right, two small matrices."""

    result: Word
    left: Word
    right: Word


class Apply(NamedTuple):
    """result = left · right, where one of the two is the data: one reading of X."""

    result: Word
    left: Word
    right: Word
    is_data_first: bool


class ApplyGram(NamedTuple):
    """result = left · right, where one of the two is the Gram matrix of the data, which is not formed."""

    result: Word
    left: Word
    right: Word
    is_gram_first: bool


class SelfProduct(NamedTuple):
    """The product of the data with itself, formed: result = X Xᵀ or Xᵀ X."""

    result: Word


class SignedPart(NamedTuple):
    """result, one letter, is the positive part of a product, or that of minus it."""

    result: Word
    whole: Word
    sign: str


LOGARITHM = Word([Letter("Σ ln X̂")])
"""Not a product, but known or not like one: the sum of logarithms that some objectives need."""


class Visit(NamedTuple):
    """Walk once over the data for the products of elementwise operands with known matrices."""

    left: Word
    right: Word
    """X̂ = left · right; an empty word where the product is a single factor."""
    products: tuple[Word, ...]
    """Words ``E v`` or ``u E``, where E is an operand; or E alone, where the product is a single factor."""
    logarithm: bool
    """Whether to sum the logarithms on the way."""


Step = Multiply | Apply | ApplyGram | SelfProduct | SignedPart | Visit


def results(steps: Sequence[Step]) -> dict[Word, Word]:
    """What the steps of a plan compute: in its canonical form, and the way round in which they do."""
    words = (word for step in steps for word in (step.products if isinstance(step, Visit) else [step.result]))
    return {canonical(word)[0]: word for word in words}
