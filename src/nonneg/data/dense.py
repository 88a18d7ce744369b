"""Dense data of any array library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..kernels.host import gram_multiplied, multiplied
from ..kernels.host import logarithm as log_of
from ..kernels.namespace import Array, Namespace, to_host
from ..kernels.tuned import tuned
from .base import Data, Facts, Total, terms_of
from .profile import Costs
from .steps import Descent, ElementwiseOperand, Request, Sweep, Unreached
from .visiting import Pass, row_blocks, share_out

_MANY = tuned(8192, by="iteration", on="2026-11-15")
"""So many rows are worth more than one thread."""
_LANES, _ROUNDS = tuned((4, 50), by="iteration", on="2026-11-15")
"""Rows swept side by side, and rounds of them: Y and G are brought up to date after each round."""
_WORTH_A_PIECE = tuned(10**6, by="iteration", on="2026-11-16")
"""Divisions of a descent that are worth a thread."""


_LARGE = tuned(2**22, by="iteration", on="2026-11-16")
"""Entries from which on a survey is worth a kernel."""
_WIDE = 2**13
"""Columns from which on an elementwise pass over fewer rows goes by columns: no block of rows is in the cache."""
_PLAIN: tuple[Total, ...] = (("power", 1), ("power", 2))
"""The sums that it knows."""


@dataclass(eq=False)
class DenseData(Data):
    """A dense array of any library, in units of `unit`."""

    costs: ClassVar[Costs] = Costs(is_array=True)  # type: ignore[misc]
    values: Array
    namespace: Namespace
    unit: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.values.shape

    def in_units(self, unit: float) -> DenseData:
        return replace(self, unit=self.unit * unit)

    def moved(self, namespace: Namespace) -> Data:
        from .device import dense, fits

        if self.namespace.is_host and not fits(self.values.nbytes, namespace):
            from .streamed import MemoryBlocks

            return MemoryBlocks(self).moved(namespace)
        return known_from(self, dense(namespace.asarray(self.values), namespace, self.unit))

    def _block(self, rows: Any) -> Array:
        return self.values[rows, :] if self.unit == 1 else self.values[rows, :] / self.unit

    def _rows(self, rows: slice) -> DenseData:
        return DenseData(self.values[rows, :], self.namespace, self.unit)

    @cached_property
    def _turned(self) -> DenseData:
        return DenseData(self.values.T, self.namespace, self.unit)

    def _weighted_block(self, rows: slice | np.ndarray) -> tuple[Array, Array | None]:
        """Some rows of X and their weights; None if all are one."""
        return self._block(rows), None

    # ---- sums

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        xp, found = self.namespace.xp, []
        with np.errstate(all="ignore"):  # entries that are not finite are refused later, by name
            for rows in row_blocks(*self.shape, self.namespace.device):
                x = self._block(rows)
                if self.namespace.is_host and self.size >= _LARGE and set(totals) <= set(_PLAIN) and x.flags.c_contiguous:
                    from ..kernels.sums import plain_sums

                    count, *plain = plain_sums(x)
                    values = [plain[_PLAIN.index(total)] for total in totals]
                else:
                    count, values = (
                        xp.count_nonzero(x),
                        [float(xp.sum(terms_of(xp, x, *total), dtype=xp.float64)) for total in totals],
                    )
                found.append((float(xp.min(x)), float(xp.max(x)), int(count), *values))
        lowest, highest, non_zeros, *sums = zip(*found, strict=True)
        # `np.min` propagates NaN; a sum of sums is exact if a device cannot add in double precision.
        facts = Facts(float(np.min(lowest)), float(np.max(highest)), sum(non_zeros))
        return facts, [float(np.sum(parts)) for parts in sums]

    # ---- products

    @cached_property
    def _signed_parts(self) -> dict[str, Array]:
        return {sign: (abs(part) + part) / 2 for sign, part in (("⁺", self.values), ("⁻", -self.values))}

    def apply(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        X = self._signed_parts[sign] if sign else self.values
        if self.unit == 1:
            return multiplied(X.T if transposed else X, M)
        products = (
            multiplied((X[rows, :] / self.unit).T, M[rows, :]) if transposed else multiplied(X[rows, :] / self.unit, M)
            for rows in row_blocks(*self.shape, self.namespace.device)
        )
        return _sum_of(products) if transposed else self.namespace.xp.concat(list(products))

    def apply_after(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        X = self._signed_parts[sign] if sign else self.values
        return (
            multiplied(M, X.T if transposed else X) if self.unit == 1 else super().apply_after(M, transposed=transposed, sign=sign)
        )

    def apply_gram(self, M: Array, *, transposed: bool = False) -> Array:
        X = self.values
        if transposed and self.unit == 1 and type(X) is type(M) is np.ndarray and X.flags.c_contiguous and X.dtype == M.dtype:
            return gram_multiplied(X, M)
        return super().apply_gram(M, transposed=transposed)

    def with_itself(self, first: bool, second: bool) -> Array:
        if self.unit != 1:
            return super().with_itself(first, second)
        return multiplied(self.values.T if first else self.values, self.values.T if second else self.values)

    def itself(self) -> Array:
        return self._block(slice(None))

    def take(self, items: np.ndarray, axis: int) -> np.ndarray:
        values, namespace = self.values if axis == 0 else self.values.T, self.namespace
        if namespace.is_host:
            some = values[items, :]
        else:
            some = to_host(namespace.xp.take(values, namespace.xp.asarray(items, device=namespace.device), axis=0))
        return some if self.unit == 1 else some / self.unit

    def blocks(self, *, transposed: bool = False, as_stored: bool = False) -> Iterator[tuple[slice, Any]]:
        if not self.namespace.is_host or self.unit != 1:
            yield from super().blocks(transposed=transposed)
            return
        X = self.values.T if transposed else self.values
        for rows in row_blocks(X.shape[0], X.shape[1], "cpu"):
            yield rows, X[rows]

    # ---- entry by entry

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Any]:
        if self.namespace.is_host and max(_WIDE, self.shape[0]) < self.shape[1]:
            from .transposed import TransposedData

            return TransposedData(self._turned).visit(U, V, requests, log_power)

        def walk(rows: slice, U: Array, requests: Sequence[Request]) -> tuple[list[Array], Any]:
            return self._rows(rows)._walk(U, V, requests, log_power)

        return share_out(self, walk, U, requests) if self.namespace.is_host else self._walk(U, V, requests, log_power)

    def _walk(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None
    ) -> tuple[list[Array], Array | None]:
        """One pass by blocks of rows, with any array library: the requested products, and Σ X^log_power · ln X̂."""
        xp = self.namespace.xp
        walk, logarithm = Pass(self, U, V, requests), None
        for rows in row_blocks(*self.shape, self.namespace.device):
            x, weights = self._weighted_block(rows)
            approximation = walk.approximation(rows, by_columns=xp is np and not x.flags.c_contiguous)
            if weights is not None:
                approximation = xp.where(weights > 0, approximation, xp.ones_like(x))  # 0 · ∞ is NaN

            def evaluate(operand: ElementwiseOperand, x: Array = x, w: Any = weights, a: Array = approximation) -> Array:
                found = operand.evaluate(xp, x, a)
                return found if w is None else found * (xp.astype(w > 0, w.dtype) if isinstance(operand, Unreached) else w)

            walk.add(rows, evaluate)
            if log_power is not None:
                logs = log_of(xp, approximation) if weights is None else weights * log_of(xp, approximation)
                total = (
                    _sum_product(xp, x if log_power == 1 else x**log_power, logs) if log_power else xp.sum(logs, dtype=xp.float64)
                )
                logarithm = total + (0.0 if logarithm is None else logarithm)
        return walk.results, logarithm

    # ---- row by row

    def sweep(self, sweep: Sweep, *, transposed: bool = False) -> None:
        from ..kernels.coordinates import quadratic_rows

        if self.unit != 1 or sweep.is_symmetric:
            super().sweep(sweep, transposed=transposed)
            return
        X, (F, Y, B, G, order, options, _) = self.values.T if transposed else self.values, sweep
        if len(order) >= _MANY:
            before, old = sweep.value(), F.copy()
            after = _in_lanes(X, sweep)
            if after.value() <= before:
                for mine, new in zip((Y, B, G), after[1:4], strict=True):
                    mine[:] = new
                return
            F[:] = old  # lanes were in each other's way: one after the other, nothing rises
        quadratic_rows(order, F, Y, B, G, X, *options)

    def descend(self, descent: Descent, *, transposed: bool = False) -> None:
        from ..kernels.threads import over_pieces

        X, work = self.values.T if transposed else self.values, descent.F.shape[1] * self.shape[0 if transposed else 1]
        descent = descent.padded()

        def over(start: int, stop: int) -> None:
            for block in row_blocks(stop - start, X.shape[1], "cpu"):
                rows = slice(start + block.start, start + block.stop)
                descent.over_dense(rows, X[rows] if self.unit == 1 else X[rows] / self.unit)

        over_pieces(over, X.shape[0], work, _WORTH_A_PIECE)

    @cached_property
    def _symmetric(self) -> Array:
        X = self.itself()
        return X if np.array_equal(X, X.T) else (X + X.T) / 2

    def _sweep_symmetric(self, sweep: Sweep) -> None:
        from ..kernels.coordinates import quadratic_gram

        F, _, B, G, order, options, _ = sweep
        none, one = np.empty((0, 0), F.dtype), np.empty((1, 1), F.dtype)
        CF = np.ascontiguousarray((self._symmetric @ F).T)
        quadratic_gram(order, F, CF, one, B, G, self._symmetric, none, np.empty((6, F.shape[1])), *options)


def known_from(data: Data, moved: Any) -> Any:
    """Data that were moved, with what a pass has found of them."""
    known = ("_facts", "_totals", "_lengths", "log", "origin", "feature_names")
    vars(moved).update((name, value) for name, value in vars(data).items() if name in known)
    return moved


def _in_lanes(X: np.ndarray, sweep: Sweep) -> Sweep:
    """A sweep in which a few lanes at a time work on rows of their own, from the same Y, B and G; F is changed in place.

    The number of lanes does not depend on that of threads, so neither does the result. A sweep writes both halves of G alike: if
    they differed by rounding, every lane would make up for that, together several times over, and more so in each round.
    """
    from ..kernels.coordinates import quadratic_rows
    from ..kernels.threads import in_threads, suited_to

    F, Y, B, G, order, options, _ = sweep._replace(Y=sweep.Y.copy(), G=(sweep.G + sweep.G.T) / 2)

    def work(rows: slice) -> tuple[Array, Array]:
        own_Y, own_G = Y.copy(), G.copy()
        quadratic_rows(order[rows], F, own_Y, B.copy(), own_G, X, *options)
        own_Y -= Y
        own_G -= G
        return own_Y, own_G

    with suited_to(0):  # threads are for lanes here, not for products
        cuts = np.linspace(0, len(order), _ROUNDS * _LANES + 1).astype(int).tolist()
        pieces = [slice(start, stop) for start, stop in pairwise(cuts)]
        for first in range(0, len(pieces), _LANES):
            for more_Y, more_G in in_threads(work, pieces[first : first + _LANES]):
                Y += more_Y
                G += more_G
            B = Y.T @ Y
    return Sweep(F, Y, B, G, order, options)


def _sum_product(xp: Any, left: Array, right: Array) -> Any:
    """⟨left, right⟩ in double precision, of NumPy arrays without their product."""
    return np.einsum("ij,ij->", left, right, dtype=np.float64) if xp is np else xp.sum(left * right, dtype=xp.float64)


def _sum_of(arrays: Iterator[Array]) -> Array:
    total = next(arrays)
    for array in arrays:
        total = total + array
    return total
