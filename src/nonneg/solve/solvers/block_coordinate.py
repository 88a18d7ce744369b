"""Coordinate descent in blocks of rows, for devices: all rows of a block take exact steps at once.

It serves a factor that occurs as F Fᵀ beside the data, as W in ``X W Wᵀ``. See `kernels.projective` for the step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...data.device import recorded, steps
from ...exceptions import IncompatibleError, is_count, is_number
from ...kernels.namespace import Array
from ...kernels.projective import Progress, Projective
from ...planning import canonical
from ..point import Point
from ..problem import Problem
from ..run import Solver, State
from ..signature import Signature
from .subproblems import Quadratic, subproblems


@dataclass
class BlockState(State):
    """State of the descent between sweeps."""

    last: dict[str, Array] = field(default_factory=dict)
    """The factor before the last sweep, with momentum."""
    momentum: Array = None
    value: Array = None
    """The objective after it, up to a constant, on the device as the momentum is."""


@dataclass(frozen=True)
class BlockCoordinate(Solver):
    """Exact steps of all rows of a block at once, for the Euclidean distance and one factor beside the data as F Fᵀ.

    Each block takes the best share of its step, so no sweep raises the objective. "auto" chooses it on devices, where single rows
    would leave most processors idle.

    Parameters
    ----------
    blocks : int, default=8
        Blocks of rows. More of them make more of a sweep, and take longer.
    passes : int, default=2
        Visits of a row.
    momentum : float, default=0.7
        A sweep begins this share of the last step further on; see `Coordinate`.
    """

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
        if len(model.learned) != 1 or model.weighted or not data.is_array:
            return "it takes one learned factor, and one array without weights"
        (name,) = model.learned
        subproblem, terms = signature.derived(subproblems)[name], model.constraints[name].entrywise
        if not isinstance(subproblem, Quadratic) or not subproblem.is_gram_of_data or not math.isinf(data.gram_size):
            return f"{name} does not stand in {model.form.text!r} as {name} {name}.T beside the data"
        if terms is None or terms.overlap or terms.given:
            return f"{model.constraints[name]!r} ties the entries of {name} to each other"
        return None

    def new_state(self, problem: Problem) -> BlockState:
        obstacle = self.obstacle(problem.signature)
        if obstacle is not None:
            raise IncompatibleError(f"Coordinate descent in blocks cannot be used here: {obstacle}. Use solver='adaptive'.")
        return BlockState(exponents=dict.fromkeys(problem.learned, 1.0))

    def step(self, point: Point, state: BlockState) -> Point:
        subproblem, projective, advance = point.problem.derived(_prepared)(self)
        xp, (name,) = projective.xp, point.problem.learned
        F, is_turned = point.value(subproblem.F), subproblem.letter.transposed
        if state.last:
            last = state.last[name].T if is_turned else state.last[name]
            value = xp.full_like(state.momentum, xp.inf) if state.value is None else state.value  # of other fills
            progress = Progress(F, last, xp.stack([state.momentum, value, value]))
        else:
            progress = projective.begin(F, self.momentum)
        found = Progress(*advance(*progress))
        state.last = {name: found.last.T if is_turned else found.last}
        state.momentum, state.value = found.numbers[0], found.numbers[1]
        moved: Point = subproblem.replaced(point, found.F)
        return moved


def _prepared(problem: Problem) -> Any:
    """The subproblem, its descent, and a function that takes one step of it, for each solver once."""
    made: dict[BlockCoordinate, Any] = {}

    def prepare(solver: BlockCoordinate) -> Any:
        if solver not in made:
            (subproblem,) = problem.signature.derived(subproblems).values()
            projective = projective_of(problem, solver)
            made[solver] = (
                subproblem,
                projective,
                recorded(problem.namespace, lambda *arrays: projective.advance(Progress(*arrays))),
            )
        return made[solver]

    return prepare


def projective_of(problem: Problem, solver: BlockCoordinate) -> Projective:
    """The descent on the root of the Gram matrix of a problem: the data themselves, or that of the formed matrix."""
    (subproblem,) = problem.signature.derived(subproblems).values()
    xp, penalty = problem.namespace.xp, subproblem.terms.penalty
    if problem.signature.is_formed(subproblem.C):
        values, vectors = xp.linalg.eigh(problem.constant_value(canonical(subproblem.C)[0]))
        R = vectors * xp.sqrt(xp.maximum(values, xp.zeros_like(values)))
    else:
        X = problem.data.itself()
        R = X.T if subproblem.is_turned else X
    return Projective(xp, R, steps(problem.namespace), solver.blocks, solver.passes, penalty)
