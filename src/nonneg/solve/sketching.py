"""Solving on a sketch of the data, and refining it until the solution is a stationary point for the data themselves.

A model that needs X only through its Gram matrix K, as X ≈ X W Wᵀ does with the Euclidean distance, needs K only through K W. On a
sketch that is exact for W, the objective and the K.K.T. conditions are those of X. So: solve on the sketch, look at the conditions
with the true K W, and, if they do not hold, make the sketch exact for this W and go on. The sketched objective is nowhere below
the true one, as long as WᵀW is not above 2I, and touches it where the sketch is exact, so that nothing ever rises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from ..algebra.expression import Letter, Word
from ..data import Data, Need
from ..data.blocks import Interrupted
from ..data.sketch import Nystrom, in_single_precision, of_gram
from ..exceptions import DataError
from ..kernels.namespace import to_host
from ..kernels.threads import suited_to
from ..model import Model
from ..planning import canonical
from .compressing import Compressed, can_compress, compression, euclidean_twin, remembered
from .point import Point
from .problem import Problem
from .run import Callback, Keeper, Run, Stage, begin, counted_on, readings
from .run import solve as run_to_the_end
from .shapes import infer_shapes
from .signature import FORMED
from .solution import History, Status
from .solver import Solver
from .stopping import Stopping

_PER_COMPONENT = 4
"""Directions for each component."""
_RUNS, _RUNS_FAR = 5, 20
"""On a sketch, at most, before X itself takes over. Where data are far, a sweep over X costs more than a refinement."""
_STATIONARY_FOR_DATA = 5e-4
"""The K.K.T. residual for the data themselves at which a solution for the sketch is one for them."""
_LEAST = 2**16
"""Non-zeros of X below which there is nothing to save."""


Side = Literal["rows", "columns"]
_SIDES: dict[frozenset[Need], Side] = {frozenset({Need.COLUMN_GRAM}): "rows", frozenset({Need.ROW_GRAM}): "columns"}


def side_of(problem: Problem) -> Side | None:
    """What a sketch would combine; None where a model needs more than a Gram matrix, or there is no more than that."""
    if Need.PRODUCTS not in problem.data.gives or len(problem.learned) != 1:
        return None
    return _SIDES.get(problem.model.needs)


def pays(problem: Problem) -> bool:
    """Whether a sketch is so much smaller than the data that it saves time, or readings."""
    of = side_of(problem)
    if of is None or problem.is_formed(_gram(problem, of)):
        return False
    combined, kept = problem.data.shape if of == "rows" else problem.data.shape[::-1]
    size, non_zeros = _PER_COMPONENT * min(problem.shapes[problem.learned[0]]), problem.data.facts.non_zeros
    if not non_zeros:
        return False  # a sketch of zeros has no rows
    return problem.data.is_far or (non_zeros >= _LEAST and 3 * size < 2 * combined and size * kept <= non_zeros)


def _gram(problem: Problem, of: Side) -> Word:
    X = Letter(problem.model.data)
    return Word([X.T, X] if of == "rows" else [X, X.T])


class Sketched:
    """A problem, and one like it for a sketch of its data.

    Attributes
    ----------
    small : Problem
        Of the sketch.
    rough : Problem
        The same in single precision, to look for a start on.
    """

    def __init__(self, problem: Problem, seed: int = 0, arrays: Mapping[str, Any] | None = None) -> None:
        of = side_of(problem)
        assert of is not None
        self.problem = problem
        if arrays:  # as they were written down
            n = problem.data.shape[1 if of == "rows" else 0]
            if {np.shape(array) for array in arrays.values()} != {(n, np.shape(arrays["O"])[-1])}:
                raise DataError(f"The stored sketch of X is none of {n} rows. The checkpoint was altered: delete it.")
            self._nystrom = Nystrom.of_arrays(problem.data, of, arrays["O"], arrays["C"])
        else:
            self._nystrom = _nystrom(problem.data, of, min(problem.shapes[problem.learned[0]]), seed)
        self._bind()

    @property
    def rough(self) -> Problem:
        return self.problem.on(in_single_precision(self._sketch))

    def refine(self, point: Point) -> None:
        """Make the sketch exact for the factors of a point; of data that are far, by what the point knows of them already."""
        (name,), of = self.problem.learned, self._nystrom.of
        is_transposed = self.problem.shapes[name][0] != self.problem.data.shape[1 if of == "rows" else 0]
        W = Word([Letter(name, is_transposed)])
        KW = to_host(point.product(_gram(self.problem, of) + W)) if self.problem.data.is_far else None
        self._nystrom.add(to_host(point.value(W)), KW)
        self._bind()

    def _bind(self) -> None:
        self._sketch = self._nystrom.sketch
        self.small = self.problem.on(self._sketch)

    def solve(
        self,
        factors: dict[str, Any],
        solver: Solver,
        stopping: Stopping,
        callback: Callback | None = None,
        keeper: Keeper | None = None,
    ) -> Run:
        """A run on a sketch that is refined until its end is stationary for the data; on the data, if that takes too long."""
        stage = (keeper.stage() if keeper is not None else None) or Stage(factors=factors)
        is_far, most = self.problem.data.is_far, _RUNS_FAR if self.problem.data.is_far else _RUNS
        going_on = keeper.run(self.small if stage.number < most else self.problem) if keeper is not None else None

        def now(of: Stage | None = None) -> Stage:
            return replace(of or stage, arrays={"O": self._nystrom.O, "C": self._nystrom.C})

        log = self.problem.data.log if is_far else None
        each = 1 if self.problem.data.forms_gram(transposed=self._nystrom.of == "rows") else 2
        while stage.number < most:
            if log is not None:
                log.most = log.count + each * (most - stage.number)
            run = self._run(self.small, stage, solver, stopping, callback, keeper, going_on, now)
            earlier, going_on, stage = stage, None, stage.after(run)
            if log is not None:
                log.most = None
            point = self.problem.point(stage.factors)
            try:
                if is_far and run.status is Status.STOPPED_BY_USER:
                    raise Interrupted
                if run.status not in (Status.CONVERGED, Status.NO_PROGRESS) or point.kkt_residual() <= _STATIONARY_FOR_DATA:
                    value = point.problem.units.objective_to_user(point.objective()[0])  # of the data, and not of their sketch
                    last = replace(stage.history[-1], objective=value, readings=readings(point.problem))
                    run.point, run.good, run.history, run.n_iter = point, None, History([*stage.history[:-1], last]), stage.done
                    return run
                if stage.number < most:
                    self.refine(point)
            except Interrupted:  # what the sketch says is all that is known without a reading
                if keeper is not None and run.status is not Status.STOPPED_BY_USER:  # or it has been written down already
                    keeper.keep(run, partial(now, earlier))
                run.status, run.history, run.n_iter = Status.STOPPED_BY_USER, stage.history, stage.done
                return run
        run = self._run(self.problem, stage, solver, stopping, callback, keeper, going_on, now)
        run.history, run.n_iter = stage.history.followed_by(run.history), stage.done + run.n_iter
        return run

    def _run(
        self,
        problem: Problem,
        stage: Stage,
        solver: Solver,
        stopping: Stopping,
        callback: Callback | None,
        keeper: Keeper | None,
        going_on: Run | None,
        now: Callable[[], Stage],
    ) -> Run:
        left = replace(stopping, max_iter=max(stopping.max_iter - stage.done, 0))
        solver = solver.resumed if stage.number else solver
        run = going_on or begin(problem, stage.factors, solver, left)
        callback, keep = counted_on(callback, stage.history), None if keeper is None else lambda run: keeper.keep(run, now)
        with suited_to(problem.data.size * min(problem.shapes[problem.learned[0]])):
            return run_to_the_end(run, solver, left, callback, keep=keep)


def foresee(model: Model, data: Data, rank: Any, given: Mapping[str, tuple[int, ...]]) -> None:
    """Begin a sketch of data that are far before anything else is asked of them: what the first reading tells comes with it."""
    if not data.is_far or data.weighted:
        return
    model = (euclidean_twin(model) or model) if Need.ENTRIES in model.needs else model
    if can_compress(model, data):
        shapes = infer_shapes(model, data.shape, rank, dict(given))  # type: ignore[arg-type]
        compression(data, max(min(shapes[model.form[0].name]), min(shapes[model.form[-1].name])))
    of = _SIDES.get(model.needs)
    if of is None or len(model.learned) != 1:
        return
    rank = min(infer_shapes(model, data.shape, rank, dict(given))[model.learned[0]])  # type: ignore[arg-type]
    if data.shape[1 if of == "rows" else 0] > FORMED * rank:
        _nystrom(data, of, rank, 0)


def _nystrom(data: Data, of: Side, rank: int, seed: int) -> Nystrom:
    """A sketch to begin with; one for all starts where it takes readings of data that are far."""
    size = _PER_COMPONENT * rank
    if not data.is_far:
        return Nystrom(data, of, size, np.random.default_rng(seed))
    size = min(size, *data.shape)
    made = remembered(data, ("sketch", of, size), lambda data: Nystrom(data, of, size, np.random.default_rng(0)))
    assert isinstance(made, Nystrom)
    return made.copy()


def stand_in(problem: Problem) -> Problem | None:
    """A Euclidean problem for what stands for data that are far, to make a start with; None where there is none.

    It takes the readings that were begun with (see `foresee`), where a start on the data takes one for each product. There are none
    of data with weights.
    """
    twin = euclidean_twin(problem.model) if problem.data.is_far and not problem.data.weighted else None
    if twin is None:
        return None
    other = problem.on(problem.data, model=twin)
    if can_compress(twin, problem.data):
        return Compressed(other).small
    return Sketched(other).small if pays(other) else None


def summary(data: Data, rank: int) -> Data:
    """Data that give XᵀX, nearly, without being read: of data that are far, the sketch that their fit began with."""
    return _nystrom(data, "rows", rank, 0).sketch if data.is_far else data


def rough_of_gram(problem: Problem) -> Problem | None:
    """A problem for the Gram matrix of another, where that is formed, to look for a start on: in single precision, if large."""
    of = side_of(problem)
    if of is None or not problem.is_formed(_gram(problem, of)):
        return None
    gram = problem.constant_value(canonical(_gram(problem, of))[0])
    root = of_gram(gram, problem.namespace, of)
    return problem.on(in_single_precision(root) if gram.shape[0] > _IN_CACHE else root)


_IN_CACHE = 128
"""Rows of a Gram matrix that a core has in its cache in double precision, too; single precision is another kernel to compile."""
