"""Solving on a sketch of the data, and refining it until the solution is a stationary point for the data themselves.

A model that needs X only through its Gram matrix K, as X ≈ X W Wᵀ does with the Euclidean distance, needs K only through K W. On a
sketch that is exact for W, the objective and the K.K.T. conditions are those of X. So: solve on the sketch, look at the conditions
with the true K W, and, if they do not hold, make the sketch exact for this W and go on. The sketched objective is nowhere below
the true one, as long as WᵀW is not above 2I, and touches it where the sketch is exact, so that nothing ever rises.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ..algebra.expression import Letter, Word
from ..data import Need
from ..data.namespace import to_host
from ..data.sketch import Nystrom, SketchData, in_single_precision, of_gram
from ..planning import canonical
from .point import Point
from .problem import Problem
from .run import Callback, Run, begin, solve
from .solution import History, Status
from .solver import Solver
from .stopping import Stopping

_PER_COMPONENT = 4
"""Directions for each component."""
_REFINEMENTS = 5
_STATIONARY = 5e-4
"""The K.K.T. residual for the data themselves at which a solution for the sketch is one for them."""
_LEAST = 2**16
"""Non-zeros of X below which there is nothing to save."""


def side_of(problem: Problem) -> Literal["rows", "columns"] | None:
    """What a sketch would combine; None where a model needs more than a Gram matrix, or there is no more than that."""
    if Need.PRODUCTS not in problem.data.gives or len(problem.learned) != 1:
        return None
    return {frozenset({Need.COLUMN_GRAM}): "rows", frozenset({Need.ROW_GRAM}): "columns"}.get(problem.model.needs)  # type: ignore[return-value]


def pays(problem: Problem) -> bool:
    """Whether a sketch is so much smaller than the data that it saves time."""
    of = side_of(problem)
    if of is None or problem.data.facts.non_zeros < _LEAST:
        return False
    size = _PER_COMPONENT * min(problem.shapes[problem.learned[0]])
    return not problem.is_formed(_gram(problem, of)) and 3 * size < 2 * problem.data.shape[0 if of == "rows" else 1]


def _gram(problem: Problem, of: Literal["rows", "columns"]) -> Word:
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

    def __init__(self, problem: Problem, seed: int = 0) -> None:
        of = side_of(problem)
        assert of is not None
        size = _PER_COMPONENT * min(problem.shapes[problem.learned[0]])
        self.problem, self._nystrom = problem, Nystrom(problem.data, of, size, np.random.default_rng(seed))
        self._sketch = self._nystrom.sketch
        self.small = _bound(problem, self._sketch)

    @property
    def rough(self) -> Problem:
        return _bound(self.problem, in_single_precision(self._sketch))

    def refine(self, point: Point) -> None:
        """Make the sketch exact for the factors of a point."""
        (name,), of = self.problem.learned, self._nystrom.of
        is_turned = self.problem.shapes[name][0] != self.problem.data.shape[1 if of == "rows" else 0]
        self._nystrom.add(to_host(point.value(Word([Letter(name, is_turned)]))))
        self._sketch = self._nystrom.sketch
        self.small = _bound(self.problem, self._sketch)


def rough_of_gram(problem: Problem) -> Problem | None:
    """A problem in single precision for the Gram matrix of another, where that is formed, to look for a start on."""
    of = side_of(problem)
    if of is None or not problem.is_formed(_gram(problem, of)):
        return None
    gram = problem.constant_value(canonical(_gram(problem, of))[0])
    return _bound(problem, in_single_precision(of_gram(gram, problem.namespace, of)))


def _bound(problem: Problem, sketch: SketchData) -> Problem:
    """The same model and shapes for other data."""
    return Problem(problem.model, sketch, problem.shapes, problem.fixed, units=problem.units, user_model=problem.user_model)


def solve_sketched(
    sketched: Sketched, factors: dict[str, Any], solver: Solver, stopping: Stopping, callback: Callback | None = None
) -> Run:
    """A run on a sketch that is refined until its end is stationary for the data; on the data, if that takes too long."""
    history, done = History(), 0
    for _ in range(_REFINEMENTS):
        left = replace(stopping, max_iter=stopping.max_iter - done)
        run = solve(begin(sketched.small, factors, solver, left), solver, left, callback)
        history, done, factors = history.followed_by(run.history), done + run.n_iter, run.best.factors
        point = sketched.problem.point(factors)
        if run.status is not Status.CONVERGED or point.kkt_residual() <= _STATIONARY:
            value = point.problem.units.objective_to_user(point.objective()[0])  # of the data, and not of their sketch
            last = replace(history[-1], objective=value)
            run.point, run.good, run.history, run.n_iter = point, None, History([*history[:-1], last]), done
            return run
        sketched.refine(point)
        solver = solver.resumed
    left = replace(stopping, max_iter=max(stopping.max_iter - done, 0))
    run = solve(begin(sketched.problem, factors, solver, left), solver, left, callback)
    run.history, run.n_iter = history.followed_by(run.history), done + run.n_iter
    return run
