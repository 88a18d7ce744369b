"""How the cost of a sweep of the default solver grows with rows, columns, rank and non-zeros, over a decade each; and memory.

The figure is the slope in logarithms: 1 is in proportion. One thread. Data are parts and noise, so that a sweep has work to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from _bench import Bench, extra_memory, slope, threads
from _data import made_up_counts, parts_and_noise
from nonneg import factorize

TITLE = "Growth of a sweep"
Case = tuple[str, str, Sequence[int], Callable[[int], tuple[Any, int]]]


def cases(quick: bool) -> list[Case]:
    """Form, what grows, its sizes, and data and rank for a size. Dense projective ones stay where X Xᵀ is larger than X."""

    def sizes(least: int) -> list[int]:
        return [int(size) for size in np.geomspace(least // 20 + 2 if quick else least, least // 4 if quick else 10 * least, 5)]

    m, n, r = (200, 20, 4) if quick else (4000, 200, 10)
    return [
        ("W W.T X", "m", sizes(2000), lambda size: (parts_and_noise(size, n), r)),
        ("W W.T X", "n", sizes(150), lambda size: (parts_and_noise(m, size), r)),
        ("W W.T X", "r", sizes(5) if not quick else [2, 3, 4], lambda size: (parts_and_noise(m, n, 60), size)),
        ("W H", "m", sizes(2000), lambda size: (parts_and_noise(size, n), r)),
        ("W H", "n", sizes(150), lambda size: (parts_and_noise(m, size), r)),
        ("W H", "r", sizes(5) if not quick else [2, 3, 4], lambda size: (parts_and_noise(m, n, 60), size)),
        ("W W.T X", "nnz", sizes(50_000), lambda size: (made_up_counts(m, m, size / m**2), r)),
        ("W W.T X", "m, nnz with it", sizes(2000), lambda size: (made_up_counts(size, m // 2, 50 / m), r)),
        ("W H", "nnz", sizes(50_000), lambda size: (made_up_counts(m, m, size / m**2), r)),
        ("W H", "m, nnz with it", sizes(2000), lambda size: (made_up_counts(size, m // 2, 50 / m), r)),
    ]


def run(bench: Bench) -> None:
    for form, axis, sizes, make in cases(bench.quick):
        kind = "sparse" if "nnz" in axis else "dense"
        words = {"problem": f"{form}, {kind}, {axis} from {sizes[0]} to {sizes[-1]}"}
        with bench.attempt(what="slope of the time of a sweep", **words), threads(1):
            problems = [make(size) for size in sizes]
            rounds = [[a_sweep(X, form, rank) for X, rank in problems] for _ in range(1 if bench.quick else 3)]
            best = np.min(rounds, axis=0)
            bench.number(
                [slope(sizes, best), slope(sizes, np.median(rounds, axis=0))],
                1.1,
                what="slope of the time of a sweep",
                details={"sizes": list(sizes), "milliseconds": [1e3 * seconds for seconds in best]},
                **words,
            )
            if axis.startswith("m") and (not bench.quick or form == "W H"):
                share = extra_memory(problems[-1][0], form, problems[-1][1], max_iter=10, tol=0)
                bench.number([share], what="peak memory beyond X / X, for the largest", **words)


def a_sweep(X: Any, form: str, rank: int, count: int = 5) -> float:
    """Seconds of a sweep, after those in which a run warms up."""
    history = factorize(X, form, rank, max_iter=4 * count, check_every=count, tol=0, random_state=0).history
    return (history[-1].seconds - history[1].seconds) / (history[-1].iteration - history[1].iteration)
