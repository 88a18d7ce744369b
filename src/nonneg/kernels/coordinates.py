"""Coordinate descent for the Euclidean distance: each entry of a factor in turn takes its exact minimum.

Along one entry the objective is a polynomial, of degree two if the factor occurs once in the product and of degree four if
it occurs twice. A row of the factor is taken at a time, and gone over several times: its entries need of the rest a few
r × r matrices and one row of a long product, so that the long products are touched once a row.

A loop that sums up stores nothing. One that does both is compiled twice, with vectors and without, and which of the two runs
depends on how far apart the arrays happen to lie in memory; so would the sum, in its last digit.
"""

from __future__ import annotations

from math import acos, cos, pi, sqrt
from typing import Any

import numpy as np

from .compiler import compiled, inlined

Array = Any
_TOGETHER = 16
"""Rows of X that are multiplied with a small matrix at once, before each of them is gone over."""


# ---- a factor that occurs once: ½⟨PFQ, F⟩ − ⟨C, F⟩


@compiled
def linear_rows(
    start: int,
    stop: int,
    F: Array,
    Q: Array,
    C: Array,
    penalty: float,
    overlap: float,
    first: int,
    passes: int,
    enough: float,
) -> None:
    """Rows of F for which ½⟨FQ, F⟩ − ⟨C, F⟩ + penalty ΣF + overlap Σ_{j<k} ⟨f_j, f_k⟩ falls.

    Columns before `first` stay. A row is gone over until no entry changes by more than `enough` times its largest one. Rows do not
    depend on each other: eight at a time are taken side by side, one in each lane of a vector, so that what an entry needs of the
    others of its row is summed for eight rows at once. The result of a row is the same whichever rows lie beside it.
    """
    r = F.shape[1]
    f, c = np.empty((r, _LANES)), np.empty((r, _LANES))
    slope, total, largest, moved = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    is_open = np.empty(_LANES, dtype=np.bool_)
    for i in range(start, stop, _LANES):
        count = min(_LANES, stop - i)
        for t in range(_LANES):
            is_open[t], total[t] = t < count, 0.0
            for k in range(r):
                f[k, t] = F[i + t, k] if t < count else 0.0
                c[k, t] = C[i + t, k] - penalty if t < count else 0.0
        for k in range(r):
            for t in range(_LANES):
                total[t] += f[k, t]
        for _ in range(passes):
            for t in range(_LANES):
                largest[t] = moved[t] = 0.0
            for k in range(first, r):
                curvature = Q[k, k]
                if curvature <= 0.0:
                    continue
                s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0  # variables, lest each sum goes through memory
                for j in range(r):
                    q = Q[k, j]
                    s0 += q * f[j, 0]
                    s1 += q * f[j, 1]
                    s2 += q * f[j, 2]
                    s3 += q * f[j, 3]
                    s4 += q * f[j, 4]
                    s5 += q * f[j, 5]
                    s6 += q * f[j, 6]
                    s7 += q * f[j, 7]
                slope[0], slope[1], slope[2], slope[3], slope[4], slope[5], slope[6], slope[7] = s0, s1, s2, s3, s4, s5, s6, s7
                for t in range(_LANES):
                    old = f[k, t]
                    d = -(slope[t] + overlap * (total[t] - old) - c[k, t]) / curvature
                    d = max(d, -old) if is_open[t] else 0.0
                    f[k, t] = old + d
                    total[t] += d
                    largest[t] = max(largest[t], old)
                    moved[t] = max(moved[t], abs(d))
            is_over = True
            for t in range(_LANES):
                is_open[t] = is_open[t] and moved[t] > enough * largest[t]
                is_over = is_over and not is_open[t]
            if is_over:
                break
        for t in range(count):
            for k in range(first, r):
                F[i + t, k] = f[k, t]


_LANES = 8
"""Rows side by side: the doubles of one vector register of the widest kind, or of two."""


@compiled
def linked_rows(
    start: int,
    stop: int,
    F: Array,
    P: Array,
    Q: Array,
    C: Array,
    penalty: float,
    overlap: float,
    first: int,
    passes: int,
    enough: float,
) -> None:
    """The same for ½⟨PFQ, F⟩: rows depend on each other, and are taken one after the other."""
    r = F.shape[1]
    y, c = np.empty(r), np.empty(r)
    for i in range(start, stop):
        total = 0.0
        for k in range(r):
            y[k], c[k] = 0.0, C[i, k] - penalty
        for k in range(r):
            total += F[i, k]
        for j in range(P.shape[0]):
            for k in range(r):
                y[k] += P[i, j] * F[j, k]
        p = P[i, i]
        for _ in range(passes):
            largest, moved = 0.0, 0.0
            for k in range(first, r):
                curvature = p * Q[k, k]
                if curvature <= 0.0:
                    continue
                f = float(F[i, k])
                slope = overlap * (total - f) - c[k]
                for j in range(r):
                    slope += Q[k, j] * y[j]
                largest = max(largest, f)
                if f == 0.0 and slope >= 0.0:
                    continue
                d = max(-slope / curvature, -f)
                F[i, k] = f + d
                y[k] += p * d
                total += d
                moved = max(moved, abs(d))
            if moved <= enough * largest:
                break


# ---- a factor that occurs twice: −⟨C, FFᵀ⟩ + ½⟨FᵀQF, FᵀF⟩


@inlined
def _least_cubic(c1: float, c2: float, c3: float, least: float) -> float:
    """Minimise c₁d + c₂d² + c₃d³ over d ≥ least, least ≤ 0. A negative c₃ is rounding, and counts as zero."""
    c3 = max(c3, 0.0)
    if c2 <= 0.0 and c3 == 0.0:
        return least if c1 >= 0.0 else 0.0
    discriminant = c2 * c2 - 3 * c1 * c3
    if discriminant < 0.0:  # it rises everywhere
        return least
    root = sqrt(discriminant)
    x = -c1 / (c2 + root) if c2 > 0.0 else (root - c2) / (3 * c3)  # the larger root of its derivative, without cancellation
    if x <= least or least * (c1 + least * (c2 + least * c3)) < x * (c1 + x * (c2 + x * c3)):
        return least
    return x


@inlined
def least_quartic(c1: float, c2: float, c3: float, c4: float, least: float) -> float:
    """Minimise c₁d + c₂d² + c₃d³ + c₄d⁴, c₄ ≥ 0, over d ≥ least, least ≤ 0; if it is convex at 0, the nearest minimum.

    If c₄ = 0, c₃ ≥ 0 but for rounding. A polynomial that is zero, but for rounding, gives `least`.
    """
    if c2 > 0.0:  # convex at zero: a few Newton steps reach the minimum, unless the polynomial is not convex on the way
        x = max(-0.5 * c1 / c2, least)
        for _ in range(8):
            curvature = 2 * c2 + x * (6 * c3 + 12 * c4 * x)
            if curvature <= 0.5 * c2:
                break
            before = x
            x = max(x - (c1 + x * (2 * c2 + x * (3 * c3 + 4 * c4 * x))) / curvature, least)
            if abs(x - before) <= 1e-6 * abs(x):  # the error left is the square of that
                if x * (c1 + x * (c2 + x * (c3 + x * c4))) <= 0.0:
                    return x
                break
    if c4 <= 0.0:
        return _least_cubic(c1, c2, c3, least)
    # The roots of its derivative, d³ + αd² + βd + γ, by Cardano.
    third, beta, gamma = 0.25 * c3 / c4, 0.5 * c2 / c4, 0.25 * c1 / c4
    p, q = beta - 3 * third * third, gamma + third * (2 * third * third - beta)
    discriminant = 0.25 * q * q + p * p * p / 27.0
    best, value = least, least * (c1 + least * (c2 + least * (c3 + least * c4)))
    if value > 0.0:
        best, value = 0.0, 0.0
    if discriminant >= 0.0:
        u = np.cbrt(-0.5 * q + sqrt(discriminant) if q <= 0.0 else -0.5 * q - sqrt(discriminant))
        x = (u - p / (3.0 * u) if u != 0.0 else 0.0) - third
        if x > least and x * (c1 + x * (c2 + x * (c3 + x * c4))) < value:
            best = x
        return best
    radius = sqrt(-p / 3.0)
    angle = acos(min(1.0, max(-1.0, -0.5 * q / (radius * radius * radius))))
    for turn in (0.0, 2 * pi):  # the outer two of three roots are minima
        x = 2 * radius * cos((angle + turn) / 3.0) - third
        here = x * (c1 + x * (c2 + x * (c3 + x * c4)))
        if x > least and here < value:
            best, value = x, here
    return best


@inlined
def _quadratic_row(
    w: Array,
    a: Array,
    b: Array,
    B: Array,
    G: Array,
    c_own: float,
    q_own: float,
    penalty: float,
    overlap: float,
    first: int,
    passes: int,
    enough: float,
    change: Array,
    Bw: Array,
    Gb: Array,
) -> None:
    """One row w of F, with a = (CF)ᵢ, b = (QF)ᵢ, B = FᵀQF, G = FᵀF; all of them, and the row's `change`, are kept up to date."""
    r = w.shape[0]
    bw = total = 0.0
    for j in range(r):
        bw += b[j] * w[j]
        total += w[j]
    for j in range(r):
        Gb[j] = Bw[j] = change[j] = 0.0
    for k in range(r):
        for j in range(r):
            Gb[j] += G[k, j] * b[k]
        if w[k] > 0.0:
            for j in range(r):
                Bw[j] += B[k, j] * w[k]
    for _ in range(passes):
        largest = moved = 0.0
        for k in range(first, r):
            wk, bk = w[k], b[k]
            largest = max(largest, wk)
            c1 = -2 * a[k] + Bw[k] + Gb[k] + penalty + overlap * (total - wk)
            if wk == 0.0 and c1 > 0.0:
                continue
            c2 = -c_own + 0.5 * q_own * G[k, k] + 0.5 * B[k, k] + bw + bk * wk
            if wk == 0.0 and c1 == 0.0 and c2 >= 0.0:  # otherwise a column of zeros, which is a saddle, comes back to life
                continue
            d = least_quartic(c1, c2, q_own * wk + bk, 0.5 * q_own, -wk)
            if d == 0.0:
                continue
            moved = max(moved, abs(d))
            for j in range(r):  # FᵀQF and FᵀF gain d (e_k bᵀ + b e_kᵀ) + d² q e_k e_kᵀ and its like
                Bjk, Gjk = B[k, j] + d * b[j], G[k, j] + d * w[j]
                Bw[j] += d * wk * b[j] + d * Bjk
                Gb[j] += d * bk * w[j] + d * q_own * Gjk
                B[k, j] = B[j, k] = Bjk
                G[k, j] = G[j, k] = Gjk
            more_B, more_G = d * bk + d * d * q_own, d * wk + d * d
            B[k, k] += more_B
            G[k, k] += more_G
            Bw[k] += d * bw + d * d * q_own * wk + d * more_B
            Gb[k] += d * bw + d * d * bk + d * q_own * more_G
            bw += d * bk + q_own * d * (wk + d)
            total += d
            w[k] = wk + d
            a[k] += c_own * d
            b[k] += q_own * d
            change[k] += d
        if moved <= enough * largest:
            break


@compiled
def quadratic_gram(
    order: Array,
    F: Array,
    CF: Array,
    QF: Array,
    B: Array,
    G: Array,
    C: Array,
    Q: Array,
    work: Array,
    penalty: float,
    overlap: float,
    first: int,
    passes: int,
    enough: float,
) -> None:
    """Rows of F in the given order, with C and Q at hand. CF and QF hold (CF)ᵀ and (QF)ᵀ, and are brought up to date in place.

    An empty Q stands for the identity; QF empty, for Q = C. `work` are six rows of double precision to work with: an array that is
    made here, and code for such rows, would take longer to compile.
    """
    m, r = F.shape
    w, a, b, change, Bw, Gb = work[0], work[1], work[2], work[3], work[4], work[5]
    is_identity, is_same = Q.shape[0] == 0, QF.shape[0] == 0
    for i in order:
        q_own = 1.0 if is_identity else float(Q[i, i])
        for k in range(r):
            w[k], a[k] = F[i, k], CF[k, i]
            b[k] = w[k] if is_identity else a[k] if is_same else QF[k, i]
        _quadratic_row(w, a, b, B, G, np.float64(C[i, i]), q_own, penalty, overlap, first, passes, enough, change, Bw, Gb)
        for k in range(first, r):
            d = change[k]
            if d != 0.0:
                F[i, k] = w[k]
                for j in range(m):
                    CF[k, j] += d * C[i, j]
                if not is_identity and not is_same:
                    for j in range(m):
                        QF[k, j] += d * Q[i, j]


@compiled
def quadratic_rows(
    order: Array,
    F: Array,
    Y: Array,
    B: Array,
    G: Array,
    X: Array,
    penalty: float,
    overlap: float,
    first: int,
    passes: int,
    enough: float,
) -> None:
    """Rows of F in the given order, with C = Q = XXᵀ not formed: Y is XᵀF, in double precision, and is kept up to date.

    A few rows at a time share the products with Y; XXᵀ between them accounts for the changes of those before.
    """
    n, r = X.shape[1], F.shape[1]
    work = np.empty((6, r))
    w, a, b, change, Bw, Gb = work[0], work[1], work[2], work[3], work[4], work[5]
    rows, D = np.empty((_TOGETHER, n), dtype=X.dtype), np.empty((_TOGETHER, r), dtype=F.dtype)
    operand = Y.astype(X.dtype)
    for start in range(0, len(order), _TOGETHER):
        count = min(_TOGETHER, len(order) - start)
        for s in range(count):
            for j in range(n):
                rows[s, j] = X[order[start + s], j]
        block = rows[:count]
        A, K = np.dot(block, operand), np.dot(block, block.T)
        moved = False
        for s in range(count):
            i, own = order[start + s], np.float64(K[s, s])
            for k in range(r):
                D[s, k] = 0.0
            for k in range(r):
                w[k], a[k] = F[i, k], A[s, k]
            for q in range(s):
                for k in range(r):
                    a[k] += K[s, q] * D[q, k]
            for k in range(r):
                b[k] = a[k]
            _quadratic_row(w, a, b, B, G, own, own, penalty, overlap, first, passes, enough, change, Bw, Gb)
            for k in range(first, r):
                if change[k] != 0.0:
                    F[i, k], D[s, k] = w[k], change[k]
                    moved = True
        if moved:
            P = np.dot(block.T, D[:count])
            for j in range(n):
                for k in range(r):
                    Y[j, k] += P[j, k]
                for k in range(r):
                    operand[j, k] = Y[j, k]


@compiled
def quadratic_sparse(
    order: Array,
    F: Array,
    Z: Array,
    B: Array,
    G: Array,
    indptr: Array,
    indices: Array,
    values: Array,
    is_gram: bool,
    is_identity: bool,
    penalty: float,
    overlap: float,
    first: int,
    passes: int,
    enough: float,
) -> None:
    """Rows of F in the given order, for sparse X: C = XXᵀ with Z = XᵀF, which is kept; or `is_gram`, C = X with Z = F itself.

    Q is C, or the identity.
    """
    r = F.shape[1]
    work = np.empty((6, r))
    w, a, b, change, Bw, Gb = work[0], work[1], work[2], work[3], work[4], work[5]
    for i in order:
        own = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            if not is_gram:
                own += values[p] * values[p]
            elif indices[p] == i:
                own = float(values[p])
        a[:] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            j, x = indices[p], values[p]
            for k in range(r):
                a[k] += x * Z[j, k]
        q_own = 1.0 if is_identity else own
        for k in range(r):
            w[k] = F[i, k]
            b[k] = w[k] if is_identity else a[k]
        _quadratic_row(w, a, b, B, G, own, q_own, penalty, overlap, first, passes, enough, change, Bw, Gb)
        moved = False
        for k in range(r):
            if change[k] != 0.0:
                F[i, k] = w[k]
                moved = True
        if moved and not is_gram:
            for p in range(indptr[i], indptr[i + 1]):
                j, x = indices[p], values[p]
                for k in range(r):
                    Z[j, k] += x * change[k]


# ---- a factor that occurs once, its rows with entries and weights of their own


@compiled
def weighted_rows(
    start: int,
    stop: int,
    F: Array,
    B: Array,
    indptr: Array,
    indices: Array,
    x: Array,
    weights: Array,
    G: Array,
    C: Array,
    penalty: float,
    overlap: float,
    first: int,
    passes: int,
    enough: float,
) -> None:
    """Rows f of F for which ½ Σⱼ vⱼ (xⱼ − ⟨f, bⱼ⟩)² falls, with a penalty and an overlap, as in `linear_rows`.

    The rows of B are the bⱼ. The entries of a row of X are given in compressed rows; no `weights` stand for ones. Where there are
    G = Σⱼ bⱼ bⱼᵀ over all j and C, which has Σⱼ xⱼ bⱼ over what is known for each row, the entries are those that are missing.
    """
    r = F.shape[1]
    is_rest, has_weights = G.shape[0] > 0, len(weights) > 0
    Q, c, f = np.empty((r, r)), np.empty(r), np.empty(r)
    rows, weighted = np.empty((_GATHERED, r)), np.empty((_GATHERED, r))
    for i in range(start, stop):
        for k in range(r):
            f[k] = F[i, k]
            c[k] = C[i, k] if is_rest else 0.0
            for j in range(r):
                Q[k, j] = G[k, j] if is_rest else 0.0
        for begin in range(indptr[i], indptr[i + 1], _GATHERED):
            count = min(_GATHERED, indptr[i + 1] - begin)
            for t in range(count):
                b = B[indices[begin + t]]
                v = -1.0 if is_rest else float(weights[begin + t]) if has_weights else 1.0
                for k in range(r):
                    rows[t, k] = b[k]
                for k in range(r):
                    weighted[t, k] = v * b[k]
            product = np.dot(rows[:count].T, weighted[:count])
            for k in range(r):
                for j in range(r):
                    Q[k, j] += product[k, j]
            if not is_rest:
                for t in range(count):
                    entry = float(x[begin + t])
                    for k in range(r):
                        c[k] += entry * weighted[t, k]
        if is_rest or indptr[i + 1] > indptr[i] or penalty > 0.0:  # of a row without entries nothing is known
            _descend(f, Q, c, penalty, overlap, first, passes, enough)
        for k in range(first, r):
            F[i, k] = f[k]


@compiled
def rows_of_grams(
    start: int,
    stop: int,
    F: Array,
    grams: Array,
    C: Array,
    penalty: float,
    overlap: float,
    first: int,
    passes: int,
    enough: float,
) -> None:
    """The same for rows with their own Σⱼ vⱼ bⱼ bⱼᵀ at hand, the lower half of it, by rows, in `grams`, and Σⱼ vⱼ xⱼ bⱼ in C."""
    r = F.shape[1]
    Q, c, f = np.empty((r, r)), np.empty(r), np.empty(r)
    for i in range(start, stop):
        place = 0
        for k in range(r):
            f[k], c[k] = F[i, k], C[i, k]
            for j in range(k + 1):
                Q[k, j] = grams[i, place]
                Q[j, k] = grams[i, place]
                place += 1
        _descend(f, Q, c, penalty, overlap, first, passes, enough)
        for k in range(first, r):
            F[i, k] = f[k]


@inlined
def _descend(f: Array, Q: Array, c: Array, penalty: float, overlap: float, first: int, passes: int, enough: float) -> None:
    """The entries of one row, in turn, to the least of ½ fᵀQf − ⟨c, f⟩ and its penalties."""
    r, total, size = len(f), 0.0, 0.0
    for k in range(r):
        total += f[k]
    for k in range(r):
        size = max(size, Q[k, k])
    for _ in range(passes):
        largest, moved = 0.0, 0.0
        for k in range(first, r):
            curvature = Q[k, k]
            if curvature <= _ROUNDING * size:  # nothing that is known has any of it, and a penalty alone decides
                if penalty > 0.0:
                    total -= f[k]
                    f[k] = 0.0
                continue
            slope = overlap * (total - f[k]) + penalty - c[k]
            for j in range(r):
                slope += Q[k, j] * f[j]
            largest = max(largest, f[k])
            d = max(-slope / curvature, -f[k])
            f[k] += d
            total += d
            moved = max(moved, abs(d))
        if moved <= enough * largest:
            break


_GATHERED = 64
"""Rows of B that are gathered at a time."""
_ROUNDING = 1e-13
"""Rounding of a difference of equal sums, as a share of the largest, at most."""


# ---- codes of samples with missing entries


@compiled
def settled_rows(
    start: int,
    stop: int,
    indptr: Array,
    indices: Array,
    x: Array,
    left: Array,
    right: Array,
    K: Array,
    C: Array,
    is_rest: bool,
    whole: Array,
    little: float,
    ridge: float,
    prior: Array,
    out: Array,
) -> None:
    """Codes y = x L of rows x whose missing entries are those of y R: y (I − Σ r l) = Σ x l, with one sum over the missing entries.

    The rows of `left` are those of L, l, and the rows of `right` the columns of R, r. The entries of a row of X are in compressed
    rows, and K is I − R L, to which those are added; or they are the missing ones, K is I, and C has Σ x l. `whole` is the
    diagonal of R L: a component of which but a `little` share of that is observed in a row has the code of `prior`.
    """
    k = left.shape[1]
    A, c, observed = np.empty((k, k)), np.empty(k), np.empty(k)
    rows, columns = np.empty((_GATHERED, k)), np.empty((_GATHERED, k))
    for i in range(start, stop):
        for a in range(k):
            c[a] = ridge * prior[a] + (C[i, a] if is_rest else 0.0)
            observed[a] = whole[a] if is_rest else 0.0
            for b in range(k):
                A[a, b] = K[b, a]
            A[a, a] += ridge
        for begin in range(indptr[i], indptr[i + 1], _GATHERED):
            count = min(_GATHERED, indptr[i + 1] - begin)
            for t in range(count):
                of_left, of_right = left[indices[begin + t]], right[indices[begin + t]]
                sign = -1.0 if is_rest else 1.0
                for a in range(k):
                    rows[t, a] = of_left[a]
                for a in range(k):
                    columns[t, a] = sign * of_right[a]
                    observed[a] += rows[t, a] * columns[t, a]
            product = np.dot(rows[:count].T, columns[:count])
            for a in range(k):
                for b in range(k):
                    A[a, b] += product[a, b]
            if not is_rest:
                for t in range(count):
                    entry = float(x[begin + t])
                    for a in range(k):
                        c[a] += entry * rows[t, a]
        for a in range(k):
            if observed[a] <= little * whole[a]:
                A[a] = 0
                A[a, a], c[a] = 1, prior[a]
        y = np.linalg.solve(A, c)
        for a in range(k):
            out[i, a] = y[a]
