"""Several starts, side by side: what estimators and chains run."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

from .engine.binding import bind
from .engine.model import Model
from .engine.problem import Problem
from .engine.run import Callback
from .engine.sketching import Sketched, pays, rough_of_gram
from .engine.solution import History, Progress, Solution
from .engine.stopping import Stopping
from .initialization import RandomState, default_starts, make_generator
from .kernels.threads import limited
from .reporting import Listener, current_listener, print_progress, say
from .search import can_search, searched
from .solvers import Coordinate, Solver, best_solver, get_solver
from .solving import solve_from


class Reporter:
    """The callback of a start: it counts seconds from the beginning of the fit, prints them, and ends the run where it is told to.

    Parameters
    ----------
    began : float
        When the fit began, by `time.perf_counter`.
    verbose : bool
        Whether to print progress.
    name : str
        Which of several starts it is, for what is printed.
    over : threading.Event, optional
        Set where another start was interrupted or has failed: there is no use in going on.
    callback : callable, optional
        What else is to see the progress of a run.
    listener : Listener, optional
        Who is to hear what is being done.
    """

    def __init__(
        self,
        began: float,
        verbose: bool = False,
        name: str = "",
        over: Event | None = None,
        callback: Callback | None = None,
        listener: Listener | None = None,
    ) -> None:
        self.listener = listener
        self.began, self.verbose, self.name, self.over, self.callback = began, verbose, name, over or Event(), callback
        self._print = print_progress(every=1.0, name=name) if verbose else None
        self._waited = 0.0

    def __call__(self, progress: Progress) -> bool:
        if progress.iteration == 0:
            self._waited = time.perf_counter() - self.began - progress.seconds
        if self._print is not None:
            self._print(replace(progress, seconds=progress.seconds + self._waited))
        return self.over.is_set() or bool(self.callback is not None and self.callback(progress))

    def say(self, line: str) -> None:
        """Print a line, with the name of the start and the time, if there is to be any."""
        if self.listener is not None:
            self.listener.phase(line)
        if self.verbose:
            say(f"{self.name}{'  ' if self.name else ''}{line}, {time.perf_counter() - self.began:.2f} s")

    def since_the_beginning(self, history: History) -> History:
        """The history of the last run, its seconds counted from the beginning of the fit."""
        return History([replace(record, seconds=record.seconds + self._waited) for record in history])


def run_starts(
    X: Any,
    model: Model,
    solver: str | Solver,
    rank: Any,
    starts: list[str | tuple[str, ...] | Mapping[str, Any]],
    random_state: Any,
    n_jobs: int | None,
    verbose: int,
    max_iter: int,
    tolerances: Mapping[str, Any],
    *,
    resumes: bool = False,
    began: float | None = None,
) -> list[Solution]:
    """Run from each start; in threads, since the time is spent in products, each with its share of the cores.

    What does not depend on the start, as X Xᵀ, is computed once. Where one start fails, or the whole is interrupted, the others
    end at their next check, before the error is passed on. `began` is when the fit did, by `time.perf_counter`.
    """
    began = time.perf_counter() if began is None else began
    generator = make_generator(random_state)
    n_init = len(starts)
    seeds = [int(generator.uniform() * 2**31) for _ in range(n_init)]
    workers = min(effective_n_jobs(n_jobs), n_init)
    limit = max(1, effective_n_jobs(-1) // workers) if workers > 1 else None
    problem = bind(model, X, rank, starts[0] if isinstance(starts[0], Mapping) else None, horizon=max_iter * n_init)
    listener = current_listener()
    stopping, over = Stopping(max_iter=max_iter, **tolerances), Event() if listener is None else listener.over

    def run(number: int) -> Solution:
        heard = None if listener is None else lambda progress: listener.checked(progress, number)
        watch = Reporter(began, bool(verbose), f"start {number + 1} of {n_init}" if n_init > 1 else "", over, heard, listener)
        if listener is not None:
            listener.began(number, n_init, max_iter, stopping.tol)
        try:
            with limited(limit):
                found = run_start(problem, solver, starts[number], seeds[number], stopping, watch, resumes=resumes)
        except BaseException:
            over.set()
            raise
        if listener is not None:
            listener.ended(found, number)
        if n_init > 1 and not over.is_set():
            watch.say(f"{found.status.value} after {found.n_iter} iterations, objective {found.objective:.8g}")
        return found

    with threadpool_limits(limits=limit, user_api="blas"):
        if workers == 1:
            return [run(number) for number in range(n_init)]
        pool = ThreadPoolExecutor(workers)
        try:
            runs = [pool.submit(run, number) for number in range(n_init)]
            while not over.is_set() and wait(runs, timeout=_PATIENCE).not_done:
                pass
            return [found.result() for found in runs]
        except BaseException:
            over.set()
            raise
        finally:
            pool.shutdown(cancel_futures=True)  # it waits for the runs that have begun


_PATIENCE = 0.2
"""Seconds between two moments at which waiting for threads can be interrupted; not every system lets it be at any time."""


def run_start(
    problem: Problem,
    solver: str | Solver,
    init: Any,
    seed: int,
    stopping: Stopping,
    watch: Reporter | None = None,
    *,
    resumes: bool = False,
) -> Solution:
    """A run from one start; of several starts, from the one that a short run of each shows to be best.

    With `resumes`, the start is where another run ended.
    """
    watch = watch or Reporter(time.perf_counter())
    sketched = _sketched(problem, solver, seed)
    solver = best_solver(problem) if isinstance(solver, str) and solver == "auto" else get_solver(solver)
    solver = solver.resumed if resumes else solver
    if isinstance(init, str) and init == "auto":
        init = default_starts(problem)
    if isinstance(init, tuple) and init[0] == "search":
        can = isinstance(solver, Coordinate) and can_search(problem)
        init = _searched(problem, sketched, seed, watch) if can else init[1:]
        solver = solver.resumed if can else solver
    if isinstance(init, tuple) and len(init) == 1:
        (init,) = init
    if isinstance(init, tuple):
        scouting = max(1, int(stopping.max_iter * solver.trial_fraction))
        init = _best_of(problem, sketched, solver, init, seed, replace(stopping, max_iter=scouting), watch)
        solver = solver.resumed
    solution = solve_from(problem, init, solver, stopping, seed, watch, sketched=sketched)
    return replace(solution, history=watch.since_the_beginning(solution.history))


def solve_problem(
    problem: Problem,
    init: str | Mapping[str, Any],
    solver: str | Solver,
    stopping: Stopping,
    random_state: RandomState = None,
    callback: Callback | None = None,
) -> Solution:
    """Run from one start: given, named, or the one that suits the model."""
    generator = make_generator(random_state)
    if isinstance(init, str) and init == "auto":
        reporter = Reporter(time.perf_counter(), callback=callback)
        return run_start(problem, solver, init, int(generator.uniform() * 2**31), stopping, reporter)
    return solve_from(problem, init, solver, stopping, generator, callback, sketched=_sketched(problem, solver))


def _sketched(problem: Problem, solver: str | Solver, seed: int = 0) -> Sketched | None:
    """A sketch to solve on, where no solver is asked for and one pays."""
    is_auto = isinstance(solver, str) and solver == "auto"
    return Sketched(problem, seed) if is_auto and pays(problem) and isinstance(best_solver(problem), Coordinate) else None


def _searched(problem: Problem, sketched: Sketched | None, seed: int, watch: Reporter) -> dict[str, Any]:
    """The factors that a search among components leads to, on what is smallest of the data, their sketch and their Gram matrix."""
    rough = sketched.rough if sketched is not None else rough_of_gram(problem) or problem
    with np.errstate(over="ignore", invalid="ignore"):
        factors = searched(rough, np.random.default_rng(seed), lambda _: watch.over.is_set())
    watch.say("searched for a start")
    if not all(np.isfinite(factor).all() for factor in factors.values()):
        return {}
    return problem.units.to_user({name: problem.namespace.asarray(factor) for name, factor in factors.items()})


_ALIKE = 1e-9
"""Runs that differ by less than this share have met in one minimum; which of them is lower is a matter of rounding."""


def _best_of(
    problem: Problem,
    sketched: Sketched | None,
    solver: Solver,
    starts: tuple[str, ...],
    seed: int,
    stopping: Stopping,
    watch: Reporter,
) -> dict[str, np.ndarray]:
    """The factors after a short run, from the start that is lowest by then: local minima differ, and it shows early."""
    best: dict[str, np.ndarray] = {}
    lowest, problem = math.inf, problem if sketched is None else sketched.small
    for number, start in enumerate(starts):
        run = solve_from(problem, start, solver, stopping, seed + number, lambda _: watch.over.is_set())
        watch.say(f"tried {start!r}, {number + 1} of {len(starts)}: objective {run.objective:.8g} after {run.n_iter} iterations")
        if not best or run.scaled_objective < lowest - _ALIKE * abs(lowest):
            best, lowest = {name: run.factors[name] for name in problem.user_model.learned}, run.scaled_objective
        del run  # factors of many rows take memory
    xp = problem.namespace.xp
    return {name: factor for name, factor in best.items() if bool(xp.any(factor != 0))}  # what has become zero starts at random
