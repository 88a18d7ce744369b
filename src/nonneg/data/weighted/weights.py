"""Weights of entries: an array, a sparse array, a `Pair`, or an object with slices of rows of these; None if all are one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...exceptions import DataError
from ...kernels.namespace import Array, to_host


class Pair(NamedTuple):
    """The weights rowsᵢ · columnsⱼ."""

    rows: Array
    columns: Array

    def block(self, rows: Any) -> Array:
        return self.rows[rows, None] * self.columns[None, :]


class Scaled(NamedTuple):
    """The weights entriesᵢⱼ · rowsᵢ · columnsⱼ, with entries out of core."""

    entries: Any
    by: Pair


def rows_of(weights: Any, rows: Any) -> Any:
    """The weights of some rows."""
    match weights:
        case None:
            return None
        case Pair(own, columns):
            return Pair(own[rows], columns)
        case Scaled(entries, by):
            return Scaled(entries[rows], rows_of(by, rows))
    return weights[rows]


def transposed(weights: Any) -> Any:
    """The weights of Xᵀ; or another matrix, transposed."""
    if weights is None or isinstance(weights, Pair):
        return weights and Pair(weights.columns, weights.rows)
    return weights.T.tocsr() if sparse.issparse(weights) else weights.T


def stacked(parts: Sequence[Any]) -> Any:
    """The weights of blocks of rows, one below the other; or other matrices."""
    match parts[0]:
        case None:
            return None
        case Pair(_, columns):
            return Pair(np.concatenate([part.rows for part in parts]), columns)
        case Scaled():
            return Scaled(stacked([part.entries for part in parts]), stacked([part.by for part in parts]))
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def largest(weights: Any) -> float:
    """The largest weight."""
    parts = () if weights is None else weights if isinstance(weights, Pair) else (weights,)
    return math.prod(float(part.data.max(initial=0.0) if sparse.issparse(part) else to_host(part).max()) for part in parts)


def scaled(values: Any, rows: Any = None, columns: Any = None) -> Any:
    """An array, or a sparse array, with its rows and columns multiplied by numbers; None stands for all ones."""
    if sparse.issparse(values):
        entries = values.data if rows is None else values.data * np.repeat(rows, np.diff(values.indptr))
        return with_entries(values, entries if columns is None else entries * columns[values.indices])
    values = values if rows is None else values * rows[:, None]
    return values if columns is None else values * columns[None, :]


def with_entries(pattern: sparse.csr_array, entries: np.ndarray) -> sparse.csr_array:
    """A sparse array with other entries in the same places, zeros among them."""
    return sparse.csr_array((entries, pattern.indices, pattern.indptr), shape=pattern.shape)


_MOST = 1.9
"""Upper bound of normalised weights. It must stay below 2: the fill x̂ + v(x − x̂) overshoots X at v = 2."""


def levelled(xp: Any, weights: Any, rows: bool, columns: bool) -> tuple[Any, Array | None, Array | None, float]:
    """Weights of mean one, below two, None for all ones; the roots of divisors of rows and of columns, and a common divisor.

    Parameters
    ----------
    xp : module
    weights : Pair, array, sparse array or None
    rows, columns : bool
        Whether rows, or columns, have divisors of their own.
    """
    if weights is None:
        return None, None, None, 1.0
    if isinstance(weights, Pair):
        of_rows, of_columns = (xp.sqrt(part) if asked else None for part, asked in zip(weights, (rows, columns), strict=True))
        rest = (xp.ones_like(part) if asked else part for part, asked in zip(weights, (rows, columns), strict=True))
        pair, level = _level_of_pair(xp, Pair(*rest))
        return None if all(bool(xp.all(part == 1)) for part in pair) else pair, of_rows, of_columns, level
    if not rows and not columns:
        level = float(_level_of(xp, weights.data if sparse.issparse(weights) else weights))
        return with_entries(weights, weights.data / level) if sparse.issparse(weights) else weights / level, None, None, level
    axis = 1 if rows else 0
    if sparse.issparse(weights):
        owners = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr)) if rows else weights.indices
        sums, counts = (np.bincount(owners, part, weights.shape[1 - axis]) for part in (weights.data, None))
        own = _at_most(np, sums / np.maximum(counts, 1), weights.max(axis=axis).toarray().ravel()).astype(weights.dtype)
        found = with_entries(weights, weights.data / own[owners])
        found = None if np.all(found.data == 1) else found
    else:
        own = _level_of(xp, weights, axis)
        found = weights / xp.expand_dims(xp.where(own > 0, own, xp.ones_like(own)), axis=axis)
    root = xp.sqrt(own)
    return found, *((root, None) if rows else (None, root)), 1.0


def _level_of(xp: Any, weights: Array, axis: int | None = None) -> Array:
    """The divisor of weights: the mean of positive ones, or more if the largest would exceed the bound."""
    count = xp.sum(xp.astype(weights > 0, weights.dtype), axis=axis)
    mean = xp.sum(weights, axis=axis) / xp.where(count > 0, count, xp.ones_like(count))
    return _at_most(xp, mean, xp.max(weights, axis=axis))


def _at_most(xp: Any, mean: Array, largest: Array) -> Array:
    """Means, or more if the largest weights would exceed the bound."""
    return xp.maximum(mean, largest / _MOST)


def _level_of_pair(xp: Any, weights: Pair) -> tuple[Pair, float]:
    """A pair with parts of mean one, and their common divisor."""
    means = [float(xp.sum(part)) / max(int(xp.count_nonzero(part)), 1) for part in weights]
    most = float(xp.max(weights.rows)) / means[0] * float(xp.max(weights.columns)) / means[1]
    rest = max(1.0, most / _MOST)
    return Pair(weights.rows / (means[0] * rest), weights.columns / means[1]), means[0] * means[1] * rest


def check_weights(weights: Any, what: str) -> None:
    """Refuse weights that are negative, or not finite."""
    host = to_host(weights)
    if not np.isfinite(host).all():
        raise DataError(f"{what} must be finite numbers; {int(np.sum(~np.isfinite(host)))} of them are not.")
    if (host < 0).any():
        raise DataError(f"{what} must not be negative; {int(np.sum(host < 0))} of them are. Weight 0 stands for a missing entry.")
