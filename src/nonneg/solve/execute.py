"""Plans compiled to functions, and executed at a point.

Every iteration computes the same products, so operands, constants and the key of each result are looked up once, when a plan is
compiled. Over data in blocks, several steps are fused into one pass: with X ≈ X W Wᵀ and the I-divergence a gradient needs X W,
then Q W with Q = X/X̂, then Xᵀ(Q W). A block has all rows of the first two that its part of the third needs; only sums over blocks
wait for the end of the pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

from ..algebra.expression import Letter, Word
from ..data.blocks import Applied, Blocks, How, Slot, Visited
from ..divergences.base import Logarithm
from ..planning import LOGARITHM, Apply, Multiply, SignedPart, Source, Step, Visit, canonical, prepared, results
from ..planning.planner import COLUMNS, ROWS, Term

if TYPE_CHECKING:
    from .point import Point
    from .problem import Problem


class Share(NamedTuple):
    """One term of a side of a rule, with the source of its product."""

    coefficient: float
    source: Source
    has_theta: bool


class Executable(NamedTuple):
    """A compiled plan, for points with the products it was compiled for. Holds no reference to the problem."""

    calls: Sequence[tuple[Word | None, Callable[[Point], Any]]]
    """The key of the result of each step (None for a visit, which has several results), and its function."""
    fused: Sequence[Step] = ()
    """Steps over data in blocks, fused when they are executed."""
    sides: tuple[Sequence[Share], ...] = ()
    """Numerator and denominator, if it is the plan of a rule."""

    def execute(self, point: Point) -> None:
        """Execute the plan at a point."""
        known = point.known
        for word, take in self.calls:
            if word is None:
                take(point)
            else:
                known[word] = take(point)
        if self.fused:
            execute_fused(point, self.fused)


def compile_plan(
    problem: Problem, steps: Sequence[Step], known: frozenset[Word], sides: Sequence[Sequence[Term]] = (), *, fuses: bool = False
) -> Executable:
    """Compile a plan.

    Parameters
    ----------
    problem : Problem
    steps : sequence of Step
    known : frozenset of Word
        Canonical words that points hold already.
    sides : sequence of sequences of Term, optional
        Sums of words that are known after the steps.
    fuses : bool
        Whether steps are fused at execution, over data in blocks.
    """
    have = set(known)

    def source(word: Word) -> Source:
        """The source of a word: a product, a constant, a factor or another matrix."""
        kept, flipped = canonical(word)
        if kept in have:
            return (lambda point: point.known[kept].T) if flipped else lambda point: point.known[kept]
        value = problem.constant_value(kept) if kept in problem.planner.constants else None
        if value is None:
            ((name, _),) = kept
            value = problem.matrices.get(name)
        if value is not None:
            constant = value.T if flipped else value
            return lambda point: constant
        if name in problem.planner.costs.data:
            data = problem.data
            return lambda point: data.itself().T if flipped else data.itself()
        return lambda point: point.factors[name].T if flipped else point.factors[name]

    calls: list[tuple[Word | None, Callable[[Point], Any]]] = []
    for step in () if fuses else steps:
        if isinstance(step, Visit):
            calls.append((None, methodcaller("visit", step)))
        else:
            take = prepared(step, source, lambda letter: (problem.data, letter.name.removeprefix(problem.model.data)))
            kept, flipped = canonical(step.result)
            calls.append((kept, (lambda point, take=take: take(point).T) if flipped else take))  # type: ignore[misc]
        have.update(results([step]))
    have.update(results(steps))
    shares = [[Share(coefficient, source(word), has_theta) for coefficient, word, has_theta in side] for side in sides]
    return Executable(calls, steps if fuses else (), tuple(shares))


# ---- fusion: several steps in one pass over blocks


def execute_fused(point: Point, steps: Sequence[Step]) -> None:
    """Execute steps in as few passes over data in blocks as possible."""
    blocks, is_turned = point.problem.data.in_blocks or (None, False)
    while blocks is not None:
        fusion = _Fusion(point, is_turned)
        before: list[Step] = []
        after: list[Step] = []
        for step in steps:
            if isinstance(step, Multiply | SignedPart) and not fusion.delays(step):
                before.append(step)
            elif not fusion.adds(step):
                after.append(step)
        if len(fusion.work) < 2:
            break
        compile_plan(point.problem, before, frozenset(point.known)).execute(point)
        fusion.execute(blocks)
        steps = after
    compile_plan(point.problem, steps, frozenset(point.known)).execute(point)


class _Fusion:
    """The steps of one pass over blocks. If blocks hold columns of X, rows are those of Xᵀ."""

    def __init__(self, point: Point, is_turned: bool) -> None:
        self._point, self._is_turned = point, is_turned
        self.work: list[Applied | Visited] = []
        self._how: list[How] = []
        self._results: list[Word | None] = []
        """The word of each result; None for a sum of logarithms."""
        self._rows: dict[Word, int] = {}
        """Results with a row for each row of the blocks, available within a block."""
        self._later: set[Word] = set()
        """Results that are complete only after the pass."""
        self._shared: list[Word] = []
        self._own: list[Word] = []

    def delays(self, step: Multiply | SignedPart) -> bool:
        """Whether a product of small matrices depends on results of the pass."""
        parts = (step.left, step.right) if isinstance(step, Multiply) else (step.whole,)
        return any(canonical(part)[0] in self._later for part in parts)

    def adds(self, step: Step) -> bool:
        """Add a step to the pass, if blocks can compute it; return whether they can."""
        work: Applied | Visited | None = None
        found: list[tuple[Word | None, bool]] = []
        match step:
            case Apply(result, left, right, is_data_first):
                letter, other = (left[0], right) if is_data_first else (right[0], left.T)
                is_sum = (letter.transposed == is_data_first) != self._is_turned
                slot = self._slot(other, is_own=is_sum)
                sign = letter.name.removeprefix(self._point.problem.model.data)
                work = Applied(slot, is_sum, sign) if slot is not None else None
                found = [(result if is_data_first else result.T, is_sum)]
            case Visit(_, right) if right:
                work, found = self._visited(step)
        if work is None:
            self._later |= results([step]).keys()
            return False
        self.work.append(work)
        for word, is_sum in found:
            if word is not None:
                key = canonical(word)[0]
                self._later.add(key)
                if not is_sum:
                    self._rows[key] = len(self._how)
            self._how.append("add" if is_sum else "stack")
            self._results.append(word)
        return True

    def _slot(self, word: Word, *, is_own: bool) -> Slot | None:
        """The matrix of a word, for a block: its own rows, a shared matrix, or a result of the block; None if it is not known."""
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
        left, right = self._slot(own, is_own=True), self._slot(shared, is_own=False)
        requests: list[tuple[Any, str, Slot | None]] = []
        found: list[tuple[Word | None, bool]] = []
        for word in step.products:
            position = next(i for i, letter in enumerate(word) if letter.name in operands)
            turned = word.T if word[position].transposed else word
            position = next(i for i, letter in enumerate(turned) if letter.name in operands)
            before, after = turned[:position], turned[position + 1 :]
            is_sum = bool(before) != is_turned
            slot = self._slot(before.T if before else after, is_own=is_sum)
            requests.append((operands[turned[position].name], "left" if is_sum else "right", slot))
            found.append((turned.T if is_turned else turned, is_sum))
        ones = Word([Letter(ROWS if is_turned else COLUMNS)])
        for power in powers[1:]:
            requests.append((Logarithm(power), "right", self._slot(ones, is_own=False)))
            found.append((None, False))
        found.append((None, True))
        if any(slot is None for slot in (left, right, *(slot for *_, slot in requests))):
            return None, []
        return Visited(left, right, tuple(requests), powers[0] if powers else None), found  # type: ignore[arg-type]

    def execute(self, data: Blocks) -> None:
        """Make the pass, and keep its results at the point."""
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
