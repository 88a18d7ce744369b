"""Start on a surrogate of data out of core: solve the Euclidean problem there, without a pass over X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...algebra.expression import Letter
from ...model import Model
from ..binding import bind
from ..checkpoints import StartKeeper
from ..compressing import Compressed, can_compress
from ..problem import Problem
from ..sketching import Sketched, pays, stand_in
from ..solvers import Coordinate, Solver, best_solver, is_auto
from ..solving import solve_from
from ..stopping import Stopping
from .base import SHORT, Beginning, Setting, Start, lift
from .euclidean import solve_euclidean


def make_surrogate(
    problem: Problem, solver: str | Solver, stopping: Stopping, seed: int = 0, keeper: StartKeeper | None = None
) -> Sketched | Compressed | None:
    """A sketch of the data, or what else stands for them, to solve on, where no solver is asked for and it pays.

    A run without a tolerance would never come to look at the data; where these are far, to do so at its end has to be enough.
    """
    if problem.model.weighted or problem.partial is not None:  # weights are of entries; another fill would need another sketch
        return None
    if (
        not is_auto(solver)
        or not (stopping.tol or problem.data.is_far)
        or not isinstance(best_solver(problem.signature), Coordinate)
    ):
        return None
    stage = keeper.stage() if keeper is not None else None
    arrays = stage.arrays if stage is not None else None
    if can_compress(problem.model, problem.data):
        return Compressed(problem, arrays)
    return Sketched(problem, seed, arrays) if pays(problem) else None


@dataclass(frozen=True)
class OnSurrogate(Start):
    """The solution of the Euclidean problem on the surrogate that the first pass made, refined on a sample of rows.

    Trying several starts on X itself would take hundreds of passes.
    """

    name: str

    def make(self, setting: Setting) -> Beginning | None:
        small = stand_in(setting.problem)
        if small is None or not Coordinate().suits(small.signature):
            return None
        return Beginning(_refined_on_sample(setting, solve_euclidean(setting, small, self.name, SHORT)), is_warm=True)


_SAMPLE_ROWS, _SAMPLE_ENTRIES = 4000, 2**24
"""Rows and entries of a sample in memory, where blocks have fewer; with more, it has as many rows as a block."""
_CODING = Stopping(tol=1e-3, max_iter=10)
"""When to stop solving for the codes of a block, of which the run is to begin."""


def _refined_on_sample(setting: Setting, start: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Refine a start for data in blocks with the divergence of the problem: solve for a random sample of rows in memory, then, in
    one reading, for the rows that the first factor has for all others.

    A Euclidean solution may miss components of counts, which variances of frequent features outweigh. To find them from there takes
    hundreds of readings; a sample finds them without any. A start is returned as it is for forms that tie rows to each other.
    """
    problem, context, seed = setting.problem, setting.context, setting.seed
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
    found = solve_from(sample, own, best_solver(sample.signature).resumed, SHORT, seed, context.trial).factors
    factors = {name: lift(found[name]) for name in model.learned}
    if has_codes:
        others = {name: factor for name, factor in (given | factors).items() if name != first.name}
        coding = Model(model.form, model.divergence, {**model.constraints, **dict.fromkeys(others, "fixed")}, data=model.data)
        (codes,) = blocks.reading(_solve_block, ("stack",), (coding, others, first.name), (start[first.name],))
        factors[first.name] = lift(codes)
    context.say(f"refined the start on {count} rows")
    return factors


def _solve_block(block: Any, shared: Any, own: Any) -> tuple[np.ndarray]:
    """The rows of a factor that belong to a block, given all other factors; for `Blocks.reading`."""
    model, others, name = shared
    init = {**others, name: own[0]}
    problem = bind(model, block, init=init)
    return (solve_from(problem, init, best_solver(problem.signature).resumed, _CODING).factors[name],)
