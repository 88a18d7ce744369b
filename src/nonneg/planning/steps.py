"""The steps of a plan. Each computes words from words known before it.

A word and its transpose are one product; `canonical` chooses one of the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ..algebra.expression import Letter, Word


@lru_cache(maxsize=4096)
def canonical(word: Word) -> tuple[Word, bool]:
    """The chosen one of word and wordᵀ, and whether it is the transpose."""
    return (word.T, True) if word > word.T else (word, False)


class Multiply(NamedTuple):
    """result = left · right, two small matrices."""

    result: Word
    left: Word
    right: Word


class Apply(NamedTuple):
    """result = left · right, one of them the data: one pass over X."""

    result: Word
    left: Word
    right: Word
    is_data_first: bool


class ApplyGram(NamedTuple):
    """result = left · right, one of them the unformed Gram matrix of the data."""

    result: Word
    left: Word
    right: Word
    is_gram_first: bool


class SelfProduct(NamedTuple):
    """The product of the data with itself, formed: result = X Xᵀ or Xᵀ X."""

    result: Word


class SignedPart(NamedTuple):
    """result, one letter, is the positive part of a product, or of its negative."""

    result: Word
    whole: Word
    sign: str


LOGARITHM = Word([Letter("Σ ln X̂")])
"""The sum of logarithms in some objectives; no product, but cached like one."""


class Visit(NamedTuple):
    """Walk once over the data for the products of elementwise operands with known matrices."""

    left: Word
    right: Word
    """X̂ = left · right; an empty word for a single factor."""
    products: tuple[Word, ...]
    """Words ``E v`` or ``u E`` with an operand E; or E alone, for a single factor."""
    logarithm: bool
    """Whether to sum the logarithms on the way."""


Step = Multiply | Apply | ApplyGram | SelfProduct | SignedPart | Visit


def results(steps: Sequence[Step]) -> dict[Word, Word]:
    """The results of a plan, in canonical form, with their computed orientation."""
    words = (word for step in steps for word in (step.products if isinstance(step, Visit) else [step.result]))
    return {canonical(word)[0]: word for word in words}
