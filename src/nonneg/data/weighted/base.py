"""The interface of data with weights: filling of missing entries, normalised weights, sweeps over known entries."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from ...kernels.host import as_type
from ...kernels.namespace import Array, to_host
from ...kernels.tuned import tuned
from ..base import Data, terms_of
from ..profile import Need
from ..steps import Request
from .weights import Pair


class LowRank(NamedTuple):
    """U·V, by which hidden entries are filled."""

    U: Array
    V: Array


class Levelled(NamedTuple):
    """Data with weights of mean one, below two, and their divisors rowsᵢ² · columnsⱼ² · level.

    Data and X̂ are multiplied by rowsᵢ · columnsⱼ. None stands for all ones.
    """

    data: Data
    rows: Array | None = None
    columns: Array | None = None
    level: float = 1.0


class Weighted(Data):
    """Data with weights, which act in passes over entries. Products are those of `complete`, without weights."""

    complete: Data
    """X inside a form, with missing entries filled."""
    weights: Any
    """An array, a sparse array or a `Pair`; None for all ones."""

    def apply(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        return self.complete.apply(M, transposed=transposed, sign=sign)

    def apply_after(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        return self.complete.apply_after(M, transposed=transposed, sign=sign)

    def apply_gram(self, M: Array, *, transposed: bool = False) -> Array:
        return self.complete.apply_gram(M, transposed=transposed)

    def with_itself(self, first: bool, second: bool) -> Array:
        return self.complete.with_itself(first, second)

    def itself(self) -> Any:
        return self.complete.itself()

    @property
    def has_gaps(self) -> bool:
        """Whether missing entries must be filled before X can stand in a form."""
        return False

    def sweep_rows(self, F: Array, B: Array, options: tuple[float, float, int, int, float], *, transposed: bool = False) -> None:
        """Go over the rows of F once, in place, for ½ Σ vᵢⱼ (xᵢⱼ − ⟨fᵢ, bⱼ⟩)², bⱼ the rows of B; or the same of Xᵀ."""
        raise self.costs.refuse({Need.ENTRIES})

    def absorbed(self, rows: bool, columns: bool) -> Data:
        """Data multiplied by the roots of weights of rows, or columns, with the other weights; or as they are."""
        return self

    def levelled(self, rows: bool, columns: bool) -> Levelled | None:
        """The data with weights of mean one; rows, or columns, take up their means. None if that is not possible."""
        return None

    def parts(self) -> Iterator[Data]:
        """Rows in memory, some at a time."""
        yield self


class Partial(Weighted):
    """Data of which some entries may be missing: `inside` has them filled, by a model; without it, means do."""

    inside: Data | None

    @property
    @abstractmethod
    def items(self) -> Data:
        """The data filled by means, without weights."""

    @property
    def complete(self) -> Data:  # type: ignore[override]
        return self.inside or self.items

    @property
    def has_gaps(self) -> bool:
        return self.facts.missing > 0

    def with_inside(self, inside: Data) -> Any:
        """The same data with others inside the form."""
        return replace(self, inside=inside)  # type: ignore[type-var]

    def lengths(self, axis: int) -> np.ndarray:
        return super().lengths(axis) if self.inside is None else self.inside.lengths(axis)

    @abstractmethod
    def filled(self, values: LowRank) -> Data:
        """The data with missing entries filled, without weights."""

    @abstractmethod
    def blended(self, values: LowRank, share: float = 1.0) -> tuple[Data, float]:
        """u∘X + (1 − u)∘Z for the weights u, or a share of them: X for weight one, the values Z for missing entries.

        Σ u (x − x̂)² + (1 − u)(z − x̂)² is Σ (blend − x̂)² and the second result, Σ u (1 − u)(x − z)².
        """

    def known(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, sparse.csr_array]]:
        """The known entries of some rows of data on the host, zeros among them, a few rows at a time.

        Of data in blocks, each block is asked for its own.
        """
        raise self.costs.refuse({Need.ENTRIES})

    def settled(self, left: Array, right: Array, prior: Array, *, transposed: bool = False) -> LowRank | None:
        """Fixed point of the imputation: codes Y = X L with missing X imputed by Y R; or the same of Xᵀ. None with weights.

        Codes without known entries are those of `prior`.
        """
        return None


def count_missing(data: Data) -> int:
    """The number of entries without a weight, which takes a pass over data with weights only."""
    return data.facts.missing if data.costs.weighted else 0


def has_gaps(data: Any) -> bool:
    """Whether missing entries must be filled before X can stand in a form."""
    return data.costs.weighted and bool(data.has_gaps)


def imputed(data: Data) -> Data:
    """The data with missing entries filled, by their model or by means."""
    return data.complete if isinstance(data, Partial) else data


def imputed_by(data: Any, inside: Data | None) -> Any:
    """The data with missing entries filled, inside a form, as in other data."""
    return data.with_inside(inside) if inside is not None and has_gaps(data) else data


def absorbed(data: Any, rows: bool, columns: bool) -> Data:
    """The data with weights of rows, or columns, multiplied into them if possible."""
    found: Data = data.absorbed(rows, columns) if data.costs.weighted else data
    return found


def levelled(data: Any, rows: bool, columns: bool) -> Levelled | None:
    """The data with weights of mean one; None without weights, or if that is not possible."""
    found: Levelled | None = data.levelled(rows, columns) if data.costs.weighted else None
    return found


def parts_of(data: Any) -> Iterator[Any]:
    """Rows in memory, some at a time: arrays, or data if entries have weights."""
    return data.parts() if data.costs.weighted else (block for _, block in data.blocks(as_stored=True))


def count_rows(data: Data) -> float:
    """The number of rows, or the sum of their weights: a row of weight 2 counts as two."""
    weights = getattr(data, "weights", None)
    return float(np.sum(to_host(weights.rows), dtype=np.float64)) if isinstance(weights, Pair) else data.shape[0]


def share_with_weights(data: Data) -> float:
    """The share of entries in rows and columns that have a weight."""
    return 1 - data.facts.missing / math.prod(data.shape) if isinstance(getattr(data, "weights", None), Pair) else 1.0


def has_weights(data: Data) -> bool:
    """Whether entries have weights other than 0 and 1."""
    return getattr(data, "weights", None) is not None


class Entries(NamedTuple):
    """Entries of each row, as in a CSR array: the known ones, or the places of the missing ones, without data."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


def settle(entries: Entries | sparse.csr_array, left: Array, right: Array, C: np.ndarray | None, prior: Array) -> np.ndarray:
    """The codes of the fixed point of the imputation; see `settled_rows`."""
    from ...kernels.coordinates import settled_rows
    from ...kernels.threads import over_rows

    L, R = (np.ascontiguousarray(part, dtype=np.float64) for part in (left, right.T))
    one, whole = np.eye(L.shape[1]), np.sum(L * R, axis=0)
    K, given = (one - R.T @ L, np.empty((0, 0))) if C is None else (one, C)
    x = np.empty(0) if C is not None else entries.data
    work, prior = entries.indptr + np.arange(len(entries.indptr)), np.asarray(prior, np.float64)
    out = np.empty((len(entries.indptr) - 1, left.shape[1]))
    rows = entries.indptr, entries.indices, x
    over_rows(settled_rows, work, *rows, L, R, K, given, C is not None, whole, _LITTLE, _RIDGE, prior, out)
    return out


def settled_by_sums(grams: np.ndarray, C: np.ndarray, left: Array, right: Array, prior: Array) -> np.ndarray:
    """The codes of `settle` from sums over known entries: `grams` has Σ lₖ rⱼ, `C` has Σ x l, each with a column for every code."""
    L, R = (np.asarray(part, dtype=np.float64) for part in (left, right.T))
    k, count = L.shape[1], grams.shape[1]
    known = grams.T.reshape(count, k, k)  # Σ lₐ r_b
    A = np.eye(k)[None] * (1 + _RIDGE) - (L.T @ R)[None] + known
    c = C.T + _RIDGE * np.asarray(prior, np.float64)
    unknown = np.diagonal(known, axis1=1, axis2=2) <= _LITTLE * np.sum(L * R, axis=0)
    rows, components = np.nonzero(unknown)
    A[rows, components] = np.eye(k)[components]
    c[rows, components] = np.asarray(prior, np.float64)[components]
    return np.linalg.solve(A, c[:, :, None])[:, :, 0]


_LITTLE, _RIDGE = tuned((1e-3, 1e-9), by="missing", on="2026-11-16")
"""Minimum observed share of a component's squares for a code; ridge towards the prior otherwise."""
_NO_REST = np.empty((0, 0)), np.empty((0, 0))


def sweep_entries(
    F: Array,
    B: Array,
    entries: Entries | sparse.csr_array,
    weights: np.ndarray,
    options: tuple[float, float, int, int, float],
    rest: tuple[np.ndarray, np.ndarray] = _NO_REST,
) -> None:
    """Sweep over the rows of F with given entries of X, or with the missing ones and the `rest`.

    Rows are shared out among threads. See `weighted_rows`.
    """
    from ...kernels.coordinates import weighted_rows
    from ...kernels.threads import over_rows

    rows = entries.indptr, entries.indices, entries.data, weights
    over_rows(weighted_rows, entries.indptr + np.arange(len(entries.indptr)), F, np.ascontiguousarray(B), *rows, *rest, *options)


@dataclass(frozen=True)
class DataTerm:
    """X^exponent, or X^exponent ∘ ln X, with 0 ln 0 = 0."""

    kind: str
    exponent: float
    needs_data: ClassVar[bool] = True
    exponents: ClassVar[None] = None

    @property
    def on_pattern(self) -> bool:
        return self.exponent > 0 or self.kind == "logarithm"

    def evaluate(self, xp: Any, x: Array, approximation: Array) -> Array:
        return terms_of(xp, x, self.kind, self.exponent)


def mean_filling(data: Data) -> LowRank:
    """aᵢ bⱼ with the means of known entries of rows and columns, a first guess of missing ones; else zero."""
    xp, (m, n), ones = data.namespace.xp, data.shape, data.namespace.ones
    everywhere, terms = (ones(m, 1), ones(1, n)), (DataTerm("power", 1.0), DataTerm("power", 0.0))
    requests = [Request(term, "right", ones(n, 1)) for term in terms] + [Request(term, "left", ones(1, m)) for term in terms]
    of_rows, in_rows, of_columns, in_columns = data.visit(*everywhere, requests)[0]
    total, count = float(xp.sum(of_rows, dtype=xp.float64)), float(xp.sum(in_rows, dtype=xp.float64))
    mean = total / count if count else 0.0
    if not mean:
        return LowRank(0.0 * of_rows, 0.0 * of_columns)

    def means(sums: Array, counts: Array) -> Array:
        return xp.where(counts > 0, sums / xp.where(counts > 0, counts, 1.0 + 0.0 * counts), 0.0 * sums)

    found = means(of_rows, in_rows) / mean, means(of_columns, in_columns)
    return LowRank(*(as_type(part, data.namespace.dtype) for part in found))
