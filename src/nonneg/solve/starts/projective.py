"""Start W H with an orthogonal factor from the solution of its projective form, X ≈ X Hᵀ H."""

from __future__ import annotations

import numpy as np

from ...algebra.expression import Letter, Word
from ...constraints import FixedMultiplier, Orthogonal
from ...divergences import Beta
from ...model import Model
from ..binding import bind
from ..solvers import Coordinate
from ..solving import solve_from
from .base import SHORT, Beginning, Setting, Start, lift
from .search import can_search, search
from .surrogate import make_surrogate


class Projective(Start):
    """The H at which X ≈ X Hᵀ H ends and W = X Hᵀ, the best W for an orthogonal H; or the same for an orthogonal W."""

    def make(self, setting: Setting) -> Beginning | None:
        problem, context = setting.problem, setting.context
        model, data = problem.user_model, problem.user_data
        is_whole = not (data.weighted or problem.partial is not None)
        if not is_whole or model.divergence != Beta(2) or model.fixed or len(model.form) != 2:
            return None
        first, last = model.form
        is_last = _groups(model, last, "rows")
        if not is_last and not _groups(model, first, "columns"):
            return None
        own, other = (last, first) if is_last else (first, last)
        X, F = Word([Letter(model.data)]), Word([own])
        projective = bind(Model(X + F.T + F if is_last else F + F.T + X, data=model.data), data, min(problem.shapes[own.name]))
        if not can_search(projective):
            return None
        surrogate = make_surrogate(projective, "auto", SHORT, setting.seed)
        start, solver = search(projective, surrogate, setting.seed, context), Coordinate().resumed
        solution = solve_from(projective, start, solver, SHORT, setting.seed, context.trial, sketched=surrogate)
        found = solution.factors[own.name]
        context.say("found a start by the projective form")
        facing = found.T if own.transposed else found
        codes = data.apply(facing.T) if is_last else data.apply(facing, transposed=True).T
        factors = {own.name: found, other.name: codes.T if other.transposed else codes}
        return Beginning({name: model.constraints[name].restore(np, lift(factor)) for name, factor in factors.items()})


def _groups(model: Model, letter: Letter, axis: str) -> bool:
    """Whether the constraint of a factor groups what it stands for: that the rows, or the columns, of its letter are orthogonal."""
    constraint = model.constraints[letter.name]
    own = {"rows": "columns", "columns": "rows"}[axis] if letter.transposed else axis
    return isinstance(constraint, Orthogonal | FixedMultiplier) and constraint.axis == own
