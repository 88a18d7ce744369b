"""Documents clustered, with their words or without: accuracy, mutual information and time beside scikit-learn. Two threads.

Every method sees tf-idf with documents of unit length and makes as many clusters as there are classes; three seeds. Documents
and words without an entry are left out, since SpectralCoclustering fails on them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from statistics import mean
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import decomposition
from sklearn.cluster import KMeans, SpectralCoclustering
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score

from _bench import Bench, in_turns, seconds_of, threads, timed
from _data import made_up_counts
from nonneg import NMF, ONMTF, BiQNMF
from nonneg.metrics import clustering_accuracy
from nonneg_papers import load_text

TITLE = "Documents: clusters beside scikit-learn"
SETS = ("classic", "reviews", "k1b", "la12", "ohscal")
OURS: dict[str, Callable[[int, int], Any]] = {
    "BiQNMF": lambda k, seed: BiQNMF(k, random_state=seed, max_iter=100),
    "ONMTF": lambda k, seed: ONMTF(k, random_state=seed, max_iter=200, tol=1e-4),
    "NMF": lambda k, seed: NMF(k, random_state=seed, max_iter=200, tol=1e-4),
}
THEIRS: dict[str, Callable[[int, int], Any]] = {
    "SpectralCoclustering": lambda k, seed: SpectralCoclustering(k, random_state=seed),
    "NMF + argmax": lambda k, seed: decomposition.NMF(k, random_state=seed),
    "K-means": lambda k, seed: KMeans(k, n_init=1, random_state=seed),
}


def run(bench: Bench) -> None:
    for name in SETS[:1] if bench.quick else SETS:
        with bench.attempt(name, TITLE), threads(2), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compare(bench, name)


def compare(bench: Bench, name: str) -> None:
    X, target = collection(name, bench.quick)
    count = len(np.unique(target))
    seeds = range(1 if bench.quick else 3)

    def fit(make: Callable[[int, int], Any], seed: int) -> np.ndarray:
        model = make(count, seed)
        if isinstance(model, decomposition.NMF):
            return model.fit_transform(X).argmax(axis=1)
        model.fit(X)
        return model.labels_ if isinstance(model, KMeans) else model.row_labels_

    for make in OURS.values():
        make(2, 0).fit(X[:200])  # so that nothing is compiled in what is timed
    calls = {
        f"{who} {seed}": lambda make=make, seed=seed: timed(lambda: fit(make, seed))
        for seed in seeds
        for who, make in {**{f"ours: {k}": v for k, v in OURS.items()}, **THEIRS}.items()
    }
    taken = in_turns(calls, rounds=1)
    problem = f"{name} {X.shape[0]} × {X.shape[1]}, {count} classes"
    for who in (*(f"ours: {k}" for k in OURS), *THEIRS):
        runs = [taken[f"{who} {seed}"][0] for seed in seeds]
        accuracy = [clustering_accuracy(target, run.result) for run in runs]
        information = [normalized_mutual_info_score(target, run.result) for run in runs]
        words = {"problem": problem, "peer": who, "details": {"seconds": mean(seconds_of(runs))}}
        bench.number(accuracy, what="accuracy", **words)
        bench.number(information, what="normalised mutual information", **words)
        bench.number(seconds_of(runs), what="seconds", **words)


def collection(name: str, quick: bool) -> tuple[sparse.csr_array, np.ndarray]:
    if quick:
        X, target = made_up_counts(300, 200, 0.1), np.arange(300) % 3
    else:
        bunch = load_text(name, drop_empty=True)
        X, target = bunch.data, bunch.target
    X = sparse.csr_array(TfidfTransformer().fit_transform(X))
    kept = np.asarray(X.sum(axis=1)).ravel() > 0
    X, target = X[kept], target[kept]
    return sparse.csr_array(X[:, np.asarray(X.sum(axis=0)).ravel() > 0]), target
