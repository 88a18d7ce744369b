"""Which size every factor must have, and why: shapes inferred from the form, the data, the ranks and what is given.

Each factor has two dimensions. The form says which of them are equal (inner ones, neighbours in the product; outer ones, the
data's own), and each size that becomes known carries the reason for it, so that a contradiction can be explained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np

from ..algebra.expression import Letter
from ..exceptions import ShapeError
from ..model import Model

Dimension = tuple[str, int]
"""A factor's name and an axis: 0 for its rows, 1 for its columns."""


class _Sizes:
    """Dimensions that are equal, and the size of each class once it is known (union–find)."""

    def __init__(self, model: Model, shape: tuple[int, int]) -> None:
        self.model, self.shape = model, shape
        self.parent: dict[Dimension, Dimension] = {}
        self.size: dict[Dimension, tuple[int, str]] = {}

    def find(self, dimension: Dimension) -> Dimension:
        while (up := self.parent.setdefault(dimension, dimension)) != dimension:
            dimension = up
        return dimension

    def join(self, first: Dimension, second: Dimension) -> None:
        a, b = self.find(first), self.find(second)
        if a == b:
            return
        self.parent[b] = a
        if b in self.size:
            self.set(a, *self.size.pop(b))

    def set(self, dimension: Dimension, size: int, reason: str) -> None:
        root = self.find(dimension)
        known = self.size.get(root)
        if known is not None and known[0] != size:
            raise ShapeError(self._contradiction(known, (size, reason)))
        self.size.setdefault(root, (size, reason))

    def get(self, dimension: Dimension) -> int | None:
        known = self.size.get(self.find(dimension))
        return known[0] if known else None

    def _contradiction(self, known: tuple[int, str], other: tuple[int, str]) -> str:
        form = self.model.form
        message = (
            f"{form.text!r} cannot approximate {self.model.data} of shape {self.shape}: one dimension would have to be "
            f"{known[0]} ({known[1]}) and {other[0]} ({other[1]})."
        )
        if form == form.T and self.shape[0] != self.shape[1]:
            W = form[0].name
            message += f" For a rectangular {self.model.data}, write '{W} {W}.T {self.model.data}' or '{W} H'."
        return message


def _dimension(letter: Letter, axis: int) -> Dimension:
    """The dimension that stands left (0) or right (1) of a letter in a product."""
    return letter.name, axis if not letter.transposed else 1 - axis


def dimension_classes(model: Model) -> dict[Dimension, Dimension]:
    """For every dimension of a factor or of the data, one that stands for all that are equal to it by the form."""
    sizes, form, data = _Sizes(model, (0, 0)), model.form, model.data
    first, last = _dimension(form[0], 0), _dimension(form[-1], 1)
    if model.divergence.approximates:
        sizes.join((data, 0), first)
        sizes.join((data, 1), last)
    else:
        sizes.join(first, last)
    for left, right in pairwise(form):
        sizes.join(_dimension(left, 1), _dimension(right, 0))
    return {(name, axis): sizes.find((name, axis)) for name in (*form.names, data) for axis in (0, 1)}


def infer_shapes(
    model: Model,
    shape: tuple[int, int],
    rank: int | Sequence[int] | None,
    given: Mapping[str, tuple[int, int]],
) -> dict[str, tuple[int, int]]:
    """The shape of every factor of a model for data of a given shape.

    Parameters
    ----------
    rank : int, sequence of int, or None
        For the inner dimensions that nothing else fixes, in order of appearance; one int for all of them.
    given : dict of shapes
        Shapes of factors that come with a value.

    Notes
    -----
    Fixed factors leave fewer dimensions open. A learned factor that is given must agree with `rank` where there is one.
    """
    sizes, form, data = _Sizes(model, shape), model.form, model.data
    m, n = shape
    rows, columns = ("row" if m == 1 else "rows"), ("column" if n == 1 else "columns")
    sizes.set((data, 0), m, f"{data} has {m} {rows}")
    sizes.set((data, 1), n, f"{data} has {n} {columns}")
    first, last = _dimension(form[0], 0), _dimension(form[-1], 1)
    if model.divergence.approximates:
        sizes.set(first, m, f"{form[0]} comes first, and {data} has {m} {rows}")
        sizes.set(last, n, f"{form[-1]} comes last, and {data} has {n} {columns}")
    else:
        sizes.join(first, last)
    for left, right in pairwise(form):
        sizes.join(_dimension(left, 1), _dimension(right, 0))

    def set_given(names: Sequence[str]) -> None:
        for name in names:
            for axis, what in enumerate(("rows", "columns")):
                if name in given:
                    sizes.set((name, axis), given[name][axis], f"the {name} that is given has {given[name][axis]} {what}")

    set_given(model.fixed if rank is not None else [*model.fixed, *model.learned])
    inner = [_dimension(letter, 0) for letter in form[1:]]
    if not model.divergence.approximates:
        inner.insert(0, first)
    open_ = list(dict.fromkeys(sizes.find(d) for d in inner if sizes.get(d) is None))
    for dimension, size in zip(open_, _ranks(rank, open_, model), strict=True):
        sizes.set(dimension, size, f"rank = {size}")
    set_given(model.learned)
    inner_sizes = [sizes.get(dimension) for dimension in inner]
    if isinstance(rank, Integral) and not open_ and rank not in inner_sizes:
        raise ShapeError(
            f"rank = {rank} has nothing to say here: in the form {form.text!r} every inner dimension is fixed already"
            + (f", at {', '.join(map(str, inner_sizes))}" if inner else "")
            + ". Leave rank out."
            + (f" ({form.text!r} is one factor: a product is written with spaces, as in 'W H'.)" if len(form) == 1 else "")
        )

    shapes = {name: _shape(sizes, name) for name in form.names if name != data}
    for name, constraint in model.constraints.items():
        problem = constraint.problem_with(name, shapes[name])
        if problem:
            raise ShapeError(problem)
    return shapes


def _shape(sizes: _Sizes, name: str) -> tuple[int, int]:
    rows, columns = sizes.get((name, 0)), sizes.get((name, 1))
    if rows is None or columns is None:
        raise AssertionError("every dimension of a factor is an outer or an inner one")
    return rows, columns


def _ranks(rank: int | Sequence[int] | None, dimensions: list[Dimension], model: Model) -> list[int]:
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
