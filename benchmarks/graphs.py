"""Graphs: planted partitions beside scikit-learn's SpectralClustering, time and memory; matching beside SciPy's FAQ. Two threads.

Partitions run in processes of their own, so that their peaks of memory are theirs. SpectralClustering has its default eigensolver,
ARPACK, up to 10 000 vertices, where that ends in a reasonable time, and LOBPCG beyond.
"""

from __future__ import annotations

from statistics import median

import numpy as np
from scipy.optimize import quadratic_assignment

from _bench import Bench, Timed, apart, in_turns, seconds_of, threads, timed
from _data import rewired
from nonneg.graph import match_graphs
from nonneg_papers import graph_names, load_graph

TITLE = "Graphs: planted partitions, matching"
BLOCKS = 20
STARTS = 10


def run(bench: Bench) -> None:
    sizes = [(500, 5000)] if bench.quick else [(10_000, 100_000), (100_000, 1_000_000)]
    for vertices, edges in sizes:
        for inside in (0.8, 0.5):
            with bench.attempt(f"{vertices} vertices", TITLE), threads(2):
                planted(bench, vertices, edges, inside)
    with bench.attempt("matching", TITLE), threads(1):
        matching(bench)


def planted(bench: Bench, vertices: int, edges: int, inside: float) -> None:
    """Blocks of vertices, a share of the edges inside of them, the others anywhere."""
    words = {"problem": f"{vertices} vertices, {edges} edges, {BLOCKS} blocks, {inside:.0%} inside"}
    solver = "arpack" if vertices <= 10_000 else "lobpcg"
    found = {
        who: apart("partition", who, *map(str, (vertices, edges, BLOCKS, inside))) for who in ("nonneg", f"scikit-learn {solver}")
    }
    ours, theirs = found.values()
    peer = f"SpectralClustering, {solver}"
    bench.faster([ours["seconds"]], [theirs["seconds"]], what="time", peer=peer, details=found, **words)
    bench.number([-ours["ari"]], -0.9, what="minus the adjusted Rand index", **words)
    bench.number([-theirs["ari"]], what="minus the adjusted Rand index, theirs", peer=peer, **words)
    bench.cost([ours["megabytes"]], [theirs["megabytes"]], what="peak memory beyond the graph", unit="MB", peer=peer, **words)


def matching(bench: Bench) -> None:
    """The same time for both: FAQ, at least ten random starts, and more as long as ours takes."""
    names = graph_names("matching")[:2] if bench.quick else graph_names("matching")
    graphs = [(load_graph(name).adjacency.toarray() > 0).astype(float) for name in names]
    match_graphs(graphs[0], graphs[0])
    for share in (0.02, 0.05, 0.1):
        agreements: dict[str, list[float]] = {"ours": [], "theirs": []}
        seconds: list[tuple[float, float]] = []
        for number, A in enumerate(graphs):
            generator = np.random.default_rng(number)
            hidden = generator.permutation(len(A))
            B = rewired(A, share, generator)[np.ix_(hidden, hidden)]
            taken = in_turns(
                {
                    "ours": lambda A=A, B=B: timed(lambda: match_graphs(A, B, random_state=0).permutation),
                    "ten": lambda A=A, B=B: timed(lambda: faq(A, B, 0.0)),
                },
                rounds=1,
            )
            (mine,) = taken["ours"]
            fair: Timed = timed(lambda A=A, B=B, mine=mine: faq(A, B, mine.seconds))  # type: ignore[misc]
            seconds.append((mine.seconds, *seconds_of(taken["ten"])))
            for who, permutation in (("ours", mine.result), ("theirs", fair.result)):
                agreements[who].append(float((A[np.ix_(permutation, permutation)] * B).sum() / B.sum()))
        words = {"problem": f"{len(graphs)} graphs of QNMF Tables 3–4, {share:.0%} of the edges rewired", "peer": "SciPy FAQ"}
        means = {who: float(np.mean(values)) for who, values in agreements.items()}
        bench.cost([1 - means["ours"]], [1 - means["theirs"]], 1.0, what="edges missed in the same time", unit="", **words)
        ours, ten = (median(column) for column in zip(*seconds, strict=True))
        bench.cost([ours], [ten], what=f"time, beside {STARTS} random starts", **words)


def faq(A: np.ndarray, B: np.ndarray, seconds: float) -> np.ndarray:
    """The best of ten random starts, or of as many more as there is time for."""
    from time import perf_counter

    generator, begin, count = np.random.default_rng(0), perf_counter(), 0
    best, most = np.arange(len(A)), -np.inf
    while count < STARTS or perf_counter() - begin < seconds:
        options = {"maximize": True, "rng": generator, "P0": "randomized"}
        found = quadratic_assignment(B, A, method="faq", options=options)
        if found.fun > most:
            best, most = found.col_ind, found.fun
        count += 1
    return best
