"""Which starts to try, as the problem, its surrogate and its solver say. Nothing is run here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..compressing import Compressed
from ..initialization import default_starts
from ..problem import Problem
from ..sketching import Sketched
from ..solvers import Solver
from .base import Start
from .euclidean import Euclidean
from .named import Given, Named
from .projective import Projective
from .search import Search
from .shared import Shared
from .surrogate import OnSurrogate
from .trials import Trials

_NOT_NAMED = ("search", "projective")
"""Starts that are no initializations."""


def choose(problem: Problem, init: Any, solver: Solver, surrogate: Sketched | Compressed | None) -> list[Start]:
    """The starts to try, in order; the last one always succeeds.

    Parameters
    ----------
    problem : Problem
    init : str, tuple of str or dict of arrays
        "auto", the name of an initialization, several names of which the best is taken, or factors.
    solver : Solver
    surrogate : Sketched, Compressed or None
        Stands for the data.
    """
    if isinstance(init, Mapping):
        return [Given(init)]
    names: tuple[str, ...] = default_starts(problem) if init == "auto" else (init,) if isinstance(init, str) else init
    first, *others = names
    if problem.data.is_far and surrogate is None:
        named = next(name for name in names if name not in _NOT_NAMED)
        starts: list[Start] = [OnSurrogate(named)] if named != "random" else []
        return [*starts, *_special(problem, first, solver), Named(named)]
    if names == ("nndsvda",) and init != "nndsvda":
        if Euclidean.applies(problem, solver):
            return [Euclidean("nndsvda")]
        if isinstance(surrogate, Compressed) and surrogate.is_little:
            return [Shared(("nndsvda", "random", "random"))]
    special = _special(problem, first, solver)
    rest = tuple(others) if first in _NOT_NAMED else names
    return [*special, Named(rest[0]) if len(rest) == 1 else Trials(rest)]


def _special(problem: Problem, name: str, solver: Solver) -> list[Start]:
    """The start of this name, unless it is the name of an initialization, or does not apply."""
    if name == "search" and Search.applies(problem, solver):
        return [Search()]
    return [Projective()] if name == "projective" else []
