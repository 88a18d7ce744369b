"""Coordinate descent: every entry of a factor in turn takes its exact minimum, the others staying as they are.

The Euclidean objective along one entry is a polynomial: of degree two for a factor that occurs once, as both do in ``W H``, and of
degree four for one that occurs as F Fᵀ, as in ``W W.T X``. What a step needs of the rest of the product follows from the form; see
`parts`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..divergences import Beta
from ..exceptions import IncompatibleError
from ..naming import is_count, is_number
from ..problem import Point, Problem
from .base import Solver, State
from .multiplicative import Multiplicative
from .parts import Quadratic, Settings, find_part


@dataclass(frozen=True)
class Coordinate(Solver):
    """Exact steps, one entry at a time, for the Euclidean distance.

    Rows of a factor are visited in random order, the same in every run, and each is gone over several times. Nothing ever raises
    the objective. The entries reach zero, and leave it again.

    Parameters
    ----------
    warmup : int, default=10
        Multiplicative steps to begin with, where a factor occurs twice: from a random start, entries would be decided before the
        components have taken shape, and stay so.
    passes : int, default=10
        How often a row is gone over, at most.
    enough : float, default=1e-3
        A row is left when none of its entries changes by more than this share of its largest.
    refresh : int, default=10
        Sweeps after which products that are kept up to date entry by entry are computed anew.
    momentum : float, default=0.7
        Where every factor occurs once, a sweep starts this much of the last step further on (extrapolation after Ang and Gillis,
        2019). It grows slowly up to 1, and is halved where the objective would rise; the sweep then starts from the factors as they
        are. 0 does without.
    """

    warmup: int = 10
    passes: int = 10
    enough: float = 1e-3
    refresh: int = 10
    momentum: float = 0.7
    share_of_a_scout: ClassVar[float] = 3 / 500
    window: ClassVar[float] = 1 / 5
    stays_finite: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, least in (("warmup", 0), ("passes", 1), ("refresh", 1)):
            if not is_count(getattr(self, name), least):
                raise IncompatibleError(f"{name} must be an int of at least {least}; got {getattr(self, name)!r}.")
        if not is_number(self.momentum) or not 0 <= self.momentum <= 1:
            raise IncompatibleError(f"momentum must be a share from 0 to 1; got {self.momentum!r}.")
        if not is_number(self.enough) or not 0 <= self.enough < 1:
            raise IncompatibleError(f"enough must be a share from 0, and below 1; got {self.enough!r}.")

    @staticmethod
    def obstacle(problem: Problem) -> str | None:
        """Why a problem cannot be solved this way; None where it can."""
        model = problem.model
        if model.divergence != Beta(2):
            return f"{model.divergence!r} is no polynomial in an entry, as the Euclidean distance is"
        if problem.namespace.xp is not np:
            return "it is compiled for NumPy and SciPy arrays, and no other library's"
        for name in model.learned:
            terms, part = model.constraints[name].entrywise, find_part(problem, name)
            if terms is None:
                return f"{model.constraints[name]!r} ties the entries of {name} together"
            if part is None:
                return f"{name} occurs in {model.form.text!r} neither once nor as {name} {name}.T at an end"
            if terms.overlap and not part.is_by_columns:
                return f"{model.constraints[name]!r} is about the wrong axis of {name} in {model.form.text!r}"
            if part.obstacle(problem) is not None:
                return part.obstacle(problem)
        return None

    def init(self, problem: Problem) -> State:
        obstacle = self.obstacle(problem)
        if obstacle is not None:
            raise IncompatibleError(f"Coordinate descent cannot be used here: {obstacle}. Use solver='adaptive'.")
        parts = {name: find_part(problem, name) for name in problem.order}
        return State(exponents=dict.fromkeys(problem.order, 1.0), memory={"parts": parts, "generator": np.random.default_rng(0)})

    @property
    def resumed(self) -> Coordinate:
        return replace(self, warmup=0)

    def step(self, point: Point, state: State) -> Point:
        parts, sweep = state.memory["parts"], state.memory.get("sweep", 0)
        state.memory["sweep"] = sweep + 1
        if sweep < self.warmup and any(part.needs_warmup for part in parts.values()):
            return self._warmed(point, state)
        settings = Settings(self.passes, self.enough, keeps=(sweep + 1) % self.refresh != 0)
        if any(isinstance(part, Quadratic) for part in parts.values()):
            return self._swept(point, state, settings)
        before, last = point.objective()[0], state.memory.get("last")
        momentum, state.memory["last"] = state.memory.get("momentum", self.momentum), point.factors
        if last is not None and momentum:
            ahead = {name: np.maximum(F + momentum * (F - last[name]), 0.0) for name, F in point.factors.items()}
            candidate = self._swept(point.problem.start(ahead), state, settings)
            if candidate.objective()[0] <= before:
                state.memory["momentum"] = min(1.0, momentum * _GROWTH)
                return candidate
            state.memory["momentum"] = momentum / 2
        return self._swept(point, state, settings)

    def _swept(self, point: Point, state: State, settings: Settings) -> Point:
        for name in point.problem.order:
            point = state.memory["parts"][name].step(point, settings, state.memory["generator"])
        return point

    def _warmed(self, point: Point, state: State) -> Point:
        """One multiplicative step; by rows where they are many, lest products as long as the factor take up memory.

        With exponent 1 it goes far, and may overshoot: where the objective would rise, the proven exponent is taken.
        """
        parts = list(state.memory["parts"].values())
        if len(parts) == 1 and parts[0].warms_by_rows(point):
            return parts[0].warmed(point) or _PROVEN.step(point, _PROVEN.init(point.problem))
        candidate = _WARMUP.step(point, state)
        return candidate if candidate.objective()[0] <= point.objective()[0] else _PROVEN.step(point, _PROVEN.init(point.problem))


_GROWTH = 1.03
"""Of the momentum, with every sweep that it has helped."""
_WARMUP = Multiplicative(exponent=1, rescale=True)
_PROVEN = Multiplicative()
