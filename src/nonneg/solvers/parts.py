"""What coordinate descent needs to know of a factor's place in the product, as words, and how its rows are gone over.

For A F B these are Aᵀ A, B Bᵀ and Aᵀ X Bᵀ; for F Fᵀ B, X Bᵀ and B Bᵀ. The form is turned over where the factor stands last.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays.contraction import Multiply, canonical
from ..arrays.data import dense, row_blocks
from ..arrays.namespace import Array
from ..constraints import Entrywise
from ..expression import Letter, Word
from ..kernels.threads import in_threads, over_rows, suited_to
from ..problem import Point, Problem

_TINY = 1e-10
"""Entries below this share of the largest are taken for zero: what multiplicative steps leave of them."""
_NOTHING = np.empty((0, 0))
_SMALL = 2**20
"""Entries of a matrix that may be formed whatever the size of the data."""


class Settings(NamedTuple):
    """How far a sweep goes."""

    passes: int
    """How often a row is gone over, at most."""
    enough: float
    """The change, as a share of a row's largest entry, below which it is left."""
    keeps: bool
    """Whether the products that a sweep leaves are kept for the next one, rather than computed anew."""


def find_part(problem: Problem, factor: str) -> Part | None:
    """The part of a factor; None where the factor has none, because of where, or how often, it occurs."""
    form = problem.model.form
    if form.count(factor) == 1:
        is_turned = form[0].name != factor and form[-1].name == factor  # rows are independent where it stands first
        ((before, letter, after),) = (form.T if is_turned else form).around(factor)
        return Linear(problem, letter, is_turned, before, after)
    for word, is_turned in ((form, False), (form.T, True)):
        if form.count(factor) == 2 and len(word) > 1 and word[0].name == factor and word[1] == word[0].T:
            return Quadratic(problem, word[0], is_turned, word[:0], word[2:])
    return None


class Part(ABC):
    """A factor F within A F B, or F Fᵀ B, by its rows. F may be the transpose of what the user calls so."""

    needs_warmup = False

    def __init__(self, problem: Problem, letter: Letter, is_turned: bool, before: Word, after: Word) -> None:
        self.letter, self.F, self.A, self.B = letter, Word([letter]), before, after
        self.X = Word([Letter(problem.model.data, is_turned)])
        self.terms = problem.model.constraints[letter.name].entrywise or Entrywise()

    @property
    def is_by_columns(self) -> bool:
        """Whether what the constraint says is about the columns of F."""
        return (self.terms.axis == "columns") != self.letter.transposed

    @property
    def first_row(self) -> int:
        """The first row that is not given."""
        return 0 if self.is_by_columns else self.terms.given

    def options(self, settings: Settings) -> tuple[float, float, int, int, float]:
        """Price, overlap, the first column that is not given, passes, and what is enough, as the kernels take them."""
        first = self.terms.given if self.is_by_columns else 0
        return self.terms.price, self.terms.overlap, first, settings.passes, settings.enough

    def value(self, point: Point) -> Array:
        """A copy of F, each row in one piece."""
        return np.array(point.value(self.F), order="C")

    def replaced(self, point: Point, F: Array) -> Point:
        return point.with_factor(self.letter.name, F.T if self.letter.transposed else F)

    def obstacle(self, problem: Problem) -> str | None:
        """Why the part cannot be worked on, for want of memory; None where it can."""
        return None

    def warms_by_rows(self, point: Point) -> bool:
        """Whether `warmed` can be used."""
        return False

    @abstractmethod
    def step(self, point: Point, settings: Settings, generator: np.random.Generator) -> Point:
        """One sweep over the rows."""


class Linear(Part):
    """A F B: ½⟨Aᵀ A F B Bᵀ, F⟩ − ⟨Aᵀ X Bᵀ, F⟩."""

    def step(self, point: Point, settings: Settings, generator: np.random.Generator) -> Point:
        from ..kernels.coordinates import linear_rows

        F = self.value(point)
        P = _evaluated(point, self.A.T + self.A, np.float64) if self.A else _NOTHING
        Q = _evaluated(point, self.B + self.B.T, np.float64) if self.B else np.eye(F.shape[1])
        C = _evaluated(point, self.A.T + self.X + self.B.T)
        # A pass over the rows should cost no more than half of what the product with the non-zeros of X has; dense X has the same
        # number of them, and so of passes. The second pass of two is cheap, and makes more of a sweep where X is small.
        affordable = max(2, 1 + int(point.problem.data.non_zeros / (2 * F.size)))
        arguments = (F, P, Q, C, *self.options(settings._replace(passes=min(settings.passes, affordable))))
        if self.A:  # rows depend on each other, and are taken one after the other
            linear_rows(self.first_row, F.shape[0], *arguments)
        else:
            over_rows(lambda start, stop, *rest: linear_rows(max(start, self.first_row), stop, *rest), F.shape[0], *arguments)
        return self.replaced(point, F)


class Quadratic(Part):
    """F Fᵀ B: −⟨C, F Fᵀ⟩ + ½⟨Fᵀ Q F, Fᵀ F⟩ with C = X Bᵀ and Q = B Bᵀ."""

    needs_warmup = True

    def __init__(self, problem: Problem, letter: Letter, is_turned: bool, before: Word, after: Word) -> None:
        super().__init__(problem, letter, is_turned, before, after)
        F, B = self.F, self.B
        self.C, self.Q = self.X + B.T, B + B.T
        self.BF, self.CF, self.FCF, self.FF = B.T + F, self.C + F, F.T + self.C + F, F.T + F
        self.is_same = canonical(self.C)[0] == canonical(self.Q)[0]
        self.is_factored = self._leaves_gram(problem)
        self._constant: Array | None = None
        self._has_zeros = False

    def _leaves_gram(self, problem: Problem) -> bool:
        """Whether C = Q = X Xᵀ is left as it is, because to form it would cost more time, or memory, than it saves."""
        if not self.is_same or len(self.B) > 1 or canonical(self.C)[0] in problem.known:
            return False
        steps = problem.program((self.CF,), frozenset(problem.known), False)
        return not any(isinstance(step, Multiply) and canonical(step.result)[0] == canonical(self.C)[0] for step in steps)

    def obstacle(self, problem: Problem) -> str | None:
        rows, columns = problem.shapes[self.letter.name][:: -1 if self.letter.transposed else 1]
        if (
            self.is_factored
            or not self.B
            or canonical(self.C)[0] in problem.known
            or rows * rows <= max(problem.data.non_zeros, rows * columns, _SMALL)
        ):
            return None
        return f"{self.C} would have to be formed, {rows} × {rows}, which is larger than the data"

    def _trim(self, point: Point) -> None:
        """Keep only products that a sweep needs, where rows are many, and others as long as F."""
        if self.is_factored:
            for word in (self.BF, self.FF):
                point.product(word)
            point.forget_all_but(self.BF, self.FF, self.FCF)

    def step(self, point: Point, settings: Settings, generator: np.random.Generator) -> Point:
        self._trim(point)
        F = self.value(point)
        if not self._has_zeros:
            least = _TINY * F.max()
            F[least > F] = 0.0
            self._has_zeros = True
        order = _order(generator, self.first_row, F.shape[0])
        gram = np.array(_evaluated(point, self.FF), dtype=np.float64)
        kept = self._sweep(point, F, gram, order, self.options(settings))
        point = self.replaced(point, F)
        if settings.keeps:
            for word, product in (kept | {self.FF: gram}).items():
                point.keep(word, product)
        return point

    def warms_by_rows(self, point: Point) -> bool:
        return self.is_factored and self.terms == Entrywise() and not sparse.issparse(point.value(self.B))

    def warmed(self, point: Point) -> Point | None:
        """F ∘ 2KF/(F FᵀKF + KF FᵀF), PNMF Eq. 20, and F at its best scale, √(tr FᵀKF / tr FᵀKF FᵀF), PNMF Eq. 21; K = X Xᵀ.

        None where the objective would rise, which this rule does not exclude.
        """
        self._trim(point)
        F, X, Y = self.value(point), point.value(self.B), _evaluated(point, self.BF)
        B, G = _inner(point, self.BF, self.BF, self.FCF).astype(F.dtype), _evaluated(point, self.FF)
        before = self._value(F, B, G)
        info = np.finfo(F.dtype)
        for rows in row_blocks(X.shape[0], X.shape[1], "cpu"):
            KF = X[rows] @ Y
            F[rows] *= np.clip(2 * KF / np.maximum(F[rows] @ B + KF @ G, info.smallest_normal / info.eps), 0.0, 1 / info.eps)
        np.maximum(F, info.eps**2 * F.max(), out=F)
        Y, G = X.T @ F, F.T @ F
        B = Y.T @ Y
        scale = np.sqrt(np.trace(B) / np.sum(B * G))
        F *= scale
        if not self._value(F, B * scale**2, G * scale**2) <= before:
            return None
        point = self.replaced(point, F)
        for word, product in ((self.BF, Y * scale), (self.FF, G * scale**2), (self.FCF, B * scale**2)):
            point.keep(word, product)
        return point

    def _sweep(self, point: Point, F: Array, G: Array, order: Array, options: tuple[Any, ...]) -> dict[Word, Array]:
        """Go over the rows of F, in place; the products that are known afterwards."""
        if self.is_factored:
            X = point.value(self.B)
            return (
                self._over_sparse(point, X, F, G, order, options)
                if sparse.issparse(X)
                else self._over_rows(point, X, F, G, order, options)
            )
        if not self.B or (self.is_same and canonical(self.C)[0] in point.known):
            C = point.value(self.C)
            if sparse.issparse(C):
                return self._over_sparse(point, C if self.is_same else self._symmetric(point), F, G, order, options)
        return self._over_gram(point, F, G, order, options)

    def _over_gram(self, point: Point, F: Array, G: Array, order: Array, options: tuple[Any, ...]) -> dict[Word, Array]:
        from ..kernels.coordinates import quadratic_gram

        C = _evaluated(point, self.C) if self.is_same else self._symmetric(point)
        CF = np.array(_evaluated(point, self.CF).T, order="C") if self.is_same else np.ascontiguousarray((C @ F).T)
        if self.is_same:
            B = np.array(_inner(point, self.F, self.CF, self.FCF))
            quadratic_gram(order, F, CF, _NOTHING.astype(F.dtype), B, G, C, C, *options)
            return {self.CF: CF.T, self.FCF: B}
        Q = _evaluated(point, self.Q) if self.B else np.empty((0, 0), dtype=F.dtype)
        QF = np.ascontiguousarray((Q @ F).T) if self.B else np.empty((1, 1), dtype=F.dtype)
        B = (QF @ F).astype(np.float64) if self.B else G.copy()
        quadratic_gram(order, F, CF, QF, B, G, C, Q, *options)
        return {}

    def _symmetric(self, point: Point) -> Array:
        """C with its transpose averaged, which is all that ⟨C, F Fᵀ⟩ depends on."""
        if self._constant is None or self.B:
            C = point.product(self.C)
            if sparse.issparse(C) and not self.B:
                self._constant = C if not (C != C.T).nnz else ((C + C.T) / 2).tocsr()
            else:
                C = dense(C)
                self._constant = C if np.array_equal(C, C.T) else (C + C.T) / 2
        return self._constant

    def _over_rows(self, point: Point, X: Array, F: Array, G: Array, order: Array, options: tuple[Any, ...]) -> dict[Word, Array]:
        Y = np.array(_evaluated(point, self.BF), order="C")
        B = np.array(_inner(point, self.BF, self.BF, self.FCF))
        if len(order) >= _MANY:
            after = _in_lanes(order, F, Y, B, G, X, options)
            if self._value(F, *after[1:]) <= self._value(point.value(self.F), B, G):
                Y, B, G[:] = after
                return {self.BF: Y, self.FCF: B}
            F[:] = point.value(self.F)  # lanes were in each other's way: one after the other, nothing rises
        _over_lane(order, F, Y, B, G, X, options)
        return {self.BF: Y, self.FCF: B}

    def _value(self, F: Array, B: Array, G: Array) -> float:
        """The objective but for a constant."""
        price, overlap = self.terms.price * F.sum(), self.terms.overlap / 2 * (np.square(F.sum(axis=1)).sum() - np.trace(G))
        return float(np.sum(B * G) / 2 - np.trace(B) + price + overlap)

    def _over_sparse(self, point: Point, X: Any, F: Array, G: Array, order: Array, options: tuple[Any, ...]) -> dict[Word, Array]:
        from ..kernels.coordinates import quadratic_sparse

        is_gram, is_identity = not self.is_factored, not self.B
        rows = X.tocsr()
        Z = F if is_gram else np.array(_evaluated(point, self.BF), order="C")
        B = G.copy() if is_identity else np.array(_inner(point, *((self.F, self.CF) if is_gram else (self.BF, self.BF)), self.FCF))
        quadratic_sparse(order, F, Z, B, G, rows.indptr, rows.indices, rows.data, is_gram, is_identity, *options)
        kept = {} if is_gram else {self.BF: Z}
        return kept if is_identity else kept | {self.FCF: B}


def _evaluated(point: Point, word: Word, dtype: Any = None) -> Array:
    value = dense(point.product(word))
    return value if dtype is None else value.astype(dtype, copy=False)


def _inner(point: Point, left: Word, right: Word, product: Word) -> Array:
    """The product of two tall matrices, leftᵀ · right, in double precision, unless it is kept."""
    if canonical(product)[0] in point.known:
        return point.value(product)
    return _evaluated(point, left, np.float64).T @ _evaluated(point, right, np.float64)


_BLOCK = 32
_MANY = 8192
"""So many rows are worth more than one thread."""
_LANES, _ROUNDS = 4, 50


def _order(generator: np.random.Generator, first: int, stop: int) -> Array:
    """Rows in random order; many, in blocks of neighbours, which share cache lines where X is stored by columns."""
    block = 1 if stop - first < _MANY else _BLOCK
    rows = (generator.permutation(np.arange(first, stop, block))[:, None] + np.arange(block)).ravel()
    return rows[rows < stop]


def _over_lane(order: Array, F: Array, Y: Array, B: Array, G: Array, X: Array, options: tuple[Any, ...]) -> None:
    from ..kernels.coordinates import quadratic_rows

    quadratic_rows(order, F, Y, B, G, X, *options)


def _in_lanes(
    order: Array, F: Array, Y: Array, B: Array, G: Array, X: Array, options: tuple[Any, ...]
) -> tuple[Array, Array, Array]:
    """A sweep in which a few lanes at a time work on rows of their own, from the same Y, B and G; these after it.

    The number of lanes does not depend on that of threads, so neither does the result.
    """
    from ..kernels.coordinates import quadratic_rows

    def work(rows: slice) -> tuple[Array, Array]:
        own_Y, own_G = Y.copy(), G.copy()
        quadratic_rows(order[rows], F, own_Y, B.copy(), own_G, X, *options)
        own_Y -= Y
        own_G -= G
        return own_Y, own_G

    Y, G = Y.copy(), G.copy()
    with suited_to(0):  # threads are for lanes here, not for products
        cuts = np.linspace(0, len(order), _ROUNDS * _LANES + 1).astype(int).tolist()
        pieces = [slice(start, stop) for start, stop in pairwise(cuts)]
        for first in range(0, len(pieces), _LANES):
            for more_Y, more_G in in_threads(work, pieces[first : first + _LANES]):
                Y += more_Y
                G += more_G
            B = (Y.T @ Y).astype(np.float64)
    return Y, B, G
