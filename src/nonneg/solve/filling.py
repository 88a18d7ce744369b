"""Missing entries of X, filled by the model's own approximation between steps, for forms with X as an operand.

Each missing entry takes the value of X̂. With the Euclidean distance steps and fills lower the same objective, that of the filled
data (a majorizer of the one over observed entries, see develop/weights), so X is filled and has no weights. With other divergences,
and with weights of entries, the objective is that over observed entries, and a fill that would raise it is rejected.

Forms without X take the same path if the rule of a constraint is for data without weights: an entry of weight v becomes
x̂ + v (x − x̂).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

from ..algebra.expression import Letter
from ..data import Data, as_dense
from ..data.weighted import LowRank
from ..data.weighted.weights import largest
from ..kernels.host import as_type
from ..kernels.namespace import to_host
from ..kernels.tuned import tuned
from .point import Point
from .problem import Problem
from .run import Solver
from .signature import Signature

_SHARES = tuned((1.0, 0.25), by="missing", on="2026-11-16")
"""Shares of the step from the last fill to the new one that are tried."""


@dataclass(frozen=True)
class Filling(Solver):
    """Steps of another solver, each followed by a fill."""

    solver: Solver

    @property
    def window(self) -> float:  # type: ignore[override]
        return self.solver.window

    def warm(self) -> Filling:
        return Filling(self.solver.warm())

    def obstacle(self, signature: Signature) -> str | None:
        return self.solver.obstacle(signature)

    def new_state(self, problem: Problem) -> Any:
        return self.solver.new_state(problem)

    def step(self, point: Point, state: Any) -> Point:
        if point.problem.model.data not in point.problem.model.form.names:
            return self._made_up(point, state)
        moved = self.solver.step(point, state)
        if _approaches(point.problem) or moved.objective()[0] <= point.objective()[0] + _rounding(point):
            point = moved  # a sweep of coordinate descent may rise if a fill has left entries nearly zero
        before, rounding = point.objective()[0], _rounding(point)
        for values in _fills(point):
            candidate = refilled(point, values)
            after = candidate.objective()[0]
            if after <= before + rounding:
                if hasattr(state, "value"):
                    state.value = None  # of other data
                return candidate
        return point

    def _made_up(self, point: Point, state: Any) -> Point:
        """A step for data without weights, followed by an update of the values that replace the weights.

        If some weights are above one, the step may raise the weighted objective while it lowers the unweighted one. It is then
        tried again with weights divided by the largest, with which the latter majorizes the former; the lower result is taken.
        """
        assert point.problem.partial is not None
        share = 1 / max(largest(point.problem.partial.weights), 1.0)
        before = {name: copy(value) for name, value in vars(state).items()}
        moved = self.solver.step(point, state)
        found = refilled(moved, approximation(moved))
        value = found.objective()[0]
        if share == 1 or value <= point.objective()[0] + _rounding(point):
            return found
        after = copy(vars(state))
        vars(state).update(before)
        moved = self.solver.step(refilled(point, approximation(point), share), state)
        other = refilled(moved, approximation(moved))
        if other.objective()[0] <= value:
            return other
        vars(state).update(after)
        return found


def _rounding(point: Point) -> float:
    """The rounding error of an objective."""
    return float(4 * point.problem.eps * point.objective()[1])


def _approaches(problem: Problem) -> bool:
    """Whether a constraint is only approached, so that the objective may rise."""
    constraints = (problem.model.constraints[name] for name in problem.learned)
    return any(not constraint.is_free and not constraint.restores_fully for constraint in constraints)


def refilled(point: Point, values: LowRank, share: float = 1.0) -> Point:
    """The same factors, for data filled with other values; `share` scales the weights that fills replace."""
    return with_filling(point.problem, values, share).point(point.factors)


def with_filling(problem: Problem, values: LowRank, share: float = 1.0) -> Problem:
    """The same problem, for data filled with these values."""
    partial = problem.partial
    assert partial is not None
    values = LowRank(*(as_type(part, problem.namespace.dtype) for part in values))  # products of float32 may be in double precision
    if problem.model.data not in problem.model.form.names:
        data, spread = partial.blended(values, share)
        return problem.with_data(data, values, _Squares(spread))
    filled = partial.filled(values)
    return problem.with_data(filled if not problem.model.weighted else partial.with_inside(filled), values)


def with_first_fill(problem: Problem, factors: dict[str, Any]) -> Problem:
    """Fill from the starting factors before the first step, if fills replace weights."""
    if problem.partial is None or problem.model.data in problem.model.form.names:
        return problem
    return with_filling(problem, approximation(problem.point(factors)))


@dataclass(frozen=True)
class _Squares:
    """Data of which only the sum of squares counts."""

    total: float

    def power_sum(self, exponent: float, *, logarithm: bool = False) -> float:
        return 0.0 if logarithm else self.total


def inside(problem: Problem) -> Data:
    """X as an operand of the form, in the units of the user, with missing entries filled."""
    if problem.partial is None:
        return problem.user_data
    data: Any = problem.data
    filled = data.inside if problem.model.weighted else data
    return filled if problem.units.data == 1 else filled.in_units(1 / problem.units.data)


def approximation(point: Point) -> LowRank:
    """X̂, for a form without X."""
    left, right = point.problem.signature.divide(point.problem.model.form)
    point.compute((left, right))
    return LowRank(as_dense(point.value(left)), as_dense(point.value(right)))


def _fills(point: Point) -> list[LowRank]:
    """Fills to try, best first: the fixed point, X̂ itself, and a shorter step towards it."""
    problem = point.problem
    form, X, xp = problem.model.form, Letter(problem.model.data), problem.namespace.xp
    left, right = problem.signature.divide(form)
    point.compute((left, right) if right else (left,))
    if not right:
        return []
    plain = LowRank(as_dense(point.value(left)), as_dense(point.value(right)))
    found = []
    if form.count(problem.model.data) == 1 and X in (form[0], form[-1]):
        settled = _settled(point, left, right, form[0] != X)
        found = [] if settled is None else [settled]
    found.append(plain)
    old = problem.filling
    if old is not None:
        share = _SHARES[-1]
        found.append(LowRank(xp.concat([(1 - share) * old.U, share * plain.U], axis=1), xp.concat([old.V, plain.V])))
    return found


def _settled(point: Point, left: Any, right: Any, is_last: bool) -> LowRank | None:
    """The fixed point of fills, for X at an end of the form."""
    partial = point.problem.partial
    near, far = (right.T, left.T) if is_last else (left, right)
    if len(near) < 2:
        return None
    L, R = (point.product(word) for word in (near[1:], far))
    codes = as_dense(point.value(near))
    prior = to_host(point.problem.namespace.xp.mean(codes, axis=0))
    found = partial.settled(L, R, prior, transposed=is_last)  # type: ignore[union-attr]
    if found is None or not bool(point.problem.namespace.xp.all(found.U >= 0)):
        return None
    return LowRank(found.V.T, found.U.T) if is_last else found
