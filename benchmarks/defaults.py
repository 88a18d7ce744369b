"""Plain calls beside the defaults of peers: ``python benchmarks defaults``. One thread, processor time, medians over seeds.

Each problem has how many times longer the peer takes to its stop than ours to its own, and objectives as ratios. Where a peer needs
more than its defaults to come to its own stop (scikit-learn's `mu` has `max_iter` 10 000 here), or cannot start as it would (opnmf
from a random start where its own is not finite), it has that. A problem begins no further seed once it has had half a minute.

Three studies that are longer stand apart: ``python benchmarks/defaults.py restarts`` compares the default of OPNMF with as many
random starts as fit into the same time, ``python benchmarks/defaults.py slow`` times the defaults that take longest, and
``python benchmarks/defaults.py stops`` shows what plain calls leave to be gained, and in what share of the time; words after the
name choose among the rows of the last two.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import decomposition
from sklearn.cluster import SpectralBiclustering, SpectralClustering, SpectralCoclustering
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition._nmf import _beta_divergence  # so that both are judged by the peer's own formula
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import minmax_scale

import nonneg
from _bench import LONG, Bench, apart, processed, threads
from _data import described, made_up_counts, parts_and_noise
from _peers import euclidean, projection, tri_factorized
from nonneg import datasets, metrics
from nonneg.graph import GraphClustering
from nonneg_papers import (
    load_cbcl,
    load_feret,
    load_graph,
    load_letter_pairs,
    load_olivetti,
    load_orl,
    load_pie,
    load_text,
    load_yale,
)

TITLE = "Defaults: plain calls beside peers'"
PATIENCE = 30.0
"""Seconds of processor time after which a problem begins no further seed."""
LOSSES = {"euclidean": "frobenius", "kullback-leibler": "kullback-leibler", "itakura-saito": "itakura-saito"}
BETAS = {"euclidean": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}
FIRST = ("NMF", "PNMF", "OPNMF", "ONMF", "BiQNMF")
"""The estimators that people meet first."""
NAMED = ("euclidean", "kullback-leibler", "itakura-saito", "hellinger")
"""The divergences with which they are fitted first."""


def run(bench: Bench) -> None:
    for part in (nmf, opnmf, tri_factorization, biclusters, similarities, graphs, chains, first_fits):
        with threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            part(bench)


# ---- data


def _halved(images: np.ndarray) -> np.ndarray:
    """Pictures of half the size, means of four pixels each, one row for each picture."""
    count, height, width = images.shape
    return np.ascontiguousarray(images.reshape(count, height // 2, 2, width // 2, 2).mean(axis=(2, 4)).reshape(count, -1))


DENSE: dict[str, Callable[[], np.ndarray]] = {
    "digits": lambda: load_digits().data,
    "CBCL": lambda: load_cbcl().data,
    "ORL 32 × 32": lambda: load_orl("32x32").data,
    "Yale 32 × 32": lambda: load_yale().data,
    "FERET 16 × 16": lambda: _halved(load_feret().data.reshape(-1, 32, 32)),
    "FERET 32 × 32": lambda: load_feret().data,
    "ORL 16 × 16": lambda: _halved(load_orl("32x32").data.reshape(-1, 32, 32)),
    "PIE": lambda: load_pie().data,
    "Olivetti": lambda: load_olivetti().data,
    "Poisson counts": lambda: _poisson(600, 400, 8),
}
TEXTS = ("tr11", "re0", "cstr", "hitech")
TOPICS = {"classic": 4, "k1b": 6, "20newsgroups": 20}
"""Texts whose weights are tf-idf, and the number of their topics."""


def _poisson(rows: int, columns: int, parts: int) -> np.ndarray:
    """Counts whose means are sums of parts."""
    rng = np.random.default_rng(0)
    means = rng.gamma(0.5, size=(rows, parts)) @ rng.gamma(0.3, size=(parts, columns))
    return rng.poisson(3 * means).astype(float)


@cache
def data(name: str, quick: bool = False) -> Any:
    """Samples in rows."""
    if name in TOPICS and not quick:
        return sparse.csr_array(TfidfTransformer().fit_transform(sparse.csr_matrix(load_text(name, drop_empty=True).data)))
    if name in TEXTS or name in TOPICS:
        return made_up_counts(60, 90) if quick else sparse.csr_array(load_text(name).data).astype(float)
    return parts_and_noise(60, 40) if quick else np.ascontiguousarray(DENSE[name](), dtype=float)


# ---- clocks


def seeds_of(bench: Bench, count: int = 5) -> Iterator[int]:
    """Seeds, until patience is over."""
    began = process_time()
    for seed in range(1 if bench.quick else count):
        if process_time() - began <= PATIENCE:
            yield seed


def at_time(model: Any, seconds: float, wall: float, worked: float) -> float:
    """The objective at which a fit stood after so many seconds; that of its start where its run had not begun.

    What history tells is the time since the beginning of the run that was kept, on the clock of the wall; all that the fit took
    beyond that counts as if it came before.
    """
    before = wall - model.history_[-1].seconds
    reached = [record.objective for record in model.history_ if (before + record.seconds) * worked / wall <= seconds]
    return min(reached, default=model.history_[0].objective)


# ---- W H


def nmf(bench: Bench) -> None:
    faces = ["digits", "CBCL", "ORL 32 × 32", "Yale 32 × 32", "FERET 16 × 16"]
    problems = {
        "euclidean": [*faces, "tr11", "re0", "hitech", *TOPICS],
        "kullback-leibler": [*faces, "PIE", "Olivetti", "Poisson counts", "tr11", "re0"],
        "itakura-saito": faces,  # scikit-learn needs positive entries
    }
    for divergence, names in problems.items():
        for name in ("digits", "tr11") if bench.quick and divergence != "itakura-saito" else names[: 1 if bench.quick else None]:
            with bench.attempt(name, f"NMF, {divergence}", "scikit-learn"):
                compare_nmf(bench, name, divergence, 4 if bench.quick else TOPICS.get(name, 20))


def compare_nmf(bench: Bench, name: str, divergence: str, rank: int) -> None:
    X, what = data(name, bench.quick), f"NMF, {divergence}"
    if divergence == "itakura-saito" and X.min() <= 0:
        X, what = X + 0.01 * X.mean(), f"{what}, 1 % of the mean added"
    beta = BETAS[divergence]
    solver = {} if divergence == "euclidean" else {"solver": "mu", "max_iter": 10_000}
    nonneg.NMF(rank, divergence=divergence, random_state=0, max_iter=40).fit(X)  # so that nothing is compiled in what is timed
    ours, theirs, ends, their_ends, meanwhile, best = [], [], [], [], [], (np.inf, {})
    for seed in seeds_of(bench):
        peer = decomposition.NMF(rank, beta_loss=LOSSES[divergence], random_state=seed, **solver)
        seconds, W = processed(lambda peer=peer: peer.fit_transform(X))
        theirs.append(seconds)
        their_ends.append(float(_beta_divergence(X, W, peer.components_, beta)))
        began = perf_counter()
        seconds, model = processed(lambda seed=seed: nonneg.NMF(rank, divergence=divergence, random_state=seed).fit(X))
        wall = perf_counter() - began
        ours.append(seconds)
        ends.append(float(_beta_divergence(X, model.factors_["W"], model.factors_["H"], beta)))
        meanwhile.append(at_time(model, theirs[-1], wall, seconds))
        best = min(best, (ends[-1], model.factors_), (their_ends[-1], {"W": W, "H": peer.components_}), key=lambda end: end[0])
    lowest = carried_on(X, divergence, best[1], limit=max(1.0, median(ours)), lowest=best[0])
    words = {"problem": f"{name} {described(X)}, r = {rank}", "peer": "scikit-learn " + ("mu" if solver else "cd")}
    is_lower = median(a / b for a, b in zip(meanwhile, their_ends, strict=True)) <= 1  # then nobody has to wait any longer
    limit = 1.0 if is_lower else 0.5
    bench.faster(ours, theirs, limit, what=f"{what}: seconds, each to its own stop", details={"seeds": len(ours)}, **words)
    bench.cost(meanwhile, their_ends, 1.0, unit="", what=f"{what}: objective after the peer's seconds", **words)
    bench.cost(ends, their_ends, 1.0, unit="", what=f"{what}: objective at the end", **words)
    words["peer"] = "the best known"
    bench.cost(ends, [lowest], 1.01, unit="", what=f"{what}: objective at the end", **words)
    bench.cost(their_ends, [lowest], unit="", what=f"{what}: objective of scikit-learn at the end", **words)


def carried_on(X: Any, divergence: str, factors: dict[str, np.ndarray], limit: float, lowest: float) -> float:
    """The lowest objective that is known: that of the best run, gone on with."""
    began = process_time()
    init = {name: np.maximum(factor, 1e-12 * factor.max()) for name, factor in factors.items()}
    going = nonneg.factorize(
        X,
        "W H",
        divergence=divergence,
        init=init,
        tol=0,
        max_iter=10**6,
        callback=lambda progress: process_time() - began > limit,
    )
    return min(lowest, going.objective)


# ---- X W Wᵀ


def opnmf(bench: Bench) -> None:
    names = ("CBCL",) if bench.quick else ("CBCL", "digits", "FERET 16 × 16", "ORL 16 × 16", "Yale 32 × 32", "ORL 32 × 32", "PIE")
    for name in names:
        for rank in (4,) if bench.quick else (25, 49):
            with bench.attempt(f"{name}, r = {rank}", "OPNMF", "opnmf"):
                compare_opnmf(bench, name, rank)


def compare_opnmf(bench: Bench, name: str, rank: int) -> None:
    from opnmf.opnmf import opnmf as fit

    X = data(name, bench.quick)
    features = np.ascontiguousarray(X.T)
    nonneg.OPNMF(rank, random_state=0).fit(X)  # so that nothing is compiled in what is timed
    peer = "opnmf"
    try:
        their_seconds, found = processed(lambda: fit(features, rank))
    except np.linalg.LinAlgError:  # its own start has zeros, of which not a number may come
        peer = "opnmf, random start"
        their_seconds, found = processed(lambda: fit(features, rank, init="random"))
    theirs = projection(features, found[0])
    runs = [processed(lambda seed=seed: nonneg.OPNMF(rank, random_state=seed).fit(X)) for seed in seeds_of(bench)]
    ours = [projection(features, model.components_.T) for _, model in runs]
    lower = all(end[0] < theirs[0] and end[1] < theirs[1] for end in ours)
    words = {"problem": f"{name} {described(X)}, r = {rank}", "peer": peer}
    bench.faster(
        [seconds for seconds, _ in runs],
        [their_seconds],
        100,
        holds=lower,
        what="OPNMF: seconds, each to its own stop",
        details={"seeds": len(runs)},
        **words,
    )
    for place, what in enumerate(("objective, W at its best length", "‖WᵀW − I‖")):
        bench.cost([end[place] for end in ours], [theirs[place]], 1.0, unit="", what=f"OPNMF: {what}", **words)


# ---- W S H


def tri_factorization(bench: Bench) -> None:
    names = ("cstr",) if bench.quick else ("cstr", "re0", "digits")
    for name in names:
        for title, estimator, is_fast in (("ONMTF", nonneg.ONMTF, False), ("FONT", nonneg.FONT, True)):
            with bench.attempt(name, title, "the paper's rule in NumPy"):
                compare_tri_factorization(bench, name, title, estimator, is_fast)


def compare_tri_factorization(bench: Bench, name: str, title: str, estimator: Any, is_fast: bool) -> None:
    X, rank = data(name, bench.quick), 4 if bench.quick else 10
    estimator(2, random_state=0, max_iter=10).fit(X[:40])  # so that nothing is compiled in what is timed
    taken: dict[str, list[tuple[float, float, float]]] = {"ours": [], "theirs": []}
    for seed in seeds_of(bench, 3):
        rng, scale = np.random.default_rng(seed), (X.mean() / rank**2) ** (1 / 3)
        start = {letter: 2 * scale * rng.random(shape) for letter, shape in
                 {"W": (X.shape[0], rank), "S": (rank, rank), "H": (rank, X.shape[1])}.items()}  # fmt: skip
        for who, call in (
            ("ours", lambda seed=seed: estimator(rank, random_state=seed).fit(X).factors_),
            ("theirs", lambda start=start: tri_factorized(X, **start, is_fast=is_fast)),
        ):
            seconds, found = processed(call)
            overlap = metrics.orthogonality_error(found["W"]) + metrics.orthogonality_error(found["H"].T)
            taken[who].append((seconds, euclidean(X, found["W"] @ found["S"], found["H"]), overlap))
    (seconds, objectives, overlaps), theirs = (list(zip(*taken[who], strict=True)) for who in ("ours", "theirs"))
    words = {"problem": f"{name} {described(X)}, {rank} groups", "peer": "the paper's rule in NumPy"}
    bench.faster(seconds, theirs[0], what=f"{title}: seconds, each to its own stop", details={"seeds": len(seconds)}, **words)
    bench.cost(objectives, theirs[1], unit="", what=f"{title}: objective", **words)
    bench.cost(overlaps, theirs[2], unit="", what=f"{title}: ‖WᵀW − I‖ + ‖HHᵀ − I‖", **words)


# ---- clusters


def compare_clusters(
    bench: Bench,
    problem: str,
    title: str,
    ours: Callable[[int], np.ndarray],
    peers: dict[str, Callable[[int], np.ndarray]],
    target: np.ndarray,
    count: int = 3,
) -> None:
    """Seconds as a ratio; adjusted Rand index and normalised mutual information as they are, ours and theirs: medians of seeds."""
    ours(0)  # so that nothing is compiled in what is timed
    taken: dict[str, list[tuple[float, float, float]]] = {}
    for seed in seeds_of(bench, count):
        for who, call in {"": ours, **peers}.items():
            seconds, labels = processed(lambda call=call, seed=seed: call(seed))
            indices = (float(index(target, labels)) for index in INDICES.values())
            taken.setdefault(who, []).append((seconds, *indices))
    mine = list(zip(*taken.pop(""), strict=True))
    for who, found in taken.items():
        theirs = list(zip(*found, strict=True))
        words = {"problem": problem, "peer": who}
        bench.faster(mine[0], theirs[0], 1 / 3, what=f"{title}: seconds", **words)
        for name, own, other in zip(INDICES, mine[1:], theirs[1:], strict=True):
            bench.number(own, holds=median(own) >= median(other), what=f"{title}: {name}, ours", **words)
            bench.number(other, what=f"{title}: {name}, theirs", **words)


INDICES = {"adjusted Rand index": adjusted_rand_score, "normalised mutual information": normalized_mutual_info_score}


def biclusters(bench: Bench) -> None:
    for name in ("cstr",) if bench.quick else ("cstr", "classic3", "tr23", "re0"):
        with bench.attempt(name, "BiQNMF", "scikit-learn"):
            if bench.quick:
                X, target = made_up_counts(90, 60), np.arange(90) % 3
            else:
                bunch = load_text(name, drop_empty=True)
                X, target = sparse.csr_array(bunch.data).astype(float), bunch.target
            rows, columns = (np.asarray(X.sum(axis=axis)).ravel() > 0 for axis in (1, 0))
            X, target = sparse.csr_array(X[rows][:, columns]), target[rows]
            k = len(np.unique(target))

            def labels(make: Callable[..., Any], seed: int, k: int = k, X: Any = X) -> np.ndarray:
                return make(k, random_state=seed).fit(X).row_labels_

            peers = {each.__name__: partial(labels, each) for each in (SpectralCoclustering, SpectralBiclustering)}
            problem = f"{name} {described(X)}, {k} classes"
            compare_clusters(bench, problem, "BiQNMF", partial(labels, nonneg.BiQNMF), peers, target)


def similarities(bench: Bench) -> None:
    loaders = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
    for name in ("iris",) if bench.quick else loaders:
        with bench.attempt(name, "KernelPNMF", "SpectralClustering"):
            bunch = loaders[name]()
            X, target = minmax_scale(bunch.data), bunch.target
            k = len(np.unique(target))
            compare_clusters(
                bench,
                f"{name} {described(X)} from 0 to 1, {k} classes",
                "KernelPNMF",
                lambda seed, X=X, k=k: nonneg.KernelPNMF(k, random_state=seed).fit(X).labels_,
                {"SpectralClustering": lambda seed, X=X, k=k: SpectralClustering(k, random_state=seed).fit(X).labels_},
                target,
            )


def graphs(bench: Bench) -> None:
    for name in () if bench.quick else ("karate", "polbooks", "Football", "PolBlogs"):
        with bench.attempt(name, "GraphClustering", "SpectralClustering"):
            graph = load_graph(name, drop_isolated=True)
            A, target = sparse.csr_array(graph.adjacency.maximum(graph.adjacency.T)).astype(float), graph.target
            k = len(np.unique(target))

            def spectral(seed: int, A: Any = A, k: int = k) -> np.ndarray:
                return SpectralClustering(k, affinity="precomputed", random_state=seed).fit(A).labels_

            compare_clusters(
                bench,
                f"{name} {described(A)}, {k} classes",
                "GraphClustering",
                lambda seed, A=A, k=k: GraphClustering(k, random_state=seed).fit_predict(A),
                {"SpectralClustering": spectral},
                target,
            )


# ---- chains


def chains(bench: Bench) -> None:
    """A chain whose states nearly have symbols of their own; hmmlearn has ten iterations at the most by default."""
    from chains import variation

    n_samples = 5000 if bench.quick else 100_000
    with bench.attempt(f"{n_samples} symbols", "QNMFHMM", "hmmlearn"):
        from hmmlearn.hmm import CategoricalHMM

        logging.getLogger("hmmlearn").setLevel(logging.ERROR)
        nonneg.QNMFHMM(2, n_init=1, random_state=0).fit(np.arange(300) % 5)  # so that nothing is compiled in what is timed
        taken: dict[str, list[tuple[float, float]]] = {"ours": [], "theirs": []}
        for seed in seeds_of(bench):
            chain = datasets.make_hidden_chain(4, 40, n_samples, overlap=0.01, random_state=seed)
            for who, call in (
                ("ours", lambda chain=chain, seed=seed: nonneg.QNMFHMM(4, random_state=seed).fit(chain.sequence)),
                ("theirs", lambda chain=chain, seed=seed: CategoricalHMM(4, random_state=seed).fit(chain.sequence[:, None])),
            ):
                seconds, model = processed(call)
                taken[who].append((seconds, max(variation(chain, model))))
        ours, theirs = (list(zip(*taken[who], strict=True)) for who in ("ours", "theirs"))
        words = {"problem": f"{n_samples} symbols, 4 states, 40 symbols", "peer": "hmmlearn CategoricalHMM"}
        bench.faster(ours[0], theirs[0], what="QNMFHMM: seconds, each to its own stop", **words)
        bench.cost(ours[1], theirs[1], 1.0, unit="", what="QNMFHMM: total variation from the chain, worst state", **words)


# ---- the first fit


def first_fits(bench: Bench) -> None:
    """Each estimator, storage and divergence in a fresh cache; zeros have an infinite divergence by Itakura and Saito."""
    kinds = [(name, kind, which) for name in FIRST for kind in ("dense", "sparse") for which in NAMED]
    kinds = [kind for kind in kinds if kind[1:] != ("sparse", "itakura-saito")]
    for kind in kinds[:1] if bench.quick else kinds:
        name, storage, divergence = kind
        with bench.attempt(" ".join(kind), "first fit"), tempfile.TemporaryDirectory() as folder:
            place = {} if bench.quick else {"NUMBA_CACHE_DIR": folder}
            on_disk = storage == "dense" and divergence == "euclidean" and not bench.quick
            for what in ("in a fresh cache", "with its kernels on disk")[: 2 if on_disk else 1]:
                one, two = apart("first", *kind, **place)
                words = {
                    "problem": f"{name}(8), 300 × 100, {storage}, {divergence}",
                    "what": f"first fit of a process, {what}: seconds more than the second",
                }
                bench.number([one - two], 4.0, details={"first": one, "second": two}, **words)


# ---- studies of their own


def restarts() -> Iterator[str]:
    """OPNMF(25): the default beside the best of random starts, begun one after the other while the default's time is not over."""
    yield "data | default, seconds | objective | random starts | their best | ratio (median of seeds; default higher in)"
    for name in ("CBCL", "digits", "FERET 16 × 16", "ORL 16 × 16", "tr11", "re0"):
        X, found = data(name), []
        nonneg.OPNMF(25, random_state=0).fit(X)
        nonneg.OPNMF(25, init="random", random_state=0, max_iter=20).fit(X)
        for seed in range(10):
            seconds, model = processed(lambda X=X, seed=seed: nonneg.OPNMF(25, random_state=seed).fit(X))
            spent, ends = 0.0, []
            while spent < seconds:
                start = 1000 * (seed + 1) + len(ends)
                more, other = processed(lambda X=X, start=start: nonneg.OPNMF(25, init="random", random_state=start).fit(X))
                spent += more
                ends.append(float(other.objective_))
            found.append((seconds, float(model.objective_), len(ends), min(ends)))
        ratios = [mine / best for _, mine, _, best in found]
        middle = [median(column) for column in zip(*found, strict=True)]
        higher = sum(ratio > 1 + 1e-6 for ratio in ratios)
        yield " | ".join([name, *(f"{value:.5g}" for value in middle), f"{median(ratios):.5f}; {higher} of {len(ratios)}"])


def slow() -> Iterator[str]:
    """The defaults that take longest: seconds of processor time, one fit each."""
    rng = np.random.default_rng(0)

    def few(rows: int, columns: int, count: int) -> sparse.csr_array:
        places = rng.integers(rows, size=count), rng.integers(columns, size=count)
        return sparse.csr_array(sparse.coo_array((1.0 + rng.random(count), places), shape=(rows, columns)))

    karate = load_graph("karate").adjacency
    texts = {name: load_text(name, drop_empty=True) for name in ("re0", "tr11")}
    wide, large = few(200, 20_000, 100_000), few(100_000, 100_000, 1_000_000)
    classes = np.arange(200) % 2
    letters = load_letter_pairs().data
    cases: dict[str, Callable[[], Any]] = {
        "SymmetricNMF(10), digits, linear": lambda: nonneg.SymmetricNMF(10, kernel="linear", random_state=0).fit(
            load_digits().data
        ),
        "GraphClustering(2), karate": lambda: GraphClustering(2, random_state=0).fit(karate),
        **{
            f"BiQNMF, {name}": lambda bunch=bunch: nonneg.BiQNMF(len(np.unique(bunch.target)), random_state=0).fit(bunch.data)
            for name, bunch in texts.items()
        },
        "NonnegativeLDA, 200 × 20 000, 2 classes": lambda: nonneg.NonnegativeLDA().fit(wide, classes),
        "TruncatedNonnegativeSVD(10), 10⁵ × 10⁵, 10⁶ non-zeros": lambda: nonneg.TruncatedNonnegativeSVD(10, random_state=0).fit(
            large
        ),
        "OPNMF(10).partial_fit, the same": lambda: nonneg.OPNMF(10, random_state=0).partial_fit(large),
        "NMF(10, Beta(1.5)), the same": lambda: nonneg.NMF(10, divergence=nonneg.divergences.Beta(1.5), random_state=0).fit(large),
        "QNMFHMM(6), letters": lambda: nonneg.QNMFHMM(6, random_state=0).fit_pairs(letters),
    }
    chosen = sys.argv[2:]
    for name, call in cases.items():
        if not chosen or any(word in name for word in chosen):
            try:
                first = processed(call)
                second = processed(call) if first.seconds <= LONG else first
                yield f"{name} | {first.seconds:.2f} | {second.seconds:.2f} | {getattr(second.result, 'n_iter_', '')}"
            except Exception as error:
                yield f"{name} | {type(error).__name__}: {error}"


def stops() -> Iterator[str]:
    """Plain calls beside the same with `tol` 1e-8, which the word "plain" leaves out: medians of three seeds.

    Seconds are those of the processor. Told is also how far above its own end with `tol` 1e-8 each seed ends: the median and the
    largest. With ``PYTHONPATH`` set to the sources of another commit, it tells what that one does.
    """
    yield "fit | seconds | iterations | objective | seconds with tol=1e-8 | iterations | above it, %: median | largest"
    makers: dict[str, Callable[..., Any]] = {
        **{f"NMF, {name}": partial(nonneg.NMF, 20, divergence=name) for name in LOSSES},
        "PNMF": partial(nonneg.PNMF, 20),
        "PNMF, kullback-leibler": partial(nonneg.PNMF, 20, divergence="kullback-leibler"),
        "OPNMF": partial(nonneg.OPNMF, 20),
        "ONMF": partial(nonneg.ONMF, 20),
        "ONMTF": partial(nonneg.ONMTF, 10),
        "FONT": partial(nonneg.FONT, 10),
        "BiQNMF": partial(nonneg.BiQNMF, 10),
        "SymmetricNMF": partial(nonneg.SymmetricNMF, 10, kernel="linear"),
    }
    words = [word for word in sys.argv[2:] if word != "plain"]
    for name in ("digits", "CBCL", "ORL 32 × 32", "Yale 32 × 32", "FERET 16 × 16", "tr11", "re0"):
        for title, make in makers.items():
            row = f"{name}, {title}."
            if (name in TEXTS and title == "NMF, itakura-saito") or not all(word in row for word in words):
                continue
            X = data(name)
            X = X + 0.01 * X.mean() if title == "NMF, itakura-saito" else X
            make(random_state=0, max_iter=12).fit(X)  # so that nothing is compiled in what is timed
            plain, ends = [], []
            for seed in range(3):
                plain.append(processed(lambda X=X, make=make, seed=seed: make(random_state=seed).fit(X)))
                if "plain" not in sys.argv[2:]:
                    call = partial(make, random_state=seed, tol=1e-8, max_iter=20_000)
                    ends.append(processed(lambda X=X, call=call: call().fit(X)))
            cells = [f"{median(run.seconds for run in plain):.2f}", f"{median(run.result.n_iter_ for run in plain)}"]
            cells.append(f"{median(run.result.objective_ for run in plain):.6g}")
            if ends:
                above = [100 * (a.result.objective_ / b.result.objective_ - 1) for a, b in zip(plain, ends, strict=True)]
                cells += [f"{median(run.seconds for run in ends):.2f}", f"{median(run.result.n_iter_ for run in ends)}"]
                cells += [f"{median(above):.2f}", f"{max(above):.2f}"]
            yield " | ".join([row.rstrip("."), *cells])


if __name__ == "__main__":
    studies = {"restarts": restarts, "slow": slow, "stops": stops}
    if sys.argv[1:2] and sys.argv[1] in studies:
        warnings.simplefilter("ignore")
        with threads(1):
            for line in studies[sys.argv[1]]():
                print(f"| {line} |", flush=True)
    else:
        from _command import main

        sys.exit(main(["defaults", *sys.argv[1:]]))
