"""From words to a plan: a list of products, each of two matrices known before it.

The order is the cheapest by dynamic programming over each word, under three rules: known words cost nothing, constant products
cost only their share of one iteration (so X Xᵀ is formed if that is cheaper), and nothing larger than the data or the largest
factor is formed if that can be avoided.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra.expression import Letter, Word
from ..kernels.host import as_type
from ..kernels.namespace import namespace_of
from .costs import Costs
from .following import Source, prepared
from .steps import LOGARITHM, Apply, ApplyGram, Multiply, SelfProduct, SignedPart, Step, Visit, canonical, results


def plan(targets: Iterable[Word], known: frozenset[Word], costs: Costs, logarithm: bool = False) -> list[Step]:
    """The steps to all targets; `known` and the results are canonical words."""
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

    steps += _signed_parts(targets, have, costs)
    return steps + _chains(targets, have, costs)


def _signed_parts(targets: Sequence[Word], have: set[Word], costs: Costs) -> list[Step]:
    """Multiply out the matrices whose positive or negative parts occur in the targets, and take the parts."""
    wholes = {
        letter.name: costs.signed_parts[letter.name] for word in targets for letter in word if letter.name in costs.signed_parts
    }
    missing = {name: part for name, part in wholes.items() if Word([Letter(name)]) not in have}
    steps = _chains([whole for whole, _ in missing.values()], have, costs)
    steps += [SignedPart(Word([Letter(name)]), *part) for name, part in missing.items()]
    have.update(results(steps))
    return steps


def _chains(targets: Sequence[Word], have: set[Word], costs: Costs) -> list[Step]:
    """Multiply out several words, each in its best order, common parts first if that is cheaper."""

    def attempt(words: Sequence[Word]) -> tuple[float, list[Step]]:
        known = set(have)
        steps = [step for word in words for step in _chain(word, known, costs)]
        return sum(_cost(step, costs) for step in steps), steps

    words = sorted(dict.fromkeys(targets), key=len)
    cost, steps = attempt(words)
    improved = len(words) > 1
    while improved:
        improved = False
        for part in _common_parts(words, costs):
            if part in have:
                continue
            trial_cost, trial = attempt([part, *words])
            if trial_cost < cost:
                words, cost, steps, improved = [part, *words], trial_cost, trial, True
    return steps


def _common_parts(words: Sequence[Word], costs: Costs) -> list[Word]:
    """Common subwords of two letters or more, in either orientation."""
    seen: dict[Word, set[int]] = {}
    for number, word in enumerate(words):
        for i in range(len(word)):
            for j in range(i + 2, len(word) + 1):
                part = word[i:j]
                if not any(letter.name in costs.operands for letter in part):
                    seen.setdefault(canonical(part)[0], set()).add(number)
    return [part for part, where in seen.items() if len(where) > 1 and part not in words]


def low_rank(product: Word, shapes: Mapping[str, tuple[int, int]]) -> tuple[Word, Word]:
    """The product cut at its smallest inner dimension: X̂ = left · right; right is empty for a single factor."""

    def width(place: int) -> int:
        name, transposed = product[place]
        return shapes[name][transposed]

    cut = min(range(1, len(product)), key=width, default=1)
    return product[:cut], product[cut:]


def _split(word: Word, costs: Costs) -> tuple[Word, Letter, Word]:
    """A word cut at its operand: the word before, the operand, the word after."""
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
    """The word that stands beside the operand."""
    before, _, after = _split(product, costs)
    return before or after


def _chain(word: Word, have: set[Word], costs: Costs) -> list[Step]:
    """Multiply out a word at the least cost from known words, and add the results to these."""
    if len(word) <= 1:  # a matrix on its own is always there
        return []
    cost = costs.of_word(word)
    known = frozenset(place for place, part in cost.parts.items() if part in have)
    if (0, len(word)) in known | cost.grams:
        return []
    if known not in cost.chains:  # the same word is planned many times, beside others
        cost.chains[known] = _cheapest(word, known, costs)
    steps, made = cost.chains[known]
    have.update(made)
    return steps


def _cheapest(word: Word, known: frozenset[tuple[int, int]], costs: Costs) -> tuple[list[Step], list[Word]]:
    """The cheapest steps to a word from its known parts, and their results."""
    cost = costs.of_word(word)
    parts, there = cost.parts, {cost.parts[place] for place in known}

    def is_known(i: int, j: int) -> bool:
        return parts[i, j] in there or (i, j) in cost.grams

    best: dict[tuple[int, int], tuple[float, int]] = {}
    for (i, j), part in parts.items():  # short ones first
        if is_known(i, j):
            best[i, j] = (0.0, -1)
        elif j - i == 1:
            best[i, j] = (math.inf if part[0].name in costs.operands else 0.0, -1)
        else:
            best[i, j] = min([(best[i, k][0] + best[k, j][0] + cost(i, k, j), k) for k in range(i + 1, j)])

    steps: list[Step] = []
    made: list[Word] = []

    def build(i: int, j: int) -> None:
        cut = best[i, j][1]
        if cut < 0 or is_known(i, j):
            return
        build(i, cut)
        build(cut, j)
        steps.append(_step(word[i:cut], word[cut:j], there, costs))
        there.add(parts[i, j])
        made.append(parts[i, j])

    build(0, len(word))
    return steps, made


def _step(left: Word, right: Word, have: set[Word], costs: Costs) -> Step:
    """The step that multiplies two known words; data and unformed Gram matrices have steps of their own."""

    def is_data(word: Word) -> bool:
        return len(word) == 1 and word[0].name in costs.data

    def is_gram(word: Word) -> bool:
        return word in costs.grams and canonical(word)[0] not in have

    result = left + right
    if is_data(left) and is_data(right):
        return SelfProduct(result)
    if is_data(left) or is_data(right):
        return Apply(result, left, right, is_data(left))
    if is_gram(left) or is_gram(right):
        return ApplyGram(result, left, right, is_gram(left))
    return Multiply(result, left, right)


def _cost(step: Step, costs: Costs) -> float:
    match step:
        case Visit() | SignedPart():
            return 0.0
        case SelfProduct(result):
            return costs.multiplication(result[:1], result[1:])
        case _:
            return costs.multiplication(step.left, step.right)


def multiply(word: Word, matrices: Mapping[str, Any], data: Mapping[str, Any] | None = None) -> Any:
    """The product of a word, in the cheapest order.

    Parameters
    ----------
    word : Word
    matrices : dict of arrays
    data : dict of Data
        Data, multiplied by `apply`, by name.
    """
    data = data or {}
    shapes = {name: (data[name] if name in data else matrices[name]).shape for name in word.names}
    sizes = {name: float(found.size) for name, found in data.items()}
    costs = Costs(shapes, sizes, frozenset(), word, data=frozenset(data))
    values: dict[Word, Any] = {}

    def value(part: Word) -> Any:
        if len(part) == 1:
            ((name, flipped),) = part
            array = data[name].itself() if name in data else matrices[name]
            return array.T if flipped else array
        kept, flipped = canonical(part)
        return values[kept].T if flipped else values[kept]

    def source(part: Word) -> Source:
        return lambda _: value(part)

    for step in _chain(word, set(), costs):
        assert not isinstance(step, Visit)  # there are no operands
        kept, flipped = canonical(step.result)
        found = prepared(step, source, lambda letter: (data[letter.name], ""))(None)
        values[kept] = found.T if flipped else found
    kinds = [data[name].namespace if name in data else namespace_of(matrices[name]) for name in word.names]
    is_single = all(str(kind.dtype).endswith("float32") for kind in kinds)  # of PyTorch, too
    return as_type(value(word), np.float32) if is_single else value(word)
