"""The subproblem of one factor in coordinate descent: its products, as words, and the sweep over its rows.

For A F R these are Aᵀ A, R Rᵀ and Aᵀ X Rᵀ; for F Fᵀ R, C = X Rᵀ and Q = R Rᵀ. The form is transposed for a factor that stands last:
X W Wᵀ becomes W Wᵀ Xᵀ, so that F is W, R is Xᵀ, and both C and Q are Xᵀ X.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from ...algebra.expression import Letter, Word
from ...constraints import Entrywise
from ...data import Sweep
from ...data.weighted import share_with_weights
from ...kernels.host import as_type, inner, is_small, multiplied_in_double, quadratic_value
from ...kernels.namespace import Array
from ...kernels.threads import over_rows
from ...kernels.tuned import tuned
from ...planning import canonical
from ..exact import solved
from ..point import Point
from ..signature import Signature

_TINY = 1e-10
"""Entries below this share of the largest become zero: multiplicative steps cannot reach it."""
_CANCELLED = 1e-4
"""A sweep that leaves less than this share of FᵀF, as from a start far too large, leaves products that have lost digits."""
_NOTHING = np.empty((0, 0))
_SMALL = tuned(2**20, by="dense", on="2026-11-15")
"""Entries of a matrix that may be formed whatever the size of the data."""
_BLOCK, _MANY = tuned((32, 8192), by="dense", on="2026-11-19")
"""Neighbouring rows that stay together in a random order, and rows from which they do."""


class Settings(NamedTuple):
    """Settings of one sweep."""

    passes: int
    """Visits of a row, at most."""
    enough: float
    """Change, as a share of a row's largest entry, below which the row is left."""
    keeps: bool
    """Whether the next sweep goes on with the products that this one leaves, rather than computing them anew."""
    cuts: bool = False
    """Whether tiny entries become zero first."""


def subproblems(signature: Signature) -> dict[str, Subproblem | None]:
    """The subproblem of each learned factor; None for a factor that occurs too often, or in the wrong place."""
    model, form = signature.model, signature.model.form
    found: dict[str, Subproblem | None] = dict.fromkeys(model.learned)
    for factor in model.learned:
        count, ends = form.count(factor), [(w, turned) for w, turned in ((form, False), (form.T, True)) if w[0].name == factor]
        if model.weighted:  # rows of a factor are independent only if it occurs once, at an end of the form
            for word, is_turned in ends if count == 1 and len(form) > 1 else ():
                found[factor] = Weighted(signature, word[0], is_turned, word[:0], word[1:])
        elif model.constraints[factor].is_signed:
            found[factor] = Signed(signature, Letter(factor), False, form[:0], form[:0])
        elif count == 1:
            is_turned = form[0].name != factor and form[-1].name == factor  # rows are independent if it stands first
            ((before, letter, after),) = (form.T if is_turned else form).around(factor)
            found[factor] = Linear(signature, letter, is_turned, before, after)
        elif count == 2:
            pairs = (end for end in ends if len(form) > 1 and end[0][1] == end[0][0].T)
            found[factor] = next((Quadratic(signature, w[0], is_turned, w[:0], w[2:]) for w, is_turned in pairs), None)
    return found


class Subproblem(ABC):
    """The minimum over F in A F B, or F Fᵀ B, row by row. F may be the transpose of the user's factor."""

    needs_warmup = False
    is_shuffled = False
    """Whether rows are gone over in random order."""

    def __init__(self, signature: Signature, letter: Letter, is_turned: bool, before: Word, after: Word) -> None:
        self.letter, self.F, self.before, self.after, self.is_turned = letter, Word([letter]), before, after, is_turned
        self.X = Word([Letter(signature.model.data, is_turned)])
        """The data, turned over with the form: Xᵀ for X W Wᵀ."""
        self.terms = signature.model.constraints[letter.name].entrywise or Entrywise()
        self.is_by_columns = (self.terms.axis == "columns") != letter.transposed
        """Whether the constraint is about the columns of F."""
        self.first_row = 0 if self.is_by_columns else self.terms.given
        """The first row that is not given."""

    def options(self, settings: Settings) -> tuple[float, float, int, int, float]:
        """Penalty, overlap, the first column that is not given, passes, and tolerance, as the kernels take them."""
        first = self.terms.given if self.is_by_columns else 0
        return self.terms.penalty, self.terms.overlap, first, settings.passes, settings.enough

    def value(self, point: Point) -> Array:
        """A copy of F, each row in one piece."""
        return np.array(point.value(self.F), order="C")

    def replaced(self, point: Point, F: Array) -> Point:
        return point.with_factor(self.letter.name, F.T if self.letter.transposed else F)

    def obstacle(self, signature: Signature) -> str | None:
        """The reason why the factor has no exact step; None if it has."""
        return None

    def obstacle_of_ridge(self) -> str | None:
        """The reason why a penalty on squares has no exact step here, if there is one."""
        return f"{self.letter.name} has a penalty on its squares" if self.terms.ridge else None

    @abstractmethod
    def step(self, point: Point, settings: Settings, generator: np.random.Generator | None) -> Point:
        """One sweep over the rows, shuffled by the generator if there is one."""


class Linear(Subproblem):
    """A F B: ½⟨P F Q, F⟩ − ⟨C, F⟩ with P = Aᵀ A, Q = B Bᵀ and C = Aᵀ X Bᵀ."""

    def __init__(self, signature: Signature, letter: Letter, is_turned: bool, before: Word, after: Word) -> None:
        super().__init__(signature, letter, is_turned, before, after)
        self.P, self.Q, self.C = before.T + before, after + after.T, before.T + self.X + after.T
        self.is_alone = not before and len(signature.model.learned) == 1
        """Whether nothing else is learned: few sweeps, not worth a compilation if F is small."""

    def obstacle(self, signature: Signature) -> str | None:
        if any(word and signature.planner.is_implicit(word) for word in (self.P, self.Q)):
            return f"the Gram matrix of the data beside {self.letter.name} is not formed"
        return self.obstacle_of_ridge() if self.before else None

    def step(self, point: Point, settings: Settings, generator: np.random.Generator | None) -> Point:
        from ...kernels.coordinates import linear_rows, linked_rows

        F = self.value(point)
        P, Q, C = self._products(point, F)
        C = as_type(C, F.dtype)
        options = self.options(settings._replace(passes=min(settings.passes, _affordable(point, F))))
        if self.is_alone and F.size <= _NOT_COMPILED:
            _by_columns(F[self.first_row :], Q, C[self.first_row :], *options)
        elif self.before:
            linked_rows(self.first_row, F.shape[0], F, P, Q, C, *options)
        else:
            over_rows(lambda start, stop: linear_rows(max(start, self.first_row), stop, F, Q, C, *options), F.shape[0])
        return self.replaced(point, F)

    def _products(self, point: Point, F: Array) -> tuple[Array, Array, Array]:
        P = point.product(self.P, np.float64) if self.P else _NOTHING
        Q = point.product(self.Q, np.float64) if self.Q else np.eye(F.shape[1])
        Q = Q + self.terms.ridge * np.eye(len(Q)) if self.terms.ridge else Q
        return P, Q, point.product(self.C)

    def measure(self, point: Point) -> float:
        """The objective but for a constant, from the products of a sweep over this factor."""
        F = np.asarray(point.value(self.F))
        P, Q, C = self._products(point, F)
        return float(np.vdot(multiplied_in_double(F.T, P @ F if self.P else F), Q)) / 2 - float(inner(np, C, F))


_NOT_COMPILED = tuned(2**13, by="dense", on="2026-11-17")
"""Entries of a factor that is learned alone up to which NumPy sweeps over its rows."""


def _by_columns(F: Array, Q: Array, C: Array, penalty: float, overlap: float, first: int, passes: int, enough: float) -> None:
    """The kernel `linear_rows` in NumPy: all rows at once, a column at a time, since rows are independent."""
    f, c = np.array(F.T, dtype=np.float64, order="C"), C.T - penalty
    total, is_open = f.sum(axis=0), np.ones(len(F), dtype=bool)
    for _ in range(passes):
        largest, moved = np.zeros(len(F)), np.zeros(len(F))
        for k in range(first, len(f)):
            if Q[k, k] > 0.0:
                old = f[k].copy()
                d = -(Q[k] @ f + overlap * (total - old) - c[k]) / Q[k, k]
                d = np.where(is_open, np.maximum(d, -old), 0.0)
                f[k] += d
                total += d
                largest, moved = np.maximum(largest, old), np.maximum(moved, np.abs(d))
        is_open &= moved > enough * largest
        if not is_open.any():
            break
    F[:, first:] = f[first:].T


def _affordable(point: Point, F: Array) -> int:
    """Visits of a row, at most.

    A pass over the rows should cost at most half of the product with the non-zeros of X; dense X counts its non-zeros too, and so
    has as many visits. A second visit is cheap, and makes more of a sweep if X is small. Rows and columns without weight do not
    count.
    """
    data = point.problem.data
    return max(2, 1 + int(data.facts.non_zeros / (2 * F.size * share_with_weights(data))))


class Weighted(Subproblem):
    """F B with weights of entries: each row has a quadratic function of its own."""

    def obstacle(self, signature: Signature) -> str | None:
        if not signature.data.swept_weights:
            return "the data cannot be gone over row by row"
        if self.terms.given and not self.is_by_columns:
            return f"some rows of {self.letter.name} are given, and the data have weights"
        return self.obstacle_of_ridge()

    def step(self, point: Point, settings: Settings, generator: np.random.Generator | None) -> Point:
        F = self.value(point)
        B = np.ascontiguousarray(point.product(self.after, F.dtype).T)
        options = self.options(settings._replace(passes=min(settings.passes, _affordable(point, F))))
        data: Any = point.problem.data
        data.sweep_rows(F, B, options, transposed=self.is_turned)
        return self.replaced(point, F)


class Signed(Subproblem):
    """A factor of either sign, which takes its exact minimum as a whole."""

    def step(self, point: Point, settings: Settings, generator: np.random.Generator | None) -> Point:
        return self.replaced(point, solved(point, self.letter.name))


class Quadratic(Subproblem):
    """F Fᵀ R, R the rest of the form: −⟨C, F Fᵀ⟩ + ½⟨Fᵀ Q F, Fᵀ F⟩ with C = X Rᵀ and Q = R Rᵀ."""

    needs_warmup = is_shuffled = True

    def __init__(self, signature: Signature, letter: Letter, is_turned: bool, before: Word, after: Word) -> None:
        super().__init__(signature, letter, is_turned, before, after)
        F, R = self.F, self.after
        self.C, self.Q = self.X + R.T, R + R.T
        self.RF, self.CF, self.FCF, self.FF = R.T + F, self.C + F, F.T + self.C + F, F.T + F
        self.is_gram_of_data = canonical(self.C)[0] == canonical(self.Q)[0]
        """Whether C = Q = X Xᵀ, or Xᵀ X."""
        self.is_implicit = self.is_gram_of_data and not signature.planner.forms(self.C)
        """Whether that is not formed, because it would cost more time, or memory, than it saves."""
        self.keeps_products = self.is_implicit and math.isinf(signature.data.gram_size)
        """Whether sweeps keep up products with X, or its sketch; else the data are their Gram matrix."""
        self.warms_by_rows = self.keeps_products and self.terms == Entrywise()
        """Whether `warmed` can be used: no constraint is in the way."""

    def obstacle(self, signature: Signature) -> str | None:
        rows, columns = signature.shapes[self.letter.name][:: -1 if self.letter.transposed else 1]
        if self.terms.ridge:
            return self.obstacle_of_ridge()
        if self.is_implicit:
            return None if self.is_turned in signature.data.swept_sides else "the data cannot be gone over row by row"
        largest = max(signature.data.non_zeros, rows * columns, _SMALL)
        if not self.after or signature.planner.forms(self.C) or rows * rows <= largest:
            return None
        return f"{self.C} would have to be formed, {rows} × {rows}, which is larger than the data"

    def step(self, point: Point, settings: Settings, generator: np.random.Generator | None) -> Point:
        assert generator is not None
        if self.keeps_products:
            self._prepare(point)
        F = self.value(point)
        options = self.options(settings)
        if settings.cuts:
            learned = F[self.first_row :, options[2] :]  # given entries stay
            learned[learned < _TINY * F.max()] = 0.0
        first, stop = self.first_row, len(F)
        if stop - first < _MANY:
            order = generator.permutation(np.arange(first, stop))
        else:  # in blocks of neighbours, which share cache lines if X is stored by columns
            order = (generator.permutation(np.arange(first, stop, _BLOCK))[:, None] + np.arange(_BLOCK)).ravel()
            order = order[order < stop]
        G = np.array(point.product(self.FF), dtype=np.float64)
        before = np.trace(G)
        sweep = self._over_data if self.is_implicit or not self.after else self._over_gram
        kept = sweep(point, F, G, order, options)
        point = self.replaced(point, F)
        is_rounded = F.dtype == np.float32 and is_small(math.prod(point.problem.data.shape))  # unlike kept products
        if settings.keeps and not is_rounded and np.trace(G) > _CANCELLED * before:
            for word, product in (kept | {self.FF: G}).items():
                point.keep(word, product)
        return point

    def _prepare(self, point: Point) -> None:
        """Compute the products of a sweep, and free all others, which are as long as F."""
        for word in (self.RF, self.FF):
            point.product(word)
        point.forget_all_but(self.RF, self.FF, self.FCF)

    def measure(self, point: Point) -> float:
        """The objective but for a constant, if C = Q, from the products of a sweep."""
        pair = (self.RF, self.RF) if self.keeps_products else (self.F, self.CF)
        B, G = _inner(point, *pair, self.FCF), point.product(self.FF, np.float64)
        return quadratic_value(point.value(self.F), B, G, self.terms.penalty, self.terms.overlap)

    def warmed(self, point: Point) -> Point | None:
        """F ∘ 2KF/(F FᵀKF + KF FᵀF), PNMF Eq. 20, and F at its best scale, √(tr FᵀKF / tr FᵀKF FᵀF), PNMF Eq. 21; K = X Xᵀ.

        None if the objective would rise, which this rule does not exclude.
        """
        self._prepare(point)
        data, F, Y = point.problem.data, self.value(point), point.product(self.RF)
        B, G = _inner(point, self.RF, self.RF, self.FCF), point.product(self.FF)
        nothing = np.arange(0)
        before = Sweep(F, Y, B, G, nothing, self.options(_ONCE)).value()
        info = np.finfo(F.dtype)
        Y, B, G = (as_type(product, F.dtype) for product in (Y, B, G))
        for rows, X in data.blocks(transposed=self.is_turned):
            KF = np.asarray(X @ Y)
            F[rows] *= np.clip(2 * KF / np.maximum(F[rows] @ B + KF @ G, info.smallest_normal / info.eps), 0.0, 1 / info.eps)
        np.maximum(F, info.eps**2 * F.max(), out=F)
        Y, G = data.apply(F, transposed=not self.is_turned), multiplied_in_double(F.T, F)
        B = multiplied_in_double(Y.T, Y)
        scale = float(np.sqrt(np.trace(B) / np.sum(B * G)))
        F *= scale
        after = Sweep(F, Y, B * scale**2, G * scale**2, nothing, self.options(_ONCE))
        if not after.value() <= before:
            return None
        point = self.replaced(point, F)
        for word, product in ((self.RF, Y * scale), (self.FF, after.G), (self.FCF, after.B)):
            point.keep(word, product)
        return point

    def _over_data(self, point: Point, F: Array, G: Array, order: Array, options: tuple[Any, ...]) -> dict[Word, Array]:
        """Sweep over the rows of F, in place, with the data; the products that are known afterwards."""
        data = point.problem.data
        if not self.after:
            data.sweep(Sweep(F, F, G.copy(), G, order, options, is_symmetric=True))
            return {}
        pair = (self.RF, self.RF) if self.keeps_products else (self.F, self.CF)
        Y = np.array(point.product(self.RF), dtype=np.float64, order="C") if self.keeps_products else F
        sweep = Sweep(F, Y, np.array(_inner(point, *pair, self.FCF)), G, order, options)
        data.sweep(sweep, transposed=self.is_turned)
        return {self.FCF: sweep.B} | ({self.RF: Y} if self.keeps_products else {})

    def _over_gram(self, point: Point, F: Array, G: Array, order: Array, options: tuple[Any, ...]) -> dict[Word, Array]:
        """Sweep over the rows of F, in place, with C and Q as matrices."""
        from ...kernels.coordinates import quadratic_gram

        C, work = point.product(self.C, F.dtype), np.empty((6, F.shape[1]))
        if self.is_gram_of_data:
            CF = np.array(point.product(self.CF).T, dtype=np.float64, order="C")
            B = np.array(_inner(point, self.F, self.CF, self.FCF))
            quadratic_gram(order, F, CF, _NOTHING.astype(F.dtype), B, G, C, C, work, *options)
            return {self.CF: CF.T, self.FCF: B}
        C = C if np.array_equal(C, C.T) else (C + C.T) / 2  # which is all that ⟨C, F Fᵀ⟩ depends on
        Q = point.product(self.Q, F.dtype)
        CF, QF = np.ascontiguousarray((C @ F).T), np.ascontiguousarray((Q @ F).T)
        quadratic_gram(order, F, CF, QF, (QF @ F).astype(np.float64), G, C, Q, work, *options)
        return {}


_ONCE = Settings(1, 0.0, keeps=False)
"""A single pass over every row, after which products are computed anew."""


def _inner(point: Point, left: Word, right: Word, product: Word) -> Array:
    """The product leftᵀ · right of two tall matrices: a cached one, or computed in double precision."""
    if canonical(product)[0] in point.known:
        return point.value(product)
    return multiplied_in_double(point.product(left).T, point.product(right))
