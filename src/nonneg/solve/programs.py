"""Plans made ready for one problem.

In every iteration of a run the same products are made, from what the point holds by then. Where each step finds its matrices, what
of that never changes, and under which word and which way round its result is kept, is looked up when a plan is followed for the
first time. After that an iteration is a walk over a list of functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..algebra.expression import Letter, Word
from ..data import Data
from ..planning import Source, Step, Visit, canonical, prepared, results
from ..planning.planner import Term
from .together import take_together

if TYPE_CHECKING:
    from .point import Point
    from .problem import Problem


class Share(NamedTuple):
    """One term of a side of a rule, and where its product is found."""

    coefficient: float
    source: Source
    has_theta: bool


class Program(NamedTuple):
    """How a plan is followed, for points that hold what it was made for; it does not hold on to the problem that it belongs to."""

    calls: Sequence[tuple[Word | None, Callable[[Point], Any]]]
    """For each step, the word that its result is kept under (none for a visit, which has several), and how it is taken."""
    together: Sequence[Step] = ()
    """Steps of which data in blocks take as many in one reading as they can."""
    sides: tuple[Sequence[Share], ...] = ()
    """The sums that are known by then, if it is the program of a rule: its numerator and its denominator."""

    def follow(self, point: Point) -> None:
        """Take the steps at a point."""
        known = point.known
        for word, take in self.calls:
            if word is None:
                take(point)
            else:
                known[word] = take(point)
        if self.together:
            for step in take_together(point, self.together):
                point.take_step(step)


def program_of(problem: Problem, steps: Sequence[Step], known: frozenset[Word], sides: Sequence[Sequence[Term]] = ()) -> Program:
    """A plan made ready for points that hold the words in `known`, which are canonical."""
    maker = _Maker(problem, known)
    calls = [maker.call(step) for step in steps]
    return Program(calls, sides=tuple(map(maker.shares, sides)))


def program_together(
    problem: Problem, steps: Sequence[Step], known: frozenset[Word], sides: Sequence[Sequence[Term]] = ()
) -> Program:
    """The same for data in blocks, which find out what they can do in one reading when they come to it."""
    maker = _Maker(problem, known)
    maker.add_results(steps)
    return Program((), steps, tuple(map(maker.shares, sides)))


class _Maker:
    """Makes the steps of a plan ready, one after the other."""

    def __init__(self, problem: Problem, known: frozenset[Word]) -> None:
        self._problem, self._have = problem, set(known)

    def add_results(self, steps: Sequence[Step]) -> None:
        """What is known after some steps."""
        self._have.update(results(steps))

    def call(self, step: Step) -> tuple[Word | None, Callable[[Point], Any]]:
        """How a step is taken."""
        if isinstance(step, Visit):
            visit = step
            self.add_results([step])
            return None, lambda point: point.visit(visit)
        take, (kept, flipped) = prepared(step, self._source, self._reach), canonical(step.result)
        self.add_results([step])
        return kept, _turned(take) if flipped else take

    def shares(self, terms: Sequence[Term]) -> Sequence[Share]:
        """A sum of words that are known by now."""
        return [Share(coefficient, self._source(word), has_theta) for coefficient, word, has_theta in terms]

    def _source(self, word: Word) -> Source:
        """Where a word is found: among the products of a point, those that never change, or the factors and other matrices."""
        kept, flipped = canonical(word)
        found = self._unturned(kept)
        return _turned(found) if flipped else found

    def _unturned(self, kept: Word) -> Source:
        problem = self._problem
        if kept in self._have:
            return lambda point: point.known[kept]
        if kept in problem.planner.constants:
            constant = problem.constant_value(kept)
            return lambda point: constant
        ((name, _),) = kept
        if name in problem.planner.costs.data:
            data = problem.data
            return lambda point: data.itself()
        if name in problem.matrices:
            matrix = problem.matrices[name]
            return lambda point: matrix
        return lambda point: point.factors[name]

    def _reach(self, letter: Letter) -> tuple[Data, str]:
        """The data, and the sign that the letter X⁺ or X⁻ stands for."""
        return self._problem.data, letter.name.removeprefix(self._problem.model.data)


def _turned(source: Source) -> Source:
    return lambda point: source(point).T
