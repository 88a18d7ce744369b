"""Several starts, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from ..factorization import Task
from ..initialization import make_generator
from ..kernels.threads import limited
from ..model import Model
from ..reporting import print_progress
from ..solution import History, Record, Status
from ..solvers import Solver, Stopping, best_solver, get_solver


@dataclass(frozen=True)
class Run:
    """What one start came to."""

    model: Model
    factors: dict[str, np.ndarray]
    objective: float
    history: History
    n_iter: int
    status: Status
    comparable: float = math.nan
    """What of two runs on the same data is lower for the better one; see `Solution`."""


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
) -> list[Run]:
    """Run from each start; in threads, since the time is spent in products, each with its share of the cores.

    What does not depend on the start, as X Xᵀ, is computed once.
    """
    generator = make_generator(random_state)
    n_init = len(starts)
    seeds = [int(generator.uniform() * 2**31) for _ in range(n_init)]
    workers = min(effective_n_jobs(n_jobs), n_init)
    limit = max(1, effective_n_jobs(-1) // workers) if workers > 1 else None
    task = Task(X, model, rank, starts[0] if isinstance(starts[0], Mapping) else "random", horizon=max_iter * n_init)
    stopping = Stopping(max_iter=max_iter, **tolerances)

    def run(number: int) -> Run:
        callback = print_progress(every=1.0, title=f"start {number + 1} of {n_init}" if n_init > 1 else "") if verbose else None
        with limited(limit):
            return run_start(task, solver, starts[number], seeds[number], stopping, callback, resumes=resumes)

    with threadpool_limits(limits=limit, user_api="blas"):
        return list(Parallel(n_jobs=workers, prefer="threads")(delayed(run)(number) for number in range(n_init)))


def run_start(
    task: Task, solver: str | Solver, init: Any, seed: int, stopping: Stopping, callback: Any = None, *, resumes: bool = False
) -> Run:
    """A run from one start; of several starts, from the one that a short run of each shows to be best.

    With `resumes`, the start is where another run ended.
    """
    solver = best_solver(task.problem) if isinstance(solver, str) and solver == "auto" else get_solver(solver)
    solver = solver.resumed if resumes else solver
    if isinstance(init, tuple):
        scouting = max(1, int(stopping.max_iter * solver.share_of_a_scout))
        init = _best_of(task.sketched(), solver, init, seed, replace(stopping, max_iter=scouting))
        solver = solver.resumed
    solution = task.solve(init, solver, stopping, seed, callback)
    return Run(
        task.model,
        solution.factors,
        solution.objective,
        solution.history,
        solution.n_iter,
        solution.status,
        solution._comparable,
    )


_ALIKE = 1e-9
"""Runs that differ by less than this share have met in one minimum; which of them is lower is a matter of rounding."""


def _best_of(task: Task, solver: Solver, starts: tuple[str, ...], seed: int, stopping: Stopping) -> dict[str, np.ndarray]:
    """The factors after a short run, from the start that is lowest by then: local minima differ, and it shows early."""
    best: dict[str, np.ndarray] = {}
    lowest = math.inf
    for number, start in enumerate(starts):
        run = task.solve(start, solver, stopping, seed + number)
        if not best or run._comparable < lowest - _ALIKE * abs(lowest):
            best, lowest = {name: run.factors[name] for name in task.model.learned}, run._comparable
        del run  # factors of many rows take memory
    return best


def joined(histories: list[History]) -> History:
    """One history after the other, iterations and seconds counted on."""
    records: list[Record] = []
    for history in histories:
        iteration, seconds = (records[-1].iteration, records[-1].seconds) if records else (0, 0.0)
        records += [
            replace(record, iteration=record.iteration + iteration, seconds=record.seconds + seconds)
            for record in (history[1:] if records else history)
        ]
    return History(records)
