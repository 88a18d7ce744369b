"""Start from the best of several runs on a low-rank surrogate, which shares its passes over X among them."""

from __future__ import annotations

from dataclasses import dataclass

from ..compressing import Compressed
from ..solving import start_factors
from .base import Beginning, Setting, Start


@dataclass(frozen=True)
class Shared(Start):
    """The best of several named initializations on a low-rank surrogate."""

    names: tuple[str, ...]

    def make(self, setting: Setting) -> Beginning:
        surrogate, context = setting.surrogate, setting.context
        assert isinstance(surrogate, Compressed)
        problem = surrogate.small
        factors = [start_factors(problem, name, setting.seed + number) for number, name in enumerate(self.names)]
        best = surrogate.best_of(factors, setting.solver, setting.stopping, context.trial)
        objective = surrogate.small.point(best).objective()[0]
        context.say(f"tried {len(self.names)} starts, objective {objective:.8g} in units of the problem")
        return Beginning(problem.units.to_user(best), is_warm=True, is_bound=surrogate.is_cut_off)
