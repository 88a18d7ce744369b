"""The loop. There is one in the library.

It asks the solver for steps until `stopping` names a status. The objective, the violations, and every transfer from a device
happen at the checks, every few iterations, and nowhere else; `Adaptive`, which compares objectives, is the exception by nature.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.namespace import Array
from ..problem import Point
from ..solution import History, Progress, Record, Status
from ..units import Units
from .base import Solver, State
from .stopping import Stopping, Watch

Callback = Callable[[Progress], Any]


def solve(
    point: Point,
    solver: Solver,
    stopping: Stopping,
    callback: Callback | None = None,
    units: Units | None = None,
) -> tuple[Point, History, int, Status]:
    """Move from the given point until something says stop; the final point, its history, iterations and status."""
    units = units or Units()
    state, history, watch = solver.init(point.problem), History(), Watch(stopping, point.problem.namespace.eps, solver.window)
    started, iteration, next_check = time.perf_counter(), 0, stopping.check_every
    status = _check(point, None, state, history, watch, 0, started, callback, units)
    good = None if solver.stays_finite else point.bare()  # to go back to; factors of many rows take memory
    while status is None:
        iteration += 1
        previous, point = point if stopping.step_tol else None, solver.step(point, state)
        if iteration in (next_check, stopping.max_iter) or state.stalled:
            status = _check(point, previous, state, history, watch, iteration, started, callback, units)
            next_check = watch.next_check(iteration)
            if good is not None and status is not Status.NON_FINITE:
                good = point.bare()
    return good or point.bare(), history, iteration, status


def _check(
    point: Point,
    previous: Point | None,
    state: State,
    history: History,
    watch: Watch,
    iteration: int,
    started: float,
    callback: Callback | None,
    units: Units,
) -> Status | None:
    value, magnitude = point.objective()
    violation = _violations(point, state)
    constraints = point.problem.model.constraints
    open_violation = sum(amount for name, amount in violation.items() if not constraints[name].restores_fully)
    step = _step(point, previous) if previous is not None else math.inf
    status = watch.check(iteration, value, magnitude, open_violation, state.stalled, step, point.imbalance)
    objective = units.objective_to_user(0.0 - value if point.problem.model.divergence.maximised else value)
    record = Record(iteration, time.perf_counter() - started, objective, violation, dict(state.exponents))
    history.append(record)
    if callback is not None and callback(Progress(**vars(record), factors=_to_look_at(units.to_user(point.factors)))):
        return status or Status.STOPPED_BY_CALLBACK
    return status


def _to_look_at(factors: dict[str, Array]) -> dict[str, Array]:
    """The factors for a callback, which is not to write to them."""

    def locked(factor: Array) -> Array:
        if isinstance(factor, np.ndarray):
            factor = factor.view()
            factor.flags.writeable = False
        return factor

    return {name: locked(factor) for name, factor in factors.items()}


def _step(point: Point, previous: Point) -> float:
    """The largest ‖F − F_previous‖/‖F‖ among the factors."""
    xp = point.problem.namespace.xp

    def norm(array: Array) -> float:
        return math.sqrt(float(xp.sum(array * array)))

    return max(norm(factor - previous.factors[name]) / (norm(factor) or 1.0) for name, factor in point.factors.items())


def _violations(point: Point, state: State) -> dict[str, float]:
    """Where restoring makes a constraint hold exactly, how far the step was from it; elsewhere how far the factor is."""
    xp, constraints = point.problem.namespace.xp, point.problem.model.constraints
    violations = {}
    for name in point.problem.order:
        if not constraints[name].is_free:
            stepped = state.unrestored.get(name) if constraints[name].restores_fully else None
            violations[name] = float(constraints[name].violation(xp, point.factors[name] if stepped is None else stepped))
    return violations
