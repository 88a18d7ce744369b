"""Dense data with weights, and NaN for missing entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ...kernels.namespace import Array, Namespace, to_host
from ..base import Data, Facts, Total, chunks
from ..dense import DenseData, known_from
from ..device import dense
from ..profile import Costs
from ..steps import Request
from ..visiting import row_blocks
from .base import (
    DataTerm,
    Entries,
    Levelled,
    LowRank,
    Partial,
    mean_filling,
    settle,
    settled_by_sums,
    sweep_entries,
)
from .weights import Pair, levelled, rows_of, scaled, transposed


@dataclass(eq=False)
class WeightedDense(Partial, DenseData):
    """A dense array with NaN for missing entries, and weights of its shape, a `Pair`, or None for all ones."""

    weights: Any = None
    inside: Data | None = None

    @property
    def costs(self) -> Costs:  # type: ignore[override]
        return Costs(weighted=True, swept_weights=self.namespace.is_host)

    def moved(self, namespace: Namespace) -> WeightedDense:
        weights = Pair(*map(namespace.asarray, self.weights)) if isinstance(self.weights, Pair) else self.weights
        weights = weights if weights is None or isinstance(weights, Pair) else namespace.asarray(weights)
        return known_from(self, WeightedDense(namespace.asarray(self.values), namespace, self.unit, weights))

    def _rows(self, rows: slice) -> WeightedDense:
        return WeightedDense(self.values[rows, :], self.namespace, self.unit, rows_of(self.weights, rows))

    def subset(self, items: np.ndarray, axis: int) -> WeightedDense:
        data = self if axis == 0 else self._turned
        some = WeightedDense(data.values[items], self.namespace, self.unit, rows_of(data.weights, items))
        return some if axis == 0 else some._turned

    def _weighted_block(self, rows: slice | np.ndarray) -> tuple[Array, Array]:
        """Some rows of X, with 1 for missing entries, and their weights, 0 for these."""
        xp, x = self.namespace.xp, self._block(rows)
        one = xp.ones_like(x)
        if self.weights is None:
            weights = one
        else:
            weights = self.weights.block(rows) if isinstance(self.weights, Pair) else self.weights[rows, :]
        hidden = xp.isnan(x) | (weights == 0)
        return xp.where(hidden, one, x), xp.where(hidden, 0.0 * one, weights)

    # ---- sums

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        xp = self.namespace.xp
        found, observed = [], 0
        with np.errstate(all="ignore"):  # entries that are not finite are refused later, by name
            for rows in row_blocks(*self.shape, self.namespace.device):
                x, weights = self._weighted_block(rows)
                seen = weights > 0
                count = int(xp.count_nonzero(seen))
                observed += count
                if count:
                    low, high = xp.where(seen, x, xp.max(x)), xp.where(seen, x, xp.min(x))
                    sums = [float(xp.sum(weights * DataTerm(*total).evaluate(xp, x, x), dtype=xp.float64)) for total in totals]
                    found.append((float(xp.min(low)), float(xp.max(high)), int(xp.count_nonzero(seen & (x != 0))), *sums))
        missing = self.shape[0] * self.shape[1] - observed
        if not found:
            return Facts(0.0, 0.0, 0, missing), [0.0] * len(totals)
        lowest, highest, non_zeros, *parts = zip(*found, strict=True)
        facts = Facts(float(np.min(lowest)), float(np.max(highest)), sum(non_zeros), missing)
        return facts, [float(np.sum(part)) for part in parts]

    # ---- row by row

    def sweep_rows(self, F: Array, B: Array, options: tuple[float, float, int, int, float], *, transposed: bool = False) -> None:
        data = self._turned if transposed else self
        if self.weights is None and 3 * self.facts.missing < self.shape[0] * self.shape[1]:
            data._sweep_without_missing(F, B, options)
        else:
            data._sweep_observed(F, B, options, np.arange(len(F)))

    def _sweep_observed(self, F: Array, B: Array, options: tuple[float, float, int, int, float], which: np.ndarray) -> None:
        """Go over some rows by their known entries."""
        for rows, known in self.known(which):
            weights, own = self._weighted_block(rows)[1], np.ascontiguousarray(F[rows])
            sweep_entries(own, B, known, weights[weights > 0], options)
            F[rows] = own

    def known(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, sparse.csr_array]]:
        for some in chunks(len(rows), self.shape[1]):
            x, weights = self._weighted_block(rows[some])
            seen = weights > 0
            indptr = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
            yield rows[some], sparse.csr_array((x[seen], np.nonzero(seen)[1], indptr), shape=x.shape)

    @cached_property
    def _turned(self) -> WeightedDense:
        data = WeightedDense(self.values.T, self.namespace, self.unit, transposed(self.weights))
        data._facts = self.facts
        return data

    @cached_property
    def _gaps(self) -> Entries:
        """The missing entries of each row, without data."""
        counts, columns = [np.zeros(1, np.int64)], []
        for rows in row_blocks(*self.shape, "cpu"):
            gaps = np.isnan(self.values[rows])
            counts.append(gaps.sum(axis=1))
            columns.append(np.nonzero(gaps)[1])
        return Entries(np.cumsum(np.concatenate(counts)), np.concatenate(columns), np.empty(0, self.values.dtype))

    def _sweep_without_missing(self, F: Array, B: Array, options: tuple[float, float, int, int, float]) -> None:
        """Go over the rows by B Bᵀ and X Bᵀ less the terms of missing entries; rows that miss most entries, by known ones.

        Of these, nearly nothing would be left, or nothing at all but rounding.
        """
        mostly = np.flatnonzero(2 * np.diff(self._gaps.indptr) > self.shape[1])
        before = F[mostly]
        C = np.empty(F.shape)
        for rows in row_blocks(*self.shape, "cpu"):
            C[rows] = _without_nan(self._block(rows)) @ B
        wide = B.astype(np.float64)
        sweep_entries(F, B, self._gaps, np.empty(0, F.dtype), options, (wide.T @ wide, C))
        F[mostly] = before
        self._sweep_observed(F, B, options, mostly)

    # ---- X itself

    def in_units(self, unit: float) -> WeightedDense:
        inside = self.inside and self.inside.in_units(unit)
        return replace(self, unit=self.unit * unit, inside=inside)

    def take(self, items: np.ndarray, axis: int) -> np.ndarray:
        found = _without_nan(super().take(items, axis))
        if self.weights is None:
            return found
        weights = (self if axis == 0 else self._turned).weights
        own = weights.block(items) if isinstance(weights, Pair) else self.namespace.xp.take(weights, items, axis=0)
        return np.where(to_host(own) > 0, found, 0.0)

    def blocks(self, *, transposed: bool = False, as_stored: bool = False) -> Iterator[tuple[slice, Any]]:
        if self.weights is not None:
            yield from Data.blocks(self, transposed=transposed)
            return
        for rows, block in super().blocks(transposed=transposed):
            yield rows, _without_nan(block)

    def settled(self, left: Array, right: Array, prior: Array, *, transposed: bool = False) -> LowRank | None:
        if self.weights is not None:
            return None
        if not self.namespace.is_host:
            return self._settled_by_sums(left, right, prior, transposed)
        data, C = self._turned if transposed else self, np.empty((self.shape[int(transposed)], left.shape[1]))
        for rows in row_blocks(*data.shape, "cpu"):
            C[rows] = _without_nan(data._block(rows)) @ left
        return LowRank(data.namespace.asarray(settle(data._gaps, left, right, C, prior)), right)

    def _settled_by_sums(self, left: Array, right: Array, prior: Array, transposed: bool) -> LowRank:
        """The same on a device: an elementwise pass sums up the small systems."""
        data, xp, ones, k = self._turned if transposed else self, self.namespace.xp, self.namespace.ones, left.shape[1]
        products = xp.reshape(left[:, :, None] * xp.permute_dims(right, (1, 0))[:, None, :], (-1, k * k))
        requests = [Request(DataTerm("power", power), "right", M) for power, M in ((0.0, products), (1.0, left))]
        grams, C = data.visit(ones(data.shape[0], 1), ones(1, data.shape[1]), requests)[0]
        codes = settled_by_sums(to_host(grams).T, to_host(C).T, to_host(left), to_host(right), to_host(prior))
        return LowRank(self.namespace.asarray(codes), right)

    def filled(self, values: LowRank) -> Data:
        """The data with missing entries filled, without weights: a copy."""
        xp = self.namespace.xp
        pieces = []
        for rows in row_blocks(*self.shape, self.namespace.device):
            x, weights = self._weighted_block(rows)
            pieces.append(xp.where(weights > 0, x, values.U[rows, :] @ values.V))
        return dense(xp.concat(pieces), self.namespace)

    def levelled(self, rows: bool, columns: bool) -> Levelled:
        if self.weights is None:
            return Levelled(self)
        weights, of_rows, of_columns, level = levelled(self.namespace.xp, self.weights, rows, columns)
        values = scaled(self.values, of_rows, of_columns)
        found: Data = WeightedDense(values, self.namespace, self.unit, weights)
        if weights is None and not found.facts.missing:
            found = dense(values, self.namespace, self.unit)
        return Levelled(found, of_rows, of_columns, level)

    def blended(self, values: LowRank, share: float = 1.0) -> tuple[Data, float]:
        if self.weights is None:
            return self.filled(values), 0.0
        xp, pieces, spread = self.namespace.xp, [], 0.0
        for rows in row_blocks(*self.shape, self.namespace.device):
            x, weights = self._weighted_block(rows)
            weights, z = share * weights, values.U[rows, :] @ values.V
            pieces.append(z + weights * (x - z))
            spread += float(xp.sum(weights * (1 - weights) * (x - z) ** 2, dtype=xp.float64))
        return dense(xp.concat(pieces), self.namespace), spread

    @cached_property
    def items(self) -> Data:
        whole = dense(self.values, self.namespace, self.unit)
        return self.filled(mean_filling(self)) if self.facts.missing else whole


def _without_nan(x: Any) -> Any:
    return np.where(np.isnan(x), 0.0, x)
