"""Several starts, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from ..factorization import factorize
from ..initialization import make_generator
from ..model import Model
from ..reporting import print_progress
from ..solution import History, Record, Status
from ..solvers import Solver


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
    solver: Solver,
    rank: Any,
    starts: list[str | tuple[str, ...] | Mapping[str, Any]],
    random_state: Any,
    n_jobs: int | None,
    verbose: int,
    max_iter: int,
    tolerances: Mapping[str, Any],
) -> list[Run]:
    """Run from each start; in threads, since the time is spent in products, each with its share of the cores."""
    generator = make_generator(random_state)
    n_init = len(starts)
    seeds = [int(generator.uniform() * 2**31) for _ in range(n_init)]
    workers = min(effective_n_jobs(n_jobs), n_init)
    limit = max(1, effective_n_jobs(-1) // workers) if workers > 1 else None

    def run(number: int) -> Run:
        callback = print_progress(every=1.0, title=f"start {number + 1} of {n_init}" if n_init > 1 else "") if verbose else None
        return run_start(X, model, solver, rank, starts[number], seeds[number], max_iter, dict(tolerances), callback)

    with threadpool_limits(limits=limit, user_api="blas"):
        return list(Parallel(n_jobs=workers, prefer="threads")(delayed(run)(number) for number in range(n_init)))


def run_start(
    X: Any,
    model: Model,
    solver: Solver,
    rank: Any,
    init: Any,
    seed: int,
    max_iter: int,
    tolerances: dict[str, Any],
    callback: Any = None,
) -> Run:
    """A run from one start; of several starts, from the one that a short run of each shows to be best."""
    if isinstance(init, tuple):
        init = _best_of(X, model, solver, rank, init, seed, max(1, max_iter // _SCOUTING))
    solution = factorize(
        X, model, rank, init=init, solver=solver, max_iter=max_iter, random_state=seed, callback=callback, **tolerances
    )
    return Run(
        model,
        solution.factors,
        solution.objective,
        solution.history,
        solution.n_iter,
        solution.status,
        solution._comparable,
    )


def _best_of(
    X: Any, model: Model, solver: Solver, rank: Any, starts: tuple[str, ...], seed: int, max_iter: int
) -> dict[str, np.ndarray]:
    """The factors after a short run, from the start that is lowest by then: local minima differ, and it shows early."""
    runs = [
        factorize(X, model, rank, init=start, solver=solver, max_iter=max_iter, random_state=seed + number)
        for number, start in enumerate(starts)
    ]
    best = min(runs, key=lambda run: run._comparable if math.isfinite(run._comparable) else math.inf)
    return {name: best.factors[name] for name in model.learned}


_SCOUTING = 50
"""A short run has one fiftieth of the iterations."""


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
