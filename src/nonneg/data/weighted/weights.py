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
    return math.prod(float(part.data.max(initial=0.0) if sparse.issparse(part) else part.max()) for part in parts)


def check_weights(weights: Any, what: str) -> None:
    """Refuse weights that are negative, or not finite."""
    host = to_host(weights)
    if not np.isfinite(host).all():
        raise DataError(f"{what} must be finite numbers; {int(np.sum(~np.isfinite(host)))} of them are not.")
    if (host < 0).any():
        raise DataError(f"{what} must not be negative; {int(np.sum(host < 0))} of them are. Weight 0 stands for a missing entry.")
