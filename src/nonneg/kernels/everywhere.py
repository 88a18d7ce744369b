"""Products with X̂^e, which is not zero at zeros of X: every entry of X̂ is made, used on both sides, and forgotten.

X̂ = U·V is made for a few rows and columns at a time, which stay in the first cache with all that is multiplied with them. Sums over
the columns of a tile, and over the rows of a block, are in the precision of U; these are added up in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiler import compiled, inlined
from .newton import _raised

Array = Any
TILE = 256
"""Columns that are worked on together."""
ROWS = 8
"""Rows that are. U and N are made up to a multiple of that with zeros."""
_SUMMED, _BLOCK = 256, 4096
"""Rows after which sums over them are added to those in double precision, and after which the next tile is taken."""


@inlined
def _approximate(u: Array, V: Array, y: Array) -> None:
    """A row of X̂ = u·V, five components at a time, so that it is read and written a fifth as often."""
    r, done = len(u), 0
    if r >= 5:
        a, b, c, d, e = V[0], V[1], V[2], V[3], V[4]
        of_a, of_b, of_c, of_d, of_e = u[0], u[1], u[2], u[3], u[4]
        for j in range(len(y)):
            y[j] = of_a * a[j] + of_b * b[j] + of_c * c[j] + of_d * d[j] + of_e * e[j]
        done = 5
    else:
        for j in range(len(y)):
            y[j] = 0
    while done + 5 <= r:
        a, b, c, d, e = V[done], V[done + 1], V[done + 2], V[done + 3], V[done + 4]
        of_a, of_b, of_c, of_d, of_e = u[done], u[done + 1], u[done + 2], u[done + 3], u[done + 4]
        for j in range(len(y)):
            y[j] += of_a * a[j] + of_b * b[j] + of_c * c[j] + of_d * d[j] + of_e * e[j]
        done += 5
    for k in range(done, r):
        a, of_a = V[k], u[k]
        for j in range(len(y)):
            y[j] += of_a * a[j]


@inlined
def _raise(y: Array, power: float, floor: float, base: Array, out: Array) -> None:
    """max(y, floor)^power in place of y."""
    for j in range(len(y)):
        y[j] = floor if y[j] < floor else y[j]  # NaN stays, and is noticed later
    if power == 0.5:
        for j in range(len(y)):
            y[j] = np.sqrt(y[j])
    elif power != 1:
        _raised(y, power, base, out)
        for j in range(len(y)):
            y[j] = out[j]


@inlined
def _add_dots(y: Array, z: Array, M: Array, of_y: Array, of_z: Array) -> None:
    """Add the inner products of two rows with those of M, four of these at a time."""
    zero, whole = y.dtype.type(0), len(M) // 4 * 4
    for k in range(0, whole, 4):
        a, b, c, d = M[k], M[k + 1], M[k + 2], M[k + 3]
        ya, yb, yc, yd, za, zb, zc, zd = zero, zero, zero, zero, zero, zero, zero, zero
        for j in range(len(y)):
            ya += y[j] * a[j]
            yb += y[j] * b[j]
            yc += y[j] * c[j]
            yd += y[j] * d[j]
            za += z[j] * a[j]
            zb += z[j] * b[j]
            zc += z[j] * c[j]
            zd += z[j] * d[j]
        of_y[k] += ya
        of_y[k + 1] += yb
        of_y[k + 2] += yc
        of_y[k + 3] += yd
        of_z[k] += za
        of_z[k + 1] += zb
        of_z[k + 2] += zc
        of_z[k + 3] += zd
    for k in range(whole, len(M)):
        a, ya, za = M[k], zero, zero
        for j in range(len(y)):
            ya += y[j] * a[j]
            za += z[j] * a[j]
        of_y[k] += ya
        of_z[k] += za


@inlined
def _add_rows(Y: Array, N: Array, sums: Array) -> None:
    """Add Nᵀ·Y, for eight rows of both."""
    a, b, c, d, e, f, g, h = Y[0], Y[1], Y[2], Y[3], Y[4], Y[5], Y[6], Y[7]
    for k in range(len(sums)):
        row = sums[k]
        of_a, of_b, of_c, of_d, of_e, of_f, of_g, of_h = N[0, k], N[1, k], N[2, k], N[3, k], N[4, k], N[5, k], N[6, k], N[7, k]
        for j in range(len(row)):
            row[j] += of_a * a[j] + of_b * b[j] + of_c * c[j] + of_d * d[j] + of_e * e[j] + of_f * f[j] + of_g * g[j] + of_h * h[j]


@compiled
def power_products(U: Array, V: Array, power: float, floor: float, M: Array, N: Array, right: Array, left: Array) -> None:
    """Add E·Mᵀ to `right` and Nᵀ·E to `left`, for E = X̂^power with X̂ = U·V, but no less than `floor`.

    Parameters
    ----------
    U, V : arrays of shape (m, r) and (r, n), m a multiple of `ROWS`
    power : float
        No less than −1: tiles are made up with zeros, for which E has to be a number.
    M, N : arrays of shape (p, n) and (m, q)
        Either may be empty.
    right, left : arrays of shape (m, p) and (q, n), in double precision
    """
    (m, r), n, p, q = U.shape, V.shape[1], M.shape[0], N.shape[1]
    least = U.dtype.type(floor)
    Y, spare = np.empty((ROWS, TILE), U.dtype), np.empty((2, TILE), U.dtype)
    tile, factors, sums = np.zeros((r, TILE), U.dtype), np.zeros((p, TILE), U.dtype), np.empty((q, TILE), U.dtype)
    for top in range(0, m, _BLOCK):
        for start in range(0, n, TILE):
            width = min(TILE, n - start)
            if width < TILE:
                tile[:], factors[:] = 0, 0
            for k in range(r):
                for j in range(width):
                    tile[k, j] = V[k, start + j]
            for k in range(p):
                for j in range(width):
                    factors[k, j] = M[k, start + j]
            for first in range(top, min(top + _BLOCK, m), _SUMMED):
                sums[:] = 0
                for i in range(first, min(first + _SUMMED, m), ROWS):
                    for t in range(ROWS):
                        _approximate(U[i + t], tile, Y[t])
                        _raise(Y[t], power, least, spare[0], spare[1])
                    if p:
                        for t in range(0, ROWS, 2):
                            _add_dots(Y[t], Y[t + 1], factors, right[i + t], right[i + t + 1])
                    if q:
                        _add_rows(Y, N[i : i + ROWS], sums)
                for k in range(q):
                    for j in range(width):
                        left[k, start + j] += sums[k, j]
