"""The interface of solvers, which move a point, and the loop that drives them.

It asks the solver for steps until `stopping` names a status. The loop itself computes the objective and the violations, and brings
numbers from a device, at the checks only, every few iterations. Solvers that compare objectives (`Adaptive`, `QuasiNewton`,
`Coordinate` with momentum) compute them in their steps too.

If iterations take long, there is a *look* between checks, once a second: callbacks and Ctrl-C are answered, and the run is written
to the checkpoint. Results must not depend on the speed of a machine. So a look tells the watch nothing, leaves no record unless the
run ends there, and computes no product that a later step would find.

A `Run` is the whole state of a run: stored, read again and resumed, it gives the same bits.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Protocol

from ..data.blocks import Interrupted
from ..exceptions import DataError
from ..kernels.host import locked
from ..kernels.namespace import Array
from ..kernels.tuned import tuned
from .point import Point
from .problem import Problem
from .signature import Signature
from .solution import History, Progress, Record, Status
from .stopping import Stopping, Watch

Callback = Callable[[Progress], Any]
"""Called at every check, and at looks between them. Returning True, or a `Status`, ends the run."""

_PATIENCE = 1.0
"""Seconds from one look to the next, at least."""
_LOOKING = 10
"""By how much the time between looks exceeds the time that they take, at least."""


@dataclass
class State:
    """The state of a run besides the point: arrays and numbers, so that it can be stored. Solvers extend it by subclasses.

    See Also
    --------
    Solver : Makes and changes it.
    nonneg.Checkpoint : Writes it to a file.

    Examples
    --------
    >>> from nonneg.solvers import State
    >>> State().stalled
    False
    """

    exponents: dict[str, float] = field(default_factory=dict)
    """The exponent of each factor's last step."""
    unrestored: dict[str, Array] = field(default_factory=dict)
    """Each factor as its last step left it, before the constraint was restored."""
    stalled: bool = False
    """Whether the last step could not move any factor."""
    made_of: ClassVar[tuple[type, ...]] = ()
    """Classes of its own that it holds."""


class Solver(ABC):
    """A way of taking steps; a record of its settings, which a run does not change.

    See Also
    --------
    get_solver : Solvers by name.
    State : What a solver keeps between steps.
    Stopping : When a run ends.

    Examples
    --------
    >>> from nonneg.solvers import Coordinate, Solver
    >>> isinstance(Coordinate(), Solver)
    True
    """

    name: ClassVar[str] = ""
    """The name by which users ask for it, if it has one; a subclass has its own."""
    title: ClassVar[str] = ""
    """The name of the algorithm, for people."""
    searches: ClassVar[bool] = False
    """Whether a line search may evaluate the objective several times a step."""
    window: ClassVar[float] = 1.0
    """Iterations that show whether the objective falls faster and faster, in intervals between checks; see `Watch`."""
    shape_by: ClassVar[int] = 40
    """Iterations before which the remaining decrease is not extrapolated; see `Watch`."""
    trial: ClassVar[int] = 100
    """Iterations that show which of several starts is best."""

    def obstacle(self, signature: Signature) -> str | None:
        """Why a problem cannot be solved this way, as a clause; None if it can."""
        return None

    def suits(self, signature: Signature) -> bool:
        """Whether "auto" may choose it."""
        return self.obstacle(signature) is None

    @abstractmethod
    def new_state(self, problem: Problem) -> Any:
        """The state at the beginning of a run; an error if there is an obstacle."""

    def warm(self) -> Solver:
        """The same solver without its warm-up, for points whose components have taken shape."""
        settings: Any = self
        return replace(settings, warmup=0) if hasattr(self, "warmup") else self

    @abstractmethod
    def step(self, point: Point, state: Any) -> Point:
        """One sweep over the learned factors."""

    def batches(self, signature: Signature) -> bool:
        """Whether a step of several runs takes little longer than one of a single run."""
        return False

    def begin_all(self, points: Sequence[Point], states: Sequence[Any]) -> Batch:
        """Several runs of one problem as a batch, if it `batches`."""
        raise NotImplementedError

    def measure(self, point: Point, state: Any) -> tuple[float, float] | None:
        """The objective of the point of the last step, and the size of its terms, if the state has them."""
        return None


class Batch(Protocol):
    """Several runs of one problem, a step of all at a time. Of some steps in a row it makes only the points that are asked for."""

    def advance(self) -> int:
        """Take some steps of each run, and say how many."""

    def point(self, place: int, step: int) -> Point:
        """The point of a run after one of these steps, counted from 0; its state is brought up to it."""

    def keep(self, places: Sequence[int]) -> None:
        """Go on with some of the runs only."""


@dataclass
class Run:
    """A run at one moment: point, state of the solver, watch, history."""

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

    def copy(self) -> Run:
        """The run as it is now, whatever becomes of it. Steps make arrays anew, so that these need no copy."""
        state, watch = copy(self.state), replace(self.watch, settled=[*self.watch.settled], curve=[*self.watch.curve])
        vars(state).update({name: copy(value) for name, value in vars(state).items() if isinstance(value, dict | list)})
        return replace(self, point=self.point.copy(), state=state, watch=watch, history=History(self.history))


class Writer(Protocol):
    """Writes the state of a run to the checkpoint, and reads it again."""

    def write(self, run: Run, rounds: Callable[[], Any] | None = None) -> None:
        """Write a run after a check if it is time, or if the run is over; with the state of its rounds on a surrogate."""

    def rounds(self) -> Any:
        """The stored state of rounds on a surrogate."""

    def run(self, problem: Problem) -> Run | None:
        """The stored run of a problem."""


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
    write: Callable[[Run], None] | None = None,
) -> Run:
    """Go on with a run until it is over, or until iteration `pause_at`; it is changed, and returned.

    `write` may write it to the checkpoint after each check or look. An interrupted pass over X ends the run at the last of these. A
    run that ends at `max_iter` is written in a state that a larger `max_iter` resumes.
    """
    if run.n_iter > stopping.max_iter:
        raise DataError(f"The run is at iteration {run.n_iter}, beyond max_iter={stopping.max_iter}, and cannot go back.")
    loop = _Loop(run, solver, stopping, callback, write)
    while run.status is None and run.n_iter != pause_at:
        try:
            loop.take(solver.step(run.point, run.state))
        except Interrupted:
            loop.return_to_last()
            break
    run.seconds = time.perf_counter() - loop.began
    return run


def solve_all(
    runs: Sequence[Run], solver: Solver, stoppings: Sequence[Stopping], callbacks: Sequence[Callback | None]
) -> Sequence[Run]:
    """Go on with several runs of one problem, some steps of all at a time, until all are over."""
    loops = [_Loop(*each, None) for each in zip(runs, [solver] * len(runs), stoppings, callbacks, strict=True)]
    batch = solver.begin_all([run.point for run in runs], [run.state for run in runs])
    while left := [place for place, loop in enumerate(loops) if loop.run.status is None]:
        if 2 * len(left) <= len(loops) and len(loops) > _SHRINKS:
            batch.keep(left)
            loops, left = [loops[place] for place in left], [*range(len(left))]
        steps = batch.advance()  # of runs that are over, too: a batch keeps its size
        for place in left:
            loops[place].take_some(steps, partial(batch.point, place))
    return runs


_SHRINKS = tuned(16, by="gpu", on="2026-11-19")
"""Runs from which a batch goes on without those that are over, if that is half of them: a device prepares for another size for as
long as some ten steps of a few runs take."""


class _Loop:
    """One call of `solve`: steps, checks, and looks between them."""

    def __init__(
        self, run: Run, solver: Solver, stopping: Stopping, callback: Callback | None, write: Callable[[Run], None] | None
    ) -> None:
        self.run, self.solver, self.stopping, self.callback, self.write = run, solver, stopping, callback, write
        self.began = time.perf_counter() - run.seconds
        self.out_of_core = run.point.problem.signature.data.out_of_core
        run.watch.stopping = stopping  # a stored one may have another `max_iter`
        if not run.history:
            if not stopping.max_iter:
                self._write_unfinished()
            run.good = run.point.bare()
            run.status = self._check(None)
        elif run.status is None and run.n_iter == stopping.max_iter:  # the process was killed before it wrote the solution
            self._write_unfinished()
            run.status = Status.MAX_ITER if run.history[-1].iteration == run.n_iter else self._check(None)
        self._last = run.copy() if self.out_of_core else run
        self._next_look = time.perf_counter() + _PATIENCE

    def take(self, point: Point) -> None:
        """Go on to the point of a step; check the run, or look at it, if it is time, and write it to the checkpoint."""
        run = self.run
        run.n_iter += 1
        previous = run.point if self.stopping.step_tol else None
        run.point = point
        if run.n_iter == 1 and not self.out_of_core:  # kernels may have been compiled
            self._next_look = time.perf_counter() + _PATIENCE
        is_due, is_last = run.n_iter == run.next_check or run.state.stalled, run.n_iter == self.stopping.max_iter
        if run.point.measured is not None:
            run.watch.curve.append((run.n_iter, run.point.measured[0], run.watch.violation))
        is_check, began = is_due or is_last, time.perf_counter()
        if not is_check and began < self._next_look:
            return
        if is_check:
            if not is_due:
                self._write_unfinished()
            run.status = self._check(previous)
            run.next_check = run.watch.next_check(run.n_iter)
            if is_due and run.status is Status.MAX_ITER:
                self._write_unfinished()
        else:
            run.status = self._look()
        if self.write is not None and (run.status is None or (is_check and run.status is Status.STOPPED_BY_USER)):
            run.seconds = time.perf_counter() - self.began
            self.write(run)
        self._last = run.copy() if self.out_of_core else run
        taken = 0.0 if is_check else time.perf_counter() - began
        self._next_look = time.perf_counter() + max(_PATIENCE, _LOOKING * taken)

    def take_some(self, steps: int, point_after: Callable[[int], Point]) -> None:
        """Go on by some steps, of which only the points of checks and looks are made."""
        run, done = self.run, 0
        while done < steps and run.status is None:
            due = 1 if self.stopping.step_tol else min(run.next_check, self.stopping.max_iter) - run.n_iter
            ahead = min(due, steps - done)
            done += ahead
            if ahead < due and time.perf_counter() < self._next_look:
                run.n_iter += ahead
            else:
                run.n_iter += ahead - 1
                self.take(point_after(done - 1))
        run.seconds = time.perf_counter() - self.began

    def return_to_last(self) -> None:
        """End a run whose pass over X was interrupted at its last check or look."""
        vars(self.run).update(vars(self._last))
        self._end_here()

    def _write_unfinished(self) -> None:
        """Checkpoint a run that hits `max_iter`, in a state that a larger one resumes."""
        if self.write is not None:
            self.write(replace(self.run, status=Status.MAX_ITER))

    def _end_here(self) -> None:
        """End a run that the user stopped, between two checks or at one.

        It is written as it is, to be resumed with the same bits, and measured after that.
        """
        run = self.run
        run.status, run.seconds = Status.STOPPED_BY_USER, time.perf_counter() - self.began
        if self.write is not None:
            self.write(run)
        if run.history[-1].iteration != run.n_iter:
            log = run.point.problem.data.log
            with nullcontext() if log is None else log.unbroken():  # one pass at most, without which nothing can be compared
                run.history.append(_record(run, run.point, self.began))
                _keep_lowest(run)

    def _check(self, previous: Point | None) -> Status | None:
        """Compute the objective and the violations, ask the watch and the callback."""
        run, point, problem = self.run, self.run.point, self.run.point.problem
        if point.measured is None and run.n_iter:
            point.measured = self.solver.measure(point, run.state)
        value, magnitude = point.objective()
        is_above = problem.model.divergence.infinite_at_zero and bool(run.history)
        if is_above and problem.units.objective_to_user(value) > run.history[0].objective and point.unreached() > 0:
            value = math.inf  # steps may rise to an X̂ so near zero that the objective cannot be computed
        violation = _violations(point, run.state)
        constraints = problem.model.constraints
        open_violation = sum(amount for name, amount in violation.items() if not constraints[name].restores_fully)
        step = _step(point, previous) if previous is not None else math.inf
        status = run.watch.check(run.n_iter, value, magnitude, open_violation, run.state.stalled, step, point.kkt_residual)
        run.history.append(_record(run, point, self.began, value, violation))
        if status is not Status.NON_FINITE and not _keep_lowest(run) and status is Status.CONVERGED:
            status = Status.NO_PROGRESS  # an earlier point is returned, and not the stationary one
        answer = _answer(run, run.history[-1], self.callback)
        return status or answer

    def _look(self) -> Status | None:
        """Ask the callback between two checks; X out of core is not read for it."""
        run = self.run
        point = run.point if run.point.measured is not None else run.point.copy()
        is_unknown = point.measured is None and self.out_of_core
        if self.callback is None or is_unknown or not math.isfinite(point.objective()[0]):
            return None
        record = _record(run, point, self.began)
        status = _answer(run, record, self.callback)
        if status is Status.STOPPED_BY_USER:
            self._end_here()
        elif status is not None:
            run.history.append(record)
            run.point = point
            _keep_lowest(run)
        return status


def continued(callback: Callback | None, history: History) -> Callback | None:
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


def _keep_lowest(run: Run) -> bool:
    """Keep the point as the one to return unless an earlier check was lower by more than rounding; whether it is kept.

    A constraint that is only approached may raise the objective: the last point is kept then.
    """
    problem, (value, magnitude) = run.point.problem, run.point.objective()
    constraints = (problem.model.constraints[name] for name in problem.learned)
    approaches = any(not constraint.is_free and not constraint.restores_fully for constraint in constraints)
    is_kept = approaches or value <= run.watch.least[0] + 4 * run.watch.eps * magnitude
    if is_kept:
        run.good = run.point.bare()
    return is_kept


def _record(
    run: Run, point: Point, began: float, value: float | None = None, violation: Mapping[str, float] | None = None
) -> Record:
    """The record of a point."""
    problem = point.problem
    objective = problem.objective_to_user(point.objective()[0] if value is None else value)
    violation = _violations(point, run.state) if violation is None else violation
    return Record(run.n_iter, time.perf_counter() - began, objective, violation, dict(run.state.exponents), problem.passes)


def _answer(run: Run, record: Record, callback: Callback | None) -> Status | None:
    """The answer of a callback to a record and its factors."""
    if callback is None:
        return None
    log, passes = run.point.problem.data.log, {}
    if log is not None and log.count:
        left = None if log.most is None else max(log.most - log.count, 0)
        if left is None and run.n_iter:  # as many in each iteration as so far
            each = (log.of_fit - run.history[0].readings) / run.n_iter
            left = math.ceil(each * max(run.watch.stopping.max_iter - run.n_iter, 0))
        passes = {"reading_seconds": log.seconds[-1], "readings_left": left}
    factors = {name: locked(factor) for name, factor in run.point.problem.units.to_user(run.point.factors).items()}
    answer = callback(Progress(**vars(record), factors=factors, **passes))
    if isinstance(answer, Status):
        return answer
    return Status.STOPPED_BY_CALLBACK if answer else None


def _step(point: Point, previous: Point) -> float:
    """The largest ‖F − F_previous‖/‖F‖ among the factors."""
    xp = point.problem.namespace.xp

    def norm(array: Array) -> float:
        return math.sqrt(float(xp.sum(array * array)))

    return max(norm(factor - previous.factors[name]) / (norm(factor) or 1.0) for name, factor in point.factors.items())


def _violations(point: Point, state: State) -> dict[str, float]:
    """The violation of each constraint; if `restore` makes it hold exactly, that of the step before."""
    xp, constraints = point.problem.namespace.xp, point.problem.model.constraints
    violations = {}
    for name in point.problem.learned:
        if not constraints[name].is_free:
            stepped = state.unrestored.get(name) if constraints[name].restores_fully else None
            violations[name] = float(constraints[name].violation(xp, point.factors[name] if stepped is None else stepped))
    return violations
