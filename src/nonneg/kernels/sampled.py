"""Products with sparse data, and with matrices that are needed only where the data are not zero, a row at a time."""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled, inlined

_CHUNK = 256
"""Non-zeros of a row that are worked on together: their rows of V and M stay in the first cache."""


@inlined
def _add_rows(sums: np.ndarray, weights: np.ndarray, M: np.ndarray, rows: np.ndarray) -> None:
    """Add weighted rows of M to `sums`, four at a time, so that the sums are read and written a quarter as often."""
    columns, whole = M.shape[1], len(rows) - len(rows) % 4
    for t in range(0, whole, 4):
        a, b, c, d = M[rows[t]], M[rows[t + 1]], M[rows[t + 2]], M[rows[t + 3]]
        of_a, of_b, of_c, of_d = weights[t], weights[t + 1], weights[t + 2], weights[t + 3]
        for k in range(columns):
            sums[k] += of_a * a[k] + of_b * b[k] + of_c * c[k] + of_d * d[k]
    for t in range(whole, len(rows)):
        a, of_a = M[rows[t]], weights[t]
        for k in range(columns):
            sums[k] += of_a * a[k]


@inlined
def _raise(values: np.ndarray, exponent: float) -> None:
    """Put values^exponent in place of the values, without the cost of a general power where there is a cheaper way."""
    if exponent < 0:
        for t in range(len(values)):
            values[t] = 1 / values[t]
    exponent = abs(exponent)
    if exponent == 0.5:
        for t in range(len(values)):
            values[t] = math.sqrt(values[t])
    elif exponent == 0:
        for t in range(len(values)):
            values[t] = 1
    elif exponent == 2:
        for t in range(len(values)):
            values[t] *= values[t]
    elif exponent != 1:
        for t in range(len(values)):
            values[t] **= exponent


@inlined
def _weigh(
    entries: np.ndarray,
    columns: np.ndarray,
    given: np.ndarray,
    u: np.ndarray,
    V: np.ndarray,
    floor: float,
    ratio_power: float,
    power: float,
    log_power: float,
    approximation: np.ndarray,
    weight: np.ndarray,
) -> float:
    """E at some non-zeros of a row into `weight`, X̂^power into `approximation`; returns their share of the sum of logarithms."""
    count, zero, total = len(entries), u.dtype.type(0), 0.0
    for t in range(count):
        v, entry = V[columns[t]], zero
        for k in range(len(u)):
            entry += u[k] * v[k]
        approximation[t] = floor if entry < floor else entry  # what is not a number stays so, and is noticed later

    if log_power:
        weight[:] = entries
        _raise(weight, log_power)
        if len(given):
            for t in range(count):
                weight[t] *= given[t]
        for t in range(count):
            total += weight[t] * math.log(np.float64(approximation[t]))

    for t in range(count):
        weight[t] = entries[t] / approximation[t]
    _raise(weight, ratio_power)
    if power:
        _raise(approximation, power)
        for t in range(count):
            weight[t] *= approximation[t]
    if len(given):
        for t in range(count):
            weight[t] *= given[t]
    return total


@compiled
def sampled_product(
    start: int,
    stop: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    x: np.ndarray,
    given: np.ndarray,
    U: np.ndarray,
    V: np.ndarray,
    floor: float,
    ratio_power: float,
    power: float,
    log_power: float,
    M: np.ndarray,
    out: np.ndarray,
) -> float:
    """Rows of E·M into `out`, for E = (X/X̂)^ratio_power ∘ X̂^power at the non-zeros of X, which is given in compressed rows.

    X̂ is U·Vᵀ, but no less than `floor`. M may be without columns. Returns Σ X^log_power · ln X̂ at the non-zeros of these rows, or 0
    for log_power 0. Where weights are `given`, one for each entry, E and the sum have them.
    """
    total = 0.0
    approximations, weights = np.empty(_CHUNK, U.dtype), np.empty(_CHUNK, U.dtype)
    for i in range(start, stop):
        out[i] = 0
        for first in range(indptr[i], indptr[i + 1], _CHUNK):
            last = min(first + _CHUNK, indptr[i + 1])
            columns, weight = indices[first:last], weights[: last - first]
            total += _weigh(
                x[first:last], columns, given[first:last], U[i], V, floor, ratio_power, power, log_power,
                approximations[: last - first], weight,
            )  # fmt: skip
            _add_rows(out[i], weight, M, columns)
    return total


@compiled
def scattered_product(
    start: int,
    stop: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    x: np.ndarray,
    given: np.ndarray,
    U: np.ndarray,
    V: np.ndarray,
    floor: float,
    ratio_power: float,
    power: float,
    log_power: float,
    N: np.ndarray,
    out: np.ndarray,
) -> float:
    """What these rows add to Eᵀ·N, into `out`, and to the sum of logarithms: as `sampled_product` of Xᵀ, which it does without."""
    total = 0.0
    approximations, weights = np.empty(_CHUNK, U.dtype), np.empty(_CHUNK, U.dtype)
    for i in range(start, stop):
        own = N[i]
        for first in range(indptr[i], indptr[i + 1], _CHUNK):
            last = min(first + _CHUNK, indptr[i + 1])
            columns, weight = indices[first:last], weights[: last - first]
            total += _weigh(
                x[first:last], columns, given[first:last], U[i], V, floor, ratio_power, power, log_power,
                approximations[: last - first], weight,
            )  # fmt: skip
            for t in range(last - first):
                sums = out[columns[t]]
                for k in range(len(own)):
                    sums[k] += weight[t] * own[k]
    return total
