"""The signature of a problem: model, shapes and the profile of the data. Solver, starts and plans are chosen by it alone.

Shapes of factors follow from the form, the data, the rank and given factors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np

from ..algebra.expression import Letter, Word, gram_of
from ..data import Data
from ..data.profile import Profile
from ..exceptions import ShapeError
from ..kernels.tuned import tuned
from ..model import Model
from ..planning import Costs, canonical
from ..planning.planner import COLUMNS, ROWS, Planner, planner_of
from ..planning.plans import low_rank

HORIZON = tuned(100, by="iteration", on="2026-11-15")
"""Iterations in which forming a constant product, such as X Xᵀ, must pay for itself."""
FORMED = tuned(8, by="iteration", on="2026-11-16")
"""Rows of a Gram matrix per component up to which it is formed for data out of core: no larger than a sketch."""


@dataclass(frozen=True, eq=False)
class Signature:
    """Model, shapes of the factors, and profile of the data.

    Parameters
    ----------
    model : Model
    data : Profile
    shapes : dict
        Rows and columns of every factor.
    fixed_sizes : dict
        Stored entries of fixed factors that are sparse.
    horizon : int
        Iterations to expect; at most `HORIZON` count.
    is_filled : bool
        Whether missing entries of X are filled by the approximation.
    has_weights : bool
        Whether the user gave weights, which may have been taken into the data.
    """

    model: Model
    data: Profile
    shapes: Mapping[str, tuple[int, int]]
    fixed_sizes: Mapping[str, float] = field(default_factory=dict)
    horizon: int = HORIZON
    is_filled: bool = False
    has_weights: bool = False
    _derived: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        model: Model,
        data: Data,
        shapes: Mapping[str, tuple[int, int]],
        fixed: Mapping[str, Any] | None = None,
        horizon: int = HORIZON,
        *,
        is_filled: bool = False,
        has_weights: bool = False,
    ) -> Signature:
        """The signature of a model for data, with the given values of fixed factors."""
        fixed_sizes = {name: float(matrix.nnz) for name, matrix in (fixed or {}).items() if hasattr(matrix, "nnz")}
        profile = Profile.of(data)
        model = model.with_weights() if profile.weighted else model
        return cls(model, profile, dict(shapes), fixed_sizes, horizon, is_filled, has_weights or profile.weighted)

    @property
    def rank(self) -> int:
        """The smallest dimension of a learned factor."""
        return min((min(self.shapes[name]) for name in self.model.learned), default=1)

    @cached_property
    def planner(self) -> Planner:
        """The plans of all products."""
        model, data, X = self.model, self.data, Letter(self.model.data)
        of_data = [model.data, model.data + "⁺", model.data + "⁻"]
        operands = frozenset(model.middles.operands)
        m, n = data.shape
        shapes = {**self.shapes, **dict.fromkeys([*of_data, *operands], (m, n)), ROWS: (m, 1), COLUMNS: (n, 1)}
        constant = frozenset(shapes) - set(model.learned) - operands
        constant |= {name for name, (whole, _) in model.products.items() if constant.issuperset(whole.names)}
        sides = [s for s in sorted(data.one_pass_grams) if data.out_of_core and data.shape[1 if s else 0] > FORMED * self.rank]
        is_gram = not math.isinf(data.gram_size)
        of_products = Costs(shapes, {}, constant, model.form)
        shapes |= {name: of_products.shape(whole) for name, (whole, _) in model.products.items()}
        costs = Costs(
            shapes=shapes,
            signed_parts=model.products,
            # Non-zeros, whether zeros are stored or not: dense and sparse X are to have the same plans.
            sizes=dict.fromkeys(of_data, math.inf if is_gram else float(data.non_zeros)) | {**self.fixed_sizes},
            constant=constant,
            operands=operands,
            product=model.form,
            data=frozenset(of_data),
            # Gram matrices multiplied without being formed, and the entries that such a product reads.
            grams={gram_of(X, False): data.gram_size} if is_gram else {gram_of(X, side): 2.0 * data.non_zeros for side in sides},
            unformed=frozenset(gram_of(X, side) for side in (False, True) if side not in data.one_pass_grams),
            sums_in_double=data.is_single,
            horizon=max(min(self.horizon, HORIZON), 1),
            largest=float(max(data.non_zeros, *(rows * columns for rows, columns in self.shapes.values()))),
        )
        formed = frozenset(canonical(gram_of(X, side))[0] for side in data.formed_grams)
        return planner_of(model.words, costs, formed)

    def divide(self, word: Word) -> tuple[Word, Word]:
        """Cut a form at its narrowest place."""
        return low_rank(word, {**self.shapes, self.model.data: self.data.shape})

    def derived(self, make: Callable[[Signature], Any]) -> Any:
        """The result of a function of the signature, computed once."""
        if make not in self._derived:
            self._derived[make] = make(self)
        return self._derived[make]


# ---- shapes

Dimension = tuple[str, int]
"""A factor's name and an axis: 0 for its rows, 1 for its columns."""


class _Sizes:
    """Classes of equal dimensions (union–find), with the size of each and the reason for it, which messages name."""

    def __init__(self, model: Model, shape: tuple[int, int] | None = None) -> None:
        self.model, self.shape = model, shape
        self.known: dict[Dimension, tuple[int, str]] = {}
        self._parent: dict[Dimension, Dimension] = {}
        form = model.form
        first, last = form[0].dimension(0), form[-1].dimension(1)
        equal = [(left.dimension(1), right.dimension(0)) for left, right in pairwise(form)]
        if not model.divergence.approximates:
            equal.insert(0, (first, last))
        elif shape is None:
            equal = [((model.data, 0), first), ((model.data, 1), last), *equal]
        for one, other in equal:
            a, b = self.find(one), self.find(other)
            if a != b:
                self._parent[b] = a

    def find(self, dimension: Dimension) -> Dimension:
        """The representative of a class."""
        while (up := self._parent.setdefault(dimension, dimension)) != dimension:
            dimension = up
        return dimension

    def set(self, dimension: Dimension, size: int, reason: str) -> None:
        """Set the size of a dimension; an error if it has another."""
        known, why = self.known.setdefault(self.find(dimension), (size, reason))
        if known == size:
            return
        form, shape = self.model.form, self.shape or (0, 0)
        message = (
            f"{form.text!r} cannot approximate {self.model.data} of shape {shape}: one dimension would have to be "
            f"{known} ({why}) and {size} ({reason})."
        )
        if form == form.T and shape[0] != shape[1]:
            W = form[0].name
            message += f" For a rectangular {self.model.data}, write '{W} {W}.T {self.model.data}' or '{W} H'."
        raise ShapeError(message)

    def set_given(self, names: Sequence[str], given: Mapping[str, tuple[int, int]]) -> None:
        """Set the sizes of given factors."""
        for name in names:
            if name in given:
                for axis, noun in enumerate(("rows", "columns")):
                    size = given[name][axis]
                    self.set((name, axis), size, f"the {name} that is given has {size} {noun}")


def dimension_classes(model: Model) -> dict[Dimension, Dimension]:
    """The representative of each dimension of a factor or of the data, by the form."""
    sizes = _Sizes(model)
    return {(name, axis): sizes.find((name, axis)) for name in (*model.form.names, model.data) for axis in (0, 1)}


def component_axes(model: Model) -> dict[str, int]:
    """The axis of each learned factor that has a place for each component."""
    classes = dimension_classes(model)
    outer = {classes[model.data, 0], classes[model.data, 1]}
    return {name: axis for name in model.learned for axis in (0, 1) if classes[name, axis] not in outer}


def infer_shapes(
    model: Model, shape: tuple[int, int], rank: int | Sequence[int] | None, given: Mapping[str, tuple[int, int]]
) -> dict[str, tuple[int, int]]:
    """The shape of every factor of a model.

    Parameters
    ----------
    model : Model
    shape : tuple of int
        Of the data.
    rank : int, sequence of int, or None
        For the open inner dimensions, in order of appearance; one int for all of them.
    given : dict of shapes
        Shapes of given factors. A learned one must agree with `rank`; a fixed one closes inner dimensions.
    """
    sizes, form, data = _Sizes(model, shape), model.form, model.data
    m, n = shape
    rows, columns = f"{data} has {m} {'row' if m == 1 else 'rows'}", f"{data} has {n} {'column' if n == 1 else 'columns'}"
    sizes.set((data, 0), m, rows)
    sizes.set((data, 1), n, columns)
    if model.divergence.approximates:
        sizes.set(form[0].dimension(0), m, f"{form[0]} comes first, and {rows}")
        sizes.set(form[-1].dimension(1), n, f"{form[-1]} comes last, and {columns}")
    sizes.set_given(model.fixed if rank is not None else [*model.fixed, *model.learned], given)
    inner = [sizes.find(letter.dimension(0)) for letter in form[1 if model.divergence.approximates else 0 :]]
    open_ = [dimension for dimension in dict.fromkeys(inner) if dimension not in sizes.known]
    for dimension, size in zip(open_, _ranks(rank, open_, model), strict=True):
        sizes.set(dimension, size, f"rank = {size}")
    sizes.set_given(model.learned, given)
    inner_sizes = [sizes.known[dimension][0] for dimension in inner]
    if isinstance(rank, Integral) and not open_ and rank not in inner_sizes:
        raise ShapeError(
            f"rank = {rank} has nothing to say here: in the form {form.text!r} every inner dimension is fixed already"
            + (f", at {', '.join(map(str, inner_sizes))}" if inner else "")
            + ". Leave rank out."
            + (f" ({form.text!r} is one factor: a product is written with spaces, as in 'W H'.)" if len(form) == 1 else "")
        )
    shapes = {name: (sizes.known[sizes.find((name, 0))][0], sizes.known[sizes.find((name, 1))][0]) for name in form.names}
    shapes.pop(data, None)
    for name, constraint in model.constraints.items():
        problem = constraint.problem_with(name, shapes[name])
        if problem:
            raise ShapeError(problem)
    return shapes


def _ranks(rank: int | Sequence[int] | None, dimensions: list[Dimension], model: Model) -> list[int]:
    """The open inner dimensions, checked: one number each."""
    where = ", ".join(f"{'columns' if axis else 'rows'} of {name}" for name, axis in dimensions)
    if rank is None and not dimensions:
        return []
    if rank is None:
        raise ShapeError(
            f"The form {model.form.text!r} leaves {len(dimensions)} inner dimension{'s' * (len(dimensions) > 1)} open "
            f"({where}): give rank=, or starting factors whose shapes say it."
        )
    ranks: Sequence[Any] = [rank] * max(len(dimensions), 1) if isinstance(rank, Integral) else rank  # type: ignore[assignment]
    if isinstance(ranks, str) or np.ndim(ranks) != 1:
        raise ShapeError(f"rank must be an int, or one int for each inner dimension ({where}); got {rank!r}.")
    if not dimensions and len(ranks) and not isinstance(rank, Integral):
        raise ShapeError(
            f"rank gives {len(ranks)} numbers, but in the form {model.form.text!r} every inner dimension is fixed already. "
            "Leave rank out."
        )
    if len(ranks) != len(dimensions) and not isinstance(rank, Integral):
        raise ShapeError(
            f"rank gives {len(ranks)} numbers, but the form {model.form.text!r} has {len(dimensions)} inner dimension"
            f"{'s' * (len(dimensions) > 1)} to choose: {where}."
        )
    for number in ranks:
        if not isinstance(number, Integral) or isinstance(number, bool):
            raise ShapeError(f"rank must be an int, or one int for each inner dimension ({where}); got {rank!r}.")
        if number < 1:
            raise ShapeError(f"rank must be at least 1; got {number}.")
    return [int(number) for number in ranks[: len(dimensions)]]
