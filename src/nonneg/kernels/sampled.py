"""Products with sparse data, and with matrices that are needed at its non-zeros only, a row at a time."""

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
    """Put values^exponent in place of the values, without the cost of a general power if there is a cheaper way."""
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
def _approximate(u: np.ndarray, V: np.ndarray, columns: np.ndarray, floor: float, approximation: np.ndarray) -> None:
    """X̂ at some non-zeros of a row, four at a time, but no less than `floor`; NaN stays, and is noticed."""
    whole, zero = len(columns) - len(columns) % 4, u.dtype.type(0)
    for t in range(0, whole, 4):
        a, b, c, d = V[columns[t]], V[columns[t + 1]], V[columns[t + 2]], V[columns[t + 3]]
        of_a, of_b, of_c, of_d = zero, zero, zero, zero
        for k in range(len(u)):
            of_a += u[k] * a[k]
            of_b += u[k] * b[k]
            of_c += u[k] * c[k]
            of_d += u[k] * d[k]
        approximation[t], approximation[t + 1], approximation[t + 2], approximation[t + 3] = of_a, of_b, of_c, of_d
    for t in range(whole, len(columns)):
        a, of_a = V[columns[t]], zero
        for k in range(len(u)):
            of_a += u[k] * a[k]
        approximation[t] = of_a
    for t in range(len(columns)):
        approximation[t] = floor if approximation[t] < floor else approximation[t]


@inlined
def _sum_of_logarithms(weight: np.ndarray, values: np.ndarray, numbers: np.ndarray, bits: np.ndarray, powers: np.ndarray) -> float:
    """Σ weight · ln values, in loops without branches or calls, which run in vectors: a quarter of the time of so many calls.

    A value is 2ᵉ m with m between √½ and √2, and ln m = 2 artanh f for f = (m − 1)/(m + 1), whose series has all digits after ten
    terms. `bits` are those of `numbers`. A value that is not finite would have the bits of one that is: so it is added, times 0.
    """
    for t in range(len(values)):
        numbers[t] = values[t]
    for t in range(len(values)):
        exponent = (bits[t] - _ROOT_OF_HALF) >> 52
        powers[t] = exponent
        bits[t] -= exponent << 52
    total = 0.0
    for t in range(len(values)):
        f = (numbers[t] - 1) / (numbers[t] + 1)
        s = f * f
        series = 1 / 13 + s * (1 / 15 + s * (1 / 17 + s / 19))
        series = 2 * f * (1 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s * (1 / 11 + s * series))))))
        total += weight[t] * (powers[t] * _LN2 + series) + 0.0 * values[t]
    return total


_LN2, _ROOT_OF_HALF = math.log(2.0), 0x3FE6A09E667F3BCD
"""The logarithm of 2, and the bits of √½."""


@inlined
def _weigh(
    entries: np.ndarray, given: np.ndarray, ratio_power: float, power: float, approximation: np.ndarray, weight: np.ndarray
) -> None:
    """E at some non-zeros of a row into `weight`, and X̂^power into `approximation`, which is X̂."""
    count = len(entries)
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


@compiled
def sampled_products(
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
    N: np.ndarray,
    sums: np.ndarray,
) -> float:
    """Rows of E·M into `out`, and the summand of these rows of Eᵀ·N into `sums`.

    E is (X/X̂)^ratio_power ∘ X̂^power at the non-zeros of X, which is given in compressed rows, and X̂ is U·Vᵀ, but no less than
    `floor`. M and N may be without columns. Returns Σ X^log_power · ln X̂ at the non-zeros of these rows, or 0 for log_power 0.
    With weights `given`, one for each entry, E and the sum have them.
    """
    total = 0.0
    approximations, all_weights = np.empty(_CHUNK, U.dtype), np.empty(_CHUNK, U.dtype)
    numbers, powers = np.empty(_CHUNK), np.empty(_CHUNK)
    bits = numbers.view(np.int64)
    for i in range(start, stop):
        if M.shape[1]:
            out[i] = 0
        for first in range(indptr[i], indptr[i + 1], _CHUNK):
            last = min(first + _CHUNK, indptr[i + 1])
            entries, columns, own = x[first:last], indices[first:last], given[first:last]
            approximation, weights = approximations[: last - first], all_weights[: last - first]
            _approximate(U[i], V, columns, floor, approximation)
            if log_power:
                for t in range(len(columns)):
                    weights[t] = entries[t]
                _raise(weights, log_power)
                for t in range(len(own)):
                    weights[t] *= own[t]
                total += _sum_of_logarithms(weights, approximation, numbers, bits, powers)
            _weigh(entries, own, ratio_power, power, approximation, weights)
            if M.shape[1]:
                _add_rows(out[i], weights, M, columns)
            if N.shape[1]:
                for t in range(len(columns)):
                    row, weight = sums[columns[t]], weights[t]
                    for k in range(N.shape[1]):
                        row[k] += weight * N[i, k]
    return total
