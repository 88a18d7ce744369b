"""Newton's method along one entry of a factor after the other, for every divergence that is a sum over entries.

A row f of a factor, with X̂ = f V beside a row x of the data, has the objective Σⱼ d(xⱼ, x̂ⱼ). Along one entry its slope is Σ Vₖⱼ d′
and its curvature Σ Vₖⱼ² d″, with d′ and d″ at every x̂ⱼ kept up to date. Rows do not depend on each other.

A step is the minimum of a bound, so that nothing rises. Write x̂ + δv as x̂(1 + s): s ≥ −1, and |s| ≤ |δ|τ with τ = max v/x̂. A
monomial x̂^φ that is convex is its tangent and a rest, whose quotient by s² grows as s falls (if φ < 2), so that the rest is at
most its value at s = δτ for every entry; one that is concave is below its tangent. With z = slope · τ/curvature, the bound has its
minimum at

    δ = ((1 + (1 − φ)z)^(−1/(1 − φ)) − 1)/τ

for the lowest φ if the entry falls. If it rises, δ = −slope/curvature, Newton's own step, unless a φ is above 2: then it is
the formula for the highest φ.

A loop that sums up stores nothing, so that the order of its sum does not depend on addresses of arrays. Logarithms and powers are
computed in double precision and rounded: those of single precision have a bias, which would show in the objective.
"""

from __future__ import annotations

from math import expm1, inf, log1p
from typing import Any

import numpy as np

from .compiler import compiled, inlined

Array = Any
_CHUNK = 512
"""Terms that are summed in the precision of the data, before their sum is added to others in double precision."""
_LONG = 0.1
"""A step that would take more than this share of an entry is worth a look at how far it may go."""


@inlined
def _raised(y: Array, exponent: float, base: Array, out: Array) -> None:
    """y^exponent into `out`, from products and square roots if it is a multiple of a quarter."""
    quarters = round(4 * abs(exponent))
    if abs(4 * abs(exponent) - quarters) > 1e-9 or quarters > 32:
        for j in range(len(y)):
            out[j] = np.float64(y[j]) ** exponent
        return
    for j in range(len(y)):
        base[j], out[j] = y[j], 1
    if exponent < 0:
        for j in range(len(y)):
            base[j] = y.dtype.type(1) / base[j]
    times, left = quarters // 4, quarters % 4
    while True:
        for _ in range(times):
            for j in range(len(y)):
                out[j] *= base[j]
        if not left:
            return
        for j in range(len(y)):
            base[j] = np.sqrt(base[j])
        times, left = left // 2, 2 * (left % 2)


@inlined
def _above(value: float, floor: float) -> float:
    return value if value > floor else floor


@inlined
def _weigh(
    weights: Array, slopes: Array, data_powers: Array, powers: Array, y: Array, a: Array, b: Array, base: Array, z: Array
) -> None:
    """d′ into a, and the convex part of d″ into b, at each entry of X̂; for the I-divergence 1/X̂ into a, and b has weights."""
    one, zero = y.dtype.type(1), y.dtype.type(0)
    if slopes is None:  # ln X̂ − ln X and 1/X̂; the weights are ln X
        for j in range(len(y)):
            b[j] = one / y[j]
            a[j] = np.log(y[j]) - weights[0, j]
        return
    if data_powers is None and powers is None:
        logarithm, other = weights[0], weights[1]
        for j in range(len(y)):
            base[j] = one / y[j]
            z[j] = other[j] * base[j] * base[j] if other[j] != zero else zero
            a[j] = logarithm[j] * base[j] + z[j]
            b[j] = _above(-(z[j] + z[j]) * base[j], zero) + _above(-logarithm[j] * base[j] * base[j], zero)
        return
    weight = weights[0]
    if powers is None:
        for j in range(len(y)):  # hidden entries must not become 0 · ∞
            a[j] = one / y[j] if weight[j] != zero else zero
        return
    if data_powers is None:
        half = y.dtype.type(0.5)
        for j in range(len(y)):
            base[j] = one / y[j]
            z[j] = base[j] * np.sqrt(base[j]) * weight[j] if weight[j] != zero else zero
            a[j] = z[j] * y[j]
            b[j] = _above(-half * z[j], zero)
        return
    for j in range(len(y)):
        a[j] = b[j] = zero
    for m in range(len(powers)):
        weight, more = weights[m], y.dtype.type(powers[m] - 1)
        if powers[m] == 1:
            for j in range(len(y)):
                a[j] += weight[j]
            continue
        _raised(y, powers[m] - 2, base, z)
        for j in range(len(y)):
            z[j] = z[j] * weight[j] if weight[j] != zero else zero
            a[j] += z[j] * y[j]
            b[j] += _above(more * z[j], zero)


@inlined
def _derivatives(v: Array, data_powers: Array, powers: Array, a: Array, b: Array) -> tuple[float, float]:
    """Slope and curvature along an entry."""
    slope, curvature = 0.0, 0.0
    for start in range(0, len(a), _CHUNK):
        s, c = v.dtype.type(0), v.dtype.type(0)
        some, first, second = v[start : start + _CHUNK], a[start : start + _CHUNK], b[start : start + _CHUNK]
        if powers is None and data_powers is not None:
            for j in range(len(first)):
                t = some[j] * first[j]
                s += second[j] * t
                c -= second[j] * t * t
        else:
            for j in range(len(first)):
                s += some[j] * first[j]
                c += some[j] * some[j] * second[j]
        slope += s
        curvature += c
    return slope, curvature


@inlined
def _move(slope: float, curvature: float, steepness: float, power: float) -> float:
    """The minimum of the bound, for `steepness` τ."""
    z = slope * steepness / curvature
    if power == 0:
        return -slope / (curvature * (1 + z))
    if power == 1:
        return expm1(-z) / steepness
    inner = (1 - power) * z
    return -1 / steepness if inner <= -1 else expm1(-log1p(inner) / (1 - power)) / steepness


@inlined
def _steepest(v: Array, y: Array, bends: Array) -> float:
    """The largest v/x̂ at entries with curvature."""
    zero = y.dtype.type(0)
    most = zero
    for j in range(len(y)):
        share = v[j] / y[j] if bends[j] != zero else zero
        most = share if share > most else most
    return float(most)


@inlined
def _row(
    f: Array,
    V: Array,
    n: int,
    linear: Array,
    weights: Array,
    slopes: Array,
    data_powers: Array,
    powers: Array,
    bounds: tuple[float, float],
    floor: float,
    options: tuple[float, float, int, int, float],
    is_given: bool,
    y: Array,
    a: Array,
    b: Array,
    base: Array,
    z: Array,
) -> None:
    """One row f of the factor, gone over until it stays; X̂ = f V is left in y. Beyond n columns V is zero."""
    penalty, overlap, first, passes, enough = options
    if powers is None and data_powers is not None:
        b = weights[0]
    total = 0.0
    for k in range(len(f)):
        total += f[k]
    for j in range(len(y)):
        y[j] = 0 if j < n else 1
    for k in range(len(f)):
        if f[k] != 0:
            for j in range(len(y)):
                y[j] += f[k] * V[k, j]
    for j in range(len(y)):
        y[j] = _above(y[j], floor)
    is_due = True
    for _ in range(0 if is_given else passes):
        largest, moved = 0.0, 0.0
        for k in range(first, len(f)):
            if is_due:
                _weigh(weights, slopes, data_powers, powers, y, a, b, base, z)
                is_due = False
            v, old = V[k], float(f[k])
            slope, curvature = _derivatives(v, data_powers, powers, a, b)
            slope += linear[k] + penalty + overlap * (total - old)
            largest = max(largest, old)
            if old == 0.0 and slope >= 0.0:
                continue
            falls, d = slope > 0.0, -old
            if not falls and not 0.0 < curvature < inf:
                continue
            if not falls and bounds[1] <= 2:
                d = -slope / curvature
            elif curvature > 0.0:
                steepness = 1 / old if falls else inf
                if not falls or slope > _LONG * curvature * old:
                    steepness = min(steepness, _steepest(v, y, b))
                d = _move(slope, curvature, steepness, bounds[0] if falls else bounds[1])
            new = f.dtype.type(old + d)
            if not new >= _SMALLEST:
                new = f.dtype.type(0)
            change = new - f[k]
            if change == 0 or not abs(change) < inf:
                continue
            f[k] = new
            total += change
            moved = max(moved, abs(float(change)))
            for j in range(len(y)):
                y[j] = _above(y[j] + change * v[j], floor)
            is_due = True
        if moved <= enough * largest:
            break


_SMALLEST = 1e-37
"""Zero for numbers below the least normal one of single precision, on which arithmetic is slow."""


@inlined
def _weights_of(x: Array, slopes: Array, data_powers: Array, powers: Array, width: int, weights: Array) -> None:
    """Slope · xᵖ for each monomial; ln x for the dual I-divergence, which has none."""
    n = len(x)
    for m in range(weights.shape[0]):
        for j in range(n, width):
            weights[m, j] = 0
    if slopes is None:
        for j in range(n):
            weights[0, j] = np.log(np.float64(x[j]))
        return
    if data_powers is None:
        for j in range(n):
            weights[0, j] = slopes[0]
        for j in range(n):
            if powers is None:
                weights[1, j] = slopes[1] * x[j]
            else:
                weights[0, j] *= np.sqrt(x[j])
        return
    for m in range(len(slopes)):
        slope, p = x.dtype.type(slopes[m]), data_powers[m]
        for j in range(n):
            weights[m, j] = slope
        if p == 1:
            for j in range(n):
                weights[m, j] *= x[j]
        elif p != 0:
            for j in range(n):
                weights[m, j] = slope * np.float64(x[j]) ** p


@inlined
def _sum_up(
    n: int, weights: Array, slopes: Array, data_powers: Array, powers: Array, y: Array, base: Array, z: Array, totals: Array
) -> None:
    """Σ xᵖ x̂^φ for each monomial, Σ xᵖ ln x̂ if φ = 0; Σ x̂ (ln x̂ − ln x) of the dual I-divergence."""
    if slopes is None:
        total = 0.0
        for j in range(n):
            total += float(y[j]) * float(np.log(np.float64(y[j])) - weights[0, j])
        totals[0] = total
        return
    for m in range(len(totals)):
        if powers is None:
            for j in range(n):
                z[j] = np.log(np.float64(y[j])) if m == 0 else y.dtype.type(1) / y[j]
        elif data_powers is None:
            for j in range(n):
                z[j] = np.sqrt(y[j])
        elif powers[m] == 0:
            for j in range(n):
                z[j] = np.log(np.float64(y[j]))
        else:
            _raised(y, powers[m], base, z)
        total = 0.0
        for j in range(n):
            total += float(weights[m, j]) * float(z[j])
        totals[m] = total / slopes[m]


TOGETHER = 16
"""Columns that loops take at a time. V is made up to a multiple of that with zeros, so that none is left for the slow way."""


@compiled
def newton_rows(
    start: int,
    stop: int,
    given: int,
    F: Array,
    X: Array,
    V: Array,
    linear: Array,
    slopes: Array,
    data_powers: Array,
    powers: Array,
    bounds: tuple[float, float],
    floor: float,
    options: tuple[float, float, int, int, float],
    totals: Array,
) -> None:
    """Rows of F for which Σ d(X, F V) falls, and penalties of `options` with it.

    Parameters
    ----------
    start, stop, given : int
        The rows, and how many of the first ones stay as they are.
    F, X, V : arrays of shape (m, r), (m, n) and (r, n), n of the last rounded up to a multiple of `TOGETHER`
    linear : array of shape (r,)
        Share of the slope by each entry from a monomial that is X̂ itself.
    slopes, data_powers, powers : arrays, or None
        Of the other monomials. Four divergences have None for some, so that shorter kernels are compiled for them. No powers stand
        for [0], that of the I-divergence; no data powers, either, for [0, 1] and [0, −1], those of Itakura and Saito; no data
        powers alone for [1/2] and [1/2], those of Hellinger's distance; no slopes for the dual I-divergence.
    bounds : (float, float)
        The lowest and the highest power of the convex ones.
    floor : float
        The least that X̂ is taken for.
    options : tuple
        Weight of the penalty on the sum, on the overlap, the first column that is not given, passes, and the tolerance.
    totals : array of shape (m, number of monomials) or (0, 0)
        Room for the results of `_sum_up` in each row; empty if not needed.
    """
    n, width = X.shape[1], V.shape[1]
    terms = 1 if slopes is None else len(slopes)
    weights, spare = np.empty((terms, width), X.dtype), np.empty((5, width), X.dtype)
    y, a, b, base, z = spare[0], spare[1], spare[2], spare[3], spare[4]
    for i in range(start, stop):
        _weights_of(X[i], slopes, data_powers, powers, width, weights)
        _row(
            F[i],
            V,
            n,
            linear,
            weights,
            slopes,
            data_powers,
            powers,
            bounds,
            X.dtype.type(floor),
            options,
            i < given,
            y,
            a,
            b,
            base,
            z,
        )
        if totals.shape[0]:
            _sum_up(n, weights, slopes, data_powers, powers, y, base, z, totals[i])


@compiled
def newton_sparse(
    start: int,
    stop: int,
    given: int,
    F: Array,
    indptr: Array,
    indices: Array,
    values: Array,
    V: Array,
    linear: Array,
    slopes: Array,
    data_powers: Array,
    powers: Array,
    bounds: tuple[float, float],
    floor: float,
    options: tuple[float, float, int, int, float],
    totals: Array,
) -> None:
    """The same for sparse X, for which all monomials but X̂ itself vanish with X: V is (n, r), and gathered at the non-zeros."""
    longest = 0
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    longest = (longest + TOGETHER - 1) // TOGETHER * TOGETHER
    r, terms = F.shape[1], len(slopes)
    here, weights, spare = (
        np.empty((r, longest), values.dtype),
        np.empty((terms, longest), values.dtype),
        np.empty((5, longest), values.dtype),
    )
    for i in range(start, stop):
        n = indptr[i + 1] - indptr[i]
        width = (n + TOGETHER - 1) // TOGETHER * TOGETHER
        y, a, b, base, z = spare[0, :width], spare[1, :width], spare[2, :width], spare[3, :width], spare[4, :width]
        for k in range(r):
            for t in range(n, width):
                here[k, t] = 0
        for t in range(n):
            row = V[indices[indptr[i] + t]]
            for k in range(r):
                here[k, t] = row[k]
        _weights_of(values[indptr[i] : indptr[i + 1]], slopes, data_powers, powers, width, weights)
        _row(
            F[i],
            here,
            n,
            linear,
            weights,
            slopes,
            data_powers,
            powers,
            bounds,
            values.dtype.type(floor),
            options,
            i < given,
            y,
            a,
            b,
            base,
            z,
        )
        if totals.shape[0]:
            _sum_up(n, weights, slopes, data_powers, powers, y, base, z, totals[i])
