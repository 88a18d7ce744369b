"""Costs of the products of a problem; plans depend on these and the words only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from ..algebra.expression import Letter, Word
from .steps import Step, canonical


@dataclass(frozen=True)
class Costs:
    """Sizes and properties of the matrices, for a planner."""

    shapes: Mapping[str, tuple[int, int]]
    sizes: Mapping[str, float]
    """Entries read in a product with a matrix, unless rows × columns; infinite for an unknown one."""
    constant: frozenset[str]
    """Matrices that never change."""
    product: Word
    """The form."""
    operands: frozenset[str] = frozenset()
    """Letters of elementwise functions of X and X̂."""
    data: frozenset[str] = frozenset()
    """Letters of the data, or of their positive or negative part."""
    grams: Mapping[Word, float] = field(default_factory=dict)
    """Gram matrices of the data with products that need not form them, and the entries read in one."""
    horizon: int = 1
    """Iterations that share the cost of a constant product."""
    largest: float = math.inf
    """Entries of the largest matrix there is anyway."""
    unformed: frozenset[Word] = frozenset()
    """Gram matrices of the data never to form."""
    signed_parts: Mapping[str, tuple[Word, str]] = field(default_factory=dict)
    """Letters of the positive ("⁺") or negative ("⁻") entries of a product, with the product."""
    sums_in_double: bool = False
    """Whether small products are in double precision and large ones in single."""
    _of_words: dict[Word, CostsOfWord] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        return hash((self.product, frozenset(self.shapes.items()), frozenset(self.sizes.items()), self.horizon, self.largest))

    def shape(self, word: Word) -> tuple[int, int]:
        """Rows and columns of a word."""

        def dimension(letter: Letter, axis: int) -> int:
            return self.shapes[letter.name][axis if not letter.transposed else 1 - axis]

        return dimension(word[0], 0), dimension(word[-1], 1)

    def entries(self, word: Word) -> int:
        rows, columns = self.shape(word)
        return rows * columns

    def roundings(self, word: Word) -> int:
        """Rank of a word by rounding error: its number of entries, negative if more entries lose fewer digits.

        Inner products are summed in double precision, and small products of float32 on the host are kept in it; large ones are
        rounded. On other devices the entries of small products are rounded sums.
        """
        return self.entries(word) if self.sums_in_double else -self.entries(word)

    def is_constant(self, word: Word) -> bool:
        """Whether a word never changes."""
        return all(letter.name in self.constant for letter in word)

    def size(self, word: Word) -> float | None:
        """Entries read in a product with the value of a word."""
        return self.sizes.get(word[0].name) if len(word) == 1 else self.grams.get(word)

    def letters(self, word: Word) -> set[str]:
        """Names of the matrices in a word."""
        names = {letter.name for letter in word}
        return names.union(*(self.signed_parts[name][0].names for name in names if name in self.signed_parts))

    def multiplication(self, left: Word, right: Word) -> float:
        """Cost of multiplying two known words."""
        return self.of_word(left + right)(0, len(left), len(left) + len(right))

    def of_word(self, word: Word) -> CostsOfWord:
        """Costs of the multiplications within a word, cached for planning."""
        found = self._of_words.get(word)
        if found is None:
            found = self._of_words[word] = CostsOfWord(word, self)
        return found


class CostsOfWord:
    """Costs of the multiplications within a word: ``costs(i, k, j)`` for letters i to k times letters k to j."""

    def __init__(self, word: Word, costs: Costs) -> None:
        self.costs, self.word = costs, word
        self.dimensions = [costs.shape(word[place : place + 1])[0] for place in range(len(word))] + [costs.shape(word[-1:])[1]]
        self.changing = list(accumulate((letter.name not in costs.constant for letter in word), initial=0))
        self._computed: dict[tuple[int, int, int], float] = {}
        places = [(i, i + length) for length in range(1, len(word) + 1) for i in range(len(word) - length + 1)]
        self.parts = {(i, j): canonical(word[i:j])[0] for i, j in places}
        """Letters i to j, in their canonical form; short ones first."""
        self.grams = {(i, j) for i, j in places if word[i:j] in costs.grams}
        """Gram matrices with products that need not form them."""
        self.chains: dict[frozenset[tuple[int, int]], tuple[list[Step], list[Word]]] = {}
        """Planned steps to the word and their results, by the parts known before."""

    def __call__(self, i: int, k: int, j: int) -> float:
        cost = self._computed.get((i, k, j))
        if cost is None:
            cost = self._computed[i, k, j] = self._cost(i, k, j)
        return cost

    def _cost(self, i: int, k: int, j: int) -> float:
        rows, inner, columns = self.dimensions[i], self.dimensions[k], self.dimensions[j]
        flops = float(rows) * inner * columns
        left, right = (self.costs.size(self.word[a:b]) if b - a <= 2 else None for a, b in ((i, k), (k, j)))
        if left is not None:
            flops = left * columns
        if right is not None:
            flops = right * rows
        if self.changing[j] == self.changing[i]:
            flops /= self.costs.horizon
        if j - i == 2 and all(letter.name in self.costs.data for letter in self.word[i:j]) and self.word[i].name[-1] in "⁺⁻":
            return math.inf  # the Gram matrix of a signed part is not available
        if j - i == 2 and self.word[i:j] in self.costs.unformed:
            return math.inf
        excess = rows * columns - self.costs.largest
        return flops if excess <= 0 else flops + 1e6 * excess
