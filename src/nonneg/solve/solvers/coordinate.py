"""Coordinate descent: every entry of a factor in turn takes its exact minimum, the others staying as they are.

The Euclidean objective along one entry is a polynomial: of degree two for a factor that occurs once, as both do in ``W H``, and of
degree four for one that occurs as F Fᵀ, as in ``W W.T X``. The rest of the product enters by a few small matrices; see
`subproblems`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ...exceptions import DataError, IncompatibleError, is_count, is_number
from ...kernels.namespace import Array
from ...kernels.tuned import tuned
from ..point import Point
from ..problem import Problem
from ..run import Solver, State
from ..signature import Signature
from .multiplicative import Multiplicative
from .subproblems import Linear, Quadratic, Settings, subproblems


@dataclass(frozen=True)
class Draws:
    """The state of a random generator (PCG64), as numbers, which a checkpoint can hold."""

    state: int
    increment: int
    has_half: int
    """Whether half of the last number is unused."""
    half: int

    def check(self) -> None:
        """Refuse a state that no seed leads to; NumPy takes any, also one that draws the same number forever."""
        largest = (2**128, 2**128, 2, 2**32)
        values = (self.state, self.increment, self.has_half, self.half)
        if not self.increment % 2 or not all(0 <= value < most for value, most in zip(values, largest, strict=True)):
            raise DataError(f"{self} is not a state of a random generator.")

    @classmethod
    def of(cls, generator: np.random.Generator) -> Draws:
        bits: Any = generator.bit_generator.state
        return cls(bits["state"]["state"], bits["state"]["inc"], bits["has_uint32"], bits["uinteger"])

    def generator(self) -> np.random.Generator:
        generator, inner = np.random.Generator(np.random.PCG64(0)), {"state": self.state, "inc": self.increment}
        state = {"bit_generator": "PCG64", "state": inner, "has_uint32": self.has_half, "uinteger": self.half}
        generator.bit_generator.state = state
        return generator


@dataclass
class CoordinateState(State):
    """State of coordinate descent between sweeps."""

    sweeps: int = 0
    momentum: float = 0.0
    last: dict[str, Array] = field(default_factory=dict)
    """The factors before the last sweep, with momentum."""
    value: tuple[float, float] | None = None
    """The objective after it, up to a constant, and its rounding error, if known."""
    has_zeros: bool = False
    """Whether tiny entries have become zero."""
    draws: Draws = field(default_factory=lambda: Draws.of(np.random.default_rng(0)))
    made_of: ClassVar[tuple[type, ...]] = (Draws,)


@dataclass(frozen=True)
class Coordinate(Solver):
    """Exact steps, one entry at a time, for the Euclidean distance.

    Rows of a factor are visited in random order, the same in every run, each several times. No step raises the objective. Entries
    reach zero, and leave it again.

    Parameters
    ----------
    warmup : int, default=10
        Multiplicative steps to begin with, if a factor occurs twice: from a random start, exact steps would decide entries before
        the components have taken shape.
    passes : int, default=10
        Visits of a row, at most.
    enough : float, default=1e-3
        A row is left if none of its entries changes by more than this share of its largest.
    refresh : int, default=10
        Sweeps after which products that are updated entry by entry are computed anew.
    momentum : float, default=0.7
        If every factor occurs once, or the only one as F Fᵀ, alone or beside the data, a sweep begins this share of the last step
        further on (after Ang and Gillis, 2019). It grows slowly up to 1, and is halved if the objective would rise; the sweep then
        begins at the current factors. 0 does without.
    surrogate : bool, default=False
        Whether to solve on a surrogate: a sketch of X for forms such as ``X W W.T``, a low-rank matrix for forms such as ``W H``,
        brought up to date by passes over X. ``solver="auto"`` takes one if that saves time or passes; ``solver="coordinate"``
        takes none.

    See Also
    --------
    BlockCoordinate : Blocks of rows at once, for devices.
    Newton : Other divergences than the Euclidean distance.
    get_solver : This one is "coordinate".

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.solvers import Coordinate
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=2, solver=Coordinate(), random_state=0)
    >>> solution.solver, str(solution.status)
    ('coordinate', 'converged')
    """

    name: ClassVar[str] = "coordinate"
    title: ClassVar[str] = "coordinate descent"
    warmup: int = 10
    passes: int = 10
    enough: float = 1e-3
    refresh: int = 10
    momentum: float = 0.7
    surrogate: bool = False
    trial: ClassVar[int] = 30
    window: ClassVar[float] = 1 / 5

    def __post_init__(self) -> None:
        for name, least in (("warmup", 0), ("passes", 1), ("refresh", 1)):
            if not is_count(getattr(self, name), least):
                raise IncompatibleError(f"{name} must be an int of at least {least}; got {getattr(self, name)!r}.")
        if not is_number(self.momentum) or not 0 <= self.momentum <= 1:
            raise IncompatibleError(f"momentum must be a share from 0 to 1; got {self.momentum!r}.")
        if not is_number(self.enough) or not 0 <= self.enough < 1:
            raise IncompatibleError(f"enough must be a share from 0, and below 1; got {self.enough!r}.")

    def obstacle(self, signature: Signature) -> str | None:
        model = signature.model
        if not model.divergence.is_quadratic:
            return f"{model.divergence!r} is no polynomial in an entry, as the Euclidean distance is"
        if not signature.data.on_host:
            return "it is compiled for NumPy and SciPy arrays, and no other library's"
        for name, subproblem in signature.derived(subproblems).items():
            terms = model.constraints[name].entrywise
            if terms is None:
                return f"{model.constraints[name]!r} has no exact step for a single entry of {name}"
            if subproblem is None and model.weighted:
                return f"{name} does not stand at one end of {model.form.text!r} alone, and the data have weights"
            if subproblem is None:
                return f"{name} occurs in {model.form.text!r} neither once nor as {name} {name}.T at an end"
            if terms.overlap and not subproblem.is_by_columns:
                return f"{model.constraints[name]!r} is about the wrong axis of {name} in {model.form.text!r}"
            obstacle = subproblem.obstacle(signature)
            if obstacle is not None:
                return obstacle
        return None

    def new_state(self, problem: Problem) -> CoordinateState:
        obstacle = self.obstacle(problem.signature)
        if obstacle is not None:
            raise IncompatibleError(f"Coordinate descent cannot be used here: {obstacle}. Use solver='adaptive'.")
        return CoordinateState(exponents=dict.fromkeys(problem.learned, 1.0), momentum=self.momentum)

    def step(self, point: Point, state: CoordinateState) -> Point:
        found = point.problem.signature.derived(subproblems)
        sweep, state.sweeps = state.sweeps, state.sweeps + 1
        if sweep < self.warmup and any(subproblem.needs_warmup for subproblem in found.values()):
            return self._warmed(point, state)
        settings = Settings(self.passes, self.enough, keeps=(sweep + 1) % self.refresh != 0, cuts=not state.has_zeros)
        state.has_zeros = True
        measure = point.problem.signature.derived(_measure) if self.momentum else None
        if measure is None:
            return self._swept(point, state, settings)
        known, last, momentum, state.last, state.value = state.value, state.last, state.momentum, point.factors, None
        for subproblem in found.values():
            if isinstance(subproblem, Quadratic) and subproblem.keeps_products:
                point.forget_all_but(subproblem.RF, subproblem.FF, subproblem.FCF)
        if last and momentum:
            before, rounding = known or measure(point)
            ahead = {name: F + momentum * (F - last[name]) for name, F in point.factors.items()}
            constraints = point.problem.model.constraints
            ahead = {name: F if constraints[name].is_signed else np.maximum(F, 0.0) for name, F in ahead.items()}
            del last  # which would be one factor more in memory
            candidate = self._swept(point.problem.point(ahead), state, settings._replace(keeps=True))
            value = measure(candidate)
            if value[0] <= before + rounding:
                state.momentum, state.value = min(1.0, momentum * _GROWTH), value
                return candidate
            state.momentum = momentum / 2
        return self._swept(point, state, settings)

    def _swept(self, point: Point, state: CoordinateState, settings: Settings) -> Point:
        found = point.problem.signature.derived(subproblems).values()
        generator = state.draws.generator() if any(subproblem.is_shuffled for subproblem in found) else None
        for subproblem in found:
            point = subproblem.step(point, settings, generator)
        if generator is not None:
            state.draws = Draws.of(generator)
        return point

    def _warmed(self, point: Point, state: CoordinateState) -> Point:
        """One multiplicative step; by blocks of rows if there are many, to save memory.

        Exponent 1 is fast, and may overshoot: if the objective would rise, the proven exponent is taken.
        """
        found = list(point.problem.signature.derived(subproblems).values())
        if len(found) == 1 and isinstance(found[0], Quadratic) and found[0].warms_by_rows:
            return found[0].warmed(point) or _PROVEN.step(point, _PROVEN.new_state(point.problem))
        candidate = _WARMUP.step(point, state)
        falls = candidate.objective()[0] <= point.objective()[0]
        return candidate if falls else _PROVEN.step(point, _PROVEN.new_state(point.problem))


def _measure(signature: Signature) -> Callable[[Point], tuple[float, float]] | None:
    """A function that measures the objective up to a constant, and its rounding error; None if it would cost too much.

    It uses the products that the last sweep of a factor leaves.
    """
    found = list(signature.derived(subproblems).values())
    last, constraints = found[-1], signature.model.constraints.values()
    if all(isinstance(subproblem, Linear) for subproblem in found) and not any(
        constraint.has_penalty for constraint in constraints
    ):
        return lambda point: (last.measure(point), 0.0)
    is_alone = len(found) == 1 and isinstance(found[0], Quadratic) and not found[0].after  # a sweep costs one product with X
    if is_alone or not any(isinstance(subproblem, Quadratic) for subproblem in found):
        return lambda point: (point.objective()[0], 0.0)
    if len(found) > 1 or not found[0].is_gram_of_data:
        return None
    return lambda point: (found[0].measure(point), point.problem.eps * point.problem.data.power_sum(2))


_GROWTH = tuned(1.03, by="dense", on="2026-11-15")
"""Growth of the momentum with every sweep that it has helped."""
_WARMUP = Multiplicative(exponent=1, rescale=True)
"""First steps from a random start: faster than the proven ones, but may raise the objective."""
_PROVEN = Multiplicative()
"""Replaces a first step that has raised it."""
