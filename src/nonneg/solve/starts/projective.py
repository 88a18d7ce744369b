"""Start W H with an orthogonal factor from the solution of its projective form, X ≈ X Hᵀ H."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from ...algebra.expression import Letter, Word
from ...model import Model
from ..problem import bind
from ..run import Solver
from ..signature import Signature
from ..solvers import Coordinate
from ..solving import solve_from
from ..surrogate import kind_for, make
from .base import SHORT, Beginning, Setting, Start, lift
from .search import Search


class Form(NamedTuple):
    """The projective form of W H."""

    model: Model
    own: Letter
    """The orthogonal factor."""
    other: Letter
    is_last: bool
    """Whether the orthogonal factor stands last."""


class Projective(Start):
    """The H at which X ≈ X Hᵀ H ends and W = X Hᵀ, the best W for an orthogonal H; or the same for an orthogonal W."""

    is_warm = True
    searches: ClassVar[bool] = True
    why: ClassVar[str] = "the projective form has fewer local minima, and its factor is nearly orthogonal"

    @classmethod
    def applies(cls, signature: Signature, solver: Solver) -> bool:
        """Whether one of two factors is orthogonal, all entries have the same weight, and the projective form can be searched."""
        form = _form(signature.model)
        if form is None or signature.has_weights or signature.is_filled:
            return False
        shapes = {form.own.name: signature.shapes[form.own.name]}
        return Search.applies(Signature(form.model, signature.data, shapes), Coordinate())

    def make(self, setting: Setting) -> Beginning:
        problem, context = setting.problem, setting.context
        model, data = problem.user_model, problem.user_data
        form = _form(model)
        assert form is not None
        own, other = form.own, form.other
        projective = bind(form.model, data, min(problem.shapes[own.name]))
        kind = kind_for(projective.signature)
        surrogate = None if kind is None else make(kind, projective, setting.seed)
        start = Search().make(Setting(projective, surrogate, setting.seed, context))
        solution = solve_from(projective, start, Coordinate().warm(), SHORT, setting.seed, context.trial, surrogate=surrogate)
        found = solution.factors[own.name]
        context.say("found a start by the projective form")
        facing = found.T if own.transposed else found
        codes = data.apply(facing.T) if form.is_last else data.apply(facing, transposed=True).T
        factors = {own.name: found, other.name: codes.T if other.transposed else codes}
        return {name: model.constraints[name].restore(np, lift(factor)) for name, factor in factors.items()}

    def __str__(self) -> str:
        return "the solution of the projective form"


def _form(model: Model) -> Form | None:
    """The projective form of a product of two learned factors, one of them orthogonal, with the Euclidean distance."""
    if not model.divergence.is_quadratic or model.fixed or len(model.form) != 2:
        return None
    first, last = model.form
    is_last = _groups(model, last, "rows")
    if not is_last and not _groups(model, first, "columns"):
        return None
    own, other = (last, first) if is_last else (first, last)
    X, F = Word([Letter(model.data)]), Word([own])
    return Form(Model(X + F.T + F if is_last else F + F.T + X, data=model.data), own, other, is_last)


def _groups(model: Model, letter: Letter, axis: str) -> bool:
    """Whether a constraint makes the rows, or the columns, of a letter orthogonal, so that it groups items."""
    own = {"rows": "columns", "columns": "rows"}[axis] if letter.transposed else axis
    return model.constraints[letter.name].orthogonal_axis == own
