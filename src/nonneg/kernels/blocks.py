"""Partitions improved by moving single vertices, as long as a block model of the graph grows more likely.

Between vertices i and j of parts r and s there are uᵢ uⱼ B_rs edges on average. With the likeliest B the log-likelihood is
½ Σ_rs m_rs log(m_rs / (U_r U_s / m)), but for a constant: m_rs edges between two parts (twice those within one), U_r = Σ uᵢ within
part r, m = Σ m_rs = Σ U_r. B has an entry for each pair of parts, or one for each part and one for all pairs of different parts.
"""

from __future__ import annotations

import numpy as np

from .compiler import compiled, inlined
from .moves import _drawn, _fill, _shake


@inlined
def _term(edges: float, expected: float) -> float:
    """½ m log(m / expected); 0 without edges."""
    return 0.5 * edges * np.log(edges / expected) if edges > 0 and expected > 0 else 0.0


@inlined
def _likelihood(edges: np.ndarray, sums: np.ndarray, total: float, pairs: bool) -> float:
    value, within, expected = 0.0, 0.0, 0.0
    for r in range(len(sums)):
        value += _term(edges[r, r], sums[r] * sums[r] / total)
        within += edges[r, r]
        expected += sums[r] * sums[r] / total
        for s in range(r if pairs else 0):
            value += 2 * _term(edges[r, s], sums[r] * sums[s] / total)
    return value if pairs else value + _term(total - within, total - expected)


@inlined
def _terms_of(edges: np.ndarray, sums: np.ndarray, total: float, a: int, b: int) -> float:
    """The terms of two parts, for B with an entry for each pair of parts."""
    value = 0.0
    for s in range(len(sums)):
        twice = 1.0 if s == a else 2.0
        value += twice * _term(edges[a, s], sums[a] * sums[s] / total)
        if s != a:
            twice = 1.0 if s == b else 2.0
            value += twice * _term(edges[b, s], sums[b] * sums[s] / total)
    return value


@inlined
def _shift(edges: np.ndarray, sums: np.ndarray, towards: np.ndarray, itself: float, u: float, a: int, b: int) -> None:
    """Take a vertex from part a to part b: its edges towards each part, its loop, and its share u."""
    for s in range(len(sums)):
        edges[a, s] -= towards[s]
        edges[s, a] -= towards[s]
        edges[b, s] += towards[s]
        edges[s, b] += towards[s]
    edges[a, a] -= itself
    edges[b, b] += itself
    sums[a] -= u
    sums[b] += u


@inlined
def visit_vertices(
    order: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    entries: np.ndarray,
    u: np.ndarray,
    movable: np.ndarray,
    pairs: bool,
    labels: np.ndarray,
    edges: np.ndarray,
    sums: np.ndarray,
    sizes: np.ndarray,
    least: float,
    gains: np.ndarray,
) -> int:
    """One visit to each vertex, in the order given, moving it if the log-likelihood grows by more than `least`.

    Returns how many were moved; `labels`, `edges`, `sums` and `sizes` are kept up to date. If `gains` (vertices × parts) has rows,
    no vertex is moved, and they become the gains of moves.
    """
    parts, moved, total = len(sums), 0, edges.sum()
    towards = np.empty(parts)
    within, expected = 0.0, 0.0
    for r in range(parts):
        within += edges[r, r]
        expected += sums[r] * sums[r] / total
    for i in order:
        own = labels[i]
        if not movable[i] or (sizes[own] <= 1 and len(gains) == 0):
            continue
        towards[:] = 0.0
        itself = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            if indices[t] == i:
                itself += entries[t]
            else:
                towards[labels[indices[t]]] += entries[t]
        kept, share = edges[own, own] - 2 * towards[own] - itself, sums[own] - u[i]
        fewer, less = kept - edges[own, own], (share * share - sums[own] * sums[own]) / total
        before = _term(edges[own, own], sums[own] * sums[own] / total) + _term(total - within, total - expected)
        after = _term(kept, share * share / total)
        best, most = own, least
        for k in range(parts):
            if k == own:
                continue
            if pairs:
                gain = -_terms_of(edges, sums, total, own, k)
                _shift(edges, sums, towards, itself, u[i], own, k)
                gain += _terms_of(edges, sums, total, own, k)
                _shift(edges, sums, towards, itself, u[i], k, own)
            else:
                joined, larger = edges[k, k] + 2 * towards[k] + itself, sums[k] + u[i]
                inside = within + fewer + joined - edges[k, k]
                chance = expected + less + (larger * larger - sums[k] * sums[k]) / total
                gain = after + _term(joined, larger * larger / total) + _term(total - inside, total - chance)
                gain -= before + _term(edges[k, k], sums[k] * sums[k] / total)
            if len(gains) > 0:
                gains[i, k] = gain
            elif gain > most:
                best, most = k, gain
        if best != own:
            within += fewer + 2 * towards[best] + itself
            expected += less + ((sums[best] + u[i]) ** 2 - sums[best] ** 2) / total
            _shift(edges, sums, towards, itself, u[i], own, best)
            sizes[own] -= 1
            sizes[best] += 1
            labels[i] = best
            moved += 1
    return moved


@compiled
def settle_blocks(
    shakes: int,
    visits: int,
    in_vain: int,
    state: np.ndarray,
    tallies: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    entries: np.ndarray,
    u: np.ndarray,
    movable: np.ndarray,
    pairs: bool,
    labels: np.ndarray,
    gains: np.ndarray,
) -> float:
    """Visits in random order until none moves a vertex; then the same from shaken partitions, the best of which is kept.

    There are no more shakes once `in_vain` of them have gained nothing. `labels`, `state` and `tallies` (shakes in vain) are kept
    up to date, and `gains` (vertices × parts) become the gains of moves from the best partition. Returns the log-likelihood.
    """
    n, parts = gains.shape
    order, trial, most = np.arange(n), labels.copy(), 0.0
    edges, sums, sizes = np.empty((parts, parts)), np.empty(parts), np.empty(parts, dtype=np.int64)
    none = gains[:0]
    for shake in range(shakes + 2):
        last = shake == shakes + 1 or (shake > 0 and tallies[0] >= in_vain)
        if shake > 0:
            for i in range(n):
                trial[i] = labels[i]
        if shake > 0 and not last:
            _shake(trial, movable, parts, state)
        sizes[:] = 0
        for i in range(n):
            sizes[trial[i]] += movable[i]
        _fill(trial, movable, sizes, state)
        edges[:], sums[:] = 0.0, 0.0
        for i in range(n):
            sums[trial[i]] += u[i]
            for t in range(indptr[i], indptr[i + 1]):
                edges[trial[i], trial[indices[t]]] += entries[t]
        total = edges.sum()
        value = _likelihood(edges, sums, total, pairs)
        if last:
            gains[:] = 0.0
        for _ in range(visits):
            for i in range(0 if last else n - 1, 0, -1):
                j = _drawn(state, i + 1)
                order[i], order[j] = order[j], order[i]
            least, differences = (0.0, gains) if last else (1e-10 * total, none)
            moved = visit_vertices(
                order, indptr, indices, entries, u, movable, pairs, trial, edges, sums, sizes, least, differences
            )
            if last:
                return most
            before = value
            value = _likelihood(edges, sums, total, pairs)
            if moved == 0 or (shake > 0 and value + 2 * (value - before) < most):
                break
        if shake > 0:
            tallies[0] = 0 if value > most + 1e-9 * total else tallies[0] + 1
        if shake == 0 or value > most:
            most = value
            for i in range(n):
                labels[i] = trial[i]
    return most
