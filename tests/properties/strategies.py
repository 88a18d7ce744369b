"""What the properties are tried on: the divergences and forms of the papers, and random models of any form."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from nonneg import Model, Solution, factorize
from nonneg.algebra.expression import Letter, Word, parse
from nonneg.constraints import NAMES, Constraint, Free
from nonneg.divergences import Alpha, Beta, DualI, Gamma, Objective, Polynomial, Renyi
from nonneg.engine.shapes import infer_shapes
from nonneg.exceptions import ShapeError

DIVERGENCES = (
    *map(Beta, (2, 1, 0, 3, 1.5, 0.5, -1)),
    *map(Alpha, (0.5, 2, -1, 1.5)),
    *map(Gamma, (0.5, -0.5, 1, 0, -2)),
    *map(Renyi, (0.5, 2, 1)),
    DualI(),
    0.3 * Beta(1) + Beta(2),
    Alpha(0.5) + 2 * Beta(0),
    Polynomial([(1 / 4, 0, 4), (-1 / 3, 1, 3), (2, 0, 1), (-2, 1, 0)]),
)
FORMS = ("W H", "W S H", "W W.T X", "W B W.T", "W W.T", "L L.T X R R.T", "A W B W.T C")
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
    """A model, with the seed of its data and of a start."""

    model: Model
    shape: tuple[int, int]
    rank: tuple[int, ...]
    seed: int

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
        """A few sweeps of the multiplicative rules from `start`, or with whatever is changed."""
        arguments = {"X": self.X, "form": self.model, "init": self.start, "solver": "multiplicative", "max_iter": 4}
        return factorize(**{**arguments, "tol": 0, "check_every": 1, **changes})


@st.composite
def forms(draw: st.DrawFn, names: str = "WHSBX") -> Word:
    """One to five letters, any of them more than once or transposed, at least one of them not the data."""
    letters = st.lists(st.builds(Letter, st.sampled_from(names), st.booleans()), min_size=1, max_size=5)
    return Word(draw(letters.filter(lambda word: any(letter.name != "X" for letter in word))))


def fitting(model: Model, ranks: tuple[int, ...]) -> tuple[tuple[int, int], tuple[int, ...]]:
    """A shape of X and ranks that the form allows: X is square only where it must be."""
    for shape, count in product([(7, 5), (6, 6)], range(len(ranks) + 1)):
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
) -> Case:
    """Random models; `constraints` are those that a factor may have, where its shape allows."""
    word = draw(forms() if form is None else form)
    divergence = draw(st.sampled_from(divergences))
    shape, rank = fitting(Model(word, divergence), draw(st.sampled_from([(2, 3, 4, 8), (3, 3, 3, 3)])))
    chosen: dict[str, Constraint] = {}
    for name, dimensions in infer_shapes(Model(word, divergence), shape, rank, {}).items():
        possible = [NAMES[c] for c in constraints if NAMES[c].problem_with(name, dimensions) is None]
        may_be_signed = divergence.takes_signs and word.count(name) == 1
        chosen[name] = draw(st.sampled_from([Free(), *(c for c in possible if may_be_signed or not c.is_signed)]))
    if not any(constraint.is_learned for constraint in chosen.values()):
        chosen[next(iter(chosen))] = Free()
    return Case(Model(word, divergence, chosen), shape, rank, draw(st.integers(0, 999)))


def without(*parts: str) -> tuple[str, ...]:
    """The names of the constraints, less those that contain one of the given words."""
    return tuple(name for name in NAMES if not any(part in name for part in parts))


__all__ = ["DIVERGENCES", "FORMS", "MODELS", "Case", "cases", "fitting", "forms", "parse", "positive_data", "without"]
