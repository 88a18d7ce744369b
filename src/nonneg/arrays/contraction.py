"""In which order to multiply, what to keep, and what never to form.

A step needs the values of a few words. `plan` turns them into a list of products, each of two matrices that are known by
then. The order is the cheapest by dynamic programming over the word, under three facts: words that are known already cost
nothing, products of matrices that never change cost only a share of one iteration (so X Xᵀ is formed where that pays), and
nothing larger than the data or the largest factor is formed where there is a way around it.

A word and its transpose are one product; `canonical` says which of the two is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from ..exceptions import IncompatibleError
from ..expression import Letter, Word


@lru_cache(maxsize=4096)
def canonical(word: Word) -> tuple[Word, bool]:
    """The one of word and wordᵀ that is kept, and whether it is the transpose."""
    return (word.T, True) if word > word.T else (word, False)


class Multiply(NamedTuple):
    """Compute `result` = left @ right; each of the three is a word, kept in its canonical form."""

    result: Word
    left: Word
    right: Word


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


Step = Multiply | Visit


@dataclass(frozen=True)
class Costs:
    """What a planner must know about the matrices."""

    shapes: Mapping[str, tuple[int, int]]
    sizes: Mapping[str, float]
    """Entries to visit in a product with a matrix, where that is not rows × columns; infinite for one that is not known."""
    constant: frozenset[str]
    """Matrices that never change."""
    operands: frozenset[str]
    product: Word
    horizon: int
    """Iterations over which the cost of a constant product is shared."""
    largest: float
    """Entries of the largest matrix there is anyway."""

    def shape(self, word: Word) -> tuple[int, int]:
        def dimension(letter: Letter, axis: int) -> int:
            return self.shapes[letter.name][axis if not letter.transposed else 1 - axis]

        return dimension(word[0], 0), dimension(word[-1], 1)

    def multiplication(self, left: Word, right: Word) -> float:
        """What it costs to multiply two words whose values are known."""
        return _Prices(left + right, self)(0, len(left), len(left) + len(right))


class _Prices:
    """What each multiplication within a word costs: ``prices(i, k, j)`` for letters i to k times letters k to j."""

    def __init__(self, word: Word, costs: Costs) -> None:
        self.costs = costs
        self.dimensions = [costs.shape(word[place : place + 1])[0] for place in range(len(word))] + [costs.shape(word[-1:])[1]]
        self.sizes = [costs.sizes.get(letter.name) for letter in word]
        self.changing = list(accumulate((letter.name not in costs.constant for letter in word), initial=0))

    def __call__(self, i: int, k: int, j: int) -> float:
        rows, inner, columns = self.dimensions[i], self.dimensions[k], self.dimensions[j]
        flops = float(rows) * inner * columns
        left, right = self.sizes[i], self.sizes[k]
        if k - i == 1 and left is not None:
            flops = left * columns
        if j - k == 1 and right is not None:
            flops = right * rows
        if self.changing[j] == self.changing[i]:
            flops /= self.costs.horizon
        excess = rows * columns - self.costs.largest
        return flops if excess <= 0 else flops + 1e6 * excess


def plan(targets: Iterable[Word], known: frozenset[Word], costs: Costs, logarithm: bool = False) -> list[Step]:
    """The steps after which every target is known; `known` and the results are canonical words."""
    targets = [word.matrices for word in targets]
    have = set(known)
    steps: list[Step] = []

    with_operand = [word for word in targets if any(letter.name in costs.operands for letter in word)]
    wanted = dict.fromkeys(_operand_product(word, costs) for word in with_operand)
    products = [word for word in wanted if canonical(word)[0] not in have]
    logarithm = logarithm and LOGARITHM not in have
    if products or logarithm:
        left, right = low_rank(costs.product, costs.shapes)
        neighbours = [_other_side(word, costs) for word in products]
        for word in (left, right, *neighbours):
            steps += _chain(word, have, costs)
        steps.append(Visit(left, right, tuple(products), logarithm))
        have.update(canonical(word)[0] for word in products)

    chains = _chains(targets, have, costs)
    for step in chains:
        if isinstance(step, Multiply) and math.isinf(costs.multiplication(step.left, step.right)):
            raise IncompatibleError(
                f"{step.result} cannot be computed: only X Xᵀ is known of the data, not X. Use a form in which X always meets its "
                "own transpose, such as 'W W.T X' with the Euclidean distance."
            )
    return steps + chains


def _chains(targets: Sequence[Word], have: set[Word], costs: Costs) -> list[Step]:
    """Multiply several words together, each in its best order, with what they have in common computed first where that saves."""

    def attempt(words: Sequence[Word]) -> tuple[float, list[Step]]:
        known = set(have)
        steps = [step for word in words for step in _chain(word, known, costs)]
        return sum(costs.multiplication(step.left, step.right) for step in steps if isinstance(step, Multiply)), steps

    words = sorted(dict.fromkeys(targets), key=len)
    cost, steps = attempt(words)
    improved = len(words) > 1
    while improved:
        improved = False
        for part in _common_parts(words, costs):
            trial_cost, trial = attempt([part, *words])
            if trial_cost < cost:
                words, cost, steps, improved = [part, *words], trial_cost, trial, True
    return steps


def _common_parts(words: Sequence[Word], costs: Costs) -> list[Word]:
    """Words of two letters or more that are part of several of the given ones, either way round."""
    seen: dict[Word, set[int]] = {}
    for number, word in enumerate(words):
        for i in range(len(word)):
            for j in range(i + 2, len(word) + 1):
                part = word[i:j]
                if not any(letter.name in costs.operands for letter in part):
                    seen.setdefault(canonical(part)[0], set()).add(number)
    return [part for part, where in seen.items() if len(where) > 1 and part not in words]


def low_rank(product: Word, shapes: Mapping[str, tuple[int, int]]) -> tuple[Word, Word]:
    """The product, cut where it is narrowest: X̂ = left · right; right is empty for a single factor."""

    def width(place: int) -> int:
        name, transposed = product[place]
        return shapes[name][transposed]

    cut = min(range(1, len(product)), key=width, default=1)
    return product[:cut], product[cut:]


def _split(word: Word, costs: Costs) -> tuple[Word, Letter, Word]:
    place = next(i for i, letter in enumerate(word) if letter.name in costs.operands)
    return word[:place], word[place], word[place + 1 :]


def _operand_product(word: Word, costs: Costs) -> Word:
    """The part ``E v`` or ``u E`` of a word u E v to compute while E is at hand: the one with the smaller result."""
    before, operand, after = _split(word, costs)
    E = Word([operand])
    if not before or not after:
        return before + E + after
    return E + after if costs.shape(after)[1] <= costs.shape(before)[0] else before + E


def _other_side(product: Word, costs: Costs) -> Word:
    before, _, after = _split(product, costs)
    return before or after


def _chain(word: Word, have: set[Word], costs: Costs) -> list[Step]:
    """Multiply a word together at the least cost, given the words there are; adds to them what it makes."""

    def is_known(part: Word) -> bool:
        return canonical(part)[0] in have

    n = len(word)
    if n <= 1 or is_known(word):  # a matrix on its own is always there
        return []
    prices = _Prices(word, costs)
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            part = word[i:j]
            if is_known(part):
                best[i, j] = (0.0, -1)
            elif length == 1:
                best[i, j] = (math.inf if part[0].name in costs.operands else 0.0, -1)
            else:
                best[i, j] = min((best[i, k][0] + best[k, j][0] + prices(i, k, j), k) for k in range(i + 1, j))

    steps: list[Step] = []

    def build(i: int, j: int) -> None:
        cut = best[i, j][1]
        if cut < 0 or is_known(word[i:j]):
            return
        build(i, cut)
        build(cut, j)
        steps.append(Multiply(word[i:j], word[i:cut], word[cut:j]))
        have.add(canonical(word[i:j])[0])

    build(0, n)
    return steps


def multiply(word: Word, matrices: Mapping[str, Any]) -> Any:
    """The product of a word, multiplied together in the cheapest order."""
    shapes = {name: matrices[name].shape for name in word.names}
    costs = Costs(shapes, {}, frozenset(), frozenset(), word, horizon=1, largest=math.inf)
    values: dict[Word, Any] = {}

    def value(part: Word) -> Any:
        if len(part) == 1:
            ((name, flipped),) = part
            return matrices[name].T if flipped else matrices[name]
        kept, flipped = canonical(part)
        return values[kept].T if flipped else values[kept]

    for step in _chain(word, set(), costs):
        assert isinstance(step, Multiply)
        kept, flipped = canonical(step.result)
        product = value(step.left) @ value(step.right)
        values[kept] = product.T if flipped else product
    return value(word)
