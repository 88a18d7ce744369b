"""The execution of strategies: the stages of one start, and restarts side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ..data import Data
from ..data.base import request
from ..data.blocks import Interrupted
from ..kernels.threads import blas_limited, limited
from ..kernels.tuned import tuned
from ..model import Model
from .checkpoints import identity_of
from .context import Context, StartContext
from .initialization import RandomState, make_generator
from .problem import Problem
from .signature import HORIZON, Signature, component_axes, infer_shapes
from .solution import History, Solution, Status
from .solving import solve_all_from, solve_from, start_factors, with_all_digits
from .starts import Beginning, Named, Setting
from .strategy import Options, Stage, Strategy, choose, choose_directly, explain_strategy
from .surrogate import begin_surrogate, make

_ALIKE = 1e-9
"""Relative difference of objectives below which two runs have met in one minimum."""
_PATIENCE = 0.2
"""Seconds between two moments at which waiting for threads can be interrupted; not every system lets it be at any time."""


def solve_restarts(
    problem: Problem,
    options: Sequence[Options],
    random_state: Any,
    context: Context,
    n_jobs: int | None = None,
    keep: Callable[[Solution], Solution] | None = None,
) -> list[Solution]:
    """Solve from each start, in threads that share the cores and the constant products of X.

    If a start fails, the others end at their next check and the error is raised. At Ctrl-C all end at their next check, and the
    solutions so far are returned. Starts stored in the checkpoint are read from it, or resumed.

    Parameters
    ----------
    problem : Problem
    options : sequence of Options
        One for each restart.
    random_state : int, Generator, RandomState or None
        Draws a seed for each restart.
    context : Context
    n_jobs : int, optional
        Restarts at a time.
    keep : callable, optional
        Applied to each solution as soon as it is found: the part that is kept in memory until all have ended.
    """
    generator, n_init, first = make_generator(random_state), len(options), options[0]
    seeds = [int(generator.uniform() * 2**31) for _ in options]
    strategies = [choose(problem.signature, one) for one in options]
    workers = min(effective_n_jobs(n_jobs), n_init)
    limit = max(1, effective_n_jobs(-1) // workers) if workers > 1 else None

    def identity() -> dict[str, Any]:
        starts = [[str(start) for start in one.init] if isinstance(one.init, tuple) else one.init for one in options]
        given = {"seeds": seeds if random_state is not None else None, "starts": starts, "resumes": first.is_warm}
        return identity_of(problem, solver=first.solver, **vars(first.stopping), **given)

    def run(number: int) -> Solution:
        own = StartContext(context, number, n_init)
        try:
            with limited(limit):
                found = solve_start(problem, strategies[number], stored[number], own)
        except BaseException:
            context.failed.set()
            raise
        if n_init > 1 and not context.failed.is_set():
            own.say(f"{found.status.value} after {found.n_iter} iterations, objective {found.objective:.8g}")
        return found if keep is None else keep(found)

    with blas_limited(limit), context.stored(identity, seeds) as stored:
        if n_init > 1 and context.file is None and batches(problem, strategies):
            return _in_batches(problem, strategies, stored, context, keep)
        if workers > 1:
            return _side_by_side(run, n_init, workers, context)
        done: list[Solution] = []
        for number in range(n_init):
            try:
                done.append(run(number))
            except Interrupted:  # in its first pass over X; earlier starts are finished
                if not done:
                    raise
            if context.interrupt.is_set():
                return _stopped(done, n_init)
        return done


def batches(problem: Problem, strategies: Sequence[Strategy]) -> bool:
    """Whether starts are solved a batch at a time: each is one run, of a solver that moves several points as fast as one."""
    first = strategies[0].stages[-1]
    is_plain = problem.partial is None and not problem.data.costs.weighted
    return (
        is_plain
        and first.solver.batches(problem.signature)
        and all(len(strategy.stages) == 1 and strategy.stages[0].solver == first.solver for strategy in strategies)
    )


_BATCH = tuned(2**26, by="gpu", on="2026-11-19")
"""Entries of the factors of a batch, at most."""


def _in_batches(
    problem: Problem, strategies: Sequence[Strategy], seeds: Sequence[int], context: Context, keep: Any
) -> list[Solution]:
    """The solutions of all starts; those so far after Ctrl-C."""
    n_init = len(strategies)
    size = max(1, _BATCH // sum(math.prod(problem.shapes[name]) for name in problem.learned))
    done: list[Solution] = []
    for first in range(0, n_init, size):
        numbers = range(first, min(first + size, n_init))
        contexts = [StartContext(context, number, n_init) for number in numbers]
        found = _solve_batch(problem, [strategies[n] for n in numbers], [seeds[n] for n in numbers], contexts)
        for own, solution in zip(contexts, found, strict=True):
            own.say(f"{solution.status.value} after {solution.n_iter} iterations, objective {solution.objective:.8g}")
            done.append(solution if keep is None else keep(solution))
        if context.interrupt.is_set():
            return _stopped(done, n_init)
    return done


def solve_ranks(
    problem: Problem, options: Sequence[Options], ranks: Sequence[int], seeds: Sequence[int], context: Context
) -> list[Solution] | None:
    """The solutions with several ranks, one for each of the seeds, in one batch; None if there is no batch of that size.

    Parameters
    ----------
    problem : Problem
        Of the largest rank.
    options : sequence of Options
    ranks, seeds : sequences of int
    context : Context
    """
    strategies = [choose(problem.signature, one) for one in options]
    entries = len(options) * sum(math.prod(problem.shapes[name]) for name in problem.learned)
    if entries > _BATCH or not batches(problem, strategies) or any(isinstance(one.init, Mapping) for one in options):
        return None
    contexts = [StartContext(context, number, len(options)) for number in range(len(options))]
    found = _solve_batch(problem, strategies, seeds, contexts, ranks)
    axes = component_axes(problem.model)
    for solution, rank in zip(found, ranks, strict=True):
        for name, axis in axes.items():
            factor = solution.factors[name]
            solution.factors[name] = factor[:rank, :] if axis == 0 else factor[:, :rank]
    return found


def _solve_batch(
    problem: Problem,
    strategies: Sequence[Strategy],
    seeds: Sequence[int],
    contexts: Sequence[StartContext],
    ranks: Sequence[int] | None = None,
) -> list[Solution]:
    """The solutions of a batch of starts, which share a surrogate; each with its strategy explained."""
    last, listener = strategies[0].stages[-1], contexts[0].fit.listener
    with ExitStack() as stack:
        for context in contexts:
            listener.began(context.number, context.of, last.stopping.max_iter, last.stopping.tol)
            stack.enter_context(context.measured(problem.data))
        surrogate = None
        if last.on is not None and problem.data.facts.non_zeros:
            surrogate = make(last.on, problem, seeds[0])
        starts = [strategy.stages[0].starts[0] for strategy in strategies]
        own = [None] * len(seeds) if ranks is None else ranks
        settings = [Setting(problem, surrogate, *each) for each in zip(seeds, contexts, own, strict=True)]
        if all(start == starts[0] for start in starts):
            begun = starts[0].make_all(settings)
        else:
            begun = [start.make(setting) for start, setting in zip(starts, settings, strict=True)]
    with ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context.measured(problem.data))
        found = solve_all_from(problem, begun, last.solver, last.stopping, seeds, contexts, surrogate, ranks)
        found = [with_all_digits(problem, solution) for solution in found]
    solutions = []
    for context, strategy, solution in zip(contexts, strategies, found, strict=True):
        history = History([replace(record, seconds=record.seconds + context.waited) for record in solution.history])
        took = [context.took[0], replace(context.took[1], iterations=solution.n_iter)]
        explained = explain_strategy(problem.signature, strategy, problem.user_model.line, context.of, took)
        solutions.append(replace(solution, history=history, strategy=explained))
        listener.ended(solutions[-1], context.number)
    return solutions


def _side_by_side(run: Any, n_init: int, workers: int, context: Context) -> list[Solution]:
    pool = ThreadPoolExecutor(workers)
    try:
        runs = [pool.submit(run, number) for number in range(n_init)]
        while not context.failed.is_set() and wait(runs, timeout=_PATIENCE).not_done:
            pass
        return _stopped(_whole(runs), n_init) if context.interrupt.is_set() else _whole(runs)
    except BaseException:
        context.failed.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)  # waits for the runs that have begun


def _whole(runs: Sequence[Future[Solution]]) -> list[Solution]:
    """The solutions of runs; without those interrupted in their first pass, unless these are all."""
    found = [run.result() for run in runs if not isinstance(run.exception(), Interrupted)]
    return found or [run.result() for run in runs]


def _stopped(found: list[Solution], n_init: int) -> list[Solution]:
    """Solutions after Ctrl-C, marked as stopped: the finished ones are not the best of all, unless all are finished."""
    is_over = len(found) == n_init and all(solution.status is not Status.STOPPED_BY_USER for solution in found)
    return found if is_over else [replace(solution, status=Status.STOPPED_BY_USER) for solution in found]


def solve_start(problem: Problem, strategy: Strategy, random_state: Any, context: StartContext) -> Solution:
    """Solve from one start, or read its solution from the checkpoint; with its strategy explained."""
    stopping = strategy.stages[-1].stopping
    found = context.solved(problem, stopping, lambda: run_stages(problem, strategy, random_state, context))
    took = [*context.took[:-1], *(replace(descent, iterations=found.n_iter) for descent in context.took[-1:])]
    return replace(found, strategy=explain_strategy(problem.signature, strategy, problem.user_model.line, context.of, took))


def run_stages(problem: Problem, strategy: Strategy, random_state: Any, context: StartContext | None = None) -> Solution:
    """Run the stages of a strategy, or resume the last one from the checkpoint."""
    seed = random_state if isinstance(random_state, int) else 0
    context = context or StartContext()
    writer, last = context.writer, strategy.stages[-1]
    resumes = writer is not None and writer.is_begun
    begun: Beginning = {}
    is_cut_off = False
    """Whether the start depends on `max_iter`."""
    with context.measured(problem.data):
        surrogate = None
        if last.on is not None and problem.data.facts.non_zeros:  # a sketch of zeros has no rows
            surrogate = make(last.on, problem, seed, None if writer is None else writer.arrays)
        setting = Setting(problem, surrogate, seed, context)
        if len(strategy.stages) > 1 and not resumes:
            first = strategy.stages[0]
            begun, is_cut_off = _share(setting, first) if first.rounds else (_compare(setting, first), False)
            is_cut_off = is_cut_off or first.stopping.max_iter < first.solver.trial
        elif not resumes:
            begun = last.starts[0].make(setting)
    if writer is not None and not writer.is_begun:
        writer.is_bound = is_cut_off or (not problem.signature.is_filled and problem.planner.costs.horizon < HORIZON)
    with context.measured(problem.data):
        found = solve_from(problem, begun, last.solver, last.stopping, random_state, context, surrogate=surrogate, writer=writer)
        found = with_all_digits(problem, found)
    history = History([replace(record, seconds=record.seconds + context.waited) for record in found.history])
    return replace(found, history=history)


def _share(setting: Setting, stage: Stage) -> tuple[dict[str, Any], bool]:
    """The best of several starts that share passes over X, and whether `max_iter` ended one."""
    surrogate, context = setting.surrogate, setting.context
    assert surrogate is not None
    assert stage.rounds is not None
    problem = surrogate.small
    names = [start.name for start in stage.starts if isinstance(start, Named)]
    factors = [start_factors(problem, name, setting.seed + number) for number, name in enumerate(names)]
    best, is_cut_off = surrogate.best_of(factors, stage.solver, stage.stopping, stage.rounds, context.trial)
    objective = surrogate.small.point(best).objective()[0]
    context.say(f"tried {len(names)} starts, objective {objective:.8g} in units of the problem")
    return problem.units.to_user(best), is_cut_off


def _compare(setting: Setting, stage: Stage) -> dict[str, Any]:
    """The best of several starts after a short run of each."""
    problem = setting.problem if setting.surrogate is None else setting.surrogate.small
    best: dict[str, np.ndarray] = {}
    lowest = math.inf
    for number, start in enumerate(stage.starts):
        begun = start.make(replace(setting, seed=setting.seed + number))
        run = solve_from(problem, begun, stage.solver, stage.stopping, setting.seed + number, setting.context.trial)
        setting.context.say(
            f"tried {str(start)!r}, {number + 1} of {len(stage.starts)}: "
            f"objective {run.objective:.8g} after {run.n_iter} iterations"
        )
        if not best or run.scaled_objective < lowest - _ALIKE * abs(lowest):
            best, lowest = {name: run.factors[name] for name in problem.user_model.learned}, run.scaled_objective
        del run  # frees the factors of many rows
    xp = problem.namespace.xp
    return {name: factor for name, factor in best.items() if bool(xp.any(factor != 0))}  # a zero factor starts at random


def solve_once(problem: Problem, options: Options, random_state: RandomState, context: Context) -> Solution:
    """Solve from one start, for `factorize`. A named initialization draws from the generator of the user itself."""
    is_chosen = isinstance(options.init, str) and options.init == "auto"
    generator = make_generator(random_state)
    seeds = [int(generator.uniform() * 2**31)] if is_chosen else [0]
    strategy = choose(problem.signature, options) if is_chosen else choose_directly(problem.signature, options)

    def identity() -> dict[str, Any]:
        state = random_state if isinstance(random_state, int | None) else repr(type(random_state))
        return identity_of(problem, solver=options.solver, **vars(options.stopping), init=options.init, random_state=state)

    with context.stored(identity, seeds) as (seed,):
        return solve_start(problem, strategy, seed if is_chosen else generator, StartContext(context))


def make_first_pass(
    data: Data, model: Model, rank: Any, options: Options, given: Mapping[str, Any] | None = None, *, resumes: bool = False
) -> None:
    """Make the first pass over data out of core: extremes, sums, and the beginning of a surrogate, unless a checkpoint has one.

    Parameters
    ----------
    data : Data
    model : Model
    rank : int or sequence of int
    options : Options
    given : dict of arrays, optional
        Factors to start from.
    resumes : bool
        Whether there is a checkpoint.
    """
    shapes = infer_shapes(model, data.shape, rank, {name: np.shape(factor) for name, factor in (given or {}).items()})
    signature = Signature.of(model, data, shapes)
    collected = choose(signature, options).first_pass
    request(data, collected.totals, signed=collected.signed)
    if collected.surrogate is not None and not resumes:
        begin_surrogate(data, collected)
