"""The loop that drives all solvers.

It asks the solver for steps until `stopping` names a status. The loop itself computes the objective and the violations, and brings
numbers from a device, at the checks only, every few iterations. Solvers that compare objectives (`Adaptive`, `QuasiNewton`,
`Coordinate` with momentum) compute them in their steps too.

A `Run` is all that a run is at one moment: it can be written down, read again, and gone on with, to the same bits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ..data.blocks import Interrupted
from ..data.host import locked
from ..data.namespace import Array
from .point import Point
from .problem import Problem
from .solution import History, Progress, Record, Status
from .solver import Solver, State
from .stopping import Stopping, Watch

Callback = Callable[[Progress], Any]
"""Called at every check. Returning True, or the `Status` to call it by, ends the run."""


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
    """The last point that was looked at and finite, where a step may end in what is not, or a reading may be broken off."""

    @property
    def best(self) -> Point:
        """What a run that is over has come to."""
        return self.good or self.point.bare()


@dataclass
class Stage:
    """Where a start stands that may take several runs, one after the other, on what stands for the data."""

    history: History = field(default_factory=History)
    """Of the runs that are over."""
    done: int = 0
    """Their iterations."""
    number: int = 0
    """How many of them there were."""
    factors: dict[str, Array] = field(default_factory=dict)
    """Where the next one begins."""
    best: dict[str, Array] = field(default_factory=dict)
    """The factors with the lowest objective so far, where that may rise from one to the next."""
    arrays: dict[str, Array] = field(default_factory=dict)
    """What stands for the data."""
    lowest: float = math.inf
    """The objective of `best`."""

    def after(self, run: Run) -> Stage:
        """Where it stands when a run is over."""
        history = self.history.followed_by(run.history)
        return replace(self, history=history, done=self.done + run.n_iter, number=self.number + 1, factors=run.best.factors)


class Keeper(Protocol):
    """Something that writes down where a run stands, now and then, and knows where it stood."""

    def keep(self, run: Run, stage: Callable[[], Stage] | None = None) -> None:
        """Take note of a run after a check; of the stage that it belongs to, where there is one. A user's stop is to be noted."""

    def stage(self) -> Stage | None:
        """Where a start stood when it was last written down."""

    def run(self, problem: Problem) -> Run | None:
        """The run that was going on by then, for the problem that it is of."""


def begin(problem: Problem, factors: dict[str, Array], solver: Solver, stopping: Stopping) -> Run:
    """A run at iteration 0, before its first check."""
    point = problem.point(factors)
    return Run(point, solver.init(problem), Watch(stopping, problem.namespace.eps, solver.window), next_check=stopping.check_every)


def solve(
    run: Run,
    solver: Solver,
    stopping: Stopping,
    callback: Callback | None = None,
    *,
    pause_at: int | None = None,
    keep: Callable[[Run], None] | None = None,
) -> Run:
    """Go on with a run until something says stop, or until iteration `pause_at`; it is changed, and returned.

    After each check, `keep` may write it down. A reading of the data that is broken off ends it at the last check.
    """
    began = time.perf_counter() - run.seconds
    if not run.history:
        run.status = _check(run, None, began, callback)
        is_kept = not solver.stays_finite or run.point.problem.data.is_far or run.point.problem.model.weighted
        run.good = run.point.bare() if is_kept else None  # factors of many rows take memory
    while run.status is None and run.n_iter != pause_at:
        run.n_iter += 1
        try:
            previous, run.point = run.point if stopping.step_tol else None, solver.step(run.point, run.state)
            if run.n_iter not in (run.next_check, stopping.max_iter) and not run.state.stalled:
                continue
            run.status = _check(run, previous, began, callback)
        except Interrupted:  # it ends where it was looked at last: more cannot be said of any other point without a reading
            assert run.good is not None
            run.point, run.n_iter, run.status = run.good, run.history[-1].iteration, Status.STOPPED_BY_USER
            break
        run.next_check = run.watch.next_check(run.n_iter)
        if run.good is not None and run.status is not Status.NON_FINITE:
            run.good = run.point.bare()
        if keep is not None and run.status in (None, Status.STOPPED_BY_USER):
            run.seconds = time.perf_counter() - began
            keep(run)
    run.seconds = time.perf_counter() - began
    return run


def counted_on(callback: Callback | None, history: History) -> Callback | None:
    """A callback to which a run that follows another looks like its continuation."""
    if callback is None or not len(history):
        return callback
    last = history[-1]

    def later(progress: Progress) -> Any:
        seconds = progress.seconds + last.seconds
        return progress.iteration > 0 and callback(
            replace(progress, iteration=progress.iteration + last.iteration, seconds=seconds)
        )

    return later


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
    record = Record(run.n_iter, time.perf_counter() - began, objective, violation, dict(state.exponents), readings(problem))
    run.history.append(record)
    factors = problem.units.to_user(point.factors) if callback is not None else {}
    looked_at = {name: locked(factor) for name, factor in factors.items()}  # a callback is not to write to them
    answer = callback(Progress(**vars(record), factors=looked_at, **_of_readings(run))) if callback is not None else None
    if isinstance(answer, Status):
        return status or answer
    return status or (Status.STOPPED_BY_CALLBACK if answer else None)


def _of_readings(run: Run) -> dict[str, Any]:
    """How long a reading takes, and how many are left at the most: as many as there were for each iteration so far."""
    log = run.point.problem.data.log
    if log is None or not log.count:
        return {}
    left = None if log.most is None else max(log.most - log.count, 0)
    if left is None and run.n_iter:
        each = (log.count - run.history[0].readings) / run.n_iter
        left = math.ceil(each * max(run.watch.stopping.max_iter - run.n_iter, 0))
    return {"reading_seconds": log.seconds[-1], "readings_left": left}


def readings(problem: Problem) -> int:
    """How often the data have been read as a whole, where that is counted."""
    return 0 if problem.data.log is None else int(problem.data.log.count)


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
