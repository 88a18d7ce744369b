"""From initializations to the solution of each: restarts side by side for estimators and chains, one for `factorize`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

from joblib import effective_n_jobs

from ..data.blocks import Interrupted
from ..kernels.threads import blas_limited, limited
from .checkpoints import identity_of
from .context import Context, StartContext, unwatched
from .initialization import RandomState, default_starts, make_generator
from .problem import Problem
from .signature import HORIZON
from .solution import Solution, Status
from .solvers import Solver, solver_for
from .solving import solve_from, with_all_digits
from .starts import Beginning, Setting, choose, make_surrogate
from .stopping import Stopping


def run_starts(
    problem: Problem,
    solver: str | Solver,
    starts: Sequence[str | tuple[str, ...] | Mapping[str, Any]],
    random_state: Any,
    stopping: Stopping,
    context: Context,
    *,
    n_jobs: int | None = None,
    resumes: bool = False,
) -> list[Solution]:
    """Run from each start, in threads that share the cores and the products of X alone.

    If a start fails, the others end at their next check and the error is raised. At Ctrl-C all end at their next check, and the
    solutions so far are returned. Starts stored in the checkpoint are read from it, or resumed.

    Parameters
    ----------
    problem : Problem
    solver : str or Solver
    starts : sequence
        Initializations.
    random_state : int, Generator, RandomState or None
        Seeds the starts.
    stopping : Stopping
    context : Context
    n_jobs : int, optional
        How many starts to run at a time.
    resumes : bool, default=False
        Whether the starts are the ends of an earlier fit.
    """
    generator = make_generator(random_state)
    n_init = len(starts)
    seeds = [int(generator.uniform() * 2**31) for _ in range(n_init)]
    workers = min(effective_n_jobs(n_jobs), n_init)
    limit = max(1, effective_n_jobs(-1) // workers) if workers > 1 else None
    starts = [_chosen(problem, start, number) for number, start in enumerate(starts)]

    def identity() -> dict[str, Any]:
        given = {"seeds": None if random_state is None else seeds, "starts": starts, "resumes": resumes}
        return identity_of(problem, solver=solver, **vars(stopping), **given)

    def run(number: int) -> Solution:
        own = context.start(number, n_init)

        def solve() -> Solution:
            with limited(limit):
                return run_start(problem, solver, starts[number], stored_seeds[number], stopping, own, resumes=resumes)

        try:
            found = own.solved(problem, stopping, solve)
        except BaseException:
            context.failed.set()
            raise
        if n_init > 1 and not context.failed.is_set():
            own.say(f"{found.status.value} after {found.n_iter} iterations, objective {found.objective:.8g}")
        return found

    with blas_limited(limit), context.stored(identity, seeds) as stored_seeds:
        if workers == 1:
            done = []
            for number in range(n_init):
                try:
                    done.append(run(number))
                except Interrupted:  # in its first pass over X; earlier starts are whole
                    if not done:
                        raise
                if context.is_interrupted:
                    return _broken_off(done, n_init)
            return done
        pool = ThreadPoolExecutor(workers)
        try:
            runs = [pool.submit(run, number) for number in range(n_init)]
            while not context.failed.is_set() and wait(runs, timeout=_PATIENCE).not_done:
                pass
            return _broken_off(_whole(runs), n_init) if context.is_interrupted else _whole(runs)
        except BaseException:
            context.failed.set()
            raise
        finally:
            pool.shutdown(cancel_futures=True)  # waits for the runs that have begun


def _whole(runs: Sequence[Future[Solution]]) -> list[Solution]:
    """What runs have come to; of those that were interrupted, if that is not all, the ones that had come to something."""
    found = [run.result() for run in runs if not isinstance(run.exception(), Interrupted)]
    return found or [run.result() for run in runs]


def _broken_off(found: list[Solution], n_init: int) -> list[Solution]:
    """What starts have come to by the time of Ctrl-C: those that are over are not the best of all, unless all of them are."""
    is_over = len(found) == n_init and all(solution.status is not Status.STOPPED_BY_USER for solution in found)
    return found if is_over else [replace(solution, status=Status.STOPPED_BY_USER) for solution in found]


def _chosen(problem: Problem, start: Any, number: int) -> Any:
    """What "auto" stands for. Singular vectors are the same each time: where they were chosen, the first start alone has them."""
    names = default_starts(problem) if isinstance(start, str) and start == "auto" else start
    is_same_again = isinstance(names, tuple) and len(names) == 1 and names[0].startswith("nndsvd")
    return "random" if number and is_same_again else names


_PATIENCE = 0.2
"""Seconds between two moments at which waiting for threads can be interrupted; not every system lets it be at any time."""


def run_start(
    problem: Problem,
    solver: str | Solver,
    init: Any,
    seed: int,
    stopping: Stopping,
    context: StartContext | None = None,
    *,
    resumes: bool = False,
) -> Solution:
    """Solve from the first start of `choose` that can be made, or resume the start stored in the checkpoint.

    With `resumes`, the initialization is the end of another run.
    """
    context = context or unwatched()
    keeper = context.keeper
    surrogate = make_surrogate(problem, solver, stopping, seed, keeper)
    solver = solver_for(problem.signature, solver)
    solver = solver.resumed if resumes else solver
    if keeper is not None and keeper.resumes is not None:
        begun = Beginning({}, is_warm=keeper.resumes)
    else:
        setting = Setting(problem, surrogate, solver, stopping, seed, context)
        made = (start.make(setting) for start in choose(problem, init, solver, surrogate))
        begun = next(found for found in made if found is not None)
    solver = solver.resumed if begun.is_warm else solver
    if keeper is not None:
        keeper.is_bound = (begun.is_bound or _is_planned_for_few(problem)) if keeper.resumes is None else keeper.is_bound
        keeper.resumes = solver == solver.resumed
    found = solve_from(problem, begun.init, solver, stopping, seed, context, sketched=surrogate, keeper=keeper)
    found = with_all_digits(problem, found)
    return replace(found, history=context.since_the_beginning(found.history))


def solve_problem(
    problem: Problem,
    init: str | Mapping[str, Any],
    solver: str | Solver,
    stopping: Stopping,
    random_state: RandomState,
    context: Context,
) -> Solution:
    """Solve for `factorize`: by `run_start` for "auto", by `solve_from` for an initialization that is named or given."""
    generator = make_generator(random_state)
    is_chosen = isinstance(init, str) and init == "auto"
    seeds = [int(generator.uniform() * 2**31)] if is_chosen else [0]

    def identity() -> dict[str, Any]:
        state = random_state if isinstance(random_state, int | None) else repr(type(random_state))
        return identity_of(problem, solver=solver, **vars(stopping), init=init, random_state=state)

    def solve() -> Solution:
        if is_chosen:
            return run_start(problem, solver, init, seed, stopping, own)
        surrogate = make_surrogate(problem, solver, stopping, 0, own.keeper)
        if own.keeper is not None and own.keeper.resumes is None:
            own.keeper.is_bound = _is_planned_for_few(problem)
        found = solve_from(problem, init, solver, stopping, generator, own, sketched=surrogate, keeper=own.keeper)
        return with_all_digits(problem, found)

    with context.stored(identity, seeds) as (seed,):
        own = context.start()
        return own.solved(problem, stopping, solve)


def _is_planned_for_few(problem: Problem) -> bool:
    """Whether more iterations would have led to another plan, and so to other roundings."""
    return problem.partial is None and problem.planner.costs.horizon < HORIZON
