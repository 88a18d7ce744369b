"""Checks of entries before any work; errors name the place of the first bad one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..exceptions import DataError
from ..io.stored import StoredMatrix
from ..io.table import empty_rows as of_arrays
from ..kernels.host import as_dense
from .base import Data, Facts, Total
from .given import Observed
from .visiting import row_blocks
from .weighted import FilledData, Pair, WeightedDense, count_missing
from .weighted.weighing import Weighing, first_unknown


def _first(data: Data, condition: Callable[[Any], Any]) -> tuple[int, tuple[int, int], float]:
    """How many entries meet a condition, the place of the first, and its value."""
    count, place, value = 0, None, math.nan
    for rows, block in data.blocks():
        entries = as_dense(block)
        mask = condition(entries)
        count += int(mask.sum())
        if place is None and mask.any():
            i, j = np.unravel_index(int(np.argmax(mask)), mask.shape)
            place, value = (rows.start + int(i), int(j)), float(entries[i, j])
    return count, place or (0, 0), value


def survey_block(
    block: Data, totals: Iterable[Total], *, signed: bool, weighing: Weighing | None
) -> tuple[tuple[Facts, list[float]], tuple[int, int, float] | None]:
    """The survey of a block; row, column and value of its first entry that is not finite, or negative unless `signed`, if any."""
    facts, sums = block.survey(list(totals))
    unknown = None if weighing is None or weighing.ignores else first_unknown(block)
    if unknown is not None:
        return (facts, sums), (*unknown, math.nan)
    is_finite = math.isfinite(facts.lowest) and math.isfinite(facts.highest)
    if is_finite and (signed or facts.lowest >= 0):
        return (facts, sums), None
    _, place, value = _first(block, lambda entries: entries < 0 if is_finite else ~np.isfinite(entries))
    return (facts, sums), (*place, value)


def bad_entry(value: float, where: str) -> DataError:
    """The error for an entry that cannot be."""
    if math.isfinite(value):
        return DataError(
            f"Negative values in data passed to X: {value:g} in {where}. A non-negative factorization has no place for them: shift "
            "or clip them first; or let `nonneg.factorize` have a 'signed' factor."
        )
    return DataError(
        f"X has an entry that is not finite, {value:g} in {where}. Infinite ones cannot be approximated. Where NaN stands for what "
        "is missing, missing='ignore' approximates the others and leaves these out, of dense data; or drop those samples, or "
        "fill them in first."
    )


def where_in(row: int, column: int, source: StoredMatrix) -> str:
    """The place of an entry, in words."""
    if source.of_features:
        feature, sample = (column, row) if source.is_turned else (row, column)
        return f"feature {feature}, sample {sample} ({source.place(row)}, {'row' if source.is_turned else 'column'} {column})"
    way = f"column {row}, row {column}" if source.is_turned else f"row {row}, column {column}"
    return f"{way} ({source.place(row)})"


class Origin(NamedTuple):
    """The file that data in memory were read from."""

    source: StoredMatrix
    is_turned: bool
    """Whether the rows of the file are columns of X."""

    def place(self, row: int, column: int) -> str:
        """The place of an entry of X, in words."""
        return where_in(*((column, row) if self.is_turned else (row, column)), self.source)


def check_finite(data: Data, name: str) -> None:
    """Refuse infinite entries, and NaN."""
    if math.isfinite(data.facts.lowest) and math.isfinite(data.facts.highest):
        return
    count, place, value = _first(data, lambda entries: ~np.isfinite(entries))
    if data.origin is not None:
        raise bad_entry(value, data.origin.place(*place))
    infinite, _, _ = _first(data, np.isinf)
    both = f" ({count - infinite} NaN, {infinite} infinite)" if 0 < infinite < count else ""
    raise DataError(
        f"{name} has {count} entr{'y' if count == 1 else 'ies'} that {'is' if count == 1 else 'are'} not finite{both}, the first "
        f"({value}) at {place}. Infinite ones cannot be approximated. If NaN stands for missing values, missing='ignore' "
        "approximates the others and leaves these out; or drop those rows or columns, or fill them in first."
    )


def refuse_nan(data: WeightedDense, name: str) -> None:
    """Refuse NaN with a weight, unless missing='ignore'."""
    xp, weights = data.namespace.xp, data.weights
    for rows in row_blocks(*data.shape, data.namespace.device):
        block = weights.block(rows) if isinstance(weights, Pair) else weights[rows, :]
        count = int(xp.count_nonzero(xp.isnan(data.values[rows, :]) & (block > 0)))
        if count:
            raise DataError(
                f"{name} has entries that are not finite, NaN, and have a weight. With missing='ignore' they are left out; or give "
                "them weight 0."
            )


def check_observed(data: Data, name: str) -> None:
    """Refuse data of which nothing is known, and missing entries that nobody asked to leave out."""
    if not data.costs.weighted and data.facts.missing:
        count = data.facts.missing
        raise DataError(
            f"{name} has {count} missing entr{'y' if count == 1 else 'ies'}. missing='ignore' approximates the others and leaves "
            "these out; or fill them in first."
        )
    if data.costs.weighted and count_missing(data) == data.shape[0] * data.shape[1]:
        raise DataError(f"{name} has no entry that is observed, or none that has a weight: there is nothing to approximate.")


def check_sign(data: Data, name: str, positive: bool) -> None:
    """Refuse negative entries, and zeros if all must be positive."""
    if data.facts.lowest < 0:
        count, place, value = _first(data, lambda entries: entries < 0)
        if data.origin is not None:
            raise bad_entry(value, data.origin.place(*place))
        raise DataError(
            f"{name} has {count} negative entr{'y' if count == 1 else 'ies'}, the first ({value:g}) at {place}. A non-negative "
            "factorization has no place for them: shift or clip them first; or let `nonneg.factorize` have a 'signed' factor."
        )
    zeros = _zeros(data) if positive else 0
    if zeros:
        raise DataError(
            f"{name} has {zeros} zero entr{'y' if zeros == 1 else 'ies'}, where this divergence is infinite whatever the "
            "approximation. Add a small number to the data, or use a divergence that allows zeros, such as "
            "'kullback-leibler', 'euclidean' or Beta(b) with b > 0."
        )


def _zeros(data: Data) -> int:
    """The number of zeros. Filled data were checked before they were filled."""
    known = data.shape[0] * data.shape[1] - data.facts.missing
    return 0 if isinstance(data, FilledData) else max(known - data.facts.non_zeros, 0)


def check_symmetric(data: Data, name: str) -> None:
    """Refuse data that are not their own transpose."""
    m, n = data.shape
    if m != n:
        raise DataError(f"{name} must be square and symmetric here; its shape is {(m, n)}.")
    largest = 0.0
    for (_, row_block), (_, column_block) in zip(data.blocks(), data.blocks(transposed=True), strict=True):
        largest = max(largest, float(abs(row_block - column_block).max()))
    if largest > 1e4 * data.namespace.eps * data.facts.peak:  # rounding in kernels of scikit-learn is up to 1e3
        raise DataError(
            f"{name} must be symmetric here, but entries differ from their mirror image by up to {largest:g}. "
            "The mean of the matrix and its transpose is symmetric and has the same quadratic form."
        )


def refuse_text_columns(X: Any, error: Exception | None = None) -> None:
    """Refuse a table for its columns that are no numbers, by their names."""
    if not hasattr(X, "__dataframe__"):
        return
    found = []
    for name in X.columns:
        values = np.asarray(X[name])
        try:
            values.astype(np.float64, casting="same_kind" if values.dtype.kind in "mM" else "unsafe")
        except (TypeError, ValueError):
            found.append(f"{name!r} ({_first_text(values)})")
    if found:
        raise DataError(
            "X cannot be read as a matrix of numbers: it holds text, or other cells that are no numbers, in "
            f"column{'s' * (len(found) > 1)} {listed(found)}. Drop columns that are no features, X.drop(columns=...), or make "
            "them numbers."
        ) from error


def _first_text(values: np.ndarray) -> str:
    """The first value of a column that is no number."""
    for value in values.tolist() if values.dtype.kind in "OUS" else ():
        try:
            float(value)
        except (TypeError, ValueError):
            return f"{value!r}"
    return str(values.dtype)


MOST_NAMES = 5
"""Most names in a message."""


def listed(names: Sequence[str]) -> str:
    """The first few of many names."""
    return ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def known_entries(X: Observed) -> tuple[sparse.csr_array, sparse.csr_array]:
    """The known entries, and ones in their places; a stored NaN is missing."""
    entries = sparse.coo_array(X.values)
    known = ~np.isnan(entries.data)
    places = tuple(axis[known] for axis in entries.coords)
    values, ones = (sparse.csr_array((data, places), shape=X.shape) for data in (entries.data[known], np.ones(known.sum())))
    return values, ones


def empty_rows(values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows of an array, a sparse array or an `Observed` without a known value, and rows with known zeros only."""
    if not isinstance(values, Observed):
        return of_arrays(values)
    entries, known = known_entries(values)
    is_unknown = np.diff(known.indptr) == 0
    is_zero = ~is_unknown
    is_zero[np.nonzero(entries)[0]] = False
    return np.flatnonzero(is_unknown), np.flatnonzero(is_zero)
