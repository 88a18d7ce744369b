"""Words and documents clustered together: FONT Tables 1 to 4; documents: PNMF Figs. 1 and 2."""

from __future__ import annotations

import math
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
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from nonneg import FONT, NMF, NMTF, ONMTF, BiQNMF, ProjectiveClustering, metrics

from .. import load_text
from ._page import Page, described, weighed

TITLE = "Words and documents: FONT Tables 1 to 4, PNMF Figs. 1 and 2"
TRIALS = range(10)
FEW = range(2)
"""Trials with words weighted otherwise than by their counts or the logarithms of these."""
MANY = ("counts", "log(1 + counts)")
NAMES = {"counts": "Raw counts", "log(1 + counts)": "Log counts"}
PROTOCOL = {"init": "random", "tol": 0.01, "max_iter": 1000}
"""FONT's stopping rule: 1 − F_new/F_old ≤ 0.01, looked at every 100 iterations; where F rises by more, runs go on here."""


class InHundreds:
    """Looks at the objective every 100 iterations, as ONMTF and FONT do with `solver="paper"`, and the paper has it for all."""

    def _get_solver(self) -> Any:
        solver, protocol = super()._get_solver()  # type: ignore[misc]
        return solver, protocol._replace(check_every=100, steady=math.inf)


class FONTInHundreds(InHundreds, FONT):
    """FONT-ALS with the paper's stopping rule."""


class NMTFInHundreds(InHundreds, NMTF):
    """NMTF likewise."""


METHODS: dict[str, Callable[[int, int], Any]] = {
    "ONMTF": lambda k, seed: ONMTF(k, solver="paper", random_state=seed, **PROTOCOL),
    "FONT": lambda k, seed: FONT(k, solver="paper", random_state=seed, **PROTOCOL),
    "FONT-ALS": lambda k, seed: FONTInHundreds(k, solver="als", random_state=seed, **PROTOCOL),
}
OTHERS: dict[str, Callable[[int, int], Any]] = {
    "BiQNMF": lambda k, seed: BiQNMF(k, random_state=seed, max_iter=100),
    "NMTF": lambda k, seed: NMTFInHundreds(k, solver="paper", random_state=seed, **PROTOCOL),
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
    texts = {name: load_text(name) for name in SETS}
    page.heading("FONT Table 1: the collections")
    page.table(
        ("set", "documents", "words", "classes", "non-zeros"),
        [(name, *b.data.shape, len(b.target_names), b.data.nnz) for name, b in texts.items()],
        "Exactly the paper's.",
    )
    page.say(f"""
        As many clusters of words and of documents as there are classes, {len(TRIALS)} trials each from random starts
        ({len(FEW)} for documents of unit length and tf-idf), the paper's stopping rule.
        The paper does not say how words were weighted, and it matters: below are raw counts, their logarithms,
        documents of unit length, and tf-idf. A word's class is that in which it is most frequent. All three stop when 100
        iterations change ‖V − WSH‖² by no more than 1 %, or after 1000. The objective of FONT and of FONT-ALS does not fall in
        every step; where 100 iterations raise it by more than that, they go on here, where the printed rule, 1 − F_new/F_old ≤ .01,
        would stop.
    """)
    jobs = [(name, weighting, method) for name in SETS for weighting in WEIGHTINGS for method in METHODS]
    found = dict(zip(jobs, Parallel(2)(delayed(trials)(*job, TRIALS if job[1] in MANY else FEW) for job in jobs), strict=True))
    extra = [(name, weighting, "BiQNMF") for name in SETS for weighting in ("counts", "unit length")]
    found |= dict(zip(extra, Parallel(2)(delayed(trials)(*job, TRIALS[:3]) for job in extra), strict=True))
    found["classic", "counts", "NMTF"] = trials("classic", "counts", "NMTF", TRIALS[:3])
    tables(page, found)
    swapped(page, texts, found)
    claims(page, found)
    theorem(page)
    peaks = {name: max(trial["megabytes"] for trial in found[name, "counts", "ONMTF"]) for name in ("la12", "classic")}
    page.claim(
        "FONT §4, §5",
        "ONMTF has a large requirement of memory: 15 GB on la12 and classic (here: a tenth of it counts).",
        [peak > 1500 for peak in peaks.values()],
        f"""Peak memory of a process when ONMTF had run, data, libraries and what ran before it included:
        {", ".join(f"{peak:.0f} MB at most ({name})" for name, peak in peaks.items())}. WWᵀ, m × m, is never formed here.""",
    )
    for who in (*METHODS, *OTHERS):
        fits = [trial for key, runs in found.items() if key[2] == who for trial in runs]
        matrices, seconds = sum(key[2] == who for key in found), sum(trial["seconds"] for trial in fits)
        most = int(max(trial["iterations"] for trial in fits))
        page.ran(described(make(who)(10, 0)), f"{len(fits)} fits, {matrices} matrices", most, "iterations: the most", seconds)
    figures(page)


def make(method: str) -> Callable[[int, int], Any]:
    return METHODS[method] if method in METHODS else OTHERS[method]


def trials(name: str, weighting: str, method: str, seeds: Any) -> list[Trial]:
    bunch = load_text(name)
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
                    "iterations": float(model.n_iter_),
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
    page.table(("set", "best here (mean)", "purity", "paper: best", "at least the paper's less .05, in some weighting"), rows)


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
    """FONT §4, sentence by sentence, on raw counts and on their logarithms, which have ten trials each.

    A difference counts where it is beyond twice its standard error.
    """

    def values(name: str, what: str, method: str, weighting: str = "counts") -> np.ndarray:
        return np.array([trial[what] for trial in found[name, weighting, method]])

    for where, method, claim, what, sign, more in (
        ("FONT Table 2", "FONT", "purer clusters of words than ONMTF", "words", 1, ""),
        (
            *("FONT Table 2", "FONT-ALS", "purer clusters of words than ONMTF", "words", 1),
            "The paper's own table does not have it on ohscal, .299 against .374.",
        ),
        ("FONT Table 3", "FONT", "purer clusters of documents than ONMTF", "documents", 1, ""),
        ("FONT Table 3", "FONT-ALS", "purer clusters of documents than ONMTF", "documents", 1, ""),
        ("FONT Table 2", "FONT", "lower entropy of words than ONMTF", "entropy", -1, ""),
        ("FONT Table 3", "FONT", "less homogeneous clusters of documents than ONMTF, as printed", "document entropy", 1, ""),
        ("FONT Table 3", "FONT-ALS", "less homogeneous clusters of documents than ONMTF, as printed", "document entropy", 1, ""),
    ):
        clear, against, told_of = [], [], []
        for weighting in MANY:
            differences = {name: values(name, what, method, weighting) - values(name, what, "ONMTF", weighting) for name in SETS}
            means = {name: float(d.mean()) for name, d in differences.items()}
            errors = {name: float(d.std(ddof=1) / np.sqrt(len(d))) for name, d in differences.items()}
            is_so = [name for name in SETS if sign * means[name] > 2 * errors[name]]
            is_not = [name for name in SETS if sign * means[name] < -2 * errors[name]]
            clear += [name in is_so for name in SETS]
            against += [name in is_not for name in SETS]
            told_of.append(
                f"{NAMES[weighting]}: {', '.join(f'{means[name]:+.3f} ± {errors[name]:.3f} ({name})' for name in SETS)}; clearly "
                f"so on {', '.join(is_so) or 'none'}, the other way round on {', '.join(is_not) or 'none'}"
            )
        page.claim(
            where,
            f"{method} has {claim}.",
            weighed(clear, against),
            f"""Differences to ONMTF, from the same {len(TRIALS)} seeds, with standard errors, twice of which make a clear one.
            {". ".join(told_of)}. {more}""",
        )
    medians = {(name, m): float(np.median(values(name, "seconds", m))) for name in SETS for m in METHODS}
    for method in ("FONT", "FONT-ALS"):
        page.claim(
            "FONT Table 4",
            f"{method} is significantly faster than ONMTF (here: by a fifth or more).",
            [medians[name, method] < 0.8 * medians[name, "ONMTF"] for name in SETS],
            f"Seconds of one core, medians, {method} and ONMTF: "
            + ", ".join(f"{medians[name, method]:.2f} and {medians[name, 'ONMTF']:.2f} ({name})" for name in SETS)
            + ".",
        )
    nmtf = float(np.median(values("classic", "seconds", "NMTF")))
    page.claim(
        "FONT §4.2",
        "On classic FONT-ALS takes 12.16 s, NMTF 1574.2 and ONMTF 36 674 (here: it takes a hundredth of either).",
        [medians["classic", "FONT-ALS"] < other / 100 for other in (nmtf, medians["classic", "ONMTF"])],
        f"""{medians["classic", "FONT-ALS"]:.2f} s, against {nmtf:.2f} (NMTF, same stopping rule) and
        {medians["classic", "ONMTF"]:.2f} (ONMTF).""",
    )
    per = {m: float(np.median(values("classic", "seconds", m) / values("classic", "iterations", m))) for m in ("ONMTF", "FONT")}
    page.claim(
        "FONT §2, §3",
        "An iteration of ONMTF costs O(m²n), one of FONT O(mnk).",
        [per["ONMTF"] > 2 * per["FONT"]],
        f"""On classic, m = 41 681 words, an iteration of ONMTF takes {1000 * per["ONMTF"]:.2f} ms and one of FONT
        {1000 * per["FONT"]:.2f}. WWᵀ(VHᵀSᵀ), multiplied from the right, costs O(k) for each entry of V that is not zero, as
        everything in FONT does; O(m²n) is the cost of multiplying from the left.""",
    )
    reached(page, found, "FONT Table 3", "documents", PAPER_DOCUMENTS)
    reached(page, found, "FONT Table 2", "words", PAPER_WORDS)


def reached(page: Page, found: dict[Any, list[Trial]], where: str, what: str, printed: dict[str, tuple[float, ...]]) -> None:
    """Whether what is printed is what is found, weighting by weighting."""
    ours = {
        weighting: {(name, m): float(np.mean([t[what] for t in found[name, weighting, m]])) for name in SETS for m in METHODS}
        for weighting in WEIGHTINGS
    }
    theirs = {(name, m): value for name in SETS for m, value in zip(METHODS, printed[name], strict=True)}
    near = {w: sum(abs(values[key] - theirs[key]) <= 0.05 for key in theirs) for w, values in ours.items()}
    least = {w: sum(values[key] >= theirs[key] - 0.05 for key in theirs) for w, values in ours.items()}
    above = {w: sum(values[key] > theirs[key] + 0.05 for key in theirs) for w, values in ours.items()}
    page.claim(
        where,
        f"The purities of {what} that are printed (here: to .05 either way, with raw counts).",
        near["counts"] / len(theirs),
        "Judged by raw counts, as the paper names no weighting; to choose one afterwards would be to choose the verdict. Of 15 "
        "figures, within .05 of print / more than .05 above / at least print less .05: "
        + "; ".join(f"{near[w]} / {above[w]} / {least[w]} ({w})" for w in WEIGHTINGS)
        + f". Raw and log counts have {len(TRIALS)} trials, the others {len(FEW)}.",
    )


def theorem(page: Page) -> None:
    """FONT's Theorem 1, on the digits: Eq. 17 alone, and as the algorithm runs it."""
    digits, k, tiny = load_digits().data.T, 10, np.finfo(float).tiny
    rose, alone, scales = [], [], (16, 160, 1600)
    for scale in scales:
        V = digits[digits.any(axis=1)] / scale
        generator = np.random.default_rng(0)
        W, S, H = (generator.random(shape) for shape in ((len(V), k), (k, k), (k, V.shape[1])))
        values = []
        for _ in range(100):
            H = H * (S.T @ W.T @ V + H) / np.maximum(S.T @ W.T @ W @ S @ H, tiny)
            values.append(lagrangian(V, W, S, H))
        alone.append(rises(values))
        W, S, H = (generator.random(shape) for shape in ((len(V), k), (k, k), (k, V.shape[1])))
        W, H, values = W / np.linalg.norm(W, axis=0), H / np.linalg.norm(H, axis=1, keepdims=True), []
        for _ in range(100):
            W = W * (V @ H.T @ S.T + W) / np.maximum(W @ S @ H @ H.T @ S.T, tiny)
            W = W / np.linalg.norm(W, axis=0)
            H = H * (S.T @ W.T @ V + H) / np.maximum(S.T @ W.T @ W @ S @ H, tiny)
            H = H / np.linalg.norm(H, axis=1, keepdims=True)
            S = S * (W.T @ V @ H.T) / np.maximum(W.T @ W @ S @ H @ H.T, tiny)
            values.append(lagrangian(V, W, S, H))
        rose.append(rises(values))
    page.claim(
        "FONT Theorem 1",
        "The Lagrange L of Eq. 13 is non-increasing under Eq. 17.",
        [sum(alone) == 0],
        f"""On the digits divided by {", ".join(map(str, scales))} (k = {k}), with Eq. 17 alone, W and S fixed, L rose in
        {", ".join(map(str, alone))} of 99 steps. With the three rules in turn, and columns of W and rows of H brought to unit
        length
        after each, as the algorithm has them and the theorem does not, it rose in {", ".join(map(str, rose))}.""",
    )


def lagrangian(V: np.ndarray, W: np.ndarray, S: np.ndarray, H: np.ndarray) -> float:
    """FONT Eq. 13."""
    return float(np.sum((V - W @ S @ H) ** 2) + W.shape[1] - np.sum(W**2) + len(H) - np.sum(H**2))


def rises(values: list[float]) -> int:
    """In how many steps they rose; what is no number counts as risen."""
    return int(np.sum(~(np.diff(values) <= 1e-9 * abs(values[0]))))


# ---- PNMF


STARTS = range(5)
CLUSTERERS: dict[str, Callable[[int, int], Any]] = {
    "K-means": lambda k, seed: KMeans(k, n_init=1, random_state=seed),
    "NMF": lambda k, seed: NMF(k, init="random", random_state=seed, max_iter=300),
    "PNMF": lambda k, seed: ProjectiveClustering(k, init="random", random_state=seed, max_iter=300),
}


def figures(page: Page) -> None:
    page.heading("PNMF Figs. 1 and 2: K-means, NMF and PNMF")
    collections = {
        "MEDLINE": load_text("MEDLINE"),
        "20 Newsgroups, 100 each": load_text("20 Newsgroups", per_class=100, min_df=2, drop_empty=True, random_state=0),
        "Reuters, 10 largest": load_text("Reuters", largest=10, drop_empty=True),
    }
    jobs = [(b.data, b.target, method) for b in collections.values() for method in CLUSTERERS]
    results = iter(Parallel(2)(delayed(clustered)(*job) for job in jobs))
    found = {name: {method: next(results) for method in CLUSTERERS} for name in collections}
    for method, make_one in CLUSTERERS.items():
        runs = [run for methods in found.values() for run in methods[method]]
        most, seconds = int(max(run[2] for run in runs)), sum(run[3] for run in runs)
        page.ran(described(make_one(10, 0)), f"{len(runs)} fits, {len(found)} matrices", most, "iterations: the most", seconds)
    page.figure(
        bars(found),
        """Accuracy (PNMF Eq. 35) and entropy (Eq. 36) of clusters of documents, mean and standard deviation of 5 random starts of
        each method, tf-idf. The printed figures have no numbers: there NMF and PNMF are about as accurate, and PNMF has the lower
        entropy.""",
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
    page.say("""
        All three start at random, NMF and PNMF with the default solver, 300 iterations at most. Reuters has 7285 documents here,
        all
        that have one of the ten largest classes, where the paper has about 2900, and does not say which.
    """)
    errors = {key: np.std(found[key[0]][key[1]], axis=0, ddof=1) / np.sqrt(len(STARTS)) for key in means}

    def better(name: str, other: str, i: int, sign: int) -> tuple[bool, bool]:
        """Whether PNMF is clearly better than the other, and whether clearly worse: by more than twice the standard error."""
        gain = sign * float(means[name, "PNMF"][i] - means[name, other][i])
        error = float(np.hypot(errors[name, "PNMF"][i], errors[name, other][i]))
        return gain > 2 * error, gain < -2 * error

    several = {
        (name, other, what): better(name, other, i, sign)
        for name in found
        for other in ("NMF", "K-means")
        for what, i, sign in (("accuracy", 0, 1), ("entropy", 1, -1))
    }
    counts = [sum(pair[i] for pair in several.values()) for i in range(2)]
    page.claim(
        "PNMF §1, abstract",
        "PNMF gives somewhat better accuracy and entropy than NMF and K-means.",
        weighed((pair[0] for pair in several.values()), (pair[1] for pair in several.values())),
        f"""Of {len(several)} comparisons it is clearly better in {counts[0]} and clearly worse in {
            counts[1]
        }, by more than twice the
        standard error of the difference; worse: {
            "; ".join(f"{what} than {other}, {name}" for (name, other, what), pair in several.items() if pair[1]) or "none"
        }. Accuracy of K-means, NMF, PNMF: {told(means, errors, list(found), 0)} Entropy, less is better:
        {told(means, errors, list(found), 1)}""",
    )
    apart = {name: abs(float(means[name, "NMF"][0] - means[name, "PNMF"][0])) for name in found}
    page.claim(
        "PNMF Fig. 1",
        "NMF and PNMF have similar accuracies (here: to .05, or to twice the standard error where that is more).",
        [apart[name] < max(0.05, 2 * float(np.hypot(errors[name, "NMF"][0], errors[name, "PNMF"][0]))) for name in found],
        "Accuracy of K-means, NMF, PNMF, with standard errors: " + told(means, errors, list(found), 0),
    )
    lower = [better(name, "NMF", 1, -1) for name in found]
    page.claim(
        "PNMF Fig. 2",
        "PNMF has a lower entropy than NMF (here: by more than twice the standard error).",
        weighed((pair[0] for pair in lower), (pair[1] for pair in lower)),
        f"""Clearly lower on {", ".join(n for n, pair in zip(found, lower, strict=True) if pair[0]) or "none"}, clearly higher on
        {", ".join(n for n, pair in zip(found, lower, strict=True) if pair[1]) or "none"}. Entropy of K-means, NMF, PNMF, with
        standard errors: {told(means, errors, list(found), 1)}""",
    )


def told(means: dict[tuple[str, str], Any], errors: dict[tuple[str, str], Any], names: list[str], what: int) -> str:
    def each(name: str) -> str:
        return ", ".join(f"{means[name, m][what]:.3f} ± {errors[name, m][what]:.3f}" for m in ("K-means", "NMF", "PNMF"))

    return "; ".join(f"{each(name)} ({name})" for name in names) + "."


def clustered(X: Any, target: np.ndarray, method: str) -> list[tuple[float, ...]]:
    """Of each start, accuracy and entropy, iterations and seconds."""
    X, results = WEIGHTINGS["tf-idf"](X), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in STARTS:
            begin = process_time()
            model = CLUSTERERS[method](len(np.unique(target)), seed).fit(X)
            seconds = process_time() - begin
            labels = model.row_labels_ if method == "NMF" else model.labels_
            measures = metrics.clustering_accuracy(target, labels), metrics.normalized_entropy(target, labels)
            results.append((*measures, float(model.n_iter_), seconds))
    return results


def bars(found: dict[str, dict[str, list[tuple[float, ...]]]]) -> Figure:
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
