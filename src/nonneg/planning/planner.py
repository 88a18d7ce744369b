"""The plans of one problem: functions of model, shapes, costs, and the known products of a point."""

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
"""Columns of ones, of as many entries as the data have rows, and columns."""
THETA_WORD = Word([Letter(THETA)])
"""θ of QNMF Table 1, a number written as a letter."""


class Term(NamedTuple):
    """One word of a sum, ready to be looked up."""

    coefficient: float
    word: Word
    has_theta: bool


Pairs = tuple[tuple[Word, Fraction], ...]
"""A sum of words, in the order of addition."""


def terms(part: Iterable[tuple[Word, Fraction]]) -> tuple[Term, ...]:
    """A sum as it is computed, with the all-ones matrix as the product 1ₘ 1ₙᵀ."""
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
    """Words to plan for: the two sides of a rule, the two parts of a gradient, and the terms of the value."""

    factor: str
    numerator: Pairs
    denominator: Pairs
    positive: Pairs
    negative: Pairs
    terms: tuple[Pairs, ...]


class PlannedRule(NamedTuple):
    """A rule with its words in canonical form."""

    numerator: tuple[Term, ...]
    denominator: tuple[Term, ...]
    positive: tuple[Term, ...]
    negative: tuple[Term, ...]
    words: tuple[Word, ...]
    """The words of an update of the factor."""
    sums: tuple[tuple[Contraction, ...], ...]
    """⟨F, ∇⟩ for each term of the derivative, from the products of an update."""
    sum_words: tuple[Word, ...]
    """The words in `sums`."""


class Planner:
    """Plans for the steps and sums of a set of rules; made by `planner_of`.

    Parameters
    ----------
    rules : sequence of RuleWords
        One for each learned factor.
    costs : Costs
    given : iterable of Word
        Constant products known at the beginning.
    """

    def __init__(self, rules: Sequence[RuleWords], costs: Costs, given: Iterable[Word] = ()) -> None:
        self.costs = costs
        self.implicit = frozenset((*costs.operands, THETA, LOGARITHM[0].name))
        """Letters of functions of X̂, and so of every factor."""
        self.scales_otherwise = self.implicit | set(costs.signed_parts)
        """Letters that are not homogeneous in a factor with its number of occurrences as degree."""
        self.learned = tuple(rule.factor for rule in rules)
        self._given = frozenset(canonical(word)[0] for word in given)
        self.constants = self._worth_forming(rules)
        """Constant products worth forming, such as X Xᵀ."""
        self._plans: dict[tuple[tuple[Word, ...], frozenset[Word], bool], list[Step]] = {}
        self._sums: dict[tuple[str, frozenset[Word], bool], list[Step]] = {}
        self._changing: dict[Word, frozenset[str]] = {}
        self.rules = {rule.factor: self._planned(rule) for rule in rules}
        self.words = tuple(dict.fromkeys(word for rule in self.rules.values() for word in rule.words))
        """The words of the updates of all factors."""

    def forms(self, word: Word) -> bool:
        """Whether a constant product is formed once and for all."""
        return canonical(word)[0] in self.constants

    def is_implicit(self, word: Word) -> bool:
        """Whether a Gram matrix of the data is multiplied without being formed."""
        return canonical(word)[0] in self.costs.grams

    def _worth_forming(self, rules: Iterable[RuleWords]) -> frozenset[Word]:
        """Constant products in the cheapest plan of some rule."""
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
        """Words known after some steps, in canonical form, with their computed orientation."""
        made = {*self.implicit, *self.costs.data, *self.costs.signed_parts}
        letters = (Word([Letter(name)]) for name in self.costs.shapes if name not in made)
        return results(steps) | {word: word for word in (*known, *self.constants, *letters)}

    def plan(self, words: tuple[Word, ...], known: frozenset[Word], *, logarithm: bool = False) -> list[Step]:
        """The steps to the words, and to the sum of logarithms on request."""
        key = words, known, logarithm
        if key not in self._plans:
            self._plans[key] = plan(words, known | self.constants, self.costs, logarithm)
        return self._plans[key]

    def plan_constant(self, word: Word) -> list[Step]:
        """The steps to a constant product, from given ones."""
        return plan((word,), self._given, self.costs)

    def plan_sums(self, factor: str, known: frozenset[Word], *, logarithm: bool) -> list[Step]:
        """The part of an update's plan up to `sum_words`, or else a plan of their own."""
        key, rule = (factor, known, logarithm), self.rules[factor]
        if key not in self._sums:
            steps = self.plan(rule.words, known, logarithm=logarithm)
            have = self._known_after(steps, known)
            is_there = all(not word or canonical(word)[0] in have for word in rule.sum_words)
            self._sums[key] = needed(steps, rule.sum_words) if is_there else self.plan(rule.sum_words, known, logarithm=logarithm)
        return self._sums[key]

    def changing(self, word: Word) -> frozenset[str]:
        """The factors in a known product; all of them for functions of X̂."""
        factors = self._changing.get(word)
        if factors is None:
            names = self.costs.letters(word)
            factors = frozenset(self.learned if names & self.implicit else names.intersection(self.learned))
            self._changing[word] = factors
        return factors


@lru_cache(maxsize=64)
def planner_of(rules: tuple[RuleWords, ...], costs: Costs, given: frozenset[Word]) -> Planner:
    """The planner for some rules, cached for problems of the same model and shapes, such as folds and repeated fits.

    Plans are functions of these arguments alone.
    """
    return Planner(rules, costs, given)


def _words(rule: RuleWords) -> tuple[Word, ...]:
    return tuple(dict.fromkeys(term.word for part in (rule.numerator, rule.denominator) for term in terms(part)))
