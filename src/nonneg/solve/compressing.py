"""Solving on a low-rank stand-in for the data, brought up to date until the solution is stationary for the data themselves.

A model that needs X only through products, as X ≈ W H does with the Euclidean distance, needs no more than X Hᵀ and WᵀX. A matrix
X~ that agrees with X on the spans of W and H has the same objective there, and the same K.K.T. conditions. So: solve on X~; add W
and H to what it agrees with X on, which takes one reading; look at the conditions, which are now those of X; and, if they do not
hold, go on. (After Tepper and Sapiro's compressed NMF, with the spaces brought up to date.) The objective for X may rise on the
way, since X~ is no majorizer of X: the lowest is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..algebra.expression import Word
from ..data import Data, Need
from ..data.blocks import Interrupted
from ..data.low_rank import Compression
from ..data.sketch import Nystrom
from ..divergences import Beta
from ..kernels.namespace import Namespace
from ..model import Model
from .point import Point
from .problem import Problem
from .run import Callback, Keeper, Run, Stage, begin, counted_on, readings, solve
from .solution import History, Status
from .solver import Solver
from .stopping import Stopping

_PER_COMPONENT, _FEWER = 4, 2
"""Directions for each component; and where there are many rows and columns, for memory."""
_MANY = 2**27
"""Entries of all these directions from which there are many."""
_REFINEMENTS, _SHARED = 4, 2
"""Each takes a reading, after two to begin with; and how many of them several starts share, before the best goes on."""
_LITTLE = 2**23
"""Entries of X~ up to which several starts are worth their time: on X~ local minima differ, as they do on X."""
_STATIONARY = 5e-4
"""The K.K.T. residual at which a solution is one for the data."""
_SETTLED = 1e-3
"""By what share the objective may have fallen from one reading to the next for the last to be the last."""


def can_compress(model: Model, data: Data) -> bool:
    """Whether a form begins and ends with factors of their own, and needs no more of data that are far than products.

    Where one of the two is given, its product with X never changes, and takes one reading.
    """
    form = model.form
    is_product = len(form) >= 2 and form[0].name != form[-1].name and {form[0].name, form[-1].name} <= set(model.learned)
    return data.is_far and is_product and model.needs == frozenset({Need.PRODUCTS}) and not model.signed


def euclidean_twin(model: Model) -> Model | None:
    """The same model with the Euclidean distance, where nothing else is asked of its factors: its solution is a start."""
    if model.signed or not all(model.constraints[name].is_free for name in model.learned) or not model.divergence.approximates:
        return None
    return Model(model.form, Beta(2), model.constraints, data=model.data)


def compression(data: Data, rank: int) -> Compression:
    """What stands for data that are far to begin with; made once for all starts."""
    many = _PER_COMPONENT * rank * sum(data.shape) > _MANY
    size = min((_FEWER if many else _PER_COMPONENT) * rank, *data.shape)
    made = remembered(data, ("compression", size), lambda data: Compression.begun(data, size, np.random.default_rng(0)))
    assert isinstance(made, Compression)
    return made


def remembered(data: Data, key: tuple[Any, ...], make: Callable[[Data], Compression | Nystrom]) -> Compression | Nystrom:
    """What readings of data that are far have made of them, in their units.

    The first reading begins it (see `foresee`), before it is known which units are chosen; what it has made is brought to these.
    Where squares have over- or underflowed in the units of the user, it is made again.
    """
    with np.errstate(all="ignore"):
        made, before, has_squares = data.recall(key, lambda: _without_data(make(data)))
    now = data.facts.peak
    if before != now and not has_squares:
        made, before, _ = data.recall((*key, now), lambda: _without_data(make(data)))
    found: Compression | Nystrom = made.in_units_of(data, before / now if before != now else 1.0)
    return found


def _without_data(made: Compression | Nystrom) -> tuple[Compression | Nystrom, float, bool]:
    """Drop the data, with their peak and `has_squares`: data that keep what refers to them would never close their file."""
    return made.in_units_of(None, 1.0), made.data.facts.peak, made.data.has_squares  # type: ignore[arg-type]


class Compressed:
    """A problem, and one like it for what stands for its data.

    Attributes
    ----------
    small : Problem
        Of X~.
    is_little : bool
        Whether X~ is so small to begin with that a solution for it takes little time.
    """

    def __init__(self, problem: Problem, arrays: Mapping[str, Any] | None = None) -> None:
        form, shapes = problem.model.form, problem.shapes
        self.problem = problem
        rank = max(min(shapes[form[0].name]), min(shapes[form[-1].name]))
        self._compression = Compression.of_arrays(problem.data, **arrays) if arrays else compression(problem.data, rank)
        own = problem.data.namespace
        self.is_little = 2 * self._compression.R.shape[1] * sum(problem.data.shape) <= _LITTLE
        self._namespace = own._replace(dtype=own.xp.float64) if self.is_little and not problem.fixed else own
        """Where X~ is little, double precision costs nothing: in single precision descent ends where ‖X‖² is rounded, which is
        far from a minimum where little of X is left to explain."""
        self._begun: Stage | None = None
        self.is_cut_off = False
        """Whether a run that was to show which start is best has ended at `max_iter`."""
        self._bind()

    def _bind(self) -> None:
        self.small = self._bound(self._namespace)

    def _bound(self, namespace: Namespace) -> Problem:
        """The same model for X~, in the precision of a namespace."""
        return self.problem.on(self._compression.low_rank(namespace), user_data=self.problem.user_data)

    def _point(self, factors: Mapping[str, Any], problem: Problem | None = None) -> Point:
        """The point of X~ at some factors, in its precision."""
        problem = problem or self.small
        return problem.point({name: problem.namespace.asarray(factors[name]) for name in problem.learned})

    @property
    def rough(self) -> Problem:
        return self.small

    def agree_at(self, *several: dict[str, Any]) -> list[Point]:
        """Bring X~ up to date for some factors, or for several, by one reading; the points there, at which X~ is as good as X."""
        form, points = self.problem.model.form, [self._point(factors) for factors in several]
        words = (Word([form[0]]), Word([form[-1]]).T)
        spans = (np.hstack([np.asarray(point.value(word)) for point in points]) for word in words)
        self._compression = self._compression.with_spans(*spans)
        self._bind()
        return [self._point(factors) for factors in several]

    def best_of(
        self, starts: Sequence[dict[str, Any]], solver: Solver, stopping: Stopping, callback: Callback | None = None
    ) -> dict[str, Any]:
        """The best of several starts, each solved for on X~, and once more when that agrees with X at all of these solutions.

        The readings are theirs together. A run that is begun at the factors that are returned goes on from there.
        """
        best: dict[str, Any] = {}
        for number in range(_SHARED):
            begun = [begin(self.small, self._point(factors).factors, solver, stopping) for factors in starts]
            runs = [solve(run, solver, stopping, callback) for run in begun]
            starts, solver = [run.best.factors for run in runs], solver.resumed
            values = [run.best.objective()[0] for run in runs]
            best = starts[int(np.argmin(values))]
            is_over = any(run.status in (Status.STOPPED_BY_USER, Status.STOPPED_BY_CALLBACK) for run in runs)
            self.is_cut_off = self.is_cut_off or any(run.status is Status.MAX_ITER for run in runs)
            del runs, begun  # factors of many rows take memory, which the reading needs
            try:
                values = [point.objective()[0] for point in self.agree_at(*starts)]
            except Interrupted:
                break
            lowest = int(np.argmin(values))
            best = starts[lowest]
            self._begun = Stage(number=number + 1, factors=best, best=best, lowest=values[lowest])
            if is_over:
                break
        return best

    def solve(
        self,
        factors: dict[str, Any],
        solver: Solver,
        stopping: Stopping,
        callback: Callback | None = None,
        keeper: Keeper | None = None,
    ) -> Run:
        """A run on X~ until its end is stationary for X, or until there have been as many readings as there may be."""
        begun = Stage(factors=factors) if self._begun is None else replace(self._begun, factors=factors)
        stage = (keeper.stage() if keeper is not None else None) or begun
        going_on = keeper.run(self.small) if keeper is not None else None

        def now(of: Stage | None = None) -> Stage:
            return replace(of or stage, arrays=self._compression.arrays)

        log = self.problem.data.log
        while True:
            log.most = log.count + _REFINEMENTS - stage.number
            left = replace(stopping, max_iter=stopping.max_iter - stage.done)
            own = solver.resumed if stage.number else solver
            run = going_on or begin(self.small, self._point(stage.factors).factors, own, left)
            told = counted_on(callback, stage.history)
            run = solve(run, own, left, told, keep=None if keeper is None else lambda run: keeper.keep(run, now))
            earlier, going_on, stage, log.most = stage, None, stage.after(run), None
            try:
                if run.status is Status.STOPPED_BY_USER:
                    raise Interrupted
                (point,) = self.agree_at(stage.factors)
            except Interrupted:  # what X~ says is all that is known without a reading
                if keeper is not None and run.status is not Status.STOPPED_BY_USER:  # or it has been written down already
                    keeper.keep(run, partial(now, earlier))
                run.status = Status.STOPPED_BY_USER
                return self._ended(run, run.best.factors, stage)
            value, before = point.objective()[0], stage.lowest
            if value <= before:
                stage = replace(stage, best=point.factors, lowest=value)
            is_settled = before - value <= _SETTLED * abs(value) and point.kkt_residual() <= _STATIONARY
            is_over = is_settled or run.status not in (Status.CONVERGED, Status.NO_PROGRESS) or stage.number == _REFINEMENTS
            to_user = self.problem.units.objective_to_user
            history = _measured(stage.history, len(earlier.history), to_user(value), to_user(before))
            stage = replace(stage, history=history.ending_with(readings=readings(self.problem)))
            if is_over:
                return self._ended(run, stage.best, stage)

    def _ended(self, run: Run, factors: Mapping[str, Any], stage: Stage) -> Run:
        """A run that ends at some factors, in the precision of the data, with the objective that they have in that of X~."""
        is_same = self._namespace == self.problem.namespace
        point = self._point(factors, self.small if is_same else self._bound(self.problem.namespace))
        point.measured = self._point(factors).objective()
        run.point, run.good, run.n_iter, run.history = point, None, stage.done, stage.history
        return run


def _measured(history: History, first: int, value: float, lowest: float) -> History:
    """The history with the checks of the last run corrected, from number `first` on, by its objective for X, `value`.

    X~ agrees with X where the run before ended, at `lowest` or above, and where this one has; in between it may promise less than X
    has. A check counts for what is known then: at most `lowest`, the objective of the best point, and at least `value`.
    """
    corrected = [replace(record, objective=min(max(record.objective, value), lowest)) for record in history[first:]]
    last = [replace(record, objective=min(value, lowest)) for record in history[-1:]]
    return History([*history[:first], *corrected[:-1], *last])
