"""Two-way clustering: planted blocks and web pages, QNMF Figs. 2 and 3."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import SpectralBiclustering
from sklearn.metrics import adjusted_rand_score

from _page import Page, publish
from nonneg import NMF, BiORNM3F, BiQNMF, datasets, metrics
from nonneg.coclusters import plot_coclusters

TITLE = "Two-way clustering: QNMF Figs. 2 and 3"
INSTANCES = range(20)
SIZES, MEANS = (20, 30, 60, 90), (1, 2, 4, 7)
METHODS: dict[str, Callable[[int, int], Any]] = {
    "NMF, I-divergence": lambda k, seed: NMF(k, divergence="kullback-leibler", random_state=seed),
    "BiOR-NM3F": lambda k, seed: BiORNM3F(k, random_state=seed),
    "BiOR-NM3F-I": lambda k, seed: BiORNM3F(k, divergence="kullback-leibler", random_state=seed),
    "Bi-QNMF": lambda k, seed: BiQNMF(k, random_state=seed),
    "SpectralBiclustering": lambda k, seed: SpectralBiclustering(k, random_state=seed),
}


def build(page: Page) -> None:
    page.heading("QNMF Fig. 2: planted blocks")
    page.say(f"""
        200 × 200 matrices of 4 × 4 blocks, of sizes {", ".join(map(str, SIZES))} either way, entries from Poisson distributions
        with means chosen from {", ".join(map(str, MEANS))}, rows and columns shuffled. All from default settings, one run each. The
        paper ran ten and kept the best, 20 000 iterations each from random starts.
    """)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = planted(0)[0]
        fitted = {name: make(4, 0).fit(X) for name, make in METHODS.items()}
        figure, axes = plt.subplots(2, 3, figsize=(10, 6.8), layout="constrained")
        axes[0, 0].imshow(X, cmap="Blues", aspect="auto")
        axes[0, 0].set_title("as given")
        for ax, (name, model) in zip(axes.ravel()[1:], fitted.items(), strict=True):
            plot_coclusters(X, model, ax)
            ax.set_title(name)
            ax.set(xlabel="", ylabel="")
    page.figure(figure, "One instance, in the order of what each method found.")
    results = Parallel(2)(delayed(instance)(seed) for seed in INSTANCES)
    page.table(
        ("method", "rows: median ARI", "mean", "least", "columns: median ARI", "mean", "least"),
        [
            (name, *(f(np.array([r[name][i] for r in results])) for i in range(2) for f in (np.median, np.mean, np.min)))
            for name in METHODS
        ],
        f"Adjusted Rand index, {len(INSTANCES)} instances. In some, two rows or columns of blocks have nearly the same means.",
    )
    pages(page)


def planted(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    block = np.repeat(np.arange(len(SIZES)), SIZES)
    means = generator.choice(MEANS, (len(SIZES), len(SIZES)))
    X = generator.poisson(means[np.ix_(block, block)]).astype(float)
    rows, columns = generator.permutation(len(block)), generator.permutation(len(block))
    return X[np.ix_(rows, columns)], block[rows], block[columns], means


def instance(seed: int) -> dict[str, tuple[float, float]]:
    X, rows, columns, _ = planted(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = {name: make(4, seed).fit(X) for name, make in METHODS.items()}
    return {
        name: (adjusted_rand_score(rows, model.row_labels_), adjusted_rand_score(columns, model.column_labels_))
        for name, model in models.items()
    }


def pages(page: Page) -> None:
    page.heading("QNMF Fig. 3: web pages")
    bunch = datasets.load_text("webkb", classes=["course", "project"], min_df=29, drop_empty=True)
    X = bunch.data
    page.say(f"""
        webkb, two classes: {X.shape[0]} pages × {X.shape[1]} words (the paper: 1433 × 933; it does not say which two, course and
        project are the ones that come near). Two clusters either way, counts.
    """)
    figure, axes = plt.subplots(1, 4, figsize=(13, 4.6), layout="constrained")
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for ax, (name, make) in zip(axes, tuple(METHODS.items())[:4], strict=True):
            model = page.fit(make(2, 0), X)
            plot_coclusters(X, model, ax)
            ax.set(title=name, xlabel="", ylabel="")
            sizes = " + ".join(map(str, np.bincount(model.row_labels_, minlength=2)))
            rows.append((name, sizes, metrics.purity(bunch.target, model.row_labels_), f"{page.seconds:.2f}"))
    page.figure(figure, "Non-zeros, in the order of what each method found.")
    page.table(("method", "pages in the clusters", "purity", "seconds"), rows, "The paper: about 650 pages in the first cluster.")


if __name__ == "__main__":
    publish("biclusters", TITLE, build)
