"""Surrogates: smaller data that a problem is solved on, brought up to date until the solution is stationary for X itself.

A *sketch* (Nyström) stands for data that the model needs only through their Gram matrix K, as X ≈ X W Wᵀ with the Euclidean
distance. It is exact for K W at chosen W, and nowhere above X as long as WᵀW is not above 2I: no refinement raises the objective. A
*low-rank* surrogate stands for data that the model needs only through products, as X ≈ W H (after Tepper and Sapiro's compressed
NMF). It agrees with X on chosen spans of W and H. It is no majorizer, so the lowest objective of X is kept.

Both go round one loop: solve on the surrogate; agree with X at the solution, in one pass, which measures the objective and the
K.K.T. residual of X; stop, or go on from there.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from ..algebra.expression import Letter, Word, gram_of
from ..data import Data, Total
from ..data.blocks import Interrupted
from ..data.low_rank import Compression
from ..data.profile import Need
from ..data.projection import Projection
from ..data.sketch import Nystrom, in_single_precision, of_gram
from ..divergences import Beta
from ..kernels.namespace import Array, Namespace, to_host
from ..kernels.threads import suited_to
from ..kernels.tuned import tuned
from ..model import Model
from ..planning import canonical
from .point import Point
from .problem import Problem
from .run import Callback, Run, Solver, Writer, begin, continued, solve, solve_all
from .signature import Signature
from .solution import History, Status
from .stopping import Stopping

PER_COMPONENT = tuned(4, by="tall", on="2026-11-15")
"""Directions of a surrogate for each component."""
FEWER, MANY = tuned((2, 2**27), by="tall", on="2026-11-19")
"""Directions for each component if all directions have more entries than `MANY`."""
_STATIONARY = tuned(5e-4, by="tall", on="2026-11-16")
"""K.K.T. residual of X below which a solution on a surrogate is one of X."""
_SETTLED = tuned(1e-3, by="tall", on="2026-11-16")
"""Relative decrease of X's objective from one round to the next below which a low-rank surrogate has settled."""
_LEAST = tuned(2**16, by="tall", on="2026-11-16")
"""Non-zeros of X from which a sketch saves time."""
_LITTLE = tuned(2**23, by="tall", on="2026-11-16")
"""Entries of a low-rank surrogate up to which several starts are worth their time."""
_IN_CACHE = tuned(128, by="tall", on="2026-11-16")
"""Rows of a Gram matrix that fit into the cache of a core in double precision."""

Side = Literal["rows", "columns"]
_SIDES: dict[frozenset[Need], Side] = {frozenset({Need.COLUMN_GRAM}): "rows", frozenset({Need.ROW_GRAM}): "columns"}


class Kind(Enum):
    """A kind of surrogate of X."""

    SKETCH = "sketch"
    LOW_RANK = "low rank"


# ---- the choice, which reads nothing


def kind_for(signature: Signature) -> Kind | None:
    """The surrogate that saves time, or passes; None if X itself serves better."""
    if signature.model.weighted:
        return None
    if signature.data.out_of_core and can_compress(signature):
        return Kind.LOW_RANK
    side, data = side_of(signature), signature.data
    if side is None or not data.non_zeros or signature.planner.forms(gram_of(Letter(signature.model.data), side == "rows")):
        return None
    combined, kept = data.shape if side == "rows" else data.shape[::-1]
    size = PER_COMPONENT * signature.rank
    is_small = data.non_zeros >= _LEAST and 3 * size < 2 * combined and size * kept <= data.non_zeros
    return Kind.SKETCH if data.out_of_core or is_small else None


def possible_kind(signature: Signature) -> Kind | None:
    """The surrogate that can stand for X, whether or not it saves time; None if there is none."""
    if signature.model.weighted or signature.is_filled:
        return None
    if can_compress(signature):
        return Kind.LOW_RANK
    return None if side_of(signature) is None else Kind.SKETCH


def can_compress(signature: Signature) -> bool:
    """Whether the form begins and ends with learned factors of their own and needs products only."""
    form, model = signature.model.form, signature.model
    is_product = len(form) >= 2 and form[0].name != form[-1].name and {form[0].name, form[-1].name} <= set(model.learned)
    return is_product and model.needs == frozenset({Need.PRODUCTS}) and not model.signed


def side_of(signature: Signature) -> Side | None:
    """The items that a sketch combines; None if the model needs more than a Gram matrix, or nothing more is known of X."""
    if Need.PRODUCTS not in signature.data.gives or len(signature.model.learned) != 1:
        return None
    return _SIDES.get(signature.model.needs)


def directions(signature: Signature) -> int:
    """Directions of a low-rank surrogate on each side."""
    form, shapes, shape = signature.model.form, signature.shapes, signature.data.shape
    rank = max(min(shapes[form[0].name]), min(shapes[form[-1].name]))
    return min((FEWER if PER_COMPONENT * rank * sum(shape) > MANY else PER_COMPONENT) * rank, *shape)


def is_little(signature: Signature) -> bool:
    """Whether a low-rank surrogate is so small that a solution on it takes little time."""
    return 2 * directions(signature) * sum(signature.data.shape) <= _LITTLE


def most_rounds(kind: Kind, signature: Signature) -> int:
    """Rounds on a surrogate, at most: a pass over X out of core costs more than a round."""
    return 4 if kind is Kind.LOW_RANK else 20 if signature.data.out_of_core else 5


def euclidean(model: Model) -> Model | None:
    """The same model with the Euclidean distance, whose solution is a start; None with constraints, or without approximation."""
    if model.signed or not all(model.constraints[name].is_free for name in model.learned) or not model.divergence.approximates:
        return None
    return Model(model.form, Beta(2), model.constraints, data=model.data)


# ---- the two kinds


@dataclass
class Rounds:
    """State of a run in rounds: the point, the surrogate, and the history so far."""

    history: History = field(default_factory=History)
    done: int = 0
    """Iterations of finished rounds."""
    number: int = 0
    """Finished rounds."""
    factors: dict[str, Array] = field(default_factory=dict)
    """Start of the next round."""
    best: dict[str, Array] = field(default_factory=dict)
    """Factors with the lowest objective of X."""
    arrays: dict[str, Array] = field(default_factory=dict)
    """The surrogate."""
    lowest: float = math.inf
    """The objective of `best`."""

    def after(self, run: Run) -> Rounds:
        """The state after one more run."""
        history = self.history.followed_by(run.history)
        return replace(self, history=history, done=self.done + run.n_iter, number=self.number + 1, factors=run.best.factors)


class Surrogate(ABC):
    """A smaller problem that stands for another.

    Attributes
    ----------
    problem : Problem
        Of X.
    small : Problem
        Of the surrogate, which agrees with X at the points of the last `agree_at`.
    begun : Rounds, optional
        State that several starts have left, if they shared their passes.
    """

    is_majorizer: ClassVar[bool]
    """Whether its objective is nowhere below that of X."""
    problem: Problem
    small: Problem
    begun: Rounds | None = None

    @property
    def rough(self) -> Problem:
        """The problem to look for a start on."""
        return self.small

    @property
    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Its arrays, besides X."""

    kind: ClassVar[Kind]

    @property
    def most(self) -> int:
        """Rounds, at most. After them X itself takes over, unless `judge` ends the last one."""
        return most_rounds(self.kind, self.problem.signature)

    passes_a_round: int = 1
    """Passes over X in one round."""

    @abstractmethod
    def agree_at(self, several: Sequence[Mapping[str, Any]]) -> list[Point]:
        """Agree with X at some points, in one pass for all; objective and K.K.T. residual of the returned points are those of X."""

    @abstractmethod
    def judge(self, rounds: Rounds, point: Point, *, is_over: bool, first: int) -> tuple[Rounds, bool]:
        """Judge the end of a round by X: the state, its history corrected from check number `first` on, and whether it is the end.

        `is_over` says that the run was stopped, and no further round is wanted.
        """

    @abstractmethod
    def ended(self, run: Run, rounds: Rounds, point: Point | None) -> Run:
        """The run of all rounds; `point` is that of the last pass over X, if there was one after the last round."""

    def solve(
        self,
        factors: dict[str, Any],
        solver: Solver,
        stopping: Stopping,
        callback: Callback | None = None,
        writer: Writer | None = None,
    ) -> Run:
        """Solve in rounds on the surrogate, until the end of one is a solution for X."""
        begun = replace(self.begun or Rounds(), factors=factors)
        rounds = (writer.rounds() if writer is not None else None) or begun
        unfinished = writer.run(self.small if rounds.number < self.most else self.problem) if writer is not None else None
        log = self.problem.data.log if self.problem.signature.data.out_of_core else None

        def state(of: Rounds | None = None) -> Rounds:
            return replace(of or rounds, arrays=self.arrays)

        while True:
            problem = self.small if rounds.number < self.most else self.problem
            left = replace(stopping, max_iter=max(stopping.max_iter - rounds.done, 0))
            own = solver.warm() if rounds.number else solver
            run = unfinished or begin(problem, self._cast(rounds.factors), own, left)
            if log is not None and problem is not self.problem:
                log.most = log.count + self.passes_a_round * (self.most - rounds.number)
            write = None if writer is None else lambda run: writer.write(run, state)
            with suited_to(problem.data.size * problem.signature.rank):
                run = solve(run, own, left, continued(callback, rounds.history), write=write)
            earlier, unfinished, rounds = rounds, None, rounds.after(run)
            if problem is self.problem:
                run.history, run.n_iter = rounds.history, rounds.done
                return run
            if log is not None:
                log.most = None
            try:
                rounds, ended = self._after_round(run, rounds, len(earlier.history))
                if ended is not None:
                    return ended
            except Interrupted:  # nothing more is known without a pass
                if writer is not None and run.status is not Status.STOPPED_BY_USER:  # or it has been written already
                    writer.write(run, partial(state, earlier))
                run.status = Status.STOPPED_BY_USER
                return self.ended(run, rounds, None)

    def solve_all(
        self, several: Sequence[dict[str, Any]], solver: Solver, stopping: Stopping, callbacks: Sequence[Callback]
    ) -> list[Run]:
        """Solve from several starts in rounds on one surrogate, which agrees with X at the ends of all that go on."""
        states, ended = [Rounds(factors=factors) for factors in several], dict[int, Run]()
        while open_ := [place for place in range(len(states)) if place not in ended]:
            is_late = states[open_[0]].number == self.most
            problem = self.problem if is_late else self.small
            own = solver.warm() if states[open_[0]].number else solver
            left = [replace(stopping, max_iter=max(stopping.max_iter - states[place].done, 0)) for place in open_]
            heard = [continued(callbacks[place], states[place].history) for place in open_]
            begun = [begin(problem, self._cast(states[place].factors), own, rest) for place, rest in zip(open_, left, strict=True)]
            runs, before = solve_all(begun, own, left, heard), {place: len(states[place].history) for place in open_}
            for place, run in zip(open_, runs, strict=True):
                states[place] = states[place].after(run)
                if is_late:
                    run.history, run.n_iter, ended[place] = states[place].history, states[place].done, run
            points = [] if is_late else self.agree_at([states[place].factors for place in open_])
            for place, run, point in zip(open_, runs, points, strict=False):
                is_over = run.status not in (Status.CONVERGED, Status.NO_PROGRESS)
                states[place], is_end = self.judge(states[place], point, is_over=is_over, first=before[place])
                if is_end:
                    ended[place] = self.ended(run, states[place], point)
        return [ended[place] for place in range(len(states))]

    def _after_round(self, run: Run, rounds: Rounds, first: int) -> tuple[Rounds, Run | None]:
        """The state after a round, judged by X, and the run of all rounds if this is the last."""
        if run.status is Status.STOPPED_BY_USER and self.problem.signature.data.out_of_core:
            raise Interrupted
        (point,) = self.agree_at([rounds.factors])
        is_over = run.status not in (Status.CONVERGED, Status.NO_PROGRESS)
        rounds, is_end = self.judge(rounds, point, is_over=is_over, first=first)
        return rounds, self.ended(run, rounds, point) if is_end else None

    def best_of(
        self, starts: Sequence[dict[str, Any]], solver: Solver, stopping: Stopping, rounds: int, callback: Callback | None = None
    ) -> tuple[dict[str, Any], bool]:
        """The best of several starts after some rounds in which they share the passes over X, and whether `max_iter` ended one."""
        best: dict[str, Any] = {}
        is_cut_off = False
        for number in range(rounds):
            begun = [begin(self.small, self._cast(factors), solver, stopping) for factors in starts]
            runs = [solve(run, solver, stopping, callback) for run in begun]
            starts, solver = [run.best.factors for run in runs], solver.warm()
            best = starts[int(np.argmin([run.best.objective()[0] for run in runs]))]
            is_over = any(run.status in (Status.STOPPED_BY_USER, Status.STOPPED_BY_CALLBACK) for run in runs)
            is_cut_off = is_cut_off or any(run.status is Status.MAX_ITER for run in runs)
            del runs, begun  # the pass needs the memory
            try:
                values = [point.objective()[0] for point in self.agree_at(starts)]
            except Interrupted:
                break
            lowest = int(np.argmin(values))
            best = starts[lowest]
            self.begun = Rounds(number=number + 1, factors=best, best=best, lowest=values[lowest])
            if is_over:
                break
        return best, is_cut_off

    def _cast(self, factors: Mapping[str, Any]) -> dict[str, Any]:
        """Factors in the precision of the surrogate."""
        return dict(factors)


class Sketch(Surrogate):
    """A sketch of X (Nyström, or a projection on a device), exact for the Gram matrix times W at the points of the last `agree_at`.

    Parameters
    ----------
    problem : Problem
    seed : int
        Draws the directions.
    arrays : dict of arrays, optional
        A sketch from a checkpoint.
    """

    kind = Kind.SKETCH
    is_majorizer = True

    def __init__(self, problem: Problem, seed: int = 0, arrays: Mapping[str, Any] | None = None) -> None:
        side, data = side_of(problem.signature), problem.data
        assert side is not None
        self.problem = problem
        self._pending: list[Point] = []
        self._side: Side = side
        sketch: Any = Nystrom if problem.signature.data.on_host or problem.signature.data.out_of_core else Projection
        if arrays:
            self._made = sketch.of_arrays(data, side, **arrays)
        elif problem.signature.data.out_of_core:
            self._made = begun_sketch(data, side, problem.signature.rank).copy()
        else:
            self._made = sketch(data, side, PER_COMPONENT * problem.signature.rank, np.random.default_rng(seed))
        if problem.signature.data.out_of_core and (side == "rows") not in problem.signature.data.one_pass_grams:
            self.passes_a_round = 2
        self._small: Problem | None = None

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        return dict(self._made.arrays)

    @property
    def small(self) -> Problem:  # type: ignore[override]
        for point in self._pending:
            self._refine(point)
        if self._pending or self._small is None:
            self._sketch = self._made.sketch
            self._small, self._pending = self.problem.on(self._sketch), []
        return self._small

    @property
    def rough(self) -> Problem:
        small = self.small
        return small.on(in_single_precision(self._sketch))

    def agree_at(self, several: Sequence[Mapping[str, Any]]) -> list[Point]:
        self._pending = [self.problem.point(factors) for factors in several]
        return self._pending

    def _refine(self, point: Point) -> None:
        """Make the sketch exact for the factor of a point; out of core from the products that the point has already."""
        (name,) = self.problem.learned
        is_transposed = self.problem.shapes[name][0] != self.problem.data.shape[1 if self._side == "rows" else 0]
        W = Word([Letter(name, is_transposed)])
        out_of_core = self.problem.signature.data.out_of_core
        K = gram_of(Letter(self.problem.model.data), self._side == "rows")
        KW = to_host(point.product(K + W)) if out_of_core else None
        self._made.add(point.value(W), KW)

    def judge(self, rounds: Rounds, point: Point, *, is_over: bool, first: int) -> tuple[Rounds, bool]:
        if not is_over and point.kkt_residual() > _STATIONARY:
            return rounds, False
        value = self.problem.units.objective_to_user(point.objective()[0])
        return replace(rounds, history=rounds.history.ending_with(objective=value, readings=self.problem.passes)), True

    def ended(self, run: Run, rounds: Rounds, point: Point | None) -> Run:
        if point is not None:
            run.point, run.good = point, None
        run.history, run.n_iter = rounds.history, rounds.done
        return run


class LowRank(Surrogate):
    """A low-rank matrix that agrees with X on chosen spans of its first and its last factor.

    Parameters
    ----------
    problem : Problem
    arrays : dict of arrays, optional
        A surrogate from a checkpoint.
    """

    kind = Kind.LOW_RANK
    is_majorizer = False

    def __init__(self, problem: Problem, arrays: Mapping[str, Any] | None = None) -> None:
        self.problem = problem
        if arrays:
            self._compression = Compression.of_arrays(problem.data, **arrays)
        else:
            self._compression = begun_low_rank(problem.data, directions(problem.signature))
        # In single precision a descent ends at the rounding of ‖X‖², far from a minimum with a small residual.
        own, size = problem.data.namespace, 2 * self._compression.R.shape[1] * sum(problem.data.shape)
        self._namespace = own._replace(dtype=own.xp.float64) if size <= _LITTLE and not problem.fixed else own
        self.small = self._bound(self._namespace)

    def _bound(self, namespace: Namespace) -> Problem:
        """The problem of the surrogate in a given precision."""
        return self.problem.on(self._compression.low_rank(namespace), user_data=self.problem.user_data)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        return self._compression.arrays

    def _point(self, factors: Mapping[str, Any], problem: Problem | None = None) -> Point:
        """The point of factors of the user: of the surrogate, or of another problem."""
        problem = problem or self.small
        return problem.point({name: problem.namespace.asarray(factors[name]) for name in problem.learned})

    def _cast(self, factors: Mapping[str, Any]) -> dict[str, Any]:
        return self._point(factors).factors

    def agree_at(self, several: Sequence[Mapping[str, Any]]) -> list[Point]:
        form, points = self.problem.model.form, [self._point(factors) for factors in several]
        words = (Word([form[0]]), Word([form[-1]]).T)
        spans = (np.hstack([np.asarray(point.value(word)) for point in points]) for word in words)
        self._compression = self._compression.with_spans(*spans)
        self.small = self._bound(self._namespace)
        return [self._point(factors) for factors in several]

    def judge(self, rounds: Rounds, point: Point, *, is_over: bool, first: int) -> tuple[Rounds, bool]:
        value, before = point.objective()[0], rounds.lowest
        if value <= before:
            rounds = replace(rounds, best=point.factors, lowest=value)
        is_settled = before - value <= _SETTLED * abs(value) and point.kkt_residual() <= _STATIONARY
        to_user = self.problem.units.objective_to_user
        history = _corrected(rounds.history, first, to_user(value), to_user(before))
        rounds = replace(rounds, history=history.ending_with(readings=self.problem.passes))
        return rounds, is_settled or is_over or rounds.number == self.most

    def ended(self, run: Run, rounds: Rounds, point: Point | None) -> Run:
        factors = run.best.factors if point is None else rounds.best
        is_same = self._namespace == self.problem.namespace
        found = self._point(factors, self.small if is_same else self._bound(self.problem.namespace))
        found.measured = self._point(factors).objective()
        run.point, run.good, run.n_iter, run.history = found, None, rounds.done, rounds.history
        return run


def _corrected(history: History, first: int, value: float, lowest: float) -> History:
    """The history with the checks of the last round, from number `first` on, corrected by its objective for X, `value`.

    The surrogate agrees with X at the start of the round, at `lowest` or above, and at its end; between them it may promise less
    than X has. A check counts as at most `lowest`, the objective of the best point known then, and at least `value`.
    """
    corrected = [replace(record, objective=min(max(record.objective, value), lowest)) for record in history[first:]]
    last = [replace(record, objective=min(value, lowest)) for record in history[-1:]]
    return History([*history[:first], *corrected[:-1], *last])


# ---- the first pass out of core


@dataclass(frozen=True)
class FirstPass:
    """Results of the first pass over X, beside its extremes.

    Attributes
    ----------
    totals : tuple
        Sums over all entries that the objective needs.
    signed : bool
        Whether entries may be negative.
    surrogate : Kind, optional
        A surrogate to begin, of data out of core.
    size : int
        Components of a sketch, directions of a low-rank surrogate.
    side : {"rows", "columns"}, optional
        The items that a sketch combines.
    """

    totals: tuple[Total, ...] = ()
    signed: bool = False
    surrogate: Kind | None = None
    size: int = 0
    side: Side | None = None


def begin_surrogate(data: Data, first_pass: FirstPass) -> None:
    """Begin a surrogate by the first pass over data out of core, which finds extremes and sums on the way."""
    if first_pass.side is not None:
        begun_sketch(data, first_pass.side, first_pass.size)
    else:
        begun_low_rank(data, first_pass.size)


def begun_sketch(data: Data, side: Side, rank: int) -> Nystrom:
    """A sketch of data out of core, one for all starts and fits of this rank."""
    size = min(PER_COMPONENT * rank, *data.shape)
    made: Nystrom = _begun(data, ("sketch", side, size), lambda data: Nystrom(data, side, size, np.random.default_rng(0)))
    return made


def begun_low_rank(data: Data, size: int) -> Compression:
    """A low-rank surrogate of data out of core, one for all starts and fits of this rank."""
    made: Compression = _begun(data, ("low rank", size), lambda data: Compression.begun(data, size, np.random.default_rng(0)))
    return made


def _begun(data: Data, key: tuple[Any, ...], make: Callable[[Data], Any]) -> Any:
    """A surrogate made by a pass over data out of core, in their units.

    The first pass makes it before units are chosen. If squares over- or underflowed in the units of the user, it is made again.
    """

    def made_of(data: Data) -> tuple[Any, float, bool]:
        """The surrogate without a reference to the data, which would keep their file open."""
        return make(data).in_units_of(None, 1.0), data.facts.peak, data.facts.has_squares(data.namespace)

    cache: dict[Any, Any] = {} if data.cache is None else data.cache
    with np.errstate(all="ignore"):
        made, before, has_squares = cache[key] = cache.get(key) or made_of(data)
    now = data.facts.peak
    if before != now and not has_squares:
        key = (*key, now)
        made, before, _ = cache[key] = cache.get(key) or made_of(data)
    return made.in_units_of(data, before / now if before != now else 1.0)


def root_problem(problem: Problem) -> Problem | None:
    """The problem on a root of its Gram matrix, if that is formed, to look for a start on; in single precision, if large."""
    side = side_of(problem.signature)
    word = gram_of(Letter(problem.model.data), side == "rows")
    if side is None or not problem.planner.forms(word):
        return None
    gram = problem.constant_value(canonical(word)[0])
    root = of_gram(gram, problem.namespace, side)
    return problem.on(in_single_precision(root) if gram.shape[0] > _IN_CACHE else root)


def make(kind: Kind, problem: Problem, seed: int, arrays: Mapping[str, Any] | None = None) -> Surrogate:
    """A surrogate of the data of a problem, from a checkpoint or anew."""
    return LowRank(problem, arrays) if kind is Kind.LOW_RANK else Sketch(problem, seed, arrays)
