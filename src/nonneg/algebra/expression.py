"""Product forms as words: matrices in order, each transposed or not.

A form is text, ``"W W.T X"``. It is read into a `Word`, a sequence of `Letter`; words are concatenated for products and
reversed for transposes, and that is all the algebra of this module. There are no arrays here: letters get theirs when the model
is bound to data.

>>> word = parse("W W.T X")
>>> str(word), str(word.T)
('W Wᵀ X', 'Xᵀ W Wᵀ')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ..exceptions import ExpressionError

LONGEST = 64
"""The largest number of matrices in a form. The time to derive its rules grows with their cube, to .1 s for this many."""
THETA = "θ"
"""The one scalar letter: the factor θ of QNMF Table 1. It commutes, so words keep it in front."""


class Letter(NamedTuple):
    """One occurrence of a matrix in a product."""

    name: str
    transposed: bool = False

    @property
    def T(self) -> Letter:
        return self if self.name == THETA else Letter(self.name, not self.transposed)

    def dimension(self, side: int) -> tuple[str, int]:
        """The dimension on the left (0) or right (1) of a letter in a product: its name, and 0 for its rows, 1 for its columns."""
        return self.name, side if not self.transposed else 1 - side

    def __str__(self) -> str:
        return self.name + "ᵀ" * self.transposed


class Word(tuple[Letter, ...]):
    """A product of matrices; the empty word is the identity.

    Addition concatenates, which is matrix multiplication: ``str(parse("W") + parse("H"))`` is ``"W H"``.
    """

    __slots__ = ()

    def __new__(cls, letters: Iterable[Letter] = ()) -> Word:
        letters = tuple(letters)
        if any(letter.name == THETA for letter in letters):
            letters = tuple(sorted(letters, key=lambda letter: letter.name != THETA))
        return super().__new__(cls, letters)

    @property
    def T(self) -> Word:
        return _transposed(self)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the letters, each once, in order of appearance."""
        return tuple(dict.fromkeys(letter.name for letter in self))

    @property
    def matrices(self) -> Word:
        """The word without its scalars."""
        return Word(letter for letter in self if letter.name != THETA)

    @property
    def is_gram(self) -> bool:
        """Whether the word reads U Uᵀ, and so is positive semi-definite for any matrices."""
        middle, odd = divmod(len(self), 2)
        return not odd and self[middle:] == self[:middle].T

    def count(self, name: object) -> int:
        """How often a name occurs, transposed or not: the degree of the word in it."""
        return sum(letter.name == name for letter in self)

    def without(self, pair: tuple[Letter, Letter]) -> Word:
        """The word with each occurrence of two letters, one after the other, taken out."""
        letters, place = [], 0
        while place < len(self):
            is_pair = tuple(self[place : place + 2]) == pair
            letters += [] if is_pair else [self[place]]
            place += 1 + is_pair
        return Word(letters)

    def around(self, name: str) -> Iterator[tuple[Word, Letter, Word]]:
        """For every occurrence of `name`: the word left of it, the occurrence, the word right of it."""
        for place, letter in enumerate(self):
            if letter.name == name:
                yield self[:place], letter, self[place + 1 :]

    def __add__(self, other: tuple[Letter, ...]) -> Word:  # type: ignore[override]
        return Word((*self, *other))

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        item = super().__getitem__(index)
        return tuple.__new__(Word, item) if isinstance(index, slice) else item  # a part of a word is in order

    def __str__(self) -> str:
        return " ".join(map(str, self)) if self else "I"

    def __repr__(self) -> str:
        return f"parse({self.text!r})"

    @property
    def text(self) -> str:
        """The word as `parse` reads it: ``W.T`` for the printed ``Wᵀ``."""
        return " ".join(letter.name + ".T" * letter.transposed for letter in self)


def gram_of(X: Letter, side: bool) -> Word:
    """X Xᵀ; on the other side Xᵀ X."""
    return Word((X.T, X) if side else (X, X.T))


@lru_cache(maxsize=4096)
def _transposed(word: Word) -> Word:
    """Asked for again and again while rules are derived and planned."""
    return Word([letter.T for letter in reversed(word)])


_TOKEN = re.compile(r"(?P<name>(?!ᵀ)[^\W\d](?:(?!ᵀ)\w)*)(?P<transposed>\.T|ᵀ|')?")  # ᵀ is a letter to Python


def parse(text: str) -> Word:
    """Read a product form: names separated by spaces (or ``@``), transposes as ``W.T``, ``W'`` or ``Wᵀ``."""
    if not isinstance(text, str):
        raise ExpressionError(f"A form is text such as 'W W.T X'; got {text!r} of type {type(text).__name__}.")
    return _parse(text)


@lru_cache(maxsize=512)
def _parse(text: str) -> Word:
    letters = []
    for piece in text.replace("@", " ").split():
        match = _TOKEN.fullmatch(piece)
        if match is None or match["name"] == THETA:
            raise ExpressionError(
                f"Cannot read {piece!r} in the form {text!r}. A form is a product of named matrices, written with spaces "
                "between them and .T for a transpose, such as 'W H', 'W W.T X' or 'A W B W.T C'."
            )
        letters.append(Letter(match["name"], match["transposed"] is not None))
    if len(letters) > LONGEST:
        raise ExpressionError(f"A form has at most {LONGEST} matrices; this one has {len(letters)}. Multiply some of them first.")
    if not letters:
        raise ExpressionError("The form is empty. Write a product of named matrices, such as 'W H' or 'W W.T X'.")
    return Word(letters)
