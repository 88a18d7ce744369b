"""Graphs cut into parts: ONL Tables 1 to 3, and QNMF Fig. 1."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.cluster import SpectralClustering

from nonneg import metrics
from nonneg.graph import GraphClustering, cosine_graph
from nonneg.graph.methods import NSC, KernelProjection

from .. import load_graph
from ._page import Page
from ._similarity import (
    Found,
    Last,
    by_largest_entry,
    by_subdivision,
    last_step,
    one_part,
    pod_by_magnitude,
    semidefinite,
    spectral_bound,
)

TITLE = "Graph partitioning: ONL Tables 1 to 3, QNMF Fig. 1"
SEEDS = range(5)
PROTOCOL = {"n_init": 50, "max_iter": 10_000, "tol": 0}
FEWER = {"n_init": 50, "max_iter": 1000, "tol": 0}


class Printed(NamedTuple):
    """What the paper has: p/N, objectives and purities of NL, √NL, ONL, √ONL, KKmeans and POD."""

    p: str
    objectives: tuple[float, ...]
    purities: tuple[float, ...]


PAPER = {
    "Scotland": Printed("0.17", (0.18, 0.18, 2.64, 2.65, 2.06, 2.66), (0.20, 0.20, 0.46, 0.48, 0.36, 0.47)),
    "Cities": Printed("–", (0.70, 0.70, 1.50, 1.50, 1.46, 1.49), (0.35, 0.35, 0.83, 0.83, 0.67, 0.65)),
    "WorldCities": Printed("–", (0.81, 0.81, 2.24, 2.24, 2.10, 2.19), (0.23, 0.23, 0.63, 0.63, 0.59, 0.63)),
    "Journals": Printed("–", (0.97, 0.97, 27.05, 27.11, 27.01, 27.17), (0.19, 0.19, 0.56, 0.53, 0.36, 0.56)),
    "DutchElite": Printed("0.66", (0.16, 0.16, 4.89, 4.90, 3.16, 4.97), (0.42, 0.42, 0.49, 0.48, 0.43, 0.48)),
    "Strike": Printed("0.04", (0.23, 0.23, 0.98, 0.98, 0.33, 0.17), (0.46, 0.46, 1.00, 1.00, 0.79, 1.00)),
    "Sawmill": Printed("0.03", (0.23, 0.23, 1.01, 1.01, -0.10, -0.46), (0.50, 0.50, 0.58, 0.58, 0.53, 0.56)),
    "Korea1": Printed("0.03", (0.24, 0.24, 0.75, 0.80, 0.15, -0.32), (0.66, 0.66, 0.77, 0.74, 0.66, 0.74)),
    "Football": Printed("0.01", (0.52, 0.52, 4.60, 4.60, -1.43, -3.24), (0.11, 0.11, 0.95, 0.95, 0.57, 0.59)),
    "A99m": Printed("0.00", (0.15, 0.15, 2.18, 2.21, -0.65, -1.07), (0.49, 0.49, 0.53, 0.53, 0.52, 0.52)),
}
ASSUMED = {
    "Scotland": "cosines between companies as rows of directors (the paper does not say; p/N fits)",
    "Cities": "cosines between firms",
    "WorldCities": "cosines between firms",
    "Journals": "common readers, with those of a journal itself on the diagonal",
    "DutchElite": "cosines between bodies; classes are the three largest tasks and the rest",
    "Strike": "as it is",
    "Sawmill": "as it is; classes are k-cores, the only three of the file",
    "Korea1": "village 1; village 2 in the line below",
    "Football": "as it is",
    "A99m": "undirected; inactive, active, others, merged from the file's eight. The paper had a rectangular matrix",
}
METHODS = {"NL": "nl", "√NL": "sqrt-nl", "ONL": "onl", "√ONL": "sqrt-onl", "KKmeans": "kernel-kmeans", "POD": "pod"}
MAGNITUDE = "POD, magnitude"
"""POD with the eigenvalues of S that are largest in magnitude. The paper does not say which it took; its negative objectives
suggest these, and so every claim about POD is judged with them, and told with the others beside."""


def build(page: Page) -> None:
    page.say("""
        W ≥ 0 with WᵀW = I and a large tr(WᵀSW), S = I − (I + A/10)⁻¹, twice as many parts as classes. Objectives are those of the
        partition, W = C(CᵀC)^(-½), purities those of its parts (ONL Eq. 44). The four multiplicative rules start from the best of
        50 partitions each by kernel K-means and POD, plus 0.2, and run 10 000 iterations, as in the paper; on DutchElite, the
        largest
        graph, 1000 iterations, which the paper does not have. Objectives that differ by no more than .005 count as tied.
    """)
    graphs = {name: graph(name) for name in (*PAPER, "Korea2")}
    page.heading("ONL Table 1: the graphs")
    page.table(
        ("graph", "N", "classes", "p/N", "paper: p/N", "what was taken for A"),
        [
            (name, A.shape[0], len(np.unique(target)), semidefinite(A), PAPER[name].p, ASSUMED[name])
            for name, (A, target) in graphs.items()
            if name in PAPER
        ],
        "p is where a Cholesky factorization of S breaks down; – if it does not.",
    )
    objectives, purities, seconds = tables(page, graphs)
    bounds = {name: spectral_bound(A, 2 * len(np.unique(target))) for name, (A, target) in graphs.items()}
    magnitude = {name: pod_by_magnitude(A, 2 * len(np.unique(target))) for name, (A, target) in graphs.items()}
    last = {
        name: [last_step(A, 2 * len(np.unique(target)), seed) for seed in (SEEDS if name != "DutchElite" else SEEDS[:1])]
        for name, (A, target) in graphs.items()
    }
    page.heading("ONL Table 2: objectives")
    names = (*METHODS, "default")
    page.table(
        (
            "graph",
            *names,
            "range of the default",
            "one part for all",
            "bound",
            "KKmeans, last step",
            MAGNITUDE,
            *(f"paper: {name}" for name in METHODS),
        ),
        [
            (
                name,
                *(f"{objectives[name, m]:.2f}" for m in names),
                objectives[name, "range"],
                f"{one_part(A):.2f}",
                f"{bounds[name]:.2f}",
                last[name][0].told,
                f"{magnitude[name].trace:.2f}",
                *printed(name, "objectives"),
            )
            for name, (A, _) in graphs.items()
        ],
        """The default: the median of 5 seeds (3 for DutchElite), `GraphClustering(k, similarity='discriminative-kmeans')`. Larger
        is better. Bound: the sum of the 2 × classes largest eigenvalues of S, which no partition exceeds. KKmeans: the best
        partition on the way of 50 runs of Eq. 43, each until it rests or comes back to an earlier partition. KKmeans, last step:
        the same runs, the best of where they are after 100 steps, and how many of them have come back to an earlier partition
        without resting, and so cycle. POD: with the algebraically largest eigenvalues of S. POD, magnitude: with those that are
        largest in magnitude, of either sign.""",
    )
    page.heading("ONL Table 3: purities")
    purities |= {(name, MAGNITUDE): metrics.purity(target, magnitude[name].labels) for name, (_, target) in graphs.items()}
    page.table(
        ("graph", *names, MAGNITUDE, "range of the default", *(f"paper: {name}" for name in METHODS)),
        [
            (name, *(f"{purities[name, m]:.2f}" for m in (*names, MAGNITUDE)), purities[name, "range"], *printed(name, "purities"))
            for name in graphs
        ],
    )
    page.table(
        ("graph", *(f"{name}, s" for name in names)),
        [(name, *(f"{seconds[name, m]:.2f}" for m in names)) for name in graphs],
        "Seconds, starts included. Of the default, for one seed.",
    )
    one = {name: one_part(A) for name, (A, _) in graphs.items()}
    remarks(page, objectives, purities, bounds, last, magnitude, one)
    eigenvectors(page, graphs, objectives)
    kernels(page, graphs)


def graph(name: str) -> tuple[Any, np.ndarray]:
    bunch = load_graph(name)
    if name == "Journals":
        return bunch.adjacency.toarray() + np.diag(bunch.readers), bunch.target
    if name in ("Scotland", "Cities", "WorldCities", "DutchElite"):
        return dense(cosine_graph(bunch.data)), bunch.target
    return bunch.adjacency.toarray(), bunch.target


def dense(A: Any) -> np.ndarray:
    return A.toarray() if sparse.issparse(A) else A


def tables(page: Page, graphs: dict[str, Any]) -> tuple[dict[Any, Any], dict[Any, Any], dict[Any, Any]]:
    objectives: dict[Any, Any] = {}
    purities: dict[Any, Any] = {}
    seconds: dict[Any, Any] = {}
    for name, (A, target) in graphs.items():
        count = 2 * len(np.unique(target))
        for label, method in METHODS.items():
            effort = FEWER if name == "DutchElite" else PROTOCOL
            estimator = GraphClustering(count, method=method, similarity="discriminative-kmeans", random_state=0, **effort)
            page.fit(estimator, A)
            objectives[name, label], seconds[name, label] = estimator.objective_, page.seconds
            purities[name, label] = metrics.purity(target, estimator.labels_)
        found = [
            page.fit(GraphClustering(count, similarity="discriminative-kmeans", random_state=seed), A)
            for seed in (SEEDS if name != "DutchElite" else SEEDS[:3])
        ]
        values = [estimator.objective_ for estimator in found]
        pure = [metrics.purity(target, estimator.labels_) for estimator in found]
        objectives[name, "default"], purities[name, "default"] = float(np.median(values)), float(np.median(pure))
        objectives[name, "range"], purities[name, "range"] = (
            f"{min(values):.2f} – {max(values):.2f}",
            f"{min(pure):.2f} – {max(pure):.2f}",
        )
        seconds[name, "default"] = page.seconds
    return objectives, purities, seconds


def printed(name: str, what: str) -> tuple[str, ...]:
    known = PAPER.get("Korea1" if name == "Korea2" else name)
    return tuple(f"{value:.2f}" for value in getattr(known, what))


def counted(cases: dict[str, bool]) -> str:
    """On which graphs something is so."""
    missed = [name for name, holds in cases.items() if not holds]
    if not missed:
        return f"on all {len(cases)} graphs"
    if len(missed) == len(cases):
        return f"on none of {len(cases)} graphs"
    return f"on {len(cases) - len(missed)} of {len(cases)} graphs, not on {', '.join(missed)}"


def winner(objectives: dict[Any, Any], name: str) -> str:
    """Of the methods other than POD."""
    return max((label for label in METHODS if label != "POD"), key=lambda label: objectives[name, label])


def remarks(
    page: Page,
    objectives: dict[Any, Any],
    purities: dict[Any, Any],
    bounds: dict[str, float],
    last: dict[str, list[Last]],
    magnitude: dict[str, Found],
    one: dict[str, float],
) -> None:
    """A sentence for each claim of ONL §4.3, from the numbers above."""
    first, second = tuple(PAPER)[:5], tuple(PAPER)[5:]
    orthogonal = {name: max(objectives[name, "ONL"], objectives[name, "√ONL"]) for name in PAPER}
    free = {name: max(objectives[name, "NL"], objectives[name, "√NL"]) for name in PAPER}
    pure = {name: max(purities[name, "ONL"], purities[name, "√ONL"]) for name in PAPER}
    ratios = {name: free[name] / orthogonal[name] for name in PAPER}
    beyond = {name: max(PAPER[name].objectives) for name in PAPER if max(PAPER[name].objectives) > bounds[name] + 0.005}
    settled = [name for name in PAPER if name not in beyond]
    reached = {name: objectives[name, "default"] > max(PAPER[name].objectives[2:4]) - 0.01 for name in settled}
    purer = {name: purities[name, "default"] >= max(PAPER[name].purities[2:4]) - 0.03 for name in PAPER}
    draws = last
    last = {name: runs[0] for name, runs in draws.items()}  # from the starts of the column KKmeans
    resting = [name for name in settled if last[name].rested == last[name].runs]
    cycling = [name for name in PAPER if last[name].cycled]
    pod = {name: magnitude[name].trace for name in PAPER}
    alike = {name: f"{one[name]:.2f}" == f"{PAPER[name].objectives[0]:.2f}" for name in PAPER}
    others_best = {name: max(orthogonal[name], free[name], objectives[name, "KKmeans"]) for name in PAPER}
    best = {name: max(others_best[name], pod[name]) for name in PAPER}
    algebraic = {name: max(others_best[name], objectives[name, "POD"]) for name in PAPER}
    near = max(abs(last[name].trace - PAPER[name].objectives[4]) for name in resting)
    exceptions = ("Scotland", "Journals", "DutchElite")
    others = [name for name in PAPER if name not in exceptions]

    def claim(says: str, cases: dict[str, bool], more: str = "") -> None:
        page.claim("ONL §4.3", says, cases.values(), f"It is so {counted(cases)}. {more}")

    claim(
        "ONL and √ONL reach larger objectives than NL and √NL, on all graphs.",
        {name: orthogonal[name] > free[name] + 0.005 for name in PAPER},
    )
    claim(
        "NL and √NL end far from the best objective on all graphs (here: below three quarters of the better of ONL, √ONL).",
        {name: ratio < 0.75 for name, ratio in ratios.items()},
        f"""The better of the two has {min(ratios.values()):.0%} to {max(ratios.values()):.0%} of the better of ONL and √ONL; √NL on
        Journals has {objectives["Journals", "√NL"]:.2f}, √ONL {objectives["Journals", "√ONL"]:.2f}. The paper's NL and √NL are, to
        the digit, what one part for all vertices has {counted(alike)}{
            "".join(f"; {n}: {one[n]:.2f} and {PAPER[n].objectives[0]:.2f}" for n, is_so in alike.items() if not is_so)
        }. W may have grown there until it was no number; here it is kept at unit length.""",
    )
    claim(
        "ONL or √ONL wins on seven of ten graphs, all but Scotland, Journals and DutchElite.",
        {n: orthogonal[n] >= best[n] - 0.005 for n in others},
        f"""Of all six methods, POD with the eigenvalues largest in magnitude; ties to .005 count. With the algebraically largest it
        is so {counted({n: orthogonal[n] >= algebraic[n] - 0.005 for n in others})}.""",
    )
    claim(
        "POD has the largest objective on Scotland, Journals and DutchElite.",
        {n: pod[n] >= best[n] - 0.005 for n in exceptions},
        f"""With the eigenvalues largest in magnitude and, in brackets, algebraically:
        {
            "; ".join(
                f"{n}: POD {pod[n]:.2f} ({objectives[n, 'POD']:.2f}), the best of the others {others_best[n]:.2f} "
                f"({winner(objectives, n)})"
                for n in exceptions
            )
        }. With the algebraically largest it is so {
            counted({n: objectives[n, "POD"] >= algebraic[n] - 0.005 for n in exceptions})
        }.""",
    )
    together = {
        n: (orthogonal[n], pod[n], objectives[n, "KKmeans"], *PAPER[n].objectives[2:]) for n in first
    }  # those of ours, and those of the paper
    with_algebraic = {n: (values[0], objectives[n, "POD"], values[2]) for n, values in together.items()}
    claim(
        "Where S is definite or nearly so, POD, KKmeans, ONL and √ONL are quite close (here: to 5 % of the best of them).",
        {n: min(values[:3]) > 0.95 * max(values[:3]) for n, values in together.items()},
        f"""POD with the eigenvalues largest in magnitude; with the algebraically largest it is so
        {counted({n: min(v) > 0.95 * max(v) for n, v in with_algebraic.items()})}. Without KKmeans it is so
        {counted({n: min(v[:2]) > 0.95 * max(v[:2]) for n, v in together.items()})}. In the paper's own table it is so
        {counted({n: min(v[3:]) > 0.95 * max(v[3:]) for n, v in together.items()})}.""",
    )
    claim(
        "Where S is far from definite, ONL and √ONL are much better than POD (here: by 10 % or more, for either reading of POD).",
        {n: orthogonal[n] > 1.1 * pod[n] for n in second}
        | {f"{n}, as the text has it": orthogonal[n] > 1.1 * objectives[n, "POD"] for n in second},
        f"""The text takes the largest eigenvalues; those largest in magnitude come near the paper's numbers of POD:
        {"; ".join(f"{pod[n]:.2f}, paper {PAPER[n].objectives[5]:.2f} ({n})" for n in second)}. With the algebraically largest, as
        in the library, it is so {counted({n: orthogonal[n] > 1.1 * objectives[n, "POD"] for n in second})}:
        {"; ".join(f"{objectives[n, 'POD']:.2f}, ONL or √ONL {orthogonal[n]:.2f} ({n})" for n in second)}.""",
    )
    claim(
        "Where S is far from definite, ONL and √ONL are much better than kernel K-means (here: by 10 % or more).",
        {n: orthogonal[n] > 1.1 * last[n].trace for n in second},
        f"""That is Eq. 43 as printed, to its last step. With the best partition on the way, as the library keeps it:
        {counted({n: orthogonal[n] > 1.1 * objectives[n, "KKmeans"] for n in second})}.""",
    )
    for label, column, values, ours in (
        ("POD", 5, pod, "POD"),
        ("Kernel K-means", 4, {n: last[n].trace for n in PAPER}, "KKmeans"),
    ):
        negative = [n for n in second if PAPER[n].objectives[column] < 0]
        claim(
            f"Where S is far from definite, {label} may return a negative objective (in print: {', '.join(negative)}).",
            {n: values[n] < 0 for n in negative},
            f"""{"With the eigenvalues largest in magnitude" if label == "POD" else "Eq. 43 as printed, to its last step"}:
            {", ".join(f"{values[n]:.2f} ({n})" for n in negative)}. The library's {ours}, {
                "with the algebraically largest," if label == "POD" else "the best partition on the way,"
            } is at least {min(objectives[n, ours] for n in second):.2f}.""",
        )
    claim(
        "ONL or √ONL has the best purity on all graphs.",
        {n: pure[n] >= max(purities[n, "KKmeans"], purities[n, MAGNITUDE]) - 0.005 for n in PAPER},
        f"""With POD by the algebraically largest eigenvalues it is so
        {counted({n: pure[n] >= max(purities[n, "KKmeans"], purities[n, "POD"]) - 0.005 for n in PAPER})}.""",
    )
    claim(
        "The purities of NL, √NL and KKmeans are not satisfactory (here: all three below ONL's by .05 or more).",
        {n: max(purities[n, m] for m in ("NL", "√NL", "KKmeans")) <= pure[n] - 0.05 for n in PAPER},
    )
    page.heading("What the tables say besides")
    page.say(f"""
        Kernel K-means: where S is definite or nearly so, Eq. 43 comes to rest, and its last step is within {near:.2f} of the
        paper's
        column on {", ".join(resting)}. Where S is far from definite no distance stands behind it, and runs come back to partitions
        that they have left, and so go round forever: {
        ", ".join(f"{last[n].cycled} of {last[n].runs} on {n}" for n in cycling) or "none"
    }. The paper's figures there may be where such a run was left, and would then depend on when that was. The column KKmeans has
        the best partition on the way of the same runs, which is not below their last step, but depends on the draw of 50 starts
        too: over {len(SEEDS)} draws it is {
        "; ".join(f"{min(d.on_the_way for d in draws[n]):.2f} to {max(d.on_the_way for d in draws[n]):.2f} ({n})" for n in cycling)
    }. One part for all vertices, which K-means does not come to, has more on {
        ", ".join(f"{n} ({one[n]:.2f} against {objectives[n, 'KKmeans']:.2f})" for n in PAPER if one[n] > objectives[n, "KKmeans"])
        or "none"
    }.
    """)
    page.say(f"""
        The default reaches the better of the paper's ONL and √ONL (to .01), where A can be the paper's, {counted(reached)}, and its
        purity (to .03) {counted(purer)}. {
        ", ".join(f"On {n} the paper has {v:.2f}, and no W with WᵀW = I more than {bounds[n]:.2f}" for n, v in beyond.items())
    }: the paper's A was another than what these files give.
    """)


def eigenvectors(page: Page, graphs: dict[str, Any], objectives: dict[Any, Any]) -> None:
    """What ONL §4.1 says of eigenvectors without non-negativity, and of repeated cuts in two."""
    page.heading("ONL §4.1: eigenvectors, and repeated cuts in two")
    two, many, repeated = {}, {}, {}
    for name in PAPER:
        A, target = graphs[name]
        count = 2 * len(np.unique(target))
        best = page.fit(GraphClustering(2, similarity="discriminative-kmeans", random_state=0), A).objective_
        two[name] = by_subdivision(A, 2) / best
        many[name] = by_largest_entry(A, count) / objectives[name, "default"]
        repeated[name] = by_subdivision(A, count) / objectives[name, "default"]
    page.table(
        ("graph", "two parts, signs of an eigenvector", "2 × classes, largest entry", "2 × classes, repeated cuts"),
        [(name, *(f"{shares[name]:.3f}" for shares in (two, many, repeated))) for name in PAPER],
        """tr(WᵀSW) as a share of the default's with as many parts. Signs: of the better of the two leading eigenvectors of S.
        Largest entry: each vertex joins the leading eigenvector that has its largest entry. Repeated cuts: by signs, of the part
        and the eigenvector that raise the trace most.""",
    )
    page.claim(
        "ONL §4.1",
        "Eigenvectors of S suit cuts in two only (here: two parts have a larger share of the default's trace than many).",
        [two[name] > many[name] for name in PAPER],
        f"""It is so {counted({name: two[name] > many[name] for name in PAPER})}. In the median {np.median(list(two.values())):.2f}
        with two parts, {np.median(list(many.values())):.2f} with twice as many as classes.""",
    )
    page.claim(
        "ONL §4.1",
        "Repeated cuts in two may easily fail to find the optimal objective (here: they stay 1 % below the default).",
        [repeated[name] < 0.99 for name in PAPER],
        f"""It is so {counted({name: repeated[name] < 0.99 for name in PAPER})}: {min(repeated.values()):.2f} to
        {max(repeated.values()):.2f} of the default's trace.""",
    )


def kernels(page: Page, graphs: dict[str, Any]) -> None:
    page.heading("QNMF Fig. 1: NSC and kernel PNMF")
    blogs = load_graph("PolBlogs", drop_isolated=True)
    cases = {
        "Korea (39)": graphs["Korea1"],
        "WorldCities (100)": graphs["WorldCities"],
        "PolBlogs (1224)": (blogs.adjacency.maximum(blogs.adjacency.T), blogs.target),
    }
    found: dict[str, dict[str, list[float]]] = {}
    seconds: dict[str, list[float]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # vertices without edges, graphs that are not connected
        for name, (A, target) in cases.items():
            count, repeats = len(np.unique(target)), range(10 if "Blogs" in name else 100)
            found[name], seconds[name] = {}, []
            for label, method in (("NSC", NSC(start="random")), ("kernel PNMF", KernelProjection(start="random"))):
                purities, begin = [], perf_counter()
                for seed in repeats:
                    model = GraphClustering(count, method=method, random_state=seed).fit(A)
                    purities.append(metrics.purity(target, model.labels_))
                found[name][label] = purities
                seconds[name].append((perf_counter() - begin) / len(repeats))
                call = f"GraphClustering({count}, method={method!r}), {len(repeats)} seeds"
                page.ran(call, f"{A.shape[0]} × {A.shape[1]}", int(model.n_iter_), "iterations: of the last", seconds[name][-1])
            found[name]["default"] = [
                metrics.purity(target, page.fit(GraphClustering(count, random_state=seed), A).labels_) for seed in SEEDS[:3]
            ]
            begin = perf_counter()
            spectral = SpectralClustering(count, affinity="precomputed", random_state=0).fit_predict(dense(A))
            found[name]["scikit-learn's SpectralClustering"] = [metrics.purity(target, spectral)]
            page.say(f"SpectralClustering, {name}: {perf_counter() - begin:.2f} s.")
    page.figure(
        bars(found),
        """Purities from random starts, 100 of them as in the paper (10 for PolBlogs), mean and standard deviation. The fourth graph
        of the paper, 3Conference, is not public.""",
    )
    page.table(
        ("graph", *next(iter(found.values()))),
        [(name, *(f"{np.mean(v):.3f} ± {np.std(v):.3f}" for v in columns.values())) for name, columns in found.items()],
        "The printed figure has no numbers; kernel PNMF is far above NSC there for PolBlogs, and level with it for the small ones.",
    )
    means = {name: {label: float(np.mean(values)) for label, values in columns.items()} for name, columns in found.items()}
    blogs_name, small = "PolBlogs (1224)", [name for name in found if "Blogs" not in name]
    blogs_means = means[blogs_name]
    page.claim(
        "QNMF Fig. 1",
        "Kernel PNMF is significantly superior to NSC on PolBlogs (here: by .2 or more).",
        [blogs_means["kernel PNMF"] > blogs_means["NSC"] + 0.2],
        f"Purities {blogs_means['kernel PNMF']:.3f} and {blogs_means['NSC']:.3f}, means of random starts.",
    )
    page.claim(
        "QNMF Fig. 1",
        "Kernel PNMF is level with NSC or above it on the small graphs (here: to .01).",
        [means[name]["kernel PNMF"] >= means[name]["NSC"] - 0.01 for name in small],
        "; ".join(f"{name}: {means[name]['kernel PNMF']:.3f} and {means[name]['NSC']:.3f}" for name in small) + ".",
    )
    page.claim(
        "QNMF Fig. 1",
        "Kernel PNMF is far above NSC on 3Conference too.",
        [],
        "The graph is not to be had any more.",
    )
    page.claim(
        "QNMF §5.1",
        "Both converge within a few seconds on small graphs, and in ten to fifteen minutes on PolBlogs.",
        [max(seconds[name]) < limit for name, limit in ((small[0], 10), (small[1], 10), (blogs_name, 900))],
        "A run of NSC and of kernel PNMF takes "
        + "; ".join(f"{', '.join(f'{value:.2f}' for value in pair)} s ({name})" for name, pair in seconds.items())
        + ", mean of the starts, one core.",
    )
    page.say(f"""
        Two of the 1224 blogs are linked to each other only: cutting them off is the best normalised cut, and what NSC and
        SpectralClustering find (purity {means[blogs_name]["scikit-learn's SpectralClustering"]:.3f}). The default regularizes the
        degrees, by a fiftieth of their mean, and has {means[blogs_name]["default"]:.3f}.
    """)


def bars(found: dict[str, dict[str, list[float]]]) -> Figure:
    figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
    methods = list(next(iter(found.values())))
    for number, method in enumerate(methods):
        values = [columns[method] for columns in found.values()]
        places = np.arange(len(found)) + 0.2 * (number - 1.5)
        axes.bar(places, [np.mean(v) for v in values], 0.18, yerr=[np.std(v) for v in values], label=method, capsize=2)
    axes.set_xticks(np.arange(len(found)), list(found))
    axes.set_ylabel("purity")
    axes.legend(frameon=False, fontsize=8, ncols=2)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
