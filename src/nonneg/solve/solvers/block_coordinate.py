"""Coordinate descent in blocks of rows, for devices: all rows of a block take exact steps at once.

It serves a factor that occurs as F Fᵀ beside the data, as W in ``X W Wᵀ`` (`kernels.projective`), and the two of ``W H``, whose
rows and columns do not depend on each other (`kernels.alternating`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from ...data.device import recorded, steps
from ...exceptions import IncompatibleError, is_count, is_number
from ...kernels.alternating import Alternating, Sides
from ...kernels.namespace import Array, to_host
from ...kernels.projective import Progress, Projective
from ...planning import canonical
from ..point import Point
from ..problem import Problem
from ..run import Solver, State
from ..signature import Signature
from .subproblems import Linear, Quadratic, Subproblem, subproblems


@dataclass
class BlockState(State):
    """State of the descent between sweeps."""

    last: dict[str, Array] = field(default_factory=dict)
    """The factors before the last sweep, with momentum."""
    momentum: Array = None
    value: Array = None
    """The objective after it, up to a constant, on the device as the momentum is; None of other fills."""
    size: Array = None
    """The size of its terms."""


@dataclass(frozen=True)
class BlockCoordinate(Solver):
    """Exact steps of all rows of a block at once, for the Euclidean distance: of a factor beside the data as F Fᵀ, or of W and H.

    Each block of F takes the best share of its step; rows of W, and columns of H, do not depend on each other. So no sweep raises
    the objective. "auto" chooses it on devices, where single rows would leave most processors idle.

    Parameters
    ----------
    blocks : int, default=8
        Blocks of rows of F. More of them make more of a sweep, and take longer.
    passes : int, default=2
        Visits of a row.
    momentum : float, default=0.7
        A sweep begins this share of the last step further on; see `Coordinate`.

    See Also
    --------
    Coordinate : One entry at a time.
    get_solver : This one is "block-coordinate".

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.solvers import BlockCoordinate
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=2, solver=BlockCoordinate(), random_state=0)
    >>> solution.solver, str(solution.status)
    ('block-coordinate', 'converged')
    """

    name: ClassVar[str] = "block-coordinate"
    title: ClassVar[str] = "coordinate descent in blocks of rows"
    blocks: int = 8
    passes: int = 2
    momentum: float = 0.7
    trial: ClassVar[int] = 30
    window: ClassVar[float] = 1 / 5

    def __post_init__(self) -> None:
        for name in ("blocks", "passes"):
            if not is_count(getattr(self, name), 1):
                raise IncompatibleError(f"{name} must be an int of at least 1; got {getattr(self, name)!r}.")
        if not is_number(self.momentum) or not 0 <= self.momentum <= 1:
            raise IncompatibleError(f"momentum must be a share from 0 to 1; got {self.momentum!r}.")

    def suits(self, signature: Signature) -> bool:
        """Whether "auto" may choose it: on a device; `Coordinate` is faster on a host."""
        return not signature.data.on_host and self.obstacle(signature) is None

    def obstacle(self, signature: Signature) -> str | None:
        model, data = signature.model, signature.data
        if not model.divergence.is_quadratic:
            return f"{model.divergence!r} is no polynomial in an entry, as the Euclidean distance is"
        if model.weighted or not data.is_array:
            return "it takes one array without weights"
        found = signature.derived(subproblems)
        for name, constraint in model.constraints.items():
            terms = constraint.entrywise
            if constraint.is_learned and (terms is None or terms.overlap or terms.given or terms.ridge):
                return f"{constraint!r} ties the entries of {name} to each other"
        if len(found) == 1:
            ((name, only),) = found.items()
            if not isinstance(only, Quadratic) or not only.is_gram_of_data or not math.isinf(data.gram_size):
                return f"{name} does not stand in {model.form.text!r} as {name} {name}.T beside the data"
        elif len(model.form) != 2 or not all(type(one) is Linear for one in found.values()):
            return f"{model.form.text!r} is not of two factors, or of one beside its own transpose and the data"
        return None

    def new_state(self, problem: Problem) -> BlockState:
        obstacle = self.obstacle(problem.signature)
        if obstacle is not None:
            raise IncompatibleError(f"Coordinate descent in blocks cannot be used here: {obstacle}. Use solver='adaptive'.")
        return BlockState(exponents=dict.fromkeys(problem.learned, 1.0))

    def batches(self, signature: Signature) -> bool:
        return not signature.data.on_host

    def step(self, point: Point, state: BlockState) -> Point:
        descent = point.problem.derived(_descents)(self, 1)
        found = descent.advance(*descent.state_of(point, state, self.momentum))
        return descent.take(point, state, found[:-1], [found[-1][place] for place in range(3)])

    def begin_all(self, points: Sequence[Point], states: Sequence[BlockState]) -> Blocks:
        return Blocks(self, points, states)

    def measure(self, point: Point, state: BlockState) -> tuple[float, float] | None:
        problem = point.problem
        if state.value is None or problem.partial is not None:
            return None
        value, size = state.value, state.size
        if not isinstance(value, float):
            value, size = to_host(problem.namespace.xp.stack([value, size])).tolist()
        value, size = problem.constant + value, problem.constant + size
        return (value, size) if value > _CANCELLED * size else None


_CANCELLED = 1e-3
"""Share of the size of its terms below which an objective is measured anew: a sweep has it in the precision of the data."""


class _Descent(NamedTuple):
    """The descent of one run, or of several runs side by side."""

    subproblems: Sequence[Subproblem]
    begin: Callable[..., Sequence[Array]]
    """Factors and momentum → their state: the factors, those before the last sweep, and three numbers."""
    advance: Callable[..., Sequence[Array]]
    """A state after one more sweep."""
    xp: Any

    def state_of(self, point: Point, state: BlockState, momentum: float) -> Sequence[Array]:
        """The state of a run, for a sweep."""
        xp, factors = self.xp, [point.value(each.F) for each in self.subproblems]
        if not state.last:
            return self.begin(*factors, momentum)
        last = [
            state.last[each.letter.name].T if each.letter.transposed else state.last[each.letter.name] for each in self.subproblems
        ]
        infinite = xp.full_like(state.momentum, xp.inf)
        value, size = (infinite, infinite) if state.value is None else (state.value, state.size)
        return [*factors, *last, xp.stack([state.momentum, value, size])]

    def take(self, point: Point, state: BlockState, found: Sequence[Array], numbers: Sequence[Any]) -> Point:
        """The point after a sweep; its state is brought up to date."""
        count = len(self.subproblems)
        state.momentum, state.value, state.size = numbers
        for each, F, last in zip(self.subproblems, found[:count], found[count:], strict=True):
            state.last[each.letter.name] = last.T if each.letter.transposed else last
            point = each.replaced(point, F)
        return point


_SWEEPS, _KEPT = 10, 2**28
"""Sweeps of a batch in a row, of which the host hears at once, and entries of the factors that are kept of them, at most."""


class Blocks:
    """Runs side by side: the state of all after each of some sweeps, on the device, and their numbers, on the host."""

    def __init__(self, solver: BlockCoordinate, points: Sequence[Point], states: Sequence[BlockState]) -> None:
        self._solver, self._points, self._states, self._problem = solver, [*points], [*states], points[0].problem
        self._begin()
        several = [self._descent.state_of(point, state, solver.momentum) for point, state in zip(points, states, strict=True)]
        self._found: list[Sequence[Array]] = [[self._descent.xp.stack(arrays) for arrays in map(list, zip(*several, strict=True))]]
        self._numbers: Any = None

    def _begin(self) -> None:
        """Make ready for as many runs as there are."""
        self._descent: _Descent = self._problem.derived(_descents)(self._solver, len(self._points))
        entries = 2 * len(self._points) * sum(math.prod(self._problem.shapes[name]) for name in self._problem.learned)
        self._count = max(1, min(_SWEEPS, _KEPT // entries))

    def advance(self) -> int:
        found = [self._descent.advance(*self._found[-1])]
        while len(found) < self._count:
            found.append(self._descent.advance(*found[-1]))
        self._found, self._numbers = found, to_host(self._descent.xp.stack([arrays[-1] for arrays in found])).tolist()
        return self._count

    def point(self, place: int, step: int) -> Point:
        arrays = [array[place, ...] for array in self._found[step][:-1]]
        return self._descent.take(self._points[place], self._states[place], arrays, self._numbers[step][place])

    def keep(self, places: Sequence[int]) -> None:
        self._points, self._states = [self._points[place] for place in places], [self._states[place] for place in places]
        kept = self._descent.xp.asarray(places, device=self._problem.namespace.device)
        self._found = [[self._descent.xp.take(array, kept, axis=0) for array in self._found[-1]]]
        self._begin()


def _descents(problem: Problem) -> Any:
    """The descent of so many runs by a solver, made once."""
    made: dict[Any, _Descent] = {}

    def descent(solver: BlockCoordinate, count: int) -> _Descent:
        if (solver, count) not in made:
            found = sorted(problem.signature.derived(subproblems).values(), key=lambda each: each.is_turned)
            whole: Any = projective_of(problem, solver) if len(found) == 1 else _alternating_of(problem, solver, found)
            kind: Any = Progress if len(found) == 1 else Sides
            advance = recorded(problem.namespace, lambda *arrays: whole.advance(kind(*arrays)))
            made[solver, count] = _Descent(found, whole.begin, advance, problem.namespace.xp)
        return made[solver, count]

    return descent


def _alternating_of(problem: Problem, solver: BlockCoordinate, found: Sequence[Subproblem]) -> Alternating:
    penalties = found[0].terms.penalty, found[1].terms.penalty
    return Alternating(problem.namespace.xp, problem.data.itself(), steps(problem.namespace), solver.passes, penalties)


def projective_of(problem: Problem, solver: BlockCoordinate) -> Projective:
    """The descent on the root of the Gram matrix of a problem: the data themselves, or that of the formed matrix."""
    (subproblem,) = problem.signature.derived(subproblems).values()
    xp, penalty = problem.namespace.xp, subproblem.terms.penalty
    if problem.planner.forms(subproblem.C):
        values, vectors = xp.linalg.eigh(problem.constant_value(canonical(subproblem.C)[0]))
        R = vectors * xp.sqrt(xp.maximum(values, xp.zeros_like(values)))
    else:
        X = problem.data.itself()
        R = X.T if subproblem.is_turned else X
    return Projective(xp, R, steps(problem.namespace), solver.blocks, solver.passes, penalty)
