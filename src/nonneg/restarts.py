"""From initializations to the solution of each: restarts side by side for estimators and chains, one for `factorize`."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, nullcontext
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from .algebra.expression import Letter, Word
from .checkpoints import Book, Checkpoint, StartKeeper, identity_of
from .constraints import FixedMultiplier, Orthogonal
from .data.blocks import Interrupted
from .divergences import Beta
from .engine.binding import bind
from .engine.compressing import Compressed, can_compress, euclidean_twin
from .engine.model import Model
from .engine.problem import HORIZON, Problem
from .engine.run import Callback
from .engine.sketching import Sketched, pays, rough_of_gram, stand_in
from .engine.solution import History, Progress, Solution, Status
from .engine.stopping import Stopping
from .initialization import RandomState, default_starts, make_generator
from .kernels.threads import blas_limited, limited
from .reporting import Listener, heard_by, listener_of, print_progress, say
from .search import can_search, searched
from .solvers import Coordinate, Newton, Solver, best_solver, is_auto, solver_for
from .solving import solve_from, start_factors, with_all_digits


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
    interrupt : threading.Event, optional
        Set where the user has asked to stop.
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
        interrupt: Event | None = None,
        listener: Listener | None = None,
    ) -> None:
        self.began, self.verbose, self.name, self.over, self.callback = began, verbose, name, over or Event(), callback
        self.interrupt, self.listener = interrupt or Event(), listener
        self._print = print_progress(every=1.0, name=name) if verbose else None
        self._waited = 0.0

    def __call__(self, progress: Progress) -> bool | Status:
        if progress.iteration == 0:
            self._waited = time.perf_counter() - self.began - progress.seconds
        if self._print is not None:
            self._print(replace(progress, seconds=progress.seconds + self._waited))
        if self.interrupt.is_set():
            return Status.STOPPED_BY_USER
        return self.over.is_set() or bool(self.callback is not None and self.callback(progress))

    @property
    def is_over(self) -> bool:
        """Whether there is no use in going on."""
        return self.over.is_set() or self.interrupt.is_set()

    def looked(self, progress: Progress) -> bool:
        """The callback of a run that only looks for a start."""
        if self.listener is not None:
            self.listener.phase(f"{self.name}{', ' if self.name else ''}looking for where to start, iteration {progress.iteration}")
        return self.is_over

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
    callback: Callback | None = None,
    checkpoint: Checkpoint | None = None,
    interrupt: Event | None = None,
) -> list[Solution]:
    """Run from each start; in threads, since the time is spent in products, each with its share of the cores.

    What does not depend on the start, as X Xᵀ, is computed once. Where one start fails, or the whole is interrupted, the others
    end at their next check, before the error is passed on. `began` is when the fit did, by `time.perf_counter`. Where `interrupt`
    is set, runs end at their next check, and what they have come to by then is returned. Starts that are in a checkpoint are not
    run again, or gone on with from there.
    """
    began = time.perf_counter() if began is None else began
    generator = make_generator(random_state)
    n_init = len(starts)
    seeds = [int(generator.uniform() * 2**31) for _ in range(n_init)]
    workers = min(effective_n_jobs(n_jobs), n_init)
    limit = max(1, effective_n_jobs(-1) // workers) if workers > 1 else None
    problem = bind(model, X, rank, starts[0] if isinstance(starts[0], Mapping) else None, horizon=max_iter * n_init)
    starts = [_chosen(problem, start, number) for number, start in enumerate(starts)]
    stopping, over, listener = Stopping(max_iter=max_iter, **tolerances), Event(), listener_of(callback)
    book = None
    if checkpoint is not None:
        own = {"seeds": None if random_state is None else seeds, "starts": starts, "resumes": resumes}
        book = Book(checkpoint, identity_of(problem, solver=solver, **vars(stopping), **own), seeds)
        seeds = book.seeds

    def run(number: int) -> Solution:
        name = f"start {number + 1} of {n_init}" if n_init > 1 else ""
        told = heard_by(listener, number, callback)
        reporter = Reporter(began, bool(verbose), name, over, told, interrupt, listener)
        keeper = None if book is None else book.keeper(number)
        found = None if keeper is None else keeper.solution(problem)
        if found is not None:
            return found
        if listener is not None:
            listener.began(number, n_init, max_iter, stopping.tol)
        try:
            with limited(limit):
                init, seed = starts[number], seeds[number]
                found = run_start(problem, solver, init, seed, stopping, reporter, resumes=resumes, keeper=keeper)
            if keeper is not None and found.status not in (Status.STOPPED_BY_USER, Status.STOPPED_BY_CALLBACK):
                keeper.finish(found)
        except BaseException:
            over.set()
            raise
        if listener is not None:
            listener.ended(found, number)
        if n_init > 1 and not over.is_set():
            reporter.say(f"{found.status.value} after {found.n_iter} iterations, objective {found.objective:.8g}")
        return found

    def is_interrupted() -> bool:
        return interrupt is not None and interrupt.is_set()

    with blas_limited(limit), closing(book) if book is not None else nullcontext():
        if workers == 1:
            done = []
            for number in range(n_init):
                try:
                    done.append(run(number))
                except Interrupted:  # in its first reading; those before it are whole
                    if not done:
                        raise
                if is_interrupted():
                    return _broken_off(done, n_init)
            return done
        pool = ThreadPoolExecutor(workers)
        try:
            runs = [pool.submit(run, number) for number in range(n_init)]
            while not over.is_set() and wait(runs, timeout=_PATIENCE).not_done:
                pass
            return _broken_off(_whole(runs), n_init) if is_interrupted() else _whole(runs)
        except BaseException:
            over.set()
            raise
        finally:
            pool.shutdown(cancel_futures=True)  # it waits for the runs that have begun


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
    reporter: Reporter | None = None,
    *,
    resumes: bool = False,
    keeper: StartKeeper | None = None,
) -> Solution:
    """The solution from one initialization, or from the best of several, as a short run of each shows.

    Here it is decided which solver is used, and whether there is a sketch, and a search.
    With `resumes`, the initialization is where another run ended. A keeper may know where this one stood, and it is gone on with.
    """
    reporter = reporter or Reporter(time.perf_counter())
    sketched = _sketched(problem, solver, stopping, seed, keeper)
    solver = solver_for(problem, solver)
    solver = solver.resumed if resumes else solver
    if keeper is not None and keeper.resumes is not None:
        init, solver = {}, solver.resumed if keeper.resumes else solver
    if isinstance(init, str) and init == "auto":
        init = default_starts(problem)
    if problem.data.is_far and sketched is None and isinstance(init, str | tuple):
        init, solver = _from_afar(problem, init, solver, seed, reporter)
    if init == ("nndsvda",) and (twin := _nearby(problem, solver)) is not None:
        init, solver = _euclidean(problem, twin, "nndsvda", _FEW_SWEEPS, seed, reporter), solver.resumed
    if isinstance(init, tuple) and init[0] == "search":
        can = isinstance(solver, Coordinate) and can_search(problem)
        init = _searched(problem, sketched, seed, reporter) if can else init[1:]
        solver = solver.resumed if can else solver
    if isinstance(init, tuple) and init[0] == "projective":
        init = _projected(problem, seed, reporter) or init[1:]
    is_bound = _is_planned_for_few(problem)
    if isinstance(sketched, Compressed) and sketched.is_little and init == ("nndsvda",):
        init, solver = _shared(sketched, solver, (*init, "random", "random"), seed, stopping, reporter), solver.resumed
        is_bound = is_bound or sketched.is_cut_off
    if isinstance(init, tuple) and len(init) == 1:
        (init,) = init
    if init == "coclusters":  # a partition that has settled: components need not take shape first
        solver = solver.resumed
    if isinstance(init, tuple):
        scouting = max(1, min(solver.trial, stopping.max_iter))
        is_bound = is_bound or scouting < solver.trial
        init = _best_of(problem, sketched, solver, init, seed, replace(stopping, max_iter=scouting), reporter)
        solver = solver.resumed
    if keeper is not None:
        keeper.is_bound = is_bound if keeper.resumes is None else keeper.is_bound
        keeper.resumes = solver == solver.resumed
    found = solve_from(problem, init, solver, stopping, seed, reporter, sketched=sketched, keeper=keeper)
    found = with_all_digits(problem, found)
    return replace(found, history=reporter.since_the_beginning(found.history))


def solve_problem(
    problem: Problem,
    init: str | Mapping[str, Any],
    solver: str | Solver,
    stopping: Stopping,
    random_state: RandomState = None,
    callback: Callback | None = None,
    checkpoint: Checkpoint | None = None,
    interrupt: Event | None = None,
) -> Solution:
    """What `factorize` runs: `run_start` for "auto", `solve_from` for an initialization that is named or given."""
    generator = make_generator(random_state)
    seeds = [int(generator.uniform() * 2**31)] if isinstance(init, str) and init == "auto" else [0]
    listener = listener_of(callback)
    reporter = Reporter(time.perf_counter(), callback=heard_by(listener, 0, callback), interrupt=interrupt, listener=listener)
    if listener is not None:
        listener.began(0, 1, stopping.max_iter, stopping.tol)
    found = _solved_or_read(problem, init, solver, stopping, random_state, seeds, generator, reporter, checkpoint)
    if listener is not None:
        listener.ended(found, 0)
    return found


def _solved_or_read(
    problem: Problem,
    init: str | Mapping[str, Any],
    solver: str | Solver,
    stopping: Stopping,
    random_state: RandomState,
    seeds: list[int],
    generator: RandomState,
    reporter: Reporter,
    checkpoint: Checkpoint | None,
) -> Solution:
    """A solution, which a checkpoint may have already."""
    if checkpoint is None:
        return _solved(problem, init, solver, stopping, seeds[0], generator, reporter, None)
    state = random_state if isinstance(random_state, int | None) else repr(type(random_state))
    identity = identity_of(problem, solver=solver, **vars(stopping), init=init, random_state=state)
    with closing(Book(checkpoint, identity, seeds)) as book:
        keeper = book.keeper(0)
        found = keeper.solution(problem)
        if found is None:
            found = _solved(problem, init, solver, stopping, book.seeds[0], generator, reporter, keeper)
            if found.status not in (Status.STOPPED_BY_USER, Status.STOPPED_BY_CALLBACK):
                keeper.finish(found)
        return found


def _solved(
    problem: Problem,
    init: str | Mapping[str, Any],
    solver: str | Solver,
    stopping: Stopping,
    seed: int,
    generator: RandomState,
    reporter: Reporter,
    keeper: StartKeeper | None,
) -> Solution:
    if isinstance(init, str) and init == "auto":
        return run_start(problem, solver, init, seed, stopping, reporter, keeper=keeper)
    sketched = _sketched(problem, solver, stopping, 0, keeper)
    if keeper is not None and keeper.resumes is None:
        keeper.is_bound = _is_planned_for_few(problem)
    found = solve_from(problem, init, solver, stopping, generator, reporter, sketched=sketched, keeper=keeper)
    return with_all_digits(problem, found)


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


def _searched(problem: Problem, sketched: Sketched | Compressed | None, seed: int, reporter: Reporter) -> dict[str, Any]:
    """The factors that a search among components leads to, on what is smallest of the data, their sketch and their Gram matrix."""
    rough = sketched.rough if sketched is not None else rough_of_gram(problem) or problem
    with np.errstate(over="ignore", invalid="ignore"):
        patience = _LONGER if problem.data.is_far else 1
        factors = searched(rough, np.random.default_rng(seed), reporter.looked, patience)
    reporter.say("searched for a start")
    if not all(np.isfinite(factor).all() and factor.any() for factor in factors.values()):
        return {}  # the start is random
    return problem.units.to_user({name: problem.namespace.asarray(factor) for name, factor in factors.items()})


def _projected(problem: Problem, seed: int, reporter: Reporter) -> dict[str, Any]:
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
    start, solver = _searched(projective, sketched, seed, reporter), Coordinate().resumed
    found = solve_from(projective, start, solver, _SHORT, seed, reporter.looked, sketched=sketched).factors[own.name]
    reporter.say("found a start by the projective form")
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


def _from_afar(problem: Problem, init: Any, solver: Solver, seed: int, reporter: Reporter) -> tuple[Any, Solver]:
    """A start for data that are far, without reading them: where the Euclidean problem of what stands for them leads to.

    Where nothing stands for them, as for data with weights, it is one start that is named, since to try several takes hundreds of
    readings; or the projective form, which has a sketch.
    """
    names = [name for name in ((init,) if isinstance(init, str) else init) if name not in ("search", "projective")]
    small = stand_in(problem) if names[0] != "random" else None
    if small is None or not Coordinate().suits(small):
        can_search_or_project = init[0] == "projective" or (isinstance(solver, Coordinate) and can_search(problem))
        return (init[0], names[0]) if isinstance(init, tuple) and can_search_or_project else names[0], solver
    start = _euclidean(problem, small, names[0], _SHORT, seed, reporter)
    return _refined_on_sample(problem, start, seed, reporter), solver.resumed


_SAMPLE_ROWS, _SAMPLE_ENTRIES = 4000, 2**24
"""Rows and entries of a sample in memory, where blocks have fewer; with more, it has as many rows as a block."""
_CODING = Stopping(tol=1e-3, max_iter=10)
"""When to stop solving for the codes of a block, of which the run is to begin."""


def _refined_on_sample(problem: Problem, start: dict[str, np.ndarray], seed: int, reporter: Reporter) -> dict[str, np.ndarray]:
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
    found = solve_from(sample, own, best_solver(sample).resumed, _SHORT, seed, reporter.looked).factors
    factors = {name: _lift(found[name]) for name in model.learned}
    if has_codes:
        others = {name: factor for name, factor in (given | factors).items() if name != first.name}
        coding = Model(model.form, model.divergence, {**model.constraints, **dict.fromkeys(others, "fixed")}, data=model.data)
        (codes,) = blocks.reading(_solve_block, ("stack",), (coding, others, first.name), (start[first.name],))
        factors[first.name] = _lift(codes)
    reporter.say(f"refined the start on {count} rows")
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
    problem: Problem, twin: Problem, init: str, stopping: Stopping, seed: int, reporter: Reporter
) -> dict[str, np.ndarray]:
    """Where a problem with the Euclidean distance leads to, as a start for another divergence."""
    found = solve_from(twin, init, Coordinate(), stopping, seed, reporter.looked)
    reporter.say("found a start for the Euclidean distance")
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
    compressed: Compressed, solver: Solver, starts: tuple[str, ...], seed: int, stopping: Stopping, reporter: Reporter
) -> dict[str, np.ndarray]:
    """The factors that the best of several starts leads to on what stands for the data, which all of them bring up to date."""
    problem = compressed.small
    factors = [start_factors(problem, start, seed + number) for number, start in enumerate(starts)]
    best = compressed.best_of(factors, solver, stopping, reporter.looked)
    reporter.say(f"tried {len(starts)} starts, objective {compressed.small.point(best).objective()[0]:.8g} in units of the problem")
    return problem.units.to_user(best)


def _best_of(
    problem: Problem,
    sketched: Sketched | Compressed | None,
    solver: Solver,
    starts: tuple[str, ...],
    seed: int,
    stopping: Stopping,
    reporter: Reporter,
) -> dict[str, np.ndarray]:
    """The factors after a short run, from the start that is lowest by then: local minima differ, and it shows early."""
    best: dict[str, np.ndarray] = {}
    lowest, problem = math.inf, problem if sketched is None else sketched.small
    for number, start in enumerate(starts):
        run = solve_from(problem, start, solver, stopping, seed + number, reporter.looked)
        reporter.say(f"tried {start!r}, {number + 1} of {len(starts)}: objective {run.objective:.8g} after {run.n_iter} iterations")
        if not best or run.scaled_objective < lowest - _ALIKE * abs(lowest):
            best, lowest = {name: run.factors[name] for name in problem.user_model.learned}, run.scaled_objective
        del run  # factors of many rows take memory
    xp = problem.namespace.xp
    return {name: factor for name, factor in best.items() if bool(xp.any(factor != 0))}  # what has become zero starts at random
