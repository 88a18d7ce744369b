"""Start from the best of several initializations after a short run of each: local minima differ, and it shows early."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..solving import solve_from
from .base import Beginning, Setting, Start

_ALIKE = 1e-9
"""Relative difference of objectives below which two runs have met in one minimum: which is lower is rounding."""


@dataclass(frozen=True)
class Trials(Start):
    """The best of several named initializations."""

    names: tuple[str, ...]

    def make(self, setting: Setting) -> Beginning:
        problem = setting.problem if setting.surrogate is None else setting.surrogate.small
        length = max(1, min(setting.solver.trial, setting.stopping.max_iter))
        short = replace(setting.stopping, max_iter=length)
        best: dict[str, np.ndarray] = {}
        lowest = math.inf
        for number, name in enumerate(self.names):
            run = solve_from(problem, name, setting.solver, short, setting.seed + number, setting.context.trial)
            setting.context.say(
                f"tried {name!r}, {number + 1} of {len(self.names)}: objective {run.objective:.8g} after {run.n_iter} iterations"
            )
            if not best or run.scaled_objective < lowest - _ALIKE * abs(lowest):
                best, lowest = {name: run.factors[name] for name in problem.user_model.learned}, run.scaled_objective
            del run  # frees the factors of many rows
        xp = problem.namespace.xp
        grown = {name: factor for name, factor in best.items() if bool(xp.any(factor != 0))}  # a zero factor starts at random
        return Beginning(grown, is_warm=True, is_bound=length < setting.solver.trial)
