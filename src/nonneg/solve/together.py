"""Steps of a plan that one reading of data in blocks of rows can take together.

With X ≈ X W Wᵀ and the I-divergence, a gradient needs X W, then Q W with Q = X/X̂, and then Xᵀ(Q W): three products, each of which
goes over X. But what the first two give has a row for each row of X, so that a block has all that it needs for its part of the
third while it is in memory: only sums over all blocks have to wait for the end of a reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..algebra.expression import Letter, Word
from ..data.blocks import Applied, Blocks, How, Slot, Visited
from ..divergences.base import Logarithm
from ..planning import LOGARITHM, Apply, Multiply, SignedPart, Step, Visit, canonical
from ..planning.planner import COLUMNS, ROWS

if TYPE_CHECKING:
    from .point import Point


def take_together(point: Point, steps: Sequence[Step]) -> Sequence[Step]:
    """Take the steps that a reading can take together, where these are more than one; the steps that are left."""
    found = point.problem.data.in_blocks
    while found is not None:
        blocks, is_turned = found
        reading = _Reading(point, is_turned)
        before: list[Step] = []
        after: list[Step] = []
        for step in steps:
            if isinstance(step, Multiply | SignedPart) and not reading.waits(step):
                before.append(step)
            elif not reading.takes(step):
                after.append(step)
        if len(reading.work) < 2:
            break
        for step in before:
            point.take_step(step)
        reading.make(blocks)
        steps = after
    return steps


class _Reading:
    """What is to be done with each block in a reading, as far as it is known.

    Where blocks have columns of X, it is about Y = Xᵀ: what has a row for each row of Y is at hand in a block.
    """

    def __init__(self, point: Point, is_turned: bool) -> None:
        self._point, self._is_turned = point, is_turned
        self.work: list[Applied | Visited] = []
        self._how: list[How] = []
        self._results: list[Word | None] = []
        """What each result is; None for a sum of logarithms."""
        self._rows: dict[Word, int] = {}
        """Results with a row for each row of the blocks, which these may go on with."""
        self._later: set[Word] = set()
        """What is not known before the end of the reading."""
        self._shared: list[Word] = []
        self._own: list[Word] = []

    def waits(self, step: Multiply | SignedPart) -> bool:
        """Whether a product of small matrices is made of what is known only after the reading."""
        parts = (step.left, step.right) if isinstance(step, Multiply) else (step.whole,)
        return any(canonical(part)[0] in self._later for part in parts)

    def takes(self, step: Step) -> bool:
        """Whether a step can be taken in the reading; it is then part of it. If not, what it gives comes later."""
        work: Applied | Visited | None = None
        results: list[tuple[Word | None, bool]] = []
        match step:
            case Apply(result, left, right, is_data_first):
                letter, other = (left[0], right) if is_data_first else (right[0], left.T)
                is_sum = (letter.transposed == is_data_first) != self._is_turned
                place = self._place(other, is_own=is_sum)
                sign = letter.name.removeprefix(self._point.problem.model.data)
                work = Applied(place, is_sum, sign) if place is not None else None
                results = [(result if is_data_first else result.T, is_sum)]
            case Visit(_, right) if right:
                work, results = self._visited(step)
        if work is None:
            self._later |= {canonical(word)[0] for word in _results(step)}
            return False
        self.work.append(work)
        for word, is_sum in results:
            if word is not None:
                key = canonical(word)[0]
                self._later.add(key)
                if not is_sum:
                    self._rows[key] = len(self._how)
            self._how.append("add" if is_sum else "stack")
            self._results.append(word)
        return True

    def _place(self, word: Word, *, is_own: bool) -> Slot | None:
        """Where a block finds a matrix: among its own rows, among what all have, or what it has made; None if it has to wait."""
        key = canonical(word)[0]
        if is_own and key in self._rows:
            return Slot("made", self._rows[key])
        if key in self._later:
            return None
        words = self._own if is_own else self._shared
        words.append(word)
        return Slot("own" if is_own else "shared", len(words) - 1)

    def _visited(self, step: Visit) -> tuple[Visited | None, list[tuple[Word | None, bool]]]:
        model, is_turned = self._point.problem.model, self._is_turned
        operands = model.middles.operands
        powers = tuple(model.divergence.log_powers) if step.logarithm else ()
        own, shared = (step.right.T, step.left.T) if is_turned else (step.left, step.right)
        left, right = self._place(own, is_own=True), self._place(shared, is_own=False)
        requests: list[tuple[Any, str, Slot | None]] = []
        results: list[tuple[Word | None, bool]] = []
        for word in step.products:
            place = next(i for i, letter in enumerate(word) if letter.name in operands)
            turned = word.T if word[place].transposed else word
            place = next(i for i, letter in enumerate(turned) if letter.name in operands)
            before, after = turned[:place], turned[place + 1 :]
            is_sum = bool(before) != is_turned
            found = self._place(before.T if before else after, is_own=is_sum)
            requests.append((operands[turned[place].name], "left" if is_sum else "right", found))
            results.append((turned.T if is_turned else turned, is_sum))
        ones = Word([Letter(ROWS if is_turned else COLUMNS)])
        for power in powers[1:]:
            requests.append((Logarithm(power), "right", self._place(ones, is_own=False)))
            results.append((None, False))
        results.append((None, True))
        places = (left, right, *(place for *_, place in requests))
        if any(place is None for place in places):
            return None, []
        return Visited(left, right, tuple(requests), powers[0] if powers else None), results  # type: ignore[arg-type]

    def make(self, data: Blocks) -> None:
        """Make it, and take note of what it gives."""
        point = self._point
        shared, own = ([point.operand(word) for word in words] for words in (self._shared, self._own))
        found = data.programmed(self.work, self._how, shared, own)
        logarithms: list[Any] = []
        for word, way, result in zip(self._results, self._how, found, strict=True):
            if word is not None:
                point.keep(word, result)
            elif way == "add":
                logarithms.insert(0, result)
            else:
                xp = point.problem.namespace.xp
                logarithms.append(xp.sum(result, dtype=xp.float64))
        if any(isinstance(work, Visited) and work.log_power is not None for work in self.work):
            point.known[LOGARITHM] = logarithms


def _results(step: Step) -> tuple[Word, ...]:
    return step.products if isinstance(step, Visit) else (step.result,)
