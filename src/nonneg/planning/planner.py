"""The plans of one problem: a function of its model, its shapes, its costs, and of what a point holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from ..algebra.expression import THETA, Letter, Word
from .costs import Costs
from .plans import plan
from .steps import LOGARITHM, Step, canonical, results
from .traces import Contraction, contractions, needed

ROWS, COLUMNS = "1ₘ", "1ₙ"
"""Columns of ones, as long as the data have rows and columns."""
THETA_WORD = Word([Letter(THETA)])
"""θ of QNMF Table 1, a number that stands in words like a matrix."""


class Term(NamedTuple):
    """One word of a sum, ready to be looked up."""

    coefficient: float
    word: Word
    has_theta: bool


Pairs = tuple[tuple[Word, Fraction], ...]
"""A sum of words, in the order in which they are added up."""


def terms(part: Iterable[tuple[Word, Fraction]]) -> tuple[Term, ...]:
    """A sum as it is computed: the all-ones matrix becomes 1ₘ 1ₙᵀ, which is a product like any other."""
    ones = Word([Letter(ROWS), Letter(COLUMNS, True)])
    return tuple(
        Term(
            float(coefficient),
            Word(
                piece
                for letter in word.matrices
                for piece in ([letter] if letter.name != "1" else ones.T if letter.transposed else ones)
            ),
            word[:1] == THETA_WORD,
        )
        for word, coefficient in part
    )


class RuleWords(NamedTuple):
    """What is planned for: the two sides of a rule, the two parts of a gradient, and the terms that the value is made of."""

    factor: str
    numerator: Pairs
    denominator: Pairs
    positive: Pairs
    negative: Pairs
    terms: tuple[Pairs, ...]


class PlannedRule(NamedTuple):
    """A rule with its words in the form in which they are computed."""

    numerator: tuple[Term, ...]
    denominator: tuple[Term, ...]
    positive: tuple[Term, ...]
    negative: tuple[Term, ...]
    words: tuple[Word, ...]
    """The words that an update of the factor needs."""
    sums: tuple[tuple[Contraction, ...], ...]
    """⟨F, ∇⟩ for each term of the derivative, from what an update needs anyway."""
    sum_words: tuple[Word, ...]
    """The words that `sums` are contracted from."""


class Planner:
    """What to compute for the steps and sums of a set of rules; `planner_of` makes one.

    Parameters
    ----------
    rules : sequence of RuleWords
        One for each factor that is learned.
    costs : Costs
    given : iterable of Word
        Constant products that are there to begin with.
    """

    def __init__(self, rules: Sequence[RuleWords], costs: Costs, given: Iterable[Word] = ()) -> None:
        self.costs = costs
        self.implicit = frozenset((*costs.operands, THETA, LOGARITHM[0].name))
        """Letters that change with every factor."""
        self.scales_otherwise = self.implicit | set(costs.signed_parts)
        """Letters whose values do not grow with a factor as products do, or not by how often it occurs in them."""
        self.learned = tuple(rule.factor for rule in rules)
        self._given = frozenset(canonical(word)[0] for word in given)
        self.constants = self._worth_forming(rules)
        """Products that never change and are worth forming, as X Xᵀ may be."""
        self._plans: dict[tuple[tuple[Word, ...], frozenset[Word], bool], list[Step]] = {}
        self._sums: dict[tuple[str, frozenset[Word], bool], list[Step]] = {}
        self._changing: dict[Word, frozenset[str]] = {}
        self.rules = {rule.factor: self._planned(rule) for rule in rules}
        self.words = tuple(dict.fromkeys(word for rule in self.rules.values() for word in rule.words))
        """The words that updates of all factors need."""

    def _worth_forming(self, rules: Iterable[RuleWords]) -> frozenset[Word]:
        """Products of matrices that never change, which the cheapest plan of some rule forms."""
        constants = self._given
        for rule in rules:
            steps = plan(_words(rule), constants, self.costs)
            constants |= {word for word in results(steps) if self.costs.is_constant(word)}
        return constants

    def _planned(self, rule: RuleWords) -> PlannedRule:
        parts = [terms(part) for part in (rule.numerator, rule.denominator, rule.positive, rule.negative)]
        words, F = _words(rule), Word([Letter(rule.factor)])
        have = self._known_after(self.plan(words, frozenset()), frozenset())
        sums = tuple(contractions([term[:2] for term in terms(part)], F, have, self.costs.roundings) for part in rule.terms)
        used = (word for part in sums for _, *pair in part for word in pair)
        sum_words = tuple(dict.fromkeys(have.get(canonical(word)[0], word) for word in used))
        return PlannedRule(parts[0], parts[1], parts[2], parts[3], words, sums, sum_words)

    def _known_after(self, steps: list[Step], known: frozenset[Word]) -> dict[Word, Word]:
        """What is known after some steps, in its canonical form, and the way round in which it is computed."""
        made = {*self.implicit, *self.costs.data, *self.costs.signed_parts}
        letters = (Word([Letter(name)]) for name in self.costs.shapes if name not in made)
        return results(steps) | {word: word for word in (*known, *self.constants, *letters)}

    def plan(self, words: tuple[Word, ...], known: frozenset[Word], *, logarithm: bool = False) -> list[Step]:
        """The steps after which the words, and the sum of logarithms if asked for, are known."""
        key = words, known, logarithm
        if key not in self._plans:
            self._plans[key] = plan(words, known | self.constants, self.costs, logarithm)
        return self._plans[key]

    def plan_constant(self, word: Word) -> list[Step]:
        """The steps to a product that never changes, from what is given."""
        return plan((word,), self._given, self.costs)

    def plan_sums(self, factor: str, known: frozenset[Word], *, logarithm: bool) -> list[Step]:
        """The part of an update's plan that leads to `sum_words`; a plan of their own where that does not lead to them."""
        key, rule = (factor, known, logarithm), self.rules[factor]
        if key not in self._sums:
            steps = self.plan(rule.words, known, logarithm=logarithm)
            have = self._known_after(steps, known)
            is_there = all(not word or canonical(word)[0] in have for word in rule.sum_words)
            self._sums[key] = needed(steps, rule.sum_words) if is_there else self.plan(rule.sum_words, known, logarithm=logarithm)
        return self._sums[key]

    def changing(self, word: Word) -> frozenset[str]:
        """The factors that a known product changes with; what is made of X̂ changes with all of them."""
        factors = self._changing.get(word)
        if factors is None:
            names = self.costs.letters(word)
            factors = frozenset(self.learned if names & self.implicit else names.intersection(self.learned))
            self._changing[word] = factors
        return factors


@lru_cache(maxsize=64)
def planner_of(rules: tuple[RuleWords, ...], costs: Costs, given: frozenset[Word]) -> Planner:
    """The planner for some rules: the same one for problems of the same model and shapes, as those of folds and repeated fits are.

    Plans follow from these arguments alone, so that it does not matter which problem has asked for one first.
    """
    return Planner(rules, costs, given)


def _words(rule: RuleWords) -> tuple[Word, ...]:
    return tuple(dict.fromkeys(term.word for part in (rule.numerator, rule.denominator) for term in terms(part)))
