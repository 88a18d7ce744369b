"""Start on some of the rows: solve for them, and take over the factor that all rows share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...data import read_data
from ..problem import bind
from ..run import Solver
from ..signature import Signature
from ..solvers import Coordinate
from ..solving import solve_from
from ..stopping import Stopping
from .base import Beginning, Setting, Start, lift

_ROWS, _ROWS_PER_COMPONENT = 1000, 50
"""Rows of the sample, at least; of fewer than ten times as many rows there is none."""
_SEEN = 20
"""Entries that are not zero, in the sample, for each feature: of sparser data a sample knows too little."""
_TRIAL = Stopping(tol=1e-4, max_iter=30)
"""When the run on the sample ends."""


@dataclass(frozen=True)
class OnRows(Start):
    """H of W H from some of the rows: a few sweeps from a named initialization, for a tenth of the rows or fewer.

    Noise of a sample takes a run past minima in which components are mixtures, where all rows together come to rest in one.
    """

    name: str
    is_warm = True
    searches: ClassVar[bool] = True
    why: ClassVar[str] = "sweeps of few rows cost little, and find components that are mixtures otherwise"

    @classmethod
    def applies(cls, signature: Signature, solver: Solver) -> bool:
        """Whether both factors of W H are free, and X lies in memory, with many rows, none of which has few entries."""
        model, data = signature.model, signature.data
        is_plain = len(model.form) == 2 and len(model.learned) == 2 and not any(each.transposed for each in model.form)
        is_free = not model.weighted and not any(constraint.has_penalty for constraint in model.constraints.values())
        is_near = data.on_host and not data.out_of_core and not data.weighted and data.storage in ("dense", "sparse")
        if not (is_plain and is_free and is_near and isinstance(solver, Coordinate)):
            return False
        rows, columns = data.shape
        count = _count(signature.rank)
        return rows >= 10 * count and data.non_zeros / rows * count >= _SEEN * columns

    def make(self, setting: Setting) -> Beginning:
        problem, context, seed = setting.problem, setting.context, setting.seed
        codes, shared = (each.name for each in problem.user_model.form)
        X: Any = problem.user_data.itself()
        rows = np.sort(np.random.default_rng(seed).choice(X.shape[0], _count(problem.signature.rank), replace=False))
        sample = bind(problem.user_model, read_data(X[rows]), rank=problem.signature.rank)
        H = lift(solve_from(sample, self.name, Coordinate(), _TRIAL, seed, context.trial).factors[shared])
        with np.errstate(over="ignore", invalid="ignore"):
            products = np.asarray(problem.user_data.apply(H.T))
            scale = float(problem.user_data.power_sum(1)) / (products.sum() * H.sum() / len(H))
        if not 0 < scale < math.inf or not products.all():
            return self.name  # no row of the sample has entries, or squares overflow
        context.say(f"found a start on {len(rows)} rows")
        return {codes: products * scale, shared: H}

    def __str__(self) -> str:
        return f"{_TRIAL.max_iter} sweeps of {_ROWS} rows from {self.name}"


def _count(rank: int) -> int:
    return max(_ROWS, _ROWS_PER_COMPONENT * rank)
