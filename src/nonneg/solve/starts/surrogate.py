"""Start on a surrogate of data out of core: solve the Euclidean problem there, without a pass over X."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...algebra.expression import Letter
from ...kernels.tuned import tuned
from ...model import Model
from ..problem import bind
from ..run import Solver
from ..signature import Signature
from ..solvers import Coordinate, best_solver
from ..solving import solve_from
from ..stopping import Stopping
from ..surrogate import euclidean, kind_for, make
from .base import SHORT, Beginning, Setting, Start, lift
from .euclidean import solve_euclidean


@dataclass(frozen=True)
class OnSurrogate(Start):
    """The Euclidean solution on the surrogate of the first pass, refined on a sample of rows.

    Trying several starts on X itself would take hundreds of passes.
    """

    name: str
    is_warm = True
    searches: ClassVar[bool] = True
    why: ClassVar[str] = "it takes one pass over X, to code all rows"

    @classmethod
    def applies(cls, signature: Signature, solver: Solver) -> bool:
        """Whether the Euclidean problem has a surrogate that coordinate descent solves."""
        model = euclidean(signature.model)
        if model is None or not signature.data.out_of_core or signature.data.weighted:
            return False
        twin = replace(signature, model=model)
        return kind_for(twin) is not None and Coordinate().suits(twin)

    def entries(self, signature: Signature) -> float:
        rows, columns = signature.data.shape
        return 3.0 * min(rows * columns, _SAMPLE_ROWS * columns, _SAMPLE_ENTRIES)

    def make(self, setting: Setting) -> Beginning:
        problem, model = setting.problem, euclidean(setting.problem.model)
        assert model is not None
        whole = problem.on(problem.data, model=model)
        kind = kind_for(whole.signature)
        assert kind is not None
        return _refined_on_sample(setting, solve_euclidean(setting, make(kind, whole, 0).small, self.name, SHORT))

    def __str__(self) -> str:
        return f"the Euclidean solution on a surrogate from {self.name}, refined on a sample of rows"


_SAMPLE_ROWS, _SAMPLE_ENTRIES = tuned((4000, 2**24), by="curves", on="2026-11-18")
"""Rows and entries of a sample in memory, if blocks have fewer; else it has as many rows as a block."""
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
    found = solve_from(sample, own, best_solver(sample.signature).warm(), SHORT, seed, context.trial).factors
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
    return (solve_from(problem, init, best_solver(problem.signature).warm(), _CODING).factors[name],)
