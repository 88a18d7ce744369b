"""Two-way clustering: planted blocks and web pages, QNMF Figs. 2 and 3; and scikit-learn's generators of biclusters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from time import process_time
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import SpectralBiclustering, SpectralCoclustering
from sklearn.datasets import make_biclusters, make_checkerboard
from sklearn.metrics import adjusted_rand_score

from nonneg import FONT, NMF, ONMTF, BiORNM3F, BiQNMF, metrics
from nonneg.coclusters import plot_coclusters

from .. import load_text
from ._page import Page, described

TITLE = "Two-way clustering: QNMF Figs. 2 and 3"
INSTANCES = range(1000, 1030)
"""Seeds of data with known clusters; settings of the default start were chosen on others."""
SIZES, MEANS = (20, 30, 60, 90), (1, 2, 4, 7)
KL = "kullback-leibler"
PRINTED: dict[str, Callable[..., Any]] = {
    "NMF, I-divergence": lambda k, **options: NMF(k, divergence=KL, **options),
    "BiOR-NM3F": lambda k, **options: BiORNM3F(k, **options),
    "BiOR-NM3F-I": lambda k, **options: BiORNM3F(k, divergence=KL, **options),
    "Bi-QNMF": lambda k, **options: BiQNMF(k, **options),
}
"""The four methods that the paper compares."""
METHODS: dict[str, Callable[..., Any]] = {
    **{name: PRINTED[name] for name in ("Bi-QNMF", "BiOR-NM3F", "BiOR-NM3F-I")},
    "ONMTF": lambda k, **options: ONMTF(k, **options),
    "FONT": lambda k, **options: FONT(k, **options),
    "SpectralBiclustering": lambda k, **options: SpectralBiclustering(k, **options),
    "SpectralCoclustering": lambda k, **options: SpectralCoclustering(max(k), **options),
}
PROTOCOL = {"solver": "paper", "init": "random", "max_iter": 20_000, "tol": 0}
STARTS = range(3)
WEB = {"solver": "paper", "init": "random", "max_iter": 2000, "tol": 0}
"""The same for web pages, shorter: the paper does not say how many iterations these took."""
WEB_STARTS = range(2)
WELL = 0.95
"""An adjusted Rand index from which on clusters count as well reconstructed."""
Instance = tuple[Any, np.ndarray, np.ndarray]
Scores = tuple[float, float]


def build(page: Page) -> None:
    quiet(blocks, page)
    quiet(generators, page)
    quiet(pages, page)


def quiet(section: Callable[[Page], None], page: Page) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        section(page)


# ---- QNMF Fig. 2


def blocks(page: Page) -> None:
    page.heading("QNMF Fig. 2: planted blocks")
    page.say(f"""
        A 200 × 200 matrix of 4 × 4 blocks, of sizes {", ".join(map(str, SIZES))} either way, entries from Poisson distributions
        with means chosen from {", ".join(map(str, MEANS))}, rows and columns shuffled. As the paper ran it: random starts, 20 000
        iterations of the printed rules, the best of several starts ({len(STARTS)} here, ten there) by its objective; and below,
        with the default start and solver.
    """)
    X, rows, columns = planted(0)
    jobs = [(name, seed) for name in PRINTED for seed in STARTS]
    timed = dict(zip(jobs, Parallel(2)(delayed(as_printed)(*job) for job in jobs), strict=True))
    runs = {job: model for job, (model, _) in timed.items()}
    seconds = {name: max(timed[name, seed][1] for seed in STARTS) for name in PRINTED}
    for (_, seed), (model, taken) in timed.items():
        if seed == STARTS[-1]:
            page.ran(described(model), "200 × 200", int(model.n_iter_), str(model.status_), taken)
    best = {name: min((runs[name, seed] for seed in STARTS), key=lambda model: model.objective_) for name in PRINTED}
    ours = {name: page.fit(make(4, random_state=0), X) for name, make in PRINTED.items()}
    figure, axes = plt.subplots(2, 6, figsize=(16, 5.6), layout="constrained")
    for line, models, title in zip(axes, (best, ours), ("as printed", "by default"), strict=True):
        truth = np.argsort(rows, kind="stable"), np.argsort(columns, kind="stable")
        line[0].imshow(X[np.ix_(*truth)], cmap="Blues", aspect="auto")
        line[0].set_title("(a) the original")
        line[1].imshow(X, cmap="Blues", aspect="auto")
        line[1].set_title("(b) shuffled")
        for ax, letter, (name, model) in zip(line[2:], "cdef", models.items(), strict=True):
            plot_coclusters(X, model, ax)
            ax.set(title=f"({letter}) {name}, {title}", xlabel="", ylabel="")
            ax.title.set_fontsize(8)
    page.figure(figure, "One instance, in the order of what each method found: above as the paper ran it, below by default.")
    found = {name: [score(model, rows, columns) for model in (best[name], ours[name])] for name in PRINTED}
    page.table(
        ("method", "as printed: rows", "columns", "all starts, rows", "all starts, columns", "default: rows", "columns"),
        [
            (
                name,
                *printed,
                *(", ".join(f"{score(runs[name, seed], rows, columns)[i]:.2f}" for seed in STARTS) for i in range(2)),
                *default,
            )
            for name, (printed, default) in found.items()
        ],
        "Adjusted Rand index.",
    )
    printed, default = ({name: scores[i] for name, scores in found.items()} for i in range(2))
    factors = best["BiOR-NM3F-I"].factors_
    spread = float(factors["S"].std() / factors["S"].mean())
    alike = [largest_cosine(factors[name]) for name in ("L", "R")]
    single = np.array([score(runs["BiOR-NM3F", seed], rows, columns) for seed in STARTS])
    ranged = [f"{values.min():.2f} to {values.max():.2f}" for values in single.T]
    recovers = min(default["BiOR-NM3F"]) > WELL
    starts = f"the best of {len(STARTS)} random starts (the paper: of ten), on one instance"
    page.claim(
        "QNMF Fig. 2",
        f"“Bi-QNMF can well reconstruct all biclusters” (here: adjusted Rand indices of {WELL} or more), as the paper ran it.",
        [score >= WELL for score in printed["Bi-QNMF"]],
        f"""From {starts}, it has {said(printed["Bi-QNMF"])}. From the default start it has {said(default["Bi-QNMF"])}.""",
    )
    page.claim(
        "QNMF Fig. 2",
        "“Two-factor linear NMF finds some but not all biclusters.”",
        [min(printed[NMF_I]) > 0.05, min(printed[NMF_I]) < WELL],
        f"From {starts}, it has {said(printed[NMF_I])}.",
    )
    page.claim(
        "QNMF Fig. 2",
        "“BiOR-NM3F performs even worse.”",
        [mine < theirs for mine, theirs in zip(printed["BiOR-NM3F"], printed[NMF_I], strict=True)],
        f"""From {starts}, it has {said(printed["BiOR-NM3F"])}, NMF {said(printed[NMF_I])}; its single starts have {ranged[0]} for
        rows and {ranged[1]} for
        columns, so that few of them decide little. From the default start it has {said(default["BiOR-NM3F"])}: its
        failure
        {"was one of the start" if recovers else "remains"}.""",
    )
    page.claim(
        "QNMF Fig. 2",
        "“BiOR-NM3F-I generates identical columns in L and R, as well as a uniform S.”",
        [*(cosine > 0.99 for cosine in alike), spread < 0.05],
        f"""From {starts}, the largest cosine between two columns is {alike[0]:.3f} in L and {alike[1]:.3f} in R, where .99 counts
        as
        identical; the standard deviation of S is {spread:.2f} of its mean, where up to .05 counts as uniform. It finds
        {said(printed["BiOR-NM3F-I"])}; by default {said(default["BiOR-NM3F-I"])}.""",
    )
    page.claim(
        "QNMF §5.2",
        "On the synthetic data all methods finish 20 000 iterations within two minutes.",
        [value < 120 for value in seconds.values()],
        f"Seconds of one core, the slowest start: {', '.join(f'{value:.0f} ({name})' for name, value in seconds.items())}.",
    )


def largest_cosine(W: np.ndarray) -> float:
    """Between two columns."""
    unit = W / np.maximum(np.linalg.norm(W, axis=0), np.finfo(float).tiny)
    return float((unit.T @ unit - np.eye(W.shape[1])).max())


NMF_I = "NMF, I-divergence"


def as_printed(name: str, seed: int) -> tuple[Any, float]:
    """The model, and the seconds that it took."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = process_time()
        return PRINTED[name](4, random_state=seed, **PROTOCOL).fit(planted(0)[0]), process_time() - begin


def score(model: Any, rows: np.ndarray, columns: np.ndarray) -> Scores:
    return adjusted_rand_score(rows, model.row_labels_), adjusted_rand_score(columns, model.column_labels_)


def said(scores: Scores) -> str:
    return f"{scores[0]:.2f} for rows and {scores[1]:.2f} for columns"


# ---- data with known clusters


def planted(seed: int) -> Instance:
    block = np.repeat(np.arange(len(SIZES)), SIZES)
    return counts(np.random.default_rng(seed), block, block, lambda g: g.choice(MEANS, (len(SIZES), len(SIZES))))


def uneven(seed: int) -> Instance:
    rows, columns = np.repeat(np.arange(3), (5, 25, 120)), np.repeat(np.arange(4), (6, 14, 30, 70))
    return counts(np.random.default_rng(seed), rows, columns, lambda g: g.gamma(1.0, 3.0, (3, 4)))


def counts(generator: Any, rows: np.ndarray, columns: np.ndarray, draw: Callable[[Any], np.ndarray]) -> Instance:
    """Poisson counts in blocks with means that are drawn, rows and columns shuffled."""
    means = draw(generator)
    X = generator.poisson(means[np.ix_(rows, columns)]).astype(float)
    order = generator.permutation(len(rows)), generator.permutation(len(columns))
    return X[np.ix_(*order)], rows[order[0]], columns[order[1]]


def documents(seed: int) -> Instance:
    """Sparse counts, with weights of rows and columns as documents and words have them."""
    generator = np.random.default_rng(seed)
    rows, columns = np.repeat(np.arange(4), (40, 80, 100, 80)), np.repeat(np.arange(4), (60, 60, 140, 140))
    means = (0.02 + 0.12 * np.eye(4))[np.ix_(rows, columns)]
    X = generator.poisson(means * generator.gamma(1.5, 1 / 1.5, 400) * generator.gamma(2, 0.5, 300)[:, None]).astype(float)
    kept = X.any(axis=1), X.any(axis=0)
    return X[np.ix_(*kept)], rows[kept[0]], columns[kept[1]]


def diagonal(shape: tuple[int, int], k: int, noise: float, seed: int) -> Instance:
    X, rows, columns = make_biclusters(shape, k, noise=noise, random_state=seed)
    return np.maximum(X, 0) + 1e-3, rows.argmax(axis=0), columns.argmax(axis=0)


def checkered(shape: tuple[int, int], k: tuple[int, int], noise: float, seed: int) -> Instance:
    X, rows, columns = make_checkerboard(shape, k, noise=noise, random_state=seed)
    return np.maximum(X, 0), rows.reshape(*k, -1)[:, 0].argmax(axis=0), columns.reshape(*k, -1)[0].argmax(axis=0)


DATA: Mapping[str, tuple[tuple[int, int], Callable[[int], Instance]]] = {
    "planted blocks (QNMF)": ((4, 4), planted),
    "make_biclusters, 30 × 30, noise 0.1": ((3, 3), lambda seed: diagonal((30, 30), 3, 0.1, seed)),
    "make_biclusters, 60 × 50, noise 15": ((4, 4), lambda seed: diagonal((60, 50), 4, 15, seed)),
    "make_checkerboard, 30 × 30, noise 0.5": ((3, 3), lambda seed: checkered((30, 30), (3, 3), 0.5, seed)),
    "make_checkerboard, 60 × 50, noise 10": ((4, 3), lambda seed: checkered((60, 50), (4, 3), 10, seed)),
    "make_checkerboard, 100 × 40, 6 × 2, noise 20": ((6, 2), lambda seed: checkered((100, 40), (6, 2), 20, seed)),
    "blocks of very different size": ((3, 4), uneven),
    "sparse, rows and columns weighted": ((4, 4), documents),
}


def generators(page: Page) -> None:
    page.heading("Default settings on data with known clusters")
    jobs = [(name, seed) for name in DATA for seed in INSTANCES]
    results = dict(zip(jobs, Parallel(2)(delayed(instance)(*job) for job in jobs), strict=True))
    means = {
        (name, method): np.mean([results[name, seed][method] for seed in INSTANCES], axis=0) for name in DATA for method in METHODS
    }
    page.table(
        ("data", *METHODS),
        [(name, *("{:.3f}, {:.3f}".format(*means[name, method]) for method in METHODS)) for name in DATA],
        f"Mean adjusted Rand index of rows and of columns, {len(INSTANCES)} instances each, one run each.",
    )
    rivals = [method for method in METHODS if method.startswith("Spectral")]
    behind = {
        what: [n for n in DATA if means[n, "Bi-QNMF"][i].mean() < max(means[n, m][i].mean() for m in rivals) - 1e-9]
        for what, i in (("both", slice(2)), ("rows", slice(1)), ("columns", slice(1, 2)))
    }
    page.say(f"""
        By the mean of rows and columns, Bi-QNMF's default is at least as good as the better of scikit-learn's two on
        {len(DATA) - len(behind["both"])} of {len(DATA)} kinds of data. It is behind on
        {"; ".join(f"{what}: {', '.join(names) or 'none'}" for what, names in behind.items())}. Planted blocks have means that are
        drawn, so that two clusters may be the same: of these instances, {sum(map(ambiguous, INSTANCES))} of {len(INSTANCES)} have
        such rows or columns, which no method can tell apart.
    """)


def ambiguous(seed: int) -> bool:
    """Whether two clusters of rows, or of columns, of planted blocks have the same means."""
    means = np.random.default_rng(seed).choice(MEANS, (len(SIZES), len(SIZES)))
    return any(len(np.unique(side, axis=0)) < len(SIZES) for side in (means, means.T))


def instance(name: str, seed: int) -> dict[str, Scores]:
    k, make = DATA[name]
    X, rows, columns = make(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {method: score(build(k, random_state=seed).fit(X), rows, columns) for method, build in METHODS.items()}


# ---- QNMF Fig. 3


def pages(page: Page) -> None:
    page.heading("QNMF Fig. 3: web pages")
    bunch = load_text("webkb", classes=["course", "project"], min_df=29, drop_empty=True)
    X = bunch.data
    page.say(f"""
        webkb, two classes: {X.shape[0]} pages × {X.shape[1]} words (the paper: 1433 × 933; it does not say which two, course and
        project are the ones that come near). Two clusters either way, counts.
    """)
    figure, axes = plt.subplots(1, 4, figsize=(13, 4.6), layout="constrained")
    rows, purity, least, models = [], {}, {}, {}
    for ax, (name, make) in zip(axes, PRINTED.items(), strict=True):
        model = models[name] = page.fit(make(2, random_state=0), X)
        plot_coclusters(X, model, ax)
        ax.set(title=name, xlabel="", ylabel="")
        sizes = np.bincount(model.row_labels_, minlength=2)
        purity[name], least[name] = metrics.purity(bunch.target, model.row_labels_), sizes.min()
        rows.append((name, " + ".join(map(str, sizes)), purity[name], f"{page.seconds:.2f}"))
    page.figure(figure, "Non-zeros, in the order of what each method found.")
    page.table(("method", "pages in the clusters", "purity", "seconds"), rows, "The paper: about 650 pages in the first cluster.")
    page.claim(
        "QNMF Fig. 3",
        "The clusters of NMF and Bi-QNMF are “roughly the same” in size, about 650 pages in one.",
        [
            abs(least[NMF_I] - least["Bi-QNMF"]) < 150,
            all(min(abs(n - 650), abs(X.shape[0] - n - 650)) < 150 for n in (least[NMF_I], least["Bi-QNMF"])),
        ],
        f"""Of {X.shape[0]} pages the smaller clusters have {least[NMF_I]} (NMF) and {least["Bi-QNMF"]} (Bi-QNMF); 150 more or
        less count as roughly the same.""",
    )
    random, taken = {}, {}
    for name in PRINTED:
        begin = process_time()
        random[name] = min((web(name, X, seed) for seed in WEB_STARTS), key=lambda model: model.objective_)
        taken[name] = (process_time() - begin) / len(WEB_STARTS)
        page.ran(
            *(described(random[name]), f"{X.shape[0]} × {X.shape[1]}", int(random[name].n_iter_), str(random[name].status_)),
            taken[name],
        )
    astray = {
        how: {name: strayed(X, model) for name, model in those.items()} for how, those in (("random", random), ("default", models))
    }
    page.claim(
        "QNMF Fig. 3",
        "“Linear NMF results in incoherent blocks”: pages of one cluster are like those of the other. Not so Bi-QNMF.",
        [astray["random"][NMF_I] > 2 * astray["random"]["Bi-QNMF"]],
        f"""A page is astray if the share of its words in the first cluster of words is nearer to the mean share of the other
        cluster of pages. From the better of {len(WEB_STARTS)} random starts by its objective, {WEB["max_iter"]} iterations of the
        printed rules, {", ".join(f"{value:.1%} ({name})" for name, value in astray["random"].items())} of the pages are astray;
        from default starts {", ".join(f"{value:.1%} ({name})" for name, value in astray["default"].items())}. Twice as many as with
        Bi-QNMF count as incoherent; judged are the random starts.""",
    )
    page.claim(
        "QNMF §5.2",
        "On webkb the biclustering algorithms converge within two hours.",
        [value < 7200 for value in taken.values()],
        f"""{WEB["max_iter"]} iterations of the printed rules take
        {", ".join(f"{value:.1f} ({name})" for name, value in taken.items())} seconds of one core.""",
    )
    drawn = {name: metrics.purity(bunch.target, model.row_labels_) for name, model in random.items()}
    most = float(np.bincount(bunch.target).max() / len(bunch.target))
    highest = max(round(value, 3) for value in purity.values())
    page.claim(
        "QNMF Fig. 3",
        "BiOR-NM3F “basically finds no biclusters”, and BiOR-NM3F-I is “even worse”.",
        [drawn["BiOR-NM3F"] < most + 0.05, drawn["BiOR-NM3F-I"] < drawn["BiOR-NM3F"]],
        f"""From the better of {len(WEB_STARTS)} random starts by its objective, {WEB["max_iter"]} iterations of the printed rules,
        their purities are {drawn["BiOR-NM3F"]:.3f} and {drawn["BiOR-NM3F-I"]:.3f} (NMF {drawn[NMF_I]:.3f}, Bi-QNMF
        {drawn["Bi-QNMF"]:.3f}), from the default start {purity["BiOR-NM3F"]:.3f}
        and {purity["BiOR-NM3F-I"]:.3f}, where one cluster for all has {most:.3f}. The paper gives no purity, only pictures. By it,
        the
        best of the four from default starts: {", ".join(n for n in purity if round(purity[n], 3) == highest)} ({highest:.3f});
        Bi-QNMF has {purity["Bi-QNMF"]:.3f}.""",
    )


def web(name: str, X: Any, seed: int) -> Any:
    return PRINTED[name](2, random_state=seed, **WEB).fit(X)


def strayed(X: Any, model: Any) -> float:
    """The share of the rows whose share of entries in the first cluster of columns is nearer to that of the other cluster of
    rows."""
    total = np.asarray(X.sum(axis=1)).ravel()
    first = np.asarray(X[:, np.flatnonzero(model.column_labels_ == 0)].sum(axis=1)).ravel() / np.maximum(total, 1)
    means = np.array([first[model.row_labels_ == k].mean() if (model.row_labels_ == k).any() else np.inf for k in range(2)])
    distances = np.abs(first[:, None] - means)
    return float(np.mean(distances.argmin(axis=1) != model.row_labels_))
