"""Words and documents clustered together: FONT Tables 1 to 4; documents: PNMF Figs. 1 and 2."""

from __future__ import annotations

import resource
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from _page import Page, described, publish
from nonneg import FONT, NMF, ONMTF, BiQNMF, ProjectiveClustering, datasets, metrics

TITLE = "Words and documents: FONT Tables 1 to 4, PNMF Figs. 1 and 2"
TRIALS = range(10)
FEW = range(2)
"""Trials with words weighted otherwise than by their counts."""
PROTOCOL = {"init": "random", "tol": 0.01, "max_iter": 1000}
"""FONT's stopping rule: 1 − F_new/F_old ≤ 0.01, looked at every 100 iterations."""

METHODS: dict[str, Callable[[int, int], Any]] = {
    "ONMTF": lambda k, seed: ONMTF(k, solver="paper", random_state=seed, **PROTOCOL),
    "FONT": lambda k, seed: FONT(k, solver="paper", random_state=seed, **PROTOCOL),
    "FONT-ALS": lambda k, seed: FONT(k, solver="als", random_state=seed, init="random", tol=1e-3, max_iter=200),
}
WEIGHTINGS: dict[str, Callable[[Any], Any]] = {
    "counts": lambda X: X,
    "log(1 + counts)": lambda X: sparse.csr_array((np.log1p(X.data), X.indices, X.indptr), shape=X.shape),
    "unit length": lambda X: sparse.csr_array(normalize(X)),
    "tf-idf": lambda X: sparse.csr_array(TfidfTransformer().fit_transform(X)),
}
SETS = ("classic", "reviews", "k1b", "la12", "ohscal")
PAPER_DOCUMENTS = {
    "classic": (0.5484, 0.5758, 0.6072),
    "reviews": (0.7312, 0.7635, 0.7540),
    "k1b": (0.8021, 0.8095, 0.8118),
    "la12": (0.4978, 0.5176, 0.5379),
    "ohscal": (0.3581, 0.3983, 0.3616),
}
PAPER_WORDS = {
    "classic": (0.5077, 0.5153, 0.5577),
    "reviews": (0.5905, 0.6298, 0.6001),
    "k1b": (0.7258, 0.7356, 0.7335),
    "la12": (0.4612, 0.4823, 0.4721),
    "ohscal": (0.3740, 0.4056, 0.2991),
}
PAPER_ENTROPIES = {
    "classic": (0.6956, 0.6881, 0.6309),
    "reviews": (0.6850, 0.6656, 0.7003),
    "k1b": (0.4546, 0.4486, 0.4478),
    "la12": (0.7693, 0.7569, 0.7794),
    "ohscal": (0.7601, 0.7297, 0.8331),
}
PAPER_DOCUMENT_ENTROPIES = {
    "classic": (0.6246, 0.6359, 0.6661),
    "reviews": (0.7775, 0.8097, 0.8126),
    "k1b": (0.8317, 0.8389, 0.8366),
    "la12": (0.5665, 0.5883, 0.6063),
    "ohscal": (0.4305, 0.4682, 0.4340),
}
PAPER_SECONDS = {
    "classic": (36674, 1598.5, 12.16),
    "reviews": (20048, 370.36, 25.12),
    "k1b": (10852, 275.94, 14.07),
    "la12": (45239, 1049.6, 41.45),
    "ohscal": (10051, 767.86, 37.29),
}
Trial = dict[str, float]


def build(page: Page) -> None:
    texts = {name: datasets.load_text(name) for name in SETS}
    page.heading("FONT Table 1: the collections")
    page.table(
        ("set", "documents", "words", "classes", "non-zeros"),
        [(name, *b.data.shape, len(b.target_names), b.data.nnz) for name, b in texts.items()],
        "Exactly the paper's.",
    )
    page.say(f"""
        As many clusters of words and of documents as there are classes, {len(TRIALS)} trials each from random starts
        ({len(FEW)} for weightings other than counts), the paper's stopping rule.
        The paper does not say how words were weighted, and it matters: below are raw counts, their logarithms,
        documents of unit length, and tf-idf. A word's class is that in which it is most frequent. FONT-ALS has no such rule in
        the paper (its objective does not fall in every step): 200 iterations, or until ten change it by less than 0.1 %.
    """)
    jobs = [(name, weighting, method) for name in SETS for weighting in WEIGHTINGS for method in METHODS]
    found = dict(zip(jobs, Parallel(2)(delayed(trials)(*job, TRIALS if job[1] == "counts" else FEW) for job in jobs), strict=True))
    extra = [(name, weighting, "BiQNMF") for name in SETS for weighting in ("counts", "unit length")]
    found |= dict(zip(extra, Parallel(2)(delayed(trials)(*job, TRIALS[:3]) for job in extra), strict=True))
    tables(page, found)
    swapped(page, texts, found)
    claims(page, found)
    taken = {who: sum(t["seconds"] for key, runs in found.items() if key[2] == who for t in runs) for who in (*METHODS, "BiQNMF")}
    megabytes = max(trial["megabytes"] for trial in found["classic", "counts", "ONMTF"])
    page.say(f"Peak memory of a process when ONMTF had run on classic, data and libraries included: {megabytes:.0f} MB at most.")
    for who, seconds in taken.items():
        sizes = [len(runs) for key, runs in found.items() if key[2] == who]
        page.ran(described(make(who)(10, 0)), f"{sum(sizes)} fits, {len(sizes)} matrices", 0, "see the tables", seconds)
    figures(page)


def make(method: str) -> Callable[[int, int], Any]:
    return METHODS.get(method, lambda k, seed: BiQNMF(k, random_state=seed, max_iter=100))


def trials(name: str, weighting: str, method: str, seeds: Any) -> list[Trial]:
    bunch = datasets.load_text(name)
    X, k = WEIGHTINGS[weighting](bunch.data), len(bunch.target_names)
    words = np.stack([np.asarray(bunch.data[bunch.target == c].sum(axis=0)).ravel() for c in range(k)]).argmax(axis=0)
    used = np.asarray(bunch.data.sum(axis=0)).ravel() > 0
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            begin = process_time()
            model = make(method)(k, seed).fit(X)
            seconds = process_time() - begin
            results.append(
                {
                    "documents": metrics.purity(bunch.target, model.row_labels_),
                    "words": metrics.purity(words[used], model.column_labels_[used]),
                    "entropy": metrics.normalized_entropy(words[used], model.column_labels_[used]),
                    "document entropy": metrics.normalized_entropy(bunch.target, model.row_labels_),
                    "seconds": seconds,
                    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                }
            )
    return results


def tables(page: Page, found: dict[Any, list[Trial]]) -> None:
    def cell(name: str, weighting: str, method: str, what: str) -> str:
        values = [trial[what] for trial in found.get((name, weighting, method), [])]
        return f"{np.mean(values):.3f} ± {np.std(values):.3f}" if values else ""

    names = (*METHODS, "BiQNMF")
    for title, what, printed, caption in (
        ("FONT Table 3: documents, purity", "documents", PAPER_DOCUMENTS, ""),
        ("FONT Table 2: words, purity", "words", PAPER_WORDS, "Words that no document has are left out."),
        (
            "FONT Table 2: words, entropy",
            "entropy",
            PAPER_ENTROPIES,
            "Normalised by ln of the number of classes.",
        ),
        (
            "FONT Table 3: documents, entropy",
            "document entropy",
            PAPER_DOCUMENT_ENTROPIES,
            "Normalised likewise; what the paper's can be is asked below.",
        ),
    ):
        page.heading(title)
        page.table(
            ("set", "words as", *names, *(f"paper: {method}" for method in METHODS if printed)),
            [
                (name, weighting, *(cell(name, weighting, method, what) for method in names), *printed.get(name, ()))
                for name in SETS
                for weighting in WEIGHTINGS
            ],
            caption,
        )
    page.heading("FONT Table 4: seconds")
    page.table(
        ("set", *METHODS, "BiQNMF", *(f"paper: {method}" for method in METHODS)),
        [
            (
                name,
                *(f"{np.median([t['seconds'] for t in found[name, 'counts', method]]):.2f}" for method in names),
                *(f"{value:g}" for value in PAPER_SECONDS[name]),
            )
            for name in SETS
        ],
        "Medians, raw counts, seconds of one core.",
    )
    rows = []
    for name in SETS:
        means = {key: float(np.mean([t["documents"] for t in value])) for key, value in found.items() if key[0] == name}
        best = max(means, key=lambda key: means[key])
        near = [
            method
            for method, value in zip(METHODS, PAPER_DOCUMENTS[name], strict=True)
            if max(means[name, weighting, method] for weighting in WEIGHTINGS) >= value - 0.05
        ]
        rows.append((name, f"{best[2]}, {best[1]}", means[best], max(PAPER_DOCUMENTS[name]), ", ".join(near)))
    page.heading("Summary: purity of documents")
    page.table(("set", "best here (mean)", "purity", "paper: best", "within .05 of the paper, in some weighting"), rows)


# ---- what FONT's entropies are


def most_entropy(purity: float, classes: int) -> float:
    """The largest normalised entropy that clusters of this purity can have: the rest spread evenly over the other classes.

    It is concave in purity, so that means over clusters, and over trials, keep below it.
    """
    rest = 1 - purity
    return float(-(purity * np.log(purity) + rest * np.log(rest / (classes - 1))) / np.log(classes))


def swapped(page: Page, texts: dict[str, Any], found: dict[Any, list[Trial]]) -> None:
    """Whether the entropies of FONT's Tables 2 and 3 changed places."""
    page.heading("Are the entropies of FONT's Tables 2 and 3 swapped?")
    rows, broken = [], {"as printed": 0, "in nats": 0, "swapped": 0}
    for name in SETS:
        classes = len(texts[name].target_names)
        for i, method in enumerate(METHODS):
            most = most_entropy(PAPER_DOCUMENTS[name][i], classes)
            printed, words = PAPER_DOCUMENT_ENTROPIES[name][i], PAPER_ENTROPIES[name][i]
            ours = float(np.mean([trial["document entropy"] for trial in found[name, "counts", method]]))
            rows.append((name, method, PAPER_DOCUMENTS[name][i], most, printed, words, ours))
            broken["as printed"] += printed > most
            broken["in nats"] += printed > most * np.log(classes)
            broken["swapped"] += words > most
    header = ("set", "method", "paper: purity", "most entropy at it", "paper: entropy, Table 3", "paper: Table 2", "ours, counts")
    page.table(header, rows, "Documents. Normalised by ln of the number of classes.")
    nearer = sum(abs(row[5] - row[6]) < abs(row[4] - row[6]) for row in rows)
    purities, entropies = (np.array([t[name] for name in SETS]).ravel() for t in (PAPER_DOCUMENTS, PAPER_DOCUMENT_ENTROPIES))
    page.say(f"""
        Table 3's entropies cannot be those of documents with Table 3's purities: {broken["as printed"]} of {len(rows)} are above
        the largest that is possible, {broken["in nats"]} even if they are not normalised; and they rise with purity (correlation
        {np.corrcoef(purities, entropies)[0, 1]:.2f}), where entropy must fall. Ours are nearer to Table 2's in {nearer} of
        {len(rows)}. But a plain exchange of the two is {"ruled out" if broken["swapped"] else "possible"}: Table 2's entropies
        would, in Table 3, be above the largest possible in {broken["swapped"]} of {len(rows)} places. What Table 3's entropies
        are, we cannot say.
    """)


def claims(page: Page, found: dict[Any, list[Trial]]) -> None:
    """FONT §5, sentence by sentence, on raw counts, by means over trials."""

    def mean(name: str, what: str, method: str) -> float:
        return float(np.mean([trial[what] for trial in found[name, "counts", method]]))

    for where, claim, what, sign in (
        ("FONT Table 2", "purer clusters of words than ONMTF", "words", 1),
        ("FONT Table 3", "purer clusters of documents than ONMTF", "documents", 1),
        ("FONT Table 2", "lower entropy of words than ONMTF", "entropy", -1),
        ("FONT Table 3", "higher entropy of documents than ONMTF, as printed", "document entropy", 1),
        ("FONT Table 4", "less time than ONMTF", "seconds", -1),
    ):
        for method in ("FONT", "FONT-ALS"):
            pairs = {name: (mean(name, what, method), mean(name, what, "ONMTF")) for name in SETS}
            page.claim(
                where,
                f"{method} has {claim}.",
                [sign * own > sign * other for own, other in pairs.values()],
                "Against ONMTF: " + ", ".join(f"{own:.3f} and {other:.3f} ({name})" for name, (own, other) in pairs.items()) + ".",
            )
    reached = {
        (name, method): max(float(np.mean([t["documents"] for t in found[name, w, method]])) for w in WEIGHTINGS) >= value - 0.05
        for name in SETS
        for method, value in zip(METHODS, PAPER_DOCUMENTS[name], strict=True)
    }
    missed = ", ".join(f"{method} on {name}" for (name, method), is_so in reached.items() if not is_so)
    page.claim(
        "FONT Table 3",
        "The three methods reach the purities of documents that are printed (here: to .05, in some weighting of words).",
        reached.values(),
        f"They do in {sum(reached.values())} of {len(reached)} cases{f', not {missed}' if missed else ''}.",
    )


# ---- PNMF


def figures(page: Page) -> None:
    page.heading("PNMF Figs. 1 and 2: K-means, NMF and PNMF")
    collections = {
        "MEDLINE": datasets.load_text("MEDLINE"),
        "20 Newsgroups, 100 each": datasets.load_text("20 Newsgroups", per_class=100, min_df=2, drop_empty=True, random_state=0),
        "Reuters, 10 largest": datasets.load_text("Reuters", largest=10, drop_empty=True),
    }
    jobs = [(b.data, b.target, method) for b in collections.values() for method in ("K-means", "NMF", "PNMF")]
    results = iter(Parallel(2)(delayed(clustered)(*job) for job in jobs))
    found = {name: {method: next(results) for method in ("K-means", "NMF", "PNMF")} for name in collections}
    page.figure(
        bars(found),
        "Accuracy (PNMF Eq. 35) and entropy (Eq. 36) of clusters of documents, mean and standard deviation of 5 starts, tf-idf. "
        "The printed figures have no numbers: there NMF and PNMF are about as accurate, and PNMF has the lower entropy.",
    )
    page.table(
        (
            "collection",
            "size",
            *(f"{method}: {what}" for method in ("K-means", "NMF", "PNMF") for what in ("accuracy", "entropy")),
        ),
        [
            (
                name,
                f"{collections[name].data.shape[0]} × {collections[name].data.shape[1]}",
                *(
                    f"{np.mean([r[i] for r in runs]):.3f} ± {np.std([r[i] for r in runs]):.3f}"
                    for runs in methods.values()
                    for i in range(2)
                ),
            )
            for name, methods in found.items()
        ],
    )
    means = {(name, method): np.mean(found[name][method], axis=0) for name in found for method in found[name]}
    page.claim(
        "PNMF Fig. 1",
        "NMF and PNMF have similar accuracies (here: to .05).",
        [abs(means[name, "NMF"][0] - means[name, "PNMF"][0]) < 0.05 for name in found],
        "Accuracy of K-means, NMF, PNMF: " + told(means, list(found), 0),
    )
    page.claim(
        "PNMF Fig. 2",
        "PNMF has a lower entropy than NMF.",
        [means[name, "PNMF"][1] < means[name, "NMF"][1] for name in found],
        "Entropy of K-means, NMF, PNMF: " + told(means, list(found), 1),
    )


def told(means: dict[tuple[str, str], Any], names: list[str], what: int) -> str:
    return (
        "; ".join(f"{', '.join(f'{means[name, m][what]:.3f}' for m in ('K-means', 'NMF', 'PNMF'))} ({name})" for name in names)
        + "."
    )


def clustered(X: Any, target: np.ndarray, method: str) -> list[tuple[float, float]]:
    X, k = WEIGHTINGS["tf-idf"](X), len(np.unique(target))
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(5):
            if method == "K-means":
                labels = KMeans(k, n_init=1, random_state=seed).fit_predict(X)
            elif method == "NMF":
                labels = NMF(k, init="random", random_state=seed, max_iter=300).fit(X).row_labels_
            else:
                labels = ProjectiveClustering(k, random_state=seed, max_iter=300).fit_predict(X)
            results.append((metrics.clustering_accuracy(target, labels), metrics.normalized_entropy(target, labels)))
    return results


def bars(found: dict[str, dict[str, list[tuple[float, float]]]]) -> Figure:
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
    for i, (ax, what) in enumerate(zip(axes, ("accuracy", "entropy"), strict=True)):
        for number, method in enumerate(("K-means", "NMF", "PNMF")):
            values = [[run[i] for run in methods[method]] for methods in found.values()]
            places = np.arange(len(found)) + 0.25 * (number - 1)
            ax.bar(places, [np.mean(v) for v in values], 0.22, yerr=[np.std(v) for v in values], label=method, capsize=2)
        ax.set_xticks(np.arange(len(found)), list(found), fontsize=8)
        ax.set_ylabel(what)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False)
    return figure


if __name__ == "__main__":
    publish("documents", TITLE, build)
