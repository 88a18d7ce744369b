"""Graphs matched with permuted copies of themselves: QNMF Tables 3 and 4, and the same with noise."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from scipy.optimize import quadratic_assignment

from _page import Page, publish
from nonneg import datasets, metrics
from nonneg.graph import match_graphs

TITLE = "Graph matching: QNMF Tables 3 and 4, and noise"
PERMUTATIONS = range(10)
NOISE = (0.02, 0.05, 0.1)
NOISY = range(5)
STARTS = 10
ITERATIONS = 500

PAPER = {
    "SAMPIN": (1.2, 0),
    "WOLFK": (1.8, 2.1),
    "football35": (7.2, 8.2),
    "cage5": (9.2, 12.8),
    "BKOFFC": (0, 0),
    "curtis54": (96.4, 56.6),
    "will57": (87.6, 35.8),
    "PRISON": (4.4, 6.7),
    "CAG_mat72": (0.2, 0),
    "GlossGT": (4.6, 4.8),
    "RDPOS": (4.8, 4.2),
    "PADGB": (9.2, 10.2),
    "PADGM": (5.6, 6.2),
    "WOLFN": (3.2, 2.0),
    "strike": (25.6, 12.2),
    "ZACHC": (43.2, 10.4),
    "ZACHE": (27.6, 5.0),
    "korea1": (39.2, 12.4),
    "korea2": (29.6, 12.8),
    "mexican_power": (20, 10.8),
    "Sawmill": (70.4, 16),
    "dolphins": (137.8, 31.2),
}
DIRECTED = tuple(PAPER)[:10]
AS_PRINTED = {"constraint": "orthogonal", "init": "random", "polish": False, "solver": "multiplicative", "tol": 0}
Matcher = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def ours(A: np.ndarray, B: np.ndarray, seed: int) -> np.ndarray:
    return match_graphs(A, B, random_state=seed).permutation


def umeyama(A: np.ndarray, B: np.ndarray, seed: int) -> np.ndarray:
    return match_graphs(A, B, divergence=None, init="umeyama", polish=False).permutation


def euclidean(A: np.ndarray, B: np.ndarray, seed: int) -> np.ndarray:
    return match_graphs(A, B, divergence="euclidean", max_iter=ITERATIONS, random_state=seed, **AS_PRINTED).permutation


def i_divergence(A: np.ndarray, B: np.ndarray, seed: int) -> np.ndarray:
    return match_graphs(A, B, max_iter=ITERATIONS, random_state=seed, **AS_PRINTED).permutation


def faq(A: np.ndarray, B: np.ndarray, seed: int, seconds: float = 0.0) -> np.ndarray:
    """The best of ten random starts, or of as many more as there is time for."""
    generator, best, least, begin, count = np.random.default_rng(seed), np.arange(len(A)), np.inf, perf_counter(), 0
    while count < STARTS or perf_counter() - begin < seconds:
        options = {"maximize": True, "rng": generator, "P0": "randomized"}
        found = quadratic_assignment(B, A, method="faq", options=options)["col_ind"]
        error = metrics.edge_error(A, B, found)
        if error < least:
            best, least = found, error
        count += 1
    return best


MATCHERS: dict[str, Matcher] = {
    "default": ours,
    "EU-QNMF as printed": euclidean,
    "I-QNMF as printed": i_divergence,
    "Umeyama": umeyama,
    "FAQ, best of 10": faq,
}


def build(page: Page) -> None:
    page.say(f"""
        A graph A and its permuted copy B = P A Pᵀ, {len(PERMUTATIONS)} permutations each: entries in which P A Pᵀ and B differ for
        the P that is found, mean ± standard deviation. Graphs are binary, as in the paper (entries that are not zero become
        one), with self-loops where the file has them. The default is `match_graphs(A, B)`. "As printed" are the paper's rules,
        W orthogonal by columns, from random starts, {ITERATIONS} iterations with the proven exponent (the paper: up to 20 000).
        FAQ is SciPy's `quadratic_assignment`, the best of {STARTS} random starts.
    """)
    graphs = {name: (datasets.load_graph(name).adjacency.toarray() > 0).astype(float) for name in PAPER}
    match_graphs(graphs["PADGM"], graphs["PADGM"])  # so that no time is the compiler's
    page.heading("QNMF Tables 3 and 4: without noise")
    results = dict(zip(PAPER, Parallel(2)(delayed(exact)(A) for A in graphs.values()), strict=True))
    for title, names in (("Table 3: directed", DIRECTED), ("Table 4: undirected", tuple(PAPER)[10:])):
        page.table(
            ("graph", "N", *MATCHERS, "paper: EU-QNMF", "paper: I-QNMF"),
            [
                (name, len(graphs[name]), *(spread([e for e, _ in results[name][m]]) for m in MATCHERS), *map(str, PAPER[name]))
                for name in names
            ],
            title,
        )
    page.table(
        ("graph", *MATCHERS),
        [(name, *(f"{np.median([t for _, t in results[name][m]]):.3f}" for m in MATCHERS)) for name in PAPER],
        "Seconds, medians; two graphs at a time, one thread each.",
    )
    zero = sum(all(e == 0 for e, _ in results[name]["default"]) for name in PAPER)
    page.say(f"The default has no error in any of the permutations on {zero} of {len(PAPER)} graphs.")
    noise(page, graphs)


def exact(A: np.ndarray) -> dict[str, list[tuple[int, float]]]:
    """Errors and seconds of every matcher."""
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in MATCHERS}
    for seed in PERMUTATIONS:
        hidden = np.random.default_rng(seed).permutation(len(A))
        B = A[np.ix_(hidden, hidden)]
        for name, matcher in MATCHERS.items():
            begin = perf_counter()
            permutation = matcher(A, B, seed)
            found[name].append((metrics.edge_error(A, B, permutation), perf_counter() - begin))
    return found


def noise(page: Page, graphs: dict[str, np.ndarray]) -> None:
    page.heading("With edges rewired")
    page.say(f"""
        The same graphs, {", ".join(f"{share:.0%}" for share in NOISE)} of the edges of B (at least one) taken out and put between
        other vertices, {len(NOISY)} times each. FAQ has {STARTS} random starts, and goes on with more as long as the default took.
        Edge agreement: the share of the edges of B that an edge of A is matched with. Right: vertices matched with themselves, or
        with one that colour refinement of A cannot tell from them (interchangeable vertices are among these). "Truth" is the
        hidden permutation; that it is sometimes less than what is found means that noise has made another one better.
    """)
    cases = [(name, share) for share in NOISE for name in graphs]
    found = dict(zip(cases, Parallel(2)(delayed(noisy)(graphs[name], share) for name, share in cases), strict=True))
    labels = ("default", "FAQ", "truth")
    rows = []
    for share in NOISE:
        means = {
            label: np.mean([np.mean(found[name, share][label], axis=0) for name in graphs], axis=0)
            for label in (*labels, "seconds")
        }
        rows.append(
            (f"{share:.0%}", *(f"{means[label][0]:.3f}" for label in labels), *(f"{means[label][1]:.3f}" for label in labels[:2]))
        )
        rows[-1] += tuple(f"{value:.2f}" for value in means["seconds"])
    page.table(
        ("rewired", *(f"edge agreement: {label}" for label in labels), "right: default", "right: FAQ", "seconds: default", "FAQ"),
        rows,
        "Means over all graphs.",
    )
    page.figure(bars(found, graphs), "Edge agreement of the default (dots) and of FAQ (crosses), graph by graph; line: the truth.")
    page.table(
        ("graph", *(f"{label}, {share:.0%}" for share in NOISE for label in ("default", "FAQ"))),
        [
            (name, *(f"{np.mean(found[name, share][label], axis=0)[0]:.3f}" for share in NOISE for label in ("default", "FAQ")))
            for name in graphs
        ],
        "Edge agreement.",
    )


def noisy(A: np.ndarray, share: float) -> dict[str, list[Any]]:
    colours = refined(A)
    found: dict[str, list[Any]] = {"default": [], "FAQ": [], "truth": [], "seconds": []}
    for seed in NOISY:
        generator = np.random.default_rng(seed)
        hidden = generator.permutation(len(A))
        B = rewired(A, share, generator)[np.ix_(hidden, hidden)]
        begin = perf_counter()
        permutations = {"default": ours(A, B, seed)}
        taken = perf_counter() - begin
        begin = perf_counter()
        permutations["FAQ"] = faq(A, B, seed, taken)
        found["seconds"].append((taken, perf_counter() - begin))
        for label, p in {**permutations, "truth": hidden}.items():
            agreement = float((A[np.ix_(p, p)] * B).sum() / B.sum())
            found[label].append((agreement, float((colours[p] == colours[hidden]).mean())))
    return found


def rewired(A: np.ndarray, share: float, generator: np.random.Generator) -> np.ndarray:
    """The graph with a share of its edges between other vertices; loops stay."""
    A, is_undirected = A.copy(), bool((A == A.T).all())
    i, j = np.triu_indices(len(A), 1) if is_undirected else np.nonzero(~np.eye(len(A), dtype=bool))
    edges, gaps = np.flatnonzero(A[i, j]), np.flatnonzero(A[i, j] == 0)
    count = min(max(1, round(share * len(edges))), len(gaps))
    for chosen, value in ((generator.permutation(edges)[:count], 0.0), (generator.permutation(gaps)[:count], 1.0)):
        A[i[chosen], j[chosen]] = value
        if is_undirected:
            A[j[chosen], i[chosen]] = value
    return A


def refined(A: np.ndarray) -> np.ndarray:
    """Colours of vertices that differ where loops, or the colours of neighbours in either direction, do."""
    colours = np.zeros(len(A), dtype=int)
    while True:
        seen = [(colours[v], A[v, v], tuple(sorted(colours[A[v] > 0])), tuple(sorted(colours[A[:, v] > 0]))) for v in range(len(A))]
        numbers = {key: number for number, key in enumerate(sorted(set(seen)))}
        new = np.array([numbers[key] for key in seen])
        if len(numbers) == len(np.unique(colours)):
            return new
        colours = new


def spread(values: list[int]) -> str:
    return "0" if not any(values) else f"{np.mean(values):.1f} ± {np.std(values):.1f}"


def bars(found: dict[Any, Any], graphs: dict[str, np.ndarray]) -> Figure:
    figure, axes = plt.subplots(1, len(NOISE), figsize=(11, 4.5), sharey=True, layout="constrained")
    for ax, share in zip(axes, NOISE, strict=True):
        for mark, label in (("o", "default"), ("x", "FAQ"), ("|", "truth")):
            values = [np.mean(found[name, share][label], axis=0)[0] for name in graphs]
            ax.plot(values, range(len(graphs)), mark, label=label, color={"o": "C0", "x": "C1", "|": "0.5"}[mark], markersize=6)
        ax.set_title(f"{share:.0%} rewired")
        ax.set_xlabel("edge agreement")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(graphs)), list(graphs), fontsize=8)
    axes[0].legend(frameon=False)
    return figure


if __name__ == "__main__":
    publish("matching", TITLE, build)
