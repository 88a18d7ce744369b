"""From initializations to the solution of each: restarts side by side for estimators and chains, one for `factorize`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from .algebra.expression import Letter, Word
from .checkpoints import StartKeeper, identity_of
from .constraints import FixedMultiplier, Orthogonal
from .context import Context, StartContext, unwatched
from .data.blocks import Interrupted
from .divergences import Beta
from .engine.binding import bind
from .engine.compressing import Compressed, can_compress, euclidean_twin
from .engine.model import Model
from .engine.problem import HORIZON, Problem
from .engine.sketching import Sketched, pays, rough_of_gram, stand_in
from .engine.solution import Solution, Status
from .engine.stopping import Stopping
from .initialization import RandomState, default_starts, make_generator
from .kernels.threads import blas_limited, limited
from .search import can_search, searched
from .solvers import Coordinate, Newton, Solver, best_solver, is_auto, solver_for
from .solving import solve_from, start_factors, with_all_digits


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
    """Solve from one initialization, or from the best of several, as a short run of each shows.

    Chooses the solver, the sketch and the search. With `resumes`, the initialization is the end of another run. A start that is
    stored in the checkpoint is resumed.
    """
    context = context or unwatched()
    keeper = context.keeper
    sketched = _sketched(problem, solver, stopping, seed, keeper)
    solver = solver_for(problem, solver)
    solver = solver.resumed if resumes else solver
    if keeper is not None and keeper.resumes is not None:
        init, solver = {}, solver.resumed if keeper.resumes else solver
    if isinstance(init, str) and init == "auto":
        init = default_starts(problem)
    if problem.data.is_far and sketched is None and isinstance(init, str | tuple):
        init, solver = _from_afar(problem, init, solver, seed, context)
    if init == ("nndsvda",) and (twin := _nearby(problem, solver)) is not None:
        init, solver = _euclidean(problem, twin, "nndsvda", _FEW_SWEEPS, seed, context), solver.resumed
    if isinstance(init, tuple) and init[0] == "search":
        can = isinstance(solver, Coordinate) and can_search(problem)
        init = _searched(problem, sketched, seed, context) if can else init[1:]
        solver = solver.resumed if can else solver
    if isinstance(init, tuple) and init[0] == "projective":
        init = _projected(problem, seed, context) or init[1:]
    is_bound = _is_planned_for_few(problem)
    if isinstance(sketched, Compressed) and sketched.is_little and init == ("nndsvda",):
        init, solver = _shared(sketched, solver, (*init, "random", "random"), seed, stopping, context), solver.resumed
        is_bound = is_bound or sketched.is_cut_off
    if isinstance(init, tuple) and len(init) == 1:
        (init,) = init
    if init == "coclusters":  # a partition that has settled: components need not take shape first
        solver = solver.resumed
    if isinstance(init, tuple):
        scouting = max(1, min(solver.trial, stopping.max_iter))
        is_bound = is_bound or scouting < solver.trial
        init = _best_of(problem, sketched, solver, init, seed, replace(stopping, max_iter=scouting), context)
        solver = solver.resumed
    if keeper is not None:
        keeper.is_bound = is_bound if keeper.resumes is None else keeper.is_bound
        keeper.resumes = solver == solver.resumed
    found = solve_from(problem, init, solver, stopping, seed, context, sketched=sketched, keeper=keeper)
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
        sketched = _sketched(problem, solver, stopping, 0, own.keeper)
        if own.keeper is not None and own.keeper.resumes is None:
            own.keeper.is_bound = _is_planned_for_few(problem)
        found = solve_from(problem, init, solver, stopping, generator, own, sketched=sketched, keeper=own.keeper)
        return with_all_digits(problem, found)

    with context.stored(identity, seeds) as (seed,):
        own = context.start()
        return own.solved(problem, stopping, solve)


def _is_planned_for_few(problem: Problem) -> bool:
    """Whether more iterations would have led to another plan, and so to other roundings."""
    return problem.partial is None and problem.planner.costs.horizon < HORIZON


def _sketched(
    problem: Problem, solver: str | Solver, stopping: Stopping, seed: int = 0, keeper: StartKeeper | None = None
) -> Sketched | Compressed | None:
    """A sketch of the data, or what else stands for them, to solve on, where no solver is asked for and it pays.

    A run without a tolerance would never come to look at the data; where these are far, to do so at its end has to be enough.
    """
    if problem.model.weighted or problem.partial is not None:  # weights are of entries; another fill would need another sketch
        return None
    if not is_auto(solver) or not (stopping.tol or problem.data.is_far) or not isinstance(best_solver(problem), Coordinate):
        return None
    stage = keeper.stage() if keeper is not None else None
    arrays = stage.arrays if stage is not None else None
    if can_compress(problem.model, problem.data):
        return Compressed(problem, arrays)
    return Sketched(problem, seed, arrays) if pays(problem) else None


def _searched(problem: Problem, sketched: Sketched | Compressed | None, seed: int, context: StartContext) -> dict[str, Any]:
    """The factors that a search among components leads to, on what is smallest of the data, their sketch and their Gram matrix."""
    rough = sketched.rough if sketched is not None else rough_of_gram(problem) or problem
    with np.errstate(over="ignore", invalid="ignore"):
        patience = _LONGER if problem.data.is_far else 1
        factors = searched(rough, np.random.default_rng(seed), context.trial, patience)
    context.say("searched for a start")
    if not all(np.isfinite(factor).all() and factor.any() for factor in factors.values()):
        return {}  # the start is random
    return problem.units.to_user({name: problem.namespace.asarray(factor) for name, factor in factors.items()})


def _projected(problem: Problem, seed: int, context: StartContext) -> dict[str, Any]:
    """For W H with H Hᵀ = I: the H at which X ≈ X Hᵀ H ends, and W = X Hᵀ, which is the best there is where H is orthogonal.

    The same for W where that is the orthogonal factor. Empty where the projective form could not be searched for: with another
    divergence, or with weights.
    """
    model, data = problem.user_model, problem.user_data
    is_whole = not (data.weighted or problem.partial is not None)
    if not is_whole or model.divergence != Beta(2) or model.fixed or len(model.form) != 2:
        return {}
    first, last = model.form
    is_last = _groups(model, last, "rows")
    if not is_last and not _groups(model, first, "columns"):
        return {}
    own, other = (last, first) if is_last else (first, last)
    X, F = Word([Letter(model.data)]), Word([own])
    projective = bind(Model(X + F.T + F if is_last else F + F.T + X, data=model.data), data, min(problem.shapes[own.name]))
    if not can_search(projective):
        return {}
    sketched = _sketched(projective, "auto", _SHORT, seed, None)
    start, solver = _searched(projective, sketched, seed, context), Coordinate().resumed
    found = solve_from(projective, start, solver, _SHORT, seed, context.trial, sketched=sketched).factors[own.name]
    context.say("found a start by the projective form")
    facing = found.T if own.transposed else found
    codes = data.apply(facing.T) if is_last else data.apply(facing, transposed=True).T
    factors = {own.name: found, other.name: codes.T if other.transposed else codes}
    return {name: model.constraints[name].restore(np, _lift(factor)) for name, factor in factors.items()}


def _groups(model: Model, letter: Letter, axis: str) -> bool:
    """Whether the constraint of a factor groups what it stands for: that the rows, or the columns, of its letter are orthogonal."""
    constraint = model.constraints[letter.name]
    own = {"rows": "columns", "columns": "rows"}[axis] if letter.transposed else axis
    return isinstance(constraint, Orthogonal | FixedMultiplier) and constraint.axis == own


_LONGER = 3
"""How much longer to search where data are far: on their sketch that takes no reading, and to start again would."""


def _from_afar(problem: Problem, init: Any, solver: Solver, seed: int, context: StartContext) -> tuple[Any, Solver]:
    """A start for data that are far, without reading them: where the Euclidean problem of what stands for them leads to.

    Where nothing stands for them, as for data with weights, it is one start that is named, since to try several takes hundreds of
    readings; or the projective form, which has a sketch.
    """
    names = [name for name in ((init,) if isinstance(init, str) else init) if name not in ("search", "projective")]
    small = stand_in(problem) if names[0] != "random" else None
    if small is None or not Coordinate().suits(small):
        can_search_or_project = init[0] == "projective" or (isinstance(solver, Coordinate) and can_search(problem))
        return (init[0], names[0]) if isinstance(init, tuple) and can_search_or_project else names[0], solver
    start = _euclidean(problem, small, names[0], _SHORT, seed, context)
    return _refined_on_sample(problem, start, seed, context), solver.resumed


_SAMPLE_ROWS, _SAMPLE_ENTRIES = 4000, 2**24
"""Rows and entries of a sample in memory, where blocks have fewer; with more, it has as many rows as a block."""
_CODING = Stopping(tol=1e-3, max_iter=10)
"""When to stop solving for the codes of a block, of which the run is to begin."""


def _refined_on_sample(problem: Problem, start: dict[str, np.ndarray], seed: int, context: StartContext) -> dict[str, np.ndarray]:
    """Refine a start for data in blocks with the divergence of the problem: solve for a random sample of rows in memory, then, in
    one reading, for the rows that the first factor has for all others.

    A Euclidean solution may miss components of counts, which variances of frequent features outweigh. To find them from there takes
    hundreds of readings; a sample finds them without any. A start is returned as it is for forms that tie rows to each other.
    """
    model, data, first = problem.user_model, problem.user_data, problem.user_model.form[0]
    has_codes = first.name in model.learned and not first.transposed and model.form.count(first.name) == 1
    if model.form.count(model.data) != (first == Letter(model.data)) or not (has_codes or first == Letter(model.data)):
        return start
    if data.in_blocks is None or data.in_blocks[1]:  # filled block by block, or the samples are columns
        return start
    blocks, (m, n) = data.in_blocks[0], data.shape
    count = min(m, max(m // len(blocks.stops), min(_SAMPLE_ROWS, _SAMPLE_ENTRIES // n)))
    items = np.sort(np.random.default_rng(seed).choice(m, count, replace=False))
    given = problem.units.to_user(problem.fixed)
    own = {name: factor[items] if has_codes and name == first.name else factor for name, factor in start.items()}
    sample = bind(model, blocks.some(items), init={**given, **own})
    found = solve_from(sample, own, best_solver(sample).resumed, _SHORT, seed, context.trial).factors
    factors = {name: _lift(found[name]) for name in model.learned}
    if has_codes:
        others = {name: factor for name, factor in (given | factors).items() if name != first.name}
        coding = Model(model.form, model.divergence, {**model.constraints, **dict.fromkeys(others, "fixed")}, data=model.data)
        (codes,) = blocks.reading(_solve_block, ("stack",), (coding, others, first.name), (start[first.name],))
        factors[first.name] = _lift(codes)
    context.say(f"refined the start on {count} rows")
    return factors


def _solve_block(block: Any, shared: Any, own: Any) -> tuple[np.ndarray]:
    """The rows of a factor that belong to a block, given all other factors; for `Blocks.reading`."""
    model, others, name = shared
    init = {**others, name: own[0]}
    problem = bind(model, block, init=init)
    return (solve_from(problem, init, best_solver(problem).resumed, _CODING).factors[name],)


def _lift(factor: np.ndarray) -> np.ndarray:
    """The factor with a small share of its mean in place of zeros, which multiplicative rules cannot leave."""
    return np.maximum(factor, _LIFTED * factor.mean())


def _euclidean(
    problem: Problem, twin: Problem, init: str, stopping: Stopping, seed: int, context: StartContext
) -> dict[str, np.ndarray]:
    """Where a problem with the Euclidean distance leads to, as a start for another divergence."""
    found = solve_from(twin, init, Coordinate(), stopping, seed, context.trial)
    context.say("found a start for the Euclidean distance")
    factors = {name: problem.units.from_user(found.factors)[name] for name in problem.learned}
    return problem.units.to_user({name: _lift(factor) for name, factor in factors.items()})


def _nearby(problem: Problem, solver: Solver) -> Problem | None:
    """The same problem with the Euclidean distance, where its solution is a start that saves time.

    A sweep of Newton's method takes a division for each entry and component, ten times what one of coordinate descent takes. Where
    data are small or sparse that is no matter, and components that take shape by the divergence itself end lower now and then.
    """
    entries = math.prod(problem.data.shape)
    is_large = 4 * problem.data.facts.non_zeros >= entries and entries * min(map(min, problem.shapes.values())) >= _LARGE
    twin = euclidean_twin(problem.model) if is_large and isinstance(solver, Newton) and not problem.data.is_far else None
    other = None if twin is None else Problem(twin, problem.data, problem.shapes, problem.fixed, units=problem.units)
    return other if other is not None and Coordinate().suits(other) else None


_SHORT, _FEW_SWEEPS = Stopping(tol=1e-4, max_iter=300), Stopping(tol=1e-4, max_iter=20)
_LARGE = 2 * 10**6
"""Entries times components from which a start for the Euclidean distance saves time."""
_LIFTED = 1e-3
"""Of the mean of a factor: what its zeros become, which the rules of other divergences could not leave."""
_ALIKE = 1e-9
"""Runs that differ by less than this share have met in one minimum; which of them is lower is a matter of rounding."""


def _shared(
    compressed: Compressed, solver: Solver, starts: tuple[str, ...], seed: int, stopping: Stopping, context: StartContext
) -> dict[str, np.ndarray]:
    """The factors that the best of several starts leads to on what stands for the data, which all of them bring up to date."""
    problem = compressed.small
    factors = [start_factors(problem, start, seed + number) for number, start in enumerate(starts)]
    best = compressed.best_of(factors, solver, stopping, context.trial)
    context.say(f"tried {len(starts)} starts, objective {compressed.small.point(best).objective()[0]:.8g} in units of the problem")
    return problem.units.to_user(best)


def _best_of(
    problem: Problem,
    sketched: Sketched | Compressed | None,
    solver: Solver,
    starts: tuple[str, ...],
    seed: int,
    stopping: Stopping,
    context: StartContext,
) -> dict[str, np.ndarray]:
    """The factors after a short run, from the start that is lowest by then: local minima differ, and it shows early."""
    best: dict[str, np.ndarray] = {}
    lowest, problem = math.inf, problem if sketched is None else sketched.small
    for number, start in enumerate(starts):
        run = solve_from(problem, start, solver, stopping, seed + number, context.trial)
        context.say(f"tried {start!r}, {number + 1} of {len(starts)}: objective {run.objective:.8g} after {run.n_iter} iterations")
        if not best or run.scaled_objective < lowest - _ALIKE * abs(lowest):
            best, lowest = {name: run.factors[name] for name in problem.user_model.learned}, run.scaled_objective
        del run  # factors of many rows take memory
    xp = problem.namespace.xp
    return {name: factor for name, factor in best.items() if bool(xp.any(factor != 0))}  # what has become zero starts at random
