"""The loop that drives all solvers.

It asks the solver for steps until `stopping` names a status. The loop itself computes the objective and the violations, and brings
numbers from a device, at the checks only, every few iterations. Solvers that compare objectives (`Adaptive`, `QuasiNewton`,
`Coordinate` with momentum) compute them in their steps too.

Where iterations take long, there is a *look* between checks, as soon as a second has passed since the last: callbacks and Ctrl-C
are heeded, and the run is written down if it is time. How fast a machine is must not show in what comes of a run. So a look tells
the watch nothing, leaves no record in the history, unless the run ends there, and computes nothing that a later step would find.

A `Run` is all that a run is at one moment: it can be written down, read again, and gone on with, to the same bits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ..data.blocks import Interrupted
from ..exceptions import DataError
from ..kernels.host import locked
from ..kernels.namespace import Array
from .point import Point
from .problem import Problem
from .solution import History, Progress, Record, Status
from .solver import Solver, State
from .stopping import Stopping, Watch

Callback = Callable[[Progress], Any]
"""Called at every check, and at looks between them. Returning True, or the `Status` to call it by, ends the run."""

_PATIENCE = 1.0
"""Seconds from one look to the next, at least."""
_LOOKING = 10
"""By how much the time between looks exceeds the time that they take, at least."""


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
    """The point to return: the lowest of all checks; the last finite one if a constraint is only approached."""

    @property
    def best(self) -> Point:
        """The point to return."""
        return self.good or self.point.bare()

    @property
    def objective(self) -> float:
        """The objective of `best`, in the user's units."""
        return _objective_to_user(self.best.problem, self.best.objective()[0])

    def copy(self) -> Run:
        """The run as it is now, whatever becomes of it. Steps make arrays anew, so that these need no copy."""
        state, watch = copy(self.state), replace(self.watch, settled=[*self.watch.settled], curve=[*self.watch.curve])
        vars(state).update({name: copy(value) for name, value in vars(state).items() if isinstance(value, dict | list)})
        return replace(self, point=self.point.copy(), state=state, watch=watch, history=History(self.history))


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
        """Take note of a run after a check; of the stage that it belongs to, where there is one. One that is over, or that the user
        has stopped, is to be noted in any case.
        """

    def stage(self) -> Stage | None:
        """Where a start stood when it was last written down."""

    def run(self, problem: Problem) -> Run | None:
        """The run that was going on by then, for the problem that it is of."""


def begin(problem: Problem, factors: dict[str, Array], solver: Solver, stopping: Stopping) -> Run:
    """A run at iteration 0, before its first check."""
    watch = Watch(stopping, problem.eps, solver.window, solver.shape_by)
    return Run(problem.point(factors), solver.new_state(problem), watch, next_check=stopping.check_every)


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

    After each check or look, `keep` may write it down. A reading of the data that is broken off ends it at the last of these. One
    that ends at `max_iter` is written down as it would be if that were larger, to be gone on with.
    """
    if run.n_iter > stopping.max_iter:
        raise DataError(f"The run is at iteration {run.n_iter}, beyond max_iter={stopping.max_iter}, and cannot go back.")
    began = time.perf_counter() - run.seconds
    run.watch.stopping = stopping  # one that was written down may have had another `max_iter`
    is_far = run.point.problem.data.is_far
    if not run.history:
        if not stopping.max_iter:
            _keep_unended(run, keep)
        run.good = run.point.bare()
        run.status = _check(run, None, began, callback)
    noted, next_look = run.copy() if is_far else run, time.perf_counter() + _PATIENCE
    while run.status is None and run.n_iter != pause_at:
        run.n_iter += 1
        try:
            previous, run.point = run.point if stopping.step_tol else None, solver.step(run.point, run.state)
            if run.n_iter == 1 and not is_far:  # what takes long may be that something is compiled
                next_look = time.perf_counter() + _PATIENCE
            is_due, is_last = run.n_iter == run.next_check or run.state.stalled, run.n_iter == stopping.max_iter
            is_check = is_due or is_last
            if run.point.measured is not None:
                run.watch.note(run.n_iter, run.point.measured[0])
            if not is_check and time.perf_counter() < next_look:
                continue
            looked = time.perf_counter()
            if is_check:
                if is_last and not is_due:
                    _keep_unended(run, keep)
                run.status = _check(run, previous, began, callback)
                run.next_check = run.watch.next_check(run.n_iter)
                if is_due and run.status is Status.MAX_ITER:
                    _keep_unended(run, keep)
            else:
                run.status = _look(run, began, callback, keep)
        except Interrupted:
            vars(run).update(vars(noted))
            _end_here(run, began, keep)
            break
        if keep is not None and (run.status is None or (is_check and run.status is Status.STOPPED_BY_USER)):
            run.seconds = time.perf_counter() - began
            keep(run)
        noted = run.copy() if is_far else run
        taken = 0.0 if is_check else time.perf_counter() - looked
        next_look = time.perf_counter() + max(_PATIENCE, _LOOKING * taken)
    run.seconds = time.perf_counter() - began
    return run


def _keep_unended(run: Run, keep: Callable[[Run], None] | None) -> None:
    """Write down a run that ends at `max_iter`, without what that has to do with it."""
    if keep is not None:
        keep(replace(run, status=Status.MAX_ITER))


def _end_here(run: Run, began: float, keep: Callable[[Run], None] | None) -> None:
    """End a run whose user has asked for it where it is, between two checks or at one.

    It is written down as it is, to be gone on with to the same bits. Only then it is measured, where that has not been done.
    """
    run.status, run.seconds = Status.STOPPED_BY_USER, time.perf_counter() - began
    if keep is not None:
        keep(run)
    if run.history[-1].iteration != run.n_iter:
        log = run.point.problem.data.log
        with nullcontext() if log is None else log.unbroken():  # one reading at most: what is not known cannot be compared
            run.history.append(_record(run, run.point, began))
            _keep_lowest(run)


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
    run.history.append(_record(run, point, began, value, violation))
    if status is not Status.NON_FINITE and not _keep_lowest(run) and status is Status.CONVERGED:
        status = Status.NO_PROGRESS  # an earlier point is returned, and not the stationary one
    answer = _answer(run, run.history[-1], callback)
    return status or answer


def _look(run: Run, began: float, callback: Callback | None, keep: Callable[[Run], None] | None) -> Status | None:
    """Ask the callback between two checks; where that ends the run, it is written down, and its end recorded.

    Data that are far are not read for it: where a step has not found the objective, it is for the next check to tell.
    """
    point = run.point if run.point.measured is not None else run.point.copy()
    if callback is None or (point.measured is None and point.problem.data.is_far) or not math.isfinite(point.objective()[0]):
        return None
    record = _record(run, point, began)
    status = _answer(run, record, callback)
    if status is Status.STOPPED_BY_USER:
        _end_here(run, began, keep)
    elif status is not None:
        run.history.append(record)
        run.point = point
        _keep_lowest(run)
    return status


def _keep_lowest(run: Run) -> bool:
    """Keep the point as the one to return unless an earlier check was lower by more than rounding; whether it is kept.

    A constraint that is only approached may take the objective up: the last point is kept then.
    """
    problem, (value, magnitude) = run.point.problem, run.point.objective()
    constraints = (problem.model.constraints[name] for name in problem.learned)
    approaches = any(not constraint.is_free and not constraint.restores_fully for constraint in constraints)
    is_kept = approaches or value <= run.watch.least[0] + run.watch.rounding(magnitude)
    if is_kept:
        run.good = run.point.bare()
    return is_kept


def _record(
    run: Run, point: Point, began: float, value: float | None = None, violation: Mapping[str, float] | None = None
) -> Record:
    """What is known of a run at a point."""
    problem = point.problem
    objective = _objective_to_user(problem, point.objective()[0] if value is None else value)
    violation = _violations(point, run.state) if violation is None else violation
    return Record(run.n_iter, time.perf_counter() - began, objective, violation, dict(run.state.exponents), readings(problem))


def _objective_to_user(problem: Problem, value: float) -> float:
    """The objective in the user's units, given what is minimised."""
    return problem.units.objective_to_user(0.0 - value if problem.model.divergence.maximised else value)


def _answer(run: Run, record: Record, callback: Callback | None) -> Status | None:
    """What a callback says to a record, and to the factors that it is of."""
    if callback is None:
        return None
    factors = run.point.problem.units.to_user(run.point.factors)
    looked_at = {name: locked(factor) for name, factor in factors.items()}  # a callback is not to write to them
    answer = callback(Progress(**vars(record), factors=looked_at, **_of_readings(run)))
    if isinstance(answer, Status):
        return answer
    return Status.STOPPED_BY_CALLBACK if answer else None


def _of_readings(run: Run) -> dict[str, Any]:
    """How long a reading takes, and how many are left at the most: as many as there were for each iteration so far."""
    log = run.point.problem.data.log
    if log is None or not log.count:
        return {}
    left = None if log.most is None else max(log.most - log.count, 0)
    if left is None and run.n_iter:
        each = (log.of_fit - run.history[0].readings) / run.n_iter
        left = math.ceil(each * max(run.watch.stopping.max_iter - run.n_iter, 0))
    return {"reading_seconds": log.seconds[-1], "readings_left": left}


def readings(problem: Problem) -> int:
    """How often the data have been read as a whole in this fit, where that is counted."""
    log = problem.data.log or problem.user_data.log
    return 0 if log is None else int(log.of_fit)


def _has_diverged(run: Run, value: float) -> bool:
    """Whether steps that may rise have led above the start, to an X̂ so near zero that the objective cannot be computed."""
    problem, divergence = run.point.problem, run.point.problem.model.divergence
    if not run.history or not divergence.infinite_at_zero:
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
