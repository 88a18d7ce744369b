"""The loop that drives all solvers.

It asks the solver for steps until `stopping` names a status. The objective, the violations, and every transfer from a device
happen at the checks, every few iterations, and nowhere else; `Adaptive`, which compares objectives, is the exception by nature.

A `Run` is all that a run is at one moment: it can be written down, read again, and gone on with, to the same bits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..data.host import locked
from ..data.namespace import Array
from .point import Point
from .problem import Problem
from .solution import History, Progress, Record, Status
from .solver import Solver, State
from .stopping import Stopping, Watch

Callback = Callable[[Progress], Any]


@dataclass
class Run:
    """A run at one moment: where it is, what the solver and the watch remember, and what has been recorded."""

    point: Point
    state: State
    watch: Watch
    history: History = field(default_factory=History)
    n_iter: int = 0
    seconds: float = 0.0
    next_check: int = 0
    status: Status | None = None
    """Why it is over, if it is."""
    good: Point | None = None
    """The last point that was finite, where a step may end in numbers that are not."""

    @property
    def best(self) -> Point:
        """What a run that is over has come to."""
        return self.good or self.point.bare()


def begin(problem: Problem, factors: dict[str, Array], solver: Solver, stopping: Stopping) -> Run:
    """A run that has not begun."""
    point = problem.point(factors)
    return Run(point, solver.init(problem), Watch(stopping, problem.namespace.eps, solver.window), next_check=stopping.check_every)


def solve(run: Run, solver: Solver, stopping: Stopping, callback: Callback | None = None, *, pause_at: int | None = None) -> Run:
    """Go on with a run until something says stop, or until iteration `pause_at`; it is changed, and returned."""
    began = time.perf_counter() - run.seconds
    if not run.history:
        run.status = _check(run, None, began, callback)
        run.good = None if solver.stays_finite else run.point.bare()  # factors of many rows take memory
    while run.status is None and run.n_iter != pause_at:
        run.n_iter += 1
        previous, run.point = run.point if stopping.step_tol else None, solver.step(run.point, run.state)
        if run.n_iter in (run.next_check, stopping.max_iter) or run.state.stalled:
            run.status = _check(run, previous, began, callback)
            run.next_check = run.watch.next_check(run.n_iter)
            if run.good is not None and run.status is not Status.NON_FINITE:
                run.good = run.point.bare()
    run.seconds = time.perf_counter() - began
    return run


def _check(run: Run, previous: Point | None, began: float, callback: Callback | None) -> Status | None:
    point, state, problem = run.point, run.state, run.point.problem
    value, magnitude = point.objective()
    if _has_diverged(run, value):
        value = math.inf
    violation = _violations(point, state)
    constraints = problem.model.constraints
    open_violation = sum(amount for name, amount in violation.items() if not constraints[name].restores_fully)
    step = _step(point, previous) if previous is not None else math.inf
    status = run.watch.check(run.n_iter, value, magnitude, open_violation, state.stalled, step, point.kkt_residual)
    objective = problem.units.objective_to_user(0.0 - value if problem.model.divergence.maximised else value)
    record = Record(run.n_iter, time.perf_counter() - began, objective, violation, dict(state.exponents))
    run.history.append(record)
    factors = problem.units.to_user(point.factors) if callback is not None else {}
    looked_at = {name: locked(factor) for name, factor in factors.items()}  # a callback is not to write to them
    if callback is not None and callback(Progress(**vars(record), factors=looked_at)):
        return status or Status.STOPPED_BY_CALLBACK
    return status


def _has_diverged(run: Run, value: float) -> bool:
    """Whether steps that may rise have led above the start, to an X̂ so near zero that the objective cannot be computed."""
    problem, divergence = run.point.problem, run.point.problem.model.divergence
    if run.good is None or not run.history or not divergence.infinite_at_zero:
        return False
    return problem.units.objective_to_user(value) > run.history[0].objective and run.point.unreached() > 0


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
    for name in point.problem.learned:
        if not constraints[name].is_free:
            stepped = state.unrestored.get(name) if constraints[name].restores_fully else None
            violations[name] = float(constraints[name].violation(xp, point.factors[name] if stepped is None else stepped))
    return violations
