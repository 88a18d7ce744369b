"""Data of the property tests: the divergences and forms of the papers, and random models of any form."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from nonneg import Model, Solution, factorize
from nonneg.algebra.expression import Letter, Word, parse
from nonneg.constraints import NAMES, Constraint, Free
from nonneg.divergences import FAMILIES, Alpha, Beta, Objective
from nonneg.exceptions import ShapeError
from nonneg.solve.problem import bind
from nonneg.solve.signature import infer_shapes
from nonneg.solvers import NAMES as ALL_SOLVERS
from nonneg.solvers import get_solver

DIVERGENCES = (
    *(example for family in FAMILIES for example in family.examples()),
    0.3 * Beta(1) + Beta(2),
    Alpha(0.5) + 2 * Beta(0),
)
FORMS = ("W H", "W S H", "W W.T X", "W B W.T", "W W.T", "L L.T X R R.T", "A W B W.T C")
ONCE_OR_TWICE = ("W H", "W S H", "W W.T X", "X W W.T", "W W.T", "X W H", "L L.T X R R.T", "W.T", "H.T S.T X")
"""In which every factor occurs once, or as F Fᵀ."""
ONCE = ("W H", "W S H", "X W H", "H.T S.T X")
SOLVERS = ("auto", *(name for name in ALL_SOLVERS if name != "least-squares"))
"""Solvers that promise descent."""
AT_ONCE = ("adaptive", "quasi-newton", "multiplicative")
"""Those that move all entries of a factor at once, so that their order does not matter."""
SWEEPS = {"multiplicative": 4, "adaptive": 4}
"""The other solvers begin with ten sweeps of these: 14 are past them."""
OUTER = {"A": "fixed", "C": "fixed"}
MODELS = tuple((form, constraints) for form, constraints in [*((form, {}) for form in FORMS), ("A W B W.T C", OUTER)])
"""Every form with all of it learned, and the general one with A and C given."""


def positive_data(shape: tuple[int, int], divergence: Objective, seed: int, density: float = 0.6) -> np.ndarray:
    """Random data with zeros where the divergence allows them, but with no row or column of zeros."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(0.1, 1.1, shape)
    i, j = np.indices(shape)
    kept = (generator.random(shape) < density) | (i == j % shape[0]) | (j == i % shape[1])
    return X if divergence.requires_positive_data else np.where(kept, X, 0.0)


@dataclass(frozen=True)
class Case:
    """A model, with the seed of its data and of a start, and a solver that can be used."""

    model: Model
    shape: tuple[int, int]
    rank: tuple[int, ...]
    seed: int
    solver: str = "multiplicative"

    @cached_property
    def X(self) -> np.ndarray:
        return positive_data(self.shape, self.model.divergence, self.seed)

    @cached_property
    def shapes(self) -> dict[str, tuple[int, int]]:
        return infer_shapes(self.model, self.shape, self.rank, {})

    @cached_property
    def start(self) -> dict[str, np.ndarray]:
        generator = np.random.default_rng(self.seed + 1)
        drawn = {name: generator.uniform(0.1, 1.1, shape) for name, shape in self.shapes.items()}
        return {name: self.model.constraints[name].restore(np, factor) for name, factor in drawn.items()}

    def solve(self, **changes: Any) -> Solution:
        """A few sweeps from `start`, or with whatever is changed."""
        arguments = {"X": self.X, "form": self.model, "init": self.start, "solver": self.solver, "tol": 0, "check_every": 1}
        return factorize(**{**arguments, "max_iter": SWEEPS.get(changes.get("solver", self.solver), 14), **changes})

    def allows(self, solver: str) -> bool:
        """Whether nothing in the model is an obstacle to a solver."""
        return solver == "auto" or get_solver(solver).obstacle(bind(self.model, self.X, None, self.start).signature) is None


@st.composite
def short_forms(draw: st.DrawFn) -> Word:
    """One to four letters, any of them transposed: one to three learned factors, and X or not."""
    names = draw(st.lists(st.sampled_from("WHSX"), min_size=1, max_size=4).filter(lambda names: set(names) != {"X"}))
    return Word(Letter(name, draw(st.booleans())) for name in names)


@st.composite
def forms(draw: st.DrawFn, names: str = "WHSBX") -> Word:
    """One to five letters, any of them more than once or transposed, at least one of them not the data."""
    letters = st.lists(st.builds(Letter, st.sampled_from(names), st.booleans()), min_size=1, max_size=5)
    return Word(draw(letters.filter(lambda word: any(letter.name != "X" for letter in word))))


SHAPES = ((7, 5), (6, 6))


def fitting(
    model: Model, ranks: tuple[int, ...], shapes: Sequence[tuple[int, int]] = SHAPES
) -> tuple[tuple[int, int], tuple[int, ...]]:
    """The first shape of X, with ranks, that the form allows: X is square only where it must be."""
    for shape, count in product(shapes, range(len(ranks) + 1)):
        with suppress(ShapeError):
            infer_shapes(model, shape, ranks[:count], {})
            return shape, ranks[:count]
    raise AssertionError(f"no shape fits {model!r}")


@st.composite
def cases(
    draw: st.DrawFn,
    form: st.SearchStrategy[Word] | None = None,
    divergences: tuple[Objective, ...] = DIVERGENCES,
    constraints: tuple[str, ...] = tuple(NAMES),
    solvers: tuple[str, ...] = SOLVERS,
) -> Case:
    """Random models; `constraints` are those that a factor may have, where its shape allows.

    The solver is one of `solvers`; the first of them where there is an obstacle to the one that is drawn. Few models suit
    coordinate descent and Newton's method: where these are drawn, and half of the time for "auto", the model is such.
    """
    solver = draw(st.sampled_from(solvers))
    is_quadratic = solver == "coordinate" or (solver == "auto" and draw(st.booleans()))
    by_entries = is_quadratic or solver == "newton"
    suited = ONCE if solver == "newton" else ONCE_OR_TWICE
    word = draw(st.sampled_from(suited).map(parse) if by_entries and form is None else forms() if form is None else form)
    divergence = draw(st.sampled_from([d for d in divergences if d == Beta(2) or not is_quadratic] or divergences))
    shape, rank = fitting(Model(word, divergence), draw(st.sampled_from([(2, 3, 4, 8), (3, 3, 3, 3)])))
    chosen: dict[str, Constraint] = {}
    for name, dimensions in infer_shapes(Model(word, divergence), shape, rank, {}).items():
        possible = [NAMES[c] for c in constraints if NAMES[c].problem_with(name, dimensions) is None]
        if not divergence.takes_signs or word.count(name) != 1:
            possible = [c for c in possible if not c.is_signed]
        if by_entries:
            possible = [c for c in possible if c.entrywise is not None or not c.is_learned]
        chosen[name] = draw(st.sampled_from([Free(), *possible]))
    if not any(constraint.is_learned for constraint in chosen.values()):
        chosen[next(iter(chosen))] = Free()
    case = Case(Model(word, divergence, chosen), shape, rank, draw(st.integers(0, 999)))
    return replace(case, solver=solver if case.allows(solver) else solvers[0])


def without(*parts: str) -> tuple[str, ...]:
    """The names of the constraints, less those that contain one of the given words."""
    return tuple(name for name in NAMES if not any(part in name for part in parts))


__all__ = [
    "AT_ONCE",
    "DIVERGENCES",
    "FORMS",
    "MODELS",
    "SOLVERS",
    "SWEEPS",
    "Case",
    "cases",
    "fitting",
    "forms",
    "parse",
    "positive_data",
    "short_forms",
    "without",
]
